#include "admission/workload/workload_parent.hpp"

#include <algorithm>

#include "admission/rules.hpp"
#include "admission/scheduling/sizing.hpp"

namespace hindsight::admission {
namespace {

std::uint64_t requests_hash(const WorkloadState& w) {
  StateHash h;
  for (const auto& p : w.pod_sets) {
    for (const auto& r : p.requests) {
      h.add(r.resource);
      h.add(r.amount);
    }
    h.add(p.limits_error.empty() && p.limit_range_error.empty());
  }
  return h.value();
}

bool has_failed_checks(const WorkloadState& w) {
  return std::any_of(w.checks.begin(), w.checks.end(),
                     [](const CheckStatus& k) { return k.state == CheckState::retry || k.state == CheckState::rejected; });
}

std::uint64_t counts_hash(const WorkloadState& w) {
  StateHash h;
  for (const auto& p : w.pod_sets) h.add(p.count);
  return h.value();
}

}  // namespace

std::uint64_t JobState::hash() const {
  StateHash h;
  h.add(std::string_view(uid));
  h.add(std::string_view(name));
  h.add(kind);
  h.add(group);
  h.add(namespace_);
  h.add(resource_version);
  h.add(generation);
  h.add(deleting);
  h.add(queue_name);
  h.add(priority_class);
  h.add(pod_priority_class);
  h.add(max_exec_seconds);
  for (const bool b : {suspended, active, pods_ready, stopping, finished, succeeded, on_hold, managed, start_due}) h.add(b);
  h.add(start_left);
  h.add(std::string_view(finish_message));
  h.add(std::string_view(admission_gated_by));
  for (const auto& p : pod_sets) {
    h.add(p.name);
    h.add(p.count);
    h.add(p.template_hash);
    h.add(p.core_hash);
  }
  for (const auto& [p, n] : reclaimable) {
    h.add(p);
    h.add(n);
  }
  h.add(std::string_view(start_error));
  h.add(std::string_view(prebuilt_workload));
  h.add(removal_pending);
  h.add(requested_since);
  h.add(elastic);
  h.add(ready_pods);
  for (const auto& [p, n] : remaining) {
    h.add(p);
    h.add(n);
  }
  h.add(std::string_view(requested_name));
  h.add(std::string_view(requested_for));
  h.add(std::string_view(scheduling_gated_by));
  h.add(std::string_view(gate_noted));
  h.add(gated_since);
  h.add(gate_ignored);
  h.add(stop_noted);
  h.add(resource_policy);
  h.add(std::string_view(resource_bounds));
  for (const auto& p : pod_sets)
    if (!p.sized.empty()) h.add(sizes_hash(p.sized));
  add_plan(h, plan);
  if (!quarantined.empty()) h.add(std::string_view(quarantined));
  if (pods_gated) h.add(std::string_view("gated"));
  if (by_itself) h.add(std::string_view("by itself"));
  return h.value();
}

std::uint64_t JobState::observed_hash() const {
  StateHash h;
  h.add(outside_hash());
  for (const bool b : {suspended, active, pods_ready, stopping, start_due}) h.add(b);
  h.add(ready_pods);
  h.add(std::string_view(finish_message));
  h.add(std::string_view(prebuilt_workload));
  h.add(std::string_view(workload_name));
  for (const auto& p : pod_sets) {
    h.add(p.count);
    h.add(p.template_hash);
  }
  return h.value();
}

std::uint64_t JobState::outside_hash() const {
  StateHash h;
  h.add(deleting);
  h.add(queue_name);
  h.add(priority_class);
  h.add(pod_priority_class);
  h.add(max_exec_seconds);
  for (const bool b : {finished, succeeded, on_hold, managed}) h.add(b);
  h.add(std::string_view(admission_gated_by));
  h.add(std::string_view(scheduling_gated_by));
  h.add(resource_policy);
  h.add(std::string_view(resource_bounds));
  h.add(std::string_view(quarantined));
  if (pods_gated) h.add(std::string_view("gated"));
  for (const auto& p : pod_sets) {
    h.add(p.sized.empty() ? p.core_hash : p.bare_hash);  // what is sized changes by our own hand, too
    if (elastic) h.add(p.count);                         // counts of other jobs change by our own hand, too
  }
  for (const auto* list : {&reclaimable, &remaining})
    for (const auto& [p, n] : *list) {
      h.add(p);
      h.add(n);
    }
  return h.value();
}

std::uint64_t WorkloadParent::hash() const {
  if (hash_ != 0) return hash_;
  StateHash h;
  h.add(job_.has_value());
  if (job_) h.add(job_->hash());
  for (const auto& w : workloads_) h.add(w.hash());
  for (const auto& pod : pods_) {
    h.add(std::string_view(pod.uid));
    h.add(std::string_view(pod.name));
    h.add(pod.pod_set);
    h.add(pod.index);
    h.add(pod.resource_version);
    for (const bool b : {pod.gated, pod.ended, pod.released}) h.add(b);
    h.add(pod.released_at);
    if (!pod.placed) continue;
    for (const bool b : {pod.topology_gated, pod.index_offset_bad}) h.add(b);
    h.add(pod.index_offset);
    h.add(pod.group);
    h.add(pod.workload);
    h.add(pod.node);
    for (const bool b : {pod.terminating, pod.failing}) h.add(b);
    for (const auto& [resource, amount] : pod.requests->amounts) {
      h.add(resource);
      h.add(amount);
    }
    for (const auto* selector : {&pod.selector, &pod.place}) {
      h.add(static_cast<std::uint64_t>((*selector)->entries.size()));
      for (const auto& [key, value] : (*selector)->entries) {
        h.add(key);
        h.add(value);
      }
    }
  }
  return hash_ = h.value();
}

void WorkloadParent::restore(Image image) {
  hash_ = 0;
  job_ = std::move(image.job);
  workloads_ = std::move(image.workloads);
  pods_ = std::move(image.pods);
  placements_.assign(workloads_.size(), {});
  repeats_ = std::move(image.repeats);
  forget_families();
  announced_due_ = Time::never();
}

/// The Workload that a message is about, and no other one but those of its family; nothing: it may be about all.
std::optional<WorkloadId> WorkloadParent::told_of_one(const Message& message) const {
  // the families of two slices follow each other (CA-95)
  if (std::any_of(workloads_.begin(), workloads_.end(), [](const WorkloadState& w) { return w.elastic; })) return std::nullopt;
  if (const auto* seen = std::get_if<msg::WorkloadSeen>(&message.payload)) return seen->id;
  if (const auto* refused = std::get_if<msg::WriteRefusedSeen>(&message.payload)) return refused->id;
  const auto* applied = std::get_if<msg::EventApplied>(&message.payload);
  // these name a second Workload, which may have become one of another family since
  if (applied == nullptr || std::holds_alternative<OptionAdopted>(*applied->event) ||
      std::holds_alternative<OptionAdmitted>(*applied->event) || std::holds_alternative<MigrationStarted>(*applied->event))
    return std::nullopt;
  return applied->id;
}

void WorkloadParent::receive(Message& message, const Context& c, Outbox& out) {
  hash_ = 0;
  if (!std::holds_alternative<msg::Reconcile>(message.payload) && !std::holds_alternative<msg::PodSeen>(message.payload))
    pods_settled_ = false;
  Concerned concerned;
  const std::optional<WorkloadId> one = told_of_one(message);
  concerned.all = !one.has_value();
  if (one) concerned.before = family_key_of(*one);
  bool more = false;  // what follows for the family is told once for all events of a record
  if (const auto* m = std::get_if<msg::EventApplied>(&message.payload)) {
    more = m->more && has_families();
    if (m->life_cycle)
      repeats_.applied(*m->event, c.sequence, c.rules >= rules_with_steps_by_base ? c.decided_base : c.sequence, c.configured);
    else
      something_happened(c);
    apply_event(*m->event, m->id, c, out);
  } else if (const auto* m1 = std::get_if<msg::WorkloadSeen>(&message.payload)) {
    apply_workload(*m1->workload, m1->id, c, out);
  } else if (const auto* m2 = std::get_if<msg::JobSeen>(&message.payload)) {
    apply_job(*m2->job, m2->quarantined, c, out);
  } else if (const auto* set_aside = std::get_if<msg::Quarantined>(&message.payload)) {
    apply_quarantine(*set_aside, c, out);
  } else if (std::holds_alternative<msg::HostChanged>(message.payload)) {
    something_happened(c);
    if (std::any_of(workloads_.begin(), workloads_.end(), [](const WorkloadState& w) { return w.elastic; })) {
      tell_lingering(c, out);  // other rules may count its pods otherwise
      follow_survivors(c, out);
    }
  } else if (const auto* seen = std::get_if<msg::PodSeen>(&message.payload)) {
    apply_pod(*seen->pod, c, out);
    return follow_survivors(c, out);
  } else if (const auto* gone = std::get_if<msg::PodGone>(&message.payload)) {
    apply_pod_gone(gone->uid, c, out);
    return follow_survivors(c, out);
  } else if (const auto* away = std::get_if<msg::HandOverPods>(&message.payload)) {
    return hand_over_pods(*away, c, out);
  } else if (auto* here = std::get_if<msg::PodsHandedOver>(&message.payload)) {
    return take_over_pods(std::move(here->pods), c, out);
  } else if (std::holds_alternative<msg::Reconcile>(message.payload)) {
    Proposal p;
    p.most = c.step_bytes;
    reconcile(c, p);
    (void)p.bytes();  // here, where many do it side by side
    if (p.events.empty())
      p.arena.reset();  // a new epoch asks all parents at once, and nearly none has anything to say
    else
      p.repeats = repeats_.repeats(p.events, c.configured);
    out.send(self_, message.from, msg::Proposed{std::move(p)});
    return;
  } else if (const auto* m3 = std::get_if<msg::Refresh>(&message.payload)) {
    something_happened(c);  // a snapshot that is being read restores it afterwards
    const auto chain = chain_of(c);
    for (std::size_t i = 0; i < workloads_.size(); ++i) {
      if (m3->resolve) workloads_[i].resolve_since = c.sequence;
      // Whoever holds quota goes on holding it, and nothing has happened to whoever is done with it: to say so again would refresh counters
      // that have to stay as they are (§8.12).
      const bool pending = placements_[i].kind == Placement::Kind::pending;
      publish(i, {.repush = m3->force, .force = m3->force, .touched = pending || m3->reannounce}, c, out, {nullptr, &chain});
    }
    if (!pods_.empty()) tell_lingering(c, out);  // of a job that has gone nothing else speaks
  } else if (const auto* d = std::get_if<msg::Descends>(&message.payload)) {
    if (!job_) return;
    if (child_ != d->child || ancestor_runs_ != d->runs || beyond_ != d->beyond) something_happened(c);
    child_ = d->child;
    ancestor_runs_ = d->runs;
    beyond_ = d->beyond;
  } else if (const auto* weigh = std::get_if<msg::Weigh>(&message.payload)) {
    weighed_ = weigh->watched;
    return tell_size(out);
  } else if (auto* adopted = std::get_if<msg::WorkloadAdopted>(&message.payload)) {
    adopt_workload(std::move(*adopted->workload), c, out);
  } else if (const auto* seen_parent = std::get_if<msg::ParentSeen>(&message.payload)) {
    for (std::size_t i = workloads_.size(); i-- > 0;) {
      if (workloads_[i].option_of() != seen_parent->uid) continue;
      auto leaving = std::make_unique<WorkloadState>(workloads_[i]);
      remove_workload(i, c, out);
      out.send(self_, domain_address, msg::Disowned{std::move(leaving)});
    }
    retire_if_empty(out);
  } else if (const auto* wr = std::get_if<msg::WatchRuns>(&message.payload)) {
    watched_ = wr->watched;
    told_runs_ = false;
  } else if (const auto* m4 = std::get_if<msg::ParkedByRecord>(&message.payload)) {
    for (std::size_t i = 0; i < workloads_.size(); ++i)
      if (workloads_[i].id == m4->id) placements_[i].record_reason = m4->reason;
    return;
  } else if (const auto* m5 = std::get_if<msg::WorkloadGone>(&message.payload)) {
    apply_workload_gone(*m5, c, out);
  } else if (std::holds_alternative<msg::JobGone>(message.payload)) {
    something_happened(c);
    job_.reset();
    // Those that still run use their nodes until they have ended.
    std::erase_if(pods_, [](const PodState& pod) { return !pod.placed || pod.node.empty() || pod.ended; });
    tell_lingering(c, out);
    child_ = beyond_ = weighed_ = false;
    tell_runs(out);
    publish_all({}, c, out);
    out.send(self_, domain_address, msg::WorldChanged{});
    retire_if_empty(out);
  } else if (const auto* m6 = std::get_if<msg::WriteRefusedSeen>(&message.payload)) {
    something_happened(c);
    if (m6->refused->kind == ObjectKind::job) {
      if (job_) job_->removal_pending = false;
      if (job_ && m6->refused->http_status == 0) job_->start_error = m6->refused->message;
      note_refused_start(*m6->refused);
      announce_due(c, out);
      return;
    }
    if (m6->refused->kind == ObjectKind::pod) {
      if (auto* pod = find_pod(m6->refused->uid)) {
        pod->released = pod->failing = false;
        pod->place = NodeSelector{};
      }
      return;
    }
    // The reservation could not be written (BA-75): quota is given back, and the workload may try again at once.
    for (std::size_t i = 0; i < workloads_.size(); ++i) {
      auto& w = workloads_[i];
      if (w.id != m6->id) continue;
      if (refuse_option(w, *m6->refused)) {
        forget_families();  // it may have another name now
        continue;
      }
      w.revision_pending = false;
      w.removal_pending = false;
      // Of an Option that the job runs on the Parent shows it already: it is written again, and nobody is stopped for it.
      const std::size_t parent = family_parent_of(w);
      const bool runs = parent != Family::none && workloads_[parent].reserved() && workloads_[parent].family->shown == w.uid &&
                        !workloads_[parent].waits_for(Section::admission);
      if (w.reserved() && w.waits_for(Section::admission) && !runs) {
        (void)undo_replacement(w, c, out);
        if (parent != Family::none && workloads_[parent].family->shown == w.uid && workloads_[parent].reserved()) {
          workloads_[parent].take_back_reservation();  // it was to show what there is not
          workloads_[parent].family->shown = CompactText();
        }
        w.take_back_reservation();
      }
      w.last_decision = c.sequence;
      publish(i, {.repush = true}, c, out);
    }
  } else {
    refuse(message, "WorkloadParent");
  }
  note_start(c);
  if (!std::holds_alternative<msg::Refresh>(message.payload)) forget_gone(c, out);  // what a snapshot has stays as it was
  if (more) {
    families_untold_ = true;
    return;
  }
  publish_again(c, out);
  concerned.all = std::exchange(families_untold_, false) || concerned.all;
  if (one) concerned.now = family_key_of(*one);
  publish_families(concerned, c, out);
  announce_due(c, out);
  tell_size(out);
  if (watched_) tell_runs(out);
}

/// Decisions are faster than writes: a job may lose its admission while its start is on the way to the API server. Its quota is free when
/// the start has come to an end (BA-131).
void WorkloadParent::note_start(const Context& c) {
  if (!job_) return;
  JobState& j = *job_;
  if (!j.suspended || j.finished || j.deleting || is_child(*c.catalog) || !managed(*c.catalog)) {
    j.start_due = false;
    j.start_left = 0;
  } else if (running_workload() != nullptr) {
    j.start_due = true;
    j.start_left = 0;
  } else if (j.start_due && j.start_left == 0) {
    j.start_left = c.sequence;
  }
}

/// Those that descend from this job may run while its Workload is admitted.
void WorkloadParent::tell_runs(Outbox& out) {
  const bool runs = job_ && running_workload() != nullptr;
  if (!watched_ || runs == told_runs_) return;
  told_runs_ = runs;
  out.send(self_, domain_address, msg::Runs{runs});
}

/// What the parts of the job may use together: as many pods of each pod set as the Workload that it runs on was granted (partial admission,
/// EJ-69). How large the job says that it is has no part in that, for its user may say so at any time. As long as it has no quota, nobody
/// runs as part of it.
PodSetSizes WorkloadParent::granted_sizes() const {
  // A RayCluster runs its pods itself, and goes on with them while it is being deleted as long as somebody keeps it from going. What it
  // makes beside them then is one pod, which cleans up Redis: that has room, and no second copy of the cluster.
  static const Symbol ray_cluster("RayCluster");
  return job_->deleting && job_->kind == ray_cluster ? largest_pod(granted_to_all()) : granted_to_all();
}

PodSetSizes WorkloadParent::granted_to_all() const {
  const WorkloadState* w = active_slice();
  if (w == nullptr) return sizes_of(job_->pod_sets);
  // The same templates may have been read with other defaults of the namespace since; those of its parts were read with the later ones.
  const bool same = std::equal(w->pod_sets.begin(), w->pod_sets.end(), job_->pod_sets.begin(), job_->pod_sets.end(),
                               [](const PodSetSpec& a, const PodSetSpec& b) { return a.name == b.name && a.core_hash == b.core_hash; });
  PodSetSizes out = sizes_of(same ? job_->pod_sets : w->pod_sets);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].count = w->pod_sets[i].count;
    for (const auto& a : w->admission->pod_sets)
      if (a.pod_set == out[i].name) out[i].count = std::min(out[i].count, a.count);
  }
  return out;
}

