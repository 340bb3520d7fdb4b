#include "admission/scheduling/assigned.hpp"

#include <algorithm>

namespace hindsight::admission {

std::vector<PodSetReservation> reservation_of(const WorkloadInfo& workload, const Assignment& assignment,
                                              const topology::TopologyRoom* room) {
  std::vector<PodSetReservation> out(workload.pod_sets.size());
  for (const PodSetAssignment& p : assignment.pod_sets) {
    PodSetReservation& r = out[p.pod_set];
    r.pod_set = workload.pod_sets[p.pod_set].name;
    r.count = p.count;
    r.flavors.reserve(p.choices.size());
    r.usage.reserve(p.choices.size());
    for (const ResourceChoice& c : p.choices) {
      r.flavors.emplace_back(c.resource, c.flavor);
      r.usage.emplace_back(c.resource, c.amount);
    }
    const auto by_resource = [](const auto& a, const auto& b) { return ByText{}(a.first, b.first); };
    std::sort(r.flavors.begin(), r.flavors.end(), by_resource);
    std::sort(r.usage.begin(), r.usage.end(), by_resource);
    if (p.delayed && p.count > 0) r.delayed = DelayedTopology::pending;
  }
  if (assignment.placement)
    for (const auto& placed : assignment.placement->pod_sets)
      out[assignment.pod_sets[placed.position].pod_set].topology = room->assignment(placed.flavor, placed.pods);
  return out;
}

bool needs_no_checks(const WorkloadInfo& workload, const Assignment& assignment, const QueueConfig& queue) {
  const auto assigned = [&](Symbol flavor) {
    return std::any_of(assignment.pod_sets.begin(), assignment.pod_sets.end(), [&](const PodSetAssignment& p) {
      return std::any_of(p.choices.begin(), p.choices.end(), [&](const ResourceChoice& c) { return c.flavor == flavor; });
    });
  };
  if (std::any_of(assignment.pod_sets.begin(), assignment.pod_sets.end(), [](const auto& p) { return p.delayed && p.count > 0; }))
    return false;
  const auto& ready = workload.ready_checks;
  return std::all_of(queue.checks.begin(), queue.checks.end(), [&](const CheckRule& check) {
    const bool required = check.on_flavors.empty() || std::any_of(check.on_flavors.begin(), check.on_flavors.end(), assigned);
    return !required || std::find(ready.begin(), ready.end(), check.name) != ready.end();
  });
}

bool improves(const Assignment& assignment, const QuotaTree::Queue& queue, const QuotaTree::Entry* running) {
  if (running == nullptr) return true;
  std::vector<std::size_t> now, then;
  std::size_t position = 0;
  for (const QuotaTree::Group& group : queue.groups)
    for (const Symbol& flavor : group.flavors) {
      const auto is_this = [&](const auto& choice) { return choice.second == flavor; };
      const auto& held = running->reservation->pod_sets;
      if (std::any_of(held.begin(), held.end(),
                      [&](const PodSetReservation& p) { return std::any_of(p.flavors.begin(), p.flavors.end(), is_this); }))
        now.push_back(position);
      const auto& asked = assignment.pod_sets;
      if (std::any_of(asked.begin(), asked.end(), [&](const PodSetAssignment& p) {
            return std::any_of(p.choices.begin(), p.choices.end(), [&](const ResourceChoice& c) { return c.flavor == flavor; });
          }))
        then.push_back(position);
      ++position;
    }
  return then < now;
}

}  // namespace hindsight::admission
