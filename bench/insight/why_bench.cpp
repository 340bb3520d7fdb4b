// `hindsight why` on states in which many wait: the facts, and with each of them played what would let the Workload in. Arguments: how many
// wait, and in how many trees of cohorts their 100 ClusterQueues stand (100: each by itself; 1: one cohort of all). The asked one is in the
// middle of its queue.

#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "admission/domain/domain.hpp"
#include "bench/insight/waiting_state.hpp"
#include "projections/why.hpp"

namespace hindsight::bench {
namespace {

using projections::Stage;

/// Made once for each shape.
const admission::LoopDriver& state_of(const benchmark::State& run) {
  static std::map<std::pair<std::size_t, std::size_t>, std::unique_ptr<admission::LoopDriver>> known;
  const WaitingShape shape{static_cast<std::size_t>(run.range(0)), static_cast<std::size_t>(run.range(1))};
  auto& state = known[{shape.waiting, shape.trees}];
  if (!state) state = waiting_state(shape);
  return *state;
}

projections::Target asked(const benchmark::State& run) {
  return {"Workload", "default", waiting_name(static_cast<std::size_t>(run.range(0)) / 2)};
}

/// Without the records: no decision of the past is told.
void why_facts(benchmark::State& run) {
  const auto& state = state_of(run);
  const auto target = asked(run);
  const projections::Trail trail(target);
  std::size_t trials = 0;
  for (auto _ : run) trials += projections::explain_facts(state, projections::find_workload(state, target).value(), trail).trials.size();
  if (trials == 0) run.SkipWithError("nothing was told");
}

void why_with_plays(benchmark::State& run) {
  const auto& state = state_of(run);
  const auto target = asked(run);
  const projections::Trail trail(target);
  double plays = 0, remedies = 0, bytes = 0;
  for (auto _ : run) {
    const auto at = projections::find_workload(state, target);
    const Stage stage = Stage::of_tree(state, *at);
    const auto why = projections::explain(state, *at, trail, &stage);
    plays = stage.played;
    remedies = static_cast<double>(why.remedies.size());
    bytes = static_cast<double>(stage.bytes());
  }
  run.counters["plays"] = plays;
  run.counters["remedies"] = remedies;
  run.counters["bytes_of_a_copy"] = bytes;
}

/// One play of a raise: by the trees that concern it, and by the whole state as before.
template <bool whole>
void one_play(benchmark::State& run) {
  const auto& state = state_of(run);
  const auto target = asked(run);
  const auto at = projections::find_workload(state, target);
  const Stage stage = whole ? Stage::of(state) : Stage::of_tree(state, *at);
  const Symbol queue = state.domain().catalog()->local_queue(at->workload->namespace_, at->workload->queue_name)->cluster_queue;
  for (auto _ : run) {
    projections::Play play(stage);
    play.change({{queue, false, Symbol("default-flavor"), Symbol("cpu"), Amount{14'000}, {}}});
    benchmark::DoNotOptimize(play.run(at->workload->uid.text()));
  }
}

void sizes(benchmark::internal::Benchmark* b) {
  for (const int waiting : {1'000, 20'000, 100'000})
    for (const int trees : {100, 1}) b->Args({waiting, trees});
  b->ArgNames({"waiting", "trees"})->Unit(benchmark::kMillisecond)->UseRealTime();
}

BENCHMARK(why_facts)->Apply(sizes);
BENCHMARK(why_with_plays)->Apply(sizes)->Iterations(3);
BENCHMARK(one_play<false>)->Apply(sizes)->Name("one_play/by_tree")->Iterations(5);
BENCHMARK(one_play<true>)->Apply(sizes)->Name("one_play/by_whole")->Iterations(5);

}  // namespace
}  // namespace hindsight::bench
