// Pods of a job whose Workload has places in a topology, from their gate to their host (2724 §4.7), on the level of facts. The rule that
// says which pod goes where is tested by itself (topology/ungating_test.cpp).

#include <gtest/gtest.h>

#include <random>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/placed_job.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

// TAS-79: nobody leaves the gate before there is an admission with places. TAS-80, TAS-81: then each by its rank, in one decision.
TEST_F(PlacedPods, PodsGoToTheirHostsByRank) {
  job(6, true);
  (void)w.settle();
  pod("p0", {.index = 0});
  EXPECT_EQ(placed(), "");
  start(6);
  ASSERT_EQ(w.places("wl"), "n1:4 n2:2");
  EXPECT_EQ(wanted(), "p0 n1") << "it was made too early, and has its place now";
  for (const int i : {5, 3, 1}) pod("p" + std::to_string(i), {.index = i});
  events_ = 0;
  EXPECT_EQ(placed(), "p1 n1 p3 n1 p5 n2");
  EXPECT_EQ(events_, 1);
  EXPECT_EQ(wanted(), "p1 n1 p3 n1 p5 n2");
  EXPECT_EQ(wanted(), "") << "once";
}

// TAS-86: places that were given count, though the pods are still seen at their gates: others come one by one and get what is left.
TEST_F(PlacedPods, PlacesThatWereGivenCountAtOnce) {
  start(6);
  std::map<std::string, int> on;
  for (int i = 0; i < 6; ++i) {
    pod("p" + std::to_string(i), {});  // no ranks
    const auto words = placed();
    ++on[words.substr(words.size() - 2)];
  }
  EXPECT_EQ(on, (std::map<std::string, int>{{"n1", 4}, {"n2", 2}}));
  pod("late", {});
  EXPECT_EQ(placed(), "") << "no place is left";
  pod("p0", {.gated = false, .on = "n1", .ended = true});
  EXPECT_EQ(placed(), "late n1") << "TAS-85: one that failed has left its place";
}

// TAS-85: a pod that terminates keeps its place, so a successor of the same rank waits until it is over.
TEST_F(PlacedPods, ASuccessorTakesTheRankOfWhoHasEnded) {
  start(2);
  for (const int i : {0, 1}) pod("p" + std::to_string(i), {.index = i});
  EXPECT_EQ(placed(), "p0 n1 p1 n1");
  for (const int i : {0, 1}) pod("p" + std::to_string(i), {.index = i, .gated = false, .on = "n1"});
  pod("p1b", {.index = 1});
  EXPECT_EQ(placed(), "");
  pod("p1", {.index = 1, .gated = false, .on = "n1", .ended = true});
  EXPECT_EQ(placed(), "p1b n1");
  w.observe(ObjectDeleted{ObjectKind::pod, "default", "p1b", "pod-p1b", {}});
  pod("p1c", {.index = 1});
  EXPECT_EQ(placed(), "p1c n1") << "one that is gone as well";
}

// TAS-82: of the two pod sets of a group the workers' ranks begin behind the leader's; an offset of their own comes on top.
TEST_F(PlacedPods, WorkersOfAGroupCountFromTheirLeader) {
  leader_ = true;
  start(4);
  ASSERT_EQ(w.places("wl"), "n1:1 n1:3 n2:1");
  pod("l", {.index = 0, .pod_set = "leader"});
  pod("w4", {.index = 4, .pod_set = "workers"});
  pod("w1", {.index = 1, .pod_set = "workers"});
  EXPECT_EQ(placed(), "l n1 w1 n1 w4 n2");
}

// TAS-82
TEST_F(PlacedPods, AnOffsetMovesTheRanksAndABadOneHoldsAllBack) {
  start(6);
  pod("p9", {.index = 9, .offset = 5});
  EXPECT_EQ(placed(), "p9 n2") << "rank 4";
  pod("p1", {.index = 1, .bad_offset = true});
  EXPECT_EQ(placed(), "");
}

// TAS-81: pods of a JobSet's jobs, by job and index.
TEST_F(PlacedPods, RanksOfSubGroupsFollowEachOther) {
  groups_ = 3;
  start(6);
  pod("j2-0", {.index = 0, .group = 2});
  pod("j0-1", {.index = 1, .group = 0});
  EXPECT_EQ(placed(), "j0-1 n1 j2-0 n2");
}

