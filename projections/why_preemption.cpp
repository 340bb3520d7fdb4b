// Whom a waiting Workload may preempt, how much that would free, and why the others are spared. What is asked of the rules is asked of
// their own search on a copy of the quota (ScratchTree::search), which writes down what it looks at.

#include "projections/why_preemption.hpp"

#include <algorithm>

#include "admission/domain/domain.hpp"
#include "admission/scheduling/outcome_text.hpp"
#include "projections/format.hpp"
#include "projections/why.hpp"

namespace hindsight::projections {
namespace {

using namespace admission;
using Stepped = PreemptionStep::Kind;

/// What one search had to find, and what it looked at.
struct Looked {
  ScratchTree::Search search;
  bool must_borrow = false;  ///< There was none: it would have to borrow, and must not preempt for that (base-admission §5.4).
};

class PreemptionStory {
 public:
  PreemptionStory(const StateView& state, const WorkloadInfo& workload, Symbol queue, const std::vector<FlavorTrial>& trials,
                  ScratchTree& scratch)
      : state_(state),
        w_(workload),
        trials_(trials),
        scratch_(scratch),
        tree_(scratch.tree()),
        settings_(state.domain().catalog()->settings),
        node_(tree_.find_queue(queue)),
        config_(*tree_.queue(node_).config) {
    NodeIndex root = node_;
    while (tree_.table().has_parent(root)) root = tree_.table().parent(root);
    for (NodeIndex n = root; n < tree_.table().node(root).end; ++n)
      if (tree_.table().node(n).is_queue) queues_.push_back(n);
  }

  PreemptionReport make() {
    PreemptionReport out;
    std::vector<Symbol> flavors;
    for (const auto& t : trials_)
      if (t.verdict == FlavorTrial::Verdict::short_now && std::find(flavors.begin(), flavors.end(), t.flavor) == flavors.end())
        flavors.push_back(t.flavor);
    for (const Symbol& flavor : flavors)
      if (auto one = look_at(flavor)) out.flavors.push_back(std::move(*one));
    if (auto search = scratch_.search(w_)) out.victims = victims(Looked{std::move(*search)});
    return out;
  }

 private:
  using Entry = std::uint32_t;

  // ---- one flavor -----------------------------------------------------------------------------------------------------------------

  /// Nothing: it can never have what it asks for there.
  std::optional<FlavorPreemption> look_at(const Symbol& flavor) {
    FlavorPreemption out;
    out.flavor = flavor;
    std::vector<CellAmount> requests;
    std::vector<std::pair<CellIndex, FlavorPreemption::Need>> needs;
    for (const auto& t : trials_) {
      if (t.flavor != flavor || t.verdict == FlavorTrial::Verdict::no_match) continue;
      if (t.verdict == FlavorTrial::Verdict::exceeds_maximum) return std::nullopt;
      const CellIndex cell = tree_.find_cell(flavor, t.resource);
      const Amount wanted = add(t.earlier, t.requested);
      if (cell == no_cell || wanted <= 0) continue;
      const auto same = [&](const auto& r) { return r.cell == cell; };
      const auto asked = std::find_if(requests.begin(), requests.end(), same);
      if (asked == requests.end())
        requests.push_back({cell, wanted});
      else
        asked->amount = std::max(asked->amount, wanted);
      if (t.verdict != FlavorTrial::Verdict::short_now) continue;
      const FlavorPreemption::Need need{t.resource, subtract(wanted, t.quota.figures.available), 0, 0};
      const auto known = std::find_if(needs.begin(), needs.end(), [&](const auto& n) { return n.first == cell; });
      if (known == needs.end())
        needs.emplace_back(cell, need);
      else
        known->second.needed = std::max(known->second.needed, need.needed);
    }
    if (needs.empty()) return std::nullopt;
    std::sort(requests.begin(), requests.end(), [](const auto& a, const auto& b) { return a.cell < b.cell; });
    std::vector<CellIndex> cells;
    for (const auto& [cell, need] : needs) {
      cells.push_back(cell);
      out.needs.push_back(need);
    }
    const Looked looked = look(std::move(requests), std::move(cells));
    out.enough = !looked.search.targets.empty();
    fill(looked, out);
    return out;
  }

  Looked look(std::vector<CellAmount> requests, std::vector<CellIndex> need) {
    const auto& table = tree_.table();
    const bool while_borrowing = config_.borrow_within_cohort != PreemptionPolicy::never ||
                                 (settings_.fair_sharing && config_.reclaim_within_cohort != PreemptionPolicy::never);
    const bool must_borrow = !while_borrowing && std::any_of(requests.begin(), requests.end(), [&](const CellAmount& r) {
      return std::find(need.begin(), need.end(), r.cell) != need.end() && r.amount > table.cell(node_, r.cell).subtree &&
             !table.lowest_subtree_that_fits(node_, r.cell, r.amount).more_above;
    });
    if (!must_borrow) return {scratch_.search_for(w_, std::move(requests), std::move(need)), false};
    Looked out{{std::move(requests), std::move(need), {}, {}, {}}, true};
    out.search.freed.assign(out.search.need.size(), 0);
    return out;
  }

