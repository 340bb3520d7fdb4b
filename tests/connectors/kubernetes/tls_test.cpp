// Shows TLS against a server of our own: whom we trust, what we show, and that a new client certificate means a new connection.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "connectors/kubernetes/http/http_client.hpp"
#include "tests/connectors/kubernetes/temporary_folder.hpp"
#include "tests/connectors/kubernetes/waiting.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

using testing::TemporaryFolder;
using testing::Watched;

/// An HTTP/1.1 server with TLS that answers each request with a status by the name in the client's certificate ("" without one).
class TlsServer {
 public:
  using StatusOf = std::function<int(const std::string& client_name)>;

  TlsServer(const TemporaryFolder& folder, StatusOf status_of)
      : folder_(folder), status_of_(std::move(status_of)), context_(SSL_CTX_new(TLS_server_method())) {
    // Whoever comes back is judged anew.
    SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context_, SSL_OP_NO_TICKET);
    show("server");
    SSL_CTX_load_verify_locations(context_, (folder / "ca.crt").c_str(), nullptr);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 64) != 0)
      throw std::runtime_error("listen");
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~TlsServer() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    for (const int socket : sockets_) ::close(socket);
    ::close(listener_);
    SSL_CTX_free(context_);
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  /// Shows another certificate to who connects from now on.
  void show(const std::string& file) {
    const std::lock_guard lock(mutex_);
    SSL_CTX_use_certificate_file(context_, (folder_ / (file + ".crt")).c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_use_PrivateKey_file(context_, (folder_ / (file + ".key")).c_str(), SSL_FILETYPE_PEM);
  }
  /// Ends all connections.
  void cut() {
    const std::lock_guard lock(mutex_);
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  }

  [[nodiscard]] std::string url(const std::string& host = "127.0.0.1") const { return "https://" + host + ":" + std::to_string(port_); }
  [[nodiscard]] std::size_t connections() {
    const std::lock_guard lock(mutex_);
    return sockets_.size();
  }

 private:
  void accept_all() {
    // OpenSSL writes to what a client may have closed already. The threads of connections inherit it.
    sigset_t broken_pipe{};
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    for (int socket = 0; (socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      const std::lock_guard lock(mutex_);
      sockets_.push_back(socket);
      threads_.emplace_back([this, socket] { serve(socket); });
    }
  }
  SSL* new_session() {
    const std::lock_guard lock(mutex_);
    return SSL_new(context_);
  }
  void serve(int socket) {
    const std::unique_ptr<SSL, decltype(&SSL_free)> tls(new_session(), &SSL_free);
    SSL_set_fd(tls.get(), socket);
    if (SSL_accept(tls.get()) == 1) {
      const std::string name = client_name(tls.get());
      std::string buffer;
      std::array<char, 4096> chunk{};
      for (int got = 0; (got = SSL_read(tls.get(), chunk.data(), static_cast<int>(chunk.size()))) > 0;) {
        buffer.append(chunk.data(), static_cast<std::size_t>(got));
        for (std::size_t end = 0; (end = buffer.find("\r\n\r\n")) != std::string::npos; buffer.erase(0, end + 4)) {
          const std::string answer =
              "HTTP/1.1 " + std::to_string(status_of_(name)) + " X\r\nContent-Length: " + std::to_string(name.size()) + "\r\n\r\n" + name;
          SSL_write(tls.get(), answer.data(), static_cast<int>(answer.size()));
        }
      }
    }
    ::shutdown(socket, SHUT_RDWR);
  }
  static std::string client_name(const SSL* tls) {
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(tls), &X509_free);
    if (!certificate) return {};
    std::array<char, 64> name{};
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name.data(), static_cast<int>(name.size()));
    return name.data();
  }

  const TemporaryFolder& folder_;
  StatusOf status_of_;
  SSL_CTX* context_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::thread acceptor_;
  std::mutex mutex_;
  std::vector<int> sockets_;  ///< Guarded by mutex_, as the next.
  std::vector<std::thread> threads_;
};

class TlsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder();
    shell("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.crt -days 2 -subj /CN=test-ca");
    sign("server", "kube-apiserver", "subjectAltName=IP:127.0.0.1,DNS:api.example");
    sign("one", "one", "extendedKeyUsage=clientAuth");
    sign("two", "two", "extendedKeyUsage=clientAuth");
    // Another authority with a server's certificate of its own, which knows the clients of the first.
    shell("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca2.key -out ca2.crt -days 2 -subj /CN=ca-2");
    sign("server2", "kube-apiserver", "subjectAltName=IP:127.0.0.1,DNS:api.example", "ca2");
  }
  static void TearDownTestSuite() {
    delete folder;
    folder = nullptr;
  }
  void TearDown() override {
    if (http) http->stop();
  }

  static void shell(const std::string& command) {
    ASSERT_EQ(std::system(("cd " + (*folder / "").string() + " && " + command + " 2>/dev/null").c_str()), 0) << command;
  }
  static void sign(const std::string& file, const std::string& name, const std::string& extension, const std::string& authority = "ca") {
    folder->write(file + ".ext", extension);
    shell("openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout " + file + ".key -out " + file +
          ".csr -subj /CN=" + name + " && openssl x509 -req -in " + file + ".csr -CA " + authority + ".crt -CAkey " + authority +
          ".key -CAcreateserial -days 2 -extfile " + file + ".ext -out " + file + ".crt");
  }
  static std::string text(const std::string& file) { return read_small_file(*folder / file, file).value_or(""); }

  void connect(Connection connection) {
    connection.description = "the test";
    connection.user.description = "user \"u\"";
    HttpClient::Options options;
    options.max_in_flight = 8;
    options.look_interval = options.credential_retry = std::chrono::milliseconds(10);
    auto created = HttpClient::create(
        loop, connection, options, [this](const Notice& notice) { notices.change([&](auto& list) { list.push_back(notice.message); }); });
    ASSERT_TRUE(created) << created.error().message;
    http = *std::move(created);
  }
  HttpAnswer get() {
    Watched<std::vector<HttpAnswer>> answers;
    loop.run([&] {
      HttpRequest request;
      request.path = "/version";
      http->send(request, [answers](HttpAnswer answer) { answers.change([&](auto& list) { list.push_back(std::move(answer)); }); });
    });
    EXPECT_TRUE(answers.wait([](const auto& list) { return !list.empty(); }));
    return answers.get().empty() ? HttpAnswer{} : answers.get()[0];
  }

  static TemporaryFolder* folder;
  Loop loop;
  std::unique_ptr<HttpClient> http;
  Watched<std::vector<std::string>> notices;
};
TemporaryFolder* TlsTest::folder = nullptr;

TEST_F(TlsTest, TrustsTheAuthorityOfTheKubeconfigAndShowsItsCertificate) {
  TlsServer server(*folder, [](const std::string&) { return 200; });
  Connection connection;
  connection.server = server.url();
  connection.authority_pem = text("ca.crt");
  connection.user.client_certificate_pem = text("one.crt");
  connection.user.client_key_pem = text("one.key");
  connect(connection);
  for (int i = 0; i < 5; ++i) {
    const HttpAnswer answer = get();
    EXPECT_EQ(answer.status, 200) << answer.error;
    EXPECT_EQ(answer.body, "one");
  }
  EXPECT_EQ(server.connections(), 1U);
}

TEST_F(TlsTest, TrustsNoOtherAuthority) {
  TlsServer server(*folder, [](const std::string&) { return 200; });
  Connection connection;
  connection.server = server.url();
  connection.authority_pem = text("one.crt");  // A certificate, but not the one that signed the server's.
  connect(connection);
  EXPECT_EQ(get().status, 0);
  ASSERT_EQ(notices.get().size(), 1U);
  EXPECT_NE(notices.get()[0].find("certificate is not trusted"), std::string::npos) << notices.get()[0];
}

