// Shows that kubeconfig files are read as kubectl reads them and that mistakes are named by file, field, finding and what is allowed.
#include "connectors/kubernetes/auth/kubeconfig.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "connectors/kubernetes/auth/base64.hpp"
#include "connectors/kubernetes/http/endpoint.hpp"
#include "tests/connectors/kubernetes/temporary_folder.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

using testing::TemporaryFolder;

const std::string good = R"(
apiVersion: v1
kind: Config
current-context: prod
clusters:
- name: c1
  cluster:
    server: https://10.0.0.1:6443/
    certificate-authority-data: UEVN
    tls-server-name: api.example
    proxy-url: socks5://proxy:1080
- name: c2
  cluster: {server: "http://127.0.0.1:8001", insecure-skip-tls-verify: true}
users:
- name: u1
  user: {token: secret}
- name: u2
  user:
    client-certificate: pki/client.crt
    client-key: /etc/client.key
- name: u3
  user: {username: me, password: pw, as: someone, as-uid: "7", as-groups: [g1, g2]}
- name: u4
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: bin/login
      args: [--now, "2"]
      env: [{name: A, value: b}]
      provideClusterInfo: true
      interactiveMode: IfAvailable
      installHint: get it
- {name: u5, user: {tokenFile: token, extensions: [{name: x}]}}
- {name: u6, user: null}
contexts:
- name: prod
  context: {cluster: c1, user: u1, namespace: team-a}
- name: test
  context: {cluster: c2, user: u2}
)";

Kubeconfig parse(const std::string& text) {
  auto config = parse_kubeconfig(text, "/home/me/.kube/config");
  EXPECT_TRUE(config) << config.error().message;
  return config.value_or(Kubeconfig{});
}

TEST(Kubeconfig, GivesTheCurrentContext) {
  const auto connection = choose_context(parse(good), "", "f");
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_EQ(connection->server, "https://10.0.0.1:6443");
  EXPECT_EQ(connection->authority_pem, "PEM");
  EXPECT_EQ(connection->tls_server_name, "api.example");
  EXPECT_EQ(connection->proxy_url, "socks5://proxy:1080");
  EXPECT_EQ(connection->namespace_, "team-a");
  EXPECT_EQ(connection->user.token, "secret");
  EXPECT_EQ(connection->description, "context \"prod\" of /home/me/.kube/config");
}

TEST(Kubeconfig, GivesAnotherContextWhenAsked) {
  const auto connection = choose_context(parse(good), "test", "f");
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_EQ(connection->server, "http://127.0.0.1:8001");
  EXPECT_TRUE(connection->insecure_skip_tls_verify);
  EXPECT_EQ(connection->namespace_, "default");
}

TEST(Kubeconfig, TakesRelativePathsFromTheFoldersOfTheFile) {
  const Kubeconfig config = parse(good);
  EXPECT_EQ(config.users.at("u2").client_certificate_file, "/home/me/.kube/pki/client.crt");
  EXPECT_EQ(config.users.at("u2").client_key_file, "/etc/client.key");
  EXPECT_EQ(config.users.at("u5").token_file, "/home/me/.kube/token");
  EXPECT_EQ(config.users.at("u4").exec->command, "/home/me/.kube/bin/login");
}

TEST(Kubeconfig, ReadsAllWaysToProveWhoWeAre) {
  const Kubeconfig config = parse(good);
  const AuthSource& basic = config.users.at("u3");
  EXPECT_EQ(basic.username, "me");
  EXPECT_EQ(basic.password, "pw");
  EXPECT_EQ(basic.impersonate_user, "someone");
  EXPECT_EQ(basic.impersonate_uid, "7");
  EXPECT_EQ(basic.impersonate_groups, (std::vector<std::string>{"g1", "g2"}));
  const ExecSettings& exec = *config.users.at("u4").exec;
  EXPECT_EQ(exec.arguments, (std::vector<std::string>{"--now", "2"}));
  EXPECT_EQ(exec.environment, (std::vector<std::pair<std::string, std::string>>{{"A", "b"}}));
  EXPECT_EQ(exec.api_version, "client.authentication.k8s.io/v1");
  EXPECT_TRUE(exec.provide_cluster_info);
  EXPECT_EQ(exec.install_hint, "get it");
  EXPECT_FALSE(config.users.at("u6").exec);
}

