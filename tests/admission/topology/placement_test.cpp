// The worked examples of 2724 §5 that are about placement, and the texts of §2.9.

#include "admission/topology/placement.hpp"

#include <gtest/gtest.h>

#include "tests/admission/topology/fleet.hpp"

namespace hindsight::admission::topology::testing {
namespace {

const char* const story = "b1/r1/n1:4 b1/r1/n2:4 b1/r2/n3:8 b1/r2/n4:4 b2/r1/n5:12";

// E1: TAS-59, TAS-62
TEST(Placement, RequiredTakesTheSmallestDomainThatHoldsAll) {
  Fleet f(story);
  EXPECT_EQ(f.place(required("rack"), 10), "n3:8 n4:2");
  EXPECT_EQ(f.place(required("rack"), 8), "n1:4 n2:4");
  EXPECT_EQ(f.place(required("rack"), 3), "n1:3");
}

// E2: TAS-59
TEST(Placement, RequiredWaitsForANodeAndTellsTheBestDomain) {
  Fleet f(story);
  EXPECT_EQ(f.place(required("rack"), 13), "topology \"T\" allows to fit only 12 out of 13 pod(s)");
  EXPECT_EQ(Fleet(std::string(story) + " b2/r1/n6:2").place(required("rack"), 13), "n5:12 n6:1");
}

// E3: TAS-60, TAS-64
TEST(Placement, PreferredClimbsAndSpreadsAtTheTop) {
  Fleet f(story);
  EXPECT_EQ(f.place(preferred("rack"), 14), "n1:4 n2:2 n3:8");
  EXPECT_EQ(f.place(preferred("rack"), 22), "n3:8 n4:2 n5:12");
  EXPECT_EQ(f.place(preferred("rack"), 33), "topology \"T\" allows to fit only 32 out of 33 pod(s)");
}

// E4: TAS-68
TEST(Placement, AnAssignmentNamesTheLowestDomainsSoThatTwoNeverMeet) {
  Fleet f("b1/r1:4 b1/r2:4 b1/r3:4", {"block", "rack"});
  f.keep = true;
  EXPECT_EQ(f.place(required("block"), 6), "b1/r1:4 b1/r2:2");
  EXPECT_EQ(f.place(required("rack"), 4), "b1/r3:4");
  EXPECT_EQ(f.place(required("rack"), 4),
            "topology \"T\" allows to fit only 2 out of 4 pod(s). Total nodes: 3; excluded: resource \"cpu\": 2");
}

// E5: TAS-67
TEST(Placement, LaterPodSetsSeeWhatEarlierOnesTook) {
  const char* const text = "b1/r1/n1:2 b1/r1/n2:1 b1/r2/n3:2 b1/r2/n4:2";
  Fleet f(text);
  f.keep = true;
  EXPECT_EQ(f.place(required("rack"), 1), "n2:1");
  EXPECT_EQ(f.place(preferred("rack"), 4), "n3:2 n4:2");
  Fleet g(text);
  g.keep = true;
  EXPECT_EQ(g.place(required("rack"), 1), "n2:1");
  EXPECT_EQ(g.place(preferred("rack"), 5), "n1:2 n3:2 n4:1");
}

// E6: a rack is its whole path
TEST(Placement, RacksOfOneNameInTwoBlocksAreTwo) {
  Fleet f("block-1/rack-1:1 block-1/rack-2:1 block-2/rack-1:1 block-2/rack-3:1", {"block", "rack"});
  EXPECT_EQ(f.place(required("rack"), 2), "topology \"T\" allows to fit only 1 out of 2 pod(s)");
  EXPECT_EQ(f.place(preferred("rack"), 2), "block-1/rack-1:1 block-1/rack-2:1");
}

// E7: TAS-61, TAS-62, TAS-63
TEST(Placement, UnconstrainedFillsTheSmallestUnlessOneHoldsAll) {
  Fleet f("b/r/a:3 b/r/b:3 b/r/c:2 b/r/d:1");
  EXPECT_EQ(f.place(required("rack"), 7), "a:3 b:3 d:1");
  EXPECT_EQ(f.place(unconstrained(), 7), "a:3 b:1 c:2 d:1");
  EXPECT_EQ(f.place(unconstrained(), 2), "c:2");
  EXPECT_EQ(f.place(unconstrained(), 3), "a:3");
  f.profile.mixed = false;
  EXPECT_EQ(f.place(unconstrained(), 7), "a:3 b:3 d:1");
}

// E8: TAS-61
TEST(Placement, WithoutARequestItIsAsUnconstrained) {
  Fleet f("b1/r1/x3:4 b1/r1/x5:1 b1/r1/x1:1 b2/r1/x6:2 b2/r1/x2:1");
  EXPECT_EQ(f.place({}, 6), "topology level not specified");
  f.implied = true;
  EXPECT_EQ(f.place({}, 6), "x1:1 x3:1 x5:1 x2:1 x6:2");
}

// E9: TAS-64
TEST(Placement, FewerRacksCountMoreThanFewerHosts) {
  Fleet f("b1/r1/x3:2 b1/r2/x5:2 b1/r3/x1:1 b1/r3/x2:1 b1/r3/x4:1 b1/r3/x6:1");
  EXPECT_EQ(f.place(required("block"), 4), "x1:1 x2:1 x4:1 x6:1");
}

// E10: TAS-69
TEST(Placement, SlicesOnHostsAndTheOrderBelowThem) {
  Fleet f("b/r/x3:6 b/r/x5:5 b/r/x1:4 b/r/x6:2");
  EXPECT_EQ(f.place(sliced(required("block"), host, 2), 12), "x1:4 x3:6 x6:2");
  Fleet g("b/r/a:6 b/r/b:5 b/r/c:4 b/r/d:3 b/r/e:2");
  EXPECT_EQ(g.place(sliced({}, host, 2), 10), "b:2 c:4 d:2 e:2");
  Fleet h("b/r/a:4 b/r/b:2 b/r/c:1");
  EXPECT_EQ(h.place(sliced(required("rack"), "rack", 3), 3), "b:2 c:1");
  EXPECT_EQ(h.place(required("rack"), 3), "a:3");
}

// E11: TAS-69
TEST(Placement, EachJobOfAJobSetStaysInARack) {
  Fleet f("b1/r1/n1:2 b1/r1/n2:2 b1/r2/n3:2 b1/r2/n4:1 b2/r3/n5:4");
  EXPECT_EQ(f.place(sliced(preferred("block"), "rack", 3), 6), "n1:2 n2:1 n3:2 n4:1");
  EXPECT_EQ(f.place(sliced(preferred("block"), "rack", 3), 9), "n1:2 n2:1 n3:2 n4:1 n5:3");
}

// E12: TAS-70
TEST(Placement, SlicesAloneMaySpanBlocks) {
  Fleet f("b1/r1/x3:4 b1/r1/x5:1 b1/r1/x1:1 b2/r1/x6:2 b2/r1/x2:1");
  EXPECT_EQ(f.place(sliced({}, host, 2), 6), "x3:4 x6:2");
}

// E13: TAS-69
TEST(Placement, LayersRoundWhatADomainOffers) {
  std::string text;
  for (int rack = 0; rack < 8; ++rack) {
    const std::string az = std::to_string(rack / 4), block = std::to_string(rack / 2);
    text += "dc/az" + az + "/blk" + block + "/r" + std::to_string(rack) + ":18 ";
  }
  Fleet f(text, {"dc", "az", "blk", "rack"});
  EXPECT_EQ(f.place(sliced(sliced(required("dc"), "az", 48), "rack", 16), 96),
            "dc/az0/blk0/r0:16 dc/az0/blk0/r1:16 dc/az0/blk1/r2:16 dc/az1/blk2/r4:16 dc/az1/blk2/r5:16 dc/az1/blk3/r6:16");
}

// E14: TAS-69, TAS-76
TEST(Placement, RoundingMayForbidAFitAndEachLayerIsTold) {
  Fleet f("b/r/x1:3 b/r/x2:3 b/r/x3:0");
  EXPECT_EQ(f.place(sliced(sliced(required("block"), "rack", 6), host, 2), 6),
            "topology \"T\" doesn't allow to fit; 0/1 slice(s) fit on level rack; 2/3 slice(s) fit on level kubernetes.io/hostname. "
            "Total nodes: 3; excluded: resource \"cpu\": 1");
}

// E15: TAS-71
TEST(Placement, TheLeaderSitsWhereItCostsLeast) {
  Fleet f("r1/h1:2 r1/h2:4 r1/h3:3", {"rack", host});
  EXPECT_EQ(f.place(required("rack"), Fleet::led(4, 2'000, 1'000)), "leader h3, h1:1 h2:2 h3:1");
}

// E16: TAS-72
TEST(Placement, ADomainThatHoldsTheWorkersAloneIsSkipped) {
  Fleet f("small/h1:3 small/h2:0 large/h3:6", {"rack", host});
  EXPECT_EQ(f.place(required("rack"), Fleet::led(1, 2'500, 2'500)), "leader h3, h3:1");
  EXPECT_EQ(f.place(required("rack"), Fleet::led(1, 1'000, 1'000)), "leader h1, h1:1");
}

// E18: TAS-76
TEST(Placement, WhatExcludesNodesIsCounted) {
  Fleet f("x1:1 x2:1 x3:1 x4:0", {host});
  EXPECT_EQ(f.place(required(host), Fleet::gang(1), {1, 1, 1, 0}, {{"nodeSelector", 2}, {"taint \"key=value:NoSchedule\"", 1}}),
            "topology \"T\" doesn't allow to fit any of 1 pod(s). Total nodes: 4; excluded: nodeSelector: 2, resource \"cpu\": 1, taint "
            "\"key=value:NoSchedule\": 1");
}

// E28: pods take slots of their node
TEST(Placement, PodSlotsLimitWhatAsksForNothing) {
  Fleet f("x1:1", {host});
  f.free.add(pods, 0, -102);
  EXPECT_EQ(f.place(required(host), 9, 0), "topology \"T\" allows to fit only 8 out of 9 pod(s)");
  EXPECT_EQ(f.place(required(host), 8, 0), "x1:8");
}

// TAS-66
TEST(Placement, CountsSaturate) {
  Fleet f("x1:1", {host});
  f.free.add(cpu, 0, unlimited / 2);
  f.free.add(pods, 0, unlimited / 2);
  EXPECT_EQ(f.place(required(host), unlimited_pods, 1), "x1:" + std::to_string(unlimited_pods));
}

// TAS-63
TEST(Placement, TheOrderOfNodesChangesNothing) {
  EXPECT_EQ(Fleet("b2/r1/n5:12 b1/r2/n4:4 b1/r1/n2:4 b1/r2/n3:8 b1/r1/n1:4").place(preferred("rack"), 14), "n1:4 n2:2 n3:8");
}

// §2.9
TEST(Placement, RequestsThatFitNoTreeAreNamed) {
  Fleet f(story);
  EXPECT_EQ(f.place(required("zone"), 1), "no requested topology level: zone");
  EXPECT_EQ(f.place(sliced(required("rack"), "zone", 1), 1), "no requested topology level for slices: zone");
  EXPECT_EQ(f.place(sliced(required("rack"), "block", 1), 1), "podset slice topology block is above the podset topology rack");
  EXPECT_EQ(f.place(sliced(sliced(required("block"), "rack", 4), "zone", 2), 4),
            "no requested topology level for additional slice layer: zone");
  EXPECT_EQ(f.place(sliced(sliced(required("block"), "rack", 4), "rack", 2), 4),
            "additional slice layer topology rack must be at a lower level than rack");
  EXPECT_EQ(f.place(sliced(sliced(required("block"), "rack", 4), host, 3), 4),
            "additional slice layer size 3 must evenly divide parent layer size 4");
  TopologyRequest unsized = required("rack");
  unsized.slices.push_back({"rack", {}});
  EXPECT_EQ(f.place(unsized, 1), "slice topology requested, but slice size not provided");
  EXPECT_EQ(Fleet("").place(required("rack"), 1), "no topology domains at level: rack");
}

// §3.1: hosts of one name are one leaf
TEST(Placement, NodesOfOneHostNameAreOneLeaf) {
  std::vector<TopologyTree::Node> nodes;
  nodes.push_back({"second", {"r2", "h"}, {{cpu, 1'000}}});
  nodes.push_back({"first", {"r1", "h"}, {{cpu, 2'000}}});
  const auto tree = TopologyTree::build({"rack", host}, std::move(nodes));
  ASSERT_EQ(tree.leaves(), 1U);
  EXPECT_EQ(tree.value(0, tree.parent(1, 0)), "r1");
  EXPECT_EQ(tree.capacity().at(cpu, 0), 3'000);
}

}  // namespace
}  // namespace hindsight::admission::topology::testing
