// What the commands on a cluster make of their options, and how they print what the cluster has.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/application.hpp"
#include "cli/remote/cluster_tables.hpp"
#include "cli/remote/new_objects.hpp"
#include "cli/remote/object_reference.hpp"
#include "cli/remote/pass_through.hpp"

namespace hindsight::cli {
namespace {

Json parsed(const char* text) { return Json::parse(text); }
std::string error_of(const Result<Json>& result) { return result ? "no error: " + result->dump() : result.error().message; }

// ---- quotas -----------------------------------------------------------------------------------------------------------------------

// BA-193: the examples of kueuectl's documents.
TEST(QuotaExpressions, FlavorsWithTheSameResourcesAreOneGroup) {
  const auto groups = read_resource_groups({.nominal_quota = "alpha:cpu=1;memory=2Gi,beta:gpu=3,gamma:memory=4Gi;cpu=5",
                                            .borrowing_limit = "alpha:cpu=6;memory=7Gi",
                                            .lending_limit = "beta:gpu=0"});
  ASSERT_TRUE(groups) << groups.error().message;
  EXPECT_EQ(*groups, parsed(R"([
    {"coveredResources": ["cpu", "memory"], "flavors": [
      {"name": "alpha", "resources": [{"name": "cpu", "nominalQuota": "1", "borrowingLimit": "6"},
                                      {"name": "memory", "nominalQuota": "2Gi", "borrowingLimit": "7Gi"}]},
      {"name": "gamma", "resources": [{"name": "cpu", "nominalQuota": "5"}, {"name": "memory", "nominalQuota": "4Gi"}]}]},
    {"coveredResources": ["gpu"], "flavors": [
      {"name": "beta", "resources": [{"name": "gpu", "nominalQuota": "3", "lendingLimit": "0"}]}]}])"));
  EXPECT_EQ(*read_resource_groups({}), Json::array());
  EXPECT_EQ(
      *read_resource_groups({.lending_limit = "a: cpu = 1 "}),
      parsed(
          R"([{"coveredResources": ["cpu"], "flavors": [{"name": "a", "resources": [{"name": "cpu", "nominalQuota": "0", "lendingLimit": "1"}]}]}])"));
}

// BA-193
TEST(QuotaExpressions, WhatDoesNotReadIsNamed) {
  const auto nominal = [](const char* text) { return error_of(read_resource_groups({.nominal_quota = text})); };
  EXPECT_EQ(nominal("alpha"),
            "--nominal-quota: found \"alpha\" for a flavor; allowed: flavor:resource=quantity;resource=quantity,flavor:…");
  EXPECT_EQ(nominal("alpha:cpu"),
            "--nominal-quota: found \"cpu\" for a resource; allowed: resource=quantity, as in "
            "flavor:resource=quantity;resource=quantity,flavor:…");
  for (const char* quantity : {"many", "-1", "", "1 2", "1Zi"})
    EXPECT_EQ(
        nominal((std::string("alpha:cpu=") + quantity).c_str()),
        std::string("--nominal-quota: cpu: found \"") + quantity + "\"; allowed: a Kubernetes quantity of at least 0, as 500m, 4 or 16Gi");
  EXPECT_EQ(nominal("a:cpu=1,a:cpu=2"), "--nominal-quota: found flavor a twice; allowed: once");
  EXPECT_EQ(nominal("a:cpu=1;cpu=2"), "--nominal-quota: flavor a: found resource cpu twice; allowed: once");
  EXPECT_NE(nominal("a:cpu=1,b:cpu=1;memory=1").find("flavor b: found resource cpu, which another flavor has"), std::string::npos);
  EXPECT_EQ(error_of(read_resource_groups({.nominal_quota = "a:cpu=1", .borrowing_limit = "a:memory=1"})),
            "--borrowing-limit: flavor a: found other resources than in the options before it; allowed: the same");
  for (const char* bad : {",", ":", "a:", "a:;", "a:=", ";", "a:cpu=1,", ":cpu=1"})
    EXPECT_NE(nominal(bad).find("allowed: "), std::string::npos) << bad;
}

// ---- objects ----------------------------------------------------------------------------------------------------------------------

// BA-193
TEST(NewObjects, ClusterQueue) {
  const auto queue = new_cluster_queue({.name = "my-cluster-queue",
                                        .cohort = "cohortname",
                                        .queueing_strategy = "StrictFIFO",
                                        .namespace_selector = "fooX=barX,fooY=barY",
                                        .reclaim_within_cohort = "Any",
                                        .within_cluster_queue = "LowerPriority",
                                        .quotas = {}});
  ASSERT_TRUE(queue) << queue.error().message;
  EXPECT_EQ(*queue,
            parsed(R"({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "my-cluster-queue"}, "spec": {
    "cohortName": "cohortname", "queueingStrategy": "StrictFIFO", "namespaceSelector": {"matchLabels": {"fooX": "barX", "fooY": "barY"}},
    "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}}})"));
  EXPECT_EQ((*new_cluster_queue({.name = "plain", .quotas = {}}))["spec"], parsed(R"({"namespaceSelector": {}})"));
  EXPECT_EQ(error_of(new_cluster_queue({.name = "q", .namespace_selector = "a", .quotas = {}})),
            "--namespace-selector: found \"a\"; allowed: key=value,…");
}

// BA-193
TEST(NewObjects, LocalQueueAndResourceFlavor) {
  EXPECT_EQ(
      new_local_queue({"lq", "team", "cq"}),
      parsed(
          R"({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "lq", "namespace": "team"}, "spec": {"clusterQueue": "cq"}})"));
  const auto flavor = new_resource_flavor({.name = "rf",
                                           .node_labels = "kubernetes.io/arch=arm64,kubernetes.io/os=linux",
                                           .node_taints = "key1=value:NoSchedule,key2:NoExecute",
                                           .tolerations = "key1=value:NoSchedule,key2:NoExecute,key3=value,key4,:NoSchedule"});
  ASSERT_TRUE(flavor) << flavor.error().message;
  EXPECT_EQ((*flavor)["spec"], parsed(R"({
    "nodeLabels": {"kubernetes.io/arch": "arm64", "kubernetes.io/os": "linux"},
    "nodeTaints": [{"key": "key1", "value": "value", "effect": "NoSchedule"}, {"key": "key2", "effect": "NoExecute"}],
    "tolerations": [{"key": "key1", "operator": "Equal", "value": "value", "effect": "NoSchedule"}, {"key": "key2", "operator": "Exists", "effect": "NoExecute"},
                    {"key": "key3", "operator": "Equal", "value": "value"}, {"key": "key4", "operator": "Exists"}, {"operator": "Exists", "effect": "NoSchedule"}]})"));
  EXPECT_EQ((*new_resource_flavor({.name = "plain"}))["spec"], Json::object());
}

// BA-193
TEST(NewObjects, BadFlavorsAreNamed) {
  const auto taint = [](const char* text) { return error_of(new_resource_flavor({.name = "rf", .node_taints = text})); };
  EXPECT_EQ(taint("key"), "--node-taints: found \"key\"; allowed: key[=value]:effect,…");
  EXPECT_EQ(taint("key:Sometimes"),
            "--node-taints: \"key:Sometimes\": found effect \"Sometimes\"; allowed: NoSchedule, PreferNoSchedule, NoExecute");
  EXPECT_EQ(taint("a:NoExecute,a=1:NoExecute"), "--node-taints: found key a with effect NoExecute twice; allowed: once");
  for (const char* bad : {":NoSchedule", "a=b=c:NoSchedule", "a:b:NoSchedule", "=v:NoSchedule"})
    EXPECT_NE(taint(bad).find("allowed: "), std::string::npos) << bad;
  EXPECT_NE(error_of(new_resource_flavor({.name = "rf", .tolerations = "=v"})).find("--tolerations: found \"=v\""), std::string::npos);
  EXPECT_EQ(error_of(new_resource_flavor({.name = "rf", .node_labels = "a=1,a=2"})), "--node-labels: found key a twice; allowed: once");
}

// ---- references -------------------------------------------------------------------------------------------------------------------

// BA-193
TEST(References, AreRead) {
  const Json owner = parsed(R"({"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u"})");
  for (const char* good : {"job/train", "jobs/train", "Job.batch/train"}) EXPECT_TRUE(means(owner, *read_reference(good))) << good;
  for (const char* other : {"job/other", "jobset/train", "job.other.example/train"})
    EXPECT_FALSE(means(owner, *read_reference(other))) << other;
  for (const char* bad : {"train", "/train", "job/", "job/a/b", ""}) EXPECT_FALSE(read_reference(bad)) << bad;
  EXPECT_EQ(*pod_selector(*read_reference("job/train")), "batch.kubernetes.io/job-name=train");
  EXPECT_EQ(*pod_selector(*read_reference("jobset.jobset.x-k8s.io/train")), "jobset.sigs.k8s.io/jobset-name=train");
  const auto unknown = pod_selector(*read_reference("service/web"));
  ASSERT_FALSE(unknown);
  EXPECT_TRUE(unknown.error().message.starts_with("--for: found type \"service\"; allowed: job, jobset, ")) << unknown.error().message;
}

// ---- tables -----------------------------------------------------------------------------------------------------------------------

const Time now = *parse_rfc3339("2026-01-01T01:00:00Z");

// BA-193: kueuectl's columns.
TEST(ClusterTables, Queues) {
  const std::vector<Json> queues{
      parsed(R"({"metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"cohortName": "all"},
                 "status": {"pendingWorkloads": 3, "admittedWorkloads": 1, "conditions": [{"type": "Active", "status": "True"}]}})"),
      parsed(R"({"metadata": {"name": "b", "creationTimestamp": "2026-01-01T00:59:30Z"}, "spec": {}})")};
  EXPECT_EQ(projections::render(cluster_queue_list(queues, now)),
            "NAME   COHORT   PENDING WORKLOADS   ADMITTED WORKLOADS   ACTIVE   AGE\n"
            "a      all      3                   1                    true     60m\n"
            "b               0                   0                    false    30s\n");
  const std::vector<Json> local{parsed(
      R"({"metadata": {"name": "lq", "namespace": "team", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"clusterQueue": "a"}, "status": {"pendingWorkloads": 2}})")};
  EXPECT_EQ(projections::render(local_queue_list(local, now, true)),
            "NAMESPACE   NAME   CLUSTERQUEUE   PENDING WORKLOADS   ADMITTED WORKLOADS   AGE\n"
            "team        lq     a              2                   0                    60m\n");
  EXPECT_EQ(
      projections::render(resource_flavor_list(
          {parsed(
              R"({"metadata": {"name": "rf", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"nodeLabels": {"z": "1", "a": "2"}}})")},
          now)),
      "NAME   NODE LABELS   AGE\n"
      "rf     a=2, z=1      60m\n");
}