TEST(Kubeconfig, OfSeveralFilesTheFirstWins) {
  Kubeconfig first = parse("{current-context: b, users: [{name: u, user: {token: one}}]}");
  const Kubeconfig second = parse(
      "{current-context: c, users: [{name: u, user: {token: two}}], clusters: [{name: k, cluster: {server: 'https://h'}}],"
      " contexts: [{name: b, context: {cluster: k, user: u}}]}");
  merge_kubeconfig(first, second);
  const auto connection = choose_context(first, "", "a:b");
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_EQ(connection->user.token, "one");
  EXPECT_EQ(connection->server, "https://h");
}

struct BadConfig {
  const char* text;
  std::vector<std::string> expected;  ///< Parts of the message.
};

class BadKubeconfig : public ::testing::TestWithParam<BadConfig> {};

TEST_P(BadKubeconfig, IsRefusedWithPlaceFindingAndWhatIsAllowed) {
  const auto config = parse_kubeconfig(GetParam().text, "/k/config");
  auto result = config ? choose_context(*config, "", "/k/config") : Result<Connection>(tl::unexpected(config.error()));
  ASSERT_FALSE(result);
  const std::string& message = result.error().message;
  EXPECT_NE(message.find("/k/config"), std::string::npos) << message;
  for (const std::string& part : GetParam().expected) EXPECT_NE(message.find(part), std::string::npos) << message;
  // No secret may reach a log.
  EXPECT_EQ(message.find("hunter2"), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadKubeconfig,
    ::testing::Values(
        BadConfig{"a: [", {":", "is not YAML"}}, BadConfig{"just text", {"found a scalar", "allowed: a map"}},
        BadConfig{"", {"current-context: found nothing", "--context"}}, BadConfig{"kind: Pod", {"kind: found \"Pod\"", "allowed: Config"}},
        BadConfig{"current-context: x", {"found \"x\"", "none is defined"}},
        BadConfig{"{current-context: x, contexts: [{name: y, context: {cluster: c, user: u}}]}", {"found \"x\"", "allowed: \"y\""}},
        BadConfig{"{current-context: x, contexts: [{name: x, context: {cluster: c, user: u}}]}",
                  {"contexts[\"x\"].context.cluster", "found \"c\"", "allowed: none is defined"}},
        BadConfig{"{current-context: x, contexts: [{name: x, context: {cluster: c, user: u}}],"
                  " clusters: [{name: c, cluster: {server: 'https://h'}}], users: [{name: v, user: {}}]}",
                  {"contexts[\"x\"].context.user", "found \"u\"", "allowed: \"v\""}},
        BadConfig{"contexts: {a: b}", {"contexts", "found a map", "allowed: a list"}},
        BadConfig{"contexts: [{context: {}}]", {"contexts[0].name", "found nothing"}},
        BadConfig{"clusters: [{name: c, cluster: {server: 'ftp://h'}}]", {"clusters[\"c\"].cluster.server", "\"ftp://h\"", "https://"}},
        BadConfig{"clusters: [{name: c, cluster: {server: 'https://h', proxy-url: 'gopher://x'}}]",
                  {"proxy-url", "gopher://x", "socks5://"}},
        BadConfig{"clusters: [{name: c, cluster: {server: 'https://h', insecure-skip-tls-verify: 3}}]",
                  {"insecure-skip-tls-verify", "found \"3\"", "true, false"}},
        BadConfig{"clusters: [{name: c, cluster: {server: 'https://h', certificate-authority-data: '%%'}}]",
                  {"certificate-authority-data", "not base64"}},
        BadConfig{"clusters: [{name: c, cluster: {server: 'https://h', insecure-skip-tls-verify: true, certificate-authority: ca}}]",
                  {"insecure-skip-tls-verify", "beside a certificate authority"}},
        BadConfig{"users: [{name: u, user: {auth-provider: {name: gcp}}}]", {"users[\"u\"].user.auth-provider", "not supported", "exec"}},
        BadConfig{"users: [{name: u, user: {as-user-extra: {a: [b]}}}]", {"as-user-extra", "not supported"}},
        BadConfig{"users: [{name: u, user: {as-groups: [g]}}]", {"users[\"u\"].user.as:", "found nothing beside"}},
        BadConfig{"users: [{name: u, user: {client-certificate: c}}]",
                  {"users[\"u\"].user.client-key", "both client-certificate and client-key"}},
        BadConfig{"users: [{name: u, user: {token: hunter2, username: me}}]", {"username", "beside a token"}},
        BadConfig{"users: [{name: u, user: {token: hunter2, exec: {command: x}}}]", {"exec", "one of them"}},
        BadConfig{"users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1}}}]", {"exec.command", "found nothing"}},
        BadConfig{"users: [{name: u, user: {exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}}}]",
                  {"exec.apiVersion", "v1alpha1", "client.authentication.k8s.io/v1beta1"}},
        BadConfig{"users: [{name: u, user: {exec: {command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always}}}]",
                  {"exec.interactiveMode", "Always", "IfAvailable"}},
        BadConfig{"users: [{name: u, user: {exec: {command: x, apiVersion: client.authentication.k8s.io/v1, env: [{name: 'A=B'}]}}}]",
                  {"exec.env[0].name", "A=B"}},
        BadConfig{"users: [{name: u, user: {token: [a]}}]", {"users[\"u\"].user.token", "found a list", "allowed: a string"}}));

TEST(KubeconfigFiles, ReadsTheFileThatIsGiven) {
  const TemporaryFolder folder;
  folder.write("ca.crt", "AUTHORITY");
  const auto file = folder.write("config",
                                 "{current-context: a, contexts: [{name: a, context: {cluster: c, user: u}}], users: [{name: u}],"
                                 " clusters: [{name: c, cluster: {server: 'https://h', certificate-authority: ca.crt}}]}");
  const auto connection = find_connection({file.string(), ""});
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_EQ(connection->authority_pem, "AUTHORITY");
  EXPECT_EQ(connection->description, "context \"a\" of " + file.string());
}

TEST(KubeconfigFiles, NamesAFileThatIsMissing) {
  const TemporaryFolder folder;
  const auto no_config = find_connection({(folder / "none").string(), ""});
  ASSERT_FALSE(no_config);
  EXPECT_EQ(no_config.error().kind, ErrorKind::not_found);
  EXPECT_NE(no_config.error().message.find("none"), std::string::npos);
  const auto file = folder.write("config",
                                 "{current-context: a, contexts: [{name: a, context: {cluster: c, user: u}}], users: [{name: u}],"
                                 " clusters: [{name: c, cluster: {server: 'https://h', certificate-authority: ca.crt}}]}");
  const auto no_authority = find_connection({file.string(), ""});
  ASSERT_FALSE(no_authority);
  EXPECT_NE(no_authority.error().message.find("clusters[\"c\"].cluster.certificate-authority"), std::string::npos);
  EXPECT_NE(no_authority.error().message.find((folder / "ca.crt").string()), std::string::npos);
}

TEST(KubeconfigFiles, ReadsTheListInTheEnvironmentAndSkipsMissingOnes) {
  const TemporaryFolder folder;
  folder.write("one", "{current-context: a, users: [{name: u, user: {token: t}}]}");
  folder.write("two", "{contexts: [{name: a, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: 'https://h'}}]}");
  ::setenv("KUBECONFIG", ((folder / "zero").string() + ":" + (folder / "one").string() + ":" + (folder / "two").string()).c_str(), 1);
  const auto connection = find_connection({});
  ::unsetenv("KUBECONFIG");
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_EQ(connection->user.token, "t");
}

// A service without HOME must not look below the folder that it was started in: whoever may write there would name a command, and it would
// be run (issue 14: a hostile machine).
TEST(KubeconfigFiles, WithoutAHomeNoneIsLookedFor) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / ".kube");
  folder.write(".kube/config",
               "{current-context: a, contexts: [{name: a, context: {cluster: c, user: u}}], users: [{name: u}],"
               " clusters: [{name: c, cluster: {server: 'https://h'}}]}");
  const auto started_in = std::filesystem::current_path();
  const char* had = std::getenv("HOME");
  const std::string home = had == nullptr ? "" : had;
  ::unsetenv("KUBECONFIG");
  std::filesystem::current_path(folder / "");
  for (const char* value : {"", ".", "here"}) {
    ::setenv("HOME", value, 1);
    const auto found = find_connection({});
    EXPECT_FALSE(found) << "HOME=" << value;
    if (!found) {
      EXPECT_NE(found.error().message.find("HOME \"" + std::string(value) + "\""), std::string::npos) << found.error().message;
    }
  }
  ::setenv("HOME", (folder / "").c_str(), 1);
  EXPECT_TRUE(find_connection({}));
  std::filesystem::current_path(started_in);
  if (had == nullptr)
    ::unsetenv("HOME");
  else
    ::setenv("HOME", home.c_str(), 1);
}

