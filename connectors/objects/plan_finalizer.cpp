// The finalizer that keeps a ClusterQueue, ResourceFlavor, AdmissionCheck or Topology while somebody uses it (base-admission §8.8).

#include <algorithm>
#include <utility>

#include "connectors/json/object_meta.hpp"
#include "connectors/objects/plan.hpp"
#include "connectors/objects/resource_types.hpp"
#include "connectors/objects/write_parts.hpp"

namespace hindsight::connectors {

const ResourceType* held_type(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::cluster_queue:
      return &types::cluster_queue;
    case ObjectKind::resource_flavor:
      return &types::resource_flavor;
    case ObjectKind::admission_check:
      return &types::admission_check;
    case ObjectKind::topology:
      return &types::topology;
    default:
      return nullptr;
  }
}

std::optional<Write> plan_finalizer(const admission::FinalizerIntent& intent, const Json& object) {
  const auto* type = held_type(intent.kind);
  if (type == nullptr || !is_meant(object, {})) return std::nullopt;
  auto rest = finalizers_without_ours(object);
  if (intent.held) {
    if (rest || is_deleting(object)) return std::nullopt;
    Json all = list_or_empty(object_or_empty(object, "metadata"), "finalizers");
    if (!all.is_array()) all = Json::array();
    all.push_back(in_use_finalizer);
    return merge_patch_of(*type, object, "", {{"metadata", {{"finalizers", std::move(all)}}}});
  }
  if (!rest || !is_deleting(object)) return std::nullopt;  // one that was made anew under the name keeps it
  return merge_patch_of(*type, object, "", {{"metadata", {{"finalizers", std::move(*rest)}}}});
}

}  // namespace hindsight::connectors
