// Pods of elastic jobs (77 §2.2, §3.8) and of pod sets that have places in a topology (2724 §2.6, §4.7).

#include <algorithm>

#include "connectors/jobs/template_change.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/json/object_meta.hpp"
#include "connectors/json/owner_kinds.hpp"
#include "connectors/json/text.hpp"
#include "connectors/objects/plan.hpp"
#include "connectors/objects/readers.hpp"
#include "connectors/objects/resource_types.hpp"
#include "connectors/objects/write_parts.hpp"
#include "vocabulary/decisions.hpp"

namespace hindsight::connectors {

PodObserved readers::pod(const Node& object) {
  PodObserved out;
  out.meta = read_meta(object);
  const auto meta = object.object("metadata");
  meta.each("ownerReferences", limits::owner_references, [&](const Node& owner) {
    if (!owner.flag("controller")) return;  // there is one at most
    const KindName kind{owner.text("kind", limits::name), group_of_version(owner.text("apiVersion", limits::name))};
    if (ownership(kind, {"Pod", ""}) == Ownership::part) out.owner_uid = owner.text("uid", limits::uid);
  });
  out.pod_set = meta.entry("labels", keys::pod_set).value_or(Text{});
  out.slice_name = meta.entry("annotations", keys::slice_name).value_or(Text{});
  auto index = meta.entry("annotations", keys::completion_index);
  if (!index) index = meta.entry("labels", keys::completion_index);
  out.index = parse_int32(index.value_or(Text{})).value_or(-1);
  const auto spec = object.object("spec");
  spec.each("schedulingGates", limits::scheduling_gates, [&](const Node& gate) {
    out.gated |= gate.text("name") == keys::elastic_gate;
    out.topology_gated |= gate.text("name") == keys::topology_gate;
  });
  out.placed = asks_for_topology(meta);
  out.workload_name = meta.entry("annotations", keys::workload).value_or(Text{});
  if (out.placed) {
    out.group = parse_int32(meta.entry("labels", keys::job_set_job_index).value_or(Text{})).value_or(-1);
    if (const auto offset = meta.entry("annotations", keys::pod_index_offset)) {
      const auto number = parse_int32(*offset);
      out.index_offset = number.value_or(0);
      out.index_offset_bad = !number;
    }
    out.node = spec.text("nodeName", limits::name);
    out.terminating = out.meta.deleting;
    if (!out.node.empty()) out.requests = pod_requests(spec);
    out.node_selector = spec.pairs("nodeSelector", limits::node_selector);
  }
  const auto phase = object.object("status").text("phase");
  out.ended = phase == "Succeeded" || phase == "Failed";
  return out;
}

std::optional<Write> plan_fail(const admission::PodFailIntent& intent, const Json& pod) {
  if (!is_meant(pod, intent.uid) || is_deleting(pod)) return std::nullopt;
  const auto& spec = object_or_empty(pod, "spec");
  const auto& status = object_or_empty(pod, "status");
  const auto phase = text_member(status, "phase");
  // One that was bound meanwhile may run.
  if (phase == "Failed" || phase == "Succeeded" || !text_member(spec, "nodeName").empty()) return std::nullopt;
  Json conditions = Json::array();
  for (const auto& condition : list_or_empty(status, "conditions"))
    if (text_member(condition, "type") != "TerminatedByKueue") conditions.push_back(condition);
  conditions.push_back(
      {{"type", "TerminatedByKueue"}, {"status", "True"}, {"reason", "UnschedulableOnAssignedNode"}, {"message", pod_failed_message}});
  return merge_patch_of(types::pod, pod, "status", {{"status", {{"phase", "Failed"}, {"conditions", std::move(conditions)}}}});
}

std::optional<Write> plan_release(const admission::PodReleaseIntent& intent, const Json& pod) {
  if (!is_meant(pod, intent.uid) || is_deleting(pod)) return std::nullopt;
  const auto& gates = list_or_empty(object_or_empty(pod, "spec"), "schedulingGates");
  Json rest = Json::array();
  for (const auto& gate : gates) {
    const auto name = text_member(gate, "name");
    const bool goes = (intent.elastic_gate && name == keys::elastic_gate) || (intent.topology_gate && name == keys::topology_gate);
    if (!goes) rest.push_back(gate);
  }
  if (rest.size() == gates.size()) return std::nullopt;
  Json spec{{"schedulingGates", rest.empty() ? Json() : std::move(rest)}};
  // The API server lets a gated pod get more of both, and nothing taken away or replaced.
  const auto& selector = object_or_empty(object_or_empty(pod, "spec"), "nodeSelector");
  for (const auto& [key, value] : intent.node_labels)
    if (!selector.contains(key)) spec["nodeSelector"][key] = value;
  Json tolerations = list_or_empty(object_or_empty(pod, "spec"), "tolerations");
  if (!tolerations.is_array()) tolerations = Json::array();
  const auto count = tolerations.size();
  for (const auto& wanted : intent.tolerations) {
    auto toleration = toleration_json(wanted);
    const bool there = std::any_of(tolerations.begin(), tolerations.end(), [&](const Json& t) { return same_toleration(t, toleration); });
    if (!there) tolerations.push_back(std::move(toleration));
  }
  if (tolerations.size() != count) spec["tolerations"] = std::move(tolerations);
  return merge_patch_of(types::pod, pod, "", {{"spec", std::move(spec)}});
}

}  // namespace hindsight::connectors
