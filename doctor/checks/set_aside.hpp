#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "doctor/context.hpp"
#include "doctor/finding.hpp"

namespace hindsight::doctor {

/// An object with which nothing is done, because it goes beyond a limit or cannot be read (docs/limits.md).
struct SetAsideFacts {
  std::string kind, namespace_, name, why;
};

struct SetAsidesFacts {
  std::vector<SetAsideFacts> all;
  std::size_t looked_at = 0;
  bool complete = true;
  std::string unknown;  ///< What could not be looked at.
};

[[nodiscard]] Outcome judge_set_aside(const SetAsidesFacts& facts, const Commands& commands);
[[nodiscard]] Outcome examine_set_aside(Context& context);

}  // namespace hindsight::doctor
