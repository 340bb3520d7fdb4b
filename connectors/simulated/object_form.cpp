#include "connectors/simulated/object_form.hpp"

#include <algorithm>
#include <array>

#include "connectors/simulated/rules/job_rules.hpp"
#include "connectors/simulated/rules/pod_rules.hpp"

namespace hindsight::connectors::simulated {
namespace {

manifests::Form form_of(const Kind& kind) { return kind.custom ? manifests::Form::custom : manifests::Form::built_in; }

/// An owner, label, annotation or finalizer list that is empty is absent.
void drop_empty_lists(Json& metadata) {
  for (const char* name : {"annotations", "finalizers", "labels", "ownerReferences"})
    if (const auto it = metadata.find(name); it != metadata.end() && it->empty()) metadata.erase(it);
}

}  // namespace

void prepare_for_create(const Kind& kind, Json& object) {
  const auto name = kind.type->kind;
  if (kind.status_subresource && name != "Node") object.erase("status");
  if (name == "Namespace") {
    object["metadata"]["labels"]["kubernetes.io/metadata.name"] = object["metadata"]["name"];
    object["spec"]["finalizers"] = Json::array({"kubernetes"});
    object["status"]["phase"] = "Active";
  } else if (name == "Pod") {
    object["status"]["phase"] = "Pending";
  } else if (name == "Job") {
    Json& spec = object["spec"];
    if (!spec.is_object()) spec = Json::object();
    default_job(object);
    generate_job_selector(object);
    object["status"] = Json::object();
  }
}

void normalise_object(const Kind& kind, Json& object) {
  if (kind.looked_into) manifests::normalise(*kind.schema, object, form_of(kind));
  drop_empty_lists(object["metadata"]);
  const auto name = kind.type->kind;
  if (name == "Job") default_job(object);
  if (name == "Pod" && member(object, "spec").is_object()) default_pod_spec(object["spec"]);
  if (name == "PriorityClass" && !object.contains("preemptionPolicy")) object["preemptionPolicy"] = "PreemptLowerPriority";
}

void normalise_status(const Kind& kind, Json& status) {
  const manifests::Field* field = kind.schema->field("status");
  if (kind.looked_into && field != nullptr) manifests::normalise(*field->schema, status, form_of(kind));
  if (kind.type->kind == "Job") {
    if (status.is_null()) status = Json::object();
    compact_job_status(status);
  }
}

Json main_part_of(const Kind& kind, const Json& patch) {
  constexpr std::array<std::string_view, 7> owned_by_server{"generation",      "managedFields", "name", "namespace",
                                                            "resourceVersion", "selfLink",      "uid"};
  constexpr std::array<std::string_view, 3> only_kept{"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp"};
  Json out = Json::object();
  for (const auto& [name, change] : patch.get_ref<const Json::object_t&>()) {
    if (name == "kind" || name == "apiVersion" || (name == "status" && kind.status_subresource)) continue;
    if (name != "metadata") {
      out[name] = change;
      continue;
    }
    if (!change.is_object()) continue;
    Json metadata = Json::object();
    for (const auto& [field, value] : change.get_ref<const Json::object_t&>()) {
      if (std::find(owned_by_server.begin(), owned_by_server.end(), field) != owned_by_server.end()) continue;
      // Clients that write out whole objects send null for times that they do not have.
      if (value.is_null() && std::find(only_kept.begin(), only_kept.end(), field) != only_kept.end()) continue;
      metadata[field] = value;
    }
    if (!metadata.empty()) out["metadata"] = std::move(metadata);
  }
  return out;
}

bool same_body(const Json& a, const Json& b) {
  const auto& left = a.get_ref<const Json::object_t&>();
  const auto& right = b.get_ref<const Json::object_t&>();
  const auto skipped = [](const auto& member) { return member.first == "metadata" || member.first == "status"; };
  auto i = left.begin();
  auto j = right.begin();
  for (;;) {
    while (i != left.end() && skipped(*i)) ++i;
    while (j != right.end() && skipped(*j)) ++j;
    if (i == left.end() || j == right.end()) return i == left.end() && j == right.end();
    if (i->first != j->first || i->second != j->second) return false;
    ++i;
    ++j;
  }
}

}  // namespace hindsight::connectors::simulated
