#include "connectors/webhooks/rules/ray_webhook_rules.hpp"

#include <algorithm>

#include "connectors/json/keys.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::each_item;
using manifests::flag;
using manifests::member;
using manifests::text;

constexpr std::size_t pod_sets_max = 18;  // of a Workload
constexpr std::string_view head = "head";
constexpr std::string_view multikueue = "kueue.x-k8s.io/multikueue";

/// Calls visit(group, field) for the head and each group of workers of a RayClusterSpec.
template <class Visit>
void each_group(const Json& cluster_spec, const std::string& field, Visit visit) {
  visit(member(cluster_spec, "headGroupSpec"), field + ".headGroupSpec");
  each_item(cluster_spec, "workerGroupSpecs", field, visit);
}

bool has_gate(const Json& pod_spec) {
  const Json& gates = member(pod_spec, "schedulingGates");
  return gates.is_array() && std::any_of(gates.begin(), gates.end(), [](const Json& g) { return text(g, "name") == keys::elastic_gate; });
}

void check_groups(const Json& cluster_spec, const std::string& field, std::size_t others, Findings& findings) {
  const Json& groups = member(cluster_spec, "workerGroupSpecs");
  const std::size_t most = pod_sets_max - 1 - others;
  if (groups.is_array() && groups.size() > most)
    findings.invalid(field + ".workerGroupSpecs", Json(groups.size()), "must have at most " + std::to_string(most) + " items");
  each_item(cluster_spec, "workerGroupSpecs", field, [&](const Json& group, const std::string& at) {
    if (text(group, "groupName") == head) findings.forbidden(at + ".groupName", "\"head\" is reserved for the head group");
  });
}

/// An elastic job is placed slice by slice, so it cannot ask for one place (EJ-107).
void check_topology(const Json& cluster_spec, const std::string& field, Findings& findings) {
  each_group(cluster_spec, field, [&](const Json& group, const std::string& at) {
    const Json& annotations = member(member(group, "template", "metadata"), "annotations");
    for (const char* kind : {"required", "preferred"}) {
      const std::string name = std::string("kueue.x-k8s.io/podset-") + kind + "-topology";
      if (!member(annotations, name).is_null())
        findings.forbidden(at + ".template.metadata.annotations." + name,
                           std::string(kind) + " topology is not supported with elastic jobs");
    }
  });
}

void check_ray_cluster(const ObjectView& now, bool elastic, Findings& findings) {
  const bool scales = flag(now.spec, "enableInTreeAutoscaling");
  if (scales && !elastic)
    findings.invalid("spec.enableInTreeAutoscaling", Json(true),
                     "a kueue-managed RayCluster can use autoscaling only as an elastic job: enable the ElasticJobsViaWorkloadSlices "
                     "feature gate and set the \"kueue.x-k8s.io/elastic-job\": \"true\" annotation");
  if (!elastic) return;
  if (scales && text(now.spec, "managedBy") == multikueue)
    findings.forbidden("spec.enableInTreeAutoscaling", "in-tree autoscaling is not supported for a MultiKueue-managed elastic RayCluster");
  each_group(now.spec, "spec", [&](const Json& group, const std::string& at) {
    const Json& pod_spec = member(group, "template", "spec");
    if (!has_gate(pod_spec))
      findings.invalid(at + ".template.spec.schedulingGates", member(pod_spec, "schedulingGates"),
                       "an elastic job must have the ElasticJobSchedulingGate");
  });
}

bool is_ray(const Kind& kind) { return kind.type->kind == "RayJob" || kind.type->kind == "RayCluster"; }

}  // namespace

bool is_unmanaged_ray(const Kind& kind, const ObjectView& now, const Surroundings& around) {
  return is_ray(kind) && text(member(now.metadata, "labels"), keys::queue_name).empty() &&
         !(around.manages_jobs_without_queue_name() && around.manages_namespace(text(now.metadata, "namespace")));
}

void check_ray_webhook_rules(const Kind& kind, const ObjectView& now, bool elastic, const Surroundings& around, Findings& findings) {
  if (!is_ray(kind) || is_unmanaged_ray(kind, now, around)) return;
  const bool is_job = kind.type->kind == "RayJob";
  const std::string field = is_job ? "spec.rayClusterSpec" : "spec";
  const Json& cluster_spec = is_job ? member(now.spec, "rayClusterSpec") : now.spec;
  if (is_job) {
    const auto mode = text(now.spec, "submissionMode");
    check_groups(cluster_spec, field, mode.empty() || mode == "K8sJobMode" ? 1 : 0, findings);
    if (flag(cluster_spec, "enableInTreeAutoscaling") && !elastic)
      findings.invalid(field + ".enableInTreeAutoscaling", Json(true),
                       "a kueue managed job should only use autoscaling when workload slicing is enabled");
  } else {
    check_groups(cluster_spec, field, 0, findings);
    check_ray_cluster(now, elastic, findings);
  }
  if (elastic) check_topology(cluster_spec, field, findings);
}

void add_gates_to_ray_cluster(Json& ray_cluster) {
  const auto add = [](Json& group) {
    Json* at = &group;
    for (const char* name : {"template", "spec"}) {
      if (!at->is_object()) return;
      const auto next = at->find(name);
      if (next == at->end() || !next->is_object()) return;
      at = &*next;
    }
    Json& gates = (*at)["schedulingGates"];
    if (gates.is_null()) gates = Json::array();
    if (gates.is_array() && !has_gate(*at)) gates.push_back({{"name", keys::elastic_gate}});
  };
  const auto spec = ray_cluster.find("spec");
  if (spec == ray_cluster.end() || !spec->is_object()) return;
  if (const auto group = spec->find("headGroupSpec"); group != spec->end()) add(*group);
  if (const auto groups = spec->find("workerGroupSpecs"); groups != spec->end() && groups->is_array())
    for (auto& group : *groups) add(group);
}

}  // namespace hindsight::connectors::webhooks
