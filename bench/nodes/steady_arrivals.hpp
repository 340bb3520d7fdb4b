#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "actors/node.hpp"
#include "bench/actors/big_domain.hpp"
#include "events/log.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::bench {

/// The connector of a domain in which many Workloads wait for quota that nobody frees, while others arrive one after another in a queue
/// that has quota for all of them: each of these is a decision. It notes when it reads each decision back, and of which epoch.
class SteadyArrivals {
 public:
  using Clock = std::chrono::steady_clock;

  /// Tells of the configuration and of `waiting` Workloads. Errors: those of the log.
  [[nodiscard]] static Result<std::unique_ptr<SteadyArrivals>> start(events::Log& log, std::size_t waiting,
                                                                     std::chrono::milliseconds every);
  ~SteadyArrivals();
  SteadyArrivals(const SteadyArrivals&) = delete;
  SteadyArrivals& operator=(const SteadyArrivals&) = delete;

  /// The newest epoch; `writer` names the process that began it.
  struct Epoch {
    std::uint64_t number = 0;
    std::string writer;
    Clock::time_point first, last;  ///< Decisions.
    std::size_t decisions = 0;
  };
  [[nodiscard]] Epoch epoch() const;
  /// From the last decision of the epoch before `number` to the first of `number`.
  [[nodiscard]] double pause_before(std::uint64_t number) const;
  /// Waits until an epoch after `number` has decided something. False: time is over.
  [[nodiscard]] bool wait_for_epoch_after(std::uint64_t number, std::chrono::seconds timeout) const;
  /// Waits until the newest decision is younger than `age` and its epoch has lasted for `calm`. False: time is over.
  [[nodiscard]] bool wait_for_calm(std::chrono::milliseconds age, std::chrono::milliseconds calm, std::chrono::seconds timeout) const;

 private:
  SteadyArrivals(std::size_t waiting, std::chrono::milliseconds every);
  void saw(const RecordView& record);
  void arrive(const std::stop_token& stop);

  BigDomain facts_;
  const std::size_t waiting_;
  const std::chrono::milliseconds every_;
  mutable std::mutex mutex_;  ///< Guards the next.
  std::vector<Epoch> epochs_;
  std::unique_ptr<actors::Node> node_;
  std::jthread thread_;
};

}  // namespace hindsight::bench
