// What a Workload parent decides about a family of concurrent admission (8691 §3): which Options there are and which of them go on, who is
// admitted, how a job moves to a better one, who may preempt, and that the Parent shows all of it. Each step is a function of the state
// and is asked again until it says nothing.

#include <algorithm>

#include "admission/scheduling/outcome_text.hpp"
#include "admission/workload/workload_parent.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::admission {
namespace {

constexpr std::string_view migration = "FlavorMigration";

std::string path_of(const WorkloadState& w) { return '"' + std::string(w.namespace_.text()) + "/" + std::string(w.name) + '"'; }

std::string joined(const std::vector<Symbol>& names) {
  std::string out;
  for (const Symbol& name : names) out += (out.empty() ? "" : ",") + std::string(name.text());
  return out;
}

/// An Option goes, and its Parent is told.
WorkloadRemoved removal_of(const WorkloadState& w, std::string_view why, Proposal& p) {
  WorkloadRemoved e;
  e.workload = ref(w, *p.arena);
  e.message = p.message("Variant Workload " + path_of(w) + " deleted; " + std::string(why));
  e.parent = {p.arena->copy(w.option_of()), w.namespace_.text(), p.arena->copy(w.family_facts->parent_name)};
  return e;
}

ReservationCleared cleared(const WorkloadState& w, std::string_view message, bool requeued, Proposal& p) {
  ReservationCleared e;
  e.workload = ref(w, *p.arena);
  e.reason = "PendingEvaluation";
  e.message = p.message(message);
  e.writes_requeued = true;
  e.requeued = requeued;
  const auto* evicted = w.find(ConditionType::evicted);
  e.requeued_reason = evicted != nullptr ? evicted->reason.text() : "PendingEvaluation";
  e.requeued_message = e.message;
  return e;
}

/// Has the scheduler said what it thinks of it since the family began (CA-72)?
bool is_evaluated(const WorkloadState& w) {
  const auto* now = w.find(ConditionType::quota_reserved);
  return now != nullptr && (now->is_true() || now->reason.text() != "PendingEvaluation");
}

bool is_one_of(const Symbol& reason, std::initializer_list<std::string_view> texts) {
  return std::find(texts.begin(), texts.end(), reason.text()) != texts.end();
}

}  // namespace

/// True: something was said.
bool WorkloadParent::reconcile_families(const Context& c, Proposal& p) const {
  const bool gate = c.catalog->settings.concurrent_admission;
  if (!gate && !has_families()) return false;
  std::size_t families = family_table().size(workloads_);
  for (std::size_t i = 0; i < workloads_.size() && !p.full(); ++i) {
    const WorkloadState& w = workloads_[i];
    if (w.deleting && !w.family) continue;
    switch (role_of(i, *c.catalog)) {
      case FamilyRole::parent:
        if (w.family)
          reconcile_family(family_of(i, c), c, p);
        else if (families++ < families_of_one_owner_max)
          p.events.emplace_back(FamilyFormed{ref(w, *p.arena)});
        break;
      case FamilyRole::stray:  // its Parent is none any more, or has gone and nobody collects what it leaves (CA-111)
        if (!w.deleting && !w.removal_pending && !is_awaited(w, *c.catalog))
          p.events.emplace_back(removal_of(w, "its Parent has no Options any more", p));
        break;
      case FamilyRole::refused:
        refuse_family(w, p);
        break;
      case FamilyRole::plain:
      case FamilyRole::option:
        break;
    }
  }
  return !p.events.empty();
}

/// Its Parent is about to be one, as where a log begins beside families that are there.
bool WorkloadParent::is_awaited(const WorkloadState& option, const Catalog& catalog) const {
  return std::any_of(workloads_.begin(), workloads_.end(), [&](const WorkloadState& w) {
    return w.uid == option.option_of() && w.namespace_ == option.namespace_ && !w.deleting && !w.removal_pending &&
           role_of(position_of(w), catalog) == FamilyRole::parent;
  });
}

/// Nobody makes of his owner a thing that it takes long to look at.
void WorkloadParent::refuse_family(const WorkloadState& w, Proposal& p) const {
  constexpr std::string_view why = "more than 256 Workloads of one owner are not supported with concurrent admission";
  static_assert(families_of_one_owner_max == 256);
  const auto* now = w.find(ConditionType::quota_reserved);
  if (!w.active || w.finished() || (now != nullptr && now->is_false() && now->message == why)) return;
  p.events.emplace_back(
      ConditionChanged{ref(w, *p.arena), ConditionType::quota_reserved, ConditionStatus::false_, "Misconfigured", why, false});
}

