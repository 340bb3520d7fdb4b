#include "connectors/webhooks/conversion.hpp"

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "connectors/manifests/json_views.hpp"
#include "connectors/manifests/yaml_reader.hpp"
#include "connectors/webhooks/topology_domains.hpp"
#include "tests/connectors/webhooks/random_objects.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::Json;
using manifests::member;

constexpr const char* v1beta1 = "kueue.x-k8s.io/v1beta1";
constexpr const char* v1beta2 = "kueue.x-k8s.io/v1beta2";

Json converted(Json object, const char* version) {
  const auto done = convert(object, version);
  EXPECT_TRUE(done) << (done ? "" : done.error().message) << "\n" << object.dump(1);
  return object;
}

Json of(const char* version, const char* kind, const char* members) {
  Json object = Json::parse(members);
  object["apiVersion"] = version;
  object["kind"] = kind;
  object["metadata"]["name"] = "o";
  return object;
}

struct Row {
  const char* kind;
  const char* newer;
  const char* older;
};

// BA-1: base-api §4, line by line, from the stored version to the older one.
TEST(Conversion, is_written_in_the_words_of_v1beta1) {
  const std::vector<Row> rows{
      {"ClusterQueue", R"({"spec":{"cohortName":"a"}})", R"({"spec":{"cohort":"a"}})"},
      {"ClusterQueue", R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[{"name":"x","onFlavors":["f"]}]}}})",
       R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[{"name":"x","onFlavors":["f"]}]}}})"},
      {"ClusterQueue", R"({"spec":{"flavorFungibility":{"whenCanBorrow":"MayStopSearch"}}})",
       R"({"spec":{"flavorFungibility":{"whenCanBorrow":"MayStopSearch"}}})"},
      {"LocalQueue", R"({"spec":{"clusterQueue":"q"},"status":{"flavorsUsage":[]}})",
       R"({"spec":{"clusterQueue":"q"},"status":{"flavorUsage":[]}})"},
      {"Workload", R"({"spec":{"priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"p"}}})",
       R"({"spec":{"priorityClassName":"p","priorityClassSource":"kueue.x-k8s.io/workloadpriorityclass"}})"},
      {"Workload", R"({"spec":{"priorityClassRef":{"group":"scheduling.k8s.io","kind":"PriorityClass","name":"p"}}})",
       R"({"spec":{"priorityClassName":"p","priorityClassSource":"scheduling.k8s.io/priorityclass"}})"},
      {"Workload", R"({"status":{"accumulatedPastExecutionTimeSeconds":5}})", R"({"status":{"accumulatedPastExexcutionTimeSeconds":5}})"},
      {"Workload",
       R"({"status":{"admission":{"podSetAssignments":[{"topologyAssignment":{"levels":["a","b"],"slices":[
           {"domainCount":2,"podCounts":{"universal":3},"valuesPerLevel":[{"universal":"x"},{"individual":{"prefix":"n-","roots":["1","2"],"suffix":"."}}]},
           {"domainCount":1,"podCounts":{"individual":[1]},"valuesPerLevel":[{"universal":"y"},{"individual":{"roots":["z"]}}]}]}}]}}})",
       R"({"status":{"admission":{"podSetAssignments":[{"topologyAssignment":{"levels":["a","b"],"domains":[
           {"values":["x","n-1."],"count":3},{"values":["x","n-2."],"count":3},{"values":["y","z"],"count":1}]}}]}}})"},
      {"AdmissionCheck", R"({"spec":{"controllerName":"c"}})", R"({"spec":{"controllerName":"c","retryDelayMinutes":15}})"},
      {"MultiKueueCluster", R"({"spec":{"clusterSource":{"kubeConfig":{"location":"l"}}}})", R"({"spec":{"kubeConfig":{"location":"l"}}})"},
      {"MultiKueueCluster", R"({"spec":{"clusterSource":{"clusterProfileRef":{"name":"l"}}}})",
       R"({"spec":{"clusterProfileRef":{"name":"l"}}})"},
      {"Cohort", R"({"spec":{"parentName":"p"}})", R"({"spec":{"parentName":"p"}})"},
      // Stored before anybody converted: it has the older words already.
      {"ClusterQueue", R"({"spec":{"cohort":"a"}})", R"({"spec":{"cohort":"a"}})"}};
  for (const auto& row : rows)
    EXPECT_EQ(converted(of(v1beta2, row.kind, row.newer), v1beta1), of(v1beta1, row.kind, row.older)) << row.newer;
}

