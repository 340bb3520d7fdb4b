// Which pod goes where (2724 §4.7, worked example E21).

#include "admission/topology/ungating.hpp"

#include <gtest/gtest.h>

#include <random>

namespace hindsight::admission::topology {
namespace {

using Places = std::vector<std::int32_t>;

const std::vector<std::int32_t> e21{2, 1, 1};  // (b1,r1), (b1,r2), (b2,r1)

PodAtGate waiting(std::optional<std::int32_t> index, std::optional<std::int32_t> group = {}) { return {true, false, index, group, -1}; }
PodAtGate running(std::int32_t domain, std::optional<std::int32_t> index = {}) { return {false, false, index, {}, domain}; }
RankRules ranked(std::int32_t count, std::int32_t offset = 0, std::optional<std::int32_t> groups = {}) {
  return {true, count, offset, groups};
}

// TAS-81, TAS-123, E21
TEST(Ungating, ConsecutiveRanksStandTogether) {
  EXPECT_EQ(places_for(e21, ranked(4), std::vector{waiting(3), waiting(0), waiting(2), waiting(1)}), (Places{2, 0, 1, 0}));
  EXPECT_EQ(places_for(e21, ranked(4), std::vector{waiting(3)}), (Places{2})) << "the others are not made yet";
}

// TAS-81, E21: two Jobs of two pods each.
TEST(Ungating, ARankCountsSubGroups) {
  EXPECT_EQ(places_for(e21, ranked(4, 0, 2), std::vector{waiting(1, 1), waiting(0, 0)}), (Places{2, 0}));
}

// TAS-82, E21: workers of a leader begin at 1.
TEST(Ungating, TheFirstIndexMayBeAnother) { EXPECT_EQ(places_for(e21, ranked(4, 1), std::vector{waiting(1), waiting(4)}), (Places{0, 2})); }

// TAS-83, TAS-84, E21
TEST(Ungating, WhatMakesNoSenseIsFilledInOrder) {
  const Places in_order{0, 0, 1};
  EXPECT_EQ(places_for(e21, ranked(4), std::vector{waiting(1), waiting(1), waiting(0)}), in_order) << "twice";
  EXPECT_EQ(places_for(e21, ranked(4), std::vector{waiting({}), waiting(3), waiting(2)}), in_order) << "none";
  EXPECT_EQ(places_for(e21, ranked(4), std::vector{waiting(-1), waiting(3), waiting(2)}), in_order) << "negative";
  EXPECT_EQ(places_for(e21, ranked(4), std::vector{waiting(4), waiting(3), waiting(2)}), in_order) << "as many as there are pods";
  EXPECT_EQ(places_for(e21, ranked(9), std::vector{waiting(8), waiting(3), waiting(2)}), in_order) << "more than are assigned";
  EXPECT_EQ(places_for(e21, ranked(4, 0, 0), std::vector{waiting(3, 0), waiting(2, 0), waiting(1, 0)}), in_order) << "no sub-groups";
  EXPECT_EQ(places_for(e21, ranked(4, 0, 2), std::vector{waiting(2, 0), waiting(1, 0), waiting(0, 0)}), in_order) << "beyond its Job";
  EXPECT_EQ(places_for(e21, ranked(4, 0, 2), std::vector{waiting(0, 2), waiting(1, 0), waiting(0, 0)}), in_order) << "a third Job of two";
  EXPECT_EQ(places_for(e21, {}, std::vector{waiting(3), waiting(2), waiting(1)}), in_order) << "no label at all";
  // one runs on r1, and its rank says r2
  EXPECT_EQ(places_for(e21, ranked(4), std::vector{running(0, 2), waiting(3), waiting(1)}), (Places{-1, 0, 1}));
  EXPECT_EQ(places_for(e21, {}, std::vector{running(0), running(0), waiting(0), waiting(1), waiting(2)}), (Places{-1, -1, 1, 2, -1}))
      << "no more than are assigned";
}

// TAS-85, E21
TEST(Ungating, AnEndedPodLeavesItsPlaceATerminatingOneKeepsIt) {
  auto failed = running(1, 2);
  failed.ended = true;
  EXPECT_EQ(places_for(e21, ranked(4), std::vector{failed, running(0, 0), waiting(2)}), (Places{-1, -1, 1}));
  const auto terminating = running(1, 2);
  EXPECT_EQ(places_for(e21, ranked(4), std::vector{terminating, running(0, 0), running(0, 1), running(2, 3), waiting(2)}),
            (Places{-1, -1, -1, -1, -1}));
}

// TAS-88
TEST(Ungating, NobodyGoesToANodeThatFailed) {
  EXPECT_EQ(places_for(e21, ranked(4), std::vector{waiting(0), waiting(2)}, std::vector<std::uint8_t>{1, 0, 0}), (Places{-1, 1}));
  EXPECT_EQ(places_for(e21, {}, std::vector{waiting(0), waiting(2)}, std::vector<std::uint8_t>{1, 0, 0}), (Places{1, 2}));
}

// TAS-84: whatever labels say, no domain gets more pods than it was assigned, and no pod two places.
TEST(Ungating, NoDomainGetsMoreThanWasAssigned) {
  std::mt19937 random(3);
  const auto below = [&](std::uint32_t n) { return static_cast<std::int32_t>(random() % n); };
  std::size_t placed = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::int32_t> counts;
    for (int i = below(4) + 1; i > 0; --i) counts.push_back(1 + below(3));
    std::vector<std::int32_t> used(counts.size());
    std::vector<PodAtGate> pods;
    for (int i = below(8); i > 0; --i) {
      PodAtGate pod{below(3) != 0, below(6) == 0, below(8) == 0 ? std::nullopt : std::optional(below(8) - 1), below(3), -1};
      if (!pod.gated) {
        pod.domain = below(static_cast<std::uint32_t>(counts.size()));
        if (!pod.ended && ++used[static_cast<std::size_t>(pod.domain)] > counts[static_cast<std::size_t>(pod.domain)]) {
          --used[static_cast<std::size_t>(pod.domain)];
          continue;
        }
      }
      pods.push_back(pod);
    }
    const RankRules rules{below(2) == 0, 1 + below(9), below(2), below(2) == 0 ? std::nullopt : std::optional(below(4))};
    const auto places = places_for(counts, rules, pods);
    ASSERT_EQ(places.size(), pods.size());
    for (std::size_t i = 0; i < pods.size(); ++i) {
      if (places[i] < 0) continue;
      ++placed;
      ASSERT_TRUE(pods[i].gated && !pods[i].ended);
      ASSERT_LE(++used[static_cast<std::size_t>(places[i])], counts[static_cast<std::size_t>(places[i])]) << round;
    }
  }
  EXPECT_GT(placed, 10'000U);
}

}  // namespace
}  // namespace hindsight::admission::topology
