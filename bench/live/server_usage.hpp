#pragma once

#include <string>

namespace hindsight::bench {

/// What a component of a LocalCluster has used so far.
struct ServerUsage {
  double cpu_seconds = 0;
  double megabytes_max = 0;
};

/// `program`: "kube-apiserver". `folder`: of the cluster, which stands in the arguments of its processes, so that clusters of others do not
/// count. All 0: no such process runs.
[[nodiscard]] ServerUsage server_usage(const std::string& program, const std::string& folder);

}  // namespace hindsight::bench
