// The worked examples of 8691 §4, each with all that its rows say.

#include <set>

#include <gtest/gtest.h>

#include "tests/simulation/mortal_plane.hpp"
#include "tests/simulation/options_story.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* migrated_to_od =
    "Evicted to accommodate a workload (UID: j-option-od) due to migration to more favorable resource flavor";

/// E1 up to the admission on od.
Story first_migration(const std::string& policy) {
  Story s(policy, {{"res", 0}, {"od", 0}, {"spot", 8}});
  s.job("j").at(1).runs("j").at(3600).quota({{"res", 0}, {"od", 4}, {"spot", 8}}).at(3605).stops("j").at(3606).runs("j");
  return s;
}

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

/// E9: both flavors are full of low-priority work, and "j" comes at 10.
Story two_victims(bool with_check) {
  Story s(remove_other, {{"res", 1}, {"spot", 1}},
          std::string("preemption: {withinClusterQueue: LowerPriority}") +
              (with_check ? ", admissionChecksStrategy: {admissionChecks: [{name: slow, onFlavors: [res]}]}" : ""));
  s.priority_class("mid", 100);
  if (with_check) s.check("slow");
  s.pinned("vr", "res", "1", "kueue.x-k8s.io/priority-class: low").pinned("vs", "spot", "1", "kueue.x-k8s.io/priority-class: low").at(1);
  if (with_check) s.checked("vr", "res", "slow", "Ready");
  s.at(2).runs("vr").runs("vs").at(10).job("j", "1", "kueue.x-k8s.io/priority-class: mid");
  return s;
}

// CA-70, CA-71, CA-72, CA-73
TEST(OptionExamples, E9OnlyOneOfAFamilyPreempts) {
  constexpr const char* gated = "Workload requires preemption, but it's gated";
  for (const bool becomes_ready : {true, false}) {
    Story s = two_victims(true);
    s.at(15).stops("vr").remove("Job", "vr").at(3614).at(3615);
    if (becomes_ready)
      s.checked("j", "res", "slow", "Ready");
    else
      s.finish("vs");
    s.at(3620);
    const auto p = s.play();
    EXPECT_EQ(p.at(2).usage(), "res 1, spot 1");
    // 1, 2: both are blocked, and then res alone gets the right
    EXPECT_EQ(
        p.told("PreemptionUngatedVariant"),
        Lines{"Workload j-option-res PreemptionUngatedVariant: Opened preemption gate for variant workload \"default/j-option-res\""});
    Lines blocked;
    each_record(*p.log, [&](const RecordView& record) {
      if (const auto* d = std::get_if<Decisions>(&record.body))
        for (const Event& e : d->events) {
          if (const auto* r = std::get_if<EntryRequeued>(&e); r != nullptr && r->message == gated)
            blocked.push_back(p.end().plain(std::string(r->workload.name)) + " " + std::string(r->reason));
          if (std::holds_alternative<PreemptionGateChanged>(e)) blocked.emplace_back("gate");
        }
    });
    ASSERT_GE(blocked.size(), 3U);
    EXPECT_EQ(Lines(blocked.begin(), blocked.begin() + 3), (Lines{"j-option-res AdmissionGated", "j-option-spot AdmissionGated", "gate"}));
    for (const int second : {10, 15, 3614}) {
      const Moment& m = p.at(second);
      EXPECT_EQ(m.condition(m.option("j", "spot"), "BlockedOnPreemptionGates"), std::string("True/PreemptionGated: ") + gated);
      EXPECT_EQ(m.condition(m.option("j", "spot"), "QuotaReserved"), std::string("False/AdmissionGated: ") + gated);
      EXPECT_EQ(m.gate(m.option("j", "spot")), "Closed");
      EXPECT_FALSE(m.suspended("vs")) << "it keeps running, at " << second;
    }
    EXPECT_EQ(p.at(10).gate(p.at(10).option("j", "res")), "Open");
    EXPECT_TRUE(p.at(10).suspended("vr"));
    // 3, 4
    EXPECT_EQ(p.at(15).row("j"), "R/P");
    EXPECT_EQ(p.at(3614).row("j"), "R/P");
    EXPECT_EQ(p.at(3614).usage(), "res 1, spot 1");
    EXPECT_TRUE(p.at(3614).suspended("j"));
    // 5
    EXPECT_EQ(p.at(3620).row("j"), becomes_ready ? "A/D" : "D/A");
    EXPECT_EQ(p.at(3620).usage(), becomes_ready ? "res 1, spot 1" : "spot 1");
    EXPECT_FALSE(p.at(3620).suspended("j"));
    EXPECT_EQ(p.count("Job j Stopped"), 0U);
    EXPECT_EQ(p.count("EvictedDueToPreempted"), 1U);
    expect_sound(p);
  }
}

