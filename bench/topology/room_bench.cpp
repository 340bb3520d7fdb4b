// What it costs to keep a room up to date: one node changes, or all is made anew.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "admission/topology/topology_room.hpp"

namespace hindsight::bench {
namespace {

using namespace admission;
using topology::TopologyRoom;

/// Racks of 16 hosts with 8 GPUs, blocks of 16 racks.
struct Hall {
  FlavorConfig flavor;
  std::vector<const FlavorConfig*> flavors;
  std::map<Symbol, std::vector<std::string>, ByText> topologies;
  Nodes nodes;

  explicit Hall(std::size_t hosts) {
    flavor.name = Symbol("gpu");
    flavor.topology = Symbol("hall");
    flavor.node_labels = {{Symbol("pool"), "gpu"}};
    flavors = {&flavor};
    topologies[flavor.topology] = {"block", "rack", "kubernetes.io/hostname"};
    for (std::size_t i = 0; i < hosts; ++i) {
      const auto number = [](std::size_t n) { return std::to_string(100'000 + n); };
      auto node = std::make_shared<NodeConfig>();
      node->name = Symbol("host-" + number(i));
      node->labels = {{Symbol("block"), CompactText("block-" + number(i / 256))},
                      {Symbol("kubernetes.io/hostname"), CompactText(node->name.text())},
                      {Symbol("pool"), CompactText("gpu")},
                      {Symbol("rack"), CompactText("rack-" + number(i / 16))}};
      node->allocatable = AmountList{{Symbol("cpu"), 64'000}, {Symbol("nvidia.com/gpu"), 8}, {Symbol("pods"), 110}};
      node->ready = true;
      nodes[node->name] = std::move(node);
    }
  }
};

void made_anew(benchmark::State& state) {
  const Hall hall(static_cast<std::size_t>(state.range(0)));
  while (state.KeepRunning()) {
    TopologyRoom room(hall.flavors, hall.topologies, hall.nodes, {});
    benchmark::DoNotOptimize(room.empty());
  }
}

/// What pods of others use of one node after another, or whether it is ready.
template <bool comes_and_goes>
void node_changes(benchmark::State& state) {
  Hall hall(static_cast<std::size_t>(state.range(0)));
  TopologyRoom room(hall.flavors, hall.topologies, hall.nodes, {});
  std::vector<std::pair<Symbol, std::shared_ptr<const NodeConfig>>> one, other;
  for (auto& [name, node] : hall.nodes) {
    if (one.size() == 1'000) break;
    auto changed = std::make_shared<NodeConfig>(*node);
    if (comes_and_goes)
      changed->ready = false;
    else
      changed->used = AmountList{{Symbol("cpu"), 500}, {Symbol("pods"), 3}};
    other.emplace_back(name, std::move(changed));
    one.emplace_back(name, node);
  }
  std::size_t i = 0;
  while (state.KeepRunning()) {
    const auto& [name, node] = (i / one.size()) % 2 == 0 ? other[i % one.size()] : one[i % one.size()];
    if (!room.follow(name, node)) state.SkipWithError("it has to be made anew");
    ++i;
  }
}

/// Racks are the lowest level, ten kinds of pods stand in each: a gang of four finds its rack, is charged and goes again. Racks as sums, or
/// their hosts one by one (TAS-65).
template <bool count_hosts>
void gang_on_racks(benchmark::State& state) {
  Hall hall(static_cast<std::size_t>(state.range(0)));
  hall.topologies[hall.flavor.topology] = {"block", "rack"};
  TopologyRoom room(hall.flavors, hall.topologies, hall.nodes, {.count_hosts = count_hosts});
  const auto filter = room.filter(0, {});
  const auto pod = [](Amount cores) {
    return topology::PodRequest{{Symbol("cpu"), cores * 1'000}, {Symbol("nvidia.com/gpu"), 1}, {Symbol("pods"), 1}};
  };
  topology::Holding standing;
  for (Amount kind = 0; kind < 10; ++kind) {
    standing.requests.push_back({pod(kind + 1), filter});
    for (topology::DomainIndex rack = 0; rack < room.flavor(0).tree.leaves(); ++rack)
      room.add_use(standing, {0, rack, static_cast<std::int32_t>(1 + rack % 4), static_cast<std::uint32_t>(kind)});
  }
  TopologyRoom::take(room.free(), standing);
  TopologyRequest request;
  request.required = "rack";
  const auto rules = topology::rules_for(request, room.flavor(0).tree.levels(), false, {});
  const topology::Gang gang{4, pod(4), {}};
  while (state.KeepRunning()) {
    const auto placed = room.place(room.free(), 0, *rules, gang, filter, filter, topology::Explain::no);
    if (!placed) return state.SkipWithError("no placement");
    topology::Holding holding;
    holding.requests.push_back({gang.request, filter});
    for (const auto& [rack, n] : placed->pods) room.add_use(holding, {0, rack, n, 0});
    TopologyRoom::take(room.free(), holding);
    TopologyRoom::take(room.free(), holding, -1);
  }
}

BENCHMARK(gang_on_racks<false>)->Name("gang_on_racks/as_sums")->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(gang_on_racks<true>)->Name("gang_on_racks/hosts_counted")->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(made_anew)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(node_changes<false>)->Name("usage_of_a_node_changes")->Arg(1'000)->Arg(100'000);
BENCHMARK(node_changes<true>)->Name("node_comes_and_goes")->Arg(10'000)->Arg(100'000);

}  // namespace
}  // namespace hindsight::bench
