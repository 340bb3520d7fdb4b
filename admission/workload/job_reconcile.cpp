// What a Workload parent decides about its job: that exactly one matching Workload exists, that it follows the job's labels, and
// that the job's end, readiness and reclaimable pods show in it (base-api §7.1). Starting and stopping need no decision of
// their own: they follow from the Workload's conditions (collect_intents).

#include <algorithm>

#include "admission/workload/workload_parent.hpp"

namespace hindsight::admission {
namespace {

constexpr std::string_view beyond_owner = "The job asks for more than is left of what its owner was admitted with";

JobRef ref(const JobState& j, Arena& a) { return {a.copy(j.uid), j.kind.text(), j.group.text(), j.namespace_.text(), a.copy(j.name)}; }

}  // namespace

JobRef WorkloadParent::job_ref(Arena& arena) const { return ref(*job_, arena); }

WorkloadRevised WorkloadParent::revision(const WorkloadState& w, const Symbol& queue, const Priority& priority, Arena& arena) const {
  WorkloadRevised e;
  e.workload = ref(w, arena);
  e.job = job_ref(arena);
  e.queue_name = queue.text();
  e.priority = priority.value;
  e.priority_class_kind = priority.kind;
  e.priority_class = priority.name.text();
  if (job_->max_exec_seconds > 0) e.max_exec_seconds = job_->max_exec_seconds;
  e.job_generation = job_->generation;
  return e;
}

WorkloadParent::Priority WorkloadParent::job_priority(const Catalog& catalog) const {
  const JobState& j = *job_;
  if (!j.priority_class.empty()) {
    const auto it = catalog.workload_priority_classes.find(j.priority_class);
    if (it == catalog.workload_priority_classes.end()) return {false, 0, PriorityClassKind::none, Symbol()};
    return {true, it->second.value, PriorityClassKind::workload_priority_class, j.priority_class};
  }
  if (!j.pod_priority_class.empty()) {
    const auto it = catalog.pod_priority_classes.find(j.pod_priority_class);
    return {true, it == catalog.pod_priority_classes.end() ? 0 : it->second.value, PriorityClassKind::pod_priority_class,
            j.pod_priority_class};
  }
  Priority best;
  for (const auto& [name, c] : catalog.pod_priority_classes)
    if (c.global_default && (best.kind == PriorityClassKind::none || c.value < best.value))
      best = {true, c.value, PriorityClassKind::pod_priority_class, name};
  return best;
}

bool WorkloadParent::lacks_priority_class(const Catalog& catalog) const {
  if (!job_ || is_child(catalog) || job_->finished || job_->deleting || !managed(catalog)) return false;
  if (has_own_workloads() && !(job_->elastic && catalog.settings.elastic_jobs)) return false;
  if (job_->queue_name.empty() && !catalog.settings.manage_jobs_without_queue_name) return false;
  return job_->prebuilt_workload.empty() && !job_priority(catalog).known;
}

bool WorkloadParent::same_templates(const WorkloadState& w) const {
  const JobState& j = *job_;
  // After a start the job carries what was injected; only the core of its templates can be compared then. The same holds until
  // a stop has restored them.
  const bool injected = !j.suspended || j.stopping || w.admitted() || w.evicted();
  const bool same =
      std::equal(w.pod_sets.begin(), w.pod_sets.end(), j.pod_sets.begin(), j.pod_sets.end(), [&](const PodSetSpec& a, const PodSetSpec& b) {
        if (a.name != b.name) return false;
        if (!injected) return a.template_hash == b.template_hash;
        if (a.sized.empty()) return a.core_hash == b.core_hash;
        return a.bare_hash == b.bare_hash || !same_bounds(w);
      });
  return same && (!injected || has_sizes_of(w));
}

bool WorkloadParent::matches_job(const WorkloadState& w) const {
  if (!same_templates(w)) return false;
  const JobState& j = *job_;
  const bool injected = !j.suspended || j.stopping || w.admitted() || w.evicted();
  for (std::size_t i = 0; i < w.pod_sets.size(); ++i) {
    const PodSetSpec& a = w.pod_sets[i];
    const PodSetSpec& b = j.pod_sets[i];
    if (a.count == b.count) continue;
    bool lowered = false;  // by partial admission (BA-177)
    if (w.admission)
      for (const auto& p : w.admission->pod_sets) lowered |= p.pod_set == a.name && p.count == b.count && a.min_count >= 0;
    if (!lowered && !(injected && a.min_count >= 0 && b.count < a.count)) return false;
  }
  return true;
}

/// §8.10: the job's WorkloadPriorityClass, or its value, is another than the Workload's. True also of finished ones.
bool WorkloadParent::wants_class(const WorkloadState& w, const Priority& priority) {
  return priority.known && priority.kind == PriorityClassKind::workload_priority_class &&
         (w.priority_class != priority.name || w.priority_class_kind != priority.kind || w.priority.value_or(0) != priority.value);
}

/// Anybody can write a reference to an owner; what an owner was admitted with is all that those that name it may use together. That it is
/// to be stopped stands in the log first, so that nothing is stopped whose owner was just about to be seen larger.
bool WorkloadParent::stop_beyond(const Context& c, Proposal& p) const {
  const JobState& j = *job_;
  if (!child_ || !beyond_ || !ancestor_runs_ || j.suspended || j.stopping || j.stop_noted || j.finished) return false;
  if (!is_child(*c.catalog) && running_workload() != nullptr) return false;  // it has quota of its own
  p.events.emplace_back(JobStopped{ref(j, *p.arena), beyond_owner});
  return true;
}

/// True if something was proposed.
bool WorkloadParent::reconcile_job(const Context& c, Proposal& p) const {
  const JobState& j = *job_;
  const Settings& settings = c.catalog->settings;
  const std::size_t before = p.events.size();

  if (j.deleting || !managed(*c.catalog)) return false;
  if (stop_beyond(c, p)) return true;
  if (is_child(*c.catalog)) {  // never queued itself (BA-171)
    for (const auto& w : workloads_)
      if (!w.finished() && !w.deleting && !w.removal_pending && !p.full())
        p.events.emplace_back(WorkloadRemoved{ref(w, *p.arena), "The job has an ancestor that is queued", {}});
    return p.events.size() != before;
  }
  for (const auto& w : workloads_) {
    if (!w.option_of().empty()) continue;  // CA-12
    if (!w.finished() || w.revision_pending || w.deleting || w.removal_pending || is_superseded(w) || p.full()) continue;
    const auto priority = job_priority(*c.catalog);
    if (!wants_class(w, priority)) continue;
    WorkloadRevised e;
    e.workload = ref(w, *p.arena);
    e.job = ref(j, *p.arena);
    e.queue_name = w.queue_name.text();
    e.priority = priority.value;
    e.priority_class_kind = priority.kind;
    e.priority_class = priority.name.text();
    if (w.max_exec_seconds > 0) e.max_exec_seconds = w.max_exec_seconds;
    e.job_generation = j.generation;
    p.events.emplace_back(e);
  }
  if (p.events.size() != before) return true;
  if (j.finished) {
    for (std::size_t i = 0; i < workloads_.size(); ++i) {
      const WorkloadState& w = workloads_[i];
      if (w.finished() || w.removal_pending || !w.option_of().empty() || p.full()) continue;
      const auto finish = [&](const WorkloadState& one) {
        p.events.emplace_back(WorkloadFinished{ref(one, *p.arena), j.succeeded ? "Succeeded" : "Failed", p.message(j.finish_message)});
      };
      finish(w);
      if (!w.family) continue;
      for (const std::size_t option : family_of(i, c).options)  // with it, so that all quota is free at once (CA-54, CA-110)
        if (!workloads_[option].finished() && !workloads_[option].deleting && !workloads_[option].removal_pending)
          finish(workloads_[option]);
    }
    return p.events.size() != before;
  }
  if (!j.stop_noted && runs_on_deleted()) {  // the log says why it is to be suspended, and so does an Event
    p.events.emplace_back(JobStopped{job_ref(*p.arena), "Workload is deleted"});
    return true;
  }
  if (!j.quarantined.empty()) return false;  // what it has now is not known: nothing follows from it
  if (j.queue_name.empty() && !settings.manage_jobs_without_queue_name) return false;

  if (hold_back(c, p)) return true;
  const bool prebuilt = !j.prebuilt_workload.empty();
  if (j.elastic && settings.elastic_jobs && !prebuilt) return reconcile_slices(c, p);
  const WorkloadState* mine = nullptr;
  bool any = false;
  for (const auto& w : workloads_) {
    if (!w.option_of().empty()) continue;
    if (w.deleting || w.removal_pending) {
      any = true;
      continue;
    }
    if (is_superseded(w) && !prebuilt) continue;
    if (w.finished()) return false;  // its end is the job's end
    any = true;
    if (prebuilt && w.name != j.prebuilt_workload) continue;
    if (mine == nullptr && matches_job(w)) mine = &w;
  }
  if (mine == nullptr) {
    for (const auto& w : workloads_) {
      if (w.deleting || w.removal_pending || w.revision_pending || is_superseded(w) || !w.option_of().empty() || p.full()) continue;
      if (prebuilt) {  // BA-175: it is what its maker wanted, and the job is something else
        if (w.name == j.prebuilt_workload)
          p.events.emplace_back(WorkloadFinished{ref(w, *p.arena), "OutOfSync", "The prebuilt workload is out of sync with its user job"});
        else
          p.events.emplace_back(WorkloadRemoved{ref(w, *p.arena), "The job names another Workload", {}});
      } else if (j.suspended && w.evicted() && w.reserved()) {
        continue;  // its quota goes first; then it follows the job, and stays inactive if it was (MR-62, MR-65)
      } else if (j.suspended && !j.stopping && !w.reserved()) {  // in place
        auto e = revision(w, j.queue_name, job_priority(*c.catalog), *p.arena);
        e.pod_sets = true;
        p.events.emplace_back(e);
      } else {
        p.events.emplace_back(WorkloadRemoved{ref(w, *p.arena), "No matching Workload; the job's pod sets changed", {}});
      }
    }
    if (!any && !prebuilt && j.suspended && !j.active && !j.stopping && j.requested_since == 0) request_workload(nullptr, c, p);
    return p.events.size() != before;
  }
  for (const auto& w : workloads_)  // BA-173: exactly one
    if (&w != mine && !w.deleting && !w.removal_pending && !is_superseded(w) && w.option_of().empty() && !p.full())
      p.events.emplace_back(WorkloadRemoved{ref(w, *p.arena), "The job has another Workload", {}});

  const WorkloadState& w = *mine;
  if (!j.start_error.empty() && w.admitted()) {
    p.events.emplace_back(WorkloadFinished{ref(w, *p.arena), "FailedToStart", p.message(j.start_error)});
    return true;
  }
  if (!w.revision_pending) {
    const auto priority = job_priority(*c.catalog);
    const bool queue_changed = j.suspended && !w.reserved() && w.queue_name != j.queue_name && !j.queue_name.empty();
    const bool class_changed = wants_class(w, priority);
    const bool limit_changed = j.suspended && !w.admitted() && w.max_exec_seconds != j.max_exec_seconds;
    const bool bounds_changed = j.suspended && !w.reserved() && !prebuilt && !same_bounds(w);
    if (queue_changed || class_changed || limit_changed || bounds_changed || wants_gate(w, settings)) {
      p.events.emplace_back(revision(w, queue_changed ? j.queue_name : w.queue_name, priority, *p.arena));
    }
  }

  if (settings.reclaimable_pods && !j.reclaimable.empty()) {  // BA-151
    std::vector<PodSetCount> wanted;
    for (const auto& [name, n] : j.reclaimable) {
      std::int32_t cap = 0;
      for (const auto& s : w.pod_sets)
        if (s.name == name) cap = s.count;
      const std::int32_t count = std::max(std::min(n, cap), w.reserved() ? w.reclaimable_of(name) : 0);  // never shrinks while reserved
      if (count > 0) wanted.push_back({name.text(), count});
    }
    const bool same = wanted.size() == w.reclaimable.size() && std::all_of(wanted.begin(), wanted.end(), [&](const PodSetCount& x) {
                        return w.reclaimable_of(Symbol(x.pod_set)) == x.count;
                      });
    if (!same) p.events.emplace_back(ReclaimableChanged{ref(w, *p.arena), p.arena->copy(wanted)});
  }

  if (settings.pods_ready_enabled) follow_readiness(w, j.pods_ready, c, p);
  return p.events.size() != before;
}

/// The job shall have a Workload: its first, or one that replaces the slice that it runs on (EJ-8, EJ-9).
void WorkloadParent::request_workload(const WorkloadState* replaces, const Context& c, Proposal& p) const {
  const JobState& j = *job_;
  const auto priority = job_priority(*c.catalog);
  if (replaces == nullptr && !priority.known) return;  // until the WorkloadPriorityClass appears
  WorkloadRequested e;
  e.job = ref(j, *p.arena);
  e.name = p.arena->copy(j.workload_name);
  e.queue_name = j.queue_name.text();
  e.priority = priority.value;
  e.priority_class_kind = priority.kind;
  e.priority_class = priority.name.text();
  if (replaces != nullptr) {
    e.replaces = ref(*replaces, *p.arena);
    e.slice_name = p.arena->copy(chain_name(*replaces));
    e.queue_name = replaces->queue_name.text();
    e.priority = replaces->priority.value_or(0);
    e.priority_class_kind = replaces->priority_class_kind;
    e.priority_class = replaces->priority_class.text();
  }
  if (j.max_exec_seconds > 0) e.max_exec_seconds = j.max_exec_seconds;
  e.job_generation = j.generation;
  if (j.elastic && c.catalog->settings.elastic_jobs) e.counts = job_counts(*p.arena);
  p.events.emplace_back(e);
}

/// §8.4, BA-138. `ready`: all pods of the Workload are; nothing: that is not known, and what is shown stays.
void WorkloadParent::follow_readiness(const WorkloadState& w, std::optional<bool> ready, const Context& c, Proposal& p) const {
  const Condition* now = w.find(ConditionType::pods_ready);
  // a Parent says so first when it is admitted: it is written once less (CA-152)
  if (now == nullptr && !w.reserved() && (w.family || wants_family(w, *c.catalog))) return;
  const bool running = w.admitted() && !w.evicted();
  if (running && now != nullptr && !ready) return;
  ConditionStatus status = ConditionStatus::false_;
  std::string_view reason = "WaitForStart";
  std::string_view message = "Not all pods are ready or succeeded";
  if (running && ready.value_or(false)) {
    status = ConditionStatus::true_;
    const bool recovered = now != nullptr && (now->reason.text() == "WaitForRecovery" || now->reason.text() == "Recovered");
    reason = recovered ? "Recovered" : "Started";
    message = "All pods reached readiness and the workload is running";
  } else if (running && now != nullptr && (now->is_true() || now->reason.text() == "WaitForRecovery")) {
    reason = "WaitForRecovery";
    message = "At least one pod has failed, waiting for recovery";
  }
  if (now == nullptr || now->status != status || now->reason.text() != reason)
    p.events.emplace_back(ConditionChanged{ref(w, *p.arena), ConditionType::pods_ready, status, reason, message, false});
}

}  // namespace hindsight::admission