  void fill(const Looked& looked, FlavorPreemption& out) {
    const auto& need = looked.search.need;
    for (std::size_t i = 0; i < need.size(); ++i) out.needs[i].freed = looked.search.freed[i];
    for (const NodeIndex n : queues_)
      for (const auto& h : tree_.queue(n).holders) {
        const auto amounts = amounts_of(h.entry, need);
        if (is_no_candidate(h) || std::all_of(amounts.begin(), amounts.end(), [](Amount a) { return a == 0; })) continue;
        Symbol limit;
        const auto by = spared_by(looked, n, h, limit);
        if (!by || *by == SparedBy::not_needed) {
          ++out.candidates;
          for (std::size_t i = 0; i < amounts.size(); ++i) out.needs[i].held = add(out.needs[i].held, amounts[i]);
        }
        if (by) add_to_group(*by, n, h, limit, amounts, out);
      }
    for (const auto& s : looked.search.steps) {
      if (s.shares) add_comparison(s, out.shares);
      out.entitled = out.entitled || (settings_.fair_sharing && s.kind == Stepped::taken && !s.shares && s.queue != node_);
    }
  }

  void add_to_group(SparedBy by, NodeIndex n, const QuotaTree::Holder& h, const Symbol& limit, const std::vector<Amount>& amounts,
                    FlavorPreemption& out) const {
    auto group = std::find_if(out.spared.begin(), out.spared.end(), [&](const SparedGroup& g) { return g.by == by; });
    if (group == out.spared.end()) {
      group = out.spared.insert(out.spared.end(), SparedGroup{by, 0, {}, h.priority, h.priority, {}});
      for (const auto& need : out.needs) group->held.emplace_back(need.resource, 0);
    }
    ++group->workloads;
    for (std::size_t i = 0; i < amounts.size(); ++i) group->held[i].second = add(group->held[i].second, amounts[i]);
    group->lowest = std::min(group->lowest, h.priority);
    group->highest = std::max(group->highest, h.priority);
    auto where = limit.empty() ? "ClusterQueue " + text(tree_.name(n)) : "Cohort " + text(limit);
    if (std::find(group->where.begin(), group->where.end(), where) == group->where.end()) group->where.push_back(std::move(where));
  }

  [[nodiscard]] std::vector<Amount> amounts_of(Entry entry, const std::vector<CellIndex>& need) const {
    std::vector<Amount> out(need.size(), 0);
    for (const auto& c : tree_.entry(entry).cells)
      for (std::size_t i = 0; i < need.size(); ++i)
        if (c.cell == need[i]) out[i] = add(out[i], c.amount);
    return out;
  }

  // ---- why not --------------------------------------------------------------------------------------------------------------------

  /// The slice that it replaces, and its own family (EJ-39, CA-76).
  [[nodiscard]] bool is_no_candidate(const QuotaTree::Holder& h) const {
    const auto& other = *tree_.entry(h.entry).reservation->workload;
    const bool family = w_.option != nullptr && other.option != nullptr && other.option->parent == w_.option->parent;
    return h.removed || family || (w_.replaces != no_workload && other.id == w_.replaces);
  }

  [[nodiscard]] bool holds_preemptor(NodeIndex n) const { return n <= node_ && node_ < tree_.table().node(n).end; }

