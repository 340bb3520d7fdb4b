// All checks together: what they may cost, what whatever answer does to them, and how it is told. Issue 21, section 6.

#include "doctor/examination.hpp"

#include <nlohmann/json.hpp>

#include "doctor/manifests.hpp"
#include "doctor/report.hpp"
#include "tests/doctor/fake_cluster.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::doctor {
namespace {

using test::context_of;
using test::FakeCluster;

TEST(Examination, WritesNothingButReviews) {
  FakeCluster cluster;
  cluster.put("/version", {{"major", "1"}, {"minor", "36"}, {"gitVersion", "v1.36.0"}});
  for (const char* path : {"/apis/apps/v1/deployments", "/apis/kueue.x-k8s.io/v1beta2/workloads"}) cluster.put_list(path, {});
  Context context = context_of(cluster);
  const auto examination = examine(context, {});
  EXPECT_EQ(examination.checks.size(), checks().size());
  for (const auto& path : cluster.reviewed) EXPECT_TRUE(path.ends_with("reviews")) << path;
  EXPECT_FALSE(cluster.reviewed.empty());
}

// Whatever somebody answers, or a tenant wrote: no check ends otherwise than with an outcome.
TEST(Examination, AnswersOfEveryFormAreTaken) {
  const std::vector<std::string> answers{
      "null",
      "7",
      "\"x\"",
      "[]",
      "[1,null,{}]",
      "{}",
      R"({"items":{}})",
      R"({"items":[null,1,"x",[],{}]})",
      R"({"items":[{"metadata":7,"spec":[],"status":"x"}],"metadata":[]})",
      R"({"items":[{"metadata":{"name":1,"namespace":[],"labels":"x","managedFields":{"a":1},"ownerReferences":{}},"spec":{"replicas":"many","template":{"spec":{"containers":[7,{"args":"x","volumeMounts":1}]}},"levels":"x","versions":5,"conversion":"Webhook"},"status":{"conditions":{"type":"Available"},"containerStatuses":[[],{"name":"hindsight","state":7}]},"webhooks":[1,{"rules":[{"apiGroups":7}],"clientConfig":[]}]}]})",
      R"({"metadata":{"name":"x"},"spec":{"versions":[1,{"name":7,"schema":[]}],"conversion":{"strategy":"Webhook","webhook":7}},"status":{"userInfo":7,"allowed":"x","storedVersions":{}},"data":7,"webhooks":{}})",
      R"({"items":[{"metadata":{"name":"hindsight","namespace":"n"},"spec":{"replicas":-9223372036854775808,"leaseDurationSeconds":9223372036854775807,"renewTime":"9999-12-31T23:59:59Z","holderIdentity":"h"},"status":{"containerStatuses":[{"name":"hindsight","restartCount":-5,"lastState":{"terminated":{"reason":"OOMKilled"}}}]}}]})"};
  for (const auto& text : answers) {
    FakeCluster cluster;
    cluster.everything = Json::parse(text);
    Context context = context_of(cluster);
    const auto examination = examine(context, {});
    ASSERT_EQ(examination.checks.size(), checks().size()) << text;
    (void)document_of(examination, 100).dump();
    for (const auto& one : examination.checks)
      for (const auto& finding : one.outcome.findings)
        EXPECT_FALSE(finding.object.empty() || finding.found.empty() || finding.allowed.empty() || finding.advice.empty())
            << one.check << " " << text;
  }
}

TEST(Examination, TextsOfOthersStayOnTheirLines) {
  const std::string hostile = "evil\x1b[31m\r\nforged line\x07 \xe2\x80\xae";
  FakeCluster cluster;
  cluster.put("/version", {{"major", "1"}, {"minor", "36"}, {"gitVersion", hostile}});
  cluster.user = hostile;
  cluster.put_list("/apis/kueue.x-k8s.io/v1beta2/resourceflavors",
                   {{{"metadata", {{"name", hostile}}}, {"spec", {{"topologyName", hostile}}}}});
  cluster.put_list("/apis/kueue.x-k8s.io/v1beta2/topologies", {});
  cluster.put_list("/api/v1/nodes", {});
  Context context = context_of(cluster);
  std::string text;
  const auto examination = examine(context, [&](const Examined& done) { text += line_of(done, false); });
  text += text_of_findings(examination, 100, false);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("\nforged"), std::string::npos);
  EXPECT_NE(text.find("\\x1b"), std::string::npos);
}

