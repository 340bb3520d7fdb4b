// What a decision that was read back does to the Workload that it names.
#include <algorithm>
#include <tuple>

#include "admission/rules.hpp"
#include "admission/scheduling/second_pass.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::admission {
namespace {

const Symbol quota_reserved("QuotaReserved");
const Symbol admitted("Admitted");
const Symbol unsatisfied("UnsatisfiedAdmissionChecks");
const Symbol preempted("Preempted");
const Symbol preemption_gated("PreemptionGated");
const Symbol deactivated("Deactivated");
const Symbol no_reservation("NoReservation");
const Symbol variant_evicted("VariantEvicted");

void set_checks(WorkloadState& w, List<CheckFacts> checks) {
  w.checks.clear();
  for (const auto& k : checks) w.checks.push_back(own_check(k));
  w.await(Section::checks);
}

/// What one event changes in the Workload that it names. Void where the object has moved on (see decisions.hpp).
struct ApplyEvent {
  WorkloadState& w;
  const Context& c;

  void operator()(const QuotaReserved& e) const {
    if (w.finished() || !w.active || w.reserved() || w.deleting) return;
    w.admission = Admission{Symbol(e.cluster_queue), own_assignments(e.assignments)};
    w.await(Section::admission);
    w.set_plan(own_plan(e.plan));
    w.reset_previous(c.now);
    w.decide_condition(ConditionType::quota_reserved, ConditionStatus::true_, quota_reserved,
                       "Quota reserved in ClusterQueue " + std::string(e.cluster_queue), c.now);
    if (e.checks_changed) set_checks(w, e.checks);
    if (e.admitted)
      w.decide_condition(ConditionType::admitted, ConditionStatus::true_, admitted, "The workload is admitted", c.now);
    else
      w.decide_condition(ConditionType::admitted, ConditionStatus::false_, unsatisfied, "The workload has not all checks ready", c.now);
  }
  void operator()(const EntryRequeued& e) const {
    if (!e.write_status || w.finished() || !w.active || w.reserved()) return;
    w.decide_condition(ConditionType::quota_reserved, ConditionStatus::false_, Symbol(e.reason), e.message, c.now);
    w.decide_condition(ConditionType::admitted, ConditionStatus::false_, no_reservation, "The workload has no reservation", c.now);
    if (e.requeue_reason == RequeueReason::preemption_gated)  // CA-73
      w.decide_condition(ConditionType::blocked_on_preemption_gates, ConditionStatus::true_, preemption_gated, e.message, c.now);
  }
  void operator()(const WorkloadPreempted& e) const {
    if (w.finished() || !w.reserved() || w.evicted()) return;
    w.evict(preempted, Symbol(), e.message, c.now, preempted, true);
    w.decide_condition(ConditionType::preempted, ConditionStatus::true_, Symbol(e.reason), e.message, c.now);
  }
  void operator()(const WorkloadEvicted& e) const {
    if (w.finished()) return;
    const bool deactivation = e.reason == deactivated.text();
    const Symbol reason = deactivation && !e.cause.empty() ? Symbol("DeactivatedDueTo" + std::string(e.cause)) : Symbol(e.reason);
    // CA-65: a family is evicted once, and that counts on its Parent, by what became of its Option.
    const bool follows = w.family && (e.reason == variant_evicted.text());
    const bool counts_all = deactivation && !follows && c.rules >= rules_with_deactivations_counted;
    const Symbol counted_as = follows ? Symbol(e.cause) : counts_all ? Symbol(e.reason) : reason;
    w.evict(reason, follows ? Symbol() : Symbol(e.cause), e.message, c.now, counted_as, counts_all || w.reserved());
    if (deactivation) {
      w.remove_condition(ConditionType::deactivation_target);
      if (w.has_requeue_state) {
        w.has_requeue_state = false;
        w.requeue_count = 0;
        w.requeue_at = Time::never();
        w.await(Section::requeue_state);
      }
    }
    if (e.has_requeue_state) {
      w.has_requeue_state = true;
      w.requeue_count = e.requeue_count;
      w.requeue_at = e.requeue_at;
      w.await(Section::requeue_state);
    }
  }
  void operator()(const ReservationCleared& e) const {
    if (w.finished() || !w.reserved()) return;
    w.clear_reservation(Symbol(e.reason), e.message, c.now);
    if (e.writes_requeued)
      w.decide_condition(ConditionType::requeued, e.requeued ? ConditionStatus::true_ : ConditionStatus::false_, Symbol(e.requeued_reason),
                         e.requeued_message, c.now);
  }
  void operator()(const WorkloadAdmitted&) const {
    if (w.finished() || !w.reserved() || w.evicted() || w.admitted()) return;
    w.decide_condition(ConditionType::admitted, ConditionStatus::true_, admitted, "The workload is admitted", c.now);
  }
  void operator()(const WorkloadFinished& e) const {
    if (w.finished()) return;
    w.decide_condition(ConditionType::finished, ConditionStatus::true_, Symbol(e.reason), e.message, c.now);
  }
  void operator()(const ConditionChanged& e) const {
    if (w.finished()) return;
    if (e.remove) {
      w.remove_condition(e.type);
      return;
    }
    if (e.type == ConditionType::quota_reserved && e.status == ConditionStatus::false_) {
      if (w.reserved()) return;  // a reservation came first; it is cleared by its own event
      w.decide_condition(ConditionType::admitted, ConditionStatus::false_, no_reservation, "The workload has no reservation", c.now);
    }
    w.decide_condition(e.type, e.status, Symbol(e.reason), e.message, c.now);
    if (e.type == ConditionType::admitted && w.lacks_places()) w.set_second_pass(0, c.now + second_pass_wait(0));
  }
  void operator()(const WorkloadDeactivated&) const {
    if (!w.active) return;
    w.active = false;
    w.await(Section::active);
  }
  void operator()(const ChecksChanged& e) const {
    if (w.finished()) return;
    set_checks(w, e.checks);
  }
  void operator()(const RequeueStateChanged& e) const {
    w.has_requeue_state = e.present;
    w.requeue_count = e.count;
    w.requeue_at = e.at;
    w.await(Section::requeue_state);
  }
  void operator()(const ReclaimableChanged& e) const {
    w.reclaimable.clear();
    for (const auto& r : e.reclaimable) w.reclaimable.emplace_back(Symbol(r.pod_set), r.count);
    w.await(Section::reclaimable);
  }
  void operator()(const ExecutionTimeReset&) const {
    w.accumulated_exec_seconds.reset();
    w.await(Section::exec_time);
  }
  void operator()(const WorkloadRevised& e) const {
    w.revision_pending = true;
    w.revised_for = e.job_generation;
  }
  void operator()(const WorkloadRemoved& e) const {
    if (e.job.uid.empty()) w.removal_pending = true;  // else it goes with its job
  }
  void operator()(const SizingBarred& e) const {
    w.sizing_barred = e.barred;
    w.sizing_barred_at = e.barred ? c.now : Time::never();
    w.plan_refusals = 0;
    w.plan_refusal.clear();
  }
  void operator()(const WorkloadRequested&) const {}
  void operator()(const JobStopped&) const {}
  void operator()(const PodsReleased&) const {}  // its pods
  void operator()(const PodsPlaced&) const {}    // as above
  void operator()(const PodsFailed&) const {}    // as above
  void operator()(const NodesUnhealthy& e) const {
    if (w.finished() || !w.reserved()) return;
    w.set_unhealthy(own_names(e.nodes));
  }
  /// The rest of the admission stays as it is, and so do all conditions.
  void operator()(const TopologyReassigned& e) const {
    if (w.finished() || !w.reserved() || w.evicted()) return;
    const auto changed = own_assignments(e.assignments);
    for (auto& mine : w.admission->pod_sets)
      for (const auto& now : changed)
        if (now.pod_set == mine.pod_set) mine.topology = now.topology;
    w.await(Section::admission);
    w.set_unhealthy({});
  }
  void operator()(const TopologyAssigned& e) const {
    if (w.finished() || !w.reserved() || w.evicted()) return;
    const auto placed = own_assignments(e.assignments);
    for (auto& mine : w.admission->pod_sets)
      for (const auto& now : placed)
        if (now.pod_set == mine.pod_set && mine.delayed == DelayedTopology::pending) {
          mine.topology = now.topology;
          mine.delayed = now.delayed;
        }
    w.await(Section::admission);
    w.set_second_pass(0, Time::never());
  }
  void operator()(const SecondPassFailed& e) const {
    if (w.finished() || !w.reserved() || w.evicted() || !w.lacks_places()) return;
    w.set_second_pass(e.attempt, c.now + second_pass_wait(e.attempt));
  }
  void operator()(const GateChanged&) const {}  // see apply_gate
  // these concern a family: see apply_family
  void operator()(const FamilyFormed&) const {}
  void operator()(const FamilyDissolved&) const {}
  void operator()(const FamilyReset&) const {}
  void operator()(const OptionRequested&) const {}
  void operator()(const OptionSwitched&) const {}
  void operator()(const OptionAdopted&) const {}
  void operator()(const OptionAdmitted&) const {}
  void operator()(const MigrationStarted&) const {}
  void operator()(const PreemptionGateChanged&) const {}
  void operator()(const SliceReplaced&) const {}  // concerns two: see apply_replacement
  void operator()(const TreeReactivated&) const {}
};

}  // namespace

