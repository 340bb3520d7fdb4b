// Admissions a second, without I/O: 1,000 ClusterQueues in 10 cohorts, 100,000 pending Workloads, until all are admitted. Under the loop
// (one core) and under CAF, and how that grows. Also what an arrival in a long queue costs.

#include <benchmark/benchmark.h>

#include <cstdlib>

#include "actors/actor_driver.hpp"
#include "admission/domain/loop_driver.hpp"
#include "bench/actors/big_domain.hpp"

namespace hindsight::bench {
namespace {

using admission::Domain;

void must(const Result<void>& ok) {
  if (!ok) {
    std::fprintf(stderr, "error: %s\n", ok.error().message.c_str());
    std::abort();
  }
}

/// The loop driver with the interface of the actors' one.
class Loop {
 public:
  explicit Loop(Domain::SettingsReader reader) : driver_(std::move(reader)) {}
  Result<void> apply(const RecordView& r) { return driver_.apply(r); }
  Result<std::optional<Domain::Step>> decide() { return driver_.decide(); }

 private:
  admission::LoopDriver driver_;
};

template <class Driver>
class Run {
 public:
  Run(Driver& driver, BigDomain& facts, const Shape& shape) : driver_(driver), facts_(facts), shape_(shape) {}

  void apply(Body body) {
    must(driver_.apply(record_after(sequence_, now_, std::move(body))));
    ++sequence_;
  }
  void tell_everything() {
    for (const auto& o : facts_.configuration()) apply(o);
    for (std::size_t i = 0; i < shape_.workloads; ++i) apply(facts_.workload(i));
    now_ = now_ + Duration::seconds(2);
    apply(Observation{TimerFired{}});
  }
  /// Decides until at rest; returns the number of admissions.
  [[gnu::noinline]] std::size_t decide_everything() {
    std::size_t admitted = 0;
    for (;;) {
      auto step = driver_.decide();
      if (!step) must(fail(step.error().kind, step.error().message));
      if (!*step) return admitted;
      for (const Event& e : (*step)->events) admitted += std::holds_alternative<QuotaReserved>(e) ? 1 : 0;
      apply(Decisions{(*step)->base, (*step)->kind, (*step)->events});
    }
  }

 private:
  Driver& driver_;
  BigDomain& facts_;
  Shape shape_;
  std::uint64_t sequence_ = 0;
  Time now_ = Time::from_seconds(1'700'001'000);
};

template <class Make>
void admit_all(benchmark::State& state, const Shape& shape, Make make) {
  std::size_t admitted = 0;
  while (state.KeepRunning()) {
    state.PauseTiming();
    {
      BigDomain facts(shape);
      auto driver = make(facts);
      Run run(*driver, facts, shape);
      run.tell_everything();
      state.ResumeTiming();
      admitted += run.decide_everything();
      state.PauseTiming();
    }
    state.ResumeTiming();
  }
  if (admitted != shape.workloads * static_cast<std::size_t>(state.iterations())) state.SkipWithError("not all Workloads were admitted");
  state.counters["admissions/s"] = benchmark::Counter(static_cast<double>(admitted), benchmark::Counter::kIsRate);
}

Shape shape_of(const benchmark::State& state) {
  Shape shape;
  shape.fair_sharing = state.range(0) != 0;
  if (const char* n = std::getenv("HINDSIGHT_BENCH_WORKLOADS")) shape.workloads = std::strtoul(n, nullptr, 10);  // for profilers
  return shape;
}

void loop(benchmark::State& state) {
  admit_all(state, shape_of(state), [](const BigDomain& facts) { return std::make_unique<Loop>(facts.settings_reader()); });
}

void actors_under_caf(benchmark::State& state) {
  admit_all(state, shape_of(state), [&](const BigDomain& facts) {
    actors::ActorDriver::Options options;
    options.inline_receivers = static_cast<std::size_t>(state.range(1));
    return std::make_unique<actors::ActorDriver>(facts.settings_reader(), std::move(options));
  });
}

/// As many pending Workloads as asked, all admitted; with memory for each.
void loop_growing(benchmark::State& state) {
  Shape shape;
  shape.workloads = static_cast<std::size_t>(state.range(0));
  shape.queues = static_cast<std::size_t>(state.range(1));
  shape.cohorts = std::min<std::size_t>(shape.cohorts, shape.queues);
  shape.fair_sharing = true;
  admit_all(state, shape, [](const BigDomain& facts) { return std::make_unique<Loop>(facts.settings_reader()); });
}

/// One queue without free quota in which so many wait.
struct LongQueue {
  explicit LongQueue(std::int64_t pending) : shape(shape_of_one_queue(pending)) {
    for (const auto& o : facts.configuration()) {
      auto told = o;
      if (auto* q = std::get_if<ClusterQueueObserved>(&told)) q->resource_groups = facts.without_quota();
      if (const auto* q = std::get_if<LocalQueueObserved>(&told)) local_queue = *q;
      run.apply(told);
    }
    for (std::size_t i = 0; i < shape.workloads; ++i) run.apply(facts.workload(i));
  }
  void rest(benchmark::State& state) {
    if (run.decide_everything() != 0) state.SkipWithError("something was admitted");
  }
  static Shape shape_of_one_queue(std::int64_t pending) {
    Shape one;
    one.cohorts = one.queues = 1;
    one.borrowing = false;
    one.workloads = static_cast<std::size_t>(pending);
    return one;
  }

