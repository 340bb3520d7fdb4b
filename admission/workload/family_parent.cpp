// What a family of concurrent admission means for its members while records are applied (8691): who of them waits, what each holds, and
// what the Parent shows of them.

#include <algorithm>

#include "admission/model/option_name.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::admission {
namespace {

const Symbol evicted_by_option("VariantEvicted");

std::vector<Symbol> assigned_flavors(const Admission& admission) {
  std::vector<Symbol> out;
  for (const auto& p : admission.pod_sets)
    for (const auto& [resource, flavor] : p.flavors)
      if (std::find(out.begin(), out.end(), flavor) == out.end()) out.push_back(flavor);
  return out;
}

Symbol queue_of(const WorkloadState& w, const Catalog& catalog) {
  const auto* lq = catalog.local_queue(w.namespace_, w.queue_name);
  return lq == nullptr ? Symbol() : lq->cluster_queue;
}

}  // namespace

bool asks_for_the_same(const WorkloadState& option, const WorkloadState& parent) {
  return std::equal(option.pod_sets.begin(), option.pod_sets.end(), parent.pod_sets.begin(), parent.pod_sets.end(),
                    [](const PodSetSpec& a, const PodSetSpec& b) {
                      return a.name == b.name && a.count == b.count && a.template_hash == b.template_hash && a.topology == b.topology;
                    });
}

const OptionState& option_state(const WorkloadState& w) {
  static const OptionState nothing;
  return w.option ? *w.option : nothing;
}

// ---- who is what ------------------------------------------------------------------------------------------------------------

bool WorkloadParent::has_families() const {
  return std::any_of(workloads_.begin(), workloads_.end(),
                     [](const WorkloadState& w) { return w.family.has_value() || w.is_made_as_option(); });
}

bool WorkloadParent::wants_family(const WorkloadState& w, const Catalog& catalog) {
  if (!catalog.settings.concurrent_admission || w.is_made_as_option()) return false;
  const auto* queue = catalog.queue(queue_of(w, catalog));
  return queue != nullptr && queue->concurrent.enabled;
}

FamilyRole WorkloadParent::role_of(std::size_t index, const Catalog& catalog) const {
  const WorkloadState& w = workloads_[index];
  if (w.family) return FamilyRole::parent;
  if (w.is_made_as_option()) {
    const std::size_t parent = family_parent_of(w);
    return parent == Family::none ? FamilyRole::stray : FamilyRole::option;
  }
  if (w.finished() || !wants_family(w, catalog)) return FamilyRole::plain;
  // What runs already is not stopped for it; it becomes a Parent all the same, and is adopted (CA-120).
  return w.elastic && catalog.settings.elastic_jobs ? (w.reserved() ? FamilyRole::plain : FamilyRole::refused) : FamilyRole::parent;
}

std::size_t WorkloadParent::family_parent_of(const WorkloadState& option) const {
  if (!option.is_made_as_option()) return Family::none;
  for (std::size_t i = 0; i < workloads_.size(); ++i)
    if (workloads_[i].family && workloads_[i].uid == option.option_of() && workloads_[i].namespace_ == option.namespace_) return i;
  return Family::none;
}

std::string WorkloadParent::option_object_name(const WorkloadState& parent, const OptionSpec& spec, const Settings& settings) {
  const auto& foreign = parent.family->foreign;
  const bool hashed = std::find(foreign.begin(), foreign.end(), spec.name) != foreign.end();
  return option_name(parent.name, parent.uid, spec.name.text(), settings.short_workload_names ? short_option_name_limit : option_name_limit,
                     hashed);
}

