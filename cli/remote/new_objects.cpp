#include "cli/remote/new_objects.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <nlohmann/json.hpp>

namespace hindsight::cli {
namespace {

Json object(const char* kind, const std::string& name, Json spec) {
  return {{"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", kind}, {"metadata", {{"name", name}}}, {"spec", std::move(spec)}};
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// "key=value,key=value" as an object.
Result<Json> read_pairs(const std::string& option, const std::string& text) {
  Json out = Json::object();
  for (const auto& part : parts_of(text)) {
    const auto equals = part.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(ErrorKind::invalid, option + ": found \"" + part + "\"; allowed: key=value,…");
    if (!out.emplace(part.substr(0, equals), part.substr(equals + 1)).second)
      return fail(ErrorKind::invalid, option + ": found key " + part.substr(0, equals) + " twice; allowed: once");
  }
  return out;
}

/// "key[=value][:effect]"
struct TaintText {
  std::string key, value, effect;
  bool has_value = false, has_effect = false;
};

Result<TaintText> read_taint_text(const std::string& option, const std::string& text, const char* form) {
  const auto bad = [&] { return fail(ErrorKind::invalid, option + ": found \"" + text + "\"; allowed: " + form); };
  TaintText out;
  const auto colon = text.find(':');
  if (colon != std::string::npos && text.find(':', colon + 1) != std::string::npos) return bad();
  const std::string before = text.substr(0, colon);
  out.has_effect = colon != std::string::npos;
  if (out.has_effect) out.effect = text.substr(colon + 1);
  static const std::set<std::string> effects{"NoSchedule", "PreferNoSchedule", "NoExecute"};
  if (out.has_effect && !effects.contains(out.effect))
    return fail(ErrorKind::invalid,
                option + ": \"" + text + "\": found effect \"" + out.effect + "\"; allowed: NoSchedule, PreferNoSchedule, NoExecute");
  const auto equals = before.find('=');
  out.key = before.substr(0, equals);
  out.has_value = equals != std::string::npos;
  if (out.has_value) out.value = before.substr(equals + 1);
  if (out.has_value && (out.key.empty() || out.value.find('=') != std::string::npos)) return bad();
  return out;
}

Result<Json> read_taints(const std::string& text) {
  constexpr const char* option = "--node-taints";
  constexpr const char* form = "key[=value]:effect,…";
  Json out = Json::array();
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& part : parts_of(text)) {
    const auto taint = read_taint_text(option, part, form);
    if (!taint) return tl::unexpected(taint.error());
    if (taint->key.empty() || !taint->has_effect)
      return fail(ErrorKind::invalid, std::string(option) + ": found \"" + part + "\"; allowed: " + form);
    if (!seen.emplace(taint->key, taint->effect).second)
      return fail(ErrorKind::invalid,
                  std::string(option) + ": found key " + taint->key + " with effect " + taint->effect + " twice; allowed: once");
    Json one{{"key", taint->key}};
    if (taint->has_value) one["value"] = taint->value;
    one["effect"] = taint->effect;
    out.push_back(std::move(one));
  }
  return out;
}

Result<Json> read_tolerations(const std::string& text) {
  Json out = Json::array();
  for (const auto& part : parts_of(text)) {
    const auto taint = read_taint_text("--tolerations", part, "key[=value][:effect],… or :effect");
    if (!taint) return tl::unexpected(taint.error());
    Json one = Json::object();
    if (!taint->key.empty()) one["key"] = taint->key;
    one["operator"] = taint->has_value && !taint->value.empty() ? "Equal" : "Exists";
    if (one["operator"] == "Equal") one["value"] = taint->value;
    if (taint->has_effect) one["effect"] = taint->effect;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

Result<Json> new_cluster_queue(const NewClusterQueue& wanted) {
  Json spec = Json::object();
  if (!wanted.cohort.empty()) spec["cohortName"] = wanted.cohort;
  if (!wanted.queueing_strategy.empty()) spec["queueingStrategy"] = wanted.queueing_strategy;
  spec["namespaceSelector"] = Json::object();
  if (!wanted.namespace_selector.empty()) {
    auto labels = read_pairs("--namespace-selector", wanted.namespace_selector);
    if (!labels) return labels;
    spec["namespaceSelector"]["matchLabels"] = std::move(*labels);
  }
  if (!wanted.reclaim_within_cohort.empty()) spec["preemption"]["reclaimWithinCohort"] = wanted.reclaim_within_cohort;
  if (!wanted.within_cluster_queue.empty()) spec["preemption"]["withinClusterQueue"] = wanted.within_cluster_queue;
  auto groups = read_resource_groups(wanted.quotas);
  if (!groups) return groups;
  if (!groups->empty()) spec["resourceGroups"] = std::move(*groups);
  return object("ClusterQueue", wanted.name, std::move(spec));
}

Json new_local_queue(const NewLocalQueue& wanted) {
  Json out = object("LocalQueue", wanted.name, {{"clusterQueue", wanted.cluster_queue}});
  out["metadata"]["namespace"] = wanted.namespace_;
  return out;
}

Result<Json> new_resource_flavor(const NewResourceFlavor& wanted) {
  Json spec = Json::object();
  auto labels = read_pairs("--node-labels", wanted.node_labels);
  if (!labels) return labels;
  if (!labels->empty()) spec["nodeLabels"] = std::move(*labels);
  auto taints = read_taints(wanted.node_taints);
  if (!taints) return taints;
  if (!taints->empty()) spec["nodeTaints"] = std::move(*taints);
  auto tolerations = read_tolerations(wanted.tolerations);
  if (!tolerations) return tolerations;
  if (!tolerations->empty()) spec["tolerations"] = std::move(*tolerations);
  return object("ResourceFlavor", wanted.name, std::move(spec));
}

}  // namespace hindsight::cli
