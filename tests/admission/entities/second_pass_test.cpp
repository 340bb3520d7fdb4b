// Workloads whose places are found only after a check has made nodes for them (2724 §4.8).

#include <gtest/gtest.h>

#include "tests/admission/entities/fleet.hpp"

namespace hindsight::admission::testing {
namespace {

constexpr const char* provisioning = "kueue.x-k8s.io/provisioning-request";

/// A queue with a check "prov" that makes nodes.
class SecondPass : public ::testing::Test {
 protected:
  void set_up(const std::string& controller = provisioning, StopPolicy stop = StopPolicy::none) {
    w.on_record = [this](const RecordView& r) {
      if (const auto* d = std::get_if<Decisions>(&r.body))
        for (const Event& e : d->events) {
          if (const auto* f = std::get_if<SecondPassFailed>(&e)) failures_.emplace_back(seconds(), f->attempt, std::string(f->message));
          assigned_ += std::holds_alternative<TopologyAssigned>(e);
        }
    };
    w.namespace_("default");
    w.tas_flavor();
    w.check("prov", true, controller);
    w.queue({.name = "q", .cpu = 1'000'000, .stop = stop, .check = "prov"});
    w.local_queue("lq", "q");
    w.topology();
    w.observe(MirrorSynced{});
    start_ = w.now;
    (void)w.settle();
  }
  void pend(const WorkloadObserved& o) {
    w.observe(o);
    (void)w.settle();
  }
  /// The controller of the check says so.
  void check_says(const std::string& name, CheckState verdict, const std::string& selector = {}, const std::string& tolerates = {}) {
    w.observe(w.seen_as(name));  // what we wrote is there before somebody changes it
    auto o = w.seen_as(name);
    auto checks = w.arena().make<CheckFacts>(1);
    checks[0].name = "prov";
    checks[0].state = verdict;
    checks[0].last_transition = w.now;
    if (!selector.empty() || !tolerates.empty()) {
      auto updates = w.arena().make<PodSetUpdateFacts>(1);
      updates[0].pod_set = "main";
      if (!selector.empty()) {
        auto pairs = w.arena().make<Pair>(1);
        pairs[0] = {"rack", w.keep(selector)};
        updates[0].node_selector = pairs;
      }
      if (!tolerates.empty()) {
        auto tolerations = w.arena().make<Toleration>(1);
        tolerations[0] = {w.keep(tolerates), "", true, TaintEffect::unspecified, {}};
        updates[0].tolerations = tolerations;
      }
      checks[0].pod_set_updates = "[{}]";
      checks[0].updates = updates;
    }
    o.checks = checks;
    w.observe(o);
    (void)w.settle();
  }
  /// Time goes by in steps of half a second, as timers fire.
  void pass(int seconds) {
    for (int i = 0; i < 2 * seconds; ++i) {
      w.tick(Duration::millis(500));
      (void)w.settle();
    }
  }
  std::int64_t seconds() const { return (w.now - start_).micros / 1'000'000; }
  std::string admitted(const std::string& name) {
    const auto* c = w.state(name).find(ConditionType::admitted);
    return c == nullptr ? "" : std::string(c->is_true() ? "True " : "False ") + std::string(c->reason.text()) + ": " + c->message;
  }
  DelayedTopology delayed(const std::string& name) { return w.state(name).admission->pod_sets.front().delayed; }

