#include "tests/explorer/family_rules.hpp"

#include <algorithm>

#include "admission/domain/domain.hpp"
#include "admission/model/option_name.hpp"
#include "admission/model/slices.hpp"
#include "admission/options/option_plan.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "tests/explorer/holdings.hpp"

namespace hindsight::explorer {
namespace {

using admission::Catalog;
using admission::QueueConfig;
using admission::StateView;
using admission::WorkloadParent;
using admission::WorkloadState;

using Positions = admission::FlavorPositions;

std::string name_of(const WorkloadState& w) { return "Workload " + std::string(w.name) + " (" + std::string(w.uid) + ")"; }

/// Calls `f` with each flavor of the queue, in its order.
template <class F>
void each_flavor(const QueueConfig& queue, F&& f) {
  for (const auto& group : queue.groups)
    for (const auto& flavor : group.flavors) f(flavor.flavor);
}

bool is_among(const Symbol& flavor, const std::vector<Symbol>& flavors) { return std::ranges::find(flavors, flavor) != flavors.end(); }

/// Ascending; flavors that the queue does not have have no place (CA-31).
Positions positions_of(const QueueConfig& queue, const std::vector<Symbol>& flavors) {
  Positions out;
  std::uint32_t position = 0;
  each_flavor(queue, [&](const Symbol& flavor) {
    if (is_among(flavor, flavors)) out.push_back(position);
    ++position;
  });
  return out;
}

std::vector<Symbol> flavors_of(const admission::Admission& admission) {
  std::vector<Symbol> out;
  for (const auto& p : admission.pod_sets)
    for (const auto& [resource, flavor] : p.flavors) out.push_back(flavor);
  return out;
}

std::vector<Symbol> assigned_to(const WorkloadState& w) { return flavors_of(*w.admission); }

/// An Option that a Parent is to have.
struct Wanted {
  std::string name;
  std::vector<Symbol> flavors;
  Positions positions;
  std::int32_t create_delay = 0;
  std::optional<std::int32_t> delete_delay;
};

/// By rank (CA-3, CA-4, CA-8, CA-31).
std::vector<Wanted> wanted_options(const QueueConfig& queue, const WorkloadState& parent, const std::vector<Symbol>& pinned,
                                   const Catalog& catalog) {
  std::vector<Wanted> out;
  const auto allowed = [&](const Symbol& flavor) {
    if (!pinned.empty() && !is_among(flavor, pinned)) return false;
    return !parent.family_facts || !parent.family_facts->constrained || is_among(flavor, parent.family_facts->allowed);
  };
  const auto limit = catalog.settings.short_workload_names ? admission::short_option_name_limit : admission::option_name_limit;
  const auto add = [&](const Symbol& name, const std::vector<Symbol>& flavors, std::int32_t create, std::optional<std::int32_t> destroy) {
    Wanted w;
    each_flavor(queue, [&](const Symbol& flavor) {
      if (allowed(flavor) && is_among(flavor, flavors)) w.flavors.push_back(flavor);
    });
    if (w.flavors.empty()) return;
    w.name = admission::option_name(parent.name, parent.uid, name.text(), limit, is_among(name, parent.family->foreign));
    w.positions = positions_of(queue, w.flavors);
    w.create_delay = create;
    w.delete_delay = destroy;
    out.push_back(std::move(w));
  };
  if (queue.concurrent.options.empty()) each_flavor(queue, [&](const Symbol& flavor) { add(flavor, {flavor}, 0, std::nullopt); });
  for (const auto& o : queue.concurrent.options) add(o.name, o.flavors, o.create_delay_seconds, o.delete_delay_seconds);
  std::ranges::stable_sort(out, {}, &Wanted::positions);
  return out;
}

/// Is the Option to go on while one is admitted on flavors with these positions (CA-20 to CA-22, CA-153)?
bool keeps(const QueueConfig& queue, const std::vector<Wanted>& options, std::size_t rank, const Positions& admitted) {
  if (queue.concurrent.on_success == OnSuccess::remove_other || options[rank].positions >= admitted) return false;
  if (queue.concurrent.on_success == OnSuccess::remove_lower) return true;
  for (std::size_t i = options.size(); i-- > 0;)  // CA-32
    if (is_among(queue.concurrent.target, options[i].flavors)) return rank <= i;
  return options[rank].positions <= positions_of(queue, {queue.concurrent.target});
}

/// Is an Option with these flavors better than what another one was assigned, whichever of them it is assigned (CA-53, CA-153)?
bool is_always_better(const QueueConfig& queue, const std::vector<Symbol>& flavors, const std::vector<Symbol>& assigned) {
  std::vector<Symbol> worst;
  for (const auto& group : queue.groups) {
    const Symbol* last = nullptr;
    bool asked_for = false;
    for (const auto& flavor : group.flavors) {
      if (is_among(flavor.flavor, flavors)) last = &flavor.flavor;
      asked_for = asked_for || is_among(flavor.flavor, assigned);
    }
    if (asked_for && last != nullptr) worst.push_back(*last);
  }
  return positions_of(queue, worst) < positions_of(queue, assigned);
}

/// A slice that is to replace one that runs is tried where that one runs (CA-95). Empty: anywhere.
std::vector<Symbol> pinned_to(const WorkloadParent& entity, const WorkloadState& slice) {
  if (!slice.elastic || slice.admitted()) return {};
  for (const auto& other : entity.workloads())
    if (admission::is_slice(other) && admission::is_live(other) && other.reserved() && !slice.replacement_for.empty() &&
        admission::names(slice, other))
      return assigned_to(other);
  return {};
}

/// A family as it is to be by its queue.
struct Family {
  const WorkloadState* parent = nullptr;
  const QueueConfig* queue = nullptr;
  std::vector<Wanted> options;                  ///< By rank.
  std::vector<const WorkloadState*> members;    ///< By rank; null: it is not there.
  std::vector<const WorkloadState*> strangers;  ///< Options of the Parent that it is not to have.
  const WorkloadState* admitted = nullptr;
  Positions admitted_on;
  bool stopping = false;  ///< The job is to stop, or stops (CA-61, CA-67).
};

Family family_of(const WorkloadParent& entity, const WorkloadState& parent, const Catalog& catalog) {
  Family f;
  f.parent = &parent;
  if (const auto* local = catalog.local_queue(parent.namespace_, parent.queue_name)) f.queue = catalog.queue(local->cluster_queue);
  if (f.queue != nullptr && f.queue->concurrent.enabled) f.options = wanted_options(*f.queue, parent, pinned_to(entity, parent), catalog);
  f.members.resize(f.options.size());
  for (const auto& w : entity.workloads()) {
    if (parent_of(entity, w) != &parent) continue;
    const auto it = std::ranges::find_if(f.options, [&](const Wanted& o) { return o.name == w.name.view(); });
    if (it == f.options.end() || !admission::asks_for_the_same(w, parent)) {
      f.strangers.push_back(&w);
      continue;
    }
    auto& member = f.members[static_cast<std::size_t>(it - f.options.begin())];
    if (member != nullptr) f.strangers.push_back(member);  // it has gone, and that is not told yet
    member = &w;
  }
  f.admitted = admitted_option(entity, parent);
  if (f.admitted != nullptr && f.queue != nullptr) f.admitted_on = positions_of(*f.queue, assigned_to(*f.admitted));
  // Nor before it is written that what was admitted is no more (CA-43).
  const bool unwritten = std::ranges::any_of(entity.workloads(), [&](const WorkloadState& w) {
    return (&w == &parent || parent_of(entity, w) == &parent) && !w.reserved() && w.waits_for(admission::Section::admission);
  });
  const bool lost = parent.reserved() && !parent.family->holds_itself && f.admitted == nullptr;  // CA-112
  f.stopping = unwritten || lost || (f.admitted != nullptr && f.admitted->evicted()) || (parent.reserved() && parent.evicted());
  return f;
}

/// Whatever of its flavors an Option is assigned, it has to wait for a check.
bool always_waits_for_checks(const QueueConfig& queue, const Wanted& option) {
  return std::ranges::all_of(option.flavors, [&](const Symbol& flavor) {
    return std::ranges::any_of(queue.checks,
                               [&](const auto& rule) { return rule.on_flavors.empty() || is_among(flavor, rule.on_flavors); });
  });
}

/// CA-26, CA-67, CA-120
bool may_be_tried(const Family& f, std::size_t rank) {
  if (f.parent->family->holds_itself && f.parent->reserved()) return false;
  if (f.stopping) return always_waits_for_checks(*f.queue, f.options[rank]);
  if (f.admitted != nullptr) return keeps(*f.queue, f.options, rank, f.admitted_on);
  // CA-44, CA-53: the one that the job moves to counts as admitted on what is kept for it, and only who is better in any case comes before.
  for (std::size_t target = 0; target < f.members.size(); ++target) {
    const WorkloadState* w = f.members[target];
    if (w == nullptr || w->uid != f.parent->family->migrating_to) continue;
    const auto& kept = f.parent->family->hold ? f.parent->family->hold : w->admission;
    const std::vector<Symbol> flavors = kept ? flavors_of(*kept) : f.options[target].flavors;
    return rank == target || (keeps(*f.queue, f.options, rank, positions_of(*f.queue, flavors)) &&
                              is_always_better(*f.queue, f.options[rank].flavors, flavors));
  }
  return true;
}

/// It was asked for, and nobody refused it.
bool is_on_its_way(const Family& f, std::size_t rank) {
  return std::ranges::any_of(f.parent->family->requested,
                             [&](const auto& r) { return r.name == f.options[rank].name && r.active && !r.refused; });
}

bool goes_on(const WorkloadState& w) { return !w.finished() && !w.deleting && !w.removal_pending && w.quarantined.empty(); }

const WorkloadState* find_workload(const StateView& state, Text uid, const WorkloadParent** entity) {
  const auto index = state.domain().find_parent(uid);
  *entity = index ? state.parent(*index) : nullptr;
  if (*entity != nullptr)
    for (const auto& w : (*entity)->workloads())
      if (w.uid == uid) return &w;
  return nullptr;
}

template <class F>
std::string each_parent(const StateView& state, F&& f) {
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* entity = state.parent(i);
    if (entity == nullptr) continue;
    for (const auto& w : entity->workloads())
      if (w.family)
        if (std::string finding = f(*entity, w); !finding.empty()) return finding;
  }
  return {};
}

/// CA-29: is the Option to be active? Nothing: it is on its way to something, and may be either.
std::optional<bool> wanted_active(const Family& f, std::size_t rank, Time now) {
  const auto& family = *f.parent->family;
  const WorkloadState& w = *f.members[rank];
  if (!f.parent->active) return false;
  if (f.stopping || !family.migrating_to.empty() || (family.holds_itself && f.parent->reserved())) return std::nullopt;
  if (w.option && w.option->rejected) return false;
  if (&w == f.admitted) return true;
  const Wanted& option = f.options[rank];
  const bool started = w.active && !(w.option && w.option->anew);  // CA-118: what is over stays over
  if (option.create_delay > 0 && !started && now < family.cycle_start + Duration::seconds(option.create_delay)) return false;
  if (f.admitted == nullptr) return true;
  if (!keeps(*f.queue, f.options, rank, f.admitted_on)) return false;
  const bool late =
      option.delete_delay && family.first_admitted.is_set() && now >= family.first_admitted + Duration::seconds(*option.delete_delay);
  return !late;
}

const Symbol migration("FlavorMigration");

/// The queue in which the Option of this rank is to wait; empty: it is to wait in none.
Symbol queue_of_option(const WorkloadParent& entity, const Family& f, std::size_t rank, const StateView& state) {
  const WorkloadState& w = *f.members[rank];
  const WorkloadState& parent = *f.parent;
  const Catalog& catalog = *state.domain().catalog();
  if (!goes_on(w) || !w.active || w.reserved() || !goes_on(parent) || !parent.active) return {};
  if (entity.job() && (entity.job()->on_hold || entity.job()->finished || !entity.job()->quarantined.empty())) return {};
  if (!entity.admission_gate(parent, catalog).empty()) return {};
  if (catalog.local_queue(parent.namespace_, parent.queue_name)->stop_policy != StopPolicy::none) return {};
  if (w.waits_for(admission::Section::admission)) return {};  // what it had is not written as gone
  if (entity.withheld(static_cast<std::size_t>(&parent - entity.workloads().data()), state.domain().context())) return {};  // CA-95
  for (std::size_t better = 0; better < rank; ++better)
    if (f.members[better] == nullptr && is_on_its_way(f, better)) return {};
  return may_be_tried(f, rank) ? f.queue->name : Symbol();
}

}  // namespace

