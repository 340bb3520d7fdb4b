#include "connectors/webhooks/reviews.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "tests/connectors/webhooks/asking.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::Json;
using manifests::Kind;
using test::Around;
using test::defaulted;
using test::job;
using test::kueue;
using test::refusal;

Json labels_of(const Json& object) { return object["metadata"].value("labels", Json::object()); }

constexpr const char* queue = "kueue.x-k8s.io/queue-name";
constexpr const char* priority = "kueue.x-k8s.io/priority-class";

// ---- defaults -------------------------------------------------------------------------------------------------------------

// BA-23, BA-24
TEST(Defaults, give_a_job_the_queue_and_the_class_of_its_namespace) {
  Around around;
  const Json plain = job("{}", R"({"suspend":false})");
  EXPECT_EQ(defaulted(around, plain), plain);  // no queue `default`: none of ours
  around.objects["LocalQueue/ns/default"] = Json::object();
  Json done = defaulted(around, plain);
  EXPECT_EQ(labels_of(done), Json::parse(R"({"kueue.x-k8s.io/queue-name":"default"})"));
  EXPECT_EQ(done["spec"]["suspend"], true);
  around.objects["WorkloadPriorityClass//default"] = Json::object();
  done = defaulted(around, plain);
  EXPECT_EQ(labels_of(done)[priority], "default");
  around.gates["WorkloadPriorityClassDefaulting"] = false;
  EXPECT_FALSE(labels_of(defaulted(around, plain)).contains(priority));
  // What is said stays.
  const Json said = job(R"({"labels":{"kueue.x-k8s.io/queue-name":"mine","kueue.x-k8s.io/priority-class":"high"}})");
  EXPECT_EQ(defaulted(around, said), said);
  // BA-172: not where we do not look.
  around.unmanaged_namespaces = {"ns"};
  EXPECT_EQ(defaulted(around, plain), plain);
  // Only new jobs.
  around.unmanaged_namespaces.clear();
  EXPECT_EQ(defaulted(around, plain, "UPDATE", plain), plain);
}

// BA-23, BA-171: what a managed owner runs waits in no queue of its own.
TEST(Defaults, leave_a_job_alone_whose_owner_is_managed) {
  Around around;
  around.objects["LocalQueue/ns/default"] = Json::object();
  around.objects["JobSet/ns/owner"] = Json::parse(R"({"metadata":{"uid":"u","labels":{"kueue.x-k8s.io/queue-name":"q"}}})");
  const Json child =
      job(R"({"ownerReferences":[{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","name":"owner","uid":"u","controller":true}]})",
          R"({"suspend":false})");
  EXPECT_EQ(defaulted(around, child), child);
  // A Job that another Job claims to have made: no controller makes such.
  around.objects["Job/ns/between"] = child;
  around.objects["Job/ns/between"]["metadata"]["uid"] = "b";
  const Json grandchild =
      job(R"({"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"between","uid":"b","controller":true}]})");
  EXPECT_EQ(defaulted(around, grandchild)["spec"]["suspend"], true);
  // An owner of that name that is another one, one that is not managed, one that does not control.
  around.objects["JobSet/ns/owner"]["metadata"]["uid"] = "other";
  EXPECT_EQ(defaulted(around, child)["spec"]["suspend"], true);
  around.objects["JobSet/ns/owner"] = Json::parse(R"({"metadata":{"uid":"u"}})");
  EXPECT_EQ(defaulted(around, child)["spec"]["suspend"], true);
  around.without_queue_name = true;
  EXPECT_EQ(defaulted(around, child), child);
  // Owners in a circle end the search.
  around.without_queue_name = false;
  around.objects["Job/ns/between"] =
      job(R"({"uid":"b","ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"between","uid":"b","controller":true}]})");
  EXPECT_EQ(defaulted(around, grandchild)["spec"]["suspend"], true);
}

