#include "connectors/simulated/scenario_player.hpp"

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace hindsight::connectors::simulated {
namespace {

manifests::Scenario scenario(const std::string& steps) {
  auto input = manifests::read_text("apiVersion: hindsight.dev/v1alpha1\nkind: Scenario\nspec:\n  steps:\n" + steps, "case.yaml");
  if (!input) {
    ADD_FAILURE() << input.error().message;
    return {};
  }
  return std::move(input->scenarios.at(0));
}

Json job(const std::string& name) {
  return Json::parse(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")" + name +
                     R"(","labels":{"kueue.x-k8s.io/queue-name":"lq"}},
    "spec":{"suspend":true,"completions":2,"parallelism":2,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
}

std::string flow(const Json& json) { return json.dump(); }

const RunUntil nobody = [](Time) {};

// The expected states were recorded with tools/drive.py from kube-apiserver 1.36.3 without a controller: whatever a scenario does
// itself, its refusals included, must come out the same.
TEST(ScenarioPlayer, leaves_the_objects_that_the_driver_leaves_on_a_real_api_server) {
  std::ifstream in("tests/connectors/simulated/uncontrolled_states.jsonl");
  std::size_t cases = 0, refused = 0;
  for (std::string line; std::getline(in, line); ++cases) {
    const Json expected = Json::parse(line);
    auto input = manifests::read_input({"tests/conformance/cases/" + expected["case"].get<std::string>() + ".yaml"});
    ASSERT_TRUE(input) << input.error().message;
    SimulatedCluster cluster;
    const auto played = play(cluster, std::move(input->scenarios.at(0)), nobody);
    ASSERT_TRUE(played) << played.error().message;
    EXPECT_EQ(*played, expected) << Json::diff(expected, *played).dump();
    for (const auto& state : expected["states"]) refused += state.value("refused", Json::array()).size();
  }
  EXPECT_GT(cases, 30U);
  EXPECT_GT(refused, 50U);
}

TEST(ScenarioPlayer, runs_the_verbs_of_a_step_in_their_order) {
  SimulatedCluster cluster;
  ScenarioPlayer player(cluster,
                        scenario("  - at: 0s\n    delete: [{kind: Job, name: j}]\n    patch: [{kind: Job, name: j, merge: {spec: {suspend: "
                                 "false}}}]\n    finish: [{kind: Job, name: j}]\n    apply: [" +
                                 flow(job("j")) + "]\n"));
  std::vector<std::string> seen;
  cluster.observe([&](const ObjectChange& change) {
    if (change.object->kind->type->kind != "Job") return;
    const Json& status = change.object->status();
    seen.push_back(change.type == WatchEvent::Type::added       ? "added"
                   : change.type == WatchEvent::Type::deleted   ? "deleted"
                   : condition_is(status, "Complete")           ? "complete"
                   : condition_is(status, "SuccessCriteriaMet") ? "succeeding"
                   : flag(change.object->spec(), "suspend")     ? "suspended"
                                                                : "started");
  });
  ASSERT_TRUE(player.run_step());
  EXPECT_EQ(seen, (std::vector<std::string>{"added", "started", "succeeding", "complete", "deleted"}));
  EXPECT_FALSE(player.next_step());
}

TEST(ScenarioPlayer, finishes_a_job_as_its_controller_would) {
  SimulatedCluster cluster;
  ScenarioPlayer player(cluster, scenario("  - {at: 0s, apply: [" + flow(job("good")) + "," + flow(job("bad")) +
                                          "]}\n  - {at: 65s, finish: [{kind: Job, name: good}, {kind: Job, name: bad, failed: true}]}\n"));
  ASSERT_TRUE(player.run_step());
  ASSERT_TRUE(player.run_step());
  const Json good = cluster.find("Job", "default", "good")->status();
  EXPECT_EQ(good["completionTime"], "2026-01-01T00:01:05Z");
  EXPECT_EQ(good["succeeded"], 2);
  EXPECT_TRUE(condition_is(good, "SuccessCriteriaMet"));
  EXPECT_TRUE(condition_is(good, "Complete"));
  EXPECT_EQ(condition(good, "Complete")["reason"], "Scenario");
  const Json bad = cluster.find("Job", "default", "bad")->status();
  EXPECT_TRUE(condition_is(bad, "FailureTarget"));
  EXPECT_TRUE(condition_is(bad, "Failed"));
  EXPECT_FALSE(bad.contains("completionTime"));
}

TEST(ScenarioPlayer, lists_refusals_in_order_and_goes_on) {
  SimulatedCluster cluster;
  const std::string queue =
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq"},"spec":{"clusterQueue":"q"}})";
  const std::string other =
      R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq"},"spec":{"clusterQueue":"r"}})";
  const std::string bad_type = R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"x"},"spec":{"parallelism":"two"}})";
  ScenarioPlayer player(
      cluster, scenario("  - {at: 0s, apply: [" + queue + "," + flow(job("j")) +
                        "], finish: [{kind: Job, name: j}]}\n  - {at: 1s, apply: [" + other + "," + bad_type +
                        "], patch: [{kind: Workload, owner: {kind: Job, name: j}, merge: {spec: {active: false}}}], finish: [{kind: "
                        "Job, name: j}], delete: [{kind: Job, name: nothing}, {kind: Job, name: j}]}\n"));
  ASSERT_TRUE(player.run_step());
  EXPECT_FALSE(player.state().contains("refused"));
  const auto refused = player.run_step();
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_EQ(player.state()["refused"],
            Json::parse(R"([{"verb":"apply","kind":"LocalQueue","status":422},{"verb":"apply","kind":"Job","status":400},
      {"verb":"patch","kind":"Workload","status":409},{"verb":"finish","kind":"Job","status":422}])"));
  EXPECT_NE((*refused)[0].message.find("field is immutable"), std::string::npos);
  EXPECT_EQ(cluster.find("Job", "default", "j"), nullptr);
}

