#include "admission/quota/fair_share.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/admission/scheduling/world.hpp"

namespace hindsight::admission::testing {
namespace {

// BA-118, BA-119: S23 (i)
TEST(FairShare, IsThatOfTheDominantResource) {
  std::vector<QueueSpec> queues;
  for (const auto* name : {"x", "y", "z"}) {
    queues.emplace_back(name, "root");
    queues.back().quota({"cpu", "gpu"}, "f", {{cores(10), {}, {}}, {4, {}, {}}});
  }
  World w(queues);
  w.run(Work("w", "x").pods("main", 1, {{"cpu", cores(13)}, {"gpu", 6}}));
  EXPECT_DOUBLE_EQ(share_of(w.tree, w.tree.find_queue(Symbol("x"))).value(), 2 * 1000.0 / 12);
  EXPECT_EQ(w.tree.weighted_share(Symbol("x")), 167);
}

// BA-118: S23 (ii)
TEST(FairShare, DoesNotOffsetUnusedFlavors) {
  World w({QueueSpec("x", "root").cpu("od", 10).cpu("sp", 20), QueueSpec("y", "root").cpu("od", 10).cpu("sp", 20)});
  w.run(Work("a", "x").cpu(13), "od");
  w.run(Work("b", "x").cpu(15), "sp");
  EXPECT_EQ(share_of(w.tree, w.tree.find_queue(Symbol("x"))).value(), 50);
}

// BA-118: lendable is what the parent can ever have, limits of the parent included
TEST(FairShare, DividesByThePotentialOfTheParent) {
  World w({QueueSpec("x", "L").cpu("f", 2), QueueSpec("y", "R").cpu("f", 20)},
          {CohortSpec("L", "root").cpu("f", 3, 5), CohortSpec("R", "root")});
  w.run(Work("a", "x").cpu(4));
  EXPECT_EQ(share_of(w.tree, w.tree.find_queue(Symbol("x"))).value(), 200);  // 2 of 5 + 5
  EXPECT_EQ(w.tree.cohort_weighted_share(Symbol("L")), 0);
  EXPECT_EQ(w.tree.cohort_weighted_share(Symbol("root")), 0);
}

// BA-119
TEST(FairShare, ShowsAnInfiniteShareAsTheLargestNumber) {
  World w({QueueSpec("x", "root").cpu("f", 1).weight(0), QueueSpec("y", "root").cpu("f", 9)});
  EXPECT_EQ(w.tree.weighted_share(Symbol("x")), 0);
  w.run(Work("a", "x").cpu(2));
  EXPECT_EQ(w.tree.weighted_share(Symbol("x")), std::numeric_limits<std::int64_t>::max());
}

// BA-100
TEST(FairShare, OrdersInfiniteSharesAboveAllOthers) {
  const Share small{10, 0, true}, large{20, 0, true}, finite{1e9, 1, true}, idle{0, 0, false};
  EXPECT_TRUE(compare(small, finite) > 0);
  EXPECT_TRUE(compare(finite, small) < 0);
  EXPECT_TRUE(compare(small, large) < 0);
  EXPECT_TRUE(compare(small, small) == 0);
  EXPECT_TRUE(compare(idle, finite) < 0);
  EXPECT_TRUE(compare(Share{10, 2, true}, Share{6, 1, true}) < 0);
}

}  // namespace
}  // namespace hindsight::admission::testing