// TAS-80: pods of another Workload or pod set, and those without a gate, are left alone.
TEST_F(PlacedPods, OnlyPodsOfTheWorkloadAreReleased) {
  start(2);
  pod("other", {.index = 0, .of = "another"});
  pod("set", {.index = 0, .pod_set = "another"});
  pod("free", {.index = 0, .gated = false});
  EXPECT_EQ(placed(), "");
  EXPECT_EQ(wanted(), "");
}

// TAS-79, TAS-89: after an eviction no place of before is told any more; the next admission gives new ones.
TEST_F(PlacedPods, PlacesEndWithTheAdmission) {
  start(2);
  pod("p0", {.index = 0});
  EXPECT_EQ(placed(), "p0 n1");
  w.node("n1", {.unschedulable = true});
  auto seen = w.seen_as("wl");
  seen.active = false;
  w.observe(seen);
  (void)w.settle();
  job(2, true);
  (void)w.settle();
  ASSERT_FALSE(w.state("wl").reserved());
  EXPECT_EQ(wanted(), "");
  seen = w.seen_as("wl");
  seen.active = true;
  w.observe(seen);
  (void)w.pass();
  (void)w.pass();
  ASSERT_EQ(w.places("wl"), "n2:2");
  job(2, false);
  (void)w.settle();
  EXPECT_EQ(wanted(), "p0 n2");
}

