#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "admission/scheduling/decision_trace.hpp"
#include "projections/json.hpp"
#include "vocabulary/decisions.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::projections {

/// A decision whose making is told. What it points to lives elsewhere.
struct Decided {
  std::uint64_t position = 0;
  Time time;
  std::uint64_t epoch = 0;
  std::uint32_t rules = 0;
  std::uint64_t base = 0;        ///< Position of the record that it was decided on.
  std::string_view base_record;  ///< The same as text.
  StepKind kind = StepKind::unspecified;
  std::span<const Event> events;
  std::size_t recorded_events = 0;  ///< How many are on record, also where it was made otherwise.
  bool full = false;                ///< It says as much as a step may; others may have been left to the next one.
  const admission::DecisionTrace* trace = nullptr;
};

/// Whom to tell of.
struct HowFilter {
  std::string workload;       ///< "namespace/name"; empty: everybody. Who would take it for a victim is told, too.
  std::string job;            ///< "namespace/name" of its job, for what is decided about that; empty: it has none.
  std::string cluster_queue;  ///< Empty: all of them.

  [[nodiscard]] bool is_set() const { return !workload.empty() || !cluster_queue.empty(); }
  [[nodiscard]] bool matches(const admission::TracedEntry& entry) const;
};

struct HowOptions {
  HowFilter filter;
  std::size_t heads = 10;       ///< Told in detail; up to `lines` more in one line each.
  std::size_t lines = 50;       ///< Of any other list of heads, trees or events.
  std::size_t candidates = 20;  ///< Of each search for victims.
};

/// A trace with room for those whom the filter means.
[[nodiscard]] admission::DecisionTrace trace_for(const HowFilter& filter);

/// What a decision that was made again does not have in common with the record.
struct MadeOtherwise {
  std::size_t event = 0;
  std::string_view event_kind;  ///< Empty: it is the step itself.
  std::string_view field, recorded, made_again;
};
/// Why it may come out otherwise than it did: a sentence.
[[nodiscard]] std::string why_otherwise(const Decided& decided);
/// That, and no trace, for it is not the trace of what is on record.
[[nodiscard]] Json how_otherwise_json(const Decided& decided, const MadeOtherwise& difference);

/// How a decision came about: which heads were looked at and in which order, what was tried for each, and what became of it. Lists are cut,
/// and say how much is left out.
[[nodiscard]] std::string how_text(const Decided& decided, const HowOptions& options);
/// All that was noted (docs/debugger.md), of those that the filter lets through.
[[nodiscard]] Json how_json(const Decided& decided, const HowFilter& filter);

// ---- names and words of what stands in a trace ------------------------------------------------------------------------------------------

[[nodiscard]] std::string_view name_of(admission::FlavorMode mode);
[[nodiscard]] std::string_view name_of(admission::AssignmentMode mode);
[[nodiscard]] std::string_view name_of(admission::OrderedBy by);
[[nodiscard]] std::string_view name_of(admission::PreemptionStep::Passed why);
/// "Admit", "Requeue", "Migrate", "Drop".
[[nodiscard]] std::string_view name_of(admission::Outcome::Kind kind);
[[nodiscard]] std::string_view name_of(admission::Settings::FairStrategy strategy);

/// Why what a tree proposed is not in the record; empty: it is, or it proposed nothing.
[[nodiscard]] std::string why_not_recorded(const Decided& decided, const admission::TracedTree& tree);

}  // namespace hindsight::projections
