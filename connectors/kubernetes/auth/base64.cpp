#include "connectors/kubernetes/auth/base64.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <vector>

namespace hindsight::connectors::kubernetes {

std::optional<std::string> decode_base64(std::string_view text) {
  std::string compact;
  compact.reserve(text.size());
  std::copy_if(text.begin(), text.end(), std::back_inserter(compact),
               [](char c) { return c != '\n' && c != '\r' && c != ' ' && c != '\t'; });
  if (compact.size() % 4 != 0) return std::nullopt;
  if (compact.empty()) return std::string();
  // EVP_DecodeBlock takes padding anywhere in the last block; only one or two signs at the end are legal.
  const std::size_t padding = compact.ends_with("==") ? 2 : compact.ends_with('=') ? 1 : 0;
  if (compact.find('=') < compact.size() - padding) return std::nullopt;
  std::vector<unsigned char> out(compact.size() / 4 * 3);
  const int size = EVP_DecodeBlock(out.data(), reinterpret_cast<const unsigned char*>(compact.data()), static_cast<int>(compact.size()));
  if (size < 0) return std::nullopt;
  return std::string(out.begin(), out.begin() + (size - static_cast<int>(padding)));
}

std::string encode_base64(std::string_view bytes) {
  std::vector<unsigned char> out((bytes.size() + 2) / 3 * 4 + 1);
  const int size = EVP_EncodeBlock(out.data(), reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  return {out.begin(), out.begin() + size};
}

}  // namespace hindsight::connectors::kubernetes