/// Whenever something may have changed it: the domain looks whether it did.
void WorkloadParent::tell_size(Outbox& out) {
  if (!weighed_ || !job_) return;
  out.send(self_, domain_address, msg::Sized{sizes_of(job_->pod_sets), granted_sizes(), job_->pods_gated, !job_->quarantined.empty()});
}

void WorkloadParent::tell_not_ready(std::size_t index, bool not_ready, Outbox& out) {
  if (placements_[index].not_ready == not_ready) return;
  placements_[index].not_ready = not_ready;
  out.send(self_, domain_address, msg::NotReady{workloads_[index].id, not_ready});
}

void WorkloadParent::retire_if_empty(Outbox& out) {
  if (!empty()) return;
  told_next_.clear();
  told_of_slice_.clear();
  announced_due_ = Time::never();
  repeats_.forget(0);
  child_ = ancestor_runs_ = beyond_ = watched_ = weighed_ = told_runs_ = false;
  out.send(self_, domain_address, msg::Retired{});
}

void WorkloadParent::something_happened(const Context& c) { repeats_.forget(c.rules >= rules_with_steps_by_base ? c.sequence : 0); }

// ---- applying observations ------------------------------------------------------------------------------------------------

/// `quarantined`: only the outline could be read. What else is known of the job is of its last version that could, and holds.
void WorkloadParent::apply_job(const JobObserved& o, Text quarantined, const Context& c, Outbox& out) {
  if (job_ && o.meta.resource_version != 0 && o.meta.resource_version <= job_->resource_version && job_->quarantined == quarantined)
    return;  // a repeat, or told late
  if (job_ && o.meta.resource_version != 0 && o.meta.resource_version < job_->resource_version) {
    if (!quarantined.empty()) out.send(self_, domain_address, msg::ReadSince{job_->uid});
    return;
  }
  const bool first = !job_;
  if (first) job_.emplace();
  JobState& j = *job_;
  const std::uint64_t before = first ? 0 : j.outside_hash();
  const std::uint64_t observed = first ? 0 : j.observed_hash();
  if (o.meta.resource_version != 0) j.resource_version = o.meta.resource_version;
  if (first) {
    j.uid = o.meta.uid;
    j.name = o.meta.name;
    j.kind = Symbol(o.kind);
    j.group = Symbol(o.group);
    j.namespace_ = Symbol(o.meta.namespace_);
  }
  j.generation = o.meta.generation;
  j.deleting = o.meta.deleting;
  j.suspended = o.suspended;
  j.active = o.active;
  j.stopping = o.stopping;
  j.finished = o.finished;
  j.succeeded = o.succeeded;
  j.finish_message = o.finish_message;
  j.managed = o.managed;
  j.quarantined = quarantined;
  if (first || quarantined.empty()) read_whole(o);
  if (j.suspended) j.stop_noted = false;
  if (o.start_settled != 0 && o.start_settled == j.start_left) {
    j.start_due = false;
    j.start_left = 0;
  }
  if (quarantined.empty()) note_sizes();
  if (first) disown_foreign(c, out);
  const bool news = first || j.outside_hash() != before;
  if (news) out.send(self_, domain_address, msg::WorldChanged{});
  if (first || j.observed_hash() != observed) something_happened(c);
  publish_all({}, c, out);
}

