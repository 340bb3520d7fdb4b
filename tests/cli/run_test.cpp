// `run` as a process: the quick start, and the control plane against an API server that the test plays: configuration, metrics, Kubernetes
// Events, and servers that are not there or do not want us.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "tests/cli/worlds.hpp"
#include "tests/connectors/kubernetes/fake_api_server.hpp"
#include "tests/operations/raw_client.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::test {
namespace {

using connectors::kubernetes::testing::Exchange;
using connectors::kubernetes::testing::FakeApiServer;

std::string kubeconfig(const std::string& server) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: \"" + server +
         "\"}}]\nusers: [{name: u, user: {token: secret}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n";
}

/// As much of an API server as one Workload needs: lists, watches that stay silent, merge patches, and what was written.
class Api {
 public:
  Api() : server_([this](Exchange& e) { serve(e); }) {
    put("/api/v1/namespaces", {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "default"}, {"uid", "n-1"}}}});
    put(group + "/resourceflavors", object("ResourceFlavor", "default", "", Json::object()));
    put(group + "/clusterqueues",
        object(
            "ClusterQueue", "cq", "",
            Json::parse(
                R"({"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"default","resources":[{"name":"cpu","nominalQuota":"4"}]}]}]})")));
    put(group + "/namespaces/default/localqueues", object("LocalQueue", "lq", "default", {{"clusterQueue", "cq"}}));
    put(group + "/namespaces/default/workloads",
        object(
            "Workload", "w1", "default",
            Json::parse(
                R"({"queueName":"lq","active":true,"priority":0,"podSets":[{"name":"main","count":1,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]})")));
  }

  [[nodiscard]] FakeApiServer& server() { return server_; }
  /// Waits until Kubernetes Events of all these reasons were written.
  [[nodiscard]] bool wait_for_events(const std::set<std::string>& reasons) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(120), [&] {
      std::set<std::string> seen;
      for (const auto& e : events_) seen.insert(e.value("reason", ""));
      return std::includes(seen.begin(), seen.end(), reasons.begin(), reasons.end());
    });
  }
  [[nodiscard]] std::vector<Json> events() {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  /// Waits until the object is as `good` wants it.
  [[nodiscard]] bool wait_until(const std::string& path, const std::function<bool(const Json&)>& good) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(120), [&] { return good(objects_[path]); });
  }

  /// How many arrived.
  [[nodiscard]] std::size_t writes() {
    const std::lock_guard lock(mutex_);
    return writes_;
  }
  [[nodiscard]] bool wait_for_writes(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(120), [&] { return writes_ >= count; });
  }
  std::atomic<bool> busy{false};         ///< Writes are sent away, but those of leases.
  std::atomic<bool> lease_hangs{false};  ///< Whoever asks about a lease gets no answer.

  static inline const std::string group = "/apis/kueue.x-k8s.io/v1beta2";

 private:
  static Json object(const std::string& kind, const std::string& name, const std::string& namespace_, Json spec) {
    Json out{{"apiVersion", "kueue.x-k8s.io/v1beta2"},
             {"kind", kind},
             {"metadata", {{"name", name}, {"uid", "uid-" + name}, {"generation", 1}, {"creationTimestamp", "2026-01-01T00:00:00Z"}}}};
    if (!namespace_.empty()) out["metadata"]["namespace"] = namespace_;
    if (!spec.empty()) out["spec"] = std::move(spec);
    return out;
  }
  void put(const std::string& collection, Json o) {
    o["metadata"]["resourceVersion"] = std::to_string(++version_);
    const std::string path = collection + "/" + o["metadata"]["name"].get<std::string>();
    objects_[path] = std::move(o);
  }

  void serve(Exchange& e) {
    if (e.method == "GET" && e.query.count("watch") > 0) {
      e.begin_stream();
      e.wait_for_end();
      return;
    }
    const bool is_lease = e.path.find("/leases") != std::string::npos;
    if (is_lease && lease_hangs) return e.wait_for_end();
    std::unique_lock lock(mutex_);
    if (e.method != "GET" && !is_lease) {
      ++writes_;
      changed_.notify_all();
      if (busy) return e.answer(429, R"({"kind":"Status","code":429,"message":"busy"})");
    }
    if (e.method == "POST") {
      Json body = Json::parse(e.body);
      body["metadata"]["resourceVersion"] = std::to_string(++version_);
      if (e.path.ends_with("/events")) events_.push_back(body);
      changed_.notify_all();
      return e.answer(201, body.dump());
    }
    const std::string path = e.path.ends_with("/status") ? e.path.substr(0, e.path.size() - 7) : e.path;
    const auto known = objects_.find(path);
    if (e.method == "PATCH" && known != objects_.end()) {
      known->second.merge_patch(Json::parse(e.body));
      known->second["metadata"]["resourceVersion"] = std::to_string(++version_);
      changed_.notify_all();
      return e.answer(200, known->second.dump());
    }
    if (e.method == "PATCH") return e.answer(200, e.body);
    if (known != objects_.end()) return e.answer(200, known->second.dump());
    if (e.path.ends_with("/kube-system")) return e.answer(403, R"({"kind":"Status","code":403,"message":"no"})");
    // a list: everything whose collection has this name
    const std::string plural = "/" + e.path.substr(e.path.rfind('/') + 1) + "/";
    Json items = Json::array();
    for (const auto& [where, o] : objects_)
      if (where.find(plural) != std::string::npos &&
          where.find(plural) + plural.size() + o["metadata"]["name"].get<std::string>().size() == where.size())
        items.push_back(o);
    e.answer(200,
             Json{{"kind", "List"}, {"apiVersion", "v1"}, {"metadata", {{"resourceVersion", std::to_string(version_)}}}, {"items", items}}
                 .dump());
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Json> objects_;
  std::vector<Json> events_;
  std::size_t writes_ = 0;
  int version_ = 0;
  FakeApiServer server_;
};

