// Shows the HTTP client against a server of our own over HTTP/1.1: queueing, streams with pauses, broken connections, credentials.
#include "connectors/kubernetes/http/http_client.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "tests/connectors/kubernetes/http_fixture.hpp"
#include "tests/connectors/kubernetes/temporary_folder.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

using testing::Exchange;
using testing::TemporaryFolder;
using testing::Watched;

using HttpClientTest = testing::HttpFixture;

TEST_F(HttpClientTest, SendsMethodBodyAndHeaders) {
  AuthSource user;
  user.token = "t";
  Watched<std::vector<Exchange>> seen;
  start(
      [seen](Exchange& exchange) {
        seen.change([&](auto& list) { list.push_back(exchange); });
        exchange.answer(201, R"({"ok":true})", {"Retry-After: 7"});
      },
      {}, user);
  HttpRequest request;
  request.method = HttpRequest::Method::patch;
  request.content = HttpRequest::Content::merge_patch;
  request.path = "/api/v1/x?a=b%20c";
  request.body = std::make_shared<const std::string>(R"({"a":1})");
  send(request);
  request.method = HttpRequest::Method::delete_;
  request.content = HttpRequest::Content::json;
  send(request);
  request.method = HttpRequest::Method::post;
  request.content = HttpRequest::Content::apply_patch;
  send(request);
  send(get("/last"));
  ASSERT_TRUE(wait_for_answers(4));
  EXPECT_EQ(answers.get()[0].status, 201);
  EXPECT_EQ(answers.get()[0].body, R"({"ok":true})");
  EXPECT_EQ(answers.get()[0].retry_after_seconds, 7);
  auto requests = seen.get();
  std::sort(requests.begin(), requests.end(), [](const Exchange& a, const Exchange& b) { return a.method < b.method; });
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_EQ(requests[0].method, "DELETE");
  EXPECT_EQ(requests[0].headers.at("content-type"), "application/json");
  EXPECT_EQ(requests[1].method, "GET");
  EXPECT_EQ(requests[1].body, "");
  EXPECT_FALSE(requests[1].headers.contains("content-type"));
  EXPECT_EQ(requests[2].method, "PATCH");
  EXPECT_EQ(requests[2].body, R"({"a":1})");
  EXPECT_EQ(requests[2].query.at("a"), "b c");
  EXPECT_EQ(requests[2].headers.at("content-type"), "application/merge-patch+json");
  EXPECT_EQ(requests[2].headers.at("authorization"), "Bearer t");
  EXPECT_EQ(requests[2].headers.at("accept"), "application/json");
  EXPECT_EQ(requests[2].headers.at("accept-encoding"), "gzip");
  EXPECT_EQ(requests[3].method, "POST");
  EXPECT_EQ(requests[3].headers.at("content-type"), "application/apply-patch+yaml");
}

TEST_F(HttpClientTest, HoldsTheCapAndLetsUrgentRequestsPass) {
  struct Count {
    int now = 0;
    int most = 0;
  };
  Watched<Count> slow;
  HttpClient::Options options;
  options.max_in_flight = 3;
  start(
      [this, slow](Exchange& exchange) {
        if (exchange.path == "/slow") {
          slow.change([](Count& count) { count.most = std::max(count.most, ++count.now); });
          (void)open.wait([](bool o) { return o; });
          slow.change([](Count& count) { --count.now; });
        }
        exchange.answer(200, exchange.path);
      },
      options);
  for (int i = 0; i < 20; ++i) send(get("/slow"));
  HttpRequest background = get("/background");
  background.lane = HttpRequest::Lane::background;
  send(background);
  HttpRequest urgent = get("/urgent");
  urgent.lane = HttpRequest::Lane::urgent;
  send(urgent);
  ASSERT_TRUE(wait_for_answers(1));
  EXPECT_EQ(answers.get()[0].body, "/urgent");
  loop.run([&] {
    EXPECT_EQ(http->statistics().in_flight, 3U);
    EXPECT_EQ(http->statistics().waiting, 18U);
  });
  ASSERT_TRUE(slow.wait([](const Count& count) { return count.now == 3; }));
  open.change([](bool& o) { o = true; });
  ASSERT_TRUE(wait_for_answers(22));
  EXPECT_EQ(slow.get().most, 3);
  const auto lines = server->requests();
  // Background requests are the last to set out.
  EXPECT_GE(std::find(lines.begin(), lines.end(), "GET /background") - lines.begin(), 19);
}

