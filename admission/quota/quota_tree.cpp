#include "admission/quota/quota_tree.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "admission/quota/fair_share.hpp"
#include "vocabulary/state_hash.hpp"

namespace hindsight::admission {
namespace {

using Pair = std::pair<Symbol, Symbol>;  // flavor, resource

/// By resource text, then flavor text: so that the cells of one resource stand together.
struct ColumnOrder {
  bool operator()(const Pair& a, const Pair& b) const {
    if (a.second != b.second) return ByText{}(a.second, b.second);
    return ByText{}(a.first, b.first);
  }
};

void add_pairs(const std::vector<ResourceGroup>& groups, std::set<Pair, ColumnOrder>& out) {
  for (const auto& g : groups)
    for (const auto& f : g.flavors)
      for (const Symbol& r : g.resources) out.emplace(f.flavor, r);
}

/// Orders like the text, as far as it goes.
std::uint64_t prefix_of(std::string_view uid) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < 8; ++i) out = out << 8 | (i < uid.size() ? static_cast<unsigned char>(uid[i]) : 0U);
  return out;
}

struct Children {
  std::vector<Symbol> cohorts;  // by name
  std::vector<Symbol> queues;   // by name
};

}  // namespace

QuotaTree QuotaTree::build(std::span<const Member> queues, std::span<const std::shared_ptr<const CohortConfig>> cohorts) {
  QuotaTree tree;
  tree.members_.assign(queues.begin(), queues.end());
  std::sort(tree.members_.begin(), tree.members_.end(),
            [](const Member& a, const Member& b) { return ByText{}(a.config->name, b.config->name); });
  tree.cohorts_.assign(cohorts.begin(), cohorts.end());
  std::sort(tree.cohorts_.begin(), tree.cohorts_.end(), [](const auto& a, const auto& b) { return ByText{}(a->name, b->name); });
  tree.strays_.resize(tree.members_.size());
  for (const Member& m : tree.members_) {
    Queue queue;
    queue.config = m.config;
    tree.queues_.push_back(std::move(queue));
  }
  tree.lay_out();
  return tree;
}

// ---------------------------------------------------------------- layout

void QuotaTree::lay_out() {
  lay_out_columns();
  fill_table(lay_out_nodes());
  for (Queue& q : queues_) {
    resolve(q);
    q.holders.clear();
    q.ranked_at = Time::never();
  }
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].reservation) place(i);
  }
  recompute_usage();
}

void QuotaTree::lay_out_columns() {
  std::set<Pair, ColumnOrder> pairs;
  for (const auto& m : members_) add_pairs(m.config->groups, pairs);
  for (const auto& c : cohorts_) add_pairs(c->groups, pairs);
  for (const auto& list : strays_) pairs.insert(list.begin(), list.end());

  std::set<Symbol, ByText> flavors;
  for (const auto& [flavor, resource] : pairs) flavors.insert(flavor);
  flavor_names_.assign(flavors.begin(), flavors.end());

  columns_.clear();
  cell_of_.clear();
  for (const auto& [flavor, resource] : pairs) {
    QuotaTable::Column column{flavor, resource, 0, 0};
    column.flavor_number =
        static_cast<std::uint32_t>(std::lower_bound(flavor_names_.begin(), flavor_names_.end(), flavor, ByText{}) - flavor_names_.begin());
    if (!columns_.empty()) column.resource_number = columns_.back().resource_number + (columns_.back().resource == resource ? 0 : 1);
    cell_of_.set(key(flavor, resource), static_cast<std::uint32_t>(columns_.size()));
    columns_.push_back(column);
  }
}

