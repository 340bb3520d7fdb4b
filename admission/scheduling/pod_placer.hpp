#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "admission/model/catalog_view.hpp"
#include "admission/model/workload_info.hpp"
#include "admission/quota/quota_tree.hpp"
#include "admission/scheduling/assignment.hpp"
#include "admission/topology/topology_room.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::admission {

/// May a pod set use a flavor at all, as far as topologies are concerned (2724 §4.5)?
enum class TopologyMatch : std::uint8_t { matches, not_supported, only_supported, level_missing, unknown_topology };

[[nodiscard]] topology::PlacementProfile profile_of(const Settings& settings);

/// What there is for the flavors of a tree, less what its workloads have; nothing: topologies are switched off.
[[nodiscard]] std::optional<topology::TopologyRoom> room_of(const QuotaTree& tree, const Catalog& catalog, const Nodes& nodes);

/// Finds places for the pods of a workload whose flavors have been chosen by quota (2724 §3.9, §3.13).
class PodPlacer {
 public:
  /// `tree`: who holds quota and places; `checks`: null: there are none.
  PodPlacer(topology::TopologyRoom& room, const Settings& settings, const QuotaTree& tree, const Catalog::Table<CheckConfig>* checks)
      : room_(room), settings_(settings), tree_(tree), checks_(checks) {}

  [[nodiscard]] topology::TopologyRoom& room() const { return room_; }
  /// TAS-51 to TAS-53. `implied`: see below.
  [[nodiscard]] TopologyMatch match(const PodSetInfo& pod_set, const FlavorConfig& flavor, bool implied) const;
  /// All flavors of the queue have a topology: who asks for none is placed anywhere (TAS-53).
  [[nodiscard]] bool implies(const QuotaTree::Queue& queue) const;

  /// Places the pods, or says that they could be placed once others have gone, or never (§3.13 steps 2 and 3): `assignment` goes from
  /// fit to preempt, or to no fit.
  void settle(const WorkloadInfo& workload, const QuotaTree::Queue& queue, Assignment& assignment) const;

  /// Has some pod set of the assignment a flavor with a topology, whose places are not found later?
  [[nodiscard]] bool concerns(const Assignment& assignment) const;
  /// Is there a place for all pods in `state`?
  [[nodiscard]] bool fits(const WorkloadInfo& workload, const QuotaTree::Queue& queue, const Assignment& assignment,
                          topology::TopologyRoom::State& state) const;
  /// The places as things are; error: why there are none, in the words of the scheduler.
  [[nodiscard]] tl::expected<WorkloadPlacement, std::string> places_now(const WorkloadInfo& workload, const QuotaTree::Queue& queue,
                                                                        const Assignment& assignment) const;
  /// What placing the workload is likely to ask of topologies first, as far as it was not asked lately: with the first flavor of each
  /// resource group.
  struct FirstCount {
    std::uint32_t flavor = 0;
    std::shared_ptr<topology::FirstCount> count;
  };
  [[nodiscard]] std::vector<FirstCount> first_counts(const WorkloadInfo& workload, const QuotaTree::Queue& queue) const;
  /// Puts the places in `state` into the assignment, or none.
  void place(const WorkloadInfo& workload, const QuotaTree::Queue& queue, Assignment& assignment,
             topology::TopologyRoom::State& state) const;

 private:
  /// Pod sets that are placed together: alike pods, and maybe one that leads them. Positions in the assignment.
  struct Unit {
    std::uint32_t flavor = 0;
    std::uint32_t workers = 0;
    std::int32_t leader = -1;  ///< −1: none.
  };
  /// What a search is for: places, or the reason why there are none; places; or whether there are any, which is asked hundreds of times.
  enum class For : std::uint8_t { explanation, places, test };
  struct Refusal {
    std::vector<std::uint32_t> positions;  ///< Of the pod sets that it is about.
    std::string text;
  };
  /// What is looked for, for one unit.
  struct Search {
    topology::PlacementRules rules;
    topology::Gang gang;
    std::shared_ptr<const topology::LeafFilter> filter, leader_filter;
  };
  /// Error: what is asked for cannot be.
  [[nodiscard]] tl::expected<Search, std::string> search_for(const WorkloadInfo& workload, const QuotaTree::Queue& queue,
                                                             const Assignment& assignment, const Unit& unit) const;
  [[nodiscard]] tl::expected<std::vector<Unit>, Refusal> units(const WorkloadInfo& workload, const Assignment& assignment) const;
  /// Adds the places of one unit to `out` and takes them in `state`.
  [[nodiscard]] tl::expected<void, Refusal> place_unit(const WorkloadInfo& workload, const QuotaTree::Queue& queue,
                                                       const Assignment& assignment, const Unit& unit, const Reservation* replaced,
                                                       topology::TopologyRoom::State& state, For what, WorkloadPlacement& out) const;
  [[nodiscard]] tl::expected<WorkloadPlacement, Refusal> find(const WorkloadInfo& workload, const QuotaTree::Queue& queue,
                                                              const Assignment& assignment, topology::TopologyRoom::State& state,
                                                              For what) const;
  /// Where the pods of the slice that the workload replaces stand (77 §3.12); null: it replaces none, or its places do not matter.
  [[nodiscard]] const Reservation* survivors_of(const WorkloadInfo& workload) const;

  topology::TopologyRoom& room_;
  const Settings& settings_;
  const QuotaTree& tree_;
  const Catalog::Table<CheckConfig>* checks_;
};

}  // namespace hindsight::admission
