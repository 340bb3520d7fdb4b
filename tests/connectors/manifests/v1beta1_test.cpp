#include "connectors/manifests/v1beta1.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace hindsight::connectors::manifests {
namespace {

struct Row {
  const char* kind;
  const char* before;
  const char* after;
};

// BA-1: base-api §4, line by line.
TEST(V1beta1, is_rewritten_as_v1beta2) {
  const std::vector<Row> rows{
      {"ClusterQueue", R"({"spec":{"cohort":"a"}})", R"({"spec":{"cohortName":"a"}})"},
      {"ClusterQueue", R"({"spec":{"admissionChecks":["x","y"]}})",
       R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[{"name":"x"},{"name":"y"}]}}})"},
      {"ClusterQueue", R"({"spec":{"admissionChecks":[]}})", R"({"spec":{}})"},
      {"ClusterQueue", R"({"spec":{"flavorFungibility":{"whenCanBorrow":"Borrow","whenCanPreempt":"Preempt"}}})",
       R"({"spec":{"flavorFungibility":{"whenCanBorrow":"MayStopSearch","whenCanPreempt":"MayStopSearch"}}})"},
      {"ClusterQueue", R"({"spec":{"flavorFungibility":{"whenCanBorrow":"TryNextFlavor"}}})",
       R"({"spec":{"flavorFungibility":{"whenCanBorrow":"TryNextFlavor"}}})"},
      {"ClusterQueue", R"({"status":{"pendingWorkloads":1,"pendingWorkloadsStatus":{}}})", R"({"status":{"pendingWorkloads":1}})"},
      {"LocalQueue", R"({"status":{"flavorUsage":[],"flavors":[1]}})", R"({"status":{"flavorsUsage":[]}})"},
      {"Workload", R"({"spec":{"priorityClassName":"p","priorityClassSource":"kueue.x-k8s.io/workloadpriorityclass"}})",
       R"({"spec":{"priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"p"}}})"},
      {"Workload", R"({"spec":{"priorityClassName":"p","priorityClassSource":"scheduling.k8s.io/priorityclass"}})",
       R"({"spec":{"priorityClassRef":{"group":"scheduling.k8s.io","kind":"PriorityClass","name":"p"}}})"},
      {"Workload", R"({"spec":{"priorityClassName":"","priorityClassSource":""}})", R"({"spec":{}})"},
      {"Workload", R"({"status":{"accumulatedPastExexcutionTimeSeconds":5}})", R"({"status":{"accumulatedPastExecutionTimeSeconds":5}})"},
      {"Workload",
       R"({"status":{"admission":{"podSetAssignments":[{"topologyAssignment":{"levels":["a","b"],"domains":[{"values":["x","y"],"count":2},{"values":["x","z"],"count":1}]}}]}}})",
       R"({"status":{"admission":{"podSetAssignments":[{"topologyAssignment":{"levels":["a","b"],"slices":[{"domainCount":2,"podCounts":{"individual":[2,1]},"valuesPerLevel":[{"individual":{"roots":["x","x"]}},{"individual":{"roots":["y","z"]}}]}]}}]}}})"},
      {"AdmissionCheck", R"({"spec":{"controllerName":"c","retryDelayMinutes":15}})", R"({"spec":{"controllerName":"c"}})"},
      {"MultiKueueCluster", R"({"spec":{"kubeConfig":{"location":"l"}}})", R"({"spec":{"clusterSource":{"kubeConfig":{"location":"l"}}}})"},
      {"Cohort", R"({"spec":{"parentName":"p"}})", R"({"spec":{"parentName":"p"}})"}};
  for (const auto& row : rows) {
    Json object = Json::parse(row.before);
    std::vector<Problem> problems;
    convert_v1beta1(row.kind, object, problems);
    EXPECT_TRUE(problems.empty()) << row.before;
    EXPECT_EQ(object["apiVersion"], "kueue.x-k8s.io/v1beta2");
    object.erase("apiVersion");
    EXPECT_EQ(object, Json::parse(row.after)) << row.before;
  }
}

// BA-1
TEST(V1beta1, refuses_what_says_the_same_thing_twice) {
  const std::vector<Row> rows{
      {"ClusterQueue", R"({"spec":{"cohort":"a","cohortName":"b"}})", "spec.cohort"},
      {"ClusterQueue", R"({"spec":{"admissionChecks":["x"],"admissionChecksStrategy":{}}})", "spec.admissionChecks"},
      {"MultiKueueCluster", R"({"spec":{"kubeConfig":{"location":"a"},"clusterSource":{"kubeConfig":{"location":"b"}}}})",
       "spec.kubeConfig"},
      {"Workload", R"({"spec":{"priorityClassName":"p","priorityClassSource":"else"}})", "spec.priorityClassSource"}};
  for (const auto& row : rows) {
    Json object = Json::parse(row.before);
    std::vector<Problem> problems;
    convert_v1beta1(row.kind, object, problems);
    ASSERT_EQ(problems.size(), 1U) << row.before;
    EXPECT_EQ(problems[0].field, row.after);
  }
}

TEST(V1beta1, takes_any_shape_without_harm) {
  for (const char* text : {R"({})", R"({"spec":5,"status":[]})", R"({"spec":{"kubeConfig":{},"clusterSource":"x"}})",
                           R"({"spec":{"admissionChecks":5},"status":{"admission":{"podSetAssignments":[7]}}})",
                           R"({"status":{"admission":{"podSetAssignments":[{"topologyAssignment":{"levels":7,"domains":[1]}}]}}})"}) {
    for (const char* kind : {"ClusterQueue", "LocalQueue", "Workload", "AdmissionCheck", "MultiKueueCluster", "Cohort"}) {
      Json object = Json::parse(text);
      std::vector<Problem> problems;
      convert_v1beta1(kind, object, problems);
      EXPECT_EQ(object["apiVersion"], "kueue.x-k8s.io/v1beta2");
    }
  }
}

}  // namespace
}  // namespace hindsight::connectors::manifests