Family WorkloadParent::family_of(std::size_t index, const Catalog& catalog) const {
  const WorkloadState& parent = workloads_[index];
  Family f;
  f.parent = index;
  f.queue = catalog.queue(queue_of(parent, catalog));
  if (f.queue != nullptr && f.queue->concurrent.enabled) {
    const auto* own = parent.family_facts && parent.family_facts->constrained ? &parent.family_facts->allowed : nullptr;
    f.specs = option_specs(*f.queue, own);
  }
  f.members.assign(f.specs.size(), Family::none);
  std::vector<std::string> names;
  for (const auto& spec : f.specs) names.push_back(option_object_name(parent, spec, catalog.settings));
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    const WorkloadState& w = workloads_[i];
    if (w.option_of() != parent.uid || w.namespace_ != parent.namespace_ || !w.is_made_as_option()) continue;
    const auto name = std::find(names.begin(), names.end(), w.name.view());
    if (name != names.end() && asks_for_the_same(w, parent))
      f.members[static_cast<std::size_t>(name - names.begin())] = i;
    else
      f.strangers.push_back(i);
    if (!w.reserved() || !w.admitted() || w.finished()) continue;
    if (f.running != Family::none && (w.evicted() || f.rank_of(i) > f.rank_of(f.running))) continue;
    f.running = i;
  }
  if (f.running != Family::none && f.queue != nullptr)
    f.running_on = positions_of(*f.queue, assigned_flavors(*workloads_[f.running].admission));
  return f;
}

/// Is the job of the family on its way to a stop, so that nobody may be admitted in its place yet (CA-61, CA-67)?
bool WorkloadParent::is_stopping(const Family& f) const {
  const WorkloadState& parent = workloads_[f.parent];
  // Before another one is admitted it has to be written that the old admission is over: of the Parent, whose admission cannot be replaced
  // by another one, and of the Option, so that nobody ever sees two of them admitted (CA-43).
  const auto is_unwritten = [](const WorkloadState& w) { return !w.reserved() && w.waits_for(Section::admission); };
  const bool unwritten = std::any_of(workloads_.begin(), workloads_.end(), [&](const WorkloadState& w) {
    return is_unwritten(w) && (&w == &parent || family_parent_of(w) == f.parent);
  });
  return unwritten || (f.running != Family::none && workloads_[f.running].evicted()) || (parent.reserved() && parent.evicted());
}

/// Each of the flavors that it may be assigned asks for a check, so that quota alone does not admit it.
bool WorkloadParent::always_waits_for_checks(const Family& f, std::size_t rank) {
  return std::all_of(f.specs[rank].flavors.begin(), f.specs[rank].flavors.end(), [&](const Symbol& flavor) {
    return std::any_of(f.queue->checks.begin(), f.queue->checks.end(), [&](const CheckRule& rule) {
      return rule.on_flavors.empty() || std::find(rule.on_flavors.begin(), rule.on_flavors.end(), flavor) != rule.on_flavors.end();
    });
  });
}

/// Why an Option that is active may not be tried now, in the words of its condition; nothing: it may (CA-26, CA-50, CA-67).
std::optional<WorkloadParent::HeldBack> WorkloadParent::held_back(const Family& f, std::size_t rank) const {
  const WorkloadState& parent = workloads_[f.parent];
  if (parent.family->holds_itself && parent.reserved())
    return HeldBack{"PendingEvaluation", "A more favorable variant is already admitted"};
  if (is_stopping(f)) {
    if (always_waits_for_checks(f, rank)) return std::nullopt;
    const bool migrates = parent.family->migrating_to == workloads_[f.members[rank]].uid;
    return HeldBack{"WaitingForPreemptedWorkloads",
                    migrates ? "Pending the migration of 1 workload(s)" : "Waiting for the evicted job to stop"};
  }
  if (f.running == Family::none) return std::nullopt;
  switch (standing_of(*f.queue, f.specs, rank, f.running_on)) {
    case OptionStanding::upgrade:
      return std::nullopt;
    case OptionStanding::below_target:
      return HeldBack{"PendingEvaluation", "Target flavor is below LastAcceptableFlavorName"};
    case OptionStanding::lower:
    case OptionStanding::retained:
      break;
  }
  return HeldBack{"PendingEvaluation", "A more favorable variant is already admitted"};
}

std::optional<WorkloadParent::HeldBack> WorkloadParent::held_back_now(const WorkloadState& w, const Context& c) const {
  const std::size_t parent = family_parent_of(w);
  if (parent == Family::none) return std::nullopt;
  const Family f = family_of(parent, *c.catalog);
  const std::size_t rank = f.rank_of(static_cast<std::size_t>(&w - workloads_.data()));
  return rank == Family::none || f.queue == nullptr ? std::nullopt : held_back(f, rank);
}

