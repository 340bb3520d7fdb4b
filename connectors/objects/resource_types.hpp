#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/cluster.hpp"
#include "vocabulary/observations.hpp"

namespace hindsight::connectors {

/// The kinds that the connectors watch or write; the group and version of a kind stand nowhere else.
namespace types {

inline constexpr ResourceType namespace_{"Namespace", "", "v1", "namespaces", false};
inline constexpr ResourceType node{"Node", "", "v1", "nodes", false};
inline constexpr ResourceType pod{"Pod", "", "v1", "pods", true};
inline constexpr ResourceType event{"Event", "", "v1", "events", true};
inline constexpr ResourceType limit_range{"LimitRange", "", "v1", "limitranges", true};
inline constexpr ResourceType priority_class{"PriorityClass", "scheduling.k8s.io", "v1", "priorityclasses", false};
inline constexpr ResourceType runtime_class{"RuntimeClass", "node.k8s.io", "v1", "runtimeclasses", false};
inline constexpr ResourceType job{"Job", "batch", "v1", "jobs", true};
inline constexpr ResourceType job_set{"JobSet", "jobset.x-k8s.io", "v1alpha2", "jobsets", true};
inline constexpr ResourceType ray_cluster{"RayCluster", "ray.io", "v1", "rayclusters", true};
inline constexpr ResourceType ray_job{"RayJob", "ray.io", "v1", "rayjobs", true};
inline constexpr ResourceType resource_flavor{"ResourceFlavor", "kueue.x-k8s.io", "v1beta2", "resourceflavors", false};
inline constexpr ResourceType cluster_queue{"ClusterQueue", "kueue.x-k8s.io", "v1beta2", "clusterqueues", false};
inline constexpr ResourceType cohort{"Cohort", "kueue.x-k8s.io", "v1beta2", "cohorts", false};
inline constexpr ResourceType local_queue{"LocalQueue", "kueue.x-k8s.io", "v1beta2", "localqueues", true};
inline constexpr ResourceType workload{"Workload", "kueue.x-k8s.io", "v1beta2", "workloads", true};
inline constexpr ResourceType workload_priority_class{"WorkloadPriorityClass", "kueue.x-k8s.io", "v1beta2", "workloadpriorityclasses",
                                                      false};
inline constexpr ResourceType admission_check{"AdmissionCheck", "kueue.x-k8s.io", "v1beta2", "admissionchecks", false};
inline constexpr ResourceType topology{"Topology", "kueue.x-k8s.io", "v1beta2", "topologies", false};
inline constexpr ResourceType multikueue_config{"MultiKueueConfig", "kueue.x-k8s.io", "v1beta2", "multikueueconfigs", false};
inline constexpr ResourceType multikueue_cluster{"MultiKueueCluster", "kueue.x-k8s.io", "v1beta2", "multikueueclusters", false};
inline constexpr ResourceType provisioning_request_config{"ProvisioningRequestConfig", "kueue.x-k8s.io", "v1beta2",
                                                          "provisioningrequestconfigs", false};

// What the process itself needs around its webhooks; never watched.
inline constexpr ResourceType secret{"Secret", "", "v1", "secrets", true};
inline constexpr ResourceType custom_resource_definition{"CustomResourceDefinition", "apiextensions.k8s.io", "v1",
                                                         "customresourcedefinitions", false};
inline constexpr ResourceType mutating_webhook_configuration{"MutatingWebhookConfiguration", "admissionregistration.k8s.io", "v1",
                                                             "mutatingwebhookconfigurations", false};
inline constexpr ResourceType validating_webhook_configuration{"ValidatingWebhookConfiguration", "admissionregistration.k8s.io", "v1",
                                                               "validatingwebhookconfigurations", false};

}  // namespace types

inline constexpr std::array<const ResourceType*, 22> all_resource_types{&types::namespace_,
                                                                        &types::node,
                                                                        &types::pod,
                                                                        &types::event,
                                                                        &types::limit_range,
                                                                        &types::priority_class,
                                                                        &types::runtime_class,
                                                                        &types::job,
                                                                        &types::job_set,
                                                                        &types::ray_cluster,
                                                                        &types::ray_job,
                                                                        &types::resource_flavor,
                                                                        &types::cluster_queue,
                                                                        &types::cohort,
                                                                        &types::local_queue,
                                                                        &types::workload,
                                                                        &types::workload_priority_class,
                                                                        &types::admission_check,
                                                                        &types::topology,
                                                                        &types::multikueue_config,
                                                                        &types::multikueue_cluster,
                                                                        &types::provisioning_request_config};

/// What a control plane watches, on a real cluster as on a simulated one: first what decisions depend on, then what they are about, so that
/// a fresh log begins in an order that asks for little to be decided twice.
inline const std::vector<const ResourceType*> watched_resource_types{&types::namespace_,
                                                                     &types::limit_range,
                                                                     &types::runtime_class,
                                                                     &types::priority_class,
                                                                     &types::workload_priority_class,
                                                                     &types::resource_flavor,
                                                                     &types::topology,
                                                                     &types::node,
                                                                     &types::admission_check,
                                                                     &types::cohort,
                                                                     &types::cluster_queue,
                                                                     &types::local_queue,
                                                                     &types::job,
                                                                     &types::job_set,
                                                                     &types::ray_cluster,
                                                                     &types::ray_job,
                                                                     &types::workload,
                                                                     &types::pod};

/// The same where nothing is decided by nodes.
inline const std::vector<const ResourceType*> watched_without_nodes = [] {
  auto out = watched_resource_types;
  std::erase(out, &types::node);
  return out;
}();

/// Whether the definition of the kind comes from another project, so that a cluster may be without it.
[[nodiscard]] constexpr bool may_be_missing(const ResourceType& type) {
  return type.group == types::job_set.group || type.group == types::ray_cluster.group || type.group == types::ray_job.group;
}

/// nullptr: not in the table.
[[nodiscard]] constexpr const ResourceType* find_resource_type(std::string_view kind, std::string_view group) {
  for (const auto* type : all_resource_types)
    if (type->kind == kind && type->group == group) return type;
  return nullptr;
}

/// "v1", "batch/v1".
[[nodiscard]] inline std::string api_version(const ResourceType& type) {
  return type.group.empty() ? std::string(type.version) : std::string(type.group).append("/").append(type.version);
}

/// What the log calls the kind; unspecified for kinds that it does not know (RuntimeClass, LimitRange, MultiKueueConfig, ...).
[[nodiscard]] ObjectKind object_kind(const ResourceType& type);

}  // namespace hindsight::connectors
