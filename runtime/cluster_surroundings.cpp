#include "runtime/cluster_surroundings.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "admission/model/catalog_view.hpp"
#include "connectors/manifests/json_text.hpp"
#include "connectors/manifests/json_views.hpp"
#include "connectors/manifests/kinds.hpp"
#include "connectors/objects/resource_types.hpp"
#include "operations/configuration_schema.hpp"
#include "runtime/cluster_requests.hpp"

namespace hindsight::runtime {

using connectors::manifests::member;

namespace {

/// What rules need to know of the cluster. Whoever creates a Job may name anything as its owner; that is no reason to look for it, nor to
/// have the right to.
bool is_asked_for(const connectors::ResourceType& type) {
  namespace t = connectors::types;
  const auto wanted = {&t::namespace_, &t::local_queue, &t::cluster_queue, &t::workload_priority_class,
                       &t::job,        &t::job_set,     &t::ray_cluster,   &t::ray_job};
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](const connectors::ResourceType* one) { return one->kind == type.kind && one->group == type.group; });
}

/// Null: nobody's, as in a look of our own.
thread_local const operations::HttpRequest* answered_request = nullptr;

}  // namespace

LookupCaller::LookupCaller(const operations::HttpRequest& request) { answered_request = &request; }
LookupCaller::~LookupCaller() { answered_request = nullptr; }

std::shared_ptr<const ObjectJson> ClusterSurroundings::find(std::string_view kind, std::string_view namespace_,
                                                            std::string_view name) const {
  const auto* known = connectors::manifests::find_kind(kind);
  if (known == nullptr) return nullptr;
  if (mirror_is_complete_()) {
    const auto text = cluster_.mirror().find(*known->type, known->type->namespaced ? namespace_ : std::string_view(), name);
    if (!text) return nullptr;
    auto object = connectors::manifests::parse_json(*text);
    if (!object) throw std::runtime_error(object.error().message);
    return std::make_shared<const ObjectJson>(std::move(*object));
  }
  if (!is_asked_for(*known->type)) return nullptr;
  if (!is_name_of_object(name) || (known->type->namespaced && !is_name_of_object(namespace_))) return nullptr;
  const auto* caller = answered_request;
  auto place = lookups_.enter(caller == nullptr ? std::string() : caller->peer, caller == nullptr || caller->proven,
                              std::chrono::steady_clock::now());
  if (!place) throw TooManyLookups();
  auto object = read_object(cluster_, *known->type, known->type->namespaced ? std::string(namespace_) : std::string(), std::string(name),
                            std::move(place));
  if (!object) throw std::runtime_error(object.error().message);
  return *object;
}

bool ClusterSurroundings::manages_namespace(std::string_view namespace_) const {
  std::vector<std::pair<Symbol, std::string>> labels;
  const auto space = find("Namespace", "", namespace_);
  const ObjectJson nothing;
  const ObjectJson& given = member(space ? *space : nothing, "metadata", "labels");
  if (given.is_object())
    for (const auto& [key, value] : given.items())
      if (value.is_string()) labels.emplace_back(Symbol(key), value.get<std::string>());
  if (labels.empty()) labels.emplace_back(Symbol("kubernetes.io/metadata.name"), std::string(namespace_));
  return admission::matches(configuration_.managed_jobs_namespaces, labels);
}

bool ClusterSurroundings::manages_kind(std::string_view kind, std::string_view group) const {
  const auto& wanted = configuration_.frameworks;
  const auto known = operations::frameworks();
  return std::any_of(known.begin(), known.end(), [&](const operations::Framework& framework) {
    return framework.kind == kind && framework.group == group && std::find(wanted.begin(), wanted.end(), framework.name) != wanted.end();
  });
}

bool ClusterSurroundings::is_controller(std::string_view user) const {
  const auto& known = configuration_.controllers;
  return std::find(known.begin(), known.end(), user) != known.end();
}

}  // namespace hindsight::runtime
