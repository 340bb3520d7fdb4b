// What the job of a family does, and what its evictions begin (8691 §3.4 from CA-55, §3.5).

#include <set>

#include <gtest/gtest.h>

#include "tests/simulation/options_story.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* high = "kueue.x-k8s.io/priority-class: high";
constexpr const char* preempts = "preemption: {withinClusterQueue: LowerPriority}";
constexpr const char* not_ready = "{status: {startTime: '2026-01-01T00:00:00Z', active: 1, ready: 0, conditions: null}}";

std::string checks(const std::string& list) { return "admissionChecksStrategy: {admissionChecks: [" + list + "]}"; }
std::string configuration(const std::string& more) { return R"({"featureGates": {"ConcurrentAdmission": true}, )" + more + "}"; }

// CA-55: the Parent's time runs out, not that of an Option. Parent and admitted Option are evicted, the pause is the Parent's and holds
// back all of them, although there is room.
TEST(EvictionRules, PodsThatAreNeverReadyEvictTheFamily) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}, {"spot", 4}});
  s.configure(configuration(R"("waitForPodsReady": {"timeout": "300s", "requeuingStrategy": {"backoffBaseSeconds": 100}})"));
  s.job("j").at(1).patch("Job", "j", not_ready, true).at(10);
  s.at(305).at(310).stops("j").at(340).quota({{"res", 4}, {"od", 4}, {"spot", 4}}).at(380).at(520).runs("j").at(1000);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).row("j"), "P/A/D");
  EXPECT_EQ(p.at(10).verdict(p.at(10).option("j", "od"), "PodsReady"), p.at(10).verdict(p.at(10).parent("j"), "PodsReady"));
  EXPECT_EQ(p.at(10).verdict(p.at(10).parent("j"), "PodsReady").substr(0, 5), "False");
  const Moment& over = p.at(305);
  EXPECT_EQ(over.verdict(over.parent("j"), "Evicted"), "True/PodsReadyTimeout");
  EXPECT_EQ(over.verdict(over.option("j", "od"), "Evicted"), "True/PodsReadyTimeout");
  EXPECT_TRUE(over.suspended("j"));
  EXPECT_TRUE(over.parent("j")["status"].contains("requeueState"));
  for (const char* name : {"res", "od", "spot"}) EXPECT_FALSE(over.option("j", name)["status"].contains("requeueState")) << name;
  for (const int at : {310, 340, 380}) {
    EXPECT_EQ(p.at(at).usage(), "") << at << ": nobody starts before the pause is over";
    EXPECT_TRUE(p.at(at).suspended("j")) << at;
  }
  EXPECT_EQ(p.at(520).row("j"), "A/D/D") << "and then the best one";
  EXPECT_EQ(p.at(1000).verdict(p.at(1000).option("j", "res"), "PodsReady").substr(0, 4), "True") << "shown by the Option as well";
  EXPECT_EQ(p.count("EvictedDueToPodsReadyTimeout Workload") + p.count("Workload j EvictedDueToPodsReadyTimeout"), 1U);
  expect_sound(p);
}

// CA-55: an Option that only holds quota, or waits, has no pods that could be late; and to others a family is one Workload
TEST(EvictionRules, OthersWaitForAFamilyAsForOneWorkload) {
  Story s(remove_lower, {{"res", 0}, {"od", 8}, {"spot", 8}});
  s.configure(configuration(R"("waitForPodsReady": {"timeout": "300s", "blockAdmission": true})"));
  s.job("j").at(1).patch("Job", "j", not_ready, true).at(10).job("k").at(20).runs("j").at(21).at(30).runs("k").at(1000);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).row("j"), "P/A/D");
  EXPECT_EQ(p.at(10).usage(), "od 4") << "k waits for the pods of j";
  EXPECT_TRUE(p.at(10).suspended("k"));
  EXPECT_EQ(p.at(21).row("k"), "P/A/D") << "j has one Workload that has to be ready, not three";
  EXPECT_EQ(p.at(1000).row("j"), "P/A/D");
  EXPECT_EQ(p.count("EvictedDueTo"), 0U);
  expect_sound(p);
}

