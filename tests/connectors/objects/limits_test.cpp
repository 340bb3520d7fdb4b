// Every limit that readers keep is tried at its number and one beyond: an object at it is read, one beyond is refused with the field, what
// was found and what is allowed. No object of any shape ends the process.

#include "vocabulary/limits.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "connectors/json/json_value.hpp"
#include "connectors/objects/plan.hpp"
#include "tests/connectors/objects/observing.hpp"
#include "tests/connectors/objects/samples.hpp"

namespace hindsight::connectors {
namespace {

Json sample(const ResourceType& type) {
  for (const auto& [of, text] : samples)
    if (of == &type) return Json::parse(text);
  ADD_FAILURE() << "no sample of " << type.kind;
  return {};
}

using Pointer = Json::json_pointer;

Json list_of(std::size_t n, const std::function<Json(std::size_t)>& element) {
  Json out = Json::array();
  for (std::size_t i = 0; i < n; ++i) out.push_back(element(i));
  return out;
}

Json map_of(std::size_t n, std::string_view value = "v") {
  Json out = Json::object();
  for (std::size_t i = 0; i < n; ++i) out["k" + std::to_string(i)] = value;
  return out;
}

/// What other containers of the sample ask for is among them.
Json requests_of(std::size_t n) {
  Json out = map_of(n - 1, "1");
  out["cpu"] = "1";
  return out;
}

std::string letters(std::size_t n) { return std::string(n, 'x'); }

/// What stands at `place` with n of what is counted.
struct Case {
  const limits::Limit& limit;
  const ResourceType& type;
  std::string place;                       ///< JSON pointer.
  std::function<Json(std::size_t)> value;  ///< Of n.
  std::string field;                       ///< By which the refusal names it.
};

std::vector<Case> texts() {
  const auto names = [](std::size_t n) { return Json(letters(n)); };
  const std::string template_spec = "/spec/podSets/0/template/spec";
  return {
      {limits::name, types::workload, "/metadata/name", names, "metadata.name"},
      {limits::namespace_name, types::workload, "/metadata/namespace", names, "metadata.namespace"},
      {limits::uid, types::workload, "/metadata/uid", names, "metadata.uid"},
      {limits::uid, types::workload, "/metadata/ownerReferences/0/uid", names, "metadata.ownerReferences[0].uid"},
      {limits::name, types::workload, "/metadata/ownerReferences/0/name", names, "metadata.ownerReferences[0].name"},
      {limits::name, types::workload, "/spec/queueName", names, "spec.queueName"},
      {limits::dns_label, types::workload, "/spec/podSets/0/name", names, "spec.podSets[0].name"},
      {limits::check_name, types::workload, "/status/admissionChecks/0/name", names, "status.admissionChecks[0].name"},
      {limits::reason, types::workload, "/status/conditions/0/reason", names, "status.conditions[0].reason"},
      {limits::key, types::workload, template_spec + "/tolerations/0/key", names, "spec.podSets[0].template.spec.tolerations[0].key"},
      {limits::value, types::workload, template_spec + "/nodeSelector/zone", names, "spec.podSets[0].template.spec.nodeSelector.zone"},
      {limits::quantity, types::workload, template_spec + "/overhead/cpu", [](std::size_t n) { return std::string(n - 1, '0') + "1"; },
       "spec.podSets[0].template.spec.overhead.cpu"},
      {limits::gate_list, types::workload, "/metadata/annotations/kueue.x-k8s.io~1admission-gated-by", names,
       "metadata.annotations[kueue.x-k8s.io/admission-gated-by]"},
      {limits::gate_list, types::job, "/metadata/annotations/kueue.x-k8s.io~1admission-gated-by", names,
       "metadata.annotations[kueue.x-k8s.io/admission-gated-by]"},
      {limits::flavor_list, types::workload, "/metadata/annotations/kueue.x-k8s.io~1workload-allowed-resource-flavors",
       [](std::size_t n) { return std::string(n - 1, ' ') + "f"; },
       "metadata.annotations[kueue.x-k8s.io/workload-allowed-resource-flavors]"},
      {limits::name, types::workload, "/metadata/annotations/kueue.x-k8s.io~1workload-allowed-resource-flavors",
       [](std::size_t n) { return "f, " + letters(n); }, "metadata.annotations[kueue.x-k8s.io/workload-allowed-resource-flavors]"},
      {limits::name, types::workload, "/spec/admissionConstraints/allowedResourceFlavors/0", names,
       "spec.admissionConstraints.allowedResourceFlavors[0]"},
      {limits::dns_label, types::workload, "/spec/preemptionGates/0/name", names, "spec.preemptionGates[0].name"},
      {limits::dns_label, types::workload, "/status/preemptionGates/0/name", names, "status.preemptionGates[0].name"},
      {limits::name, types::workload, "/status/options/0/name", names, "status.options[0].name"},
      {limits::name, types::workload, "/status/options/0/resourceFlavors/0", names, "status.options[0].resourceFlavors[0]"},
      {limits::dns_label, types::cluster_queue, "/spec/concurrentAdmission/explicitOptions/0/name", names,
       "spec.concurrentAdmission.explicitOptions[0].name"},
      {limits::name, types::cluster_queue, "/spec/concurrentAdmission/explicitOptions/0/allowedResourceFlavors/0", names,
       "spec.concurrentAdmission.explicitOptions[0].allowedResourceFlavors[0]"},
      {limits::name, types::cluster_queue, "/spec/concurrentAdmission/removeBelowTargetConfig/targetResourceFlavor", names,
       "spec.concurrentAdmission.removeBelowTargetConfig.targetResourceFlavor"},
      {limits::json_annotation, types::workload, "/metadata/annotations/hindsight.dev~1resource-bounds",
       [](std::size_t n) { return "[" + std::string(n - 2, ' ') + "]"; }, "metadata.annotations[hindsight.dev/resource-bounds]"},
      {limits::resource_plan, types::workload, "/metadata/annotations/hindsight.dev~1resource-plan",
       [](std::size_t n) { return "[" + std::string(n - 2, ' ') + "]"; }, "metadata.annotations[hindsight.dev/resource-plan]"},
      {limits::json_annotation, types::job, "/metadata/annotations/hindsight.dev~1resource-bounds",
       [](std::size_t n) { return "[" + std::string(n - 2, ' ') + "]"; }, "metadata.annotations[hindsight.dev/resource-bounds]"},
      {limits::json_annotation, types::job,
       "/spec/template/metadata/annotations/kueue.x-k8s.io~1podset-slice-required-topology-constraints", names,
       "spec.template.metadata.annotations[kueue.x-k8s.io/podset-slice-required-topology-constraints]"},
      {limits::name, types::job, "/metadata/labels/kueue.x-k8s.io~1queue-name", names, "metadata.labels[kueue.x-k8s.io/queue-name]"},
      {limits::value, types::job, "/metadata/annotations/kueue.x-k8s.io~1job-min-parallelism",
       [](std::size_t n) { return std::string(n - 1, '0') + "1"; }, "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]"},
      {limits::name, types::local_queue, "/spec/clusterQueue", names, "spec.clusterQueue"},
      {limits::name, types::cohort, "/spec/parentName", names, "spec.parentName"},
      {limits::name, types::admission_check, "/spec/controllerName", names, "spec.controllerName"},
      {limits::key, types::topology, "/spec/levels/0/nodeLabel", names, "spec.levels[0].nodeLabel"},
  };
}

std::vector<Case> lists_of_workloads() {
  const std::string template_spec = "/spec/podSets/0/template/spec";
  const std::string terms = template_spec + "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
  const std::string path = "spec.podSets[0].template.spec.";
  const std::string term_path = path + "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  const Json pod_set = sample(types::workload).at(Pointer("/spec/podSets/0"));
  const auto named = [](std::size_t i) { return Json{{"name", "n" + std::to_string(i)}}; };
  const auto pod_sets = [pod_set](std::size_t n) {
    return list_of(n, [&](std::size_t i) {
      Json out = pod_set;
      out["name"] = "p" + std::to_string(i);
      return out;
    });
  };
  const auto requirement = [](std::size_t) { return Json{{"key", "a"}, {"operator", "Exists"}}; };
  const auto flavors = [](std::size_t n) { return list_of(n, [](std::size_t i) { return "f" + std::to_string(i); }); };
  return {
      {limits::owner_references, types::workload, "/metadata/ownerReferences",
       [](std::size_t n) {
         return list_of(n, [](std::size_t i) { return Json{{"kind", "ConfigMap"}, {"name", "m"}, {"uid", "u" + std::to_string(i)}}; });
       },
       "metadata.ownerReferences"},
      {limits::finalizers, types::workload, "/metadata/finalizers",
       [](std::size_t n) { return list_of(n, [](std::size_t) { return "a/b"; }); }, "metadata.finalizers"},
      {limits::labels, types::workload, "/metadata/labels", [](std::size_t n) { return map_of(n); }, "metadata.labels"},
      {limits::labels, types::workload, "/metadata/annotations", [](std::size_t n) { return map_of(n); }, "metadata.annotations"},
      {limits::conditions, types::workload, "/status/conditions",
       [](std::size_t n) { return list_of(n, [](std::size_t) {
                             return Json{{"type", "a/b"}, {"status", "True"}};
                           }); },
       "status.conditions"},
      {limits::pod_sets, types::workload, "/spec/podSets", pod_sets, "spec.podSets"},
      {limits::containers, types::workload, template_spec + "/containers",
       [](std::size_t n) { return list_of(n, [](std::size_t) { return Json::object(); }); }, path + "containers"},
      {limits::containers, types::workload, template_spec + "/initContainers",
       [](std::size_t n) { return list_of(n, [](std::size_t) { return Json::object(); }); }, path + "initContainers"},
      {limits::resources, types::workload, template_spec + "/containers/0/resources/requests", [](std::size_t n) { return requests_of(n); },
       path + "containers[0].resources.requests"},
      {limits::resources, types::workload, template_spec + "/overhead", [](std::size_t n) { return map_of(n, "1"); }, path + "overhead"},
      {limits::node_selector, types::workload, template_spec + "/nodeSelector", [](std::size_t n) { return map_of(n); },
       path + "nodeSelector"},
      {limits::affinity_terms, types::workload, terms,
       [=](std::size_t n) { return list_of(n, [&](std::size_t i) {
                              return Json{{"matchExpressions", Json::array({requirement(i)})}};
                            }); },
       term_path},
      {limits::requirements, types::workload, terms + "/0/matchExpressions", [=](std::size_t n) { return list_of(n, requirement); },
       term_path + "[0].matchExpressions"},
      {limits::requirement_values, types::workload, terms + "/0/matchExpressions/0/values",
       [](std::size_t n) { return list_of(n, [](std::size_t) { return ""; }); }, term_path + "[0].matchExpressions[0].values"},
      {limits::tolerations, types::workload, template_spec + "/tolerations",
       [](std::size_t n) { return list_of(n, [](std::size_t) {
                             return Json{{"operator", "Exists"}};
                           }); }, path + "tolerations"},
      {limits::gates, types::workload, "/metadata/annotations/kueue.x-k8s.io~1admission-gated-by",
       [](std::size_t n) {
         return letters(1) + [n] {
           std::string out;
           for (std::size_t i = 1; i < n; ++i) out += ",x";
           return out;
         }();
       },
       "metadata.annotations[kueue.x-k8s.io/admission-gated-by]"},
      {limits::reclaimable_pods, types::workload, "/status/reclaimablePods", [=](std::size_t n) { return list_of(n, named); },
       "status.reclaimablePods"},
      {limits::workload_checks, types::workload, "/status/admissionChecks",
       [](std::size_t n) { return list_of(n, [](std::size_t i) {
                             return Json{{"name", "c" + std::to_string(i)}, {"state", "Ready"}};
                           }); },
       "status.admissionChecks"},
      {limits::evictions, types::workload, "/status/schedulingStats/evictions",
       [](std::size_t n) { return list_of(n, [](std::size_t) {
                             return Json{{"reason", "Preempted"}, {"count", 1}};
                           }); },
       "status.schedulingStats.evictions"},
      {limits::allowed_flavors, types::workload, "/spec/admissionConstraints/allowedResourceFlavors", flavors,
       "spec.admissionConstraints.allowedResourceFlavors"},
      {limits::allowed_flavors, types::workload, "/metadata/annotations/kueue.x-k8s.io~1workload-allowed-resource-flavors",
       [](std::size_t n) {
         std::string out;
         for (std::size_t i = 0; i < n; ++i) out += "f" + std::to_string(i) + ", ,";  // blank ones do not count
         return out;
       },
       "metadata.annotations[kueue.x-k8s.io/workload-allowed-resource-flavors]"},
      {limits::allowed_flavors, types::workload, "/status/options/0/resourceFlavors", flavors, "status.options[0].resourceFlavors"},
      {limits::preemption_gates, types::workload, "/spec/preemptionGates", [=](std::size_t n) { return list_of(n, named); },
       "spec.preemptionGates"},
      {limits::preemption_gates, types::workload, "/status/preemptionGates", [=](std::size_t n) { return list_of(n, named); },
       "status.preemptionGates"},
      {limits::options, types::workload, "/status/options", [=](std::size_t n) { return list_of(n, named); }, "status.options"},
  };
}

std::vector<Case> lists_of_configuration() {
  const Json group = sample(types::cluster_queue).at(Pointer("/spec/resourceGroups/0"));
  const Json flavor = group["flavors"][0];
  const Json resource = flavor["resources"][0];
  const auto copies = [](const Json& of) { return [of](std::size_t n) { return list_of(n, [&](std::size_t) { return of; }); }; };
  const auto names = [](std::size_t n) { return list_of(n, [](std::size_t i) { return "r" + std::to_string(i); }); };
  const auto taints = copies(Json{{"key", "k"}, {"effect", "NoSchedule"}});
  return {
      {limits::resource_groups, types::cluster_queue, "/spec/resourceGroups", copies(group), "spec.resourceGroups"},
      {limits::covered_resources, types::cluster_queue, "/spec/resourceGroups/0/coveredResources", names,
       "spec.resourceGroups[0].coveredResources"},
      {limits::flavors, types::cluster_queue, "/spec/resourceGroups/0/flavors", copies(flavor), "spec.resourceGroups[0].flavors"},
      {limits::flavor_resources, types::cluster_queue, "/spec/resourceGroups/0/flavors/0/resources", copies(resource),
       "spec.resourceGroups[0].flavors[0].resources"},
      {limits::queue_checks, types::cluster_queue, "/spec/admissionChecksStrategy/admissionChecks", copies(Json{{"name", "p"}}),
       "spec.admissionChecksStrategy.admissionChecks"},
      {limits::check_flavors, types::cluster_queue, "/spec/admissionChecksStrategy/admissionChecks/0/onFlavors", names,
       "spec.admissionChecksStrategy.admissionChecks[0].onFlavors"},
      {limits::explicit_options, types::cluster_queue, "/spec/concurrentAdmission/explicitOptions",
       copies(Json{{"name", "o"}, {"allowedResourceFlavors", Json::array({"f"})}}), "spec.concurrentAdmission.explicitOptions"},
      {limits::allowed_flavors, types::cluster_queue, "/spec/concurrentAdmission/explicitOptions/0/allowedResourceFlavors", names,
       "spec.concurrentAdmission.explicitOptions[0].allowedResourceFlavors"},
      {limits::flavor_labels, types::resource_flavor, "/spec/nodeLabels", [](std::size_t n) { return map_of(n); }, "spec.nodeLabels"},
      {limits::flavor_taints, types::resource_flavor, "/spec/nodeTaints", taints, "spec.nodeTaints"},
      {limits::flavor_tolerations, types::resource_flavor, "/spec/tolerations", copies(Json{{"operator", "Exists"}}), "spec.tolerations"},
      {limits::topology_levels, types::topology, "/spec/levels", copies(Json{{"nodeLabel", "a"}}), "spec.levels"},
      {limits::tolerations, types::node, "/spec/taints", taints, "spec.taints"},
      {limits::labels, types::node, "/metadata/labels", [](std::size_t n) { return map_of(n); }, "metadata.labels"},
  };
}

std::string refusal_with(const Case& c, std::size_t n) {
  Json object = sample(c.type);
  object[Pointer(c.place)] = c.value(n);
  return refusal(c.type, object.dump());
}

void try_at_and_beyond(const std::vector<Case>& cases) {
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.limit.name) + " of " + std::string(c.type.kind) + " at " + c.place);
    EXPECT_EQ(refusal_with(c, c.limit.size()), "");
    const auto beyond = refusal_with(c, c.limit.size() + 1);
    const std::string unit = " " + std::string(limits::name_of(c.limit.unit));
    const auto wanted =
        c.field + ": found " + std::to_string(c.limit.size() + 1) + unit + ", allowed: at most " + std::to_string(c.limit.most) + unit;
    EXPECT_NE(beyond.find(": " + wanted), std::string::npos) << beyond << "\nwanted: " << wanted;
  }
}

