// Answers that do not end: what is sent comes as it is sent, and neither who is slow nor who leaves holds up anybody.

#include "operations/event_stream.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "operations/http_server.hpp"
#include "operations/logging.hpp"
#include "tests/operations/raw_client.hpp"

namespace hindsight::operations {
namespace {

class EventStreams : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { set_up_logging({.level = LogLevel::off}); }

  void start(HttpServerOptions options = {}) {
    HttpRoutes routes;
    routes.add("GET", "/events", [this](const HttpRequest&) {
      HttpResponse out{.content_type = "text/event-stream"};
      out.events = std::make_shared<EventStream>(std::size_t{256} * 1024);
      const std::lock_guard lock(mutex_);
      streams_.push_back(out.events);
      return out;
    });
    routes.add("GET", "/hello", [](const HttpRequest&) { return HttpResponse{.content_type = "text/plain", .body = "hello"}; });
    auto server = HttpServer::start(options, std::move(routes));
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = std::move(*server);
    port_ = server_->address().port;
  }

  /// The n-th that was opened, once it is there.
  std::shared_ptr<EventStream> stream(std::size_t n) {
    std::shared_ptr<EventStream> out;
    EXPECT_TRUE(comes([&] {
      const std::lock_guard lock(mutex_);
      if (streams_.size() > n) out = streams_[n];
      return out != nullptr;
    }));
    return out;
  }

