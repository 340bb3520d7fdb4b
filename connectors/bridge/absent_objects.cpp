#include "connectors/bridge/absent_objects.hpp"

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"
#include "connectors/json/document.hpp"
#include "connectors/json/pod_defaults.hpp"

namespace hindsight::connectors {

namespace {

/// LimitRanges and RuntimeClasses are not observed: nobody else would say that one can be read again.
bool can_be_read(std::string_view api_kind, std::string_view text) {
  const auto document = Document::parse(text);
  ClusterDefaults scratch;
  return document && (api_kind == types::limit_range.kind ? scratch.set_limit_range(document->root()).has_value()
                                                          : scratch.set_runtime_class(document->root()).has_value());
}

}  // namespace

std::vector<AbsentObject> find_absent(const admission::StateView& state, const Mirror& mirror) {
  std::vector<AbsentObject> out;
  const auto& catalog = *state.domain().catalog();
  const auto cluster_scoped = [&](ObjectKind kind, const ResourceType& type, const auto& table) {
    for (const auto& [name, config] : table)
      if (mirror.find(type, "", name.text()) == nullptr) out.push_back({kind, "", std::string(name.text()), ""});
  };
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* p = state.parent(i);
    if (p == nullptr) continue;
    for (const auto& w : p->workloads())
      if (!w.gone && mirror.find_by_uid(w.uid) == nullptr)
        out.push_back({ObjectKind::workload, std::string(w.namespace_.text()), w.name.text(), w.uid.text()});
    for (const auto& pod : p->pods())
      if (mirror.find_by_uid(pod.uid) == nullptr) out.push_back({ObjectKind::pod, "", pod.name.text(), pod.uid.text()});
    if (p->job() && mirror.find_by_uid(p->job()->uid) == nullptr)
      out.push_back({ObjectKind::job, std::string(p->job()->namespace_.text()), p->job()->name.text(), p->job()->uid.text()});
  }
  cluster_scoped(ObjectKind::cluster_queue, types::cluster_queue, catalog.queues);
  cluster_scoped(ObjectKind::cohort, types::cohort, catalog.cohorts);
  cluster_scoped(ObjectKind::resource_flavor, types::resource_flavor, catalog.flavors);
  cluster_scoped(ObjectKind::admission_check, types::admission_check, catalog.checks);
  cluster_scoped(ObjectKind::node, types::node, state.domain().nodes());
  cluster_scoped(ObjectKind::topology, types::topology, catalog.topologies);
  cluster_scoped(ObjectKind::workload_priority_class, types::workload_priority_class, catalog.workload_priority_classes);
  cluster_scoped(ObjectKind::priority_class, types::priority_class, catalog.pod_priority_classes);
  cluster_scoped(ObjectKind::namespace_, types::namespace_, catalog.namespaces);
  for (const auto& [key, lq] : catalog.local_queues)
    if (mirror.find(types::local_queue, key.first.text(), key.second.text()) == nullptr)
      out.push_back({ObjectKind::local_queue, std::string(key.first.text()), std::string(key.second.text()), ""});
  for (const auto& [uid, q] : state.domain().quarantined()) {
    const auto text = mirror.find_by_uid(uid);
    if (text == nullptr || (q.kind == ObjectKind::unspecified && can_be_read(q.api_kind, *text)))
      out.push_back({q.kind, q.namespace_, q.name, uid});
  }
  return out;
}

}  // namespace hindsight::connectors
