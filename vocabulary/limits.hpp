#pragma once

// How much one object may hold. Whatever comes from outside has a bound here, and nowhere else: readers set an object aside that goes
// beyond one (connectors/json/node.hpp), webhooks refuse it, and docs/limits.md says the same to people (a test compares the two).
// Where Kueue's definitions or Kubernetes have a bound it is theirs; the others leave room far above what real objects hold, and are there
// so that the worst object costs no more than some milliseconds and some tens of kilobytes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hindsight::limits {

/// What the number counts.
enum class Unit : std::uint8_t { bytes, elements, levels, units };

[[nodiscard]] constexpr std::string_view name_of(Unit unit) {
  constexpr std::array<std::string_view, 4> names{"bytes", "elements", "levels", "units"};
  return names[static_cast<std::size_t>(unit)];
}

struct Limit {
  std::string_view name;  ///< By which the table in docs/limits.md knows it.
  std::int64_t most = 0;
  Unit unit = Unit::elements;

  [[nodiscard]] constexpr std::size_t size() const { return static_cast<std::size_t>(most); }
};

// ---- the object as a whole ----------------------------------------------------------------------------------------------------------

inline constexpr Limit object_text{"object", 3 * 1024 * 1024, Unit::bytes};
inline constexpr Limit json_depth{"depth", 128, Unit::levels};
inline constexpr Limit facts{"facts", 40 * 1024, Unit::bytes};
inline constexpr Limit status{"status", 128 * 1024, Unit::bytes};

// ---- texts --------------------------------------------------------------------------------------------------------------------------

inline constexpr Limit name{"name", 253, Unit::bytes};
inline constexpr Limit namespace_name{"namespace", 63, Unit::bytes};
inline constexpr Limit uid{"uid", 128, Unit::bytes};
inline constexpr Limit dns_label{"label-name", 63, Unit::bytes};
inline constexpr Limit check_name{"check-name", 316, Unit::bytes};
inline constexpr Limit key{"key", 317, Unit::bytes};
inline constexpr Limit value{"value", 1024, Unit::bytes};
inline constexpr Limit quantity{"quantity", 64, Unit::bytes};
inline constexpr Limit gate_list{"gate-list", 4096, Unit::bytes};
inline constexpr Limit flavor_list{"flavor-list", 16 * 1024, Unit::bytes};
inline constexpr Limit json_annotation{"json-annotation", 10 * 1024, Unit::bytes};
inline constexpr Limit resource_plan{"resource-plan", 20 * 1024, Unit::bytes};  // half of facts, which count each plan (pod_template.cpp)
inline constexpr Limit reason{"reason", 1024, Unit::bytes};
inline constexpr Limit message{"message", 32768, Unit::bytes};
inline constexpr Limit pod_set_updates_text{"pod-set-updates", 64 * 1024, Unit::bytes};
inline constexpr Limit text{"text", 32768, Unit::bytes};

// ---- lists of every object ----------------------------------------------------------------------------------------------------------

inline constexpr Limit owner_references{"owner-references", 64, Unit::elements};
inline constexpr Limit finalizers{"finalizers", 64, Unit::elements};
inline constexpr Limit labels{"labels", 512, Unit::elements};
inline constexpr Limit conditions{"conditions", 64, Unit::elements};
inline constexpr Limit list{"list", 4096, Unit::elements};

// ---- jobs and Workloads -------------------------------------------------------------------------------------------------------------

