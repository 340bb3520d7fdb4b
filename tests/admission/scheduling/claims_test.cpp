// Who was passed over keeps the room of those that it would preempt in the next cycle (D14).

#include "admission/scheduling/claims.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/admission/scheduling/topology_world.hpp"

namespace hindsight::admission::testing {
namespace {

constexpr Duration second = Duration::seconds(1);
const Time begin = Time::from_seconds(100);

TEST(Claims, LastForTheirSpanAndThenRest) {
  Claims c;
  EXPECT_TRUE(c.may_claim("a", begin, second));
  c.note("a", Symbol("q"), begin);
  c.note("a", Symbol("q"), begin + Duration::millis(500));
  EXPECT_EQ(c.next_end(begin, second), begin + second) << "it began once";
  EXPECT_TRUE(c.may_claim("a", begin + Duration::millis(999), second));
  EXPECT_FALSE(c.may_claim("a", begin + second, second));
  c.news(begin + second, second);
  EXPECT_FALSE(c.may_claim("a", begin + second, second)) << "what was withheld has as much time";
  EXPECT_FALSE(c.may_claim("a", begin + Duration::seconds(60), second)) << "nothing has changed since";
  c.news(begin + Duration::seconds(60), second);
  EXPECT_TRUE(c.may_claim("a", begin + Duration::seconds(60), second));
  EXPECT_TRUE(c.all().empty());
}

TEST(Claims, OfOneThatIsServedOrGoneAreForgotten) {
  Claims c;
  c.note("a", Symbol("q"), begin);
  c.note("b", Symbol("q"), begin + second);
  EXPECT_EQ(c.next_end(begin + second, second), begin + second + second) << "that of a has ended";
  c.forget("a");
  c.forget("nobody");
  EXPECT_TRUE(c.may_claim("a", begin + second, second));
  EXPECT_TRUE(c.is_known("b"));
  EXPECT_FALSE(c.next_end(begin + second + second, second).is_set());
}

TEST(Claims, EndOnlyWithTheLatestMomentOfAll) {
  Claims c;
  c.note("a", Symbol("q"), begin);
  const Duration endless{std::numeric_limits<std::int64_t>::max()};
  EXPECT_TRUE(c.may_claim("a", Time::from_seconds(1'000'000'000), endless));
  c.news(Time::from_seconds(1'000'000'000), endless);
  EXPECT_TRUE(c.is_known("a"));
}

/// 30 cores: 20 are `large`'s, 10 `middle`'s, and `small` only borrows: 5 at present. A workload of 20 cores in `large` has room, with 25
/// free, until one of a higher priority takes 10 of them. Then 15 are left.
class PassedOver : public ::testing::Test {
 protected:
  PassedOver() {
    w.run(Work("old", "small").cpu(5).priority(-2).reserved(1));
    w.pend(Work("first", "middle").cpu(10).priority(100));
  }
  World w{{QueueSpec("large", "all").cpu("f", 20).reclaim(PreemptionPolicy::any), QueueSpec("middle", "all").cpu("f", 10),
           QueueSpec("small", "all").cpu("f", 0)}};
};

TEST_F(PassedOver, KeepsTheRoomOfOneThatItWouldPreempt) {
  w.pend(Work("claims", "large").cpu(20)).pend(Work("little", "small").cpu(3)).cycle();
  EXPECT_EQ(w.order(), "first claims little");
  EXPECT_EQ(w.verdict("first"), "admit f");
  EXPECT_EQ(w.of("claims").message, "Workload no longer fits after processing another workload");
  EXPECT_EQ(w.verdict("little"), "WaitingForQuota");
  EXPECT_EQ(w.of("little").message, "Workload no longer fits after processing another workload");
  EXPECT_EQ(w.of("little").requeue_reason, RequeueReason::failed_after_nomination);
  ASSERT_NE(w.of("little").claimant, nullptr);
  EXPECT_EQ(w.of("little").claimant->name, "claims");
}

TEST_F(PassedOver, IsNamedToWhoFollows) {
  w.pend(Work("claims", "large").cpu(20)).pend(Work("little", "small").cpu(3));
  DecisionTrace trace;
  trace.tree_begins(Symbol("all"), false);
  trace.round_begins(Symbol("all"));
  CycleContext context = w.context();
  context.trace = &trace;
  (void)decide_cycle(w.tree, w.heads, context);
  trace.round_ends();
  const auto& entries = trace.trees().front().rounds.front().entries;
  ASSERT_EQ(entries.size(), 3U) << "the cycles that were played are not followed";
  for (const TracedEntry& e : entries) EXPECT_EQ(e.withheld_for, e.workload == "default/little" ? "default/claims" : "") << e.workload;
}

TEST_F(PassedOver, WouldPreemptItIndeed) {
  for (const bool withholds : {false, true}) {
    const Work claims = Work("claims", "large").cpu(20);
    World v{{QueueSpec("large", "all").cpu("f", 20).reclaim(PreemptionPolicy::any), QueueSpec("middle", "all").cpu("f", 10),
             QueueSpec("small", "all").cpu("f", 0)}};
    v.run(Work("old", "small").cpu(5).priority(-2).reserved(1));
    v.settings.claim_duration = withholds ? second : Duration{};
    v.pend(Work("first", "middle").cpu(10).priority(100)).pend(claims).pend(Work("little", "small").cpu(3)).cycle();
    EXPECT_EQ(v.verdict("little"), withholds ? "WaitingForQuota" : "admit f");
    v.apply("first");
    if (!withholds) v.apply("little");
    v.pend(claims).cycle();
    EXPECT_EQ(v.victims("claims"), withholds ? "old(InCohortReclamation)" : "old(InCohortReclamation) little(InCohortReclamation)");
  }
}

/// The same with 36 cores, and two that have run before: 16 are left for `claims` behind the first one, and with both that go there are 26.
class WithOthersToGo : public PassedOver {
 protected:
  void offer(std::int64_t little) {
    w.members({QueueSpec("large", "all").cpu("f", 20).reclaim(PreemptionPolicy::any), QueueSpec("middle", "all").cpu("f", 10),
               QueueSpec("small", "all").cpu("f", 0), QueueSpec("more", "all").cpu("f", 6)});
    w.run(Work("old", "small").cpu(5).priority(-2).reserved(1));
    w.run(Work("other", "small").cpu(5).priority(-1).reserved(1));
    w.pend(Work("claims", "large").cpu(20)).pend(Work("little", "small").cpu(little)).cycle();
    EXPECT_EQ(w.verdict("claims"), "WaitingForQuota");
  }
};

TEST_F(WithOthersToGo, LeavesRoomThatItDoesNotNeed) {
  offer(1);
  EXPECT_EQ(w.verdict("little"), "admit f") << "the old one goes in any case, and is enough";
}

TEST_F(WithOthersToGo, KeepsRoomForWhichAnotherOneWouldHaveToGo) {
  offer(3);
  EXPECT_EQ(w.verdict("little"), "WaitingForQuota") << "beside it the old one is not enough, and the other one would go as well";
  ASSERT_NE(w.of("little").claimant, nullptr);
}

TEST_F(PassedOver, MayNotPreemptByItsPolicy) {
  w.members({QueueSpec("large", "all").cpu("f", 20), QueueSpec("middle", "all").cpu("f", 10), QueueSpec("small", "all").cpu("f", 0)});
  w.run(Work("old", "small").cpu(5).priority(-2).reserved(1));
  w.pend(Work("claims", "large").cpu(20)).pend(Work("little", "small").cpu(3)).cycle();
  EXPECT_EQ(w.of("claims").message, "Workload no longer fits after processing another workload");
  EXPECT_EQ(w.verdict("little"), "admit f");
}

TEST_F(PassedOver, HasNoClaimWhenThatHasEnded) {
  const Work claims = Work("claims", "large").cpu(20);
  w.claims.note(claims.info->uid, Symbol("small"), w.now - second);
  w.pend(claims).pend(Work("little", "small").cpu(3)).cycle();
  EXPECT_EQ(w.verdict("claims"), "WaitingForQuota");
  EXPECT_EQ(w.verdict("little"), "admit f");
}

TEST_F(PassedOver, GoesByKueuesWayWhereThatIsAskedFor) {
  w.settings.claim_duration = {};
  w.pend(Work("claims", "large").cpu(20)).pend(Work("little", "small").cpu(3)).cycle();
  EXPECT_EQ(w.verdict("little"), "admit f");
}

/// Two queues of 3 cores. The first has three workloads of one core pending, the second one has room beside the first of them for all that
/// it has.
class NextInItsQueue : public ::testing::Test {
 protected:
  void pend(std::int64_t others) {
    w.run(Work("old", "second").cpu(3 + others).reserved(1));
    const auto head = [&](std::string_view name, std::shared_ptr<const Head> next) {
      Work work = Work(name, "first").cpu(1).priority(5);
      w.pend(work);
      w.heads.back().next = std::move(next);
      return std::make_shared<Head>(std::exchange(w.heads.back(), {}));
    };
    const auto all = head("first", head("second", head("third", nullptr)));
    w.heads.clear();
    w.heads.push_back(*all);
    w.pend(Work("borrows", "second").cpu(1));
  }
  World w{{QueueSpec("first", "all").cpu("f", 3).reclaim(PreemptionPolicy::any), QueueSpec("second", "all").cpu("f", 3)}};
};

TEST_F(NextInItsQueue, HasAClaimToo) {
  pend(0);
  w.cycle();
  EXPECT_EQ(w.verdict("first"), "admit f");
  EXPECT_EQ(w.verdict("borrows"), "WaitingForQuota");
  ASSERT_NE(w.of("borrows").claimant, nullptr);
  EXPECT_EQ(w.of("borrows").claimant->name, "third") << "the second one still has room";
}

TEST_F(NextInItsQueue, HasNoneWhereItHasRoomAllTheSame) {
  pend(-1);
  w.cycle();
  EXPECT_EQ(w.verdict("borrows"), "admit f");
}

// The room of a topology is tried with what is admitted, too, and is the same again afterwards.
TEST(ClaimsOnATopology, AreThoseOfQuota) {
  for (const bool claims : {false, true}) {
    TopologyWorld w{{QueueSpec("large", "all").cpu("f", 20).reclaim(PreemptionPolicy::any), QueueSpec("middle", "all").cpu("f", 10),
                     QueueSpec("small", "all").cpu("f", 0)}};
    w.settings.claim_duration = claims ? second : Duration{};
    w.fleet("f", "b/r/x1:10 b/r/x2:10 b/r/x3:10");
    w.stand(gang("old", "small", 5).priority(-2).reserved(1), "x1:5");
    w.pend(gang("first", "middle", 10).priority(100)).pend(gang("claims", "large", 20)).pend(gang("little", "small", 3));
    w.cycle_with_room();
    EXPECT_EQ(w.verdict("first"), "admit f");
    EXPECT_EQ(w.verdict("claims"), "WaitingForQuota");
    EXPECT_EQ(w.verdict("little"), claims ? "WaitingForQuota" : "admit f");
    EXPECT_EQ(w.of("little").claimant != nullptr, claims);
  }
}

// What one cycle may cost: with a head each, so many queues are passed over and so many borrow.
TEST(Claims, OfManyQueuesAreFoundInABoundedTime) {
  std::vector<QueueSpec> queues{QueueSpec("large", "all").cpu("f", 2'000).reclaim(PreemptionPolicy::any),
                                QueueSpec("middle", "all").cpu("f", 1'000)};
  for (int i = 0; i < 1'000; ++i) queues.push_back(QueueSpec("small-" + std::to_string(i), "all").cpu("f", 0));
  World w(queues);
  w.run(Work("old", "small-0").cpu(500).priority(-2).reserved(1));
  w.pend(Work("first", "middle").cpu(1'000).priority(100)).pend(Work("claims", "large").cpu(2'000));
  for (int i = 0; i < 1'000; ++i) w.pend(Work("little-" + std::to_string(i), "small-" + std::to_string(i)).cpu(1));
  w.cycle();
  EXPECT_EQ(std::ranges::count_if(w.outcomes, [](const Outcome& o) { return o.claimant != nullptr; }), 1'000);
}

// Thousands of victims, none of them admitted in this cycle: whether they go because of it is asked once, and not for each.
TEST(Claims, OfOneThatPreemptsThousandsAreFoundInABoundedTime) {
  World w{{QueueSpec("large", "all").cpu("f", 6'000).reclaim(PreemptionPolicy::any), QueueSpec("middle", "all").cpu("f", 1'000),
           QueueSpec("small", "all").cpu("f", 0)}};
  for (int i = 0; i < 5'000; ++i) w.run(Work("old-" + std::to_string(i), "small").cpu(1).priority(-2).reserved(1));
  w.pend(Work("first", "middle").cpu(1'000).priority(100)).pend(Work("claims", "large").cpu(5'500)).pend(Work("little", "small").cpu(3));
  w.cycle();
  ASSERT_NE(w.of("little").claimant, nullptr) << "three more would go for it";
  EXPECT_EQ(w.of("little").claimant->name, "claims");
}

TEST(Claims, AreSoManyAtMost) {
  Claims c;
  for (std::size_t i = 0; i < Claims::claims_max; ++i) {
    ASSERT_TRUE(c.may_claim("w" + std::to_string(i), begin, second));
    c.note("w" + std::to_string(i), Symbol("q"), begin);
  }
  EXPECT_FALSE(c.may_claim("another", begin, second));
  EXPECT_TRUE(c.may_claim("w7", begin, second)) << "its claim is on record";
  c.forget("w7");
  EXPECT_TRUE(c.may_claim("another", begin, second));
}

}  // namespace
}  // namespace hindsight::admission::testing
