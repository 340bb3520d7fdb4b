// The Workload of a job, and its revision after the job changed.

#include <gtest/gtest.h>

#include "connectors/objects/plan.hpp"
#include "connectors/objects/resource_types.hpp"
#include "tests/connectors/objects/applying.hpp"
#include "tests/connectors/objects/observing.hpp"

namespace hindsight::connectors {
namespace {

using admission::OptionCreateIntent;
using admission::WorkloadCreateIntent;
using admission::WorkloadReviseIntent;

Json job() {
  return Json::parse(R"({"apiVersion":"batch/v1","kind":"Job",
    "metadata":{"name":"j","namespace":"ns","uid":"78d1e61a","generation":1,
      "labels":{"kueue.x-k8s.io/queue-name":"lq","team":"a","other":"b"},
      "annotations":{"provreq.kueue.x-k8s.io/ValidUntilSeconds":"0","note":"x","kueue.x-k8s.io/job-min-parallelism":"2",
        "kueue.x-k8s.io/admission-gated-by":"example.com/g"}},
    "spec":{"parallelism":5,"completions":4,"suspend":true,"template":{
      "metadata":{"creationTimestamp":null,"name":"ignored","annotations":{"kueue.x-k8s.io/podset-required-topology":"rack"},
        "labels":{"app":"a","batch.kubernetes.io/controller-uid":"78d1e61a","batch.kubernetes.io/job-name":"j","controller-uid":"78d1e61a","job-name":"j"}},
      "spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i:1","resources":{"requests":{"cpu":"1"}},
        "env":[{"name":"A","value":"1"},{"name":"B","value":"2"},{"name":"A","value":"3"}]}]}}}})");
}

WorkloadCreateIntent create() {
  WorkloadCreateIntent out;
  out.job_uid = "78d1e61a";
  out.job_kind = "Job";
  out.job_group = "batch";
  out.namespace_ = "ns";
  out.job_name = "j";
  out.name = "job-j-12345";
  out.queue_name = "lq";
  out.priority = 100;
  out.priority_class_kind = PriorityClassKind::workload_priority_class;
  out.priority_class = "high";
  out.max_exec_seconds = 60;
  out.admission_gated_by = "example.com/g";
  return out;
}

// BA-173, base-api §3; without a finalizer (D16)
TEST(PlanCreate, MakesTheWorkloadOfAJob) {
  const auto write = plan_create(create(), job(), {true, true, {"team", "absent"}, {}});
  ASSERT_TRUE(write);
  EXPECT_EQ(write->verb, Write::Verb::create);
  EXPECT_EQ(write->type, &types::workload);
  EXPECT_EQ(write->namespace_, "ns");
  EXPECT_EQ(write->name, "job-j-12345");
  EXPECT_EQ(Json::parse(write->body), Json::parse(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
    "metadata":{"name":"job-j-12345","namespace":"ns",
      "labels":{"kueue.x-k8s.io/job-uid":"78d1e61a","team":"a"},
      "annotations":{"provreq.kueue.x-k8s.io/ValidUntilSeconds":"0","kueue.x-k8s.io/admission-gated-by":"example.com/g"},
      "ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"78d1e61a","controller":true,"blockOwnerDeletion":true}]},
    "spec":{"queueName":"lq","priority":100,"maximumExecutionTimeSeconds":60,
      "priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"high"},
      "podSets":[{"name":"main","count":4,"minCount":2,
        "topologyRequest":{"required":"rack","podIndexLabel":"batch.kubernetes.io/job-completion-index"},
        "template":{"metadata":{"labels":{"app":"a"},"annotations":{"kueue.x-k8s.io/podset-required-topology":"rack"}},
          "spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i:1","resources":{"requests":{"cpu":"1"}},
            "env":[{"name":"A","value":"3"},{"name":"B","value":"2"}]}]}}}]}})"));
}

