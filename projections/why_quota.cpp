#include <algorithm>
#include <map>
#include <optional>

#include "admission/domain/domain.hpp"
#include "admission/model/node_match.hpp"
#include "admission/queue/cohort_tree.hpp"
#include "events/decision_fields.hpp"
#include "projections/format.hpp"
#include "projections/repeated_preemptions.hpp"
#include "projections/scratch_tree.hpp"
#include "projections/why.hpp"

namespace hindsight::projections {
namespace {

using namespace admission;
using events::api_name;
using Verdict = FlavorTrial::Verdict;

constexpr std::size_t users_max = 5;

std::string node_name(const QuotaTree& tree, NodeIndex n) {
  return std::string(tree.table().node(n).is_queue ? "ClusterQueue " : "Cohort ") + std::string(tree.name(n).text());
}

/// The limit that an amount above the maximum capacity runs into first, from the queue upwards.
std::string blocks_for_good(const QuotaTree& tree, NodeIndex n, CellIndex c, Amount wanted) {
  const auto& table = tree.table();
  for (;;) {
    const QuotaCell& q = table.cell(n, c);
    if (!table.has_parent(n)) return "nominalQuota of " + node_name(tree, n) + (table.node(n).is_queue ? "" : " and its members");
    if (q.borrowing_limit != unlimited && wanted > add(q.subtree, q.borrowing_limit)) return "borrowingLimit of " + node_name(tree, n);
    wanted = subtract(wanted, q.local);
    n = table.parent(n);
  }
}

/// The limit that leaves no more available now: the tightest on the way up.
std::string blocks_now(const QuotaTree& tree, NodeIndex n, CellIndex c) {
  const auto& table = tree.table();
  for (;;) {
    const QuotaCell& q = table.cell(n, c);
    if (!table.has_parent(n)) return table.node(n).is_queue ? "nominalQuota of " + node_name(tree, n) : "capacity of " + node_name(tree, n);
    const Amount above = table.available(table.parent(n), c);
    if (q.borrowing_limit != unlimited) {
      const Amount cap = add(subtract(subtract(q.subtree, q.local), std::max<Amount>(0, subtract(q.usage, q.local))), q.borrowing_limit);
      if (cap < above) return "borrowingLimit of " + node_name(tree, n);
    }
    n = table.parent(n);
  }
}

bool may_have(const WorkloadInfo& w, const Symbol& flavor) {
  return w.allowed == nullptr || std::find(w.allowed->begin(), w.allowed->end(), flavor) != w.allowed->end();
}

std::string mismatch_of(const Catalog& catalog, const WorkloadInfo& w, const Symbol& flavor, const PodSetInfo& pod_set) {
  if (!may_have(w, flavor)) return "the workload may only be assigned " + (w.allowed->empty() ? "none" : joined(*w.allowed));
  const auto* config = catalog.flavor(flavor);
  if (config == nullptr) return "ResourceFlavor " + std::string(flavor.text()) + " does not exist";
  const PodShape& shape = *pod_set.shape;
  if (const auto* taint = first_untolerated_taint(*config, shape)) {
    return "taint " + taint->key + "=" + taint->value + ":" + std::string(api_name(taint->effect)) + " is not tolerated";
  }
  if (matches_node_labels(*config, shape)) return {};
  std::vector<std::string> labels;
  for (const auto& [key, value] : config->node_labels) labels.push_back(std::string(key.text()) + "=" + value);
  return "node selector or affinity does not match its labels " + joined(labels);
}

QuotaLine line_of(const std::vector<QuotaLine>& lines, const Symbol& flavor, const Symbol& resource) {
  for (const auto& l : lines)
    if (l.flavor == flavor && l.resource == resource) return l;
  return {flavor, resource, 0, {}, {}, {}};
}

const ResourceGroup* group_with(const QueueConfig& queue, const Symbol& resource) {
  for (const auto& g : queue.groups)
    if (std::find(g.resources.begin(), g.resources.end(), resource) != g.resources.end()) return &g;
  return nullptr;
}

/// What the slice that a Workload is to replace holds for one of its pod sets (EJ-32, EJ-35).
struct Held {
  Symbol flavor;
  Amount amount = 0;
};

/// Nothing: it replaces none, or that one has no flavor for the resource.
std::optional<Held> held_by_replaced(const QuotaTree* tree, const WorkloadInfo& w, const Symbol& pod_set, const Symbol& resource) {
  if (tree == nullptr || w.replaces == no_workload) return std::nullopt;
  const auto entry = tree->entry_of(w.replaces);
  if (entry == FlatIndex::none) return std::nullopt;
  for (const auto& p : tree->entry(entry).reservation->effective) {
    if (p.pod_set != pod_set) continue;
    Held out;
    for (const auto& [name, flavor] : p.flavors)
      if (name == resource) out.flavor = flavor;
    for (const auto& [name, amount] : p.usage)
      if (name == resource) out.amount = amount;
    if (!out.flavor.empty()) return out;
  }
  return std::nullopt;
}

/// What a pod set asks for beyond what it replaces.
Amount asked_by(const QuotaTree* tree, const WorkloadInfo& w, const PodSetInfo& pod_set, const Symbol& resource) {
  Amount total = 0;
  for (const auto& r : pod_set.requests)
    if (r.resource == resource) total = add(total, multiply(r.amount, pod_set.count));
  const auto held = held_by_replaced(tree, w, pod_set.name, resource);
  return held ? std::max<Amount>(0, subtract(total, held->amount)) : total;
}

void judge(const QuotaTree* tree, Symbol cluster_queue, FlavorTrial& t) {
  if (!t.mismatch.empty() || tree == nullptr) {
    t.verdict = Verdict::no_match;
    if (t.mismatch.empty()) t.mismatch = "the queue belongs to no tree of cohorts that can be scheduled";
    return;
  }
  const NodeIndex node = tree->find_queue(cluster_queue);
  const CellIndex cell = tree->find_cell(t.flavor, t.resource);
  const Amount wanted = add(t.earlier, t.requested);
  const Amount offered = std::max<Amount>(0, t.quota.figures.available);
  if (wanted > offered) t.missing = subtract(wanted, offered);
  if (wanted > t.quota.figures.potential) {
    t.verdict = Verdict::exceeds_maximum;
    t.blocked_by = blocks_for_good(*tree, node, cell, wanted);
  } else if (t.missing > 0) {
    t.verdict = Verdict::short_now;
    t.blocked_by = blocks_now(*tree, node, cell);
  } else {
    t.verdict = tree->table().borrowing_with(node, cell, wanted) ? Verdict::fits_borrowing : Verdict::fits;
  }
}

bool is_of_family(const WorkloadInfo& w, const WorkloadInfo& other) {
  return w.option != nullptr && other.option != nullptr && w.option->parent == other.option->parent;
}

/// How many holders of the pairs in `queues` the policy would let it preempt, and the lowest priority among all of them.
struct Candidates {
  std::size_t holders = 0, allowed = 0;
  std::int64_t lowest = 0;
};

Candidates count_candidates(const StateView& state, const std::vector<Symbol>& queues, const std::vector<FlavorTrial>& trials,
                            const WorkloadInfo& w, PreemptionPolicy policy) {
  std::map<std::string, std::pair<std::int64_t, Time>> holders;  // by uid
  for (const Symbol& name : queues) {
    const auto* queue = state.queue(name);
    if (queue == nullptr) continue;
    for (const auto& r : queue->reservations()) {
      if (r->workload->id == w.replaces) continue;  // never its victim
      if (is_of_family(w, *r->workload)) continue;  // nor are these (CA-76)
      const bool uses = std::any_of(r->charges.begin(), r->charges.end(), [&](const auto& charge) {
        return std::any_of(trials.begin(), trials.end(), [&](const FlavorTrial& t) {
          return t.missing > 0 && t.verdict == Verdict::short_now && t.flavor == charge.flavor && t.resource == charge.resource;
        });
      });
      if (uses) holders[r->workload->uid.text()] = {r->workload->priority, r->workload->queue_time};
    }
  }
  Candidates out;
  out.holders = holders.size();
  bool first = true;
  for (const auto& [uid, h] : holders) {
    const auto& [priority, time] = h;
    out.lowest = first ? priority : std::min(out.lowest, priority);
    first = false;
    const bool newer_equal = policy == PreemptionPolicy::lower_or_newer_equal_priority && priority == w.priority && w.queue_time < time;
    if (policy == PreemptionPolicy::any || (policy != PreemptionPolicy::never && (priority < w.priority || newer_equal))) ++out.allowed;
  }
  return out;
}

std::string policy_fact(std::string_view field, PreemptionPolicy policy, const Candidates& c, const WorkloadInfo& w,
                        std::string_view where) {
  const std::string head = std::string(field) + " is " + std::string(api_name(policy));
  if (policy == PreemptionPolicy::never) return head + ": it preempts nobody " + std::string(where);
  if (c.holders == 0) return head + ", but nobody " + std::string(where) + " holds what it needs";
  if (c.allowed == 0) {
    const bool one = c.holders == 1;
    return head + ", but " + (one ? "the only workload" : "all " + counted(c.holders, "workload")) + " " + std::string(where) +
           (one ? " that holds what it needs has priority " : " that hold what it needs have priority ") + std::to_string(c.lowest) +
           (one ? "" : " or more") + ", and its own is " + std::to_string(w.priority);
  }
  return head + ": it allows " + std::to_string(c.allowed) + " of " + counted(c.holders, "workload") + " " + std::string(where);
}

}  // namespace

std::vector<FlavorTrial> try_flavors(const StateView& state, const WorkloadInfo& w, const Symbol& cluster_queue) {
  std::vector<FlavorTrial> out;
  const Catalog& catalog = *state.domain().catalog();
  const auto* queue = catalog.queue(cluster_queue);
  if (queue == nullptr) return out;
  const auto* whole = tree_of(state, cluster_queue);
  const auto lines = quota_of_queue(state, cluster_queue);
  std::optional<ScratchTree> without;  // what the family of an Option holds and it takes over
  if (whole != nullptr && w.option != nullptr && (w.option->running != no_workload || w.option->held))
    if (without = ScratchTree::of(state, cluster_queue); without) without->free_for(w);
  for (std::size_t p = 0; p < w.pod_sets.size(); ++p) {
    const PodSetInfo& pod_set = w.pod_sets[p];
    for (const auto& g : queue->groups)
      for (const auto& f : g.flavors)
        for (const Symbol& resource : g.resources) {
          if (w.option != nullptr && !may_have(w, f.flavor)) continue;  // siblings are for these
          const bool alone = without && !holds_beside(*queue, w, f.flavor);
          const auto* tree = alone ? &without->tree() : whole;
          const auto asked =
              std::find_if(pod_set.requests.begin(), pod_set.requests.end(), [&](const auto& r) { return r.resource == resource; });
          if (asked == pod_set.requests.end()) continue;
          FlavorTrial t;
          t.pod_set = pod_set.name.text();
          t.flavor = f.flavor;
          t.resource = resource;
          t.requested = asked_by(tree, w, pod_set, resource);
          for (std::size_t e = 0; e < p; ++e) {  // as if the earlier ones took the same flavor
            if (!mismatch_of(catalog, w, f.flavor, w.pod_sets[e]).empty()) continue;
            t.earlier = add(t.earlier, asked_by(tree, w, w.pod_sets[e], resource));
          }
          t.quota = line_of(lines, f.flavor, resource);
          if (alone) t.quota.figures = tree->queue_figures(cluster_queue, f.flavor, resource);
          t.mismatch = mismatch_of(catalog, w, f.flavor, pod_set);
          if (const auto held = held_by_replaced(tree, w, pod_set.name, resource); held && held->flavor != f.flavor)
            t.mismatch = "the slice that it replaces uses flavor " + std::string(held->flavor.text());
          judge(tree, cluster_queue, t);
          out.push_back(std::move(t));
        }
  }
  return out;
}

std::vector<Symbol> uncovered_resources(const StateView& state, const WorkloadInfo& w, const Symbol& cluster_queue) {
  std::vector<Symbol> out;
  const Catalog& catalog = *state.domain().catalog();
  const auto* queue = catalog.queue(cluster_queue);
  if (queue == nullptr || catalog.settings.ignore_undeclared_resources) return out;
  for (const auto& p : w.pod_sets)
    for (const auto& r : p.requests) {
      if (r.amount == 0 || p.count == 0 || group_with(*queue, r.resource) != nullptr) continue;
      if (std::find(out.begin(), out.end(), r.resource) == out.end()) out.push_back(r.resource);
    }
  return out;
}

std::vector<PairUsers> users_of(const StateView& state, const WorkloadInfo& w, const std::vector<FlavorTrial>& trials,
                                const Symbol& cluster_queue) {
  std::vector<PairUsers> out;
  auto others = queues_of_tree(state, cluster_queue);
  std::erase(others, cluster_queue);
  for (const auto& t : trials) {
    if (t.missing == 0 || t.verdict == Verdict::no_match) continue;
    if (std::any_of(out.begin(), out.end(), [&](const PairUsers& u) { return u.flavor == t.flavor && u.resource == t.resource; })) continue;
    PairUsers u;
    u.flavor = t.flavor;
    u.resource = t.resource;
    u.own = holders_of(state, {cluster_queue}, t.flavor, t.resource);
    u.others = holders_of(state, others, t.flavor, t.resource);
    if (w.option != nullptr)  // its own family is not in its way
      for (auto* holders : {&u.own, &u.others}) std::erase_if(*holders, [&](const Holder& h) { return h.family == w.option->family; });
    for (const auto& h : u.own) u.own_total = add(u.own_total, h.amount);
    u.tree_total = u.own_total;
    for (const auto& h : u.others) u.tree_total = add(u.tree_total, h.amount);
    const auto keep_first = [](std::vector<Holder>& holders, std::size_t& left_out) {
      const std::size_t shown = std::min(holders.size(), users_max);
      left_out = holders.size() - shown;
      holders.resize(shown);
    };
    keep_first(u.own, u.own_left_out);
    keep_first(u.others, u.others_left_out);
    if (u.tree_total > 0) out.push_back(std::move(u));
  }
  return out;
}

std::vector<std::string> preemption_facts(const StateView& state, const WorkloadInfo& w, const Symbol& cluster_queue,
                                          const std::vector<FlavorTrial>& trials) {
  std::vector<std::string> out;
  const auto* queue = state.domain().catalog()->queue(cluster_queue);
  const bool any_short = std::any_of(trials.begin(), trials.end(), [](const FlavorTrial& t) { return t.verdict == Verdict::short_now; });
  if (queue == nullptr || !any_short) return out;
  if (auto scratch = ScratchTree::of(state, cluster_queue)) {
    std::vector<std::string> names;
    for (const auto& victim : scratch->victims_of(w)) names.push_back(full_name(victim.namespace_, victim.name));
    const bool gated = w.option != nullptr && w.option->gated;
    if (!names.empty())
      out.push_back(gated ? "it would have to preempt " + joined(names) +
                                ", for which it has not got the right: of a family one Option has it"
                          : "it can preempt " + joined(names));
  }
  for (const auto* count : state.domain().repeated_preemptions().left_alone_by(w.uid))
    out.push_back("it has preempted " + preempted_how_often(state, *count) +
                  ", which came back each time: it does not again until something else changes");
  out.push_back(policy_fact("withinClusterQueue", queue->within_cluster_queue,
                            count_candidates(state, {cluster_queue}, trials, w, queue->within_cluster_queue), w,
                            "in its own ClusterQueue"));
  if (!queue->cohort.empty()) {
    auto others = queues_of_tree(state, cluster_queue);
    std::erase(others, cluster_queue);
    // only queues that borrow give anything back
    std::erase_if(others, [&](Symbol name) {
      const auto lines = quota_of_queue(state, name);
      return std::none_of(lines.begin(), lines.end(), [&](const QuotaLine& l) {
        return l.figures.borrowed > 0 && std::any_of(trials.begin(), trials.end(), [&](const FlavorTrial& t) {
                 return t.missing > 0 && t.flavor == l.flavor && t.resource == l.resource;
               });
      });
    });
    out.push_back(policy_fact("reclaimWithinCohort", queue->reclaim_within_cohort,
                              count_candidates(state, others, trials, w, queue->reclaim_within_cohort), w,
                              "among the queues of the cohort that borrow"));
  }
  return out;
}

}  // namespace hindsight::projections
