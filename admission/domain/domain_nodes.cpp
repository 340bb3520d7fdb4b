// How the domain folds nodes: which there are, who stands on them, what others use of them (2724 §4.9).

#include <algorithm>

#include "admission/domain/domain.hpp"
#include "admission/model/node_match.hpp"
#include "admission/topology/node_health.hpp"

namespace hindsight::admission {

/// Whatever a node can have room for is tried again (TAS-18); a heartbeat changes nothing (TAS-19).
void Domain::apply(const NodeObserved& o, Outbox& out) {
  auto config = to_config(o);
  const auto known = nodes_.find(config.name);
  // What another connector had under way may come later than what its successor saw (rule 4).
  if (known == nodes_.end() ? seen_.is_of_the_gone(ObjectKind::node, o.meta)
                            : config.version != 0 && config.version < known->second->version)
    return;
  config.used = used_of(config.name);
  auto& mine = known == nodes_.end() ? nodes_[config.name] : known->second;
  if (!config.ready) config.not_ready_since = mine != nullptr && !mine->ready ? mine->not_ready_since : now_;
  if (mine != nullptr && mine->says_the_same_as(config)) {
    if (mine->version == config.version) return;
    mine = std::make_shared<const NodeConfig>(std::move(config));
    node_has_changed(mine->name);
    return;
  }
  const auto before = std::exchange(mine, std::make_shared<const NodeConfig>(std::move(config)));
  if (before != nullptr) delist(*before);
  enlist(*mine);
  if (before != nullptr && before->labels.hostname != mine->labels.hostname) tell_of(*before, out);
  tell_of(*mine, out);
  nodes_changed(*mine);
}

// ---- hosts, and who stands on them (2724 §4.9)

void Domain::enlist(const NodeConfig& node) {
  const Symbol& host = node.labels.hostname;
  if (host.empty()) return;
  if (host != node.name) hosts_.nodes[host].insert(node.name);
  look_at(host);
}

void Domain::delist(const NodeConfig& node) {
  const Symbol host = node.labels.hostname;
  if (host.empty()) return;
  if (const auto it = hosts_.nodes.find(host); it != hosts_.nodes.end()) {
    it->second.erase(node.name);
    if (it->second.empty()) hosts_.nodes.erase(it);
  }
  look_at(host);
}

/// What is to be asked about it.
void Domain::look_at(const Symbol& host) {
  const auto standing = standing_.find(host);
  if (standing == standing_.end()) {
    hosts_.doubtful.erase(host);
    return;
  }
  const NodeConfig* node = node_of(nodes_, hosts_, host);
  if (node == nullptr || !topology::is_plainly_well(*node))
    hosts_.doubtful.insert(host);
  else
    hosts_.doubtful.erase(host);
}

/// Whoever stands there has its say about it, and whoever has pods there that have no places.
void Domain::tell_of(const NodeConfig& node, Outbox& out) {
  const auto tell = [&](std::uint32_t parent) { out.send(domain_address, {EntityKind::workload_parent, parent}, msg::HostChanged{}); };
  if (const auto standing = standing_.find(node.labels.hostname); standing != standing_.end())
    for (const std::uint32_t parent : standing->second) tell(parent);
  if (const auto lingering = lingering_.find(node.name); lingering != lingering_.end())
    for (const auto& [parent, amounts] : lingering->second) tell(parent);
}

void Domain::take_what_was_said(bool news) {
  for (auto& [parent, what] : std::exchange(said_, {})) {
    if (auto* places = std::get_if<msg::StandsOn>(&what))
      stands_on(parent, std::move(places->hosts), news);
    else
      lingers(parent, std::move(std::get<msg::Lingers>(what).on), news);
  }
}

void Domain::stands_on(std::uint32_t parent, std::vector<Symbol> hosts, bool news) {
  std::vector<Symbol> concerned = hosts;
  if (const auto before = stands_on_.extract(parent); !before.empty())
    for (const Symbol& host : before.mapped()) {
      const auto it = standing_.find(host);
      it->second.erase(parent);
      if (it->second.empty()) standing_.erase(it);
      concerned.push_back(host);
    }
  for (const Symbol& host : hosts) standing_[host].insert(parent);
  if (!hosts.empty()) stands_on_[parent] = std::move(hosts);
  for (const Symbol& host : concerned) {
    if (standing_.contains(host) && is_well(host)) continue;  // nothing to say, and nothing to forget
    look_at(host);
    if (news && hosts_.doubtful.contains(host) && registry_.has_parent(parent)) mark_dirty(parent);
  }
}

bool Domain::is_well(const Symbol& host) const {
  const NodeConfig* node = node_of(nodes_, hosts_, host);
  return node != nullptr && topology::is_plainly_well(*node) && !hosts_.doubtful.contains(host);
}

/// TAS-25 to TAS-28.
void Domain::apply(const NodeUsageObserved& o, Outbox& out) {
  (void)out;
  const Symbol name(o.node);
  std::vector<std::pair<Symbol, Amount>> usage;
  for (const auto& [resource, amount] : o.usage)
    if (amount > 0) usage.emplace_back(Symbol(resource), amount);
  if (const auto known = node_usage_.find(name); known == node_usage_.end() ? usage.empty() : known->second == usage) return;
  if (usage.empty())
    node_usage_.erase(name);
  else
    node_usage_[name] = std::move(usage);
  use_changed(name);
}

std::vector<std::pair<Symbol, Amount>> Domain::used_of(const Symbol& node) const {
  std::vector<std::pair<Symbol, Amount>> out;
  if (const auto told = node_usage_.find(node); told != node_usage_.end()) out = told->second;
  if (const auto left = lingering_.find(node); left != lingering_.end())
    for (const auto& [parent, amounts] : left->second) add_amounts(out, amounts.amounts);
  return out;
}

bool Domain::refresh_use(const Symbol& name) {
  node_has_changed(name);
  const auto node = nodes_.find(name);
  if (node == nodes_.end()) return false;
  auto now = used_of(name);
  NodeConfig config = *node->second;
  const bool freed = std::any_of(config.used->begin(), config.used->end(), [&](const auto& before) {
    return std::none_of(now.begin(), now.end(), [&](const auto& n) { return n.first == before.first && n.second >= before.second; });
  });
  config.used = std::move(now);
  node->second = std::make_shared<const NodeConfig>(std::move(config));
  return freed;
}

/// When less is used than before, whoever waits is tried (TAS-28).
void Domain::use_changed(const Symbol& name) {
  something_new();
  if (refresh_use(name)) nodes_changed(*nodes_.at(name));
}

/// TAS-37
void Domain::lingers(std::uint32_t parent, std::vector<std::pair<Symbol, PodAmounts>> on, bool news) {
  std::vector<Symbol> concerned;
  if (auto before = lingers_on_.extract(parent); !before.empty())
    for (Symbol& node : before.mapped()) {
      const auto it = lingering_.find(node);
      it->second.erase(parent);
      if (it->second.empty()) lingering_.erase(it);
      concerned.push_back(std::move(node));
    }
  for (auto& [node, amounts] : on) {
    lingering_[node][parent] = std::move(amounts);
    lingers_on_[parent].push_back(node);
    concerned.push_back(node);
  }
  std::sort(concerned.begin(), concerned.end(), ByText{});
  concerned.erase(std::unique(concerned.begin(), concerned.end()), concerned.end());
  for (const Symbol& node : concerned) {
    if (news)
      use_changed(node);
    else
      (void)refresh_use(node);
  }
}

void Domain::node_has_changed(const Symbol& node) {
  auto& names = node_changes_.names;
  if (names.size() == NodeChanges::names_max) {
    names.erase(names.begin(), names.begin() + NodeChanges::names_max / 2);
    node_changes_.since += NodeChanges::names_max / 2;
  }
  names.push_back(node);
  ++nodes_version_;
}

void Domain::places_have_changed() { node_changes_ = {++nodes_version_, {}}; }

/// Trees whose flavors can select the node have something to try.
void Domain::nodes_changed(const NodeConfig& node) {
  node_has_changed(node.name);
  something_new();
  for (const auto& [name, tree] : catalog_->trees_of_topologies()) {
    if (!carries(node, catalog_->flavor(name)->node_labels)) continue;
    mark_tree(tree);
    request_root(tree);
  }
}

}  // namespace hindsight::admission
