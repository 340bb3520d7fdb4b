// `hindsight migrate check` as a command: where it reads from, what it prints, how it ends (issue 21, point 3), and that what it says of a
// takeover happens when the objects are given to Hindsight.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/application.hpp"
#include "tests/connectors/kubernetes/fake_api_server.hpp"
#include "tests/connectors/kubernetes/temporary_folder.hpp"

namespace hindsight::cli {
namespace {

using connectors::kubernetes::testing::Exchange;
using connectors::kubernetes::testing::FakeApiServer;
using connectors::kubernetes::testing::TemporaryFolder;
using nlohmann::json;

struct Told {
  int status = -1;
  std::string out, err;
};

Told call(std::vector<std::string> words) {
  std::ostringstream out, err;
  Session session{out, err};
  Told told;
  told.status = run_application(session, std::move(words));
  told.out = out.str();
  told.err = err.str();
  return told;
}

std::vector<std::string> rules_of(const Told& told) {
  std::vector<std::string> out;
  const json document = json::parse(told.out);
  for (const auto& f : document.at("findings")) out.push_back(f.at("rule"));
  return out;
}

const std::string pod = R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns"},
  "spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}})";
const std::string config = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";

// ---- files --------------------------------------------------------------------------------------------------------------------------

TEST(MigrateCheck, ReadsListsDumpsAndDirectories) {
  const TemporaryFolder folder;
  const auto list = folder.write("list.json", R"({"apiVersion": "v1", "kind": "List", "items": [)" + pod + "]}");
  const auto dump = folder.write("dump.json", R"({"case": "c", "objects": [)" + pod + "]}");
  const auto yaml = folder.write(
      "two.yaml",
      "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {schedulingGates: [{name: kueue.x-k8s.io/admission}]}\n---\n" + config);
  const std::vector<std::string> one{"gated-pods", "config-absent"};
  for (const auto& file : {list, dump}) {
    const auto told = call({"migrate", "check", "-f", file, "-o", "json"});
    EXPECT_EQ(told.status, 1) << told.err;
    EXPECT_EQ(rules_of(told), one) << told.out;
  }
  EXPECT_EQ(rules_of(call({"migrate", "check", "-f", yaml, "-o", "json"})), std::vector<std::string>{"gated-pods"});
  const auto all = call({"migrate", "check", "-f", std::filesystem::path(list).parent_path().string(), "-o", "json"});
  EXPECT_EQ(json::parse(all.out).at("summary").at("blocks"), 3) << all.out;
}

TEST(MigrateCheck, EndsWithStatus0WhereNothingBlocks) {
  const TemporaryFolder folder;
  const auto told = call({"migrate", "check", "-f", folder.write("c.yaml", config)});
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_NE(told.out.find("0 block, 0 differ, 0 notes\n"), std::string::npos) << told.out;
}

TEST(MigrateCheck, PrintsATableWithWhatHappensAndWhatToDo) {
  const TemporaryFolder folder;
  const auto told = call({"migrate", "check", "-f", folder.write("p.json", pod)});
  EXPECT_TRUE(told.out.starts_with("SEVERITY   OBJECT")) << told.out;
  for (const char* part : {"blocks     Pod ns/p", "spec.schedulingGates", "their gate is never taken away.",
                           "Delete the pods, or make Jobs of them.", "1 blocks, 0 differ, 1 note"})
    EXPECT_NE(told.out.find(part), std::string::npos) << part << "\n" << told.out;
  EXPECT_EQ(told.out.find("gated-pods"), std::string::npos);
  EXPECT_NE(call({"migrate", "check", "-f", folder.write("p.json", pod), "-o", "wide"}).out.find("gated-pods"), std::string::npos);
  EXPECT_NE(call({"migrate", "check", "-f", folder.write("p.json", pod), "-o", "yaml"}).out.find("rule: gated-pods"), std::string::npos);
}

TEST(MigrateCheck, WhatIsNoFileOfObjectsIsRefused) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& file, const std::string& part) {
    const auto told = call({"migrate", "check", "-f", file});
    EXPECT_EQ(told.status, 2) << told.err;
    EXPECT_NE(told.err.find(part), std::string::npos) << told.err;
  };
  refused(folder.write("a.yaml", "- 1\n"), "a.yaml: found array; allowed: objects with kind, or lists of them");
  refused(folder.write("b.yaml", "a: 1\n"), "b.yaml: found an object without kind");
  refused(folder.write("c.yaml", "a: [1\n"), "c.yaml: ");
  refused("/nowhere/at/all.yaml", "/nowhere/at/all.yaml: No such file or directory");
  EXPECT_EQ(call({"migrate", "check", "-f", "x", "--kubeconfig", "y"}).status, 2);
  EXPECT_EQ(call({"migrate"}).status, 2);
}

