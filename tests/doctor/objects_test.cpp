// Objects of tenants and nodes: what was set aside, jobs that run without admission, labels that topologies need. Issue 21, section 6.

#include "doctor/checks/jobs.hpp"
#include "doctor/checks/set_aside.hpp"
#include "doctor/checks/topologies.hpp"
#include "tests/doctor/fake_cluster.hpp"

namespace hindsight::doctor {
namespace {

using test::context_of;
using test::FakeCluster;
using test::finding_with;
using test::text_of;

const Time noon = Time::from_seconds(1'800'000'000);

Json running_job(const std::string& name, std::int64_t age_seconds = 600) {
  return {{"metadata",
           {{"name", name},
            {"namespace", "team"},
            {"uid", "uid-" + name},
            {"creationTimestamp", format_rfc3339(noon - Duration::seconds(age_seconds))},
            {"labels", {{"kueue.x-k8s.io/queue-name", "lq"}}}}},
          {"spec", {{"suspend", false}}},
          {"status", {{"active", 1}}}};
}

Json workload_of(const std::string& job, const char* admitted) {
  return {{"metadata", {{"name", "job-" + job}, {"namespace", "team"}, {"ownerReferences", {{{"uid", "uid-" + job}, {"kind", "Job"}}}}}},
          {"status", {{"conditions", {{{"type", "Admitted"}, {"status", admitted}}}}}}};
}

TEST(Jobs, ThatRunUnadmittedAreNamed) {
  JobsFacts facts;
  Json suspended = running_job("suspended"), done = running_job("done"), part = running_job("part"), elsewhere = running_job("elsewhere");
  suspended["spec"]["suspend"] = true;
  done["status"]["conditions"] = {{{"type", "Complete"}, {"status", "True"}}};
  part["metadata"]["ownerReferences"] = {{{"kind", "JobSet"}, {"controller", true}, {"uid", "s"}}};
  elsewhere["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue";
  find_unadmitted(
      "job.batch",
      {running_job("good"), running_job("waits"), running_job("alone"), running_job("new", 5), suspended, done, part, elsewhere},
      {workload_of("good", "True"), workload_of("waits", "False")}, noon, facts);
  const auto outcome = judge_jobs(facts, {});
  EXPECT_EQ(outcome.findings.size(), 2U) << text_of(outcome);
  finding_with(outcome, Severity::error, "its Workload job-waits is not admitted");
  const auto alone = finding_with(outcome, Severity::error, "has no Workload");
  EXPECT_EQ(alone.object, "job.batch team/alone");
  EXPECT_EQ(alone.command, R"(kubectl -n team patch job.batch alone --type=merge -p '{"spec":{"suspend":true}}')");
  EXPECT_NE(outcome.summary.find("2 of 3 jobs that run without admission, 8 jobs"), std::string::npos) << outcome.summary;
}

TEST(Jobs, OfAClusterAreRead) {
  FakeCluster cluster;
  cluster.sample = ClockSample{noon, machine_time()};
  Context context = context_of(cluster);
  EXPECT_EQ(examine_jobs(context).standing, Standing::skipped) << "before there are definitions";
  cluster.put_list("/apis/kueue.x-k8s.io/v1beta2/workloads", {});
  cluster.put_list("/apis/batch/v1/jobs", {running_job("a")});
  Json set = running_job("s");
  cluster.put_list("/apis/jobset.x-k8s.io/v1alpha2/jobsets", {set});
  EXPECT_EQ(examine_jobs(context).findings.size(), 2U);
  context.options.objects_max = 0;
  cluster.put_list("/apis/kueue.x-k8s.io/v1beta2/workloads", {workload_of("a", "True")});
  EXPECT_EQ(examine_jobs(context).standing, Standing::skipped) << "what was not read may be admitted";
}

TEST(SetAside, ObjectsAreFoundByWhatTheirConditionsSay) {
  FakeCluster cluster;
  const auto with = [](const char* name, const char* type, const char* message) {
    return Json{{"metadata", {{"name", name}, {"namespace", "team"}}},
                {"status", {{"conditions", {{{"type", type}, {"status", "False"}, {"message", message}}}}}}};
  };
  cluster.put_list(
      "/apis/kueue.x-k8s.io/v1beta2/workloads",
      {with("many", "QuotaReserved", "Set aside: metadata.labels: found 600 elements"), with("waits", "QuotaReserved", "no quota")});
  cluster.put_list("/apis/kueue.x-k8s.io/v1beta2/localqueues",
                   {with("lq", "Active", "Can submit new workloads. Set aside: spec: found a list")});
  cluster.put_list("/apis/kueue.x-k8s.io/v1beta2/clusterqueues", {});
  cluster.put_list(
      "/api/v1/events",
      {{{"message", "beyond"}, {"involvedObject", {{"kind", "Job"}, {"apiVersion", "batch/v1"}, {"namespace", "team"}, {"name", "j"}}}},
       {{"message", "again"}, {"involvedObject", {{"kind", "Job"}, {"apiVersion", "batch/v1"}, {"namespace", "team"}, {"name", "j"}}}}});
  Context context = context_of(cluster);
  const auto outcome = examine_set_aside(context);
  EXPECT_EQ(outcome.findings.size(), 3U) << text_of(outcome);
  const auto many = finding_with(outcome, Severity::warning, "team/many");
  EXPECT_EQ(many.found, "it was set aside: metadata.labels: found 600 elements");
  EXPECT_EQ(many.command, "kubectl -n team edit workload.kueue.x-k8s.io many");
  EXPECT_EQ(finding_with(outcome, Severity::warning, "job.batch team/j").command, "kubectl -n team edit job.batch j");
}

NodeFacts node(const std::string& name, std::map<std::string, std::string> labels) { return {name, std::move(labels)}; }

TEST(Topologies, LabelsThatNodesLack) {
  TopologiesFacts facts;
  EXPECT_EQ(judge_topologies(facts, {}).standing, Standing::skipped);
  facts.levels["t"] = {"rack", "kubernetes.io/hostname"};
  facts.flavors = {{"f", "t", {{"pool", "a"}}}};
  facts.nodes = {node("n1", {{"pool", "a"}, {"rack", "r"}, {"kubernetes.io/hostname", "n1"}}),
                 node("n2", {{"pool", "a"}, {"kubernetes.io/hostname", "n2"}}), node("other", {{"pool", "b"}})};
  auto finding =
      finding_with(judge_topologies(facts, {}), Severity::warning, "1 of 2 nodes that it selects lack label rack of Topology t: n2");
  EXPECT_EQ(finding.command, "kubectl label node n2 rack=VALUE");
  facts.nodes[0].labels.erase("rack");
  finding_with(judge_topologies(facts, {}), Severity::error, "2 of 2 nodes");
  facts.levels["t"] = {"kubernetes.io/hostname"};
  facts.nodes[1].labels.erase("kubernetes.io/hostname");
  EXPECT_EQ(finding_with(judge_topologies(facts, {}), Severity::warning, "kubernetes.io/hostname").command,
            "kubectl label node n2 kubernetes.io/hostname=n2");
  facts.flavors[0].node_labels = {{"pool", "c"}};
  EXPECT_EQ(finding_with(judge_topologies(facts, {}), Severity::warning, "no node has its labels (pool=c)").command,
            "kubectl label node NODE pool=c");
  facts.complete = false;
  EXPECT_TRUE(judge_topologies(facts, {}).findings.empty()) << "it may be among those that were not looked at";
  facts.flavors[0].topology = "absent";
  EXPECT_NE(finding_with(judge_topologies(facts, {}), Severity::error, "names Topology absent").command.find(R"("kind":"Topology")"),
            std::string::npos);
}

// TAS-133
TEST(Topologies, PodsOfOthersOnTheirNodes) {
  TopologiesFacts facts;
  facts.levels["t"] = {"rack"};
  facts.flavors = {{"f", "t", {{"pool", "a"}}}};
  facts.nodes = {node("n1", {{"pool", "a"}, {"rack", "r"}}), node("n2", {{"pool", "b"}, {"rack", "r"}})};
  const auto pod = [&](const std::string& name, const std::string& on, Json meta = Json::object(), const char* phase = "Running") {
    meta["namespace"] = "team";
    meta["name"] = name;
    note_stranger({{"metadata", std::move(meta)}, {"spec", {{"nodeName", on}}}, {"status", {{"phase", phase}}}}, facts);
  };
  pod("ours", "n1", {{"labels", {{"kueue.x-k8s.io/podset", "main"}}}});
  pod("daemon", "n1", {{"ownerReferences", Json::array({{{"kind", "DaemonSet"}, {"controller", true}}})}});
  pod("static", "n1", {{"ownerReferences", Json::array({{{"kind", "Node"}, {"controller", true}}})}});
  pod("done", "n1", Json::object(), "Succeeded");
  pod("waits", "");
  pod("elsewhere", "n2", {{"ownerReferences", "forged"}});
  EXPECT_TRUE(judge_topologies(facts, {}).findings.empty());
  pod("web", "n1", {{"ownerReferences", Json::array({{{"kind", "ReplicaSet"}}})}});
  const auto finding = finding_with(judge_topologies(facts, {}), Severity::warning, "1 pod on its nodes belongs neither");
  EXPECT_NE(finding.found.find("team/web on n1;"), std::string::npos) << finding.found;
  EXPECT_EQ(finding.command, "kubectl get pods --all-namespaces --output=wide --field-selector=spec.nodeName=n1");
  facts.pods_unknown = "no right";
  EXPECT_NE(judge_topologies(facts, {}).summary.find("not all pods were looked at: no right"), std::string::npos);
}

}  // namespace
}  // namespace hindsight::doctor
