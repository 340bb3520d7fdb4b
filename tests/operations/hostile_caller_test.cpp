// The HTTP server under callers that mean harm: slow, huge, encoded, malformed, many. While it lasts, whoever behaves well is answered;
// what it costs has a bound; and afterwards all is as before.

#include <future>

#include "operations/health.hpp"
#include "operations/http_parser.hpp"
#include "operations/self_signed.hpp"
#include "tests/operations/attacked_server.hpp"
#include "tests/operations/attackers.hpp"
#include "tests/operations/tls_client.hpp"

namespace hindsight::operations {
namespace {

using attack::Holder;

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

// RFC 9112, 2.2: some empty lines pass before a request. Each line of a flood moved all those behind it, on the thread of all bytes.
TEST_F(HostileCallerTest, EmptyLinesBeforeARequestHaveABound) {
  start();
  const std::string get = "\r\n\r\nGET /hello HTTP/1.1\r\nHost: x\r\n\r\n";
  std::string many;
  for (int i = 0; i < 20; ++i) many += get;
  EXPECT_EQ(count(answers_to(many), "200 OK"), 20U);
  std::string flood;
  for (int i = 0; i < 250'000; ++i) flood += "\r\n";
  const auto before = server_->statistics().received;
  const std::string answer = answers_to(flood + get);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
  EXPECT_EQ(count(answer, "HTTP/1.1 "), 1U) << answer;
  EXPECT_LE(server_->statistics().received - before, 64U * 1024U);
}

// The library takes it for granted that a last chunk comes together with its end; a build that checks what it assumes was aborted.
TEST(HttpParserTest, TheEndOfABodyMayComeInPieces) {
  for (const std::string body : {"0\r\n\r\n", "4\r\nbody\r\n0\r\n\r\n", "00\r\n\r\n", "4;a\r\nbody\r\n0;b=\"c\"\r\nX: y\r\n\r\n"})
    for (std::size_t piece = 1; piece <= body.size(); ++piece) {
      HttpParser parser(1'000);
      ASSERT_FALSE(parser.take_head("PUT /put HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"));
      std::string come;
      for (std::size_t at = 0; at < body.size(); at += piece) {
        come.append(body, at, piece);
        const auto taken = parser.take_body(come);
        ASSERT_FALSE(taken.mistake) << body << ": " << taken.mistake.message;
        come.erase(0, taken.bytes);
      }
      EXPECT_TRUE(parser.done()) << body << " in pieces of " << piece;
      EXPECT_TRUE(come.empty()) << body << " in pieces of " << piece;
    }
}

TEST_F(HostileCallerTest, TheEndOfABodyMayTrickleIn) {
  start();
  for (const std::string body : {"", "body"}) {
    RawClient client(port_);
    client.send("PUT /put HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
    if (!body.empty()) client.send("4\r\n" + body + "\r\n");
    for (const char c : std::string_view("0\r\n\r\n")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // so that each is seen by itself
      client.send({&c, 1});
    }
    EXPECT_TRUE(client.read_all().ends_with("got " + body));
  }
}

// Whether an answer has its text depends on the request that it answers, not on the one before.
TEST_F(HostileCallerTest, ARefusalAfterHeadHasItsText) {
  start();
  for (const char* bad : {"GET /hello\r\n\r\n", "GET /hello HTTP/1.1\r\n\r\n", "GET /hel"}) {
    const std::string all = answers_to(std::string("HEAD /hello HTTP/1.1\r\nHost: x\r\n\r\n") + bad);
    EXPECT_EQ(count(all, "HTTP/1.1 400 "), 1U) << all;
    EXPECT_TRUE(all.ends_with("\"}\n")) << all;
  }
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
      expect_answers(5, std::string_view(from) == attack::neighbour ? std::chrono::seconds(0) : patience(5));
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
    expect_answers(5, patience(5));
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
      expect_answers(5, patience(5));
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

// docs/operations.md, "requests that wait": it is the clock that tells them, not a thread that comes too late.
TEST_F(HostileCallerTest, WhoFindsNoThreadIsToldWhenHisTimeIsOver) {
  Gate gate;
  routes_.add("GET", "/wait", [&](const HttpRequest&) {
    gate.pass();
    return text("done");
  });
  start({.threads = 1, .wait_seconds = 1});
  RawClient first(port_), second(port_);
  first.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  gate.wait_for(1);
  second.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string answer = second.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 ")) << answer;
  EXPECT_NE(answer.find("Retry-After: 1\r\n"), std::string::npos) << answer;
  gate.open();
  EXPECT_TRUE(first.read_answer().ends_with("done"));  // it had its thread in time, and lasts as long as it lasts
  expect_answers();
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

class HostileTlsCaller : public HostileCallerTest {
 protected:
  static constexpr const char* name = "hindsight.test";

  void start_tls(HttpServerOptions options) {
    auto made = keep_fresh(
        {}, {.names = {name}},
        Time::from_seconds(std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count()));
    ASSERT_TRUE(made);
    made_ = std::move(*made);
    const auto identity = std::make_shared<TlsIdentity>();
    ASSERT_TRUE(identity->use(made_.serving.certificate, made_.serving.key));
    options.tls = identity;
    start(options);
  }
  [[nodiscard]] std::string ask(const std::string& bytes) const {
    return ask_over_tls(port_, made_.authorities, name, bytes, {}, {.patience = std::chrono::seconds(20), .says_end = true});
  }
  void expect_tls_answers() const {
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(ask("GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ends_with("hello"));
  }

  SelfSigned made_;
};

// What is said inside of TLS is read as it is outside.
TEST_F(HostileTlsCaller, EachBadRequestGetsOneRefusalAndTheEnd) {
  start_tls({});
  const std::string smuggled = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";
  for (const auto& bad : attack::bad_requests()) {
    const std::string answer = ask(bad.bytes);
    EXPECT_EQ(count(answer, "HTTP/1.1 "), 1U) << bad.what << ": " << answer.substr(0, 300);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + std::to_string(bad.status) + " ")) << bad.what << ": " << answer.substr(0, 300);
    if (bad.status == 404 || bad.status == 405 || std::string_view(bad.what).starts_with("half")) continue;
    EXPECT_EQ(count(ask(bad.bytes + smuggled), "HTTP/1.1 200"), 0U) << bad.what;
  }
  expect_tls_answers();
  expect_nobody_left();
}

TEST_F(HostileTlsCaller, SlowClientsHoldUpNobody) {
  // Half of the places are for strangers, as all are here: whoever asks from the same address needs one beside the 20.
  start_tls({.threads = 2, .connections_max = 80});
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
