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

// Tenants choose names; those that nobody has any more take no memory.
TEST(Symbol, is_forgotten_when_nobody_has_it) {
  const Symbol kept("kept-name");
  const std::size_t before = Symbol::known();
  std::size_t most = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const Symbol passing("passing-" + std::to_string(i));
    if (i % 1000 == 0) most = std::max(most, Symbol::known());
  }
  EXPECT_LT(most - before, 30'000U);
  EXPECT_EQ(kept.text(), "kept-name");
  EXPECT_EQ(Symbol("kept-name"), kept);
}

// Whoever looks at a text while the last one lets go of the name still reads it.
TEST(Symbol, keeps_the_text_of_a_name_for_a_while_after_the_last_use) {
  std::string_view text;
  {
    const Symbol name("just-forgotten-" + std::to_string(Symbol::known()));
    text = name.text();
  }
  const std::string copy(text);
  for (int i = 0; i < 10'000; ++i) const Symbol other("crowd-" + std::to_string(i));
  EXPECT_EQ(text, copy);
  EXPECT_EQ(Symbol(copy).text(), copy);
}

// Two names that are taken and let go of in turn keep one place each in the line of those that are forgotten.
TEST(Symbol, is_not_forgotten_sooner_because_others_are_used_much) {
  std::string_view text;
  {
    const Symbol name("seldom-" + std::to_string(Symbol::known()));
    text = name.text();
  }
  const std::string copy(text);
  // More of them than a thread remembers by itself.
  std::vector<std::string> busy;
  for (int i = 0; i < 4'000; ++i) busy.push_back("busy-" + std::to_string(i));
  for (int round = 0; round < 25; ++round)
    for (const auto& name : busy) const Symbol passing(name);
  EXPECT_EQ(text, copy);
}

// A name that very many have is not counted any more, and stays.
TEST(Symbol, stays_when_it_is_popular) {
  const std::string text = "very-popular";
  std::uint32_t id = 0;
  {
    std::vector<Symbol> many(70'000, Symbol(text));
    id = many.front().id();
    std::vector<Symbol> more = many;
  }
  for (int i = 0; i < 40'000; ++i) const Symbol other("after-popular-" + std::to_string(i));
  EXPECT_EQ(Symbol(text).id(), id);
}

// Numbers of forgotten names are given out again, while threads take and drop the same names.
TEST(Symbol, may_come_and_go_in_all_threads) {
  std::vector<std::jthread> threads;
  for (unsigned seed = 0; seed < 4; ++seed)
    threads.emplace_back([seed] {
      std::uint32_t random = seed + 1;
      std::vector<Symbol> mine(64);
      for (int i = 0; i < 200'000; ++i) {
        random = random * 1664525U + 1013904223U;
        const std::string text = "shared-" + std::to_string((random >> 8U) % 20'000U);
        Symbol& place = mine[(random >> 3U) % mine.size()];
        place = Symbol(text);
        Symbol copy = place;
        ASSERT_EQ(copy.text(), text);
        Symbol moved = std::move(copy);
        ASSERT_EQ(moved, place);
      }
    });
}

}  // namespace
}  // namespace hindsight
