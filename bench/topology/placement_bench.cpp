// Placements a second, without I/O: a tree of zones, blocks, racks and hosts with 8 GPUs each, where others use some.

#include <benchmark/benchmark.h>

#include <cstdint>

#include "admission/topology/placement.hpp"

namespace hindsight::bench {
namespace {

using namespace admission::topology;
using admission::TopologyRequest;

const Symbol cpu("cpu"), gpu("nvidia.com/gpu"), pods("pods");

/// Racks of 16 hosts, blocks of 16 racks, zones of 16 blocks.
TopologyTree fleet(std::size_t hosts) {
  std::vector<TopologyTree::Node> nodes;
  nodes.reserve(hosts);
  for (std::size_t i = 0; i < hosts; ++i) {
    const auto number = [](std::size_t n) { return std::to_string(100'000 + n); };
    TopologyTree::Node n;
    n.name = "host-" + number(i);
    n.values = {"zone-" + number(i / 4'096), "block-" + number(i / 256), "rack-" + number(i / 16), n.name};
    n.allocatable = {{cpu, 64'000}, {gpu, 8}, {pods, 110}};
    nodes.push_back(std::move(n));
  }
  return TopologyTree::build({"zone", "block", "rack", "kubernetes.io/hostname"}, std::move(nodes));
}

Capacity some_used(const TopologyTree& tree) {
  Capacity free = tree.capacity();
  std::uint32_t random = 1;
  for (DomainIndex leaf = 0; leaf < tree.leaves(); ++leaf) {
    random = random * 1'664'525 + 1'013'904'223;
    free.add(gpu, leaf, -static_cast<Amount>(random >> 24 & 7U));
  }
  return free;
}

PlacementRules preferred_rack(const TopologyTree& tree) {
  TopologyRequest request;
  request.preferred = "rack";
  return *rules_for(request, tree.levels(), false, {});
}

/// A gang that no rack and no block holds: every domain is looked at.
void gang_of_1024(benchmark::State& state) {
  const auto tree = fleet(static_cast<std::size_t>(state.range(0)));
  const auto free = some_used(tree);
  const auto rules = preferred_rack(tree);
  const Gang gang{1'024, {{cpu, 4'000}, {gpu, 1}, {pods, 1}}, {}};
  while (state.KeepRunning())
    if (const auto placed = place(tree, free, rules, gang); !placed) state.SkipWithError("no placement");
}

/// Gangs of 4 pods, each charged; what was placed goes when the fleet is full.
void gangs_of_4(benchmark::State& state) {
  const auto tree = fleet(static_cast<std::size_t>(state.range(0)));
  const auto empty = some_used(tree);
  auto free = empty;
  const auto rules = preferred_rack(tree);
  const Gang gang{4, {{cpu, 4'000}, {gpu, 1}, {pods, 1}}, {}};
  std::int64_t placed_pods = 0;
  while (state.KeepRunning()) {
    const auto placed = place(tree, free, rules, gang);
    if (!placed) {
      free = empty;
      continue;
    }
    charge(free, gang, *placed);
    placed_pods += 4;
  }
  state.counters["pods/s"] = benchmark::Counter(static_cast<double>(placed_pods), benchmark::Counter::kIsRate);
}

BENCHMARK(gang_of_1024)->ArgName("hosts")->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(gangs_of_4)->ArgName("hosts")->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace hindsight::bench

BENCHMARK_MAIN();
