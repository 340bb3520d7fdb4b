// Which Options go on after an admission, and when delays say something about it (8691 §3.2).

#include <gtest/gtest.h>

#include "tests/simulation/mortal_plane.hpp"
#include "tests/simulation/options_story.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* high = "kueue.x-k8s.io/priority-class: high";
const Lines names{"f0", "f1", "f2", "f3"};

Quotas room_on(std::size_t flavor) {
  Quotas out;
  for (std::size_t i = 0; i < names.size(); ++i) out.emplace_back(names[i], i == flavor ? 4 : 0);
  return out;
}

/// The table of 8691 §3.2: what is left of four Options while the one of this rank is admitted. `target`: none under other policies.
std::string expected_row(const std::string& policy, std::size_t admitted, std::size_t target) {
  std::string out;
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    bool keeps = rank < admitted && policy != "RemoveOther";
    if (policy == "RemoveBelowTarget") keeps = keeps && rank <= target;
    out += (rank == 0 ? "" : "/") + std::string(rank == admitted ? "A" : keeps ? "P" : "D");
  }
  return out;
}

// CA-20, CA-21, CA-22, CA-27, CA-144: the whole table. With the target below the admitted one nothing between them goes on, and with the
// target above it nothing below it does.
TEST(PolicyRules, TheTable) {
  struct Case {
    std::string name, policy;
    std::size_t target;
  };
  std::vector<Case> cases{{"RemoveOther", remove_other, 0},
                          {"RemoveOther", retain_first, 0},
                          {"RemoveLower", remove_lower, 0},
                          {"RemoveLower", try_preferred, 0}};
  for (std::size_t target = 0; target < names.size(); ++target) {
    cases.push_back({"RemoveBelowTarget", down_to(names[target]), target});
    cases.push_back({"RemoveBelowTarget", acceptable_down_to(names[target]), target});
  }
  for (const auto& c : cases)
    for (std::size_t admitted = 0; admitted < names.size(); ++admitted) {
      Story s(c.policy, room_on(admitted));
      s.job("j").at(1).runs("j").at(10);
      const auto p = s.play();
      EXPECT_EQ(p.at(10).row("j"), expected_row(c.name, admitted, c.target)) << c.policy << " and " << names[admitted];
      for (std::size_t rank = 0; rank < names.size(); ++rank)
        EXPECT_EQ(p.at(10).active(p.at(10).option("j", names[rank])), expected_row(c.name, admitted, c.target)[2 * rank] != 'D');
      EXPECT_EQ(p.at(10).usage(), names[admitted] + " 4");
      expect_sound(p);
    }
}

// CA-20: it is applied anew when another one is admitted, when the policy changes and when the flavors change places
TEST(PolicyRules, TheTableIsAppliedWheneverSomethingOfItChanges) {
  Story s(down_to("f1"), room_on(3));
  s.job("j").at(1).runs("j").at(10).policy("concurrentAdmission: {onSuccess: RemoveLower, removeBelowTargetConfig: null}");
  s.at(20).policy(down_to("f0")).at(30).quota({{"f3", 4}, {"f0", 0}, {"f1", 0}, {"f2", 0}});
  s.at(40).quota({{"f1", 0}, {"f2", 0}, {"f0", 0}, {"f3", 4}}).at(50).quota({{"f1", 0}, {"f2", 0}, {"f0", 4}, {"f3", 4}}).at(55).stops("j");
  const auto p = s.play();
  EXPECT_EQ(p.at(1).row("j"), "P/P/D/A");
  EXPECT_EQ(p.at(10).row("j"), "P/P/P/A");
  EXPECT_EQ(p.told("j-option-f2 ActivatedVariant", 10, 10),
            Lines{"Workload j-option-f2 ActivatedVariant: Variant Workload activated due to being higher priority than admitted Variant "
                  "\"default/j-option-f3\""});
  EXPECT_EQ(p.at(20).row("j"), "P/D/D/A");
  EXPECT_EQ(p.at(30).row("j"), "A/D/D/D") << "nothing is better than f3 any more";
  EXPECT_EQ(p.at(40).row("j"), "P/P/P/A") << "f1, f2 and f0 are, and the target is the last of them";
  EXPECT_EQ(
      p.told("j-option-f1 ActivatedVariant", 40, 40),
      Lines{"Workload j-option-f1 ActivatedVariant: Variant Workload activated due to being at least lastAcceptableFlavor: \"f0\" and "
            "higher priority than admitted Variant \"default/j-option-f3\""});
  EXPECT_EQ(p.at(55).row("j"), "P/P/A/D");
  EXPECT_EQ(p.at(55).usage(), "f0 4");
  EXPECT_EQ(p.count("Job j Stopped"), 1U) << "by the migration alone";
  expect_sound(p);
}

