#pragma once

#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hindsight {

/// Memory for the strings and lists of one record: bump allocation, freed together. Not thread-safe.
class Arena {
 public:
  Arena() = default;
  /// Uses `first` before it asks for memory of its own, again after each clear(). The caller keeps `first` alive.
  explicit Arena(std::span<std::byte> first) : memory_(first.data(), first.size()) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// A copy of `text` that lives as long as the arena.
  [[nodiscard]] std::string_view copy(std::string_view text) {
    if (text.empty()) return {};
    auto* p = static_cast<char*>(memory_.allocate(text.size(), 1));
    std::memcpy(p, text.data(), text.size());
    return {p, text.size()};
  }

  /// `n` value-initialised elements.
  template <class T>
  [[nodiscard]] std::span<T> make(std::size_t n) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (n == 0) return {};
    auto* p = static_cast<T*>(memory_.allocate(n * sizeof(T), alignof(T)));
    for (std::size_t i = 0; i < n; ++i) new (p + i) T();
    return {p, n};
  }

  /// A copy of a list (shallow: views inside keep pointing where they did).
  template <class T>
  [[nodiscard]] std::span<const T> copy(const std::vector<T>& list) {
    auto out = make<T>(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) out[i] = list[i];
    return out;
  }

  /// Forgets everything, keeps nothing alive that was handed out.
  void clear() { memory_.release(); }

 private:
  std::pmr::monotonic_buffer_resource memory_{1024};
};

}  // namespace hindsight
