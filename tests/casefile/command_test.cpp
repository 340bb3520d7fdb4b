// `hindsight evidence` as a command: what is in the file is what the other commands print, of jobs of every kind; files that are there,
// logs that are damaged, empty or being written.

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/casefile/unpacked.hpp"
#include "tests/projections/simulated.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::casefile::testing {
namespace {

using projections::Played;

class EvidenceCommand : public ::testing::Test {
 protected:
  test::TemporaryFolder folder_;
  int made_ = 0;

  /// Makes evidence that must come about.
  Unpacked make(const std::string& target, const std::string& log, std::vector<std::string> more = {}) {
    const std::string file = folder_.file("evidence-" + std::to_string(++made_) + ".tar.gz");
    std::vector<std::string> words{"evidence", "--for", target, "-o", file, "--log", log};
    words.insert(words.end(), more.begin(), more.end());
    const Said said = say(words);
    EXPECT_EQ(said.status, 0) << said.err;
    if (said.status != 0) throw std::runtime_error(said.err);
    return Unpacked(file);
  }

  /// Every text in it is what a command prints of the log.
  void expect_as_printed(const Unpacked& file, const std::string& target, const std::string& log) {
    SCOPED_TRACE(target);
    const auto why = file.json("why.json");
    const std::string at = std::to_string(why["position"].get<std::uint64_t>());
    const Said text = say({"why", target, "--at", at, "--log", log});
    EXPECT_EQ(text.out, file.files.at("why.txt")) << text.err;
    EXPECT_EQ(say({"why", target, "--at", at, "--log", log, "-o", "json"}).out, file.files.at("why.json"));
    const std::string upto = std::to_string(file.json("manifest.json")["position"].get<std::uint64_t>());
    EXPECT_EQ(say({"history", target, "--at", upto, "--log", log, "-o", "json"}).out, file.files.at("history.json"));
    const Said all = say({"log", "cat", "--log", log, "-o", "json"});
    const auto lines = file.lines("decoded.jsonl");
    EXPECT_FALSE(lines.empty());
    for (std::string line : lines) {
      const auto role = line.find(",\"role\":\"");
      ASSERT_NE(role, std::string::npos) << line;
      line.erase(role, line.find('"', role + 9) + 1 - role);
      EXPECT_NE(all.out.find(line + "\n"), std::string::npos) << line;
    }
    EXPECT_EQ(markup_fault(file.files.at("index.html")), "");
    EXPECT_EQ(file.order.front(), "README.md");
    EXPECT_TRUE(std::is_sorted(file.order.begin(), file.order.end()));
  }
};

TEST_F(EvidenceCommand, HoldsWhatTheOtherCommandsPrint) {
  const Played run(std::vector<std::string>{"examples/quickstart"});
  const std::string log = write_log(run.log, folder_.file("log.db"));
  for (const auto& [target, at] : std::vector<std::pair<const char*, const char*>>{
           {"job/team-a/sweep-1", "170"}, {"job/team-a/moonshot", "250"}, {"job/team-b/backfill", "290"}}) {
    expect_as_printed(make(target, log), target, log);
    expect_as_printed(make(target, log, {"--at", at}), target, log);
  }
  const auto file = make("job/team-a/sweep-1", log);
  EXPECT_EQ(file.folder, "evidence-team-a-sweep-1");
  const auto life = file.json("life.json");
  EXPECT_EQ(life["end"], "finished: Succeeded");
  EXPECT_EQ(life["losses"].size(), 2U) << "it was preempted twice";
  // A decision is explained with what was known then.
  bool preempted = false;
  for (const auto& one : file.json("decisions.json")) {
    const Said then = say({"why", "job/team-a/sweep-1", "--at", std::to_string(one["position"].get<int>()), "--log", log});
    EXPECT_NE(then.out.find(one["headline"].get<std::string>()), std::string::npos) << then.out;
    preempted = preempted || one["occasion"].get<std::string>().find("preempted by team-b/job-train") != std::string::npos;
  }
  EXPECT_TRUE(preempted);
}

// Each has its own shape of state: Options beside a Parent, slices of an elastic job, places in a topology.
TEST_F(EvidenceCommand, IsMadeOfJobsOfEveryKind) {
  const Played families(std::vector<std::string>{"examples/concurrent-admission"}), topology(std::vector<std::string>{"examples/topology"});
  const auto jobs_in = [](const Played& run) {
    std::vector<std::string> out;
    run.each([&](events::Position, const RecordView& r) {
      const auto* o = std::get_if<Observation>(&r.body);
      const auto* j = o == nullptr ? nullptr : std::get_if<JobObserved>(o);
      const std::string name = j == nullptr ? std::string() : "job/" + std::string(j->meta.namespace_) + "/" + std::string(j->meta.name);
      if (j != nullptr && j->kind == "Job" && std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
    });
    return out;
  };
  for (const Played* run : {&families, &topology}) {
    const std::string log = write_log(run->log, folder_.file("of-" + std::to_string(++made_) + ".db"));
    const auto jobs = jobs_in(*run);
    ASSERT_GE(jobs.size(), 3U);
    for (const auto& job : jobs) expect_as_printed(make(job, log), job, log);
  }
}

TEST_F(EvidenceCommand, AnElasticJobIsOneStoryOverItsSlices) {
  const Played run(R"(
apiVersion: hindsight.dev/v1alpha1
kind: Scenario
metadata: {name: resized}
spec:
  steps:
  - at: 0s
    apply:
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default}, spec: {}}
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 6}]}]}]}}
    - {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq, namespace: default}, spec: {clusterQueue: cq}}
    - {apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq}, annotations: {kueue.x-k8s.io/elastic-job: 'true', hindsight.dev/run-seconds: '60'}}, spec: {suspend: true, parallelism: 3, completions: 100, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}}}
  - at: 10s
    patch:
    - {kind: Job, namespace: default, name: train, merge: {spec: {parallelism: 5}}}
)");
  const std::string log = write_log(run.log, folder_.file("log.db"));
  const auto file = make("job/train", log);
  expect_as_printed(file, "job/train", log);
  std::set<std::string> slices;
  for (const auto& entry : file.json("history.json"))
    if (entry["object"].get<std::string>().starts_with("Workload ")) slices.insert(entry["object"]);
  EXPECT_EQ(slices.size(), 2U);
}

