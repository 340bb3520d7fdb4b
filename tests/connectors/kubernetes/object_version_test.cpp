#include "connectors/kubernetes/mirror/object_version.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hindsight::connectors::kubernetes {
namespace {

TEST(ObjectVersion, GrowsAsItsNumberDoes) {
  const std::vector<std::string> ascending{"", "1", "9", "10", "99", "100", "1234567", "9223372036854775807"};
  for (std::size_t a = 0; a < ascending.size(); ++a)
    for (std::size_t b = 0; b < ascending.size(); ++b) {
      EXPECT_EQ(ObjectVersion(ascending[a]).is_later_than(ObjectVersion(ascending[b])), a > b) << ascending[a] << " and " << ascending[b];
      EXPECT_EQ(ObjectVersion(ascending[a]) == ObjectVersion(ascending[b]), a == b);
    }
  for (const auto& text : ascending) EXPECT_EQ(ObjectVersion(text).text(), text);
}

TEST(ObjectVersion, IsToldApartWhereItIsNoNumber) {
  const std::vector<std::string> odd{
      "0", "01", "-1", "+1", "1 ", " 1", "1a", "a", "9223372036854775808", "99999999999999999999", std::string("\0", 1)};
  for (const auto& a : odd) {
    EXPECT_FALSE(ObjectVersion(a).empty());
    EXPECT_EQ(ObjectVersion(a).text(), "");
    EXPECT_TRUE(ObjectVersion(a).is_later_than(ObjectVersion("7")));
    EXPECT_TRUE(ObjectVersion("7").is_later_than(ObjectVersion(a)));
    EXPECT_TRUE(ObjectVersion(a).is_later_than({}));
    for (const auto& b : odd) {
      EXPECT_EQ(ObjectVersion(a) == ObjectVersion(b), a == b);
      EXPECT_EQ(ObjectVersion(a).is_later_than(ObjectVersion(b)), a != b);
    }
  }
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
