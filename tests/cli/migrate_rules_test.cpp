// Each rule of `hindsight migrate check` is shown by a world in which it holds and by one, all but the same, in which it does not
// (issue 21, point 3).

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/migrate/report.hpp"
#include "cli/migrate/rules.hpp"
#include "connectors/manifests/yaml_reader.hpp"
#include "operations/feature_gates.hpp"

namespace hindsight::cli::migrate {
namespace {

struct RuleCase {
  const char* rule;
  std::string objects;             ///< YAML documents; "CONFIGURATION:" begins a configuration file.
  const char* object;              ///< Whom the finding names.
  const char* field;               ///< Its field.
  const char* found;               ///< A part of what was found.
  std::string there, instead;      ///< The same world with this in place of that has no such finding.
  bool definitions_known = false;  ///< As of a cluster that was asked for each.
};

const std::string config_head = "CONFIGURATION:\napiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";

std::string deployment(const std::string& replicas, const std::string& arguments = "[--config=/f.yaml]") {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: kueue-controller-manager, namespace: kueue-system}\nspec:\n  replicas: " +
         replicas + "\n  template: {spec: {containers: [{name: manager, args: " + arguments + "}]}}\n";
}

std::string webhooks(const std::string& policy, const std::string& service = "kueue-webhook-service") {
  return "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {name: "
         "kueue-mutating-webhook-configuration}\n"
         "webhooks:\n- name: mjob.kb.io\n  failurePolicy: " +
         policy + "\n  clientConfig: {service: {name: " + service + ", namespace: elsewhere}}\n";
}

std::string definition(const std::string& served, const std::string& stored, const std::string& conversion = "None",
                       const std::string& fields = "conditions: {}, flavorsReservation: {}, flavorsUsage: {}, pendingWorkloads: {}") {
  return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: clusterqueues.kueue.x-k8s.io}\nspec:\n"
         "  group: kueue.x-k8s.io\n  names: {plural: clusterqueues}\n  conversion: {strategy: " +
         conversion +
         ", webhook: {clientConfig: {service: {name: kueue-webhook-service, namespace: kueue-system}}}}\n"
         "  versions:\n  - name: v1beta1\n    served: true\n  - name: v1beta2\n    served: " +
         served + "\n    schema: {openAPIV3Schema: {properties: {status: {properties: {" + fields + "}}}}}\nstatus: {storedVersions: [" +
         stored + "]}\n";
}

std::string check_in_use(const std::string& controller, const std::string& used) {
  return "apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: ck}\nspec: {controllerName: " + controller +
         "}\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: cq}\nspec: {admissionChecksStrategy: "
         "{admissionChecks: [{name: " +
         used + "}]}}\n";
}

/// A Workload of `owner` with quota.
std::string workload(const std::string& owner, const std::string& meta = "finalizers: [kueue.x-k8s.io/resource-in-use]",
                     const std::string& pod_spec = "containers: [{name: c, resources: {requests: {cpu: 1}}}]",
                     const std::string& conditions =
                         "[{type: QuotaReserved, status: 'True', reason: QuotaReserved, message: m, lastTransitionTime: "
                         "'2026-01-01T00:00:00Z'}, {type: Admitted, status: 'True', reason: Admitted, message: m, "
                         "lastTransitionTime: '2026-01-01T00:00:00Z'}]",
                     const std::string& name = "w") {
  return "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata:\n  name: " + name + "\n  namespace: default\n  uid: u-" + name +
         "\n  ownerReferences: [{controller: true, " + owner + "}]\n  " + meta +
         "\nspec: {queueName: lq, podSets: [{name: main, count: 1, template: {spec: {" + pod_spec +
         "}}}]}\nstatus:\n  admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 1, flavors: {cpu: f}, resourceUsage: "
         "{cpu: "
         "1}}]}\n  conditions: " +
         conditions + "\n";
}
const std::string of_job = "apiVersion: batch/v1, kind: Job, name: j, uid: u-j";

std::string batch_job(const std::string& suspend, const std::string& meta = "labels: {kueue.x-k8s.io/queue-name: lq}",
                      const std::string& spec = "") {
  return "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j\n  namespace: default\n  uid: u-j\n  " + meta +
         "\nspec:\n  suspend: " + suspend + "\n  parallelism: 1\n  completions: 1\n" + spec +
         "  template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}\n";
}

