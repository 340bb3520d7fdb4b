// A fleet of 100,000 nodes with 1,000,000 pods in 100,000 Workloads, through the whole domain: what nodes take of memory, what it costs to
// place everybody, and how long it takes to come back from a snapshot.

#include <benchmark/benchmark.h>
#include <mimalloc.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "admission/rules.hpp"
#include "admission/state/snapshot.hpp"
#include "bench/actors/big_domain.hpp"
#include "vocabulary/arena.hpp"

namespace hindsight::bench {
namespace {

using namespace admission;

constexpr std::size_t queues = 100, gangs = 100'000;
constexpr std::int32_t pods_of_gang = 10;
const Time start = Time::from_seconds(1'700'000'000);

std::size_t resident() {
  mi_collect(true);
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, pages = 0;
  statm >> total >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::string number(std::size_t n) { return std::to_string(1'000'000 + n).substr(1); }

Result<Settings> settings(Text) { return Settings{}; }

ObjectMeta named(const std::string& name, Text namespace_ = {}) {
  static Arena names;
  ObjectMeta m;
  m.name = names.copy(name);
  m.uid = names.copy("uid-" + name);
  m.namespace_ = namespace_;
  m.resource_version = 1;
  m.created = start;
  return m;
}

/// The domain, told what a cluster tells.
class Told {
 public:
  void apply(Body body) {
    if (const auto ok = driver_.apply(record_after(sequence_++, now_, std::move(body))); !ok) {
      std::fprintf(stderr, "error: %s\n", ok.error().message.c_str());
      std::abort();
    }
  }

  void configure() {
    apply(EpochStarted{"bench", "bench", rules_version});
    apply(Observation{ConfigurationObserved{"{}"}});
    TopologyObserved topology;
    topology.meta = named("hall");
    const std::vector<Text> levels{"topology.example.com/zone", "topology.example.com/block", "topology.example.com/rack",
                                   "kubernetes.io/hostname"};
    topology.levels = levels;
    apply(Observation{topology});
    ResourceFlavorObserved flavor;
    flavor.meta = named("gpu");
    const Pair pool{"node.example.com/pool", "gpu"};
    flavor.node_labels = {&pool, 1};
    flavor.topology_name = "hall";
    apply(Observation{flavor});
    NamespaceObserved space;
    space.meta = named("default");
    apply(Observation{space});
    const Text resource = "cpu";
    const QuotaFacts quota{resource, 200'000'000, {}, {}};
    const FlavorQuotasFacts quotas{"gpu", {&quota, 1}};
    const ResourceGroupFacts group{{&resource, 1}, {&quotas, 1}};
    for (std::size_t i = 0; i < queues; ++i) {
      ClusterQueueObserved q;
      q.meta = named("queue-" + number(i));
      q.cohort = "all";
      q.resource_groups = {&group, 1};
      q.has_namespace_selector = true;
      apply(Observation{q});
      LocalQueueObserved local;
      local.meta = named("local-" + number(i), "default");
      local.cluster_queue = q.meta.name;
      apply(Observation{local});
    }
  }

  /// As a GPU node of a cloud: 13 labels, 5 resources.
  void node(std::size_t i) {
    const std::string host = "gpu-node-" + number(i), zone = "zone-" + number(i / 4'096), block = "block-" + number(i / 256),
                      rack = "rack-" + number(i / 16);
    const std::vector<Pair> labels{{"beta.kubernetes.io/arch", "amd64"},
                                   {"beta.kubernetes.io/os", "linux"},
                                   {"kubernetes.io/arch", "amd64"},
                                   {"kubernetes.io/hostname", host},
                                   {"kubernetes.io/os", "linux"},
                                   {"node.example.com/pool", "gpu"},
                                   {"node.kubernetes.io/instance-type", "a3-highgpu-8g"},
                                   {"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
                                   {"topology.example.com/block", block},
                                   {"topology.example.com/rack", rack},
                                   {"topology.example.com/zone", zone},
                                   {"topology.kubernetes.io/region", "europe-west4"},
                                   {"topology.kubernetes.io/zone", "europe-west4-a"}};
    const std::vector<ResourceAmount> allocatable{
        {"cpu", 207'000}, {"ephemeral-storage", 2'000'000'000'000}, {"memory", 1'900'000'000'000}, {"nvidia.com/gpu", 8}, {"pods", 110}};
    NodeObserved n;
    n.meta.name = host;
    const std::string uid = "0d9f7b4e-3c21-4f6a-9d55-7a1e52" + number(i);
    n.meta.uid = uid;
    n.meta.resource_version = 1;
    n.meta.created = start;
    n.labels = labels;
    n.allocatable = allocatable;
    n.ready = true;
    apply(Observation{n});
  }

  void gang(std::size_t i) {
    const std::string name = "gang-" + number(i), uid = "6ba7b810-9dad-11d1-80b4-00c04f" + number(i), queue = "local-" + number(i % queues);
    const ResourceAmount request{"cpu", 16'000};  // a node holds 12
    PodSetFacts pod_set;
    pod_set.name = "main";
    pod_set.count = pods_of_gang;
    pod_set.requests = {&request, 1};
    pod_set.shape_hash = pod_set.template_hash = pod_set.core_hash = 7;
    pod_set.preferred_topology = "topology.example.com/rack";
    pod_set.topology_requested = true;
    WorkloadObserved w;
    w.meta.namespace_ = "default";
    w.meta.name = name;
    w.meta.uid = uid;
    w.meta.resource_version = 1;
    w.meta.created = start;
    w.queue_name = queue;
    w.pod_sets = {&pod_set, 1};
    apply(Observation{w});
  }

  std::size_t decide() {
    std::size_t placed = 0;
    while (auto step = driver_.decide()) {
      for (const Event& e : step->events) placed += std::holds_alternative<QuotaReserved>(e);
      Decisions d;
      d.step = step->kind;
      d.base = step->base;
      d.events = step->events;
      apply(d);
    }
    return placed;
  }
  LoopDriver& driver() { return driver_; }

 private:
  LoopDriver driver_{settings};
  std::uint64_t sequence_ = 0;
  Time now_ = start;
};

void nodes_in_memory(benchmark::State& state) {
  const auto nodes = static_cast<std::size_t>(state.range(0));
  while (state.KeepRunning()) {
    Told told;
    told.configure();
    told.apply(Observation{MirrorSynced{}});
    const std::size_t before = resident();
    for (std::size_t i = 0; i < nodes; ++i) told.node(i);
    const std::size_t known = resident();
    told.gang(0);
    if (told.decide() != 1) state.SkipWithError("it was not placed");
    state.counters["bytes/node"] = static_cast<double>(known - before) / static_cast<double>(nodes);
    state.counters["with_room"] = static_cast<double>(resident() - before) / static_cast<double>(nodes);
  }
}

void a_whole_fleet(benchmark::State& state) {
  const auto nodes = static_cast<std::size_t>(state.range(0));
  const std::size_t all = gangs * nodes / 100'000;
  while (state.KeepRunning()) {
    Told told;
    told.configure();
    for (std::size_t i = 0; i < nodes; ++i) told.node(i);
    for (std::size_t i = 0; i < all; ++i) told.gang(i);
    told.apply(Observation{MirrorSynced{}});
    const auto seconds_since = [](std::chrono::steady_clock::time_point t) {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
    };
    auto t = std::chrono::steady_clock::now();
    const std::size_t placed = told.decide();
    const double took = seconds_since(t);
    if (placed != all) state.SkipWithError("not all were placed");
    state.counters["pods/s"] = static_cast<double>(placed) * pods_of_gang / took;
    const auto bytes = SnapshotCodec::write(told.driver().entities());
    t = std::chrono::steady_clock::now();
    LoopDriver copy(settings);
    if (const auto read = SnapshotCodec::read(bytes, copy.entities()); !read) state.SkipWithError("the snapshot cannot be read");
    state.counters["restore_s"] = seconds_since(t);
    state.counters["snapshot_MB"] = static_cast<double>(bytes.size()) / 1e6;
    if (copy.entities().state_hash() != told.driver().entities().state_hash()) state.SkipWithError("another state came back");
  }
}

BENCHMARK(nodes_in_memory)->ArgName("nodes")->Arg(10'000)->Arg(100'000)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(a_whole_fleet)->ArgName("nodes")->Arg(10'000)->Arg(100'000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hindsight::bench