void WorkloadParent::reconcile_family(const Family& f, const Context& c, Proposal& p) const {
  const WorkloadState& parent = workloads_[f.parent];
  const std::size_t before = p.events.size();
  const auto said = [&] { return p.events.size() != before; };
  if (parent.removal_pending) return;
  if (parent.finished() || parent.deleting) return end_family(f, p);
  if (follow_eviction(f, p)) return;
  if (show_running(f, c, p)) {
    // The others are switched off in the same step: most families have nothing else to decide, and the record is read once.
    const bool settled = parent.family->migrating_to.empty() && !parent.family->holds_itself && !parent.elastic && f.queue != nullptr;
    if (settled && wants_family(parent, *c.catalog)) keep_members(f, c, p);
    return;
  }
  if (admit_ready(f, c, p)) return;
  if (f.queue != nullptr && !wants_family(parent, *c.catalog)) {  // CA-120, CA-125
    const bool running = f.running != Family::none && !workloads_[f.running].evicted();
    if (is_stopping(f)) return;  // it is on its way out: what it holds is free before it stands alone
    if (running && parent.family->shown != workloads_[f.running].uid) return;
    p.events.emplace_back(FamilyDissolved{ref(parent, *p.arena), "Concurrent admission is off for its ClusterQueue"});
    return;
  }
  if (follow_migration(f, p)) return;
  if (f.queue == nullptr) return;  // CA-124: the family is kept
  keep_members(f, c, p);
  if (said()) return;
  give_right(f, c, p);
  tell_pause(f, c, p);
  tell_why_it_waits(f, c, p);
  mirror_to_running(f, p);
}

/// CA-110, CA-111
void WorkloadParent::end_family(const Family& f, Proposal& p) const {
  const WorkloadState& parent = workloads_[f.parent];
  const auto* finished = parent.find(ConditionType::finished);
  for (const std::size_t option : f.options) {
    const WorkloadState& w = workloads_[option];
    if (p.full()) return;
    if (w.deleting || w.removal_pending) continue;
    if (!parent.finished())
      p.events.emplace_back(removal_of(w, "its Parent is deleted", p));
    else if (!w.finished())
      p.events.emplace_back(WorkloadFinished{ref(w, *p.arena), finished->reason.text(), p.message(finished->message)});
  }
}

/// The job has stopped, or whoever made a Workload without a job has given its reservation back.
bool WorkloadParent::drained(const Family& f) const {
  const WorkloadState& parent = workloads_[f.parent];
  const bool of_job = job_ && parent.option_of().empty();  // else it only names one of the job's Workloads as its owner
  return of_job ? at_rest() || job_->finished : !parent.reserved();
}

/// CA-44, CA-60, CA-61: what an eviction of the one means for the other, and that both give back what they hold once the job has stopped.
bool WorkloadParent::follow_eviction(const Family& f, Proposal& p) const {
  const WorkloadState& parent = workloads_[f.parent];
  const WorkloadState* running = f.running == Family::none ? nullptr : &workloads_[f.running];
  const bool shows = parent.reserved() && !parent.family->holds_itself;
  const auto reset = [&](std::string_view why) { p.events.emplace_back(FamilyReset{ref(parent, *p.arena), p.message(why)}); };

  if (shows && running == nullptr && !parent.evicted()) {  // CA-112
    WorkloadEvicted e;
    e.workload = ref(parent, *p.arena);
    e.reason = "ConcurrentAdmission";
    e.message = "No variant is running";
    p.events.emplace_back(e);
    reset("The admitted Option is gone");
    return true;
  }
  if (running != nullptr && running->evicted() && shows && !parent.evicted()) {
    const auto* why = running->find(ConditionType::evicted);
    WorkloadEvicted e;
    e.workload = ref(parent, *p.arena);
    e.reason = "VariantEvicted";
    e.cause = why->reason.text();
    e.message = "Admitted variant was evicted";
    p.events.emplace_back(e);
    if (why->reason.text() != migration) reset("The admitted Option was evicted");
    return true;
  }
  if (running != nullptr && !running->evicted() && shows && parent.evicted()) {  // CA-55, CA-113
    const auto* why = parent.find(ConditionType::evicted);
    WorkloadEvicted e;
    e.workload = ref(*running, *p.arena);
    e.reason = why->reason.text();
    e.message = p.message(why->message);
    p.events.emplace_back(e);
    reset("The Parent was evicted");
    return true;
  }
  if (!is_stopping(f) || !drained(f)) return false;
  const std::size_t before = p.events.size();
  const auto* why = parent.find(ConditionType::evicted);
  if (parent.reserved() && parent.evicted()) {
    // Of what a sibling or another Workload did to it, it is free again at once; other reasons ask for a pause, or for somebody (BA-133).
    const bool again = is_one_of(why->reason, {"VariantEvicted", "ConcurrentAdmission", "Preempted", "NodeFailures"});
    p.events.emplace_back(cleared(parent, why->message, again, p));
  }
  if (running != nullptr && running->evicted()) {
    const auto* reason = running->find(ConditionType::evicted);
    const bool again = !is_one_of(reason->reason, {"AdmissionCheck", "ClusterQueueStopped", "LocalQueueStopped"});
    p.events.emplace_back(cleared(*running, reason->message, again, p));
  }
  return p.events.size() != before;
}

