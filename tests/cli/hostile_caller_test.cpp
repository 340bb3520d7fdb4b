// Callers that mean harm, and the real process: `hindsight run` on real sockets while somebody does to each of its listeners what can be
// done without any credentials. Whoever behaves well gets his answers meanwhile, memory has a bound, and afterwards all is as before.

#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/cli/worlds.hpp"
#include "tests/connectors/kubernetes/fake_api_server.hpp"
#include "tests/operations/attackers.hpp"
#include "tests/operations/raw_client.hpp"
#include "tests/operations/tls_client.hpp"

namespace hindsight::test {
namespace {

namespace attack = operations::attack;
using connectors::kubernetes::testing::Exchange;
using connectors::kubernetes::testing::FakeApiServer;

/// An API server that has nothing, and knows two users: one who may see metrics and one who may not.
class EmptyApi {
 public:
  [[nodiscard]] std::string url() const { return server_.url(); }
  [[nodiscard]] std::size_t reviews() const { return reviews_.load(); }

 private:
  void serve(Exchange& e) {
    if (e.query.count("watch") > 0) {
      e.begin_stream();
      e.wait_for_end();
    } else if (e.method == "POST" && e.path.ends_with("/tokenreviews")) {
      reviews_.fetch_add(1);
      const std::string token = Json::parse(e.body)["spec"]["token"];
      const bool known = token == "good" || token == "useless";
      e.answer(
          201,
          Json{{"kind", "TokenReview"}, {"status", {{"authenticated", known}, {"user", {{"username", token}, {"groups", {"g"}}}}}}}.dump());
    } else if (e.method == "POST" && e.path.ends_with("/subjectaccessreviews")) {
      const Json spec = Json::parse(e.body)["spec"];
      const bool may = spec["user"] == "good" && spec["nonResourceAttributes"] == Json{{"path", "/metrics"}, {"verb", "get"}};
      e.answer(201, Json{{"kind", "SubjectAccessReview"}, {"status", {{"allowed", may}}}}.dump());
    } else if (e.path.ends_with("s")) {
      e.answer(200, R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]})");
    } else {
      e.answer(404, R"({"kind":"Status","code":404})");
    }
  }

  std::atomic<std::size_t> reviews_{0};
  FakeApiServer server_{[this](Exchange& e) { serve(e); }};
};

class HostileCaller : public ::testing::Test {
 protected:
  void start(const Words& more = {}, const ProgramOptions& options = {}) {
    const std::string kubeconfig =
        "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: \"" + server_.url() +
        "\"}}]\nusers: [{name: u, user: {token: secret}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n";
    Words words{"run",
                "--kubeconfig",
                write(folder_.file("kubeconfig"), kubeconfig),
                "--log",
                "sqlite:" + folder_.file("run.db"),
                "--no-lease",
                "--durability",
                "off"};
    words.insert(words.end(), more.begin(), more.end());
    program_.emplace(words, options);
    http_ = port_of("HTTP listens");
  }

  /// The port in the line of the log that says this.
  std::uint16_t port_of(const std::string& said) {
    EXPECT_TRUE(program_->wait_for(said)) << program_->said();
    const std::string all = program_->said();
    const auto at = all.find("127.0.0.1:", all.find(said));
    return at == std::string::npos ? std::uint16_t{0} : static_cast<std::uint16_t>(std::stoi(all.substr(at + 10)));
  }

  EmptyApi server_;
  TemporaryFolder folder_;
  std::optional<Program> program_;
  std::uint16_t http_ = 0;
};

// 809 bytes that become 1 GiB where somebody unpacks them.
TEST_F(HostileCaller, AnEncodedBodyIsRefusedAndNotUnpacked) {
  start();
  const std::string bomb = attack::brotli_bomb();
  operations::RawClient client(http_);
  client.send("PUT /log-level HTTP/1.1\r\nHost: x\r\nContent-Encoding: br\r\nContent-Length: " + std::to_string(bomb.size()) + "\r\n\r\n" +
              bomb);
  const std::string answer = client.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 415 ")) << answer.substr(0, 200);
  EXPECT_LT(attack::figures_of(program_->id()).resident_bytes_max, 200U << 20U);
}

// A kubelet gives up after the 5 s of the Deployment, and after three of these the container.
TEST_F(HostileCaller, SlowConnectionsDoNotMakeLivenessFail) {
  start();
  const attack::Holder slow(http_, 16, {.opening = "GET /healthz HTTP/1.1\r\n", .drip = "X: y\r\n"});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(operations::request(http_, "GET", "/healthz", {}, std::chrono::seconds(5)).status, 200);
}

