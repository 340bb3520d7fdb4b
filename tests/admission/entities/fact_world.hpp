#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "admission/loop_driver.hpp"

namespace hindsight::admission::testing {

/// A domain with the loop driver, fed with facts in plain form; the world's answers are written by the test. One record a call.
class FactWorld {
 public:
  FactWorld() : driver_([](Text) -> Result<Settings> { return Settings{}; }) {}

  LoopDriver& driver() { return driver_; }
  Time now = Time::from_seconds(1'000'000);

  void observe(Observation o) { append(Body{std::move(o)}); }
  void tick(Duration d) {
    now = now + d;
    observe(TimerFired{});
  }
  /// Decides and applies until at rest; returns what was decided.
  std::vector<std::string> settle();

  void flavor(std::string_view name) {
    ResourceFlavorObserved f;
    f.meta.name = keep(name);
    observe(f);
  }
  void namespace_(std::string_view name) {
    NamespaceObserved n;
    n.meta.name = keep(name);
    observe(n);
  }
  struct Queue {
    std::string_view name, cohort;
    Amount cpu = 0;
    PreemptionPolicy within = PreemptionPolicy::never, reclaim = PreemptionPolicy::never;
    QueueingStrategy strategy = QueueingStrategy::best_effort_fifo;
    StopPolicy stop = StopPolicy::none;
  };
  void queue(const Queue& q) {
    ClusterQueueObserved o;
    o.meta.name = keep(q.name);
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
    observe(o);
  }
  void local_queue(std::string_view name, std::string_view cluster_queue) {
    LocalQueueObserved o;
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
    return w;
  }
  std::uint64_t next_version() { return ++version_; }
  [[nodiscard]] const WorkloadState& state(std::string_view name) const {
    const auto parent = driver_.domain().find_parent("uid-" + std::string(name));
    return driver_.parent(*parent)->workloads().front();
  }
  std::string_view keep(std::string_view s) { return arena_.copy(s); }

 private:
  void append(Body body) {
    RecordView r;
    r.envelope.domain = "default";
    r.envelope.sequence = driver_.domain().sequence() + 1;
    r.envelope.epoch = driver_.domain().epoch();
    r.envelope.time = now;
    r.body = std::move(body);
    const auto ok = driver_.apply(r);
    if (!ok) throw std::runtime_error(ok.error().message);
  }

  Arena arena_;
  LoopDriver driver_;
  std::uint64_t version_ = 0;
};

inline std::vector<std::string> FactWorld::settle() {
  std::vector<std::string> out;
  for (int i = 0; i < 1000; ++i) {
    auto step = driver_.decide();
    if (!step) return out;
    for (const Event& e : step->events) {
      if (const auto* q = std::get_if<QuotaReserved>(&e)) out.push_back("reserved " + std::string(q->workload.name) + (q->admitted ? " admitted" : ""));
      if (const auto* r = std::get_if<EntryRequeued>(&e)) out.push_back("requeued " + std::string(r->workload.name) + " " + std::string(r->reason));
      if (const auto* p = std::get_if<WorkloadPreempted>(&e)) out.push_back("preempted " + std::string(p->workload.name) + " " + std::string(p->reason));
      if (const auto* t = std::get_if<TreeReactivated>(&e)) out.push_back("reactivated " + std::string(t->root));
      if (const auto* f = std::get_if<WorkloadFinished>(&e)) out.push_back("finished " + std::string(f->workload.name));
      if (const auto* c = std::get_if<ConditionChanged>(&e)) out.push_back("condition " + std::string(c->workload.name) + " " + std::string(c->reason));
    }
    Decisions d{step->base, step->kind, step->events};
    append(Body{d});
  }
  throw std::runtime_error("the domain does not come to rest");
}

}  // namespace hindsight::admission::testing
