// What the commands on a cluster do when the API server has too much to do.
#include "cli/remote/api_client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/application.hpp"
#include "connectors/objects/resource_types.hpp"
#include "tests/connectors/kubernetes/fake_api_server.hpp"
#include "tests/connectors/kubernetes/temporary_folder.hpp"

namespace hindsight::cli {
namespace {

using connectors::kubernetes::testing::Exchange;
using connectors::kubernetes::testing::FakeApiServer;
using connectors::kubernetes::testing::TemporaryFolder;

std::string kubeconfig_of(const FakeApiServer& server, const TemporaryFolder& folder) {
  return folder.write("config", R"({"kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
      "users":[{"name":"u","user":{}}],"clusters":[{"name":"c","cluster":{"server":")" +
                                    server.url() + R"("}}]})");
}

// A tenant writes the owners of his Workload as he likes; who deletes it has other rights than he.
TEST(ApiClient, AnOwnerWithAForgedKindLeadsToNoOtherObject) {
  FakeApiServer server([](Exchange& exchange) {
    exchange.answer(200, R"({"metadata":{"name":"w","namespace":"ns","ownerReferences":[
      {"apiVersion":"v1/../..","kind":"../../kube-system/Secret","name":"../../../nodes/n?x=","uid":"u"}]}})");
  });
  const TemporaryFolder folder;
  const std::string config = kubeconfig_of(server, folder);
  std::ostringstream out, err;
  Session session{out, err};
  EXPECT_EQ(run_application(session, {"delete", "workload", "w", "-n", "ns", "--yes", "--kubeconfig", config}), 0) << err.str();
  EXPECT_EQ(server.requests().at(0), "GET /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/w");
  EXPECT_EQ(server.requests().at(1),
            "DELETE /apis/v1/..%2F../namespaces/ns/..%2F..%2Fkube-system%2Fsecrets/..%2F..%2F..%2Fnodes%2Fn%3Fx%3D");
}

TEST(ApiClient, ANameThatNamesNothingIsRefused) {
  FakeApiServer server([](Exchange& exchange) { exchange.answer(200, "{}"); });
  const TemporaryFolder folder;
  const std::string config = kubeconfig_of(server, folder);
  for (const char* name : {"", ".", ".."})
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"delete", "workload", name, "--yes"}, {"stop", "workload", name}, {"stop", "clusterqueue", name}}) {
      std::ostringstream out, err;
      Session session{out, err};
      auto line = words;
      line.insert(line.end(), {"--kubeconfig", config});
      EXPECT_NE(run_application(session, line), 0) << words[0] << " " << name;
    }
  EXPECT_EQ(server.requests(), std::vector<std::string>());
}

TEST(ApiClient, APageThatTheServerIsTooBusyForIsAskedForAgain) {
  const auto busy = std::make_shared<std::atomic<int>>(1);
  FakeApiServer server([busy](Exchange& exchange) {
    const bool first = !exchange.query.contains("continue");
    if (!first && (*busy)-- > 0) return exchange.answer(429, R"({"kind":"Status","message":"too many requests"})", {"Retry-After: 1"});
    exchange.answer(200, std::string(R"({"metadata":{"continue":")") + (first ? "next" : "") + R"("},"items":[{"metadata":{"name":")" +
                             (first ? "a" : "b") + R"("}}]})");
  });
  const TemporaryFolder folder;
  auto client = ApiClient::connect(kubeconfig_of(server, folder), "");
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
