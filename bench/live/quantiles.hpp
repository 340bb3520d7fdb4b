#pragma once

#include <algorithm>
#include <vector>

namespace hindsight::bench {

struct Quantiles {
  double p50 = 0, p99 = 0;
};

/// 0 of nothing.
[[nodiscard]] inline Quantiles quantiles(std::vector<double> all) {
  if (all.empty()) return {};
  std::sort(all.begin(), all.end());
  return {all[all.size() / 2], all[all.size() * 99 / 100]};
}

}  // namespace hindsight::bench
