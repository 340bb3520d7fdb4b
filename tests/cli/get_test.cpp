// How one asks for objects, and what is there without being asked for: names in all their forms, selectors, orders, columns, JSONPath,
// events, watching, the log in the folder, help, completion, and options that are refused.

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include "events/record.hpp"
#include "events/sqlite_log.hpp"
#include "tests/cli/worlds.hpp"

namespace hindsight::test {
namespace {

using Asking = Logs;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t out = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++out;
  return out;
}

/// The Workload of a job of the small world.
std::string workload_of(const std::string& log, const std::string& job_name) {
  const auto all = json_of(on(log, {"get", "wl"}));
  for (const auto& item : all["items"]) {
    const std::string name = item["metadata"]["name"];
    if (name.starts_with("job-" + job_name + "-")) return name;
  }
  return "no Workload of " + job_name;
}

/// What a shell prints for a line in which `hindsight` is the program; both streams.
std::string through_shell(const std::string& line) {
  const std::string program = std::filesystem::path(HINDSIGHT_BINARY).parent_path().string();
  FILE* pipe = popen(("export PATH=" + program + ":$PATH; unset HINDSIGHT_LOG; { " + line + "; } 2>&1").c_str(), "r");
  if (pipe == nullptr) return "no pipe";
  std::string out;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) out.append(buffer.data(), n);
  pclose(pipe);
  return out;
}

// ---- names

TEST_F(Asking, AnObjectIsNamedInOneWayEverywhere) {
  const std::string waiter = workload_of(small, "waiter"), holder = workload_of(small, "holder");
  const std::string expected = text_of(on(small, {"get", "workloads", waiter}));
  EXPECT_EQ(lines_of(expected).size(), 2U);
  for (const Words& words : {Words{"get", "workload/" + waiter},
                             {"get", "wl/default/" + waiter},
                             {"get", "wl", "default/" + waiter},
                             {"get", "wl", waiter, "-n", "default"},
                             {"get", "workload.kueue.x-k8s.io/" + waiter},
                             {"get", "job/waiter"},
                             {"get", "jobs", "waiter"},
                             {"get", "wl", "job/default/waiter"}})
    EXPECT_EQ(text_of(on(small, words)), expected) << ::testing::PrintToString(words);
  EXPECT_EQ(lines_of(text_of(on(small, {"get", "workload/" + waiter, "job/holder"}))).size(), 3U);
  EXPECT_EQ(json_of(on(small, {"get", "job/holder"}))["metadata"]["name"], holder);
  EXPECT_EQ(text_of(on(small, {"get", "wl/" + waiter, "-o", "name"})), "workload.kueue.x-k8s.io/" + waiter + "\n");

  const std::string described = text_of(on(small, {"describe", "workload", waiter}));
  for (const Words& words : {Words{"describe", "wl/" + waiter},
                             {"describe", "wl/default/" + waiter},
                             {"describe", "wl", "job/waiter"},
                             {"describe", "job/waiter"},
                             {"describe", "job", "default/waiter"}})
    EXPECT_EQ(text_of(on(small, words)), described) << ::testing::PrintToString(words);
  EXPECT_EQ(text_of(on(small, {"describe", "lq/default/lq"})), text_of(on(small, {"describe", "localqueue", "lq"})));
  EXPECT_EQ(text_of(on(small, {"describe", "cq/cq"})), text_of(on(small, {"describe", "clusterqueue", "cq"})));
  EXPECT_EQ(text_of(on(small, {"history", "wl/default/" + waiter})), text_of(on(small, {"history", waiter})));
  EXPECT_EQ(text_of(on(small, {"why", "workload/" + waiter})), text_of(on(small, {"why", "default/" + waiter})));
}

TEST_F(Asking, ObjectsOfSeveralNamespacesStandInOneTable) {
  const auto rows = lines_of(text_of(on(quick, {"get", "lq", "team-a/jobs", "team-b/jobs"})));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_TRUE(rows[0].starts_with("NAMESPACE   NAME"));
  EXPECT_TRUE(rows[1].starts_with("team-a "));
  EXPECT_TRUE(rows[2].starts_with("team-b "));
  EXPECT_EQ(json_of(on(quick, {"get", "lq/team-b/jobs"}))["metadata"]["namespace"], "team-b");
}

