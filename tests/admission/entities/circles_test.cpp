// Whatever repeats without anything happening ends: a life-cycle step that was recorded since the last news of its parent is not decided
// again, also where the log already holds such a circle (design rule 1).

#include <gtest/gtest.h>

#include <algorithm>

#include "admission/state/snapshot.hpp"
#include "admission/workload/repeated_steps.hpp"
#include "tests/admission/entities/fact_world.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

// ---- the rule itself ----------------------------------------------------------------------------------------------------------------

Event condition(std::string_view uid, std::string_view message) {
  return ConditionChanged{{uid, "default", "w"}, ConditionType::quota_reserved, ConditionStatus::false_, "Pending", message, false};
}

TEST(RepeatedSteps, KnowsAStepThatWasRecorded) {
  RepeatedSteps steps;
  const std::vector<Event> one{condition("u", "a")};
  const std::vector<Event> two{condition("u", "a"), condition("u", "b")};
  EXPECT_FALSE(steps.repeats(one, 0));
  steps.applied(one[0], 7, 6, 0);
  EXPECT_TRUE(steps.repeats(one, 0));
  EXPECT_FALSE(steps.repeats(two, 0)) << "a step is all of its events";
  for (const auto& event : two) steps.applied(event, 8, 7, 0);
  EXPECT_TRUE(steps.repeats(one, 0));
  EXPECT_TRUE(steps.repeats(two, 0));
  EXPECT_FALSE(steps.repeats({two[1], two[0]}, 0)) << "in their order";
  steps.forget(9);
  EXPECT_FALSE(steps.repeats(one, 0));
}

TEST(RepeatedSteps, ForgetsWithAnotherConfiguration) {
  RepeatedSteps steps;
  const std::vector<Event> one{condition("u", "a")};
  steps.applied(one[0], 7, 6, 3);
  EXPECT_TRUE(steps.repeats(one, 7));
  EXPECT_FALSE(steps.repeats(one, 8)) << "the configuration changed after it";
  const std::vector<Event> other{condition("u", "b")};
  steps.applied(other[0], 9, 8, 8);
  EXPECT_FALSE(steps.repeats(one, 8));
  EXPECT_TRUE(steps.repeats(other, 8));
}

/// A step that was decided before the last news leads back to nothing: after them the same one may be right.
TEST(RepeatedSteps, LeavesOutWhatWasDecidedBeforeTheNews) {
  RepeatedSteps steps;
  const std::vector<Event> late{condition("u", "a"), condition("u", "b")};
  steps.forget(5);
  for (const auto& event : late) steps.applied(event, 7, 4, 0);
  EXPECT_FALSE(steps.repeats(late, 0)) << "decided on record 4, and something happened in record 5";
  const std::vector<Event> next{condition("u", "c")};
  steps.applied(next[0], 8, 7, 0);
  EXPECT_TRUE(steps.repeats(next, 0));
  for (const auto& event : late) steps.applied(event, 9, 8, 0);
  EXPECT_TRUE(steps.repeats(late, 0));

  steps.forget(10);
  steps.applied(next[0], 13, 11, 12);
  EXPECT_FALSE(steps.repeats(next, 12)) << "the configuration changed in record 12";
  steps.applied(next[0], 14, 13, 12);
  EXPECT_TRUE(steps.repeats(next, 12));
}

/// However the steps differ, they end, and what is remembered of them does not grow.
TEST(RepeatedSteps, EndsEndlessVariety) {
  RepeatedSteps steps;
  std::uint64_t sequence = 0;
  for (; sequence < 100'000; ++sequence) {
    const std::vector<Event> next{
        RequeueStateChanged{{"u", "default", "w"}, true, static_cast<std::int32_t>(sequence), Time::from_seconds(1)}};
    if (steps.repeats(next, 0)) break;
    steps.applied(next[0], sequence + 1, sequence, 0);
  }
  EXPECT_EQ(sequence, RepeatedSteps::steps_max);
}

// ---- in a domain ----------------------------------------------------------------------------------------------------------------------

