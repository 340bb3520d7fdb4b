#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/domain/state_view.hpp"
#include "admission/queue/cluster_queue.hpp"

namespace hindsight::projections {

/// A dominant resource share (base-admission §7.5).
struct PlainShare {
  double ratio = 0, weight = 1;
  bool borrowing = false;

  [[nodiscard]] bool infinite() const { return weight == 0 && ratio > 0; }
  [[nodiscard]] double value() const { return ratio == 0 ? 0 : ratio / weight; }
  [[nodiscard]] std::int64_t shown() const {
    return infinite() ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(std::ceil(value()));
  }
  /// Below 0: it is the smaller one.
  [[nodiscard]] int compare(const PlainShare& other) const {
    if (infinite() != other.infinite()) return infinite() ? 1 : -1;
    const double a = infinite() ? ratio : value(), b = infinite() ? other.ratio : other.value();
    return a < b ? -1 : a > b ? 1 : 0;
  }
};

/// The quota of a tree of cohorts, taken from the configuration and from what each Workload holds, and computed as base-admission §2 and
/// §7.5 have it: by name and by recursion, anew for each question.
class PlainTree {
 public:
  using Pair = std::pair<std::string, std::string>;  ///< flavor, resource
  using Amounts = std::map<Pair, Amount>;
  struct Limits {
    Amount nominal = 0;
    std::optional<Amount> borrowing, lending;
  };
  struct Node {
    std::string parent;  ///< Empty: none.
    bool is_queue = false, active = true;
    double weight = 1;
    std::map<Pair, Limits> limits;
    Amounts used;  ///< Of a queue; a search changes it.
  };
  struct Held {
    std::string uid, name, queue;  ///< "namespace/name", "ClusterQueue a".
    std::string local_queue;
    double local_used = 0;  ///< What the LocalQueue has used by its weight, with admission fair sharing (base-admission §10); else 0.
    admission::WorkloadId id = 0;
    Amounts amounts;
    std::int64_t priority = 0;
    Time queue_time, reserved_at;
    bool evicted = false;
  };

  /// The tree of all queues: roots have no parent. Cohorts that end in a circle of parents are left out, and what is below them.
  explicit PlainTree(const admission::StateView& state) {
    const auto& catalog = *state.domain().catalog();
    for (const auto& [name, config] : catalog.cohorts) {
      Node& n = nodes["Cohort " + std::string(name.text())];
      take(config->groups, config->fair_weight_nano, n);
      if (!config->parent.empty()) n.parent = "Cohort " + std::string(config->parent.text());
    }
    for (const auto& [name, config] : catalog.queues) {
      const std::string key = "ClusterQueue " + std::string(name.text());
      Node& n = nodes[key];
      take(config->groups, config->fair_weight_nano, n);
      n.is_queue = true;
      n.active = catalog.queue_active(name);
      if (!config->cohort.empty()) n.parent = "Cohort " + std::string(config->cohort.text());
      const auto* queue = state.queue(name);
      if (queue == nullptr) continue;
      for (const auto& r : queue->reservations()) {
        const auto& w = *r->workload;
        Held h{std::string(w.uid.text()),
               std::string(w.namespace_.text()) + "/" + std::string(std::string_view(w.name)),
               key,
               std::string(w.local_queue.text()),
               used_by_weight(catalog, *queue, w.namespace_, w.local_queue),
               w.id,
               {},
               w.priority,
               w.queue_time,
               w.reserved_at,
               w.evicted};
        for (const auto& c : r->charges) h.amounts[{std::string(c.flavor.text()), std::string(c.resource.text())}] += c.amount;
        for (const auto& [pair, amount] : h.amounts) n.used[pair] += amount;
        held.push_back(std::move(h));
      }
    }
    std::set<std::string> named;
    for (const auto& [key, n] : nodes)
      if (!n.parent.empty()) named.insert(n.parent);
    for (const auto& key : named) nodes[key];
    std::erase_if(nodes, [&](const auto& one) { return ends_in_a_circle(one.first); });
    std::erase_if(held, [&](const Held& h) { return !nodes.contains(h.queue); });
  }

  std::map<std::string, Node> nodes;
  std::vector<Held> held;

