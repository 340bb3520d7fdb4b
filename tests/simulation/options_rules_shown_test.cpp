// What a Parent, its queues, events and metrics tell of a family (8691 §3.9).

#include <gtest/gtest.h>

#include "tests/simulation/options_story.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* high = "kueue.x-k8s.io/priority-class: high";

/// Entry of status.options.
Json entry(const Moment& m, const std::string& job, const std::string& option) {
  const Json& parent = m.parent(job);
  for (const auto& o : parent["status"]["options"])
    if (o["name"] == parent["metadata"]["name"].get<std::string>() + "-option-" + option) return o;
  return {};
}

// CA-100, CA-101: every Option is listed by rank, with name, flavors, state, why, and since when; that time moves with the state alone
TEST(ShownRules, TheParentListsItsOptions) {
  Story s(remove_lower, {{"res", 0}, {"od", 0}, {"spot", 4}});
  s.job("j").at(1).runs("j").at(50).quota({{"res", 1}, {"od", 0}, {"spot", 4}}).at(100).quota({{"res", 1}, {"od", 4}, {"spot", 4}});
  s.at(105).stops("j").at(106).runs("j").at(200).finish("j").at(201);
  const auto p = s.play();
  const auto since = [&](int at, const char* option) { return entry(p.at(at), "j", option)["lastTransitionTime"].get<std::string>(); };
  for (const auto& [at, m] : p.moments) {
    Lines flavors;
    for (const auto& o : m.parent("j")["status"]["options"]) {
      flavors.push_back(o["resourceFlavors"][0]);
      EXPECT_TRUE(o.contains("lastTransitionTime")) << at;
      if (o["state"] != "Finished") {
        EXPECT_FALSE(o.value("message", "").empty()) << at;
      }
    }
    EXPECT_EQ(flavors, (Lines{"res", "od", "spot"})) << at;
  }
  const std::string began = "2026-01-01T00:00:00Z";
  EXPECT_EQ(since(0, "res"), began);
  EXPECT_EQ(since(50, "res"), began);
  EXPECT_EQ(since(100, "spot"), began) << "it is evicted, and Admitted until its reservation is cleared";
  EXPECT_EQ(since(100, "od"), began);
  EXPECT_EQ(p.at(100).row("j"), "P/P/A");
  EXPECT_EQ(p.at(100).verdict(p.at(100).option("j", "spot"), "Admitted"), "True/Admitted") << "its own condition says the same";
  EXPECT_EQ(since(106, "od"), "2026-01-01T00:01:45Z");
  EXPECT_EQ(since(106, "spot"), "2026-01-01T00:01:45Z");
  EXPECT_EQ(since(106, "res"), began);
  EXPECT_EQ(entry(p.at(201), "j", "spot")["state"], "Finished") << "also of one that was deactivated";
  EXPECT_EQ(p.at(201).row("j"), "F/F/F");
  expect_sound(p);
}

// CA-100: what the list says and what the conditions of the Parent say belong together at every version of the object, but for one update
TEST(ShownRules, TheListFollowsTheConditions) {
  Story s(remove_lower, {{"res", 0}, {"od", 0}, {"spot", 4}});
  int apart = 0, apart_max = 0, versions = 0;
  s.on_start = [&](connectors::simulated::SimulatedCluster& cluster) {
    cluster.observe([&](const connectors::simulated::ObjectChange& change) {
      if (change.object->kind->type->kind != "Workload" || change.object->name.find("-option-") != std::string::npos) return;
      const Json status = change.object->object.value("status", Json::object());
      std::string admitted, told;
      for (const auto& c : status.value("conditions", Json::array()))
        if (c["type"] == "Admitted" && c["status"] == "True") admitted = c["message"];
      for (const auto& o : status.value("options", Json::array()))
        if (o["state"] == "Admitted") told = "The variant " + o["name"].get<std::string>() + " is admitted";
      ++versions;
      apart = admitted == told ? 0 : apart + 1;
      apart_max = std::max(apart, apart_max);
    });
  };
  s.job("j").at(1).runs("j").at(100).quota({{"res", 0}, {"od", 4}, {"spot", 4}}).at(105).stops("j").at(106).runs("j");
  const auto p = s.play();
  EXPECT_EQ(p.at(106).row("j"), "P/A/D");
  EXPECT_GT(versions, 5);
  EXPECT_LE(apart_max, 1);
}