/// What an outline does not have.
void WorkloadParent::read_whole(const JobObserved& o) {
  JobState& j = *job_;
  j.queue_name = Symbol(o.queue_name);
  j.priority_class = Symbol(o.priority_class);
  j.pod_priority_class = Symbol(o.pod_priority_class);
  j.prebuilt_workload = o.prebuilt_workload;
  j.max_exec_seconds = o.max_exec_seconds.value_or(0);
  j.pods_ready = o.pods_ready;
  j.on_hold = o.on_hold;
  j.admission_gated_by = o.admission_gated_by;
  j.scheduling_gated_by = o.scheduling_gated_by;
  j.resource_policy = o.resource_policy;
  j.resource_bounds = o.resource_bounds;
  j.workload_name = o.workload_name;
  j.pod_sets = own_pod_sets(o.pod_sets);
  j.reclaimable.clear();
  for (const auto& r : o.reclaimable) j.reclaimable.emplace_back(Symbol(r.pod_set), r.count);
  j.remaining.clear();
  for (const auto& r : o.remaining) j.remaining.emplace_back(Symbol(r.pod_set), r.count);
  j.ready_pods = o.ready_pods;
  j.elastic = o.elastic;
  j.pods_gated = o.pods_gated;
}

void WorkloadParent::apply_quarantine(const msg::Quarantined& m, const Context& c, Outbox& out) {
  const auto note = [&](CompactText& quarantined, const CompactText& uid, std::uint64_t known) {
    if (m.resource_version != 0 && m.resource_version < known) {
      if (!m.reason.empty()) out.send(self_, domain_address, msg::ReadSince{uid});
      return false;
    }
    if (quarantined == m.reason) return false;
    quarantined = m.reason;
    return true;
  };
  bool noted = !m.workload && job_ && note(job_->quarantined, job_->uid, job_->resource_version);
  for (auto& w : workloads_)
    if (!m.workload || w.id == *m.workload) {
      if (m.workload) noted |= note(w.quarantined, w.uid, w.resource_version);
      if (noted) w.resolve_since = c.sequence;
    }
  if (!noted) return;
  something_happened(c);
  out.send(self_, domain_address, msg::WorldChanged{});
  publish_all({.repush = true}, c, out);
}

