#include "whatif/course.hpp"

#include "vocabulary/state_hash.hpp"

namespace hindsight::whatif {
namespace {

void add(StateHash& h, List<PodSetAssignmentFacts> assignments) {
  for (const auto& a : assignments) {
    h.add(a.pod_set);
    h.add(a.count);
    for (const auto& f : a.flavors) {
      h.add(f.resource);
      h.add(f.flavor);
    }
    for (const auto& d : a.topology) {
      for (const Text value : d.values) h.add(value);
      h.add(d.count);
    }
  }
}

/// What of an event decides how the world answers, beside its kind and its object. False: the world does not answer.
struct Particulars {
  StateHash& h;

  bool operator()(const EntryRequeued&) const { return false; }
  bool operator()(const ConditionChanged&) const { return false; }
  bool operator()(const ChecksChanged&) const { return false; }
  bool operator()(const RequeueStateChanged&) const { return false; }
  bool operator()(const ReclaimableChanged&) const { return false; }
  bool operator()(const ExecutionTimeReset&) const { return false; }
  bool operator()(const GateChanged&) const { return false; }
  bool operator()(const NodesUnhealthy&) const { return false; }
  bool operator()(const SecondPassFailed&) const { return false; }
  bool operator()(const PreemptionGateChanged&) const { return false; }
  bool operator()(const TreeReactivated&) const { return false; }

  bool operator()(const QuotaReserved& e) const {
    h.add(e.cluster_queue);
    h.add(e.admitted);
    add(h, e.assignments);
    for (const auto& p : e.plan) {
      h.add(p.container);
      h.add(p.resource);
      h.add(p.amount);
    }
    return true;
  }
  bool operator()(const TopologyAssigned& e) const {
    add(h, e.assignments);
    return true;
  }
  bool operator()(const TopologyReassigned& e) const {
    add(h, e.assignments);
    return true;
  }
  bool operator()(const OptionSwitched& e) const {
    h.add(e.active);
    return true;
  }
  bool operator()(const WorkloadRequested& e) const {
    h.add(e.name);
    return true;
  }
  bool operator()(const OptionRequested& e) const {
    h.add(e.name);
    return true;
  }
  template <class E>
  bool operator()(const E& e) const {
    (void)e;
    return true;
  }
};

/// Names stay the same where uids do not.
struct Named {
  StateHash& h;
  template <class E>
  void operator()(const E& e) const {
    if constexpr (requires { e.workload; }) {
      h.add(e.workload.name);
    } else if constexpr (requires { e.job; }) {
      h.add(e.job.name);
    }
  }
};

}  // namespace

std::optional<std::uint64_t> essence_of(const Event& event) {
  StateHash h;
  h.add(static_cast<std::uint64_t>(event.index()));
  std::visit(Named{h}, event);
  if (!std::visit(Particulars{h}, event)) return std::nullopt;
  return h.value();
}

}  // namespace hindsight::whatif
