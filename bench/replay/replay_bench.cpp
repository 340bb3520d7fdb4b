// Rebuilding state from a SQLite log: folding whole lives of Jobs, and a restart with 100,000 pending Workloads from snapshot and tail.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "bench/actors/big_domain.hpp"
#include "connectors/manifests/manifest_reader.hpp"
#include "events/record.hpp"
#include "events/sqlite_log.hpp"
#include "replay/past.hpp"
#include "replay/snapshots.hpp"
#include "simulation/run_scenario.hpp"

namespace hindsight::bench {
namespace {

template <class T>
T must(Result<T> r) {
  if (!r) {
    std::fprintf(stderr, "error: %s\n", r.error().message.c_str());
    std::abort();
  }
  if constexpr (!std::is_void_v<T>) return std::move(*r);
}

/// A log file that goes with its owner.
class LogFile {
 public:
  LogFile() : path_((std::filesystem::temp_directory_path() / ("hindsight-bench-" + std::to_string(::getpid()) + ".db")).string()) {
    remove();
  }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  ~LogFile() { remove(); }
  [[nodiscard]] std::unique_ptr<events::SqliteLog> write() const {
    return must(events::SqliteLog::open(path_, {.durability = events::Durability::off}));
  }
  [[nodiscard]] std::unique_ptr<events::SqliteLog> read() const { return must(events::SqliteLog::open(path_, {.read_only = true})); }

 private:
  void remove() const {
    for (const char* suffix : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(path_ + suffix);
  }
  std::string path_;
};

// ---- fold -----------------------------------------------------------------------------------------------------------------------

std::string queue_manifests(int queues) {
  std::string text = R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"f"}})";
  for (int i = 0; i < queues; ++i) {
    const std::string n = std::to_string(i);
    text +=
        "\n---\n"
        R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"cq)" +
        n + R"("},"spec":{"cohortName":"c)" + std::to_string(i % 5) +
        R"(","namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"200"}]}]}]}})"
        "\n---\n"
        R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq)" +
        n + R"(","namespace":"default"},"spec":{"clusterQueue":"cq)" + n + R"("}})";
  }
  return text;
}

std::string job_manifest(int i, int queues) {
  return "\n---\n"
         R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j)" +
         std::to_string(i) + R"(","namespace":"default","labels":{"kueue.x-k8s.io/queue-name":"lq)" + std::to_string(i % queues) +
         R"("}},"spec":{"suspend":true,"parallelism":1,"completions":1,"template":{"metadata":{"annotations":{"hindsight.dev/run-seconds":")" +
         std::to_string(1 + i % 10) +
         R"("}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}})";
}

/// 5,000 Jobs in 30 ClusterQueues from creation to end: observations of Jobs, Workloads and queues, decisions, timers.
void fold_lives_of_jobs(benchmark::State& state) {
  constexpr int jobs = 5'000, queues = 30;
  std::string text = queue_manifests(queues);
  for (int i = 0; i < jobs; ++i) text += job_manifest(i, queues);
  connectors::manifests::Scenario scenario;
  scenario.steps.emplace_back();
  for (auto& m : must(connectors::manifests::read_text(text, "bench.yaml")).manifests)
    scenario.steps[0].apply.push_back(std::move(m.object));
  const LogFile file;
  {
    const auto log = file.write();
    simulation::ScenarioOptions options;
    options.to_the_end = true;
    options.log = log.get();
    (void)must(simulation::run_scenario(std::move(scenario), options));
  }
  const auto log = file.read();
  const auto last = must(log->last());
  while (state.KeepRunning()) {
    replay::Past past(*log, "default", {.use_snapshots = false});
    must(past.go_to(last));
    benchmark::DoNotOptimize(past.position());
    state.SetItemsProcessed(state.items_processed() + static_cast<std::int64_t>(past.folded()));
  }
}

// ---- restart --------------------------------------------------------------------------------------------------------------------

/// 100,000 pending Workloads in 1,000 ClusterQueues: from the open of the log to the state after the last of the 1,000 records behind the
/// snapshot.
void restart_with_100000_workloads(benchmark::State& state) {
  const Shape shape;
  BigDomain facts(shape);
  const LogFile file;
  std::uint64_t wanted = 0;
  {
    const auto log = file.write();
    const auto driver = replay::new_driver();
    events::Encoder encoder;
    events::RecordBatch batch;
    std::uint64_t sequence = 0;
    events::Position position = 0;
    const Time now = Time::from_seconds(1'700'001'000);
    const auto flush = [&] {
      position = must(log->append(batch.views(), position));
      batch = {};
    };
    const auto tell = [&](Body body) {
      const RecordView r = record_after(sequence++, now, std::move(body));
      must(driver->apply(r));
      const auto bytes = encoder.encode(r);
      batch.add({r.envelope.domain, r.envelope.sequence, r.envelope.epoch, r.envelope.time, bytes});
      if (batch.size() == 1'000) flush();
    };
    for (const auto& o : facts.configuration())
      if (!std::holds_alternative<ConfigurationObserved>(o)) tell(o);
    for (std::size_t i = 0; i < shape.workloads; ++i) tell(facts.workload(i));
    flush();
    const auto snapshot = replay::encode_state(driver->entities(), "default", position, "bench");
    must(log->put_snapshot(snapshot.meta, snapshot.bytes));
    for (std::size_t i = 0; i < 1'000; ++i) {
      auto again = facts.workload(i * 97 % shape.workloads);
      std::get<WorkloadObserved>(again).meta.resource_version += 1'000'000;
      tell(std::move(again));
    }
    if (!batch.empty()) flush();
    wanted = driver->entities().state_hash();
    state.counters["snapshot MB"] = static_cast<double>(snapshot.bytes.size()) / 1e6;
  }
  while (state.KeepRunning()) {
    const auto log = file.read();
    replay::Past past(*log, "default");
    must(past.go_to(must(log->last())));
    state.PauseTiming();
    if (past.started_from() == 0 || past.driver().entities().state_hash() != wanted) state.SkipWithError("another state came back");
    state.ResumeTiming();
  }
}

BENCHMARK(fold_lives_of_jobs)->Unit(benchmark::kMillisecond);
BENCHMARK(restart_with_100000_workloads)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hindsight::bench

BENCHMARK_MAIN();
