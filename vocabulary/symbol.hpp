#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstdint>
#include <functional>
#include <string_view>

namespace hindsight {

namespace detail {

// Texts are kept in fixed blocks that never move, so that text() needs no lock.
inline constexpr std::uint32_t symbol_block_size = 4096;
inline constexpr std::uint32_t symbol_block_count = 4096;
using SymbolBlock = std::array<std::string_view, symbol_block_size>;
inline constinit std::array<std::atomic<SymbolBlock*>, symbol_block_count> symbol_blocks{};

}  // namespace detail

/// An interned name: four bytes that stand for a string which lives as long as the process. Thread-safe.
///
/// For names of bounded number (flavors, resources, queues, namespaces, label keys), never for names of workloads. The number
/// inside depends on the order of first use in this process, so it must not reach any output, order or hash: order and
/// hash by `text()`. Equality is by number.
class Symbol {
 public:
  constexpr Symbol() = default;  ///< The empty name.
  explicit Symbol(std::string_view text);

  /// The symbol with this number, which must have come from `id()` in this process.
  [[nodiscard]] static constexpr Symbol from_id(std::uint32_t id) {
    Symbol s;
    s.id_ = id;
    return s;
  }

  [[nodiscard]] std::string_view text() const {
    if (id_ == 0) return {};
    return (*detail::symbol_blocks[id_ / detail::symbol_block_size].load(std::memory_order_acquire))[id_ % detail::symbol_block_size];
  }
  [[nodiscard]] constexpr bool empty() const { return id_ == 0; }
  [[nodiscard]] constexpr std::uint32_t id() const { return id_; }
  friend constexpr bool operator==(Symbol, Symbol) = default;

 private:
  [[nodiscard]] static std::uint32_t intern(std::string_view text);

  std::uint32_t id_ = 0;
};

/// Orders symbols by their text; the only order that is the same in every process.
struct ByText {
  using is_transparent = void;
  bool operator()(Symbol a, Symbol b) const { return a != b && a.text() < b.text(); }
};

}  // namespace hindsight

template <>
struct std::hash<hindsight::Symbol> {
  std::size_t operator()(hindsight::Symbol s) const noexcept { return s.id() * 0x9E3779B97F4A7C15ULL; }
};
