#include "connectors/webhooks/rules/concurrent_admission_rules.hpp"

#include <algorithm>
#include <optional>

#include "connectors/json/keys.hpp"
#include "connectors/json/text.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::at;
using manifests::each_item;
using manifests::member;
using manifests::number;
using manifests::text;

constexpr const char* seed_form = "spec.concurrentAdmission";
constexpr const char* kueue_form = "spec.concurrentAdmissionPolicy";

/// The flavors of a ClusterQueue in the order of preference: groups concatenated (CA-31).
std::vector<std::string> flavors_in_order(const Json& spec) {
  std::vector<std::string> out;
  for (const auto& group : member(spec, "resourceGroups"))
    for (const auto& flavor : member(group, "flavors")) out.emplace_back(text(flavor, "name"));
  return out;
}

/// A list of explicit Options: the forms call it, and a delay in it, differently.
struct OptionList {
  const Json& holder;
  const char* name;
  std::string path;  ///< Of the holder.
  const char* delete_delay;

  [[nodiscard]] const Json& items() const { return member(holder, name); }
  [[nodiscard]] std::string field() const { return path + "." + name; }
};

OptionList options_of_seed(const Json& spec) {
  return {member(spec, "concurrentAdmission"), "explicitOptions", seed_form, "deleteDelaySeconds"};
}

OptionList options_of_kueue(const Json& spec) {
  return {member(member(spec, "concurrentAdmissionPolicy", "migration"), "constraints"), "explicitVariants",
          std::string(kueue_form) + ".migration.constraints", "maxDeleteDelaySeconds"};
}

std::vector<std::string> allowed_by(const Json& option) {
  std::vector<std::string> out;
  for (const auto& name : member(option, "allowedResourceFlavors"))
    if (name.is_string()) out.push_back(name.get<std::string>());
  return out;
}

struct ExplicitOption {
  std::string name;
  std::int64_t create_delay = 0;
  std::optional<std::int64_t> delete_delay;
  std::vector<std::string> flavors;  ///< Sorted: their order means nothing.
  friend bool operator==(const ExplicitOption&, const ExplicitOption&) = default;
};

/// The one policy that both forms say (8691 §2.4).
struct Policy {
  std::string on_success;
  std::string target;  ///< With RemoveBelowTarget.
  std::vector<ExplicitOption> options;
  std::string upgrades;  ///< upgradeFungibility.
  friend bool operator==(const Policy&, const Policy&) = default;
};

std::vector<ExplicitOption> read_options(const OptionList& list) {
  std::vector<ExplicitOption> out;
  for (const auto& item : list.items()) {
    out.push_back({std::string(text(item, "name")), number(item, "createDelaySeconds").value_or(0), number(item, list.delete_delay),
                   allowed_by(item)});
    std::sort(out.back().flavors.begin(), out.back().flavors.end());
  }
  return out;
}

/// An absent field says what its default says.
std::string upgrades_of(const Json& holder) {
  const auto said = text(holder, "upgradeFungibility");
  return said.empty() ? "Always" : std::string(said);
}

Policy policy_of_seed(const Json& spec) {
  const Json& form = member(spec, "concurrentAdmission");
  return {std::string(text(form, "onSuccess")), std::string(text(member(form, "removeBelowTargetConfig"), "targetResourceFlavor")),
          read_options(options_of_seed(spec)), upgrades_of(form)};
}

Policy policy_of_kueue(const Json& spec) {
  const Json& migration = member(spec, "concurrentAdmissionPolicy", "migration");
  if (text(migration, "mode") == "RetainFirstAdmission") return {"RemoveOther", "", {}, "Always"};
  const Json& constraints = member(migration, "constraints");
  const std::string target(text(constraints, "lastAcceptableFlavorName"));
  return {target.empty() ? "RemoveLower" : "RemoveBelowTarget", target, read_options(options_of_kueue(spec)), upgrades_of(constraints)};
}

void check_is_flavor(const std::string& field, const Json& name, const std::vector<std::string>& flavors, Findings& findings) {
  if (!name.is_string() || std::find(flavors.begin(), flavors.end(), name.get_ref<const std::string&>()) != flavors.end()) return;
  std::string all;
  for (const auto& flavor : flavors) all += (all.empty() ? "" : " ") + flavor;
  findings.invalid(field, name, "must be one of the flavors defined in the ClusterQueue: [" + all + "]");
}

void check_shape(const Json& spec, const Surroundings& around, Findings& findings) {
  const std::size_t most = around.max_options();
  const std::string cannot = "cannot have more than " + std::to_string(most) + " ";
  if (text(spec, "queueingStrategy") == "StrictFIFO" && !around.gate("ConcurrentAdmissionStrictFIFO"))
    findings.invalid("spec.queueingStrategy", member(spec, "queueingStrategy"),
                     "StrictFIFO queueing strategy cannot be used when ConcurrentAdmissionPolicy is defined");
  bool explicit_ones = false;
  for (const auto& list : {options_of_seed(spec), options_of_kueue(spec)}) {
    explicit_ones |= !list.items().empty();
    if (list.items().size() > most) findings.invalid(list.field(), Json(list.items().size()), cannot + "explicit options");
  }
  if (explicit_ones) return;  // they may span groups, and name no more flavors than they want
  const Json& groups = member(spec, "resourceGroups");
  if (groups.size() != 1)
    return findings.invalid("spec.resourceGroups", Json(groups.size()),
                            "must have exactly one ResourceGroup when ConcurrentAdmissionPolicy is defined");
  const std::size_t flavors = member(groups[0], "flavors").size();
  if (flavors > most)
    findings.invalid("spec.resourceGroups[0].flavors", Json(flavors),
                     cannot + "resource flavors in the ResourceGroup when ConcurrentAdmissionPolicy is defined");
}

