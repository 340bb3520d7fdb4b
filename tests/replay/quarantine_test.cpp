// Records that were set aside: every reader passes over them from the moment on that the log says so, at every moment of the past, from
// snapshots, in trimmed logs and in copies. What cannot be set aside is refused with the reason.

#include "replay/quarantine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "events/log_copy.hpp"
#include "events/memory_log.hpp"
#include "events/quarantine.hpp"
#include "events/sqlite_log.hpp"
#include "replay/scan.hpp"
#include "replay/snapshots.hpp"
#include "replay/trim.hpp"
#include "replay/verify.hpp"
#include "tests/events/temporary_folder.hpp"
#include "tests/replay/worlds.hpp"

namespace hindsight::replay {
namespace {

using events::MemoryLog;
using events::SqliteLog;
using hindsight::testing::LogWorld;

QuarantineOptions options(Position record, bool force = false) {
  return {.record = record,
          .writer = "somebody@somewhere",
          .release = "1.0",
          .reason = "a test",
          .now = Time::from_seconds(1'800'000'000),
          .force = force};
}

/// A day of one team.
void one_team(LogWorld& w) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}, .within = PreemptionPolicy::lower_priority}});
  for (int i = 0; i < 12; ++i) {
    w.submit({.name = "w" + std::to_string(i), .cpu = 1000 * (1 + i % 3), .priority = i});
    w.settle();
    w.confirm();
    if (i % 4 == 3) w.snapshot();
    w.tick(Duration::seconds(10));
  }
  w.wake();
  w.flush();
}

/// Such a log, and behind it a record that nobody can decode.
class RecordQuarantine : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    log_ = open("log.db");
    one_team(w());
    before_ = log_->last().value();
    append_rubbish();
    bad_ = log_->last().value();
  }
  LogWorld& w() {
    if (!world_) world_ = std::make_unique<LogWorld>(*log_);
    return *world_;
  }
  std::unique_ptr<Log> open(const std::string& name) {
    if (std::string_view(GetParam()) == "memory") return std::make_unique<MemoryLog>(name);
    auto log = SqliteLog::open(folder_.file(name), {.durability = events::Durability::off});
    EXPECT_TRUE(log) << log.error().message;
    return std::move(*log);
  }
  void append(std::span<const std::byte> bytes, std::uint64_t epoch = 1) {
    const auto tails = log_->domains().value();
    ASSERT_EQ(tails.size(), 1U);
    const events::EncodedRecord one{"default", tails[0].sequence + 1, epoch, w().now, bytes};
    const auto ok = log_->append({&one, 1}, std::nullopt);
    ASSERT_TRUE(ok) << ok.error().message;
  }
  void append_rubbish() {
    const std::string rubbish = "this is no record at all, whatever its checksum says";
    append(std::as_bytes(std::span(rubbish)));
  }
  void append(Observation o) {
    RecordView r;
    r.envelope = {"default", log_->domains().value()[0].sequence + 1, 1, w().now, 0};
    r.body = std::move(o);
    const auto bytes = events::encode(r);
    append(bytes);
  }
  void append_flavor(std::string_view name) {
    ResourceFlavorObserved f;
    f.meta.name = name;
    append(f);
  }
  /// The error of folding the whole log; empty: none.
  std::string error_of_fold(const Log& log, bool snapshots = true) {
    Past past(log, "default", {.use_snapshots = snapshots});
    const auto ok = past.go_to(log.last().value());
    return ok ? "" : ok.error().message;
  }

  hindsight::test::TemporaryFolder folder_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<LogWorld> world_;
  Position before_ = 0, bad_ = 0;
};

TEST_P(RecordQuarantine, StopsEveryReaderUntilItIsSetAside) {
  const auto error = error_of_fold(*log_);
  EXPECT_NE(error.find("record " + std::to_string(bad_)), std::string::npos) << error;
  EXPECT_FALSE(verify(*log_, "default").value().clean());

  const auto report = quarantine(*log_, options(bad_));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->domain, "default");
  EXPECT_EQ(report->said_at, bad_ + 1);
  EXPECT_FALSE(report->already);
  EXPECT_EQ(report->decisions_with_it, 0U);
  EXPECT_EQ(report->snapshots_dropped, 0U);

  EXPECT_EQ(error_of_fold(*log_), "");
  EXPECT_EQ(error_of_fold(*log_, false), "");
  const auto verified = verify(*log_, "default").value();
  EXPECT_TRUE(verified.clean());
  EXPECT_EQ(verified.passed_over, 1U);
  EXPECT_EQ(verified.to, bad_ + 1);
  EXPECT_EQ(verified.state_hash, report->state_hash);
}

