#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "actors/clock.hpp"

namespace hindsight::actors {

/// The time of day, as far as it can be trusted. It begins where the clocks are and then goes on evenly: with the monotonic clock of the
/// system, nearing the clock of the day by at most a tenth of the time that passes. So NTP and leap seconds are followed, a clock that is
/// set by a day freezes no timer and fires none too early, and what a timer waits for comes at most a ninth too late or a tenth too soon.
///
/// Whose clock of the day: that of this machine, as long as it is within `step_min` of that of the API server, where that one is heard
/// (`hear`); else the API server's, which all copies of a process hear and whose times stand in the objects. A clock that is further off
/// than `step_min` is told to those who asked (`on_step`): it is more than leap seconds, the whole seconds of a Date header and a slow
/// network explain, and less than any time-out of a job. Thread-safe.
class DayClock final : public Clock {
 public:
  static constexpr Duration step_min = Duration::seconds(5);
  /// A clock that goes to and fro is told of once in so long.
  static constexpr Duration told_again_after = Duration::seconds(60);
  /// A second opinion counts for so long after it was heard last.
  static constexpr Duration opinion_life = Duration::seconds(3600);
  /// Of what was heard in the last two minutes so many are compared: an address can have several API servers behind it, and one of them a
  /// clock of its own.
  static constexpr std::size_t opinions_max = 15;
  static constexpr std::int64_t slew = 10;  ///< One part in so many.

  struct Sources {
    std::function<Time()> wall;        ///< The clock of this machine.
    std::function<Duration()> steady;  ///< Never set; also goes on while the machine sleeps.
    bool looks = true;                 ///< Once it is held, a thread looks every second whether a clock was set. Else only `look` does.
  };
  DayClock();
  explicit DayClock(Sources sources);
  ~DayClock() override;

  [[nodiscard]] Time now() const override;
  [[nodiscard]] bool runs() const override { return true; }
  [[nodiscard]] std::uint64_t listen(std::function<void()>) override { return 0; }
  void forget(std::uint64_t) override {}
  /// From the first call on time goes evenly; before, it is whatever the clock of the day says.
  void hold() override;

  /// The API server's clock said this a moment ago. Several servers may answer under one address: the machine is believed as long as one of
  /// the last answers agrees with it, else the middle one of them, so that neither a single server that is a day off nor an answer that was
  /// late decides.
  void hear(Time date);

  /// `told` is called on the thread that looks (or by `look`); it must not block. Returns a number for `forget_steps`.
  [[nodiscard]] std::uint64_t on_step(std::function<void(const ClockStep&)> told) override;
  /// After it returns `told` is not called any more.
  void forget_steps(std::uint64_t listener) override;
  /// Looks whether a clock was set, and tells.
  void look();

  struct Standing {
    Duration machine;                    ///< The clock of this machine less our reckoning.
    std::optional<Duration> api_server;  ///< The same of the API server's; nothing: it was not heard lately.
    std::uint64_t steps = 0;             ///< How often a clock was found to have been set.
  };
  [[nodiscard]] Standing standing() const;

 private:
  /// Of one clock: what was told of it.
  struct Watched {
    Duration told;  ///< How far off it was; zero: nowhere.
    std::optional<Duration> told_at;
  };
  /// One answer: what its clock said less the steady one, and when.
  struct Heard {
    Duration offset, at;
  };

  [[nodiscard]] Time day(Duration steady, Time wall) const;
  [[nodiscard]] std::optional<Time> opinion(Duration steady, Time wall) const;
  [[nodiscard]] bool is_confirmed(Duration steady, Time wall) const;
  [[nodiscard]] Time reckon(Duration steady) const;
  [[nodiscard]] std::optional<ClockStep> watch(Watched& clock, Time ours, Time its, Duration steady, const std::string& source);

  const Sources sources_;
  mutable std::mutex mutex_;
  bool held_ = false;
  mutable Time at_;  ///< Our reckoning when the steady clock was at `at_steady_`.
  mutable Duration at_steady_;
  std::deque<Heard> heard_;  ///< The oldest first.
  Watched machine_, api_server_;
  std::uint64_t steps_ = 0;

  std::mutex telling_;  ///< Held while listeners are called, so that `forget_steps` waits for them.
  std::uint64_t listeners_made_ = 0;
  std::map<std::uint64_t, std::function<void(const ClockStep&)>> listeners_;
  std::jthread thread_;
};

}  // namespace hindsight::actors
