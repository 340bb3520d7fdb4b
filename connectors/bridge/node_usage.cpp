#include "connectors/bridge/node_usage.hpp"

#include <algorithm>

#include "vocabulary/arena.hpp"

namespace hindsight::connectors {

void NodeUsage::change(const Symbol& node, const PodRequestTotals& request, int sign) {
  Totals& totals = totals_[node];
  for (const auto& [resource, amount] : request.amounts) {
    const auto at = std::lower_bound(totals.begin(), totals.end(), resource, [](const auto& t, Symbol r) { return ByText{}(t.first, r); });
    if (at != totals.end() && at->first == resource)
      at->second = sign > 0 ? add(at->second, amount) : subtract(at->second, amount);
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
  const auto [it, first] = pods_.try_emplace(pod.uid, now);
  if (!first) {
    if (it->second.node == now.node && it->second.request == now.request) return;
    change(it->second.node, it->second.request, -1);
    it->second = std::move(now);
  }
  change(it->second.node, it->second.request, 1);
}

void NodeUsage::forget(std::string_view uid) {
  const auto it = pods_.find(std::string(uid));
  if (it == pods_.end()) return;
  change(it->second.node, it->second.request, -1);
  pods_.erase(it);
}

void NodeUsage::see_node(std::string_view name) {
  Symbol node(name);
  if (!listed_.insert(node).second) return;
  told_.erase(node);
  changed_.insert(std::move(node));
}

void NodeUsage::tell(const Tell& tell) {
  std::vector<Symbol> nodes(changed_.begin(), changed_.end());
  changed_.clear();
  std::sort(nodes.begin(), nodes.end(), ByText{});
  static const Totals none;
  for (const Symbol& node : nodes) {
    const auto found = totals_.find(node);
    const Totals& now = found == totals_.end() ? none : found->second;
    const auto told = told_.find(node);
    if (told == told_.end() ? now.empty() && !listed_.contains(node) : told->second == now) continue;
    Arena arena;
    const auto usage = arena.make<ResourceAmount>(now.size());
    for (std::size_t i = 0; i < now.size(); ++i) usage[i] = {now[i].first.text(), now[i].second};
    tell({node.text(), usage});
    if (now.empty() && !listed_.contains(node))
      told_.erase(node);  // as if nothing had ever been told
    else
      told_[node] = now;
  }
}

}  // namespace hindsight::connectors
