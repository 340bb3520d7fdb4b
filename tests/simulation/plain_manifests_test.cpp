// Plain manifests are played as on a cluster with the mutating webhook: no job starts before it is admitted, whatever its manifest leaves
// out.

#include <gtest/gtest.h>

#include "connectors/manifests/manifest_reader.hpp"
#include "connectors/simulated/scenario_player.hpp"
#include "events/memory_log.hpp"
#include "simulation/run_scenario.hpp"
#include "tests/simulation/log_records.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* plain_queues = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: f, resources: [{name: cpu, nominalQuota: 2}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq, namespace: default}
spec: {clusterQueue: cq}
)";

/// `suspend`: as it stands in the manifest, with its line feed.
std::string plain_job(const std::string& name, const std::string& labels, const std::string& suspend,
                      const std::string& space = "default") {
  return "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " + name + "\n  namespace: " + space + "\n  labels: {" + labels +
         "}\n  annotations: {hindsight.dev/run-seconds: '10'}\nspec:\n" + suspend +
         "  completions: 1\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [{name: c, image: i, resources: "
         "{requests: {cpu: 2}}}]\n";
}

const std::string plain_label = "kueue.x-k8s.io/queue-name: lq";

struct PlainRun {
  events::MemoryLog log;
  ScenarioResult result;

  explicit PlainRun(const std::string& text, const std::string& configuration = {}, bool as_written = false) {
    auto input = connectors::manifests::read_text(text, "test.yaml");
    if (!input) throw std::runtime_error(input.error().message);
    auto scenario = connectors::simulated::scenario_of(std::move(input->manifests), "test");
    if (as_written) scenario.defaults_jobs = false;
    ScenarioOptions options;
    options.to_the_end = true;
    options.log = &log;
    options.configuration = configuration;
    auto played = run_scenario(std::move(scenario), options);
    if (!played) throw std::runtime_error(played.error().message);
    result = std::move(*played);
  }

  /// What was seen of a job, and when it got quota: "suspended", "started", "admitted", "finished"; what repeats stands once.
  [[nodiscard]] std::vector<std::string> life(const std::string& job) const {
    std::vector<std::string> out;
    const auto say = [&](const char* what) {
      if (out.empty() || out.back() != what) out.emplace_back(what);
    };
    each_record(log, [&](const RecordView& r) {
      if (const auto* o = std::get_if<Observation>(&r.body))
        if (const auto* seen = std::get_if<JobObserved>(o); seen != nullptr && seen->meta.name == job)
          say(seen->finished ? "finished" : seen->suspended ? "suspended" : "started");
      if (const auto* d = std::get_if<Decisions>(&r.body))
        for (const auto& e : d->events)
          if (const auto* q = std::get_if<QuotaReserved>(&e); q != nullptr && q->workload.name.find("-" + job + "-") != Text::npos)
            say("admitted");
    });
    return out;
  }
  [[nodiscard]] bool suspended(const std::string& job, const std::string& space = "default") const {
    return result.world->simulated().find("Job", space, job)->spec()["suspend"].get<bool>();
  }
};

using Life = std::vector<std::string>;

// BA-169
TEST(PlainManifests, AJobStartsWhenItIsAdmittedWhateverItsManifestSays) {
  const Life whole{"suspended", "admitted", "suspended", "started", "finished"};
  const Life queued{"suspended", "admitted", "started", "finished"};
  for (const char* suspend : {"", "  suspend: false\n", "  suspend: true\n"}) {
    const PlainRun run(std::string(plain_queues) + plain_job("a", plain_label, suspend) + plain_job("b", plain_label, suspend));
    for (const char* job : {"a", "b"}) {
      const auto life = run.life(job);
      EXPECT_TRUE(life == whole || life == queued) << job << " " << suspend << ::testing::PrintToString(life);
    }
    EXPECT_EQ(run.result.refused, Life{});
    EXPECT_EQ(run.result.notices, Life{});
  }
}

TEST(PlainManifests, TheRecordsAreThoseOfAManifestThatSaysIt) {
  const PlainRun left_out(std::string(plain_queues) + plain_job("a", plain_label, ""));
  const PlainRun written(std::string(plain_queues) + plain_job("a", plain_label, "  suspend: true\n"));
  EXPECT_EQ(left_out.result.records, written.result.records);
  EXPECT_EQ(left_out.result.state_hash, written.result.state_hash);
}

TEST(PlainManifests, AScenarioTakesManifestsAsTheyAreWritten) {
  const PlainRun run(std::string(plain_queues) + plain_job("a", plain_label, ""), {}, true);
  ASSERT_FALSE(run.life("a").empty());
  EXPECT_EQ(run.life("a").front(), "started");
}

// BA-172
TEST(PlainManifests, JobsWithoutAQueueAreManagedIfTheConfigurationSaysSo) {
  const std::string world = std::string(plain_queues) + plain_job("free", "app: x", "") + plain_job("system", "app: x", "", "kube-system");
  const PlainRun by_default(world);
  EXPECT_FALSE(by_default.suspended("free"));
  const PlainRun managed(world, R"({"manageJobsWithoutQueueName":true})");
  EXPECT_TRUE(managed.suspended("free"));
  EXPECT_FALSE(managed.suspended("system", "kube-system")) << "the system's own namespaces are left alone";
  const PlainRun selected(world, R"({"manageJobsWithoutQueueName":true,"managedJobsNamespaceSelector":{"matchLabels":{"team":"a"}}})");
  EXPECT_FALSE(selected.suspended("free"));
}

TEST(PlainManifests, JobSetsAndRayKindsWaitToo) {
  const std::string meta = "\nmetadata: {name: s, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq}}\n";
  const std::string pod = "{spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]}}";
  const PlainRun run(
      std::string(plain_queues) + "---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet" + meta +
      "spec: {replicatedJobs: [{name: a, template: {spec: {template: " + pod + "}}}]}\n" + "---\napiVersion: ray.io/v1\nkind: RayJob" +
      meta + "spec: {entrypoint: x, rayClusterSpec: {headGroupSpec: {rayStartParams: {}, template: " + pod + "}}}\n" +
      "---\napiVersion: ray.io/v1\nkind: RayCluster" + meta + "spec: {headGroupSpec: {rayStartParams: {}, template: " + pod + "}}\n");
  for (const char* kind : {"JobSet", "RayJob", "RayCluster"}) {
    const auto stored = run.result.world->simulated().find(kind, "default", "s");
    ASSERT_NE(stored, nullptr) << kind;
    EXPECT_EQ(stored->spec()["suspend"], true) << kind << ": 3 of 2 cores";
  }
}

/// A Job that succeeds is never said to have lost a pod on the way.
TEST(PlainManifests, NoPodOfAJobThatSucceedsIsMissed) {
  const PlainRun run(std::string(plain_queues) + plain_job("a", plain_label, ""));
  bool was_ready = false;
  each_record(run.log, [&](const RecordView& r) {
    if (const auto* o = std::get_if<Observation>(&r.body))
      if (const auto* seen = std::get_if<JobObserved>(o); seen != nullptr && seen->meta.name == "a") {
        EXPECT_TRUE(!was_ready || seen->pods_ready) << "record " << r.envelope.sequence;
        was_ready |= seen->pods_ready;
      }
    if (const auto* d = std::get_if<Decisions>(&r.body))
      for (const auto& e : d->events)
        if (const auto* changed = std::get_if<ConditionChanged>(&e)) {
          EXPECT_NE(changed->reason, "WaitForRecovery");
        }
  });
  EXPECT_TRUE(was_ready);
}

}  // namespace
}  // namespace hindsight::simulation