// ---- all listeners ------------------------------------------------------------------------------------------------------------------

class AllListeners : public HostileCaller {
 protected:
  void SetUp() override { start_all({}); }

  void start_all(const Words& more) {
    const std::string keys = folder_.file("keys"), visibility_keys = folder_.file("visibility-keys");
    Words words{"--probe-address",
                "127.0.0.1:0",
                "--webhooks",
                "--webhook-address",
                "127.0.0.1:0",
                "--webhook-url",
                "https://127.0.0.1:1",
                "--webhook-cert-dir",
                keys,
                "--visibility",
                "--visibility-address",
                "127.0.0.1:0",
                "--visibility-cert-dir",
                visibility_keys,
                "--metrics",
                "--metrics-address",
                "127.0.0.1:0",
                "--metrics-cert-dir",
                keys};
    words.insert(words.end(), more.begin(), more.end());
    start(words);
    probes_ = port_of("probes listen");
    metrics_ = port_of("metrics listen");
    webhooks_ = port_of("webhooks listen");
    visibility_ = port_of("visibility listen");
    ASSERT_TRUE(program_->wait_for("metrics are served")) << program_->said();  // with the certificate of the webhooks
    ASSERT_TRUE(program_->wait_for("webhooks: MutatingWebhookConfiguration")) << program_->said();
    authorities_ = contents(keys + "/ca.crt");
    ASSERT_TRUE(eventually([&] { return probe("/healthz") == 200 && review().starts_with("HTTP/1.1 "); })) << program_->said();
    ASSERT_TRUE(eventually([&] { return !visible("GET /apis HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").empty(); }))
        << program_->said();
  }

