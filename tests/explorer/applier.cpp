#include "tests/explorer/applier.hpp"

#include <algorithm>

namespace hindsight::explorer {

using admission::FinalizerIntent;
using admission::Intent;
using admission::JobIntent;
using admission::OptionCreateIntent;
using admission::QueueStatusIntent;
using admission::WorkloadAdoptIntent;
using admission::WorkloadCreateIntent;
using admission::WorkloadIntent;
using admission::WorkloadReviseIntent;

namespace {

/// metav1.Time: the API stores whole seconds.
Time stored(Time t) { return t.is_set() ? Time::from_seconds(t.floor_seconds()) : Time::never(); }

WorkloadStatus wanted_status(const WorkloadIntent& i, const Workload& w) {
  WorkloadStatus s;
  for (const auto& c : i.conditions) s.conditions.push_back({c.type, c.status, c.reason, c.message, stored(c.last_transition)});
  if (i.has_admission) s.cluster_queue = i.cluster_queue;
  for (const auto& a : i.assignments) s.assignments.push_back({a.pod_set, a.count, a.flavors, a.usage});
  for (const auto& c : i.checks)
    s.checks.push_back({c.name, c.state, stored(c.last_transition), c.message, c.requeue_after_seconds, c.retry_count});
  s.has_requeue_state = i.has_requeue_state;
  s.requeue_count = i.requeue_count;
  s.requeue_at = stored(i.requeue_at);
  s.reclaimable = i.reclaimable;
  s.accumulated_exec_seconds = i.accumulated_exec_seconds;
  s.evictions = i.evictions;
  s.gate_open = w.status.gate_open;
  for (const auto& gate : i.gates) s.gate_open = gate.open;
  s.options = i.options;
  for (auto& option : s.options) option.last_transition = stored(option.last_transition);
  return s;
}

using Counts = std::vector<std::pair<std::string, std::int32_t>>;

Counts counts_of(const Job& job) {
  Counts out;
  for (const auto& t : job.templates) out.emplace_back(t.name, t.count);
  return out;
}

void set_counts(std::vector<PodSet>& pod_sets, const Counts& counts) {
  for (auto& p : pod_sets)
    for (const auto& [name, n] : counts)
      if (p.name == name) p.count = n;
}

bool equal(const WorkloadStatus& a, const WorkloadStatus& b) {
  const auto same_eviction = [](const auto& x, const auto& y) { return x.reason == y.reason && x.cause == y.cause && x.count == y.count; };
  const auto same_option = [](const auto& x, const auto& y) {
    return x.name == y.name && x.flavors == y.flavors && x.phase == y.phase && x.message == y.message &&
           x.last_transition == y.last_transition;
  };
  return a.gate_open == b.gate_open && std::equal(a.options.begin(), a.options.end(), b.options.begin(), b.options.end(), same_option) &&
         a.conditions == b.conditions && a.cluster_queue == b.cluster_queue && a.assignments == b.assignments && a.checks == b.checks &&
         a.has_requeue_state == b.has_requeue_state && a.requeue_count == b.requeue_count && a.requeue_at == b.requeue_at &&
         a.reclaimable == b.reclaimable && a.accumulated_exec_seconds == b.accumulated_exec_seconds &&
         std::equal(a.evictions.begin(), a.evictions.end(), b.evictions.begin(), b.evictions.end(), same_eviction);
}

}  // namespace

std::string Applier::key_of(const Intent& intent) {
  struct Key {
    std::string operator()(const WorkloadIntent& i) const { return "workload/" + i.uid; }
    std::string operator()(const WorkloadCreateIntent& i) const { return "create/" + i.job_uid; }
    std::string operator()(const WorkloadReviseIntent& i) const { return "revise/" + i.uid; }
    std::string operator()(const JobIntent& i) const { return "job/" + i.uid; }
    std::string operator()(const QueueStatusIntent& i) const { return "queue/" + i.namespace_ + "/" + i.name; }
    std::string operator()(const FinalizerIntent& i) const { return "finalizer/" + i.name; }
    std::string operator()(const admission::QuarantineIntent& i) const { return "quarantine/" + i.uid; }
    std::string operator()(const WorkloadAdoptIntent& i) const { return "adopt/" + i.name; }
    std::string operator()(const admission::PodReleaseIntent& i) const { return "pod/" + i.uid; }
    std::string operator()(const admission::PodFailIntent& i) const { return "pod/" + i.uid; }
    std::string operator()(const admission::OptionCreateIntent& i) const { return "option/" + i.parent_uid + "/" + i.name; }
  };
  return std::visit(Key{}, intent);
}

void Applier::take(std::vector<Intent> intents) {
  for (auto& i : intents)
    if (!std::holds_alternative<QueueStatusIntent>(i) && !std::holds_alternative<FinalizerIntent>(i))
      waiting_.insert_or_assign(key_of(i), std::move(i));
}

void Applier::step(ApiServer& server, Random& random, bool faults) {
  if (waiting_.empty()) return;
  auto it = waiting_.begin();
  std::advance(it, static_cast<std::ptrdiff_t>(random.below(waiting_.size())));
  if (faults && random.chance(10)) return;  // lost on the way
  if (const auto* job = std::get_if<JobIntent>(&it->second)) {
    // An object is written by one after the other: what else is wanted of the job waits for the end of a start that is under way.
    if (const auto start = starts_.find(job->uid); start != starts_.end()) {
      const auto [intent, version] = start->second;
      starts_.erase(start);
      const auto at = server.jobs.find(intent.uid);
      if (at != server.jobs.end() && at->second.version == version) (void)write(server, intent);
      return;
    }
    if (job->run && random.chance(30)) {
      const auto at = server.jobs.find(job->uid);
      if (at != server.jobs.end() && server.is_told(ApiServer::key_of(at->second))) starts_[job->uid] = {*job, at->second.version};
      return;
    }
  }
  if (std::visit([&](const auto& i) { return write(server, i); }, it->second)) waiting_.erase(it);
}

/// True: done, or nobody left to do it to. False: the precondition failed, try again.
bool Applier::write(ApiServer& server, const WorkloadIntent& i) {
  const auto it = server.workloads.find(i.uid);
  if (it == server.workloads.end()) return true;
  Workload& w = it->second;
  if (!server.is_told(ApiServer::key_of(w))) return false;
  if (i.remove) {
    w.finalizer = false;
    server.remove_workload(i.uid);
    return true;
  }
  if (i.release_finalizer) {
    w.finalizer = false;
    if (w.deleting) {
      server.remove_workload(i.uid);
      return true;
    }
  }
  const WorkloadStatus wanted = wanted_status(i, w);
  const bool switches = i.set_active && *i.set_active != w.active;
  const bool status_only_named = i.conditions.empty() && !i.has_admission && i.release_finalizer;
  const bool marks = i.parent_markers && *i.parent_markers != w.parent_marked;
  const bool changes = !status_only_named && !equal(w.status, wanted);
  if (!switches && !marks && !i.release_finalizer && !changes) return true;
  // The status of a member of a family is another write than the rest; that it is a Parent is written first (8691 CA-1).
  const bool apart = (w.gated || w.parent_marked || marks) && changes && (switches || marks);
  const auto rest = [&] {
    if (switches) {
      w.active = *i.set_active;
      ++w.generation;
    }
    if (marks) w.parent_marked = *i.parent_markers;
  };
  if (!apart || marks) rest();
  if (!status_only_named && (!apart || !marks)) w.status = wanted;
  server.publish(w);
  return !apart;
}

bool Applier::write(ApiServer& server, const OptionCreateIntent& i) {
  for (const auto& [uid, other] : server.workloads) {
    if (other.name != i.name || other.namespace_ != i.namespace_) continue;
    if (!server.is_told(ApiServer::key_of(other)) || other.deleting) return false;
    if (other.option_of != i.parent_uid) refusals_.push_back(i);
    return true;
  }
  const auto parent = server.workloads.find(i.parent_uid);
  if (parent == server.workloads.end() || parent->second.deleting) return true;
  if (!server.is_told(ApiServer::key_of(parent->second))) return false;
  // First it is a Parent for all to see (8691 CA-1); if nobody wants it to be one any more, the Option is wanted no more either.
  if (!parent->second.parent_marked) return !waiting_.contains("workload/" + i.parent_uid);
  Workload w;
  w.name = i.name;
  w.uid = server.new_uid(i.name);
  w.created = stored(server.now);
  w.namespace_ = i.namespace_;
  w.option_of = i.parent_uid;
  w.allowed = i.flavors;
  w.gated = true;
  w.finalizer = false;
  w.active = i.active;
  const Workload& from = parent->second;
  w.queue = from.queue;
  w.pod_sets = from.pod_sets;
  for (auto& p : w.pod_sets) p.min_count.reset();
  w.priority = from.priority;
  w.priority_class_kind = from.priority_class_kind;
  w.priority_class = from.priority_class;
  w.max_exec_seconds = from.max_exec_seconds;
  w.elastic = from.elastic;
  w.replacement_for = from.replacement_for;
  w.slice_name = from.slice_name;
  server.publish_made(server.workloads[w.uid] = w);
  return true;
}

bool Applier::write(ApiServer& server, const WorkloadCreateIntent& i) {
  const auto job = server.jobs.find(i.job_uid);
  if (job == server.jobs.end()) return true;
  if (!server.is_told(ApiServer::key_of(job->second))) return false;
  for (const auto& [uid, w] : server.workloads)
    if (w.name == i.name && w.namespace_ == i.namespace_) return true;  // exists already
  Workload w;
  w.name = i.name;
  w.uid = server.new_uid(i.name);
  w.job_uid = i.job_uid;
  w.created = stored(server.now);
  w.namespace_ = i.namespace_;
  w.queue = i.queue_name;
  w.pod_sets = job->second.templates;
  w.elastic = !i.slice_name.empty();
  w.slice_name = i.slice_name;
  w.replacement_for = i.replaces;
  if (!i.replaces_uid.empty()) {
    const auto replaced = server.workloads.find(i.replaces_uid);
    if (replaced == server.workloads.end()) return true;  // the newest intent will say what is wanted instead
    w.pod_sets = replaced->second.pod_sets;
    set_counts(w.pod_sets, counts_of(job->second));
  }
  w.priority = i.priority;
  w.priority_class_kind = i.priority_class_kind;
  w.priority_class = i.priority_class;
  w.max_exec_seconds = i.max_exec_seconds.value_or(0);
  w.finalizer = w.uid.back() == '0' || w.uid.back() == '5';  // as earlier builds make them: some are always left
  auto& stored_workload = server.workloads[w.uid] = w;
  server.publish_made(stored_workload);
  return true;
}

bool Applier::write(ApiServer& server, const WorkloadReviseIntent& i) {
  const auto it = server.workloads.find(i.uid);
  if (it == server.workloads.end()) return true;
  Workload& w = it->second;
  if (!server.is_told(ApiServer::key_of(w))) return false;
  if (i.pod_sets) {
    const auto job = server.jobs.find(i.job_uid);
    if (job != server.jobs.end()) {
      if (!server.is_told(ApiServer::key_of(job->second))) return false;
      w.pod_sets = job->second.templates;
    }
  }
  set_counts(w.pod_sets, i.counts);
  if (!i.flavors.empty()) w.allowed = i.flavors;
  w.queue = i.queue_name;
  w.priority = i.priority;
  w.priority_class_kind = i.priority_class_kind;
  w.priority_class = i.priority_class;
  if (!i.job_uid.empty() || w.gated) w.max_exec_seconds = i.max_exec_seconds.value_or(0);
  ++w.generation;
  server.publish(w);
  return true;
}

bool Applier::write(ApiServer& server, const JobIntent& i) {
  const auto it = server.jobs.find(i.uid);
  if (it == server.jobs.end()) return true;
  Job& j = it->second;
  if (!server.is_told(ApiServer::key_of(j))) return false;
  if (i.settles != 0 && j.suspended) {
    server.publish(j, i.settles);
    return true;
  }
  if (j.finished || j.suspended != i.run) return true;
  if (i.run) {
    j.suspended = false;
    j.active = true;
    j.running_counts.clear();
    for (const auto& t : j.templates) {
      std::int32_t count = t.count;
      for (const auto& p : i.pod_sets)
        if (p.name == t.name && !j.elastic) count = p.count;
      j.running_counts.push_back(count);
    }
  } else {
    j.suspended = true;
    j.pods_ready = false;
    j.running_counts.clear();
    j.reclaimable = 0;
  }
  ++j.generation;
  server.publish(j);
  return true;
}

}  // namespace hindsight::explorer