// CA-74
TEST(OptionExamples, E9TheRightMovesOnAfterFiveMinutes) {
  Story s = two_victims(false);
  s.at(309).at(310).at(315).stops("vs");
  const auto p = s.play();
  EXPECT_EQ(p.at(309).gate(p.at(309).option("j", "res")), "Open");
  EXPECT_EQ(p.at(309).gate(p.at(309).option("j", "spot")), "Closed");
  EXPECT_FALSE(p.at(309).suspended("vs"));
  EXPECT_EQ(p.at(310).gate(p.at(310).option("j", "res")), "Closed");
  EXPECT_EQ(p.at(310).gate(p.at(310).option("j", "spot")), "Open");
  EXPECT_TRUE(p.at(310).suspended("vs"));
  EXPECT_EQ(p.at(315).row("j"), "D/A");
  EXPECT_EQ(p.count("PreemptionUngatedVariant"), 2U);
  expect_sound(p);
}

// CA-7, CA-72: for five seconds the better Option cannot be made; the other one does not get the right in its place
TEST(OptionExamples, E9NobodyPreemptsBeforeABetterOneWasLookedAt) {
  Story s = two_victims(false);
  s.at(14).at(16).patch("Job", "j", "{metadata: {labels: {seen: again}}}").at(60);  // the connector tries again
  MortalPlane plane(s.scenario(), s.configuration());
  int refusals = 0;
  plane.on_write = [&](const connectors::Write& write, Time now) -> std::optional<connectors::WriteAnswer> {
    const bool res = write.verb == connectors::Write::Verb::create && write.body.find("-option-res\"") != std::string::npos;
    if (!res || now < connectors::simulated::virtual_start + Duration::seconds(10) ||
        now > connectors::simulated::virtual_start + Duration::seconds(15))
      return std::nullopt;
    ++refusals;
    return connectors::WriteAnswer{500, R"({"kind":"Status","code":500,"reason":"InternalError","message":"not now"})", 0};
  };
  Lines opened;
  plane.on_record = [&](const RecordView& record) {
    if (const auto* d = std::get_if<Decisions>(&record.body))
      for (const Event& e : d->events)
        if (const auto* g = std::get_if<PreemptionGateChanged>(&e); g != nullptr && g->open)
          opened.push_back(Moment(plane.cluster()).plain(std::string(g->workload.name)));
  };
  plane.play();
  EXPECT_GT(refusals, 1);
  EXPECT_EQ(opened, Lines{"j-option-res"});
  const Moment m(plane.cluster());
  EXPECT_EQ(m.options("j"), (Lines{"j-option-res", "j-option-spot"}));
  EXPECT_FALSE(m.suspended("vs"));
}

// CA-33, CA-34, CA-36, CA-38
TEST(OptionExamples, E10FamiliesStandInLineAsBlocks) {
  for (int shift = 0; shift < 6; ++shift) {  // other uids each time
    const auto begin = [&](int quota) {
      Story s(remove_lower, {{"res", quota}, {"spot", quota}}, "stopPolicy: Hold");
      for (int i = 0; i < shift; ++i) s.local_queue("other-" + std::to_string(i), "cq");
      return s;
    };
    const auto let_go = [](Story& s) { s.at(3).patch("ClusterQueue", "cq", "{spec: {stopPolicy: None}}"); };

    Story nothing_fits = begin(0);
    nothing_fits.job("f1").at(1).job("f2", "5");
    let_go(nothing_fits);
    EXPECT_EQ(looked_at(nothing_fits.play(), 3), (Lines{"f1-option-res", "f1-option-spot", "f2-option-res", "f2-option-spot"}));

    Story s = begin(4);
    s.job("f1").at(1).job("f2");
    let_go(s);
    s.at(4).runs("f1").runs("f2").at(100).finish("f1").at(105).stops("f2");
    const auto p = s.play();
    EXPECT_EQ(p.at(3).row("f1"), "A/D");
    EXPECT_EQ(p.at(3).row("f2"), "P/A");
    EXPECT_EQ(p.at(3).usage(), "res 4, spot 4");
    EXPECT_EQ(p.count("f1-option-spot QuotaReserved"), 0U);
    EXPECT_EQ(p.at(100).row("f1"), "F/F");
    EXPECT_EQ(p.at(105).row("f2"), "A/D");
    EXPECT_EQ(p.at(105).usage(), "res 4");
    expect_sound(p);

    Story third = begin(0);
    third.job("f1").at(1).job("f2", "5").at(2).job("f3", "1", "kueue.x-k8s.io/priority-class: high");
    let_go(third);
    EXPECT_EQ(looked_at(third.play(), 3),
              (Lines{"f3-option-res", "f3-option-spot", "f1-option-res", "f1-option-spot", "f2-option-res", "f2-option-spot"}));
  }
}