std::vector<QuotaTable::Node> QuotaTree::lay_out_nodes() {
  std::map<Symbol, Children, ByText> tree;  // cohort → children
  std::map<Symbol, Symbol, ByText> parent_of;
  for (const auto& c : cohorts_) {
    tree[c->name];
    if (c->parent.empty()) continue;
    parent_of[c->name] = c->parent;
    tree[c->parent].cohorts.push_back(c->name);
  }
  std::vector<Symbol> roots;
  for (const auto& m : members_) {
    if (m.config->cohort.empty()) {
      roots.push_back(m.config->name);
    } else {
      tree[m.config->cohort].queues.push_back(m.config->name);
    }
  }

  std::vector<QuotaTable::Node> nodes;
  names_.clear();
  queue_of_.clear();
  queue_nodes_.clear();
  cohort_nodes_.clear();
  const auto add_queue = [&](const Symbol& name, NodeIndex parent) {
    const auto at = std::lower_bound(members_.begin(), members_.end(), name,
                                     [](const Member& m, const Symbol& wanted) { return ByText{}(m.config->name, wanted); });
    const auto member = static_cast<std::uint32_t>(at - members_.begin());
    const auto node = static_cast<NodeIndex>(nodes.size());
    nodes.push_back({parent, node + 1, 0, true, at->active});
    names_.push_back(name);
    queue_of_.push_back(member);
    queues_[member].node = node;
    queue_nodes_.set(name.id(), node);
  };
  const auto add_cohort = [&](auto& self, const Symbol& name, NodeIndex parent) -> void {
    const auto node = static_cast<NodeIndex>(nodes.size());
    nodes.push_back({parent, node + 1, 0, false, true});
    names_.push_back(name);
    queue_of_.push_back(FlatIndex::none);
    cohort_nodes_.set(name.id(), node);
    for (const Symbol& child : tree[name].cohorts) self(self, child, node);
    for (const Symbol& queue : tree[name].queues) add_queue(queue, node);
    nodes[node].end = static_cast<NodeIndex>(nodes.size());
  };
  for (const auto& [name, children] : tree) {
    if (!parent_of.contains(name)) add_cohort(add_cohort, name, no_node);
  }
  for (const Symbol& queue : roots) add_queue(queue, no_node);
  return nodes;
}

void QuotaTree::fill_table(std::vector<QuotaTable::Node> nodes) {
  std::vector<QuotaTable::OwnQuota> own(nodes.size() * columns_.size());
  std::vector<std::set<CellIndex>> cells(nodes.size());
  weights_.assign(nodes.size(), 1.0);
  const auto fill = [&](NodeIndex node, const std::vector<ResourceGroup>& groups, std::int64_t weight_nano) {
    weights_[node] = static_cast<double>(weight_nano) / 1e9;
    for (const auto& g : groups)
      for (const auto& f : g.flavors)
        for (std::size_t r = 0; r < g.resources.size(); ++r) {
          const CellIndex c = find_cell(f.flavor, g.resources[r]);
          cells[node].insert(c);
          if (r >= f.quotas.size()) continue;
          const Quota& q = f.quotas[r];
          own[node * columns_.size() + c] = {q.nominal, q.borrowing_limit.value_or(unlimited), q.lending_limit.value_or(unlimited)};
        }
  };
  for (const auto& c : cohorts_) {
    if (const NodeIndex n = find_cohort(c->name); n != no_node) fill(n, c->groups, c->fair_weight_nano);
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const NodeIndex n = queues_[i].node;
    if (n == no_node) continue;
    fill(n, members_[i].config->groups, members_[i].config->fair_weight_nano);
    for (const auto& [flavor, resource] : strays_[i]) cells[n].insert(find_cell(flavor, resource));
  }
  std::vector<std::vector<CellIndex>> node_cells(nodes.size());
  for (auto n = static_cast<NodeIndex>(nodes.size()); n-- > 0;) {
    node_cells[n].assign(cells[n].begin(), cells[n].end());
    if (nodes[n].parent != no_node) cells[nodes[n].parent].insert(cells[n].begin(), cells[n].end());
  }
  table_ = QuotaTable(std::move(nodes), columns_, own, node_cells);
}

void QuotaTree::resolve(Queue& queue) const {
  queue.groups.clear();
  queue.covers_pods = false;
  static const Symbol pods("pods");
  for (const auto& g : queue.config->groups) {
    Group group;
    group.resources = g.resources;
    for (const auto& f : g.flavors) {
      group.flavors.push_back(f.flavor);
      for (const Symbol& r : g.resources) group.cells.push_back(find_cell(f.flavor, r));
      group.flavor_numbers.push_back(static_cast<std::uint32_t>(
          std::lower_bound(flavor_names_.begin(), flavor_names_.end(), f.flavor, ByText{}) - flavor_names_.begin()));
    }
    queue.covers_pods = queue.covers_pods || std::find(g.resources.begin(), g.resources.end(), pods) != g.resources.end();
    queue.groups.push_back(std::move(group));
  }
}