class Circles : public ::testing::Test {
 protected:
  FactWorld w;
  WorkloadObserved gated;

  void SetUp() override {
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "cq", .cpu = 10'000});
    w.local_queue("lq", "cq");
    w.observe(MirrorSynced{});
    Settings settings;
    settings.admission_gated_by = true;
    w.configure(settings);
    w.tick(Duration::seconds(2));
    (void)w.settle();
    gated = w.workload("w", "lq", 1'000);
    gated.admission_gated_by = "a.io/x";
    w.observe(gated);
    ASSERT_EQ(w.settle(), (Lines{"gate observed a.io/x", "condition w AdmissionGated"}));
  }
  const Lines again{"condition w AdmissionGated"};
  /// As `plant`, with what follows from it recorded before.
  void plant_a_circle() {
    plant();
    ASSERT_EQ(w.settle(), again);
    plant();
  }
  /// A life-cycle step as a build records it that holds another opinion: what it says is not what the state calls for.
  void plant(std::string_view message = "planted") {
    Domain::Step step;
    step.base = w.driver().domain().sequence();
    step.kind = StepKind::life_cycle;
    step.events = {ConditionChanged{
        {"uid-w", "default", "w"}, ConditionType::quota_reserved, ConditionStatus::false_, "AdmissionGated", w.keep(message), false}};
    w.observe_decision(step);
  }
};

TEST_F(Circles, AStepThatLeadsBackIsNotDecidedAgain) {
  const auto wanted = w.pending("w");
  plant();
  EXPECT_EQ(w.settle(), again) << "the step before was the gate, too";
  plant();
  ASSERT_EQ(w.pending("w"), "AdmissionGated: planted");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(w.settle(), Lines{}) << "it was decided, and led here";
  EXPECT_NE(w.pending("w"), wanted);
}

/// Without the rule the domain would answer each time, and a log with both would never end.
TEST_F(Circles, ALogThatHoldsACircleComesToRest) {
  const auto answer = [&] {
    Domain::Step step;
    step.base = w.driver().domain().sequence();
    step.kind = StepKind::life_cycle;
    step.events = {ConditionChanged{{"uid-w", "default", "w"},
                                    ConditionType::quota_reserved,
                                    ConditionStatus::false_,
                                    "AdmissionGated",
                                    "Admission is gated by: a.io/x",
                                    false}};
    w.observe_decision(step);
  };
  for (int i = 0; i < 50; ++i) {
    plant();
    answer();
  }
  plant();
  EXPECT_EQ(w.settle(), Lines{});
  w.observe_epoch();
  EXPECT_EQ(w.settle(), Lines{}) << "another writer is nothing that happens to it";
}

TEST_F(Circles, WhatHappensToItStartsAnew) {
  plant_a_circle();
  ASSERT_EQ(w.settle(), Lines{});
  gated.priority = 7;
  gated.meta.resource_version = w.next_version();
  w.observe(gated);
  EXPECT_EQ(w.settle(), again);
}

TEST_F(Circles, WhatWasKnownBeforeIsNothingThatHappens) {
  plant_a_circle();
  gated.meta.resource_version = 0;
  w.observe(gated);
  w.tick(Duration::seconds(5));
  EXPECT_EQ(w.settle(), Lines{});
}

TEST_F(Circles, AnotherConfigurationStartsAnew) {
  plant_a_circle();
  ASSERT_EQ(w.settle(), Lines{});
  w.queue({.name = "cq", .cpu = 20'000});
  gated.meta.resource_version = 0;
  w.observe(gated);
  EXPECT_EQ(w.settle(), again);
}

TEST_F(Circles, OthersGoOn) {
  plant_a_circle();
  w.observe(w.workload("other", "lq", 1'000));
  EXPECT_EQ(w.settle(), Lines{"reserved other admitted"});
}

TEST_F(Circles, TheRestIsInSnapshotsAndInNoHash) {
  plant_a_circle();
  FactWorld copy;
  copy.now = w.now;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  EXPECT_EQ(copy.settle(), Lines{});
}

TEST_F(Circles, TheStepTellsWhoCircles) {
  plant_a_circle();
  Outbox out;
  auto& entities = w.driver().entities();
  std::vector<std::string> circling;
  while (entities.domain().start_deciding(out)) {
    entities.deliver_all(out, false, {});
    const auto step = entities.domain().take_decisions();
    EXPECT_TRUE(step.events.empty());
    circling.insert(circling.end(), step.circling.begin(), step.circling.end());
  }
  EXPECT_EQ(circling, Lines{"uid-w"});
}

// ---- texts -----------------------------------------------------------------------------------------------------------------------------

/// What is decided, compared and stored is one text, however long that is of which it is made (BA-21).
TEST_F(Circles, ATextThatIsCutIsDecidedOnce) {
  for (const std::size_t n : {32'740U, 32'744U, 32'745U, 32'768U, 40'000U, 200'000U}) {
    for (const char* character : {"x", "\u00e4", "\u4e2d", "\U0001F600"}) {
      std::string gates;
      while (gates.size() < n) gates += character;
      gated.admission_gated_by = w.keep(gates);
      gated.meta.resource_version = w.next_version();
      w.observe(gated);
      const auto decided = w.settle();
      ASSERT_EQ(std::count(decided.begin(), decided.end(), again.front()), 1) << n << " of " << character;
      const auto* c = w.state("w").find(ConditionType::quota_reserved);
      ASSERT_LE(c->message.size(), limits::condition_message.size());
      ASSERT_TRUE(is_utf8(c->message));
      // and once more when it comes back from the API server
      auto stored = w.seen_as("w");
      stored.admission_gated_by = gated.admission_gated_by;
      w.observe(stored);
      ASSERT_EQ(w.settle(), Lines{}) << n << " of " << character;
    }
  }
}

/// The cause of an eviction is a reason that somebody else wrote: its beginning is text as well.
TEST_F(Circles, ALongCauseOfAnEvictionIsCutAtACharacter) {
  for (const char* character : {"\u00e4", "\u4e2d", "\U0001F600"}) {
    for (const char* start : {"", "x", "xy", "xyz"}) {
      std::string reason = start;
      while (reason.size() < limits::reason.size()) reason += character;
      FactWorld world;
      world.observe(MirrorSynced{});
      auto o = world.workload("w", "lq", 1'000);
      o.active = false;
      auto conditions = world.arena().make<ConditionFacts>(1);
      conditions[0] = {ConditionType::deactivation_target, ConditionStatus::true_, world.keep(reason), "because", world.now};
      o.conditions = conditions;
      world.observe(o);
      const auto step = world.driver().decide();
      ASSERT_TRUE(step);
      const auto* evicted = std::get_if<WorkloadEvicted>(&step->events.front());
      ASSERT_NE(evicted, nullptr);
      EXPECT_TRUE(is_utf8(evicted->cause)) << reason.size() << " " << start;
      EXPECT_GE(evicted->cause.size(), limits::reason.size() - 20);
      EXPECT_TRUE(std::string_view(reason).starts_with(evicted->cause));
    }
  }
}

TEST_F(Circles, TheEndOfAJobWithALongStoryIsToldOnce) {
  auto j = w.job("a", "lq");
  w.observe(j);
  (void)w.settle();
  auto workload = w.workload_of(j);
  workload.meta.uid = "uid-a";
  w.observe(workload);
  (void)w.settle();
  j.finished = true;
  j.finish_message = w.keep(std::string(100'000, 'z'));
  j.meta.resource_version = w.next_version();
  w.observe(j);
  EXPECT_EQ(w.settle(), Lines{"finished a"});
  EXPECT_EQ(w.state("a").find(ConditionType::finished)->message.size(), limits::condition_message.size());
  auto seen = w.seen_as("a");
  seen.owner_uid = j.meta.uid;
  w.observe(seen);
  EXPECT_EQ(w.settle(), Lines{});
}

}  // namespace
}  // namespace hindsight::admission::testing
