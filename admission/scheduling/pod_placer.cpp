#include "admission/scheduling/pod_placer.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace hindsight::admission {
namespace {

using topology::TopologyRoom;

bool has_level(const std::vector<std::string>& levels, const std::string& level) {
  return std::find(levels.begin(), levels.end(), level) != levels.end();
}

/// Does the topology have all levels that the request names, and does it name any (TAS-45, TAS-51)?
bool has_levels(const TopologyRequest& request, const std::vector<std::string>& levels) {
  const auto& main = request.required ? request.required : request.preferred;
  if (main ? !has_level(levels, *main) : !request.unconstrained && request.slices.empty()) return false;
  return std::all_of(request.slices.begin(), request.slices.end(), [&](const auto& layer) { return has_level(levels, layer.level); });
}

}  // namespace

topology::PlacementProfile profile_of(const Settings& settings) {
  return {.mixed = settings.mixed_profile, .balanced = settings.balanced_placement, .compact = settings.compact_topologies};
}

std::optional<TopologyRoom> room_of(const QuotaTree& tree, const Catalog& catalog, const Nodes& nodes) {
  if (!catalog.settings.topologies) return {};
  std::vector<const FlavorConfig*> flavors;
  for (const Symbol& name : tree.flavor_names())
    if (const auto* flavor = catalog.flavor(name); flavor != nullptr && !flavor->topology.empty()) flavors.push_back(flavor);
  std::optional<TopologyRoom> out(std::in_place, flavors, catalog.topologies, nodes,
                                  TopologyRoom::Rules{catalog.settings.preferred_affinity, catalog.settings.count_hosts});
  if (out->empty()) return out;
  for (const Symbol& queue : tree.queue_names())
    for (const WorkloadId id : tree.reservations_of(queue)) out->reserve(*tree.find_reservation(id)->reservation);
  return out;
}

TopologyMatch PodPlacer::match(const PodSetInfo& pod_set, const FlavorConfig& flavor, bool implied) const {
  if (!settings_.topologies) return TopologyMatch::matches;
  if (!pod_set.topology) return flavor.topology.empty() || implied ? TopologyMatch::matches : TopologyMatch::only_supported;
  if (flavor.topology.empty()) return TopologyMatch::not_supported;
  const auto number = room_.find(flavor.name);
  if (!number) return TopologyMatch::unknown_topology;
  return has_levels(*pod_set.topology, room_.flavor(*number).tree.levels()) ? TopologyMatch::matches : TopologyMatch::level_missing;
}

bool PodPlacer::implies(const QuotaTree::Queue& queue) const {
  return std::all_of(queue.groups.begin(), queue.groups.end(), [&](const QuotaTree::Group& g) {
    return std::all_of(g.flavors.begin(), g.flavors.end(), [&](Symbol f) { return room_.find(f).has_value(); });
  });
}

bool PodPlacer::concerns(const Assignment& assignment) const {
  return !room_.empty() && std::any_of(assignment.pod_sets.begin(), assignment.pod_sets.end(), [&](const PodSetAssignment& p) {
    return p.count > 0 && !p.delayed &&
           std::any_of(p.choices.begin(), p.choices.end(), [&](const ResourceChoice& c) { return room_.find(c.flavor).has_value(); });
  });
}

