// The rules that only webhooks can judge, as an API server asks for them. The simulated API server applies the same ones
// (tests/connectors/simulated).

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "operations/feature_gates.hpp"
#include "tests/connectors/webhooks/asking.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::Json;
using test::Around;
using test::job;
using test::kueue;
using test::refusal;

TEST(Gates, are_by_default_what_the_table_of_gates_says) {
  for (const auto& gate : operations::feature_gates()) {
    for (const char* asked :
         {"ElasticJobsViaWorkloadSlices", "PartialAdmission", "WorkloadIdentifierAnnotations", "WorkloadPriorityClassDefaulting",
          "WorkloadValidateResourcesAreNonNegative", "WorkloadValidationForPodSetMetadata", "RejectUpdatesToCQWithInvalidOnFlavors",
          "ConcurrentAdmission", "TASMultiLayerTopology", "TASValidateWorkloadSliceSize", "TopologyAwareScheduling"}) {
      if (gate.name == asked) {
        EXPECT_EQ(gate.enabled, gate_by_default(asked)) << asked;
      }
    }
  }
}

// ---- queues and flavors -----------------------------------------------------------------------------------------------------

struct Row {
  const char* kind;
  const char* object;
  const char* message;
};

// BA-3, BA-4, BA-5, BA-6, BA-7, BA-8, BA-10, BA-11
TEST(Rules, refuse_with_the_words_of_the_specification) {
  const std::string group = R"("coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":1)";
  const auto with = [&](const char* more) { return R"({"spec":{"resourceGroups":[{)" + group + more + "}]}]}]}}"; };
  const std::string borrow = with(R"(,"borrowingLimit":1)"), lend = with(R"(,"lendingLimit":"500m")"),
                    negative = with(R"(,"lendingLimit":-1)");
  std::string lend_more = with(R"(,"lendingLimit":"1001m")");
  lend_more.insert(lend_more.find("\"spec\":{") + 8, R"("cohortName":"c",)");
  const std::vector<Row> rows{
      {"ClusterQueue", borrow.c_str(),
       "spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: Invalid value: 1: must be nil when cohort is empty"},
      {"ClusterQueue", lend.c_str(),
       "spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: Invalid value: \"500m\": must be nil when cohort is empty"},
      {"ClusterQueue", lend_more.c_str(),
       "spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: Invalid value: \"1001m\": must be less than or equal to the "
       "nominalQuota"},
      {"Cohort", borrow.c_str(),
       "spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: Invalid value: 1: must be nil when parent is empty"},
      {"Cohort", negative.c_str(),
       "[spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: Invalid value: -1: must be greater than or equal to 0, "
       "spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: Invalid value: -1: must be nil when parent is empty]"},
      {"ClusterQueue", R"({"spec":{"fairSharing":{"weight":"1n"}}})",
       "spec.fairSharing.weight: Invalid value: \"1n\": When not 0, weight must be > 10e-9"},
      {"LocalQueue", R"({"spec":{"fairSharing":{"weight":-1}}})",
       "spec.fairSharing.weight: Invalid value: -1: must be greater than or equal to 0"},
      {"ClusterQueue", R"({"spec":{"fairSharing":{"weight":0}}})", ""},
      {"ClusterQueue", R"({"spec":{"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"In"}]}}})",
       "spec.namespaceSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"},
      {"ResourceFlavor", R"({"spec":{"nodeTaints":[{"key":"k","effect":"NoSchedule"},{"key":"k","effect":"NoSchedule","value":"v"}]}})",
       "spec.nodeTaints[1]: Invalid value: {\"effect\":\"NoSchedule\",\"key\":\"k\",\"value\":\"v\"}: taints must be unique by key and "
       "effect pair"},
      {"ClusterQueue", R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[{"name":"c","onFlavors":["x"]}]}}})",
       "spec.admissionChecksStrategy.admissionChecks[0].onFlavors[0]: Unsupported value: \"x\": must be a flavor of this ClusterQueue"}};
  for (const auto& row : rows) EXPECT_EQ(refusal({}, "CREATE", kueue(row.kind, row.object)), row.message) << row.object;
}

