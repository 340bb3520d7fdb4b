// The worked examples of 8691 §4 up to E8, each with all that its rows say; the others stand in options_later_examples_test.cpp.

#include <gtest/gtest.h>

#include "tests/simulation/options_story.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* migrated_to_od =
    "Evicted to accommodate a workload (UID: j-option-od) due to migration to more favorable resource flavor";

// CA-20, CA-44, CA-52, CA-59, CA-100, CA-101
TEST(OptionExamples, E1AJobMovesToEachBetterFlavorThatGetsFree) {
  for (const char* policy : {remove_lower, try_preferred}) {
    Story s = first_migration(policy);
    s.at(7200).quota({{"res", 4}, {"od", 4}, {"spot", 8}}).at(7203).stops("j");
    const auto p = s.play();

    const Moment& born = p.at(0);
    EXPECT_EQ(born.options("j"), (Lines{"j-option-od", "j-option-res", "j-option-spot"}));
    EXPECT_EQ(born.row("j"), "P/P/A");
    for (const char* option : {"res", "od"}) {
      const std::string why = born.verdict(born.option("j", option), "QuotaReserved");
      EXPECT_TRUE(why == "False/WaitingForQuota" || why == "False/ExceedsMaxQuota") << why;
    }
    EXPECT_EQ(born.usage(), "spot 4");
    EXPECT_EQ(born.condition(born.parent("j"), "QuotaReserved"), "True/QuotaReserved: Quota reserved in ClusterQueue cq");
    EXPECT_EQ(born.condition(born.parent("j"), "Admitted"), "True/Admitted: The variant j-option-spot is admitted");
    EXPECT_FALSE(born.suspended("j"));

    const Moment& moving = p.at(3600);
    EXPECT_EQ(moving.row("j"), "P/P/A") << "an evicted one is admitted until its reservation is cleared";
    EXPECT_EQ(moving.condition(moving.option("j", "spot"), "Evicted"), std::string("True/FlavorMigration: ") + migrated_to_od);
    EXPECT_EQ(moving.why("j", "spot"), migrated_to_od);
    EXPECT_EQ(moving.condition(moving.option("j", "od"), "QuotaReserved"),
              "False/WaitingForPreemptedWorkloads: Pending the migration of 1 workload(s)");
    EXPECT_EQ(moving.condition(moving.parent("j"), "Evicted"), "True/VariantEvicted: Admitted variant was evicted");
    EXPECT_EQ(moving.verdict(moving.parent("j"), "QuotaReserved"), "True/QuotaReserved");
    EXPECT_EQ(moving.usage(), "spot 4");
    EXPECT_TRUE(moving.suspended("j"));

    const Moment& moved = p.at(3605);
    EXPECT_EQ(moved.row("j"), "P/A/D");
    EXPECT_EQ(moved.usage(), "od 4");
    EXPECT_EQ(moved.condition(moved.parent("j"), "Admitted"), "True/Admitted: The variant j-option-od is admitted");
    EXPECT_EQ(moved.why("j", "spot"),
              "Variant Workload deactivated due to being lower priority than admitted Variant \"default/j-option-od\"");
    EXPECT_FALSE(moved.suspended("j"));

    EXPECT_EQ(p.at(7200).row("j"), "P/A/D");
    EXPECT_EQ(p.at(7200).verdict(p.at(7200).parent("j"), "Evicted"), "True/VariantEvicted");
    EXPECT_EQ(p.at(7203).row("j"), "A/D/D");
    EXPECT_EQ(p.at(7203).usage(), "res 4");
    EXPECT_EQ(p.at(7203).condition(p.at(7203).parent("j"), "Admitted"), "True/Admitted: The variant j-option-res is admitted");

    EXPECT_EQ(p.told(" CreatedVariant"), (Lines{"Workload j CreatedVariant: Variant Workload \"default/j-option-res\" created",
                                                "Workload j CreatedVariant: Variant Workload \"default/j-option-od\" created",
                                                "Workload j CreatedVariant: Variant Workload \"default/j-option-spot\" created"}));
    EXPECT_EQ(p.told("EvictedDueToFlavorMigration", 3600, 3600),
              Lines{std::string("Workload j-option-spot EvictedDueToFlavorMigration: ") + migrated_to_od});
    EXPECT_EQ(p.count("EvictedDueToFlavorMigration"), 2U);
    EXPECT_EQ(p.told(" DeactivatedVariant", 3600, 3700),
              Lines{"Workload j-option-spot DeactivatedVariant: Variant Workload deactivated due to being lower priority than admitted "
                    "Variant \"default/j-option-od\""});
    EXPECT_EQ(p.count("Job j Started"), 3U);
    EXPECT_EQ(p.count("Job j Stopped"), 2U);
    EXPECT_EQ(p.charged_between(0, 4000), (Lines{"", "spot 4", "od 4, spot 4", "od 4"})) << "od is kept while the job stops";
    for (const auto& [second, moment] : p.moments) EXPECT_LE(moment.usage().size(), 6U) << "one flavor at a time, at " << second;
    expect_sound(p);
  }
}

