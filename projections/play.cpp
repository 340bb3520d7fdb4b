#include "projections/play.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "admission/domain/domain.hpp"
#include "admission/scheduling/requeue.hpp"
#include "admission/state/snapshot.hpp"
#include "admission/workload/workload_parent.hpp"
#include "events/settings.hpp"
#include "projections/format.hpp"
#include "projections/jobs_again.hpp"
#include "projections/observed_again.hpp"

namespace hindsight::projections {
namespace {

using namespace admission;

constexpr int steps_max = 1'000;  // of decisions; a play that needs more is given up
/// Timers within this are those that a change sets: who was parked is tried again a second later (base-admission §3.7).
constexpr Duration settles_within = Duration::seconds(2);

std::string full(const WorkloadRef& w) { return full_name(w.namespace_, w.name); }

/// Who is to give its quota back; null: nobody.
const WorkloadRef* evicted_in(const Event& event) {
  if (const auto* e = std::get_if<WorkloadEvicted>(&event)) return &e->workload;
  if (const auto* e = std::get_if<WorkloadPreempted>(&event)) return &e->workload;
  return nullptr;
}

WorkloadRef ref_of(const WorkloadState& w, Arena& arena) {
  return {arena.copy(w.uid.text()), arena.copy(w.namespace_.text()), arena.copy(std::string_view(w.name))};
}

/// The limits of one node as they are, but for the edits.
List<ResourceGroupFacts> edited(List<ResourceGroupFacts> groups, const std::vector<QuotaEdit>& edits, const Symbol& node, bool is_cohort,
                                Arena& arena) {
  auto out = arena.make<ResourceGroupFacts>(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    auto flavors = arena.make<FlavorQuotasFacts>(groups[g].flavors.size());
    for (std::size_t f = 0; f < flavors.size(); ++f) {
      const auto& from = groups[g].flavors[f];
      auto quotas = arena.make<QuotaFacts>(from.resources.size());
      for (std::size_t r = 0; r < quotas.size(); ++r) {
        quotas[r] = from.resources[r];
        for (const auto& e : edits) {
          if (e.node != node || e.is_cohort != is_cohort || e.flavor.text() != from.flavor || e.resource.text() != quotas[r].resource)
            continue;
          if (e.nominal) quotas[r].nominal = *e.nominal;
          if (e.borrowing_limit) quotas[r].borrowing_limit = e.borrowing_limit;
        }
      }
      flavors[f] = {from.flavor, quotas};
    }
    out[g] = {groups[g].covered_resources, flavors};
  }
  return out;
}

}  // namespace

Stage Stage::of(const LoopDriver& state) {
  return {SnapshotCodec::write(state), [](Text json) { return events::read_settings(json); }};
}

Stage Stage::of_tree(const LoopDriver& state, const WorkloadAt& at, std::size_t kept) {
  const auto parent = state.domain().find_parent(at.workload->uid);
  if (!parent || !SnapshotCodec::trees_are_apart(state.domain())) return of(state);
  Stage out{{}, [](Text json) { return events::read_settings(json); }};
  out.copies = std::make_shared<TreeCopies>(state, *parent, kept);
  return out;
}

TreeCopies::TreeCopies(const LoopDriver& state, std::uint32_t parent, std::size_t kept) : state_(state), parent_(parent) {
  thinning_.kept = std::max<std::size_t>(1, kept);
}

const ThinnedTree& TreeCopies::thinned() {
  if (thinned_.bytes.empty()) thinned_ = SnapshotCodec::write_thinned(state_.entities(), parent_, thinning_);
  return thinned_;
}

const std::vector<std::byte>& TreeCopies::whole() {
  if (thinned().left_out == 0) return thinned_.bytes;
  if (whole_.empty()) whole_ = SnapshotCodec::write_tree(state_.entities(), parent_);
  return whole_;
}

void TreeCopies::keep_more(const std::set<WaitingKind>& kinds) {
  constexpr std::size_t times = 8;
  for (const auto& kind : kinds) {
    auto& kept = thinning_.kept_of.try_emplace(kind, thinning_.kept).first->second;
    kept *= times;
  }
  thinned_ = {};
}

std::span<const std::byte> Play::bytes_of(const Stage& stage, bool whole) {
  if (!stage.copies) return stage.snapshot;
  return whole ? stage.copies->whole() : stage.copies->thinned().bytes;
}

Play::Play(const Stage& stage, bool whole) : driver_(stage.read_settings) {
  if (auto ok = SnapshotCodec::read(bytes_of(stage, whole), driver_); !ok)
    throw std::runtime_error("a play of what is no snapshot: " + ok.error().message);
  driver_.entities().domain().forget_writes();
  now_ = driver_.domain().now();
  if (stage.copies && !whole && stage.copies->thinned().left_out != 0) guards_ = &stage.copies->thinned().guards;
}

Play::Outcome play_out(const Stage& stage, std::string_view workload_uid, const std::function<void(Play&)>& make) {
  constexpr int larger_copies = 2;  // then all are in it
  ++stage.played;
  for (int i = 0;; ++i) {
    const bool whole = i > larger_copies;
    stage.copied += Play::bytes_of(stage, whole).size();
    Play world(stage, whole);
    make(world);
    auto out = world.run(workload_uid);
    if (world.reached().empty()) return out;
    if (i < larger_copies) stage.copies->keep_more(world.reached());
  }
}

void Play::append(Body body) {
  const Domain& domain = driver_.domain();
  RecordView r;
  r.envelope.domain = "play";
  r.envelope.sequence = domain.sequence() + 1;
  r.envelope.epoch = domain.epoch();
  r.envelope.time = now_;
  r.body = std::move(body);
  if (auto ok = driver_.apply(r); !ok) throw std::runtime_error("a play came to an end: " + ok.error().message);
}

void Play::change(const std::vector<QuotaEdit>& edits) {
  const auto& catalog = *driver_.domain().catalog();
  std::set<std::pair<bool, std::string>> nodes;
  for (const auto& e : edits) nodes.emplace(e.is_cohort, e.node.text());
  for (const auto& [is_cohort, text] : nodes) {
    const Symbol name(text);
    if (is_cohort) {
      const auto config = catalog.cohorts.find(name);
      if (config == catalog.cohorts.end()) continue;
      auto o = observed_again(*config->second, arena_);
      o.resource_groups = edited(o.resource_groups, edits, name, true, arena_);
      append(Observation{o});
    } else if (const auto* config = catalog.queue(name); config != nullptr) {
      auto o = observed_again(*config, arena_);
      o.resource_groups = edited(o.resource_groups, edits, name, false, arena_);
      append(Observation{o});
    }
  }
}

void Play::change(const Symbol& cluster_queue, const PolicyEdit& policy) {
  const auto* config = driver_.domain().catalog()->queue(cluster_queue);
  if (config == nullptr) return;
  auto o = observed_again(*config, arena_);
  if (policy.within_cluster_queue) o.within_cluster_queue = *policy.within_cluster_queue;
  if (policy.reclaim_within_cohort) o.reclaim_within_cohort = *policy.reclaim_within_cohort;
  if (policy.borrow_within_cohort) o.borrow_within_cohort = *policy.borrow_within_cohort;
  if (policy.max_priority_threshold) o.max_priority_threshold = policy.max_priority_threshold;
  if (policy.strategy) o.queueing_strategy = *policy.strategy;
  append(Observation{o});
}

void Play::resume(const Symbol& cluster_queue) {
  const auto* config = driver_.domain().catalog()->queue(cluster_queue);
  if (config == nullptr) return;
  auto o = observed_again(*config, arena_);
  o.stop_policy = StopPolicy::none;
  append(Observation{o});
}

void Play::resume(const Symbol& namespace_, const Symbol& local_queue) {
  const auto* config = driver_.domain().catalog()->local_queue(namespace_, local_queue);
  if (config == nullptr) return;
  auto o = observed_again(*config, arena_);
  o.stop_policy = StopPolicy::none;
  append(Observation{o});
}

void Play::add_nodes(const NodeConfig& like, std::int32_t count) {
  const Nodes& nodes = driver_.domain().nodes();
  int number = 0;
  for (std::int32_t i = 0; i < count; ++i) {
    std::string name;
    do {
      name = "one-more-" + std::to_string(++number);
    } while (nodes.contains(Symbol(name)));
    append(Observation{observed_as(like, arena_.copy(name), arena_)});
  }
}

/// Name of a WorkloadPriorityClass of this value.
Text Play::class_of(std::int32_t priority) {
  const auto& classes = driver_.domain().catalog()->workload_priority_classes;
  for (const auto& [name, config] : classes)
    if (config.value == priority) return arena_.copy(name.text());
  std::string name = "priority-" + std::to_string(priority);
  while (classes.contains(Symbol(name))) name += "-more";
  WorkloadPriorityClassObserved made;
  made.meta.name = arena_.copy(name);
  made.value = priority;
  append(Observation{made});
  return made.meta.name;
}

namespace {

/// The pod sets with what is asked for instead.
List<PodSetFacts> edited(List<PodSetFacts> pod_sets, const AskEdit& ask, bool with_min_count, Arena& arena) {
  auto out = arena.make<PodSetFacts>(pod_sets.size());
  Text group;
  for (const auto& p : pod_sets)
    if (p.name == ask.pod_set) group = p.pod_set_group;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = pod_sets[i];
    const bool same = out[i].name == ask.pod_set;
    if (same && ask.count) {
      out[i].count = *ask.count;
      if (out[i].min_count && *out[i].min_count > *ask.count) out[i].min_count = *ask.count;
    }
    if (same && ask.min_count && with_min_count) out[i].min_count = *ask.min_count;
    if (!ask.topology || !(same || (!group.empty() && out[i].pod_set_group == group))) continue;
    show_topology(*ask.topology, out[i], arena);
  }
  return out;
}

}  // namespace

