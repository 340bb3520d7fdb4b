#include "page/timeline/longest_wait.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"
#include "projections/lookup.hpp"
#include "projections/phase.hpp"
#include "projections/wait_reasons.hpp"

namespace hindsight::page::timeline {
namespace {

constexpr std::size_t line_min = 4096;

/// Since when it waits for quota; never: it does not. Options stand in the place of their Parent, which is counted.
Time waiting_since(const admission::WorkloadState& w) {
  if (w.is_made_as_option() || projections::phase_of(w) != projections::Phase::pending) return Time::never();
  return projections::waits_since(w);
}

Time waiting_since(const admission::StateView& state, std::string_view uid) {
  const auto at = projections::find_by_uid(state, uid);
  return at.workload == nullptr ? Time::never() : waiting_since(*at.workload);
}

template <class See>
void each_workload(const admission::StateView& state, See see) {
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr) continue;
    for (const auto& w : parent->workloads()) see(w);
  }
}

}  // namespace

Time longest_wait_of(const admission::StateView& state) {
  Time out = Time::never();
  each_workload(state, [&](const admission::WorkloadState& w) {
    const Time since = waiting_since(w);
    if (since.is_set() && (!out.is_set() || since < out)) out = since;
  });
  return out;
}

void LongestWait::put(Time since, std::string uid) {
  stands_in_.insert_or_assign(uid, since);
  line_.push({since, std::move(uid)});
}

void LongestWait::begin(const admission::StateView& state) {
  line_ = {};
  stands_in_.clear();
  each_workload(state, [&](const admission::WorkloadState& w) {
    const Time since = waiting_since(w);
    if (since.is_set()) put(since, std::string(w.uid.text()));
  });
  look_again_at_ = std::max(line_min, 2 * line_.size());
}

void LongestWait::meet(std::string_view uid, const admission::StateView& state) {
  if (uid.empty()) return;
  const Time since = waiting_since(state, uid);
  if (!since.is_set()) return;
  std::string key(uid);
  if (const auto known = stands_in_.find(key); known != stands_in_.end() && known->second == since) return;
  put(since, std::move(key));
  if (line_.size() > look_again_at_) begin(state);
}

void LongestWait::after(const RecordView& record, const admission::StateView& state) {
  if (const auto* o = std::get_if<Observation>(&record.body)) {
    if (const auto* w = std::get_if<WorkloadObserved>(o)) meet(w->meta.uid, state);
    if (const auto* refused = std::get_if<WriteRefused>(o)) meet(refused->uid, state);  // it may have lost its quota again (BA-75)
    return;
  }
  const auto* decisions = std::get_if<Decisions>(&record.body);
  if (decisions == nullptr) return;
  const auto see = [&]<class E>(const E& e) {
    if constexpr (std::is_same_v<E, EntryRequeued>) return;  // it waited before, and does since the same time
    if constexpr (requires { e.workload; }) meet(e.workload.uid, state);
    if constexpr (requires { e.replacement; }) meet(e.replacement.uid, state);
    if constexpr (requires { e.parent; }) meet(e.parent.uid, state);
    if constexpr (requires { e.from; }) meet(e.from.uid, state);
  };
  for (const Event& event : decisions->events) std::visit(see, event);
}

Time LongestWait::since(const admission::StateView& state) {
  while (!line_.empty()) {
    const One& oldest = line_.top();
    const Time now = waiting_since(state, oldest.uid);
    const auto stands = stands_in_.find(oldest.uid);
    const bool newest_entry = stands != stands_in_.end() && stands->second == oldest.since;
    if (newest_entry && now == oldest.since) return now;
    std::string uid = oldest.uid;
    line_.pop();
    if (!newest_entry) continue;  // it stands elsewhere in the line, too
    if (now.is_set())
      put(now, std::move(uid));
    else
      stands_in_.erase(stands);
  }
  return Time::never();
}

}  // namespace hindsight::page::timeline
