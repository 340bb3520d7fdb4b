// How long a node takes from its start until it decides for a domain that it must read first: a snapshot with many waiting Workloads, and a
// tail of records behind it, on a real broker.
//
//   HINDSIGHT_BENCH_KAFKA=HOST:PORT bench_cold_start [--waiting N] [--tail N] [--times N] [--hindsight FILE]

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/nodes/busy_history.hpp"
#include "bench/nodes/node_process.hpp"
#include "bench/nodes/on_a_broker.hpp"
#include "events/kafka/topics.hpp"
#include "events/kafka_log.hpp"

namespace hindsight::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Settings {
  std::size_t waiting = 1'000'000;
  std::size_t tail = 1'000'000;
  std::size_t times = 3;
  std::string program = HINDSIGHT_PROGRAM;
};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Waits for a record behind `position` that begins an epoch. Errors: unavailable (none came).
Result<events::Position> wait_for_epoch(const events::Log& log, events::Position position) {
  events::RecordReader reader;
  events::RecordBatch batch;
  const auto end = Clock::now() + std::chrono::seconds(300);
  while (Clock::now() < end) {
    const auto last = log.wait_beyond(position, Duration::millis(100));
    if (!last) return last;
    if (*last <= position) continue;
    if (auto ok = log.read(position + 1, {}, batch); !ok) return tl::unexpected(ok.error());
    for (const auto& record : batch) {
      position = record.offset;
      const auto read = reader.read(record.bytes);
      if (!read) return tl::unexpected(read.error());
      if (std::holds_alternative<EpochStarted>((*read)->body)) return position;
    }
  }
  return tl::unexpected(Error{ErrorKind::unavailable, "no epoch began within 300 s"});
}

Result<void> measure(const Settings& settings, const std::string& broker, const std::string& folder) {
  const events::kafka::Location location{broker, "cold-" + std::to_string(::getpid()), 0};
  if (auto made = events::kafka::make_topics({location, {}}); !made) return tl::unexpected(made.error());
  auto opened = events::KafkaLog::open(location, {.read_only = false, .settings = {}});
  if (!opened) return tl::unexpected(opened.error());
  events::Log& log = **opened;
  {
    const auto begin = Clock::now();
    BusyHistory history(log, settings.waiting);
    if (auto ok = history.write_waiting(); !ok) return ok;
    if (auto ok = history.write_snapshot(); !ok) return ok;
    const auto before = history.records();
    if (auto ok = history.write_lives(settings.tail); !ok) return ok;
    std::printf("%zu Workloads wait, snapshot %.0f MB, tail of %zu records with %zu admissions; written in %.0f s\n", settings.waiting,
                static_cast<double>(history.snapshot_bytes()) / 1e6, history.records() - before, history.admissions(),
                seconds_since(begin));
    std::fflush(stdout);
  }
  std::vector<double> taken;
  for (std::size_t i = 0; i < settings.times; ++i) {
    const auto last = log.last();
    if (!last) return tl::unexpected(last.error());
    NodeProcess node(settings.program, location.text(), 6, false, folder + "/node.out");
    const auto begin = Clock::now();
    node.start();
    if (auto epoch = wait_for_epoch(log, *last); !epoch) return tl::unexpected(epoch.error());
    taken.push_back(seconds_since(begin));
    node.ask_to_end();
    (void)node.wait();
    std::printf("start of the process to its epoch: %.2f s\n", taken.back());
    std::fflush(stdout);
  }
  std::sort(taken.begin(), taken.end());
  std::printf("median %.2f s, longest %.2f s\n", taken[taken.size() / 2], taken.back());
  return {};
}

}  // namespace
}  // namespace hindsight::bench

int main(int argc, char** argv) {
  using namespace hindsight::bench;
  Settings settings;
  CLI::App app("How long a node reads before it decides");
  app.add_option("--waiting", settings.waiting, "Workloads in the snapshot")->check(CLI::Range(1, 10'000'000))->capture_default_str();
  app.add_option("--tail", settings.tail, "Records behind it")->check(CLI::Range(1, 10'000'000))->capture_default_str();
  app.add_option("--times", settings.times, "Starts")->check(CLI::Range(1, 1'000))->capture_default_str();
  app.add_option("--hindsight", settings.program, "The program")->capture_default_str();
  return on_a_broker(app, argc, argv, [&](const auto& broker, const auto& folder) { return measure(settings, broker, folder); });
}
