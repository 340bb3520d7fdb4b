#include "projections/pending_workloads.hpp"

#include <unordered_map>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "projections/families.hpp"

namespace hindsight::projections {
namespace {

using admission::Catalog;
using admission::WorkloadInfo;

std::optional<PendingWorkload::Owner> owner_of(const StateView& state, const WorkloadInfo& w) {
  const WorkloadAt at = find_by_uid(state, w.uid);
  if (at.parent == nullptr || !at.parent->job()) return std::nullopt;
  const auto& job = *at.parent->job();
  return PendingWorkload::Owner{std::string(job.kind.text()), std::string(job.group.text()), job.name.text(), job.uid.text()};
}

/// Its Workload; of an Option the Parent, which stands for its family (CA-105).
PendingWorkload entry_of(const StateView& state, const WorkloadInfo& w) {
  PendingWorkload out{std::string(w.namespace_.text()), w.name.text(), w.created, owner_of(state, w), w.base_priority,
                      std::string(w.local_queue.text())};
  if (w.option == nullptr) return out;
  out.name = w.option->parent_name.text();
  if (const WorkloadAt parent = find_by_uid(state, w.option->family); parent.workload != nullptr) out.created = parent.workload->created;
  return out;
}

/// Goes through a queue in its order and takes those that `wanted` says, after `offset` of them and up to `limit`.
template <class Wanted>
std::vector<PendingWorkload> page_of(const StateView& state, Symbol queue_name, PendingPage page, Wanted wanted) {
  std::vector<PendingWorkload> out;
  const auto* queue = state.queue(queue_name);
  if (queue == nullptr) return out;
  std::unordered_map<Catalog::LocalQueueKey, std::size_t, Catalog::LocalQueueKeyHash> local_positions;
  std::size_t position = 0, fitting = 0;
  for (const auto& [workload, parked] : waiting_once(state, *queue)) {
    if (out.size() >= page.limit) break;
    const WorkloadInfo& w = *workload;
    const std::size_t local_position = local_positions[{w.namespace_, w.local_queue}]++;
    const std::size_t at = position++;
    if (!wanted(w) || fitting++ < page.offset) continue;
    auto& one = out.emplace_back(entry_of(state, w));
    one.position = at;
    one.local_position = local_position;
  }
  return out;
}

}  // namespace

std::optional<std::vector<PendingWorkload>> pending_in_cluster_queue(const StateView& state, std::string_view name, PendingPage page) {
  for (const auto& [queue, config] : state.domain().catalog()->queues)
    if (queue.text() == name) return page_of(state, queue, page, [](const WorkloadInfo&) { return true; });
  return std::nullopt;
}

std::optional<std::vector<PendingWorkload>> pending_in_local_queue(const StateView& state, std::string_view namespace_,
                                                                   std::string_view name, PendingPage page) {
  for (const auto& [key, config] : state.domain().catalog()->local_queues) {
    if (key.first.text() != namespace_ || key.second.text() != name) continue;
    const auto of_it = [&key = key](const WorkloadInfo& w) { return w.namespace_ == key.first && w.local_queue == key.second; };
    return page_of(state, config.cluster_queue, page, of_it);
  }
  return std::nullopt;
}

}  // namespace hindsight::projections