TEST(ScenarioPlayer, patches_the_newest_workload_of_an_owner) {
  SimulatedCluster cluster;
  ScenarioPlayer player(
      cluster, scenario("  - {at: 0s, apply: [" + flow(job("j")) +
                        "]}\n  - {at: 1s, patch: [{kind: Workload, owner: {kind: Job, name: j}, merge: {spec: {active: false}}}]}\n"));
  ASSERT_TRUE(player.run_step());
  const std::string uid = cluster.find("Job", "default", "j")->uid;
  for (const char* name : {"z-first", "a-second"}) {
    Json workload = {
        {"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", "Workload"}, {"metadata", {{"name", name}, {"namespace", "default"}}}};
    workload["metadata"]["ownerReferences"] =
        Json::array({{{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"name", "j"}, {"uid", uid}, {"controller", true}}});
    workload["spec"]["podSets"] = Json::parse(R"([{"template":{"spec":{"containers":[{"name":"c"}]}}}])");
    ASSERT_TRUE(cluster.create(std::move(workload)).accepted());
  }
  const auto refused = player.run_step();
  ASSERT_TRUE(refused && refused->empty());
  EXPECT_EQ(cluster.find("Workload", "default", "z-first")->spec()["active"], true);
  EXPECT_EQ(cluster.find("Workload", "default", "a-second")->spec()["active"], false);
}

TEST(ScenarioPlayer, deletes_the_workloads_of_a_job_with_it) {
  for (const bool collect : {true, false}) {
    ClusterOptions options;
    options.collect_garbage = collect;
    SimulatedCluster cluster(options);
    ScenarioPlayer player(cluster,
                          scenario("  - {at: 0s, apply: [" + flow(job("j")) + "]}\n  - {at: 1s, delete: [{kind: Job, name: j}]}\n"));
    ASSERT_TRUE(player.run_step());
    for (const char* name : {"free", "held"}) {
      Json workload = {
          {"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", "Workload"}, {"metadata", {{"name", name}, {"namespace", "default"}}}};
      if (std::string(name) == "held") workload["metadata"]["finalizers"] = Json::array({"kueue.x-k8s.io/resource-in-use"});
      workload["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "batch/v1"},
                                                              {"kind", "Job"},
                                                              {"name", "j"},
                                                              {"uid", cluster.find("Job", "default", "j")->uid},
                                                              {"controller", true}}});
      workload["spec"]["podSets"] = Json::parse(R"([{"template":{"spec":{"containers":[{"name":"c"}]}}}])");
      ASSERT_TRUE(cluster.create(std::move(workload)).accepted());
    }
    ASSERT_TRUE(player.run_step());
    EXPECT_EQ(cluster.find("Workload", "default", "free"), nullptr) << collect;
    ASSERT_NE(cluster.find("Workload", "default", "held"), nullptr) << collect;
    EXPECT_TRUE(cluster.find("Workload", "default", "held")->deleting()) << collect;
  }
}

