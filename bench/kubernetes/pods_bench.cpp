// What a pod that is not ours takes of memory in the connector: of a large cluster there are a million.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <string>

#include "connectors/bridge/node_usage.hpp"
#include "connectors/kubernetes/mirror/mirror_store.hpp"
#include "connectors/objects/resource_types.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

constexpr int pods_on_a_node = 10;

/// Bytes of memory that this process has.
std::size_t resident() {
  malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, pages = 0;
  statm >> total >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// As an API server makes them.
std::string uid(std::mt19937_64& random) {
  char out[40];
  std::snprintf(out, sizeof out, "%08llx-%04llx-4%03llx-8%03llx-%012llx", random() & 0xffffffffULL, random() & 0xffffULL,
                random() & 0xfffULL, random() & 0xfffULL, random() & 0xffffffffffffULL);
  return out;
}

/// Its name, uid and version in the mirror, and what it uses of its node.
void pods_of_others(benchmark::State& state) {
  const auto pods = static_cast<int>(state.range(0));
  while (state.KeepRunning()) {
    std::mt19937_64 random(1);
    const std::size_t before = resident();
    MirrorStore store;
    auto& kind = store.open(types::pod, true, [](std::string_view) { return false; });
    store.begin_list(kind);
    for (int i = 0; i < pods; ++i) {
      const std::string id = uid(random), name = "kube-proxy-" + id.substr(0, 5), version = std::to_string(1'000'000 + i);
      benchmark::DoNotOptimize(store.observe(kind, {"{}", "kube-system", name + std::to_string(i), id, version, {}}));
    }
    const std::size_t mirror = resident();
    NodeUsage usage;
    random.seed(1);
    PodUse pod;
    pod.request.amounts = {{Symbol("cpu"), 100}, {Symbol("memory"), 1 << 26}, {Symbol("pods"), 1}};
    for (int i = 0; i < pods; ++i) {
      pod.uid = uid(random);
      pod.node = "node-" + std::to_string(i / pods_on_a_node);
      usage.see(pod);
    }
    const std::size_t all = resident();
    state.counters["mirror bytes/pod"] = static_cast<double>(mirror - before) / pods;
    state.counters["usage bytes/pod"] = static_cast<double>(all - mirror) / pods;
  }
}
BENCHMARK(pods_of_others)->Arg(200'000)->Arg(1'000'000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hindsight::connectors::kubernetes

BENCHMARK_MAIN();
