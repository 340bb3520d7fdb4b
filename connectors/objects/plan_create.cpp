// Making a Workload for a job, or an Option for a Parent, and bringing it in line with a job or a Parent that changed.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "connectors/jobs/integrations.hpp"
#include "connectors/jobs/template_change.hpp"
#include "connectors/json/document.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/json/merge_patch.hpp"
#include "connectors/json/object_meta.hpp"
#include "connectors/json/template_hash.hpp"
#include "connectors/json/text.hpp"
#include "connectors/objects/plan.hpp"
#include "connectors/objects/resource_types.hpp"
#include "connectors/objects/write_parts.hpp"

namespace hindsight::connectors {
namespace {

using admission::OptionCreateIntent;
using admission::WorkloadCreateIntent;
using admission::WorkloadReviseIntent;

Result<const JobIntegration*> integration_for(std::string_view kind, std::string_view group, std::string_view namespace_,
                                              std::string_view name) {
  const auto* integration = find_integration(kind, group);
  if (integration != nullptr && find_resource_type(kind, group) != nullptr) return integration;
  return fail(ErrorKind::unsupported, std::string(kind) + " " + std::string(namespace_) + "/" + std::string(name) +
                                          ": no integration for kind " + std::string(kind) + " of group \"" + std::string(group) + "\"");
}

Json pod_sets_for(const JobIntegration& integration, const Json& job, const PlanSettings& settings) {
  auto out = integration.pod_sets(job);
  for (auto& pod_set : out) {
    pod_set["template"] = workload_template(pod_set["template"]);
    if (!settings.partial_admission) pod_set.erase("minCount");
    if (!settings.topologies) pod_set.erase("topologyRequest");
  }
  return out;
}

Json priority_class_ref(PriorityClassKind kind, const std::string& name) {
  switch (kind) {
    case PriorityClassKind::workload_priority_class:
      return {{"group", "kueue.x-k8s.io"}, {"kind", "WorkloadPriorityClass"}, {"name", name}};
    case PriorityClassKind::pod_priority_class:
      return {{"group", "scheduling.k8s.io"}, {"kind", "PriorityClass"}, {"name", name}};
    case PriorityClassKind::none:
      break;
  }
  return nullptr;
}

Json workload_labels(const WorkloadCreateIntent& intent, const Json& job, const PlanSettings& settings) {
  Json out = Json::object();
  const auto& labels = object_or_empty(object_or_empty(job, "metadata"), "labels");
  for (const auto& key : settings.label_keys_to_copy)
    if (const auto* value = member(labels, key)) out[key] = *value;
  if (!intent.job_uid.empty() && is_label_value(intent.job_uid)) out[std::string(keys::job_uid)] = intent.job_uid;
  return out;
}

/// `sizable`: the kind's containers can be sized.
Json workload_annotations(const Json& job, bool sizable) {
  Json out = Json::object();
  for (const auto& [key, value] : object_or_empty(object_or_empty(job, "metadata"), "annotations").items()) {
    const bool copied = key.starts_with(keys::provisioning_parameter_prefix) || (key == keys::elastic_job && value == "true") ||
                        (sizable && (key == keys::resource_policy || key == keys::resource_bounds));
    if (copied) out[key] = value;
  }
  return out;
}

Json owner_reference(const ResourceType& owner_type, const std::string& name, const std::string& uid) {
  return {{"apiVersion", api_version(owner_type)},
          {"kind", owner_type.kind},
          {"name", name},
          {"uid", uid},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

/// Of the Parent's, which are all the Option's but for what says that it is a Parent, and what it was admitted with.
Json option_labels(const Json& parent) {
  Json out = object_or_empty(object_or_empty(parent, "metadata"), "labels");
  for (const auto key : {keys::parent_label, keys::multikueue_origin}) out.erase(std::string(key));
  return out;
}

std::string joined_flavors(const std::vector<std::string>& flavors) {
  std::string out;
  for (const auto& flavor : flavors) out.append(out.empty() ? "" : ",").append(flavor);
  return out;
}

Json option_annotations(const OptionCreateIntent& intent, const Json& parent) {
  Json out = object_or_empty(object_or_empty(parent, "metadata"), "annotations");
  for (const auto key : {keys::parent_annotation, keys::resource_plan}) out.erase(std::string(key));
  out[std::string(keys::allowed_flavors)] = joined_flavors(intent.flavors);
  return out;
}

/// Our own first, then those of the Parent.
Json option_gates(const Json& parent_spec) {
  Json out = Json::array({{{"name", keys::concurrent_admission_gate}}});
  for (const auto& gate : list_or_empty(parent_spec, "preemptionGates"))
    if (text_member(gate, "name") != keys::concurrent_admission_gate) out.push_back(gate);
  return out;
}

Write creation_of(const std::string& namespace_, const std::string& name, Json metadata, Json spec) {
  Write out;
  out.verb = Write::Verb::create;
  out.type = &types::workload;
  out.namespace_ = namespace_;
  out.name = name;
  out.body = to_text(Json{{"apiVersion", api_version(types::workload)},
                          {"kind", types::workload.kind},
                          {"metadata", std::move(metadata)},
                          {"spec", std::move(spec)}});
  return out;
}

/// Lists of pod sets that mean the same: counts, topology, and templates by hash, for the server adds defaults to what we write.
bool same_pod_sets(const Json& a, const Json& b) {
  if (a.size() != b.size()) return false;
  const auto hash = [](const Json& pod_set) {
    const auto document = Document::parse(to_text(object_or_empty(pod_set, "template")));
    return document ? hash_template(document->root()).whole : 0;
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = text_member(a[i], "name") == text_member(b[i], "name") &&
                      int_member(a[i], "count").value_or(1) == int_member(b[i], "count").value_or(1) &&
                      int_member(a[i], "minCount") == int_member(b[i], "minCount") &&
                      object_or_empty(a[i], "topologyRequest") == object_or_empty(b[i], "topologyRequest") && hash(a[i]) == hash(b[i]);
    if (!same) return false;
  }
  return true;
}

using Counts = std::vector<std::pair<std::string, std::int32_t>>;

Counts counts_of(const Json& pod_sets) {
  Counts out;
  for (const auto& pod_set : pod_sets) out.emplace_back(text_member(pod_set, "name"), int_member(pod_set, "count").value_or(1));
  return out;
}

/// The pod sets as they are, with other counts.
Json with_counts(Json pod_sets, const Counts& counts) {
  for (auto& pod_set : pod_sets)
    for (const auto& [name, count] : counts)
      if (text_member(pod_set, "name") == name && int_member(pod_set, "count").value_or(1) != count) pod_set["count"] = count;
  return pod_sets;
}

}  // namespace

Result<Json> parse_object(std::string_view text) {
  auto document = Document::parse(text);
  if (!document) document = Document::parse_beyond_limits(text);  // it may have to be stopped
  if (!document) return tl::unexpected(document.error());
  simdjson::dom::object root;
  if (document->root().get(root) != simdjson::SUCCESS) return fail(ErrorKind::invalid, "an object: found " + shown(document->root()));
  Json out = Json::object();
  for (const auto field : root) {
    simdjson::dom::object metadata;
    if (field.key != "metadata" || field.value.get(metadata) != simdjson::SUCCESS) {
      out[std::string(field.key)] = to_json(field.value);
      continue;
    }
    Json kept = Json::object();
    for (const auto part : metadata)
      if (part.key != "managedFields") kept[std::string(part.key)] = to_json(part.value);
    out["metadata"] = std::move(kept);
  }
  return out;
}

std::optional<Write> plan_adopt(const admission::WorkloadAdoptIntent& intent, const Json& workload) {
  const auto* job_type = find_resource_type(intent.job_kind, intent.job_group);
  if (job_type == nullptr || !is_meant(workload, {}) || is_deleting(workload)) return std::nullopt;
  Json owners = list_or_empty(object_or_empty(workload, "metadata"), "ownerReferences");
  if (!owners.is_array()) owners = Json::array();
  for (const auto& owner : owners)
    if (flag_member(owner, "controller")) return std::nullopt;
  owners.push_back(owner_reference(*job_type, intent.job_name, intent.job_uid));
  Json metadata{{"ownerReferences", std::move(owners)}};
  if (is_label_value(intent.job_uid)) metadata["labels"][std::string(keys::job_uid)] = intent.job_uid;
  return merge_patch_of(types::workload, workload, "", {{"metadata", std::move(metadata)}});
}

Result<Write> plan_create(const WorkloadCreateIntent& intent, const Json& job, const PlanSettings& settings, const Json& replaced) {
  const auto integration = integration_for(intent.job_kind, intent.job_group, intent.namespace_, intent.job_name);
  if (!integration) return tl::unexpected(integration.error());
  const auto& job_type = *find_resource_type(intent.job_kind, intent.job_group);

  Json metadata{{"name", intent.name},
                {"namespace", intent.namespace_},
                {"ownerReferences", Json::array({owner_reference(job_type, intent.job_name, intent.job_uid)})}};
  if (auto labels = workload_labels(intent, job, settings); !labels.empty()) metadata["labels"] = std::move(labels);
  auto annotations = workload_annotations(job, (*integration)->sizes_containers());
  if (!intent.admission_gated_by.empty()) annotations[std::string(keys::admission_gated_by)] = intent.admission_gated_by;
  auto pod_sets = pod_sets_for(**integration, job, settings);
  if (!intent.slice_name.empty()) {
    annotations[std::string(keys::elastic_job)] = "true";
    annotations[std::string(keys::slice_name)] = intent.slice_name;
    for (auto& pod_set : pod_sets) pod_set.erase("minCount");  // EJ-102
  }
  if (!intent.replaces.empty()) {
    annotations[std::string(keys::slice_replacement_for)] = intent.replaces;
    pod_sets = with_counts(list_or_empty(object_or_empty(replaced, "spec"), "podSets"),
                           intent.counts.empty() ? counts_of(pod_sets) : intent.counts);
  }
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);

  Json spec{{"podSets", std::move(pod_sets)}, {"priority", intent.priority}};
  if (!intent.queue_name.empty()) spec["queueName"] = intent.queue_name;
  put(spec, "priorityClassRef", priority_class_ref(intent.priority_class_kind, intent.priority_class));
  if (intent.max_exec_seconds) spec["maximumExecutionTimeSeconds"] = *intent.max_exec_seconds;
  return creation_of(intent.namespace_, intent.name, std::move(metadata), std::move(spec));
}

Write plan_create_option(const OptionCreateIntent& intent, const Json& parent) {
  Json metadata{{"name", intent.name},
                {"namespace", intent.namespace_},
                {"annotations", option_annotations(intent, parent)},
                {"ownerReferences", Json::array({owner_reference(types::workload, intent.parent_name, intent.parent_uid)})}};
  if (auto labels = option_labels(parent); !labels.empty()) metadata["labels"] = std::move(labels);

  const auto& parent_spec = object_or_empty(parent, "spec");
  Json pod_sets = list_or_empty(parent_spec, "podSets");
  for (auto& pod_set : pod_sets) pod_set.erase("minCount");
  Json spec{{"podSets", std::move(pod_sets)},
            {"preemptionGates", option_gates(parent_spec)},
            {"admissionConstraints", {{"allowedResourceFlavors", intent.flavors}}}};
  for (const auto* key : {"queueName", "priority", "priorityClassRef", "maximumExecutionTimeSeconds"})
    if (const auto* value = member(parent_spec, key)) spec[key] = *value;
  if (!intent.active) spec["active"] = false;
  return creation_of(intent.namespace_, intent.name, std::move(metadata), std::move(spec));
}

bool is_option_of(const Json& workload, std::string_view parent_uid) {
  const auto& owners = list_or_empty(object_or_empty(workload, "metadata"), "ownerReferences");
  return std::any_of(owners.begin(), owners.end(), [&](const Json& owner) {
    return flag_member(owner, "controller") && text_member(owner, "kind") == types::workload.kind &&
           text_member(owner, "uid") == parent_uid;
  });
}

Result<std::vector<Write>> plan_revise(const WorkloadReviseIntent& intent, const Json& workload, const Json& job,
                                       const PlanSettings& settings) {
  std::vector<Write> out;
  if (!is_meant(workload, intent.uid) || is_deleting(workload)) return out;
  const auto& spec = object_or_empty(workload, "spec");
  Json wanted = spec;
  if (intent.pod_sets && is_meant(job, intent.job_uid)) {
    const auto integration = integration_for(intent.job_kind, intent.job_group, intent.namespace_, intent.job_name);
    if (!integration) return tl::unexpected(integration.error());
    auto pod_sets = pod_sets_for(**integration, job, settings);
    if (!same_pod_sets(list_or_empty(spec, "podSets"), pod_sets)) wanted["podSets"] = std::move(pod_sets);
  }
  if (!intent.counts.empty()) wanted["podSets"] = with_counts(list_or_empty(spec, "podSets"), intent.counts);
  put(wanted, "queueName", intent.queue_name.empty() ? Json() : Json(intent.queue_name));
  put(wanted, "priorityClassRef", priority_class_ref(intent.priority_class_kind, intent.priority_class));
  wanted["priority"] = intent.priority;
  put(wanted, "maximumExecutionTimeSeconds", intent.max_exec_seconds ? Json(*intent.max_exec_seconds) : Json());

  Json body = Json::object();
  if (!intent.flavors.empty()) {
    wanted["admissionConstraints"]["allowedResourceFlavors"] = intent.flavors;
    const std::string key(keys::allowed_flavors), flavors = joined_flavors(intent.flavors);
    if (text_member(object_or_empty(object_or_empty(workload, "metadata"), "annotations"), key) != flavors)
      body["metadata"]["annotations"][key] = flavors;
  }
  if (auto difference = merge_difference(spec, wanted); !difference.empty()) body["spec"] = std::move(difference);
  if (const auto& gate = intent.admission_gated_by) {
    const std::string key(keys::admission_gated_by);
    const auto held = text_member(object_or_empty(object_or_empty(workload, "metadata"), "annotations"), key);
    if (held != *gate) body["metadata"]["annotations"][key] = gate->empty() ? Json() : Json(*gate);
  }
  if (intent.resource_bounds && is_meant(job, intent.job_uid)) {
    const auto annotations = [](const Json& object) -> const Json& {
      return object_or_empty(object_or_empty(object, "metadata"), "annotations");
    };
    for (const auto key : {keys::resource_policy, keys::resource_bounds}) {
      const auto* wanted_value = member(annotations(job), key);
      if (text_member(annotations(workload), key) == text_member(annotations(job), key)) continue;
      body["metadata"]["annotations"][std::string(key)] = wanted_value == nullptr ? Json() : *wanted_value;
    }
  }
  if (!body.empty()) out.push_back(merge_patch_of(types::workload, workload, "", std::move(body)));
  return out;
}

}  // namespace hindsight::connectors