// BA-6
TEST(Rules, refuse_a_flavor_and_a_resource_that_stand_twice) {
  const Json twice = kueue("ClusterQueue", R"({"spec":{"resourceGroups":[
      {"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":1}]}]},
      {"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":1}]}]}]}})");
  const std::string message = refusal({}, "CREATE", twice);
  EXPECT_NE(message.find("spec.resourceGroups[1].coveredResources[0]: Duplicate value: \"cpu\""), std::string::npos) << message;
  EXPECT_NE(message.find("spec.resourceGroups[1].flavors[0].name: Duplicate value: \"f\""), std::string::npos) << message;
}

// BA-10: what is stored and wrong does not block other changes, unless the gate says so.
TEST(Rules, tolerate_stored_checks_on_flavors_that_are_gone) {
  Around around;
  const Json before = kueue("ClusterQueue", R"({"spec":{"admissionChecksStrategy":{"admissionChecks":[{"name":"c","onFlavors":["x"]}]}}})");
  Json now = before;
  now["spec"]["stopPolicy"] = "Hold";
  EXPECT_EQ(refusal(around, "UPDATE", now, before), "");
  around.gates["RejectUpdatesToCQWithInvalidOnFlavors"] = true;
  EXPECT_NE(refusal(around, "UPDATE", now, before), "");
}

// ---- Workloads --------------------------------------------------------------------------------------------------------------

/// A Workload that holds quota for three pods.
Json holding(const char* annotations = "{}") {
  Json workload =
      kueue("Workload", R"({"spec":{"queueName":"q","podSets":[{"name":"main","count":3,"template":{"spec":{"containers":[]}}}]},
      "status":{"conditions":[{"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}],
                "admission":{"clusterQueue":"cq","podSetAssignments":[{"name":"main","count":3,"flavors":{"cpu":"f"},"resourceUsage":{"cpu":"3"}}]}}})");
  workload["metadata"]["annotations"] = Json::parse(annotations);
  return workload;
}

// BA-15, EJ-103
TEST(WorkloadRules, let_only_counts_fall_while_quota_is_held) {
  Around around;
  Json fewer = holding(), more = holding(), other = holding();
  fewer["spec"]["podSets"][0]["count"] = 2;
  more["spec"]["podSets"][0]["count"] = 4;
  other["spec"]["podSets"][0]["template"]["spec"]["containers"] = Json::parse(R"([{"name":"c"}])");
  EXPECT_EQ(refusal(around, "UPDATE", fewer, holding()), "");
  EXPECT_EQ(refusal(around, "UPDATE", more, holding()), "spec.podSets: Invalid value: field is immutable");
  EXPECT_EQ(refusal(around, "UPDATE", other, holding()), "spec.podSets: Invalid value: field is immutable");
  around.gates["ElasticJobsViaWorkloadSlices"] = false;
  EXPECT_EQ(refusal(around, "UPDATE", fewer, holding()), "spec.podSets: Invalid value: field is immutable");
}

// BA-14
TEST(WorkloadRules, look_into_templates) {
  Around around;
  Json workload = kueue("Workload", R"({"spec":{"podSets":[{"name":"main","count":1,"template":{"metadata":{"labels":{"a b":"c","d":"e f"}},
      "spec":{"containers":[{"name":"c","resources":{"requests":{"pods":"1","cpu":"-1"}}}]}}}]}})");
  const std::string message = refusal(around, "CREATE", workload);
  for (const char* part :
       {"spec.podSets[0].template.spec.containers[0].resources.requests[cpu]: Invalid value: \"-1\": must be greater than or equal to 0",
        "spec.podSets[0].template.spec.containers[0].resources.requests[pods]: Invalid value: \"pods\": the key is reserved for internal "
        "kueue use",
        "spec.podSets[0].template.metadata.labels: Invalid value: \"a b\": name part must be a qualified name",
        "spec.podSets[0].template.metadata.labels: Invalid value: \"e f\": a valid label"})
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  around.gates["WorkloadValidateResourcesAreNonNegative"] = false;
  around.gates["WorkloadValidationForPodSetMetadata"] = false;
  EXPECT_EQ(refusal(around, "CREATE", workload),
            "spec.podSets[0].template.spec.containers[0].resources.requests[pods]: Invalid value: \"pods\": the key is reserved for "
            "internal kueue use");
}

