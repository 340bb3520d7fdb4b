#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "connectors/manifests/manifest_reader.hpp"

namespace hindsight::connectors::manifests {
namespace {

const std::string head = "apiVersion: hindsight.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n";

std::string error_of(const std::string& text) {
  const auto input = read_text(text, "f.yaml");
  return input ? "no error" : input.error().message;
}

TEST(ScenarioFile, holds_steps_with_verbs) {
  const auto input = read_text(head + R"(
  config: {fairSharing: {}}
  featureGates: {ConcurrentAdmission: true}
  steps:
  - at: 0s
    apply:
    - {apiVersion: v1, kind: Node, metadata: {name: n}}
  - at: 1m30s
    patch:
    - {kind: Workload, owner: {kind: Job, name: j}, subresource: status, merge: {status: {a: null}}}
    - {kind: Job, namespace: x, name: j, merge: {spec: {suspend: true}}}
    finish:
    - {kind: Job, name: j, failed: true}
    delete:
    - {kind: ClusterQueue, name: q}
)",
                               "dir/case-001.yaml");
  ASSERT_TRUE(input) << input.error().message;
  ASSERT_EQ(input->scenarios.size(), 1U);
  const Scenario& scenario = input->scenarios[0];
  EXPECT_EQ(scenario.name, "case-001");
  EXPECT_EQ(scenario.config, Json::parse(R"({"fairSharing":{}})"));
  EXPECT_EQ(scenario.feature_gates, Json::parse(R"({"ConcurrentAdmission":true})"));
  ASSERT_EQ(scenario.steps.size(), 2U);
  EXPECT_EQ(scenario.steps[0].apply.size(), 1U);
  const ScenarioStep& step = scenario.steps[1];
  EXPECT_EQ(step.at, Duration::seconds(90));
  ASSERT_EQ(step.patch.size(), 2U);
  EXPECT_EQ(step.patch[0].owner->name, "j");
  EXPECT_TRUE(step.patch[0].status);
  EXPECT_EQ(step.patch[0].merge, Json::parse(R"({"status":{"a":null}})"));
  EXPECT_EQ(step.patch[1].namespace_, "x");
  EXPECT_FALSE(step.patch[1].status);
  EXPECT_TRUE(step.finish.at(0).failed);
  EXPECT_EQ(step.finish.at(0).namespace_, "default");
  EXPECT_EQ(step.delete_.at(0).name, "q");
}

TEST(ScenarioFile, leaves_to_the_api_server_what_it_judges) {
  EXPECT_EQ(error_of(head + "  steps:\n  - at: 0s\n    apply:\n    - apiVersion: kueue.x-k8s.io/v1beta2\n      kind: LocalQueue\n"
                            "      metadata: {name: Bad_Name}\n      spec: {clusterQueue: 5, stopPolicy: Halt}\n"),
            "no error");
}

TEST(ScenarioFile, tells_mistakes_with_their_lines) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"  steps:\n  - at: 0s\n    aply: []\n", "f.yaml:7: Scenario \"s\": spec.steps[0].aply: unknown field; did you mean \"apply\"?"},
      {"  steps:\n  - {}\n", "f.yaml:6: Scenario \"s\": spec.steps[0].at: Required value"},
      {"  steps:\n  - at: soon\n", "f.yaml:6: Scenario \"s\": spec.steps[0].at: Invalid value: \"soon\": must be a time since the start"},
      {"  steps:\n  - at: 5s\n  - at: 4s\n",
       "f.yaml:7: Scenario \"s\": spec.steps[1].at: Invalid value: must not be before the step above"},
      {"  steps:\n  - at: 0s\n    apply:\n    - kind: Job\n      apiVersion: batch/v1\n      metadata: {name: j}\n      spec: {paralelism: "
       "1}\n",
       "f.yaml:11: Scenario \"s\": spec.steps[0].apply[0].spec.paralelism: unknown field; did you mean \"parallelism\"?"},
      {"  steps:\n  - at: 0s\n    apply:\n    - {kind: Job, apiVersion: batch/v1}\n",
       "f.yaml:8: Scenario \"s\": spec.steps[0].apply[0].metadata.name: Required value"},
      {"  steps:\n  - at: 0s\n    apply: [7]\n", "f.yaml:7: Scenario \"s\": spec.steps[0].apply[0]: Invalid value: 7: must be a manifest"},
      {"  steps:\n  - at: 0s\n    finish:\n    - {kind: Pod, name: p}\n",
       "f.yaml:8: Scenario \"s\": spec.steps[0].finish[0].kind: Unsupported value: \"Pod\": supported values: \"Job\", \"JobSet\""},
      {"  steps:\n  - at: 0s\n    delete:\n    - {kind: Jobb, name: p}\n",
       "f.yaml:8: Scenario \"s\": spec.steps[0].delete[0].kind: Unsupported value: \"Jobb\": did you mean \"Job\"?"},
      {"  steps:\n  - at: 0s\n    patch:\n    - {kind: Job, merge: {}}\n",
       "f.yaml:8: Scenario \"s\": spec.steps[0].patch[0].name: Required value: must be given, or owner"},
      {"  steps:\n  - at: 0s\n    patch:\n    - {kind: Job, owner: {kind: Job, name: j}, merge: 5}\n",
       "f.yaml:8: Scenario \"s\": spec.steps[0].patch[0].merge: Invalid value: 5: must be an object"},
      {"  config: 5\n  steps: []\n", "f.yaml:5: Scenario \"s\": spec.config: Invalid value: 5: must be an object"},
      {"  step: []\n", "f.yaml:5: Scenario \"s\": spec.step: unknown field; did you mean \"steps\"?"}};
  for (const auto& [text, expected] : rows)
    EXPECT_TRUE(error_of(head + text).starts_with(expected)) << text << "\n" << error_of(head + text);
}

TEST(ScenarioFile, of_another_version_is_refused) {
  EXPECT_TRUE(
      error_of("apiVersion: hindsight.dev/v2\nkind: Scenario\nspec: {steps: []}\n")
          .starts_with("f.yaml:1: Scenario: apiVersion: Unsupported value: \"hindsight.dev/v2\": must be \"hindsight.dev/v1alpha1\""));
}

TEST(ScenarioFile, every_conformance_case_is_read) {
  std::size_t files = 0, steps = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/conformance/cases")) {
    const auto input = read_input({entry.path().string()});
    ASSERT_TRUE(input) << input.error().message;
    ASSERT_EQ(input->scenarios.size(), 1U);
    EXPECT_EQ(input->scenarios[0].name, entry.path().stem().string());
    steps += input->scenarios[0].steps.size();
    ++files;
  }
  EXPECT_EQ(files, 141U);
  EXPECT_GT(steps, 1000U);
}

}  // namespace
}  // namespace hindsight::connectors::manifests