class Run : public ::testing::Test {
 protected:
  Words words(const std::string& server, const Words& more = {}) {
    Words out{
        "run",          "--kubeconfig", write(folder_.file("kubeconfig"), kubeconfig(server)), "--log", "sqlite:" + log_, "--no-lease",
        "--durability", "off"};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
  static std::uint16_t port_of(Program& program) {
    EXPECT_TRUE(program.wait_for("HTTP listens")) << program.said();
    EXPECT_TRUE(program.wait_for("127.0.0.1:")) << program.said();
    const std::string said = program.said();
    const auto line = said.substr(said.find("HTTP listens"));
    const auto at = line.find("127.0.0.1:");
    return static_cast<std::uint16_t>(std::stoi(line.substr(at + 10)));
  }
  TemporaryFolder folder_;
  std::string log_ = folder_.file("run.db");
};

// ---- metrics, Events, configuration -----------------------------------------------------------------------------------------------------

// BA-27, BA-191
TEST_F(Run, AdmitsCountsTellsAndRecordsItsConfiguration) {
  Api api;
  const std::string config =
      write(folder_.file("config.yaml"),
            "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nmetrics: {enableClusterQueueResources: true}\n"
            "waitForPodsReady: {timeout: 7m}\n");
  Program run(words(api.server().url(), {"--config", config}));
  const auto port = port_of(run);
  ASSERT_TRUE(api.wait_until(Api::group + "/namespaces/default/workloads/w1", [](const Json& w) {
    return w.contains("status") && w["status"].contains("admission");
  })) << run.said();
  ASSERT_TRUE(api.wait_for_events({"QuotaReserved", "Admitted"})) << run.said();
  for (const auto& e : api.events()) {
    EXPECT_EQ(e["involvedObject"]["name"], "w1");
    EXPECT_EQ(e["type"], "Normal");
  }

  const auto get = [&](const std::string& path) { return operations::request(port, "GET", path).body; };
  const auto metrics = get("/metrics");
  for (const char* line :
       {R"(kueue_admitted_workloads_total{cluster_queue="cq",priority_class="",replica_role="standalone"} 1)",
        R"(kueue_reserving_active_workloads{cluster_queue="cq",replica_role="standalone"} 1)",
        R"(kueue_cluster_queue_nominal_quota{cluster_queue="cq",cohort="",flavor="default",replica_role="standalone",resource="cpu"} 4)",
        "# TYPE kueue_admission_wait_time_seconds histogram", "# TYPE hindsight_log_position gauge"})
    EXPECT_NE(metrics.find(line), std::string::npos) << line << "\nin:\n" << metrics;
  EXPECT_NE(get("/readyz").find(R"("status":"ready")"), std::string::npos) << get("/readyz");
  EXPECT_NE(get("/healthz").find(R"("status":"ok")"), std::string::npos);

  run.signal(SIGTERM);
  const Outcome done = run.wait();
  EXPECT_EQ(done.status, 0) << done.err;
  const auto observed = text_of(on(log_, {"log", "cat", "--kind", "ConfigurationObserved", "-o", "json"}));
  ASSERT_EQ(std::count(observed.begin(), observed.end(), '\n'), 1) << observed;
  EXPECT_NE(observed.find("7m"), std::string::npos) << observed;
  EXPECT_TRUE(json_of(on(log_, {"verify"}))["clean"]);
  EXPECT_EQ(json_of(on(log_, {"get", "workloads", "w1"}))["status"]["admission"]["clusterQueue"], "cq");
}

// All that it wants to write waits for a busy server, and then the lease goes: what waits is not sent any more.
TEST_F(Run, ACopyThatLosesItsLeaseWritesNothingMoreAndEnds) {
  Api api;
  api.busy = true;
  const std::string config = write(folder_.file("config.yaml"),
                                   "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
                                   "leaderElection: {leaderElect: true, leaseDuration: 30s, renewDeadline: 3s, retryPeriod: 500ms}\n");
  Words line = words(api.server().url(), {"--config", config});
  std::erase(line, "--no-lease");
  Program run(line);
  ASSERT_TRUE(run.wait_for("the lease is ours")) << run.said();
  ASSERT_TRUE(api.wait_for_writes(5)) << run.said();
  api.lease_hangs = true;
  ASSERT_TRUE(run.wait_for("the lease is not ours")) << run.said();
  // What had left before is counted a moment later.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto before = api.writes();
  const Outcome done = run.wait();
  EXPECT_EQ(done.status, 1) << done.err;
  EXPECT_NE(done.err.find("the lease was lost"), std::string::npos) << done.err;
  EXPECT_EQ(api.writes(), before);
}

// A restart counts and tells nothing again.
TEST_F(Run, ARestartGoesOnWithoutTellingTwice) {
  Api api;
  std::size_t events = 0;
  for (int round = 0; round < 2; ++round) {
    Program run(words(api.server().url()));
    const auto port = port_of(run);
    ASSERT_TRUE(api.wait_for_events({"QuotaReserved", "Admitted"})) << run.said();
    std::string metrics;
    for (int i = 0; i < 1200 && metrics.find("kueue_reserving_active_workloads{cluster_queue=\"cq\",replica_role=\"standalone\"} 1") ==
                                    std::string::npos;
         ++i) {
      metrics = operations::request(port, "GET", "/metrics").body;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_NE(metrics.find("kueue_reserving_active_workloads"), std::string::npos);
    EXPECT_EQ(metrics.find("kueue_admitted_workloads_total{") == std::string::npos, round == 1) << metrics;
    run.signal(SIGTERM);
    EXPECT_EQ(run.wait().status, 0);
    if (round == 0) events = api.events().size();
  }
  EXPECT_EQ(api.events().size(), events);
  EXPECT_EQ(json_of(on(log_, {"log", "stats"}))["epochs"].size(), 2U);
  EXPECT_TRUE(json_of(on(log_, {"verify"}))["clean"]);
}

// BA-27, BA-28
TEST_F(Run, ABadConfigurationNamesFileLineAndField) {
  const auto refused = [&](const std::string& text, const Words& parts) {
    const std::string file = write(folder_.file("config.yaml"), text);
    expect_error(hindsight(words("http://127.0.0.1:1", {"--config", file})), 2, parts);
    EXPECT_FALSE(std::filesystem::exists(log_));
  };
  const std::string head = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";
  refused(head + "waitForPodsRedy: {}\n",
          {"config.yaml:3: Configuration: waitForPodsRedy: unknown field; did you mean \"waitForPodsReady\"?"});
  refused(head + "waitForPodsReady: {timeout: soon}\n", {"config.yaml:3: Configuration: waitForPodsReady.timeout", "\"soon\""});
  refused(head + "fairSharing: 3\n", {"fairSharing: Invalid value: 3: must be an object"});
  refused("kind: Job\n", {"kind: Invalid value: \"Job\": must be Configuration"});
  refused("a: [", {"config.yaml", "line 1"});
  refused(head + "featureGates: {NoSuchGate: true}\n", {"NoSuchGate"});
  expect_error(hindsight(words("http://127.0.0.1:1", {"--config", folder_.file("absent.yaml")})), 2,
               {"absent.yaml: No such file or directory"});
  expect_error(hindsight(words("http://127.0.0.1:1", {"--feature-gates", "NoSuchGate=true"})), 2,
               {"--feature-gates: NoSuchGate: unknown feature gate"});
}

// ---- servers
// ------------------------------------------------------------------------------------------------------------------------------

TEST_F(Run, AServerThatCannotBeReachedIsToldOnceAndGivenUp) {
  Api api;
  api.server().close();
  const Outcome done = hindsight(words(api.server().url(), {"--connect-timeout", "1"}));
  expect_error(done, 1, {"cannot reach the API server " + api.server().url() + " for 1 s"});
  EXPECT_FALSE(std::filesystem::exists(log_));
}

TEST_F(Run, AServerThatComesLateIsWaitedFor) {
  Api api;
  api.server().close();
  Program run(words(api.server().url(), {"--connect-timeout", "0"}));
  EXPECT_TRUE(run.wait_for("cannot reach the API server " + api.server().url())) << run.said();
  api.server().reopen();
  EXPECT_TRUE(api.wait_for_events({"Admitted"})) << run.said();
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait().status, 0);
}

TEST_F(Run, AStopWhileItWaitsForAServerIsNoFailure) {
  Api api;
  api.server().close();
  Program run(words(api.server().url(), {"--connect-timeout", "0"}));
  EXPECT_TRUE(run.wait_for("cannot reach the API server")) << run.said();
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait().status, 0);
}

