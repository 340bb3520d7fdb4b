// `hindsight simulate` with a load: what a waiting job lacks is not written each time, and nothing else is otherwise; a long log has
// snapshots.

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/application.hpp"
#include "events/sqlite_log.hpp"
#include "replay/past.hpp"
#include "replay/snapshots.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::cli {
namespace {

class SimulatedLoad : public ::testing::Test {
 protected:
  void SetUp() override {
    write("queues.yaml", R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: q}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: default, resources: [{name: cpu, nominalQuota: 12}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: q, namespace: default}
spec: {clusterQueue: q}
)");
    std::string load = "seed: 3\ncount: 120\narrival: {kind: fixed, every: 1s}\njobs:\n";
    for (int cpu = 1; cpu < 13; ++cpu)
      load += "- {name: k" + std::to_string(cpu) + ", weight: 1, runTime: {kind: fixed, value: " + std::to_string(20 + cpu) +
              "s}, requests: {cpu: " + std::to_string(cpu) + "}, queues: [{namespace: default, queue: q}]}\n";
    write("load.yaml", load);
    write("each.yaml", "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nhindsight: {messageInterval: 0s}\n");
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_.file(name)) << text; }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  /// With `more` options. Fails the test where the command fails.
  [[nodiscard]] std::string simulated(const std::string& output, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"simulate", file("queues.yaml"), "--generate", file("load.yaml"), "-o", output};
    words.insert(words.end(), more.begin(), more.end());
    std::ostringstream out, err;
    Session session{out, err};
    EXPECT_EQ(run_application(session, words), 0) << err.str();
    return out.str();
  }

  test::TemporaryFolder folder_;
};

TEST_F(SimulatedLoad, TellsWhatJobsLackWithTheNextChange) {
  const auto json = [](const std::string& text) { return nlohmann::json::parse(text); };
  const auto paced = json(simulated("json"));
  const auto each = json(simulated("json", {"--config", file("each.yaml")}));
  EXPECT_EQ(paced.at("decisions"), each.at("decisions"));
  EXPECT_EQ(paced.at("virtualSeconds"), each.at("virtualSeconds"));
  EXPECT_LT(paced.at("records").get<int>() * 10, each.at("records").get<int>() * 9) << "a tenth of all and more told of nothing else";

  const auto without_last_line = [](std::string text) {
    text.pop_back();
    return text.substr(0, text.rfind('\n'));
  };
  EXPECT_EQ(without_last_line(simulated("table")), without_last_line(simulated("table", {"--config", file("each.yaml")})));
}

/// Its snapshots are those of the states that records give: verify compares them, and a moment behind one starts there.
TEST_F(SimulatedLoad, LeavesSnapshotsThatHold) {
  write("long.yaml",
        "seed: 3\ncount: 3200\narrival: {kind: fixed, every: 1s}\njobs:\n"
        "- {name: k, weight: 1, runTime: {kind: fixed, value: 10s}, requests: {cpu: 1}, queues: [{namespace: default, queue: q}]}\n");
  const auto log = file("long.db");
  std::ostringstream out, err;
  Session session{out, err};
  ASSERT_EQ(run_application(session, {"simulate", file("queues.yaml"), "--generate", file("long.yaml"), "--log", log, "-o", "json"}), 0)
      << err.str();
  EXPECT_EQ(err.str().find("was not stored"), std::string::npos) << err.str();
  const auto played = nlohmann::json::parse(out.str());
  const auto records = played.at("records").get<std::uint64_t>();
  ASSERT_GT(records, 50'000U);

  const auto opened = events::SqliteLog::open(log, {.read_only = true});
  ASSERT_TRUE(opened) << opened.error().message;
  const auto snapshots = replay::snapshots_of(**opened, "default");
  ASSERT_TRUE(snapshots) << snapshots.error().message;
  ASSERT_FALSE(snapshots->empty());
  replay::Past past(**opened, "default");
  ASSERT_TRUE(past.go_to(records));
  EXPECT_EQ(past.started_from(), snapshots->front().position);
  EXPECT_TRUE(past.notices().empty()) << past.notices().front();

  std::ostringstream verified;
  Session verifying{verified, err};
  EXPECT_EQ(run_application(verifying, {"verify", "--log", log}), 0) << verified.str() << err.str();
}

}  // namespace
}  // namespace hindsight::cli