const std::string waiting =
    "[{type: QuotaReserved, status: 'False', reason: Pending, message: m, lastTransitionTime: '2026-01-01T00:00:00Z'}]";
const std::string requests = "containers: [{name: c, resources: {requests: {cpu: 1}}}]";
const std::string in_use = "finalizers: [kueue.x-k8s.io/resource-in-use]";

std::vector<RuleCase> cases() {
  const std::string slices =
      batch_job("false", "labels: {kueue.x-k8s.io/queue-name: lq}\n  annotations: {kueue.x-k8s.io/elastic-job: 'true'}") + "---\n" +
      workload(of_job, in_use, requests, waiting, "a") + "---\n" + workload(of_job, in_use, requests, waiting, "b") + "---\n" +
      workload(of_job, in_use, requests, waiting, "c");
  std::string five_pods = batch_job("true");
  const std::string one = "parallelism: 1\n  completions: 1";
  five_pods.replace(five_pods.find(one), one.size(), "parallelism: 5\n  completions: 5");
  const std::string option = workload("apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, name: parent, uid: u-p");
  return {
      {"kueue-runs", deployment("1"), "Deployment kueue-system/kueue-controller-manager", "spec.replicas", "1", "replicas: 1",
       "replicas: 0"},
      {"webhook-of-kueue", webhooks("Fail"), "MutatingWebhookConfiguration kueue-mutating-webhook-configuration", "webhooks",
       "1 with failurePolicy Fail", "kueue-webhook-service", "hindsight-webhook-service"},
      {"soft-webhook-of-kueue", webhooks("Ignore"), "MutatingWebhookConfiguration kueue-mutating-webhook-configuration", "webhooks",
       "1 with failurePolicy Ignore", "Ignore", "Fail"},
      {"visibility-of-kueue",
       "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1beta2.visibility.kueue.x-k8s.io}\nspec: {group: "
       "visibility.kueue.x-k8s.io, service: {name: kueue-visibility-server, namespace: kueue-system}}\n",
       "APIService v1beta2.visibility.kueue.x-k8s.io", "spec.service", "kueue-system/kueue-visibility-server",
       "name: kueue-visibility-server, namespace: kueue-system", "name: hindsight, namespace: hindsight-system"},
      {"definition-missing", definition("true", "v1beta2"), "CustomResourceDefinition workloads.kueue.x-k8s.io", "", "not there",
       "names: {plural: clusterqueues}", "names: {plural: workloads}", true},
      {"version-missing", definition("false", "v1beta2"), "CustomResourceDefinition clusterqueues.kueue.x-k8s.io", "spec.versions",
       "serves v1beta1", "served: false", "served: true"},
      {"version-stored", definition("true", "v1beta1, v1beta2"), "CustomResourceDefinition clusterqueues.kueue.x-k8s.io",
       "status.storedVersions", "v1beta1", "[v1beta1, v1beta2]", "[v1beta2]"},
      {"converted-by-kueue", definition("true", "v1beta2", "Webhook"), "CustomResourceDefinition clusterqueues.kueue.x-k8s.io",
       "spec.conversion", "Service kueue-system/kueue-webhook-service", "strategy: Webhook", "strategy: None"},
      {"field-missing", definition("true", "v1beta2", "None", "conditions: {}"), "CustomResourceDefinition clusterqueues.kueue.x-k8s.io",
       "status.flavorsUsage", "not in v1beta2", "conditions: {}",
       "conditions: {}, flavorsReservation: {}, flavorsUsage: {}, pendingWorkloads: {}"},
      {"config-refused", config_head + "manageJobsWithoutQueueNames: true\n", "a configuration", "manageJobsWithoutQueueNames", "",
       "QueueNames", "QueueName"},
      {"config-absent", batch_job("true"), "configuration", "", "none", batch_job("true"), config_head},
      {"config-warning", config_head + "admissionFairSharing: {usageHalfLifeTime: 1h}\nfeatureGates: {AdmissionFairSharing: false}\n",
       "a configuration", "", "", "AdmissionFairSharing: false", "AdmissionFairSharing: true"},
      {"config-no-effect", config_head + "controller: {groupKindConcurrency: {Job.batch: 5}}\n", "a configuration",
       "controller.groupKindConcurrency", "{\"Job.batch\":5}", "controller: {groupKindConcurrency: {Job.batch: 5}}", ""},
      {"config-needs-option", config_head + "visibilityServer: {bindPort: 8083}\n", "a configuration", "visibilityServer", "8083",
       "visibilityServer: {bindPort: 8083}", ""},
      {"config-framework", config_head + "integrations: {frameworks: [batch/job, kubeflow.org/mpijob]}\n", "a configuration",
       "integrations.frameworks[1]", "kubeflow.org/mpijob", "kubeflow.org/mpijob", "jobset.x-k8s.io/jobset"},
      {"config-external-framework", config_head + "integrations: {externalFrameworks: [Foo.v1.example.com]}\n", "a configuration",
       "integrations.externalFrameworks[0]", "Foo.v1.example.com", "[Foo.v1.example.com]", "[]"},
      {"config-devices", config_head + "resources: {deviceClassMappings: [{name: example.com/gpu, deviceClassNames: [gpu.example.com]}]}\n",
       "a configuration", "resources.deviceClassMappings", "gpu.example.com",
       "resources: {deviceClassMappings: [{name: example.com/gpu, deviceClassNames: [gpu.example.com]}]}", ""},
      {"config-jitter", config_head + "waitForPodsReady: {requeuingStrategy: {backoffBaseSeconds: 30}}\n", "a configuration",
       "waitForPodsReady.requeuingStrategy.backoffBaseSeconds", "30", "backoffBaseSeconds: 30", "backoffLimitCount: 3"},
      {"gate-same", config_head + "featureGates: {PartialAdmission: false}\n", "a configuration", "featureGates.PartialAdmission", "false",
       "PartialAdmission", "TASCacheTopologyTree"},
      {"gate-inner", config_head + "featureGates: {TASCacheTopologyTree: false}\n", "a configuration", "featureGates.TASCacheTopologyTree",
       "false", "TASCacheTopologyTree", "PartialAdmission"},
      {"gate-always-on", config_head + "featureGates: {MetricsForCohorts: false}\n", "a configuration", "featureGates.MetricsForCohorts",
       "false", "MetricsForCohorts: false", "MetricsForCohorts: true"},
      {"gate-absent", deployment("0", "[--feature-gates=FailureRecoveryPolicy=true]"), "command line of Kueue",
       "--feature-gates FailureRecoveryPolicy", "true", "FailureRecoveryPolicy=true", "FailureRecoveryPolicy=false"},
      {"gate-earlier", config_head + "featureGates: {LendingLimit: true}\n", "a configuration", "featureGates.LendingLimit", "true",
       "LendingLimit", "PartialAdmission"},
      {"kind-of-workloads", workload("apiVersion: kubeflow.org/v2beta1, kind: MPIJob, name: m, uid: u-m"),
       "Workloads of MPIJob.kubeflow.org", "metadata.ownerReferences", "1 unfinished, 1 with quota, as default/w",
       "apiVersion: kubeflow.org/v2beta1, kind: MPIJob", "apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet"},
      {"gated-pods",
       "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default}\nspec: {schedulingGates: [{name: kueue.x-k8s.io/admission}]}\n",
       "Pod default/p", "spec.schedulingGates", "kueue.x-k8s.io/admission", "kueue.x-k8s.io/admission", "kueue.x-k8s.io/topology"},
      {"check-multikueue", check_in_use("kueue.x-k8s.io/multikueue", "ck"), "ClusterQueue cq", "spec.admissionChecksStrategy",
       "ck, controller kueue.x-k8s.io/multikueue", "controllerName: kueue.x-k8s.io/multikueue", "controllerName: example.com/check"},
      {"check-provisioning", check_in_use("kueue.x-k8s.io/provisioning-request", "ck"), "ClusterQueue cq", "spec.admissionChecksStrategy",
       "ck, controller kueue.x-k8s.io/provisioning-request", "controllerName: kueue.x-k8s.io/provisioning-request",
       "controllerName: example.com/check"},
      {"check-unused", check_in_use("kueue.x-k8s.io/multikueue", "other"), "AdmissionCheck ck", "spec.controllerName",
       "kueue.x-k8s.io/multikueue", "[{name: other}]", "[{name: ck}]"},
      {"multikueue-objects", "apiVersion: kueue.x-k8s.io/v1beta2\nkind: MultiKueueConfig\nmetadata: {name: m}\nspec: {clusters: [a]}\n",
       "MultiKueueConfig m", "", "MultiKueueConfig", "kind: MultiKueueConfig", "kind: Topology"},
      {"multikueue-worker", workload(of_job, in_use + "\n  labels: {kueue.x-k8s.io/multikueue-origin: far}"), "Workload default/w",
       "metadata.labels", "far", "multikueue-origin", "other-origin"},
      {"part-of-unmanaged",
       batch_job(
           "false",
           "labels: {kueue.x-k8s.io/queue-name: lq}\n  ownerReferences: [{controller: true, apiVersion: workload.codeflare.dev/v1beta2, "
           "kind: AppWrapper, name: a, uid: u-a}]"),
       "Job default/j", "metadata.ownerReferences", "AppWrapper a", "suspend: false", "suspend: true"},
      {"set-aside-holding", workload(of_job, in_use, "containers: [{name: c, resources: {requests: {cpu: much}}}]"), "Workload default/w",
       "spec.podSets[0].template.spec.containers[0].resources.requests", "much", "cpu: much", "cpu: 2"},
      {"set-aside",
       "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: lq, namespace: default, uid: u}\nspec: {clusterQueue: "
       "[cq]}\n",
       "LocalQueue default/lq", "spec.clusterQueue", "allowed: ", "[cq]", "cq"},
      {"resource-claims", workload(of_job, in_use, requests + ", resourceClaims: [{name: gpu}]"), "Workload default/w",
       "spec.podSets[0].template.spec.resourceClaims", "1 claims", "resourceClaims", "tolerations"},
      {"runs-without-workload", batch_job("false"), "Job default/j", "spec.suspend", "false, queue lq", "suspend: false", "suspend: true"},
      {"runs-without-admission", batch_job("false") + "---\n" + workload(of_job, in_use, requests, waiting), "Job default/j",
       "spec.suspend", "false, Workload default/w", "suspend: false", "suspend: true"},
      {"unlike-running-job",
       batch_job("false") + "---\n" + workload(of_job, in_use, "containers: [{name: c, resources: {requests: {cpu: 2}}}]"),
       "Workload default/w", "spec.podSets[0].template", "not that of the job, Job default/j", "cpu: 2", "cpu: 1"},
      {"unlike-waiting-job", five_pods + "---\n" + workload(of_job, in_use, requests, waiting), "Workload default/w",
       "spec.podSets[0].count", "1, the job has 5", "parallelism: 5\n  completions: 5", "parallelism: 1\n  completions: 1"},
      {"finalizer-of-others", workload(of_job, "finalizers: [kueue.x-k8s.io/resource-in-use, example.com/audit]"), "Workload default/w",
       "metadata.finalizers", "example.com/audit", ", example.com/audit", ""},
      {"many-slices", slices, "Job default/j", "", "3 unfinished Workloads", "elastic-job: 'true'", "elastic-job: 'false'"},
      {"slice-of-other-job",
       workload(of_job, in_use + "\n  annotations: {kueue.x-k8s.io/workload-slice-replacement-for: default/b}") + "---\n" +
           workload("apiVersion: batch/v1, kind: Job, name: k, uid: u-k", in_use, requests, waiting, "b"),
       "Workload default/w", "metadata.annotations[kueue.x-k8s.io/workload-slice-replacement-for]", "default/b", "name: k, uid: u-k",
       "name: j, uid: u-j"},
      {"options-without-gate", option, "Workload default/w", "metadata.ownerReferences", "Option of parent", "kind: Workload, name: parent",
       "kind: Job, name: parent"},
      {"options-with-gate", option + config_head + "featureGates: {ConcurrentAdmission: true}\n", "Workload default/w",
       "metadata.ownerReferences", "Option of parent", "ConcurrentAdmission: true", "ConcurrentAdmission: false"},
      {"reasons-of-waiting", workload(of_job, in_use, requests, waiting), "Workloads", "status.conditions", "Pending, 1 of them",
       "reason: Pending", "reason: WaitingForQuota"},
  };
}

