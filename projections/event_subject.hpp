#pragma once

#include <string_view>
#include <variant>

#include "vocabulary/record.hpp"

namespace hindsight::projections {

/// Uid of the Workload that an event is about; empty: it is about something else.
inline std::string_view subject_uid(const Event& event) {
  return std::visit(
      []<class E>(const E& e) -> std::string_view {
        if constexpr (requires { e.workload.uid; })
          return e.workload.uid;
        else
          return {};
      },
      event);
}

}  // namespace hindsight::projections
