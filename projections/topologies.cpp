#include "projections/topologies.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "admission/domain/domain.hpp"
#include "admission/model/node_match.hpp"
#include "admission/topology/node_health.hpp"
#include "admission/topology/topology_room.hpp"
#include "admission/workload/workload_parent.hpp"
#include "events/decision_fields.hpp"
#include "projections/format.hpp"
#include "projections/gang_room.hpp"
#include "projections/left_out_nodes.hpp"

namespace hindsight::projections {
namespace {

using admission::NodeConfig;

/// "cpu 12/32, nvidia.com/gpu 0/8": what is free of what there is.
std::string free_text(const NodeShare& share) {
  std::vector<std::string> parts;
  for (const auto& [resource, all] : share.allocatable)
    if (resource != "pods" && all != 0)
      parts.push_back(resource + " " + format_amount(share.free(resource), resource) + "/" + format_amount(all, resource));
  return joined(parts, ", ");
}

std::string whose_text(const NodeShare& share) {
  std::vector<std::string> parts;
  for (const auto& [name, pods] : share.whose) parts.push_back(name + " x" + std::to_string(pods));
  return joined(parts, ", ");
}

Json amounts(const NodeShare::Amounts& all) {
  Json out = Json::object();
  for (const auto& [resource, amount] : all) out[resource] = format_amount(amount, resource);
  return out;
}

NodeShare::Amounts own(const std::vector<std::pair<Symbol, Amount>>& list) {
  NodeShare::Amounts out;
  for (const auto& [resource, amount] : list) out[std::string(resource.text())] = amount;
  return out;
}

/// What there is, who has it and what is free, as values.
Json node_share_json(const NodeShare& share) {
  NodeShare::Amounts free;
  for (const auto& [resource, all] : share.allocatable)
    free[resource] = resource == "pods" ? subtract(share.free(resource), share.pods) : share.free(resource);
  Json out{{"usedByOthers", amounts(share.others)}, {"placed", amounts(share.placed)}, {"free", amounts(free)}, {"podsPlaced", share.pods}};
  out["workloads"] = Json::array();
  for (const auto& [name, pods] : share.whose) {
    const auto slash = name.find('/');
    Json one = Json::object();
    if (slash != std::string::npos) one["namespace"] = name.substr(0, slash);
    one["name"] = slash == std::string::npos ? name : name.substr(slash + 1);
    one["pods"] = pods;
    out["workloads"].push_back(std::move(one));
  }
  return out;
}

std::string status_of(const NodeConfig& node) {
  std::string out = node.ready ? "Ready" : node.silent ? "Unknown" : "NotReady";
  if (node.unschedulable) out += ",SchedulingDisabled";
  return out;
}

std::vector<std::string> taints_of(const NodeConfig& node) {
  std::vector<std::string> out;
  for (const auto& t : node.taints)
    out.push_back(t.key + (t.value.empty() ? "" : "=" + t.value) + ":" + std::string(events::api_name(t.effect)));
  return out;
}

/// Flavors with a topology whose pods may stand on the node.
std::vector<std::string> flavors_of(const StateView& state, const NodeConfig& node) {
  std::vector<std::string> out;
  for (const auto& [name, flavor] : state.domain().catalog()->flavors)
    if (!flavor->topology.empty() && takes_part(state, node, *flavor)) out.emplace_back(name.text());
  return out;
}

/// For each flavor with a topology whose pods may not stand on the node, why: "gpu: no label rack".
std::vector<std::string> left_out_of(const StateView& state, const NodeConfig& node) {
  std::vector<std::string> out;
  for (const auto& [name, flavor] : state.domain().catalog()->flavors) {
    if (flavor->topology.empty()) continue;
    if (const auto why = why_left_out(state, node, *flavor); !why.empty()) out.push_back(text(name) + ": " + why);
  }
  return out;
}

/// What one pod of a pod set takes of its node.
admission::topology::PodRequest request_of(const admission::WorkloadState& w, const Symbol& pod_set) {
  for (const auto& s : w.pod_sets.value()) {
    if (s.name != pod_set) continue;
    admission::topology::PodRequest out;
    for (const auto& r : s.requests) out.emplace_back(r.resource, r.amount);
    return out;
  }
  return {};
}

}  // namespace

Amount NodeShare::free(const std::string& resource) const {
  const auto of = [&](const Amounts& list) {
    const auto it = list.find(resource);
    return it == list.end() ? Amount{0} : it->second;
  };
  return subtract(subtract(of(allocatable), of(others)), of(placed));
}

void NodeShare::add(const NodeShare& other) {
  const auto sum = [](Amounts& mine, const Amounts& more) {
    for (const auto& [resource, amount] : more) mine[resource] = hindsight::add(mine[resource], amount);
  };
  sum(allocatable, other.allocatable);
  sum(others, other.others);
  sum(placed, other.placed);
  pods += other.pods;
  for (const auto& [name, n] : other.whose) whose[name] += n;
}

std::map<std::string, NodeShare> node_shares(const StateView& state) {
  const auto context = state.domain().context();
  static const Symbol hostname(admission::topology::hostname_label);
  std::map<std::string, NodeShare> out;
  for (const auto& [name, node] : state.domain().nodes()) {
    NodeShare& share = out[std::string(name.text())];
    share.allocatable = own(node->allocatable);
    share.others = own(node->used);
  }
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr) continue;
    for (const auto& w : parent->workloads()) {
      if (!w.reserved() || w.finished() || !w.active) continue;
      for (const auto& p : w.admission->pod_sets) {
        const admission::TopologyAssignment& where = p.topology;
        if (where.empty() || where.levels.back() != hostname) continue;
        const auto request = request_of(w, p.pod_set);
        for (std::size_t d = 0; d < where.size(); ++d) {
          const NodeConfig* node = admission::node_of(*context.nodes, *context.hosts, where.domain(d).back());
          if (node == nullptr) continue;
          NodeShare& share = out[std::string(node->name.text())];
          for (const auto& [resource, amount] : request) {
            Amount& sum = share.placed[std::string(resource.text())];
            sum = add(sum, multiply(amount, where.counts[d]));
          }
          share.pods += where.counts[d];
          share.whose[full_name(w.namespace_.text(), w.name)] += where.counts[d];
        }
      }
    }
  }
  return out;
}