TEST(Limits, HoldForTexts) { try_at_and_beyond(texts()); }
TEST(Limits, HoldForListsOfWorkloads) { try_at_and_beyond(lists_of_workloads()); }
TEST(Limits, HoldForListsOfConfiguration) { try_at_and_beyond(lists_of_configuration()); }

// BA-21
TEST(Limits, CutMessagesAndRefuseNone) {
  Json object = sample(types::workload);
  object["status"]["conditions"][0]["message"] = letters(1'000'000);
  object["status"]["admissionChecks"][0]["message"] = letters(1'000'000);
  Arena arena;
  const auto wl = observed<WorkloadObserved>(types::workload, object.dump(), arena);
  ASSERT_EQ(wl.conditions.size(), 1U);
  EXPECT_EQ(wl.conditions[0].message.size(), limits::message.size());
  EXPECT_EQ(wl.checks[0].message.size(), limits::message.size());
}

/// What 64 bits cannot hold is refused before anybody adds it up: amounts times counts, and sums over pod sets.
TEST(Limits, HoldForTheTotalOfAResource) {
  const auto with = [](std::string_view memory, std::int64_t count, std::size_t pod_sets) {
    Json object = sample(types::workload);
    Json pod_set{{"name", "p"},
                 {"count", count},
                 {"template", {{"spec", {{"containers", {{{"resources", {{"requests", {{"memory", memory}}}}}}}}}}}}};
    object["spec"]["podSets"] = list_of(pod_sets, [&](std::size_t i) {
      pod_set["name"] = "p" + std::to_string(i);
      return pod_set;
    });
    object.erase("status");
    return refusal(types::workload, object.dump());
  };
  EXPECT_EQ(with("64Pi", 1, 1), "");
  EXPECT_EQ(with("32Pi", 2, 1), "");
  EXPECT_EQ(with("16Pi", 2, 2), "");
  for (const auto& beyond : {with("64Pi", 2, 1), with("64Pi", 1, 2), with("7Ei", 2147483647, 18), with("9223372036854775807", 1, 1)})
    EXPECT_NE(beyond.find("spec: found pods that ask for"), std::string::npos) << beyond;
  EXPECT_NE(with("64Pi", 2, 1).find("of memory, allowed: at most 72057594037927936"), std::string::npos) << with("64Pi", 2, 1);
  EXPECT_NE(with("-1", 1, 1).find("requests.memory: found \"-1\""), std::string::npos) << with("-1", 1, 1);
  EXPECT_NE(with("1", 2147483648, 1).find("spec.podSets[0].count: found 2147483648"), std::string::npos);
}

