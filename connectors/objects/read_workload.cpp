// Workload (base-api §2.5; 8691 §2.5, §2.6).

#include <algorithm>
#include <iterator>
#include <vector>

#include <simdjson.h>

#include "connectors/json/keys.hpp"
#include "connectors/json/object_meta.hpp"
#include "connectors/json/pod_template.hpp"
#include "connectors/json/resource_bounds.hpp"
#include "connectors/json/text.hpp"
#include "connectors/objects/readers.hpp"
#include "connectors/objects/topology_encoding.hpp"
#include "connectors/objects/wire_names.hpp"

namespace hindsight::connectors::readers {
namespace {

constexpr std::string_view default_pod_set = "main";

Text pod_set_name(const Node& node) {
  const auto name = node.text("name", limits::dns_label);
  return name.empty() ? default_pod_set : name;
}

PodSetFacts read_pod_set(const Node& node, const TemplateContext& context) {
  PodSetFacts out;
  out.name = pod_set_name(node);
  out.count = node.int32_or("count", 1);
  out.min_count = node.int32("minCount", 0);
  const auto pod_template = node.object("template");
  if (!pod_template.present()) node.refuse_value("template", "an object");
  read_pod_template(pod_template, context, out);

  // The request of the Workload is what counts; annotations of the template were its source when the Workload was made.
  const auto topology = node.object("topologyRequest");
  out.required_topology = topology.text("required", limits::key);
  out.preferred_topology = topology.text("preferred", limits::key);
  out.unconstrained_topology = topology.flag("unconstrained");
  out.topology_layers =
      topology.list<TopologyLayerFacts>("podsetSliceRequiredTopologyConstraints", limits::topology_levels, [](const Node& layer) {
        return TopologyLayerFacts{layer.text("topology", limits::key), layer.int32("size", 1)};
      });
  if (const auto level = topology.text("podSetSliceRequiredTopology", limits::key); out.topology_layers.empty() && !level.empty()) {
    const auto list = node.reading().arena().make<TopologyLayerFacts>(1);
    list[0] = {level, topology.int32("podSetSliceSize", 1)};
    out.topology_layers = list;
  }
  out.topology_requested =
      topology.has("required") || topology.has("preferred") || topology.has("unconstrained") || !out.topology_layers.empty();
  out.topology_ranked = topology.text("podIndexLabel") == keys::completion_index;
  if (topology.text("subGroupIndexLabel") == keys::job_set_job_index) out.topology_groups = topology.int32("subGroupCount", 0);
  if (const auto group = topology.text("podSetGroupName"); !group.empty()) out.pod_set_group = group;
  return out;
}

void read_owner(const Node& meta, WorkloadObserved& out) {
  meta.each("ownerReferences", limits::owner_references, [&](const Node& owner) {
    if (!out.owner_uid.empty() || !owner.flag("controller")) return;
    out.owner_uid = owner.text("uid", limits::uid);
    out.owner_kind = owner.text("kind", limits::name);
    out.owner_name = owner.text("name", limits::name);
  });
}

void read_spec(const Node& spec, const JobContext& context, const ResourceBounds* bounds, WorkloadObserved& out) {
  TemplateContext around{context.defaults, out.meta.namespace_, 0, bounds};
  out.pod_sets = spec.list<PodSetFacts>("podSets", limits::pod_sets, [&](const Node& node) {
    auto pod_set = read_pod_set(node, around);
    ++around.pod_set_index;
    return pod_set;
  });
  out.queue_name = spec.text("queueName", limits::name);
  out.priority = spec.int32("priority");
  if (const auto ref = spec.object("priorityClassRef"); ref.present()) {
    out.priority_class_kind = ref.choice<PriorityClassKind>(
        "kind",
        {{"WorkloadPriorityClass", PriorityClassKind::workload_priority_class}, {"PriorityClass", PriorityClassKind::pod_priority_class}},
        PriorityClassKind::none);
    out.priority_class = ref.text("name", limits::name);
  }
  out.active = spec.flag("active", true);
  out.max_exec_seconds = spec.int32("maximumExecutionTimeSeconds", 1);
}

ConditionStatus read_status(const Node& condition) {
  return condition.choice<ConditionStatus>(
      "status", {{"True", ConditionStatus::true_}, {"False", ConditionStatus::false_}, {"Unknown", ConditionStatus::unknown}},
      ConditionStatus::unknown);
}

List<ConditionFacts> read_conditions(const Node& status) {
  const auto n = status.count("conditions", limits::conditions);
  if (n == 0) return {};
  const auto out = status.reading().arena().make<ConditionFacts>(n);
  std::size_t i = 0;
  status.each("conditions", limits::conditions, [&](const Node& condition) {
    const auto type = condition_type(condition.text("type"));
    if (type == ConditionType::unspecified) return;  // of others
    out[i++] = {type, read_status(condition), condition.text("reason", limits::reason), condition.message("message"),
                condition.time("lastTransitionTime")};
  });
  return out.first(i);
}

PodSetAssignmentFacts read_assignment(const Node& node) {
  PodSetAssignmentFacts out;
  out.pod_set = pod_set_name(node);
  out.count = node.int32_or("count", 0);
  const auto flavors = node.pairs("flavors", limits::resources);
  const auto choices = node.reading().arena().make<FlavorChoice>(flavors.size());
  for (std::size_t i = 0; i < flavors.size(); ++i) choices[i] = {flavors[i].key, flavors[i].value};
  out.flavors = choices;
  out.usage = node.amounts("resourceUsage");
  if (const auto topology = node.object("topologyAssignment"); topology.present()) read_topology_assignment(topology, out);
  out.delayed = node.choice<DelayedTopology>(
      "delayedTopologyRequest", {{"Pending", DelayedTopology::pending}, {"Ready", DelayedTopology::ready}}, DelayedTopology::none);
  return out;
}

CheckFacts read_check(const Node& node) {
  CheckFacts out;
  out.name = node.required_text("name", limits::check_name);
  out.state = node.choice<CheckState>(
      "state",
      {{"Pending", CheckState::pending}, {"Ready", CheckState::ready}, {"Retry", CheckState::retry}, {"Rejected", CheckState::rejected}},
      CheckState::pending);
  out.last_transition = node.time("lastTransitionTime");
  out.message = node.message("message");
  out.requeue_after_seconds = node.int32("requeueAfterSeconds", 0);
  out.retry_count = node.int32("retryCount", 0);
  if (node.count("podSetUpdates", limits::pod_sets) > 0) {
    const auto updates = simdjson::minify(*node.raw("podSetUpdates"));
    if (updates.size() > limits::pod_set_updates_text.size())
      node.refuse_beyond("podSetUpdates", updates.size(), limits::pod_set_updates_text);
    else
      out.pod_set_updates = node.reading().arena().copy(updates);
    out.updates = node.list<PodSetUpdateFacts>("podSetUpdates", limits::pod_sets, [](const Node& update) {
      return PodSetUpdateFacts{update.text("name", limits::dns_label), update.pairs("nodeSelector", limits::node_selector),
                               read_tolerations(update, "tolerations", limits::tolerations)};
    });
  }
  return out;
}

void read_status(const Node& status, WorkloadObserved& out) {
  out.conditions = read_conditions(status);
  if (const auto admission = status.object("admission"); admission.present()) {
    out.has_admission = true;
    out.admission_cluster_queue = admission.required_text("clusterQueue");
    out.assignments = admission.list<PodSetAssignmentFacts>("podSetAssignments", limits::pod_sets, read_assignment);
  }
  out.checks = status.list<CheckFacts>("admissionChecks", limits::workload_checks, read_check);
  if (const auto requeue = status.object("requeueState"); requeue.present()) {
    out.has_requeue_state = true;
    out.requeue_count = requeue.int32_or("count", 0);
    out.requeue_at = requeue.time("requeueAt");
  }
  out.reclaimable = status.list<PodSetCount>("reclaimablePods", limits::reclaimable_pods, [](const Node& node) {
    return PodSetCount{node.required_text("name", limits::dns_label), node.int32_or("count", 0)};
  });
  out.accumulated_exec_seconds = status.int32("accumulatedPastExecutionTimeSeconds", 0);
  out.unhealthy_nodes =
      status.list<Text>("unhealthyNodes", limits::unhealthy_nodes, [](const Node& node) { return node.text("name", limits::name); });
  out.evictions = status.object("schedulingStats").list<EvictionCount>("evictions", limits::evictions, [](const Node& node) {
    return EvictionCount{node.text("reason", limits::reason), node.text("underlyingCause", limits::reason), node.int32_or("count", 0)};
  });
  out.has_resource_requests = status.count("resourceRequests", limits::list) > 0;
}

/// About what the status takes in the log and in memory, but for the message of QuotaReserved. That one is ours: it says that an object was
/// set aside. If it counted, one that is just beyond the limit would be within it as soon as it says so, and beyond it as soon as it does
/// not.
std::size_t status_size(const WorkloadObserved& w) {
  constexpr std::size_t element = 16;
  std::size_t size = w.admission_cluster_queue.size();
  for (const auto& c : w.conditions)
    size += 2 * element + c.reason.size() + (c.type == ConditionType::quota_reserved ? 0 : c.message.size());
  for (const auto& a : w.assignments) {
    size += element + a.pod_set.size();
    for (const auto& f : a.flavors) size += element + f.resource.size() + f.flavor.size();
    for (const auto& u : a.usage) size += element + u.resource.size();
  }
  for (const auto& c : w.checks) size += 4 * element + c.name.size() + c.message.size() + c.pod_set_updates.size();
  for (const auto& r : w.reclaimable) size += element + r.pod_set.size();
  for (const auto& node : w.unhealthy_nodes) size += element + node.size();
  for (const auto& e : w.evictions) size += element + e.reason.size() + e.underlying_cause.size();
  for (const auto& o : w.options) {
    size += 3 * element + o.name.size() + o.message.size();
    for (const auto flavor : o.flavors) size += element + flavor.size();
  }
  return size;
}

// ---- concurrent admission ---------------------------------------------------------------------------------------------------

/// Each once: a name that stands there again says nothing.
List<Text> read_flavor_list(const Node& meta) {
  const auto found = comma_separated(meta.entry("annotations", keys::allowed_flavors, limits::flavor_list).value_or(Text{}));
  if (found.empty()) return {};
  const auto annotations = meta.object("annotations");
  if (found.size() > limits::allowed_flavors.size()) {
    annotations.refuse_beyond(keys::allowed_flavors, found.size(), limits::allowed_flavors);
    return {};
  }
  std::vector<Text> names;
  for (const auto name : found) {
    if (name.size() > limits::name.size()) annotations.refuse_beyond(keys::allowed_flavors, name.size(), limits::name);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return meta.reading().arena().copy(names);
}

/// Where both forms stand, what they have in common is allowed (8691 §2.5).
void read_allowed_flavors(const Node& meta, const Node& spec, WorkloadObserved& out) {
  const auto listed = spec.object("admissionConstraints").texts("allowedResourceFlavors", limits::allowed_flavors, limits::name);
  const auto noted = read_flavor_list(meta);
  out.constrained = !listed.empty() || !noted.empty();
  out.allowed_flavors = listed.empty() ? noted : listed;
  if (listed.empty() || noted.empty()) return;
  std::vector<Text> common;
  std::copy_if(listed.begin(), listed.end(), std::back_inserter(common),
               [&](Text name) { return std::find(noted.begin(), noted.end(), name) != noted.end(); });
  out.allowed_flavors = meta.reading().arena().copy(common);
}

/// One that the status does not speak of is closed.
List<PreemptionGateFacts> read_preemption_gates(const Node& spec, const Node& status) {
  std::vector<Text> open;
  status.each("preemptionGates", limits::preemption_gates, [&](const Node& gate) {
    const auto name = gate.required_text("name", limits::dns_label);
    if (gate.choice<bool>("position", {{"Open", true}, {"Closed", false}}, false)) open.push_back(name);
  });
  return spec.list<PreemptionGateFacts>("preemptionGates", limits::preemption_gates, [&](const Node& gate) {
    const auto name = gate.required_text("name", limits::dns_label);
    return PreemptionGateFacts{name, std::find(open.begin(), open.end(), name) != open.end()};
  });
}

OptionStatusFacts read_option(const Node& node) {
  OptionStatusFacts out;
  out.name = node.required_text("name", limits::name);
  out.flavors = node.texts("resourceFlavors", limits::allowed_flavors, limits::name);
  out.phase = node.choice<OptionPhase>("state",
                                       {{"Pending", OptionPhase::pending},
                                        {"Admitted", OptionPhase::admitted},
                                        {"Deactivated", OptionPhase::deactivated},
                                        {"Finished", OptionPhase::finished}},
                                       OptionPhase::pending);
  out.message = node.message("message");
  out.last_transition = node.time("lastTransitionTime");
  return out;
}

void read_family(const Node& meta, const Node& spec, const Node& status, WorkloadObserved& out) {
  out.parent_marked = meta.entry("labels", keys::parent_label).value_or(Text{}) == "true" &&
                      meta.entry("annotations", keys::parent_annotation).value_or(Text{}) == "true";
  read_allowed_flavors(meta, spec, out);
  out.preemption_gates = read_preemption_gates(spec, status);
  out.options = status.list<OptionStatusFacts>("options", limits::options, read_option);
}

}  // namespace

WorkloadObserved workload(const Node& object, const JobContext& context) {
  WorkloadObserved out;
  out.meta = read_meta(object);
  const auto meta = object.object("metadata");
  read_owner(meta, out);
  out.admission_gated_by = meta.entry("annotations", keys::admission_gated_by, limits::gate_list).value_or(Text{});
  check_gates(meta, keys::admission_gated_by, out.admission_gated_by);
  out.job_uid = meta.entry("labels", keys::job_uid).value_or(Text{});
  out.elastic = meta.entry("annotations", keys::elastic_job).value_or(Text{}) == "true";
  out.replacement_for = meta.entry("annotations", keys::slice_replacement_for).value_or(Text{});
  out.slice_name = meta.entry("annotations", keys::slice_name).value_or(Text{});
  out.priority_boost = parse_int32(meta.entry("annotations", keys::priority_boost).value_or(Text{})).value_or(0);
  const auto policy = meta.entry("annotations", keys::resource_policy).value_or(Text{});
  out.resource_policy = parse_resource_policy(policy).value_or(ResourcePolicy::none);
  out.resource_bounds = meta.entry("annotations", keys::resource_bounds, limits::json_annotation).value_or(Text{});
  const auto bounds = bounds_of(policy, out.resource_bounds);
  const auto spec = object.object("spec");
  const auto status = object.object("status");
  read_spec(spec, context, bounds ? &*bounds : nullptr, out);
  check_pod_sets(object, out.pod_sets);
  out.plan = read_resource_plan(meta.entry("annotations", keys::resource_plan, limits::resource_plan).value_or(Text{}), out.pod_sets,
                                object.reading().arena());
  read_status(status, out);
  read_family(meta, spec, status, out);
  if (const auto size = status_size(out); size > limits::status.size()) object.refuse_beyond("status", size, limits::status);
  return out;
}

}  // namespace hindsight::connectors::readers
