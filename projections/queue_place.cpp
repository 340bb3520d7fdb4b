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

std::optional<ParkedWith> parked_with(const admission::ClusterQueue& queue, admission::WorkloadId id) {
  const auto with = queue.parked_with(id);
  if (!with) return std::nullopt;
  return ParkedWith{with->tried == nullptr ? "another workload" : full_name(with->tried->namespace_.text(), with->tried->name),
                    std::string(with->reason.text())};
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
  const auto first = queue->first_served();
  out.sticky = first != nullptr && first->uid == w.uid;
  // In a StrictFIFO queue nobody goes before the others, but for one that quota is kept for.
  const bool keeps = state.domain().catalog()->settings.strict_families;
  const auto may_go_first = [&](const admission::WorkloadInfo& x) {
    return config != nullptr &&
           (config->strategy == QueueingStrategy::best_effort_fifo || (keeps && x.option != nullptr && x.option->next));
  };
  if (first != nullptr && !out.sticky && !queue->parked(first->id).value_or(true) && may_go_first(*first))
    out.served_first = full_name(first->namespace_.text(), first->name);
  if (const auto with = parked_with(*queue, w.id)) {
    out.equal_to = with->name;
    out.record_reason = with->reason;
  }
  out.ahead.assign(waiting.begin(), mine);
  return out;
}

}  // namespace hindsight::projections
