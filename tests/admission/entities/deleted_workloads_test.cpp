// Workloads that are deleted while their jobs run: without a finalizer, with their quota (D16).

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

/// A queue with room for one: the job `a` runs in it, `b` waits behind.
class DeletedWorkloads : public ::testing::Test {
 protected:
  void start(std::uint32_t rules = rules_version) {
    if (rules != rules_version) w.observe_epoch(rules);
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "cq", .cpu = 1'000});
    w.local_queue("lq", "cq");
    w.observe(MirrorSynced{});
    a_ = w.job("a", "lq");
    w.observe(a_);
    (void)w.settle();
    w.observe(w.workload_of(a_));
    (void)w.settle();
    auto written = w.seen_as("a");
    written.owner_uid = a_.meta.uid;
    w.observe(written);
    job({.suspended = false, .active = true});
    w.observe(w.workload("b", "lq", 1'000));
    EXPECT_EQ(reserved(), Lines{}) << "the queue is full";
    (void)w.wanted<JobIntent>();
  }
  struct Job {
    bool suspended = true, active = false, finished = false;
  };
  void job(Job how) {
    a_.meta.resource_version = w.next_version();
    a_.suspended = how.suspended;
    a_.active = how.active;
    a_.finished = how.finished;
    w.observe(a_);
  }
  void gone(ObjectKind kind, std::string_view uid, std::string_view departed_to = {}) {
    ObjectDeleted o;
    o.kind = kind;
    o.namespace_ = "default";
    o.name = "a";
    o.uid = uid;
    o.departed_to = departed_to;
    w.observe(o);
  }
  void delete_workload() { gone(ObjectKind::workload, "uid-a"); }
  /// Who gets quota now, or when those that are parked are tried again.
  Lines reserved() {
    Lines out = w.settle();
    w.tick(Duration::seconds(2));
    std::ranges::copy(w.settle(), std::back_inserter(out));
    std::erase_if(out, [](const std::string& line) { return !line.starts_with("reserved "); });
    return out;
  }
  [[nodiscard]] std::int32_t reserving() { return w.driver().queue(Symbol("cq"))->counters().reserving; }
  [[nodiscard]] bool is_known() { return w.driver().domain().find_parent("uid-a").has_value(); }

  FactWorld w;
  JobObserved a_;
};

// BA-174, D16
TEST_F(DeletedWorkloads, KeepTheirQuotaUntilTheJobHasStopped) {
  start();
  delete_workload();
  EXPECT_EQ(w.settle(), Lines{"stopped a"}) << "the log and an Event say why";
  EXPECT_EQ(reserved(), Lines{}) << "its pods are still there";
  EXPECT_EQ(reserving(), 1);
  EXPECT_TRUE(w.state("a").deleting);
  auto stops = w.wanted<JobIntent>();
  ASSERT_EQ(stops.size(), 1U);
  EXPECT_FALSE(stops[0].run);
  EXPECT_TRUE(w.all<WorkloadIntent>().empty() || w.all<WorkloadIntent>()[0].name != "a") << "there is no object to be written to";
  job({.suspended = true, .active = true});
  EXPECT_EQ(reserved(), Lines{}) << "they are being terminated";
  delete_workload();  // told again, as after a restart
  EXPECT_EQ(reserving(), 1);
  job({.suspended = true, .active = false});
  EXPECT_FALSE(is_known());
  EXPECT_EQ(reserving(), 0);
  EXPECT_EQ(reserved(), Lines{"reserved b admitted"});
  EXPECT_EQ(w.all<WorkloadCreateIntent>().size(), 1U) << "the job gets a new one";
}

// What a stop restores is read from the Workload elsewhere.
TEST_F(DeletedWorkloads, TellTheStopWhatTheStartPutIn) {
  start();
  delete_workload();
  (void)w.settle();
  const auto stops = w.wanted<JobIntent>();
  ASSERT_EQ(stops.size(), 1U);
  ASSERT_EQ(stops[0].before.size(), 1U);
  EXPECT_EQ(stops[0].before[0].name, "main");
  EXPECT_EQ(stops[0].before[0].count, 1);
  ASSERT_EQ(stops[0].pod_sets.size(), 1U);
  EXPECT_EQ(stops[0].pod_sets[0].name, "main");
  EXPECT_EQ(stops[0].workload, "a");
  EXPECT_EQ(stops[0].cluster_queue, "cq");
}

TEST_F(DeletedWorkloads, GoAtOnceWhereNothingRuns) {
  start();
  job({.suspended = false, .active = false, .finished = true});
  (void)w.settle();
  delete_workload();
  EXPECT_FALSE(is_known());
  gone(ObjectKind::workload, "uid-b");
  EXPECT_FALSE(w.driver().domain().find_parent("uid-b").has_value()) << "it has no job";
}

TEST_F(DeletedWorkloads, GoWithTheirJob) {
  start();
  delete_workload();
  gone(ObjectKind::job, "job-a");
  EXPECT_FALSE(is_known());
  EXPECT_EQ(reserved(), Lines{"reserved b admitted"});
}

TEST_F(DeletedWorkloads, GoWhereTheJobEndsMeanwhile) {
  start();
  delete_workload();
  job({.suspended = false, .active = false, .finished = true});
  EXPECT_FALSE(is_known());
  EXPECT_EQ(reserved(), Lines{"reserved b admitted"});
}

// A Workload that moves to another domain leaves nothing here: its job moves with it.
TEST_F(DeletedWorkloads, AreNotThoseThatMove) {
  start();
  gone(ObjectKind::workload, "uid-a", "other");
  EXPECT_FALSE(is_known());
}

// A list that was begun before may show it once more.
TEST_F(DeletedWorkloads, AreThereAgainWhenTheyAreSeenAgain) {
  start();
  const auto shown = w.seen_as("a");
  delete_workload();
  auto again = shown;
  again.owner_uid = a_.meta.uid;
  again.meta.resource_version = w.next_version();
  w.observe(again);
  EXPECT_FALSE(w.state("a").gone);
  EXPECT_FALSE(w.state("a").deleting);
  (void)w.settle();
  for (const auto& i : w.all<JobIntent>()) EXPECT_TRUE(i.run);
}

TEST_F(DeletedWorkloads, AreInSnapshots) {
  start();
  delete_workload();
  (void)w.settle();
  const auto bytes = SnapshotCodec::write(w.driver());
  FactWorld again;
  ASSERT_TRUE(SnapshotCodec::read(bytes, again.driver()));
  EXPECT_EQ(again.driver().state_hash(), w.driver().state_hash());
  EXPECT_TRUE(again.state("a").gone);
}

// BA-207: quota was free when the object had gone, which its finalizer kept until the job had stopped.
TEST_F(DeletedWorkloads, LeftAtOnceByEarlierRules) {
  start(rules_with_quota_of_deleted - 1);
  delete_workload();
  EXPECT_FALSE(is_known());
  EXPECT_EQ(reserved(), Lines{"reserved b admitted"});
}

}  // namespace
}  // namespace hindsight::admission::testing
