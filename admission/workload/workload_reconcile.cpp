// The life-cycle rules of one Workload object: what its controller decides beside scheduling (base-admission §8, base-api §6.3).
// Everything here is a function of the state; each step proposes at most one group of events per Workload and is run again after
// these have been applied, until nothing is left to say. Anybody can make thousands of Workloads of one job: when they fill a step
// (Proposal::full), the rest of them is looked at in the next one.

#include <algorithm>

#include "admission/rules.hpp"
#include "admission/workload/workload_parent.hpp"
#include "vocabulary/saturated.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::admission {
namespace {

const Symbol pending_places("PendingDelayedTopologyRequests");

constexpr std::string_view gated_by = "Admission is gated by: ";  // 6915 §2.3

/// "DeactivatedDueTo" comes before it, and both are the reason of a condition. Reasons are ASCII, or the API server would not have them.
constexpr std::size_t cause_max = limits::reason.size() - 16;
/// So far two clocks that are right may differ: whole seconds in a status, and NTP.
constexpr Duration foreign_clock_ahead_max = Duration::seconds(5);

void condition(Proposal& p, const WorkloadState& w, ConditionType type, ConditionStatus status, std::string_view reason,
               std::string_view message) {
  p.events.emplace_back(ConditionChanged{ref(w, *p.arena), type, status, p.arena->copy(reason), p.message(message), false});
}

void cleared(Proposal& p, const WorkloadState& w, std::string_view reason, std::string_view message) {
  ReservationCleared e;
  e.workload = ref(w, *p.arena);
  e.reason = p.arena->copy(reason);
  e.message = p.message(message);
  p.events.emplace_back(e);
}

void evicted(Proposal& p, const WorkloadState& w, std::string_view reason, std::string_view cause, std::string_view message) {
  WorkloadEvicted e;
  e.workload = ref(w, *p.arena);
  e.reason = p.arena->copy(reason);
  e.cause = p.arena->copy(cut_text(cause, cause_max));
  e.message = p.message(message);
  p.events.emplace_back(e);
}

/// What somebody else said, as a part of what we say. It goes to several places from there: so much of it as people read.
std::string quoted(std::string_view message) { return cut_message(message, limits::finding.size()); }

std::string quoted_messages(const std::vector<const CheckStatus*>& checks) {
  std::string out;
  for (const auto* k : checks) {
    if (!out.empty()) out += "; ";
    out += '"' + std::string(k->name.text()) + "\" (" + k->message + ')';
  }
  return quoted(out);
}

/// A queue that is held, or is not there, shields what runs from all that follows (D12).
bool is_shielded(const WorkloadState& w, const Catalog& catalog) {
  const auto* lq = catalog.local_queue(w.namespace_, w.queue_name);
  if (lq == nullptr || lq->stop_policy != StopPolicy::none) return true;
  const auto* cq = catalog.queue(w.admission->cluster_queue);
  return cq == nullptr || cq->deleting;
}

bool is_any(const Symbol& reason, std::initializer_list<std::string_view> texts) {
  return std::find(texts.begin(), texts.end(), reason.text()) != texts.end();
}

}  // namespace

Time WorkloadParent::job_retained_until(const WorkloadState& w, const Settings& settings) {
  const Condition* evicted = w.find(ConditionType::evicted);
  if (!settings.retain_deactivated || w.finished() || w.active || evicted == nullptr || !evicted->is_true()) return Time::never();
  if (!evicted->reason.text().starts_with("DeactivatedDueTo")) return Time::never();
  return evicted->last_transition + *settings.retain_deactivated;
}

void WorkloadParent::reconcile(const Context& c, Proposal& p) const {
  if (job_ && reconcile_job(c, p)) return;
  if (reconcile_families(c, p)) return;
  for (std::size_t i = 0; i < workloads_.size() && !p.full(); ++i) reconcile_workload(i, c, p);
  if (p.events.empty()) reconcile_pods(c, p);
}