std::vector<Symbol> family_queues_of(const WorkloadParent& entity, const StateView& state) {
  std::vector<Symbol> out(entity.workloads().size());
  for (const auto& parent : entity.workloads()) {
    if (!parent.family) continue;
    const Family f = family_of(entity, parent, *state.domain().catalog());
    if (f.queue == nullptr) continue;
    for (std::size_t rank = 0; rank < f.members.size(); ++rank)
      if (f.members[rank] != nullptr)
        out[static_cast<std::size_t>(f.members[rank] - entity.workloads().data())] = queue_of_option(entity, f, rank, state);
  }
  return out;
}

// ---- every record -------------------------------------------------------------------------------------------------------------

std::string FamilyRules::before(const StateView& state, const RecordView& record) {
  const auto* d = std::get_if<Decisions>(&record.body);
  if (d == nullptr || record.envelope.epoch < state.domain().epoch()) return {};
  const bool fresh = d->base == state.domain().sequence();  // else it was overtaken: decided on another state
  for (const Event& e : d->events) {
    figures_.formed += std::holds_alternative<FamilyFormed>(e) ? 1 : 0;
    figures_.dissolved += std::holds_alternative<FamilyDissolved>(e) ? 1 : 0;
    figures_.resets += std::holds_alternative<FamilyReset>(e) ? 1 : 0;
    figures_.adoptions += std::holds_alternative<OptionAdopted>(e) ? 1 : 0;
    if (const auto* m = std::get_if<MigrationStarted>(&e)) ++(m->assignments.empty() ? figures_.migrations : figures_.kept);
    if (const auto* g = std::get_if<PreemptionGateChanged>(&e)) figures_.rights += g->open ? 1 : 0;
    if (const auto* s = std::get_if<OptionSwitched>(&e)) figures_.rejections += s->cause == OptionCause::rejected ? 1 : 0;
    if (!fresh) continue;
    const WorkloadParent* entity = nullptr;
    if (const auto* p = std::get_if<WorkloadPreempted>(&e)) {  // CA-70, CA-73, CA-76
      const auto* by = find_workload(state, p->preemptor.uid, &entity);
      const auto* family = by == nullptr ? nullptr : parent_of(*entity, *by);
      if (family == nullptr) continue;
      ++figures_.preemptions;
      if (!by->option || !by->option->gate_open) return name_of(*by) + " preempts, and its gate is closed";
      const WorkloadParent* other = nullptr;
      const auto* victim = find_workload(state, p->workload.uid, &other);
      if (victim != nullptr && parent_of(*other, *victim) == family) return name_of(*by) + " preempts its sibling " + name_of(*victim);
    }
    Text admitted, reserved;
    if (const auto* a = std::get_if<WorkloadAdmitted>(&e)) admitted = a->workload.uid;
    if (const auto* q = std::get_if<QuotaReserved>(&e)) (q->admitted ? admitted : reserved) = q->workload.uid;
    if (!admitted.empty()) {
      const auto* w = find_workload(state, admitted, &entity);
      const auto* parent = w == nullptr ? nullptr : parent_of(*entity, *w);
      if (parent == nullptr) continue;
      ++figures_.admissions;
      const Family f = family_of(*entity, *parent, *state.domain().catalog());
      if (f.stopping) return name_of(*w) + " is admitted before the job of its family has stopped (CA-61)";
      if (f.admitted != nullptr) return name_of(*w) + " is admitted beside " + name_of(*f.admitted);
      if (parent->family->holds_itself && parent->reserved()) return name_of(*w) + " is admitted while its Parent holds quota itself";
      if (const auto& job = entity->job(); job && !entity->at_rest() && parent->reserved())
        return name_of(*w) + " is admitted while the job of its family runs on something else";
    }
  }
  return {};
}

