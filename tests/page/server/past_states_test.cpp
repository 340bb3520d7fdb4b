// States of past moments for several people: each is the state that a fold gives, there are never more than may be, and whoever goes to and
// fro does not fold the log each time.

#include "page/server/past_states.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "replay/snapshots.hpp"
#include "tests/replay/worlds.hpp"

namespace hindsight::page {
namespace {

using hindsight::testing::LogWorld;
using hindsight::testing::two_teams;
using replay::Position;

const std::function<bool()> never = [] { return false; };
const std::function<bool()> at_once = [] { return true; };

class PastStatesTest : public ::testing::Test {
 protected:
  PastStatesTest() { two_teams(w, true); }

  /// The hash of the state at a position, as somebody sees it who looks.
  static Result<std::uint64_t> hash_at(PastStates& states, const std::shared_ptr<PastSource>& source, Position at) {
    const auto seen = states.look(source, at, never, [&](const events::Log&, const replay::Past& past) -> Result<Json> {
      EXPECT_EQ(past.position(), at);
      return Json(past.driver().state_hash());
    });
    if (!seen) return tl::unexpected(seen.error());
    return seen->get<std::uint64_t>();
  }

  static bool comes(const std::function<bool()>& what) {
    for (int i = 0; i < 2000 && !what(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return what();
  }

  std::shared_ptr<events::MemoryLog> log = std::make_shared<events::MemoryLog>();
  LogWorld w{*log};
};

TEST_F(PastStatesTest, EachIsTheStateThatWas) {
  for (const std::size_t most : {1U, 2U, 4U}) {
    PastStates states({.states_max = most, .release = "test"});
    const auto source = states.source(log, "default");
    for (Position p = 0; p <= w.position(); ++p) ASSERT_EQ(hash_at(states, source, p), w.hashes()[p]) << p << " of " << most;
    for (Position p = w.position() + 1; p-- > 0;) ASSERT_EQ(hash_at(states, source, p), w.hashes()[p]) << p << " of " << most;
    std::mt19937 random(7);
    std::uniform_int_distribution<Position> any(0, w.position());
    for (int i = 0; i < 200; ++i) {
      const Position p = any(random);
      ASSERT_EQ(hash_at(states, source, p), w.hashes()[p]) << p << " of " << most;
    }
    EXPECT_LE(states.statistics().states, most);
  }
}

// Issue 20: memory is bounded by bytes, whatever the number of states.
TEST_F(PastStatesTest, StatesAreBoundedByTheirBytes) {
  const std::size_t one = [&] {
    PastStates states({.states_max = 1, .release = "test"});
    EXPECT_TRUE(hash_at(states, states.source(log, "default"), w.position()));
    return states.statistics().bytes;
  }();
  ASSERT_GT(one, 0U);
  // Beside who decides all count; else the largest does not.
  PastStates all({.states_max = 4, .states_bytes_max = 100 * one, .release = "test"}),
      two({.states_max = 4, .states_bytes_max = 2 * one + one / 2, .release = "test", .quiet = true}),
      less_than_one({.states_max = 4, .states_bytes_max = one / 2, .release = "test"}),
      one_more({.states_max = 4, .states_bytes_max = one + one / 2, .release = "test"});
  for (auto* states : {&all, &two, &less_than_one, &one_more}) {
    const auto source = states->source(log, "default");
    std::mt19937 random(3);
    std::uniform_int_distribution<Position> any(0, w.position());
    for (int i = 0; i < 200; ++i) {
      const Position p = any(random);
      ASSERT_EQ(hash_at(*states, source, p), w.hashes()[p]) << p;
    }
  }
  EXPECT_LE(two.statistics().bytes, 2 * one + one / 2);
  EXPECT_LE(one_more.statistics().bytes, 2 * one + one / 2);
  EXPECT_LE(one_more.statistics().states, 3U);
  EXPECT_EQ(less_than_one.statistics().states, 1U) << "one is there always";
}

TEST_F(PastStatesTest, ManyPeopleSeeWhatEachAskedFor) {
  PastStates states({.states_max = 3, .release = "test"});
  const auto source = states.source(log, "default");
  std::atomic<int> wrong{0};
  std::vector<std::thread> people;
  for (unsigned person = 0; person < 6; ++person)
    people.emplace_back([&, person] {
      std::mt19937 random(person);
      std::uniform_int_distribution<Position> any(0, w.position());
      for (int i = 0; i < 100; ++i) {
        const Position p = any(random);
        const auto seen = hash_at(states, source, p);
        if (!seen || *seen != w.hashes()[p]) wrong.fetch_add(1);
      }
    });
  for (auto& person : people) person.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(states.statistics().states, 3U);
  EXPECT_EQ(states.statistics().looks, 600U);
}

// Issue 20: memory. An allocator with heaps by thread would keep a state for each thread that ever made one.
TEST_F(PastStatesTest, AStateIsMadeAndSeenOnAThreadOfItsOwn) {
  for (const std::size_t most : {1U, 3U}) {
    PastStates states({.states_max = most, .release = "test"});
    const auto source = states.source(log, "default");
    std::mutex mutex;
    std::set<std::thread::id> views, callers;
    const auto note = [&](std::set<std::thread::id>& where) {
      const std::lock_guard lock(mutex);
      where.insert(std::this_thread::get_id());
    };
    std::vector<std::thread> people;
    for (unsigned person = 0; person < 6; ++person)
      people.emplace_back([&, person] {
        note(callers);
        std::mt19937 random(person);
        std::uniform_int_distribution<Position> any(1, w.position());
        for (int i = 0; i < 20; ++i)
          (void)states.look(source, any(random), never, [&](const events::Log&, const replay::Past&) -> Result<Json> {
            note(views);
            return Json();
          });
      });
    for (auto& person : people) person.join();
    EXPECT_LE(views.size(), most);
    for (const auto& view : views) EXPECT_FALSE(callers.contains(view));
  }
}

TEST_F(PastStatesTest, NobodyElseHasItMeanwhile) {
  PastStates states({.states_max = 1, .release = "test"});
  const auto source = states.source(log, "default");
  std::atomic<bool> inside = false;
  std::atomic<int> together{0};
  std::vector<std::thread> people;
  for (int person = 0; person < 4; ++person)
    people.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        (void)states.look(source, 5, never, [&](const events::Log&, const replay::Past&) -> Result<Json> {
          if (inside.exchange(true)) together.fetch_add(1);
          std::this_thread::yield();
          inside = false;
          return Json();
        });
    });
  for (auto& person : people) person.join();
  EXPECT_EQ(together, 0);
}

TEST_F(PastStatesTest, AStepForwardIsOneRecord) {
  PastStates states({.states_max = 2, .release = "test"});
  const auto source = states.source(log, "default");
  ASSERT_TRUE(hash_at(states, source, 10));
  const auto before = states.statistics().folded;
  for (Position p = 11; p <= 20; ++p) ASSERT_TRUE(hash_at(states, source, p));
  EXPECT_EQ(states.statistics().folded, before + 10);
}

TEST_F(PastStatesTest, WhatTakesTooLongIsTried) {
  PastStates states({.states_max = 1, .release = "test"});
  const auto source = states.source(log, "default");
  const auto late = states.look(source, 5, at_once, [](const events::Log&, const replay::Past&) -> Result<Json> {
    ADD_FAILURE() << "it was over before it began";
    return Json();
  });
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::unavailable);
  EXPECT_NE(late.error().message.find("record 5"), std::string::npos) << late.error().message;
  EXPECT_TRUE(hash_at(states, source, 5));
}

TEST_F(PastStatesTest, WhoWaitsForAStateGivesUpInTime) {
  PastStates states({.states_max = 1, .release = "test"});
  const auto source = states.source(log, "default");
  std::atomic<bool> over = false, held = false;
  std::thread holder([&] {
    (void)states.look(source, 5, never, [&](const events::Log&, const replay::Past&) -> Result<Json> {
      held = true;
      while (!over) std::this_thread::yield();
      return Json();
    });
  });
  ASSERT_TRUE(comes([&] { return held.load(); }));
  int asked = 0;
  const auto refused = states.look(
      source, 3, [&] { return ++asked > 3; }, [](const events::Log&, const replay::Past&) -> Result<Json> { return Json(); });
  over = true;
  holder.join();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
}

TEST_F(PastStatesTest, AViewThatThrowsLeavesTheStateToOthers) {
  PastStates states({.states_max = 1, .release = "test"});
  const auto source = states.source(log, "default");
  EXPECT_THROW((void)states.look(source, 5, never,
                                 [](const events::Log&, const replay::Past&) -> Result<Json> { throw std::runtime_error("a bug"); }),
               std::runtime_error);
  EXPECT_EQ(hash_at(states, source, 5), w.hashes()[5]);
}

TEST_F(PastStatesTest, WhatCannotBeFoldedIsSaidAndHarmsNobody) {
  const Position bad = w.position() / 2;
  log->damage(bad);
  // Without a snapshot behind the damage.
  const auto snapshots = log->snapshots().value();
  for (const auto& one : snapshots) ASSERT_TRUE(log->drop_snapshot(one.position, one.domain));
  PastStates states({.states_max = 1, .release = "test"});
  const auto source = states.source(log, "default");
  const auto seen = hash_at(states, source, w.position());
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(hash_at(states, source, bad - 1), w.hashes()[bad - 1]);
  const auto beyond = hash_at(states, source, w.position() + 1);
  EXPECT_FALSE(beyond);
}

TEST_F(PastStatesTest, LetGoOfALog) {
  PastStates states({.states_max = 4, .release = "test"});
  auto source = states.source(log, "default");
  const std::weak_ptr<PastSource> seen = source;
  ASSERT_TRUE(hash_at(states, source, 5));
  ASSERT_TRUE(hash_at(states, source, w.position()));
  states.forget(source);
  source.reset();
  EXPECT_TRUE(comes([&] { return seen.expired(); }));
  EXPECT_TRUE(comes([&] { return states.statistics().states == 0; }));
}

TEST_F(PastStatesTest, TheNewestFollowsTheLog) {
  PastStates states({.states_max = 2, .release = "test"});
  const auto source = states.source(log, "default");
  ASSERT_TRUE(hash_at(states, source, w.position()));
  // Once its end has been seen, what comes is folded before anybody asks.
  ASSERT_TRUE(comes([&] { return source->is_present(w.position()) && !source->is_present(w.position() - 1); }));
  w.tick(Duration::seconds(1));
  w.wake();
  w.flush();
  ASSERT_TRUE(comes([&] { return source->is_present(w.position()) && !source->is_present(w.position() - 1); }));
  EXPECT_TRUE(comes([&] {
    const auto before = states.statistics().folded;
    EXPECT_EQ(hash_at(states, source, w.position()), w.hashes()[w.position()]);
    return states.statistics().folded == before;
  }));
}

// ---- steps back in a log of many records ------------------------------------------------------------------------------------------

class LongLog : public ::testing::Test {
 protected:
  LongLog() {
    w.set_up({{.name = "q", .quotas = {{.nominal = 4000}}}});
    w.submit({.name = "waits", .queue = "lq", .cpu = 9000});
    w.settle();
    while (w.position() < 3 * PastStates::window) w.tick(Duration::millis(1));
    w.flush();
  }
  std::shared_ptr<events::MemoryLog> log = std::make_shared<events::MemoryLog>();
  LogWorld w{*log};
};

TEST_F(LongLog, AStepBackCostsAWindowAndNotTheWayFromTheBeginning) {
  PastStates states({.states_max = 4, .release = "test"});
  const auto source = states.source(log, "default");
  const auto look = [&](Position p) {
    return states.look(source, p, never,
                       [](const events::Log&, const replay::Past& past) -> Result<Json> { return Json(past.driver().state_hash()); });
  };
  Position p = w.position() - 10;
  ASSERT_TRUE(look(p));
  for (int i = 0; i < 5; ++i) {
    // The next one behind is made meanwhile.
    for (int n = 0; n < 4000 && states.statistics().spares <= static_cast<std::uint64_t>(i); ++n)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const auto before = states.statistics().folded;
    const auto seen = look(--p);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->get<std::uint64_t>(), w.hashes()[p]);
    EXPECT_LE(states.statistics().folded - before, PastStates::window);
  }
}

