#include "tests/explorer/invariants.hpp"

#include <algorithm>
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

struct Books {
  std::map<Symbol, std::multiset<std::string>, ByText> pending, reserving;
  std::map<Symbol, Amounts, ByText> usage;
};

Books expected_books(const StateView& state) {
  Books b;
  const Catalog& catalog = *state.domain().catalog();
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr) continue;
    const auto family_queues = family_queues_of(*parent, state);
    for (std::size_t n = 0; n < parent->workloads().size(); ++n) {
      const auto& w = parent->workloads()[n];
      const auto* replaced = parent->replaced_by(n, state.domain().context());
      if (w.family && w.family->hold) {
        const Symbol q = w.family->hold->cluster_queue;
        b.reserving[q].insert(w.uid.text());
        for (const auto& [cell, amount] : kept_for_migration(*parent, w)) b.usage[q][cell] += amount;
      }
      if (const Symbol& q = family_queues[n]; !q.empty()) b.pending[q].insert(w.uid.text());
      if (holds_quota(*parent, w, catalog)) {
        const Symbol q = w.admission->cluster_queue;
        b.reserving[q].insert(w.uid.text());
        const auto reservation = admission::make_reservation(w, admission::make_info(w, catalog, {}, replaced), replaced);
        for (const auto& charge : reservation->charges) b.usage[q][{charge.flavor, charge.resource}] += charge.amount;
      } else if (part_of(*parent, w) == Part::plain && !wants_options(w, catalog) && admissible(w, *parent, catalog) &&
                 !parent->withheld(n, state.domain().context())) {
        b.pending[catalog.local_queue(w.namespace_, w.queue_name)->cluster_queue].insert(w.uid.text());
      }
    }
  }
  return b;
}

Amounts nonzero(Amounts amounts) {
  std::erase_if(amounts, [](const auto& one) { return one.second == 0; });
  return amounts;
}

std::string list(const std::multiset<std::string>& uids) {
  std::string out = "{";
  for (const auto& u : uids) out += (out.size() > 1 ? ", " : "") + u;
  return out + "}";
}

std::string check_books(const StateView& state) {
  const Books books = expected_books(state);
  std::set<std::string> seen;
  for (const auto& [name, config] : state.domain().catalog()->queues) {
    const ClusterQueue* q = state.queue(name);
    const std::string text(name.text());
    if (q == nullptr) return "ClusterQueue " + text + " is observed but has no entity";
    std::multiset<std::string> pending, reserving;
    Amounts usage;
    for (const auto& w : q->waiting()) pending.insert(w.workload->uid.text());
    for (const auto& r : q->reservations()) {
      reserving.insert(r->workload->uid.text());
      for (const auto& charge : r->charges) usage[{charge.flavor, charge.resource}] += charge.amount;
    }
    for (const auto* uids : {&pending, &reserving})
      for (const auto& uid : *uids)
        if (!seen.insert(uid).second) return "Workload " + uid + " stands twice in the queues, the second time in " + text;
    const auto expected = [&, queue = name](const auto& table) {
      const auto it = table.find(queue);
      return it == table.end() ? std::multiset<std::string>{} : it->second;
    };
    if (pending != expected(books.pending))
      return "ClusterQueue " + text + ": pending " + list(pending) + ", by their states " + list(expected(books.pending));
    if (reserving != expected(books.reserving))
      return "ClusterQueue " + text + ": reserving " + list(reserving) + ", by their states " + list(expected(books.reserving));
    const auto it = books.usage.find(name);
    if (nonzero(usage) != (it == books.usage.end() ? Amounts{} : nonzero(it->second)))
      return "ClusterQueue " + text + ": its charges differ from what the Workloads' states say";

    const Symbol root = state.domain().catalog()->root_of(name);
    if (root.empty()) continue;  // below a circle of cohorts: no tree
    const auto* tree = state.tree(root);
    if (tree == nullptr || tree->quota() == nullptr)
      return "ClusterQueue " + text + ": its tree " + std::string(root.text()) + " is not built";
    std::multiset<std::string> in_tree;
    for (const auto id : tree->quota()->reservations_of(name))
      in_tree.insert(tree->quota()->find_reservation(id)->reservation->workload->uid.text());
    if (in_tree != reserving) return "ClusterQueue " + text + ": reserving " + list(reserving) + ", in its tree " + list(in_tree);
    for (const auto& [pair, amount] : usage)
      if (const Amount charged = tree->quota()->usage(name, pair.first, pair.second); charged != amount)
        return "ClusterQueue " + text + ": uses " + std::to_string(amount) + " " + std::string(pair.second.text()) + " of " +
               std::string(pair.first.text()) + ", its tree says " + std::to_string(charged);
  }
  return {};
}

/// Every (flavor, resource) that any queue or cohort of the catalog names.
std::set<std::pair<Symbol, Symbol>, ByNames> all_pairs(const Catalog& catalog) {
  std::set<std::pair<Symbol, Symbol>, ByNames> out;
  const auto take = [&](const auto& config) {
    for (const auto& g : config.groups)
      for (const auto& f : g.flavors)
        for (const Symbol& r : g.resources) out.emplace(f.flavor, r);
  };
  for (const auto& [name, q] : catalog.queues) take(*q);
  for (const auto& [name, c] : catalog.cohorts) take(*c);
  return out;
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
  std::map<Cell, Amount> over, usage, leaving;
  std::set<Symbol, ByText> roots;
  for (const auto& [queue, root] : catalog.roots)
    if (!root.empty()) roots.insert(root);
  const auto pairs = all_pairs(catalog);
  for (const Symbol& root : roots) {
    const auto& tree = *state.tree(root)->quota();
    for (const auto& [flavor, resource] : pairs) {
      const auto note = [&, flavor = flavor, resource = resource](std::string_view kind, Symbol node,
                                                                  const admission::QuotaTree::Figures& f) {
        const Cell cell =
            std::string(kind) + " " + std::string(node.text()) + ", " + std::string(flavor.text()) + ", " + std::string(resource.text());
        over[cell] = std::max<Amount>(0, subtract(f.usage, std::max<Amount>(0, f.potential)));
        usage[cell] = f.usage;
        if (over[cell] != 0 && decisions != nullptr) leaving[cell] = held_by_victims(state, *decisions, flavor, resource);
      };
      for (const Symbol& q : tree.queue_names()) note("ClusterQueue", q, tree.queue_figures(q, flavor, resource));
      for (const Symbol& c : tree.cohort_names()) note("Cohort", c, tree.cohort_figures(c, flavor, resource));
    }
  }

  std::string finding;
  if (decisions == nullptr) {
    bool raised = over != over_ || is_configuration(record);
    for (const auto& [cell, amount] : usage) {
      const auto before = usage_.find(cell);
      raised |= amount > (before == usage_.end() ? 0 : before->second);
    }
    if (raised) changed_ = record.envelope.sequence;
  } else if (decisions->base >= changed_) {
    for (const auto& [cell, amount] : over) {
      const auto before = over_.find(cell);
      if (amount > (before == over_.end() ? 0 : before->second) + leaving[cell])
        finding = cell + ": a decision took usage " + std::to_string(amount) + " beyond the maximum";
    }
  }
  over_ = std::move(over);
  usage_ = std::move(usage);
  return finding;
}

}  // namespace hindsight::explorer
