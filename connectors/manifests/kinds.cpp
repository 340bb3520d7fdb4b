#include "connectors/manifests/kinds.hpp"

#include <algorithm>
#include <stdexcept>

#include "connectors/manifests/schemas/tables.hpp"
#include "connectors/objects/resource_types.hpp"

namespace hindsight::connectors::manifests {
namespace {

const SchemaTable& table() {
  static const SchemaTable instance({kueue_table(), job_table(), core_table(), pod_table(), volume_table(), scenario_table()});
  return instance;
}

enum class Status { none, subresource };
using Generation = Kind::Generation;

Kind built_in(const ResourceType& type, Status status, Generation generation) {
  return {&type, &table().at(type.kind), false, status == Status::subresource, generation, true};
}

Kind custom(const ResourceType& type, Status status) {
  return {&type, &table().at(type.kind), true, status == Status::subresource, Generation::counted, true};
}

Kind not_looked_into(const ResourceType& type, Status status) {
  const bool status_apart = status == Status::subresource;
  return {&type, &table().at("Unknown"), status_apart, status_apart, status_apart ? Generation::counted : Generation::none, false};
}

}  // namespace

std::string Kind::api_version() const { return connectors::api_version(*type); }

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> instance{
      built_in(types::namespace_, Status::subresource, Generation::none),
      built_in(types::node, Status::subresource, Generation::none),
      built_in(types::pod, Status::subresource, Generation::counted),
      built_in(types::limit_range, Status::none, Generation::none),
      built_in(types::priority_class, Status::none, Generation::fixed),
      built_in(types::runtime_class, Status::none, Generation::none),
      custom(types::topology, Status::none),
      custom(types::resource_flavor, Status::none),
      custom(types::admission_check, Status::subresource),
      custom(types::workload_priority_class, Status::none),
      custom(types::cohort, Status::subresource),
      custom(types::cluster_queue, Status::subresource),
      custom(types::local_queue, Status::subresource),
      custom(types::workload, Status::subresource),
      custom(types::multikueue_config, Status::none),
      custom(types::multikueue_cluster, Status::subresource),
      custom(types::provisioning_request_config, Status::none),
      built_in(types::job, Status::subresource, Generation::counted),
      custom(types::job_set, Status::subresource),
      not_looked_into(types::ray_cluster, Status::subresource),
      not_looked_into(types::ray_job, Status::subresource),
      not_looked_into(types::event, Status::none),
  };
  return instance;
}

const Kind* find_kind(std::string_view name) {
  const auto& all = kinds();
  const auto it = std::find_if(all.begin(), all.end(), [&](const Kind& k) { return k.type->kind == name; });
  return it == all.end() ? nullptr : &*it;
}

const Kind& kind_of(std::string_view name) {
  const Kind* kind = find_kind(name);
  if (kind == nullptr) throw std::logic_error("no kind " + std::string(name));
  return *kind;
}

std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names;
  for (const auto& kind : kinds()) names.push_back(kind.type->kind);
  return names;
}

const Schema& named_schema(std::string_view name) { return table().at(name); }

}  // namespace hindsight::connectors::manifests
