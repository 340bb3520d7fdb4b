#include "page/views/fit.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/scheduling/pod_placer.hpp"
#include "admission/topology/placement.hpp"
#include "admission/topology/topology_room.hpp"
#include "page/views/refs.hpp"
#include "page/views/topologies.hpp"
#include "projections/format.hpp"
#include "projections/gang_room.hpp"
#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page {
namespace {

using admission::topology::DomainIndex;
using admission::topology::Gang;
using admission::topology::Placement;
using admission::topology::PodRequest;
using admission::topology::TopologyRoom;
using admission::topology::TopologyTree;

constexpr std::uint64_t gang_pods_max = 100'000;

/// What the parameters ask of the topology.
Result<admission::TopologyRequest> request_of_gang(const Parameters& parameters, const std::vector<std::string>& levels) {
  admission::TopologyRequest out;
  const std::string_view mode = parameters.text("mode");
  if (mode == "unconstrained") {
    out.unconstrained = true;
    return out;
  }
  if (!mode.empty() && mode != "required" && mode != "preferred")
    return fail(ErrorKind::invalid, "mode: found \"" + printable(cut_text(mode, 64)) + "\"; allowed: required, preferred, unconstrained");
  const std::string_view asked = parameters.text("level");
  if (!asked.empty() && std::find(levels.begin(), levels.end(), asked) == levels.end())
    return fail(ErrorKind::invalid, "level: found \"" + printable(cut_text(asked, 320)) + "\"; allowed: " + projections::joined(levels));
  const std::string level = asked.empty() ? levels.front() : std::string(asked);
  (mode == "preferred" ? out.preferred : out.required) = level;
  return out;
}

/// What came of one flavor.
struct Tried {
  std::optional<Placement> placement;
  std::string why_not;
};

Tried try_flavor(const Look& look, TopologyRoom& room, std::uint32_t number, const admission::TopologyRequest& request, const Gang& gang) {
  const auto& flavor = room.flavor(number);
  const auto& settings = look.past.driver().domain().catalog()->settings;
  const auto rules = admission::topology::rules_for(request, flavor.tree.levels(), false, admission::profile_of(settings));
  if (!rules) return {std::nullopt, rules.error().message};
  const auto filter = room.filter(number, {});
  auto placed = room.place(room.free(), number, *rules, gang, filter, filter);
  if (placed) return {std::move(*placed), {}};
  return {std::nullopt, admission::topology::text_of(placed.error(), flavor.topology.text(), flavor.tree, *rules, filter->reasons)};
}

/// Values from the top, also of hosts, which places call by their name alone.
Json whole_path(const TopologyTree& tree, DomainIndex leaf) {
  Json out = Json::array();
  for (std::size_t level = 0; level < tree.level_count(); ++level) out.push_back(tree.value(level, tree.above(leaf, level)));
  return out;
}

Json placed_json(const TopologyTree& tree, const Placement& placement, Json& left_out) {
  Json out = Json::array();
  for (const auto& [leaf, pods] : placement.pods) {
    if (out.size() == fit_domains_max) {
      left_out = placement.pods.size() - fit_domains_max;
      break;
    }
    out.push_back({{"path", whole_path(tree, leaf)}, {"pods", pods}});
  }
  return out;
}

/// Flavors of the topology in the order of their names, or the one that was asked for.
Result<std::vector<std::uint32_t>> flavors_to_try(const Look& look, const TopologyRoom& room, const Symbol& topology,
                                                  std::string_view asked) {
  std::vector<std::uint32_t> out;
  std::vector<std::string> names;
  for (std::uint32_t n = 0; n < room.size(); ++n) {
    if (room.flavor(n).topology != topology) continue;
    names.emplace_back(room.flavor(n).name.text());
    if (asked.empty() || room.flavor(n).name.text() == asked) out.push_back(n);
  }
  if (out.empty() && !asked.empty())
    return fail(ErrorKind::not_found, "flavor: found \"" + printable(cut_text(asked, 253)) + "\"; flavors of Topology " +
                                          std::string(topology.text()) + " at position " + std::to_string(look.position()) + ": " +
                                          (names.empty() ? std::string("none") : projections::first_names(names)));
  return out;
}

std::string sentence_of_fit(std::int32_t pods, const PodRequest& pod, const Placement& placement, const std::string& level) {
  return projections::counted(static_cast<std::size_t>(pods), "pod") + " with " + projections::words_of(pod) +
         (pods == 1 ? " finds" : " each find") + " room now, in " + projections::counted(placement.pods.size(), "domain") + " of level " +
         level + "; whether there is quota for that is another question";
}

}  // namespace

Result<Json> fit_view(const Look& look, const Parameters& parameters) {
  const auto topology = find_topology(look, parameters.of_path("name"));
  if (!topology) return tl::unexpected(topology.error());
  const auto pods = parameters.number("pods", 1, 1, gang_pods_max);
  if (!pods) return tl::unexpected(pods.error());
  const auto pod = pod_of(parameters);
  if (!pod) return tl::unexpected(pod.error());
  Json out = taken_at(look);
  out["fits"] = false;
  out["domains"] = Json::array();
  if (topology->levels->empty()) {
    out["sentence"] = "the topology has no levels";
    return out;
  }
  const auto request = request_of_gang(parameters, *topology->levels);
  if (!request) return tl::unexpected(request.error());
  auto room = projections::whole_room(look.past.driver());
  if (!room) {
    out["sentence"] = "topologies are switched off (gate TopologyAwareScheduling), so pods are placed anywhere";
    return out;
  }
  const auto flavors = flavors_to_try(look, *room, *topology->name, parameters.text("flavor"));
  if (!flavors) return tl::unexpected(flavors.error());
  if (flavors->empty()) out["sentence"] = "no ResourceFlavor names the topology, so nobody is placed by it";
  for (const std::uint32_t number : *flavors) {
    if (look.is_over()) return nobody_waits();
    const Gang gang{static_cast<std::int32_t>(*pods), pod->value_or(projections::measuring_pod(*room, number)), {}};
    const auto& flavor = room->flavor(number);
    Tried tried = try_flavor(look, *room, number, *request, gang);
    if (!tried.placement) {
      if (!out.contains("sentence")) out["sentence"] = valid_utf8(tried.why_not);
      continue;
    }
    out["fits"] = true;
    out["flavor"] = flavor.name.text();
    out["sentence"] = sentence_of_fit(gang.count, gang.request, *tried.placement, flavor.tree.levels().back());
    Json left_out;
    out["domains"] = placed_json(flavor.tree, *tried.placement, left_out);
    if (!left_out.is_null()) out["leftOut"] = left_out;
    break;
  }
  return out;
}

}  // namespace hindsight::page