// BA-1: the spelling that only v1beta1 has comes back, also after a change made in v1beta2 that has nothing to do with it.
TEST(Conversion, gives_v1beta1_back_as_it_was_written) {
  const std::vector<std::pair<const char*, const char*>> written{
      {"ClusterQueue",
       R"({"spec":{"cohort":"a","admissionChecks":["x","y"],"flavorFungibility":{"whenCanBorrow":"Borrow","whenCanPreempt":"Preempt"}}})"},
      {"ClusterQueue", R"({"spec":{"flavorFungibility":{"whenCanBorrow":"MayStopSearch","whenCanPreempt":"TryNextFlavor"}}})"},
      {"ClusterQueue", R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[{"name":"x"}]}}})"},
      {"Workload", R"({"spec":{"priorityClassName":"p","priorityClassSource":"kueue.x-k8s.io/workloadpriorityclass","priority":1}})"},
      {"AdmissionCheck", R"({"spec":{"controllerName":"c","retryDelayMinutes":3}})"},
      {"AdmissionCheck", R"({"spec":{"controllerName":"c","retryDelayMinutes":15}})"},
      {"MultiKueueCluster", R"({"spec":{"kubeConfig":{"location":"l","locationType":"Secret"}}})"},
      {"LocalQueue", R"({"spec":{"clusterQueue":"q"},"status":{"flavorUsage":[{"name":"f","resources":[]}]}})"}};
  for (const auto& [kind, members] : written) {
    const Json object = of(v1beta1, kind, members);
    Json stored = converted(object, v1beta2);
    EXPECT_EQ(converted(stored, v1beta1), object) << members;
    stored["metadata"]["labels"] = {{"changed", "yes"}};
    EXPECT_EQ(member(converted(stored, v1beta1), "spec"), object["spec"]) << members;
  }
  // A change that has to do with it is seen.
  Json queue = converted(of(v1beta1, "ClusterQueue", written[0].second), v1beta2);
  queue["spec"]["flavorFungibility"]["whenCanBorrow"] = "TryNextFlavor";
  queue["spec"]["admissionChecksStrategy"]["admissionChecks"][0]["onFlavors"] = {"f"};
  const Json older = converted(queue, v1beta1);
  EXPECT_EQ(older["spec"]["flavorFungibility"]["whenCanBorrow"], "TryNextFlavor");
  EXPECT_EQ(older["spec"]["admissionChecksStrategy"]["admissionChecks"][0]["onFlavors"], Json::array({"f"}));
  EXPECT_FALSE(older["spec"].contains("admissionChecks"));
}

/// Topology assignments as domains: two texts of one meaning compare equal.
void write_out_domains(Json& object) {
  if (member(member(object, "status", "admission"), "podSetAssignments").is_null()) return;
  for (auto& assignment : object["status"]["admission"]["podSetAssignments"])
    if (assignment.contains("topologyAssignment"))
      assignment["topologyAssignment"]["slices"] = domains_of_slices(assignment["topologyAssignment"]["slices"]).value();
}

