#include "simulation/topology_requests.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "connectors/json/json_value.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/manifests/finding.hpp"
#include "connectors/manifests/json_views.hpp"
#include "connectors/manifests/kinds.hpp"
#include "connectors/webhooks/rules/topology_webhook_rules.hpp"

namespace hindsight::simulation {
namespace {

using connectors::Json;
using connectors::manifests::member;
using connectors::manifests::text;
namespace keys = connectors::keys;

/// All annotations of a pod template that begin so say something of its place.
constexpr std::string_view place_prefix = "kueue.x-k8s.io/podset-";
constexpr std::array<std::string_view, 7> place_keys{keys::required_topology, keys::preferred_topology,      keys::unconstrained_topology,
                                                     keys::slice_size,        keys::slice_required_topology, keys::slice_constraints,
                                                     keys::pod_set_group_name};

bool is_place_key(std::string_view key) { return std::find(place_keys.begin(), place_keys.end(), key) != place_keys.end(); }

/// Rules for topology requests ask for gates and for nothing else.
class GatesAlone final : public connectors::webhooks::Surroundings {
 public:
  explicit GatesAlone(const connectors::webhooks::GateValues& gates) : gates_(gates) {}
  [[nodiscard]] std::shared_ptr<const Json> find(std::string_view, std::string_view, std::string_view) const override { return nullptr; }
  [[nodiscard]] bool gate(std::string_view name) const override {
    const auto given = gates_.find(name);
    return given == gates_.end() ? connectors::webhooks::gate_by_default(name) : given->second;
  }
  [[nodiscard]] bool manages_namespace(std::string_view) const override { return true; }
  [[nodiscard]] bool manages_jobs_without_queue_name() const override { return false; }
  [[nodiscard]] bool manages_kind(std::string_view, std::string_view) const override { return true; }
  [[nodiscard]] bool is_controller(std::string_view) const override { return false; }
  [[nodiscard]] std::size_t max_options() const override { return connectors::webhooks::max_options_by_default; }

 private:
  const connectors::webhooks::GateValues& gates_;
};

/// The levels that the annotations of a template name, and whether they ask for anything.
struct Asked {
  bool anything = false;
  std::vector<std::string_view> levels;

  static Asked of(const Json& annotations) {
    Asked out;
    for (const auto key : {keys::required_topology, keys::preferred_topology, keys::slice_required_topology}) {
      if (!member(annotations, key).is_string()) continue;
      out.anything = true;
      out.levels.push_back(text(annotations, key));
    }
    const auto unconstrained = text(annotations, keys::unconstrained_topology);
    out.anything |= !unconstrained.empty() && unconstrained != "false";
    out.anything |= member(annotations, keys::slice_constraints).is_string();
    return out;
  }
};

class TopologyRequests {
 public:
  explicit TopologyRequests(const connectors::webhooks::GateValues& gates) : around_(gates) {}

  void learn(const Json& object) {
    const auto kind = text(object, "kind");
    const Json& metadata = member(object, "metadata");
    const std::string name(text(metadata, "name"));
    if (kind == "ResourceFlavor") flavors_[name] = &object;
    if (kind == "Topology") topologies_[name] = &object;
    if (kind == "ClusterQueue") queues_[name] = &object;
    if (kind == "Node") nodes_.push_back(&member(metadata, "labels"));
    if (kind == "LocalQueue")
      local_queues_[std::string(text(metadata, "namespace")) + "/" + name] = text(member(object, "spec"), "clusterQueue");
  }

  void judge(const Json& job) {
    const auto* kind = connectors::manifests::find_kind(text(job, "kind"));
    const Json& metadata = member(job, "metadata");
    const auto label = text(member(metadata, "labels"), keys::queue_name);
    const auto queue = local_queues_.find(std::string(text(metadata, "namespace")) + "/" + std::string(label.empty() ? "default" : label));
    if (kind == nullptr || queue == local_queues_.end()) return;
    who_ = std::string(kind->type->kind) + " " + std::string(text(metadata, "namespace")) + "/" + std::string(text(metadata, "name"));
    const Json& own = member(metadata, "annotations");
    if (own.is_object())
      for (const auto& [key, value] : own.items())
        if (key.starts_with(place_prefix))
          tell("metadata.annotations[" + key + "]: nobody reads it there; allowed: in the metadata of the pod template");

    const connectors::manifests::ObjectView view(job);
    const auto templates = connectors::webhooks::templates_of(*kind, view);
    bool asked = false;
    for (const auto& t : templates) asked |= judge_template(t, queue->second);
    std::vector<connectors::manifests::Problem> problems;
    connectors::manifests::Findings findings(problems);
    if (asked) connectors::webhooks::check_topology_requests(templates, around_, findings);
    for (const auto& problem : problems) tell(connectors::manifests::describe(problem) + " (the webhooks of a cluster refuse the job)");
  }

