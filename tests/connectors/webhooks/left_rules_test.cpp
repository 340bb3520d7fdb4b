// What the definitions leave to webhooks (deploy/crds/with-webhooks): each rule that they lack is kept by us, with the writes that show on
// a real API server what the whole definitions refuse and take (tests/deploy/rules, played there by tests/deploy/crd_rules_test.py).

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "connectors/manifests/kinds.hpp"
#include "connectors/manifests/yaml_reader.hpp"
#include "connectors/webhooks/rules/definition_rules.hpp"
#include "tests/connectors/webhooks/asking.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::Json;
using manifests::member;
using manifests::Problem;
using test::Around;
using test::kueue;
using test::refusal;

constexpr const char* whole = "deploy/crds/kueue.x-k8s.io_workloads.yaml";
constexpr const char* light = "deploy/crds/with-webhooks/kueue.x-k8s.io_workloads.yaml";
constexpr const char* table = "tests/deploy/rules/workload.yaml";

Json read(const char* file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  auto documents = manifests::read_yaml(text.str());
  if (!documents || documents->size() != 1) return {};
  return std::move(documents->front().value);
}

/// "spec.podSets[0].count" -> "spec.podSets[].count": where in the schema it is.
std::string place_of(const std::string& field) { return std::regex_replace(field, std::regex(R"(\[[0-9]+\])"), "[]"); }

// ---- rules of definitions -------------------------------------------------------------------------------------------------

/// A rule by the place where its error is told, and the beginning of what is said there.
using Rule = std::pair<std::string, std::string>;

Rule rule_of(const Json& rule, const std::string& path) {
  std::string words = rule["message"].get<std::string>();
  if (rule.contains("messageExpression")) {
    const auto expression = rule["messageExpression"].get<std::string>();
    const auto begin = expression.find('\'') + 1;
    words = expression.substr(begin, expression.find('\'', begin) - begin);
    words = words.substr(0, words.find("%d"));
  }
  std::string place = path + rule.value("fieldPath", "");
  if (place.starts_with('.')) place = place.substr(1);
  return {place, words};
}

void collect_rules(const Json& schema, const std::string& path, std::multiset<Rule>& out) {
  for (const auto& rule : member(schema, "x-kubernetes-validations")) out.insert(rule_of(rule, path));
  const Json& properties = member(schema, "properties");
  if (properties.is_object())
    for (const auto& [name, property] : properties.items()) collect_rules(property, path + "." + name, out);
  for (const char* inner : {"items", "additionalProperties"})
    if (member(schema, inner).is_object()) collect_rules(schema[inner], path + "[]", out);
}

std::multiset<Rule> rules_of(const Json& definition, std::string_view version) {
  std::multiset<Rule> out;
  for (const auto& one : member(member(definition, "spec"), "versions"))
    if (one["name"] == version) collect_rules(one["schema"]["openAPIV3Schema"], "", out);
  return out;
}

/// What the whole definition has and the light one lacks.
std::multiset<Rule> left_rules(std::string_view version) {
  const auto all = rules_of(read(whole), version), kept = rules_of(read(light), version);
  std::multiset<Rule> left;
  std::set_difference(all.begin(), all.end(), kept.begin(), kept.end(), std::inserter(left, left.end()));
  return left;
}

// ---- writes of the table --------------------------------------------------------------------------------------------------

/// Sets places of an object ("spec.podSets.0.count"); null removes.
void put(Json& object, const Json& values) {
  if (!values.is_object()) return;
  for (const auto& [path, value] : values.items()) {
    std::string pointer = "/" + path;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    const Json::json_pointer place(pointer);
    if (value.is_null()) {
      Json& holder = object[place.parent_pointer()];
      if (holder.is_object()) holder.erase(place.back());
    } else {
      object[place] = value;
    }
  }
}

/// With the defaults of the spec. The status is left as it is written, since the tables know the fields of v1beta2 only.
Json stored(Json object) {
  if (object.contains("spec"))
    manifests::normalise(*manifests::kind_of("Workload").schema->field("spec")->schema, object["spec"], manifests::Form::custom);
  return object;
}

/// The last write of a row: a creation where there is no old object.
struct Write {
  std::string title, refused;  ///< No `refused`: it is taken.
  Json now, before;
};