// Issue 20: the state that he has left makes room for the next one behind him.
TEST_F(LongLog, AStepBackCostsAWindowWhereThereIsRoomForTwoStates) {
  const auto look = [&](PastStates& states, const std::shared_ptr<PastSource>& source, Position p) {
    return states.look(source, p, never,
                       [](const events::Log&, const replay::Past& past) -> Result<Json> { return Json(past.driver().state_hash()); });
  };
  PastStates one({.states_max = 1, .release = "test"});
  ASSERT_TRUE(look(one, one.source(log, "default"), w.position()));
  const auto bytes = one.statistics().bytes;
  PastStates states({.states_max = 4, .states_bytes_max = bytes + bytes / 2, .release = "test"});
  const auto source = states.source(log, "default");
  const auto comes = [](const std::function<bool()>& what) {
    for (int n = 0; n < 2000 && !what(); ++n) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return what();
  };
  ASSERT_TRUE(look(states, source, w.position() - 9));
  ASSERT_TRUE(comes([&] { return source->is_present(w.position()) && !source->is_present(w.position() - 1); })) << "it knows the present";
  for (Position p = w.position() - 10, last = p - 6; p > last; --p) {
    const auto made = states.statistics().spares, before = states.statistics().folded;
    const auto seen = look(states, source, p);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->get<std::uint64_t>(), w.hashes()[p]);
    if (p < last + 6) {
      EXPECT_LE(states.statistics().folded - before, PastStates::window) << p;
    }
    EXPECT_TRUE(comes([&] { return states.statistics().spares > made; })) << "the next one behind";
    EXPECT_LE(states.statistics().states, 2U);
  }
}