  template <class Good>
  static bool eventually(Good good) {
    for (int i = 0; i < 1'000; ++i) {
      if (good()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }

  [[nodiscard]] int probe(const char* path) const { return operations::request(probes_, "GET", path, {}, std::chrono::seconds(5)).status; }
  /// An API server waits for 10 s from the first byte that it sends to the last that it gets.
  static constexpr auto patience = std::chrono::seconds(10);
  [[nodiscard]] std::string over_tls(std::uint16_t port, const std::string& request, const operations::CertificatePair& own = {},
                                     std::chrono::seconds limit = patience) const {
    return operations::ask_over_tls(port, authorities_, "127.0.0.1", request, own, {.patience = limit});
  }
  /// The same of the visibility API, which has a certificate of its own, made out to its Service.
  [[nodiscard]] std::string visible(const std::string& request) const {
    return operations::ask_over_tls(visibility_, contents(folder_.file("visibility-keys/ca.crt")),
                                    "hindsight-visibility-server.kueue-system.svc", request, {}, {.patience = patience});
  }
  static std::string post(const std::string& path, const std::string& body) {
    return "POST " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
  }
  /// What the webhook says to a harmless Job.
  [[nodiscard]] std::string review(const operations::CertificatePair& own = {}) const {
    return over_tls(webhooks_,
                    post("/mutate-batch-v1-job",
                         R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"DELETE",)"
                         R"("kind":{"group":"batch","version":"v1","kind":"Job"}}})"),
                    own);
  }
  [[nodiscard]] std::string metrics(const std::string& token) const {
    return over_tls(metrics_, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" +
                                  (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n") + "\r\n");
  }
  void expect_answers() const {
    EXPECT_EQ(probe("/healthz"), 200);
    EXPECT_NE(review().find("\"allowed\":true"), std::string::npos);
    EXPECT_NE(metrics("good").find("hindsight_"), std::string::npos);
    EXPECT_EQ(operations::request(http_, "GET", "/healthz", {}, std::chrono::seconds(5)).status, 200);
  }

  std::uint16_t probes_ = 0, metrics_ = 0, webhooks_ = 0, visibility_ = 0;
  std::string authorities_;
};

// 809 bytes that become 1 GiB, before anybody is asked who he is: no listener unpacks them.
TEST_F(AllListeners, AnEncodedBodyIsRefusedAndNotUnpacked) {
  const std::string bomb = attack::brotli_bomb();
  const auto request = [&](const char* line, const char* encoding) {
    return std::string(line) + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Encoding: " + encoding +
           "\r\nContent-Length: " + std::to_string(bomb.size()) + "\r\n\r\n" + bomb;
  };
  const struct {
    const char* what;
    std::uint16_t port;
    bool tls;
    std::vector<const char*> lines;
  } listeners[] = {{"http", http_, false, {"PUT /log-level", "GET /metrics", "POST /nowhere"}},
                   {"probes", probes_, false, {"GET /healthz", "PUT /healthz"}},
                   {"metrics", metrics_, true, {"GET /metrics", "POST /metrics"}},
                   {"webhooks", webhooks_, true, {"POST /mutate-batch-v1-job", "POST /validate-batch-v1-job", "POST /convert"}},
                   {"visibility", visibility_, true, {"GET /apis", "POST /apis/visibility.kueue.x-k8s.io/v1beta2"}}};
  for (const auto& listener : listeners)
    for (const char* line : listener.lines)
      for (const char* encoding : {"br", "gzip", "identity, br"}) {
        std::string answer;
        if (listener.port == visibility_) {
          answer = visible(request(line, encoding));
        } else if (listener.tls) {
          answer = over_tls(listener.port, request(line, encoding));
        } else {
          operations::RawClient client(listener.port);
          client.send(request(line, encoding));
          answer = client.read_all();
        }
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 415 "))
            << listener.what << ": " << line << ", " << encoding << ": " << answer.substr(0, 200);
      }
  expect_answers();
  EXPECT_LT(attack::figures_of(program_->id()).resident_bytes_max, 200U << 20U);
}

TEST_F(AllListeners, MetricsAreForThoseWhoMaySeeThem) {
  EXPECT_TRUE(metrics("").starts_with("HTTP/1.1 401 "));
  EXPECT_TRUE(metrics("stranger").starts_with("HTTP/1.1 401 "));
  EXPECT_TRUE(metrics("useless").starts_with("HTTP/1.1 403 "));
  const std::string good = metrics("good");
  EXPECT_TRUE(good.starts_with("HTTP/1.1 200 ")) << good.substr(0, 300);
  EXPECT_NE(good.find("hindsight_writes_total"), std::string::npos) << good;
  // Asked again at once, nobody has to be looked up.
  const auto reviews = server_.reviews();
  for (int i = 0; i < 20; ++i)
    for (const char* token : {"", "stranger", "useless", "good"}) (void)metrics(token);
  EXPECT_EQ(server_.reviews(), reviews);
  // There is nothing else.
  EXPECT_TRUE(over_tls(metrics_, "GET /log-level HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").starts_with("HTTP/1.1 404 "));
  EXPECT_EQ(operations::request(probes_, "GET", "/metrics").status, 404);
  EXPECT_EQ(operations::request(probes_, "PUT", "/log-level", "debug").status, 404);
}

TEST_F(AllListeners, AFloodOfTokensCostsTheApiServerLittleAndKeepsNobodyOut) {
  EXPECT_TRUE(metrics("good").starts_with("HTTP/1.1 200 "));
  const auto before = server_.reviews();
  std::atomic<int> asked{0}, turned_away{0};
  std::vector<std::thread> flood;
  for (int t = 0; t < 4; ++t)
    flood.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        const std::string answer = metrics("guess-" + std::to_string(t) + "-" + std::to_string(i));
        asked.fetch_add(1);
        if (answer.starts_with("HTTP/1.1 429 ")) turned_away.fetch_add(1);
      }
    });
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(metrics("good").starts_with("HTTP/1.1 200 "));
  for (auto& one : flood) one.join();
  EXPECT_EQ(asked.load(), 240);
  EXPECT_GT(turned_away.load(), 100);
  EXPECT_LT(server_.reviews() - before, 140U);
  EXPECT_NE(metrics("good").find("hindsight_"), std::string::npos);
}

