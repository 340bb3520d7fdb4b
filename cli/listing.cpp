#include "cli/listing.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "admission/domain/domain.hpp"
#include "projections/format.hpp"
#include "projections/gates.hpp"
#include "projections/objects.hpp"
#include "projections/quarantine.hpp"
#include "projections/quota_report.hpp"
#include "projections/topologies.hpp"

namespace hindsight::cli {
namespace {

using projections::Filter;
using projections::Table;

std::vector<Json> objects_of(const admission::StateView& state, const KnownKind& kind, const Filter& filter) {
  std::vector<Json> out;
  const auto& catalog = *state.domain().catalog();
  const auto each = [&](const auto& map, const auto& make) {
    for (const auto& [name, config] : map)
      if (filter.wants_name(name.text())) out.push_back(make(name, config));
  };
  if (kind.plural == "workloads") {
    for (const auto& at : projections::select_workloads(state, filter)) out.push_back(projections::workload_object(state, at));
  } else if (kind.plural == "localqueues") {
    for (const auto* q : projections::select_local_queues(state, filter)) out.push_back(projections::local_queue_object(state, *q));
  } else if (kind.plural == "gates") {
    for (const auto& gated : projections::gated_objects(state, filter)) out.push_back(projections::to_json(gated));
  } else if (kind.plural == "quarantined") {
    for (const auto& object : projections::quarantined_objects(state, filter)) out.push_back(projections::to_json(object));
  } else if (kind.plural == "clusterqueues") {
    each(catalog.queues, [&](Symbol, const auto& q) { return projections::cluster_queue_object(state, *q); });
  } else if (kind.plural == "cohorts") {
    for (const Symbol& name : projections::all_cohorts(state))
      if (filter.wants_name(name.text())) out.push_back(projections::cohort_object(state, name));
  } else if (kind.plural == "resourceflavors") {
    each(catalog.flavors, [&](Symbol, const auto& f) { return projections::resource_flavor_object(state, *f); });
  } else if (kind.plural == "topologies") {
    each(catalog.topologies, [](Symbol name, const auto& levels) { return projections::topology_object(name, levels); });
  } else if (kind.plural == "nodes") {
    const auto shares = projections::node_shares(state);
    each(state.domain().nodes(),
         [&](Symbol name, const auto& node) { return projections::node_object(state, *node, shares.at(std::string(name.text()))); });
  } else if (kind.plural == "admissionchecks") {
    each(catalog.checks, [](Symbol, const auto& c) { return projections::admission_check_object(*c); });
  } else if (kind.plural == "workloadpriorityclasses") {
    each(catalog.workload_priority_classes, [](Symbol name, const auto& c) { return projections::priority_class_object(name, c); });
  } else {
    throw std::logic_error("no state holds " + std::string(kind.plural));
  }
  return out;
}

Table table_of(const admission::StateView& state, const KnownKind& kind, const Filter& filter) {
  if (kind.plural == "gates") return projections::gates_table(state, filter);
  if (kind.plural == "quarantined") return projections::quarantined_table(state, filter);
  if (kind.plural == "workloads") return projections::workloads_table(state, filter);
  if (kind.plural == "localqueues") return projections::local_queues_table(state, filter);
  if (kind.plural == "clusterqueues") return projections::cluster_queues_table(state, filter);
  if (kind.plural == "cohorts") return projections::cohorts_table(state, filter);
  if (kind.plural == "resourceflavors") return projections::resource_flavors_table(state, filter);
  if (kind.plural == "topologies") return projections::topologies_table(state, filter);
  if (kind.plural == "nodes") return projections::nodes_table(state, filter);
  if (kind.plural == "admissionchecks") return projections::admission_checks_table(state, filter);
  if (kind.plural == "workloadpriorityclasses") return projections::priority_classes_table(state, filter);
  throw std::logic_error("no state holds " + std::string(kind.plural));
}

}  // namespace

void Listing::choose(const std::vector<std::size_t>& places) {
  const auto chosen = [&](auto& all) {
    if (all.empty()) return;
    std::remove_reference_t<decltype(all)> out;
    for (const std::size_t i : places) out.push_back(std::move(all[i]));
    all = std::move(out);
  };
  chosen(table.rows);
  chosen(objects);
  chosen(phases);
}

Listing list_objects(const admission::StateView& state, const KnownKind& kind, const Filter& filter, const ListingParts& parts) {
  Listing out;
  if (parts.table) out.table = table_of(state, kind, filter);
  if (parts.objects) out.objects = objects_of(state, kind, filter);
  if (parts.objects && kind.plural == "workloads")
    for (const auto& at : projections::select_workloads(state, filter))
      out.phases.emplace_back(projections::name_of(projections::phase_of(*at.workload)));
  if (parts.table && parts.objects && out.table.rows.size() != out.objects.size())
    throw std::logic_error("the table of " + std::string(kind.plural) + " does not show what there is");
  return out;
}

std::string full_name_in(const Json& object) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return {};
  return projections::full_name(metadata->value("namespace", std::string()), metadata->value("name", std::string()));
}

}  // namespace hindsight::cli
