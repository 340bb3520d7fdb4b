#include "vocabulary/compact_text.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace hindsight {
namespace {

TEST(CompactText, IsAPointerAndReadsAsAText) {
  EXPECT_EQ(sizeof(CompactText), sizeof(void*));
  CompactText text;
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(text, "");
  EXPECT_EQ(text, CompactText(""));
  text = "one";
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(text, "one");
  EXPECT_EQ(text.text(), "one");
  EXPECT_EQ("it is " + text, "it is one");
  text = std::string_view();
  EXPECT_TRUE(text.empty());
}

TEST(CompactText, IsAValue) {
  CompactText a("one");
  CompactText b = a;
  b = "two";
  EXPECT_EQ(a, "one");
  EXPECT_EQ(b, "two");
  a = b;
  EXPECT_EQ(a, b);
  const CompactText c = std::move(b);
  EXPECT_EQ(c, "two");
  a = a.view().substr(1);  // of itself
  EXPECT_EQ(a, "wo");
  a.clear();
  EXPECT_NE(a, c);
}

TEST(CompactText, CopiesShareWhatNobodyChanges) {
  CompactText a("one");
  const CompactText b = a;
  EXPECT_EQ(a.view().data(), b.view().data());
  a = "one";
  EXPECT_EQ(a.view().data(), b.view().data()) << "it was the same already";
  a = "other";
  EXPECT_EQ(b, "one");
  EXPECT_LT(b, a);
  const std::string zeros(3, '\0');
  EXPECT_EQ(CompactText(zeros), zeros);
}

// Its word is worth most under the sanitizers.
TEST(CompactText, ThreadsMayCopyAndLetGoAtTheSameTime) {
  const CompactText shared("a text that is too long for a short string");
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) {
        CompactText mine = shared;
        const CompactText other = mine;
        mine.clear();
        if (other != shared) ++wrong;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace hindsight
