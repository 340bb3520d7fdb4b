// Slices that are evicted or set inactive, one by one or all at once, and what follows the labels of their job (77 §3.9, §3.10).

#include <gtest/gtest.h>

#include "events/memory_log.hpp"
#include "tests/simulation/elastic_story.hpp"
#include "tests/simulation/elastic_told.hpp"

namespace hindsight::simulation {
namespace {

/// Reason and message of the end of the n-th slice; empty: it has not ended.
std::string end_of(const ScenarioResult& r, const std::string& job, std::size_t n) {
  for (const auto& c : objects(r, job).at(n)->status().value("conditions", Json::array()))
    if (c["type"] == "Finished") return c["reason"].get<std::string>() + ": " + c["message"].get<std::string>();
  return "";
}

const Json& annotations_of(const connectors::simulated::StoredPointer& w) { return w->metadata().at("annotations"); }

std::string check_state(const char* state) {
  return std::string("{status: {admissionChecks: [{name: budget, state: ") + state +
         ", message: m, lastTransitionTime: '2026-01-01T00:00:00Z'}]}}";
}

/// "train" runs with three pods on its first slice, and its second one holds quota for seven and waits for a check.
Story with_two_reservations() {
  Story s;
  s.priority("high", 100).flavor("default");
  s.queue("cq", {{"default", "10"}},
          "admissionChecksStrategy: {admissionChecks: [{name: budget}]}, preemption: {withinClusterQueue: LowerPriority}, ");
  s.manifest(
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: budget}, spec: {controllerName: example.com/c}, status: "
      "{conditions: [{type: Active, status: 'True', reason: R, message: '', lastTransitionTime: '2026-01-01T00:00:00Z'}]}}");
  s.job("train", "cq", 3, "1");
  const std::string first = objects(s.play(), "train").at(0)->name;
  s.step().patch("Workload", first, true, check_state("Ready")).step().status("train", "{active: 3}").parallelism("train", 7).step();
  return s;
}

// EJ-83, EJ-84, EJ-88: both slices hold quota when the job is preempted: both are evicted, neither is left when the pods have gone, and one
// new slice is made, for the size that the job has by then
TEST(ElasticEvictions, AllSlicesEvictedAtOnceLeaveOneNewSlice) {
  Story s = with_two_reservations();
  s.job("urgent", "cq", 5, "1", false, "high").step().parallelism("train", 5);
  const auto draining = s.step().play();
  EXPECT_EQ(slices(draining, 2, "train"), (Lines{"3 admitted", "7 reserved"}));
  EXPECT_EQ(used(draining, 2, "cq"), "7");
  for (const std::size_t step : {std::size_t{3}, std::size_t{4}}) {
    ASSERT_EQ(slices(draining, step, "train").size(), 2U) << "nothing is made, and nothing ends, while pods run";
    EXPECT_EQ(slices(draining, step, "train")[0], "3 leaving");
    EXPECT_EQ(slices(draining, step, "train")[1].substr(0, 9), "7 pending") << "it had no pods of its own";
    EXPECT_TRUE(suspended(draining, step, "train"));
    EXPECT_EQ(slices(draining, step, "urgent"), Lines{"5 reserved"});
    EXPECT_EQ(used(draining, step, "cq"), "8") << "what the pods use stays in use until they have gone";
  }
  for (const auto& w : objects(draining, "train")) EXPECT_NE(message(w, "Evicted"), "") << w->name;

  const auto back = s.status("train", "{active: 0}").step().play();
  ASSERT_EQ(slices(back, 5, "train").size(), 3U);
  for (const std::size_t old : {std::size_t{0}, std::size_t{1}}) EXPECT_NE(end_of(back, "train", old), "") << old;
  EXPECT_EQ(end_of(back, "train", 1), "OutOfSync: The workload slice is out of sync with its parent job");
  EXPECT_EQ(slices(back, 5, "train")[2], "5 reserved") << "of the size that was asked for meanwhile, and charged in full";
  EXPECT_EQ(used(back, 5, "cq"), "10");
  EXPECT_TRUE(suspended(back, 5, "train"));

  const auto made = objects(back, "train").at(2);
  EXPECT_FALSE(annotations_of(made).contains("kueue.x-k8s.io/workload-slice-replacement-for")) << "a first one";
  EXPECT_EQ(annotations_of(made).at("kueue.x-k8s.io/workload-slice-name"), made->name);
  const auto runs = s.patch("Workload", made->name, true, check_state("Ready")).step().play();
  ASSERT_EQ(slices(runs, 6, "train").size(), 3U) << "one, and no more";
  EXPECT_EQ(slices(runs, 6, "train")[2], "5 admitted");
  EXPECT_FALSE(suspended(runs, 6, "train"));
}

// EJ-19, EJ-91: a waiting slice that is set inactive only withholds the growth: the job runs on, nothing else is made for it, and it grows
// when the slice is active again
TEST(ElasticEvictions, APendingSliceAloneCanBeInactive) {
  Story s = one_queue("10");
  s.job("train", "cq", 3, "1").job("filler", "cq", 6, "1", false).step().status("train", "{active: 3}").parallelism("train", 5);
  const auto waits = s.play();
  ASSERT_EQ(slices(waits, 1, "train"), (Lines{"3 admitted", "5 pending:WaitingForQuota"}));
  const std::string pending = objects(waits, "train").at(1)->name;
  s.step().patch("Workload", pending, false, "{spec: {active: false}}").step().finish("filler").step().parallelism("train", 6);
  const auto held = s.step().play();
  for (const std::size_t step : {std::size_t{2}, std::size_t{3}, std::size_t{4}}) {
    ASSERT_EQ(slices(held, step, "train").size(), 2U) << step;
    EXPECT_EQ(slices(held, step, "train")[0], "3 admitted") << step;
    EXPECT_EQ(slices(held, step, "train")[1].substr(2, 7), "pending") << "though it would fit from step 3 on; " << step;
    EXPECT_FALSE(suspended(held, step, "train")) << step;
  }
  EXPECT_EQ(slices(held, 4, "train")[1].substr(0, 2), "6 ") << "the same slice follows the job";
  EXPECT_EQ(used(held, 3, "cq"), "3");
  EXPECT_EQ(used(held, 4, "cq"), "3");
  EXPECT_FALSE(objects(held, "train").at(1)->spec()["active"].get<bool>()) << "a resize does not activate it";

  const auto grown = s.patch("Workload", pending, false, "{spec: {active: true}}").step().play();
  EXPECT_EQ(slices(grown, 5, "train"), (Lines{"3 finished:WorkloadSliceReplaced", "6 admitted"}));
  EXPECT_EQ(used(grown, 5, "cq"), "6");
  EXPECT_FALSE(suspended(grown, 5, "train"));
}

// EJ-91: the slice that holds quota is set inactive: the whole job stays so whatever its size becomes, and comes back when it is activated
TEST(ElasticEvictions, AnInactiveJobComesBackWhenItIsActivated) {
  Story s = one_queue("4");
  s.job("train", "cq", 3, "1").step().status("train", "{active: 3}").parallelism("train", 6);
  const std::string origin = objects(s.play(), "train").at(0)->name;
  s.step().patch("Workload", origin, false, "{spec: {active: false}}").step().status("train", "{active: 0}");
  s.step().parallelism("train", 4).step().parallelism("train", 2);
  const auto off = s.step().play();
  EXPECT_EQ(used(off, 2, "cq"), "0") << "a deactivation ends the charge at once";
  for (const std::size_t step : {std::size_t{2}, std::size_t{3}, std::size_t{4}, std::size_t{5}}) {
    EXPECT_TRUE(suspended(off, step, "train")) << step;
    EXPECT_EQ(used(off, step, "cq"), "0") << step;
    for (const auto& slice : slices(off, step, "train")) EXPECT_EQ(slice.find(" admitted"), std::string::npos) << step << ": " << slice;
  }
  std::size_t live = 0;
  for (const auto& w : objects(off, "train"))
    if (message(w, "Finished").empty()) {
      ++live;
      EXPECT_FALSE(w->spec()["active"].get<bool>()) << w->name;
    }
  EXPECT_EQ(live, 1U) << "no later slice is made as an active one";

  const auto on = s.patch("Workload", origin, false, "{spec: {active: true}}").step().play();
  EXPECT_EQ(slices(on, 6, "train")[0], "2 admitted");
  EXPECT_FALSE(suspended(on, 6, "train"));
  EXPECT_EQ(used(on, 6, "cq"), "2");
}

// EJ-94: a slice that got its quota without a class is left alone; the one that waits follows the label
TEST(ElasticEvictions, ASliceThatGotQuotaWithoutAClassIsLeftAlone) {
  Story s = one_queue("4");
  s.priority("high", 100).job("train", "cq", 3, "1").step().parallelism("train", 6);
  s.step().patch("Job", "train", false, "{metadata: {labels: {kueue.x-k8s.io/priority-class: high}}}");
  const auto r = s.step().play();
  const Json& workloads = r.states.at("states").at(2).at("workloads");
  EXPECT_EQ(workloads.at("Job/default/train").at("priority"), 0);
  EXPECT_EQ(workloads.at("Job/default/train#1").at("priority"), 100);
  EXPECT_EQ(slices(r, 2, "train")[0], "3 admitted");
}

// EJ-72: pods of an Indexed Job go in the order of their indexes, which is not that of their names; others by name
TEST(ElasticEvictions, PodsOfAnIndexedJobAreReleasedByIndex) {
  const auto released = [](bool indexed) {
    Story s = one_queue("3");
    s.job("train", "cq", 3, "1");
    const std::string uid = s.play().world->simulated().find("Job", "default", "train")->uid;
    s.step();
    for (const char* index : {"10", "2", "9", "1"})
      s.manifest(std::string("{apiVersion: v1, kind: Pod, metadata: {name: train-") + index +
                 ", namespace: default, labels: {kueue.x-k8s.io/podset: main}, annotations: {kueue.x-k8s.io/workload-slice-name: chain" +
                 (indexed ? std::string(", batch.kubernetes.io/job-completion-index: '") + index + "'" : std::string()) +
                 "}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: train, uid: " + uid +
                 ", controller: true}]}, spec: {restartPolicy: Never, containers: [{name: c, image: i}], schedulingGates: [{name: "
                 "kueue.x-k8s.io/elastic-job}]}, status: {phase: Pending}}");
    events::MemoryLog log;
    (void)s.step().play(&log);
    Lines out;
    for (const auto& release : Told(log).releases) out.insert(out.end(), release.pods.begin(), release.pods.end());
    return out;
  };
  EXPECT_EQ(released(true), (Lines{"train-1", "train-2", "train-9"})) << "the tenth waits";
  EXPECT_EQ(released(false), (Lines{"train-1", "train-10", "train-2"}));
}

}  // namespace
}  // namespace hindsight::simulation
