// The first field in which two steps differ, named so that a person finds it in `log cat`.

#include "replay/compare.hpp"

#include <gtest/gtest.h>

namespace hindsight::replay {
namespace {

const std::vector<FlavorChoice> flavors{{"cpu", "spot"}};
const std::vector<ResourceAmount> usage{{"cpu", 4000}};
const std::vector<PodSetAssignmentFacts> assignments{{"main", 2, flavors, usage}};
const WorkloadRef one{"u1", "default", "one"};

QuotaReserved reserved() { return {one, "cq", assignments, true, {}, false, 0}; }

TEST(FirstDifference, EqualStepsHaveNone) {
  const std::vector<Event> a{reserved(), WorkloadAdmitted{one}}, b{reserved(), WorkloadAdmitted{one}};
  EXPECT_FALSE(first_difference({1, StepKind::cycle, a}, {1, StepKind::cycle, b}));
}

TEST(FirstDifference, NamesTheWayToANestedField) {
  const std::vector<ResourceAmount> other_usage{{"cpu", 3000}};
  const std::vector<PodSetAssignmentFacts> other{{"main", 2, flavors, other_usage}};
  auto changed = reserved();
  changed.assignments = other;
  const std::vector<Event> a{WorkloadAdmitted{one}, reserved()}, b{WorkloadAdmitted{one}, changed};
  const auto d = first_difference({1, StepKind::cycle, a}, {1, StepKind::cycle, b});
  ASSERT_TRUE(d);
  EXPECT_EQ(d->event, 1U);
  EXPECT_EQ(d->event_kind, "QuotaReserved");
  EXPECT_EQ(d->field, "assignments[0].usage[0].amount");
  EXPECT_EQ(d->recorded, "4000");
  EXPECT_EQ(d->computed, "3000");
}

TEST(FirstDifference, ListsOfOtherLengthDifferAsAWhole) {
  auto changed = reserved();
  changed.assignments = {};
  const std::vector<Event> a{reserved()}, b{changed};
  const auto d = first_difference({1, StepKind::cycle, a}, {1, StepKind::cycle, b});
  ASSERT_TRUE(d);
  EXPECT_EQ(d->field, "assignments");
  EXPECT_EQ(d->recorded, "1 entry");
  EXPECT_EQ(d->computed, "0 entries");
}

TEST(FirstDifference, AnotherKindAndAMissingEventAreNamed) {
  const std::vector<Event> a{reserved()}, b{WorkloadAdmitted{one}};
  const auto kind = first_difference({1, StepKind::cycle, a}, {1, StepKind::cycle, b});
  ASSERT_TRUE(kind);
  EXPECT_EQ(kind->field, "event");
  EXPECT_EQ(kind->recorded, "QuotaReserved of default/one");
  EXPECT_EQ(kind->computed, "WorkloadAdmitted of default/one");
  const auto missing = first_difference({1, StepKind::cycle, a}, {1, StepKind::unspecified, {}});
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->recorded, "QuotaReserved of default/one");
  EXPECT_EQ(missing->computed, "no event");
  const auto step = first_difference({1, StepKind::cycle, a}, {1, StepKind::timers, a});
  ASSERT_TRUE(step);
  EXPECT_EQ(step->field, "step");
}

}  // namespace
}  // namespace hindsight::replay
