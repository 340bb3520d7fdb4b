#include "admission/workload_parent.hpp"

#include <algorithm>

namespace hindsight::admission {
namespace {

const Symbol quota_reserved("QuotaReserved");
const Symbol admitted("Admitted");
const Symbol unsatisfied("UnsatisfiedAdmissionChecks");
const Symbol preempted("Preempted");
const Symbol deactivated("Deactivated");
const Symbol no_reservation("NoReservation");
const Symbol pending_evaluation("PendingEvaluation");

/// The queue that a workload is bound for: that of its LocalQueue.
Symbol target_queue(const WorkloadState& w, const Catalog& catalog) {
  const auto* lq = catalog.local_queue(w.namespace_, w.queue_name);
  return lq == nullptr ? Symbol() : lq->cluster_queue;
}

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

bool admissible(const WorkloadState& w, const JobState* job, const Catalog& catalog) {
  if (!w.active || w.finished() || w.deleting || w.removal_pending || w.reserved()) return false;
  if (!w.admission_gated_by.empty() || (job != nullptr && job->on_hold)) return false;
  if (w.is_true(ConditionType::waiting_for_replacement_pods)) return false;
  const auto* lq = catalog.local_queue(w.namespace_, w.queue_name);
  return lq != nullptr && lq->stop_policy == StopPolicy::none && catalog.queue(lq->cluster_queue) != nullptr;
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
  for (const bool b : {suspended, active, pods_ready, stopping, finished, succeeded, on_hold, managed}) h.add(b);
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
  for (const auto& p : pod_sets) h.add(p.core_hash);
  for (const auto& [p, n] : reclaimable) {
    h.add(p);
    h.add(n);
  }
  return h.value();
}

std::uint64_t WorkloadParent::hash() const {
  StateHash h;
  h.add(job_.has_value());
  if (job_) h.add(job_->hash());
  for (const auto& w : workloads_) h.add(w.hash());
  return h.value();
}

void WorkloadParent::restore(Image image) {
  job_ = std::move(image.job);
  workloads_ = std::move(image.workloads);
  placements_.assign(workloads_.size(), {});
  announced_due_ = Time::never();
}

void WorkloadParent::receive(Message& message, const Context& c, Outbox& out) {
  if (const auto* m = std::get_if<msg::EventApplied>(&message.payload)) {
    apply_event(*m->event, m->id, c, out);
  } else if (const auto* m1 = std::get_if<msg::WorkloadSeen>(&message.payload)) {
    apply_workload(*m1->workload, m1->id, c, out);
  } else if (const auto* m2 = std::get_if<msg::JobSeen>(&message.payload)) {
    apply_job(*m2->job, c, out);
  } else if (std::holds_alternative<msg::Reconcile>(message.payload)) {
    Proposal p;
    reconcile(c, p);
    out.send(self_, message.from, msg::Proposed{std::move(p)});
    return;
  } else if (const auto* m3 = std::get_if<msg::Refresh>(&message.payload)) {
    for (std::size_t i = 0; i < workloads_.size(); ++i) {
      if (m3->resolve) workloads_[i].resolve_since = c.sequence;
      // what holds quota goes on holding it; saying so again would refresh counters that have to stay as they are (§8.12)
      const bool reserving = placements_[i].kind == Placement::Kind::reserving;
      publish(i, {.repush = m3->force, .force = m3->force, .touched = !reserving || m3->reannounce}, c, out);
    }
  } else if (const auto* d = std::get_if<msg::Descends>(&message.payload)) {
    child_ = d->child;
    ancestor_runs_ = d->runs;
  } else if (const auto* wr = std::get_if<msg::WatchRuns>(&message.payload)) {
    watched_ = wr->watched;
    told_runs_ = false;
  } else if (const auto* m4 = std::get_if<msg::ParkedByRecord>(&message.payload)) {
    for (std::size_t i = 0; i < workloads_.size(); ++i)
      if (workloads_[i].id == m4->id) placements_[i].record_reason = m4->reason;
    return;
  } else if (const auto* m5 = std::get_if<msg::WorkloadGone>(&message.payload)) {
    for (std::size_t i = 0; i < workloads_.size(); ++i)
      if (workloads_[i].id == m5->id) {
        remove_workload(i, c, out);
        break;
      }
    out.send(self_, domain_address, msg::WorldChanged{});
    if (empty()) out.send(self_, domain_address, msg::Retired{});
  } else if (std::holds_alternative<msg::JobGone>(message.payload)) {
    job_.reset();
    child_ = false;
    tell_runs(out);
    for (std::size_t i = 0; i < workloads_.size(); ++i) publish(i, {}, c, out);
    out.send(self_, domain_address, msg::WorldChanged{});
    if (empty()) out.send(self_, domain_address, msg::Retired{});
  } else if (const auto* m6 = std::get_if<msg::WriteRefusedSeen>(&message.payload)) {
    if (m6->refused->kind == ObjectKind::job) {
      if (job_) job_->removal_pending = false;
      if (job_ && m6->refused->http_status == 0) job_->start_error = m6->refused->message;
      announce_due(c, out);
      return;
    }
    // The reservation could not be written (BA-75): quota is given back, and the workload may try again at once.
    for (std::size_t i = 0; i < workloads_.size(); ++i) {
      auto& w = workloads_[i];
      if (w.id != m6->id) continue;
      w.revision_pending = false;
      w.removal_pending = false;
      if (w.reserved() && w.waits_for(Section::admission)) {
        w.admission.reset();
        w.remove_condition(ConditionType::quota_reserved);
        w.remove_condition(ConditionType::admitted);
        w.unconfirmed = 0;
      }
      w.last_decision = c.sequence;
      publish(i, {.repush = true}, c, out);
    }
  }
  announce_due(c, out);
  if (watched_) tell_runs(out);
}

/// Those that descend from this job may run while its Workload is admitted.
void WorkloadParent::tell_runs(Outbox& out) {
  const bool runs = job_ && running_workload() != nullptr;
  if (!watched_ || runs == told_runs_) return;
  told_runs_ = runs;
  out.send(self_, domain_address, msg::Runs{runs});
}

void WorkloadParent::tell_not_ready(std::size_t index, bool not_ready, Outbox& out) {
  if (placements_[index].not_ready == not_ready) return;
  placements_[index].not_ready = not_ready;
  out.send(self_, domain_address, msg::NotReady{workloads_[index].id, not_ready});
}

// ---- applying observations ------------------------------------------------------------------------------------------------

void WorkloadParent::apply_job(const JobObserved& o, const Context& c, Outbox& out) {
  if (job_ && o.meta.resource_version != 0 && o.meta.resource_version <= job_->resource_version) return;  // a repeat, or told late
  const bool first = !job_;
  if (first) job_.emplace();
  JobState& j = *job_;
  const std::uint64_t before = first ? 0 : j.outside_hash();
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
  j.queue_name = Symbol(o.queue_name);
  j.priority_class = Symbol(o.priority_class);
  j.pod_priority_class = Symbol(o.pod_priority_class);
  j.prebuilt_workload = o.prebuilt_workload;
  j.max_exec_seconds = o.max_exec_seconds.value_or(0);
  j.suspended = o.suspended;
  j.active = o.active;
  j.pods_ready = o.pods_ready;
  j.stopping = o.stopping;
  j.finished = o.finished;
  j.succeeded = o.succeeded;
  j.finish_message = o.finish_message;
  j.on_hold = o.on_hold;
  j.managed = o.managed;
  j.admission_gated_by = o.admission_gated_by;
  j.workload_name = o.workload_name;
  j.pod_sets = own_pod_sets(o.pod_sets);
  j.reclaimable.clear();
  for (const auto& r : o.reclaimable) j.reclaimable.emplace_back(Symbol(r.pod_set), r.count);
  const bool news = first || j.outside_hash() != before;
  if (news) out.send(self_, domain_address, msg::WorldChanged{});
  for (std::size_t i = 0; i < workloads_.size(); ++i) publish(i, {}, c, out);
}

void WorkloadParent::apply_workload(const WorkloadObserved& o, WorkloadId id, const Context& c, Outbox& out) {
  std::size_t index = 0;
  while (index < workloads_.size() && workloads_[index].id != id) ++index;
  const bool first = index == workloads_.size();
  if (first) {
    workloads_.emplace_back();
    workloads_.back().id = id;
    placements_.emplace_back();
    if (job_) job_->requested_since = 0;
  }
  WorkloadState& w = workloads_[index];
  if (!first && o.meta.resource_version != 0 && o.meta.resource_version <= w.resource_version) return;  // a repeat, or told late

  const auto gate = [](const WorkloadState& s) {
    const auto* e = s.find(ConditionType::evicted);
    const auto* r = s.find(ConditionType::requeued);
    return std::tuple(s.generation, s.active, s.priority, s.priority_boost, e != nullptr && e->is_true(), r != nullptr && r->is_false(), s.reclaimable, s.queue_name);
  };
  const auto before = gate(w);
  const bool was_reserving = placements_[index].kind == Placement::Kind::reserving;
  const bool was_finished = w.finished();
  const bool was_inactive = !w.active;
  const auto old_reclaimable = w.reclaimable;
  const auto old_priority = w.priority;
  const auto old_requests = requests_hash(w);

  const bool news = w.observe(o, c.sequence);
  if (news) out.send(self_, domain_address, msg::WorldChanged{});
  const bool repush = first || gate(w) != before || requests_hash(w) != old_requests;  // a LimitRange or RuntimeClass changed (§3.7)
  publish(index, {.repush = repush, .force = false, .touched = true}, c, out);

  // §3.7: what wakes the tree, beside leaving a reservation (publish sees to that)
  if (was_finished || (was_inactive && !w.active)) request_reactivation(w, c, out);
  if (was_reserving && placements_[index].kind == Placement::Kind::reserving && (w.reclaimable != old_reclaimable || w.priority != old_priority))
    request_reactivation(w, c, out);
}

void WorkloadParent::remove_workload(std::size_t index, const Context& c, Outbox& out) {
  WorkloadState& w = workloads_[index];
  const Placement& at = placements_[index];
  if (at.kind == Placement::Kind::pending) out.send(self_, queue_address(at.queue), msg::Dequeue{w.id, false});
  if (at.kind == Placement::Kind::reserving) out.send(self_, queue_address(at.queue), msg::Release{w.id});
  tell_not_ready(index, false, out);
  request_reactivation(w, c, out);
  workloads_.erase(workloads_.begin() + static_cast<std::ptrdiff_t>(index));
  placements_.erase(placements_.begin() + static_cast<std::ptrdiff_t>(index));
}

void WorkloadParent::request_reactivation(const WorkloadState& w, const Context& c, Outbox& out) const {
  const auto* lq = c.catalog->local_queue(w.namespace_, w.queue_name);
  if (lq == nullptr || lq->stop_policy != StopPolicy::none) return;  // D12
  out.send(self_, domain_address, msg::ReactivateTreeOf{lq->cluster_queue});
}


// ---- placement ------------------------------------------------------------------------------------------------------------

void WorkloadParent::publish(std::size_t index, Publish how, const Context& c, Outbox& out) {
  WorkloadState& w = workloads_[index];
  Placement& at = placements_[index];
  using Kind = Placement::Kind;

  Kind kind = Kind::none;
  Symbol queue;
  const bool holds = w.reserved() && w.active && !w.finished();  // deactivation frees quota at once (D4)
  if (holds) {
    kind = Kind::reserving;
    queue = w.admission->cluster_queue;
  } else if (admissible(w, job_ ? &*job_ : nullptr, *c.catalog)) {
    kind = Kind::pending;
    queue = target_queue(w, *c.catalog);
  }

  const Settings& settings = c.catalog->settings;
  tell_not_ready(index,
                 settings.block_admission && settings.pods_ready_enabled && holds && w.admitted() && !w.is_true(ConditionType::pods_ready),
                 out);

  if (at.kind != Kind::none && (kind == Kind::none || queue != at.queue)) {
    if (at.kind == Kind::pending) {
      const auto* lq = c.catalog->local_queue(w.namespace_, w.queue_name);
      const bool stopped = w.active && !w.finished() && lq != nullptr && lq->stop_policy != StopPolicy::none;
      out.send(self_, queue_address(at.queue), msg::Dequeue{w.id, stopped});
    } else {
      out.send(self_, queue_address(at.queue), msg::Release{w.id});
    }
  } else if (at.kind == Kind::reserving && kind == Kind::pending) {
    out.send(self_, queue_address(at.queue), msg::Release{w.id});
  }
  if (at.kind == Kind::reserving && kind != Kind::reserving) request_reactivation(w, c, out);
  if (at.kind == Kind::pending && kind == Kind::none && (w.finished() || !w.active)) request_reactivation(w, c, out);

  if (kind == Kind::none) {
    at = Placement{};
    if (how.touched && w.reserved()) out.send(self_, queue_address(w.admission->cluster_queue), msg::CountersDue{});
    return;
  }
  const bool moved = at.kind != kind || at.queue != queue;
  if (moved || how.touched || how.repush || how.force || at.admitted != w.admitted()) {
    auto info = make_info(w, *c.catalog, job_ ? std::string_view(job_->uid) : std::string_view(w.owner_uid));
    if (kind == Kind::pending)
      out.send(self_, queue_address(queue), msg::Enqueue{info, moved || how.repush, how.force});
    else
      out.send(self_, queue_address(queue), msg::Reserve{make_reservation(w, info), w.admitted()});
    at.info = std::move(info);
  }
  if (moved) at.record_reason = Symbol();
  at.kind = kind;
  at.queue = queue;
  at.admitted = w.admitted();
}

// ---- applying decisions ---------------------------------------------------------------------------------------------------

namespace {

std::vector<PodSetReservation> own_assignments(List<PodSetAssignmentFacts> facts) {
  std::vector<PodSetReservation> out;
  out.reserve(facts.size());
  const auto by_text = [](const auto& a, const auto& b) { return ByText{}(a.first, b.first); };
  for (const auto& f : facts) {
    PodSetReservation r{Symbol(f.pod_set), f.count, {}, {}};
    for (const auto& x : f.flavors) r.flavors.emplace_back(Symbol(x.resource), Symbol(x.flavor));
    for (const auto& u : f.usage) r.usage.emplace_back(Symbol(u.resource), u.amount);
    std::sort(r.flavors.begin(), r.flavors.end(), by_text);
    std::sort(r.usage.begin(), r.usage.end(), by_text);
    out.push_back(std::move(r));
  }
  return out;
}

void set_checks(WorkloadState& w, List<CheckFacts> checks) {
  w.checks.clear();
  for (const auto& k : checks) w.checks.push_back(own_check(k));
  w.await(Section::checks);
}

/// Reservation clears what an earlier eviction left behind (§8.1, BA-128).
void reset_previous(WorkloadState& w, Time now) {
  for (const auto type : {ConditionType::evicted, ConditionType::preempted, ConditionType::blocked_on_preemption_gates}) {
    const auto* c = w.find(type);
    if (c == nullptr || !c->is_true()) continue;
    const std::string message = "Previously: " + c->message;
    w.decide_condition(type, ConditionStatus::false_, quota_reserved, message, now);
  }
}

/// What one event changes in the Workload that it names. Void where the object has moved on (see decisions.hpp).
struct ApplyEvent {
  WorkloadState& w;
  const Context& c;

