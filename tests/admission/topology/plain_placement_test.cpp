// The real placement against a plain model of it that was written from the specification alone (2724 §3), and that model against the worked
// examples of §5.

#include "tests/admission/topology/plain_placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>

#include "tests/admission/topology/fleet.hpp"

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

const Symbol gpu("example.com/gpu");

/// A tree, what nodes say, and a request, made of a seed.
struct RandomCase {
  unsigned seed = 0;
  TopologyTree tree;
  Capacity free;
  TopologyRequest request;
  PlacementProfile profile;
  Gang gang;
  std::vector<std::uint8_t> excluded, excluded_for_leader;
  std::vector<std::int64_t> scores;
  bool huge = false;  ///< Leaves may have room for more pods than a count can tell.

  [[nodiscard]] LeafRules leaf_rules() const { return {excluded, excluded_for_leader, scores}; }
  /// For a person to read.
  [[nodiscard]] std::string words() const;
};

class CaseMaker {
 public:
  explicit CaseMaker(unsigned seed) : random_(seed) { made_.seed = seed; }

  RandomCase make() {
    for_balance_ = one_in(6);
    choose_pods();
    build_tree();
    choose_request();
    choose_count();
    choose_leaf_rules();
    return std::move(made_);
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool one_in(int n) { return below(n) == 0; }

  void choose_pods() {
    pod_cpu_ = one_in(20) ? 0 : one_in(3) ? 500 : 1'000;
    with_gpu_ = one_in(4);
    few_slots_ = one_in(4) || pod_cpu_ == 0;
    made_.gang.request = request_of(pod_cpu_, with_gpu_ ? 1 : 0);
    if (for_balance_ || one_in(3)) {
      const Amount amounts[] = {0, 250, 500, 1'000, 1'500, 2'500};
      made_.gang.leader = request_of(amounts[below(6)], with_gpu_ && one_in(2) ? 1 : 0);
    }
  }
  static PodRequest request_of(Amount milli, Amount gpus) {
    PodRequest out{{cpu, milli}};
    if (gpus > 0) out.emplace_back(gpu, gpus);
    out.emplace_back(pods, 1);
    return out;
  }

  void build_tree() {
    const char* const labels[] = {"zone", "block", "rack", "switch"};
    const int count = for_balance_ ? 2 + below(2) : std::min(1 + below(6), 4);
    for (int i = 0; i < count; ++i) levels_.emplace_back(labels[i]);
    if (!one_in(3)) levels_.back() = host;
    small_ = one_in(2);
    most_leaves_ = one_in(200) ? 0 : small_ ? 1 + below(5) : 1 + below(40);
    for (int i = 0, n = 1 + below(4); i < n; ++i) palette_.push_back(below(13));
    varied_ = one_in(2);
    made_.huge = one_in(50);
    grow({});
    made_.tree = TopologyTree::build(levels_, nodes_);
    made_.free = made_.tree.capacity();
    for (DomainIndex leaf = 0; leaf < made_.tree.leaves(); ++leaf) {
      if (one_in(12)) made_.free.add(cpu, leaf, -250 * below(9));
    }
  }
  void grow(const std::vector<std::string>& path) {
    if (path.size() == levels_.size()) {
      TopologyTree::Node node;
      node.name = "node-" + std::to_string(nodes_.size());
      node.values = path;
      const Amount of = std::max<Amount>(pod_cpu_, 500);
      const int n = varied_ ? below(13) : palette_[static_cast<std::size_t>(below(static_cast<int>(palette_.size())))];
      node.allocatable = {{cpu, n * of + (one_in(4) ? 250 * below(5) : 0)}, {pods, few_slots_ ? below(13) : 110}};
      if (with_gpu_) node.allocatable.emplace_back(gpu, below(13));
      if (made_.huge && one_in(3)) {
        for (auto& [resource, amount] : node.allocatable) amount = unlimited / 100;
      }
      nodes_.push_back(node);
      if (levels_.back() != host && one_in(10)) {  // a leaf of two nodes
        node.name += "-2";
        nodes_.push_back(node);
      }
      return;
    }
    std::vector<std::string> names{"a", "b", "a-1", "a.1", "A", "B2", "a10", "a2", "b_1", "Z"};
    std::shuffle(names.begin(), names.end(), random_);
    const bool lowest = path.size() + 1 == levels_.size();
    const int children = lowest && !small_ ? 1 + below(8) : 1 + below(4);
    for (int i = 0; i < children && static_cast<int>(nodes_.size()) < most_leaves_; ++i) {
      auto below_it = path;
      below_it.push_back(names[static_cast<std::size_t>(i)]);
      if (lowest && levels_.back() == host) below_it.back() += "h" + std::to_string(nodes_.size());
      grow(below_it);
    }
  }

  void choose_request() {
    auto& request = made_.request;
    const int count = static_cast<int>(levels_.size());
    const int mode = for_balance_ ? 3 : below(10);
    int first = for_balance_ ? below(count - 1) : std::min(below(count), below(count));
    int layers = one_in(2) ? 0 : 1 + below(3);
    if (mode < 3) {
      request.required = levels_[static_cast<std::size_t>(first)];
    } else if (mode < 8) {
      request.preferred = levels_[static_cast<std::size_t>(first)];
    } else if (mode == 8) {
      request.unconstrained = true;
      layers = 0;
    } else {
      first = 0;
      layers = std::max(layers, 1);
    }
    std::vector<std::size_t> of;
    for (int i = first; i < count; ++i) of.push_back(static_cast<std::size_t>(i));
    std::shuffle(of.begin(), of.end(), random_);
    of.resize(static_cast<std::size_t>(std::min(layers, count - first)));
    std::sort(of.begin(), of.end());
    int size = 1;
    for (std::size_t i = of.size(); i-- > 0;) {
      size *= 1 + below(3);
      request.slices.insert(request.slices.begin(), {levels_[of[i]], size});
    }
    outer_size_ = size;
    made_.profile.mixed = !one_in(4);
    made_.profile.balanced = for_balance_ || one_in(2);
  }

  /// About as many as a domain of some level holds.
  void choose_count() {
    int room = 4;
    if (made_.tree.leaves() > 0) {
      const auto level = static_cast<std::size_t>(below(static_cast<int>(levels_.size())));
      const auto domain = static_cast<DomainIndex>(below(static_cast<int>(made_.tree.size(level))));
      room = 0;
      for (DomainIndex leaf = 0; leaf < made_.tree.leaves(); ++leaf) {
        if (made_.tree.above(leaf, level) != domain) continue;
        Amount n = made_.free.at(pods, leaf);
        if (pod_cpu_ > 0) n = std::min(n, made_.free.at(cpu, leaf) / pod_cpu_);
        if (with_gpu_) n = std::min(n, made_.free.at(gpu, leaf));
        room += static_cast<int>(std::clamp<Amount>(n, 0, 50));
      }
    }
    int slices = room / outer_size_;
    slices = one_in(2) ? slices - 1 + below(3) : 1 + below(slices + 2);
    made_.gang.count = std::max(slices, 1) * outer_size_;
  }

  void choose_leaf_rules() {
    const auto fill = [&](auto& list, auto value) {
      for (DomainIndex leaf = 0; leaf < made_.tree.leaves(); ++leaf) list.push_back(value());
    };
    const int sparse = 2 + below(6);
    if (one_in(4)) fill(made_.excluded, [&] { return static_cast<std::uint8_t>(one_in(sparse)); });
    if (one_in(4)) fill(made_.excluded_for_leader, [&] { return static_cast<std::uint8_t>(one_in(sparse)); });
    const int scale = one_in(3) ? 1 : 1 + below(4);
    if (one_in(4)) fill(made_.scores, [&] { return static_cast<std::int64_t>(one_in(2) ? 0 : 10 * below(scale)); });
  }

  std::mt19937 random_;
  RandomCase made_;
  std::vector<std::string> levels_;
  std::vector<TopologyTree::Node> nodes_;
  std::vector<int> palette_;
  Amount pod_cpu_ = 0;
  bool for_balance_ = false;  ///< A leader, balanced placement, and a level below the preferred one.
  bool with_gpu_ = false, few_slots_ = false, small_ = false, varied_ = false;
  int most_leaves_ = 0, outer_size_ = 1;
};

std::string words_of(const PodRequest& request) {
  std::string out;
  for (const auto& [resource, amount] : request) out += " " + std::string(resource.text()) + "=" + std::to_string(amount);
  return out;
}

std::string RandomCase::words() const {
  std::ostringstream out;
  out << "seed " << seed << "\nlevels:";
  for (const auto& level : tree.levels()) out << " " << level;
  for (DomainIndex leaf = 0; leaf < tree.leaves(); ++leaf) {
    out << "\n  ";
    for (std::size_t level = 0; level < tree.level_count(); ++level)
      out << (level > 0 ? "/" : "") << tree.value(level, tree.above(leaf, level));
    out << ": free";
    for (const Symbol& resource : free.resources()) out << " " << resource.text() << "=" << free.at(resource, leaf);
    if (!excluded.empty() && excluded[leaf] != 0) out << ", excluded for pods";
    if (!excluded_for_leader.empty() && excluded_for_leader[leaf] != 0) out << ", excluded for the leader";
    if (!scores.empty()) out << ", score " << scores[leaf];
  }
  out << "\n" << gang.count << " pods of" << words_of(gang.request);
  if (gang.leader) out << ", a leader of" << words_of(*gang.leader);
  if (request.required) out << ", required " << *request.required;
  if (request.preferred) out << ", preferred " << *request.preferred;
  if (request.unconstrained) out << ", unconstrained";
  for (const auto& layer : request.slices) out << ", groups of " << *layer.size << " on " << layer.level;
  out << "; mixed " << profile.mixed << ", balanced " << profile.balanced << "\n";
  return out.str();
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
    const RandomCase c = CaseMaker(seed).make();
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

}  // namespace
}  // namespace hindsight::admission::topology::testing
