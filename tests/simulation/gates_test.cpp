// Gate annotations from the Job to the objects in the cluster: the worked examples of 6915 §4 that one cluster can play, and what the
// specification says beside them.

#include <map>

#include <gtest/gtest.h>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"
#include "events/memory_log.hpp"
#include "events/settings.hpp"
#include "tests/simulation/gate_story.hpp"

namespace hindsight::simulation {
namespace {

std::string gate(const char* annotation, const std::string& value) { return std::string(annotation) + ": '" + value + "'"; }
std::string set_gate(const char* annotation, const std::string& value) {
  return "{metadata: {annotations: {" + gate(annotation, value) + "}}}";
}
std::string cpu_of(const std::string& cpu, const std::string& more = "") {
  return "{" + more + "spec: {template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: '" + cpu + "'}}}]}}}}";
}

const Json& annotations(const Json& object) {
  static const Json none = Json::object();
  const auto it = object["metadata"].find("annotations");
  return it == object["metadata"].end() ? none : *it;
}

int pending(const Played& p, std::size_t step) { return p.result.states["states"][step]["clusterQueues"]["cq"]["pending"].get<int>(); }

// SG-7, SG-19, SG-23, SG-24, SG-25, SG-32, SG-33, SG-34, SG-68, SG-69, SG-85, MR-81
TEST(Gates, E1TheJobGetsItsWorkloadWhenTheGateGoesAndAsItThenIs) {
  Story s;
  s.apply(
       "{apiVersion: batch/v1, kind: Job, metadata: {name: prep, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq}, annotations: "
       "{kueue.x-k8s.io/scheduling-gated-by: example.com/mygate}}, spec: {suspend: false, parallelism: 1, completions: 1, template: {spec: "
       "{restartPolicy: Never, containers: [{name: c, image: busybox, resources: {requests: {cpu: 100m}}}]}}}}")
      .step()
      .step();
  const auto held = s.play();
  ASSERT_EQ(held.result.refused, Lines{});
  EXPECT_TRUE(held.job("prep")["spec"]["suspend"].get<bool>()) << "the webhook suspends what is managed";
  EXPECT_EQ(held.workloads("prep").size(), 0U);
  EXPECT_EQ(held.events, Lines{"Job prep SchedulingGated: Workload creation is gated by: example.com/mygate"});
  EXPECT_EQ(pending(held, 2), 0);

  s.step().patch("prep",
                 "{metadata: {annotations: {kueue.x-k8s.io/scheduling-gated-by: null}}, spec: {template: {spec: {containers: [{name: c, "
                 "image: busybox, resources: {requests: {cpu: 200m}}}]}}}}");
  const auto released = s.play();
  ASSERT_EQ(released.result.refused, Lines{});
  const auto w = released.workloads("prep");
  ASSERT_EQ(w.size(), 1U);
  EXPECT_EQ(w[0]["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"], "200m");
  EXPECT_FALSE(annotations(w[0]).contains(scheduling));
  EXPECT_EQ(w[0]["metadata"]["creationTimestamp"], "2026-01-01T00:00:30Z") << "time spent gated is no queueing time";
  EXPECT_EQ(Played::condition(w[0], "Admitted"), "True/Admitted: The workload is admitted");
  EXPECT_FALSE(released.job("prep")["spec"]["suspend"].get<bool>());
  const auto events = released.events_of("Job prep");
  EXPECT_EQ(events, (Lines{"Job prep SchedulingGated: Workload creation is gated by: example.com/mygate",
                           "Job prep SchedulingGateCleared: Scheduling gate cleared",
                           "Job prep CreatedWorkload: Created Workload: default/" + w[0]["metadata"]["name"].get<std::string>(),
                           "Job prep Started: Admitted by clusterQueue cq"}));
}

// SG-15, SG-16, SG-17, SG-18, SG-20, SG-21
TEST(Gates, E2AGateIsSetAtCreationOnly) {
  const std::string field = "metadata.annotations[kueue.x-k8s.io/scheduling-gated-by]";
  Story s;
  s.job("late", "").step().patch("late", set_gate(scheduling, "example.com/mygate"));
  const auto added = s.play();
  ASSERT_EQ(added.result.refused.size(), 1U);
  EXPECT_NE(added.result.refused[0].find(field + ": Forbidden: cannot add scheduling gate after creation"), std::string::npos)
      << added.result.refused[0];
  EXPECT_FALSE(annotations(added.job("late")).contains(scheduling));
  EXPECT_EQ(added.workloads("late").size(), 1U);

  Story a;
  a.job("late", "").step().patch("late", set_gate(admission_, "example.com/mygate"));
  EXPECT_NE(a.play().result.refused.at(0).find(
                "metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Forbidden: cannot add admission gate after creation"),
            std::string::npos);

  for (const char* value : {"example.com/other", ""}) {
    Story changed;
    changed.job("j", gate(scheduling, "example.com/g")).step().patch("j", set_gate(scheduling, value));
    const auto r = changed.play();
    EXPECT_NE(r.result.refused.at(0).find(field + ": Forbidden: scheduling gate can only be removed, not modified"), std::string::npos);
    EXPECT_EQ(r.workloads("j").size(), 0U);
  }

  // set again with other changes: none of them is stored
  Story again;
  again.job("j", gate(scheduling, "example.com/g"))
      .step()
      .release("j")
      .step()
      .patch("j", "{metadata: {labels: {team: a}, annotations: {" + gate(scheduling, "example.com/g") + "}}}");
  const auto r = again.play();
  EXPECT_EQ(r.result.refused.size(), 1U);
  EXPECT_FALSE(r.job("j")["metadata"]["labels"].contains("team"));

  // with the gate off it is accepted and says nothing
  Story off;
  off.configure("").job("late", "").step().patch("late", set_gate(scheduling, "example.com/mygate"));
  const auto inert = off.play();
  EXPECT_EQ(inert.result.refused, Lines{});
  EXPECT_EQ(inert.count("Gate"), 0U);
  EXPECT_EQ(annotations(inert.job("late"))[scheduling], "example.com/mygate");
}

// SG-1, SG-3, SG-8, SG-9, SG-10
TEST(Gates, E3WhatIsNoDomainPrefixedPathIsNotStored) {
  const std::map<std::string, std::string> wrong{
      {"not a domain", "Invalid value: \"not a domain\": must be a domain-prefixed path (such as \"acme.io/foo\")"},
      {"Example.com/g", "Invalid value: \"Example.com\": a lowercase RFC 1123 subdomain must consist of"},
      {"a.io/x,b.io/y", "Invalid value: \"a.io/x,b.io/y\": only one gate is supported"},
      {"", "Required value"},
      {"a.io/" + std::string(59, 'x'), "Too long: may not be more than 63 bytes"}};
  for (const auto& [value, error] : wrong) {
    Story s;
    s.job("j", gate(scheduling, value));
    const auto on = s.play();
    ASSERT_EQ(on.result.refused.size(), 1U) << value;
    EXPECT_NE(on.result.refused[0].find("metadata.annotations[kueue.x-k8s.io/scheduling-gated-by]: " + error), std::string::npos)
        << on.result.refused[0];
    EXPECT_EQ(on.cluster().find("Job", "default", "j"), nullptr);
    const auto off = s.configure("").play();
    EXPECT_EQ(off.result.refused, Lines{}) << value;
    EXPECT_EQ(off.workloads("j").size(), 1U) << "nothing is held back";
  }
  Story longest;
  longest.job("j", gate(scheduling, "a.io/" + std::string(58, 'x')));
  EXPECT_EQ(longest.play().result.refused, Lines{});
}

// SG-4, SG-59, SG-60, SG-61, SG-62, SG-64, SG-66
TEST(Gates, E4AnAdmissionGateHoldsTheWorkloadUntilTheLastNameHasGone) {
  Story s;
  s.configure("").job("train", gate(admission_, "pred.io/cpu, audit.io/ok"), "6");
  const auto gated = s.play();
  auto w = gated.workloads("train");
  ASSERT_EQ(w.size(), 1U);
  EXPECT_EQ(annotations(w[0])[admission_], "pred.io/cpu, audit.io/ok") << "copied as it is";
  EXPECT_EQ(Played::condition(w[0], "QuotaReserved"), "False/AdmissionGated: Admission is gated by: pred.io/cpu, audit.io/ok");
  const std::string name = w[0]["metadata"]["name"];
  EXPECT_EQ(gated.events_of("Workload " + name),
            Lines{"Workload " + name + " AdmissionGated: Workload admission is gated by: pred.io/cpu, audit.io/ok"});

  s.step().patch("train", cpu_of("2", "metadata: {annotations: {" + gate(admission_, "audit.io/ok") + "}}, "));
  const auto shrunk = s.play();
  w = shrunk.workloads("train");
  ASSERT_EQ(w.size(), 1U);
  EXPECT_EQ(w[0]["metadata"]["name"], name);
  EXPECT_EQ(w[0]["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"], "2");
  EXPECT_EQ(Played::condition(w[0], "QuotaReserved"), "False/AdmissionGated: Admission is gated by: audit.io/ok");
  EXPECT_EQ(shrunk.count("Job train UpdatedWorkload: Updated not matching Workload for suspended job: default/" + name), 1U);
  EXPECT_EQ(shrunk.count("Job train UpdatedWorkload: Updated workload AdmissionGatedBy to \"audit.io/ok\""), 1U);
  EXPECT_EQ(shrunk.count(" AdmissionGated: "), 1U);

  s.step().patch("train", set_gate(admission_, "audit.io/ok,evil.io/x"));
  const auto refused = s.play();
  EXPECT_NE(refused.result.refused.at(0).find(
                "metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Forbidden: can only remove gates, not add new ones"),
            std::string::npos);

  const auto open = s.step().release("train", admission_).play();
  w = open.workloads("train");
  ASSERT_EQ(w.size(), 1U);
  EXPECT_EQ(w[0]["metadata"]["creationTimestamp"], "2026-01-01T00:00:00Z") << "its place in line counts from here";
  EXPECT_EQ(Played::condition(w[0], "Admitted"), "True/Admitted: The workload is admitted");
  EXPECT_EQ(open.count("Job train UpdatedWorkload: Updated workload AdmissionGatedBy to \"\""), 1U);
  EXPECT_EQ(open.count("AdmissionGateCleared: Admission gate cleared, workload is now admissible"), 1U);
  EXPECT_EQ(open.count(" AdmissionGated: "), 1U);
}

// SG-59: a list in another order is another value.
TEST(Gates, AReorderedListIsPassedOn) {
  Story s;
  s.job("j", gate(admission_, "a.io/x,b.io/y")).step().patch("j", set_gate(admission_, "b.io/y, a.io/x"));
  const auto r = s.play();
  EXPECT_EQ(annotations(r.workloads("j").at(0))[admission_], "b.io/y, a.io/x");
  EXPECT_EQ(r.count(" AdmissionGated: "), 1U);
}

// SG-62: a new queue and the end of the gate are one write.
TEST(Gates, QueueAndGateChangeTogether) {
  Story s;
  s.apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: other, namespace: default}, spec: {clusterQueue: none}}")
      .job("j", gate(admission_, "a.io/x"))
      .step()
      .patch("j", "{metadata: {labels: {kueue.x-k8s.io/queue-name: other}, annotations: {kueue.x-k8s.io/admission-gated-by: null}}}");
  const auto r = s.play();
  const auto w = r.workloads("j").at(0);
  EXPECT_EQ(w["spec"]["queueName"], "other");
  EXPECT_FALSE(annotations(w).contains(admission_));
  EXPECT_EQ(Played::condition(w, "QuotaReserved"), "False/Misconfigured: ClusterQueue none doesn't exist");
  EXPECT_EQ(r.count("QuotaReserved: "), 0U) << "it never slipped into the old queue";
}

