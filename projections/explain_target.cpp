#include "projections/explain_target.hpp"

#include <optional>
#include <utility>

#include "projections/gates.hpp"
#include "projections/quarantine.hpp"

namespace hindsight::projections {
namespace {

/// What is known of a target without a Workload.
std::optional<Why> explain_absent(const StateView& state, const Target& target, const Trail& trail, ErrorKind kind) {
  if (auto held_back = explain_gate(state, target)) return held_back;
  if (auto set_aside = explain_quarantine(state, target)) return set_aside;
  return kind == ErrorKind::not_found ? explain_gone(state, trail) : std::nullopt;
}

bool has_remedies(const WorkloadState& w) { return !w.finished() && (!w.reserved() || w.evicted() || w.family); }

}  // namespace

Result<Why> explain_target(const StateView& state, const Target& target, const Trail& trail, const StageMaker& stage,
                           const WhyListener& listener) {
  const auto at = find_workload(state, target);
  if (!at) {
    auto out = explain_absent(state, target, trail, at.error().kind);
    if (!out) return tl::unexpected(at.error());
    if (listener.facts) listener.facts(*out);
    return std::move(*out);
  }
  const auto copy = stage && has_remedies(*at->workload) ? std::optional(stage(*at)) : std::nullopt;
  return explain(state, *at, trail, copy ? &*copy : nullptr, listener);
}

}  // namespace hindsight::projections
