// The index of a history between two starts (issue 20: the second start shows its first picture at once): what the file says is what the
// log says; one that is damaged, of another log, domain or release is told of and made anew; where none can be written all works without.

#include "page/timeline/index_file.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "events/memory_log.hpp"
#include "page/timeline/timeline_index.hpp"
#include "tests/events/temporary_folder.hpp"
#include "tests/page/timeline/busy_history.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::page::timeline {
namespace {

/// An index that is kept in a file, and what it said of that.
class KeptIndexRun {
 public:
  KeptIndexRun(const events::Log& log, const std::string& file, const std::string& release = "1.0", const std::string& domain = "default") {
    TimelineOptions options;
    options.pause = Duration::millis(5);
    options.keep_in = file;
    options.keep_above = 200;
    options.release = release;
    options.notice = [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      notices_.push_back(text);
    };
    index = TimelineIndex::start(log, domain, options);
  }
  ~KeptIndexRun() { index.reset(); }

  [[nodiscard]] bool complete_to(Position end) const {
    const auto deadline = std::chrono::steady_clock::now() + patience(60);
    while (!(index->complete() && index->scanned_to() == end)) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }
  [[nodiscard]] std::string picture() const {
    const auto told = index->at({.columns = 100});
    return told ? told->dump() : told.error().message;
  }
  [[nodiscard]] std::string notices() const {
    const std::lock_guard lock(mutex_);
    std::string out;
    for (const auto& one : notices_) out += one + "\n";
    return out;
  }
  std::unique_ptr<TimelineIndex> index;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> notices_;
};

class IndexFileTest : public ::testing::Test {
 protected:
  IndexFileTest() { history.live_to(3'000); }
  [[nodiscard]] Position end() const { return log.last().value(); }

  /// Lets an index read all of it, which leaves a file.
  std::string make() {
    KeptIndexRun run(log, file);
    EXPECT_TRUE(run.complete_to(end()));
    EXPECT_EQ(run.notices(), "");
    return run.picture();
  }
  /// What a run says that meets the file as it is; its picture is that of the log all the same.
  std::string notices_of_next(const std::string& release = "1.0") {
    KeptIndexRun run(log, file, release);
    EXPECT_TRUE(run.complete_to(end()));
    KeptIndexRun without(log, "");
    EXPECT_TRUE(without.complete_to(end()));
    EXPECT_EQ(run.picture(), without.picture());
    return run.notices();
  }
  [[nodiscard]] std::string bytes() const {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const std::string& content) const { std::ofstream(file, std::ios::binary | std::ios::trunc) << content; }

  test::TemporaryFolder folder;
  std::string file = folder.file("log.db.index-1");
  events::MemoryLog log;
  BusyHistory history{log, 5};
};

TEST_F(IndexFileTest, TheSecondStartSaysTheSameAndFoldsNothing) {
  const std::string first = make();
  ASSERT_TRUE(std::filesystem::exists(file));
  KeptIndexRun again(log, file);
  ASSERT_TRUE(again.complete_to(end()));
  EXPECT_EQ(again.picture(), first);
  EXPECT_EQ(again.notices(), "");
  ASSERT_NE(again.index->objects(), nullptr);
  EXPECT_EQ(again.index->objects()->end(), end() / Segment::records * Segment::records);
  const auto kept = read_index_file(file, log, "default", "1.0");
  ASSERT_TRUE(kept && *kept);
  EXPECT_EQ((*kept)->end(), end());
}

TEST_F(IndexFileTest, WhatComesAfterItIsReadOn) {
  (void)make();
  history.live_to(4'500);
  KeptIndexRun again(log, file), anew(log, "");
  ASSERT_TRUE(again.complete_to(end()));
  ASSERT_TRUE(anew.complete_to(end()));
  EXPECT_EQ(again.picture(), anew.picture());
  EXPECT_EQ(again.index->curve(CurveKind::oldest_wait, Time{0}, history.world.now, 60),
            anew.index->curve(CurveKind::oldest_wait, Time{0}, history.world.now, 60));
  const auto a = again.index->objects(), b = anew.index->objects();
  ASSERT_TRUE(a && b);
  ASSERT_EQ(a->segments().size(), b->segments().size());
  for (std::size_t i = 0; i < a->segments().size(); ++i) EXPECT_EQ(a->segments()[i]->bits(), b->segments()[i]->bits()) << i;
}

TEST_F(IndexFileTest, ADamagedFileIsToldOfAndMadeAnew) {
  (void)make();
  const std::string good = bytes();
  for (const std::size_t at : {std::size_t{0}, std::size_t{9}, std::size_t{30}, good.size() / 3, good.size() / 2, good.size() - 1}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x20);
    put(bad);
    const std::string said = notices_of_next();
    EXPECT_NE(said.find(file), std::string::npos) << "byte " << at << ": " << said;
    EXPECT_NE(said.find("read anew"), std::string::npos) << said;
    EXPECT_EQ(bytes().size(), good.size()) << "a good one is there again";
  }
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, std::size_t{13}, std::size_t{40}, good.size() / 2, good.size() - 8}) {
    put(good.substr(0, length));
    EXPECT_NE(notices_of_next().find("read anew"), std::string::npos) << "cut to " << length;
  }
  put(good);
  EXPECT_EQ(notices_of_next(), "");
}

TEST_F(IndexFileTest, OneOfAnotherReleaseLogOrDomainIsNotUsed) {
  (void)make();
  EXPECT_NE(notices_of_next("2.0").find("release: found \"1.0\"; allowed: \"2.0\""), std::string::npos);
  events::MemoryLog other;
  BusyHistory(other, 6).live_to(3'200);
  {
    KeptIndexRun run(other, file, "2.0");
    ASSERT_TRUE(run.complete_to(other.last().value()));
    EXPECT_NE(run.notices().find("another one"), std::string::npos) << run.notices();
  }
  events::MemoryLog shorter;
  BusyHistory(shorter, 6).live_to(1'000);
  const auto of_shorter = read_index_file(file, shorter, "default", "2.0");
  ASSERT_FALSE(of_shorter);
  EXPECT_EQ(of_shorter.error().kind, ErrorKind::conflict);
  const auto of_domain = read_index_file(file, other, "elsewhere", "2.0");
  ASSERT_FALSE(of_domain);
  EXPECT_NE(of_domain.error().message.find("domain: found \"default\""), std::string::npos) << of_domain.error().message;
}

TEST_F(IndexFileTest, WhereNoneCanBeWrittenAllWorksWithout) {
  file = "/proc/hindsight/log.db.index-1";
  const std::string said = notices_of_next();
  EXPECT_NE(said.find("is not kept"), std::string::npos) << said;
}

TEST_F(IndexFileTest, AShortHistoryLeavesNoFile) {
  events::MemoryLog little;
  BusyHistory(little, 1).live_to(100);
  {
    KeptIndexRun run(little, file);
    ASSERT_TRUE(run.complete_to(little.last().value()));
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(IndexFilePath, LiesBesideALogInAFileAndElseInTheFolder) {
  const std::string beside = index_file_path("sqlite:/var/lib/log.db", "default", "/cache", false);
  EXPECT_TRUE(beside.starts_with("/var/lib/log.db.index-")) << beside;
  EXPECT_NE(beside, index_file_path("sqlite:/var/lib/log.db", "other", "/cache", false));
  EXPECT_TRUE(index_file_path("sqlite:/var/lib/log.db", "default", "/cache", true).starts_with("/cache/log-"));
  EXPECT_TRUE(index_file_path("kafka:localhost:9092/prod?partition=3", "default", "/cache", false).starts_with("/cache/log-"));
  EXPECT_EQ(index_file_path("kafka:localhost:9092/prod", "default", "", false), "");
  EXPECT_EQ(index_file_path("memory", "default", "/cache", false), "");
}

}  // namespace
}  // namespace hindsight::page::timeline