TEST_P(RecordQuarantine, LeavesEveryMomentBeforeAsItWas) {
  ASSERT_TRUE(quarantine(*log_, options(bad_)));
  append_flavor("after");
  Past past(*log_, "default");
  std::vector<std::uint64_t> there(log_->last().value() + 1);
  for (Position p = 0; p <= log_->last().value(); ++p) {
    ASSERT_TRUE(past.go_to(p)) << p;
    there[p] = past.driver().state_hash();
    if (p <= before_) {
      ASSERT_EQ(there[p], w().hashes()[p]) << p;
    }
  }
  EXPECT_EQ(past.driver().domain().catalog()->flavors.size(), 2U) << "and what comes after it counts";
  for (Position p = log_->last().value() + 1; p-- > 0;) {
    ASSERT_TRUE(past.go_to(p)) << p;
    ASSERT_EQ(past.driver().state_hash(), there[p]) << p;
  }
}

/// A fold that was open before the record was set aside takes it like one that begins now.
TEST_P(RecordQuarantine, IsTakenByAFoldThatIsUnderWay) {
  Past past(*log_, "default", {.use_snapshots = false});
  ASSERT_TRUE(past.go_to(before_));
  ASSERT_FALSE(past.go_to(bad_));
  const auto report = quarantine(*log_, options(bad_));
  ASSERT_TRUE(report);
  ASSERT_TRUE(past.go_to(log_->last().value()));
  EXPECT_EQ(past.driver().state_hash(), report->state_hash);
}

TEST_P(RecordQuarantine, ThatWasFoldedIsTakenBackByAFoldThatIsUnderWay) {
  ASSERT_TRUE(quarantine(*log_, options(bad_)));
  append_flavor("wrong");
  const auto wrong = log_->last().value();
  Past past(*log_, "default");
  std::vector<Position> seen;
  past.look_on({}, [&](Position p, const RecordView&) { seen.push_back(p); });
  ASSERT_TRUE(past.go_to(wrong));
  EXPECT_EQ(past.driver().domain().catalog()->flavors.size(), 2U);
  ASSERT_TRUE(quarantine(*log_, options(wrong)));
  append_flavor("after");
  ASSERT_TRUE(past.go_to(log_->last().value()));
  EXPECT_TRUE(past.driver().domain().catalog()->flavors.contains(Symbol("after")));
  EXPECT_FALSE(past.driver().domain().catalog()->flavors.contains(Symbol("wrong")));
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end(), [](Position a, Position b) { return b <= a; }), seen.end())
      << "who looks on sees no record twice";
}

/// Snapshots that have the record in them are dropped, and not used where they turn up again.
TEST_P(RecordQuarantine, MakesSnapshotsOfBeforeUseless) {
  ASSERT_TRUE(quarantine(*log_, options(bad_)));
  append_flavor("wrong");
  const auto wrong = log_->last().value();
  append_flavor("more");
  Past past(*log_, "default");
  ASSERT_TRUE(past.go_to(log_->last().value()));
  const auto with = encode_state(past.driver().entities(), "default", log_->last().value(), "1.0");
  ASSERT_TRUE(log_->put_snapshot(with.meta, with.bytes));
  const auto kept = log_->snapshots().value().size();

  const auto report = quarantine(*log_, options(wrong));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->snapshots_dropped, 1U);
  EXPECT_EQ(log_->snapshots().value().size(), kept - 1);
  ASSERT_TRUE(log_->put_snapshot(with.meta, with.bytes)) << "a process that was slow";
  Past again(*log_, "default");
  ASSERT_TRUE(again.go_to(log_->last().value()));
  EXPECT_EQ(again.driver().state_hash(), report->state_hash);
  EXPECT_LT(again.started_from(), wrong);
  ASSERT_EQ(again.notices().size(), 1U);
  EXPECT_NE(again.notices()[0].find("set aside"), std::string::npos) << again.notices()[0];

  const auto without = encode_state(again.driver().entities(), "default", log_->last().value(), "1.0");
  ASSERT_TRUE(log_->put_snapshot(without.meta, without.bytes));
  Past third(*log_, "default");
  ASSERT_TRUE(third.go_to(log_->last().value()));
  EXPECT_EQ(third.started_from(), without.meta.position);
}

