#include "routing/held_objects.hpp"

#include <set>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::routing {

std::vector<ObjectKey> held_objects(const admission::StateView& state) {
  std::vector<ObjectKey> out;
  const auto& catalog = *state.domain().catalog();
  const auto by_name = [&](ObjectKind kind, const auto& table) {
    for (const auto& [name, config] : table) out.push_back({kind, {}, std::string(name.text()), {}});
  };
  by_name(ObjectKind::resource_flavor, catalog.flavors);
  by_name(ObjectKind::cluster_queue, catalog.queues);
  by_name(ObjectKind::cohort, catalog.cohorts);
  by_name(ObjectKind::admission_check, catalog.checks);
  by_name(ObjectKind::topology, catalog.topologies);
  by_name(ObjectKind::workload_priority_class, catalog.workload_priority_classes);
  by_name(ObjectKind::priority_class, catalog.pod_priority_classes);
  by_name(ObjectKind::namespace_, catalog.namespaces);
  by_name(ObjectKind::node, state.domain().nodes());
  for (const auto& [key, queue] : catalog.local_queues)
    out.push_back({ObjectKind::local_queue, std::string(key.first.text()), std::string(key.second.text()), {}});
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr) continue;
    if (const auto& job = parent->job())
      out.push_back({ObjectKind::job, std::string(job->namespace_.text()), job->name.text(), job->uid.text()});
    for (const auto& w : parent->workloads())
      if (!w.gone) out.push_back({ObjectKind::workload, std::string(w.namespace_.text()), w.name.text(), w.uid.text()});
    for (const auto& pod : parent->pods()) out.push_back({ObjectKind::pod, {}, pod.name.text(), pod.uid.text()});
  }
  const auto& set_aside = state.domain().quarantined();
  const std::set<ObjectKey> known(out.begin(), set_aside.empty() ? out.begin() : out.end());
  for (const auto& [uid, q] : set_aside)
    if (ObjectKey key{q.kind, q.namespace_, q.name, uid}; !known.contains(key)) out.push_back(std::move(key));
  return out;
}

}  // namespace hindsight::routing
