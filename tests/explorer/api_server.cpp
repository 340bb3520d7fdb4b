#include "tests/explorer/api_server.hpp"

#include <algorithm>

#include "vocabulary/state_hash.hpp"

namespace hindsight::explorer {
namespace {

List<ResourceAmount> view(const std::vector<std::pair<std::string, Amount>>& amounts, Arena& a) {
  auto list = a.make<ResourceAmount>(amounts.size());
  for (std::size_t i = 0; i < amounts.size(); ++i) list[i] = {a.copy(amounts[i].first), amounts[i].second};
  return list;
}

/// `counts`: what a start made of the counts; empty: as written.
List<PodSetFacts> view(const std::vector<PodSet>& pod_sets, const std::vector<std::int32_t>& counts, Arena& a) {
  auto list = a.make<PodSetFacts>(pod_sets.size());
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    const PodSet& p = pod_sets[i];
    StateHash h;
    for (const auto& [resource, amount] : p.requests) {
      h.add(std::string_view(resource));
      h.add(amount);
    }
    list[i].name = a.copy(p.name);
    list[i].count = counts.empty() ? p.count : counts[i];
    list[i].min_count = p.min_count;
    list[i].requests = view(p.requests, a);
    list[i].shape_hash = list[i].core_hash = h.value();
    list[i].template_hash = h.value() + (counts.empty() ? 0 : 1);  // a start injects node selectors
  }
  return list;
}

List<PodSetCount> view(const std::vector<std::pair<std::string, std::int32_t>>& counts, Arena& a) {
  auto list = a.make<PodSetCount>(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) list[i] = {a.copy(counts[i].first), counts[i].second};
  return list;
}

List<ResourceGroupFacts> groups_of(const QuotaHolder& q, Arena& a) {
  if (q.flavors.empty()) return {};
  auto resources = a.make<Text>(q.resources.size());
  for (std::size_t i = 0; i < q.resources.size(); ++i) resources[i] = a.copy(q.resources[i]);
  auto flavors = a.make<FlavorQuotasFacts>(q.flavors.size());
  for (std::size_t f = 0; f < q.flavors.size(); ++f) {
    auto quotas = a.make<QuotaFacts>(q.resources.size());
    for (std::size_t r = 0; r < q.resources.size(); ++r) {
      const auto it = q.quota.find({q.flavors[f], q.resources[r]});
      const Quota quota = it == q.quota.end() ? Quota{} : it->second;
      quotas[r] = {resources[r], quota.nominal, quota.borrowing_limit, quota.lending_limit};
    }
    flavors[f] = {a.copy(q.flavors[f]), quotas};
  }
  auto groups = a.make<ResourceGroupFacts>(1);
  groups[0] = {resources, flavors};
  return groups;
}

List<Text> view(const std::vector<std::string>& texts, Arena& a) {
  auto list = a.make<Text>(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) list[i] = a.copy(texts[i]);
  return list;
}

/// What a Workload shows of families.
void view_family(const Workload& w, WorkloadObserved& o, Arena& a) {
  o.parent_marked = w.parent_marked;
  o.constrained = !w.allowed.empty();
  o.allowed_flavors = view(w.allowed, a);
  if (w.gated) {
    auto gates = a.make<PreemptionGateFacts>(1);
    gates[0] = {"kueue.x-k8s.io/concurrent-admission", w.status.gate_open};
    o.preemption_gates = gates;
  }
  auto options = a.make<OptionStatusFacts>(w.status.options.size());
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto& x = w.status.options[i];
    options[i] = {a.copy(x.name), view(x.flavors, a), x.phase, a.copy(x.message), x.last_transition};
  }
  o.options = options;
}

ConcurrentAdmissionFacts view(const ConcurrentPolicy& policy, Arena& a) {
  ConcurrentAdmissionFacts out{policy.enabled, false, policy.on_success, a.copy(policy.target), {}};
  auto options = a.make<ExplicitOptionFacts>(policy.options.size());
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto& x = policy.options[i];
    options[i] = {a.copy(x.name), x.create_delay, x.delete_delay, view(x.flavors, a)};
  }
  out.options = options;
  return out;
}

ObjectMeta meta(Arena& a, const std::string& namespace_, const std::string& name, const std::string& uid, std::uint64_t version,
                std::int64_t generation, Time created) {
  ObjectMeta m;
  m.namespace_ = a.copy(namespace_);
  m.name = a.copy(name);
  m.uid = a.copy(uid);
  m.resource_version = version;
  m.generation = generation;
  m.created = created;
  return m;
}

}  // namespace