// CA-101: a reservation is no admission; its message says what it waits for
TEST(ShownRules, AnOptionThatWaitsSaysForWhat) {
  Story s(remove_lower, {{"a", 4}, {"b", 0}, {"c", 4}}, "admissionChecksStrategy: {admissionChecks: [{name: cap, onFlavors: [a]}]}");
  s.check("cap").pinned("j", "a", "4").at(10);
  const auto p = s.play();
  EXPECT_EQ(entry(p.at(10), "j", "a")["state"], "Pending");
  EXPECT_EQ(p.at(10).row("j"), "R/P/P");
  EXPECT_NE(p.at(10).why("j", "a"), p.at(10).why("j", "b"));
  EXPECT_NE(p.at(10).why("j", "a").find("check"), std::string::npos) << p.at(10).why("j", "a");
}

// CA-102: why an Option does not fit stands in full on the Option
TEST(ShownRules, DetailsStandOnTheOption) {
  Story s(remove_lower, {{"res", 1}, {"od", 4}});
  s.job("j", "5");
  const auto p = s.play();
  for (const char* name : {"res", "od"}) {
    const std::string said = p.end().condition(p.end().option("j", name), "QuotaReserved");
    EXPECT_NE(said.find(std::string("cpu in flavor ") + name), std::string::npos) << said;
    const std::string other = std::string(name) == "res" ? "od" : "res";
    EXPECT_EQ(said.find("insufficient quota for cpu in flavor " + other), std::string::npos) << said;
  }
}

// CA-103: at every moment a family counts as one in both queues: waiting, racing, running, moving
TEST(ShownRules, QueuesCountAFamilyOnce) {
  Story s(remove_lower, {{"a", 0}, {"b", 0}, {"c", 0}}, "admissionChecksStrategy: {admissionChecks: [{name: cap, onFlavors: [a, b]}]}");
  s.check("cap").job("j").at(10).quota({{"a", 4}, {"b", 4}, {"c", 0}}).at(20).checked("j", "b", "cap", "Ready").at(21).runs("j");
  s.at(30).checked("j", "a", "cap", "Ready").at(35).stops("j").at(36).runs("j").at(40).finish("j").at(41);
  const auto p = s.play();
  const std::vector<std::pair<int, std::string>> expected{
      {0, "pending 1, reserving 0, admitted 0"},  {10, "pending 0, reserving 1, admitted 0"}, {20, "pending 0, reserving 1, admitted 1"},
      {30, "pending 0, reserving 1, admitted 1"}, {36, "pending 0, reserving 1, admitted 1"}, {41, "pending 0, reserving 0, admitted 0"}};
  for (const auto& [at, counters] : expected) {
    EXPECT_EQ(p.at(at).counters(), counters) << at;
    EXPECT_EQ(p.at(at).counters("lq", "LocalQueue"), counters) << at;
  }
  EXPECT_EQ(p.at(10).usage(), "a 4, b 4") << "of resources each counts";
  EXPECT_EQ(p.at(36).row("j"), "A/D/D");
  expect_sound(p);
}