/// Calls `bad` with each field of `object` that the schema of a definition does not know or only keeps for the other version.
template <class Bad>
void find_foreign_fields(const Json& object, const Json& schema, const std::string& path, Bad bad) {
  if (object.is_array()) {
    for (const auto& item : object) find_foreign_fields(item, member(schema, "items"), path + "[]", bad);
    return;
  }
  if (!object.is_object() || member(schema, "properties").is_null()) return;
  for (const auto& [name, value] : object.items()) {
    const Json& inner = member(member(schema, "properties"), name);
    const bool open = schema.value("x-kubernetes-preserve-unknown-fields", false) || path == ".metadata";
    const bool kept =
        member(inner, "description").is_string() && inner["description"].get<std::string>().starts_with("Kept for objects written in");
    if ((inner.is_null() && !open) || kept) bad(path + "." + name);
    find_foreign_fields(value, inner, path + "." + name, bad);
  }
}

Json definition_of(const manifests::Kind& kind) {
  std::ostringstream text;
  text << std::ifstream("deploy/crds/kueue.x-k8s.io_" + std::string(kind.type->plural) + ".yaml").rdbuf();
  const auto documents = manifests::read_yaml(text.str());
  if (!documents || documents->size() != 1) throw std::runtime_error("no definition of " + std::string(kind.type->kind));
  return documents->at(0).value;
}