/// An object of the configuration that is made again under its old name is another one.
std::string ApiServer::config_uid(const std::string& key, const std::string& name) const {
  const auto it = lives_.find(key);
  return it == lives_.end() ? name : name + "#" + std::to_string(it->second);
}

ObjectMeta ApiServer::config_meta(Arena& a, const std::string& key, const std::string& namespace_, const std::string& name) {
  return meta(a, namespace_, name, config_uid(key, name), ++versions_, 1, Time::from_seconds(1));
}

void ApiServer::config_gone(const std::string& key, ObjectKind kind, const std::string& namespace_, const std::string& name) {
  gone(key, kind, namespace_, name, config_uid(key, name));
  ++lives_[key];
}

const Condition* WorkloadStatus::find(ConditionType type) const {
  for (const auto& c : conditions)
    if (c.type == type) return &c;
  return nullptr;
}

bool WorkloadStatus::is_true(ConditionType type) const {
  const auto* c = find(type);
  return c != nullptr && c->status == ConditionStatus::true_;
}

// ---- jobs and Workloads -------------------------------------------------------------------------------------------------------

void ApiServer::publish(Job& job, std::uint64_t start_settled) {
  job.version = ++versions_;
  auto arena = std::make_shared<Arena>();
  Arena& a = *arena;
  JobObserved o;
  o.meta = meta(a, job.namespace_, job.name, job.uid, job.version, job.generation, job.created);
  o.kind = "Job";
  o.group = "batch";
  o.queue_name = a.copy(job.queue);
  o.priority_class = a.copy(job.priority_class);
  if (job.max_exec_seconds > 0) o.max_exec_seconds = job.max_exec_seconds;
  o.suspended = job.suspended;
  o.active = job.active;
  o.pods_ready = job.pods_ready;
  o.finished = job.finished;
  o.succeeded = job.succeeded;
  o.finish_message = job.finished ? "done" : "";
  o.pod_sets = view(job.templates, job.running_counts, a);
  o.elastic = job.elastic;
  if (job.elastic) {
    std::int32_t pods = 0;
    for (const auto& t : job.templates) pods += t.count;
    o.ready_pods = job.pods_ready ? pods : 0;
    if (job.remaining >= 0)
      o.remaining = view(std::vector<std::pair<std::string, std::int32_t>>{{job.templates.front().name, job.remaining}}, a);
  } else if (job.reclaimable > 0)
    o.reclaimable = view(std::vector<std::pair<std::string, std::int32_t>>{{job.templates.front().name, job.reclaimable}}, a);
  o.start_settled = start_settled;
  o.workload_name = a.copy("job-" + job.name + (job.elastic ? "-" + std::to_string(job.generation) : ""));
  enqueue(key_of(job), {std::move(arena), o});
}

void ApiServer::publish(Workload& w) {
  w.version = ++versions_;
  auto arena = std::make_shared<Arena>();
  Arena& a = *arena;
  const WorkloadStatus& s = w.status;
  WorkloadObserved o;
  o.meta = meta(a, w.namespace_, w.name, w.uid, w.version, w.generation, w.created);
  o.meta.deleting = w.deleting;
  o.meta.in_use_finalizer = w.finalizer;
  o.owner_uid = a.copy(w.job_uid);
  if (!w.option_of.empty()) {
    o.owner_uid = a.copy(w.option_of);
    o.owner_kind = "Workload";
  }
  o.queue_name = a.copy(w.queue);
  o.pod_sets = view(w.pod_sets, {}, a);
  o.priority = w.priority;
  o.elastic = w.elastic;
  o.replacement_for = a.copy(w.replacement_for);
  o.slice_name = a.copy(w.slice_name);
  o.priority_class_kind = w.priority_class_kind;
  o.priority_class = a.copy(w.priority_class);
  o.active = w.active;
  if (w.max_exec_seconds > 0) o.max_exec_seconds = w.max_exec_seconds;
  auto conditions = a.make<ConditionFacts>(s.conditions.size());
  for (std::size_t i = 0; i < s.conditions.size(); ++i) {
    const auto& c = s.conditions[i];
    conditions[i] = {c.type, c.status, a.copy(c.reason), a.copy(c.message), c.last_transition};
  }
  o.conditions = conditions;
  o.has_admission = !s.cluster_queue.empty();
  o.admission_cluster_queue = a.copy(s.cluster_queue);
  auto assignments = a.make<PodSetAssignmentFacts>(s.assignments.size());
  for (std::size_t i = 0; i < s.assignments.size(); ++i) {
    const auto& x = s.assignments[i];
    auto choices = a.make<FlavorChoice>(x.flavors.size());
    for (std::size_t k = 0; k < x.flavors.size(); ++k) choices[k] = {a.copy(x.flavors[k].first), a.copy(x.flavors[k].second)};
    assignments[i] = {a.copy(x.pod_set), x.count, choices, view(x.usage, a)};
  }
  o.assignments = assignments;
  auto check_list = a.make<CheckFacts>(s.checks.size());
  for (std::size_t i = 0; i < s.checks.size(); ++i) {
    const auto& c = s.checks[i];
    check_list[i] = {a.copy(c.name), c.state, c.last_transition, a.copy(c.message), c.requeue_after_seconds, c.retry_count, {}};
  }
  o.checks = check_list;
  o.has_requeue_state = s.has_requeue_state;
  o.requeue_count = s.requeue_count;
  o.requeue_at = s.requeue_at;
  o.reclaimable = view(s.reclaimable, a);
  o.accumulated_exec_seconds = s.accumulated_exec_seconds;
  auto evictions = a.make<EvictionCount>(s.evictions.size());
  for (std::size_t i = 0; i < s.evictions.size(); ++i)
    evictions[i] = {a.copy(s.evictions[i].reason), a.copy(s.evictions[i].cause), s.evictions[i].count};
  o.evictions = evictions;
  view_family(w, o, a);
  enqueue(key_of(w), {std::move(arena), o});
}

