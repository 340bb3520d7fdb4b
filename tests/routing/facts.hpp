#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "vocabulary/arena.hpp"
#include "vocabulary/observations.hpp"

namespace hindsight::routing::testing {

/// Observations of a small cluster. What it gives lives as long as it does.
class Facts {
 public:
  Text keep(std::string_view s) { return arena_.copy(s); }

  ClusterQueueObserved queue(std::string_view name, std::string_view cohort = {}, std::string_view flavor = "default", Amount cpu = 4'000) {
    ClusterQueueObserved o;
    o.meta.name = keep(name);
    o.meta.resource_version = ++version_;
    o.cohort = keep(cohort);
    auto quotas = arena_.make<QuotaFacts>(1);
    quotas[0] = {"cpu", cpu, {}, {}};
    auto flavors = arena_.make<FlavorQuotasFacts>(1);
    flavors[0] = {keep(flavor), quotas};
    auto resources = arena_.make<Text>(1);
    resources[0] = "cpu";
    auto groups = arena_.make<ResourceGroupFacts>(1);
    groups[0] = {resources, flavors};
    o.resource_groups = groups;
    o.has_namespace_selector = true;
    return o;
  }
  CohortObserved cohort(std::string_view name, std::string_view parent = {}) {
    CohortObserved o;
    o.meta.name = keep(name);
    o.meta.resource_version = ++version_;
    o.parent = keep(parent);
    return o;
  }
  ResourceFlavorObserved flavor(std::string_view name, std::string_view topology = {}, std::string_view key = {},
                                std::string_view value = {}) {
    ResourceFlavorObserved o;
    o.meta.name = keep(name);
    o.meta.resource_version = ++version_;
    o.topology_name = keep(topology);
    auto labels = arena_.make<Pair>(key.empty() ? 0 : 1);
    if (!key.empty()) labels[0] = {keep(key), keep(value)};
    o.node_labels = labels;
    return o;
  }
  NamespaceObserved namespace_() {
    NamespaceObserved o;
    o.meta.name = "team";
    return o;
  }
  LocalQueueObserved local_queue(std::string_view name, std::string_view cluster_queue) {
    LocalQueueObserved o;
    o.meta.namespace_ = "team";
    o.meta.name = keep(name);
    o.meta.resource_version = ++version_;
    o.cluster_queue = keep(cluster_queue);
    return o;
  }
  JobObserved job(std::string_view name, std::string_view queue, std::string_view owner_uid = {}) {
    JobObserved o;
    o.meta = meta(name, "job-");
    o.kind = "Job";
    o.group = "batch";
    o.queue_name = keep(queue);
    o.owner_uid = keep(owner_uid);
    o.suspended = true;
    o.pod_sets = pod_sets(1'000);
    o.workload_name = keep("w-" + std::string(name));
    return o;
  }
  WorkloadObserved workload(std::string_view name, std::string_view queue, std::string_view owner_uid = {}, Amount cpu = 1'000) {
    WorkloadObserved o;
    o.meta = meta(name, "uid-");
    o.owner_uid = keep(owner_uid);
    o.queue_name = keep(queue);
    o.priority = 0;
    o.pod_sets = pod_sets(cpu);
    return o;
  }
  /// The same Workload as the API shows it when it was admitted.
  WorkloadObserved admitted(WorkloadObserved w, std::string_view cluster_queue, std::string_view flavor = "default") {
    w.meta.resource_version = ++version_;
    w.has_admission = true;
    w.admission_cluster_queue = keep(cluster_queue);
    auto choices = arena_.make<FlavorChoice>(1);
    choices[0] = {"cpu", keep(flavor)};
    auto usage = arena_.make<ResourceAmount>(1);
    usage[0] = w.pod_sets[0].requests[0];
    auto assignments = arena_.make<PodSetAssignmentFacts>(1);
    assignments[0] = {"main", 1, choices, usage};
    w.assignments = assignments;
    auto conditions = arena_.make<ConditionFacts>(2);
    conditions[0] = {ConditionType::quota_reserved, ConditionStatus::true_, "QuotaReserved", "Quota reserved", now};
    conditions[1] = {ConditionType::admitted, ConditionStatus::true_, "Admitted", "The workload is admitted", now};
    w.conditions = conditions;
    return w;
  }
  /// The same Workload, finished.
  WorkloadObserved finished(WorkloadObserved w) {
    w.meta.resource_version = ++version_;
    auto conditions = arena_.make<ConditionFacts>(1);
    conditions[0] = {ConditionType::finished, ConditionStatus::true_, "Succeeded", "done", now};
    w.conditions = conditions;
    return w;
  }
  PodObserved pod(std::string_view name, std::string_view owner_uid) {
    PodObserved o;
    o.meta = meta(name, "pod-");
    o.owner_uid = keep(owner_uid);
    o.gated = true;
    return o;
  }

  NodeObserved node(std::string_view name, std::string_view key, std::string_view value) {
    NodeObserved o;
    o.meta.name = keep(name);
    o.meta.uid = keep("node-" + std::string(name));
    o.meta.resource_version = ++version_;
    auto labels = arena_.make<Pair>(1);
    labels[0] = {keep(key), keep(value)};
    o.labels = labels;
    o.ready = true;
    return o;
  }
  /// What pods of others use of it.
  NodeUsageObserved usage(std::string_view node, Amount cpu) {
    auto amounts = arena_.make<ResourceAmount>(1);
    amounts[0] = {"cpu", cpu};
    return {keep(node), amounts};
  }

  Time now = Time::from_seconds(1'700'000'000);

 private:
  ObjectMeta meta(std::string_view name, std::string_view prefix) {
    ObjectMeta m;
    m.namespace_ = "team";
    m.name = keep(name);
    m.uid = keep(std::string(prefix) + std::string(name));
    m.resource_version = ++version_;
    m.generation = 1;
    m.created = now;
    return m;
  }
  List<PodSetFacts> pod_sets(Amount cpu) {
    auto requests = arena_.make<ResourceAmount>(1);
    requests[0] = {"cpu", cpu};
    auto out = arena_.make<PodSetFacts>(1);
    out[0].name = "main";
    out[0].count = 1;
    out[0].requests = requests;
    out[0].shape_hash = out[0].template_hash = out[0].core_hash = static_cast<std::uint64_t>(cpu);
    return out;
  }

  Arena arena_;
  std::uint64_t version_ = 0;
};

}  // namespace hindsight::routing::testing
