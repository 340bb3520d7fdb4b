#include "connectors/jobs/workload_name.hpp"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

#include "vocabulary/text.hpp"

namespace hindsight::connectors {

std::string workload_name(std::string_view kind, std::string_view group, std::string_view owner_name, std::string_view owner_uid,
                          std::string_view extra, std::size_t max) {
  constexpr std::size_t hash_digits = 5;
  std::string text;
  text.append(kind).append("\n").append(group).append("\n").append(owner_name).append("\n").append(owner_uid);
  if (!extra.empty()) text.append("\n").append(extra);

  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha1(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL has no SHA-1, which Workload names are made with");
  }

  std::string name;
  for (const char c : kind) name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  name.append("-").append(owner_name);
  name.resize(cut_text(name, max - 1 - hash_digits).size());  // half a character would be no text
  name += '-';
  constexpr std::string_view hex = "0123456789abcdef";
  for (std::size_t i = 0; i < hash_digits; ++i) name += hex[i % 2 == 0 ? digest[i / 2] >> 4U : digest[i / 2] & 0xFU];
  return name;
}

}  // namespace hindsight::connectors