// CA-114, CA-115, CA-116
TEST(OptionExamples, E11FlavorsComeAndGoAndChangePlaces) {
  for (const char* policy : {remove_lower, try_preferred}) {
    Story s(policy, {{"res", 5}, {"spot", 0}});
    s.flavor("od").job("j", "1").at(1).runs("j").at(100).quota({{"spot", 5}}).at(104).at(105).stops("j").at(106).runs("j");
    s.at(200).quota({{"od", 0}, {"spot", 5}}).at(300).quota({{"spot", 5}, {"od", 0}});
    const auto p = s.play();
    EXPECT_EQ(p.at(0).row("j"), "A/D");
    for (const int second : {100, 104}) {
      EXPECT_EQ(p.at(second).verdict(p.at(second).parent("j"), "Evicted").substr(0, 4), "True");
      EXPECT_TRUE(p.at(second).suspended("j"));
      EXPECT_FALSE(p.at(second).option("j", "res").is_null()) << "only after the job stopped";
      EXPECT_EQ(p.at(second).held("cq"), (std::map<std::string, int>{{"res", 1}}));
    }
    const Moment& gone = p.at(105);
    EXPECT_TRUE(gone.option("j", "res").is_null());
    EXPECT_EQ(
        p.told(" DeletedVariant"),
        Lines{"Workload j DeletedVariant: Variant Workload \"default/j-option-res\" deleted; flavor \"res\" no longer in ClusterQueue"});
    EXPECT_EQ(gone.row("j"), "A");
    EXPECT_EQ(gone.usage(), "spot 1");
    EXPECT_EQ(gone.condition(gone.parent("j"), "Admitted"), "True/Admitted: The variant j-option-spot is admitted");
    EXPECT_EQ(p.at(200).row("j"), "P/A");
    EXPECT_EQ(p.at(300).row("j"), "A/D");
    EXPECT_EQ(p.at(300).usage(), "spot 1");
    EXPECT_EQ(p.count("Job j Stopped"), 1U) << "by the removal alone";
    EXPECT_EQ(p.count("Evicted", 106), 0U);
    expect_sound(p);
  }
}

// CA-45, CA-46, CA-84
TEST(OptionExamples, E12ABetterOneRunsItsChecksWhileTheJobRuns) {
  for (const bool rejected : {false, true}) {
    Story s(remove_lower, {{"res", 4}, {"od", 4}}, "admissionChecksStrategy: {admissionChecks: [{name: cap, onFlavors: [res]}]}");
    s.check("cap").job("j").at(1).runs("j").at(599).at(600).checked("j", "res", "cap", rejected ? "Rejected" : "Ready").at(604);
    if (!rejected) s.at(605).stops("j");
    s.at(610);
    const auto p = s.play();
    for (const int second : {0, 599}) {
      EXPECT_EQ(p.at(second).row("j"), "R/A");
      EXPECT_EQ(p.at(second).usage(), "res 4, od 4");
      EXPECT_FALSE(p.at(second).suspended("j"));
      EXPECT_EQ(p.at(second).counters(), "pending 0, reserving 1, admitted 1");
    }
    if (rejected) {
      EXPECT_EQ(p.at(610).row("j"), "D/A");
      EXPECT_EQ(p.at(610).usage(), "od 4");
      EXPECT_FALSE(p.at(610).suspended("j"));
      EXPECT_EQ(p.count("Job j Stopped"), 0U);
      EXPECT_EQ(p.at(610).condition(p.at(610).parent("j"), "Evicted"), "");
    } else {
      EXPECT_EQ(p.at(600).row("j"), "R/A");
      EXPECT_EQ(p.at(600).verdict(p.at(600).option("j", "od"), "Evicted"), "True/FlavorMigration");
      EXPECT_EQ(p.at(600).verdict(p.at(600).option("j", "res"), "Admitted").substr(0, 5), "False") << "that waits for the stop";
      EXPECT_TRUE(p.at(600).suspended("j"));
      EXPECT_EQ(p.at(604).usage(), "res 4, od 4");
      EXPECT_EQ(p.at(605).row("j"), "A/D");
      EXPECT_EQ(p.at(605).usage(), "res 4");
      EXPECT_EQ(p.at(605).condition(p.at(605).parent("j"), "Admitted"), "True/Admitted: The variant j-option-res is admitted");
    }
    expect_sound(p);
  }
}

