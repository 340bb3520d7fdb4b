#include "page/views/decisions.hpp"

#include <charconv>
#include <nlohmann/json.hpp>
#include <string>

#include "page/views/extra_state.hpp"
#include "projections/format.hpp"
#include "projections/how.hpp"
#include "projections/lookup.hpp"
#include "replay/decided_again.hpp"
#include "vocabulary/limits.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::page {

projections::Decided told_decision(const replay::DecidedAgain& again) {
  projections::Decided out;
  out.position = again.position;
  out.time = again.time;
  out.epoch = again.epoch;
  out.rules = again.rules;
  out.base = again.base;
  out.base_record = again.base_record;
  out.kind = again.kind;
  if (again.step) out.events = again.step->events;
  out.recorded_events = again.events;
  out.full = again.bytes >= limits::step.size();
  out.trace = &again.trace;
  return out;
}

namespace {

using projections::HowFilter;

/// Whom to tell of. Of jobs the state that is looked from says which Workload they have; a Workload may have gone with this very decision.
Result<HowFilter> filter_of(const Look& look, std::string_view word) {
  HowFilter out;
  if (word.empty()) return out;
  const auto target = projections::parse_target(word, "default");
  if (!target) return fail(target.error().kind, "workload: " + target.error().message);
  const auto at = projections::find_workload(look.past.driver(), *target);
  if (!at && !target->is_workload()) return tl::unexpected(at.error());
  out.workload = at ? projections::full_name(at->workload->namespace_.text(), at->workload->name)
                    : projections::full_name(target->namespace_, target->name);
  if (at)
    if (const auto& job = at->parent->job()) out.job = projections::full_name(job->namespace_.text(), job->name);
  return out;
}

}  // namespace

Result<Json> decision_view(const Look& look, const Parameters& parameters) {
  const std::string& text = parameters.of_path("position");
  Position position = 0;
  if (const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), position);
      error != std::errc() || end != text.data() + text.size())
    return fail(ErrorKind::invalid, "position: found \"" + printable(text) + "\"; allowed: the position of a decision, a whole number");
  const auto filter = filter_of(look, parameters.text("workload"));
  if (!filter) return tl::unexpected(filter.error());
  const auto turn = ExtraState::wait(look.is_over);
  if (!turn) return tl::unexpected(turn.error());
  const auto again = replay::decide_again(look.log, look.past.domain_name(), position, projections::trace_for(*filter), {},
                                          [&] { return !look.is_over(); });
  if (!again) return tl::unexpected(again.error());
  if (again->as_recorded()) return projections::how_json(told_decision(*again), *filter);
  const auto& difference = *again->judgement.difference;
  return projections::how_otherwise_json(
      told_decision(*again),
      projections::MadeOtherwise{difference.event, difference.event_kind, difference.field, difference.recorded, difference.computed});
}

}  // namespace hindsight::page
