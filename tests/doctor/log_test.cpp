// The log: its disk, its topics, and whether it can be read. Issue 21, section 6: "the log's disk".

#include "doctor/checks/log.hpp"

#include <filesystem>
#include <fstream>

#include "doctor/disk.hpp"
#include "events/sqlite_log.hpp"
#include "tests/doctor/fake_cluster.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::doctor {
namespace {

using hindsight::test::TemporaryFolder;
using test::finding_with;
using test::text_of;

LogFacts in_a_file() {
  LogFacts facts;
  facts.location = "sqlite:/var/lib/hindsight/log.db";
  facts.first = 1;
  facts.last = 1000;
  facts.disk = DiskFacts{.file_system = "ext4", .kind = DiskFacts::Kind::disk, .mode = 0600};
  facts.disk->space =
      events::LogSpace{.used = 1 << 20, .limit = 1 << 30, .disk = 1ULL << 40, .disk_free = 1ULL << 39, .disk_reserve = 1 << 26};
  facts.disk->sync_milliseconds = 3;
  return facts;
}

TEST(LogCheck, OneThatIsInOrder) { test::expect_well(judge_log(in_a_file(), {}, {})); }

TEST(LogCheck, Room) {
  auto facts = in_a_file();
  facts.disk->space->used = 1 << 30;
  auto finding = finding_with(judge_log(facts, {}, {}), Severity::error, "it is full");
  EXPECT_EQ(finding.command, "hindsight log trim --before 500 --log sqlite:/var/lib/hindsight/log.db");
  facts.disk->space->used = 900 << 20;
  finding_with(judge_log(facts, {}, {}), Severity::warning, "it is nearly full");
  facts.disk->space->used = 1;
  facts.disk->space->disk_free = 1 << 25;
  finding_with(judge_log(facts, {}, {}), Severity::error, "it is full");
  facts = in_a_file();
  facts.disk->quota_limit = 1000 << 10;
  facts.disk->quota_used = 950 << 10;
  finding_with(judge_log(facts, {}, {}), Severity::warning, "used up to 95%");
}

TEST(LogCheck, DisksThatAreNone) {
  auto facts = in_a_file();
  std::tie(facts.disk->file_system, facts.disk->kind) = file_system_of(0x6969);
  finding_with(judge_log(facts, {}, {}), Severity::warning, "it lies on NFS");
  std::tie(facts.disk->file_system, facts.disk->kind) = file_system_of(0x01021994);
  finding_with(judge_log(facts, {}, {}), Severity::warning, "tmpfs, which is gone with the machine");
  // As a number that was signed when it was read.
  EXPECT_EQ(file_system_of(static_cast<long>(static_cast<int>(0xFF534D42U))).first, "CIFS");
  EXPECT_EQ(file_system_of(0xEF53).second, DiskFacts::Kind::disk);
  EXPECT_EQ(file_system_of(1).first, "");
}

TEST(LogCheck, SlowDisksAndOpenFiles) {
  auto facts = in_a_file();
  facts.disk->sync_milliseconds = 120;
  facts.disk->mode = 0644;
  const auto outcome = judge_log(facts, {}, {});
  finding_with(outcome, Severity::warning, "a sync of its disk took 120.0 ms");
  EXPECT_EQ(finding_with(outcome, Severity::warning, "mode 0644").command, "chmod 600 /var/lib/hindsight/log.db");
  facts.disk->sync_milliseconds = 900;
  finding_with(judge_log(facts, {}, {}), Severity::error, "900.0 ms");
}

TEST(LogCheck, WhatCannotBeRead) {
  auto facts = in_a_file();
  facts.unreadable = Error{ErrorKind::unsupported, "schema version 9"};
  facts.unreadable_at = 1;
  EXPECT_EQ(finding_with(judge_log(facts, {}, {}), Severity::error, "record 1: schema version 9").command, "hindsight version");
  facts.unreadable = Error{ErrorKind::corrupt, "does not verify"};
  EXPECT_EQ(finding_with(judge_log(facts, {}, {}), Severity::error, "does not verify").command,
            "hindsight log check --log sqlite:/var/lib/hindsight/log.db");
  facts = in_a_file();
  facts.newest_schema = 99;
  facts.newest_release = "9.0.0";
  finding_with(judge_log(facts, {}, {}), Severity::error, "a snapshot of release 9.0.0 has schema version 99");
  facts = in_a_file();
  facts.last = 20'000'000;
  finding_with(judge_log(facts, {}, {}), Severity::warning, "it has no snapshot");
  facts.newest_snapshot = events::SnapshotMeta{.position = 19'000'000};
  test::expect_well(judge_log(facts, {}, {}));
  facts.set_aside = 1;
  finding_with(judge_log(facts, {}, {}), Severity::note, "1 record is set aside");
}

TEST(LogCheck, Topics) {
  LogFacts facts;
  facts.location = "kafka:b:9092";
  facts.first = 1;
  facts.topics = TopicsFacts{.brokers = "b:9092", .record_topic = "hindsight.log", .snapshot_topic = "hindsight.snapshots"};
  facts.topics->records = events::kafka::TopicFacts{
      "hindsight.log", 1, 3,
      std::map<std::string, std::string>{{"retention.ms", "-1"}, {"retention.bytes", "-1"}, {"min.insync.replicas", "2"}}};
  test::expect_well(judge_log(facts, {}, {}));
  auto& records = *facts.topics->records;
  (*records.settings)["retention.ms"] = "604800000";
  (*records.settings)["min.insync.replicas"] = "1";
  (*records.settings)["unclean.leader.election.enable"] = "true";
  auto outcome = judge_log(facts, {}, {});
  EXPECT_EQ(
      finding_with(outcome, Severity::error, "retention.ms is 604800000").command,
      "kafka-configs.sh --bootstrap-server b:9092 --alter --entity-type topics --entity-name hindsight.log --add-config retention.ms=-1");
  Options secured;
  secured.log_config = "way.conf";
  EXPECT_NE(
      finding_with(judge_log(facts, secured, {}), Severity::error, "retention.ms is 604800000").command.find(" --command-config CLIENT "),
      std::string::npos)
      << "Kafka's tools need credentials as well";
  finding_with(outcome, Severity::error, "min.insync.replicas is 1 with 3 replicas");
  finding_with(outcome, Severity::error, "unclean.leader.election.enable is true");
  records.replicas = 1;
  records.settings.reset();
  outcome = judge_log(facts, {}, {});
  finding_with(outcome, Severity::note, "could not be read");
  finding_with(outcome, Severity::warning, "has 1 replica");
  facts.topics->records.reset();
  facts.topics->problem = facts.not_open = Error{ErrorKind::not_found, "there is no topic hindsight.log"};
  Options options;
  options.log_config = "way.conf";
  EXPECT_EQ(finding_with(judge_log(facts, options, {}), Severity::error, "there is no topic").command,
            "hindsight log init --log kafka:b:9092 --log-config way.conf");
  facts.topics->problem = facts.not_open = Error{ErrorKind::unavailable, "no broker answers"};
  EXPECT_EQ(judge_log(facts, {}, {}).standing, Standing::blind);
}

TEST(LogCheck, AFileThatIsLookedAt) {
  const TemporaryFolder folder;
  Context context;
  EXPECT_EQ(examine_log(context).standing, Standing::skipped);
  context.options.log = "sqlite:" + folder.file("log.db");
  finding_with(examine_log(context), Severity::error, "no such file");
  { ASSERT_TRUE(events::SqliteLog::open(folder.file("log.db"))); }
  auto outcome = examine_log(context);
  std::erase_if(outcome.findings, [](const Finding& one) {
    return one.found.find("it lies on") == 0 || one.found.find("a sync of its disk") == 0;
  });  // of this machine
  EXPECT_TRUE(outcome.findings.empty()) << text_of(outcome);
  EXPECT_NE(outcome.summary.find("a sync takes"), std::string::npos) << outcome.summary;
  std::filesystem::permissions(folder.file("log.db"), std::filesystem::perms::others_read, std::filesystem::perm_options::add);
  finding_with(examine_log(context), Severity::warning, "mode 0604");
  std::ofstream(folder.file("text.db")) << "no log";
  context.options.log = folder.file("text.db");
  finding_with(examine_log(context), Severity::error, "not a Hindsight log");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    files += entry.path().filename().string().starts_with("log.db") ? 0U : 1U;
  EXPECT_EQ(files, 1U) << "nothing is left beside the log";
}

TEST(LogCheck, BrokersThatDoNotAnswerTakeNoLonger) {
  Context context;
  context.options.log = "kafka:127.0.0.1:1";
  context.options.timeout = std::chrono::seconds(2);
  const auto begin = std::chrono::steady_clock::now();
  const auto outcome = examine_log(context);
  EXPECT_EQ(outcome.standing, Standing::blind) << text_of(outcome);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_EQ(outcome.findings.size(), 1U) << text_of(outcome);
}

}  // namespace
}  // namespace hindsight::doctor