// CA-46, CA-92
TEST(OptionExamples, E12AFamilyCountsOnceInTheShare) {
  Story s("", {{"res", 0}, {"od", 4}});
  s.configure(R"({"featureGates": {"ConcurrentAdmission": true}, "fairSharing": {}})").check("cap");
  s.queue("cq", remove_lower, {group({{"res", 0}, {"od", 4}})},
          "cohortName: all, admissionChecksStrategy: {admissionChecks: [{name: cap, onFlavors: [res]}]}");
  s.queue("lender", "", {group({{"res", 4}, {"od", 4}})}, "cohortName: all");
  s.job("j").at(1).runs("j").at(600).checked("j", "res", "cap", "Ready").at(605).stops("j");
  const auto p = s.play();
  const auto share = [](const Moment& m) { return m.object("ClusterQueue", "cq")["status"]["fairSharing"]["weightedShare"]; };
  EXPECT_EQ(p.at(0).row("j"), "R/A");
  EXPECT_EQ(p.at(0).usage(), "res 4, od 4");
  EXPECT_EQ(share(p.at(0)), 0) << "od borrows nothing";
  EXPECT_EQ(p.at(605).row("j"), "A/D");
  EXPECT_EQ(share(p.at(605)), 334) << "4 of 12 in thousandths, rounded up where it is shown (BA-119)";
  expect_sound(p);
}

// CA-26, CA-50: a user activates an Option that the policy leaves out, so that it stands there while another one is admitted
TEST(OptionExamples, E13TheSchedulerItselfLeavesOutWhatMayNotBeAdmitted) {
  Story s(remove_lower, {{"res", 4}, {"spot", 4}});
  s.job("j").at(1).runs("j").at(10).patch_option("j", "spot", "{spec: {active: true}}");
  const auto p = s.play();
  EXPECT_EQ(p.at(0).row("j"), "A/D");
  EXPECT_EQ(p.at(10).row("j"), "A/D");
  EXPECT_EQ(p.count("j-option-spot QuotaReserved"), 0U);
  EXPECT_EQ(p.at(10).usage(), "res 4");
  expect_sound(p);

  Story target(down_to("res"), {{"res", 0}, {"od", 4}, {"spot", 4}}, "cohortName: all");
  target.queue("other", "", {group({{"res", 0}, {"od", 0}, {"spot", 0}})}, "cohortName: all").local_queue("lq-other", "other");
  target.quota({{"res", 0}, {"od", 0}, {"spot", 4}}).job("j").at(1).runs("j").at(10).quota({{"res", 0}, {"od", 4}, {"spot", 4}});
  target.patch_option("j", "od", "{spec: {active: true}}")
      .apply(
          "{apiVersion: batch/v1, kind: Job, metadata: {name: later, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq-other}}, "
          "spec: {suspend: true, parallelism: 1, completions: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, "
          "resources: {requests: {cpu: '4'}}}]}}}}");
  const auto q = target.play();
  EXPECT_EQ(q.at(0).row("j"), "P/D/A");
  EXPECT_EQ(q.at(10).row("j"), "P/D/A");
  EXPECT_EQ(q.count("j-option-od QuotaReserved"), 0U);
  EXPECT_EQ(q.at(10).usage(), "spot 4");
  EXPECT_EQ(q.at(10).usage("other"), "od 4") << "it is not kept from others";
  expect_sound(q);
}