std::string FamilyRules::check_family(const WorkloadParent& entity, const WorkloadState& parent) const {
  std::string admitted;
  int open = 0;
  for (const auto& w : entity.workloads()) {
    if (parent_of(entity, w) != &parent || w.finished()) continue;
    open += w.option && w.option->gate_open ? 1 : 0;
    if (!w.reserved() || !w.admitted()) continue;
    if (!admitted.empty()) return "both " + admitted + " and " + name_of(w) + " are admitted (CA-43)";  // also one that is evicted
    admitted = name_of(w);
  }
  if (open > 1) return name_of(parent) + ": " + std::to_string(open) + " of its Options have the right to preempt (CA-70)";
  if (!admitted.empty() && parent.family->holds_itself && parent.reserved())
    return admitted + " is admitted, and its Parent holds quota itself";
  return {};
}

/// What lets a family be admitted on worse flavors than before: it began anew, or the order of flavors is another one.
void FamilyRules::note(const StateView& state, const RecordView& record) {
  if (const auto* o = std::get_if<Observation>(&record.body)) {
    if (std::holds_alternative<ClusterQueueObserved>(*o) || std::holds_alternative<LocalQueueObserved>(*o) ||
        std::holds_alternative<ConfigurationObserved>(*o) || std::holds_alternative<ObjectDeleted>(*o))
      courses_.clear();
    return;
  }
  const auto* d = std::get_if<Decisions>(&record.body);
  if (d == nullptr) return;
  const auto forget = [&](Text uid) {
    const WorkloadParent* entity = nullptr;
    const auto* w = find_workload(state, uid, &entity);
    const auto* parent = w == nullptr ? nullptr : parent_of(*entity, *w);
    if (parent != nullptr) courses_.erase(std::string(parent->uid));
  };
  for (const Event& e : d->events) {
    if (const auto* r = std::get_if<FamilyReset>(&e)) courses_.erase(std::string(r->workload.uid));
    if (const auto* r = std::get_if<FamilyDissolved>(&e)) courses_.erase(std::string(r->workload.uid));
    if (const auto* r = std::get_if<OptionAdopted>(&e)) courses_.erase(std::string(r->parent.uid));
    if (const auto* v = std::get_if<WorkloadPreempted>(&e)) forget(v->workload.uid);
    if (const auto* v = std::get_if<WorkloadEvicted>(&e); v != nullptr && v->reason != migration.text()) forget(v->workload.uid);
  }
}

