// Shows that requests go on while a credential command is slow, hangs or fails, that they wait only when there is nothing that they could
// carry, and that such a command is killed with what it started.
#include "connectors/kubernetes/auth/credential_keeper.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>

#include "tests/connectors/kubernetes/http_fixture.hpp"
#include "tests/connectors/kubernetes/processes.hpp"
#include "tests/connectors/kubernetes/temporary_folder.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::eventually;
using testing::Exchange;
using testing::is_running;
using testing::pid_in;
using testing::TemporaryFolder;

/// Logs in with a command of which the n-th run yields the token tN. The runs from the second on hang until the file `go` is there; they
/// have a child, and write both process ids down.
class CredentialKeeperTest : public testing::HttpFixture {
 protected:
  /// `life_seconds` of the first token; empty: it has no end. Later ones live for an hour.
  AuthSource slow_login(const std::string& life_seconds) {
    folder.write("count", "0");
    AuthSource user;
    user.exec = ExecSettings{};
    user.exec->api_version = "client.authentication.k8s.io/v1";
    user.exec->environment = {{"LIFE", life_seconds}};
    user.exec->command = folder.write_script(
        "login",
        "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nn=$(($(cat count)+1))\necho $n > count\n"
        "if [ $n -gt 1 ]; then\n  LIFE=${LIFE:+3600}\n  sleep 1000 &\n  echo $! > child\n  echo $$ > self\n"
        "  while [ ! -e go ]; do sleep 0.02; done\n  kill $!\nfi\n"
        "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t'$n'\"'\n"
        "[ -n \"$LIFE\" ] && echo ',\"expirationTimestamp\":\"'$(date -u -d \"$LIFE seconds\" +%Y-%m-%dT%H:%M:%SZ)'\"'\necho '}}'\n");
    return user;
  }
  /// Answers with the token of each request; those for /refused want another one than t1.
  static void show_token(Exchange& exchange) {
    const std::string token = exchange.headers["authorization"];
    const bool refused = exchange.path == "/refused" && token == "Bearer t1";
    exchange.answer(refused ? 401 : 200, token);
  }
  int runs() { return std::stoi(read_small_file(folder / "count", "count").value_or("0")); }
  std::size_t send_and_count(int requests, const std::string& token) {
    const std::size_t before = answers.get().size();
    for (int i = 0; i < requests; ++i) send(get("/a"));
    EXPECT_TRUE(wait_for_answers(before + static_cast<std::size_t>(requests)));
    const auto all = answers.get();
    return static_cast<std::size_t>(std::count_if(all.begin() + static_cast<std::ptrdiff_t>(before), all.end(),
                                                  [&](const HttpAnswer& a) { return a.status == 200 && a.body == "Bearer " + token; }));
  }

  TemporaryFolder folder;
};

TEST_F(CredentialKeeperTest, ACommandThatHangsHoldsNobodyUpWhileTheOldCredentialLives) {
  HttpClient::Options options;
  options.exec_time_limit = seconds(6);
  options.credential_retry = milliseconds(10);
  // So short a life that the second run begins with the first request.
  start(show_token, options, slow_login("9"));
  EXPECT_EQ(send_and_count(1, "t1"), 1U);
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "self"); }));
  const pid_t self = pid_in(folder / "self");
  const pid_t child = pid_in(folder / "child");
  EXPECT_EQ(send_and_count(50, "t1"), 50U);
  EXPECT_TRUE(is_running(self)) << "the requests waited for the command";
  EXPECT_TRUE(is_running(child));
  // It has its time, and then goes with its child.
  EXPECT_TRUE(eventually([&] { return !is_running(self) && !is_running(child); }));
  ASSERT_TRUE(eventually([&] { return kinds_of_notices() == std::vector{Notice::Kind::renewal_failed}; }));
  EXPECT_NE(notices.get()[0].message.find("took too long"), std::string::npos) << notices.get()[0].message;
  folder.write("go", "");
  // Somebody has to ask: a credential that nobody uses is not renewed.
  ASSERT_TRUE(eventually([&] { return send_and_count(1, "t1") == 0; }));
  EXPECT_EQ(answers.get().back().body, "Bearer t" + std::to_string(runs()));
  EXPECT_TRUE(eventually([&] { return kinds_of_notices() == std::vector{Notice::Kind::renewal_failed, Notice::Kind::renewed}; }));
}

