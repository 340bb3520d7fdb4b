// When observations are written: at once, except those that no decision waits for.

#include "actors/appender.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "events/memory_log.hpp"

namespace hindsight::actors::testing {
namespace {

using std::chrono::milliseconds;

class AppenderTest : public ::testing::Test {
 protected:
  AppenderTest() {
    log.on_append([this](std::span<const events::EncodedRecord> records) {
      const std::lock_guard lock(mutex);
      appends.push_back(records.size());
      return events::AppendFault{};
    });
    options.domain = "default";
    options.patience = std::chrono::hours(1);
  }

  void open() {
    appender.emplace(log, clock, options);
    appender->open({}, 1, EpochStarted{}, {});
    wait_for(1);
  }
  /// Until the log has so many records.
  void wait_for(events::Position last) {
    while (*log.last() < last) std::this_thread::sleep_for(milliseconds(1));
  }
  Credit observe(const Observation& o) { return appender->observe({&o, 1}); }
  static PodObserved pod() {
    PodObserved out;
    out.meta.uid = "pod-1";
    return out;
  }
  std::vector<std::size_t> sizes() {
    const std::lock_guard lock(mutex);
    return appends;
  }

  VirtualClock clock{Time(1)};
  events::MemoryLog log;
  Appender::Options options;
  std::optional<Appender> appender;
  std::mutex mutex;
  std::vector<std::size_t> appends;
};

// Pods that run go with what is urgent, before it, in one append.
TEST_F(AppenderTest, PodsThatRunWaitForOthers) {
  open();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(observe(pod()), Credit::more);
  observe(TimerFired{});
  wait_for(102);
  EXPECT_EQ(sizes(), (std::vector<std::size_t>{1, 101}));
}

TEST_F(AppenderTest, TheyDoNotWaitForEver) {
  options.patience = milliseconds(1);
  open();
  observe(pod());
  wait_for(2);
}

// What somebody may wait for is written by itself.
TEST_F(AppenderTest, PodsAtTheirGatesAndThoseThatEndAreWrittenAtOnce) {
  open();
  events::Position last = 1;
  for (bool PodObserved::*what : {&PodObserved::gated, &PodObserved::topology_gated, &PodObserved::ended, &PodObserved::terminating}) {
    PodObserved o = pod();
    o.*what = true;
    observe(o);
    wait_for(++last);
  }
  EXPECT_EQ(sizes().size(), 5U);
}

// Whoever gives observations and has no credit left waits for what was taken.
TEST_F(AppenderTest, WhoeverIsPausedDoesNotWaitForPatience) {
  options.records_max = 10;
  open();
  Credit credit = Credit::more;
  for (int i = 0; i < 10; ++i) credit = observe(pod());
  EXPECT_EQ(credit, Credit::pause);  // the epoch is one of the eleven
  wait_for(11);
}

}  // namespace
}  // namespace hindsight::actors::testing
