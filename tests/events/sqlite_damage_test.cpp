// Bytes of a log file that changed or went: reading names the first record that is damaged, and everything before it is as it was.

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "events/record.hpp"
#include "events/sqlite_log.hpp"
#include "tests/events/log_records.hpp"
#include "tests/events/random_records.hpp"
#include "tests/events/raw_sqlite.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::test {
namespace {

using events::SqliteLog;

constexpr std::size_t records = 1500;
constexpr std::size_t page = 4096;

class SqliteDamage : public testing::Test {
 protected:
  SqliteDamage() {
    auto log = SqliteLog::open(path_, {.durability = events::Durability::off}).value();
    RandomRecords random(5);
    events::Encoder encoder;
    for (std::size_t i = 0; i < records; ++i) {
      RecordView record = random.record();
      record.envelope = {i % 3 == 0 ? "alpha" : "beta", i % 3 == 0 ? i / 3 + 1 : i - i / 3, 1, Time{static_cast<std::int64_t>(i)}, 0};
      const auto bytes = encoder.encode(record);
      const events::EncodedRecord encoded{record.envelope.domain, record.envelope.sequence, 1, record.envelope.time, bytes};
      EXPECT_TRUE(log->append(std::span(&encoded, 1), {}).has_value());
    }
    original_ = read_all(*log);
    log.reset();
    std::ifstream in(path_, std::ios::binary);
    file_.assign(std::istreambuf_iterator<char>(in), {});
    // SQLite may have moved the first leaves of the table behind others when it grew; the number of a page is one more than its place.
    const auto last = RawSqlite(path_).integer("SELECT max(pageno) FROM dbstat WHERE name = 'records' AND path < '/010'");
    EXPECT_GT(last, 10);
    first_pages_ = std::max<std::size_t>(20, static_cast<std::size_t>(last));
    EXPECT_LT(first_pages_, file_.size() / page / 4);
  }

  void write(const std::string& content) const { std::ofstream(path_, std::ios::binary | std::ios::trunc) << content; }

  struct Outcome {
    bool opened = false;
    std::size_t good = 0;  ///< Records that were read before the first problem.
    std::string problem;
  };

  /// Opens and reads all; whatever comes is the beginning of what was there, then at most one error that names its offset.
  Outcome examine() const {
    Outcome out;
    auto log = SqliteLog::open(path_, {.read_only = true});
    if (!log) {
      out.problem = log.error().message;
      EXPECT_FALSE(out.problem.empty());
      return out;
    }
    out.opened = true;
    auto found = read_all(**log);
    if (!found.empty() && found.back().starts_with("error: ")) {
      out.problem = found.back();
      found.pop_back();
      EXPECT_NE(out.problem.find("record " + std::to_string(found.size() + 1) + " is damaged"), std::string::npos) << out.problem;
    }
    out.good = found.size();
    EXPECT_LE(out.good, original_.size());
    EXPECT_TRUE(std::equal(found.begin(), found.end(), original_.begin()));
    if (out.problem.empty()) {
      EXPECT_EQ(out.good, original_.size());
    }

    const auto report = (*log)->check();
    EXPECT_TRUE(report.has_value()) << report.error().message;
    if (report && !out.problem.empty()) {
      EXPECT_FALSE(report->findings.empty());
    }
    if (report) {
      EXPECT_GE(report->records, out.good);
    }
    return out;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("log.db");
  std::vector<std::string> original_;
  std::string file_;
  std::size_t first_pages_ = 0;  ///< In so many the first records are, with what they need to be found.
};

TEST_F(SqliteDamage, by_a_flipped_bit_is_found_at_its_record) {
  std::mt19937_64 random(1);
  int damaged = 0;
  int whole = 0;
  for (int i = 0; i < 120; ++i) {
    const std::size_t at = random() % file_.size();
    SCOPED_TRACE("byte " + std::to_string(at));
    std::string flipped = file_;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << random() % 8));
    write(flipped);
    const Outcome outcome = examine();
    if (!outcome.opened) {
      EXPECT_LT(at, page);  // the header and the table definitions
    }
    ++(outcome.problem.empty() ? whole : damaged);
  }
  EXPECT_GT(damaged, 60);  // most bytes of the file are bytes of records
  EXPECT_GT(damaged + whole, 100);
}