inline constexpr Limit pod_sets{"pod-sets", 18, Unit::elements};
inline constexpr Limit containers{"containers", 512, Unit::elements};
inline constexpr Limit resources{"resources", 64, Unit::elements};
inline constexpr Limit unhealthy_nodes{"unhealthy-nodes", 8, Unit::elements};
inline constexpr Limit node_selector{"node-selector", 256, Unit::elements};
inline constexpr Limit affinity_terms{"affinity-terms", 256, Unit::elements};
inline constexpr Limit requirements{"requirements", 256, Unit::elements};
inline constexpr Limit requirement_values{"requirement-values", 2048, Unit::elements};
inline constexpr Limit tolerations{"tolerations", 256, Unit::elements};
inline constexpr Limit gates{"gates", 64, Unit::elements};
inline constexpr Limit scheduling_gates{"scheduling-gates", 64, Unit::elements};
inline constexpr Limit reclaimable_pods{"reclaimable-pods", 18, Unit::elements};
inline constexpr Limit workload_checks{"workload-checks", 8, Unit::elements};
inline constexpr Limit evictions{"evictions", 256, Unit::elements};
inline constexpr Limit allowed_flavors{"allowed-flavors", 64, Unit::elements};
inline constexpr Limit preemption_gates{"preemption-gates", 8, Unit::elements};
inline constexpr Limit options{"options", 64, Unit::elements};
/// Of one resource over all pods of an object: so many of these fit into 64 bits that no sum of them ends at the bound by itself.
inline constexpr Limit total_amount{"total-amount", std::int64_t{1} << 56, Unit::units};

// ---- configuration ------------------------------------------------------------------------------------------------------------------

inline constexpr Limit resource_groups{"resource-groups", 16, Unit::elements};
inline constexpr Limit covered_resources{"covered-resources", 64, Unit::elements};
inline constexpr Limit flavors{"flavors", 64, Unit::elements};
inline constexpr Limit flavor_resources{"flavor-resources", 64, Unit::elements};
inline constexpr Limit queue_checks{"queue-checks", 64, Unit::elements};
inline constexpr Limit check_flavors{"check-flavors", 64, Unit::elements};
inline constexpr Limit explicit_options{"explicit-options", 64, Unit::elements};
inline constexpr Limit flavor_labels{"flavor-labels", 8, Unit::elements};
inline constexpr Limit flavor_taints{"flavor-taints", 8, Unit::elements};
inline constexpr Limit flavor_tolerations{"flavor-tolerations", 8, Unit::elements};
inline constexpr Limit topology_levels{"topology-levels", 16, Unit::elements};
/// Of one assignment: what one list of the API can name.
inline constexpr Limit topology_domains{"topology-domains", 100'000, Unit::elements};
inline constexpr Limit topology_slices{"topology-slices", 1000, Unit::elements};
inline constexpr Limit topology_text{"topology-text", 4 * 1024 * 1024, Unit::bytes};
inline constexpr Limit limit_range_items{"limit-range-items", 64, Unit::elements};

// ---- what is written ----------------------------------------------------------------------------------------------------------------

/// Of the events of one step, which is one record: who has more to say says it in the next step. What follows from one object is said at
/// once, so a record may be somewhat larger; a log takes records of 64 MiB (events/record.hpp).
inline constexpr Limit step{"step", 8 * 1024 * 1024, Unit::bytes};
/// Texts of ours are cut to this (vocabulary/text.hpp); none is refused.
inline constexpr Limit condition_message = message;
inline constexpr Limit event_message{"event-message", 1024, Unit::bytes};
/// Of why an object was set aside, and of what a template does wrong: as much of it as people read.
inline constexpr Limit finding{"finding", 2048, Unit::bytes};

inline constexpr std::array all{object_text,
                                json_depth,
                                facts,
                                status,
                                name,
                                namespace_name,
                                uid,
                                dns_label,
                                check_name,
                                key,
                                value,
                                quantity,
                                gate_list,
                                flavor_list,
                                json_annotation,
                                resource_plan,
                                reason,
                                message,
                                pod_set_updates_text,
                                text,
                                owner_references,
                                finalizers,
                                labels,
                                conditions,
                                list,
                                pod_sets,
                                containers,
                                resources,
                                unhealthy_nodes,
                                node_selector,
                                affinity_terms,
                                requirements,
                                requirement_values,
                                tolerations,
                                gates,
                                scheduling_gates,
                                reclaimable_pods,
                                workload_checks,
                                evictions,
                                allowed_flavors,
                                preemption_gates,
                                options,
                                total_amount,
                                resource_groups,
                                covered_resources,
                                flavors,
                                flavor_resources,
                                queue_checks,
                                check_flavors,
                                explicit_options,
                                flavor_labels,
                                flavor_taints,
                                flavor_tolerations,
                                topology_levels,
                                topology_domains,
                                topology_slices,
                                topology_text,
                                limit_range_items,
                                step,
                                event_message,
                                finding};

}  // namespace hindsight::limits