/// No Option is admitted in the place of another one but on better flavors.
std::string FamilyRules::check_course(const StateView& state, const WorkloadParent& entity, const WorkloadState& parent, bool decided) {
  const Family f = family_of(entity, parent, *state.domain().catalog());
  const auto it = courses_.find(parent.uid.view());
  const bool stands = f.admitted != nullptr && !f.admitted->evicted();
  if (it != courses_.end() && !decided && (it->second.stands ? !stands || f.admitted->uid != it->second.option : stands))
    courses_.erase(it);
  if (!stands || f.queue == nullptr) {
    if (const auto old = courses_.find(parent.uid.view()); old != courses_.end()) old->second.stands = false;
    return {};
  }
  Course now{std::string(f.admitted->uid), assigned_to(*f.admitted), true};
  const Course old = std::exchange(courses_[std::string(parent.uid)], now);
  if (old.option.empty() || old.option == now.option) return {};
  if (f.admitted_on >= positions_of(*f.queue, old.flavors))
    return name_of(*f.admitted) + " is admitted in the place of " + old.option + ", whose flavors were no worse (CA-153)";
  return {};
}

std::string FamilyRules::after(const StateView& state, const RecordView& record) {
  note(state, record);
  const Catalog& catalog = *state.domain().catalog();
  std::string finding = each_parent(state, [&](const WorkloadParent& entity, const WorkloadState& parent) {
    if (auto found = check_family(entity, parent); !found.empty()) return found;
    return check_course(state, entity, parent, std::holds_alternative<Decisions>(record.body));
  });
  if (!finding.empty()) return finding;
  // CA-92: of what a family holds one reservation counts in shares.
  for (const auto& [name, config] : catalog.queues) {
    const auto* queue = state.queue(name);
    if (queue == nullptr) continue;
    std::map<std::string, int> counted, held;
    for (const auto& r : queue->reservations()) {
      if (r->workload->option == nullptr) continue;
      if (r->hold && !r->uncounted) return "what is kept for Workload " + std::string(r->workload->uid) + " counts in shares";
      if (r->hold) continue;
      ++held[std::string(r->workload->option->family)];
      counted[std::string(r->workload->option->family)] += r->uncounted ? 0 : 1;
    }
    for (const auto& [family, n] : held)
      if (counted[family] > 1) return "of the family of Workload " + family + " " + std::to_string(counted[family]) + " count in shares";
  }
  return {};
}

