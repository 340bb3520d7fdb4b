// Flavors, priority classes, namespaces, admission checks, topologies and nodes (base-api §2.1, §2.6).

#include "connectors/json/object_meta.hpp"
#include "connectors/json/pod_template.hpp"
#include "connectors/objects/readers.hpp"

namespace hindsight::connectors::readers {

bool has_condition(const Node& object, std::string_view type) {
  bool out = false;
  object.object("status").each("conditions", limits::conditions,
                               [&](const Node& condition) { out |= condition.text("type") == type && condition.text("status") == "True"; });
  return out;
}

ResourceFlavorObserved resource_flavor(const Node& object) {
  ResourceFlavorObserved out;
  out.meta = read_meta(object);
  const auto spec = object.object("spec");
  out.node_labels = spec.pairs("nodeLabels", limits::flavor_labels);
  out.node_taints = read_taints(spec, "nodeTaints", limits::flavor_taints);
  out.tolerations = read_tolerations(spec, "tolerations", limits::flavor_tolerations);
  out.topology_name = spec.text("topologyName", limits::name);
  return out;
}

WorkloadPriorityClassObserved workload_priority_class(const Node& object) {
  const auto value = object.int32("value");
  if (!value) object.refuse_value("value", "an integer");
  return {read_meta(object), value.value_or(0)};
}

PriorityClassObserved priority_class(const Node& object) {
  return {read_meta(object), object.int32("value").value_or(0), object.flag("globalDefault")};
}

NamespaceObserved namespace_(const Node& object) { return {read_meta(object), object.object("metadata").pairs("labels")}; }

AdmissionCheckObserved admission_check(const Node& object) {
  return {read_meta(object), object.object("spec").text("controllerName", limits::name), has_condition(object, "Active")};
}

TopologyObserved topology(const Node& object) {
  return {read_meta(object), object.object("spec").list<Text>("levels", limits::topology_levels, [](const Node& level) {
            return level.required_text("nodeLabel", limits::key);
          })};
}

NodeObserved node(const Node& object) {
  NodeObserved out;
  out.meta = read_meta(object);
  out.labels = object.object("metadata").pairs("labels");
  const auto spec = object.object("spec");
  out.taints = read_taints(spec, "taints", limits::tolerations);
  out.unschedulable = spec.flag("unschedulable");
  out.allocatable = object.object("status").amounts("allocatable");
  out.ready = has_condition(object, "Ready");
  out.silent = true;
  object.object("status").each("conditions", limits::conditions, [&](const Node& c) { out.silent &= c.text("type") != "Ready"; });
  return out;
}

}  // namespace hindsight::connectors::readers