/// V4, V8.
void check_flavors(const Json& spec, Findings& findings) {
  const auto flavors = flavors_in_order(spec);
  check_is_flavor(std::string(kueue_form) + ".migration.constraints.lastAcceptableFlavorName",
                  member(member(spec, "concurrentAdmissionPolicy", "migration"), "constraints", "lastAcceptableFlavorName"), flavors,
                  findings);
  check_is_flavor(std::string(seed_form) + ".removeBelowTargetConfig.targetResourceFlavor",
                  member(member(spec, "concurrentAdmission", "removeBelowTargetConfig"), "targetResourceFlavor"), flavors, findings);
  for (const auto& list : {options_of_seed(spec), options_of_kueue(spec)})
    each_item(list.holder, list.name, list.path, [&](const Json& option, const std::string& field) {
      each_item(option, "allowedResourceFlavors", field,
                [&](const Json& flavor, const std::string& inner) { check_is_flavor(inner, flavor, flavors, findings); });
    });
}

/// Positions of an option's flavors in the queue, ascending: what its rank follows (CA-31). A flavor that the queue lacks comes last.
std::vector<std::size_t> rank_of(const Json& option, const std::vector<std::string>& flavors) {
  std::vector<std::size_t> out;
  for (const auto& name : allowed_by(option))
    out.push_back(static_cast<std::size_t>(std::find(flavors.begin(), flavors.end(), name) - flavors.begin()));
  std::sort(out.begin(), out.end());
  return out;
}

void warn_of(const OptionList& list, const Json& spec, std::vector<std::string>& out) {
  const Json& options = list.items();
  if (!options.is_array() || options.empty()) return;
  if (std::all_of(options.begin(), options.end(), [](const Json& o) { return number(o, "createDelaySeconds").value_or(0) > 0; }))
    out.push_back(list.field() + ": every option has createDelaySeconds above 0: nothing is tried before the first delay is over");
  const auto flavors = flavors_in_order(spec);
  for (std::size_t i = 1; i < options.size(); ++i) {
    if (rank_of(options[i], flavors) >= rank_of(options[i - 1], flavors)) continue;
    out.push_back(at(list.field(), i) + ": option \"" + std::string(text(options[i], "name")) + "\" stands after \"" +
                  std::string(text(options[i - 1], "name")) +
                  "\" but is preferred to it: the order of flavors in the ClusterQueue decides");
  }
  if (text(list.holder, "onSuccess") != "RemoveOther") return;
  each_item(list.holder, list.name, list.path, [&](const Json& option, const std::string& field) {
    if (number(option, list.delete_delay))
      out.push_back(field + "." + list.delete_delay + ": has no effect with onSuccess RemoveOther: all other options end at once");
  });
}

/// Whether one of the flavors that the Workload holds is none of these. Of no list every flavor is.
template <class Name>
bool leaves_out_held(const ObjectView& workload, const std::vector<Name>& allowed) {
  if (allowed.empty()) return false;
  for (const auto& assignment : member(member(workload.status, "admission"), "podSetAssignments"))
    for (const auto& flavor : member(assignment, "flavors"))
      if (flavor.is_string() && std::find(allowed.begin(), allowed.end(), flavor.get_ref<const std::string&>()) == allowed.end())
        return true;
  return false;
}

}  // namespace

void check_concurrent_admission(const Json& spec, const Surroundings& around, Findings& findings) {
  const Json& seed = member(spec, "concurrentAdmission");
  const Json& kueue = member(spec, "concurrentAdmissionPolicy");
  if ((seed.is_null() && kueue.is_null()) || !around.gate("ConcurrentAdmission")) return;
  check_shape(spec, around, findings);
  check_flavors(spec, findings);
  if (seed.is_null() || kueue.is_null() || policy_of_seed(spec) == policy_of_kueue(spec)) return;
  findings.invalid(seed_form, seed, "must say the same as spec.concurrentAdmissionPolicy");
  findings.invalid(kueue_form, kueue, "must say the same as spec.concurrentAdmission");
}

std::vector<std::string> concurrent_admission_warnings(const Json& spec, const Surroundings& around) {
  std::vector<std::string> out;
  if (!around.gate("ConcurrentAdmission")) return out;
  if (const Json& form = member(spec, "concurrentAdmission"); text(form, "onSuccess") == "RemoveOther" && upgrades_of(form) != "Always")
    out.push_back(std::string(seed_form) +
                  ".upgradeFungibility: has no effect with onSuccess RemoveOther: no option is tried after an admission");
  for (const auto& list : {options_of_seed(spec), options_of_kueue(spec)}) warn_of(list, spec, out);
  return out;
}

void check_flavor_constraints(const ObjectView& now, const ObjectView& before, const Surroundings& around, Findings& findings) {
  if (!around.gate("ConcurrentAdmission")) return;
  constexpr const char* message = "must keep the assigned flavors while quota is reserved";
  const Json& listed = member(now.spec, "admissionConstraints");
  if (listed != member(before.spec, "admissionConstraints") && leaves_out_held(now, allowed_by(listed)))
    findings.invalid("spec.admissionConstraints", member(listed, "allowedResourceFlavors"), message);
  const Json& noted = member(member(now.metadata, "annotations"), keys::allowed_flavors);
  if (noted.is_string() && noted != member(member(before.metadata, "annotations"), keys::allowed_flavors) &&
      leaves_out_held(now, comma_separated(noted.get_ref<const std::string&>())))
    findings.invalid("metadata.annotations[" + std::string(keys::allowed_flavors) + "]", noted, message);
}

}  // namespace hindsight::connectors::webhooks
