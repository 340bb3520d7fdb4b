// The API server, real HTTP: who we are, its version, and bounds on what it may cost. Issue 21, section 6: everything is bounded.

#include "doctor/checks/server.hpp"

#include <algorithm>
#include <chrono>

#include "connectors/kubernetes/auth/connection.hpp"
#include "tests/connectors/kubernetes/fake_api_server.hpp"
#include "tests/doctor/fake_cluster.hpp"

namespace hindsight::doctor {
namespace {

using connectors::kubernetes::testing::Exchange;
using connectors::kubernetes::testing::FakeApiServer;
using test::context_of;
using test::FakeCluster;
using test::finding_with;
using test::text_of;

std::unique_ptr<ClusterReader> connected(const FakeApiServer& server) {
  connectors::kubernetes::Connection connection;
  connection.server = server.url();
  return connect(connection).value();
}

TEST(Server, SaysItsVersionAndWhoWeAre) {
  FakeCluster cluster;
  cluster.put("/version", {{"major", "1"}, {"minor", "36+"}, {"gitVersion", "v1.36.0"}});
  Context context = context_of(cluster);
  const auto outcome = examine_server(context);
  test::expect_well(outcome);
  EXPECT_EQ(outcome.summary, "https://fake, v1.36.0, as admin (system:authenticated)");
  cluster.put("/version", {{"major", "1"}, {"minor", "30"}, {"gitVersion", "v1.30.2"}});
  finding_with(examine_server(context), Severity::error, "version v1.30.2");
  cluster.denied = {"/version"};
  EXPECT_EQ(finding_with(examine_server(context), Severity::error, "Forbidden").command, "kubectl auth whoami");
  context.cluster = nullptr;
  context.no_cluster = "no kubeconfig";
  EXPECT_EQ(examine_server(context).standing, Standing::blind);
}

TEST(Server, AnswersAreReadAndTheirDatesKept) {
  FakeApiServer server([](Exchange& e) {
    if (e.path == "/missing") return e.answer(404, R"({"kind":"Status","reason":"NotFound","message":"gone","code":404})");
    if (e.path == "/denied") return e.answer(403, R"({"kind":"Status","reason":"Forbidden","message":"no","code":403})");
    if (e.path == "/words") return e.answer(200, "no JSON");
    e.answer(200, R"({"a":1})", {"Date: Fri, 01 Jan 2027 00:00:00 GMT"});
  });
  const auto cluster = connected(server);
  EXPECT_EQ(cluster->get("/a").value(), Json({{"a", 1}}));
  ASSERT_TRUE(cluster->clock());
  EXPECT_EQ(format_rfc3339(cluster->clock()->server), "2027-01-01T00:00:00Z");
  EXPECT_EQ(cluster->get("/missing").error().kind, ErrorKind::not_found);
  EXPECT_EQ(cluster->get("/denied").error().kind, ErrorKind::denied);
  EXPECT_NE(cluster->get("/denied").error().message.find("Forbidden: no"), std::string::npos);
  EXPECT_EQ(cluster->get("/words").error().kind, ErrorKind::io);
  const auto answers = cluster->review("/reviews", {Json::object(), Json::object()});
  EXPECT_EQ(answers.size(), 2U);
  EXPECT_FALSE(find(*cluster, "/missing").value());
  EXPECT_FALSE(find(*cluster, "/denied"));
  const auto requests = server.requests();
  EXPECT_EQ(std::count(requests.begin(), requests.end(), "POST /reviews"), 2);
}

TEST(Server, OneThatHangsTakesNoLongerThanItMay) {
  FakeApiServer server([](Exchange& e) { e.wait_for_end(); });
  const auto cluster = connected(server);
  const auto begin = std::chrono::steady_clock::now();
  cluster->set_deadline(begin + std::chrono::milliseconds(300));
  EXPECT_EQ(cluster->get("/a").error().kind, ErrorKind::unavailable);
  for (const auto& one : cluster->review("/b", {Json::object(), Json::object()})) EXPECT_EQ(one.error().kind, ErrorKind::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(Server, ListsWithoutEndAreCut) {
  FakeApiServer server([](Exchange& e) { e.answer(200, R"({"metadata":{"continue":"more"},"items":[{"a":1},{"a":2},"x",null]})"); });
  const auto cluster = connected(server);
  const auto found = list(*cluster, "/objects", "labelSelector=a", 5).value();
  EXPECT_EQ(found.items.size(), 5U);
  EXPECT_FALSE(found.complete);
  EXPECT_LE(server.requests().size(), 3U);
}

TEST(Server, OneThatGivesNothingForEverIsLeft) {
  FakeApiServer server([](Exchange& e) { e.answer(200, R"({"metadata":{"continue":"more"},"items":[]})"); });
  const auto cluster = connected(server);
  cluster->set_deadline(std::chrono::steady_clock::now() + std::chrono::milliseconds(300));
  const auto found = list(*cluster, "/objects", "", 5);
  EXPECT_TRUE(!found || found->items.empty());
}

TEST(Server, ProbesNeedNoCredentials) {
  FakeApiServer server([](Exchange& e) { e.answer(e.path == "/readyz" ? 503 : 200, "said"); });
  const auto good = plain_get(server.url() + "/", "/healthz", std::chrono::seconds(5)).value();
  EXPECT_EQ(good.status, 200);
  EXPECT_EQ(good.body, "said");
  EXPECT_EQ(plain_get(server.url(), "/readyz", std::chrono::seconds(5)).value().status, 503);
  EXPECT_EQ(plain_get("ftp://x", "/", std::chrono::seconds(1)).error().kind, ErrorKind::invalid);
  EXPECT_EQ(plain_get("http://127.0.0.1:1", "/", std::chrono::seconds(1)).error().kind, ErrorKind::unavailable);
}

}  // namespace
}  // namespace hindsight::doctor