// SG-63, SG-64: on the Workload itself, and whatever else is wrong with its queue.
TEST(Gates, AWorkloadOfItsOwnIsGatedAndToldOfOnce) {
  Story s;
  s.apply(
       "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w, namespace: default, annotations: "
       "{kueue.x-k8s.io/admission-gated-by: a.io/x}}, spec: {queueName: lq, podSets: [{name: main, count: 1, template: {spec: "
       "{restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]}}")
      .step()
      .patch("lq", "{spec: {stopPolicy: Hold}}", "LocalQueue")
      .step()
      .patch("lq", "{spec: {stopPolicy: None}}", "LocalQueue")
      .step()
      .patch("w", set_gate(admission_, "b.io/x"), "Workload")
      .step()
      .patch("w", "{metadata: {annotations: {kueue.x-k8s.io/admission-gated-by: null}}}", "Workload");
  const auto r = s.play();
  ASSERT_EQ(r.result.refused.size(), 1U);
  EXPECT_NE(r.result.refused[0].find("can only remove gates, not add new ones"), std::string::npos);
  EXPECT_EQ(r.count("Workload w AdmissionGated: Workload admission is gated by: a.io/x"), 1U);
  EXPECT_EQ(r.count("Workload w AdmissionGateCleared:"), 1U);
  const auto w = r.cluster().find("Workload", "default", "w");
  EXPECT_EQ(Played::condition(w->object, "Admitted"), "True/Admitted: The workload is admitted");
}