TEST(MigrateCheck, StrangeObjectsDoNoHarm) {
  const TemporaryFolder folder;
  for (
      const char* text :
      {R"({"kind": "Workload", "apiVersion": "kueue.x-k8s.io/v1beta2"})",
       R"({"kind": "Workload", "apiVersion": "kueue.x-k8s.io/v1beta1", "metadata": 1, "spec": [], "status": "x"})",
       R"({"kind": "Job", "apiVersion": "batch/v1", "metadata": {"labels": [], "ownerReferences": {}}, "spec": null})",
       R"({"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "kueue-controller-manager"}, "spec": {"template": []}})",
       R"({"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1", "spec": {"group": "kueue.x-k8s.io", "versions": [1, {}]}, "status": {"storedVersions": [1]}})",
       R"({"kind": "MutatingWebhookConfiguration", "apiVersion": "admissionregistration.k8s.io/v1", "webhooks": [null]})",
       R"({"kind": "APIService", "apiVersion": "apiregistration.k8s.io/v1", "spec": {"group": "visibility.kueue.x-k8s.io"}})",
       R"({"kind": "ConfigMap", "apiVersion": "v1", "data": {"c": "config.kueue.x-k8s.io/ ]["}})", R"({"items": [], "kind": "List"})"}) {
    const auto told = call({"migrate", "check", "-f", folder.write("o.json", text)});
    EXPECT_TRUE(told.status == 0 || told.status == 1) << text << "\n" << told.err;
  }
}

TEST(MigrateCheck, TheConfigurationComesFromTheConfigMapOrFromAFile) {
  const TemporaryFolder folder;
  const auto map = folder.write("map.yaml",
                                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kueue-manager-config, namespace: kueue-system}\ndata:\n "
                                " controller_manager_config.yaml: |\n    "
                                "apiVersion: config.kueue.x-k8s.io/v1beta2\n    kind: Configuration\n    featureGates: {Nonsense: true}\n");
  const auto told = call({"migrate", "check", "-f", map, "-o", "json"});
  EXPECT_EQ(told.status, 1);
  const json first = json::parse(told.out).at("findings").at(0);
  EXPECT_EQ(first.at("rule"), "config-refused");
  EXPECT_EQ(first.at("object"), "ConfigMap kueue-system/kueue-manager-config");
  EXPECT_EQ(first.at("field"), "featureGates.Nonsense");
  const auto file = folder.write("c.yaml", config + "featureGates: {MetricsForCohorts: false}\n");
  EXPECT_EQ(rules_of(call({"migrate", "check", "-f", map, "--kueue-config", file, "-o", "json"})),
            std::vector<std::string>{"gate-always-on"});
  EXPECT_EQ(call({"migrate", "check", "-f", map, "--kueue-config", "/nowhere"}).status, 2);
}

// ---- a cluster ----------------------------------------------------------------------------------------------------------------------

