#include "operations/http_server.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <future>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "operations/logging.hpp"
#include "tests/operations/raw_client.hpp"

namespace hindsight::operations {
namespace {

HttpHandler says(std::string text) {
  return [text = std::move(text)](const HttpRequest&) { return HttpResponse{.content_type = "text/plain", .body = text}; };
}

/// The request as the handler saw it.
HttpResponse echo(const HttpRequest& q) {
  std::string text = q.method + " " + q.path + " rest=" + q.rest + " body=" + q.body;
  for (const auto& [key, value] : q.query) text += " " + key + "=" + value;
  return {.content_type = "text/plain", .body = text};
}

class HttpServerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { set_up_logging({.level = LogLevel::off}); }

  void start(const HttpServerOptions& options = {}) {
    routes_.add("GET", "/hello", says("hello"));
    auto server = HttpServer::start(options, routes_);
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = std::move(*server);
    port_ = server_->address().port;
  }

  /// The server is as well as before.
  void expect_well() const {
    const Answer answer = request(port_, "GET", "/hello");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "hello");
  }

  /// Whether it stops at all within 10 s, which no time-out of these tests allows but the one that stop() sets.
  void expect_stop() {
    auto done = std::async(std::launch::async, [this] { server_->stop(); });
    EXPECT_EQ(done.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  }

  HttpRoutes routes_;
  std::unique_ptr<HttpServer> server_;
  std::uint16_t port_ = 0;
};

TEST_F(HttpServerTest, AnswersByMethodAndPath) {
  routes_.add("GET", "/things/*", &echo);
  routes_.add("GET", "/things/special", says("special"));
  routes_.add("GET", "/things/deep/*", says("deep"));
  routes_.add("PUT", "/level", &echo);
  routes_.add("GET", "/level", says("now"));
  start();
  EXPECT_EQ(request(port_, "GET", "/hello").body, "hello");
  EXPECT_EQ(request(port_, "GET", "/hello?x=1").body, "hello");
  EXPECT_EQ(request(port_, "GET", "/things/a%20b/c?at=12&o=%7b").body, "GET /things/a b/c rest=a b/c body= at=12 o={");
  EXPECT_EQ(request(port_, "GET", "/things/special").body, "special");
  EXPECT_EQ(request(port_, "GET", "/things/deep/er").body, "deep");
  EXPECT_EQ(request(port_, "PUT", "/level", "debug").body, "PUT /level rest= body=debug");
  EXPECT_EQ(request(port_, "PUT", "/level?x=y").body, "PUT /level rest= body= x=y");
  EXPECT_EQ(request(port_, "GET", "/level").body, "now");
}

// Whatever a handler puts the rest of a path behind, it stays below that.
TEST_F(HttpServerTest, APathThatLeadsElsewhereDoesNotReachARouteWithARest) {
  std::atomic<int> asked{0};
  routes_.add("GET", "/files/*", [&](const HttpRequest& q) {
    asked.fetch_add(1);
    return echo(q);
  });
  start();
  for (const char* bad : {"/files/..", "/files/.", "/files/../x", "/files/a/../../b", "/files/a/..", "/files/./a", "/files/%2e%2e/x",
                          "/files/%2E./x", "/files/a%2f..%2fb", "/files/%2e", "/files//etc/passwd", "/files/%2fetc/passwd", "/files/a//b"})
    EXPECT_EQ(request(port_, "GET", bad).status, 400) << bad;
  EXPECT_EQ(asked.load(), 0);
  EXPECT_EQ(request(port_, "GET", "/files/../hello").status, 400);
  for (const char* good : {"a", "..a", "a..b", ".hidden", "a./b", ".../x", "a/"})
    EXPECT_EQ(request(port_, "GET", std::string("/files/") + good).body, std::string("GET /files/") + good + " rest=" + good + " body=");
}

TEST_F(HttpServerTest, AQueryHasSoManyParameters) {
  routes_.add("GET", "/count", [](const HttpRequest& q) { return HttpResponse{.body = std::to_string(q.query.size())}; });
  start();
  std::string query;
  for (int i = 0; i < 100; ++i) query += "p" + std::to_string(i) + "=x&";
  EXPECT_EQ(request(port_, "GET", "/count?" + query).body, "100");
  const Answer more = request(port_, "GET", "/count?" + query + "one=more");
  EXPECT_EQ(more.status, 400);
  EXPECT_EQ(more.body, "{\"error\":\"query: found more parameters; allowed: 100\"}\n");
}

TEST_F(HttpServerTest, RefusesWhatIsNotThereAndSaysWhatIs) {
  start();
  const Answer missing = request(port_, "GET", "/hell");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.body, "{\"error\":\"no such path: /hell\"}\n");
  EXPECT_EQ(request(port_, "GET", "/things/").status, 404);
  const Answer method = request(port_, "DELETE", "/hello");
  EXPECT_EQ(method.status, 405);
  EXPECT_NE(method.head.find("Allow: GET\r\n"), std::string::npos) << method.head;
  EXPECT_EQ(request(port_, "PUT", "/hello", "body").status, 405);
  EXPECT_EQ(request(port_, "GET", "/hello", "body").status, 400);
}