// CA-23: with nobody admitted every Option whose delay is over goes on, whatever the policy says
TEST(PolicyRules, NoPolicyAppliesBeforeAnAdmission) {
  for (const std::string& policy : {std::string(remove_other), std::string(remove_lower), down_to("f0")}) {
    Story s(policy, room_on(names.size()));
    s.job("j").at(10);
    const auto p = s.play();
    EXPECT_EQ(p.at(10).row("j"), "P/P/P/P") << policy;
    for (const auto& name : names) EXPECT_TRUE(p.at(10).active(p.at(10).option("j", name))) << policy << " " << name;
    expect_sound(p);
  }
}

// CA-24: quota that has to be borrowed is as good as any other for a migration
TEST(PolicyRules, AnUpgradeMayBorrow) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}}, "cohortName: all");
  s.queue("lender", "", {group({{"res", 0}, {"od", 0}})}, "cohortName: all");
  s.job("j").at(1).runs("j").at(10).quota({{"res", 4}, {"od", 0}}, "lender").at(15).stops("j");
  const auto p = s.play();
  EXPECT_EQ(p.at(1).row("j"), "P/A");
  EXPECT_EQ(p.at(10).verdict(p.at(10).option("j", "od"), "Evicted"), "True/FlavorMigration");
  EXPECT_EQ(p.at(15).row("j"), "A/D");
  EXPECT_EQ(p.at(15).usage(), "res 4");
  expect_sound(p);
}

// CA-24, CA-75: so is quota that has to be won by preemption; the right is given to an upgrade Option while the job runs
TEST(PolicyRules, AnUpgradeMayPreempt) {
  Story s(remove_lower, {{"res", 4}, {"od", 4}}, "preemption: {withinClusterQueue: LowerPriority}");
  s.pinned("victim", "res", "4", "kueue.x-k8s.io/priority-class: low").at(1).runs("victim").at(2).job("j").at(3).runs("j");
  s.at(10).stops("victim").at(15).stops("j");
  const auto p = s.play();
  EXPECT_EQ(p.at(2).gate(p.at(2).option("j", "res")), "Open");
  EXPECT_TRUE(p.at(3).suspended("victim"));
  EXPECT_EQ(p.at(3).row("j"), "P/A") << "it runs on od meanwhile";
  EXPECT_FALSE(p.at(3).suspended("j"));
  EXPECT_EQ(p.at(10).verdict(p.at(10).option("j", "od"), "Evicted"), "True/FlavorMigration");
  EXPECT_EQ(p.at(15).row("j"), "A/D");
  EXPECT_EQ(p.at(15).usage(), "res 4");
  EXPECT_EQ(p.at(15).gate(p.at(15).option("j", "res")), "Closed") << "it needs it no more";
  EXPECT_EQ(p.count("PreemptionUngatedVariant"), 1U);
  expect_sound(p);
}

// CA-25: what a deactivated Option had is gone with it: its quota, and what its checks had said
TEST(PolicyRules, ADeactivatedOptionKeepsNothing) {
  Story s(remove_other, {{"a", 4}, {"b", 4}},
          "preemption: {withinClusterQueue: LowerPriority}, admissionChecksStrategy: {admissionChecks: [{name: one, onFlavors: [a]}, "
          "{name: two, onFlavors: [a, b]}]}");
  s.check("one").check("two").job("j").at(10).checked("j", "a", "one", "Ready").at(20).checked("j", "b", "two", "Ready").at(21).runs("j");
  s.at(100).pinned("h", "b", "4", high).at(105).stops("j").at(110);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).row("j"), "R/R");
  EXPECT_EQ(p.at(10).checks(p.at(10).option("j", "a")), "one Ready, two Pending");
  const Json& off = p.at(20).option("j", "a");
  EXPECT_EQ(p.at(20).row("j"), "D/A");
  EXPECT_EQ(p.at(20).usage(), "b 4");
  EXPECT_EQ(p.at(20).verdict(off, "Evicted"), "True/Deactivated");
  EXPECT_EQ(p.at(20).verdict(off, "QuotaReserved").substr(0, 5), "False");
  EXPECT_FALSE(off["status"].contains("admission"));
  EXPECT_EQ(p.at(20).checks(off).find("Ready"), std::string::npos) << p.at(20).checks(off);
  // The family begins anew: a has to be checked again.
  EXPECT_EQ(p.at(110).row("j"), "R/P");
  EXPECT_TRUE(p.at(110).suspended("j"));
  EXPECT_EQ(p.at(110).checks(p.at(110).option("j", "a")), "one Pending, two Pending");
  expect_sound(p);
}

