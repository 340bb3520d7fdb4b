#pragma once

#include <cstdint>

#include "vocabulary/compact_text.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::admission {

/// A pod of an elastic job, as far as its scheduling gate goes.
struct PodState {
  CompactText uid, name;
  Symbol pod_set;           ///< Empty: it belongs to none.
  std::int32_t index = -1;  ///< Completion index; -1: none.
  std::uint64_t resource_version = 0;
  bool gated = false;
  bool ended = false;
  bool released = false;          ///< Its gate was decided to go, and is still seen.
  std::uint64_t released_at = 0;  ///< Sequence of that decision.
};

}  // namespace hindsight::admission
