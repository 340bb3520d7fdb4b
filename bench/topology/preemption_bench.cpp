// A search for victims that tries placements: 2,000 hosts, all of them in use, 700 Workloads that may have to go.

#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "admission/quota/quota_tree.hpp"
#include "admission/scheduling/cycle.hpp"
#include "admission/topology/topology_room.hpp"

namespace hindsight::bench {
namespace {

using namespace admission;

const Symbol gpu("nvidia.com/gpu"), main_set("main"), hall("hall"), host("kubernetes.io/hostname");

/// Blocks of 16 racks of 16 hosts with 8 GPUs. 700 Workloads of 2 pods with 8 GPUs each have 1,400 of the hosts; others use the rest.
struct Full {
  Settings settings;
  FlavorConfig flavor;
  NamespaceLabels labels;
  QuotaTree tree;
  std::unique_ptr<topology::TopologyRoom> room;
  CycleContext context;
  WorkloadId next_id = 1;

  explicit Full(bool fair) {
    settings.fair_sharing = fair;
    flavor.name = Symbol("gpu");
    flavor.topology = hall;
    flavor.node_labels = {{Symbol("pool"), "gpu"}};
    std::vector<QuotaTree::Member> members;
    for (const auto& [name, nominal] : {std::pair("has", Amount{16'000}), std::pair("borrows", Amount{0})}) {
      auto q = std::make_shared<QueueConfig>();
      q->name = Symbol(name);
      q->cohort = Symbol("root");
      q->has_namespace_selector = true;
      q->within_cluster_queue = PreemptionPolicy::lower_priority;
      q->reclaim_within_cohort = PreemptionPolicy::any;
      ResourceGroup g;
      g.resources = {gpu};
      g.flavors.push_back({flavor.name, {{nominal, {}, {}}}});
      q->groups.push_back(std::move(g));
      members.push_back({std::move(q), true});
    }
    tree = QuotaTree::build(members, {});
    Nodes nodes;
    const auto number = [](std::size_t n) { return std::to_string(10'000 + n); };
    for (std::size_t i = 0; i < 2'000; ++i) {
      auto node = std::make_shared<NodeConfig>();
      node->name = Symbol("host-" + number(i));
      node->labels = {{Symbol("block"), CompactText("block-" + number(i / 256))},
                      {host, CompactText(node->name.text())},
                      {Symbol("pool"), CompactText("gpu")},
                      {Symbol("rack"), CompactText("rack-" + number(i / 16))}};
      node->allocatable = AmountList{{gpu, 8}, {Symbol("pods"), 110}};
      node->ready = true;
      if (i >= 1'400) node->used = AmountList{{gpu, 8}, {Symbol("pods"), 8}};
      nodes[node->name] = std::move(node);
    }
    const FlavorConfig* flavors[] = {&flavor};
    room = std::make_unique<topology::TopologyRoom>(
        flavors, std::map<Symbol, std::vector<std::string>, ByText>{{hall, {"block", "rack", "kubernetes.io/hostname"}}}, nodes,
        topology::TopologyRoom::Rules{});
    for (std::size_t i = 0; i < 700; ++i) {
      Reservation r;
      r.workload = gang(2, 0, {});
      r.charges = {{flavor.name, gpu, 16}};
      PodSetReservation p{main_set, 2, {{gpu, flavor.name}}, {{gpu, 16}}};
      TopologyAssignment where;
      where.levels = {host};
      where.values = {Symbol("host-" + number(2 * i)), Symbol("host-" + number(2 * i + 1))};
      where.counts = {1, 1};
      p.topology = std::move(where);
      r.pod_sets.push_back(std::move(p));
      room->reserve(r);
      tree.reserve(Symbol("borrows"), std::move(r));
    }
    context.now = Time::from_seconds(1'000);
    context.cycle = 1;
    context.settings = &settings;
    context.room = room.get();
    context.flavor = [this](Symbol) { return &flavor; };
    context.namespace_labels = [this](Symbol) { return &labels; };
  }
  Full(const Full&) = delete;

  std::shared_ptr<WorkloadInfo> gang(std::int32_t pods, std::int64_t priority, const std::string& required) {
    auto w = std::make_shared<WorkloadInfo>();
    w->id = next_id++;
    w->uid = "00000000-0000-0000-0000-" + std::to_string(100'000'000'000 + w->id);
    w->namespace_ = Symbol("default");
    w->priority = priority;
    w->queue_time = Time::from_seconds(w->id % 97);
    w->reserved_at = Time::from_seconds(w->id % 89);
    PodSetInfo p;
    p.name = main_set;
    p.count = pods;
    p.requests = {{gpu, 8}};
    if (!required.empty()) {
      p.topology.emplace();
      p.topology->required = required;
    }
    w->pod_sets = std::vector{std::move(p)};
    return w;
  }
};

void preempt(benchmark::State& state, bool fair, std::int32_t pods, const char* level) {
  Full full(fair);
  const std::vector<Head> heads{{full.gang(pods, 10, level), Symbol("has"), {}}};
  std::size_t victims = 0;
  while (state.KeepRunning()) {
    const auto outcomes = run_cycle(full.tree, heads, full.context);
    victims = outcomes.back().victims.size();
    if (victims == 0) state.SkipWithError("nobody has to go");
  }
  state.counters["victims"] = static_cast<double>(victims);
}

BENCHMARK_CAPTURE(preempt, classical_16_pods_in_a_rack, false, 16, "rack")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(preempt, fair_16_pods_in_a_rack, true, 16, "rack")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(preempt, fair_128_pods_in_a_block, true, 128, "block")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hindsight::bench
