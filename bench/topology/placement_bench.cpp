// Placements a second, without I/O: a tree of zones, blocks, racks and hosts with 8 GPUs each, where others use some.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "admission/topology/free_leaves.hpp"
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

enum class Where : std::uint8_t { preferred_rack, anywhere };

/// Places one gang after another in a fleet of which others use some.
class Placer {
 public:
  Placer(std::size_t hosts, Where where, bool compact = false) : tree_(fleet(hosts)), free_(some_used(tree_)) {
    TopologyRequest request;
    if (where == Where::preferred_rack) request.preferred = "rack";
    request.unconstrained = where == Where::anywhere;
    rules_ = *rules_for(request, tree_.levels(), false, {.compact = compact});
  }

  static Gang gang(std::int32_t count, Amount milli = 4'000) { return {count, {{cpu, milli}, {gpu, 1}, {pods, 1}}, {}}; }
  tl::expected<Placement, Misfit> place(const Gang& gang) {
    const Offers& offers = free_.offers(tree_, question_of(tree_, rules_, gang), nobody_, nobody_, {});
    return admission::topology::place(tree_, offers, rules_, gang);
  }
  void charge(const Gang& gang, const Placement& placed, int sign = 1) {
    for (const auto& [leaf, n] : placed.pods)
      for (const auto& [resource, amount] : gang.request) free_.change(resource, leaf, -sign * n * amount);
  }

 private:
  TopologyTree tree_;
  FreeLeaves free_;
  PlacementRules rules_;
  std::shared_ptr<const LeafFilter> nobody_ = std::make_shared<LeafFilter>();
};

/// A gang that no rack and no block holds: every domain is looked at. Of a shape that was not seen before, or that was. `p99_us`: of single
/// placements.
void gang_of_1024(benchmark::State& state, Where where, bool known) {
  Placer placer(static_cast<std::size_t>(state.range(0)), where);
  std::vector<double> took;
  Amount milli = 4'000;
  while (state.KeepRunning()) {
    const Gang gang = Placer::gang(1'024, known ? milli : milli = 4'000 + (milli + 1) % 1'000);
    const auto start = std::chrono::steady_clock::now();
    if (const auto placed = placer.place(gang); !placed) state.SkipWithError("no placement");
    took.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  if (took.empty()) return;
  const auto at = took.begin() + static_cast<std::ptrdiff_t>(took.size() * 99 / 100);
  std::nth_element(took.begin(), at, took.end());
  state.counters["p99_us"] = *at;
}

/// Gangs of 4 pods, each charged; the last 100 stay.
void gangs_of_4(benchmark::State& state, Where where, bool known) {
  Placer placer(static_cast<std::size_t>(state.range(0)), where);
  std::deque<std::pair<Gang, Placement>> standing;
  std::int64_t placed_pods = 0;
  Amount milli = 4'000;
  while (state.KeepRunning()) {
    const Gang gang = Placer::gang(4, known ? milli : milli = 4'000 + (milli + 1) % 1'000);
    auto placed = placer.place(gang);
    if (!placed) {
      state.SkipWithError("no placement");
      break;
    }
    placer.charge(gang, *placed);
    standing.emplace_back(gang, std::move(*placed));
    placed_pods += 4;
    if (standing.size() <= 100) continue;
    placer.charge(standing.front().first, standing.front().second, -1);
    standing.pop_front();
  }
  state.counters["pods/s"] = benchmark::Counter(static_cast<double>(placed_pods), benchmark::Counter::kIsRate);
}

/// The profile Compact, of a shape that was seen before, for gangs that one host holds, one rack, one block, one zone, and none.
void compact_gang(benchmark::State& state) {
  Placer placer(static_cast<std::size_t>(state.range(0)), Where::preferred_rack, true);
  const Gang gang = Placer::gang(static_cast<std::int32_t>(state.range(1)));
  while (state.KeepRunning())
    if (const auto placed = placer.place(gang); !placed) state.SkipWithError("no placement");
}

void sizes(benchmark::internal::Benchmark* b) { b->ArgName("hosts")->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMicrosecond); }
BENCHMARK_CAPTURE(gang_of_1024, preferred_rack / shape_seen_first, Where::preferred_rack, false)->Apply(sizes);
BENCHMARK_CAPTURE(gang_of_1024, preferred_rack / shape_seen_before, Where::preferred_rack, true)->Apply(sizes);
BENCHMARK_CAPTURE(gang_of_1024, anywhere / shape_seen_first, Where::anywhere, false)
    ->ArgName("hosts")
    ->Arg(10'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(gangs_of_4, preferred_rack / shape_seen_first, Where::preferred_rack, false)->Apply(sizes);
BENCHMARK_CAPTURE(gangs_of_4, preferred_rack / shape_seen_before, Where::preferred_rack, true)->Apply(sizes);
BENCHMARK_CAPTURE(gangs_of_4, anywhere / shape_seen_before, Where::anywhere, true)->Apply(sizes);
BENCHMARK(compact_gang)
    ->ArgNames({"hosts", "pods"})
    ->ArgsProduct({{10'000, 100'000}, {4, 64, 256, 1'024, 16'384}})
    ->Args({100'000, 65'536})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace hindsight::bench

BENCHMARK_MAIN();
