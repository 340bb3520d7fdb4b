// Families of 4 Options that wait in 100 ClusterQueues of 4 flavors, Workloads that no job owns, under the loop driver.

#include <benchmark/benchmark.h>
#include <mimalloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::bench {
namespace {

constexpr std::size_t queues = 100, flavors = 4;
const Time long_ago = Time::from_seconds(1'700'000'000);

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "error: %s\n", why.c_str());
  std::abort();
}

std::size_t resident() {
  mi_collect(true);
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, pages = 0;
  statm >> total >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// A domain with its facts, and somebody who makes the Options that it asks for.
class Families {
 public:
  /// `concurrent`: with families; else the same Workloads as they are.
  Families(std::size_t workloads, bool concurrent, OnSuccess policy)
      : workloads_(workloads), concurrent_(concurrent), policy_(policy), driver_([concurrent](Text) -> Result<admission::Settings> {
          admission::Settings s;
          s.concurrent_admission = concurrent;
          return s;
        }) {
    tell(ConfigurationObserved{"{}"});
    for (std::size_t f = 0; f < flavors; ++f) {
      ResourceFlavorObserved flavor;
      flavor.meta = meta(flavor_name(f));
      tell(flavor);
    }
    NamespaceObserved space;
    space.meta = meta("default");
    tell(space);
    for (std::size_t q = 0; q < queues; ++q) {
      tell_queue(q, {});
      LocalQueueObserved local;
      local.meta = meta("local-" + std::to_string(q), "default");
      local.cluster_queue = arena_.copy("queue-" + std::to_string(q));
      tell(local);
    }
    tell(MirrorSynced{});
  }

  /// Quota of each flavor in one queue, in Workloads.
  void tell_queue(std::size_t queue, std::vector<Amount> rooms) {
    rooms.resize(flavors);
    ClusterQueueObserved q;
    q.meta = meta("queue-" + std::to_string(queue));
    auto list = arena_.make<FlavorQuotasFacts>(flavors);
    for (std::size_t f = 0; f < flavors; ++f) {
      auto quotas = arena_.make<QuotaFacts>(1);
      quotas[0] = {"cpu", rooms[f] * 1'000, {}, {}};
      list[f] = {arena_.copy(flavor_name(f)), quotas};
    }
    auto resources = arena_.make<Text>(1);
    resources[0] = "cpu";
    auto groups = arena_.make<ResourceGroupFacts>(1);
    groups[0] = {resources, list};
    q.resource_groups = groups;
    q.has_namespace_selector = true;
    q.concurrent.enabled = concurrent_;
    q.concurrent.on_success = policy_;
    tell(q);
  }
  void tell_queues(const std::vector<Amount>& rooms) {
    for (std::size_t q = 0; q < queues; ++q) tell_queue(q, rooms);
  }

  void tell_workloads() {
    for (std::size_t i = 0; i < workloads_; ++i) tell_workload("workload-" + std::to_string(1'000'000 + i), uid_of(i, 0), i, {}, true);
  }

  /// Decides until at rest, with Options made as they are asked for. Returns how many Workloads or families were admitted.
  std::size_t decide() {
    std::size_t admitted = 0;
    for (;;) {
      auto step = driver_.decide();
      if (!step) return admitted;
      std::vector<Asked> asked;
      for (const Event& e : step->events) {
        if (const auto* r = std::get_if<OptionRequested>(&e))
          asked.push_back({std::string(r->name), std::string(r->workload.uid), r->active, std::string(r->flavors.front())});
        if (const auto* q = std::get_if<QuotaReserved>(&e)) admitted += q->admitted ? 1 : 0;
        migrations_ += std::holds_alternative<MigrationStarted>(e) ? 1 : 0;
      }
      apply(Decisions{step->base, step->kind, step->events});
      for (const Asked& a : asked) {
        const std::size_t i = std::stoul(a.name.substr(9, 7)) - 1'000'000;
        tell_workload(a.name, uid_of(i, 1 + static_cast<std::size_t>(a.flavor.back() - '0')), i, a, a.active);
      }
    }
  }
  void wait(Duration d) {
    now_ = now_ + d;
    tell(TimerFired{});
  }
  [[nodiscard]] std::size_t migrations() const { return migrations_; }

 private:
  struct Asked {
    std::string name, parent;
    bool active = true;
    std::string flavor;
  };
  static std::string flavor_name(std::size_t f) { return "flavor-" + std::to_string(f); }
  static std::string uid_of(std::size_t i, std::size_t which) {
    return "6ba7b810-9dad-11d1-80b" + std::to_string(which) + "-00c04f" + std::to_string(1'000'000 + i).substr(1);
  }
  ObjectMeta meta(const std::string& name, std::string_view namespace_ = {}) {
    ObjectMeta m;
    m.name = arena_.copy(name);
    m.uid = arena_.copy("uid-" + name);
    m.namespace_ = namespace_;
    m.resource_version = ++version_;
    m.created = long_ago;
    return m;
  }
  void tell_workload(const std::string& name, const std::string& uid, std::size_t i, const Asked& option, bool active) {
    const std::string queue = "local-" + std::to_string(i % queues);
    const ResourceAmount request{"cpu", 1'000};
    PodSetFacts pod_set{};
    pod_set.name = "main";
    pod_set.count = 1;
    pod_set.requests = {&request, 1};
    pod_set.shape_hash = pod_set.template_hash = pod_set.core_hash = 7;
    const Text flavor = option.flavor;
    const PreemptionGateFacts gate{"kueue.x-k8s.io/concurrent-admission", false};
    WorkloadObserved w;
    w.meta.namespace_ = "default";
    w.meta.name = name;
    w.meta.uid = uid;
    w.meta.resource_version = ++version_;
    w.meta.generation = 1;
    w.meta.created = long_ago + Duration::millis(static_cast<std::int64_t>(i));
    w.queue_name = queue;
    w.pod_sets = {&pod_set, 1};
    w.priority = static_cast<std::int32_t>(i / queues % 3);
    w.active = active;
    if (!option.parent.empty()) {
      w.owner_uid = option.parent;
      w.owner_kind = "Workload";
      w.constrained = true;
      w.allowed_flavors = {&flavor, 1};
      w.preemption_gates = {&gate, 1};
    }
    tell(w);
  }
  void tell(const Observation& o) { apply(o); }
  void apply(Body body) {
    RecordView r;
    r.envelope.domain = "default";
    r.envelope.sequence = ++sequence_;
    r.envelope.epoch = 1;
    r.envelope.time = now_;
    r.body = std::move(body);
    if (const auto ok = driver_.apply(r); !ok) stop(ok.error().message);
  }

  std::size_t workloads_;
  bool concurrent_;
  OnSuccess policy_;
  admission::LoopDriver driver_;
  Arena arena_;
  std::uint64_t sequence_ = 0, version_ = 0;
  std::size_t migrations_ = 0;
  Time now_ = Time::from_seconds(1'700'001'000);
};

/// Room comes for all that wait; until everybody is admitted.
void admit_waiting(benchmark::State& state, bool concurrent) {
  constexpr std::size_t workloads = 10'000;
  while (state.KeepRunning()) {
    state.PauseTiming();
    {
      Families world(workloads, concurrent, OnSuccess::remove_other);
      world.tell_workloads();
      (void)world.decide();
      world.tell_queues({workloads / queues});
      world.wait(Duration::seconds(2));
      state.ResumeTiming();
      const std::size_t admitted = world.decide();
      state.PauseTiming();
      if (admitted != workloads) stop("admitted " + std::to_string(admitted));
    }
    state.ResumeTiming();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * workloads));
}

void memory(benchmark::State& state, bool concurrent) {
  constexpr std::size_t workloads = 20'000;
  while (state.KeepRunning()) {
    Families world(workloads, concurrent, OnSuccess::remove_other);
    const std::size_t before = resident();
    world.tell_workloads();
    (void)world.decide();
    state.counters["bytes each"] = static_cast<double>(resident() - before) / static_cast<double>(workloads);
  }
}

/// All run on the worst flavor, and the best one has room for all at once; until it was decided that each of them moves.
void migrate(benchmark::State& state) {
  constexpr std::size_t workloads = 1'000;
  while (state.KeepRunning()) {
    state.PauseTiming();
    {
      Families world(workloads, true, OnSuccess::remove_lower);
      world.tell_workloads();
      (void)world.decide();
      world.tell_queues({0, 0, 0, workloads / queues});
      world.wait(Duration::seconds(2));
      if (const std::size_t n = world.decide(); n != workloads) stop("admitted " + std::to_string(n));
      world.tell_queues({workloads / queues, 0, 0, workloads / queues});
      world.wait(Duration::seconds(2));
      state.ResumeTiming();
      (void)world.decide();
      state.PauseTiming();
      if (world.migrations() != workloads) stop("moved " + std::to_string(world.migrations()));
    }
    state.ResumeTiming();
  }
}

BENCHMARK_CAPTURE(admit_waiting, plain, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(admit_waiting, families_of_4, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(memory, plain, false)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(memory, families_of_4, true)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(migrate)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hindsight::bench

BENCHMARK_MAIN();
