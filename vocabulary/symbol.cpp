#include "vocabulary/symbol.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace hindsight {
namespace {

using detail::symbol_block_count;
using detail::symbol_block_size;
using detail::symbol_blocks;
using Block = detail::SymbolBlock;

struct Table {
  std::shared_mutex mutex;
  std::unordered_map<std::string_view, std::uint32_t> ids;
  std::uint32_t next = 1;  // 0 is the empty name
};

Table& table() {
  static auto* instance = new Table;  // never destroyed: symbols may be read until the very end
  return *instance;
}

/// The names that this thread asked for last. Most lookups end here, without the lock that all threads share.
struct Recent {
  std::string_view text;  // of the table: lives for ever
  std::uint32_t id = 0;
};
constexpr std::size_t recent_count = 1024;
thread_local std::array<Recent, recent_count> recent_names;

Recent& recent(std::string_view text) {
  std::uint64_t first = 0, last = 0;
  const std::size_t n = text.size() < 8 ? text.size() : 8;
  std::memcpy(&first, text.data(), n);
  std::memcpy(&last, text.data() + (text.size() - n), n);
  const std::uint64_t h = ((first ^ text.size()) * 0x9E3779B97F4A7C15ULL ^ last) * 0xC4CEB9FE1A85EC53ULL;
  return recent_names[h >> 54];
}

}  // namespace

Symbol::Symbol(std::string_view text) {
  if (text.empty()) return;
  Recent& r = recent(text);
  if (r.text == text) {
    id_ = r.id;
    return;
  }
  id_ = intern(text);
  r = {this->text(), id_};
}

std::uint32_t Symbol::intern(std::string_view text) {
  Table& t = table();
  {
    std::shared_lock lock(t.mutex);
    if (auto it = t.ids.find(text); it != t.ids.end()) return it->second;
  }
  std::unique_lock lock(t.mutex);
  if (auto it = t.ids.find(text); it != t.ids.end()) return it->second;
  const std::uint32_t id = t.next;
  const std::uint32_t block = id / symbol_block_size;
  if (block >= symbol_block_count) throw std::length_error("symbol table is full");
  Block* b = symbol_blocks[block].load(std::memory_order_relaxed);
  if (b == nullptr) {
    b = new Block;
    symbol_blocks[block].store(b, std::memory_order_release);
  }
  auto* copy = new char[text.size()];
  std::memcpy(copy, text.data(), text.size());
  (*b)[id % symbol_block_size] = std::string_view(copy, text.size());
  t.ids.emplace((*b)[id % symbol_block_size], id);
  t.next = id + 1;
  return id;
}

}  // namespace hindsight
