#include "whatif/comparison.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "projections/format.hpp"
#include "projections/table.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::whatif {
namespace {

using projections::Json;
using projections::Table;

constexpr Duration same_within = Duration::seconds(1);
constexpr std::size_t plot_width = 60;
constexpr std::size_t lives_shown = 10;

Duration magnitude(Duration d) { return d.micros < 0 ? Duration{-d.micros} : d; }

std::string signed_text(Duration d) {
  if (magnitude(d) < same_within) return "0s";
  return (d.micros < 0 ? "-" : "+") + projections::human_duration(magnitude(d));
}

std::string start_text(const Fate& f) {
  if (f.started.is_set()) return format_rfc3339(f.started);
  if (f.ended.is_set() || f.gone) return "never";
  return "not yet";
}

bool differ(Time a, Time b) { return a.is_set() != b.is_set() || magnitude(a - b) >= same_within; }

/// One line of blocks: the more wait, the higher; `top` is the highest.
std::string bars(const std::vector<std::size_t>& values, std::size_t top) {
  static constexpr std::array<const char*, 9> blocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string out;
  for (const std::size_t v : values) out += blocks[v == 0 || top == 0 ? 0 : std::max<std::size_t>(1, v * 8 / top)];
  return out;
}

/// The life of one Workload as a line: a light block while it waits for its start, a full one from its start to its end.
std::string life_line(const Fate& f, const Ledger& ledger, Time end) {
  const Time begin = ledger.begun();
  const Time gone = f.ended.is_set() ? f.ended : f.gone ? std::max(f.came, begin) : ledger.ended();
  std::string out;
  for (std::size_t i = 0; i < plot_width; ++i) {
    const auto edge = [&](std::size_t n) {
      const auto width = static_cast<std::int64_t>(plot_width);
      const auto whole = (end - begin).micros;
      return begin + Duration{whole / width * static_cast<std::int64_t>(n) + whole % width * static_cast<std::int64_t>(n) / width};
    };
    // What takes less than a column is seen in that where it begins.
    const Time from = edge(i), to = edge(i + 1);
    const bool last = i + 1 == plot_width;
    const auto meets = [&](Time a, Time b) { return (a < to || last) && (b > from || (b == a && a >= from)); };
    if (f.started.is_set() && meets(f.started, std::max(f.started, gone)))
      out += "█";
    else if (meets(f.came, f.started.is_set() ? f.started : std::max(f.came, gone)))
      out += "░";
    else
      out += " ";
  }
  return out;
}

/// Who starts when, of the first of those that differ.
std::string lives_text(const Comparison& c, Time end, const ComparisonStyle& style) {
  const std::size_t n = std::min({c.differences.size(), style.rows == 0 ? c.differences.size() : style.rows, lives_shown});
  if (n == 0 || end <= c.was.begun()) return {};
  Table table;
  table.columns = {{"WORKLOAD"}, {""}, {"LIFE"}};
  for (std::size_t i = 0; i < n; ++i) {
    const Difference& d = c.differences[i];
    table.rows.push_back({d.key, "was", d.only_would_be ? "|not there" : "|" + life_line(d.was, c.was, end) + "|"});
    table.rows.push_back({"", "would be", d.only_was ? "|not there" : "|" + life_line(d.would_be, c.would_be, end) + "|"});
  }
  return "\nWho starts when, " + (n < c.differences.size() ? "the first " + std::to_string(n) + " of these" : std::string("all of these")) +
         ", from " + format_rfc3339(c.was.begun()) + " to " + format_rfc3339(end) + "; ░ waits, █ from start to end:\n" +
         projections::render(table, {.colour = style.colour});
}

void add_wait_row(Table& table, const std::string& queue, const std::string& what, const Waits& w) {
  using projections::human_duration;
  table.rows.push_back({queue, what, std::to_string(w.workloads), std::to_string(w.started), std::to_string(w.ended),
                        human_duration(w.mean), human_duration(w.p50), human_duration(w.p95), std::to_string(w.preemptions),
                        std::to_string(w.evictions), human_duration(w.lost)});
}

std::string waits_text(const Comparison& c, const ComparisonStyle& style) {
  Table table;
  table.columns = {{"CLUSTERQUEUE"},
                   {""},
                   {"WORKLOADS", false, true},
                   {"STARTED", false, true},
                   {"ENDED", false, true},
                   {"WAIT MEAN", false, true},
                   {"P50", false, true},
                   {"P95", false, true},
                   {"PREEMPTIONS", false, true},
                   {"EVICTIONS", false, true},
                   {"LOST", false, true}};
  const auto was = c.was.waits(), would_be = c.would_be.waits();
  std::map<std::string, int> queues;
  for (const auto& [q, w] : was) queues.emplace(q, 0);
  for (const auto& [q, w] : would_be) queues.emplace(q, 0);
  const auto add = [&](const std::string& q) {
    const auto a = was.find(q), b = would_be.find(q);
    add_wait_row(table, q.empty() ? "(all)" : q, "was", a == was.end() ? Waits{} : a->second);
    add_wait_row(table, "", "would be", b == would_be.end() ? Waits{} : b->second);
  };
  for (const auto& [q, ignored] : queues)
    if (!q.empty()) add(q);
  if (queues.size() != 2) add("");  // of one queue the sum is that queue
  return projections::render(table, {.colour = style.colour});
}

/// Amount times hours: of cpu as cores, of bytes as GiB, of all else as it is counted.
std::string hours_text(std::int64_t amount_seconds, std::string_view resource) {
  const bool bytes = resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-");
  constexpr double gibibyte = 1 << 30, seconds_of_hour = 3600;
  const double unit = resource == "cpu" ? 1000 : bytes ? gibibyte : 1;
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.3g%s", static_cast<double>(amount_seconds) / unit / seconds_of_hour,
                bytes && amount_seconds != 0 ? "Gi" : "");
  return text.data();
}

