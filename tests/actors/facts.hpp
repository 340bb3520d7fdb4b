#pragma once

#include <string>
#include <string_view>

#include "vocabulary/arena.hpp"
#include "vocabulary/observations.hpp"

namespace hindsight::actors::testing {

/// Observations of a small cluster: one flavor, one namespace, queues that have cpu only. What it gives lives as long as it does.
class Facts {
 public:
  Time now = Time::from_seconds(1'700'000'000);

  Observation flavor() {
    ResourceFlavorObserved f;
    f.meta.name = "default";
    return f;
  }
  Observation namespace_() {
    NamespaceObserved n;
    n.meta.name = "default";
    return n;
  }
  Observation queue(std::string_view name, Amount cpu, PreemptionPolicy within = PreemptionPolicy::never) {
    ClusterQueueObserved o;
    o.meta.name = keep(name);
    auto quotas = arena_.make<QuotaFacts>(1);
    quotas[0] = {"cpu", cpu, {}, {}};
    auto flavors = arena_.make<FlavorQuotasFacts>(1);
    flavors[0] = {"default", quotas};
    auto resources = arena_.make<Text>(1);
    resources[0] = "cpu";
    auto groups = arena_.make<ResourceGroupFacts>(1);
    groups[0] = {resources, flavors};
    o.resource_groups = groups;
    o.has_namespace_selector = true;
    o.within_cluster_queue = within;
    return o;
  }
  Observation local_queue(std::string_view name, std::string_view cluster_queue) {
    LocalQueueObserved o;
    o.meta.namespace_ = "default";
    o.meta.name = keep(name);
    o.cluster_queue = keep(cluster_queue);
    return o;
  }
  WorkloadObserved workload(std::string_view name, std::string_view local_queue, Amount cpu, std::int32_t priority = 0) {
    WorkloadObserved w;
    w.meta.namespace_ = "default";
    w.meta.name = keep(name);
    w.meta.uid = keep("uid-" + std::string(name));
    w.meta.resource_version = ++version_;
    w.meta.generation = 1;
    w.meta.created = now;
    w.queue_name = keep(local_queue);
    w.priority = priority;
    auto requests = arena_.make<ResourceAmount>(1);
    requests[0] = {"cpu", cpu};
    auto pods = arena_.make<PodSetFacts>(1);
    pods[0].name = "main";
    pods[0].count = 1;
    pods[0].requests = requests;
    pods[0].shape_hash = pods[0].template_hash = pods[0].core_hash = static_cast<std::uint64_t>(cpu) + 7;
    w.pod_sets = pods;
    return w;
  }
  /// The same Workload, finished.
  WorkloadObserved finished(WorkloadObserved w) {
    auto conditions = arena_.make<ConditionFacts>(1);
    conditions[0] = {ConditionType::finished, ConditionStatus::true_, "Succeeded", "done", now};
    w.meta.resource_version = ++version_;
    w.conditions = conditions;
    return w;
  }

 private:
  std::string_view keep(std::string_view s) { return arena_.copy(s); }

  Arena arena_;
  std::uint64_t version_ = 0;
};

}  // namespace hindsight::actors::testing
