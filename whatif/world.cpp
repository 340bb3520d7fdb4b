#include "whatif/world.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"
#include "projections/jobs_again.hpp"
#include "whatif/encoded.hpp"
#include "whatif/subject.hpp"

namespace hindsight::whatif {

using namespace admission;
using projections::observed_again;

namespace {

/// A write takes so long until it is seen.
constexpr Duration write_time = Duration::millis(20);

Time on_server(Time t) { return Time::from_seconds(t.floor_seconds()); }

const WorkloadState* by_uid(const WorkloadParent& parent, std::string_view uid) {
  for (const auto& w : parent.workloads())
    if (std::string_view(w.uid) == uid) return &w;
  return nullptr;
}

const WorkloadState* by_name(const WorkloadParent& parent, std::string_view name) {
  for (const auto& w : parent.workloads())
    if (std::string_view(w.name) == name) return &w;
  return nullptr;
}

template <class Counts>
List<PodSetFacts> with_counts(List<PodSetFacts> from, const Counts& counts, Arena& arena) {
  auto out = arena.make<PodSetFacts>(from.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = from[i];
    for (const auto& [name, n] : counts)
      if (out[i].name == std::string_view(name)) out[i].count = n;
  }
  return out;
}

}  // namespace

std::optional<World::Parent> World::find(std::string_view subject) const {
  const auto index = driver_.domain().find_parent(subject);
  if (!index) return std::nullopt;
  const auto* parent = driver_.parent(*index);
  if (parent == nullptr || parent->empty()) return std::nullopt;
  return Parent{*index, parent};
}

void World::take_over(const std::string& subject, Time running_since) {
  Subject& mine = subjects_[subject];
  mine.running_since = running_since;
  const Time now = driver_.domain().now();
  // A run that goes on here may have ended on record just now.
  if (responses_.progress() == Progress::kept) mine.done = responses_.done_before(subject, running_since.is_set() ? running_since : now);
  for (const auto& child : responses_.children_of(subject)) {
    if (driver_.domain().find_parent(child.uid)) mine.brought.push_back(child.uid);
    if (running_since.is_set() && running_since + child.after <= now) ++mine.children_come;
  }
  look_at(subject);
}

Time World::running_since(std::string_view subject) const {
  const auto it = subjects_.find(subject);
  return it == subjects_.end() ? Time::never() : it->second.running_since;
}

std::vector<std::vector<std::byte>> World::shown(std::string_view subject) {
  std::vector<std::vector<std::byte>> out;
  const auto at = find(subject);
  if (!at) return out;
  arena_.clear();
  if (const auto& job = at->parent->job()) {
    JobObserved o = observed_again(*job, arena_);
    o.start_settled = 0;  // that is a number of this domain
    out.push_back(encoded(Observation{o}));
  }
  for (const auto& w : at->parent->workloads()) out.push_back(encoded(Observation{shown(w, *at->parent)}));
  return out;
}

/// Nothing: it is not due any more. What is due already keeps its time.
void World::plan(const std::string& uid, Subject& subject, Task task, std::optional<Time> when) {
  const auto it = subject.due.find(task);
  if (it != subject.due.end()) {
    if (when) return;
    agenda_.erase({it->second, {uid, task}});
    subject.due.erase(it);
  } else if (when) {
    const Time t = std::max(*when, driver_.domain().now());
    subject.due.emplace(task, t);
    agenda_.insert({t, {uid, task}});
  }
}

void World::look_at(std::string_view uid) {
  const auto it = subjects_.find(uid);
  if (it == subjects_.end()) return;
  Subject& subject = it->second;
  const auto at = find(uid);
  if (!at) {
    for (const auto& [task, time] : subject.due) agenda_.erase({time, {it->first, task}});
    subject.due.clear();
    return;
  }
  const Time now = driver_.domain().now();
  bool writes = false, starts = false, stops = false, pods = false;
  for (const Intent& intent : driver_.entities().intents_of(at->index)) {
    if (const auto* job = std::get_if<JobIntent>(&intent)) {
      starts = job->run;
      stops = !job->run;
    } else if (const auto* release = std::get_if<PodReleaseIntent>(&intent)) {
      pods = pods || release->topology_gate;
    } else if (std::holds_alternative<PodFailIntent>(intent)) {
      pods = true;
    } else if (!std::holds_alternative<WorkloadAdoptIntent>(intent)) {
      writes = true;
    }
  }
  const auto due = [&](bool wanted, Duration after) { return wanted ? std::optional(now + after) : std::nullopt; };
  plan(it->first, subject, Task::write, due(writes, write_time));
  plan(it->first, subject, Task::start, due(starts, responses_.until_start()));
  plan(it->first, subject, Task::stop, due(stops, responses_.until_stop()));
  plan(it->first, subject, Task::pods, due(pods, write_time));
  plan_run(it->first, subject, *at->parent);
  plan_checks(it->first, subject, *at->parent);
}

void World::plan_run(const std::string& uid, Subject& subject, const WorkloadParent& parent) {
  const Time now = driver_.domain().now();
  bool runs = false, is_ready = false, holds_in_vain = false;
  if (const auto& job = parent.job()) {
    runs = !job->suspended && !job->finished;
    is_ready = job->pods_ready;
  } else if (const auto* w = admitted_of(parent)) {
    runs = !w->evicted();
    is_ready = w->is_true(ConditionType::pods_ready);
  }
  if (!parent.job())
    holds_in_vain =
        std::ranges::any_of(parent.workloads(), [](const WorkloadState& w) { return w.evicted() && w.reserved() && !w.finished(); });
  plan(uid, subject, Task::clear, holds_in_vain ? std::optional(now + responses_.until_stop()) : std::nullopt);
  if (!runs) {
    if (subject.running_since.is_set() && responses_.progress() == Progress::kept)
      subject.done = Duration{subject.done.micros + (now - subject.running_since).micros};
    subject.running_since = Time::never();
    subject.children_come = 0;
    for (const Task task : {Task::child, Task::ready, Task::end}) plan(uid, subject, task, std::nullopt);
    return;
  }
  if (!subject.running_since.is_set()) subject.running_since = now;
  plan_child(uid, subject);
  const auto ready = responses_.until_ready(uid);
  plan(uid, subject, Task::ready, !is_ready && ready ? std::optional(subject.running_since + *ready) : std::nullopt);
  const auto run_time = run_time_(uid);
  if (!std::exchange(subject.timed, true)) ++timed_;
  if (!run_time)
    endless_.insert(name_of_subject(parent));
  else if (!run_time->own)
    estimated_.insert(name_of_subject(parent));
  plan(uid, subject, Task::end, run_time ? std::optional(subject.running_since - subject.done + run_time->time) : std::nullopt);
}

void World::plan_checks(const std::string& uid, Subject& subject, const WorkloadParent& parent) {
  std::optional<Time> first;
  for (const auto& w : parent.workloads()) {
    auto& [reserved_at, attempt] = subject.attempts[std::string(std::string_view(w.uid))];
    if (!w.reserved() || w.evicted() || w.finished()) continue;
    const Time since = w.find(ConditionType::quota_reserved)->last_transition;
    if (since != reserved_at) {
      if (reserved_at.is_set()) ++attempt;
      reserved_at = since;
    }
    for (const auto& c : w.checks) {
      if (c.state != CheckState::pending) continue;
      const auto answer = responses_.answer(w.uid, c.name.text(), attempt);
      if (answer) {
        const Time when = since + answer->after;
        if (!first || when < *first) first = when;
      } else {
        silent_checks_.insert(std::string(c.name.text()) + " of " + std::string(w.namespace_.text()) + "/" +
                              std::string(std::string_view(w.name)));
      }
    }
  }
  if (const auto it = subject.due.find(Task::check); it != subject.due.end() && first && it->second > *first)
    plan(uid, subject, Task::check, std::nullopt);  // an earlier one has come
  plan(uid, subject, Task::check, first);
}

void World::say_next() {
  const auto [time, what] = *agenda_.begin();
  agenda_.erase(agenda_.begin());
  const auto [uid, task] = what;
  subjects_.at(uid).due.erase(task);
  arena_.clear();
  if (find(uid)) {
    switch (task) {
      case Task::write:
        write_all(uid);
        break;
      case Task::start:
        start_or_stop(uid, true);
        break;
      case Task::stop:
        start_or_stop(uid, false);
        break;
      case Task::pods:
        release_pods(uid);
        break;
      case Task::child:
        bring_child(uid);
        break;
      case Task::ready:
        be_ready(uid);
        break;
      case Task::check:
        answer_checks(uid);
        break;
      case Task::clear:
        clear(uid);
        break;
      case Task::end:
        end(uid);
        break;
    }
  }
  look_at(uid);
}

// ---- what it says -------------------------------------------------------------------------------------------------------------

void World::tell_job(const WorkloadParent& parent, const std::function<void(JobObserved&)>& change) {
  JobObserved o = observed_again(*parent.job(), arena_);
  ++o.meta.resource_version;
  change(o);
  tell_(Observation{o});
}

WorkloadObserved World::shown(const WorkloadState& w, const WorkloadParent& parent) {
  WorkloadObserved o = observed_again(w, arena_);
  ++o.meta.resource_version;
  if (const auto& job = parent.job(); job && o.owner_kind.empty() && !o.owner_uid.empty()) {
    o.owner_kind = job->kind.text();
    o.owner_name = arena_.copy(std::string_view(job->name));
  }
  return o;
}

void World::write_all(const std::string& uid) {
  const auto at = find(uid);
  for (const Intent& intent : driver_.entities().intents_of(at->index)) {
    const auto now_at = find(uid);  // what was written before may have taken it away
    if (!now_at) return;
    if (const auto* i = std::get_if<WorkloadIntent>(&intent)) write(*i, *now_at);
    if (const auto* i = std::get_if<WorkloadCreateIntent>(&intent)) write(*i, *now_at);
    if (const auto* i = std::get_if<OptionCreateIntent>(&intent)) write(*i, *now_at);
    if (const auto* i = std::get_if<WorkloadReviseIntent>(&intent)) write(*i, *now_at);
  }
}

void World::write(const WorkloadIntent& intent, const Parent& at) {
  const auto* w = by_uid(*at.parent, intent.uid);
  if (w == nullptr) return;
  const bool goes = intent.remove || (intent.release_finalizer && w->deleting);
  if (goes) {
    tell_(Observation{
        ObjectDeleted{ObjectKind::workload, arena_.copy(intent.namespace_), arena_.copy(intent.name), arena_.copy(intent.uid), {}}});
    return;
  }
  WorkloadObserved o = shown(*w, *at.parent);
  if (intent.release_finalizer) o.meta.in_use_finalizer = false;
  if (w->waits_for(Section::active)) ++o.meta.generation;
  tell_(Observation{o});
}

std::string World::new_uid(const std::string& namespace_, const std::string& name) {
  const std::string full = namespace_ + "/" + name;
  const int n = names_[full]++;
  if (n == 0)
    if (const auto recorded = responses_.uid_of(full); recorded && !driver_.domain().find_parent(*recorded)) return *recorded;
  return "what-if/" + full + (n == 0 ? "" : "#" + std::to_string(n));
}

void World::write(const WorkloadCreateIntent& intent, const Parent& at) {
  const auto& job = at.parent->job();
  if (!job || by_name(*at.parent, intent.name) != nullptr) return;
  WorkloadObserved o;
  o.meta.namespace_ = arena_.copy(intent.namespace_);
  o.meta.name = arena_.copy(intent.name);
  o.meta.uid = arena_.copy(new_uid(intent.namespace_, intent.name));
  o.meta.resource_version = 1;
  o.meta.generation = 1;
  o.meta.created = on_server(driver_.domain().now());
  o.meta.in_use_finalizer = driver_.domain().rules() < rules_with_quota_of_deleted;  // as builds with these rules make it
  o.owner_uid = o.job_uid = arena_.copy(intent.job_uid);
  o.owner_kind = arena_.copy(intent.job_kind);
  o.owner_name = arena_.copy(intent.job_name);
  o.queue_name = arena_.copy(intent.queue_name);
  const auto* replaced = intent.replaces_uid.empty() ? nullptr : by_uid(*at.parent, intent.replaces_uid);
  if (!intent.replaces_uid.empty() && replaced == nullptr) return;
  o.pod_sets = observed_again(replaced != nullptr ? replaced->pod_sets.value() : job->pod_sets.value(), arena_);
  if (replaced != nullptr) o.pod_sets = with_counts(o.pod_sets, intent.counts, arena_);
  o.priority = intent.priority;
  o.priority_class_kind = intent.priority_class_kind;
  o.priority_class = arena_.copy(intent.priority_class);
  if (intent.max_exec_seconds) o.max_exec_seconds = intent.max_exec_seconds;
  o.admission_gated_by = arena_.copy(intent.admission_gated_by);
  o.elastic = !intent.slice_name.empty();
  o.slice_name = arena_.copy(intent.slice_name);
  o.replacement_for = arena_.copy(intent.replaces);
  o.resource_policy = job->resource_policy;
  o.resource_bounds = arena_.copy(std::string_view(job->resource_bounds));
  tell_(Observation{o});
}

void World::write(const OptionCreateIntent& intent, const Parent& at) {
  const auto* parent = by_uid(*at.parent, intent.parent_uid);
  if (parent == nullptr || parent->deleting || by_name(*at.parent, intent.name) != nullptr) return;
  if (!parent->family_facts || !parent->family_facts->parent_marked) return;  // first it is a Parent for all to see (CA-1)
  WorkloadObserved o = observed_again(*parent, arena_);
  o.meta.name = arena_.copy(intent.name);
  o.meta.uid = arena_.copy(new_uid(intent.namespace_, intent.name));
  o.meta.resource_version = 1;
  o.meta.generation = 1;
  o.meta.created = on_server(driver_.domain().now());
  o.meta.in_use_finalizer = false;
  o.owner_kind = "Workload";
  o.owner_uid = arena_.copy(intent.parent_uid);
  o.owner_name = arena_.copy(intent.parent_name);
  auto pod_sets = arena_.make<PodSetFacts>(o.pod_sets.size());
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    pod_sets[i] = o.pod_sets[i];
    pod_sets[i].min_count.reset();  // CA-58
  }
  o.pod_sets = pod_sets;
  o.active = intent.active;
  o.job_uid = {};
  o.conditions = {};
  o.has_admission = false;
  o.admission_cluster_queue = {};
  o.assignments = {};
  o.checks = {};
  o.has_requeue_state = false;
  o.requeue_count = 0;
  o.requeue_at = Time::never();
  o.reclaimable = {};
  o.accumulated_exec_seconds.reset();
  o.evictions = {};
  o.plan = {};
  o.unhealthy_nodes = {};
  o.options = {};
  o.parent_marked = false;
  o.constrained = true;
  auto allowed = arena_.make<Text>(intent.flavors.size());
  for (std::size_t i = 0; i < allowed.size(); ++i) allowed[i] = arena_.copy(intent.flavors[i]);
  o.allowed_flavors = allowed;
  auto gates = arena_.make<PreemptionGateFacts>(1);
  gates[0] = {"kueue.x-k8s.io/concurrent-admission", false};
  o.preemption_gates = gates;
  tell_(Observation{o});
}