// ---------------------------------------------------------------- reservations

/// Looks up the cells of an entry and lists it as a holder of its queue; charges nothing.
void QuotaTree::place(std::uint32_t index) {
  Entry& e = entries_[index];
  Queue& q = queue(e.queue);
  const WorkloadInfo& w = *e.reservation->workload;
  Holder holder{w.priority, w.queue_time, w.reserved_at, prefix_of(w.uid), 0, index, 0, w.evicted, false};
  e.cells.clear();
  for (const auto& charge : e.reservation->charges) {
    if (charge.amount <= 0) continue;
    const CellIndex c = find_cell(charge.flavor, charge.resource);
    e.cells.push_back({c, charge.amount});
    holder.cell_mask |= std::uint64_t{1} << (c % 64);
  }
  std::sort(e.cells.begin(), e.cells.end(), [](const CellAmount& a, const CellAmount& b) { return a.cell < b.cell; });
  e.position = static_cast<std::uint32_t>(q.holders.size());
  q.holders.push_back(holder);
  q.ranked_at = Time::never();
}

/// Makes room for pairs that the queue's configuration does not have (any more). True if the layout changed.
bool QuotaTree::learn_strays(Symbol cluster_queue, const Reservation& reservation) {
  const NodeIndex node = find_queue(cluster_queue);
  const auto known = table_.cells_of(node);
  bool learned = false;
  for (const auto& charge : reservation.charges) {
    if (charge.amount <= 0) continue;
    const CellIndex c = find_cell(charge.flavor, charge.resource);
    if (c != no_cell && std::find(known.begin(), known.end(), c) != known.end()) continue;
    strays_[queue_of_[node]].emplace_back(charge.flavor, charge.resource);
    learned = true;
  }
  if (learned) lay_out();
  return learned;
}

void QuotaTree::reserve(Symbol cluster_queue, std::shared_ptr<const Reservation> reservation) {
  if (find_queue(cluster_queue) == no_node)
    throw std::logic_error("reservation in a ClusterQueue that is not in the tree: " + std::string(cluster_queue.text()));
  release(reservation->workload->id);  // of a former copy: counts as a removal (§2.3)
  learn_strays(cluster_queue, *reservation);
  const std::uint32_t index = list(find_queue(cluster_queue), std::move(reservation));
  const Entry& e = entries_[index];
  for (const CellAmount& a : e.cells) table_.charge(e.queue, a.cell, a.amount);
  if (e.reservation->uncounted) uncounted_.push_back(index);
  if (table_.saturated()) recompute_usage();
}

bool QuotaTree::release(WorkloadId workload) {
  const std::uint32_t index = entry_of_.find(workload);
  if (index == FlatIndex::none) return false;
  const Entry& e = entries_[index];
  const bool was_saturated = table_.saturated();
  for (const CellAmount& a : e.cells) table_.discharge(e.queue, a.cell, a.amount);
  ++queue(e.queue).generation;
  if (e.reservation->uncounted) std::erase(uncounted_, index);
  strike(index);
  if (was_saturated) recompute_usage();
  return true;
}

void QuotaTree::admit_on_trial(NodeIndex queue, std::shared_ptr<const Reservation> reservation) {
  (void)list(queue, std::move(reservation));
}

void QuotaTree::dismiss(WorkloadId workload) {
  if (const std::uint32_t index = entry_of_.find(workload); index != FlatIndex::none) strike(index);
}

/// A new entry, which is charged nothing.
std::uint32_t QuotaTree::list(NodeIndex queue, std::shared_ptr<const Reservation> reservation) {
  std::uint32_t index = 0;
  if (free_entries_.empty()) {
    index = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    index = free_entries_.back();
    free_entries_.pop_back();
  }
  Entry& e = entries_[index];
  entry_of_.set(reservation->workload->id, index);
  e.reservation = std::move(reservation);
  e.queue = queue;
  place(index);
  return index;
}

