#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "connectors/jobs/integrations.hpp"
#include "connectors/jobs/template_change.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/json/text.hpp"
#include "connectors/objects/plan.hpp"
#include "connectors/objects/resource_types.hpp"
#include "connectors/objects/write_parts.hpp"

namespace hindsight::connectors {
namespace {

using admission::JobIntent;
using admission::PodSetStart;

/// What the flavors, the checks and we ourselves put into one pod set (base-api §7.1, BA-137).
Result<PodSetInjection> injection_of(const JobIntent& intent, const PodSetStart& start) {
  PodSetInjection out;
  out.name = start.name;
  out.count = start.count;
  out.placed = start.placed;
  for (const auto& [key, value] : start.node_labels) out.node_selector[key] = value;
  for (const auto& toleration : start.tolerations) out.tolerations.push_back(toleration_json(toleration));
  for (const auto& text : start.pod_set_updates) {
    const auto update = from_text(text);
    if (update.is_discarded()) {
      return fail(ErrorKind::invalid, "podSetUpdates of pod set " + start.name + ": found " + text + ", allowed: JSON");
    }
    for (const auto& entry : update.is_array() ? update : Json::array({update})) {
      const auto name = text_member(entry, "name");
      if (!name.empty() && name != start.name) continue;
      if (auto added = add_update(out, entry); !added) return tl::unexpected(added.error());
    }
  }
  out.owned_labels[std::string(keys::pod_set)] = start.name;
  // Names that are no label value cannot be set; the pods run without the label.
  if (is_dns_label(intent.cluster_queue)) out.owned_labels[std::string(keys::cluster_queue_name)] = intent.cluster_queue;
  if (!intent.local_queue.empty() && is_label_value(intent.local_queue)) {
    out.owned_labels[std::string(keys::local_queue_name)] = intent.local_queue;
  }
  if (!intent.workload.empty()) out.owned_annotations[std::string(keys::workload)] = intent.workload;
  if (!intent.slice_name.empty()) out.owned_annotations[std::string(keys::slice_name)] = intent.slice_name;
  return out;
}

std::vector<ResourceChange> changes_of(const JobIntent& intent, std::string_view pod_set) {
  std::vector<ResourceChange> out;
  for (const auto& s : intent.sizes)
    if (s.pod_set == pod_set) out.push_back({s.container, s.resource, s.original, s.amount});
  return out;
}

/// A plan is for the resources that the Workload has. A job that asks for others has been changed since; it is not started before the
/// log knows (5440 MR-49).
bool changed_since(const JobIntent& intent, const Json& job_pod_sets, const Json& originals) {
  if (intent.sizes.empty()) return false;
  for (const auto& pod_set : job_pod_sets) {
    const auto name = text_member(pod_set, "name");
    const auto* original = find_pod_set(originals, name);
    if (original == nullptr || resource_origin(object_or_empty(pod_set, "template"), object_or_empty(*original, "template"),
                                               changes_of(intent, name)) == ResourceOrigin::other)
      return true;
  }
  return false;
}

/// The pod sets as they were before the job was started, when their Workload has gone (D16): as the job has them, without the marks that
/// its start has put in. Counts, node selectors and tolerations are those that the log has of the Workload.
Json without_start(const JobIntent& intent, Json pod_sets) {
  if (!pod_sets.is_array()) return pod_sets;
  for (auto& pod_set : pod_sets) {
    const auto named = [&](const auto& one) { return one.name == text_member(pod_set, "name"); };
    const auto start = std::find_if(intent.pod_sets.begin(), intent.pod_sets.end(), named);
    const auto before = std::find_if(intent.before.begin(), intent.before.end(), named);
    if (start == intent.pod_sets.end() || before == intent.before.end()) continue;
    auto injection = injection_of(intent, *start);
    if (!injection) continue;  // such a start has never been made
    if (start->placed && !before->asks_for_topology) injection->owned_annotations[std::string(keys::unconstrained_topology)] = "true";
    pod_set["count"] = before->count;
    Json original = without_marks(object_or_empty(pod_set, "template"), *injection);
    Json& spec = original["spec"];
    spec.erase("nodeSelector");
    spec.erase("tolerations");
    for (const auto& [key, value] : before->node_selector) spec["nodeSelector"][key] = value;
    for (const auto& toleration : before->tolerations) spec["tolerations"].push_back(toleration_json(toleration));
    pod_set["template"] = std::move(original);
  }
  return pod_sets;
}

/// What a stop restores. The resources of a job that runs with a plan are its own again, but where its user has changed them meanwhile,
/// what the user wanted stays (MR-65): those are taken out. Without a Workload the plan still tells what they were (MR-70).
Json restorable(const JobIntent& intent, const Json& job_pod_sets, Json originals) {
  const bool known = !originals.empty();
  if (!known && !intent.before.empty()) {
    originals = without_start(intent, job_pod_sets);
  } else if (!known && !intent.sizes.empty()) {
    originals = job_pod_sets;
  }
  if (!originals.is_array()) return originals;
  for (auto& original : originals) {
    const auto* pod_set = find_pod_set(job_pod_sets, text_member(original, "name"));
    if (pod_set == nullptr || !original.contains("template") || !original["template"].contains("spec")) continue;
    const auto changes = changes_of(intent, text_member(*pod_set, "name"));
    auto& pod_template = original["template"];
    if (!known) {
      auto back = changes;
      for (auto& c : back) std::swap(c.from, c.to);
      pod_template = with_resources(pod_template, back);
      continue;
    }
    if (!changes.empty() && resource_origin(object_or_empty(*pod_set, "template"), pod_template, changes) == ResourceOrigin::changed)
      continue;
    pod_template["spec"].erase("containers");
    pod_template["spec"].erase("initContainers");
  }
  return originals;
}

Result<std::vector<JobPatch>> start_patches(const JobIntent& intent, const JobIntegration& integration, const Json& job,
                                            TemplateMutability mutability) {
  std::vector<PodSetInjection> injections;
  for (const auto& start : intent.pod_sets) {
    auto injection = injection_of(intent, start);
    if (!injection) return tl::unexpected(std::move(injection.error()));
    injection->resources = changes_of(intent, start.name);
    injections.push_back(std::move(*injection));
  }
  return integration.start(job, injections, mutability);
}

}  // namespace

Result<std::vector<Write>> plan_job(const JobIntent& intent, const Json& job, const Json& workload, TemplateMutability mutability) {
  std::vector<Write> out;
  const auto* integration = find_integration(intent.kind, intent.group);
  const auto* type = find_resource_type(intent.kind, intent.group);
  const auto title = intent.kind + " " + intent.namespace_ + "/" + intent.name;
  if (integration == nullptr || type == nullptr) {
    return fail(ErrorKind::unsupported, title + ": no integration for kind " + intent.kind + " of group \"" + intent.group + "\"");
  }
  if (!is_meant(job, intent.uid)) return out;
  if (is_deleting(job) && (intent.run || intent.remove)) return out;
  if (intent.remove) {
    out.push_back(deletion_of(*type, job));
    return out;
  }

  std::vector<JobPatch> patches;
  const Json& originals = list_or_empty(object_or_empty(workload, "spec"), "podSets");
  if (intent.run && !integration->stop_in_progress(job)) {
    if (!intent.sizes.empty() && changed_since(intent, integration->pod_sets(job), originals)) return out;
    auto started = start_patches(intent, *integration, job, mutability);
    if (!started) return fail(started.error().kind, title + ": " + started.error().message);
    patches = std::move(*started);
  } else {
    patches = integration->stop(job, restorable(intent, integration->pod_sets(job), originals), mutability);
  }
  for (auto& patch : patches) out.push_back(merge_patch_of(*type, job, patch.subresource, std::move(patch.body)));
  return out;
}

}  // namespace hindsight::connectors
