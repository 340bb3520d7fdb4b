#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace hindsight::admission {

/// Finds the numbers of texts that stand elsewhere: open addressing over 8 bytes a slot, which hold 32 bits of the text's hash and the
/// number. `text_of(number)` gives the text of a number that was inserted. Iteration is not offered, so that no order can leak.
class TextIndex {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  template <class TextOf>
  [[nodiscard]] std::uint32_t find(std::string_view text, const TextOf& text_of) const {
    if (slots_.empty()) return none;
    const std::uint32_t hash = hash_of(text);
    for (std::size_t i = home(hash); slots_[i].number != none; i = next(i))
      if (slots_[i].hash == hash && text_of(slots_[i].number) == text) return slots_[i].number;
    return none;
  }

  /// The text must not be there yet; `number` must not be `none`.
  void insert(std::string_view text, std::uint32_t number) {
    if ((size_ + 1) * 3 > slots_.size() * 2) grow();
    ++size_;
    put({hash_of(text), number});
  }

  void erase(std::string_view text, std::uint32_t number) {
    if (slots_.empty()) return;
    std::size_t hole = home(hash_of(text));
    while (slots_[hole].number != number) {
      if (slots_[hole].number == none) return;
      hole = next(hole);
    }
    --size_;
    // Close the gap: whatever could not stand at the hole's place because it was taken moves there.
    for (std::size_t i = next(hole); slots_[i].number != none; i = next(i)) {
      const std::size_t wanted = home(slots_[i].hash);
      const bool between = hole <= i ? (hole < wanted && wanted <= i) : (hole < wanted || wanted <= i);
      if (between) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = {};
  }

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = none;
  };

  [[nodiscard]] static std::uint32_t hash_of(std::string_view text) {
    const std::uint64_t h = std::hash<std::string_view>{}(text);
    return static_cast<std::uint32_t>(h ^ (h >> 32));
  }
  [[nodiscard]] std::size_t home(std::uint32_t hash) const { return hash & (slots_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }

  void put(Slot s) {
    std::size_t i = home(s.hash);
    while (slots_[i].number != none) i = next(i);
    slots_[i] = s;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& s : old)
      if (s.number != none) put(s);
  }

  std::vector<Slot> slots_;  ///< A power of two, at most two thirds full.
  std::size_t size_ = 0;
};

}  // namespace hindsight::admission