void Play::change(std::string_view workload_uid, const AskEdit& ask) {
  const WorkloadAt at = find_by_uid(driver_, workload_uid);
  if (at.workload == nullptr) return;
  const Text priority_class = ask.priority ? class_of(*ask.priority) : Text();
  // All is written down before any of it is told: what is told changes the Workloads.
  std::vector<Observation> told;
  const std::string family = at.workload->is_made_as_option() ? std::string(std::string_view(at.workload->option_of())) : std::string();
  for (const auto& w : at.parent->workloads()) {
    const bool mine = &w == at.workload || (!family.empty() && (w.uid == family || std::string_view(w.option_of()) == family));
    if (!mine || w.finished()) continue;
    WorkloadObserved o = observed_again(w, arena_);
    ++o.meta.resource_version;
    ++o.meta.generation;
    o.pod_sets = edited(o.pod_sets, ask, !w.is_made_as_option(), arena_);
    if (ask.priority) {
      o.priority = *ask.priority;
      o.priority_class_kind = PriorityClassKind::workload_priority_class;
      o.priority_class = priority_class;
    }
    told.emplace_back(o);
  }
  if (const auto& job = at.parent->job()) {
    JobObserved o = observed_again(*job, arena_);
    ++o.meta.resource_version;
    ++o.meta.generation;
    o.pod_sets = edited(o.pod_sets, ask, true, arena_);
    if (ask.priority) o.priority_class = priority_class;
    told.emplace_back(o);
  }
  for (const auto& o : told) append(o);
}