  [[nodiscard]] std::vector<std::string> told() && {
    if (more_ > 0) told_.push_back("and " + std::to_string(more_) + " more requests for topologies that are not served as they stand");
    return std::move(told_);
  }

 private:
  void tell(const std::string& what) {
    if (told_.size() < topology_notices_max)
      told_.push_back(who_ + ": " + what);
    else
      ++more_;
  }

  /// Returns whether it has any annotation about places.
  bool judge_template(const connectors::webhooks::TemplateRequest& t, const std::string& queue) {
    if (!t.annotations.is_object()) return false;
    bool known = false;
    for (const auto& [key, value] : t.annotations.items()) {
      if (is_place_key(key))
        known = true;
      else if (key.starts_with(place_prefix))
        tell(t.field + "[" + key + "]: no annotation that is known; allowed: " + joined(place_keys));
    }
    const Asked asked = Asked::of(t.annotations);
    if (!asked.anything) return known;
    if (!around_.gate("TopologyAwareScheduling"))
      tell(t.field + ": asks for a topology, but feature gate TopologyAwareScheduling is off: nobody looks at it");
    else if (const auto why = why_not(queue, asked); !why.empty())
      tell(t.field + ": asks for a topology that ClusterQueue " + queue + " cannot give: " + why);
    return known;
  }

  /// Empty: one of the flavors can serve it, as far as its definition goes, or there is no such ClusterQueue.
  [[nodiscard]] std::string why_not(const std::string& queue, const Asked& asked) const {
    const auto found = queues_.find(queue);
    if (found == queues_.end()) return {};
    std::string reasons;
    std::vector<std::string_view> seen;  // a flavor stands once for each group of resources
    for (const auto& group : member(member(*found->second, "spec"), "resourceGroups"))
      for (const auto& flavor : member(group, "flavors")) {
        const auto name = text(flavor, "name");
        if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
        seen.push_back(name);
        const std::string reason = why_not_flavor(std::string(name), asked);
        if (reason.empty()) return {};
        reasons += (reasons.empty() ? "" : "; ") + reason;
      }
    return reasons.empty() ? "it has no flavors" : reasons;
  }

  [[nodiscard]] std::string why_not_flavor(const std::string& name, const Asked& asked) const {
    const auto flavor = flavors_.find(name);
    if (flavor == flavors_.end()) return "there is no ResourceFlavor " + name;
    const Json& spec = member(*flavor->second, "spec");
    const std::string topology_name(text(spec, "topologyName"));
    if (topology_name.empty()) return "ResourceFlavor " + name + " has no topologyName";
    const auto topology = topologies_.find(topology_name);
    if (topology == topologies_.end()) return "ResourceFlavor " + name + " names Topology " + topology_name + ", which is not there";
    std::vector<std::string_view> levels;
    for (const auto& level : member(member(*topology->second, "spec"), "levels")) levels.push_back(text(level, "nodeLabel"));
    for (const auto level : asked.levels)
      if (std::find(levels.begin(), levels.end(), level) == levels.end())
        return "Topology " + topology_name + " has no level \"" + std::string(level) + "\", but " + joined(levels);
    if (std::none_of(nodes_.begin(), nodes_.end(),
                     [&](const Json* labels) { return has_node(*labels, member(spec, "nodeLabels"), levels); }))
      return "no Node has the labels of ResourceFlavor " + name + " and of the levels of Topology " + topology_name;
    return {};
  }

  static bool has_node(const Json& labels, const Json& wanted, const std::vector<std::string_view>& levels) {
    if (wanted.is_object())
      for (const auto& [key, value] : wanted.items())
        if (member(labels, key) != value) return false;
    return std::all_of(levels.begin(), levels.end(), [&](std::string_view level) { return member(labels, level).is_string(); });
  }

  template <class Range>
  static std::string joined(const Range& names) {
    std::string out;
    for (const auto& name : names) (out += out.empty() ? "" : ", ") += name;
    return out;
  }

  GatesAlone around_;
  std::map<std::string, const Json*, std::less<>> flavors_, topologies_, queues_;
  std::map<std::string, std::string, std::less<>> local_queues_;  ///< By "namespace/name": the ClusterQueue.
  std::vector<const Json*> nodes_;                                ///< Their labels.
  std::string who_;
  std::vector<std::string> told_;
  std::size_t more_ = 0;
};

}  // namespace

std::vector<std::string> topology_notices(const connectors::manifests::Scenario& scenario, const connectors::webhooks::GateValues& gates) {
  TopologyRequests requests(gates);
  for (const auto& step : scenario.steps)
    for (const auto& object : step.apply) requests.learn(object);
  for (const auto& step : scenario.steps)
    for (const auto& object : step.apply) {
      const auto kind = text(object, "kind");
      if (kind == "Job" || kind == "JobSet" || kind == "RayJob" || kind == "RayCluster") requests.judge(object);
    }
  return std::move(requests).told();
}

}  // namespace hindsight::simulation