TEST_P(RecordQuarantine, SaysItOnce) {
  ASSERT_TRUE(quarantine(*log_, options(bad_)));
  const auto last = log_->last().value();
  const auto again = quarantine(*log_, options(bad_));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->already);
  EXPECT_EQ(again->said_at, bad_ + 1);
  EXPECT_EQ(log_->last().value(), last);
}

TEST_P(RecordQuarantine, OnlyTellsWhenItIsAskedTo) {
  auto o = options(bad_);
  o.only_tell = true;
  const auto told = quarantine(*log_, o);
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->domain, "default");
  EXPECT_EQ(log_->last().value(), bad_);
  EXPECT_TRUE(log_->quarantined().value().empty());
  EXPECT_NE(error_of_fold(*log_), "");
}

TEST_P(RecordQuarantine, RefusesWhatIsNotThere) {
  for (const Position wrong : {Position{0}, bad_ + 1, bad_ + 1000}) {
    const auto refused = quarantine(*log_, options(wrong));
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().kind, ErrorKind::not_found);
    EXPECT_NE(refused.error().message.find("allowed: 1 to " + std::to_string(bad_)), std::string::npos) << refused.error().message;
  }
  ASSERT_TRUE(quarantine(*log_, options(bad_)));
  const auto itself = quarantine(*log_, options(bad_ + 1));
  ASSERT_FALSE(itself);
  EXPECT_NE(itself.error().message.find("it sets another record aside"), std::string::npos) << itself.error().message;
}

/// With which somebody has decided since: some release takes it.
TEST_P(RecordQuarantine, RefusesARecordThatDecisionsAreMadeOf) {
  const auto queue = [&] {
    events::RecordBatch batch;
    events::RecordReader reader;
    EXPECT_TRUE(log_->read(1, {}, batch));
    for (const auto& stored : batch) {
      const auto record = reader.read(stored.bytes);
      const auto* o = record ? std::get_if<Observation>(&(*record)->body) : nullptr;
      if (o != nullptr && std::holds_alternative<ClusterQueueObserved>(*o)) return stored.offset;
    }
    return Position{0};
  }();
  ASSERT_NE(queue, 0U);
  ASSERT_TRUE(quarantine(*log_, options(bad_)));
  const auto refused = quarantine(*log_, options(queue));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::conflict);
  EXPECT_NE(refused.error().message.find("--force"), std::string::npos) << refused.error().message;
  EXPECT_TRUE(verify(*log_, "default").value().clean());

  const auto forced = quarantine(*log_, options(queue, true));
  ASSERT_TRUE(forced) << forced.error().message;
  EXPECT_GT(forced->decisions_with_it, 0U);
  EXPECT_EQ(error_of_fold(*log_), "");
  EXPECT_FALSE(verify(*log_, "default").value().clean()) << "what was decided does not follow without it";
}

TEST_P(RecordQuarantine, IsShownByAScanAsWhatItIs) {
  ASSERT_TRUE(quarantine(*log_, options(bad_)));
  std::vector<Position> seen, unreadable;
  const auto ok = scan(
      *log_, "default", 1, log_->last().value(),
      [&](const events::StoredRecord& r, const RecordView&) {
        seen.push_back(r.offset);
        return true;
      },
      {}, [&](const events::StoredRecord& r, const Error&) { unreadable.push_back(r.offset); });
  ASSERT_TRUE(ok) << ok.error().message;
  EXPECT_EQ(unreadable, std::vector<Position>{bad_});
  EXPECT_EQ(seen.back(), bad_ + 1);
  EXPECT_EQ(seen.size(), bad_);
}

TEST_P(RecordQuarantine, IsCountedByTheCheckOfTheLog) {
  EXPECT_FALSE(log_->check().value().findings.empty());
  ASSERT_TRUE(quarantine(*log_, options(bad_)));
  const auto report = log_->check().value();
  for (const auto& f : report.findings) ADD_FAILURE() << f.offset << ": " << f.what;
  EXPECT_EQ(report.set_aside, 1U);
}

TEST_P(RecordQuarantine, GoesAlongWithACopy) {
  ASSERT_TRUE(quarantine(*log_, options(bad_)));
  append_flavor("after");
  const auto to = open("copy.db");
  const auto copied = events::copy_log(*log_, *to);
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_EQ(to->quarantined().value(), log_->quarantined().value());
  EXPECT_EQ(error_of_fold(*to), "");
  EXPECT_TRUE(verify(*to, "default").value().clean());
  EXPECT_EQ(verify(*to, "default").value().state_hash, verify(*log_, "default").value().state_hash);
}

