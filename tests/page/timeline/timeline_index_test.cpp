// The index of a whole history against what each record says by itself: however wide its rows are, while the log grows, where its
// beginning is forgotten, and where a record cannot be read.

#include "page/timeline/timeline_index.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "events/memory_log.hpp"
#include "events/sqlite_log.hpp"
#include "page/timeline/coarse_rows.hpp"
#include "page/timeline/indexed.hpp"
#include "page/timeline/timeline_answer.hpp"
#include "replay/quarantine.hpp"
#include "replay/trim.hpp"
#include "tests/events/temporary_folder.hpp"
#include "tests/page/timeline/busy_history.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::page {
namespace {

using events::MemoryLog;
using timeline::all_moments;
using timeline::BusyHistory;
using timeline::MarkKind;
using timeline::Moment;

/// An index, and who waits for it.
class Watched {
 public:
  explicit Watched(const events::Log& log, TimelineOptions options = {}, const std::string& domain = "default") {
    options.pause = Duration::millis(5);
    options.grew = [this](Position, Position) {
      const std::lock_guard lock(mutex_);
      grew_.notify_all();
    };
    index = TimelineIndex::start(log, domain, options);
  }
  ~Watched() { index.reset(); }

  template <class Condition>
  bool until(Condition condition) {
    std::unique_lock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + patience(60);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      grew_.wait_for(lock, std::chrono::milliseconds(20));
    }
    return true;
  }
  bool until_at(Position end) {
    return until([&] { return index->complete() && index->scanned_to() == end; });
  }
  Json at(const TimelineRange& range = {}) const {
    auto out = index->at(range);
    EXPECT_TRUE(out) << out.error().message;
    return out ? *out : Json();
  }

  std::unique_ptr<TimelineIndex> index;

 private:
  std::mutex mutex_;
  std::condition_variable grew_;
};

std::int64_t number_of(const Json& value) { return value.is_null() ? timeline::not_known : value.get<std::int64_t>(); }

/// Every column shows what was so at its position.
void expect_states(const Json& t, const std::vector<Moment>& moments) {
  for (std::size_t i = 0; i < t["time"].size(); ++i) {
    const auto position = t["position"][i].get<Position>();
    ASSERT_LT(position, moments.size());
    const Moment& m = moments[position];
    ASSERT_EQ(number_of(t["waiting"][i]), m.waiting) << "column " << i << ", record " << position;
    ASSERT_EQ(number_of(t["running"][i]), m.running) << "column " << i << ", record " << position;
    ASSERT_EQ(number_of(t["used"][i]), m.used) << "column " << i << ", record " << position;
    for (const auto& resource : t["resources"]) {
      const auto name = resource["flavor"].get<std::string>() + " " + resource["resource"].get<std::string>();
      const std::int64_t factor = resource["resource"] == "cpu" ? 1 : 1000;
      const auto pair = m.pairs.find(name);
      if (pair == m.pairs.end()) continue;  // it was not yet there
      ASSERT_EQ(number_of(resource["used"][i]), pair->second.used * factor) << name << " at " << position;
      ASSERT_EQ(number_of(resource["nominal"][i]), pair->second.nominal * factor) << name << " at " << position;
    }
  }
}

std::uint64_t sum(const Json& column) {
  std::uint64_t out = 0;
  for (const auto& value : column) out += value.get<std::uint64_t>();
  return out;
}

