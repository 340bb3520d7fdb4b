#include "connectors/manifests/manifest_reader.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace hindsight::connectors::manifests {
namespace {

std::string error_of(const std::string& text) {
  const auto input = read_text(text, "f.yaml");
  return input ? "no error" : input.error().message;
}

std::string flavor(const std::string& name) {
  return "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: " + name + "}\n";
}

TEST(Manifests, documents_and_lists_give_their_objects_in_order) {
  const auto input =
      read_text(flavor("a") + "---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Namespace\n  metadata: {name: b}\n" +
                    "- apiVersion: batch/v1\n  kind: Job\n  metadata: {name: c}\n  spec: {template: {spec: {containers: [{name: x}]}}}\n",
                "f.yaml");
  ASSERT_TRUE(input) << input.error().message;
  ASSERT_EQ(input->manifests.size(), 3U);
  EXPECT_EQ(input->manifests[0].object["metadata"]["name"], "a");
  EXPECT_EQ(input->manifests[0].source, "f.yaml:1");
  EXPECT_EQ(input->manifests[1].kind->type->kind, "Namespace");
  EXPECT_EQ(input->manifests[2].object["metadata"]["namespace"], "default");
}

// BA-1
TEST(Manifests, objects_of_v1beta1_become_v1beta2) {
  const auto input =
      read_text("apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: q}\nspec: {cohort: c}\n", "f.yaml");
  ASSERT_TRUE(input) << input.error().message;
  EXPECT_EQ(input->manifests[0].object, Json::parse(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue",
      "metadata":{"name":"q"},"spec":{"cohortName":"c"}})"));
}

TEST(Manifests, errors_name_file_line_object_field_found_and_allowed) {
  const std::string queue = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q}\n";
  const std::vector<std::pair<std::string, std::string>> rows{
      {queue + "spec:\n  stopPolicy: Halt\n",
       "f.yaml:5: ClusterQueue \"q\": spec.stopPolicy: Unsupported value: \"Halt\": supported values: \"None\", \"Hold\", "
       "\"HoldAndDrain\""},
      {queue + "spec:\n  cohort: c\n", "f.yaml:5: ClusterQueue \"q\": spec.cohort: unknown field; did you mean \"cohortName\"? allowed: "},
      {queue + "spec:\n  resourceGroups:\n  - coveredResources: [cpu]\n    flavors:\n    - name: f\n      resources:\n      - name: cpu\n"
               "        nominalQuota: -1\n",
       "f.yaml:11: ClusterQueue \"q\": spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Invalid value: -1: must be greater "
       "than or equal to 0"},
      {queue + "spec:\n  resourceGroups:\n  - coveredResources: [cpu]\n    flavors:\n    - name: f\n      resources:\n      - name: cpu\n"
               "        nominalQuota: 90000000000E\n",
       "f.yaml:11: ClusterQueue \"q\": spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Invalid value: \"90000000000E\": is "
       "more "
       "than can be counted"},
      {"apiVersion: v1\nkind: Namespce\nmetadata: {name: x}\n",
       "f.yaml:2: Namespce \"x\": kind: Unsupported value: \"Namespce\": did you mean \"Namespace\"? known kinds: Namespace, "},
      {"apiVersion: v1\nmetadata: {name: x}\n", "f.yaml:1: object \"x\": kind: Required value: must be the name of a kind"},
      {"apiVersion: batch/v1beta1\nkind: Job\nmetadata: {name: x}\n",
       "f.yaml:1: Job \"x\": apiVersion: Unsupported value: \"batch/v1beta1\": must be \"batch/v1\""},
      {"apiVersion: kueue.x-k8s.io/v1\nkind: Cohort\nmetadata: {name: x}\n",
       "f.yaml:1: Cohort \"x\": apiVersion: Unsupported value: \"kueue.x-k8s.io/v1\": must be \"kueue.x-k8s.io/v1beta2\" or "
       "\"kueue.x-k8s.io/v1beta1\""},
      {flavor("Bad_Name"), "f.yaml:3: ResourceFlavor \"Bad_Name\": metadata.name: Invalid value: \"Bad_Name\": must be a DNS name"},
      {"apiVersion: v1\nkind: Namespace\nmetadata: {labels: {a: b}}\n",
       "f.yaml:3: Namespace: metadata.name: Required value: must be given"},
      {"apiVersion: v1\nkind: Namespace\n", "f.yaml:1: Namespace: metadata.name: Required value: must be given"},
      {"apiVersion: v1\nkind: Namespace\nmetadata: {name: x, namespace: y}\n",
       "f.yaml:3: Namespace \"x\": metadata.namespace: Forbidden: objects of this kind have no namespace"},
      {"apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: A}\n", "f.yaml:3: Pod \"x\": metadata.namespace: Invalid value: \"A\""},
      {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n  annotations:\n    hindsight.dev/arrive-seconds: soon\n",
       "f.yaml:6: Pod \"x\": metadata.annotations.hindsight.dev/arrive-seconds: Invalid value: found \"soon\", allowed: a number of "
       "seconds"},
      {"- a\n- b\n", "f.yaml:1: document: : Invalid value: [\"a\",\"b\"]: must be an object with apiVersion, kind and metadata"},
      {"apiVersion: v1\nkind: List\n", "f.yaml:1: List: items: Required value"},
      {"a: [\n", "f.yaml: line "}};
  for (const auto& [text, expected] : rows) EXPECT_TRUE(error_of(text).starts_with(expected)) << text << "\n" << error_of(text);
}