tl::expected<std::vector<PodPlacer::Unit>, PodPlacer::Refusal> PodPlacer::units(const WorkloadInfo& workload,
                                                                                const Assignment& assignment) const {
  std::vector<Unit> out;
  const auto& pod_sets = assignment.pod_sets;
  const auto group_of = [&](std::uint32_t i) { return workload.pod_sets[pod_sets[i].pod_set].group; };
  for (std::uint32_t i = 0; i < pod_sets.size(); ++i) {
    if (pod_sets[i].count == 0 || pod_sets[i].delayed) continue;  // TAS-57, TAS-90
    const Symbol group = group_of(i);
    std::vector<std::uint32_t> members{i};
    if (!group.empty()) {
      bool first = true;
      for (std::uint32_t k = 0; k < pod_sets.size(); ++k) {
        if (k == i || group_of(k) != group || pod_sets[k].count == 0 || pod_sets[k].delayed) continue;
        first = first && k > i;
        members.push_back(k);
      }
      if (!first) continue;
    }
    std::vector<Symbol> flavors;
    for (const std::uint32_t m : members)
      for (const ResourceChoice& c : pod_sets[m].choices)
        if (room_.find(c.flavor) && std::find(flavors.begin(), flavors.end(), c.flavor) == flavors.end()) flavors.push_back(c.flavor);
    if (flavors.empty()) continue;
    if (flavors.size() > 1) {  // TAS-54
      std::sort(flavors.begin(), flavors.end(), ByText{});
      std::string text = "more than one TAS flavor assigned: ";
      for (std::size_t f = 0; f < flavors.size(); ++f) text.append(f == 0 ? "" : ", ").append(flavors[f].text());
      return tl::unexpected(Refusal{members, std::move(text)});
    }
    Unit unit{*room_.find(flavors.front()), i, -1};
    if (members.size() > 1) {
      // The one with fewer pods leads, of two with as many the second (§3.9).
      const std::uint32_t other = members[1];
      const bool first_leads = pod_sets[i].count < pod_sets[other].count;
      unit.workers = first_leads ? other : i;
      unit.leader = static_cast<std::int32_t>(first_leads ? i : other);
      const auto leader = static_cast<std::uint32_t>(unit.leader);
      if (members.size() != 2 || pod_sets[leader].count != 1)
        return tl::unexpected(
            Refusal{members, "podset group \"" + std::string(group.text()) + "\" can only be two pod sets of which one has a single pod"});
    }
    out.push_back(unit);
  }
  std::stable_sort(out.begin(), out.end(), [](const Unit& a, const Unit& b) { return a.flavor < b.flavor; });
  return out;
}

namespace {

/// Pods of a slice that stay where they are while it is replaced.
using Stay = std::vector<std::pair<topology::DomainIndex, std::int32_t>>;

/// Of one pod set, in the order of the assignment; error: a domain that is not there now.
tl::expected<Stay, std::string> stay_of(const Reservation& replaced, const Symbol& pod_set, const TopologyRoom::Flavor& flavor) {
  Stay out;
  for (const PodSetReservation& p : replaced.effective.empty() ? replaced.pod_sets : replaced.effective) {
    if (p.pod_set != pod_set) continue;
    const TopologyAssignment& where = p.topology;
    for (std::size_t i = 0; i < where.size(); ++i) {
      const auto leaf = flavor.tree.find_leaf(where.domain(i));
      if (!leaf || (!flavor.absent.empty() && flavor.absent[*leaf] != 0)) {
        std::string name;
        for (const Symbol& value : where.domain(i)) name.append(name.empty() ? "" : ",").append(value.text());
        return tl::unexpected(std::move(name));
      }
      out.emplace_back(*leaf, where.counts[i]);
    }
  }
  return out;
}

std::int32_t pods_in(const Stay& stay) {
  std::int32_t out = 0;
  for (const auto& [leaf, n] : stay) out = topology::sum_of_pods(out, n);
  return out;
}

/// The first `pods` of them: a slice that shrinks loses places from the end (EJ-109).
Stay cut(const Stay& stay, std::int32_t pods) {
  Stay out;
  for (const auto& [leaf, n] : stay) {
    if (pods == 0) break;
    out.emplace_back(leaf, std::min(n, pods));
    pods -= out.back().second;
  }
  return out;
}

Stay sum_of(const Stay& a, const Stay& b) {
  std::map<topology::DomainIndex, std::int32_t> sum;
  for (const auto* list : {&a, &b})
    for (const auto& [leaf, n] : *list) sum[leaf] += n;
  return {sum.begin(), sum.end()};
}

}  // namespace

const Reservation* PodPlacer::survivors_of(const WorkloadInfo& workload) const {
  if (!settings_.elastic_topologies || workload.slice_name.empty() || workload.replaces == no_workload) return nullptr;
  const auto* entry = tree_.find_reservation(workload.replaces);
  return entry == nullptr ? nullptr : entry->reservation.get();
}