// CA-103, CA-104: a family that is preempted and comes back has been admitted twice; that it moved in between counts as no admission
TEST(ShownRules, AMigrationIsNoAdmission) {
  Story s(remove_lower, {{"res", 0}, {"od", 0}, {"spot", 4}}, "preemption: {withinClusterQueue: LowerPriority}");
  s.job("j").at(1).runs("j").at(100).quota({{"res", 0}, {"od", 4}, {"spot", 4}}).at(105).stops("j").at(106).runs("j");
  const auto moved = s.play();
  const auto total = [](const Played& p, const std::string& name, const std::string& priority) {
    const auto lines = lines_with(metrics_of(p), {"kueue_" + name + "_total{cluster_queue=\"cq\"", "priority_class=\"" + priority + '"'});
    return lines.size() == 1 ? lines[0].substr(lines[0].rfind(' ') + 1) : std::to_string(lines.size()) + " lines";
  };
  EXPECT_EQ(moved.at(106).row("j"), "P/A/D");
  EXPECT_EQ(total(moved, "admitted_workloads", ""), "1");
  EXPECT_EQ(total(moved, "quota_reserved_workloads", ""), "1");
  s.at(200).pinned("h", "od", "4", high).at(205).stops("j").at(206);
  const auto p = s.play();
  EXPECT_EQ(p.at(206).row("j"), "P/P/A");
  EXPECT_EQ(total(p, "admitted_workloads", ""), "2");
  EXPECT_EQ(total(p, "quota_reserved_workloads", ""), "2");
  // It waits from its new beginning at 200, not from its creation.
  const auto sums = lines_with(metrics_of(p), {"kueue_admission_wait_time_seconds_sum", "priority_class=\"\""});
  ASSERT_EQ(sums.size(), 1U);
  EXPECT_LT(std::stod(sums[0].substr(sums[0].rfind(' ') + 1)), 10) << sums[0];
}

// CA-106: while it waits the Parent has the reason of its best Option that is active, and names each of them
TEST(ShownRules, AWaitingParentSaysWhyEachOfThemWaits) {
  Story s(
      "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: late, createDelaySeconds: 500, allowedResourceFlavors: [x]}, "
      "{name: full, allowedResourceFlavors: [a]}, {name: small, allowedResourceFlavors: [b]}]}",
      {{"x", 0}, {"a", 4}, {"b", 1}});
  s.pinned("other", "a", "2").at(10).job("j").at(511);
  const auto p = s.play();
  const Json& parent = p.at(10).parent("j");
  EXPECT_EQ(p.at(10).verdict(parent, "QuotaReserved"), "False/WaitingForQuota") << "of full, for late is not active";
  const std::string said = p.at(10).condition(parent, "QuotaReserved");
  const auto full = said.find("full: "), small = said.find("small: ");
  EXPECT_NE(full, std::string::npos) << said;
  EXPECT_NE(small, std::string::npos) << said;
  EXPECT_LT(full, small);
  EXPECT_EQ(said.find("late: "), std::string::npos);
  EXPECT_NE(p.at(511).condition(p.at(511).parent("j"), "QuotaReserved").find("late: "), std::string::npos);
  EXPECT_EQ(p.at(511).verdict(p.at(511).parent("j"), "QuotaReserved"), "False/ExceedsMaxQuota");
  expect_sound(p);
}

// CA-126: what is switched off without quota looks like any Workload that is not active, and was not evicted
TEST(ShownRules, AnOptionThatIsSwitchedOffWasNotEvicted) {
  Story s(remove_other, {{"res", 0}, {"od", 4}, {"spot", 4}});
  s.job("j").at(10);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).row("j"), "D/A/D");
  for (const char* name : {"res", "spot"}) {
    const Json& o = p.at(10).option("j", name);
    EXPECT_EQ(p.at(10).verdict(o, "Evicted"), "True/Deactivated") << name;
    EXPECT_EQ(p.at(10).verdict(o, "QuotaReserved"), "False/Deactivated") << name;
    EXPECT_EQ(p.at(10).evictions(o), Lines{}) << name;
    EXPECT_EQ(p.count(std::string("j-option-") + name + " DeactivatedVariant"), 1U) << name;
  }
  EXPECT_EQ(p.count("EvictedDueTo"), 0U);
  EXPECT_EQ(lines_with(metrics_of(p), {"evicted_workloads"}), Lines{});
  expect_sound(p);
}

}  // namespace
}  // namespace hindsight::simulation