// BA-173: the Workload matches the job that it was made from, also after the server's defaulting.
TEST(PlanCreate, MakesPodSetsThatReadLikeTheJobs) {
  const auto write = plan_create(create(), job());
  ASSERT_TRUE(write);
  auto stored = Json::parse(write->body);
  auto& spec = stored["spec"]["podSets"][0]["template"]["spec"];
  spec["dnsPolicy"] = "ClusterFirst";
  spec["containers"][0]["imagePullPolicy"] = "IfNotPresent";
  Arena arena;
  const auto w = observed<WorkloadObserved>(types::workload, stored.dump(), arena);
  const auto j = observed<JobObserved>(types::job, job().dump(), arena);
  ASSERT_EQ(w.pod_sets.size(), j.pod_sets.size());
  EXPECT_EQ(w.pod_sets[0].name, j.pod_sets[0].name);
  EXPECT_EQ(w.pod_sets[0].count, j.pod_sets[0].count);
  EXPECT_EQ(w.pod_sets[0].min_count, j.pod_sets[0].min_count);
  EXPECT_EQ(w.pod_sets[0].template_hash, j.pod_sets[0].template_hash);
  EXPECT_EQ(w.pod_sets[0].core_hash, j.pod_sets[0].core_hash);
  EXPECT_EQ(w.pod_sets[0].shape_hash, j.pod_sets[0].shape_hash);
  EXPECT_EQ(w.pod_sets[0].required_topology, j.pod_sets[0].required_topology);
  EXPECT_EQ(w.owner_uid, "78d1e61a");
  EXPECT_EQ(w.max_exec_seconds, 60);
}

// base-api §3, minCount: the definition takes 1 to count, and nothing else would make the Workload of such a job.
TEST(PlanCreate, ALeastCountThatTheDefinitionRefusesIsLeftOut) {
  for (const char* least : {"1", "4", "5", "0", "-2", "2147483647", "2147483648"}) {
    auto object = job();
    object["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] = least;
    const auto write = plan_create(create(), object);
    ASSERT_TRUE(write) << least;
    const auto pod_set = Json::parse(write->body)["spec"]["podSets"][0];
    if (pod_set.contains("minCount")) {
      EXPECT_GE(pod_set["minCount"], 1) << least;
      EXPECT_LE(pod_set["minCount"], pod_set["count"]) << least;
    }
    EXPECT_EQ(pod_set.contains("minCount"), std::string_view(least) == "1" || std::string_view(least) == "4") << least;
    Arena arena;
    const auto j = observed<JobObserved>(types::job, object.dump(), arena);
    EXPECT_EQ(j.pod_sets[0].min_count.has_value(), pod_set.contains("minCount")) << least << ": the state says the same of it";
  }
}

TEST(PlanCreate, LeavesOutWhatThereIsNot) {
  auto intent = create();
  intent.job_uid = "not a label value!";
  intent.queue_name = "";
  intent.priority_class_kind = PriorityClassKind::none;
  intent.max_exec_seconds.reset();
  intent.admission_gated_by = "";
  auto plain = job();
  plain["metadata"].erase("annotations");
  plain["spec"]["template"].erase("metadata");
  const auto body = Json::parse(plan_create(intent, plain)->body);
  EXPECT_FALSE(body["metadata"].contains("labels"));
  EXPECT_FALSE(body["metadata"].contains("annotations"));
  for (const auto* key : {"queueName", "priorityClassRef", "maximumExecutionTimeSeconds"}) EXPECT_FALSE(body["spec"].contains(key)) << key;
  EXPECT_FALSE(body["spec"]["podSets"][0].contains("minCount"));
  EXPECT_FALSE(body["spec"]["podSets"][0]["template"].contains("metadata"));
  PlanSettings off;
  off.partial_admission = off.topologies = false;
  for (const auto* key : {"minCount", "topologyRequest"})
    EXPECT_FALSE(Json::parse(plan_create(create(), job(), off)->body)["spec"]["podSets"][0].contains(key)) << key;
}

// TAS-46: where its pods stand among the others is said also of a job that asks for no topology; of a kind without index labels nothing is.
TEST(PlanCreate, TheIndexLabelIsNamedWithoutATopology) {
  auto plain = job();
  plain["spec"]["template"].erase("metadata");
  EXPECT_EQ(Json::parse(plan_create(create(), plain)->body)["spec"]["podSets"][0]["topologyRequest"],
            Json::parse(R"({"podIndexLabel":"batch.kubernetes.io/job-completion-index"})"));
  auto intent = create();
  intent.job_kind = "RayCluster";
  intent.job_group = "ray.io";
  const auto cluster = Json::parse(R"({"metadata":{"name":"j","namespace":"ns","uid":"78d1e61a"},"spec":{
    "headGroupSpec":{"template":{"spec":{"containers":[]}}}}})");
  EXPECT_FALSE(Json::parse(plan_create(intent, cluster)->body)["spec"]["podSets"][0].contains("topologyRequest"));
}