// CA-56: the time that a job may run counts across a migration, and no Option ends by itself
TEST(EvictionRules, TheTimeOfAJobRunsAcrossMigrations) {
  Story s(remove_lower, {{"res", 0}, {"od", 0}, {"spot", 4}});
  s.job("j", "4", "kueue.x-k8s.io/max-exec-time-seconds: '100'").at(1).runs("j").at(50).quota({{"res", 0}, {"od", 4}, {"spot", 4}});
  s.at(55).stops("j").at(56).runs("j").at(95).at(110).at(115).stops("j").at(300);
  const auto p = s.play();
  EXPECT_EQ(p.at(95).row("j"), "P/A/D");
  EXPECT_TRUE(p.at(95).active(p.at(95).parent("j")));
  EXPECT_FALSE(p.at(110).active(p.at(110).parent("j"))) << "50 seconds on spot and 50 on od";
  EXPECT_TRUE(p.at(110).suspended("j"));
  EXPECT_EQ(p.at(300).row("j"), "D/D/D");
  EXPECT_EQ(p.at(300).usage(), "");
  for (const char* name : {"res", "od", "spot"})
    EXPECT_EQ(p.told(std::string("j-option-") + name + " EvictedDueToDeactivatedDueToMaximumExecutionTimeExceeded"), Lines{}) << name;
  EXPECT_EQ(p.count("j-option-res DeactivatedVariant", 95, 115), 1U) << "they follow their Parent";
  expect_sound(p);
}

// CA-57: pods that are not needed any more are given back at once, of the Option that runs
TEST(EvictionRules, ReclaimablePodsOfTheParentAreGivenBack) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}});
  s.bare("w", 4, "1").at(10).patch("Workload", "w", "{status: {reclaimablePods: [{name: main, count: 3}]}}", true).at(11);
  s.job("k", "3").at(20);
  const auto p = s.play();
  EXPECT_EQ(p.at(0).usage(), "od 4");
  EXPECT_EQ(p.charged_between(0, 10), (Lines{"", "od 4", "od 1"}));
  EXPECT_EQ(p.at(20).row("k"), "P/A") << "there is room for another one";
  EXPECT_EQ(p.at(20).option("w", "od")["status"]["reclaimablePods"], Json::parse(R"([{"name": "main", "count": 3}])"));
}

// CA-58: an Option is tried in full, however few pods would do; a regular Workload of the same kind is cut down
TEST(EvictionRules, OptionsAreTriedInFull) {
  const auto job = [](const std::string& name, const std::string& queue) {
    return "{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
           ", namespace: default, labels: {kueue.x-k8s.io/queue-name: " + queue +
           "}, annotations: {kueue.x-k8s.io/job-min-parallelism: '2'}}, spec: {suspend: true, parallelism: 4, completions: 4, template: "
           "{spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}}}";
  };
  Story s(remove_lower, {{"res", 3}, {"od", 2}});
  s.queue("plain", "", {group({{"res", 3}})}).local_queue("lq-plain", "plain");
  s.apply(job("j", "lq")).apply(job("regular", "lq-plain")).at(10).quota({{"res", 3}, {"od", 4}}).at(20);
  const auto p = s.play();
  EXPECT_EQ(p.at(0).row("j"), "P/P");
  EXPECT_EQ(p.at(0).usage("plain"), "res 3") << "the gate PartialAdmission is on";
  EXPECT_EQ(p.at(20).row("j"), "P/A");
  EXPECT_EQ(p.at(20).usage(), "od 4");
  EXPECT_EQ(p.at(20).object("Job", "j")["spec"]["parallelism"], 4);
  expect_sound(p);
}

// CA-60: after a preemption delays count anew, what was rejected may try again, and a window that was over is open
TEST(EvictionRules, APreemptionIsANewBeginning) {
  Story s(
      "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: best, deleteDelaySeconds: 20, allowedResourceFlavors: "
      "[best]}, {name: res, allowedResourceFlavors: [res]}, {name: od, allowedResourceFlavors: [od]}, {name: late, createDelaySeconds: "
      "300, allowedResourceFlavors: [spot]}]}",
      {{"best", 0}, {"res", 4}, {"od", 4}, {"spot", 4}}, std::string(preempts) + ", " + checks("{name: cap, onFlavors: [res]}"));
  s.check("cap").job("j").at(1).runs("j").at(10).checked("j", "res", "cap", "Rejected").at(50).at(200).pinned("h", "od", "4", high);
  s.at(205).stops("j").at(206).runs("h").at(301).at(497).at(501).at(525);
  const auto p = s.play();
  EXPECT_EQ(p.at(1).row("j"), "P/R/A/D");
  EXPECT_EQ(p.at(50).row("j"), "D/D/A/D");
  EXPECT_EQ(p.at(200).row("j"), "P/P/A/D");
  EXPECT_EQ(p.at(206).row("j"), "P/R/P/D") << "the delay of the last one begins anew";
  EXPECT_EQ(p.at(301).row("j"), "P/R/P/D");
  EXPECT_EQ(p.at(497).row("j"), "P/R/P/D");
  EXPECT_EQ(p.at(501).row("j"), "P/R/P/A");
  EXPECT_EQ(p.at(525).row("j"), "D/R/P/A") << "twenty seconds after this admission";
  expect_sound(p);
}