/// CA-42: the Parent shows the admission of the Option that the job runs on. True: it did not yet.
bool WorkloadParent::show_running(const Family& f, const Context& c, Proposal& p) const {
  const WorkloadState& parent = workloads_[f.parent];
  const WorkloadState* running = f.running == Family::none ? nullptr : &workloads_[f.running];
  const bool goes = running != nullptr && !running->evicted() && !(parent.reserved() && parent.evicted());
  const bool unwritten = !parent.reserved() && parent.waits_for(Section::admission);  // see is_stopping
  if (!goes || unwritten) return false;
  const bool shown = parent.family->shown == running->uid && parent.reserved() && parent.admission && running->admission &&
                     parent.admission->pod_sets == running->admission->pod_sets &&
                     parent.admission->cluster_queue == running->admission->cluster_queue;
  if (shown) return false;
  p.events.emplace_back(OptionAdmitted{ref(parent, *p.arena), ref(*running, *p.arena)});
  replace_slice(parent, *running, c, p);
  return true;
}

/// CA-41 to CA-45, CA-81: the best Option whose checks are done is admitted; where another one runs, that one goes first.
bool WorkloadParent::admit_ready(const Family& f, const Context& c, Proposal& p) const {
  const WorkloadState& parent = workloads_[f.parent];
  const WorkloadState* running = f.running == Family::none ? nullptr : &workloads_[f.running];
  if (is_stopping(f)) return false;
  FlavorPositions assigned;
  for (std::size_t rank = 0; rank < f.members.size(); ++rank) {
    if (f.members[rank] == Family::none || f.members[rank] == f.running) continue;
    const WorkloadState& w = workloads_[f.members[rank]];
    const bool ready = w.reserved() && !w.admitted() && !w.evicted() && w.active && !w.finished() && w.checks_ready() && !w.lacks_places();
    if (!ready || !lists_its_checks(w, c)) continue;
    if (const First first = first_of(f); first.member != Family::none && first.member != f.members[rank]) {
      find_positions(*f.queue, *w.admission, assigned);
      if (standing_of(*f.queue, f.specs, rank, *first.flavors) != OptionStanding::upgrade || assigned >= *first.flavors)
        continue;  // what runs, or what the job moves to, is no worse (CA-153)
    }
    if (running == nullptr) {
      p.events.emplace_back(WorkloadAdmitted{ref(w, *p.arena)});
      p.events.emplace_back(OptionAdmitted{ref(parent, *p.arena), ref(w, *p.arena)});
      replace_slice(parent, w, c, p);
      return true;
    }
    if (withheld(f.parent, c)) continue;  // a job that grows does so where it runs (CA-95)
    WorkloadEvicted gone;
    gone.workload = ref(*running, *p.arena);
    gone.reason = migration;
    gone.message = p.message(migrated_message(w.uid));
    p.events.emplace_back(gone);
    MigrationStarted e;
    e.workload = ref(w, *p.arena);
    e.parent = ref(parent, *p.arena);
    e.from = gone.workload;
    e.cluster_queue = w.admission->cluster_queue.text();
    p.events.emplace_back(e);
    return true;
  }
  return false;
}