/// Sums over all columns are those over all records.
void expect_sums(const Json& t, const std::vector<Moment>& moments, Position from, Position to) {
  std::uint64_t admitted = 0, evicted = 0, decisions = 0;
  std::map<MarkKind, std::uint64_t> marks;
  for (Position at = from; at <= to; ++at) {
    admitted += moments[at].admitted;
    evicted += moments[at].evicted;
    decisions += moments[at].decisions;
    for (const auto& [kind, count] : moments[at].marks) marks[kind] += count;
  }
  EXPECT_EQ(sum(t["admitted"]), admitted);
  EXPECT_EQ(sum(t["evicted"]), evicted);
  EXPECT_EQ(sum(t["decisions"]), decisions);
  std::map<std::string, std::uint64_t> told;
  for (const auto& mark : t["marks"]) told[mark["kind"]] += mark["count"].get<std::uint64_t>();
  EXPECT_EQ(told["eviction"], marks[MarkKind::eviction]);
  EXPECT_EQ(told["epoch"], marks[MarkKind::epoch]);
  EXPECT_EQ(told["refusal"], marks[MarkKind::refusal]);
  EXPECT_EQ(told["quarantine"], marks[MarkKind::quarantine]);
  EXPECT_LE(t["marks"].size(), timeline::marks_max);
}

/// Rows of one record, also in the longest history here.
const TimelineOptions a_row_each{.rows_max = std::size_t{1} << 17};

/// 20,000 records, made once for all tests that only read them.
class LongHistory : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    log_ = std::make_unique<MemoryLog>();
    BusyHistory history(*log_, 42);
    history.live_to(as_much_as(10'000, 2'500));
    history.world.snapshot();
    snapshot_ = history.world.position();
    history.live_to(as_much_as(20'000, 5'000));
    last_ = log_->last().value();
    moments_ = all_moments(*log_);
  }
  static void TearDownTestSuite() {
    log_.reset();
    moments_.clear();
  }

  static inline std::unique_ptr<MemoryLog> log_;
  static inline std::vector<Moment> moments_;
  static inline Position last_ = 0, snapshot_ = 0;
};

TEST_F(LongHistory, HasSomethingOfEverything) {
  std::map<MarkKind, std::uint64_t> marks;
  std::int64_t most_waiting = 0, most_running = 0, most_used = 0;
  for (const Moment& m : moments_) {
    for (const auto& [kind, count] : m.marks) marks[kind] += count;
    most_waiting = std::max(most_waiting, m.waiting);
    most_running = std::max(most_running, m.running);
    most_used = std::max(most_used, m.used);
  }
  EXPECT_GT(marks[MarkKind::eviction], 20U);
  EXPECT_GT(marks[MarkKind::epoch], 3U);
  EXPECT_GT(marks[MarkKind::refusal], 3U);
  EXPECT_GT(marks[MarkKind::quarantine], 3U);
  EXPECT_GT(most_waiting, 5);
  EXPECT_GT(most_running, 3);
  EXPECT_GT(most_used, 900);
}

TEST_F(LongHistory, EveryColumnShowsWhatWasSo) {
  Watched watched(*log_, a_row_each);
  ASSERT_TRUE(watched.until_at(last_));
  for (const std::size_t columns : {1U, 7U, 400U, 2000U}) {
    const Json t = watched.at({.columns = columns});
    ASSERT_EQ(t["time"].size(), columns);
    EXPECT_TRUE(t["exact"].get<bool>());
    EXPECT_TRUE(t["complete"].get<bool>());
    EXPECT_EQ(t["scannedTo"], last_);
    EXPECT_EQ(t["position"].back(), last_);
    expect_states(t, moments_);
    expect_sums(t, moments_, 1, last_);
    // With a row for each record, a column counts the records of its time and no others.
    for (std::size_t i = 0; i < columns; ++i) {
      const auto begin = t["time"][i].get<std::int64_t>();
      const auto end = i + 1 < columns ? t["time"][i + 1].get<std::int64_t>() : std::numeric_limits<std::int64_t>::max();
      std::uint64_t decisions = 0;
      Position position = 0;
      for (Position at = 1; at <= last_; ++at) {
        if (moments_[at].time.micros >= end) break;
        position = at;
        if (moments_[at].time.micros >= begin) decisions += moments_[at].decisions;
      }
      if (columns > 7 && i % 37 != 0) continue;
      EXPECT_EQ(t["decisions"][i], decisions) << i << " of " << columns;
      EXPECT_EQ(t["position"][i], position) << i << " of " << columns;
    }
  }
}

