#include "routing/trees.hpp"

#include <gtest/gtest.h>

#include "tests/routing/facts.hpp"

namespace hindsight::routing::testing {
namespace {

class TreesTest : public ::testing::Test {
 protected:
  Facts facts;
  Trees trees;
};

TEST_F(TreesTest, AQueueWithoutCohortIsATreeOfItsOwn) {
  trees.put(facts.queue("solo"));
  EXPECT_EQ(trees.of_queue("solo"), "queue/solo");
  EXPECT_EQ(trees.of_queue("other"), "") << "there is none";
}

TEST_F(TreesTest, ATreeIsNamedAfterItsTopmostCohortWhichNeedNotExist) {
  trees.put(facts.queue("a", "left"));
  trees.put(facts.queue("b", "right"));
  EXPECT_EQ(trees.of_queue("a"), "cohort/left");
  trees.put(facts.cohort("left", "all"));
  trees.put(facts.cohort("right", "all"));
  EXPECT_EQ(trees.of_queue("a"), "cohort/all");
  EXPECT_EQ(trees.of_queue("b"), "cohort/all");
  EXPECT_EQ(trees.of_cohort("left"), "cohort/all");
  trees.erase(ObjectKind::cohort, "left");
  EXPECT_EQ(trees.of_queue("a"), "cohort/left") << "the tree has split";
}

TEST_F(TreesTest, AQueueAndACohortOfOneNameAreTwoTrees) {
  trees.put(facts.queue("x"));
  trees.put(facts.queue("y", "x"));
  EXPECT_NE(trees.of_queue("x"), trees.of_queue("y"));
}

TEST_F(TreesTest, ACircleOfCohortsIsOneTreeWhereverOneBegins) {
  trees.put(facts.cohort("c", "b"));
  trees.put(facts.cohort("b", "c"));
  trees.put(facts.queue("below", "b"));
  trees.put(facts.queue("beside", "c"));
  EXPECT_EQ(trees.of_queue("below"), "cohort/b");
  EXPECT_EQ(trees.of_queue("beside"), "cohort/b");
}

// A tree and others that share a flavor with a topology are decided in one order; a flavor without one joins nothing.
TEST_F(TreesTest, AFlavorWithATopologyJoinsTheTreesThatUseIt) {
  trees.put(facts.queue("a", "left", "tas"));
  trees.put(facts.queue("b", "right", "tas"));
  trees.put(facts.flavor("tas"));
  EXPECT_EQ(trees.of_queue("b"), "cohort/right");
  trees.put(facts.flavor("tas", "racks"));
  EXPECT_EQ(trees.of_queue("a"), "cohort/left");
  EXPECT_EQ(trees.of_queue("b"), "cohort/left") << "the first name";
  trees.put(facts.flavor("tas"));
  EXPECT_EQ(trees.of_queue("b"), "cohort/right") << "no topology any more";
}

TEST_F(TreesTest, FlavorsThatCanSelectACommonNodeJoinTheirTreesToo) {
  trees.put(facts.queue("a", {}, "east"));
  trees.put(facts.queue("b", {}, "west"));
  trees.put(facts.queue("c", {}, "any"));
  trees.put(facts.flavor("east", "racks", "zone", "east"));
  trees.put(facts.flavor("west", "racks", "zone", "west"));
  EXPECT_EQ(trees.of_queue("b"), "queue/b") << "a label tells their nodes apart";
  trees.put(facts.flavor("any", "racks"));
  for (const char* queue : {"a", "b", "c"}) EXPECT_EQ(trees.of_queue(queue), "queue/a") << queue;
}

TEST_F(TreesTest, ANodeBelongsToTheTreeWhoseFlavorsSelectIt) {
  trees.put(facts.queue("a", {}, "east"));
  trees.put(facts.queue("b", {}, "west"));
  trees.put(facts.flavor("east", "racks", "zone", "east"));
  trees.put(facts.flavor("west", "racks", "zone", "west"));
  trees.put(facts.flavor("unused", "racks"));
  trees.put(facts.flavor("plain", {}, "zone", "north"));
  const auto west = facts.node("n", "zone", "west");
  EXPECT_EQ(trees.that_selects(west), "queue/b");
  EXPECT_EQ(trees.that_selects(facts.node("n", "zone", "north")), "") << "its flavor has no topology";
  EXPECT_EQ(trees.that_selects(facts.node("n", "rack", "west")), "");
  const auto selections = trees.selections();
  trees.put(facts.queue("c", {}, "plain"));
  EXPECT_EQ(trees.selections(), selections) << "that concerns no node";
  trees.put(facts.queue("b", "right", "west"));
  EXPECT_NE(trees.selections(), selections);
  EXPECT_EQ(trees.that_selects(west), "cohort/right");
}

TEST_F(TreesTest, SaysWhetherNamesMayHaveChanged) {
  trees.put(facts.queue("a", "left"));
  EXPECT_TRUE(trees.take_changes());
  trees.put(facts.queue("a", "left"));
  EXPECT_FALSE(trees.take_changes()) << "seen again as it was";
  trees.erase(ObjectKind::cohort, "left");
  EXPECT_FALSE(trees.take_changes()) << "it was never seen";
}

TEST_F(TreesTest, KnowsWhichFlavorsAreUsedByAnyQueue) {
  trees.put(facts.queue("a", {}, "spot"));
  EXPECT_TRUE(trees.in_use(ObjectKind::resource_flavor, "spot"));
  EXPECT_FALSE(trees.in_use(ObjectKind::resource_flavor, "default"));
  EXPECT_FALSE(trees.in_use(ObjectKind::admission_check, "spot"));
}

}  // namespace
}  // namespace hindsight::routing::testing
