// The room that a log has, as it is seen by who must not wait for a disk.

#include "runtime/space_report.hpp"

#include <atomic>
#include <condition_variable>

#include <gtest/gtest.h>

#include "tests/cli/within_seconds.hpp"

namespace hindsight::runtime {
namespace {

using Seen = Result<std::optional<events::LogSpace>>;

class SpaceWatchTest : public ::testing::Test {
 protected:
  /// A disk that answers while it is not held.
  Seen look() {
    looks_.fetch_add(1);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !held_; });
    return std::optional(events::LogSpace{.used = used_, .limit = 1'000});
  }
  void hold(bool held, std::uint64_t used) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    used_ = used;
    changed_.notify_all();
  }
  [[nodiscard]] std::chrono::steady_clock::time_point now() const {
    return std::chrono::steady_clock::time_point(std::chrono::seconds(now_.load()));
  }

  std::atomic<int> looks_{0}, now_{1'000};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  std::uint64_t used_ = 100;
};

// operations/health.hpp: what a probe asks must not wait, and a disk may be as slow as it likes.
TEST_F(SpaceWatchTest, NobodyWaitsForADiskThatDoesNotAnswer) {
  SpaceWatch watch([this] { return look(); }, std::chrono::milliseconds(1), [this] { return now(); });
  ASSERT_TRUE(watch.latest());
  EXPECT_EQ(watch.latest()->used, 100U);
  hold(false, 200);
  EXPECT_TRUE(test::within_seconds(20, [&] { return watch.latest()->used == 200; }));
  hold(true, 1'000);
  const int before = looks_.load();
  EXPECT_TRUE(test::within_seconds(20, [&] { return looks_.load() > before; }));
  now_ += 9;
  EXPECT_TRUE(watch.condition()->ok);
  now_ += 1;
  const auto late = watch.condition();
  EXPECT_FALSE(late->ok);
  EXPECT_TRUE(late->detail.starts_with("no answer for 10 s; before that ")) << late->detail;
  hold(false, 300);
  EXPECT_TRUE(test::within_seconds(20, [&] { return watch.condition()->ok && watch.latest()->used == 300; }));
  hold(false, 1'000);
  EXPECT_TRUE(test::within_seconds(20, [&] { return !watch.condition()->ok; }));
  EXPECT_TRUE(watch.condition()->detail.starts_with("full: ")) << watch.condition()->detail;
}

TEST_F(SpaceWatchTest, ALogThatCannotSayHasNoCondition) {
  SpaceWatch watch([]() -> Seen { return std::optional<events::LogSpace>(); });
  EXPECT_FALSE(watch.latest());
  EXPECT_FALSE(watch.condition());
}

}  // namespace
}  // namespace hindsight::runtime