  /// Nothing: it was taken in the search. `limit`: a cohort that is within its nominal quota.
  [[nodiscard]] std::optional<SparedBy> spared_by(const Looked& looked, NodeIndex n, const QuotaTree::Holder& h, Symbol& limit) const {
    const auto& steps = looked.search.steps;
    const auto is = [&](Stepped kind, const auto& which) {
      return std::any_of(steps.begin(), steps.end(), [&](const PreemptionStep& s) { return s.kind == kind && which(s); });
    };
    if (is(Stepped::taken, [&](const auto& s) { return s.entry == h.entry; })) return std::nullopt;
    const bool own = n == node_;
    const PreemptionPolicy policy = own ? config_.within_cluster_queue : config_.reclaim_within_cohort;
    if (policy == PreemptionPolicy::never) return own ? SparedBy::within_never : SparedBy::reclaim_never;
    if (!own && !tree_.table().node(n).active) return SparedBy::queue_inactive;
    if (!own && is_within_nominal(n, looked.search.need, limit)) return SparedBy::within_nominal;
    if (policy != PreemptionPolicy::any) {
      const bool newer = policy == PreemptionPolicy::lower_or_newer_equal_priority && w_.queue_time < h.queue_time;
      if (h.priority > w_.priority || (h.priority == w_.priority && !newer))
        return own ? SparedBy::within_priority : SparedBy::reclaim_priority;
    }
    if (looked.must_borrow) return SparedBy::borrow_never;
    const auto* repeated = state_.domain().context().repeated;
    const auto& uid = tree_.entry(h.entry).reservation->workload->uid;
    if (repeated != nullptr && !h.evicted && repeated->leaves_alone(w_.uid, uid)) return SparedBy::left_alone;
    const auto of_queue = [&](const auto& s) { return s.queue == n; };
    if (is(Stepped::exhausted, [&](const auto& s) { return of_queue(s) && s.unusable; })) return by_borrowing(h);
    if (is(Stepped::exhausted, of_queue)) return SparedBy::nominal_by_then;
    // The share of the preemptor is infinite: all that were left of the queue are spared by one step.
    const auto with_its_queue = [&](const PreemptionStep& s) { return of_queue(s) && s.shares && !s.shares->target_new; };
    if (is(Stepped::spared, [&](const auto& s) { return s.entry == h.entry || with_its_queue(s); })) return SparedBy::shares;
    return looked.search.targets.empty() ? SparedBy::nominal_by_then : SparedBy::not_needed;
  }

  /// Of borrowWithinCohort, in the order in which the rules ask (§7.3).
  [[nodiscard]] SparedBy by_borrowing(const QuotaTree::Holder& h) const {
    if (config_.borrow_within_cohort == PreemptionPolicy::never) return SparedBy::borrow_never;
    return h.priority >= w_.priority ? SparedBy::borrow_priority : SparedBy::borrow_threshold;
  }

  [[nodiscard]] bool is_within_nominal(NodeIndex n, const std::vector<CellIndex>& need, Symbol& limit) const {
    if (tree_.table().within_nominal(n, need)) return true;
    for (NodeIndex up = tree_.table().parent(n); up != no_node && !holds_preemptor(up); up = tree_.table().parent(up)) {
      const bool borrows = settings_.fair_sharing ? share_of(tree_, up).borrowing : !tree_.table().within_nominal(up, need);
      if (borrows) continue;
      limit = tree_.name(up);
      return true;
    }
    return false;
  }

  // ---- shares ---------------------------------------------------------------------------------------------------------------------

  void add_comparison(const PreemptionStep& s, std::vector<ShareComparison>& out) const {
    const auto& shares = *s.shares;
    ShareComparison one;
    one.strategy =
        shares.strategy == Settings::FairStrategy::less_than_initial_share ? "LessThanInitialShare" : "LessThanOrEqualToFinalShare";
    one.queue = tree_.name(s.queue);
    one.allowed = s.kind == Stepped::taken;
    for (auto& known : out)
      if (known.strategy == one.strategy && known.queue == one.queue && known.allowed == one.allowed) {
        ++known.workloads;
        return;
      }
    one.candidate = candidate_name(s.entry);
    one.preemptor = whose(shares.preemptor);
    one.other = whose(shares.target);
    one.preemptor_before = share_of(tree_, shares.preemptor);
    one.preemptor_after = shares.preemptor_new;
    one.other_before = shares.target_old;
    one.other_after = shares.target_new;
    out.push_back(std::move(one));
  }

  [[nodiscard]] std::string whose(NodeIndex n) const {
    return (tree_.table().node(n).is_queue ? "ClusterQueue " : "Cohort ") + text(tree_.name(n));
  }

  [[nodiscard]] std::string candidate_name(Entry entry) const {
    const auto& w = *tree_.entry(entry).reservation->workload;
    return full_name(w.namespace_.text(), w.name);
  }

  // ---- who goes first -------------------------------------------------------------------------------------------------------------

  struct Candidate {
    NodeIndex queue = no_node;
    Entry entry = 0;
  };

  [[nodiscard]] const QuotaTree::Holder& holder_of(const Candidate& c) const {
    return tree_.queue(c.queue).holders[tree_.entry(c.entry).position];
  }