void ApiServer::gone(const std::string& key, ObjectKind kind, const std::string& namespace_, const std::string& name,
                     const std::string& uid) {
  auto arena = std::make_shared<Arena>();
  ObjectDeleted o{kind, arena->copy(namespace_), arena->copy(name), arena->copy(uid)};
  enqueue(key, {std::move(arena), o});
}

void ApiServer::remove_job(const std::string& uid) {
  const auto it = jobs.find(uid);
  if (it == jobs.end()) return;
  gone(key_of(it->second), ObjectKind::job, it->second.namespace_, it->second.name, uid);
  jobs.erase(it);
  std::vector<std::string> owned;
  for (const auto& [workload_uid, w] : workloads)
    if (w.job_uid == uid) owned.push_back(workload_uid);
  for (const auto& w : owned) remove_workload(w);  // the garbage collector
}

void ApiServer::remove_workload(const std::string& uid) {
  const auto it = workloads.find(uid);
  if (it == workloads.end()) return;
  Workload& w = it->second;
  if (w.finalizer) {
    if (w.deleting) return;
    w.deleting = true;
    publish(w);
    return;
  }
  gone(key_of(w), ObjectKind::workload, w.namespace_, w.name, uid);
  workloads.erase(it);
}

bool ApiServer::collect_option() {
  for (const auto& [uid, w] : workloads) {
    if (w.option_of.empty() || workloads.contains(w.option_of) || w.deleting) continue;
    remove_workload(std::string(uid));
    return true;
  }
  return false;
}

// ---- configuration ----------------------------------------------------------------------------------------------------------

void ApiServer::publish_queue(const std::string& name) {
  const QuotaHolder& q = queues.at(name);
  auto arena = std::make_shared<Arena>();
  Arena& a = *arena;
  ClusterQueueObserved o;
  o.meta = config_meta(a, "queue/" + name, "", name);
  o.cohort = a.copy(q.cohort);
  o.resource_groups = groups_of(q, a);
  o.has_namespace_selector = true;
  o.queueing_strategy = q.strategy;
  o.within_cluster_queue = q.within;
  o.reclaim_within_cohort = q.reclaim;
  o.borrow_within_cohort = q.borrow_within;
  o.when_can_borrow = q.when_can_borrow;
  o.when_can_preempt = q.when_can_preempt;
  o.stop_policy = q.stop;
  o.fair_weight_nano = q.weight_nano;
  o.admission_mode = q.mode;
  auto rules = a.make<AdmissionCheckRule>(q.checks.size());
  for (std::size_t i = 0; i < q.checks.size(); ++i) {
    rules[i].name = a.copy(q.checks[i]);
    if (const auto on = q.check_flavors.find(q.checks[i]); on != q.check_flavors.end()) rules[i].on_flavors = view(on->second, a);
  }
  o.admission_checks = rules;
  if (q.concurrent.enabled) o.concurrent = view(q.concurrent, a);
  enqueue("queue/" + name, {std::move(arena), o});
}

void ApiServer::publish_cohort(const std::string& name) {
  const QuotaHolder& c = cohorts.at(name);
  auto arena = std::make_shared<Arena>();
  CohortObserved o;
  o.meta = config_meta(*arena, "cohort/" + name, "", name);
  o.parent = arena->copy(c.cohort);
  o.resource_groups = groups_of(c, *arena);
  o.fair_weight_nano = c.weight_nano;
  enqueue("cohort/" + name, {std::move(arena), o});
}