void World::write(const WorkloadReviseIntent& intent, const Parent& at) {
  const auto* w = by_uid(*at.parent, intent.uid);
  if (w == nullptr) return;
  WorkloadObserved o = shown(*w, *at.parent);
  ++o.meta.generation;
  const auto& job = at.parent->job();
  if (intent.pod_sets && job) o.pod_sets = observed_again(job->pod_sets.value(), arena_);
  o.pod_sets = with_counts(o.pod_sets, intent.counts, arena_);
  o.queue_name = arena_.copy(intent.queue_name);
  o.priority = intent.priority;
  o.priority_class_kind = intent.priority_class_kind;
  o.priority_class = arena_.copy(intent.priority_class);
  if (!intent.job_uid.empty() || w->is_made_as_option()) o.max_exec_seconds = intent.max_exec_seconds;
  if (intent.admission_gated_by) o.admission_gated_by = arena_.copy(*intent.admission_gated_by);
  if (intent.resource_bounds && job) {
    o.resource_policy = job->resource_policy;
    o.resource_bounds = arena_.copy(std::string_view(job->resource_bounds));
  }
  if (!intent.flavors.empty()) {
    auto allowed = arena_.make<Text>(intent.flavors.size());
    for (std::size_t i = 0; i < allowed.size(); ++i) allowed[i] = arena_.copy(intent.flavors[i]);
    o.allowed_flavors = allowed;
  }
  tell_(Observation{o});
}

