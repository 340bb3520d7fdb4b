#include "vocabulary/symbol.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hindsight {
namespace {

using detail::symbol_block_count;
using detail::symbol_block_size;
using detail::symbol_blocks;
using detail::symbol_entry;
using detail::SymbolEntry;
using Block = detail::SymbolBlock;

/// So many names that nobody has any more stay readable: whoever looks at the text of a name of somebody else's, for the length of one
/// step, may do so while that one lets go of it. Names that come and go all the time are also not made anew each time.
constexpr std::size_t forgotten_max = 16'384;

struct Table {
  std::shared_mutex mutex;
  std::unordered_map<std::string_view, std::uint32_t> ids;
  std::uint32_t next = 1;  // 0 is the empty name
  std::vector<std::uint32_t> free;
  std::deque<std::uint32_t> forgotten;  // each once, the longest forgotten first; some may have been taken again since
};

Table& table() {
  static auto* instance = new Table;  // never destroyed: symbols may be read until the very end
  return *instance;
}

/// The names that this thread asked for last. Most lookups end here, without the lock that all threads share.
constexpr std::size_t recent_count = 1024;
thread_local std::array<Symbol, recent_count> recent_names;

Symbol& recent(std::string_view text) {
  std::uint64_t first = 0, last = 0;
  const std::size_t n = text.size() < 8 ? text.size() : 8;
  std::memcpy(&first, text.data(), n);
  std::memcpy(&last, text.data() + (text.size() - n), n);
  const std::uint64_t h = ((first ^ text.size()) * 0x9E3779B97F4A7C15ULL ^ last) * 0xC4CEB9FE1A85EC53ULL;
  return recent_names[h >> 54];
}

std::uint32_t new_number(Table& t) {
  if (!t.free.empty()) {
    const std::uint32_t id = t.free.back();
    t.free.pop_back();
    return id;
  }
  const std::uint32_t id = t.next;
  const std::uint32_t block = id / symbol_block_size;
  if (block >= symbol_block_count) throw std::length_error("symbol table is full");
  if (symbol_blocks[block].load(std::memory_order_relaxed) == nullptr) symbol_blocks[block].store(new Block, std::memory_order_release);
  t.next = id + 1;
  return id;
}

}  // namespace

Symbol::Symbol(std::string_view text) {
  if (text.empty()) return;
  Symbol& r = recent(text);
  if (r.text() != text) {
    Symbol found;
    found.id_ = intern(text);
    r = std::move(found);
  }
  id_ = r.id_;
  detail::take_symbol(id_);
}

/// The number of the name, which counts as used once more.
std::uint32_t Symbol::intern(std::string_view text) {
  Table& t = table();
  {
    std::shared_lock lock(t.mutex);
    if (auto it = t.ids.find(text); it != t.ids.end()) {
      detail::take_symbol(it->second);  // nobody frees it while we have the lock
      return it->second;
    }
  }
  std::unique_lock lock(t.mutex);
  if (auto it = t.ids.find(text); it != t.ids.end()) {
    detail::take_symbol(it->second);
    return it->second;
  }
  const std::uint32_t id = new_number(t);
  auto* copy = new char[text.size()];
  std::memcpy(copy, text.data(), text.size());
  SymbolEntry& entry = symbol_entry(id);
  entry.text = std::string_view(copy, text.size());
  t.ids.emplace(entry.text, id);
  detail::take_symbol(id);
  return id;
}

void detail::forget_symbol(std::uint32_t id) noexcept {
  Table& t = table();
  std::unique_lock lock(t.mutex);
  if (std::exchange(symbol_entry(id).in_line, true)) {
    symbol_entry(id).once_more = true;
    return;
  }
  t.forgotten.push_back(id);
  while (t.forgotten.size() > forgotten_max) {
    const std::uint32_t oldest = t.forgotten.front();
    t.forgotten.pop_front();
    SymbolEntry& entry = symbol_entry(oldest);
    const bool once_more = std::exchange(entry.once_more, false);
    entry.in_line = false;
    // Taken again: whoever lets go of it last puts it in line again. Freed already: two let go of it, and one of them was late.
    if (entry.uses.load(std::memory_order_acquire) != 0 || entry.text.data() == nullptr) continue;
    if (once_more) {  // forgotten later than its place says
      entry.in_line = true;
      t.forgotten.push_back(oldest);
      continue;
    }
    t.ids.erase(entry.text);
    delete[] entry.text.data();
    entry.text = {};
    t.free.push_back(oldest);
  }
}

std::size_t Symbol::known() {
  Table& t = table();
  std::shared_lock lock(t.mutex);
  return t.ids.size();
}

}  // namespace hindsight
