// What gates reach and what they leave alone: elastic jobs and their pods, parts of other jobs, other annotations; and what the log keeps
// of each change (6915 §3.A, §3.H, §3.L).

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "events/memory_log.hpp"
#include "events/record.hpp"
#include "tests/simulation/gate_story.hpp"
#include "tests/simulation/log_records.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* gate_of_elastic_pods = "kueue.x-k8s.io/elastic-job";

std::string held_by(const char* annotation, const std::string& value) { return std::string(annotation) + ": '" + value + "'"; }

std::string sized(const std::string& cpu, const std::string& more = "") {
  return "{" + more + "spec: {template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: '" + cpu + "'}}}]}}}}";
}

const Json& notes_of(const Json& object) {
  static const Json none = Json::object();
  const auto it = object["metadata"].find("annotations");
  return it == object["metadata"].end() ? none : *it;
}

const Json& requests_of(const Json& workload) {
  return workload["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"];
}

/// A pod of a job that waits behind the gate of elastic jobs.
std::string gated_pod(const std::string& name, const std::string& job, const std::string& uid) {
  return "{apiVersion: v1, kind: Pod, metadata: {name: " + name +
         ", namespace: default, labels: {kueue.x-k8s.io/podset: main}, annotations: {kueue.x-k8s.io/workload-slice-name: chain}, "
         "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: " +
         job + ", uid: " + uid +
         ", controller: true}]}, spec: {restartPolicy: Never, containers: [{name: c, image: i}], schedulingGates: [{name: " +
         gate_of_elastic_pods + "}]}, status: {phase: Pending}}";
}

/// The pods that still carry that gate.
Lines waiting_pods(const Played& p) {
  Lines out;
  for (const auto& [key, pod] : p.cluster().store().of_kind("Pod"))
    for (const auto& gate : pod->spec().value("schedulingGates", Json::array()))
      if (gate["name"] == gate_of_elastic_pods) out.push_back(pod->name);
  return out;
}

/// Calls see(event) for each decided event of this type; what it is given lives during the call only.
template <class E, class See>
void each_decided(const events::Log& log, See see) {
  each_record(log, [&](const RecordView& record) {
    if (const auto* d = std::get_if<Decisions>(&record.body))
      for (const Event& e : d->events)
        if (const auto* x = std::get_if<E>(&e)) see(*x);
  });
}

template <class E>
int times_decided(const events::Log& log) {
  int n = 0;
  each_decided<E>(log, [&n](const E&) { ++n; });
  return n;
}

// SG-48: a gated elastic job stays suspended, also when somebody unsuspends it, and pods that it has already stay behind their gate until
// the job is released and admitted; under either annotation
TEST(GateScope, PodsOfAGatedElasticJobWait) {
  for (const char* annotation : {scheduling, admission_}) {
    Story s;
    s.job("e", held_by(annotation, "example.com/g") + ", kueue.x-k8s.io/elastic-job: 'true'", "1", "parallelism: 2, completions: 20");
    const std::string uid = s.play().cluster().find("Job", "default", "e")->uid;
    s.step();
    for (const char* pod : {"p-1", "p-2", "p-3"}) s.apply(gated_pod(pod, "e", uid));
    s.step().patch("e", "{spec: {suspend: false}}");
    events::MemoryLog log;
    const auto held = s.step().play(&log);
    EXPECT_TRUE(held.job("e")["spec"]["suspend"].get<bool>()) << annotation;
    EXPECT_EQ(waiting_pods(held), (Lines{"p-1", "p-2", "p-3"})) << annotation;
    EXPECT_EQ(times_decided<PodsReleased>(log), 0) << annotation;
    EXPECT_EQ(times_decided<QuotaReserved>(log), 0) << annotation;
    const auto released = s.release("e", annotation).step().play();
    EXPECT_FALSE(released.job("e")["spec"]["suspend"].get<bool>()) << annotation;
    EXPECT_EQ(waiting_pods(released), Lines{"p-3"}) << annotation << ": as many as were admitted";
  }
}