// BA-193
TEST(ClusterTables, Workloads) {
  const std::vector<Json> workloads{
      parsed(R"({"metadata": {"name": "job-a", "namespace": "team", "creationTimestamp": "2026-01-01T00:00:00Z",
                 "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "a"}]}, "spec": {"queueName": "lq"},
                 "status": {"admission": {"clusterQueue": "cq"}, "conditions": [
                   {"type": "QuotaReserved", "status": "True"}, {"type": "Admitted", "status": "True", "lastTransitionTime": "2026-01-01T00:30:00Z"},
                   {"type": "Finished", "status": "True", "lastTransitionTime": "2026-01-01T00:40:00Z"}]}})"),
      parsed(R"({"metadata": {"name": "w", "namespace": "team", "creationTimestamp": "2026-01-01T00:59:50Z",
                 "ownerReferences": [{"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "name": "x"}]}, "spec": {"queueName": "lq"}})")};
  const WorkloadSurroundings around{.cluster_queues = {{"team/lq", "cq"}}, .positions = {{"team/w", "4"}}};
  EXPECT_EQ(projections::render(workload_list(workloads, around, now, false)),
            "NAME    JOB TYPE                  JOB NAME   LOCALQUEUE   CLUSTERQUEUE   STATUS     POSITION IN QUEUE   EXEC TIME   AGE\n"
            "job-a   job.batch                 a          lq           cq             FINISHED                       10m         60m\n"
            "w       appwrapper.workload....   x          lq           cq             PENDING    4                               10s\n");
  EXPECT_EQ(cluster_queue_of(workloads[1], {}), "");
}

// BA-193
TEST(ClusterTables, Pods) {
  const std::vector<Json> pods{
      parsed(
          R"({"metadata": {"name": "p", "namespace": "team", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"containers": [{}, {}]},
                 "status": {"phase": "Running", "containerStatuses": [{"ready": true, "restartCount": 2}, {"ready": false, "restartCount": 1}]}})"),
      parsed(
          R"({"metadata": {"name": "q", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"containers": [{}], "schedulingGates": [{"name": "g"}]},
                 "status": {"phase": "Pending"}})")};
  EXPECT_EQ(projections::render(pod_list(pods, now, false)),
            "NAME   READY   STATUS            RESTARTS   AGE\n"
            "p      1/2     Running           3          60m\n"
            "q      0/1     SchedulingGated   0          60m\n");
}

