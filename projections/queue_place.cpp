#include "projections/queue_place.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "admission/domain/domain.hpp"
#include "projections/families.hpp"
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
  const auto* config = name.empty() ? nullptr : state.domain().catalog()->queue(name);
  if (queue == nullptr) return std::nullopt;
  auto waiting = queue->waiting();
  const auto mine = std::find_if(waiting.begin(), waiting.end(), [&](const auto& x) { return x.workload->uid == w.uid; });
  if (mine == waiting.end()) return std::nullopt;

  QueuePlace out;
  out.queue = name;
  out.parked = mine->parked;
  const auto* own = mine->workload->option.get();
  const auto is_own = [&](const admission::WorkloadInfo& x) {
    return own == nullptr ? x.uid == w.uid : x.option != nullptr && x.option->parent == own->parent;
  };
  std::set<std::string_view> ahead;  // by uid: those that come before it, with siblings
  for (auto x = waiting.begin(); x != mine; ++x) ahead.insert(x->workload->uid);
  bool listed = false;
  for (const auto& x : waiting_once(state, *queue)) {
    ++out.waiting;
    listed = listed || is_own(*x.workload);
    if (is_own(*x.workload) || !ahead.contains(x.workload->uid)) continue;
    ++out.position;
    if (x.workload->namespace_ == w.namespace_ && x.workload->local_queue == mine->workload->local_queue) ++out.local_position;
  }
  if (!listed) ++out.waiting;  // one whose job runs on another Option, and looks for a better place
  const auto image = queue->image();
  out.sticky = image.sticky_uid == w.uid;
  // In a StrictFIFO queue nobody goes before the others, but for one that quota is kept for.
  const bool keeps = state.domain().catalog()->settings.strict_families;
  const auto may_go_first = [&](const admission::WorkloadInfo& x) {
    return config != nullptr &&
           (config->strategy == QueueingStrategy::best_effort_fifo || (keeps && x.option != nullptr && x.option->next));
  };
  for (const auto& x : waiting)
    if (!out.sticky && !x.parked && x.workload->uid == image.sticky_uid && may_go_first(*x.workload))
      out.served_first = full_name(x.workload->namespace_.text(), x.workload->name);
  const auto entry_of = [&](std::string_view uid) {  // they are sorted by uid
    const auto it = std::lower_bound(image.entries.begin(), image.entries.end(), uid,
                                     [](const auto& e, std::string_view wanted) { return e.uid.view() < wanted; });
    return it != image.entries.end() && it->uid == uid ? &*it : nullptr;
  };
  const auto* entry = entry_of(w.uid);
  if (entry != nullptr && entry->by_record) {
    const std::uint64_t hash = mine->workload->equivalence_hash;
    for (const auto& r : image.records)
      if (r.hash == hash) out.record_reason = r.reason.text();
    out.equal_to = "another workload";
    for (const auto& other : waiting) {
      if (other.workload->equivalence_hash != hash || !other.parked) continue;
      const auto* e = entry_of(other.workload->uid);
      if (e != nullptr && !e->by_record) out.equal_to = full_name(other.workload->namespace_.text(), other.workload->name);
    }
  }
  out.ahead.assign(waiting.begin(), mine);
  return out;
}

}  // namespace hindsight::projections
