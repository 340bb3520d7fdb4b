#include "bench/elastic/gated_pods.hpp"

#include <array>
#include <cstdio>

#include "connectors/json/keys.hpp"
#include "connectors/kubernetes/api_path.hpp"
#include "connectors/objects/observe.hpp"
#include "connectors/objects/resource_types.hpp"
#include "vocabulary/arena.hpp"

namespace hindsight::bench {

using connectors::Json;
using connectors::kubernetes::bench::BareWrite;
namespace keys = connectors::keys;
namespace types = connectors::types;

namespace {

constexpr const char* space = "default";

constexpr const char* rack_label = "example.com/rack";
constexpr const char* host_label = "kubernetes.io/hostname";
constexpr std::size_t pods_on_host = 100, hosts_in_rack = 16;

std::string numbered(const std::string& prefix, std::size_t i) {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "-%05zu", i);
  return prefix + digits.data();
}

Json object(const char* version, const char* kind, Json metadata, Json spec) {
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
}

Json pod_spec(Gate gate) {
  Json out{{"restartPolicy", "Never"},
           {"containers", {{{"name", "c"}, {"image", "registry.example/none:1"}, {"resources", {{"requests", {{"cpu", "100m"}}}}}}}}};
  out["schedulingGates"] = {{{"name", gate == Gate::elastic ? keys::elastic_gate : keys::topology_gate}}};
  return out;
}

/// What stands in the template of a Job that has not been started: with its start Hindsight adds the gate of topologies.
Json pod_template(Gate gate) {
  Json spec = pod_spec(gate);
  if (gate == Gate::elastic) return {{"spec", std::move(spec)}};
  spec.erase("schedulingGates");
  return {{"metadata", {{"annotations", {{keys::preferred_topology, rack_label}}}}}, {"spec", std::move(spec)}};
}

Json cluster_queue(std::size_t pods) {
  const Json quota{{"name", "cpu"}, {"nominalQuota", std::to_string(pods)}};
  return object(
      "kueue.x-k8s.io/v1beta2", "ClusterQueue", {{"name", ungate_queue}},
      {{"namespaceSelector", Json::object()},
       {"stopPolicy", "Hold"},
       {"resourceGroups", {{{"coveredResources", {"cpu"}}, {"flavors", {{{"name", "any"}, {"resources", Json::array({quota})}}}}}}}});
}

Json host(std::size_t i) {
  const std::string name = numbered("host", i);
  Json out =
      object("v1", "Node",
             {{"name", name}, {"labels", {{"pool", "burst"}, {rack_label, numbered("rack", i / hosts_in_rack)}, {host_label, name}}}},
             Json::object());
  const Json amounts{{"cpu", "64"}, {"memory", "256Gi"}, {"pods", std::to_string(pods_on_host)}};
  out["status"] = {{"capacity", amounts}, {"allocatable", amounts}, {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}};
  return out;
}

}  // namespace