// Issue 16: writes follow what the server shows; reads do not wait for them.
TEST_F(HttpClientTest, GivesTheServerFewWritesUntilItShowsThatItTakesMore) {
  struct Count {
    int now = 0;
    int most = 0;
  };
  Watched<Count> writes;
  start([this, writes](Exchange& exchange) {
    if (exchange.path == "/write") {
      writes.change([](Count& count) { count.most = std::max(count.most, ++count.now); });
      (void)open.wait([](bool o) { return o; });
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // as long for many as for few
      writes.change([](Count& count) { --count.now; });
    }
    exchange.answer(200, exchange.path);
  });
  HttpRequest write = get("/write");
  write.method = HttpRequest::Method::patch;
  write.content = HttpRequest::Content::merge_patch;
  write.body = std::make_shared<const std::string>("{}");
  for (int i = 0; i < 10; ++i) send(write);
  ASSERT_TRUE(writes.wait([](const Count& count) { return count.now == 2; }));
  for (int i = 0; i < 5; ++i) send(get("/read"));
  ASSERT_TRUE(wait_for_answers(5));
  EXPECT_EQ(answers.get()[0].body, "/read");
  EXPECT_EQ(writes.get().most, 2);
  EXPECT_EQ(http->writes_at_once(), 2U);
  loop.run([&] { EXPECT_EQ(http->statistics().waiting, 8U); });
  open.change([](bool& o) { o = true; });
  ASSERT_TRUE(wait_for_answers(15));
  for (int round = 0; round < 200 && http->writes_at_once() < 8; ++round) {
    for (int i = 0; i < 64; ++i) send(write);
    ASSERT_TRUE(wait_for_answers(15 + 64 * static_cast<std::size_t>(round + 1)));
  }
  EXPECT_GT(http->writes_at_once(), 2U);
  loop.run([&] { EXPECT_EQ(http->statistics().in_flight, 0U); });
}

// Issue 16: what the server is slow about is in nobody else's way.
TEST_F(HttpClientTest, WritesThatHangTakeNobodysPlace) {
  HttpClient::Options options;
  options.write_patience = std::chrono::milliseconds(30);
  start(
      [this](Exchange& exchange) {
        if (exchange.path == "/hangs") (void)open.wait([](bool o) { return o; });
        exchange.answer(200, exchange.path);
      },
      options);
  const auto write = [](const std::string& path) {
    HttpRequest out = get(path);
    out.method = HttpRequest::Method::patch;
    out.content = HttpRequest::Content::merge_patch;
    out.body = std::make_shared<const std::string>("{}");
    return out;
  };
  for (int i = 0; i < 6; ++i) send(write("/hangs"));
  for (int i = 0; i < 20; ++i) send(write("/write"));
  ASSERT_TRUE(wait_for_answers(20));
  for (const auto& answer : answers.get()) EXPECT_EQ(answer.body, "/write");
  EXPECT_EQ(http->slow_writes(), 6U);
  const auto cancelled = send(write("/hangs"));
  loop.run([&] { http->cancel(cancelled); });
  open.change([](bool& o) { o = true; });
  ASSERT_TRUE(wait_for_answers(26));
  EXPECT_EQ(http->slow_writes(), 0U);
  loop.run([&] { EXPECT_EQ(http->statistics().in_flight, 0U); });
  for (int i = 0; i < 20; ++i) send(write("/write"));
  ASSERT_TRUE(wait_for_answers(46));
}

TEST_F(HttpClientTest, CancelsWaitingAndRunningRequests) {
  HttpClient::Options options;
  options.max_in_flight = 1;
  start(
      [this](Exchange& exchange) {
        if (exchange.path == "/slow") (void)open.wait([](bool o) { return o; });
        exchange.answer(200, exchange.path);
      },
      options);
  const auto running = send(get("/slow"));
  const auto waiting = send(get("/waiting"));
  send(get("/last"));
  loop.run([&] {
    http->cancel(waiting);
    http->cancel(running);
    http->cancel(4711);
  });
  ASSERT_TRUE(wait_for_answers(1));
  EXPECT_EQ(answers.get()[0].body, "/last");
  open.change([](bool& o) { o = true; });
  loop.run([] {});
  EXPECT_EQ(answers.get().size(), 1U);
}

