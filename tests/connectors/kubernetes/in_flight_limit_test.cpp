// Issue 16: the number of writes in flight follows what the server shows. Played in virtual time against models of servers.

#include "connectors/kubernetes/http/in_flight_limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <random>
#include <vector>

namespace hindsight::connectors::kubernetes {
namespace {

using Clock = InFlightLimit::Clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// So many cores that each work on one request at a time, in the order in which they came, and a way there and back that takes no core.
struct Server {
  std::size_t cores = 2;
  Clock::duration work = milliseconds(6), way = milliseconds(1);
};

/// We write as fast as the limit allows, others keep so many requests under way, and one more client asks once in a while.
class Play {
 public:
  Play(Server server, InFlightLimit::Options options) : server_(server), limit_(options) {}

  /// For so long. `at`: 429 to requests of ours beyond so many; 0: never.
  void go(Clock::duration time, std::size_t others = 0, std::size_t refused_beyond = 0) {
    const auto end = now_ + time;
    others_ = others;
    answers_ = 0;
    lookers_.clear();
    for (; others_under_way_ < others_; ++others_under_way_) arrive(Who::other);
    while (now_ < end) {
      while (wants_ && ours_ < limit_.now()) {
        ++ours_;
        limit_.sent(ours_, true);
        if (refused_beyond != 0 && ours_ > refused_beyond)
          events_.push({now_ + server_.way, ++number_, Who::refused, now_});
        else
          arrive(Who::we);
      }
      if (now_ >= next_look_) {
        arrive(Who::looker);
        next_look_ = now_ + milliseconds(97);
      }
      step(std::min(end, next_look_));
    }
    seconds_ = std::chrono::duration<double>(time).count();
  }
  [[nodiscard]] double answers_a_second() const { return static_cast<double>(answers_) / seconds_; }
  /// What the other client's requests took, in the middle.
  [[nodiscard]] double looked_ms() {
    std::nth_element(lookers_.begin(), lookers_.begin() + static_cast<std::ptrdiff_t>(lookers_.size() / 2), lookers_.end());
    return std::chrono::duration<double, std::milli>(lookers_[lookers_.size() / 2]).count();
  }
  [[nodiscard]] std::size_t limit() const { return limit_.now(); }
  [[nodiscard]] std::optional<std::size_t> found() const { return limit_.found(); }
  void want_nothing() { wants_ = false; }

 private:
  enum class Who : std::uint8_t { we, other, looker, refused };
  struct Event {
    Clock::time_point at;
    std::uint64_t number;
    Who who;
    Clock::time_point sent;
    friend bool operator>(const Event& a, const Event& b) { return std::pair(a.at, a.number) > std::pair(b.at, b.number); }
  };

  /// Cores serve in order of arrival, so that the end of each is known at once.
  void arrive(Who who) {
    if (free_.empty()) free_.assign(server_.cores, now_);
    const auto core = std::min_element(free_.begin(), free_.end());
    std::uniform_real_distribution<double> factor(0.7, 1.3);
    const auto work = std::chrono::duration_cast<Clock::duration>(server_.work * factor(random_));
    *core = std::max(*core, now_) + work;
    events_.push({*core + server_.way, ++number_, who, now_});
  }
  void step(Clock::time_point until) {
    if (events_.empty() || events_.top().at > until) {
      now_ = until;
      return;
    }
    const auto e = events_.top();
    events_.pop();
    now_ = e.at;
    switch (e.who) {
      case Who::we:
        --ours_;
        ++answers_;
        limit_.answered(e.sent, now_);
        break;
      case Who::refused:
        --ours_;
        limit_.refused(e.sent, now_);
        break;
      case Who::looker:
        lookers_.push_back(now_ - e.sent);
        break;
      case Who::other:
        if (others_under_way_ <= others_)
          arrive(Who::other);
        else
          --others_under_way_;
    }
  }