/// CA-48, CA-54, CA-154: a migration whose target is lost ends, and the family begins anew.
bool WorkloadParent::follow_migration(const Family& f, Proposal& p) const {
  const WorkloadState& parent = workloads_[f.parent];
  const FamilyState& family = *parent.family;
  if (family.migrating_to.empty()) return false;
  const WorkloadState* target = f.target == Family::none ? nullptr : &workloads_[f.target];
  std::string_view why;
  if (target == nullptr || !target->active || target->finished()) {
    why = "The Option that the job was to move to is gone";
  } else if (target->reserved() && !target->admitted() && (!target->checks_ready() || target->evicted())) {
    why = "A check of the Option that the job was to move to is not ready any more";
  } else if (!target->reserved() && !family.hold) {
    why = "The quota that was kept for the Option is gone";
  } else if (!target->reserved() && !is_stopping(f)) {
    const auto* now = target->find(ConditionType::quota_reserved);
    if (now != nullptr && now->is_false() &&
        is_one_of(now->reason, {"WaitingForQuota", "ExceedsMaxQuota", "NoMatchingFlavor", "TopologyPlacementFailed", "AdmissionGated"}))
      why = "The Option that the job was to move to fits no more";
  }
  if (why.empty()) return false;
  p.events.emplace_back(FamilyReset{ref(parent, *p.arena), why});
  return true;
}

// ---- which Options there are, and which of them go on -------------------------------------------------------------------------

/// Is an Option to go on, and why (CA-20 to CA-30)?
WorkloadParent::Wanted WorkloadParent::wanted_of(const Family& f, std::size_t rank, Time now) const {
  const WorkloadState& parent = workloads_[f.parent];
  const FamilyState& family = *parent.family;
  const OptionSpec& spec = f.specs[rank];
  const std::size_t member = f.members[rank];

  if (!parent.active) return {false, OptionCause::parent_inactive};
  if (member != Family::none && option_state(workloads_[member]).rejected) return {false, OptionCause::rejected};
  if (member != Family::none && member == f.running) return {true, OptionCause::none};  // CA-27
  // a delay that is over stays over, however long it is made afterwards (CA-118)
  const bool started = member != Family::none && workloads_[member].active && !option_state(workloads_[member]).anew;
  if (spec.create_delay_seconds > 0 && !started && now < family.cycle_start + Duration::seconds(spec.create_delay_seconds))
    return {false, OptionCause::create_delay};

  const First one = first_of(f);
  if (one.member != Family::none && member == one.member) return {true, OptionCause::none};
  const std::size_t first = one.member;
  if (first == Family::none) return {true, spec.create_delay_seconds > 0 ? OptionCause::create_delay : OptionCause::policy};
  const OptionStanding standing = standing_of(*f.queue, f.specs, rank, *one.flavors);
  // CA-44: the policy applies when the other one is admitted
  const bool yet = first == f.running || member == Family::none || !workloads_[member].active;
  if (standing != OptionStanding::upgrade) return {!yet, yet ? OptionCause::policy : OptionCause::none, standing, first};
  if (spec.delete_delay_seconds && family.first_admitted.is_set() &&
      now >= family.first_admitted + Duration::seconds(*spec.delete_delay_seconds))
    return {false, OptionCause::delete_delay, standing, first};
  return {true, OptionCause::policy, standing, first};
}

/// The same in words (8691 §2.8).
std::string WorkloadParent::text_of(const Wanted& wanted, const Family& f, std::size_t rank) const {
  const OptionSpec& spec = f.specs[rank];
  const auto text = [&](auto... parts) {
    return ((std::string("Variant Workload ") + (wanted.active ? "activated" : "deactivated") + " due to ") + ... + std::string(parts));
  };
  const auto seconds = [](std::int32_t n) { return "(" + std::to_string(n) + "s)"; };
  const bool alone = wanted.first == Family::none;
  switch (wanted.cause) {
    case OptionCause::none:
      return {};
    case OptionCause::parent_inactive:
      return text("Parent Workload ", path_of(workloads_[f.parent]), " not active");
    case OptionCause::rejected:
      return std::string(option_state(workloads_[f.members[rank]]).message.value());
    case OptionCause::create_delay:
      return text("createDelaySeconds ", seconds(spec.create_delay_seconds), wanted.active ? " elapsed" : " not elapsed");
    case OptionCause::delete_delay:
      return text("deleteDelaySeconds ", seconds(*spec.delete_delay_seconds), " elapsed");
    case OptionCause::policy:
      break;
  }
  if (alone) return text("no other Variant being admitted");
  const std::string other = path_of(workloads_[wanted.first]);
  const std::string target = '"' + std::string(f.queue->concurrent.target.text()) + '"';
  switch (wanted.standing) {
    case OptionStanding::retained:
      return text("RetainFirstAdmission: another Variant ", other, " is admitted");
    case OptionStanding::below_target:
      return text("being below lastAcceptableFlavor: ", target, " and another Variant admitted ", other);
    case OptionStanding::lower:
      return text("being lower priority than admitted Variant ", other);
    case OptionStanding::upgrade:
      break;
  }
  return f.queue->concurrent.on_success == OnSuccess::remove_below_target
             ? text("being at least lastAcceptableFlavor: ", target, " and higher priority than admitted Variant ", other)
             : text("being higher priority than admitted Variant ", other);
}

