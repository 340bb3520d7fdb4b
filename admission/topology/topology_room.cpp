#include "admission/topology/topology_room.hpp"

#include <algorithm>

#include "admission/model/node_match.hpp"

namespace hindsight::admission::topology {
namespace {

const Symbol pods_resource("pods");

std::string_view effect_name(TaintEffect effect) { return effect == TaintEffect::no_execute ? "NoExecute" : "NoSchedule"; }

std::string words_of(const OwnedTaint& taint) {
  std::string out = "taint \"" + taint.key;
  if (!taint.value.empty()) out += "=" + taint.value;
  return out.append(":").append(effect_name(taint.effect)).append("\"");
}

bool takes_part(const NodeConfig& node, const FlavorConfig& flavor) {
  return node.ready && !node.unschedulable && carries(node, flavor.node_labels);
}

/// The first reason for which no pod of this shape may stand on the node; empty: it may.
std::string exclusion(const NodeConfig& node, const PodShape& shape, const std::vector<OwnedToleration>& tolerations) {
  for (const auto& taint : node.taints)
    if (!tolerated(taint, shape.tolerations) && !tolerated(taint, tolerations)) return words_of(taint);
  if (!selects(shape, node)) return "nodeSelector";
  if (!affine(shape, node)) return "affinity";
  return {};
}

}  // namespace

PodRequest request_of(const PodSetInfo& pod_set) {
  PodRequest out;
  for (const auto& r : pod_set.pod_requests.empty() ? pod_set.requests : pod_set.pod_requests)
    if (r.resource != pods_resource) out.emplace_back(r.resource, r.amount);
  const auto at = std::lower_bound(out.begin(), out.end(), pods_resource, [](const auto& r, Symbol s) { return ByText{}(r.first, s); });
  out.insert(at, {pods_resource, 1});
  return out;
}

TopologyRoom::TopologyRoom(std::span<const FlavorConfig* const> flavors,
                           const std::map<Symbol, std::vector<std::string>, ByText>& topologies, const Nodes& nodes, bool scored)
    : scored_(scored) {
  for (const FlavorConfig* config : flavors) {
    const auto topology = topologies.find(config->topology);
    if (config->topology.empty() || topology == topologies.end()) continue;
    std::vector<Symbol> levels;
    for (const auto& level : topology->second) levels.emplace_back(level);
    std::vector<TopologyTree::Node> members;
    for (const auto& [name, node] : nodes) {
      if (!takes_part(*node, *config)) continue;
      TopologyTree::Node member{std::string(name.text()), {}, node->allocatable};
      for (auto& [resource, amount] : member.allocatable)
        for (const auto& [used, by_others] : node->used)
          if (used == resource) amount = subtract(amount, by_others);
      for (const Symbol& level : levels)
        if (node->has_label(level)) member.values.emplace_back(node->label(level));
      if (member.values.size() == levels.size()) members.push_back(std::move(member));
    }
    Flavor flavor{config->name, config->topology, TopologyTree::build(topology->second, std::move(members)), config->tolerations, {},
                  false};
    if (flavor.tree.by_host()) {
      flavor.nodes.resize(flavor.tree.leaves());
      for (const auto& [name, node] : nodes) {  // by name: of several with one host name the first speaks for it
        if (!takes_part(*node, *config)) continue;
        const std::string host(node->label(levels.back()));
        const auto leaf = flavor.tree.find_leaf(std::span(&host, 1));
        if (!leaf || flavor.nodes[*leaf] != nullptr) continue;
        flavor.nodes[*leaf] = node;
        flavor.tainted |= std::any_of(node->taints.begin(), node->taints.end(), [](const OwnedTaint& t) { return !tolerated(t, {}); });
      }
    }
    flavors_.push_back(std::move(flavor));
  }
  std::sort(flavors_.begin(), flavors_.end(), [](const Flavor& a, const Flavor& b) { return ByText{}(a.name, b.name); });
  for (const Flavor& f : flavors_) free_.push_back(f.tree.capacity());
  unused_ = free_;
  filters_.resize(flavors_.size());
}

std::optional<std::uint32_t> TopologyRoom::find(Symbol flavor) const {
  for (std::uint32_t i = 0; i < flavors_.size(); ++i)
    if (flavors_[i].name == flavor) return i;
  return {};
}

// ---- who holds what ---------------------------------------------------------------------------------------------------------------

void TopologyRoom::add_use(Holding& holding, Holding::Use use) const {
  holding.uses.push_back(use);
  const Flavor& own = flavors_[use.flavor];
  if (!own.tree.by_host() || flavors_.size() == 1) return;
  const auto host = own.tree.path(own.tree.lowest(), use.leaf);
  for (std::uint32_t other = 0; other < flavors_.size(); ++other) {
    if (other == use.flavor || !flavors_[other].tree.by_host()) continue;
    if (const auto leaf = flavors_[other].tree.find_leaf(host)) holding.uses.push_back({other, *leaf, use.pods, use.request});
  }
}

Holding TopologyRoom::holding_of(const Reservation& reservation) const {
  static const Symbol hostname("kubernetes.io/hostname");
  Holding out;
  const auto& asked = reservation.workload->pod_sets.value();
  for (const PodSetReservation& p : reservation.pod_sets) {
    if (p.topology.empty()) continue;
    const auto info = std::find_if(asked.begin(), asked.end(), [&](const PodSetInfo& s) { return s.name == p.pod_set; });
    if (info == asked.end() || info->count == 0) continue;
    const auto request = static_cast<std::uint32_t>(out.requests.size());
    out.requests.push_back(request_of(*info));
    const TopologyAssignment& where = p.topology;
    const bool hosts = where.levels.size() == 1 && where.levels.front() == hostname;
    for (std::size_t i = 0; i < where.size(); ++i) {
      std::vector<std::string> path;
      for (const Symbol& value : where.domain(i)) path.emplace_back(value.text());
      for (std::uint32_t f = 0; f < flavors_.size(); ++f) {
        const bool own = std::any_of(p.flavors.begin(), p.flavors.end(), [&](const auto& c) { return c.second == flavors_[f].name; });
        if (hosts ? !flavors_[f].tree.by_host() : !own || flavors_[f].tree.by_host()) continue;
        if (const auto leaf = flavors_[f].tree.find_leaf(path)) out.uses.push_back({f, *leaf, where.counts[i], request});
      }
    }
  }
  return out;
}

void TopologyRoom::reserve(const Reservation& reservation) {
  const WorkloadId id = reservation.workload->id;
  release(id);
  Holding holding = holding_of(reservation);
  if (holding.uses.empty()) return;
  take(free_, holding);
  holdings_.emplace(id, std::move(holding));
}

void TopologyRoom::release(WorkloadId workload) {
  const auto it = holdings_.find(workload);
  if (it == holdings_.end()) return;
  take(free_, it->second, -1);
  holdings_.erase(it);
}

// ---- on trial -----------------------------------------------------------------------------------------------------------------------

void TopologyRoom::take(State& state, const Holding& holding, int sign) {
  for (const auto& use : holding.uses)
    for (const auto& [resource, amount] : holding.requests[use.request]) {
      const Amount all = multiply(amount, use.pods);
      state[use.flavor].change(resource, use.leaf, sign > 0 ? subtract(0, all) : all);
    }
}

bool TopologyRoom::take(State& state, WorkloadId workload, int sign) const {
  const auto it = holdings_.find(workload);
  if (it == holdings_.end()) return false;
  take(state, it->second, sign);
  return true;
}

bool TopologyRoom::fits(State& state, const Holding& holding) {
  take(state, holding);
  const bool out = std::all_of(holding.uses.begin(), holding.uses.end(), [&](const Holding::Use& use) {
    const auto& request = holding.requests[use.request];
    return std::all_of(request.begin(), request.end(), [&](const auto& r) {
      return r.second == 0 || (state[use.flavor].column(r.first) != nullptr && state[use.flavor].at(r.first, use.leaf) >= 0);
    });
  });
  take(state, holding, -1);
  return out;
}

std::shared_ptr<const TopologyRoom::Filter> TopologyRoom::filter(std::uint32_t number, const Interned<PodShape>& shape) {
  static const auto none = std::make_shared<const Filter>();
  const Flavor& flavor = flavors_[number];
  const bool prefers = scored_ && !shape->preferred.empty();
  if (flavor.nodes.empty() || (!flavor.tainted && shape->node_selector.empty() && !shape->has_affinity && !prefers)) return none;
  auto& kept = filters_[number];
  for (const auto& [known, filter] : kept)
    if (known == shape) return filter;
  auto out = std::make_shared<Filter>();
  out->excluded.resize(flavor.nodes.size());
  for (std::size_t leaf = 0; leaf < flavor.nodes.size(); ++leaf) {
    if (prefers) out->scores.push_back(affinity_score(*shape, *flavor.nodes[leaf]));
    auto why = exclusion(*flavor.nodes[leaf], *shape, flavor.tolerations);
    if (why.empty()) continue;
    out->excluded[leaf] = 1;
    ++out->reasons[std::move(why)];
  }
  if (kept.size() == filters_kept) kept.clear();
  return kept.emplace_back(shape, std::move(out)).second;
}

TopologyAssignment TopologyRoom::assignment(std::uint32_t flavor, std::span<const std::pair<DomainIndex, std::int32_t>> pods) const {
  const TopologyTree& tree = flavors_[flavor].tree;
  TopologyAssignment out;
  if (tree.by_host())
    out.levels.emplace_back(tree.levels().back());
  else
    for (const auto& level : tree.levels()) out.levels.emplace_back(level);
  for (const auto& [leaf, n] : pods) {
    for (const auto& value : tree.path(tree.lowest(), leaf)) out.values.emplace_back(value);
    out.counts.push_back(n);
  }
  return out;
}

}  // namespace hindsight::admission::topology