TEST_F(Asking, SeveralKindsAtOnce) {
  const std::string both = text_of(on(small, {"get", "cq,lq"}));
  EXPECT_NE(both.find("\nclusterqueue.kueue.x-k8s.io/cq "), std::string::npos) << both;
  EXPECT_NE(both.find("\nlocalqueue.kueue.x-k8s.io/lq "), std::string::npos) << both;
  EXPECT_EQ(times_in(both, "\n\n"), 1U) << both;
  EXPECT_EQ(text_of(on(small, {"get", "cq,lq", "-o", "name"})), "clusterqueue.kueue.x-k8s.io/cq\nlocalqueue.kueue.x-k8s.io/lq\n");
  std::vector<std::string> kinds;
  const auto listed = json_of(on(small, {"get", "lq,cq"}));
  for (const auto& item : listed["items"]) kinds.push_back(item["kind"]);
  EXPECT_EQ(kinds, (std::vector<std::string>{"LocalQueue", "ClusterQueue"}));
}

TEST_F(Asking, NamesThatAreWrongAreToldWithWhatIsAllowed) {
  expect_error(hindsight(on(small, {"get", "cq/default/cq"})), 2, {"found \"cq/default/cq\" for clusterqueue; allowed: NAME"});
  expect_error(hindsight(on(small, {"get", "pods/a"})), 2, {"found kind \"pods\"; allowed: workloads", "by their jobs: job, jobset"});
  expect_error(hindsight(on(small, {"get", "wl/a", "b"})), 2, {"found \"b\" beside KIND/NAME; allowed: KIND NAME"});
  expect_error(hindsight(on(small, {"get", "jobs"})), 2, {"found \"jobs\" without a name; allowed: job/NAME"});
  expect_error(hindsight(on(small, {"get", "cq/cp"})), 1, {"clusterqueues \"cp\" not found, did you mean cq?"});
  expect_error(hindsight(on(small, {"get", "job/nobody"})), 1, {"job default/nobody not found"});
  expect_error(hindsight(on(small, {"get", "wl/elsewhere/a"})), 1, {"workloads \"elsewhere/a\" not found"});
  expect_error(hindsight(on(small, {"describe", "wl"})), 2, {"name is required; allowed: KIND NAME, KIND/NAME, KIND/NAMESPACE/NAME"});
  expect_error(hindsight(on(small, {"describe", "lq/lp"})), 1, {"localqueues \"default/lp\" not found, did you mean lq?"});
  expect_error(hindsight(on(small, {"why", "pod/a/b"})), 2,
               {"found \"pod/a/b\" for a workload; allowed: NAME", "jobset, raycluster or rayjob"});
}

// ---- choosing

TEST_F(Asking, FieldsChoose) {
  const auto names = [](Words words) {
    words.insert(words.end(), {"-o", "name"});
    return lines_of(text_of(on(small, words)));
  };
  const std::string huge = "workload.kueue.x-k8s.io/" + workload_of(small, "huge");
  EXPECT_EQ(names({"get", "wl", "--field-selector", "status.phase=Pending"}), std::vector<std::string>{huge});
  EXPECT_EQ(names({"get", "wl", "--field-selector", "status.phase!=Finished,spec.queueName=lq"}), std::vector<std::string>{huge});
  EXPECT_EQ(names({"get", "wl", "--field-selector", "spec.queueName!=lq"}).size(), 0U);
  EXPECT_EQ(names({"get", "wl", "--field-selector", "status.admission.clusterQueue=cq"}).size(), 2U);
  const auto row = lines_of(text_of(on(small, {"get", "wl", "--field-selector", "status.phase=Pending"})));
  ASSERT_EQ(row.size(), 2U);
  EXPECT_TRUE(row[1].starts_with(workload_of(small, "huge")));
  expect_error(hindsight(on(small, {"get", "cq", "--field-selector", "spec.colour=red"})), 2,
               {"--field-selector: found field \"spec.colour\" of clusterqueues; allowed: metadata.name, spec.cohortName"});
}

