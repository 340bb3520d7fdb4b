#include "connectors/simulated/rules/metadata_rules.hpp"

#include <algorithm>

#include "connectors/json/json_value.hpp"
#include "connectors/manifests/syntax.hpp"

namespace hindsight::connectors::simulated {
namespace {

void check_name(const Kind& kind, const Json& metadata, Findings& findings) {
  const auto name = text(metadata, "name");
  if (name.empty()) return findings.required("metadata.name", "name or generateName is required");
  const bool good = kind.type->kind == "Namespace" ? manifests::is_dns_label(name) : manifests::is_dns_subdomain(name);
  if (!good) {
    findings.invalid(
        "metadata.name", Json(name),
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end "
        "with an alphanumeric character");
  }
}

void check_labels(const Json& metadata, Findings& findings) {
  const Json& labels = member(metadata, "labels");
  if (!labels.is_object()) return;
  for (const auto& [key, value] : labels.get_ref<const Json::object_t&>()) {
    if (!manifests::is_qualified_name(key)) findings.invalid("metadata.labels", Json(key), "name part must be a label key");
    if (value.is_string() && !manifests::is_label_value(value.get_ref<const std::string&>())) {
      findings.invalid(
          "metadata.labels", value,
          "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end "
          "with an alphanumeric character");
    }
  }
}

void check_annotations(const Json& metadata, Findings& findings) {
  const Json& annotations = member(metadata, "annotations");
  if (!annotations.is_object()) return;
  constexpr std::size_t most_bytes = 256U << 10U;
  std::size_t bytes = 0;
  for (const auto& [key, value] : annotations.get_ref<const Json::object_t&>()) {
    std::string lowered = key;
    std::transform(lowered.begin(), lowered.end(), lowered.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (!manifests::is_qualified_name(lowered)) findings.invalid("metadata.annotations", Json(key), "name part must be an annotation key");
    bytes += key.size() + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
  }
  if (bytes > most_bytes) findings.add(ProblemKind::too_long, "metadata.annotations", Json(), "may not be more than 262144 bytes");
}

void check_owners(const Json& metadata, Findings& findings) {
  std::size_t controllers = 0;
  each_item(metadata, "ownerReferences", "metadata", [&](const Json& owner, const std::string& field) {
    for (const char* name : {"apiVersion", "kind", "name", "uid"})
      if (text(owner, name).empty()) findings.invalid(field + "." + name, member(owner, name), "must not be empty");
    if (flag(owner, "controller") && ++controllers == 2)
      findings.invalid("metadata.ownerReferences", Json(text(owner, "name")), "Only one reference can have Controller set to true");
  });
}

void check_finalizers(const Json& metadata, Findings& findings) {
  each_item(metadata, "finalizers", "metadata", [&](const Json& finalizer, const std::string& field) {
    if (!finalizer.is_string() || !manifests::is_qualified_name(finalizer.get_ref<const std::string&>()))
      findings.invalid(field, finalizer, "name is neither a standard finalizer name nor is it fully qualified");
  });
}

}  // namespace

void check_metadata(const Kind& kind, const Json& metadata, Findings& findings) {
  check_name(kind, metadata, findings);
  check_labels(metadata, findings);
  check_annotations(metadata, findings);
  check_owners(metadata, findings);
  check_finalizers(metadata, findings);
}

void check_metadata_change(const Json& now, const Json& before, Findings& findings) {
  for (const char* name : {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"})
    findings.immutable(std::string("metadata.") + name, member(now, name), member(before, name));
  if (!before.contains("deletionTimestamp")) return;
  const Json& old_list = member(before, "finalizers");
  Json added = Json::array();
  const Json& new_list = member(now, "finalizers");
  if (new_list.is_array()) {
    for (const auto& finalizer : new_list)
      if (!old_list.is_array() || std::find(old_list.begin(), old_list.end(), finalizer) == old_list.end()) added.push_back(finalizer);
  }
  if (!added.empty())
    findings.forbidden("metadata.finalizers",
                       "no new finalizers can be added if the object is being deleted, found new finalizers " + to_text(added));
}

}  // namespace hindsight::connectors::simulated