/// For one more Workload. A family has five of half a kilobyte, and there are tens of thousands of families: no room is kept beside them.
void WorkloadParent::make_room() {
  const std::size_t more = workloads_.size() + 1 + workloads_.size() / 4;
  if (workloads_.size() == workloads_.capacity()) workloads_.reserve(workloads_.size() < 16 ? workloads_.size() + 1 : more);
  if (placements_.size() == placements_.capacity()) placements_.reserve(workloads_.capacity());
}

void WorkloadParent::apply_workload(const WorkloadObserved& o, WorkloadId id, const Context& c, Outbox& out) {
  std::size_t index = 0;
  while (index < workloads_.size() && workloads_[index].id != id) ++index;
  const bool first = index == workloads_.size();
  if (first) {
    make_room();
    workloads_.emplace_back();
    workloads_.back().id = id;
    placements_.emplace_back();
    if (job_ && o.owner_kind != "Workload" && (job_->requested_name.empty() || job_->requested_name == o.meta.name))
      job_->requested_since = 0;
  }
  WorkloadState& w = workloads_[index];
  if (!first && o.meta.resource_version != 0 && o.meta.resource_version <= w.resource_version) {  // a repeat, or told late
    if (o.meta.resource_version == w.resource_version) apply_quarantine({id, o.meta.resource_version, {}}, c, out);
    return;
  }

  const auto gate = [](const WorkloadState& s) {
    const auto* e = s.find(ConditionType::evicted);
    const auto* r = s.find(ConditionType::requeued);
    return std::tuple(s.generation, s.active, s.priority, s.priority_boost, e != nullptr && e->is_true(), r != nullptr && r->is_false(),
                      s.reclaimable, s.queue_name);
  };
  const auto before = gate(w);
  const bool was_reserving = placements_[index].kind == Placement::Kind::reserving;
  const bool was_finished = w.finished();
  const bool was_inactive = !w.active;
  const bool had_failed_checks = has_failed_checks(w);
  const auto old_reclaimable = w.reclaimable;
  const auto old_priority = w.effective_priority(c.catalog->settings);
  const auto old_requests = requests_hash(w);
  const auto old_counts = counts_hash(w);

  const bool was_quarantined = !w.quarantined.empty();
  const bool was_unwritten = !w.reserved() && w.waits_for(Section::admission);
  const auto said_of_families = w.family_facts;
  const auto asked_for = w.pod_sets;
  const bool news = w.observe(o, c.sequence) || was_quarantined;
  if (was_unwritten && !w.waits_for(Section::admission) && (w.family || w.is_made_as_option())) {
    for (auto& sibling : workloads_)  // what they waited for is written
      if (sibling.is_made_as_option()) sibling.resolve_since = c.sequence;
  }
  w.quarantined.clear();
  const bool same_facts = said_of_families && w.family_facts ? *said_of_families == *w.family_facts
                                                             : said_of_families.has_value() == w.family_facts.has_value();
  if (first || !same_facts || asked_for != w.pod_sets) forget_families();
  if (!same_facts) share_names(w);
  if (first) meet_option(w);
  if (was_quarantined) w.resolve_since = c.sequence;
  if (news) {
    something_happened(c);
    out.send(self_, domain_address, msg::WorldChanged{});
  }
  // a LimitRange or RuntimeClass changed (§3.7), or the job its size (EJ-16)
  const bool asks_again = w.is_made_as_option() || c.rules >= rules_with_checks_taken_back;
  const bool judged_anew = asks_again && had_failed_checks && !has_failed_checks(w);
  const bool repush = first || judged_anew || gate(w) != before || requests_hash(w) != old_requests || counts_hash(w) != old_counts;
  publish(index, {.repush = repush, .force = false, .touched = true}, c, out);

  // §3.7: what wakes the tree, beside leaving a reservation (publish sees to that)
  if (was_finished || (was_inactive && !w.active)) request_reactivation(w, c, out);
  if (was_reserving && placements_[index].kind == Placement::Kind::reserving &&
      (w.reclaimable != old_reclaimable || w.effective_priority(c.catalog->settings) != old_priority ||
       counts_hash(w) != old_counts))  // EJ-58
    request_reactivation(w, c, out);
}

