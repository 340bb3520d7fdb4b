// Webhooks that nobody answers, or whom nobody trusts, and the aggregated API. Issue 21, section 6: "webhooks that nobody answers".

#include "doctor/checks/webhooks.hpp"

#include "connectors/kubernetes/auth/base64.hpp"
#include "doctor/checks/visibility.hpp"
#include "doctor/manifests.hpp"
#include "operations/self_signed.hpp"
#include "tests/doctor/fake_cluster.hpp"

namespace hindsight::doctor {
namespace {

using connectors::kubernetes::encode_base64;
using test::context_of;
using test::FakeCluster;
using test::finding_with;
using test::text_of;

const std::string admission = "/apis/admissionregistration.k8s.io/v1/";
const std::string home = "/api/v1/namespaces/hindsight-system";

class Webhooks : public ::testing::Test {
 protected:
  Webhooks()
      : certificates(
            operations::keep_fresh({}, {.names = {"hindsight-webhook-service.hindsight-system.svc"}}, Time::from_seconds(1'800'000'000))
                .value()) {
    for (auto& object : manifest_objects("webhooks")) {
      const std::string kind = object["kind"];
      if (!kind.ends_with("WebhookConfiguration")) continue;
      for (auto& hook : object["webhooks"]) hook["clientConfig"]["caBundle"] = encode_base64(certificates.authorities);
      (kind.starts_with("Mutating") ? mutating : validating) = object;
    }
    cluster.put(home + "/services/hindsight-webhook-service", {{"spec", Json::object()}});
    put_endpoints(1);
    cluster.put(home + "/secrets/hindsight-webhook-server-cert", {{"data", {{"ca.crt", encode_base64(certificates.authorities)}}}});
    cluster.put_list("/apis/apps/v1/deployments", {test::deployment_with({"--webhooks"})});
  }
  void put_endpoints(int ready, int unready = 0) {
    Json endpoints = Json::array();
    for (int i = 0; i < ready; ++i) endpoints.push_back({{"conditions", {{"ready", true}}}});
    for (int i = 0; i < unready; ++i) endpoints.push_back({{"conditions", {{"ready", false}}}});
    cluster.put_list("/apis/discovery.k8s.io/v1/namespaces/hindsight-system/endpointslices", {{{"endpoints", endpoints}}});
  }
  Outcome examine() {
    cluster.put_list(admission + "mutatingwebhookconfigurations", mutating.is_null() ? std::vector<Json>() : std::vector<Json>{mutating});
    std::vector<Json> all = others;
    if (!validating.is_null()) all.push_back(validating);
    cluster.put_list(admission + "validatingwebhookconfigurations", all);
    Context context = context_of(cluster);
    context.installation = look_for_installation(cluster, "").value();
    return examine_webhooks(context);
  }
  operations::SelfSigned certificates;
  Json mutating, validating;
  std::vector<Json> others;
  FakeCluster cluster;
};

TEST_F(Webhooks, ThoseThatAnswerAreWell) {
  const auto outcome = examine();
  test::expect_well(outcome);
  EXPECT_NE(outcome.summary.find("of ours, 0 of others"), std::string::npos);
}

TEST_F(Webhooks, NobodyAnswers) {
  validating = nullptr;
  const auto finding_of = [&](const std::string& part) {
    auto outcome = examine();
    std::erase_if(outcome.findings,
                  [](const Finding& one) { return one.object == "webhooks of Hindsight"; });  // the others are gone on purpose
    return finding_with(outcome, Severity::error, part);
  };
  put_endpoints(0, 2);
  auto finding = finding_of("has no endpoint that is ready (2 that are not)");
  EXPECT_EQ(finding.object, "MutatingWebhookConfiguration hindsight-mutating-webhook-configuration");
  EXPECT_NE(finding.found.find("what they are asked about is refused"), std::string::npos);
  EXPECT_EQ(finding.command, "kubectl logs -n hindsight-system deployment/hindsight --tail=50");
  cluster.objects.erase(home + "/services/hindsight-webhook-service");
  EXPECT_EQ(finding_of("there is no Service hindsight-system/hindsight-webhook-service").command,
            "hindsight doctor --print webhooks | kubectl apply -f -");
  cluster.put(home + "/services/hindsight-webhook-service", {{"spec", Json::object()}});
  Json stopped = test::deployment_with({"--webhooks"});
  stopped["spec"]["replicas"] = 0;
  cluster.put_list("/apis/apps/v1/deployments", {stopped});
  EXPECT_EQ(finding_of("no endpoint").command, "kubectl scale -n hindsight-system deployment/hindsight --replicas=1");
  cluster.put_list("/apis/apps/v1/deployments", {test::deployment_with({})});
  EXPECT_NE(finding_of("no endpoint").command.find("\"value\":\"--webhooks\""), std::string::npos);
  cluster.objects.erase("/apis/apps/v1/deployments");
  cluster.put_list("/apis/apps/v1/deployments", {});
  EXPECT_EQ(finding_of("no endpoint").command, "kubectl delete mutatingwebhookconfiguration hindsight-mutating-webhook-configuration");
}

TEST_F(Webhooks, EndpointsThatNeedNotBeReadyCount) {
  cluster.put(home + "/services/hindsight-webhook-service", {{"spec", {{"publishNotReadyAddresses", true}}}});
  put_endpoints(0, 1);
  test::expect_well(examine());
}

TEST_F(Webhooks, WhomNobodyTrusts) {
  const auto other = operations::keep_fresh({}, {.names = {"x"}}, Time::from_seconds(1'800'000'000)).value();
  mutating["webhooks"][2]["clientConfig"]["caBundle"] = encode_base64(other.authorities);
  auto finding =
      finding_with(examine(), Severity::error, "caBundle is not the authority of Secret hindsight-system/hindsight-webhook-server-cert");
  const std::string begin = "-p '";
  const auto at = finding.command.find(begin);
  ASSERT_NE(at, std::string::npos) << finding.command;
  const auto patch = Json::parse(finding.command.substr(at + begin.size(), finding.command.size() - at - begin.size() - 1));
  ASSERT_EQ(patch.size(), 1U);
  EXPECT_EQ(patch[0]["path"], "/webhooks/2/clientConfig/caBundle");
  EXPECT_EQ(patch[0]["value"], encode_base64(certificates.authorities));
  mutating["webhooks"][2]["clientConfig"].erase("caBundle");
  finding_with(examine(), Severity::error, "caBundle is empty");
  mutating["webhooks"][2]["clientConfig"]["caBundle"] = "!!";
  finding_with(examine(), Severity::error, "caBundle is not base64");
  mutating["webhooks"][2]["clientConfig"]["caBundle"] = encode_base64("words");
  finding_with(examine(), Severity::error, "holds no certificate");
}

TEST_F(Webhooks, SettingsThatLetThingsPassOrWait) {
  mutating["webhooks"][5]["failurePolicy"] = "Ignore";
  validating["webhooks"][0]["timeoutSeconds"] = 30;
  const auto outcome = examine();
  EXPECT_EQ(finding_with(outcome, Severity::warning, "failurePolicy Ignore").command,
            "hindsight doctor --print webhooks | kubectl apply -f -");
  EXPECT_NE(finding_with(outcome, Severity::warning, "may take 30 s").command.find(R"("path":"/webhooks/0/timeoutSeconds")"),
            std::string::npos);
}

TEST_F(Webhooks, SomeAreNotThere) {
  mutating["webhooks"].erase(5);
  finding_with(examine(), Severity::error, "not there: mjob.kb.io");
  mutating = validating = nullptr;
  finding_with(examine(), Severity::error, "no configuration has the API server ask them");
  cluster.put_list("/apis/apps/v1/deployments", {test::deployment_with({})});
  EXPECT_EQ(examine().standing, Standing::skipped);
}

TEST_F(Webhooks, ThoseOfOthersThatAreAskedAboutOurs) {
  const Json hook = {{"name", "mjob.kb.io"},
                     {"failurePolicy", "Fail"},
                     {"rules", Json::array({{{"apiGroups", {"batch"}}, {"resources", {"jobs"}}}})},
                     {"clientConfig", {{"service", {{"name", "kueue-webhook-service"}, {"namespace", "kueue-system"}}}}}};
  Json aside = hook;
  aside["rules"][0]["apiGroups"] = Json::array({"apps"});
  others = {{{"metadata", {{"name", "kueue-validating"}}}, {"webhooks", {hook}}},
            {{"metadata", {{"name", "unrelated"}}}, {"webhooks", {aside}}}};
  const auto outcome = examine();
  const auto finding = finding_with(outcome, Severity::error, "there is no Service kueue-system/kueue-webhook-service");
  EXPECT_EQ(finding.command, "kubectl delete validatingwebhookconfiguration kueue-validating");
  EXPECT_EQ(outcome.findings.size(), 1U) << text_of(outcome);
}

TEST(Visibility, OneThatIsNotAvailable) {
  FakeCluster cluster;
  const std::string path = "/apis/apiregistration.k8s.io/v1/apiservices/v1beta2.visibility.kueue.x-k8s.io";
  Context context = context_of(cluster);
  EXPECT_EQ(examine_visibility(context).standing, Standing::skipped);
  context.installation = installation_of(test::deployment_with({"--visibility"}));
  EXPECT_EQ(finding_with(examine_visibility(context), Severity::error, "it is not there").command,
            "hindsight doctor --print visibility | kubectl apply -f -");
  Json service = {
      {"spec", {{"service", {{"name", "hindsight-visibility-server"}, {"namespace", "hindsight-system"}}}}},
      {"status", {{"conditions", {{{"type", "Available"}, {"status", "False"}, {"reason", "MissingEndpoints"}, {"message", "none"}}}}}}};
  cluster.put(path, service);
  context.installation = Installation();
  EXPECT_EQ(finding_with(examine_visibility(context), Severity::error, "MissingEndpoints").command,
            "kubectl delete apiservice v1beta2.visibility.kueue.x-k8s.io");
  service["status"]["conditions"][0]["status"] = "True";
  cluster.put(path, service);
  test::expect_well(examine_visibility(context));
}

}  // namespace
}  // namespace hindsight::doctor