TEST(PlanCreate, CopiesOnlyAnElasticMarkThatMeansSomething) {
  auto elastic = job();
  elastic["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] = "true";
  EXPECT_EQ(Json::parse(plan_create(create(), elastic)->body)["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"], "true");
  elastic["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] = "1";
  EXPECT_FALSE(Json::parse(plan_create(create(), elastic)->body)["metadata"]["annotations"].contains("kueue.x-k8s.io/elastic-job"));
}

// BA-169
TEST(PlanCreate, MakesOnePodSetForEachReplicatedJob) {
  auto intent = create();
  intent.job_kind = "JobSet";
  intent.job_group = "jobset.x-k8s.io";
  const auto set = Json::parse(R"({"metadata":{"name":"j","namespace":"ns","uid":"78d1e61a"},"spec":{"replicatedJobs":[
    {"name":"leader","template":{"spec":{"template":{"spec":{"containers":[]}}}}},
    {"name":"workers","replicas":3,"template":{"spec":{"parallelism":2,"template":{
      "metadata":{"annotations":{"kueue.x-k8s.io/podset-unconstrained-topology":"true","kueue.x-k8s.io/podset-group-name":"g",
        "kueue.x-k8s.io/podset-slice-required-topology":"host","kueue.x-k8s.io/podset-slice-size":"2"}},
      "spec":{"containers":[]}}}}}]}})");
  const auto body = Json::parse(plan_create(intent, set)->body);
  EXPECT_EQ(body["metadata"]["ownerReferences"][0]["apiVersion"], "jobset.x-k8s.io/v1alpha2");
  const auto& pod_sets = body["spec"]["podSets"];
  ASSERT_EQ(pod_sets.size(), 2U);
  EXPECT_EQ(pod_sets[0]["name"], "leader");
  EXPECT_EQ(pod_sets[0]["count"], 1);
  EXPECT_EQ(pod_sets[0]["topologyRequest"], Json::parse(R"({"podIndexLabel":"batch.kubernetes.io/job-completion-index",
      "subGroupIndexLabel":"jobset.sigs.k8s.io/job-index","subGroupCount":1})"));
  EXPECT_EQ(pod_sets[1]["count"], 6);
  EXPECT_EQ(pod_sets[1]["topologyRequest"], Json::parse(R"({"unconstrained":true,"podSetGroupName":"g",
      "podIndexLabel":"batch.kubernetes.io/job-completion-index","subGroupIndexLabel":"jobset.sigs.k8s.io/job-index","subGroupCount":3,
      "podSetSliceRequiredTopology":"host","podSetSliceSize":2})"));
}