void ApiServer::publish_local_queue(const std::string& name) {
  const LocalQueue& q = local_queues.at(name);
  auto arena = std::make_shared<Arena>();
  LocalQueueObserved o;
  o.meta = config_meta(*arena, "localqueue/" + name, q.namespace_, name);
  o.cluster_queue = arena->copy(q.cluster_queue);
  o.stop_policy = q.stop;
  o.fair_weight_nano = q.weight_nano;
  enqueue("localqueue/" + name, {std::move(arena), o});
}

void ApiServer::publish_priority_class(const std::string& name) {
  auto arena = std::make_shared<Arena>();
  WorkloadPriorityClassObserved o;
  o.meta = config_meta(*arena, "class/" + name, "", name);
  o.value = priority_classes.at(name);
  enqueue("class/" + name, {std::move(arena), o});
}

void ApiServer::publish_check(const std::string& name) {
  auto arena = std::make_shared<Arena>();
  AdmissionCheckObserved o;
  o.meta = config_meta(*arena, "check/" + name, "", name);
  o.controller_name = "example.com/checker";
  o.active = checks.at(name);
  enqueue("check/" + name, {std::move(arena), o});
}

void ApiServer::publish_flavor(const std::string& name) {
  auto arena = std::make_shared<Arena>();
  ResourceFlavorObserved o;
  o.meta = config_meta(*arena, "flavor/" + name, "", name);
  enqueue("flavor/" + name, {std::move(arena), o});
}

void ApiServer::publish_namespace(const std::string& name) {
  auto arena = std::make_shared<Arena>();
  NamespaceObserved o;
  o.meta = config_meta(*arena, "namespace/" + name, "", name);
  enqueue("namespace/" + name, {std::move(arena), o});
}

void ApiServer::publish_as(const std::string& key, OwnedObservation o) { enqueue(key, std::move(o)); }

void ApiServer::remove_queue(const std::string& name) {
  if (queues.erase(name) != 0) config_gone("queue/" + name, ObjectKind::cluster_queue, "", name);
}

void ApiServer::remove_cohort(const std::string& name) {
  if (cohorts.erase(name) != 0) config_gone("cohort/" + name, ObjectKind::cohort, "", name);
}

void ApiServer::remove_local_queue(const std::string& name) {
  const auto it = local_queues.find(name);
  if (it == local_queues.end()) return;
  config_gone("localqueue/" + name, ObjectKind::local_queue, it->second.namespace_, name);
  local_queues.erase(it);
}

void ApiServer::remove_flavor(const std::string& name) {
  const auto it = std::find(flavors.begin(), flavors.end(), name);
  if (it == flavors.end()) return;
  config_gone("flavor/" + name, ObjectKind::resource_flavor, "", name);
  flavors.erase(it);
}

// ---- watching -------------------------------------------------------------------------------------------------------------------

std::optional<OwnedObservation> ApiServer::watch(Random& random, bool faults) {
  if (faults && again_.empty() && random.chance(2))
    again_.assign(told_.end() - static_cast<std::ptrdiff_t>(random.below(told_.size() + 1)), told_.end());
  if (!again_.empty()) {
    OwnedObservation o = std::move(again_.front());
    again_.pop_front();
    return o;
  }
  if (waiting_.empty()) return std::nullopt;
  auto it = waiting_.begin();
  std::advance(it, static_cast<std::ptrdiff_t>(random.below(waiting_.size())));
  auto& versions = it->second;
  // A deletion is never skipped: what comes after it is another object, with another uid or content.
  // Nor is a Workload that the bridge made, if nothing was told of it and its deletion follows: the bridge tells of it before it tells that
  // it is gone. What others make may come and go unseen.
  const auto must_be_told = [&] {
    const auto* w = std::get_if<WorkloadObserved>(&versions.front().observation);
    return std::holds_alternative<ObjectDeleted>(versions.front().observation) ||
           (w != nullptr && std::holds_alternative<ObjectDeleted>(versions[1].observation) && unseen_.contains(w->meta.uid));
  };
  while (faults && versions.size() > 1 && !must_be_told() && random.chance(20)) versions.pop_front();
  if (const auto* w = std::get_if<WorkloadObserved>(&versions.front().observation); w != nullptr) {
    if (const auto seen = unseen_.find(w->meta.uid); seen != unseen_.end()) unseen_.erase(seen);
  }
  OwnedObservation o = std::move(versions.front());
  versions.pop_front();
  if (versions.empty()) waiting_.erase(it);
  constexpr std::size_t remembered = 8;
  told_.push_back(o);
  if (told_.size() > remembered) told_.pop_front();
  return o;
}

}  // namespace hindsight::explorer
