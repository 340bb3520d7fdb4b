// How a decision came about, as people and programs read it.

#include "projections/how.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "events/memory_log.hpp"
#include "replay/decided_again.hpp"
#include "replay/scan.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::projections {
namespace {

using hindsight::testing::LogWorld;

class HowTest : public ::testing::Test {
 protected:
  events::MemoryLog log;
  LogWorld w{log};

  /// The last decision that has an event of this type.
  template <class E>
  events::Position last_with() {
    w.flush();
    events::Position found = 0;
    EXPECT_TRUE(replay::scan(log, "default", 1, log.last().value(), [&](const events::StoredRecord& stored, const RecordView& record) {
      if (const auto* d = std::get_if<Decisions>(&record.body))
        for (const Event& e : d->events)
          if (std::holds_alternative<E>(e)) found = stored.offset;
      return true;
    }));
    EXPECT_NE(found, 0U);
    return found;
  }
  void look_at(events::Position at, admission::DecisionTrace trace = admission::DecisionTrace()) {
    auto again = replay::decide_again(log, "default", at, std::move(trace));
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_TRUE(again->as_recorded());
    again_.emplace(std::move(*again));
  }
  [[nodiscard]] Decided decided() const {
    Decided d;
    d.position = again_->position;
    d.time = again_->time;
    d.epoch = again_->epoch;
    d.rules = again_->rules;
    d.base = again_->base;
    d.base_record = again_->base_record;
    d.kind = again_->kind;
    d.events = again_->step->events;
    d.trace = &again_->trace;
    return d;
  }
  [[nodiscard]] std::string text(const HowOptions& options = {}) const { return how_text(decided(), options); }
  void expect_lines(const std::string& all, const std::vector<std::string>& lines) const {
    for (const auto& line : lines) EXPECT_NE(all.find(line), std::string::npos) << "missing: " << line << "\nin:\n" << all;
  }

  std::optional<replay::DecidedAgain> again_;
};

TEST_F(HowTest, TellsAPreemptionWithinAQueueStepByStep) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}, .within = PreemptionPolicy::lower_priority}});
  w.submit({.name = "low", .cpu = 2000, .priority = 1});
  w.submit({.name = "equal", .cpu = 2000, .priority = 5});
  w.settle();
  w.submit({.name = "high", .cpu = 2000, .priority = 5});
  w.settle();
  look_at(last_with<WorkloadPreempted>());
  const std::string said = text();
  expect_lines(
      said, {"Made again, it comes out as recorded.", "Tree cq: 1 head\n", "  1. default/high (ClusterQueue cq, priority 5, waits since ",
             "): PendingPreemption, tried again\n", "flavor default: preempts in its own ClusterQueue",
             "cpu 2: 0 free of at most 4, preempts in its own ClusterQueue\n",
             "victims for cpu 2 of flavor default (short of cpu 2 of flavor default): 1 victim\n",
             "default/low (ClusterQueue cq, priority 1): taken (InClusterQueue)\n", "preempts: default/low (InClusterQueue)\n",
             "it is told: WaitingForPreemptedWorkloads: couldn't assign flavors to pod set main: insufficient unused quota for cpu "
             "in flavor default, 2 more needed. Pending the preemption of 1 workload(s)\n"});
  EXPECT_EQ(said.find("default/equal"), std::string::npos) << said;

  const Json j = how_json(decided(), {});
  EXPECT_EQ(j["step"], "Cycle");
  EXPECT_EQ(j["asRecorded"], true);
  const Json& e = j["trees"][0]["rounds"][0]["entries"][0];
  EXPECT_EQ(e["workload"], "default/high");
  EXPECT_EQ(e["outcome"], "Requeue");
  EXPECT_EQ(e["requeueReason"], "PendingPreemption");
  EXPECT_EQ(e["victims"][0]["workload"], "default/low");
  const Json& attempt = e["nominations"][0]["attempts"][0];
  EXPECT_EQ(attempt["scans"][0]["flavors"][0]["mode"], "Preempt");
  EXPECT_EQ(attempt["scans"][0]["flavors"][0]["resources"][0]["free"], "0");
  EXPECT_EQ(attempt["searches"][0]["steps"].back()["victim"], "InClusterQueue");
}

TEST_F(HowTest, TellsWhyNobodyMayBePreempted) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}, .within = PreemptionPolicy::lower_priority}});
  w.submit({.name = "equal", .cpu = 4000, .priority = 5});
  w.settle();
  w.submit({.name = "waits", .cpu = 2000, .priority = 5});
  w.settle();
  look_at(last_with<EntryRequeued>());
  expect_lines(text(),
               {"default/waits (ClusterQueue cq, priority 5", "PreemptionNoCandidates, parked", "nobody to preempt", "none that would do",
                "default/equal (ClusterQueue cq) is no candidate: the policy does not allow it at its priority\n"});
}

TEST_F(HowTest, TellsWhoBorrowsAndWhoTookTheQuota) {
  w.set_up({{.name = "a", .cohort = "co", .quotas = {{.nominal = 4000}}}, {.name = "b", .cohort = "co", .quotas = {{.nominal = 4000}}}});
  w.submit({.name = "borrows", .cpu = 6000});
  w.submit({.name = "own", .queue = "lq-b", .cpu = 4000});
  w.settle();
  look_at(last_with<QuotaReserved>());
  expect_lines(text(), {"Tree co: 2 heads\n", "1. default/own (ClusterQueue b, priority 0", "): gets quota\n",
                        "before default/borrows: its borrowing level is lower\n", "2. default/borrows (ClusterQueue a",
                        "flavor default: fits, borrowing level 1",
                        "at its turn cpu 6 of flavor default no longer fits: 4 free; before it took of that: default/own (4)\n"});
}

