#include "connectors/simulated/simulated_cluster.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "connectors/objects/resource_types.hpp"
#include "tests/connectors/simulated/builders.hpp"

namespace hindsight::connectors::simulated {
namespace {

using test::fresh;
using test::kueue;

WriteAnswer send(SimulatedCluster& cluster, Write::Verb verb, const ResourceType& type, const std::string& name, const std::string& body,
                 const std::string& subresource = "") {
  WriteAnswer answer;
  Write write;
  write.verb = verb;
  write.type = &type;
  write.namespace_ = type.namespaced ? "default" : "";
  write.name = name;
  write.subresource = subresource;
  write.body = body;
  cluster.submit(std::move(write), [&](WriteAnswer got) { answer = std::move(got); });
  return answer;
}

// ---- identity -----------------------------------------------------------------------------------------------------------------

TEST(SimulatedCluster, gives_each_object_an_identity_and_the_virtual_time) {
  SimulatedCluster cluster = fresh();
  cluster.set_time(virtual_start + Duration{61'900'000});
  ASSERT_TRUE(cluster.create(kueue("Cohort", "a")).accepted());
  ASSERT_TRUE(cluster.create(kueue("Cohort", "b")).accepted());
  const auto a = cluster.find("Cohort", "", "a");
  EXPECT_EQ(a->metadata()["creationTimestamp"], "2026-01-01T00:01:01Z");
  EXPECT_EQ(a->metadata()["generation"], 1);
  EXPECT_EQ(a->uid.size(), 36U);
  EXPECT_EQ(a->uid[14], '4');
  EXPECT_NE(std::string("89ab").find(a->uid[19]), std::string::npos);
  EXPECT_NE(a->uid, cluster.find("Cohort", "", "b")->uid);
}

TEST(SimulatedCluster, gives_the_same_identities_in_every_run) {
  ClusterOptions other_seed;
  other_seed.seed = 2;
  SimulatedCluster one = fresh(), two = fresh(), other = fresh(other_seed);
  for (auto* cluster : {&one, &two, &other}) cluster->create(kueue("Cohort", "a"));
  EXPECT_EQ(one.find("Cohort", "", "a")->object, two.find("Cohort", "", "a")->object);
  EXPECT_NE(one.find("Cohort", "", "a")->uid, other.find("Cohort", "", "a")->uid);
}

TEST(SimulatedCluster, makes_names_up_where_asked_to) {
  SimulatedCluster cluster = fresh();
  Json object = kueue("Cohort", "");
  object["metadata"] = {{"generateName", "c-"}};
  const Reply reply = cluster.create(object);
  ASSERT_TRUE(reply.accepted());
  const std::string name = Json::parse(*reply.object)["metadata"]["name"];
  EXPECT_TRUE(name.starts_with("c-") && name.size() == 7) << name;
}

TEST(SimulatedCluster, time_does_not_run_back) {
  SimulatedCluster cluster;
  cluster.set_time(virtual_start + Duration::seconds(5));
  cluster.set_time(virtual_start);
  EXPECT_EQ(cluster.now(), virtual_start + Duration::seconds(5));
}

// ---- requests as over HTTP ------------------------------------------------------------------------------------------------------

TEST(SimulatedCluster, answers_requests_with_objects_and_statuses) {
  SimulatedCluster cluster = fresh();
  const auto created =
      send(cluster, Write::Verb::create, types::local_queue, "lq", R"({"metadata":{"name":"lq"},"spec":{"clusterQueue":"q"}})");
  EXPECT_EQ(created.http_status, 201);
  EXPECT_EQ(Json::parse(created.body)["spec"]["stopPolicy"], "None");
  EXPECT_EQ(Json::parse(created.body)["metadata"]["namespace"], "default");

  const auto patched = send(cluster, Write::Verb::merge_patch, types::local_queue, "lq", R"({"status":{"pendingWorkloads":3}})", "status");
  EXPECT_EQ(patched.http_status, 200);
  EXPECT_EQ(Json::parse(patched.body)["status"]["pendingWorkloads"], 3);

  const auto stale = send(cluster, Write::Verb::merge_patch, types::local_queue, "lq",
                          R"({"metadata":{"resourceVersion":"1"},"spec":{"stopPolicy":"Hold"}})");
  EXPECT_EQ(stale.http_status, 409);
  const Json status = Json::parse(stale.body);
  EXPECT_EQ(status["kind"], "Status");
  EXPECT_EQ(status["reason"], "Conflict");
  EXPECT_EQ(status["code"], 409);
  EXPECT_EQ(status["message"],
            "Operation cannot be fulfilled on localqueues.kueue.x-k8s.io \"lq\": the object has been modified; please apply your changes "
            "to the latest "
            "version and try again");

  const auto refused = send(cluster, Write::Verb::merge_patch, types::local_queue, "lq", R"({"spec":{"clusterQueue":"r"}})");
  EXPECT_EQ(refused.http_status, 422);
  EXPECT_EQ(Json::parse(refused.body)["message"],
            "LocalQueue.kueue.x-k8s.io \"lq\" is invalid: spec.clusterQueue: Invalid value: \"r\": field is immutable");
  EXPECT_EQ(
      Json::parse(refused.body)["details"]["causes"][0],
      Json::parse(R"({"reason":"FieldValueInvalid","field":"spec.clusterQueue","message":"Invalid value: \"r\": field is immutable"})"));

  const auto deleted = send(cluster, Write::Verb::delete_, types::local_queue, "lq", R"({"propagationPolicy":"Background"})");
  EXPECT_EQ(deleted.http_status, 200);
  EXPECT_EQ(Json::parse(deleted.body)["status"], "Success");
  EXPECT_EQ(send(cluster, Write::Verb::delete_, types::local_queue, "lq", "").http_status, 404);
}

TEST(SimulatedCluster, refuses_requests_that_make_no_sense) {
  SimulatedCluster cluster = fresh();
  ASSERT_TRUE(cluster.create(kueue("Cohort", "c")).accepted());
  constexpr ResourceType unknown{"Gadget", "example.com", "v1", "gadgets", false};
  EXPECT_EQ(send(cluster, Write::Verb::create, unknown, "g", "{}").http_status, 404);
  EXPECT_EQ(send(cluster, Write::Verb::create, types::cohort, "x", "{").http_status, 400);
  EXPECT_EQ(send(cluster, Write::Verb::create, types::cohort, "x", "[]").http_status, 400);
  EXPECT_EQ(send(cluster, Write::Verb::create, types::cohort, "x", R"({"kind":"LocalQueue"})").http_status, 400);
  EXPECT_EQ(send(cluster, Write::Verb::create, types::workload, "x", R"({"metadata":{"name":"x","namespace":"other"}})").http_status, 400);
  EXPECT_EQ(send(cluster, Write::Verb::merge_patch, types::cohort, "c", "[1]").http_status, 400);
  EXPECT_EQ(send(cluster, Write::Verb::merge_patch, types::cohort, "c", "{}", "scale").http_status, 404);
  EXPECT_EQ(send(cluster, Write::Verb::merge_patch, types::cohort, "c", R"({"metadata":{"uid":"other"}})").http_status, 409);
  EXPECT_EQ(send(cluster, Write::Verb::apply_patch, types::cohort, "c", "{}").http_status, 415);
}

// ---- deletion -------------------------------------------------------------------------------------------------------------------

TEST(SimulatedCluster, collects_what_a_deleted_owner_leaves) {
  SimulatedCluster cluster = fresh();
  ASSERT_TRUE(cluster.create(test::job("j")).accepted());
  ASSERT_TRUE(cluster.create(test::job("k")).accepted());
  const std::string j = cluster.find("Job", "default", "j")->uid;
  const std::string k = cluster.find("Job", "default", "k")->uid;
  ASSERT_TRUE(cluster.create(test::owned(test::workload("mine"), "Job", "j", j)).accepted());
  ASSERT_TRUE(cluster.create(test::owned(test::workload("stranger"), "Job", "j", "another-uid")).accepted());
  Json shared = test::owned(test::owned(test::workload("shared"), "Job", "j", j), "Job", "k", k);
  shared["metadata"]["ownerReferences"][0]["controller"] = false;
  ASSERT_TRUE(cluster.create(shared).accepted());

  DeleteOptions options;
  options.propagation = Propagation::background;
  ASSERT_TRUE(cluster.remove("Job", "default", "j", options).accepted());
  EXPECT_EQ(cluster.find("Workload", "default", "mine"), nullptr);
  EXPECT_NE(cluster.find("Workload", "default", "stranger"), nullptr);
  ASSERT_NE(cluster.find("Workload", "default", "shared"), nullptr);
  EXPECT_EQ(cluster.find("Workload", "default", "shared")->metadata()["ownerReferences"].size(), 1U);
}

TEST(SimulatedCluster, orphans_what_a_job_owns_unless_told_otherwise) {
  SimulatedCluster cluster = fresh();
  ASSERT_TRUE(cluster.create(test::job("j")).accepted());
  ASSERT_TRUE(cluster.create(test::owned(test::workload("w"), "Job", "j", cluster.find("Job", "default", "j")->uid)).accepted());
  ASSERT_TRUE(cluster.remove("Job", "default", "j").accepted());
  ASSERT_NE(cluster.find("Workload", "default", "w"), nullptr);
  EXPECT_FALSE(cluster.find("Workload", "default", "w")->metadata().contains("ownerReferences"));
}

TEST(SimulatedCluster, collects_behind_finalizers_only_when_the_owner_is_gone) {
  SimulatedCluster cluster = fresh();
  Json held = test::job("j");
  held["metadata"]["finalizers"] = Json::array({"a.b/c"});
  ASSERT_TRUE(cluster.create(held).accepted());
  ASSERT_TRUE(cluster.create(test::owned(test::workload("w"), "Job", "j", cluster.find("Job", "default", "j")->uid)).accepted());
  DeleteOptions options;
  options.propagation = Propagation::background;
  ASSERT_TRUE(cluster.remove("Job", "default", "j", options).accepted());
  EXPECT_TRUE(cluster.find("Job", "default", "j")->deleting());
  EXPECT_NE(cluster.find("Workload", "default", "w"), nullptr);
  ASSERT_TRUE(cluster.merge_patch("Job", "default", "j", Part::main, {{"metadata", {{"finalizers", nullptr}}}}).accepted());
  EXPECT_EQ(cluster.find("Job", "default", "j"), nullptr);
  EXPECT_EQ(cluster.find("Workload", "default", "w"), nullptr);
}

// CA-111: a Job that is deleted takes its Parent along, and that its Options, of which none is held by a finalizer
TEST(SimulatedCluster, collects_the_options_of_a_parent) {
  SimulatedCluster cluster = fresh();
  ASSERT_TRUE(cluster.create(test::job("j")).accepted());
  const auto job_uid = cluster.find("Job", "default", "j")->uid;
  Json parent = test::owned(test::workload("p"), "Job", "j", job_uid);
  parent["metadata"]["finalizers"] = Json::array({"kueue.x-k8s.io/resource-in-use"});
  ASSERT_TRUE(cluster.create(std::move(parent)).accepted());
  const auto parent_uid = cluster.find("Workload", "default", "p")->uid;
  for (const auto* name : {"p-option-a", "p-option-b"})
    ASSERT_TRUE(cluster.create(test::owned(test::workload(name), "Workload", "p", parent_uid)).accepted());
  ASSERT_TRUE(cluster.create(test::owned(test::workload("other"), "Workload", "p", "an earlier one")).accepted());

  DeleteOptions background;
  background.propagation = Propagation::background;
  ASSERT_TRUE(cluster.remove("Job", "default", "j", background).accepted());
  ASSERT_TRUE(cluster.find("Workload", "default", "p")) << "its finalizer holds it";
  EXPECT_TRUE(cluster.find("Workload", "default", "p-option-a"));
  cluster.merge_patch("Workload", "default", "p", Part::main, {{"metadata", {{"finalizers", nullptr}}}});
  for (const auto* name : {"p", "p-option-a", "p-option-b"}) EXPECT_FALSE(cluster.find("Workload", "default", name)) << name;
  EXPECT_TRUE(cluster.find("Workload", "default", "other")) << "of another Parent";
}

TEST(SimulatedCluster, empties_a_namespace_that_is_deleted) {
  SimulatedCluster cluster = fresh();
  ASSERT_TRUE(cluster.create(test::job("j")).accepted());
  Json held = test::workload("w");
  held["metadata"]["finalizers"] = Json::array({"a.b/c"});
  ASSERT_TRUE(cluster.create(held).accepted());
  ASSERT_TRUE(cluster.remove("Namespace", "", "default").accepted());
  EXPECT_EQ(cluster.find("Job", "default", "j"), nullptr);
  EXPECT_TRUE(cluster.find("Namespace", "", "default")->deleting());
  EXPECT_EQ(cluster.create(test::job("late")).http_status, 403);
  ASSERT_TRUE(cluster.merge_patch("Workload", "default", "w", Part::main, {{"metadata", {{"finalizers", nullptr}}}}).accepted());
  EXPECT_EQ(cluster.find("Namespace", "", "default"), nullptr);
  EXPECT_EQ(cluster.create(test::job("later")).http_status, 404);
}

// ---- watches --------------------------------------------------------------------------------------------------------------------

struct Seen {
  WatchEvent::Type type;
  std::string kind, name, version;
};

Seen seen_of(const WatchEvent& event) {
  if (event.type == WatchEvent::Type::synced) return {event.type, std::string(event.resource->kind), "", ""};
  const Json object = Json::parse(event.object);
  return {event.type, object["kind"], object["metadata"]["name"], object["metadata"]["resourceVersion"]};
}

TEST(SimulatedCluster, shows_watchers_what_there_is_and_then_every_change_in_order) {
  SimulatedCluster cluster = fresh();
  cluster.create(kueue("Cohort", "before"));
  std::vector<Seen> seen;
  cluster.watch({&types::cohort, &types::topology}, [&](const WatchEvent& event) { seen.push_back(seen_of(event)); });
  cluster.create(kueue("Cohort", "after"));
  cluster.create(kueue("ResourceFlavor", "not-watched"));
  cluster.merge_patch("Cohort", "", "after", Part::main, {{"spec", {{"parentName", "p"}}}});
  cluster.merge_patch("Cohort", "", "after", Part::main, {{"spec", {{"parentName", "p"}}}});
  cluster.remove("Cohort", "", "after");
  std::vector<std::pair<WatchEvent::Type, std::string>> got;
  for (const auto& event : seen) got.emplace_back(event.type, event.name);
  using Type = WatchEvent::Type;
  EXPECT_EQ(got, (std::vector<std::pair<Type, std::string>>{{Type::added, "before"},
                                                            {Type::synced, ""},
                                                            {Type::synced, ""},
                                                            {Type::added, "after"},
                                                            {Type::modified, "after"},
                                                            {Type::deleted, "after"}}));
  EXPECT_LT(std::stoul(seen[3].version), std::stoul(seen[4].version));
  EXPECT_LT(std::stoul(seen[4].version), std::stoul(seen[5].version));
}

TEST(SimulatedCluster, what_a_watcher_writes_is_shown_after_what_it_was_shown) {
  SimulatedCluster cluster = fresh();
  std::vector<std::string> order;
  cluster.watch({&types::cohort}, [&](const WatchEvent& event) {
    if (event.type == WatchEvent::Type::synced) return;
    const std::string name = Json::parse(event.object)["metadata"]["name"];
    order.push_back("begin " + name);
    if (name == "a") {
      cluster.create(kueue("Cohort", "b"));
      cluster.create(kueue("Cohort", "c"));
    }
    order.push_back("end " + name);
  });
  cluster.create(kueue("Cohort", "a"));
  EXPECT_EQ(order, (std::vector<std::string>{"begin a", "end a", "begin b", "end b", "begin c", "end c"}));
}

// ---- webhooks -------------------------------------------------------------------------------------------------------------------

TEST(Webhooks, suspend_jobs_that_have_a_queue) {
  ClusterOptions options;
  options.webhooks = true;
  SimulatedCluster cluster = fresh(options);
  Json running = test::job("queued");
  running["spec"].erase("suspend");
  ASSERT_TRUE(cluster.create(running).accepted());
  EXPECT_EQ(cluster.find("Job", "default", "queued")->spec()["suspend"], true);
  Json free = test::job("free");
  free["spec"]["suspend"] = false;
  free["metadata"].erase("labels");
  ASSERT_TRUE(cluster.create(free).accepted());
  EXPECT_EQ(cluster.find("Job", "default", "free")->spec()["suspend"], false);
}

// BA-169, BA-172: jobs alone, and nothing is refused
TEST(JobDefaults, suspend_managed_jobs_and_change_nothing_else) {
  ClusterOptions options;
  options.job_defaults.on = true;
  options.job_defaults.manages_namespace = [](std::string_view name, const Json& labels) {
    return name != "default" || labels["kubernetes.io/metadata.name"] == "default";
  };
  SimulatedCluster cluster = fresh(options);
  Json running = test::job("queued");
  running["spec"].erase("suspend");
  ASSERT_TRUE(cluster.create(running).accepted());
  EXPECT_EQ(cluster.find("Job", "default", "queued")->spec()["suspend"], true);
  Json free = test::job("free");
  free["spec"]["suspend"] = false;
  free["metadata"].erase("labels");
  ASSERT_TRUE(cluster.create(free).accepted());
  EXPECT_EQ(cluster.find("Job", "default", "free")->spec()["suspend"], false);
  Json ray = test::object("ray.io/v1", "RayCluster", "r", {{"headGroupSpec", Json::object()}});
  ray["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "lq";
  ASSERT_TRUE(cluster.create(ray).accepted());
  EXPECT_EQ(cluster.find("RayCluster", "default", "r")->spec()["suspend"], true);
  ASSERT_TRUE(cluster.create(kueue("ResourceFlavor", "f")).accepted());
  EXPECT_FALSE(cluster.find("ResourceFlavor", "", "f")->metadata().contains("finalizers"));

  options.job_defaults.without_queue_name = true;
  SimulatedCluster all = fresh(options);
  ASSERT_TRUE(all.create(free).accepted());
  EXPECT_EQ(all.find("Job", "default", "free")->spec()["suspend"], true);
  options.job_defaults.manages_namespace = [](std::string_view, const Json&) { return false; };
  SimulatedCluster none = fresh(options);
  ASSERT_TRUE(none.create(running).accepted());
  EXPECT_EQ(none.find("Job", "default", "queued")->spec()["suspend"], false);
}

// BA-23, BA-24
TEST(Webhooks, give_jobs_the_defaults_of_their_namespace) {
  ClusterOptions options;
  options.webhooks = true;
  SimulatedCluster cluster = fresh(options);
  cluster.create(kueue("LocalQueue", "default", {{"clusterQueue", "q"}}));
  Json priority_class = kueue("WorkloadPriorityClass", "default");
  priority_class["value"] = 5;
  cluster.create(priority_class);
  Json plain = test::job("j");
  plain["metadata"].erase("labels");
  ASSERT_TRUE(cluster.create(plain).accepted());
  const Json labels = cluster.find("Job", "default", "j")->metadata()["labels"];
  EXPECT_EQ(labels["kueue.x-k8s.io/queue-name"], "default");
  EXPECT_EQ(labels["kueue.x-k8s.io/priority-class"], "default");
  EXPECT_EQ(cluster.merge_patch("Job", "default", "j", Part::main, {{"metadata", {{"labels", {{"kueue.x-k8s.io/queue-name", nullptr}}}}}})
                .http_status,
            422);
}

// BA-4
TEST(Webhooks, mark_what_queues_use) {
  ClusterOptions options;
  options.webhooks = true;
  SimulatedCluster cluster = fresh(options);
  cluster.create(kueue("ResourceFlavor", "f"));
  EXPECT_EQ(cluster.find("ResourceFlavor", "", "f")->metadata()["finalizers"], Json::array({"kueue.x-k8s.io/resource-in-use"}));
}

struct Rule {
  const char* kind;
  const char* spec;
  const char* message;
};

// BA-4, BA-5, BA-6, BA-7, BA-8, BA-10, BA-11, BA-13, BA-14: refused with webhooks, accepted by the definitions alone.
TEST(Webhooks, judge_beyond_the_definitions) {
  const std::vector<Rule> rules{
      {"ResourceFlavor", R"({"nodeTaints":[{"key":"a","effect":"NoSchedule"},{"key":"a","effect":"NoSchedule"}]})",
       "taints must be unique by key and effect pair"},
      {"ResourceFlavor", R"({"nodeLabels":{"a/b/c":"d"}})", "must be a label key and a label value"},
      {"ClusterQueue",
       R"({"resourceGroups":[{"coveredResources":["cpu","memory"],"flavors":[{"name":"f","resources":[{"name":"memory","nominalQuota":1},{"name":"cpu","nominalQuota":1}]}]}]})",
       "must match the name in coveredResources"},
      {"ClusterQueue",
       R"({"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":1}]}]},{"coveredResources":["cpu"],"flavors":[{"name":"g","resources":[{"name":"cpu","nominalQuota":1}]}]}]})",
       "Duplicate value: \"cpu\""},
      {"ClusterQueue",
       R"({"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":1}]}]},{"coveredResources":["gpu"],"flavors":[{"name":"f","resources":[{"name":"gpu","nominalQuota":1}]}]}]})",
       "Duplicate value: \"f\""},
      {"ClusterQueue",
       R"({"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"-1"}]}]}]})",
       "must be greater than or equal to 0"},
      {"ClusterQueue",
       R"({"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":1,"lendingLimit":1}]}]}]})",
       "must be nil when cohort is empty"},
      {"ClusterQueue",
       R"({"cohortName":"c","resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"1500m","lendingLimit":2}]}]}]})",
       "must be less than or equal to the nominalQuota"},
      {"ClusterQueue", R"({"admissionChecksStrategy":{"admissionChecks":[{"name":"a","onFlavors":["g"]}]}})",
       "must be a flavor of this ClusterQueue"},
      {"ClusterQueue", R"({"fairSharing":{"weight":"-1"}})", "must be greater than or equal to 0"},
      {"ClusterQueue", R"({"fairSharing":{"weight":"1n"}})", "When not 0, weight must be > 10e-9"},
      {"ClusterQueue", R"({"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"In"}]}})",
       "must be specified when `operator` is 'In' or 'NotIn'"},
      {"ClusterQueue", R"({"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"Near"}]}})", "not a valid selector operator"},
      {"Cohort",
       R"({"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":1,"borrowingLimit":1}]}]}]})",
       "must be nil when parent is empty"},
      {"Workload", R"({"podSets":[{"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"pods":"1"}}}]}}}]})",
       "the key is reserved for internal kueue use"},
      {"Workload", R"({"podSets":[{"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"-1"}}}]}}}]})",
       "must be greater than or equal to 0"},
      {"Workload",
       R"({"podSets":[{"name":"a","count":2,"minCount":1,"template":{"spec":{"containers":[{"name":"c"}]}}},{"name":"b","count":2,"minCount":1,"template":{"spec":{"containers":[{"name":"c"}]}}}]})",
       "at most one podSet can use minCount"}};
  ClusterOptions with;
  with.webhooks = true;
  for (const auto& rule : rules) {
    SimulatedCluster strict = fresh(with), plain = fresh();
    const Reply refused = strict.create(kueue(rule.kind, "x", Json::parse(rule.spec)));
    EXPECT_EQ(refused.http_status, 422) << rule.spec;
    EXPECT_NE(refused.message.find(rule.message), std::string::npos) << rule.spec << "\n" << refused.message;
    const Reply accepted = plain.create(kueue(rule.kind, "x", Json::parse(rule.spec)));
    EXPECT_EQ(accepted.http_status, 201) << rule.spec << "\n" << accepted.message;
  }
}