// CA-22
TEST(OptionExamples, E2WhatIsBelowTheTargetIsNotTried) {
  for (const std::string& policy : {down_to("res"), acceptable_down_to("res")}) {
    Story s(policy, {{"res", 0}, {"od", 0}, {"spot", 8}});
    s.job("j").at(1).runs("j").at(3600).quota({{"res", 0}, {"od", 4}, {"spot", 8}}).at(7199);
    s.at(7200).quota({{"res", 4}, {"od", 4}, {"spot", 8}}).at(7205).stops("j");
    const auto p = s.play();
    EXPECT_EQ(p.at(0).row("j"), "P/D/A");
    EXPECT_EQ(
        p.told(" DeactivatedVariant", 0, 0),
        Lines{"Workload j-option-od DeactivatedVariant: Variant Workload deactivated due to being below lastAcceptableFlavor: \"res\" "
              "and another Variant admitted \"default/j-option-spot\""});
    for (const int second : {3600, 7199}) {
      EXPECT_EQ(p.at(second).row("j"), "P/D/A");
      EXPECT_EQ(p.at(second).usage(), "spot 4");
      EXPECT_FALSE(p.at(second).suspended("j"));
    }
    EXPECT_EQ(p.at(7200).row("j"), "P/D/A");
    EXPECT_EQ(p.at(7205).row("j"), "A/D/D");
    EXPECT_EQ(p.at(7205).usage(), "res 4");
    expect_sound(p);

    Story again(policy, {{"res", 0}, {"od", 4}, {"spot", 8}});
    again.job("j").at(1).runs("j").at(100).quota({{"res", 4}, {"od", 4}, {"spot", 8}}).at(105).stops("j");
    const auto q = again.play();
    EXPECT_EQ(q.at(0).row("j"), "P/A/D");
    EXPECT_EQ(q.at(105).row("j"), "A/D/D");
    EXPECT_EQ(q.at(105).usage(), "res 4");
    expect_sound(q);
  }
}

// CA-40, CA-41, CA-42, CA-80, CA-81
TEST(OptionExamples, E3ChecksRunSideBySideAndTheFirstWins) {
  const Quotas quotas{{"res", 0}, {"f2a", 4}, {"f2b", 4}, {"f2c", 4}};
  Story s(down_to("res"), quotas, "admissionChecksStrategy: {admissionChecks: [{name: cap, onFlavors: [f2a, f2b, f2c]}]}");
  s.check("cap").job("j").at(900).checked("j", "f2b", "cap", "Ready").at(901).runs("j").at(4500);
  s.at(8100).quota({{"res", 4}, {"f2a", 4}, {"f2b", 4}, {"f2c", 4}}).at(8105).stops("j");
  const auto p = s.play();
  EXPECT_EQ(p.at(0).row("j"), "P/R/R/R");
  EXPECT_EQ(p.at(0).usage(), "f2a 4, f2b 4, f2c 4");
  EXPECT_EQ(p.at(0).verdict(p.at(0).parent("j"), "QuotaReserved").substr(0, 5), "False");
  EXPECT_EQ(p.at(0).verdict(p.at(0).parent("j"), "Admitted").substr(0, 4),
            p.at(0).verdict(p.at(0).parent("j"), "Admitted").empty() ? "" : "Fals");
  EXPECT_TRUE(p.at(0).suspended("j"));
  EXPECT_EQ(p.at(900).row("j"), "P/D/A/D");
  EXPECT_EQ(p.at(900).usage(), "f2b 4");
  EXPECT_EQ(p.at(900).condition(p.at(900).parent("j"), "Admitted"), "True/Admitted: The variant j-option-f2b is admitted");
  EXPECT_FALSE(p.at(900).parent("j")["status"].contains("admissionChecks"));
  EXPECT_FALSE(p.at(900).suspended("j"));
  EXPECT_EQ(p.at(900).object("Job", "j")["spec"]["template"]["spec"]["nodeSelector"], Json::parse(R"({"flavor": "f2b"})"));
  EXPECT_EQ(p.count("Job j Stopped", 0, 8000), 0U) << "the losers of a race stop nobody (CA-66)";
  EXPECT_EQ(p.at(4500).row("j"), "P/D/A/D");
  EXPECT_EQ(p.at(4500).usage(), "f2b 4");
  EXPECT_EQ(p.at(8100).row("j"), "P/D/A/D");
  EXPECT_EQ(p.at(8105).row("j"), "A/D/D/D");
  EXPECT_EQ(p.at(8105).usage(), "res 4");
  EXPECT_EQ(p.at(8105).condition(p.at(8105).parent("j"), "Admitted"), "True/Admitted: The variant j-option-res is admitted");
  expect_sound(p);
}