Json burst_objects(std::size_t pods, Gate gate) {
  Json items = Json::array();
  Json flavor = Json::object();
  if (gate == Gate::topology) {
    items.push_back(object("kueue.x-k8s.io/v1beta2", "Topology", {{"name", "racks"}},
                           {{"levels", {{{"nodeLabel", rack_label}}, {{"nodeLabel", host_label}}}}}));
    flavor = {{"topologyName", "racks"}, {"nodeLabels", {{"pool", "burst"}}}};
    for (std::size_t i = 0; i * pods_on_host < pods; ++i) items.push_back(host(i));
  }
  items.push_back(object("kueue.x-k8s.io/v1beta2", "ResourceFlavor", {{"name", "any"}}, flavor));
  items.push_back(cluster_queue(pods));
  items.push_back(
      object("kueue.x-k8s.io/v1beta2", "LocalQueue", {{"name", ungate_queue}, {"namespace", space}}, {{"clusterQueue", ungate_queue}}));
  Json job{{"name", ungate_job}, {"namespace", space}, {"labels", {{keys::queue_name, ungate_queue}}}};
  if (gate == Gate::elastic) job["annotations"] = {{keys::elastic_job, "true"}};
  items.push_back(object("batch/v1", "Job", std::move(job),
                         {{"suspend", true},
                          {"parallelism", pods},
                          {"completions", pods},
                          {"completionMode", gate == Gate::elastic ? "NonIndexed" : "Indexed"},
                          {"template", pod_template(gate)}}));
  return {{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
}

std::vector<BareWrite> pod_creations(const std::string& prefix, std::size_t count, Gate gate, const PodOwner* owner) {
  Json metadata{{"namespace", space}};
  if (owner != nullptr) {  // what a start puts into the template, and the Job controller
    metadata["labels"] = {{keys::pod_set, "main"}};
    if (gate == Gate::elastic)
      metadata["annotations"] = {{keys::slice_name, ungate_job}};
    else
      metadata["annotations"] = {{keys::workload, owner->workload}, {keys::preferred_topology, rack_label}};
    metadata["ownerReferences"] = {
        {{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"name", ungate_job}, {"uid", owner->job_uid}, {"controller", true}}};
  }
  Json pod = object("v1", "Pod", std::move(metadata), pod_spec(gate));
  const std::string path = connectors::kubernetes::collection_path(types::pod, space);
  std::vector<BareWrite> out;
  for (std::size_t i = 0; i < count; ++i) {
    pod["metadata"]["name"] = numbered(prefix, i);
    if (owner != nullptr && gate == Gate::topology) pod["metadata"]["labels"][keys::completion_index] = std::to_string(i);
    out.push_back({path, pod.dump(), true});
  }
  return out;
}

std::vector<BareWrite> pod_releases(const std::string& prefix, std::size_t count, Gate gate) {
  std::vector<BareWrite> out;
  for (std::size_t i = 0; i < count; ++i) {
    Json spec{{"schedulingGates", nullptr}};
    if (gate == Gate::topology) spec["nodeSelector"] = {{host_label, numbered("host", i / pods_on_host)}, {"pool", "burst"}};
    out.push_back({connectors::kubernetes::object_path(types::pod, space, numbered(prefix, i), "") + "?fieldManager=bare",
                   Json{{"spec", std::move(spec)}}.dump()});
  }
  return out;
}

GateWatch::GateWatch(connectors::kubernetes::KubernetesCluster& cluster) {
  cluster.watch(types::pod, [this](const connectors::WatchEvent& event) {
    on_event(event);
    return connectors::kubernetes::Flow::more;
  });
}

void GateWatch::on_event(const connectors::WatchEvent& event) {
  using Type = connectors::WatchEvent::Type;
  if (event.type != Type::added && event.type != Type::modified) return;
  Arena arena;
  const auto observation = connectors::observe_text(types::pod, event.object, arena);
  if (!observation) return;
  const auto& pod = std::get<PodObserved>(*observation);
  const auto dash = pod.meta.name.rfind('-');
  if (pod.gated || pod.topology_gated || dash == std::string_view::npos) return;
  const std::lock_guard lock(mutex_);
  if (released_[std::string(pod.meta.name.substr(0, dash))].emplace(pod.meta.name).second) changed_.notify_one();
}

bool GateWatch::wait_for(const std::string& prefix, std::size_t count, std::chrono::seconds stall_time) {
  std::unique_lock lock(mutex_);
  const auto& released = released_[prefix];
  while (released.size() < count) {
    const std::size_t before = released.size();
    if (!changed_.wait_for(lock, stall_time, [&] { return released.size() > before; })) return false;
  }
  return true;
}

std::size_t GateWatch::released(const std::string& prefix) const {
  const std::lock_guard lock(mutex_);
  const auto found = released_.find(prefix);
  return found == released_.end() ? 0 : found->second.size();
}

}  // namespace hindsight::bench