World world_of(const std::string& text, bool definitions_known) {
  World world;
  world.definitions_known = definitions_known;
  const std::string mark = "CONFIGURATION:\n";
  const auto at = text.find(mark);
  const auto documents = connectors::manifests::read_yaml(std::string_view(text).substr(0, at));
  EXPECT_TRUE(documents) << (documents ? "" : documents.error().message) << "\n" << text;
  if (documents)
    for (const auto& document : *documents) world.add(document.value);
  if (at != std::string::npos) world.configuration = KueueConfiguration{text.substr(at + mark.size()), "a configuration"};
  return world;
}

std::vector<Finding> found_by(const std::string& rule, const Findings& findings) {
  std::vector<Finding> out;
  for (auto& f : findings.sorted())
    if (f.rule->id == rule) out.push_back(std::move(f));
  return out;
}

std::string told(const Findings& findings) { return projections::render(findings_table(findings), {.wide = true}); }

TEST(MigrateRules, EachIsFoundWhereItHoldsAndNotWhereItDoesNot) {
  for (const auto& c : cases()) {
    SCOPED_TRACE(c.rule);
    const auto findings = look_at_everything(world_of(c.objects, c.definitions_known));
    const auto mine = found_by(c.rule, findings);
    const auto it =
        std::find_if(mine.begin(), mine.end(), [&](const Finding& f) { return f.object == c.object && f.field.starts_with(c.field); });
    ASSERT_NE(it, mine.end()) << told(findings);
    EXPECT_NE(it->found.find(c.found), std::string::npos) << it->found;
    EXPECT_FALSE(it->happens.empty());
    EXPECT_EQ(*std::prev(it->happens.end()), '.') << it->happens;

    std::string other = c.objects;
    const auto at = other.find(c.there);
    ASSERT_NE(at, std::string::npos) << "nothing to change: " << c.there;
    other.replace(at, c.there.size(), c.instead);
    const auto harmless = look_at_everything(world_of(other, c.definitions_known));
    const auto left = found_by(c.rule, harmless);
    EXPECT_TRUE(std::none_of(left.begin(), left.end(), [&](const Finding& f) { return f.object == c.object && f.field == it->field; }))
        << told(harmless);
  }
}