// BA-169, MR-71, SG-25: managed jobs start suspended.
TEST(Defaults, suspend_what_is_managed) {
  Around around;
  EXPECT_EQ(defaulted(around, job(R"({"labels":{"kueue.x-k8s.io/queue-name":"q"}})", R"({"suspend":false})"))["spec"]["suspend"], true);
  EXPECT_EQ(defaulted(around, job("{}", R"({"suspend":false})"))["spec"]["suspend"], false);
  around.without_queue_name = true;
  const Json done = defaulted(around, job("{}", R"({"suspend":false})"));
  EXPECT_EQ(done["spec"]["suspend"], true);
  EXPECT_TRUE(labels_of(done).empty());
}

// EJ-65, EJ-101
TEST(Defaults, gate_the_pods_of_elastic_jobs) {
  Around around;
  constexpr const char* elastic = R"({"labels":{"kueue.x-k8s.io/queue-name":"q"},"annotations":{"kueue.x-k8s.io/elastic-job":"true"}})";
  const auto gates = [&](const char* metadata, const char* pod) {
    const Json done = defaulted(around, job(metadata, (std::string(R"({"template":{"spec":)") + pod + "}}").c_str()));
    return done["spec"]["template"]["spec"].value("schedulingGates", Json());
  };
  const Json gate = Json::parse(R"([{"name":"kueue.x-k8s.io/elastic-job"}])");
  EXPECT_EQ(gates(elastic, R"({"restartPolicy":"Never"})"), gate);
  EXPECT_EQ(gates(elastic, R"({"schedulingGates":[{"name":"kueue.x-k8s.io/elastic-job"}]})"), gate) << "once";
  EXPECT_EQ(gates(elastic, R"({"schedulingGates":[{"name":"example.com/other"}]})"),
            Json::parse(R"([{"name":"example.com/other"},{"name":"kueue.x-k8s.io/elastic-job"}])"));
  EXPECT_EQ(gates(R"({"labels":{"kueue.x-k8s.io/queue-name":"q"}})", "{}"), Json());
  EXPECT_EQ(gates(R"({"labels":{"kueue.x-k8s.io/queue-name":"q"},"annotations":{"kueue.x-k8s.io/elastic-job":"false"}})", "{}"), Json());
  around.gates["ElasticJobsViaWorkloadSlices"] = false;
  EXPECT_EQ(gates(elastic, "{}"), Json());
}

// BA-4: and what Workloads stand on is held while it is used.
TEST(Defaults, hold_what_is_used) {
  const Around around;
  const Json held = Json::array({"kueue.x-k8s.io/resource-in-use"});
  for (const char* kind : {"ResourceFlavor", "ClusterQueue", "AdmissionCheck"})
    EXPECT_EQ(defaulted(around, kueue(kind, R"({"spec":{}})"))["metadata"]["finalizers"], held) << kind;
  for (const char* kind : {"LocalQueue", "Cohort", "Topology"})
    EXPECT_FALSE(defaulted(around, kueue(kind, R"({"spec":{}})"))["metadata"].contains("finalizers")) << kind;
  const Json other = kueue("ResourceFlavor", R"({"metadata":{"finalizers":["a/b","kueue.x-k8s.io/resource-in-use"]}})");
  EXPECT_EQ(defaulted(around, other), other);
  EXPECT_FALSE(
      defaulted(around, kueue("ResourceFlavor", R"({"metadata":{}})"), "UPDATE", kueue("ResourceFlavor", "{}"))["metadata"].contains(
          "finalizers"));
}

TEST(Defaults, drop_the_least_count_without_partial_admission) {
  Around around;
  const Json workload = kueue("Workload", R"({"spec":{"podSets":[{"name":"main","count":3,"minCount":1,"template":{}}]}})");
  EXPECT_EQ(defaulted(around, workload), workload);
  around.gates["PartialAdmission"] = false;
  EXPECT_FALSE(defaulted(around, workload)["spec"]["podSets"][0].contains("minCount"));
}