// 8691 V5, V7: the definitions judge these, with webhooks or without, and whether the feature is on or off.
TEST(SimulatedCluster, knows_the_shapes_of_concurrent_admission) {
  const std::vector<std::pair<const char*, const char*>> forms{
      {R"({"concurrentAdmission":{"onSuccess":"RemoveOther"}})", ""},
      {R"({"concurrentAdmission":{"onSuccess":"RemoveLower"}})", ""},
      {R"({"concurrentAdmission":{"onSuccess":"RemoveBelowTarget","removeBelowTargetConfig":{"targetResourceFlavor":"f"}}})", ""},
      {R"({"concurrentAdmission":{"onSuccess":"RemoveBelowTarget"}})",
       "spec.concurrentAdmission.removeBelowTargetConfig: Required value: must be set when onSuccess is \"RemoveBelowTarget\""},
      {R"({"concurrentAdmission":{"onSuccess":"RemoveOther","removeBelowTargetConfig":{"targetResourceFlavor":"f"}}})",
       "spec.concurrentAdmission.removeBelowTargetConfig: Forbidden: may only be set when onSuccess is \"RemoveBelowTarget\""},
      {R"({"concurrentAdmissionPolicy":{"migration":{"mode":"RetainFirstAdmission"}}})", ""},
      {R"({"concurrentAdmissionPolicy":{"migration":{"mode":"TryPreferredFlavors","constraints":{"lastAcceptableFlavorName":"f"}}}})", ""},
      {R"({"concurrentAdmissionPolicy":{"migration":{"mode":"RetainFirstAdmission","constraints":{"lastAcceptableFlavorName":"f"}}}})",
       "spec.concurrentAdmissionPolicy.migration.constraints: Forbidden: may only be set when migration.mode is \"TryPreferredFlavors\" "
       "(got \"RetainFirstAdmission\")"},
      {R"({"concurrentAdmissionPolicy":{"migration":{"mode":"RetainFirstAdmission","constraints":{}}}})", "may only be set when"}};
  const Json groups =
      Json::parse(R"([{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":1}]}]}])");
  for (const bool webhooks : {true, false}) {
    for (const bool on : {true, false}) {
      ClusterOptions options;
      options.webhooks = webhooks;
      options.gates["ConcurrentAdmission"] = on;
      for (const auto& [form, message] : forms) {
        SimulatedCluster cluster = fresh(options);
        Json queue = kueue("ClusterQueue", "q", Json::parse(form));
        queue["spec"]["resourceGroups"] = groups;
        const Reply reply = cluster.create(queue);
        EXPECT_EQ(reply.http_status, *message == '\0' ? 201 : 422) << form << reply.message;
        if (*message != '\0') {
          EXPECT_NE(reply.message.find(message), std::string::npos) << reply.message;
        }
      }
    }
  }
}