// CA-25, CA-81, CA-82
TEST(OptionExamples, E4TheOthersGoWhenOneIsAdmitted) {
  for (const char* policy : {remove_other, retain_first}) {
    for (const bool retried : {false, true}) {
      Story s(policy, {{"1a", 4}, {"1b", 4}, {"1c", 4}}, "admissionChecksStrategy: {admissionChecks: [{name: cap}]}");
      s.check("cap").job("j").at(100);
      if (retried) s.checked("j", "1b", "cap", "Retry", "requeueAfterSeconds: 60");
      s.at(161).at(300).checked("j", "1c", "cap", "Ready").at(301).checked("j", "1a", "cap", "Ready");
      const auto p = s.play();
      EXPECT_EQ(p.at(0).row("j"), "R/R/R");
      EXPECT_EQ(p.at(0).usage(), "1a 4, 1b 4, 1c 4");
      if (retried) {
        EXPECT_EQ(p.at(100).row("j"), "R/P/R");
        EXPECT_EQ(p.at(100).usage(), "1a 4, 1c 4");
        EXPECT_EQ(p.at(161).row("j"), "R/R/R") << "later it holds quota again";
        EXPECT_EQ(p.count("Job j Stopped"), 0U);
      }
      EXPECT_EQ(p.at(300).row("j"), "D/D/A");
      EXPECT_EQ(p.at(300).usage(), "1c 4");
      EXPECT_EQ(p.told("j-option-1a DeactivatedVariant"),
                Lines{"Workload j-option-1a DeactivatedVariant: Variant Workload deactivated due to RetainFirstAdmission: another Variant "
                      "\"default/j-option-1c\" is admitted"});
      EXPECT_EQ(p.at(300).verdict(p.at(300).option("j", "1a"), "Evicted"), "True/Deactivated") << "it held quota (CA-25)";
      EXPECT_EQ(p.at(301).row("j"), "D/D/A") << "too late";
      EXPECT_EQ(p.at(301).usage(), "1c 4");
      EXPECT_EQ(p.count("Job j Started"), 1U);
      expect_sound(p);
    }
  }
}

/// E5: od is tried after two hours.
Story delayed(int res, int od, const std::string& more = "") {
  return Story(
      "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: reservation, allowedResourceFlavors: [res]}, {name: "
      "on-demand, createDelaySeconds: 7200, allowedResourceFlavors: [od]}]}",
      {{"res", res}, {"od", od}}, more);
}

