// The life of an admitted Workload: readiness, time-outs, execution time, eviction (base-admission §8), through all entities.

#include <gtest/gtest.h>

#include <optional>

#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

/// One job with its Workload in a queue with room for it; the test plays the job.
class LifeCycle : public ::testing::Test {
 protected:
  void start(const Settings& settings, std::string_view check = {}, std::int32_t max_exec = 0) {
    w.configure(settings);
    w.namespace_("default");
    w.flavor("default");
    if (!check.empty()) w.check(check);
    w.queue({.name = "a", .cpu = 4'000, .check = check});
    w.local_queue("l", "a");
    w.observe(MirrorSynced{});
    w.tick(Duration::seconds(2));
    (void)w.settle();
    job_ = w.job("j", "l", 4'000);
    if (max_exec > 0) job_.max_exec_seconds = max_exec;
    w.observe(job_);
    (void)w.settle();
    auto o = w.workload_of(job_);
    if (max_exec > 0) o.max_exec_seconds = max_exec;
    w.remember(o);
    w.observe(o);
    (void)w.settle();
  }
  /// The API server shows what was decided, and the job does as it is told.
  void obey() {
    for (int i = 0; i < 4; ++i) {
      w.observe(w.seen_as("j"));
      const bool run = state().admitted() && !state().evicted();
      job([&](JobObserved& j) {
        j.suspended = !run;
        j.active = run;
        if (!run) j.pods_ready = false;
      });
    }
  }
  template <class F>
  void job(F&& change) {
    change(job_);
    job_.meta.resource_version = w.next_version();
    w.observe(job_);
    (void)w.settle();
  }
  void pass(std::int64_t seconds) {
    w.tick(Duration::seconds(seconds));
    (void)w.settle();
  }
  const WorkloadState& state() { return w.state("j"); }
  /// "True Started", or "" without the condition.
  std::string condition(ConditionType type) {
    const auto* c = state().find(type);
    if (c == nullptr) return "";
    return std::string(c->is_true() ? "True " : "False ") + std::string(c->reason.text());
  }
  void check_says(CheckState verdict, std::string_view message, std::optional<std::int32_t> requeue_after = {}) {
    w.observe(w.seen_as("j"));  // what we wrote is there before somebody changes it
    auto o = w.seen_as("j");
    auto checks = w.arena().make<CheckFacts>(1);
    checks[0].name = "k";
    checks[0].state = verdict;
    checks[0].message = message;
    checks[0].last_transition = w.now;
    checks[0].requeue_after_seconds = requeue_after;
    o.checks = checks;
    w.observe(o);
    (void)w.settle();
  }

  FactWorld w;
  JobObserved job_;
};

// BA-130, S33: whole seconds between the admission and its loss
TEST_F(LifeCycle, LosingAdmissionAddsTheSecondsThatItRan) {
  start(Settings{}, {}, 600);
  ASSERT_TRUE(state().admitted());
  obey();
  pass(250);
  auto low = w.seen_as("j");
  w.queue({.name = "a", .cpu = 4'000, .stop = StopPolicy::hold_and_drain});
  (void)w.settle();
  ASSERT_EQ(condition(ConditionType::evicted), "True ClusterQueueStopped");
  EXPECT_FALSE(state().accumulated_exec_seconds.has_value()) << "not before admission is lost";
  obey();
  EXPECT_FALSE(state().admitted());
  EXPECT_EQ(state().accumulated_exec_seconds, 250);

  // re-admitted: 350 seconds are left
  w.queue({.name = "a", .cpu = 4'000});
  pass(2);
  pass(2);
  ASSERT_TRUE(state().admitted());
  obey();
  EXPECT_EQ(w.driver().domain().next_due(), state().find(ConditionType::admitted)->last_transition + Duration::seconds(350));
  (void)low;
}

// BA-141, S33
TEST_F(LifeCycle, TooLongAnExecutionDeactivatesAndClearsTheAccount) {
  start(Settings{}, {}, 600);
  obey();
  job([](JobObserved& j) { j.pods_ready = true; });
  pass(599);
  EXPECT_TRUE(state().active);
  pass(1);
  EXPECT_EQ(condition(ConditionType::evicted), "True DeactivatedDueToMaximumExecutionTimeExceeded");
  EXPECT_EQ(state().find(ConditionType::evicted)->message, "The workload is deactivated due to exceeding the maximum execution time");
  EXPECT_FALSE(state().active);
  EXPECT_EQ(condition(ConditionType::deactivation_target), "") << "taken away with the eviction";
  EXPECT_FALSE(w.driver().queue(Symbol("a"))->holds_quota()) << "D4";
}

// BA-141: what had been accumulated before is cleared with it
TEST_F(LifeCycle, TheAccountIsClearedWhenTheTimeIsOver) {
  start(Settings{}, {}, 600);
  auto o = w.seen_as("j");
  o.accumulated_exec_seconds = 590;
  w.observe(o);
  (void)w.settle();
  obey();
  ASSERT_EQ(state().accumulated_exec_seconds, 590);
  pass(10);
  EXPECT_FALSE(state().active);
  EXPECT_FALSE(state().accumulated_exec_seconds.has_value());
}

// BA-138: readiness through a whole life
TEST_F(LifeCycle, PodsReadyFollowsTheJob) {
  start(Settings{});
  EXPECT_EQ(condition(ConditionType::pods_ready), "False WaitForStart");
  obey();
  EXPECT_EQ(condition(ConditionType::pods_ready), "False WaitForStart");
  EXPECT_EQ(state().find(ConditionType::pods_ready)->message, "Not all pods are ready or succeeded");
  job([](JobObserved& j) { j.pods_ready = true; });
  EXPECT_EQ(condition(ConditionType::pods_ready), "True Started");
  EXPECT_EQ(state().find(ConditionType::pods_ready)->message, "All pods reached readiness and the workload is running");
  job([](JobObserved& j) { j.pods_ready = false; });
  EXPECT_EQ(condition(ConditionType::pods_ready), "False WaitForRecovery");
  EXPECT_EQ(state().find(ConditionType::pods_ready)->message, "At least one pod has failed, waiting for recovery");
  pass(1);
  EXPECT_EQ(condition(ConditionType::pods_ready), "False WaitForRecovery") << "it persists";
  job([](JobObserved& j) { j.pods_ready = true; });
  EXPECT_EQ(condition(ConditionType::pods_ready), "True Recovered");
  job([](JobObserved& j) { j.pods_ready = false; });
  job([](JobObserved& j) { j.pods_ready = true; });
  EXPECT_EQ(condition(ConditionType::pods_ready), "True Recovered") << "and does not become Started again";
  // not admitted any more: from the beginning
  w.queue({.name = "a", .cpu = 4'000, .stop = StopPolicy::hold_and_drain});
  (void)w.settle();
  obey();
  EXPECT_EQ(condition(ConditionType::pods_ready), "False WaitForStart");
}

// BA-140, S32: one time-out too many
TEST_F(LifeCycle, TooManyTimeoutsDeactivate) {
  Settings s;
  s.pods_ready_timeout = Duration::seconds(300);
  s.backoff_limit_count = 3;
  start(s);
  const std::int64_t back_off[] = {60, 120, 240};
  for (int n = 1; n <= 3; ++n) {
    ASSERT_TRUE(state().admitted()) << n;
    obey();
    pass(300);
    ASSERT_EQ(condition(ConditionType::evicted), "True PodsReadyTimeout") << n;
    EXPECT_EQ(state().requeue_count, n);
    EXPECT_EQ(state().requeue_at, w.now + Duration::seconds(back_off[n - 1]));
    obey();
    pass(back_off[n - 1]);
    pass(2);
  }
  obey();
  pass(300);
  EXPECT_EQ(condition(ConditionType::evicted), "True DeactivatedDueToRequeuingLimitExceeded");
  EXPECT_EQ(state().find(ConditionType::evicted)->message,
            "The workload is deactivated due to exceeding the maximum number of re-queuing retries");
  EXPECT_FALSE(state().active);
  EXPECT_FALSE(state().has_requeue_state);
}

// BA-140, S32: without a limit it goes on for ever, and the back-off stops growing
TEST_F(LifeCycle, WithoutALimitTimeoutsNeverDeactivate) {
  Settings s;
  s.pods_ready_timeout = Duration::seconds(300);
  start(s);
  for (const std::int64_t back_off : {60, 120, 240, 480, 960, 1920, 3600, 3600, 3600}) {
    ASSERT_TRUE(state().admitted()) << back_off;
    obey();
    pass(300);
    ASSERT_TRUE(state().active);
    EXPECT_EQ(state().requeue_at, w.now + Duration::seconds(back_off));
    obey();
    pass(back_off);
    pass(2);
  }
}

// BA-132: what an eviction resets, and what it counts
TEST_F(LifeCycle, AnEvictionResetsTheChecksAndIsCounted) {
  start(Settings{}, "k");
  check_says(CheckState::ready, "granted");
  ASSERT_TRUE(state().admitted());
  obey();
  w.queue({.name = "a", .cpu = 4'000, .stop = StopPolicy::hold_and_drain, .check = "k"});
  (void)w.settle();
  ASSERT_EQ(state().checks.size(), 1U);
  EXPECT_EQ(state().checks[0].state, CheckState::pending);
  EXPECT_EQ(state().checks[0].message, "Reset to Pending after eviction. Previously: Ready");
  EXPECT_EQ(state().checks[0].retry_count, -1);
  EXPECT_TRUE(state().checks[0].pod_set_updates.empty());
  ASSERT_EQ(state().evictions.size(), 1U);
  EXPECT_EQ(state().evictions[0].reason.text(), "ClusterQueueStopped");
  EXPECT_EQ(state().evictions[0].count, 1);
}

// BA-132: retries are counted, requeueAfterSeconds stays, and each reason has its own count
TEST_F(LifeCycle, RetriesAreCountedInTheCheckAndByReason) {
  start(Settings{}, "k");
  for (int n = 1; n <= 2; ++n) {
    ASSERT_TRUE(state().reserved()) << n;
    obey();
    check_says(CheckState::retry, "not now", 5);
    ASSERT_EQ(condition(ConditionType::evicted), "True AdmissionCheck");
    EXPECT_EQ(state().checks[0].message, "Reset to Pending after eviction. Previously: Retry");
    EXPECT_EQ(state().checks[0].requeue_after_seconds, 5);
    ASSERT_EQ(state().evictions.size(), 1U);
    EXPECT_EQ(state().evictions[0].reason.text(), "AdmissionCheck");
    EXPECT_EQ(state().evictions[0].count, n);
    obey();
    pass(6);
    pass(2);
  }
  w.queue({.name = "a", .cpu = 4'000, .check = "k"});
  ASSERT_TRUE(state().reserved());
  check_says(CheckState::rejected, "never");
  ASSERT_EQ(condition(ConditionType::evicted), "True DeactivatedDueToAdmissionCheck");
  ASSERT_EQ(state().evictions.size(), 2U);
  EXPECT_EQ(state().evictions[1].reason.text(), "Deactivated") << "the cause stands beside it";
  EXPECT_EQ(state().evictions[1].cause.text(), "AdmissionCheck");
  EXPECT_EQ(state().evictions[1].count, 1);
}

// BA-132: what a check says of the time is said by another clock, which may be a day ahead
TEST_F(LifeCycle, ACheckWhoseClockIsADayAheadHoldsNobodyBackForADay) {
  start(Settings{}, "k");
  obey();
  w.observe(w.seen_as("j"));
  auto o = w.seen_as("j");
  auto checks = w.arena().make<CheckFacts>(1);
  checks[0].name = "k";
  checks[0].state = CheckState::retry;
  checks[0].last_transition = w.now + Duration::seconds(86'400);
  checks[0].requeue_after_seconds = 5;
  o.checks = checks;
  w.observe(o);
  (void)w.settle();
  ASSERT_EQ(condition(ConditionType::evicted), "True AdmissionCheck");
  EXPECT_LE(state().requeue_at, w.now + Duration::seconds(10));
  obey();
  pass(6);
  pass(2);
  EXPECT_TRUE(state().reserved());
}

// ---- queues that cannot admit ------------------------------------------------------------------------------------------------

// BA-163: what MultiKueue does not go with
TEST(QueueActivity, MultiKueueChecksStandAlone) {
  FactWorld w;
  w.flavor("default");
  const auto check = [&](std::string_view name, std::string_view controller) {
    AdmissionCheckObserved o;
    o.meta.name = w.keep(name);
    o.controller_name = controller;
    o.active = true;
    w.observe(o);
  };
  check("mk", "kueue.x-k8s.io/multikueue");
  check("mk2", "kueue.x-k8s.io/multikueue");
  check("prov", "kueue.x-k8s.io/provisioning-request");
  check("own", "example.com/own");
  struct Rule {
    std::string_view name;
    bool per_flavor = false;
  };
  const auto activity = [&](const std::vector<Rule>& rules) {
    ClusterQueueObserved o;
    o.meta.name = "a";
    auto quotas = w.arena().make<QuotaFacts>(1);
    quotas[0] = {"cpu", 1'000, {}, {}};
    auto flavors = w.arena().make<FlavorQuotasFacts>(1);
    flavors[0] = {"default", quotas};
    auto names = w.arena().make<Text>(1);
    names[0] = "cpu";
    auto groups = w.arena().make<ResourceGroupFacts>(1);
    groups[0] = {names, flavors};
    o.resource_groups = groups;
    auto on = w.arena().make<Text>(1);
    on[0] = "default";
    auto checks = w.arena().make<AdmissionCheckRule>(rules.size());
    for (std::size_t i = 0; i < rules.size(); ++i) {
      checks[i].name = rules[i].name;
      if (rules[i].per_flavor) checks[i].on_flavors = on;
    }
    o.admission_checks = checks;
    w.observe(o);
    const auto& a = w.driver().domain().catalog()->activity.at(Symbol("a"));
    return a.reason + ": " + a.message;
  };
  EXPECT_EQ(activity({{"mk"}, {"own", true}}), "Ready: Can admit new workloads");
  EXPECT_EQ(activity({{"prov"}, {"own"}}), "Ready: Can admit new workloads");
  EXPECT_EQ(activity({{"mk"}, {"mk2"}}),
            "MultipleMultiKueueAdmissionChecks: Can't admit new workloads: Cannot use multiple MultiKueue AdmissionChecks on the same "
            "ClusterQueue, found: mk,mk2.");
  EXPECT_EQ(activity({{"mk", true}}),
            "MultiKueueAdmissionCheckAppliedPerFlavor: Can't admit new workloads: Cannot specify MultiKueue AdmissionCheck per flavor, "
            "found: mk.");
  EXPECT_EQ(activity({{"mk"}, {"prov"}}),
            "MultiKueueWithProvisioningRequest: Can't admit new workloads: Cannot use both MultiKueue and ProvisioningRequest "
            "AdmissionChecks together, found: mk, prov.");
}

// BA-144, BA-204: what was drained may come back when its queue runs again, and says since when
TEST_F(LifeCycle, AClusterQueueThatRunsAgainTakesItsWorkloadsBack) {
  start(Settings{});
  ASSERT_TRUE(state().admitted());
  obey();
  w.queue({.name = "a", .cpu = 4'000, .stop = StopPolicy::hold_and_drain});
  (void)w.settle();
  obey();
  EXPECT_EQ(condition(ConditionType::requeued), "False ClusterQueueStopped");
  w.queue({.name = "a", .cpu = 4'000});
  (void)w.settle();
  EXPECT_EQ(condition(ConditionType::requeued), "True ClusterQueueRestarted");
  EXPECT_EQ(state().find(ConditionType::requeued)->message, "The ClusterQueue was restarted after being stopped");
  pass(2);
  EXPECT_TRUE(state().admitted());
  EXPECT_EQ(condition(ConditionType::requeued), "True ClusterQueueRestarted") << "it survives the next admission";
}

// BA-143, BA-144
TEST_F(LifeCycle, ALocalQueueThatIsDrainedEvictsAndTakesItsWorkloadsBack) {
  start(Settings{});
  obey();
  const auto stop = [&](StopPolicy policy) {
    LocalQueueObserved o;
    o.meta.namespace_ = "default";
    o.meta.name = "l";
    o.cluster_queue = "a";
    o.stop_policy = policy;
    w.observe(o);
    (void)w.settle();
  };
  stop(StopPolicy::hold);
  EXPECT_EQ(condition(ConditionType::evicted), "") << "Hold lets what is admitted run";
  stop(StopPolicy::hold_and_drain);
  EXPECT_EQ(condition(ConditionType::evicted), "True LocalQueueStopped");
  EXPECT_EQ(state().find(ConditionType::evicted)->message, "The LocalQueue is stopped");
  obey();
  EXPECT_EQ(condition(ConditionType::requeued), "False LocalQueueStopped");
  EXPECT_FALSE(w.driver().queue(Symbol("a"))->holds_quota());
  stop(StopPolicy::hold);
  EXPECT_EQ(condition(ConditionType::requeued), "False LocalQueueStopped") << "still stopped";
  stop(StopPolicy::none);
  EXPECT_EQ(condition(ConditionType::requeued), "True LocalQueueRestarted");
  EXPECT_EQ(state().find(ConditionType::requeued)->message, "The LocalQueue was restarted after being stopped");
  pass(2);
  EXPECT_TRUE(state().admitted());
}

// BA-135: of several checks that say Retry the one that asks for the longest wait counts
TEST_F(LifeCycle, TheLongestWaitOfSeveralChecksCounts) {
  start(Settings{}, "k");
  w.check("m");
  w.queue({.name = "a", .cpu = 4'000, .check = "k", .other_check = "m"});
  (void)w.settle();
  obey();
  ASSERT_EQ(state().checks.size(), 2U);
  auto o = w.seen_as("j");
  auto checks = w.arena().make<CheckFacts>(2);
  for (std::size_t i = 0; i < 2; ++i) {
    checks[i].name = i == 0 ? "k" : "m";
    checks[i].state = CheckState::retry;
    checks[i].last_transition = w.now;
    checks[i].requeue_after_seconds = i == 0 ? 30 : 5;
  }
  o.checks = checks;
  w.observe(o);
  (void)w.settle();
  EXPECT_EQ(condition(ConditionType::evicted), "True AdmissionCheck");
  EXPECT_EQ(state().requeue_at, w.now + Duration::seconds(30));
  obey();
  pass(29);
  EXPECT_FALSE(state().reserved());
  pass(1);
  pass(2);
  EXPECT_TRUE(state().reserved());
}

// BA-139: what was ready once has another time to become ready again
TEST_F(LifeCycle, RecoveryHasATimeOfItsOwn) {
  Settings s;
  s.pods_ready_timeout = Duration::seconds(300);
  s.recovery_timeout = Duration::seconds(50);
  start(s);
  obey();
  pass(200);
  job([](JobObserved& j) { j.pods_ready = true; });
  job([](JobObserved& j) { j.pods_ready = false; });
  ASSERT_EQ(condition(ConditionType::pods_ready), "False WaitForRecovery");
  pass(49);
  EXPECT_EQ(condition(ConditionType::evicted), "");
  pass(1);
  EXPECT_EQ(condition(ConditionType::evicted), "True PodsReadyTimeout");
}

// BA-139: 0 is for ever
TEST_F(LifeCycle, WithoutARecoveryTimeoutItMayTakeForEver) {
  Settings s;
  s.pods_ready_timeout = Duration::seconds(300);
  s.recovery_timeout = Duration{};
  start(s);
  obey();
  job([](JobObserved& j) { j.pods_ready = true; });
  job([](JobObserved& j) { j.pods_ready = false; });
  pass(100'000);
  EXPECT_EQ(condition(ConditionType::pods_ready), "False WaitForRecovery");
  EXPECT_EQ(condition(ConditionType::evicted), "");
  EXPECT_TRUE(state().admitted());
}

}  // namespace
}  // namespace hindsight::admission::testing
