#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "vocabulary/symbol.hpp"
#include "vocabulary/time.hpp"

namespace hindsight {

/// A 64-bit hash over a canonical sequence of values, the same on every machine and release. Not for adversaries: it
/// detects disagreement between folds, the checksums of the log detect damage.
class StateHash {
 public:
  constexpr void add(std::uint64_t v) {
    state_ ^= v + 0x9E3779B97F4A7C15ULL;
    state_ *= 0xFF51AFD7ED558CCDULL;
    state_ ^= state_ >> 32;
    state_ *= 0xC4CEB9FE1A85EC53ULL;
    state_ ^= state_ >> 29;
  }
  constexpr void add(std::int64_t v) { add(static_cast<std::uint64_t>(v)); }
  constexpr void add(std::uint32_t v) { add(static_cast<std::uint64_t>(v)); }
  constexpr void add(std::int32_t v) { add(static_cast<std::uint64_t>(static_cast<std::int64_t>(v))); }
  constexpr void add(bool v) { add(static_cast<std::uint64_t>(v ? 1 : 0)); }
  void add(Time t) { add(t.micros); }
  void add(Symbol s) { add(s.text()); }
  void add(std::string_view s) {
    std::uint64_t h = 0xCBF29CE484222325ULL ^ s.size();
    const char* p = s.data();
    std::size_t left = s.size();
    for (; left >= 8; p += 8, left -= 8) h = mix(h, word(p, 8));
    add(left == 0 ? h : mix(h, word(p, left)));
  }
  void add(const char* s) { add(std::string_view(s)); }
  template <class E>
  requires std::is_enum_v<E>
  void add(E e) { add(static_cast<std::uint64_t>(e)); }
  template <class T>
  void add(const std::optional<T>& v) {
    add(v.has_value());
    if (v) add(*v);
  }

  [[nodiscard]] constexpr std::uint64_t value() const { return state_; }

 private:
  /// Up to eight bytes as a little-endian number, whatever the machine.
  static std::uint64_t word(const char* p, std::size_t n) {
    std::uint64_t v = 0;
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(&v, p, n);
    } else {
      for (std::size_t i = 0; i < n; ++i) v |= static_cast<std::uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
    }
    return v;
  }
  static constexpr std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
    h = (h ^ v) * 0x9FB21C651E98DF25ULL;
    return h ^ (h >> 35);
  }

  std::uint64_t state_ = 0x243F6A8885A308D3ULL;
};

}  // namespace hindsight
