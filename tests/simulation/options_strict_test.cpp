// StrictFIFO with concurrent admission, and what an upgrade may do to get quota (8691 §5), as plain manifests show it.

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/simulation/options_story.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* strict = "queueingStrategy: StrictFIFO";
constexpr const char* gates = R"({"featureGates": {"ConcurrentAdmission": true, "ConcurrentAdmissionStrictFIFO": true}})";
constexpr const char* upgrades_block =
    R"({"featureGates": {"ConcurrentAdmission": true, "ConcurrentAdmissionStrictFIFO": true}, "hindsight": {"upgradesBlockStrictFIFO": true}})";
constexpr const char* without_gate = R"({"featureGates": {"ConcurrentAdmission": true}})";

/// Does one record say that this Option reserves quota and that the other one is put back?
bool decided_at_once(const events::Log& log, const std::string& reserves, const std::string& put_back) {
  bool found = false;
  each_record(log, [&](const RecordView& record) {
    const auto* decisions = std::get_if<Decisions>(&record.body);
    if (decisions == nullptr) return;
    bool one = false, other = false;
    for (const Event& e : decisions->events) {
      if (const auto* q = std::get_if<QuotaReserved>(&e)) one |= q->workload.name.ends_with("-option-" + reserves);
      if (const auto* r = std::get_if<EntryRequeued>(&e)) other |= r->workload.name.ends_with("-option-" + put_back);
    }
    found |= one && other;
  });
  return found;
}

// CA-142
TEST(StrictOptions, TheNextSiblingIsTriedInTheSameCycle) {
  Story s(remove_lower, {{"res", 0}, {"od", 0}, {"spot", 0}}, strict);
  s.configure(gates).job("j").at(10).quota({{"res", 1}, {"od", 4}, {"spot", 8}});
  const auto p = s.play();
  EXPECT_EQ(p.at(0).row("j"), "P/P/P");
  EXPECT_EQ(p.at(10).row("j"), "P/A/D");
  EXPECT_EQ(p.at(10).usage(), "od 4");
  EXPECT_FALSE(p.at(10).suspended("j"));
  EXPECT_TRUE(decided_at_once(*p.log, "od", "res")) << "res is tried first, and od in the same cycle";
  expect_sound(p);
}

/// Of res and spot one cpu each is left, `big` fits on neither, and `small` on both.
Story three_sizes(const std::string& strategy) {
  Story s(remove_other, {{"res", 4}, {"spot", 4}}, strategy);
  s.configure(gates).job("x", "3").at(1).job("y", "3").at(2).job("big", "4").at(3).job("small", "1").at(4).finish("x");
  return s;
}

// CA-142
TEST(StrictOptions, AFamilyThatFitsNowhereHoldsUpItsQueue) {
  const auto p = three_sizes(strict).play();
  EXPECT_EQ(p.at(1).row("x"), "A/D");
  EXPECT_EQ(p.at(1).row("y"), "D/A");
  EXPECT_EQ(p.at(2).row("big"), "P/P");
  EXPECT_EQ(p.at(3).row("big"), "P/P");
  EXPECT_EQ(p.at(3).row("small"), "P/P") << "there is room for it, and nobody behind big is tried";
  EXPECT_EQ(p.at(3).usage(), "res 3, spot 3");
  EXPECT_EQ(p.at(3).counters(), "pending 2, reserving 2, admitted 2");
  EXPECT_EQ(p.at(4).row("big"), "A/D");
  EXPECT_EQ(p.at(4).row("small"), "D/A");
  EXPECT_EQ(p.at(4).usage(), "res 4, spot 4");
  expect_sound(p);

  const auto q = three_sizes("queueingStrategy: BestEffortFIFO").play();
  EXPECT_EQ(q.at(3).row("big"), "P/P");
  EXPECT_EQ(q.at(3).row("small"), "A/D") << "nobody is held up there";
  expect_sound(q);
}

// CA-142: the one that came first is not passed on any flavor, whatever rank its Options have.
TEST(StrictOptions, FamiliesAreServedInTheirOrder) {
  Story s(remove_other, {{"res", 0}, {"spot", 0}}, strict);
  s.configure(gates).job("first").at(1).job("second").at(2).job("third").at(10).quota({{"res", 4}, {"spot", 4}});
  const auto p = s.play();
  EXPECT_EQ(p.at(2).row("first"), "P/P");
  EXPECT_EQ(p.at(10).row("first"), "A/D");
  EXPECT_EQ(p.at(10).row("second"), "D/A");
  EXPECT_EQ(p.at(10).row("third"), "P/P");
  expect_sound(p);
}

