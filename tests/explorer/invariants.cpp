#include "tests/explorer/invariants.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "admission/queue/cohort_tree.hpp"
#include "admission/workload/workload_parent.hpp"
#include "tests/explorer/family_rules.hpp"
#include "tests/explorer/holdings.hpp"

namespace hindsight::explorer {
namespace {

using admission::Catalog;
using admission::ClusterQueue;
using admission::StateView;
using admission::WorkloadParent;
using admission::WorkloadState;

/// May it wait in a queue (base-admission §3.1)?
bool admissible(const WorkloadState& w, const WorkloadParent& parent, const Catalog& catalog) {
  if (!w.active || w.finished() || w.deleting || w.removal_pending || w.reserved() || !w.admission_gated_by.empty()) return false;
  if (parent.job() && parent.job()->on_hold) return false;
  const auto* lq = catalog.local_queue(w.namespace_, w.queue_name);
  return lq != nullptr && lq->stop_policy == StopPolicy::none && catalog.queue(lq->cluster_queue) != nullptr;
}

/// Who waits in the queues, who holds quota there, and how much of it. It is compared after every record, so it is kept flat: names by
/// their numbers, uids where they stand.
struct Books {
  using Standing = std::pair<std::uint32_t, std::string_view>;  ///< queue, uid
  struct Use {
    std::array<std::uint32_t, 3> of{};  ///< queue, flavor, resource
    Amount amount = 0;
    friend bool operator==(const Use&, const Use&) = default;
  };
  std::vector<Standing> pending, reserving;
  std::vector<Use> usage;

  void add(const Symbol& queue, const Symbol& flavor, const Symbol& resource, Amount amount) {
    usage.push_back({{queue.id(), flavor.id(), resource.id()}, amount});
  }
  /// Sorted, amounts of one cell added up, zero amounts left out: two that say the same are equal.
  void settle() {
    std::ranges::sort(pending);
    std::ranges::sort(reserving);
    std::ranges::sort(usage, {}, &Use::of);
    std::vector<Use> sums;
    for (const Use& u : usage) {
      if (sums.empty() || sums.back().of != u.of)
        sums.push_back(u);
      else
        sums.back().amount += u.amount;
    }
    std::erase_if(sums, [](const Use& u) { return u.amount == 0; });
    usage = std::move(sums);
  }
};

/// Of the queues that there are, by the states of the Workloads.
Books expected_books(const StateView& state) {
  Books b;
  const Catalog& catalog = *state.domain().catalog();
  const auto stands = [&](std::vector<Books::Standing>& list, const Symbol& queue, const WorkloadState& w) {
    if (catalog.queue(queue) != nullptr) list.emplace_back(queue.id(), w.uid.view());
  };
  const auto uses = [&](const Symbol& queue, const Symbol& flavor, const Symbol& resource, Amount amount) {
    if (catalog.queue(queue) != nullptr) b.add(queue, flavor, resource, amount);
  };
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr) continue;
    const auto family_queues = family_queues_of(*parent, state);
    for (std::size_t n = 0; n < parent->workloads().size(); ++n) {
      const auto& w = parent->workloads()[n];
      const auto* replaced = parent->replaced_by(n, state.domain().context());
      if (w.family && w.family->hold) {
        const Symbol& q = w.family->hold->cluster_queue;
        stands(b.reserving, q, w);
        for (const auto& [cell, amount] : kept_for_migration(*parent, w)) uses(q, cell.first, cell.second, amount);
      }
      if (const Symbol& q = family_queues[n]; !q.empty()) stands(b.pending, q, w);
      if (holds_quota(*parent, w, catalog)) {
        const Symbol& q = w.admission->cluster_queue;
        stands(b.reserving, q, w);
        const auto reservation = admission::make_reservation(w, admission::make_info(w, catalog, {}, replaced), replaced);
        for (const auto& charge : reservation->charges) uses(q, charge.flavor, charge.resource, charge.amount);
      } else if (part_of(*parent, w) == Part::plain && !wants_options(w, catalog) && admissible(w, *parent, catalog) &&
                 !parent->withheld(n, state.domain().context())) {
        stands(b.pending, catalog.local_queue(w.namespace_, w.queue_name)->cluster_queue, w);
      }
    }
  }
  b.settle();
  return b;
}