  Fleet w;
  Time start_;
  std::vector<std::tuple<std::int64_t, std::int32_t, std::string>> failures_;
  int assigned_ = 0;
};

const Ask rack{.required = {}, .preferred = "rack"};

// TAS-90, TAS-91, TAS-92, E24
TEST_F(SecondPass, PlacesAreLookedForOnceTheCheckIsReady) {
  set_up();
  pend(w.gang("j", 1, 1'000, rack));
  ASSERT_TRUE(w.state("j").reserved());
  EXPECT_EQ(delayed("j"), DelayedTopology::pending);
  EXPECT_EQ(w.places("j"), "");
  EXPECT_EQ(admitted("j"), "False UnsatisfiedAdmissionChecks: The workload has not all checks ready");
  pass(20);
  EXPECT_TRUE(failures_.empty()) << "the check is not ready";

  w.node("x1", {.ready = false});
  const auto t1 = seconds();
  check_says("j", CheckState::ready);
  EXPECT_EQ(admitted("j"), "False PendingDelayedTopologyRequests: There are pending delayed topology requests");
  pass(8);
  ASSERT_EQ(failures_.size(), 3U);
  const std::string why = "couldn't assign flavors to pod set main: no topology domains at level: rack";
  EXPECT_EQ(failures_[0], std::tuple(t1 + 1, 1, why));
  EXPECT_EQ(failures_[1], std::tuple(t1 + 3, 2, why));
  EXPECT_EQ(failures_[2], std::tuple(t1 + 7, 3, why));
  EXPECT_TRUE(w.state("j").reserved());

  w.node("x1");
  (void)w.settle();
  EXPECT_FALSE(w.state("j").admitted()) << "not before its time";
  pass(8);
  EXPECT_TRUE(w.state("j").admitted());
  EXPECT_EQ(delayed("j"), DelayedTopology::ready);
  EXPECT_EQ(w.places("j"), "x1:1");
  EXPECT_EQ(admitted("j"), "True Admitted: The workload is admitted");
  EXPECT_EQ(failures_.size(), 3U);
  EXPECT_EQ(assigned_, 1);
  pass(60);
  EXPECT_EQ(assigned_, 1);
  EXPECT_FALSE(w.driver().domain().next_due().is_set()) << "nobody waits for anything";
}

// TAS-92: half a minute at most from one attempt to the next.
TEST_F(SecondPass, AttemptsBecomeRarer) {
  set_up();
  pend(w.gang("j", 1, 1'000, rack));
  check_says("j", CheckState::ready);
  pass(130);
  std::vector<std::int64_t> gaps;
  for (std::size_t i = 1; i < failures_.size(); ++i) gaps.push_back(std::get<0>(failures_[i]) - std::get<0>(failures_[i - 1]));
  EXPECT_EQ(gaps, (std::vector<std::int64_t>{2, 4, 8, 16, 30, 30, 30}));
}

// TAS-90: other checks do not delay anything.
TEST_F(SecondPass, OtherChecksDelayNothing) {
  set_up("example.com/other");
  w.node("x1");
  pend(w.gang("j", 1, 1'000, rack));
  EXPECT_EQ(w.places("j"), "x1:1");
  EXPECT_EQ(delayed("j"), DelayedTopology::none);
  check_says("j", CheckState::ready);
  EXPECT_TRUE(w.state("j").admitted());
}

// TAS-16: cohorts, preemption and both kinds of checks go with topologies.
TEST_F(SecondPass, NothingIsRefusedBecauseOfATopology) {
  set_up();
  w.check("away", true, "kueue.x-k8s.io/multikueue");
  w.queue({.name = "q",
           .cohort = "all",
           .cpu = 1'000'000,
           .within = PreemptionPolicy::lower_priority,
           .reclaim = PreemptionPolicy::any,
           .check = "prov"});
  (void)w.settle();
  EXPECT_TRUE(w.driver().domain().catalog()->queue_active(Symbol("q")));
  w.queue({.name = "q", .cohort = "all", .cpu = 1'000'000, .reclaim = PreemptionPolicy::any, .check = "away"});
  (void)w.settle();
  EXPECT_TRUE(w.driver().domain().catalog()->queue_active(Symbol("q")));
}

// TAS-118: who is sent to another cluster has his places there. The Topology need not be here, nor nodes.
TEST_F(SecondPass, AManagerOfOtherClustersPlacesNobody) {
  set_up("kueue.x-k8s.io/multikueue");
  w.node("x1");
  pend(w.gang("j", 1, 1'000, rack));
  ASSERT_TRUE(w.state("j").reserved());
  EXPECT_EQ(delayed("j"), DelayedTopology::pending);
  EXPECT_EQ(w.places("j"), "");
}

// TAS-91: what the check says of nodes counts.
TEST_F(SecondPass, TheNodesOfTheCheckAreTaken) {
  set_up();
  w.node("x1", {.rack = "r1"});
  w.node("x2", {.rack = "r2", .taint = "booked"});
  pend(w.gang("j", 1, 1'000, rack));
  check_says("j", CheckState::ready, "r2");
  pass(2);
  ASSERT_FALSE(failures_.empty());
  EXPECT_EQ(std::get<2>(failures_.back()),
            "couldn't assign flavors to pod set main: topology \"racks\" doesn't allow to fit any of 1 pod(s). Total nodes: 2; excluded: "
            "nodeSelector: 1, taint \"booked:NoExecute\": 1");
  check_says("j", CheckState::ready, "r2", "booked");
  pass(5);
  EXPECT_EQ(w.places("j"), "x2:1");
  EXPECT_TRUE(w.state("j").admitted());
}

// TAS-93
TEST_F(SecondPass, WhoIsEvictedOrEndsWaitsForNoPlaces) {
  set_up();
  pend(w.gang("j", 1, 1'000, rack));
  check_says("j", CheckState::ready);
  pass(2);
  ASSERT_EQ(failures_.size(), 1U);
  w.finish("j");
  (void)w.settle();
  pass(40);
  EXPECT_EQ(failures_.size(), 1U);

  pend(w.gang("k", 1, 1'000, rack));
  check_says("k", CheckState::ready);
  pass(2);
  const auto before = failures_.size();
  auto off = w.seen_as("k");
  off.active = false;
  w.observe(off);
  (void)w.settle();
  pass(40);
  EXPECT_EQ(failures_.size(), before);
  EXPECT_FALSE(w.driver().domain().next_due().is_set());
}

// TAS-93: a queue that is stopped takes the quota back from who is not admitted yet, and the second pass with it.
TEST_F(SecondPass, AStoppedQueueDropsIt) {
  set_up();
  pend(w.gang("j", 1, 1'000, rack));
  check_says("j", CheckState::ready);
  pass(2);
  const auto before = failures_.size();
  w.queue({.name = "q", .cpu = 1'000'000, .stop = StopPolicy::hold, .check = "prov"});
  (void)w.settle();
  EXPECT_FALSE(w.state("j").reserved());
  pass(40);
  EXPECT_EQ(failures_.size(), before);
}

// TAS-94: who waits for pods of others to be ready waits with his places, too, but a second pass does not.
TEST_F(SecondPass, PodsThatAreNotReadyHoldItUpNotAtAll) {
  Settings settings;
  settings.pods_ready_enabled = settings.block_admission = true;
  w.configure(settings);
  set_up();
  pend(w.gang("j", 1, 1'000, rack));
  auto other = w.workload("other", "lq", 1'000);
  w.admit(other, "q");
  pend(other);
  check_says("j", CheckState::ready);
  pass(2);
  EXPECT_EQ(failures_.size(), 1U);
  w.node("x1");
  pass(3);
  EXPECT_EQ(w.places("j"), "x1:1");
  EXPECT_TRUE(w.state("j").admitted());
}

// E25: of two that look for the same host the first in the order of entries gets it, and the other sees that.
TEST_F(SecondPass, TwoAtOnceDoNotTakeOneHost) {
  set_up();
  w.node("x1", {.cores = 1});
  w.node("x2", {.cores = 1});
  pend(w.gang("low", 1, 1'000, rack, 1));
  pend(w.gang("high", 1, 1'000, rack, 9));
  check_says("low", CheckState::ready);
  check_says("high", CheckState::ready);
  pass(2);
  EXPECT_EQ(w.places("high"), "x1:1");
  EXPECT_EQ(w.places("low"), "x2:1");
}

// TAS-95, TAS-36: a restart goes on where it was.
TEST_F(SecondPass, IsState) {
  set_up();
  pend(w.gang("j", 1, 1'000, rack));
  check_says("j", CheckState::ready);
  pass(4);
  ASSERT_EQ(w.state("j").second_passes, 2);
  const auto next = w.driver().domain().next_due();
  EXPECT_EQ(next, w.state("j").second_pass_at);
  EXPECT_GT(next, w.now);
}

}  // namespace
}  // namespace hindsight::admission::testing