TEST_F(Asking, LabelsChooseWhereTheLogKeepsThem) {
  const TemporaryFolder own;
  const std::string log = own.file("labels.db");
  const std::string more =
      "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: marked, namespace: default, labels: {team: a, tier: "
      "gold}}\nspec: {clusterQueue: cq}\n";
  text_of({"simulate", write(own.file("m.yaml"), small_world + more), "--log", "sqlite:" + log});
  const auto names = [&](const std::string& selector) { return text_of(on(log, {"get", "lq", "-l", selector, "-o", "name"})); };
  const std::string marked = "localqueue.kueue.x-k8s.io/marked\n", plain = "localqueue.kueue.x-k8s.io/lq\n";
  EXPECT_EQ(names("team=a"), marked);
  EXPECT_EQ(names("team=a,tier in (silver, gold)"), marked);
  EXPECT_EQ(names("team!=a"), plain);
  EXPECT_EQ(names("!team"), plain);
  EXPECT_EQ(names("team notin (b)"), plain + marked);
  EXPECT_EQ(names("team=b"), "");
  expect_error(hindsight(on(log, {"get", "lq", "-l", "team in a"})), 2, {"--selector: found \"team in a\"", "allowed: KEY=VALUE"});
  expect_error(hindsight(on(log, {"get", "wl", "-l", "team=a"})), 2,
               {"--selector: found with workloads, whose labels decisions do not read", "allowed: with localqueues, nodes"});
}

TEST_F(Asking, RowsStandInTheOrderOfAField) {
  const auto column = [&](Words words) {
    words.insert(words.end(), {"-A", "--no-headers", "-o", "custom-columns=P:.spec.priority"});
    return lines_of(text_of(on(quick, words)));
  };
  auto expected = column({"get", "wl"});
  ASSERT_EQ(expected.size(), 12U);
  const auto given = expected;
  std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) { return std::stoi(a) < std::stoi(b); });
  ASSERT_NE(given, expected) << "they stand so already: the test proves nothing";
  EXPECT_EQ(column({"get", "wl", "--sort-by", ".spec.priority"}), expected);
  EXPECT_EQ(column({"get", "wl", "--sort-by", "{.spec.priority}"}), expected);
  // Tables follow.
  const auto rows = lines_of(text_of(on(quick, {"get", "wl", "-A", "--sort-by", "spec.priority"})));
  ASSERT_EQ(rows.size(), 13U);
  EXPECT_NE(rows.back().find("job-hotfix-"), std::string::npos) << rows.back();
  expect_error(hindsight(on(quick, {"get", "wl", "-A", "--sort-by", ".spec.nothing"})), 2,
               {"--sort-by: found \".spec.nothing\", which none of the objects has"});
  expect_error(hindsight(on(quick, {"get", "wl", "-A", "--sort-by", ".spec["})), 2, {"--sort-by: JSONPath", "allowed: "});
}

TEST_F(Asking, PathsAndColumnsPrintWhatIsAskedFor) {
  const std::string waiter = workload_of(small, "waiter");
  EXPECT_EQ(text_of(on(small, {"get", "wl", waiter, "-o", "jsonpath={.spec.queueName}"})), "lq");
  std::string expected;
  const auto every = json_of(on(small, {"get", "wl"}));
  for (const auto& item : every["items"]) expected += item["metadata"]["name"].get<std::string>() + "\n";
  EXPECT_EQ(text_of(on(small, {"get", "wl", "-o", "jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{end}"})), expected);
  EXPECT_EQ(text_of(on(small, {"get", "wl", "-o", "jsonpath={.items[?(@.metadata.name==\"" + waiter + "\")].spec.queueName}"})), "lq");
  EXPECT_EQ(text_of(on(small, {"get", "wl/" + waiter, "-o", "custom-columns=NAME:.metadata.name,QUEUE:.spec.queueName,X:.nothing"})),
            "NAME" + std::string(waiter.size() - 4 + 3, ' ') + "QUEUE   X\n" + waiter + "   lq      <none>\n");
  expect_error(hindsight(on(small, {"get", "wl", "-o", "jsonpath={.items["})), 2, {"--output: JSONPath", "allowed: "});
  expect_error(hindsight(on(small, {"get", "wl", "-o", "custom-columns=NAME"})), 2,
               {"--output: custom-columns: found \"NAME\"; allowed: HEADING"});
}

