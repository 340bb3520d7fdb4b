#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "actors/clock.hpp"

namespace hindsight::actors {

/// The time of one domain's records: that of a clock, but never before what its log has reached. Where the log is ahead, because somebody
/// wrote into it whose clock was, time does not wait for the clock, which would freeze all timers for as long as that was ahead: it
/// goes on from the log's, slower by a tenth until the clock has come up with it. Thread-safe.
class LogClock final : public Clock {
 public:
  /// So far may the clock of a node without a second opinion be from the newest record of others for its word to count (see `begin`).
  static constexpr Duration trusted_within = Duration::seconds(600);

  /// `counts_on`: nobody but the other writers of its log can tell this process what day it is.
  LogClock(std::shared_ptr<Clock> clock, bool counts_on);

  /// The log was read to its end and ends at `last`; never: it is empty. A clock that counts on, and is further from the last record than
  /// `trusted_within`, goes on from that record: what is due in between comes when others have written what time it is. Called again
  /// after each time that the log had to be read anew.
  void begin(Time last);
  /// The log has come to this time; `others`: by a record of another writer, written just now.
  void reached(Time time, bool others);
  /// How far it is ahead of the clock; negative: behind it, as one is that counts on.
  [[nodiscard]] Duration ahead() const;

  [[nodiscard]] Time now() const override;
  [[nodiscard]] bool runs() const override { return clock_->runs(); }
  [[nodiscard]] std::uint64_t listen(std::function<void()> moved) override { return clock_->listen(std::move(moved)); }
  void forget(std::uint64_t listener) override { clock_->forget(listener); }
  [[nodiscard]] std::uint64_t on_step(std::function<void(const ClockStep&)> told) override { return clock_->on_step(std::move(told)); }
  void forget_steps(std::uint64_t listener) override { clock_->forget_steps(listener); }

 private:
  [[nodiscard]] Time at(Time clock) const;

  const std::shared_ptr<Clock> clock_;
  const bool counts_on_;
  mutable std::mutex mutex_;
  bool begun_ = false;
  Duration shift_;  ///< Of the clock, while its word does not count.
  Time reached_;    ///< Ahead of the clock, which was at `reached_at_` then; never: not ahead.
  Time reached_at_;
};

}  // namespace hindsight::actors