// BA-16
TEST(WorkloadRules, keep_an_admission_as_it_is) {
  Json other = holding(), odd = holding(), stranger = holding(), none = holding();
  other["status"]["admission"]["clusterQueue"] = "cq2";
  EXPECT_EQ(refusal({}, "UPDATE", other, holding()), "status.admission: Invalid value: field is immutable");
  odd["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]["cpu"] = "3001m";
  Json before = odd;
  before["status"].erase("admission");
  EXPECT_EQ(refusal({}, "UPDATE", odd, before),
            "status.admission.podSetAssignments[0].resourceUsage[cpu]: Invalid value: \"3001m\": is not a multiple of 3");
  stranger["status"]["admission"]["podSetAssignments"][0]["name"] = "other";
  EXPECT_NE(refusal({}, "UPDATE", stranger, before).find("must be the name of a podset"), std::string::npos);
  none["status"].erase("admission");
  EXPECT_EQ(refusal({}, "UPDATE", none, holding()),
            "status.admission: Required value: must be set while the QuotaReserved condition is true");
  EXPECT_EQ(refusal({}, "UPDATE", none, none), "");
  none["status"].erase("conditions");
  EXPECT_EQ(refusal({}, "UPDATE", none, holding()), "");
}

// BA-17, EJ-63
TEST(WorkloadRules, count_reclaimable_pods) {
  const auto with = [](int count, const char* annotations = "{}") {
    Json workload = holding(annotations);
    workload["status"]["reclaimablePods"] = {{{"name", "main"}, {"count", count}}};
    return workload;
  };
  EXPECT_EQ(refusal({}, "UPDATE", with(3), with(2)), "");
  EXPECT_EQ(refusal({}, "UPDATE", with(4), with(2)), "status.reclaimablePods[main].count: Invalid value: 4: should be less or equal to 3");
  EXPECT_EQ(refusal({}, "UPDATE", with(1), with(2)), "status.reclaimablePods[main].count: Invalid value: 1: cannot be less than 2");
  EXPECT_EQ(refusal({}, "UPDATE", holding(), with(2)), "status.reclaimablePods[main]: Required value: cannot be removed");
  // An elastic one that was scaled down to two pods while two of three were reclaimed.
  constexpr const char* elastic = R"({"kueue.x-k8s.io/elastic-job":"true"})";
  Json now = with(1, elastic), high = with(3, elastic);
  for (Json* one : {&now, &high}) (*one)["spec"]["podSets"][0]["count"] = 2;
  EXPECT_EQ(refusal({}, "UPDATE", now, with(2, elastic)), "");
  EXPECT_EQ(refusal({}, "UPDATE", high, with(3, elastic)), "");
  EXPECT_EQ(refusal({}, "UPDATE", high, with(2, elastic)),
            "status.reclaimablePods[main].count: Invalid value: 3: should be less or equal to 2");
  now["metadata"]["annotations"] = Json::object();
  EXPECT_EQ(refusal({}, "UPDATE", now, with(2)), "status.reclaimablePods[main].count: Invalid value: 1: cannot be less than 2");
}

// BA-18, EJ-105
TEST(WorkloadRules, take_a_worker_cluster_that_was_nominated) {
  const Json plain = kueue("Workload", R"({"spec":{"podSets":[{"name":"main","template":{}}]},"status":{}})");
  Json nominated = plain, placed = plain, evicted = plain, replacement = plain;
  nominated["status"]["nominatedClusterNames"] = {"a", "b"};
  placed["status"]["clusterName"] = "a";
  evicted["status"]["conditions"] =
      Json::parse(R"([{"type":"Evicted","status":"True","reason":"Preempted","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}])");
  constexpr const char* not_nominated =
      "status.clusterName: Invalid value: \"a\": when setting clusterName it must be one of the nominatedClusterNames";
  EXPECT_EQ(refusal({}, "UPDATE", placed, nominated), "");
  EXPECT_EQ(refusal({}, "UPDATE", placed, plain), not_nominated);
  nominated["status"]["nominatedClusterNames"] = {"b"};
  EXPECT_EQ(refusal({}, "UPDATE", placed, nominated), not_nominated);
  replacement = placed;
  replacement["metadata"]["annotations"] = {{"kueue.x-k8s.io/workload-slice-replacement-for", "ns/old"}};
  EXPECT_EQ(refusal({}, "UPDATE", replacement, plain), "");
  EXPECT_EQ(refusal({}, "UPDATE", evicted, placed), "");
  EXPECT_EQ(refusal({}, "UPDATE", plain, placed), "status.clusterName: Invalid value: \"\": clusterName is immutable once set");
}