bool takes_part(const StateView& state, const NodeConfig& node, const admission::FlavorConfig& flavor) {
  const auto& topologies = state.domain().catalog()->topologies;
  const auto levels = topologies.find(flavor.topology);
  return levels != topologies.end() && node.ready && !node.unschedulable && admission::carries(node, flavor.node_labels) &&
         std::all_of(levels->second.begin(), levels->second.end(), [&](const std::string& level) { return node.has_label(Symbol(level)); });
}

Table nodes_table(const StateView& state, const Filter& filter) {
  Table t;
  t.columns = {{"NAME"}, {"STATUS"}, {"FLAVORS"}, {"PODS PLACED", false, true}, {"FREE"}, {"WORKLOADS", true}, {"TAINTS", true}};
  const auto shares = node_shares(state);
  for (const auto& [name, node] : state.domain().nodes()) {
    if (!filter.wants_name(name.text())) continue;
    const NodeShare& share = shares.at(std::string(name.text()));
    t.rows.push_back({std::string(name.text()), Cell(status_of(*node), node->ready ? Tone::good : Tone::bad),
                      joined(flavors_of(state, *node), ","), std::to_string(share.pods), free_text(share), whose_text(share),
                      joined(taints_of(*node), ",")});
  }
  return t;
}

Json node_object(const NodeConfig& node, const NodeShare& share) {
  Json labels = Json::object();
  for (const auto& [key, value] : node.labels.all()) labels[std::string(key.text())] = std::string(std::string_view(value));
  Json out{{"apiVersion", "v1"},
           {"kind", "Node"},
           {"metadata", {{"name", node.name.text()}, {"uid", node.uid}, {"labels", std::move(labels)}}},
           {"spec", Json::object()},
           {"status", {{"allocatable", amounts(share.allocatable)}}}};
  if (node.unschedulable) out["spec"]["unschedulable"] = true;
  if (node.uid.empty()) out["metadata"].erase("uid");
  if (node.version != 0) out["metadata"]["resourceVersion"] = std::to_string(node.version);
  for (const auto& t : node.taints) {
    Json one{{"key", t.key}};
    if (!t.value.empty()) one["value"] = t.value;
    one["effect"] = events::api_name(t.effect);
    out["spec"]["taints"].push_back(std::move(one));
  }
  if (!node.silent) out["status"]["conditions"] = Json::array({{{"type", "Ready"}, {"status", node.ready ? "True" : "False"}}});
  Json& more = out["status"]["hindsight"];
  more = node_share_json(share);
  if (!node.ready && node.not_ready_since.is_set()) more["notReadySince"] = format_rfc3339(node.not_ready_since);
  return out;
}

