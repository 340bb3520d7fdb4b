#include "projections/tracks.hpp"

#include <utility>
#include <variant>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"
#include "projections/format.hpp"
#include "projections/lookup.hpp"

namespace hindsight::projections {

using namespace admission;

namespace {

std::string queue_now(const StateView& state, const WorkloadState& w) {
  if (w.admission) return text(w.admission->cluster_queue);
  const auto* lq = state.domain().catalog()->local_queue(w.namespace_, w.queue_name);
  return lq == nullptr ? std::string() : text(lq->cluster_queue);
}

std::string chain_of(const WorkloadState& w) {
  if (w.is_made_as_option()) return w.family_facts->parent_name.text();
  if (!w.elastic) return {};
  return w.slice_name.view().empty() ? w.name.text() : w.slice_name.text();
}

}  // namespace

void Tracks::begin(const StateView& state) {
  const Time now = state.domain().now();
  for (const auto& at : all_workloads(state)) look_at(at.workload->uid, state, now);
}

void Tracks::see(const RecordView& record, const StateView& state) {
  const Time now = record.envelope.time;
  if (const auto* o = std::get_if<Observation>(&record.body)) {
    if (const auto* w = std::get_if<WorkloadObserved>(o)) look_at(w->meta.uid, state, now);
    if (const auto* gone = std::get_if<ObjectDeleted>(o); gone != nullptr && gone->kind == ObjectKind::workload)
      look_at(gone->uid, state, now);
    return;
  }
  const auto* d = std::get_if<Decisions>(&record.body);
  if (d == nullptr) return;
  for (const Event& e : d->events)
    std::visit(
        [&](const auto& event) {
          if constexpr (requires { event.workload; }) look_at(event.workload.uid, state, now);
          if constexpr (requires { event.replacement; }) look_at(event.replacement.uid, state, now);
        },
        e);
}

void Tracks::close(const std::string& uid, Time now) {
  const auto it = open_.find(uid);
  if (it == open_.end()) return;
  it->second.end = std::max(now, it->second.begin);
  give_(it->second);
  open_.erase(it);
}

void Tracks::look_at(std::string_view uid, const StateView& state, Time now) {
  const auto at = find_by_uid(state, uid);
  if (at.workload == nullptr) return close(std::string(uid), now);
  const WorkloadState& w = *at.workload;
  const Phase phase = phase_of(w);
  std::string queue = queue_now(state, w);
  const auto it = open_.find(uid);
  if (it != open_.end() && it->second.phase == phase && it->second.cluster_queue == queue) return;
  close(std::string(uid), now);
  if (phase == Phase::finished || phase == Phase::inactive) return;
  TrackSpan span;
  span.namespace_ = text(w.namespace_);
  span.name = w.name.text();
  span.uid = std::string(uid);
  if (const auto& job = at.parent->job()) span.job = text(job->kind) + "/" + job->name.text();
  span.cluster_queue = std::move(queue);
  span.chain = chain_of(w);
  span.reason = reason_of(w);
  span.phase = phase;
  span.priority = w.effective_priority(state.domain().catalog()->settings);
  span.begin = now;
  const auto entered = open_.emplace(std::string(uid), std::move(span)).first;
  if (opened_) opened_(entered->second);
}

void Tracks::end(Time now) {
  for (auto& [uid, span] : open_) {
    span.end = std::max(now, span.begin);
    span.open = true;
    give_(span);
  }
  open_.clear();
}

}  // namespace hindsight::projections