TEST_F(HttpServerTest, HeadGetsTheHeadersOnly) {
  start();
  RawClient client(port_);
  client.send("HEAD /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answer = client.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
}

TEST_F(HttpServerTest, OneConnectionCarriesManyRequests) {
  start();
  RawClient client(port_);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(client.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_TRUE(client.read_answer().ends_with("hello"));
  }
  // Two at once.
  client.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\nGET /nothing HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(client.read_answer().ends_with("hello"));
  EXPECT_TRUE(client.read_answer().starts_with("HTTP/1.1 404"));
  server_->stop();
  EXPECT_EQ(server_->statistics().requests, 22U);
  EXPECT_EQ(server_->statistics().refused, 1U);
}

TEST_F(HttpServerTest, AHandlerThatThrowsIsAnInternalErrorWithoutDetails) {
  routes_.add("GET", "/bad", [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("secret"); });
  routes_.add("GET", "/worse", [](const HttpRequest&) -> HttpResponse { throw 7; });
  start();
  for (const char* path : {"/bad", "/worse"}) {
    const Answer answer = request(port_, "GET", path);
    EXPECT_EQ(answer.status, 500);
    EXPECT_EQ(answer.body, "{\"error\":\"internal error\"}\n");
  }
  EXPECT_EQ(server_->statistics().failed, 2U);
  expect_well();
}

TEST_F(HttpServerTest, ReportsTheFreePortThatItGot) {
  start();
  EXPECT_EQ(server_->address().host, "127.0.0.1");
  EXPECT_NE(server_->address().port, 0);
}

TEST_F(HttpServerTest, AnEmptyHostMeansAllAddresses) {
  start({.address = {"", 0}});
  expect_well();
}

TEST_F(HttpServerTest, AnAddressThatCannotBeHadIsAnErrorThatNamesIt) {
  start();
  const auto taken = HttpServer::start({.address = {"127.0.0.1", port_}}, {});
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().kind, ErrorKind::unavailable);
  EXPECT_NE(taken.error().message.find("127.0.0.1:" + std::to_string(port_)), std::string::npos) << taken.error().message;
  const auto foreign = HttpServer::start({.address = {"192.0.2.1", 0}}, {});
  ASSERT_FALSE(foreign.has_value());
  EXPECT_NE(foreign.error().message.find("192.0.2.1:0"), std::string::npos) << foreign.error().message;
  expect_well();
}

TEST_F(HttpServerTest, AStoppedServerGivesItsPortBack) {
  start();
  server_->stop();
  EXPECT_EQ(request(port_, "GET", "/hello").status, 0);
  server_->stop();
  const auto again = HttpServer::start({.address = {"127.0.0.1", port_}}, {});
  EXPECT_TRUE(again.has_value());
}

