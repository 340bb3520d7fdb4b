// The SQLite log against the disk that it lies on: durable appends in batches of 100 beside bare writes of as many bytes, each with
// an fsync, in the same folder; and reading it from the beginning, with and without decoding.
//
// The folder is $HINDSIGHT_BENCH_DIR, or the current one: measure where the log shall live, a temporary folder may be memory.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <latch>
#include <thread>
#include <vector>

#include "bench/events/samples.hpp"
#include "events/record.hpp"
#include "events/sqlite_log.hpp"

namespace hindsight {
namespace {

constexpr std::size_t batch_size = 100;

/// A file for one measurement that goes with it.
class BenchFile {
 public:
  BenchFile() {
    const char* folder = std::getenv("HINDSIGHT_BENCH_DIR");
    path_ = (std::filesystem::path(folder == nullptr ? "." : folder) / ("bench-" + std::to_string(::getpid()) + ".db")).string();
    remove();
  }
  BenchFile(const BenchFile&) = delete;
  BenchFile& operator=(const BenchFile&) = delete;
  ~BenchFile() { remove(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void remove() const {
    for (const char* suffix : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(path_ + suffix);
  }
  std::string path_;
};

/// Batches of admissions with sequences that count on.
class Feed {
 public:
  events::RecordBatch next() {
    events::RecordBatch batch;
    for (std::size_t i = 0; i < batch_size; ++i) {
      record_.envelope.sequence = ++sequence_;
      const auto bytes = encoder_.encode(record_);
      batch.add({record_.envelope.domain, sequence_, record_.envelope.epoch, record_.envelope.time, bytes});
    }
    return batch;
  }

 private:
  events::Encoder encoder_;
  RecordView record_ = bench::admission();
  std::uint64_t sequence_ = 0;
};

std::size_t bytes_of(const events::RecordBatch& batch) {
  std::size_t out = 0;
  for (const auto& record : batch) out += record.bytes.size();
  return out;
}

/// Syncs a second of the disk alone; the yardstick of the others.
void bare_fsync(benchmark::State& state) {
  const BenchFile file;
  const std::vector<char> bytes(bytes_of(Feed().next()), 'x');
  const int descriptor = ::open(file.path().c_str(), O_CREAT | O_WRONLY, 0600);
  off_t at = 0;
  while (state.KeepRunning()) {
    if (::pwrite(descriptor, bytes.data(), bytes.size(), at) < 0 || ::fsync(descriptor) != 0) state.SkipWithError("write failed");
    at += static_cast<off_t>(bytes.size());
  }
  ::close(descriptor);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch_size));
  state.SetBytesProcessed(at);
}

events::SqliteLogOptions options(std::int64_t durability) { return {.durability = static_cast<events::Durability>(durability)}; }

/// One caller that waits for each batch.
void append_batches_of_100(benchmark::State& state) {
  const BenchFile file;
  auto log = events::SqliteLog::open(file.path(), options(state.range(0))).value();
  Feed feed;
  while (state.KeepRunning()) {
    state.PauseTiming();
    const auto batch = feed.next();
    const auto views = batch.views();
    state.ResumeTiming();
    if (!log->append(views, {})) state.SkipWithError("append failed");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch_size));
  state.SetLabel(state.range(0) == 0 ? "fsync" : state.range(0) == 1 ? "normal" : "off");
}

/// A caller that has eight batches under way, which the log commits together.
void append_batches_of_100_in_flight(benchmark::State& state) {
  const BenchFile file;
  auto log = events::SqliteLog::open(file.path(), options(state.range(0))).value();
  constexpr std::size_t in_flight = 8;
  Feed feed;
  while (state.KeepRunning()) {
    state.PauseTiming();
    std::vector<events::RecordBatch> batches;
    for (std::size_t i = 0; i < in_flight; ++i) batches.push_back(feed.next());
    state.ResumeTiming();
    std::latch done(in_flight);
    for (auto& batch : batches) log->append_async(std::move(batch), {}, [&](auto) { done.count_down(); });
    done.wait();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(in_flight * batch_size));
  state.SetLabel(state.range(0) == 0 ? "fsync" : state.range(0) == 1 ? "normal" : "off");
}

/// One caller that waits for each batch, alone and while snapshots of as many megabytes as given are put one after another: what counts is
/// how long a single append can take, for decisions wait for theirs.
void append_beside_snapshots(benchmark::State& state) {
  const BenchFile file;
  auto log = events::SqliteLog::open(file.path(), options(0)).value();
  const std::vector<std::byte> bytes(static_cast<std::size_t>(state.range(0)) * 1'000'000, std::byte{7});
  Feed feed;
  (void)log->append(feed.next().views(), {});
  std::atomic<int> put = 0;
  std::jthread snapshots;
  if (!bytes.empty())
    snapshots = std::jthread([&](const std::stop_token& stop) {
      for (; !stop.stop_requested(); ++put)
        if (!log->put_snapshot({.position = 1, .release = "bench"}, bytes)) return;
    });
  std::vector<double> milliseconds;
  while (state.KeepRunning()) {
    state.PauseTiming();
    const auto batch = feed.next();
    const auto views = batch.views();
    state.ResumeTiming();
    const auto begin = std::chrono::steady_clock::now();
    if (!log->append(views, {})) state.SkipWithError("append failed");
    milliseconds.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  snapshots = {};
  std::sort(milliseconds.begin(), milliseconds.end());
  state.counters["p50_ms"] = milliseconds[milliseconds.size() / 2];
  state.counters["p99_ms"] = milliseconds[milliseconds.size() * 99 / 100];
  state.counters["longest_ms"] = milliseconds.back();
  state.counters["snapshots"] = put.load();
}

constexpr std::size_t stored = 500'000;

void read_from_the_beginning(benchmark::State& state) {
  const bool decoded = state.range(0) == 1;
  const BenchFile file;
  {
    auto log = events::SqliteLog::open(file.path(), options(2)).value();
    Feed feed;
    for (std::size_t i = 0; i < stored / batch_size; ++i) {
      if (!log->append(feed.next().views(), {})) state.SkipWithError("append failed");
    }
  }
  auto log = events::SqliteLog::open(file.path(), {.read_only = true}).value();
  events::RecordReader reader;
  events::RecordBatch batch;
  while (state.KeepRunning()) {
    events::Position next = 1;
    while (next <= stored) {
      if (!log->read(next, {}, batch) || batch.empty()) state.SkipWithError("read failed");
      next += batch.size();
      if (!decoded) continue;
      for (const auto& record : batch) benchmark::DoNotOptimize(reader.read(record.bytes).value());
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(stored));
  state.SetLabel(decoded ? "checksummed and decoded" : "checksummed");
}

BENCHMARK(bare_fsync)->UseRealTime();
BENCHMARK(append_batches_of_100)->DenseRange(0, 2)->UseRealTime();
BENCHMARK(append_batches_of_100_in_flight)->DenseRange(0, 2)->UseRealTime();
BENCHMARK(append_beside_snapshots)->Arg(0)->Arg(53)->Iterations(5'000)->UseRealTime();
BENCHMARK(read_from_the_beginning)->DenseRange(0, 1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace hindsight

BENCHMARK_MAIN();