std::string usage_text(const Comparison& c, const ComparisonStyle& style) {
  const auto was = c.was.usage(), would_be = c.would_be.usage();
  std::map<std::vector<std::string>, std::pair<std::int64_t, std::int64_t>> both;
  for (const auto& [k, v] : was) both[k].first = v;
  for (const auto& [k, v] : would_be) both[k].second = v;
  const auto lost = [](const Ledger& ledger, const std::vector<std::string>& key) {
    const auto it = ledger.lost().find(key);
    return hours_text(it == ledger.lost().end() ? 0 : it->second, key[2]);
  };
  const std::int64_t seconds = std::max<std::int64_t>(1, (std::max(c.was.ended(), c.would_be.ended()) - c.was.begun()).micros / 1'000'000);
  Table table;
  table.columns = {{"CLUSTERQUEUE"},
                   {"FLAVOR"},
                   {"RESOURCE"},
                   {"MEAN USE WAS", false, true},
                   {"WOULD BE", false, true},
                   {"LOST HOURS WAS", false, true},
                   {"WOULD BE", false, true}};
  const auto mean = [&](std::int64_t use, Symbol resource) {
    constexpr std::int64_t mebibyte = 1 << 20;
    const std::int64_t amount = use / seconds;
    return projections::amount_text(resource.text() != "cpu" && amount > 1024 * mebibyte ? amount / mebibyte * mebibyte : amount, resource);
  };
  for (const auto& [key, use] : both) {
    const Symbol resource(key[2]);
    table.rows.push_back(
        {key[0], key[1], key[2], mean(use.first, resource), mean(use.second, resource), lost(c.was, key), lost(c.would_be, key)});
  }
  return projections::render(table, {.colour = style.colour});
}

/// Whether several domains decided, so that it must be said which.
bool in_several_domains(const Comparison& c) {
  const std::string* first = nullptr;
  for (const Ledger* ledger : {&c.was, &c.would_be})
    for (const auto& [key, fate] : ledger->fates()) {
      if (first != nullptr && fate.domain != *first) return true;
      first = &fate.domain;
    }
  return false;
}

Json fate_json(const Fate& f) {
  Json out = Json::object();
  if (!f.domain.empty()) out["domain"] = f.domain;
  const auto time = [&](const char* name, Time t) {
    if (t.is_set()) out[name] = format_rfc3339_micro(t);
  };
  out["clusterQueue"] = f.queue;
  time("came", f.came);
  time("started", f.started);
  time("ended", f.ended);
  out["preemptions"] = f.preempted;
  out["evictions"] = f.evicted;
  out["lostSeconds"] = static_cast<double>(f.lost.micros) / 1e6;
  return out;
}

Json history_json(const Ledger& ledger) {
  Json queues = Json::object();
  for (const auto& [queue, w] : ledger.waits()) {
    const auto seconds = [](Duration d) { return static_cast<double>(d.micros) / 1e6; };
    queues[queue.empty() ? "(all)" : queue] = {{"workloads", w.workloads},
                                               {"started", w.started},
                                               {"ended", w.ended},
                                               {"waitMeanSeconds", seconds(w.mean)},
                                               {"waitP50Seconds", seconds(w.p50)},
                                               {"waitP95Seconds", seconds(w.p95)},
                                               {"preemptions", w.preemptions},
                                               {"evictions", w.evictions},
                                               {"lostSeconds", seconds(w.lost)}};
  }
  Json usage = Json::array();
  for (const auto& [key, v] : ledger.usage()) {
    const auto lost = ledger.lost().find(key);
    usage.push_back({{"clusterQueue", key[0]},
                     {"flavor", key[1]},
                     {"resource", key[2]},
                     {"amountSeconds", v},
                     {"lostAmountSeconds", lost == ledger.lost().end() ? 0 : lost->second}});
  }
  return {{"begin", format_rfc3339_micro(ledger.begun())},
          {"end", format_rfc3339_micro(ledger.ended())},
          {"clusterQueues", queues},
          {"usage", usage}};
}

}  // namespace

