// Shows that credentials are read from files and commands, that changes are seen, and that no secret gets into a message.
#include "connectors/kubernetes/auth/credentials.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "connectors/kubernetes/auth/exec_plugin.hpp"
#include "tests/connectors/kubernetes/processes.hpp"
#include "tests/connectors/kubernetes/temporary_folder.hpp"
#include "tests/connectors/kubernetes/waiting.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

using testing::TemporaryFolder;
using Headers = std::vector<std::string>;

Connection connection_with(const AuthSource& user) {
  Connection connection;
  connection.server = "https://h:1";
  connection.authority_pem = "CA";
  connection.user = user;
  connection.user.description = "user \"u\"";
  return connection;
}

TEST(Credentials, MakesTheAuthorizationHeader) {
  AuthSource token;
  token.token = "t";
  EXPECT_EQ(Credentials(connection_with(token)).load()->headers, Headers{"Authorization: Bearer t"});
  AuthSource basic;
  basic.username = "me";
  basic.password = "pw";
  EXPECT_EQ(Credentials(connection_with(basic)).load()->headers, Headers{"Authorization: Basic bWU6cHc="});
  EXPECT_TRUE(Credentials(connection_with({})).load()->headers.empty());
}

TEST(Credentials, AddsWhomWeImpersonate) {
  AuthSource user;
  user.impersonate_user = "a";
  user.impersonate_uid = "1";
  user.impersonate_groups = {"g", "h"};
  EXPECT_EQ(Credentials(connection_with(user)).load()->headers,
            (Headers{"Impersonate-User: a", "Impersonate-Uid: 1", "Impersonate-Group: g", "Impersonate-Group: h"}));
}

TEST(Credentials, RefusesWhatWouldEndTheHeader) {
  AuthSource user;
  user.token = "a\r\nX: y";
  const auto loaded = Credentials(connection_with(user)).load();
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("Authorization"), std::string::npos);
  EXPECT_EQ(loaded.error().message.find("X: y"), std::string::npos);
}

TEST(Credentials, SeesThatTheTokenFileChanged) {
  const TemporaryFolder folder;
  AuthSource user;
  user.token_file = folder.write("token", " one\n");
  const Credentials credentials(connection_with(user));
  const auto first = credentials.load();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->headers, Headers{"Authorization: Bearer one"});
  EXPECT_FALSE(credentials.files_changed(*first));
  EXPECT_TRUE(credentials.can_change());
  EXPECT_FALSE(credentials.runs_command());
  folder.write("token", "two");
  EXPECT_TRUE(credentials.files_changed(*first));
  EXPECT_EQ(credentials.load()->headers, Headers{"Authorization: Bearer two"});
}

TEST(Credentials, ReadsClientCertificatesFromFiles) {
  const TemporaryFolder folder;
  AuthSource user;
  user.client_certificate_file = folder.write("crt", "CERT");
  user.client_key_file = folder.write("key", "KEY");
  const auto loaded = Credentials(connection_with(user)).load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->client_certificate_pem, "CERT");
  EXPECT_EQ(loaded->client_key_pem, "KEY");
  std::filesystem::remove(folder / "key");
  EXPECT_NE(Credentials(connection_with(user)).load().error().message.find("client-key"), std::string::npos);
}

TEST(Credentials, NamesAnEmptyTokenFile) {
  const TemporaryFolder folder;
  AuthSource user;
  user.token_file = folder.write("token", "\n");
  const auto loaded = Credentials(connection_with(user)).load();
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find((folder / "token").string()), std::string::npos);
}

// ---------------------------------------------------------------- exec

AuthSource exec_user(const std::string& command) {
  AuthSource user;
  user.exec = ExecSettings{};
  user.exec->command = command;
  user.exec->api_version = "client.authentication.k8s.io/v1";
  user.exec->install_hint = "install it so";
  return user;
}

TEST(ExecPlugin, RunsTheCommandWithItsEnvironmentAndTakesTheToken) {
  const TemporaryFolder folder;
  const auto command = folder.write_script("login",
                                           "#!/bin/sh\n"
                                           "printf '%s' \"$KUBERNETES_EXEC_INFO\" > \"$OUT/info\"\n"
                                           "printf '%s' \"$1$EXTRA\" > \"$OUT/words\"\n"
                                           "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\","
                                           "\"status\":{\"token\":\"tok\",\"expirationTimestamp\":\"2026-01-01T00:00:00Z\"}}'\n");
  AuthSource user = exec_user(command);
  user.exec->arguments = {"first"};
  user.exec->environment = {{"OUT", (folder / "").string()}, {"EXTRA", "-second"}};
  user.exec->provide_cluster_info = true;
  const Credentials credentials(connection_with(user));
  EXPECT_TRUE(credentials.runs_command());
  const auto loaded = credentials.load();
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->headers, Headers{"Authorization: Bearer tok"});
  const Time expires = *parse_rfc3339("2026-01-01T00:00:00Z");
  EXPECT_EQ(loaded->expires, expires);

  EXPECT_EQ(*read_small_file(folder / "words", "words"), "first-second");
  const auto info = nlohmann::json::parse(*read_small_file(folder / "info", "info"));
  EXPECT_EQ(info["apiVersion"], "client.authentication.k8s.io/v1");
  EXPECT_EQ(info["kind"], "ExecCredential");
  EXPECT_EQ(info["spec"]["interactive"], false);
  EXPECT_EQ(info["spec"]["cluster"]["server"], "https://h:1");
  EXPECT_EQ(info["spec"]["cluster"]["certificate-authority-data"], "Q0E=");
}

