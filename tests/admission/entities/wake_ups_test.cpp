// What wakes parked Workloads, and whose (base-admission §3.7), and circles of cohorts (§2.3), through all entities.

#include <gtest/gtest.h>

#include <algorithm>

#include "admission/rules.hpp"
#include "tests/admission/entities/queue_world.hpp"

namespace hindsight::admission::testing {
namespace {

class WakeUps : public QueueWorld {
 protected:
  /// In each of these queues, which have room for 4 cores, one is parked that asks for 9: "big-NAME".
  void park_one_in(const std::vector<std::string>& queues) {
    for (const auto& q : queues) w.observe(w.workload("big-" + q, "l-" + q, 9'000));
    (void)w.settle();
    (void)pass(1);
    for (const auto& q : queues) ASSERT_TRUE(parked(q, "big-" + q)) << q;
    ASSERT_TRUE(quiet());
  }
  /// Has nobody asked for a reactivation?
  bool quiet() { return !w.driver().domain().next_due().is_set(); }
  /// The trees that are reactivated in the next second.
  Lines woken() {
    w.tick(Duration::seconds(1));
    Lines out;
    settle([&](const Domain::Step& step) {
      for (const Event& e : step.events)
        if (const auto* t = std::get_if<TreeReactivated>(&e)) out.emplace_back(t->root);
    });
    std::sort(out.begin(), out.end());
    return out;
  }
  /// Those of these Workloads that were tried when their trees were woken.
  Lines tried_in_the_next_second() {
    w.tick(Duration::seconds(1));
    Lines out;
    settle([&](const Domain::Step& step) {
      for (const Event& e : step.events) {
        if (const auto* r = std::get_if<EntryRequeued>(&e)) out.emplace_back(r->workload.name);
        if (const auto* q = std::get_if<QuotaReserved>(&e)) out.emplace_back(q->workload.name);
      }
    });
    std::sort(out.begin(), out.end());
    return out;
  }
  void namespace_with(const std::vector<std::string_view>& labels) {
    NamespaceObserved n;
    n.meta.name = "default";
    auto list = w.arena().make<Pair>(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) list[i] = {labels[i], "yes"};
    n.labels = list;
    w.observe(n);
  }
  void selecting(std::string_view name, std::string_view label, std::string_view cohort = {}) {
    auto o = flavored(name, {{"default", 4'000}}, cohort);
    o.namespace_selector = has_label(label);
    w.observe(o);
    w.local_queue("l-" + std::string(name), name);
  }
  void tainted(std::string_view name, std::string_view taint, bool deleting = false) {
    ResourceFlavorObserved f;
    f.meta.name = name;
    f.meta.in_use_finalizer = true;
    f.meta.deleting = deleting;
    auto taints = w.arena().make<Taint>(taint.empty() ? 0 : 1);
    if (!taint.empty()) taints[0] = {taint, "true", TaintEffect::no_schedule};
    f.node_taints = taints;
    w.observe(f);
  }
  void cohort(std::string_view name, std::string_view parent) {
    CohortObserved o;
    o.meta.name = name;
    o.parent = parent;
    w.observe(o);
  }
};

// BA-58: labels of a namespace wake the trees of those queues that they match from now on
TEST_F(WakeUps, LabelsOfANamespaceWakeTheQueuesThatNewlyMatch) {
  set_up({{.name = "mate", .cohort = "c", .cpu = 4'000}, {.name = "everybody", .cpu = 4'000}});
  selecting("a", "team");
  selecting("b", "team", "c");
  selecting("d", "other");
  (void)pass(2);
  park_one_in({"mate", "everybody"});
  for (const char* q : {"a", "b", "d"}) w.observe(w.workload("in-" + std::string(q), "l-" + std::string(q), 1'000));
  auto late = w.workload("backs-off", "l-a", 1'000);
  put(late, {ConditionType::requeued, ConditionStatus::false_, "DeactivatedDueToRequeuingLimitExceeded", "m", w.now});
  w.observe(late);
  (void)w.settle();
  for (const char* q : {"a", "b", "d"}) ASSERT_TRUE(parked(q, "in-" + std::string(q))) << q;

  namespace_with({"color"});
  EXPECT_TRUE(quiet()) << "it matches no more than before";
  namespace_with({"color", "team"});
  EXPECT_FALSE(quiet());
  EXPECT_EQ(tried_in_the_next_second(), (Lines{"big-mate", "in-a", "in-b"})) << "with their trees, and nobody else";
  EXPECT_TRUE(w.state("in-a").reserved() && w.state("in-b").reserved());
  EXPECT_TRUE(parked("d", "in-d"));
  EXPECT_TRUE(parked("a", "backs-off")) << "its gate is closed";
  namespace_with({"team"});
  EXPECT_TRUE(quiet()) << "they matched already";
  namespace_with({});
  EXPECT_TRUE(quiet()) << "they match no more";
}

// BA-58: who is woken with a tree is who may be admitted: the filters are of each Workload
TEST_F(WakeUps, NamespaceAndBackOffAreOfEachWorkload) {
  set_up({{.name = "a", .cohort = "c", .cpu = 4'000}, {.name = "runs", .cohort = "c"}});
  selecting("b", "team", "c");
  (void)pass(2);
  w.observe(w.workload("running", "l-runs", 8'000));
  (void)w.settle();
  w.observe(w.workload("open", "l-a", 1'000));
  w.observe(w.workload("elsewhere", "l-b", 1'100));
  auto later = w.workload("later", "l-a", 1'200);
  later.has_requeue_state = true;
  later.requeue_at = w.now + Duration::seconds(100);
  w.observe(later);
  (void)w.settle();
  ASSERT_TRUE(parked("a", "open") && parked("a", "later") && parked("b", "elsewhere"));
  finish("running");
  EXPECT_EQ(tried_in_the_next_second(), Lines{"open"});
  EXPECT_TRUE(parked("a", "later") && parked("b", "elsewhere"));
}

// BA-58: of an AdmissionCheck those queues that became active by it
TEST_F(WakeUps, AnAdmissionCheckWakesTheQueuesThatItMadeActive) {
  w.check("k");
  set_up({{.name = "a", .cpu = 4'000, .check = "k"},
          {.name = "b", .cpu = 4'000, .check = "k", .other_check = "m"},
          {.name = "c", .cpu = 4'000}});
  w.check("m");
  (void)pass(1);
  park_one_in({"a", "b", "c"});
  w.check("m", false);
  EXPECT_TRUE(quiet()) << "it made one inactive";
  w.check("k", false);
  EXPECT_TRUE(quiet()) << "another one too";
  w.check("k", true);
  EXPECT_EQ(woken(), Lines{"a"}) << "b has another check that is not active";
  AdmissionCheckObserved other;
  other.meta.name = "k";
  other.controller_name = "somebody else";
  other.active = true;
  w.observe(other);
  EXPECT_TRUE(quiet()) << "active before and after";
  w.observe(ObjectDeleted{ObjectKind::admission_check, {}, "k", "uid"});
  EXPECT_TRUE(quiet());
  w.check("m", true);
  EXPECT_TRUE(quiet()) << "b misses k";
  w.check("k", true);
  EXPECT_EQ(woken(), (Lines{"a", "b"})) << "made anew";
}

// BA-58: a change of a flavor wakes all queues that use it, its return those that it makes active
TEST_F(WakeUps, AFlavorWakesTheQueuesThatUseIt) {
  set_up({{.name = "a", .cohort = "tree", .cpu = 4'000}, {.name = "b", .cpu = 4'000, .stop = StopPolicy::hold}});
  w.flavor("second");
  w.observe(flavored("c", {{"second", 4'000}}));
  w.local_queue("l-c", "c");
  w.observe(flavored("both", {{"second", 4'000}, {"default", 4'000}}));
  w.local_queue("l-both", "both");
  (void)pass(2);
  park_one_in({"a", "both", "c"});
  tainted("default", "spot");
  EXPECT_EQ(woken(), (Lines{"b", "both", "tree"})) << "by name; also one that is stopped";
  tainted("default", "spot");
  EXPECT_TRUE(quiet()) << "the same once more";
  tainted("default", "spot", true);
  EXPECT_TRUE(quiet()) << "it is being deleted, and is as it was";
  w.observe(ObjectDeleted{ObjectKind::resource_flavor, {}, "default", "uid"});
  EXPECT_TRUE(quiet());
  w.flavor("default");
  EXPECT_EQ(woken(), (Lines{"both", "tree"})) << "those that it made active";
}

// BA-58: a Cohort that moves wakes the tree that it has come to; what it has left sleeps on, and so does what a deletion leaves
TEST_F(WakeUps, ACohortWakesItsNewTreeAndNotTheFormerOne) {
  cohort("x", "old");
  set_up({{.name = "of-old", .cohort = "old", .cpu = 4'000},
          {.name = "of-new", .cohort = "new", .cpu = 4'000},
          {.name = "of-x", .cohort = "x", .cpu = 4'000}});
  park_one_in({"of-new"});
  w.observe(w.workload("stays", "l-of-old", 20'000));
  w.observe(w.workload("goes", "l-of-x", 20'000));
  (void)w.settle();
  (void)pass(1);
  ASSERT_TRUE(parked("of-old", "stays") && parked("of-x", "goes"));
  cohort("x", "new");
  EXPECT_FALSE(quiet());
  EXPECT_EQ(tried_in_the_next_second(), (Lines{"big-of-new", "goes"}));
  EXPECT_TRUE(parked("of-old", "stays"));
  EXPECT_TRUE(quiet());
  w.observe(ObjectDeleted{ObjectKind::cohort, {}, "x", "uid"});
  EXPECT_TRUE(quiet());
  EXPECT_EQ(w.settle(), Lines{});
}

// BA-58: so it is with a ClusterQueue, whatever changes in it
TEST_F(WakeUps, AClusterQueueWakesItsNewTreeAndNotTheFormerOne) {
  set_up({{.name = "of-old", .cohort = "old", .cpu = 4'000},
          {.name = "of-new", .cohort = "new", .cpu = 4'000},
          {.name = "moves", .cohort = "old", .cpu = 4'000}});
  park_one_in({"of-new"});
  for (const char* q : {"of-old", "moves"}) w.observe(w.workload("of-" + std::string(q), "l-" + std::string(q), 20'000));
  (void)w.settle();
  w.queue({.name = "moves", .cohort = "new", .cpu = 4'000});
  EXPECT_EQ(woken(), Lines{"new"});
  EXPECT_TRUE(parked("of-old", "of-of-old"));
  w.queue({.name = "moves", .cohort = "new", .cpu = 4'000});
  EXPECT_TRUE(quiet()) << "the same once more";
  w.queue({.name = "moves", .cohort = "new", .cpu = 4'000, .weight_nano = 2'000'000'000});
  EXPECT_EQ(woken(), Lines{"new"}) << "any field";
}

// ---- circles of cohorts -------------------------------------------------------------------------------------------------------------

/// Queue "in" in cohort x, whose parent is y; "below" in cohort z below y; "beside" in cohort other; each has 4 cores.
class Circle : public WakeUps {
 protected:
  void SetUp() override {
    cohort("x", "y");
    cohort("z", "y");
    set_up({{.name = "in", .cohort = "x", .cpu = 4'000},
            {.name = "below", .cohort = "z", .cpu = 4'000},
            {.name = "beside", .cohort = "other", .cpu = 4'000}});
    for (const char* q : all) {
      w.observe(w.workload("runs-" + std::string(q), "l-" + std::string(q), 1'000));
      EXPECT_EQ(w.settle().size(), 1U);
    }
  }
  void close() { cohort("y", "x"); }
  void ask_in_all() {
    for (const char* q : all) w.observe(w.workload("new-" + std::string(q), "l-" + std::string(q), 3'000));
    (void)w.settle();
    (void)pass(2);
  }
  [[nodiscard]] bool reserved(const std::string& name) { return w.state(name).reserved(); }
  static constexpr const char* all[] = {"in", "below", "beside"};
};

// BA-39: below a circle nobody is admitted, whatever is free; elsewhere all goes on, and what runs keeps what it has
TEST_F(Circle, MakesTheQueuesBelowItInactiveAndNoOthers) {
  close();
  for (const char* q : {"in", "below"}) {
    const auto& activity = w.driver().domain().catalog()->activity.at(Symbol(q));
    EXPECT_FALSE(activity.active) << q;
    EXPECT_EQ(activity.reason + ": " + activity.message, "Unknown: Can't admit new workloads.") << q;
  }
  EXPECT_TRUE(w.driver().domain().catalog()->activity.at(Symbol("beside")).active);
  ask_in_all();
  EXPECT_TRUE(reserved("new-beside"));
  for (const std::string q : {"in", "below"}) {
    EXPECT_FALSE(reserved("new-" + q)) << q;
    EXPECT_EQ(w.pending("new-" + q), "Suspended: ClusterQueue " + q + " is inactive");
    EXPECT_TRUE(reserved("runs-" + q) && !w.state("runs-" + q).evicted()) << q;
    EXPECT_EQ(queue(q).counters().reserving, 1) << q;
  }
  // nothing that frees or adds quota helps
  finish("runs-in");
  w.queue({.name = "in", .cohort = "x", .cpu = 9'000});
  (void)pass(2);
  EXPECT_FALSE(reserved("new-in"));
}

// BA-39: when the circle is taken apart they admit again, with what they held before counted
TEST_F(Circle, ThatIsTakenApartLetsThemAdmitAgain) {
  close();
  ask_in_all();
  w.observe(w.workload("too-much", "l-in", 4'000));  // 8 cores, of which 2 are in use and 6 asked for by those who came first
  (void)w.settle();
  cohort("y", "");
  const auto decided = pass(1);
  for (const std::string q : {"in", "below"}) {
    EXPECT_TRUE(w.driver().domain().catalog()->activity.at(Symbol(q)).active) << q;
    EXPECT_TRUE(reserved("new-" + q)) << q << ::testing::PrintToString(decided);
    EXPECT_EQ(queue(q).counters().reserving, 2) << q;
  }
  EXPECT_EQ(w.pending("too-much").substr(0, 15), "WaitingForQuota") << w.pending("too-much");
  remove("new-below");
  (void)pass(1);
  EXPECT_EQ(w.pending("too-much").substr(0, 15), "WaitingForQuota") << "3 of 8 are free";
  remove("runs-below");
  (void)pass(1);
  EXPECT_TRUE(reserved("too-much")) << "4 of 8 are free, and it may borrow";
}

// BA-39: also by a deletion
TEST_F(Circle, ACohortThatIsDeletedEndsIt) {
  close();
  ask_in_all();
  w.observe(ObjectDeleted{ObjectKind::cohort, {}, "y", "uid"});
  (void)pass(1);
  for (const std::string q : {"in", "below"}) EXPECT_TRUE(reserved("new-" + q)) << q;
}

/// One whose check is answered after its quota was given back.
class FailedCheck : public QueueWorld {
 protected:
  void say(CheckState state) {
    auto o = w.seen_as("late");
    auto checks = w.arena().make<CheckFacts>(1);
    checks[0].name = "k";
    checks[0].state = state;
    checks[0].last_transition = w.now;
    o.checks = checks;
    w.observe(o);
  }
  void is_answered_late() {
    w.check("k");
    set_up({{.name = "a", .cpu = 4'000, .check = "k"}});
    w.observe(w.workload("late", "l-a", 1'000));
    say(CheckState::retry);
    (void)pass(1);
    ASSERT_TRUE(parked("a", "late"));
    ASSERT_EQ(w.pending("late"), "PendingEvaluation: The workload has failed admission checks");
  }
};

// BA-64: the answer is taken back, and nothing else happens
TEST_F(FailedCheck, ThatIsTakenBackIsNews) {
  is_answered_late();
  say(CheckState::pending);
  (void)w.settle();
  EXPECT_TRUE(w.state("late").reserved());
}

// BA-64: a log of an earlier release means what it meant
TEST_F(FailedCheck, WasNoNewsByEarlierRules) {
  w.observe_epoch(rules_with_checks_taken_back - 1);
  is_answered_late();
  say(CheckState::pending);
  (void)w.settle();
  EXPECT_TRUE(parked("a", "late"));
}

}  // namespace
}  // namespace hindsight::admission::testing