TEST(ScenarioPlayer, tells_what_no_scenario_may_do) {
  for (const char* step : {"patch: [{kind: Job, name: j, merge: {spec: {suspend: false}}}]", "finish: [{kind: JobSet, name: s}]"}) {
    SimulatedCluster cluster;
    ScenarioPlayer player(cluster, scenario(std::string("  - {at: 0s, ") + step + "}\n"));
    const auto done = player.run_step();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::not_found);
    EXPECT_TRUE(done.error().message.starts_with("case.yaml:1: step 0: ")) << done.error().message;
  }
}

TEST(ScenarioPlayer, runs_the_caller_to_the_moment_before_each_next_step) {
  SimulatedCluster cluster;
  std::vector<Time> limits;
  const auto played = play(cluster, scenario("  - at: 0s\n  - at: 10s\n  - at: 10s\n"), [&](Time limit) {
    limits.push_back(limit);
    EXPECT_EQ(cluster.now(), limits.size() == 1 ? virtual_start : virtual_start + Duration::seconds(10));
  });
  ASSERT_TRUE(played);
  EXPECT_EQ((*played)["case"], "case");
  EXPECT_EQ((*played)["states"].size(), 3U);
  EXPECT_EQ(limits, (std::vector<Time>{virtual_start + Duration{9'999'999}, virtual_start + Duration{9'999'999}, Time::never()}));
}

TEST(ScenarioPlayer, nodes_are_ready_unless_they_say_otherwise) {
  SimulatedCluster cluster;
  ScenarioPlayer player(
      cluster,
      scenario("  - at: 0s\n    apply:\n    - {apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 4}}}\n"
               "    - {apiVersion: v1, kind: Node, metadata: {name: b}, status: {conditions: [{type: Ready, status: 'False'}]}}\n"));
  ASSERT_TRUE(player.run_step());
  const auto a = cluster.find("Node", "", "a");
  EXPECT_TRUE(condition_is(a->status(), "Ready"));
  EXPECT_EQ(a->status()["capacity"], Json::parse(R"({"cpu":"4"})"));
  EXPECT_TRUE(condition_is(cluster.find("Node", "", "b")->status(), "Ready", "False"));
}

TEST(ScenarioOfManifests, arrivals_are_steps_and_queues_come_before_jobs) {
  const std::string text =
      "apiVersion: batch/v1\nkind: Job\nmetadata: {name: late, annotations: {hindsight.dev/arrive-seconds: '5'}}\n---\n"
      "apiVersion: batch/v1\nkind: Job\nmetadata: {name: early}\n---\n"
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n";
  auto input = manifests::read_text(text, "f.yaml");
  ASSERT_TRUE(input) << input.error().message;
  const auto scenario = scenario_of(std::move(input->manifests), "f");
  ASSERT_EQ(scenario.steps.size(), 2U);
  EXPECT_EQ(scenario.steps[0].at, Duration{0});
  ASSERT_EQ(scenario.steps[0].apply.size(), 2U);
  EXPECT_EQ(scenario.steps[0].apply[0]["metadata"]["name"], "team");
  EXPECT_EQ(scenario.steps[0].apply[1]["metadata"]["name"], "early");
  EXPECT_EQ(scenario.steps[1].at, Duration::seconds(5));
  EXPECT_EQ(scenario_of({}, "empty").steps.size(), 1U);
}

}  // namespace
}  // namespace hindsight::connectors::simulated
