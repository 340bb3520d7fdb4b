#include "connectors/objects/topology_encoding.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vocabulary/limits.hpp"

namespace hindsight::connectors {
namespace {

using admission::TopologyAssignment;

struct Run {
  std::size_t first = 0, last = 0;  ///< Domains [first, last).
};

std::string_view value(const TopologyAssignment& a, std::size_t domain, std::size_t level) { return a.domain(domain)[level].text(); }

/// One level of one slice: what all values begin and end with stands once.
Json level_json(const TopologyAssignment& a, Run run, std::size_t level) {
  const std::string_view first = value(a, run.first, level);
  std::size_t prefix = first.size(), suffix = first.size(), shortest = first.size();
  bool equal = true;
  for (std::size_t i = run.first + 1; i < run.last; ++i) {
    const std::string_view v = value(a, i, level);
    equal = equal && v == first;
    shortest = std::min(shortest, v.size());
    prefix = std::min(prefix, v.size());
    suffix = std::min(suffix, v.size());
    while (v.substr(0, prefix) != first.substr(0, prefix)) --prefix;
    while (v.substr(v.size() - suffix) != first.substr(first.size() - suffix)) --suffix;
  }
  if (equal) return {{"universal", first}};
  prefix = std::min(prefix, shortest - suffix);
  Json individual = Json::object();
  if (prefix > 0) individual["prefix"] = first.substr(0, prefix);
  if (suffix > 0) individual["suffix"] = first.substr(first.size() - suffix);
  Json roots = Json::array();
  for (std::size_t i = run.first; i < run.last; ++i) {
    const std::string_view v = value(a, i, level);
    roots.push_back(v.substr(prefix, v.size() - prefix - suffix));
  }
  individual["roots"] = std::move(roots);
  return {{"individual", std::move(individual)}};
}

Json slice_json(const TopologyAssignment& a, Run run) {
  Json values = Json::array();
  for (std::size_t level = 0; level < a.levels.size(); ++level) values.push_back(level_json(a, run, level));
  Json counts;
  const auto first = a.counts.begin() + static_cast<std::ptrdiff_t>(run.first),
             last = a.counts.begin() + static_cast<std::ptrdiff_t>(run.last);
  if (std::all_of(first, last, [&](std::int32_t n) { return n == *first; }))
    counts["universal"] = *first;
  else
    counts["individual"] = std::vector<std::int32_t>(first, last);
  return {{"domainCount", run.last - run.first}, {"valuesPerLevel", std::move(values)}, {"podCounts", std::move(counts)}};
}

/// Beginnings of the name that end in '-', the shortest first; never the whole name.
std::vector<std::string_view> prefixes(std::string_view name) {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i + 1 < name.size(); ++i)
    if (name[i] == '-') out.push_back(name.substr(0, i + 1));
  return out;
}

/// Slices of hosts that share a prefix, of as long prefixes as fit into limits::topology_slices.
std::vector<Run> runs_by_prefix(const TopologyAssignment& a) {
  std::set<std::string_view> seen, shared;
  std::size_t deepest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto candidates = prefixes(value(a, i, 0));
    deepest = std::max(deepest, candidates.size());
    for (const auto p : candidates)
      if (!seen.insert(p).second) shared.insert(p);
  }
  for (std::size_t depth = deepest; depth > 0; --depth) {
    std::vector<Run> out;
    std::string_view of_last;
    for (std::size_t i = 0; i < a.size(); ++i) {
      std::string_view choice;
      const auto candidates = prefixes(value(a, i, 0));
      for (std::size_t k = 0; k < std::min(depth, candidates.size()); ++k)
        if (shared.contains(candidates[k])) choice = candidates[k];
      if (out.empty() || choice != of_last || out.back().last - out.back().first == limits::topology_domains.size()) out.push_back({i, i});
      out.back().last = i + 1;
      of_last = choice;
    }
    if (out.size() <= limits::topology_slices.size()) return out;
  }
  return {};
}

Json slices_json(const TopologyAssignment& a, const std::vector<Run>& runs) {
  Json out = Json::array();
  for (const Run run : runs) out.push_back(slice_json(a, run));
  return out;
}

/// The values of one level, for each of `count` domains; nothing where there are not as many.
std::optional<std::vector<std::string>> values_of(const Json& level, std::size_t count) {
  if (const auto* universal = member(level, "universal"); universal != nullptr && universal->is_string())
    return std::vector<std::string>(count, universal->get<std::string>());
  const Json& individual = object_or_empty(level, "individual");
  const Json& roots = list_or_empty(individual, "roots");
  if (roots.size() != count) return {};
  const std::string prefix(text_member(individual, "prefix")), suffix(text_member(individual, "suffix"));
  std::vector<std::string> out;
  for (const auto& root : roots) {
    if (!root.is_string()) return {};
    out.push_back(prefix + root.get_ref<const std::string&>() + suffix);
  }
  return out;
}

}  // namespace