/// As the queues have it.
Books books_of_queues(const StateView& state) {
  Books b;
  for (const auto& [name, config] : state.domain().catalog()->queues) {
    const ClusterQueue* q = state.queue(name);
    if (q == nullptr) continue;
    for (const auto& w : q->waiting()) b.pending.emplace_back(name.id(), w.workload->uid.view());
    for (const auto& r : q->reservations()) {
      b.reserving.emplace_back(name.id(), r->workload->uid.view());
      for (const auto& charge : r->charges) b.add(name, charge.flavor, charge.resource, charge.amount);
    }
  }
  b.settle();
  return b;
}

std::string list(const std::vector<Books::Standing>& standing, const Symbol& queue) {
  std::string out = "{";
  for (const auto& [q, uid] : standing)
    if (q == queue.id()) out += (out.size() > 1 ? ", " : "") + std::string(uid);
  return out + "}";
}

/// In words, for the first queue of which the two say different things; empty: there is none.
std::string difference(const Books& shown, const Books& expected, const Catalog& catalog) {
  if (shown.pending == expected.pending && shown.reserving == expected.reserving && shown.usage == expected.usage) return {};
  for (const auto& [name, config] : catalog.queues) {
    const std::string text = "ClusterQueue " + std::string(name.text());
    const auto differ = [&, queue = name](const auto& a, const auto& b) { return list(a, queue) != list(b, queue); };
    if (differ(shown.pending, expected.pending))
      return text + ": pending " + list(shown.pending, name) + ", by their states " + list(expected.pending, name);
    if (differ(shown.reserving, expected.reserving))
      return text + ": reserving " + list(shown.reserving, name) + ", by their states " + list(expected.reserving, name);
  }
  const auto [mine, other] = std::ranges::mismatch(shown.usage, expected.usage);
  const auto& of = (mine == shown.usage.end() || (other != expected.usage.end() && other->of < mine->of) ? other : mine)->of;
  return "ClusterQueue " + std::string(Symbol::from_id(of[0]).text()) + ": its charges of " + std::string(Symbol::from_id(of[1]).text()) +
         " differ from what the Workloads' states say";
}

/// Every (flavor, resource) that any queue or cohort of the catalog names.
std::vector<std::pair<Symbol, Symbol>> all_pairs(const Catalog& catalog) {
  std::vector<std::pair<Symbol, Symbol>> out;
  const auto take = [&](const auto& config) {
    for (const auto& g : config.groups)
      for (const auto& f : g.flavors)
        for (const Symbol& r : g.resources)
          if (std::ranges::find(out, std::pair(f.flavor, r)) == out.end()) out.emplace_back(f.flavor, r);
  };
  for (const auto& [name, q] : catalog.queues) take(*q);
  for (const auto& [name, c] : catalog.cohorts) take(*c);
  return out;
}

std::string check_books(const StateView& state) {
  const Catalog& catalog = *state.domain().catalog();
  for (const auto& [name, config] : catalog.queues)
    if (state.queue(name) == nullptr) return "ClusterQueue " + std::string(name.text()) + " is observed but has no entity";
  const Books shown = books_of_queues(state);
  std::vector<std::string_view> uids;
  for (const auto* standing : {&shown.pending, &shown.reserving})
    for (const auto& one : *standing) uids.push_back(one.second);
  std::ranges::sort(uids);
  if (const auto twice = std::ranges::adjacent_find(uids); twice != uids.end())
    return "Workload " + std::string(*twice) + " stands twice in the queues";
  if (auto finding = difference(shown, expected_books(state), catalog); !finding.empty()) return finding;

  const auto pairs = all_pairs(catalog);
  for (const auto& [name, config] : catalog.queues) {
    const Symbol root = catalog.root_of(name);
    if (root.empty()) continue;  // below a circle of cohorts: no tree
    const std::string_view text = name.text();
    const auto* tree = state.tree(root);
    if (tree == nullptr || tree->quota() == nullptr)
      return "ClusterQueue " + std::string(text) + ": its tree " + std::string(root.text()) + " is not built";
    std::vector<Books::Standing> in_tree, reserving;
    for (const auto id : tree->quota()->reservations_of(name))
      in_tree.emplace_back(name.id(), tree->quota()->find_reservation(id)->reservation->workload->uid.view());
    std::ranges::sort(in_tree);
    for (const auto& one : shown.reserving)
      if (one.first == name.id()) reserving.push_back(one);
    if (in_tree != reserving)
      return "ClusterQueue " + std::string(text) + ": reserving " + list(reserving, name) + ", in its tree " + list(in_tree, name);
    const auto finding = [&, queue = name](const Symbol& flavor, const Symbol& resource, Amount amount) -> std::string {
      const Amount charged = tree->quota()->usage(queue, flavor, resource);
      if (charged == amount) return {};
      return "ClusterQueue " + std::string(text) + ": uses " + std::to_string(amount) + " " + std::string(resource.text()) + " of " +
             std::string(flavor.text()) + ", its tree says " + std::to_string(charged);
    };
    std::vector<std::pair<Symbol, Symbol>> unused = pairs;
    for (const auto& use : shown.usage) {
      if (use.of[0] != name.id()) continue;
      const Symbol flavor = Symbol::from_id(use.of[1]), resource = Symbol::from_id(use.of[2]);
      if (auto found = finding(flavor, resource, use.amount); !found.empty()) return found;
      std::erase(unused, std::pair(flavor, resource));
    }
    for (const auto& [flavor, resource] : unused)
      if (auto found = finding(flavor, resource, 0); !found.empty()) return found;
  }
  return {};
}