/// It was asked for, is to be active, and nothing keeps it from being made.
bool WorkloadParent::is_on_its_way(const Family& f, std::size_t rank, const Settings& settings) const {
  const WorkloadState& parent = workloads_[f.parent];
  const std::string name = option_object_name(parent, f.specs[rank], settings);
  const auto& asked = parent.family->requested;
  return std::any_of(asked.begin(), asked.end(), [&](const RequestedOption& r) { return r.name == name && r.active && !r.refused; });
}

bool WorkloadParent::option_may_wait(const Family& f, std::size_t rank, const Catalog& catalog) const {
  const WorkloadState& w = workloads_[f.members[rank]];
  const WorkloadState& parent = workloads_[f.parent];
  if (!w.active || w.finished() || w.deleting || w.removal_pending || w.reserved() || !w.quarantined.empty()) return false;
  if (!parent.active || parent.finished() || parent.deleting || parent.removal_pending || !parent.quarantined.empty()) return false;
  if (job_ && (job_->on_hold || !job_->quarantined.empty() || job_->finished)) return false;
  if (w.waits_for(Section::admission)) return false;  // what it had is not written as gone
  // The best comes first, also when it is made last (CA-33, CA-34).
  for (std::size_t better = 0; better < rank; ++better)
    if (f.members[better] == Family::none && is_on_its_way(f, better, catalog.settings)) return false;
  if (!admission_gate(parent, catalog).empty() || parent.is_true(ConditionType::waiting_for_replacement_pods)) return false;
  const auto* lq = catalog.local_queue(parent.namespace_, parent.queue_name);
  if (lq == nullptr || lq->stop_policy != StopPolicy::none || f.queue == nullptr) return false;
  return !held_back(f, rank).has_value();
}

OptionPlace WorkloadParent::option_place(const Family& f, std::size_t rank) const {
  const WorkloadState& parent = workloads_[f.parent];
  const WorkloadState& w = workloads_[f.members[rank]];
  OptionPlace out;
  out.parent = &parent;
  out.allowed = &f.specs[rank].flavors;
  out.info.family = parent.uid;
  out.info.parent_name = parent.name;
  out.info.parent = parent.id;
  out.info.rank = static_cast<std::uint32_t>(rank);
  // What is kept is for the Option that was chosen, and for a better one that is admitted in its stead (CA-53).
  const bool chosen = parent.family->migrating_to == w.uid;
  std::size_t target = Family::none;
  for (std::size_t r = 0; r < f.members.size(); ++r)
    if (f.members[r] != Family::none && workloads_[f.members[r]].uid == parent.family->migrating_to) target = r;
  out.info.held = parent.family->hold.has_value() && !is_stopping(f) && (chosen || (rank < target && !always_waits_for_checks(f, rank)));
  out.info.next = out.info.held && chosen;
  out.info.gated = !option_state(w).gate_open || (w.family_facts && w.family_facts->closed_gate);
  out.info.waits = is_stopping(f);
  if (f.running != Family::none && f.members[rank] != f.running && !workloads_[f.running].evicted())
    out.info.running = workloads_[f.running].id;
  return out;
}

/// Of what a family holds one reservation counts in shares: that of the Option which is admitted, else of the best one (CA-92).
bool WorkloadParent::counts_beside(const Family& f, std::size_t rank) const {
  if (f.running != Family::none) return f.running != f.members[rank];
  for (std::size_t better = 0; better < rank; ++better)
    if (f.members[better] != Family::none && workloads_[f.members[better]].reserved()) return true;
  return false;
}

/// What is kept for the Option that a migration leads to: what it asks for, less what the one before it still holds (CA-59).
std::shared_ptr<const Reservation> WorkloadParent::hold_of(const Family& f, const Catalog& catalog) const {
  const WorkloadState& parent = workloads_[f.parent];
  WorkloadState kept;
  kept.id = parent.id;
  kept.pod_sets = parent.pod_sets;
  kept.reclaimable = parent.reclaimable;
  kept.admission = *parent.family->hold;
  const WorkloadState* before = f.running == Family::none ? nullptr : &workloads_[f.running];
  OptionPlace place;
  static const std::vector<Symbol> any;
  place.parent = &parent;
  place.allowed = &any;
  place.info.family = parent.uid;
  place.info.parent_name = parent.name;
  place.info.parent = parent.id;
  place.info.held = true;
  auto info = std::make_shared<WorkloadInfo>(*make_info(parent, catalog, job_ ? job_->uid : parent.owner_uid, nullptr, &place));
  info->evicted = false;  // whoever may take it has to say so (CA-77)
  auto out = std::make_shared<Reservation>(*make_reservation(kept, std::move(info), before));
  if (before != nullptr)  // its places are kept from when the others have left theirs
    for (auto& p : out->pod_sets) p.topology = TopologyAssignment{};
  out->hold = out->uncounted = true;
  return out;
}

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

