#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "admission/model/workload_info.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::admission {

/// How long a job keeps its own sizes after the API server refused others (MR-51).
inline constexpr Duration sizing_barred_for = Duration::seconds(3600);

/// Sizes for the bounded containers of one workload, found by asking whether what they make of it fits (5440 MR-41). All pairs of
/// container and resource go down together, step by step, none below its bound; the first step that fits is refined by raising each
/// pair again as far as it fits. Upwards all go together, too. Both are bisected: asking takes a scan of all flavors.
class SizeSearch {
 public:
  using Fits = std::function<bool(const WorkloadInfo&)>;
  struct Found {
    WorkloadInfo workload;  ///< With the requests of the plan.
    SizingPlan plan;
  };

  /// `workload.sizing` is there and outlives the search.
  SizeSearch(const WorkloadInfo& workload, const Settings& settings);

  /// The largest that is smaller than the template; nullopt: nothing fits.
  [[nodiscard]] std::optional<Found> shrink(const Fits& fits);
  /// The largest that is larger than the template (policy Fit); nullopt: nothing fits.
  [[nodiscard]] std::optional<Found> grow(const Fits& fits);

 private:
  struct Pair {
    std::size_t pod_set = 0, container = 0, amount = 0;
    Amount down = 0, up = 0;  ///< Steps.
    Amount step = 0;          ///< As chosen: below 0 is smaller.
  };

  [[nodiscard]] SizingPlan plan() const;
  [[nodiscard]] WorkloadInfo sized(const SizingPlan& plan) const;
  [[nodiscard]] bool fits(const Fits& ask) const { return ask(sized(plan())); }
  [[nodiscard]] Found found() const;

  const WorkloadInfo& workload_;
  const Settings& settings_;
  std::vector<Pair> pairs_;
};

}  // namespace hindsight::admission
