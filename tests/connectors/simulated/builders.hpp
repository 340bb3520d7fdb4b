#pragma once

#include <string>
#include <utility>

#include "connectors/simulated/simulated_cluster.hpp"

namespace hindsight::connectors::simulated::test {

/// A cluster with namespace `default`.
inline SimulatedCluster fresh(const ClusterOptions& options = {}) {
  SimulatedCluster cluster(options);
  cluster.create({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "default"}}}});
  return cluster;
}

inline Json object(const char* api_version, const char* kind, const std::string& name, Json spec = Json()) {
  Json out = {{"apiVersion", api_version}, {"kind", kind}, {"metadata", {{"name", name}}}};
  if (manifests::kind_of(kind).type->namespaced) out["metadata"]["namespace"] = "default";
  if (!spec.is_null()) out["spec"] = std::move(spec);
  return out;
}

inline Json kueue(const char* kind, const std::string& name, Json spec = Json()) {
  return object("kueue.x-k8s.io/v1beta2", kind, name, std::move(spec));
}

inline Json pod_template() { return Json::parse(R"({"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}})"); }

inline Json job(const std::string& name, Json annotations = Json()) {
  Json out = object("batch/v1", "Job", name, {{"suspend", true}, {"parallelism", 2}, {"completions", 2}, {"template", pod_template()}});
  out["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "lq";
  if (!annotations.is_null()) out["metadata"]["annotations"] = std::move(annotations);
  return out;
}

inline Json workload(const std::string& name) {
  return kueue("Workload", name, {{"podSets", Json::array({{{"template", pod_template()}}})}});
}

inline Json owned(Json child, const char* kind, const std::string& name, const std::string& uid) {
  child["metadata"]["ownerReferences"].push_back(
      {{"apiVersion", "batch/v1"}, {"kind", kind}, {"name", name}, {"uid", uid}, {"controller", true}});
  return child;
}

}  // namespace hindsight::connectors::simulated::test