TEST_F(Asking, OptionsOfOtherKindsAreRefused) {
  const std::pair<Words, const char*> cases[] = {
      {{"cq", "--status", "pending"}, "--status: found with clusterqueues; allowed: with workloads"},
      {{"cq", "-q", "lq"}, "--localqueue: found with clusterqueues; allowed: with workloads"},
      {{"wl,cq", "-c", "cq"}, "--clusterqueue: found with clusterqueues; allowed: with workloads, localqueues"},
      {{"wl", "--for", "job/a"}, "--for: found with workloads; allowed: with events"},
      {{"wl", "--since", "1"}, "--since: found with workloads; allowed: with events"},
      {{"events", "--for", "job"}, "--for: found \"job\"; allowed: KIND/NAME"},
      {{"events", "--for", "colour/red"}, "--for: found \"colour/red\"; allowed: one of the kinds"},
      {{"events", "--for", "cq/default/cq"}, "--for: found \"cq/default/cq\"; allowed: KIND/NAME: clusterqueue is in no namespace"},
      {{"wl", "-w", "--at", "3"}, "excludes"}};
  for (const auto& [words, part] : cases) {
    Words all{"get"};
    all.insert(all.end(), words.begin(), words.end());
    expect_error(hindsight(on(small, all)), 2, {part});
  }
}

// ---- events

TEST_F(Asking, EventsAreThoseThatFollowFromTheLog) {
  const std::string holder = workload_of(small, "holder"), huge = workload_of(small, "huge");
  const Json list = json_of(on(small, {"get", "events"}));
  std::set<std::string> told;
  std::string before;
  for (const auto& event : list["items"]) {
    EXPECT_EQ(event["kind"], "Event");
    const std::string last = event["lastTimestamp"];
    EXPECT_LE(before, last) << "the newest stands last";
    before = last;
    told.insert(event["involvedObject"]["kind"].get<std::string>() + "/" + event["involvedObject"]["name"].get<std::string>() + " " +
                event["reason"].get<std::string>());
  }
  for (const auto& expected : {"Job/holder CreatedWorkload", "Job/holder Started", "Job/holder FinishedWorkload"})
    EXPECT_TRUE(told.contains(expected)) << expected;
  EXPECT_TRUE(told.contains("Workload/" + holder + " QuotaReserved"));
  EXPECT_TRUE(told.contains("Workload/" + holder + " Admitted"));
  EXPECT_FALSE(told.contains("Workload/" + huge + " Admitted"));

  // Equal ones are one, with as many as there were decisions.
  const Json of_huge = json_of(on(small, {"get", "events", "--for", "workload/" + huge}));
  ASSERT_EQ(of_huge["items"].size(), 1U) << of_huge;
  EXPECT_EQ(of_huge["items"][0]["reason"], "ExceedsMaxQuota");
  EXPECT_EQ(of_huge["items"][0]["type"], "Warning");
  const auto decisions = lines_of(text_of(on(small, {"log", "cat", "--kind", "EntryRequeued", "--object", "default/" + huge})));
  EXPECT_EQ(of_huge["items"][0]["count"], decisions.size());

  const std::string table = text_of(on(small, {"get", "ev", "--for", "job/default/holder"}));
  EXPECT_TRUE(table.starts_with("TIME ")) << table;
  EXPECT_EQ(times_in(table, "job/holder"), lines_of(table).size() - 1) << table;
  EXPECT_NE(table.find("Created Workload: default/" + holder), std::string::npos) << table;
  EXPECT_TRUE(text_of(on(small, {"get", "events", "-A"})).starts_with("NAMESPACE "));
  EXPECT_EQ(json_of(on(small, {"get", "events", "--field-selector", "type=Warning,involvedObject.name=" + huge}))["items"].size(), 1U);
}

TEST_F(Asking, EventsHaveABeginningAndAnEnd) {
  const auto count = [](Words words) {
    words.insert(words.begin(), {"get", "events"});
    return json_of(on(small, words))["items"].size();
  };
  const std::size_t all = count({});
  const std::size_t early = count({"--at", "2026-01-01T00:00:20Z"}), late = count({"--since", "2026-01-01T00:00:20Z"});
  EXPECT_GT(early, 0U);
  EXPECT_GT(late, 0U);
  EXPECT_LT(early, all);
  EXPECT_LT(late, all);
  EXPECT_EQ(count({"-n", "nowhere"}), 0U);
  EXPECT_EQ(count({"--since", "1"}), all);
  const Outcome none = hindsight(on(small, {"get", "events", "-n", "nowhere"}));
  EXPECT_EQ(none.status, 0);
  EXPECT_EQ(none.err, "No resources found in nowhere namespace.\n");
}