void WorkloadParent::reconcile_workload(std::size_t index, const Context& c, Proposal& p) const {
  const WorkloadState& w = workloads_[index];
  const Settings& settings = c.catalog->settings;

  if (w.removal_pending) return;
  const FamilyRole role = role_of(index, *c.catalog);
  const bool option = role == FamilyRole::option;
  if (role == FamilyRole::stray || role == FamilyRole::refused) return;
  if (option && (w.finished() || w.deleting)) return;  // nobody but its Parent ends it (CA-113)
  if (w.finished()) {
    if (settings.retain_finished && !w.deleting &&
        c.now >= w.find(ConditionType::finished)->last_transition + *settings.retain_finished)  // BA-148
      p.events.emplace_back(WorkloadRemoved{ref(w, *p.arena), "Deleted finished workload due to elapsed retention", {}});
    return;
  }
  const bool orphaned = w.owner_uid.empty() && (w.deleting || w.job_made);  // BA-149
  if (orphaned && settings.finish_orphaned) {
    p.events.emplace_back(WorkloadFinished{ref(w, *p.arena), "OwnerNotFound", "The owner of the workload was not found"});
    return;
  }
  if (w.deleting) return;
  if (!option) note_gate(w, c, p);
  if (const Time until = job_retained_until(w, settings); !option && until.is_set() && c.now >= until) {  // BA-148
    if (job_ && !job_->removal_pending && !job_->deleting && !job_->finished)
      p.events.emplace_back(WorkloadRemoved{ref(w, *p.arena), "Deleted job: deactivation retention period expired", job_ref(*p.arena)});
    if (!job_ && w.owner_uid.empty())
      p.events.emplace_back(WorkloadRemoved{ref(w, *p.arena), "Deleted workload: deactivation retention period expired", {}});
    return;
  }

  // a class whose value changed (BA-150); jobs see to it themselves
  if (!job_ && !option && w.priority_class_kind == PriorityClassKind::workload_priority_class && !w.revision_pending) {
    const auto it = c.catalog->workload_priority_classes.find(w.priority_class);
    if (it != c.catalog->workload_priority_classes.end() && w.priority != it->second.value) {
      WorkloadRevised e;
      e.workload = ref(w, *p.arena);
      e.queue_name = w.queue_name.text();
      e.priority = it->second.value;
      e.priority_class_kind = w.priority_class_kind;
      e.priority_class = w.priority_class.text();
      p.events.emplace_back(e);
      return;
    }
  }

  // deactivation (§8.6)
  const Condition* target = w.find(ConditionType::deactivation_target);
  const bool targeted = target != nullptr && target->is_true();
  if (w.active && targeted) {
    p.events.emplace_back(WorkloadDeactivated{ref(w, *p.arena)});
    return;
  }
  if (option && !w.active && !w.evicted() && !w.reserved()) {  // CA-126: nobody was evicted
    condition(p, w, ConditionType::evicted, ConditionStatus::true_, "Deactivated", "The workload is deactivated");
    return;
  }
  if (!w.active && !w.evicted()) {
    evicted(p, w, "Deactivated", targeted ? target->reason.text() : "",
            targeted ? "The workload is deactivated due to " + quoted(target->message) : "The workload is deactivated");
    return;
  }

  const Condition* requeued = w.find(ConditionType::requeued);
  const bool gate_closed = requeued != nullptr && requeued->is_false();
  if (w.active && gate_closed && requeued->reason.text() == "Deactivated") {  // D3: the bare reason only
    condition(p, w, ConditionType::requeued, ConditionStatus::true_, "Reactivated", "The workload was reactivated");
    return;
  }

  // a queue that was stopped runs again (§8.7)
  const auto* lq = c.catalog->local_queue(w.namespace_, w.queue_name);
  const auto* cq = lq == nullptr ? nullptr : c.catalog->queue(lq->cluster_queue);
  const bool lq_runs = lq != nullptr && lq->stop_policy == StopPolicy::none;
  if (gate_closed && !w.reserved() && lq_runs && w.active) {
    if (requeued->reason.text() == "LocalQueueStopped") {
      condition(p, w, ConditionType::requeued, ConditionStatus::true_, "LocalQueueRestarted",
                "The LocalQueue was restarted after being stopped");
      return;
    }
    if (requeued->reason.text() == "ClusterQueueStopped" && cq != nullptr && cq->stop_policy == StopPolicy::none) {
      condition(p, w, ConditionType::requeued, ConditionStatus::true_, "ClusterQueueRestarted",
                "The ClusterQueue was restarted after being stopped");
      return;
    }
  }

  // the end of a back-off (§8.3, §8.4)
  const bool backed_off = w.has_requeue_state && w.requeue_at.is_set() && w.requeue_at > c.now;
  if (w.active && !w.reserved() && !backed_off) {
    const bool waited = gate_closed && is_any(requeued->reason, {"AdmissionCheck", "PodsReadyTimeout"});
    const bool expired = w.has_requeue_state && w.requeue_at.is_set();
    if (expired) p.events.emplace_back(RequeueStateChanged{ref(w, *p.arena), true, w.requeue_count, Time::never()});
    if (waited) condition(p, w, ConditionType::requeued, ConditionStatus::true_, "BackoffFinished", "The workload backoff was finished");
    if (expired || waited) return;
  }

  if (w.family && !w.family->holds_itself) return reconcile_parent(index, c, p);
  if (sync_checks(w, c, p)) return;
  if (option) {
    if (w.reserved() && reconcile_option(index, c, p)) return;
    if (!w.reserved()) (void)resolve_pending(w, placements_[index], c, p);
    return;
  }
  if (w.reserved() && reconcile_reserved(w, c, p)) return;
  if (!w.reserved() && reconcile_sizing(w, c, p)) return;
  if (!w.reserved()) (void)resolve_pending(w, placements_[index], c, p);
}