Write write_of(const Json& row, const Json& base) {
  Write out{row["it"].get<std::string>(), row.value("refused", ""), base, {}};
  put(out.now, member(row, "set"));
  out.now = stored(std::move(out.now));
  for (const char* step : {"status", "then", "then_status"}) {
    if (!row.contains(step)) continue;
    out.before = out.now;
    put(out.now, row[step]);
    out.now = stored(std::move(out.now));
  }
  return out;
}

std::vector<Write> writes_of_the_table() {
  const Json rows = read(table);
  Json base = kueue("Workload", "{}");
  base["spec"] = rows["base"]["spec"];
  std::vector<Write> out;
  for (const auto& row : rows["cases"]) {
    const Json versions = row.value("versions", Json::array({"v1beta2"}));
    if (std::find(versions.begin(), versions.end(), "v1beta2") != versions.end()) out.push_back(write_of(row, base));
  }
  return out;
}

std::vector<Problem> judged(const Json& now, const Json& before) {
  std::vector<Problem> problems;
  Findings findings(problems);
  check_definition_rules(manifests::kind_of("Workload"), ObjectView(now), ObjectView(before), findings);
  return problems;
}

/// Whether one of them is told in these words; a table names the field only where it matters.
bool tells(const std::vector<Problem>& problems, const std::string& words) {
  return std::any_of(problems.begin(), problems.end(), [&](const Problem& one) { return describe(one).find(words) != std::string::npos; });
}

// ---- tests ----------------------------------------------------------------------------------------------------------------

// BA-13 to BA-19: a write that the whole definition refuses by a rule that the light one lacks is refused by the webhook, in its words.
TEST(LeftRules, AreKeptByTheWebhook) {
  const auto left = left_rules("v1beta2");
  ASSERT_GT(left.size(), 35U);
  std::set<Rule> shown;
  for (const auto& write : writes_of_the_table()) {
    const bool by_left_rule = std::any_of(left.begin(), left.end(), [&](const Rule& rule) {
      return !write.refused.empty() && write.refused.find(rule.second) != std::string::npos;
    });
    if (!by_left_rule) continue;
    const auto problems = judged(write.now, write.before);
    EXPECT_TRUE(tells(problems, write.refused)) << write.title << ": not told: " << write.refused;
    const char* operation = write.before.is_null() ? "CREATE" : "UPDATE";
    EXPECT_NE(refusal({}, operation, write.now, write.before), "") << write.title;
    for (const auto& problem : problems)
      for (const auto& rule : left)
        if (place_of(problem.field) == rule.first && problem.message.starts_with(rule.second)) shown.insert(rule);
  }
  for (const auto& rule : left)
    EXPECT_TRUE(shown.contains(rule)) << "no write shows that it is kept: " << rule.first << ": " << rule.second;
}

TEST(LeftRules, RefuseNothingThatTheDefinitionTakes) {
  std::size_t taken = 0;
  for (const auto& write : writes_of_the_table()) {
    if (!write.refused.empty()) continue;
    ++taken;
    for (const auto& problem : judged(write.now, write.before)) ADD_FAILURE() << write.title << ": " << describe(problem);
  }
  EXPECT_GT(taken, 20U);
}

// Without the mark of a rule the light definition has it; the two differ in nothing else.
TEST(LeftRules, AreAllThatTheLightDefinitionLacks) {
  EXPECT_TRUE(left_rules("v1beta1").empty());
  Json one = read(whole), other = read(light);
  EXPECT_EQ(other["metadata"]["annotations"], Json({{"hindsight.dev/checks", "webhooks"}}));
  other["metadata"].erase("annotations");
  const std::function<void(Json&)> without_rules = [&](Json& node) {
    if (node.is_object()) node.erase("x-kubernetes-validations");
    if (node.is_structured())
      for (auto& inner : node) without_rules(inner);
  };
  without_rules(one);
  without_rules(other);
  EXPECT_EQ(one, other);
}

Json workload(const char* spec) {
  Json object = kueue("Workload", "{}");
  object["spec"] = Json::parse(spec);
  return stored(std::move(object));
}

