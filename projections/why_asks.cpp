// What a Workload could ask for instead: fewer pods, or fewer to start with.

#include <algorithm>
#include <optional>
#include <utility>

#include "admission/domain/domain.hpp"
#include "projections/scratch_tree.hpp"
#include "projections/why.hpp"

namespace hindsight::projections {
namespace {

using admission::PodSetInfo;
using admission::WorkloadInfo;

/// Pods of a slice are placed together (2724 §3.4).
std::int32_t pods_placed_together(const PodSetInfo& p) {
  return p.topology && !p.topology->slices.empty() ? std::max(1, p.topology->slices.front().size.value_or(1)) : 1;
}

/// The most pods of one pod set that fit, all else as it is; 0: not even the fewest.
std::int32_t pods_that_fit(ScratchTree& scratch, const WorkloadInfo& workload, const PodSetInfo& pod_set, std::int32_t unit) {
  const auto fits = [&](std::int32_t units) {
    WorkloadInfo fewer = workload;
    fewer.pod_sets.change([&](std::vector<PodSetInfo>& pod_sets) {
      for (auto& p : pod_sets) {
        if (p.name != pod_set.name) continue;
        p.count = units * unit;
        p.min_count = std::min(p.min_count, p.count);
      }
    });
    return scratch.fits(fewer);
  };
  std::int32_t low = 0, high = (pod_set.count + unit - 1) / unit;  // `low` fits or is 0, `high` does not
  while (high - low > 1) {
    const std::int32_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low * unit;
}

/// At most one pod set may start with fewer pods (base-api §5), and slices of elastic jobs and Options never do.
bool may_start_with_fewer(const WorkloadInfo& workload, const PodSetInfo& pod_set, const admission::Settings& settings) {
  return settings.partial_admission && workload.option == nullptr && workload.slice_name.empty() && !pod_set.topology &&
         std::none_of(workload.pod_sets.begin(), workload.pod_sets.end(),
                      [&](const PodSetInfo& p) { return p.min_count >= 0 && p.name != pod_set.name; });
}

}  // namespace

std::vector<Remedy> find_asks(const StateView& state, const WorkloadInfo& workload, const Symbol& cluster_queue) {
  std::vector<Remedy> out;
  auto scratch = ScratchTree::of(state, cluster_queue);
  if (!scratch || scratch->fits(workload)) return out;
  const auto at = find_by_uid(state, workload.uid.text());
  for (const PodSetInfo& p : workload.pod_sets) {
    if (p.count < 2) continue;
    const std::int32_t unit = pods_placed_together(p);
    const std::int32_t pods = pods_that_fit(*scratch, workload, p, unit);
    if (pods == 0) continue;
    // Pods that are not needed any more count in what the Workload asks for, and not in what it is given (§1.3).
    std::int32_t done = 0;
    if (at.workload != nullptr)
      for (const auto& spec : at.workload->pod_sets)
        if (spec.name == p.name) done = spec.count - p.count;
    Remedy fewer{Remedy::Kind::fewer_pods, {}, {}, {}};
    fewer.pod_set = p.name.text();
    fewer.from = std::to_string(p.count + done);
    fewer.to = std::to_string(pods + done);
    fewer.unit = unit;
    fewer.ask = {.pod_set = fewer.pod_set, .count = pods + done};
    out.push_back(fewer);
    if (!may_start_with_fewer(workload, p, state.domain().catalog()->settings)) continue;
    Remedy start = std::move(fewer);
    start.kind = Remedy::Kind::min_count;
    start.from = std::to_string(p.min_count >= 0 ? p.min_count : p.count + done);
    start.ask = {.pod_set = start.pod_set, .min_count = pods + done};
    out.push_back(std::move(start));
  }
  return out;
}

}  // namespace hindsight::projections
