#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>

#include "vocabulary/decisions.hpp"

namespace hindsight::admission {

/// Walks over all that an event consists of, in one order: `Sink::value` gets every text, time, number and enumerator, `Sink::list` the
/// length of a list before what is in it, `Sink::part` the beginning of each struct. The bindings name every member, so that one that is
/// added to a type does not compile before it is named here.
template <class Sink>
class EventParts {
 public:
  explicit EventParts(Sink& sink) : sink_(sink) {}

  void walk(const Event& event) {
    std::visit([&](const auto& e) { add(e); }, event);
  }

 private:
  void add(Text x) { sink_.value(x); }
  void add(Time x) { sink_.value(x); }
  template <class N>
  requires(std::is_arithmetic_v<N> || std::is_enum_v<N>) void add(N x) { sink_.value(x); }
  template <class T>
  void add(const std::optional<T>& x) {
    sink_.value(x.has_value());
    if (x) add(*x);
  }
  template <class T>
  void add(List<T> list) {
    sink_.list(static_cast<std::uint64_t>(list.size()));
    for (const auto& x : list) add(x);
  }

  // ---- parts
  void add(const WorkloadRef& x) {
    const auto& [uid, namespace_, name] = x;
    all(uid, namespace_, name);
  }
  void add(const JobRef& x) {
    const auto& [uid, kind, group, namespace_, name] = x;
    all(uid, kind, group, namespace_, name);
  }
  void add(const PodRef& x) {
    const auto& [uid, namespace_, name, pod_set] = x;
    all(uid, namespace_, name, pod_set);
  }
  void add(const PlacedPod& x) {
    const auto& [uid, name, values] = x;
    all(uid, name, values);
  }
  void add(const PodSetCount& x) {
    const auto& [pod_set, count] = x;
    all(pod_set, count);
  }
  void add(const FlavorChoice& x) {
    const auto& [resource, flavor] = x;
    all(resource, flavor);
  }
  void add(const ResourceAmount& x) {
    const auto& [resource, amount] = x;
    all(resource, amount);
  }
  void add(const PlannedAmount& x) {
    const auto& [pod_set, container, resource, original, amount] = x;
    all(pod_set, container, resource, original, amount);
  }
  void add(const ScanProgress& x) {
    const auto& [pod_set, resource, flavor_index] = x;
    all(pod_set, resource, flavor_index);
  }
  void add(const TopologyDomainFacts& x) {
    const auto& [values, count] = x;
    all(values, count);
  }
  void add(const PodSetAssignmentFacts& x) {
    const auto& [pod_set, count, flavors, usage, levels, topology, delayed] = x;
    all(pod_set, count, flavors, usage);
    if (!levels.empty()) all(levels, topology);  // steps of logs without topologies are as long as they were
    if (delayed != DelayedTopology::none) all(delayed);
  }
  void add(const Pair& x) {
    const auto& [key, value] = x;
    all(key, value);
  }
  void add(const Toleration& x) {
    const auto& [key, value, exists, effect, seconds] = x;
    all(key, value, exists, effect, seconds);
  }
  void add(const PodSetUpdateFacts& x) {
    const auto& [pod_set, node_selector, tolerations] = x;
    all(pod_set, node_selector, tolerations);
  }
  void add(const CheckFacts& x) {
    const auto& [name, state, last_transition, message, requeue_after, retry_count, updates_text, updates] = x;
    all(name, state, last_transition, message, requeue_after, retry_count, updates_text);
    if (!updates.empty()) all(updates);
  }

