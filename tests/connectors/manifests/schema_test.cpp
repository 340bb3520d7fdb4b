#include "connectors/manifests/schema.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "connectors/manifests/kinds.hpp"

namespace hindsight::connectors::manifests {
namespace {

std::vector<std::string> problems_of(std::string_view kind, const char* text, UnknownFields unknown = UnknownFields::reported) {
  std::vector<Problem> problems;
  check(*kind_of(kind).schema, Json::parse(text), "", unknown, problems);
  std::vector<std::string> out;
  for (const auto& problem : problems) out.push_back(describe(problem));
  return out;
}

using Lines = std::vector<std::string>;

TEST(Schema, tells_what_is_wrong_and_what_is_allowed) {
  EXPECT_EQ(problems_of("ClusterQueue", R"({"spec":{"queueingStrategy":"Fifo"}})"),
            Lines{"spec.queueingStrategy: Unsupported value: \"Fifo\": supported values: \"StrictFIFO\", \"BestEffortFIFO\""});
  EXPECT_TRUE(problems_of("ClusterQueue", R"({"spec":{"cohortNam":"a"}})")
                  .at(0)
                  .starts_with("spec.cohortNam: unknown field; did you mean \"cohortName\"? allowed: admissionChecksStrategy, "));
  EXPECT_EQ(problems_of("LocalQueue", R"({"spec":{"clusterQueue":"A"}})").size(), 1U);
  EXPECT_EQ(problems_of("WorkloadPriorityClass", R"({"metadata":{"name":"x"}})"), Lines{"value: Required value: must be given"});
  EXPECT_EQ(problems_of("WorkloadPriorityClass", R"({"value":4294967296})"),
            Lines{"value: Invalid value: 4294967296: must be a 32-bit whole number"});
  EXPECT_EQ(problems_of("WorkloadPriorityClass", R"({"value":"1"})"), Lines{"value: Invalid value: \"1\": must be a whole number"});
  EXPECT_EQ(problems_of("Job", R"({"spec":{"suspend":"yes","template":{}}})"),
            Lines{"spec.suspend: Invalid value: \"yes\": must be true or false"});
  EXPECT_EQ(problems_of("Workload", R"({"spec":{"podSets":[]}})"), Lines{"spec.podSets: Invalid value: []: should have at least 1 items"});
  EXPECT_EQ(problems_of("Workload", R"({"spec":{"podSets":[{"name":"a","template":{}},{"name":"a","template":{}}]}})"),
            Lines{"spec.podSets[1]: Duplicate value: {\"name\":\"a\"}: must be there only once"});
  EXPECT_EQ(problems_of("Workload", R"({"spec":{"maximumExecutionTimeSeconds":0}})"),
            Lines{"spec.maximumExecutionTimeSeconds: Invalid value: 0: must be greater than or equal to 1"});
  EXPECT_EQ(
      problems_of(
          "ClusterQueue",
          R"({"spec":{"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"4 CPUs"}]}]}]}})"),
      Lines{"spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Invalid value: \"4 CPUs\": must be a quantity such as "
            "\"2\", \"500m\" or \"2Gi\""});
}

TEST(Schema, ignores_unknown_fields_where_the_api_server_does) {
  EXPECT_TRUE(problems_of("ClusterQueue", R"({"spec":{"cohortNam":"a"},"zzz":1})", UnknownFields::ignored).empty());
}

// BA-3: the defaults of base-api §2.2.
TEST(Schema, puts_in_the_defaults_of_the_crds) {
  Json queue = Json::parse(R"({"spec":{"preemption":{"withinClusterQueue":"LowerPriority"},"fairSharing":{}}})");
  normalise(*kind_of("ClusterQueue").schema, queue, Form::custom);
  EXPECT_EQ(queue["spec"], Json::parse(R"({
    "fairSharing": {"weight": 1},
    "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
    "preemption": {"borrowWithinCohort": {"policy": "Never"}, "reclaimWithinCohort": "Never", "withinClusterQueue": "LowerPriority"},
    "queueingStrategy": "BestEffortFIFO", "stopPolicy": "None"})"));
  Json workload = Json::parse(R"({"spec":{"podSets":[{"template":{}}]}})");
  normalise(*kind_of("Workload").schema, workload, Form::custom);
  EXPECT_EQ(workload["spec"], Json::parse(R"({"active":true,"podSets":[{"count":1,"name":"main","template":{}}]})"));
}

TEST(Schema, drops_unknown_fields_and_nulls) {
  Json queue = Json::parse(R"({"spec":{"clusterQueue":"q","stopPolicy":null,"what":1,"fairSharing":{"weight":null,"zz":2}},"extra":{}})");
  normalise(*kind_of("LocalQueue").schema, queue, Form::custom);
  EXPECT_EQ(queue, Json::parse(R"({"spec":{"clusterQueue":"q","stopPolicy":"None","fairSharing":{"weight":1}}})"));
}

TEST(Schema, a_mistake_in_a_table_is_found_when_it_is_made) {
  for (const char* text : {"@A\n   odd  string\n", "@A\n  b  strong\n", "@A\n  b  @Missing\n", "@A\n@A\n", "A\n  b  string\n",
                           "@A\n  b  string\n      c  string\n", "@A\n  b  string\n    c  string\n", "@A\n  b, b  string\n",
                           "@A\n  b  list\n", "@A\n  b  string fun=1\n"}) {
    EXPECT_THROW(SchemaTable({text}), std::logic_error) << text;
  }
}

TEST(Schema, every_kind_has_a_table) {
  for (const auto& kind : kinds()) {
    EXPECT_NE(kind.schema->field("metadata"), nullptr) << kind.type->kind;
    EXPECT_NE(kind.schema->field("apiVersion"), nullptr) << kind.type->kind;
    EXPECT_EQ(kind.status_subresource && kind.looked_into, kind.schema->field("status") != nullptr && kind.looked_into) << kind.type->kind;
  }
}

}  // namespace
}  // namespace hindsight::connectors::manifests