// BA-1: fields that were stored under their older names get the newer ones with the next write.
TEST(Defaults, rename_what_was_stored_before_anybody_converted) {
  const Around around;
  const Json stored = kueue("ClusterQueue", R"({"spec":{"cohort":"a","admissionChecks":["x"]}})");
  const Json done = defaulted(around, stored, "UPDATE", stored);
  EXPECT_EQ(done["spec"], Json::parse(R"({"cohortName":"a","admissionChecksStrategy":{"admissionChecks":[{"name":"x"}]}})"));
}

// BA-1: and 8691 V12.
TEST(Defaults, keep_the_policy_that_a_writer_of_v1beta1_does_not_know) {
  const Around around;
  const Json before = kueue("ClusterQueue", R"({"spec":{"concurrentAdmissionPolicy":{"migration":{"mode":"RetainFirstAdmission"}}}})");
  const Json now = kueue("ClusterQueue", R"({"spec":{"stopPolicy":"Hold"}})");
  EXPECT_EQ(defaulted(around, now, "UPDATE", before, "v1beta1")["spec"]["concurrentAdmissionPolicy"],
            before["spec"]["concurrentAdmissionPolicy"]);
  EXPECT_EQ(defaulted(around, now, "UPDATE", before, "v1beta2"), now);
  Json other = now;
  other["spec"]["concurrentAdmissionPolicy"] = Json::parse(R"({"migration":{"mode":"TryPreferredFlavors"}})");
  EXPECT_EQ(defaulted(around, other, "UPDATE", before, "v1beta1"), other) << "it says one";
  EXPECT_EQ(defaulted(around, now, "UPDATE", now, "v1beta1"), now) << "there was none";
}

// ---- the envelope -----------------------------------------------------------------------------------------------------------

TEST(Reviews, that_are_none_are_refused_with_what_is_allowed) {
  const Around around;
  const auto error = [](const Answer& answer) {
    EXPECT_EQ(answer.http_status, 400);
    return Json::parse(answer.body)["error"].get<std::string>();
  };
  EXPECT_EQ(error(answer_validation("", around)).substr(0, 34), "AdmissionReview: not a JSON text: ");
  EXPECT_EQ(error(answer_validation("{}", around)),
            "review: found apiVersion null, kind null; allowed: admission.k8s.io/v1, AdmissionReview");
  EXPECT_EQ(
      error(answer_mutation(R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview"})", around)),
      "review: found apiVersion \"admission.k8s.io/v1beta1\", kind \"AdmissionReview\"; allowed: admission.k8s.io/v1, AdmissionReview");
  Json asked = test::review("CREATE", job("{}"));
  asked["request"]["uid"] = "";
  EXPECT_EQ(error(answer_mutation(asked.dump(), around)), "request.uid: found \"\"; allowed: a text that is not empty");
  asked = test::review("CREATE", job("{}"));
  asked["request"]["object"] = nullptr;
  EXPECT_EQ(error(answer_mutation(asked.dump(), around)), "request.object: found null; allowed: an object");
  EXPECT_EQ(error(answer_validation(test::review("UPDATE", job("{}")).dump(), around)),
            "request.oldObject: found null; allowed: an object");
  asked = test::review("CREATE", job("{}"));
  asked["request"]["kind"]["version"] = "v2";
  EXPECT_TRUE(error(answer_validation(asked.dump(), around)).starts_with("request.kind: found {"));
  EXPECT_EQ(
      error(answer_conversion(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"1","objects":5}})")),
      "request.objects: found 5; allowed: a list of objects");
}

TEST(Reviews, of_deletions_pass) {
  const Around around;
  const Json bad = job(R"({"labels":{"kueue.x-k8s.io/queue-name":"Bad Name"}})");
  EXPECT_NE(test::refusal(around, "CREATE", bad), "");
  EXPECT_EQ(test::refusal(around, "DELETE", bad), "");
  Json going = bad;
  going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_EQ(test::refusal(around, "UPDATE", going, bad), "");
}

