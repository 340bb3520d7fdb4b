#include "page/views/topologies.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "admission/domain/domain.hpp"
#include "page/views/amounts.hpp"
#include "page/views/record_lines.hpp"
#include "page/views/refs.hpp"
#include "projections/gang_room.hpp"
#include "projections/lookup.hpp"
#include "projections/topology_map.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page {
namespace {

using projections::TopologyMap;

constexpr std::size_t requests_bytes_max = 1'024;

/// Of all of it, 0 to 1000; more where pods use more than there is.
std::int64_t per_mille(Amount used, Amount capacity) {
  if (capacity <= 0 || used <= 0) return 0;
  return static_cast<std::int64_t>(static_cast<double>(used) / static_cast<double>(capacity) * 1000.0 + 0.5);
}

Json used_of_all(const TopologyMap& map) {
  Json out = Json::array();
  for (std::size_t r = 0; r < map.resources().size(); ++r) {
    Amount used = 0, capacity = 0;
    for (std::size_t d = 0; d < map.size(0); ++d) {
      used = add(used, map.used(0, d, r));
      capacity = add(capacity, map.capacity(0, d, r));
    }
    const Symbol& resource = map.resources()[r];
    out.push_back({{"resource", resource.text()}, {"used", amount_json(used, resource)}, {"capacity", amount_json(capacity, resource)}});
  }
  return out;
}

/// A part of a map: one domain with all below it, or all of it.
struct Part {
  std::size_t level = 0;  ///< Of the topmost domains that are told.
  std::uint32_t first = 0, end = 0;
};

Result<Part> part_of(const TopologyMap& map, std::string_view under) {
  Part out{0, 0, static_cast<std::uint32_t>(map.levels().empty() ? 0 : map.size(0))};
  if (under.empty()) return out;
  for (std::size_t from = 0; from <= under.size();) {
    const std::size_t slash = std::min(under.find('/', from), under.size());
    const std::string_view value = under.substr(from, slash - from);
    const auto not_found = [&] {
      return fail(ErrorKind::not_found, "under: found \"" + printable(cut_text(under, 256)) + "\"; the topology has no domain " +
                                            printable(cut_text(value, 128)) + " there");
    };
    std::uint32_t found = out.first;
    while (found < out.end && map.domain(out.level, found).name.text() != value) ++found;
    if (found == out.end || out.level + 1 == map.levels().size()) return not_found();
    const auto& domain = map.domain(out.level, found);
    out = {out.level + 1, domain.first_child, domain.end_of_children};
    from = slash + 1;
  }
  return out;
}

/// What is told of a part: so many levels, and of the topmost one the domains before `end`.
struct ToldPart {
  std::size_t levels = 1;
  std::uint32_t end = 0;
  std::size_t left_out = 0;  ///< Domains.
};

ToldPart levels_told(const TopologyMap& map, const Part& part) {
  ToldPart out;
  out.end = static_cast<std::uint32_t>(std::min<std::size_t>(part.end, part.first + topology_nodes_max));
  out.left_out = part.end - out.end;
  std::size_t told = out.end - part.first;
  std::uint32_t first = part.first, end = part.end;
  for (std::size_t level = part.level; level + 1 < map.levels().size() && first < end; ++level) {
    const std::uint32_t begin_below = map.domain(level, first).first_child;
    end = map.domain(level, end - 1).end_of_children;
    first = begin_below;
    const std::size_t below = end - first;
    if (out.left_out == 0 && told + below <= topology_nodes_max) {
      told += below;
      ++out.levels;
    } else {
      out.left_out += below;
    }
  }
  return out;
}

Json domains_json(const TopologyMap& map, std::size_t level, std::uint32_t first, std::uint32_t end, std::size_t levels, bool gang) {
  Json out = Json::array();
  for (std::uint32_t d = first; d < end; ++d) {
    const auto& domain = map.domain(level, d);
    Json used = Json::array();
    for (std::size_t r = 0; r < map.resources().size(); ++r) used.push_back(per_mille(map.used(level, d, r), map.capacity(level, d, r)));
    Json one{{"name", domain.name.text()}, {"used", std::move(used)}, {"ready", domain.ready != 0}};
    if (gang && domain.gang != 0) one["gang"] = domain.gang;
    if (levels > 1 && level + 1 < map.levels().size())
      one["children"] = domains_json(map, level + 1, domain.first_child, domain.end_of_children, levels - 1, gang);
    out.push_back(std::move(one));
  }
  return out;
}

/// By level: for 1, 2, 4, … pods up to the most that find room, in how many domains so many do.
Json free_by_size(const TopologyMap& map, const admission::topology::PodRequest& pod) {
  Json out = Json::array();
  const auto room = map.room_for(pod);
  for (std::size_t level = 0; level < map.levels().size(); ++level) {
    std::vector<std::int64_t> sorted = room[level];
    std::sort(sorted.begin(), sorted.end());
    const std::int64_t most = sorted.empty() ? 0 : sorted.back();
    Json sizes = Json::array();
    const auto add_size = [&](std::int64_t pods) {
      const auto from = std::lower_bound(sorted.begin(), sorted.end(), pods);
      sizes.push_back({{"pods", pods}, {"domains", sorted.end() - from}});
    };
    std::int64_t pods = 1;
    for (; pods <= most; pods *= 2) add_size(pods);
    if (most > 0 && pods / 2 != most) add_size(most);
    out.push_back({{"level", map.levels()[level]}, {"sizes", std::move(sizes)}});
  }
  return out;
}

/// Without `requests`: a device of the topology's nodes, else one core.
admission::topology::PodRequest chosen_pod(const TopologyMap& map) {
  const bool has_devices = !map.resources().empty() && map.resources().front().text().find('/') != std::string_view::npos;
  const std::string text = has_devices ? std::string(map.resources().front().text()) + "=1" : "cpu=1";
  return projections::parse_pod(text).value_or(admission::topology::PodRequest{});
}

/// Uid of the Workload whose pods are to be counted; empty: none was asked for.
Result<std::string> gang_of(const Look& look, std::string_view word) {
  if (word.empty()) return std::string();
  const auto target = projections::parse_target(word, "default");
  if (!target) return fail(target.error().kind, "workload: " + target.error().message);
  if (!look.audience.may_see(target->namespace_)) return not_for_you(target->namespace_);
  const auto at = projections::find_workload(look.past.driver(), *target);
  if (!at) return tl::unexpected(at.error());
  return std::string(at->workload->uid.view());
}

}  // namespace

