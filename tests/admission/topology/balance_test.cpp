// Pods that prefer a level are spread evenly where the gate asks for it; what nodes say of pods and of their leader.

#include <gtest/gtest.h>

#include "admission/topology/balance.hpp"
#include "tests/admission/topology/fleet.hpp"

namespace hindsight::admission::topology::testing {
namespace {

/// As Fleet, with gate TASBalancedPlacement on.
Fleet even(const std::string& text, std::vector<std::string> levels = {"block", "rack", host}) {
  Fleet out(text, std::move(levels));
  out.profile.balanced = true;
  return out;
}

// E17: TAS-73
TEST(Balance, SharesAreEven) {
  EXPECT_EQ(even("b/r/x1:10 b/r/x2:10").place(preferred("rack"), 12), "x1:6 x2:6");
  EXPECT_EQ(Fleet("b/r/x1:10 b/r/x2:10").place(preferred("rack"), 12), "x1:10 x2:2");
  EXPECT_EQ(even("b/r/x1:15 b/r/x2:13 b/r/x3:10").place(preferred("rack"), 23), "x1:12 x2:11");
}

// E17: TAS-73
TEST(Balance, SlicesAreShared) {
  EXPECT_EQ(even("b/r/x1:20 b/r/x2:15 b/r/x3:10").place(sliced(preferred("rack"), host, 5), 25), "x2:15 x3:10");
}

// E17: TAS-73
TEST(Balance, TheBlockWithTheLargestLeastShareIsTaken) {
  const std::string text = "b1/r1/x1:20 b1/r1/x2:10 b2/r2/x3:15 b2/r2/x4:15";
  EXPECT_EQ(even(text).place(preferred("rack"), 22), "x3:11 x4:11");
  EXPECT_EQ(even(text).place(preferred("rack"), 20), "x1:20");
}

// E17: TAS-73
TEST(Balance, OfEqualRacksTheOneWithEvenHostsIsTaken) {
  EXPECT_EQ(even("b/r1/x1:10 b/r1/x2:5 b/r2/x3:5 b/r2/x4:5 b/r2/x5:5").place(preferred("rack"), 15), "x3:5 x4:5 x5:5");
}

// E17: TAS-73. Who is required to be somewhere, or may be anywhere, is placed as without the gate; so is who fits into no single domain
// above the level.
TEST(Balance, OthersArePlacedAsBefore) {
  const std::string text = "b1/r1/x1:10 b1/r1/x2:10 b2/r2/x3:8";
  for (const auto& request : {required("rack"), unconstrained(), sliced({}, host, 2)})
    EXPECT_EQ(even(text).place(request, 12), Fleet(text).place(request, 12));
  EXPECT_EQ(even(text).place(preferred("rack"), 24), Fleet(text).place(preferred("rack"), 24));
  EXPECT_EQ(even(text).place(preferred("rack"), 99), "topology \"T\" allows to fit only 28 out of 99 pod(s)");
}

// E17: TAS-73. The leader takes room of the share of its host.
TEST(Balance, TheLeaderStandsWhereItsShareHasRoom) {
  auto f = even("b/r/x1:6 b/r/x2:6");
  EXPECT_EQ(f.place(preferred("rack"), Fleet::led(10, 1'000, 1'000)), "leader x1, x1:5 x2:5");
  EXPECT_EQ(f.place(preferred("rack"), Fleet::led(11, 1'000, 1'000)), "leader x1, x1:5 x2:6");
  EXPECT_EQ(f.place(preferred("rack"), Fleet::led(12, 1'000, 1'000)), "topology \"T\" allows to fit only 11 out of 12 pod(s)");
}

// TAS-73. With thousands of unequal hosts in one domain the exact choice would cost too much: pods are placed as without the gate.
TEST(Balance, ADomainThatIsTooLargeIsPlacedAsBefore) {
  std::string text;
  for (int i = 0; i < 4'000; ++i) text += "r/x" + std::to_string(10'000 + i) + ":" + std::to_string(1 + i * 7919 % 997) + " ";
  const std::vector<std::string> levels{"rack", host};
  EXPECT_EQ(even(text, levels).place(preferred("rack"), 300'000), Fleet(text, levels).place(preferred("rack"), 300'000));
}

// TAS-58: a node that its own filters exclude is no place for the leader; one that excludes the workers alone is.
TEST(LeafRules, TheLeaderHasItsOwnFilters) {
  const Fleet f("b/r/x1:3 b/r/x2:3 b/r/x3:3");
  const auto rules = *rules_for(required("rack"), f.tree.levels(), false, {});
  const Gang gang = Fleet::led(4, 1'000, 1'000);
  const std::vector<std::uint8_t> first{1, 0, 0}, all{1, 1, 1}, none;
  ASSERT_TRUE(place(f.tree, f.free, rules, gang));
  EXPECT_EQ(place(f.tree, f.free, rules, gang)->leader, DomainIndex{0});
  EXPECT_NE(place(f.tree, f.free, rules, gang, {none, first, {}, {}})->leader, DomainIndex{0});
  EXPECT_EQ(place(f.tree, f.free, rules, gang, {first, std::vector<std::uint8_t>{0, 1, 1}, {}, {}})->leader, DomainIndex{0});
  EXPECT_FALSE(place(f.tree, f.free, rules, gang, {none, all, {}, {}}));
}

// TAS-74: the nodes that pods prefer go before those that would fit best, at every level, but not before a place at all.
TEST(LeafRules, WhatPodsPreferGoesBeforeCapacity) {
  const Fleet f("b1/r1/x1:4 b1/r1/x2:2 b1/r2/x3:4 b1/r2/x4:4");
  const std::vector<std::int64_t> scores{0, 0, 10, 1};
  const auto placed = [&](const TopologyRequest& request, std::int32_t n) {
    std::string out;
    const auto found = place(f.tree, f.free, *rules_for(request, f.tree.levels(), false, {}), Fleet::gang(n), {{}, {}, scores, {}});
    if (!found) return std::string("none");
    for (const auto& [leaf, pods] : found->pods) out += (out.empty() ? "" : " ") + f.name(leaf) + ":" + std::to_string(pods);
    return out;
  };
  EXPECT_EQ(placed(required("rack"), 2), "x3:2");  // not x2, which it would fill
  EXPECT_EQ(placed(required("rack"), 6), "x3:4 x4:2");
  EXPECT_EQ(placed(unconstrained(), 1), "x3:1");
  EXPECT_EQ(placed(required("block"), 10), "x2:2 x3:4 x4:4");
  const std::vector<std::int64_t> small_first{0, 90, 0, 0};
  EXPECT_EQ(place(f.tree, f.free, *rules_for(required("rack"), f.tree.levels(), false, {}), Fleet::gang(8), {{}, {}, small_first, {}})
                ->pods.size(),
            2U);  // rack r1 is preferred and holds six alone
}

}  // namespace
}  // namespace hindsight::admission::topology::testing