TEST_F(TlsTest, ExpectsTheNameThatWasGivenForTheServer) {
  TlsServer server(*folder, [](const std::string&) { return 200; });
  Connection connection;
  connection.server = server.url();
  connection.authority_pem = text("ca.crt");
  connection.tls_server_name = "api.example";
  connect(connection);
  EXPECT_EQ(get().status, 200);
  http->stop();
  connection.tls_server_name = "other.example";
  connect(connection);
  EXPECT_EQ(get().status, 0);
  ASSERT_EQ(notices.get().size(), 1U);
  EXPECT_NE(notices.get()[0].find("tls-server-name"), std::string::npos) << notices.get()[0];
}

TEST_F(TlsTest, VerifiesNothingWhenToldSo) {
  TlsServer server(*folder, [](const std::string&) { return 200; });
  Connection connection;
  connection.server = server.url("localhost");
  connection.insecure_skip_tls_verify = true;
  connect(connection);
  EXPECT_EQ(get().status, 200);
}

TEST_F(TlsTest, SaysThatItsOwnKeyIsOfNoUse) {
  TlsServer server(*folder, [](const std::string&) { return 200; });
  Connection connection;
  connection.server = server.url();
  connection.authority_pem = text("ca.crt");
  connection.user.client_certificate_pem = text("one.crt");
  connection.user.client_key_pem = "no key";
  connect(connection);
  EXPECT_EQ(get().status, 0);
  ASSERT_EQ(notices.get().size(), 1U);
  EXPECT_NE(notices.get()[0].find("client certificate or its key"), std::string::npos) << notices.get()[0];
}

TEST_F(TlsTest, AFreshClientCertificateMakesAFreshConnection) {
  TlsServer server(*folder, [](const std::string& name) { return name == "two" ? 200 : 401; });
  const TemporaryFolder rotated;
  Connection connection;
  connection.server = server.url();
  connection.authority_pem = text("ca.crt");
  connection.user.client_certificate_file = rotated.write("tls.crt", text("one.crt"));
  connection.user.client_key_file = rotated.write("tls.key", text("one.key"));
  connect(connection);
  EXPECT_EQ(get().status, 401);
  rotated.write("tls.crt", text("two.crt"));
  rotated.write("tls.key", text("two.key"));
  const HttpAnswer answer = get();
  EXPECT_EQ(answer.status, 200) << answer.error;
  EXPECT_EQ(answer.body, "two");
}

TEST_F(TlsTest, ACertificateAndTheKeyOfAnotherAreNotUsedTogether) {
  TlsServer server(*folder, [](const std::string& name) { return name == "one" || name == "two" ? 200 : 401; });
  const TemporaryFolder rotated;
  Connection connection;
  connection.server = server.url();
  connection.authority_pem = text("ca.crt");
  connection.user.client_certificate_file = rotated.write("tls.crt", text("one.crt"));
  connection.user.client_key_file = rotated.write("tls.key", text("one.key"));
  connect(connection);
  EXPECT_EQ(get().body, "one");
  // Somebody replaces both, one after the other.
  rotated.write("tls.crt", text("two.crt"));
  ASSERT_TRUE(testing::eventually([&] {
    EXPECT_EQ(get().body, "one");
    return notices.get().size() == 1;
  }));
  EXPECT_NE(notices.get()[0].find("client-key"), std::string::npos) << notices.get()[0];
  server.cut();
  EXPECT_TRUE(testing::eventually([&] { return get().body == "one"; }));
  rotated.write("tls.key", text("two.key"));
  EXPECT_TRUE(testing::eventually([&] { return get().body == "two"; }));
}