/// Was a slice given quota against another that is no longer there or on its way out, or for fewer pods than it now has? Then it stays in
/// its queue and is tried again.
bool WorkloadParent::overtaken(const QuotaReserved& e, const WorkloadState& w) const {
  for (const auto& p : w.pod_sets)
    for (const auto& a : e.assignments)
      if (a.pod_set == p.name.text() && p.count - w.reclaimable_of(p.name) > a.count) return true;
  return !e.replaces.uid.empty() && charged_against(e) == nullptr;
}

const WorkloadState* WorkloadParent::charged_against(const QuotaReserved& e) const {
  if (e.replaces.uid.empty()) return nullptr;
  for (const auto& w : workloads_)
    if (w.uid == e.replaces.uid && is_live(w) && w.reserved() && !is_leaving(w)) return &w;
  return nullptr;
}

void WorkloadParent::apply_event(const Event& e, WorkloadId id, const Context& c, Outbox& out) {
  if (const auto* r = std::get_if<WorkloadRequested>(&e)) {
    if (!job_ || (has_own_workloads() && !job_->elastic)) return;
    job_->requested_since = c.sequence;
    job_->requested_name = r->name;
    job_->requested_for = r->replaces.uid;
    job_->by_itself = job_->by_itself || (child_ && beyond_);
    return;
  }
  if (const auto* gate = std::get_if<GateChanged>(&e)) return apply_gate(*gate);
  if (std::holds_alternative<JobStopped>(e)) {
    if (job_ && (!child_ || beyond_)) job_->stop_noted = true;  // room may have been found for it meanwhile
    return;
  }
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    WorkloadState& w = workloads_[i];
    if (w.id != id) continue;
    const auto gate = [](const WorkloadState& s) {
      const auto* ev = s.find(ConditionType::evicted);
      const auto* rq = s.find(ConditionType::requeued);
      return std::tuple(ev != nullptr && ev->is_true(), rq != nullptr && rq->is_false(), s.requeue_at, s.reclaimable);
    };
    if (const auto* requeued = std::get_if<EntryRequeued>(&e))
      out.send(self_, queue_address(Symbol(requeued->cluster_queue)), msg::Requeued{requeued, id});
    if (apply_family(e, i, c)) {  // the members follow (publish_families); one that was a Parent is none of them any more
      if (std::holds_alternative<FamilyDissolved>(e)) publish(i, {.repush = true, .touched = true}, c, out);
      return;
    }
    if (const auto* p = std::get_if<WorkloadPreempted>(&e); p != nullptr && w.family && w.family->hold) {
      w.family->hold.reset();  // somebody who may do so took what was kept; the family begins anew (CA-59)
      w.last_decision = c.sequence;
      return;
    }
    if (const auto* released = std::get_if<PodsReleased>(&e)) return apply_released(*released, c);
    if (const auto* placed = std::get_if<PodsPlaced>(&e)) return apply_placed(*placed, c);
    if (const auto* failed = std::get_if<PodsFailed>(&e)) return apply_failed(*failed, c);
    if (const auto* replaced = std::get_if<SliceReplaced>(&e)) return apply_replacement(*replaced, i, c, out);
    const auto* reserved = std::get_if<QuotaReserved>(&e);
    if (reserved != nullptr && w.elastic && overtaken(*reserved, w)) return;
    const auto before = gate(w);
    const auto old_reclaimable = w.reclaimable;
    const bool was_reserving = placements_[i].kind == Placement::Kind::reserving;
    std::visit(ApplyEvent{w, c}, e);
    follow_event(e, i);
    if (const auto* removed = std::get_if<WorkloadRemoved>(&e); removed != nullptr && job_ && removed->job.uid == job_->uid)
      job_->removal_pending = true;
    w.last_decision = c.sequence;
    w.resolve_since = c.sequence;
    const bool assumed = reserved != nullptr;
    const bool resized = std::holds_alternative<SizingBarred>(e);  // it asks for something else now
    const auto* instead = assumed && w.elastic ? charged_against(*reserved) : nullptr;
    publish(i, {.repush = resized || gate(w) != before, .force = false, .touched = true, .assumed = assumed, .instead = instead}, c, out);
    if (assumed) end_elsewhere(w, c, out);
    // Of an elastic job the resize that waited for the repair goes on (EJ-112).
    const bool repaired = w.elastic && (std::holds_alternative<TopologyReassigned>(e) || std::holds_alternative<NodesUnhealthy>(e));
    if ((was_reserving && w.reclaimable != old_reclaimable) || repaired) request_reactivation(w, c, out);
    return;
  }
}

}  // namespace hindsight::admission