TEST(PlanCreate, NamesAKindThatNoIntegrationKnows) {
  auto intent = create();
  intent.job_kind = "CronJob";
  const auto write = plan_create(intent, job());
  ASSERT_FALSE(write);
  EXPECT_EQ(write.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(write.error().message, "CronJob ns/j: no integration for kind CronJob of group \"batch\"");
}

// ---- revision ---------------------------------------------------------------------------------------------------------------

WorkloadReviseIntent revise() {
  const auto c = create();
  WorkloadReviseIntent out;
  out.uid = "w";
  out.namespace_ = c.namespace_;
  out.name = c.name;
  out.job_uid = c.job_uid;
  out.job_kind = c.job_kind;
  out.job_group = c.job_group;
  out.job_name = c.job_name;
  out.queue_name = c.queue_name;
  out.priority = c.priority;
  out.priority_class_kind = c.priority_class_kind;
  out.priority_class = c.priority_class;
  out.max_exec_seconds = c.max_exec_seconds;
  return out;
}

Json stored_workload() {
  auto out = Json::parse(plan_create(create(), job())->body);
  out["metadata"]["uid"] = "w";
  out["metadata"]["resourceVersion"] = "3";
  out["spec"]["active"] = false;
  out["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["terminationMessagePolicy"] = "File";
  return out;
}

/// Settles and gives the number of writes.
int settle_revision(Json& object, const WorkloadReviseIntent& intent, const Json& from) {
  return settle(object, [&](const Json& o) {
    auto writes = plan_revise(intent, o, from);
    EXPECT_TRUE(writes);
    return writes ? *writes : std::vector<Write>{};
  });
}

TEST(PlanRevise, WritesNothingThatIsTrueAlready) {
  auto object = stored_workload();
  auto intent = revise();
  intent.pod_sets = true;
  EXPECT_EQ(settle_revision(object, intent, job()), 0);
}

// MR-62: the same Workload follows its job and stays deactivated.
TEST(PlanRevise, TakesThePodSetsOfTheChangedJob) {
  auto object = stored_workload();
  auto changed = job();
  changed["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "2";
  EXPECT_EQ(settle_revision(object, revise(), changed), 0) << "without pod_sets the templates stay";
  auto intent = revise();
  intent.pod_sets = true;
  EXPECT_EQ(settle_revision(object, intent, changed), 1);
  EXPECT_EQ(object["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"], "2");
  EXPECT_EQ(object["spec"]["active"], false);

  changed["spec"]["parallelism"] = 3;
  EXPECT_EQ(settle_revision(object, intent, changed), 1);
  EXPECT_EQ(object["spec"]["podSets"][0]["count"], 3);
}

// SG-62
TEST(PlanRevise, CarriesQueueAndGateInOneWrite) {
  auto object = stored_workload();
  auto intent = revise();
  EXPECT_EQ(settle_revision(object, intent, job()), 0) << "an intent that says nothing of the gate leaves it";
  intent.queue_name = "other";
  intent.admission_gated_by = "";
  const auto writes = plan_revise(intent, object, job());
  ASSERT_TRUE(writes);
  ASSERT_EQ(writes->size(), 1U);
  EXPECT_EQ(Json::parse(writes->front().body), Json::parse(R"({"metadata":{"uid":"w","resourceVersion":"3",
      "annotations":{"kueue.x-k8s.io/admission-gated-by":null}},"spec":{"queueName":"other"}})"));
  EXPECT_EQ(settle_revision(object, intent, job()), 1);
  intent.admission_gated_by = "example.com/h";
  EXPECT_EQ(settle_revision(object, intent, job()), 1);
  EXPECT_EQ(object["metadata"]["annotations"]["kueue.x-k8s.io/admission-gated-by"], "example.com/h");
}

// BA-150
TEST(PlanRevise, FollowsPriorityAndExecutionTime) {
  auto object = stored_workload();
  auto intent = revise();
  intent.job_uid = "";  // a Workload without a job in the mirror
  intent.priority = -1;
  intent.priority_class_kind = PriorityClassKind::pod_priority_class;
  intent.priority_class = "pods";
  intent.max_exec_seconds.reset();
  EXPECT_EQ(settle_revision(object, intent, Json::object()), 1);
  EXPECT_EQ(object["spec"]["priority"], -1);
  EXPECT_EQ(object["spec"]["priorityClassRef"], Json::parse(R"({"group":"scheduling.k8s.io","kind":"PriorityClass","name":"pods"})"));
  EXPECT_FALSE(object["spec"].contains("maximumExecutionTimeSeconds"));
  EXPECT_EQ(object["metadata"]["annotations"]["kueue.x-k8s.io/admission-gated-by"], "example.com/g");
  intent.priority_class_kind = PriorityClassKind::none;
  EXPECT_EQ(settle_revision(object, intent, Json::object()), 1);
  EXPECT_FALSE(object["spec"].contains("priorityClassRef"));
}

// ---- Options ----------------------------------------------------------------------------------------------------------------

Json parent() {
  auto out = Json::parse(plan_create(create(), job(), {true, true, {"team"}, {}})->body);
  out["metadata"]["uid"] = "parent-uid";
  out["metadata"]["resourceVersion"] = "4";
  out["metadata"]["labels"]["kueue.x-k8s.io/concurrent-admission-parent"] = "true";
  out["metadata"]["labels"]["kueue.x-k8s.io/multikueue-origin"] = "multikueue";
  out["metadata"]["annotations"]["kueue.x-k8s.io/parent-option"] = "true";
  out["metadata"]["annotations"]["hindsight.dev/resource-plan"] = "{}";
  out["spec"]["active"] = true;
  out["spec"]["preemptionGates"] = Json::parse(R"([{"name":"other"},{"name":"kueue.x-k8s.io/concurrent-admission"}])");
  out["status"]["conditions"] = Json::array();
  return out;
}

OptionCreateIntent create_option() {
  OptionCreateIntent out;
  out.parent_uid = "parent-uid";
  out.namespace_ = "ns";
  out.parent_name = "job-j-12345";
  out.name = "job-j-12345-option-spot";
  out.flavors = {"spot", "default-cpu"};
  return out;
}

// CA-5, CA-12, CA-58, CA-111 (8691 §2.5, §2.6): the Parent's wishes, without finalizer, markers and lower bounds
TEST(PlanCreateOption, CopiesTheParent) {
  const auto write = plan_create_option(create_option(), parent());
  EXPECT_EQ(write.verb, Write::Verb::create);
  EXPECT_EQ(write.type, &types::workload);
  EXPECT_EQ(write.namespace_, "ns");
  EXPECT_EQ(write.name, "job-j-12345-option-spot");
  auto pod_set = parent()["spec"]["podSets"][0];
  ASSERT_EQ(pod_set["minCount"], 2);
  pod_set.erase("minCount");
  auto expected = Json::parse(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
    "metadata":{"name":"job-j-12345-option-spot","namespace":"ns","labels":{"kueue.x-k8s.io/job-uid":"78d1e61a","team":"a"},
      "annotations":{"provreq.kueue.x-k8s.io/ValidUntilSeconds":"0","kueue.x-k8s.io/admission-gated-by":"example.com/g",
        "kueue.x-k8s.io/workload-allowed-resource-flavors":"spot,default-cpu"},
      "ownerReferences":[{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","name":"job-j-12345","uid":"parent-uid",
        "controller":true,"blockOwnerDeletion":true}]},
    "spec":{"queueName":"lq","priority":100,"maximumExecutionTimeSeconds":60,
      "priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"high"},
      "preemptionGates":[{"name":"kueue.x-k8s.io/concurrent-admission"},{"name":"other"}],
      "admissionConstraints":{"allowedResourceFlavors":["spot","default-cpu"]}}})");
  expected["spec"]["podSets"] = Json::array({pod_set});
  EXPECT_EQ(Json::parse(write.body), expected);
}

// CA-5, CA-9
TEST(PlanCreateOption, LeavesOutWhatTheParentHasNot) {
  const auto bare = Json::parse(R"({"metadata":{"name":"job-j-12345","namespace":"ns","uid":"parent-uid"},
    "spec":{"podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[]}}}]}})");
  auto intent = create_option();
  intent.active = false;
  const auto body = Json::parse(plan_create_option(intent, bare).body);
  EXPECT_FALSE(body["metadata"].contains("labels"));
  EXPECT_FALSE(body.contains("status"));
  EXPECT_EQ(body["spec"], Json::parse(R"({"active":false,"podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[]}}}],
      "preemptionGates":[{"name":"kueue.x-k8s.io/concurrent-admission"}],
      "admissionConstraints":{"allowedResourceFlavors":["spot","default-cpu"]}})"));
}

