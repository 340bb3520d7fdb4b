#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "projections/lookup.hpp"
#include "projections/phase.hpp"
#include "projections/table.hpp"

namespace hindsight::projections {

/// What `get` shows of a kind.
struct Filter {
  std::optional<std::string> namespace_;   ///< None: all namespaces, with a column for them.
  std::vector<std::string> names;          ///< Empty: all.
  std::string cluster_queue, local_queue;  ///< Empty: any. Workloads and LocalQueues only.
  std::set<Phase> phases;                  ///< Empty: any. Workloads only.

  [[nodiscard]] bool wants_name(std::string_view name) const;
  [[nodiscard]] bool wants_namespace(std::string_view name) const { return !namespace_ || *namespace_ == name; }
};

/// The Workloads that the filter lets through, by namespace and name.
[[nodiscard]] std::vector<WorkloadAt> select_workloads(const StateView& state, const Filter& filter);
/// The LocalQueues that the filter lets through, by namespace and name.
[[nodiscard]] std::vector<const admission::LocalQueueConfig*> select_local_queues(const StateView& state, const Filter& filter);

// As `kubectl get` prints them (base-api §2, printer columns), with more under -o wide.

[[nodiscard]] Table workloads_table(const StateView& state, const Filter& filter);
[[nodiscard]] Table cluster_queues_table(const StateView& state, const Filter& filter);
[[nodiscard]] Table local_queues_table(const StateView& state, const Filter& filter);
[[nodiscard]] Table cohorts_table(const StateView& state, const Filter& filter);
[[nodiscard]] Table resource_flavors_table(const StateView& state, const Filter& filter);
[[nodiscard]] Table admission_checks_table(const StateView& state, const Filter& filter);
[[nodiscard]] Table priority_classes_table(const StateView& state, const Filter& filter);

/// "default/cpu 3/4, +1 borrowed": usage of nominal quota by flavor and resource.
[[nodiscard]] std::string usage_text(const StateView& state, const Symbol& cluster_queue);

}  // namespace hindsight::projections
