// The page over real sockets: what it answers, what callers may keep, who is let in, and what nobody can make it do.

#include "page/server/page_server.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "operations/logging.hpp"
#include "page/server/log_routes.hpp"
#include "tests/operations/raw_client.hpp"
#include "tests/replay/worlds.hpp"

namespace hindsight::page {
namespace {

using hindsight::testing::LogWorld;
using hindsight::testing::two_teams;
using operations::Answer;
using operations::RawClient;

constexpr std::array<EmbeddedFile, 3> files{{{"index.html", "text/html; charset=utf-8", "\"i1\"", "<!doctype html>", false, false},
                                             {"assets/page-AAAAAAAA.js", "text/javascript", "\"a1\"", "\x1f\x8b", true, true},
                                             {"assets/icon.svg", "image/svg+xml", "\"s1\"", "<svg/>", false, false}}};

Result<Json> place_and_count(const Look& look, const Parameters& parameters) {
  const auto limit = parameters.number("limit", 10, 1, 100);
  if (!limit) return tl::unexpected(limit.error());
  Json seen = Json::array();
  for (const char* name : {"team-a", "team-b"})
    if (look.audience.may_see(name)) seen.push_back(name);
  return Json{{"position", look.position()},
              {"hash", look.past.driver().state_hash()},
              {"limit", *limit},
              {"seesAll", look.audience.sees_all()},
              {"namespaces", std::move(seen)}};
}

class PageServerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { operations::set_up_logging({.level = operations::LogLevel::off}); }