/// The entry is gone; what it is charged is another matter.
void QuotaTree::strike(std::uint32_t index) {
  Entry& e = entries_[index];
  entry_of_.erase(e.reservation->workload->id);
  Queue& q = queue(e.queue);
  q.holders[e.position] = q.holders.back();
  entries_[q.holders[e.position].entry].position = e.position;
  q.holders.pop_back();
  q.ranked_at = Time::never();
  e.reservation.reset();
  e.cells.clear();
  e.queue = no_node;
  free_entries_.push_back(index);
}

bool QuotaTree::better_victim(const Holder& a, const Holder& b, Time now) const {
  if (a.evicted != b.evicted) return a.evicted;
  if (a.local_usage != b.local_usage && entries_[a.entry].queue == entries_[b.entry].queue) return a.local_usage > b.local_usage;
  if (a.priority != b.priority) return a.priority < b.priority;
  const Time a_reserved = a.reserved_at.is_set() ? a.reserved_at : now;
  const Time b_reserved = b.reserved_at.is_set() ? b.reserved_at : now;
  if (a_reserved != b_reserved) return a_reserved > b_reserved;
  if (a.uid_prefix != b.uid_prefix) return a.uid_prefix < b.uid_prefix;
  return entries_[a.entry].reservation->workload->uid < entries_[b.entry].reservation->workload->uid;
}

void QuotaTree::rank_holders(NodeIndex node, Time now) {
  Queue& q = queue(node);
  if (q.ranked_at.is_set() && (!q.rank_has_missing || q.ranked_at == now)) return;
  for (Holder& h : q.holders) {
    const WorkloadInfo& w = *entries_[h.entry].reservation->workload;
    const std::uint32_t local = q.local_usage.empty() ? FlatIndex::none : q.local_usage_of.find(key(w.namespace_, w.local_queue));
    h.local_usage = local == FlatIndex::none ? 0 : q.local_usage[local];
  }
  std::sort(q.holders.begin(), q.holders.end(), [&](const Holder& a, const Holder& b) { return better_victim(a, b, now); });
  q.rank_has_missing = false;
  for (std::uint32_t i = 0; i < q.holders.size(); ++i) {
    entries_[q.holders[i].entry].position = i;
    q.rank_has_missing = q.rank_has_missing || !q.holders[i].reserved_at.is_set();
  }
  q.ranked_at = std::max(now, Time{0});
}

void QuotaTree::recompute_usage() {
  std::vector<Amount> usage(table_.nodes().size() * columns_.size(), 0);
  for (const Entry& e : entries_) {
    for (const CellAmount& a : e.cells) {
      Amount& sum = usage[e.queue * columns_.size() + a.cell];
      sum = add(sum, a.amount);
    }
  }
  table_.set_usage(usage);
}

const QuotaTree::Entry* QuotaTree::find_reservation(WorkloadId workload) const {
  const std::uint32_t index = entry_of_.find(workload);
  return index == FlatIndex::none ? nullptr : &entries_[index];
}

std::uint64_t QuotaTree::generation(Symbol cluster_queue) const {
  const NodeIndex n = find_queue(cluster_queue);
  return n == no_node ? 0 : queue(n).generation;
}

void QuotaTree::set_generation(Symbol cluster_queue, std::uint64_t generation) {
  if (const NodeIndex n = find_queue(cluster_queue); n != no_node) queue(n).generation = generation;
}

void QuotaTree::weigh_local_queues(Symbol cluster_queue, std::span<const LocalUsage> usage, bool whole) {
  const NodeIndex n = find_queue(cluster_queue);
  if (n == no_node) return;
  Queue& q = queue(n);
  if (usage.empty() && q.local_usage.empty()) return;
  if (whole) {
    q.local_usage_of.clear();
    q.local_usage.clear();
    q.local_names.clear();
  }
  for (const auto& [local_queue, value] : usage) {
    const std::uint64_t k = key(local_queue.first, local_queue.second);
    std::uint32_t position = q.local_usage_of.find(k);
    if (position == FlatIndex::none) {
      position = static_cast<std::uint32_t>(q.local_usage.size());
      q.local_usage_of.set(k, position);
      q.local_usage.push_back(0);
      q.local_names.push_back(local_queue);
    }
    q.local_usage[position] = value;
  }
  q.ranked_at = Time::never();
}

