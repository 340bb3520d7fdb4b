#include "projections/phase.hpp"

#include "projections/wait_reasons.hpp"

namespace hindsight::projections {

using admission::WorkloadState;

Phase phase_of(const WorkloadState& w) {
  if (w.finished()) return Phase::finished;
  if (w.reserved()) return w.evicted() ? Phase::evicted : w.admitted() ? Phase::admitted : Phase::quota_reserved;
  return w.active ? Phase::pending : Phase::inactive;
}

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::pending:
      return "Pending";
    case Phase::quota_reserved:
      return "QuotaReserved";
    case Phase::admitted:
      return "Admitted";
    case Phase::evicted:
      return "Evicted";
    case Phase::finished:
      return "Finished";
    case Phase::inactive:
      return "Inactive";
  }
  return "";
}

Tone tone_of(Phase phase) {
  switch (phase) {
    case Phase::pending:
    case Phase::quota_reserved:
      return Tone::waiting;
    case Phase::admitted:
      return Tone::good;
    case Phase::evicted:
    case Phase::inactive:
      return Tone::bad;
    case Phase::finished:
      return Tone::faint;
  }
  return Tone::plain;
}

std::string reason_of(const WorkloadState& w) {
  const auto of = [&](ConditionType type) {
    const auto* c = w.find(type);
    return c == nullptr ? std::string() : std::string(c->reason.text());
  };
  switch (phase_of(w)) {
    case Phase::pending:
      return of(ConditionType::quota_reserved);
    case Phase::quota_reserved:
      return of(ConditionType::admitted);
    case Phase::admitted:
      return {};
    case Phase::evicted: {
      const auto* preempted = w.find(ConditionType::preempted);
      if (preempted != nullptr && preempted->is_true()) return std::string(preempted->reason.text());
      return of(ConditionType::evicted);
    }
    case Phase::finished:
      return of(ConditionType::finished);
    case Phase::inactive: {
      const std::string evicted = of(ConditionType::evicted);
      return evicted.empty() ? "Deactivated" : evicted;
    }
  }
  return {};
}

Time phase_since(const WorkloadState& w) {
  const auto of = [&](ConditionType type) {
    const auto* c = w.find(type);
    return c == nullptr ? Time::never() : c->last_transition;
  };
  switch (phase_of(w)) {
    case Phase::pending:
      return waits_since(w);
    case Phase::quota_reserved:
      return of(ConditionType::quota_reserved);
    case Phase::admitted:
      return of(ConditionType::admitted);
    case Phase::evicted:
    case Phase::inactive:
      return of(ConditionType::evicted);
    case Phase::finished:
      return of(ConditionType::finished);
  }
  return Time::never();
}

}  // namespace hindsight::projections