TEST_F(Run, WrongCredentialsAreAFailureThatSaysSo) {
  FakeApiServer server([](Exchange& e) {
    e.answer(401, R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401})");
  });
  expect_error(hindsight(words(server.url())), 1, {"the API server " + server.url() + " refuses the credentials: found status 401"});
  EXPECT_FALSE(std::filesystem::exists(log_));
}

// Whatever stands between us and the API server may answer in its name.
TEST_F(Run, WhatAServerSaysForgesNoLine) {
  const std::string said =
      "evil\x1b]0;title\x07\nhindsight: error: forged\r\n2026-01-01T00:00:00.000000Z ERROR forged \xc2\x9b"
      "31m";
  FakeApiServer server([&](Exchange& e) {
    if (e.path.ends_with("/namespaces/kube-system")) return e.answer(200, R"({"kind":"Namespace","metadata":{"name":"kube-system"}})");
    e.answer(403, Json{{"kind", "Status"}, {"code", 403}, {"reason", said}, {"message", said}}.dump());
  });
  for (const bool webhooks : {false, true}) {
    const Words hooks{"--webhooks", "--webhook-address", "127.0.0.1:0", "--webhook-url", "https://127.0.0.1:1"};
    Program program(words(server.url(), webhooks ? hooks : Words()));
    EXPECT_TRUE(program.wait_for("evil\\u001b]0;title\\u0007\\nhindsight")) << program.said();
    program.signal(SIGTERM);
    const Outcome done = program.wait();
    std::istringstream lines(done.err);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(is_printable(line)) << printable(line);
      EXPECT_FALSE(line.starts_with("hindsight: error: forged") || line.starts_with("2026-01-01T00:00:00.000000Z")) << line;
    }
  }
}