/// CA-3 to CA-11, CA-20 to CA-30, CA-112 to CA-118.
void WorkloadParent::keep_members(const Family& f, const Context& c, Proposal& p) const {
  const WorkloadState& parent = workloads_[f.parent];
  const FamilyState& family = *parent.family;

  if (family.holds_itself && parent.reserved() && !parent.evicted()) {  // CA-120: an Option takes over what it holds
    const auto held = parent.admission ? *parent.admission : Admission{};
    for (std::size_t rank = 0; rank < f.members.size(); ++rank) {
      const auto& flavors = f.specs[rank].flavors;
      const bool covers = std::all_of(held.pod_sets.begin(), held.pod_sets.end(), [&](const PodSetReservation& a) {
        return std::all_of(a.flavors.begin(), a.flavors.end(),
                           [&](const auto& choice) { return std::find(flavors.begin(), flavors.end(), choice.second) != flavors.end(); });
      });
      if (!covers || f.members[rank] == Family::none) continue;
      const WorkloadState& w = workloads_[f.members[rank]];
      if (w.reserved() || w.finished()) continue;
      if (!w.active) p.events.emplace_back(OptionSwitched{ref(w, *p.arena), ref(parent, *p.arena), true, OptionCause::none, {}});
      p.events.emplace_back(OptionAdopted{ref(w, *p.arena), ref(parent, *p.arena), ref(parent, *p.arena)});
      return;
    }
  }

  // CA-113: it was reactivated, and begins anew.
  const auto was_off = [&](std::size_t member) {
    return member != Family::none && option_state(workloads_[member]).cause == OptionCause::parent_inactive;
  };
  if (parent.active && std::any_of(f.members.begin(), f.members.end(), was_off)) {
    p.events.emplace_back(FamilyReset{ref(parent, *p.arena), "The Parent was reactivated"});
    return;
  }
  // CA-84: nobody is left who could be admitted.
  const auto is_rejected = [&](std::size_t member) { return member != Family::none && option_state(workloads_[member]).rejected; };
  if (!f.members.empty() && parent.active && std::all_of(f.members.begin(), f.members.end(), is_rejected) && !parent.reserved() &&
      !parent.is_true(ConditionType::deactivation_target)) {
    const auto& last = option_state(workloads_[f.members.back()]).message.value();
    p.events.emplace_back(ConditionChanged{ref(parent, *p.arena), ConditionType::deactivation_target, ConditionStatus::true_,
                                           "AdmissionCheck", p.message(last), false});
    return;
  }

  for (const std::size_t s : f.strangers) {
    const WorkloadState& w = workloads_[s];
    if (w.deleting || w.removal_pending || p.full()) continue;
    const std::string flavors = w.family_facts ? joined(w.family_facts->allowed) : std::string();
    const auto has_flavors_of = [&](const OptionSpec& spec) {
      return w.family_facts &&
             std::is_permutation(spec.flavors.begin(), spec.flavors.end(), w.family_facts->allowed.begin(), w.family_facts->allowed.end());
    };
    if (s == f.running) {  // CA-115, CA-118: it goes when the job has stopped
      if (w.evicted()) continue;
      std::size_t heir = Family::none;  // the same flavors under another name
      for (std::size_t r = 0; r < f.members.size(); ++r)
        if (f.members[r] != Family::none && has_flavors_of(f.specs[r]) && asks_for_the_same(w, parent)) heir = f.members[r];
      if (heir != Family::none && !workloads_[heir].reserved()) {
        p.events.emplace_back(OptionAdopted{ref(workloads_[heir], *p.arena), ref(parent, *p.arena), ref(w, *p.arena)});
        return;
      }
      const bool coming = asks_for_the_same(w, parent) && std::any_of(f.specs.begin(), f.specs.end(), has_flavors_of);
      if (coming) continue;  // first its heir is made
      WorkloadEvicted e;
      e.workload = ref(w, *p.arena);
      e.reason = "ConcurrentAdmission";
      e.message = p.message("Flavor \"" + flavors + "\" is no longer in the ClusterQueue");
      p.events.emplace_back(e);
      continue;
    }
    WorkloadRemoved e;
    e.workload = ref(w, *p.arena);
    const bool other_pods = !asks_for_the_same(w, parent);
    e.message = p.message("Variant Workload " + path_of(w) + " deleted; " +
                          (other_pods ? "its Parent asks for something else now" : "flavor \"" + flavors + "\" no longer in ClusterQueue"));
    e.parent = ref(parent, *p.arena);
    p.events.emplace_back(e);
  }
  if (const std::size_t rank = f.rank_of(f.running); f.running != Family::none && rank != Family::none && !p.full()) {  // CA-118
    const WorkloadState& w = workloads_[f.running];
    const auto& allowed = f.specs[rank].flavors;
    const auto assigned = assigned_flavors(*w.admission);
    const auto gone = std::find_if(assigned.begin(), assigned.end(), [&](const Symbol& flavor) {
      return std::find(allowed.begin(), allowed.end(), flavor) == allowed.end();
    });
    if (gone != assigned.end() && !w.evicted()) {
      WorkloadEvicted e;
      e.workload = ref(w, *p.arena);
      e.reason = "ConcurrentAdmission";
      e.message = p.message("Flavor \"" + std::string(gone->text()) + "\" is no longer one of this variant");
      p.events.emplace_back(e);
    }
  }
  for (const std::size_t member : f.members) {  // nothing ends an Option but its Parent's end: somebody else wrote that
    if (member == Family::none || p.full()) continue;
    const WorkloadState& w = workloads_[member];
    if (w.finished() && !w.deleting && !w.removal_pending)
      p.events.emplace_back(removal_of(w, "it is finished, and its Parent goes on", p));
  }
  if (p.events.size() != 0 && p.full()) return;

  // Deactivations first (CA-30).
  for (const bool active : {false, true}) {
    for (std::size_t rank = 0; rank < f.specs.size() && !p.full(); ++rank) {
      const Wanted wanted = wanted_of(f, rank, c.now);
      if (wanted.active != active) continue;
      if (f.members[rank] == Family::none) {
        const std::string name = option_object_name(parent, f.specs[rank], c.catalog->settings);
        const auto& asked = family.requested;
        if (std::any_of(asked.begin(), asked.end(), [&](const RequestedOption& r) { return r.name == name; })) continue;
        OptionRequested e;
        e.workload = ref(parent, *p.arena);
        e.name = p.arena->copy(name);
        e.option = f.specs[rank].name.text();
        auto flavors = p.arena->make<Text>(f.specs[rank].flavors.size());
        for (std::size_t i = 0; i < flavors.size(); ++i) flavors[i] = f.specs[rank].flavors[i].text();
        e.flavors = flavors;
        e.active = wanted.active;
        if (!wanted.active) e.message = p.message(text_of(wanted, f, rank));
        p.events.emplace_back(e);
        continue;
      }
      const WorkloadState& w = workloads_[f.members[rank]];
      // That the Parent was inactive is remembered also of what was inactive before: all of it begins anew with the Parent.
      const bool notes = wanted.cause == OptionCause::parent_inactive && option_state(w).cause != OptionCause::parent_inactive;
      if ((w.active == wanted.active && !notes) || w.finished() || w.deleting || w.removal_pending) continue;
      p.events.emplace_back(
          OptionSwitched{ref(w, *p.arena), ref(parent, *p.arena), wanted.active, wanted.cause, p.message(text_of(wanted, f, rank))});
    }
  }
}

