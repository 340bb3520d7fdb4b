#include "projections/gates.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <tuple>

#include "admission/domain/domain.hpp"
#include "events/decision_fields.hpp"
#include "projections/families.hpp"
#include "projections/format.hpp"
#include "vocabulary/ascii.hpp"

namespace hindsight::projections {
namespace {

const char* annotation_of(GateContract contract) {
  return contract == GateContract::scheduling ? "kueue.x-k8s.io/scheduling-gated-by" : "kueue.x-k8s.io/admission-gated-by";
}

void add_gated(const WorkloadParent& parent, const admission::Catalog& catalog, std::vector<GatedObject>& out) {
  if (parent.gated(catalog)) {
    const auto& j = *parent.job();
    out.push_back({GateContract::scheduling, std::string(j.kind.text()), std::string(j.namespace_.text()), j.name.text(),
                   j.scheduling_gated_by.text(), j.gated_since});
  }
  for (const auto& w : parent.workloads()) {
    const auto gate = parent.admission_gate(w, catalog);
    if (gate.empty() || w.finished() || w.admitted() || parent_of({&parent, &w}) != nullptr) continue;  // one line for a family
    out.push_back({GateContract::admission, "Workload", std::string(w.namespace_.text()), w.name.text(), std::string(gate), w.gated_since});
  }
}

}  // namespace

std::vector<GatedObject> gated_objects(const StateView& state, const Filter& filter) {
  std::vector<GatedObject> out;
  const auto& catalog = *state.domain().catalog();
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i)
    if (const auto* parent = state.parent(i); parent != nullptr) add_gated(*parent, catalog, out);
  std::erase_if(out, [&](const GatedObject& g) { return !filter.wants_namespace(g.namespace_) || !filter.wants_name(g.name); });
  std::sort(out.begin(), out.end(), [](const GatedObject& a, const GatedObject& b) {
    return std::tie(a.namespace_, a.name, a.kind) < std::tie(b.namespace_, b.name, b.kind);
  });
  return out;
}

Table gates_table(const StateView& state, const Filter& filter) {
  Table t;
  const bool namespaces = !filter.namespace_;
  if (namespaces) t.columns.push_back({"NAMESPACE"});
  for (const char* heading : {"NAME", "KIND", "GATED BY", "CONTRACT", "SINCE", "AGE"}) t.columns.push_back({heading});
  for (const auto& gated : gated_objects(state, filter)) {
    auto& row = t.rows.emplace_back();
    if (namespaces) row.emplace_back(gated.namespace_);
    row.emplace_back(gated.name);
    row.emplace_back(gated.kind);
    row.emplace_back(gated.value);
    row.emplace_back(gated.contract == GateContract::scheduling ? "scheduling" : "admission");
    row.emplace_back(gated.since.is_set() ? format_rfc3339(gated.since) : std::string());
    row.emplace_back(gated.since.is_set() ? age(gated.since, state.now()) : std::string());
  }
  return t;
}

Json to_json(const GatedObject& gated) {
  Json out{{"kind", gated.kind},
           {"metadata", {{"name", gated.name}, {"namespace", gated.namespace_}}},
           {"contract", events::api_name(gated.contract)},
           {"annotation", annotation_of(gated.contract)},
           {"gatedBy", gated.value}};
  if (gated.since.is_set()) out["since"] = format_rfc3339(gated.since);
  return out;
}

std::optional<Why> explain_gate(const StateView& state, const Target& target) {
  for (std::uint32_t i = 0; i < state.domain().parent_count() && !target.is_workload(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr || !parent->gated(*state.domain().catalog())) continue;
    const auto& j = *parent->job();
    if (j.name != target.name || j.namespace_.text() != target.namespace_ || !is_lower_of(j.kind.text(), target.kind)) continue;
    Why out;
    const std::string kind(j.kind.text());
    out.object = kind + " " + full_name(j.namespace_.text(), j.name);
    out.job = kind + "/" + j.name;
    out.headline = "It has no Workload: it is held back until its annotation scheduling-gated-by is taken away";
    out.reason = "SchedulingGated";
    out.message = "Workload creation is gated by: " + j.scheduling_gated_by;
    out.since = j.gated_since;
    out.facts.push_back("whoever stands behind " + j.scheduling_gated_by + " is to take the annotation away; anybody who may update the " +
                        kind + " can: kubectl annotate " + target.kind + " " + j.name + " -n " + std::string(j.namespace_.text()) +
                        " kueue.x-k8s.io/scheduling-gated-by-");
    if (!j.queue_name.empty()) out.facts.push_back("then it is queued in LocalQueue " + std::string(j.queue_name.text()));
    if (!j.admission_gated_by.empty()) out.facts.push_back("after that, the admission of its Workload is gated by " + j.admission_gated_by);
    return out;
  }
  return std::nullopt;
}

}  // namespace hindsight::projections