// CA-61, CA-67: while the job stops an Option may reserve and run its checks, but nobody is admitted, whatever they say
TEST(EvictionRules, NobodyIsAdmittedBeforeTheJobHasStopped) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}, {"spot", 4}, {"last", 4}},
          checks("{name: own, onFlavors: [od]}, {name: cap, onFlavors: [spot]}"));
  s.check("own").check("cap").pinned("busy", "last", "4").job("j").at(10).checked("j", "od", "own", "Ready").at(11).runs("j");
  s.at(100)
      .checked("j", "od", "own", "Retry", "requeueAfterSeconds: 1000")
      .at(101)
      .finish("busy")
      .at(102)
      .checked("j", "spot", "cap", "Ready");
  s.at(104).at(105).stops("j").at(106);
  const auto p = s.play();
  EXPECT_EQ(p.at(11).row("j"), "P/A/D/D");
  EXPECT_EQ(p.at(100).row("j"), "P/A/R/P") << "spot has a check to run, last waits";
  EXPECT_TRUE(p.at(100).suspended("j"));
  for (const int at : {102, 104}) {
    EXPECT_EQ(p.at(at).row("j"), "P/A/R/P") << at;
    EXPECT_EQ(p.at(at).checks(p.at(at).option("j", "spot")), "cap Ready") << at;
    EXPECT_NE(p.at(at).verdict(p.at(at).option("j", "spot"), "Admitted").substr(0, 4), "True") << at;
    EXPECT_EQ(p.at(at).condition(p.at(at).option("j", "last"), "QuotaReserved"),
              "False/WaitingForPreemptedWorkloads: Waiting for the evicted job to stop")
        << at;
    EXPECT_EQ(p.at(at).usage(), "od 4, spot 4") << at;
    EXPECT_EQ(p.at(at).verdict(p.at(at).parent("j"), "QuotaReserved"), "True/QuotaReserved") << at;
  }
  EXPECT_EQ(p.at(106).row("j"), "P/P/A/D");
  EXPECT_EQ(p.at(106).usage(), "spot 4");
  expect_sound(p);
}

// CA-62: an Option that only holds a reservation is preempted: it alone begins anew, its checks with it
TEST(EvictionRules, APreemptedReservationConcernsItsOptionAlone) {
  Story s(
      "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: res, allowedResourceFlavors: [res]}, {name: od, "
      "allowedResourceFlavors: [od]}, {name: late, createDelaySeconds: 200, allowedResourceFlavors: [spot]}]}",
      {{"res", 4}, {"od", 4}, {"spot", 4}},
      std::string(preempts) + ", " + checks("{name: one, onFlavors: [res, od]}, {name: two, onFlavors: [res, od]}"));
  s.check("one").check("two").job("j").at(10).checked("j", "res", "one", "Ready").checked("j", "od", "one", "Ready");
  s.at(100).pinned("h", "res", "4", high).at(101).at(150).finish("h").at(151).at(201);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).row("j"), "R/R/D");
  EXPECT_EQ(p.at(101).row("j"), "P/R/D");
  EXPECT_EQ(p.at(101).checks(p.at(101).option("j", "od")), "one Ready, two Pending") << "its sibling goes on";
  EXPECT_EQ(p.at(101).checks(p.at(101).option("j", "res")).find("Ready"), std::string::npos);
  EXPECT_EQ(p.at(101).condition(p.at(101).parent("j"), "Evicted"), "");
  EXPECT_EQ(p.at(151).row("j"), "R/R/D") << "it is back in line at once";
  EXPECT_EQ(p.at(151).checks(p.at(151).option("j", "res")), "one Pending, two Pending");
  EXPECT_EQ(p.at(201).row("j"), "R/R/A") << "the delay has run on";
  EXPECT_EQ(decided<FamilyReset>(p), 0U);
  EXPECT_EQ(p.count("Job j Stopped"), 0U);
  expect_sound(p);
}

// CA-63: what was evicted may have the same flavor again, and a better one that got free meanwhile comes before it
TEST(EvictionRules, AfterAnEvictionTheBestThatFitsIsTaken) {
  for (const bool better : {false, true}) {
    Story s(remove_other, {{"res", 0}, {"od", 4}, {"spot", 4}});
    s.job("j").at(1).runs("j").at(100).patch("ClusterQueue", "cq", "{spec: {stopPolicy: HoldAndDrain}}").at(105).stops("j");
    s.at(110).quota({{"res", better ? 4 : 0}, {"od", 4}, {"spot", 4}}).at(120).patch("ClusterQueue", "cq", "{spec: {stopPolicy: None}}");
    s.at(121);
    const auto p = s.play();
    EXPECT_EQ(p.at(1).row("j"), "D/A/D");
    EXPECT_EQ(p.at(110).usage(), "");
    EXPECT_EQ(p.at(121).row("j"), better ? "A/D/D" : "D/A/D");
    expect_sound(p);
  }
}

