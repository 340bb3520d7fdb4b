// CustomResourceDefinitions of the Kueue API as the cluster has them.

#include <algorithm>

#include "cli/migrate/rules.hpp"
#include "connectors/objects/resource_types.hpp"

namespace hindsight::cli::migrate {
namespace {

using connectors::manifests::flag;
using connectors::manifests::member;
using connectors::manifests::text;

constexpr std::string_view kueue_group = "kueue.x-k8s.io";
constexpr std::string_view our_version = "v1beta2";

enum DefinitionRule { definition_missing, version_missing, version_stored, converted_by_kueue, field_missing };

constexpr Rule definition_table[] = {
    {"definition-missing", Severity::blocks, "The API server does not serve this kind, and Hindsight is not ready before it does.",
     "kubectl apply -f deploy/crds"},
    {"version-missing", Severity::blocks, "Hindsight asks for v1beta2 alone, which this definition does not serve.",
     "Upgrade Kueue to a release that serves v1beta2, let it store all objects anew, or apply deploy/crds."},
    {"version-stored", Severity::blocks,
     "Objects may still be stored in this version. Where nobody converts them, their fields keep their old names and are passed over.",
     "While Kueue runs, store them anew (kubectl get KIND -A -o json | kubectl replace -f -), then take the version out of "
     "status.storedVersions."},
    {"converted-by-kueue", Severity::differs,
     "Once Kueue is gone, clients that ask for v1beta1 are refused, and so is deploy/crds while Kueue's certificate is in spec.conversion.",
     "Once Kueue is scaled down: kubectl patch crd NAME --type=json -p "
     R"('[{"op":"add","path":"/spec/conversion","value":{"strategy":"None"}}]', then deploy/crds.)"},
    {"field-missing", Severity::differs, "The API server drops this field, which Hindsight writes, so it writes it again and again.",
     "kubectl apply -f deploy/crds"},
};

/// Fields of statuses that Hindsight writes and that definitions of older releases of Kueue may lack.
struct WrittenField {
  std::string_view plural, field;
};
constexpr WrittenField written_fields[] = {
    {"workloads", "admission"},        {"workloads", "admissionChecks"},
    {"workloads", "conditions"},       {"workloads", "reclaimablePods"},
    {"workloads", "requeueState"},     {"workloads", "schedulingStats"},
    {"workloads", "unhealthyNodes"},   {"workloads", "accumulatedPastExecutionTimeSeconds"},
    {"clusterqueues", "conditions"},   {"clusterqueues", "flavorsReservation"},
    {"clusterqueues", "flavorsUsage"}, {"clusterqueues", "pendingWorkloads"},
    {"localqueues", "conditions"},     {"localqueues", "flavorsReservation"},
    {"localqueues", "flavorsUsage"},   {"localqueues", "pendingWorkloads"},
};

/// The version that Hindsight asks for, if it is served; null: it is not.
const Json& served_version(const Json& definition) {
  static const Json none;
  const Json& versions = member(definition, "spec", "versions");
  if (versions.is_array())
    for (const Json& version : versions)
      if (text(version, "name") == our_version && flag(version, "served")) return version;
  return none;
}

void look_at_fields(const Json& definition, const Json& version, std::string_view plural, Findings& out) {
  const Json& schema = member(member(version, "schema"), "openAPIV3Schema");
  const Json& status = member(member(member(schema, "properties"), "status"), "properties");
  if (!status.is_object() || connectors::manifests::flag(member(schema, "properties", "status"), "x-kubernetes-preserve-unknown-fields"))
    return;
  for (const auto& written : written_fields)
    if (written.plural == plural && !status.contains(std::string(written.field)))
      out.add(definition_table[field_missing], name_of(definition), "status." + std::string(written.field),
              "not in " + std::string(our_version));
}

void look_at_one(const Json& definition, Findings& out) {
  const Json& spec = member(definition, "spec");
  const Json& version = served_version(definition);
  if (version.is_null()) {
    std::string served;
    if (const Json& versions = member(spec, "versions"); versions.is_array())
      for (const Json& one : versions)
        if (flag(one, "served")) served += (served.empty() ? "" : ", ") + std::string(text(one, "name"));
    out.add(definition_table[version_missing], name_of(definition), "spec.versions", "serves " + (served.empty() ? "none" : served));
  } else {
    look_at_fields(definition, version, text(member(spec, "names"), "plural"), out);
  }
  if (const Json& stored = member(definition, "status", "storedVersions"); stored.is_array())
    for (const Json& one : stored)
      if (one.is_string() && one != std::string(our_version))
        out.add(definition_table[version_stored], name_of(definition), "status.storedVersions", one.get<std::string>());
  const Json& conversion = member(spec, "conversion");
  const Json& service = member(member(member(conversion, "webhook"), "clientConfig"), "service");
  if (text(conversion, "strategy") == "Webhook" && text(service, "name").find("hindsight") == std::string_view::npos)
    out.add(definition_table[converted_by_kueue], name_of(definition), "spec.conversion",
            "Webhook, Service " + std::string(text(service, "namespace")) + "/" + std::string(text(service, "name")));
}

}  // namespace

std::span<const Rule> definition_rules() { return definition_table; }

void look_at_definitions(const World& world, Findings& out) {
  const auto& all = world.of("CustomResourceDefinition", "apiextensions.k8s.io");
  std::vector<std::string> there;
  for (const Json* definition : all) {
    if (text(member(*definition, "spec"), "group") != kueue_group) continue;
    there.emplace_back(text(member(member(*definition, "spec"), "names"), "plural"));
    look_at_one(*definition, out);
  }
  if (!world.definitions_known) return;
  for (const auto* type : connectors::watched_resource_types)
    if (type->group == kueue_group && std::find(there.begin(), there.end(), type->plural) == there.end())
      out.add(definition_table[definition_missing],
              "CustomResourceDefinition " + std::string(type->plural) + "." + std::string(kueue_group), "", "not there");
}

}  // namespace hindsight::cli::migrate