Json node_object(const StateView& state, const NodeConfig& node, const NodeShare& share) {
  Json out = node_object(node, share);
  out["status"]["hindsight"]["flavors"] = flavors_of(state, node);
  if (const auto why = left_out_of(state, node); !why.empty()) out["status"]["hindsight"]["leftOutOf"] = why;
  return out;
}

Table topologies_table(const StateView& state, const Filter& filter) {
  Table t;
  t.columns = {{"NAME"}, {"LEVELS"}, {"FLAVORS"}, {"NODES", false, true}};
  const auto& catalog = *state.domain().catalog();
  for (const auto& [name, levels] : catalog.topologies) {
    if (!filter.wants_name(name.text())) continue;
    std::vector<std::string> flavors;
    std::int64_t nodes = 0;
    for (const auto& [flavor_name, flavor] : catalog.flavors)
      if (flavor->topology == name) flavors.emplace_back(flavor_name.text());
    for (const auto& [node_name, node] : state.domain().nodes())
      nodes += std::any_of(catalog.flavors.begin(), catalog.flavors.end(), [&, &topology = name, &n = *node](const auto& f) {
        return f.second->topology == topology && takes_part(state, n, *f.second);
      });
    t.rows.push_back({std::string(name.text()), joined(levels, ","), joined(flavors, ","), std::to_string(nodes)});
  }
  return t;
}

Json topology_object(const Symbol& name, const std::vector<std::string>& levels) {
  Json list = Json::array();
  for (const auto& level : levels) list.push_back({{"nodeLabel", level}});
  return {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
          {"kind", "Topology"},
          {"metadata", {{"name", name.text()}}},
          {"spec", {{"levels", std::move(list)}}}};
}

