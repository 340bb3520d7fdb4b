// What a record does to a family of concurrent admission (8691): its Parent, its Options, and the admission that the one shows of the
// other.

#include <algorithm>

#include "admission/rules.hpp"
#include "admission/workload/workload_parent.hpp"
#include "vocabulary/saturated.hpp"

namespace hindsight::admission {

/// An Option that was asked for is there.
void WorkloadParent::meet_option(WorkloadState& w) {
  const std::size_t parent = family_parent_of(w);
  if (parent == Family::none) return;
  auto& asked = workloads_[parent].family->requested;
  const auto it = std::find_if(asked.begin(), asked.end(), [&](const RequestedOption& r) { return r.name == w.name; });
  if (it == asked.end()) return;
  if (!it->message.value().empty()) {
    if (!w.option) w.option.emplace();
    w.option->message = it->message;
  }
  asked.erase(it);
  if (asked.empty()) asked = {};  // as long as it waits nothing else is asked for
}

/// Of tens of thousands of families the Options name their Parents: in the same memory.
void WorkloadParent::share_names(WorkloadState& option) const {
  if (!option.is_made_as_option()) return;
  for (const auto& parent : workloads_) {
    if (parent.uid != option.family_facts->option_of) continue;
    option.family_facts->option_of = parent.uid;
    if (parent.name == option.family_facts->parent_name) option.family_facts->parent_name = parent.name;
    return;
  }
}

/// An Option could not be made. Where somebody else's object has its name it gets the other one (CA-6); else the same is asked for again
/// (CA-7). False: it was about something else.
bool WorkloadParent::refuse_option(WorkloadState& w, const WriteRefused& refused) {
  constexpr std::int32_t conflict = 409;
  if (!w.family || refused.name == w.name) return false;
  auto& asked = w.family->requested;
  const auto it = std::find_if(asked.begin(), asked.end(), [&](const RequestedOption& r) { return r.name == refused.name; });
  if (it == asked.end()) return false;
  auto& foreign = w.family->foreign;
  const bool hashed = std::find(foreign.begin(), foreign.end(), it->option) != foreign.end();
  if (refused.http_status != conflict || hashed) {
    it->refused = true;
    return true;
  }
  foreign.push_back(it->option);
  asked.erase(it);
  return true;
}

void WorkloadParent::take_over(WorkloadState& to, const WorkloadState& from) {
  to.admission = from.admission;
  to.await(Section::admission);
  to.set_plan(from.plan);
  for (const auto type : {ConditionType::quota_reserved, ConditionType::admitted})
    if (const auto* condition = from.find(type))
      to.decide_condition(type, condition->status, condition->reason, condition->message, condition->last_transition);
  if (to.option && from.checks != to.checks) {
    to.checks = from.checks;
    to.await(Section::checks);
  }
}

namespace {

/// A family that begins anew soon after it moved gained nothing by the move, and its job was restarted for it: the next one waits, twice as
/// long each time.
void note_undone_move(FamilyState& f, Time now) {
  if (f.migrated_at.is_set() && now < f.migrated_at + move_undone_within) {
    std::int64_t seconds = first_pause_of_moves.micros / 1'000'000;
    for (std::int32_t i = 0; i < f.undone && seconds < last_pause_of_moves.micros / 1'000'000; ++i) seconds *= 2;
    f.paused_until = now + std::min(Duration::seconds(seconds), last_pause_of_moves);
    f.undone = saturated_add(f.undone, 1);
  } else if (f.paused_until.is_set() && now >= f.paused_until + move_undone_within) {
    f.undone = 0;
    f.paused_until = Time::never();
  }
  f.migrated_at = Time::never();
}

}  // namespace

/// True: the event was about a family, and is done.
bool WorkloadParent::apply_family(const Event& e, std::size_t index, const Context& c) {
  WorkloadState& w = workloads_[index];
  const auto find = [this](Text uid) -> WorkloadState* {
    for (auto& other : workloads_)
      if (other.uid == uid) return &other;
    return nullptr;
  };
  const auto options_of = [this](const WorkloadState& parent, auto&& f) {
    for (auto& other : workloads_)
      if (other.is_made_as_option() && other.option_of() == parent.uid && other.namespace_ == parent.namespace_) f(other);
  };
  if (std::holds_alternative<FamilyFormed>(e)) {
    if (w.family || w.finished()) return true;
    w.family.emplace();
    forget_families();
    // Options that are there already were counted nowhere. Only the one that the job runs on has what it shows.
    bool runs = false;
    options_of(w, [&](WorkloadState& o) {
      if (!o.reserved() || o.finished()) return;
      const bool stays = !runs && o.admitted() && !o.removal_pending && !o.deleting && w.reserved() && w.admitted() &&
                         o.admission->cluster_queue == w.admission->cluster_queue && o.admission->pod_sets == w.admission->pod_sets;
      runs = runs || stays;
      if (!stays) o.clear_reservation(Symbol("PendingEvaluation"), "Its Parent had no Options", c.now);
    });
    w.family->holds_itself = w.reserved() && !runs;
    w.family->cycle_start = w.reserved() || !w.created.is_set() ? c.now : w.created;
    if (w.reserved() && w.admitted()) w.family->first_admitted = w.find(ConditionType::admitted)->last_transition;
    w.await(Section::parent_markers);
  } else if (std::holds_alternative<FamilyDissolved>(e)) {
    w.family.reset();
    forget_families();
    w.await(Section::parent_markers);
    w.await(Section::options);
  } else if (std::holds_alternative<FamilyReset>(e)) {
    if (!w.family) return true;
    note_undone_move(*w.family, c.now);
    w.family->cycle_start = c.now;
    w.family->first_admitted = Time::never();
    w.family->migrating_to = CompactText();
    w.family->hold.reset();
    options_of(w, [&](WorkloadState& o) {
      if (!o.option) o.option.emplace();
      o.option->anew = true;
      o.option->passed_over = false;
      o.option->rejected = o.option->rejected && o.reserved() && o.admitted();  // it begins anew because of that (CA-85)
      // while the Parent is inactive, that stays the reason
      if (!o.option->rejected && (w.active || o.option->cause != OptionCause::parent_inactive)) o.option->cause = OptionCause::none;
      if (std::exchange(o.option->gate_open, false)) {
        o.option->gate_since = c.now;
        o.await(Section::preemption_gates);
      }
    });
  } else if (const auto* requested = std::get_if<OptionRequested>(&e)) {
    if (!w.family) return true;
    auto& list = w.family->requested;
    std::erase_if(list, [&](const RequestedOption& r) { return r.name == requested->name; });
    const auto is_it = [&](std::size_t member) { return member != Family::none && workloads_[member].name == requested->name; };
    if (c.rules >= rules_with_options_shown_together && std::ranges::any_of(family_of(index, c).members, is_it))
      return true;  // somebody made it while this was decided
    list.push_back({CompactText(requested->name), Symbol(requested->option), own_names(requested->flavors), requested->active,
                    std::string(requested->message), false, c.sequence});
  } else if (const auto* switched = std::get_if<OptionSwitched>(&e)) {
    if (w.finished()) return true;
    if (!w.option) w.option.emplace();
    w.option->cause = switched->cause;
    w.option->anew = false;
    w.option->message = std::string(switched->message);
    if (switched->cause == OptionCause::rejected) w.option->rejected = true;
    if (w.active != switched->active) {
      w.active = switched->active;
      w.await(Section::active);
    }
    // CA-126: it shows what any inactive Workload shows, but nobody was evicted. One with quota is, by an event of its own (CA-25).
    if (!w.active && !w.reserved()) {
      static const Symbol deactivated("Deactivated"), no_reservation("NoReservation");
      constexpr std::string_view why = "The workload is deactivated";
      if (!w.evicted()) w.decide_condition(ConditionType::evicted, ConditionStatus::true_, deactivated, why, c.now);
      w.decide_condition(ConditionType::quota_reserved, ConditionStatus::false_, deactivated, why, c.now);
      w.decide_condition(ConditionType::admitted, ConditionStatus::false_, no_reservation, "The workload has no reservation", c.now);
    }
    // CA-48: whatever it was evicted for, it may be tried again at once.
    if (const auto* requeued = w.find(ConditionType::requeued); w.active && requeued != nullptr)
      w.decide_condition(ConditionType::requeued, ConditionStatus::true_, Symbol("Reactivated"), "The workload was reactivated", c.now);
  } else if (const auto* adopted = std::get_if<OptionAdopted>(&e)) {
    WorkloadState* from = find(adopted->from.uid);
    WorkloadState* parent = find(adopted->parent.uid);
    if (from == nullptr || parent == nullptr || !parent->family || !from->reserved() || w.reserved() || w.finished()) return true;
    if (!w.option) w.option.emplace();
    take_over(w, *from);
    parent->family->shown = w.uid;
    if (from == parent) {
      parent->family->holds_itself = false;
      // It shows an admission only (CA-40). What waits for its checks is the Option's alone.
      if (!w.admitted()) from->clear_reservation(Symbol("PendingEvaluation"), "An Option has taken over its reservation", c.now);
    } else
      from->clear_reservation(Symbol("PendingEvaluation"), "Another Option has taken its place", c.now);
    from->last_decision = c.sequence;
  } else if (const auto* shown = std::get_if<OptionAdmitted>(&e)) {
    const WorkloadState* option = find(shown->option.uid);
    if (!w.family || w.finished() || option == nullptr || !option->reserved() || !option->admitted()) return true;
    show_admission(w, *option, c);
  } else if (const auto* started = std::get_if<MigrationStarted>(&e)) {
    WorkloadState* parent = find(started->parent.uid);
    if (parent == nullptr || !parent->family) return true;
    parent->family->migrating_to = started->workload.uid;
    parent->family->hold.reset();
    if (!started->assignments.empty())
      parent->family->hold = Admission{Symbol(started->cluster_queue), own_assignments(started->assignments)};
    parent->last_decision = c.sequence;
  } else if (const auto* gate = std::get_if<PreemptionGateChanged>(&e)) {
    if (!w.option) w.option.emplace();
    if (w.option->gate_open == gate->open) return true;
    w.option->gate_open = gate->open;
    w.option->gate_since = c.now;
    w.option->passed_over = gate->unused;
    w.await(Section::preemption_gates);
  } else {
    return false;
  }
  w.last_decision = c.sequence;
  w.resolve_since = c.sequence;
  return true;
}

/// CA-42: the job runs by what its Parent shows.
void WorkloadParent::show_admission(WorkloadState& parent, const WorkloadState& option, const Context& c) {
  static const Symbol quota_reserved("QuotaReserved"), admitted("Admitted");
  FamilyState& family = *parent.family;
  const bool anew = family.shown != option.uid || !parent.reserved();
  parent.admission = option.admission;
  parent.await(Section::admission);
  parent.set_plan(option.plan);
  parent.set_unhealthy(option.unhealthy_nodes);
  family.shown = option.uid;
  family.holds_itself = false;
  if (!anew) return;
  if (family.migrating_to == option.uid) family.migrated_at = c.now;
  family.migrating_to = CompactText();
  family.hold.reset();
  if (!family.first_admitted.is_set()) family.first_admitted = c.now;
  parent.reset_previous(c.now);
  parent.decide_condition(ConditionType::quota_reserved, ConditionStatus::true_, quota_reserved,
                          "Quota reserved in ClusterQueue " + std::string(option.admission->cluster_queue.text()), c.now);
  parent.decide_condition(ConditionType::admitted, ConditionStatus::true_, admitted,
                          "The variant " + std::string(option.name) + " is admitted", c.now);
}

/// What an event about one member changes in the others.
void WorkloadParent::follow_event(const Event& e, std::size_t index) {
  WorkloadState& w = workloads_[index];
  if (std::holds_alternative<QuotaReserved>(e) && w.reserved()) {  // what was kept for the family is its own now
    const std::size_t parent = family_parent_of(w);
    if (parent != Family::none && (w.admitted() || workloads_[parent].family->migrating_to == w.uid))
      workloads_[parent].family->hold.reset();
  }
  // CA-64: an eviction closes the gate.
  if (std::holds_alternative<WorkloadEvicted>(e) || std::holds_alternative<WorkloadPreempted>(e)) {
    if (!w.option || !w.evicted() || !w.option->gate_open) return;
    w.option->gate_open = false;
    w.option->gate_since = w.find(ConditionType::evicted)->last_transition;
    w.await(Section::preemption_gates);
  }
}

}  // namespace hindsight::admission
