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

std::string pod_name(const std::string& prefix, std::size_t i) {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "-%05zu", i);
  return prefix + digits.data();
}

Json pod_spec() {
  return {{"restartPolicy", "Never"},
          {"schedulingGates", {{{"name", keys::elastic_gate}}}},
          {"containers", {{{"name", "c"}, {"image", "registry.example/none:1"}, {"resources", {{"requests", {{"cpu", "100m"}}}}}}}}};
}

Json cluster_queue(std::size_t pods) {
  const Json quota{{"name", "cpu"}, {"nominalQuota", std::to_string(pods)}};
  return {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
          {"kind", "ClusterQueue"},
          {"metadata", {{"name", ungate_queue}}},
          {"spec",
           {{"namespaceSelector", Json::object()},
            {"stopPolicy", "Hold"},
            {"resourceGroups", {{{"coveredResources", {"cpu"}}, {"flavors", {{{"name", "any"}, {"resources", Json::array({quota})}}}}}}}}}};
}

}  // namespace

Json burst_objects(std::size_t pods) {
  const Json flavor{
      {"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", "ResourceFlavor"}, {"metadata", {{"name", "any"}}}, {"spec", Json::object()}};
  const Json local_queue{{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                         {"kind", "LocalQueue"},
                         {"metadata", {{"name", ungate_queue}, {"namespace", space}}},
                         {"spec", {{"clusterQueue", ungate_queue}}}};
  const Json job{{"apiVersion", "batch/v1"},
                 {"kind", "Job"},
                 {"metadata",
                  {{"name", ungate_job},
                   {"namespace", space},
                   {"labels", {{keys::queue_name, ungate_queue}}},
                   {"annotations", {{keys::elastic_job, "true"}}}}},
                 {"spec", {{"suspend", true}, {"parallelism", pods}, {"completions", pods}, {"template", {{"spec", pod_spec()}}}}}};
  return {{"apiVersion", "v1"}, {"kind", "List"}, {"items", {flavor, cluster_queue(pods), local_queue, job}}};
}

std::vector<BareWrite> pod_creations(const std::string& prefix, std::size_t count, const std::string& job_uid) {
  Json metadata{{"namespace", space}};
  if (!job_uid.empty()) {  // what a start puts into the template, and the Job controller
    metadata["labels"] = {{keys::pod_set, "main"}};
    metadata["annotations"] = {{keys::slice_name, ungate_job}};
    metadata["ownerReferences"] = {
        {{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"name", ungate_job}, {"uid", job_uid}, {"controller", true}}};
  }
  Json pod{{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(metadata)}, {"spec", pod_spec()}};
  const std::string path = connectors::kubernetes::collection_path(types::pod, space);
  std::vector<BareWrite> out;
  for (std::size_t i = 0; i < count; ++i) {
    pod["metadata"]["name"] = pod_name(prefix, i);
    out.push_back({path, pod.dump(), true});
  }
  return out;
}

std::vector<BareWrite> pod_releases(const std::string& prefix, std::size_t count) {
  std::vector<BareWrite> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back({connectors::kubernetes::object_path(types::pod, space, pod_name(prefix, i), "") + "?fieldManager=bare",
                   R"({"spec":{"schedulingGates":null}})"});
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
  if (pod.gated || dash == std::string_view::npos) return;
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
