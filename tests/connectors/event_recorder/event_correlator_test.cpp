#include "connectors/event_recorder/event_correlator.hpp"

#include <gtest/gtest.h>

#include "connectors/objects/resource_types.hpp"

namespace hindsight::connectors {
namespace {

using kubernetes::KubernetesEvent;

Time at(std::int64_t seconds) { return Time::from_seconds(10'000 + seconds); }

KubernetesEvent event(const std::string& name, const std::string& message, Time now) {
  KubernetesEvent e;
  e.type = &types::workload;
  e.namespace_ = "ns";
  e.name = name;
  e.uid = "uid-" + name;
  e.reason = "WaitingForQuota";
  e.message = message;
  e.first = e.last = now;
  return e;
}

// BA-191: one Event for a cause; equal ones within the window are its count.
TEST(EventCorrelatorTest, EqualEventsWithinTheWindowBecomeOneWithACount) {
  EventCorrelator correlator;
  const auto first = correlator.offer(event("a", "m", at(0)), at(0));
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->count, 1);
  for (int i = 1; i <= 5; ++i) EXPECT_FALSE(correlator.offer(event("a", "m", at(i)), at(i)).has_value());
  EXPECT_TRUE(correlator.due(at(59)).empty());
  const auto due = correlator.due(at(60));
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].count, 6);
  EXPECT_EQ(due[0].first, at(0));
  EXPECT_EQ(due[0].last, at(5));
  EXPECT_EQ(correlator.merged(), 5U);
  // Shown once, until there are more.
  EXPECT_TRUE(correlator.due(at(200)).empty());
  // After the window the next is shown at once, with all that went before.
  const auto later = correlator.offer(event("a", "m", at(201)), at(201));
  ASSERT_TRUE(later.has_value());
  EXPECT_EQ(later->count, 7);
  EXPECT_EQ(later->first, at(0));
}

TEST(EventCorrelatorTest, WhatDiffersInAnyPartIsAnotherEvent) {
  EventCorrelator correlator;
  EXPECT_TRUE(correlator.offer(event("a", "m", at(0)), at(0)).has_value());
  EXPECT_TRUE(correlator.offer(event("b", "m", at(0)), at(0)).has_value());
  EXPECT_TRUE(correlator.offer(event("a", "n", at(0)), at(0)).has_value());
  auto reason = event("a", "m", at(0));
  reason.reason = "Pending";
  EXPECT_TRUE(correlator.offer(reason, at(0)).has_value());
  auto type = event("a", "m", at(0));
  type.is_warning = true;
  EXPECT_TRUE(correlator.offer(type, at(0)).has_value());
  auto uid = event("a", "m", at(0));
  uid.uid = "made anew";
  EXPECT_TRUE(correlator.offer(uid, at(0)).has_value());
  auto kind = event("a", "m", at(0));
  kind.type = &types::job;
  EXPECT_TRUE(correlator.offer(kind, at(0)).has_value());
  EXPECT_EQ(correlator.remembered(), 7U);
}

TEST(EventCorrelatorTest, MessagesThatAreCutAlikeAreEqual) {
  EventCorrelator correlator;
  const std::string beginning(2'000, 'x');
  EXPECT_TRUE(correlator.offer(event("a", beginning + "1", at(0)), at(0)).has_value());
  EXPECT_FALSE(correlator.offer(event("a", beginning + "2", at(1)), at(1)).has_value());
}

TEST(EventCorrelatorTest, AfterALongSilenceAnEventIsNew) {
  EventCorrelator correlator({.window = Duration::seconds(60), .forget_after = Duration::seconds(600)});
  EXPECT_TRUE(correlator.offer(event("a", "m", at(0)), at(0)).has_value());
  const auto again = correlator.offer(event("a", "m", at(600)), at(600));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->count, 1);
  EXPECT_EQ(again->first, at(600));
  EXPECT_TRUE(correlator.due(at(1'199)).empty());
  EXPECT_EQ(correlator.remembered(), 1U);
  EXPECT_TRUE(correlator.due(at(1'200)).empty());
  EXPECT_EQ(correlator.remembered(), 0U);
}

TEST(EventCorrelatorTest, CountsOfWhatIsForgottenAreShownStill) {
  EventCorrelator correlator({.remembered_max = 2});
  for (const auto* name : {"a", "a", "b", "c"}) (void)correlator.offer(event(name, "m", at(0)), at(0));
  EXPECT_EQ(correlator.remembered(), 2U);
  const auto due = correlator.due(at(1));
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].name, "a");
  EXPECT_EQ(due[0].count, 2);
}

TEST(EventCorrelatorTest, MemoryIsBounded) {
  EventCorrelator correlator({.remembered_max = 100});
  for (int i = 0; i < 10'000; ++i) (void)correlator.offer(event(std::to_string(i), "m", at(i / 100)), at(i / 100));
  EXPECT_EQ(correlator.remembered(), 100U);
  // The one that was seen last stays, however often it was seen.
  EXPECT_FALSE(correlator.offer(event("9999", "m", at(100)), at(100)).has_value());
}

}  // namespace
}  // namespace hindsight::connectors