TEST(Examination, FindingsAreBoundedAndCounted) {
  Outcome outcome;
  for (int i = 0; i < 1000; ++i) outcome.add({Severity::warning, "o", "f", "a", "d", "c"});
  EXPECT_EQ(outcome.findings.size(), Outcome::findings_max);
  Examination examination;
  examination.checks.push_back({"jobs", outcome});
  const auto text = text_of_findings(examination, 3, false);
  EXPECT_NE(text.find("... and 997 more"), std::string::npos) << text;
  const auto document = document_of(examination, 3);
  EXPECT_EQ(document["findings"].size(), 3U);
  EXPECT_EQ(document["leftOut"], 997);
}

TEST(Examination, StatusesAndTheirOrder) {
  const auto with = [](Severity severity) {
    Outcome out;
    out.add({severity, std::to_string(static_cast<int>(severity)), "f", "a", "d", "c"});
    return out;
  };
  Examination examination;
  examination.checks = {{"rights", {}}, {"jobs", with(Severity::note)}, {"log", skipped("why")}};
  EXPECT_EQ(examination.exit_status(), 0);
  EXPECT_EQ(examination.checks[1].status(), "ok");
  EXPECT_EQ(examination.checks[2].status(), "skipped");
  examination.checks.push_back({"pods", with(Severity::warning)});
  EXPECT_EQ(examination.exit_status(), 0);
  examination.checks.push_back({"clocks", blind("away")});
  EXPECT_EQ(examination.exit_status(), 2);
  EXPECT_EQ(examination.checks.back().status(), "skipped");
  examination.checks.push_back({"webhooks", with(Severity::error)});
  EXPECT_EQ(examination.exit_status(), 1);
  const auto text = text_of_findings(examination, 100, false);
  EXPECT_LT(text.find("error: 2"), text.find("warning: 1"));
  EXPECT_LT(text.find("warning: 1"), text.find("note: 0"));
  EXPECT_NE(text.find("1 error, 1 warning, 1 note"), std::string::npos);
}

TEST(Examination, WithoutAClusterTheOthersAreLookedAt) {
  Context context;
  context.no_cluster = "no kubeconfig";
  const auto examination = examine(context, {});
  EXPECT_EQ(examination.exit_status(), 2);
  EXPECT_EQ(examination.checks.front().status(), "error");
  for (const auto& one : examination.checks) EXPECT_EQ(one.status(), one.check == "server" ? "error" : "skipped") << one.check;
  context.options.only = {"rights"};
  EXPECT_EQ(examine(context, {}).exit_status(), 2);
  context.options.only = {"log"};
  EXPECT_FALSE(ask_cluster(context.options));
  EXPECT_EQ(examine(context, {}).exit_status(), 0);
  EXPECT_TRUE(check_chosen({"log", "rights"}));
  EXPECT_NE(check_chosen({"lag"}).error().message.find("found \"lag\"; allowed: server, "), std::string::npos);
}

TEST(Manifests, AreThoseOfDeploy) {
  for (const auto& name : manifest_names()) {
    EXPECT_FALSE(manifest_objects(name).empty()) << name;
    EXPECT_TRUE(manifest_text(name)) << name;
  }
  EXPECT_NE(manifest_text("nothing").error().message.find("allowed: crds, crds/"), std::string::npos);
}

}  // namespace
}  // namespace hindsight::doctor