TEST_F(CredentialKeeperTest, WithoutAValidCredentialRequestsWaitAndNoLongerThanTheirTimeLimit) {
  start(show_token, {}, slow_login("2"));
  ASSERT_EQ(send_and_count(1, "t1"), 1U);
  // The second run hangs, and then t1 is dead: of requests with little patience one fails.
  ASSERT_TRUE(eventually([&] {
    HttpRequest request = get("/a");
    request.time_limit = milliseconds(100);
    const std::size_t before = answers.get().size();
    send(request);
    return wait_for_answers(before + 1) && answers.get().back().status == 0;
  }));
  EXPECT_EQ(answers.get().back().failure, HttpAnswer::Failure::credentials);
  EXPECT_NE(answers.get().back().error.find("have not come in time"), std::string::npos) << answers.get().back().error;
  const std::size_t before = answers.get().size();
  send(get("/patient"));
  HttpRequest stream = get("/stream");
  loop.run([&] {
    http->stream(
        stream, [](std::string_view) { return Flow::more; },
        [list = answers](HttpAnswer answer) { list.change([&](auto& all) { all.push_back(std::move(answer)); }); });
    EXPECT_EQ(http->statistics().waiting, 2U);
  });
  folder.write("go", "");
  ASSERT_TRUE(wait_for_answers(before + 2));
  EXPECT_EQ(answers.get()[before].status, 200);
  EXPECT_EQ(answers.get()[before + 1].status, 200);
  EXPECT_EQ(runs(), 2);
}

TEST_F(CredentialKeeperTest, ARefusalHoldsUpOnlyTheRequestThatWasRefused) {
  start(show_token, {}, slow_login(""));
  send(get("/refused"));
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "self"); }));
  EXPECT_EQ(send_and_count(50, "t1"), 50U);
  folder.write("go", "");
  ASSERT_TRUE(wait_for_answers(51));
  EXPECT_EQ(answers.get()[50].body, "Bearer t2");
  EXPECT_EQ(runs(), 2);
  EXPECT_TRUE(notices.get().empty());
}

TEST_F(CredentialKeeperTest, AServerThatRefusesEverythingDoesNotHaveTheCommandRunEachTime) {
  folder.write("go", "");
  HttpClient::Options options;
  options.credential_retry = std::chrono::hours(1);
  start([](Exchange& exchange) { exchange.answer(401, ""); }, options, slow_login(""));
  for (std::size_t i = 1; i <= 30; ++i) {
    send(get("/a"));
    ASSERT_TRUE(wait_for_answers(i));
    EXPECT_EQ(answers.get().back().status, 401);
  }
  EXPECT_EQ(runs(), 2);
}

TEST_F(CredentialKeeperTest, ACredentialThatIsDeadOnArrivalIsTriedAllTheSame) {
  // Our clock is wrong by days. The server says what is valid.
  folder.write("go", "");
  start(show_token, {}, slow_login("-864000"));
  EXPECT_EQ(send_and_count(5, "t1"), 5U);
  EXPECT_EQ(runs(), 1);
}

TEST_F(CredentialKeeperTest, AStopEndsTheCommand) {
  start(show_token, {}, slow_login("9"));
  EXPECT_EQ(send_and_count(1, "t1"), 1U);
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder / "self"); }));
  const pid_t self = pid_in(folder / "self");
  const pid_t child = pid_in(folder / "child");
  http->stop();
  EXPECT_FALSE(is_running(self));
  EXPECT_TRUE(eventually([&] { return !is_running(child); }));
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