// ---- at rest --------------------------------------------------------------------------------------------------------------------

namespace {

/// CA-103: a family counts once.
std::string check_counters(const StateView& state) {
  const Catalog& catalog = *state.domain().catalog();
  for (const auto& [name, config] : catalog.queues) {
    const auto* queue = state.queue(name);
    if (queue == nullptr) continue;
    std::map<std::string, std::set<std::string>> waits, holds;
    for (const auto& w : queue->waiting())
      waits[std::string(w.workload->namespace_.text()) + "/" + std::string(w.workload->local_queue.text())].insert(
          w.workload->option == nullptr ? std::string(w.workload->uid) : std::string(w.workload->option->family));
    std::set<std::string> holding;
    for (const auto& r : queue->reservations()) {
      if (r->hold) continue;
      const std::string uid(r->workload->option == nullptr ? r->workload->uid.view() : r->workload->option->family.view());
      holds[std::string(r->workload->namespace_.text()) + "/" + std::string(r->workload->local_queue.text())].insert(uid);
      holding.insert(uid);
    }
    std::size_t pending = 0, reserving = 0;
    for (auto& [local, uids] : waits)
      pending += static_cast<std::size_t>(std::ranges::count_if(uids, [&](const auto& uid) { return !holding.contains(uid); }));
    for (auto& [local, uids] : holds) reserving += uids.size();
    std::size_t counted_pending = 0, counted_reserving = 0;
    for (const auto& [key, local] : catalog.local_queues) {
      const auto counters = queue->local_counters(local.namespace_, local.name);
      if (local.cluster_queue != name && counters.pending == 0 && counters.reserving == 0) continue;
      counted_pending += static_cast<std::size_t>(counters.pending);
      counted_reserving += static_cast<std::size_t>(counters.reserving);
    }
    // What belongs to a LocalQueue that has gone counts in none that is there.
    if (counted_pending > pending || counted_reserving > reserving)
      return "ClusterQueue " + std::string(name.text()) + ": its LocalQueues count " + std::to_string(counted_pending) + " pending and " +
             std::to_string(counted_reserving) + " reserving, by families there are " + std::to_string(pending) + " and " +
             std::to_string(reserving);
  }
  return {};
}

/// Is nobody about to do something about the whole family?
bool is_settled(const WorkloadParent& entity, const WorkloadState& parent) {
  if (!goes_on(parent)) return false;
  const auto& job = entity.job();
  return !job || (!job->finished && !job->deleting && !job->removal_pending && job->quarantined.empty());
}

}  // namespace