/// Each list is within its limit, and all together are not.
TEST(Limits, HoldForAllFactsTogether) {
  const auto with = [](std::size_t bytes) {
    Json object = sample(types::workload);
    auto& selector = object[Pointer("/spec/podSets/0/template/spec/nodeSelector")];
    for (std::size_t i = 0; bytes > 0; ++i) {
      const auto n = std::min<std::size_t>(bytes, 1024);
      selector["k" + std::to_string(i)] = letters(n);
      bytes -= n;
    }
    return refusal(types::workload, object.dump());
  };
  EXPECT_EQ(with(limits::facts.size() / 2), "");
  const auto beyond = with(limits::facts.size());
  EXPECT_NE(beyond.find("spec: found pod templates of which admission has to know "), std::string::npos) << beyond;
  EXPECT_NE(beyond.find("allowed: at most " + std::to_string(limits::facts.most) + " bytes"), std::string::npos) << beyond;
}

/// A Workload of which all may be sized: `resource` and a number in front of it, `resources` of them, in as many containers of each pod
/// set.
Json sized_workload(std::size_t pod_sets, std::size_t containers, std::size_t resources, const std::string& resource) {
  Json object = sample(types::workload);
  Json asked = Json::object(), bounds = Json::object(), pod_spec = Json::object();
  for (std::size_t r = 0; r < resources; ++r) asked[std::string(r, 'x') + resource] = "1";
  for (std::size_t c = 0; c < containers; ++c) {
    const auto name = "c" + std::to_string(c);
    pod_spec["containers"].push_back({{"name", name}, {"resources", {{"requests", asked}}}});
    for (const auto& [r, amount] : asked.items()) bounds[name][r] = {{"step", "1"}};
  }
  object["spec"]["podSets"] = Json::array();
  for (std::size_t p = 0; p < pod_sets; ++p)
    object["spec"]["podSets"].push_back({{"name", "p" + std::to_string(p)}, {"count", 1}, {"template", {{"spec", pod_spec}}}});
  object["metadata"]["annotations"] = {{"hindsight.dev/resource-policy", "Fit"}, {"hindsight.dev/resource-bounds", bounds.dump()}};
  object.erase("status");
  return object;
}