// CA-110, CA-111, CA-113
TEST(OptionExamples, E14OffAndOnAndFinishedAndDeleted) {
  for (const char* last : {"Job", "Workload"}) {
    Story s(remove_lower, {{"res", 0}, {"od", 0}, {"spot", 8}});
    s.job("j").at(1).runs("j").at(10).patch_parent("j", "{spec: {active: false}}").at(15).stops("j");
    s.at(20).patch_parent("j", "{spec: {active: true}}").at(21).runs("j").at(100).finish("j").at(200);
    s.remove(last, std::string(last) == "Job" ? "j" : s.name_of("j"));
    s.at(300);
    const auto p = s.play();
    EXPECT_EQ(p.at(10).verdict(p.at(10).option("j", "spot"), "Evicted"), "True/Deactivated");
    EXPECT_TRUE(p.at(10).suspended("j"));
    EXPECT_EQ(p.at(15).row("j"), "D/D/D");
    EXPECT_EQ(p.at(15).usage(), "");
    EXPECT_EQ(
        p.told("j-option-res DeactivatedVariant", 10, 15),
        Lines{"Workload j-option-res DeactivatedVariant: Variant Workload deactivated due to Parent Workload \"default/j\" not active"});
    EXPECT_EQ(p.at(20).row("j"), "P/P/A");
    EXPECT_EQ(p.at(20).usage(), "spot 4");
    EXPECT_EQ(p.at(100).row("j"), "F/F/F");
    EXPECT_EQ(p.at(100).usage(), "");
    const std::string why = p.at(100).condition(p.at(100).parent("j"), "Finished");
    EXPECT_EQ(why.substr(0, 5), "True/");
    for (const char* option : {"res", "od", "spot"}) EXPECT_EQ(p.at(100).condition(p.at(100).option("j", option), "Finished"), why);
    EXPECT_EQ(p.end().all("Workload").size(), 0U);
    EXPECT_EQ(p.end().usage(), "");
    EXPECT_FALSE(p.result.engine->driver().domain().next_due().is_set()) << "no timers";
    expect_sound(p);
  }
}

// CA-131, CA-132, CA-133
TEST(OptionExamples, E15AMigrationSurvivesEveryCrash) {
  Story s = first_migration(remove_lower);
  MortalPlane whole(s.scenario(), s.configuration());
  std::uint64_t from = 0;
  std::set<std::string> stages;
  whole.on_record = [&](const RecordView& record) {
    if (const auto* d = std::get_if<Decisions>(&record.body))
      for (const Event& e : d->events) {
        if (std::holds_alternative<MigrationStarted>(e)) from = whole.records() - 1;
        if (from == 0) continue;
        if (const auto* x = std::get_if<WorkloadEvicted>(&e)) stages.insert("evicted " + std::string(x->reason));
        if (std::holds_alternative<ReservationCleared>(e)) stages.insert("released");
        if (std::holds_alternative<QuotaReserved>(e)) stages.insert("reserved");
      }
  };
  whole.play();
  ASSERT_GT(from, 0U);
  EXPECT_TRUE(stages.contains("evicted VariantEvicted") && stages.contains("released") && stages.contains("reserved"));
  const Moment wanted(whole.cluster());
  EXPECT_EQ(wanted.row("j"), "P/A/D");
  EXPECT_EQ(wanted.usage(), "od 4");
  for (std::uint64_t record = from; record <= whole.records(); ++record)
    for (const bool after_writes : {false, true}) {
      const std::string when = "killed at record " + std::to_string(record) + (after_writes ? " and its writes" : "");
      MortalPlane plane(s.scenario(), s.configuration(), {record, after_writes});
      Lines conflicts, switched;
      plane.on_record = [&](const RecordView&) {
        if (auto c = family_conflict(plane.driver()); !c.empty()) conflicts.push_back(std::move(c));
      };
      bool suspended = true;
      plane.cluster().observe([&](const connectors::simulated::ObjectChange& change) {
        if (change.object->kind->type->kind != "Job") return;
        if (const bool now = change.object->spec().value("suspend", false); std::exchange(suspended, now) != now)
          switched.emplace_back(now ? "suspend" : "run");
      });
      plane.play();
      const Moment m(plane.cluster());
      EXPECT_EQ(m.row("j"), wanted.row("j")) << when;
      EXPECT_EQ(m.usage(), wanted.usage()) << when;
      EXPECT_EQ(m.held("cq"), wanted.held("cq")) << when;
      EXPECT_EQ(m.condition(m.parent("j"), "Admitted"), "True/Admitted: The variant j-option-od is admitted") << when;
      EXPECT_EQ(switched, (Lines{"run", "suspend", "run"})) << when;
      EXPECT_EQ(conflicts, Lines{}) << when;
      EXPECT_EQ(plane.notices, Lines{}) << when;
      for (const char* event : {"Workload EvictedDueToFlavorMigration", "Job j Started", "Job j Stopped"})
        EXPECT_EQ(plane.count(event), whole.count(event)) << when << ": " << event;
    }
}

