// What lives on a thread of its own is made, used and freed there.

#include "page/server/home_thread.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace hindsight::page {
namespace {

const std::function<void()> nothing = [] {};

TEST(HomeThread, DoesAllInOrderOnOneThread) {
  std::thread::id began;
  HomeThread home([&] { began = std::this_thread::get_id(); });
  std::vector<int> done;
  bool elsewhere = false;
  for (int i = 0; i < 100; ++i) {
    const auto work = [&, i] {
      done.push_back(i);
      elsewhere = elsewhere || std::this_thread::get_id() != began;
    };
    if (i % 3 == 2)
      home.run(work);
    else
      home.post(work);
  }
  home.run(nothing);
  EXPECT_FALSE(elsewhere);
  EXPECT_NE(began, std::this_thread::get_id());
  ASSERT_EQ(done.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
}

TEST(HomeThread, ManyWaitEachForItsOwn) {
  HomeThread home(nothing);
  int sum = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i)
    callers.emplace_back([&] {
      for (int n = 0; n < 200; ++n) home.run([&] { ++sum; });
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(sum, 1600);
}

TEST(HomeThread, WhatIsThrownIsThrownToWhoWaits) {
  HomeThread home(nothing);
  EXPECT_THROW(home.run([] { throw std::runtime_error("a bug"); }), std::runtime_error);
  bool goes_on = false;
  home.run([&] { goes_on = true; });
  EXPECT_TRUE(goes_on);
}

/// Also what is still waiting when it ends.
TEST(HomeThread, WhatWasPostedIsDoneAndDestroyedThere) {
  struct Seen {
    std::vector<std::thread::id> destroyed;
  } seen;
  struct Thing {
    explicit Thing(Seen& all) : all_(all) {}
    ~Thing() { all_.destroyed.push_back(std::this_thread::get_id()); }
    Seen& all_;
  };
  std::thread::id there;
  int done = 0;
  {
    HomeThread home([&] { there = std::this_thread::get_id(); });
    for (int i = 0; i < 10; ++i) home.post([&done, thing = std::make_shared<Thing>(seen)] { ++done; });
  }
  EXPECT_EQ(done, 10);
  EXPECT_EQ(seen.destroyed, std::vector<std::thread::id>(10, there));
}

}  // namespace
}  // namespace hindsight::page