TEST(InCluster, ReadsTheServiceAccount) {
  const TemporaryFolder folder;
  folder.write("ca.crt", "AUTHORITY");
  folder.write("token", "abc");
  folder.write("namespace", "jobs\n");
  const auto connection = in_cluster_connection("fd00::1", "443", folder / "");
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_EQ(connection->server, "https://[fd00::1]:443");
  EXPECT_EQ(connection->namespace_, "jobs");
  EXPECT_EQ(connection->authority_pem, "AUTHORITY");
  EXPECT_EQ(connection->user.token_file, folder / "token");
}

TEST(InCluster, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  EXPECT_NE(in_cluster_connection("", "", folder / "").error().message.find("KUBERNETES_SERVICE_HOST"), std::string::npos);
  EXPECT_NE(in_cluster_connection("h", "1", folder / "").error().message.find("ca.crt"), std::string::npos);
  folder.write("ca.crt", "A");
  EXPECT_NE(in_cluster_connection("h", "1", folder / "").error().message.find("service account token"), std::string::npos);
}

TEST(Endpoint, PutsTheExpectedNameInPlaceOfTheHost) {
  Connection connection;
  connection.server = "https://10.0.0.1/prefix/";
  connection.tls_server_name = "api.example";
  const auto endpoint = endpoint_of(connection);
  ASSERT_TRUE(endpoint);
  EXPECT_EQ(endpoint->base_url, "https://api.example:443/prefix");
  EXPECT_EQ(endpoint->connect_to, "api.example:443:10.0.0.1:443");
  EXPECT_FALSE(endpoint->is_loopback);
}

