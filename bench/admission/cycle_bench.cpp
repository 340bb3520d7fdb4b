// What one scheduling cycle costs. Every benchmark counts heads: items_per_second is entries decided a second on one core.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "admission/quota/quota_tree.hpp"
#include "admission/scheduling/cycle.hpp"
#include "admission/scheduling/next_cycle.hpp"

namespace hindsight::admission {
namespace {

const Symbol cpu("cpu"), memory("memory"), default_namespace("default"), main_set("main");

enum class Shape { flat, hierarchical };

/// One tree of `queues` ClusterQueues and what a cycle reads beside it.
struct Bench {
  Settings settings;
  FlavorConfig flavor;
  NamespaceLabels labels;
  QuotaTree tree;
  std::vector<Symbol> names;
  CycleContext context;
  WorkloadId next_id = 1;

  Bench(int queues, Amount nominal, Shape shape) {
    std::vector<QuotaTree::Member> members;
    std::vector<std::shared_ptr<const CohortConfig>> cohorts;
    for (int i = 0; i < queues; ++i) {
      auto q = std::make_shared<QueueConfig>();
      q->name = Symbol("queue-" + std::to_string(i));
      q->cohort = Symbol(shape == Shape::flat ? "root" : "team-" + std::to_string(i / 10));
      q->has_namespace_selector = true;
      q->within_cluster_queue = PreemptionPolicy::lower_priority;
      q->reclaim_within_cohort = PreemptionPolicy::any;
      ResourceGroup g;
      g.resources = {cpu, memory};
      for (const auto* f : {"on-demand", "spot"}) g.flavors.push_back({Symbol(f), {{nominal, {}, {}}, {nominal, {}, {}}}});
      q->groups.push_back(std::move(g));
      names.push_back(q->name);
      members.push_back({std::move(q), true});
    }
    if (shape == Shape::hierarchical) {
      for (int i = 0; i < (queues + 9) / 10; ++i) {
        auto c = std::make_shared<CohortConfig>();
        c->name = Symbol("team-" + std::to_string(i));
        c->parent = Symbol("root");
        cohorts.push_back(std::move(c));
      }
    }
    tree = QuotaTree::build(members, cohorts);
    context.now = Time::from_seconds(1000);
    context.cycle = 1;
    context.settings = &settings;
    context.flavor = [this](Symbol) { return &flavor; };
    context.namespace_labels = [this](Symbol) { return &labels; };
  }
  Bench(const Bench&) = delete;

