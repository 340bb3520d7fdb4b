// The real placement against a plain model of it that was written from the specification alone (2724 §3), and that model against the worked
// examples of §5.

#include "tests/admission/topology/plain_placement.hpp"
#include "tests/admission/topology/random_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>

#include "tests/admission/topology/fleet.hpp"
#include "tests/admission/topology/kept_rules.hpp"

namespace hindsight::admission::topology::testing {
namespace {

/// As Fleet::place, by the model; of a misfit the numbers.
std::string plainly(const Fleet& f, const TopologyRequest& request, const Gang& gang) {
  const auto placed = plain_place(f.tree, f.free, plain_rules(request, f.tree.levels(), f.profile), gang);
  std::string out;
  if (placed.misfit) {
    out = std::to_string(placed.misfit->fit) + " of " + std::to_string(placed.misfit->wanted);
    for (const auto& [fit, wanted] : placed.misfit->layers) out += ", layer " + std::to_string(fit) + " of " + std::to_string(wanted);
    return out;
  }
  if (placed.leader) out = "leader " + f.name(*placed.leader) + ",";
  for (const auto& [leaf, n] : placed.pods) out += (out.empty() ? "" : " ") + f.name(leaf) + ":" + std::to_string(n);
  return out;
}
std::string plainly(const Fleet& f, const TopologyRequest& request, std::int32_t count) { return plainly(f, request, Fleet::gang(count)); }

// E1, E3: TAS-59, TAS-60, TAS-62, TAS-64
TEST(PlainPlacement, RequiredAndPreferredRacks) {
  const Fleet f("b1/r1/n1:4 b1/r1/n2:4 b1/r2/n3:8 b1/r2/n4:4 b2/r1/n5:12");
  EXPECT_EQ(plainly(f, required("rack"), 10), "n3:8 n4:2");
  EXPECT_EQ(plainly(f, required("rack"), 8), "n1:4 n2:4");
  EXPECT_EQ(plainly(f, required("rack"), 3), "n1:3");
  EXPECT_EQ(plainly(f, required("rack"), 13), "12 of 13");
  EXPECT_EQ(plainly(f, preferred("rack"), 14), "n1:4 n2:2 n3:8");
  EXPECT_EQ(plainly(f, preferred("rack"), 22), "n3:8 n4:2 n5:12");
  EXPECT_EQ(plainly(f, preferred("rack"), 33), "32 of 33");
}

// E5, E7, E9: TAS-61, TAS-62, TAS-63, TAS-64, TAS-67
TEST(PlainPlacement, BestFitAndLeastFreeCapacity) {
  Fleet jobset("b1/r1/n1:2 b1/r1/n2:1 b1/r2/n3:2 b1/r2/n4:2");
  EXPECT_EQ(plainly(jobset, required("rack"), 1), "n2:1");
  jobset.free.add(cpu, 1, -1'000);
  EXPECT_EQ(plainly(jobset, preferred("rack"), 4), "n3:2 n4:2");
  EXPECT_EQ(plainly(jobset, preferred("rack"), 5), "n1:2 n3:2 n4:1");
  Fleet rack("b/r/a:3 b/r/b:3 b/r/c:2 b/r/d:1");
  EXPECT_EQ(plainly(rack, required("rack"), 7), "a:3 b:3 d:1");
  EXPECT_EQ(plainly(rack, unconstrained(), 7), "a:3 b:1 c:2 d:1");
  EXPECT_EQ(plainly(rack, unconstrained(), 2), "c:2");
  EXPECT_EQ(plainly(rack, unconstrained(), 3), "a:3");
  rack.profile.mixed = false;
  EXPECT_EQ(plainly(rack, unconstrained(), 7), "a:3 b:3 d:1");
  const Fleet racks("b1/r1/x3:2 b1/r2/x5:2 b1/r3/x1:1 b1/r3/x2:1 b1/r3/x4:1 b1/r3/x6:1");
  EXPECT_EQ(plainly(racks, required("block"), 4), "x1:1 x2:1 x4:1 x6:1");
}

// E10, E11, E12: TAS-69, TAS-70
TEST(PlainPlacement, Slices) {
  const Fleet f("b/r/x3:6 b/r/x5:5 b/r/x1:4 b/r/x6:2");
  EXPECT_EQ(plainly(f, sliced(required("block"), host, 2), 12), "x1:4 x3:6 x6:2");
  const Fleet g("b/r/a:6 b/r/b:5 b/r/c:4 b/r/d:3 b/r/e:2");
  EXPECT_EQ(plainly(g, sliced({}, host, 2), 10), "b:2 c:4 d:2 e:2");
  const Fleet h("b/r/a:4 b/r/b:2 b/r/c:1");
  EXPECT_EQ(plainly(h, sliced(required("rack"), "rack", 3), 3), "b:2 c:1");
  EXPECT_EQ(plainly(h, required("rack"), 3), "a:3");
  const Fleet jobs("b1/r1/n1:2 b1/r1/n2:2 b1/r2/n3:2 b1/r2/n4:1 b2/r3/n5:4");
  EXPECT_EQ(plainly(jobs, sliced(preferred("block"), "rack", 3), 6), "n1:2 n2:1 n3:2 n4:1");
  EXPECT_EQ(plainly(jobs, sliced(preferred("block"), "rack", 3), 9), "n1:2 n2:1 n3:2 n4:1 n5:3");
  const Fleet blocks("b1/r1/x3:4 b1/r1/x5:1 b1/r1/x1:1 b2/r1/x6:2 b2/r1/x2:1");
  EXPECT_EQ(plainly(blocks, sliced({}, host, 2), 6), "x3:4 x6:2");
}

// E13, E14: TAS-69
TEST(PlainPlacement, Layers) {
  std::string text;
  for (int rack = 0; rack < 8; ++rack)
    text += "dc/az" + std::to_string(rack / 4) + "/blk" + std::to_string(rack / 2) + "/r" + std::to_string(rack) + ":18 ";
  const Fleet f(text, {"dc", "az", "blk", "rack"});
  EXPECT_EQ(plainly(f, sliced(sliced(required("dc"), "az", 48), "rack", 16), 96),
            "dc/az0/blk0/r0:16 dc/az0/blk0/r1:16 dc/az0/blk1/r2:16 dc/az1/blk2/r4:16 dc/az1/blk2/r5:16 dc/az1/blk3/r6:16");
  const Fleet g("b/r/x1:3 b/r/x2:3 b/r/x3:0");
  EXPECT_EQ(plainly(g, sliced(sliced(required("block"), "rack", 6), host, 2), 6), "0 of 1, layer 0 of 1, layer 2 of 3");
}

// E15, E16: TAS-71, TAS-72
TEST(PlainPlacement, Leaders) {
  const Fleet f("r1/h1:2 r1/h2:4 r1/h3:3", {"rack", host});
  EXPECT_EQ(plainly(f, required("rack"), Fleet::led(4, 2'000, 1'000)), "leader h3, h1:1 h2:2 h3:1");
  const Fleet g("small/h1:3 small/h2:0 large/h3:6", {"rack", host});
  EXPECT_EQ(plainly(g, required("rack"), Fleet::led(1, 2'500, 2'500)), "leader h3, h3:1");
  EXPECT_EQ(plainly(g, required("rack"), Fleet::led(1, 1'000, 1'000)), "leader h1, h1:1");
}

// E17: TAS-73
TEST(PlainPlacement, Balance) {
  const auto even = [](const std::string& text, const TopologyRequest& request, std::int32_t count) {
    Fleet f(text);
    f.profile.balanced = true;
    return plainly(f, request, count);
  };
  EXPECT_EQ(even("b/r/x1:10 b/r/x2:10", preferred("rack"), 12), "x1:6 x2:6");
  EXPECT_EQ(plainly(Fleet("b/r/x1:10 b/r/x2:10"), preferred("rack"), 12), "x1:10 x2:2");
  EXPECT_EQ(even("b/r/x1:15 b/r/x2:13 b/r/x3:10", preferred("rack"), 23), "x1:12 x2:11");
  EXPECT_EQ(even("b/r/x1:20 b/r/x2:15 b/r/x3:10", sliced(preferred("rack"), host, 5), 25), "x2:15 x3:10");
  const std::string two_blocks = "b1/r1/x1:20 b1/r1/x2:10 b2/r2/x3:15 b2/r2/x4:15";
  EXPECT_EQ(even(two_blocks, preferred("rack"), 22), "x3:11 x4:11");
  EXPECT_EQ(even(two_blocks, preferred("rack"), 20), "x1:20");
  EXPECT_EQ(even("b/r1/x1:10 b/r1/x2:5 b/r2/x3:5 b/r2/x4:5 b/r2/x5:5", preferred("rack"), 15), "x3:5 x4:5 x5:5");
  const std::string spread = "b1/r1/x1:10 b1/r1/x2:10 b2/r2/x3:8";
  EXPECT_EQ(even(spread, preferred("rack"), 24), plainly(Fleet(spread), preferred("rack"), 24));
}

std::string words_of(const TopologyTree& tree, std::optional<DomainIndex> leader, const std::map<DomainIndex, std::int64_t>& pods) {
  const auto name = [&](DomainIndex leaf) { return std::string(tree.value(tree.lowest(), leaf)) + "#" + std::to_string(leaf); };
  std::string out;
  if (leader) out += "leader " + name(*leader) + ",";
  for (const auto& [leaf, n] : pods) out += " " + name(leaf) + ":" + std::to_string(n);
  return out;
}

/// A misfit, whichever of the two tells it. Without domains there are no numbers to tell (§2.9).
template <typename M>
std::string misfit_words(const M& misfit) {
  if (misfit.empty_level) return "no domains at the level";
  std::string out = std::to_string(misfit.fit) + " of " + std::to_string(misfit.wanted);
  for (const auto& [fit, wanted] : misfit.layers) out += ", layer " + std::to_string(fit) + " of " + std::to_string(wanted);
  for (const auto& [resource, n] : misfit.lacking) out += ", " + resource + " lacks on " + std::to_string(n);
  return out;
}

/// `balanced` counts only where neither of the other two forbids it.
bool same_rules(const PlacementRules& a, const PlacementRules& b) {
  if (a.level != b.level || a.strict != b.strict || a.free != b.free || a.least_free != b.least_free) return false;
  if (!a.strict && !a.free && a.balanced != b.balanced) return false;
  return std::equal(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(),
                    [](const auto& x, const auto& y) { return x.level == y.level && x.size == y.size; });
}

// TAS-58 to TAS-64, TAS-66, TAS-68 to TAS-75: what is placed where, or how much fits, is what the text of the specification says, for
// random trees, nodes and requests. HINDSIGHT_PLACEMENT_CASES: how many. Of cases that differ the smallest is told.
TEST(PlainPlacement, TheRealPlacementDoesWhatTheSpecificationSays) {
  const char* const wanted = std::getenv("HINDSIGHT_PLACEMENT_CASES");
  const unsigned cases = wanted == nullptr ? 30'000 : static_cast<unsigned>(std::stoul(wanted));
  std::map<std::string, unsigned> seen;
  unsigned differing = 0;
  std::size_t smallest = 0;
  std::string told;
  for (unsigned seed = 1; seed <= cases; ++seed) {
    const RandomCase c = random_case(seed);
    const auto rules = rules_for(c.request, c.tree.levels(), false, c.profile);
    ASSERT_TRUE(rules) << rules.error().message << "\n" << c.words();
    const auto by_text = plain_rules(c.request, c.tree.levels(), c.profile);
    ASSERT_TRUE(same_rules(*rules, by_text)) << c.words();

    const auto real = place(c.tree, c.free, *rules, c.gang, c.leaf_rules());
    const auto plain = plain_place(c.tree, c.free, by_text, c.gang, c.leaf_rules());
    std::string real_words;
    if (real) {
      std::map<DomainIndex, std::int64_t> standing;
      for (const auto& [leaf, n] : real->pods) standing[leaf] += n;
      real_words = words_of(c.tree, real->leader, standing);
    } else {
      real_words = misfit_words(real.error());
    }
    const std::string plain_words = plain.misfit ? misfit_words(*plain.misfit) : words_of(c.tree, plain.leader, plain.pods);

    ++seen[plain.misfit ? "refused" : "placed"];
    if (plain.misfit && plain.misfit->uncovered) ++seen["uncovered"];
    if (plain.misfit && !plain.misfit->layers.empty()) ++seen["refused with layers"];
    if (plain.balanced) ++seen["balanced"];
    if (plain.balanced && plain.leader) ++seen["balanced with a leader"];
    if (plain.balanced && by_text.layers.front().size > 1) ++seen["balanced slices"];
    if (plain.balanced && by_text.layers.size() > 1) ++seen["balanced layers"];
    if (!plain.misfit && plain.leader) ++seen["placed with a leader"];
    if (!plain.misfit && plain.pods.size() > 2) ++seen["placed on three leaves and more"];
    if (!plain.misfit && by_text.layers.size() > 1) ++seen["placed with layers"];
    if (!plain.misfit && !c.scores.empty()) ++seen["placed by scores"];
    if (!plain.misfit && by_text.least_free) ++seen["placed by least free capacity"];
    if (plain.close_entropy) ++seen["close entropies"];

    if (real.has_value() == !plain.misfit && real_words == plain_words) continue;
    if (plain.close_entropy && c.huge) {
      // ATTENTION: left out. Beside counts of 2147483647 the share of a few pods is so small that entropies differ by less than 0.00001,
      // which the real placement, in fixed point, cannot tell apart, and the model can.
      ++seen["left out for close entropies"];
      continue;
    }
    ++differing;
    const std::size_t size = c.tree.leaves() * 1'000 + static_cast<std::size_t>(c.gang.count) * 10 + c.scores.size() + c.excluded.size() +
                             c.excluded_for_leader.size() + (c.gang.leader ? 5 : 0);
    if (!told.empty() && size >= smallest) continue;
    smallest = size;
    told = c.words() + "real:  " + real_words + "\nplain: " + plain_words + (plain.balanced ? " (balanced)" : "");
  }
  EXPECT_EQ(differing, 0U) << "The smallest case:\n" << told;
  std::string all;
  for (const auto& [what, n] : seen) all += what + " " + std::to_string(n) + "\n";
  if (wanted != nullptr) std::printf("%s", all.c_str());
  EXPECT_EQ(seen["uncovered"], 0U);
  EXPECT_LE(seen["left out for close entropies"], 2 + cases / 10'000);
  if (cases < 30'000) return;
  for (const char* const what : {"refused", "placed", "balanced", "placed with a leader", "placed with layers", "placed by scores",
                                 "placed by least free capacity", "placed on three leaves and more"})
    EXPECT_GT(seen[what], 1'000U) << what << "; all:\n" << all;
  for (const char* const what : {"balanced with a leader", "balanced slices", "balanced layers", "refused with layers"})
    EXPECT_GT(seen[what], 100U) << what << "; all:\n" << all;
}

// TAS-58 to TAS-60, TAS-69, TAS-71: with the profile Compact, too, every placement keeps the hard rules, and nobody is refused whom Kueue's
// algorithm places; the other way round nobody is placed who is refused there. Where nodes have scores both do the same.
TEST(PlainPlacement, CompactPlacementsKeepTheRulesOfTheSpecification) {
  std::map<std::string, unsigned> seen;
  for (unsigned seed = 100'001; seed <= 130'000; ++seed) {
    RandomCase c = random_case(seed);
    c.profile.balanced = false;
    const auto usual_rules = rules_for(c.request, c.tree.levels(), false, c.profile);
    c.profile.compact = true;
    const auto rules = rules_for(c.request, c.tree.levels(), false, c.profile);
    ASSERT_TRUE(rules && usual_rules) << c.words();
    std::vector<std::uint8_t> absent;
    if (seed % 5 == 0)
      for (DomainIndex leaf = 0; leaf < c.tree.leaves(); ++leaf) absent.push_back((leaf * 7 + seed) % 4 == 0 ? 1 : 0);
    LeafRules leaves = c.leaf_rules();
    leaves.absent = absent;
    const auto usual = place(c.tree, c.free, *usual_rules, c.gang, leaves);
    const auto compact = place(c.tree, c.free, *rules, c.gang, leaves);
    if (compact) {
      ASSERT_EQ(broken_rule(c.tree, c.free, *rules, c.gang, leaves, *compact), "") << c.words();
    }
    bool scored = false;
    for (DomainIndex leaf = 0; leaf < c.scores.size(); ++leaf)
      scored |= c.scores[leaf] != 0 && (c.excluded.empty() || c.excluded[leaf] == 0) && (absent.empty() || absent[leaf] == 0);
    if (usual && !compact) ADD_FAILURE() << "refused: " << c.words();
    if (compact && !usual) ++seen["placed by Compact alone"];
    ++seen[compact ? "placed" : "refused"];
    if (!compact || !usual) continue;
    if (scored) {
      ++seen["placed by scores"];
      ASSERT_EQ(compact->pods, usual->pods) << c.words();
    }
    if (compact->leader) ++seen["placed with a leader"];
    if (rules->layers.size() > 1) ++seen["placed with layers"];
    if (compact->pods != usual->pods || compact->leader != usual->leader) ++seen["placed elsewhere"];
  }
  std::string all;
  for (const auto& [what, n] : seen) all += what + " " + std::to_string(n) + "\n";
  if (std::getenv("HINDSIGHT_PLACEMENT_CASES") != nullptr) std::printf("%s", all.c_str());
  EXPECT_EQ(seen["placed by Compact alone"], 0U);
  for (const char* const what : {"placed", "refused", "placed by scores", "placed with a leader", "placed with layers", "placed elsewhere"})
    EXPECT_GT(seen[what], 1'000U) << what << "; all:\n" << all;
}

}  // namespace
}  // namespace hindsight::admission::topology::testing