// ---- applying ---------------------------------------------------------------------------------------------------------------

/// What is told of the members follows from each other: says it again where it is no longer true.
void WorkloadParent::publish_families(const Context& c, Outbox& out) {
  if (!has_families()) return;
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    // Anybody can make thousands of Options that are none: what has told its queue nothing has nothing to take back.
    const bool stands = placements_[i].kind != Placement::Kind::none;
    if (stands && workloads_[i].is_made_as_option() && role_of(i, *c.catalog) == FamilyRole::stray) publish(i, {}, c, out);
    if (!workloads_[i].family) continue;
    if (!workloads_[i].reserved()) workloads_[i].family->holds_itself = false;  // what it had of its own is over
    publish(i, {}, c, out);
    const Family f = family_of(i, *c.catalog);
    for (const std::size_t stranger : f.strangers) {
      const Placement& at = placements_[stranger];
      if (at.kind == Placement::Kind::none && !workloads_[stranger].reserved()) continue;  // as above
      publish(stranger, {.touched = at.info != nullptr && at.beside != (f.running != stranger)}, c, out, &f);
    }
    for (std::size_t rank = 0; rank < f.members.size(); ++rank) {
      const std::size_t member = f.members[rank];
      if (member == Family::none) continue;
      const WorkloadState& w = workloads_[member];
      const Placement& at = placements_[member];
      Publish how;
      if (at.info != nullptr) {
        const OptionPlace place = option_place(f, rank);
        const auto now = make_info(w, *c.catalog, job_ ? job_->uid : w.owner_uid, nullptr, &place);
        const auto& told = *at.info;
        const bool other_place = told.option == nullptr || *told.option != *now->option || *told.allowed != *now->allowed;
        const bool beside = at.kind == Placement::Kind::reserving && counts_beside(f, rank);
        how.touched = other_place || beside != at.beside || told.priority != now->priority || told.queue_time != now->queue_time ||
                      told.local_queue != now->local_queue || told.requeued_false != now->requeued_false ||
                      told.requeue_at != now->requeue_at;
        how.repush = how.touched && at.kind == Placement::Kind::pending;
      }
      publish(member, how, c, out, &f);
    }
    show_options(f, c);
  }
}

namespace {

std::string option_message(const WorkloadState& w, OptionPhase phase) {
  const auto text = [&](ConditionType type) {
    const auto* condition = w.find(type);
    return condition == nullptr ? std::string() : std::string(condition->message);
  };
  switch (phase) {
    case OptionPhase::finished:
      return text(ConditionType::finished);
    case OptionPhase::admitted:
      return text(w.evicted() ? ConditionType::evicted : ConditionType::admitted);
    case OptionPhase::deactivated:
      if (const std::string_view why = option_state(w).message; !why.empty()) return std::string(why);
      return "The workload is deactivated";
    case OptionPhase::pending:
      if (!w.reserved()) return text(ConditionType::quota_reserved);
      std::string waits;
      for (const auto& check : w.checks)
        if (check.state != CheckState::ready) waits += (waits.empty() ? "" : ", ") + std::string(check.name.text());
      return text(ConditionType::quota_reserved) + (waits.empty() ? "" : ", waiting for admission checks: " + waits);
  }
  return {};
}

}  // namespace