TEST_F(Run, AKubeconfigThatIsNoneNamesWhatIsMissing) {
  const auto refused = [&](const std::string& text, const Words& more, const Words& parts) {
    Words all{"run", "--kubeconfig", write(folder_.file("kubeconfig"), text), "--log", "sqlite:" + log_};
    all.insert(all.end(), more.begin(), more.end());
    expect_error(hindsight(all), 2, parts);
  };
  refused("kind: Job\n", {}, {"kubeconfig", "kind: found \"Job\", allowed: Config"});
  refused("a: [", {}, {"kubeconfig"});
  refused(kubeconfig("http://127.0.0.1:1"), {"--context", "other"}, {"--context: found \"other\", no such context; allowed: \"c\""});
  expect_error(hindsight({"run", "--kubeconfig", folder_.file("absent")}), 2,
               {"absent, which does not exist; allowed: a file that can be read"});
}

// ---- logs
// -----------------------------------------------------------------------------------------------------------------------------------

TEST_F(Run, ASecondProcessOnItsLogNamesTheFirst) {
  Api api;
  Program first(words(api.server().url()));
  ASSERT_TRUE(api.wait_for_events({"Admitted"})) << first.said();
  expect_error(hindsight(words(api.server().url())), 1, {"log " + log_, std::to_string(first.id())});
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait().status, 0);
  EXPECT_TRUE(json_of(on(log_, {"log", "check"}))["findings"].empty());
}

