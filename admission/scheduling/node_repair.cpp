#include "admission/scheduling/node_repair.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "admission/topology/replacement.hpp"

namespace hindsight::admission {
namespace {

using topology::TopologyRoom;

bool is_failed(const Reservation& r, const Symbol& host) {
  return std::find(r.unhealthy_nodes.begin(), r.unhealthy_nodes.end(), host) != r.unhealthy_nodes.end();
}

std::string listed(const std::vector<Symbol>& nodes, std::string_view between) {
  std::string out;
  for (const Symbol& node : nodes) out.append(out.empty() ? "" : between).append(node.text());
  return out;
}

std::optional<std::uint32_t> flavor_of(const PodSetReservation& p, const TopologyRoom& room) {
  for (const auto& [resource, flavor] : p.flavors)
    if (const auto number = room.find(flavor)) return number;
  return {};
}

/// Of a slice that was made smaller only the pods that are left need places (EJ-113); null: it is none.
PodSetReservation* effective_of(Reservation& r, const Symbol& pod_set) {
  const auto it = std::find_if(r.effective.begin(), r.effective.end(), [&](const auto& p) { return p.pod_set == pod_set; });
  return it == r.effective.end() ? nullptr : &*it;
}

/// The pods of all failed hosts count as those of one.
struct Standing {
  std::vector<topology::AssignedLeaf> leaves;
  std::vector<std::string> failed;  ///< Path of that one; empty: none of them failed.
  std::size_t failures = 0;
};

Standing standing_of(const PodSetReservation& p, const Reservation& r) {
  Standing out;
  std::int32_t lost = 0;
  const TopologyAssignment& where = p.topology;
  for (std::size_t i = 0; i < where.size(); ++i) {
    std::vector<std::string> path;
    for (const Symbol& value : where.domain(i)) path.emplace_back(value.text());
    if (!is_failed(r, where.domain(i).back())) {
      out.leaves.push_back({std::move(path), where.counts[i]});
      continue;
    }
    if (out.failed.empty()) out.failed = std::move(path);
    lost += where.counts[i];
    ++out.failures;
  }
  if (out.failures != 0) out.leaves.push_back({out.failed, lost});
  return out;
}

}  // namespace

tl::expected<std::vector<PodSetReservation>, std::string> replace_failed_nodes(const Reservation& reservation,
                                                                               const QuotaTree::Queue& queue, const PodPlacer& placer,
                                                                               const Settings& settings) {
  const auto none = [&] {
    return tl::unexpected("Workload was evicted as there was no replacement for unhealthy node(s): " +
                          listed(reservation.unhealthy_nodes, ","));
  };
  TopologyRoom& room = placer.room();
  Reservation now = reservation;
  std::vector<PodSetReservation> out;
  const auto as_it_was = [&](auto result) {
    if (!out.empty()) room.reserve(reservation);
    return result;
  };
  for (PodSetReservation& p : now.pod_sets) {
    PodSetReservation* const left = effective_of(now, p.pod_set);
    const Standing standing = standing_of(left != nullptr ? *left : p, reservation);
    if (standing.failures == 0) continue;
    const auto& asked = reservation.workload->pod_sets.value();
    const auto info = std::find_if(asked.begin(), asked.end(), [&](const PodSetInfo& s) { return s.name == p.pod_set; });
    const auto number = flavor_of(p, room);
    if (info == asked.end() || !number) return as_it_was(tl::expected<std::vector<PodSetReservation>, std::string>(none()));
    const TopologyRoom::Flavor& flavor = room.flavor(*number);
    const auto rules =
        topology::rules_for(info->topology.value_or(TopologyRequest{}), flavor.tree.levels(), placer.implies(queue), profile_of(settings));
    if (!rules || !flavor.tree.by_host()) return as_it_was(tl::expected<std::vector<PodSetReservation>, std::string>(none()));
    if (standing.failures > 1 && rules->layers.front().size != 1)  // which pods were of which slice is not known any more
      return as_it_was(tl::expected<std::vector<PodSetReservation>, std::string>(
          tl::unexpected("Workload eviction triggered due to multiple TAS assigned node failures, including: " +
                         listed(reservation.unhealthy_nodes, ", "))));

    const auto filter = room.filter(*number, info->shape);
    std::vector<std::uint8_t> excluded = filter->excluded;
    excluded.resize(flavor.tree.leaves());
    for (const Symbol& host : reservation.unhealthy_nodes)  // TAS-102
      if (const auto leaf = flavor.tree.find_leaf(std::span(&host, 1))) excluded[*leaf] = 1;
    const auto replaced = topology::replace_leaf(flavor.tree, room.free()[*number].capacity(), *rules, topology::request_of(*info),
                                                 standing.leaves, standing.failed, {excluded, {}, filter->scores, flavor.absent});
    if (!replaced) return as_it_was(tl::expected<std::vector<PodSetReservation>, std::string>(none()));
    TopologyAssignment where;
    where.levels = p.topology->levels;
    for (const auto& leaf : *replaced) {
      for (const auto& value : leaf.path) where.values.emplace_back(value);
      where.counts.push_back(leaf.pods);
    }
    p.topology = std::move(where);
    if (left != nullptr) left->topology = p.topology;
    out.push_back(p);
    room.reserve(now);  // the next pod set sees it
  }
  return as_it_was(tl::expected<std::vector<PodSetReservation>, std::string>(out));
}

}  // namespace hindsight::admission
