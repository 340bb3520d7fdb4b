// What a Workload that holds quota is charged, when it counts as admitted, and how it loses both (base-admission §1.3, §8.1 to §8.3, §8.7,
// §8.12), through all entities.

#include <gtest/gtest.h>

#include <optional>
#include <tuple>

#include "tests/admission/entities/queue_world.hpp"

namespace hindsight::admission::testing {
namespace {

class Reservations : public QueueWorld {
 protected:
  /// The controller of a check says something about a Workload.
  void check_says(std::string_view name, std::string_view check, CheckState state, std::optional<std::int32_t> requeue_after = {}) {
    written(name);  // what we wrote is there before somebody changes it
    change(name, [&](WorkloadObserved& o) {
      auto checks = w.arena().make<CheckFacts>(o.checks.size());
      std::copy(o.checks.begin(), o.checks.end(), checks.begin());
      for (auto& k : checks) {
        if (k.name != check) continue;
        k.state = state;
        k.message = "said";
        k.last_transition = w.now;
        k.requeue_after_seconds = requeue_after;
      }
      o.checks = checks;
    });
    (void)w.settle();
  }
  /// "a-second Pending, k Ready".
  std::string checks(std::string_view name) {
    constexpr const char* states[] = {"Pending", "Ready", "Retry", "Rejected"};
    std::string out;
    for (const auto& k : w.state(name).checks)
      out += (out.empty() ? "" : ", ") + std::string(k.name.text()) + " " + states[static_cast<std::size_t>(k.state)];
    return out;
  }
  std::string admitted(std::string_view name) {
    const auto* c = w.state(name).find(ConditionType::admitted);
    return c == nullptr ? "" : condition(name, ConditionType::admitted) + ": " + c->message;
  }
  /// What is reserved of cpu in flavor "default".
  Amount charged(std::string_view in) {
    for (const auto& cell : queue(in).counters().cells)
      if (cell.flavor == Symbol("default") && cell.resource == Symbol("cpu")) return cell.reserved;
    return 0;
  }
  static constexpr const char* unsatisfied = "False UnsatisfiedAdmissionChecks: The workload has not all checks ready";
  static constexpr const char* no_reservation = "False NoReservation: The workload has no reservation";
  static constexpr const char* is_admitted = "True Admitted: The workload is admitted";
};

// ---- charges ------------------------------------------------------------------------------------------------------------------------

/// "w" asks for 10 pods of a core, at least 4, and was given 7.
class PartlyAdmitted : public Reservations {
 protected:
  void SetUp() override {
    set_up({{.name = "a", .cpu = 7'000}});
    auto o = workload_of("w", "l-a", {{"main", 10, 1'000}});
    auto pods = w.arena().make<PodSetFacts>(1);
    pods[0] = o.pod_sets[0];
    pods[0].min_count = 4;
    o.pod_sets = pods;
    w.remember(o);
    w.observe(o);
    (void)w.settle();
    written("w");
    ASSERT_EQ(w.state("w").admission->pod_sets.at(0).count, 7);
  }
  void reclaim(std::int32_t count) {
    change("w", [&](WorkloadObserved& o) {
      auto r = w.arena().make<PodSetCount>(1);
      r[0] = {"main", count};
      o.reclaimable = r;
    });
  }
  void scale_to(std::int32_t count) {
    change("w", [&](WorkloadObserved& o) {
      auto pods = w.arena().make<PodSetFacts>(1);
      pods[0] = o.pod_sets[0];
      pods[0].count = count;
      o.pod_sets = pods;
      ++o.meta.generation;
      w.remember(o);
    });
  }
  /// Is there room for just so much, and not for more?
  void expect_free(Amount cpu) {
    SCOPED_TRACE(cpu);
    (void)w.settle();
    (void)pass(1);
    const std::string more = "more-" + std::to_string(probes_), all = "all-" + std::to_string(probes_++);
    w.observe(w.workload(more, "l-a", cpu + 1));
    (void)w.settle();
    EXPECT_FALSE(w.state(more).reserved());
    remove(more);
    if (cpu > 0) {
      w.observe(w.workload(all, "l-a", cpu));
      (void)w.settle();
      EXPECT_TRUE(w.state(all).reserved());
      remove(all);
    }
    (void)w.settle();
    (void)pass(1);
  }

 private:
  int probes_ = 0;
};

// BA-209: partial admission keeps its usage until fewer pods are left than it was given; the admission itself stays as it is
TEST_F(PartlyAdmitted, ReclaimablePodsCountFromTheWholeNumber) {
  struct Case {
    std::int32_t reclaimable;
    Amount charged;
  };
  EXPECT_EQ(charged("a"), 7'000);
  expect_free(0);
  // min(7, 10 − reclaimable) pods are left
  for (const auto& c : {Case{2, 7'000}, Case{3, 7'000}, Case{4, 6'000}, Case{9, 1'000}, Case{10, 0}}) {
    reclaim(c.reclaimable);
    EXPECT_EQ(charged("a"), c.charged) << c.reclaimable;
    expect_free(7'000 - c.charged);
    EXPECT_EQ(w.state("w").admission->pod_sets.at(0).count, 7);
    EXPECT_EQ(w.state("w").admission->pod_sets.at(0).usage.at(0).second, 7'000);
  }
}

// BA-209: a spec that is scaled down shrinks it alike, also together with reclaimable pods
TEST_F(PartlyAdmitted, AScaleDownInPlaceShrinksIt) {
  scale_to(8);
  EXPECT_EQ(charged("a"), 7'000) << "8 pods, of which it was given 7";
  scale_to(6);
  EXPECT_EQ(charged("a"), 6'000);
  expect_free(1'000);
  reclaim(2);
  EXPECT_EQ(charged("a"), 4'000) << "6 pods, of which 2 are done";
  expect_free(3'000);
  scale_to(1);
  EXPECT_EQ(charged("a"), 0) << "fewer than are done already";
  expect_free(7'000);
}

// BA-209: pod set by pod set, with what each was given
TEST_F(Reservations, EachPodSetIsChargedForItsOwnPods) {
  set_up({{.name = "a", .cpu = 100'000}});
  w.observe(workload_of("w", "l-a", {{"driver", 2, 3'000}, {"workers", 5, 1'500}}));
  (void)w.settle();
  written("w");
  EXPECT_EQ(charged("a"), 2 * 3'000 + 5 * 1'500);
  change("w", [&](WorkloadObserved& o) {
    auto r = w.arena().make<PodSetCount>(2);
    r[0] = {"driver", 1};
    r[1] = {"workers", 3};
    o.reclaimable = r;
  });
  EXPECT_EQ(charged("a"), 1 * 3'000 + 2 * 1'500);
  change("w", [&](WorkloadObserved& o) {
    auto r = w.arena().make<PodSetCount>(1);
    r[0] = {"workers", 5};
    o.reclaimable = r;
  });
  EXPECT_EQ(charged("a"), 2 * 3'000);
}

// ---- admitted -------------------------------------------------------------------------------------------------------------------------

// BA-129: with a reservation and all checks Ready, and not before
TEST_F(Reservations, AdmittedTakesAReservationAndEveryCheck) {
  w.check("k");
  w.check("m");
  set_up({{.name = "a", .cpu = 4'000, .check = "k", .other_check = "m"}});
  w.observe(w.workload("too-much", "l-a", 9'000, 9));
  EXPECT_EQ(w.state("too-much").find(ConditionType::admitted), nullptr) << "before the first verdict";
  (void)w.settle();
  EXPECT_EQ(admitted("too-much"), no_reservation);
  check_says("too-much", "k", CheckState::ready);
  check_says("too-much", "m", CheckState::ready);
  EXPECT_EQ(admitted("too-much"), no_reservation) << "checks alone are nothing";

  w.observe(w.workload("w", "l-a", 1'000));
  (void)w.settle();
  EXPECT_EQ(condition("w", ConditionType::quota_reserved), "True QuotaReserved");
  EXPECT_EQ(admitted("w"), unsatisfied);
  check_says("w", "m", CheckState::ready);
  EXPECT_EQ(admitted("w"), unsatisfied);
  check_says("w", "k", CheckState::ready);
  EXPECT_EQ(admitted("w"), is_admitted);
  EXPECT_EQ(queue("a").counters().admitted, 1);
}

// BA-129: checks that were Ready before count with the reservation, but for one that has to come yet
TEST_F(Reservations, ChecksThatWereReadyBeforeAdmitAtOnce) {
  w.check("k");
  w.check("m");
  set_up({{.name = "a", .cpu = 4'000, .stop = StopPolicy::hold, .check = "k"}});
  for (const char* name : {"one", "two"}) {
    w.observe(w.workload(name, "l-a", 1'000));
    (void)w.settle();
    check_says(name, "k", CheckState::ready);
    EXPECT_EQ(admitted(name), no_reservation);
  }
  change("two", [&](WorkloadObserved& o) {
    o.admission_gated_by = "example.com/g";
    w.remember(o);
  });
  (void)w.settle();
  w.queue({.name = "a", .cpu = 4'000, .check = "k"});
  EXPECT_EQ(w.settle().back(), "reserved one admitted");
  EXPECT_EQ(admitted("one"), is_admitted);
  w.queue({.name = "a", .cpu = 4'000, .check = "k", .other_check = "m"});
  (void)pass(1);
  change("two", [&](WorkloadObserved& o) {
    o.admission_gated_by = {};
    w.remember(o);
  });
  (void)w.settle();
  EXPECT_EQ(checks("two"), "k Ready, m Pending");
  EXPECT_EQ(admitted("two"), unsatisfied);
}

// BA-204: what was admitted is not un-admitted by a check
TEST_F(Reservations, AnAdmittedWorkloadStaysWhenACheckIsPendingAgain) {
  w.check("k");
  set_up({{.name = "a", .cpu = 4'000, .check = "k"}});
  w.observe(w.workload("w", "l-a", 1'000));
  (void)w.settle();
  check_says("w", "k", CheckState::ready);
  ASSERT_EQ(admitted("w"), is_admitted);
  check_says("w", "k", CheckState::pending);
  EXPECT_EQ(checks("w"), "k Pending");
  EXPECT_EQ(admitted("w"), is_admitted);
  EXPECT_EQ(condition("w", ConditionType::evicted), "");
  EXPECT_EQ(charged("a"), 1'000);
}

// BA-204: an end leaves all else as it was, and nothing is done about it any more
TEST_F(Reservations, AFinishedWorkloadKeepsItsAdmissionAndItsConditions) {
  w.check("k");
  set_up({{.name = "a", .cpu = 4'000, .check = "k"}});
  auto o = w.workload("w", "l-a", 1'000);
  put(o, {ConditionType::requeued, ConditionStatus::true_, "BackoffFinished", "The workload backoff was finished", w.now});
  w.observe(o);
  (void)w.settle();
  check_says("w", "k", CheckState::ready);
  written("w");
  const auto before = w.state("w").conditions;
  finish("w");
  EXPECT_EQ(charged("a"), 0);
  w.queue({.name = "a", .cpu = 4'000, .stop = StopPolicy::hold_and_drain});
  w.check("k", false);
  (void)pass(1);
  const WorkloadState& s = w.state("w");
  ASSERT_EQ(s.conditions.size(), before.size() + 1);
  for (const auto& c : before) {
    const auto* now = s.find(c.type);
    ASSERT_NE(now, nullptr);
    EXPECT_EQ(std::tuple(now->status, now->reason, now->message, now->last_transition),
              std::tuple(c.status, c.reason, c.message, c.last_transition));
  }
  ASSERT_TRUE(s.admission.has_value());
  EXPECT_EQ(s.admission->cluster_queue, Symbol("a"));
  EXPECT_EQ(checks("w"), "k Ready");
}

// ---- checks ---------------------------------------------------------------------------------------------------------------------------

// BA-134, S34: the list follows the flavors that were assigned, sorted by name; what is known stays, what is not wanted goes
TEST_F(Reservations, ChecksFollowTheAssignedFlavors) {
  w.namespace_("default");
  for (const char* f : {"f1", "f2"}) w.flavor(f);
  for (const char* k : {"k1", "a-second", "of-both", "z-late"}) w.check(k);
  const auto with = [&](const std::vector<std::string_view>& for_all, StopPolicy stop) {
    auto o = flavored("q", {{"f1", 4'000}, {"f2", 8'000}});
    auto f2 = w.arena().make<Text>(1);
    f2[0] = "f2";
    auto both = w.arena().make<Text>(2);
    both[0] = "f2";
    both[1] = "f1";
    auto rules = w.arena().make<AdmissionCheckRule>(for_all.size() + 2);
    rules[0] = {"of-both", both};
    rules[1] = {"a-second", f2};
    for (std::size_t i = 0; i < for_all.size(); ++i) rules[i + 2].name = for_all[i];
    o.admission_checks = rules;
    o.stop_policy = stop;
    w.observe(o);
  };
  with({"k1"}, StopPolicy::hold);
  w.local_queue("l", "q");
  begin();
  w.observe(w.workload("small", "l", 4'000, 9));
  w.observe(w.workload("large", "l", 6'000));
  (void)w.settle();
  for (const char* name : {"small", "large"}) EXPECT_EQ(checks(name), "k1 Pending, of-both Pending") << "of all flavors, without admission";
  check_says("large", "k1", CheckState::ready);

  with({"k1"}, StopPolicy::none);
  (void)pass(1);
  ASSERT_EQ(flavor_of("small"), "f1");
  EXPECT_EQ(checks("small"), "k1 Pending, of-both Pending");
  ASSERT_EQ(flavor_of("large"), "f2");
  EXPECT_EQ(checks("large"), "a-second Pending, k1 Ready, of-both Pending");

  with({"z-late"}, StopPolicy::none);
  (void)w.settle();
  EXPECT_EQ(checks("small"), "of-both Pending, z-late Pending");
  EXPECT_EQ(checks("large"), "a-second Pending, of-both Pending, z-late Pending");
  with({}, StopPolicy::hold);
  (void)w.settle();
  EXPECT_FALSE(w.state("large").reserved());
  EXPECT_EQ(checks("large"), "of-both Pending") << "without admission again";
}

// BA-206: while the LocalQueue is stopped nothing of that happens, and a drained ClusterQueue evicts nobody (D12)
TEST_F(Reservations, AStoppedLocalQueueShieldsItsWorkloads) {
  for (const char* k : {"k", "m"}) w.check(k);
  set_up({{.name = "a", .cpu = 4'000, .check = "k"}});
  w.observe(w.workload("runs", "l-a", 1'000));
  w.observe(w.workload("waits", "l-a", 9'000));
  (void)w.settle();
  check_says("runs", "k", CheckState::ready);
  ASSERT_EQ(admitted("runs"), is_admitted);
  stop_local_queue("l-a", "a", StopPolicy::hold);
  (void)w.settle();
  w.queue({.name = "a", .cpu = 4'000, .stop = StopPolicy::hold_and_drain, .check = "m"});
  (void)pass(1);
  for (const char* name : {"runs", "waits"}) EXPECT_EQ(checks(name).substr(0, 2), "k ") << "left alone";
  EXPECT_EQ(condition("runs", ConditionType::evicted), "");
  EXPECT_EQ(admitted("runs"), is_admitted);
  stop_local_queue("l-a", "a", StopPolicy::none);
  (void)pass(1);
  for (const char* name : {"runs", "waits"}) EXPECT_EQ(checks(name), "m Pending");
  EXPECT_EQ(condition("runs", ConditionType::evicted), "True ClusterQueueStopped");
}

// BA-206: nor is anybody resumed whom the ClusterQueue had evicted
TEST_F(Reservations, AStoppedLocalQueueHidesThatItsClusterQueueRunsAgain) {
  set_up({{.name = "a", .cpu = 4'000}});
  auto o = w.workload("w", "l-a", 1'000);
  put(o, {ConditionType::evicted, ConditionStatus::true_, "ClusterQueueStopped", "The ClusterQueue is stopped", w.now});
  put(o, {ConditionType::requeued, ConditionStatus::false_, "ClusterQueueStopped", "The ClusterQueue is stopped", w.now});
  w.queue({.name = "a", .cpu = 4'000, .stop = StopPolicy::hold_and_drain});
  w.observe(o);
  stop_local_queue("l-a", "a", StopPolicy::hold);
  (void)w.settle();
  w.queue({.name = "a", .cpu = 4'000});
  (void)pass(1);
  EXPECT_EQ(condition("w", ConditionType::requeued), "False ClusterQueueStopped");
  stop_local_queue("l-a", "a", StopPolicy::none);
  (void)pass(1);
  EXPECT_EQ(condition("w", ConditionType::requeued), "True ClusterQueueRestarted");
  EXPECT_TRUE(w.state("w").reserved());
}

// BA-135: of several checks the longest wait counts whatever their order, and one that was set before if it is longer
TEST_F(Reservations, TheLongestWaitCountsWhateverItsPlace) {
  struct Case {
    std::int32_t k, m, stored, until;
  };
  int n = 0;
  for (const auto& c : {Case{5, 30, 0, 30}, Case{30, 5, 0, 30}, Case{5, 30, 100, 100}, Case{5, 30, 20, 30}}) {
    SCOPED_TRACE(n);
    FactWorld x;
    for (const char* k : {"k", "m"}) x.check(k);
    x.namespace_("default");
    x.flavor("default");
    x.queue({.name = "a", .cpu = 4'000, .check = "k", .other_check = "m"});
    x.local_queue("l", "a");
    x.observe(MirrorSynced{});
    const Time begun = x.now;
    x.observe(x.workload("w", "l", 1'000));
    (void)x.settle();
    x.observe(x.seen_as("w"));
    ASSERT_TRUE(x.state("w").reserved());
    auto o = x.seen_as("w");
    auto checks = x.arena().make<CheckFacts>(2);
    for (std::size_t i = 0; i < 2; ++i) {
      checks[i].name = i == 0 ? "k" : "m";
      checks[i].state = CheckState::retry;
      checks[i].last_transition = x.now;
      checks[i].requeue_after_seconds = i == 0 ? c.k : c.m;
    }
    o.checks = checks;
    if (c.stored > 0) {
      o.has_requeue_state = true;
      o.requeue_at = begun + Duration::seconds(c.stored);
    }
    x.observe(o);
    (void)x.settle();
    ASSERT_TRUE(x.state("w").evicted());
    EXPECT_EQ(x.state("w").find(ConditionType::evicted)->reason, Symbol("AdmissionCheck"));
    EXPECT_EQ(x.state("w").requeue_at, begun + Duration::seconds(c.until));
    ++n;
  }
}

// ---- stop policies ----------------------------------------------------------------------------------------------------------------------

/// S36: w1 is admitted, w2 reserved and w3 pending.
class StopPolicies : public Reservations {
 protected:
  void SetUp() override {
    w.check("k");
    set_up({{.name = "a", .cpu = 4'000, .check = "k"}});
    w.observe(w.workload("w1", "l-a", 2'000));
    w.observe(w.workload("w2", "l-a", 2'000));
    w.observe(w.workload("w3", "l-a", 2'000));
    (void)w.settle();
    check_says("w1", "k", CheckState::ready);
    written("w2");
    ASSERT_EQ(admitted("w1"), is_admitted);
    ASSERT_EQ(admitted("w2"), unsatisfied);
    ASSERT_EQ(admitted("w3"), no_reservation);
  }
  void stop(bool local, StopPolicy policy) {
    if (local)
      stop_local_queue("l-a", "a", policy);
    else
      w.queue({.name = "a", .cpu = 4'000, .stop = policy, .check = "k"});
    cleared.clear();
    settle([&](const Domain::Step& step) {
      for (const Event& e : step.events)
        if (const auto* c = std::get_if<ReservationCleared>(&e))
          cleared.push_back(std::string(c->workload.name) + " " + std::string(c->reason) + ": " + std::string(c->message));
    });
  }
  Lines cleared;
};

// BA-143, S36: Hold lets what is admitted run, and takes the quota of what only reserves it; HoldAndDrain evicts too
TEST_F(StopPolicies, HoldTakesReservationsAndDrainEvicts) {
  for (const bool local : {false, true}) {
    SCOPED_TRACE(local);
    const std::string what = local ? "LocalQueue l-a" : "ClusterQueue a";
    stop(local, StopPolicy::hold);
    EXPECT_EQ(cleared, Lines{"w2 Suspended: " + what + " is stopped"});
    EXPECT_EQ(admitted("w1"), is_admitted);
    EXPECT_EQ(condition("w1", ConditionType::evicted), "");
    EXPECT_EQ(admitted("w2"), no_reservation);
    EXPECT_EQ(condition("w2", ConditionType::quota_reserved), "False Suspended");
    EXPECT_EQ(condition("w2", ConditionType::evicted), "") << "it was never admitted";
    EXPECT_EQ(charged("a"), 2'000);
    (void)pass(1);
    EXPECT_EQ(charged("a"), 2'000) << "nobody gets what is free";
    EXPECT_FALSE(w.state("w3").reserved());
    stop(local, StopPolicy::none);
    (void)pass(1);
    EXPECT_TRUE(w.state("w2").reserved());
    EXPECT_FALSE(w.state("w3").reserved());
    written("w2");
  }
  for (const bool local : {false, true}) {
    SCOPED_TRACE(local);
    stop(local, StopPolicy::hold_and_drain);
    EXPECT_EQ(cleared.size(), 1U) << "w2";
    EXPECT_EQ(condition("w1", ConditionType::evicted), local ? "True LocalQueueStopped" : "True ClusterQueueStopped");
    EXPECT_EQ(w.state("w1").find(ConditionType::evicted)->message, local ? "The LocalQueue is stopped" : "The ClusterQueue is stopped");
    EXPECT_EQ(charged("a"), 2'000) << "until w1 has stopped";
    stop(local, StopPolicy::none);
    clear("w1");
    (void)w.settle();
    (void)pass(1);
    ASSERT_TRUE(w.state("w1").reserved());
    check_says("w1", "k", CheckState::ready);
    ASSERT_TRUE(w.state("w2").reserved());
    written("w2");
  }
}

// ---- evictions --------------------------------------------------------------------------------------------------------------------------

// ---- counters -------------------------------------------------------------------------------------------------------------------------

/// "p1" and "p2" wait in a LocalQueue that was stopped since, "q1" in another one, and "runs" holds quota.
class Counters : public Reservations {
 protected:
  void SetUp() override {
    set_up({{.name = "a", .cpu = 4'000}});
    w.local_queue("other", "a");
    w.observe(w.workload("runs", "l-a", 4'000, 9));
    (void)w.settle();
    written("runs");
    for (const char* name : {"p1", "p2"}) w.observe(w.workload(name, "l-a", 3'000));
    w.observe(w.workload("q1", "other", 3'500));
    (void)w.settle();
    ASSERT_EQ(pending(), 3);
    stop_local_queue("l-a", "a", StopPolicy::hold);
    (void)w.settle();
    (void)pass(1);
    ASSERT_EQ(waiting("a"), Lines{"q1"});
  }
  std::int32_t pending() { return queue("a").counters().pending; }
};

// BA-207: what happens to those of a stopped LocalQueue that hold nothing refreshes nothing
TEST_F(Counters, OfAClusterQueueStayWhenALocalQueueStops) {
  EXPECT_EQ(pending(), 3) << "the stop alone";
  EXPECT_EQ(queue("a").local_counters(Symbol("default"), Symbol("l-a")).pending, 0) << "the LocalQueue's own are always right";
  change("p1", [](WorkloadObserved& o) { o.priority = 3, ++o.meta.generation; });
  (void)w.settle();
  EXPECT_EQ(pending(), 3) << "a change of one of them";
  remove("p2");
  (void)w.settle();
  EXPECT_EQ(pending(), 3) << "the end of one of them";
  w.observe(w.workload("p3", "l-a", 1'000));
  (void)w.settle();
  EXPECT_EQ(pending(), 3) << "a new one";
}

// BA-207
TEST_F(Counters, OfAClusterQueueAreRefreshedByAChangeOfItsOwn) {
  w.queue({.name = "a", .cpu = 4'500});
  EXPECT_EQ(pending(), 1);
}

// BA-207
TEST_F(Counters, OfAClusterQueueAreRefreshedByOneThatHoldsQuota) {
  change("runs", [](WorkloadObserved& o) { o.accumulated_exec_seconds = 4; });
  EXPECT_EQ(pending(), 1);
}

// BA-207
TEST_F(Counters, OfAClusterQueueAreRefreshedByOneThatWaitsInARunningLocalQueue) {
  change("q1", [](WorkloadObserved& o) { o.accumulated_exec_seconds = 4; });
  EXPECT_EQ(pending(), 1);
}

// BA-207
TEST_F(Counters, OfAClusterQueueAreRefreshedByANewOne) {
  w.observe(w.workload("q2", "other", 3'600));
  EXPECT_EQ(pending(), 2);
}

// BA-207
TEST_F(Counters, OfAClusterQueueAreRefreshedByAnEnd) {
  remove("runs");
  EXPECT_EQ(pending(), 1);
}

}  // namespace
}  // namespace hindsight::admission::testing