// Objects of any shape are printed without a crash.
TEST(ClusterTables, StrangeObjects) {
  std::vector<Json> strange;
  for (
      const char* text :
      {"{}", "null", "[]", R"({"metadata": 1, "spec": [], "status": {"conditions": {}}})",
       R"({"metadata": {"name": 5, "ownerReferences": [1, null, {"kind": 2}]}, "status": {"conditions": [1, {}], "containerStatuses": [7]}})"})
    strange.push_back(parsed(text));
  for (const auto& table : {cluster_queue_list(strange, now), local_queue_list(strange, now, true), resource_flavor_list(strange, now),
                            workload_list(strange, {}, now, true), pod_list(strange, now, true)})
    EXPECT_EQ(table.rows.size(), strange.size());
}

// ---- kubectl ----------------------------------------------------------------------------------------------------------------------

// BA-193: get, describe, edit, patch and delete go to kubectl.
TEST(PassThrough, KindsGetTheirGroup) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(kubectl_words({"get", "wl", "-A"}), (Words{"get", "workloads.kueue.x-k8s.io", "-A"}));
  EXPECT_EQ(kubectl_words({"edit", "clusterqueue/a"}), (Words{"edit", "clusterqueues.kueue.x-k8s.io/a"}));
  EXPECT_EQ(kubectl_words({"patch", "job", "a"}), (Words{"patch", "job", "a"}));
  EXPECT_EQ(kubectl_words({"get"}), Words{"get"});
}

