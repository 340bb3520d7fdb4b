// The profile Compact: by hand, against an exact search of small trees, and over a day on a larger one.

#include "admission/topology/compact.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>

#include "admission/topology/replacement.hpp"
#include "tests/admission/topology/fleet.hpp"
#include "tests/admission/topology/kept_rules.hpp"

namespace hindsight::admission::topology::testing {
namespace {

/// As Fleet, with the profile Compact.
Fleet compactly(const std::string& text, std::vector<std::string> levels = {"block", "rack", host}) {
  Fleet f(text, std::move(levels));
  f.profile.compact = true;
  return f;
}

// ---- by hand --------------------------------------------------------------------------------------------------------------------------

// TAS-59: of two racks that hold all, Kueue's algorithm takes the one with less room, and Compact the one that needs fewer hosts.
TEST(Compact, FewerHostsGoBeforeATighterRack) {
  const std::string text = "b/r1/h1:2 b/r1/h2:2 b/r1/h3:2 b/r2/h4:5 b/r2/h5:4";
  EXPECT_EQ(Fleet(text).place(required("rack"), 6), "h1:2 h2:2 h3:2");
  EXPECT_EQ(compactly(text).place(required("rack"), 6), "h4:5 h5:1");
}

// TAS-60: fewer racks go before fewer hosts, and fewer blocks before both.
TEST(Compact, LevelsCountFromTheTop) {
  EXPECT_EQ(compactly("b/r1/h1:3 b/r2/h2:3 b/r3/h3:2 b/r3/h4:2 b/r3/h5:2").place(preferred(host), 6), "h3:2 h4:2 h5:2");
  EXPECT_EQ(compactly("b1/r1/h1:4 b2/r2/h2:4 b3/r3/h3:3 b3/r4/h4:3 b3/r5/h5:2").place(preferred("rack"), 8), "h3:3 h4:3 h5:2");
}

// TAS-60: two racks have to be used, and of these the choice that needs the fewest hosts is not the one of the largest racks.
TEST(Compact, TheRacksWithTheFewestHostsAreNotAlwaysTheLargest) {
  const std::string text = "b/r1/h1:3 b/r1/h2:3 b/r1/h3:3 b/r2/h4:3 b/r2/h5:3 b/r2/h6:2 b/r3/h7:7 b/r4/h8:7";
  EXPECT_EQ(Fleet(text).place(preferred("block"), 14), "h1:3 h2:3 h3:1 h7:7");
  EXPECT_EQ(compactly(text).place(preferred("block"), 14), "h7:7 h8:7");
}

// TAS-59: among equals the tightest domain is taken, and on it the hosts whose room is used up.
TEST(Compact, AmongEqualsTheTightestIsTaken) {
  EXPECT_EQ(compactly("b/r1/h1:8 b/r1/h2:8 b/r1/h3:5 b/r1/h4:4").place(required("rack"), 9), "h3:5 h4:4");
  EXPECT_EQ(compactly("b/r1/h1:8 b/r1/h2:8 b/r2/h3:8 b/r2/h4:2").place(required("rack"), 9), "h3:8 h4:1");
  EXPECT_EQ(compactly("b1/r1/h1:4 b1/r1/h2:9 b2/r2/h3:4 b2/r2/h4:1").place(unconstrained(), 4), "h3:4") << "equal hosts, a tighter rack";
  EXPECT_EQ(compactly("b/r2/h1:4 b/r1/h2:4").place(unconstrained(), 4), "h2:4") << "nothing else: the order of the paths";
}

// In place of TAS-61: pods that may stand anywhere stand together, too; Kueue's algorithm fills up the smallest hosts.
TEST(Compact, PodsThatMayStandAnywhereStandTogether) {
  const std::string text = "b1/r1/h1:1 b2/r2/h2:1 b3/r3/h3:2 b3/r3/h4:9";
  EXPECT_EQ(Fleet(text).place(unconstrained(), 10), "h1:1 h2:1 h3:2 h4:6");
  EXPECT_EQ(compactly(text).place(unconstrained(), 10), "h3:1 h4:9");
  EXPECT_EQ(compactly(text).place(unconstrained(), 13), "h1:1 h2:1 h3:2 h4:9");
}

// TAS-69, TAS-70: groups stay whole on their level, and a remainder of a host counts for nothing there.
TEST(Compact, GroupsStayWhole) {
  EXPECT_EQ(compactly("b/r/h1:5 b/r/h2:5 b/r/h3:4 b/r/h4:4").place(sliced({}, host, 4), 8), "h3:4 h4:4");
  EXPECT_EQ(compactly("b/r1/h1:3 b/r1/h2:3 b/r2/h3:5 b/r2/h4:2").place(sliced(required("block"), "rack", 3), 9), "h1:3 h2:3 h3:3");
  EXPECT_EQ(compactly("z/b1/r1/h1:5 z/b1/r1/h2:5 z/b1/r2/h3:3 z/b1/r2/h4:3 z/b2/r3/h5:4 z/b2/r3/h6:3", {"zone", "block", "rack", host})
                .place(sliced(sliced(sliced(required("zone"), "block", 8), "rack", 4), host, 2), 8),
            "h1:4 h2:4");
}

// TAS-71: the leader's host counts as well, and it takes room of the pods.
TEST(Compact, TheLeaderStandsAmongThem) {
  EXPECT_EQ(compactly("b/r1/h1:4 b/r1/h2:4 b/r2/h3:5").place(required("rack"), Fleet::led(4, 1'000, 1'000)), "leader h3, h3:4");
  EXPECT_EQ(compactly("b/r1/h1:4 b/r1/h2:4 b/r2/h3:6").place(required("rack"), Fleet::led(7, 1'000, 1'000)), "leader h1, h1:3 h2:4");
  // Beside the leader h1 holds no pod at all.
  EXPECT_EQ(compactly("b/r1/h1:4 b/r1/h2:2 b/r1/h3:2").place(required("rack"), Fleet::led(4, 1'000, 4'000)), "leader h1, h2:2 h3:2");
}

// TAS-74: nodes that pods prefer go before any count of domains: there Compact does what Kueue's algorithm does.
TEST(Compact, ScoresGoFirst) {
  const auto f = compactly("b/r1/h1:2 b/r1/h2:2 b/r2/h3:4");
  const std::vector<std::int64_t> scores{1, 1, 0};
  const auto rules = *rules_for(required("rack"), f.tree.levels(), false, f.profile);
  const auto found = place(f.tree, f.free, rules, Fleet::gang(4), {{}, {}, scores, {}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pods, (std::vector<std::pair<DomainIndex, std::int32_t>>{{0, 2}, {1, 2}}));
  EXPECT_EQ(compactly("b/r1/h1:2 b/r1/h2:2 b/r2/h3:4").place(required("rack"), 4), "h3:4");
}

// TAS-73: pods that prefer a level are spread evenly where the gate asks for it, and all others are placed compactly.
TEST(Compact, EvenSharesGoFirst) {
  auto f = compactly("b/r/h1:10 b/r/h2:10");
  f.profile.balanced = true;
  EXPECT_EQ(f.place(preferred("rack"), 12), "h1:6 h2:6");
  EXPECT_EQ(f.place(required("rack"), 12), "h1:10 h2:2");
}

// TAS-76: the sentence that says why there is no place is the same.
TEST(Compact, ARefusalIsToldAsBefore) {
  const std::string text = "b/r1/h1:2 b/r1/h2:2 b/r2/h3:3";
  for (const auto& request : {required("rack"), preferred("rack"), unconstrained(), sliced(required("rack"), host, 2)})
    EXPECT_EQ(compactly(text).place(request, 8), Fleet(text).place(request, 8));
}

// TAS-100: pods of a failed node get other hosts within the rack that was required.
TEST(Compact, FailedNodesAreReplaced) {
  const auto f = compactly("b/r1/h1:1 b/r1/h2:2 b/r1/h3:4 b/r1/h4:3 b/r2/h5:9");
  const auto rules = *rules_for(required("rack"), f.tree.levels(), false, f.profile);
  const std::vector<AssignedLeaf> assigned{{{"h1"}, 1}, {{"gone"}, 3}};
  const std::vector<std::string> failed{"gone"};
  const auto found = replace_leaf(f.tree, f.free, rules, Fleet::gang(1).request, assigned, failed, {});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[1].path, std::vector<std::string>{"h4"});
  EXPECT_EQ((*found)[1].pods, 3);
}

// ---- against an exact search ------------------------------------------------------------------------------------------------------------

/// How many domains of each level a gang touches, its leader's among them.
using Touched = std::vector<std::size_t>;

Touched touched_by(const TopologyTree& tree, const std::vector<DomainIndex>& leaves) {
  Touched out;
  for (std::size_t level = 0; level < tree.level_count(); ++level) {
    std::set<DomainIndex> used;
    for (const DomainIndex leaf : leaves) used.insert(tree.above(leaf, level));
    out.push_back(used.size());
  }
  return out;
}
Touched touched_by(const TopologyTree& tree, const Placement& placement) {
  std::vector<DomainIndex> leaves;
  for (const auto& [leaf, n] : placement.pods) leaves.push_back(leaf);
  if (placement.leader) leaves.push_back(*placement.leader);
  return touched_by(tree, leaves);
}

/// Of all placements that the rules allow.
struct Optimum {
  bool exists = false;
  Touched by_order;    ///< Of the best one, levels from the top.
  Touched each_alone;  ///< By level: the fewest that any placement has.
};

/// Tries every way to spread the pods and the leader.
class EverySpread {
 public:
  EverySpread(const Fleet& fleet, const PlacementRules& rules, const Gang& gang) : fleet_(fleet), rules_(rules), gang_(gang) {
    const TopologyTree& tree = fleet.tree;
    for (const auto& layer : rules.layers) in_.emplace_back(tree.size(layer.level));
    for (DomainIndex leaf = 0; leaf < tree.leaves(); ++leaf) room_.push_back(fleet.free.at(cpu, leaf) / 1'000);
  }
  Optimum run() {
    if (!gang_.leader) {
      spread(0, gang_.count);
      return best_;
    }
    for (DomainIndex leaf = 0; leaf < room_.size(); ++leaf) {
      const Amount taken = gang_.leader->front().second / 1'000;
      if (room_[leaf] < taken) continue;
      leader_ = leaf;
      room_[leaf] -= taken;
      spread(0, gang_.count);
      room_[leaf] += taken;
    }
    return best_;
  }

 private:
  void spread(DomainIndex leaf, std::int64_t left) {
    if (leaf == room_.size()) {
      if (left == 0) judge();
      return;
    }
    for (std::int64_t n = 0; n <= std::min(room_[leaf], left); ++n) {
      add(leaf, n);
      if (n > 0) standing_.push_back(leaf);
      spread(leaf + 1, left - n);
      if (n > 0) standing_.pop_back();
      add(leaf, -n);
    }
  }
  void add(DomainIndex leaf, std::int64_t n) {
    for (std::size_t i = 0; i < in_.size(); ++i) in_[i][fleet_.tree.above(leaf, rules_.layers[i].level)] += n;
  }
  void judge() {
    for (std::size_t i = 0; i < in_.size(); ++i)
      for (const std::int64_t n : in_[i])
        if (n % rules_.layers[i].size != 0) return;
    std::vector<DomainIndex> leaves = standing_;
    if (leader_) leaves.push_back(*leader_);
    auto& touched = known_[leaves];
    if (touched.empty()) touched = touched_by(fleet_.tree, leaves);
    if (rules_.strict && touched[rules_.level] > 1) return;
    if (!best_.exists) best_ = {true, touched, touched};
    best_.by_order = std::min(best_.by_order, touched);
    for (std::size_t level = 0; level < touched.size(); ++level)
      best_.each_alone[level] = std::min(best_.each_alone[level], touched[level]);
  }

  const Fleet& fleet_;
  const PlacementRules& rules_;
  const Gang& gang_;
  std::vector<std::int64_t> room_;
  std::vector<std::vector<std::int64_t>> in_;  ///< By layer and domain: pods.
  std::vector<DomainIndex> standing_;
  std::optional<DomainIndex> leader_;
  std::map<std::vector<DomainIndex>, Touched> known_;
  Optimum best_;
};

/// Domains touched against the optimum, as averages of ratios.
struct Ratios {
  std::size_t placed = 0, best = 0;
  std::array<double, 3> by_order{}, alone{};  ///< Sums, of the three lowest levels: blocks, racks, hosts.
  void add(const Touched& touched, const Optimum& optimum) {
    ++placed;
    best += touched == optimum.by_order ? 1 : 0;
    const std::size_t skipped = touched.size() - std::min<std::size_t>(touched.size(), 3), gap = 3 - (touched.size() - skipped);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto ratio = [&](const Touched& to) {
        return i < gap ? 1 : static_cast<double>(touched[i - gap + skipped]) / static_cast<double>(to[i - gap + skipped]);
      };
      by_order[i] += ratio(optimum.by_order);
      alone[i] += ratio(optimum.each_alone);
    }
  }
  [[nodiscard]] double mean(double sum) const { return sum / static_cast<double>(placed); }
  void print(const std::string& kind, const char* profile) const {
    std::printf("%-28s %-8s %6zu placed, the best in %5.1f %%; blocks, racks, hosts: %.3f %.3f %.3f of the best; %.3f %.3f %.3f alone\n",
                kind.c_str(), profile, placed, 100 * mean(static_cast<double>(best)), mean(by_order[0]), mean(by_order[1]),
                mean(by_order[2]), mean(alone[0]), mean(alone[1]), mean(alone[2]));
  }
};

/// A small tree and a request, made of a seed.
struct SmallCase {
  explicit SmallCase(unsigned seed) : random(seed) {
    levels = below(4) == 0   ? std::vector<std::string>{"rack", host}
             : below(3) == 0 ? std::vector<std::string>{"zone", "block", "rack", host}
                             : std::vector<std::string>{"block", "rack", host};
    const bool has_leader = below(4) == 0;
    const int leaves = 2 + below(has_leader ? 5 : 6), largest = 2 + below(8);
    int zone = 0, block = 0, rack = 0;
    for (int h = 0; h < leaves; ++h) {
      if (h > 0 && below(2) == 0) {
        ++rack;
        if (below(2) == 0) {
          ++block;
          if (below(3) == 0) ++zone;
        }
      }
      if (levels.size() > 3) text += "z" + std::to_string(zone) + "/";
      if (levels.size() > 2) text += "b" + std::to_string(block) + "/";
      text += "r" + std::to_string(rack) + "/h" + std::to_string(h) + ":" + std::to_string(below(largest + 1)) + " ";
    }
    const int mode = below(4);
    const auto count_of_levels = static_cast<int>(levels.size());
    int from = below(count_of_levels);
    if (mode == 0) request = required(level(from));
    if (mode == 1) request = preferred(level(from));
    if (mode == 2) request = unconstrained();
    if (mode == 3) from = 0;
    std::int32_t size = 1;
    if (mode == 3 || (mode < 2 && below(2) == 0)) {
      const int factors[] = {1 + below(3), 1 + below(2), 1 + below(2)};
      size = factors[0] * factors[1] * factors[2];
      std::int32_t of_layer = size;
      for (int i = 0; i < 3 && from < count_of_levels; ++i) {
        from += below(count_of_levels - from);
        request = sliced(request, level(from), of_layer);
        of_layer /= factors[i];
        ++from;
        if (below(2) == 0) break;
      }
    }
    gang = Fleet::gang(size * (1 + below(std::max(10 / size, 1))));
    if (has_leader) gang = Fleet::led(gang.count, 1'000, 1'000 * (1 + below(3)));
    kind = mode == 0 ? "required" : mode == 1 ? "preferred" : mode == 2 ? "unconstrained" : "slices only";
    if (mode < 2) kind += request.slices.empty() ? ", single pods" : ", slices";
  }
  int below(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
  [[nodiscard]] const std::string& level(int i) const { return levels[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::string words() const {
    std::string out = text + ": " + std::to_string(gang.count) + " pods, " + kind;
    if (request.required || request.preferred) out += " " + (request.required ? *request.required : *request.preferred);
    for (const auto& layer : request.slices) out += ", groups of " + std::to_string(*layer.size) + " on " + layer.level;
    if (gang.leader) out += ", a leader of " + std::to_string(gang.leader->front().second / 1'000);
    return out;
  }

  std::mt19937 random;
  std::vector<std::string> levels;
  std::string text, kind;
  TopologyRequest request;
  Gang gang;
};

// The profile Compact finds a place wherever there is one, keeps the rules, and touches, of all placements, the fewest domains of the top
// level, then of the next, and so on. HINDSIGHT_PLACEMENT_QUALITY: how many cases; says how far Kueue's algorithm and Compact are from the
// best by that order, and from the fewest domains of each level alone, which no single placement may have of all levels.
TEST(Compact, IsTheBestOfAllPlacements) {
  const char* const wanted = std::getenv("HINDSIGHT_PLACEMENT_QUALITY");
  const unsigned cases = wanted == nullptr ? 10'000 : static_cast<unsigned>(std::stoul(wanted));
  std::map<std::string, Ratios> compact, usual;
  std::size_t refused = 0;
  for (unsigned seed = 1; seed <= cases; ++seed) {
    const SmallCase c(seed);
    const Fleet fleet(c.text, c.levels);
    const std::string words = "seed " + std::to_string(seed) + ": " + c.words();
    const auto usual_rules = rules_for(c.request, fleet.tree.levels(), false, {});
    const auto rules = rules_for(c.request, fleet.tree.levels(), false, {.compact = true});
    ASSERT_TRUE(rules && usual_rules) << words;
    const Optimum optimum = EverySpread(fleet, *rules, c.gang).run();
    const auto found = place(fleet.tree, fleet.free, *rules, c.gang);
    const auto by_kueue = place(fleet.tree, fleet.free, *usual_rules, c.gang);
    ASSERT_EQ(found.has_value(), optimum.exists) << words;
    ASSERT_TRUE(found || !by_kueue) << words;
    if (!found) {
      ++refused;
      continue;
    }
    ASSERT_EQ(broken_rule(fleet.tree, fleet.free, *rules, c.gang, {}, *found), "") << words;
    const Touched touched = touched_by(fleet.tree, *found);
    EXPECT_EQ(touched, optimum.by_order) << words;
    std::vector<std::string> kinds{c.kind, "all"};
    if (c.gang.leader) kinds.emplace_back("with a leader");
    if (optimum.by_order.back() > 1) kinds.emplace_back("several hosts needed");
    for (const auto& kind : kinds) {
      compact[kind].add(touched, optimum);
      if (by_kueue) usual[kind].add(touched_by(fleet.tree, *by_kueue), optimum);
    }
  }
  for (const auto& [kind, ratios] : compact) {
    if (wanted != nullptr) {
      usual[kind].print(kind, "Kueue");
      ratios.print(kind, "Compact");
    }
    EXPECT_GT(ratios.placed, cases / 40) << kind;
    for (std::size_t i = 0; i < 3; ++i) EXPECT_LE(ratios.mean(ratios.by_order[i]), 1.01) << kind;
  }
  EXPECT_GT(refused, cases / 10);
}

// ---- larger trees -----------------------------------------------------------------------------------------------------------------------

// Where the best choice would take too many steps pods are placed all the same, by the rules, on the fewest domains of the top level, and
// rarely on more domains than with Kueue's algorithm.
TEST(Compact, LargeGangsArePlacedWithinTheBound) {
  int placed = 0, several_blocks = 0, fewer = 0, more = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const int racks_of_block = 4 + below(20), hosts_of_rack = 4 + below(28), largest = 4 + below(60);
    std::string text;
    std::int64_t room = 0;
    for (int h = 0, rack = 0, most = largest; h < 1'500; ++h) {
      if (h % hosts_of_rack == 0) ++rack, most = 1 + below(largest);
      const int n = below(3) == 0 ? 0 : below(most + 1);
      room += n;
      text += "b" + std::to_string(100 + rack / racks_of_block) + "/r" + std::to_string(1'000 + rack) + "/h" + std::to_string(10'000 + h) +
              ":" + std::to_string(n) + " ";
    }
    const Fleet fleet(text);
    const int size = below(3) == 0 ? 1 + below(6) : 1;
    TopologyRequest request = below(3) == 0 ? unconstrained() : preferred("rack");
    if (size > 1) request = sliced(preferred("block"), below(2) == 0 ? "rack" : host, size);
    const int part = 1 + below(12);
    const auto count = static_cast<std::int32_t>(room / part / size * size);
    const Gang gang = below(3) == 0 ? Fleet::led(count, 1'000, 3'000) : Fleet::gang(count);
    const auto usual_rules = *rules_for(request, fleet.tree.levels(), false, {});
    const auto rules = *rules_for(request, fleet.tree.levels(), false, {.compact = true});
    const auto usual = place(fleet.tree, fleet.free, usual_rules, gang);
    const auto compact = place(fleet.tree, fleet.free, rules, gang);
    ASSERT_EQ(compact.has_value(), usual.has_value()) << "seed " << seed;
    if (!compact) continue;
    ++placed;
    ASSERT_EQ(broken_rule(fleet.tree, fleet.free, rules, gang, {}, *compact), "") << "seed " << seed;
    const Touched ours = touched_by(fleet.tree, *compact), theirs = touched_by(fleet.tree, *usual);
    EXPECT_LE(ours.front(), theirs.front()) << "seed " << seed;
    several_blocks += ours.front() > 1 ? 1 : 0;
    fewer += ours < theirs ? 1 : 0;
    more += theirs < ours ? 1 : 0;
  }
  EXPECT_GT(placed, 40);
  EXPECT_GT(several_blocks, 20);
  EXPECT_GT(fewer, 40);
  EXPECT_LE(more, 2);
}

// Trees of sixteen levels whose costs fit in no number are filled up from the largest domain on.
TEST(Compact, DeepTreesAreFilledUp) {
  std::vector<std::string> levels;
  for (int level = 0; level < 15; ++level) levels.push_back("level-" + std::to_string(level));
  levels.push_back(host);
  std::string text;
  for (int h = 0; h < 64; ++h) {
    for (int level = 0; level < 15; ++level) text += std::to_string(level < 3 ? h / 32 : h / 2) + "/";
    text += "h" + std::to_string(100 + h) + ":" + std::to_string(1 + h % 5) + " ";
  }
  for (const int count : {1, 9, 60, 150, 188}) {
    auto usual = Fleet(text, levels), compact = compactly(text, levels);
    const auto rules = *rules_for(preferred("level-0"), levels, false, compact.profile);
    const auto found = place(compact.tree, compact.free, rules, Fleet::gang(count));
    ASSERT_TRUE(found) << count;
    EXPECT_EQ(broken_rule(compact.tree, compact.free, rules, Fleet::gang(count), {}, *found), "") << count;
    const auto theirs = place(usual.tree, usual.free, *rules_for(preferred("level-0"), levels, false, {}), Fleet::gang(count));
    EXPECT_LE(touched_by(compact.tree, *found), touched_by(usual.tree, *theirs)) << count;
  }
}

// ---- a day of arrivals ------------------------------------------------------------------------------------------------------------------

/// What gangs ask for on such a day.
struct Demand {
  const char* name;
  std::vector<TopologyRequest> requests;  ///< Each as often as the others.
  bool large_pods = false;                ///< Pods take 1, 2, 4 or 8 of a host's 8 GPUs; else each takes one.
};

/// Gangs of 1 to 64 pods come and go on 512 hosts of 8 GPUs: 4 blocks of 8 racks of 16. A day to fill up, and one that counts. Who finds no
/// place waits, and is tried again in the order of arrival when somebody ends.
class Day {
 public:
  Day(const TopologyTree& tree, const Demand& demand, bool compact, unsigned seed)
      : tree_(tree), demand_(demand), profile_{.compact = compact}, free_(tree.capacity()), random_(seed) {}

  void run() {
    constexpr std::int64_t day = 24 * 60 * 60;
    std::int64_t next = 0;
    for (now_ = 0; now_ < 2 * day;) {
      const bool ends = !running_.empty() && running_.begin()->first <= next;
      now_ = ends ? running_.begin()->first : next;
      counts_ = now_ >= day;
      if (ends) {
        charge(free_, running_.begin()->second.gang, running_.begin()->second.placement, -1);
        running_.erase(running_.begin());
        std::erase_if(waiting_, [&](const Asked& asked) { return start(asked); });
        continue;
      }
      next = now_ + 20 + below(demand_.large_pods ? 400 : 120);
      const Asked asked = ask();
      if (counts_) sample();
      if (start(asked)) continue;
      if (counts_ && free_pods(asked.gang) >= asked.gang.count) ++scattered;
      waiting_.push_back(asked);
    }
  }

  std::int64_t placed = 0, blocks = 0, racks = 0, hosts = 0;
  std::int64_t fewest_hosts = 0;  ///< That so many pods take where all hosts are free.
  std::int64_t scattered = 0;     ///< Arrivals without a place although there was room for all pods in the whole.
  std::int64_t waited = 0;        ///< Seconds, of those that were placed.
  /// GPUs at arrivals: those that are used, those that are free, and of these the ones in racks with so many and on empty hosts.
  std::int64_t used = 0, free = 0, free_for_8 = 0, free_for_32 = 0, free_hosts = 0;

 private:
  struct Asked {
    std::int64_t at, lasts;
    TopologyRequest request;
    Gang gang;
  };
  struct Running {
    Gang gang;
    Placement placement;
  };

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  Asked ask() {
    const int sizes[] = {1, 2, 4, 8, 8, 16, 32, 64, 1 + below(64), 1 + below(64)};
    const int gpus_of[] = {1, 1, 2, 2, 4, 8};
    const Amount gpus = demand_.large_pods ? gpus_of[below(6)] : 1;
    const int count = sizes[below(10)];
    const std::int64_t lasts = std::int64_t{60} * (20 + below(40)) << below(5);
    const TopologyRequest request = demand_.requests[static_cast<std::size_t>(below(static_cast<int>(demand_.requests.size())))];
    return {now_, lasts, request, {count, {{cpu, gpus * 1'000}, {pods, 1}}, {}}};
  }
  bool start(const Asked& asked) {
    const auto rules = rules_for(asked.request, tree_.levels(), false, profile_);
    auto found = place(tree_, free_, *rules, asked.gang);
    if (!found) return false;
    charge(free_, asked.gang, *found);
    if (counts_) {
      const Touched touched = touched_by(tree_, *found);
      ++placed;
      blocks += static_cast<std::int64_t>(touched[0]);
      racks += static_cast<std::int64_t>(touched[1]);
      hosts += static_cast<std::int64_t>(touched[2]);
      const std::int64_t on_a_host = 8'000 / asked.gang.request.front().second;
      fewest_hosts += (asked.gang.count + on_a_host - 1) / on_a_host;
      waited += now_ - asked.at;
    }
    running_.emplace(now_ + asked.lasts, Running{asked.gang, std::move(*found)});
    return true;
  }
  [[nodiscard]] std::int64_t free_pods(const Gang& gang) const {
    std::int64_t out = 0;
    for (DomainIndex leaf = 0; leaf < tree_.leaves(); ++leaf) out += pods_on(free_, gang.request, leaf).first;
    return out;
  }
  void sample() {
    std::vector<std::int64_t> of_rack(tree_.size(1));
    std::int64_t all = 0;
    for (DomainIndex leaf = 0; leaf < tree_.leaves(); ++leaf) {
      const std::int64_t gpus = free_.at(cpu, leaf) / 1'000;
      of_rack[tree_.above(leaf, 1)] += gpus;
      all += gpus;
      if (gpus == 8) free_hosts += gpus;
    }
    for (const std::int64_t gpus : of_rack) {
      if (gpus >= 8) free_for_8 += gpus;
      if (gpus >= 32) free_for_32 += gpus;
    }
    free += all;
    used += 8 * static_cast<std::int64_t>(tree_.leaves()) - all;
  }

  const TopologyTree& tree_;
  const Demand& demand_;
  PlacementProfile profile_;
  Capacity free_;
  std::mt19937 random_;
  std::int64_t now_ = 0;
  bool counts_ = false;
  std::multimap<std::int64_t, Running> running_;  ///< By when they end.
  std::vector<Asked> waiting_;
};

// Over a day of arrivals gangs touch fewer hosts with the profile Compact than with Kueue's algorithm, whatever they ask for, and on the
// whole fewer racks. Each gang is placed the best for itself, which is not always the best for those that come after it: who prefers a rack
// touches about as many racks as before.
// HINDSIGHT_PLACEMENT_DAYS: how many days of each demand; says how many domains gangs touch, and how scattered the free room is.
TEST(Compact, ADayOfArrivalsTouchesFewerDomains) {
  const char* const wanted = std::getenv("HINDSIGHT_PLACEMENT_DAYS");
  const unsigned days = wanted == nullptr ? 1 : static_cast<unsigned>(std::stoul(wanted));
  std::string text;
  for (int h = 0; h < 512; ++h)
    text += "b" + std::to_string(h / 128) + "/r" + std::to_string(100 + h / 16) + "/h" + std::to_string(1'000 + h) + ":8 ";
  const Fleet fleet(text);
  const std::vector<Demand> demands{{"required rack", {required("rack")}},
                                    {"preferred rack", {preferred("rack")}},
                                    {"preferred rack, large pods", {preferred("rack")}, true},
                                    {"unconstrained", {unconstrained()}},
                                    {"of all kinds", {required("rack"), preferred("rack"), unconstrained()}},
                                    {"of all kinds, large pods", {required("block"), preferred("rack"), unconstrained()}, true}};
  double all_racks[2] = {};
  for (const Demand& demand : demands) {
    if (wanted == nullptr && demand.requests.size() == 1 && demand.large_pods) continue;
    double racks[2] = {}, hosts[2] = {};
    for (const bool compact : {false, true}) {
      Day all(fleet.tree, demand, compact, 0);
      for (unsigned seed = 1; seed <= days; ++seed) {
        Day day(fleet.tree, demand, compact, seed);
        day.run();
        for (const auto sum : {&Day::placed, &Day::blocks, &Day::racks, &Day::hosts, &Day::fewest_hosts, &Day::scattered, &Day::waited,
                               &Day::free, &Day::free_for_8, &Day::free_for_32, &Day::free_hosts, &Day::used})
          all.*sum += day.*sum;
      }
      const auto mean = [](std::int64_t sum, std::int64_t n) { return n == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(n); };
      racks[compact ? 1 : 0] = mean(all.racks, all.placed);
      hosts[compact ? 1 : 0] = mean(all.hosts, all.fewest_hosts);
      EXPECT_GT(all.placed, 200 * days) << demand.name;
      if (wanted != nullptr)
        std::printf(
            "%-27s %-8s %6lld placed, %4.1f %% used; blocks %.3f racks %.3f hosts %.3f a gang, %.3f of the fewest hosts; "
            "%4lld without a place where there was room, %5.1f min waited; free room in racks for 8: %5.1f %%, for 32: %5.1f %%, "
            "on empty hosts %5.1f %%\n",
            demand.name, compact ? "Compact" : "Kueue", static_cast<long long>(all.placed), 100 * mean(all.used, all.used + all.free),
            mean(all.blocks, all.placed), racks[compact ? 1 : 0], mean(all.hosts, all.placed), hosts[compact ? 1 : 0],
            static_cast<long long>(all.scattered), mean(all.waited, all.placed * 60), 100 * mean(all.free_for_8, all.free),
            100 * mean(all.free_for_32, all.free), 100 * mean(all.free_hosts, all.free));
    }
    EXPECT_LT(hosts[1], hosts[0]) << demand.name;
    EXPECT_LT(racks[1], racks[0] * 1.05) << demand.name;
    for (int i = 0; i < 2; ++i) all_racks[i] += racks[i];
  }
  EXPECT_LT(all_racks[1], all_racks[0]);
}

}  // namespace
}  // namespace hindsight::admission::topology::testing