TEST_F(HttpClientTest, SaysWhenAnAnswerTookTooLong) {
  start([this](Exchange& exchange) {
    (void)open.wait([](bool o) { return o; });
    exchange.answer(200, "");
  });
  HttpRequest request = get("/slow");
  request.time_limit = std::chrono::milliseconds(50);
  send(request);
  ASSERT_TRUE(wait_for_answers(1));
  EXPECT_EQ(answers.get()[0].status, 0);
  EXPECT_NE(answers.get()[0].error.find("no answer in time"), std::string::npos) << answers.get()[0].error;
  open.change([](bool& o) { o = true; });
}

TEST_F(HttpClientTest, SaysOnceThatTheServerIsGoneAndOnceThatItIsBack) {
  start([](Exchange& exchange) { exchange.answer(200, ""); });
  send(get("/a"));
  ASSERT_TRUE(wait_for_answers(1));
  server->close();
  for (int i = 0; i < 3; ++i) send(get("/b"));
  ASSERT_TRUE(wait_for_answers(4));
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(answers.get()[i].status, 0);
    EXPECT_NE(answers.get()[i].error.find(server->url()), std::string::npos) << answers.get()[i].error;
  }
  EXPECT_EQ(kinds_of_notices(), std::vector{Notice::Kind::unreachable});
  server->reopen();
  send(get("/c"));
  ASSERT_TRUE(wait_for_answers(5));
  EXPECT_EQ(answers.get()[4].status, 200);
  EXPECT_EQ(kinds_of_notices(), (std::vector{Notice::Kind::unreachable, Notice::Kind::reachable}));
}

TEST_F(HttpClientTest, AnAnswerThatBreaksOffIsNoAnswer) {
  start([](Exchange& exchange) {
    exchange.begin_stream();
    exchange.send("half of");
    exchange.cut();
  });
  send(get("/a"));
  ASSERT_TRUE(wait_for_answers(1));
  EXPECT_EQ(answers.get()[0].status, 0);
  EXPECT_FALSE(answers.get()[0].error.empty());
}

TEST_F(HttpClientTest, StopAnswersEverythingThatIsOpen) {
  HttpClient::Options options;
  options.max_in_flight = 1;
  start(
      [this](Exchange& exchange) {
        (void)open.wait([](bool o) { return o; });
        exchange.answer(200, "");
      },
      options);
  for (int i = 0; i < 5; ++i) send(get("/a"));
  http->stop();
  EXPECT_EQ(answers.get().size(), 5U);
  for (const HttpAnswer& answer : answers.get()) EXPECT_NE(answer.error.find("stopped"), std::string::npos);
  send(get("/late"));
  ASSERT_TRUE(wait_for_answers(6));
  open.change([](bool& o) { o = true; });
}

// ---------------------------------------------------------------- streams

TEST_F(HttpClientTest, StreamsBytesAsTheyComeAndCollectsRefusals) {
  start([](Exchange& exchange) {
    if (exchange.path == "/refused") {
      exchange.answer(403, "no");
      return;
    }
    exchange.begin_stream();
    exchange.send("one ");
    exchange.send("two");
    exchange.end_stream();
  });
  Watched<std::string> bytes;
  const auto stream = [&](const std::string& path) {
    loop.run([&] {
      http->stream(
          get(path),
          [bytes](std::string_view text) {
            bytes.change([&](std::string& all) { all += text; });
            return Flow::more;
          },
          [this](HttpAnswer answer) { answers.change([&](auto& list) { list.push_back(std::move(answer)); }); });
    });
  };
  stream("/good");
  ASSERT_TRUE(wait_for_answers(1));
  EXPECT_EQ(answers.get()[0].status, 200);
  EXPECT_EQ(bytes.get(), "one two");
  stream("/refused");
  ASSERT_TRUE(wait_for_answers(2));
  EXPECT_EQ(answers.get()[1].status, 403);
  EXPECT_EQ(answers.get()[1].body, "no");
  EXPECT_EQ(bytes.get(), "one two");
}

