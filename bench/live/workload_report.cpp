#include <cstdio>
#include <string>

#include "bench/live/workload_run.hpp"

namespace hindsight::bench {
namespace {

double seconds(Duration d) { return static_cast<double>(d.micros) / 1e6; }

}  // namespace

void report_workloads(const Generator& generator, const WorkloadLive& live, double bare_before, double bare_after) {
  const LiveOutcome& load = live.load;
  const WriteTally& writes = load.writes;
  const LiveFigures& figures = live.figures;
  std::printf("%s: %zu Workloads in %zu ClusterQueues; no schedule ends before %.0f s\n", std::string(generator.name).c_str(),
              generator.workload_count(), generator.queue_count(), seconds(generator.bound()));
  std::printf("makespan               %8.1f s\n", seconds(load.makespan));
  if (bare_before > 0) {
    const double bare = (bare_before + bare_after) / 2;
    std::printf("bare loop              %8.1f s before, %.1f s after\n", bare_before, bare_after);
    std::printf("ratio to the bare loop %8.2f\n", seconds(load.makespan) / bare);
  }
  for (std::size_t i = 0; i < load.waits.size(); ++i)
    std::printf("time to admission      %8.1f s mean, %.1f s at most: %s\n", load.waits[i].mean_seconds(), load.waits[i].max_seconds,
                std::string(generator.classes[i].name).c_str());
  std::printf(
      "writes of Hindsight    %8llu: %zu admissions, %zu evictions, %zu reasons of waiting, %zu that said nothing new, %lld others\n",
      static_cast<unsigned long long>(figures.writes), writes.admissions, writes.evictions, writes.reasons, writes.repeated,
      static_cast<long long>(figures.writes) - static_cast<long long>(writes.by_controller()));
  std::printf("  for each admission   %8.2f; %llu conflicts; %llu requests with Kubernetes events and lists\n",
              static_cast<double>(figures.writes) / static_cast<double>(writes.admissions),
              static_cast<unsigned long long>(figures.conflicts), static_cast<unsigned long long>(figures.answers));
  std::printf("writes of owners       %8zu: %zu created, %zu finished, %zu cleared; %zu conflicts\n",
              writes.created + writes.finished + writes.cleared, writes.created, writes.finished, writes.cleared, load.conflicts);
  std::printf("Hindsight              %8.0f MB at most, %.1f s of processor time; API server %.1f s\n", figures.megabytes,
              figures.cpu_seconds, figures.server.cpu_seconds);
  std::printf("a third client's write %8.1f ms p50, %.1f p99 of %zu; before the load %.1f p50, %.1f p99\n", figures.busy.p50_ms,
              figures.busy.p99_ms, figures.busy.writes, figures.idle.p50_ms, figures.idle.p99_ms);
}

bool workloads_are_sound(const Generator& generator, const WorkloadLive& live) {
  const WriteTally& writes = live.load.writes;
  bool sound = true;
  const auto expect = [&](const char* what, std::size_t found, std::size_t wanted) {
    if (found == wanted) return;
    std::fprintf(stderr, "error: %s: found %zu, allowed: %zu\n", what, found, wanted);
    sound = false;
  };
  expect("Workloads that finished", writes.finished, generator.workload_count());
  expect("admissions, one for each Workload and each eviction", writes.admissions, generator.workload_count() + writes.cleared);
  expect("writes to Workloads that say nothing new", writes.repeated, 0);
  return sound;
}

}  // namespace hindsight::bench