  /// Σ weight of the resource · (consumed + penalty) / weight of the LocalQueue (BA-167).
  static double used_by_weight(const admission::Catalog& catalog, const admission::ClusterQueue& queue, const Symbol& namespace_,
                               const Symbol& local_queue) {
    const auto* ledger = queue.ledger(namespace_, local_queue);
    const auto& settings = catalog.settings.admission_fair_sharing;
    if (ledger == nullptr || !settings) return 0;
    const auto* config = catalog.local_queue(namespace_, local_queue);
    const double weight = config == nullptr ? 1 : static_cast<double>(config->fair_weight_nano) / 1e9;
    if (weight <= 0) return std::numeric_limits<double>::infinity();
    std::map<std::string, double> used;
    for (const auto* part : {&ledger->consumed(), &ledger->penalty()})
      for (const auto& [resource, amount] : part->parts()) used[std::string(resource.text())] += static_cast<double>(amount) / 1e9;
    double sum = 0;
    for (const auto& [resource, amount] : used) {
      const auto given = std::find_if(settings->resource_weights.begin(), settings->resource_weights.end(),
                                      [&r = resource](const auto& one) { return one.first == Symbol(r); });
      sum += amount * (given == settings->resource_weights.end() ? 1 : given->second);
    }
    return sum / weight;
  }

  /// Whether the LocalQueue of `a` has used more; sums of the same amounts in another order may differ in their last digit.
  static bool used_more(const Held& a, const Held& b) {
    return a.local_used > b.local_used && (std::isinf(a.local_used) || a.local_used - b.local_used > 1e-9 * a.local_used);
  }

  /// With admission fair sharing, what LocalQueues have used decays while a play goes on, and who has used more may be another one then.
  [[nodiscard]] bool same_order_of_usage(const PlainTree& after) const {
    std::map<std::string, const Held*> then;
    for (const auto& h : after.held) then[h.uid] = &h;
    for (const auto& a : held)
      for (const auto& b : held)
        if (a.queue == b.queue && then.contains(a.uid) && then.contains(b.uid) && used_more(a, b) != used_more(*then[a.uid], *then[b.uid]))
          return false;
    return true;
  }

  [[nodiscard]] const Node& node(const std::string& n) const { return nodes.at(n); }
  [[nodiscard]] const std::string& parent(const std::string& n) const { return node(n).parent; }
  [[nodiscard]] bool is_root(const std::string& n) const { return parent(n).empty(); }
  /// Is `n` this node, or a cohort above it?
  [[nodiscard]] bool is_above(const std::string& n, std::string below) const {
    for (; !below.empty(); below = parent(below))
      if (below == n) return true;
    return false;
  }
  [[nodiscard]] std::string root_of(std::string n) const {
    while (!is_root(n)) n = parent(n);
    return n;
  }
  /// Child cohorts by name, then child queues by name.
  [[nodiscard]] std::vector<std::string> children(const std::string& n) const {
    std::vector<std::string> out;
    for (const bool queues : {false, true})
      for (const auto& [name, child] : nodes)
        if (child.parent == n && child.is_queue == queues) out.push_back(name);
    return out;
  }
  [[nodiscard]] std::vector<std::string> below(const std::string& n) const {
    std::vector<std::string> out;
    for (const auto& [name, other] : nodes)
      if (name != n && is_above(n, name)) out.push_back(name);
    return out;
  }

  // ---- §2.1, §2.2