/// CA-100, CA-101: status.options of the Parent.
void WorkloadParent::show_options(const Family& f, const Context& c) {
  WorkloadState& parent = workloads_[f.parent];
  std::vector<OptionStatus> now;
  for (std::size_t rank = 0; rank < f.members.size(); ++rank) {
    if (f.members[rank] == Family::none) continue;
    const WorkloadState& w = workloads_[f.members[rank]];
    OptionStatus one;
    one.name = w.name;
    one.flavors = f.specs[rank].flavors;
    one.phase = w.finished()                   ? OptionPhase::finished
                : w.reserved() && w.admitted() ? OptionPhase::admitted
                : !w.active                    ? OptionPhase::deactivated
                                               : OptionPhase::pending;
    one.message = cut_message(option_message(w, one.phase), limits::finding.size());
    one.last_transition = c.now;
    for (const auto& before : parent.family->options)
      if (before.name == one.name && before.phase == one.phase) one.last_transition = before.last_transition;
    now.push_back(std::move(one));
  }
  for (const std::size_t stranger : f.strangers) {  // as long as the job runs on it
    const WorkloadState& w = workloads_[stranger];
    if (stranger != f.running || w.finished()) continue;
    OptionStatus one;
    one.name = w.name;
    if (w.family_facts) one.flavors = w.family_facts->allowed;
    one.phase = OptionPhase::admitted;
    one.message = cut_message(option_message(w, one.phase), limits::finding.size());
    one.last_transition = c.now;
    for (const auto& before : parent.family->options)
      if (before.name == one.name && before.phase == one.phase) one.last_transition = before.last_transition;
    now.push_back(std::move(one));
  }
  const auto same = [](const OptionStatus& a, const OptionStatus& b) {
    return a.name == b.name && a.phase == b.phase && a.flavors == b.flavors && a.message == b.message;
  };
  if (std::equal(now.begin(), now.end(), parent.family->options.begin(), parent.family->options.end(), same)) return;
  parent.family->options = std::move(now);
  parent.await(Section::options);
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
      if (other.is_made_as_option() && other.option_of() == parent.uid) f(other);
  };
  if (std::holds_alternative<FamilyFormed>(e)) {
    if (w.family || w.finished()) return true;
    w.family.emplace();
    const bool others = std::any_of(workloads_.begin(), workloads_.end(), [&](const WorkloadState& o) {
      return o.is_made_as_option() && o.option_of() == w.uid && o.reserved() && o.admitted();
    });
    w.family->holds_itself = w.reserved() && !others;
    w.family->cycle_start = w.reserved() || !w.created.is_set() ? c.now : w.created;
    if (w.reserved() && w.admitted()) w.family->first_admitted = w.find(ConditionType::admitted)->last_transition;
    w.await(Section::parent_markers);
  } else if (std::holds_alternative<FamilyDissolved>(e)) {
    w.family.reset();
    w.await(Section::parent_markers);
    w.await(Section::options);
  } else if (std::holds_alternative<FamilyReset>(e)) {
    if (!w.family) return true;
    w.family->cycle_start = c.now;
    w.family->first_admitted = Time::never();
    w.family->migrating_to = CompactText();
    w.family->hold.reset();
    options_of(w, [&](WorkloadState& o) {
      if (!o.option) return;
      o.option->passed_over = false;
      o.option->rejected = o.option->rejected && o.reserved() && o.admitted();  // it begins anew because of that (CA-85)
      if (!o.option->rejected) o.option->cause = OptionCause::none;
      if (std::exchange(o.option->gate_open, false)) {
        o.option->gate_since = c.now;
        o.await(Section::preemption_gates);
      }
    });
  } else if (const auto* requested = std::get_if<OptionRequested>(&e)) {
    if (!w.family) return true;
    auto& list = w.family->requested;
    std::erase_if(list, [&](const RequestedOption& r) { return r.name == requested->name; });
    list.push_back({CompactText(requested->name), Symbol(requested->option), own_names(requested->flavors), requested->active,
                    std::string(requested->message), false, c.sequence});
  } else if (const auto* switched = std::get_if<OptionSwitched>(&e)) {
    if (w.finished()) return true;
    if (!w.option) w.option.emplace();
    w.option->cause = switched->cause;
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
    if (const auto* requeued = w.find(ConditionType::requeued); w.active && requeued != nullptr && requeued->is_false())
      w.decide_condition(ConditionType::requeued, ConditionStatus::true_, Symbol("Reactivated"), "The workload was reactivated", c.now);
  } else if (const auto* adopted = std::get_if<OptionAdopted>(&e)) {
    WorkloadState* from = find(adopted->from.uid);
    WorkloadState* parent = find(adopted->parent.uid);
    if (from == nullptr || parent == nullptr || !parent->family || !from->reserved() || w.reserved() || w.finished()) return true;
    if (!w.option) w.option.emplace();
    take_over(w, *from);
    parent->family->shown = w.uid;
    if (from == parent)
      parent->family->holds_itself = false;
    else
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