/// What a Parent does itself: it is as long as it may be, and its pods are ready in time (CA-55, CA-56). All else its Options do.
void WorkloadParent::reconcile_parent(std::size_t index, const Context& c, Proposal& p) const {
  const WorkloadState& w = workloads_[index];
  if (!w.checks.empty()) {  // CA-42
    p.events.emplace_back(ChecksChanged{ref(w, *p.arena), {}});
    return;
  }
  if (w.reserved()) {
    if (!w.evicted() && w.admitted() && !is_shielded(w, *c.catalog)) (void)watch_time(w, c, p);
  } else if (!w.active || !admission_gate(w, *c.catalog).empty() || c.catalog->local_queue(w.namespace_, w.queue_name) == nullptr) {
    (void)resolve_pending(w, placements_[index], c, p);
  }
}

/// What an Option with quota does for itself. Who of them is admitted is a matter of the family.
bool WorkloadParent::reconcile_option(std::size_t index, const Context& c, Proposal& p) const {
  const WorkloadState& w = workloads_[index];
  if (w.evicted()) {
    if (w.admitted()) return false;  // the job runs on it: see follow_eviction
    const Condition* e = w.find(ConditionType::evicted);
    ReservationCleared out;
    out.workload = ref(w, *p.arena);
    out.reason = w.active ? "PendingEvaluation" : "Deactivated";
    out.message = p.message(quoted(e->message));
    out.writes_requeued = true;
    out.requeued = is_any(e->reason, {"Preempted", "NodeFailures"});
    out.requeued_reason = e->reason.text();
    out.requeued_message = out.message;
    p.events.emplace_back(out);
    return true;
  }
  const WorkloadState& parent = workloads_[family_parent_of(w)];
  if (const auto gate = admission_gate(parent, *c.catalog); !w.admitted() && !gate.empty()) {  // CA-97
    cleared(p, w, "AdmissionGated", std::string(gated_by) + std::string(gate));
    return true;
  }
  return follow_checks(w, c, p) || follow_stop_policies(w, c, p) ||
         (w.admitted() && !is_shielded(w, *c.catalog) && (follow_nodes(w, c, p) || take_hosts_back(w, c, p) || give_places_up(w, c, p)));
}