// CA-64, CA-71, CA-74: an Option that has the right and quota loses both; its gate is closed, and it says that it waits for none
TEST(EvictionRules, AnEvictionClosesTheGate) {
  Story s(remove_lower, {{"res", 4}, {"od", 0}}, std::string(preempts) + ", " + checks("{name: cap, onFlavors: [res]}"));
  s.check("cap").priority_class("mid", 100);
  s.pinned("victim", "res", "4", "kueue.x-k8s.io/priority-class: low").at(1).checked("victim", "res", "cap", "Ready").at(2).runs("victim");
  s.at(10).job("j", "4", "kueue.x-k8s.io/priority-class: mid").at(15).stops("victim").at(400).pinned("h", "res", "4", high).at(401);
  const auto p = s.play();
  EXPECT_EQ(p.at(15).row("j"), "R/P");
  EXPECT_EQ(p.at(15).gate(p.at(15).option("j", "res")), "Open") << "it keeps the right while its check runs";
  const Json& evicted = p.at(401).option("j", "res");
  EXPECT_EQ(p.at(401).verdict(evicted, "Evicted"), "True/Preempted");
  EXPECT_EQ(p.at(401).gate(evicted), "Closed");
  EXPECT_EQ(p.at(401).verdict(evicted, "BlockedOnPreemptionGates").substr(0, 5), "False") << "it waits for quota, not for a gate";
  EXPECT_TRUE(p.at(401).suspended("j"));
  expect_sound(p);
}

// CA-65, CA-76: a migration and a preemption are one eviction each, of the Parent, and metrics tell the first one by its own name
TEST(EvictionRules, AnEvictionIsCountedOnce) {
  Story s(remove_lower, {{"res", 0}, {"od", 0}, {"spot", 4}}, preempts);
  s.job("j").at(1).runs("j").at(100).quota({{"res", 0}, {"od", 4}, {"spot", 4}}).at(105).stops("j").at(106).runs("j");
  s.at(200).pinned("h", "od", "4", high).at(205).stops("j").at(206);
  const auto p = s.play();
  const auto evictions = p.at(206).evictions(p.at(206).parent("j"));
  EXPECT_EQ(std::set<std::string>(evictions.begin(), evictions.end()), (std::set<std::string>{"FlavorMigration 1", "Preempted 1"}));
  const auto t = metrics_of(p);
  for (const char* reason : {"FlavorMigration", "Preempted"}) {
    const auto lines = lines_with(t, {"kueue_evicted_workloads_total{", std::string("reason=\"") + reason + '"'});
    ASSERT_EQ(lines.size(), 1U) << reason;
    EXPECT_EQ(lines[0].substr(lines[0].size() - 2), " 1") << lines[0];
  }
  EXPECT_EQ(lines_with(t, {"kueue_evicted_workloads_total{"}).size(), 2U);
  const auto preempted = lines_with(t, {"kueue_preempted_workloads_total{"});
  ASSERT_EQ(preempted.size(), 1U);
  EXPECT_EQ(preempted[0].substr(preempted[0].size() - 2), " 1") << "the migration was no preemption";
  EXPECT_EQ(p.at(100).verdict(p.at(100).option("j", "spot"), "Preempted"), "");
  expect_sound(p);
}

// CA-66: losers of a race, an upgrade Option whose check says that it has to try again, and one whose reservation is preempted: the job
// runs on
TEST(EvictionRules, TheEndOfAMereReservationLeavesTheJobAlone) {
  Story s(remove_lower, {{"res", 4}, {"od", 4}, {"spot", 4}},
          std::string(preempts) + ", " + checks("{name: cap, onFlavors: [res, od, spot]}"));
  s.check("cap").job("j").at(10).checked("j", "od", "cap", "Ready").at(11).runs("j").at(20);
  s.checked("j", "res", "cap", "Retry", "requeueAfterSeconds: 60").at(100).at(110).pinned("h", "res", "4", high).at(120);
  const auto p = s.play();
  EXPECT_EQ(p.at(0).row("j"), "R/R/R");
  EXPECT_EQ(p.at(10).row("j"), "R/A/D");
  EXPECT_EQ(p.at(20).row("j"), "P/A/D");
  EXPECT_EQ(p.at(100).row("j"), "R/A/D");
  EXPECT_EQ(p.at(120).row("j"), "P/A/D");
  for (const auto& [at, m] : p.moments) {
    if (at < 10) continue;
    EXPECT_FALSE(m.suspended("j")) << at;
    EXPECT_EQ(m.condition(m.parent("j"), "Evicted"), "") << at;
    EXPECT_EQ(m.evictions(m.parent("j")), Lines{}) << at;
  }
  EXPECT_EQ(p.count("Job j Stopped"), 0U);
  expect_sound(p);
}

}  // namespace
}  // namespace hindsight::simulation