std::string FamilyRules::check_rest(const StateView& state) {
  const Catalog& catalog = *state.domain().catalog();
  const Time now = state.domain().now();
  if (auto finding = check_counters(state); !finding.empty()) return finding;
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* entity = state.parent(i);
    if (entity == nullptr) continue;
    for (const auto& w : entity->workloads()) {
      if (part_of(*entity, w) == Part::stray && !w.deleting && !w.removal_pending) return name_of(w) + " is an Option without a Parent";
      if (!w.family && wants_options(w, catalog) && goes_on(w) && is_settled(*entity, w))
        return name_of(w) + " is in a queue with concurrent admission, and no Parent";
    }
  }
  return each_parent(state, [&](const WorkloadParent& entity, const WorkloadState& parent) -> std::string {
    const Family f = family_of(entity, parent, catalog);
    const std::string who = name_of(parent) + ": ";
    if (!is_settled(entity, parent)) {
      if (parent.finished() && !parent.deleting && !parent.removal_pending)
        for (const auto& w : entity.workloads())
          if (parent_of(entity, w) == &parent && goes_on(w)) return who + "it is finished, and " + name_of(w) + " is not (CA-110)";
      return {};
    }
    if (f.queue == nullptr) return {};  // CA-124
    if (!wants_options(parent, catalog)) return f.stopping ? "" : who + "it is a Parent, and concurrent admission is off (CA-120)";
    ++figures_.compared;
    const auto& family = *parent.family;
    for (const auto* stranger : f.strangers)
      if (goes_on(*stranger) && stranger != f.admitted) return who + name_of(*stranger) + " is none of its Options any more, and stays";
    if (f.admitted != nullptr && std::ranges::find(f.members, f.admitted) == f.members.end() && !f.admitted->evicted()) {
      const bool heir_comes = std::ranges::any_of(f.options, [&](const Wanted& o) {
        return f.admitted->family_facts && std::ranges::is_permutation(o.flavors, f.admitted->family_facts->allowed);
      });
      if (!heir_comes) return who + name_of(*f.admitted) + " is admitted, none of its Options any more, and not evicted (CA-115)";
    }
    if (family.hold && family.migrating_to.empty()) return who + "quota is kept for no migration";
    for (std::size_t rank = 0; rank < f.options.size(); ++rank) {
      const auto* w = f.members[rank];
      if (w == nullptr) {
        const bool asked = std::ranges::any_of(family.requested, [&](const auto& r) { return r.name == f.options[rank].name; });
        if (!asked && !f.stopping && !(family.holds_itself && parent.evicted()))
          return who + "it has no Option " + f.options[rank].name + ", and asks for none";
        continue;
      }
      if (!goes_on(*w)) continue;
      if (const auto active = wanted_active(f, rank, now); active && *active != w->active)
        return who + name_of(*w) + (w->active ? " is active" : " is not active") + ", against the policy (CA-29)";
      if (f.admitted == nullptr && !f.stopping && w->reserved() && !w->admitted() && !w->evicted() && w->active && parent.active &&
          !(family.holds_itself && parent.reserved()) && !w->checks.empty() && w->checks_ready() &&
          catalog.local_queue(w->namespace_, w->queue_name) != nullptr &&
          catalog.local_queue(w->namespace_, w->queue_name)->stop_policy == StopPolicy::none && catalog.queue_active(f.queue->name))
        return who + name_of(*w) + " has all its checks, and is not admitted (CA-81)";
    }
    const bool shows = parent.reserved() && parent.admitted() && !parent.evicted();
    if (shows && !family.holds_itself && (f.admitted == nullptr || f.admitted->uid != family.shown))
      return who + "it is admitted, and shows no Option that is";
    const bool unwritten = !parent.reserved() && parent.waits_for(admission::Section::admission);  // that it had another admission ended
    if (f.admitted != nullptr && !f.admitted->evicted() && !shows && !unwritten)
      return who + name_of(*f.admitted) + " is admitted, and its Parent is not";
    if (f.admitted != nullptr && f.admitted->evicted() && parent.reserved() && !parent.evicted())
      return who + name_of(*f.admitted) + " is evicted, and its Parent is not (CA-61)";
    // CA-72: somebody who has to preempt may.
    const auto* queue = state.queue(f.queue->name);
    const auto has_right = [](const WorkloadState* w) { return w != nullptr && w->option && w->option->gate_open; };
    if (queue == nullptr || std::ranges::any_of(f.members, has_right)) return {};
    const WorkloadState* blocked = nullptr;
    for (std::size_t rank = 0; rank < f.members.size(); ++rank) {
      const auto* w = f.members[rank];
      if (w == nullptr && is_on_its_way(f, rank)) return {};
      if (w == nullptr || queue_of_option(entity, f, rank, state).empty()) continue;
      const auto* reason = w->find(ConditionType::quota_reserved);
      if (w->is_true(ConditionType::blocked_on_preemption_gates))
        blocked = w;
      else if (reason == nullptr || reason->reason.text() == "PendingEvaluation")
        return {};  // each says first what it needs
    }
    if (blocked != nullptr) return who + name_of(*blocked) + " has to preempt, and nobody of its family may";
    return {};
  });
}