TEST(MigrateCheck, AsksAClusterForEverythingAndSaysWhatItWasNotShown) {
  FakeApiServer server([](Exchange& e) {
    const auto last = e.path.substr(e.path.rfind('/') + 1);
    if (last == "secrets" || last == "limitranges") return e.answer(403, R"({"kind": "Status", "reason": "Forbidden", "message": "no"})");
    if (last == "kueue-controller-manager")
      return e.answer(200, R"({"metadata": {"name": "kueue-controller-manager", "namespace": "queues"}, "spec": {"replicas": 2}})");
    if (last == "pods") {
      EXPECT_EQ(e.query["labelSelector"], "kueue.x-k8s.io/managed=true");
      if (e.query["continue"].empty()) return e.answer(200, R"({"metadata": {"continue": "more"}, "items": []})");
      return e.answer(200, R"({"metadata": {}, "items": [)" + pod + "]}");
    }
    if (e.query.contains("limit")) return e.answer(200, R"({"metadata": {}, "items": []})");
    e.answer(404, R"({"kind": "Status", "reason": "NotFound", "message": "not there"})");
  });
  const TemporaryFolder folder;
  const auto kubeconfig =
      folder.write("config", R"({"kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
      "users":[{"name":"u","user":{}}],"clusters":[{"name":"c","cluster":{"server":")" +
                                 server.url() + R"("}}]})");
  const auto told = call({"migrate", "check", "--kubeconfig", kubeconfig, "--kueue-namespace", "queues", "-o", "json"});
  EXPECT_EQ(told.status, 1) << told.err;
  const json findings = json::parse(told.out).at("findings");
  const auto has = [&](const std::string& rule, const std::string& object) {
    for (const auto& f : findings)
      if (f.at("rule") == rule && f.at("object") == object) return true;
    return false;
  };
  EXPECT_TRUE(has("not-seen", "limitranges")) << told.out;
  EXPECT_TRUE(has("kueue-runs", "Deployment queues/kueue-controller-manager")) << told.out;
  EXPECT_TRUE(has("gated-pods", "Pod ns/p")) << told.out;
  EXPECT_TRUE(has("definition-missing", "CustomResourceDefinition workloads.kueue.x-k8s.io")) << told.out;
  EXPECT_FALSE(has("definition-missing", "CustomResourceDefinition multikueueconfigs.kueue.x-k8s.io")) << "nobody reads these here";
}

TEST(MigrateCheck, AClusterThatDoesNotAnswerIsAnError) {
  FakeApiServer server([](Exchange& e) { e.answer(500, R"({"kind": "Status", "reason": "InternalError", "message": "broken"})"); });
  const TemporaryFolder folder;
  const auto kubeconfig =
      folder.write("config", R"({"kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
      "users":[{"name":"u","user":{}}],"clusters":[{"name":"c","cluster":{"server":")" +
                                 server.url() + R"("}}]})");
  const auto told = call({"migrate", "check", "--kubeconfig", kubeconfig});
  EXPECT_EQ(told.status, 1);
  EXPECT_NE(told.err.find("broken"), std::string::npos) << told.err;
  EXPECT_EQ(told.out, "");
}

// ---- what is said happens -----------------------------------------------------------------------------------------------------------

std::string scenario(const std::string& objects) {
  return "apiVersion: hindsight.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n  steps:\n  - at: 0s\n    apply:\n"
         "    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}\n"
         "    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq, namespace: default}, spec: {clusterQueue: "
         "cq}}\n" +
         objects;
}
std::string queue(const std::string& more) {
  return "    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}, " + more +
         "resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]}]}}\n";
}
std::string queued_job(const std::string& suspend, const std::string& meta, const std::string& pod_spec) {
  return "    - {apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq}" + meta +
         "}, spec: {suspend: " + suspend +
         ", template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]" + pod_spec +
         "}}}}\n";
}

json state_after(const std::string& text) {
  const TemporaryFolder folder;
  const auto told = call({"simulate", folder.write("scenario.yaml", scenario(text)), "-o", "states"});
  EXPECT_EQ(told.status, 0) << told.err;
  const auto document = json::parse(told.out, nullptr, false);
  EXPECT_FALSE(document.is_discarded()) << told.out;
  return document.is_discarded() ? json::object() : document.at("states").back();
}

// runs-without-workload
TEST(MigrateTruth, AJobThatRunsWithoutAWorkloadIsStopped) {
  const auto state = state_after(queued_job("false", "", ""));
  EXPECT_EQ(state.at("jobs").at("Job/default/j").at("suspended"), true) << state.dump(1);
}

// part-of-unmanaged
TEST(MigrateTruth, APartOfAnOwnerThatOnlyKueueKnowsIsStopped) {
  const std::string owner =
      ", ownerReferences: [{apiVersion: workload.codeflare.dev/v1beta2, kind: AppWrapper, name: a, uid: u-a, controller: true}]";
  const auto state = state_after(queued_job("false", owner, ""));
  EXPECT_EQ(state.at("jobs").at("Job/default/j").at("suspended"), true) << state.dump(1);
}

