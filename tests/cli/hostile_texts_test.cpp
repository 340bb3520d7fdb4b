// Texts of objects come from tenants and reach terminals: names, messages, labels and annotations with control characters, escape
// sequences, line feeds, bidirectional overrides and broken UTF-8 go through every command. A new command without a line in `invocations`
// fails the first test; one that prints a text as it is fails another.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <sstream>

#include "cli/application.hpp"
#include "cli/printable_stream.hpp"
#include "events/record.hpp"
#include "events/sqlite_log.hpp"
#include "projections/table.hpp"
#include "tests/cli/commands_of.hpp"
#include "tests/connectors/kubernetes/fake_api_server.hpp"
#include "tests/events/temporary_folder.hpp"
#include "tests/replay/log_world.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::cli {
namespace {

using connectors::kubernetes::testing::Exchange;
using connectors::kubernetes::testing::FakeApiServer;
using nlohmann::json;
using test::commands_of;
using Words = std::vector<std::string>;

/// What a terminal would obey, and what forges a line of a table.
const std::string hostile =
    "evil\x1b]0;title\x07\x1b[31m\r\nforged line\x08\x7f \xc2\x9b"
    "31m \xe2\x80\xae\xe2\x81\xa6 \xf3\xa0\x80\x81 \xef\xbb\xbf";
const std::string broken = "cut \xe2\x82 \xff \xed\xa0\x80";

std::string named(const std::string& what) { return what + " " + hostile; }

/// A log in which every text that somebody chooses is hostile.
void write_hostile_log(const std::string& file) {
  auto log = events::SqliteLog::open(file, {});
  if (!log) throw std::runtime_error(log.error().message);
  testing::LogWorld w(**log);
  const std::string flavor = named("flavor"), queue = named("queue"), cohort = named("cohort");
  w.namespace_("default", {{named("key"), named("value")}});
  w.flavor(flavor, {{named("label"), named("value")}}, named("taint"));
  w.check(named("check"));
  w.cohort(cohort, named("parent"));
  const testing::QuotaOf cpu{.flavor = flavor, .nominal = 4'000}, other{.flavor = flavor, .nominal = 4, .resource = named("resource")};
  w.queue({.name = queue, .cohort = cohort, .quotas = {cpu, other}});
  w.queue({.name = "plain", .cohort = cohort, .quotas = {cpu, other}, .checks = {named("check")}});
  w.local_queue(named("lq"), queue);
  w.local_queue("lq", "plain");
  w.observe(MirrorSynced{});
  w.wake();
  w.submit({.name = named("runs"), .queue = named("lq"), .cpu = 3'000});
  w.settle();
  w.submit({.name = named("waits"), .queue = named("lq"), .cpu = 3'000, .node_selector = {{named("selector"), named("value")}}});
  w.submit({.name = named("huge"), .queue = named("lq"), .cpu = 90'000, .more = {{named("resource"), 9}}});
  w.submit({.name = named("gated"), .queue = named("lq"), .gated_by = named("gate")});
  w.submit({.name = "lost", .queue = named("nowhere")});
  w.submit_job({.name = named("job"), .queue = "lq"});
  w.settle();
  w.confirm();
  w.settle();
  w.submit({.name = "told", .queue = "lq", .cpu = 90'000});
  w.change("told", [&](WorkloadObserved& o) {
    w.set(o, {ConditionType::quota_reserved, ConditionStatus::false_, named("reason"), named("message"), w.now});
    w.set(o, {ConditionType::evicted, ConditionStatus::false_, named("reason"), broken, w.now});
  });
  w.change_job(named("job"), [&](JobObserved& j) {
    j.finished = true;
    j.finish_message = w.keep(named("message"));
  });
  WriteRefused refused;
  refused.kind = ObjectKind::workload;
  refused.uid = "uid-told";
  refused.name = "told";
  refused.http_status = 422;
  refused.message = w.keep(named("refused"));
  w.observe(refused);
  ObjectQuarantined apart;
  apart.kind = ObjectKind::workload;
  apart.api_kind = "Workload";
  apart.namespace_ = "default";
  apart.name = w.keep(named("apart"));
  apart.uid = "uid-apart";
  apart.reason = w.keep(named("reason"));
  w.observe(apart);
  w.wake();
  w.snapshot();
  w.flush();
}

json hostile_object(const std::string& kind, const std::string& name) {
  return {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
          {"kind", kind},
          {"metadata",
           {{"name", name},
            {"namespace", "default"},
            {"uid", "u"},
            {"creationTimestamp", "2026-01-01T00:00:00Z"},
            {"labels", {{named("label"), hostile}}},
            {"annotations", {{"a", hostile}}},
            {"ownerReferences",
             {{{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"name", named("owner")}, {"uid", "j"}, {"controller", true}}}}}},
          {"spec",
           {{"cohortName", hostile},
            {"clusterQueue", hostile},
            {"queueName", hostile},
            {"nodeLabels", {{named("label"), hostile}}},
            {"containers", json::array({json::object()})}}},
          {"status",
           {{"phase", hostile},
            {"admission", {{"clusterQueue", hostile}}},
            {"containerStatuses", {{{"state", {{"waiting", {{"reason", hostile}}}}}}}},
            {"conditions", {{{"type", "Active"}, {"status", "True"}, {"reason", hostile}, {"message", hostile}}}}}}};
}

/// A cluster whose objects and refusals are hostile.
void answer_hostile(Exchange& e) {
  static const std::map<std::string, std::string> kinds{{"clusterqueues", "ClusterQueue"},
                                                        {"localqueues", "LocalQueue"},
                                                        {"workloads", "Workload"},
                                                        {"resourceflavors", "ResourceFlavor"},
                                                        {"pods", "Pod"},
                                                        {"jobs", "Job"}};
  const auto last = e.path.substr(e.path.rfind('/') + 1);
  if (e.path.find("absent") != std::string::npos || e.path.find("pendingworkloads") != std::string::npos)
    return e.answer(422, json{{"kind", "Status"}, {"reason", hostile}, {"message", named("refused")}, {"code", 422}}.dump());
  if (const auto collection = kinds.find(last); collection != kinds.end() && e.method == "GET")
    return e.answer(
        200, json{{"kind", "List"}, {"metadata", json::object()}, {"items", {hostile_object(collection->second, named("name"))}}}.dump());
  std::string kind = "Workload";
  for (const auto& [plural, name] : kinds)
    if (e.path.find("/" + plural) != std::string::npos) kind = name;
  e.answer(200, hostile_object(kind, named("name")).dump());
}

/// A scenario in which a check answers with a hostile message, and a step names what is not there. `beyond`: its last step cannot be
/// played.
json hostile_scenario(bool beyond) {
  const json time = "2026-01-01T00:00:00Z";
  const auto kueue = [](const char* kind, const char* name, json spec) {
    return json{{"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", kind}, {"metadata", {{"name", name}}}, {"spec", std::move(spec)}};
  };
  json check = kueue("AdmissionCheck", "check", {{"controllerName", "example.com/check"}});
  const json active = {{"type", "Active"}, {"status", "True"}, {"reason", "Active"}, {"message", hostile}, {"lastTransitionTime", time}};
  check["status"]["conditions"] = json::array({active});
  const json quota = {{"name", "cpu"}, {"nominalQuota", 4}};
  const json flavor = {{"name", "f"}, {"resources", json::array({quota})}};
  const json group = {{"coveredResources", json::array({"cpu"})}, {"flavors", json::array({flavor})}};
  const json checks = {{"admissionChecks", json::array({{{"name", "check"}}})}};
  json local_queue = kueue("LocalQueue", "lq", {{"clusterQueue", "cq"}});
  local_queue["metadata"]["namespace"] = "default";
  const json container = {{"name", "c"}, {"image", hostile}, {"resources", {{"requests", {{"cpu", "1"}}}}}};
  json job = {{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", {{"name", "j"}, {"namespace", "default"}}}};
  job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "lq";
  job["metadata"]["annotations"]["note"] = hostile;
  job["spec"]["suspend"] = true;
  job["spec"]["template"]["spec"] = {{"restartPolicy", "Never"}, {"containers", json::array({container})}};
  json gated = job;
  gated["metadata"]["name"] = "gated";
  gated["metadata"]["annotations"] = {{"kueue.x-k8s.io/admission-gated-by", hostile}};
  const json state = {{"name", "check"}, {"state", "Rejected"}, {"message", hostile}, {"lastTransitionTime", time}};
  const json rejected = {{"admissionChecks", json::array({state})}};
  const auto patch = [](const std::string& owner, const json& status) {
    return json{
        {"kind", "Workload"}, {"owner", {{"kind", "Job"}, {"name", owner}}}, {"subresource", "status"}, {"merge", {{"status", status}}}};
  };
  json steps = {
      {{"at", "0s"},
       {"apply",
        {kueue("ResourceFlavor", "f", json::object()), check,
         kueue("ClusterQueue", "cq",
               {{"namespaceSelector", json::object()}, {"admissionChecksStrategy", checks}, {"resourceGroups", json::array({group})}}),
         local_queue, job, gated}}},
      {{"at", "5s"}, {"patch", {patch("j", rejected), patch(hostile, rejected)}}}};
  if (beyond) steps.push_back({{"at", "6s"}, {"finish", json::array({{{"kind", "Job"}, {"name", hostile}}})}});
  return {{"apiVersion", "hindsight.dev/v1alpha1"}, {"kind", "Scenario"}, {"metadata", {{"name", "s"}}}, {"spec", {{"steps", steps}}}};
}

/// Stands for a log that is not there yet, another one each time.
const std::string new_log = "a new log";

struct Printed {
  std::string out, err;
  int status = 0;
};

class HostileTexts : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new test::TemporaryFolder;
    log = "sqlite:" + folder->file("hostile.db");
    write_hostile_log(folder->file("hostile.db"));
    server = new FakeApiServer(answer_hostile);
    kubeconfig = folder->file("kubeconfig");
    std::ofstream(kubeconfig) << json{{"apiVersion", "v1"},
                                      {"kind", "Config"},
                                      {"current-context", "c"},
                                      {"clusters", {{{"name", "c"}, {"cluster", {{"server", server->url()}}}}}},
                                      {"users", {{{"name", "u"}, {"user", json::object()}}}},
                                      {"contexts", {{{"name", "c"}, {"context", {{"cluster", "c"}, {"user", "u"}}}}}}}
                                     .dump();
    manifests = folder->file("world.yaml");
    const json gated = {{"apiVersion", "batch/v1"},
                        {"kind", "Job"},
                        {"metadata",
                         {{"name", "j"},
                          {"namespace", "default"},
                          {"labels", {{"kueue.x-k8s.io/queue-name", "lq"}}},
                          {"annotations", {{"kueue.x-k8s.io/admission-gated-by", hostile}}}}},
                        {"spec",
                         {{"suspend", true},
                          {"template", {{"spec", {{"restartPolicy", "Never"}, {"containers", {{{"name", "c"}, {"image", hostile}}}}}}}}}}};
    std::ofstream(manifests) << gated.dump();
    json ill = gated;
    ill["metadata"]["name"] = hostile;
    ill["spec"][hostile] = hostile;
    std::ofstream(folder->file("ill.yaml")) << ill.dump();
    std::ofstream(folder->file("scenario.yaml")) << hostile_scenario(false).dump();
    std::ofstream(folder->file("beyond.yaml")) << hostile_scenario(true).dump();
    std::ofstream(folder->file("config.yaml"))
        << json{{"apiVersion", "config.kueue.x-k8s.io/v1beta2"}, {"kind", "Configuration"}, {hostile, 1}, {"namespace", hostile}}.dump();
  }
  static void TearDownTestSuite() {
    delete server;
    delete folder;
  }
  static inline test::TemporaryFolder* folder = nullptr;
  static inline FakeApiServer* server = nullptr;
  static inline std::string log, kubeconfig, manifests;

  /// How each command is called; without `-o`. Those that only hand their words to kubectl have none.
  static std::map<std::string, std::vector<Words>> invocations() {
    const auto on_log = [](Words words) {
      words.insert(words.end(), {"--log", log});
      return words;
    };
    const auto on_cluster = [](Words words) {
      words.insert(words.end(), {"--kubeconfig", kubeconfig});
      return words;
    };
    std::map<std::string, std::vector<Words>> out;
    for (const char* kind : {"workloads", "clusterqueues", "localqueues", "cohorts", "resourceflavors", "workloadpriorityclasses",
                             "admissionchecks", "gates", "quarantined", "topologies", "events", "namespaces"})
      out["get"].push_back(on_log({"get", kind}));
    out["get"].push_back(on_log({"get", "cq,lq,wl"}));
    out["get"].push_back(on_log({"get", "wl/" + named("waits"), "job/" + named("job")}));
    out["get"].push_back(on_log({"get", "wl", "--field-selector", hostile}));
    out["get"].push_back(on_log({"get", "lq", "-l", hostile}));
    out["get"].push_back(on_log({"get", "wl", "--sort-by", hostile}));
    out["get"].push_back(on_log({"get", "events", "--for", "workload/" + named("waits")}));
    out["get"].push_back(on_log({"get", "events", "--for", hostile}));
    out["get"].push_back(on_log({"get", "clusterqueues", named("absent")}));
    for (const auto& [kind, name] : std::vector<std::pair<std::string, std::string>>{{"workload", named("waits")},
                                                                                     {"workload", named("huge")},
                                                                                     {"workload", named("runs")},
                                                                                     {"workload", "told"},
                                                                                     {"clusterqueue", named("queue")},
                                                                                     {"localqueue", named("lq")},
                                                                                     {"cohort", named("cohort")},
                                                                                     {"resourceflavor", named("flavor")},
                                                                                     {"clusterqueue", named("absent")}})
      out["describe"].push_back(on_log({"describe", kind, name}));
    for (const auto& name : {named("waits"), named("huge"), named("runs"), named("gated"), named("apart"), std::string("told"),
                             std::string("lost"), "job/" + named("job"), named("absent")}) {
      out["history"].push_back(on_log({"history", name}));
      out["why"].push_back(on_log({"why", name}));
    }
    for (const auto& name :
         {"clusterqueue/" + named("queue"), "cohort/" + named("cohort"), "localqueue/" + named("lq"), "cq/" + named("absent")})
      out["why"].push_back(on_log({"why", name}));
    for (const char* kind : {"clusterqueues", "cohorts", "localqueues", "flavors"}) {
      out["top"].push_back(on_log({"top", kind}));
      out["top"].push_back(on_log({"top", kind, "--since", "1"}));
    }
    out["top"].push_back(on_log({"top", "--reasons"}));
    out["top"].push_back(on_log({"top", hostile}));
    out["plan defrag"] = {on_log({"plan", "defrag", "--topology", named("absent")}),
                          on_log({"plan", "defrag", "--topology", named("absent"), "--for", named("waits")})};
    out["bisect"] = {on_log({"bisect", "event QuotaReserved"}), on_log({"bisect", "workload/default/" + hostile}),
                     on_log({"bisect", hostile}), on_log({"bisect", "event QuotaReserved of '" + hostile + "'"})};
    out["blame"] = {on_log({"blame", "clusterqueue/cq", "--limit", "0"}), on_log({"blame", "workload/default/" + hostile + ":.status"}),
                    on_log({"blame", hostile}), on_log({"blame", "clusterqueue/cq:" + hostile})};
    out["debug"] = {on_log({"debug", "--at", "1", "-e", "step 9", "-e", "workloads", "-e", "record", "-e", "print clusterqueue/cq"}),
                    on_log({"debug", "-e", "break event QuotaReserved of '" + hostile + "'", "-e", "run", "-e", "break"}),
                    on_log({"debug", "-e", hostile}), on_log({"debug", "-e", "why " + hostile})};
    out["how"] = {on_log({"how"}), on_log({"how", "latest", "-o", "json"}), on_log({"how", "latest", hostile}), on_log({"how", hostile}),
                  on_log({"how", "latest", "clusterqueue/" + hostile})};
    out["export"] = {on_log({"export"}), on_log({"export", "--format", "jsonl"}), on_log({"export", "--format", "trace"}),
                     on_log({"export", "--format", hostile})};
    for (const auto& name : {named("waits"), named("gated"), "job/" + named("job"), named("absent")})
      out["evidence"].push_back(on_log({"evidence", "--for", name, "--force", "-o", folder->file("evidence.tar.gz")}));
    out["evidence"].push_back(on_log({"evidence", "--for", named("runs"), "-o", folder->file(named("absent")) + "/" + hostile}));
    out["eta"] = {on_log({"eta", "job/" + hostile}), on_log({"eta", hostile, "--futures", "10", "--horizon", "1m"}),
                  on_log({"eta", hostile, "--horizon", hostile})};
    out["what-if"] = {on_log({"what-if", "--from", "1", "--rows", "0"}),
                      on_log({"what-if", "--from", "1", "--model-all", "-o", "yaml"}),
                      on_log({"what-if", "--from", hostile}),
                      on_log({"what-if", "--from", "1", "--set", hostile}),
                      on_log({"what-if", "--from", "1", "--drop", hostile}),
                      on_log({"what-if", "--from", "1", "--add-nodes", "2x" + hostile})};
    out["diff"] = {on_log({"diff", "1", "latest"}), on_log({"diff", "latest", "3"}), on_log({"diff", "1", hostile})};
    out["compare-kueue"] = {on_log({"compare-kueue"}), on_log({"compare-kueue", "--domain", named("absent")}),
                            on_log({"compare-kueue", "--tolerance", hostile})};
    out["verify"] = {on_log({"verify"}), {"verify", "--log", "sqlite:" + folder->file(named("absent"))}};
    out["audit"] = {on_log({"audit"}),
                    on_log({"audit", "-o", "json"}),
                    on_log({"audit", "--domain", named("absent")}),
                    on_log({"audit", "--known", hostile}),
                    on_log({"audit", "--public-key", manifests}),
                    on_log({"audit", "--public-key", folder->file(named("absent"))}),
                    {"audit", "--log", "sqlite:" + folder->file(named("absent"))}};
    out["replay"] = {on_log({"replay"}), on_log({"replay", "--domain", named("absent")})};
    out["nodes"] = {on_log({"nodes"}), on_log({"nodes", "--domain", named("absent")})};
    out["log cat"] = {on_log({"log", "cat"}), on_log({"log", "cat", "--kind", named("absent")})};
    out["log quarantine"] = {on_log({"log", "quarantine", "7", "--dry-run", "--why", hostile}),
                             on_log({"log", "quarantine", "99999"}),
                             {"log", "quarantine", "7", "--log", "sqlite:" + folder->file(named("absent"))}};
    out["log stats"] = {on_log({"log", "stats"})};
    out["log check"] = {on_log({"log", "check"}),
                        {"log", "check", "--log", "sqlite:" + manifests},
                        {"log", "check", "--log", "sqlite:" + folder->file(named("absent"))}};
    out["log copy"] = {{"log", "copy", log, "sqlite:" + folder->file("copy.db")},
                       {"log", "copy", log, "sqlite:" + folder->file(named("copy"))}};
    out["log checkpoints"] = {on_log({"log", "checkpoints"}),
                              on_log({"log", "checkpoints", "--drop", "7"}),
                              on_log({"log", "checkpoints", "--drop", hostile}),
                              {"log", "checkpoints", "--log", "sqlite:" + folder->file(named("absent"))}};
    out["log key"] = {{"log", "key", folder->file(named("key"))}, {"log", "key", folder->file(named("absent") + "/key")}};
    out["log init"] = {{"log", "init", "--log", "kafka:" + hostile}};
    out["log trim"] = {on_log({"log", "trim", "--dry-run", "--before", "5"}), on_log({"log", "trim", "--before", hostile})};
    for (const auto& file :
         {std::string("world.yaml"), std::string("ill.yaml"), std::string("scenario.yaml"), std::string("beyond.yaml"), named("absent")}) {
      out["simulate"].push_back({"simulate", folder->file(file)});
      out["run"].push_back({"run", "--quickstart", folder->file(file), "--log", new_log});
    }
    out["run"].push_back({"run", "--config", folder->file("config.yaml"), "--log", new_log});
    out["run"].push_back({"run", "--kubeconfig", kubeconfig, "--context", hostile, "--log", new_log});
    out["run"].push_back({"run", "--checkpoint-key", folder->file(named("absent")), "--log", new_log});
    out["run"].push_back({"run", "--role", "node", "--log", "kafka:" + hostile});
    out["doctor"] = {on_cluster({"doctor", "--timeout", "5"}),
                     {"doctor", "--only", hostile},
                     {"doctor", "--print", hostile},
                     on_cluster({"doctor", "--as-controller", "team/" + hostile, "--only", "rights"}),
                     {"doctor", "--only", "log,configuration", "--log", "sqlite:" + folder->file(named("absent")), "--config",
                      folder->file("config.yaml")}};
    out["version"] = {{"version"}};
    out["completion"] = {{"completion", "bash"}};
    out["help"] = {{"help", hostile}, {"help", "get", hostile}, {"help", "log", "cat"}};
    for (const char* kind : {"clusterqueue", "localqueue", "workload", "resourceflavor"}) {
      out[std::string("list ") + kind] = {on_cluster({"list", kind})};
    }
    out["migrate check"] = {on_cluster({"migrate", "check"}),
                            {"migrate", "check", "-f", folder->file("scenario.yaml")},
                            {"migrate", "check", "-f", folder->file(named("absent"))},
                            {"migrate", "check", "-f", folder->file("world.yaml"), "--kueue-config", folder->file("config.yaml")}};
    out["list pods"] = {on_cluster({"list", "pods", "--for", "job/" + named("owner")})};
    out["create clusterqueue"] = {on_cluster({"create", "clusterqueue", "new"}), on_cluster({"create", "clusterqueue", hostile})};
    out["create localqueue"] = {on_cluster({"create", "localqueue", "new", "-c", "absent"}),
                                on_cluster({"create", "localqueue", "new", "-c", "cq", "-i"})};
    out["create resourceflavor"] = {on_cluster({"create", "resourceflavor", "new"})};
    for (const char* verb : {"stop", "resume"})
      for (const char* kind : {"workload", "clusterqueue", "localqueue"})
        out[std::string(verb) + " " + kind] = {on_cluster({verb, kind, "name"}), on_cluster({verb, kind, "absent"})};
    out["delete workload"] = {on_cluster({"delete", "workload", "name", "--yes"}), on_cluster({"delete", "workload", "name"}),
                              on_cluster({"delete", "workload", "absent", "--yes"})};
    return out;
  }

  /// As a terminal would get it, but for the stream in between (the last test): a command has to keep its lines apart by itself.
  static Printed print(Words words, bool colour) {
    static int logs = 0;
    for (auto& word : words)
      if (word == new_log) word = "sqlite:" + folder->file("new-" + std::to_string(++logs) + ".db");
    std::ostringstream out, err;
    Session session{out, err};
    session.colour = colour;
    Printed done;
    done.status = run_application(session, std::move(words));
    done.out = out.str();
    done.err = err.str();
    return done;
  }

  static std::string without_tones(std::string text) {
    for (const auto& sequence : projections::tone_sequences())
      for (std::size_t at = 0; (at = text.find(sequence, at)) != std::string::npos;) text.erase(at, sequence.size());
    return text;
  }

  /// Nothing in it is obeyed by a terminal, and no line is forged.
  static void expect_harmless(const std::string& text, const std::string& what) {
    std::istringstream lines(without_tones(text));
    for (std::string line; std::getline(lines, line);) {
      std::erase(line, '\t');  // scripts have them; texts of objects do not
      EXPECT_TRUE(is_printable(line)) << what << "\n" << printable(line);
      const auto begin = line.find_first_not_of(" \"-");
      EXPECT_FALSE(begin != std::string::npos && line.substr(begin).starts_with("forged")) << what << "\n" << printable(line);
    }
  }
};

// What prints for kubectl, or for nobody, or shows texts in a browser (tests/page and web/tests have hostile ones).
const std::set<std::string> elsewhere{"ui", "edit", "patch", "delete clusterqueue", "delete localqueue", "delete resourceflavor"};

TEST_F(HostileTexts, EveryCommandIsTried) {
  std::ostringstream out, err;
  Session session{out, err};
  const auto app = make_application(session);
  const auto tried = invocations();
  for (const auto& [name, command] : commands_of(*app))
    EXPECT_EQ(tried.contains(name), !elsewhere.contains(name)) << "\"" << name << "\" needs a line in invocations()";
}

TEST_F(HostileTexts, NoCommandPrintsWhatATerminalObeys) {
  for (const auto& [name, calls] : invocations()) {
    bool shown = false;
    for (const auto& words : calls)
      for (const bool colour : {false, true}) {
        const Printed done = print(words, colour);
        const std::string what = printable(::testing::PrintToString(words));
        expect_harmless(done.out, what);
        expect_harmless(done.err, what);
        shown = shown || (done.out + done.err).find("\\x1b") != std::string::npos;
      }
    if (name == "version" || name == "completion" || name == "log stats") continue;
    EXPECT_TRUE(shown) << "\"" << name << "\" shows none of the texts: the test proves nothing about it";
  }
}

// What happens is told as it happens, from other threads and not through a table.
TEST_F(HostileTexts, TheQuickStartShowsThemOnTheirLines) {
  for (const bool beyond : {false, true}) {
    const Printed done = print({"run", "--quickstart", folder->file(beyond ? "beyond.yaml" : "scenario.yaml"), "--log", new_log}, false);
    EXPECT_EQ(done.status, beyond ? 2 : 0) << done.err;
    EXPECT_NE(done.out.find("due to AdmissionCheck"), std::string::npos) << done.out;
    EXPECT_NE(done.out.find(printable(hostile)), std::string::npos) << "the message of the check is shown:\n" << done.out;
    EXPECT_NE(done.err.find(printable(hostile)), std::string::npos) << "what was refused is told:\n" << done.err;
  }
}

// JSON and YAML say what the text is, and are harmless all the same.
TEST_F(HostileTexts, DocumentsHoldTheTextsAsTheyAre) {
  std::size_t documents = 0;
  for (const auto& [name, calls] : invocations()) {
    for (const auto& words : calls) {
      for (const char* format : {"json", "yaml"}) {
        Words with = words;
        with.insert(with.end(), {"-o", format});
        const Printed done = print(with, false);
        const std::string what = printable(::testing::PrintToString(with));
        expect_harmless(done.out, what);
        expect_harmless(done.err, what);
        if (done.status != 0 || done.out.empty() || std::string_view(format) != "json") continue;
        std::istringstream lines(done.out);
        if (name == "log cat") {
          for (std::string line; std::getline(lines, line); ++documents) EXPECT_TRUE(json::accept(line)) << what;
          continue;
        }
        EXPECT_TRUE(json::accept(done.out)) << what;
        ++documents;
      }
    }
  }
  EXPECT_GT(documents, 60U);
  const json list = json::parse(print({"get", "clusterqueues", "-o", "json", "--log", log}, false).out);
  std::set<std::string> names;
  for (const auto& item : list["items"]) names.insert(item["metadata"]["name"]);
  EXPECT_TRUE(names.contains(named("queue")));
}

// What is picked out of objects is shown as they are in tables, and no shell gets a name that it would take for more than a word.
TEST_F(HostileTexts, PathsColumnsAndCompletionsAreHarmless) {
  for (const char* kind : {"workloads", "clusterqueues", "events"})
    for (const char* format : {"jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{end}", "jsonpath={.items[*].metadata}",
                               "custom-columns=N:.metadata.name,ALL:.metadata"}) {
      const Printed done = print({"get", kind, "-o", format, "--log", log}, false);
      EXPECT_EQ(done.status, 0) << done.err;
      expect_harmless(done.out, std::string(kind) + " " + format);
      EXPECT_NE(done.out.find("evil"), std::string::npos) << done.out;
    }
  const Printed offered = print({"__complete", "get", "workloads", "--log", log, ""}, false);
  EXPECT_EQ(offered.status, 0);
  expect_harmless(offered.out, "__complete");
  EXPECT_NE(offered.out.find("told\n"), std::string::npos) << offered.out;
  EXPECT_EQ(offered.out.find("evil"), std::string::npos) << offered.out;
}

// A record that nobody can read is told with what is known of it all the same: the name of its domain, and why.
TEST_F(HostileTexts, RecordsThatCannotBeReadAreHarmless) {
  const std::string file = folder->file("unreadable.db"), domain = named("domain");
  {
    const auto opened = events::SqliteLog::open(file, {});
    ASSERT_TRUE(opened) << opened.error().message;
    const std::string_view rubbish = "this is no record at all";
    const auto first = std::as_bytes(std::span(rubbish));
    const events::EncodedRecord unreadable{domain, 1, 1, Time::from_seconds(1), first};
    const auto position = (*opened)->append({&unreadable, 1}, std::nullopt);
    ASSERT_TRUE(position) << position.error().message;
    RecordView said;
    said.envelope = {domain, 2, 1, Time::from_seconds(2), 0};
    said.body = Observation(RecordQuarantined{1, *position, hostile, hostile, hostile});
    const auto bytes = events::encode(said);
    const events::EncodedRecord second{domain, 2, 1, Time::from_seconds(2), bytes};
    ASSERT_TRUE((*opened)->append({&second, 1}, std::nullopt));
  }
  for (const char* format : {"text", "json"}) {
    const Printed done = print({"log", "cat", "--log", "sqlite:" + file, "-o", format}, false);
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_NE(done.out.find(format == std::string("text") ? "cannot be read" : "\"unreadable\""), std::string::npos) << done.out;
    expect_harmless(done.out, format);
    if (format == std::string("text")) continue;
    std::istringstream lines(done.out);
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(json::parse(line)["domain"], domain) << "the same value for every reader";
  }
}

// What a plugin for credentials complains of may come from a server that it asked.
TEST_F(HostileTexts, WhatAPluginComplainsOfIsHarmless) {
  const auto complaint = folder->file("complaint"), plugin = folder->file("plugin"), config = folder->file("kubeconfig-of-plugin");
  std::ofstream(complaint) << hostile << "\n"
                           << broken << "\n"
                           << "without an end \x1b[2J";
  std::ofstream(plugin) << "#!/bin/sh\ncat '" << complaint << "' >&2\nexit 1\n";
  std::filesystem::permissions(plugin, std::filesystem::perms::owner_all);
  json user = {{"exec", {{"apiVersion", "client.authentication.k8s.io/v1"}, {"command", plugin}, {"interactiveMode", "Never"}}}};
  std::ofstream(config) << json{{"apiVersion", "v1"},
                                {"kind", "Config"},
                                {"current-context", "c"},
                                {"clusters", {{{"name", "c"}, {"cluster", {{"server", server->url()}}}}}},
                                {"users", {{{"name", "u"}, {"user", user}}}},
                                {"contexts", {{{"name", "c"}, {"context", {{"cluster", "c"}, {"user", "u"}}}}}}}
                               .dump();
  ::testing::internal::CaptureStderr();
  const Printed done = print({"list", "workload", "--kubeconfig", config}, false);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(done.status, 0);
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) EXPECT_TRUE(is_printable(line)) << printable(line);
  EXPECT_NE(said.find(printable(broken)), std::string::npos) << printable(said);
  EXPECT_NE(said.find("without an end \\x1b[2J"), std::string::npos) << printable(said);
}

// The stream between all commands and the terminal lets through what we write ourselves, and nothing else.
TEST(PrintableStream, ShowsWhatATerminalWouldObey) {
  const auto through = [](const Words& parts, const Words& allowed) {
    std::ostringstream to;
    {
      PrintableStream stream(to, allowed);
      for (const auto& part : parts) stream << part << std::flush;
    }
    return to.str();
  };
  EXPECT_EQ(through({"plain\tline\n", "grün 漢字 🚀\n"}, {}), "plain\tline\ngrün 漢字 🚀\n");
  EXPECT_EQ(through({"\x1b[31m", "\x1b[2J", "\r"}, {}), "\\x1b[31m\\x1b[2J\\x0d");
  EXPECT_EQ(through({"\x1b[31mred\x1b[0m \x1b[2J"}, projections::tone_sequences()), "\x1b[31mred\x1b[0m \\x1b[2J");
  EXPECT_EQ(through({"\x1b", "[", "3", "1m\x1b", "]"}, projections::tone_sequences()), "\x1b[31m\\x1b]");
  // Characters that come in pieces.
  EXPECT_EQ(through({"\xe6", "\xbc", "\xa2"}, {}), "漢");
  EXPECT_EQ(through({"\xe6", "a"}, {}), "\\xe6a");
  EXPECT_EQ(through({"\xe6"}, {}), "\\xe6");
  std::ostringstream closed;
  closed.setstate(std::ios::badbit);
  PrintableStream stream(closed, {});
  stream << "lost" << std::flush;
  EXPECT_FALSE(stream.good());
}

}  // namespace
}  // namespace hindsight::cli
