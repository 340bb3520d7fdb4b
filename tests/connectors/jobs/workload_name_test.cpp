#include "connectors/jobs/workload_name.hpp"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace hindsight::connectors