TEST_F(Run, ALogThatIsNoneIsLeftAlone) {
  Api api;
  write(log_, small_world);
  expect_error(hindsight(words(api.server().url())), 1, {"log " + log_ + ": not a Hindsight log"});
  EXPECT_EQ(contents(log_), small_world);
}

// ---- quick start
// ----------------------------------------------------------------------------------------------------------------------------

/// Carries out each command that the quick start prints, in the folder where it ran and with the PATH that it had.
void expect_hints_to_work(const Outcome& done, const std::string& folder, const std::string& path, const std::string& program) {
  std::istringstream lines(done.out.substr(done.out.find("Try:")));
  int tried = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) continue;
    EXPECT_TRUE(line.starts_with("  " + program + " ")) << line;
    const std::string said = folder + "/said";
    const std::string command = "cd '" + folder + "' && export PATH='" + path + "' && { " + line + "; } > '" + said + "' 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << line << "\n" << contents(said);
    ++tried;
  }
  EXPECT_GE(tried, 8) << done.out;
}

TEST_F(Run, TheQuickStartEndsByItselfAndItsHintsWorkAsPrinted) {
  const std::string examples = std::filesystem::absolute("examples/quickstart").string();
  const std::filesystem::path binary = std::filesystem::canonical(HINDSIGHT_BINARY);
  const std::string elsewhere = folder_.file("other place");  // a name that a shell would take for two words
  std::filesystem::create_directory(elsewhere);
  const std::string plain = "/usr/bin:/bin";
  const std::string with_us = plain + ":" + binary.parent_path().string();

  const Outcome done = hindsight({"run", "--quickstart", examples}, {.environment = {{"PATH", plain}}, .folder = elsewhere});
  ASSERT_EQ(done.status, 0) << done.err;
  for (const char* part : {"preempt", "ExceedsMaxQuota", "finished: Succeeded", "Try:"})
    EXPECT_NE(done.out.find(part), std::string::npos) << part;
  expect_hints_to_work(done, elsewhere, plain, binary.string());

  const Outcome beside = hindsight({"run", "--quickstart", examples, "--log", "sqlite:" + elsewhere + "/my log.db"},
                                   {.environment = {{"PATH", plain}}, .folder = binary.parent_path().parent_path().string()});
  ASSERT_EQ(beside.status, 0) << beside.err;
  const std::string below = binary.parent_path().filename().string() + "/" + binary.filename().string();
  EXPECT_NE(beside.out.find("\n  " + below + " verify --log '" + elsewhere + "/my log.db'\n"), std::string::npos) << beside.out;

  const Outcome by_name = hindsight({"run", "--quickstart", examples}, {.environment = {{"PATH", with_us}}, .folder = elsewhere});
  ASSERT_EQ(by_name.status, 0) << by_name.err;
  expect_hints_to_work(by_name, elsewhere, with_us, "hindsight");
}