TEST_F(EvidenceCommand, TellsOfWhatNeverStartedIsHeldBackOrIsGone) {
  const std::string file = folder_.file("world.db");
  events::Position deleted = 0;
  {
    auto log = events::SqliteLog::open(file, {.durability = events::Durability::off});
    ASSERT_TRUE(log) << log.error().message;
    hindsight::testing::LogWorld w(**log);
    w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}}});
    w.submit({.name = "runs", .cpu = 3'000});
    w.settle();
    w.submit({.name = "waits", .cpu = 3'000});
    w.submit({.name = "gated", .gated_by = "gate"});
    w.submit({.name = "lost", .queue = "nowhere"});
    w.submit({.name = "gone", .cpu = 2'000});
    w.settle();
    w.tick(Duration::seconds(5));
    w.remove("gone");
    w.flush();
    deleted = (*log)->last().value();
    w.settle();
    w.tick(Duration::seconds(5));
    w.flush();
  }
  const std::string log = "sqlite:" + file;
  for (const char* target : {"runs", "waits", "gated", "lost"}) {
    const auto made = make(target, log);
    expect_as_printed(made, target, log);
    EXPECT_EQ(made.json("why.json")["position"], made.json("manifest.json")["position"]) << "they live: as of the end of the log";
  }
  const auto gone = make("gone", log);
  expect_as_printed(gone, "gone", log);
  EXPECT_EQ(gone.json("why.json")["position"], deleted - 1);
  EXPECT_EQ(gone.json("manifest.json")["position"], deleted);
  EXPECT_NE(gone.files.at("README.md").find("just before it was deleted, by record " + std::to_string(deleted)), std::string::npos);
  EXPECT_EQ(gone.json("life.json")["end"], "deleted");
  const auto later = make("gone", log, {"--at", "latest"});
  EXPECT_EQ(later.json("why.json"), gone.json("why.json")) << "asked about a later moment, it tells what was last";
}

TEST_F(EvidenceCommand, FindsNobodyWhoIsNotInTheLog) {
  const Played run(std::vector<std::string>{"examples/quickstart"});
  const std::string log = write_log(run.log, folder_.file("log.db")), out = folder_.file("e.tar.gz");
  const Said nobody = say({"evidence", "--for", "job/team-a/nobody", "-o", out, "--log", log});
  EXPECT_EQ(nobody.status, 1);
  EXPECT_NE(nobody.err.find("job team-a/nobody is nowhere in log"), std::string::npos) << nobody.err;
  const Said early = say({"evidence", "--for", "job/team-a/sweep-1", "--at", "5", "-o", out, "--log", log});
  EXPECT_EQ(early.status, 1);
  const Said queue = say({"evidence", "--for", "clusterqueue/team-a", "-o", out, "--log", log});
  EXPECT_EQ(queue.status, 2);
  EXPECT_NE(queue.err.find("which is a queue; allowed: NAME"), std::string::npos) << queue.err;
  { ASSERT_TRUE(events::SqliteLog::open(folder_.file("empty.db"), {})); }
  const Said empty = say({"evidence", "--for", "job/train", "-o", out, "--log", "sqlite:" + folder_.file("empty.db")});
  EXPECT_EQ(empty.status, 1);
  EXPECT_NE(empty.err.find("nowhere"), std::string::npos) << empty.err;
  EXPECT_FALSE(std::filesystem::exists(out));
  for (const auto& left : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_EQ(left.path().filename().string().find("e.tar.gz"), std::string::npos) << left.path();
}

TEST_F(EvidenceCommand, ReplacesNoFileUnlessItIsTold) {
  const Played run(std::vector<std::string>{"examples/quickstart"});
  const std::string log = write_log(run.log, folder_.file("log.db")), out = folder_.file("e.tar.gz");
  std::ofstream(out) << "mine";
  const Said there = say({"evidence", "--for", "job/team-a/sweep-1", "-o", out, "--log", log});
  EXPECT_EQ(there.status, 1);
  EXPECT_NE(there.err.find("is there already; allowed: another name, or --force"), std::string::npos) << there.err;
  EXPECT_EQ(bytes_of(out), "mine");
  // What goes wrong later leaves it as it was.
  EXPECT_EQ(say({"evidence", "--for", "job/nobody", "--force", "-o", out, "--log", log}).status, 1);
  EXPECT_EQ(bytes_of(out), "mine");
  EXPECT_EQ(say({"evidence", "--for", "job/team-a/sweep-1", "--force", "-o", out, "--log", log}).status, 0);
  EXPECT_EQ(Unpacked(out).folder, "evidence-team-a-sweep-1");
  struct stat status {};
  ASSERT_EQ(::stat(out.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U) << "it holds what others may not see";
  EXPECT_EQ(say({"evidence", "--for", "job/team-a/sweep-1", "--force", "-o", folder_.path().string(), "--log", log}).status, 2);
  std::filesystem::create_symlink(out, folder_.file("link.tar.gz"));
  EXPECT_EQ(say({"evidence", "--for", "job/team-a/sweep-1", "--force", "-o", folder_.file("link.tar.gz"), "--log", log}).status, 2);
  const Said terminal = say({"evidence", "--for", "job/team-a/sweep-1", "-o", "-", "--log", log}, true);
  EXPECT_EQ(terminal.status, 2);
  EXPECT_NE(terminal.err.find("standard output is a terminal"), std::string::npos) << terminal.err;
}

TEST_F(EvidenceCommand, TheSameLogAndWordsGiveTheSameBytes) {
  const Played run(std::vector<std::string>{"examples/quickstart"});
  const std::string log = write_log(run.log, folder_.file("log.db"));
  std::vector<std::string> made;
  for (int i = 0; i < 2; ++i) {
    const std::string out = folder_.file("same-" + std::to_string(i) + ".tar.gz"), other = folder_.file("tmp-" + std::to_string(i));
    std::filesystem::create_directories(other);
    const char* before = std::getenv("TMPDIR");
    const std::string kept = before == nullptr ? "" : before;
    ::setenv("TMPDIR", other.c_str(), 1);
    EXPECT_EQ(say({"evidence", "--for", "job/team-a/sweep-1", "--with-log", "-o", out, "--log", log}).status, 0);
    before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
    EXPECT_TRUE(std::filesystem::is_empty(other)) << "nothing is left behind";
    made.push_back(bytes_of(out));
  }
  EXPECT_FALSE(made[0].empty());
  EXPECT_EQ(made[0], made[1]);
}

TEST_F(EvidenceCommand, NamesADamagedRecord) {
  const Played run(std::vector<std::string>{"examples/quickstart"});
  const std::string file = folder_.file("log.db"), log = write_log(run.log, file), out = folder_.file("e.tar.gz");
  std::string bytes = bytes_of(file);
  // A name in a record in the middle of the log.
  const auto at = bytes.find("backfill");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'B';
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  const Said damaged = say({"evidence", "--for", "job/team-a/sweep-1", "-o", out, "--log", log});
  EXPECT_EQ(damaged.status, 1);
  EXPECT_NE(damaged.err.find("record "), std::string::npos) << damaged.err;
  EXPECT_FALSE(std::filesystem::exists(out));
}

// What a writer adds meanwhile is no part of it.
TEST_F(EvidenceCommand, IsMadeBesideALiveWriter) {
  const std::string file = folder_.file("live.db");
  auto log = events::SqliteLog::open(file, {.durability = events::Durability::off});
  ASSERT_TRUE(log) << log.error().message;
  hindsight::testing::LogWorld w(**log);
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}}});
  w.submit({.name = "runs", .cpu = 3'000});
  w.settle();
  w.flush();
  const auto last = (*log)->last().value();
  const auto first = make("runs", "sqlite:" + file);
  EXPECT_EQ(first.json("manifest.json")["position"], last);
  w.tick(Duration::seconds(60));
  w.finish("runs");
  w.settle();
  w.flush();
  const auto second = make("runs", "sqlite:" + file);
  EXPECT_GT(second.json("manifest.json")["position"].get<std::uint64_t>(), last);
  EXPECT_EQ(make("runs", "sqlite:" + file, {"--at", std::to_string(last)}).files, first.files) << "the past stays as it was";
}

}  // namespace
}  // namespace hindsight::casefile::testing