TEST_F(SqliteDamage, by_lost_pages_is_found_at_the_first_of_their_records) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 40; ++i) {
    const std::size_t first = 1 + random() % (file_.size() / page - 1);
    const std::size_t n = std::min<std::size_t>(1 + random() % 4, file_.size() / page - first);
    SCOPED_TRACE("page " + std::to_string(first) + " and " + std::to_string(n - 1) + " more");
    std::string holed = file_;
    std::fill_n(holed.begin() + static_cast<std::ptrdiff_t>(first * page), n * page, random() % 2 == 0 ? '\0' : '\xA5');
    write(holed);
    EXPECT_TRUE(examine().opened);
  }
}

TEST_F(SqliteDamage, by_truncation_leaves_what_stands_before_the_cut) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 60; ++i) {
    const std::size_t size = random() % file_.size();
    SCOPED_TRACE("cut to " + std::to_string(size));
    write(file_.substr(0, size));
    const Outcome outcome = examine();
    EXPECT_FALSE(outcome.problem.empty());
    if (!outcome.opened) {
      EXPECT_LT(size, 8 * page);
    }
    // Records stand in the file in their order, but for a few pages.
    const double share = static_cast<double>(size) / static_cast<double>(file_.size());
    if (size > first_pages_ * page) {
      EXPECT_GT(static_cast<double>(outcome.good), share * records * 0.9 - 100) << outcome.problem;
    }
  }
}

// SQLite reads what is missing of a page as zeros: the page then has rows that say 0 of all their columns.
TEST_F(SqliteDamage, by_a_cut_inside_a_page_leaves_the_pages_before_it) {
  for (std::size_t k = first_pages_ + 1; k < file_.size() / page; k += 9) {
    const std::size_t size = k * page + 9 + 13 * k % 500;
    SCOPED_TRACE("cut to " + std::to_string(size));
    write(file_.substr(0, size));
    const Outcome outcome = examine();
    EXPECT_TRUE(outcome.opened);
    EXPECT_FALSE(outcome.problem.empty());
    EXPECT_GT(outcome.good, 0u) << outcome.problem;
  }
}

// The tail that is not yet in the file has checksums of SQLite's own: what is damaged there ends the log, which can be written on.
TEST_F(SqliteDamage, of_the_unfinished_tail_ends_the_log_at_a_commit) {
  auto log = SqliteLog::open(path_).value();
  for (std::uint64_t i = 0; i < 30; ++i) ASSERT_TRUE(log->append(Records::run("tail", 10 * i + 1, 10).list(), {}).has_value());
  const auto all = read_all(*log);
  std::ifstream in(path_ + "-wal", std::ios::binary);
  const std::string tail{std::istreambuf_iterator<char>(in), {}};
  ASSERT_GT(tail.size(), 10 * page);
  std::mt19937_64 random(4);
  for (int i = 0; i < 20; ++i) {
    TemporaryFolder copy;
    const auto copied = copy.file("log.db");
    std::ofstream(copied, std::ios::binary) << file_;
    std::string damaged = tail;
    if (i % 2 == 0) {
      damaged.resize(random() % tail.size());
    } else {
      damaged[random() % tail.size()] ^= 4;
    }
    std::ofstream(copied + "-wal", std::ios::binary) << damaged;
    const auto reopened = SqliteLog::open(copied);
    ASSERT_TRUE(reopened.has_value()) << reopened.error().message;
    const auto found = read_all(**reopened);
    ASSERT_GE(found.size(), records);
    ASSERT_LE(found.size(), all.size());
    EXPECT_EQ((found.size() - records) % 10, 0u);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), all.begin()));
    const std::uint64_t next = found.size() - records + 1;
    EXPECT_TRUE((*reopened)->append(Records::run("tail", next, 3).list(), found.size()).has_value());
  }
}

}  // namespace
}  // namespace hindsight::test
