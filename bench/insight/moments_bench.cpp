// How long it takes to stand at a moment of a log of 10,000,000 records with 100,000 Workloads at a time: a first one anywhere, and one
// near one that was looked at. HINDSIGHT_INSIGHT_RECORDS: another length.

#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <thread>

#include "bench/insight/long_log.hpp"
#include "events/sqlite_log.hpp"
#include "replay/past.hpp"
#include "replay/snapshots.hpp"
#include "replay/state_behind.hpp"

namespace hindsight::bench {
namespace {

template <class T>
T must_have(Result<T> r) {
  if (!r) {
    std::fprintf(stderr, "error: %s\n", r.error().message.c_str());
    std::abort();
  }
  if constexpr (!std::is_void_v<T>) return std::move(*r);
}

/// Written once for all benchmarks of the process; gone at its end. HINDSIGHT_INSIGHT_LOG: a file that is kept, and used if it is there.
class LongLogFile {
 public:
  static const LongLogFile& get() {
    static const LongLogFile file;
    return file;
  }
  ~LongLogFile() {
    if (!kept_)
      for (const char* suffix : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(path_ + suffix);
  }
  LongLogFile(const LongLogFile&) = delete;
  LongLogFile& operator=(const LongLogFile&) = delete;

  [[nodiscard]] std::unique_ptr<events::SqliteLog> read() const { return must_have(events::SqliteLog::open(path_, {.read_only = true})); }

 private:
  LongLogFile() {
    const char* path = std::getenv("HINDSIGHT_INSIGHT_LOG");
    kept_ = path != nullptr;
    path_ = kept_ ? path : (std::filesystem::temp_directory_path() / ("hindsight-insight-" + std::to_string(::getpid()) + ".db")).string();
    if (kept_ && std::filesystem::exists(path_)) return;
    LongHistory history;
    if (const char* records = std::getenv("HINDSIGHT_INSIGHT_RECORDS")) history.records = std::strtoull(records, nullptr, 10);
    const auto log = must_have(events::SqliteLog::open(path_, {.durability = events::Durability::off}));
    std::uint64_t told = 0;
    // As close to each other as a node leaves them behind: together they take less than half of the log.
    const replay::SnapshotPolicy policy{.records = replay::SnapshotPolicy{}.closest};
    const auto written = write_history(*log, history, policy, [&](std::uint64_t records) {
      if (records < told + 1'000'000) return;
      std::fprintf(stderr, "insight: %llu records written\n", static_cast<unsigned long long>(told = records));
    });
    std::fprintf(stderr, "insight: %llu records of %.1f MB; %llu snapshots were made, of %.1f MB\n",
                 static_cast<unsigned long long>(written.last), static_cast<double>(written.record_bytes) / 1e6,
                 static_cast<unsigned long long>(written.snapshots), static_cast<double>(written.snapshot_bytes) / 1e6);
  }
  std::string path_;
  bool kept_ = false;
};

double seconds_of(const std::function<void()>& what) {
  const auto start = std::chrono::steady_clock::now();
  what();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void tell_percentiles(benchmark::State& state, std::vector<double> seconds) {
  std::ranges::sort(seconds);
  const auto at = [&](double share) {
    return 1e3 * seconds[std::min(seconds.size() - 1, static_cast<std::size_t>(share * static_cast<double>(seconds.size())))];
  };
  state.counters["p50 ms"] = at(0.5);
  state.counters["p99 ms"] = at(0.99);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  state.counters["peak MB"] = static_cast<double>(used.ru_maxrss) / 1e3;
}

/// Each iteration opens the log anew and goes to a moment that nobody looked at. To give back the state of the one before is not part of
/// it.
void any_moment_the_first_time(benchmark::State& state) {
  const auto& file = LongLogFile::get();
  std::mt19937_64 random(1);
  std::vector<double> seconds;
  while (state.KeepRunning()) {
    std::unique_ptr<events::SqliteLog> log;
    std::optional<replay::Past> past;
    seconds.push_back(seconds_of([&] {
      log = file.read();
      past.emplace(*log, "default");
      must_have(past->go_to(1 + random() % must_have(log->last())));
      benchmark::DoNotOptimize(past->position());
    }));
  }
  tell_percentiles(state, std::move(seconds));
}

/// From one moment to others within 1,000 records before and after it, as somebody goes who looks at each for a second, and without a rest.
void near_one_that_was_looked_at(benchmark::State& state) {
  const auto log = LongLogFile::get().read();
  std::mt19937_64 random(2);
  std::vector<double> seconds;
  replay::StateBehind behind(*log, "default");
  auto past = std::make_unique<replay::Past>(*log, "default");
  const events::Position here = must_have(log->last()) / 2;
  must_have(behind.go_to(past, here));
  while (state.KeepRunning()) {
    if (state.range(0) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(state.range(0)));
    const auto there = here - 1'000 + random() % 2'000;
    seconds.push_back(seconds_of([&] { must_have(behind.go_to(past, there)); }));
    benchmark::DoNotOptimize(past->position());
  }
  tell_percentiles(state, std::move(seconds));
}

BENCHMARK(any_moment_the_first_time)->Unit(benchmark::kMillisecond)->Iterations(200);
BENCHMARK(near_one_that_was_looked_at)->ArgName("rest ms")->Arg(1'000)->Arg(0)->Unit(benchmark::kMillisecond)->Iterations(100);

}  // namespace
}  // namespace hindsight::bench
