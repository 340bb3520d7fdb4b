// Random trees, workloads and heads: what must hold of every cycle.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "admission/scheduling/decision_trace.hpp"
#include "admission/scheduling/entry_order.hpp"
#include "admission/scheduling/requeue.hpp"
#include "tests/admission/scheduling/random_world.hpp"

namespace hindsight::admission::testing {
namespace {

struct Case {
  RandomTree spec;
  World world;
  std::vector<std::pair<Symbol, Reservation>> held;
  std::vector<Head> heads;
};

Head random_head(Dice& dice, WorkloadId id, const QueueConfig& queue, const RandomTree& spec, std::uint64_t cycle) {
  auto w = std::make_shared<WorkloadInfo>();
  w->id = id;
  w->name = w->uid = "head-" + std::to_string(id);
  w->namespace_ = Symbol(dice.one_in(30) ? "other" : "default");
  w->priority = w->base_priority = dice.between(0, 5);
  w->queue_time = Time::from_seconds(dice.between(0, 20));
  w->equivalence_hash = 1;
  w->failed_checks = dice.one_in(40);
  w->created = w->queue_time;
  std::vector<PodSetInfo> pod_sets(1 + dice.below(2));
  for (std::size_t p = 0; p < pod_sets.size(); ++p) {
    PodSetInfo& info = pod_sets[p];
    info.name = Symbol("p" + std::to_string(p));
    info.count = static_cast<std::int32_t>(dice.between(1, 4));
    if (dice.one_in(3)) info.min_count = static_cast<std::int32_t>(dice.between(1, info.count));
    for (const auto& r : spec.resources) {
      if (!dice.one_in(5)) info.requests.push_back({Symbol(r), dice.between(0, 4)});
    }
    if (dice.one_in(8)) info.group = Symbol("group");
  }
  w->pod_sets = std::move(pod_sets);
  Head head{std::move(w), queue.name, {}};
  if (dice.one_in(4)) {
    head.scan.cycle = cycle - dice.below(4);
    head.scan.equivalence_hash = 1;
    head.scan.entries.push_back({Symbol("p0"), Symbol("cpu"), static_cast<std::int32_t>(dice.between(-1, 2))});
  }
  return head;
}

Case random_case(std::uint32_t seed) {
  Dice dice(seed);
  Case c;
  c.spec = random_tree(dice, dice.one_in(10));
  for (const auto& f : c.spec.flavors)
    if (!dice.one_in(25)) c.world.flavor(f);
  c.world.settings.fair_sharing = dice.one_in(2);
  if (dice.one_in(3)) c.world.settings.fair_strategies = {Settings::FairStrategy::less_than_initial_share};
  if (dice.one_in(6)) c.world.settings.fair_strategies = {Settings::FairStrategy::less_than_or_equal_to_final_share};
  c.world.settings.fair_sharing_preempt_within_nominal = !dice.one_in(4);
  c.world.settings.fair_sharing_prioritize_non_borrowing = !dice.one_in(4);
  c.world.settings.priority_sorting_within_cohort = !dice.one_in(5);
  c.world.settings.recompute_overlapping = !dice.one_in(5);
  c.world.settings.block_admission = dice.one_in(12);
  c.world.tree = build_tree(c.spec.queues, c.spec.cohorts);
  const std::uint32_t running = dice.below(16);
  for (std::uint32_t i = 0; i < running; ++i) {
    const QueueConfig& queue = dice.of(c.spec.queues).config;
    c.held.emplace_back(queue.name, random_reservation(dice, 1 + i, queue, 7));
    c.world.tree.reserve(queue.name, c.held.back().second);
  }
  for (const auto& q : c.spec.queues)
    if (!dice.one_in(5))
      c.heads.push_back(random_head(dice, static_cast<WorkloadId>(100 + c.heads.size()), q.config, c.spec, c.world.cycle_number));
  return c;
}

/// Everything that an outcome says.
std::string text(const std::vector<Outcome>& outcomes) {
  std::string out;
  const auto add = [&](const auto& x) { out += std::string(x) + "|"; };
  for (const auto& o : outcomes) {
    add(o.workload->uid);
    add(o.cluster_queue.text());
    add(std::to_string(static_cast<int>(o.kind)) + "," + std::to_string(static_cast<int>(o.requeue_reason)) + "," +
        std::to_string(o.borrowing_level) + "," + std::to_string(o.preemption_skipped));
    add(o.reason.text());
    add(o.message);
    for (const auto& p : o.assignment) {
      add(p.pod_set.text());
      add(std::to_string(p.count));
      for (const auto& [resource, flavor] : p.flavors) add(std::string(resource.text()) + "=" + std::string(flavor.text()));
      for (const auto& [resource, amount] : p.usage) add(std::string(resource.text()) + "=" + std::to_string(amount));
    }
    for (const auto& e : o.scan.entries)
      add(std::string(e.pod_set.text()) + std::string(e.resource.text()) + std::to_string(e.flavor_index));
    for (const auto& v : o.victims) add(std::to_string(v.workload) + std::string(v.reason.text()) + v.message);
    out += "\n";
  }
  return out;
}

/// What every queue could take of every pair.
std::vector<Amount> availability(const QuotaTree& tree) {
  std::vector<Amount> out;
  for (NodeIndex n = 0; n < tree.table().nodes().size(); ++n)
    for (CellIndex c = 0; c < tree.table().columns().size(); ++c)
      if (tree.table().node(n).is_queue) out.push_back(tree.table().available(n, c));
  return out;
}

struct Statistics {
  int admitted = 0, preempted = 0, deferred = 0, waiting = 0, partial = 0;
};

void check(std::uint32_t seed, Statistics& statistics) {
  Case c = random_case(seed);
  World& w = c.world;
  const std::uint64_t before = w.tree.hash();
  const std::vector<Amount> had = availability(w.tree);
  const std::vector<Outcome> outcomes = decide_cycle(w.tree, c.heads, w.context());
  const std::string expected = text(outcomes);
  ASSERT_EQ(w.tree.hash(), before);  // BA-127
  ASSERT_EQ(outcomes.size(), c.heads.size());

  // The order of heads and of former reservations does not matter (BA-40, BA-78).
  Dice dice(seed + 1);
  dice.shuffle(c.heads);
  dice.shuffle(c.held);
  ASSERT_EQ(text(decide_cycle(w.tree, c.heads, w.context())), expected);
  QuotaTree again = build_tree(c.spec.queues, c.spec.cohorts);
  for (const auto& [queue, r] : c.held) again.reserve(queue, r);
  ASSERT_EQ(text(decide_cycle(again, c.heads, w.context())), expected);

  // Once the victims are gone, what was admitted never takes more than there was (BA-69, BA-70).
  std::set<WorkloadId> victims;
  for (const Outcome& o : outcomes)
    for (const auto& v : o.victims) ASSERT_TRUE(victims.insert(v.workload).second);  // nobody is preempted twice (BA-115)
  bool preempts = false;
  for (const Outcome& o : outcomes) preempts = preempts || o.requeue_reason == RequeueReason::pending_preemption;
  if (preempts) {  // targets that were evicted before are not listed
    for (const auto& [queue, r] : c.held)
      if (r.workload->evicted) victims.insert(r.workload->id);
  }
  for (const WorkloadId v : victims) ASSERT_TRUE(w.tree.release(v));
  w.outcomes = outcomes;
  for (const Outcome& o : outcomes) {
    if (o.kind == Outcome::Kind::admit) {
      ++statistics.admitted;
      for (std::size_t p = 0; p < o.assignment.size(); ++p) statistics.partial += o.assignment[p].count < o.workload->pod_sets[p].count;
      w.apply(o.workload->name);
    }
    statistics.preempted += static_cast<int>(o.victims.size());
    statistics.deferred += o.message.find("but will fit after") != std::string::npos;
    statistics.waiting += o.requeue_reason == RequeueReason::preemption_no_candidates;
  }
  const std::vector<Amount> left = availability(w.tree);
  for (std::size_t i = 0; i < left.size(); ++i) ASSERT_GE(left[i], std::min<Amount>(0, had[i]));
}

// BA-40, BA-69, BA-70, BA-78, BA-115, BA-127
TEST(CycleProperty, IsPureAndNeverAdmitsTooMuch) {
  Statistics statistics;
  for (std::uint32_t seed = 1; seed <= 30'000; ++seed) {
    check(seed, statistics);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
  // The cases are no use unless they reach the rules.
  EXPECT_GT(statistics.admitted, 10'000);
  EXPECT_GT(statistics.preempted, 1'000);
  EXPECT_GT(statistics.deferred, 10);
  EXPECT_GT(statistics.waiting, 1'000);
  EXPECT_GT(statistics.partial, 100);
}

/// As it is when everything that the cycle decided is true. Victims keep what they have until their jobs have stopped.
void make_true(World& w, const std::vector<Outcome>& outcomes) {
  for (const Outcome& o : outcomes)
    for (const auto& v : o.victims) {
      const QuotaTree::Entry& held = *w.tree.find_reservation(v.workload);
      Reservation leaving = *held.reservation;
      auto evicted = std::make_shared<WorkloadInfo>(*leaving.workload);
      evicted->evicted = true;
      leaving.workload = std::move(evicted);
      w.tree.reserve(w.tree.name(held.queue), std::move(leaving));
    }
  w.outcomes = outcomes;
  for (const Outcome& o : outcomes)
    if (o.kind == Outcome::Kind::admit) w.apply(o.workload->name);
}

struct Undone {
  int admissions = 0, withheld = 0, at_once = 0;
};

/// What a second cycle, which hears of nothing new, preempts of what the first one admitted, for an entry whose turn was before that.
Undone undone_at_once(std::uint32_t seed, bool with_claims) {
  Case c = random_case(seed);
  World& w = c.world;
  w.settings.block_admission = false;
  w.claims_used = with_claims;
  Dice dice(seed + 3);
  for (Head& head : c.heads) {
    if (!dice.one_in(4)) continue;  // it was here before
    auto info = std::make_shared<WorkloadInfo>(*head.workload);
    info->evicted = true;
    info->reserved_at = Time::from_seconds(dice.between(20, 40));
    info->queue_time = Time::from_seconds(dice.between(40, 60));
    head.workload = std::move(info);
  }
  Undone out;
  const std::uint64_t before = w.tree.hash();
  const auto outcomes = decide_cycle(w.tree, c.heads, w.context());
  EXPECT_EQ(w.tree.hash(), before);
  std::map<WorkloadId, std::uint32_t> admitted, waiting;  // and when it was their turn
  std::vector<Head> again;
  for (const Outcome& o : outcomes) {
    if (o.claimant != nullptr) {
      ++out.withheld;
      EXPECT_EQ(o.kind, Outcome::Kind::requeue);
      EXPECT_EQ(o.requeue_reason, RequeueReason::failed_after_nomination);
      EXPECT_EQ(o.message, "Workload no longer fits after processing another workload");
      w.claims.note(o.claimant->uid, o.cluster_queue, w.now);
    }
    if (o.kind == Outcome::Kind::admit) {
      ++out.admissions;
      admitted.emplace(o.workload->id, o.turn);
    } else if (o.kind == Outcome::Kind::requeue && (!fits_nowhere(o.requeue_reason) || o.scan.unfinished())) {
      waiting.emplace(o.workload->id, o.turn);
      again.push_back({o.workload, o.cluster_queue, o.scan, false, keeps_its_turn(o.requeue_reason)});
    }
  }
  make_true(w, outcomes);
  ++w.cycle_number;
  for (const Outcome& o : decide_cycle(w.tree, std::move(again), w.context()))
    for (const auto& v : o.victims)
      if (const auto it = admitted.find(v.workload); it != admitted.end()) out.at_once += waiting.at(o.workload->id) < it->second;
  return out;
}

// D14
TEST(CycleProperty, NobodyIsAdmittedWhomAnEntryBeforeItPreemptsAtOnce) {
  Undone with, without;
  for (std::uint32_t seed = 1; seed <= 30'000; ++seed) {
    for (Undone* sum : {&with, &without}) {
      const Undone one = undone_at_once(seed, sum == &with);
      sum->admissions += one.admissions;
      sum->withheld += one.withheld;
      sum->at_once += one.at_once;
      if (sum == &with && one.at_once != 0) ADD_FAILURE() << "seed " << seed;
    }
  }
  EXPECT_EQ(with.at_once, 0);
  // The cases are no use unless they reach the rule.
  EXPECT_EQ(without.withheld, 0);
  EXPECT_GT(without.at_once, 10);
  EXPECT_LT(with.withheld, 4 * without.at_once) << "what nobody would undo is not withheld for long";
  EXPECT_GE(with.withheld, without.at_once);
}

/// Victims that a search found, less those that were on their way out already; sorted.
std::vector<std::string> victims_found(const TracedSearch& s) {
  std::vector<std::string> out;
  for (const auto& c : s.candidates.list)
    if (c.victim && !c.evicted) out.push_back(c.workload);
  std::sort(out.begin(), out.end());
  return out;
}

/// A trace changes nothing, has an entry for every head, and says what came out of each.
void check_trace(std::uint32_t seed) {
  Case c = random_case(seed);
  World& w = c.world;
  const std::vector<Outcome> outcomes = decide_cycle(w.tree, c.heads, w.context());
  DecisionTrace trace;
  const Symbol root("root");
  trace.tree_begins(root, false);
  trace.round_begins(root);
  CycleContext context = w.context();
  context.trace = &trace;
  ASSERT_EQ(text(decide_cycle(w.tree, c.heads, context)), text(outcomes));
  trace.round_ends();
  ASSERT_FALSE(trace.is_cut());
  const auto& entries = trace.trees().front().rounds.front().entries;
  ASSERT_EQ(entries.size(), outcomes.size());
  for (const Outcome& o : outcomes) {
    const TracedEntry& e = entries.at(o.turn);
    ASSERT_EQ(e.uid, std::string_view(o.workload->uid));
    ASSERT_EQ(e.kind, o.kind);
    ASSERT_EQ(e.message, o.message);
    std::vector<std::string> told;
    for (const auto& v : e.victims.list) told.push_back(v.first);
    ASSERT_EQ(told.size(), o.victims.size());
    if (o.kind == Outcome::Kind::admit) {
      ASSERT_EQ(e.nominations.back().mode, AssignmentMode::fit);
    }
    if (told.empty()) continue;
    std::sort(told.begin(), told.end());
    const auto& attempts = e.nominations.back().attempts.list;
    ASSERT_TRUE(std::any_of(attempts.begin(), attempts.end(), [&](const TracedAttempt& a) {
      return std::any_of(a.searches.list.begin(), a.searches.list.end(), [&](const TracedSearch& s) { return victims_found(s) == told; });
    })) << e.workload;
  }
}

TEST(CycleProperty, IsTheSameWhenItIsFollowed) {
  for (std::uint32_t seed = 1; seed <= 5'000; ++seed) {
    check_trace(seed);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

/// §6.1 word for word: for every choice all shares are computed anew.
std::optional<std::size_t> slow_fair_choice(QuotaTree& tree, const Settings& settings, const std::vector<CycleEntry>& entries,
                                            const std::vector<bool>& done) {
  QuotaTable& table = tree.table();
  const auto bid = [&](std::size_t e, NodeIndex n) {
    const QuotaTable::Mark mark = table.mark();
    table.add(entries[e].queue, entries[e].assignment.usage);
    const Share share = share_of(tree, n);
    const bool borrows = borrows_on(table, n, entries[e].assignment.usage);
    table.rollback(mark);
    return std::pair(borrows, share);
  };
  const auto winner = [&](auto& self, NodeIndex n) -> std::optional<std::size_t> {
    std::optional<std::size_t> best;
    NodeIndex best_child = no_node;
    if (table.node(n).is_queue) {
      for (std::size_t e = 0; e < entries.size(); ++e)
        if (entries[e].queue == n && !done[e]) best = e;
      return best;
    }
    for (NodeIndex child = n + 1; child < table.node(n).end; child = table.node(child).end) {
      const auto candidate = self(self, child);
      if (!candidate) continue;
      const auto less = [&] {
        const auto [a_borrows, a_share] = bid(*candidate, child);
        const auto [b_borrows, b_share] = bid(*best, best_child);
        if (settings.fair_sharing_prioritize_non_borrowing && a_borrows != b_borrows) return b_borrows;
        if (compare(a_share, b_share) != 0) return compare(a_share, b_share) < 0;
        const WorkloadInfo& a = *entries[*candidate].workload;
        const WorkloadInfo& b = *entries[*best].workload;
        if (settings.priority_sorting_within_cohort && a.priority != b.priority) return a.priority > b.priority;
        if (a.queue_time != b.queue_time) return a.queue_time < b.queue_time;
        return tree.name(entries[*candidate].queue).text() < tree.name(entries[*best].queue).text();
      };
      if (!best || less()) {
        best = candidate;
        best_child = child;
      }
    }
    return best;
  };
  return winner(winner, 0);
}

// BA-97: the tournament that recomputes only what changed
TEST(CycleProperty, OrdersFairlyAsIfAllSharesWereComputedAnew) {
  for (std::uint32_t seed = 1; seed <= 10'000; ++seed) {
    Case c = random_case(seed);
    Dice dice(seed + 7);
    Settings& settings = c.world.settings;
    settings.fair_sharing = true;
    std::vector<CycleEntry> entries;
    for (const Head& h : c.heads) {
      CycleEntry& e = entries.emplace_back();
      e.workload = h.workload;
      e.queue = c.world.tree.find_queue(h.cluster_queue);
      for (const CellIndex cell : c.world.tree.table().cells_of(e.queue))
        if (dice.one_in(2)) e.assignment.usage.push_back({cell, dice.between(1, 6)});
    }
    EntryOrder order(c.world.tree, settings, entries);
    std::vector<bool> done(entries.size(), false);
    const QuotaTable::Mark mark = c.world.tree.table().mark();
    for (;;) {
      const auto expected = slow_fair_choice(c.world.tree, settings, entries, done);
      const auto got = order.next();
      ASSERT_EQ(got, expected) << "seed " << seed;
      if (!got) break;
      done[*got] = true;
      if (dice.one_in(2)) c.world.tree.table().add(entries[*got].queue, entries[*got].assignment.usage);
    }
    c.world.tree.table().rollback(mark);
  }
}

}  // namespace
}  // namespace hindsight::admission::testing
