#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/model/workload_info.hpp"
#include "admission/quota/quota_table.hpp"
#include "admission/topology/topology_room.hpp"

namespace hindsight::admission {

/// How a flavor could be used for a resource; later is better (base-admission §5.1).
enum class FlavorMode : std::uint8_t { no_fit, no_candidates, preempt, reclaim, fit };

/// The same for a pod set or a workload, as the API knows it.
enum class AssignmentMode : std::uint8_t { no_fit, preempt, deferred_fit, fit };

[[nodiscard]] constexpr AssignmentMode api_mode(FlavorMode m) {
  if (m == FlavorMode::fit) return AssignmentMode::fit;
  return m == FlavorMode::no_fit ? AssignmentMode::no_fit : AssignmentMode::preempt;
}

/// Why a workload fits nowhere, by severity (§5.6).
enum class NoFitReason : std::uint8_t { none, topology_placement_failed, waiting_for_quota, exceeds_max_quota, no_matching_flavor };

/// Something that was found out about a flavor; becomes text only for those who stay pending (see outcome_text.hpp).
struct Finding {
  enum class Kind : std::uint8_t {
    resource_unavailable,  ///< `resource` is in no group.
    not_nominated,         ///< Outside the nomination pin.
    flavor_not_found,
    untolerated_taint,  ///< `taint`.
    affinity_mismatch,
    exceeds_potential,    ///< `a` earlier pod sets + `b` this one > `c` maximum capacity.
    insufficient_unused,  ///< `a` more needed; with `b`: the whole `b` > `c` maximum capacity, though the difference is not.
    other_flavor,         ///< The slice that it replaces has flavor `original`.
    no_topology,          ///< The flavor has none, and the pods ask for one.
    only_topology,        ///< The flavor has one, and the pods ask for none.
    level_missing,        ///< Its topology does not have a level that the pods ask for.
    topology_missing,     ///< Its Topology is not there.
    no_placement,         ///< `text`.
    not_allowed,          ///< The workload may not be assigned it.
    upgrade_borrows,      ///< It has room for an upgrade only by borrowing, which its queue rules out (CA-146).
    upgrade_preempts,     ///< Likewise by preemption.
  };
  Kind kind = Kind::resource_unavailable;
  Symbol resource;
  Symbol flavor;
  Amount a = 0, b = 0, c = 0;
  const OwnedTaint* taint = nullptr;  ///< Lives as long as the catalog of the cycle.
  Symbol original;
  std::shared_ptr<const std::string> text;
};

/// The flavor for one resource of one pod set.
struct ResourceChoice {
  Symbol resource;
  Symbol flavor;
  CellIndex cell = 0;
  Amount amount = 0;  ///< Of this pod set.
  FlavorMode mode = FlavorMode::no_fit;
  std::int32_t level = 0;         ///< Borrowing level (§2.2).
  std::int32_t tried_index = -1;  ///< Where the scan stopped; −1: at the end of the list (§5.4.7).
};

struct PodSetAssignment {
  std::uint32_t pod_set = 0;  ///< Position in the workload.
  std::int32_t count = 0;
  bool failed = false;   ///< Got no flavor.
  bool delayed = false;  ///< Its places are found later (PodPlacer::settle).
  AssignmentMode mode = AssignmentMode::fit;
  std::vector<ResourceChoice> choices;  ///< In coveredResources order.
  std::vector<Finding> findings;
};

/// Where the pods of a workload could stand, and what they would take there.
struct WorkloadPlacement {
  struct Placed {
    std::uint32_t position = 0;  ///< In Assignment::pod_sets.
    std::uint32_t flavor = 0;    ///< Of the TopologyRoom.
    std::vector<std::pair<topology::DomainIndex, std::int32_t>> pods;
  };
  std::vector<Placed> pod_sets;
  topology::Holding holding;
};

/// What the flavor assigner made of a workload (§5). A podset that fails is the last one.
struct Assignment {
  std::vector<PodSetAssignment> pod_sets;  ///< In the order of decision.
  std::vector<CellAmount> usage;           ///< Sum over pod sets, less what a replaced slice holds; ascending by cell, amounts above 0.
  AssignmentMode mode = AssignmentMode::no_fit;
  std::int32_t level = 0;  ///< Highest borrowing level of its resources.
  NoFitReason no_fit_reason = NoFitReason::none;
  std::optional<WorkloadPlacement> placement;  ///< Of one that fits, or would after a preemption; nothing: no topology is concerned.
};

}  // namespace hindsight::admission
