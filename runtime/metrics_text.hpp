#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "projections/metric_table.hpp"

namespace hindsight::runtime {

/// Metrics that are told as they are when somebody asks, in the Prometheus text format. All samples of a name are added one after another.
class MetricsText {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  void add(projections::MetricName name, std::integral auto value, const Labels& labels = {}) {
    sample(name, "", std::to_string(value), labels);
  }
  /// With three digits behind the point.
  void add_seconds(projections::MetricName name, double value, const Labels& labels = {});
  /// Of a histogram: how many lay below each bound and not below the one before, at last those beyond all bounds.
  template <class Bounds, class Counts>
  void add_histogram(projections::MetricName name, const Bounds& bounds, const Counts& counts, double sum, const Labels& labels) {
    unsigned long long total = 0;
    for (std::size_t i = 0; i < std::size(bounds); ++i) {
      total += counts[i];
      Labels with = labels;
      with.emplace_back("le", number(bounds[i]));
      sample(name, "_bucket", std::to_string(total), with);
    }
    total += counts[std::size(bounds)];
    Labels with = labels;
    with.emplace_back("le", "+Inf");
    sample(name, "_bucket", std::to_string(total), with);
    sample(name, "_sum", number(sum), labels);
    sample(name, "_count", std::to_string(total), labels);
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void sample(projections::MetricName name, const char* suffix, const std::string& value, const Labels& labels);
  [[nodiscard]] static std::string number(double value);

  std::string text_;
  std::string last_;  ///< Of whose samples the last one is.
};

}  // namespace hindsight::runtime
