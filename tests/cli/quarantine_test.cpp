// What is set aside, with the real binary: objects of tenants that nobody can read, on a simulated cluster and against an API server that
// the test plays; and a record that no entity can take, from the message with which `run` gives up to the command that it names and on.

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include "events/record.hpp"
#include "events/sqlite_log.hpp"
#include "tests/cli/worlds.hpp"
#include "tests/connectors/kubernetes/fake_api_server.hpp"
#include "tests/operations/raw_client.hpp"

namespace hindsight::test {
namespace {

using connectors::kubernetes::testing::Exchange;
using connectors::kubernetes::testing::FakeApiServer;

const std::string gated_by = "kueue.x-k8s.io/admission-gated-by";

// ---- on a simulated cluster -----------------------------------------------------------------------------------------------------------

std::string job_with(const std::string& name, const std::string& annotation, const std::string& value) {
  auto out = job(name, "1");
  const std::string at = "hindsight.dev/run-seconds";
  return out.replace(out.find(at), at.size(), annotation + ": '" + value + "', " + at);
}

class SetAside : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string log_ = folder_.file("log.db");
};

/// A text of a tenant that used to be decided about for ever: the log stays small, the others run.
TEST_F(SetAside, AGateOfFortyKilobytesStopsItsOwnJobOnly) {
  const auto manifests = write(folder_.file("world.yaml"), small_world + job_with("hostile", gated_by, std::string(40'000, 'g')) +
                                                               job("honest", "3") + job("late", "2", 10, 30));
  text_of({"simulate", manifests, "--log", "sqlite:" + log_});
  EXPECT_LT(std::filesystem::file_size(log_), 1'000'000U);
  const auto items = json_of(on(log_, {"get", "quarantined", "-A"}))["items"];
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0]["metadata"]["name"], "hostile") << items[0];
  EXPECT_NE(items[0]["reason"].get<std::string>().find("found 40000 bytes, allowed: at most 4096 bytes"), std::string::npos) << items[0];
  EXPECT_EQ(json_of(on(log_, {"get", "wl", "--status", "finished"}))["items"].size(), 2U);
  EXPECT_TRUE(json_of(on(log_, {"verify"}))["clean"]);
  const auto table = text_of(on(log_, {"get", "quarantined"}));
  EXPECT_NE(table.find("hostile"), std::string::npos) << table;
  EXPECT_NE(text_of(on(log_, {"why", "job/hostile"})).find("4096"), std::string::npos);
  EXPECT_NE(text_of(on(log_, {"history", "job/hostile"})).find("set aside"), std::string::npos)
      << text_of(on(log_, {"history", "job/hostile"}));
}

/// A long text within the limits ends in a condition, and is decided once.
TEST_F(SetAside, TheLongestGateIsDecidedOnce) {
  std::string gates;
  for (int i = 0; i < 64; ++i) gates += (i == 0 ? "" : ",") + std::string(50, 'a') + ".io/" + std::to_string(100 + i);
  const auto manifests = write(folder_.file("world.yaml"), small_world + job_with("gated", gated_by, gates) + job("honest", "3"));
  text_of({"simulate", manifests, "--log", "sqlite:" + log_});
  EXPECT_TRUE(json_of(on(log_, {"get", "quarantined", "-A"}))["items"].empty());
  const auto decided = text_of(on(log_, {"log", "cat", "--kind", "Decisions"}));
  std::size_t told = 0;
  for (auto at = decided.find("AdmissionGated"); at != std::string::npos; at = decided.find("AdmissionGated", at + 1)) ++told;
  EXPECT_LE(told, 2U) << decided;
  EXPECT_TRUE(json_of(on(log_, {"verify"}))["clean"]);
}

TEST_F(SetAside, NoShapeOfAJobEndsTheProcess) {
  const std::string deep = std::string(60'000, '[') + std::string(60'000, ']');
  std::string world = small_world + job("honest", "3");
  int n = 0;
  for (const auto* key : {"kueue.x-k8s.io/podset-slice-required-topology-constraints", "hindsight.dev/resource-bounds",
                          "kueue.x-k8s.io/admission-gated-by", "kueue.x-k8s.io/priority-boost", "kueue.x-k8s.io/job-min-parallelism"})
    world += job_with("hostile-" + std::to_string(++n), key, deep);
  text_of({"simulate", write(folder_.file("world.yaml"), world), "--log", "sqlite:" + log_});
  EXPECT_FALSE(json_of(on(log_, {"get", "quarantined", "-A"}))["items"].empty());
  EXPECT_GE(json_of(on(log_, {"get", "wl", "--status", "finished"}))["items"].size(), 1U);
  EXPECT_TRUE(json_of(on(log_, {"verify"}))["clean"]);
}

// ---- against an API server --------------------------------------------------------------------------------------------------------------

/// Lists of what the test puts there, watches that stay silent, merge patches.
class QuietServer {
 public:
  QuietServer() : server_([this](Exchange& e) { serve(e); }) {
    put("/api/v1/namespaces/default", {{"apiVersion", "v1"}, {"kind", "Namespace"}});
    put(group + "/resourceflavors/default", kueue("ResourceFlavor", "{}"));
    put(group + "/clusterqueues/cq",
        kueue("ClusterQueue", R"({"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"default",
              "resources":[{"name":"cpu","nominalQuota":"4"}]}]}]})"));
    put(group + "/namespaces/default/localqueues/lq", kueue("LocalQueue", R"({"clusterQueue":"cq"})"));
  }
  static Json workload() {
    return kueue("Workload", R"({"queueName":"lq","active":true,"priority":0,"podSets":[{"name":"main","count":1,"template":{"spec":
      {"restartPolicy":"Never","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]})");
  }
  static Json batch_job() {
    return Json::parse(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"labels":{"kueue.x-k8s.io/queue-name":"lq"}},
      "spec":{"suspend":true,"parallelism":1,"completions":1,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
  }
  void put(const std::string& path, Json object) {
    const std::lock_guard lock(mutex_);
    const auto name = path.substr(path.rfind('/') + 1);
    auto& meta = object["metadata"];
    meta["name"] = name;
    if (path.find("/namespaces/default/") != std::string::npos) meta["namespace"] = "default";
    meta["uid"] = "uid-" + name;
    meta["generation"] = 1;
    meta["creationTimestamp"] = "2026-01-01T00:00:00Z";
    meta["resourceVersion"] = std::to_string(++version_);
    objects_[path] = std::move(object);
  }
  void put_workload(const std::string& name, Json object = workload()) {
    put(group + "/namespaces/default/workloads/" + name, std::move(object));
  }
  /// "clusterqueues/cq", or "namespaces/default/localqueues/lq".
  void put_queue(const std::string& path, const char* kind, const char* spec) { put(group + "/" + path, kueue(kind, spec)); }
  /// The same, or "namespaces/default/workloads/w": does the object hold the text by now?
  [[nodiscard]] bool shows(const std::string& path, const std::string& text) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(120),
                             [&] { return objects_[group + "/" + path].dump().find(text) != std::string::npos; });
  }
  [[nodiscard]] Json condition(const std::string& path, const std::string& type) {
    const std::lock_guard lock(mutex_);
    for (const auto& c : objects_[group + "/" + path]["status"]["conditions"])
      if (c["type"] == type) return c;
    return {};
  }
  void put_job(const std::string& name, Json object) { put("/apis/batch/v1/namespaces/default/jobs/" + name, std::move(object)); }
  [[nodiscard]] bool admits(const std::string& workload) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(120), [&] {
      const Json& object = objects_[group + "/namespaces/default/workloads/" + workload];
      return object.contains("status") && object["status"].contains("admission");
    });
  }
  [[nodiscard]] bool tells(const std::string& reason) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(120), [&] { return events_.find(reason) != std::string::npos; });
  }
  [[nodiscard]] std::string kubeconfig() const {
    return "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: \"" + server_.url() +
           "\"}}]\nusers: [{name: u, user: {token: secret}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n";
  }

 private:
  static inline const std::string group = "/apis/kueue.x-k8s.io/v1beta2";

  static Json kueue(const char* kind, const char* spec) {
    return {{"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", kind}, {"spec", Json::parse(spec)}};
  }
  void serve(Exchange& e) {
    if (e.method == "GET" && e.query.contains("watch")) {
      e.begin_stream();
      return e.wait_for_end();
    }
    const std::lock_guard lock(mutex_);
    if (e.method == "POST") {
      events_ += e.body;
      changed_.notify_all();
      return e.answer(201, e.body);
    }
    const std::string path = e.path.ends_with("/status") ? e.path.substr(0, e.path.size() - 7) : e.path;
    const auto known = objects_.find(path);
    if (e.method == "PATCH" && known != objects_.end()) {
      known->second.merge_patch(Json::parse(e.body));
      known->second["metadata"]["resourceVersion"] = std::to_string(++version_);
      changed_.notify_all();
    }
    if (known != objects_.end()) return e.answer(200, known->second.dump());
    Json items = Json::array();
    const std::string plural = "/" + e.path.substr(e.path.rfind('/') + 1) + "/";
    for (const auto& [where, object] : objects_)
      if (where.substr(0, where.rfind('/') + 1).ends_with(plural)) items.push_back(object);
    e.answer(200,
             Json{{"kind", "List"}, {"apiVersion", "v1"}, {"metadata", {{"resourceVersion", std::to_string(version_)}}}, {"items", items}}
                 .dump());
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Json> objects_;
  std::string events_;  ///< Bodies of all that was created.
  int version_ = 0;
  FakeApiServer server_;
};