Comparison compare(Ledger was, Ledger would_be) {
  Comparison out{std::move(was), std::move(would_be), {}};
  static const Fate nobody;
  const auto& a = out.was.fates();
  const auto& b = out.would_be.fates();
  const auto add = [&](const std::string& key, const Fate* x, const Fate* y) {
    const Fate& fx = x == nullptr ? nobody : *x;
    const Fate& fy = y == nullptr ? nobody : *y;
    if (x != nullptr && y != nullptr && !differ(fx.started, fy.started) && !differ(fx.ended, fy.ended) && fx.evicted == fy.evicted) return;
    Difference d{key, fx, fy, y == nullptr, x == nullptr, {}};
    const Time was_start = fx.started.is_set() ? fx.started : out.was.ended();
    const Time would_start = fy.started.is_set() ? fy.started : out.would_be.ended();
    if (x != nullptr && y != nullptr && (fx.started.is_set() || fy.started.is_set())) d.shift = would_start - was_start;
    out.differences.push_back(std::move(d));
  };
  for (const auto& [key, fate] : a) {
    const auto it = b.find(key);
    add(key, &fate, it == b.end() ? nullptr : &it->second);
  }
  for (const auto& [key, fate] : b)
    if (!a.contains(key)) add(key, nullptr, &fate);
  std::ranges::stable_sort(out.differences, [](const Difference& x, const Difference& y) {
    const bool one_x = x.only_was || x.only_would_be, one_y = y.only_was || y.only_would_be;
    if (one_x != one_y) return one_x;
    return magnitude(x.shift) > magnitude(y.shift);
  });
  return out;
}

std::string to_text(const Comparison& c, const ComparisonStyle& style) {
  std::string out = waits_text(c, style) + "\n";
  if (c.differences.empty()) {
    out += "Everybody starts and ends as it was.\n";
  } else {
    Table table;
    table.columns = {{"WORKLOAD"},
                     {"CLUSTERQUEUE"},
                     {"START WAS"},
                     {"WOULD BE"},
                     {"SHIFT", false, true},
                     {"EVICTIONS WAS", false, true},
                     {"WOULD BE", false, true}};
    const bool named = in_several_domains(c);
    if (named) table.columns.push_back({"DOMAIN"});
    std::size_t shown = 0;
    for (const auto& d : c.differences) {
      if (style.rows != 0 && shown == style.rows) break;
      ++shown;
      const Fate& known = d.only_was ? d.was : d.would_be;
      const auto tone = d.shift.micros < 0   ? projections::Tone::good
                        : d.shift.micros > 0 ? projections::Tone::bad
                                             : projections::Tone::plain;
      table.rows.push_back({d.key,
                            known.queue,
                            d.only_would_be ? "not there" : start_text(d.was),
                            d.only_was ? "not there" : start_text(d.would_be),
                            {d.only_was || d.only_would_be ? "" : signed_text(d.shift), tone},
                            d.only_would_be ? "" : std::to_string(d.was.evicted),
                            d.only_was ? "" : std::to_string(d.would_be.evicted)});
      if (named) table.rows.back().push_back(known.domain);
    }
    out += "Whose start, end or evictions differ, " + projections::counted(c.differences.size(), "workload") + ":\n" +
           projections::render(table, {.colour = style.colour});
    if (shown < c.differences.size()) out += "and " + std::to_string(c.differences.size() - shown) + " more (--rows 0 shows all)\n";
  }
  const Time end = std::max(c.was.ended(), c.would_be.ended());
  out += lives_text(c, end, style);
  const auto was = c.was.waiting(plot_width, end), would_be = c.would_be.waiting(plot_width, end);
  const std::size_t top = std::max(*std::ranges::max_element(was), *std::ranges::max_element(would_be));
  if (top > 0)
    out += "\nWaiting, from " + format_rfc3339(c.was.begun()) + " to " + format_rfc3339(end) + ", at most " + std::to_string(top) +
           ":\n  was       |" + bars(was, top) + "|\n  would be  |" + bars(would_be, top) + "|\n";
  return out + "\n" + usage_text(c, style);
}

Json to_json(const Comparison& c) {
  Json differences = Json::array();
  for (const auto& d : c.differences) {
    Json j{{"workload", d.key}};
    if (!d.only_would_be) j["was"] = fate_json(d.was);
    if (!d.only_was) j["wouldBe"] = fate_json(d.would_be);
    if (!d.only_was && !d.only_would_be) j["shiftSeconds"] = static_cast<double>(d.shift.micros) / 1e6;
    differences.push_back(std::move(j));
  }
  return {{"was", history_json(c.was)}, {"wouldBe", history_json(c.would_be)}, {"differences", differences}};
}

}  // namespace hindsight::whatif
