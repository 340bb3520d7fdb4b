#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "admission/domain/loop_driver.hpp"
#include "admission/scheduling/decision_trace.hpp"
#include "events/log.hpp"
#include "replay/judgement.hpp"
#include "replay/past.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::replay {

/// A decision on record, made once more from its base, with what the rules looked at on the way.
struct DecidedAgain {
  Position position = 0;
  std::uint64_t epoch = 0;
  Time time;                ///< Of the record.
  std::uint32_t rules = 0;  ///< By which its epoch decided (admission/rules.hpp).
  Position base = 0;        ///< The record whose state it was decided on.
  std::string base_record;  ///< The same as text.
  StepKind kind = StepKind::unspecified;
  std::size_t events = 0;  ///< On record.
  std::size_t bytes = 0;   ///< Of these (event_bytes).
  /// What came out this time; nothing: no step.
  std::optional<admission::Domain::Step> step;
  Judgement judgement;  ///< With a difference that is no repetition the trace is not that of this decision.
  admission::DecisionTrace trace;

  /// It came out as recorded, so the trace tells how it came about.
  [[nodiscard]] bool as_recorded() const { return !judgement.difference || judgement.repeats; }
};

/// Makes the decision at `at` again. The log is only read; snapshots are used. Errors: invalid (the record is no decision, or one that no
/// reader counts, or it was set aside; the message names the decisions next to it), not_found (it is behind the end, or it or its base is
/// not kept any more), unavailable (`go_on` said no), and those of a fold. `go_on` is asked now and then while it folds; empty: it goes on.
[[nodiscard]] Result<DecidedAgain> decide_again(const Log& log, const std::string& domain, Position at,
                                                admission::DecisionTrace trace = admission::DecisionTrace(), Progress progress = {},
                                                const std::function<bool()>& go_on = {});

}  // namespace hindsight::replay