// SG-47, SG-49
TEST(Gates, E5AnElasticJobBeginsWithTheSizeThatItHasAtRelease) {
  Story s;
  s.job("e", gate(scheduling, "example.com/g") + ", kueue.x-k8s.io/elastic-job: 'true'", "1", "parallelism: 2, completions: 20")
      .step()
      .patch("e", "{spec: {parallelism: 5}}")
      .step()
      .patch("e", "{spec: {parallelism: 3}}");
  EXPECT_EQ(s.play().workloads("e").size(), 0U);
  const auto one = s.step().release("e").play();
  ASSERT_EQ(one.workloads("e").size(), 1U);
  const Json first = one.workloads("e")[0];
  EXPECT_EQ(first["spec"]["podSets"][0]["count"], 3);
  EXPECT_EQ(annotations(first)["kueue.x-k8s.io/workload-slice-name"], first["metadata"]["name"]);
  EXPECT_FALSE(annotations(first).contains("kueue.x-k8s.io/workload-slice-replacement-for"));
  const auto two = s.step().patch("e", "{spec: {parallelism: 4}}").play();
  ASSERT_EQ(two.result.refused, Lines{});
  ASSERT_EQ(two.workloads("e").size(), 2U);
  const auto second = two.workloads("e")[1];
  EXPECT_EQ(second["spec"]["podSets"][0]["count"], 4);
  EXPECT_EQ(Played::condition(second, "Admitted"), "True/Admitted: The workload is admitted");
}