// CA-9, CA-29, CA-60
TEST(OptionExamples, E5AnOptionIsTriedWhenItsTimeHasCome) {
  Story a = delayed(0, 4);
  a.job("j").at(7199).at(7200);
  const auto p = a.play();
  for (const int second : {0, 7199}) {
    EXPECT_EQ(p.at(second).row("j"), "P/D");
    EXPECT_NE(p.at(second).why("j", "on-demand").find("createDelaySeconds"), std::string::npos);
    EXPECT_NE(p.at(second).why("j", "on-demand").find("7200"), std::string::npos);
    EXPECT_EQ(p.at(second).option("j", "on-demand")["spec"]["active"], false);
  }
  EXPECT_EQ(p.at(7200).row("j"), "P/A");
  EXPECT_EQ(p.at(7200).usage(), "od 4");
  EXPECT_EQ(p.told(" ActivatedVariant"),
            Lines{"Workload j-option-on-demand ActivatedVariant: Variant Workload activated due to createDelaySeconds (7200s) elapsed"});
  expect_sound(p);

  Story b = delayed(0, 4);
  b.job("j").at(3600).quota({{"res", 4}, {"od", 4}}).at(7200);
  const auto q = b.play();
  EXPECT_EQ(q.at(3600).row("j"), "A/D");
  EXPECT_EQ(q.at(7200).row("j"), "A/D");
  EXPECT_EQ(q.at(7200).usage(), "res 4");
  EXPECT_EQ(q.count(" ActivatedVariant"), 0U);
  expect_sound(q);

  Story c = delayed(4, 4, "preemption: {withinClusterQueue: LowerPriority}");
  c.job("j").at(1).runs("j").at(5000).pinned("h", "res", "4", "kueue.x-k8s.io/priority-class: high").at(5005).stops("j").at(5006);
  c.runs("h").at(7200).at(12199).at(12200);
  const auto r = c.play();
  EXPECT_EQ(r.at(0).row("j"), "A/D");
  EXPECT_EQ(r.at(5000).verdict(r.at(5000).option("j", "reservation"), "Evicted"), "True/Preempted");
  EXPECT_EQ(r.at(5005).row("j"), "P/D");
  EXPECT_EQ(r.at(5005).usage(), "res 4") << "of the other one";
  EXPECT_EQ(r.at(7200).row("j"), "P/D") << "it counts from the preemption";
  EXPECT_EQ(r.at(12199).row("j"), "P/D");
  EXPECT_EQ(r.at(12200).row("j"), "P/A");
  EXPECT_EQ(r.at(12200).usage(), "res 4, od 4");
  expect_sound(r);
}

/// E6: one day after an admission on od nobody waits for res any more.
Story for_a_day(int res, int od) {
  return Story(
      "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: res, deleteDelaySeconds: 86400, "
      "allowedResourceFlavors: [res]}, {name: od, allowedResourceFlavors: [od]}]}",
      {{"res", res}, {"od", od}}, "preemption: {withinClusterQueue: LowerPriority}");
}

// CA-28
TEST(OptionExamples, E6AfterADayThereIsNoMigration) {
  Story a = for_a_day(0, 4);
  a.at(10).job("j").at(11).runs("j").at(50000).quota({{"res", 4}, {"od", 4}}).at(50005).stops("j");
  const auto p = a.play();
  EXPECT_EQ(p.at(10).row("j"), "P/A");
  EXPECT_EQ(p.at(50005).row("j"), "A/D");
  expect_sound(p);

  Story b = for_a_day(0, 4);
  b.at(10).job("j").at(11).runs("j").at(86409).at(86410).at(90000).quota({{"res", 4}, {"od", 4}}).at(100000);
  const auto q = b.play();
  EXPECT_EQ(q.at(86409).row("j"), "P/A");
  EXPECT_EQ(q.at(86410).row("j"), "D/A");
  EXPECT_NE(q.at(86410).why("j", "res").find("deleteDelaySeconds"), std::string::npos);
  EXPECT_EQ(q.told(" DeactivatedVariant"),
            Lines{"Workload j-option-res DeactivatedVariant: Variant Workload deactivated due to deleteDelaySeconds (86400s) elapsed"});
  EXPECT_EQ(q.at(100000).row("j"), "D/A");
  EXPECT_EQ(q.at(100000).usage(), "od 4");
  EXPECT_FALSE(q.at(100000).suspended("j"));
  expect_sound(q);

  Story c = for_a_day(0, 4);
  c.at(10).job("j").at(11).runs("j").at(100000).pinned("h", "od", "4", "kueue.x-k8s.io/priority-class: high");
  c.at(100005).stops("j").at(100100).finish("h").at(100102).runs("j").at(186499).at(186502);
  const auto r = c.play();
  EXPECT_EQ(r.at(100000).verdict(r.at(100000).option("j", "od"), "Evicted"), "True/Preempted");
  EXPECT_EQ(r.at(100005).row("j"), "P/P") << "res is tried again";
  EXPECT_EQ(r.at(100100).row("j"), "P/A");
  EXPECT_EQ(r.at(186499).row("j"), "P/A");
  EXPECT_EQ(r.at(186502).row("j"), "D/A") << "a day after the second admission";
  expect_sound(r);
}

