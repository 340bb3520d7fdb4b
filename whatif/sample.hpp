#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "vocabulary/time.hpp"

namespace hindsight::whatif {

/// How long something took, the newest so many times. Whoever asks often pays little: it is kept in order.
class Sample {
 public:
  explicit Sample(std::size_t kept_max = 10'000) : kept_max_(kept_max) {}

  void add(Duration d) {
    if (by_age_.size() < kept_max_) {
      by_age_.push_back(d);
    } else {
      sorted_.erase(std::ranges::lower_bound(sorted_, by_age_[oldest_]));
      by_age_[oldest_] = d;
      oldest_ = (oldest_ + 1) % kept_max_;
    }
    sorted_.insert(std::ranges::upper_bound(sorted_, d), d);
  }

  [[nodiscard]] bool empty() const { return sorted_.empty(); }
  [[nodiscard]] std::size_t size() const { return sorted_.size(); }
  [[nodiscard]] Duration median(Duration otherwise) const { return sorted_.empty() ? otherwise : sorted_[sorted_.size() / 2]; }
  /// One of those that are longer than `seen`, always the same for one number; nothing: there is none.
  [[nodiscard]] std::optional<Duration> draw(Duration seen, std::uint64_t number) const {
    const auto first = std::ranges::upper_bound(sorted_, seen);
    const auto n = static_cast<std::uint64_t>(sorted_.end() - first);
    if (n == 0) return std::nullopt;
    return first[static_cast<std::ptrdiff_t>(number % n)];
  }

 private:
  std::size_t kept_max_, oldest_ = 0;
  std::vector<Duration> sorted_, by_age_;
};

}  // namespace hindsight::whatif