// CA-8, CA-10: what is made reads as what was asked for, also of a Parent with constraints of its own, which the intent has taken in
TEST(PlanCreateOption, ReadsAsAnOptionOfItsParent) {
  auto narrow = parent();
  narrow["spec"]["admissionConstraints"]["allowedResourceFlavors"] = {"spot", "default-cpu", "res"};
  narrow["metadata"]["annotations"]["kueue.x-k8s.io/workload-allowed-resource-flavors"] = "spot,res";
  const auto body = plan_create_option(create_option(), narrow).body;
  Arena arena;
  const auto w = observed<WorkloadObserved>(types::workload, body, arena);
  EXPECT_EQ(w.owner_uid, "parent-uid");
  EXPECT_EQ(w.owner_kind, "Workload");
  EXPECT_FALSE(w.parent_marked);
  EXPECT_FALSE(w.meta.in_use_finalizer);
  EXPECT_TRUE(w.constrained);
  EXPECT_EQ(joined(w.allowed_flavors), "spot default-cpu");
  EXPECT_FALSE(w.pod_sets[0].min_count);
  ASSERT_EQ(w.preemption_gates.size(), 2U);
  EXPECT_FALSE(w.preemption_gates[0].open);

  const auto option = Json::parse(body);
  EXPECT_TRUE(is_option_of(option, "parent-uid"));
  EXPECT_FALSE(is_option_of(option, "another"));
  EXPECT_FALSE(is_option_of(stored_workload(), "78d1e61a")) << "a Job's";
  auto loose = option;
  loose["metadata"]["ownerReferences"][0]["controller"] = false;
  EXPECT_FALSE(is_option_of(loose, "parent-uid"));
}