// ---- watching

/// Adds the records from `from` to `to` of one log to another one.
void add_part(const std::string& from_file, events::Log& to, events::Position from, events::Position last) {
  const auto log = events::SqliteLog::open(from_file, {.read_only = true}).value();
  events::RecordBatch batch;
  for (events::Position p = from; p <= last; p += batch.size()) {
    ASSERT_TRUE(log->read(p, {}, batch));
    ASSERT_FALSE(batch.empty());
    for (const auto& stored : batch) {
      if (stored.offset > last) return;
      const events::EncodedRecord one = stored;
      ASSERT_TRUE(to.append({&one, 1}, std::nullopt));
    }
  }
}

TEST_F(Asking, WatchingGoesOnAsTheLogGrows) {
  const TemporaryFolder own;
  const std::string live = own.file("live.db"), waiter = workload_of(small, "waiter"), huge = workload_of(small, "huge");
  const auto middle = json_of(on(small, {"replay", "--at", "2026-01-01T00:00:20Z"}))["position"].get<events::Position>();
  const auto last = json_of(on(small, {"replay"}))["position"].get<events::Position>();
  ASSERT_LT(middle, last);
  const auto writer = events::SqliteLog::open(live).value();
  add_part(small, *writer, 1, middle);
  Program table(on(live, {"get", "wl", "-w"}));
  Program path(
      on(live, {"get", "wl", "--watch", "-o", R"(jsonpath={.metadata.name}={.status.conditions[?(@.type=="Finished")].reason}{"\n"})"}));
  Program events(on(live, {"get", "events", "-w", "-o", R"(jsonpath={.reason} {.involvedObject.name}{"\n"})"}));
  EXPECT_TRUE(table.wait_for("Pending/WaitingForQuota")) << table.said();
  EXPECT_TRUE(path.wait_for(waiter + "=\n")) << path.said();
  EXPECT_TRUE(events.wait_for("ExceedsMaxQuota " + huge + "\n")) << events.said();
  EXPECT_EQ(table.said().find("Finished/Succeeded"), std::string::npos) << table.said();
  EXPECT_EQ(events.said().find("FinishedWorkload"), std::string::npos) << events.said();
  add_part(small, *writer, middle + 1, last);
  EXPECT_TRUE(path.wait_for(waiter + "=Succeeded\n")) << path.said();
  EXPECT_TRUE(table.wait_for("Finished/Succeeded")) << table.said();
  EXPECT_TRUE(events.wait_for("FinishedWorkload waiter\n")) << events.said();
  EXPECT_EQ(times_in(table.said(), "NAME "), 1U) << table.said();
  // What is as it was is not printed again.
  EXPECT_EQ(times_in(table.said(), huge), 1U) << table.said();
  for (Program* program : {&table, &path, &events}) {
    program->signal(SIGTERM);
    EXPECT_NE(program->wait().status, 1);
  }
}

