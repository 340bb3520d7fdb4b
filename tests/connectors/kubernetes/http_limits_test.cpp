// Shows what a broken or hostile server, or a name server, can cost the client: each answer is bounded in size and time, and stops nobody
// else.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "connectors/kubernetes/backoff.hpp"
#include "tests/connectors/kubernetes/http_fixture.hpp"
#include "tests/connectors/kubernetes/temporary_folder.hpp"

namespace slow_name_server {

/// Nobody says what this name means: to look it up takes ten seconds, as with a name server that is away.
constexpr const char* name_without_answer = "no-answer.test";
std::atomic<int> lookups{0};
std::atomic<bool> hurry{false};

}  // namespace slow_name_server

/// libcurl finds this one before the C library's.
extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** result) {
  if (node != nullptr && std::strcmp(node, slow_name_server::name_without_answer) == 0) {
    ++slow_name_server::lookups;
    for (int i = 0; i < 1000 && !slow_name_server::hurry; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    --slow_name_server::lookups;
    return EAI_AGAIN;
  }
  static const auto real = reinterpret_cast<decltype(&getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  return real(node, service, hints, result);
}

namespace hindsight::connectors::kubernetes {
namespace {

using slow_name_server::hurry;
using slow_name_server::lookups;
using slow_name_server::name_without_answer;
using testing::eventually;
using testing::Exchange;
using testing::Watched;
using Failure = HttpAnswer::Failure;
using std::chrono::milliseconds;
using std::chrono::seconds;

using HttpLimits = testing::HttpFixture;

/// Sends `head` and then `piece` until the client has had enough of it.
std::function<void(Exchange&)> without_end(const std::string& head, const std::string& piece, Watched<std::size_t> sent = {}) {
  return [head, piece, sent](Exchange& exchange) {
    if (exchange.path == "/good") {
      exchange.answer(200, "");
      return;
    }
    for (bool there = exchange.send_raw(head); there; there = exchange.send_raw(piece)) {
      sent.change([&](std::size_t& n) { n += piece.size(); });
    }
  };
}

TEST_F(HttpLimits, HeadersWithoutEndAreCutOff) {
  for (const std::string head : {"HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nX: "}) {
    for (const std::string& piece : {"X-Header: " + std::string(1000, 'x') + "\r\n", std::string(1000, 'x')}) {
      const Watched<std::size_t> sent;
      start(without_end(head, piece, sent));
      send(get("/"));
      ASSERT_TRUE(wait_for_answers(1));
      EXPECT_EQ(answers.get()[0].status, 0);
      EXPECT_NE(answers.get()[0].failure, Failure::timeout);
      // What the buffers of the sockets take is sent without our doing.
      EXPECT_LT(sent.get(), std::size_t{16} << 20U);
      send(get("/good"));
      ASSERT_TRUE(wait_for_answers(2));
      EXPECT_EQ(answers.get()[1].status, 200);
      TearDown();
      answers.set({});
    }
  }
}

TEST_F(HttpLimits, PreliminaryAnswersWithoutEndAreCutOff) {
  start(without_end("", "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"));
  send(get("/"));
  ASSERT_TRUE(wait_for_answers(1));
  EXPECT_EQ(answers.get()[0].status, 0);
  EXPECT_NE(answers.get()[0].failure, Failure::timeout);
}

TEST_F(HttpLimits, ABodyWithoutEndIsCutOff) {
  const std::string chunk = "4000\r\n" + std::string(0x4000, 'x') + "\r\n";
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const Watched<std::size_t> sent;
  start(without_end(head, chunk, sent));
  HttpRequest request = get("/");
  request.body_bytes_max = 100'000;
  send(request);
  ASSERT_TRUE(wait_for_answers(1));
  EXPECT_EQ(answers.get()[0].failure, Failure::too_large);
  EXPECT_NE(answers.get()[0].error.find("100000 bytes"), std::string::npos) << answers.get()[0].error;
  EXPECT_LT(sent.get(), std::size_t{16} << 20U);
  // That is no reason to say that the server is away.
  EXPECT_TRUE(notices.get().empty());
  send(get("/good"));
  ASSERT_TRUE(wait_for_answers(2));
  EXPECT_EQ(answers.get()[1].status, 200);
}

TEST_F(HttpLimits, ARefusalWithoutEndOfAStreamIsCutOff) {
  const std::string chunk = "4000\r\n" + std::string(0x4000, 'x') + "\r\n";
  start(without_end("HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n", chunk));
  loop.run([&] {
    http->stream(
        get("/"), [](std::string_view) { return Flow::more; },
        [list = answers](HttpAnswer answer) { list.change([&](auto& all) { all.push_back(std::move(answer)); }); });
  });
  ASSERT_TRUE(wait_for_answers(1));
  EXPECT_EQ(answers.get()[0].failure, Failure::too_large);
}

TEST_F(HttpLimits, WhatIsSmallAndBecomesLargeIsMeasuredUnpacked) {
  // 10 MiB of zeros in 10 KiB, made by gzip.
  const testing::TemporaryFolder folder;
  ASSERT_EQ(std::system(("head -c 10485760 /dev/zero | gzip -9 > " + (folder / "bomb").string()).c_str()), 0);
  const std::string bomb = read_small_file(folder / "bomb", "bomb").value();
  ASSERT_LT(bomb.size(), 20'000U);
  start([bomb](Exchange& exchange) { exchange.answer(200, bomb, {"Content-Encoding: gzip"}); });
  HttpRequest request = get("/");
  request.body_bytes_max = std::size_t{1} << 20U;
  send(request);
  request.body_bytes_max = std::size_t{16} << 20U;
  send(request);
  ASSERT_TRUE(wait_for_answers(2));
  const auto all = answers.get();
  const auto of_size = [&](std::size_t size) {
    return std::count_if(all.begin(), all.end(), [&](const HttpAnswer& a) { return a.body.size() == size; });
  };
  EXPECT_EQ(of_size(10485760), 1);
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const HttpAnswer& a) { return a.failure == Failure::too_large; }), 1);
}

TEST_F(HttpLimits, AnAnswerThatComesDropByDropHasTheSameTime) {
  for (const std::string head : {"", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"}) {
    start([head](Exchange& exchange) {
      if (exchange.path == "/good") return exchange.answer(200, "");
      for (bool there = exchange.send_raw(head); there; there = exchange.send_raw("H")) std::this_thread::sleep_for(milliseconds(5));
    });
    HttpRequest request = get("/");
    request.time_limit = milliseconds(200);
    send(request);
    ASSERT_TRUE(wait_for_answers(1));
    EXPECT_EQ(answers.get()[0].status, 0);
    send(get("/good"));
    ASSERT_TRUE(wait_for_answers(2));
    EXPECT_EQ(answers.get()[1].status, 200);
    TearDown();
    answers.set({});
  }
}

TEST_F(HttpLimits, AForwardingAddressIsNotFollowed) {
  // It might lead anywhere, with our credentials.
  AuthSource user;
  user.token = "secret";
  const auto elsewhere = std::make_shared<testing::FakeApiServer>([](Exchange& exchange) { exchange.answer(200, "got you"); });
  const std::string url = elsewhere->url();
  start([url](Exchange& exchange) { exchange.answer(307, "", {"Location: " + url + "/"}); }, {}, user);
  send(get("/"));
  ASSERT_TRUE(wait_for_answers(1));
  EXPECT_EQ(answers.get()[0].status, 307);
  EXPECT_EQ(elsewhere->connections(), 0U);
}

TEST_F(HttpLimits, APauseThatAServerAsksForIsBounded) {
  const std::vector<std::string> values = {"7", "3600", "99999999999999999999999999", "-5", "soon", "Fri, 31 Dec 9999 23:59:59 GMT"};
  const auto next = std::make_shared<std::atomic<std::size_t>>(0);
  start([values, next](Exchange& exchange) { exchange.answer(429, "", {"Retry-After: " + values.at((*next)++)}); });
  std::vector<int> pauses;
  for (std::size_t i = 1; i <= values.size(); ++i) {
    send(get("/"));
    ASSERT_TRUE(wait_for_answers(i));
    pauses.push_back(answers.get().back().retry_after_seconds);
  }
  const int most = static_cast<int>(retry_after_max.count());
  // What is no number that makes sense asks for nothing; our own backoff holds all the same.
  EXPECT_EQ(pauses, (std::vector<int>{7, most, 0, 0, 0, most}));
}

TEST_F(HttpLimits, ANameServerThatIsAwayDoesNotStopTheLoop) {
  HttpClient::Options options;
  options.connect_time_limit = milliseconds(100);
  connect("http://" + std::string(name_without_answer) + ":1", options);
  send(get("/"));
  const auto cancelled = send(get("/"));
  ASSERT_TRUE(eventually([] { return lookups > 0; }));
  loop.run([&] { http->cancel(cancelled); });
  ASSERT_TRUE(wait_for_answers(1));
  EXPECT_EQ(answers.get()[0].status, 0);
  loop.run([] {});
  EXPECT_GT(lookups, 0) << "it waited for the name server";
  http->stop();
  EXPECT_GT(lookups, 0);
  hurry = true;
  EXPECT_TRUE(eventually([] { return lookups == 0; }));
}

// ---------------------------------------------------------------- the fence

TEST_F(HttpLimits, BehindAClosedFenceNothingForLeadersIsSent) {
  start([this](Exchange& exchange) {
    if (exchange.path == "/slow") (void)open.wait([](bool o) { return o; });
    exchange.answer(200, "");
  });
  const auto leads = std::make_shared<std::atomic<bool>>(true);
  loop.run([&] { http->set_fence([leads] { return leads->load(); }); });
  const auto as_leader = [&](const std::string& path) {
    HttpRequest request = get(path);
    request.only_as_leader = true;
    return request;
  };
  send(as_leader("/leader"));
  ASSERT_TRUE(wait_for_answers(1));
  EXPECT_EQ(answers.get()[0].status, 200);
  send(as_leader("/slow"));
  ASSERT_TRUE(eventually([&] { return server->requests().size() == 2; }));
  *leads = false;
  send(as_leader("/late"));
  send(get("/anybody"));
  ASSERT_TRUE(wait_for_answers(3));
  loop.run([&] { http->give_up_as_leader(); });
  ASSERT_TRUE(wait_for_answers(4));
  std::size_t not_leading = 0;
  for (const HttpAnswer& answer : answers.get()) not_leading += answer.failure == Failure::not_leading ? 1 : 0;
  EXPECT_EQ(not_leading, 2U);
  EXPECT_EQ(server->requests(), (std::vector<std::string>{"GET /leader", "GET /slow", "GET /anybody"}));
  EXPECT_TRUE(notices.get().empty());
  open.set(true);
}

TEST_F(HttpLimits, TheFenceIsAskedWhenTheConnectionStandsNotWhenTheRequestIsQueued) {
  // The server takes the connection and lets us wait; meanwhile the lease goes.
  const auto asked = std::make_shared<std::atomic<int>>(0);
  start([](Exchange& exchange) { exchange.answer(200, ""); });
  loop.run([&] {
    // Open when the request is taken from the queue, closed when it is about to be sent.
    http->set_fence([asked] { return ++*asked == 1; });
  });
  HttpRequest request = get("/late");
  request.only_as_leader = true;
  send(request);
  ASSERT_TRUE(wait_for_answers(1));
  EXPECT_EQ(answers.get()[0].failure, Failure::not_leading);
  EXPECT_EQ(*asked, 2);
  send(get("/anybody"));
  ASSERT_TRUE(wait_for_answers(2));
  EXPECT_EQ(server->requests(), std::vector<std::string>{"GET /anybody"});
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