// BA-1: nothing is lost on the way to v1beta1 and back, whatever fields an object has, and each version holds only its own fields.
TEST(Conversion, loses_nothing_on_the_way_there_and_back) {
  std::size_t kinds = 0, remembered = 0;
  for (const auto& kind : manifests::kinds()) {
    if (kind.type->group != "kueue.x-k8s.io") continue;
    ++kinds;
    const Json definition = definition_of(kind);
    std::map<std::string, Json> schemas;
    for (const auto& version : definition["spec"]["versions"]) schemas[version["name"]] = version["schema"]["openAPIV3Schema"];
    test::RandomObjects random(20260101 + kinds);
    for (int i = 0; i < 300; ++i) {
      Json object = random.object_of(kind);
      const Json older = converted(object, v1beta1);
      ASSERT_EQ(older["apiVersion"], v1beta1);
      find_foreign_fields(older, schemas["v1beta1"], "", [&](const std::string& field) { ADD_FAILURE() << kind.type->kind << field; });
      if (member(older["metadata"], "annotations").contains(v1beta2_annotation)) ++remembered;
      Json again = converted(older, v1beta2);
      find_foreign_fields(again, schemas["v1beta2"], "", [&](const std::string& field) { ADD_FAILURE() << kind.type->kind << field; });
      ASSERT_EQ(converted(again, v1beta1), older) << kind.type->kind;
      write_out_domains(object);
      write_out_domains(again);
      ASSERT_EQ(again, object) << kind.type->kind << "\n" << older.dump(1);
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_EQ(kinds, 11U);
  EXPECT_GT(remembered, 100U);
}

// 8691 V12: v1beta1 does not know Kueue's policy, nor gates; what it does not know comes back after a change made in it.
TEST(Conversion, keeps_concurrent_admission) {
  const Json queue = of(v1beta2, "ClusterQueue", R"({"spec":{"concurrentAdmissionPolicy":{"migration":{"mode":"TryPreferredFlavors",
      "constraints":{"lastAcceptableFlavorName":"a","upgradeFungibility":"NoBorrowing","explicitVariants":[{"name":"v","allowedResourceFlavors":["a"],"maxDeleteDelaySeconds":5}]}}},
      "concurrentAdmission":{"onSuccess":"RemoveBelowTarget","upgradeFungibility":"NoBorrowing","removeBelowTargetConfig":{"targetResourceFlavor":"a"},
      "explicitOptions":[{"name":"v","allowedResourceFlavors":["a"],"deleteDelaySeconds":5}]}}})");
  Json older = converted(queue, v1beta1);
  EXPECT_FALSE(older["spec"].contains("concurrentAdmissionPolicy"));
  EXPECT_EQ(older["spec"]["concurrentAdmission"], queue["spec"]["concurrentAdmission"]);
  older["spec"]["stopPolicy"] = "Hold";
  Json changed = queue;
  changed["spec"]["stopPolicy"] = "Hold";
  EXPECT_EQ(converted(older, v1beta2), changed);

  const Json workload = of(v1beta2, "Workload", R"({"metadata":{"labels":{"kueue.x-k8s.io/concurrent-admission-parent":"true"},
      "annotations":{"kueue.x-k8s.io/parent-option":"true","kueue.x-k8s.io/workload-allowed-resource-flavors":"a,b"}},
      "spec":{"admissionConstraints":{"allowedResourceFlavors":["a"]},"preemptionGates":[{"name":"kueue.x-k8s.io/concurrent-admission"}]},
      "status":{"preemptionGates":[{"name":"kueue.x-k8s.io/concurrent-admission","position":"Open","lastTransitionTime":"2026-01-01T00:00:00Z"}],
      "options":[{"name":"o","state":"Pending","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})");
  Json old_workload = converted(workload, v1beta1);
  EXPECT_FALSE(old_workload["spec"].contains("preemptionGates"));
  EXPECT_FALSE(old_workload["status"].contains("preemptionGates"));
  EXPECT_EQ(old_workload["status"]["options"], workload["status"]["options"]);
  EXPECT_EQ(converted(old_workload, v1beta2), workload);
}

// The memory of somebody else, or of nobody, does no harm.
TEST(Conversion, leaves_a_memory_out_of_account_that_does_not_fit) {
  for (const char* memory : {"", "5", "[]", "{", R"({"podsetSliceRequiredTopologyConstraints":7,"preemptionGates":[]})", R"({"x":{}})"}) {
    Json object = of(v1beta1, "Workload", R"({"spec":{"podSets":[{"name":"main","topologyRequest":{}}]}})");
    object["metadata"]["annotations"] = {{std::string(v1beta2_annotation), memory}};
    const Json newer = converted(object, v1beta2);
    EXPECT_FALSE(newer["metadata"].contains("annotations"));
    EXPECT_EQ(newer["spec"]["podSets"], object["spec"]["podSets"]) << memory;
  }
}

// BA-1
TEST(Conversion, says_what_it_cannot_convert) {
  const std::vector<std::array<std::string, 3>> rows{
      {R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w","namespace":"n"}})", "kueue.x-k8s.io/v1",
       "Workload n/w: desiredAPIVersion: found \"kueue.x-k8s.io/v1\"; allowed: kueue.x-k8s.io/v1beta1, kueue.x-k8s.io/v1beta2"},
      {R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"}})", v1beta1,
       "Job j: apiVersion: found \"batch/v1\"; allowed: kueue.x-k8s.io/v1beta1, kueue.x-k8s.io/v1beta2"},
      {R"({"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"ClusterQueue","metadata":{"name":"q"},"spec":{"cohort":"a","cohortName":"b"}})",
       v1beta2, "ClusterQueue q: spec.cohort: Invalid value: \"a\": is the older name of cohortName; give one of them"},
      {R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w"},"status":{"admission":{"podSetAssignments":[{"name":"main",
          "topologyAssignment":{"levels":["a"],"slices":[{"domainCount":2147483647,"valuesPerLevel":[{"universal":"x"}],"podCounts":{"universal":1}}]}}]}}})",
       v1beta1,
       "Workload w: status.admission.podSetAssignments[main].topologyAssignment: domainCount: found 2147483647 after 0 domains; allowed: "
       "100000 in all"}};
  for (const auto& [text, version, message] : rows) {
    Json object = Json::parse(text);
    const auto done = convert(object, version);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message, message);
  }
}

// BA-1: an object that was stored before anybody converted.
TEST(Conversion, takes_the_newer_field_where_both_are_there) {
  Json object =
      of(v1beta2, "ClusterQueue", R"({"spec":{"cohort":"old","cohortName":"new","flavorFungibility":{"whenCanBorrow":"Borrow"}}})");
  use_newer_fields(object);
  EXPECT_EQ(object, of(v1beta2, "ClusterQueue", R"({"spec":{"cohortName":"new","flavorFungibility":{"whenCanBorrow":"MayStopSearch"}}})"));
}

}  // namespace
}  // namespace hindsight::connectors::webhooks
