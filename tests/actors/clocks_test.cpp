// Time that goes evenly while clocks are set: forward by a day and back again, backward by a day, at a start and while a process runs. A
// timer that waits for some seconds comes in some seconds, whatever the clock of the day does meanwhile (design rule 3).

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "actors/day_clock.hpp"
#include "actors/log_clock.hpp"
#include "tests/actors/node_fixture.hpp"

namespace hindsight::actors::testing {
namespace {

constexpr Duration day = Duration::seconds(86'400);
constexpr Time first = Time::from_seconds(1'800'000'000);

/// A machine whose clocks the test moves.
class Machine {
 public:
  /// `steadily`: the clock of the day goes on as well.
  void pass(Duration d) {
    steady_ += d.micros;
    wall_ += d.micros;
  }
  void set_wall(Time t) { wall_ = t.micros; }
  [[nodiscard]] Time wall() const { return Time{wall_}; }
  [[nodiscard]] DayClock::Sources sources(bool looks = false) {
    return {.wall = [this] { return Time{wall_}; }, .steady = [this] { return Duration{steady_}; }, .looks = looks};
  }

 private:
  std::atomic<std::int64_t> wall_ = first.micros, steady_ = 77'000'000;
};

class Clocks : public ::testing::Test {
 protected:
  Clocks() {
    (void)clock->on_step([this](const ClockStep& s) { steps.push_back(s); });
  }
  /// So many seconds, one by one, as the thread of a clock would look.
  void live(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      machine.pass(Duration::seconds(1));
      const Time now = clock->now();
      EXPECT_GE(now, last) << "time went back";
      if (last.is_set()) {
        EXPECT_GE((now - last).micros, 900'000);
        EXPECT_LE((now - last).micros, 1'100'000);
      }
      last = now;
      clock->look();
    }
  }

  Machine machine;
  std::shared_ptr<DayClock> clock = std::make_shared<DayClock>(machine.sources());
  std::vector<ClockStep> steps;
  Time last;
};

// ---- one clock ------------------------------------------------------------------------------------------------------------------------

TEST_F(Clocks, BeforeItIsHeldItSaysWhatTheMachineSays) {
  EXPECT_EQ(clock->now(), first);
  machine.set_wall(first + day);
  EXPECT_EQ(clock->now(), first + day);
  machine.set_wall(first - day);
  EXPECT_EQ(clock->now(), first - day);
  EXPECT_TRUE(steps.empty());
}

TEST_F(Clocks, WhatNtpAndLeapSecondsDoIsFollowedAndNotTold) {
  clock->hold();
  live(10);
  for (const auto off : {Duration::millis(80), Duration::millis(-40), Duration::seconds(1), Duration::seconds(-1), Duration::seconds(4)}) {
    machine.set_wall(machine.wall() + off);
    live(50);
    EXPECT_EQ(clock->now(), machine.wall());
  }
  EXPECT_TRUE(steps.empty());
}

TEST_F(Clocks, ADayForwardAndBackAgainIsToldTwiceAndCostsATenthOfTheTimeBetween) {
  clock->hold();
  live(10);
  machine.set_wall(machine.wall() + day);
  live(100);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_FALSE(steps[0].over);
  EXPECT_EQ(steps[0].source, "the clock of this machine");
  EXPECT_NEAR(static_cast<double>((steps[0].to - steps[0].from).micros), static_cast<double>(day.micros), 2e6);
  EXPECT_NEAR(static_cast<double>((clock->now() - first).micros), 120e6, 1e6);  // 110 s have passed
  EXPECT_EQ(clock->standing().steps, 1U);
  machine.set_wall(machine.wall() - day);
  live(120);
  ASSERT_GE(steps.size(), 2U);
  EXPECT_TRUE(steps.back().over);
  EXPECT_LE(steps.size(), 3U) << "it was a tenth of the time ahead when the clock came back";
  EXPECT_EQ(clock->now(), machine.wall());
}

TEST_F(Clocks, ADayBackwardFreezesNothing) {
  clock->hold();
  live(10);
  machine.set_wall(machine.wall() - day);
  live(100);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_LT(steps[0].to, steps[0].from);
  EXPECT_NEAR(static_cast<double>((clock->now() - first).micros), 100e6, 1e6);
}

TEST_F(Clocks, AClockThatGoesToAndFroIsToldOfOnceAMinute) {
  clock->hold();
  for (int i = 0; i < 300; ++i) {
    machine.set_wall(machine.wall() + (i % 2 == 0 ? day : Duration{-day.micros}));
    live(1);
  }
  EXPECT_LE(steps.size(), 6U);
  EXPECT_GE(steps.size(), 2U);
}

// ---- a second opinion -------------------------------------------------------------------------------------------------------------------

TEST_F(Clocks, TheApiServerIsBelievedWhereTheMachineIsADayOff) {
  for (const auto off : {day, Duration{-day.micros}}) {
    auto fresh = std::make_shared<DayClock>(machine.sources());
    machine.set_wall(first + off);
    fresh->hear(first);
    EXPECT_EQ(fresh->now(), first);
    fresh->hold();
    EXPECT_EQ(fresh->now(), first);
    EXPECT_EQ(fresh->standing().machine, off);
    machine.set_wall(first);
  }
}

TEST_F(Clocks, WithinSomeSecondsTheMachineIsBelieved) {
  machine.set_wall(first + Duration::seconds(3));
  clock->hear(first);
  EXPECT_EQ(clock->now(), first + Duration::seconds(3));
}

TEST_F(Clocks, AMachineThatIsSetWhileTheApiServerIsNotMovesNothing) {
  clock->hear(first);
  clock->hold();
  machine.set_wall(first + day);
  for (int i = 0; i < 200; ++i) {
    live(1);
    clock->hear(Time::from_seconds(first.floor_seconds() + i + 1));
  }
  EXPECT_NEAR(static_cast<double>((clock->now() - first).micros), 200e6, 2e6);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].source, "the clock of this machine");
}

TEST_F(Clocks, AnApiServerThatIsSetIsToldOfAndMovesNothingAsLongAsItsOpinionIsNew) {
  clock->hear(first);
  clock->hold();
  live(10);
  for (int i = 0; i < 200; ++i) {
    live(1);
    clock->hear(machine.wall() + day);
  }
  EXPECT_LE(clock->now() - first, Duration::seconds(235));  // 210 s, and a tenth
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps[0].source, "the clock of the API server");
}

TEST_F(Clocks, AnswersThatWereLateCountLessThanThoseThatWereQuick) {
  clock->hear(first);
  machine.pass(Duration::seconds(40));
  clock->hear(first + Duration::seconds(8));  // 32 s on its way
  EXPECT_EQ(clock->now(), machine.wall()) << "it is no reason to doubt the machine";
}

TEST_F(Clocks, OneOfSeveralApiServersThatIsADayOffDecidesNothing) {
  for (const auto off : {day, Duration{-day.micros}}) {
    // The machine is right, and so are two of the three servers that answer by turns.
    auto fresh = std::make_shared<DayClock>(machine.sources());
    std::vector<ClockStep> told;
    (void)fresh->on_step([&](const ClockStep& s) { told.push_back(s); });
    fresh->hear(machine.wall() + off);
    for (int i = 0; i < 2; ++i) {
      machine.pass(Duration::seconds(10));
      fresh->hear(machine.wall());
      EXPECT_EQ(fresh->now(), machine.wall());
    }
    fresh->hold();
    for (int i = 0; i < 300; ++i) {
      machine.pass(Duration::seconds(1));
      if (i % 10 == 0) fresh->hear(i % 30 == 10 ? machine.wall() + off : machine.wall());
      EXPECT_EQ(fresh->now(), machine.wall());
      fresh->look();
    }
    EXPECT_TRUE(told.empty());
    // The machine is wrong: the middle one of the servers counts.
    auto wrong = std::make_shared<DayClock>(machine.sources());
    const Time right = machine.wall();
    machine.set_wall(right - Duration{2 * day.micros});
    for (int i = 0; i < 3; ++i) {
      wrong->hear(right + Duration::seconds(10 * i) + (i == 0 ? off : Duration{}));
      machine.pass(Duration::seconds(10));
    }
    EXPECT_EQ(wrong->now(), right + Duration::seconds(30));
    machine.set_wall(right + Duration::seconds(30));
  }
}

TEST_F(Clocks, AnOpinionThatIsOldCountsNoMore) {
  clock->hear(first + day);
  EXPECT_EQ(clock->now(), first + day);
  machine.pass(DayClock::opinion_life);
  machine.pass(Duration::seconds(1));
  EXPECT_EQ(clock->now(), machine.wall());
}

// ---- a log that is ahead, or whose readers do not know what day it is
// ---------------------------------------------------------------------

TEST_F(Clocks, ALogThatIsADayAheadGoesOnFromThere) {
  LogClock log(clock, false);
  log.begin(first + day);
  EXPECT_EQ(log.now(), first + day);
  machine.pass(Duration::seconds(100));
  EXPECT_EQ(log.now(), first + day + Duration::seconds(90));
  EXPECT_EQ(log.ahead(), Duration{day.micros - 10'000'000});
  machine.pass(Duration{9 * day.micros});
  machine.pass(day);
  machine.pass(Duration::seconds(1));
  EXPECT_EQ(log.now(), clock->now()) << "ten days later it has caught up";
  EXPECT_EQ(log.ahead(), Duration{});
}

TEST_F(Clocks, ALogThatIsBehindBeginsWhereTheClockIs) {
  LogClock log(clock, false);
  log.begin(first - day);
  EXPECT_EQ(log.now(), first);
  LogClock empty(clock, true);
  empty.begin(Time::never());
  EXPECT_EQ(empty.now(), first);
}

TEST_F(Clocks, WhoReadsALaterTimeIsNeverBeforeIt) {
  LogClock log(clock, false);
  log.begin(first);
  log.reached(first + day, true);
  EXPECT_EQ(log.now(), first + day);
  machine.pass(Duration::seconds(10));
  EXPECT_EQ(log.now(), first + day + Duration::seconds(9));
}

TEST_F(Clocks, WithoutASecondOpinionItCountsOnFromTheLogUntilOthersSayWhatDayItIs) {
  for (const auto off : {day, Duration{-day.micros}}) {
    LogClock log(clock, true);
    const Time end = clock->now() - off;  // of the log, which the machine's clock is far from
    log.begin(end);
    EXPECT_EQ(log.now(), end);
    machine.pass(Duration::seconds(10));
    EXPECT_EQ(log.now(), end + Duration::seconds(10));
    log.begin(end);  // again, after an append that failed
    EXPECT_EQ(log.now(), end + Duration::seconds(10));
    // A connector writes: that is what time it is.
    const Time told = off.micros > 0 ? clock->now() - Duration::seconds(1) : end + Duration::seconds(20);
    log.reached(told, true);
    EXPECT_GE(log.now(), told);
    EXPECT_LE(log.now(), told + Duration::seconds(1));
  }
}

// ---- a node -----------------------------------------------------------------------------------------------------------------------------

/// In the time of a machine whose clock of the day is set while the steady one goes on by itself.
class NodeInTime : public NodeFixture {
 protected:
  NodeInTime() {
    turn_on();
    options.settings_reader = [](Text) -> Result<admission::Settings> {
      admission::Settings out;
      out.reactivation_batch = Duration::millis(200);
      return out;
    };
  }
  /// As after a start of the process: whatever its clock has reckoned is forgotten.
  void turn_on() {
    options.clock = std::make_shared<DayClock>(DayClock::Sources{
        .wall = [this] { return first + Duration{steady().micros - began_.micros + offset}; }, .steady = &steady, .looks = true});
  }
  static Duration steady() {
    using namespace std::chrono;
    return Duration{duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count()};
  }
  /// A change of the queue asks for another look at who waits, which a timer gives: whoever fits then is admitted.
  void expect_that_timers_fire() {
    const auto fired = count_observations<TimerFired>();
    observe(facts.queue("cq", cpu_ += 1'000));
    for (int i = 0; i < 60'000 && count_observations<TimerFired>() == fired; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_GT(count_observations<TimerFired>(), fired) << "the timer is frozen";
    rest();
  }
  void expect_even_times() {
    Time last;
    for (const auto& r : records()) {
      const Time t = r->view().envelope.time;
      if (last.is_set()) {
        EXPECT_GE(t, last);
        EXPECT_LT(t - last, Duration::seconds(3600));
      }
      last = t;
    }
  }
  [[nodiscard]] Time last_time() const { return records().back()->view().envelope.time; }

  std::atomic<std::int64_t> offset = 0;
  const Duration began_ = steady();
  Amount cpu_ = 1'000;
};

TEST_F(NodeInTime, TimersFireWhileTheClockGoesADayForwardAndBack) {
  start();
  set_up_queue(cpu_);
  observe(facts.workload("w0", "lq", 1'000'000));
  rest();
  expect_that_timers_fire();
  for (const auto to : {day.micros, std::int64_t{0}, -day.micros}) {
    offset = to;
    expect_that_timers_fire();
  }
  for (int i = 0; i < 10'000 && count_observations<ClockStepped>() == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GE(count_observations<ClockStepped>(), 1U) << "the log does not say so";
  // A clock may be told of at any moment, so what stands in the log is compared with what was folded up to there.
  std::uint64_t hash = 0, sequence = 0;
  ASSERT_TRUE(node->inspect([&](const admission::StateView& view) {
    hash = view.state_hash();
    sequence = view.domain().sequence();
  }));
  admission::LoopDriver loop(options.settings_reader);
  for (const auto& r : records())
    if (r->view().envelope.sequence <= sequence) {
      ASSERT_TRUE(loop.apply(r->view()));
    }
  EXPECT_EQ(hash, loop.state_hash());
  expect_even_times();
  ASSERT_TRUE(node->stop());
}

TEST_F(NodeInTime, AStartWithAClockThatIsADayBehindTheLogFreezesNothingAndSaysSo) {
  offset = day.micros;
  start();
  set_up_queue(cpu_);
  observe(facts.workload("w0", "lq", 1'000'000));
  rest();
  ASSERT_TRUE(node->stop());
  const Time before = last_time();
  ASSERT_GE(before, first + day);

  offset = 0;
  turn_on();
  start();
  rest();
  expect_that_timers_fire();
  EXPECT_GE(count_observations<ClockStepped>(), 1U);
  EXPECT_GT(node->status().ahead, Duration{day.micros - 600'000'000});
  {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(std::ranges::any_of(notices, [](const auto& n) { return n.find("ahead of the clock") != std::string::npos; }));
  }
  expect_even_times();
  ASSERT_TRUE(node->stop());
}

}  // namespace
}  // namespace hindsight::actors::testing
