// The HTTP server over TLS, and the certificates that it makes for itself.

#include <chrono>
#include <random>

#include <gtest/gtest.h>

#include "operations/http_server.hpp"
#include "operations/logging.hpp"
#include "operations/self_signed.hpp"
#include "tests/operations/raw_client.hpp"
#include "tests/operations/tls_client.hpp"

namespace hindsight::operations {
namespace {

constexpr const char* service = "hindsight-webhook-service.hindsight-system.svc";
const std::string last_request = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nend";

Time now() {
  return Time::from_seconds(std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count());
}

SelfSignedWish wish(std::vector<std::string> names = {service, "127.0.0.1"}) { return {.names = std::move(names)}; }

SelfSigned fresh(const SelfSigned& present, const SelfSignedWish& w, Time at) {
  auto made = keep_fresh(present, w, at);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made.value_or(SelfSigned{});
}

// ---- certificates -----------------------------------------------------------------------------------------------------------

TEST(SelfSignedCertificates, stay_while_they_are_good) {
  const Time made = now();  // the next second may have begun when it is looked at
  const SelfSigned first = fresh({}, wish(), made);
  const auto facts = read_certificate(first.serving.certificate);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->names, (std::vector<std::string>{service, "127.0.0.1"}));
  EXPECT_EQ(facts->not_after, made + wish().lifetime);
  EXPECT_EQ(fresh(first, wish(), now()), first);
  EXPECT_EQ(fresh(first, wish({service}), now() + Duration::seconds(240LL * 86'400)), first);
}

TEST(SelfSignedCertificates, are_renewed_before_they_end) {
  const SelfSigned first = fresh({}, wish(), now());
  const Time later = now() + Duration::seconds(250LL * 86'400);
  const SelfSigned second = fresh(first, wish(), later);
  EXPECT_EQ(second.authorities, first.authorities);
  EXPECT_NE(second.serving.certificate, first.serving.certificate);
  EXPECT_EQ(read_certificate(second.serving.certificate)->not_after, later + wish().lifetime);
  // The authority too, years later; who shows the work of the old one is still believed.
  const Time much_later = now() + Duration::seconds(2500LL * 86'400);
  const SelfSigned third = fresh(second, wish(), much_later);
  EXPECT_NE(third.authority_key, second.authority_key);
  EXPECT_TRUE(third.authorities.ends_with(second.authorities));
  EXPECT_EQ(fresh(third, wish(), much_later), third);
}

TEST(SelfSignedCertificates, are_made_anew_when_something_is_wrong_with_them) {
  const SelfSigned good = fresh({}, wish(), now()), other = fresh({}, wish(), now());
  SelfSigned strange_key = good, cut = good, strange_serving = good, no_authority_key = good;
  strange_key.serving.key = other.serving.key;
  cut.serving.certificate.resize(100);
  strange_serving.serving = other.serving;
  no_authority_key.authority_key.clear();
  for (const SelfSigned& bad : {strange_key, cut, strange_serving, no_authority_key}) {
    const SelfSigned mended = fresh(bad, wish(), now());
    EXPECT_NE(mended, bad);
    EXPECT_EQ(fresh(mended, wish(), now()), mended);
  }
  const SelfSigned more = fresh(good, wish({service, "other.example"}), now());
  EXPECT_EQ(more.authorities, good.authorities);
  EXPECT_EQ(read_certificate(more.serving.certificate)->names, (std::vector<std::string>{service, "other.example"}));
  EXPECT_FALSE(read_certificate("no certificate"));
}

TEST(SelfSignedCertificates, survive_any_bytes) {
  const SelfSigned good = fresh({}, wish(), now());
  std::mt19937_64 random(20260101);
  for (int i = 0; i < 60; ++i) {
    SelfSigned bad = good;
    std::string* texts[] = {&bad.authorities, &bad.authority_key, &bad.serving.certificate, &bad.serving.key};
    std::string& text = *texts[random() % 4];
    text[random() % text.size()] = static_cast<char>(random());
    const SelfSigned mended = fresh(bad, wish(), now());
    EXPECT_EQ(fresh(mended, wish(), now()), mended);
  }
}

// ---- the server -------------------------------------------------------------------------------------------------------------

class TlsServerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { set_up_logging({.level = LogLevel::off}); }

  void start(TlsSettings settings = {}, std::size_t body_bytes_max = 64 * 1024) {
    made_ = fresh({}, wish(), now());
    identity_ = std::make_shared<TlsIdentity>(std::move(settings));
    HttpRoutes routes;
    routes.add("GET", "/who", [](const HttpRequest& q) {
      return HttpResponse{.content_type = "text/plain", .body = "<" + q.client + "> for <" + std::string(q.header("x-remote-user")) + ">"};
    });
    routes.add("POST", "/echo", [](const HttpRequest& q) { return HttpResponse{.content_type = "text/plain", .body = "got " + q.body}; });
    auto server = HttpServer::start({.head_seconds = 2, .body_bytes_max = body_bytes_max, .tls = identity_}, std::move(routes));
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    port_ = server_->address().port;
  }
  void show(const SelfSigned& what) {
    const auto shown = identity_->use(what.serving.certificate, what.serving.key);
    ASSERT_TRUE(shown) << shown.error().message;
  }
  [[nodiscard]] std::string ask(const std::string& name = service) const {
    return ask_over_tls(port_, made_.authorities, name, last_request);
  }

  SelfSigned made_;
  std::shared_ptr<TlsIdentity> identity_;
  std::unique_ptr<HttpServer> server_;
  std::uint16_t port_ = 0;
};

TEST_F(TlsServerTest, answers_who_trusts_it) {
  start();
  EXPECT_EQ(ask(), "");  // no certificate yet
  show(made_);
  EXPECT_TRUE(ask().starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(ask().ends_with("got end"));
  EXPECT_TRUE(ask("127.0.0.1").ends_with("got end"));
  EXPECT_EQ(ask("somebody.else"), "");
  EXPECT_EQ(ask_over_tls(port_, fresh({}, wish(), now()).authorities, service, last_request), "");
}

TEST_F(TlsServerTest, keeps_a_connection_for_many_requests) {
  start();
  show(made_);
  std::string requests;
  for (int i = 0; i < 50; ++i) requests += "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n" + std::to_string(10 + i);
  const std::string answers = ask_over_tls(port_, made_.authorities, service, requests + last_request);
  for (const char* one : {"got 10", "got 33", "got 59", "got end"}) EXPECT_NE(answers.find(one), std::string::npos) << one;
}

TEST_F(TlsServerTest, takes_long_bodies_up_to_its_limit) {
  start({}, 300'000);
  show(made_);
  const auto post = [](std::size_t size) {
    return "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
           std::string(size, 'a');
  };
  EXPECT_TRUE(ask_over_tls(port_, made_.authorities, service, post(300'000)).ends_with(std::string(300'000, 'a')));
  const std::string refused = ask_over_tls(port_, made_.authorities, service, post(300'001));
  EXPECT_TRUE(refused.empty() || refused.starts_with("HTTP/1.1 413")) << refused.substr(0, 200);
}

TEST_F(TlsServerTest, shows_a_new_certificate_to_new_connections) {
  start();
  show(made_);
  const SelfSigned other = fresh({}, wish(), now());
  show(other);
  EXPECT_EQ(ask(), "");
  EXPECT_TRUE(ask_over_tls(port_, other.authorities, service, last_request).ends_with("got end"));
  // What cannot be shown changes nothing.
  EXPECT_FALSE(identity_->use(made_.serving.certificate, other.serving.key));
  EXPECT_FALSE(identity_->use("", ""));
  EXPECT_TRUE(ask_over_tls(port_, other.authorities, service, last_request).ends_with("got end"));
}

TEST_F(TlsServerTest, speaks_what_the_configuration_asks_for) {
  start({.min_version = "VersionTLS13", .curves = {"CurveP384", "X25519"}});
  show(made_);
  EXPECT_TRUE(ask().ends_with("got end"));
  server_.reset();
  start({.cipher_suites = {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305"}});
  show(made_);
  EXPECT_TRUE(ask().ends_with("got end"));
  TlsIdentity none({.cipher_suites = {"TLS_NO_SUCH_SUITE"}});
  const auto shown = none.use(made_.serving.certificate, made_.serving.key);
  ASSERT_FALSE(shown);
  EXPECT_EQ(shown.error().message, "tls.cipherSuites: found none that this library has; allowed: at least one");
}

// Who shows a good certificate is known by its name; who shows none is nobody; who shows another one is not talked to.
TEST_F(TlsServerTest, knows_clients_by_their_certificates) {
  start();
  show(made_);
  const std::string who = "GET /who HTTP/1.1\r\nHost: x\r\nX-Remote-User: anna\r\nConnection: close\r\n\r\n";
  const auto ask_as = [&](const CertificatePair& own) { return ask_over_tls(port_, made_.authorities, service, who, own); };
  const auto proxy = self_signed_client("front-proxy-client"), stranger = self_signed_client("front-proxy-client");
  EXPECT_TRUE(ask_as(proxy).ends_with("<> for <anna>"));  // nobody asked
  ASSERT_TRUE(identity_->ask_clients(proxy.certificate));
  EXPECT_TRUE(ask_as(proxy).ends_with("<front-proxy-client> for <anna>"));
  EXPECT_TRUE(ask_as({}).ends_with("<> for <anna>"));
  EXPECT_EQ(ask_as(stranger).find("front-proxy-client"), std::string::npos);
  EXPECT_EQ(ask_as(made_.serving).find("200 OK"), std::string::npos);
  // Both certificates change on their own, and what does not read changes nothing.
  ASSERT_TRUE(identity_->ask_clients(stranger.certificate + proxy.certificate));
  EXPECT_TRUE(ask_as(stranger).ends_with("<front-proxy-client> for <anna>"));
  const auto refused = identity_->ask_clients("no certificate");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "TLS authorities of clients: found no certificate; allowed: PEM");
  const SelfSigned other = fresh({}, wish(), now());
  show(other);
  EXPECT_TRUE(ask_over_tls(port_, other.authorities, service, who, stranger).ends_with("<front-proxy-client> for <anna>"));
}

// Whoever sends plain text, noise, or nothing at all gets nothing and holds up nobody.
TEST_F(TlsServerTest, survives_clients_that_speak_no_tls) {
  start();
  show(made_);
  std::mt19937_64 random(20260101);
  RawClient silent(port_);
  RawClient half(port_);
  half.send(std::string("\x16\x03\x01\x02\x00\x01", 6));
  for (int i = 0; i < 50; ++i) {
    std::string noise(1 + random() % 400, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    if (i % 3 == 0) noise = std::string("\x16\x03\x01\x01\x00\x01\x00\x00\xfc\x03\x03", 11) + noise;
    if (i % 5 == 0) noise = "GET / HTTP/1.1\r\n\r\n";
    RawClient client(port_);
    client.send(noise);
    client.finish_sending();
    EXPECT_EQ(client.read_all().find("HTTP/1.1 200"), std::string::npos);
  }
  EXPECT_TRUE(ask().ends_with("got end"));
}

}  // namespace
}  // namespace hindsight::operations