TEST_F(AllListeners, NoCallerHoldsUpAnother) {
  expect_answers();
  const auto before = attack::figures_of(program_->id());
  const std::string head = "POST /mutate-batch-v1-job HTTP/1.1\r\nHost: x\r\n";
  {
    std::vector<std::unique_ptr<attack::Holder>> holders;
    std::vector<std::unique_ptr<attack::Churner>> churners;
    std::vector<std::string> said;  // where TLS is spoken it is no handshake
    for (const auto& bad : attack::bad_requests()) said.push_back(bad.bytes);
    for (const auto port : {http_, probes_, metrics_, webhooks_, visibility_}) {
      const bool tls = port != http_ && port != probes_;
      const auto hold = [&](std::size_t n, attack::Grip grip) {
        holders.push_back(std::make_unique<attack::Holder>(port, n, std::move(grip)));
      };
      hold(100, {});
      if (port == probes_ || port == webhooks_) hold(100, {.from = "127.0.1.1", .addresses = 100});
      hold(30, {.opening = attack::half_a_client_hello(), .drip = "r"});
      hold(30, {.opening = "GET /metrics HTTP/1.1\r\nHost: x\r\n", .drip = "X: y\r\n", .tls = tls});
      hold(30, {.opening = head + "Content-Length: 200000\r\n\r\n", .drip = "{", .tls = tls});
      hold(30, {.opening = head + "Transfer-Encoding: chunked\r\n\r\n", .drip = "1\r\n{\r\n", .tls = tls});
      hold(30, {.opening = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", .tls = tls, .deaf = true});
      churners.push_back(std::make_unique<attack::Churner>(port, said));
    }
    for (int i = 0; i < 10; ++i) expect_answers();
    EXPECT_TRUE(visible("GET /apis HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").starts_with("HTTP/1.1 "));
  }
  expect_answers();
  EXPECT_TRUE(eventually([&] { return attack::figures_of(program_->id()).descriptors <= before.descriptors + 2; }))
      << attack::figures_of(program_->id()).descriptors << " after " << before.descriptors;
  EXPECT_EQ(attack::figures_of(program_->id()).threads, before.threads);
#ifdef __SANITIZE_ADDRESS__
  // So much of what was freed, so that its use is found; and for each eight bytes of it and of all others one of its own.
  constexpr std::uint64_t kept_by_the_sanitizer = (256U << 20U) + ((256U + 150U) << 20U) / 8;
#else
  constexpr std::uint64_t kept_by_the_sanitizer = 0;
#endif
  EXPECT_LT(attack::figures_of(program_->id()).resident_bytes_max, before.resident_bytes_max + (150U << 20U) + kept_by_the_sanitizer);
  program_->signal(SIGTERM);
  EXPECT_EQ(program_->wait().status, 0);
}

// A body may have 32 MiB, and one of the worst kind would take two gigabytes to read.
TEST_F(AllListeners, TheMemoryOfWebhooksHasABound) {
  const auto before = attack::figures_of(program_->id());
  const auto filled = [](std::size_t bytes, const std::string& begin, const char* item, const std::string& end) {
    std::string out = begin;
    while (out.size() + end.size() < bytes) out += item;
    out.back() = ' ';  // for its comma
    return out + end;
  };
  const std::string conversion =
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u","desiredAPIVersion":"kueue.x-k8s.io/v1beta1","objects":[)";
  const std::string review =
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","kind":{"group":"kueue.x-k8s.io","version":"v1beta2","kind":"ClusterQueue"},"object":{"metadata":{"name":"c"},"spec":{"resourceGroups":[)";
  const std::string workload =
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w","labels":{"a":"b","c":"d"}}},)";
  std::vector<std::string> bodies;
  bodies.push_back(post("/convert", filled(32U << 20U, conversion, workload.c_str(), "]}}")));
  bodies.push_back(post("/convert", filled(32U << 20U, conversion, "[],", "]}}")));
  bodies.push_back(post("/convert", filled(33U << 20U, conversion, "{},", "]}}")));
  bodies.push_back(post("/validate-kueue-x-k8s-io-v1beta2-clusterqueue", filled(8U << 20U, review, "{},", "]}}}}")));
  bodies.push_back(post("/validate-kueue-x-k8s-io-v1beta2-clusterqueue", filled(1U << 20U, review, "{},", "]}}}}")));
  bodies.push_back(post("/mutate-kueue-x-k8s-io-v1beta2-clusterqueue", filled(250U << 10U, review, "{\"a\":[]},", "]}}}}")));
  std::atomic<int> answered{0};
  std::vector<std::thread> heavy;
  for (std::size_t t = 0; t < 6; ++t)
    heavy.emplace_back([&, t] {
      for (std::size_t i = 0; i < 3; ++i)
        answered += over_tls(webhooks_, bodies[(t + i) % bodies.size()], {}, std::chrono::seconds(60)).starts_with("HTTP/1.1 ") ? 1 : 0;
    });
  for (int i = 0; i < 10; ++i) expect_answers();
  for (auto& one : heavy) one.join();
  EXPECT_GT(answered.load(), 0);
  expect_answers();
  EXPECT_LT(attack::figures_of(program_->id()).resident_bytes_max, before.resident_bytes_max + (900U << 20U));
}

/// Somebody was in the folders of the certificates before, and has planted links.
class PlantedLinks : public AllListeners {
 protected:
  void SetUp() override {
    write(victim_, "precious");
    std::filesystem::permissions(victim_, std::filesystem::perms(0644));
    for (const char* folder : folders) {
      std::filesystem::create_directory(folder_.file(folder));
      for (const char* name : names) {
        const bool dangling = std::string_view(name) == "ca.key";
        std::filesystem::create_symlink(dangling ? folder_.file("nowhere") : victim_, file(folder, name));
      }
    }
    start_all({});
  }
  [[nodiscard]] std::string file(const char* folder, const char* name) const { return folder_.file(std::string(folder) + "/" + name); }

  static constexpr const char* folders[] = {"keys", "visibility-keys"};
  static constexpr const char* names[] = {"ca.crt", "ca.key", "tls.crt", "tls.key"};
  std::string victim_ = folder_.file("victim");
};

TEST_F(PlantedLinks, AreNotWrittenThrough) {
  expect_answers();
  EXPECT_EQ(contents(victim_), "precious");
  EXPECT_EQ(std::filesystem::status(victim_).permissions(), std::filesystem::perms(0644));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("nowhere")));
  for (const char* folder : folders)
    for (const char* name : names) {
      const auto made = std::filesystem::symlink_status(file(folder, name));
      EXPECT_TRUE(std::filesystem::is_regular_file(made)) << folder << "/" << name;
      EXPECT_EQ(made.permissions(), std::filesystem::perms(0600)) << folder << "/" << name;
    }
}

