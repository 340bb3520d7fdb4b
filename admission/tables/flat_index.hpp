#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hindsight::admission {

/// Maps 64-bit keys to 32-bit positions: open addressing in one array. Iteration is not offered, so that no order can leak.
class FlatIndex {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  [[nodiscard]] std::uint32_t find(std::uint64_t key) const {
    if (slots_.empty()) return none;
    for (std::size_t i = home(key);; i = next(i)) {
      if (slots_[i].value == none) return none;
      if (slots_[i].key == key) return slots_[i].value;
    }
  }

  /// Inserts or replaces; `value` must not be `none`.
  void set(std::uint64_t key, std::uint32_t value) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    std::size_t i = home(key);
    while (slots_[i].value != none && slots_[i].key != key) i = next(i);
    if (slots_[i].value == none) ++size_;
    slots_[i] = {key, value};
  }

  void erase(std::uint64_t key) {
    if (slots_.empty()) return;
    std::size_t hole = home(key);
    while (slots_[hole].value != none && slots_[hole].key != key) hole = next(hole);
    if (slots_[hole].value == none) return;
    --size_;
    // Close the gap: whatever could not stand at the hole's place because it was taken moves there.
    for (std::size_t i = next(hole); slots_[i].value != none; i = next(i)) {
      const std::size_t wanted = home(slots_[i].key);
      const bool between = hole <= i ? (hole < wanted && wanted <= i) : (hole < wanted || wanted <= i);
      if (between) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = {};
  }

  void clear() {
    slots_.clear();
    size_ = 0;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t value = none;
  };

  [[nodiscard]] std::size_t home(std::uint64_t key) const { return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> shift_); }
  [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    shift_ = slots_.empty() ? 60 : shift_ - 1;
    old.swap(slots_);
    for (const Slot& s : old) {
      if (s.value == none) continue;
      std::size_t i = home(s.key);
      while (slots_[i].value != none) i = next(i);
      slots_[i] = s;
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
  int shift_ = 60;  ///< 64 − log2 of the number of slots.
};

}  // namespace hindsight::admission