  std::shared_ptr<WorkloadInfo> workload(Amount amount, std::int64_t priority) {
    auto w = std::make_shared<WorkloadInfo>();
    w->id = next_id++;
    w->uid = "00000000-0000-0000-0000-" + std::to_string(100'000'000'000 + w->id);
    w->namespace_ = default_namespace;
    w->priority = priority;
    w->queue_time = Time::from_seconds(w->id % 97);
    w->reserved_at = Time::from_seconds(w->id % 89);
    PodSetInfo p;
    p.name = main_set;
    p.count = 1;
    p.requests = {{cpu, amount}, {memory, amount}};
    w->pod_sets = std::vector{std::move(p)};
    return w;
  }
  std::vector<Head> heads(Amount amount, std::int64_t priority) {
    std::vector<Head> out;
    for (const Symbol& q : names) out.push_back({workload(amount, priority), q, {}});
    return out;
  }
  void run(Symbol queue, const char* flavor_name, Amount amount, std::int64_t priority) {
    Reservation r;
    r.workload = workload(amount, priority);
    r.charges = {{Symbol(flavor_name), cpu, amount}, {Symbol(flavor_name), memory, amount}};
    tree.reserve(queue, std::move(r));
  }

  /// Cycles over the same heads again and again; nothing is applied.
  void cycles(benchmark::State& state, const std::vector<Head>& heads, Outcome::Kind expected) {
    std::int64_t done = 0;
    while (state.KeepRunning()) {
      const auto outcomes = run_cycle(tree, heads, context);
      if (outcomes.back().kind != expected) state.SkipWithError("another outcome than the benchmark is about");
      done += static_cast<std::int64_t>(outcomes.size());
    }
    state.SetItemsProcessed(done);
  }
};

Reservation reservation_of(const Outcome& o) {
  Reservation r;
  r.workload = o.workload;
  r.pod_sets = o.assignment;
  for (std::size_t i = 0; i < o.assignment[0].flavors.size(); ++i) {
    r.charges.push_back({o.assignment[0].flavors[i].second, o.assignment[0].usage[i].first, o.assignment[0].usage[i].second});
  }
  return r;
}

/// Heads that fit at once.
void fit(benchmark::State& state) {
  Bench b(static_cast<int>(state.range(0)), 1000, Shape::flat);
  b.cycles(state, b.heads(5, 0), Outcome::Kind::admit);
}
BENCHMARK(fit)->Arg(1)->Arg(100)->Arg(1000);

/// The same, and every admission is applied to the tree and ends again.
void fit_and_apply(benchmark::State& state) {
  Bench b(static_cast<int>(state.range(0)), 1000, Shape::flat);
  const auto heads = b.heads(5, 0);
  std::int64_t done = 0;
  while (state.KeepRunning()) {
    const auto outcomes = run_cycle(b.tree, heads, b.context);
    for (const Outcome& o : outcomes) b.tree.reserve(o.cluster_queue, reservation_of(o));
    for (const Outcome& o : outcomes) b.tree.release(o.workload->id);
    done += static_cast<std::int64_t>(outcomes.size());
  }
  state.SetItemsProcessed(done);
}
BENCHMARK(fit_and_apply)->Arg(100);

/// Heads that borrow, ordered by shares.
void fair_fit(benchmark::State& state) {
  Bench b(static_cast<int>(state.range(0)), 1000, static_cast<Shape>(state.range(1)));
  b.settings.fair_sharing = true;
  for (std::size_t i = 0; i < b.names.size(); i += 2) b.run(b.names[i], "on-demand", 1000 + static_cast<Amount>(i), 0);
  b.cycles(state, b.heads(5, 0), Outcome::Kind::admit);
}
BENCHMARK(fair_fit)->ArgsProduct({{100, 1000}, {0, 1}});

/// Heads that have to wait and may preempt nobody.
void wait_without_candidates(benchmark::State& state) {
  Bench b(100, 1000, Shape::flat);
  for (const Symbol& q : b.names)
    for (const auto* f : {"on-demand", "spot"}) b.run(q, f, 1000, 9);
  b.cycles(state, b.heads(5, 0), Outcome::Kind::requeue);
}
BENCHMARK(wait_without_candidates);

/// Every head preempts three of twenty workloads of its own queue in each flavor.
void preempt_own(benchmark::State& state) {
  Bench b(100, 1000, static_cast<Shape>(state.range(0)));
  for (const Symbol& q : b.names)
    for (int i = 0; i < 20; ++i)
      for (const auto* f : {"on-demand", "spot"}) b.run(q, f, 50, i % 5);
  b.settings.fair_sharing = state.range(1) != 0;
  b.cycles(state, b.heads(150, 9), Outcome::Kind::requeue);
}
BENCHMARK(preempt_own)->ArgsProduct({{0, 1}, {0, 1}});

/// Half of the queues borrow all that the others have; the others want it back.
void reclaim(benchmark::State& state) {
  Bench b(100, 1000, static_cast<Shape>(state.range(0)));
  for (std::size_t i = 0; i < b.names.size(); i += 2)
    for (int n = 0; n < 40; ++n)
      for (const auto* f : {"on-demand", "spot"}) b.run(b.names[i], f, 50, n % 5);
  b.settings.fair_sharing = state.range(1) != 0;
  std::vector<Head> heads = b.heads(100, 9);
  std::vector<Head> owners;
  for (std::size_t i = 1; i < heads.size(); i += 2) owners.push_back(heads[i]);
  b.cycles(state, owners, Outcome::Kind::requeue);
}
BENCHMARK(reclaim)->ArgsProduct({{0, 1}, {0, 1}});

/// One head, and so many small workloads of queues that borrow among which it looks for its victims: it needs a fifth of what they hold.
/// Time is that of one whole cycle.
void search_for_victims(benchmark::State& state) {
  const auto candidates = static_cast<int>(state.range(0));
  constexpr int queues = 10;
  const Amount each = 10;
  Bench b(queues, candidates * each / (queues - 1) / 2, static_cast<Shape>(state.range(1)));  // the others borrow half of what they hold
  b.settings.fair_sharing = state.range(2) != 0;
  for (int n = 0; n < candidates; ++n)
    for (const auto* f : {"on-demand", "spot"}) b.run(b.names[static_cast<std::size_t>(1 + n % (queues - 1))], f, each, n % 5);
  for (const auto* f : {"on-demand", "spot"})  // what is left, so that nothing fits
    if (const Amount rest = queues * (candidates * each / (queues - 1) / 2) - candidates * each; rest > 0) b.run(b.names[1], f, rest, 9);
  b.cycles(state, {{b.workload(candidates * each / (queues - 1) / 2, 9), b.names[0], {}}}, Outcome::Kind::requeue);
  state.counters["candidates"] = 2 * candidates;
}
BENCHMARK(search_for_victims)
    ->ArgNames({"of a flavor", "hierarchical", "fair"})
    ->ArgsProduct({{70, 700, 7000}, {0, 1}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

/// As many heads as one step tries in its rounds (CohortTree), each of which looks through all candidates of its queue and finds too few:
/// the longest that one step can keep others waiting. Time is that of the step.
void step_of_searches_in_vain(benchmark::State& state) {
  constexpr int heads_of_a_step = 256;
  const auto candidates = static_cast<int>(state.range(0));
  const Amount each = 10, nominal = candidates * each;
  Bench b(10, nominal, Shape::flat);
  b.settings.fair_sharing = state.range(1) != 0;
  for (std::size_t q = 0; q < b.names.size(); ++q)
    for (int n = 0; n < candidates; ++n)
      for (const auto* f : {"on-demand", "spot"}) b.run(b.names[q], f, each, n % 10 == 0 ? 99 : n % 5);
  std::vector<std::vector<Head>> heads;
  for (int i = 0; i < heads_of_a_step; ++i) heads.push_back({{b.workload(nominal - i % 7, 9), b.names[0], {}}});
  while (state.KeepRunning())
    for (const auto& head : heads)
      if (const auto outcomes = run_cycle(b.tree, head, b.context);
          !outcomes.front().victims.empty() || outcomes.front().requeue_reason != RequeueReason::preemption_no_candidates)
        state.SkipWithError("it finds victims, or looks for none");
  state.counters["candidates"] = 2 * candidates;
}
BENCHMARK(step_of_searches_in_vain)
    ->ArgNames({"of a flavor", "fair"})
    ->ArgsProduct({{70, 700, 7000}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

/// The longest look ahead: half of the queues borrow one core each for their heads, and the other half have three more heads that reclaim
/// it, so that one after the other is withheld; 20,000 workloads run. Time is that of one cycle, without the look and with it.
void look_ahead_and_withhold_all(benchmark::State& state) {
  const auto queues = static_cast<std::size_t>(state.range(0));
  const auto each = static_cast<int>(20'000 / queues);
  Bench b(static_cast<int>(queues), each, Shape::flat);
  Claims claims;
  b.context.claims = state.range(1) != 0 ? &claims : nullptr;
  std::vector<Head> heads;
  for (std::size_t q = 0; q < queues; ++q) {
    const bool lends = q % 2 == 0;
    b.run(b.names[q], "spot", each, 99);
    for (int n = 0; n < (lends ? each - 4 : each + 2); ++n) b.run(b.names[q], "on-demand", 1, n % 5);
    std::shared_ptr<const Head> next;
    for (int n = 0; lends && n < 3; ++n)
      next = std::make_shared<Head>(Head{.workload = b.workload(1, 9), .cluster_queue = b.names[q], .scan = {}, .next = next});
    heads.push_back({.workload = b.workload(1, 9), .cluster_queue = b.names[q], .scan = {}, .next = next});
  }
  std::size_t withheld = 0;
  while (state.KeepRunning()) {
    const auto outcomes = look_ahead(b.tree, heads, run_cycle(b.tree, heads, b.context), b.context);
    withheld = 0;
    for (const Outcome& o : outcomes) withheld += o.claimant != nullptr ? 1 : 0;
  }
  state.counters["withheld"] = static_cast<double>(withheld);
}
BENCHMARK(look_ahead_and_withhold_all)
    ->ArgNames({"queues", "ahead"})
    ->ArgsProduct({{4, 16, 100, 1000}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

void reserve_and_release(benchmark::State& state) {
  Bench b(100, 1000, Shape::flat);
  std::vector<std::pair<Symbol, std::shared_ptr<const Reservation>>> all;
  for (int i = 0; i < 1000; ++i) {
    Reservation r;
    r.workload = b.workload(5, 0);
    r.charges = {{Symbol("spot"), cpu, 5}, {Symbol("spot"), memory, 5}};
    all.emplace_back(b.names[static_cast<std::size_t>(i % 100)], std::make_shared<const Reservation>(std::move(r)));
  }
  while (state.KeepRunning()) {
    for (const auto& [queue, r] : all) b.tree.reserve(queue, r);
    for (const auto& [queue, r] : all) b.tree.release(r->workload->id);
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(reserve_and_release);

}  // namespace
}  // namespace hindsight::admission

BENCHMARK_MAIN();