// BA-13, EJ-102
TEST(WorkloadRules, hold_for_annotations) {
  Json boost = holding(R"({"kueue.x-k8s.io/priority-boost":""})");
  EXPECT_EQ(
      refusal({}, "CREATE", boost),
      "metadata.annotations[kueue.x-k8s.io/priority-boost]: Invalid value: \"\": must be a valid signed integer; use \"0\" explicitly, "
      "empty string is not allowed");
  Json partial = kueue(
      "Workload",
      R"({"spec":{"podSets":[{"name":"a","count":2,"minCount":1,"template":{}},{"name":"b","count":2,"minCount":1,"template":{}}]}})");
  EXPECT_EQ(refusal({}, "CREATE", partial), "spec.podSets: Invalid value: at most one podSet can use minCount");
  partial["metadata"]["annotations"] = {{"kueue.x-k8s.io/elastic-job", "true"}};
  partial["spec"]["podSets"].erase(1);
  EXPECT_EQ(refusal({}, "CREATE", partial), "spec.podSets: Invalid value: 1: partial admission and elastic job cannot be used together");
}

// CA-13, 8691 V13: an assigned flavor stays allowed, in either form, while the feature is on.
TEST(WorkloadRules, keep_assigned_flavors_allowed) {
  Around around;
  around.gates["ConcurrentAdmission"] = true;
  constexpr const char* annotation = "kueue.x-k8s.io/workload-allowed-resource-flavors";
  const auto listing = [](const char* flavors) {
    Json workload = holding();
    workload["spec"]["admissionConstraints"] = {{"allowedResourceFlavors", Json::parse(flavors)}};
    return workload;
  };
  const auto noting = [&](const char* flavors) {
    Json workload = holding();
    workload["metadata"]["annotations"] = {{annotation, flavors}};
    return workload;
  };
  constexpr const char* refused =
      "spec.admissionConstraints: Invalid value: [\"g\"]: must keep the assigned flavors while quota is reserved";
  EXPECT_EQ(refusal(around, "UPDATE", listing(R"(["g"])"), holding()), refused);
  EXPECT_EQ(refusal(around, "UPDATE", listing(R"(["g"])"), listing(R"(["f","g"])")), refused);
  EXPECT_EQ(refusal(around, "UPDATE", listing(R"(["f","g"])"), holding()), "") << "the ClusterQueue need not have g";
  EXPECT_EQ(refusal(around, "UPDATE", listing(R"(["f"])"), listing(R"(["f","g"])")), "");
  EXPECT_EQ(refusal(around, "UPDATE", holding(), listing(R"(["f"])")), "");
  EXPECT_EQ(refusal(around, "UPDATE", listing("[]"), listing(R"(["f"])")), "") << "no flavor listed is every flavor";
  EXPECT_EQ(refusal(around, "UPDATE", listing(R"(["g"])"), listing(R"(["g"])")), "") << "it is stored so";

  EXPECT_EQ(refusal(around, "UPDATE", noting(" g ,h"), holding()),
            "metadata.annotations[kueue.x-k8s.io/workload-allowed-resource-flavors]: Invalid value: \" g ,h\": must keep the assigned "
            "flavors while quota is reserved");
  for (const char* good : {"f", "g, f ,h", " f", "f,,", "", " , ", ","})
    EXPECT_EQ(refusal(around, "UPDATE", noting(good), holding()), "") << good;
  EXPECT_NE(refusal(around, "UPDATE", noting("ff,g f"), holding()), "");

  Json waiting = listing(R"(["g"])"), waited = holding();
  waiting.erase("status");
  waited.erase("status");
  EXPECT_EQ(refusal(around, "UPDATE", waiting, waited), "");
  EXPECT_EQ(refusal(around, "UPDATE", waiting, holding()), "") << "quota is given back in the same write";
  EXPECT_EQ(refusal(around, "CREATE", waiting), "");

  around.gates["ConcurrentAdmission"] = false;
  EXPECT_EQ(refusal(around, "UPDATE", listing(R"(["g"])"), holding()), "");
  EXPECT_EQ(refusal(around, "UPDATE", noting("g"), holding()), "");
}