/// Of several processes on one log each counts by itself; so does who sets a record aside.
TEST(RecordQuarantineOfSharedLogs, GivesNoNumberWhereReadersCount) {
  MemoryLog log;
  LogWorld w(log);
  one_team(w);
  const std::string rubbish = "this is no record at all";
  log.slip_in({"default", numbered_by_reader, 1, w.now, std::as_bytes(std::span(rubbish))});
  const auto bad = log.last().value();
  const auto report = quarantine(log, options(bad));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->sequence, w.driver().domain().sequence() + 1);
  events::RecordBatch batch;
  ASSERT_TRUE(log.read(report->said_at, {}, batch));
  EXPECT_EQ((*batch.begin()).sequence, numbered_by_reader);
  const auto verified = verify(log, "default").value();
  EXPECT_TRUE(verified.clean());
  EXPECT_EQ(verified.passed_over, 1U);
  EXPECT_EQ(verified.state_hash, report->state_hash);
}

TEST(RecordQuarantineOfOneDomain, LeavesTheOthersAlone) {
  MemoryLog log;
  LogWorld east(log, "east"), west(log, "west");
  for (auto* w : {&east, &west}) {
    w->set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
    w->submit({.name = "one", .cpu = 2000});
    w->settle();
    w->flush();
  }
  const std::string rubbish = "this is no record at all";
  const events::EncodedRecord one{"east", east.driver().domain().sequence() + 1, 1, east.now, std::as_bytes(std::span(rubbish))};
  ASSERT_TRUE(log.append({&one, 1}, std::nullopt));
  ASSERT_TRUE(quarantine(log, options(log.last().value())));
  const auto of_west = verify(log, "west").value();
  EXPECT_TRUE(of_west.clean());
  EXPECT_EQ(of_west.passed_over, 0U);
  EXPECT_EQ(of_west.state_hash, west.hashes().back());
  EXPECT_EQ(verify(log, "east").value().passed_over, 1U);
}

/// Forgetting the beginning forgets neither the record nor that it is passed over.
TEST_P(RecordQuarantine, OutlivesATrim) {
  if (std::string_view(GetParam()) == "memory") GTEST_SKIP() << "a log in memory keeps everything";
  const auto report = quarantine(*log_, options(bad_));
  ASSERT_TRUE(report);
  for (int i = 0; i < 5; ++i) append_flavor("f" + std::to_string(i));
  Past past(*log_, "default");
  ASSERT_TRUE(past.go_to(log_->last().value()));
  const auto there = past.driver().state_hash();
  for (const Position upto : {before_ - 3, bad_ - 1, bad_, bad_ + 1, bad_ + 2}) {
    ASSERT_TRUE(trim(*log_, upto, "1.0", false)) << upto;
    EXPECT_EQ(log_->quarantined().value().size(), 1U) << upto;
    const auto verified = verify(*log_, "default").value();
    EXPECT_TRUE(verified.clean()) << upto;
    EXPECT_EQ(verified.state_hash, there) << upto;
    const auto checked = log_->check().value();
    for (const auto& f : checked.findings) ADD_FAILURE() << "after a trim up to " << upto << ", " << f.offset << ": " << f.what;
  }
  log_.reset();
  world_.reset();
  log_ = open("log.db");
  EXPECT_EQ(verify(*log_, "default").value().state_hash, there);
  const auto to = open("copy.db");
  ASSERT_TRUE(events::copy_log(*log_, *to));
  EXPECT_EQ(to->quarantined().value(), log_->quarantined().value());
  const auto copied = verify(*to, "default");
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_EQ(copied->state_hash, there);
}

INSTANTIATE_TEST_SUITE_P(Logs, RecordQuarantine, ::testing::Values("memory", "sqlite"),
                         [](const auto& test) { return std::string(test.param); });

/// An entity that throws is as good a reason as bytes that say nothing.
TEST(RecordThatThrows, IsAnErrorThatNamesTheWayOut) {
  LoopDriver driver([](Text) -> Result<admission::Settings> { throw std::runtime_error("a flavor without a name"); });
  RecordView r;
  r.envelope = {"default", 1, 1, Time::from_seconds(1), 0};
  r.body = Observation(ConfigurationObserved{"{}"});
  const auto ok = apply_record(driver, r);
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().kind, ErrorKind::corrupt);
  EXPECT_NE(ok.error().message.find("a flavor without a name"), std::string::npos);
  EXPECT_NE(ok.error().message.find("hindsight log quarantine"), std::string::npos);
}

}  // namespace
}  // namespace hindsight::replay