// CA-142, CA-40: a family of which one Option holds quota, and runs checks, has got what it needs.
TEST(StrictOptions, AFamilyThatHasReservedHoldsUpNobody) {
  Story s(remove_other, {{"res", 4}, {"spot", 4}},
          std::string(strict) + ", admissionChecksStrategy: {admissionChecks: [{name: cap, onFlavors: [res]}]}");
  s.configure(gates).check("cap").pinned("x", "spot", "3").at(1).job("j").at(2).pinned("small", "spot", "1");
  const auto p = s.play();
  EXPECT_EQ(p.at(1).row("j"), "R/P");
  EXPECT_EQ(p.at(2).row("j"), "R/P") << "spot has no room for it";
  EXPECT_EQ(p.at(2).row("small"), "D/A");
  EXPECT_EQ(p.at(2).usage(), "res 4, spot 4");
  expect_sound(p);
}

Story an_upgrade_that_does_not_fit(const std::string& configuration) {
  Story s(remove_lower, {{"res", 0}, {"spot", 8}}, strict);
  s.configure(configuration).job("j").at(1).runs("j").at(2).job("k");
  s.at(10).quota({{"res", 4}, {"spot", 8}}).at(12).stops("j").at(13).runs("j");
  return s;
}

// CA-143
TEST(StrictOptions, AnUpgradeHoldsUpNobody) {
  const auto p = an_upgrade_that_does_not_fit(gates).play();
  EXPECT_EQ(p.at(1).row("j"), "P/A");
  EXPECT_EQ(p.at(2).row("k"), "P/A");
  EXPECT_EQ(p.at(2).usage(), "spot 8");
  EXPECT_EQ(p.at(13).row("j"), "A/D") << "it is tried again when there is room";
  EXPECT_EQ(p.at(13).row("k"), "P/A");
  EXPECT_EQ(p.at(13).usage(), "res 4, spot 4");
  expect_sound(p);
}

// CA-143: hindsight.upgradesBlockStrictFIFO
TEST(StrictOptions, AnUpgradeHoldsUpItsQueueWhereTheSettingSaysSo) {
  const auto p = an_upgrade_that_does_not_fit(upgrades_block).play();
  EXPECT_EQ(p.at(1).row("j"), "P/A");
  EXPECT_EQ(p.at(2).row("k"), "P/P") << "spot has room for it";
  EXPECT_EQ(p.at(2).usage(), "spot 4");
  EXPECT_EQ(p.at(13).row("j"), "A/D");
  EXPECT_EQ(p.at(13).row("k"), "P/A") << "its turn comes when the upgrade is done";
  EXPECT_EQ(p.at(13).usage(), "res 4, spot 4");
  expect_sound(p);
}

// CA-142, CA-143: a failing upgrade does not hold up the next one of its family, in either reading.
TEST(StrictOptions, TheNextUpgradeIsTriedWhenTheFirstDoesNotFit) {
  for (const char* configuration : {gates, upgrades_block}) {
    Story s(remove_lower, {{"res", 0}, {"od", 0}, {"spot", 4}}, strict);
    s.configure(configuration).job("j").at(1).runs("j").at(10).quota({{"res", 1}, {"od", 4}, {"spot", 4}}).at(12).stops("j");
    const auto p = s.play();
    EXPECT_EQ(p.at(1).row("j"), "P/P/A");
    EXPECT_EQ(p.at(12).row("j"), "P/A/D") << configuration;
    EXPECT_EQ(p.at(12).usage(), "od 4");
    expect_sound(p);
  }
}

// CA-35, CA-47, CA-143: nobody who holds up the queue keeps a job from the quota that is kept for it.
TEST(StrictOptions, AMigrationIsCompletedBehindAFamilyThatWaits) {
  Story s(remove_lower, {{"res", 0}, {"spot", 8}}, strict);
  s.configure(gates).job("j").at(1).runs("j").at(10).quota({{"res", 4}, {"spot", 8}});
  s.at(11).job("big", "9", "kueue.x-k8s.io/priority-class: high").at(12).stops("j").at(13).job("k");
  const auto p = s.play();
  EXPECT_EQ(p.at(11).row("big"), "P/P");
  EXPECT_EQ(p.at(12).row("j"), "A/D");
  EXPECT_EQ(p.at(13).row("k"), "P/P") << "big holds up all others";
  EXPECT_EQ(p.at(13).usage(), "res 4");
  expect_sound(p);
}