  [[nodiscard]] Limits limits(const std::string& n, const Pair& p) const {
    const auto& all = node(n).limits;
    const auto it = all.find(p);
    return it == all.end() ? Limits() : it->second;
  }
  [[nodiscard]] Amount subtree(const std::string& n, const Pair& p) const {
    Amount sum = limits(n, p).nominal;
    for (const auto& child : children(n)) sum += subtree(child, p) - local(child, p);
    return sum;
  }
  [[nodiscard]] Amount local(const std::string& n, const Pair& p) const {
    const auto lending = limits(n, p).lending;
    return lending && !is_root(n) ? std::max<Amount>(0, subtree(n, p) - *lending) : 0;
  }
  [[nodiscard]] Amount usage(const std::string& n, const Pair& p) const {
    if (node(n).is_queue) {
      const auto it = node(n).used.find(p);
      return it == node(n).used.end() ? 0 : it->second;
    }
    Amount sum = 0;
    for (const auto& child : children(n)) sum += std::max<Amount>(0, usage(child, p) - local(child, p));
    return sum;
  }
  [[nodiscard]] Amount local_available(const std::string& n, const Pair& p) const { return std::max<Amount>(0, local(n, p) - usage(n, p)); }
  [[nodiscard]] Amount available(const std::string& n, const Pair& p) const {
    if (is_root(n)) return subtree(n, p) - usage(n, p);
    Amount from_above = available(parent(n), p);
    if (const auto limit = limits(n, p).borrowing)
      from_above = std::min(from_above, subtree(n, p) - local(n, p) - std::max<Amount>(0, usage(n, p) - local(n, p)) + *limit);
    return local_available(n, p) + from_above;
  }
  [[nodiscard]] Amount offered(const std::string& n, const Pair& p) const { return std::max<Amount>(0, available(n, p)); }
  [[nodiscard]] Amount potential(const std::string& n, const Pair& p) const {
    if (is_root(n)) return subtree(n, p);
    const Amount whole = local(n, p) + potential(parent(n), p);
    const auto limit = limits(n, p).borrowing;
    return limit ? std::min(whole, subtree(n, p) + *limit) : whole;
  }
  [[nodiscard]] bool borrows_with(const std::string& n, const Pair& p, Amount more) const { return usage(n, p) + more > subtree(n, p); }
  [[nodiscard]] bool within_nominal(const std::string& n, const std::set<Pair>& pairs) const {
    return std::none_of(pairs.begin(), pairs.end(), [&](const Pair& p) { return usage(n, p) > subtree(n, p); });
  }
  /// `moreAbove` of the lowest subtree that fits.
  [[nodiscard]] bool fits_in_a_proper_subtree(const std::string& queue, const Pair& p, Amount wanted) const {
    if (!borrows_with(queue, p, wanted) || is_root(queue)) return !is_root(queue);
    Amount rest = wanted - local_available(queue, p);
    for (std::string n = parent(queue); !n.empty(); n = parent(n)) {
      if (!borrows_with(n, p, rest)) return !is_root(n);
      rest -= local_available(n, p);
    }
    return false;
  }

  // ---- sums over all that is below a node

  [[nodiscard]] Amount nominal_with_all_below(const std::string& n, const Pair& p) const {
    Amount sum = limits(n, p).nominal;
    for (const auto& other : below(n)) sum += limits(other, p).nominal;
    return sum;
  }
  [[nodiscard]] Amount used_by_all_below(const std::string& n, const Pair& p) const {
    Amount sum = 0;
    for (const auto& h : held)
      if (const auto it = h.amounts.find(p); it != h.amounts.end() && is_above(n, h.queue)) sum += it->second;
    return sum;
  }

  // ---- §7.5

  [[nodiscard]] std::set<Pair> pairs() const {
    std::set<Pair> out;
    for (const auto& [name, n] : nodes) {
      for (const auto& [pair, limits] : n.limits) out.insert(pair);
      for (const auto& [pair, amount] : n.used) out.insert(pair);
    }
    return out;
  }
  [[nodiscard]] PlainShare share(const std::string& n) const {
    PlainShare out{0, node(n).weight, false};
    if (is_root(n)) return out;
    std::map<std::string, std::pair<Amount, Amount>> by_resource;  // borrowed, lendable
    for (const auto& p : pairs()) {
      auto& [borrowed, lendable] = by_resource[p.second];
      borrowed += std::max<Amount>(0, usage(n, p) - subtree(n, p));
      lendable += potential(parent(n), p);
    }
    for (const auto& [resource, amounts] : by_resource) {
      const auto& [borrowed, lendable] = amounts;
      out.borrowing = out.borrowing || borrowed > 0;
      if (borrowed > 0 && lendable > 0)
        out.ratio = std::max(out.ratio, static_cast<double>(borrowed) * 1000.0 / static_cast<double>(lendable));
    }
    return out;
  }

  // ---- for searches

  void charge(const std::string& queue, const Amounts& amounts, int sign) {
    for (const auto& [pair, amount] : amounts) nodes.at(queue).used[pair] += sign * amount;
  }

 private:
  static void take(const std::vector<admission::ResourceGroup>& groups, std::int64_t weight_nano, Node& n) {
    n.weight = static_cast<double>(weight_nano) / 1e9;
    for (const auto& g : groups)
      for (const auto& f : g.flavors)
        for (std::size_t r = 0; r < g.resources.size() && r < f.quotas.size(); ++r) {
          const auto& q = f.quotas[r];
          n.limits[{std::string(f.flavor.text()), std::string(g.resources[r].text())}] = {q.nominal, q.borrowing_limit, q.lending_limit};
        }
  }
  [[nodiscard]] bool ends_in_a_circle(std::string n) const {
    for (std::size_t i = 0; i <= nodes.size() && !n.empty(); ++i) {
      const auto it = nodes.find(n);
      if (it == nodes.end()) return true;  // above it something was left out
      n = it->second.parent;
    }
    return !n.empty();
  }
};

}  // namespace hindsight::projections