TEST(MigrateRules, NoneIsWithoutACase) {
  std::set<std::string> shown{"not-seen"};  // tests/cli/migrate_test.cpp: it needs an API server that refuses
  for (const auto& c : cases()) shown.insert(c.rule);
  std::set<std::string_view> ids;
  for (const auto* rule : all_rules()) {
    EXPECT_TRUE(shown.contains(std::string(rule->id))) << rule->id;
    EXPECT_TRUE(ids.insert(rule->id).second) << rule->id << " stands twice";
    if (rule->severity != Severity::note) {
      EXPECT_FALSE(rule->remedy.empty()) << rule->id;
    }
  }
  EXPECT_EQ(shown.size(), ids.size());
}

TEST(MigrateRules, AWorldAtRestHasNothingToTell) {
  const auto findings = look_at_everything(world_of(batch_job("false") + "---\n" + workload(of_job) + config_head, false));
  EXPECT_TRUE(findings.sorted().empty()) << told(findings);
  EXPECT_EQ(summary_of(findings), "0 block, 0 differ, 0 notes");
}

TEST(MigrateRules, OfManyFindingsAFewAreToldAndAllAreCounted) {
  std::string many;
  const std::size_t count = Findings::told_max + 7;
  for (std::size_t i = 0; i < count; ++i)
    many += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p" + std::to_string(i) +
            ", namespace: default}\nspec: {schedulingGates: [{name: kueue.x-k8s.io/admission}]}\n";
  const auto findings = look_at_everything(world_of(many, false));
  EXPECT_EQ(found_by("gated-pods", findings).size(), Findings::told_max);
  EXPECT_EQ(findings.count(Severity::blocks), count);
  EXPECT_NE(summary_of(findings).find("not shown of gated-pods: 7"), std::string::npos) << summary_of(findings);
  EXPECT_EQ(findings_document(findings)["leftOut"]["gated-pods"], 7);
}

