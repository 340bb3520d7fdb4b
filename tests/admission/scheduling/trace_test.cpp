// A cycle that is followed notes its steps, names the reason of each, and comes to the same outcomes as one that is not.

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "admission/scheduling/decision_trace.hpp"
#include "tests/admission/scheduling/world.hpp"

namespace hindsight::admission::testing {
namespace {

using enum PreemptionPolicy;
using Passed = PreemptionStep::Passed;
using Step = PreemptionStep::Kind;

QueueSpec traced_queue(std::string_view name, std::int64_t nominal) { return QueueSpec(name, "root").cpu("f", nominal); }

/// The only round of a cycle over the heads that were offered.
TracedRoundOfHeads followed(World& w, DecisionTrace trace = DecisionTrace()) {
  CycleContext context = w.context();
  const auto heads = w.heads;
  const auto plain = run_cycle(w.tree, heads, context);
  const Symbol root("root");
  trace.tree_begins(root, false);
  trace.round_begins(root);
  context.trace = &trace;
  w.outcomes = run_cycle(w.tree, heads, context);
  w.heads.clear();
  EXPECT_EQ(plain.size(), w.outcomes.size());
  for (std::size_t i = 0; i < std::min(plain.size(), w.outcomes.size()); ++i) {
    EXPECT_EQ(plain[i].workload, w.outcomes[i].workload);
    EXPECT_EQ(plain[i].kind, w.outcomes[i].kind);
    EXPECT_EQ(plain[i].message, w.outcomes[i].message);
    EXPECT_EQ(plain[i].victims.size(), w.outcomes[i].victims.size());
  }
  trace.round_ends();
  trace.tree_ends(root, nullptr, 0, {});
  return trace.trees().front().rounds.front();
}

const TracedEntry& entry_of(const TracedRoundOfHeads& round, const std::string& name) {
  for (const auto& e : round.entries)
    if (e.workload == "default/" + name) return e;
  throw std::out_of_range("no entry for " + name);
}

const TracedAttempt& attempt_of(const TracedEntry& e) { return e.nominations.at(0).attempts.list.at(0); }

const TracedSearch& last_search(const TracedEntry& e) {
  const auto& searches = attempt_of(e).searches.list;
  return searches.at(searches.size() - 1);
}

/// "victim:taken(InClusterQueue) other:spared …" of the last search.
std::string steps_of(const TracedEntry& e) {
  std::string out;
  for (const auto& c : last_search(e).candidates.list) {
    if (c.kind == Step::begins) continue;
    const std::string_view what = c.kind == Step::taken       ? c.victim ? "taken" : "tried"
                                  : c.kind == Step::spared    ? "spared"
                                  : c.kind == Step::exhausted ? "exhausted"
                                                              : "put back";
    out += (out.empty() ? "" : " ") + c.workload.substr(8) + ":" + std::string(what);
  }
  return out;
}

bool passes_over(const TracedEntry& e, Passed why, const std::string& where) {
  const auto& passed = last_search(e).passed.list;
  return std::any_of(passed.begin(), passed.end(), [&](const TracedPassed& p) { return p.why == why && p.where == where; });
}

// BA-103, BA-110: preemption within a queue takes the lowest priority first, and spares what is not needed.
TEST(Trace, NamesVictimsWithinAQueueAndWhoIsNoCandidate) {
  World w({QueueSpec("a").cpu("f", 4).within(lower_priority)});
  w.run(Work("low", "a").cpu(2).priority(1));
  w.run(Work("middle", "a").cpu(1).priority(2));
  w.run(Work("equal", "a").cpu(1).priority(5));
  const auto round = followed(w.pend(Work("in", "a").cpu(2).priority(5)));
  const auto& e = entry_of(round, "in");
  EXPECT_EQ(steps_of(e), "low:taken");
  const TracedFlavor& f = attempt_of(e).scans.at(0).flavors.list.at(0);
  EXPECT_EQ(f.flavor, Symbol("f"));
  EXPECT_EQ(f.mode, FlavorMode::preempt);
  EXPECT_EQ(f.resources.at(0).asked, cores(2));
  EXPECT_EQ(f.resources.at(0).offered, 0);
  EXPECT_EQ(f.resources.at(0).potential, cores(4));
  EXPECT_EQ(e.victims.list, (std::vector<std::pair<std::string, Symbol>>{{"default/low", Symbol("InClusterQueue")}}));
  EXPECT_EQ(e.requeue_reason, RequeueReason::pending_preemption);
}

// BA-103: the same priority is no candidate under LowerPriority, and the trace says so.
TEST(Trace, SaysWhyNobodyIsACandidate) {
  World w({QueueSpec("a").cpu("f", 4).within(lower_priority)});
  w.run(Work("one", "a").cpu(2).priority(5));
  w.run(Work("other", "a").cpu(2).priority(5));
  const auto round = followed(w.pend(Work("in", "a").cpu(2).priority(5)));
  const auto& e = entry_of(round, "in");
  EXPECT_EQ(steps_of(e), "");
  ASSERT_TRUE(passes_over(e, Passed::priority, "ClusterQueue a"));
  EXPECT_EQ(last_search(e).passed.list.front().workloads, 2U);
  EXPECT_EQ(e.requeue_reason, RequeueReason::preemption_no_candidates);
}

// BA-104: withinClusterQueue Never.
TEST(Trace, SaysThatAPolicyIsNever) {
  World w({traced_queue("a", 4).reclaim(any), traced_queue("b", 4)});
  w.run(Work("own", "a").cpu(4));
  w.run(Work("theirs", "b").cpu(4));
  const auto round = followed(w.pend(Work("in", "a").cpu(2).priority(9)));
  EXPECT_TRUE(passes_over(entry_of(round, "in"), Passed::within_never, "ClusterQueue a"));
  EXPECT_TRUE(passes_over(entry_of(round, "in"), Passed::within_nominal, "ClusterQueue b"));
}

// BA-107: what a queue lent is taken back from who borrows.
TEST(Trace, NamesTheReclaimedVictim) {
  World w({traced_queue("a", 4).reclaim(any), traced_queue("b", 4)});
  w.run(Work("b1", "b").cpu(3).reserved(1));
  w.run(Work("b2", "b").cpu(3).reserved(2));
  const auto round = followed(w.pend(Work("in", "a").cpu(4)));
  const auto& e = entry_of(round, "in");
  EXPECT_EQ(steps_of(e), "b2:taken");
  EXPECT_EQ(attempt_of(e).scans.at(0).flavors.list.at(0).mode, FlavorMode::reclaim);
  EXPECT_EQ(e.victims.list.at(0).second, Symbol("InCohortReclamation"));
}

// §6.1, BA-71: who does not borrow goes first, and the trace says who took the quota that the other one saw.
TEST(Trace, SaysWhoTookTheQuotaMeanwhile) {
  World w({traced_queue("a", 4), traced_queue("b", 4)});
  w.pend(Work("borrows", "a").cpu(6).at(1)).pend(Work("own", "b").cpu(4).at(2));
  const auto round = followed(w);
  ASSERT_EQ(round.entries.size(), 2U);
  const auto& first = round.entries[0];
  EXPECT_EQ(first.workload, "default/own");
  EXPECT_EQ(first.next, "default/borrows");
  EXPECT_EQ(first.by, OrderedBy::level);
  EXPECT_EQ(first.kind, Outcome::Kind::admit);
  ASSERT_EQ(first.charged.size(), 1U);
  EXPECT_EQ(first.charged[0].amount, cores(4));
  const auto& second = round.entries[1];
  EXPECT_EQ(second.nominations.at(0).mode, AssignmentMode::fit);
  EXPECT_EQ(second.nominations.at(0).level, 1);
  EXPECT_EQ(second.requeue_reason, RequeueReason::failed_after_nomination);
  ASSERT_EQ(second.lacks.size(), 1U);
  EXPECT_EQ(second.lacks[0].amount, cores(6));
  EXPECT_EQ(second.lacks_offered.at(0), cores(4));
}

// BA-71: two that count on the same victim.
TEST(Trace, NamesVictimsThatGoForAnother) {
  World w({traced_queue("a", 2).reclaim(any), traced_queue("b", 2).reclaim(any), traced_queue("c", 0)});
  w.settings.recompute_overlapping = false;
  w.run(Work("c1", "c").cpu(4));
  w.pend(Work("one", "a").cpu(2).at(1)).pend(Work("two", "b").cpu(2).at(2));
  const auto round = followed(w);
  EXPECT_EQ(entry_of(round, "one").victims.list.size(), 1U);
  EXPECT_EQ(entry_of(round, "two").shared_victims.list, std::vector<std::string>{"default/c1"});
}

// BA-120: S25: a big victim goes only by the initial share, and both comparisons are told.
TEST(Trace, TellsSharesBeforeAndAfter) {
  World w({traced_queue("a", 3).reclaim(any), traced_queue("b", 3), traced_queue("c", 3)});
  w.settings.fair_sharing = true;
  w.settings.fair_strategies = {Settings::FairStrategy::less_than_or_equal_to_final_share, Settings::FairStrategy::less_than_initial_share};
  w.run(Work("a1", "a").cpu(3));
  w.run(Work("b1", "b").cpu(6));
  const auto round = followed(w.pend(Work("in", "a").cpu(1)));
  const auto& e = entry_of(round, "in");
  EXPECT_EQ(steps_of(e), "b1:spared b1:taken");
  const auto& steps = last_search(e).candidates.list;
  ASSERT_EQ(steps.size(), 2U);
  for (const auto& s : steps) {
    ASSERT_TRUE(s.shares);
    EXPECT_EQ(s.shares->preemptor, "ClusterQueue a");
    EXPECT_EQ(s.shares->other, "ClusterQueue b");
    EXPECT_EQ(s.shares->preemptor_new.rounded(), 112);  // 1 of 9 lendable
    EXPECT_EQ(s.shares->other_old.rounded(), 334);      // 3 of 9
    ASSERT_TRUE(s.shares->other_new);
    EXPECT_EQ(s.shares->other_new->rounded(), 0);
  }
  EXPECT_EQ(steps[0].shares->strategy, Settings::FairStrategy::less_than_or_equal_to_final_share);
  EXPECT_EQ(steps[1].shares->strategy, Settings::FairStrategy::less_than_initial_share);
}

// §6.1 with fair sharing: the round of the tournament that an entry won, with both shares.
TEST(Trace, TellsTheTournament) {
  World w({traced_queue("a", 4), traced_queue("b", 4)});
  w.settings.fair_sharing = true;
  w.run(Work("a1", "a").cpu(5));
  w.pend(Work("more", "a").cpu(1).at(1)).pend(Work("first", "b").cpu(1).at(2));
  const auto round = followed(w);
  const auto& first = round.entries.at(0);
  EXPECT_EQ(first.workload, "default/first");
  ASSERT_EQ(first.rounds.size(), 1U);
  EXPECT_EQ(first.rounds[0].node, "ClusterQueue b");
  EXPECT_EQ(first.rounds[0].next_node, "ClusterQueue a");
  EXPECT_EQ(first.rounds[0].next_workload, "default/more");
  EXPECT_EQ(first.rounds[0].by, OrderedBy::borrowing);
  EXPECT_EQ(first.rounds[0].share.rounded(), 0);
  EXPECT_EQ(first.rounds[0].next_share.rounded(), 250);
  EXPECT_TRUE(round.entries.at(1).rounds.at(0).next_node.empty());
}

// BA-54, BA-94: fewer pods.
TEST(Trace, TellsWithHowManyPodsItWasTried) {
  World w({QueueSpec("a").cpu("f", 3)});
  w.settings.partial_admission = true;
  const auto round = followed(w.pend(Work("in", "a").pods("main", 8, {{"cpu", cores(1)}}, 1)));
  const auto& e = entry_of(round, "in");
  EXPECT_EQ(e.kind, Outcome::Kind::admit);
  const auto& attempts = e.nominations.at(0).attempts.list;
  ASSERT_GT(attempts.size(), 1U);
  EXPECT_EQ(attempts.front().with, TracedAttempt::With::all);
  EXPECT_EQ(attempts.front().counts.at(0).second, 8);
  EXPECT_EQ(attempts.front().mode, AssignmentMode::no_fit);
  const auto fits = std::find_if(attempts.begin(), attempts.end(),
                                 [](const auto& a) { return a.mode == AssignmentMode::fit && a.counts.at(0).second == 3; });
  EXPECT_NE(fits, attempts.end());
}

// BA-77: who is turned away before anybody is nominated.
TEST(Trace, NamesWhoIsTurnedAway) {
  World w({QueueSpec("a").cpu("f", 3)});
  Work work("in", "a");
  work.cpu(1).info->namespace_ = Symbol("other");
  const auto round = followed(w.pend(work));
  ASSERT_EQ(round.entries.size(), 1U);
  EXPECT_TRUE(round.entries[0].nominations.empty());
  EXPECT_FALSE(round.entries[0].had_turn);
  EXPECT_EQ(round.entries[0].message, "could not obtain workload namespace: namespaces \"other\" not found");
}

TEST(Trace, IsBoundedAndSaysWhatItLeavesOut) {
  constexpr int candidates = 10'000, heads = 2'000;
  std::vector<QueueSpec> queues{traced_queue("aaa", 10'000).within(lower_priority)};
  for (int i = 0; i < heads; ++i) queues.push_back(traced_queue("q" + std::to_string(i), 1));
  World w(queues);
  for (int i = 0; i < candidates; ++i) w.run(Work("r" + std::to_string(i), "aaa").cpu(1));
  w.pend(Work("in", "aaa").cpu(10'000).priority(1));
  for (int i = 0; i < heads; ++i) w.pend(Work("h" + std::to_string(i), "q" + std::to_string(i)).cpu(1).at(10));
  DecisionTrace::Limits few;
  few.entries = 100;
  few.details = 20;
  few.parts = 1'000;
  few.candidates = 50;
  const auto round = followed(w, DecisionTrace([](const WorkloadInfo& x, const Symbol&) { return x.name == "h1999"; }, few));
  EXPECT_EQ(round.heads, heads + 1U);
  EXPECT_EQ(round.entries.size() + round.left_out, heads + 1U);
  EXPECT_LE(round.entries.size(), 101U);
  const auto& in = entry_of(round, "in");
  ASSERT_FALSE(in.nominations.empty());
  const auto& search = attempt_of(in).searches.list.at(0);
  EXPECT_LE(search.candidates.list.size(), 50U);
  // The other queues lend what they do not use.
  EXPECT_EQ(search.victims, std::size_t{candidates - heads});
  EXPECT_GE(search.candidates.list.size() + search.candidates.left_out, search.victims);
  EXPECT_FALSE(entry_of(round, "h1999").nominations.empty()) << "room is kept for whom one looks for";
}

}  // namespace
}  // namespace hindsight::admission::testing
