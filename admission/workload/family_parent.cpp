// What the members of a family of concurrent admission are to each other (8691): who is what, who of them waits, and what each holds.

#include <algorithm>

#include "admission/workload/workload_parent.hpp"

namespace hindsight::admission {

// ---- who is what ------------------------------------------------------------------------------------------------------------

bool WorkloadParent::has_families() const {
  return std::any_of(workloads_.begin(), workloads_.end(),
                     [](const WorkloadState& w) { return w.family.has_value() || w.is_made_as_option(); });
}

bool WorkloadParent::wants_family(const WorkloadState& w, const Catalog& catalog) {
  if (!catalog.settings.concurrent_admission || w.is_made_as_option()) return false;
  const auto* queue = catalog.queue(cluster_queue_of(w, catalog));
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
  if (family_table().size(workloads_) < families_of_one_owner_max) return FamilyRole::parent;
  return w.reserved() ? FamilyRole::plain : FamilyRole::refused;
}

/// Is the job of the family on its way to a stop, so that nobody may be admitted in its place yet (CA-61, CA-67)?
bool WorkloadParent::is_stopping(const Family& f) const {
  const WorkloadState& parent = workloads_[f.parent];
  // Before another one is admitted it has to be written that the old admission is over: of the Parent, whose admission cannot be replaced
  // by another one, and of the Option, so that nobody ever sees two of them admitted (CA-43).
  const auto is_unwritten = [](const WorkloadState& w) { return !w.reserved() && w.waits_for(Section::admission); };
  const bool unwritten = is_unwritten(parent) || std::any_of(f.options.begin(), f.options.end(),
                                                             [&](std::size_t option) { return is_unwritten(workloads_[option]); });
  const bool lost = parent.reserved() && !parent.family->holds_itself && f.running == Family::none;  // CA-112
  return unwritten || lost || (f.running != Family::none && workloads_[f.running].evicted()) || (parent.reserved() && parent.evicted());
}

/// Each of the flavors that it may be assigned asks for a check, so that quota alone does not admit it.
bool WorkloadParent::always_waits_for_checks(const Family& f, std::size_t rank) {
  return std::all_of(f.specs[rank].flavors.begin(), f.specs[rank].flavors.end(), [&](const Symbol& flavor) {
    return std::any_of(f.queue->checks.begin(), f.queue->checks.end(), [&](const CheckRule& rule) {
      return rule.on_flavors.empty() || std::find(rule.on_flavors.begin(), rule.on_flavors.end(), flavor) != rule.on_flavors.end();
    });
  });
}

/// Who is admitted: while a job moves, the Option that it moves to.
WorkloadParent::First WorkloadParent::first_of(const Family& f) const {
  if (f.running != Family::none && !workloads_[f.running].evicted()) return {f.running, &f.running_on};
  return {f.target, &f.target_on};  // who is on its way out is none
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
  const First first = first_of(f);
  if (first.member == Family::none || first.member == f.members[rank]) return std::nullopt;
  switch (standing_of(*f.queue, f.specs, rank, *first.flavors)) {
    case OptionStanding::upgrade:
      // While the job moves, only who is better than its aim in any case may take its place (CA-53): one of several flavors could be
      // assigned a worse one, as the one that the job comes from was, and the job would move again and again.
      if (first.member == f.running || is_surely_better(*f.queue, f.specs[rank].positions, *first.flavors)) return std::nullopt;
      break;
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
  const Family& f = family_of(parent, c);
  const std::size_t rank = f.rank_of(position_of(w));
  return rank == Family::none || f.queue == nullptr ? std::nullopt : held_back(f, rank);
}

/// It was asked for, is to be active, and nothing keeps it from being made.
bool WorkloadParent::is_on_its_way(const Family& f, std::size_t rank, const Settings& settings) const {
  const WorkloadState& parent = workloads_[f.parent];
  const std::string name = option_object_name(parent, f.specs[rank], settings);
  const auto& asked = parent.family->requested;
  return std::any_of(asked.begin(), asked.end(), [&](const RequestedOption& r) { return r.name == name && r.active && !r.refused; });
}

bool WorkloadParent::option_may_wait(const Family& f, std::size_t rank, const Context& c) const {
  const Catalog& catalog = *c.catalog;
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
  if (withheld(f.parent, c)) return false;  // CA-95
  return !held_back(f, rank).has_value();
}

OptionPlace WorkloadParent::option_place(const Family& f, std::size_t rank, const Context& c) const {
  const WorkloadState& parent = workloads_[f.parent];
  const WorkloadState& w = workloads_[f.members[rank]];
  OptionPlace out;
  out.parent = &parent;
  out.allowed = {f.plan, &f.specs[rank].flavors};
  out.info.family = parent.uid;
  out.info.parent_name = parent.name;
  out.info.parent = parent.id;
  out.info.rank = static_cast<std::uint32_t>(rank);
  // What is kept is for the Option that was chosen, and for a better one that is admitted in its stead (CA-53).
  const bool chosen = f.target == f.members[rank];
  const bool better =
      f.target != Family::none && rank < f.rank_of(f.target) && is_surely_better(*f.queue, f.specs[rank].positions, f.target_on);
  out.info.held = parent.family->hold.has_value() && !is_stopping(f) && (chosen || (better && !always_waits_for_checks(f, rank)));
  out.info.next = out.info.held;  // the better ones come first among themselves, and the chosen one is the last of them
  out.info.gated = !option_state(w).gate_open || (w.family_facts && w.family_facts->closed_gate);
  out.info.waits = is_stopping(f);
  if (f.running != Family::none && f.members[rank] != f.running && !workloads_[f.running].evicted()) {
    out.info.running = workloads_[f.running].id;
    out.info.running_uid = workloads_[f.running].uid;
    out.info.running_name = workloads_[f.running].name;
    if (parent.family->paused_until > c.now) out.not_before = parent.family->paused_until;
  }
  return out;
}

/// It is none of the Options any more, or its family has no queue now. What it holds is the family's all the same.
OptionPlace WorkloadParent::place_of_stranger(const Family& f, const WorkloadState& w) const {
  const WorkloadState& parent = workloads_[f.parent];
  OptionPlace out;
  out.parent = &parent;
  out.allowed = std::make_shared<const std::vector<Symbol>>(w.family_facts->allowed);
  out.info.family = parent.uid;
  out.info.parent_name = parent.name;
  out.info.parent = parent.id;
  out.info.rank = static_cast<std::uint32_t>(f.specs.size());
  out.info.gated = true;
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
  place.parent = &parent;
  place.allowed = std::make_shared<const std::vector<Symbol>>();
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

}  // namespace hindsight::admission