// Issue 20: a step of the slider; the memory holds one state of a large cluster only, so that none can stay a little behind.
TEST_F(LongLog, AStepBackCostsAWindowWhereThereIsRoomForOneStateOnly) {
  for (const PastStatesOptions& options : {PastStatesOptions{.states_max = 1, .release = "test"},
                                           PastStatesOptions{.states_max = 4, .states_bytes_max = 1, .release = "test"}}) {
    PastStates states(options);
    const auto source = states.source(log, "default");
    Position p = w.position() - 10;
    for (int i = 0; i < 6; ++i, --p) {
      const auto before = states.statistics().folded;
      const auto seen = states.look(
          source, p, never, [](const events::Log&, const replay::Past& past) -> Result<Json> { return Json(past.driver().state_hash()); });
      ASSERT_TRUE(seen);
      EXPECT_EQ(seen->get<std::uint64_t>(), w.hashes()[p]);
      if (i < 2) continue;
      EXPECT_LE(states.statistics().folded - before, PastStates::window) << i;
    }
    EXPECT_EQ(states.statistics().states, 1U);
  }
}

// Issue 20: after an upgrade the snapshots of a log may be of a version that nobody reads any more.
TEST_F(LongLog, ASnapshotThatIsOfNoUseIsReadOnce) {
  const Position there = 2 * PastStates::window + 7;
  auto other = replay::encode_state(w.driver().entities(), "default", there, "test");  // its bytes are of another position
  other.bytes = replay::encode_state(w.driver().entities(), "default", there + 1, "test").bytes;
  ASSERT_TRUE(log->put_snapshot(other.meta, other.bytes));
  w.tick(Duration::millis(1));
  while (w.position() < 5 * PastStates::window) w.tick(Duration::millis(1));
  w.flush();
  PastStates states({.states_max = 1, .release = "test"});
  const auto source = states.source(log, "default");
  const auto lists = [&] {
    const auto all = source->log().snapshots().value();
    return std::ranges::any_of(all, [&](const auto& one) { return one.position == there; });
  };
  ASSERT_TRUE(lists());
  const auto seen = states.look(source, w.position(), never, [](const events::Log&, const replay::Past& past) -> Result<Json> {
    EXPECT_EQ(past.notices().size(), 1U);
    return Json(past.driver().state_hash());
  });
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->get<std::uint64_t>(), w.hashes()[w.position()]);
  EXPECT_FALSE(lists());
}