  Shape shape;
  BigDomain facts{shape};
  Loop driver{facts.settings_reader()};
  Run<Loop> run{driver, facts, shape};
  LocalQueueObserved local_queue;
};

/// A Workload comes, the domain comes to rest again, and it goes.
void arrival_in_a_long_queue(benchmark::State& state) {
  LongQueue queue(state.range(0));
  queue.rest(state);
  auto next = static_cast<std::size_t>(state.range(0));
  while (state.KeepRunning()) {
    queue.run.apply(queue.facts.workload(next++));
    queue.rest(state);
  }
}

/// Its LocalQueue is held and let go again, until the domain is at rest each time.
void flip_of_a_local_queue(benchmark::State& state) {
  LongQueue queue(state.range(0));
  queue.rest(state);
  auto& flipped = queue.local_queue;
  while (state.KeepRunning()) {
    flipped.stop_policy = flipped.stop_policy == StopPolicy::none ? StopPolicy::hold : StopPolicy::none;
    flipped.stop_policy_set = flipped.stop_policy != StopPolicy::none;
    ++flipped.meta.resource_version;
    queue.run.apply(flipped);
    queue.rest(state);
  }
  state.counters["us/member"] = benchmark::Counter(static_cast<double>(state.range(0)) * static_cast<double>(state.iterations()) / 1e6,
                                                   benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// A queue with quota for all that wait in it: nothing waits between its cycles, of which each admits one.
void drain(benchmark::State& state) {
  admit_all(state, LongQueue::shape_of_one_queue(state.range(0)),
            [](const BigDomain& facts) { return std::make_unique<Loop>(facts.settings_reader()); });
}

BENCHMARK(loop)->ArgNames({"fair"})->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->Iterations(2);
BENCHMARK(actors_under_caf)
    ->ArgNames({"fair", "inline"})
    ->Args({0, 0})
    ->Args({0, 4})
    ->Args({1, 4})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(2);
BENCHMARK(loop_growing)
    ->ArgNames({"workloads", "queues"})
    ->Args({10'000, 1'000})
    ->Args({100'000, 100})
    ->Args({100'000, 10'000})
    ->Args({1'000'000, 1'000})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK(arrival_in_a_long_queue)->ArgName("pending")->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(flip_of_a_local_queue)->ArgName("members")->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(drain)->ArgName("pending")->Arg(536)->Arg(5'360)->Arg(53'600)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace hindsight::bench

BENCHMARK_MAIN();
