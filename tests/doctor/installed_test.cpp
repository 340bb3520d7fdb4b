// What is installed: who else acts, clocks, pods, configuration, the process. Issue 21, section 6: "a second controller, clocks".

#include "doctor/checks/clocks.hpp"
#include "doctor/checks/configuration.hpp"
#include "doctor/checks/controllers.hpp"
#include "doctor/checks/pods.hpp"
#include "doctor/checks/process.hpp"
#include "tests/doctor/fake_cluster.hpp"

namespace hindsight::doctor {
namespace {

using test::context_of;
using test::count_of;
using test::deployment_with;
using test::FakeCluster;
using test::finding_with;
using test::text_of;

const Time now = Time::from_seconds(1'800'000'000);

LeaseFacts lease_in(const std::string& namespace_, const std::string& holder, std::int64_t seconds_ago) {
  return {namespace_, names::lease, holder, 15, now - Duration::seconds(seconds_ago)};
}

// ---- who else acts

TEST(Controllers, OneIsWell) {
  ControllersFacts facts;
  facts.now = now;
  facts.installation = installation_of(deployment_with({}));
  facts.leases = {lease_in("hindsight-system", "pod_1_2", 3), lease_in("kueue-system", "gone", 4000)};
  facts.writers = {{"hindsight", 3, "default/a", now}, {"acme-check", 1, "default/a", now}};
  const auto outcome = judge_controllers(facts, {});
  test::expect_well(outcome);
  EXPECT_NE(outcome.summary.find("held by pod_1_2"), std::string::npos);
}

TEST(Controllers, ASecondOneIsNamed) {
  ControllersFacts facts;
  facts.now = now;
  facts.installation = installation_of(deployment_with({}));
  facts.leases = {lease_in("hindsight-system", "ours", 3), lease_in("kueue-system", "kueue_abc", 5)};
  facts.kueue = {{"kueue-system", "kueue-controller-manager", 2, 1}, {"old", "kueue-controller-manager", 0, 0}};
  facts.installation.others = {"team/hindsight"};
  const auto outcome = judge_controllers(facts, {});
  EXPECT_EQ(finding_with(outcome, Severity::error, "Kueue's controller runs (1 of 2 ready)").command,
            "kubectl scale -n kueue-system deployment/kueue-controller-manager --replicas=0");
  finding_with(outcome, Severity::error, "held at the same time: hindsight-system/c1f6bfd2.kueue.x-k8s.io by ours, kueue-system/");
  EXPECT_EQ(finding_with(outcome, Severity::error, "a second Hindsight").command,
            "kubectl scale -n team deployment/hindsight --replicas=0");
  EXPECT_EQ(outcome.findings.size(), 3U) << text_of(outcome);
  facts.installation.arguments.emplace_back("--observe");
  EXPECT_EQ(count_of(judge_controllers(facts, {}), Severity::error), 1U) << "who only looks on does no harm beside Kueue";
}

TEST(Controllers, NobodyLeads) {
  ControllersFacts facts;
  facts.now = now;
  facts.installation = installation_of(deployment_with({}));
  finding_with(judge_controllers(facts, {}), Severity::warning, "no copy has begun to lead");
  facts.leases = {lease_in("hindsight-system", "", 1)};
  finding_with(judge_controllers(facts, {}), Severity::warning, "nobody renews it");
}

TEST(Controllers, WritersOfStatusesAreRead) {
  FakeCluster cluster;
  cluster.sample = ClockSample{now, machine_time()};
  const auto entry = [](const char* manager, const char* subresource, Time time) {
    return Json{{"manager", manager}, {"subresource", subresource}, {"time", format_rfc3339(time)}};
  };
  cluster.put_list("/apis/kueue.x-k8s.io/v1beta2/workloads",
                   {{{"metadata",
                      {{"namespace", "default"},
                       {"name", "a"},
                       {"managedFields",
                        {entry("kueue-admission", "status", now - Duration::seconds(20)), entry("kubectl", "", now),
                         entry("kueue", "status", now - Duration::seconds(4000))}}}}}});
  cluster.put_list("/apis/coordination.k8s.io/v1/leases", {});
  cluster.put_list("/apis/apps/v1/deployments", {});
  Context context = context_of(cluster);
  const auto outcome = examine_controllers(context);
  finding_with(outcome, Severity::error, "written by \"kueue-admission\"");
  EXPECT_EQ(outcome.findings.size(), 1U) << text_of(outcome);
  cluster.denied = {"/apis/coordination.k8s.io/v1/leases"};
  cluster.put_list("/apis/kueue.x-k8s.io/v1beta2/workloads", {});
  EXPECT_EQ(examine_controllers(context).standing, Standing::blind);
}

// ---- clocks

TEST(Clocks, AreCompared) {
  const auto off = [](double seconds) {
    ClocksFacts facts;
    facts.sample = ClockSample{now, now + Duration{static_cast<std::int64_t>(seconds * 1e6)}};
    facts.now = now;
    return judge_clocks(facts);
  };
  test::expect_well(off(0.9));
  test::expect_well(off(-2));
  EXPECT_EQ(finding_with(off(10), Severity::warning, "10.0 s ahead of the API server's").object, "clock of this machine");
  finding_with(off(-3600), Severity::error, "3600.0 s behind the API server's");
  EXPECT_EQ(judge_clocks({}).standing, Standing::blind);
  ClocksFacts facts;
  facts.sample = ClockSample{now, now};
  facts.now = now;
  facts.leases = {lease_in("hindsight-system", "node-1_7", -60)};
  EXPECT_EQ(finding_with(judge_clocks(facts), Severity::error, "60.0 s in the future").object, "clock of node-1_7");
}

// ---- pods

PodsFacts pods_with(PodFacts pod) {
  PodsFacts facts;
  facts.installation = installation_of(deployment_with({}));
  facts.memory_limit = "2Gi";
  pod.name = "hindsight-0";
  facts.pods = {std::move(pod)};
  facts.claims = {{"hindsight-log", "Bound", "fast", true}};
  return facts;
}

TEST(Pods, OneThatIsReady) {
  PodFacts pod;
  pod.ready = true;
  pod.restarts = 1;
  test::expect_well(judge_pods(pods_with(pod), {}));
  EXPECT_EQ(judge_pods({}, {}).standing, Standing::skipped);
}

TEST(Pods, WhatKeepsOneFromRunning) {
  PodFacts pod;
  pod.waiting = "ImagePullBackOff";
  pod.image = "hindsight:0.1.0";
  EXPECT_EQ(finding_with(judge_pods(pods_with(pod), {}), Severity::error, "ImagePullBackOff: image hindsight:0.1.0").command,
            "kubectl set image -n hindsight-system deployment/hindsight hindsight=IMAGE");
  pod = {};
  pod.last_end = "OOMKilled";
  pod.restarts = 4;
  EXPECT_EQ(finding_with(judge_pods(pods_with(pod), {}), Severity::error, "more memory than its limit, 2Gi (4 restarts)").command,
            "kubectl set resources -n hindsight-system deployment/hindsight -c hindsight --limits=memory=4Gi");
  pod = {};
  pod.waiting = "CrashLoopBackOff";
  pod.last_exit = 1;
  pod.last_end = "Error";
  finding_with(judge_pods(pods_with(pod), {}), Severity::error, "the last time with Error 1");
  pod = {};
  pod.unscheduled = "0/3 nodes are available";
  finding_with(judge_pods(pods_with(pod), {}), Severity::error, "0/3 nodes are available");
  pod = {};
  pod.restarts = 9;
  pod.ready = true;
  finding_with(judge_pods(pods_with(pod), {}), Severity::warning, "started again 9 times");
}

TEST(Pods, WhatTheDeploymentLacks) {
  auto facts = pods_with({});
  facts.claims.front() = {"hindsight-log", "", "", false};
  EXPECT_EQ(finding_with(judge_pods(facts, {}), Severity::error, "the pod waits for it").command,
            "hindsight doctor --print hindsight | kubectl apply -f -");
  facts.claims.front() = {"hindsight-log", "Pending", "", true};
  finding_with(judge_pods(facts, {}), Severity::warning, "names no storage class");
  facts = pods_with({});
  finding_with(judge_pods(facts, {}), Severity::error, "none of its pods is ready");
  facts.installation.object["spec"]["replicas"] = 3;
  EXPECT_EQ(finding_with(judge_pods(facts, {}), Severity::error, "3 replicas with a log in a file").command,
            "kubectl scale -n hindsight-system deployment/hindsight --replicas=1");
  facts.installation.object["spec"]["replicas"] = 0;
  finding_with(judge_pods(facts, {}), Severity::error, "scaled to nothing");
  EXPECT_EQ(twice("2Gi"), "4Gi");
  EXPECT_EQ(twice("much"), "much");
}

TEST(Pods, AreReadFromTheirStatus) {
  FakeCluster cluster;
  const Json status = {{"phase", "Pending"},
                       {"containerStatuses",
                        {{{"name", "hindsight"},
                          {"image", "i"},
                          {"restartCount", 7},
                          {"state", {{"waiting", {{"reason", "CrashLoopBackOff"}}}}},
                          {"lastState", {{"terminated", {{"reason", "OOMKilled"}, {"exitCode", 137}}}}}}}}};
  cluster.put_list("/api/v1/namespaces/hindsight-system/pods", {{{"metadata", {{"name", "p"}}}, {"status", status}}});
  cluster.put("/api/v1/namespaces/hindsight-system/persistentvolumeclaims/hindsight-log", {{"status", {{"phase", "Bound"}}}});
  Context context = context_of(cluster);
  context.installation = installation_of(deployment_with({}));
  const auto outcome = examine_pods(context);
  finding_with(outcome, Severity::error, "it ends again and again, the last time with OOMKilled 137");
  finding_with(outcome, Severity::error, "more memory than its limit, 2Gi (7 restarts)");
}

// ---- configuration

TEST(ConfigurationCheck, ThatOfTheDeploymentIsReadAsRunReadsIt) {
  FakeCluster cluster;
  const std::string map = "/api/v1/namespaces/hindsight-system/configmaps/hindsight-config";
  cluster.put_list("/apis/apps/v1/deployments", {deployment_with({})});
  const auto examine = [&](const std::string& text) {
    cluster.put(map, {{"data", {{"config.yaml", text}}}});
    Context context = context_of(cluster);
    context.installation = look_for_installation(cluster, "").value();
    return examine_configuration(context);
  };
  const std::string head = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";
  const auto good = examine(head + "namespace: hindsight-system\nfeatureGates: {ConcurrentAdmission: true}\n");
  EXPECT_TRUE(good.findings.empty()) << text_of(good);
  EXPECT_NE(good.summary.find("gates: ConcurrentAdmission=true"), std::string::npos) << good.summary;
  const auto bad = finding_with(examine(head + "leaderElections: {}\n"), Severity::error, "leaderElections");
  EXPECT_EQ(bad.command, "kubectl -n hindsight-system edit configmap hindsight-config");
  finding_with(examine(head + "namespace: other\n"), Severity::warning, "namespace is other, and Hindsight runs in hindsight-system");
}

TEST(ConfigurationCheck, AFileThatIsNamed) {
  Context context;
  EXPECT_EQ(examine_configuration(context).standing, Standing::skipped);
  context.options.config = "/nonexistent/config.yaml";
  finding_with(examine_configuration(context), Severity::error, "/nonexistent/config.yaml");
  context.options.config.clear();
  context.options.feature_gates = "NoSuchGate=true";
  finding_with(examine_configuration(context), Severity::error, "NoSuchGate");
}

// ---- the process

TEST(Process, MetricsAreAddedUp) {
  const auto all = read_metrics("# HELP a b\na{x=\"1\"} 2\na{x=\"2 }\"} 3\nb 1.5e3\nbroken\nc nan\nd +Inf\n{} 1\ne 4 \n", 10);
  EXPECT_EQ(all.at("a"), 5);
  EXPECT_EQ(all.at("b"), 1500);
  EXPECT_FALSE(all.contains("c"));
  EXPECT_FALSE(all.contains("d"));
  EXPECT_EQ(read_metrics("a 1\nb 1\nc 1\n", 2).size(), 2U);
}

TEST(Process, ConditionsThatDoNotHold) {
  ProcessFacts facts;
  facts.address = "http://h:1";
  facts.health_status = 200;
  facts.ready_status = 503;
  facts.ready = {{"lease", "standby", false}, {"disk", "nearly full: 9 of 10", true}, {"webhooks", "may not patch", false}};
  facts.metrics = {
      {"hindsight_quarantined_objects", 2}, {"hindsight_clock_machine_offset_seconds", -70}, {"hindsight_repeated_steps_total", 1}};
  const auto outcome = judge_process(facts, {});
  finding_with(outcome, Severity::error, "lease: standby");
  EXPECT_EQ(finding_with(outcome, Severity::error, "webhooks: may not patch").command,
            "hindsight doctor --only rights,webhooks,certificates");
  finding_with(outcome, Severity::warning, "disk: nearly full");
  finding_with(outcome, Severity::warning, "2 objects are set aside");
  finding_with(outcome, Severity::warning, "is -70 s");
  finding_with(outcome, Severity::warning, "hindsight_repeated_steps_total is 1");
  EXPECT_EQ(outcome.findings.size(), 6U) << text_of(outcome);
  facts = {};
  facts.address = "http://h:1";
  facts.health_status = facts.ready_status = 404;
  finding_with(judge_process(facts, {}), Severity::error, "neither /healthz nor /readyz");
  facts.unreachable = "refused";
  EXPECT_EQ(judge_process(facts, {}).standing, Standing::blind);
}

}  // namespace
}  // namespace hindsight::doctor
