#include "admission/model/workload_state.hpp"

#include <algorithm>
#include <cmath>

#include "admission/model/workload_parts.hpp"
#include "vocabulary/saturated.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::admission {
namespace {

const Symbol reason_quota_reserved("QuotaReserved");
const Symbol reason_no_reservation("NoReservation");

}  // namespace

// ---- reading ------------------------------------------------------------------------------------------------------------

std::int32_t WorkloadState::reclaimable_of(const Symbol& pod_set) const {
  for (const auto& [p, n] : reclaimable)
    if (p == pod_set) return n;
  return 0;
}

std::int64_t WorkloadState::effective_priority(const Settings& settings) const {
  return std::int64_t{priority.value_or(0)} + (settings.priority_boost ? priority_boost : 0);
}

Time WorkloadState::queue_time(const Settings& settings) const {
  static const Symbol pods_ready_timeout("PodsReadyTimeout");
  static const Symbol admission_check("AdmissionCheck");
  static const Symbol while_borrowing("InCohortReclaimWhileBorrowing");
  const auto* e = find(ConditionType::evicted);
  if (e != nullptr && e->is_true()) {
    if (e->reason == pods_ready_timeout && settings.requeue_by_eviction_time) return e->last_transition;
    if (e->reason == admission_check) return e->last_transition;
  }
  if (!settings.priority_sorting_within_cohort) {
    const auto* p = find(ConditionType::preempted);
    if (p != nullptr && p->is_true() && p->reason == while_borrowing) return p->last_transition + Duration::millis(1);
  }
  return created;
}

// ---- changing -----------------------------------------------------------------------------------------------------------

void WorkloadState::set_unhealthy(std::vector<Symbol> nodes) {
  if (unhealthy_nodes == nodes) return;
  unhealthy_nodes = std::move(nodes);
  await(Section::unhealthy_nodes);
}

void WorkloadState::decide_condition(ConditionType type, ConditionStatus status, Symbol reason, std::string_view text, Time now) {
  std::string message = condition_message(text);  // also of a decision that an earlier build recorded whole
  for (auto& c : conditions) {
    if (c.type != type) continue;
    if (c.status == status && c.reason == reason && c.message == message) return;
    if (c.status != status) c.last_transition = now;
    c.status = status;
    c.reason = reason;
    c.message = std::move(message);
    unconfirmed |= bit(type);
    return;
  }
  conditions.push_back({type, status, reason, std::move(message), now});
  unconfirmed |= bit(type);
}

void WorkloadState::remove_condition(ConditionType type) {
  const auto it = std::find_if(conditions.begin(), conditions.end(), [&](const Condition& c) { return c.type == type; });
  if (it == conditions.end()) return;
  conditions.erase(it);
  unconfirmed |= bit(type);
}

void WorkloadState::add_exec_time(std::optional<std::int32_t> before, Time since, Time now) {
  const std::int64_t seconds = std::max<std::int64_t>(0, now.floor_seconds() - since.floor_seconds());
  accumulated_exec_seconds = saturated_add(before.value_or(0), saturated<std::int32_t>(seconds));
  await(Section::exec_time);
}

bool WorkloadState::lacks_places() const {
  return admission && std::any_of(admission->pod_sets.begin(), admission->pod_sets.end(),
                                  [](const PodSetReservation& p) { return p.delayed == DelayedTopology::pending; });
}

bool WorkloadState::checks_ready() const {
  return std::all_of(checks.begin(), checks.end(), [](const CheckStatus& k) { return k.state == CheckState::ready; });
}

void WorkloadState::set_second_pass(std::int32_t in_vain, Time next) {
  second_passes = in_vain;
  second_pass_at = next;
}

void WorkloadState::clear_reservation(Symbol reason, std::string_view message, Time now) {
  if (admitted()) {
    const auto* a = find(ConditionType::admitted);
    if (max_exec_seconds > 0) add_exec_time(accumulated_exec_seconds, a->last_transition, now);  // BA-130
  }
  decide_condition(ConditionType::quota_reserved, ConditionStatus::false_, reason, message, now);
  decide_condition(ConditionType::admitted, ConditionStatus::false_, reason_no_reservation, "The workload has no reservation", now);
  if (admission) {
    admission.reset();
    await(Section::admission);
  }
  set_unhealthy({});
  set_second_pass(0, Time::never());
  set_plan({});
}

void WorkloadState::set_plan(SizingPlan wanted) {
  if (plan == wanted) return;
  plan = std::move(wanted);
  await(Section::plan);
}

void WorkloadState::take_back_reservation() {
  admission.reset();
  set_second_pass(0, Time::never());
  set_plan({});
  remove_condition(ConditionType::quota_reserved);
  remove_condition(ConditionType::admitted);
  unconfirmed &= ~(bit(Section::admission) | bit(ConditionType::quota_reserved) | bit(ConditionType::admitted));
}

void WorkloadState::reset_previous(Time now) {
  static const Symbol quota_reserved("QuotaReserved");
  for (const auto type : {ConditionType::evicted, ConditionType::preempted, ConditionType::blocked_on_preemption_gates}) {
    const auto* c = find(type);
    if (c == nullptr || !c->is_true()) continue;
    const std::string previous = "Previously: " + c->message;
    decide_condition(type, ConditionStatus::false_, quota_reserved, previous, now);
  }
}

void WorkloadState::evict(Symbol reason, Symbol cause, std::string_view message, Time now, Symbol counted_as, bool counts) {
  decide_condition(ConditionType::evicted, ConditionStatus::true_, reason, message, now);
  bool changed = false;
  for (auto& c : checks) {
    if (c.state == CheckState::pending) continue;
    const char* previous = c.state == CheckState::ready ? "Ready" : c.state == CheckState::retry ? "Retry" : "Rejected";
    c.retry_count = c.state == CheckState::retry ? saturated_add(std::max(c.retry_count, 0), 1) : -1;
    c.state = CheckState::pending;
    c.last_transition = now;
    c.message = std::string("Reset to Pending after eviction. Previously: ") + previous;
    c.pod_set_updates.clear();
    c.updates.clear();
    changed = true;
  }
  if (changed) await(Section::checks);
  set_unhealthy({});  // TAS-106

  if (const auto* blocked = find(ConditionType::blocked_on_preemption_gates); blocked != nullptr && blocked->is_true())  // CA-64
    decide_condition(ConditionType::blocked_on_preemption_gates, ConditionStatus::false_, reason, message, now);
  if (!counts || is_made_as_option()) return;  // those of an Option count on its Parent (CA-65)
  const auto it =
      std::find_if(evictions.begin(), evictions.end(), [&](const EvictionStat& e) { return e.reason == counted_as && e.cause == cause; });
  if (it == evictions.end())
    evictions.push_back({counted_as, cause, 1});
  else
    it->count = saturated_add(it->count, 1);
  await(Section::evictions);
}

}  // namespace hindsight::admission
