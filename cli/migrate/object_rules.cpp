// Objects that go beyond what Hindsight takes, or hold what it does not look at.

#include "cli/migrate/rules.hpp"
#include "connectors/jobs/integrations.hpp"
#include "connectors/json/json_value.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/objects/observe.hpp"
#include "connectors/objects/resource_types.hpp"

namespace hindsight::cli::migrate {
namespace {

using connectors::manifests::condition_is;
using connectors::manifests::flag;
using connectors::manifests::member;
using connectors::manifests::text;

enum ObjectRule { set_aside_holding, set_aside, resource_claims };

constexpr Rule object_table[] = {
    {"set-aside-holding", Severity::blocks,
     "It is set aside: what it holds is counted nowhere, so others get its quota, and nobody stops or finishes it.",
     "Change the field while Kueue runs, or let it end before the change; docs/limits.md has every limit."},
    {"set-aside", Severity::differs, "It is set aside: nothing is done with it until it comes in a form that can be read.",
     "Change the field; docs/limits.md has every limit."},
    {"resource-claims", Severity::differs, "Devices of resource claims are not counted: its other requests alone use quota.",
     "Give quota in extended resources, or keep Kueue."},
};

bool runs_or_holds(const Json& object) {
  if (text(object, "kind") == "Workload")
    return member(object, "status", "admission").is_object() && !condition_is(member(object, "status"), "Finished");
  return is_integrated(text(object, "kind"), group_of(object)) && !flag(member(object, "spec"), "suspend");
}

/// Of jobs those alone that are queued; of pods none, for users' pods are read only where they are counted.
bool is_read(const Json& object, const Configured& configured) {
  const auto kind = text(object, "kind"), group = group_of(object);
  if (is_integrated(kind, group)) return configured.manages_all || !label_of(object, connectors::keys::queue_name).empty();
  if (kind == "Pod" && group.empty()) return false;
  const auto* type = connectors::find_resource_type(kind, group);
  return type != nullptr && connectors::object_kind(*type) != ObjectKind::unspecified;
}

void look_at_claims(const Json& workload, Findings& out) {
  const Json& pod_sets = member(workload, "spec", "podSets");
  if (!pod_sets.is_array() || condition_is(member(workload, "status"), "Finished")) return;
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    const Json& claims = member(member(member(pod_sets[i], "template"), "spec"), "resourceClaims");
    if (claims.is_array() && !claims.empty())
      out.add(object_table[resource_claims], name_of(workload), "spec.podSets[" + std::to_string(i) + "].template.spec.resourceClaims",
              std::to_string(claims.size()) + " claims");
  }
}

}  // namespace

std::span<const Rule> object_rules() { return object_table; }

void look_at_objects(const World& world, const Configured& configured, Findings& out) {
  world.each([&](const Json& object) {
    if (!is_read(object, configured)) return;
    const auto* type = connectors::find_resource_type(text(object, "kind"), group_of(object));
    if (const auto refusal = connectors::find_unreadable(*type, connectors::to_text(object)))
      out.add(object_table[runs_or_holds(object) ? set_aside_holding : set_aside], name_of(object), refusal->field,
              refusal->found + "; allowed: " + refusal->allowed);
  });
  for (const Json* workload : world.of("Workload", "kueue.x-k8s.io")) look_at_claims(*workload, out);
}

}  // namespace hindsight::cli::migrate
