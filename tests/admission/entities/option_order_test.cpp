// Which Option is better than what another one was assigned (8691 CA-31, CA-53, CA-153).

#include <gtest/gtest.h>

#include "admission/options/option_plan.hpp"

namespace hindsight::admission {
namespace {

ResourceGroup group(const std::vector<std::string_view>& resources, const std::vector<std::string_view>& flavors) {
  ResourceGroup out;
  for (const auto r : resources) out.resources.emplace_back(r);
  for (const auto f : flavors) out.flavors.push_back({Symbol(f), {}});
  return out;
}

// CA-53, CA-153
TEST(OptionOrder, IsJudgedByTheWorstFlavorThatAnOptionMayBeAssigned) {
  QueueConfig queue;
  queue.groups = {group({"cpu"}, {"best", "good", "fair"})};
  EXPECT_TRUE(is_surely_better(queue, {0}, {1}));
  EXPECT_TRUE(is_surely_better(queue, {0, 1}, {2}));
  EXPECT_FALSE(is_surely_better(queue, {1}, {1})) << "as good is not better";
  EXPECT_FALSE(is_surely_better(queue, {0, 2}, {1})) << "it may be assigned fair, and the job would move in a circle";
  EXPECT_FALSE(is_surely_better(queue, {0, 1}, {1}));
}

// CA-31: flavors of a group that nothing is asked of decide nothing
TEST(OptionOrder, LooksAtTheGroupsThatAreAskedFor) {
  QueueConfig queue;
  queue.groups = {group({"cpu"}, {"best", "good"}), group({"gpu"}, {"large", "small"})};
  EXPECT_TRUE(is_surely_better(queue, {0, 2, 3}, {1})) << "no GPU was assigned";
  EXPECT_TRUE(is_surely_better(queue, {0, 3}, {1, 2})) << "the first group decides";
  EXPECT_FALSE(is_surely_better(queue, {0, 2, 3}, {0, 2}));
  EXPECT_TRUE(is_surely_better(queue, {0, 2}, {0, 3}));
}

}  // namespace
}  // namespace hindsight::admission