TEST_F(HttpClientTest, APausedStreamStopsTheSenderNotTheOthers) {
  // A flood of 256 MiB: the sender must come to a stand when the buffers of the sockets are full.
  constexpr std::size_t flood = std::size_t{256} << 20U;
  Watched<std::size_t> sent;
  Watched<bool> flood_over;
  start([sent, flood_over](Exchange& exchange) {
    if (exchange.path != "/flood") {
      exchange.answer(200, "");
      return;
    }
    exchange.begin_stream();
    const std::string block(std::size_t{1} << 20U, 'x');
    for (std::size_t done = 0; done < flood && exchange.send(block); done += block.size()) {
      sent.change([&](std::size_t& s) { s += block.size(); });
    }
    exchange.end_stream();
    flood_over.change([](bool& over) { over = true; });
  });
  Watched<std::size_t> received;
  HttpClient::RequestId id = 0;
  const auto pause = std::make_shared<std::atomic<bool>>(true);
  loop.run([&] {
    id = http->stream(
        get("/flood"),
        [received, pause](std::string_view text) {
          received.change([&](std::size_t& r) { r += text.size(); });
          return *pause ? Flow::pause : Flow::more;
        },
        [this](HttpAnswer answer) { answers.change([&](auto& list) { list.push_back(std::move(answer)); }); });
  });
  ASSERT_TRUE(received.wait([](std::size_t r) { return r > 0; }));
  const std::size_t first = received.get();
  EXPECT_LE(first, std::size_t{64} << 10U);
  // Requests go on meanwhile.
  for (int i = 0; i < 200; ++i) {
    send(get("/other"));
    ASSERT_TRUE(wait_for_answers(static_cast<std::size_t>(i) + 1));
  }
  EXPECT_EQ(received.get(), first);
  EXPECT_LT(sent.get(), std::size_t{32} << 20U);
  *pause = false;
  loop.run([&] { http->resume(id); });
  ASSERT_TRUE(wait_for_answers(201));
  EXPECT_EQ(answers.get()[200].status, 200);
  EXPECT_EQ(received.get(), flood);
  EXPECT_TRUE(flood_over.wait([](bool over) { return over; }));
}

TEST_F(HttpClientTest, AStreamCanBeCancelledFromItsOwnCallback) {
  const Watched<bool> client_gone;
  start([client_gone](Exchange& exchange) {
    exchange.begin_stream();
    exchange.send("x");
    exchange.wait_for_end();
    client_gone.change([](bool& gone) { gone = true; });
  });
  const auto id = std::make_shared<HttpClient::RequestId>();
  loop.run([&] {
    *id = http->stream(
        get("/"),
        [this, id](std::string_view) {
          http->cancel(*id);
          http->send(get("/"), nullptr);
          return Flow::more;
        },
        [this](HttpAnswer answer) { answers.change([&](auto& list) { list.push_back(std::move(answer)); }); });
  });
  EXPECT_TRUE(client_gone.wait([](bool gone) { return gone; }));
  EXPECT_TRUE(answers.get().empty());
}

// ---------------------------------------------------------------- credentials

TEST_F(HttpClientTest, ReadsTheTokenFileAgainWhenTheServerRefusesTheToken) {
  const TemporaryFolder folder;
  AuthSource user;
  user.token_file = folder.write("token", "old");
  const auto rotated = std::make_shared<std::atomic<bool>>(false);
  start(
      [rotated](Exchange& exchange) {
        const bool good = exchange.headers["authorization"] == (*rotated ? "Bearer new" : "Bearer old");
        exchange.answer(good ? 200 : 401, "");
      },
      {}, user);
  send(get("/a"));
  ASSERT_TRUE(wait_for_answers(1));
  folder.write("token", "new");
  *rotated = true;
  for (int i = 0; i < 10; ++i) send(get("/b"));
  ASSERT_TRUE(wait_for_answers(11));
  for (const HttpAnswer& answer : answers.get()) EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(notices.get().empty());
}

