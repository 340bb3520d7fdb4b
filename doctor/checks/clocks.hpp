#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/checks/controllers.hpp"
#include "doctor/context.hpp"
#include "doctor/finding.hpp"

namespace hindsight::doctor {

struct ClocksFacts {
  std::optional<ClockSample> sample;  ///< Of the API server's date and ours; nothing: no answer had one.
  std::vector<LeaseFacts> leases;
  Time now;  ///< The server's.
};

[[nodiscard]] Outcome judge_clocks(const ClocksFacts& facts);
[[nodiscard]] Outcome examine_clocks(Context& context);

}  // namespace hindsight::doctor
