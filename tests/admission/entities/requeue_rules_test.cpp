// How Workloads wait, come back and move between queues (base-admission §3), through all entities.

#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

class RequeueRules : public ::testing::Test {
 protected:
  void set_up(const std::vector<FactWorld::Queue>& queues) {
    w.namespace_("default");
    w.flavor("default");
    for (const auto& q : queues) {
      w.queue(q);
      w.local_queue("l-" + std::string(q.name), q.name);
    }
    w.observe(MirrorSynced{});
    pass(2);
  }
  Lines pass(std::int64_t seconds) {
    w.tick(Duration::seconds(seconds));
    return w.settle();
  }
  /// Observes a change of the Workload as it stands.
  template <class F>
  void change(std::string_view name, F&& f) {
    auto o = w.seen_as(name);
    f(o);
    w.observe(o);
  }
  void finish(std::string_view name) {
    change(name, [&](WorkloadObserved& o) {
      auto conditions = w.arena().make<ConditionFacts>(o.conditions.size() + 1);
      std::copy(o.conditions.begin(), o.conditions.end(), conditions.begin());
      conditions.back() = {ConditionType::finished, ConditionStatus::true_, "Succeeded", "done", w.now};
      o.conditions = conditions;
    });
  }
  [[nodiscard]] bool parked(std::string_view queue, std::string_view name) const {
    for (const auto& x : w.driver().queue(Symbol(queue))->waiting())
      if (x.workload->name == name) return x.parked;
    ADD_FAILURE() << name << " does not wait in " << queue;
    return false;
  }
  mutable FactWorld w;
};

// BA-48: the queue timestamp is the eviction's only after two kinds of eviction, and for one of them only if configured
TEST(QueueTimestamp, IsTheTimeOfCreationButForTwoKindsOfEviction) {
  WorkloadState s;
  s.created = Time::from_seconds(100);
  Settings settings;
  const auto evicted = [&](std::string_view reason, ConditionStatus status = ConditionStatus::true_) {
    s.conditions = {{ConditionType::evicted, status, Symbol(reason), "m", Time::from_seconds(500)}};
    return s.queue_time(settings).floor_seconds();
  };
  EXPECT_EQ(s.queue_time(settings), s.created);
  EXPECT_EQ(evicted("PodsReadyTimeout"), 500);
  EXPECT_EQ(evicted("AdmissionCheck"), 500);
  EXPECT_EQ(evicted("PodsReadyTimeout", ConditionStatus::false_), 100) << "evicted no more";
  for (const char* other : {"Preempted", "Deactivated", "ClusterQueueStopped", "NodeFailures"}) EXPECT_EQ(evicted(other), 100) << other;
  settings.requeue_by_eviction_time = false;
  EXPECT_EQ(evicted("PodsReadyTimeout"), 100);
  EXPECT_EQ(evicted("AdmissionCheck"), 500);
}