/// The checks that a Workload has to list. Of an Option without quota those that all of its flavors ask for (CA-80).
std::vector<Symbol> WorkloadParent::checks_of(const WorkloadState& w, const QueueConfig& queue, const Context& c) const {
  if (queue.checks.empty()) return {};
  if (w.admission) return required_checks(queue, &w.admission->pod_sets);
  const std::size_t parent = family_parent_of(w);
  if (parent == Family::none) return required_checks(queue, nullptr);
  const Family& f = family_of(parent, c);
  const std::size_t rank = f.rank_of(static_cast<std::size_t>(&w - workloads_.data()));
  if (rank == Family::none) return required_checks(queue, nullptr);
  std::vector<PodSetReservation> any(1);
  for (const Symbol& flavor : f.specs[rank].flavors) any.front().flavors.emplace_back(Symbol(), flavor);
  auto out = required_checks(queue, &any);
  std::erase_if(out, [&](const Symbol& name) {
    const auto rule = std::find_if(queue.checks.begin(), queue.checks.end(), [&](const CheckRule& k) { return k.name == name; });
    return !rule->on_flavors.empty() && std::any_of(f.specs[rank].flavors.begin(), f.specs[rank].flavors.end(), [&](const Symbol& flavor) {
      return std::find(rule->on_flavors.begin(), rule->on_flavors.end(), flavor) == rule->on_flavors.end();
    });
  });
  return out;
}

bool WorkloadParent::lists_its_checks(const WorkloadState& w, const Context& c) const {
  const auto* cq = w.admission ? c.catalog->queue(w.admission->cluster_queue) : nullptr;
  if (cq == nullptr) return false;
  const auto required = checks_of(w, *cq, c);
  return std::equal(w.checks.begin(), w.checks.end(), required.begin(), required.end(),
                    [](const CheckStatus& k, const Symbol& name) { return k.name == name; });
}

/// §8.3: the list of checks follows the queue; only while the queues are there and the LocalQueue runs (BA-134, BA-206).
bool WorkloadParent::sync_checks(const WorkloadState& w, const Context& c, Proposal& p) const {
  const auto* lq = c.catalog->local_queue(w.namespace_, w.queue_name);
  if (lq == nullptr || lq->stop_policy != StopPolicy::none) return false;
  const auto* cq = c.catalog->queue(w.admission ? w.admission->cluster_queue : lq->cluster_queue);
  if (cq == nullptr) return false;
  const auto required = checks_of(w, *cq, c);
  const bool same = std::equal(w.checks.begin(), w.checks.end(), required.begin(), required.end(),
                               [](const CheckStatus& k, const Symbol& n) { return k.name == n; });
  if (same) return false;
  auto list = p.arena->make<CheckFacts>(required.size());
  for (std::size_t i = 0; i < required.size(); ++i) {
    const auto it = std::find_if(w.checks.begin(), w.checks.end(), [&](const CheckStatus& k) { return k.name == required[i]; });
    if (it != w.checks.end()) {
      list[i] = view_check(*it, *p.arena);
    } else {
      list[i].name = required[i].text();
      list[i].last_transition = c.now;
    }
  }
  p.events.emplace_back(ChecksChanged{ref(w, *p.arena), list});
  return true;
}

