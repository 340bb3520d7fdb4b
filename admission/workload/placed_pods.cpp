// Pods of a pod set that has places in a topology wait behind a scheduling gate until each is told its own (2724 §4.7).
//
// A place that was given is a record and counts as taken at once, so nothing has to wait until earlier pods are seen without their gates
// (TAS-86): another step gives the places that are left.

#include <algorithm>

#include "admission/rules.hpp"
#include "admission/topology/assigned_domains.hpp"
#include "admission/topology/ungating.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::admission {
namespace {

/// First index of the pods of a pod set, before what its pods themselves say (TAS-82): of the two pod sets of a group the smaller one
/// comes first.
std::int32_t offset_in_group(const WorkloadState& w, const PodSetSpec& pod_set) {
  if (pod_set.group.empty()) return 0;
  for (const auto& other : w.pod_sets)
    if (other.group == pod_set.group && other.name != pod_set.name && other.count < pod_set.count) return other.count;
  return 0;
}

topology::RankRules rules_of(const WorkloadState& w, const PodSetSpec& pod_set, std::int32_t count, const PodState& first) {
  topology::RankRules out;
  out.ranked = pod_set.ranked;
  out.groups = pod_set.groups;
  out.count = count;
  const std::int64_t offset = std::int64_t{offset_in_group(w, pod_set)} + first.index_offset;
  out.offset = static_cast<std::int32_t>(std::clamp<std::int64_t>(offset, INT32_MIN, INT32_MAX));
  return out;
}

bool waits(const PodState& pod) { return pod.topology_gated && !pod.ended; }

}  // namespace

bool WorkloadParent::place_pods(const Context& c, Proposal& p) const {
  if (!job_ || std::none_of(pods_.begin(), pods_.end(), waits)) return true;
  const WorkloadState* w = active_slice();  // TAS-79
  if (w == nullptr) return true;
  bool all = true;
  for (const auto& assigned : c.rules >= rules_with_elastic_repairs ? held_places(*w) : w->admission->pod_sets) {
    if (p.full()) return false;
    const auto spec = std::find_if(w->pod_sets->begin(), w->pod_sets->end(), [&](const auto& s) { return s.name == assigned.pod_set; });
    if (spec != w->pod_sets->end() && !assigned.topology->empty()) all &= place_pods_of(*w, *spec, assigned, p);
  }
  return all;
}

/// TAS-80 to TAS-85.
bool WorkloadParent::place_pods_of(const WorkloadState& w, const PodSetSpec& pod_set, const PodSetReservation& assigned,
                                   Proposal& p) const {
  std::vector<const PodState*> pods;
  for (const auto& pod : pods_)
    if (pod.pod_set == pod_set.name && is_pod_of(pod, w)) pods.push_back(&pod);
  if (std::none_of(pods.begin(), pods.end(), [](const PodState* pod) { return waits(*pod); })) return true;
  std::sort(pods.begin(), pods.end(), [](const PodState* a, const PodState* b) {
    return std::tuple(a->group, a->index, std::string_view(a->name)) < std::tuple(b->group, b->index, std::string_view(b->name));
  });
  if (pods.front()->index_offset_bad) return false;

  const TopologyAssignment& assignment = assigned.topology;
  const topology::AssignedDomains domains(assignment);
  std::vector<topology::PodAtGate> at_gate;
  at_gate.reserve(pods.size());
  for (const auto* pod : pods) {
    topology::PodAtGate seen;
    seen.ended = pod->ended;
    if (pod->index >= 0) seen.index = pod->index;
    if (pod->group >= 0) seen.group = pod->group;
    seen.domain = domains.find(pod->topology_gated ? pod->place : pod->selector);
    seen.gated = pod->topology_gated && seen.domain < 0;  // a place of an earlier assignment is none
    at_gate.push_back(seen);
  }
  if (std::none_of(at_gate.begin(), at_gate.end(), [](const auto& pod) { return pod.gated && !pod.ended; })) return true;
  std::vector<std::uint8_t> unusable;  // TAS-88
  if (!w.unhealthy_nodes.empty()) {
    unusable.resize(assignment.size());
    for (std::size_t i = 0; i < unusable.size(); ++i)
      unusable[i] = std::find(w.unhealthy_nodes.begin(), w.unhealthy_nodes.end(), assignment.domain(i).back()) != w.unhealthy_nodes.end();
  }
  const auto places = topology::places_for(assignment.counts, rules_of(w, pod_set, assigned.count, *pods.front()), at_gate, unusable);

  std::vector<PlacedPod> placed;
  std::size_t bytes = 0;  // of the event; who is left has the next one
  for (std::size_t i = 0; i < pods.size() && bytes < p.most; ++i) {
    if (places[i] < 0) continue;
    const auto domain = assignment.domain(static_cast<std::size_t>(places[i]));
    const auto values = p.arena->make<Text>(domain.size());
    for (std::size_t level = 0; level < domain.size(); ++level) {
      values[level] = p.arena->copy(domain[level].text());
      bytes += values[level].size() + 8;
    }
    placed.push_back({p.arena->copy(pods[i]->uid), p.arena->copy(pods[i]->name), values});
    bytes += pods[i]->uid.size() + pods[i]->name.size() + 60;
  }
  if (placed.empty()) return false;
  PodsPlaced e;
  e.workload = {p.arena->copy(w.uid), w.namespace_.text(), p.arena->copy(w.name)};
  e.job = job_ref(*p.arena);
  e.pod_set = p.arena->copy(pod_set.name.text());
  const auto levels = p.arena->make<Text>(assignment.levels.size());
  for (std::size_t level = 0; level < levels.size(); ++level) levels[level] = p.arena->copy(assignment.levels[level].text());
  e.levels = levels;
  e.pods = p.arena->copy(placed);
  p.events.emplace_back(e);
  return false;
}

void WorkloadParent::apply_placed(const PodsPlaced& e, const Context& c) {
  for (const auto& placed : e.pods) {
    PodState* pod = find_pod(placed.uid);
    if (pod == nullptr || !pod->topology_gated || placed.values.size() != e.levels.size()) continue;
    NodeSelector place;
    for (std::size_t level = 0; level < e.levels.size(); ++level)
      place.entries.emplace_back(Symbol(e.levels[level]), Symbol(placed.values[level]));
    std::sort(place.entries.begin(), place.entries.end(), [](const auto& a, const auto& b) { return ByText{}(a.first, b.first); });
    pod->place = std::move(place);
    pod->released_at = c.sequence;
    told_next_.push_back(pod->uid);
  }
}

}  // namespace hindsight::admission
