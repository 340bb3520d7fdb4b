#include "connectors/bridge/node_usage.hpp"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>

#include "vocabulary/arena.hpp"
#include "vocabulary/short_uid.hpp"
#include "vocabulary/state_hash.hpp"

namespace hindsight::connectors {

/// A million pods ask for a few different things on some thousand nodes: a place in the table takes 25 bytes, and between half and seven
/// eighths of the places are taken.
class NodeUsage::Pods {
 public:
  struct Pod {
    Symbol node;
    std::uint32_t request = 0;  ///< Number of a `Request`.
  };
  using Request = Interned<admission::PodAmounts>;

  [[nodiscard]] std::size_t size() const { return pods_.size(); }
  [[nodiscard]] const admission::PodAmounts& request(const Pod& pod) const { return requests_[pod.request].value.value(); }
  [[nodiscard]] const Pod* find(const ShortUid& uid) const {
    const auto it = pods_.find(uid);
    return it == pods_.end() ? nullptr : &it->second;
  }
  void set(const ShortUid& uid, Symbol node, const Request& request) {
    const std::uint32_t number = number_of(request);
    if (const auto [it, first] = pods_.try_emplace(uid, Pod{node, number}); !first) {
      drop(it->second.request);
      it->second = {std::move(node), number};
    }
  }
  void erase(const ShortUid& uid) {
    const auto it = pods_.find(uid);
    drop(it->second.request);
    pods_.erase(it);
  }

 private:
  struct Numbered {
    Request value;
    std::uint32_t users = 0;
  };

  std::uint32_t number_of(const Request& request) {
    const auto [it, first] = numbers_.try_emplace(&request.value(), 0);
    if (first) {
      if (free_.empty()) {
        it->second = static_cast<std::uint32_t>(requests_.size());
        requests_.emplace_back();
      } else {
        it->second = free_.back();
        free_.pop_back();
      }
      requests_[it->second].value = request;
    }
    ++requests_[it->second].users;
    return it->second;
  }
  void drop(std::uint32_t number) {
    if (--requests_[number].users > 0) return;
    numbers_.erase(&requests_[number].value.value());
    requests_[number].value = Request();
    free_.push_back(number);
  }

  boost::unordered_flat_map<ShortUid, Pod, ShortUid::Hash> pods_;
  std::vector<Numbered> requests_;
  std::vector<std::uint32_t> free_;                                          ///< Numbers that nobody uses.
  std::unordered_map<const admission::PodAmounts*, std::uint32_t> numbers_;  ///< Equal values stand once in memory.
};

NodeUsage::NodeUsage() : pods_(std::make_unique<Pods>()) {}
NodeUsage::~NodeUsage() = default;

std::size_t NodeUsage::entries() const { return pods_->size() + totals_.size() + nodes_.size() + told_.size() + must_tell_.size(); }

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
  const ShortUid uid(pod.uid);
  const Symbol node(pod.node);
  if (const Pods::Pod* known = pods_->find(uid); known != nullptr) {
    if (known->node == node && pods_->request(*known) == pod.request) return;
    change(known->node, pods_->request(*known), -1);
  }
  pods_->set(uid, node, pod.request);
  change(node, pod.request, 1);
}

void NodeUsage::forget(std::string_view uid) {
  const ShortUid key(uid);
  const Pods::Pod* known = pods_->find(key);
  if (known == nullptr) return;
  change(known->node, pods_->request(*known), -1);
  pods_->erase(key);
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
  if (told_.contains(node)) changed_.insert(node);
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
    if (nodes_.contains(node) || told_.contains(node)) {  // else it is told when it is there
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