tl::expected<WorkloadPlacement, PodPlacer::Refusal> PodPlacer::find(const WorkloadInfo& workload, const QuotaTree::Queue& queue,
                                                                    const Assignment& assignment, TopologyRoom::State& state,
                                                                    For what) const {
  const auto wanted = units(workload, assignment);
  if (!wanted) return tl::unexpected(wanted.error());
  // Where the places of one decide about those of the next, a test has to find the very places.
  if (what == For::test && wanted->size() > 1) what = For::places;
  const Reservation* replaced = survivors_of(workload);
  // What the slice that is replaced has counts on: in a state without anybody its own pods are the only ones.
  const bool alone = replaced != nullptr && &state == &room_.unused();
  if (alone) (void)room_.take(state, workload.replaces, 1);
  WorkloadPlacement out;
  std::optional<Refusal> refusal;
  for (const Unit& unit : *wanted)
    if (auto placed = place_unit(workload, queue, assignment, unit, replaced, state, what, out); !placed) {
      refusal = std::move(placed.error());
      break;
    }
  TopologyRoom::take(state, out.holding, -1);
  if (alone) (void)room_.take(state, workload.replaces, -1);
  if (refusal) return tl::unexpected(std::move(*refusal));
  return out;
}

tl::expected<PodPlacer::Search, std::string> PodPlacer::search_for(const WorkloadInfo& workload, const QuotaTree::Queue& queue,
                                                                   const Assignment& assignment, const Unit& unit) const {
  const auto pod_set = [&](std::size_t position) -> const PodSetInfo& { return workload.pod_sets[assignment.pod_sets[position].pod_set]; };
  const PodSetInfo& info = pod_set(unit.workers);
  const std::int32_t count = assignment.pod_sets[unit.workers].count;
  const TopologyRequest request = info.topology.value_or(TopologyRequest{});
  if (settings_.elastic_topologies && !workload.slice_name.empty() && (request.required || request.preferred))  // EJ-107
    return tl::unexpected(std::string(request.required ? "required" : "preferred") +
                          " topology is not supported with ElasticJobsViaWorkloadSlices");
  auto rules = topology::rules_for(request, room_.flavor(unit.flavor).tree.levels(), implies(queue), profile_of(settings_));
  if (!rules) return tl::unexpected(rules.error().message);
  const std::int32_t slice = rules->layers.front().size;
  if (count % slice != 0)  // TAS-44: else the rest would wait for ever
    return tl::unexpected("pod set slice size " + std::to_string(slice) + " must evenly divide the pod set count " + std::to_string(count));

  Search out{std::move(*rules), {count, topology::request_of(info), {}}, room_.filter(unit.flavor, info.shape), {}};
  out.leader_filter = out.filter;
  if (unit.leader >= 0) {
    const PodSetInfo& leader = pod_set(static_cast<std::size_t>(unit.leader));
    out.gang.leader = topology::request_of(leader);
    out.leader_filter = room_.filter(unit.flavor, leader.shape);
  }
  return out;
}

std::vector<PodPlacer::FirstCount> PodPlacer::first_counts(const WorkloadInfo& workload, const QuotaTree::Queue& queue) const {
  Assignment likely;
  for (std::uint32_t i = 0; i < workload.pod_sets.size(); ++i) {
    PodSetAssignment& p = likely.pod_sets.emplace_back();
    p.pod_set = i;
    p.count = workload.pod_sets[i].count;
    for (const auto& group : queue.groups) {
      const auto asks = [&](const auto& r) {
        return std::find(group.resources.begin(), group.resources.end(), r.resource) != group.resources.end();
      };
      const auto& requests = workload.pod_sets[i].requests;
      if (group.flavors.empty() || std::none_of(requests.begin(), requests.end(), asks)) continue;
      p.choices.emplace_back().flavor = group.flavors.front();
    }
  }
  std::vector<FirstCount> out;
  const auto wanted = units(workload, likely);
  if (!wanted) return out;
  for (const Unit& unit : *wanted) {
    const auto search = search_for(workload, queue, likely, unit);
    if (!search) continue;
    auto count = room_.first_count(unit.flavor, search->rules, search->gang, search->filter, search->leader_filter);
    if (count != nullptr) out.push_back({unit.flavor, std::move(count)});
  }
  return out;
}