// SG-49, SG-50: a change on the job reaches its waiting slice, and a slice that replaces another is never gated.
TEST(Gates, AnAdmissionGateOfAnElasticJobReachesItsSlice) {
  Story s;
  s.job("e", gate(admission_, "a.io/x, b.io/y") + ", kueue.x-k8s.io/elastic-job: 'true'", "1", "parallelism: 2, completions: 20")
      .step()
      .patch("e", set_gate(admission_, "b.io/y"));
  EXPECT_EQ(Played::condition(s.play().workloads("e").at(0), "QuotaReserved"), "False/AdmissionGated: Admission is gated by: b.io/y");
  const auto r = s.step().release("e", admission_).play();
  ASSERT_EQ(r.workloads("e").size(), 1U);
  EXPECT_EQ(Played::condition(r.workloads("e")[0], "Admitted"), "True/Admitted: The workload is admitted");

  // One that came past the webhooks on a running job is not passed on.
  Story late;
  late.without_webhooks()
      .job("e", "kueue.x-k8s.io/elastic-job: 'true'", "1", "parallelism: 2, completions: 20")
      .step()
      .patch("e", set_gate(admission_, "a.io/x"))
      .step()
      .patch("e", "{spec: {parallelism: 3}}");
  const auto grown = late.play();
  ASSERT_EQ(grown.workloads("e").size(), 2U);
  EXPECT_FALSE(annotations(grown.workloads("e")[1]).contains(admission_));
  EXPECT_EQ(Played::condition(grown.workloads("e")[1], "Admitted"), "True/Admitted: The workload is admitted");
}

