// What domains offer: in whatever parts the leaves are counted, and whether all are counted or only those that changed.

#include "admission/topology/offers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "admission/topology/free_leaves.hpp"
#include "tests/admission/topology/fleet.hpp"
#include "tests/admission/topology/random_case.hpp"

namespace hindsight::admission::topology::testing {
namespace {

std::string words_of(const Offers& offers) {
  std::string out = std::to_string(offers.present()) + " leaves";
  for (const std::int32_t n : offers.lacking()) out += " " + std::to_string(n);
  for (const auto& level : offers.all()) {
    out += "\n";
    for (const DomainOffer& d : level)
      for (const std::int64_t n : {std::int64_t{d.domain}, std::int64_t{d.pods}, std::int64_t{d.slices}, std::int64_t{d.pods_l},
                                   std::int64_t{d.slices_l}, std::int64_t{d.lead}, d.score})
        out += std::to_string(n) + " ";
  }
  return out;
}

std::string words_of(const tl::expected<Placement, Misfit>& placed) {
  std::string out = placed ? "placed" : "refused " + std::to_string(placed.error().fit);
  if (!placed) return out;
  if (placed->leader) out += " leader " + std::to_string(*placed->leader);
  for (const auto& [leaf, n] : placed->pods) out += " " + std::to_string(leaf) + ":" + std::to_string(n);
  return out;
}

class Changing {
 public:
  explicit Changing(unsigned seed) : case_(random_case(seed)), random_(seed) {}

  int below(std::size_t n) { return static_cast<int>(random_() % n); }
  [[nodiscard]] DomainIndex leaves() const { return static_cast<DomainIndex>(case_.tree.leaves()); }
  const RandomCase& operator*() const { return case_; }

  /// Something about some leaves; returns which.
  std::vector<DomainIndex> change(Capacity& free, std::vector<std::uint8_t>& excluded, std::vector<std::uint8_t>& absent) {
    std::vector<DomainIndex> out;
    for (int i = 0, n = 1 + below(4); i < n && leaves() > 0; ++i) {
      const auto leaf = static_cast<DomainIndex>(below(leaves()));
      out.push_back(leaf);
      switch (below(4)) {
        case 0:
          absent[leaf] ^= 1U;
          break;
        case 1:
          if (!excluded.empty()) excluded[leaf] ^= 1U;
          break;
        default:
          free.change(cpu, leaf, 250 * (below(9) - 4));
          break;
      }
    }
    return out;
  }

