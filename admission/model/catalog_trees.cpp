// Which queue belongs to which tree, kept up to date by looking only at what a change concerns (base-admission §2.3).

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "admission/model/catalog_view.hpp"

namespace hindsight::admission {
namespace {

template <class Index, class Key>
const typename Index::mapped_type& look_up(const Index& index, const Key& key) {
  static const typename Index::mapped_type none;
  const auto it = index.find(key);
  return it == index.end() ? none : it->second;
}

template <class Index, class Key, class Value>
void take_out(Index& index, const Key& key, const Value& value) {
  const auto it = index.find(key);
  if (it == index.end()) return;
  it->second.erase(value);
  if (it->second.empty()) index.erase(it);
}

}  // namespace

// ---- what there is ----------------------------------------------------------------------------------------------------------

void Catalog::put_queue(std::shared_ptr<const QueueConfig> config) {
  const Symbol name = config->name;
  if (const auto* old = queue(name); old != nullptr && !old->cohort.empty()) take_out(queues_in_, old->cohort, name);
  if (!config->cohort.empty()) queues_in_[config->cohort].insert(name);
  queue_index_[name] = config.get();
  queues[name] = std::move(config);
}

void Catalog::erase_queue(Symbol name) {
  if (const auto* old = queue(name); old != nullptr && !old->cohort.empty()) take_out(queues_in_, old->cohort, name);
  if (const auto it = roots.find(name); it != roots.end()) {
    take_out(members_, it->second, name);
    roots.erase(it);
  }
  queue_index_.erase(name);
  queues.erase(name);
}

void Catalog::put_cohort(std::shared_ptr<const CohortConfig> config) {
  const Symbol name = config->name;
  erase_cohort(name);
  if (!config->parent.empty()) cohorts_in_[config->parent].insert(name);
  cohorts.emplace(name, std::move(config));
}

void Catalog::erase_cohort(Symbol name) {
  const auto it = cohorts.find(name);
  if (it == cohorts.end()) return;
  if (!it->second->parent.empty()) take_out(cohorts_in_, it->second->parent, name);
  cohorts.erase(it);
}

void Catalog::put_local_queue(const LocalQueueConfig& config) {
  erase_local_queue(config.namespace_, config.name);
  local_queues_of_[config.cluster_queue].emplace(config.namespace_, config.name);
  local_queues.emplace(LocalQueueKey{config.namespace_, config.name}, config);
}

void Catalog::erase_local_queue(Symbol namespace_, Symbol name) {
  const auto it = local_queues.find({namespace_, name});
  if (it == local_queues.end()) return;
  take_out(local_queues_of_, it->second.cluster_queue, LocalQueueKey{namespace_, name});
  local_queues.erase(it);
}

void Catalog::derive() {
  for (const auto& [name, config] : std::exchange(queues, {})) put_queue(config);
  for (const auto& [name, config] : std::exchange(cohorts, {})) put_cohort(config);
  for (const auto& [key, config] : std::exchange(local_queues, {})) put_local_queue(config);
}

// ---- what follows -------------------------------------------------------------------------------------------------------------

Symbol Catalog::root_of(const Symbol& queue) const { return look_up(roots, queue); }

const Catalog::Names& Catalog::members(const Symbol& root) const { return look_up(members_, root); }

const Catalog::LocalQueueKeys& Catalog::local_queues_of(const Symbol& cluster_queue) const {
  return look_up(local_queues_of_, cluster_queue);
}

Symbol Catalog::topmost(Symbol cohort) const {
  for (std::size_t steps = 0; steps <= cohorts.size(); ++steps) {  // more steps than there are cohorts: a circle
    const auto it = cohorts.find(cohort);
    if (it == cohorts.end() || it->second->parent.empty()) return cohort;
    cohort = it->second->parent;
  }
  return {};
}

Catalog::Root Catalog::refresh_root(Symbol name) {
  const QueueConfig& config = *queue(name);
  const Symbol after = tree_of(cohort_root(config));
  const auto [it, fresh] = roots.try_emplace(name, after);
  const Root out{name, fresh ? Symbol() : it->second, after, fresh || it->second != after};
  if (out.changed) {
    if (!fresh) take_out(members_, out.before, name);
    members_[after].insert(name);
    it->second = after;
  }
  return out;
}

std::vector<Catalog::Root> Catalog::refresh_roots() {
  std::vector<Root> out;
  for (const auto& [name, config] : queues) out.push_back(refresh_root(name));
  return out;
}

Symbol Catalog::tree_of(const Symbol& cohort_root) const {
  const auto it = shared_.find(cohort_root);
  return it == shared_.end() ? cohort_root : it->second;
}

namespace {

/// Sets of names that grow together; each is known by the first name in it.
class Merged {
 public:
  Symbol find(Symbol name) const {
    for (auto it = into_.find(name); it != into_.end(); it = into_.find(name)) name = it->second;
    return name;
  }
  void merge(Symbol a, Symbol b) {
    a = find(a);
    b = find(b);
    if (a == b) return;
    if (ByText{}(b, a)) std::swap(a, b);
    into_[b] = a;
  }