TEST_F(LongHistory, WideRowsShowStatesThatWere) {
  for (const std::size_t rows : {2U, 5U, 64U, 3000U}) {
    Watched watched(*log_, {.rows_max = rows, .detail_records = 0});
    ASSERT_TRUE(watched.until_at(last_));
    const Json t = watched.at({.columns = 300});
    EXPECT_TRUE(t["exact"].get<bool>());
    EXPECT_EQ(t["position"].back(), last_);
    std::set<Position> places;
    for (std::size_t i = 0; i < 300; ++i) {
      const auto position = t["position"][i].get<Position>();
      if (t["waiting"][i].is_null()) {
        EXPECT_EQ(position, 1U) << "no row has ended by then";
        continue;
      }
      places.insert(position);
      EXPECT_EQ(t["waiting"][i], moments_[position].waiting);
      EXPECT_EQ(t["running"][i], moments_[position].running);
      EXPECT_EQ(number_of(t["used"][i]), moments_[position].used);
    }
    EXPECT_LE(places.size(), rows + 1);
    EXPECT_GE(places.size(), std::min<std::size_t>(rows, 100) / 4);
    expect_sums(t, moments_, 1, last_);
  }
}

TEST_F(LongHistory, WhoLooksCloselyGetsNarrowRows) {
  Watched watched(*log_, {.rows_max = 64});
  ASSERT_TRUE(watched.until_at(last_));
  const TimelineRange range{.from = last_ / 2, .to = last_ / 2 + 299, .columns = 300};
  EXPECT_FALSE(watched.at(range)["exact"].get<bool>());
  Json t;
  ASSERT_TRUE(watched.until([&] { return (t = watched.at(range))["exact"].get<bool>(); }));
  expect_states(t, moments_);
  expect_sums(t, moments_, *range.from, *range.to);
  EXPECT_EQ(t["position"].back(), *range.to);
  // Beside it, too.
  const Json beside = watched.at({.from = *range.from + 10, .to = *range.to + 10, .columns = 300});
  EXPECT_TRUE(beside["exact"].get<bool>());
  expect_states(beside, moments_);
}

TEST_F(LongHistory, PartsOfItAddUp) {
  Watched watched(*log_, a_row_each);
  ASSERT_TRUE(watched.until_at(last_));
  const Position middle = last_ / 3;
  const Json before = watched.at({.to = middle, .columns = 50}), behind = watched.at({.from = middle + 1, .columns = 50});
  expect_states(before, moments_);
  expect_sums(before, moments_, 1, middle);
  expect_sums(behind, moments_, middle + 1, last_);
  expect_states(behind, moments_);
  const Json one = watched.at({.from = middle, .to = middle, .columns = 3});
  expect_sums(one, moments_, middle, middle);
}

TEST_F(LongHistory, CurvesEndWhereOneLooks) {
  Watched watched(*log_, a_row_each);
  ASSERT_TRUE(watched.until_at(last_));
  const Position at = last_ * 2 / 3;
  const Time to = moments_[at].time, from = to - Duration::seconds(3600);
  const Json waiting = watched.index->curve(timeline::CurveKind::waiting, from, to, 60);
  ASSERT_EQ(waiting["time"].size(), 60U);
  ASSERT_EQ(waiting["value"].size(), 60U);
  EXPECT_EQ(waiting["time"].back(), to.micros);
  Position behind = 0;  // the last record at that time
  while (behind < last_ && moments_[behind + 1].time <= to) ++behind;
  EXPECT_EQ(waiting["value"].back(), moments_[behind].waiting);
  EXPECT_EQ(watched.index->curve(timeline::CurveKind::used, from, to, 60)["value"].back(), moments_[behind].used);
  EXPECT_EQ(watched.index->curve(timeline::CurveKind::running, from, to, 60)["value"].back(), moments_[behind].running);
  std::uint64_t evicted = 0;
  for (const Moment& m : moments_) evicted += m.time > from && m.time <= to ? m.evicted : 0;
  EXPECT_EQ(sum(watched.index->curve(timeline::CurveKind::evicted, from, to, 60)["value"]), evicted);
  // Before everything nothing is known.
  const Json early = watched.index->curve(timeline::CurveKind::waiting, Time{10}, Time{20}, 2);
  EXPECT_TRUE(early["value"][0].is_null());
  EXPECT_EQ(watched.index->position_at(to).value(), behind);
}

