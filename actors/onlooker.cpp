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

bool says_evicted(const WorkloadObserved& w) {
  return std::any_of(w.conditions.begin(), w.conditions.end(),
                     [](const ConditionFacts& c) { return c.type == ConditionType::evicted && c.status == ConditionStatus::true_; });
}

}  // namespace

bool Onlooker::must_look_before(const RecordView& record, const admission::StateView& state) const {
  const auto* o = std::get_if<Observation>(&record.body);
  const auto* w = o == nullptr ? nullptr : std::get_if<WorkloadObserved>(o);
  if (w == nullptr || !changed_) return false;
  const auto* known = events::find_workload(state, w->meta.uid);
  if (known == nullptr || known->finished() || w->meta.resource_version <= known->resource_version) return false;
  const bool admits = w->has_admission && !known->admission;
  const bool takes = known->admission && (!w->has_admission || (says_evicted(*w) && !known->evicted()));
  return (admits && !proposals_.would_admit(w->meta.uid)) || (takes && !proposals_.would_evict(w->meta.uid));
}

Result<std::vector<DecisionsNoted>> Onlooker::look(const admission::Entities& state) {
  const auto begin = Clock::now();
  auto trial = events::try_out(state, settings_reader_, domain_);
  if (!trial) return tl::unexpected(trial.error());
  trial_ = std::move(*trial);
  news_ = proposals_.take(trial_, state);
  changed_ = false;
  const auto end = Clock::now();
  not_before_ = end + pause_factor * (end - begin);

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
