// Issue 20: ten people who look at a live cluster. Those of the page's threads that work leave a core to those that decide: only so many
// work at the same time, each gets its turn, and whoever gives up waiting is in nobody's way.

#include "page/server/quiet_turns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "page/server/past_states.hpp"
#include "tests/replay/worlds.hpp"

namespace hindsight::page {
namespace {

using std::chrono::milliseconds;

bool happens(const std::function<bool()>& what) {
  for (int i = 0; i < 2000 && !what(); ++i) std::this_thread::sleep_for(milliseconds(5));
  return what();
}

TEST(QuietTurnsTest, NoMoreThanSoManyWorkAtATime) {
  for (const int allowed : {1, 2}) {
    const auto turns = std::make_shared<QuietTurns>(static_cast<unsigned>(allowed));
    std::atomic<int> working{0}, most{0}, done{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; ++i)
      threads.emplace_back([&] {
        QuietTurns::Turn turn(turns);
        for (int k = 0; k < 20; ++k) {
          ASSERT_TRUE(turn.take());
          const int now = ++working;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {}
          std::this_thread::sleep_for(milliseconds(1));
          --working;
          turn.give();
          ++done;
        }
      });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(most, allowed);
    EXPECT_EQ(done, 120);
  }
}

TEST(QuietTurnsTest, WhoHasHadItForAWhileGoesBehindThoseWhoWait) {
  const auto turns = std::make_shared<QuietTurns>(1);
  std::atomic<bool> other_had_it{false}, other_waits{false};
  QuietTurns::Turn mine(turns);
  ASSERT_TRUE(mine.take());
  std::thread other([&] {
    QuietTurns::Turn turn(turns);
    EXPECT_TRUE(turn.take([&] {
      other_waits = true;
      return false;
    }));
    other_had_it = true;
  });
  EXPECT_TRUE(happens([&] { return other_waits.load(); }));
  EXPECT_FALSE(other_had_it);
  EXPECT_TRUE(happens([&] {
    mine.pass_on();
    return other_had_it.load();
  }));
  other.join();
}

TEST(QuietTurnsTest, WhoGivesUpIsInNobodysWay) {
  const auto turns = std::make_shared<QuietTurns>(1);
  QuietTurns::Turn mine(turns), without(nullptr);
  ASSERT_TRUE(mine.take());
  EXPECT_TRUE(without.take()) << "without turns it is everybody's turn";
  QuietTurns::Turn impatient(turns);
  int asked = 0;
  EXPECT_FALSE(impatient.take([&] { return ++asked > 2; }));
  std::atomic<bool> had_it{false};
  std::thread patient([&] {
    QuietTurns::Turn turn(turns);
    had_it = turn.take();
  });
  mine.give();
  patient.join();
  EXPECT_TRUE(had_it);
  EXPECT_TRUE(impatient.take());
}

TEST(QuietTurnsTest, OneCoreIsLeft) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  EXPECT_GE(QuietTurns::all_cores_but_one(), 1U);
  EXPECT_LE(QuietTurns::all_cores_but_one(), std::max(1U, cores - 1));
}

// Those who look wait for a state and for a turn: neither keeps the other, and everybody sees what he asked for.
TEST(QuietTurnsTest, StatesAreLookedAtInTurns) {
  const auto log = std::make_shared<events::MemoryLog>();
  hindsight::testing::LogWorld w{*log};
  hindsight::testing::two_teams(w, true);
  for (const std::size_t states_max : {1U, 4U}) {
    PastStates states({.states_max = states_max, .release = "test", .turns = std::make_shared<QuietTurns>(1)});
    const auto source = states.source(log, "default");
    std::atomic<int> inside{0}, together{0}, wrong{0};
    std::vector<std::thread> people;
    for (unsigned person = 0; person < 6; ++person)
      people.emplace_back([&, person] {
        for (unsigned i = 0; i < 30; ++i) {
          const replay::Position at = (person * 7 + i * 5) % (w.position() + 1);
          const auto seen = states.look(
              source, at, [] { return false; },
              [&](const events::Log&, const replay::Past& past) -> Result<Json> {
                if (++inside > 1) ++together;
                std::this_thread::yield();
                --inside;
                return Json(past.driver().state_hash());
              });
          if (!seen || seen->get<std::uint64_t>() != w.hashes()[at]) ++wrong;
        }
      });
    for (auto& person : people) person.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(together, 0) << "one turn at a time";
    EXPECT_EQ(states.statistics().looks, 180U);
  }
}

}  // namespace
}  // namespace hindsight::page
