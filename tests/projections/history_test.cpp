// The history of a workload: what every record changed, in a reader's words.

#include "projections/history.hpp"

#include <algorithm>

#include "tests/projections/reading.hpp"

namespace hindsight::projections {
namespace {

using Lines = std::vector<std::string>;

class HistoryOf : public Reading {};

TEST_F(HistoryOf, AJobFromItsCreationToItsEnd) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  w.submit_job({.name = "train", .cpu = 1500, .priority = 3, .count = 2});
  w.settle();
  w.confirm();  // our own writes coming back are no news
  w.tick(Duration::seconds(1));
  w.change_job("train", [](JobObserved& j) { j.suspended = false; });
  w.settle();
  w.change_job("train", [](JobObserved& j) { j.active = j.pods_ready = true; });
  w.settle();
  w.confirm();
  w.change_job("train", [](JobObserved& j) {
    j.active = false;
    j.finished = j.succeeded = true;
    j.finish_message = "Job finished successfully";
  });
  w.settle();
  EXPECT_EQ(story("job/train"),
            (Lines{
                "observed Job default/train: created for LocalQueue lq, suspended: main x2 (cpu 1500m each)",
                "decided Job default/train: Workload job-train requested in LocalQueue lq, priority 0",
                "observed Workload default/job-train: created in LocalQueue lq of ClusterQueue cq, priority 3: main x2 (cpu 1500m each)",
                "decided Workload default/job-train: PodsReady=False: WaitForStart, Not all pods are ready or succeeded",
                "decided Workload default/job-train: quota reserved in cq: main x2 default/cpu 3; admitted",
                "observed Job default/train: started",
                "observed Job default/train: pods are active",
                "observed Job default/train: all pods are ready",
                "decided Workload default/job-train: PodsReady=True: Started, All pods reached readiness and the workload is running",
                "observed Job default/train: no pod is active",
                "observed Job default/train: succeeded: Job finished successfully",
                "decided Workload default/job-train: finished: Succeeded, Job finished successfully",
            }));
  EXPECT_EQ(story("job-train").size(), story("job/train").size());
}

TEST_F(HistoryOf, APreemptionHasTwoSides) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}, .within = PreemptionPolicy::lower_priority}});
  w.submit({.name = "low", .cpu = 4000});
  w.settle();
  w.confirm();
  w.submit({.name = "high", .cpu = 4000, .priority = 10});
  w.settle();
  w.confirm();
  w.release("low");
  w.wake();
  const auto low = story("low");
  const auto has = [](const Lines& lines, const std::string& part) {
    return std::any_of(lines.begin(), lines.end(), [&](const auto& l) { return l.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(
      has(low, "decided Workload default/low: preempted by default/high of cq: InClusterQueue, Preempted to accommodate a workload"))
      << ::testing::PrintToString(low);
  EXPECT_TRUE(has(low, "observed Workload default/low: admission cleared"));
  EXPECT_TRUE(has(low, "decided Workload default/low: tried in cq: WaitingForQuota"));
  const auto high = story("high");
  EXPECT_TRUE(has(high, "decided Workload default/high: preempts default/low: InClusterQueue")) << ::testing::PrintToString(high);
  EXPECT_TRUE(has(high, "quota reserved in cq: main x1 default/cpu 4; admitted"));
}

// BA-211: parked by the failure of an equal one, and woken by what happens to others
TEST_F(HistoryOf, WhatOthersDoToItsPlaceIsTold) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  w.submit({.name = "holder", .cpu = 4000});
  w.settle();
  w.submit({.name = "first", .cpu = 3000});
  w.submit({.name = "second", .cpu = 3000});
  w.settle();
  w.finish("holder");
  w.wake();
  w.local_queue("lq", "cq", StopPolicy::hold);
  EXPECT_EQ(story("second"),
            (Lines{
                "observed Workload default/second: created in LocalQueue lq of ClusterQueue cq, priority 0: main x1 (cpu 3 each)",
                "observed Workload default/second: parked together with default/first, which is equal: WaitingForQuota",
                "observed Workload default/second: back in line: something changed in the cohort tree of cq",
                std::string("decided Workload default/second: tried in cq: WaitingForQuota, couldn't assign flavors to pod set main: ") +
                    "insufficient unused quota for cpu in flavor default, 2 more needed; parked",
                "observed Workload default/second: taken out of ClusterQueue cq",
            }));
}

TEST_F(HistoryOf, ADeletedWorkloadStillHasOne) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  w.submit({.name = "one"});
  w.settle();
  w.remove("one");
  const auto lines = story("one");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines.back(), "observed Workload default/one: deleted");
  EXPECT_TRUE(story("nobody").empty());
}

TEST_F(HistoryOf, EntriesNameRecordAndCause) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  w.submit({.name = "one"});
  const auto base = w.position();
  w.settle();
  const auto entries = history("one");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].offset, base);
  EXPECT_FALSE(entries[0].decided);
  EXPECT_EQ(entries[1].offset, base + 1);
  EXPECT_TRUE(entries[1].decided);
  EXPECT_EQ(entries[1].cause, base);
  EXPECT_EQ(entries[1].kind, "admitted");
}

}  // namespace
}  // namespace hindsight::projections