// 8691 V1, V3, V10, V13: with webhooks, while the feature is on, within the bound of the configuration.
TEST(Webhooks, judge_concurrent_admission) {
  const auto queue = [](const char* more, int flavors) {
    Json out = kueue("ClusterQueue", "q", Json::parse(more));
    out["spec"]["resourceGroups"] = Json::parse(R"([{"coveredResources":["cpu"],"flavors":[]}])");
    for (int i = 0; i < flavors; ++i)
      out["spec"]["resourceGroups"][0]["flavors"].push_back(
          {{"name", "f" + std::to_string(i)}, {"resources", Json::array({{{"name", "cpu"}, {"nominalQuota", 1}}})}});
    return out;
  };
  struct Case {
    Json object;
    const char* message;
  };
  const std::vector<Case> cases{
      {queue(R"({"queueingStrategy":"StrictFIFO","concurrentAdmission":{"onSuccess":"RemoveLower"}})", 1),
       "StrictFIFO queueing strategy cannot be used when ConcurrentAdmissionPolicy is defined"},
      {queue(R"({"concurrentAdmission":{"onSuccess":"RemoveLower"}})", 21),
       "cannot have more than 20 resource flavors in the ResourceGroup"},
      {queue(
           R"({"concurrentAdmission":{"onSuccess":"RemoveLower"},"concurrentAdmissionPolicy":{"migration":{"mode":"RetainFirstAdmission"}}})",
           1),
       "must say the same as"}};
  ClusterOptions options;
  options.webhooks = true;
  options.max_options = 20;
  for (const bool on : {true, false}) {
    options.gates["ConcurrentAdmission"] = on;
    for (const auto& [object, message] : cases) {
      SimulatedCluster cluster = fresh(options);
      const Reply reply = cluster.create(object);
      EXPECT_EQ(reply.http_status, on ? 422 : 201) << message << reply.message;
      if (on) {
        EXPECT_NE(reply.message.find(message), std::string::npos) << reply.message;
      }
    }
    SimulatedCluster cluster = fresh(options);
    EXPECT_TRUE(cluster.create(queue(R"({"concurrentAdmission":{"onSuccess":"RemoveLower"}})", 20)).accepted());
    ASSERT_TRUE(cluster.create(test::workload("w")).accepted());
    ASSERT_TRUE(cluster
                    .merge_patch("Workload", "default", "w", Part::status, Json::parse(R"({"status":{"conditions":[
                        {"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}],
                        "admission":{"clusterQueue":"q","podSetAssignments":[{"name":"main","count":1,"flavors":{"cpu":"f0"}}]}}})"))
                    .accepted());
    const auto allow = [&](const char* flavor) {
      const Json allowed = {{"allowedResourceFlavors", Json::array({flavor})}};
      return cluster.merge_patch("Workload", "default", "w", Part::main, {{"spec", {{"admissionConstraints", allowed}}}});
    };
    EXPECT_TRUE(allow("f0").accepted());
    EXPECT_EQ(allow("f1").http_status, on ? 422 : 200);
  }
}

