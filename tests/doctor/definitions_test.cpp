// Definitions of another version: which field differs, and what puts it right. Issue 21, section 6: "definitions of another version".

#include "doctor/checks/definitions.hpp"

#include "doctor/manifests.hpp"
#include "tests/doctor/fake_cluster.hpp"

namespace hindsight::doctor {
namespace {

using test::finding_with;
using test::text_of;

const std::string topologies = "topologies.kueue.x-k8s.io";

Json definition(const std::string& name) { return manifest_objects("crds/" + name).front(); }

/// As an API server that serves it shows it.
Json served(Json definition) {
  definition["spec"]["conversion"] = {{"strategy", "None"}};
  definition["status"] = {{"storedVersions", {"v1beta2"}},
                          {"conditions", {{{"type", "NamesAccepted"}, {"status", "True"}}, {{"type", "Established"}, {"status", "True"}}}}};
  return definition;
}

/// The properties of spec in the last version.
Json& spec_of(Json& definition) {
  return definition["spec"]["versions"].back()["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
}

Outcome judge_one(const Json& wanted, std::optional<Json> found) {
  DefinitionsFacts facts;
  facts.all.push_back({wanted, std::move(found), false, {}, {}, ""});
  return judge_definitions(facts, {});
}

TEST(Definitions, OursAreAsTheyShouldBe) {
  for (const auto& one : manifest_objects("crds")) {
    EXPECT_TRUE(differences_of(one, served(one), 10).empty()) << one["metadata"]["name"];
    test::expect_well(judge_one(one, served(one)));
  }
  EXPECT_EQ(manifest_objects("crds").size(), 11U);
}

TEST(Definitions, DescriptionsDoNotCount) {
  const Json wanted = definition(topologies);
  Json found = served(wanted);
  found["spec"]["versions"].back()["schema"]["openAPIV3Schema"]["description"] = "other words";
  EXPECT_TRUE(differences_of(wanted, found, 10).empty());
}

TEST(Definitions, AFieldThatIsMissingIsNamed) {
  const Json wanted = definition("workloads.kueue.x-k8s.io");
  Json found = served(wanted);
  ASSERT_EQ(spec_of(found).erase("podSets"), 1U);
  const auto outcome = judge_one(wanted, found);
  const auto finding = finding_with(outcome, Severity::error, "v1beta2: spec.podSets is not there");
  EXPECT_EQ(finding.object, "CustomResourceDefinition workloads.kueue.x-k8s.io");
  EXPECT_EQ(finding.command, "hindsight doctor --print crds/workloads.kueue.x-k8s.io | kubectl replace -f -");
  EXPECT_EQ(outcome.findings.size(), 1U) << text_of(outcome);
}

TEST(Definitions, RulesThatDifferAreNamedWithBothValues) {
  const Json wanted = definition(topologies);
  Json found = served(wanted);
  spec_of(found)["levels"]["maxItems"] = 8;
  const auto finding = finding_with(judge_one(wanted, found), Severity::warning, "v1beta2: spec.levels.maxItems is 8, in ours 16");
  EXPECT_NE(finding.command.find("kubectl replace"), std::string::npos);
  spec_of(found)["levels"]["maxItems"] = 16;
  spec_of(found)["more"] = {{"type", "string"}};
  finding_with(judge_one(wanted, found), Severity::warning, "v1beta2: spec.more is not in ours");
}

TEST(Definitions, AVersionThatIsNotServedIsNamed) {
  const Json wanted = definition(topologies);
  Json found = served(wanted);
  found["spec"]["versions"].erase(1);
  finding_with(judge_one(wanted, found), Severity::error, "version v1beta2 is not there");
  found = served(wanted);
  found["spec"]["versions"].back()["served"] = false;
  finding_with(judge_one(wanted, found), Severity::warning, "v1beta2: served is false, in ours true");
}

TEST(Definitions, KueuesOwnAreRecognised) {
  const Json wanted = definition(topologies);
  Json found = served(wanted);
  found["metadata"]["annotations"] = {{"controller-gen.kubebuilder.io/version", "v0.17"}};
  spec_of(found)["levels"]["maxItems"] = 8;
  const auto outcome = judge_one(wanted, found);
  finding_with(outcome, Severity::note, "it is Kueue's own");
  EXPECT_NE(outcome.summary.find("1 of them Kueue's own"), std::string::npos) << outcome.summary;
}

TEST(Definitions, ThoseThatAreMissingAreMade) {
  const Json wanted = definition(topologies);
  const auto outcome = judge_one(wanted, std::nullopt);
  EXPECT_EQ(finding_with(outcome, Severity::error, topologies).command, "hindsight doctor --print crds | kubectl apply -f -");
  DefinitionsFacts facts;
  facts.all.push_back({wanted, std::nullopt, false, {}, {}, ""});
  facts.all.push_back({definition("cohorts.kueue.x-k8s.io"), served(definition("cohorts.kueue.x-k8s.io")), false, {}, {}, ""});
  EXPECT_EQ(finding_with(judge_definitions(facts, {}), Severity::error, topologies).command,
            "hindsight doctor --print crds/topologies.kueue.x-k8s.io | kubectl apply -f -");
}

TEST(Definitions, OnesThatAreNotEstablishedOrOnTheirWayOut) {
  const Json wanted = definition(topologies);
  Json found = served(wanted);
  found["status"]["conditions"] = {{{"type", "NamesAccepted"}, {"status", "False"}, {"message", "\"topo\" is already in use"}}};
  finding_with(judge_one(wanted, found), Severity::error, "\"topo\" is already in use");
  found = served(wanted);
  found["status"]["conditions"].push_back({{"type", "Terminating"}, {"status", "True"}});
  finding_with(judge_one(wanted, found), Severity::error, "it is being deleted");
}

TEST(Definitions, ObjectsOfAnOlderVersionWithoutAConverter) {
  const Json wanted = definition(topologies);
  Json found = served(wanted);
  found["status"]["storedVersions"] = {"v1beta1", "v1beta2"};
  const auto finding = finding_with(judge_one(wanted, found), Severity::warning, "stored as v1beta1");
  EXPECT_NE(finding.command.find(R"('{"status":{"storedVersions":["v1beta2"]}}')"), std::string::npos) << finding.command;
}

// What the definition has no rules for somebody has to check: deploy/crds/with-webhooks.
class LeftChecks : public ::testing::Test {
 protected:
  static constexpr const char* name = "workloads.kueue.x-k8s.io";
  static constexpr const char* definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/";
  static constexpr const char* configuration =
      "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/hindsight-validating-webhook-configuration";

  LeftChecks() {
    for (const auto& one : manifest_objects("crds")) cluster.put(definitions + one["metadata"]["name"].get<std::string>(), served(one));
    cluster.put(definitions + std::string(name), served(light));
    for (const auto& one : manifest_objects("webhooks"))
      if (one["kind"] == "ValidatingWebhookConfiguration") webhooks = one;
    cluster.put(configuration, webhooks);
    context.cluster = &cluster;
  }
  Json& hook() {
    for (auto& one : cluster.objects[configuration]["webhooks"])
      if (one["name"] == "vworkload.kb.io") return one;
    return cluster.objects[configuration];
  }
  Finding finding(Severity severity, const std::string& part) {
    const auto outcome = examine_definitions(context);
    EXPECT_EQ(outcome.findings.size(), 1U) << text_of(outcome);
    auto found = finding_with(outcome, severity, part);
    EXPECT_EQ(found.object, std::string("CustomResourceDefinition ") + name);
    EXPECT_EQ(found.command, "hindsight doctor --print crds/workloads.kueue.x-k8s.io | kubectl replace -f -");
    return found;
  }

  test::FakeCluster cluster;
  Context context;
  const Json light = manifest_objects("crds-with-webhooks/workloads.kueue.x-k8s.io").front();
  Json webhooks;
};

TEST_F(LeftChecks, AreFineWhereWebhooksAreAsked) { test::expect_well(examine_definitions(context)); }

TEST_F(LeftChecks, AreFineAsTheServerShowsTheConfiguration) {
  hook()["namespaceSelector"] = Json::object();
  hook()["objectSelector"] = Json::object();
  hook()["rules"][0]["scope"] = "*";
  test::expect_well(examine_definitions(context));
}

TEST_F(LeftChecks, WithoutTheConfiguration) {
  cluster.objects.erase(configuration);
  finding(Severity::error, "there is no ValidatingWebhookConfiguration hindsight-validating-webhook-configuration, so nobody checks");
}

TEST_F(LeftChecks, WithoutTheWebhook) {
  hook()["name"] = "other.kb.io";
  finding(Severity::error, "has no vworkload.kb.io, so nobody checks");
}

TEST_F(LeftChecks, WhereFewerWritesAreAskedAbout) {
  const Json whole = hook();
  hook()["rules"][0]["resources"] = {"workloads"};
  finding(Severity::error, "vworkload.kb.io is asked about fewer writes");
  hook() = whole;
  hook()["rules"][0]["operations"] = {"CREATE"};
  finding(Severity::error, "vworkload.kb.io is asked about fewer writes");
  hook() = whole;
  hook()["namespaceSelector"] = {{"matchLabels", {{"a", "b"}}}};
  finding(Severity::error, "vworkload.kb.io is asked about fewer writes");
}

TEST_F(LeftChecks, WithAPolicyThatLetsAllPass) {
  hook()["failurePolicy"] = "Ignore";
  finding(Severity::warning, "vworkload.kb.io has failurePolicy Ignore: while nobody answers, nobody checks");
}

TEST_F(LeftChecks, WhereItCannotBeSeen) {
  cluster.denied.insert(configuration);
  finding(Severity::note, "whether these are served could not be seen: the API server says Forbidden");
}

// It is compared with the variant that it says it is.
TEST_F(LeftChecks, OfAnotherReleaseAreNamed) {
  auto& root = cluster.objects[definitions + std::string(name)]["spec"]["versions"][1]["schema"]["openAPIV3Schema"];
  root["properties"]["spec"]["properties"]["podSets"]["maxItems"] = 8;
  const auto outcome = examine_definitions(context);
  EXPECT_EQ(finding_with(outcome, Severity::warning, "v1beta2: spec.podSets.maxItems is 8, in ours 18").command,
            "hindsight doctor --print crds-with-webhooks/workloads.kueue.x-k8s.io | kubectl replace -f -");
}

TEST_F(LeftChecks, WithoutTheMarkRulesAreMissed) {
  cluster.objects[definitions + std::string(name)]["metadata"].erase("annotations");
  const auto outcome = examine_definitions(context);
  finding_with(outcome, Severity::warning, "x-kubernetes-validations is not there");
}

TEST(Definitions, AConverterThatDoesNotAnswer) {
  const Json wanted = definition(topologies);
  Json found = served(wanted);
  DefinitionsFacts facts;
  DefinitionFacts one{wanted, found, true, {"", "hindsight-webhook-service", "hindsight-system", 443, "", false}, {}, ""};
  one.converter_reach.known = true;
  facts.all.push_back(one);
  const auto finding = finding_with(judge_definitions(facts, {}), Severity::error, "has no endpoint that is ready");
  EXPECT_NE(finding.command.find("kubectl patch crd/topologies.kueue.x-k8s.io --type=json"), std::string::npos) << finding.command;
  facts.all.front().converter_reach.ready = 1;
  test::expect_well(judge_definitions(facts, {}));
  facts.all.front().conversion_error = "conversion webhook for kueue.x-k8s.io/v1beta2 failed: refused";
  finding_with(judge_definitions(facts, {}), Severity::error, "refused");
}

}  // namespace
}  // namespace hindsight::doctor