// CA-142, CA-70, CA-72: who has to preempt is known after one look at all siblings, and the best of them gets the right.
TEST(StrictOptions, OneOfAFamilyPreempts) {
  Story s(remove_other, {{"res", 4}, {"spot", 4}}, std::string(strict) + ", preemption: {withinClusterQueue: LowerPriority}");
  s.configure(gates)
      .pinned("a", "res", "4", "kueue.x-k8s.io/priority-class: low")
      .pinned("b", "spot", "4", "kueue.x-k8s.io/priority-class: low");
  s.at(1).runs("a").runs("b").at(2).job("j").at(5).stops("a");
  const auto p = s.play();
  EXPECT_EQ(p.at(2).verdict(p.at(2).option("a", "res"), "Evicted"), "True/Preempted");
  EXPECT_EQ(p.at(2).verdict(p.at(2).option("b", "spot"), "Evicted"), "");
  EXPECT_EQ(p.at(5).row("j"), "A/D");
  EXPECT_EQ(p.at(5).row("b"), "D/A");
  expect_sound(p);
}

// CA-142: 8691 V1, while the gate is off.
TEST(StrictOptions, StrictFifoIsRefusedWithoutTheGate) {
  Story s(remove_lower, {{"res", 4}, {"spot", 4}}, strict);
  const auto refused = s.configure(without_gate).play();
  ASSERT_EQ(refused.result.refused.size(), 1U);
  EXPECT_NE(refused.result.refused[0].find("spec.queueingStrategy: Invalid value: \"StrictFIFO\": StrictFIFO queueing strategy cannot be "
                                           "used when ConcurrentAdmissionPolicy is defined"),
            std::string::npos)
      << refused.result.refused[0];
  EXPECT_EQ(s.configure(gates).play().result.refused, Lines{});
}

// ---- upgradeFungibility ---------------------------------------------------------------------------------------------------------

struct Choice {
  const char* value;  ///< Empty: the field is absent.
  bool borrows, preempts;
};
constexpr Choice choices[] = {{"", true, true}, {"Always", true, true}, {"NoPreemption", true, false}, {"NoBorrowing", false, true}};

/// RemoveLower in both forms of the API.
Lines policies(const Choice& choice) {
  const std::string field = *choice.value == '\0' ? "" : std::string("upgradeFungibility: ") + choice.value;
  return {
      "concurrentAdmission: {onSuccess: RemoveLower" + (field.empty() ? "" : ", " + field) + "}",
      "concurrentAdmissionPolicy: {migration: {mode: TryPreferredFlavors" + (field.empty() ? "" : ", constraints: {" + field + "}") + "}}"};
}

/// What a queue of the same cohort has of res.
std::string lender(int res) { return group({{"res", res}, {"spot", 0}}); }

// CA-146, CA-24
TEST(UpgradeFungibility, AnUpgradeBorrowsUnlessItMayNot) {
  for (const auto& choice : choices)
    for (const auto& policy : policies(choice)) {
      Story s(policy, {{"res", 0}, {"spot", 4}}, "cohortName: all");
      s.queue("lender", "", {lender(0)}, "cohortName: all").job("j").at(1).runs("j");
      s.at(10).quota({{"res", 4}, {"spot", 0}}, "lender").at(12);
      if (choice.borrows) s.stops("j");
      s.at(13).at(20).quota({{"res", 4}, {"spot", 4}}).at(22);
      if (!choice.borrows) s.stops("j");
      s.at(23);
      const auto p = s.play();
      EXPECT_EQ(p.at(1).row("j"), "P/A") << policy;
      EXPECT_EQ(p.at(13).row("j"), choice.borrows ? "A/D" : "P/A") << policy;
      if (!choice.borrows) {
        EXPECT_NE(p.at(13)
                      .why("j", "res")
                      .find("flavor res has room only by borrowing cpu, which upgradeFungibility NoBorrowing rules out "
                            "while another Option is admitted"),
                  std::string::npos)
            << p.at(13).why("j", "res");
        EXPECT_EQ(p.at(13).verdict(p.at(13).option("j", "res"), "QuotaReserved"), "False/WaitingForQuota");
        EXPECT_FALSE(p.at(13).suspended("j"));
      }
      EXPECT_EQ(p.at(23).row("j"), "A/D") << "quota of its own is no loan: " << policy;
      expect_sound(p);
    }
}

