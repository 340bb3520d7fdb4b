// Logs of builds that did not look for circles: a new build goes to rest on them at once, and verify finds in them what is wrong and
// nothing else.

#include <gtest/gtest.h>

#include <string>

#include "events/memory_log.hpp"
#include "replay/verify.hpp"
#include "tests/replay/worlds.hpp"
#include "vocabulary/limits.hpp"

namespace hindsight::replay {
namespace {

using admission::Domain;
using hindsight::testing::LogWorld;

class OldCircle : public ::testing::Test {
 protected:
  events::MemoryLog log;
  LogWorld w{log};

  void SetUp() override {
    w.configure(R"({"featureGates": {"AdmissionGatedBy": true}})");
    w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
    w.submit({.name = "other", .cpu = 500});
    w.wake();
  }
  /// A life-cycle step as it stood in such a log.
  void record(std::string_view message) {
    Domain::Step step;
    step.base = w.driver().domain().sequence();
    step.kind = StepKind::life_cycle;
    step.events = {ConditionChanged{{"uid-gated", "default", "gated"},
                                    ConditionType::quota_reserved,
                                    ConditionStatus::false_,
                                    "AdmissionGated",
                                    w.keep(message),
                                    false}};
    w.decide(step, w.driver().domain().epoch());
  }
  VerifyReport verified() {
    w.flush();
    return verify(log, "default").value();
  }
};

/// The circle that there was: a message longer than what a condition holds was recorded whole, compared whole, and stored cut.
TEST_F(OldCircle, OfATextThatIsCutIsLeftAtOnceAndVerifies) {
  const std::string gates(40'000, 'g');
  w.submit({.name = "gated", .gated_by = gates});
  const std::string whole = "Admission is gated by: " + gates;
  auto first = w.driver().decide().value();  // the gate, and the condition with its message as it was recorded then
  ASSERT_EQ(first.events.size(), 2U);
  std::get<ConditionChanged>(first.events.back()).message = whole;
  w.decide(first, w.driver().domain().epoch());
  for (int i = 0; i < 30; ++i) record(whole);
  EXPECT_EQ(w.settle(), 0) << "nothing is to be said any more";
  EXPECT_EQ(w.state("gated").find(ConditionType::quota_reserved)->message.size(), limits::condition_message.size());
  w.submit({.name = "late", .cpu = 500});
  w.wake();
  const auto report = verified();
  EXPECT_TRUE(report.clean()) << report.mismatched_decisions;
  EXPECT_EQ(report.repeated_decisions, 30U);
  EXPECT_EQ(report.state_hash, w.hashes().back());
}

/// Two texts in turn: each is what follows from the other in the eyes of some build, and this one ends it.
TEST_F(OldCircle, OfTwoStepsIsLeftAtOnce) {
  w.submit({.name = "gated", .gated_by = "a.io/x"});
  ASSERT_EQ(w.settle(), 1);
  const auto right = w.state("gated").find(ConditionType::quota_reserved)->message;
  for (int i = 0; i < 20; ++i) {
    record("another opinion");
    record(right);
  }
  record("another opinion");
  EXPECT_EQ(w.settle(), 0);
  EXPECT_EQ(w.state("gated").find(ConditionType::quota_reserved)->message, "another opinion");
  const auto report = verified();
  EXPECT_FALSE(report.clean()) << "the other opinion follows from nothing";
  EXPECT_EQ(report.mismatched_decisions, 1U) << "and is told once, not with each repetition";
  EXPECT_EQ(report.repeated_decisions, 39U) << "one of each was no repetition";
  EXPECT_EQ(report.state_hash, w.hashes().back());
}

/// What differs is told, also where it only differs by one word from what was recorded before.
TEST_F(OldCircle, DoesNotHideWhatIsWrong) {
  w.submit({.name = "gated", .gated_by = "a.io/x"});
  ASSERT_EQ(w.settle(), 1);
  record("first");
  record("second");
  const auto report = verified();
  EXPECT_EQ(report.mismatched_decisions, 2U);
  EXPECT_EQ(report.repeated_decisions, 0U);
}

}  // namespace
}  // namespace hindsight::replay
