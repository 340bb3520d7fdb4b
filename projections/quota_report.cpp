#include "projections/quota_report.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "admission/queue/cohort_tree.hpp"

namespace hindsight::projections {
namespace {

using admission::Catalog;
using admission::QuotaTree;

void add_configured(const std::vector<admission::ResourceGroup>& groups, std::vector<QuotaLine>& out) {
  for (const auto& g : groups)
    for (const auto& f : g.flavors)
      for (std::size_t i = 0; i < g.resources.size() && i < f.quotas.size(); ++i) {
        const auto& q = f.quotas[i];
        out.push_back({f.flavor, g.resources[i], q.nominal, q.borrowing_limit, q.lending_limit, {}});
      }
}

/// What stands below a node and what the node itself has, added up (base-admission §2.1).
void add_up_below(SubtreeQuota& line, const QuotaTree& tree, admission::NodeIndex node) {
  const auto cell = tree.find_cell(line.flavor, line.resource);
  if (node == admission::no_node || cell == admission::no_cell) return;
  const auto& table = tree.table();
  const auto figures = tree.figures(node, cell);
  Amount unlent = 0, unused = 0;  // what descendants keep from the node, and what of it is free
  Amount used = table.node(node).is_queue ? figures.usage : 0;
  for (auto n = node + 1; n < table.node(node).end; ++n) {
    const auto& below = table.cell(n, cell);
    unlent = add(unlent, below.local);
    unused = add(unused, std::max<Amount>(0, subtract(below.local, below.usage)));
    if (table.node(n).is_queue) used = add(used, below.usage);
  }
  line.nominal = add(figures.subtree, unlent);
  line.used = used;
  line.borrowed = figures.borrowed;
  line.available = std::max<Amount>(0, add(figures.available, unused));
  line.maximum = add(figures.potential, unlent);
  line.guaranteed = table.has_parent(node) ? add(figures.local, unlent) : line.nominal;  // above a root is nobody to lend to
}

std::vector<SubtreeQuota> subtree_of(const std::vector<admission::ResourceGroup>* groups, const QuotaTree* tree,
                                     admission::NodeIndex node) {
  std::vector<QuotaLine> configured;
  if (groups != nullptr) add_configured(*groups, configured);
  std::vector<SubtreeQuota> out;
  for (const auto& line : configured)
    out.push_back({.flavor = line.flavor,
                   .resource = line.resource,
                   .own = line.nominal,
                   .borrowing_limit = line.borrowing_limit,
                   .lending_limit = line.lending_limit,
                   .nominal = line.nominal,
                   .maximum = line.nominal,
                   .guaranteed = line.nominal});
  if (tree == nullptr || node == admission::no_node) return out;
  for (auto& line : out) add_up_below(line, *tree, node);
  for (const auto cell : tree->table().cells_of(node)) {
    const auto& column = tree->table().columns()[cell];
    SubtreeQuota line{.flavor = column.flavor, .resource = column.resource};
    if (std::any_of(out.begin(), out.end(),
                    [&](const SubtreeQuota& known) { return known.flavor == line.flavor && known.resource == line.resource; }))
      continue;
    add_up_below(line, *tree, node);
    // A pair that nobody has quota of stays in the tree when the last one who used it has gone; and what a queue has no quota of is none
    // of its business unless it uses it.
    if (line.used != 0 || (!tree->table().node(node).is_queue && line.maximum != 0)) out.push_back(line);
  }
  return out;
}

Symbol parent_of(const Catalog& catalog, const Symbol& cohort) {
  const auto it = catalog.cohorts.find(cohort);
  return it == catalog.cohorts.end() ? Symbol() : it->second->parent;
}

}  // namespace

const QuotaTree* tree_of(const StateView& state, Symbol cluster_queue) {
  const Symbol root = state.domain().catalog()->root_of(cluster_queue);
  const auto* tree = root.empty() ? nullptr : state.tree(root);
  return tree == nullptr ? nullptr : tree->quota();
}

const QuotaTree* tree_of_cohort(const StateView& state, const Symbol& cohort) {
  const Catalog& catalog = *state.domain().catalog();
  std::set<Symbol, ByText> seen;
  Symbol root = cohort;
  for (Symbol up = parent_of(catalog, root); !up.empty(); up = parent_of(catalog, root)) {
    if (!seen.insert(root).second) return nullptr;
    root = up;
  }
  const auto* tree = state.tree(catalog.tree_of(root));
  if (tree == nullptr || tree->quota() == nullptr || tree->quota()->find_cohort(cohort) == admission::no_node) return nullptr;
  return tree->quota();
}

std::vector<QuotaLine> quota_of_queue(const StateView& state, const Symbol& cluster_queue) {
  std::vector<QuotaLine> out;
  const auto* config = state.domain().catalog()->queue(cluster_queue);
  if (config == nullptr) return out;
  add_configured(config->groups, out);
  if (const auto* tree = tree_of(state, cluster_queue))
    for (auto& line : out) line.figures = tree->queue_figures(cluster_queue, line.flavor, line.resource);
  return out;
}

std::vector<QuotaLine> quota_of_cohort(const StateView& state, const Symbol& cohort) {
  std::vector<QuotaLine> out;
  const Catalog& catalog = *state.domain().catalog();
  if (const auto it = catalog.cohorts.find(cohort); it != catalog.cohorts.end()) add_configured(it->second->groups, out);
  const auto* tree = tree_of_cohort(state, cohort);
  if (tree == nullptr) return out;
  const auto node = tree->find_cohort(cohort);
  for (const auto cell : tree->table().cells_of(node)) {
    const auto& column = tree->table().columns()[cell];
    const bool known =
        std::any_of(out.begin(), out.end(), [&](const QuotaLine& l) { return l.flavor == column.flavor && l.resource == column.resource; });
    if (!known) out.push_back({column.flavor, column.resource, 0, {}, {}, {}});
  }
  for (auto& line : out) line.figures = tree->cohort_figures(cohort, line.flavor, line.resource);
  return out;
}

std::vector<SubtreeQuota> subtree_of_queue(const StateView& state, const Symbol& cluster_queue) {
  const auto* config = state.domain().catalog()->queue(cluster_queue);
  if (config == nullptr) return {};
  const auto* tree = tree_of(state, cluster_queue);
  return subtree_of(&config->groups, tree, tree == nullptr ? admission::no_node : tree->find_queue(cluster_queue));
}

std::vector<SubtreeQuota> subtree_of_cohort(const StateView& state, const Symbol& cohort) {
  const Catalog& catalog = *state.domain().catalog();
  const auto it = catalog.cohorts.find(cohort);
  const auto* tree = tree_of_cohort(state, cohort);
  return subtree_of(it == catalog.cohorts.end() ? nullptr : &it->second->groups, tree,
                    tree == nullptr ? admission::no_node : tree->find_cohort(cohort));
}

std::vector<FlavorShare> shares_of_flavor(const StateView& state, const Symbol& flavor) {
  const Catalog& catalog = *state.domain().catalog();
  std::vector<FlavorShare> out;
  for (const auto& [name, config] : catalog.queues)
    for (const auto& l : subtree_of_queue(state, name))
      if (l.flavor == flavor) out.push_back({.name = name, .resource = l.resource, .nominal = l.own, .used = l.used});
  for (const auto& [name, config] : catalog.cohorts) {
    std::vector<QuotaLine> own;
    add_configured(config->groups, own);
    for (const auto& l : own)
      if (l.flavor == flavor) out.push_back({.is_cohort = true, .name = name, .resource = l.resource, .nominal = l.nominal});
  }
  return out;
}

std::vector<Holder> holders_of(const StateView& state, const std::vector<Symbol>& queues, const Symbol& flavor, const Symbol& resource) {
  std::vector<Holder> out;
  for (const Symbol& name : queues) {
    const auto* queue = state.queue(name);
    if (queue == nullptr) continue;
    for (const auto& r : queue->reservations()) {
      Amount amount = 0;
      for (const auto& charge : r->charges)
        if (charge.flavor == flavor && charge.resource == resource) amount = add(amount, charge.amount);
      if (amount == 0) continue;
      const auto& w = *r->workload;
      out.push_back({std::string(w.namespace_.text()), w.name.text(), w.uid.text(), name, w.priority, amount, w.evicted,
                     w.option == nullptr ? std::string() : w.option->family.text(), r->hold});
    }
  }
  std::sort(out.begin(), out.end(), [](const Holder& a, const Holder& b) {
    return a.amount != b.amount ? a.amount > b.amount : std::tie(a.namespace_, a.name) < std::tie(b.namespace_, b.name);
  });
  return out;
}

std::vector<Symbol> queues_of_tree(const StateView& state, const Symbol& cluster_queue) {
  const Catalog& catalog = *state.domain().catalog();
  const Symbol root = catalog.root_of(cluster_queue);
  if (root.empty()) return {cluster_queue};
  const Symbol end = catalog.cohort_root(*catalog.queue(cluster_queue));
  std::vector<Symbol> out;
  for (const auto& [name, config] : catalog.queues)
    if (catalog.cohort_root(*config) == end) out.push_back(name);
  return out;
}

std::vector<Symbol> cohorts_above(const StateView& state, const Symbol& cluster_queue) {
  const Catalog& catalog = *state.domain().catalog();
  std::vector<Symbol> out;
  const auto* config = catalog.queue(cluster_queue);
  for (Symbol at = config == nullptr ? Symbol() : config->cohort; !at.empty(); at = parent_of(catalog, at)) {
    if (std::find(out.begin(), out.end(), at) != out.end()) break;
    out.push_back(at);
  }
  return out;
}

std::vector<Symbol> cohort_cycle(const StateView& state, const Symbol& cohort) {
  const Catalog& catalog = *state.domain().catalog();
  std::vector<Symbol> way;
  for (Symbol at = cohort; !at.empty(); at = parent_of(catalog, at)) {
    if (const auto seen = std::find(way.begin(), way.end(), at); seen != way.end()) {
      std::vector<Symbol> out(seen, way.end());
      out.push_back(at);
      return out;
    }
    way.push_back(at);
  }
  return {};
}

std::vector<Symbol> queues_in(const StateView& state, const Symbol& cohort) {
  std::vector<Symbol> out;
  for (const auto& [name, config] : state.domain().catalog()->queues)
    if (config->cohort == cohort) out.push_back(name);
  return out;
}

std::vector<Symbol> cohorts_in(const StateView& state, const Symbol& cohort) {
  std::vector<Symbol> out;
  for (const auto& [name, config] : state.domain().catalog()->cohorts)
    if (config->parent == cohort) out.push_back(name);
  return out;
}

std::vector<Symbol> all_cohorts(const StateView& state) {
  const Catalog& catalog = *state.domain().catalog();
  std::set<Symbol, ByText> names;
  for (const auto& [name, config] : catalog.cohorts) {
    names.insert(name);
    if (!config->parent.empty()) names.insert(config->parent);
  }
  for (const auto& [name, config] : catalog.queues)
    if (!config->cohort.empty()) names.insert(config->cohort);
  return {names.begin(), names.end()};
}

}  // namespace hindsight::projections