// BA-49: one head of every active queue in each cycle
TEST_F(RequeueRules, ACycleTakesOneHeadOfEveryActiveQueue) {
  set_up({{.name = "a", .cpu = 10'000},
          {.name = "b", .cohort = "c", .cpu = 10'000},
          {.name = "off", .cpu = 10'000, .stop = StopPolicy::hold}});
  for (int i = 0; i < 3; ++i)
    for (const char* q : {"a", "b", "off"}) w.observe(w.workload(q + std::to_string(i), "l-" + std::string(q), 1'000));
  std::vector<Lines> cycles;
  for (int i = 0; i < 20; ++i) {
    auto step = w.driver().decide();
    if (!step) break;
    if (step->kind == StepKind::cycle) {
      Lines heads;
      for (const Event& e : step->events)
        if (const auto* q = std::get_if<QuotaReserved>(&e)) heads.emplace_back(q->workload.name);
      cycles.push_back(heads);
    }
    w.observe_decision(*step);
  }
  EXPECT_EQ(cycles, (std::vector<Lines>{{"a0", "b0"}, {"a1", "b1"}, {"a2", "b2"}}));
  EXPECT_FALSE(w.state("off0").reserved());
}

// BA-53, S37: what freed quota while a head was being looked at is not missed
TEST_F(RequeueRules, AHeadThatFailedWhileQuotaWasFreedIsTriedAgain) {
  set_up({{.name = "a", .cohort = "c", .cpu = 4'000}, {.name = "b", .cohort = "c", .cpu = 4'000}});
  w.observe(w.workload("running", "l-b", 8'000));
  (void)w.settle();
  w.observe(w.workload("head", "l-a", 4'000));
  std::optional<Domain::Step> step;
  while ((step = w.driver().decide()) && step->kind != StepKind::cycle) w.observe_decision(*step);
  ASSERT_TRUE(step) << "the cycle that refuses it";
  finish("running");  // while the refusal is on its way into the log
  w.observe_decision(*step);
  EXPECT_FALSE(w.state("head").reserved());
  (void)w.settle();
  const auto later = pass(1);
  EXPECT_EQ(later, (Lines{"reactivated c", "reserved head admitted"}));
}

// BA-57, S12
TEST_F(RequeueRules, APreemptorStaysHeadOfABestEffortQueueUntilItIsAdmitted) {
  for (const auto strategy : {QueueingStrategy::best_effort_fifo, QueueingStrategy::strict_fifo}) {
    const bool best_effort = strategy == QueueingStrategy::best_effort_fifo;
    const std::string q = best_effort ? "a" : "b";
    set_up({{.name = w.keep(q), .cpu = 4'000, .within = PreemptionPolicy::lower_priority, .strategy = strategy}});
    const std::string victim = q + "-victim", p = q + "-p", h = q + "-h";
    w.observe(w.workload(victim, "l-" + q, 4'000, 0));
    (void)w.settle();
    w.observe(w.workload(p, "l-" + q, 4'000, 10));
    (void)w.settle();
    ASSERT_TRUE(w.state(victim).evicted());
    w.observe(w.workload(h, "l-" + q, 4'000, 20));
    (void)w.settle();
    w.observe(ObjectDeleted{ObjectKind::workload, "default", w.keep(victim), w.keep("uid-" + victim)});
    (void)w.settle();
    EXPECT_EQ(w.state(p).reserved(), best_effort);
    EXPECT_EQ(w.state(h).reserved(), !best_effort);
  }
}

// BA-57: once the preemptor has left the queue, the order is the usual one
TEST_F(RequeueRules, APreemptorThatLeavesTheQueueLeavesNoMark) {
  set_up({{.name = "a", .cpu = 4'000, .within = PreemptionPolicy::lower_priority}});
  w.observe(w.workload("victim", "l-a", 4'000, 0));
  (void)w.settle();
  w.observe(w.workload("p", "l-a", 4'000, 10));
  (void)w.settle();
  change("p", [](WorkloadObserved& o) { o.active = false, ++o.meta.generation; });
  (void)w.settle();
  change("p", [](WorkloadObserved& o) { o.active = true, ++o.meta.generation; });
  w.observe(w.workload("h", "l-a", 4'000, 20));
  w.observe(ObjectDeleted{ObjectKind::workload, "default", "victim", "uid-victim"});
  (void)w.settle();
  EXPECT_TRUE(w.state("h").reserved());
}

// BA-196: with the gate the queue's preemptor comes first, as long as it is of the generation that preempted
TEST(Preemptors, ComeFirstWhileTheirGenerationIsUnchanged) {
  struct Case {
    bool gate, changed;
    const char* first;
  };
  for (const auto& c :
       {Case{true, false, "reserved p admitted"}, Case{true, true, "reserved n admitted"}, Case{false, false, "reserved n admitted"}}) {
    FactWorld w;
    Settings settings;
    settings.prioritize_preemptors = c.gate;
    w.configure(settings);
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "a", .cohort = "c", .cpu = 4'000, .within = PreemptionPolicy::lower_priority});
    w.queue({.name = "b", .cohort = "c", .cpu = 2'000});
    w.local_queue("l-a", "a");
    w.local_queue("l-b", "b");
    w.observe(MirrorSynced{});
    w.observe(w.workload("victim", "l-a", 4'000, 0));
    (void)w.settle();
    w.observe(w.workload("p", "l-a", 4'000, 10));
    (void)w.settle();
    ASSERT_TRUE(w.state("victim").evicted());
    if (c.changed) {
      auto o = w.seen_as("p");
      ++o.meta.generation;
      w.observe(o);
      (void)w.settle();
    }
    w.observe(ObjectDeleted{ObjectKind::workload, "default", "victim", "uid-victim"});
    w.observe(w.workload("n", "l-b", 1'000, 20));
    EXPECT_EQ(w.settle().front(), c.first) << c.gate << c.changed;
  }
}

// BA-61: all that passes the filters is in its heap after a reactivation of the tree
TEST_F(RequeueRules, AReactivationOfTheTreeLosesNobody) {
  set_up({{.name = "a", .cohort = "c", .cpu = 2'000}, {.name = "b", .cohort = "c", .cpu = 2'000}});
  w.observe(w.workload("running", "l-a", 4'000));
  (void)w.settle();
  std::vector<std::pair<std::string, std::string>> waiting;
  for (const std::string q : {"a", "b"})
    for (int i = 0; i < 5; ++i) {
      const std::string name = q + std::to_string(i);
      w.observe(w.workload(name, "l-" + q, 1'000 + 100 * i));
      waiting.emplace_back(q, name);
    }
  (void)w.settle();
  for (const auto& [q, name] : waiting) EXPECT_TRUE(parked(q, name)) << name;
  finish("running");
  std::optional<Domain::Step> step;
  w.tick(Duration::seconds(1));
  while ((step = w.driver().decide()) && step->kind == StepKind::life_cycle) w.observe_decision(*step);
  ASSERT_TRUE(step);
  ASSERT_EQ(step->kind, StepKind::timers);
  w.observe_decision(*step);
  for (const auto& [q, name] : waiting) EXPECT_FALSE(parked(q, name)) << name;
  (void)w.settle();
  int reserved = 0;
  for (const auto& [q, name] : waiting) reserved += w.state(name).reserved() ? 1 : 0;
  EXPECT_EQ(reserved, 3) << "1.0, 1.0 and 1.1 of 4 cores; whoever comes next is too large";
}

// BA-62: a Workload that changes its queue keeps its age
TEST_F(RequeueRules, AWorkloadMovesBetweenQueuesWithItsTimeOfCreation) {
  set_up({{.name = "a", .cpu = 0}, {.name = "b", .cpu = 0}});
  w.observe(w.workload("old", "l-a", 1'000));
  const Time made = w.state("old").created;
  pass(10);
  w.observe(w.workload("young", "l-b", 1'000));
  change("old", [](WorkloadObserved& o) { o.queue_name = "l-b", ++o.meta.generation; });
  EXPECT_TRUE(w.driver().queue(Symbol("a"))->waiting().empty());
  const auto waiting = w.driver().queue(Symbol("b"))->waiting();
  ASSERT_EQ(waiting.size(), 2U);
  EXPECT_EQ(waiting[0].workload->name, "old");
  EXPECT_EQ(waiting[0].workload->queue_time, made);
  EXPECT_EQ(w.driver().queue(Symbol("a"))->local_counters(Symbol("default"), Symbol("l-a")).pending, 0);
  EXPECT_EQ(w.driver().queue(Symbol("b"))->local_counters(Symbol("default"), Symbol("l-b")).pending, 2);
}

// BA-75: quota is given back, and the next cycle tries again
TEST_F(RequeueRules, ARefusedReservationIsReleasedAndTriedAtOnce) {
  set_up({{.name = "a", .cpu = 4'000}});
  w.observe(w.workload("first", "l-a", 4'000, 10));
  EXPECT_EQ(w.settle(), (Lines{"reserved first admitted"}));
  w.observe(WriteRefused{ObjectKind::workload, "default", "first", "uid-first", w.driver().domain().sequence(), 422, "refused"});
  EXPECT_FALSE(w.state("first").reserved());
  EXPECT_EQ(w.driver().queue(Symbol("a"))->counters().reserving, 0);
  EXPECT_FALSE(parked("a", "first"));
  EXPECT_EQ(w.settle(), (Lines{"reserved first admitted"})) << "without a timer in between";
}

// BA-75: only the reservation is taken back; what else was decided and is not seen yet is still to be written
TEST_F(RequeueRules, ARefusedReservationLeavesOtherDecisionsStanding) {
  set_up({{.name = "a", .cpu = 4'000}});
  w.observe(w.workload("first", "l-a", 4'000, 10));
  (void)w.settle();
  w.observe_decision({.kind = StepKind::life_cycle,
                      .base = w.driver().domain().sequence(),
                      .events = {WorkloadDeactivated{{.uid = "uid-first", .namespace_ = "default", .name = "first"}}}});
  w.observe(WriteRefused{ObjectKind::workload, "default", "first", "uid-first", w.driver().domain().sequence(), 422, "refused"});
  EXPECT_FALSE(w.state("first").reserved());
  EXPECT_FALSE(w.state("first").active);
  auto seen = w.workload("first", "l-a", 4'000, 10);
  seen.meta.resource_version = 1'000;
  w.observe(seen);
  EXPECT_FALSE(w.state("first").active) << "the API server has not been told yet";
}

// BA-198: of a pending Workload only itself is tried again
TEST_F(RequeueRules, ANewPriorityOfAPendingWorkloadWakesItAlone) {
  set_up({{.name = "a", .cpu = 4'000}});
  w.observe(w.workload("running", "l-a", 4'000));
  (void)w.settle();
  w.observe(w.workload("one", "l-a", 3'000));
  w.observe(w.workload("two", "l-a", 2'000));
  (void)w.settle();
  ASSERT_TRUE(parked("a", "one") && parked("a", "two"));
  change("one", [](WorkloadObserved& o) { o.priority = 5, ++o.meta.generation; });
  EXPECT_FALSE(parked("a", "one"));
  EXPECT_TRUE(parked("a", "two"));
  EXPECT_FALSE(w.driver().domain().next_due().is_set()) << "no reactivation was asked for";
}

// BA-198: of one that reserves it wakes the tree
TEST_F(RequeueRules, ANewPriorityOfAReservingWorkloadWakesItsTree) {
  set_up({{.name = "a", .cohort = "c", .cpu = 4'000}, {.name = "b", .cohort = "c"}});
  w.observe(w.workload("running", "l-a", 4'000));
  w.observe(w.workload("waiting", "l-b", 3'000));
  (void)w.settle();
  ASSERT_TRUE(parked("b", "waiting"));
  change("running", [](WorkloadObserved& o) { o.priority = 5, ++o.meta.generation; });
  EXPECT_EQ(w.driver().domain().next_due(), w.now + Settings{}.reactivation_batch);
  EXPECT_EQ(pass(1).front(), "reactivated c");
}

// BA-198, BA-194: with the gate a boost is a priority
TEST_F(RequeueRules, ABoostIsAChangeOfPriority) {
  for (const bool gate : {false, true}) {
    FactWorld x;
    Settings settings;
    settings.priority_boost = gate;
    x.configure(settings);
    x.namespace_("default");
    x.flavor("default");
    x.queue({.name = "a", .cpu = 4'000});
    x.local_queue("l-a", "a");
    x.observe(MirrorSynced{});
    x.tick(Duration::seconds(2));
    (void)x.settle();
    x.observe(x.workload("running", "l-a", 4'000));
    (void)x.settle();
    auto o = x.seen_as("running");
    o.priority_boost = 3;
    x.observe(o);
    EXPECT_EQ(x.driver().domain().next_due().is_set(), gate);
  }
}

// BA-199: any change of a finished or inactive Workload wakes its tree
TEST_F(RequeueRules, ChangesOfFinishedAndInactiveWorkloadsWakeTheTree) {
  set_up({{.name = "a", .cpu = 4'000}});
  w.observe(w.workload("done", "l-a", 1'000));
  w.observe(w.workload("off", "l-a", 1'000));
  (void)w.settle();
  finish("done");
  change("off", [](WorkloadObserved& o) { o.active = false, ++o.meta.generation; });
  (void)w.settle();
  (void)pass(1);
  ASSERT_FALSE(w.driver().domain().next_due().is_set());
  for (const char* name : {"done", "off"}) {
    change(name, [](WorkloadObserved&) {});  // nothing but another version
    EXPECT_EQ(w.driver().domain().next_due(), w.now + Settings{}.reactivation_batch) << name;
    EXPECT_EQ(pass(1), (Lines{"reactivated a"})) << name;
  }
}

// BA-199, D12: not while its LocalQueue is stopped or missing
TEST_F(RequeueRules, WorkloadsOfAStoppedOrMissingLocalQueueWakeNothing) {
  for (const std::string how : {"stopped", "missing"}) {
    FactWorld x;
    x.namespace_("default");
    x.flavor("default");
    x.queue({.name = "a", .cpu = 4'000});
    x.local_queue("l-a", "a");
    x.observe(MirrorSynced{});
    x.tick(Duration::seconds(2));
    (void)x.settle();
    x.observe(x.workload("running", "l-a", 4'000));
    (void)x.settle();
    if (how == "stopped") {
      LocalQueueObserved o;
      o.meta.namespace_ = "default";
      o.meta.name = "l-a";
      o.cluster_queue = "a";
      o.stop_policy = StopPolicy::hold;
      x.observe(o);
    } else {
      x.observe(ObjectDeleted{ObjectKind::local_queue, "default", "l-a", "uid"});
    }
    (void)x.settle();
    x.observe(ObjectDeleted{ObjectKind::workload, "default", "running", "uid-running"});
    EXPECT_FALSE(x.driver().domain().next_due().is_set()) << how;
    EXPECT_EQ(x.driver().queue(Symbol("a"))->counters().reserving, 0) << "its quota is free all the same";
  }
}

// BA-199: a LocalQueue that was made anew for another ClusterQueue; its Workload frees the quota of the one before
TEST_F(RequeueRules, WhatAWorkloadFreesWakesTheTreeWhereItWasHeld) {
  set_up({{.name = "a", .cpu = 4'000}, {.name = "b", .cpu = 4'000}});
  w.local_queue("waiting", "a");
  w.observe(w.workload("running", "l-a", 4'000));
  (void)w.settle();
  w.observe(w.workload("next", "waiting", 4'000));
  (void)w.settle();
  w.observe(ObjectDeleted{ObjectKind::local_queue, "default", "l-a", "uid"});
  w.local_queue("l-a", "b");
  (void)w.settle();
  (void)pass(1);
  w.observe(ObjectDeleted{ObjectKind::workload, "default", "running", "uid-running"});
  (void)w.settle();
  const auto told = pass(1);
  EXPECT_TRUE(std::ranges::find(told, "reserved next admitted") != told.end()) << ::testing::PrintToString(told);
}

// ---- equivalence (BA-56) --------------------------------------------------------------------------------------------------------

// BA-56: whatever tells two Workloads apart (the shape of their pods: template_hash_test) keeps them from sharing a record
TEST_F(RequeueRules, WorkloadsThatDifferShareNoRecord) {
  set_up({{.name = "a", .cpu = 4'000}});
  const auto base = w.workload("base", "l-a", 1'000);
  std::set<std::uint64_t> hashes;
  int n = 0;
  const auto hash_with = [&](auto&& change_it) {
    auto o = w.workload("x" + std::to_string(n++), "l-a", 1'000);
    auto pods = w.arena().make<PodSetFacts>(o.pod_sets.size());
    std::copy(o.pod_sets.begin(), o.pod_sets.end(), pods.begin());
    change_it(o, pods[0]);
    if (o.pod_sets.size() == 1) o.pod_sets = pods;
    w.observe(o);
    const auto& s = w.state(o.meta.name);
    return make_info(s, *w.driver().domain().catalog(), {})->equivalence_hash;
  };
  const auto same = hash_with([](auto&, auto&) {});
  EXPECT_EQ(same, hash_with([](auto& o, auto&) { o.meta.created = Time::from_seconds(5); })) << "age is none of them";
  hashes.insert(same);
  const auto differs = [&](const char* what, auto&& change_it) { EXPECT_TRUE(hashes.insert(hash_with(change_it)).second) << what; };
  differs("name of the pod set", [](auto&, auto& p) { p.name = "other"; });
  differs("scheduling shape", [](auto&, auto& p) { p.shape_hash += 1; });
  differs("count", [](auto&, auto& p) { p.count = 2; });
  differs("minCount", [](auto&, auto& p) { p.min_count = 1; });
  differs("priority", [](auto& o, auto&) { o.priority = 7; });
  differs("request", [&](auto&, auto& p) {
    auto r = w.arena().make<ResourceAmount>(1);
    r[0] = {"cpu", 1'001};
    p.requests = r;
  });
  differs("another resource", [&](auto&, auto& p) {
    auto r = w.arena().make<ResourceAmount>(2);
    r[0] = {"cpu", 1'000};
    r[1] = {"memory", 1};
    p.requests = r;
  });
  differs("a second pod set", [&](auto& o, auto& p) {
    auto two = w.arena().make<PodSetFacts>(2);
    two[0] = two[1] = p;
    two[1].name = "worker";
    o.pod_sets = two;
  });
  differs("reclaimable pods", [&](auto& o, auto& p) {
    p.count = 3;
    auto r = w.arena().make<PodSetCount>(1);
    r[0] = {"main", 3};
    o.reclaimable = r;
  });
  (void)base;
}

}  // namespace
}  // namespace hindsight::admission::testing