void Play::end(std::string_view workload_uid) {
  const WorkloadAt at = find_by_uid(driver_, workload_uid);
  if (at.workload == nullptr) return;
  struct Object {
    std::string namespace_, name, uid;
  };
  std::vector<Object> all;
  for (const auto& w : at.parent->workloads())
    all.push_back({std::string(w.namespace_.text()), std::string(w.name), std::string(w.uid.text())});
  for (const auto& w : all) reach(w.uid);
  if (const auto& job = at.parent->job())
    append(Observation{ObjectDeleted{ObjectKind::job, arena_.copy(job->namespace_.text()), arena_.copy(std::string_view(job->name)),
                                     arena_.copy(job->uid.text())}});
  for (const auto& w : all)
    append(Observation{ObjectDeleted{ObjectKind::workload, arena_.copy(w.namespace_), arena_.copy(w.name), arena_.copy(w.uid)}});
}

/// This one is not before others any more, if it was.
void Play::reach(std::string_view uid) {
  if (guards_ == nullptr) return;
  if (const auto it = guards_->find(uid); it != guards_->end()) reached_.insert(it->second);
}

/// Those who were left out are looked at when the one before them is given quota, or is parked without those that are equal to it.
void Play::guard(const Event& event) {
  if (guards_ == nullptr) return;
  if (const auto* reserved = std::get_if<QuotaReserved>(&event)) return reach(reserved->workload.uid);
  const auto* requeued = std::get_if<EntryRequeued>(&event);
  if (requeued == nullptr || requeued->to_heap) return;
  const auto* queue = driver_.domain().catalog()->queue(Symbol(requeued->cluster_queue));
  const bool with_equals =
      fits_nowhere(requeued->requeue_reason) && queue != nullptr && queue->strategy == QueueingStrategy::best_effort_fifo;
  if (!with_equals) reach(requeued->workload.uid);
}

