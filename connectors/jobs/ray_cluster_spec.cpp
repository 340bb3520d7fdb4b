#include "connectors/jobs/ray_cluster_spec.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <string>
#include <utility>

#include "connectors/jobs/template_change.hpp"
#include "connectors/json/document.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/json/pod_template.hpp"
#include "vocabulary/ascii.hpp"

namespace hindsight::connectors::ray {
namespace {

constexpr std::string_view head = "head";

std::int32_t product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(a * b, 0, std::numeric_limits<std::int32_t>::max()));
}

/// The pods that KubeRay makes of a worker group: it raises `replicas` to `minReplicas`, so the larger of the two is what asks for quota.
std::int32_t worker_count(const Json& group) {
  const std::int32_t replicas = std::max(int_member(group, "replicas").value_or(1), int_member(group, "minReplicas").value_or(0));
  return product(replicas, std::max(1, int_member(group, "numOfHosts").value_or(1)));
}

/// KubeRay adds this container to the head's pod where the cluster scales itself (EJ-130).
Json with_autoscaler(Json pod_template, const Json& cluster_spec) {
  if (!flag_member(cluster_spec, "enableInTreeAutoscaling") || !pod_template.is_object()) return pod_template;
  Json resources = object_or_empty(object_or_empty(cluster_spec, "autoscalerOptions"), "resources");
  if (resources.empty()) {
    const Json amounts{{"cpu", "500m"}, {"memory", "512Mi"}};
    resources = {{"requests", amounts}, {"limits", amounts}};
  }
  auto& containers = pod_template["spec"]["containers"];
  if (!containers.is_array()) containers = Json::array();
  containers.push_back({{"name", "autoscaler"}, {"resources", std::move(resources)}});
  return pod_template;
}

Json pod_set(std::string name, std::int32_t count, Json pod_template) {
  Json out{{"name", std::move(name)}, {"count", count}};
  if (auto topology = topology_request(pod_template, {}); !topology.is_null()) out["topologyRequest"] = std::move(topology);
  out["template"] = std::move(pod_template);
  return out;
}

/// Applies `change(pod set, template)` → template to the head and all worker groups.
template <class F>
Result<void> each_template(Json& cluster_spec, F change) {
  const auto apply = [&](std::string_view name, Json& group) -> Result<void> {
    if (!group.is_object()) return {};
    auto changed = change(name, object_or_empty(group, "template"));
    if (!changed) return tl::unexpected(changed.error());
    if (*changed != object_or_empty(group, "template")) group["template"] = std::move(*changed);
    return {};
  };
  if (cluster_spec.contains("headGroupSpec"))
    if (auto done = apply(head, cluster_spec["headGroupSpec"]); !done) return done;
  if (cluster_spec.contains("workerGroupSpecs") && cluster_spec["workerGroupSpecs"].is_array())
    for (auto& group : cluster_spec["workerGroupSpecs"])
      if (auto done = apply(lower(text_member(group, "groupName")), group); !done) return done;
  return {};
}

}  // namespace

Json pod_sets(const Json& cluster_spec) {
  Json out = Json::array();
  out.push_back(pod_set(std::string(head), 1,
                        with_autoscaler(object_or_empty(object_or_empty(cluster_spec, "headGroupSpec"), "template"), cluster_spec)));
  for (const auto& group : list_or_empty(cluster_spec, "workerGroupSpecs"))
    out.push_back(pod_set(lower(text_member(group, "groupName")), worker_count(group), object_or_empty(group, "template")));
  return out;
}

bool are_gated(const Json& cluster_spec) {
  const auto gated = [](const Json& group) {
    const auto& gates = list_or_empty(object_or_empty(object_or_empty(group, "template"), "spec"), "schedulingGates");
    return std::any_of(gates.begin(), gates.end(), [](const Json& gate) { return text_member(gate, "name") == keys::elastic_gate; });
  };
  const auto& workers = list_or_empty(cluster_spec, "workerGroupSpecs");
  return gated(object_or_empty(cluster_spec, "headGroupSpec")) && std::all_of(workers.begin(), workers.end(), gated);
}

List<PodSetCount> worker_counts(const Json& cluster_spec, Arena& arena) {
  const auto& groups = list_or_empty(cluster_spec, "workerGroupSpecs");
  auto out = arena.make<PodSetCount>(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i)
    out[i] = {arena.copy(lower(text_member(groups[i], "groupName"))), worker_count(groups[i])};
  return out;
}

void observe_pod_sets(const Json& pod_sets, const Node& job, const JobContext& context, JobObserved& out) {
  const auto document = Document::parse(to_text(Json{{"podSets", pod_sets}}));
  if (!document) return job.refuse_value("spec", "an object that can be read");
  auto& arena = job.reading().arena();
  Reading reading(arena, document->root(),
                  std::string(out.kind) + " " + std::string(out.meta.namespace_) + "/" + std::string(out.meta.name));
  std::size_t i = 0;
  out.pod_sets = reading.root().list<PodSetFacts>("podSets", limits::pod_sets, [&](const Node& node) {
    PodSetFacts facts;
    facts.name = node.required_text("name", limits::dns_label);
    facts.count = node.int32_or("count", 1);
    const auto pod_template = node.object("template");
    const auto pod_spec = pod_template.object("spec");
    if (!pod_template.present())
      node.refuse_value("template", "an object");
    else if (!pod_spec.present())
      pod_template.refuse_value("spec", "an object");
    if (pod_spec.present() && pod_spec.count("containers", limits::containers) == 0) pod_spec.refuse_value("containers", "at least one");
    read_pod_template(pod_template, {context.defaults, out.meta.namespace_, i}, facts);
    if (i++ == 0) out.pod_priority_class = pod_spec.text("priorityClassName");
    return facts;
  });
  if (reading.failed()) job.reading().adopt(reading.take_refusal());
}

Result<Json> started(Json cluster_spec, const std::vector<PodSetInjection>& pod_sets) {
  const auto done = each_template(cluster_spec, [&](std::string_view name, const Json& pod_template) -> Result<Json> {
    for (const auto& injection : pod_sets)
      if (injection.name == name) return inject(pod_template, injection);
    return fail(ErrorKind::invalid, "invalid podset infos: none for pod set " + std::string(name));
  });
  if (!done) return tl::unexpected(done.error());
  return cluster_spec;
}

Json restored(Json cluster_spec, const Json& originals) {
  (void)each_template(cluster_spec, [&](std::string_view name, const Json& pod_template) -> Result<Json> {
    const auto* original = find_pod_set(originals, name);
    return original == nullptr ? pod_template : restore(pod_template, object_or_empty(*original, "template"));
  });
  return cluster_spec;
}

bool is_ready(const Node& cluster_status) { return lower(cluster_status.text("state")) == "ready"; }

}  // namespace hindsight::connectors::ray