// SG-22, SG-26, SG-27, SG-30
TEST(Gates, E7AGatedJobThatIsUnsuspendedIsStoppedAndCanBeDeleted) {
  Story s;
  s.job("j", gate(scheduling, "example.com/g")).step().patch("j", "{spec: {suspend: false}}");
  const auto stopped = s.play();
  EXPECT_TRUE(stopped.job("j")["spec"]["suspend"].get<bool>());
  EXPECT_EQ(stopped.workloads("j").size(), 0U);
  EXPECT_EQ(stopped.events, (Lines{"Job j SchedulingGated: Workload creation is gated by: example.com/g",
                                   "Job j Stopped: Missing Workload; unable to restore pod templates"}));
  EXPECT_FALSE(stopped.result.engine->driver().domain().next_due().is_set()) << "a gate starts no timer";
  const auto twice = s.step().patch("j", "{spec: {suspend: false}}").play();
  EXPECT_EQ(twice.count(" Stopped: "), 2U) << "each attempt is told";
  const auto gone = s.step().remove("j").play();
  EXPECT_EQ(gone.cluster().find("Job", "default", "j"), nullptr);
  EXPECT_EQ(gone.count("CreatedWorkload"), 0U);
}

// SG-67
TEST(Gates, E9BothGatesGoInAnyOrder) {
  const std::string both = gate(scheduling, "s.io/x") + ", " + gate(admission_, "a.io/x");
  Story first;
  first.job("j", both).step().release("j", admission_);
  EXPECT_EQ(first.play().workloads("j").size(), 0U);
  const auto after = first.step().release("j").play();
  ASSERT_EQ(after.workloads("j").size(), 1U);
  EXPECT_FALSE(annotations(after.workloads("j")[0]).contains(admission_));
  EXPECT_EQ(Played::condition(after.workloads("j")[0], "Admitted"), "True/Admitted: The workload is admitted");

  Story second;
  second.job("j", both).step().release("j");
  EXPECT_EQ(Played::condition(second.play().workloads("j").at(0), "QuotaReserved"), "False/AdmissionGated: Admission is gated by: a.io/x");
  EXPECT_EQ(Played::condition(second.step().release("j", admission_).play().workloads("j").at(0), "Admitted"),
            "True/Admitted: The workload is admitted");

  Story once;
  once.job("j", both).step().patch(
      "j", "{metadata: {annotations: {kueue.x-k8s.io/scheduling-gated-by: null, kueue.x-k8s.io/admission-gated-by: null}}}");
  EXPECT_EQ(Played::condition(once.play().workloads("j").at(0), "Admitted"), "True/Admitted: The workload is admitted");
}

// SG-5, SG-39
TEST(Gates, E10AGateThatComesWhenTheJobHasAWorkloadIsIgnored) {
  Story s;
  s.without_webhooks().job("j", "").step().patch("j", set_gate(scheduling, "example.com/g"));
  const auto late = s.play();
  EXPECT_FALSE(late.job("j")["spec"]["suspend"].get<bool>());
  EXPECT_EQ(late.count("!Job j SchedulingGateIgnored: "), 1U);
  EXPECT_EQ(late.count("SchedulingGated:"), 0U);
  const auto removed = s.step().release("j").play();
  EXPECT_EQ(removed.events, late.events) << "taking it away changes nothing";
  EXPECT_EQ(removed.workloads("j").size(), 1U);

  Story gone;
  gone.job("j", gate(scheduling, "example.com/g")).step().release("j");
  const auto name = gone.play().workloads("j").at(0)["metadata"]["name"].get<std::string>();
  const auto successor = gone.step().remove(name, "Workload").play();
  ASSERT_EQ(successor.workloads("j").size(), 1U);
  EXPECT_EQ(successor.count("SchedulingGated:"), 1U);
}

// SG-2, SG-3, SG-90
TEST(Gates, WithTheirFeatureGatesOffTheAnnotationsSayNothing) {
  Story s;
  s.configure(R"({"featureGates": {"AdmissionGatedBy": false}})")
      .job("j", gate(scheduling, "this is invalid") + ", " + gate(admission_, "this is invalid"));
  const auto r = s.play();
  EXPECT_EQ(r.result.refused, Lines{});
  ASSERT_EQ(r.workloads("j").size(), 1U);
  EXPECT_FALSE(annotations(r.workloads("j")[0]).contains(admission_)) << "not passed on";
  EXPECT_EQ(Played::condition(r.workloads("j")[0], "Admitted"), "True/Admitted: The workload is admitted");
  EXPECT_EQ(r.count("Gate"), 0U);

  Story without;
  without.job("j", "");
  const auto plain = without.play();
  Story off;
  off.configure("").job("j", "");
  EXPECT_EQ(plain.events, off.play().events) << "a job without the annotation goes its way";
}