// ---- the right to preempt ---------------------------------------------------------------------------------------------------

/// CA-70 to CA-75: one Option of a family may preempt at a time, the best that has to.
void WorkloadParent::give_right(const Family& f, const Context& c, Proposal& p) const {
  const WorkloadState& parent = workloads_[f.parent];
  const Duration time_limit = c.catalog->settings.preemption_right_timeout;
  const auto change = [&](const WorkloadState& w, bool open, bool unused) {
    p.events.emplace_back(PreemptionGateChanged{ref(w, *p.arena), ref(parent, *p.arena), open, unused});
  };
  // An upgrade that may not preempt has no use for the right (CA-146).
  const bool upgrades_only = f.running != Family::none && !workloads_[f.running].evicted();
  const bool may_not = upgrades_only && f.queue->concurrent.upgrades == UpgradeFungibility::no_preemption;
  for (const std::size_t member : f.members) {
    if (member == Family::none || !option_state(workloads_[member]).gate_open) continue;
    const WorkloadState& w = workloads_[member];
    if (w.finished() || !w.active || w.admitted() || (may_not && !w.reserved())) return change(w, false, false);
    const bool over = time_limit.micros > 0 && !w.reserved() && c.now >= w.option->gate_since + time_limit;
    if (over) change(w, false, true);
    return;  // it has the right
  }
  if (may_not) return;
  std::size_t first = Family::none;
  std::size_t second = Family::none;  // had its time, and is asked again when nobody else is
  for (std::size_t rank = 0; rank < f.members.size(); ++rank) {
    const std::size_t member = f.members[rank];
    if (member == Family::none) {
      if (is_on_its_way(f, rank, c.catalog->settings)) return;
      continue;
    }
    if (member == f.running) continue;
    const WorkloadState& w = workloads_[member];
    if (!w.active || w.finished() || w.reserved()) continue;
    if (placements_[member].kind != Placement::Kind::pending) continue;  // it is not to be tried now
    if (w.is_true(ConditionType::blocked_on_preemption_gates)) {
      if (!option_state(w).passed_over) {
        if (first == Family::none) first = member;
      } else if (second == Family::none || option_state(w).gate_since < option_state(workloads_[second]).gate_since) {
        second = member;  // whose turn is the longest ago
      }
    } else if (!is_evaluated(w)) {
      return;  // each says first what it needs: a better one needs the right more, and a worse one may fit without
    }
  }
  if (const std::size_t next = first != Family::none ? first : second; next != Family::none) change(workloads_[next], true, false);
}