  PageServerTest() {
    two_teams(w, true);
    options.files = files;
    options.release = "1.2.3";
    options.views = {{.path = "overview", .view = &place_and_count, .summary = "Overview", .parameters = {"limit"}},
                     {.path = "things/{namespace}/{name}",
                      .view = [](const Look&, const Parameters& p) -> Result<Json> {
                        return Json{{"is", p.of_path("namespace") + "|" + p.of_path("name")}};
                      },
                      .summary = "A thing"},
                     {.path = "records", .view = &place_and_count, .summary = "Records", .only_for_all = true},
                     {.path = "large",
                      .view = [](const Look&, const Parameters&) -> Result<Json> { return Json(std::string(2'000'000, 'x')); },
                      .summary = "Large"},
                     {.path = "broken",
                      .view = [](const Look&, const Parameters&) -> Result<Json> { throw std::runtime_error("a bug"); },
                      .summary = "Broken"},
                     {.path = "endless",
                      .view = [this](const Look& look, const Parameters&) -> Result<Json> {
                        begun.fetch_add(1);
                        while (!look.is_over()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
                        ended.fetch_add(1);
                        return fail(ErrorKind::unavailable, "it took too long");
                      },
                      .summary = "Endless"},
                     {.path = "counted",
                      .view = [this](const Look& look, const Parameters&) -> Result<Json> {
                        counted.fetch_add(1);
                        return Json{{"position", look.position()}};
                      },
                      .summary = "Counted"}};
    options.routes = log_routes(log, {.release = "1.2.3"});
    options.routes.push_back({.method = "POST",
                              .path = "branches",
                              .handler = [](const ApiCall& call) -> Result<Json> {
                                return Json{{"got", call.body}};
                              },
                              .summary = "Begin",
                              .only_for_all = true,
                              .body_bytes_max = 300'000});
    options.routes.push_back(
        {.method = "DELETE", .path = "branches/{id}", .handler = [](const ApiCall&) -> Result<Json> { return Json(); }, .summary = "End"});
  }

  void start() {
    live = std::make_shared<LiveEvents>(log);
    auto started = PageServer::start(log, live, options);
    ASSERT_TRUE(started.has_value()) << started.error().message;
    server = std::move(*started);
    port = server->address().port;
  }

  /// One request with these header lines on a connection of its own.
  [[nodiscard]] Answer ask(const std::string& target, const std::string& headers = "Host: localhost\r\n", const std::string& method = "GET",
                           const std::string& body = {}) const {
    RawClient client(port);
    std::string text = method + " " + target + " HTTP/1.1\r\nConnection: close\r\n" + headers;
    if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    client.send(text + "\r\n" + body);
    const std::string all = client.read_all();
    const auto end = all.find("\r\n\r\n");
    if (!all.starts_with("HTTP/1.1 ") || end == std::string::npos) return {};
    return {static_cast<int>(std::strtol(all.c_str() + 9, nullptr, 10)), all.substr(0, end + 2), all.substr(end + 4)};
  }
  [[nodiscard]] Json json(const std::string& target) const {
    const Answer answer = ask(target);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Json::parse(answer.body, nullptr, false);
  }
  static std::string header(const Answer& answer, const std::string& name) {
    const auto at = answer.head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const auto from = at + name.size() + 4;
    return answer.head.substr(from, answer.head.find("\r\n", from) - from);
  }
  static bool comes(const std::function<bool()>& what) {
    for (int i = 0; i < 2000 && !what(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return what();
  }

  std::shared_ptr<events::MemoryLog> log = std::make_shared<events::MemoryLog>();
  LogWorld w{*log};
  PageServerOptions options;
  std::atomic<int> begun{0}, ended{0}, counted{0};
  std::shared_ptr<LiveEvents> live;
  std::unique_ptr<PageServer> server;
  std::uint16_t port = 0;
};

// ---- answers ----------------------------------------------------------------------------------------------------------------------

TEST_F(PageServerTest, AViewIsOfTheMomentThatWasAskedFor) {
  start();
  const Json now = json("/api/v1/overview");
  EXPECT_EQ(now["position"], w.position());
  EXPECT_EQ(now["hash"], w.hashes()[w.position()]);
  EXPECT_EQ(json("/api/v1/overview?at=latest")["position"], w.position());
  for (const replay::Position p : {replay::Position{0}, replay::Position{7}, w.position() / 2, replay::Position{3}}) {
    const Json then = json("/api/v1/overview?at=" + std::to_string(p) + "&limit=5");
    EXPECT_EQ(then["position"], p);
    EXPECT_EQ(then["hash"], w.hashes()[p]);
    EXPECT_EQ(then["limit"], 5);
  }
  EXPECT_EQ(json("/api/v1/things/team-a/job%20x")["is"], "team-a|job x");
}

TEST_F(PageServerTest, WhatIsWrongIsSaidWithWhatIsAllowed) {
  start();
  struct Case {
    std::string target;
    int status;
    std::string part;
  };
  for (const auto& [target, status, part] :
       std::vector<Case>{{"/api/v1/overview?at=x", 400, "at: found"},
                         {"/api/v1/overview?at=-1", 400, "allowed: a whole number"},
                         {"/api/v1/overview?at=99999999999999999999999", 400, "at: found"},
                         {"/api/v1/overview?at=" + std::to_string(w.position() + 1), 404, "behind the end"},
                         {"/api/v1/overview?limit=0", 400, "limit: found \\\"0\\\"; allowed: a whole number from 1 to 100"},
                         {"/api/v1/overview?limit=101", 400, "limit"},
                         {"/api/v1/overview?limits=1", 400, "allowed: at, domain, branch, limit"},
                         {"/api/v1/overview?domain=other", 404, "other"},
                         {"/api/v1/overview?branch=b1", 404, "there are no branches"},
                         {"/api/v1/overview/x", 404, "no such path"},
                         {"/api/v1/things/a", 404, "no such path"},
                         {"/api/v1/things/a/../b", 400, "segment"},
                         {"/api/v1/", 404, "no"},
                         {"/api/v2/overview", 404, "no file"},
                         {"/api/v1/broken", 500, "a bug"},
                         {"/api/v1/overview?limit=" + std::string(8000, '7'), 400, "limit"},
                         {"/api/v1/overview?" + std::string(17'000, 'x'), 414, "found more than"}}) {
    const Answer answer = ask(target);
    EXPECT_EQ(answer.status, status) << target.substr(0, 80) << " " << answer.body;
    EXPECT_NE(answer.body.find(part), std::string::npos) << target.substr(0, 80) << " " << answer.body;
    EXPECT_LT(answer.body.size(), 1000U);
  }
  EXPECT_EQ(json("/api/v1/overview")["position"], w.position());
}

// Issue 20: a client that sends all of its body before it reads anything gets to read why it was refused.
TEST_F(PageServerTest, ABodyThatIsFarTooLongIsAnsweredAndNotCutOff) {
  start();
  const std::string body(8'000'000, 'x');
  RawClient client(server->address().port);
  ASSERT_TRUE(client.send("POST /api/v1/branches HTTP/1.1\r\nHost: localhost\r\nX-Hindsight-Page: 1\r\nContent-Length: " +
                          std::to_string(body.size()) + "\r\n\r\n"));
  EXPECT_TRUE(client.send(body)) << "the server does not close while the client sends";
  const std::string answer = client.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 413 ")) << answer.substr(0, 200);
  EXPECT_NE(answer.find("body: found a longer one; allowed:"), std::string::npos) << answer.substr(0, 400);
}

TEST_F(PageServerTest, AnAnswerIsBounded) {
  options.answer_bytes_max = 1'000'000;
  start();
  const Answer large = ask("/api/v1/large");
  EXPECT_EQ(large.status, 400);
  EXPECT_NE(large.body.find("allowed: 1000000"), std::string::npos) << large.body;
}

TEST_F(PageServerTest, PastMomentsMayBeKept) {
  start();
  const Answer past = ask("/api/v1/overview?at=7");
  EXPECT_EQ(header(past, "Cache-Control"), "private, max-age=3600, immutable");
  const std::string etag = header(past, "ETag");
  ASSERT_NE(etag, "");
  const Answer same = ask("/api/v1/overview?at=7", "Host: localhost\r\nIf-None-Match: " + etag + "\r\n");
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.body, "");
  EXPECT_EQ(header(same, "ETag"), etag);
  EXPECT_NE(header(ask("/api/v1/overview?at=8"), "ETag"), etag);
  const Answer now = ask("/api/v1/overview");
  EXPECT_EQ(header(now, "Cache-Control"), "private, no-cache");
  EXPECT_EQ(ask("/api/v1/overview", "Host: localhost\r\nIf-None-Match: " + header(now, "ETag") + "\r\n").status, 304);
  w.tick(Duration::seconds(1));
  w.flush();
  EXPECT_EQ(ask("/api/v1/overview", "Host: localhost\r\nIf-None-Match: " + header(now, "ETag") + "\r\n").status, 200);
}

TEST_F(PageServerTest, WhatManyAskIsMadeOnce) {
  start();
  std::vector<std::thread> people;
  for (int i = 0; i < 8; ++i) people.emplace_back([this] { EXPECT_EQ(ask("/api/v1/counted?at=7").status, 200); });
  for (auto& one : people) one.join();
  EXPECT_EQ(counted, 1);
  EXPECT_EQ(ask("/api/v1/counted?at=8").status, 200);
  EXPECT_EQ(counted, 2);
}

TEST_F(PageServerTest, TheLogIsDescribed) {
  start();
  const Json facts = json("/api/v1/log");
  EXPECT_EQ(facts["release"], "1.2.3");
  EXPECT_EQ(facts["domains"], Json::array({"default"}));
  EXPECT_EQ(facts["domain"], "default");
  EXPECT_EQ(facts["latest"]["position"], w.position());
  EXPECT_EQ(facts["first"]["position"], 1);
  EXPECT_EQ(facts["first"]["time"], "2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(facts["seesAll"], true);
  EXPECT_EQ(facts["canBranch"], false);
  const Json described = json("/api/v1/openapi.json");
  for (const char* path : {"/overview", "/log", "/live", "/branches/{id}"}) EXPECT_TRUE(described["paths"].contains(path)) << path;
}

TEST_F(PageServerTest, AnEmptyLogIsShownToo) {
  auto empty = std::make_shared<events::MemoryLog>();
  live = std::make_shared<LiveEvents>(empty);
  options.routes = log_routes(empty, {});
  auto started = PageServer::start(empty, live, options);
  ASSERT_TRUE(started.has_value());
  server = std::move(*started);
  port = server->address().port;
  EXPECT_EQ(json("/api/v1/overview")["position"], 0);
  EXPECT_EQ(json("/api/v1/log")["latest"]["position"], 0);
}

TEST_F(PageServerTest, ALogThatIsAwayIsSaidAndComesBack) {
  start();
  EXPECT_EQ(ask("/api/v1/overview").status, 200);
  log->be_away(true);
  const Answer away = ask("/api/v1/overview");
  EXPECT_EQ(away.status, 503);
  EXPECT_EQ(header(away, "Retry-After"), "1");
  EXPECT_TRUE(Json::parse(away.body)["error"].contains("remedy"));
  log->be_away(false);
  EXPECT_EQ(ask("/api/v1/overview").status, 200);
}

TEST_F(PageServerTest, ADamagedLogIsShownUpToTheDamage) {
  const auto snapshots = log->snapshots().value();
  for (const auto& one : snapshots) ASSERT_TRUE(log->drop_snapshot(one.position, one.domain));
  log->damage(20);
  start();
  const Answer damaged = ask("/api/v1/overview?at=21");
  EXPECT_EQ(damaged.status, 500);
  EXPECT_NE(damaged.body.find("20"), std::string::npos) << damaged.body;
  EXPECT_NE(damaged.body.find("hindsight log check"), std::string::npos) << damaged.body;
  EXPECT_EQ(json("/api/v1/overview?at=19")["hash"], w.hashes()[19]);
}

// ---- files ------------------------------------------------------------------------------------------------------------------------

TEST_F(PageServerTest, FilesAreServedAndNothingElse) {
  start();
  const Answer index = ask("/");
  EXPECT_EQ(index.status, 200);
  EXPECT_EQ(index.body, "<!doctype html>");
  EXPECT_EQ(header(index, "Cache-Control"), "no-cache");
  EXPECT_EQ(ask("/", "Host: localhost\r\nIf-None-Match: \"i1\"\r\n").status, 304);
  const Answer script = ask("/assets/page-AAAAAAAA.js", "Host: localhost\r\nAccept-Encoding: gzip, br\r\n");
  EXPECT_EQ(script.status, 200);
  EXPECT_EQ(header(script, "Content-Encoding"), "gzip");
  EXPECT_EQ(header(script, "Content-Type"), "text/javascript");
  EXPECT_NE(header(script, "Cache-Control").find("immutable"), std::string::npos);
  EXPECT_EQ(ask("/assets/page-AAAAAAAA.js").status, 406);
  EXPECT_EQ(header(ask("/assets/icon.svg"), "Cache-Control"), "no-cache");
  for (const char* bad :
       {"/assets/", "/assets", "/assets/page-BBBBBBBB.js", "/etc/passwd", "/index.htm", "/favicon.ico", "/assets/page-AAAAAAAA.js/x"})
    EXPECT_EQ(ask(bad).status, 404) << bad;
  for (const char* bad : {"/assets/../index.html", "/assets/%2e%2e/index.html", "/../etc/passwd", "/assets//icon.svg", "/assets/./icon.svg",
                          "/assets/..%2f..%2fetc/passwd"})
    EXPECT_EQ(ask(bad).status, 400) << bad;
  EXPECT_EQ(ask("/", "Host: localhost\r\n", "POST", "x").status, 405);
}

TEST_F(PageServerTest, BrowsersAreToldWhatThePageMayDo) {
  start();
  for (const char* target : {"/", "/assets/icon.svg", "/nothing", "/api/v1/overview", "/api/v1/nothing", "/api/v1/broken"}) {
    const Answer answer = ask(target);
    const std::string policy = header(answer, "Content-Security-Policy");
    EXPECT_TRUE(policy.starts_with("default-src 'self'")) << target << " " << answer.head;
    EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string::npos) << target;
    EXPECT_EQ(policy.find("unsafe"), std::string::npos) << target;
    EXPECT_EQ(header(answer, "X-Content-Type-Options"), "nosniff") << target;
    EXPECT_EQ(header(answer, "Referrer-Policy"), "no-referrer") << target;
    EXPECT_EQ(header(answer, "Access-Control-Allow-Origin"), "") << target;
  }
}

// ---- who is let in ----------------------------------------------------------------------------------------------------------------

TEST_F(PageServerTest, APageOfSomebodyElsesIsNotAnswered) {
  options.host_names = {"Page.example.org"};
  start();
  for (const char* good :
       {"localhost", "localhost:8181", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8181", "LOCALHOST", "page.example.org:443"})
    EXPECT_EQ(ask("/api/v1/overview", std::string("Host: ") + good + "\r\n").status, 200) << good;
  for (const char* bad :
       {"evil.example.org", "localhost.evil.org", "127.0.0.1.evil.org", "evil.org:127", "page.example.org.evil.org", "[::2]"})
    for (const char* target : {"/", "/api/v1/overview", "/api/v1/live"}) {
      const Answer answer = ask(target, std::string("Host: ") + bad + "\r\n");
      EXPECT_EQ(answer.status, 403) << bad << target;
      EXPECT_NE(answer.body.find("allowed: localhost"), std::string::npos) << answer.body;
    }
}

TEST_F(PageServerTest, WhatChangesSomethingShowsThatThePageAsks) {
  start();
  EXPECT_EQ(ask("/api/v1/branches", "Host: localhost\r\n", "POST", "{}").status, 403);
  EXPECT_EQ(ask("/api/v1/branches", "Host: localhost\r\nOrigin: https://evil.org\r\n", "POST", "{}").status, 403);
  EXPECT_EQ(ask("/api/v1/branches/1", "Host: localhost\r\n", "DELETE").status, 403);
  const std::string ours = "Host: localhost\r\nX-Hindsight-Page: 1\r\n";
  EXPECT_EQ(Json::parse(ask("/api/v1/branches", ours, "POST", "{}").body)["got"], "{}");
  const std::string long_body(300'000, 'x');  // longer than what a server takes unless it is told
  EXPECT_EQ(Json::parse(ask("/api/v1/branches", ours, "POST", long_body).body)["got"], long_body);
  EXPECT_EQ(ask("/api/v1/branches", ours, "POST", long_body + "x").status, 413);
  EXPECT_EQ(ask("/api/v1/branches/1", ours, "DELETE").status, 204);
  EXPECT_EQ(ask("/api/v1/overview", ours, "DELETE").status, 405);
  EXPECT_EQ(ask("/api/v1/branches/1").status, 405);
  EXPECT_EQ(ask("/api/v1/branches", "Host: localhost\r\n", "OPTIONS").status, 405) << "no other page is told that it may";
}

class PageOfVisitors : public PageServerTest {
 protected:
  PageOfVisitors() {
    Reviews reviews;
    reviews.who = [](const std::string& token) -> Result<std::optional<std::string>> {
      if (!token.starts_with("of-")) return std::optional<std::string>();
      return std::optional(token.substr(3));
    };
    reviews.may_get_workloads = [](const std::string& user, const std::string& namespace_) -> Result<bool> {
      return user == "root" || (user == "ann" && namespace_ == "team-a");
    };
    options.visitors = std::make_shared<Visitors>(std::move(reviews));
    start();
  }
  static std::string as(const std::string& who) { return "Host: page.example.org\r\nAuthorization: Bearer of-" + who + "\r\n"; }
};

TEST_F(PageOfVisitors, EachSeesWhatHeMay) {
  const Json ann = Json::parse(ask("/api/v1/overview?at=7", as("ann")).body);
  EXPECT_EQ(ann["namespaces"], Json::array({"team-a"}));
  EXPECT_EQ(ann["seesAll"], false);
  const Json root = Json::parse(ask("/api/v1/overview?at=7", as("root")).body);
  EXPECT_EQ(root["namespaces"], (Json::array({"team-a", "team-b"})));
  // What was made for one is nobody else's, whoever asked first.
  EXPECT_EQ(Json::parse(ask("/api/v1/overview?at=7", as("ann")).body)["seesAll"], false);
  EXPECT_EQ(Json::parse(ask("/api/v1/overview?at=7", as("bob")).body)["namespaces"], Json::array());
  EXPECT_EQ(header(ask("/api/v1/overview?at=7", as("ann")), "Cache-Control"), "private, max-age=60");
  EXPECT_EQ(ask("/api/v1/records", as("ann")).status, 403);
  EXPECT_EQ(ask("/api/v1/records", as("root")).status, 200);
  EXPECT_EQ(ask("/api/v1/branches", as("ann") + "X-Hindsight-Page: 1\r\n", "POST", "{}").status, 403);
}

TEST_F(PageOfVisitors, WhoIsNobodySeesTheDoorOnly) {
  EXPECT_EQ(ask("/").status, 200);
  EXPECT_EQ(ask("/assets/icon.svg").status, 200);
  for (const char* target : {"/api/v1/overview", "/api/v1/live", "/api/v1/log", "/api/v1/openapi.json", "/api/v1/nothing"}) {
    const Answer nobody = ask(target);
    EXPECT_EQ(nobody.status, 401) << target;
    EXPECT_TRUE(Json::parse(nobody.body)["error"].contains("remedy")) << target;
    EXPECT_EQ(ask(target, "Host: x\r\nAuthorization: Bearer stolen\r\n").status, 401) << target;
    EXPECT_EQ(ask(target, "Host: x\r\nCookie: __Host-hindsight=guess\r\n").status, 401) << target;
  }
}

TEST_F(PageOfVisitors, ABrowserSignsInAndOut) {
  const std::string page = "Host: page.example.org\r\nX-Hindsight-Page: 1\r\n";
  EXPECT_EQ(ask("/api/v1/session", "Host: page.example.org\r\n", "POST", R"({"token":"of-ann"})").status, 403) << "no other page signs in";
  EXPECT_EQ(ask("/api/v1/session", page, "POST", R"({"token":"stolen"})").status, 401);
  const Answer signed_in = ask("/api/v1/session", page, "POST", R"({"token":"of-ann"})");
  ASSERT_EQ(signed_in.status, 204) << signed_in.body;
  const std::string cookie = header(signed_in, "Set-Cookie");
  const std::string with = "Host: page.example.org\r\nCookie: " + cookie.substr(0, cookie.find(';')) + "\r\n";
  EXPECT_EQ(Json::parse(ask("/api/v1/overview", with).body)["namespaces"], Json::array({"team-a"}));
  EXPECT_EQ(ask("/api/v1/session", with + "X-Hindsight-Page: 1\r\n", "DELETE").status, 204);
  EXPECT_EQ(ask("/api/v1/overview", with).status, 401);
}

// ---- many callers -----------------------------------------------------------------------------------------------------------------

TEST_F(PageServerTest, ALookEndsWhenNobodyWaitsForIt) {
  options.answer_time = std::chrono::minutes(10);
  start();
  {
    RawClient client(port);
    client.send("GET /api/v1/endless HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_TRUE(comes([&] { return begun == 1; }));
  }
  EXPECT_TRUE(comes([&] { return ended == 1; }));
  EXPECT_EQ(ask("/api/v1/overview").status, 200);
}

TEST_F(PageServerTest, ALookEndsInTime) {
  options.answer_time = std::chrono::milliseconds(50);
  start();
  const Answer late = ask("/api/v1/endless");
  EXPECT_EQ(late.status, 503);
  EXPECT_NE(late.body.find("it took too long"), std::string::npos) << late.body;
}

TEST_F(PageServerTest, EndsThoughSomebodyLooks) {
  options.answer_time = std::chrono::minutes(10);
  start();
  RawClient client(port), stream(port);
  client.send("GET /api/v1/endless HTTP/1.1\r\nHost: localhost\r\n\r\n");
  stream.send("GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(comes([&] { return begun == 1; }));
  server->stop();
  EXPECT_EQ(ended, 1);
}

TEST_F(PageServerTest, ManyLooksAtOnceAreAnsweredOrTurnedAway) {
  options.states.states_max = 2;
  start();
  std::atomic<int> strange{0};
  std::vector<std::thread> people;
  for (unsigned person = 0; person < 12; ++person)
    people.emplace_back([&, person] {
      for (unsigned i = 0; i < 20; ++i) {
        const replay::Position at = (person * 37 + i * 11) % (w.position() + 1);
        const Answer answer = ask("/api/v1/overview?at=" + std::to_string(at));
        const bool right = answer.status == 200 && Json::parse(answer.body)["hash"] == w.hashes()[at];
        if (!right && answer.status != 503) strange.fetch_add(1);
      }
    });
  for (auto& one : people) one.join();
  EXPECT_EQ(strange, 0);
  EXPECT_LE(server->states().states, 2U);
}

// ---- what happens -----------------------------------------------------------------------------------------------------------------

class LivePage : public PageServerTest {
 protected:
  /// The data of the next event of that name.
  static Json next(RawClient& client, const std::string& name) {
    if (client.read_until("event: " + name + "\ndata: ").empty()) return {};
    std::string data = client.read_until("\n\n");
    return Json::parse(data, nullptr, false);
  }
};

TEST_F(LivePage, FollowsALogThatGrows) {
  start();
  RawClient client(port);
  client.send("GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_NE(head.find("Content-Type: text/event-stream\r\n"), std::string::npos) << head;
  EXPECT_EQ(next(client, "latest")["position"], w.position());
  for (int i = 0; i < 3; ++i) {
    w.tick(Duration::seconds(1));
    w.wake();
    w.flush();
    Json latest = next(client, "latest");
    while (latest.is_object() && latest["position"] < w.position()) latest = next(client, "latest");
    EXPECT_EQ(latest["position"], w.position());
    EXPECT_EQ(latest["time"], format_rfc3339_micro(w.now));
  }
  // Whoever comes later is told at once.
  RawClient other(port);
  other.send("GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(next(other, "latest")["position"], w.position());
  EXPECT_EQ(live->followers(), 2U);
}

TEST_F(LivePage, SaysWhenTheLogIsAway) {
  start();
  RawClient client(port);
  client.send("GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(next(client, "latest")["position"], w.position());
  log->be_away(true);
  EXPECT_TRUE(next(client, "trouble")["message"].is_string());
  log->be_away(false);
  EXPECT_EQ(next(client, "latest")["position"], w.position());
}

TEST_F(LivePage, WhatOthersSayIsForWhoMayHearIt) {
  live = std::make_shared<LiveEvents>(log);
  const auto all = live->follow(true), some = live->follow(false);
  live->tell("branch", "{\"name\":\"secret\"}", false, true);
  live->tell("index", "{\"scannedTo\":5}", true, false);
  const std::string to_all = all->take().bytes, to_some = some->take().bytes;
  EXPECT_NE(to_all.find("secret"), std::string::npos);
  EXPECT_EQ(to_some.find("secret"), std::string::npos);
  EXPECT_NE(to_some.find("scannedTo"), std::string::npos);
  live->stop();
  EXPECT_TRUE(all->is_over());
  EXPECT_TRUE(live->follow(true)->is_over());
}

TEST_F(LivePage, StreamsAreBounded) {
  options.streams_max = 5;
  options.streams_per_peer_max = 3;
  start();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<RawClient>(port));
    clients.back()->send("GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_TRUE(clients.back()->read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
  }
  const Answer refused = ask("/api/v1/live");
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.body.find("allowed: 5, of one caller 3"), std::string::npos) << refused.body;
  EXPECT_EQ(ask("/api/v1/overview").status, 200);
  clients.clear();
  EXPECT_TRUE(comes([&] { return server->http().streams == 0; }));
  EXPECT_TRUE(comes([&] { return live->followers() == 0; }));
}

}  // namespace
}  // namespace hindsight::page