/// The longest plan of a Workload that is read: written, it is read again, and nothing of it is lost. MR-45
TEST(Limits, APlanOfOursIsNeverBeyondThem) {
  struct Shape {
    std::size_t pod_sets, containers, resources;
    std::string resource;
  };
  std::size_t longest = 0;
  for (const auto& [pod_sets, containers, resources, resource] : {Shape{18, 1, 0, "cpu"}, Shape{18, 1, 0, "g"}, Shape{18, 0, 1, "cpu"},
                                                                  Shape{1, 0, 1, "cpu"}, Shape{1, 0, 1, "example.com/a-resource"}}) {
    const auto of_size = [&](std::size_t n) {
      return sized_workload(pod_sets, containers == 0 ? n : containers, resources == 0 ? n : resources, resource);
    };
    std::size_t n = 1;
    while (n < 500 && refusal(types::workload, of_size(n + 1).dump()).empty()) ++n;
    Json object = of_size(n);
    Arena arena;
    const auto seen = observed<WorkloadObserved>(types::workload, object.dump(), arena);
    admission::WorkloadIntent intent;
    intent.uid = text_member(object["metadata"], "uid");
    for (const auto& pod_set : seen.pod_sets)
      for (const auto& container : pod_set.sized)
        for (const auto& a : container.amounts)
          intent.plan.push_back(
              {std::string(pod_set.name), std::string(container.name), std::string(a.resource), 1, limits::total_amount.most - 1});
    const auto writes = plan_workload(intent, object);
    ASSERT_EQ(writes.size(), 1U);
    object.merge_patch(Json::parse(writes[0].body));
    longest = std::max(longest, text_member(object["metadata"]["annotations"], "hindsight.dev/resource-plan").size());
    const auto again = observed<WorkloadObserved>(types::workload, object.dump(), arena);
    EXPECT_EQ(again.plan.size(), intent.plan.size()) << pod_sets << " pod sets, " << n;
  }
  EXPECT_GT(longest, limits::json_annotation.size()) << "the longest tried is no trial";
  EXPECT_LE(longest, limits::resource_plan.size());
}

