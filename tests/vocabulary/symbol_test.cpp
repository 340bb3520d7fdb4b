#include "vocabulary/symbol.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace hindsight {
namespace {

TEST(Symbol, is_equal_exactly_when_its_text_is) {
  EXPECT_EQ(Symbol("alpha"), Symbol(std::string("al") + "pha"));
  EXPECT_NE(Symbol("alpha"), Symbol("Alpha"));
  EXPECT_EQ(Symbol("alpha").text(), "alpha");
  EXPECT_TRUE(Symbol("").empty());
  EXPECT_EQ(Symbol(), Symbol(""));
}

TEST(Symbol, orders_by_text_not_by_first_use) {
  std::vector<Symbol> list{Symbol("zeta-1"), Symbol("beta-1"), Symbol("alpha-1")};
  std::sort(list.begin(), list.end(), ByText{});
  EXPECT_EQ(list[0].text(), "alpha-1");
  EXPECT_EQ(list[2].text(), "zeta-1");
}

TEST(Symbol, is_the_same_in_every_thread) {
  constexpr int names = 5000;  // more than one block
  std::vector<std::vector<Symbol>> seen(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : seen) {
      threads.emplace_back([&mine] {
        for (int i = 0; i < names; ++i) mine.emplace_back("name-" + std::to_string(i));
      });
    }
  }
  for (int i = 0; i < names; ++i) {
    for (const auto& mine : seen) EXPECT_EQ(mine[static_cast<std::size_t>(i)], seen[0][static_cast<std::size_t>(i)]);
    EXPECT_EQ(seen[0][static_cast<std::size_t>(i)].text(), "name-" + std::to_string(i));
  }
}

}  // namespace
}  // namespace hindsight
