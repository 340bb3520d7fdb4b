// Rights: what deploy/ gives, what is missing, and the command that gives it. Issue 21, section 6: "rights".

#include "doctor/checks/rights.hpp"

#include <algorithm>

#include "doctor/manifests.hpp"
#include "tests/doctor/fake_cluster.hpp"

namespace hindsight::doctor {
namespace {

using test::context_of;
using test::count_of;
using test::FakeCluster;
using test::finding_with;
using test::text_of;

bool holds(const std::vector<Right>& rights, const std::string& text) {
  return std::any_of(rights.begin(), rights.end(), [&](const Right& one) { return one.text() == text; });
}

TEST(Rights, AreThoseOfTheManifests) {
  const auto rbac = rights_of(manifest_objects("rbac"));
  for (const char* text : {"patch workloads/status.kueue.x-k8s.io", "list pods", "delete jobs.batch", "create events",
                           "get leases.coordination.k8s.io in hindsight-system", "update jobs/finalizers.batch"})
    EXPECT_TRUE(holds(rbac, text)) << text;
  EXPECT_FALSE(holds(rbac, "delete pods"));
  const auto webhooks = rights_of(manifest_objects("webhooks"));
  EXPECT_TRUE(holds(webhooks, "patch secrets hindsight-webhook-server-cert in hindsight-system"));
  EXPECT_TRUE(holds(webhooks, "get customresourcedefinitions.apiextensions.k8s.io workloads.kueue.x-k8s.io"));
  EXPECT_TRUE(holds(rights_of(manifest_objects("visibility")), "get configmaps extension-apiserver-authentication in kube-system"));
  // Who scrapes is somebody else.
  for (const auto& one : rights_of(manifest_objects("metrics"))) EXPECT_EQ(one.verb, "create") << one.text();
}

class RightsOfAccount : public ::testing::Test {
 protected:
  RightsOfAccount() {
    cluster.put_list("/apis/apps/v1/deployments", {test::deployment_with({})});
    cluster.put("/apis/jobset.x-k8s.io", Json::object());
    cluster.put("/apis/ray.io", Json::object());
    cluster.allows = [this](const Json& a) {
      std::string text = a["verb"].get<std::string>() + " " + a["resource"].get<std::string>();
      if (a.contains("subresource")) text += "/" + a["subresource"].get<std::string>();
      if (!lacking.contains(text))
        return powerful || std::none_of(std::begin(powers), std::end(powers), [&](const char* one) { return text == one; });
      return false;
    };
  }
  Outcome examine() {
    Context context = context_of(cluster);
    auto installation = look_for_installation(cluster, "");
    EXPECT_TRUE(installation);
    context.installation = *installation;
    context.options = options;
    return examine_rights(context);
  }
  static constexpr const char* powers[] = {"* *",         "list secrets",      "create pods",           "create pods/exec",
                                           "patch nodes", "impersonate users", "escalate clusterroles", "create clusterrolebindings"};
  FakeCluster cluster;
  Options options;
  std::set<std::string> lacking;
  bool powerful = false;
};

TEST_F(RightsOfAccount, AllAreThere) {
  const auto outcome = examine();
  test::expect_well(outcome);
  EXPECT_NE(outcome.summary.find("ServiceAccount hindsight-system/hindsight has "), std::string::npos);
  EXPECT_EQ(std::count(cluster.reviewed.begin(), cluster.reviewed.end(), "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"), 0)
      << "the service account of the Deployment is looked at, and not who asks";
}

TEST_F(RightsOfAccount, OneThatIsMissingIsNamedWithTheCommand) {
  lacking = {"patch pods"};
  const auto outcome = examine();
  const auto finding = finding_with(outcome, Severity::error, "may not patch pods");
  EXPECT_EQ(finding.object, "ServiceAccount hindsight-system/hindsight");
  EXPECT_EQ(finding.command, "hindsight doctor --print rbac | kubectl apply -f -");
  EXPECT_EQ(outcome.findings.size(), 1U) << text_of(outcome);
}

TEST_F(RightsOfAccount, ManifestsThatAreNotInUseAreNotAskedFor) {
  lacking = {"get secrets", "create tokenreviews"};
  test::expect_well(examine());
  cluster.put_list("/apis/apps/v1/deployments", {test::deployment_with({"--webhooks", "--metrics"})});
  const auto outcome = examine();
  EXPECT_EQ(finding_with(outcome, Severity::error, "hindsight-webhook-server-cert").command,
            "hindsight doctor --print webhooks | kubectl apply -f -");
  EXPECT_EQ(finding_with(outcome, Severity::error, "create tokenreviews").command, "hindsight doctor --print metrics | kubectl apply -f -");
}

TEST_F(RightsOfAccount, WhatIsNotAlwaysNeededIsAWarning) {
  lacking = {"delete jobs", "update jobs/finalizers", "patch jobs/status"};
  const auto outcome = examine();
  EXPECT_EQ(count_of(outcome, Severity::error), 0U) << text_of(outcome);
  EXPECT_EQ(count_of(outcome, Severity::warning), 3U) << text_of(outcome);
  cluster.objects.erase("/apis/ray.io");
  lacking = {"list rayjobs"};
  finding_with(examine(), Severity::note, "may not list rayjobs");
}

TEST_F(RightsOfAccount, SomebodyElseGetsRolesOfTheirOwn) {
  lacking = {"patch workloads/status", "get leases"};
  options.account = "team/other";
  const auto outcome = examine();
  const auto finding = finding_with(outcome, Severity::error, "may not");
  EXPECT_EQ(finding.object, "ServiceAccount team/other");
  const std::string begin = "echo '", end = "' | kubectl apply -f -";
  ASSERT_TRUE(finding.command.starts_with(begin) && finding.command.ends_with(end)) << finding.command;
  const auto list = Json::parse(finding.command.substr(begin.size(), finding.command.size() - begin.size() - end.size()));
  ASSERT_EQ(list["items"].size(), 4U);
  std::set<std::string> kinds;
  for (const auto& one : list["items"]) {
    kinds.insert(one["kind"].get<std::string>());
    if (one["kind"] == "ClusterRole") {
      const Json missing = Json::parse(R"({"apiGroups":["kueue.x-k8s.io"],"resources":["workloads/status"],"verbs":["patch"]})");
      EXPECT_EQ(std::count(one["rules"].begin(), one["rules"].end(), missing), 1) << one["rules"];
      for (const auto& rule : one["rules"]) EXPECT_EQ(rule.dump().find('*'), std::string::npos) << rule;
    } else if (one["kind"] == "Role") {
      EXPECT_EQ(one["metadata"]["namespace"], "team") << "where that account lives";
    } else if (one["kind"] == "RoleBinding") {
      EXPECT_EQ(one["subjects"][0], Json::parse(R"({"kind":"ServiceAccount","name":"other","namespace":"team"})"));
    }
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}));
}

TEST_F(RightsOfAccount, TooManyAreNoted) {
  powerful = true;
  const auto outcome = examine();
  EXPECT_EQ(outcome.findings.size(), 1U) << text_of(outcome);
  finding_with(outcome, Severity::note, "may also do everything");
}

TEST_F(RightsOfAccount, WhoOnlyLooksOnNeedsNoWrites) {
  cluster.put_list("/apis/apps/v1/deployments", {test::deployment_with({"--observe"})});
  lacking = {"patch workloads", "create workloads", "patch workloads/status", "get leases", "patch jobs", "create events"};
  test::expect_well(examine());
  lacking = {"list workloads"};
  finding_with(examine(), Severity::error, "may not list workloads");
}

TEST_F(RightsOfAccount, ReviewsThatAreDeniedAreNoAnswer) {
  cluster.denied = {"/apis/authorization.k8s.io/v1/subjectaccessreviews"};
  EXPECT_EQ(examine().standing, Standing::blind);
  options.own_rights = true;
  const auto outcome = examine();
  EXPECT_EQ(outcome.standing, Standing::looked);
  EXPECT_NE(outcome.summary.find("user admin has"), std::string::npos) << outcome.summary;
}

}  // namespace
}  // namespace hindsight::doctor
