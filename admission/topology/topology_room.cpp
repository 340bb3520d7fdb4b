#include "admission/topology/topology_room.hpp"

#include <algorithm>

#include "admission/model/node_match.hpp"

namespace hindsight::admission::topology {
namespace {

const Symbol pods_resource("pods"), host_level("kubernetes.io/hostname");

std::string_view effect_name(TaintEffect effect) { return effect == TaintEffect::no_execute ? "NoExecute" : "NoSchedule"; }

std::string words_of(const OwnedTaint& taint) {
  std::string out = "taint \"" + taint.key;
  if (!taint.value.empty()) out += "=" + taint.value;
  return out.append(":").append(effect_name(taint.effect)).append("\"");
}

bool takes_part(const NodeConfig& node, const std::vector<std::pair<Symbol, std::string>>& flavor_labels) {
  return node.ready && !node.unschedulable && carries(node, flavor_labels);
}

/// Its value at each level; empty: it lacks one.
std::vector<std::string> values_of(const NodeConfig& node, const std::vector<Symbol>& levels) {
  std::vector<std::string> out;
  for (const Symbol& level : levels) {
    if (!node.has_label(level)) return {};
    out.emplace_back(node.label(level));
  }
  return out;
}

/// Appends them. False: it lacks one.
bool append_values(const NodeConfig& node, const std::vector<Symbol>& levels, std::vector<Symbol>& out) {
  for (const Symbol& level : levels) {
    if (!node.has_label(level)) return false;
    if (level == host_level && !node.labels.hostname.empty())
      out.push_back(node.labels.hostname);
    else
      out.emplace_back(node.label(level));
  }
  return true;
}

/// What others leave of it.
AmountList offer_of(const NodeConfig& node) {
  AmountList out = node.allocatable;
  for (auto& [resource, amount] : out)
    for (const auto& [used, by_others] : node.used.value())
      if (used == resource) amount = subtract(amount, by_others);
  return out;
}

bool has_taints(const NodeConfig& node) {
  return std::any_of(node.taints.begin(), node.taints.end(), [](const OwnedTaint& t) { return !tolerated(t, {}); });
}

constexpr Amount amount_max = Amount{1} << 60;  // sums of larger ones stop at the limits, and what has been added cannot be taken off

bool can_follow(Amount amount) { return amount <= amount_max && amount >= -amount_max; }

/// Sorts the hosts by leaf; those of a leaf stay in their order.
void set_hosts(TopologyRoom::Flavor& flavor, std::span<const std::shared_ptr<const NodeConfig>* const> nodes,
               std::span<const DomainIndex> leaf_of) {
  flavor.first_host.assign(flavor.tree.leaves() + 1, 0);
  for (DomainIndex leaf = 0; leaf < flavor.tree.leaves(); ++leaf)
    flavor.first_host[leaf + 1] = flavor.first_host[leaf] + flavor.nodes_on[leaf];
  flavor.hosts.resize(nodes.size());
  std::vector<DomainIndex> next = flavor.first_host;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    flavor.hosts[next[leaf_of[i]]++] = *nodes[i];
    flavor.tainted |= has_taints(**nodes[i]);
  }
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
  const auto at =
      std::lower_bound(out.begin(), out.end(), pods_resource, [](const auto& r, const Symbol& s) { return ByText{}(r.first, s); });
  out.insert(at, {pods_resource, 1});
  return out;
}

TopologyRoom::TopologyRoom(std::span<const FlavorConfig* const> flavors,
                           const std::map<Symbol, std::vector<std::string>, ByText>& topologies, const Nodes& nodes, Rules rules)
    : rules_(rules) {
  std::vector<std::pair<Flavor, FreeLeaves>> made;
  for (const FlavorConfig* config : flavors) {
    const auto topology = topologies.find(config->topology);
    if (config->topology.empty() || topology == topologies.end()) continue;
    Flavor flavor;
    flavor.name = config->name;
    flavor.topology = config->topology;
    flavor.tolerations = config->tolerations;
    flavor.node_labels = config->node_labels;
    for (const auto& level : topology->second) flavor.levels.emplace_back(level);
    std::vector<Symbol> values;
    std::vector<const std::shared_ptr<const NodeConfig>*> taking_part;
    for (const auto& [name, node] : nodes) {
      if (!takes_part(*node, flavor.node_labels)) continue;
      const std::size_t so_far = values.size();
      if (append_values(*node, flavor.levels, values))
        taking_part.push_back(&node);
      else
        values.resize(so_far);
    }
    std::vector<DomainIndex> leaf_of;
    flavor.tree = TopologyTree::build(topology->second, std::move(values), leaf_of);
    const bool by_host = flavor.tree.by_host();
    flavor.nodes_on.resize(flavor.tree.leaves());
    if (by_host) flavor.nodes.resize(flavor.tree.leaves());
    Capacity capacity(flavor.tree.leaves());
    for (std::size_t i = 0; i < taking_part.size(); ++i) {  // by name: of several with one host name the first speaks for it
      const auto& node = *taking_part[i];
      const DomainIndex leaf = leaf_of[i];
      ++flavor.nodes_on[leaf];
      if (by_host && flavor.nodes[leaf] == nullptr) {
        flavor.nodes[leaf] = node;
        flavor.tainted |= has_taints(*node);
      }
      flavor.set_member(node->name, leaf, node);
      for (const auto& [resource, amount] : offer_of(*node)) capacity.add(resource, leaf, amount);
    }
    std::optional<HostRoom> hosts;
    if (!by_host && rules_.count_hosts) {
      set_hosts(flavor, taking_part, leaf_of);
      Capacity offer(flavor.hosts.size());
      for (DomainIndex h = 0; h < flavor.hosts.size(); ++h)
        for (const auto& [resource, amount] : offer_of(*flavor.hosts[h])) offer.add(resource, h, amount);
      hosts.emplace(flavor.first_host, std::move(offer));
    }
    made.emplace_back(std::move(flavor), FreeLeaves(std::move(capacity), std::move(hosts)));
  }
  std::sort(made.begin(), made.end(), [](const auto& a, const auto& b) { return ByText{}(a.first.name, b.first.name); });
  for (auto& [flavor, free] : made) {
    flavors_.push_back(std::move(flavor));
    free_.push_back(std::move(free));
  }
  unused_ = free_;
  filters_.resize(flavors_.size());
}

std::optional<TopologyRoom::Flavor::Member> TopologyRoom::Flavor::member(const Symbol& node) const {
  if (const auto it = members.find(node); it != members.end()) return it->second;
  if (nodes.empty()) return {};
  const auto leaf = tree.find_leaf(std::span(&node, 1));
  if (!leaf || nodes[*leaf] == nullptr || nodes[*leaf]->name != node) return {};
  return Member{*leaf, nodes[*leaf]};
}

void TopologyRoom::Flavor::set_member(const Symbol& node, DomainIndex leaf, const std::shared_ptr<const NodeConfig>& config) {
  const bool stands_there = !nodes.empty() && nodes[leaf] == config && tree.name(leaf) == node;
  if (config == nullptr || stands_there)
    members.erase(node);
  else
    members[node] = {leaf, config};
}

// ---- nodes come and go --------------------------------------------------------------------------------------------------------------

bool TopologyRoom::follow(const Symbol& name, const std::shared_ptr<const NodeConfig>& node) {
  for (std::uint32_t f = 0; f < flavors_.size(); ++f)
    if (!follow(f, name, node)) return false;
  return true;
}

bool TopologyRoom::follow(std::uint32_t number, const Symbol& name, const std::shared_ptr<const NodeConfig>& node) {
  Flavor& flavor = flavors_[number];
  const bool by_host = flavor.tree.by_host();
  const auto known = flavor.member(name);
  std::vector<std::string> values;
  if (node != nullptr && takes_part(*node, flavor.node_labels)) values = values_of(*node, flavor.levels);
  if (!known && values.empty()) return true;

  std::optional<DomainIndex> leaf;
  if (known)
    leaf = known->leaf;
  else
    leaf = flavor.tree.find_leaf(by_host ? std::span(&values.back(), 1) : std::span(values));
  if (!leaf || (!values.empty() && !flavor.tree.is_at(*leaf, values))) return false;
  // Of several nodes with one host name the first speaks for it: these are rare, and not followed one by one.
  if (by_host && flavor.nodes_on[*leaf] > (known ? 1U : 0U)) return false;

  const std::shared_ptr<const NodeConfig> before = known ? known->node : nullptr;
  const std::shared_ptr<const NodeConfig> after = values.empty() ? nullptr : node;
  if (!flavor.hosts.empty()) return follow_host(flavor, number, *leaf, before, after);
  const auto count = [&](const NodeConfig* config, int sign) {
    if (config == nullptr) return true;
    for (const auto& [resource, amount] : offer_of(*config)) {
      if (unused_[number].capacity().column(resource) == nullptr || !can_follow(amount)) return false;
      for (State* state : {&free_, &unused_}) (*state)[number].change(resource, *leaf, sign > 0 ? amount : -amount);
    }
    return true;
  };
  if (!count(before.get(), -1) || !count(after.get(), 1)) return false;
  for (State* state : {&free_, &unused_}) (*state)[number].touch(*leaf);

  if (before != nullptr && after == nullptr) {
    --flavor.nodes_on[*leaf];
  } else if (after != nullptr && before == nullptr) {
    ++flavor.nodes_on[*leaf];
  }
  if (by_host) flavor.nodes[*leaf] = after;
  flavor.set_member(name, *leaf, after);
  const bool was_absent = !flavor.absent.empty() && flavor.absent[*leaf] != 0, is_absent = flavor.nodes_on[*leaf] == 0;
  if (was_absent != is_absent) {
    flavor.absent.resize(flavor.tree.leaves());
    flavor.absent[*leaf] = is_absent ? 1 : 0;
    flavor.absences += is_absent ? 1 : -std::size_t{1};
    if (flavor.absences > flavor.tree.leaves() / 4 + 64) return false;  // they would only cost time
  }
  if (by_host) {
    flavor.tainted |= after != nullptr && has_taints(*after);
    filter_again(number, *leaf, before.get(), after.get());
  }
  return true;
}

/// What it has may change; with everything else the order of hosts does, or what filters say of them.
bool TopologyRoom::follow_host(Flavor& flavor, std::uint32_t number, DomainIndex leaf, const std::shared_ptr<const NodeConfig>& before,
                               const std::shared_ptr<const NodeConfig>& after) {
  if (before == nullptr || after == nullptr || !(before->labels == after->labels) || before->taints != after->taints) return false;
  const auto first = flavor.hosts.begin() + flavor.first_host[leaf], last = flavor.hosts.begin() + flavor.first_host[leaf + 1];
  const auto at = std::find(first, last, before);
  if (at == last) return false;
  const auto host = static_cast<DomainIndex>(at - flavor.hosts.begin());
  AmountList changes = offer_of(*after);
  for (const auto& [resource, amount] : offer_of(*before)) {
    const auto same = std::find_if(changes.begin(), changes.end(), [&r = resource](const auto& c) { return c.first == r; });
    if (!can_follow(amount) || (same != changes.end() && !can_follow(same->second))) return false;
    if (same != changes.end())
      same->second -= amount;
    else
      changes.emplace_back(resource, -amount);
  }
  for (const auto& [resource, amount] : changes)
    if (!can_follow(amount) || unused_[number].capacity().column(resource) == nullptr) return false;
  for (const auto& [resource, amount] : changes)
    for (State* state : {&free_, &unused_})
      if (amount != 0) (*state)[number].change_host(resource, leaf, host, amount);
  *at = after;
  flavor.set_member(after->name, leaf, after);
  return true;
}

void TopologyRoom::filter_again(std::uint32_t number, DomainIndex leaf, const NodeConfig* before, const NodeConfig* after) {
  if (before != nullptr && after != nullptr && before->labels == after->labels && before->taints == after->taints) return;
  for (auto& [shape, filter] : filters_[number]) {
    const auto why_not = [&, &shape = shape](const NodeConfig* node) {
      return node == nullptr ? std::string() : exclusion(*node, *shape, flavors_[number].tolerations);
    };
    if (const auto why = why_not(before); !why.empty())
      if (const auto it = filter->reasons.find(why); --it->second == 0) filter->reasons.erase(it);
    const auto why = why_not(after);
    if (!why.empty()) ++filter->reasons[why];
    filter->excluded[leaf] = why.empty() ? 0 : 1;
    if (!filter->scores.empty()) filter->scores[leaf] = after == nullptr ? 0 : affinity_score(*shape, *after);
  }
}

std::optional<std::uint32_t> TopologyRoom::find(const Symbol& flavor) const {
  for (std::uint32_t i = 0; i < flavors_.size(); ++i)
    if (flavors_[i].name == flavor) return i;
  return {};
}

// ---- who holds what ---------------------------------------------------------------------------------------------------------------

void TopologyRoom::add_use(Holding& holding, Holding::Use use) const {
  holding.uses.push_back(use);
  const Flavor& own = flavors_[use.flavor];
  if (!own.tree.by_host() || flavors_.size() == 1) return;
  const std::span host(&own.tree.name(use.leaf), 1);
  for (std::uint32_t other = 0; other < flavors_.size(); ++other) {
    if (other == use.flavor || !flavors_[other].tree.by_host()) continue;
    if (const auto leaf = flavors_[other].tree.find_leaf(host)) holding.uses.push_back({other, *leaf, use.pods, use.request});
  }
}

Holding TopologyRoom::holding_of(const Reservation& reservation) {
  Holding out;
  const auto& asked = reservation.workload->pod_sets.value();
  for (const PodSetReservation& p : reservation.effective.empty() ? reservation.pod_sets : reservation.effective) {
    if (p.topology.empty()) continue;
    const auto info = std::find_if(asked.begin(), asked.end(), [&](const PodSetInfo& s) { return s.name == p.pod_set; });
    if (info == asked.end() || info->count == 0) continue;
    const auto request = static_cast<std::uint32_t>(out.requests.size());
    out.requests.push_back({request_of(*info), nullptr});
    std::vector<std::pair<std::uint32_t, std::uint32_t>> on_hosts;  // flavors whose hosts count, and the request with their filter
    const auto request_in = [&](std::uint32_t flavor) {
      if (flavors_[flavor].hosts.empty()) return request;
      for (const auto& [known, number] : on_hosts)
        if (known == flavor) return number;
      const auto number = static_cast<std::uint32_t>(out.requests.size());
      out.requests.push_back({out.requests[request].pods, filter(flavor, info->shape)});
      on_hosts.emplace_back(flavor, number);
      return number;
    };
    const TopologyAssignment& where = p.topology;
    const bool hosts = where.levels.size() == 1 && where.levels.front() == host_level;
    for (std::size_t i = 0; i < where.size(); ++i) {
      for (std::uint32_t f = 0; f < flavors_.size(); ++f) {
        const bool own = std::any_of(p.flavors.begin(), p.flavors.end(), [&](const auto& c) { return c.second == flavors_[f].name; });
        if (hosts ? !flavors_[f].tree.by_host() : !own || flavors_[f].tree.by_host()) continue;
        if (const auto leaf = flavors_[f].tree.find_leaf(where.domain(i))) out.uses.push_back({f, *leaf, where.counts[i], request_in(f)});
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

namespace {

const LeafFilter& filter_of(const Holding::Request& request) {
  static const LeafFilter none;
  return request.filter == nullptr ? none : *request.filter;
}

}  // namespace

void TopologyRoom::take(State& state, const Holding& holding, int sign) {
  for (const auto& use : holding.uses) {
    const Holding::Request& request = holding.requests[use.request];
    state[use.flavor].take(request.pods, use.leaf, sign * use.pods, filter_of(request));
  }
}

bool TopologyRoom::take(State& state, WorkloadId workload, int sign) const {
  const auto it = holdings_.find(workload);
  if (it == holdings_.end()) return false;
  take(state, it->second, sign);
  return true;
}

bool TopologyRoom::fits(State& state, const Holding& holding) {
  bool hosts_do = true;
  for (const auto& use : holding.uses) {
    const Holding::Request& request = holding.requests[use.request];
    hosts_do = hosts_do && state[use.flavor].has_hosts_for(use.pods, use.leaf, request.pods, filter_of(request));
    state[use.flavor].take(request.pods, use.leaf, use.pods, filter_of(request));
  }
  const bool out = hosts_do && std::all_of(holding.uses.begin(), holding.uses.end(), [&](const Holding::Use& use) {
                     const auto& request = holding.requests[use.request].pods;
                     return std::all_of(request.begin(), request.end(), [&](const auto& r) {
                       return r.second == 0 || (state[use.flavor].capacity().column(r.first) != nullptr &&
                                                state[use.flavor].capacity().at(r.first, use.leaf) >= 0);
                     });
                   });
  take(state, holding, -1);
  return out;
}

std::shared_ptr<const TopologyRoom::Filter> TopologyRoom::filter(std::uint32_t number, const Interned<PodShape>& shape) {
  static const auto none = std::make_shared<const Filter>();
  const Flavor& flavor = flavors_[number];
  const bool prefers = rules_.scored && !shape->preferred.empty();
  if ((flavor.nodes.empty() && flavor.hosts.empty()) ||
      (!flavor.tainted && shape->node_selector.empty() && !shape->has_affinity && !prefers))
    return none;
  auto& kept = filters_[number];
  for (const auto& [known, filter] : kept)
    if (known == shape) return filter;
  auto out = std::make_shared<Filter>();
  out->excluded.resize(flavor.nodes.size());
  if (prefers) out->scores.resize(flavor.nodes.size());
  for (std::size_t leaf = 0; leaf < flavor.nodes.size(); ++leaf) {
    if (flavor.nodes[leaf] == nullptr) continue;
    if (prefers) out->scores[leaf] = affinity_score(*shape, *flavor.nodes[leaf]);
    auto why = exclusion(*flavor.nodes[leaf], *shape, flavor.tolerations);
    if (why.empty()) continue;
    out->excluded[leaf] = 1;
    ++out->reasons[std::move(why)];
  }
  if (!flavor.hosts.empty()) {
    out->excluded.resize(flavor.tree.leaves());
    out->excluded_hosts.resize(flavor.hosts.size());
    if (prefers) out->scores.resize(flavor.tree.leaves());
    for (DomainIndex leaf = 0; leaf < flavor.tree.leaves(); ++leaf) {
      for (DomainIndex h = flavor.first_host[leaf]; h < flavor.first_host[leaf + 1]; ++h) {
        const NodeConfig& host = *flavor.hosts[h];
        if (!exclusion(host, *shape, flavor.tolerations).empty())
          out->excluded_hosts[h] = 1;
        else if (prefers)
          out->scores[leaf] = add(out->scores[leaf], affinity_score(*shape, host));
      }
      auto why = why_excluded(number, *shape, leaf);
      if (why.empty()) continue;
      out->excluded[leaf] = 1;
      ++out->reasons[std::move(why)];
    }
  }
  if (kept.size() == filters_kept) kept.clear();
  return kept.emplace_back(shape, std::move(out)).second;
}

tl::expected<Placement, Misfit> TopologyRoom::place(State& state, std::uint32_t number, const PlacementRules& rules, const Gang& gang,
                                                    const std::shared_ptr<const Filter>& workers,
                                                    const std::shared_ptr<const Filter>& leader, Explain explain) const {
  const Flavor& flavor = flavors_[number];
  const Offers& offers = state[number].offers(flavor.tree, question_of(flavor.tree, rules, gang), workers, leader, flavor.absent);
  return topology::place(flavor.tree, offers, rules, gang, explain);
}

std::shared_ptr<FirstCount> TopologyRoom::first_count(std::uint32_t number, const PlacementRules& rules, const Gang& gang,
                                                      const std::shared_ptr<const Filter>& workers,
                                                      const std::shared_ptr<const Filter>& leader) const {
  const Flavor& flavor = flavors_[number];
  return free_[number].first_count(flavor.tree, question_of(flavor.tree, rules, gang), workers, leader, flavor.absent);
}

void TopologyRoom::keep(std::uint32_t number, FirstCount&& counted) { free_[number].keep(std::move(counted)); }

std::size_t TopologyRoom::largest() const {
  std::size_t out = 0;
  for (const Flavor& f : flavors_) out = std::max(out, f.tree.leaves());
  return out;
}

std::string TopologyRoom::why_excluded(std::uint32_t flavor, const PodShape& shape, DomainIndex leaf) const {
  const Flavor& f = flavors_[flavor];
  if (!f.hosts.empty()) {  // all of them are: what is said of the first
    for (DomainIndex h = f.first_host[leaf]; h < f.first_host[leaf + 1]; ++h)
      if (exclusion(*f.hosts[h], shape, f.tolerations).empty()) return {};
    return exclusion(*f.hosts[f.first_host[leaf]], shape, f.tolerations);
  }
  return f.nodes.empty() || f.nodes[leaf] == nullptr ? std::string() : exclusion(*f.nodes[leaf], shape, f.tolerations);
}

std::map<WorkloadId, std::vector<DomainIndex>> TopologyRoom::leaves_of_holders(std::uint32_t flavor) const {
  std::map<WorkloadId, std::vector<DomainIndex>> out;
  for (const auto& [id, holding] : holdings_)
    for (const auto& use : holding.uses)
      if (use.flavor == flavor) out[id].push_back(use.leaf);
  return out;
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