  [[nodiscard]] std::vector<VictimInOrder> victims(const Looked& looked) const {
    const auto& search = looked.search;
    std::vector<Candidate> order;
    const auto listed = [&](Entry entry) {
      return std::any_of(order.begin(), order.end(), [&](const Candidate& c) { return c.entry == entry; });
    };
    for (const auto& s : search.steps)
      if (s.kind == Stepped::taken && !listed(s.entry)) order.push_back({s.queue, s.entry});
    for (const auto& t : search.targets)
      if (!listed(t.entry)) order.push_back({t.queue, t.entry});
    const std::size_t looked_at = order.size();
    if (const auto more = next_after(looked, order.back())) order.push_back(*more);
    std::vector<VictimInOrder> out;
    for (std::size_t i = 0; i < looked_at; ++i) {
      const auto& h = holder_of(order[i]);
      VictimInOrder v;
      v.name = candidate_name(h.entry);
      v.queue = tree_.name(order[i].queue);
      v.priority = h.priority;
      const auto amounts = amounts_of(h.entry, search.need);
      for (std::size_t a = 0; a < amounts.size(); ++a) {
        const auto& column = tree_.table().columns()[search.need[a]];
        if (amounts[a] > 0) v.amounts.push_back({{column.flavor, column.resource}, amounts[a]});
      }
      const auto target =
          std::find_if(search.targets.begin(), search.targets.end(), [&](const admission::Target& t) { return t.entry == h.entry; });
      v.needed = target != search.targets.end();
      if (v.needed) v.reason = text(reason_symbol(target->reason));
      if (i + 1 < order.size()) {
        v.next = candidate_name(order[i + 1].entry);
        v.ahead = why_ahead(order[i], order[i + 1]);
      }
      out.push_back(std::move(v));
    }
    return out;
  }

  /// The best one of those that may be preempted and were not looked at; with fair sharing of the same queue, because shares decide
  /// between queues. Nothing: there is none.
  [[nodiscard]] std::optional<Candidate> next_after(const Looked& looked, const Candidate& last) const {
    std::optional<Candidate> best;
    for (const NodeIndex n : queues_) {
      if (settings_.fair_sharing && n != last.queue) continue;
      for (const auto& h : tree_.queue(n).holders) {
        const auto amounts = amounts_of(h.entry, looked.search.need);
        if (is_no_candidate(h) || std::all_of(amounts.begin(), amounts.end(), [](Amount a) { return a == 0; })) continue;
        Symbol limit;
        if (spared_by(looked, n, h, limit) != SparedBy::not_needed) continue;
        const Candidate one{n, h.entry};
        if (!best || goes_before(one, *best)) best = one;
      }
    }
    return best;
  }

  [[nodiscard]] bool goes_before(const Candidate& a, const Candidate& b) const {
    const auto &first = holder_of(a), &second = holder_of(b);
    if (first.evicted != second.evicted) return first.evicted;
    if ((a.queue == node_) != (b.queue == node_)) return b.queue == node_;
    return tree_.better_victim(first, second, state_.domain().now());
  }

  /// Of two that come one after the other.
  [[nodiscard]] std::string why_ahead(const Candidate& a, const Candidate& b) const {
    const auto &first = holder_of(a), &second = holder_of(b);
    if (settings_.fair_sharing && a.queue != b.queue)
      return compare(share_of(tree_, a.queue), share_of(tree_, b.queue)) > 0 ? "its ClusterQueue has the larger share"
                                                                             : "the shares were such when its turn came";
    if (settings_.fair_sharing && goes_before(b, a)) return "the first strategy spares the next one";
    if (first.evicted != second.evicted) return "it is evicted already";
    if (a.queue != b.queue && b.queue == node_) return "other ClusterQueues come before the preemptor's own";
    if (!tree_.better_victim(first, second, state_.domain().now())) return "its quota can be taken back without borrowing";
    if (a.queue == b.queue && first.local_usage != second.local_usage) return "its LocalQueue has used more";
    if (first.priority != second.priority) return "its priority is lower";
    if (first.reserved_at != second.reserved_at) return "it got its quota later";
    return "its uid comes first";
  }

  const StateView& state_;
  const WorkloadInfo& w_;
  const std::vector<FlavorTrial>& trials_;
  ScratchTree& scratch_;
  const QuotaTree& tree_;
  const Settings& settings_;
  NodeIndex node_;
  const QueueConfig& config_;
  std::vector<NodeIndex> queues_;  ///< Of its tree.
};

}  // namespace

PreemptionReport explain_preemption(const StateView& state, const WorkloadInfo& w, const Symbol& cluster_queue,
                                    const std::vector<FlavorTrial>& trials) {
  const bool any_short =
      std::any_of(trials.begin(), trials.end(), [](const FlavorTrial& t) { return t.verdict == FlavorTrial::Verdict::short_now; });
  if (!any_short) return {};
  auto scratch = ScratchTree::of(state, cluster_queue);
  if (!scratch || scratch->tree().find_queue(cluster_queue) == no_node) return {};
  return PreemptionStory(state, w, cluster_queue, trials, *scratch).make();
}

}  // namespace hindsight::projections
