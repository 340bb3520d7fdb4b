#include "operations/health.hpp"

#include <atomic>
#include <memory>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "operations/http_server.hpp"
#include "operations/logging.hpp"
#include "tests/operations/attacked_server.hpp"
#include "tests/operations/attackers.hpp"
#include "tests/operations/raw_client.hpp"

namespace hindsight::operations {
namespace {

using nlohmann::json;

class HealthTest : public ::testing::Test {
 protected:
  void SetUp() override {
    set_up_logging({.level = LogLevel::critical, .format = LogFormat::json, .sink = [](std::string_view) {}});
  }
  void TearDown() override { set_up_logging({.level = LogLevel::warning, .format = LogFormat::text}); }

  void start(HealthSources sources) {
    HttpRoutes routes;
    routes.add("GET", "/workloads/*", [](const HttpRequest&) { return HttpResponse{}; });
    add_operational_routes(routes, std::move(sources));
    auto server = HttpServer::start({}, std::move(routes));
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = std::move(*server);
  }
  [[nodiscard]] Answer get(std::string_view path) const { return request(server_->address().port, "GET", path); }
  [[nodiscard]] Answer put(std::string_view path, std::string_view body) const {
    return request(server_->address().port, "PUT", path, body);
  }

  std::unique_ptr<HttpServer> server_;
};

TEST_F(HealthTest, ReadinessFollowsItsConditionsAndTellsEach) {
  std::atomic<bool> caught_up{false};
  start({.ready = [&] {
    return std::vector<HealthCondition>{{"log", caught_up.load(), "at 41 of 42"}, {"mirror", true, "synced"}, {"lease", true, "standby"}};
  }});
  const Answer before = get("/readyz");
  EXPECT_EQ(before.status, 503);
  const json body = json::parse(before.body);
  EXPECT_EQ(body.at("status"), "not ready");
  ASSERT_EQ(body.at("conditions").size(), 3U);
  EXPECT_EQ(body["conditions"][0], (json{{"name", "log"}, {"ok", false}, {"detail", "at 41 of 42"}}));
  EXPECT_EQ(body["conditions"][2], (json{{"name", "lease"}, {"ok", true}, {"detail", "standby"}}));
  caught_up.store(true);
  const Answer after = get("/readyz");
  EXPECT_EQ(after.status, 200);
  EXPECT_EQ(json::parse(after.body).at("status"), "ready");
}

TEST_F(HealthTest, WithoutSourcesTheProcessIsAliveButNotReady) {
  start({});
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(json::parse(get("/healthz").body), (json{{"status", "ok"}, {"conditions", json::array()}}));
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_EQ(get("/metrics").status, 404);
}

TEST_F(HealthTest, LivenessCanFail) {
  start({.alive = [] { return std::vector<HealthCondition>{{"node", false, "stopped deciding: bad \xFF record"}}; }});
  const Answer answer = get("/healthz");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(json::parse(answer.body).at("conditions")[0].at("detail"), "stopped deciding: bad \xEF\xBF\xBD record");
}

// A container that is killed because it is not ready would not be ready after that either.
TEST_F(HealthTest, LivenessDoesNotWaitForReadiness) {
  Gate gate;
  HttpRoutes routes;
  add_probe_routes(routes, {.ready = [&] {
                     gate.pass();
                     return std::vector<HealthCondition>{{"disk", true, "answers again"}};
                   }});
  auto started = HttpServer::start({.threads = 2, .waiting_max = 64, .connections_max = 64}, std::move(routes));
  ASSERT_TRUE(started.has_value()) << started.error().message;
  server_ = std::move(*started);
  const auto port = server_->address().port;
  {
    RawClient waits(port), waits_elsewhere(port, std::chrono::seconds(20), "127.0.0.65");
    waits.send("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
    gate.wait_for(1);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(request(port, "GET", "/healthz", {}, std::chrono::seconds(5)).status, 200);
    waits_elsewhere.send("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
    gate.wait_for(2);
    // Nor when all places are taken by those who wait for it.
    const attack::Holder many(port, 100, {.opening = "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n", .addresses = 50});
    for (int i = 0; i < 3; ++i) {
      RawClient other(port, std::chrono::seconds(5), "127.0.0.2");
      other.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
      EXPECT_TRUE(other.read_answer().starts_with("HTTP/1.1 200 "));
    }
    gate.open();
    EXPECT_TRUE(waits.read_answer().starts_with("HTTP/1.1 200 "));
  }
  server_.reset();  // before the gate
}

TEST_F(HealthTest, MetricsAreHandedOutAsPrometheusText) {
  start({.metrics = [] { return std::string("kueue_pending_workloads{cluster_queue=\"a\"} 3\n"); }});
  const Answer answer = get("/metrics");
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.head.find("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"), std::string::npos) << answer.head;
  EXPECT_EQ(answer.body, "kueue_pending_workloads{cluster_queue=\"a\"} 3\n");
}

TEST_F(HealthTest, TheLogLevelIsReadAndChanged) {
  start({});
  EXPECT_EQ(get("/log-level").body, "{\"level\":\"critical\"}\n");
  EXPECT_EQ(put("/log-level", "debug\n").body, "{\"level\":\"debug\"}\n");
  EXPECT_EQ(log_level(), LogLevel::debug);
  EXPECT_EQ(put("/log-level", R"({"level":"Error"})").body, "{\"level\":\"error\"}\n");
  EXPECT_EQ(put("/log-level?level=warn", "").body, "{\"level\":\"warning\"}\n");
  EXPECT_EQ(log_level(), LogLevel::warning);
}

TEST_F(HealthTest, TheLogLevelIsChangedFromThisMachineOnly) {
  HttpRoutes routes;
  add_operational_routes(routes, {});
  const auto& handler = *routes.find("PUT", "/log-level").handler;
  for (const char* peer : {"10.0.0.1", "::2", "::ffff:10.0.0.1", "1.127.0.1", ""}) {
    const HttpResponse answer = handler({.method = "PUT", .path = "/log-level", .body = "debug", .peer = peer});
    EXPECT_EQ(answer.status, 403) << peer;
    EXPECT_EQ(log_level(), LogLevel::critical);
  }
  for (const char* peer : {"127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"}) {
    set_log_level(LogLevel::critical);
    EXPECT_EQ(handler({.method = "PUT", .path = "/log-level", .body = "debug", .peer = peer}).status, 200) << peer;
    EXPECT_EQ(log_level(), LogLevel::debug);
  }
}

TEST_F(HealthTest, AnUnknownLogLevelIsRefusedAndChangesNothing) {
  start({});
  for (const std::string_view body : {"loud", "{}", R"({"level":7})", "{", "[1]", " "}) {
    const Answer answer = put("/log-level", body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_NE(json::parse(answer.body).at("error").get<std::string>().find("allowed: "), std::string::npos) << answer.body;
  }
  EXPECT_EQ(put("/log-level", "").status, 400);
  EXPECT_EQ(log_level(), LogLevel::critical);
}

TEST_F(HealthTest, TheRootListsThePaths) {
  start({.metrics = [] { return std::string(); }});
  EXPECT_EQ(json::parse(get("/").body).at("paths"),
            (json{"GET /healthz", "GET /log-level", "GET /metrics", "GET /readyz", "GET /workloads/*", "PUT /log-level"}));
}

}  // namespace
}  // namespace hindsight::operations