// check-multikueue, check-provisioning
TEST(MigrateTruth, ChecksOfMultiKueueAndProvisioningStayPending) {
  for (const std::string controller : {"kueue.x-k8s.io/multikueue", "kueue.x-k8s.io/provisioning-request"}) {
    const std::string check =
        "    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: ck}, spec: {controllerName: " + controller +
        "}, status: {conditions: [{type: Active, status: 'True', reason: Active, message: m, lastTransitionTime: "
        "'2026-01-01T00:00:00Z'}]}}\n";
    const auto state =
        state_after(check + queue("admissionChecksStrategy: {admissionChecks: [{name: ck}]}, ") + queued_job("true", "", ""));
    const auto& w = state.at("workloads").at("Job/default/j");
    EXPECT_EQ(w.at("checks").at("ck"), "Pending") << state.dump(1);
    EXPECT_EQ(w.at("conditions").at("Admitted").at(0), "False") << state.dump(1);
    EXPECT_EQ(state.at("jobs").at("Job/default/j").at("suspended"), true);
  }
}

// resource-claims
TEST(MigrateTruth, ClaimsOfDevicesUseNoQuota) {
  const auto state = state_after(queue("") + queued_job("true", "", ", resourceClaims: [{name: gpu, resourceClaimName: claim}]"));
  EXPECT_EQ(state.at("workloads").at("Job/default/j").at("admitted").at("main").at("usage"), (json{{"cpu", "1"}})) << state.dump(1);
}

// unlike-running-job: of a group of a RayCluster the larger of both numbers counts here (EJ-129), in Kueue `replicas` alone.
TEST(MigrateTruth, AGroupThatItsAutoscalerMayNotMakeSmallerCountsWhole) {
  const json cluster = json::parse(
      R"({"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r", "namespace": "default", "uid": "u-r", "labels": {"kueue.x-k8s.io/queue-name": "lq"}},
    "spec": {"suspend": false, "headGroupSpec": {"template": {"spec": {"containers": [{"name": "h"}]}}},
             "workerGroupSpecs": [{"groupName": "w", "replicas": 1, "minReplicas": 3, "template": {"spec": {"containers": [{"name": "c"}]}}}]}})");
  json workload = json::parse(
      R"({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": "w", "namespace": "default", "uid": "u-w", "finalizers": ["kueue.x-k8s.io/resource-in-use"],
    "ownerReferences": [{"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": "r", "uid": "u-r", "controller": true}]},
    "spec": {"queueName": "lq", "podSets": [{"name": "head", "count": 1, "template": {"spec": {"containers": [{"name": "h"}]}}},
                                            {"name": "w", "count": 1, "template": {"spec": {"containers": [{"name": "c"}]}}}]},
    "status": {"conditions": [{"type": "Admitted", "status": "True", "reason": "Admitted", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})");
  const TemporaryFolder folder;
  const auto check = [&] {
    return call({"migrate", "check", "-o", "json", "-f", folder.write("r.json", json{{"items", {cluster, workload}}}.dump())});
  };
  const Told told = check();
  EXPECT_EQ(told.status, 1) << told.out;
  const json first = json::parse(told.out).at("findings").at(0);
  EXPECT_EQ(first.at("rule"), "unlike-running-job") << told.out;
  EXPECT_EQ(first.at("found"), "1, the job has 3, RayCluster default/r") << told.out;
  workload["spec"]["podSets"][1]["count"] = 3;
  EXPECT_EQ(check().status, 0);
}

// kind-of-workloads: quota is held; whoever made the Workload has to finish it.
TEST(MigrateTruth, AWorkloadOfAnUnknownKindKeepsItsQuota) {
  const std::string workload =
      "    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w, namespace: default, ownerReferences: [{apiVersion: "
      "kubeflow.org/v2beta1, kind: MPIJob, name: m, "
      "uid: u-m, controller: true}]}, spec: {queueName: lq, podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, "
      "image: i, resources: {requests: {cpu: 1}}}]}}}]}}\n";
  const auto state = state_after(queue("") + workload);
  EXPECT_EQ(state.at("clusterQueues").at("cq").at("reserving"), 1) << state.dump(1);
  EXPECT_EQ(state.at("workloads").begin()->at("conditions").contains("Finished"), false) << state.dump(1);
}

}  // namespace
}  // namespace hindsight::cli