// Issue 20: a log without snapshots. Who has folded a long way has left some, by which other moments are near.
TEST_F(LongLog, ALongWayIsGoneOnce) {
  while (w.position() < 24 * PastStates::window) w.tick(Duration::millis(1));
  w.flush();
  ASSERT_TRUE(log->snapshots()->empty());
  PastStates states({.states_max = 1, .release = "test"});
  const auto source = states.source(log, "default");
  const auto look = [&](Position p) {
    const auto before = states.statistics().folded;
    const auto seen = states.look(
        source, p, never, [](const events::Log&, const replay::Past& past) -> Result<Json> { return Json(past.driver().state_hash()); });
    EXPECT_TRUE(seen && seen->get<std::uint64_t>() == w.hashes()[p]) << p;
    return states.statistics().folded - before;
  };
  EXPECT_EQ(look(w.position()), w.position());
  for (const Position p : {w.position() - 1, w.position() / 2, w.position() / 4 * 3, w.position() / 5})
    EXPECT_LE(look(p), 8 * PastStates::window) << p;
  EXPECT_TRUE(log->snapshots()->empty()) << "they are this process's own";
}

TEST_F(LongLog, SnapshotsInMemoryAreBounded) {
  const auto memory = std::make_shared<SnapshotMemory>(1000);
  LogWithOwnSnapshots a(log, memory), b(log, memory);
  const std::vector<std::byte> bytes(300);
  const auto meta = [](Position at) {
    events::SnapshotMeta out;
    out.position = at;
    out.domain = "default";
    return out;
  };
  for (Position at : {10U, 20U, 30U}) ASSERT_TRUE(a.put_snapshot(meta(at), bytes));
  ASSERT_TRUE(b.put_snapshot(meta(40), bytes));
  EXPECT_LE(memory->bytes(), 1000U);
  EXPECT_FALSE(a.snapshot(10, "default"));  // it was not asked for longest
  EXPECT_TRUE(a.snapshot(20, "default"));
  EXPECT_FALSE(a.snapshot(40, "default")) << "that is another log's";
  EXPECT_EQ(a.snapshots()->front().position, 30U);
  ASSERT_TRUE(b.put_snapshot(meta(50), std::vector<std::byte>(2000)));  // larger than all may be
  EXPECT_FALSE(b.snapshot(50, "default"));
  EXPECT_TRUE(a.snapshot(20, "default"));
}

TEST_F(LongLog, ThroughItNothingIsWritten) {
  LogWithOwnSnapshots mine(log, std::make_shared<SnapshotMemory>(1000));
  const auto refused = mine.append({}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::denied);
  EXPECT_TRUE(log->snapshots()->empty());
  EXPECT_EQ(mine.last().value(), log->last().value());
}

}  // namespace
}  // namespace hindsight::page
