// Random trees against a slow recomputation of every value.

#include <gtest/gtest.h>

#include "tests/admission/scheduling/random_world.hpp"
#include "tests/admission/scheduling/slow_quota.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::admission::testing {
namespace {

using Usage = std::map<std::pair<std::string, std::string>, std::map<std::string, Amount>>;  // (flavor, resource) → queue → amount

void expect_equal(const QuotaTree& tree, const RandomTree& spec, SlowQuota& slow, const Usage& usage) {
  for (const auto& f : spec.flavors) {
    for (const auto& r : spec.resources) {
      const Symbol flavor(f), resource(r);
      if (tree.find_cell(flavor, resource) == no_cell) continue;
      slow.about(flavor, resource);
      slow.queue_usage.clear();
      for (const auto& q : spec.queues) slow.queue_usage["queue " + std::string(q.config.name.text())] = 0;
      if (const auto used = usage.find({f, r}); used != usage.end())
        for (const auto& [queue, amount] : used->second) slow.queue_usage["queue " + queue] = amount;
      const auto check = [&](const std::string& node, const QuotaTree::Figures& got) {
        EXPECT_EQ(got.usage, slow.usage(node)) << node;
        EXPECT_EQ(got.subtree, slow.subtree(node)) << node;
        EXPECT_EQ(got.local, slow.local(node)) << node;
        EXPECT_EQ(got.available, slow.available(node)) << node;
        EXPECT_EQ(got.potential, slow.potential(node)) << node;
      };
      for (const Symbol& q : tree.queue_names()) check("queue " + std::string(q.text()), tree.queue_figures(q, flavor, resource));
      for (const Symbol& c : tree.cohort_names()) check("cohort " + std::string(c.text()), tree.cohort_figures(c, flavor, resource));
    }
  }
}

void play(std::uint32_t seed, bool may_be_unlimited) {
  Dice dice(seed);
  const RandomTree spec = random_tree(dice, may_be_unlimited);
  QuotaTree tree = build_tree(spec.queues, spec.cohorts);
  SlowQuota slow(spec.queues, spec.cohorts);
  Usage usage;
  expect_equal(tree, spec, slow, usage);

  std::vector<std::pair<std::string, Reservation>> held;
  const auto account = [&](const std::string& queue) {
    for (auto& [pair, queues] : usage) queues.erase(queue);
    for (const auto& [q, r] : held)
      if (q == queue)
        for (const auto& c : r.charges) {
          Amount& sum = usage[{std::string(c.flavor.text()), std::string(c.resource.text())}][queue];
          sum = add(sum, c.amount);
        }
  };
  WorkloadId next = 1;
  for (int step = 0; step < 14; ++step) {
    if (held.empty() || !dice.one_in(3)) {
      const QueueConfig& queue = dice.of(spec.queues).config;
      const std::int64_t most = may_be_unlimited && dice.one_in(20) ? unlimited : 9;
      Reservation r = random_reservation(dice, next++, queue, most == unlimited ? 0 : most);
      if (most == unlimited && !r.charges.empty()) r.charges.front().amount = unlimited;
      held.emplace_back(queue.name.text(), r);
      const std::uint64_t generation = tree.generation(queue.name);
      tree.reserve(queue.name, r);
      EXPECT_EQ(tree.generation(queue.name), generation);  // adding increases nothing but usage
      account(held.back().first);
    } else {
      const std::uint32_t i = dice.below(static_cast<std::uint32_t>(held.size()));
      const std::string queue = held[i].first;
      const std::uint64_t generation = tree.generation(Symbol(queue));
      EXPECT_TRUE(tree.release(held[i].second.workload->id));
      EXPECT_EQ(tree.generation(Symbol(queue)), generation + 1);
      held.erase(held.begin() + i);
      account(queue);
    }
    // A trial of anything leaves nothing behind.
    const QuotaTable::Mark mark = tree.table().mark();
    const std::uint64_t before = tree.hash();
    for (int trial = 0; trial < 4 && !held.empty(); ++trial) {
      const auto* entry = tree.find_reservation(dice.of(held).second.workload->id);
      dice.one_in(2) ? tree.table().add(entry->queue, entry->cells) : tree.table().remove(entry->queue, entry->cells);
    }
    tree.table().rollback(mark);
    EXPECT_EQ(tree.hash(), before);
    if (dice.one_in(4)) expect_equal(tree, spec, slow, usage);
    if (::testing::Test::HasFailure()) FAIL() << "seed " << seed << " step " << step;
  }
  // Everything taken away again, in any order: as if it had never been (BA-30).
  dice.shuffle(held);
  for (const auto& [queue, r] : held) tree.release(r.workload->id);
  for (const auto& [queue, r] : held) EXPECT_FALSE(tree.release(r.workload->id));
  expect_equal(tree, spec, slow, {});
  if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
}

// BA-29, BA-30, BA-31, BA-32, BA-33, BA-34, BA-40
TEST(QuotaProperty, EqualsTheSlowRecomputationInAnyInterleaving) {
  for (std::uint32_t seed = 1; seed <= as_much_as<std::uint32_t>(20'000, 2'000) && !HasFailure(); ++seed) play(seed, false);
}

// BA-35
TEST(QuotaProperty, HoldsWithUnlimitedQuotas) {
  for (std::uint32_t seed = 100'001; seed <= 100'000 + as_much_as<std::uint32_t>(8'000, 800) && !HasFailure(); ++seed) play(seed, true);
}

}  // namespace
}  // namespace hindsight::admission::testing