bool WorkloadParent::reconcile_reserved(const WorkloadState& w, const Context& c, Proposal& p) const {
  if (w.evicted()) {
    // §8.2: once the job is inactive its reservation goes; a Workload without a job is its maker's business
    const bool runs_on = sliced(c) && running_workload() != nullptr;  // on another slice: nothing of this one drains (EJ-46)
    if (!runs_on && (!job_ || !at_rest())) return false;
    const Condition* e = w.find(ConditionType::evicted);
    ReservationCleared out;
    out.workload = ref(w, *p.arena);
    out.reason = "PendingEvaluation";
    out.message = p.message(quoted(e->message));
    out.writes_requeued = true;
    out.requeued = is_any(e->reason, {"Preempted", "NodeFailures"});  // BA-133
    out.requeued_reason = e->reason.text();
    out.requeued_message = out.message;
    out.resources_restored = w.admitted() && !w.plan.empty() && job_ && job_->plan.empty();
    p.events.emplace_back(out);
    return true;
  }

  if (reconcile_sizing(w, c, p)) return true;

  if (const auto gate = admission_gate(w, *c.catalog); !w.admitted() && !gate.empty()) {  // SG-63
    cleared(p, w, "AdmissionGated", std::string(gated_by) + std::string(gate));
    return true;
  }

  // checks (§8.3): Admitted first, then Rejected before Retry
  if (!w.admitted() && w.checks_ready() && !w.lacks_places()) {
    p.events.emplace_back(WorkloadAdmitted{ref(w, *p.arena)});
    replace_slice(w, w, c, p);
    return true;
  }
  if (!w.admitted() && w.checks_ready()) {  // TAS-91: the cohort tree looks for places from now on
    const Condition* waits = w.find(ConditionType::admitted);
    if (waits == nullptr || !waits->is_false() || waits->reason != pending_places || !w.second_pass_at.is_set()) {
      condition(p, w, ConditionType::admitted, ConditionStatus::false_, pending_places.text(),
                "There are pending delayed topology requests");
      return true;
    }
  }
  if (follow_checks(w, c, p) || follow_stop_policies(w, c, p)) return true;
  if (!w.admitted() || is_shielded(w, *c.catalog)) return false;
  if (follow_nodes(w, c, p) || take_hosts_back(w, c, p) || give_places_up(w, c, p)) return true;
  return watch_time(w, c, p);
}

/// Checks that were refused, or are to be tried again (§8.3).
bool WorkloadParent::follow_checks(const WorkloadState& w, const Context& c, Proposal& p) const {
  std::vector<const CheckStatus*> rejected, retry;
  for (const auto& k : w.checks) {
    if (k.state == CheckState::rejected) rejected.push_back(&k);
    if (k.state == CheckState::retry) retry.push_back(&k);
  }
  if (!rejected.empty()) {
    const std::string list = (rejected.size() > 1 ? "AdmissionChecks(s): " : "AdmissionCheck(s): ") + quoted_messages(rejected);
    if (const std::size_t parent = family_parent_of(w); parent != Family::none) {  // CA-84: its siblings go on
      p.events.emplace_back(
          OptionSwitched{ref(w, *p.arena), ref(workloads_[parent], *p.arena), false, OptionCause::rejected, p.message(list)});
      return true;
    }
    condition(p, w, ConditionType::deactivation_target, ConditionStatus::true_, "AdmissionCheck", list);
    return true;
  }
  if (!retry.empty()) {
    WorkloadEvicted e;
    e.workload = ref(w, *p.arena);
    e.reason = "AdmissionCheck";
    e.message = p.message("Evicted due to " + std::string(retry.size() > 1 ? "AdmissionChecks" : "AdmissionCheck") +
                          " in Retry state: " + quoted_messages(retry));
    Time at = w.has_requeue_state ? w.requeue_at : Time::never();
    bool later = false;
    for (const auto& k : w.checks) {
      if (k.requeue_after_seconds < 0) continue;
      // The controller of the check has a clock of its own. What it says of the future counts as now, or a clock that is a day ahead would
      // hold the Workload back for a day.
      const Time since = k.last_transition > c.now + foreign_clock_ahead_max ? c.now : k.last_transition;
      const Time t = since + Duration::seconds(k.requeue_after_seconds);
      if (t > c.now && (!at.is_set() || t > at)) {
        at = t;
        later = true;
      }
    }
    if (later) {
      e.has_requeue_state = true;
      e.requeue_count = w.requeue_count;
      e.requeue_at = at;
    }
    p.events.emplace_back(e);
    return true;
  }

  return false;
}

