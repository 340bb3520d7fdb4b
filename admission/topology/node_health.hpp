#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "admission/model/catalog.hpp"

namespace hindsight::admission::topology {

inline constexpr std::string_view hostname_label = "kubernetes.io/hostname";

/// So long a node may be not ready before its workloads get other nodes, where nobody looks at what their pods do (2724 §2.11).
inline constexpr Duration not_ready_max = Duration::seconds(30);

/// Nothing about the node could be a reason to look further.
[[nodiscard]] bool is_plainly_well(const NodeConfig& node);

/// What a workload has to think of a node on which it has pods (2724 §4.9).
struct NodeVerdict {
  bool failed = false;
  std::optional<Time> fails_at;  ///< Not yet; then, if nothing changes.
};

/// `node`: null: there is none. `tolerations`: of the pods there, with those of their flavors. `progressing`: a pod of the workload is
/// bound to it, has not ended and is not being deleted.
[[nodiscard]] NodeVerdict judge(const NodeConfig* node, std::span<const OwnedToleration> tolerations, bool progressing,
                                const Settings& settings, Time now);

}  // namespace hindsight::admission::topology