// SG-51, EJ-15: the templates of an elastic job that change while it is gated are those of its slice, though names and counts are the same
TEST(GateScope, AGatedElasticJobsTemplateIsFollowed) {
  Story held;  // its Workload is there already
  held.job("e", held_by(admission_, "a.io/x") + ", kueue.x-k8s.io/elastic-job: 'true'", "1", "parallelism: 2, completions: 20");
  const auto before = held.play().workloads("e").at(0);
  ASSERT_EQ(requests_of(before), Json::parse(R"({"cpu":"1"})"));
  const auto changed = held.step().patch("e", sized("2")).play();
  ASSERT_EQ(changed.result.refused, Lines{});
  ASSERT_EQ(changed.workloads("e").size(), 1U);
  const auto after = changed.workloads("e")[0];
  EXPECT_EQ(requests_of(after), Json::parse(R"({"cpu":"2"})"));
  EXPECT_EQ(after["metadata"]["uid"], before["metadata"]["uid"]) << "nothing was reserved: the same Workload";
  EXPECT_EQ(after["spec"]["podSets"][0]["count"], 2);
  EXPECT_EQ(notes_of(after)[admission_], "a.io/x") << "still gated";
  const auto open = held.step().release("e", admission_).play();
  ASSERT_EQ(open.workloads("e").size(), 1U);
  EXPECT_EQ(open.workloads("e")[0]["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]["cpu"], "4");

  Story unmade;  // there is no Workload yet
  unmade.job("e", held_by(scheduling, "a.io/x") + ", kueue.x-k8s.io/elastic-job: 'true'", "1", "parallelism: 2, completions: 20");
  const auto made = unmade.step().patch("e", sized("2")).step().release("e").play();
  ASSERT_EQ(made.workloads("e").size(), 1U);
  EXPECT_EQ(requests_of(made.workloads("e")[0]), Json::parse(R"({"cpu":"2"})"));
  EXPECT_EQ(made.workloads("e")[0]["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]["cpu"], "4");
}

// SG-91: outside validation and the creation of a job's Workload nothing looks at scheduling-gated-by: on queues, flavors, classes, a
// Workload of its own, a pod template or a pod it is an annotation like any other
TEST(GateScope, OnEverythingButAJobTheAnnotationSaysNothing) {
  const auto played = [](const std::string& annotation) {
    const std::string noted = annotation + ": example.com/g";
    const std::string note = "{metadata: {annotations: {" + noted + "}}}";
    Story s;
    s.apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high, annotations: {" + noted +
            "}}, value: 9}");
    s.patch("cq", note, "ClusterQueue").patch("lq", note, "LocalQueue").patch("default", note, "ResourceFlavor");
    s.apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: own, namespace: default, annotations: {" + noted +
            "}}, spec: {queueName: lq, podSets: [{name: main, count: 1, template: {metadata: {annotations: {" + noted +
            "}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}]}}");
    s.apply(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: plain, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq, "
        "kueue.x-k8s.io/priority-class: high}}, spec: {suspend: true, parallelism: 2, completions: 2, template: {metadata: {annotations: "
        "{" +
        noted + "}}, spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}}");
    s.apply("{apiVersion: v1, kind: Pod, metadata: {name: alone, namespace: default, annotations: {" + noted +
            "}}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}");
    s.step().job("waits", "", "4").step().patch("own", "{metadata: {annotations: {" + annotation + ": null}}}", "Workload");
    return s.step().play();
  };
  const auto with = played(scheduling), without = played("example.com/note");
  EXPECT_EQ(with.result.refused, Lines{});
  EXPECT_EQ(with.result.states, without.result.states);
  EXPECT_EQ(with.events, without.events);
  EXPECT_EQ(with.count("Gate"), 0U);
  EXPECT_EQ(Played::condition(with.cluster().find("Workload", "default", "own")->object, "Admitted"),
            "True/Admitted: The workload is admitted");
  EXPECT_FALSE(with.job("plain")["spec"]["suspend"].get<bool>());
}

// SG-91: no definition and no field of the API knows of it
TEST(GateScope, NoDefinitionNamesTheAnnotation) {
  std::size_t definitions = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HINDSIGHT_CRDS)) {
    if (entry.path().extension() != ".yaml") continue;
    ++definitions;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    ASSERT_NE(text.str().find("CustomResourceDefinition"), std::string::npos) << entry.path();
    for (const char* name : {"scheduling-gated-by", "schedulingGatedBy", "SchedulingGatedBy"})
      EXPECT_EQ(text.str().find(name), std::string::npos) << entry.path() << " " << name;
  }
  EXPECT_EQ(definitions, 11U) << "Kueue's, and none of ours";
}

// SG-57: what is said of partial admission is judged when the job is created, gated or not, together with what is said of the gate
TEST(GateScope, PartialAdmissionIsJudgedAtCreation) {
  const std::string wrong = "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: \"9\": should be between 0 and 7";
  const auto refusal = [&](const std::string& gate) {
    Story s;
    s.job("j", gate + "kueue.x-k8s.io/job-min-parallelism: '9'", "1", "parallelism: 8, completions: 8");
    const auto r = s.play();
    EXPECT_EQ(r.cluster().find("Job", "default", "j"), nullptr);
    return r.result.refused.size() == 1 ? r.result.refused[0] : std::string();
  };
  const std::string plain = refusal(""), gated = refusal(held_by(scheduling, "example.com/g") + ", ");
  EXPECT_NE(plain.find(wrong), std::string::npos) << plain;
  EXPECT_EQ(gated, plain);
  const std::string both = refusal(held_by(scheduling, "nonsense") + ", ");
  EXPECT_NE(both.find(wrong), std::string::npos) << both;
  EXPECT_NE(both.find("must be a domain-prefixed path (such as \"acme.io/foo\")"), std::string::npos) << both;
}

// SG-43: the gates of a job are not copied to its parts, neither to the templates of which other controllers make them nor by its start; on
// a part they are judged, and say nothing
TEST(GateScope, GatesAreNotPassedOnToParts) {
  const std::string both = held_by(scheduling, "s.io/x") + ", " + held_by(admission_, "a.io/x");
  const std::string job_set =
      "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: set, namespace: default, labels: {kueue.x-k8s.io/queue-name: "
      "lq}, annotations: {" +
      both +
      "}}, spec: {suspend: true, replicatedJobs: [{name: w, replicas: 1, template: {spec: {parallelism: 1, completions: 1, template: "
      "{spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}}}]}}";
  Story s;
  s.apply(job_set).job("j", both);
  const auto gated = s.play();
  ASSERT_EQ(gated.result.refused, Lines{});
  const std::string uid = gated.cluster().find("JobSet", "default", "set")->uid;
  const auto owner =
      ", ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: set, uid: " + uid + ", controller: true}]";
  const char* none = "{metadata: {annotations: {kueue.x-k8s.io/scheduling-gated-by: null, kueue.x-k8s.io/admission-gated-by: null}}}";
  s.step().job("child", both, "1", "parallelism: 1, completions: 1", "", owner);
  s.step().patch("set", none, "JobSet").patch("j", none).step();
  const auto open = s.play();
  ASSERT_EQ(open.result.refused, Lines{});
  ASSERT_EQ(Played::condition(open.workloads("set", "JobSet").at(0), "Admitted"), "True/Admitted: The workload is admitted");
  EXPECT_TRUE(open.workloads("child").empty());
  for (const auto& line : open.events) EXPECT_EQ(line.find("Job child"), std::string::npos) << line;

  const auto& set = open.cluster().find("JobSet", "default", "set")->object;
  ASSERT_FALSE(set["spec"]["suspend"].get<bool>());
  const Json& part = set["spec"]["replicatedJobs"][0]["template"];
  for (const Json* object : {&part, &part["spec"]["template"], &open.job("j")["spec"]["template"]})
    for (const char* annotation : {scheduling, admission_})
      if (object->contains("metadata")) {
        EXPECT_FALSE(notes_of(*object).contains(annotation)) << *object;
      }

  Story wrong = s;
  wrong.job("other", held_by(scheduling, "nonsense"), "1", "parallelism: 1, completions: 1", "", owner);
  const auto refused = wrong.play().result.refused;
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_NE(refused[0].find("must be a domain-prefixed path (such as \"acme.io/foo\")"), std::string::npos) << refused[0];
}

/// A job of each kind that is integrated, with one cpu to ask for in all.
std::string job_of_kind(const std::string& kind, const std::string& annotation) {
  const std::string metadata =
      "metadata: {name: x, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq}, annotations: {" + annotation + "}}";
  const auto pod = [](const char* cpu) {
    return "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: " + std::string(cpu) +
           "}}}]}}";
  };
  const std::string cluster = "headGroupSpec: {" + pod("500m") + "}, workerGroupSpecs: [{groupName: w, replicas: 1, minReplicas: 1, " +
                              "maxReplicas: 1, " + pod("500m") + "}]";
  if (kind == "Job")
    return "{apiVersion: batch/v1, kind: Job, " + metadata + ", spec: {suspend: true, parallelism: 1, completions: 1, " + pod("1") + "}}";
  if (kind == "JobSet")
    return "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, " + metadata +
           ", spec: {suspend: true, replicatedJobs: [{name: w, replicas: 1, template: {spec: {parallelism: 1, completions: 1, " + pod("1") +
           "}}}]}}";
  if (kind == "RayCluster") return "{apiVersion: ray.io/v1, kind: RayCluster, " + metadata + ", spec: {suspend: true, " + cluster + "}}";
  return "{apiVersion: ray.io/v1, kind: RayJob, " + metadata + ", spec: {suspend: true, submissionMode: HTTPMode, entrypoint: run, " +
         "shutdownAfterJobFinishes: true, rayClusterSpec: {" + cluster + "}}}";
}

// SG-46, SG-86: the two generic checks, of every kind and under either annotation: not admitted while gated, and admitted once released
TEST(GateScope, EveryKindIsHeldBackAndReleased) {
  for (const char* kind : {"Job", "JobSet", "RayCluster", "RayJob"})
    for (const char* annotation : {scheduling, admission_}) {
      const std::string which = std::string(kind) + " " + annotation;
      const bool has_workload = annotation == admission_;
      Story s;
      s.apply(job_of_kind(kind, held_by(annotation, "a.io/x"))).step();
      const auto held = s.play();
      ASSERT_EQ(held.result.refused, Lines{}) << which;
      ASSERT_EQ(held.workloads("x", kind).size(), has_workload ? 1U : 0U) << which;
      EXPECT_EQ(held.count("QuotaReserved: "), 0U) << which;
      EXPECT_TRUE(held.cluster().find(kind, "default", "x")->spec()["suspend"].get<bool>()) << which;
      const Json& queue = held.result.states["states"][1]["clusterQueues"]["cq"];
      EXPECT_EQ(queue["flavorsReservation"]["default"]["cpu"][0], "0") << which;
      EXPECT_EQ(queue["reserving"], 0) << which;
      if (has_workload) {
        EXPECT_EQ(Played::condition(held.workloads("x", kind)[0], "QuotaReserved"), "False/AdmissionGated: Admission is gated by: a.io/x");
      }

      const auto open = s.patch("x", std::string("{metadata: {annotations: {") + annotation + ": null}}}", kind).step().play();
      ASSERT_EQ(open.result.refused, Lines{}) << which;
      ASSERT_EQ(open.workloads("x", kind).size(), 1U) << which;
      EXPECT_EQ(Played::condition(open.workloads("x", kind)[0], "Admitted"), "True/Admitted: The workload is admitted") << which;
      EXPECT_FALSE(open.cluster().find(kind, "default", "x")->spec()["suspend"].get<bool>()) << which;
      EXPECT_EQ(open.result.states["states"][1]["clusterQueues"]["cq"]["flavorsReservation"]["default"]["cpu"][0], "1") << which;
    }
}

/// "admission shrunk b.io/y generation 2 since 0" of each change, and whom it is about.
Lines gate_lines(const events::Log& log, const Played& p, const std::string& job) {
  constexpr const char* contracts[] = {"scheduling", "admission"};
  constexpr const char* changes[] = {"observed", "shrunk", "cleared", "ignored"};
  const std::string uid = p.cluster().find("Job", "default", job)->uid;
  Lines out;
  each_decided<GateChanged>(log, [&](const GateChanged& e) {
    EXPECT_EQ(e.job.uid, uid);
    EXPECT_EQ(e.job.name, job);
    const bool of_job = e.contract == GateContract::scheduling;
    EXPECT_EQ(e.workload.uid, of_job ? "" : p.workloads(job).at(0)["metadata"]["uid"].get<std::string>());
    const auto since = (e.since - connectors::simulated::virtual_start).micros / 1'000'000;
    out.push_back(std::string(contracts[static_cast<std::size_t>(e.contract)]) + " " + changes[static_cast<std::size_t>(e.change)] + " " +
                  std::string(e.value) + " generation " + std::to_string(e.job_generation) + " since " + std::to_string(since));
  });
  return out;
}

// SG-74: the log tells of each change which contract, whose job in which generation, what is left and since when; the Workload is asked for
// after the release and not before
TEST(GateScope, TheLogTellsEachChangeOfAGate) {
  Story s;  // past the webhooks its value can change, too
  s.without_webhooks().step().job("j", held_by(scheduling, "a.io/x"));
  s.step().patch("j", "{metadata: {annotations: {" + held_by(scheduling, "b.io/x") + "}}, spec: {parallelism: 2}}");
  s.step().patch("j", "{metadata: {annotations: {kueue.x-k8s.io/scheduling-gated-by: null}}, spec: {parallelism: 1}}");
  events::MemoryLog log;
  const auto p = s.step().play(&log);
  EXPECT_EQ(gate_lines(log, p, "j"),
            (Lines{"scheduling observed a.io/x generation 1 since 10", "scheduling shrunk b.io/x generation 2 since 10",
                   "scheduling cleared b.io/x generation 3 since 10"}));
  std::vector<std::int64_t> requested;
  each_decided<WorkloadRequested>(log, [&](const WorkloadRequested& e) { requested.push_back(e.job_generation); });
  EXPECT_EQ(requested, std::vector<std::int64_t>{3});
  bool cleared = false;
  for (const auto& line : p.events_of("Job j")) {
    cleared = cleared || line.find("SchedulingGateCleared") != std::string::npos;
    if (line.find("CreatedWorkload") != std::string::npos) {
      EXPECT_TRUE(cleared) << line;
    }
  }

  Story a;
  a.step().job("j", held_by(admission_, "a.io/x,b.io/y"));
  a.step().patch("j", sized("2", "metadata: {annotations: {" + held_by(admission_, "b.io/y") + "}}, "));
  events::MemoryLog of_a;
  const auto q = a.step().release("j", admission_).step().play(&of_a);
  EXPECT_EQ(gate_lines(of_a, q, "j"),
            (Lines{"admission observed a.io/x,b.io/y generation 1 since 10", "admission shrunk b.io/y generation 2 since 10",
                   "admission cleared b.io/y generation 2 since 10"}));
}

}  // namespace
}  // namespace hindsight::simulation
