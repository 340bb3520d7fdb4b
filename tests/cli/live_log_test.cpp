// A log that grows: readers beside its writer, a copy of it, and a second writer. A log that `run` made goes on where it stood.

#include <csignal>
#include <filesystem>

#include <sqlite3.h>

#include "tests/cli/worlds.hpp"

namespace hindsight::test {
namespace {

class LiveLog : public Logs {
 protected:
  /// A control plane that has done all it has to do, and stays with its log open.
  LiveLog() : writer({"run", "--quickstart", "examples/quickstart", "--log", "sqlite:" + live, "--keep"}) {
    EXPECT_TRUE(writer.wait_for("Staying until interrupted")) << writer.said();
  }
  TemporaryFolder own;
  std::string live = own.file("live.db");
  Program writer;
};

TEST_F(LiveLog, EveryReaderWorksBesideTheWriter) {
  for (const Words& words : std::vector<Words>{{"get", "workloads", "-A"},
                                               {"describe", "cq", "team-a"},
                                               {"history", "job/team-a/train-1"},
                                               {"why", "job/team-a/moonshot"},
                                               {"diff", "100", "200"},
                                               {"verify"},
                                               {"replay"},
                                               {"log", "cat", "--limit", "5"},
                                               {"log", "stats"},
                                               {"log", "check"}})
    EXPECT_FALSE(text_of(on(live, words)).empty());
  const Json before = json_of(on(live, {"replay"}));
  writer.signal(SIGTERM);
  EXPECT_EQ(writer.wait().status, 0);
  const Json after = json_of(on(live, {"replay", "--at", std::to_string(before["position"].get<int>())}));
  EXPECT_EQ(after["hash"], before["hash"]);
  EXPECT_TRUE(json_of(on(live, {"verify"}))["clean"]);
}

TEST_F(LiveLog, ACopyThatSqliteMakesIsAsGoodAsTheLog) {
  const std::string copy = own.file("copy.db");
  sqlite3* from = nullptr;
  ASSERT_EQ(sqlite3_open_v2(live.c_str(), &from, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(from, ("VACUUM INTO '" + copy + "'").c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(from);
  EXPECT_EQ(json_of(on(copy, {"replay"}))["hash"], json_of(on(live, {"replay"}))["hash"]);
  EXPECT_EQ(text_of(on(copy, {"get", "wl", "-A"})), text_of(on(live, {"get", "wl", "-A"})));
  EXPECT_TRUE(json_of(on(copy, {"log", "check"}))["findings"].empty());
}

TEST_F(LiveLog, ASecondWriterIsTurnedAwayAndNamesTheFirst) {
  const std::string manifest = write(own.file("m.yaml"), small_world);
  const Json before = json_of(on(live, {"replay"}));
  for (const Words& words :
       std::vector<Words>{{"simulate", manifest, "--log", "sqlite:" + live}, {"run", "--quickstart", manifest, "--log", "sqlite:" + live}})
    expect_error(hindsight(words), 1, {live, std::to_string(writer.id())});
  EXPECT_EQ(json_of(on(live, {"replay"}))["hash"], before["hash"]);
}

TEST_F(LiveLog, FollowingEndsWithASignal) {
  Program follower(on(live, {"log", "cat", "--from", "latest", "--follow"}));
  EXPECT_TRUE(follower.wait_for("epoch")) << follower.said();
  follower.signal(SIGTERM);
  EXPECT_NE(follower.wait().status, 1);
}

}  // namespace
}  // namespace hindsight::test