TEST_F(HttpClientTest, SaysOnceThatCredentialsAreRefusedAndByWhom) {
  AuthSource user;
  user.token = "bad";
  const auto good = std::make_shared<std::atomic<bool>>(false);
  start([good](Exchange& exchange) { exchange.answer(*good ? 200 : 401, ""); }, {}, user);
  for (int i = 0; i < 5; ++i) send(get("/a"));
  ASSERT_TRUE(wait_for_answers(5));
  ASSERT_EQ(kinds_of_notices(), std::vector{Notice::Kind::credentials_refused});
  const std::string message = notices.get()[0].message;
  EXPECT_NE(message.find(server->url()), std::string::npos) << message;
  EXPECT_NE(message.find("user \"u\""), std::string::npos) << message;
  EXPECT_EQ(server->requests().size(), 5U);  // A fixed token is not tried twice.
  *good = true;
  send(get("/b"));
  ASSERT_TRUE(wait_for_answers(6));
  EXPECT_EQ(kinds_of_notices(), (std::vector{Notice::Kind::credentials_refused, Notice::Kind::credentials_accepted}));
}

TEST_F(HttpClientTest, RunsTheCredentialCommandAgainAfterARefusalOnceForAll) {
  const TemporaryFolder folder;
  folder.write("count", "0");
  AuthSource user;
  user.exec = ExecSettings{};
  user.exec->api_version = "client.authentication.k8s.io/v1beta1";
  user.exec->command = folder.write_script("login",
                                           "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nn=$(($(cat count)+1))\necho $n > count\n"
                                           "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1beta1\",\"kind\":\"ExecCredential\","
                                           "\"status\":{\"token\":\"'$n'\"}}'\n");
  start([](Exchange& exchange) { exchange.answer(exchange.headers["authorization"] == "Bearer 2" ? 200 : 401, ""); }, {}, user);
  for (int i = 0; i < 10; ++i) send(get("/a"));
  ASSERT_TRUE(wait_for_answers(10));
  for (const HttpAnswer& answer : answers.get()) EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(*read_small_file(folder / "count", "count"), "2\n");
}

TEST_F(HttpClientTest, FailsRequestsWhileNoCredentialsAreToBeHad) {
  const TemporaryFolder folder;
  AuthSource user;
  user.exec = ExecSettings{};
  user.exec->api_version = "client.authentication.k8s.io/v1";
  // Works once, then fails until it is mended.
  user.exec->command = folder.write_script("login",
                                           "#!/bin/sh\ncd \"$(dirname \"$0\")\"\n[ -e used ] && [ ! -e mended ] && exit 1\ntouch used\n"
                                           "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\","
                                           "\"status\":{\"token\":\"'$(ls mended 2>/dev/null)'x\"}}'\n");
  HttpClient::Options options;
  options.credential_retry = std::chrono::milliseconds(1);
  start([](Exchange& exchange) { exchange.answer(exchange.headers["authorization"] == "Bearer mendedx" ? 200 : 401, ""); }, options, user);
  send(get("/a"));
  ASSERT_TRUE(wait_for_answers(1));
  EXPECT_EQ(answers.get()[0].status, 0);
  EXPECT_NE(answers.get()[0].error.find("exit status 1"), std::string::npos) << answers.get()[0].error;
  EXPECT_EQ(kinds_of_notices(), std::vector{Notice::Kind::credentials_refused});
  folder.write("mended", "");
  for (std::size_t i = 1; answers.get().back().status != 200 && i < 1000; ++i) {
    send(get("/b"));
    ASSERT_TRUE(wait_for_answers(i + 1));
  }
  EXPECT_EQ(answers.get().back().status, 200);
  EXPECT_EQ(kinds_of_notices(), (std::vector{Notice::Kind::credentials_refused, Notice::Kind::credentials_accepted}));
}

TEST(HttpClientCreation, FailsClearlyWithoutCredentials) {
  Loop loop;
  Connection connection;
  connection.server = "https://127.0.0.1:1";
  connection.user.description = "user \"u\"";
  connection.user.token_file = "/does/not/exist";
  const auto no_token = HttpClient::create(loop, connection, {}, [](const Notice&) {});
  ASSERT_FALSE(no_token);
  EXPECT_NE(no_token.error().message.find("/does/not/exist"), std::string::npos);
  connection.server = "https://a b";
  EXPECT_FALSE(HttpClient::create(loop, connection, {}, [](const Notice&) {}));
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