// ---------------------------------------------------------------- questions

NodeIndex QuotaTree::find_queue(const Symbol& cluster_queue) const { return queue_nodes_.find(cluster_queue.id()); }
NodeIndex QuotaTree::find_cohort(const Symbol& cohort) const { return cohort_nodes_.find(cohort.id()); }
CellIndex QuotaTree::find_cell(Symbol flavor, Symbol resource) const { return cell_of_.find(key(flavor, resource)); }

QuotaTree::Figures QuotaTree::figures(NodeIndex node, CellIndex cell) const {
  if (node == no_node || cell == no_cell) return {};
  const QuotaCell& q = table_.cell(node, cell);
  const Amount borrowed = table_.has_parent(node) ? std::max<Amount>(0, subtract(q.usage, q.subtree)) : 0;
  return {q.usage, q.subtree, q.local, table_.available(node, cell), q.potential, borrowed};
}

QuotaTree::Figures QuotaTree::queue_figures(Symbol queue, Symbol flavor, Symbol resource) const {
  return figures(find_queue(queue), find_cell(flavor, resource));
}

QuotaTree::Figures QuotaTree::cohort_figures(Symbol cohort, Symbol flavor, Symbol resource) const {
  return figures(find_cohort(cohort), find_cell(flavor, resource));
}

Amount QuotaTree::usage(const Symbol& node, Symbol flavor, Symbol resource) const {
  const NodeIndex n = find_queue(node);
  return figures(n == no_node ? find_cohort(node) : n, find_cell(flavor, resource)).usage;
}

std::vector<Symbol> QuotaTree::queue_names() const {
  std::vector<Symbol> out;
  for (NodeIndex n = 0; n < names_.size(); ++n)
    if (table_.node(n).is_queue) out.push_back(names_[n]);
  return out;
}

std::vector<Symbol> QuotaTree::cohort_names() const {
  std::vector<Symbol> out;
  for (NodeIndex n = 0; n < names_.size(); ++n)
    if (!table_.node(n).is_queue) out.push_back(names_[n]);
  return out;
}

std::vector<WorkloadId> QuotaTree::reservations_of(Symbol cluster_queue) const {
  std::vector<const WorkloadInfo*> workloads;
  if (const NodeIndex n = find_queue(cluster_queue); n != no_node)
    for (const Holder& h : queue(n).holders) workloads.push_back(entries_[h.entry].reservation->workload.get());
  std::sort(workloads.begin(), workloads.end(), [](const auto* a, const auto* b) { return a->uid < b->uid; });
  std::vector<WorkloadId> out;
  for (const auto* w : workloads) out.push_back(w->id);
  return out;
}

std::int64_t QuotaTree::weighted_share(Symbol cluster_queue) const {
  const NodeIndex n = find_queue(cluster_queue);
  return n == no_node ? 0 : share_of(*this, n).rounded();
}

std::int64_t QuotaTree::cohort_weighted_share(Symbol cohort) const {
  const NodeIndex n = find_cohort(cohort);
  return n == no_node ? 0 : share_of(*this, n).rounded();
}

std::string QuotaTree::path(NodeIndex n) const {
  std::string out;
  for (; n != no_node; n = table_.parent(n)) out = "/" + std::string(names_[n].text()) + out;
  return out;
}

std::uint64_t QuotaTree::hash() const {
  StateHash h;
  for (NodeIndex n = 0; n < names_.size(); ++n) {
    h.add(names_[n]);
    for (CellIndex c = 0; c < columns_.size(); ++c) {
      const Amount used = table_.cell(n, c).usage;
      if (used == 0) continue;
      h.add(columns_[c].flavor);
      h.add(columns_[c].resource);
      h.add(used);
    }
    if (!table_.node(n).is_queue) continue;
    h.add(queue(n).generation);
    for (const Holder& holder : queue(n).holders) h.add(holder.removed);
    for (const WorkloadId id : reservations_of(names_[n])) h.add(std::string_view(find_reservation(id)->reservation->workload->uid));
  }
  return h.value();
}

}  // namespace hindsight::admission
