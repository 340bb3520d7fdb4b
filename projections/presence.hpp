#pragma once

#include <compare>

#include "admission/domain/domain.hpp"
#include "admission/domain/state_view.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::projections {

/// How good the word of a domain is about an object that it has. Each has a reader of its own, so while an object moves from one to another
/// it is seen in both for a moment; then whoever stands later in this order is right: one that is not in the middle of a move, else the one
/// that was told something last, for the other does not know yet that the object has left.
struct Presence {
  bool settled = false;
  Time now;
  friend auto operator<=>(const Presence&, const Presence&) = default;
};

[[nodiscard]] inline Presence presence_in(const admission::StateView& state) { return {state.domain().synced(), state.domain().now()}; }

}  // namespace hindsight::projections