TEST(Endpoint, KnowsLoopbackForProxies) {
  for (const char* server : {"https://127.0.0.1:1", "http://localhost:2", "https://[::1]:3"}) {
    Connection connection;
    connection.server = server;
    EXPECT_TRUE(endpoint_of(connection)->is_loopback) << server;
  }
  Connection bad;
  bad.server = "https://a b";
  EXPECT_NE(endpoint_of(bad).error().message.find("a b"), std::string::npos);
}

TEST(Base64, TakesWhatKubectlWritesAndNothingElse) {
  EXPECT_EQ(decode_base64("aGVs\nbG8="), "hello");
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64(encode_base64(std::string("\0\xff\x10", 3))), std::string("\0\xff\x10", 3));
  for (const char* bad : {"a", "abc", "ab=c", "====", "ab!d", "a==="}) EXPECT_FALSE(decode_base64(bad)) << bad;
}

TEST(KubeconfigFuzz, NeverCrashesOnDamagedText) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    std::string text = good;
    const auto changes = 1 + random() % 8;
    for (unsigned i = 0; i < changes; ++i) {
      const auto at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 20);
          break;
        case 2:
          text.insert(at, text.substr(random() % text.size(), random() % 60));
          break;
        default:
          text.insert(at, 1, "{}[]:,-&*!|>'\"#%@`\n\t "[random() % 22]);
          break;
      }
      if (text.empty()) text = " ";
    }
    const auto config = parse_kubeconfig(text, "/k/config");
    if (!config) {
      EXPECT_NE(config.error().message.find("/k/config"), std::string::npos) << "seed " << seed;
      continue;
    }
    // What it reads names no file that exists here, so this reads none.
    for (const auto& [name, unused] : config->contexts) {
      const auto connection = choose_context(*config, name, "f");
      if (!connection) {
        EXPECT_FALSE(connection.error().message.empty()) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