// CA-26, CA-50: the API server does not take the deactivations for a minute, so that everybody sees active Options beside the admitted
// one. There is room for them, and news of it; they get nothing of it, and others do.
TEST(PolicyRules, NothingIsGivenToAnOptionThatThePolicyLeavesOut) {
  Story s(down_to("f0"), {{"f0", 0}, {"f1", 0}, {"f2", 4}, {"f3", 0}}, "cohortName: all");
  s.queue("other", "", {group({{"f0", 0}, {"f1", 0}, {"f2", 0}, {"f3", 0}})}, "cohortName: all").local_queue("lq-other", "other");
  s.job("j").at(5).quota({{"f0", 0}, {"f1", 4}, {"f2", 4}, {"f3", 4}}).at(10).in("lq-other").pinned("a", "f1", "4").pinned("b", "f3", "4");
  s.at(70).patch("Job", "j", "{metadata: {labels: {seen: again}}}").at(200);
  MortalPlane plane(s.scenario(), s.configuration());
  int refused = 0;
  plane.on_write = [&](const connectors::Write& write, Time now) -> std::optional<connectors::WriteAnswer> {
    if (write.type->kind != "Workload" || write.name.find("-option-") == std::string::npos) return std::nullopt;
    if (now > connectors::simulated::virtual_start + Duration::seconds(60) || write.body.find(R"("active":false)") == std::string::npos)
      return std::nullopt;
    ++refused;
    return connectors::WriteAnswer{500, R"({"kind":"Status","code":500,"reason":"InternalError","message":"not now"})", 0};
  };
  Lines reserved;
  plane.on_record = [&](const RecordView& record) {
    if (const auto* d = std::get_if<Decisions>(&record.body))
      for (const Event& e : d->events)
        if (const auto* q = std::get_if<QuotaReserved>(&e))
          reserved.push_back(Moment(plane.cluster()).plain(std::string(q->workload.name)));
  };
  plane.play();
  EXPECT_GT(refused, 0);
  ASSERT_EQ(reserved.size(), 3U);
  EXPECT_EQ(reserved[0], "j-option-f2");
  const Moment m(plane.cluster());
  EXPECT_EQ(m.usage(), "f2 4");
  EXPECT_EQ(m.usage("other"), "f1 4, f3 4");
  EXPECT_EQ(m.row("j"), "P/D/A/D");
}

// CA-27: the admitted one stays, whatever its own delay and the policy say
TEST(PolicyRules, TheAdmittedOptionIsNeverSwitchedOff) {
  Story s(
      "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: res, deleteDelaySeconds: 50, allowedResourceFlavors: "
      "[res]}, {name: od, deleteDelaySeconds: 0, allowedResourceFlavors: [od]}]}",
      {{"res", 0}, {"od", 4}});
  s.job("j").at(1).runs("j").at(100).policy(
      "concurrentAdmission: {onSuccess: RemoveBelowTarget, removeBelowTargetConfig: {targetResourceFlavor: res}}");
  s.at(110).policy("concurrentAdmission: {onSuccess: RemoveOther, removeBelowTargetConfig: null}").at(120);
  const auto p = s.play();
  for (const int at : {1, 100, 110, 120}) {
    EXPECT_TRUE(p.at(at).active(p.at(at).option("j", "od"))) << at;
    EXPECT_FALSE(p.at(at).suspended("j")) << at;
  }
  EXPECT_EQ(p.at(1).row("j"), "P/A");
  EXPECT_EQ(p.at(120).row("j"), "D/A");
  EXPECT_EQ(p.count("Job j Stopped"), 0U);
  expect_sound(p);
}

// CA-28: the delay counts from the first admission; a migration does not extend it, and 0 is at once
TEST(PolicyRules, ADeleteDelayCountsFromTheFirstAdmission) {
  Story s(
      "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: never, deleteDelaySeconds: 0, allowedResourceFlavors: "
      "[best]}, {name: res, deleteDelaySeconds: 100, allowedResourceFlavors: [res]}, {name: od, allowedResourceFlavors: [od]}, {name: "
      "spot, allowedResourceFlavors: [spot]}]}",
      {{"best", 0}, {"res", 0}, {"od", 0}, {"spot", 4}});
  s.at(10).job("j").at(11).runs("j").at(60).quota({{"best", 0}, {"res", 0}, {"od", 4}, {"spot", 4}}).at(65).stops("j").at(66).runs("j");
  s.at(107)
      .at(111)
      .quota({{"best", 4}, {"res", 4}, {"od", 4}, {"spot", 4}})
      .at(200)
      .policy("concurrentAdmission: {onSuccess: RemoveOther}");
  s.at(210).policy("concurrentAdmission: {onSuccess: RemoveLower}").at(300);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).row("j"), "D/P/P/A");
  EXPECT_EQ(p.at(65).row("j"), "D/P/A/D");
  EXPECT_EQ(p.at(107).row("j"), "D/P/A/D");
  EXPECT_EQ(p.at(111).row("j"), "D/D/A/D") << "a hundred seconds after the first admission, and not after the second";
  EXPECT_EQ(p.told("j-option-res DeactivatedVariant"),
            Lines{"Workload j-option-res DeactivatedVariant: Variant Workload deactivated due to deleteDelaySeconds (100s) elapsed"});
  EXPECT_EQ(p.at(300).row("j"), "D/D/A/D") << "another policy does not bring it back";
  EXPECT_EQ(p.count("Job j Stopped"), 1U);
  expect_sound(p);
}

