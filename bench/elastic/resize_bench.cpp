// Resizes of elastic Jobs a second, without I/O, under the loop driver (77). Growing is a new slice that takes the place of the old one:
// six records. Shrinking is a change in place: three. Both with the echo of every write.

#include <benchmark/benchmark.h>

#include "bench/elastic/resizing_cluster.hpp"

namespace hindsight::bench {
namespace {

constexpr std::int32_t small = 3, large = 10;
constexpr Amount milli = 1'000;

/// All jobs to that size; `together` of them change between two decisions.
void resize_all(ResizingCluster& cluster, std::size_t jobs, std::int32_t size, std::size_t together) {
  for (std::size_t i = 0; i < jobs; ++i) {
    cluster.resize(i, size);
    if ((i + 1) % together == 0) cluster.settle();
  }
  cluster.settle();
}

void grow_and_shrink(benchmark::State& state) {
  ElasticShape shape;
  shape.jobs = static_cast<std::size_t>(state.range(0));
  const auto together = static_cast<std::size_t>(state.range(1));
  if (state.range(2) >= 0) shape.kept = static_cast<std::int32_t>(state.range(2));
  ResizingCluster cluster(shape);
  cluster.start(small);
  const std::uint64_t before = cluster.records();
  const auto all_hold = [&](std::int32_t size) { return cluster.used() == static_cast<Amount>(shape.jobs) * size * milli; };
  while (state.KeepRunning()) {
    resize_all(cluster, shape.jobs, large, together);
    if (!all_hold(large)) state.SkipWithError("not all Jobs have grown");
    resize_all(cluster, shape.jobs, small, together);
    if (!all_hold(small)) state.SkipWithError("not all Jobs have shrunk");
  }
  const auto rounds = static_cast<std::uint64_t>(state.iterations());
  if (cluster.replacements() != rounds * shape.jobs) state.SkipWithError("not every growth replaced a slice once");
  const auto rate = [](std::uint64_t n) { return benchmark::Counter(static_cast<double>(n), benchmark::Counter::kIsRate); };
  state.counters["resizes/s"] = rate(2 * rounds * shape.jobs);
  state.counters["records/s"] = rate(cluster.records() - before);
}

/// `kept`: replaced slices of each Job that are not deleted; −1: all. The last one ends with a Job of a thousand slices.
BENCHMARK(grow_and_shrink)
    ->ArgNames({"jobs", "together", "kept"})
    ->Args({1'000, 1, 10})
    ->Args({1'000, 100, 10})
    ->Args({20'000, 100, 10})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(10);
BENCHMARK(grow_and_shrink)->ArgNames({"jobs", "together", "kept"})->Args({1, 1, -1})->Unit(benchmark::kMillisecond)->Iterations(1'000);

}  // namespace
}  // namespace hindsight::bench

BENCHMARK_MAIN();