// ---- what the Parent shows, and what it says for all --------------------------------------------------------------------------

/// Why better Options rest after a move that came to nothing, and that they are tried again.
void WorkloadParent::tell_pause(const Family& f, const Context& c, Proposal& p) const {
  constexpr std::string_view rests = "Moving to this variant is not tried before ";
  for (std::size_t rank = 0; rank < f.members.size() && !p.full(); ++rank) {
    const std::size_t member = f.members[rank];
    if (member == Family::none || placements_[member].kind != Placement::Kind::pending) continue;
    const Time until = option_place(f, rank, c).not_before;
    const auto* now = workloads_[member].find(ConditionType::quota_reserved);
    const std::string_view told = now == nullptr ? std::string_view() : std::string_view(now->message);
    std::string message;
    if (until.is_set())
      message = std::string(rests) + format_rfc3339(until) + ", for what the last move gained was lost within 10 minutes";
    else if (told.starts_with(rests))
      message = "Workload is pending evaluation in the scheduling queue";
    if (message.empty() || told == message) continue;
    p.events.emplace_back(ConditionChanged{ref(workloads_[member], *p.arena), ConditionType::quota_reserved, ConditionStatus::false_,
                                           "PendingEvaluation", p.message(message), false});
  }
}

/// CA-106
void WorkloadParent::tell_why_it_waits(const Family& f, const Context& c, Proposal& p) const {
  const WorkloadState& parent = workloads_[f.parent];
  if (parent.reserved() || !parent.active || parent.finished()) return;
  if (!parent.family->migrating_to.empty()) return;  // it is about to be admitted again
  // what keeps the Parent itself from waiting, it says by itself (reconcile_parent)
  if (!admission_gate(parent, *c.catalog).empty() || c.catalog->local_queue(parent.namespace_, parent.queue_name) == nullptr) return;
  std::string_view reason;
  std::string message;
  for (std::size_t rank = 0; rank < f.members.size(); ++rank) {
    if (f.members[rank] == Family::none) continue;
    const WorkloadState& w = workloads_[f.members[rank]];
    if (!w.active) continue;
    const auto* now = w.find(ConditionType::quota_reserved);
    if (now == nullptr || now->reason.text() == "Deactivated") continue;  // it was just switched on
    if (reason.empty()) reason = now->is_true() ? "PendingEvaluation" : now->reason.text();
    message += (message.empty() ? "" : "; ") + std::string(f.specs[rank].name.text()) + ": " + std::string(now->message);
  }
  if (f.specs.empty()) {  // CA-8
    reason = "Misconfigured";
    message = "No flavor of the ClusterQueue is among those that the workload may be assigned";
  }
  if (reason.empty()) return;
  const auto* now = parent.find(ConditionType::quota_reserved);
  const Text wanted = p.message(cut_message(message, limits::condition_message.size()));
  if (now != nullptr && now->is_false() && now->reason.text() == reason && now->message == wanted) return;
  p.events.emplace_back(
      ConditionChanged{ref(parent, *p.arena), ConditionType::quota_reserved, ConditionStatus::false_, reason, wanted, false});
}