  Server server_;
  InFlightLimit limit_;
  Clock::time_point now_ = Clock::time_point(seconds(1000)), next_look_ = now_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Clock::time_point> free_;
  std::mt19937 random_{3};
  std::uint64_t number_ = 0, answers_ = 0;
  std::size_t ours_ = 0, others_ = 0, others_under_way_ = 0;
  bool wants_ = true;
  double seconds_ = 0;
  std::vector<Clock::duration> lookers_;
};

TEST(InFlightLimit, AServerThatWorksAllItCanIsGivenNoMoreThanThat) {
  const Server server{};
  Play alone(server, {.most = 64}), as_many_as_may_be(server, {.most = 64, .fixed = true}), idle(server, {.most = 64});
  idle.want_nothing();
  for (auto* play : {&alone, &as_many_as_may_be, &idle}) play->go(seconds(20));
  EXPECT_GE(alone.limit(), 2U);
  EXPECT_LE(alone.limit(), 8U);
  ASSERT_TRUE(alone.found().has_value()) << "what decisions are paced by (D15)";
  EXPECT_GE(*alone.found(), 2U);
  EXPECT_LE(*alone.found(), 8U);
  EXPECT_FALSE(as_many_as_may_be.found().has_value()) << "nothing was looked for";
  EXPECT_FALSE(idle.found().has_value());
  EXPECT_GT(alone.answers_a_second(), 0.95 * as_many_as_may_be.answers_a_second()) << "as fast";
  EXPECT_LT(alone.looked_ms(), 2.3 * idle.looked_ms()) << "and nobody else waits long";
  EXPECT_GT(as_many_as_may_be.looked_ms(), 10 * idle.looked_ms()) << "the test has a server that can be too busy";
}

TEST(InFlightLimit, AServerThatIsFarAwayIsGivenAsManyAsMayBe) {
  Play play({.cores = 1000, .work = milliseconds(1), .way = milliseconds(20)}, {.most = 64});
  play.go(seconds(2));
  play.go(seconds(5));
  EXPECT_EQ(play.limit(), 64U);
  EXPECT_FALSE(play.found().has_value()) << "it never had too many";
  EXPECT_GT(play.answers_a_second(), 0.9 * 64 / 0.021);
}

// D15: while two are given to measure, what was found before holds.
TEST(InFlightLimit, WhatWasFoundIsNotWhatIsGivenToMeasure) {
  Play play({.cores = 8}, {.most = 64});
  play.go(seconds(9));
  ASSERT_TRUE(play.found().has_value());
  const std::size_t before = *play.found();
  ASSERT_GT(before, 4U);
  bool measured = false;
  for (int i = 0; i < 2000; ++i) {
    play.go(milliseconds(2));
    if (play.limit() != InFlightLimit::least) continue;
    measured = true;
    EXPECT_GE(*play.found(), before / 2);
  }
  EXPECT_TRUE(measured);
}

/// Two measurements: two of ours among 32 of others; then as many that each takes twice as long.
TEST(InFlightLimit, OthersAreNeitherPushedAsideNorLeftEverything) {
  Play play({}, {.most = 64});
  play.go(seconds(20));
  const auto before = play.answers_a_second();
  play.go(seconds(60), 32);
  play.go(seconds(30), 32);
  EXPECT_GT(play.answers_a_second(), 0.25 * before);
  EXPECT_LT(play.answers_a_second(), 0.67 * before);
  play.go(seconds(30));
  play.go(seconds(20));
  EXPECT_GT(play.answers_a_second(), 0.95 * before) << "they are gone";
  EXPECT_LE(play.limit(), 8U);
}

TEST(InFlightLimit, WhereTheServerRefusesItIsHalvedDownToOne) {
  Play play({.cores = 1000, .work = milliseconds(1), .way = milliseconds(20)}, {.most = 64});
  play.go(seconds(5));
  ASSERT_EQ(play.limit(), 64U);
  play.go(seconds(5), 0, 10);
  EXPECT_LE(play.limit(), 12U);
  EXPECT_GE(play.limit(), 4U);
  InFlightLimit limit({.most = 64});
  auto now = Clock::time_point(seconds(1));
  limit.refused(now, now);
  EXPECT_EQ(limit.now(), 1U);
  limit.refused(now + seconds(1), now + seconds(2));
  EXPECT_EQ(limit.now(), 1U) << "one always goes";
}

TEST(InFlightLimit, OfOneBurstThatWasTooMuchOneRefusalCounts) {
  Play play({.cores = 1000, .work = milliseconds(1), .way = milliseconds(20)}, {.most = 64});
  play.go(seconds(5));
  InFlightLimit limit({.most = 64});
  const auto begin = Clock::time_point(seconds(1));
  for (auto now = begin; limit.now() < 32; now += milliseconds(10))
    for (std::size_t i = 0; i < limit.now(); ++i) {
      limit.sent(i + 1, true);
      if (i + 1 == limit.now())
        for (std::size_t n = 0; n <= i; ++n) limit.answered(now, now + milliseconds(5));
    }
  const auto before = limit.now();
  const auto sent = begin + seconds(100);
  for (int i = 0; i < 20; ++i) limit.refused(sent, sent + milliseconds(i + 1));
  EXPECT_EQ(limit.now(), before / 2);
}

TEST(InFlightLimit, WhoAsksForLittleHasTheLimitThatWasFound) {
  InFlightLimit limit({.most = 64});
  auto now = Clock::time_point(seconds(1));
  for (int i = 0; i < 1000; ++i, now += milliseconds(50)) {
    limit.sent(1, false);
    limit.answered(now, now + milliseconds(6));
  }
  EXPECT_EQ(limit.now(), InFlightLimit::least);
  EXPECT_EQ(limit.unhurried(), milliseconds(6));
}

TEST(InFlightLimit, ItIsNeverBeyondWhatIsAllowed) {
  for (const std::size_t most : {1U, 2U, 3U, 7U}) {
    Play play({.cores = 1000, .work = milliseconds(1), .way = milliseconds(20)}, {.most = most});
    for (int i = 0; i < 50; ++i) {
      play.go(milliseconds(200));
      EXPECT_LE(play.limit(), most);
      EXPECT_GE(play.limit(), 1U);
    }
    EXPECT_GE(play.limit(), std::min<std::size_t>(most, 2));
  }
  EXPECT_EQ(InFlightLimit({.most = 5, .fixed = true}).now(), 5U);
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
