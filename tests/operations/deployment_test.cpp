// The manifest in deploy/ and the program agree with each other.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "connectors/manifests/yaml_reader.hpp"
#include "connectors/webhooks/reviews.hpp"
#include "operations/config_file.hpp"
#include "operations/health.hpp"
#include "vocabulary/amount.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::operations {
namespace {

using nlohmann::json;

/// Objects of a manifest by "Kind/name".
std::map<std::string, json> objects_of(const char* file) {
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto documents = connectors::manifests::read_yaml(text);
  EXPECT_TRUE(documents.has_value()) << file << ": " << (documents ? "" : documents.error().message);
  std::map<std::string, json> out;
  if (documents)
    for (const auto& d : *documents)
      out[d.value.at("kind").get<std::string>() + "/" + d.value.at("metadata").at("name").get<std::string>()] = d.value;
  return out;
}

class DeploymentTest : public ::testing::Test {
 protected:
  std::map<std::string, json> objects_ = objects_of("deploy/hindsight.yaml");
  json pod_ = objects_.at("Deployment/hindsight").at("spec").at("template").at("spec");
  json container_ = pod_.at("containers").at(0);

  [[nodiscard]] int port(const std::string& name) const {
    for (const auto& one : container_.at("ports"))
      if (one.at("name") == name) return one.at("containerPort");
    return 0;
  }
  [[nodiscard]] std::string argument(const std::string& name) const {
    for (const auto& a : container_.at("args")) {
      const auto text = a.get<std::string>();
      if (text.starts_with("--" + name + "=")) return text.substr(name.size() + 3);
    }
    return {};
  }
};

TEST_F(DeploymentTest, ItsConfigurationIsReadWithoutAnyWarning) {
  const std::string text = objects_.at("ConfigMap/hindsight-config").at("data").at("config.yaml");
  const auto configuration = read_configuration(text, "config.yaml", {.own_namespace = "hindsight-system", .feature_gates = std::nullopt});
  ASSERT_TRUE(configuration.has_value()) << configuration.error().message;
  EXPECT_EQ(configuration->warnings, std::vector<std::string>());
  EXPECT_TRUE(configuration->leader_elect);
}

TEST_F(DeploymentTest, ProbesAskForPathsThatTheServerHas) {
  HttpRoutes routes;
  add_probe_routes(routes, {});
  const auto address = parse_listen_address(argument("probe-address"));
  ASSERT_TRUE(address.has_value()) << address.error().message;
  EXPECT_EQ(address->host, "");
  EXPECT_EQ(port("probes"), address->port);
  for (const char* probe : {"startupProbe", "livenessProbe", "readinessProbe"}) {
    const json get = container_.at(probe).at("httpGet");
    EXPECT_EQ(get.at("port"), "probes");
    EXPECT_NE(routes.find("GET", get.at("path").get<std::string>()).handler, nullptr) << probe;
  }
}

// Whoever gets to --http is asked for nothing.
TEST_F(DeploymentTest, OthersGetOnlyToWhatAsksThemWhoTheyAre) {
  const auto address = parse_listen_address(argument("http"));
  ASSERT_TRUE(address.has_value()) << address.error().message;
  EXPECT_EQ(address->host, "127.0.0.1");
  for (const auto& one : container_.at("ports")) EXPECT_NE(one.at("containerPort"), address->port);

  const auto configuration = read_configuration(objects_.at("ConfigMap/hindsight-config").at("data").at("config.yaml").get<std::string>(),
                                                "config.yaml", {.own_namespace = "", .feature_gates = std::nullopt});
  ASSERT_TRUE(configuration && configuration->metrics_address);
  EXPECT_NE(std::find(container_.at("args").begin(), container_.at("args").end(), "--metrics"), container_.at("args").end());
  EXPECT_EQ(port("metrics"), configuration->metrics_address->port);
  const json annotations = objects_.at("Deployment/hindsight").at("spec").at("template").at("metadata").at("annotations");
  EXPECT_EQ(annotations.at("prometheus.io/port"), std::to_string(port("metrics")));
  EXPECT_EQ(annotations.at("prometheus.io/scheme"), "https");
  EXPECT_EQ(objects_.at("Service/hindsight").at("spec").at("ports"),
            json::array({{{"name", "metrics"}, {"port", 8443}, {"targetPort", "metrics"}}}));

  const auto rights = objects_of("deploy/metrics.yaml");
  EXPECT_EQ(rights.at("ClusterRole/hindsight-metrics-reader").at("rules"),
            json::array({{{"nonResourceURLs", {"/metrics"}}, {"verbs", {"get"}}}}));
  EXPECT_EQ(rights.at("ClusterRoleBinding/hindsight-metrics-auth").at("subjects").at(0).at("name"), pod_.at("serviceAccountName"));
}

// Every port that is open to others is named there, and nothing else is.
TEST_F(DeploymentTest, ThePolicyOfTheNetworkNamesThePortsThatAreThere) {
  const json spec = objects_of("deploy/network-policy.yaml").at("NetworkPolicy/hindsight").at("spec");
  EXPECT_EQ(spec.at("podSelector"), objects_.at("Deployment/hindsight").at("spec").at("selector"));
  EXPECT_EQ(spec.at("policyTypes"), json::array({"Ingress"}));
  std::vector<int> named, there;
  for (const auto& rule : spec.at("ingress"))
    for (const auto& one : rule.at("ports")) named.push_back(one.at("port"));
  for (const auto& one : container_.at("ports"))
    if (one.at("name") != "probes") there.push_back(one.at("containerPort"));
  std::sort(named.begin(), named.end());
  std::sort(there.begin(), there.end());
  EXPECT_EQ(named, there);
}

TEST_F(DeploymentTest, FilesLieOnVolumesThatAreThere) {
  std::vector<std::string> volumes, mounts;
  for (const auto& v : pod_.at("volumes")) volumes.push_back(v.at("name"));
  for (const auto& m : container_.at("volumeMounts")) {
    EXPECT_NE(std::find(volumes.begin(), volumes.end(), m.at("name").get<std::string>()), volumes.end()) << m;
    mounts.push_back(m.at("mountPath").get<std::string>() + "/");
    if (argument("log").starts_with("sqlite:" + mounts.back())) {
      EXPECT_FALSE(m.value("readOnly", false));
    }
  }
  for (const std::string& path : {argument("config"), argument("log").substr(std::string("sqlite:").size())})
    EXPECT_TRUE(std::any_of(mounts.begin(), mounts.end(), [&](const std::string& m) { return path.starts_with(m); })) << path;
  EXPECT_TRUE(objects_.contains("PersistentVolumeClaim/hindsight-log"));
}

// A log that is neither trimmed nor bounded fills its volume some day, and then nothing is decided until somebody looks.
TEST_F(DeploymentTest, TheLogForgetsAndLeavesRoomOnItsVolume) {
  const auto keep = parse_duration(argument("keep-history"));
  ASSERT_TRUE(keep) << "--keep-history: found \"" << argument("keep-history") << "\"";
  EXPECT_GE(*keep, Duration::seconds(86'400)) << "a day at least, or nobody can ask about yesterday";
  const auto limit = parse_quantity(argument("log-limit"), "memory");
  ASSERT_TRUE(limit) << "--log-limit: found \"" << argument("log-limit") << "\"";
  const std::string storage = objects_.at("PersistentVolumeClaim/hindsight-log").at("spec").at("resources").at("requests").at("storage");
  const auto volume = parse_quantity(storage, "memory");
  ASSERT_TRUE(volume) << storage;
  EXPECT_GE(*limit, Amount{1} << 30);
  EXPECT_LE(*limit, *volume / 5 * 4) << "a trim needs room beside the log, and so does the write-ahead log";
}

// BA-27: internalCertManagement of the configuration, and what deploy/webhooks.yaml is made for.
TEST_F(DeploymentTest, WebhooksAreAskedForWhereTheyAnswer) {
  const auto hooks = objects_of("deploy/webhooks.yaml");
  const auto configuration = read_configuration(objects_.at("ConfigMap/hindsight-config").at("data").at("config.yaml").get<std::string>(),
                                                "config.yaml", {.own_namespace = "", .feature_gates = std::nullopt});
  ASSERT_TRUE(configuration) << configuration.error().message;
  const json service = hooks.at("Service/" + configuration->webhook_service);
  EXPECT_EQ(service.at("metadata").at("namespace"), configuration->namespace_);
  EXPECT_EQ(service.at("spec").at("ports").at(0).at("targetPort"), configuration->webhook_address.port);
  EXPECT_EQ(service.at("spec").at("selector"), objects_.at("Deployment/hindsight").at("spec").at("selector").at("matchLabels"));
  EXPECT_EQ(port("webhooks"), configuration->webhook_address.port);
  EXPECT_EQ(hooks.at("Role/hindsight-webhooks").at("rules").at(1).at("resourceNames"), json::array({configuration->webhook_secret}));

  std::map<std::string, std::string> paths;  // of every webhook that answers
  std::vector<std::string> definitions;
  for (const auto& one : connectors::webhooks::reviewed_kinds()) {
    const auto& type = *one.kind->type;
    std::string kind(type.kind);
    std::transform(kind.begin(), kind.end(), kind.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    paths["m" + kind + ".kb.io"] = one.mutating_path;
    if (!one.validating_path.empty()) paths["v" + kind + ".kb.io"] = one.validating_path;
    if (type.group == "kueue.x-k8s.io") definitions.push_back(std::string(type.plural) + "." + std::string(type.group));
  }
  std::sort(definitions.begin(), definitions.end());
  EXPECT_EQ(hooks.at("ClusterRole/hindsight-webhooks").at("rules").at(2).at("resourceNames"), definitions);
  std::size_t judged = 0;
  for (const char* configuration_name : {"MutatingWebhookConfiguration/hindsight-mutating-webhook-configuration",
                                         "ValidatingWebhookConfiguration/hindsight-validating-webhook-configuration"})
    for (const auto& hook : hooks.at(configuration_name).at("webhooks")) {
      const std::string name = hook.at("name");
      EXPECT_EQ(hook.at("clientConfig").at("service").at("path"), paths.at(name)) << name;
      EXPECT_EQ(hook.at("clientConfig").at("service").at("name"), configuration->webhook_service) << name;
      EXPECT_EQ(hook.at("failurePolicy"), "Fail");
      judged += name.starts_with("v") ? 1 : 0;
    }
  // Every kind that we judge is brought before us.
  EXPECT_EQ(judged,
            static_cast<std::size_t>(std::count_if(paths.begin(), paths.end(), [](const auto& p) { return p.first.starts_with("v"); })));
}

// BA-27: visibilityServer of the configuration, and what deploy/visibility.yaml is made for.
TEST_F(DeploymentTest, VisibilityIsAskedForWhereItAnswers) {
  const auto objects = objects_of("deploy/visibility.yaml");
  const auto configuration = read_configuration(objects_.at("ConfigMap/hindsight-config").at("data").at("config.yaml").get<std::string>(),
                                                "config.yaml", {.own_namespace = "", .feature_gates = std::nullopt});
  ASSERT_TRUE(configuration) << configuration.error().message;
  const json service = objects.at("Service/hindsight-visibility-server");
  EXPECT_EQ(service.at("metadata").at("namespace"), configuration->namespace_);
  EXPECT_EQ(service.at("spec").at("ports").at(0).at("targetPort"), configuration->visibility_address.port);
  EXPECT_EQ(service.at("spec").at("selector"), objects_.at("Deployment/hindsight").at("spec").at("selector").at("matchLabels"));
  EXPECT_EQ(port("visibility"), configuration->visibility_address.port);
  for (const std::string version : {"v1beta1", "v1beta2"}) {
    const json spec = objects.at("APIService/" + version + ".visibility.kueue.x-k8s.io").at("spec");
    EXPECT_EQ(spec.at("service"), (json{{"name", "hindsight-visibility-server"}, {"namespace", configuration->namespace_}, {"port", 443}}));
    EXPECT_FALSE(spec.contains("insecureSkipTLSVerify"));
  }
}

TEST_F(DeploymentTest, OneCopyAtATimeHasTheLog) {
  const json spec = objects_.at("Deployment/hindsight").at("spec");
  EXPECT_EQ(spec.at("replicas"), 1);
  EXPECT_EQ(spec.at("strategy").at("type"), "Recreate");
}

TEST_F(DeploymentTest, NamespaceAndServiceAccountAreThoseOfTheRights) {
  const auto rights = objects_of("deploy/rbac.yaml");
  for (const char* key : {"Namespace/hindsight-system", "ServiceAccount/hindsight"}) EXPECT_EQ(objects_.at(key), rights.at(key));
  EXPECT_EQ(pod_.at("serviceAccountName"), "hindsight");
  for (const auto& [key, object] : objects_) {
    if (key != "Namespace/hindsight-system") {
      EXPECT_EQ(object.at("metadata").at("namespace"), "hindsight-system") << key;
    }
  }
}

TEST_F(DeploymentTest, ThePodHasNoMoreRightsThanItNeeds) {
  EXPECT_EQ(pod_.at("securityContext").at("runAsNonRoot"), true);
  EXPECT_EQ(pod_.at("securityContext").at("seccompProfile").at("type"), "RuntimeDefault");
  const json security = container_.at("securityContext");
  EXPECT_EQ(security.at("allowPrivilegeEscalation"), false);
  EXPECT_EQ(security.at("readOnlyRootFilesystem"), true);
  EXPECT_EQ(security.at("capabilities").at("drop"), json{"ALL"});
}

}  // namespace
}  // namespace hindsight::operations