/// An object that was deleted is printed once more, in its last form; with --output-watch-events that is said.
TEST_F(Asking, WatchingTellsWhatWasDeleted) {
  const TemporaryFolder own;
  const std::string live = own.file("live.db"), huge = workload_of(small, "huge"), waiter = workload_of(small, "waiter");
  const auto last = json_of(on(small, {"replay"}))["position"].get<events::Position>();
  const Json object = json_of(on(small, {"get", "wl/" + huge}));
  const std::string uid = object["metadata"]["uid"];
  const auto writer = events::SqliteLog::open(live).value();
  add_part(small, *writer, 1, last);
  Program table(on(live, {"get", "wl", "-w"}));
  Program events(on(live, {"get", "wl", "-w", "--output-watch-events"}));
  Program documents(
      on(live, {"get", "wl/" + huge, "-w", "--output-watch-events", "-o", R"(jsonpath={.type} {.object.metadata.name}{"\n"})"}));
  Program columns(on(live, {"get", "wl", "-w", "--output-watch-events", "-o", "custom-columns=T:.type,N:.object.metadata.name"}));
  EXPECT_TRUE(table.wait_for(huge)) << table.said();
  EXPECT_TRUE(events.wait_for("ADDED   " + huge)) << events.said();
  EXPECT_TRUE(documents.wait_for("ADDED " + huge + "\n")) << documents.said();
  EXPECT_TRUE(columns.wait_for("ADDED   " + huge)) << columns.said();
  EXPECT_EQ(times_in(events.said(), "EVENT "), 1U) << events.said();

  ObjectDeleted deleted;
  deleted.kind = ObjectKind::workload;
  deleted.namespace_ = "default";
  deleted.name = huge;
  deleted.uid = uid;
  RecordView record;
  record.envelope = {"default", last + 1, 1, Time::from_seconds(1'800'000'000), 0};
  record.body = Observation(deleted);
  const auto bytes = events::encode(record);
  const events::EncodedRecord encoded{"default", last + 1, 1, Time::from_seconds(1'800'000'000), bytes};
  ASSERT_TRUE(writer->append({&encoded, 1}, std::nullopt));

  EXPECT_TRUE(events.wait_for("DELETED   " + huge)) << events.said();
  EXPECT_TRUE(documents.wait_for("DELETED " + huge + "\n")) << documents.said();
  EXPECT_TRUE(columns.wait_for("DELETED   " + huge)) << columns.said();
  for (int i = 0; i < 1200 && times_in(table.said(), huge) < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(times_in(table.said(), huge), 2U) << table.said();
  EXPECT_EQ(times_in(table.said(), waiter), 1U) << table.said();
  EXPECT_EQ(times_in(events.said(), "EVENT "), 1U) << events.said();
  for (Program* program : {&table, &events, &documents, &columns}) {
    program->signal(SIGTERM);
    EXPECT_NE(program->wait().status, 1);
  }
  expect_error(hindsight(on(small, {"get", "wl", "--output-watch-events"})), 2, {"--output-watch-events requires --watch"});
}

// ---- the log in the folder, and help

TEST_F(Asking, TheLogOfTheFolderIsTheOneThatIsMeant) {
  const TemporaryFolder own;
  const ProgramOptions here{.folder = own.path().string()};
  for (const Words& words : {Words{"get", "wl"}, {"why", "job/holder"}, {"verify"}, {"nodes"}, {"log", "check"}, {"log", "cat"}})
    expect_error(hindsight(words, here), 2,
                 {"--log: no log is named, and there is no hindsight.db in", own.path().filename().string(), "allowed: --log sqlite:FILE",
                  "HINDSIGHT_LOG"});
  EXPECT_FALSE(std::filesystem::exists(own.file("hindsight.db")));
  std::filesystem::copy_file(small, own.file("hindsight.db"));
  for (const Words& words : {Words{"get", "wl"}, {"why", "job/holder"}, {"verify"}, {"log", "cat"}, {"log", "check"}})
    EXPECT_EQ(hindsight(words, here).out, text_of(on(small, words))) << ::testing::PrintToString(words);
  const ProgramOptions elsewhere{.environment = {{"HINDSIGHT_LOG", own.file("absent.db")}}, .folder = own.path().string()};
  expect_error(hindsight({"get", "wl"}, elsewhere), 1, {"absent.db: no such file"});
}

TEST_F(Asking, HelpAndVersionAreWhereOneLooksForThem) {
  EXPECT_EQ(text_of({"--version"}), text_of({"version"}));
  EXPECT_EQ(text_of({"help"}), text_of({"--help"}));
  EXPECT_EQ(text_of({"help", "get"}), text_of({"get", "--help"}));
  EXPECT_EQ(text_of({"help", "log", "cat"}), text_of({"log", "cat", "--help"}));
  EXPECT_NE(text_of({"help"}).find("hindsight.db in the current folder"), std::string::npos);
  expect_error(hindsight({"help", "gett"}), 2, {"found command \"gett\", did you mean get, eta?"});
  expect_error(hindsight({"help", "get", "wl"}), 2, {"found command \"wl\"; 'hindsight get' has no commands of its own"});
}

// ---- options that have no meaning beside others

TEST_F(Asking, TheQuickStartRefusesWhatItDoesNotDo) {
  const TemporaryFolder own;
  for (const Words& option : {Words{"--http", "127.0.0.1:0"},
                              {"--kubeconfig", "x"},
                              {"--context", "c"},
                              {"--role", "node"},
                              {"--role", "all"},
                              {"--domain", "d"},
                              {"--domains", "one"},
                              {"--group", "g"},
                              {"--member", "m"},
                              {"--session-timeout", "5"},
                              {"--standby"},
                              {"--snapshot-dir", "d"},
                              {"--keep-history", "1h"},
                              {"--log-limit", "1Gi"},
                              {"--durability", "off"},
                              {"--probe-address", "127.0.0.1:0"},
                              {"--metrics"},
                              {"--max-in-flight", "3"},
                              {"--connect-timeout", "1"},
                              {"--lease-namespace", "n"},
                              {"--no-lease"},
                              {"--webhooks"},
                              {"--visibility"}}) {
    Words words{"run", "--quickstart", "examples/quickstart", "--log", "sqlite:" + own.file("never.db")};
    words.insert(words.end(), option.begin(), option.end());
    expect_error(hindsight(words), 2,
                 {option.front() + ": not with --quickstart", "allowed with it: --keep, --ui, --log, --log-config, --config"});
    EXPECT_FALSE(std::filesystem::exists(own.file("never.db")));
  }
  expect_error(hindsight({"run", "--keep"}), 2, {"--keep requires --quickstart"});
}

// ---- manifests from a pipe

TEST_F(Asking, SimulateReadsStandardInput) {
  const TemporaryFolder own;
  const std::string queues = write(own.file("a.yaml"), small_world), jobs = write(own.file("b.yaml"), job("holder", "3"));
  const std::string expected = text_of({"simulate", queues, jobs});
  EXPECT_EQ(through_shell("cat " + queues + " " + jobs + " | hindsight simulate -"), expected);
  EXPECT_EQ(through_shell("hindsight simulate " + queues + " - < " + jobs), expected);
  EXPECT_NE(through_shell("printf 'kind: Jobb\\n' | hindsight simulate -").find("hindsight: error: standard input:"), std::string::npos);
  EXPECT_NE(through_shell("hindsight simulate - - < " + queues).find("found - twice; allowed: standard input once"), std::string::npos);
  expect_error(hindsight({"simulate", "-"}), 2, {"nothing to simulate"});
}

// ---- completion

TEST_F(Asking, ShellsAskTheProgramForWhatMayFollow) {
  const std::string waiter = workload_of(small, "waiter");
  const auto offered = [](const Words& words) {
    Words all{"__complete"};
    all.insert(all.end(), words.begin(), words.end());
    return text_of(all);
  };
  EXPECT_EQ(offered({"get", "wl", "--log", small, "job-w"}), waiter + "\n:end\n");
  EXPECT_EQ(offered({"get", "--log", small, "wl/job-w"}), "wl/" + waiter + "\n:end\n");
  EXPECT_EQ(offered({"why", "--log", small, "job/w"}), "job/waiter\n:end\n");
  EXPECT_EQ(offered({"why", "--log", small, "default/job-w"}), "default/" + waiter + "\n:end\n");
  EXPECT_EQ(offered({"describe", "cq", "--log", small, ""}), "cq\n:end\n");
  EXPECT_EQ(offered({"get", "wl", "--log", small, "-c", ""}), "cq\n:end\n");
  EXPECT_EQ(offered({"get", "wl", "--log", quick, "-n", "team-"}), "team-a\nteam-b\n:end\n");
  EXPECT_EQ(offered({"verify", "--log", small, "--domain", ""}), "default\n:end\n");
  EXPECT_EQ(offered({"get", "wl", "--log", small, "--for", "never/"}), ":end\n");

  const std::string bash =
      "bash --norc --noprofile -c '. <(hindsight completion bash); COMP_WORDS=(hindsight get clusterq); COMP_CWORD=2; _hindsight; "
      "echo \"${COMPREPLY[@]}\"'";
  EXPECT_EQ(through_shell(bash), "clusterqueues\n");
  const std::string files =
      "cd " + folder->path().string() +
      " && bash --norc --noprofile -c '. <(hindsight completion bash); COMP_WORDS=(hindsight simulate smal); COMP_CWORD=2; "
      "_hindsight; printf \"%s\\n\" \"${COMPREPLY[@]}\"'";
  EXPECT_NE(through_shell(files).find("small.yaml\n"), std::string::npos);
  for (const char* shell : {"zsh", "fish"}) EXPECT_NE(text_of({"completion", shell}).find("__complete"), std::string::npos);
}

}  // namespace
}  // namespace hindsight::test
