#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "bench/actors/big_domain.hpp"
#include "events/log.hpp"
#include "events/record.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::bench {

/// Writes the history of a domain in which many Workloads wait, without a node: they are observed and stored as a snapshot; then Workloads
/// are admitted, seen as admitted, finish, go, and others come in their place. What is decided is decided by the rules.
class BusyHistory {
 public:
  /// Of domain "bench", in epoch 1, for a log that several write to.
  BusyHistory(events::Log& log, std::size_t waiting);

  [[nodiscard]] Result<void> write_waiting();
  [[nodiscard]] Result<void> write_snapshot();
  /// At least so many records.
  [[nodiscard]] Result<void> write_lives(std::size_t records);

  [[nodiscard]] std::size_t records() const { return records_; }
  [[nodiscard]] std::size_t admissions() const { return admissions_; }
  [[nodiscard]] std::size_t snapshot_bytes() const { return snapshot_bytes_; }
  [[nodiscard]] std::uint64_t state_hash() const { return driver_->state_hash(); }

 private:
  struct Admitted {
    std::size_t number;
    std::string queue;
  };
  [[nodiscard]] Result<void> tell(const Body& body, std::uint64_t epoch, std::uint64_t cause);
  [[nodiscard]] Result<void> observe(const Observation& o) { return tell(Body{o}, 0, 0); }
  [[nodiscard]] Result<void> decide();
  [[nodiscard]] Result<void> live_on();
  [[nodiscard]] Result<void> flush();

  events::Log& log_;
  const std::size_t waiting_;
  BigDomain facts_;
  std::unique_ptr<admission::LoopDriver> driver_;
  events::Encoder encoder_;
  events::RecordBatch batch_;
  Time now_ = Time::from_seconds(1'700'001'000);
  std::deque<Admitted> admitted_;
  std::size_t next_ = 0;  ///< The number of the next Workload that comes.
  std::size_t records_ = 0, admissions_ = 0, snapshot_bytes_ = 0;
  events::Position position_ = 0;
};

}  // namespace hindsight::bench
