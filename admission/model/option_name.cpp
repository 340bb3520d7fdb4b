#include "admission/model/option_name.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "vocabulary/text.hpp"

namespace hindsight::admission {
namespace {

constexpr std::string_view option_mark = "-option-";
constexpr std::size_t option_hash_digits = 5;

std::uint32_t big_endian_word(std::string_view bytes) {
  std::uint32_t word = 0;
  for (const char c : bytes) word = word << 8U | static_cast<unsigned char>(c);
  return word;
}

/// The first word of SHA-1 (FIPS 180-4), which has more digits than a name takes. The libraries that know it are not for this folder.
std::uint32_t first_word_of_sha1(std::string_view text) {
  constexpr std::size_t block = 64, length_bytes = 8;
  std::string message(text);
  message += '\x80';
  while (message.size() % block != block - length_bytes) message += '\0';
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (unsigned shift = 64; shift > 0; shift -= 8) message += static_cast<char>(bits >> (shift - 8) & 0xFFU);

  std::array<std::uint32_t, 5> hash{0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  for (std::string_view rest = message; !rest.empty(); rest.remove_prefix(block)) {
    std::array<std::uint32_t, 80> words{};
    for (std::size_t i = 0; i < 16; ++i) words[i] = big_endian_word(rest.substr(4 * i, 4));
    for (std::size_t i = 16; i < 80; ++i) words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    auto [a, b, c, d, e] = hash;
    for (std::size_t i = 0; i < 80; ++i) {
      const std::uint32_t mixed = i < 20   ? ((b & c) | (~b & d)) + 0x5A827999
                                  : i < 40 ? (b ^ c ^ d) + 0x6ED9EBA1
                                  : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDC
                                           : (b ^ c ^ d) + 0xCA62C1D6;
      const std::uint32_t next = std::rotl(a, 5) + mixed + e + words[i];
      e = d;
      d = c;
      c = std::rotl(b, 30);
      b = a;
      a = next;
    }
    hash[0] += a;
    hash[1] += b;
    hash[2] += c;
    hash[3] += d;
    hash[4] += e;
  }
  return hash[0];
}

std::string hash_suffix(std::string_view workload, std::string_view uid, std::string_view option) {
  std::string text = "Workload\nkueue.x-k8s.io\n";
  text.append(workload).append("\n").append(uid).append("\n").append(option);
  const std::uint32_t word = first_word_of_sha1(text);
  constexpr std::string_view hex = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < option_hash_digits; ++i) out += hex[word >> (28 - 4 * i) & 0xFU];
  return out;
}

/// The beginning of a part of a name, so that what follows stands behind a letter or digit.
std::string_view cut_part(std::string_view part, std::size_t size) {
  part = cut_text(part, size);
  while (part.ends_with('-') || part.ends_with('.')) part.remove_suffix(1);
  return part;
}

}  // namespace

std::string option_name(std::string_view workload, std::string_view workload_uid, std::string_view option, std::size_t limit, bool hashed) {
  const auto joined = [](std::string_view front, std::string_view back) { return std::string(front).append(option_mark).append(back); };
  if (!hashed && workload.size() + option_mark.size() + option.size() <= limit) return joined(workload, option);
  const std::size_t budget = limit - option_mark.size() - 1 - option_hash_digits;
  const std::size_t left = budget > workload.size() ? budget - workload.size() : 0;
  const std::size_t option_size = std::min(option.size(), std::max(budget / 2, left));
  return joined(cut_part(workload, budget - option_size), cut_part(option, option_size)) + "-" +
         hash_suffix(workload, workload_uid, option);
}

}  // namespace hindsight::admission