Json condition_of(std::string_view type, std::string message) {
  return {{"type", type}, {"status", "False"}, {"reason", "R"}, {"message", std::move(message)}};
}

/// Each text is within its limit, and all together are not: whoever may write statuses would have each version of it recorded.
TEST(Limits, HoldForTheStatusOfAWorkloadTogether) {
  const auto with = [](Json conditions, Json checks, Json evictions) {
    Json object = sample(types::workload);
    object["status"] = {{"conditions", std::move(conditions)},
                        {"admissionChecks", std::move(checks)},
                        {"schedulingStats", {{"evictions", std::move(evictions)}}}};
    return refusal(types::workload, object.dump());
  };
  const auto check = [](std::size_t i, std::size_t message, std::size_t updates) {
    Json out{{"name", "c" + std::to_string(i)}, {"state", "Pending"}, {"message", letters(message)}};
    if (updates != 0) out["podSetUpdates"] = Json::array({{{"name", "main"}, {"annotations", {{"a", letters(updates)}}}}});
    return out;
  };
  const Json none = Json::array();
  const std::string allowed = "allowed: at most 131072 bytes";
  const std::size_t whole = limits::message.size();
  // what controllers write, and far more
  EXPECT_EQ(with({condition_of("Evicted", letters(2'000)), condition_of("Requeued", letters(2'000)), condition_of("Admitted", "")},
                 {check(0, whole, 10'000)},
                 list_of(20,
                         [](std::size_t) {
                           return Json{{"reason", "Preempted"}, {"count", 1}};
                         })),
            "");
  // as Kueue quotes the message of a check, whole
  EXPECT_EQ(with({condition_of("Evicted", letters(whole)), condition_of("Requeued", letters(whole))}, {check(0, whole, 20'000)}, none), "");
  // everything at once, as large as each may be
  Json conditions = Json::array();
  for (const auto* type : {"Admitted", "PodsReady", "Evicted", "Preempted", "Requeued", "DeactivationTarget", "Finished"})
    conditions.push_back(condition_of(type, letters(whole)));
  const auto checks = list_of(limits::workload_checks.size(), [&](std::size_t i) { return check(i, whole, 20'000); });
  const auto evictions = list_of(limits::evictions.size(), [](std::size_t) {
    return Json{{"reason", letters(limits::reason.size())}, {"underlyingCause", letters(limits::reason.size())}, {"count", 1}};
  });
  const auto options = [](std::size_t n, std::size_t message) {
    Json object = sample(types::workload);
    object["status"] = {{"options", list_of(n, [&](std::size_t i) {
                           return Json{{"name", "o" + std::to_string(i)}, {"state", "Pending"}, {"message", letters(message)}};
                         })}};
    return refusal(types::workload, object.dump());
  };
  EXPECT_EQ(options(limits::options.size(), 1'000), "");  // a long message in each
  for (const auto& beyond :
       {with(conditions, none, none), with(none, checks, none), with(none, none, evictions), options(limits::options.size(), whole)}) {
    EXPECT_NE(beyond.find("status: found "), std::string::npos) << beyond;
    EXPECT_NE(beyond.find(allowed), std::string::npos) << beyond;
  }
}

/// What says that an object was set aside must not decide whether it is: it would be set aside and not, in turn, for ever.
TEST(Limits, OfAStatusDoNotDependOnWhatWeSayOfIt) {
  const auto with = [](std::size_t others, std::size_t ours) {
    Json object = sample(types::workload);
    Json conditions = Json::array({condition_of("QuotaReserved", letters(ours))});
    for (const auto* type : {"Admitted", "PodsReady", "Evicted", "Preempted", "Requeued"})
      conditions.push_back(condition_of(type, letters(others)));
    object["status"] = {{"conditions", std::move(conditions)}};
    return refusal(types::workload, object.dump());
  };
  std::size_t last = 0;  // the longest that is within the limit, whatever we say
  for (std::size_t step = 1 << 14; step > 0; step /= 2)
    if (with(last + step, 0).empty()) last += step;
  EXPECT_GT(last, limits::status.size() / 5 - 1'000);
  for (const std::size_t ours : {std::size_t{0}, std::size_t{100}, limits::finding.size(), limits::message.size()}) {
    EXPECT_EQ(with(last, ours), "") << ours;
    EXPECT_NE(with(last + 1, ours), "") << ours;
  }
}

/// Each container names few resources, all together name more than anybody sorts for free.
TEST(Limits, HoldForTheResourcesOfAllContainersTogether) {
  const auto with = [](std::size_t each) {
    Json object = sample(types::workload);
    object[Pointer("/spec/podSets/0/template/spec/containers")] = list_of(2, [&](std::size_t i) {
      Json requests = Json::object();
      for (std::size_t r = 0; r < each; ++r) requests["c" + std::to_string(i) + "-" + std::to_string(r)] = "1";
      return Json{{"resources", {{"requests", requests}}}};
    });
    object[Pointer("/spec/podSets/0/template/spec")].erase("initContainers");
    object[Pointer("/spec/podSets/0/template/spec")].erase("resources");
    return refusal(types::workload, object.dump());
  };
  EXPECT_EQ(with(32), "");
  EXPECT_NE(with(33).find("containers[1].resources: found 66 elements, allowed: at most 64 elements"), std::string::npos) << with(33);
}

/// Deeper JSON than the walkers' recursion bears: as an object, and in each annotation that holds JSON.
TEST(Limits, HoldForTheDepthOfJson) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  const std::string fits = std::string(8'000, '[') + std::string(8'000, ']');
  for (const auto& [type, text] : samples) {
    Json object = Json::parse(text);
    auto raw = object.dump();
    raw.insert(1, R"("deep":)" + deep + ",");
    EXPECT_NE(refusal(*type, raw).find("deeper nesting, allowed: at most 128 levels"), std::string::npos) << type->kind;
  }
  for (const auto* key : {"hindsight.dev/resource-bounds", "hindsight.dev/resource-plan",
                          "kueue.x-k8s.io/podset-slice-required-topology-constraints", "kueue.x-k8s.io/admission-gated-by"}) {
    for (const auto* type : {&types::workload, &types::job}) {
      for (const auto& value : {deep, fits}) {
        Json object = sample(*type);
        object["metadata"]["annotations"][key] = value;
        auto& meta = type == &types::job ? object["spec"]["template"]["metadata"] : object["spec"]["podSets"][0]["template"]["metadata"];
        meta["annotations"][key] = value;
        (void)refusal(*type, object.dump());  // whatever it says: the process is there afterwards
      }
    }
  }
}

// ---- what is told of an object that cannot be read ------------------------------------------------------------------------------------

TEST(Quarantined, TellsWhoCannotBeReadAndWhy) {
  Json object = sample(types::workload);
  object["spec"]["podSets"][0]["count"] = "many";
  Arena arena;
  const auto text = object.dump();
  const auto reason = refusal(types::workload, text);
  const auto set_aside = observe_quarantined(types::workload, text, QuarantineStage::read, reason, arena);
  ASSERT_TRUE(set_aside);
  EXPECT_EQ(set_aside->kind, ObjectKind::workload);
  EXPECT_EQ(set_aside->api_kind, "Workload");
  EXPECT_EQ(set_aside->namespace_, "ns");
  EXPECT_EQ(set_aside->name, "w");
  EXPECT_EQ(set_aside->uid, "u");
  EXPECT_EQ(set_aside->resource_version, 7U);
  EXPECT_EQ(set_aside->reason, reason);
  EXPECT_TRUE(set_aside->outline.empty());
}

/// Of a job it stays known whether it runs and has ended, so that it can be stopped and gives its quota back.
TEST(Quarantined, TellsOfAJobWhetherItRuns) {
  for (const bool suspended : {true, false}) {
    Json object = sample(types::job);
    object["spec"]["suspend"] = suspended;
    object["spec"]["template"] = letters(10);
    object["metadata"]["annotations"].erase("kueue.x-k8s.io/stopping");
    object["status"]["active"] = 3;
    Arena arena;
    const auto set_aside = observe_quarantined(types::job, object.dump(), QuarantineStage::read, "r", arena);
    ASSERT_TRUE(set_aside);
    ASSERT_EQ(set_aside->outline.size(), 1U);
    EXPECT_EQ(set_aside->outline[0].suspended, suspended);
    EXPECT_EQ(set_aside->outline[0].meta.uid, "u");
  }
}

/// One whose status is of another shape must not run because nobody knows that it does.
TEST(Quarantined, OfAJobWhoseStatusCannotBeReadItTellsTheWorst) {
  for (const auto* type : {&types::job, &types::job_set, &types::ray_job, &types::ray_cluster}) {
    for (const bool suspended : {true, false}) {
      for (const Json& status :
           {Json(7), Json::array(), Json{{"conditions", "x"}, {"jobDeploymentStatus", 7}, {"state", 7}, {"active", "x"}}}) {
        Json object = sample(types::job);
        object["kind"] = type->kind;
        object["spec"]["suspend"] = suspended;
        object["status"] = status;
        Arena arena;
        const auto set_aside = observe_quarantined(*type, object.dump(), QuarantineStage::read, "r", arena);
        ASSERT_TRUE(set_aside);
        ASSERT_EQ(set_aside->outline.size(), 1U) << type->kind << status;
        const JobObserved& outline = set_aside->outline[0];
        EXPECT_EQ(outline.suspended, suspended) << type->kind << status;
        EXPECT_FALSE(outline.finished) << type->kind << status;
        EXPECT_EQ(outline.queue_name.empty(), false) << type->kind << status;
      }
    }
  }
}

TEST(Quarantined, HasAReasonThatIsText) {
  Arena arena;
  const auto text = sample(types::job).dump();
  const auto set_aside = observe_quarantined(types::job, text, QuarantineStage::plan, "half of \xE4\xBD" + letters(5000), arena);
  ASSERT_TRUE(set_aside);
  EXPECT_TRUE(set_aside->reason.starts_with("half of \uFFFD"));
  EXPECT_EQ(set_aside->reason.size(), limits::finding.size());
}

TEST(Quarantined, TellsOfObjectsBeyondTheLimitsOfAll) {
  auto deep = sample(types::job).dump();
  deep.insert(1, R"("deep":)" + std::string(500, '[') + std::string(500, ']') + ",");
  auto large = sample(types::job).dump();
  large.insert(1, R"("large":")" + letters(4'000'000) + R"(",)");
  for (const auto& text : {deep, large}) {
    Arena arena;
    EXPECT_NE(refusal(types::job, text), "");
    const auto set_aside = observe_quarantined(types::job, text, QuarantineStage::read, refusal(types::job, text), arena);
    ASSERT_TRUE(set_aside);
    EXPECT_EQ(set_aside->name, "j");
    EXPECT_EQ(set_aside->outline.size(), 1U);
    const auto gone = observe_deleted_text(types::job, text, arena);
    ASSERT_TRUE(gone) << gone.error().message;
    EXPECT_EQ(std::get<ObjectDeleted>(*gone).uid, "u");
  }
}

TEST(Quarantined, IsNobodyWithoutAUid) {
  Arena arena;
  for (const auto* text : {"", "nothing", "[]", "{}", R"({"metadata":[]})", R"({"metadata":{"name":"a"}})", R"({"metadata":{"uid":7}})"})
    EXPECT_FALSE(observe_quarantined(types::job, text, QuarantineStage::read, "r", arena)) << text;
}

}  // namespace
}  // namespace hindsight::connectors