/// EJ-19, EJ-23, EJ-55: at most two unfinished slices of a job, one of them admitted at most; what both hold is never the sum of the two.
std::string check_slices(const StateView& state) {
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr || !parent->job() || !parent->job()->elastic) continue;
    const auto& workloads = parent->workloads();
    const auto chain = admission::slice_chain(workloads);
    // A replacement may be seen to be admitted although its write was thought refused. The slice that it replaces ends in the next step
    // (EJ-25); SliceRules::check_rest sees to that.
    const auto is_seen_replaced = [&](const admission::WorkloadState& w) {
      return chain.holder != admission::SliceChain::none && !workloads[chain.holder].waits_for(admission::Section::admission) &&
             admission::names(workloads[chain.holder], w);
    };
    int live = 0, admitted = 0;
    for (const auto& w : workloads) {
      if (!admission::is_live(w) || !admission::is_slice(w)) continue;
      ++live;
      admitted += w.reserved() && w.admitted() && !is_seen_replaced(w) ? 1 : 0;
    }
    const std::string job = "job " + parent->job()->name + ": ";
    if (live > 2) return job + std::to_string(live) + " unfinished slices";
    if (admitted > 1) return job + std::to_string(admitted) + " admitted slices";
    if (chain.holder == admission::SliceChain::none || chain.pending == admission::SliceChain::none) continue;
    if (workloads[chain.holder].family || workloads[chain.pending].family) continue;  // their Options hold it: SliceRules::after
    const auto& holder = workloads[chain.holder];
    const auto& pending = workloads[chain.pending];
    const auto* queue = pending.reserved() && pending.active && holder.active ? state.queue(holder.admission->cluster_queue) : nullptr;
    if (queue == nullptr || pending.admission->cluster_queue != holder.admission->cluster_queue) continue;
    std::map<std::pair<Symbol, Symbol>, Amount, ByNames> larger, held;
    for (const auto* w : {&holder, &pending})
      for (const auto& p : admission::effective_usage(*w))
        for (const auto& [resource, flavor] : p.flavors)
          for (const auto& [name, amount] : p.usage)
            if (name == resource) (w == &holder ? held : larger)[{flavor, resource}] += amount;
    for (const auto& [pair, amount] : held) larger[pair] = std::max(larger[pair], amount);
    for (const auto& r : queue->reservations())
      if (r->workload->uid == holder.uid || r->workload->uid == pending.uid)
        for (const auto& charge : r->charges) larger[{charge.flavor, charge.resource}] -= charge.amount;
    for (const auto& [pair, rest] : larger)
      if (rest != 0) return job + "its two slices do not hold the larger of the two of " + std::string(pair.second.text());
  }
  return {};
}

/// A slice that was replaced by this record has given its place to one that is admitted.
std::string check_replacements(const StateView& state, const RecordView& record) {
  const auto* decisions = std::get_if<Decisions>(&record.body);
  if (decisions == nullptr) return {};
  const auto find = [&](Text uid) -> const WorkloadState* {
    const auto index = state.domain().find_parent(uid);
    const auto* parent = index ? state.parent(*index) : nullptr;
    if (parent != nullptr)
      for (const auto& w : parent->workloads())
        if (w.uid == uid) return &w;
    return nullptr;
  };
  for (const Event& e : decisions->events) {
    const auto* r = std::get_if<SliceReplaced>(&e);
    const auto* old = r == nullptr ? nullptr : find(r->workload.uid);
    const auto* slice = r == nullptr ? nullptr : find(r->replacement.uid);
    if (old == nullptr || slice == nullptr || slice->finished()) continue;
    if (old->finished() != slice->admitted() && old->last_decision == record.envelope.sequence)
      return "slices " + old->name + " and " + slice->name + ": " + (old->finished() ? "neither" : "both") +
             " hold quota after a replacement";
  }
  return {};
}

