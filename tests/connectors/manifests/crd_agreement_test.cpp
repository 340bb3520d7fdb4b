#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "connectors/manifests/kinds.hpp"
#include "connectors/manifests/yaml_reader.hpp"

namespace hindsight::connectors::manifests {
namespace {

/// Compares a table with the OpenAPI schema of a CustomResourceDefinition and writes down where they differ.
class Comparison {
 public:
  std::vector<std::string> differences;
  std::size_t fields = 0;

  void compare(const Schema& table, const Json& crd, const std::string& path) {
    // Metadata is not the definition's business.
    if (path == "metadata" || table.type == FieldType::any) return;
    const bool open = crd.value("x-kubernetes-preserve-unknown-fields", false);
    if (table.type == FieldType::object) compare_objects(table, crd, path, open);
    if (table.type == FieldType::list && crd.contains("items")) compare(*table.element, crd["items"], path + "[]");
    if (table.type == FieldType::map && crd.contains("additionalProperties") && crd["additionalProperties"].is_object())
      compare(*table.element, crd["additionalProperties"], path + "{}");
    if (!table.allowed.empty()) {
      const std::set<std::string> ours(table.allowed.begin(), table.allowed.end());
      if (ours != crd.value("enum", std::set<std::string>())) differences.push_back(path + ": other values allowed");
    }
    const Json ours = table.default_value.value_or(Json());
    const Json theirs = crd.value("default", Json());
    if (ours != theirs && !open) differences.push_back(path + ": default " + ours.dump() + " and " + theirs.dump());
  }

 private:
  /// Fields of v1beta1 that the definitions carry along in v1beta2; manifests get rewritten instead.
  static bool is_carried(const std::string& name) {
    static const std::set<std::string> carried{"accumulatedPastExexcutionTimeSeconds",
                                               "admissionChecks",
                                               "admissionFairSharingStatus",
                                               "clusterProfileRef",
                                               "cohort",
                                               "domains",
                                               "flavorUsage",
                                               "flavors",
                                               "kubeConfig",
                                               "pendingWorkloadsStatus",
                                               "priorityClassName",
                                               "priorityClassSource",
                                               "retryDelayMinutes"};
    return carried.contains(name);
  }

  void compare_objects(const Schema& table, const Json& crd, const std::string& path, bool open) {
    const Json properties = crd.value("properties", Json::object());
    const auto required = crd.value("required", std::set<std::string>());
    for (const auto& [name, property] : properties.items()) {
      const std::string inner = path.empty() ? name : path + "." + name;
      const Field* field = table.field(name);
      if (field == nullptr && is_carried(name)) continue;
      if (field == nullptr) {
        differences.push_back(inner + ": only in the definition");
        continue;
      }
      ++fields;
      // The definitions ask for more in places (Kueue's webhooks do); where v1beta1 has another field for the same, for less.
      if (field->required && !required.contains(name) && !open && name != "slices" && name != "clusterSource")
        differences.push_back(inner + ": required in the table only");
      compare(*field->schema, property, inner);
    }
    // An open object keeps what it does not list, and metadata of templates is cut to labels and annotations.
    if (open || path.ends_with("template.metadata")) return;
    for (const auto& field : table.fields)
      if (!properties.contains(field.name)) differences.push_back(path + "." + field.name + ": only in the table");
  }
};

// BA-1, BA-3: one truth in two forms, the definitions for API servers and the tables for manifests and simulation.
TEST(Tables, agree_with_the_custom_resource_definitions) {
  std::size_t compared = 0, fields = 0;
  for (const auto& kind : kinds()) {
    if (kind.type->group != "kueue.x-k8s.io") continue;
    const std::string file = "deploy/crds/kueue.x-k8s.io_" + std::string(kind.type->plural) + ".yaml";
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    const auto documents = read_yaml(text.str());
    ASSERT_TRUE(documents && documents->size() == 1) << file;
    for (const auto& version : documents->at(0).value["spec"]["versions"]) {
      if (version["name"] != "v1beta2") continue;
      Comparison comparison;
      comparison.compare(*kind.schema, version["schema"]["openAPIV3Schema"], "");
      for (const auto& difference : comparison.differences) ADD_FAILURE() << kind.type->kind << ": " << difference;
      fields += comparison.fields;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 11U);
  EXPECT_GT(fields, 300U);
}

}  // namespace
}  // namespace hindsight::connectors::manifests