// CA-122, CA-123: what changes of a Parent reaches its Options, and nothing else of them changes
TEST(PlanRevise, AnOptionFollowsItsParent) {
  auto option = Json::parse(plan_create_option(create_option(), parent()).body);
  option["metadata"]["uid"] = "option-uid";
  option["metadata"]["resourceVersion"] = "3";
  option["spec"]["active"] = true;
  auto intent = revise();
  intent.uid = "option-uid";
  intent.name = "job-j-12345-option-spot";
  intent.job_uid = intent.job_kind = intent.job_group = intent.job_name = "";
  EXPECT_EQ(settle_revision(option, intent, Json::object()), 0);
  auto expected = option["spec"];
  intent.queue_name = "other";
  intent.priority = 7;
  intent.priority_class = "low";
  EXPECT_EQ(settle_revision(option, intent, Json::object()), 1);
  expected["queueName"] = "other";
  expected["priority"] = 7;
  expected["priorityClassRef"]["name"] = "low";
  EXPECT_EQ(option["spec"], expected);
}

TEST(ParseObject, LeavesOutManagedFields) {
  const auto object = parse_object(R"({"metadata":{"name":"x","managedFields":[{"a":1}]},"spec":{"managedFields":1},"n":null})");
  ASSERT_TRUE(object);
  EXPECT_EQ(*object, Json::parse(R"({"metadata":{"name":"x"},"spec":{"managedFields":1},"n":null})"));
  EXPECT_FALSE(parse_object("[1]"));
  EXPECT_FALSE(parse_object("{"));
}

}  // namespace
}  // namespace hindsight::connectors