class RunWithTrouble : public ::testing::Test {
 protected:
  Words words() {
    return {"run",          "--kubeconfig", write(folder_.file("kubeconfig"), api_.kubeconfig()), "--log", "sqlite:" + log_, "--no-lease",
            "--durability", "off"};
  }
  void stop(Program& run) {
    run.signal(SIGTERM);
    const auto done = run.wait();
    EXPECT_EQ(done.status, 0) << done.err;
  }
  static std::uint16_t port_of(Program& program) {
    EXPECT_TRUE(program.wait_for("HTTP listens")) << program.said();  // another line names the server
    const std::string said = program.said();
    const auto line = said.substr(said.find("HTTP listens"));
    return static_cast<std::uint16_t>(std::stoi(line.substr(line.find("127.0.0.1:") + 10)));
  }
  std::uint64_t last_record() { return json_of(on(log_, {"replay"}))["position"]; }

  QuietServer api_;
  TemporaryFolder folder_;
  std::string log_ = folder_.file("run.db");
};

/// What /metrics says once it has the text.
std::string metrics_with(std::uint16_t port, const std::string& text) {
  std::string metrics;
  for (int i = 0; i < 1200 && metrics.find(text) == std::string::npos; ++i) {
    metrics = operations::request(port, "GET", "/metrics").body;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return metrics;
}

TEST_F(RunWithTrouble, AJobThatCannotBeReadStopsNobodyElse) {
  auto hostile = QuietServer::batch_job();
  hostile["metadata"]["annotations"][gated_by] = std::string(40'000, 'g');
  api_.put_job("hostile", hostile);
  auto deep = QuietServer::batch_job();
  deep["metadata"]["annotations"]["hindsight.dev/resource-bounds"] = std::string(100'000, '[');
  api_.put_job("deep", deep);
  auto bytes = QuietServer::workload();
  bytes["spec"]["podSets"][0]["count"] = -3;
  api_.put_workload("negative", bytes);
  api_.put_workload("w1");

  std::uint64_t before = 0;
  for (int life = 0; life < 3; ++life) {
    Program run(words());
    const auto port = port_of(run);
    ASSERT_TRUE(api_.admits("w1")) << run.said();
    ASSERT_TRUE(api_.tells("Quarantined")) << run.said();
    const auto metrics = metrics_with(port, "hindsight_quarantined_objects{");
    EXPECT_NE(metrics.find("hindsight_quarantined_objects{kind=\"Job\",replica_role=\"standalone\"} 2"), std::string::npos) << metrics;
    EXPECT_NE(metrics.find("hindsight_quarantined_objects{kind=\"Workload\",replica_role=\"standalone\"} 1"), std::string::npos);
    if (life == 0) {
      EXPECT_NE(run.said().find("Job default/hostile is set aside"), std::string::npos) << run.said();
    }
    stop(run);
    const auto last = last_record();
    if (life > 1) {
      EXPECT_LE(last, before + 3 + 8)
          << "a start adds its epoch, the configuration, each of eight objects once, and that it has seen all of them\n"
          << text_of(on(log_, {"log", "cat"}));
    }
    before = last;
  }
  EXPECT_EQ(json_of(on(log_, {"get", "quarantined", "-A"}))["items"].size(), 3U);

  // and back, in a version that can be read
  api_.put_job("hostile", QuietServer::batch_job());
  Program run(words());
  ASSERT_TRUE(api_.tells("job-hostile")) << "its Workload is made: " << run.said();
  stop(run);
  EXPECT_EQ(json_of(on(log_, {"get", "quarantined", "-A"}))["items"].size(), 2U);
  EXPECT_EQ(json_of(on(log_, {"get", "quarantined", "-A", "--at", std::to_string(before)}))["items"].size(), 3U);
  EXPECT_TRUE(json_of(on(log_, {"verify"}))["clean"]);
}

/// Queues have a condition of ours, which says so.
TEST_F(RunWithTrouble, AQueueThatCannotBeReadSaysSo) {
  const std::string never = "clusterqueues/never", local = "namespaces/default/localqueues/never-local", known = "clusterqueues/cq";
  api_.put_queue(never, "ClusterQueue", R"({"resourceGroups":"many"})");
  api_.put_queue(local, "LocalQueue", R"({"clusterQueue":["cq"]})");
  api_.put_workload("w1");
  {
    Program run(words());
    for (const auto& path : {never, local}) {
      ASSERT_TRUE(api_.shows(path, "Set aside: ")) << path << " " << run.said();
      const Json active = api_.condition(path, "Active");
      EXPECT_EQ(active["status"], "False") << active;
      EXPECT_EQ(active["reason"], "Misconfigured") << active;
    }
    ASSERT_TRUE(api_.admits("w1")) << run.said();
    stop(run);
  }
  api_.put_queue(known, "ClusterQueue", R"({"resourceGroups":"many"})");
  {
    Program run(words());
    ASSERT_TRUE(api_.shows(known, "Set aside: ")) << run.said();
    const Json active = api_.condition(known, "Active");
    EXPECT_EQ(active["status"], "True") << active;
    EXPECT_TRUE(active["message"].get<std::string>().starts_with("Can admit new workloads. Set aside: ")) << active;
    api_.put_workload("w2");
    stop(run);
  }
  Program run(words());
  ASSERT_TRUE(api_.admits("w2")) << "as it was read last: " << run.said();
  stop(run);
}

/// Behind what `run` wrote, as a failing disk or another program may leave it: its checksum is right.
events::Position append_bytes(const std::string& path, const std::function<std::vector<std::byte>(const events::DomainTail&)>& make) {
  const auto log = events::SqliteLog::open(path, {.durability = events::Durability::off});
  EXPECT_TRUE(log) << log.error().message;
  const auto tail = (*log)->domains().value().at(0);
  const auto bytes = make(tail);
  const events::EncodedRecord one{tail.domain, tail.sequence + 1, tail.epoch, Time::from_seconds(1'900'000'000), bytes};
  const auto position = (*log)->append({&one, 1}, std::nullopt);
  EXPECT_TRUE(position) << position.error().message;
  return position.value_or(0);
}

events::Position append_rubbish(const std::string& path) {
  return append_bytes(path, [](const auto&) {
    const std::string_view rubbish = "this is no record at all, whatever its checksum says";
    const auto bytes = std::as_bytes(std::span(rubbish));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  });
}

/// A log in which an older build went in circles: this one rests, and counts what it does not decide again.
TEST_F(RunWithTrouble, StepsThatOnlyRepeatAreCounted) {
  const std::string message = "Admission is gated by: a.io/x", path = "namespaces/default/workloads/gated";
  auto gated = QuietServer::workload();
  gated["metadata"]["annotations"][gated_by] = "a.io/x";
  api_.put_workload("gated", gated);
  {
    Program run(words());
    ASSERT_TRUE(api_.shows(path, message)) << run.said();
    const auto metrics = metrics_with(port_of(run), "hindsight_repeated_steps_total");
    EXPECT_NE(metrics.find("\nhindsight_repeated_steps_total 0\n"), std::string::npos) << metrics;
    stop(run);
  }
  for (const std::string& said : {std::string("another opinion"), message, std::string("another opinion")})
    append_bytes(log_, [&](const events::DomainTail& tail) {
      const std::vector<Event> events{ConditionChanged{
          {"uid-gated", "default", "gated"}, ConditionType::quota_reserved, ConditionStatus::false_, "AdmissionGated", said, false}};
      RecordView planted;
      planted.envelope = {tail.domain, tail.sequence + 1, tail.epoch, Time::from_seconds(1'900'000'000), tail.sequence};
      planted.body = Decisions{tail.sequence, StepKind::life_cycle, events};
      return events::encode(planted);
    });
  Program run(words());
  const auto some = [](const std::string& body) {
    constexpr std::string_view name = "\nhindsight_repeated_steps_total ";
    const auto at = body.find(name);
    return at != std::string::npos && std::strtoull(body.c_str() + at + name.size(), nullptr, 10) > 0;
  };
  const auto port = port_of(run);
  std::string metrics;
  for (int i = 0; i < 1200 && !some(metrics); ++i) {
    metrics = operations::request(port, "GET", "/metrics").body;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(some(metrics)) << metrics;
  stop(run);
}

TEST_F(RunWithTrouble, ARecordThatNobodyCanTakeIsSetAsideByTheCommandThatIsPrinted) {
  api_.put_workload("w1");
  {
    Program run(words());
    ASSERT_TRUE(api_.admits("w1")) << run.said();
    stop(run);
  }
  const auto before = last_record();
  const auto hash = json_of(on(log_, {"replay"}))["hash"];
  const auto bad = append_rubbish(log_);
  const std::string number = std::to_string(bad);

  std::string command;
  for (int life = 0; life < 2; ++life) {
    Program run(words());
    const auto ended = run.wait();
    EXPECT_EQ(ended.status, 1) << ended.err;
    const std::string said = ended.err + ended.out;
    constexpr std::string_view lead = "for every reader and for ever: ";
    const auto begin = said.find(lead);
    ASSERT_NE(begin, std::string::npos) << said;
    command = said.substr(begin + lead.size());
    command.resize(std::min(command.size(), command.find_first_of("\"\\\n")));
  }
  EXPECT_NE(command.find(" log quarantine " + number + " --log sqlite:" + log_), std::string::npos) << command;
  expect_error(hindsight(on(log_, {"replay"})), 1, {"record " + number});
  EXPECT_EQ(hindsight(on(log_, {"log", "check"})).status, 1) << "before anybody says so it is damage";

  EXPECT_EQ(std::system((command + " --dry-run > /dev/null").c_str()), 0) << command;
  expect_error(hindsight(on(log_, {"replay"})), 1, {"record " + number});
  const std::string said = folder_.file("said");
  EXPECT_EQ(std::system((command + " --why 'a disk that failed' > '" + said + "' 2>&1").c_str()), 0) << command << "\n" << contents(said);
  EXPECT_NE(contents(said).find("sets it aside, for every reader and for ever"), std::string::npos) << contents(said);

  api_.put_workload("w2");
  {
    Program run(words());
    ASSERT_TRUE(api_.admits("w2")) << run.said();
    const std::string quarantined = "\nhindsight_quarantined_records{replica_role=\"standalone\"} 1\n";
    const auto metrics = metrics_with(port_of(run), quarantined);
    EXPECT_NE(metrics.find(quarantined), std::string::npos) << metrics;
    stop(run);
  }
  const Json verified = json_of(on(log_, {"verify"}));
  EXPECT_TRUE(verified["clean"]) << verified;
  EXPECT_EQ(verified["setAside"], 1);
  EXPECT_EQ(json_of(on(log_, {"replay", "--at", std::to_string(before)}))["hash"], hash) << "the past is as it was";
  for (const auto& moment : {number, std::to_string(bad + 1), std::string("latest")})
    EXPECT_EQ(json_of(on(log_, {"get", "wl", "w1", "--at", moment}))["metadata"]["name"], "w1") << moment;
  EXPECT_TRUE(json_of(on(log_, {"log", "check"}))["findings"].empty());
  const auto shown = text_of(on(log_, {"log", "cat"}));
  EXPECT_NE(shown.find("a disk that failed"), std::string::npos) << "who and why stand in the log";
  std::istringstream lines(shown);
  bool marked = false;
  for (std::string line; std::getline(lines, line);)
    marked |= line.find("set aside") != std::string::npos && line.find(number) != std::string::npos;
  EXPECT_TRUE(marked) << shown;

  const std::string copy = folder_.file("copy.db");
  text_of({"log", "copy", "sqlite:" + log_, "sqlite:" + copy});
  EXPECT_EQ(json_of(on(copy, {"verify"}))["hash"], verified["hash"]);
  text_of(on(log_, {"log", "trim", "--before", std::to_string(bad + 1)}));
  EXPECT_EQ(json_of(on(log_, {"verify"}))["hash"], verified["hash"]);
  EXPECT_TRUE(json_of(on(log_, {"log", "check"}))["findings"].empty());
}

/// Nobody may write meanwhile.
TEST_F(RunWithTrouble, ALogThatIsWrittenIsLeftAlone) {
  api_.put_workload("w1");
  Program run(words());
  ASSERT_TRUE(api_.admits("w1")) << run.said();
  expect_error(hindsight(on(log_, {"log", "quarantine", "3"})), 1, {"log " + log_, std::to_string(run.id())});
  stop(run);
}

TEST_F(RunWithTrouble, ARecordWithWhichWasDecidedIsRefused) {
  api_.put_workload("w1");
  {
    Program run(words());
    ASSERT_TRUE(api_.admits("w1")) << run.said();
    stop(run);
  }
  const auto last = last_record();
  expect_error(hindsight(on(log_, {"log", "quarantine", "2"})), 1, {"record 2", "was decided", "--force"});
  expect_error(hindsight(on(log_, {"log", "quarantine", std::to_string(last + 1)})), 1,
               {"it is not in the log", "1 to " + std::to_string(last)});
  expect_error(hindsight(on(folder_.file("absent.db"), {"log", "quarantine", "2"})), 1, {"absent.db"});
  EXPECT_FALSE(std::filesystem::exists(folder_.file("absent.db")));
  EXPECT_EQ(last_record(), last);
  EXPECT_TRUE(json_of(on(log_, {"verify"}))["clean"]);
}

/// Every reader knows such a record, however long its explanation is: one that they do not know nobody could ever take.
TEST_F(SetAside, AnExplanationOfAnyLengthIsTaken) {
  text_of({"simulate", write(folder_.file("world.yaml"), small_world + job("honest", "3")), "--log", "sqlite:" + log_});
  const auto bad = append_rubbish(log_);
  text_of(on(log_, {"log", "quarantine", std::to_string(bad), "--why", "it was " + std::string(100'000, 'w')}));
  EXPECT_TRUE(json_of(on(log_, {"verify"}))["clean"]);
  auto shown = text_of(on(log_, {"log", "cat", "--kind", "RecordQuarantined"}));
  EXPECT_NE(shown.find("it was www"), std::string::npos) << shown.substr(0, 300);
  EXPECT_NE(shown.find("www ..."), std::string::npos) << "it is cut";
  EXPECT_LT(shown.size(), 3'000U);

  // Another release may not have cut it.
  const std::string long_reason(200'000, 'x');
  const auto worse = append_rubbish(log_);
  append_bytes(log_, [&](const events::DomainTail& tail) {
    RecordView said;
    said.envelope = {tail.domain, tail.sequence + 1, tail.epoch, Time::from_seconds(1'900'000'000), 0};
    said.body = Observation(RecordQuarantined{tail.sequence, worse, "somebody", "some release", long_reason});
    return events::encode(said);
  });
  EXPECT_TRUE(json_of(on(log_, {"verify"}))["clean"]);
  EXPECT_EQ(json_of(on(log_, {"verify"}))["setAside"], 2);
  EXPECT_TRUE(json_of(on(log_, {"log", "check"}))["findings"].empty());
}

}  // namespace
}  // namespace hindsight::test