// What was stored under an older definition or before anybody converted can be changed.
TEST(Reviews, of_changes_do_not_blame_what_was_stored) {
  const Around around;
  const Json older_words = kueue("ClusterQueue", R"({"spec":{"cohort":"a","flavorFungibility":{"whenCanBorrow":"Borrow"}}})");
  const Json older_bounds = kueue("ClusterQueue", R"({"spec":{"queueingStrategy":"Random"}})");
  const Json now = kueue("ClusterQueue", R"({"spec":{"stopPolicy":"Hold"}})");
  EXPECT_EQ(test::refusal(around, "UPDATE", now, older_words), "");
  EXPECT_EQ(test::refusal(around, "UPDATE", now, older_bounds), "");
  EXPECT_NE(test::refusal(around, "UPDATE", older_bounds, now), "");
}

// SG spec 2.2: one error alone, several in brackets, equal ones once.
TEST(Reviews, list_all_that_is_wrong) {
  const Around around;
  const Json bad = job(R"({"labels":{"kueue.x-k8s.io/max-exec-time-seconds":"0","kueue.x-k8s.io/queue-name":"x_"}})");
  const std::string message = test::refusal(around, "CREATE", bad);
  EXPECT_TRUE(message.starts_with("[metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"x_\": ")) << message;
  EXPECT_TRUE(message.ends_with(", metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: \"0\": should be greater than 0]"))
      << message;
}

// BA-1
TEST(Reviews, of_conversions_answer_in_order) {
  Json objects = Json::array();
  for (const char* name : {"a", "b"}) {
    objects.push_back(kueue("ClusterQueue", R"({"spec":{"cohortName":"c"}})"));
    objects.back()["metadata"]["name"] = name;
  }
  Json asked = {{"apiVersion", "apiextensions.k8s.io/v1"},
                {"kind", "ConversionReview"},
                {"request", {{"uid", "7"}, {"desiredAPIVersion", "kueue.x-k8s.io/v1beta1"}, {"objects", objects}}}};
  Answer answer = answer_conversion(asked.dump());
  Json response = Json::parse(answer.body)["response"];
  EXPECT_EQ(response["uid"], "7");
  EXPECT_EQ(response["result"], Json::parse(R"({"status":"Success"})"));
  ASSERT_EQ(response["convertedObjects"].size(), 2U);
  EXPECT_EQ(response["convertedObjects"][1]["metadata"]["name"], "b");
  EXPECT_EQ(response["convertedObjects"][1]["spec"]["cohort"], "c");

  asked["request"]["objects"].push_back(job("{}"));
  response = Json::parse(answer_conversion(asked.dump()).body)["response"];
  EXPECT_EQ(response["result"]["status"], "Failed");
  EXPECT_EQ(response["result"]["message"],
            "Job ns/j: apiVersion: found \"batch/v1\"; allowed: kueue.x-k8s.io/v1beta1, kueue.x-k8s.io/v1beta2");
  EXPECT_FALSE(response.contains("convertedObjects"));
}

TEST(Reviews, are_asked_for_at_a_path_of_each_kind) {
  std::set<std::string> paths;
  for (const auto& one : reviewed_kinds()) {
    EXPECT_TRUE(paths.insert(one.mutating_path).second);
    EXPECT_TRUE(one.validating_path.empty() || paths.insert(one.validating_path).second);
  }
  EXPECT_TRUE(paths.contains("/mutate-batch-v1-job"));
  EXPECT_TRUE(paths.contains("/validate-kueue-x-k8s-io-v1beta2-workload"));
  EXPECT_TRUE(paths.contains("/mutate-jobset-x-k8s-io-v1alpha2-jobset"));
  EXPECT_FALSE(paths.contains("/validate-kueue-x-k8s-io-v1beta2-topology"));
}

// ---- limits -----------------------------------------------------------------------------------------------------------------

Json with_containers(Json object, int n) {
  for (int i = 0; i < n; ++i) object["spec"]["template"]["spec"]["containers"][i] = {{"name", "c" + std::to_string(i)}};
  return object;
}

