// What an API server lets be changed of a suspended Job, by its version.

#include "connectors/jobs/template_mutability.hpp"

#include <gtest/gtest.h>

namespace hindsight::connectors {
namespace {

std::string version(const std::string& major, const std::string& minor, const std::string& git) {
  return R"({"major":")" + major + R"(","minor":")" + minor + R"(","gitVersion":")" + git + R"(","platform":"linux/amd64"})";
}

// MR-52: the table of 5440 §2.1, with the versions that distributions make of it
TEST(TemplateMutability, FollowsFromTheVersion) {
  struct Case {
    const char *major, *minor, *git;
    TemplateMutability wanted;
  };
  for (const auto& c :
       {Case{"1", "30", "v1.30.9", TemplateMutability::never_started}, Case{"1", "34", "v1.34.7", TemplateMutability::never_started},
        Case{"1", "35", "v1.35.4", TemplateMutability::never_started}, Case{"1", "36", "v1.36.0", TemplateMutability::suspended_condition},
        Case{"1", "36", "v1.36.1", TemplateMutability::suspended_condition},
        Case{"1", "36+", "v1.36.1-gke.20", TemplateMutability::suspended_condition},
        Case{"1", "36", "v1.36.2", TemplateMutability::suspended}, Case{"1", "36+", "v1.36.12-eks-5a1b", TemplateMutability::suspended},
        Case{"1", "37", "v1.37.0", TemplateMutability::suspended}, Case{"2", "0", "v2.0.0", TemplateMutability::suspended}}) {
    const auto found = template_mutability_of(version(c.major, c.minor, c.git));
    ASSERT_TRUE(found) << c.git;
    EXPECT_EQ(*found, c.wanted) << c.git;
  }
}

// A newer binary that behaves as an older release (--emulated-version), as the API server of 1.33 and later says it
TEST(TemplateMutability, FollowsFromTheVersionThatTheServerEmulates) {
  const auto emulating = [](const std::string& minor) {
    return template_mutability_of(R"({"major":"1","minor":"36","emulationMajor":"1","emulationMinor":")" + minor +
                                  R"(","gitVersion":"v1.36.3"})");
  };
  EXPECT_EQ(*emulating("34"), TemplateMutability::never_started);
  EXPECT_EQ(*emulating("36"), TemplateMutability::suspended);
}

TEST(TemplateMutability, AnythingElseIsAnError) {
  for (const char* text : {"", "no JSON", "[]", "{}", R"({"major":"1"})", R"({"major":1,"minor":36})", R"({"major":"","minor":"x"})"}) {
    const auto found = template_mutability_of(text);
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().message, "/version: found " + std::string(text) + ", allowed: an object with major and minor");
  }
}

}  // namespace
}  // namespace hindsight::connectors
