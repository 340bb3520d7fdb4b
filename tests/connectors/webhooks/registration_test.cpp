#include "connectors/webhooks/registration.hpp"

#include <gtest/gtest.h>

#include "connectors/kubernetes/auth/base64.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::Json;

Json patched(Json object, const std::optional<std::string>& patch) {
  if (patch) object.merge_patch(Json::parse(*patch));
  return object;
}

TEST(Registration, says_where_webhooks_are_and_whom_to_trust) {
  const Json configuration = Json::parse(R"({"metadata":{"name":"c","resourceVersion":"7"},"webhooks":[
      {"name":"vjob.kb.io","failurePolicy":"Fail","clientConfig":{"service":{"name":"s","namespace":"n"}}},
      {"name":"mclusterqueue.kb.io","clientConfig":{"url":"https://old/x"}},
      {"name":"somebody.else","clientConfig":{"url":"https://else/"}}]})");
  const ClientConfig by_service{.authorities = "PEM", .service = "hooks", .service_namespace = "hs"};
  const auto patch = configuration_patch(configuration, by_service);
  ASSERT_TRUE(patch);
  EXPECT_EQ(Json::parse(*patch)["metadata"]["resourceVersion"], "7");
  const Json done = patched(configuration, patch);
  EXPECT_EQ(done["webhooks"], Json::parse(R"([
      {"name":"vjob.kb.io","failurePolicy":"Fail",
       "clientConfig":{"caBundle":"UEVN","service":{"name":"hooks","namespace":"hs","path":"/validate-batch-v1-job","port":443}}},
      {"name":"mclusterqueue.kb.io",
       "clientConfig":{"caBundle":"UEVN","service":{"name":"hooks","namespace":"hs","path":"/mutate-kueue-x-k8s-io-v1beta2-clusterqueue","port":443}}},
      {"name":"somebody.else","clientConfig":{"url":"https://else/"}}])"));
  EXPECT_FALSE(configuration_patch(done, by_service));
  // Certificates of somebody else's making: only the way changes.
  const Json by_url = patched(done, configuration_patch(done, {.url = "https://127.0.0.1:9443"}));
  EXPECT_EQ(by_url["webhooks"][0]["clientConfig"],
            Json::parse(R"({"caBundle":"UEVN","url":"https://127.0.0.1:9443/validate-batch-v1-job"})"));
  EXPECT_FALSE(configuration_patch(Json::object(), by_service));
}

TEST(Registration, lets_definitions_be_converted) {
  Json definition =
      Json::parse(R"({"metadata":{"resourceVersion":"7"},"spec":{"group":"kueue.x-k8s.io","conversion":{"strategy":"None"}}})");
  const ClientConfig by_service{.authorities = "PEM", .service = "hooks", .service_namespace = "hs"},
      by_url{.authorities = "PEM", .url = "https://h:1"};
  definition = patched(definition, definition_patch(definition, by_service));
  EXPECT_EQ(definition["spec"]["conversion"], Json::parse(R"({"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],
                "clientConfig":{"caBundle":"UEVN","service":{"name":"hooks","namespace":"hs","path":"/convert","port":443}}}})"));
  EXPECT_EQ(definition["spec"]["group"], "kueue.x-k8s.io");
  EXPECT_FALSE(definition_patch(definition, by_service));
  definition = patched(definition, definition_patch(definition, by_url));
  EXPECT_EQ(definition["spec"]["conversion"]["webhook"]["clientConfig"], Json::parse(R"({"caBundle":"UEVN","url":"https://h:1/convert"})"));
  EXPECT_FALSE(definition_patch(definition, by_url));
}

}  // namespace
}  // namespace hindsight::connectors::webhooks