// CA-31, CA-51, CA-59
TEST(OptionExamples, E7AFlavorThatBothShareIsNotHeldTwice) {
  const auto groups = [](int res) { return Lines{group({{"res", res}, {"od", 8}}, "nvidia.com/gpu"), group({{"default-cpu", 10}})}; };
  Story s("", {{"default-cpu", 10}});
  s.flavor("res").flavor("od").queue(
      "cq",
      "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: reservation, "
      "allowedResourceFlavors: [res, default-cpu]}, {name: on-demand, allowedResourceFlavors: [od, default-cpu]}]}",
      groups(0));
  s.job("j", "nvidia.com/gpu: 8, cpu: 10").at(1).runs("j").at(60).queue("cq", "", groups(8)).at(65).stops("j");
  const auto p = s.play();
  EXPECT_EQ(p.at(0).row("j"), "P/A");
  EXPECT_EQ(p.at(0).usage(), "od 8, default-cpu 10");
  EXPECT_EQ(p.at(60).row("j"), "P/A");
  EXPECT_EQ(p.at(60).usage(), "od 8, default-cpu 10") << "what is kept shows in no counter";
  EXPECT_EQ(p.at(65).row("j"), "A/D");
  EXPECT_EQ(p.at(65).usage(), "res 8, default-cpu 10");
  EXPECT_EQ(p.charged_between(1, 100), (Lines{"res 8, od 8, default-cpu 10", "res 8, default-cpu 10"}));
  expect_sound(p);

  Story refused("", {{"default-cpu", 10}});
  refused.flavor("res").flavor("od").queue("two", remove_lower, groups(0));
  const auto r = refused.play();
  ASSERT_EQ(r.result.refused.size(), 1U);
  EXPECT_NE(r.result.refused[0].find("must have exactly one ResourceGroup when ConcurrentAdmissionPolicy is defined"), std::string::npos)
      << r.result.refused[0];
}

// CA-60, CA-61, CA-67, CA-77
TEST(OptionExamples, E8APreemptedFamilyBeginsAnew) {
  for (const char* policy : {remove_lower, try_preferred}) {
    Story s(policy, {{"res", 0}, {"od", 4}, {"spot", 8}}, "preemption: {withinClusterQueue: LowerPriority}");
    s.job("j").at(1).runs("j").at(100).pinned("h", "od", "4", "kueue.x-k8s.io/priority-class: high").at(104).at(105).stops("j");
    const auto p = s.play();
    EXPECT_EQ(p.at(0).row("j"), "P/A/D");
    for (const int second : {100, 104}) {
      const Moment& m = p.at(second);
      EXPECT_EQ(m.verdict(m.option("j", "od"), "Evicted"), "True/Preempted");
      EXPECT_EQ(m.condition(m.parent("j"), "Evicted"), "True/VariantEvicted: Admitted variant was evicted");
      EXPECT_TRUE(m.suspended("j"));
      EXPECT_EQ(m.usage(), "od 4");
      EXPECT_EQ(m.row("j"), "P/A/P") << "all three are active, and nobody is admitted yet";
      for (const char* option : {"res", "spot"}) EXPECT_TRUE(m.option("j", option)["spec"].value("active", true));
      EXPECT_EQ(m.condition(m.option("j", "spot"), "QuotaReserved"),
                "False/WaitingForPreemptedWorkloads: Waiting for the evicted job to stop");
    }
    EXPECT_EQ(p.told("j-option-spot ActivatedVariant"),
              Lines{"Workload j-option-spot ActivatedVariant: Variant Workload activated due to no other Variant being admitted"});
    const Moment& m = p.at(105);
    EXPECT_EQ(m.row("j"), "P/P/A");
    EXPECT_EQ(m.condition(m.parent("j"), "Admitted"), "True/Admitted: The variant j-option-spot is admitted");
    EXPECT_EQ(m.usage(), "od 4, spot 4");
    EXPECT_EQ(m.condition(m.parent("h"), "Admitted"), "True/Admitted: The variant h-option-od is admitted");
    EXPECT_FALSE(m.suspended("j"));
    expect_sound(p);
  }
}

}  // namespace
}  // namespace hindsight::simulation