TEST(PassThrough, GetAndDescribeAreForTheClusterWhenOneIsNamed) {
  EXPECT_TRUE(is_for_cluster("hindsight", {"get", "wl", "--kubeconfig", "f"}, true));
  EXPECT_TRUE(is_for_cluster("hindsight", {"describe", "wl", "a", "--context=c"}, false));
  EXPECT_FALSE(is_for_cluster("hindsight", {"get", "wl"}, false));
  EXPECT_FALSE(is_for_cluster("hindsight", {"get", "wl", "--help", "--context=c"}, false));
  EXPECT_FALSE(is_for_cluster("hindsight", {"list", "wl", "--kubeconfig", "f"}, false));
  EXPECT_TRUE(is_for_cluster("kubectl kueue", {"get", "wl"}, false));
  EXPECT_FALSE(is_for_cluster("kubectl kueue", {"get", "wl"}, true));
  EXPECT_FALSE(is_for_cluster("kubectl kueue", {"get", "wl", "--log=x.db"}, false));
}

TEST(Plugin, HelpSpeaksAsTheUserDoes) {
  EXPECT_EQ(program_of("/usr/local/bin/kubectl-kueue"), "kubectl kueue");
  EXPECT_EQ(program_of("kubectl-hindsight"), "kubectl hindsight");
  EXPECT_EQ(program_of("./build/hindsight"), "hindsight");
  std::ostringstream out, err;
  Session session{out, err};
  session.program = "kubectl kueue";
  EXPECT_EQ(run_application(session, {"create", "clusterqueue", "--help"}), 0);
  EXPECT_NE(out.str().find("kubectl kueue create clusterqueue team-a --nominal-quota"), std::string::npos) << out.str();
  EXPECT_EQ(out.str().find("  hindsight "), std::string::npos) << out.str();
}

}  // namespace
}  // namespace hindsight::cli