void World::start_or_stop(const std::string& uid, bool run) {
  const auto at = find(uid);
  if (!at->parent->job()) return;
  for (const Intent& intent : driver_.entities().intents_of(at->index)) {
    const auto* i = std::get_if<JobIntent>(&intent);
    if (i == nullptr || i->run != run) continue;
    if (i->remove) return remove(uid);
    std::vector<std::pair<std::string, std::int32_t>> counts;
    const auto* stopped_by = run ? nullptr : by_uid(*at->parent, i->workload_uid);
    if (run) {
      for (const auto& p : i->pod_sets) counts.emplace_back(p.name, p.count);
    } else if (stopped_by != nullptr) {
      for (const auto& p : stopped_by->pod_sets.value())
        if (p.min_count >= 0) counts.emplace_back(p.name.text(), p.count);  // only of such a start has written a count (BA-177)
    }
    if (!run) {
      take_pods(uid);
      take_children(uid, subjects_.at(uid));
    }
    tell_job(*at->parent, [&](JobObserved& o) {
      if (!o.elastic) o.pod_sets = with_counts(o.pod_sets, counts, arena_);
      // A stop gives containers back the sizes that they had (MR-55).
      if (!run && !i->sizes.empty() && stopped_by != nullptr) o.pod_sets = observed_again(stopped_by->pod_sets.value(), arena_);
      if (o.suspended == run) ++o.meta.generation;
      o.suspended = !run;
      o.active = run;
      if (run) return;
      o.pods_ready = false;
      o.stopping = false;
      o.ready_pods = std::min(o.ready_pods, 0);
      o.reclaimable = {};
      o.remaining = {};
      o.start_settled = i->settles;
    });
    if (run) make_pods(uid);
    return;
  }
}

