// The two inputs of Kueue's performance test in virtual time: how good the schedules are, and how long it takes to compute them.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "bench/generator/virtual_run.hpp"

namespace hindsight::bench {
namespace {

void in_virtual_time(benchmark::State& state, const Generator& generator) {
  const Pace pace{Duration::millis(state.range(0)), Duration::millis(state.range(1)), Duration::millis(state.range(2)),
                  Duration::millis(state.range(3)), static_cast<std::int32_t>(state.range(4))};
  Outcome outcome;
  while (state.KeepRunning()) {
    outcome = virtual_run(generator, pace);
    benchmark::DoNotOptimize(outcome);
  }
  const auto seconds = [](Duration d) { return static_cast<double>(d.micros) / 1e6; };
  state.counters["makespan s"] = seconds(outcome.makespan);
  state.counters["bound s"] = seconds(generator.bound());
  state.counters["usage"] = outcome.usage;
  state.counters["evictions"] = static_cast<double>(outcome.evictions);
  for (std::size_t i = 0; i < generator.classes.size(); ++i)
    state.counters["mean wait " + std::string(generator.classes[i].name) + " s"] = outcome.waits[i].mean_seconds();
}

// How long wake-ups gather, how long a claim lasts (0: Kueue's way), what each write of the Workloads' owner and each of ours takes, and
// how many admissions may be ahead of our writes.
const std::vector<std::string> arguments{"batch ms", "claim ms", "write ms", "own ms", "ahead"};

BENCHMARK_CAPTURE(in_virtual_time, baseline, baseline())
    ->ArgNames(arguments)
    ->ArgsProduct({{1000, 100, 0}, {1000}, {0}, {0}, {0}})
    ->ArgsProduct({{100}, {0}, {0, 20}, {0}, {0}})
    ->Args({100, 1000, 20, 0, 0})
    ->ArgsProduct({{100}, {1000}, {20}, {8, 20, 40}, {0, 1, 2, 4, 8}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(in_virtual_time, tas, topology_aware())
    ->ArgNames(arguments)
    ->ArgsProduct({{1000, 100}, {1000}, {0}, {0}, {0}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(in_virtual_time, large_scale, large_scale())
    ->ArgNames(arguments)
    ->ArgsProduct({{1000, 100}, {1000}, {0}, {0}, {0}})
    ->Args({100, 0, 0, 0, 0})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hindsight::bench

BENCHMARK_MAIN();
