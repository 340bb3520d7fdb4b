// Every command that reads a log, on logs that whole runs made: what it prints in each form, at each kind of moment, and how it ends.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>

#include "admission/rules.hpp"
#include "events/record.hpp"
#include "events/sqlite_log.hpp"
#include "tests/cli/worlds.hpp"

namespace hindsight::test {
namespace {

using LogCommands = Logs;

std::size_t lines(const std::string& text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }

// ---- get ------------------------------------------------------------------------------------------------------------------------------

// BA-2
TEST_F(LogCommands, GetPrintsTablesJsonYamlAndNames) {
  EXPECT_TRUE(text_of(on(small, {"get", "workloads"})).starts_with("NAME "));
  EXPECT_TRUE(text_of(on(small, {"get", "workloads", "-A"})).starts_with("NAMESPACE "));
  EXPECT_EQ(lines(text_of(on(small, {"get", "wl", "--no-headers"}))), 3U);
  const auto wide = text_of(on(small, {"get", "cq", "-o", "wide", "--at", "2026-01-01T00:00:20Z"}));
  EXPECT_NE(wide.find("default/cpu 3/4"), std::string::npos) << wide;
  const auto names = text_of(on(small, {"get", "workloads", "-o", "name"}));
  EXPECT_NE(names.find("workload.kueue.x-k8s.io/job-holder-"), std::string::npos) << names;

  const Json list = json_of(on(small, {"get", "workloads"}));
  EXPECT_EQ(list["kind"], "List");
  ASSERT_EQ(list["items"].size(), 3U);
  EXPECT_EQ(list["items"][0]["kind"], "Workload");
  const std::string name = list["items"][0]["metadata"]["name"];
  EXPECT_EQ(json_of(on(small, {"get", "workloads", name}))["metadata"]["name"], name);
  const auto yaml = text_of(on(small, {"get", "workloads", name, "-o", "yaml"}));
  EXPECT_NE(yaml.find("kind: Workload\n"), std::string::npos);
  EXPECT_NE(yaml.find("name: " + name + "\n"), std::string::npos);
}

TEST_F(LogCommands, GetKnowsEveryKindAndItsShortNames) {
  const std::vector<std::pair<Words, std::string>> kinds{
      {{"workloads", "wl", "workload"}, "job-sweep-1-"},  {{"clusterqueues", "cq"}, "team-a"},
      {{"localqueues", "lq", "queue"}, "jobs"},           {{"cohorts", "co"}, "research"},
      {{"resourceflavors", "rf", "flavors"}, "standard"}, {{"workloadpriorityclasses", "wpc"}, "urgent"}};
  for (const auto& [names, part] : kinds) {
    const auto first = text_of(on(quick, {"get", names[0], "-A"}));
    EXPECT_NE(first.find(part), std::string::npos) << first;
    for (const auto& other : names) EXPECT_EQ(text_of(on(quick, {"get", other, "-A"})), first) << other;
    EXPECT_FALSE(json_of(on(quick, {"get", names[0], "-A"}))["items"].empty()) << names[0];
  }
  const Outcome none = hindsight(on(quick, {"get", "admissionchecks"}));
  EXPECT_EQ(none.status, 0);
  EXPECT_EQ(none.err, "No resources found.\n");
}

TEST_F(LogCommands, GetNarrowsByQueueAndStatus) {
  const auto count = [&](Words words) { return json_of(on(quick, std::move(words)))["items"].size(); };
  const auto all = count({"get", "wl", "-A"});
  EXPECT_EQ(count({"get", "wl", "-A", "-c", "team-a"}) + count({"get", "wl", "-A", "-c", "team-b"}), all);
  EXPECT_EQ(count({"get", "wl", "-A", "--status", "pending"}), 1U);
  EXPECT_EQ(count({"get", "wl", "-A", "--status", "pending", "--status", "finished"}), all);
  EXPECT_EQ(count({"get", "wl", "-n", "team-b"}), count({"get", "wl", "-A", "-c", "team-b"}));
  EXPECT_EQ(count({"get", "wl", "-n", "team-a", "-q", "nowhere"}), 0U);
}

// a position, a time, and a duration back are three names of one state
TEST_F(LogCommands, EveryKindOfMomentIsUnderstood) {
  const Json then = json_of(on(small, {"replay", "--at", "2026-01-01T00:00:20Z"}));
  const std::string position = std::to_string(then["position"].get<int>());
  const auto at = [&](const std::string& moment) { return json_of(on(small, {"get", "wl", "--at", moment})); };
  EXPECT_EQ(at(position), at("2026-01-01T00:00:20Z"));
  EXPECT_NE(at(position), at("latest"));
  const Json last = json_of(on(small, {"replay"}));
  EXPECT_EQ(at("latest"), at(std::to_string(last["position"].get<int>())));
  EXPECT_EQ(at("-0s"), at("latest"));
  EXPECT_NE(at("-80s"), at("latest"));
  EXPECT_EQ(json_of(on(small, {"replay", "--at", position}))["hash"], then["hash"]);
}

TEST_F(LogCommands, TheLogCanStandInTheEnvironment) {
  const ProgramOptions environment{.environment = {{"HINDSIGHT_LOG", "sqlite:" + small}}};
  EXPECT_EQ(hindsight({"get", "wl"}, environment).out, text_of(on(small, {"get", "wl"})));
}

// ---- describe, history, why
// ----------------------------------------------------------------------------------------------------------------

TEST_F(LogCommands, DescribeTellsAllOfEachKind) {
  const auto workload = text_of(on(quick, {"describe", "workload", "job/train-1", "-n", "team-a", "--at", "2026-01-01T00:00:05Z"}));
  EXPECT_NE(workload.find("Status:"), std::string::npos);
  EXPECT_NE(workload.find("standard"), std::string::npos) << workload;
  EXPECT_EQ(json_of(on(quick, {"describe", "workload", "job/team-a/train-1"}))["status"]["hindsight"]["phase"], "Finished");
  EXPECT_EQ(json_of(on(quick, {"describe", "clusterqueue", "team-b"}))["spec"]["cohortName"], "research");
  std::set<std::string> members;
  const Json research = json_of(on(quick, {"describe", "cohort", "research"}));
  for (const auto& name : research["status"]["hindsight"]["clusterQueues"]) members.insert(name);
  EXPECT_EQ(members, (std::set<std::string>{"team-a", "team-b"}));
  EXPECT_NE(text_of(on(quick, {"describe", "flavor", "standard"})).find("team-a"), std::string::npos);
  EXPECT_NE(text_of(on(quick, {"describe", "lq", "jobs", "-n", "team-a", "-o", "yaml"})).find("team-a"), std::string::npos);
  expect_error(hindsight(on(quick, {"describe", "cq", "team-c"})), 1, {"clusterqueues \"team-c\" not found", "did you mean team-a"});
  expect_error(hindsight(on(quick, {"describe", "ac", "x"})), 2, {"describe does not know admissionchecks"});
}

TEST_F(LogCommands, HistoryHasEachRecordOfOneJobInOrder) {
  const Json entries = json_of(on(small, {"history", "job/waiter"}));
  ASSERT_GT(entries.size(), 4U);
  int before = 0;
  for (const auto& e : entries) {
    EXPECT_GE(e["offset"].get<int>(), before);
    before = e["offset"];
  }
  const auto text = text_of(on(small, {"history", "job/waiter"}));
  for (const auto& e : entries) EXPECT_NE(text.find(e["text"].get<std::string>()), std::string::npos) << e;
  EXPECT_EQ(lines(text), entries.size() + 1);
  // up to a moment: a beginning of the whole
  const Json until = json_of(on(small, {"history", "job/waiter", "--at", "2026-01-01T00:00:20Z"}));
  ASSERT_LT(until.size(), entries.size());
  for (std::size_t i = 0; i < until.size(); ++i) EXPECT_EQ(until[i], entries[i]);
  // what is tried again and again is one line, or one each
  const Json brief = json_of(on(small, {"history", "job/huge"})), full = json_of(on(small, {"history", "job/huge", "--full"}));
  EXPECT_EQ(brief.back()["times"], 3);
  EXPECT_EQ(brief.back()["lastOffset"], full.back()["offset"]);
  EXPECT_GT(full.size(), brief.size());
  EXPECT_FALSE(full.back().contains("times"));
  EXPECT_NE(text_of(on(small, {"history", "job/huge"})).find("   3 times, last at "), std::string::npos);
  EXPECT_EQ(lines(text_of(on(small, {"history", "job/huge", "--full"}))), full.size() + 1);
  expect_error(hindsight(on(small, {"history", "nobody"})), 1, {"Workload default/nobody is nowhere in log"});
}

TEST_F(LogCommands, WhyAnswersForEveryMoment) {
  const Json then = json_of(on(small, {"why", "job/waiter", "--at", "2026-01-01T00:00:20Z"}));
  EXPECT_EQ(then["phase"], "Pending");
  EXPECT_EQ(then["reason"], "WaitingForQuota");
  EXPECT_EQ(then["quota"][0]["blockedBy"], "nominalQuota of ClusterQueue cq");
  EXPECT_EQ(json_of(on(small, {"why", "job/waiter", "--at", "2026-01-01T00:01:05Z"}))["phase"], "Admitted");
  const Json ended = json_of(on(small, {"why", "job/waiter"}));
  EXPECT_EQ(ended["phase"], "Finished");
  EXPECT_EQ(ended["life"]["waitedMicros"], 50'100'000);
  EXPECT_EQ(ended["life"]["ranMicros"], 30'000'000);
  EXPECT_EQ(ended["life"]["lostMicros"], 0);
  EXPECT_FALSE(then.contains("life"));
  EXPECT_NE(text_of(on(small, {"why", "job/huge"})).find("nominalQuota of cpu in flavor default were 40 instead of 4"), std::string::npos);
  // its job is there, its Workload is not yet
  const Json history = json_of(on(small, {"history", "job/holder"}));
  expect_error(hindsight(on(small, {"why", "job/holder", "--at", std::to_string(history[0]["offset"].get<int>())})), 1,
               {"job default/holder has no Workload at", "'hindsight history'"});
  expect_error(hindsight(on(small, {"why", "job/waitr"})), 1, {"job default/waitr not found", "did you mean waiter?"});
  expect_error(hindsight(on(small, {"why", "job/"})), 2, {"found \"job/\" for a workload; allowed: NAME"});
}

// ---- diff, replay, verify
// ------------------------------------------------------------------------------------------------------------------

TEST_F(LogCommands, DiffShowsWhatChangedAndNothingBetweenEqualMoments) {
  const Json d = json_of(on(small, {"diff", "2026-01-01T00:00:20Z", "latest"}));
  EXPECT_LT(d["before"]["position"].get<int>(), d["after"]["position"].get<int>());
  bool found = false;
  for (const auto& c : d["changes"]) found = found || (c["kind"] == "Workload" && c["name"].get<std::string>().starts_with("job-waiter-"));
  EXPECT_TRUE(found) << d;
  const auto text = text_of(on(small, {"diff", "2026-01-01T00:00:20Z"}));
  EXPECT_NE(text.find("~ Workload default/job-waiter-"), std::string::npos) << text;
  EXPECT_LT(lines(text_of(on(small, {"diff", "2026-01-01T00:00:20Z", "--summary"}))), lines(text));
  EXPECT_EQ(text_of(on(small, {"diff", "30", "30"})), "no difference\n");
  const auto back = text_of(on(small, {"diff", "latest", "2026-01-01T00:00:20Z", "--summary"}));  // backwards, too
  EXPECT_NE(back.find("job-waiter-"), std::string::npos);
}

TEST_F(LogCommands, ReplayFindsTheStateAgain) {
  const Json j = json_of(on(small, {"replay"}));
  EXPECT_EQ(j["domain"], "default");
  EXPECT_EQ(j["position"], j["records"]);
  EXPECT_EQ(j["hash"].get<std::string>().size(), 16U);
  EXPECT_EQ(json_of(on(small, {"replay", "--from-start"}))["hash"], j["hash"]);
  EXPECT_NE(text_of(on(small, {"replay"})).find("state    " + j["hash"].get<std::string>()), std::string::npos);
  const Json fields = json_of(on(small, {"replay", "--fields"}));
  const auto text = text_of(on(small, {"replay", "--fields"}));
  EXPECT_GT(fields["fields"].size(), 100U);
  EXPECT_NE(text.find("fields   " + fields["fieldsHash"].get<std::string>()), std::string::npos);
  for (const auto& line : fields["fields"]) EXPECT_NE(text.find("\n" + line.get<std::string>() + "\n"), std::string::npos) << line;
  EXPECT_EQ(json_of(on(small, {"replay", "--fields", "--from-start"}))["fields"], fields["fields"]);
  // the same manifests make the same log
  const std::string again = folder->file("again.db");
  const Json made = Json::parse(text_of({"simulate", folder->file("small.yaml"), "-o", "json", "--log", "sqlite:" + again}));
  EXPECT_EQ(made["hash"], j["hash"]);
  EXPECT_EQ(json_of(on(again, {"replay"}))["hash"], j["hash"]);
}

TEST_F(LogCommands, VerifyDecidesEverythingAgain) {
  for (const auto& log : {small, quick}) {
    const Json report = json_of(on(log, {"verify"}));
    EXPECT_TRUE(report["clean"]) << report;
    EXPECT_GT(report["decisions"].get<int>(), 10);
    EXPECT_TRUE(text_of(on(log, {"verify"})).starts_with("sound: "));
  }
  const Json part = json_of(on(quick, {"verify", "--to", "100"}));
  EXPECT_EQ(part["position"], 100);
  EXPECT_TRUE(json_of(on(quick, {"verify", "--from-snapshot"}))["clean"]);
}

/// As if a build of earlier rules had decided what this one did: where those rules lead elsewhere, the difference is no fault of the log.
TEST_F(LogCommands, VerifySaysWhatItDoesNotJudge) {
  const std::string other = folder->file("other-rules.db");
  {
    const auto from = events::SqliteLog::open(quick).value();
    const auto to = events::SqliteLog::open(other).value();
    events::RecordBatch batch;
    events::RecordReader reader;
    events::Encoder encoder;
    for (events::Position p = 1;; p += batch.size()) {
      ASSERT_TRUE(from->read(p, {}, batch));
      if (batch.empty()) break;
      for (const auto& stored : batch) {
        RecordView r = **reader.read(stored.bytes);
        if (auto* started = std::get_if<EpochStarted>(&r.body); started != nullptr) started->rules = admission::rules_with_rounds - 1;
        const events::EncodedRecord one{stored.domain, stored.sequence, stored.epoch, stored.time, encoder.encode(r)};
        ASSERT_TRUE(to->append({&one, 1}, std::nullopt));
      }
    }
  }
  const Json report = json_of(on(other, {"verify"}));
  EXPECT_TRUE(report["clean"]) << report;
  EXPECT_GT(report["decisionsByOtherRules"].get<int>(), 0);
  EXPECT_EQ(report["otherRules"], Json::array({admission::rules_with_rounds - 1}));
  const auto text = text_of(on(other, {"verify"}));
  EXPECT_TRUE(text.starts_with("sound as far as it was judged: ")) << text;
  const std::string told =
      " decisions by rules 1 not judged (this build decides otherwise, by rules " + std::to_string(admission::rules_version) + ")";
  EXPECT_NE(text.find(told), std::string::npos) << text;
}

// ---- log
// ---------------------------------------------------------------------------------------------------------------------------------

TEST_F(LogCommands, LogCatPrintsRecordsAndFiltersThem) {
  const auto all = text_of(on(small, {"log", "cat"}));
  EXPECT_EQ(lines(all), json_of(on(small, {"replay"}))["records"].get<std::size_t>());
  std::istringstream json(text_of(on(small, {"log", "cat", "-o", "json"})));
  std::size_t n = 0;
  for (std::string line; std::getline(json, line);) EXPECT_EQ(Json::parse(line)["offset"], ++n);
  EXPECT_EQ(n, lines(all));
  EXPECT_EQ(lines(text_of(on(small, {"log", "cat", "--from", "10", "--to", "14"}))), 5U);
  EXPECT_EQ(lines(text_of(on(small, {"log", "cat", "--limit", "3"}))), 3U);
  const auto reserved = text_of(on(small, {"log", "cat", "--kind", "QuotaReserved"}));
  EXPECT_EQ(lines(reserved), 2U) << reserved;
  EXPECT_LT(lines(text_of(on(small, {"log", "cat", "--object", "waiter"}))), lines(all));
  EXPECT_GT(lines(text_of(on(small, {"log", "cat", "--object", "default/waiter"}))), 0U);
  expect_error(hindsight(on(small, {"log", "cat", "--kind", "Nonsense"})), 2, {"--kind: Nonsense not in"});
}

TEST_F(LogCommands, LogStatsCountsWhatLogCatPrints) {
  const Json s = json_of(on(small, {"log", "stats"}));
  EXPECT_EQ(s["records"], lines(text_of(on(small, {"log", "cat"}))));
  int kinds = 0;
  for (const auto& k : s["kinds"]) kinds += k["records"].get<int>();
  EXPECT_EQ(kinds, s["records"]);
  EXPECT_EQ(s["firstTime"], "2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(s["domains"][0]["domain"], "default");
  EXPECT_EQ(s["epochs"].size(), 1U);
  EXPECT_NE(text_of(on(small, {"log", "stats"})).find("QuotaReserved"), std::string::npos);
}

TEST_F(LogCommands, NodesSaysWhoDecidesWhatAndWhereItStands) {
  const Json all = json_of(on(small, {"nodes"}));
  ASSERT_EQ(all.size(), 1U);
  const Json replayed = json_of(on(small, {"replay"}));
  const Json epoch = json_of(on(small, {"log", "stats"}))["epochs"][0];
  const Json& one = all[0];
  EXPECT_EQ(one["domain"], "default");
  EXPECT_EQ(one["partition"], 0);
  EXPECT_EQ(one["epoch"], epoch["epoch"]);
  EXPECT_EQ(one["owner"], epoch["writer"]);
  EXPECT_EQ(one["since"], epoch["time"]);
  EXPECT_EQ(one["position"], replayed["position"]);
  EXPECT_EQ(one["hash"], replayed["hash"]);
  EXPECT_TRUE(one["synced"]);
  EXPECT_LT(one["lag"], one["sequence"]);
  const auto table = text_of(on(small, {"nodes"}));
  EXPECT_TRUE(table.starts_with("DOMAIN ")) << table;
  EXPECT_EQ(lines(table), 2U);
  expect_error(hindsight(on(small, {"nodes", "--domain", "other"})), 1, {"--domain", "\"other\"", small});
}

TEST_F(LogCommands, LogCheckFindsNothingInGoodLogs) {
  for (const auto& log : {small, quick}) {
    const Json report = json_of(on(log, {"log", "check"}));
    EXPECT_TRUE(report["findings"].empty());
    EXPECT_TRUE(report["complete"]);
    EXPECT_NE(text_of(on(log, {"log", "check"})).find("nothing found"), std::string::npos);
  }
}

// ---- version, completion, help
// ------------------------------------------------------------------------------------------------------------

TEST_F(LogCommands, VersionNamesReleaseAndFormats) {
  const Json v = json_of({"version"});
  EXPECT_TRUE(text_of({"version"}).starts_with("hindsight " + v["version"].get<std::string>()));
  EXPECT_GE(v["schema"].get<int>(), 1);
  EXPECT_GE(v["snapshot"].get<int>(), 1);
  EXPECT_NE(text_of({"version", "-o", "yaml"}).find("version: "), std::string::npos);
  for (const char* fact : {"commit", "commitDate", "compiler", "platform"}) EXPECT_NE(v[fact].get<std::string>(), "") << fact;
  if (std::filesystem::exists(".git")) {
    EXPECT_EQ(v["commit"].get<std::string>().size(), 40U) << v["commit"];
  }
}

// Issue 21, 1: what a bug report needs stands in one document.
TEST_F(LogCommands, VersionNamesRulesLibrariesAndApis) {
  const Json v = json_of({"version"});
  EXPECT_EQ(v["rules"].get<std::uint32_t>(), admission::rules_version);
  EXPECT_NE(v["buildType"].get<std::string>(), "");
  const Json& built = v["libraries"]["builtWith"];
  for (const char* library : {"Boost", "CAF", "CURL", "FlatBuffers", "LibArchive", "OpenSSL", "SQLite", "Zstandard", "librdkafka",
                              "nlohmann_json", "simdjson", "spdlog", "yaml-cpp"}) {
    ASSERT_TRUE(built.contains(library)) << library << " is not in " << built;
    EXPECT_TRUE(std::isdigit(static_cast<unsigned char>(built[library].get<std::string>().at(0)))) << library << " " << built[library];
  }
  // This process was linked with what is installed here, so both name the same release.
  EXPECT_EQ(v["libraries"]["loaded"]["SQLite"], built["SQLite"]);
  EXPECT_EQ(v["libraries"]["loaded"]["CURL"], built["CURL"]);
  const auto has = [&v](const char* how, const char* version) {
    const Json& all = v["apiVersions"][how];
    return std::find(all.begin(), all.end(), version) != all.end();
  };
  for (const char* used : {"v1", "batch/v1", "kueue.x-k8s.io/v1beta2", "jobset.x-k8s.io/v1alpha2", "ray.io/v1"})
    EXPECT_TRUE(has("uses", used)) << used << " is not in " << v["apiVersions"];
  EXPECT_TRUE(has("converts", "kueue.x-k8s.io/v1beta1"));
  EXPECT_TRUE(has("serves", "visibility.kueue.x-k8s.io/v1beta2"));
  EXPECT_NE(text_of({"version", "-o", "yaml"}).find("- batch/v1\n"), std::string::npos);
}

TEST_F(LogCommands, CompletionIsAScriptThatBashTakes) {
  const std::string script = write(folder->file("completion"), text_of({"completion", "bash"}));
  const std::string probe =
      "source " + script +
      "; COMP_WORDS=(" HINDSIGHT_BINARY
      " log ch); COMP_CWORD=2; _hindsight; [[ \"${COMPREPLY[*]}\" == \"check checkpoints\" ]] && COMP_WORDS=(" HINDSIGHT_BINARY
      " g); "
      "COMP_CWORD=1; _hindsight; [[ \"${COMPREPLY[*]}\" == get ]] || exit 1";
  EXPECT_EQ(std::system(("bash -c '" + probe + "'").c_str()), 0);
  EXPECT_TRUE(text_of({"completion", "zsh"}).starts_with("#compdef hindsight\n"));
}

TEST_F(LogCommands, EveryCommandExplainsItself) {
  for (const Words& words : std::vector<Words>{{}, {"get"}, {"run"}, {"log"}, {"log", "cat"}, {"simulate"}}) {
    Words with = words;
    with.emplace_back("--help");
    EXPECT_NE(text_of(with).find("Options:"), std::string::npos);
  }
}

}  // namespace
}  // namespace hindsight::test