Json encode_topology(const TopologyAssignment& a) {
  Json levels = Json::array();
  for (const Symbol& level : a.levels) levels.push_back(level.text());
  Json slices = Json::array();
  if (!a.empty()) {
    const bool hosts = a.levels.size() == 1 && a.levels.front().text() == "kubernetes.io/hostname";
    const bool one_list = a.size() <= limits::topology_domains.size();
    const std::vector<Run> whole{{0, a.size()}};
    auto runs = hosts && a.size() > 1 ? runs_by_prefix(a) : whole;
    if (runs.empty()) runs = whole;
    slices = slices_json(a, runs);
    if (runs.size() > 1 && one_list)
      if (auto single = slices_json(a, whole); single.dump().size() < slices.dump().size()) slices = std::move(single);
  }
  return {{"levels", std::move(levels)}, {"slices", std::move(slices)}};
}

TopologyAssignment decode_topology(const Json& assignment) {
  TopologyAssignment out;
  for (const auto& level : list_or_empty(assignment, "levels"))
    if (level.is_string()) out.levels.emplace_back(level.get_ref<const std::string&>());
  for (const auto& slice : list_or_empty(assignment, "slices")) {
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(0, int_member(slice, "domainCount").value_or(0)));
    const Json& levels = list_or_empty(slice, "valuesPerLevel");
    if (count > limits::topology_domains.size() - out.size() || levels.size() != out.levels.size()) return {};
    std::vector<std::vector<std::string>> columns;
    for (const auto& level : levels) {
      auto values = values_of(level, count);
      if (!values) return {};
      columns.push_back(std::move(*values));
    }
    const Json& counts = object_or_empty(slice, "podCounts");
    const auto same = int_member(counts, "universal");
    const Json& each = list_or_empty(counts, "individual");
    if (!same && each.size() != count) return {};
    for (std::size_t i = 0; i < count; ++i) {
      for (const auto& column : columns) out.values.emplace_back(column[i]);
      if (!same && !each[i].is_number_integer()) return {};
      out.counts.push_back(static_cast<std::int32_t>(same ? *same : each[i].get<std::int64_t>()));
    }
  }
  if (out.empty()) return {};
  return out;
}

namespace {

/// Texts of one level, of the domains of a slice; they stand in the arena.
std::vector<Text> read_values(const Node& level, std::size_t count) {
  Arena& arena = level.reading().arena();
  if (level.has("universal")) return std::vector<Text>(count, level.text("universal", limits::value));
  const auto individual = level.object("individual");
  const auto roots = individual.texts("roots", limits::topology_domains);
  if (roots.size() != count) {
    level.refuse_value("individual", "roots for " + std::to_string(count) + " domains");
    return {};
  }
  const std::string prefix(individual.text("prefix", limits::value)), suffix(individual.text("suffix", limits::value));
  std::vector<Text> out(roots.begin(), roots.end());
  if (!prefix.empty() || !suffix.empty())
    for (Text& v : out) v = arena.copy(prefix + std::string(v) + suffix);
  return out;
}

std::vector<std::int32_t> read_counts(const Node& slice, std::size_t count) {
  const auto counts = slice.object("podCounts");
  if (const auto universal = counts.int32("universal", 1)) return std::vector<std::int32_t>(count, *universal);
  std::vector<std::int32_t> out;
  simdjson::dom::array list;
  if (const auto raw = counts.raw("individual"); raw && raw->get_array().get(list) == simdjson::SUCCESS)
    for (const auto n : list) {
      std::int64_t number = 0;
      if (out.size() == count || n.get_int64().get(number) != simdjson::SUCCESS || number < 1 || number > INT32_MAX) {
        out.clear();
        break;
      }
      out.push_back(static_cast<std::int32_t>(number));
    }
  if (out.size() != count) slice.refuse_value("podCounts", "a number of pods for each of " + std::to_string(count) + " domains");
  return out;
}

}  // namespace

void read_topology_assignment(const Node& assignment, PodSetAssignmentFacts& out) {
  Reading& reading = assignment.reading();
  const auto levels = assignment.texts("levels", limits::topology_levels, limits::key);
  std::vector<TopologyDomainFacts> domains;
  std::size_t bytes = 0;
  assignment.each("slices", limits::topology_slices, [&](const Node& slice) {
    const auto count = static_cast<std::size_t>(slice.int32_or("domainCount", 0));
    if (reading.failed()) return;
    if (count > limits::topology_domains.size() - domains.size())
      return slice.refuse_beyond("domainCount", domains.size() + count, limits::topology_domains);
    std::vector<std::vector<Text>> columns;
    slice.each("valuesPerLevel", limits::topology_levels, [&](const Node& level) {
      // What one text stands for counts as often as it stands: so often it goes into the log.
      if (!reading.failed()) columns.push_back(read_values(level, count));
      if (!reading.failed())
        for (const Text v : columns.back()) bytes += v.size() + 8;
      if (bytes > limits::topology_text.size()) level.refuse_beyond("", bytes, limits::topology_text);
    });
    if (columns.size() != levels.size()) slice.refuse_value("valuesPerLevel", "one entry for each level");
    const auto counts = read_counts(slice, count);
    if (reading.failed()) return;
    for (std::size_t i = 0; i < count; ++i) {
      const auto values = reading.arena().make<Text>(levels.size());
      for (std::size_t l = 0; l < values.size(); ++l) values[l] = columns[l][i];
      domains.push_back({values, counts[i]});
    }
  });
  if (reading.failed() || domains.empty()) return;
  const auto list = reading.arena().make<TopologyDomainFacts>(domains.size());
  std::copy(domains.begin(), domains.end(), list.begin());
  out.topology_levels = levels;
  out.topology = list;
}

}  // namespace hindsight::connectors
