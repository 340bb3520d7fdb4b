#pragma once

#include <string>
#include <vector>

#include "doctor/context.hpp"
#include "doctor/finding.hpp"
#include "doctor/service_reach.hpp"

namespace hindsight::doctor {

struct ApiServiceFacts {
  std::string name;
  bool available = false;
  std::string reason, message;  ///< Of the condition Available.
  Callee callee;
  Reach reach;
};

struct VisibilityFacts {
  std::vector<ApiServiceFacts> all;
  Installation installation;
};

[[nodiscard]] Outcome judge_visibility(const VisibilityFacts& facts, const Commands& commands);
[[nodiscard]] Outcome examine_visibility(Context& context);

}  // namespace hindsight::doctor
