// What `hindsight why` says would let a workload in is tried over random histories: on a copy of the whole domain, with the change made as
// somebody would make it, and with everybody else who waits taken out of the way. What `-o json` says (remedies, victims, who is spared and
// why, shares, sums) is held against plays and plain computations (why_answers.hpp). HINDSIGHT_WHY_SEEDS: how many histories;
// HINDSIGHT_CROWDS: how many crowds; HINDSIGHT_SEED: only this one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "admission/state/snapshot.hpp"
#include "admission/workload/workload_parent.hpp"
#include "projections/format.hpp"
#include "projections/jobs_again.hpp"
#include "projections/why.hpp"
#include "tests/explorer/explorer.hpp"
#include "tests/projections/copied_domain.hpp"
#include "tests/projections/crowded_world.hpp"
#include "tests/projections/why_answers.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::projections {
namespace {

using admission::LoopDriver;

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class Remedies {
 public:
  std::string check(const LoopDriver& state) {
    const auto& catalog = *state.domain().catalog();
    for (const auto& [name, config] : catalog.queues) {
      const auto* queue = state.queue(name);
      if (queue == nullptr || !catalog.queue_active(name)) continue;
      for (const auto& w : queue->waiting()) {
        const auto& info = *w.workload;
        const bool gate_open = !info.requeued_false && (!info.requeue_at.is_set() || info.requeue_at <= state.domain().now());
        if (!gate_open || info.failed_checks || !catalog.namespace_matches(*config, info.namespace_)) continue;
        const auto* lq = catalog.local_queue(info.namespace_, info.local_queue);
        if (lq == nullptr || lq->stop_policy != StopPolicy::none) continue;
        if (auto finding = check(state, info, name); !finding.empty()) return finding;
        if (++looked_at_ % 3 != 0) break;  // mostly one of each queue is enough
      }
    }
    return {};
  }
  /// A seed must find alone what it finds among others.
  void begin_history() { looked_at_ = 0; }
  /// Also what is found before it is played: as if nobody else waited.
  bool alone = true;
  std::size_t tried = 0, tried_in_vain = 0, played = 0, after_others = 0, passed_over = 0, parts = 0, thinned = 0, larger = 0, asked = 0;

 private:
  std::string check(const LoopDriver& state, const admission::WorkloadInfo& info, Symbol queue) {
    const auto trials = try_flavors(state, info, queue);
    const auto remedies = find_remedies(state, info, queue, trials);
    if (remedies.empty()) return {};
    const auto snapshot = admission::SnapshotCodec::write(state.entities());
    if (auto finding = check_played(snapshot, state, info, queue, trials, remedies); !finding.empty()) return finding;
    if (!alone) return {};
    for (const auto& r : remedies) {
      if (!lets_in(snapshot, state, info, queue, r, false)) return "Workload " + info.uid + ": is not let in " + remedy_text(r);
      ++tried;
      for (const auto& less : smaller(r)) {
        if (lets_in(snapshot, state, info, queue, less, true))
          return "Workload " + info.uid + ": is let in " + remedy_text(less) + ", which is less than " + remedy_text(r);
        ++tried_in_vain;
      }
    }
    return {};
  }

  /// What is told after it was played lets the workload in with everybody who waits; and who is said to be passed over is.
  std::string check_played(std::span<const std::byte> snapshot, const LoopDriver& state, const admission::WorkloadInfo& info, Symbol queue,
                           const std::vector<FlavorTrial>& trials, const std::vector<Remedy>& remedies) {
    std::vector<std::string> facts;
    const Stage stage{{snapshot.begin(), snapshot.end()}, explorer::read_settings};
    const auto told = play_remedies(state, stage, info, queue, trials, remedies, facts);
    if (auto finding = compare_with_tree(state, info, queue, trials, remedies, told, facts); !finding.empty()) return finding;
    const auto comes_in = [&](const Remedy& r) {
      CopiedDomain copy(snapshot);
      for (const auto& h : r.ending)
        if (const auto parent = state.domain().find_parent(h.uid)) copy.end(*state.parent(*parent));
      if ((!r.steps.empty() && r.kind != Remedy::Kind::free) || r.kind == Remedy::Kind::change_policy ||
          r.kind == Remedy::Kind::change_strategy)
        copy.raise(r, false);
      if (r.ask.count || r.ask.min_count) copy.ask(info.uid.text(), r.ask);
      copy.live();
      return copy.reserved(info.uid);
    };
    const Remedy as_it_is{Remedy::Kind::fits_now, {}, {}, {}};
    std::erase_if(facts, [](const auto& f) { return f.find("there is room for it") == std::string::npos; });
    if (!facts.empty() && comes_in(as_it_is)) return "Workload " + info.uid + ": is let in, although " + facts.front();
    passed_over += facts.size();
    for (const auto& r : told) {
      using enum Remedy::Kind;
      if (!r.played || !r.played->evicted.empty() || r.kind == resume || r.kind == priority) continue;
      asked += r.kind == fewer_pods || r.kind == min_count ? 1 : 0;
      ++played;
      after_others += r.played->before.empty() ? 0 : 1;
      if (!comes_in(r)) return "Workload " + info.uid + ": is not let in among all others " + remedy_text(r);
    }
    return {};
  }

  /// Whether the whole state is copied or the trees that concern it, without those who stand behind others like them: the same lets it in,
  /// after the same others, and as much is said.
  std::string compare_with_tree(const LoopDriver& state, const admission::WorkloadInfo& info, Symbol queue,
                                const std::vector<FlavorTrial>& trials, const std::vector<Remedy>& remedies,
                                const std::vector<Remedy>& by_whole, const std::vector<std::string>& facts_by_whole) {
    Stage stage = Stage::of_tree(state, find_by_uid(state, info.uid.text()), 1 + parts % 2);
    stage.read_settings = explorer::read_settings;
    if (stage.copies && stage.copies->thinned().left_out != 0) ++thinned;
    if (admission::SnapshotCodec::trees_are_apart(state.domain())) ++parts;
    // Of others only those of the same tree: timers of other trees fire in the whole state meanwhile, whatever is changed here.
    std::set<std::string> in_tree;
    for (const Symbol& name : queues_of_tree(state, queue)) {
      for (const auto& w : state.queue(name)->waiting()) in_tree.insert(full_name(w.workload->namespace_.text(), w.workload->name));
      for (const auto& r : state.queue(name)->reservations()) in_tree.insert(full_name(r->workload->namespace_.text(), r->workload->name));
    }
    const auto words = [&](const std::vector<Remedy>& all) {
      std::vector<std::string> out;
      for (const auto& r : all) {
        std::string line = remedy_text(r);
        for (const auto& [what, list] :
             {std::pair("before", r.played->before), std::pair("after", r.played->after), std::pair("evicted", r.played->evicted)})
          for (const auto& name : list)
            if (in_tree.contains(name)) line += std::string("; ") + what + " " + name;
        out.push_back(std::move(line));
      }
      return out;
    };
    std::vector<std::string> facts;
    const auto by_tree = words(play_remedies(state, stage, info, queue, trials, remedies, facts));
    const auto wanted = words(by_whole);
    if (stage.copies && stage.copies->grown()) ++larger;
    if (by_tree == wanted && facts == facts_by_whole) return {};
    std::string out = "Workload " + info.uid + ": by the tree alone another answer;";
    for (const auto& line : wanted) out += "\n  whole: " + line;
    for (const auto& line : by_tree) out += "\n  tree:  " + line;
    for (const auto& line : facts_by_whole) out += "\n  whole says: " + line;
    for (const auto& line : facts) out += "\n  tree says:  " + line;
    return out;
  }

  /// The raise with one limit one unit lower, for each of its limits; and of a single limit what is a good deal lower.
  static std::vector<Remedy> smaller(const Remedy& r) {
    std::vector<Remedy> out;
    if (r.kind == Remedy::Kind::fits_now || r.kind == Remedy::Kind::free) return out;
    for (std::size_t i = 0; i < r.steps.size(); ++i) {
      std::set<Amount> by{1};
      if (r.steps.size() == 1) by.merge(std::set<Amount>{r.steps[i].amount / 2, r.steps[i].amount / 4, r.steps[i].amount - 1});
      for (const Amount amount : by) {
        if (amount <= 0 || amount > r.steps[i].amount) continue;
        Remedy less = r;
        less.steps[i].amount -= amount;
        less.steps[i].to -= amount;
        out.push_back(std::move(less));
      }
    }
    return out;
  }

  /// `alone`: without anybody else leaving meanwhile, which would be another remedy.
  static bool lets_in(std::span<const std::byte> snapshot, const LoopDriver& state, const admission::WorkloadInfo& info, Symbol queue,
                      const Remedy& r, bool alone) {
    CopiedDomain copy(snapshot);
    for (const auto& [name, config] : state.domain().catalog()->queues)
      if (const auto* holder = state.queue(name))
        for (const auto& other : holder->waiting())
          if (other.workload->uid != info.uid) copy.remove(other.workload->uid);
    for (const auto& h : r.ending)  // with all slices of its job: one that it has replaced holds quota again when only its successor goes
      if (const auto parent = state.domain().find_parent(h.uid)) copy.end(*state.parent(*parent));
    const bool raises = r.kind != Remedy::Kind::fits_now && r.kind != Remedy::Kind::free;
    const Remedy woken{Remedy::Kind::raise_nominal, "ClusterQueue " + std::string(queue.text()), {}, {}};
    // A scan that goes on where it stopped may miss the flavor at the first try, and the end of a workload whose LocalQueue is stopped
    // wakes nobody (§3.7, D12): a second change has it tried anew.
    for (const bool again : {false, true}) {
      if (raises)
        copy.raise(r, again);
      else if (again)
        copy.raise(woken, true);
      copy.settle();
      if (alone && copy.others_left) return false;
      if (copy.reserved(info.uid)) return true;
    }
    return false;
  }

  std::size_t looked_at_ = 0;
};

// What it says lets it in, and one unit less of any limit does not
TEST(WhyProperty, EveryRemedyLetsTheWorkloadInAndNothingSmallerDoes) {
  const std::uint64_t only = number("HINDSIGHT_SEED", 0);
  const std::uint64_t first = only != 0 ? only : 1;
  const std::uint64_t seeds = only != 0 ? 1 : number("HINDSIGHT_WHY_SEEDS", as_much_as<std::uint64_t>(1'000, 60));
  constexpr std::uint64_t alone_max = 350;
  Remedies remedies;
  Answers answers;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    explorer::Explorer history(seed);
    std::size_t rests = 0;
    remedies.begin_history();
    answers.begin_history();
    remedies.alone = seed <= alone_max;
    history.look_when_at_rest([&](const LoopDriver& state) {
      const std::size_t rest = rests++;
      if (rest % 8 == 2) return answers.check(state);
      return rest % 4 == 0 ? remedies.check(state) : std::string();
    });
    const std::string finding = history.run();
    ASSERT_EQ(finding, "") << "repeat with: HINDSIGHT_SEED=" << seed << " " << ::testing::internal::GetArgvs().front()
                           << " --gtest_filter=WhyProperty.*";
  }
  std::printf("answers: %s\n", answers.summary().c_str());
  if (only == 0) {
    const auto& looked = answers.looked;
    EXPECT_GT(looked.remedies, seeds);
    EXPECT_GT(looked.evicting, seeds / 5);
    EXPECT_GT(looked.priorities_in_vain, seeds / 5);
    EXPECT_GT(looked.resumed_in_vain, seeds / 5);
    EXPECT_GT(looked.policies_in_vain, seeds / 10);
    EXPECT_GT(answers.figures.looked.cohort_sums, seeds);
    if (seeds >= 1'000) {
      EXPECT_GT(looked.victims_played, 5U);
      EXPECT_GT(looked.policies_played, 0U);
      EXPECT_GT(answers.figures.looked.deep, 100U);
      for (const char* kind : {"changePreemptionPolicy", "priority", "resume", "resume of a LocalQueue", "fewerPods", "minCount", "free",
                               "leave", "raiseNominalQuota", "raiseBorrowingLimit", "raiseCohortNominalQuota", "changeQueueingStrategy"})
        EXPECT_GT(looked.kinds.count(kind) == 0 ? 0 : looked.kinds.at(kind), 5U) << kind;
    }
    EXPECT_GT(remedies.tried, 100U);
    EXPECT_GT(remedies.tried_in_vain, 100U);
    std::printf(
        "%zu remedies played among all, %zu of them after others; %zu fit and are passed over; %zu answers also by trees alone, %zu of "
        "them without some who wait, %zu of which had to be asked for; %zu ask for fewer pods\n",
        remedies.played, remedies.after_others, remedies.passed_over, remedies.parts, remedies.thinned, remedies.larger, remedies.asked);
    EXPECT_GT(remedies.parts, 100U);
    EXPECT_GT(remedies.asked, 10U);
    EXPECT_GT(remedies.played, 100U);
    EXPECT_GT(remedies.after_others, 10U);
  }
}

/// Where many hold quota and many wait: facts, figures, whom a Workload would preempt, and whose share is compared with whose.
TEST(WhyProperty, InACrowdAllThatIsToldOfPreemptionIsSo) {
  const std::uint64_t only = number("HINDSIGHT_SEED", 0);
  const std::uint64_t first = only != 0 ? only : 1;
  const std::uint64_t seeds = only != 0 ? 1 : number("HINDSIGHT_CROWDS", as_much_as<std::uint64_t>(300, 10));
  Answers answers;
  answers.with_remedies = false;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    CrowdedWorld world(seed);
    answers.begin_history();
    for (int i = 0; i < 6; ++i)
      ASSERT_EQ(answers.check(world.driver()), "") << "repeat with: HINDSIGHT_SEED=" << seed << ", --gtest_filter=WhyProperty.InACrowd*";
  }
  std::printf("answers: %s\n", answers.summary().c_str());
  if (only != 0) return;
  const auto& looked = answers.looked;
  EXPECT_GT(looked.flavors, seeds * 10);
  EXPECT_GT(looked.enough, seeds);
  EXPECT_GT(looked.comparisons, seeds);
  EXPECT_GT(looked.victims_played, seeds / 2);
  EXPECT_GT(looked.reasons_ahead, seeds / 2);
  EXPECT_GT(answers.figures.looked.cut_lists, seeds);
  EXPECT_GT(answers.figures.looked.deep, seeds);
  if (seeds < 200) return;
  EXPECT_GT(looked.entitled, 50U);
  EXPECT_GT(looked.must_borrow, 50U);
  for (const char* by : {"withinClusterQueueNever", "withinClusterQueuePriority", "reclaimWithinCohortNever", "reclaimWithinCohortPriority",
                         "clusterQueueInactive", "withinNominalQuota", "withinNominalQuotaByThen", "borrowWithinCohortNever",
                         "borrowWithinCohortPriority", "borrowWithinCohortThreshold", "fairSharing", "notNeeded"})
    EXPECT_GT(looked.spared_by.count(by), 0U) << by;
  for (const char* reason : {"InClusterQueue", "InCohortReclamation", "InCohortFairSharing"})
    EXPECT_GT(looked.reasons.count(reason), 0U) << reason;
}

}  // namespace
}  // namespace hindsight::projections
