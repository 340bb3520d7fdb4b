// The other parts of an audit: epochs, decisions, and logs that earlier builds wrote.

#include "replay/audit.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "events/chain.hpp"
#include "events/memory_log.hpp"
#include "events/sqlite_log.hpp"
#include "replay/trim.hpp"
#include "tests/events/temporary_folder.hpp"
#include "tests/replay/worlds.hpp"

namespace hindsight::replay {
namespace {

using hindsight::testing::LogWorld;
using hindsight::testing::two_teams;

std::string sentences(const std::vector<std::string>& list) {
  std::string out;
  for (const auto& sentence : list) out += sentence + "\n";
  return out;
}

/// The bytes of a record that decides nothing, in an epoch.
events::RecordBatch decision_in(std::uint64_t sequence, std::uint64_t epoch) {
  events::Encoder encoder;
  const RecordView view{{"default", sequence, epoch, Time::from_seconds(1'767'225'700), 0}, Decisions{1, StepKind::life_cycle, {}}};
  events::RecordBatch out;
  out.add({"default", sequence, epoch, view.envelope.time, encoder.encode(view)});
  return out;
}

TEST(Audit, MakesDecisionsAgainAndNamesEpochs) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w, true);
  const auto r = audit(log).value();
  EXPECT_TRUE(r.sound()) << r.failures[0].what;
  EXPECT_EQ(r.head.records, w.position() - 1);  // but for the late decision of a writer that has been replaced
  ASSERT_EQ(r.decisions.size(), 1U);
  EXPECT_EQ(r.decisions[0].first, "default");
  EXPECT_EQ(r.decisions[0].second.decisions, 15U);
  ASSERT_FALSE(r.epochs.empty());
  EXPECT_EQ(r.epochs[0].writer, "test");
  EXPECT_EQ(r.epochs[0].release, "1.0");
  EXPECT_EQ(r.epochs[0].begun, 1U);
  EXPECT_EQ(r.epochs_begun, r.epochs.size());
  EXPECT_NE(sentences(proved(r)).find("15 decisions follow from what was known when they were made, in 1 domain."), std::string::npos)
      << sentences(proved(r));
  EXPECT_NE(sentences(proved(r)).find("Every decision was made by the writer whose epoch had begun last"), std::string::npos);
}

/// Chain, epochs and the decisions of all domains are judged in one pass.
TEST(Audit, ReadsTheLogOnceHoweverManyDomainsItHas) {
  events::MemoryLog one, three;
  LogWorld w(one);
  two_teams(w, false);
  events::RecordReader reader;
  events::RecordBatch batch;
  const Position last = one.last().value();
  for (Position p = 1; p <= last; ++p) {
    ASSERT_TRUE(one.read(p, {.records = 1}, batch));
    for (const char* domain : {"a", "b", "c"}) {
      RecordView record = **reader.read(batch[0].bytes);
      record.envelope.domain = domain;
      const auto bytes = events::encode(record);
      three.slip_in({domain, record.envelope.sequence, record.envelope.epoch, record.envelope.time, bytes});  // late ones among them
    }
  }
  const auto alone = audit(one).value();
  const auto r = audit(three).value();
  EXPECT_TRUE(r.sound()) << r.failures[0].what;
  EXPECT_EQ(r.read, three.last().value());
  ASSERT_EQ(r.decisions.size(), 3U);
  for (const auto& [domain, report] : r.decisions) {
    EXPECT_EQ(report.decisions, alone.decisions[0].second.decisions) << domain;
    EXPECT_EQ(report.state_hash, alone.decisions[0].second.state_hash) << domain;
  }
  EXPECT_EQ(audit(three, {.decisions = false}).value().read, three.last().value());
}

TEST(Audit, TellsOfWritersThatWereFenced) {
  events::MemoryLog log;
  LogWorld w(log);
  w.set_up({{.name = "team-a", .quotas = {{.nominal = 4000}}}});
  w.submit({.name = "first"});
  w.settle();
  w.start_epoch(2);
  w.flush();
  const auto late = decision_in(w.driver().domain().sequence() + 1, 1);
  w.slip_in(late[0]);
  const auto r = audit(log).value();
  EXPECT_TRUE(r.sound()) << r.failures[0].what;
  ASSERT_EQ(r.epochs.size(), 2U);
  EXPECT_EQ(r.epochs[0].fenced, 1U);
  EXPECT_EQ(r.epochs[1].epoch, 2U);
  EXPECT_EQ(r.passed_over, 1U);
  EXPECT_NE(sentences(proved(r)).find("and 1 record of a writer that had been replaced has no effect"), std::string::npos)
      << sentences(proved(r));
  EXPECT_NE(sentences(not_proved(r, false)).find("1 record that has no effect is no part of the chain"), std::string::npos);
}

TEST(Audit, FindsADecisionInAnEpochThatNobodyHadBegun) {
  events::MemoryLog log;
  LogWorld w(log);
  two_teams(w);
  w.flush();
  const auto early = decision_in(w.driver().domain().sequence() + 1, 9);
  log.slip_in(early[0]);
  const auto r = audit(log, {.decisions = false}).value();
  ASSERT_EQ(r.failed, 1U);
  EXPECT_EQ(r.failures[0].position, log.last().value());
  EXPECT_NE(r.failures[0].what.find("decides for domain \"default\" in epoch 9, and the epoch that had begun is 2"), std::string::npos)
      << r.failures[0].what;
}

/// With the chain right, because it was computed behind the change, the decision still does not follow.
TEST(Audit, FindsADecisionThatDoesNotFollow) {
  events::MemoryLog from, to;
  LogWorld w(from);
  two_teams(w);
  w.flush();
  events::RecordBatch batch;
  ASSERT_TRUE(from.read(1, {.records = 100'000}, batch));
  events::RecordReader reader;
  events::Encoder encoder;
  Position changed = 0;
  for (const auto& stored : batch) {
    RecordView view = **reader.read(stored.bytes);
    auto* decisions = std::get_if<Decisions>(&view.body);
    if (changed == 0 && decisions != nullptr && decisions->events.size() > 1) {
      decisions->events = decisions->events.first(1);
      changed = stored.offset;
    }
    to.slip_in({stored.domain, stored.sequence, stored.epoch, stored.time, encoder.encode(view)});
  }
  ASSERT_NE(changed, 0U);
  const auto r = audit(to).value();
  EXPECT_TRUE(r.chain_sound);
  EXPECT_FALSE(r.sound());
  EXPECT_EQ(r.failures[0].position, changed);
  EXPECT_NE(r.failures[0].what.find("is not the decision that its base leads to"), std::string::npos) << r.failures[0].what;
}

/// The whole way: checkpoints, a trim that keeps the head of its cut, an audit of what is left.
TEST(Audit, OfALogThatWasTrimmed) {
  const test::TemporaryFolder folder;
  const auto key = evidence::SigningKey::make().value();
  const auto log = events::SqliteLog::open(folder.file("log.db"), {.durability = events::Durability::off}).value();
  LogWorld w(*log);
  w.set_up({{.name = "team-a", .quotas = {{.nominal = 4000}}}});
  for (int i = 0; i < 10; ++i) {
    w.submit({.name = "w" + std::to_string(i), .cpu = 1000});
    w.settle();
    w.confirm();
  }
  for (const char* name : {"w0", "w1", "w3"}) w.finish(name);
  w.settle();
  w.flush();
  const Position last = log->last().value();
  events::ChainWalk walk(*log, events::chain_start(*log).value());
  for (const Position at : {last / 4, last}) {
    ASSERT_TRUE(walk.to(at));
    ASSERT_TRUE(events::store_checkpoint(*log, walk, w.now, "1.0", &key));
  }
  const auto before = audit(*log, {.keys = {key.public_key()}}).value();
  ASSERT_TRUE(before.sound()) << before.failures[0].what;
  const auto trimmed = trim(*log, last / 2, "1.0", false);
  ASSERT_TRUE(trimmed) << trimmed.error().message;
  EXPECT_EQ(trimmed->checkpoints_dropped, 1U);
  const auto r = audit(*log, {.keys = {key.public_key()}}).value();
  EXPECT_TRUE(r.sound()) << r.failures[0].what;
  EXPECT_EQ(r.from, events::ChainStart::From::cut);
  EXPECT_EQ(r.head, before.head);
  EXPECT_EQ(r.signed_up_to->position, last);
  EXPECT_EQ(r.epochs[0].writer, "test");  // who decided at the cut was noted there
  EXPECT_EQ(r.epochs[0].begun, 0U);
}

/// Which tells that nothing in a log is hashed otherwise than it was.
TEST(Audit, TheChainOfALogThatIsKeptIsTheSameForEver) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("log.db");
  std::filesystem::copy_file("tests/replay/logs/2026-11-quickstart.db", path);
  const auto log = events::SqliteLog::open(path, {.read_only = true}).value();
  const auto r = audit(*log).value();
  EXPECT_TRUE(r.sound()) << r.failures[0].what;
  EXPECT_TRUE(log->checkpoints()->empty());  // older than they are
  EXPECT_EQ(evidence::hex(r.head.hash), "26d961a8071801e9feaf14fdc070a088351944e157504ddb2b3bb63baafae9e9");
}

}  // namespace
}  // namespace hindsight::replay