  /// Within 20 s, which nothing here takes.
  static bool comes(const std::function<bool()>& what) {
    for (int i = 0; i < 2000; ++i) {
      if (what()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  static void ask(RawClient& client, std::string_view method = "GET") {
    client.send(std::string(method) + " /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<EventStream>> streams_;
  std::unique_ptr<HttpServer> server_;
  std::uint16_t port_ = 0;
};

TEST_F(EventStreams, ComeAsTheyAreSent) {
  start();
  RawClient client(port_);
  ask(client);
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n")) << head;
  EXPECT_NE(head.find("Content-Type: text/event-stream\r\n"), std::string::npos) << head;
  EXPECT_NE(head.find("Connection: close\r\n"), std::string::npos) << head;
  EXPECT_EQ(head.find("Content-Length"), std::string::npos) << head;
  const auto events = stream(0);
  ASSERT_TRUE(events->send("latest", "{\"position\":1}"));
  EXPECT_EQ(client.read_until("\n\n"), "event: latest\ndata: {\"position\":1}\n\n");
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(events->send("n", std::to_string(i)));
    EXPECT_EQ(client.read_until("\n\n"), "event: n\ndata: " + std::to_string(i) + "\n\n");
  }
  EXPECT_EQ(server_->statistics().streams, 1U);
  events->end();
  EXPECT_EQ(client.read_all(), "");
  EXPECT_TRUE(comes([&] { return server_->statistics().streams == 0; }));
  EXPECT_FALSE(events->send("late", ""));
}

TEST_F(EventStreams, NothingInAnEventBeginsAnotherOne) {
  start();
  RawClient client(port_);
  ask(client);
  (void)client.read_until("\r\n\r\n");
  ASSERT_TRUE(stream(0)->send("na\nme\r", "one\ntwo\r\nthree\rfour"));
  EXPECT_EQ(client.read_until("\n\n"), "event: name\ndata: one\ndata: two\ndata: three\ndata: four\n\n");
}

TEST(EventStream, KeepsTheNewestOfAName) {
  EventStream events;
  EXPECT_TRUE(events.send_newest("latest", "1"));
  EXPECT_TRUE(events.send("branch", "a"));
  EXPECT_TRUE(events.send_newest("latest", "2"));
  EXPECT_EQ(events.take().bytes, "event: branch\ndata: a\n\nevent: latest\ndata: 2\n\n");
  EXPECT_EQ(events.take().bytes, "");
}

TEST(EventStream, IsOverForWhoReadsTooSlowly) {
  EventStream events(100);
  std::size_t woken = 0;
  events.begin([&] { ++woken; });
  const std::string forty(40, 'x');
  EXPECT_TRUE(events.send("a", forty));
  EXPECT_FALSE(events.send("a", forty));
  EXPECT_TRUE(events.is_over());
  EXPECT_EQ(woken, 2U);
  const auto taken = events.take();
  EXPECT_EQ(taken.bytes, "");  // what is left of them would be taken for all there was
  EXPECT_TRUE(taken.last);
}

TEST_F(EventStreams, SilenceIsNoEnd) {
  start({.heartbeat_seconds = 1});
  RawClient client(port_);
  ask(client);
  (void)client.read_until("\r\n\r\n");
  EXPECT_EQ(client.read_until("\n\n"), ":\n\n");
  ASSERT_TRUE(stream(0)->send("n", "1"));
  EXPECT_EQ(client.read_until("data: 1\n\n").substr(0, 8), "event: n");
}

TEST_F(EventStreams, ASlowReaderIsClosedAndNobodyWaitsForHim) {
  start({.response_seconds = 1});
  RawClient slow(port_), other(port_);
  ask(slow);
  const auto events = stream(0);
  ask(other);
  const auto others = stream(1);
  const std::string much(60'000, 'x');
  // What the kernel takes for him is not endless.
  EXPECT_TRUE(comes([&] { return !events->send("much", much); }));
  ASSERT_TRUE(others->send("n", "1"));
  EXPECT_NE(other.read_until("data: 1\n\n"), "");
  EXPECT_TRUE(comes([&] { return server_->statistics().streams == 1; }));
  EXPECT_EQ(request(port_, "GET", "/hello").body, "hello");
}

TEST_F(EventStreams, WhoLeavesIsMissed) {
  start();
  {
    RawClient client(port_);
    ask(client);
    (void)client.read_until("\r\n\r\n");
  }
  const auto events = stream(0);
  EXPECT_TRUE(comes([&] { return events->is_over(); }));
  EXPECT_TRUE(comes([&] { return server_->statistics().streams == 0; }));
  EXPECT_FALSE(events->send("n", "1"));
}

TEST_F(EventStreams, WhoTalksIntoHisStreamLosesIt) {
  start();
  RawClient client(port_);
  ask(client);
  const auto events = stream(0);
  const std::string talk(100'000, 'x');
  EXPECT_TRUE(comes([&] { return !client.send(talk) || events->is_over(); }));
  EXPECT_TRUE(comes([&] { return events->is_over(); }));
}

TEST_F(EventStreams, AreBoundedInAllAndForEach) {
  start({.streams_max = 3, .streams_per_peer_max = 2});
  RawClient a(port_), b(port_), c(port_), d(port_, std::chrono::seconds(20), "127.0.0.2"), e(port_, std::chrono::seconds(20), "127.0.0.3");
  for (auto* one : {&a, &b}) {
    ask(*one);
    EXPECT_TRUE(one->read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
  }
  ask(c);
  const std::string refused = c.read_answer();
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 503")) << refused;
  EXPECT_NE(refused.find("allowed: 3, of one caller 2"), std::string::npos) << refused;
  EXPECT_TRUE(stream(2)->is_over());
  ask(d);
  EXPECT_TRUE(d.read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
  ask(e);
  EXPECT_TRUE(e.read_answer().starts_with("HTTP/1.1 503"));
  // A place that is given back is somebody else's.
  stream(0)->end();
  EXPECT_TRUE(comes([&] { return server_->statistics().streams == 2; }));
  RawClient f(port_);
  ask(f);
  EXPECT_TRUE(f.read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
}

TEST_F(EventStreams, TakeNoThread) {
  start({.threads = 1});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(std::make_unique<RawClient>(port_));
    ask(*clients.back());
    EXPECT_TRUE(clients.back()->read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
  }
  EXPECT_EQ(request(port_, "GET", "/hello").body, "hello");
}

TEST_F(EventStreams, OfTheirHeadAloneThereIsNoStream) {
  start();
  RawClient client(port_);
  ask(client, "HEAD");
  EXPECT_TRUE(client.read_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(stream(0)->is_over());
  EXPECT_EQ(server_->statistics().streams, 0U);
}

TEST_F(EventStreams, EndWithTheServer) {
  start();
  RawClient client(port_);
  ask(client);
  (void)client.read_until("\r\n\r\n");
  const auto events = stream(0);
  std::atomic<bool> over = false;
  std::thread teller([&] {
    while (!over) events->send_newest("n", "1");
  });
  server_->stop();
  EXPECT_TRUE(events->is_over());
  over = true;
  teller.join();
  server_.reset();
  EXPECT_FALSE(events->send("n", "2"));
}

// A long look at something ends when nobody waits for it any more.
TEST(HttpRequests, KnowThatTheirClientHasLeft) {
  set_up_logging({.level = LogLevel::off});
  std::atomic<int> begun{0}, seen{0};
  HttpRoutes routes;
  routes.add("GET", "/long", [&](const HttpRequest& q) {
    begun.fetch_add(1);
    for (int i = 0; i < 2000 && !q.is_over(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (q.is_over()) seen.fetch_add(1);
    return HttpResponse{};
  });
  auto server = HttpServer::start({}, std::move(routes));
  ASSERT_TRUE(server.has_value());
  const auto until = [](const std::function<bool()>& what) {
    for (int i = 0; i < 2000 && !what(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return what();
  };
  {
    RawClient client((*server)->address().port);
    client.send("GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_TRUE(until([&] { return begun == 1; }));
  }
  EXPECT_TRUE(until([&] { return seen == 1; }));
  RawClient client((*server)->address().port);
  client.send("GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(until([&] { return begun == 2; }));
  (*server)->stop();
  EXPECT_EQ(seen, 2);
}

TEST(HttpAnswers, SayThemselvesHowLongTheyAreGood) {
  set_up_logging({.level = LogLevel::off});
  HttpRoutes routes;
  routes.add("GET", "/kept", [](const HttpRequest&) {
    HttpResponse out{.body = "{}"};
    out.headers.emplace_back("Cache-Control", "private, max-age=60");
    return out;
  });
  routes.add("GET", "/same", [](const HttpRequest&) { return HttpResponse{.status = 304}; });
  auto server = HttpServer::start({}, std::move(routes));
  ASSERT_TRUE(server.has_value());
  const auto kept = request((*server)->address().port, "GET", "/kept");
  EXPECT_NE(kept.head.find("Cache-Control: private, max-age=60\r\n"), std::string::npos) << kept.head;
  EXPECT_EQ(kept.head.find("no-store"), std::string::npos) << kept.head;
  const auto same = request((*server)->address().port, "GET", "/same");
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.head.find("Content-Length"), std::string::npos) << same.head;
  EXPECT_EQ(same.body, "");
}

}  // namespace
}  // namespace hindsight::operations