TEST_F(LongHistory, ItsFirstPictureKnowsTheSnapshots) {
  std::vector<std::shared_ptr<const timeline::Series>> pictures;
  const auto ok = timeline::make_coarse_rows(
      *log_, "default", {.begin = 0, .end = last_, .pieces = 16, .records = 8}, [&](auto series) { pictures.push_back(series); },
      [] { return true; });
  ASSERT_TRUE(ok) << ok.error().message;
  ASSERT_EQ(pictures.size(), 2U) << "without states, and with that of the snapshot";
  const auto& rows = *pictures.back()->blocks.front();
  ASSERT_EQ(rows.size(), 16U);
  EXPECT_EQ(rows.front().first, 1U);
  EXPECT_EQ(rows.back().last, last_);
  std::size_t with_state = 0;
  std::uint64_t decisions = 0, really = 0;
  for (const auto& row : rows) {
    decisions += row.decisions;
    if (!row.has_state()) continue;
    ++with_state;
    EXPECT_LE(row.first, snapshot_);
    EXPECT_GE(row.last, snapshot_);
    EXPECT_EQ(row.waiting, moments_[snapshot_].waiting);
    EXPECT_EQ(row.running, moments_[snapshot_].running);
    EXPECT_EQ(row.used, moments_[snapshot_].used);
  }
  EXPECT_EQ(with_state, 1U);
  for (const Moment& m : moments_) really += m.decisions;
  EXPECT_GT(decisions, really / 4) << "an estimate";
  EXPECT_LT(decisions, really * 4);

  pictures.clear();
  int asked = 0;
  ASSERT_TRUE(timeline::make_coarse_rows(
      *log_, "default", {.begin = 0, .end = last_}, [&](auto series) { pictures.push_back(series); }, [&] { return ++asked < 3; }));
  EXPECT_EQ(pictures.size(), 1U);
  EXPECT_LE(asked, 5);
}

TEST_F(LongHistory, ACoarsePictureSaysThatItIsOne) {
  timeline::Indexed indexed;
  indexed.looked = true;
  indexed.last = last_;
  ASSERT_TRUE(timeline::make_coarse_rows(
      *log_, "default", {.begin = 0, .end = last_}, [&](auto series) { indexed.coarse = series; }, [] { return true; }));
  const Json t = timeline::draw(indexed, {1, moments_[1].time}, {last_, moments_[last_].time}, 100);
  EXPECT_FALSE(t["exact"].get<bool>());
  EXPECT_FALSE(t["complete"].get<bool>());
  EXPECT_EQ(t["scannedTo"], 0);
  EXPECT_GT(sum(t["decisions"]), 0U);
  EXPECT_EQ(number_of(t["waiting"].back()), moments_[snapshot_].waiting) << "the last that is known";
}

TEST_F(LongHistory, EndsWhenNobodyWantsItAnyMore) {
  for (int i = 0; i < 5; ++i) {
    Watched watched(*log_, {.coarse_above = i % 2 == 0 ? 100U : 1'000'000U});
    if (i > 0) watched.until([&] { return watched.index->scanned_to() > static_cast<Position>(i) * 1000; });
  }
}

