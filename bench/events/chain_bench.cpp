// What the chain of hashes costs the commits of a log (docs/audit.md): the same appends to two files, in turns within one run, of which one
// is followed by the keeper of the chain as `hindsight run` has it. Both are also read along as a node does. `ratio`: commits a second with
// the chain to those without. And how fast the chain is computed by itself, as an audit does.
//
// The folder is $HINDSIGHT_BENCH_DIR, or the current one.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "bench/events/samples.hpp"
#include "events/chain.hpp"
#include "events/memory_log.hpp"
#include "events/record.hpp"
#include "events/sqlite_log.hpp"
#include "runtime/chain_keeper.hpp"

namespace hindsight {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t batch_size = 100;
constexpr int commits_in_a_turn = 100;

std::string file_name(const std::string& name) {
  const char* folder = std::getenv("HINDSIGHT_BENCH_DIR");
  return (std::filesystem::path(folder == nullptr ? "." : folder) / ("bench-chain-" + name + "-" + std::to_string(::getpid()) + ".db"))
      .string();
}

void remove_log(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(path + suffix);
}

/// A log that somebody reads along.
class FollowedLog {
 public:
  FollowedLog(const std::string& name, bool with_chain) : path_(file_name(name)) {
    remove_log(path_);
    log_ = events::SqliteLog::open(path_).value();
    follower_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
    if (!with_chain) return;
    runtime::ChainKeeper::Options options;
    options.release = "0.1.0";
    options.key = std::make_shared<const evidence::SigningKey>(evidence::SigningKey::make().value());
    options.now = [] {
      return Time{std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count()};
    };
    options.on_notice = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
    options.look = std::chrono::milliseconds(10);  // a hundred times as often as a node looks, so that each turn pays for its own records
    keeper_ = std::make_unique<runtime::ChainKeeper>(*log_, std::move(options));
  }
  ~FollowedLog() {
    keeper_.reset();
    follower_ = {};
    log_.reset();
    remove_log(path_);
  }
  FollowedLog(const FollowedLog&) = delete;
  FollowedLog& operator=(const FollowedLog&) = delete;

  /// Appends a number of batches, each committed and synced by itself; how long it waited for them.
  double append_batches() {
    double seconds = 0;
    for (int i = 0; i < commits_in_a_turn; ++i) {
      events::RecordBatch batch;
      for (std::size_t n = 0; n < batch_size; ++n) {
        record_.envelope.sequence = ++sequence_;
        batch.add({record_.envelope.domain, sequence_, record_.envelope.epoch, record_.envelope.time, encoder_.encode(record_)});
      }
      const auto views = batch.views();
      const auto begin = Clock::now();
      if (!log_->append(views, {})) std::abort();
      seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    }
    return seconds;
  }
  /// Until the chain has caught up but for what makes no checkpoint yet, so that the other log's turn is not disturbed.
  void settle() const {
    if (!keeper_) return;
    for (;;) {
      const auto stored = log_->checkpoints().value();
      if (!stored.empty() && stored.back().position + 10'000 > sequence_) return;
      if (sequence_ < 10'000) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

 private:
  void follow(const std::stop_token& stop) {
    events::RecordBatch batch;
    for (events::Position at = 0; !stop.stop_requested();) {
      const auto last = log_->wait_beyond(at, Duration::millis(50));
      while (last && at < *last && log_->read(at + 1, {}, batch) && !batch.empty()) at = batch[batch.size() - 1].offset;
    }
  }

  std::string path_;
  std::unique_ptr<events::SqliteLog> log_;
  events::Encoder encoder_;
  RecordView record_ = bench::admission();
  std::uint64_t sequence_ = 0;
  std::jthread follower_;
  std::unique_ptr<runtime::ChainKeeper> keeper_;
};

void commits_with_the_chain_and_without(benchmark::State& state) {
  FollowedLog with("with", true), without("without", false);
  double seconds_with = 0, seconds_without = 0;
  bool first = false;  // who begins a round changes, so that what drifts counts for both
  for (auto _ : state) {
    first = !first;
    for (const bool chain : {first, !first}) {
      auto& log = chain ? with : without;
      (chain ? seconds_with : seconds_without) += log.append_batches();
      log.settle();
    }
  }
  const double commits = static_cast<double>(state.iterations()) * commits_in_a_turn;
  state.counters["with/s"] = commits / seconds_with;
  state.counters["without/s"] = commits / seconds_without;
  state.counters["ratio"] = seconds_without / seconds_with;
}
BENCHMARK(commits_with_the_chain_and_without)->Unit(benchmark::kMillisecond)->Iterations(40)->UseRealTime();

/// As an audit computes it; records are in memory, so that the disk does not count.
void chain_of_a_log(benchmark::State& state) {
  constexpr std::uint64_t records = 20'000;
  events::MemoryLog log;
  events::Encoder encoder;
  std::int64_t bytes = 0;
  for (std::uint64_t n = 1; n <= records; ++n) {
    auto record = n % 2 == 0 ? bench::admission() : bench::job();
    record.envelope.sequence = n;
    const auto encoded = encoder.encode(record);
    bytes += static_cast<std::int64_t>(encoded.size());
    if (!log.append(std::array{events::EncodedRecord{record.envelope.domain, n, record.envelope.epoch, record.envelope.time, encoded}}, {}))
      return;
  }
  for (auto _ : state) {
    events::ChainWalk walk(log, events::ChainStart{});
    if (!walk.to(records)) state.SkipWithError("it cannot be read");
    benchmark::DoNotOptimize(walk.head());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(records));
  state.SetBytesProcessed(state.iterations() * bytes);
}
BENCHMARK(chain_of_a_log)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hindsight

BENCHMARK_MAIN();