 private:
  RandomCase case_;
  std::mt19937 random_;
};

// TAS-58 to TAS-64: the cut of a tree and the order of answers do not show, in the counts or in where pods are placed.
TEST(Offers, AreTheSameForOneTwoAndFiftyPartsInAnyOrder) {
  for (unsigned seed = 1; seed <= 1'000; ++seed) {
    Changing c(seed);
    const auto rules = *rules_for((*c).request, (*c).tree.levels(), false, (*c).profile);
    const Question question = question_of((*c).tree, rules, (*c).gang);
    Offers whole((*c).tree, question);
    whole.count_all((*c).tree, (*c).free, (*c).leaf_rules());
    for (const DomainIndex parts : {1U, 2U, 50U}) {
      std::vector<std::pair<DomainIndex, DomainIndex>> cut;
      for (DomainIndex p = 0; p < parts; ++p) cut.emplace_back(c.leaves() * p / parts, c.leaves() * (p + 1) / parts);
      for (std::size_t i = cut.size(); i > 1; --i) std::swap(cut[i - 1], cut[static_cast<std::size_t>(c.below(i))]);
      Offers in_parts((*c).tree, question);
      in_parts.begin(!(*c).scores.empty());
      for (const auto& [first, last] : cut) in_parts.add(in_parts.count((*c).free, (*c).leaf_rules(), first, last));
      in_parts.sum_up((*c).tree);
      ASSERT_EQ(words_of(in_parts), words_of(whole)) << parts << " parts of\n" << (*c).words();
      ASSERT_EQ(words_of(place((*c).tree, in_parts, rules, (*c).gang)),
                words_of(place((*c).tree, (*c).free, rules, (*c).gang, (*c).leaf_rules())));
    }
  }
}

// What follows changes comes to what is counted anew: amounts, nodes that come and go, and those where pods may not stand.
TEST(Offers, FollowWhatChanges) {
  for (unsigned seed = 1; seed <= 1'000; ++seed) {
    Changing c(seed);
    const auto rules = *rules_for((*c).request, (*c).tree.levels(), false, (*c).profile);
    const Question question = question_of((*c).tree, rules, (*c).gang);
    Capacity free = (*c).free;
    auto excluded = (*c).excluded;
    std::vector<std::uint8_t> absent(c.leaves());
    const auto now = [&] { return LeafRules{excluded, (*c).excluded_for_leader, (*c).scores, absent}; };
    Offers following((*c).tree, question), anew((*c).tree, question);
    following.count_all((*c).tree, free, now());
    for (int step = 0; step < 5; ++step) {
      const auto changed = c.change(free, excluded, absent);
      following.follow((*c).tree, free, now(), changed);
      anew.count_all((*c).tree, free, now());
      ASSERT_EQ(words_of(following), words_of(anew)) << (*c).words();
    }
  }
}

// Many leaves are counted in blocks; each offers what there is, also where much too much is taken of it, and where requests are as large as
// amounts can be.
TEST(Offers, OfManyLeavesAreThoseOfEach) {
  const Symbol gpu("nvidia.com/gpu");
  constexpr Amount most = std::numeric_limits<Amount>::max();
  constexpr DomainIndex leaves = 1'300;
  std::vector<TopologyTree::Node> nodes;
  for (DomainIndex i = 0; i < leaves; ++i) {
    const std::string name = "host-" + std::to_string(10'000 + i);
    nodes.push_back({name, {"rack-" + std::to_string(10'000 + i / 20), name}, {{cpu, 0}, {gpu, 0}, {pods, 0}}});
  }
  const auto tree = TopologyTree::build({"rack", "kubernetes.io/hostname"}, std::move(nodes));
  std::mt19937_64 random(7);
  const auto some = [&]() -> Amount {
    const auto n = static_cast<Amount>(random() % 100'000);
    const std::array<Amount, 8> values{0, n, n, n, -n, most, -most, most / 2};
    return values[random() % values.size()];
  };
  for (int round = 0; round < 200; ++round) {
    Capacity free(leaves);
    for (DomainIndex leaf = 0; leaf < leaves; ++leaf) {
      free.add(cpu, leaf, some());
      if (round % 3 != 0) free.add(gpu, leaf, static_cast<Amount>(random() % 9));
      free.add(pods, leaf, round % 5 == 0 ? some() : 110);
    }
    const std::array<Amount, 6> sizes{1, 250, 4'000, most / unlimited_pods, most / unlimited_pods + 1, most};
    const PodRequest request{{cpu, sizes[random() % sizes.size()]}, {gpu, static_cast<Amount>(random() % 3)}, {pods, 1}};
    Offers offers(tree, {request, {}, 1, 1, {0, 0}});
    offers.count_all(tree, free, {});
    std::optional<DomainIndex> tightest;
    const auto need = static_cast<std::int32_t>(1 + random() % 20);
    for (DomainIndex leaf = 0; leaf < leaves; ++leaf) {
      const std::int32_t room = pods_on(free, request, leaf).first;
      ASSERT_EQ(offers.at(1, leaf).pods, room) << "round " << round << ", leaf " << leaf;
      if (room >= need && (!tightest || room < offers.at(1, *tightest).pods)) tightest = leaf;
    }
    ASSERT_EQ(offers.tightest_leaf(need), tightest) << "round " << round;
  }
}

// Whoever asks several questions by turns, while amounts change, more often than questions are kept and changes remembered, gets what is
// true.
TEST(FreeLeaves, AnswerWhatIsTrueNow) {
  std::size_t again = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    Changing c(seed);
    if (c.leaves() == 0) continue;
    std::vector<PlacementRules> rules;
    std::vector<Gang> gangs;
    for (int i = 0; i < 4; ++i) {
      gangs.push_back((*c).gang);
      gangs.back().request.front().second += 250 * i;
      rules.push_back(*rules_for((*c).request, (*c).tree.levels(), false, (*c).profile));
    }
    auto workers = std::make_shared<LeafFilter>();
    workers->excluded = (*c).excluded;
    workers->scores = (*c).scores;
    const auto leader = std::make_shared<LeafFilter>();
    leader->excluded = (*c).excluded_for_leader;
    const std::vector<std::uint8_t> absent(c.leaves());
    FreeLeaves free((*c).free);
    for (int step = 0; step < 30; ++step) {
      for (int i = 0, n = c.below(step % 10 == 9 ? 200 : 20); i < n; ++i)
        free.change(cpu, static_cast<DomainIndex>(c.below(c.leaves())), 250 * (c.below(9) - 4));
      const auto which = static_cast<std::size_t>(c.below(gangs.size()));
      const Offers& offers = free.offers((*c).tree, question_of((*c).tree, rules[which], gangs[which]), workers, leader, absent);
      const LeafRules leaves{workers->excluded, leader->excluded, workers->scores, absent};
      ASSERT_EQ(words_of(place((*c).tree, offers, rules[which], gangs[which])),
                words_of(place((*c).tree, free.capacity(), rules[which], gangs[which], leaves)))
          << (*c).words();
      ++again;
    }
    FreeLeaves copy(free);  // what is tried on a copy is not seen
    copy.change(cpu, 0, -1'000'000);
    const Question question = question_of((*c).tree, rules[0], gangs[0]);
    Offers anew((*c).tree, question);
    anew.count_all((*c).tree, free.capacity(), {workers->excluded, leader->excluded, workers->scores, absent});
    ASSERT_EQ(words_of(free.offers((*c).tree, question, workers, leader, absent)), words_of(anew));
  }
  EXPECT_GT(again, 5'000U);
}

// The questions that are kept are bounded, and the one that was not asked for longest goes first.
TEST(FreeLeaves, ForgetQuestionsThatNobodyAsks) {
  Fleet f("b/r1/x1:8 b/r1/x2:8 b/r2/x3:4");
  FreeLeaves free(f.free);
  const auto nobody = std::make_shared<const LeafFilter>();
  const auto ask = [&](Amount milli) {
    const auto rules = *rules_for(required("rack"), f.tree.levels(), false, {});
    const Gang gang = Fleet::gang(1, milli);
    return free.offers(f.tree, question_of(f.tree, rules, gang), nobody, nobody, {}).at(0, 0).pods;
  };
  for (Amount milli = 1; milli <= 1'000; ++milli) EXPECT_EQ(ask(1'000), 20) << milli << ask(milli);
  EXPECT_EQ(ask(2'000), 10);
  free.change(cpu, 0, -8'000);
  EXPECT_EQ(ask(2'000), 6);
  EXPECT_EQ(ask(1'000), 12);
}

}  // namespace
}  // namespace hindsight::admission::topology::testing