// SG-28, SG-31, SG-33, SG-57
TEST(Gates, OnlyTheStateAtReleaseCounts) {
  Story s;
  s.apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: other, namespace: default}, spec: {clusterQueue: cq}}")
      .apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high}, value: 7}")
      .job("j", gate(scheduling, "example.com/g") + ", kueue.x-k8s.io/job-min-parallelism: '2'", "1", "parallelism: 8, completions: 8")
      .step()
      .patch("j", "{metadata: {labels: {kueue.x-k8s.io/queue-name: other, kueue.x-k8s.io/priority-class: high}}}")
      .step()
      .patch("j", "{metadata: {labels: {kueue.x-k8s.io/max-exec-time-seconds: '60'}}, spec: {parallelism: 7}}")
      .step()
      .patch("j", "{metadata: {labels: {kueue.x-k8s.io/priority-class: null}}}");
  const auto gated = s.play();
  EXPECT_EQ(gated.workloads("j").size(), 0U);
  ASSERT_EQ(gated.result.refused.size(), 1U) << "all other rules stay in force";
  EXPECT_NE(gated.result.refused[0].find("WorkloadPriorityClass cannot be removed from a workload"), std::string::npos);
  const auto w = s.step().release("j").play().workloads("j").at(0);
  EXPECT_EQ(w["spec"]["queueName"], "other");
  EXPECT_EQ(w["spec"]["priority"], 7);
  EXPECT_EQ(w["spec"]["maximumExecutionTimeSeconds"], 60);
  EXPECT_EQ(w["spec"]["podSets"][0]["count"], 7);
  EXPECT_EQ(w["spec"]["podSets"][0]["minCount"], 2);
  EXPECT_EQ(w["status"]["admission"]["podSetAssignments"][0]["count"], 5) << "partial admission as usual";
}

// SG-29
TEST(Gates, AJobThatEndsWhileItIsGatedNeverGetsAWorkload) {
  Story s;
  s.job("j", gate(scheduling, "example.com/g"), "1", "parallelism: 1, completions: 0")
      .step()
      .patch("j",
             "{status: {startTime: '2026-01-01T00:00:10Z', completionTime: '2026-01-01T00:00:10Z', conditions: [{type: SuccessCriteriaMet, "
             "status: 'True'}, "
             "{type: Complete, status: 'True', message: done}]}}",
             "Job", true)
      .step()
      .release("j");
  const auto r = s.play();
  EXPECT_EQ(r.result.refused, Lines{});
  EXPECT_EQ(r.workloads("j").size(), 0U);
  EXPECT_EQ(r.count("CreatedWorkload"), 0U);
}

// SG-37
TEST(Gates, ReleasedAndUnsuspendedAtOnceTheJobIsSuspendedFirst) {
  Story s;
  s.job("j", gate(scheduling, "example.com/g"), "6")
      .step()
      .patch("j", "{metadata: {annotations: {kueue.x-k8s.io/scheduling-gated-by: null}}, spec: {suspend: false}}");
  const auto r = s.play();
  EXPECT_TRUE(r.job("j")["spec"]["suspend"].get<bool>());
  ASSERT_EQ(r.workloads("j").size(), 1U);
  EXPECT_EQ(Played::condition(r.workloads("j")[0], "QuotaReserved").substr(0, 22), "False/ExceedsMaxQuota:");

  Story running;  // its pods run on: no Workload before they have ended
  running.without_webhooks()
      .job("j", gate(scheduling, "example.com/g"))
      .step()
      .patch("j", "{status: {active: 1, startTime: '2026-01-01T00:00:10Z'}}", "Job", true)
      .step()
      .release("j");
  EXPECT_EQ(running.play().workloads("j").size(), 0U);
  EXPECT_EQ(running.step().patch("j", "{status: {active: 0}}", "Job", true).play().workloads("j").size(), 1U);
}

