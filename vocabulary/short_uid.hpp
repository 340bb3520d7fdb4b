#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "vocabulary/compact_text.hpp"

namespace hindsight {

/// A uid in 16 bytes: its bits where it is a UUID as API servers write them (lower case, with dashes), else a text beside it. For tables
/// that have one for each of a million objects.
class ShortUid {
 public:
  ShortUid() : other_() {}
  explicit ShortUid(std::string_view text) : ShortUid() {
    if (const Bits bits = read(text); bits.high != 0)
      set(bits);
    else
      other_ = text;
  }
  ShortUid(const ShortUid& from) : ShortUid() { *this = from; }
  ShortUid(ShortUid&& from) noexcept : ShortUid() { *this = std::move(from); }
  ShortUid& operator=(const ShortUid& from) {
    if (this == &from) return *this;
    if (from.is_uuid()) {
      set({from.high_, from.low_});
    } else {
      clear();
      other_ = from.other_;
    }
    return *this;
  }
  ShortUid& operator=(ShortUid&& from) noexcept {
    if (this == &from) return *this;
    if (from.is_uuid()) {
      set({from.high_, from.low_});
    } else {
      clear();
      other_ = std::move(from.other_);
    }
    return *this;
  }
  ~ShortUid() { clear(); }

  [[nodiscard]] bool empty() const { return !is_uuid() && other_.empty(); }
  [[nodiscard]] std::string text() const;

  friend bool operator==(const ShortUid& a, const ShortUid& b) {
    if (a.high_ != b.high_) return false;
    return a.is_uuid() ? a.low_ == b.low_ : a.other_ == b.other_;
  }

  struct Hash {
    std::size_t operator()(const ShortUid& uid) const noexcept {
      // The bits of a UUID are random, but for some that every one has.
      return uid.is_uuid() ? uid.high_ ^ (uid.low_ * 0x9E3779B97F4A7C15U) : std::hash<std::string_view>()(uid.other_.view());
    }
  };

 private:
  struct Bits {
    std::uint64_t high = 0, low = 0;
  };
  /// High bits of 0: it is no such UUID, or one that is kept as a text all the same.
  [[nodiscard]] static Bits read(std::string_view text);

  [[nodiscard]] bool is_uuid() const { return high_ != 0; }
  void clear() noexcept {
    if (!is_uuid()) return other_.clear();
    high_ = 0;
    new (&other_) CompactText();
  }
  void set(Bits bits) noexcept {
    if (!is_uuid()) other_.~CompactText();
    high_ = bits.high;
    low_ = bits.low;
  }

  std::uint64_t high_ = 0;
  union {
    std::uint64_t low_;
    CompactText other_;  ///< Where `high_` is 0.
  };
};

}  // namespace hindsight
