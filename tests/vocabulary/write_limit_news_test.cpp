#include "vocabulary/write_limit_news.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace hindsight {
namespace {

// D15: a log is told when the limit has changed by a third.
TEST(WriteLimitNews, AThirdIsNews) {
  WriteLimitNews news;
  EXPECT_FALSE(news.is_news(0)) << "nothing is known, as before";
  EXPECT_TRUE(news.is_news(6));
  for (const std::uint32_t same : {6U, 5U, 7U, 8U, 6U}) EXPECT_FALSE(news.is_news(same)) << same;
  EXPECT_TRUE(news.is_news(9));
  EXPECT_FALSE(news.is_news(7)) << "of what was told last";
  EXPECT_TRUE(news.is_news(6));
  EXPECT_TRUE(news.is_news(4));
  EXPECT_TRUE(news.is_news(2));
  EXPECT_TRUE(news.is_news(1));
  EXPECT_TRUE(news.is_news(0));
  EXPECT_TRUE(news.is_news(std::numeric_limits<std::uint32_t>::max()));
  EXPECT_FALSE(news.is_news(std::numeric_limits<std::uint32_t>::max() - 1));
}

}  // namespace
}  // namespace hindsight