TEST_F(LongHistory, MistakesAreNamed) {
  Watched watched(*log_, a_row_each);
  ASSERT_TRUE(watched.until_at(last_));
  const auto error = [&](std::multimap<std::string, std::string> query) {
    const auto out = timeline_answer(*watched.index, Parameters({}, std::move(query)));
    if (out) return std::string("no error");
    EXPECT_EQ(out.error().kind, ErrorKind::invalid) << out.error().message;
    return out.error().message;
  };
  const auto end = std::to_string(last_);
  EXPECT_EQ(error({{"from", "12"}, {"to", "5"}}), "from: found 12, which is behind \"to\", 5; allowed: a position before it, or the same");
  EXPECT_EQ(error({{"buckets", "0"}}), "buckets: found \"0\"; allowed: a whole number from 1 to 2000");
  EXPECT_EQ(error({{"buckets", "2001"}}), "buckets: found \"2001\"; allowed: a whole number from 1 to 2000");
  EXPECT_EQ(error({{"from", std::to_string(last_ + 1)}}), "from: found " + std::to_string(last_ + 1) +
                                                              "; allowed: a position from 1, the first that is kept, to " + end +
                                                              ", the end of the log");
  EXPECT_EQ(error({{"to", std::to_string(last_ + 1)}}).substr(0, 9), "to: found");
  EXPECT_NE(error({{"from", "x"}}).find("from: found \"x\""), std::string::npos);
  EXPECT_NE(error({{"to", "0"}}).find("to: found \"0\""), std::string::npos);
  EXPECT_FALSE(watched.index->at({.columns = 0}));
  EXPECT_FALSE(watched.index->at({.columns = 2001}));
  EXPECT_EQ(error({{"from", "1"}, {"to", end}, {"buckets", "2000"}}), "no error");
}

TEST(GrowingHistory, IsWhatItWouldBeInTheEnd) {
  MemoryLog log;
  BusyHistory history(log, 7);
  history.live_to(300);
  Watched watched(log);
  ASSERT_TRUE(watched.until_at(log.last().value()));
  for (int i = 1; i <= 4; ++i) {
    history.live_to(300 + static_cast<std::uint64_t>(i) * 150);
    ASSERT_TRUE(watched.until_at(log.last().value()));
  }
  const auto moments = all_moments(log);
  const Json t = watched.at({.columns = 500});
  expect_states(t, moments);
  expect_sums(t, moments, 1, log.last().value());
  Watched fresh(log);
  ASSERT_TRUE(fresh.until_at(log.last().value()));
  EXPECT_EQ(fresh.at({.columns = 500}), t);
}

TEST(GrowingHistory, MayBeginWithNothing) {
  MemoryLog log;
  Watched watched(log);
  ASSERT_TRUE(watched.until_at(0));
  const Json empty = watched.at({.columns = 3});
  EXPECT_EQ(empty["time"].size(), 3U);
  EXPECT_TRUE(empty["waiting"][0].is_null());
  EXPECT_TRUE(empty["marks"].empty());
  EXPECT_FALSE(watched.index->at({.from = 1}));
  BusyHistory history(log, 8);
  history.live_to(200);
  ASSERT_TRUE(watched.until_at(log.last().value()));
  expect_states(watched.at(), all_moments(log));
}

TEST(SilentHistory, TellsWhenNobodyDecided) {
  MemoryLog log;
  testing::LogWorld world(log);
  world.set_up({{.name = "team-a", .quotas = {{.nominal = 4000}}}});
  const Time last_seen = world.now;
  world.now = world.now + Duration::seconds(120);
  world.start_epoch(2);
  const Time back = world.now;
  world.now = world.now + Duration::millis(10);
  world.start_epoch(3);  // a restart takes as long: nobody waited for it
  world.flush();
  Watched watched(log);
  ASSERT_TRUE(watched.until_at(log.last().value()));
  const Json t = watched.at();
  ASSERT_EQ(t["silences"].size(), 1U);
  EXPECT_EQ(t["silences"][0]["from"], last_seen.micros);
  EXPECT_EQ(t["silences"][0]["to"], back.micros);
}