class KnownApiServer : public AllListeners {
 protected:
  void SetUp() override {
    start_all({"--webhook-client-ca", write(folder_.file("client-ca.crt"), known_.certificate), "--webhook-client-name", "kube-apiserver"});
  }
  operations::CertificatePair known_ = operations::self_signed_client("kube-apiserver");
};

TEST_F(KnownApiServer, IsTheOnlyOneWhoseReviewsAreAnswered) {
  EXPECT_TRUE(review().starts_with("HTTP/1.1 401 ")) << review();
  EXPECT_NE(review(known_).find("\"allowed\":true"), std::string::npos) << review(known_);
  EXPECT_EQ(review(operations::self_signed_client("kube-apiserver")).find("HTTP/1.1 200"), std::string::npos);
  // The API server has no certificate for conversions.
  EXPECT_TRUE(over_tls(webhooks_, post("/convert", "{}")).starts_with("HTTP/1.1 400 "));
  // The authorities are read again when they change.
  const auto next = operations::self_signed_client("kube-apiserver"), other = operations::self_signed_client("somebody");
  write(folder_.file("client-ca.crt"), next.certificate + other.certificate);
  EXPECT_TRUE(eventually([&] { return review(next).find("\"allowed\":true") != std::string::npos; }));
  EXPECT_EQ(review(known_).find("HTTP/1.1 200"), std::string::npos);
  EXPECT_TRUE(review(other).starts_with("HTTP/1.1 403 ")) << review(other);
  // A file of which only the beginning would be taken is not taken.
  write(folder_.file("client-ca.crt"), other.certificate + std::string(2'000'000, '\n') + next.certificate);
  EXPECT_TRUE(program_->wait_for("it has more than 1048576 bytes")) << program_->said();
  EXPECT_NE(review(next).find("\"allowed\":true"), std::string::npos) << review(next);
}

// Connections are the one thing that callers can make a process open. They leave enough for the log and for who asks how we are.
TEST_F(HostileCaller, CallersDoNotTakeAllDescriptors) {
  start({"--probe-address", "127.0.0.1:0"}, {.descriptors_max = 150});
  const auto probes = port_of("probes listen");
  const attack::Holder one(http_, 200, {}), two(probes, 200, {.from = "127.0.0.67"});
  EXPECT_TRUE(program_->wait_for("the domain runs")) << program_->said();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(operations::request(probes, "GET", "/healthz", {}, std::chrono::seconds(5)).status, 200);
  EXPECT_EQ(operations::request(http_, "GET", "/healthz", {}, std::chrono::seconds(5)).status, 200);
}

}  // namespace
}  // namespace hindsight::test
