#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "admission/rules.hpp"

namespace hindsight::admission::testing {

/// A domain with the loop driver, fed with facts in plain form; the world's answers are written by the test. One record a call.
class FactWorld {
 public:
  explicit FactWorld(LoopDriver::Order order = {}) : driver_([this](Text) -> Result<Settings> { return settings_; }, std::move(order)) {
    observe_epoch();
  }

  LoopDriver& driver() { return driver_; }
  Time now = Time::from_seconds(1'000'000);
  std::function<void(const RecordView&)> on_record;  ///< Sees each record before it is applied.

  void observe(Observation o) { append(Body{std::move(o)}); }
  void tick(Duration d) {
    now = now + d;
    observe(TimerFired{});
  }
  /// Decides and applies until at rest; returns what was decided.
  std::vector<std::string> settle();

  /// Appends what was decided.
  void observe_decision(const Domain::Step& step) { append(Body{Decisions{step.base, step.kind, step.events}}); }

  /// What an observed configuration means from now on.
  void use(Settings settings) { settings_ = std::move(settings); }
  /// A new writer, who decides by these rules.
  void observe_epoch(std::uint32_t rules = rules_version) {
    append(Body{EpochStarted{"test", "test", rules}}, driver_.domain().epoch() + 1);
  }
  /// As if the configuration file said so.
  void configure(Settings settings) {
    settings_ = std::move(settings);
    observe(ConfigurationObserved{keep("{\"n\":" + std::to_string(++version_) + "}")});
  }
  void flavor(std::string_view name, bool deleting = false, bool finalizer = true) {
    ResourceFlavorObserved f;
    f.meta.name = keep(name);
    f.meta.deleting = deleting;
    f.meta.in_use_finalizer = finalizer;
    observe(f);
  }
  void namespace_(std::string_view name, std::string_view label = {}) {
    NamespaceObserved n;
    n.meta.name = keep(name);
    if (!label.empty()) {
      auto labels = arena_.make<Pair>(1);
      labels[0] = {keep(label), "yes"};
      n.labels = labels;
    }
    observe(n);
  }
  struct Queue {
    std::string_view name, cohort;
    Amount cpu = 0;
    PreemptionPolicy within = PreemptionPolicy::never, reclaim = PreemptionPolicy::never;
    QueueingStrategy strategy = QueueingStrategy::best_effort_fifo;
    StopPolicy stop = StopPolicy::none;
    bool deleting = false;
    bool finalizer = true;
    AdmissionMode mode = AdmissionMode::unset;
    std::string_view check = {}, other_check = {};  ///< Admission checks for all flavors.
    std::int64_t weight_nano = 1'000'000'000;
  };
  void queue(const Queue& q) {
    ClusterQueueObserved o;
    o.meta.name = keep(q.name);
    o.meta.deleting = q.deleting;
    o.meta.in_use_finalizer = q.finalizer;
    o.cohort = keep(q.cohort);
    auto quotas = arena_.make<QuotaFacts>(1);
    quotas[0] = {"cpu", q.cpu, {}, {}};
    auto flavors = arena_.make<FlavorQuotasFacts>(1);
    flavors[0] = {"default", quotas};
    auto resources = arena_.make<Text>(1);
    resources[0] = "cpu";
    auto groups = arena_.make<ResourceGroupFacts>(1);
    groups[0] = {resources, flavors};
    o.resource_groups = groups;
    o.has_namespace_selector = true;
    o.within_cluster_queue = q.within;
    o.reclaim_within_cohort = q.reclaim;
    o.queueing_strategy = q.strategy;
    o.stop_policy = q.stop;
    o.admission_mode = q.mode;
    o.fair_weight_nano = q.weight_nano;
    if (!q.check.empty()) {
      auto checks = arena_.make<AdmissionCheckRule>(q.other_check.empty() ? 1 : 2);
      checks[0].name = keep(q.check);
      if (!q.other_check.empty()) checks[1].name = keep(q.other_check);
      o.admission_checks = checks;
    }
    observe(o);
  }
  void check(std::string_view name, bool active = true, std::string_view controller = "test") {
    AdmissionCheckObserved o;
    o.meta.name = keep(name);
    o.controller_name = keep(controller);
    o.active = active;
    observe(o);
  }
  void local_queue(std::string_view name, std::string_view cluster_queue, std::int64_t weight_nano = 1'000'000'000) {
    LocalQueueObserved o;
    o.fair_weight_nano = weight_nano;
    o.meta.namespace_ = "default";
    o.meta.name = keep(name);
    o.cluster_queue = keep(cluster_queue);
    observe(o);
  }
  /// A Workload that no job owns.
  WorkloadObserved workload(std::string_view name, std::string_view local_queue, Amount cpu, std::int32_t priority = 0) {
    WorkloadObserved w;
    w.meta.namespace_ = "default";
    w.meta.name = keep(name);
    w.meta.uid = arena_.copy("uid-" + std::string(name));
    w.meta.resource_version = ++version_;
    w.meta.generation = 1;
    w.meta.created = Time::from_seconds(now.floor_seconds());
    w.queue_name = keep(local_queue);
    w.priority = priority;
    auto requests = arena_.make<ResourceAmount>(1);
    requests[0] = {"cpu", cpu};
    auto pods = arena_.make<PodSetFacts>(1);
    pods[0].name = "main";
    pods[0].count = 1;
    pods[0].requests = requests;
    pods[0].shape_hash = pods[0].template_hash = pods[0].core_hash = static_cast<std::uint64_t>(cpu) + 7;
    w.pod_sets = pods;
    specs_[std::string(name)] = w;
    return w;
  }
  /// As if it had been admitted by somebody, at this moment.
  void admit(WorkloadObserved& w, std::string_view cluster_queue) {
    w.has_admission = true;
    w.admission_cluster_queue = keep(cluster_queue);
    auto assignments = arena_.make<PodSetAssignmentFacts>(w.pod_sets.size());
    for (std::size_t i = 0; i < w.pod_sets.size(); ++i) {
      const auto& p = w.pod_sets[i];
      auto flavors = arena_.make<FlavorChoice>(p.requests.size());
      auto usage = arena_.make<ResourceAmount>(p.requests.size());
      for (std::size_t k = 0; k < p.requests.size(); ++k) {
        flavors[k] = {p.requests[k].resource, "default"};
        usage[k] = {p.requests[k].resource, p.requests[k].amount * p.count};
      }
      assignments[i] = {p.name, p.count, flavors, usage};
    }
    w.assignments = assignments;
    auto conditions = arena_.make<ConditionFacts>(2);
    conditions[0] = {ConditionType::quota_reserved, ConditionStatus::true_, "QuotaReserved", "Quota reserved", now};
    conditions[1] = {ConditionType::admitted, ConditionStatus::true_, "Admitted", "The workload is admitted", now};
    w.conditions = conditions;
  }
  /// The Workload as the API server shows it when everything that was decided has been written; spec as last made by `workload`.
  WorkloadObserved seen_as(std::string_view name) {
    WorkloadObserved w = specs_.at(std::string(name));
    const WorkloadState& s = state(name);
    w.meta.resource_version = ++version_;
    w.meta.generation = s.generation;
    w.active = s.active;
    auto conditions = arena_.make<ConditionFacts>(s.conditions.size());
    for (std::size_t i = 0; i < s.conditions.size(); ++i) {
      const Condition& c = s.conditions[i];
      conditions[i] = {c.type, c.status, c.reason.text(), keep(c.message), c.last_transition};
    }
    w.conditions = conditions;
    w.has_admission = s.admission.has_value();
    if (s.admission) {
      w.admission_cluster_queue = s.admission->cluster_queue.text();
      auto assignments = arena_.make<PodSetAssignmentFacts>(s.admission->pod_sets.size());
      for (std::size_t i = 0; i < s.admission->pod_sets.size(); ++i) {
        const PodSetReservation& p = s.admission->pod_sets[i];
        auto flavors = arena_.make<FlavorChoice>(p.flavors.size());
        for (std::size_t k = 0; k < p.flavors.size(); ++k) flavors[k] = {p.flavors[k].first.text(), p.flavors[k].second.text()};
        auto usage = arena_.make<ResourceAmount>(p.usage.size());
        for (std::size_t k = 0; k < p.usage.size(); ++k) usage[k] = {p.usage[k].first.text(), p.usage[k].second};
        assignments[i] = {p.pod_set.text(), p.count, flavors, usage};
        const TopologyAssignment& where = p.topology;
        auto levels = arena_.make<Text>(where.levels.size());
        for (std::size_t k = 0; k < levels.size(); ++k) levels[k] = where.levels[k].text();
        auto domains = arena_.make<TopologyDomainFacts>(where.size());
        for (std::size_t k = 0; k < domains.size(); ++k) {
          auto values = arena_.make<Text>(levels.size());
          for (std::size_t v = 0; v < values.size(); ++v) values[v] = where.domain(k)[v].text();
          domains[k] = {values, where.counts[k]};
        }
        assignments[i].topology_levels = levels;
        assignments[i].topology = domains;
        assignments[i].delayed = p.delayed;
      }
      w.assignments = assignments;
    }
    auto checks = arena_.make<CheckFacts>(s.checks.size());
    for (std::size_t i = 0; i < s.checks.size(); ++i) checks[i] = view_check(s.checks[i], arena_);
    w.checks = checks;
    w.has_requeue_state = s.has_requeue_state;
    w.requeue_count = s.requeue_count;
    w.requeue_at = s.requeue_at;
    auto reclaimable = arena_.make<PodSetCount>(s.reclaimable.size());
    for (std::size_t i = 0; i < s.reclaimable.size(); ++i) reclaimable[i] = {s.reclaimable[i].first.text(), s.reclaimable[i].second};
    w.reclaimable = reclaimable;
    w.accumulated_exec_seconds = s.accumulated_exec_seconds;
    auto evictions = arena_.make<EvictionCount>(s.evictions.size());
    for (std::size_t i = 0; i < s.evictions.size(); ++i)
      evictions[i] = {s.evictions[i].reason.text(), s.evictions[i].cause.text(), s.evictions[i].count};
    w.evictions = evictions;
    return w;
  }
  Arena& arena() { return arena_; }
  /// For `seen_as`: the spec of this Workload, where a test made it otherwise than `workload` does.
  void remember(const WorkloadObserved& w) { specs_[std::string(w.meta.name)] = w; }
  /// A Job with one pod set that was just made, suspended.
  JobObserved job(std::string_view name, std::string_view local_queue, Amount cpu = 1'000, std::string_view owner = {}) {
    JobObserved j;
    j.meta.namespace_ = "default";
    j.meta.name = keep(name);
    j.meta.uid = arena_.copy("job-" + std::string(name));
    j.meta.resource_version = ++version_;
    j.meta.generation = 1;
    j.meta.created = Time::from_seconds(now.floor_seconds());
    j.kind = "Job";
    j.group = "batch";
    j.queue_name = keep(local_queue);
    j.suspended = true;
    j.workload_name = arena_.copy("job-" + std::string(name));
    if (!owner.empty()) {
      j.owner_uid = arena_.copy("job-" + std::string(owner));
      j.owner_kind = "Job";
      j.owner_name = keep(owner);
    }
    auto requests = arena_.make<ResourceAmount>(1);
    requests[0] = {"cpu", cpu};
    auto pods = arena_.make<PodSetFacts>(1);
    pods[0].name = "main";
    pods[0].requests = requests;
    pods[0].shape_hash = pods[0].template_hash = pods[0].core_hash = static_cast<std::uint64_t>(cpu) + 7;
    j.pod_sets = pods;
    return j;
  }
  /// The Workload that was made for this job.
  WorkloadObserved workload_of(const JobObserved& j) {
    auto w = workload(j.meta.name, j.queue_name, j.pod_sets[0].requests[0].amount);
    w.owner_uid = j.meta.uid;
    w.owner_kind = j.kind;
    w.owner_name = j.meta.name;
    return w;
  }
  std::uint64_t next_version() { return ++version_; }
  [[nodiscard]] const WorkloadState& state(std::string_view name) const {
    const auto parent = driver_.domain().find_parent("uid-" + std::string(name));
    for (const auto& w : driver_.parent(*parent)->workloads())
      if (w.name == name) return w;
    throw std::runtime_error("no Workload " + std::string(name));
  }
  /// Reason and message of QuotaReserved of one Workload; empty without the condition.
  [[nodiscard]] std::string pending(std::string_view name) const {
    const auto* c = state(name).find(ConditionType::quota_reserved);
    return c == nullptr ? "" : std::string(c->reason.text()) + ": " + c->message;
  }
  /// What the domain wants of the world, of one kind; all of it.
  template <class I>
  std::vector<I> all() {
    std::vector<I> out;
    for (auto& intent : driver_.entities().all_intents())
      if (auto* i = std::get_if<I>(&intent)) out.push_back(std::move(*i));
    return out;
  }
  /// What the domain wants of the world since it was asked last, of one kind.
  template <class I>
  std::vector<I> wanted() {
    std::vector<I> out;
    for (auto& intent : driver_.collect_intents())
      if (auto* i = std::get_if<I>(&intent)) out.push_back(std::move(*i));
    return out;
  }
  std::string_view keep(std::string_view s) { return arena_.copy(s); }