namespace {

/// A domain of a topology in one flavor, with all below it.
struct DomainSum {
  NodeShare share;
  std::int64_t nodes = 0, without_places = 0;
};
using DomainSums = std::map<std::vector<std::string>, DomainSum>;  // by path: a parent comes before its children

/// How many nodes take part in the flavor, and what their domains have.
std::pair<std::int64_t, DomainSums> domains_of(const StateView& state, const admission::FlavorConfig& flavor,
                                               const std::vector<std::string>& levels, const std::map<std::string, NodeShare>& shares) {
  std::pair<std::int64_t, DomainSums> out{0, {}};
  for (const auto& [node_name, node] : state.domain().nodes()) {
    if (!takes_part(state, *node, flavor)) continue;
    const NodeShare& share = shares.at(std::string(node_name.text()));
    ++out.first;
    std::vector<std::string> path;
    for (const auto& level : levels) {
      path.emplace_back(node->label(Symbol(level)));
      DomainSum& sum = out.second[path];
      sum.share.add(share);
      ++sum.nodes;
      if (share.pods == 0) ++sum.without_places;
    }
  }
  return out;
}

/// How large a gang finds room at each level, and how scattered the room is. `values`: numbers alone, for programs.
Json gangs(admission::topology::TopologyRoom& room, std::uint32_t flavor, const admission::topology::PodRequest& pod, bool values) {
  Json out = Json::array();
  for (const LevelRoom& level : gang_room(room, flavor, pod)) {
    Json one{{"level", level.level},
             {"domains", level.domains},
             {"withoutPlaces", level.empty},
             {"pods", level.pods},
             {"largestGang", level.largest}};
    if (!level.where.empty()) one["in"] = level.where;
    if (values) {
      one["podsInUsedDomains"] = level.in_used;
    } else {
      const std::int64_t share = level.pods == 0 ? 0 : 100 * level.in_used / level.pods;
      one["inUsedDomains"] = std::to_string(level.in_used) + " (" + std::to_string(share) + " %)";
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

Json topology_object(const StateView& state, const Symbol& name, const std::vector<std::string>& levels,
                     const std::optional<admission::topology::PodRequest>& pod) {
  const auto shares = node_shares(state);
  auto room = whole_room(state);
  Json flavors = Json::array();
  for (const auto& [flavor_name, flavor] : state.domain().catalog()->flavors) {
    if (flavor->topology != name) continue;
    const auto [nodes, domains] = domains_of(state, *flavor, levels, shares);
    Json one{{"name", flavor_name.text()}, {"nodes", nodes}, {"domains", Json::array()}};
    if (const auto apart = left_out_nodes(state, *flavor); !apart.empty()) one["leftOut"] = to_json(apart);
    for (const auto& [path, sum] : domains) {
      Json domain{{"values", path}, {"nodes", sum.nodes}, {"nodesWithoutPlaces", sum.without_places}};
      domain["allocatable"] = amounts(sum.share.allocatable);
      domain.update(node_share_json(sum.share));
      one["domains"].push_back(std::move(domain));
    }
    if (const auto number = room ? room->find(flavor_name) : std::nullopt; number && nodes != 0) {
      const auto measure = pod ? *pod : measuring_pod(*room, *number);
      for (const auto& [resource, amount] : measure) one["gangPod"][std::string(resource.text())] = format_amount(amount, resource.text());
      one["gangs"] = gangs(*room, *number, measure, true);
    }
    flavors.push_back(std::move(one));
  }
  Json out = topology_object(name, levels);
  out["status"] = {{"hindsight", {{"flavors", std::move(flavors)}}}};
  return out;
}

Json describe_topology(const StateView& state, const Symbol& name, const std::vector<std::string>& levels,
                       const std::optional<admission::topology::PodRequest>& pod) {
  const auto shares = node_shares(state);
  auto room = whole_room(state);
  Json out{{"name", name.text()}, {"levels", levels}, {"flavors", Json::array()}};
  for (const auto& [flavor_name, flavor] : state.domain().catalog()->flavors) {
    if (flavor->topology != name) continue;
    const auto [nodes, domains] = domains_of(state, *flavor, levels, shares);
    Json rows = Json::array();
    for (const auto& [path, sum] : domains) {
      Json row{{"domain", std::string(2 * (path.size() - 1), ' ') + path.back()},
               {"nodes", sum.nodes},
               {"withoutPlaces", sum.without_places},
               {"podsPlaced", sum.share.pods},
               {"free", free_text(sum.share)}};
      if (path.size() == levels.size()) row["workloads"] = whose_text(sum.share);
      rows.push_back(std::move(row));
    }
    Json one{{"name", flavor_name.text()}, {"nodes", nodes}};
    if (const auto apart = left_out_nodes(state, *flavor); !apart.empty()) {
      std::vector<std::string> lines;
      for (const NodeGroup& group : apart) lines.push_back(words_of(group));
      one["leftOut"] = lines;
    }
    if (const auto number = room ? room->find(flavor_name) : std::nullopt; number && nodes != 0) {
      const auto measure = pod ? *pod : measuring_pod(*room, *number);
      one["gangsOfPodsWith"] = words_of(measure);
      one["gangs"] = gangs(*room, *number, measure, false);
    }
    one["domains"] = std::move(rows);
    out["flavors"].push_back(std::move(one));
  }
  return out;
}

Json describe_node(const StateView& state, const NodeConfig& node) {
  const NodeShare share = node_shares(state)[std::string(node.name.text())];
  Json out{{"name", node.name.text()}, {"status", status_of(node)}, {"flavors", flavors_of(state, node)}, {"taints", taints_of(node)}};
  if (const auto why = left_out_of(state, node); !why.empty()) out["leftOutOf"] = why;
  if (!node.ready && node.not_ready_since.is_set()) out["notReadySince"] = format_rfc3339(node.not_ready_since);
  out["labels"] = Json::array();
  for (const auto& [key, value] : node.labels.all())
    out["labels"].push_back(std::string(key.text()) + "=" + std::string(std::string_view(value)));
  out["resources"] = Json::array();
  const auto of = [](const NodeShare::Amounts& list, const std::string& resource) {
    const auto it = list.find(resource);
    return it == list.end() ? Amount{0} : it->second;
  };
  for (const auto& [resource, all] : share.allocatable) {
    const Amount placed = resource == "pods" ? share.pods : of(share.placed, resource);
    const Amount free = resource == "pods" ? subtract(share.free(resource), share.pods) : share.free(resource);
    out["resources"].push_back({{"resource", resource},
                                {"allocatable", format_amount(all, resource)},
                                {"usedByOthers", format_amount(of(share.others, resource), resource)},
                                {"placed", format_amount(placed, resource)},
                                {"free", format_amount(free, resource)}});
  }
  out["workloads"] = Json::array();
  for (const auto& [name, pods] : share.whose) out["workloads"].push_back({{"name", name}, {"pods", pods}});
  return out;
}

}  // namespace hindsight::projections
