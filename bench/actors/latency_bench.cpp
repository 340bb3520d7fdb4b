// From an observation to the decision that it leads to, read back from a durable log, while the system is idle: one Workload at a time
// through actors::Node over a SQLite log with fsync, beside bare writes with fsync to the same folder. The way contains two commits: that
// of the observation and that of the decision. The folder is $HINDSIGHT_BENCH_DIR, or the current one.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <semaphore>
#include <thread>

#include "actors/node.hpp"
#include "bench/actors/big_domain.hpp"
#include "events/sqlite_log.hpp"

namespace hindsight::bench {
namespace {

using Clock = std::chrono::steady_clock;

double millis_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

double quantile(std::vector<double> of, double q) {
  std::sort(of.begin(), of.end());
  return of[static_cast<std::size_t>(q * static_cast<double>(of.size() - 1))];
}

void stop(const std::string& why) {
  std::fprintf(stderr, "error: %s\n", why.c_str());
  std::abort();
}

/// Appends a page and waits until the disk has it, as a commit of the log does.
class BareFile {
 public:
  explicit BareFile(const std::string& path) : path_(path), file_(::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600)) {
    if (file_ < 0) stop("cannot write " + path);
  }
  BareFile(const BareFile&) = delete;
  BareFile& operator=(const BareFile&) = delete;
  ~BareFile() {
    ::close(file_);
    std::filesystem::remove(path_);
  }
  [[nodiscard]] double write() const {
    static const std::vector<char> page(4096, 'x');
    const auto start = Clock::now();
    if (::write(file_, page.data(), page.size()) < 0 || ::fsync(file_) != 0) stop("cannot write");
    return millis_since(start);
  }

 private:
  std::string path_;
  int file_;
};

void observation_to_decision(benchmark::State& state) {
  const char* folder = std::getenv("HINDSIGHT_BENCH_DIR");
  const std::string path =
      (std::filesystem::path(folder == nullptr ? "." : folder) / ("bench-latency-" + std::to_string(::getpid()) + ".db")).string();
  const auto remove = [&] {
    for (const char* suffix : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(path + suffix);
  };
  remove();
  const Shape shape{.cohorts = 2, .queues = 20, .workloads = 100'000, .borrowing = false};
  BigDomain facts(shape);
  std::vector<double> whole, disk;
  {
    auto log = events::SqliteLog::open(path);
    if (!log) stop(log.error().message);
    std::binary_semaphore decided(0);
    actors::NodeOptions options;
    options.settings_reader = facts.settings_reader();
    options.on_record = [&](const RecordView& r, events::Position) {
      if (const auto* d = std::get_if<Decisions>(&r.body))
        for (const Event& e : d->events)
          if (std::holds_alternative<QuotaReserved>(e)) decided.release();
    };
    auto node = actors::Node::start(**log, std::move(options));
    if (!node) stop(node.error().message);
    for (const auto& o : facts.configuration()) (*node)->observe_and_wait(o);
    (void)(*node)->wait_until_rest();
    const BareFile bare(path + ".bare");
    std::size_t next = 0;
    while (state.KeepRunning()) {
      disk.push_back(bare.write());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // idle again
      const auto workload = facts.workload(next++);
      const auto start = Clock::now();
      (*node)->observe_and_wait(workload);
      if (!decided.try_acquire_for(std::chrono::seconds(10))) stop("no decision came");
      whole.push_back(millis_since(start));
      state.SetIterationTime(whole.back() / 1e3);
    }
  }
  remove();
  state.counters["p50 ms"] = quantile(whole, 0.5);
  state.counters["p99 ms"] = quantile(whole, 0.99);
  state.counters["fsync p50 ms"] = quantile(disk, 0.5);
  state.counters["fsync p99 ms"] = quantile(disk, 0.99);
}

BENCHMARK(observation_to_decision)->Iterations(2'000)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hindsight::bench

BENCHMARK_MAIN();