namespace {

/// Empty, or what the API server does not show as it was decided (CA-132).
std::string written(const WorkloadState& w, const ApiServer& server) {
  const auto it = server.workloads.find(std::string(w.uid));
  if (it == server.workloads.end()) return "is not there";
  const Workload& shown = it->second;
  if (w.active != shown.active) return "is not as active as decided";
  if (w.family.has_value() != shown.parent_marked) return "is not marked as decided";
  if (w.reserved() != !shown.status.cluster_queue.empty()) return "does not show its reservation";
  if (w.option && w.option->gate_open != shown.status.gate_open) return "does not show its gate";
  if (w.admitted() != shown.status.is_true(ConditionType::admitted)) return "does not show its admission";
  if (w.evicted() != shown.status.is_true(ConditionType::evicted)) return "does not show its eviction";
  if (!w.family) return {};
  const auto same = [](const admission::OptionStatus& a, const admission::WantedOption& b) {
    return a.name == b.name && a.phase == b.phase && a.message.value() == b.message && a.flavors.size() == b.flavors.size();
  };
  const auto& options = w.family->options;
  return std::ranges::equal(options, shown.status.options, same) ? "" : "does not show its Options";
}

/// May the job run by what this Workload, or Parent, shows?
bool lets_run(const WorkloadParent& entity, const WorkloadState& w) {
  if (!admission::is_slice(w) || !w.reserved() || !w.admitted() || w.evicted() || !w.active || w.finished()) return false;
  return !w.family || w.family->holds_itself || admitted_option(entity, w) != nullptr;
}

}  // namespace