 private:
  void append(Body body) { append(std::move(body), driver_.domain().epoch()); }
  void append(Body body, std::uint64_t epoch) {
    RecordView r;
    r.envelope.domain = "default";
    r.envelope.sequence = driver_.domain().sequence() + 1;
    r.envelope.epoch = epoch;
    r.envelope.time = now;
    r.body = std::move(body);
    if (on_record) on_record(r);
    const auto ok = driver_.apply(r);
    if (!ok) throw std::runtime_error(ok.error().message);
  }

  Arena arena_;
  Settings settings_;
  LoopDriver driver_;
  std::uint64_t version_ = 0;
  std::map<std::string, WorkloadObserved> specs_;  ///< By name.
};

inline std::vector<std::string> FactWorld::settle() {
  std::vector<std::string> out;
  for (int i = 0; i < 1000; ++i) {
    auto step = driver_.decide();
    if (!step) return out;
    for (const Event& e : step->events) {
      if (const auto* q = std::get_if<QuotaReserved>(&e))
        out.push_back("reserved " + std::string(q->workload.name) + (q->admitted ? " admitted" : ""));
      if (const auto* r = std::get_if<EntryRequeued>(&e))
        out.push_back("requeued " + std::string(r->workload.name) + " " + std::string(r->reason));
      if (const auto* p = std::get_if<WorkloadPreempted>(&e))
        out.push_back("preempted " + std::string(p->workload.name) + " " + std::string(p->reason));
      if (const auto* t = std::get_if<TreeReactivated>(&e)) out.push_back("reactivated " + std::string(t->root));
      if (const auto* f = std::get_if<WorkloadFinished>(&e)) out.push_back("finished " + std::string(f->workload.name));
      if (const auto* w = std::get_if<WorkloadRequested>(&e)) out.push_back("requested " + std::string(w->name));
      if (const auto* x = std::get_if<WorkloadRemoved>(&e)) out.push_back("removed " + std::string(x->workload.name));
      if (const auto* g = std::get_if<GateChanged>(&e)) {
        constexpr const char* changes[] = {"observed", "shrunk", "cleared", "ignored"};
        out.push_back(std::string("gate ") + changes[static_cast<std::size_t>(g->change)] + " " + std::string(g->value));
      }
      if (const auto* s = std::get_if<JobStopped>(&e)) out.push_back("stopped " + std::string(s->job.name));
      if (const auto* c = std::get_if<ConditionChanged>(&e))
        out.push_back("condition " + std::string(c->workload.name) + " " + std::string(c->reason));
    }
    Decisions d{step->base, step->kind, step->events};
    append(Body{d});
  }
  throw std::runtime_error("the domain does not come to rest");
}

}  // namespace hindsight::admission::testing