TEST(MarkedHistory, NamesNothingThatBelongsToANamespace) {
  MemoryLog log;
  testing::LogWorld world(log);
  world.namespace_("secret");
  world.set_up({{.name = "team-a", .quotas = {{.nominal = 4000}}}});
  world.observe(WriteRefused{ObjectKind::workload, "secret", "secret-w", "u", 0, 403, "secret-w is forbidden"});
  world.observe(ObjectQuarantined{
      .kind = ObjectKind::job, .api_kind = "Job", .namespace_ = "secret", .name = "secret-job", .uid = "u2", .reason = "secret"});
  world.tick(Duration::seconds(60));
  world.queue({.name = "team-a\n\x1b[31m", .quotas = {{.nominal = 5000}}});
  world.flush();
  Watched watched(log);
  ASSERT_TRUE(watched.until_at(log.last().value()));
  const Json marks = watched.at()["marks"];
  EXPECT_EQ(marks.dump().find("secret"), std::string::npos) << marks.dump();
  bool changed = false;
  for (const auto& mark : marks) changed = changed || mark["text"] == "ClusterQueue team-a\\n\\x1b[31m is new or changed";
  EXPECT_TRUE(changed) << marks.dump();
}

TEST(TrimmedHistory, BeginsWhereTheLogDoes) {
  hindsight::test::TemporaryFolder folder;
  auto log = events::SqliteLog::open(folder.file("log.db"), {.durability = events::Durability::off});
  ASSERT_TRUE(log) << log.error().message;
  BusyHistory history(**log, 9);
  history.live_to(600);
  const auto moments = all_moments(**log);
  Watched watched(**log);
  ASSERT_TRUE(watched.until_at((*log)->last().value()));
  ASSERT_TRUE(replay::trim(**log, 400, "1.0", false));
  const auto last = (*log)->last().value();

  Watched fresh(**log);
  ASSERT_TRUE(fresh.until_at(last));
  for (const Watched* one : {&watched, &fresh}) {
    const Json t = one->at({.columns = 200});
    EXPECT_EQ(t["from"]["position"], 401);
    EXPECT_TRUE(t["exact"].get<bool>());
    expect_sums(t, moments, 401, last);
    Position seen = 0;
    for (std::size_t i = 0; i < 200; ++i) {
      if (t["waiting"][i].is_null()) continue;
      seen = t["position"][i].get<Position>();
      EXPECT_EQ(t["waiting"][i], moments[seen].waiting) << seen;
      EXPECT_EQ(t["running"][i], moments[seen].running) << seen;
    }
    EXPECT_EQ(seen, last);
    const auto gone = one->index->at({.from = 400});
    ASSERT_FALSE(gone);
    EXPECT_NE(gone.error().message.find("from: found 400; allowed: a position from 401"), std::string::npos) << gone.error().message;
  }
}

TEST(DamagedHistory, SaysHowFarItIsKnownAndWhy) {
  for (const std::size_t rows : {std::size_t{1} << 15, std::size_t{16}}) {
    MemoryLog log;
    BusyHistory history(log, 10);
    history.live_to(500);
    const auto moments = all_moments(log);
    log.damage(321);
    Watched watched(log, {.rows_max = rows, .detail_records = 0});
    ASSERT_TRUE(watched.until([&] { return watched.index->scanned_to() == 320 && watched.at().contains("whyNotMore"); }));
    EXPECT_FALSE(watched.index->complete());
    const Json t = watched.at();
    EXPECT_FALSE(t["complete"].get<bool>());
    EXPECT_FALSE(t["exact"].get<bool>());
    EXPECT_NE(t["whyNotMore"].get<std::string>().find("321"), std::string::npos) << t["whyNotMore"];
    EXPECT_TRUE(t["waiting"].back().is_null());
    const Json readable = watched.at({.to = 320});
    EXPECT_TRUE(readable["exact"].get<bool>());
    EXPECT_EQ(readable["position"].back(), 320);
    EXPECT_EQ(readable["waiting"].back(), moments[320].waiting);
    EXPECT_EQ(readable["running"].back(), moments[320].running);
    EXPECT_EQ(readable["used"].back(), moments[320].used);
  }
}