TEST(ExecPlugin, SaysWhyThereIsNoCredential) {
  const TemporaryFolder folder;
  const auto message_of = [](const std::string& command, std::chrono::milliseconds limit = std::chrono::seconds(30)) {
    const auto loaded = Credentials(connection_with(exec_user(command)), limit).load();
    EXPECT_FALSE(loaded);
    return loaded ? "" : loaded.error().message;
  };
  const std::string missing = message_of((folder / "none").string());
  EXPECT_NE(missing.find("cannot be started"), std::string::npos) << missing;
  EXPECT_NE(missing.find("install it so"), std::string::npos) << missing;
  const std::string failed = message_of(folder.write_script("fails", "#!/bin/sh\necho secret-text\nexit 3\n"));
  EXPECT_NE(failed.find("exit status 3"), std::string::npos) << failed;
  EXPECT_EQ(failed.find("secret-text"), std::string::npos) << failed;
  const std::string slow = message_of(folder.write_script("slow", "#!/bin/sh\nexec sleep 100\n"), std::chrono::milliseconds(100));
  EXPECT_NE(slow.find("took too long"), std::string::npos) << slow;
  const std::string deaf =
      message_of(folder.write_script("deaf", "#!/bin/sh\nexec 1>&-\nexec sleep 100\n"), std::chrono::milliseconds(100));
  EXPECT_NE(deaf.find("did not end"), std::string::npos) << deaf;
  const std::string flood = message_of(folder.write_script("flood", "#!/bin/sh\nexec yes\n"));
  EXPECT_NE(flood.find("more than 1 MiB"), std::string::npos) << flood;
  const std::string killed = message_of(folder.write_script("killed", "#!/bin/sh\nkill -9 $$\n"));
  EXPECT_NE(killed.find("signal 9"), std::string::npos) << killed;
}

constexpr const char* good_answer =
    "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"tok\"}}'\n";

TEST(ExecPlugin, WaitsForTheCommandAndNotForWhatItLeavesBehind) {
  // The child holds the output open, as a helper does that goes on in the background. It is ended with the command.
  const TemporaryFolder folder;
  const auto command =
      folder.write_script("leaves", "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nsleep 1000 &\necho $! > child\n" + std::string(good_answer));
  const auto loaded = Credentials(connection_with(exec_user(command)), std::chrono::minutes(5)).load();
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->headers, Headers{"Authorization: Bearer tok"});
  const pid_t child = testing::pid_in(folder / "child");
  ASSERT_GT(child, 0);
  EXPECT_TRUE(testing::eventually([&] { return !testing::is_running(child); }));
}

TEST(ExecPlugin, PassesOnWhatAPersonWouldReadOfItsComplaints) {
  const TemporaryFolder folder;
  const auto command =
      folder.write_script("complains", "#!/bin/sh\necho 'log in first' >&2\nyes | head -c 4000000 >&2\n" + std::string(good_answer));
  ::testing::internal::CaptureStderr();
  const auto loaded = Credentials(connection_with(exec_user(command))).load();
  const std::string said = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE(said.starts_with("log in first\n"));
  EXPECT_EQ(said.size(), std::size_t{16} << 10U);
}

TEST(ExecPlugin, InheritsNothingThatIsOpenHere) {
  const TemporaryFolder folder;
  const int low = ::open("/dev/null", O_RDONLY);
  const int high = ::fcntl(low, F_DUPFD, 100);  // A number that no shell takes for itself.
  ASSERT_GE(high, 100);
  const auto command =
      folder.write_script("looks", "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nls /proc/$$/fd > seen\n" + std::string(good_answer));
  EXPECT_TRUE(Credentials(connection_with(exec_user(command))).load());
  ::close(low);
  ::close(high);
  std::ifstream seen(folder / "seen");
  int count = 0;
  for (int fd = 0; seen >> fd; ++count) EXPECT_LT(fd, 100);
  EXPECT_GE(count, 3);
}

TEST(ExecPlugin, ReadsOnlyWhatTheVersionAllows) {
  const std::string v1 = "client.authentication.k8s.io/v1";
  const auto parse = [&](const std::string& text) { return parse_exec_credential(text, v1, "command"); };
  const auto start = R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)";
  const auto pair = parse(std::string(start) + R"({"clientCertificateData":"C","clientKeyData":"K"}})");
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->client_certificate_pem, "C");
  EXPECT_FALSE(pair->expires.is_set());
  const std::vector<std::pair<std::string, std::string>> table = {
      {"not json", "no JSON object"},
      {"[]", "no JSON object"},
      {R"({"kind":"Pod"})", "kind: found \"Pod\""},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"})", "apiVersion: found"},
      {std::string(start) + "null}", "status: found nothing"},
      {std::string(start) + "{}}", "found no credential"},
      {std::string(start) + R"({"token":1}})", "found no credential"},
      {std::string(start) + R"({"clientKeyData":"K"}})", "both or neither"},
      {std::string(start) + R"({"token":"t","expirationTimestamp":"soon"}})", "expirationTimestamp"},
  };
  for (const auto& [text, expected] : table) {
    const auto result = parse(text);
    ASSERT_FALSE(result) << text;
    EXPECT_NE(result.error().message.find(expected), std::string::npos) << result.error().message;
  }
}

TEST(ExecPlugin, EndsWhenAskedTo) {
  const TemporaryFolder folder;
  std::stop_source stop;
  stop.request_stop();
  const auto command = folder.write_script("slow", "#!/bin/sh\nexec sleep 100\n");
  const auto loaded = Credentials(connection_with(exec_user(command))).load(stop.get_token());
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("stopping"), std::string::npos);
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
