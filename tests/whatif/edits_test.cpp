// What users changed on record is carried out where the rest of a life is another one, or told with the reason for which it is not.

#include "whatif/edits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/whatif/played_on.hpp"

namespace hindsight::whatif {
namespace {

using projections::job_text;
using projections::Played;
using projections::queue_text;

/// A cluster in which job "first" runs for 100 s from second 0 and job "second" comes at second 10, for 100 s too, and `later` are further
/// steps.
std::string edited_scenario(const std::string& cpu, const std::string& later, const std::string& class_of_second = {},
                            const std::string& annotations_of_second = {}) {
  std::string second = job_text({.name = "second", .runs = 100, .priority_class = class_of_second});
  if (!annotations_of_second.empty()) {
    const std::string mark = "hindsight.dev/arrive-seconds";
    second.insert(second.find(mark), annotations_of_second + ", ");
  }
  return "apiVersion: hindsight.dev/v1alpha1\nkind: Scenario\nmetadata: {name: edited}\nspec:\n  steps:\n  - at: 0s\n    apply:\n" +
         items_of("---\n" + projections::basics +
                  "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: "
                  "{name: low}\nvalue: 10\n" +
                  queue_text({.name = "cq", .cpu = cpu}) + queue_text({.name = "other", .cpu = "1"}) +
                  job_text({.name = "first", .runs = 100})) +
         "  - at: 10s\n    apply:\n" + items_of(second) + later;
}

std::string patch_of_second(const std::string& merge) {
  return "  - at: 50s\n    patch:\n    - kind: Job\n      namespace: default\n      name: second\n      merge: " + merge + "\n";
}

PlayedOn with_cpu(const Played& p, const std::string& cpu) {
  Changes changes;
  changes.quotas.push_back(*parse_quota_change("cq/cq:cpu=" + cpu));
  return {p.log, p.at(5), changes, false, Duration::seconds(600)};
}

/// On record job "second" waits when it is edited; here it has quota and runs.
void expect_refused_where_it_runs(const std::string& merge, const std::string& part, const std::string& annotations = {}) {
  const Played p(edited_scenario("1", patch_of_second(merge), {}, annotations));
  const PlayedOn c = with_cpu(p, "2");
  ASSERT_EQ(c.report.contested.size(), 1U) << part;
  const std::string& told = c.report.contested.front();
  EXPECT_NE(told.find("an edit of Job default/second, which waited and runs here: " + part + ": not carried out, because "),
            std::string::npos)
      << told;
  EXPECT_NEAR(static_cast<double>((c.would_be("second").ended - c.would_be("second").started).micros) / 1e6, 100, 2) << part;
  EXPECT_TRUE(c.verifies());
}

TEST(EditsOfUsers, ThatNobodyMayMakeOfAJobThatRunsAreToldAndNotCarriedOut) {
  expect_refused_where_it_runs("{metadata: {labels: {kueue.x-k8s.io/queue-name: lq-other}}}", "queue");
  expect_refused_where_it_runs("{metadata: {labels: {kueue.x-k8s.io/max-exec-time-seconds: '5'}}}", "maximum execution time");
  expect_refused_where_it_runs("{metadata: {labels: {kueue.x-k8s.io/priority-class: high}}}", "priority");
  expect_refused_where_it_runs("{spec: {template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 500m}}}]}}}}",
                               "pod templates");
}

TEST(EditsOfUsers, ThatMayBeMadeAtAnyTimeAreCarriedOutAndToldWhereTheyMetAnotherState) {
  const Played p(edited_scenario("1", patch_of_second("{metadata: {labels: {kueue.x-k8s.io/priority-class: high}}}"), "low"));
  const PlayedOn c = with_cpu(p, "2");
  ASSERT_EQ(c.report.contested.size(), 1U);
  EXPECT_NE(c.report.contested.front().find("Job default/second, which waited and runs here: priority: carried out"), std::string::npos)
      << c.report.contested.front();
  EXPECT_TRUE(c.verifies());
}

TEST(EditsOfUsers, OfWhomeverWaitsHereAsOnRecordAreCarriedOutWithoutAWord) {
  // The quota that comes is not enough for it: it waits in its queue, is moved to the other, and starts there at once.
  const Played p(edited_scenario("1", patch_of_second("{metadata: {labels: {kueue.x-k8s.io/queue-name: lq-other}}}")));
  Changes changes;
  changes.quotas.push_back(*parse_quota_change("cq/cq:cpu=1500m"));
  const PlayedOn c(p.log, p.at(5), changes, true, Duration::seconds(600));
  EXPECT_TRUE(c.report.contested.empty()) << c.report.contested.front();
  EXPECT_EQ(c.would_be("second").queue, "other");
  EXPECT_NEAR(static_cast<double>((c.would_be("second").started - c.would_be("second").came).micros) / 1e6, 40, 2);
  EXPECT_TRUE(c.verifies());
}

TEST(EditsOfUsers, OfTheResourcesOfAJobThatWaitsAreCarriedOut) {
  const Played p(edited_scenario(
      "1", patch_of_second("{spec: {template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 500m}}}]}}}}")));
  Changes changes;
  changes.quotas.push_back(*parse_quota_change("cq/cq:cpu=1500m"));
  const PlayedOn c(p.log, p.at(5), changes, true, Duration::seconds(600));
  // With half the size there is room beside the first.
  EXPECT_NEAR(static_cast<double>((c.would_be("second").started - c.would_be("second").came).micros) / 1e6, 40, 3);
  EXPECT_TRUE(c.report.contested.empty()) << c.report.contested.front();
}

TEST(EditsOfUsers, OfGatesAreCarriedOut) {
  const std::string gate = "kueue.x-k8s.io/admission-gated-by: 'a.com/one'";
  const Played p(edited_scenario("2", patch_of_second("{metadata: {annotations: {kueue.x-k8s.io/admission-gated-by: null}}}"), {}, gate));
  const PlayedOn c(p.log, p.at(5), {}, true, Duration::seconds(600));
  EXPECT_NEAR(static_cast<double>((c.was("second").started - c.was("second").came).micros) / 1e6, 40, 2);
  EXPECT_LT(std::abs((c.was("second").started - c.would_be("second").started).micros), Duration::seconds(2).micros);
  EXPECT_TRUE(c.report.contested.empty()) << c.report.contested.front();
}

TEST(EditsOfUsers, OfTheMaximumExecutionTimeAreCarriedOutWhereItWaits) {
  const Played p(edited_scenario("1", patch_of_second("{metadata: {labels: {kueue.x-k8s.io/max-exec-time-seconds: '5'}}}")));
  const PlayedOn c(p.log, p.at(5), {}, true, Duration::seconds(600));
  EXPECT_EQ(c.would_be("second").evicted, c.was("second").evicted);
  EXPECT_TRUE(c.report.contested.empty()) << c.report.contested.front();
}

TEST(EditsOfUsers, OfAWorkloadThatAJobMadeAreCarriedOut) {
  // The user switches the Workload off while it waits, and it never starts: here it runs by then, and is stopped.
  const Played p(edited_scenario("1",
                                 "  - at: 50s\n    patch:\n    - kind: Workload\n      namespace: default\n      owner: {kind: Job, "
                                 "name: second}\n      merge: {spec: {active: false}}\n"));
  const PlayedOn c = with_cpu(p, "2");
  ASSERT_EQ(c.report.contested.size(), 1U);
  EXPECT_NE(c.report.contested.front().find("which waited and runs here: spec.active: carried out"), std::string::npos)
      << c.report.contested.front();
  EXPECT_EQ(c.would_be("second").evicted, 1);
  EXPECT_FALSE(c.would_be("second").ended.is_set());
  EXPECT_TRUE(c.verifies());
}

TEST(EditsOfUsers, ADeletionIsCarriedOutWhereverItFindsTheJob) {
  const std::string deletion = "  - at: 50s\n    delete:\n    - {kind: Job, namespace: default, name: second}\n";
  const Played p(edited_scenario("1", deletion));
  const PlayedOn c = with_cpu(p, "2");
  EXPECT_TRUE(c.would_be("second").started.is_set());
  EXPECT_TRUE(c.would_be("second").gone);
  EXPECT_TRUE(c.verifies());
}

TEST(EditsOfUsers, AStopOfAQueueHoldsHereToo) {
  const std::string stop =
      "  - at: 30s\n    patch:\n    - {kind: ClusterQueue, name: cq, merge: {spec: {stopPolicy: HoldAndDrain}}}\n"
      "  - at: 60s\n    patch:\n    - {kind: ClusterQueue, name: cq, merge: {spec: {stopPolicy: None}}}\n";
  const Played p(edited_scenario("1", stop));
  const PlayedOn c = with_cpu(p, "2");
  EXPECT_EQ(c.would_be("first").evicted, 1);
  EXPECT_EQ(c.would_be("second").evicted, 1);  // it ran when the queue was stopped
  EXPECT_TRUE(c.would_be("second").ended.is_set());
  EXPECT_TRUE(c.verifies());
}

TEST(EditsOfUsers, OfAWorkloadWithoutAJobAreCarriedOutWhereItWaitsAndToldWhereItHoldsQuota) {
  const std::string workload =
      "  - at: 20s\n    apply:\n    - apiVersion: kueue.x-k8s.io/v1beta2\n      kind: Workload\n      metadata: {name: alone, namespace: "
      "default}\n      spec:\n        queueName: lq-cq\n        podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, "
      "containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}}]\n";
  const std::string edit =
      "  - at: 50s\n    patch:\n    - {kind: Workload, namespace: default, name: alone, merge: {spec: {queueName: lq-other}}}\n";
  const Played p(edited_scenario("1", workload + edit));
  {
    const PlayedOn c(p.log, p.at(25), {}, true, Duration::seconds(600));
    EXPECT_TRUE(c.report.contested.empty()) << c.report.contested.front();
    EXPECT_EQ(c.comparison.would_be.fates().at("default/alone").queue, "other");
  }
  {
    const PlayedOn c = with_cpu(p, "3");
    ASSERT_EQ(c.report.contested.size(), 1U);
    EXPECT_NE(c.report.contested.front().find("Workload default/alone, which waited and runs here: queue: not carried out, because a "
                                              "Workload that holds quota keeps its queue"),
              std::string::npos)
        << c.report.contested.front();
    EXPECT_EQ(c.comparison.would_be.fates().at("default/alone").queue, "cq");
    EXPECT_TRUE(c.verifies());
  }
}

/// Job "second" in four pods one after the other, or as many at a time as `parallelism` says.
std::string resized_scenario(const std::string& cpu) {
  std::string text = edited_scenario(cpu, patch_of_second("{spec: {parallelism: 2}}"));
  const std::string of_second = "name: second";
  const auto spec = text.find("suspend: true", text.find(of_second));
  // Lines of an item are indented by six, and members of its spec by two more.
  text.insert(spec, "parallelism: 1\n        completions: 4\n        ");
  return text;
}

TEST(EditsOfUsers, OfTheSizeOfAJobThatRunsAreCarriedOut) {
  // It is stopped, asks for twice as much, and waits for the other's end, on record and in the model.
  const Played p(resized_scenario("2"));
  const PlayedOn c(p.log, p.at(5), {}, true, Duration::seconds(600));
  EXPECT_GT((c.was("second").ended - c.was("second").came).micros, Duration::seconds(150).micros);
  EXPECT_NEAR(static_cast<double>((c.would_be("second").ended - c.was("second").ended).micros) / 1e6, 0, 5);
  EXPECT_TRUE(c.report.contested.empty()) << c.report.contested.front();
  EXPECT_TRUE(c.verifies());
}

TEST(EditsOfUsers, OfTheSizeOfAJobThatRanAreToldWhereItWaits) {
  const Played p(resized_scenario("2"));
  const PlayedOn c = with_cpu(p, "1");
  ASSERT_EQ(c.report.contested.size(), 1U);
  EXPECT_NE(c.report.contested.front().find("Job default/second, which ran and waits here: size: carried out"), std::string::npos)
      << c.report.contested.front();
  EXPECT_FALSE(c.would_be("second").started.is_set()) << "two pods are more than the quota";
  EXPECT_TRUE(c.verifies());
}

TEST(EditsOfUsers, OfTheSizeOfAJobThatMayRunInPartAreRefusedWhileItRuns) {
  admission::JobState job;
  std::vector<admission::PodSetSpec> pod_sets(1);
  pod_sets.front().min_count = 1;
  job.pod_sets = pod_sets;
  EXPECT_TRUE(refusal(EditedPart::size, {}, job));
  job.suspended = true;
  EXPECT_FALSE(refusal(EditedPart::size, {}, job));
  pod_sets.front().min_count = -1;
  job.pod_sets = pod_sets;
  job.suspended = false;
  EXPECT_FALSE(refusal(EditedPart::size, {}, job));
}

TEST(EditsOfUsers, ADeletedWorkloadIsDeletedHereTooAndItsJobGetsAnotherOne) {
  std::string name;
  {
    Played p(edited_scenario("1", ""));
    const auto target = projections::parse_target("job/second", "default").value();
    name = projections::find_workload(p.state(p.at(20)), target).value().workload->name.text();
  }
  // On record it waits when somebody deletes its Workload; here it runs, is stopped, and starts again.
  const Played p(edited_scenario("1", "  - at: 50s\n    delete:\n    - {kind: Workload, namespace: default, name: " + name + "}\n"));
  const PlayedOn c = with_cpu(p, "2");
  EXPECT_NEAR(static_cast<double>((c.would_be("second").started - c.would_be("second").came).micros) / 1e6, 0, 2);
  EXPECT_NEAR(static_cast<double>((c.would_be("second").ended - c.would_be("second").started).micros) / 1e6, 140, 5);
  EXPECT_TRUE(c.verifies());
}

TEST(EditsOfUsers, GatesCanOnlyBeRemoved) {
  admission::JobState job;
  job.admission_gated_by = "a.com/one,a.com/two";
  UserPart wanted;
  wanted.admission_gated_by = "a.com/two";
  EXPECT_FALSE(refusal(EditedPart::admission_gate, wanted, job));
  wanted.admission_gated_by = "a.com/three";
  EXPECT_TRUE(refusal(EditedPart::admission_gate, wanted, job));
  wanted.admission_gated_by = ",,";
  EXPECT_FALSE(refusal(EditedPart::admission_gate, wanted, job));
}

}  // namespace
}  // namespace hindsight::whatif