TEST(DamagedHistory, GoesOnWhenTheRecordIsSetAside) {
  MemoryLog log;
  BusyHistory history(log, 11);
  history.live_to(200);
  const std::string rubbish = "this is no record at all";
  const auto tail = log.domains().value().at(0);
  const events::EncodedRecord one{"default", tail.sequence + 1, tail.epoch, history.world.now, std::as_bytes(std::span(rubbish))};
  const auto bad = log.append({&one, 1}, std::nullopt).value();
  Watched watched(log);
  ASSERT_TRUE(watched.until([&] { return watched.index->scanned_to() == bad - 1 && watched.at().contains("whyNotMore"); }));
  ASSERT_TRUE(replay::quarantine(log, {.record = bad, .writer = "w", .release = "1.0", .reason = "a test", .now = history.world.now}));
  ASSERT_TRUE(watched.until_at(bad + 1));
  const Json t = watched.at();
  EXPECT_FALSE(t.contains("whyNotMore"));
  EXPECT_TRUE(t["complete"].get<bool>());
}

TEST(DamagedHistory, WaitsForALogThatIsAway) {
  MemoryLog log;
  BusyHistory history(log, 12);
  history.live_to(200);
  Watched watched(log);
  ASSERT_TRUE(watched.until_at(log.last().value()));
  log.be_away(true);
  ASSERT_TRUE(watched.until([&] { return !watched.index->complete(); }));
  log.be_away(false);
  ASSERT_TRUE(watched.until_at(log.last().value()));
}

// Issue 20: memory. Of a log that nobody writes any more no state is kept, and nothing is missing when it goes on all the same.
TEST(RestingHistory, KeepsNoStateUntilItGoesOn) {
  MemoryLog log;
  BusyHistory history(log, 14);
  history.live_to(300);
  Watched watched(log, {.let_go_after = {}}), never(log, {.let_go_after = Duration::seconds(3'600)});
  for (const Position length : {Position{450}, Position{600}}) {
    ASSERT_TRUE(watched.until_at(log.last().value()));
    ASSERT_TRUE(watched.until([&] { return !watched.index->has_state(); }));
    history.live_to(length);
    ASSERT_TRUE(watched.until_at(log.last().value()));
  }
  ASSERT_TRUE(never.until_at(log.last().value()));
  EXPECT_TRUE(never.index->has_state());
  EXPECT_EQ(watched.at(), never.at());
  EXPECT_EQ(watched.index->objects()->bytes(), never.index->objects()->bytes());
  ASSERT_TRUE(watched.until([&] { return !watched.index->has_state(); }));
  log.be_away(true);
  ASSERT_TRUE(watched.until([&] { return !watched.index->complete(); })) << "it is told of a log that is away";
  log.be_away(false);
  ASSERT_TRUE(watched.until_at(log.last().value()));
}

TEST(ForeignHistory, OfAnotherDomainIsNoPartOfIt) {
  MemoryLog log;
  testing::LogWorld other(log, "other");
  other.set_up({{.name = "cq", .quotas = {{.nominal = 9000}}}});
  other.flush();
  testing::LogWorld mine(log, "mine");
  mine.set_up({{.name = "cq", .quotas = {{.nominal = 1000}}}});
  mine.submit({.name = "one"});
  mine.settle();
  mine.flush();
  other.submit({.name = "two"});
  other.settle();
  other.flush();
  Watched watched(log, {}, "mine");
  ASSERT_TRUE(watched.until_at(log.last().value()));
  const Json t = watched.at();
  EXPECT_EQ(sum(t["admitted"]), 1U);
  EXPECT_EQ(t["running"].back(), 1);
  ASSERT_EQ(t["resources"].size(), 1U);
  EXPECT_EQ(t["resources"][0]["nominal"].back(), 1000);
  Watched unknown(log, {}, "nobody");
  ASSERT_TRUE(unknown.until_at(log.last().value()));
  EXPECT_EQ(sum(unknown.at()["decisions"]), 0U);
}

}  // namespace
}  // namespace hindsight::page
