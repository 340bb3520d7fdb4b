#include "connectors/simulated/rules/core_rules.hpp"

#include <algorithm>

#include "connectors/simulated/rules/pod_rules.hpp"

namespace hindsight::connectors::simulated {
namespace {

bool contains_all(const Json& list, const Json& wanted) {
  if (!wanted.is_array()) return true;
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const Json& item) { return list.is_array() && std::find(list.begin(), list.end(), item) != list.end(); });
}

/// A running pod keeps its spec but for images, deadline and added tolerations; while it is gated its placement may be narrowed and
/// gates may go.
void check_pod_change(const Json& now, const Json& before, Findings& findings) {
  Json old_spec = before;
  Json new_spec = now;
  for (Json* spec : {&old_spec, &new_spec}) {
    for (const char* name : {"activeDeadlineSeconds", "terminationGracePeriodSeconds", "tolerations", "schedulingGates"}) spec->erase(name);
    if (!member(before, "schedulingGates").empty())
      for (const char* name : {"nodeSelector", "affinity"}) spec->erase(name);
    for (const char* list : {"containers", "initContainers"}) {
      if (const auto it = spec->find(list); it != spec->end())
        for (auto& container : *it) container.erase("image");
    }
  }
  if (old_spec != new_spec || !contains_all(member(now, "tolerations"), member(before, "tolerations"))) {
    findings.forbidden("spec",
                       "pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, "
                       "`spec.activeDeadlineSeconds`, `spec.tolerations` (only additions to existing tolerations)");
  }
  if (!contains_all(member(before, "schedulingGates"), member(now, "schedulingGates")))
    findings.forbidden("spec.schedulingGates", "only deletion is allowed");
}

}  // namespace

void check_core_rules(const Kind& kind, const ObjectView& now, const ObjectView& before, Findings& findings) {
  const auto name = kind.type->kind;
  if (name == "Pod") {
    check_pod_spec(now.spec, "spec", findings);
    if (before.exists()) check_pod_change(now.spec, before.spec, findings);
  } else if (name == "PriorityClass" && before.exists()) {
    if (member(now.whole, "value") != member(before.whole, "value")) findings.forbidden("value", "may not be changed in an update.");
    findings.immutable("preemptionPolicy", member(now.whole, "preemptionPolicy"), member(before.whole, "preemptionPolicy"));
  } else if (name == "PriorityClass") {
    constexpr std::int64_t highest = 1'000'000'000;
    if (number(now.whole, "value").value_or(0) > highest)
      findings.forbidden("value", "maximum allowed value of a user defined priority is 1000000000");
  } else if (name == "RuntimeClass" && before.exists()) {
    findings.immutable("handler", member(now.whole, "handler"), member(before.whole, "handler"));
  }
}

}  // namespace hindsight::connectors::simulated
