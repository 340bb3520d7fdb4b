#include <algorithm>

#include "connectors/json/keys.hpp"
#include "connectors/webhooks/rules/owner_rules.hpp"
#include "connectors/webhooks/rules/ray_webhook_rules.hpp"
#include "connectors/webhooks/rules/webhook_rules.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::member;
using manifests::text;

constexpr const char* in_use = "kueue.x-k8s.io/resource-in-use";

void add_finalizer(Json& object) {
  Json& finalizers = object["metadata"]["finalizers"];
  if (!finalizers.is_array()) finalizers = Json::array();
  if (std::find(finalizers.begin(), finalizers.end(), in_use) == finalizers.end()) finalizers.push_back(in_use);
}

bool is_elastic(const Json& object, const Surroundings& around) {
  return around.gate("ElasticJobsViaWorkloadSlices") &&
         text(member(member(object, "metadata"), "annotations"), keys::elastic_job) == "true";
}

/// Pods of an elastic Job wait until a slice that covers them is admitted (EJ-65).
void add_elastic_gate(Json& object) {
  Json* at = &object;
  for (const char* name : {"spec", "template", "spec"}) {
    const auto next = at->find(name);
    if (next == at->end() || !next->is_object()) return;
    at = &*next;
  }
  Json& gates = (*at)["schedulingGates"];
  if (gates.is_null()) gates = Json::array();
  if (!gates.is_array()) return;
  if (std::none_of(gates.begin(), gates.end(), [](const Json& gate) { return text(gate, "name") == keys::elastic_job; }))
    gates.push_back({{"name", keys::elastic_job}});
}

/// False: the job is not ours to manage.
bool default_job(Json& object, const Surroundings& around) {
  Json& metadata = object["metadata"];
  const std::string space(text(metadata, "namespace"));
  const auto label = [&](std::string_view key) { return text(member(metadata, "labels"), key); };
  const bool managed_namespace = around.manages_namespace(space);
  if (!managed_namespace) return false;
  if (!metadata.contains("labels") || metadata["labels"].is_null()) metadata["labels"] = Json::object();
  if (!metadata["labels"].is_object()) return false;
  if (label(keys::queue_name).empty() && around.find("LocalQueue", space, "default")) metadata["labels"][keys::queue_name] = "default";
  const bool queued = !label(keys::queue_name).empty();
  if (queued && label(keys::priority_class).empty() && around.gate("WorkloadPriorityClassDefaulting") &&
      around.find("WorkloadPriorityClass", "", "default"))
    metadata["labels"][keys::priority_class] = "default";
  if (metadata["labels"].empty()) metadata.erase("labels");
  if (!queued && !around.manages_jobs_without_queue_name()) return false;
  // KubeRay takes no RayJob that is suspended and uses a cluster that is there already.
  if (!member(member(object, "spec"), "clusterSelector").is_null()) return true;
  if (object.contains("spec") && object["spec"].is_object()) object["spec"]["suspend"] = true;
  return true;
}

/// Without partial admission there is no lower bound (base-api §2.5).
void drop_least_counts(Json& object) {
  const auto spec = object.find("spec");
  if (spec == object.end() || !spec->is_object()) return;
  const auto pod_sets = spec->find("podSets");
  if (pod_sets == spec->end() || !pod_sets->is_array()) return;
  for (auto& pod_set : *pod_sets)
    if (pod_set.is_object()) pod_set.erase("minCount");
}

}  // namespace

void apply_webhook_defaults(const Kind& kind, Json& object, const Surroundings& around, std::string_view user) {
  if (!object.is_object() || !member(object, "metadata").is_object()) return;
  const auto name = kind.type->kind;
  if (name == "ClusterQueue" || name == "ResourceFlavor" || name == "AdmissionCheck") add_finalizer(object);
  if (name == "Workload" && !around.gate("PartialAdmission")) drop_least_counts(object);
  if (!around.manages_kind(name, kind.type->group)) return;
  // A RayCluster below another job is not queued, but its pods wait for the slices of that job.
  const bool part = !note_foreign_maker(kind, object, around, user) && has_managed_ancestor(kind, object, around);
  const bool queued = !part && default_job(object, around);
  const bool waits = queued || (name == "RayCluster" && part);
  if (!waits || !is_elastic(object, around)) return;
  if (name == "Job") add_elastic_gate(object);
  if (name == "RayCluster") add_gates_to_ray_cluster(object);
}

}  // namespace hindsight::connectors::webhooks
