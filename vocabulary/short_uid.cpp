#include "vocabulary/short_uid.hpp"

#include <array>

namespace hindsight {
namespace {

constexpr std::size_t length = 36;

constexpr bool has_dash(std::size_t at) { return at == 8 || at == 13 || at == 18 || at == 23; }

}  // namespace

ShortUid::Bits ShortUid::read(std::string_view text) {
  if (text.size() != length) return {};
  std::array<std::uint64_t, 2> halves{};
  std::size_t digits = 0;
  for (std::size_t i = 0; i < length; ++i) {
    const char c = text[i];
    if (has_dash(i)) {
      if (c != '-') return {};
      continue;
    }
    const bool letter = c >= 'a' && c <= 'f';
    if (!letter && !(c >= '0' && c <= '9')) return {};
    auto& half = halves[digits++ / 16];
    half = half << 4U | static_cast<std::uint64_t>(letter ? c - 'a' + 10 : c - '0');
  }
  return {halves[0], halves[1]};
}

std::string ShortUid::text() const {
  if (!is_uuid()) return other_.text();
  std::string out;
  out.reserve(length);
  unsigned digits = 0;
  for (std::size_t i = 0; i < length; ++i) {
    if (has_dash(i)) {
      out += '-';
      continue;
    }
    const std::uint64_t half = digits < 16 ? high_ : low_;
    out += "0123456789abcdef"[half >> (60 - 4 * (digits % 16)) & 15U];
    ++digits;
  }
  return out;
}

}  // namespace hindsight