// BA-8
TEST(Webhooks, let_a_cohort_lend_more_than_it_has) {
  ClusterOptions options;
  options.webhooks = true;
  SimulatedCluster cluster = fresh(options);
  const Reply reply =
      cluster.create(kueue("Cohort", "c", Json::parse(R"({"parentName":"p","resourceGroups":[{"coveredResources":["cpu"],"flavors":[
      {"name":"f","resources":[{"name":"cpu","nominalQuota":1,"lendingLimit":5}]}]}]})")));
  EXPECT_TRUE(reply.accepted()) << reply.message;
}

// BA-15, BA-16, BA-17
TEST(Webhooks, judge_changes_of_workloads) {
  ClusterOptions options;
  options.webhooks = true;
  SimulatedCluster cluster = fresh(options);
  Json made = test::workload("w");
  made["spec"]["podSets"][0]["count"] = 3;
  ASSERT_TRUE(cluster.create(made).accepted());
  const std::string reserved =
      R"("conditions":[{"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}])";
  const auto patch_status = [&](const std::string& status) {
    return cluster.merge_patch("Workload", "default", "w", Part::status, Json::parse("{\"status\":{" + status + "}}"));
  };
  const auto expect_refused = [](const Reply& reply, const char* message) {
    EXPECT_EQ(reply.http_status, 422) << message;
    EXPECT_NE(reply.message.find(message), std::string::npos) << reply.message;
  };
  const std::string assignment =
      R"("admission":{"clusterQueue":"q","podSetAssignments":[{"name":"main","count":3,"flavors":{"cpu":"f"},"resourceUsage":{"cpu":"3"}}]})";
  expect_refused(patch_status(reserved), "must be set while the QuotaReserved condition is true");
  expect_refused(
      patch_status(R"("admission":{"clusterQueue":"q","podSetAssignments":[{"name":"main","count":3,"resourceUsage":{"cpu":"100m"}}]})"),
      "is not a multiple of 3");
  expect_refused(patch_status(R"("admission":{"clusterQueue":"q","podSetAssignments":[{"name":"other"}]})"),
                 "must be the name of a podset");
  expect_refused(patch_status(R"("reclaimablePods":[{"name":"main","count":4}])"), "should be less or equal to 3");
  ASSERT_TRUE(patch_status(reserved + "," + assignment).accepted());
  expect_refused(patch_status(R"("admission":{"clusterQueue":"other"})"), "field is immutable");
  ASSERT_TRUE(patch_status(R"("reclaimablePods":[{"name":"main","count":2}])").accepted());
  expect_refused(patch_status(R"("reclaimablePods":[{"name":"main","count":1}])"), "cannot be less than 2");
  expect_refused(patch_status(R"("reclaimablePods":[])"), "cannot be removed");

  const auto patch_pods = [&](int count, const char* image) {
    Json pod_sets = cluster.find("Workload", "default", "w")->spec()["podSets"];
    pod_sets[0]["count"] = count;
    pod_sets[0]["template"]["spec"]["containers"][0]["image"] = image;
    return cluster.merge_patch("Workload", "default", "w", Part::main, {{"spec", {{"podSets", pod_sets}}}});
  };
  expect_refused(patch_pods(4, "i"), "field is immutable");
  expect_refused(patch_pods(3, "other"), "field is immutable");
  EXPECT_TRUE(patch_pods(2, "i").accepted());
  EXPECT_TRUE(patch_status(R"("admission":null,"conditions":null)").accepted());
  EXPECT_TRUE(patch_pods(5, "other").accepted());
}