tl::expected<void, PodPlacer::Refusal> PodPlacer::place_unit(const WorkloadInfo& workload, const QuotaTree::Queue& queue,
                                                             const Assignment& assignment, const Unit& unit, const Reservation* replaced,
                                                             TopologyRoom::State& state, For what, WorkloadPlacement& out) const {
  const PodSetAssignment& workers = assignment.pod_sets[unit.workers];
  const PodSetInfo& info = workload.pod_sets[workers.pod_set];
  const TopologyRoom::Flavor& flavor = room_.flavor(unit.flavor);
  std::vector<std::uint32_t> positions{unit.workers};
  if (unit.leader >= 0) positions.push_back(static_cast<std::uint32_t>(unit.leader));
  std::sort(positions.begin(), positions.end());
  const auto refuse = [&](std::string text) { return tl::unexpected(Refusal{positions, std::move(text)}); };

  const auto search = search_for(workload, queue, assignment, unit);
  if (!search) return refuse(search.error());
  const auto& [asked, gang, filter, leader_filter] = *search;
  topology::PlacementRules rules = asked;
  if (what == For::test) rules.compact = false;  // there are compact places where there are any, and they take longer to find
  const std::int32_t slice = rules.layers.front().size;
  Stay stay, leader_stays;
  if (replaced != nullptr) {
    if (!replaced->unhealthy_nodes.empty()) {  // EJ-112
      std::string nodes;
      for (const Symbol& node : replaced->unhealthy_nodes) nodes.append(nodes.empty() ? "" : ", ").append(node.text());
      return refuse("nodes of the slice that it replaces have failed, " + nodes + ": the resize waits until its pods have other places");
    }
    const auto stays = [&](Symbol pod_set) { return stay_of(*replaced, pod_set, flavor); };
    const auto mine = stays(info.name);
    const auto leads = unit.leader < 0 ? tl::expected<Stay, std::string>(Stay{})
                                       : stays(workload.pod_sets[assignment.pod_sets[static_cast<std::size_t>(unit.leader)].pod_set].name);
    for (const auto* one : {&mine, &leads})
      if (!*one)  // EJ-111: the pods that run cannot move
        return refuse("the slice that it replaces has pods in the domain " + one->error() +
                      ", which is not there now: the resize waits until its nodes are back");
    stay = *mine;
    leader_stays = *leads;
  }

  topology::Placement placed;
  const std::int32_t more = workers.count - pods_in(stay);
  if (more <= 0 && (unit.leader < 0 || !leader_stays.empty())) {
    stay = cut(stay, workers.count);
  } else {
    if (more % slice != 0)
      return refuse("pod set slice size " + std::to_string(slice) + " must evenly divide the " + std::to_string(more) + " pods more");
    topology::Gang rest = gang;
    rest.count = more;
    if (!leader_stays.empty()) rest.leader.reset();
    auto found = room_.place(state, unit.flavor, rules, rest, filter, leader_filter,
                             what == For::explanation ? topology::Explain::yes : topology::Explain::no);
    if (!found) {
      if (what != For::explanation) return refuse({});
      auto reasons = filter->reasons;
      if (leader_filter != filter)
        for (const auto& [why, n] : leader_filter->reasons) reasons.emplace("leader's " + why, n);
      return refuse(topology::text_of(found.error(), flavor.topology.text(), flavor.tree, rules, reasons));
    }
    placed = std::move(*found);
  }

  topology::Holding part;
  part.requests.push_back({gang.request, filter});
  for (const auto& [leaf, n] : placed.pods) room_.add_use(part, {unit.flavor, leaf, n, 0});
  if (placed.leader) {
    part.requests.push_back({*gang.leader, leader_filter});
    room_.add_use(part, {unit.flavor, *placed.leader, 1, 1});
    leader_stays = {{*placed.leader, 1}};
  }
  if (unit.leader >= 0) out.pod_sets.push_back({static_cast<std::uint32_t>(unit.leader), unit.flavor, leader_stays});
  out.pod_sets.push_back({unit.workers, unit.flavor, stay.empty() ? std::move(placed.pods) : sum_of(stay, placed.pods)});
  TopologyRoom::take(state, part);  // the next ones see it (TAS-67)
  const auto first = static_cast<std::uint32_t>(out.holding.requests.size());
  for (auto& use : part.uses) use.request += first;
  std::move(part.requests.begin(), part.requests.end(), std::back_inserter(out.holding.requests));
  out.holding.uses.insert(out.holding.uses.end(), part.uses.begin(), part.uses.end());
  return {};
}