  // ---- events
  void add(const WorkloadRequested& e) {
    const auto& [job, name, queue, priority, class_kind, class_, limit, generation, replaces, slice, counts] = e;
    all(job, name, queue, priority, class_kind, class_, limit, generation, replaces, slice, counts);
  }
  void add(const WorkloadRevised& e) {
    const auto& [workload, job, pod_sets, queue, priority, class_kind, class_, limit, generation, counts] = e;
    all(workload, job, pod_sets, queue, priority, class_kind, class_, limit, generation, counts);
  }
  void add(const WorkloadRemoved& e) {
    const auto& [workload, message, job, parent] = e;
    all(workload, message, job);
    if (!parent.uid.empty()) all(parent);  // as with topologies
  }
  void add(const JobStopped& e) {
    const auto& [job, message] = e;
    all(job, message);
  }
  void add(const QuotaReserved& e) {
    const auto& [workload, queue, assignments, admitted, checks, checks_changed, level, replaces, plan] = e;
    all(workload, queue, assignments, admitted, checks, checks_changed, level, replaces, plan);
  }
  void add(const EntryRequeued& e) {
    const auto& [workload, queue, why, to_heap, write_status, reason, message, progress, parked, generation, skipped, recomputed,
                 claimant] = e;
    all(workload, queue, why, to_heap, write_status, reason, message, progress, parked, generation, skipped, recomputed, claimant);
  }
  void add(const WorkloadPreempted& e) {
    const auto& [workload, preemptor, queue, reason, message] = e;
    all(workload, preemptor, queue, reason, message);
  }
  void add(const WorkloadEvicted& e) {
    const auto& [workload, reason, cause, message, has_requeue_state, count, at] = e;
    all(workload, reason, cause, message, has_requeue_state, count, at);
  }
  void add(const ReservationCleared& e) {
    const auto& [workload, reason, message, writes_requeued, requeued, requeued_reason, requeued_message, restored] = e;
    all(workload, reason, message, writes_requeued, requeued, requeued_reason, requeued_message, restored);
  }
  void add(const WorkloadAdmitted& e) { all(e.workload); }
  void add(const WorkloadFinished& e) {
    const auto& [workload, reason, message] = e;
    all(workload, reason, message);
  }
  void add(const ConditionChanged& e) {
    const auto& [workload, type, status, reason, message, remove] = e;
    all(workload, type, status, reason, message, remove);
  }
  void add(const WorkloadDeactivated& e) { all(e.workload); }
  void add(const ChecksChanged& e) {
    const auto& [workload, checks] = e;
    all(workload, checks);
  }
  void add(const RequeueStateChanged& e) {
    const auto& [workload, present, count, at] = e;
    all(workload, present, count, at);
  }
  void add(const ReclaimableChanged& e) {
    const auto& [workload, reclaimable] = e;
    all(workload, reclaimable);
  }
  void add(const ExecutionTimeReset& e) { all(e.workload); }
  void add(const TreeReactivated& e) { all(e.root); }
  void add(const SliceReplaced& e) {
    const auto& [workload, replacement, job, slice, message, delta, counts] = e;
    all(workload, replacement, job, slice, message, delta, counts);
  }
  void add(const PodsReleased& e) {
    const auto& [workload, job, slice, pods] = e;
    all(workload, job, slice, pods);
  }
  void add(const PodsPlaced& e) {
    const auto& [workload, job, pod_set, levels, pods] = e;
    all(workload, job, pod_set, levels, pods);
  }
  void add(const NodesUnhealthy& e) {
    const auto& [workload, nodes] = e;
    all(workload, nodes);
  }
  void add(const TopologyReassigned& e) {
    const auto& [workload, nodes, assignments, given_up] = e;
    all(workload, nodes, assignments);
    if (given_up) all(given_up);  // events of before have the parts that they had
  }
  void add(const TopologyAssigned& e) {
    const auto& [workload, assignments] = e;
    all(workload, assignments);
  }
  void add(const SecondPassFailed& e) {
    const auto& [workload, message, attempt] = e;
    all(workload, message, attempt);
  }
  void add(const PodsFailed& e) {
    const auto& [workload, job, pods] = e;
    all(workload, job, pods);
  }
  void add(const GateChanged& e) {
    const auto& [workload, job, contract, change, value, generation, since] = e;
    all(workload, job, contract, change, value, generation, since);
  }
  void add(const SizingBarred& e) {
    const auto& [workload, job, barred, unsupported, message] = e;
    all(workload, job, barred, unsupported, message);
  }

  void add(const FamilyFormed& e) { all(e.workload); }
  void add(const FamilyDissolved& e) {
    const auto& [workload, message] = e;
    all(workload, message);
  }
  void add(const FamilyReset& e) {
    const auto& [workload, message] = e;
    all(workload, message);
  }
  void add(const OptionRequested& e) {
    const auto& [workload, name, option, flavors, active, message] = e;
    all(workload, name, option, flavors, active, message);
  }
  void add(const OptionSwitched& e) {
    const auto& [workload, parent, active, cause, message] = e;
    all(workload, parent, active, cause, message);
  }
  void add(const OptionAdopted& e) {
    const auto& [workload, parent, from] = e;
    all(workload, parent, from);
  }
  void add(const OptionAdmitted& e) {
    const auto& [workload, option] = e;
    all(workload, option);
  }
  void add(const MigrationStarted& e) {
    const auto& [workload, parent, from, queue, assignments] = e;
    all(workload, parent, from, queue, assignments);
  }
  void add(const PreemptionGateChanged& e) {
    const auto& [workload, parent, open, unused] = e;
    all(workload, parent, open, unused);
  }

  template <class... T>
  void all(const T&... x) {
    sink_.part();
    (add(x), ...);
  }
  Sink& sink_;
};

}  // namespace hindsight::admission