/// Stop policies (§8.7), LocalQueue before ClusterQueue.
bool WorkloadParent::follow_stop_policies(const WorkloadState& w, const Context& c, Proposal& p) const {
  const auto* lq = c.catalog->local_queue(w.namespace_, w.queue_name);
  const std::string lq_name(w.queue_name.text());
  if (lq == nullptr) {
    if (w.admitted()) return false;
    cleared(p, w, "Misconfigured", "LocalQueue " + lq_name + " is terminating or missing");
    return true;
  }
  if (lq->stop_policy != StopPolicy::none) {
    if (!w.admitted()) {
      cleared(p, w, "Suspended", "LocalQueue " + lq_name + " is stopped");
      return true;
    }
    if (lq->stop_policy == StopPolicy::hold_and_drain) {
      evicted(p, w, "LocalQueueStopped", "", "The LocalQueue is stopped");
      return true;
    }
    return false;  // D12: it shields from the ClusterQueue's policy
  }
  const std::string cq_name(w.admission->cluster_queue.text());
  const auto* cq = c.catalog->queue(w.admission->cluster_queue);
  if (cq == nullptr || cq->deleting) {
    if (w.admitted()) return false;
    cleared(p, w, "Misconfigured", "ClusterQueue " + cq_name + " is terminating or missing");
    return true;
  }
  if (cq->stop_policy != StopPolicy::none) {
    if (!w.admitted()) {
      cleared(p, w, "Suspended", "ClusterQueue " + cq_name + " is stopped");
      return true;
    }
    if (cq->stop_policy == StopPolicy::hold_and_drain) {
      evicted(p, w, "ClusterQueueStopped", "", "The ClusterQueue is stopped");
      return true;
    }
  }

  return false;
}

/// Maximum execution time (§8.5) and PodsReady time-outs (§8.4).
bool WorkloadParent::watch_time(const WorkloadState& w, const Context& c, Proposal& p) const {
  const Settings& settings = c.catalog->settings;
  const Time admitted_at = w.find(ConditionType::admitted)->last_transition;

  if (w.max_exec_seconds > 0 && c.now >= admitted_at + Duration::seconds(w.exec_seconds_left())) {
    condition(p, w, ConditionType::deactivation_target, ConditionStatus::true_, "MaximumExecutionTimeExceeded",
              "exceeding the maximum execution time");
    if (w.accumulated_exec_seconds) p.events.emplace_back(ExecutionTimeReset{ref(w, *p.arena)});
    return true;
  }

  // PodsReady time-outs (§8.4)
  const Condition* ready = w.find(ConditionType::pods_ready);
  if (settings.pods_ready_enabled && job_ && ready != nullptr && ready->is_false()) {
    const bool recovering = ready->reason.text() == "WaitForRecovery";
    const Time deadline = recovering ? ready->last_transition + settings.recovery_timeout : admitted_at + settings.pods_ready_timeout;
    if ((!recovering || settings.recovery_timeout.micros > 0) && c.now >= deadline) {
      const std::int32_t count = saturated_add(w.has_requeue_state ? w.requeue_count : 0, 1);
      if (settings.backoff_limit_count && count > *settings.backoff_limit_count) {  // BA-140
        condition(p, w, ConditionType::deactivation_target, ConditionStatus::true_, "RequeuingLimitExceeded",
                  "exceeding the maximum number of re-queuing retries");
        return true;
      }
      std::int64_t seconds = settings.backoff_base_seconds;
      for (std::int32_t i = 1; i < count && seconds > 0 && seconds < settings.backoff_max_seconds; ++i) seconds *= 2;
      seconds = std::min<std::int64_t>(seconds, settings.backoff_max_seconds);
      WorkloadEvicted e;
      e.workload = ref(w, *p.arena);
      e.reason = "PodsReadyTimeout";
      e.cause = recovering ? "WaitForRecovery" : "WaitForStart";
      e.message = p.message("Exceeded the PodsReady timeout " + std::string(w.namespace_.text()) + "/" + w.name);
      e.has_requeue_state = true;
      e.requeue_count = count;
      e.requeue_at = c.now + Duration::seconds(seconds);
      if (w.has_requeue_state && w.requeue_at.is_set() && w.requeue_at > e.requeue_at) e.requeue_at = w.requeue_at;
      p.events.emplace_back(e);
      return true;
    }
  }
  return false;
}

