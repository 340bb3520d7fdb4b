// What holds of every placement, on random trees and requests.

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/admission/topology/fleet.hpp"

namespace hindsight::admission::topology::testing {
namespace {

// TAS-59, TAS-68, TAS-69, TAS-71: all pods and the leader are placed, on leaves that have room for them, sorted; a required level
// holds all of them in one domain, the leader too; each domain of a layer has whole groups of it. TAS-59, TAS-60: what a plain count says
// fits is placed.
TEST(PlacementProperty, EveryPlacementFitsAndWhatFitsIsPlaced) {
  int placed = 0, refused = 0;
  for (unsigned seed = 1; seed <= 50'000; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    std::string text;
    for (int b = 0, blocks = 1 + below(3); b < blocks; ++b)
      for (int r = 0, racks = 1 + below(3); r < racks; ++r)
        for (int h = 0, hosts = 1 + below(4); h < hosts; ++h)
          text += "b" + std::to_string(b) + "/r" + std::to_string(r) + "/h" + std::to_string(b * 100 + r * 10 + h) + ":" +
                  std::to_string(below(9)) + " ";
    Fleet f(text);
    const std::string levels[] = {"block", "rack", host};
    TopologyRequest request;
    const int mode = below(3), level = below(3);
    if (mode == 0) request = required(levels[level]);
    if (mode == 1) request = preferred(levels[level]);
    std::int32_t size = 1;
    if (below(3) == 0) {
      size = 1 << below(3);
      const int slice_level = (mode == 2 ? 0 : level) + below(3 - (mode == 2 ? 0 : level));
      request = sliced(request, levels[slice_level], size);
      if (slice_level < 2 && below(2) == 0)
        request = sliced(request, levels[slice_level + 1 + below(2 - slice_level)], std::max(size / 2, 1));
    } else if (mode == 2) {
      request = unconstrained();
    }
    const auto count = static_cast<std::int32_t>(1 + below(8)) * size;
    const bool has_leader = below(3) == 0;
    const Gang gang = has_leader ? Fleet::led(count, 1'000, 1'000 * (1 + below(3))) : Fleet::gang(count);

    const auto rules = rules_for(request, f.tree.levels(), false, {below(2) == 0});
    ASSERT_TRUE(rules) << rules.error().message << ", seed " << seed;
    const auto found = place(f.tree, f.free, *rules, gang);
    if (!found) {
      ++refused;
      // one leaf, or one domain of the level, that holds all by a plain count would have been taken
      const bool plain = !has_leader && rules->layers.size() == 1 && size == 1;
      for (DomainIndex d = 0; plain && d < f.tree.size(rules->level); ++d) {
        std::int64_t room = 0;
        for (DomainIndex leaf = 0; leaf < f.tree.leaves(); ++leaf) {
          if (f.tree.above(leaf, rules->level) == d) room += f.free.at(cpu, leaf) / 1'000;
        }
        ASSERT_LT(room, count) << "seed " << seed;
      }
      continue;
    }
    ++placed;
    ASSERT_EQ(found->leader.has_value(), has_leader) << "seed " << seed;
    std::int64_t all = 0;
    for (std::size_t i = 0; i < found->pods.size(); ++i) {
      ASSERT_GT(found->pods[i].second, 0) << "seed " << seed;
      ASSERT_TRUE(i == 0 || found->pods[i - 1].first < found->pods[i].first) << "seed " << seed;
      all += found->pods[i].second;
    }
    ASSERT_EQ(all, count) << "seed " << seed;
    Capacity after = f.free;
    charge(after, gang, *found);
    for (DomainIndex leaf = 0; leaf < f.tree.leaves(); ++leaf) {
      ASSERT_GE(after.at(cpu, leaf), 0) << f.name(leaf) << ", seed " << seed;
      ASSERT_GE(after.at(pods, leaf), 0) << f.name(leaf) << ", seed " << seed;
    }
    charge(after, gang, *found, -1);
    for (DomainIndex leaf = 0; leaf < f.tree.leaves(); ++leaf) ASSERT_EQ(after.at(cpu, leaf), f.free.at(cpu, leaf));
    const DomainIndex home = f.tree.above(found->pods.front().first, rules->level);
    for (const auto& [leaf, n] : found->pods) ASSERT_TRUE(!rules->strict || f.tree.above(leaf, rules->level) == home) << "seed " << seed;
    const bool together = !rules->strict || !has_leader || f.tree.above(*found->leader, rules->level) == home;
    ASSERT_TRUE(together) << "seed " << seed;
    for (const auto& layer : rules->layers) {
      std::map<DomainIndex, std::int32_t> in;
      for (const auto& [leaf, n] : found->pods) in[f.tree.above(leaf, layer.level)] += n;
      for (const auto& [d, n] : in) ASSERT_EQ(n % layer.size, 0) << "level " << layer.level << ", seed " << seed;
    }
  }
  EXPECT_GT(placed, 5'000);
  EXPECT_GT(refused, 2'000);
}

}  // namespace
}  // namespace hindsight::admission::topology::testing