const char* const queued = R"({"labels":{"kueue.x-k8s.io/queue-name":"lq"}})";
const char* const pod_spec = R"({"suspend":true,"parallelism":1,"template":{"spec":{"containers":[{"name":"c"}]}}})";
const std::string too_many = "spec.template.spec.containers: Forbidden: found 513 elements, allowed: at most 512 elements";

/// What readers set aside is refused when it is written, with the field, what was found and what is allowed.
TEST(Limits, are_told_to_who_writes_a_job) {
  Around around;
  const Json plain = job(queued, pod_spec);
  EXPECT_EQ(refusal(around, "CREATE", with_containers(plain, 512)), "");
  EXPECT_EQ(refusal(around, "CREATE", with_containers(plain, 513)), too_many);

  Json gates = plain;
  std::string names;
  for (int i = 0; i < 65; ++i) names += (i == 0 ? "" : ",") + std::string(58, 'g') + std::to_string(100 + i) + "/g";
  gates["metadata"]["annotations"]["kueue.x-k8s.io/admission-gated-by"] = names;
  EXPECT_NE(refusal(around, "CREATE", gates)
                .find("metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Forbidden: found 4159 bytes, "
                      "allowed: at most 4096 bytes"),
            std::string::npos)
      << refusal(around, "CREATE", gates);

  Json huge = plain;
  huge["spec"]["parallelism"] = 2'000'000'000;
  huge["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["memory"] = "1Ti";
  EXPECT_NE(refusal(around, "CREATE", huge).find("allowed: at most 72057594037927936"), std::string::npos)
      << refusal(around, "CREATE", huge);

  Json deep = plain;
  deep["metadata"]["annotations"]["hindsight.dev/resource-bounds"] = std::string(10'000, '[') + std::string(10'000, ']');
  EXPECT_NE(refusal(around, "CREATE", deep).find("found 20000 bytes, allowed: at most 10240 bytes"), std::string::npos)
      << refusal(around, "CREATE", deep);
}

TEST(Limits, are_told_to_who_writes_a_workload_or_a_queue) {
  Around around;
  Json workload = kueue("Workload", R"({"spec":{"queueName":"lq","podSets":[{"name":"main","count":1,"template":{"spec":
    {"containers":[{"name":"c","image":"i"}]}}}]}})");
  EXPECT_EQ(refusal(around, "CREATE", workload), "");
  for (int i = 0; i < 257; ++i) workload["spec"]["podSets"][0]["template"]["spec"]["nodeSelector"]["k" + std::to_string(i)] = "v";
  EXPECT_NE(refusal(around, "CREATE", workload)
                .find("spec.podSets[0].template.spec.nodeSelector: Forbidden: found 257 elements, allowed: at most 256 elements"),
            std::string::npos)
      << refusal(around, "CREATE", workload);
  Json cluster_queue = kueue("ClusterQueue", R"({"spec":{"namespaceSelector":{}}})");
  EXPECT_EQ(refusal(around, "CREATE", cluster_queue), "");
  for (int i = 0; i < 600; ++i) cluster_queue["metadata"]["labels"]["l" + std::to_string(i)] = "v";
  EXPECT_NE(refusal(around, "CREATE", cluster_queue).find("metadata.labels: Forbidden: found 600 elements, allowed: at most 512 elements"),
            std::string::npos)
      << refusal(around, "CREATE", cluster_queue);
}