TEST_F(HowTest, TellsAReclaim) {
  w.set_up({{.name = "a", .cohort = "co", .quotas = {{.nominal = 4000}}, .reclaim = PreemptionPolicy::any},
            {.name = "b", .cohort = "co", .quotas = {{.nominal = 4000}}}});
  w.submit({.name = "b1", .queue = "lq-b", .cpu = 6000});
  w.settle();
  w.submit({.name = "back", .cpu = 4000});
  w.settle();
  look_at(last_with<WorkloadPreempted>());
  expect_lines(text(), {"flavor default: preempts in the cohort", "default/b1 (ClusterQueue b, priority 0): taken (InCohortReclamation)\n",
                        "ClusterQueue a is no candidate: withinClusterQueue is Never\n"});
}

// BA-120: shares before and after, of both strategies.
TEST_F(HowTest, TellsTheSharesOfFairSharing) {
  w.configure(R"({"fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}})");
  w.set_up({{.name = "a", .cohort = "co", .quotas = {{.nominal = 3000}}, .reclaim = PreemptionPolicy::any},
            {.name = "b", .cohort = "co", .quotas = {{.nominal = 3000}}},
            {.name = "c", .cohort = "co", .quotas = {{.nominal = 3000}}}});
  w.submit({.name = "a1", .cpu = 3000});
  w.submit({.name = "b1", .queue = "lq-b", .cpu = 6000});
  w.settle();
  w.submit({.name = "in", .cpu = 1000});
  w.settle();
  look_at(last_with<WorkloadPreempted>());
  expect_lines(text(),
               {"ClusterQueue a with it: share 112, borrows\n",
                "default/b1 (ClusterQueue b, priority 0): spared; LessThanOrEqualToFinalShare: share of ClusterQueue a with the "
                "preemptor 112, of ClusterQueue b 334 before and 0 after\n",
                "default/b1 (ClusterQueue b, priority 0): taken (InCohortFairSharing); LessThanInitialShare: share of ClusterQueue a "
                "with the preemptor 112, of ClusterQueue b 334 before and 0 after\n"});
}

TEST_F(HowTest, TellsTheFlavorsInOrder) {
  w.set_up({});
  w.flavor("tainted", {}, "gpu");
  w.flavor("small");
  w.flavor("large");
  w.queue({.name = "cq",
           .quotas = {{.flavor = "tainted", .nominal = 9000}, {.flavor = "small", .nominal = 1000}, {.flavor = "large", .nominal = 9000}}});
  w.local_queue("lq", "cq");
  w.wake();
  w.submit({.name = "two", .cpu = 2000});
  w.settle();
  look_at(last_with<QuotaReserved>());
  const std::string said = text();
  expect_lines(said, {"flavor tainted: ruled out, untolerated taint", "flavor small: no fit", "cpu 2: 1 free of at most 1, no fit",
                      "flavor large: fits; no other is tried behind it\n", "chosen: flavor large\n"});
  EXPECT_LT(said.find("flavor tainted"), said.find("flavor small"));
  EXPECT_LT(said.find("flavor small"), said.find("flavor large"));
}

TEST_F(HowTest, TellsOfOneWorkloadOrOneQueue) {
  std::vector<hindsight::testing::QueueOf> queues;
  for (int i = 0; i < 30; ++i) queues.push_back({.name = "q" + std::to_string(i), .cohort = "co", .quotas = {{.nominal = 1000}}});
  w.set_up(queues);
  for (int i = 0; i < 30; ++i) w.submit({.name = "w" + std::to_string(i), .queue = i == 0 ? "lq" : "lq-q" + std::to_string(i)});
  w.settle();
  look_at(last_with<QuotaReserved>());
  HowOptions one;
  one.filter.workload = "default/w7";
  const std::string of_one = text(one);
  expect_lines(of_one, {"default/w7 (ClusterQueue q7", "Tree co: 30 heads"});
  EXPECT_EQ(of_one.find("default/w8 (ClusterQueue"), std::string::npos) << of_one;
  HowOptions queue;
  queue.filter.cluster_queue = "q9";
  expect_lines(text(queue), {"default/w9 (ClusterQueue q9"});
  HowOptions absent;
  absent.filter.workload = "default/none";
  expect_lines(text(absent), {"Nobody whom this decision looked at is meant by default/none."});
  EXPECT_EQ(how_json(decided(), one.filter)["trees"][0]["rounds"][0]["entries"].size(), 1U);
  EXPECT_EQ(how_json(decided(), one.filter)["trees"][0]["rounds"][0]["leftOut"], 29);
  // Lists are cut, and say how much is left out.
  HowOptions few;
  few.heads = 2;
  few.lines = 3;
  expect_lines(text(few), {"  and 25 heads more\n"});
}

TEST_F(HowTest, TellsStepsThatCompareNobody) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  w.submit_job({.name = "train"});
  look_at(last_with<WorkloadRequested>());
  expect_lines(text(), {"Life cycle: ", "Job default/train: WorkloadRequested"});
  EXPECT_EQ(how_json(decided(), {})["step"], "LifeCycle");
  EXPECT_TRUE(how_json(decided(), {})["trees"].empty());
}

TEST_F(HowTest, ShowsWhatATerminalWouldObey) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  w.submit({.name = "bad\x1b[31m\nname"});
  w.settle();
  look_at(last_with<QuotaReserved>());
  const std::string said = text();
  EXPECT_EQ(said.find('\x1b'), std::string::npos);
  EXPECT_NE(said.find("bad\\x1b[31m\\nname"), std::string::npos) << said;
}

}  // namespace
}  // namespace hindsight::projections