std::string FamilyRules::check_quiet(const StateView& state, const ApiServer& server) {
  const Catalog& catalog = *state.domain().catalog();
  return each_parent(state, [&](const WorkloadParent& entity, const WorkloadState& parent) -> std::string {
    const std::string who = name_of(parent) + ": ";
    if (!is_settled(entity, parent)) return {};
    const Family f = family_of(entity, parent, catalog);
    if (f.stopping) return who + "its job has stopped, and it still has what it was evicted from";
    if (f.queue == nullptr) return {};
    for (std::size_t rank = 0; rank < f.options.size(); ++rank)
      if (f.members[rank] == nullptr) return who + "it has no Option " + f.options[rank].name;
    for (const auto* stranger : f.strangers)
      if (stranger != f.admitted) return who + name_of(*stranger) + " was to be deleted, and is there";
    for (const auto& w : entity.workloads())
      if (&w == &parent || parent_of(entity, w) == &parent)
        if (const std::string what = written(w, server); !what.empty()) return who + name_of(w) + " " + what;
    // CA-100, CA-101
    std::vector<std::pair<std::string, OptionPhase>> shown, wanted;
    for (const auto& o : parent.family->options) shown.emplace_back(std::string(o.name), o.phase);
    for (const auto* w : f.members) {
      const auto phase = w->finished()                    ? OptionPhase::finished
                         : w->reserved() && w->admitted() ? OptionPhase::admitted
                         : !w->active                     ? OptionPhase::deactivated
                                                          : OptionPhase::pending;
      wanted.emplace_back(std::string(w->name), phase);
    }
    if (shown != wanted) return who + "status.options does not show its Options";
    const auto& job = entity.job();
    if (!job || !job->managed || job->queue_name.empty() || !parent.option_of().empty()) return {};
    const bool runs = !job->suspended;
    // While a slice of an elastic job waits, the job runs by the one that it is to replace (EJ-154).
    const bool admitted = std::ranges::any_of(entity.workloads(), [&](const WorkloadState& w) { return lets_run(entity, w); });
    ++(runs ? figures_.running : figures_.stopped);
    if (runs != admitted)
      return who + (runs ? "its job runs, and nothing of it is admitted" : "its job does not run, though it is admitted");
    return {};
  });
}

std::string FamilyRules::check_starts(const StateView& state, const std::vector<admission::Intent>& intents, const ApiServer& server) {
  for (const auto& intent : intents) {
    const auto* job = std::get_if<admission::JobIntent>(&intent);
    if (job == nullptr || !job->run) continue;
    const auto index = state.domain().find_parent(job->workload_uid);
    if (!index) continue;
    const auto workloads = state.parent(*index)->workloads();
    const auto parent = std::ranges::find(workloads, job->workload_uid, [](const auto& w) { return w.uid.text(); });
    if (parent == workloads.end() || !parent->family || parent->family->holds_itself) continue;
    const auto shown = server.workloads.find(std::string(parent->family->shown.text()));
    if (shown == server.workloads.end() || !server.is_told(ApiServer::key_of(shown->second))) continue;  // somebody was faster
    ++figures_.starts;
    if (!shown->second.status.is_true(ConditionType::admitted))
      return "job " + job->name + " is to start, and " + shown->second.name + " is not shown as admitted";
  }
  return {};
}

}  // namespace hindsight::explorer
