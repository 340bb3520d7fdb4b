// Placement against an exact search of small trees: whether there is a place at all, and how far the one that is found is from the best.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <set>

#include "tests/admission/topology/fleet.hpp"

namespace hindsight::admission::topology::testing {
namespace {

/// Pods by leaf.
using Spread = std::vector<std::int32_t>;

/// How many domains of a level the pods use.
std::size_t domains_used(const TopologyTree& tree, const Spread& spread, std::size_t level) {
  std::set<DomainIndex> used;
  for (DomainIndex leaf = 0; leaf < spread.size(); ++leaf) {
    if (spread[leaf] > 0) used.insert(tree.above(leaf, level));
  }
  return used.size();
}

/// Every domain of the level has whole groups.
bool whole_groups(const TopologyTree& tree, const Spread& spread, const PlacementRules::Layer& layer) {
  std::vector<std::int32_t> in(tree.size(layer.level));
  for (DomainIndex leaf = 0; leaf < spread.size(); ++leaf) in[tree.above(leaf, layer.level)] += spread[leaf];
  return std::all_of(in.begin(), in.end(), [&](std::int32_t n) { return n % layer.size == 0; });
}

/// Calls `see` for every way to put `left` pods on the leaves from `leaf` on, with at most so many on each.
void every_spread(const std::vector<std::int32_t>& room, std::size_t leaf, std::int32_t left, Spread& spread,
                  const std::function<void()>& see) {
  if (leaf == room.size()) {
    if (left == 0) see();
    return;
  }
  for (std::int32_t n = 0; n <= std::min(room[leaf], left); ++n) {
    spread[leaf] = n;
    every_spread(room, leaf + 1, left - n, spread, see);
  }
  spread[leaf] = 0;
}

/// Of all placements that the rules allow, wherever they are in the tree.
struct Exact {
  bool exists = false;
  std::vector<bool> in_one_domain;                  ///< By level: one of them is in a single domain of it.
  std::size_t fewest_leaves = 0, fewest_racks = 0;  ///< Each of all placements; of the allowed ones with `strict`.
};
Exact search(const TopologyTree& tree, const std::vector<std::int32_t>& room, const PlacementRules& rules, std::int32_t count) {
  Exact out;
  out.in_one_domain.resize(tree.level_count());
  Spread spread(room.size());
  every_spread(room, 0, count, spread, [&] {
    if (!whole_groups(tree, spread, rules.layers.front())) return;
    for (std::size_t level = 0; level < tree.level_count(); ++level) {
      if (domains_used(tree, spread, level) == 1) out.in_one_domain[level] = true;
    }
    if (rules.strict && domains_used(tree, spread, rules.level) > 1) return;
    const auto leaves = domains_used(tree, spread, tree.lowest()), racks = domains_used(tree, spread, tree.lowest() - 1);
    out.fewest_leaves = out.exists ? std::min(out.fewest_leaves, leaves) : leaves;
    out.fewest_racks = out.exists ? std::min(out.fewest_racks, racks) : racks;
    out.exists = true;
  });
  return out;
}

/// How many domains placements use, against the fewest that they could.
struct Quality {
  std::size_t placed = 0, best_leaves = 0, best_racks = 0;
  double leaves = 0, racks = 0, worst_leaves = 1, worst_racks = 1;
  void add(std::size_t of_leaves, std::size_t of_racks, const Exact& exact) {
    const double by_leaves = static_cast<double>(of_leaves) / static_cast<double>(exact.fewest_leaves);
    const double by_racks = static_cast<double>(of_racks) / static_cast<double>(exact.fewest_racks);
    ++placed;
    best_leaves += of_leaves == exact.fewest_leaves ? 1 : 0;
    best_racks += of_racks == exact.fewest_racks ? 1 : 0;
    leaves += by_leaves;
    racks += by_racks;
    worst_leaves = std::max(worst_leaves, by_leaves);
    worst_racks = std::max(worst_racks, by_racks);
  }
  void print(const std::string& name) const {
    const auto n = static_cast<double>(placed);
    std::printf("%-40s %7zu placed; lowest domains: %.3f of the fewest, worst %.2f, best in %5.1f %%; racks: %.3f, worst %.2f, %5.1f %%\n",
                name.c_str(), placed, leaves / n, worst_leaves, 100 * static_cast<double>(best_leaves) / n, racks / n, worst_racks,
                100 * static_cast<double>(best_racks) / n);
  }
};

// TAS-59, TAS-60, TAS-61, TAS-69, TAS-70, TAS-73: a request is refused only where no placement exists, for a required level in one domain
// of it, else in the whole tree; what is placed keeps the rules; a preferred level is left upwards no further than it must be.
// HINDSIGHT_PLACEMENT_QUALITY: how many cases; says how many domains they use.
TEST(ExactPlacement, OnlyWhatHasNoPlaceIsRefused) {
  const char* const wanted = std::getenv("HINDSIGHT_PLACEMENT_QUALITY");
  const unsigned cases = wanted == nullptr ? 4'000 : static_cast<unsigned>(std::stoul(wanted));
  std::map<std::string, Quality> quality;
  std::size_t placed = 0, refused = 0;
  for (unsigned seed = 1; seed <= cases; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const bool three = below(2) == 0;
    const std::vector<std::string> levels =
        three ? std::vector<std::string>{"block", "rack", host} : std::vector<std::string>{"rack", host};
    std::string text;
    std::vector<std::int32_t> room;
    const int leaves = 1 + below(8), largest = 2 + below(9);
    for (int h = 0, block = 0, rack = 0; h < leaves; ++h) {
      if (h > 0 && below(3) == 0) ++rack;
      if (h > 0 && below(4) == 0) ++block, ++rack;
      room.push_back(below(largest + 1));
      text += (three ? "b" + std::to_string(block) + "/" : "") + "r" + std::to_string(10 + rack) + "/h" + std::to_string(h) + ":" +
              std::to_string(room.back()) + " ";
    }
    Fleet f(text, levels);
    f.profile = {.mixed = below(2) == 0, .balanced = below(2) == 0};

    const int mode = below(3), level = below(static_cast<int>(levels.size()));
    TopologyRequest request = mode == 0   ? required(levels[static_cast<std::size_t>(level)])
                              : mode == 1 ? preferred(levels[static_cast<std::size_t>(level)])
                                          : TopologyRequest{};
    std::int32_t size = 1;
    if (below(2) == 0) {
      size = 1 + below(4);
      const int from = mode == 2 ? 0 : level;
      request = sliced(request, levels[static_cast<std::size_t>(from + below(static_cast<int>(levels.size()) - from))], size);
    } else if (mode == 2) {
      request = unconstrained();
    }
    const std::int32_t count = size * (1 + below(10 / size));

    const std::string words = "seed " + std::to_string(seed) + ": " + text + ", " + std::to_string(count) + " pods, " +
                              (mode == 0   ? "required "
                               : mode == 1 ? "preferred "
                                           : "anywhere, from ") +
                              levels[static_cast<std::size_t>(level)] +
                              (request.slices.empty() ? "" : ", groups of " + std::to_string(size) + " on " + request.slices[0].level) +
                              ", mixed " + std::to_string(f.profile.mixed) + ", balanced " + std::to_string(f.profile.balanced);
    const auto rules = rules_for(request, f.tree.levels(), false, f.profile);
    ASSERT_TRUE(rules) << words;
    const Exact exact = search(f.tree, room, *rules, count);
    const auto found = place(f.tree, f.free, *rules, Fleet::gang(count));
    ASSERT_EQ(found.has_value(), exact.exists) << words;
    if (!found) {
      ++refused;
      continue;
    }
    ++placed;

    Spread spread(room.size());
    std::int32_t all = 0;
    for (const auto& [leaf, n] : found->pods) {
      spread[leaf] += n;
      all += n;
      ASSERT_LE(spread[leaf], room[leaf]) << words;
    }
    ASSERT_EQ(all, count) << words;
    ASSERT_TRUE(whole_groups(f.tree, spread, rules->layers.front())) << words;
    if (mode == 0) {
      ASSERT_EQ(domains_used(f.tree, spread, rules->level), 1U) << words;
    }
    if (mode == 1 && !f.profile.balanced) {
      // the lowest level, from the preferred one up, of which one domain holds all
      for (std::size_t i = rules->level + 1; i-- > 0;) {
        if (!exact.in_one_domain[i]) continue;
        ASSERT_EQ(domains_used(f.tree, spread, i), 1U) << words;
        break;
      }
    }
    std::string name = mode == 0                ? "required"
                       : mode == 1              ? (f.profile.balanced ? "preferred, balanced" : "preferred")
                       : request.slices.empty() ? (f.profile.mixed ? "unconstrained" : "unconstrained, mixed off")
                                                : (f.profile.mixed ? "slices only" : "slices only, mixed off");
    const auto lowest = domains_used(f.tree, spread, f.tree.lowest()), racks = domains_used(f.tree, spread, f.tree.lowest() - 1);
    quality[name].add(lowest, racks, exact);
    if (mode < 2) quality[name + (size > 1 ? ", slices" : ", single pods")].add(lowest, racks, exact);
    if (exact.fewest_leaves > 1) quality[name + " (several needed)"].add(lowest, racks, exact);
    if (mode == 1 && f.profile.balanced) continue;
    PlacementRules compact_rules = *rules;  // what the profile Compact does is judged in compact_test.cpp; here it is only told
    compact_rules.compact = true;
    const auto compact = place(f.tree, f.free, compact_rules, Fleet::gang(count));
    ASSERT_TRUE(compact) << words;
    Spread compactly(room.size());
    for (const auto& [leaf, n] : compact->pods) compactly[leaf] += n;
    quality[name + ", Compact"].add(domains_used(f.tree, compactly, f.tree.lowest()), domains_used(f.tree, compactly, f.tree.lowest() - 1),
                                    exact);
  }
  if (wanted != nullptr) {
    for (const auto& [name, q] : quality) q.print(name);
  }
  EXPECT_GT(placed, cases / 4);
  EXPECT_GT(refused, cases / 8);
}

}  // namespace
}  // namespace hindsight::admission::topology::testing
