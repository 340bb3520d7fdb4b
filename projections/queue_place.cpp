#include "projections/queue_place.hpp"

#include <algorithm>

#include "admission/domain/domain.hpp"
#include "projections/format.hpp"

namespace hindsight::projections {

Symbol queue_of(const StateView& state, const WorkloadState& w) {
  const auto* lq = state.domain().catalog()->local_queue(w.namespace_, w.queue_name);
  return lq == nullptr ? Symbol() : lq->cluster_queue;
}

std::optional<QueuePlace> place_of(const StateView& state, const WorkloadAt& at) {
  const WorkloadState& w = *at.workload;
  const Symbol name = queue_of(state, w);
  const auto* queue = name.empty() ? nullptr : state.queue(name);
  if (queue == nullptr) return std::nullopt;
  auto waiting = queue->waiting();
  const auto mine = std::find_if(waiting.begin(), waiting.end(), [&](const auto& x) { return x.workload->uid == w.uid; });
  if (mine == waiting.end()) return std::nullopt;

  QueuePlace out;
  out.queue = name;
  out.position = static_cast<std::size_t>(mine - waiting.begin());
  out.waiting = waiting.size();
  out.parked = mine->parked;
  out.local_position = static_cast<std::size_t>(std::count_if(waiting.begin(), mine, [&](const auto& x) {
    return x.workload->namespace_ == w.namespace_ && x.workload->local_queue == w.queue_name;
  }));
  const auto image = queue->image();
  out.sticky = image.sticky_uid == w.uid;
  const auto entry = std::find_if(image.entries.begin(), image.entries.end(), [&](const auto& e) { return e.uid == w.uid; });
  if (entry != image.entries.end() && entry->by_record) {
    const std::uint64_t hash = mine->workload->equivalence_hash;
    for (const auto& r : image.records)
      if (r.hash == hash) out.record_reason = r.reason.text();
    out.equal_to = "another workload";
    for (const auto& other : waiting) {
      if (other.workload->equivalence_hash != hash || !other.parked) continue;
      const auto e = std::find_if(image.entries.begin(), image.entries.end(), [&](const auto& x) { return x.uid == other.workload->uid; });
      if (e != image.entries.end() && !e->by_record) out.equal_to = full_name(other.workload->namespace_.text(), other.workload->name);
    }
  }
  out.ahead.assign(waiting.begin(), mine);
  return out;
}

}  // namespace hindsight::projections