// CA-119, CA-120
TEST(OptionExamples, E16TheConfigurationChangesUnderARunningJob) {
  for (const bool lower_at_the_end : {false, true}) {
    Story s(remove_other, {{"res", 0}, {"spot", 4}});
    s.job("j").at(1).runs("j").at(100).policy(remove_lower).at(200).policy("concurrentAdmission: null");
    s.at(300).policy(lower_at_the_end ? remove_lower : remove_other);
    const auto p = s.play();
    EXPECT_EQ(p.at(0).row("j"), "D/A");
    EXPECT_EQ(p.at(100).row("j"), "P/A");
    const Moment& off = p.at(200);
    EXPECT_EQ(off.options("j"), Lines{});
    EXPECT_FALSE(off.parent("j")["metadata"].value("labels", Json::object()).contains("kueue.x-k8s.io/concurrent-admission-parent"));
    EXPECT_FALSE(off.parent("j")["metadata"].value("annotations", Json::object()).contains("kueue.x-k8s.io/parent-option"));
    EXPECT_EQ(off.verdict(off.parent("j"), "Admitted"), "True/Admitted");
    EXPECT_EQ(off.parent("j")["status"]["admission"]["podSetAssignments"][0]["flavors"]["cpu"], "spot");
    EXPECT_EQ(off.usage(), "spot 4");
    EXPECT_EQ(p.at(300).row("j"), lower_at_the_end ? "P/A" : "D/A");
    EXPECT_EQ(p.at(300).usage(), "spot 4");
    EXPECT_EQ(p.charged_between(0, 1000), (Lines{"", "spot 4"})) << "the same at every offset";
    EXPECT_EQ(p.count("Job j Stopped"), 0U);
    EXPECT_EQ(p.count("Job j Started"), 1U);
    EXPECT_EQ(p.count("EvictedDueTo"), 0U);
    EXPECT_FALSE(p.at(300).suspended("j"));
    expect_sound(p);
  }
}

constexpr const char* any_and_best =
    "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: any, allowedResourceFlavors: [res, od]}, {name: best, "
    "allowedResourceFlavors: [res]}]}";

// CA-31, CA-153
TEST(OptionExamples, E17OptionsThatShareAFlavor) {
  Story a(any_and_best, {{"res", 4}, {"od", 4}});
  a.job("j");
  const auto p = a.play();
  EXPECT_EQ(p.at(0).row("j"), "A/D");
  EXPECT_EQ(p.at(0).why("j", "best"), "The workload is admitted");
  EXPECT_EQ(p.at(0).usage(), "res 4");
  expect_sound(p);

  Story b("", {{"res", 4}, {"od", 4}});
  b.queue("cq", any_and_best, {group({{"res", 0}, {"od", 4}})}, "cohortName: all");
  b.queue("busy", "", {group({{"res", 4}, {"od", 0}})}, "cohortName: all").local_queue("lq-busy", "busy");
  b.apply(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: first, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq-busy}}, "
      "spec: {suspend: true, parallelism: 1, completions: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, "
      "resources: {requests: {cpu: '4'}}}]}}}}");
  b.at(1).job("j").at(2).runs("j").at(100).finish("first").at(105).stops("j");
  const auto q = b.play();
  EXPECT_EQ(q.at(1).row("j"), "P/A");
  EXPECT_EQ(q.at(1).usage(), "od 4");
  EXPECT_EQ(q.at(105).row("j"), "A/D");
  EXPECT_EQ(q.at(105).usage(), "res 4");
  expect_sound(q);

  Story c("concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: any, allowedResourceFlavors: [res, od]}]}",
          {{"res", 4}, {"od", 4}});
  c.job("j").at(1).runs("j").at(100).policy(any_and_best).at(200);
  const auto r = c.play();
  EXPECT_EQ(r.at(0).row("j"), "A");
  EXPECT_EQ(r.at(0).usage(), "res 4");
  for (const int second : {100, 200}) {
    EXPECT_EQ(r.at(second).row("j"), "D/A");
    EXPECT_EQ(r.at(second).usage(), "res 4");
    EXPECT_FALSE(r.at(second).suspended("j"));
  }
  EXPECT_EQ(r.count("Job j Stopped"), 0U);
  expect_sound(r);
}

}  // namespace
}  // namespace hindsight::simulation
