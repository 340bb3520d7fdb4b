// The two inputs of Kueue's performance test in virtual time: how good the schedules are, and how long it takes to compute them.

#include <benchmark/benchmark.h>

#include "bench/generator/virtual_run.hpp"

namespace hindsight::bench {
namespace {

void in_virtual_time(benchmark::State& state, const Generator& generator) {
  const Duration batch = Duration::millis(state.range(0));
  Outcome outcome;
  while (state.KeepRunning()) {
    outcome = virtual_run(generator, batch);
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

BENCHMARK_CAPTURE(in_virtual_time, baseline, baseline())->ArgName("batch ms")->Arg(1000)->Arg(100)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(in_virtual_time, tas, topology_aware())->ArgName("batch ms")->Arg(1000)->Arg(100)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(in_virtual_time, large_scale, large_scale())->ArgName("batch ms")->Arg(1000)->Arg(100)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hindsight::bench

BENCHMARK_MAIN();