// ---- what is said of feature gates --------------------------------------------------------------------------------------------------

/// Names in quotes in the code that could ask for a gate.
std::set<std::string> names_in_code() {
  namespace fs = std::filesystem;
  std::set<std::string> out;
  const fs::path root(HINDSIGHT_TEST_SOURCE_DIR);
  for (const char* folder : {"admission", "connectors", "events", "operations", "page", "projections", "routing", "runtime"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      if (entry.path().stem() == "feature_gates") continue;  // the table itself
      std::ifstream file(entry.path());
      const std::string text(std::istreambuf_iterator<char>(file), {});
      for (std::size_t at = text.find('"'); at != std::string::npos; at = text.find('"', at + 1)) {
        const auto end = text.find('"', at + 1);
        if (end == std::string::npos) break;
        out.insert(text.substr(at + 1, end - at - 1));
        at = end;
      }
    }
  return out;
}

TEST(MigrateGates, EveryKnownOneHasAStanding) {
  const auto known = operations::feature_gates();
  const auto standings = gate_standings();
  ASSERT_EQ(known.size(), standings.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    EXPECT_EQ(known[i].name, standings[i].name);
    EXPECT_EQ(standings[i].instead.empty(), standings[i].standing == Standing::same || standings[i].standing == Standing::inner)
        << known[i].name;
  }
}

TEST(MigrateGates, AnEarlierOneIsNotKnownAnyMore) {
  ASSERT_FALSE(earlier_gates().empty());
  for (const auto& gate : earlier_gates()) {
    EXPECT_EQ(operations::find_feature_gate(gate.name), nullptr) << gate.name;
    EXPECT_FALSE(gate.instead.empty()) << gate.name;
    EXPECT_TRUE(is_earlier_gate(gate.name));
  }
  EXPECT_FALSE(is_earlier_gate("PartialAdmission"));
}

// The command line of Kueue's alpha manifests, and a file of its release 0.17: each earlier gate is told once, and hides nothing else.
TEST(MigrateGates, EarlierOnesHideNothingElse) {
  const auto told_earlier = [](const Findings& findings) {
    std::set<std::string> out;
    for (const auto& finding : found_by("gate-earlier", findings)) out.insert(finding.field + "=" + finding.found);
    return out;
  };
  const auto of_process = look_at_everything(
      world_of(deployment("0", "['--feature-gates=AllAlpha=true, LendingLimit=false,FailureRecoveryPolicy=true']") + config_head, false));
  EXPECT_EQ(told_earlier(of_process), (std::set<std::string>{"--feature-gates AllAlpha=true", "--feature-gates LendingLimit=false"}));
  EXPECT_EQ(found_by("gate-absent", of_process).size(), 1U) << told(of_process);
  EXPECT_TRUE(found_by("config-refused", of_process).empty()) << told(of_process);

  const auto of_file =
      look_at_everything(world_of(config_head + "featureGates: {ObjectRetentionPolicies: true, NoSuchGateAtAll: true}\n", false));
  EXPECT_EQ(told_earlier(of_file), (std::set<std::string>{"featureGates.ObjectRetentionPolicies=true"}));
  const auto refused = found_by("config-refused", of_file);
  ASSERT_EQ(refused.size(), 1U) << told(of_file);
  EXPECT_EQ(refused.front().field, "featureGates.NoSuchGateAtAll");
}

TEST(MigrateGates, OneThatIsTheSameIsAskedForByCodeAndNoOtherIs) {
  const auto names = names_in_code();
  ASSERT_TRUE(names.contains("PartialAdmission"));
  // Asked for in warnings that a section of the configuration has no effect, and where webhooks refuse what MultiKueue would need.
  const std::set<std::string_view> only_warned{"CustomMetricLabels",
                                               "KueueDRAIntegration",
                                               "MultiKueue",
                                               "MultiKueueAdaptersForCustomJobs",
                                               "MultiKueueClusterProfile",
                                               "MultiKueueIncrementalDispatcherConfig"};
  for (const auto& gate : gate_standings()) {
    if (only_warned.contains(gate.name)) {
      EXPECT_EQ(gate.standing, Standing::absent) << gate.name;
      continue;
    }
    EXPECT_EQ(names.contains(std::string(gate.name)), gate.standing == Standing::same) << gate.name;
  }
}

}  // namespace
}  // namespace hindsight::cli::migrate