/// One of that kind that passes, in a queue where it is a job.
Json plain_object(const Kind& kind) {
  static const std::map<std::string_view, const char*> specs{
      {"ResourceFlavor", "{}"},
      {"Cohort", "{}"},
      {"ClusterQueue", R"({"namespaceSelector":{}})"},
      {"LocalQueue", R"({"clusterQueue":"cq"})"},
      {"Workload", R"({"queueName":"lq","podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[{"name":"c"}]}}}]})"},
      {"Job", pod_spec},
      {"JobSet", R"({"suspend":true,"replicatedJobs":[{"name":"r","replicas":1,"template":{"spec":{"parallelism":1,"completions":1,
        "template":{"spec":{"containers":[{"name":"c"}]}}}}}]})"},
      {"RayCluster", R"({"suspend":true,"headGroupSpec":{"template":{"spec":{"containers":[{"name":"c"}]}}}})"},
      {"RayJob", R"({"suspend":true,"shutdownAfterJobFinishes":true,"rayClusterSpec":{"headGroupSpec":{"template":{"spec":
        {"containers":[{"name":"c"}]}}}}})"}};
  const auto spec = specs.find(kind.type->kind);
  EXPECT_NE(spec, specs.end()) << kind.type->kind << " is judged: it needs an object here";
  const std::string group(kind.type->group);
  return {{"apiVersion", group + "/" + std::string(kind.type->version)},
          {"kind", kind.type->kind},
          {"metadata", {{"name", "o"}, {"namespace", "ns"}, {"labels", {{queue, "lq"}}}}},
          {"spec", Json::parse(spec == specs.end() ? "{}" : spec->second)}};
}

/// Whatever kind is judged, its limits are: one that gets a validating webhook without them fails here.
TEST(Limits, are_told_to_who_writes_any_kind_that_is_judged) {
  const Around around;
  std::size_t judged = 0;
  for (const auto& one : reviewed_kinds()) {
    if (one.validating_path.empty()) continue;
    ++judged;
    Json object = plain_object(*one.kind);
    Json& labels = object["metadata"]["labels"];
    for (int i = 0; labels.size() < 512; ++i) labels["l" + std::to_string(i)] = "v";
    EXPECT_EQ(refusal(around, "CREATE", object), "") << one.validating_path;
    const Json good = object;
    for (int i = 600; labels.size() < 600; ++i) labels["l" + std::to_string(i)] = "v";
    const std::string told = "metadata.labels: Forbidden: found 600 elements, allowed: at most 512 elements";
    EXPECT_EQ(refusal(around, "CREATE", object), told) << one.validating_path;
    EXPECT_EQ(refusal(around, "UPDATE", object, good), told) << one.validating_path;
    EXPECT_EQ(refusal(around, "UPDATE", object, object), "") << one.validating_path << ": it was stored so";
  }
  EXPECT_EQ(judged, 9U);
}

/// What was stored before there was a limit may be changed in other ways, so that its finalizers, say, can go.
TEST(Limits, do_not_hold_what_was_stored_before) {
  Around around;
  const Json good = job(queued, pod_spec);
  const Json old = with_containers(good, 513);
  Json changed = old;
  changed["metadata"]["finalizers"] = Json::array();
  EXPECT_EQ(refusal(around, "UPDATE", changed, old), "");
  EXPECT_EQ(refusal(around, "UPDATE", old, good), too_many) << "it was within the limits";
  Json going = old;
  going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_EQ(refusal(around, "UPDATE", going, good), "");
}

TEST(Limits, are_none_of_a_job_that_is_not_ours) {
  Around around;
  const Json foreign = with_containers(job("{}", pod_spec), 513);
  EXPECT_EQ(refusal(around, "CREATE", foreign), "");
  around.without_queue_name = true;
  EXPECT_EQ(refusal(around, "CREATE", foreign), too_many);
  around.unmanaged_namespaces = {"ns"};
  EXPECT_EQ(refusal(around, "CREATE", foreign), "");
}

TEST(Limits, hold_for_a_job_without_a_name_of_its_own) {
  Around around;
  Json generated = job(queued, pod_spec);
  generated["metadata"].erase("name");
  generated["metadata"]["generateName"] = "j-";
  EXPECT_EQ(refusal(around, "CREATE", generated), "");
  EXPECT_EQ(refusal(around, "CREATE", with_containers(generated, 513)), too_many);
}

}  // namespace
}  // namespace hindsight::connectors::webhooks