void World::be_ready(const std::string& uid) {
  const auto at = find(uid);
  if (at->parent->job()) {
    tell_job(*at->parent, [](JobObserved& o) {
      o.pods_ready = true;
      if (o.ready_pods < 0) return;
      o.ready_pods = 0;
      for (const auto& p : o.pod_sets) o.ready_pods += p.count;
    });
    return;
  }
  const auto* w = admitted_of(*at->parent);
  if (w == nullptr) return;
  WorkloadState ready = *w;
  ready.decide_condition(ConditionType::pods_ready, ConditionStatus::true_, Symbol("PodsReady"), "All pods reached readiness",
                         driver_.domain().now());
  tell_(Observation{shown(ready, *at->parent)});
}

void World::end(const std::string& uid) {
  const auto at = find(uid);
  const End end = responses_.end_of(uid);
  if (at->parent->job()) {
    tell_job(*at->parent, [&](JobObserved& o) {
      o.finished = true;
      o.succeeded = end.succeeded;
      o.active = false;
      o.finish_message = arena_.copy(end.message);
    });
    take_pods(uid);
    take_children(uid, subjects_.at(uid));
    return;
  }
  const auto* w = admitted_of(*at->parent);
  if (w == nullptr) return;
  WorkloadState finished = *w;
  finished.decide_condition(ConditionType::finished, ConditionStatus::true_, Symbol(end.succeeded ? "Succeeded" : "Failed"), end.message,
                            driver_.domain().now());
  tell_(Observation{shown(finished, *at->parent)});
}

