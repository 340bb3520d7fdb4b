#include "connectors/manifests/syntax.hpp"

#include <string>

#include <gtest/gtest.h>

namespace hindsight::connectors::manifests {
namespace {

// BA-3
TEST(Syntax, dns_names_are_those_of_rfc_1123) {
  for (const char* good : {"a", "a-b", "a1.b2", "0", "x.y.z"}) EXPECT_TRUE(is_dns_subdomain(good)) << good;
  for (const char* bad : {"", "A", "-a", "a-", "a..b", ".a", "a.", "a_b", "a/b", "ä"}) EXPECT_FALSE(is_dns_subdomain(bad)) << bad;
  EXPECT_TRUE(is_dns_subdomain(std::string(253, 'a')));
  EXPECT_FALSE(is_dns_subdomain(std::string(254, 'a')));
  EXPECT_TRUE(is_dns_label(std::string(63, 'a')));
  EXPECT_FALSE(is_dns_label(std::string(64, 'a')));
  EXPECT_FALSE(is_dns_label("a.b"));
}

TEST(Syntax, qualified_names_have_an_optional_dns_prefix) {
  for (const char* good : {"cpu", "nvidia.com/gpu", "kubernetes.io/hostname", "A_b.C", "x/Y"}) EXPECT_TRUE(is_qualified_name(good)) << good;
  for (const char* bad : {"", "/x", "x/", "a/b/c", "X.com/y", "-x", "x-"}) EXPECT_FALSE(is_qualified_name(bad)) << bad;
  EXPECT_FALSE(is_qualified_name(std::string(64, 'a')));
}

TEST(Syntax, label_values_may_be_empty) {
  for (const char* good : {"", "a", "A.b_c-1"}) EXPECT_TRUE(is_label_value(good)) << good;
  for (const char* bad : {"-", "a-", "a b", "a/b"}) EXPECT_FALSE(is_label_value(bad)) << bad;
}

TEST(Syntax, quantities_are_those_of_the_go_library) {
  for (const char* good : {"0", "1", "-1", "+1", "1.5", ".5", "5.", "100m", "2Gi", "1e3", "1E3", "1e-3", "3E", "1n", "1Ki"})
    EXPECT_TRUE(is_quantity(good)) << good;
  for (const char* bad : {"", "x", "m", "1ki", "1 Gi", "1GiB", "1e", "--1", "1K", "1.2.3", "1Mii", "0x10"})
    EXPECT_FALSE(is_quantity(bad)) << bad;
  EXPECT_FLOAT_EQ(static_cast<float>(*quantity_value("1500m")), 1.5F);
  EXPECT_FLOAT_EQ(static_cast<float>(*quantity_value("2Ki")), 2048.F);
  EXPECT_FLOAT_EQ(static_cast<float>(*quantity_value("-1e3")), -1000.F);
}

TEST(Syntax, the_nearest_word_is_the_one_that_was_meant) {
  EXPECT_EQ(nearest("queueingStrategi", {"queueingStrategy", "stopPolicy"}), "queueingStrategy");
  EXPECT_EQ(nearest("CohortName", {"cohort", "cohortName"}), "cohortName");
  EXPECT_EQ(nearest("zzzzzzzz", {"cohort", "cohortName"}), "");
}

}  // namespace
}  // namespace hindsight::connectors::manifests