 private:
  std::unordered_map<Symbol, Symbol> into_;
};

/// Whatever nodes there are: unless a label tells them apart, one node can be of both.
bool may_share_hosts(const FlavorConfig& a, const FlavorConfig& b) {
  return std::none_of(a.node_labels.begin(), a.node_labels.end(), [&](const auto& mine) {
    return std::any_of(b.node_labels.begin(), b.node_labels.end(),
                       [&](const auto& other) { return other.first == mine.first && other.second != mine.second; });
  });
}

}  // namespace

std::vector<Catalog::Root> Catalog::refresh_shared_hosts() {
  std::unordered_set<Symbol> with_topology;  // few or none, while queues are many
  if (settings.topologies)
    for (const auto& [name, config] : flavors)
      if (!config->topology.empty()) with_topology.insert(name);
  Merged merged;
  std::map<Symbol, Symbol, ByText> user_of;  // flavor with a topology → an end of a chain that uses it
  std::set<Symbol, ByText> ends;
  if (!with_topology.empty())
    for (const auto& [name, config] : queues)
      for (const auto& group : config->groups)
        for (const auto& f : group.flavors) {
          if (!with_topology.contains(f.flavor)) continue;
          const Symbol end = cohort_root(*config);
          if (end.empty()) continue;
          ends.insert(end);
          const auto [it, first] = user_of.try_emplace(f.flavor, end);
          if (!first) merged.merge(it->second, end);
        }
  for (auto a = user_of.begin(); a != user_of.end(); ++a)
    for (auto b = std::next(a); b != user_of.end(); ++b)
      if (may_share_hosts(*flavor(a->first), *flavor(b->first))) merged.merge(a->second, b->second);
  for (auto& [name, end] : user_of) end = merged.find(end);
  trees_of_topologies_ = std::move(user_of);
  std::unordered_map<Symbol, Symbol> shared;
  for (const Symbol& end : ends)
    if (const Symbol tree = merged.find(end); tree != end) shared.emplace(end, tree);
  if (shared == shared_) return {};
  shared_ = std::move(shared);
  auto out = refresh_roots();
  std::erase_if(out, [](const Root& r) { return !r.changed; });
  return out;
}

std::vector<Symbol> Catalog::below(const Symbol& cohort) const {
  std::vector<Symbol> out{cohort};  // each has one parent, so none comes twice but the first, in a circle
  for (std::size_t i = 0; i < out.size(); ++i)
    for (const Symbol& child : look_up(cohorts_in_, out[i]))
      if (child != cohort) out.push_back(child);
  return out;
}

std::vector<Catalog::Root> Catalog::refresh_roots_below(Symbol cohort) {
  std::vector<Root> out;
  for (const Symbol& c : below(cohort))
    for (const Symbol& queue : look_up(queues_in_, c)) out.push_back(refresh_root(queue));
  return out;
}

}  // namespace hindsight::admission