/// Who made the Workload takes its reservation back.
void World::clear(const std::string& uid) {
  const auto at = find(uid);
  for (const auto& w : at->parent->workloads()) {
    if (!w.evicted() || !w.reserved() || w.finished()) continue;
    WorkloadState cleared = w;
    const auto* evicted = w.find(ConditionType::evicted);
    const Time now = driver_.domain().now();
    cleared.clear_reservation(Symbol("Pending"), evicted->message.value(), now);
    const bool requeued = evicted->reason.text() == "Preempted" || evicted->reason.text() == "NodeFailures";
    cleared.decide_condition(ConditionType::requeued, requeued ? ConditionStatus::true_ : ConditionStatus::false_, evicted->reason,
                             evicted->message.value(), now);
    tell_(Observation{shown(cleared, *at->parent)});
    return;  // the state is another one now; who else holds in vain is looked for again
  }
}

void World::answer_checks(const std::string& uid) {
  const auto at = find(uid);
  const Time now = driver_.domain().now();
  Subject& subject = subjects_.at(uid);
  for (const auto& w : at->parent->workloads()) {
    const auto known = subject.attempts.find(std::string(std::string_view(w.uid)));
    if (known == subject.attempts.end() || !w.reserved()) continue;
    WorkloadState answered = w;
    bool any = false;
    for (auto& c : answered.checks) {
      if (c.state != CheckState::pending) continue;
      const auto answer = responses_.answer(w.uid, c.name.text(), known->second.second);
      if (!answer || known->second.first + answer->after > now) continue;
      const Symbol name = c.name;
      c = answer->status;
      c.name = name;
      c.last_transition = on_server(now);
      any = true;
    }
    if (!any) continue;
    tell_(Observation{shown(answered, *at->parent)});
    return;
  }
}

}  // namespace hindsight::whatif
