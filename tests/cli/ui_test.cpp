// The page as a program: it prints its address, serves what lies in it beside a process that writes the log, and ends when it is told to.

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <regex>

#include "tests/cli/worlds.hpp"
#include "tests/operations/raw_client.hpp"

namespace hindsight::test {
namespace {

using operations::request;

class Ui : public Logs {
 protected:
  Ui() : writer({"run", "--quickstart", "examples/quickstart", "--log", "sqlite:" + live, "--keep"}) {
    EXPECT_TRUE(writer.wait_for("Staying until interrupted")) << writer.said();
  }
  TemporaryFolder own;
  std::string live = own.file("live.db");
  Program writer;
};

// Whoever started it has closed standard input and errors: no connection and no file of the process gets those numbers, or what is told to
// people would be written into it (issue 14: a hostile machine).
TEST_F(Ui, StandardNumbersThatAreClosedAreNobodyElses) {
  Program ui({"ui", "--listen", "127.0.0.1:0", "--log", live},
             {.environment = {{"XDG_CACHE_HOME", own.path().string()}}, .closed = {STDIN_FILENO, STDERR_FILENO}});
  ASSERT_TRUE(ui.wait_for("/\n")) << ui.said();
  const std::filesystem::path open = "/proc/" + std::to_string(ui.id()) + "/fd";
  for (const int number : {STDIN_FILENO, STDERR_FILENO}) EXPECT_EQ(std::filesystem::read_symlink(open / std::to_string(number)), "/");
  ui.signal(SIGINT);
  EXPECT_EQ(ui.wait().status, 0);
}

TEST_F(Ui, ServesThePageBesideTheWriterUntilItIsTold) {
  Program ui({"ui", "--listen", "127.0.0.1:0", "--log", live}, {.environment = {{"XDG_CACHE_HOME", own.path().string()}}});
  ASSERT_TRUE(ui.wait_for("/\n")) << ui.said();
  std::smatch found;
  const std::string said = ui.said();
  ASSERT_TRUE(std::regex_search(said, found, std::regex("http://127\\.0\\.0\\.1:([0-9]+)/"))) << said;
  const auto port = static_cast<std::uint16_t>(std::stoi(found[1]));

  const auto index = request(port, "GET", "/");
  EXPECT_EQ(index.status, 200);
  std::smatch script;
  ASSERT_TRUE(std::regex_search(index.body, script, std::regex("assets/[-_A-Za-z0-9]+\\.js"))) << index.body;
  EXPECT_EQ(request(port, "GET", "/" + script[0].str()).status, 406) << "it is there, and compressed";

  const Json log = Json::parse(request(port, "GET", "/api/v1/log").body);
  EXPECT_EQ(log["name"], "live.db");
  const Json stats = json_of(on(live, {"log", "stats"}));
  EXPECT_EQ(log["latest"]["position"], stats["records"]);
  // Every view that needs no name answers, now and at a moment.
  const Json described = Json::parse(request(port, "GET", "/api/v1/openapi.json").body);
  int asked = 0;
  for (const auto& [path, methods] : described["paths"].items()) {
    if (path.find('{') != std::string::npos || path == "/live" || !methods.contains("get")) continue;
    ++asked;
    const auto answer = request(port, "GET", "/api/v1" + path);
    EXPECT_TRUE(answer.status == 200 || answer.status == 400) << path << ": " << answer.status << " " << answer.body;
    const Json body = Json::parse(answer.body, nullptr, false);
    EXPECT_FALSE(body.is_discarded()) << path;
    if (answer.status == 400) {
      EXPECT_NE(answer.body.find("allowed"), std::string::npos) << path << ": " << answer.body;
    }
  }
  EXPECT_GT(asked, 8);
  ui.signal(SIGINT);
  const Outcome ended = ui.wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, found[0].str() + "\n");
}

TEST_F(Ui, APortThatIsTakenAndALogThatIsNotThereAreSaid) {
  Program first({"ui", "--listen", "127.0.0.1:0", "--log", live}, {.environment = {{"XDG_CACHE_HOME", own.path().string()}}});
  ASSERT_TRUE(first.wait_for("/\n")) << first.said();
  const std::string said = first.said();
  const std::string address = said.substr(7, said.find("/\n") - 7);
  const Outcome second = hindsight({"ui", "--listen", address, "--log", live}, {.environment = {{"XDG_CACHE_HOME", own.path().string()}}});
  EXPECT_EQ(second.status, 1);
  EXPECT_NE(second.err.find("cannot listen on " + address), std::string::npos) << second.err;
  const Outcome missing = hindsight({"ui", "--listen", "127.0.0.1:0", "--log", own.file("missing.db")});
  EXPECT_NE(missing.status, 0);
  EXPECT_NE(missing.err.find("missing.db"), std::string::npos) << missing.err;
}

}  // namespace
}  // namespace hindsight::test
