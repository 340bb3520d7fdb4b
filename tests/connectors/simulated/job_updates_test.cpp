// Updates of a Job's pod template, by the table that a real API server answers too (tests/e2e/job_updates_test.py).

#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "connectors/manifests/quantity_text.hpp"
#include "connectors/simulated/rules/template_update.hpp"
#include "connectors/simulated/simulated_cluster.hpp"
#include "tests/connectors/simulated/builders.hpp"

namespace hindsight::connectors::simulated {
namespace {

const Json& table() {
  static const Json instance = Json::parse(std::ifstream(HINDSIGHT_JOB_UPDATES));
  return instance;
}

JobRules rules_of(const Json& column) {
  const auto level = read_job_api_level(column["level"].get<std::string>());
  if (!level) throw std::runtime_error(level.error().message);
  JobRules out = JobRules::of(*level);
  if (column.contains("resources")) out.mutable_resources = column["resources"].get<bool>();
  if (column.contains("directives")) out.mutable_directives = column["directives"].get<bool>();
  return out;
}

/// A cluster with one Job "j" in a state of the table.
SimulatedCluster with_job(const ClusterOptions& options, const Json& spec, const Json& state) {
  SimulatedCluster cluster = test::fresh(options);
  Json job{{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", {{"name", "j"}, {"namespace", "default"}}}, {"spec", spec}};
  job["spec"]["suspend"] = state["suspend"];
  const auto made = cluster.create(job);
  if (!made.accepted()) throw std::runtime_error(made.message);
  const auto told = cluster.merge_patch("Job", "default", "j", Part::status, {{"status", state["status"]}});
  if (!told.accepted()) throw std::runtime_error(told.message);
  return cluster;
}

SimulatedCluster with_job(const JobRules& rules, const Json& spec, const Json& state) {
  ClusterOptions options;
  options.jobs = rules;
  return with_job(options, spec, state);
}

/// "reason field: message", and E1 and E2 for a frozen template.
std::set<std::string> findings(const Reply& reply) {
  std::set<std::string> out;
  if (reply.accepted()) return out;
  const Json body = Json::parse(reply.body());
  EXPECT_EQ(body["code"], 422) << body;
  EXPECT_EQ(body["reason"], "Invalid");
  for (const auto& cause : body["details"]["causes"]) {
    const auto field = cause["field"].get<std::string>();
    const auto message = cause["message"].get<std::string>();
    const bool frozen = message.ends_with("field is immutable");
    if (frozen && field == "spec.template")
      out.insert("E1");
    else if (frozen && field == "spec.template.spec")
      out.insert("E2");
    else
      out.insert(cause["reason"].get<std::string>() + " " + field + ": " + message);
  }
  return out;
}

std::set<std::string> expected(const Json& update, const std::string& column) {
  std::set<std::string> out;
  for (const auto& cause : update.value("causes", Json::array()))
    out.insert(cause[0].get<std::string>() + " " + cause[1].get<std::string>() + ": " + cause[2].get<std::string>());
  if (const auto verdict = update["verdicts"][column].get<std::string>(); verdict != "ok") out.insert(verdict);
  return out;
}

// MR-1, MR-2, MR-3, MR-4, MR-5, MR-6, MR-7, MR-8, MR-9, MR-10, MR-11, MR-12, MR-13, MR-14, MR-15, MR-16, MR-17, MR-18, MR-21, MR-87, MR-90
TEST(JobUpdates, AreJudgedAsTheTableSays) {
  ASSERT_GT(table()["updates"].size(), 60U);
  for (const auto& [name, column] : table()["columns"].items()) {
    for (const auto& update : table()["updates"]) {
      const Json& spec = table()["jobs"][update.value("job", "plain")];
      auto cluster = with_job(rules_of(column), spec, table()["states"][update["state"].get<std::string>()]);
      const Json before = cluster.find("Job", "default", "j")->object;
      const auto reply = cluster.merge_patch("Job", "default", "j", Part::main, update["patch"]);
      EXPECT_EQ(findings(reply), expected(update, name)) << name << ": " << update["name"];
      if (!reply.accepted()) {
        EXPECT_EQ(cluster.find("Job", "default", "j")->object, before) << update["name"];
      }
    }
  }
}

// MR-25: our webhook leaves templates to the server.
TEST(JobUpdates, WebhooksSayNothingOfThem) {
  ClusterOptions options;
  options.webhooks = true;
  for (const auto& update : table()["updates"]) {
    const Json& spec = table()["jobs"][update.value("job", "plain")];
    const Json& state = table()["states"][update["state"].get<std::string>()];
    auto cluster = with_job(options, spec, state);
    EXPECT_EQ(findings(cluster.merge_patch("Job", "default", "j", Part::main, update["patch"])), expected(update, "1.36.2"))
        << update["name"];
  }
}

const Json& state(const char* name) { return table()["states"][name]; }

Json with_cpu(const char* cpu) {
  Json spec = table()["jobs"]["plain"];
  spec["template"]["spec"]["containers"][1]["resources"] = {{"requests", {{"cpu", cpu}}}};
  return spec;
}

Json template_patch(Json change) {
  Json out = Json::object();
  out["spec"]["template"] = std::move(change);
  return out;
}

Json cpu_patch(const char* cpu) {
  Json change = Json::object();
  change["spec"]["containers"] = with_cpu(cpu)["template"]["spec"]["containers"];
  return template_patch(std::move(change));
}

// MR-18, MR-19, MR-22, MR-23
TEST(JobUpdates, EqualAmountsAreNoChange) {
  auto cluster = with_job(JobRules{}, with_cpu("1"), state("running"));
  const auto job = [&]() -> const Json& { return cluster.find("Job", "default", "j")->object; };
  const auto generation = job()["metadata"]["generation"].get<int>();
  EXPECT_TRUE(cluster.merge_patch("Job", "default", "j", Part::main, cpu_patch("1000m")).accepted());
  EXPECT_EQ(job()["metadata"]["generation"], generation);
  EXPECT_EQ(cluster.merge_patch("Job", "default", "j", Part::main, cpu_patch("2")).http_status, 422);

  auto suspended = with_job(JobRules{}, with_cpu("1"), state("fresh"));
  const auto stored = suspended.find("Job", "default", "j");
  EXPECT_TRUE(suspended.merge_patch("Job", "default", "j", Part::main, cpu_patch("0.0001")).accepted());
  EXPECT_EQ(stored->object["spec"]["template"]["spec"]["containers"][1]["resources"]["requests"]["cpu"], "1m") << "rounded up";
  EXPECT_EQ(stored->object["metadata"]["generation"], 2);
  Json stale = cpu_patch("5");
  stale["metadata"]["resourceVersion"] = "1";
  const auto conflict = suspended.merge_patch("Job", "default", "j", Part::main, stale);
  EXPECT_EQ(conflict.http_status, 409);
  EXPECT_EQ(conflict.reason, "Conflict");
}

// MR-15, MR-16
TEST(JobUpdates, StrictRulesKeepClaimsAndMetadata) {
  JobRules strict;
  strict.strict = true;
  Json claim = table()["jobs"]["plain"]["template"]["spec"]["containers"];
  claim[1]["resources"] = Json::parse(R"({"claims": [{"name": "gpu"}]})");
  const Json patch = template_patch({{"spec", {{"containers", claim}}}});
  auto cluster = with_job(strict, table()["jobs"]["plain"], state("fresh"));
  EXPECT_EQ(findings(cluster.merge_patch("Job", "default", "j", Part::main, patch)), std::set<std::string>{"E2"});
  EXPECT_TRUE(cluster.merge_patch("Job", "default", "j", Part::main, cpu_patch("3")).accepted());

  strict.mutable_directives = false;
  const Json label = template_patch(Json::parse(R"({"metadata": {"labels": {"x": "y"}}})"));
  auto ran = with_job(strict, table()["jobs"]["plain"], state("ran"));
  EXPECT_EQ(findings(ran.merge_patch("Job", "default", "j", Part::main, label)), std::set<std::string>{"E1"});
}

// MR-1
TEST(JobUpdates, AnUnknownLevelIsRefused) {
  const auto level = read_job_api_level("1.33");
  ASSERT_FALSE(level.has_value());
  EXPECT_EQ(level.error().message, "level of the Kubernetes API: found \"1.33\"; allowed: \"1.34\", \"1.35\", \"1.36.0\", \"1.36.2\"");
}

// MR-26
TEST(JobUpdates, TheStartTimeOfARunningJobStays) {
  const auto write = [](const char* from, const char* status) {
    auto cluster = with_job(JobRules{}, table()["jobs"]["plain"], state(from));
    return findings(cluster.merge_patch("Job", "default", "j", Part::status, {{"status", Json::parse(status)}}));
  };
  const char* none = R"({"startTime": null})";
  EXPECT_EQ(write("running", none).size(), 1U);
  EXPECT_NE(write("running", none).begin()->find("status.startTime: Invalid value: field is immutable for unsuspended job once set"),
            std::string::npos)
      << *write("running", none).begin();
  EXPECT_TRUE(write("ran", none).empty());
  EXPECT_FALSE(write("running", R"({"ready": 3})").empty()) << "more ready pods than active ones";
}

// MR-95: any two objects have an answer.
TEST(JobUpdates, BrokenObjectsAreAnswered) {
  std::vector<Json> pieces;
  for (const char* text :
       {"null", "{}", "[]", "7", R"({"spec": null})", R"({"spec": {"template": 1}})", R"({"spec": {"template": {"spec": 3}}})",
        R"({"spec": {"template": {"spec": {"containers": [null, 1]}}}})",
        R"({"spec": {"suspend": true, "template": {"spec": {"containers": [{"name": "a"}]}}}, "status": {"active": "x", "conditions": 3}})",
        R"({"spec": {"suspend": true, "template": {"spec": {"containers": [{"name": "a", "resources": 7}]}}}})",
        R"({"spec": {"suspend": true, "template": {"spec": {"containers": {}, "affinity": 1}, "metadata": 2}}})"})
    pieces.push_back(Json::parse(text));
  std::size_t found = 0;
  for (const auto& before : pieces)
    for (const auto& now : pieces)
      for (const bool on : {false, true}) {
        JobRules rules;
        rules.mutable_resources = rules.strict = on;
        std::vector<Problem> problems;
        Findings out(problems);
        check_template_update(ObjectView(now), ObjectView(before), rules, out);
        found += problems.size();
        if (now == before) {
          EXPECT_TRUE(problems.empty());
        }
      }
  EXPECT_GT(found, 0U);
}

struct Quantity {
  const char* written;
  const char* stored;
};

// MR-18, MR-19: as k8s.io/apimachinery prints them.
TEST(QuantityText, IsShortestInTheFormThatWasWritten) {
  for (const auto& [written, stored] : {Quantity{"1000m", "1"},
                                        {"0.5", "500m"},
                                        {"1024Mi", "1Gi"},
                                        {"1.5Gi", "1536Mi"},
                                        {"1000Mi", "1000Mi"},
                                        {"100Ki", "100Ki"},
                                        {"0.5Ki", "512"},
                                        {"0.1Ki", "102400m"},
                                        {"1023", "1023"},
                                        {"2e3", "2e3"},
                                        {"2000", "2k"},
                                        {"1e0", "1"},
                                        {"100n", "1m"},
                                        {"0.0001", "1m"},
                                        {"-0.0001", "-1m"},
                                        {"-1", "-1"},
                                        {"0", "0"},
                                        {"0Gi", "0"},
                                        {"00.10", "100m"},
                                        {"1E", "1E"},
                                        {"9223372036854775807", "9223372036854775807"},
                                        {"99999999999999999999E", "9223372036854775807"},
                                        {"1e-100", "1e-3"}}) {
    const auto read = manifests::read_milli_quantity(written);
    ASSERT_TRUE(read.has_value()) << written;
    EXPECT_EQ(manifests::canonical_text(*read), stored) << written;
  }
  for (const char* wrong : {"", "x", "1x", "--1", "1ki", "."}) EXPECT_FALSE(manifests::read_milli_quantity(wrong).has_value()) << wrong;
}

}  // namespace
}  // namespace hindsight::connectors::simulated
