#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "events/memory_log.hpp"
#include "projections/observed_again.hpp"
#include "tests/replay/log_world.hpp"
#include "vocabulary/arena.hpp"

namespace hindsight::projections {

/// Queues of one tree of cohorts before which many Workloads of few forms wait.
class CrowdedWorld {
 public:
  explicit CrowdedWorld(std::uint64_t seed) : random_(seed) {
    static constexpr std::string_view settings[] = {
        "{}", R"({"fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}})",
        R"({"admissionFairSharing": {"usageHalfLifeTime": "10m", "usageSamplingInterval": "1s"}})", "{}"};
    w_.configure(settings[seed % 4]);
    w_.flavor("spot");
    w_.cohort("all", "");
    w_.cohort("below", "all");
    queues_ = 3 + below(3);
    std::vector<hindsight::testing::QueueOf> queues;
    for (std::size_t i = 0; i < queues_; ++i) queues.push_back(some_queue(i));
    w_.set_up(queues);
    for (std::size_t i = 0; i < queues_; ++i) {
      w_.local_queue("also-" + std::to_string(i), "q" + std::to_string(i));
      change_queue(i, seed % 4 == 2);
    }
    for (int i = 0; i < 110; ++i) happen();
    if (seed % 5 != 0) w_.wake();  // else not all is decided
    release_evicted();
  }

  [[nodiscard]] admission::LoopDriver& driver() { return w_.driver(); }
  [[nodiscard]] std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }
  [[nodiscard]] Symbol some_queue_name() { return Symbol("q" + std::to_string(below(queues_))); }
  [[nodiscard]] std::vector<Symbol> queues() const {
    std::vector<Symbol> out;
    for (std::size_t i = 0; i < queues_; ++i) out.emplace_back("q" + std::to_string(i));
    return out;
  }
  /// Uid of somebody who waits, or who holds quota; empty: nobody does.
  [[nodiscard]] std::string somebody(bool waits) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < queues_; ++i) {
      const auto* queue = driver().queue(Symbol("q" + std::to_string(i)));
      if (waits)
        for (const auto& x : queue->waiting()) all.emplace_back(x.workload->uid.text());
      else
        for (const auto& r : queue->reservations()) all.emplace_back(r->workload->uid.text());
    }
    return all.empty() ? std::string() : all[below(all.size())];
  }

  void remove(const std::string& uid) { w_.remove(uid.substr(4)); }

 private:
  hindsight::testing::QueueOf some_queue(std::size_t i) {
    hindsight::testing::QueueOf q{.name = "q" + std::to_string(i), .cohort = i < 2 ? "all" : "below"};
    q.quotas = {{.nominal = static_cast<Amount>(1 + below(4)) * 1'000}};
    if (below(2) == 0) q.quotas.push_back({.flavor = "spot", .nominal = static_cast<Amount>(below(4)) * 1'000});
    if (below(3) == 0) q.quotas[0].borrowing_limit = 2'000;
    if (below(4) == 0) q.strategy = QueueingStrategy::strict_fifo;
    if (below(3) == 0) q.within = PreemptionPolicy::lower_priority;
    if (below(3) == 0) q.reclaim = PreemptionPolicy::any;
    return q;
  }

  /// What a QueueOf does not tell.
  void change_queue(std::size_t i, bool by_usage) {
    auto o = observed_again(*driver().domain().catalog()->queue(Symbol("q" + std::to_string(i))), arena_);
    if (by_usage) o.admission_mode = AdmissionMode::usage_based;
    if (below(3) == 0) o.when_can_borrow = FungibilityPolicy::try_next_flavor;
    w_.observe(o);
  }

  void happen() {
    const std::string name = "w" + std::to_string(++number_), queue = std::to_string(below(queues_));
    const std::string local = below(3) == 0 ? "also-" + queue : queue == "0" ? "lq" : "lq-q" + queue;
    w_.submit({.name = name,
               .queue = local,
               .cpu = static_cast<Amount>(1 + below(3)) * 1'000,
               .priority = below(3) == 0 ? 5 : 0,
               .active = below(30) != 0});
    if (below(4) == 0) w_.tick(Duration::seconds(1));
    if (below(6) == 0) w_.settle();
    if (below(12) == 0)
      if (const auto uid = somebody(false); !uid.empty()) remove(uid);
    if (below(20) == 0) release_evicted();
  }

  void release_evicted() {
    std::vector<std::string> evicted;
    for (std::size_t i = 0; i < queues_; ++i)
      for (const auto& r : driver().queue(Symbol("q" + std::to_string(i)))->reservations())
        if (r->workload->evicted) evicted.emplace_back(r->workload->name.text());
    for (const auto& name : evicted) w_.release(name);
    w_.settle();
  }

  std::mt19937_64 random_;
  events::MemoryLog log_;
  hindsight::testing::LogWorld w_{log_};
  Arena arena_;
  std::size_t queues_ = 0;
  int number_ = 0;
};

}  // namespace hindsight::projections
