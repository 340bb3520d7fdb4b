#include "bench/insight/waiting_state.hpp"

#include <stdexcept>
#include <utility>
#include <variant>

#include "admission/domain/domain.hpp"
#include "admission/rules.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::bench {
namespace {

constexpr std::size_t running_in_queue = 10, sizes = 16;

/// A log that nobody keeps.
class Teller {
 public:
  Teller() : driver_(std::make_unique<admission::LoopDriver>([](Text) -> Result<admission::Settings> { return admission::Settings(); })) {}

  void tell(Body body) {
    RecordView r;
    r.envelope.domain = "default";
    r.envelope.sequence = driver_->domain().sequence() + 1;
    r.envelope.epoch = 1;
    r.envelope.time = now_ = now_ + Duration::millis(1);
    r.body = std::move(body);
    if (auto ok = driver_->apply(r); !ok) throw std::runtime_error(ok.error().message);
  }

  void decide_to_rest() {
    for (;;) {
      if (const auto step = driver_->decide()) {
        tell(Decisions{step->base, step->kind, step->events});
        continue;
      }
      const Time due = driver_->domain().next_due();
      if (!due.is_set() || due > now_ + Duration::seconds(2)) return;
      now_ = std::max(now_, due);
      tell(Observation{TimerFired{}});
    }
  }

  [[nodiscard]] std::unique_ptr<admission::LoopDriver> take() { return std::move(driver_); }

 private:
  std::unique_ptr<admission::LoopDriver> driver_;
  Time now_ = Time::from_seconds(1'700'000'000);
};

ObjectMeta meta_of(Arena& arena, const std::string& name, std::string_view namespace_ = {}) {
  ObjectMeta m;
  m.name = arena.copy(name);
  m.uid = arena.copy("uid-" + name);
  m.namespace_ = namespace_;
  m.resource_version = 1;
  m.created = Time::from_seconds(1'700'000'000);
  return m;
}

void tell_configuration(Teller& log, const WaitingShape& shape) {
  Arena arena;
  log.tell(EpochStarted{.rules = admission::rules_version});
  ResourceFlavorObserved flavor;
  flavor.meta = meta_of(arena, "default-flavor");
  log.tell(Observation{flavor});
  NamespaceObserved space;
  space.meta = meta_of(arena, "default");
  log.tell(Observation{space});
  QuotaFacts quota{"cpu", static_cast<Amount>(running_in_queue) * 1'000, {}, {}};
  FlavorQuotasFacts quotas{"default-flavor", {&quota, 1}};
  const Text cpu = "cpu";
  const ResourceGroupFacts group{{&cpu, 1}, {&quotas, 1}};
  for (std::size_t i = 0; i < waiting_queues; ++i) {
    ClusterQueueObserved q;
    q.meta = meta_of(arena, "queue-" + std::to_string(i));
    q.cohort = arena.copy("cohort-" + std::to_string(i % shape.trees));
    q.resource_groups = {&group, 1};
    q.has_namespace_selector = true;
    log.tell(Observation{q});
    LocalQueueObserved local;
    local.meta = meta_of(arena, "local-" + std::to_string(i), "default");
    local.cluster_queue = q.meta.name;
    log.tell(Observation{local});
  }
  log.tell(Observation{MirrorSynced{}});
}

void tell_workload(Teller& log, const std::string& name, std::size_t number, Amount cpu, std::int32_t priority) {
  const std::string uid = "6ba7b810-9dad-11d1-80b4-" + std::string(12 - std::min<std::size_t>(12, name.size()), '0') + name;
  const std::string queue = "local-" + std::to_string(number % waiting_queues);
  const ResourceAmount request{"cpu", cpu};
  PodSetFacts pod_set;
  pod_set.name = "main";
  pod_set.count = 1;
  pod_set.requests = {&request, 1};
  pod_set.shape_hash = pod_set.template_hash = pod_set.core_hash = static_cast<std::uint64_t>(cpu);
  WorkloadObserved w;
  w.meta.namespace_ = "default";
  w.meta.name = name;
  w.meta.uid = uid;
  w.meta.resource_version = 1'000 + number;
  w.meta.generation = 1;
  w.meta.created = Time::from_seconds(1'700'000'000) + Duration::millis(static_cast<std::int64_t>(number));
  w.queue_name = queue;
  w.pod_sets = {&pod_set, 1};
  w.priority = priority;
  log.tell(Observation{w});
}

}  // namespace

std::string waiting_name(std::size_t i) { return "waiting-" + std::to_string(i); }

std::unique_ptr<admission::LoopDriver> waiting_state(const WaitingShape& shape) {
  Teller log;
  tell_configuration(log, shape);
  for (std::size_t i = 0; i < running_in_queue * waiting_queues; ++i) tell_workload(log, "running-" + std::to_string(i), i, 1'000, 9);
  log.decide_to_rest();
  for (std::size_t i = 0; i < shape.waiting; ++i) {
    const auto nth = i / waiting_queues;  // of its queue
    tell_workload(log, waiting_name(i), i, static_cast<Amount>(nth % sizes + 1) * 500, static_cast<std::int32_t>(nth % 3));
  }
  log.decide_to_rest();
  return log.take();
}

}  // namespace hindsight::bench