std::string with_headers(const std::string& headers) { return "GET /hello HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n"; }

/// What a client might send that is no request, or is one that asks for too much.
std::vector<std::string> bad_inputs() {
  std::vector<std::string> inputs = {
      "",
      "\r\n",
      "\r\n\r\n\r\n",
      "GET",
      "GET \r\n\r\n",
      "GET /hello\r\n\r\n",
      "GET /hello HTTP/9.9\r\n\r\n",
      "get /hello HTTP/1.1\r\n\r\n",
      "FROBNICATE /hello HTTP/1.1\r\n\r\n",
      "GET hello HTTP/1.1\r\n\r\n",
      "GET http://[::::/ HTTP/1.1\r\n\r\n",
      "GET /%zz%%%f HTTP/1.1\r\n\r\n",
      "GET /%u0000%00 HTTP/1.1\r\n\r\n",
      "GET /hello?%&&==&a=%&b HTTP/1.1\r\n\r\n",
      "GET /../../../etc/passwd HTTP/1.1\r\n\r\n",
      "GET /hello HTTP/1.1\r\n: nothing\r\n\r\n",
      "GET /hello HTTP/1.1\r\nno colon\r\n\r\n",
      "GET /hello HTTP/1.1\nHost: x\n\n",
      std::string{0x16, 3, 1, 2, 0, 1, 0, 1, static_cast<char>(0xfc), 3, 3},
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      std::string(100, '\0'),
      std::string(20'000, 'A'),
      "GET /" + std::string(9'000, 'a') + " HTTP/1.1\r\n\r\n",
      "GET /" + std::string(3'000, 'a') + " HTTP/1.1\r\n\r\n",
      with_headers("X: " + std::string(9'000, 'b') + "\r\n"),
      with_headers("Range: bytes=99999999999999999999999-\r\n"),
      with_headers("Range: bytes=-\r\n"),
      with_headers("Range: bytes=5-2\r\n"),
      with_headers("Accept-Encoding: " + std::string(4'000, ',') + "\r\n"),
      with_headers("Connection: Keep-Alive, Close, Upgrade\r\nUpgrade: websocket\r\n"),
      with_headers("Content-Length: -1\r\n"),
      with_headers("Content-Length: 99999999999999999999999999\r\n"),
      with_headers("Content-Length: 5\r\nContent-Length: 6\r\n") + "hello",
      with_headers("Transfer-Encoding: chunked\r\n") + "zz\r\n",
      "PUT /put HTTP/1.1\r\nContent-Length: 10\r\n\r\nshort",
      "PUT /put HTTP/1.1\r\nContent-Length: 100000000\r\n\r\nbody",
      "PUT /put HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nbody",
      "PUT /put HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
      "PUT /put HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nbody",
      "PUT /put HTTP/1.1\r\nContent-Type: multipart/form-data\r\nContent-Length: 4\r\n\r\nbody",
      "PUT /put HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=\"\r\nContent-Length: 4\r\n\r\nbody",
      "PUT /put HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
  };
  std::string many_headers, many_ranges = "Range: bytes=0-0";
  for (int i = 0; i < 3'000; ++i) many_headers += "h" + std::to_string(i) + ": v\r\n";
  while (many_ranges.size() < 8'100) many_ranges += ",0-0";
  inputs.push_back(with_headers(many_headers));
  inputs.push_back(with_headers(many_ranges + "\r\n"));
  std::string chunks = "PUT /put HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 50'000; ++i) chunks += "4\r\nbody\r\n";
  inputs.push_back(std::move(chunks));
  return inputs;
}

TEST_F(HttpServerTest, BadRequestsOfManyClientsAtOnceChangeNothing) {
  routes_.add("PUT", "/put", &echo);
  start({.threads = 4, .waiting_max = 64, .head_seconds = 1, .body_seconds = 1});
  const auto inputs = bad_inputs();
  std::vector<std::thread> clients;
  for (unsigned t = 0; t < 6; ++t)
    clients.emplace_back([&, t] {
      std::mt19937 random(t);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string& input = inputs[(i * 7 + t * 11) % inputs.size()];
        RawClient client(port_);
        ASSERT_TRUE(client.connected());
        // In pieces, sometimes cut off, sometimes hung up on.
        std::size_t at = 0;
        while (at < input.size()) {
          const std::size_t n = std::min<std::size_t>(input.size() - at, 1 + random() % 5'000);
          if (!client.send(std::string_view(input).substr(at, n))) break;
          at += n;
        }
        if (random() % 4 == 0) continue;
        client.finish_sending();
        const std::string answer = client.read_all();
        EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 ")) << answer.substr(0, 200);
      }
      for (int i = 0; i < 100; ++i) {  // noise
        std::string noise = random() % 2 == 0 ? "GET /hello HTTP/1.1\r\n" : "";
        const std::size_t size = random() % 600;
        while (noise.size() < size) noise += static_cast<char>(random() % 256);
        RawClient client(port_);
        client.send(noise);
        client.finish_sending();
        client.read_all();
      }
    });
  for (auto& client : clients) client.join();
  expect_well();
  expect_stop();
}

TEST_F(HttpServerTest, EachBadRequestGetsAnErrorOrAClosedConnection) {
  routes_.add("PUT", "/put", &echo);
  start({.head_seconds = 1, .body_seconds = 1});
  const auto status_of = [&](const std::string& input) {
    RawClient client(port_);
    client.send(input);
    client.finish_sending();
    const std::string answer = client.read_all();
    return answer.starts_with("HTTP/1.1 ") ? static_cast<int>(std::strtol(answer.c_str() + 9, nullptr, 10)) : 0;
  };
  EXPECT_EQ(status_of("GET /hello HTTP/9.9\r\n\r\n"), 400);
  EXPECT_EQ(status_of("FROBNICATE /hello HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET /" + std::string(3'000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n"), 414);
  EXPECT_EQ(status_of(with_headers("Content-Length: -1\r\n")), 400);
  EXPECT_EQ(status_of("PUT /put HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"), 400);
  EXPECT_EQ(status_of("PUT /put HTTP/1.1\r\nContent-Length: 100000000\r\n\r\nbody"), 413);
  EXPECT_EQ(status_of(with_headers("X: 1\r\n")), 200);
  std::string many_headers;
  for (int i = 0; i < 3'000; ++i) many_headers += "h" + std::to_string(i) + ": v\r\n";
  EXPECT_NE(status_of(with_headers(many_headers)), 200);
}

TEST_F(HttpServerTest, RangesAreNotServed) {
  routes_.add("GET", "/big", says(std::string(100'000, 'x')));
  start();
  std::string ranges = "Range: bytes=0-";
  for (int i = 0; i < 1'500; ++i) ranges += ",0-";
  RawClient client(port_);
  client.send("GET /big HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + ranges + "\r\n\r\n");
  const std::string answer = client.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer.substr(0, 100);
  EXPECT_LT(answer.size(), 101'000U);
}

TEST_F(HttpServerTest, ARequestThatTricklesInIsCutOff) {
  start({.head_seconds = 1, .body_seconds = 1});
  RawClient client(port_);
  client.send("GET /hello HTTP/1.1\r\n");
  // The read ends when the server closes, long before the client's own patience.
  const std::string answer = client.read_all();
  EXPECT_FALSE(answer.starts_with("HTTP/1.1 200"));
  expect_well();
}

TEST_F(HttpServerTest, IdleConnectionsGiveWayToOthersThatWait) {
  start({.threads = 2, .idle_seconds = 300});
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 10; ++i) {
    idle.push_back(std::make_unique<RawClient>(port_));
    idle.back()->send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_TRUE(idle.back()->read_answer().ends_with("hello"));
  }
  for (int i = 0; i < 10; ++i) expect_well();
}

TEST_F(HttpServerTest, RequestsBeyondTheQueueAreTurnedAway) {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
  int inside = 0;
  routes_.add("GET", "/block", [&](const HttpRequest&) {
    std::unique_lock lock(mutex);
    ++inside;
    changed.notify_all();
    changed.wait(lock, [&] { return open; });
    return HttpResponse{.body = "done"};
  });
  start({.threads = 1, .waiting_max = 1});
  const std::string ask = "GET /block HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  RawClient first(port_);
  first.send(ask);
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return inside == 1; });
  }
  RawClient second(port_);
  second.send(ask);
  // The second waits; sooner or later it is in the queue and others are turned away.
  std::string answer;
  for (int i = 0; i < 100 && answer.empty(); ++i) {
    RawClient third(port_);
    third.send(ask);
    answer = third.read_all();
  }
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503")) << answer;
  EXPECT_GE(server_->statistics().rejected, 1U);
  {
    const std::lock_guard lock(mutex);
    open = true;
  }
  changed.notify_all();
  EXPECT_TRUE(first.read_all().ends_with("done"));
  EXPECT_TRUE(second.read_all().ends_with("done"));
  expect_well();
}

TEST_F(HttpServerTest, StopDoesNotWaitForClients) {
  std::string huge;
  huge.resize(50'000'000, 'x');
  routes_.add("GET", "/huge", says(huge));
  start({.threads = 4, .head_seconds = 300, .response_seconds = 300, .idle_seconds = 300});
  RawClient idle(port_), half(port_), deaf(port_), silent(port_);
  idle.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(idle.read_answer().ends_with("hello"));
  half.send("GET /hel");
  deaf.send("GET /huge HTTP/1.1\r\nHost: x\r\n\r\n");
  expect_stop();
  EXPECT_EQ(idle.read_all(), "");
}

TEST_F(HttpServerTest, WhatIsBeingAnsweredAtTheStopIsFinished) {
  std::promise<void> entered;
  std::promise<void> go;
  routes_.add("GET", "/slow", [&](const HttpRequest&) {
    entered.set_value();
    go.get_future().wait();
    return HttpResponse{.body = "finished"};
  });
  start();
  RawClient client(port_);
  client.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  entered.get_future().wait();
  auto stopped = std::async(std::launch::async, [this] { server_->stop(); });
  go.set_value();
  stopped.wait();
  EXPECT_TRUE(client.read_answer().ends_with("finished"));
}

TEST(HttpRoutesTest, MistakesInRoutesAreBugs) {
  HttpRoutes routes;
  routes.add("GET", "/a", says("a"));
  EXPECT_THROW(routes.add("GET", "/a", says("b")), std::logic_error);
  EXPECT_THROW(routes.add("GET", "a", says("b")), std::logic_error);
  routes.add("PUT", "/a", says("b"));
  EXPECT_EQ(routes.find("DELETE", "/a").allowed, (std::vector<std::string>{"GET", "PUT"}));
}

TEST(ListenAddressTest, IsReadFromText) {
  const auto host_port = [](std::string_view text) {
    const auto address = parse_listen_address(text);
    return address ? address->host + "|" + std::to_string(address->port) : "error: " + address.error().message;
  };
  EXPECT_EQ(host_port("127.0.0.1:8080"), "127.0.0.1|8080");
  EXPECT_EQ(host_port(":8081"), "|8081");
  EXPECT_EQ(host_port("localhost:0"), "localhost|0");
  EXPECT_EQ(host_port("[::1]:65535"), "::1|65535");
  for (const char* bad : {"", "8080", "a:b", "a:65536", "a:-1", "a:", "::1:80", "[::1:80", "[]:80", "a b:80", "http://x:80"})
    EXPECT_TRUE(host_port(bad).starts_with("error: address: found \"" + std::string(bad) + "\"; allowed: HOST:PORT")) << bad;
  EXPECT_EQ(to_string(ListenAddress{"::1", 80}), "[::1]:80");
  EXPECT_EQ(to_string(ListenAddress{"", 80}), ":80");
}

}  // namespace
}  // namespace hindsight::operations