/// What is known of the job goes to the Option that it runs on (CA-55, CA-57), and what its user changed to all of them (CA-122, CA-123).
void WorkloadParent::mirror_to_running(const Family& f, Proposal& p) const {
  const WorkloadState& parent = workloads_[f.parent];
  for (std::size_t rank = 0; rank < f.members.size(); ++rank) {
    const std::size_t member = f.members[rank];
    if (member == Family::none || p.full()) continue;
    const WorkloadState& w = workloads_[member];
    if (w.finished() || w.deleting || w.removal_pending || w.revision_pending) continue;
    const bool smaller = parent.elastic && !std::equal(w.pod_sets.begin(), w.pod_sets.end(), parent.pod_sets.begin(), parent.pod_sets.end(),
                                                       [](const PodSetSpec& a, const PodSetSpec& b) { return a.count == b.count; });
    const auto& flavors = f.specs[rank].flavors;
    const auto& allowed = w.family_facts->allowed;
    const bool restricted = w.family_facts->constrained &&
                            std::is_permutation(allowed.begin(), allowed.end(), flavors.begin(), flavors.end());  // CA-11, CA-118
    if (!restricted || smaller || w.queue_name != parent.queue_name || w.priority != parent.priority ||
        w.priority_class != parent.priority_class || w.priority_class_kind != parent.priority_class_kind) {
      WorkloadRevised e;
      e.workload = ref(w, *p.arena);
      e.queue_name = parent.queue_name.text();
      e.priority = parent.priority.value_or(0);
      e.priority_class_kind = parent.priority_class_kind;
      e.priority_class = parent.priority_class.text();
      if (parent.max_exec_seconds > 0) e.max_exec_seconds = parent.max_exec_seconds;
      if (smaller) {  // CA-95
        std::vector<PodSetCount> counts;
        for (const auto& pod_set : parent.pod_sets) counts.push_back({pod_set.name.text(), pod_set.count});
        e.counts = p.arena->copy(counts);
      }
      p.events.emplace_back(e);
    }
  }
  if (f.running == Family::none) return;
  const WorkloadState& w = workloads_[f.running];
  if (w.evicted() || w.finished()) return;
  if (w.reclaimable != parent.reclaimable) {
    std::vector<PodSetCount> counts;
    for (const auto& [name, count] : parent.reclaimable) counts.push_back({name.text(), count});
    p.events.emplace_back(ReclaimableChanged{ref(w, *p.arena), p.arena->copy(counts)});
  }
  const auto* ready = parent.find(ConditionType::pods_ready);
  const auto* shown = w.find(ConditionType::pods_ready);
  if (ready != nullptr && (shown == nullptr || shown->status != ready->status || shown->reason != ready->reason))
    p.events.emplace_back(ConditionChanged{ref(w, *p.arena), ConditionType::pods_ready, ready->status, ready->reason.text(),
                                           p.message(ready->message), false});
}

/// When something is to be done for the family that nothing but time brings about; never: nothing is.
Time WorkloadParent::family_due(const Family& f, const Context& c) const {
  const WorkloadState& parent = workloads_[f.parent];
  const FamilyState& family = *parent.family;
  const Duration right = c.catalog->settings.preemption_right_timeout;
  Time due;
  if (f.queue == nullptr || parent.deleting || parent.removal_pending) return due;
  const auto consider = [&](Time t) {
    if (t > c.now && (!due.is_set() || t < due)) due = t;
  };
  if (f.running != Family::none) consider(family.paused_until);
  for (std::size_t rank = 0; rank < f.members.size(); ++rank) {
    const OptionSpec& spec = f.specs[rank];
    const std::size_t member = f.members[rank];
    if (member == Family::none) continue;
    const WorkloadState& w = workloads_[member];
    // only where it changes something then: a time at which nothing is decided would hide a later one
    const auto consider_switch = [&](Time t) {
      if (wanted_of(f, rank, t).active != w.active) consider(t);
    };
    if (spec.create_delay_seconds > 0) consider_switch(family.cycle_start + Duration::seconds(spec.create_delay_seconds));
    if (spec.delete_delay_seconds && family.first_admitted.is_set())
      consider_switch(family.first_admitted + Duration::seconds(*spec.delete_delay_seconds));
    if (option_state(w).gate_open && !w.reserved() && right.micros > 0) consider(w.option->gate_since + right);
  }
  return due;
}

}  // namespace hindsight::admission
