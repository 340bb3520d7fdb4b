#pragma once

#include <cstdint>
#include <vector>

#include "admission/scheduling/assignment.hpp"
#include "admission/scheduling/flavor_assigner.hpp"
#include "admission/scheduling/preemption.hpp"

namespace hindsight::admission {

/// Is stored scan progress of no use any more (base-admission §5.2 a, BA-90)?
[[nodiscard]] bool outdated(const ScanState& scan, const WorkloadInfo& workload, std::uint64_t cycle, std::uint64_t generation,
                            const Settings& settings);

/// How far the scan of flavors got for each resource of an assignment that came to nothing, where there are flavors left; nothing else of
/// it is filled in. No entries: the next scan starts anew (§5.4 step 7).
[[nodiscard]] ScanState unfinished_scan(const WorkloadInfo& workload, const Assignment& assignment);

/// Flavors and victims for one workload: full counts first, then fewer pods where that is allowed (base-admission §5.2).
class Nominator {
 public:
  /// `placer`: null where there are no topologies.
  Nominator(QuotaTree& tree, const Settings& settings, FlavorAssigner& assigner, Preemption& preemption, const PodPlacer* placer = nullptr)
      : tree_(tree), settings_(settings), assigner_(assigner), preemption_(preemption), placer_(placer) {}

  /// Where it is noted what was tried; null: nowhere.
  void follow(DecisionTrace* trace) { trace_ = trace; }

  /// `scan` and `pin`: see FlavorAssigner::begin. `targets` stays empty unless the mode is preempt and victims suffice.
  void nominate(const WorkloadInfo& workload, NodeIndex queue, const ScanState* scan, const Assignment* pin, Assignment& assignment,
                std::vector<Target>& targets);

  /// Sizes for a workload whose containers may have others (5440 MR-41). `assignment`: as nominate() left it; another one takes its place
  /// where there is a plan. `alone`: no other workload of the tree is pending, so that it may grow.
  [[nodiscard]] SizingPlan size(const WorkloadInfo& workload, NodeIndex queue, bool alone, Assignment& assignment,
                                std::vector<Target>& targets);

 private:
  enum class Sizes : std::uint8_t { own, other };
  void assign(const WorkloadInfo& workload, NodeIndex queue, std::span<const std::int32_t> counts, Sizes sizes, Assignment& out);
  static void rule_out(Assignment& assignment, std::vector<Target>& targets);
  void reserve_places(const WorkloadInfo& workload, NodeIndex queue, Assignment& assignment, const std::vector<Target>& targets);
  [[nodiscard]] bool workable(const WorkloadInfo& workload, NodeIndex queue, const Assignment& assignment, std::vector<Target>& targets);
  [[nodiscard]] std::vector<Target> targets_for(const WorkloadInfo& workload, NodeIndex queue, const Assignment& assignment);
  void reduce(const WorkloadInfo& workload, NodeIndex queue, Assignment& assignment, std::vector<Target>& targets);

  QuotaTree& tree_;
  const Settings& settings_;
  FlavorAssigner& assigner_;
  Preemption& preemption_;
  const PodPlacer* placer_;
  DecisionTrace* trace_ = nullptr;
  std::vector<CellIndex> need_;
};

}  // namespace hindsight::admission
