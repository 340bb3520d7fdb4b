// Ten people look at different moments of a live cluster (issue 20): the time from an observation to its decision with and without them, by
// turns in one run, through actors::Node over a SQLite log with fsync. They look as the page lets them beside a control plane: threads of
// low priority, readers and states of their own, the index of the whole history, and a bound of the memory.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "actors/node.hpp"
#include "bench/actors/big_domain.hpp"
#include "events/sqlite_log.hpp"
#include "page/server/past_states.hpp"
#include "page/server/quiet_thread.hpp"
#include "page/server/quiet_turns.hpp"
#include "page/timeline/timeline_index.hpp"
#include "page/view.hpp"

namespace hindsight::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t people = 10, decisions_of_a_turn = 250;
/// So many threads of the page answer beside a control plane (runtime/page_service.cpp).
constexpr std::ptrdiff_t answering = 3;

void stop_bench(const std::string& why) {
  std::fprintf(stderr, "error: %s\n", why.c_str());
  std::abort();
}

template <class T>
T must(Result<T> r) {
  if (!r) stop_bench(r.error().message);
  return std::move(*r);
}

double percentile_of(std::vector<double> of, double share) {
  if (of.empty()) return 0;
  std::ranges::sort(of);
  return of[static_cast<std::size_t>(share * static_cast<double>(of.size() - 1))];
}

class LooksAtAll final : public page::Audience {
 public:
  [[nodiscard]] bool may_see(std::string_view) const override { return true; }
  [[nodiscard]] bool sees_all() const override { return true; }
};

/// People who each ask for one view after the other, at moments of their own, while they are let.
class Lookers {
 public:
  explicit Lookers(const std::string& path)
      : log_(must(events::SqliteLog::open(path, {.read_only = true}))),
        index_log_(must(events::SqliteLog::open(path, {.read_only = true}))) {
    source_ = states_.source(log_, domain_);
    index_ = page::TimelineIndex::start(*index_log_, domain_, {.turns = turns_});
    for (std::size_t i = 0; i < people; ++i) threads_.emplace_back([this, i] { look(static_cast<unsigned>(i)); });
  }
  ~Lookers() {
    over_ = true;
    looking_ = true;
    for (auto& thread : threads_) thread.join();
  }
  Lookers(const Lookers&) = delete;
  Lookers& operator=(const Lookers&) = delete;

  void let(bool looking) { looking_ = looking; }
  [[nodiscard]] std::uint64_t looks() const { return looks_.load(); }
  [[nodiscard]] std::size_t bytes() const { return states_.statistics().bytes + index_->memory(); }
  [[nodiscard]] std::size_t states() const { return states_.statistics().states; }

 private:
  void look(unsigned person) {
    page::be_quiet();
    std::mt19937 random(person + 1);
    const auto all = page::views();
    const std::vector<std::string> wanted{"overview", "workloads", "cohorts"};
    while (!over_) {
      if (!looking_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        continue;
      }
      const auto last = log_->last();
      if (!last || *last == 0) continue;
      const auto at = std::uniform_int_distribution<events::Position>(1, *last)(random);
      const auto& name = wanted[random() % wanted.size()];
      const auto view = std::ranges::find(all, name, &page::ViewRoute::path);
      const std::function<bool()> is_over = [this] { return over_.load(); };
      turn_.acquire();
      const auto told = states_.look(source_, at, is_over, [&](const events::Log& log, const replay::Past& past) {
        return view->view(page::Look{.log = log, .past = past, .audience = everybody_, .is_over = is_over}, page::Parameters({}, {}));
      });
      turn_.release();
      if (told) ++looks_;
    }
  }

  const std::string domain_ = "default";
  std::shared_ptr<const events::Log> log_, index_log_;
  const std::shared_ptr<page::QuietTurns> turns_ = std::make_shared<page::QuietTurns>(page::QuietTurns::all_cores_but_one());
  page::PastStates states_{
      {.states_bytes_max = std::size_t{100} << 20, .snapshots_bytes_max = std::size_t{50} << 20, .quiet = true, .turns = turns_}};
  std::shared_ptr<page::PastSource> source_;
  std::unique_ptr<page::TimelineIndex> index_;
  const LooksAtAll everybody_;
  std::counting_semaphore<answering> turn_{answering};
  std::atomic<bool> looking_ = false, over_ = false;
  std::atomic<std::uint64_t> looks_{0};
  std::vector<std::thread> threads_;
};

void decisions_beside_lookers(benchmark::State& state) {
  const char* folder = std::getenv("HINDSIGHT_BENCH_DIR");
  const std::string path =
      (std::filesystem::path(folder == nullptr ? "." : folder) / ("bench-page-" + std::to_string(::getpid()) + ".db")).string();
  const auto remove = [&] {
    for (const char* suffix : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(path + suffix);
  };
  remove();
  const auto workloads = static_cast<std::size_t>(state.range(0));
  BigDomain facts(Shape{.cohorts = 2, .queues = 20, .workloads = workloads + 100'000, .borrowing = false});
  std::vector<double> alone, beside;
  double looks = 0, bytes = 0, states = 0;
  {
    auto log = must(events::SqliteLog::open(path));
    std::counting_semaphore<1'000'000> decided(0);
    actors::NodeOptions options;
    options.settings_reader = facts.settings_reader();
    options.on_record = [&](const RecordView& r, events::Position) {
      if (const auto* d = std::get_if<Decisions>(&r.body))
        for (const Event& e : d->events)
          if (std::holds_alternative<QuotaReserved>(e)) decided.release();
    };
    auto node = actors::Node::start(*log, std::move(options));
    if (!node) stop_bench(node.error().message);
    for (const auto& o : facts.configuration()) (*node)->observe_and_wait(o);
    std::size_t next = 0;
    for (; next < workloads; ++next) (*node)->observe_and_wait(facts.workload(next));
    (void)(*node)->wait_until_rest();
    while (decided.try_acquire()) {}
    Lookers lookers(path);
    const auto decide = [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const auto workload = facts.workload(next++);
      const auto start = Clock::now();
      (*node)->observe_and_wait(workload);
      if (!decided.try_acquire_for(std::chrono::seconds(30))) stop_bench("no decision came");
      return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    };
    while (state.KeepRunning()) {
      for (const bool looking : {false, true}) {
        lookers.let(looking);
        std::this_thread::sleep_for(std::chrono::milliseconds(500));  // who was let, or was stopped, is by then
        for (std::size_t i = 0; i < decisions_of_a_turn; ++i) (looking ? beside : alone).push_back(decide());
        bytes = std::max(bytes, static_cast<double>(lookers.bytes()));
        states = std::max(states, static_cast<double>(lookers.states()));
      }
    }
    looks = static_cast<double>(lookers.looks());
  }
  remove();
  const double p99_alone = percentile_of(alone, 0.99), p99_beside = percentile_of(beside, 0.99);
  state.counters["alone p50 ms"] = percentile_of(alone, 0.5);
  state.counters["alone p99 ms"] = p99_alone;
  state.counters["looked at p50 ms"] = percentile_of(beside, 0.5);
  state.counters["looked at p99 ms"] = p99_beside;
  state.counters["p99 ratio"] = p99_alone > 0 ? p99_beside / p99_alone : 0;
  state.counters["looks"] = looks;
  state.counters["states"] = states;
  state.counters["MB of the page"] = bytes / 1e6;
}

BENCHMARK(decisions_beside_lookers)->Arg(20'000)->Arg(100'000)->Iterations(8)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hindsight::bench

BENCHMARK_MAIN();
