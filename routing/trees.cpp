#include "routing/trees.hpp"

#include <algorithm>
#include <utility>

namespace hindsight::routing {
namespace {

/// Sets of trees that are merged; each is known by the first of its names.
class Merged {
 public:
  const std::string& find(const std::string& tree) {
    const auto it = first_.find(tree);
    if (it == first_.end()) return tree;
    return it->second = find(it->second);
  }
  void merge(const std::string& a, const std::string& b) {
    const std::string x = find(a), y = find(b);
    if (x != y) first_[std::max(x, y)] = std::min(x, y);
  }

 private:
  std::map<std::string, std::string> first_;
};

}  // namespace

template <class T>
void Trees::put(ByName<T>& table, std::string_view name, T value) {
  const auto it = table.find(name);
  if (it != table.end() && it->second == value) return;
  table.insert_or_assign(std::string(name), std::move(value));
  changed_ = stale_ = true;
}

void Trees::put(const ClusterQueueObserved& o) {
  Queue queue{std::string(o.cohort), {}, {}};
  for (const auto& group : o.resource_groups)
    for (const auto& quotas : group.flavors) queue.flavors.emplace(quotas.flavor);
  for (const auto& rule : o.admission_checks) queue.checks.emplace(rule.name);
  put(queues_, o.meta.name, std::move(queue));
}

void Trees::put(const CohortObserved& o) { put(cohorts_, o.meta.name, std::string(o.parent)); }

void Trees::put(const ResourceFlavorObserved& o) {
  if (o.topology_name.empty()) return erase(ObjectKind::resource_flavor, o.meta.name);
  Flavor flavor{std::string(o.topology_name), {}};
  for (const auto& [key, value] : o.node_labels) flavor.node_labels.emplace(key, value);
  put(flavors_, o.meta.name, std::move(flavor));
}

void Trees::erase(ObjectKind kind, std::string_view name) {
  const auto erase_from = [&](auto& table) {
    const auto it = table.find(name);
    if (it == table.end()) return;
    table.erase(it);
    changed_ = stale_ = true;
  };
  if (kind == ObjectKind::cluster_queue) erase_from(queues_);
  if (kind == ObjectKind::cohort) erase_from(cohorts_);
  if (kind == ObjectKind::resource_flavor) erase_from(flavors_);
}

std::string_view Trees::of_queue(std::string_view name) const {
  find_names();
  const auto it = queue_names_.find(name);
  return it == queue_names_.end() ? std::string_view() : std::string_view(it->second);
}

std::string_view Trees::of_cohort(std::string_view name) const {
  find_names();
  const auto it = cohort_names_.find(name);
  return it == cohort_names_.end() ? std::string_view() : std::string_view(it->second);
}

std::string_view Trees::that_selects(const NodeObserved& node) const {
  find_names();
  for (const auto& [flavor, selector] : selectors_) {
    const bool selects = std::ranges::all_of(selector.node_labels, [&](const auto& wanted) {
      return std::ranges::any_of(node.labels, [&](const auto& has) { return has.key == wanted.first && has.value == wanted.second; });
    });
    if (selects) return selector.tree;
  }
  return {};
}

std::uint64_t Trees::selections() const {
  find_names();
  return selections_;
}

bool Trees::in_use(ObjectKind kind, std::string_view name) const {
  return std::ranges::any_of(queues_, [&](const auto& entry) {
    const Queue& queue = entry.second;
    return kind == ObjectKind::admission_check ? queue.checks.contains(name) : queue.flavors.contains(name);
  });
}

bool Trees::take_changes() { return std::exchange(changed_, false); }

/// The topmost cohort, which need not exist as an object. In a circle nothing can be admitted; it is named after the first of its members.
std::string Trees::root_of_cohort(std::string_view cohort) const {
  std::vector<std::string> way{std::string(cohort)};
  for (;;) {
    const auto it = cohorts_.find(way.back());
    if (it == cohorts_.end() || it->second.empty()) return way.back();
    const auto met = std::ranges::find(way, it->second);
    if (met != way.end()) return *std::min_element(met, way.end());
    way.push_back(it->second);
  }
}

/// Whatever nodes there are: unless a label tells them apart, one node can be of both.
bool Trees::may_share_nodes(const Flavor& a, const Flavor& b) {
  return std::ranges::none_of(a.node_labels, [&](const auto& label) {
    const auto other = b.node_labels.find(label.first);
    return other != b.node_labels.end() && other->second != label.second;
  });
}

void Trees::find_names() const {
  if (!std::exchange(stale_, false)) return;
  queue_names_.clear();
  cohort_names_.clear();
  Merged merged;
  std::map<std::string, std::string> user_of;  // flavor with a topology → a tree that uses it
  for (const auto& [name, queue] : queues_) {
    const std::string tree = queue.cohort.empty() ? "queue/" + name : "cohort/" + root_of_cohort(queue.cohort);
    queue_names_.emplace(name, tree);
    for (const auto& flavor : queue.flavors) {
      if (!flavors_.contains(flavor)) continue;
      const auto [it, first] = user_of.try_emplace(flavor, tree);
      if (!first) merged.merge(it->second, tree);
    }
  }
  for (auto a = user_of.begin(); a != user_of.end(); ++a)
    for (auto b = std::next(a); b != user_of.end(); ++b)
      if (may_share_nodes(flavors_.find(a->first)->second, flavors_.find(b->first)->second)) merged.merge(a->second, b->second);
  for (const auto& [name, parent] : cohorts_) cohort_names_.emplace(name, "cohort/" + root_of_cohort(name));
  for (auto* names : {&queue_names_, &cohort_names_})
    for (auto& [name, tree] : *names) tree = merged.find(tree);
  ByName<Selector> selectors;
  for (const auto& [flavor, tree] : user_of)
    selectors.emplace(flavor, Selector{flavors_.find(flavor)->second.node_labels, merged.find(tree)});
  if (selectors == selectors_) return;
  selectors_ = std::move(selectors);
  ++selections_;
}

}  // namespace hindsight::routing
