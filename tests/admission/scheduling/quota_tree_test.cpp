#include "admission/quota/quota_tree.hpp"

#include <gtest/gtest.h>

#include "admission/quota/fair_share.hpp"
#include "tests/admission/scheduling/random_world.hpp"

namespace hindsight::admission::testing {
namespace {

const Symbol f("f"), cpu("cpu");

/// Cores of `queue` in flavor f.
struct View {
  QuotaTree& tree;
  std::int64_t available(std::string_view queue) { return tree.queue_figures(Symbol(queue), f, cpu).available / 1000; }
  std::int64_t potential(std::string_view queue) { return tree.queue_figures(Symbol(queue), f, cpu).potential / 1000; }
  std::int64_t subtree(std::string_view cohort) { return tree.cohort_figures(Symbol(cohort), f, cpu).subtree / 1000; }
  std::int64_t local(std::string_view cohort) { return tree.cohort_figures(Symbol(cohort), f, cpu).local / 1000; }
  std::int64_t used(std::string_view cohort) { return tree.cohort_figures(Symbol(cohort), f, cpu).usage / 1000; }
  void use(WorkloadId id, std::string_view queue, std::int64_t n) { tree.reserve(Symbol(queue), reservation(id, "f", "cpu", cores(n))); }
};

QuotaTree flat() {
  return build_tree(
      {QueueSpec("A", "root").cpu("f", 10, 5), QueueSpec("B", "root").cpu("f", 8, {}, 3), QueueSpec("C", "root").cpu("f", 6)});
}

QuotaTree hierarchy() {
  return build_tree(
      {QueueSpec("a", "left").cpu("f", 10), QueueSpec("b", "left").cpu("f", 4, {}, 0), QueueSpec("c", "right").cpu("f", 6, 3)},
      {CohortSpec("root").cpu("f", 10), CohortSpec("left", "root").cpu("f", 5, 4, 6), CohortSpec("right", "root").cpu("f", 0, {}, 2)});
}

// BA-29, BA-32, BA-33: W1, S1
TEST(QuotaTree, ComputesTheFlatCohortOfW1) {
  QuotaTree tree = flat();
  View v{tree};
  EXPECT_EQ(v.subtree("root"), 19);
  EXPECT_EQ(tree.queue_figures(Symbol("B"), f, cpu).local, cores(5));
  EXPECT_EQ(v.available("A"), 15);
  EXPECT_EQ(v.available("B"), 24);
  EXPECT_EQ(v.available("C"), 19);
  for (const auto* q : {"A", "B", "C"}) EXPECT_EQ(v.potential(q), v.available(q));

  v.use(1, "B", 7);
  EXPECT_EQ(v.used("root"), 2);
  EXPECT_EQ(v.available("A"), 15);
  EXPECT_EQ(v.available("B"), 17);
  EXPECT_EQ(v.available("C"), 17);

  v.use(2, "A", 12);
  EXPECT_EQ(v.used("root"), 14);
  EXPECT_EQ(v.available("A"), 3);
  EXPECT_EQ(v.available("B"), 5);
  EXPECT_EQ(v.available("C"), 5);
}

// BA-29, BA-30, BA-31, BA-34: W2, S2
TEST(QuotaTree, ComputesTheHierarchyOfW2) {
  QuotaTree tree = hierarchy();
  View v{tree};
  EXPECT_EQ(v.subtree("left"), 15);
  EXPECT_EQ(v.local("left"), 9);
  EXPECT_EQ(v.subtree("right"), 6);
  EXPECT_EQ(v.local("right"), 4);
  EXPECT_EQ(v.subtree("root"), 18);
  EXPECT_EQ(tree.cohort_figures(Symbol("left"), f, cpu).potential, cores(19));
  EXPECT_EQ(tree.cohort_figures(Symbol("right"), f, cpu).potential, cores(22));
  EXPECT_EQ(v.potential("a"), 19);
  EXPECT_EQ(v.potential("b"), 23);
  EXPECT_EQ(v.potential("c"), 9);

  v.use(1, "a", 12);
  EXPECT_EQ(v.used("left"), 12);
  EXPECT_EQ(v.used("root"), 3);
  EXPECT_EQ(v.available("a"), 7);
  EXPECT_EQ(v.available("b"), 11);
  EXPECT_EQ(v.available("c"), 9);

  v.use(2, "b", 5);
  EXPECT_EQ(v.used("left"), 13);
  EXPECT_EQ(v.used("root"), 4);
  EXPECT_EQ(v.available("a"), 6);
  EXPECT_EQ(v.available("b"), 6);
  EXPECT_EQ(v.available("c"), 9);

  v.use(3, "c", 8);
  EXPECT_EQ(v.used("right"), 8);
  EXPECT_EQ(v.used("root"), 8);
  EXPECT_EQ(v.available("a"), 6);
  EXPECT_EQ(v.available("b"), 6);
  EXPECT_EQ(v.available("c"), 1);

  EXPECT_TRUE(tree.release(2));
  EXPECT_EQ(v.used("root"), 7);
  EXPECT_EQ(v.used("left"), 12);
}

// BA-36: W3, S3
TEST(QuotaTree, GoesNegativeWhenQuotaShrinksBelowUsage) {
  QuotaTree before = build_tree({QueueSpec("A", "root").cpu("f", 10), QueueSpec("B", "root").cpu("f", 5)});
  View{before}.use(1, "A", 12);
  EXPECT_EQ(View{before}.available("B"), 3);

  QuotaTree tree = build_tree({QueueSpec("A", "root").cpu("f", 4), QueueSpec("B", "root").cpu("f", 5)});
  View v{tree};
  v.use(1, "A", 12);
  EXPECT_EQ(v.subtree("root"), 9);
  EXPECT_EQ(v.used("root"), 12);
  EXPECT_EQ(v.available("A"), -3);
  EXPECT_EQ(v.available("B"), -3);
  EXPECT_EQ(tree.table().offered(tree.find_queue(Symbol("B")), tree.find_cell(f, cpu)), 0);
}

// BA-38
TEST(QuotaTree, TreatsAMissingCohortAsOneWithoutQuota) {
  QuotaTree with =
      build_tree({QueueSpec("a", "root").cpu("f", 4), QueueSpec("b", "root").cpu("f", 2)}, {CohortSpec("root").cpu("f", 3, 1, 1)});
  EXPECT_EQ(View{with}.available("a"), 9);  // limits of a root have no effect
  QuotaTree without = build_tree({QueueSpec("a", "root").cpu("f", 4), QueueSpec("b", "root").cpu("f", 2)});
  EXPECT_EQ(View{without}.available("a"), 6);
  EXPECT_EQ(without.cohort_names(), std::vector{Symbol("root")});
}

// BA-37
TEST(QuotaTree, ChargesExistingUsageWhereAQueueMoves) {
  const auto in = [](std::string_view cohort) {
    QuotaTree tree = build_tree({QueueSpec("a", cohort).cpu("f", 4), QueueSpec("b", "L").cpu("f", 2), QueueSpec("c", "R").cpu("f", 2)},
                                {CohortSpec("L", "root"), CohortSpec("R", "root")});
    View{tree}.use(1, "a", 5);
    return std::pair(View{tree}.used("L"), View{tree}.used("R"));
  };
  EXPECT_EQ(in("L"), std::pair(std::int64_t{5}, std::int64_t{0}));
  EXPECT_EQ(in("R"), std::pair(std::int64_t{0}, std::int64_t{5}));
}

// BA-46
TEST(QuotaTree, ReportsWhatIsBorrowed) {
  QuotaTree tree = build_tree({QueueSpec("a", "root").cpu("f", 4), QueueSpec("b", "root").cpu("f", 4)});
  View{tree}.use(1, "a", 6);
  EXPECT_EQ(tree.queue_figures(Symbol("a"), f, cpu).borrowed, cores(2));
  EXPECT_EQ(tree.queue_figures(Symbol("b"), f, cpu).borrowed, 0);
  QuotaTree alone = build_tree({QueueSpec("a").cpu("f", 4)});
  View{alone}.use(1, "a", 6);
  EXPECT_EQ(alone.queue_figures(Symbol("a"), f, cpu).borrowed, 0);  // nobody to borrow from
}

// BA-41
TEST(QuotaTree, CountsAReplacedReservationAsARemoval) {
  QuotaTree tree = build_tree({QueueSpec("a", "root").cpu("f", 4), QueueSpec("b", "root").cpu("f", 4)});
  View v{tree};
  tree.set_generation(Symbol("a"), 7);
  v.use(1, "a", 3);
  EXPECT_EQ(tree.generation(Symbol("a")), 7U);
  v.use(1, "a", 2);
  EXPECT_EQ(tree.generation(Symbol("a")), 8U);
  EXPECT_EQ(v.used("root"), 2);
  v.use(1, "b", 1);  // in another queue now
  EXPECT_EQ(tree.generation(Symbol("a")), 9U);
  EXPECT_EQ(tree.reservations_of(Symbol("a")).size(), 0U);
  EXPECT_EQ(tree.reservations_of(Symbol("b")), std::vector<WorkloadId>{1});
  EXPECT_EQ(tree.find_reservation(1)->queue, tree.find_queue(Symbol("b")));
  EXPECT_TRUE(tree.release(1));
  EXPECT_FALSE(tree.release(1));
  EXPECT_EQ(tree.find_reservation(1), nullptr);
  EXPECT_EQ(v.used("root"), 0);
}

// A flavor taken out of the configuration is still charged to whoever holds it, and goes with the last of them.
TEST(QuotaTree, ChargesPairsOutsideTheConfiguration) {
  QuotaTree tree = build_tree({QueueSpec("a", "root").cpu("f", 4), QueueSpec("b", "root").cpu("g", 4)});
  const Symbol g("g"), gone("gone");
  View{tree}.use(1, "a", 1);
  const std::uint64_t before = tree.hash();
  tree.reserve(Symbol("a"), reservation(2, "g", "cpu", cores(2)));     // a column of another queue
  tree.reserve(Symbol("a"), reservation(3, "gone", "cpu", cores(3)));  // of none
  EXPECT_EQ(tree.usage(Symbol("a"), g, cpu), cores(2));
  EXPECT_EQ(tree.usage(Symbol("root"), g, cpu), cores(2));
  EXPECT_EQ(tree.queue_figures(Symbol("b"), g, cpu).available, cores(2));
  EXPECT_EQ(tree.usage(Symbol("root"), gone, cpu), cores(3));
  EXPECT_EQ(tree.usage(Symbol("root"), f, cpu), cores(1));
  EXPECT_TRUE(share_of(tree, tree.find_queue(Symbol("a"))).borrowing);
  tree.release(3);
  tree.release(2);
  tree.set_generation(Symbol("a"), 0);
  EXPECT_EQ(tree.hash(), before);
}

TEST(QuotaTree, AnswersZeroForWhatItDoesNotKnow) {
  QuotaTree tree = build_tree({QueueSpec("a", "root").cpu("f", 4)});
  EXPECT_EQ(tree.queue_figures(Symbol("x"), f, cpu).potential, 0);
  EXPECT_EQ(tree.queue_figures(Symbol("a"), f, Symbol("gpu")).potential, 0);
  EXPECT_EQ(tree.cohort_figures(Symbol("x"), f, cpu).subtree, 0);
  EXPECT_EQ(tree.weighted_share(Symbol("x")), 0);
  EXPECT_EQ(tree.generation(Symbol("x")), 0U);
  EXPECT_TRUE(tree.reservations_of(Symbol("x")).empty());
  EXPECT_THROW(tree.reserve(Symbol("x"), reservation(1, "f", "cpu", 1)), std::logic_error);
}

// BA-114
TEST(QuotaTree, KnowsThePathOfANode) {
  QuotaTree tree = hierarchy();
  EXPECT_EQ(tree.path(tree.find_queue(Symbol("c"))), "/root/right/c");
  EXPECT_EQ(tree.path(tree.find_cohort(Symbol("root"))), "/root");
  EXPECT_EQ(tree.queue_names(), (std::vector{Symbol("a"), Symbol("b"), Symbol("c")}));
  EXPECT_EQ(tree.cohort_names(), (std::vector{Symbol("root"), Symbol("left"), Symbol("right")}));
}

// BA-40: names decide, not the order in which objects come
TEST(QuotaTree, DoesNotDependOnTheOrderOfMembers) {
  const QueueSpec a = QueueSpec("a", "x").cpu("f", 1), b = QueueSpec("b", "y").cpu("g", 2), c = QueueSpec("c", "y").cpu("f", 3);
  const CohortSpec x("x", "root"), y("y", "root");
  QuotaTree one = build_tree({a, b, c}, {x, y});
  QuotaTree other = build_tree({c, b, a}, {y, x});
  EXPECT_EQ(one.queue_names(), other.queue_names());
  View{one}.use(1, "a", 1);
  View{other}.use(1, "a", 1);
  EXPECT_EQ(one.hash(), other.hash());
}

TEST(FlatIndex, EqualsAMap) {
  Dice dice(5);
  FlatIndex index;
  std::map<std::uint64_t, std::uint32_t> map;
  EXPECT_EQ(index.find(1), FlatIndex::none);
  index.erase(1);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t key = dice.below(300) * (dice.one_in(2) ? 1ULL : 0x1'0000'0000ULL);
    if (dice.one_in(3)) {
      index.erase(key);
      map.erase(key);
    } else {
      const std::uint32_t value = dice.below(1000);
      index.set(key, value);
      map[key] = value;
    }
    const std::uint64_t asked = dice.below(300);
    const auto known = map.find(asked);
    ASSERT_EQ(index.find(asked), known == map.end() ? FlatIndex::none : known->second);
  }
  for (const auto& [key, value] : map) ASSERT_EQ(index.find(key), value);
}

}  // namespace
}  // namespace hindsight::admission::testing