Result<FoundTopology> find_topology(const Look& look, std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [known, levels] : look.past.driver().domain().catalog()->topologies) {
    if (known.text() == name) return FoundTopology{&known, &levels};
    names.emplace_back(known.text());
  }
  return fail(ErrorKind::not_found, "Topology " + printable(cut_text(name, 253)) + " is not there at position " +
                                        std::to_string(look.position()) + projections::did_you_mean(name, names));
}

Result<std::optional<admission::topology::PodRequest>> pod_of(const Parameters& parameters) {
  const std::string_view text = parameters.text("requests");
  if (text.empty()) return std::optional<admission::topology::PodRequest>();
  if (text.size() > requests_bytes_max)
    return fail(ErrorKind::invalid,
                "requests: found " + std::to_string(text.size()) + " bytes; allowed: at most " + std::to_string(requests_bytes_max));
  const auto pod = projections::parse_pod(text);
  if (pod) return std::optional(*pod);
  constexpr std::string_view of_the_command = "--pod";
  std::string message = printable(pod.error().message);
  if (message.starts_with(of_the_command)) message.replace(0, of_the_command.size(), "requests");
  return fail(pod.error().kind, std::move(message));
}

Result<Json> topologies_view(const Look& look, const Parameters& /*parameters*/) {
  Json items = Json::array();
  for (const auto& [name, levels] : look.past.driver().domain().catalog()->topologies) {
    if (look.is_over()) return nobody_waits();
    const TopologyMap map(look.past.driver(), name, levels);
    items.push_back({{"name", name.text()},
                     {"levels", levels},
                     {"nodes", map.nodes()},
                     {"ready", map.ready()},
                     {"used", levels.empty() ? Json::array() : used_of_all(map)}});
  }
  Json out = taken_at(look);
  out["items"] = std::move(items);
  return out;
}

Result<Json> topology_view(const Look& look, const Parameters& parameters) {
  const auto topology = find_topology(look, parameters.of_path("name"));
  if (!topology) return tl::unexpected(topology.error());
  const auto gang = gang_of(look, parameters.text("workload"));
  if (!gang) return tl::unexpected(gang.error());
  const auto pod = pod_of(parameters);
  if (!pod) return tl::unexpected(pod.error());
  const TopologyMap map(look.past.driver(), *topology->name, *topology->levels, *gang);
  const auto part = part_of(map, parameters.text("under"));
  if (!part) return tl::unexpected(part.error());
  const ToldPart told = levels_told(map, *part);
  Json out = taken_at(look);
  out["name"] = topology->name->text();
  out["levels"] = *topology->levels;
  out["resources"] = Json::array();
  for (const Symbol& resource : map.resources()) out["resources"].push_back(resource.text());
  out["domains"] = domains_json(map, part->level, part->first, told.end, told.levels, !gang->empty());
  out["leftOut"] = told.left_out;
  const auto measure = pod->value_or(chosen_pod(map));
  out["pod"] = projections::words_of(measure);
  out["freeBySize"] = free_by_size(map, measure);
  return out;
}

}  // namespace hindsight::page
