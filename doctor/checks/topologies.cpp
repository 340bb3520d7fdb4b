#include "doctor/checks/topologies.hpp"

#include <algorithm>
#include <utility>

#include "connectors/manifests/json_views.hpp"

namespace hindsight::doctor {
namespace {

namespace m = connectors::manifests;

constexpr std::size_t nodes_shown = 5;
constexpr std::string_view hostname = "kubernetes.io/hostname";

std::map<std::string, std::string> labels_in(const Json& object) {
  std::map<std::string, std::string> out;
  if (object.is_object())
    for (const auto& [key, value] : object.items())
      if (value.is_string()) out.emplace(key, value.get<std::string>());
  return out;
}

bool is_selected(const NodeFacts& node, const TopologyFlavorFacts& flavor) {
  return std::all_of(flavor.node_labels.begin(), flavor.node_labels.end(), [&](const auto& label) {
    const auto it = node.labels.find(label.first);
    return it != node.labels.end() && it->second == label.second;
  });
}

/// Nodes of a flavor with a topology are meant for its workloads and for daemons (TAS-133).
void judge_strangers(const TopologiesFacts& facts, const TopologyFlavorFacts& flavor, const Commands& commands, Outcome& out) {
  std::map<std::string_view, const NodeFacts*> selected;
  for (const auto& node : facts.nodes)
    if (is_selected(node, flavor)) selected.emplace(node.name, &node);
  std::vector<std::string> who;
  std::string node;
  for (const auto& pod : facts.strangers) {
    if (!selected.contains(pod.node)) continue;
    if (who.empty()) node = pod.node;
    who.push_back(pod.namespace_ + "/" + pod.name + " on " + pod.node);
  }
  if (who.empty()) return;
  out.add({Severity::warning, "ResourceFlavor " + flavor.name,
           counted(who.size(), "pod on its nodes belongs", "pods on its nodes belong") +
               " neither to a job with a queue nor to a DaemonSet or the node: " + some_of(who, nodes_shown) +
               "; what they use is counted, and nobody makes them go for a workload",
           "workloads of the flavor and daemons",
           "Keep others off these nodes by a taint that the flavor tolerates, and have these scheduled elsewhere",
           commands.kubectl("get pods --all-namespaces --output=wide --field-selector=" + as_word("spec.nodeName=" + node))});
}

/// The command that gives nodes a label; its value is for people to say, but for the name of the host.
std::string label_command(const std::vector<std::string>& nodes, const std::string& level, const Commands& commands) {
  std::string out;
  if (level == hostname) {
    for (const auto& node : nodes)
      out += (out.empty() ? "" : " && ") + commands.kubectl("label node " + as_word(node) + " " + as_word(level + "=" + node));
    return out;
  }
  for (const auto& node : nodes) out += " " + as_word(node);
  return commands.kubectl("label node" + out + " " + as_word(level) + "=VALUE");
}

}  // namespace

void note_stranger(const Json& pod, TopologiesFacts& out) {
  const Json& meta = m::member(pod, "metadata");
  const std::string node(m::text(m::member(pod, "spec"), "nodeName"));
  const auto phase = m::text(m::member(pod, "status"), "phase");
  if (node.empty() || phase == "Succeeded" || phase == "Failed") return;
  if (!m::text(m::member(meta, "labels"), "kueue.x-k8s.io/podset").empty()) return;
  const Json& owners = m::member(meta, "ownerReferences");
  const bool daemon = owners.is_array() && std::any_of(owners.begin(), owners.end(), [](const Json& owner) {
                        const auto kind = m::text(owner, "kind");
                        return kind == "DaemonSet" || kind == "Node";
                      });
  if (!daemon) out.strangers.push_back({std::string(m::text(meta, "namespace")), std::string(m::text(meta, "name")), node});
}

Outcome judge_topologies(const TopologiesFacts& facts, const Commands& commands) {
  if (facts.flavors.empty()) return skipped("no ResourceFlavor names a Topology");
  Outcome out;
  std::size_t good = 0;
  for (const auto& flavor : facts.flavors) {
    const std::string object = "ResourceFlavor " + flavor.name;
    const auto topology = facts.levels.find(flavor.topology);
    if (topology == facts.levels.end()) {
      out.add({Severity::error, object, "it names Topology " + flavor.topology + ", which is not there: its ClusterQueues are not active",
               "a Topology", "Make it; replace LEVEL by the label of nodes that tells where they stand",
               commands.apply_text(Json{{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                                        {"kind", "Topology"},
                                        {"metadata", {{"name", flavor.topology}}},
                                        {"spec", {{"levels", Json::array({{{"nodeLabel", "LEVEL"}}, {{"nodeLabel", hostname}}})}}}}
                                       .dump(-1, ' ', false, Json::error_handler_t::replace))});
      continue;
    }
    std::size_t selected = 0;
    for (const auto& node : facts.nodes) selected += is_selected(node, flavor) ? 1U : 0U;
    if (selected == 0) {
      std::vector<std::string> labels;
      for (const auto& [key, value] : flavor.node_labels) labels.push_back(key + "=" + value);
      if (facts.complete)
        out.add({Severity::warning, object,
                 "no node has its labels (" + some_of(labels, nodes_shown) + "): jobs that ask for a place get none",
                 "nodes with these labels", "Give them to the nodes that are meant, or correct the flavor; NODE is one of them",
                 labels.empty() ? commands.kubectl("get nodes --show-labels")
                                : commands.kubectl("label node NODE " + as_word(labels.front()))});
      continue;
    }
    bool whole = true;
    for (const auto& level : topology->second) {
      std::vector<std::string> lacking;
      for (const auto& node : facts.nodes)
        if (is_selected(node, flavor) && !node.labels.contains(level)) lacking.push_back(node.name);
      if (lacking.empty()) continue;
      whole = false;
      const std::vector<std::string> some(lacking.begin(),
                                          lacking.begin() + static_cast<std::ptrdiff_t>(std::min(lacking.size(), nodes_shown)));
      out.add({lacking.size() == selected ? Severity::error : Severity::warning, object,
               std::to_string(lacking.size()) + " of " + counted(selected, "node that it selects lacks", "nodes that it selects lack") +
                   " label " + level + " of Topology " + flavor.topology + ": " + some_of(lacking, nodes_shown) +
                   "; no pod is placed there",
               "a value of each level's label at every node",
               level == hostname ? "Give it to them" : "Give it to them, with the " + level + " of each in place of VALUE",
               label_command(some, level, commands)});
    }
    judge_strangers(facts, flavor, commands, out);
    good += whole ? 1U : 0U;
  }
  out.summary = std::to_string(good) + " of " + counted(facts.flavors.size(), "flavor with a topology", "flavors with a topology") +
                " complete, " + counted(facts.nodes.size(), "node", "nodes") + " looked at" + (facts.complete ? "" : "; there are more") +
                (facts.pods_unknown.empty() ? "" : "; not all pods were looked at: " + facts.pods_unknown);
  return out;
}

Outcome examine_topologies(Context& context) {
  TopologiesFacts facts;
  const auto flavors = list(*context.cluster, "/apis/kueue.x-k8s.io/v1beta2/resourceflavors", "", context.options.objects_max);
  if (!flavors) {
    if (flavors.error().kind == ErrorKind::not_found) return skipped("the cluster has no ResourceFlavors yet");
    return blind(flavors.error().message);
  }
  for (const auto& one : flavors->items) {
    const Json& spec = m::member(one, "spec");
    const std::string topology(m::text(spec, "topologyName"));
    if (!topology.empty())
      facts.flavors.push_back(
          {std::string(m::text(m::member(one, "metadata"), "name")), topology, labels_in(m::member(spec, "nodeLabels"))});
  }
  if (facts.flavors.empty()) return judge_topologies(facts, context.commands);
  const auto topologies = list(*context.cluster, "/apis/kueue.x-k8s.io/v1beta2/topologies", "", context.options.objects_max);
  if (!topologies) return blind(topologies.error().message);
  for (const auto& one : topologies->items) {
    auto& levels = facts.levels[std::string(m::text(m::member(one, "metadata"), "name"))];
    for (const auto& level : m::member(m::member(one, "spec"), "levels"))
      if (const auto label = m::text(level, "nodeLabel"); !label.empty()) levels.emplace_back(label);
  }
  const auto nodes = list(*context.cluster, "/api/v1/nodes", "", context.options.objects_max);
  if (!nodes) return blind(nodes.error().message);
  facts.complete = nodes->complete;
  for (const auto& one : nodes->items) {
    const Json& meta = m::member(one, "metadata");
    facts.nodes.push_back({std::string(m::text(meta, "name")), labels_in(m::member(meta, "labels"))});
  }
  // What has ended is left out by the server; so is what no node has.
  const auto pods =
      list(*context.cluster, "/api/v1/pods", "fieldSelector=spec.nodeName%21%3D%2Cstatus.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed",
           context.options.objects_max);
  if (!pods) {
    facts.pods_unknown = pods.error().message;
  } else {
    if (!pods->complete) facts.pods_unknown = "there are more than " + std::to_string(context.options.objects_max);
    for (const auto& pod : pods->items) note_stranger(pod, facts);
  }
  return judge_topologies(facts, context.commands);
}

}  // namespace hindsight::doctor
