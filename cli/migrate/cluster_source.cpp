#include "cli/migrate/sources.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/kubernetes/api_path.hpp"
#include "connectors/objects/resource_types.hpp"

namespace hindsight::cli::migrate {
namespace {

namespace t = connectors::types;
namespace k = connectors::kubernetes;
using connectors::ResourceType;
using connectors::manifests::member;
using connectors::manifests::text;

constexpr int page_objects = 500;

constexpr ResourceType config_map_type{"ConfigMap", "", "v1", "configmaps", true};
constexpr ResourceType deployment_type{"Deployment", "apps", "v1", "deployments", true};
constexpr ResourceType api_service_type{"APIService", "apiregistration.k8s.io", "v1", "apiservices", false};

/// Beside what is watched: what Kueue may have been told of other clusters.
constexpr const ResourceType* listed_beside[] = {&t::multikueue_config, &t::multikueue_cluster, &t::provisioning_request_config,
                                                 &t::mutating_webhook_configuration, &t::validating_webhook_configuration};

/// Absent is no error: the answer says that there is none.
bool is_absent(const Error& error) { return error.kind == ErrorKind::not_found; }

class ClusterReader {
 public:
  ClusterReader(ApiClient& client, World& world) : client_(client), world_(world) {}

  Result<void> list(const ResourceType& type, const std::string& label_selector = {}) {
    const std::string path = k::collection_path(type, "") + "?limit=" + std::to_string(page_objects) +
                             (label_selector.empty() ? "" : "&labelSelector=" + k::escape(label_selector));
    std::size_t taken = 0;
    for (std::string next;;) {
      auto page = client_.get_path(next.empty() ? path : path + "&continue=" + k::escape(next));
      if (!page) return judge(std::string(type.plural), page.error());
      if (auto items = page->find("items"); items != page->end() && items->is_array())
        for (auto& item : *items) {
          if (!item.is_object()) continue;
          item["apiVersion"] = connectors::api_version(type);  // lists leave both out
          item["kind"] = type.kind;
          world_.add(std::move(item));
          ++taken;
        }
      next = text(member(*page, "metadata"), "continue");
      if (next.empty()) return {};
      if (taken >= objects_of_a_kind_max) {
        world_.not_seen.emplace_back(std::string(type.plural), "more than " + std::to_string(objects_of_a_kind_max) + " objects");
        return {};
      }
    }
  }

  Result<void> get(const ResourceType& type, const std::string& space, const std::string& name) {
    auto object = client_.get(type, space, name);
    if (!object) return judge(std::string(type.kind) + " " + (space.empty() ? "" : space + "/") + name, object.error());
    (*object)["apiVersion"] = connectors::api_version(type);
    (*object)["kind"] = type.kind;
    world_.add(std::move(*object));
    return {};
  }

 private:
  Result<void> judge(const std::string& what, const Error& error) {
    if (is_absent(error)) return {};
    if (error.kind != ErrorKind::denied) return tl::unexpected(error);
    world_.not_seen.emplace_back(what, error.message);
    return {};
  }

  ApiClient& client_;
  World& world_;
};

}  // namespace

Result<void> add_cluster(ApiClient& client, const std::string& kueue_namespace, World& world) {
  ClusterReader reader(client, world);
  for (const auto* type : connectors::watched_resource_types) {
    // Of pods those that Kueue holds at its gate: a cluster has too many others.
    const bool pods = type == &t::pod;
    if (auto ok = reader.list(*type, pods ? "kueue.x-k8s.io/managed=true" : ""); !ok) return ok;
  }
  for (const auto* type : listed_beside)
    if (auto ok = reader.list(*type); !ok) return ok;
  for (const auto* type : connectors::all_resource_types)
    if (type->group == "kueue.x-k8s.io")
      if (auto ok = reader.get(t::custom_resource_definition, "", std::string(type->plural) + ".kueue.x-k8s.io"); !ok) return ok;
  for (const char* version : {"v1beta1", "v1beta2"})
    if (auto ok = reader.get(api_service_type, "", std::string(version) + ".visibility.kueue.x-k8s.io"); !ok) return ok;
  if (auto ok = reader.get(config_map_type, kueue_namespace, "kueue-manager-config"); !ok) return ok;
  if (auto ok = reader.get(deployment_type, kueue_namespace, "kueue-controller-manager"); !ok) return ok;
  bool definitions_seen = true;
  for (const auto& [what, why] : world.not_seen)
    if (what.starts_with(t::custom_resource_definition.kind)) definitions_seen = false;
  world.definitions_known = definitions_seen;
  return {};
}

}  // namespace hindsight::cli::migrate