const WorkloadState* Play::find(std::string_view uid) const { return find_by_uid(driver_, uid).workload; }

/// Its job has stopped, or who made it took its reservation back.
void Play::clear(const WorkloadState& w, std::vector<Event>& events) {
  ReservationCleared e;
  e.workload = ref_of(w, arena_);
  const Condition* evicted = w.find(ConditionType::evicted);
  e.reason = "PendingEvaluation";
  e.writes_requeued = true;
  const std::string_view why = evicted == nullptr ? std::string_view("Preempted") : evicted->reason.text();
  e.requeued = why == "Preempted" || why == "NodeFailures" || why == "VariantEvicted" || why == "ConcurrentAdmission";
  e.requeued_reason = arena_.copy(why);
  events.emplace_back(e);
}

/// The job of a family stops when its Parent is evicted, so that it can move to another Option; and what the family gave back is written,
/// which the next one waits for.
void Play::answer_families(const Decisions& step) {
  std::set<std::string> seen;
  for (const Event& event : step.events) {
    const auto* cleared = std::get_if<ReservationCleared>(&event);
    const auto* evicted = evicted_in(event);
    const WorkloadAt at = cleared != nullptr   ? find_by_uid(driver_, cleared->workload.uid)
                          : evicted != nullptr ? find_by_uid(driver_, evicted->uid)
                                               : WorkloadAt();
    if (at.workload == nullptr || !(at.workload->family || at.workload->is_made_as_option())) continue;
    if (cleared != nullptr) {
      WorkloadObserved written = observed_again(*at.workload, arena_);
      ++written.meta.resource_version;
      append(Observation{written});
      continue;
    }
    const auto& job = at.parent->job();
    const bool stops = job && at.workload->family && at.workload->evicted() && !at.parent->at_rest();
    if (!stops || !seen.emplace(std::string_view(job->uid)).second) continue;
    JobObserved o = observed_again(*job, arena_);
    ++o.meta.resource_version;
    o.suspended = true;
    o.active = o.pods_ready = o.stopping = false;
    o.start_settled = job->start_left;
    append(Observation{o});
  }
}

/// What the world does about a step: jobs stop whose Workloads were evicted, and pods of those that were admitted are ready.
void Play::answer(const Decisions& step) {
  const bool blocks = driver_.domain().catalog()->settings.block_admission;
  std::vector<Event> events;
  for (const Event& event : step.events) {
    if (const auto* e = evicted_in(event)) {
      const WorkloadAt at = find_by_uid(driver_, e->uid);
      if (at.workload == nullptr || !at.workload->evicted()) continue;
      if (at.workload->is_made_as_option()) continue;         // its Parent stops, or it holds quota without a job
      if (at.workload->family && at.parent->job()) continue;  // it gives back what it holds when its job has stopped
      if (at.workload->reserved()) clear(*at.workload, events);
      if (at.workload->family)
        for (const auto& option : at.parent->workloads())
          if (option.is_made_as_option() && option.option_of() == at.workload->uid && option.evicted() && option.reserved())
            clear(option, events);
    }
    const auto ready = [&](const WorkloadRef& w) {
      const WorkloadState* admitted = blocks ? find(w.uid) : nullptr;
      if (admitted == nullptr || !admitted->admitted()) return;
      events.emplace_back(ConditionChanged{w, ConditionType::pods_ready, ConditionStatus::true_, "Started", "", false});
    };
    if (const auto* e = std::get_if<QuotaReserved>(&event)) ready(e->workload);
    if (const auto* e = std::get_if<WorkloadAdmitted>(&event)) ready(e->workload);
  }
  if (!events.empty()) append(Decisions{driver_.domain().sequence(), StepKind::life_cycle, events});
  answer_families(step);
}

