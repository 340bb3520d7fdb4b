#include "bench/live/workload_run.hpp"

#include <chrono>
#include <string>

#include "bench/live/bare_writes.hpp"
#include "bench/live/objects.hpp"

namespace hindsight::bench {

namespace kubernetes = connectors::kubernetes;

namespace {

/// Seconds for all writes of the input.
Result<double> run_bare_loop(const Generator& generator, const Settings& settings) {
  return on_a_cluster<double>(settings, [&](hindsight::testing::LocalCluster& cluster) -> Result<double> {
    const auto connection = kubernetes::find_connection({cluster.kubeconfig(), ""});
    if (!connection) return tl::unexpected(connection.error());
    const auto lists = bare_writes(generator);
    kubernetes::bench::BareLoop loop(*connection, settings.in_flight);
    const auto begin = std::chrono::steady_clock::now();
    for (const auto& writes : lists)
      if (const auto good = loop.send(writes); good != writes.size())
        return tl::unexpected(failure("the bare loop: found " + std::to_string(good) + " writes that succeeded; wanted " +
                                      std::to_string(writes.size()) + ", as " + writes.front().path));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    say("a bare loop of " + std::to_string(3 * lists.front().size()) + " writes took " + std::to_string(took.count()) + " s");
    return took.count();
  });
}

/// Everybody in one process but Hindsight and the API server.
Result<WorkloadLive> run_live(const Generator& generator, const Settings& settings, const std::string& folder) {
  return on_a_cluster<WorkloadLive>(settings, [&](hindsight::testing::LocalCluster& cluster) -> Result<WorkloadLive> {
    auto live = LiveCluster::start(cluster, settings, queue_objects(generator), folder);
    if (!live) return tl::unexpected(live.error());
    LoadDriver driver(
        (*live)->client(), generator,
        {.creations_in_flight = settings.in_flight, .stall_time = std::chrono::seconds(120), .serial_owner = settings.serial_owner});
    const auto load = driver.run();
    auto figures = (*live)->end();
    if (!load) return tl::unexpected(load.error());
    if (!figures) return tl::unexpected(figures.error());
    return WorkloadLive{*load, *std::move(figures)};
  });
}

}  // namespace

Result<bool> run_workloads(const Settings& settings, const std::string& folder) {
  const Generator generator = scaled(settings.input == "baseline" ? baseline() : large_scale(), settings.scale);
  double bare[2] = {0, 0};
  const auto measure_bare = [&](double& into) -> Result<void> {
    if (!settings.with_bare) return {};
    const auto took = run_bare_loop(generator, settings);
    if (!took) return tl::unexpected(took.error());
    into = *took;
    return {};
  };
  if (auto done = measure_bare(bare[0]); !done) return tl::unexpected(done.error());
  if (!settings.with_load) return true;
  const auto live = run_live(generator, settings, folder);
  if (!live) return tl::unexpected(live.error());
  if (auto done = measure_bare(bare[1]); !done) return tl::unexpected(done.error());
  report_workloads(generator, *live, bare[0], bare[1]);
  return !settings.check || workloads_are_sound(generator, *live);
}

}  // namespace hindsight::bench
