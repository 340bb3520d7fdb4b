// Elastic jobs beside the worked examples: what else 77 asks for, rule by rule.

#include <gtest/gtest.h>

#include <algorithm>

#include "events/memory_log.hpp"
#include "events/record.hpp"
#include "tests/simulation/elastic_story.hpp"

namespace hindsight::simulation {
namespace {

std::string reason(const connectors::simulated::StoredPointer& w, const std::string& type) {
  for (const auto& c : w->status().value("conditions", Json::array()))
    if (c["type"] == type) return c["status"].get<std::string>() + " " + c["reason"].get<std::string>();
  return "";
}

int evictions(const connectors::simulated::StoredPointer& w) {
  int out = 0;
  const Json stats = w->status().value("schedulingStats", Json::object()).value("evictions", Json::array());
  for (const auto& e : stats) out += e["count"].get<int>();
  return out;
}

// EJ-3
TEST(ElasticRules, OnlySlicesCarryTheAnnotationsOfSlices) {
  const auto r = one_queue("10").job("train", "cq", 2, "1").job("plain", "cq", 2, "1", false).step().parallelism("train", 3).step().play();
  const auto slices_of_train = objects(r, "train");
  ASSERT_EQ(slices_of_train.size(), 2U);
  for (const auto& w : slices_of_train) EXPECT_EQ(w->metadata()["annotations"]["kueue.x-k8s.io/elastic-job"], "true");
  ASSERT_EQ(objects(r, "plain").size(), 1U);
  EXPECT_EQ(objects(r, "plain")[0]->metadata().value("annotations", Json::object()), Json::object());
}

// EJ-12: a job that is made again under its old name is another one
TEST(ElasticRules, AJobOfTheSameNameInheritsNothing) {
  Story s = one_queue("10");
  s.job("train", "cq", 2, "1").step().parallelism("train", 4).step().remove("Job", "train").step().job("train", "cq", 6, "1");
  const auto r = s.step().play();
  const auto all = objects(r, "train");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_FALSE(all[0]->metadata()["annotations"].contains("kueue.x-k8s.io/workload-slice-replacement-for"));
  EXPECT_EQ(all[0]->metadata()["annotations"]["kueue.x-k8s.io/workload-slice-name"], all[0]->name);
  EXPECT_EQ(used(r, 3, "cq"), "6");
}

// EJ-13
TEST(ElasticRules, AnUpdateThatLeavesTheSizeWritesNothing) {
  Story s = one_queue("10");
  s.job("train", "cq", 3, "1").step();
  const auto before = objects(s.play(), "train").at(0)->metadata()["resourceVersion"];
  const auto r =
      s.patch("Job", "train", false, "{metadata: {annotations: {example.com/note: seen}}}").parallelism("train", 3).step().play();
  ASSERT_EQ(objects(r, "train").size(), 1U);
  EXPECT_EQ(objects(r, "train")[0]->metadata()["resourceVersion"], before);
}

// EJ-36: where the old slice has no flavor for a resource, there is none to stick to
TEST(ElasticRules, AResourceWithoutAFlavorIsNotPinned) {
  Story s;
  s.flavor("small").flavor("large").flavor("memory").queue("cq", {{"small", "2"}, {"large", "20"}});
  s.manifest(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq-cq}, "
      "annotations: {kueue.x-k8s.io/elastic-job: 'true'}}, spec: {suspend: true, parallelism: 2, completions: 100, template: {spec: "
      "{restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '1', memory: '0'}}}]}}}}");
  s.step().patch("ClusterQueue", "cq", false,
                 "{spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: small, resources: [{name: cpu, nominalQuota: '3'}]}, "
                 "{name: large, resources: [{name: cpu, nominalQuota: '20'}]}]}, {coveredResources: [memory], flavors: [{name: memory, "
                 "resources: [{name: memory, nominalQuota: 1Gi}]}]}]}}");
  const auto r = s.step().parallelism("train", 3).step().play();
  EXPECT_EQ(slices(r, 0, "train"), Lines{"2 admitted"});
  EXPECT_EQ(slices(r, 2, "train"), (Lines{"2 finished:WorkloadSliceReplaced", "3 admitted"}));
  EXPECT_EQ(objects(r, "train")[1]->status()["admission"]["podSetAssignments"][0]["flavors"]["cpu"], "small");
}

// EJ-41: a replacement takes its turn by its own time: behind the older head, before the younger
TEST(ElasticRules, AReplacementWaitsItsTurnInAStrictQueue) {
  Story s = one_queue("6", "queueingStrategy: StrictFIFO, ");
  s.job("train", "cq", 3, "1").step().job("older", "cq", 4, "1", false).step().parallelism("train", 5).step();
  s.job("younger", "cq", 1, "1", false);
  const auto waiting = s.step().play();
  EXPECT_EQ(slices(waiting, 3, "train"), (Lines{"3 admitted", "5 pending"})) << "it would fit";
  EXPECT_EQ(slices(waiting, 3, "younger")[0].substr(0, 9), "1 pending");
  const auto r = s.remove("Job", "older").step().play();
  EXPECT_EQ(slices(r, 4, "train"), (Lines{"3 finished:WorkloadSliceReplaced", "5 admitted"}));
  EXPECT_EQ(slices(r, 4, "younger"), Lines{"1 admitted"});
}

// EJ-42: the share after a replacement is that of the new slice alone
TEST(ElasticRules, TheShareIsThatOfTheNewSliceAlone) {
  const auto share = [](int first, int then) {
    Story s;
    s.configure(R"({"fairSharing":{"preemptionStrategies":["LessThanOrEqualToFinalShare"]}})");
    s.flavor("default").queue("a", {{"default", "4"}}, "cohortName: c, ").queue("b", {{"default", "6"}}, "cohortName: c, ");
    const auto r = s.job("train", "a", first, "1").step().parallelism("train", then).step().play();
    const auto* queue = r.world->simulated().find("ClusterQueue", "", "a").get();
    return queue->status()["fairSharing"]["weightedShare"].get<int>();
  };
  EXPECT_EQ(share(7, 7), 300);
  EXPECT_EQ(share(3, 7), 300);
  EXPECT_EQ(share(6, 7), 300);
}

// EJ-42: of two that want the same room the one whose queue has the smaller share afterwards goes first, and a replacement stands there
// with one slice, not with two
TEST(ElasticRules, AReplacementBidsWithTheShareOfOneSlice) {
  Story s;
  s.configure(R"({"fairSharing":{"preemptionStrategies":["LessThanOrEqualToFinalShare"]}})");
  s.flavor("default").queue("a", {{"default", "4"}}, "cohortName: c, ").queue("b", {{"default", "6"}}, "cohortName: c, ");
  s.queue("lends", {{"default", "10"}}, "cohortName: c, ");
  s.job("train", "a", 5, "1").job("other", "b", 6, "1", false).job("filler", "lends", 6, "1", false);
  s.step().job("p", "b", 3, "1", false).parallelism("train", 6);  // 3 are free: 2 of 20 borrowed by a, or 3 of 20 by b
  const auto r = s.step().play();
  EXPECT_EQ(slices(r, 1, "train"), (Lines{"5 finished:WorkloadSliceReplaced", "6 admitted"}));
  EXPECT_EQ(slices(r, 1, "p"), Lines{"3 pending:WaitingForQuota"});
}

// EJ-43: what is known of a shape tells nothing of a replacement of that shape, nor the other way round
TEST(ElasticRules, AReplacementIsLikeNoOtherWorkloadOfItsShape) {
  Story s = one_queue("4");
  s.job("train", "cq", 2, "1").step().job("wide", "cq", 3, "1", false).step().parallelism("train", 3);
  const auto r = s.step().play();
  EXPECT_EQ(slices(r, 1, "wide"), Lines{"3 pending:WaitingForQuota"});
  EXPECT_EQ(slices(r, 2, "train"), (Lines{"2 finished:WorkloadSliceReplaced", "3 admitted"}));

  Story t = one_queue("4");
  t.flavor("spare").queue("two", {{"default", "4"}, {"spare", "4"}});
  t.job("train", "two", 3, "1").step().parallelism("train", 5).step().job("wide", "two", 5, "500m", false);
  const auto parked = t.step().play();
  EXPECT_EQ(slices(parked, 1, "train")[1].substr(0, 9), "5 pending") << "default is too small, and it may not change";
  EXPECT_EQ(slices(parked, 2, "wide"), Lines{"5 admitted"});
}

// EJ-48, EJ-95: new pods are not ready yet, and that holds up nobody; the old slice stays as ready as it was
TEST(ElasticRules, AReplacementWaitsForOthersToBeReadyNotForItsOwnJob) {
  Story s = one_queue("10");
  s.configure(R"({"waitForPodsReady":{"timeout":"1h","blockAdmission":true}})");
  s.job("train", "cq", 3, "1").step().status("train", "{active: 3, ready: 3}").step().parallelism("train", 5);
  const auto r = s.step().play();
  EXPECT_EQ(slices(r, 2, "train"), (Lines{"3 finished:WorkloadSliceReplaced", "5 admitted"}));
  EXPECT_EQ(reason(objects(r, "train")[1], "PodsReady"), "False WaitForStart");
  const auto ready = s.status("train", "{active: 5, ready: 5}").step().play();
  EXPECT_EQ(reason(objects(ready, "train")[1], "PodsReady"), "True Started");

  Story other = one_queue("10");
  other.configure(R"({"waitForPodsReady":{"timeout":"1h","blockAdmission":true}})");
  other.job("train", "cq", 3, "1").step().status("train", "{active: 3, ready: 3}").step().job("slow", "cq", 1, "1", false);
  const auto blocked = other.step().parallelism("train", 5).step().play();
  EXPECT_EQ(slices(blocked, 3, "train")[0], "3 admitted") << "another job is not ready";
  EXPECT_EQ(slices(blocked, 3, "train")[1].substr(0, 9), "5 pending");
  EXPECT_EQ(reason(objects(blocked, "train")[0], "PodsReady"), "True Started") << "its own pods are";
  const auto later = other.status("slow", "{active: 1, ready: 1}").step().play();
  EXPECT_EQ(slices(later, 4, "train"), (Lines{"3 finished:WorkloadSliceReplaced", "5 admitted"}));
}

// EJ-95: pods that do not get ready in time end the whole job's turn, those that were ready as well
TEST(ElasticRules, PodsThatAreNeverReadyEvictTheWholeJob) {
  Story s = one_queue("10");
  s.configure(R"({"waitForPodsReady":{"timeout":"25s","requeuingStrategy":{"backoffBaseSeconds":3600}}})");
  s.job("train", "cq", 3, "1").step().status("train", "{active: 3, ready: 3}").step().parallelism("train", 5);
  const auto r = s.step().step().step().step().play();
  EXPECT_EQ(slices(r, 3, "train"), (Lines{"3 finished:WorkloadSliceReplaced", "5 admitted"}));
  EXPECT_EQ(slices(r, 5, "train")[1], "5 leaving");
  EXPECT_TRUE(suspended(r, 5, "train"));
  EXPECT_EQ(reason(objects(r, "train")[1], "Evicted"), "True PodsReadyTimeout");
}

// EJ-52: pods of the old slice are neither gated nor written to
TEST(ElasticRules, PodsThatRunAreLeftAlone) {
  Story s = one_queue("10");
  s.job("train", "cq", 2, "1");
  const std::string uid = s.play().world->simulated().find("Job", "default", "train")->uid;
  s.step().pod("train-a", "train", uid, "Running", false).pod("train-b", "train", uid, "Running", false).step();
  const auto version = [](const ScenarioResult& r, const char* pod) {
    return r.world->simulated().find("Pod", "default", pod)->metadata()["resourceVersion"].get<std::string>();
  };
  const auto before = s.play();
  const auto r = s.parallelism("train", 5).step().play();
  EXPECT_EQ(slices(r, 2, "train"), (Lines{"2 finished:WorkloadSliceReplaced", "5 admitted"}));
  for (const char* pod : {"train-a", "train-b"}) EXPECT_EQ(version(r, pod), version(before, pod)) << pod;
}

// EJ-89: who is leaving already is nobody's victim again
TEST(ElasticRules, ALeavingSliceIsNoVictimAgain) {
  Story s = one_queue("4", "preemption: {withinClusterQueue: LowerPriority}, ");
  s.priority("high", 100).job("train", "cq", 4, "1").step().status("train", "{active: 4}");
  s.step().job("first", "cq", 2, "1", false, "high").step().job("second", "cq", 2, "1", false, "high").step();
  const auto r = s.status("train", "{active: 0}").step().play();
  EXPECT_EQ(slices(r, 2, "train"), Lines{"4 leaving"});
  EXPECT_EQ(slices(r, 3, "train"), Lines{"4 leaving"});
  EXPECT_EQ(slices(r, 4, "first"), Lines{"2 admitted"});
  EXPECT_EQ(slices(r, 4, "second"), Lines{"2 admitted"});
  EXPECT_EQ(evictions(objects(r, "train")[0]), 1);
}

// EJ-90: whatever evicts a slice evicts the job; a deactivation frees the quota at once
TEST(ElasticRules, EveryEvictionIsOneOfTheWholeJob) {
  const auto running = [] {
    Story s = one_queue("4");
    s.job("train", "cq", 3, "1").step().status("train", "{active: 3}").step().parallelism("train", 5).step();
    return s;
  };
  const auto held = running().patch("ClusterQueue", "cq", false, "{spec: {stopPolicy: Hold}}").step().play();
  EXPECT_EQ(slices(held, 3, "train")[0], "3 admitted");
  EXPECT_FALSE(suspended(held, 3, "train"));

  const auto drained = running().patch("ClusterQueue", "cq", false, "{spec: {stopPolicy: HoldAndDrain}}").step().play();
  EXPECT_EQ(slices(drained, 3, "train")[0], "3 leaving");
  EXPECT_TRUE(suspended(drained, 3, "train"));
  EXPECT_EQ(used(drained, 3, "cq"), "3") << "its pods still run";

  const std::string origin = objects(running().play(), "train")[0]->name;
  const auto off = running().patch("Workload", origin, false, "{spec: {active: false}}").step().play();
  EXPECT_TRUE(suspended(off, 3, "train"));
  EXPECT_EQ(used(off, 3, "cq"), "0");
}

// EJ-99: finished slices go when their time is over, finalizer and all
TEST(ElasticRules, FinishedSlicesAreNotKeptForEver) {
  Story s = one_queue("10");
  s.configure(R"({"objectRetentionPolicies":{"workloads":{"afterFinished":"15s"}}})");
  const auto r = s.job("train", "cq", 3, "1").step().parallelism("train", 5).step().step().step().play();
  EXPECT_EQ(slices(r, 1, "train"), (Lines{"3 finished:WorkloadSliceReplaced", "5 admitted"}));
  ASSERT_EQ(objects(r, "train").size(), 1U);
  EXPECT_EQ(objects(r, "train")[0]->spec()["podSets"][0]["count"], 5);
}

// EJ-151: a scan that stopped at a flavor is not resumed behind it; only the flavor of the old slice is judged
TEST(ElasticRules, AReplacementScansFromTheBeginningEachTime) {
  Story s;
  s.flavor("small").flavor("large").queue(
      "cq", {{"small", "4"}, {"large", "9"}},
      "flavorFungibility: {whenCanPreempt: TryNextFlavor}, preemption: {withinClusterQueue: LowerPriority}, ");
  s.priority("high", 100).job("train", "cq", 2, "1", true, "high").job("rival", "cq", 2, "1", false, "high").step().parallelism("train", 4);
  const auto r = s.step().finish("rival").step().play();
  const auto waiting = slices(r, 1, "train");
  EXPECT_EQ(waiting, (Lines{"2 admitted", "4 pending:WaitingForQuota"})) << "its own flavor's reason, not that of the others";
  EXPECT_EQ(slices(r, 2, "train"), (Lines{"2 finished:WorkloadSliceReplaced", "4 admitted"}));
  EXPECT_EQ(objects(r, "train")[1]->status()["admission"]["podSetAssignments"][0]["flavors"]["cpu"], "small");
}

}  // namespace
}  // namespace hindsight::simulation