// CA-29: its delay is over, but the Parent is off; it is on again, and the delay begins anew. Then the policy keeps it out until that
// changes.
TEST(PolicyRules, AnOptionGoesOnOnlyWhenNothingIsAgainstIt) {
  Story s(
      "concurrentAdmission: {onSuccess: RemoveOther, explicitOptions: [{name: res, createDelaySeconds: 100, allowedResourceFlavors: "
      "[res]}, {name: od, allowedResourceFlavors: [od]}]}",
      {{"res", 0}, {"od", 0}});
  s.job("j").at(50).patch_parent("j", "{spec: {active: false}}").at(101).at(150).patch_parent("j", "{spec: {active: true}}").at(247);
  s.at(251).at(300).quota({{"res", 0}, {"od", 4}}).at(310).policy("concurrentAdmission: {onSuccess: RemoveLower}");
  const auto p = s.play();
  EXPECT_EQ(p.at(0).row("j"), "D/P");
  EXPECT_EQ(p.at(101).row("j"), "D/D") << "the delay is over, and the Parent is not active";
  EXPECT_EQ(p.at(150).row("j"), "D/P");
  EXPECT_EQ(p.at(247).row("j"), "D/P") << "it began anew";
  EXPECT_EQ(p.at(251).row("j"), "P/P");
  EXPECT_EQ(p.at(300).row("j"), "D/A");
  EXPECT_EQ(p.at(310).row("j"), "P/A") << "its delay is over, so nothing else is in its way";
  expect_sound(p);
}

// CA-9, CA-29: the delay ends while the policy keeps it out, and the policy changes later
TEST(PolicyRules, ADelayThatIsOverStaysOver) {
  Story s(
      "concurrentAdmission: {onSuccess: RemoveOther, explicitOptions: [{name: res, createDelaySeconds: 100, allowedResourceFlavors: "
      "[res]}, {name: od, allowedResourceFlavors: [od]}]}",
      {{"res", 0}, {"od", 4}});
  s.job("j").at(1).runs("j").at(50).policy("concurrentAdmission: {onSuccess: RemoveLower}").at(97).at(101);
  const auto p = s.play();
  EXPECT_EQ(p.at(1).row("j"), "D/A");
  EXPECT_EQ(p.at(50).row("j"), "D/A") << "the policy would keep it, its delay is not over";
  EXPECT_EQ(p.at(97).row("j"), "D/A");
  EXPECT_EQ(p.at(101).row("j"), "P/A");
  expect_sound(p);
}

// CA-30: the control plane is away from 20 to 500. What was due meanwhile happens at once when it is back: deactivations first, then
// activations by rank, before anything is tried.
TEST(PolicyRules, WhatWasDueDuringAnOutageHappensAtOnce) {
  Story s(
      "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: a, deleteDelaySeconds: 60, allowedResourceFlavors: [a]}, "
      "{name: b, createDelaySeconds: 200, allowedResourceFlavors: [b]}, {name: c, createDelaySeconds: 100, allowedResourceFlavors: [c]}, "
      "{name: d, deleteDelaySeconds: 90, allowedResourceFlavors: [d]}, {name: e, allowedResourceFlavors: [e]}]}",
      {{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}, {"e", 4}});
  s.job("j").at(1).runs("j").at(500);
  MortalPlane plane(s.scenario(), s.configuration(), {.step = 2});
  Lines switched;
  plane.on_record = [&](const RecordView& record) {
    if (record.envelope.time < connectors::simulated::virtual_start + Duration::seconds(10)) return;
    if (const auto* d = std::get_if<Decisions>(&record.body))
      for (const Event& e : d->events)
        if (const auto* o = std::get_if<OptionSwitched>(&e))
          switched.push_back(Moment(plane.cluster()).plain(std::string(o->workload.name)) + (o->active ? " on" : " off") + " at " +
                             std::to_string((record.envelope.time - connectors::simulated::virtual_start).micros / 1'000'000));
  };
  plane.play();
  EXPECT_TRUE(plane.died());
  EXPECT_EQ(switched, (Lines{"j-option-a off at 499", "j-option-d off at 499", "j-option-b on at 499", "j-option-c on at 499"}));
  const Moment m(plane.cluster());
  EXPECT_EQ(m.row("j"), "D/P/P/D/A");
  EXPECT_FALSE(m.suspended("j"));
}

}  // namespace
}  // namespace hindsight::simulation
