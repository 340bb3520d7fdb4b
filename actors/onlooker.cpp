#include "actors/onlooker.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "admission/model/event_size.hpp"
#include "vocabulary/limits.hpp"

namespace hindsight::actors {
namespace {

/// Of a look's own time.
constexpr int pause_factor = 4;

}  // namespace

std::optional<events::ForeignDecision> Onlooker::unforeseen(const RecordView& record, const admission::StateView& state) const {
  auto decision = events::foreign_decision(record, state);
  if (decision && proposals_.foresees(*decision)) decision.reset();
  return decision;
}

bool Onlooker::may_look_unpaced() const {
  return changed_ && unpaced_max_ > unpaced_max_.zero() && unpaced_until_ - Clock::now() < (1 + pause_factor) * unpaced_max_;
}

std::optional<DecisionsNoted> Onlooker::would_not(const events::ForeignDecision& decision, const admission::Domain& domain) {
  if (changed_ || !trial_.at_rest || proposals_.foresees(decision)) return std::nullopt;
  would_not_ = decision.workload;
  return DecisionsNoted{domain.sequence(), domain.rules(), {}, {}, {&would_not_, 1}};
}

Result<std::vector<DecisionsNoted>> Onlooker::look(const admission::Entities& state, bool unpaced) {
  const auto begin = Clock::now();
  auto trial = events::try_out(state, settings_reader_, domain_);
  if (!trial) return tl::unexpected(trial.error());
  trial_ = std::move(*trial);
  news_ = proposals_.take(trial_, state);
  changed_ = false;
  const auto end = Clock::now();
  not_before_ = end + pause_factor * (end - begin);
  if (unpaced) unpaced_until_ = std::max(unpaced_until_, begin) + (1 + pause_factor) * (end - begin);

  std::vector<DecisionsNoted> notes;
  if (news_.empty()) return notes;
  const std::span<const Event> all = news_.events;
  const std::uint64_t base = state.domain().sequence();
  const std::uint32_t rules = state.domain().rules();
  std::size_t first = 0, bytes = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bytes += admission::event_bytes(all[i]);
    if (bytes < limits::step.size()) continue;
    notes.push_back({base, rules, all.subspan(first, i + 1 - first), {}});
    first = i + 1;
    bytes = 0;
  }
  notes.push_back({base, rules, all.subspan(first), {news_.withdrawn.data(), news_.withdrawn.size()}});
  if (notes.size() > 1 && notes.back().events.empty() && notes.back().withdrawn.empty()) notes.pop_back();
  return notes;
}

void Onlooker::begin_anew() {
  proposals_.forget();
  changed_ = true;
}

}  // namespace hindsight::actors
