#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"
#include "tests/events/temporary_folder.hpp"

namespace hindsight::test {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

/// One ClusterQueue of 4 cpu; `holder` (3 cpu) runs for a minute, `waiter` (2 cpu) waits for it from second 10, `huge` (40 cpu) for ever.
inline const std::string small_world = R"(apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: default
      resources:
      - name: cpu
        nominalQuota: 4
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq, namespace: default}
spec: {clusterQueue: cq}
)";

inline std::string job(const std::string& name, const std::string& cpu, int arrives = 0, int runs = 60) {
  return "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " + name +
         "\n  namespace: default\n  annotations: {hindsight.dev/run-seconds: '" + std::to_string(runs) +
         "', hindsight.dev/arrive-seconds: '" + std::to_string(arrives) +
         "'}\n  labels: {kueue.x-k8s.io/queue-name: lq}\nspec:\n  suspend: true\n  template:\n    spec:\n      restartPolicy: Never\n      "
         "containers:\n      - name: c\n        image: i\n        resources:\n          requests:\n            cpu: " +
         cpu + "\n";
}

inline const std::string small_world_with_jobs = small_world + job("holder", "3") + job("waiter", "2", 10, 30) + job("huge", "40", 12);

inline std::string contents(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline std::string write(const std::string& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  return file;
}

/// A command on a log, with more words behind it.
inline Words on(const std::string& log, Words words) {
  words.insert(words.end(), {"--log", log});
  return words;
}

/// What a command that must succeed prints.
inline std::string text_of(const Words& words) {
  const Outcome done = hindsight(words);
  EXPECT_EQ(done.status, 0) << ::testing::PrintToString(words) << "\n" << done.err;
  return done.out;
}

inline Json json_of(Words words) {
  words.insert(words.end(), {"-o", "json"});
  return Json::parse(text_of(words));
}

/// It fails with one message, which has all these parts in it.
inline void expect_error(const Outcome& done, int status, const Words& parts) {
  EXPECT_EQ(done.status, status) << done.err;
  const std::string head = "hindsight: error: ";
  const auto first = done.err.find(head);
  ASSERT_NE(first, std::string::npos) << "no message; standard error: " << done.err;
  EXPECT_EQ(done.err.find(head, first + 1), std::string::npos) << "more than one message: " << done.err;
  for (const auto& part : parts) EXPECT_NE(done.err.find(part), std::string::npos) << "missing: " << part << "\nin: " << done.err;
}

/// Logs for all tests of a suite, made once.
class Logs : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    const std::string manifests = write(folder->file("small.yaml"), small_world_with_jobs);
    small = folder->file("small.db");
    text_of({"simulate", manifests, "--log", "sqlite:" + small});
    quick = folder->file("quick.db");
    text_of({"run", "--quickstart", "examples/quickstart", "--log", "sqlite:" + quick});
  }
  static void TearDownTestSuite() {
    delete folder;
    folder = nullptr;
  }
  static inline TemporaryFolder* folder = nullptr;
  static inline std::string small, quick;  ///< Made by `simulate` and by `run --quickstart`.
};

}  // namespace hindsight::test
