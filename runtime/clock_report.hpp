#pragma once

#include <string>

#include "actors/day_clock.hpp"
#include "operations/health.hpp"
#include "runtime/metrics_text.hpp"

namespace hindsight::runtime {

/// What a process says of its clocks. `ahead` is how far the times in its log are ahead of the clock (actors/log_clock.hpp), of the domain
/// where that is most.
struct ClockReport {
  actors::DayClock::Standing clocks;
  Duration ahead;

  /// For /readyz. It always holds: work goes on by a clock that was set as well as by any other, and nobody is served better by a copy that
  /// counts as unready. The detail says what is wrong.
  [[nodiscard]] operations::HealthCondition condition() const;
  void add_metrics(MetricsText& out) const;
};

/// For the log of the process.
[[nodiscard]] std::string text_of(const actors::ClockStep& step);

}  // namespace hindsight::runtime
