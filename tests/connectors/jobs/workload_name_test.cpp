#include "connectors/jobs/workload_name.hpp"

#include <gtest/gtest.h>

#include <string>

#include "vocabulary/text.hpp"

namespace hindsight::connectors {
namespace {

// BA-170
TEST(WorkloadName, FollowsTheVectorsOfTheSpecification) {
  constexpr std::string_view uid = "78d1e61a-c399-4c09-800f-a0bbfb5fe71e";
  EXPECT_EQ(workload_name("Job", "batch", "name", "uid"), "job-name-ef3a1");
  EXPECT_EQ(workload_name("Job", "batch", "name", "uid", "1"), "job-name-2514c");
  EXPECT_EQ(workload_name("Job", "batch", "demo-slice", uid, "1"), "job-demo-slice-e7080");
  EXPECT_EQ(workload_name("Job", "batch", "demo-slice", uid, "2"), "job-demo-slice-078e4");
  EXPECT_EQ(workload_name("Job", "batch", "demo-slice", uid, "3"), "job-demo-slice-75e0c");
}

// BA-170, BA-197
TEST(WorkloadName, CutsTheOwnerButHashesAllOfIt) {
  const std::string owner(300, 'x');
  const auto name = workload_name("JobSet", "jobset.x-k8s.io", owner, "u");
  EXPECT_EQ(name.size(), workload_name_max);
  EXPECT_EQ(name.substr(0, 8), "jobset-x");
  EXPECT_EQ(name[name.size() - 6], '-');
  EXPECT_NE(name.substr(247), workload_name("JobSet", "jobset.x-k8s.io", owner + "x", "u").substr(247));
  EXPECT_EQ(workload_name("JobSet", "jobset.x-k8s.io", owner, "u", "", short_workload_name_max).size(), short_workload_name_max);
}

// A name that the API server would not take may still be read: half of one of its characters would be no text, in a record or in JSON.
TEST(WorkloadName, CutsAtACharacter) {
  for (std::size_t shift = 0; shift < 3; ++shift) {
    std::string owner(shift, 'x');
    while (owner.size() < 300) owner += "\u6f22";
    for (const auto max : {workload_name_max, short_workload_name_max}) {
      const auto name = workload_name("Job", "batch", owner, "u", "", max);
      EXPECT_TRUE(is_utf8(name)) << shift;
      EXPECT_LE(name.size(), max);
      EXPECT_GT(name.size(), max - 3);
      EXPECT_EQ(name[name.size() - 6], '-');
    }
  }
}

}  // namespace
}  // namespace hindsight::connectors