/// An Option and its Parent, or two Options: the job moves from one to the other, and nobody loses anything.
bool Play::are_one_family(std::string_view a, std::string_view b) const {
  const auto family_of = [this](std::string_view uid) -> std::string_view {
    const auto* w = find(uid);
    if (w == nullptr) return {};
    return w->is_made_as_option() ? std::string_view(w->option_of()) : w->family ? std::string_view(w->uid) : std::string_view();
  };
  const std::string_view family = family_of(a);
  return a != b && !family.empty() && family == family_of(b);
}

bool Play::is_it_or_its_option(std::string_view uid, std::string_view asked) const {
  if (uid == asked) return true;
  const auto* w = find(uid);
  return w != nullptr && w->is_made_as_option() && std::string_view(w->option_of()) == asked;
}

/// Does the Workload hold quota, or, of a Parent, one of its Options? Who is about to move to another one does, too.
bool Play::keeps_quota(std::string_view asked) const {
  const WorkloadAt at = find_by_uid(driver_, asked);
  if (at.workload == nullptr) return false;
  const auto& all = at.parent->workloads();
  return std::any_of(all.begin(), all.end(), [&](const WorkloadState& w) {
    return is_it_or_its_option(std::string_view(w.uid), asked) && w.reserved() && !w.evicted() && !w.finished();
  });
}

void Play::note(const Decisions& step, std::string_view uid, Outcome& out) const {
  for (const Event& event : step.events) {
    if (const auto* e = evicted_in(event)) {
      if (e->uid == uid) out.starts = false;
      if (!are_one_family(e->uid, uid)) out.evicted.push_back(full(*e));
    }
    const auto* e = std::get_if<QuotaReserved>(&event);
    if (e == nullptr) continue;
    if (is_it_or_its_option(e->workload.uid, uid)) {
      out.starts = true;
      continue;
    }
    if (are_one_family(e->workload.uid, uid)) continue;
    Start start{std::string(e->workload.namespace_), std::string(e->workload.name), std::string(e->workload.uid), {}};
    for (const auto& p : e->assignments)
      for (const auto& choice : p.flavors)
        for (const auto& used : p.usage)
          if (used.resource == choice.resource) start.amounts.push_back({{Symbol(choice.flavor), Symbol(choice.resource)}, used.amount});
    (out.starts ? out.after : out.before).push_back(std::move(start));
  }
}

Play::Outcome Play::run(std::string_view workload_uid) {
  Outcome out;
  const WorkloadState* w = find(workload_uid);
  const bool is_parent = w != nullptr && w->family.has_value();
  Time until = now_ + settles_within;
  if (w != nullptr && w->has_requeue_state && w->requeue_at.is_set() && w->requeue_at > now_) until = w->requeue_at + settles_within;
  for (int steps = 0; steps < steps_max; ++steps) {
    auto step = driver_.decide();
    if (step) {
      const Decisions decided{step->base, step->kind, step->events};
      append(decided);
      for (const Event& event : decided.events) guard(event);
      note(decided, workload_uid, out);
      answer(decided);
      continue;
    }
    const Time due = driver_.domain().next_due();
    if (!due.is_set() || due > until) {
      if (is_parent) out.starts = out.starts && keeps_quota(workload_uid);
      return out;
    }
    now_ = std::max(now_, due);
    append(Observation{TimerFired{}});
  }
  out.at_rest = false;
  return out;
}

}  // namespace hindsight::projections