/// What the victims of this decision still hold of one flavor and resource. Others of its cycle may have got what the preemptor leaves of
/// it (base-admission §6.2: fits with the victims removed), so until they have gone that much is in use beyond the maximum.
Amount held_by_victims(const StateView& state, const Decisions& decisions, Symbol flavor, Symbol resource) {
  Amount out = 0;
  for (const Event& e : decisions.events) {
    const auto* preempted = std::get_if<WorkloadPreempted>(&e);
    const auto index = preempted == nullptr ? std::nullopt : state.domain().find_parent(preempted->workload.uid);
    if (!index) continue;
    for (const auto& w : state.parent(*index)->workloads()) {
      if (w.uid != preempted->workload.uid || !w.admission) continue;
      for (const auto& p : w.admission->pod_sets) {
        const auto assigned = std::ranges::find(p.flavors, resource, [](const auto& f) { return f.first; });
        const auto used = std::ranges::find(p.usage, resource, [](const auto& u) { return u.first; });
        if (assigned != p.flavors.end() && assigned->second == flavor && used != p.usage.end()) out += used->second;
      }
    }
  }
  return out;
}

bool is_configuration(const RecordView& record) {
  const auto* o = std::get_if<Observation>(&record.body);
  if (o == nullptr) return false;
  if (const auto* gone = std::get_if<ObjectDeleted>(o)) return gone->kind != ObjectKind::workload && gone->kind != ObjectKind::job;
  return !std::holds_alternative<WorkloadObserved>(*o) && !std::holds_alternative<JobObserved>(*o) &&
         !std::holds_alternative<TimerFired>(*o) && !std::holds_alternative<WriteRefused>(*o);
}

}  // namespace

std::string Invariants::check(const StateView& state, const RecordView& record) {
  if (auto finding = check_books(state); !finding.empty()) return finding;
  if (auto finding = check_slices(state); !finding.empty()) return finding;
  if (auto finding = check_replacements(state, record); !finding.empty()) return finding;

  const Catalog& catalog = *state.domain().catalog();
  const auto* decisions = std::get_if<Decisions>(&record.body);
  std::vector<Cell> cells;
  std::set<Symbol, ByText> roots;
  for (const auto& [queue, root] : catalog.roots)
    if (!root.empty()) roots.insert(root);
  const auto pairs = all_pairs(catalog);
  for (const Symbol& root : roots) {
    const auto& tree = *state.tree(root)->quota();
    for (const auto& [flavor, resource] : pairs) {
      const auto note = [&, flavor = flavor, resource = resource](bool cohort, const Symbol& node, const admission::QuotaTree::Figures& f) {
        const Amount over = std::max<Amount>(0, subtract(f.usage, std::max<Amount>(0, f.potential)));
        cells.push_back({{cohort ? 1U : 0U, node.id(), flavor.id(), resource.id()}, f.usage, over});
      };
      for (const Symbol& q : tree.queue_names()) note(false, q, tree.queue_figures(q, flavor, resource));
      for (const Symbol& c : tree.cohort_names()) note(true, c, tree.cohort_figures(c, flavor, resource));
    }
  }
  std::ranges::sort(cells, {}, &Cell::of);
  static const Cell nothing;
  const auto before = [&](const Cell& cell) -> const Cell& {
    const auto it = std::ranges::lower_bound(cells_, cell.of, {}, &Cell::of);
    return it == cells_.end() || it->of != cell.of ? nothing : *it;
  };

  std::string finding;
  if (decisions == nullptr) {
    const auto raised = [&](const Cell& cell) { return cell.usage > before(cell).usage || cell.over != before(cell).over; };
    const bool same_cells = std::ranges::equal(cells, cells_, {}, &Cell::of, &Cell::of);
    if (!same_cells || is_configuration(record) || std::ranges::any_of(cells, raised)) changed_ = record.envelope.sequence;
  } else if (decisions->base >= changed_) {
    for (const Cell& cell : cells) {
      if (cell.over <= before(cell).over) continue;
      const auto name = [&](std::size_t i) { return Symbol::from_id(cell.of[i]); };
      if (cell.over <= before(cell).over + held_by_victims(state, *decisions, name(2), name(3))) continue;
      finding = std::string(cell.of[0] == 1 ? "Cohort " : "ClusterQueue ") + std::string(name(1).text()) + ", " +
                std::string(name(2).text()) + ", " + std::string(name(3).text()) + ": a decision took usage " + std::to_string(cell.over) +
                " beyond the maximum";
    }
  }
  cells_ = std::move(cells);
  return finding;
}

}  // namespace hindsight::explorer
