// What the commands on a cluster do when the API server has too much to do.
#include "cli/remote/api_client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>

#include "connectors/objects/resource_types.hpp"
#include "tests/connectors/kubernetes/fake_api_server.hpp"
#include "tests/connectors/kubernetes/temporary_folder.hpp"

namespace hindsight::cli {
namespace {

using connectors::kubernetes::testing::Exchange;
using connectors::kubernetes::testing::FakeApiServer;
using connectors::kubernetes::testing::TemporaryFolder;

TEST(ApiClient, APageThatTheServerIsTooBusyForIsAskedForAgain) {
  const auto busy = std::make_shared<std::atomic<int>>(1);
  FakeApiServer server([busy](Exchange& exchange) {
    const bool first = !exchange.query.contains("continue");
    if (!first && (*busy)-- > 0) return exchange.answer(429, R"({"kind":"Status","message":"too many requests"})", {"Retry-After: 1"});
    exchange.answer(200, std::string(R"({"metadata":{"continue":")") + (first ? "next" : "") + R"("},"items":[{"metadata":{"name":")" +
                             (first ? "a" : "b") + R"("}}]})");
  });
  const TemporaryFolder folder;
  const auto kubeconfig =
      folder.write("config", R"({"kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
      "users":[{"name":"u","user":{}}],"clusters":[{"name":"c","cluster":{"server":")" +
                                 server.url() + R"("}}]})");
  auto client = ApiClient::connect(kubeconfig, "");
  ASSERT_TRUE(client) << client.error().message;
  const auto found = (*client)->list(connectors::types::job, {.namespace_ = "ns", .label_selector = "", .field_selector = ""});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[1]["metadata"]["name"], "b");
  EXPECT_EQ(server.requests(), (std::vector<std::string>{"GET /apis/batch/v1/namespaces/ns/jobs?limit=500",
                                                         "GET /apis/batch/v1/namespaces/ns/jobs?continue=next&limit=500",
                                                         "GET /apis/batch/v1/namespaces/ns/jobs?continue=next&limit=500"}));
}

}  // namespace
}  // namespace hindsight::cli
