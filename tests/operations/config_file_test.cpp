#include "operations/config_file.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "events/settings.hpp"
#include "operations/label_selector.hpp"

namespace hindsight::operations {
namespace {

using nlohmann::json;

constexpr std::string_view head = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";
constexpr std::string_view old_head = "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\n";

ConfigurationOptions options() { return {.own_namespace = "hindsight-system", .feature_gates = std::nullopt}; }

Result<Configuration> read(const std::string& body, std::string_view start = head) {
  return read_configuration(std::string(start) + body, "config.yaml", options());
}

Configuration good(const std::string& body, std::string_view start = head) {
  auto configuration = read(body, start);
  EXPECT_TRUE(configuration.has_value()) << body << (configuration ? "" : configuration.error().message);
  return configuration ? *configuration : Configuration();
}

std::string error_of(const std::string& body, std::string_view start = head) {
  const auto configuration = read(body, start);
  EXPECT_FALSE(configuration.has_value()) << "accepted: " << body;
  return configuration ? "" : configuration.error().message;
}

json canonical(const std::string& body, std::string_view start = head) { return json::parse(good(body, start).json); }

admission::Settings settings(const std::string& body, std::string_view start = head) {
  return events::read_settings(good(body, start).json).value();
}

// BA-27: the defaults are exactly those of base-api §11.
TEST(ConfigFileTest, DefaultsAreThoseOfTheTable) {
  const auto configuration = default_configuration(options()).value();
  EXPECT_EQ(configuration.json, good("").json);
  json c = json::parse(configuration.json);
  EXPECT_EQ(c.at("featureGates").size(), feature_gates().size());
  c.erase("featureGates");
  EXPECT_EQ(c, json::parse(R"({
    "apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "namespace": "hindsight-system",
    "webhook": {"port": 9443, "certDir": "/tmp/k8s-webhook-server/serving-certs"},
    "metrics": {"bindAddress": ":8443", "enableClusterQueueResources": false, "localQueueMetrics": {"enable": true}},
    "health": {"healthProbeBindAddress": ":8081"},
    "leaderElection": {"leaderElect": true, "leaseDuration": "15s", "renewDeadline": "10s", "retryPeriod": "2s", "resourceLock": "leases",
                       "resourceName": "c1f6bfd2.kueue.x-k8s.io", "resourceNamespace": "hindsight-system"},
    "manageJobsWithoutQueueName": false,
    "managedJobsNamespaceSelector": {"matchExpressions": [
      {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", "hindsight-system"]}]},
    "internalCertManagement": {"enable": true, "webhookServiceName": "kueue-webhook-service", "webhookSecretName": "kueue-webhook-server-cert"},
    "waitForPodsReady": {"timeout": "30m", "blockAdmission": false, "recoveryTimeout": "30m",
                         "requeuingStrategy": {"timestamp": "Eviction", "backoffBaseSeconds": 60, "backoffMaxSeconds": 3600}},
    "clientConnection": {"qps": 300, "burst": 500},
    "integrations": {"frameworks": ["batch/job"]},
    "multiKueue": {"gcInterval": "1m", "origin": "multikueue", "workerLostTimeout": "15m",
                   "dispatcherName": "kueue.x-k8s.io/multikueue-dispatcher-all-at-once"},
    "resources": {"quotaCheckStrategy": "BlockUndeclared"},
    "visibilityServer": {"bindPort": 8082}
  })"));

  EXPECT_TRUE(configuration.warnings.empty());
  EXPECT_EQ(configuration.namespace_, "hindsight-system");
  EXPECT_TRUE(configuration.leader_elect);
  EXPECT_EQ(configuration.lease.namespace_, "hindsight-system");
  EXPECT_EQ(configuration.lease.lease_duration, Duration::seconds(15));
  EXPECT_EQ(configuration.metrics_address, (ListenAddress{"", 8443}));
  EXPECT_EQ(configuration.health_address, (ListenAddress{"", 8081}));
  EXPECT_EQ(configuration.frameworks, std::vector<std::string>{"batch/job"});
  EXPECT_TRUE(configuration.gate("PartialAdmission"));
  EXPECT_FALSE(configuration.gate("PriorityBoost"));
}

TEST(ConfigFileTest, WithoutANamespaceTheDefaultOneIsKueues) {
  // Tests run outside of a cluster, so no service account says where.
  EXPECT_EQ(default_configuration().value().namespace_, "kueue-system");
}

// Every decision setting of a file reaches the decisions, and defaults are the same on both ways.
TEST(ConfigFileTest, DecisionsReadTheCanonicalText) {
  const auto from_nothing = events::read_settings("").value();
  const auto from_file = settings("");
  EXPECT_EQ(from_file.pods_ready_timeout, from_nothing.pods_ready_timeout);
  EXPECT_EQ(from_file.recovery_timeout, from_nothing.recovery_timeout);
  EXPECT_EQ(from_file.pods_ready_enabled, from_nothing.pods_ready_enabled);
  EXPECT_EQ(from_file.fair_sharing, from_nothing.fair_sharing);
  EXPECT_EQ(from_file.backoff_limit_count, from_nothing.backoff_limit_count);
  EXPECT_EQ(from_file.backoff_max_seconds, from_nothing.backoff_max_seconds);
  EXPECT_EQ(from_file.partial_admission, from_nothing.partial_admission);
  EXPECT_EQ(from_file.priority_boost, from_nothing.priority_boost);
  EXPECT_EQ(from_file.finish_orphaned, from_nothing.finish_orphaned);
  EXPECT_EQ(from_file.unadmitted_explicit_status, from_nothing.unadmitted_explicit_status);

  const auto s = settings(R"(
manageJobsWithoutQueueName: true
managedJobsNamespaceSelector:
  matchLabels: {team: a}
  matchExpressions:
  - {key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, hindsight-system]}
waitForPodsReady:
  timeout: 1m30s
  blockAdmission: true
  recoveryTimeout: 0s
  requeuingStrategy: {timestamp: Creation, backoffLimitCount: 3, backoffBaseSeconds: 10, backoffMaxSeconds: 20}
fairSharing:
  preemptionStrategies: [LessThanInitialShare]
admissionFairSharing: {usageHalfLifeTime: 10m, resourceWeights: {cpu: 2, memory: 0.5}}
resources:
  excludeResourcePrefixes: [example.com/]
  transformations:
  - input: nvidia.com/mig-1g.5gb
    strategy: Replace
    outputs: {example.com/memory: 5Ki, example.com/credits: 10}
objectRetentionPolicies: {workloads: {afterFinished: 1h, afterDeactivatedByKueue: 0s}}
featureGates: {PartialAdmission: false, PriorityBoost: true}
hindsight: {admissionsAhead: 7, reactivationBatch: 250ms, repeatedPreemptions: 5, topologyCapacity: Nodes, topologyMetrics: 2, topologyProfile: Compact}
)");
  EXPECT_TRUE(s.manage_jobs_without_queue_name);
  ASSERT_EQ(s.managed_jobs_namespaces.size(), 2U);  // BA-172
  const auto& in = s.managed_jobs_namespaces[s.managed_jobs_namespaces[0].op == SelectorOperator::in ? 0 : 1];
  EXPECT_EQ(in.key.text(), "team");
  EXPECT_EQ(in.values, std::vector<std::string>{"a"});
  ASSERT_EQ(from_file.managed_jobs_namespaces.size(), 1U);
  EXPECT_EQ(from_file.managed_jobs_namespaces[0].op, SelectorOperator::not_in);
  EXPECT_EQ(from_file.managed_jobs_namespaces[0].values, (std::vector<std::string>{"kube-system", "hindsight-system"}));
  EXPECT_EQ(s.pods_ready_timeout, Duration::seconds(90));
  EXPECT_EQ(s.recovery_timeout, Duration{0});
  EXPECT_TRUE(s.block_admission);
  EXPECT_FALSE(s.requeue_by_eviction_time);
  EXPECT_EQ(s.backoff_limit_count, 3);
  EXPECT_TRUE(s.fair_sharing);
  ASSERT_EQ(s.fair_strategies.size(), 1U);
  ASSERT_EQ(s.transformations.size(), 1U);
  EXPECT_TRUE(s.transformations[0].replace);
  EXPECT_EQ(s.retain_finished, Duration::seconds(3600));
  EXPECT_EQ(s.retain_deactivated, Duration{0});
  EXPECT_FALSE(s.partial_admission);
  EXPECT_TRUE(s.priority_boost);
  EXPECT_EQ(s.reactivation_batch, Duration::millis(250));
  EXPECT_EQ(s.repeated_preemptions, 5);  // D13
  EXPECT_EQ(s.admissions_ahead, 7);      // D15
  EXPECT_TRUE(s.compact_topologies);
  EXPECT_TRUE(s.count_hosts);
  EXPECT_FALSE(from_file.compact_topologies);
  EXPECT_FALSE(from_file.count_hosts);
  EXPECT_FALSE(settings("hindsight: {topologyCapacity: Sum}\n").count_hosts);
  EXPECT_FALSE(settings("hindsight: {topologyProfile: Kueue}\n").compact_topologies);
  ASSERT_TRUE(s.admission_fair_sharing.has_value());
  EXPECT_EQ(s.admission_fair_sharing->half_life, Duration::seconds(600));
  EXPECT_EQ(s.admission_fair_sharing->sampling_interval, Duration::seconds(300));
  EXPECT_EQ(s.admission_fair_sharing->resource_weights,
            (std::vector<std::pair<Symbol, double>>{{Symbol("cpu"), 2.0}, {Symbol("memory"), 0.5}}));
  EXPECT_FALSE(from_nothing.admission_fair_sharing.has_value());
  const auto off = settings("admissionFairSharing: {usageHalfLifeTime: 10m}\nfeatureGates: {AdmissionFairSharing: false}\n");
  EXPECT_FALSE(off.admission_fair_sharing.has_value()) << "the gate is off";
}

TEST(ConfigFileTest, EqualConfigurationsGiveEqualTextsWhicheverWayTheyAreWritten) {
  const std::string yaml = good("webhook: {port: 9443}\nhealth: {healthProbeBindAddress: ':9000'}\nfairSharing: null\n").json;
  const auto from_json = read_configuration(
      R"({"kind":"Configuration","health":{"healthProbeBindAddress":":9000"},"apiVersion":"config.kueue.x-k8s.io/v1beta2"})", "c.json",
      options());
  ASSERT_TRUE(from_json.has_value()) << from_json.error().message;
  EXPECT_EQ(yaml, from_json->json);
}

// base-api §4: the enable flags and defaults of v1beta1.
TEST(ConfigFileTest, V1beta1IsRewritten) {
  EXPECT_EQ(canonical("", old_head).at("waitForPodsReady"), (json{{"enable", false}}));
  EXPECT_FALSE(settings("", old_head).pods_ready_enabled);
  EXPECT_FALSE(settings("waitForPodsReady: {timeout: 1m}\n", old_head).pods_ready_enabled);
  const auto on = settings("waitForPodsReady: {enable: true}\n", old_head);
  EXPECT_TRUE(on.pods_ready_enabled);
  EXPECT_EQ(on.pods_ready_timeout, Duration::seconds(300));
  EXPECT_EQ(on.recovery_timeout, Duration::seconds(300));
  EXPECT_TRUE(on.block_admission);
  EXPECT_FALSE(settings("waitForPodsReady: {enable: true, blockAdmission: false}\n", old_head).block_admission);

  EXPECT_FALSE(settings("fairSharing: {preemptionStrategies: [LessThanInitialShare]}\n", old_head).fair_sharing);
  EXPECT_FALSE(canonical("fairSharing: {enable: false}\n", old_head).contains("fairSharing"));
  const auto fair = settings("fairSharing: {enable: true}\n", old_head);
  EXPECT_TRUE(fair.fair_sharing);
  EXPECT_EQ(fair.fair_strategies.size(), 2U);
  EXPECT_EQ(canonical("", old_head).at("apiVersion"), "config.kueue.x-k8s.io/v1beta2");
}

TEST(ConfigFileTest, FieldsThatV1beta2HasNoMoreAreDroppedWithAWarning) {
  const auto c = good(
      "queueVisibility: {updateIntervalSeconds: 5, clusterQueues: {maxCount: 10}}\nintegrations: {podOptions: {namespaceSelector: {}}}\n",
      old_head);
  EXPECT_EQ(c.warnings.size(), 2U);
  EXPECT_FALSE(json::parse(c.json).contains("queueVisibility"));
  EXPECT_FALSE(json::parse(c.json).at("integrations").contains("podOptions"));
}

TEST(ConfigFileTest, PodsReadyIsSwitchedOffByItsGate) {
  EXPECT_FALSE(settings("waitForPodsReady: {timeout: 1m}\nfeatureGates: {DisableWaitForPodsReady: true}\n").pods_ready_enabled);
}

TEST(ConfigFileTest, WhatIsAcceptedWithoutEffectIsToldAsAWarning) {
  const auto c = good(R"(
metrics: {customLabels: [{name: team}]}
integrations: {frameworks: [batch/job, kubeflow.org/mpijob]}
resources: {quotaCheckStrategy: IgnoreUndeclared}
featureGates: {QuotaCheckStrategy: false}
pprofBindAddress: ":8083"
)");
  EXPECT_EQ(c.warnings, (std::vector<std::string>{"metrics.customLabels has no effect: the feature gate CustomMetricLabels is off",
                                                  "resources.quotaCheckStrategy has no effect: the feature gate QuotaCheckStrategy is off",
                                                  "integrations.frameworks: kubeflow.org/mpijob is not managed by this release"}));
  EXPECT_EQ(json::parse(c.json).at("resources").at("quotaCheckStrategy"), "BlockUndeclared");
  const auto on =
      good("metrics: {customLabels: [{name: team, sourceLabelKey: a/b, sourceKind: Cohort}]}\nfeatureGates: {CustomMetricLabels: true}\n");
  EXPECT_EQ(on.warnings,
            (std::vector<std::string>{"metrics.customLabels has no effect: no metric of this release carries labels of your own"}));
}

TEST(ConfigFileTest, TypedPartsFollowTheFile) {
  const auto c = good(R"(
namespace: batch-system
leaderElection: {leaderElect: false, leaseDuration: 60s, renewDeadline: 40s, retryPeriod: 5s, resourceName: other, resourceNamespace: elsewhere}
managedJobsNamespaceSelector:
  matchLabels: {managed: "yes"}
  matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, batch-system, x]}]
integrations: {frameworks: [jobset.x-k8s.io/jobset, batch/job], externalFrameworks: [Foo.v1.example.com], labelKeysToCopy: [a, b/c]}
metrics: {bindAddress: "0", enableClusterQueueResources: true, localQueueMetrics: {enable: true, localQueueSelector: {matchLabels: {a: b}}}}
health: {healthProbeBindAddress: "127.0.0.1:0"}
webhook: {port: 1, host: 10.0.0.1, certDir: /certs}
visibilityServer: {bindAddress: "::1", bindPort: 65535}
clientConnection: {qps: -1.5, burst: 7}
)");
  EXPECT_EQ(c.namespace_, "batch-system");
  EXPECT_FALSE(c.leader_elect);
  EXPECT_EQ(c.lease.name, "other");
  EXPECT_EQ(c.lease.namespace_, "elsewhere");
  EXPECT_EQ(c.lease.renew_deadline, Duration::seconds(40));
  EXPECT_EQ(c.managed_jobs_namespaces.size(), 2U);
  EXPECT_FALSE(selects_namespace(c.managed_jobs_namespaces, "y"));  // lacks the label
  EXPECT_EQ(c.frameworks, (std::vector<std::string>{"jobset.x-k8s.io/jobset", "batch/job"}));
  EXPECT_EQ(c.external_frameworks, std::vector<std::string>{"Foo.v1.example.com"});
  EXPECT_EQ(c.label_keys_to_copy, (std::vector<std::string>{"a", "b/c"}));
  EXPECT_EQ(c.metrics_address, std::nullopt);
  EXPECT_TRUE(c.cluster_queue_resource_metrics);
  EXPECT_EQ(c.local_queue_metrics_selector.size(), 1U);
  EXPECT_EQ(c.health_address, (ListenAddress{"127.0.0.1", 0}));
  EXPECT_EQ(c.webhook_address, (ListenAddress{"10.0.0.1", 1}));
  EXPECT_EQ(c.webhook_certificates, "/certs");
  EXPECT_TRUE(c.makes_webhook_certificates);
  EXPECT_EQ(c.webhook_secret, "kueue-webhook-server-cert");
  EXPECT_EQ(c.visibility_address, (ListenAddress{"::1", 65535}));
  EXPECT_EQ(c.client_qps, -1.5);
  EXPECT_EQ(c.client_burst, 7);
}

// 8691 §2.1, CA-74, V3: the gate is off, the right to preempt lasts five minutes, and sixteen Options are enough unless said.
TEST(ConfigFileTest, ConcurrentAdmissionIsOffUnlessSwitchedOn) {
  const auto usual = settings("");
  EXPECT_FALSE(usual.concurrent_admission);
  EXPECT_FALSE(usual.short_workload_names);
  EXPECT_EQ(usual.preemption_right_timeout, Duration::seconds(300));
  EXPECT_EQ(good("").max_options, 16U);
  EXPECT_EQ(events::read_settings("")->preemption_right_timeout, Duration::seconds(300));
  EXPECT_FALSE(events::read_settings("")->concurrent_admission);

  const std::string on =
      "featureGates: {ConcurrentAdmission: true, ShortWorkloadNames: true}\nhindsight: {maxOptions: 64, preemptionRightTimeout: 90s}\n";
  EXPECT_TRUE(settings(on).concurrent_admission);
  EXPECT_TRUE(settings(on).short_workload_names);
  EXPECT_EQ(settings(on).preemption_right_timeout, Duration::seconds(90));
  EXPECT_EQ(good(on).max_options, 64U);
  EXPECT_TRUE(good(on).warnings.empty());
  EXPECT_EQ(settings("hindsight: {preemptionRightTimeout: 0s}\n").preemption_right_timeout, Duration{0}) << "never";
  EXPECT_EQ(good("hindsight: {maxOptions: 1}\n").max_options, 1U);

  const auto told = good("hindsight: {maxOptions: 1, preemptionRightTimeout: 1s}\n").warnings;
  for (const char* field : {"maxOptions", "preemptionRightTimeout"})
    EXPECT_NE(std::find(told.begin(), told.end(),
                        "hindsight." + std::string(field) + " has no effect: the feature gate ConcurrentAdmission is off"),
              told.end())
        << field;
  // How often messages are written is the bridge's, and no part of any decision.
  EXPECT_EQ(good("").message_interval, Duration::seconds(10));
  EXPECT_EQ(good("hindsight: {messageInterval: 0s}\n").message_interval, Duration{0});
  EXPECT_EQ(good("hindsight: {messageInterval: 10m}\n").message_interval, Duration::seconds(600));
  EXPECT_TRUE(events::read_settings(R"({"hindsight":{"messageInterval":"0s"}})").has_value());
  EXPECT_TRUE(events::read_settings(R"({"hindsight":{"messageInterval":"10m"}})").has_value());

  // A scenario's own configuration is judged by nobody else.
  for (const char* bad : {"\"10m1s\"", "\"-1s\"", "\"5\"", "10", "\"\"", "null", "9223372036854775807"})
    EXPECT_FALSE(events::read_settings(R"({"hindsight":{"messageInterval":)" + std::string(bad) + "}}").has_value()) << bad;
  for (const char* bad : {"0", "65", "-1", "1.5", "\"2\"", "true"})
    EXPECT_FALSE(events::read_settings(R"({"hindsight":{"maxOptions":)" + std::string(bad) + "}}").has_value()) << bad;
  for (const char* bad : {"\"-1s\"", "\"5\"", "300", "\"never\"", "\"\""})
    EXPECT_FALSE(events::read_settings(R"({"hindsight":{"preemptionRightTimeout":)" + std::string(bad) + "}}").has_value()) << bad;
}

// CA-142, CA-143: the gate is off by default and needs the feature itself; so is the setting, which has no effect without the gate.
TEST(ConfigFileTest, StrictFifoHasAGateOfItsOwn) {
  EXPECT_FALSE(settings("").strict_families);
  EXPECT_FALSE(settings("").upgrades_block);
  EXPECT_FALSE(settings("featureGates: {ConcurrentAdmission: true}\n").strict_families);
  const std::string on = "featureGates: {ConcurrentAdmission: true, ConcurrentAdmissionStrictFIFO: true}\n";
  EXPECT_TRUE(settings(on).strict_families);
  EXPECT_FALSE(settings(on).upgrades_block);
  const std::string blocking = on + "hindsight: {upgradesBlockStrictFIFO: true}\n";
  EXPECT_TRUE(settings(blocking).upgrades_block);
  EXPECT_TRUE(good(blocking).warnings.empty());
  const auto told = good("featureGates: {ConcurrentAdmission: true}\nhindsight: {upgradesBlockStrictFIFO: true}\n").warnings;
  EXPECT_NE(std::find(told.begin(), told.end(),
                      "hindsight.upgradesBlockStrictFIFO has no effect: the feature gate ConcurrentAdmissionStrictFIFO is off"),
            told.end());
  for (const char* bad : {"0", "\"true\"", "null"})
    EXPECT_FALSE(events::read_settings(R"({"hindsight":{"upgradesBlockStrictFIFO":)" + std::string(bad) + "}}").has_value()) << bad;
}

// Who makes jobs as parts of other jobs: only the webhooks ask, so it is no part of what decisions follow from.
TEST(ConfigFileTest, ControllersAreThoseOfTheFileOrTheUsualOnes) {
  const auto usual = good("").controllers;
  EXPECT_NE(std::find(usual.begin(), usual.end(), "system:serviceaccount:kube-system:job-controller"), usual.end());
  EXPECT_NE(std::find(usual.begin(), usual.end(), "system:serviceaccount:jobset-system:jobset-controller-manager"), usual.end());
  EXPECT_EQ(good("hindsight: {controllers: [\"system:serviceaccount:a:b\", \"jobs*\"]}").controllers,
            (std::vector<std::string>{"system:serviceaccount:a:b", "jobs*"}));
  EXPECT_TRUE(good("hindsight: {controllers: []}").controllers.empty()) << "nobody";
  EXPECT_EQ(good("hindsight: {repeatedPreemptions: 3}").controllers, usual) << "other fields say nothing of them";
  EXPECT_NE(error_of("hindsight: {controllers: 1}").find("hindsight.controllers"), std::string::npos);
  EXPECT_NE(error_of("hindsight: {controllers: [a, a]}").find("hindsight.controllers"), std::string::npos);
}

// BA-28
TEST(ConfigFileTest, FeatureGatesComeFromTheFileOrFromTheCommandLine) {
  auto with = options();
  with.feature_gates = "PriorityBoost=true";
  const auto alone = read_configuration(std::string(head), "config.yaml", with);
  ASSERT_TRUE(alone.has_value()) << alone.error().message;
  EXPECT_TRUE(alone->gate("PriorityBoost"));
  EXPECT_TRUE(events::read_settings(alone->json)->priority_boost);
  EXPECT_TRUE(default_configuration(with)->gate("PriorityBoost"));
  EXPECT_TRUE(read_configuration(std::string(head) + "featureGates: {}\n", "config.yaml", with).has_value());

  const auto both = read_configuration(std::string(head) + "featureGates: {PartialAdmission: false}\n", "config.yaml", with);
  ASSERT_FALSE(both.has_value());
  EXPECT_EQ(both.error().message,
            "config.yaml:3: Configuration: featureGates: Forbidden: given in the file and by --feature-gates; allowed: one of the two");

  with.feature_gates = "NoSuch=true";
  EXPECT_TRUE(default_configuration(with).error().message.starts_with("--feature-gates: NoSuch: unknown feature gate"));
  with.feature_gates = "TASBalancedPlacement=true,TopologyAwareScheduling=false";
  EXPECT_EQ(default_configuration(with).error().message,
            "--feature-gates: TASBalancedPlacement: needs the feature gate TopologyAwareScheduling, which is off");
  with.feature_gates = "";
  EXPECT_TRUE(default_configuration(with).has_value());
}

TEST(ConfigFileTest, ErrorsNameFileLineFieldFoundAndAllowed) {
  EXPECT_EQ(error_of("webhook:\n  port: 99999\n"),
            "config.yaml:4: Configuration: webhook.port: Invalid value: 99999: must be less than or equal to 65535");
  EXPECT_EQ(error_of("waitForPodsReady:\n  timeout: 5 minutes\n"),
            "config.yaml:4: Configuration: waitForPodsReady.timeout: Invalid value: \"5 minutes\": must be a duration above 0 such as "
            "\"30s\" or \"5m\"");
  const std::string unknown = error_of("waitForPodReady: {}\n");
  EXPECT_TRUE(
      unknown.starts_with("config.yaml:3: Configuration: waitForPodReady: unknown field; did you mean \"waitForPodsReady\"? allowed: "))
      << unknown;
  // Several at once, and not more than ten.
  std::string many = "featureGates:\n";
  for (int i = 0; i < 14; ++i) many += "  Nonsense" + std::to_string(i) + ": true\n";
  const std::string text = error_of(many);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
  EXPECT_TRUE(text.ends_with("\nand 4 more")) << text;
}

TEST(ConfigFileTest, OtherKindsAndVersionsAreRefused) {
  const auto refused = [](const std::string& text) {
    const auto c = read_configuration(text, "config.yaml", options());
    return c ? std::string() : c.error().message;
  };
  EXPECT_NE(refused("apiVersion: config.kueue.x-k8s.io/v1alpha1\nkind: Configuration\n")
                .find("apiVersion: Invalid value: \"config.kueue.x-k8s.io/v1alpha1\": must be"),
            std::string::npos);
  EXPECT_NE(
      refused("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Config\n").find("kind: Invalid value: \"Config\": must be Configuration"),
      std::string::npos);
  EXPECT_NE(refused("kind: Configuration\n").find("apiVersion: Invalid value: null"), std::string::npos);
  EXPECT_NE(refused("[1, 2]").find("must be an object of kind Configuration"), std::string::npos);
  EXPECT_NE(refused("").find("found 0 documents"), std::string::npos);
  EXPECT_NE(refused(std::string(head) + "---\n" + std::string(head)).find("found 2 documents"), std::string::npos);
  EXPECT_NE(refused("a: [").find("config.yaml: line "), std::string::npos);
  EXPECT_NE(refused(std::string(head) + "namespace: a\nnamespace: b\n").find("line 4"), std::string::npos);
}

TEST(ConfigFileTest, FilesThatCannotBeReadAreErrors) {
  const auto folder = std::filesystem::temp_directory_path() / ("hindsight-config-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const auto missing = read_configuration_file((folder / "none.yaml").string(), options());
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  EXPECT_NE(missing.error().message.find("none.yaml"), std::string::npos);
  EXPECT_FALSE(read_configuration_file(folder.string(), options()).has_value());
  {
    std::ofstream file(folder / "c.yaml");
    file << head << "namespace: from-file\n";
  }
  const auto there = read_configuration_file((folder / "c.yaml").string(), options());
  ASSERT_TRUE(there.has_value()) << there.error().message;
  EXPECT_EQ(there->namespace_, "from-file");
  {
    std::ofstream file(folder / "big.yaml");
    file << head << "# " << std::string(5 << 20, 'x');
  }
  EXPECT_FALSE(read_configuration_file((folder / "big.yaml").string(), options()).has_value());
  std::filesystem::remove_all(folder);
}

// ---- a table of every field ----------------------------------------------------------------------------------------------------

struct FieldCase {
  std::string_view good;
  std::string_view bad;
  std::string_view field;  ///< That the error names.
  std::string_view says;   ///< What it says is allowed.
};

constexpr FieldCase field_cases[] = {
    {"namespace: a-b", "namespace: A_b", "namespace", "RFC 1123 label"},
    {"namespace: ns", "namespace: 7", "namespace", "must be a string"},
    {"webhook: {port: 1}", "webhook: {port: 0}", "webhook.port", "greater than or equal to 1"},
    {"webhook: {host: ''}", "webhook: {host: [a]}", "webhook.host", "must be a string"},
    {"webhook: {certDir: /x}", "webhook: {certDir: 1}", "webhook.certDir", "must be a string"},
    {"webhook: {}", "webhook: []", "webhook", "must be an object"},
    {"webhook: {}", "webhook: {ports: 1}", "webhook.ports", "did you mean \"port\""},
    {"metrics: {bindAddress: 'localhost:1'}", "metrics: {bindAddress: localhost}", "metrics.bindAddress", "HOST:PORT"},
    {"metrics: {bindAddress: ''}", "metrics: {bindAddress: ':99999'}", "metrics.bindAddress", "HOST:PORT"},
    {"metrics: {enableClusterQueueResources: true}", "metrics: {enableClusterQueueResources: 'yes'}", "metrics.enableClusterQueueResources",
     "true or false"},
    {"metrics: {customLabels: [{name: a, sourceAnnotationKey: x/y, trackedValues: [p, q]}]}", "metrics: {customLabels: [{}]}",
     "metrics.customLabels[0].name", "must be given"},
    {"metrics: {customLabels: [{name: A_9}]}", "metrics: {customLabels: [{name: 9a}]}", "metrics.customLabels[0].name",
     "must start with a letter"},
    {"metrics: {customLabels: [{name: a}, {name: b}]}", "metrics: {customLabels: [{name: a}, {name: a}]}", "metrics.customLabels[1]",
     "only once"},
    {"metrics: {customLabels: []}", "metrics: {customLabels: [{name: a, sourceLabelKey: x, sourceAnnotationKey: y}]}",
     "metrics.customLabels[0].sourceAnnotationKey", "beside sourceLabelKey"},
    {"metrics: {customLabels: [{name: a, sourceKind: Workload}, {name: b, sourceKind: Workload}]}",
     "metrics: {customLabels: [{name: a, sourceKind: Workload}, {name: b, sourceKind: Workload}, {name: c, sourceKind: Workload}]}",
     "metrics.customLabels[2].sourceKind", "at most 2"},
    {"metrics: {customLabels: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}, {name: f}]}",
     "metrics: {customLabels: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}, {name: f}, {name: g}]}",
     "metrics.customLabels[6].sourceKind", "at most 6"},
    {"metrics: {customLabels: [{name: a, sourceKind: LocalQueue}]}", "metrics: {customLabels: [{name: a, sourceKind: Job}]}",
     "metrics.customLabels[0].sourceKind", "\"ClusterQueue\""},
    {"metrics: {localQueueMetrics: {enable: false}}", "metrics: {localQueueMetrics: {enable: 0}}", "metrics.localQueueMetrics.enable",
     "true or false"},
    {"metrics: {localQueueMetrics: {localQueueSelector: {matchExpressions: [{key: a, operator: Exists}]}}}",
     "metrics: {localQueueMetrics: {localQueueSelector: {matchExpressions: [{key: a, operator: In}]}}}",
     "metrics.localQueueMetrics.localQueueSelector.matchExpressions[0].values", "must be specified"},
    {"metrics: {localQueueMetrics: {localQueueSelector: {matchLabels: {a: b}}}}",
     "metrics: {localQueueMetrics: {localQueueSelector: {matchLabels: {a: b c}}}}",
     "metrics.localQueueMetrics.localQueueSelector.matchLabels.a", "label value"},
    {"health: {healthProbeBindAddress: '0'}", "health: {healthProbeBindAddress: x}", "health.healthProbeBindAddress", "HOST:PORT"},
    {"health: {readinessEndpointName: ready, livenessEndpointName: alive}", "health: {readinessEndpointName: {}}",
     "health.readinessEndpointName", "must be a string"},
    {"pprofBindAddress: ''", "pprofBindAddress: here", "pprofBindAddress", "HOST:PORT"},
    {"leaderElection: {leaderElect: true}", "leaderElection: {leaderElect: 1}", "leaderElection.leaderElect", "true or false"},
    {"leaderElection: {leaseDuration: 20s}", "leaderElection: {leaseDuration: 10s}", "leaderElection.renewDeadline",
     "shorter than leaseDuration"},
    {"leaderElection: {leaseDuration: 1m}", "leaderElection: {leaseDuration: 15500ms}", "leaderElection.leaseDuration", "whole seconds"},
    {"leaderElection: {renewDeadline: 14s}", "leaderElection: {renewDeadline: 0s}", "leaderElection.renewDeadline", "above 0"},
    {"leaderElection: {retryPeriod: 8s}", "leaderElection: {retryPeriod: 9s}", "leaderElection.retryPeriod", "shorter than renewDeadline"},
    {"leaderElection: {retryPeriod: 1s}", "leaderElection: {retryPeriod: -1s}", "leaderElection.retryPeriod", "above 0"},
    {"leaderElection: {resourceLock: leases}", "leaderElection: {resourceLock: endpoints}", "leaderElection.resourceLock", "\"leases\""},
    {"leaderElection: {resourceName: a.b}", "leaderElection: {resourceName: A}", "leaderElection.resourceName", "RFC 1123 subdomain"},
    {"leaderElection: {resourceNamespace: a}", "leaderElection: {resourceNamespace: a.b}", "leaderElection.resourceNamespace",
     "RFC 1123 label"},
    {"controller: {groupKindConcurrency: {Job.batch: 5}}", "controller: {groupKindConcurrency: {Job.batch: many}}",
     "controller.groupKindConcurrency.Job.batch", "whole number"},
    {"controller: {cacheSyncTimeout: 120000000000}", "controller: {cacheSyncTimeout: -1}", "controller.cacheSyncTimeout", "at least 0"},
    {"controller: {cacheSyncTimeout: 2m}", "controller: {cacheSyncTimeout: soon}", "controller.cacheSyncTimeout", "duration"},
    {"tls: {minVersion: VersionTLS12, cipherSuites: [TLS_RSA_WITH_AES_128_GCM_SHA256]}", "tls: {minVersion: TLS12}", "tls.minVersion",
     "\"VersionTLS12\""},
    {"tls: {minVersion: VersionTLS13}", "tls: {minVersion: VersionTLS13, cipherSuites: [TLS_AES_128_GCM_SHA256]}", "tls.cipherSuites",
     "VersionTLS13"},
    {"tls: {cipherSuites: [TLS_AES_128_GCM_SHA256]}", "tls: {cipherSuites: [AES]}", "tls.cipherSuites[0]", "TLS_AES_128_GCM_SHA256"},
    {"tls: {curvePreferences: [X25519, 23]}", "tls: {curvePreferences: [P-256]}", "tls.curvePreferences[0]", "CurveP256"},
    {"tls: {curvePreferences: [65535]}", "tls: {curvePreferences: [65536]}", "tls.curvePreferences[0]", "65535"},
    {"manageJobsWithoutQueueName: true", "manageJobsWithoutQueueName: maybe", "manageJobsWithoutQueueName", "true or false"},
    {"managedJobsNamespaceSelector: {matchLabels: {a: b}}", "managedJobsNamespaceSelector: {}", "managedJobsNamespaceSelector",
     "should not match the \"kube-system\" namespace"},
    {"managedJobsNamespaceSelector: {matchLabels: {kubernetes.io/metadata.name: a}}",
     "managedJobsNamespaceSelector: {matchLabels: {kubernetes.io/metadata.name: hindsight-system}}", "managedJobsNamespaceSelector",
     "should not match the \"hindsight-system\" namespace"},
    {"managedJobsNamespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [a]}]}",
     "managedJobsNamespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: Is, values: [a]}]}",
     "managedJobsNamespaceSelector.matchExpressions[0].operator", "\"NotIn\""},
    {"managedJobsNamespaceSelector: {matchExpressions: [{key: a, operator: Exists}]}",
     "managedJobsNamespaceSelector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}",
     "managedJobsNamespaceSelector.matchExpressions[0].values", "may not be specified"},
    {"managedJobsNamespaceSelector: {matchExpressions: [{key: a/b, operator: Exists}]}",
     "managedJobsNamespaceSelector: {matchExpressions: [{key: a b, operator: Exists}]}",
     "managedJobsNamespaceSelector.matchExpressions[0].key", "at most 63"},
    {"internalCertManagement: {enable: false, webhookServiceName: '9'}", "internalCertManagement: {webhookServiceName: 9}",
     "internalCertManagement.webhookServiceName", "must be a string"},
    {"internalCertManagement: {webhookServiceName: a9}", "internalCertManagement: {webhookServiceName: '9a'}",
     "internalCertManagement.webhookServiceName", "starting with a letter"},
    {"internalCertManagement: {webhookSecretName: a.b}", "internalCertManagement: {webhookSecretName: a_b}",
     "internalCertManagement.webhookSecretName", "RFC 1123 subdomain"},
    {"waitForPodsReady: {timeout: 1h}", "waitForPodsReady: {timeout: 0s}", "waitForPodsReady.timeout", "above 0"},
    {"waitForPodsReady: {timeout: 1h}", "waitForPodsReady: {timeout: 60}", "waitForPodsReady.timeout", "must be a string"},
    {"waitForPodsReady: {}", "waitForPodsReady: {enable: true}", "waitForPodsReady.enable", "unknown field"},
    {"waitForPodsReady: {blockAdmission: true}", "waitForPodsReady: {blockAdmission: on}", "waitForPodsReady.blockAdmission",
     "true or false"},
    {"waitForPodsReady: {recoveryTimeout: 0s}", "waitForPodsReady: {recoveryTimeout: -3s}", "waitForPodsReady.recoveryTimeout",
     "at least 0"},
    {"waitForPodsReady: {requeuingStrategy: {timestamp: Creation}}", "waitForPodsReady: {requeuingStrategy: {timestamp: Now}}",
     "waitForPodsReady.requeuingStrategy.timestamp", "\"Eviction\""},
    {"waitForPodsReady: {requeuingStrategy: {backoffLimitCount: null}}", "waitForPodsReady: {requeuingStrategy: {backoffLimitCount: -1}}",
     "waitForPodsReady.requeuingStrategy.backoffLimitCount", "equal to 0"},
    {"waitForPodsReady: {requeuingStrategy: {backoffBaseSeconds: 0}}", "waitForPodsReady: {requeuingStrategy: {backoffBaseSeconds: -1}}",
     "waitForPodsReady.requeuingStrategy.backoffBaseSeconds", "equal to 0"},
    {"waitForPodsReady: {requeuingStrategy: {backoffMaxSeconds: 1}}", "waitForPodsReady: {requeuingStrategy: {backoffMaxSeconds: 1.5}}",
     "waitForPodsReady.requeuingStrategy.backoffMaxSeconds", "whole number"},
    {"clientConnection: {qps: 0.5}", "clientConnection: {qps: fast}", "clientConnection.qps", "a number"},
    {"clientConnection: {burst: 1}", "clientConnection: {burst: 1.5}", "clientConnection.burst", "whole number"},
    {"integrations: {frameworks: [pod, deployment]}", "integrations: {frameworks: [batch/jobs]}", "integrations.frameworks[0]",
     "batch/job, jobset.x-k8s.io/jobset"},
    {"integrations: {frameworks: []}", "integrations: {frameworks: [pod, pod]}", "integrations.frameworks[1]", "only once"},
    {"integrations: {externalFrameworks: [Foo.v1.example.com]}", "integrations: {externalFrameworks: [Foo]}",
     "integrations.externalFrameworks[0]", "Kind.version.group.com"},
    {"integrations: {externalFrameworks: [Foo.v1.a, Foo.v1.b]}", "integrations: {externalFrameworks: [Job.v1.batch]}",
     "integrations.externalFrameworks[0]", "managed already"},
    {"integrations: {labelKeysToCopy: [a/b]}", "integrations: {labelKeysToCopy: ['a b']}", "integrations.labelKeysToCopy[0]", "at most 63"},
    {"multiKueue: {gcInterval: 0s}", "multiKueue: {gcInterval: -1s}", "multiKueue.gcInterval", "at least 0"},
    {"multiKueue: {origin: me}", "multiKueue: {origin: 'not me'}", "multiKueue.origin", "label value"},
    {"multiKueue: {workerLostTimeout: 1m}", "multiKueue: {workerLostTimeout: later}", "multiKueue.workerLostTimeout", "at least 0"},
    {"multiKueue: {dispatcherName: example.com/mine}", "multiKueue: {dispatcherName: ''}", "multiKueue.dispatcherName", "at most 63"},
    {"multiKueue: {dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-incremental, incrementalDispatcherConfig: {stepSize: 1}}",
     "multiKueue: {dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-incremental, incrementalDispatcherConfig: {stepSize: 0}}",
     "multiKueue.incrementalDispatcherConfig.stepSize", "equal to 1"},
    {"multiKueue: {}", "multiKueue: {incrementalDispatcherConfig: {stepSize: 2}}", "multiKueue.incrementalDispatcherConfig",
     "dispatcher-incremental"},
    {"multiKueue: {externalFrameworks: [{name: Foo.v1.example.com}]}", "multiKueue: {externalFrameworks: [{name: RayJob.v1.ray.io}]}",
     "multiKueue.externalFrameworks[0].name", "built-in adapter"},
    {"multiKueue: {externalFrameworks: []}", "multiKueue: {externalFrameworks: [{name: Foo.v1}]}", "multiKueue.externalFrameworks[0].name",
     "Kind.version.group.com"},
    {"multiKueue: {clusterProfile: {accessProviders: [{name: a, execConfig: {command: x}}]}}",
     "multiKueue: {clusterProfile: {accessProviders: [{execConfig: {}}]}}", "multiKueue.clusterProfile.accessProviders[0].name",
     "must be given"},
    {"fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]}", "fairSharing: {}",
     "fairSharing.preemptionStrategies", "must be given"},
    {"fairSharing: {preemptionStrategies: [LessThanInitialShare]}", "fairSharing: {preemptionStrategies: []}",
     "fairSharing.preemptionStrategies", "[LessThanInitialShare]"},
    {"fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare]}",
     "fairSharing: {preemptionStrategies: [LessThanInitialShare, LessThanOrEqualToFinalShare]}", "fairSharing.preemptionStrategies",
     "[LessThanInitialShare]"},
    {"fairSharing: null", "fairSharing: {enable: true, preemptionStrategies: [LessThanInitialShare]}", "fairSharing.enable",
     "unknown field"},
    {"admissionFairSharing: {usageHalfLifeTime: 0s}", "admissionFairSharing: {usageHalfLifeTime: -1h}",
     "admissionFairSharing.usageHalfLifeTime", "at least 0"},
    {"admissionFairSharing: {usageSamplingInterval: 1s}", "admissionFairSharing: {usageSamplingInterval: 0s}",
     "admissionFairSharing.usageSamplingInterval", "above 0"},
    {"admissionFairSharing: {resourceWeights: {cpu: 0, nvidia.com/gpu: 2.5}}", "admissionFairSharing: {resourceWeights: {cpu: -1}}",
     "admissionFairSharing.resourceWeights.cpu", "equal to 0"},
    {"resources: {quotaCheckStrategy: IgnoreUndeclared}", "resources: {quotaCheckStrategy: Ignore}", "resources.quotaCheckStrategy",
     "\"BlockUndeclared\""},
    {"resources: {excludeResourcePrefixes: [a, b]}", "resources: {quotaCheckStrategy: IgnoreUndeclared, excludeResourcePrefixes: [a]}",
     "resources.excludeResourcePrefixes", "IgnoreUndeclared"},
    {"resources: {transformations: [{input: a, strategy: Retain, multiplyBy: b, outputs: {c: 2}}]}",
     "resources: {transformations: [{input: a, strategy: Keep}]}", "resources.transformations[0].strategy", "\"Replace\""},
    {"resources: {transformations: [{input: a}, {input: b}]}", "resources: {transformations: [{input: a}, {input: a}]}",
     "resources.transformations[1]", "only once"},
    {"resources: {transformations: [{input: a, outputs: {x.y/z: 5Mi}}]}", "resources: {transformations: [{input: a, outputs: {b: lots}}]}",
     "resources.transformations[0].outputs.b", "quantity"},
    {"resources: {transformations: [{input: a/b}]}", "resources: {transformations: [{strategy: Retain}]}",
     "resources.transformations[0].input", "must be given"},
    {"resources: {deviceClassMappings: [{name: a, deviceClassNames: [b, c], sources: [{}]}]}",
     "resources: {deviceClassMappings: [{name: a, deviceClassNames: []}]}", "resources.deviceClassMappings[0].deviceClassNames",
     "at least 1"},
    {"resources: {deviceClassMappings: [{name: a, deviceClassNames: [b]}]}",
     "resources: {deviceClassMappings: [{name: a, deviceClassNames: [b]}, {name: c, deviceClassNames: [b]}]}",
     "resources.deviceClassMappings[1].deviceClassNames[0]", "stands in"},
    {"featureGates: {PartialAdmission: true}", "featureGates: {PartialAdmissio: true}", "featureGates.PartialAdmissio",
     "did you mean \"PartialAdmission\""},
    {"featureGates: {TLSOptions: true}", "featureGates: {TLSOptions: false}", "featureGates.TLSOptions", "allowed: true"},
    {"featureGates: {}", "featureGates: {PartialAdmission: 'true'}", "featureGates.PartialAdmission", "true or false"},
    {"objectRetentionPolicies: {workloads: {afterFinished: 0s}}", "objectRetentionPolicies: {workloads: {afterFinished: never}}",
     "objectRetentionPolicies.workloads.afterFinished", "at least 0"},
    {"objectRetentionPolicies: {workloads: null}", "objectRetentionPolicies: {workloads: {afterDeactivatedByKueue: -1s}}",
     "objectRetentionPolicies.workloads.afterDeactivatedByKueue", "at least 0"},
    {"visibilityServer: {bindAddress: 127.0.0.1}", "visibilityServer: {bindAddress: localhost}", "visibilityServer.bindAddress",
     "IP address"},
    {"visibilityServer: {bindPort: 1}", "visibilityServer: {bindPort: 65536}", "visibilityServer.bindPort", "65535"},
    {"hindsight: {reactivationBatch: 0s}", "hindsight: {reactivationBatch: 1}", "hindsight.reactivationBatch", "must be a string"},
    {"hindsight: {admissionsAhead: 0}", "hindsight: {admissionsAhead: 1001}", "hindsight.admissionsAhead", "equal to 1000"},
    {"hindsight: {repeatedPreemptions: 0}", "hindsight: {repeatedPreemptions: -1}", "hindsight.repeatedPreemptions", "equal to 0"},
    {"hindsight: {topologyMetrics: 2}", "hindsight: {topologyMetrics: 17}", "hindsight.topologyMetrics", "equal to 16"},
    {"hindsight: {topologyCapacity: Nodes}", "hindsight: {topologyCapacity: nodes}", "hindsight.topologyCapacity", "\"Nodes\""},
    {"hindsight: {topologyCapacity: Sum}", "hindsight: {topologyCapacity: 1}", "hindsight.topologyCapacity", "string"},
    {"hindsight: {topologyProfile: Compact}", "hindsight: {topologyProfile: compact}", "hindsight.topologyProfile", "\"Compact\""},
    {"hindsight: {topologyProfile: Kueue}", "hindsight: {topologyProfile: true}", "hindsight.topologyProfile", "string"},
    {"hindsight: {maxOptions: 1}", "hindsight: {maxOptions: 0}", "hindsight.maxOptions", "equal to 1"},
    {"hindsight: {maxOptions: 64}", "hindsight: {maxOptions: 65}", "hindsight.maxOptions", "equal to 64"},
    {"hindsight: {maxOptions: 16}", "hindsight: {maxOptions: many}", "hindsight.maxOptions", "whole number"},
    {"hindsight: {messageInterval: 0s}", "hindsight: {messageInterval: -1s}", "hindsight.messageInterval", "at least 0"},
    {"hindsight: {messageInterval: 10m}", "hindsight: {messageInterval: 10m1s}", "hindsight.messageInterval", "at most \"10m\""},
    {"hindsight: {messageInterval: 250ms}", "hindsight: {messageInterval: 10}", "hindsight.messageInterval", "must be a string"},
    {"hindsight: {messageInterval: 1m30s}", "hindsight: {messageInterval: ''}", "hindsight.messageInterval", "at least 0"},
    {"hindsight: {preemptionRightTimeout: 0s}", "hindsight: {preemptionRightTimeout: -1s}", "hindsight.preemptionRightTimeout",
     "at least 0"},
    {"hindsight: {preemptionRightTimeout: 1h}", "hindsight: {preemptionRightTimeout: 5}", "hindsight.preemptionRightTimeout",
     "must be a string"},
    {"hindsight: {preemptionRightTimeout: 5m}", "hindsight: {preemptionRightTimeout: never}", "hindsight.preemptionRightTimeout",
     "at least 0"},
    {"featureGates: {ConcurrentAdmission: true}", "featureGates: {ConcurrentAdmission: 'true'}", "featureGates.ConcurrentAdmission",
     "true or false"},
    {"hindsight: {upgradesBlockStrictFIFO: true}", "hindsight: {upgradesBlockStrictFIFO: yes please}", "hindsight.upgradesBlockStrictFIFO",
     "true or false"},
    {"hindsight: {}", "hindsight: {reactivationBath: 1s}", "hindsight.reactivationBath", "reactivationBatch"},
};

// BA-27: a violation of any field prevents the start, with the path of the field.
TEST(ConfigFileTest, EveryFieldIsJudged) {
  for (const auto& c : field_cases) {
    SCOPED_TRACE(c.bad);
    good(std::string(c.good) + "\n");
    const std::string message = error_of(std::string(c.bad) + "\n");
    EXPECT_NE(message.find("Configuration: " + std::string(c.field) + ": "), std::string::npos) << message;
    EXPECT_NE(message.find(c.says), std::string::npos) << message;
    EXPECT_TRUE(message.starts_with("config.yaml:3: ")) << message;
  }
}

TEST(ConfigFileTest, EveryFieldOfV1beta1IsJudged) {
  constexpr FieldCase cases[] = {
      {"waitForPodsReady: {enable: false}", "waitForPodsReady: {enable: 'false'}", "waitForPodsReady.enable", "true or false"},
      {"waitForPodsReady: {enable: true}", "waitForPodsReady: {enable: false, timeout: soon}", "waitForPodsReady.timeout", "duration"},
      {"fairSharing: {enable: true, preemptionStrategies: []}", "fairSharing: {enable: []}", "fairSharing.enable", "true or false"},
      {"fairSharing: {enable: false}", "fairSharing: {enable: false, strategies: []}", "fairSharing.strategies", "unknown field"},
      {"fairSharing: {enable: true}", "fairSharing: {enable: true, preemptionStrategies: [Most]}", "fairSharing.preemptionStrategies",
       "supported values"},
      {"queueVisibility: null", "queueVisibility: {updateIntervalSeconds: 0}", "queueVisibility.updateIntervalSeconds", "equal to 1"},
      {"queueVisibility: {clusterQueues: {maxCount: 4000}}", "queueVisibility: {clusterQueues: {maxCount: 4001}}",
       "queueVisibility.clusterQueues.maxCount", "4000"},
      {"integrations: {podOptions: {podSelector: {}}}", "integrations: {podOptions: {selector: {}}}", "integrations.podOptions.selector",
       "podSelector"},
      {"resources: {}", "resources: {quotaCheckStrategy: BlockUndeclared}", "resources.quotaCheckStrategy", "v1beta2 only"},
      {"multiKueue: {}", "multiKueue: {clusterProfile: {}}", "multiKueue.clusterProfile", "v1beta2 only"},
      {"multiKueue: {}", "multiKueue: {incrementalDispatcherConfig: {}}", "multiKueue.incrementalDispatcherConfig", "v1beta2 only"},
      {"metrics: {customLabels: [{name: a}]}", "metrics: {customLabels: [{name: a, sourceKind: Cohort}]}",
       "metrics.customLabels[0].sourceKind", "v1beta2 only"},
      {"health: {}", "visibilityServer: {}", "visibilityServer", "v1beta2 only"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.bad);
    good(std::string(c.good) + "\n", old_head);
    const std::string message = error_of(std::string(c.bad) + "\n", old_head);
    EXPECT_NE(message.find("Configuration: " + std::string(c.field) + ": "), std::string::npos) << message;
    EXPECT_NE(message.find(c.says), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace hindsight::operations
