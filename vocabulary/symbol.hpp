#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

namespace hindsight {

namespace detail {

/// What a number stands for. Entries are kept in fixed blocks that never move, so that text() needs no lock.
struct SymbolEntry {
  std::string_view text;
  std::atomic<std::uint32_t> uses = 0;  ///< How many Symbols have the number; from `symbol_kept` on nobody counts any more.
  // Under the lock of the table.
  bool in_line = false;    ///< It stands in the line of forgotten names.
  bool once_more = false;  ///< Somebody had it since it got its place there, and let go of it again.
};

inline constexpr std::uint32_t symbol_block_size = 4096;
inline constexpr std::uint32_t symbol_block_count = 4096;
using SymbolBlock = std::array<SymbolEntry, symbol_block_size>;
inline constinit std::array<std::atomic<SymbolBlock*>, symbol_block_count> symbol_blocks{};

/// A name that so many have at the same time ("cpu") is kept for ever: threads would only wait for each other to count it.
inline constexpr std::uint32_t symbol_popular = 1U << 16;
inline constexpr std::uint32_t symbol_kept = 1U << 30;

[[nodiscard]] inline SymbolEntry& symbol_entry(std::uint32_t id) {
  return (*symbol_blocks[id / symbol_block_size].load(std::memory_order_acquire))[id % symbol_block_size];
}

/// Nobody has the name any more.
void forget_symbol(std::uint32_t id) noexcept;

inline void take_symbol(std::uint32_t id) noexcept {
  if (id == 0) return;
  auto& uses = symbol_entry(id).uses;
  if (uses.load(std::memory_order_relaxed) >= symbol_kept) return;
  if (uses.fetch_add(1, std::memory_order_relaxed) == symbol_popular) uses.fetch_or(symbol_kept, std::memory_order_relaxed);
}

inline void drop_symbol(std::uint32_t id) noexcept {
  if (id == 0) return;
  auto& uses = symbol_entry(id).uses;
  if (uses.load(std::memory_order_relaxed) >= symbol_kept) return;
  if (uses.fetch_sub(1, std::memory_order_acq_rel) == 1) forget_symbol(id);
}

}  // namespace detail

/// An interned name: four bytes that stand for a string, which lives as long as anybody has the name. Thread-safe.
///
/// For names that many share (flavors, resources, queues, namespaces, label keys), never for names of workloads; tenants choose some of
/// them, so a name that nobody has any more takes no memory. The number inside depends on the order of first use in this process, so it
/// must not reach any output, order or hash: order and hash by `text()`. Equality is by number.
class Symbol {
 public:
  constexpr Symbol() = default;  ///< The empty name.
  explicit Symbol(std::string_view text);

  Symbol(const Symbol& other) noexcept : id_(other.id_) { detail::take_symbol(id_); }
  Symbol(Symbol&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
  Symbol& operator=(const Symbol& other) noexcept {
    if (id_ == other.id_) return *this;
    detail::take_symbol(other.id_);
    detail::drop_symbol(std::exchange(id_, other.id_));
    return *this;
  }
  Symbol& operator=(Symbol&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Symbol() { detail::drop_symbol(id_); }

  /// The symbol with this number, which must have come from `id()` in this process. Of a name that nobody has any more, the number may have
  /// been given to another one: whoever keeps numbers keeps the names as well.
  [[nodiscard]] static Symbol from_id(std::uint32_t id) noexcept {
    Symbol s;
    s.id_ = id;
    detail::take_symbol(id);
    return s;
  }

  /// Lives as long as anybody has the name.
  [[nodiscard]] std::string_view text() const {
    if (id_ == 0) return {};
    return detail::symbol_entry(id_).text;
  }
  [[nodiscard]] bool empty() const { return id_ == 0; }
  [[nodiscard]] std::uint32_t id() const { return id_; }
  friend bool operator==(const Symbol& a, const Symbol& b) { return a.id_ == b.id_; }

  /// How many names are in memory: those that somebody has, and the last few thousand that nobody has any more.
  [[nodiscard]] static std::size_t known();

 private:
  [[nodiscard]] static std::uint32_t intern(std::string_view text);

  std::uint32_t id_ = 0;
};

/// Orders symbols by their text; the only order that is the same in every process.
struct ByText {
  using is_transparent = void;
  bool operator()(const Symbol& a, const Symbol& b) const { return a != b && a.text() < b.text(); }
};

}  // namespace hindsight

template <>
struct std::hash<hindsight::Symbol> {
  std::size_t operator()(const hindsight::Symbol& s) const noexcept { return s.id() * 0x9E3779B97F4A7C15ULL; }
};
