#include "projections/quarantine.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "admission/domain/domain.hpp"
#include "events/decision_fields.hpp"
#include "projections/format.hpp"
#include "vocabulary/ascii.hpp"

namespace hindsight::projections {

std::vector<QuarantinedObject> quarantined_objects(const StateView& state, const Filter& filter) {
  std::vector<QuarantinedObject> out;
  for (const auto& [uid, q] : state.domain().quarantined()) {
    if ((!q.namespace_.empty() && !filter.wants_namespace(q.namespace_)) || !filter.wants_name(q.name)) continue;
    out.push_back({q.api_kind, q.namespace_, q.name, uid, q.resource_version, q.stage, q.reason, q.since});
  }
  std::sort(out.begin(), out.end(), [](const QuarantinedObject& a, const QuarantinedObject& b) {
    return std::tie(a.namespace_, a.name, a.kind, a.uid) < std::tie(b.namespace_, b.name, b.kind, b.uid);
  });
  return out;
}

Table quarantined_table(const StateView& state, const Filter& filter) {
  Table t;
  const bool namespaces = !filter.namespace_;
  if (namespaces) t.columns.push_back({"NAMESPACE"});
  for (const char* heading : {"NAME", "KIND", "VERSION", "STAGE", "SINCE", "AGE", "REASON"}) t.columns.push_back({heading});
  for (const auto& object : quarantined_objects(state, filter)) {
    auto& row = t.rows.emplace_back();
    if (namespaces) row.emplace_back(object.namespace_);
    row.emplace_back(object.name);
    row.emplace_back(object.kind);
    row.emplace_back(object.resource_version == 0 ? std::string() : std::to_string(object.resource_version));
    row.emplace_back(std::string(events::api_name(object.stage)));
    row.emplace_back(object.since.is_set() ? format_rfc3339(object.since) : std::string());
    row.emplace_back(object.since.is_set() ? age(object.since, state.now()) : std::string());
    row.emplace_back(object.reason);
  }
  return t;
}

Json to_json(const QuarantinedObject& object) {
  Json metadata{{"name", object.name}, {"uid", object.uid}};
  if (!object.namespace_.empty()) metadata["namespace"] = object.namespace_;
  if (object.resource_version != 0) metadata["resourceVersion"] = std::to_string(object.resource_version);
  Json out{{"kind", object.kind}, {"metadata", std::move(metadata)}, {"stage", events::api_name(object.stage)}, {"reason", object.reason}};
  if (object.since.is_set()) out["since"] = format_rfc3339(object.since);
  return out;
}

std::optional<Why> explain_quarantine(const StateView& state, const Target& target) {
  for (const auto& object : quarantined_objects(state)) {
    const bool kind = target.is_workload() ? object.kind == "Workload" : is_lower_of(object.kind, target.kind);
    if (!kind || object.namespace_ != target.namespace_ || object.name != target.name) continue;
    Why out;
    out.object = object.kind + " " + full_name(object.namespace_, object.name);
    if (!target.is_workload()) out.job = object.kind + "/" + object.name;
    out.headline = "It was set aside: nothing is done with it until it comes in a version that can be read";
    out.reason = "Quarantined";
    out.message = object.reason;
    out.since = object.since;
    return out;
  }
  return std::nullopt;
}

}  // namespace hindsight::projections