/// Now that it is known in which namespace the job is: Workloads of others that name it as their owner are none of its own.
void WorkloadParent::disown_foreign(const Context& c, Outbox& out) {
  for (std::size_t i = workloads_.size(); i-- > 0;) {
    if (workloads_[i].namespace_ == job_->namespace_) continue;
    auto leaving = std::make_unique<WorkloadState>(workloads_[i]);
    remove_workload(i, c, out);
    out.send(self_, domain_address, msg::Disowned{std::move(leaving)});
  }
}

void WorkloadParent::adopt_workload(WorkloadState workload, const Context& c, Outbox& out) {
  forget_families();
  make_room();
  workloads_.push_back(std::move(workload));
  placements_.emplace_back();
  publish(workloads_.size() - 1, {.repush = true, .force = false, .touched = true}, c, out);
}

void WorkloadParent::remove_workload(std::size_t index, const Context& c, Outbox& out) {
  forget_families();
  WorkloadState& w = workloads_[index];
  const Placement& at = placements_[index];
  if (at.kind == Placement::Kind::pending) out.send(self_, queue_address(at.queue), msg::Dequeue{w.id, false});
  if (at.kind == Placement::Kind::reserving) out.send(self_, queue_address(at.queue), msg::Release{w.id});
  tell_not_ready(index, false, out);
  request_reactivation(w, c, out, at.kind == Placement::Kind::reserving ? at.queue : Symbol());
  if (job_ && job_->requested_for == w.uid && job_->requested_since != 0)
    job_->requested_since = 0;  // there is nothing to replace any more
  workloads_.erase(workloads_.begin() + static_cast<std::ptrdiff_t>(index));
  placements_.erase(placements_.begin() + static_cast<std::ptrdiff_t>(index));
  tell_places(out);
  tell_lingering(c, out);
  if (job_ && !has_own_workloads()) job_->by_itself = false;
}