TEST(Manifests, several_mistakes_are_told_at_once_but_not_all) {
  std::string text;
  for (int i = 0; i < 14; ++i) text += (i ? "---\n" : "") + flavor("X" + std::to_string(i));
  const std::string message = error_of(text);
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 10);
  EXPECT_TRUE(message.ends_with("\nand 4 more")) << message;
}

TEST(Manifests, seconds_in_annotations_are_numbers_in_quotes) {
  const auto seconds = [](const char* value) {
    return seconds_annotation(Json{{"metadata", {{"annotations", {{run_seconds_annotation, Json::parse(value)}}}}}},
                              run_seconds_annotation);
  };
  EXPECT_EQ(seconds("\"90\"").value()->micros, 90'000'000);
  EXPECT_EQ(seconds("\"0.25\"").value()->micros, 250'000);
  EXPECT_FALSE(seconds_annotation(Json::object(), run_seconds_annotation).value().has_value());
  for (const char* bad : {"\"-1\"", "\"1s\"", "5", "\"nan\"", "\"1e12\"", "\"\""}) EXPECT_FALSE(seconds(bad).has_value()) << bad;
}

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "hindsight-manifests-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }

  std::filesystem::path folder_;
};

TEST_F(Files, of_a_directory_are_read_in_name_order) {
  write("b.yml", flavor("b"));
  write("a.yaml", flavor("a"));
  write("c.json", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"c"}})");
  write("d.txt", "not: [read");
  const auto input = read_input({folder_.string()});
  ASSERT_TRUE(input) << input.error().message;
  ASSERT_EQ(input->manifests.size(), 3U);
  EXPECT_EQ(input->manifests[0].object["metadata"]["name"], "a");
  EXPECT_EQ(input->manifests[1].object["metadata"]["name"], "b");
  EXPECT_EQ(input->manifests[2].object["metadata"]["name"], "c");
}

TEST_F(Files, that_cannot_be_read_are_named) {
  EXPECT_EQ(read_input({"/nowhere/x.yaml"}).error().message, "/nowhere/x.yaml: no such file or directory");
  EXPECT_EQ(read_input({folder_.string()}).error().message, folder_.string() + ": holds no file that ends in .yaml, .yml or .json");
  write("a.yaml", flavor("a"));
  ReadLimits limits;
  limits.bytes = 10;
  EXPECT_NE(read_input({folder_.string()}, limits).error().message.find("allowed: at most 10 bytes"), std::string::npos);
  // What has no end is not read to its end.
  EXPECT_EQ(read_input({"/dev/zero"}, limits).error().message, "/dev/zero: has no end within 10 bytes, allowed: at most so many");
}

}  // namespace
}  // namespace hindsight::connectors::manifests
