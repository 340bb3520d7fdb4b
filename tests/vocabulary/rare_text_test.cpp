#include "vocabulary/rare_text.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace hindsight {
namespace {

TEST(RareText, IsAPointerAndReadsAsAText) {
  EXPECT_EQ(sizeof(RareText), sizeof(void*));
  RareText text;
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(text, "");
  EXPECT_EQ(text, RareText(""));
  text = "one";
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(text, "one");
  EXPECT_EQ(text.text(), "one");
  EXPECT_EQ("it is " + text, "it is one");
  text = std::string_view();
  EXPECT_TRUE(text.empty());
}

TEST(RareText, IsAValue) {
  RareText a("one");
  RareText b = a;
  b = "two";
  EXPECT_EQ(a, "one");
  EXPECT_EQ(b, "two");
  a = b;
  EXPECT_EQ(a, b);
  const RareText c = std::move(b);
  EXPECT_EQ(c, "two");
  a = a.view().substr(1);  // of itself
  EXPECT_EQ(a, "wo");
  a.clear();
  EXPECT_NE(a, c);
}

}  // namespace
}  // namespace hindsight
