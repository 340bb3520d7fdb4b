// Jobs and their Workloads beside the ordinary way: made beforehand, orphaned, kept for a while and then deleted.

#include <gtest/gtest.h>

#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

class JobLife : public ::testing::Test {
 protected:
  FactWorld w;
  void SetUp() override {
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "cq", .cpu = 10'000});
    w.local_queue("lq", "cq");
    w.observe(MirrorSynced{});
    w.tick(Duration::seconds(2));
    (void)w.settle();
    (void)w.driver().collect_intents();
  }
  [[nodiscard]] std::string finished(std::string_view name) const {
    const auto* c = w.state(name).find(ConditionType::finished);
    return c == nullptr ? "" : std::string(c->reason.text()) + ": " + c->message;
  }
};

// base-api §5 prebuilt-workload-name
TEST_F(JobLife, AJobTakesOverTheWorkloadThatItNames) {
  auto j = w.job("a", "lq");
  j.prebuilt_workload = "made-before";
  w.observe(j);
  EXPECT_EQ(w.settle(), Lines{}) << "no Workload is made for it";
  auto adopts = w.wanted<WorkloadAdoptIntent>();
  ASSERT_EQ(adopts.size(), 1U);
  EXPECT_EQ(adopts[0].name, "made-before");
  EXPECT_EQ(adopts[0].job_uid, "job-a");

  auto prebuilt = w.workload("made-before", "lq", 1'000);
  w.observe(prebuilt);
  EXPECT_EQ(w.settle(), Lines{"reserved made-before admitted"});
  EXPECT_TRUE(w.wanted<JobIntent>().empty()) << "it is not the job's yet";
  prebuilt.meta.resource_version = w.next_version();
  prebuilt.owner_uid = j.meta.uid;
  prebuilt.job_uid = j.meta.uid;
  w.observe(prebuilt);  // adopted; the admission had not been written yet and is decided once more
  (void)w.settle();
  EXPECT_TRUE(w.state("made-before").admitted());
  EXPECT_EQ(w.driver().queue(Symbol("cq"))->counters().reserving, 1);
  const auto intents = w.driver().collect_intents();
  EXPECT_EQ(std::count_if(intents.begin(), intents.end(), [](const Intent& i) { return std::holds_alternative<WorkloadAdoptIntent>(i); }),
            0);
  const auto starts = std::count_if(intents.begin(), intents.end(), [](const Intent& i) {
    const auto* job = std::get_if<JobIntent>(&i);
    return job != nullptr && job->run && job->workload == "made-before";
  });
  EXPECT_EQ(starts, 1);
}

// BA-175
TEST_F(JobLife, APrebuiltWorkloadThatDoesNotMatchIsFinished) {
  auto j = w.job("a", "lq", 2'000);
  j.prebuilt_workload = "a";
  w.observe(j);
  auto prebuilt = w.workload("a", "lq", 1'000);
  prebuilt.owner_uid = j.meta.uid;
  w.observe(prebuilt);
  EXPECT_EQ(w.settle().front(), "finished a");
  EXPECT_EQ(finished("a"), "OutOfSync: The prebuilt workload is out of sync with its user job");
  EXPECT_EQ(w.driver().queue(Symbol("cq"))->counters().reserving, 0);
}

// BA-174: finalizers of a user's keep a job as long as the user likes, and its pods run on
TEST_F(JobLife, AJobThatIsBeingDeletedIsStoppedAllTheSameIfItRunsWithoutQuota) {
  auto j = w.job("a", "lq");
  j.meta.deleting = true;
  j.suspended = false;
  j.active = true;
  w.observe(j);
  EXPECT_EQ(w.settle(), Lines{});
  auto intents = w.wanted<JobIntent>();
  ASSERT_EQ(intents.size(), 1U);
  EXPECT_FALSE(intents[0].run);
  j.meta.resource_version = w.next_version();
  j.suspended = true;
  w.observe(j);
  EXPECT_EQ(w.settle(), Lines{});
  EXPECT_TRUE(w.wanted<JobIntent>().empty());

  auto held = w.job("b", "lq");
  w.observe(held);
  (void)w.settle();
  w.observe(w.workload_of(held));
  (void)w.settle();
  held.meta.resource_version = w.next_version();
  held.meta.deleting = true;
  held.suspended = false;
  held.active = true;
  w.observe(held);
  (void)w.settle();
  for (const auto& i : w.wanted<JobIntent>()) EXPECT_TRUE(i.run) << "it has quota as long as it runs";
}

// BA-149: the job went and left the Workload behind
TEST_F(JobLife, AWorkloadThatAJobLeftBehindIsFinished) {
  auto o = w.workload("left", "lq", 1'000);
  o.job_uid = "job-of-old";
  w.observe(o);
  EXPECT_EQ(w.settle(), Lines{"finished left"});
  EXPECT_EQ(finished("left").substr(0, 13), "OwnerNotFound");
  auto own = w.workload("own", "lq", 1'000);  // nobody's from the start
  w.observe(own);
  EXPECT_EQ(w.settle(), Lines{"reserved own admitted"});
  own.meta.resource_version = w.next_version();
  own.meta.deleting = true;
  w.observe(own);
  EXPECT_EQ(w.settle(), Lines{"finished own"});
}

// BA-149: with the gate off it stays a Workload like others
TEST_F(JobLife, OrphansLiveOnWhereTheGateIsOff) {
  Settings settings;
  settings.finish_orphaned = false;
  w.configure(settings);
  auto o = w.workload("left", "lq", 1'000);
  o.job_uid = "job-of-old";
  w.observe(o);
  EXPECT_EQ(w.settle(), Lines{"reserved left admitted"});
}

/// A job of low priority that was admitted a moment ago, and one of high priority that takes its place.
class HastyPreemption : public JobLife {
 protected:
  JobObserved j = w.job("low", "lq", 8'000);
  void SetUp() override {
    JobLife::SetUp();
    w.queue({.name = "cq", .cpu = 10'000, .within = PreemptionPolicy::lower_priority});
    w.observe(j);
    (void)w.settle();
    w.observe(w.workload_of(j));
    EXPECT_EQ(w.settle().back(), "reserved low admitted");
    start = the_one();
    EXPECT_TRUE(start.run);
    EXPECT_EQ(start.settles, 0U);
    w.observe(w.workload("high", "lq", 8'000, 100));
    (void)w.settle();
    EXPECT_TRUE(w.state("low").evicted());
  }
  JobIntent the_one() {
    auto all = w.wanted<JobIntent>();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? JobIntent{} : all.back();
  }
  void see(bool suspended, std::uint64_t settled = 0) {
    j.meta.resource_version = settled == 0 ? w.next_version() : 0;
    j.suspended = suspended;
    j.active = !suspended;
    j.start_settled = settled;
    w.observe(j);
    (void)w.settle();
  }
  JobIntent start;
};

// BA-131: decisions are faster than writes, and the start may be on its way
TEST_F(HastyPreemption, AStartThatMayBeUnderWayKeepsItsQuota) {
  EXPECT_TRUE(w.state("low").reserved());
  EXPECT_FALSE(w.state("high").reserved());
  const auto stop = the_one();
  EXPECT_FALSE(stop.run);
  ASSERT_NE(stop.settles, 0U);
  see(true);
  EXPECT_TRUE(w.state("low").reserved()) << "that it is suspended says nothing of what is under way";
  EXPECT_EQ(the_one().settles, stop.settles) << "it is asked for again whenever the job is seen";
  see(true, stop.settles - 1);
  EXPECT_TRUE(w.state("low").reserved()) << "an answer to another question";
  see(true, stop.settles);
  EXPECT_FALSE(w.state("low").reserved());
  EXPECT_TRUE(w.state("high").admitted());
  EXPECT_TRUE(w.wanted<JobIntent>().empty());
}

// BA-131
TEST_F(HastyPreemption, AStartThatArrivesAfterAllIsStopped) {
  (void)the_one();
  see(false);
  EXPECT_TRUE(w.state("low").reserved());
  const auto stop = the_one();
  EXPECT_FALSE(stop.run);
  EXPECT_EQ(stop.settles, 0U) << "it is seen to run, so it will be seen to stop";
  see(true);
  EXPECT_FALSE(w.state("low").reserved());
  EXPECT_TRUE(w.state("high").admitted());
}

// BA-131: what was said of an earlier stop does not hold after the job was to be started once more
TEST_F(HastyPreemption, AnAnswerThatComesTooLateSettlesNothing) {
  const auto stop = the_one();
  see(false);
  see(true);
  EXPECT_FALSE(w.state("low").reserved());
  w.observe(ObjectDeleted{.kind = ObjectKind::workload, .namespace_ = "default", .name = "high", .uid = "uid-high"});
  w.tick(Duration::seconds(2));
  (void)w.settle();
  ASSERT_TRUE(w.state("low").admitted());
  EXPECT_TRUE(the_one().run);
  see(true, stop.settles);
  EXPECT_TRUE(w.state("low").admitted());
  EXPECT_TRUE(the_one().run);
  w.observe(w.workload("high", "lq", 8'000, 100));
  (void)w.settle();
  EXPECT_TRUE(w.state("low").reserved());
  EXPECT_GT(the_one().settles, stop.settles);
}

// MR-59: a stop that was begun comes to its end, also when the job is admitted by then
TEST_F(JobLife, AStopInProgressEndsBeforeTheNextStart) {
  auto j = w.job("a", "lq");
  w.observe(j);
  (void)w.settle();
  w.observe(w.workload_of(j));
  EXPECT_EQ(w.settle().back(), "reserved a admitted");
  (void)w.wanted<JobIntent>();
  j.meta.resource_version = w.next_version();
  j.stopping = true;
  j.suspended = false;
  w.observe(j);
  (void)w.settle();
  auto wanted = w.wanted<JobIntent>();
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_FALSE(wanted[0].run);
  j.meta.resource_version = w.next_version();
  j.stopping = false;
  j.suspended = true;
  w.observe(j);
  (void)w.settle();
  wanted = w.wanted<JobIntent>();
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_TRUE(wanted[0].run);
}

class Retention : public JobLife {
 protected:
  void SetUp() override {
    JobLife::SetUp();
    Settings settings;
    settings.retain_deactivated = Duration::seconds(60);
    w.configure(settings);
    (void)w.settle();
  }
  /// Deactivated by us, for its execution time was over.
  WorkloadObserved deactivated(WorkloadObserved o) {
    o.meta.resource_version = w.next_version();
    o.active = false;
    condition_ = {ConditionType::evicted, ConditionStatus::true_, "DeactivatedDueToMaximumExecutionTimeExceeded", "m", w.now};
    o.conditions = {&condition_, 1};
    return o;
  }
  ConditionFacts condition_;
};

// BA-148: exactly after the period
TEST_F(Retention, TheJobOfADeactivatedWorkloadIsDeletedAfterThePeriod) {
  const auto j = w.job("a", "lq");
  w.observe(j);
  (void)w.settle();
  w.observe(deactivated(w.workload_of(j)));
  (void)w.settle();
  EXPECT_EQ(w.driver().domain().next_due(), w.now + Duration::seconds(60));
  w.tick(Duration::seconds(59));
  EXPECT_EQ(w.settle(), Lines{});
  (void)w.wanted<JobIntent>();
  w.tick(Duration::seconds(1));
  EXPECT_EQ(w.settle(), Lines{"removed a"});
  const auto intents = w.driver().collect_intents();
  ASSERT_EQ(std::count_if(intents.begin(), intents.end(),
                          [](const Intent& i) { return std::holds_alternative<JobIntent>(i) && std::get<JobIntent>(i).remove; }),
            1);
  EXPECT_EQ(std::count_if(intents.begin(), intents.end(),
                          [](const Intent& i) { return std::holds_alternative<WorkloadIntent>(i) && std::get<WorkloadIntent>(i).remove; }),
            0)
      << "it goes with its job";
  w.tick(Duration::seconds(60));
  EXPECT_EQ(w.settle(), Lines{}) << "once is enough";
}

// BA-148: who was deactivated by a user, or runs again, is kept
TEST_F(Retention, OnlyOurOwnDeactivationsCount) {
  const auto j = w.job("a", "lq");
  w.observe(j);
  (void)w.settle();
  auto o = deactivated(w.workload_of(j));
  condition_.reason = "Deactivated";
  w.observe(o);
  (void)w.settle();
  w.tick(Duration::seconds(120));
  EXPECT_EQ(w.settle(), Lines{});
  const auto k = w.job("b", "lq");
  w.observe(k);
  (void)w.settle();
  auto again = deactivated(w.workload_of(k));
  w.observe(again);
  (void)w.settle();
  again.meta.resource_version = w.next_version();
  again.active = true;
  w.observe(again);
  (void)w.settle();
  w.tick(Duration::seconds(120));
  for (const auto& line : w.settle()) EXPECT_NE(line, "removed b");
}

// BA-148: without a job the Workload itself goes
TEST_F(Retention, AWorkloadWithoutAJobGoesItself) {
  w.observe(deactivated(w.workload("own", "lq", 1'000)));
  (void)w.settle();
  w.tick(Duration::seconds(60));
  EXPECT_EQ(w.settle(), Lines{"removed own"});
  const auto intents = w.wanted<WorkloadIntent>();
  ASSERT_EQ(intents.size(), 1U);
  EXPECT_TRUE(intents[0].remove);
}

}  // namespace
}  // namespace hindsight::admission::testing