/// Workloads of a log that are Options, with --at that moment.
std::size_t options_at(const std::string& log, const std::string& at) {
  std::size_t out = 0;
  const Json list = json_of(on(log, {"get", "workloads", "-A", "--at", at}));
  for (const auto& w : list["items"]) out += w["metadata"]["name"].get<std::string>().find("-option-") != std::string::npos ? 1 : 0;
  return out;
}

// A scenario says what it is played under, wherever it is played.
TEST_F(Run, TheQuickStartPlaysAScenarioUnderItsOwnFeatureGates) {
  const std::string scenario = "examples/concurrent-admission";
  ASSERT_EQ(hindsight({"run", "--quickstart", scenario, "--log", "sqlite:" + log_}).status, 0);
  EXPECT_GT(options_at(log_, "2026-01-01T00:00:10Z"), 10U);
  const Outcome both = hindsight({"run", "--quickstart", scenario, "examples/quickstart", "--log", "sqlite:" + folder_.file("both.db")});
  EXPECT_NE(both.status, 0);
  EXPECT_NE(both.err.find("--quickstart: found 1 scenario and manifests; allowed: one scenario, or manifests"), std::string::npos)
      << both.err;
}

TEST_F(Run, ManifestsAreSimulatedUnderTheFeatureGatesThatAreAskedFor) {
  std::string world = small_world;
  world.replace(world.find("namespaceSelector: {}"), 21, "namespaceSelector: {}\n  concurrentAdmission: {onSuccess: RemoveLower}");
  const std::string file = write(folder_.file("world.yaml"), world + job("j", "1"));
  for (const bool on : {false, true}) {
    const std::string log = folder_.file(on ? "on.db" : "off.db");
    Words words{"simulate", file, "--log", "sqlite:" + log};
    if (on) words.insert(words.end(), {"--feature-gates", "ConcurrentAdmission=true"});
    text_of(words);
    EXPECT_EQ(options_at(log, "2026-01-01T00:00:10Z"), on ? 1U : 0U);
  }
  const std::string config =
      write(folder_.file("config.yaml"),
            "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfeatureGates: {ConcurrentAdmission: true}\n");
  text_of({"simulate", file, "--config", config, "--log", "sqlite:" + log_});
  EXPECT_EQ(options_at(log_, "2026-01-01T00:00:10Z"), 1U);
  const Outcome unknown = hindsight({"simulate", file, "--feature-gates", "ConcurrentAdmision=true"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("ConcurrentAdmision"), std::string::npos) << unknown.err;
}

TEST_F(Run, TheQuickStartTakesAConfigurationThatReplaysKnow) {
  const std::string config = write(
      folder_.file("config.yaml"),
      "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairSharing: {preemptionStrategies: [LessThanInitialShare]}\n");
  ASSERT_EQ(hindsight({"run", "--quickstart", "examples/quickstart", "--config", config, "--log", "sqlite:" + log_}).status, 0);
  const auto observed = text_of(on(log_, {"log", "cat", "--kind", "ConfigurationObserved", "-o", "json"}));
  EXPECT_NE(observed.find("fairSharing"), std::string::npos) << observed;
  EXPECT_TRUE(json_of(on(log_, {"verify"}))["clean"]);
}

}  // namespace
}  // namespace hindsight::test