/// base-api §6.3: why a workload without reservation waits, as far as the controller knows better than the scheduler (BA-68, BA-208). With
/// UnadmittedWorkloadsExplicitStatus it says so from the beginning, and a record of an equal workload that failed counts for more than a
/// reason from before the workload changed (BA-211).
bool WorkloadParent::resolve_pending(const WorkloadState& w, const Placement& at, const Context& c, Proposal& p) const {
  if (w.resolve_since <= c.resolved_base) return false;
  const Condition* now = w.find(ConditionType::quota_reserved);
  if (now != nullptr && now->is_true()) return false;
  const std::string_view current = now == nullptr ? std::string_view() : now->reason.text();
  const bool always_says = c.catalog->settings.unadmitted_explicit_status && c.rules >= rules_with_explicit_status;

  std::string reason, message;
  const auto* lq = c.catalog->local_queue(w.namespace_, w.queue_name);
  const std::string lq_name(w.queue_name.text());
  const auto* cq = lq == nullptr ? nullptr : c.catalog->queue(lq->cluster_queue);
  const std::string cq_name(lq == nullptr ? std::string_view() : lq->cluster_queue.text());
  if (!w.active) {
    reason = "Deactivated";
    message = "The workload is deactivated";
  } else if (job_ && !job_->quarantined.empty()) {
    reason = "Misconfigured";
    message = std::string(set_aside_prefix) + job_->quarantined.text();
  } else if (!w.quarantined.empty()) {
    reason = "Misconfigured";
    message = std::string(set_aside_prefix) + w.quarantined.text();
  } else if (current == "OnHold") {
    return false;
  } else if (const auto held = held_back_now(w, c)) {
    reason = held->reason;
    message = held->message;
  } else if (lq == nullptr) {
    reason = "Misconfigured";
    message = "LocalQueue " + lq_name + " doesn't exist";
  } else if (lq->stop_policy != StopPolicy::none) {
    reason = "Suspended";
    message = "LocalQueue " + lq_name + " is inactive";
  } else if (cq == nullptr) {
    reason = "Misconfigured";
    message = "ClusterQueue " + cq_name + " doesn't exist";
  } else if (!c.catalog->queue_active(cq->name)) {
    reason = "Suspended";
    message = "ClusterQueue " + cq_name + " is inactive";
  } else if (!c.catalog->namespace_matches(*cq, w.namespace_) && w.resolve_since > c.catalog->match_since(*cq, w.namespace_)) {
    reason = "Misconfigured";
    message = "workload namespace doesn't match ClusterQueue selector";
  } else if (at.info != nullptr && !at.info->limits_error.empty()) {
    reason = "Misconfigured";
    message = at.info->limits_error;
  } else if (const auto gate = admission_gate(asks_for(w), *c.catalog); !gate.empty()) {
    reason = "AdmissionGated";
    message = std::string(gated_by) + std::string(gate);
  } else if (current == "AdmissionGated" && now->message->starts_with(gated_by)) {
    reason = "PendingEvaluation";
    message = "AdmissionGatedBy cleared, waiting for quota reservation";
  } else if (!at.record_reason.empty() && (always_says || current == "Deactivated" || current == "PendingEvaluation" ||
                                           current == "Suspended" || current == "Pending" || (now != nullptr && current.empty()))) {
    reason = at.record_reason.text();
    message = "Bypassed scheduling evaluation because an equivalent workload recently failed";
  } else if (now == nullptr && !always_says) {
    return false;
  } else if (current == "WaitingForQuota" || current == "NoMatchingFlavor" || current == "ExceedsMaxQuota" ||
             current == "TopologyPlacementFailed" || current == "WaitingForPreemptedWorkloads" || current == "WaitingForPodsReady" ||
             (current == "AdmissionGated" && w.is_made_as_option()) || current == "PendingEvaluation") {
    return false;
  } else {
    reason = "PendingEvaluation";
    message = "Workload is pending evaluation in the scheduling queue";
  }
  const Text wanted = p.message(message);
  if (now != nullptr && current == reason && now->message == wanted) return false;
  condition(p, w, ConditionType::quota_reserved, ConditionStatus::false_, reason, wanted);
  return true;
}

}  // namespace hindsight::admission