TEST_F(TlsTest, AuthoritiesAreReadAgainWhenTheirFileChanges) {
  TlsServer server(*folder, [](const std::string&) { return 200; });
  const TemporaryFolder mounted;
  Connection connection;
  connection.server = server.url();
  connection.authority_file = mounted.write("ca.crt", text("ca.crt"));
  connection.authority_pem = text("ca.crt");
  connect(connection);
  EXPECT_EQ(get().status, 200);
  // The server gets a certificate of another authority: existing connections live, new ones cannot be made.
  server.show("server2");
  EXPECT_EQ(get().status, 200);
  server.cut();
  ASSERT_TRUE(testing::eventually([&] { return get().status == 0; }));
  ASSERT_EQ(notices.get().size(), 1U);
  EXPECT_NE(notices.get()[0].find("certificate is not trusted"), std::string::npos) << notices.get()[0];
  // Until we hear of it.
  mounted.write("ca.crt", text("ca2.crt"));
  EXPECT_TRUE(testing::eventually([&] { return get().status == 200; }));
  // The old authority is not believed any more, not even on a connection that stands.
  const std::size_t before = server.connections();
  mounted.write("ca.crt", text("ca.crt"));
  EXPECT_TRUE(testing::eventually([&] { return get().status == 0; }));
  EXPECT_GT(server.connections(), before);
  // With both it works while the one takes the place of the other.
  mounted.write("ca.crt", text("ca.crt") + text("ca2.crt"));
  EXPECT_TRUE(testing::eventually([&] { return get().status == 200; }));
}

TEST_F(TlsTest, AnAuthorityThatCannotBeReadLeavesTheOneBefore) {
  TlsServer server(*folder, [](const std::string&) { return 200; });
  const TemporaryFolder mounted;
  Connection connection;
  connection.server = server.url();
  connection.authority_file = mounted.write("ca.crt", text("ca.crt"));
  connect(connection);
  EXPECT_EQ(get().status, 200);
  std::size_t told = 0;
  for (const std::string& bad : {std::string(), std::string("no certificate"), text("ca.crt").substr(0, 200), text("ca.key")}) {
    mounted.write("ca.crt", bad);
    ASSERT_TRUE(testing::eventually([&] {
      EXPECT_EQ(get().status, 200);
      return notices.get().size() > told;
    }));
    EXPECT_NE(notices.get()[told].find((mounted / "ca.crt").string()), std::string::npos) << notices.get()[told];
    server.cut();
    EXPECT_TRUE(testing::eventually([&] { return get().status == 200; }));
    mounted.write("ca.crt", text("ca.crt"));
    ASSERT_TRUE(testing::eventually([&] {
      (void)get();
      const auto all = notices.get();
      return std::any_of(all.begin() + static_cast<std::ptrdiff_t>(told), all.end(),
                         [](const std::string& message) { return message.find("were read again") != std::string::npos; });
    }));
    told = notices.get().size();
  }
  std::filesystem::remove(mounted / "ca.crt");
  ASSERT_TRUE(testing::eventually([&] {
    EXPECT_EQ(get().status, 200);
    return notices.get().size() > told;
  }));
}

TEST_F(TlsTest, WithoutAnyAuthorityThereIsNoBeginning) {
  const TemporaryFolder mounted;
  Connection connection;
  connection.server = "https://127.0.0.1:1";
  connection.authority_file = mounted.write("ca.crt", "no certificate");
  const auto created = HttpClient::create(loop, connection, {}, [](const Notice&) {});
  ASSERT_FALSE(created);
  EXPECT_NE(created.error().message.find("without a certificate"), std::string::npos) << created.error().message;
}

TEST_F(TlsTest, OpensMoreConnectionsWhenTheServerHasNoHttp2) {
  // The first answer tells what the server can. Each later one waits until four more requests are at the server: over one HTTP/1.1
  // connection that never happens.
  Watched<int> arrived;
  TlsServer server(*folder, [arrived](const std::string&) {
    int number = 0;
    arrived.change([&](int& n) { number = ++n; });
    if (number > 1) (void)arrived.wait([](int n) { return n >= 5; });
    return 200;
  });
  Connection connection;
  connection.server = server.url();
  connection.authority_pem = text("ca.crt");
  connect(connection);
  EXPECT_EQ(get().status, 200);
  Watched<int> good;
  loop.run([&] {
    for (int i = 0; i < 8; ++i) {
      HttpRequest request;
      request.path = "/version";
      http->send(request, [good](const HttpAnswer& answer) {
        if (answer.status == 200) good.change([](int& n) { ++n; });
      });
    }
  });
  EXPECT_TRUE(good.wait([](int n) { return n == 8; }));
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
