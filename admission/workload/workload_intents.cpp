// What the state of a parent wants of the world: writes of status, creations, revisions, starting and stopping the job.
#include <algorithm>

#include "admission/workload/workload_parent.hpp"

namespace hindsight::admission {
const WorkloadState* WorkloadParent::running_workload() const {
  for (const auto& w : workloads_)
    if (w.option_of().empty() && w.admitted() && w.reserved() && !w.evicted() && w.active && !w.finished() && !w.deleting &&
        !w.removal_pending)
      return &w;
  return nullptr;
}

namespace {

std::vector<WantedSize> wanted_sizes(const SizingPlan& plan) {
  std::vector<WantedSize> out;
  for (const auto& p : plan)
    out.push_back({std::string(p.pod_set.text()), p.container, std::string(p.resource.text()), p.original, p.amount});
  return out;
}

WorkloadIntent status_intent(const WorkloadState& w, const Settings& settings, const WorkloadInfo* info) {
  WorkloadIntent i;
  i.uid = w.uid;
  i.namespace_ = w.namespace_.text();
  i.name = w.name;
  i.decision_sequence = w.last_decision;
  i.seen_version = w.resource_version;
  i.checks_decided = w.waits_for(Section::checks);
  if (w.waits_for(Section::active)) i.set_active = w.active;
  if (w.waits_for(Section::parent_markers)) i.parent_markers = w.family.has_value();
  if (w.family)
    for (const auto& o : w.family->options) {
      WantedOption wanted{std::string(o.name), {}, o.phase, o.message.value(), o.last_transition};
      for (const Symbol& flavor : o.flavors) wanted.flavors.emplace_back(flavor.text());
      i.options.push_back(std::move(wanted));
    }
  if (w.option && w.option->gate_since.is_set())
    i.gates.push_back({"kueue.x-k8s.io/concurrent-admission", w.option->gate_open, w.option->gate_since});
  for (const auto& c : w.conditions) i.conditions.push_back({c.type, c.status, std::string(c.reason.text()), c.message, c.last_transition});
  if (w.admission) {
    i.has_admission = true;
    i.cluster_queue = w.admission->cluster_queue.text();
    for (const auto& p : w.admission->pod_sets) {
      WantedAssignment a{std::string(p.pod_set.text()), p.count, {}, {}};
      for (const auto& [r, f] : p.flavors) a.flavors.emplace_back(r.text(), f.text());
      for (const auto& [r, u] : p.usage) a.usage.emplace_back(r.text(), u);
      a.topology = p.topology;
      a.delayed = p.delayed;
      i.assignments.push_back(std::move(a));
    }
  } else if (info != nullptr && w.find(ConditionType::quota_reserved) != nullptr) {
    for (const auto& p : info->pod_sets) {
      std::vector<std::pair<std::string, Amount>> resources;
      for (const auto& r : p.requests) resources.emplace_back(r.resource.text(), multiply(r.amount, p.count));
      i.resource_requests.emplace_back(std::string(p.name.text()), std::move(resources));
    }
  }
  for (const auto& k : w.checks) {
    WantedCheck x{std::string(k.name.text()), k.state, k.last_transition, k.message, {}, {}, k.pod_set_updates};
    if (k.requeue_after_seconds >= 0) x.requeue_after_seconds = k.requeue_after_seconds;
    if (k.retry_count >= 0) x.retry_count = k.retry_count;
    i.checks.push_back(std::move(x));
  }
  i.plan = wanted_sizes(w.plan);
  i.has_requeue_state = w.has_requeue_state;
  i.requeue_count = w.requeue_count;
  i.requeue_at = w.requeue_at;
  for (const auto& [p, n] : w.reclaimable) i.reclaimable.emplace_back(p.text(), n);
  for (const Symbol& node : w.unhealthy_nodes) i.unhealthy_nodes.emplace_back(node.text());
  i.accumulated_exec_seconds = w.accumulated_exec_seconds;
  for (const auto& e : w.evictions) i.evictions.push_back({std::string(e.reason.text()), std::string(e.cause.text()), e.count});
  (void)settings;
  return i;
}

}  // namespace

JobIntent WorkloadParent::job_intent() const {
  JobIntent i;
  i.uid = job_->uid;
  i.kind = job_->kind.text();
  i.group = job_->group.text();
  i.namespace_ = job_->namespace_.text();
  i.name = job_->name;
  return i;
}

/// What the flavors of one pod set bring.
PodSetStart WorkloadParent::start_of(const PodSetReservation& assigned, const Catalog& catalog) {
  PodSetStart s;
  s.name = assigned.pod_set.text();
  s.count = assigned.count;
  s.placed = !assigned.topology.value().empty();
  std::vector<Symbol> seen;
  for (const auto& [resource, flavor] : assigned.flavors) {
    if (std::find(seen.begin(), seen.end(), flavor) != seen.end()) continue;
    seen.push_back(flavor);
    const auto* config = catalog.flavor(flavor);
    if (config == nullptr) continue;
    for (const auto& [k, v] : config->node_labels) s.node_labels.emplace_back(k.text(), v);
    for (const auto& t : config->tolerations) s.tolerations.push_back(t);
  }
  return s;
}

/// The checks that let a Workload run: of a Parent those of its Option.
const std::vector<CheckStatus>& WorkloadParent::checks_behind(const WorkloadState& w) const {
  if (w.family)
    for (const auto& option : workloads_)
      if (option.is_made_as_option() && option.uid == w.family->shown) return option.checks;
  return w.checks;
}

/// What a start on this admission puts into the templates of the job.
std::vector<PodSetStart> WorkloadParent::start_on(const WorkloadState& w, const Catalog& catalog) const {
  std::vector<PodSetStart> out;
  for (const auto& p : w.admission->pod_sets) {
    PodSetStart s = start_of(p, catalog);
    for (const auto& k : checks_behind(w))  // CA-42
      if (k.state == CheckState::ready && !k.pod_set_updates.empty()) s.pod_set_updates.push_back(k.pod_set_updates);
    out.push_back(std::move(s));
  }
  return out;
}

/// Of a Workload whose object has gone: what a stop takes from it elsewhere.
void WorkloadParent::tell_templates_of(const WorkloadState& w, const Catalog& catalog, JobIntent& i) const {
  i.cluster_queue = w.admission->cluster_queue.text();
  i.pod_sets = start_on(w, catalog);
  for (const auto& p : w.pod_sets) {
    PodSetBefore b{std::string(p.name.text()), p.count, {}, p.shape->tolerations, p.topology.has_value()};
    for (const auto& [key, value] : p.shape->node_selector) b.node_selector.emplace_back(key.text(), value);
    i.before.push_back(std::move(b));
  }
}

/// Does the API server show that a family is admitted: the Option that its Parent names, or a Workload that was a Parent until now? The job
/// starts after that, so that nobody sees it run without.
bool WorkloadParent::is_admission_written(const WorkloadState& w) const {
  const auto shows = [](const WorkloadState& holder) {
    return holder.admitted() && !holder.waits_for(Section::admission) && !holder.waits_for(ConditionType::admitted);
  };
  const auto is_its_option = [&](const WorkloadState& other) { return other.is_made_as_option() && other.option_of() == w.uid; };
  if (w.family && !w.family->holds_itself)
    return std::ranges::any_of(workloads_,
                               [&](const auto& other) { return is_its_option(other) && other.uid == w.family->shown && shows(other); });
  const bool was_parent = w.waits_for(Section::parent_markers) || std::ranges::any_of(workloads_, is_its_option);
  return !was_parent || (shows(w) && !w.waits_for(Section::parent_markers));
}

/// Options that are to be made, and those that are to follow their Parent.
void WorkloadParent::collect_family_intents(const Context& c, std::vector<Intent>& out) const {
  for (const auto& w : workloads_) {
    if (w.family && !w.deleting && !w.finished()) {
      for (const auto& r : w.family->requested) {
        OptionCreateIntent i;
        i.parent_uid = w.uid;
        i.namespace_ = w.namespace_.text();
        i.parent_name = w.name;
        i.name = r.name;
        for (const Symbol& flavor : r.flavors) i.flavors.emplace_back(flavor.text());
        i.active = r.active;
        i.decision_sequence = r.since;
        out.emplace_back(std::move(i));
      }
    }
    const std::size_t parent = family_parent_of(w);
    if (parent == Family::none || !w.revision_pending || w.finished() || w.deleting || w.removal_pending) continue;
    const WorkloadState& spec = workloads_[parent];
    WorkloadReviseIntent i;
    i.uid = w.uid;
    i.namespace_ = w.namespace_.text();
    i.name = w.name;
    i.queue_name = spec.queue_name.text();
    i.priority = spec.priority.value_or(0);
    i.priority_class_kind = spec.priority_class_kind;
    i.priority_class = spec.priority_class.text();
    if (spec.max_exec_seconds > 0) i.max_exec_seconds = spec.max_exec_seconds;
    const Family& f = family_of(parent, c);
    if (const std::size_t rank = f.rank_of(position_of(w)); rank != Family::none)
      for (const Symbol& flavor : f.specs[rank].flavors) i.flavors.emplace_back(flavor.text());
    if (spec.elastic)
      for (const auto& pod_set : spec.pod_sets) i.counts.emplace_back(pod_set.name.text(), pod_set.count);
    i.decision_sequence = w.last_decision;
    out.emplace_back(std::move(i));
  }
}

void WorkloadParent::collect_intents(const Context& c, bool all, std::vector<Intent>& out) {
  for (std::size_t n = 0; n < workloads_.size(); ++n) {
    const WorkloadState& w = workloads_[n];
    if (w.gone) continue;
    WorkloadIntent i;
    bool due = (w.unconfirmed & ~(1U << static_cast<unsigned>(Section::spec))) != 0 && !w.uid.empty();
    if (due && end_is_early(w)) due = false;  // first the replacement's reservation, then the end of the old slice (EJ-50)
    if (due)
      i = status_intent(w, c.catalog->settings, placements_[n].info.get());
    else {
      i.uid = w.uid;
      i.namespace_ = w.namespace_.text();
      i.name = w.name;
    }
    if (w.in_use_finalizer && ((w.finished() && !end_is_early(w)) || (w.deleting && (at_rest() || job_->finished)))) {
      if (!due) i = status_intent(w, c.catalog->settings, placements_[n].info.get());
      i.release_finalizer = true;
      due = true;
    }
    if (w.removal_pending && !w.deleting) {
      i.remove = true;
      due = true;
    }
    if (due) out.push_back(std::move(i));
  }
  collect_family_intents(c, out);
  if (!job_) {  // the class of a Workload without a job changed its value (BA-150)
    for (const auto& w : workloads_) {
      if (!w.revision_pending || w.finished() || w.deleting || w.is_made_as_option()) continue;
      const auto it = c.catalog->workload_priority_classes.find(w.priority_class);
      if (it == c.catalog->workload_priority_classes.end()) continue;
      WorkloadReviseIntent i;
      i.uid = w.uid;
      i.namespace_ = w.namespace_.text();
      i.name = w.name;
      i.queue_name = w.queue_name.text();
      i.priority = it->second.value;
      i.priority_class_kind = w.priority_class_kind;
      i.priority_class = w.priority_class.text();
      if (w.max_exec_seconds > 0) i.max_exec_seconds = w.max_exec_seconds;
      i.decision_sequence = w.last_decision;
      out.push_back(std::move(i));
    }
    return;
  }
  collect_pod_intents(c, all, out);
  const JobState& j = *job_;
  if (!managed(*c.catalog)) return;
  if (is_child(*c.catalog)) {  // its ancestor starts it; all that is left to us is to see that it does not run before that
    const bool early = !ancestor_runs_ || (beyond_ && j.stop_noted);
    if (!j.finished && !j.suspended && early && (!j.deleting || j.active)) {
      out.push_back(job_intent());
      std::get<JobIntent>(out.back()).message = "Kueue managed child job suspended";
    }
    return;
  }
  if (j.removal_pending && !j.deleting) {
    out.push_back(job_intent());
    std::get<JobIntent>(out.back()).remove = true;
    return;
  }
  const bool readable = j.quarantined.empty();
  for (const auto& w : workloads_) {
    if (!w.revision_pending || w.deleting || w.removal_pending || !readable || w.is_made_as_option()) continue;
    WorkloadReviseIntent i;
    i.uid = w.uid;
    i.namespace_ = w.namespace_.text();
    i.name = w.name;
    i.job_uid = j.uid;
    i.job_kind = j.kind.text();
    i.job_group = j.group.text();
    i.job_name = j.name;
    const bool settled = w.reserved() || w.finished();  // only its class can follow the job now
    const bool slice = j.elastic && c.catalog->settings.elastic_jobs && same_templates(w);
    i.pod_sets = !settled && j.suspended && !slice && !matches_job(w);
    i.resource_bounds = !settled && j.suspended && !slice;
    if (slice && !w.finished()) {
      bool higher = false;
      for (std::size_t k = 0; k < w.pod_sets.size(); ++k) {
        higher = higher || j.pod_sets[k].count > w.pod_sets[k].count;
        i.counts.emplace_back(j.pod_sets[k].name.text(), j.pod_sets[k].count);
      }
      if (w.reserved() && higher) i.counts.clear();  // EJ-103; a new slice is on its way
    }
    const auto priority = job_priority(*c.catalog);
    i.queue_name = settled || (slice && !j.suspended) ? w.queue_name.text() : j.queue_name.text();
    i.priority = priority.value;
    i.priority_class_kind = priority.kind;
    i.priority_class = priority.name.text();
    if (slice && !w.finished() && (!priority.known || (w.reserved() && w.priority_class.empty()))) {  // EJ-94
      i.priority = w.priority.value_or(0);
      i.priority_class_kind = w.priority_class_kind;
      i.priority_class = w.priority_class.text();
    }
    const std::int32_t limit = settled ? w.max_exec_seconds : j.max_exec_seconds;
    if (limit > 0) i.max_exec_seconds = limit;
    if (wants_gate(w, c.catalog->settings)) i.admission_gated_by = j.admission_gated_by;
    i.decision_sequence = w.last_decision;
    out.push_back(std::move(i));
  }
  if (j.finished) return;
  const auto* running = running_workload();
  // Finalizers of its user's keep a job, and pods of it, as long as they like: one that holds no quota is stopped all the same.
  const bool reserved =
      std::any_of(workloads_.begin(), workloads_.end(), [](const WorkloadState& w) { return w.reserved() && !w.finished(); });
  if (j.deleting && (j.suspended || !j.active || reserved)) return;
  const bool ours = !workloads_.empty() || !j.queue_name.empty() || c.catalog->settings.manage_jobs_without_queue_name;
  const bool beyond = child_ && beyond_ && ancestor_runs_ && running == nullptr;
  const bool undecided = (gated(*c.catalog) || beyond || runs_on_deleted()) && !j.stop_noted;  // JobStopped comes first (SG-26)
  const bool run = running != nullptr && !j.stopping;                                          // a stop in progress comes to its end first
  const bool settle = j.suspended && j.start_left != 0;                                        // else nothing is wanted of a job that waits
  const bool holds = !readable && run;  // what would be started is not what got quota; what runs, runs on
  const bool early = run && !is_admission_written(*running);
  if (ours && !holds && !early && (settle || (!undecided && j.suspended == run))) {
    JobIntent i = job_intent();
    i.run = run;
    i.settles = settle ? j.start_left : 0;
    const auto* source = running;
    if (source == nullptr)
      for (const auto& w : workloads_)
        if (!w.finished() && w.option_of().empty()) source = &w;
    if (source != nullptr) {
      i.workload = source->name;
      i.workload_uid = source->uid;
      i.local_queue = source->queue_name.text();
      if (j.elastic && c.catalog->settings.elastic_jobs) i.slice_name = chain_name(*source);
      i.decision_sequence = source->last_decision;
    }
    if (run) {
      i.cluster_queue = running->admission->cluster_queue.text();
      i.sizes = wanted_sizes(running->plan);
      i.pod_sets = start_on(*running, *c.catalog);
    } else {
      i.sizes = wanted_sizes(j.plan);
      const auto* e = source != nullptr ? source->find(ConditionType::evicted) : nullptr;
      i.message = e != nullptr && e->is_true() ? e->message.value() : "Not admitted by cluster queue";
      if (source != nullptr && source->gone) tell_templates_of(*source, *c.catalog, i);
    }
    out.push_back(std::move(i));
  } else if (j.stopping && j.suspended && !workloads_.empty()) {
    // a stop that was cut off before it restored the templates goes on
    JobIntent i = job_intent();
    i.workload = workloads_.back().name;
    i.workload_uid = workloads_.back().uid;
    i.local_queue = workloads_.back().queue_name.text();
    i.decision_sequence = workloads_.back().last_decision;
    i.sizes = wanted_sizes(j.plan);
    if (workloads_.back().gone) tell_templates_of(workloads_.back(), *c.catalog, i);
    out.push_back(std::move(i));
  }
  if (!readable || j.deleting) return;
  if (!j.prebuilt_workload.empty() && !gated(*c.catalog) &&
      std::none_of(workloads_.begin(), workloads_.end(), [&](const WorkloadState& w) { return w.name == j.prebuilt_workload; }))
    out.emplace_back(WorkloadAdoptIntent{std::string(j.namespace_.text()), j.prebuilt_workload.text(), j.uid.text(),
                                         std::string(j.kind.text()), std::string(j.group.text()), j.name.text()});
  const bool sliced_job = j.elastic && c.catalog->settings.elastic_jobs;
  const bool unseen =
      std::none_of(workloads_.begin(), workloads_.end(), [&](const WorkloadState& w) { return w.name == j.requested_name; });
  if (j.requested_since != 0 && (sliced_job ? unseen && (j.suspended || !j.requested_for.empty()) : !has_own_workloads() && j.suspended)) {
    WorkloadCreateIntent i;
    i.job_uid = j.uid;
    i.job_kind = j.kind.text();
    i.job_group = j.group.text();
    i.namespace_ = j.namespace_.text();
    i.job_name = j.name;
    i.name = sliced_job ? j.requested_name.view() : std::string_view(j.workload_name);
    const auto priority = job_priority(*c.catalog);
    i.queue_name = j.queue_name.text();
    i.priority = priority.value;
    i.priority_class_kind = priority.kind;
    i.priority_class = priority.name.text();
    if (sliced_job) i.slice_name = j.requested_name;
    for (const auto& w : workloads_) {
      if (!sliced_job || w.uid != j.requested_for) continue;
      i.slice_name = chain_name(w);
      i.replaces_uid = w.uid;
      i.replaces = std::string(w.namespace_.text()) + "/" + w.name;
      i.queue_name = w.queue_name.text();
      i.priority = w.priority.value_or(0);
      i.priority_class_kind = w.priority_class_kind;
      i.priority_class = w.priority_class.text();
      for (const auto& p : j.pod_sets) i.counts.emplace_back(p.name.text(), p.count);
    }
    if (j.max_exec_seconds > 0) i.max_exec_seconds = j.max_exec_seconds;
    if (c.catalog->settings.admission_gated_by && i.replaces.empty()) i.admission_gated_by = j.admission_gated_by;  // SG-49, SG-59
    i.decision_sequence = j.requested_since;
    out.push_back(std::move(i));
  }
}

}  // namespace hindsight::admission
