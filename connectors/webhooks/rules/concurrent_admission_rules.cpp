#include "connectors/webhooks/rules/concurrent_admission_rules.hpp"

#include <algorithm>

namespace hindsight::connectors::webhooks {
namespace {

using manifests::at;
using manifests::each_item;
using manifests::member;
using manifests::number;
using manifests::text;

constexpr std::size_t most_options = 16;

/// The flavors of a ClusterQueue in the order of preference: groups concatenated (CA-31).
std::vector<std::string> flavors_in_order(const Json& spec) {
  std::vector<std::string> out;
  for (const auto& group : member(spec, "resourceGroups"))
    for (const auto& flavor : member(group, "flavors")) out.emplace_back(text(flavor, "name"));
  return out;
}

/// The one policy that both forms say (8691 §2.4).
struct Policy {
  std::string on_success;
  std::string target;  ///< With RemoveBelowTarget.
  bool explicit_options = false;
  friend bool operator==(const Policy&, const Policy&) = default;
};

Policy policy_of_seed(const Json& form) {
  return {std::string(text(form, "onSuccess")), std::string(text(member(form, "removeBelowTargetConfig"), "targetResourceFlavor")),
          !member(form, "explicitOptions").empty()};
}

Policy policy_of_kueue(const Json& form) {
  const Json& migration = member(form, "migration");
  const std::string target(text(member(migration, "constraints"), "lastAcceptableFlavorName"));
  if (text(migration, "mode") == "RetainFirstAdmission") return {"RemoveOther", "", false};
  return {target.empty() ? "RemoveLower" : "RemoveBelowTarget", target, false};
}

void check_is_flavor(const std::string& field, const Json& name, const std::vector<std::string>& flavors, Findings& findings) {
  if (!name.is_string() || std::find(flavors.begin(), flavors.end(), name.get_ref<const std::string&>()) != flavors.end()) return;
  std::string all;
  for (const auto& flavor : flavors) all += (all.empty() ? "" : " ") + flavor;
  findings.invalid(field, name, "must be one of the flavors defined in the ClusterQueue: [" + all + "]");
}

void check_shape(const Json& spec, const Json& options, Findings& findings) {
  if (text(spec, "queueingStrategy") == "StrictFIFO")
    findings.invalid("spec.queueingStrategy", member(spec, "queueingStrategy"),
                     "StrictFIFO queueing strategy cannot be used when ConcurrentAdmissionPolicy is defined");
  if (options.size() > most_options)
    findings.invalid("spec.concurrentAdmission.explicitOptions", Json(options.size()), "cannot have more than 16 explicit options");
  if (!options.empty()) return;  // they may span groups
  const Json& groups = member(spec, "resourceGroups");
  if (groups.size() != 1)
    return findings.invalid("spec.resourceGroups", Json(groups.size()),
                            "must have exactly one ResourceGroup when ConcurrentAdmissionPolicy is defined");
  const std::size_t flavors = member(groups[0], "flavors").size();
  if (flavors > most_options)
    findings.invalid("spec.resourceGroups[0].flavors", Json(flavors),
                     "cannot have more than 16 resource flavors in the ResourceGroup when ConcurrentAdmissionPolicy is defined");
}

/// Positions of an option's flavors in the queue, ascending: what its rank follows (CA-31). A flavor that the queue lacks comes last.
std::vector<std::size_t> rank_of(const Json& option, const std::vector<std::string>& flavors) {
  std::vector<std::size_t> out;
  for (const auto& name : member(option, "allowedResourceFlavors")) {
    const auto it = name.is_string() ? std::find(flavors.begin(), flavors.end(), name.get_ref<const std::string&>()) : flavors.end();
    out.push_back(static_cast<std::size_t>(it - flavors.begin()));
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

void check_concurrent_admission(const Json& spec, const Surroundings& around, Findings& findings) {
  const Json& seed = member(spec, "concurrentAdmission");
  const Json& kueue = member(spec, "concurrentAdmissionPolicy");
  if ((seed.is_null() && kueue.is_null()) || !around.gate("ConcurrentAdmission")) return;
  const auto flavors = flavors_in_order(spec);
  check_shape(spec, member(seed, "explicitOptions"), findings);
  check_is_flavor("spec.concurrentAdmissionPolicy.migration.constraints.lastAcceptableFlavorName",
                  member(member(kueue, "migration", "constraints"), "lastAcceptableFlavorName"), flavors, findings);
  check_is_flavor("spec.concurrentAdmission.removeBelowTargetConfig.targetResourceFlavor",
                  member(member(seed, "removeBelowTargetConfig"), "targetResourceFlavor"), flavors, findings);
  each_item(seed, "explicitOptions", "spec.concurrentAdmission", [&](const Json& option, const std::string& field) {
    each_item(option, "allowedResourceFlavors", field,
              [&](const Json& flavor, const std::string& inner) { check_is_flavor(inner, flavor, flavors, findings); });
  });
  if (seed.is_null() || kueue.is_null() || policy_of_seed(seed) == policy_of_kueue(kueue)) return;
  findings.invalid("spec.concurrentAdmission", seed, "must say the same as spec.concurrentAdmissionPolicy");
  findings.invalid("spec.concurrentAdmissionPolicy", kueue, "must say the same as spec.concurrentAdmission");
}

std::vector<std::string> concurrent_admission_warnings(const Json& spec, const Surroundings& around) {
  std::vector<std::string> out;
  const Json& seed = member(spec, "concurrentAdmission");
  const Json& options = member(seed, "explicitOptions");
  if (!options.is_array() || options.empty() || !around.gate("ConcurrentAdmission")) return out;
  const std::string list = "spec.concurrentAdmission.explicitOptions";
  if (std::all_of(options.begin(), options.end(), [](const Json& o) { return number(o, "createDelaySeconds").value_or(0) > 0; }))
    out.push_back(list + ": every option has createDelaySeconds above 0: nothing is tried before the first delay is over");
  const auto flavors = flavors_in_order(spec);
  for (std::size_t i = 1; i < options.size(); ++i) {
    if (rank_of(options[i], flavors) >= rank_of(options[i - 1], flavors)) continue;
    out.push_back(at(list, i) + ": option \"" + std::string(text(options[i], "name")) + "\" stands after \"" +
                  std::string(text(options[i - 1], "name")) +
                  "\" but is preferred to it: the order of flavors in the ClusterQueue decides");
  }
  if (text(seed, "onSuccess") == "RemoveOther")
    each_item(seed, "explicitOptions", "spec.concurrentAdmission", [&](const Json& option, const std::string& field) {
      if (number(option, "deleteDelaySeconds"))
        out.push_back(field + ".deleteDelaySeconds: has no effect with onSuccess RemoveOther: all other options end at once");
    });
  return out;
}

}  // namespace hindsight::connectors::webhooks