// TAS-37: who lost its admission uses its nodes until its pods have ended, each for itself; a snapshot knows that, too.
TEST_F(PlacedPods, PodsThatStillRunUseTheirNodes) {
  start(12);
  run(12);
  ASSERT_EQ(w.places("wl"), "n1:4 n2:4 n3:4");
  w.observe(w.gang("next", 4, 1'000, {.required = host}));
  auto seen = w.seen_as("wl");
  seen.active = false;
  w.observe(seen);
  (void)w.settle();
  job(12, true);
  (void)w.pass();
  ASSERT_FALSE(w.state("wl").reserved());
  EXPECT_TRUE(w.places("next").starts_with("TopologyPlacementFailed")) << "all of them still run: " << w.places("next");
  for (const int i : {0, 1, 2, 4, 5, 6, 7})
    pod("p" + std::to_string(i),
        {.index = i, .gated = false, .on = i < 4 ? "n1" : "n2", .ended = i != 7, .node = i < 4 ? "n1" : "n2", .terminating = true});
  (void)w.pass();
  EXPECT_NE(w.places("next"), "n2:4") << "one of n2 terminates";
  Fleet copy;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  w.observe(ObjectDeleted{ObjectKind::pod, "default", "p7", "pod-p7", {}});
  (void)w.pass();
  EXPECT_EQ(w.places("next"), "n2:4");
  copy.now = w.now;
  copy.observe(ObjectDeleted{ObjectKind::pod, "default", "p3", "pod-p3", {}});
  (void)copy.pass();
  EXPECT_EQ(copy.places("next"), "n1:4");
}

// TAS-37: also of a job that is finished, or that was deleted before its pods.
TEST_F(PlacedPods, PodsOutliveTheirJob) {
  start(12);
  run(12);
  w.observe(w.gang("next", 4, 1'000, {.required = host}));
  w.finish("wl");
  (void)w.pass();
  EXPECT_TRUE(w.places("next").starts_with("TopologyPlacementFailed"));
  w.observe(ObjectDeleted{ObjectKind::workload, "default", "wl", w.seen_as("wl").meta.uid, {}});
  w.observe(ObjectDeleted{ObjectKind::job, "default", "train", "job-train", {}});
  (void)w.pass();
  for (int i = 0; i < 4; ++i) {
    EXPECT_NE(w.places("next"), "n1:4") << i;
    w.observe(ObjectDeleted{ObjectKind::pod, "default", w.keep("p" + std::to_string(i)), w.keep("pod-p" + std::to_string(i)), {}});
    (void)w.pass();
    if (i == 1) {
      Fleet copy;
      ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
      EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
      EXPECT_EQ(copy.driver().domain().nodes().at(Symbol("n1"))->used, w.driver().domain().nodes().at(Symbol("n1"))->used);
    }
  }
  EXPECT_EQ(w.places("next"), "n1:4");
}

// A slice that takes the place of another is placed anew (EJ-108); pods that it adds carry the name of the slice that the job was started
// with, and get places all the same. Those that run stay where they are, and use their nodes.
TEST_F(PlacedPods, PodsOfAnElasticJobAreOfEachSlice) {
  elastic_ = true;
  start(2);
  run(2);
  ASSERT_EQ(w.places("wl"), "n1:2");
  job(5, false);
  (void)w.settle();
  workload("wl-" + std::to_string(generation_), 5, "wl");
  (void)w.pass();
  job(5, false);
  (void)w.settle();
  const std::string now = w.places("wl-3");
  ASSERT_FALSE(now.empty());
  for (const int i : {2, 3, 4}) pod("p" + std::to_string(i), {.index = i});
  const auto words = placed();
  EXPECT_EQ(std::count(words.begin(), words.end(), 'p'), 3) << now << ": " << words;
  EXPECT_EQ(decided(), "") << "nobody fails";
}

// TAS-134: where pods go is what the assignment says, whatever has become of Topology and flavor.
TEST_F(PlacedPods, TheAssignmentAloneSaysWherePodsGo) {
  start(4);
  w.topology({"row", host});
  w.observe(ObjectDeleted{ObjectKind::topology, {}, "racks", "racks"});
  w.observe(ObjectDeleted{ObjectKind::resource_flavor, {}, "default", "default"});
  (void)w.settle();
  ASSERT_TRUE(w.state("wl").admitted());
  pod("p0", {.index = 0});
  EXPECT_EQ(placed(), "p0 n1");
}

// Replay and snapshots know what was given.
TEST_F(PlacedPods, PlacesAreState) {
  start(4);
  pod("p0", {.index = 0});
  const auto before = w.driver().state_hash();
  EXPECT_EQ(placed(), "p0 n1");
  EXPECT_NE(w.driver().state_hash(), before);
  Fleet copy;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  const auto intents = copy.driver().entities().all_intents();
  EXPECT_EQ(std::count_if(intents.begin(), intents.end(), [](const Intent& i) { return std::holds_alternative<PodReleaseIntent>(i); }), 1)
      << "told again after a start";
}

// A gang whose decision is larger than a step may be is released in several.
TEST_F(PlacedPods, MoreThanAStepHoldsIsReleasedInSeveral) {
  for (int n = 4; n < 40; ++n) w.node("n" + std::to_string(n), {.cores = 100});
  w.driver().entities().domain().bound_steps(2'000);
  start(300);
  for (int i = 0; i < 300; ++i) pod("p" + std::to_string(i), {.index = i});
  events_ = 0;
  const auto words = placed();
  EXPECT_GT(events_, 5);
  EXPECT_EQ(std::count(words.begin(), words.end(), 'p'), 300);
}

// TAS-83, TAS-84: in any order of what happens, no host gets more pods than the assignment says, and in the end every pod has its place.
TEST_F(PlacedPods, RandomLivesOfPods) {
  start(6);
  std::map<std::string, int> room{{"n1", 4}, {"n2", 2}};
  std::mt19937 rng(1);
  std::map<std::string, Pod> pods;
  const auto take = [&] {
    std::istringstream words(placed());
    for (std::string name, on; words >> name >> on;) {
      ASSERT_TRUE(pods.at(name).on.empty()) << "twice: " << name;
      pods.at(name).on = on;
    }
  };
  for (int round = 0; round < 400; ++round) {
    if (const auto live = std::count_if(pods.begin(), pods.end(), [](const auto& p) { return !p.second.ended; });
        live < 6 && rng() % 2 == 0) {
      const std::string name = "p" + std::to_string(round);
      pods[name] = {.index = static_cast<std::int32_t>(rng() % 8) - 1};
      pod(name, pods[name]);
    } else if (!pods.empty()) {
      auto it = std::next(pods.begin(), static_cast<std::ptrdiff_t>(rng() % pods.size()));
      Pod& p = it->second;
      if (rng() % 4 == 0) {
        w.observe(ObjectDeleted{ObjectKind::pod, "default", w.keep(it->first), w.keep("pod-" + it->first), {}});
        pods.erase(it);
      } else if (!p.on.empty()) {
        if (!p.gated && rng() % 2 == 0) p.ended = true;
        p.gated = false;
        pod(it->first, p);
      }
    }
    if (rng() % 3 != 0) take();
    std::map<std::string, int> on;
    for (const auto& [name, p] : pods)
      if (!p.ended && !p.on.empty()) ++on[p.on];
    for (const auto& [name, n] : on) ASSERT_LE(n, room.at(name)) << "round " << round;
  }
  take();
  EXPECT_TRUE(std::none_of(pods.begin(), pods.end(), [](const auto& p) { return p.second.on.empty(); }));
}

}  // namespace
}  // namespace hindsight::admission::testing
