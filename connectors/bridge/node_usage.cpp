#include "connectors/bridge/node_usage.hpp"

#include <algorithm>

#include "vocabulary/arena.hpp"
#include "vocabulary/state_hash.hpp"

namespace hindsight::connectors {

void NodeUsage::change(const Symbol& node, const admission::PodAmounts& request, int sign) {
  Totals& totals = totals_[node];
  for (const auto& [resource, amount] : request.amounts) {
    const auto at = std::lower_bound(totals.begin(), totals.end(), resource, [](const auto& t, Symbol r) { return ByText{}(t.first, r); });
    if (at != totals.end() && at->first == resource)
      at->second += sign * WideAmount{amount};
    else if (sign > 0)
      totals.insert(at, {resource, amount});
  }
  std::erase_if(totals, [](const auto& t) { return t.second <= 0; });
  if (totals.empty()) totals_.erase(node);
  changed_.insert(node);
}

void NodeUsage::see(const PodUse& pod) {
  if (pod.node.empty()) return forget(pod.uid);
  Pod now{Symbol(pod.node), pod.request};
  const auto [it, first] = pods_.try_emplace(ShortUid(pod.uid), now);
  if (!first) {
    if (it->second.node == now.node && it->second.request == now.request) return;
    change(it->second.node, it->second.request, -1);
    it->second = std::move(now);
  }
  change(it->second.node, it->second.request, 1);
}

void NodeUsage::forget(std::string_view uid) {
  const auto it = pods_.find(ShortUid(uid));
  if (it == pods_.end()) return;
  change(it->second.node, it->second.request, -1);
  pods_.erase(it);
}

std::uint64_t interning_hash(const ResourceNames& resources) {
  StateHash h;
  for (const Symbol& name : resources.names) h.add(name);
  return h.value();
}

void NodeUsage::see_node(std::string_view name, List<ResourceAmount> allocatable) {
  const Symbol node(name);
  ResourceNames resources;
  for (const auto& [resource, amount] : allocatable) resources.names.emplace_back(resource);
  Interned<ResourceNames> now(std::move(resources));
  if (const auto [it, first] = nodes_.try_emplace(node, now); !first) {
    if (it->second.value() == now.value()) return;
    it->second = std::move(now);
  }
  if (totals_.contains(node)) changed_.insert(node);
}

void NodeUsage::must_tell(std::string_view name) {
  must_tell_.emplace(name);
  changed_.emplace(name);
}

void NodeUsage::forget_node(std::string_view name) {
  const Symbol node(name);
  nodes_.erase(node);
  must_tell_.erase(node);
}

/// What is to be told of the node.
admission::PodAmounts NodeUsage::now(const Symbol& node) const {
  admission::PodAmounts out;
  const auto totals = totals_.find(node);
  const auto has = nodes_.find(node);
  if (totals == totals_.end() || has == nodes_.end()) return out;
  const auto& names = has->second->names;
  for (const auto& [resource, amount] : totals->second)
    if (std::find(names.begin(), names.end(), resource) != names.end())
      out.amounts.emplace_back(resource, static_cast<Amount>(std::min<WideAmount>(amount, unlimited)));
  return out;
}

void NodeUsage::tell(const Tell& tell) {
  std::vector<Symbol> nodes(changed_.begin(), changed_.end());
  std::sort(nodes.begin(), nodes.end(), ByText{});
  for (const Symbol& node : nodes) {
    if (nodes_.contains(node)) {  // else it is told when it is there
      admission::PodAmounts usage = now(node);
      const auto told = told_.find(node);
      if (must_tell_.contains(node) || (told == told_.end() ? !usage.amounts.empty() : told->second != usage)) {
        Arena arena;
        const auto list = arena.make<ResourceAmount>(usage.amounts.size());
        for (std::size_t i = 0; i < list.size(); ++i) list[i] = {usage.amounts[i].first.text(), usage.amounts[i].second};
        tell({node.text(), list});  // what it throws leaves this node and the others to be told
        must_tell_.erase(node);
        if (usage.amounts.empty())
          told_.erase(node);
        else
          told_[node] = std::move(usage);
      }
    }
    changed_.erase(node);
  }
}

}  // namespace hindsight::connectors
