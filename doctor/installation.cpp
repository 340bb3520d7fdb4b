#include "doctor/installation.hpp"

#include <algorithm>
#include <utility>

#include "connectors/kubernetes/api_path.hpp"
#include "connectors/manifests/json_views.hpp"
#include "doctor/commands.hpp"

namespace hindsight::doctor {
namespace {

namespace m = connectors::manifests;

constexpr std::size_t deployments_max = 200;
constexpr std::size_t arguments_max = 500;

const Json& first_container(const Json& deployment) {
  static const Json none;
  const Json& containers = m::member(m::member(m::member(m::member(deployment, "spec"), "template"), "spec"), "containers");
  if (!containers.is_array() || containers.empty()) return none;
  for (const auto& one : containers)
    if (m::text(one, "name") == names::deployment) return one;
  return containers.front();
}

void take_words(const Json& words, std::vector<std::string>& out) {
  if (!words.is_array()) return;
  for (const auto& word : words)
    if (word.is_string() && out.size() < arguments_max) out.push_back(word.get<std::string>());
}

/// The file that --config names, where a ConfigMap is mounted over its folder.
void read_configuration(ClusterReader& cluster, Installation& installation) {
  const std::string file = installation.value_of("--config");
  const auto slash = file.rfind('/');
  if (slash == std::string::npos) return;
  const std::string folder = file.substr(0, slash), key = file.substr(slash + 1);
  const Json& pod = m::member(m::member(m::member(installation.object, "spec"), "template"), "spec");
  const Json& mounts = m::member(first_container(installation.object), "volumeMounts");
  if (!mounts.is_array()) return;
  for (const auto& mount : mounts) {
    if (m::text(mount, "mountPath") != folder) continue;
    const Json& volumes = m::member(pod, "volumes");
    if (!volumes.is_array()) return;
    for (const auto& volume : volumes) {
      if (m::text(volume, "name") != m::text(mount, "name")) continue;
      const std::string map(m::text(m::member(volume, "configMap"), "name"));
      if (map.empty()) return;
      const auto object = find(cluster, "/api/v1/namespaces/" + connectors::kubernetes::escape(installation.namespace_) + "/configmaps/" +
                                            connectors::kubernetes::escape(map));
      if (!object || !*object) return;
      installation.configuration_map = map;
      installation.configuration = std::string(m::text(m::member(**object, "data"), key));
      return;
    }
  }
}

}  // namespace

std::int64_t Installation::replicas() const {
  if (!deployed()) return 0;
  return m::number(m::member(object, "spec"), "replicas").value_or(1);
}

bool Installation::has_flag(std::string_view flag) const {
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const std::string& word) { return word == flag || word == std::string(flag) + "=true"; });
}

std::string Installation::value_of(std::string_view option) const {
  const std::string begin = std::string(option) + "=";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].starts_with(begin)) return arguments[i].substr(begin.size());
    if (arguments[i] == option && i + 1 < arguments.size()) return arguments[i + 1];
  }
  return {};
}

std::string Installation::deployment_words() const { return in_namespace(namespace_) + " deployment/" + as_word(deployment); }

Installation installation_of(Json object) {
  Installation out;
  const Json& meta = m::member(object, "metadata");
  out.namespace_ = std::string(m::text(meta, "namespace"));
  out.deployment = std::string(m::text(meta, "name"));
  const Json& container = first_container(object);
  if (const auto name = m::text(container, "name"); !name.empty()) out.container = std::string(name);
  take_words(m::member(container, "command"), out.arguments);
  take_words(m::member(container, "args"), out.arguments);
  const auto account = m::text(m::member(m::member(m::member(object, "spec"), "template"), "spec"), "serviceAccountName");
  out.account = account.empty() ? "default" : std::string(account);
  out.object = std::move(object);
  return out;
}

Result<Installation> look_for_installation(ClusterReader& cluster, const std::string& namespace_) {
  const std::string path = namespace_.empty() ? "/apis/apps/v1/deployments"
                                              : "/apis/apps/v1/namespaces/" + connectors::kubernetes::escape(namespace_) + "/deployments";
  auto found = list(cluster, path, "labelSelector=app.kubernetes.io%2Fname%3Dhindsight", deployments_max);
  if (!found) return tl::unexpected(found.error());
  Installation out;
  if (!namespace_.empty()) out.namespace_ = namespace_;
  // One that runs goes before one that is scaled to nothing, and that of deploy/ before others.
  const auto rank = [](const Json& one) {
    const bool runs = m::number(m::member(one, "spec"), "replicas").value_or(1) > 0;
    return (runs ? 0 : 2) + (m::text(m::member(one, "metadata"), "namespace") == names::namespace_ ? 0 : 1);
  };
  std::stable_sort(found->items.begin(), found->items.end(), [&](const Json& a, const Json& b) { return rank(a) < rank(b); });
  for (auto& one : found->items) {
    if (out.deployed()) {
      const Json& meta = m::member(one, "metadata");
      if (m::number(m::member(one, "spec"), "replicas").value_or(1) > 0)
        out.others.push_back(std::string(m::text(meta, "namespace")) + "/" + std::string(m::text(meta, "name")));
      continue;
    }
    out = installation_of(std::move(one));
  }
  if (out.deployed()) read_configuration(cluster, out);
  return out;
}

}  // namespace hindsight::doctor