// CA-146
TEST(UpgradeFungibility, AFirstAdmissionMayBorrow) {
  for (const auto& choice : choices)
    for (const auto& policy : policies(choice)) {
      Story s(policy, {{"res", 0}, {"spot", 4}}, "cohortName: all");
      s.queue("lender", "", {lender(4)}, "cohortName: all").job("j");
      const auto p = s.play();
      EXPECT_EQ(p.at(0).row("j"), "A/D") << policy;
      EXPECT_EQ(p.at(0).usage(), "res 4");
      expect_sound(p);
    }
}

constexpr const char* preempting = "preemption: {withinClusterQueue: LowerPriority}";

// CA-146, CA-75
TEST(UpgradeFungibility, AnUpgradePreemptsUnlessItMayNot) {
  for (const auto& choice : choices)
    for (const auto& policy : policies(choice)) {
      Story s(policy, {{"res", 4}, {"spot", 4}}, preempting);
      s.pinned("low", "res", "4", "kueue.x-k8s.io/priority-class: low").at(1).runs("low").at(2).job("j").at(3).runs("j");
      s.at(10).at(20);
      if (choice.preempts)
        s.stops("low").at(22).stops("j").at(23);
      else
        s.finish("low").at(22).stops("j").at(23);
      const auto p = s.play();
      EXPECT_EQ(p.at(2).row("j"), "P/A") << policy;
      const Moment& then = p.at(10);
      EXPECT_EQ(then.verdict(then.option("low", "res"), "Evicted"), choice.preempts ? "True/Preempted" : "") << policy;
      if (!choice.preempts) {
        EXPECT_NE(
            then.why("j", "res")
                .find("flavor res has room only by preemption, which upgradeFungibility NoPreemption rules out while another Option is "
                      "admitted"),
            std::string::npos)
            << then.why("j", "res");
        EXPECT_EQ(then.usage(), "res 4, spot 4");
      }
      EXPECT_EQ(p.at(23).row("j"), "A/D") << "it moves to what is free: " << policy;
      expect_sound(p);
    }
}

// CA-146, CA-70
TEST(UpgradeFungibility, AFirstAdmissionMayPreempt) {
  for (const auto& choice : choices)
    for (const auto& policy : policies(choice)) {
      Story s(policy, {{"res", 4}, {"spot", 0}}, preempting);
      s.pinned("low", "res", "4", "kueue.x-k8s.io/priority-class: low").at(1).runs("low").at(2).job("j").at(5).stops("low");
      const auto p = s.play();
      EXPECT_EQ(p.at(2).verdict(p.at(2).option("low", "res"), "Evicted"), "True/Preempted") << policy;
      EXPECT_EQ(p.at(5).row("j"), "A/D") << policy;
      expect_sound(p);
    }
}

// CA-146: a change of the field counts for who waits already.
TEST(UpgradeFungibility, ItCanBeChanged) {
  Story s(policies(choices[3])[0], {{"res", 0}, {"spot", 4}}, "cohortName: all");
  s.queue("lender", "", {lender(0)}, "cohortName: all").job("j").at(1).runs("j").at(10).quota({{"res", 4}, {"spot", 0}}, "lender");
  s.at(20).policy("concurrentAdmission: {upgradeFungibility: NoPreemption}").at(22).stops("j");
  const auto p = s.play();
  EXPECT_EQ(p.at(10).row("j"), "P/A");
  EXPECT_EQ(p.at(22).row("j"), "A/D");
  expect_sound(p);
}

// CA-146
TEST(UpgradeFungibility, OtherValuesAreRefused) {
  const auto refusal = [](const std::string& policy) {
    try {
      const auto refused = Story(policy, {{"res", 4}}).play().result.refused;
      return refused.empty() ? std::string() : refused.front();
    } catch (const std::runtime_error& e) {  // the reader of manifests has seen it
      return std::string(e.what());
    }
  };
  const std::string tail =
      ".upgradeFungibility: Unsupported value: \"Never\": supported values: \"Always\", \"NoPreemption\", \"NoBorrowing\"";
  const std::string seed = refusal("concurrentAdmission: {onSuccess: RemoveLower, upgradeFungibility: Never}");
  EXPECT_NE(seed.find("spec.concurrentAdmission" + tail), std::string::npos) << seed;
  const std::string kueue =
      refusal("concurrentAdmissionPolicy: {migration: {mode: TryPreferredFlavors, constraints: {upgradeFungibility: Never}}}");
  EXPECT_NE(kueue.find("spec.concurrentAdmissionPolicy.migration.constraints" + tail), std::string::npos) << kueue;
}

}  // namespace
}  // namespace hindsight::simulation