  void operator()(const QuotaReserved& e) const {
    if (w.finished() || !w.active || w.reserved() || w.deleting) return;
    w.admission = Admission{Symbol(e.cluster_queue), own_assignments(e.assignments)};
    w.await(Section::admission);
    reset_previous(w, c.now);
    w.decide_condition(ConditionType::quota_reserved, ConditionStatus::true_, quota_reserved, "Quota reserved in ClusterQueue " + std::string(e.cluster_queue), c.now);
    if (e.checks_changed) set_checks(w, e.checks);
    if (e.admitted)
      w.decide_condition(ConditionType::admitted, ConditionStatus::true_, admitted, "The workload is admitted", c.now);
    else
      w.decide_condition(ConditionType::admitted, ConditionStatus::false_, unsatisfied, "The workload has not all checks ready", c.now);
  }
  void operator()(const EntryRequeued& e) const {
    if (!e.write_status || w.finished() || !w.active || w.reserved()) return;
    w.decide_condition(ConditionType::quota_reserved, ConditionStatus::false_, Symbol(e.reason), e.message, c.now);
    w.decide_condition(ConditionType::admitted, ConditionStatus::false_, no_reservation, "The workload has no reservation", c.now);
  }
  void operator()(const WorkloadPreempted& e) const {
    if (w.finished() || !w.reserved() || w.evicted()) return;
    w.evict(preempted, Symbol(), e.message, c.now);
    w.decide_condition(ConditionType::preempted, ConditionStatus::true_, Symbol(e.reason), e.message, c.now);
  }
  void operator()(const WorkloadEvicted& e) const {
    if (w.finished()) return;
    const bool deactivation = e.reason == deactivated.text();
    const Symbol reason = deactivation && !e.cause.empty() ? Symbol("DeactivatedDueTo" + std::string(e.cause)) : Symbol(e.reason);
    w.evict(reason, Symbol(e.cause), e.message, c.now);
    if (deactivation) {
      w.remove_condition(ConditionType::deactivation_target);
      if (w.has_requeue_state) {
        w.has_requeue_state = false;
        w.requeue_count = 0;
        w.requeue_at = Time::never();
        w.await(Section::requeue_state);
      }
    }
    if (e.has_requeue_state) {
      w.has_requeue_state = true;
      w.requeue_count = e.requeue_count;
      w.requeue_at = e.requeue_at;
      w.await(Section::requeue_state);
    }
  }
  void operator()(const ReservationCleared& e) const {
    if (w.finished() || !w.reserved()) return;
    w.clear_reservation(Symbol(e.reason), e.message, c.now);
    if (e.writes_requeued)
      w.decide_condition(ConditionType::requeued, e.requeued ? ConditionStatus::true_ : ConditionStatus::false_, Symbol(e.requeued_reason), e.requeued_message, c.now);
  }
  void operator()(const WorkloadAdmitted&) const {
    if (w.finished() || !w.reserved() || w.evicted() || w.admitted()) return;
    w.decide_condition(ConditionType::admitted, ConditionStatus::true_, admitted, "The workload is admitted", c.now);
  }
  void operator()(const WorkloadFinished& e) const {
    if (w.finished()) return;
    w.decide_condition(ConditionType::finished, ConditionStatus::true_, Symbol(e.reason), e.message, c.now);
  }
  void operator()(const ConditionChanged& e) const {
    if (w.finished()) return;
    if (e.remove) {
      w.remove_condition(e.type);
      return;
    }
    if (e.type == ConditionType::quota_reserved && e.status == ConditionStatus::false_) {
      if (w.reserved()) return;  // a reservation came first; it is cleared by its own event
      w.decide_condition(ConditionType::admitted, ConditionStatus::false_, no_reservation, "The workload has no reservation", c.now);
    }
    w.decide_condition(e.type, e.status, Symbol(e.reason), e.message, c.now);
  }
  void operator()(const WorkloadDeactivated&) const {
    if (!w.active) return;
    w.active = false;
    w.await(Section::active);
  }
  void operator()(const ChecksChanged& e) const {
    if (w.finished()) return;
    set_checks(w, e.checks);
  }
  void operator()(const RequeueStateChanged& e) const {
    w.has_requeue_state = e.present;
    w.requeue_count = e.count;
    w.requeue_at = e.at;
    w.await(Section::requeue_state);
  }
  void operator()(const ReclaimableChanged& e) const {
    w.reclaimable.clear();
    for (const auto& r : e.reclaimable) w.reclaimable.emplace_back(Symbol(r.pod_set), r.count);
    w.await(Section::reclaimable);
  }
  void operator()(const ExecutionTimeReset&) const {
    w.accumulated_exec_seconds.reset();
    w.await(Section::exec_time);
  }
  void operator()(const WorkloadRevised&) const { w.revision_pending = true; }
  void operator()(const WorkloadRemoved& e) const {
    if (e.job.uid.empty()) w.removal_pending = true;  // else it goes with its job
  }
  void operator()(const WorkloadRequested&) const {}
  void operator()(const JobStopped&) const {}
  void operator()(const TreeReactivated&) const {}
};

}  // namespace

void WorkloadParent::apply_event(const Event& e, WorkloadId id, const Context& c, Outbox& out) {
  if (std::holds_alternative<WorkloadRequested>(e)) {
    if (job_ && workloads_.empty()) job_->requested_since = c.sequence;
    return;
  }
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    WorkloadState& w = workloads_[i];
    if (w.id != id) continue;
    const auto gate = [](const WorkloadState& s) {
      const auto* ev = s.find(ConditionType::evicted);
      const auto* rq = s.find(ConditionType::requeued);
      return std::tuple(ev != nullptr && ev->is_true(), rq != nullptr && rq->is_false(), s.requeue_at, s.reclaimable);
    };
    const auto before = gate(w);
    const auto old_reclaimable = w.reclaimable;
    const bool was_reserving = placements_[i].kind == Placement::Kind::reserving;
    std::visit(ApplyEvent{w, c}, e);
    if (const auto* removed = std::get_if<WorkloadRemoved>(&e); removed != nullptr && job_ && removed->job.uid == job_->uid)
      job_->removal_pending = true;
    w.last_decision = c.sequence;
    w.resolve_since = c.sequence;
    publish(i, {.repush = gate(w) != before, .force = false, .touched = true}, c, out);
    if (was_reserving && w.reclaimable != old_reclaimable) request_reactivation(w, c, out);
    return;
  }
}

// ---- due times --------------------------------------------------------------------------------------------------------------

Time WorkloadParent::next_due(const Context& c) const {
  Time due;
  const auto consider = [&](Time t) {
    if (t.is_set() && (!due.is_set() || t < due)) due = t;
  };
  const Settings& s = c.catalog->settings;
  for (const auto& w : workloads_) {
    if (w.finished()) {
      if (s.retain_finished && !w.removal_pending && !w.deleting) consider(w.find(ConditionType::finished)->last_transition + *s.retain_finished);
      continue;
    }
    if (!w.removal_pending && !w.deleting && !(job_ && (job_->removal_pending || job_->deleting || job_->finished)))
      consider(job_retained_until(w, s));
    if (w.has_requeue_state && w.requeue_at.is_set() && !w.reserved()) consider(w.requeue_at);
    if (w.active && w.admitted() && !w.evicted()) {
      const Time since = w.find(ConditionType::admitted)->last_transition;
      if (w.max_exec_seconds > 0) consider(since + Duration::seconds(w.max_exec_seconds - w.accumulated_exec_seconds.value_or(0)));
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

// ---- intents ----------------------------------------------------------------------------------------------------------------

const WorkloadState* WorkloadParent::running_workload() const {
  for (const auto& w : workloads_)
    if (w.admitted() && w.reserved() && !w.evicted() && w.active && !w.finished() && !w.deleting && !w.removal_pending) return &w;
  return nullptr;
}

namespace {

WorkloadIntent status_intent(const WorkloadState& w, const Settings& settings, const WorkloadInfo* info) {
  WorkloadIntent i;
  i.uid = w.uid;
  i.namespace_ = w.namespace_.text();
  i.name = w.name;
  i.decision_sequence = w.last_decision;
  i.seen_version = w.resource_version;
  i.checks_decided = w.waits_for(Section::checks);
  i.set_inactive = !w.active && w.waits_for(Section::active);
  for (const auto& c : w.conditions) i.conditions.push_back({c.type, c.status, std::string(c.reason.text()), c.message, c.last_transition});
  if (w.admission) {
    i.has_admission = true;
    i.cluster_queue = w.admission->cluster_queue.text();
    for (const auto& p : w.admission->pod_sets) {
      WantedAssignment a{std::string(p.pod_set.text()), p.count, {}, {}};
      for (const auto& [r, f] : p.flavors) a.flavors.emplace_back(r.text(), f.text());
      for (const auto& [r, u] : p.usage) a.usage.emplace_back(r.text(), u);
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
  i.has_requeue_state = w.has_requeue_state;
  i.requeue_count = w.requeue_count;
  i.requeue_at = w.requeue_at;
  for (const auto& [p, n] : w.reclaimable) i.reclaimable.emplace_back(p.text(), n);
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

void WorkloadParent::collect_intents(const Context& c, std::vector<Intent>& out) const {
  for (std::size_t n = 0; n < workloads_.size(); ++n) {
    const WorkloadState& w = workloads_[n];
    const bool job_stopped = !job_ || (job_->suspended && !job_->active) || job_->finished;
    WorkloadIntent i;
    bool due = (w.unconfirmed & ~(1U << static_cast<unsigned>(Section::spec))) != 0 && !w.uid.empty();
    if (due)
      i = status_intent(w, c.catalog->settings, placements_[n].info.get());
    else {
      i.uid = w.uid;
      i.namespace_ = w.namespace_.text();
      i.name = w.name;
    }
    if (w.in_use_finalizer && (w.finished() || (w.deleting && job_stopped))) {
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
  if (!job_) {  // the class of a Workload without a job changed its value (BA-150)
    for (const auto& w : workloads_) {
      if (!w.revision_pending || w.finished() || w.deleting) continue;
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
  const JobState& j = *job_;
  if (!managed(*c.catalog)) return;
  if (child_) {  // its ancestor starts it; all that is left to us is to see that it does not run before that
    if (!j.finished && !j.deleting && !j.suspended && !ancestor_runs_) {
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
  for (const auto& w : workloads_) {
    if (!w.revision_pending || w.deleting || w.removal_pending) continue;
    WorkloadReviseIntent i;
    i.uid = w.uid;
    i.namespace_ = w.namespace_.text();
    i.name = w.name;
    i.job_uid = j.uid;
    i.job_kind = j.kind.text();
    i.job_group = j.group.text();
    i.job_name = j.name;
    const bool settled = w.reserved() || w.finished();  // only its class can follow the job now
    i.pod_sets = !settled && j.suspended && !matches_job(w);
    const auto priority = job_priority(*c.catalog);
    i.queue_name = settled ? w.queue_name.text() : j.queue_name.text();
    i.priority = priority.value;
    i.priority_class_kind = priority.kind;
    i.priority_class = priority.name.text();
    const std::int32_t limit = settled ? w.max_exec_seconds : j.max_exec_seconds;
    if (limit > 0) i.max_exec_seconds = limit;
    i.decision_sequence = w.last_decision;
    out.push_back(std::move(i));
  }
  if (j.finished || j.deleting) return;
  const auto* running = running_workload();
  const bool ours = !workloads_.empty() || !j.queue_name.empty() || c.catalog->settings.manage_jobs_without_queue_name;
  if (ours && (j.suspended ? running != nullptr : running == nullptr)) {
    JobIntent i = job_intent();
    i.run = running != nullptr;
    const auto* source = running;
    if (source == nullptr)
      for (const auto& w : workloads_)
        if (!w.finished()) source = &w;
    if (source != nullptr) {
      i.workload = source->name;
      i.workload_uid = source->uid;
      i.local_queue = source->queue_name.text();
      i.decision_sequence = source->last_decision;
    }
    if (running != nullptr) {
      i.cluster_queue = running->admission->cluster_queue.text();
      for (const auto& p : running->admission->pod_sets) {
        PodSetStart s;
        s.name = p.pod_set.text();
        s.count = p.count;
        std::vector<Symbol> seen;
        for (const auto& [resource, flavor] : p.flavors) {
          if (std::find(seen.begin(), seen.end(), flavor) != seen.end()) continue;
          seen.push_back(flavor);
          const auto* config = c.catalog->flavor(flavor);
          if (config == nullptr) continue;
          for (const auto& [k, v] : config->node_labels) s.node_labels.emplace_back(k.text(), v);
          for (const auto& t : config->tolerations) s.tolerations.push_back(t);
        }
        for (const auto& k : running->checks)
          if (k.state == CheckState::ready && !k.pod_set_updates.empty()) s.pod_set_updates.push_back(k.pod_set_updates);
        i.pod_sets.push_back(std::move(s));
      }
    } else {
      const auto* e = source != nullptr ? source->find(ConditionType::evicted) : nullptr;
      i.message = e != nullptr && e->is_true() ? e->message : "Not admitted by cluster queue";
    }
    out.push_back(std::move(i));
  } else if (j.stopping && j.suspended && !workloads_.empty()) {
    // a stop that was cut off before it restored the templates goes on
    JobIntent i = job_intent();
    i.workload = workloads_.back().name;
    i.workload_uid = workloads_.back().uid;
    i.local_queue = workloads_.back().queue_name.text();
    i.decision_sequence = workloads_.back().last_decision;
    out.push_back(std::move(i));
  }
  if (!j.prebuilt_workload.empty() &&
      std::none_of(workloads_.begin(), workloads_.end(), [&](const WorkloadState& w) { return w.name == j.prebuilt_workload; }))
    out.emplace_back(WorkloadAdoptIntent{std::string(j.namespace_.text()), j.prebuilt_workload, j.uid, std::string(j.kind.text()),
                                         std::string(j.group.text()), j.name});
  if (j.requested_since != 0 && workloads_.empty() && j.suspended) {
    WorkloadCreateIntent i;
    i.job_uid = j.uid;
    i.job_kind = j.kind.text();
    i.job_group = j.group.text();
    i.namespace_ = j.namespace_.text();
    i.job_name = j.name;
    i.name = j.workload_name;
    const auto priority = job_priority(*c.catalog);
    i.queue_name = j.queue_name.text();
    i.priority = priority.value;
    i.priority_class_kind = priority.kind;
    i.priority_class = priority.name.text();
    if (j.max_exec_seconds > 0) i.max_exec_seconds = j.max_exec_seconds;
    i.decision_sequence = j.requested_since;
    out.push_back(std::move(i));
  }
}

}  // namespace hindsight::admission
