// Shows the order in which the loop runs things, and that it loses none on its way out.
#include "connectors/kubernetes/loop.hpp"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "connectors/kubernetes/backoff.hpp"
#include "tests/connectors/kubernetes/waiting.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

using std::chrono::milliseconds;
using testing::Watched;

TEST(Loop, RunsPostedTasksInTheirOrderOnItsThread) {
  Loop loop;
  std::vector<int> seen;
  for (int i = 0; i < 1000; ++i) {
    loop.post([&, i] {
      EXPECT_TRUE(loop.on_thread());
      seen.push_back(i);
    });
  }
  loop.run([] {});
  ASSERT_EQ(seen.size(), 1000U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
  EXPECT_FALSE(loop.on_thread());
}

TEST(Loop, TakesTasksFromManyThreads) {
  Loop loop;
  int count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) loop.post([&] { ++count; });
    });
  }
  for (std::thread& thread : threads) thread.join();
  loop.run([] {});
  EXPECT_EQ(count, 8000);
}

TEST(Loop, RunsAtOnceWhenAlreadyThere) {
  Loop loop;
  bool inner = false;
  loop.run([&] { loop.run([&] { inner = true; }); });
  EXPECT_TRUE(inner);
}

TEST(Loop, FiresTimersByTimeAndNotCancelledOnes) {
  Loop loop;
  Watched<std::string> seen;
  loop.run([&] {
    loop.after(milliseconds(30), [&] { seen.change([](std::string& s) { s += "c"; }); });
    loop.after(milliseconds(10), [&] { seen.change([](std::string& s) { s += "b"; }); });
    const auto cancelled = loop.after(milliseconds(5), [&] { seen.change([](std::string& s) { s += "x"; }); });
    loop.after(milliseconds(0), [&] { seen.change([](std::string& s) { s += "a"; }); });
    loop.cancel(cancelled);
    loop.cancel(0);
    loop.cancel(12345);
  });
  EXPECT_TRUE(seen.wait([](const std::string& s) { return s.size() == 3; }));
  EXPECT_EQ(seen.get(), "abc");
}

TEST(Loop, ATimerMayCancelAnotherThatIsDue) {
  Loop loop;
  Watched<std::string> seen;
  loop.run([&] {
    const auto second = std::make_shared<Loop::TimerId>(0);
    loop.after(milliseconds(1), [&seen, &loop, second] {
      seen.change([](std::string& s) { s += "1"; });
      loop.cancel(*second);
    });
    *second = loop.after(milliseconds(1), [&] { seen.change([](std::string& s) { s += "2"; }); });
    loop.after(milliseconds(10), [&] { seen.change([](std::string& s) { s += "3"; }); });
  });
  EXPECT_TRUE(seen.wait([](const std::string& s) { return s.ends_with("3"); }));
  EXPECT_EQ(seen.get(), "13");
}

TEST(Loop, TellsWhenADescriptorIsReady) {
  Loop loop;
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  Watched<std::string> seen;
  loop.run([&] {
    loop.watch(pipe[0], EPOLLIN, [&](std::uint32_t events) {
      EXPECT_NE(events & EPOLLIN, 0U);
      char c = 0;
      EXPECT_EQ(::read(pipe[0], &c, 1), 1);
      if (c == 'b') loop.unwatch(pipe[0]);
      seen.change([&](std::string& s) { s += c; });
    });
  });
  ASSERT_EQ(::write(pipe[1], "ab", 2), 2);
  EXPECT_TRUE(seen.wait([](const std::string& s) { return s == "ab"; }));
  ASSERT_EQ(::write(pipe[1], "c", 1), 1);
  loop.run([] {});
  EXPECT_EQ(seen.get(), "ab");
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(Loop, RunsWhatWasPostedBeforeItStops) {
  int count = 0;
  Loop loop;
  for (int i = 0; i < 100; ++i) loop.post([&] { loop.post([&] { ++count; }); });
  loop.stop();
  EXPECT_EQ(count, 100);
  loop.stop();
}

TEST(Loop, LeavesATaskToItsOwnerOnceItHasStopped) {
  Loop loop;
  loop.stop();
  bool ran = false;
  Loop::Task task = [&] { ran = true; };
  EXPECT_FALSE(loop.try_post(task));
  ASSERT_TRUE(task);
  task();
  EXPECT_TRUE(ran);
  bool ran_directly = false;
  loop.run([&] { ran_directly = true; });
  EXPECT_TRUE(ran_directly);
}

TEST(Backoff, DoublesUpToItsLongestAndSpreads) {
  const Backoff backoff{milliseconds(100), milliseconds(1000)};
  const Random middle = [] { return 0.5; };
  EXPECT_EQ(backoff.after(1, middle), milliseconds(100));
  EXPECT_EQ(backoff.after(2, middle), milliseconds(200));
  EXPECT_EQ(backoff.after(4, middle), milliseconds(800));
  EXPECT_EQ(backoff.after(5, middle), milliseconds(1000));
  EXPECT_EQ(backoff.after(4000, middle), milliseconds(1000));
  EXPECT_EQ(backoff.after(1, [] { return 0.0; }), milliseconds(50));
  EXPECT_EQ(backoff.after(1, [] { return 0.999; }), milliseconds(149));
  const Random random = system_random();
  for (int i = 0; i < 1000; ++i) {
    const double value = random();
    EXPECT_TRUE(value >= 0 && value < 1);
  }
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
