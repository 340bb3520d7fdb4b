// Whoever may write a status writes any number into it, and what is counted on from there ends at the end of numbers, not behind it.

#include "vocabulary/saturated.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

constexpr auto most = std::numeric_limits<std::int32_t>::max();
constexpr auto least = std::numeric_limits<std::int32_t>::min();

TEST(Saturated, NumbersStayWithinTheirType) {
  static_assert(saturated_add(most, 1) == most);
  static_assert(saturated_add(least, -1) == least);
  static_assert(saturated_add(most, least) == -1);
  static_assert(saturated_add(1, 2) == 3);
  static_assert(saturated<std::int32_t>(std::int64_t{1} << 40) == most);
  static_assert(saturated<std::int32_t>(-(std::int64_t{1} << 40)) == least);
  static_assert(saturated<std::int32_t>(std::int64_t{-7}) == -7);
}

class Saturation : public ::testing::Test {
 protected:
  FactWorld w;

  void SetUp() override {
    w.namespace_("default");
    w.flavor("default");
    w.check("check");
    w.queue({.name = "cq", .cpu = 10'000, .check = "check"});
    w.local_queue("lq", "cq");
    w.observe(MirrorSynced{});
    w.tick(Duration::seconds(2));
    (void)w.settle();
  }
  /// It runs, and its status holds the largest numbers that there are.
  WorkloadObserved full(std::string_view name) {
    auto o = w.workload(name, "lq", 1'000);
    w.admit(o, "cq");
    auto checks = w.arena().make<CheckFacts>(1);
    checks[0].name = "check";
    checks[0].state = CheckState::retry;
    checks[0].retry_count = most;
    o.checks = checks;
    auto evictions = w.arena().make<EvictionCount>(2);
    evictions[0] = {"Preempted", {}, most};
    evictions[1] = {"AdmissionCheck", {}, most};
    o.evictions = evictions;
    o.has_requeue_state = true;
    o.requeue_count = most;
    o.max_exec_seconds = most;
    o.accumulated_exec_seconds = most;
    return o;
  }
};

TEST_F(Saturation, CountsOfEvictionsAndChecks) {
  w.observe(full("w"));
  (void)w.settle();
  const auto& state = w.state("w");
  ASSERT_TRUE(state.evicted());
  ASSERT_EQ(state.checks.size(), 1U);
  EXPECT_EQ(state.checks[0].retry_count, most);
  for (const auto& e : state.evictions) EXPECT_EQ(e.count, most) << e.reason.text();
}

// The time that is over by then, though nobody granted it.
TEST_F(Saturation, TimeOfExecution) {
  w.observe(full("w"));
  WorkloadState state = w.state("w");
  ASSERT_TRUE(state.admitted());
  state.accumulated_exec_seconds = most - 10;
  state.clear_reservation(Symbol("Suspended"), "", w.now + Duration::seconds(100));
  EXPECT_EQ(state.accumulated_exec_seconds, most);
  // Admitted when time began.
  state = w.state("w");
  state.accumulated_exec_seconds = 0;
  for (auto& c : state.conditions) c.last_transition = Time{std::numeric_limits<std::int64_t>::min() / 2};
  state.clear_reservation(Symbol("Suspended"), "", Time{std::numeric_limits<std::int64_t>::max() / 2});
  EXPECT_EQ(state.accumulated_exec_seconds, most);
  // Nothing is left, and no more than that, of time that is over before it began.
  state.max_exec_seconds = most;
  state.accumulated_exec_seconds = least;
  EXPECT_EQ(state.exec_seconds_left(), std::int64_t{most} - least);
}

TEST_F(Saturation, TimeOfExecutionThatASliceTakesOver) {
  auto j = w.job("j", "lq");
  j.elastic = true;
  j.suspended = false;
  j.active = true;
  w.observe(j);
  auto old = full("old");
  old.owner_uid = j.meta.uid;
  old.elastic = true;
  old.checks = {};
  w.observe(old);
  auto next = w.workload("new", "lq", 1'000);
  next.owner_uid = j.meta.uid;
  next.elastic = true;
  next.replacement_for = "default/old";
  next.max_exec_seconds = most;
  w.admit(next, "cq");
  w.observe(next);
  w.tick(Duration::seconds(100));
  Domain::Step step;
  step.base = w.driver().domain().sequence();
  step.kind = StepKind::life_cycle;
  SliceReplaced e;
  e.workload = {"uid-old", "default", "old"};
  e.replacement = {"uid-new", "default", "new"};
  step.events = {e};
  w.observe_decision(step);
  const auto* parent = w.driver().parent(*w.driver().domain().find_parent(j.meta.uid));
  ASSERT_EQ(parent->workloads().size(), 2U);
  EXPECT_TRUE(parent->workloads()[0].finished());
  EXPECT_EQ(parent->workloads()[1].accumulated_exec_seconds, most);
}

// The count of a back-off; also where the back-off takes no time.
TEST_F(Saturation, BackOffs) {
  Settings settings;
  for (const std::int32_t base : {60, 0}) {
    settings.backoff_base_seconds = base;
    w.configure(settings);
    const std::string name = "w" + std::to_string(base);
    auto j = w.job(name, "lq");
    j.suspended = false;
    j.active = true;
    w.observe(j);
    auto o = full(name);
    o.owner_uid = j.meta.uid;
    o.owner_kind = "Job";
    o.owner_name = j.meta.name;
    auto checks = w.arena().make<CheckFacts>(1);
    checks[0] = o.checks[0];
    checks[0].state = CheckState::ready;
    o.checks = checks;
    o.max_exec_seconds = {};
    auto conditions = w.arena().make<ConditionFacts>(3);
    conditions[0] = o.conditions[0];
    conditions[1] = o.conditions[1];
    conditions[2] = {ConditionType::pods_ready, ConditionStatus::false_, "WaitForStart", "", w.now};
    o.conditions = conditions;
    w.observe(o);
    (void)w.settle();
    w.tick(Duration::seconds(1 + settings.pods_ready_timeout.micros / 1'000'000));
    (void)w.settle();
    const auto& state = w.state(name);
    ASSERT_TRUE(state.evicted()) << base;
    EXPECT_EQ(state.find(ConditionType::evicted)->reason.text(), "PodsReadyTimeout");
    EXPECT_EQ(state.requeue_count, most);
  }
}

}  // namespace
}  // namespace hindsight::admission::testing
