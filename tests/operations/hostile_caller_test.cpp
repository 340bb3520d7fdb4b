// The HTTP server under callers that mean harm: slow, huge, encoded, malformed, many. While it lasts, whoever behaves well is answered;
// what it costs has a bound; and afterwards all is as before.

#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "operations/health.hpp"
#include "operations/http_server.hpp"
#include "operations/http_workers.hpp"
#include "operations/large_lane.hpp"
#include "operations/logging.hpp"
#include "operations/self_signed.hpp"
#include "tests/operations/attackers.hpp"
#include "tests/operations/raw_client.hpp"
#include "tests/operations/tls_client.hpp"

namespace hindsight::operations {
namespace {

using attack::Holder;

HttpResponse text(std::string body) { return {.content_type = "text/plain", .body = std::move(body)}; }

/// True: it became so, sooner or later.
template <class Good>
bool eventually(Good good) {
  for (int i = 0; i < 2'000; ++i) {
    if (good()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// A door that handlers wait at.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++inside_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void wait_for(int inside) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return inside_ >= inside; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
  bool open_ = false;
};

class HostileCallerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { set_up_logging({.level = LogLevel::off}); }

  HostileCallerTest() {
    routes_.add("GET", "/hello", [](const HttpRequest&) { return text("hello"); });
    routes_.add("GET", "/big", [big = std::string(4'000'000, 'x')](const HttpRequest&) { return text(big); });
    routes_.add("PUT", "/put", [](const HttpRequest& q) { return text("got " + q.body); });
  }
  void start(const HttpServerOptions& options = {}) {
    auto server = HttpServer::start(options, routes_);
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = std::move(*server);
    port_ = server_->address().port;
  }
  /// A well-behaved client with a limited patience is answered. `tries`: that many times it begins anew, a moment later, as clients do that
  /// find their connection closed: who comes from the same address as somebody who opens hundreds at once can be taken for him.
  void expect_answers(int times = 5, int tries = 1) const {
    for (int i = 0; i < times; ++i) {
      Answer answer;
      for (int left = tries; left > 0 && answer.status != 200; --left) {
        if (left < tries) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        answer = request(port_, "GET", "/hello", {}, std::chrono::seconds(5));
      }
      ASSERT_EQ(answer.status, 200);
      ASSERT_EQ(answer.body, "hello");
    }
  }
  void expect_nobody_left() const {
    EXPECT_TRUE(eventually([&] { return server_->statistics().connections == 0 && server_->statistics().large == 0; }))
        << server_->statistics().connections;
  }
  /// What comes back for these bytes, all at once or one by one.
  [[nodiscard]] std::string answers_to(const std::string& bytes, bool one_by_one = false) const {
    RawClient client(port_);
    if (one_by_one) {
      for (const char c : bytes)
        if (!client.send({&c, 1})) break;
    } else {
      client.send(bytes);
    }
    client.finish_sending();
    return client.read_all();
  }
  [[nodiscard]] static std::size_t count(const std::string& all, std::string_view part) {
    std::size_t n = 0;
    for (auto at = all.find(part); at != std::string::npos; at = all.find(part, at + 1)) ++n;
    return n;
  }

  HttpRoutes routes_;
  std::unique_ptr<HttpServer> server_;
  std::uint16_t port_ = 0;
};

// ---- malformed ----------------------------------------------------------------------------------------------------------------------

TEST_F(HostileCallerTest, EachBadRequestGetsOneRefusalAndTheEnd) {
  start();
  for (const auto& bad : attack::bad_requests()) {
    for (const bool one_by_one : {false, true}) {
      if (one_by_one && bad.bytes.size() > 3'000) continue;
      const std::string answer = answers_to(bad.bytes, one_by_one);
      EXPECT_EQ(count(answer, "HTTP/1.1 "), 1U) << bad.what << ": " << answer.substr(0, 300);
      EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + std::to_string(bad.status) + " ")) << bad.what << ": " << answer.substr(0, 300);
    }
  }
  EXPECT_EQ(server_->statistics().failed, 1U + 4U + 3U);  // 501, each twice
  expect_answers();
  expect_nobody_left();
}

TEST_F(HostileCallerTest, WhatFollowsABadRequestIsNotARequest) {
  start();
  const std::string smuggled = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";
  std::size_t tried = 0;
  for (const auto& bad : attack::bad_requests()) {
    // These are well-formed: what follows is the next request, or what was missing.
    if (bad.status == 404 || bad.status == 405 || std::string_view(bad.what).starts_with("half")) continue;
    const std::string answer = answers_to(bad.bytes + smuggled);
    EXPECT_EQ(count(answer, "HTTP/1.1 "), 1U) << bad.what << ": " << answer;
    EXPECT_EQ(count(answer, "HTTP/1.1 200"), 0U) << bad.what << ": " << answer;
    ++tried;
  }
  EXPECT_GT(tried, 55U);
}

TEST_F(HostileCallerTest, UnusualRequestsThatAreGoodAreAnswered) {
  start();
  const auto body_of = [&](const std::string& bytes) {
    const std::string all = answers_to(bytes);
    const auto end = all.rfind("\r\n\r\n");
    return all.substr(9, 4) + (end == std::string::npos ? "" : all.substr(end + 4));
  };
  const std::string put = "PUT /put HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
  EXPECT_EQ(body_of("\r\nGET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), "200 hello");
  EXPECT_EQ(body_of("GET http://x:80/hello?a=b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), "200 hello");
  EXPECT_EQ(body_of("GET /hello HTTP/1.0\r\n\r\n"), "200 hello");
  EXPECT_EQ(body_of("GET /hello HTTP/1.1\r\nHost: x\r\na: b\r\n c\r\nConnection: close\r\n\r\n"), "200 hello");
  EXPECT_EQ(body_of(put + "Content-Encoding: identity\r\nContent-Length: 4\r\n\r\nbody"), "200 got body");
  EXPECT_EQ(body_of(put + "Transfer-Encoding: Chunked\r\n\r\n2;a=b;c=\"d\"\r\nbo\r\n2\r\ndy\r\n0\r\nX-Remote-User: root\r\n\r\n"),
            "200 got body");
  EXPECT_EQ(body_of(put + "Content-Length: 0\r\n\r\n"), "200 got ");
}

TEST_F(HostileCallerTest, WhoAsksBeforeSendingIsTold) {
  start();
  RawClient client(port_);
  client.send("PUT /put HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(client.read_answer(false), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("body");
  EXPECT_TRUE(client.read_answer().ends_with("got body"));
  // What would be refused is refused before it comes.
  client.send("PUT /put HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 100000000\r\n\r\n");
  EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 413 "));
}

TEST_F(HostileCallerTest, ManyRequestsAtOnceAreAnsweredOneAfterTheOther) {
  start();
  std::string many;
  for (int i = 0; i < 300; ++i) many += "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_EQ(count(answers_to(many + "GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), "200 OK"), 301U);
}

// ---- slow and many ------------------------------------------------------------------------------------------------------------------

/// What holds a connection without ever finishing anything.
std::vector<attack::Grip> grips() {
  const std::string get = "GET /hello HTTP/1.1\r\nHost: x\r\n", put = "PUT /put HTTP/1.1\r\nHost: x\r\n";
  return {
      {},
      {.opening = get, .drip = "X: y\r\n"},
      {.drip = get},
      {.opening = put + "Content-Length: 60000\r\n\r\n", .drip = "body"},
      {.opening = put + "Transfer-Encoding: chunked\r\n\r\n", .drip = "1\r\nx\r\n"},
      {.opening = put + "Transfer-Encoding: chunked\r\n\r\n1;", .drip = "extension"},
      {.opening = put + "Expect: 100-continue\r\nContent-Length: 10\r\n\r\n"},
      {.opening = "GET /big HTTP/1.1\r\nHost: x\r\n\r\n", .deaf = true},
      {.opening = get + "\r\n"},
      {.opening = attack::half_a_client_hello(), .drip = "r"},
  };
}

TEST_F(HostileCallerTest, SlowClientsHoldUpNobody) {
  start({.threads = 2, .connections_max = 60});
  for (const char* from : {attack::neighbour, attack::same_machine}) {
    for (auto grip : grips()) {
      grip.from = from;
      SCOPED_TRACE(std::string(from) + " sends " + grip.opening + ", then " + grip.drip);
      const Holder holder(port_, 100, grip);  // more than there are places
      expect_answers(5, std::string_view(from) == attack::neighbour ? 1 : 40);
      EXPECT_LE(server_->statistics().connections, 60U);
    }
    expect_nobody_left();
  }
  EXPECT_GT(server_->statistics().evicted, 0U);
}

TEST_F(HostileCallerTest, SlowClientsLoseTheirPlaces) {
  start({.head_seconds = 1, .body_seconds = 1, .response_seconds = 1, .idle_seconds = 1});
  std::vector<std::unique_ptr<Holder>> holders;
  for (const auto& grip : grips())
    if (!grip.deaf) holders.push_back(std::make_unique<Holder>(port_, 2, grip));
  EXPECT_TRUE(eventually([&] { return std::all_of(holders.begin(), holders.end(), [](const auto& one) { return one->opened() >= 4; }); }));
  holders.clear();
  expect_nobody_left();
  // Who does not listen does not hear that he has lost it.
  const Holder deaf(port_, 4, {.opening = "GET /big HTTP/1.1\r\nHost: x\r\n\r\n", .deaf = true});
  expect_nobody_left();
}

TEST_F(HostileCallerTest, AConnectionThatIsBeingAnsweredIsNotTakenAway) {
  Gate gate;
  routes_.add("GET", "/wait", [&](const HttpRequest&) {
    gate.pass();
    return text("done");
  });
  start({.threads = 3, .connections_max = 8});
  RawClient client(port_);
  client.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  gate.wait_for(1);
  {
    const Holder holder(port_, 50, {.from = attack::same_machine});
    expect_answers(5, 40);
  }
  gate.open();
  EXPECT_TRUE(client.read_answer().ends_with("done"));
  server_.reset();  // before the gate, at which its threads may be
}

TEST_F(HostileCallerTest, WhoeverKnocksAllTheTimeKeepsNobodyOut) {
  start({.connections_max = 32});
  std::vector<std::string> said{"", "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"};
  for (const auto& bad : attack::bad_requests()) said.push_back(bad.bytes);
  {
    const attack::Churner one(port_, said), two(port_, said), self(port_, said, attack::same_machine);
    EXPECT_TRUE(eventually([&] {
      expect_answers(5, 40);
      return one.opened() + two.opened() + self.opened() > 1'000;
    }));
  }
  expect_nobody_left();
}

TEST_F(HostileCallerTest, ThousandsOfConnectionsTakeNoMoreThanTheirPlaces) {
  start({.connections_max = 100});
  const auto before = attack::figures_of(::getpid());
  {
    const Holder one(port_, 300, {}), two(port_, 300, {.from = "127.0.0.67"}), three(port_, 300, {.from = "127.0.0.68"});
    EXPECT_TRUE(eventually([&] { return one.opened() + two.opened() + three.opened() > 3'000; }));
    expect_answers(20);
    EXPECT_LE(server_->statistics().connections, 100U);
  }
  expect_nobody_left();
  EXPECT_EQ(attack::figures_of(::getpid()).threads, before.threads);
  EXPECT_TRUE(eventually([&] { return attack::figures_of(::getpid()).descriptors <= before.descriptors; }));
}

// ---- threads ------------------------------------------------------------------------------------------------------------------------

TEST_F(HostileCallerTest, WhoAsksForMuchWaitsForHimself) {
  Gate gate;
  routes_.add("GET", "/wait", [&](const HttpRequest&) {
    gate.pass();
    return text("done");
  });
  start({.threads = 3, .waiting_max = 10});
  const Holder neighbour(port_, 40, {.opening = "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n"});
  gate.wait_for(2);
  expect_answers(20);  // a thread is left, and his requests wait
  EXPECT_GT(server_->statistics().rejected, 0U);
  gate.open();
  server_.reset();
}

TEST(HttpWorkersTest, PeersAreServedByTurns) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> order;
  Gate gate;
  HttpWorkers workers(1, 100);
  const auto ask = [&](const std::string& peer) {
    const auto displaced = workers.enqueue({peer,
                                            [&, peer] {
                                              if (peer == "first") gate.pass();
                                              const std::lock_guard lock(mutex);
                                              order.push_back(peer);
                                              changed.notify_all();
                                            },
                                            {}});
    EXPECT_FALSE(displaced);
  };
  ask("first");
  gate.wait_for(1);
  for (int i = 0; i < 4; ++i) ask("a");
  ask("b");
  ask("c");
  gate.open();
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return order.size() == 7; });
  EXPECT_EQ(order, (std::vector<std::string>{"first", "a", "b", "c", "a", "a", "a"}));
}

TEST(HttpWorkersTest, TheLastOfWhoHasMostIsTurnedAway) {
  Gate gate;
  HttpWorkers workers(1, 3);
  EXPECT_FALSE(workers.enqueue({"busy", [&] { gate.pass(); }, {}}));
  gate.wait_for(1);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(workers.enqueue({"a", [] {}, {}}));
  const auto displaced = workers.enqueue({"b", [] {}, {}});
  ASSERT_TRUE(displaced);
  EXPECT_EQ(displaced->peer, "a");
  EXPECT_EQ(workers.waiting(), 3U);
  gate.open();
  workers.stop();
}

// ---- memory -------------------------------------------------------------------------------------------------------------------------

TEST(LargeLaneTest, PlacesGoToWhoHasFewest) {
  LargeLane lane(2);
  std::vector<int> gone;
  const auto enter = [&](std::uint64_t id, const std::string& peer) {
    return lane.enter(id, peer, [&, id] { gone.push_back(static_cast<int>(id)); });
  };
  EXPECT_TRUE(enter(1, "a"));
  EXPECT_TRUE(enter(2, "a"));
  EXPECT_FALSE(enter(3, "a"));
  EXPECT_FALSE(enter(4, "b"));
  EXPECT_FALSE(enter(5, "b"));
  lane.leave(1);
  EXPECT_EQ(gone, (std::vector<int>{4}));
  lane.leave(5);  // waits no longer
  lane.leave(2);
  EXPECT_EQ(gone, (std::vector<int>{4, 3}));
  lane.leave(3);
  lane.leave(4);
  lane.leave(4);
  EXPECT_EQ(lane.taken(), 0U);
}

class LargeRequests : public HostileCallerTest {
 protected:
  static constexpr std::size_t large = 300'000;

  void start_small(HttpServerOptions options = {}) {
    routes_.add("POST", "/post", [this](const HttpRequest& q) {
      gate_.pass();
      return text("got " + std::to_string(q.body.size()));
    });
    routes_.add("POST", "/heavy", [](const HttpRequest&) { return text("heavy"); },
                {.bytes_max = 5'000, .weigh = [](std::string_view piece) { return piece.size() * 1'000; }});
    options.body_bytes_max = 1'000'000;
    options.small_request_memory_max = 100'000;
    options.request_memory_max = 4'000'000;
    start(options);
  }
  static std::string post(const std::string& path, std::size_t size) {
    return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(size) + "\r\nConnection: close\r\n\r\n";
  }

  void TearDown() override {
    gate_.open();
    server_.reset();
  }

  Gate gate_;
};

TEST_F(LargeRequests, AreInProgressOnlyAsManyAsThereArePlaces) {
  start_small({.threads = 8});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(std::make_unique<RawClient>(port_));
    clients.back()->send(post("/post", large) + std::string(large, 'x'));
  }
  gate_.wait_for(2);
  EXPECT_EQ(server_->statistics().large, 2U);
  expect_answers();
  gate_.open();
  for (auto& client : clients) EXPECT_TRUE(client->read_all().ends_with("got " + std::to_string(large)));
  expect_nobody_left();
}

TEST_F(LargeRequests, ThatFindNoPlaceAreToldToComeAgain) {
  start_small({.threads = 4, .body_seconds = 1});
  RawClient first(port_), second(port_), third(port_);
  for (auto* client : {&first, &second}) client->send(post("/post", large) + std::string(large, 'x'));
  gate_.wait_for(2);
  third.send(post("/post", large) + std::string(large, 'x'));
  const std::string answer = third.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 ")) << answer;
  EXPECT_NE(answer.find("Retry-After: 1\r\n"), std::string::npos) << answer;
  gate_.open();
}

TEST_F(LargeRequests, OfSlowClientsGiveTheirPlacesBack) {
  start_small({.threads = 4, .large_seconds = 1});
  gate_.open();
  const Holder slow(port_, 10, {.opening = post("/post", large) + std::string(200'000, 'x'), .drip = "x"});
  EXPECT_TRUE(eventually([&] { return server_->statistics().large == 2; }));
  RawClient client(port_);
  client.send(post("/post", large) + std::string(large, 'x'));
  EXPECT_TRUE(client.read_all().ends_with("got " + std::to_string(large)));
}

TEST_F(LargeRequests, ThatWouldTakeTooMuchAreRefused) {
  start_small();
  EXPECT_TRUE(answers_to(post("/heavy", 3'000) + std::string(3'000, 'x')).ends_with("heavy"));
  EXPECT_TRUE(answers_to(post("/heavy", 4'500) + std::string(4'500, 'x')).starts_with("HTTP/1.1 413 "));  // by weight
  EXPECT_TRUE(answers_to(post("/heavy", 6'000) + std::string(6'000, 'x')).starts_with("HTTP/1.1 413 "));  // by length
  EXPECT_TRUE(answers_to("POST /heavy HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n" + std::string(4'096, 'x') +
                         "\r\n1000\r\n" + std::string(4'096, 'x') + "\r\n0\r\n\r\n")
                  .starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(answers_to(post("/post", 2'000'000)).starts_with("HTTP/1.1 413 "));
}

TEST_F(HostileCallerTest, AnswersThatNobodyTakesHaveABound) {
  start({.connections_max = 200, .response_seconds = 300, .answer_memory_max = 40'000'000});
  const Holder deaf(port_, 150, {.opening = "GET /big HTTP/1.1\r\nHost: x\r\n\r\n", .deaf = true});
  EXPECT_TRUE(eventually([&] { return server_->statistics().failed > 0 || server_->statistics().evicted > 0; }));
  expect_answers();
  // A longer answer too, once those who have been slow for a second make room.
  EXPECT_TRUE(eventually([&] { return request(port_, "GET", "/big").body.size() == 4'000'000; }));
}

TEST(SharedTextTest, IsMadeOnceForAllWhoAsk) {
  Gate gate;
  std::atomic<int> made{0};
  SharedText shared([&] {
    gate.pass();
    return std::to_string(++made);
  });
  std::vector<std::future<std::shared_ptr<const std::string>>> all;
  for (int i = 0; i < 8; ++i) all.push_back(std::async(std::launch::async, [&] { return shared.get(); }));
  gate.wait_for(1);
  gate.open();
  for (auto& one : all) EXPECT_EQ(*one.get(), "1");
  SharedText never_fresh([&] { return std::to_string(++made); }, std::chrono::milliseconds(0));
  EXPECT_NE(*never_fresh.get(), *never_fresh.get());
  SharedText broken([]() -> std::string { throw std::runtime_error("no"); });
  EXPECT_THROW((void)broken.get(), std::runtime_error);
  EXPECT_THROW((void)broken.get(), std::runtime_error);
}

// ---- TLS ----------------------------------------------------------------------------------------------------------------------------

TEST_F(HostileCallerTest, OverTlsAsWell) {
  constexpr const char* name = "hindsight.test";
  const auto made = keep_fresh(
      {}, {.names = {name}},
      Time::from_seconds(std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count()));
  ASSERT_TRUE(made);
  const auto identity = std::make_shared<TlsIdentity>();
  ASSERT_TRUE(identity->use(made->serving.certificate, made->serving.key));
  start({.threads = 2, .connections_max = 40, .tls = identity});
  const auto expect_tls_answers = [&] {
    for (int i = 0; i < 5; ++i)
      EXPECT_TRUE(
          ask_over_tls(port_, made->authorities, name, "GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ends_with("hello"));
  };
  std::vector<attack::Grip> all = grips();
  for (auto grip : grips()) {
    grip.tls = true;
    all.push_back(grip);
  }
  // Records that are none, and of lengths that are none.
  for (const char* opening : {"\x16\x03\x01\xff\xff", "\x17\x03\x03\x40\x00", "\x15\x03\x03\x00\x02\x02\x28", "GET / HTTP/1.1\r\n\r\n"})
    all.push_back({.opening = opening, .drip = "x"});
  for (const char* from : {attack::neighbour, attack::same_machine})
    for (auto grip : all) {
      grip.from = from;
      const Holder holder(port_, 20, grip);
      expect_tls_answers();
    }
  expect_nobody_left();
}

}  // namespace
}  // namespace hindsight::operations
