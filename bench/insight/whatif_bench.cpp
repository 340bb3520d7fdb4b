// How fast a log is played on with something otherwise, as times as fast as it went in reality: the quick start, and 10,000 Workloads that
// wait while ten arrive and ten end each second. And how long an estimate of a start takes there.

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "bench/insight/long_log.hpp"
#include "connectors/manifests/manifest_reader.hpp"
#include "connectors/simulated/scenario_player.hpp"
#include "events/memory_log.hpp"
#include "projections/lookup.hpp"
#include "projections/play.hpp"
#include "replay/moment.hpp"
#include "replay/past.hpp"
#include "replay/scan.hpp"
#include "simulation/run_scenario.hpp"
#include "whatif/future.hpp"
#include "whatif/player.hpp"

namespace hindsight::bench {
namespace {

using events::Position;

template <class T>
T demanded(Result<T> r) {
  if (!r) {
    std::fprintf(stderr, "error: %s\n", r.error().message.c_str());
    std::abort();
  }
  if constexpr (!std::is_void_v<T>) return std::move(*r);
}

/// A log, and what is known of it.
struct Recorded {
  events::MemoryLog log;
  whatif::Responses responses;
  whatif::Arrivals arrivals;
  Time begin, end;

  void remember() {
    demanded(replay::scan(log, "default", 1, demanded(log.last()), [&](const auto&, const RecordView& r) {
      responses.see(r);
      arrivals.see(r);
      if (!begin.is_set()) begin = r.envelope.time;
      end = std::max(end, r.envelope.time);
      return true;
    }));
  }
  [[nodiscard]] Position at(Time t) const {
    return demanded(replay::resolve(log, replay::Moment{.kind = replay::Moment::Kind::time, .time = t}));
  }
};

const Recorded& quick_start() {
  static const auto recorded = [] {
    auto out = std::make_unique<Recorded>();
    auto input = demanded(connectors::manifests::read_input({"examples/quickstart"}));
    simulation::ScenarioOptions options;
    options.to_the_end = true;
    options.log = &out->log;
    demanded(simulation::run_scenario(connectors::simulated::scenario_of(std::move(input.manifests), "quickstart"), options));
    out->remember();
    return out;
  }();
  return *recorded;
}

/// The last minute has about 600 arrivals and as many ends.
const Recorded& many_waiting() {
  static const auto recorded = [] {
    auto out = std::make_unique<Recorded>();
    LongHistory history;
    history.records = 30'000;
    history.workloads = 10'000;
    history.runs = Duration::seconds(100);
    (void)write_history(out->log, history, {});
    out->remember();
    return out;
  }();
  return *recorded;
}

void play(benchmark::State& state, const Recorded& recorded, Position from, const whatif::Changes& changes, bool model_all) {
  double played = 0, taken = 0;
  std::uint64_t records = 0;
  for (auto _ : state) {
    auto begun = std::chrono::steady_clock::now();
    whatif::PlayOptions options{.from = from, .until = demanded(recorded.log.last()), .model_all = model_all};
    options.on_begin = [&](const admission::LoopDriver&) { begun = std::chrono::steady_clock::now(); };  // the state is there
    whatif::Player player(recorded.log, "default", recorded.responses, changes, options);
    const auto report = demanded(player.play());
    taken += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    played += static_cast<double>((report.end - report.begin).micros) / 1e6;
    records += report.records;
  }
  state.counters["x real time"] = taken > 0 ? played / taken : 0;
  state.counters["records/s"] = taken > 0 ? static_cast<double>(records) / taken : 0;
}

void what_if_quick_start(benchmark::State& state) {
  whatif::Changes changes;
  changes.quotas.push_back(demanded(whatif::parse_quota_change("clusterqueue/team-a:cpu=+4")));
  const Recorded& recorded = quick_start();
  play(state, recorded, recorded.at(recorded.begin + Duration::seconds(1)), changes, false);
}

void what_if_ten_thousand_wait(benchmark::State& state) {
  const Recorded& recorded = many_waiting();
  play(state, recorded, recorded.at(recorded.end - Duration::seconds(60)), {}, state.range(0) != 0);
}

void eta_where_ten_thousand_wait(benchmark::State& state) {
  const Recorded& recorded = many_waiting();
  replay::Past past(recorded.log, "default");
  demanded(past.go_to(demanded(recorded.log.last())));
  const auto stage = projections::Stage::of(past.driver());
  std::string uid;
  for (const auto& at : projections::all_workloads(past.driver()))
    if (!at.workload->admitted() && !at.workload->finished()) uid = at.workload->uid.text();
  std::size_t started = 0;
  for (auto _ : state) started += whatif::estimate(stage, recorded.responses, recorded.arrivals, uid, 10, Duration::seconds(600)).started;
  state.counters["started"] = static_cast<double>(started) / static_cast<double>(state.iterations());
}

BENCHMARK(what_if_quick_start)->Unit(benchmark::kMillisecond);
BENCHMARK(what_if_ten_thousand_wait)->ArgName("model all")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK(eta_where_ten_thousand_wait)->Unit(benchmark::kMillisecond)->Iterations(2);

}  // namespace
}  // namespace hindsight::bench