bool PodPlacer::fits(const WorkloadInfo& workload, const QuotaTree::Queue& queue, const Assignment& assignment,
                     TopologyRoom::State& state) const {
  return find(workload, queue, assignment, state, For::test).has_value();
}

tl::expected<WorkloadPlacement, std::string> PodPlacer::places_now(const WorkloadInfo& workload, const QuotaTree::Queue& queue,
                                                                   const Assignment& assignment) const {
  auto found = find(workload, queue, assignment, room_.free(), For::explanation);
  if (found) return std::move(*found);
  std::string why;
  for (const std::uint32_t i : found.error().positions) {
    if (!why.empty()) why += "; ";
    why.append("couldn't assign flavors to pod set ").append(workload.pod_sets[assignment.pod_sets[i].pod_set].name.text());
    why.append(": ").append(found.error().text);
  }
  return tl::unexpected(std::move(why));
}

void PodPlacer::place(const WorkloadInfo& workload, const QuotaTree::Queue& queue, Assignment& assignment,
                      TopologyRoom::State& state) const {
  auto found = find(workload, queue, assignment, state, For::places);
  if (found)
    assignment.placement = std::move(*found);
  else
    assignment.placement.reset();
}

void PodPlacer::settle(const WorkloadInfo& workload, const QuotaTree::Queue& queue, Assignment& assignment) const {
  assignment.placement.reset();
  if (checks_ != nullptr && !room_.empty())
    for (PodSetAssignment& p : assignment.pod_sets)
      p.delayed = std::any_of(p.choices.begin(), p.choices.end(), [&](const ResourceChoice& c) {
        return room_.find(c.flavor) && delays_topology(*queue.config, c.flavor, *checks_);
      });
  if (assignment.mode == AssignmentMode::no_fit || !concerns(assignment)) return;
  const auto turn_to_preempt = [](PodSetAssignment& p) {
    p.mode = std::min(p.mode, AssignmentMode::preempt);
    for (ResourceChoice& c : p.choices) c.mode = std::min(c.mode, FlavorMode::preempt);
  };
  if (assignment.mode == AssignmentMode::fit) {
    auto found = find(workload, queue, assignment, room_.free(), For::explanation);
    if (found) {
      assignment.placement = std::move(*found);
      return;
    }
    for (const std::uint32_t i : found.error().positions) {
      Finding finding{Finding::Kind::no_placement, {}, {}};
      finding.text = std::make_shared<const std::string>(found.error().text);
      assignment.pod_sets[i].findings.push_back(std::move(finding));
      turn_to_preempt(assignment.pod_sets[i]);
    }
    assignment.mode = AssignmentMode::preempt;
  }
  auto found = find(workload, queue, assignment, room_.unused(), For::places);
  if (!found) {  // whoever went, it would not help (TAS-111)
    for (const std::uint32_t i : found.error().positions) assignment.pod_sets[i].mode = AssignmentMode::no_fit;
    assignment.mode = AssignmentMode::no_fit;
    assignment.no_fit_reason = NoFitReason::topology_placement_failed;
    return;
  }
  for (const auto& placed : found->pod_sets) turn_to_preempt(assignment.pod_sets[placed.position]);  // TAS-112
  assignment.placement = std::move(*found);  // where nobody has to go for it, these are kept for it (§3.13 step 5)
}

}  // namespace hindsight::admission