// SG-13, SG-40, SG-41, SG-44
TEST(Gates, AGateOnAJobThatIsNotManagedHasNoEffectUntilItIs) {
  Story s;
  s.job("j", gate(scheduling, "example.com/g"), "1", "parallelism: 1", "");
  const auto unmanaged = s.play();
  EXPECT_EQ(unmanaged.events, Lines{});
  const auto managed = s.step().patch("j", "{metadata: {labels: {kueue.x-k8s.io/queue-name: lq}}}").play();
  EXPECT_EQ(managed.events, Lines{"Job j SchedulingGated: Workload creation is gated by: example.com/g"});
  EXPECT_EQ(managed.workloads("j").size(), 0U);

  Story invalid;
  invalid.job("j", gate(scheduling, "nonsense"), "1", "parallelism: 1", "");
  EXPECT_EQ(invalid.play().result.refused.size(), 1U) << "it is validated all the same";

  Story all;
  all.configure(R"({"manageJobsWithoutQueueName": true, "featureGates": {"SchedulingGatedBy": true}})")
      .job("j", gate(scheduling, "example.com/g"), "1", "parallelism: 1", "");
  const auto without_name = all.play();
  EXPECT_TRUE(without_name.job("j")["spec"]["suspend"].get<bool>());
  EXPECT_EQ(without_name.events, Lines{"Job j SchedulingGated: Workload creation is gated by: example.com/g"});

  Story default_queue;
  default_queue
      .apply(
          "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: default, namespace: default}, spec: {clusterQueue: cq}}")
      .job("j", gate(scheduling, "example.com/g"), "1", "parallelism: 1", "");
  EXPECT_EQ(default_queue.play().job("j")["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], "default");
}

// SG-42
TEST(Gates, InANamespaceThatIsNotManagedAGateIsInert) {
  Story s;
  s.configure(R"({"managedJobsNamespaceSelector": {"matchLabels": {"batch": "yes"}}, "featureGates": {"SchedulingGatedBy": true}})")
      .without_webhooks()
      .job("j", gate(scheduling, "example.com/g"))
      .patch("j", "{spec: {suspend: false}}");
  const auto r = s.play();
  EXPECT_EQ(r.events, Lines{});
  EXPECT_FALSE(r.job("j")["spec"]["suspend"].get<bool>());
}

// SG-43, SG-45, SG-46
TEST(Gates, OnlyTheTopmostManagedOwnerIsAsked) {
  const std::string job_set =
      "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: set, namespace: default, labels: {kueue.x-k8s.io/queue-name: "
      "lq}, annotations: {" +
      gate(scheduling, "example.com/g") +
      "}}, spec: {suspend: true, replicatedJobs: [{name: w, replicas: 2, template: {spec: {parallelism: 1, completions: 1, template: "
      "{spec: "
      "{restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}}}]}}";
  Story s;
  s.apply(job_set);
  const auto gated = s.play();
  ASSERT_EQ(gated.result.refused, Lines{});
  EXPECT_EQ(gated.workloads("set", "JobSet").size(), 0U);
  const std::string uid = gated.cluster().find("JobSet", "default", "set")->uid;
  s.step()
      .job("child", gate(scheduling, "example.com/child"), "1", "parallelism: 1, completions: 1", "",
           ", ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: set, uid: " + uid + ", controller: true}]")
      .step()
      .patch("set", "{metadata: {annotations: {kueue.x-k8s.io/scheduling-gated-by: null}}}", "JobSet");
  const auto released = s.play();
  ASSERT_EQ(released.workloads("set", "JobSet").size(), 1U);
  EXPECT_EQ(Played::condition(released.workloads("set", "JobSet")[0], "Admitted"), "True/Admitted: The workload is admitted");
  EXPECT_EQ(released.count("Job child SchedulingGated"), 0U) << "a child's gate says nothing";

  Story cron;  // the CronJob is none of ours
  cron.job("run-1", gate(scheduling, "example.com/g"), "1", "parallelism: 1", "kueue.x-k8s.io/queue-name: lq",
           ", ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: run, uid: u-1, controller: true}]");
  EXPECT_EQ(cron.play().workloads("run-1").size(), 0U);
  EXPECT_EQ(cron.step().release("run-1").play().workloads("run-1").size(), 1U);
}

// SG-58
TEST(Gates, AWorkloadMadeBeforehandIsLeftAloneWhileTheJobIsGated) {
  const std::string made =
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: made, namespace: default}, spec: {active: true, queueName: "
      "lq, "
      "podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: "
      "{cpu: 1}}}]}}}]}}";
  Story s;
  s.apply(made).job("j", gate(scheduling, "example.com/g"), "1", "parallelism: 1, completions: 1",
                    "kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/prebuilt-workload-name: made");
  const auto gated = s.play();
  EXPECT_EQ(gated.workloads("j").size(), 0U) << "no ownership";
  EXPECT_TRUE(gated.job("j")["spec"]["suspend"].get<bool>());
  const auto released = s.step().release("j").play();
  EXPECT_EQ(released.workloads("j").size(), 1U);
  EXPECT_FALSE(released.job("j")["spec"]["suspend"].get<bool>());

  Story under_a;  // contract A: the job's gate holds for it, though it is not copied
  under_a.job("j", gate(admission_, "a.io/x"), "1", "parallelism: 1, completions: 1",
              "kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/prebuilt-workload-name: made");
  under_a.apply(made);
  const auto held = under_a.play();
  EXPECT_TRUE(held.job("j")["spec"]["suspend"].get<bool>());
  EXPECT_FALSE(under_a.step().release("j", admission_).play().job("j")["spec"]["suspend"].get<bool>());
}

// SG-38
TEST(Gates, AJobThatIsDeletedAtReleaseLeavesNothingBehind) {
  Story s;
  s.job("j", gate(scheduling, "example.com/g")).step().release("j").remove("j");
  const auto r = s.play();
  EXPECT_EQ(r.cluster().find("Job", "default", "j"), nullptr);
  for (const auto& [key, w] : r.cluster().store().of_kind("Workload")) ADD_FAILURE() << w->name;
}

// SG-36, SG-74, SG-75, SG-76, SG-77
TEST(Gates, E8TheLogHoldsTheHistoryAndEveryPrefixOfItLeadsToOneWorkload) {
  events::MemoryLog log;
  Story s;
  s.job("j", gate(scheduling, "example.com/g")).step().release("j");
  const auto r = s.play(&log);
  const std::uint64_t hash = r.result.state_hash;
  admission::LoopDriver driver(&events::read_settings);
  events::RecordReader reader;
  std::vector<std::string> story;
  std::size_t cleared_at = 0, requested = 0;
  events::RecordBatch batch;
  ASSERT_TRUE(log.read(1, {.records = 100'000}, batch).has_value());
  std::size_t n = 0;
  for (const auto stored : batch) {
    ++n;
    const auto record = reader.read(stored.bytes);
    ASSERT_TRUE(record.has_value());
    ASSERT_TRUE(driver.apply(**record).has_value());
    const auto* d = std::get_if<Decisions>(&(*record)->body);
    if (d == nullptr) continue;
    for (const auto& e : d->events) {
      if (const auto* g = std::get_if<GateChanged>(&e)) {
        story.emplace_back(g->value);
        if (g->change == GateChange::cleared) {
          cleared_at = n;
          // the state between the release and the Workload: whoever takes over now asks for it
          const auto step = driver.decide();
          ASSERT_TRUE(step.has_value());
          ASSERT_EQ(step->events.size(), 1U);
          EXPECT_TRUE(std::holds_alternative<WorkloadRequested>(step->events[0]));
        }
      }
      if (std::holds_alternative<WorkloadRequested>(e)) ++requested;
    }
  }
  EXPECT_EQ(story, (std::vector<std::string>{"example.com/g", "example.com/g"}));
  EXPECT_NE(cleared_at, 0U);
  EXPECT_EQ(requested, 1U);
  EXPECT_EQ(driver.state_hash(), hash);
}

// Many releases at one moment make one Workload each (of ten thousand: tests/admission/entities/gate_burst_test.cpp).
TEST(Gates, ABurstOfReleasesMakesEachWorkloadOnce) {
  constexpr int jobs = 200;
  Story s;
  for (int i = 0; i < jobs; ++i) s.job("j" + std::to_string(i), gate(scheduling, "example.com/g"), "10m");
  s.step();
  for (int i = 0; i < jobs; ++i) s.release("j" + std::to_string(i));
  const auto r = s.play();
  EXPECT_EQ(r.count("CreatedWorkload"), static_cast<std::size_t>(jobs));
  EXPECT_EQ(r.count("SchedulingGateCleared"), static_cast<std::size_t>(jobs));
  EXPECT_EQ(r.cluster().store().of_kind("Workload").size(), static_cast<std::size_t>(jobs));
}

}  // namespace
}  // namespace hindsight::simulation