// As an API server does (its ratcheting): a stored part that stays as it is holds up no other change.
TEST(LeftRules, TolerateWhatIsStoredAndStays) {
  const Json before = workload(R"({"podSets":[{"name":"a","count":1,"minCount":2,"template":{"spec":{"containers":[]}}},
                                              {"name":"b","count":1,"template":{"spec":{"containers":[]}}}]})");
  EXPECT_TRUE(tells(judged(before, {}), "minCount should be positive"));
  Json now = before;
  now["spec"]["podSets"][1]["count"] = 3;
  EXPECT_TRUE(judged(now, before).empty());
  now["spec"]["podSets"] = Json::array({now["spec"]["podSets"][1], now["spec"]["podSets"][0]});
  EXPECT_TRUE(judged(now, before).empty()) << "found by its name";
  now["spec"]["podSets"][1]["minCount"] = 3;
  EXPECT_TRUE(tells(judged(now, before), "minCount should be positive"));
}

// A definition judges an object that is being deleted, too.
TEST(LeftRules, HoldUntilAnObjectIsGone) {
  Json before = workload(R"({"podSets":[{"name":"a","count":3,"template":{"spec":{"containers":[]}}}]})");
  before["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  Json now = before;
  now["spec"]["podSets"][0]["minCount"] = 4;
  EXPECT_NE(refusal({}, "UPDATE", now, before), "");
  now["spec"]["podSets"][0]["minCount"] = 3;
  EXPECT_EQ(refusal({}, "UPDATE", now, before), "");
}

// Of v1beta1 the definitions keep their rules, and the form of v1beta2 would show others: a class that goes while quota is reserved, for
// one.
TEST(LeftRules, AreNotAskedOfWritesInTheOlderVersion) {
  Json now = workload(R"({"priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"p"},
                          "podSets":[{"name":"a","template":{"spec":{"containers":[]}}}]})");
  Json asked = test::review("CREATE", now);
  for (const auto& [version, allowed] : std::map<std::string, bool>{{"v1beta1", true}, {"v1beta2", false}}) {
    asked["request"]["requestKind"] = {{"group", "kueue.x-k8s.io"}, {"version", version}, {"kind", "Workload"}};
    EXPECT_EQ(Json::parse(answer_validation(asked.dump(), Around()).body)["response"]["allowed"], allowed) << version;
  }
}

// The tables know the newer form of places only, so the rule looks at what was written.
TEST(LeftRules, SeeTheFormsOfBothVersions) {
  Json before = workload(R"({"podSets":[{"name":"a","template":{"spec":{"containers":[]}}}]})");
  Json now = before;
  now["status"]["admission"] = Json::parse(R"({"clusterQueue":"q","podSetAssignments":[{"name":"a","topologyAssignment":
      {"levels":["l"],"domains":[{"values":["x"],"count":1}],
       "slices":[{"domainCount":1,"valuesPerLevel":[{"universal":"x"}],"podCounts":{"universal":1}}]}}]})");
  EXPECT_NE(refusal({}, "UPDATE", now, before).find("exactly one of the fields in [domains slices] must be set"), std::string::npos);
  now["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"].erase("slices");
  EXPECT_EQ(refusal({}, "UPDATE", now, before), "");
}

// Objects of any shape come, since what is being deleted is compared with no table.
TEST(LeftRules, TakeStrangeShapes) {
  const std::vector<Json> strange{Json(), Json(7), Json("x"), Json::array({1, "a", Json::object()}),
                                  Json{{"name", 3}, {"a", Json::array()}}};
  const Json good = workload(R"({"podSets":[{"name":"a","template":{"spec":{"containers":[{"name":"c"}]}}}]})");
  for (const char* path : {"/spec", "/spec/podSets", "/spec/podSets/0", "/spec/podSets/0/template",
                           "/spec/podSets/0/template/spec/containers", "/status", "/status/conditions", "/status/admission",
                           "/status/admission/podSetAssignments", "/status/reclaimablePods", "/status/admissionChecks", "/metadata"}) {
    for (const auto& value : strange) {
      Json now = good, before = good;
      now[Json::json_pointer(path)] = value;
      before["status"]["conditions"] = Json::parse(R"([{"type":"QuotaReserved","status":"True"}])");
      (void)judged(now, before);
      (void)judged(before, now);
    }
  }
}

}  // namespace
}  // namespace hindsight::connectors::webhooks
