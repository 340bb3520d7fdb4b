#include "projections/history_short.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "vocabulary/ascii.hpp"

namespace hindsight::projections {
namespace {

constexpr std::string_view back_in_line = "woken";

/// What is said again and again of a Workload that waits.
bool is_a_try(std::string_view kind) { return kind == "tried" || kind == "parked" || kind == "pending" || kind == "secondPassFailed"; }

bool is_in_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '/'; }

/// The text with "#" in place of quantities: words that begin with a digit ("4", "500m", "1.5", "8Gi"). Names keep theirs ("team-4").
std::string without_amounts(std::string_view text) {
  std::string out;
  bool inside = false, amount = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool point = amount && c == '.' && i + 1 < text.size() && is_digit(text[i + 1]);
    if (!is_in_word(c) && !point) {
      inside = amount = false;
      out += c;
      continue;
    }
    if (!inside) {
      amount = is_digit(c);
      if (amount) out += '#';
    }
    inside = true;
    if (!amount) out += c;
  }
  return out;
}

/// Equal for entries that say the same.
std::string essence_of(const HistoryEntry& e) {
  std::string_view said = e.text;
  std::string what;
  if (!is_a_try(e.kind)) {
    what = said;
  } else {
    // Where it waits after a try, and beside how many others, is no outcome; nor is which of several equal ones was tried for it.
    constexpr std::string_view equal = ", which is equal";
    if (const auto end = said.rfind("; "); e.kind == "tried" && end != std::string_view::npos) said = said.substr(0, end);
    if (const auto begin = said.find(equal); e.kind == "parked" && begin != std::string_view::npos) said.remove_prefix(begin);
    what = without_amounts(said);
  }
  return e.object + '\n' + e.kind + (e.void_ ? "\nvoid\n" : "\n") + what;
}

/// Puts entries together; indexes are those of `entries`.
class Condensing {
 public:
  explicit Condensing(const std::vector<HistoryEntry>& entries) : entries_(entries) {}

  std::vector<ShortEntry> make() {
    for (std::size_t i = 0; i < entries_.size(); ++i) take(i);
    std::vector<ShortEntry> out;
    for (const auto& line : lines_) {
      if (line.dropped) continue;
      const HistoryEntry& last = entries_[line.last];
      auto& one = out.emplace_back(ShortEntry{entries_[line.first], line.times, last.offset, last.time});
      one.entry.text = last.text;
    }
    return out;
  }

 private:
  struct Line {
    std::size_t first = 0, last = 0, times = 1;
    std::optional<std::size_t> lead;  ///< The line that told that it was back in line for its first try.
    bool dropped = false;
  };

  void take(std::size_t i) {
    const HistoryEntry& e = entries_[i];
    if (e.kind == back_in_line) return wake(i);
    const bool tried = is_a_try(e.kind);
    std::string essence = essence_of(e);
    if (const auto known = open_.find(essence); known != open_.end()) return again(known->second, i, tried);
    if (!tried) {  // news: what was said before them is not what is said after them
      open_.clear();
      woken_.clear();
    }
    Line line{i, i, 1, std::nullopt, false};
    if (const auto woken = woken_.find(e.object); tried && woken != woken_.end()) {
      line.lead = woken->second;
      woken_.erase(woken);
    }
    open_.emplace(std::move(essence), lines_.size());
    lines_.push_back(line);
  }

  void wake(std::size_t i) {
    const auto [at, first] = woken_.try_emplace(entries_[i].object, lines_.size());
    if (first) {
      lines_.push_back({i, i, 1, std::nullopt, false});
    } else {
      lines_[at->second].last = i;
      ++lines_[at->second].times;
    }
  }

  void again(std::size_t line, std::size_t i, bool tried) {
    lines_[line].last = i;
    ++lines_[line].times;
    if (!tried) return;
    if (const auto lead = std::exchange(lines_[line].lead, std::nullopt)) lines_[*lead].dropped = true;
    if (const auto woken = woken_.find(entries_[i].object); woken != woken_.end()) {
      lines_[woken->second].dropped = true;
      woken_.erase(woken);
    }
  }

  const std::vector<HistoryEntry>& entries_;
  std::vector<Line> lines_;
  std::map<std::string, std::size_t> open_;   ///< Lines since the last news, by what they say.
  std::map<std::string, std::size_t> woken_;  ///< Lines that tell that an object is back in line, and no try has followed; by object.
};

}  // namespace

std::vector<ShortEntry> condensed(const std::vector<HistoryEntry>& entries) { return Condensing(entries).make(); }

std::string short_text(const ShortEntry& e) {
  if (e.times == 1) return e.entry.text;
  return std::to_string(e.times) + " times, last at " + std::to_string(e.last_offset) +
         (e.last_time.is_set() ? " (" + format_rfc3339_micro(e.last_time) + ")" : std::string()) + ": " + e.entry.text;
}

Json to_json(const ShortEntry& e) {
  Json out = to_json(e.entry);
  out["times"] = e.times;
  if (e.times == 1) return out;
  out["lastOffset"] = e.last_offset;
  if (e.last_time.is_set()) out["lastTime"] = format_rfc3339_micro(e.last_time);
  return out;
}

}  // namespace hindsight::projections
