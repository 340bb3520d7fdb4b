// `why` in a terminal: the facts stand first and each remedy follows when it was played; elsewhere the same is written at once.

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "cli/application.hpp"
#include "events/sqlite_log.hpp"
#include "tests/events/temporary_folder.hpp"
#include "tests/projections/simulated.hpp"

namespace hindsight::cli {
namespace {

using projections::job_text;
using projections::Played;
using projections::queue_text;

class WhyTerminalTest : public ::testing::Test {
 protected:
  WhyTerminalTest()
      : path_(folder_.file("log.db")),
        played_(projections::basics + queue_text({.name = "cq", .cpu = "4"}) + job_text({.name = "holder", .cpu = "4", .runs = 900}) +
                job_text({.name = "waiter", .cpu = "2", .arrives = 10, .runs = 60})) {
    auto log = events::SqliteLog::open(path_, {}).value();
    events::RecordBatch batch;
    for (events::Position at = 1;; at += batch.size()) {
      EXPECT_TRUE(played_.log.read(at, {}, batch));
      if (batch.empty()) break;
      EXPECT_TRUE(log->append(batch.views(), std::nullopt));
    }
  }

  std::string said(bool terminal, std::vector<std::string> words) {
    std::ostringstream out, err;
    Session session{out, err};
    session.out_is_terminal = terminal;
    words.insert(words.begin(), "why");
    for (const std::string& word : {std::string("--log"), path_, std::string("--at"), std::string("2026-01-01T00:00:20Z")})
      words.push_back(word);
    EXPECT_EQ(run_application(session, words), exit_ok) << err.str();
    return out.str();
  }

  test::TemporaryFolder folder_;
  std::string path_;
  Played played_;
};

TEST_F(WhyTerminalTest, SaysTheSameAsAPipeGets) {
  const std::string piped = said(false, {"job/waiter"}), shown = said(true, {"job/waiter"});
  EXPECT_NE(piped.find("It would be given quota (each was played"), std::string::npos) << piped;
  EXPECT_NE(piped.find("nominalQuota of cpu in flavor default were 6 instead of 4"), std::string::npos) << piped;
  EXPECT_EQ(shown, piped);
}

TEST_F(WhyTerminalTest, WhoRunsHasNoRemedies) { EXPECT_EQ(said(true, {"job/holder"}), said(false, {"job/holder"})); }

TEST_F(WhyTerminalTest, DocumentsAreWholeInATerminalToo) {
  EXPECT_EQ(said(true, {"job/waiter", "-o", "json"}), said(false, {"job/waiter", "-o", "json"}));
}

}  // namespace
}  // namespace hindsight::cli