// 8691 V13, limits of 2.5: what is of another shape is refused whether the feature is on or off.
TEST(WorkloadRules, know_the_shape_of_concurrent_admission) {
  const auto with = [](const char* part, const Json& value) {
    Json workload = kueue("Workload", R"({"spec":{"podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[]}}}]}})");
    workload[Json::json_pointer(part)] = value;
    return workload;
  };
  const auto names = [](int n, const char* prefix) {
    Json out = Json::array();
    for (int i = 0; i < n; ++i) out.push_back(prefix + std::to_string(i));
    return out;
  };
  const auto named = [&](int n) {
    Json out = Json::array();
    for (const auto& name : names(n, "n")) out.push_back({{"name", name}});
    return out;
  };
  const auto options = [&](int n, const char* state = "Pending") {
    Json out = named(n);
    for (auto& option : out) option.update({{"state", state}, {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
    return out;
  };
  constexpr const char* flavors = "/spec/admissionConstraints/allowedResourceFlavors";
  constexpr const char* annotation = "/metadata/annotations/kueue.x-k8s.io~1workload-allowed-resource-flavors";
  struct Shape {
    const char* part;
    Json good, bad;
    const char* says;
  };
  std::string list = "f";
  for (int i = 1; i < 64; ++i) list += ",f" + std::to_string(i);
  const std::vector<Shape> shapes{
      {flavors, names(64, "f"), names(65, "f"), "spec.admissionConstraints.allowedResourceFlavors: Too many"},
      {flavors, {"a", "b"}, {"a", "a"}, "spec.admissionConstraints.allowedResourceFlavors[1]: Duplicate value: \"a\""},
      {flavors, {"a.b-c"}, {"A"}, "spec.admissionConstraints.allowedResourceFlavors[0]: Invalid value: \"A\""},
      {flavors, {"a"}, {7}, "spec.admissionConstraints.allowedResourceFlavors[0]"},
      {annotation, list, list + ",g", "found 65 elements, allowed: at most 64 elements"},
      {annotation, std::string(253, 'f'), std::string(254, 'f'), "found 254 bytes, allowed: at most 253 bytes"},
      {"/spec/preemptionGates", named(8), named(9), "spec.preemptionGates: Too many"},
      {"/spec/preemptionGates", Json::parse(R"([{"name":"a/b"}])"), Json::parse(R"([{"name":""}])"), "spec.preemptionGates[0].name"},
      {"/spec/preemptionGates", named(1), {{{"name", std::string(64, 'g')}}}, "spec.preemptionGates[0].name"},
      {"/spec/workloadType", "Parent", "Child", "spec.workloadType: Unsupported value: \"Child\""},
      {"/status/options", options(64), options(65), "status.options: Too many"},
      {"/status/options", options(1, "Deactivated"), options(1, "Gone"), "status.options[0].state: Unsupported value: \"Gone\""},
      {"/status/options", options(1), named(1), "status.options[0].state: Required value"},
      {"/status/preemptionGates", Json::parse(R"([{"name":"g","position":"Open","lastTransitionTime":"2026-01-01T00:00:00Z"}])"),
       Json::parse(R"([{"name":"g","position":"Ajar","lastTransitionTime":"2026-01-01T00:00:00Z"}])"),
       "status.preemptionGates[0].position: Unsupported value: \"Ajar\""}};
  for (const bool on : {true, false}) {
    Around around;
    around.gates["ConcurrentAdmission"] = on;
    for (const auto& [part, good, bad, says] : shapes) {
      EXPECT_EQ(refusal(around, "CREATE", with(part, good)), "") << part;
      const std::string message = refusal(around, "CREATE", with(part, bad));
      EXPECT_NE(message.find(says), std::string::npos) << message << "\n" << says;
    }
  }
}

// CA-1, CA-5, CA-42: nothing that we write for a family is refused.
TEST(WorkloadRules, take_parents_and_options) {
  Around around;
  around.gates["ConcurrentAdmission"] = true;
  Json parent = kueue("Workload", R"({"metadata":{"uid":"u"},
      "spec":{"queueName":"q","podSets":[{"name":"main","count":3,"template":{"spec":{"containers":[]}}}]}})");
  Json marked = parent;
  marked["metadata"]["labels"] = {{"kueue.x-k8s.io/concurrent-admission-parent", "true"}};
  marked["metadata"]["annotations"] = {{"kueue.x-k8s.io/parent-option", "true"}};
  EXPECT_EQ(refusal(around, "UPDATE", marked, parent), "");
  EXPECT_EQ(refusal(around, "UPDATE", parent, marked), "");

  Json option = parent;
  option["metadata"] =
      Json::parse(R"({"name":"o-option-f","namespace":"ns","annotations":{"kueue.x-k8s.io/workload-allowed-resource-flavors":"f"},
      "ownerReferences":[{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","name":"o","uid":"u","controller":true,"blockOwnerDeletion":true}]})");
  option["spec"].update(Json::parse(R"({"active":false,"admissionConstraints":{"allowedResourceFlavors":["f"]},
      "preemptionGates":[{"name":"kueue.x-k8s.io/concurrent-admission"},{"name":"kueue.x-k8s.io/multikueue"}]})"));
  EXPECT_EQ(refusal(around, "CREATE", option), "");
  EXPECT_EQ(defaulted(around, option), option);
  Json opened = option;
  opened["spec"]["active"] = true;
  opened["status"]["preemptionGates"] =
      Json::parse(R"([{"name":"kueue.x-k8s.io/concurrent-admission","position":"Open","lastTransitionTime":"2026-01-01T00:00:00Z"}])");
  EXPECT_EQ(refusal(around, "UPDATE", opened, option), "");

  Json admitted = marked;
  admitted["status"] = holding()["status"];
  admitted["status"]["options"] = Json::parse(
      R"([{"name":"o-option-f","resourceFlavors":["f"],"state":"Admitted","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"},
          {"name":"o-option-g","resourceFlavors":["g"],"state":"Deactivated","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}])");
  EXPECT_EQ(refusal(around, "UPDATE", admitted, marked), "");
  Json next = admitted;
  next["status"]["options"][1]["state"] = "Pending";
  EXPECT_EQ(refusal(around, "UPDATE", next, admitted), "");
  Json evicted = admitted;
  evicted["status"].erase("conditions");
  evicted["status"].erase("admission");
  EXPECT_EQ(refusal(around, "UPDATE", evicted, admitted), "");
}

// ---- jobs -------------------------------------------------------------------------------------------------------------------

constexpr const char* queued = R"({"labels":{"kueue.x-k8s.io/queue-name":"q"}})";
constexpr const char* running = R"({"suspend":false,"parallelism":4})";
constexpr const char* waiting = R"({"suspend":true,"parallelism":4})";

// BA-23
TEST(JobRules, keep_the_queue_where_the_namespace_has_one) {
  Around around;
  constexpr const char* message =
      "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"\": queue-name must not be empty in namespace with default queue";
  EXPECT_EQ(refusal(around, "UPDATE", job("{}"), job(queued)), "");
  around.objects["LocalQueue/ns/default"] = Json::object();
  EXPECT_EQ(refusal(around, "UPDATE", job("{}"), job(queued)), message);
  EXPECT_EQ(refusal(around, "UPDATE", job(R"({"labels":{"kueue.x-k8s.io/queue-name":""}})"), job(queued)), message);
  EXPECT_EQ(refusal(around, "UPDATE", job(R"({"labels":{"kueue.x-k8s.io/queue-name":"p"}})"), job(queued)), "");
  EXPECT_EQ(refusal(around, "UPDATE", job("{}"), job("{}")), "");
}

// BA-26, EJ-104, EJ-106
TEST(JobRules, fix_identity_while_a_job_runs) {
  for (const bool elastic : {false, true}) {
    Json other_queue = job(R"({"labels":{"kueue.x-k8s.io/queue-name":"p"}})", running), first_queue = job(queued, running);
    if (elastic)
      for (Json* one : {&other_queue, &first_queue}) (*one)["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] = "true";
    EXPECT_EQ(refusal({}, "UPDATE", other_queue, first_queue),
              "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"p\": field is immutable");
  }
  EXPECT_EQ(refusal({}, "UPDATE", job(R"({"labels":{"kueue.x-k8s.io/queue-name":"p"}})"), job(queued)), "");

  const auto prebuilt = [](const char* where, const char* name, const char* spec, bool elastic = false) {
    Json out = job("{}", spec);
    out["metadata"][where]["kueue.x-k8s.io/prebuilt-workload-name"] = name;
    if (elastic) out["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] = "true";
    return out;
  };
  EXPECT_EQ(refusal({}, "UPDATE", prebuilt("labels", "b", running), prebuilt("labels", "a", running)),
            "metadata.labels[kueue.x-k8s.io/prebuilt-workload-name]: Invalid value: \"b\": field is immutable");
  EXPECT_EQ(refusal({}, "UPDATE", prebuilt("annotations", "b", running), prebuilt("annotations", "a", running)),
            "metadata.annotations[kueue.x-k8s.io/prebuilt-workload-name]: Invalid value: \"b\": field is immutable");
  EXPECT_EQ(refusal({}, "UPDATE", prebuilt("labels", "b", waiting), prebuilt("labels", "a", waiting)), "");
  EXPECT_EQ(refusal({}, "UPDATE", prebuilt("labels", "b", running, true), prebuilt("labels", "a", running, true)), "");
  EXPECT_NE(refusal({}, "CREATE", prebuilt("annotations", "B", waiting)).find("a lowercase RFC 1123 subdomain"), std::string::npos);

  const auto limited = [](const char* seconds, const char* spec) {
    Json out = job("{}", spec);
    out["metadata"]["labels"]["kueue.x-k8s.io/max-exec-time-seconds"] = seconds;
    return out;
  };
  constexpr const char* fixed = "metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: \"2\": field is immutable";
  EXPECT_EQ(refusal({}, "UPDATE", limited("2", waiting), limited("1", waiting)), "");
  EXPECT_EQ(refusal({}, "UPDATE", limited("2", running), limited("1", waiting)), fixed);
  EXPECT_EQ(refusal({}, "UPDATE", limited("2", waiting), limited("1", running)), fixed);
}

// BA-25
TEST(JobRules, bind_a_job_to_having_a_class) {
  const Json plain = job("{}", running), high = job(R"({"labels":{"kueue.x-k8s.io/priority-class":"high"}})", running);
  const Json low = job(R"({"labels":{"kueue.x-k8s.io/priority-class":"low"}})", running);
  EXPECT_EQ(refusal({}, "UPDATE", high, plain),
            "metadata.labels[kueue.x-k8s.io/priority-class]: Invalid value: \"high\": WorkloadPriorityClass cannot be added to a "
            "non-suspended workload");
  EXPECT_EQ(
      refusal({}, "UPDATE", plain, high),
      "metadata.labels[kueue.x-k8s.io/priority-class]: Invalid value: \"high\": WorkloadPriorityClass cannot be removed from a workload");
  EXPECT_EQ(refusal({}, "UPDATE", low, high), "");
  EXPECT_EQ(refusal({}, "UPDATE", job(R"({"labels":{"kueue.x-k8s.io/priority-class":"low"}})"), job("{}")), "");
}

// EJ-101, EJ-102, EJ-107: all of 77 §2.5 that is about batch Jobs and JobSets, and the bounds of partial admission of base-api §5.
TEST(JobRules, hold_for_annotations) {
  const auto with = [](const char* annotations, const char* spec = waiting) {
    return job((std::string(R"({"annotations":)") + annotations + "}").c_str(), spec);
  };
  constexpr const char* elastic = R"({"kueue.x-k8s.io/elastic-job":"true"})";
  EXPECT_EQ(refusal({}, "CREATE", with(R"({"kueue.x-k8s.io/job-min-parallelism":"4"})")),
            "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: \"4\": should be between 0 and 3");
  EXPECT_EQ(refusal({}, "CREATE", with(R"({"kueue.x-k8s.io/job-min-parallelism":"3"})")), "");
  EXPECT_EQ(refusal({}, "CREATE", with(R"({"kueue.x-k8s.io/job-completions-equal-parallelism":"true"})")),
            "metadata.annotations[kueue.x-k8s.io/job-completions-equal-parallelism]: Invalid value: \"true\": should not be enabled for "
            "NonIndexed jobs");
  EXPECT_EQ(refusal({}, "UPDATE", with(elastic), with("{}")),
            "metadata.annotations[kueue.x-k8s.io/elastic-job]: Invalid value: true: field is immutable");
  EXPECT_EQ(refusal({}, "UPDATE", with("{}"), with(elastic)),
            "metadata.annotations[kueue.x-k8s.io/elastic-job]: Invalid value: false: field is immutable");
  EXPECT_EQ(refusal({}, "CREATE", with(R"({"kueue.x-k8s.io/elastic-job":"true","kueue.x-k8s.io/job-min-parallelism":"2"})")),
            "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: \"2\": partial admission and elastic job cannot be "
            "used together");
  constexpr const char* least = R"({"kueue.x-k8s.io/job-min-parallelism":"2"})";
  EXPECT_EQ(refusal({}, "UPDATE", with(least, R"({"suspend":false,"parallelism":2})"), with(least, running)),
            "spec.parallelism: Forbidden: cannot change when partial admission is enabled and the job is not suspended");
  EXPECT_EQ(refusal({}, "UPDATE", with(least, R"({"suspend":false,"parallelism":2})"), with(least, waiting)), "");
  for (const std::string kind : {"required", "preferred"}) {
    Json placed = with(elastic);
    placed["spec"]["template"]["metadata"]["annotations"]["kueue.x-k8s.io/podset-" + kind + "-topology"] = "rack";
    EXPECT_EQ(refusal({}, "CREATE", placed), "spec.template.metadata.annotations.kueue.x-k8s.io/podset-" + kind +
                                                 "-topology: Forbidden: " + kind + " topology is not supported with elastic jobs");
    placed["metadata"].erase("annotations");
    EXPECT_EQ(refusal({}, "CREATE", placed), "");
  }
  Json job_set = with(elastic);
  job_set["apiVersion"] = "jobset.x-k8s.io/v1alpha2";
  job_set["kind"] = "JobSet";
  EXPECT_EQ(refusal({}, "CREATE", job_set),
            "metadata.annotations[kueue.x-k8s.io/elastic-job]: Forbidden: elastic job is not supported for \"jobset.x-k8s.io/v1alpha2, "
            "Kind=JobSet\"");
}

}  // namespace
}  // namespace hindsight::connectors::webhooks
