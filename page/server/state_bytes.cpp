#include "page/server/state_bytes.hpp"

#include <algorithm>
#include <cstdint>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::page {
namespace {

/// So many parents are looked at.
constexpr std::uint32_t parents_looked_at = 2'048;
/// What stands of a Workload in tables by number and by uid, in its queue, and in the message that brought it there.
constexpr std::size_t elsewhere_per_workload = 1'100;
/// What an allocation takes beside what was asked for.
constexpr std::size_t per_allocation = 16;
/// Of a domain without anything in it.
constexpr std::size_t empty_state = std::size_t{1} << 20;

std::size_t text_bytes(std::string_view text) { return text.empty() ? 0 : text.size() + 2 * per_allocation; }

template <class T>
std::size_t list_bytes(const std::vector<T>& list) {
  return list.capacity() == 0 ? 0 : list.capacity() * sizeof(T) + per_allocation;
}

std::size_t workload_bytes(const admission::WorkloadState& w) {
  std::size_t out = elsewhere_per_workload + text_bytes(w.name) + text_bytes(w.uid) + text_bytes(w.owner_uid) + list_bytes(w.conditions) +
                    list_bytes(w.checks) + list_bytes(w.evictions) + list_bytes(w.reclaimable) + list_bytes(w.unhealthy_nodes);
  for (const auto& condition : w.conditions) out += text_bytes(condition.message.value());
  if (w.admission) {
    out += sizeof(admission::Admission) + list_bytes(w.admission->pod_sets);
    for (const auto& pod_set : w.admission->pod_sets) out += list_bytes(pod_set.flavors);
  }
  return out;
}

std::size_t parent_bytes(const admission::WorkloadParent& parent) {
  std::size_t out = sizeof parent + list_bytes(parent.workloads()) + list_bytes(parent.pods());
  for (const auto& w : parent.workloads()) out += workload_bytes(w);
  if (parent.job()) out += sizeof(admission::JobState) + text_bytes(parent.job()->uid);
  for (const auto& pod : parent.pods()) out += text_bytes(pod.name);
  return out;
}

}  // namespace

std::size_t estimated_bytes(const admission::StateView& state) {
  const std::uint32_t count = state.domain().parent_count();
  const std::uint32_t step = std::max<std::uint32_t>(1, count / parents_looked_at);
  std::size_t looked_at = 0, bytes = 0;
  for (std::uint32_t i = 0; i < count; i += step) {
    ++looked_at;
    if (const auto* parent = state.parent(i)) bytes += parent_bytes(*parent);
  }
  constexpr std::size_t node_bytes = 1'024;
  return empty_state + (looked_at == 0 ? 0 : bytes / looked_at * count) + state.domain().nodes().size() * node_bytes;
}

}  // namespace hindsight::page