// BA-25, BA-26
TEST(Webhooks, judge_changes_of_jobs) {
  ClusterOptions options;
  options.webhooks = true;
  SimulatedCluster cluster = fresh(options);
  Json least = test::job("least", {{"kueue.x-k8s.io/job-min-parallelism", "2"}});
  EXPECT_NE(cluster.create(least).message.find("should be between 0 and 1"), std::string::npos);
  Json equal = test::job("equal", {{"kueue.x-k8s.io/job-completions-equal-parallelism", "true"}});
  EXPECT_NE(cluster.create(equal).message.find("should not be enabled for NonIndexed jobs"), std::string::npos);
  Json timed = test::job("timed");
  timed["metadata"]["labels"]["kueue.x-k8s.io/max-exec-time-seconds"] = "0";
  EXPECT_NE(cluster.create(timed).message.find("should be greater than 0"), std::string::npos);

  ASSERT_TRUE(cluster.create(test::job("j")).accepted());
  const auto label = [&](const char* name, Json value) {
    return cluster.merge_patch("Job", "default", "j", Part::main, {{"metadata", {{"labels", {{name, std::move(value)}}}}}});
  };
  EXPECT_TRUE(label("kueue.x-k8s.io/queue-name", "other").accepted());
  ASSERT_TRUE(cluster.merge_patch("Job", "default", "j", Part::main, {{"spec", {{"suspend", false}}}}).accepted());
  EXPECT_NE(label("kueue.x-k8s.io/queue-name", "third").message.find("field is immutable"), std::string::npos);
  EXPECT_NE(label("kueue.x-k8s.io/priority-class", "p").message.find("WorkloadPriorityClass cannot be added to a non-suspended workload"),
            std::string::npos);
  ASSERT_TRUE(cluster.merge_patch("Job", "default", "j", Part::main, {{"spec", {{"suspend", true}}}}).accepted());
  EXPECT_TRUE(label("kueue.x-k8s.io/priority-class", "p").accepted());
  EXPECT_TRUE(label("kueue.x-k8s.io/priority-class", "q").accepted());
  EXPECT_NE(label("kueue.x-k8s.io/priority-class", nullptr).message.find("WorkloadPriorityClass cannot be removed from a workload"),
            std::string::npos);
}

}  // namespace
}  // namespace hindsight::connectors::simulated
