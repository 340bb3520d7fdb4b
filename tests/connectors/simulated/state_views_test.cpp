#include "connectors/simulated/state_views.hpp"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace hindsight::connectors::simulated {
namespace {

// The views of tests/conformance/tools/drive.py are the specification of the state format.
TEST(StateViews, are_those_of_the_driver_for_live_clusters) {
  std::ifstream in("tests/connectors/simulated/views.json");
  const Json rows = Json::parse(in);
  ASSERT_GT(rows.size(), 15U);
  for (const auto& row : rows) {
    StoredObject object;
    object.object = row["object"];
    const std::string kind = object.object["kind"];
    object.kind = &manifests::kind_of(kind);
    const Json view = kind == "Workload" ? workload_view(object) : kind == "ClusterQueue" ? queue_view(object) : job_view(object);
    EXPECT_EQ(view, row["view"]) << row["object"].dump();
  }
}

Json workload(const char* name, const char* owner) {
  Json out = {{"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", "Workload"}, {"metadata", {{"name", name}, {"namespace", "default"}}}};
  out["spec"]["podSets"] = Json::parse(R"([{"template":{"spec":{"containers":[{"name":"c"}]}}}])");
  if (owner != nullptr)
    out["metadata"]["ownerReferences"].push_back(
        {{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"name", owner}, {"uid", "u"}, {"controller", true}});
  return out;
}

TEST(State, names_workloads_after_their_owners_in_order_of_creation) {
  SimulatedCluster cluster;
  cluster.create({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "default"}}}});
  ASSERT_TRUE(cluster.create(workload("z", "j0")).accepted());
  ASSERT_TRUE(cluster.create(workload("a", "j0")).accepted());
  ASSERT_TRUE(cluster.create(workload("m", "j1")).accepted());
  ASSERT_TRUE(cluster.create(workload("lone", nullptr)).accepted());
  cluster.merge_patch("Workload", "default", "z", Part::main, {{"spec", {{"priority", 1}}}});
  cluster.merge_patch("Workload", "default", "a", Part::main, {{"spec", {{"priority", 2}}}});
  const Json workloads = state_of(cluster)["workloads"];
  ASSERT_EQ(workloads.size(), 4U);
  EXPECT_EQ(workloads["Job/default/j0"]["priority"], 1);
  EXPECT_EQ(workloads["Job/default/j0#1"]["priority"], 2);
  EXPECT_TRUE(workloads.contains("Job/default/j1"));
  EXPECT_TRUE(workloads.contains("Workload/default/lone"));

  cluster.remove("Workload", "default", "z");
  EXPECT_EQ(state_of(cluster)["workloads"]["Job/default/j0"]["priority"], 2);
}

}  // namespace
}  // namespace hindsight::connectors::simulated