/// `freed`: the ClusterQueue whose quota it held until now; its LocalQueue may lead elsewhere (BA-199).
void WorkloadParent::request_reactivation(const WorkloadState& w, const Context& c, Outbox& out, const Symbol& freed) const {
  const auto* lq = c.catalog->local_queue(w.namespace_, w.queue_name);
  if (lq == nullptr || lq->stop_policy != StopPolicy::none) return;  // D12
  out.send(self_, domain_address, msg::ReactivateTreeOf{lq->cluster_queue});
  if (!freed.empty() && freed != lq->cluster_queue) out.send(self_, domain_address, msg::ReactivateTreeOf{freed});
}

// ---- due times --------------------------------------------------------------------------------------------------------------

Time WorkloadParent::next_due(const Context& c) const {
  Time due;
  // What is due already is decided at once, for something has just happened; if nothing is decided, it must not hide what comes later.
  const auto consider = [&](Time t) {
    if (t.is_set() && t > c.now && (!due.is_set() || t < due)) due = t;
  };
  const Settings& s = c.catalog->settings;
  for (std::size_t i = 0; i < workloads_.size(); ++i)
    if (workloads_[i].family && !workloads_[i].finished()) consider(family_due(family_of(i, c), c));
  for (const auto& w : workloads_) {
    if (w.is_made_as_option()) {  // all else counts on the Parent
      if (w.finished()) continue;
      if (w.active && !w.reserved() && w.has_requeue_state && w.requeue_at.is_set()) consider(w.requeue_at);
      if (w.active && w.admitted() && !w.evicted()) consider(node_fails_at(w, c));
      continue;
    }
    if (w.finished()) {
      if (s.retain_finished && !w.removal_pending && !w.deleting)
        consider(w.find(ConditionType::finished)->last_transition + *s.retain_finished);
      continue;
    }
    if (!w.removal_pending && !w.deleting && !(job_ && (job_->removal_pending || job_->deleting || job_->finished)))
      consider(job_retained_until(w, s));
    if (w.has_requeue_state && w.requeue_at.is_set() && !w.reserved()) consider(w.requeue_at);
    if (w.sizing_barred && !w.reserved()) consider(w.sizing_barred_at + sizing_barred_for);
    if (w.active && w.admitted() && !w.evicted()) {
      const Time since = w.find(ConditionType::admitted)->last_transition;
      if (w.max_exec_seconds > 0) consider(since + Duration::seconds(w.exec_seconds_left()));
      consider(node_fails_at(w, c));
      const auto* ready = w.find(ConditionType::pods_ready);
      if (s.pods_ready_enabled && job_ && ready != nullptr && ready->is_false()) {
        if (ready->reason.text() == "WaitForRecovery") {
          if (s.recovery_timeout.micros > 0) consider(ready->last_transition + s.recovery_timeout);
        } else {
          consider(since + s.pods_ready_timeout);
        }
      }
    }
  }
  return due;
}

void WorkloadParent::announce_due(const Context& c, Outbox& out) {
  const Time due = next_due(c);
  if (due == announced_due_) return;
  announced_due_ = due;
  out.send(self_, domain_address, msg::NextDue{due});
}

}  // namespace hindsight::admission
