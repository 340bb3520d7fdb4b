// The search that walks cursors against one that lists everything.

#include <gtest/gtest.h>

#include "tests/admission/scheduling/random_world.hpp"
#include "tests/admission/scheduling/slow_preemption.hpp"

namespace hindsight::admission::testing {
namespace {

struct Statistics {
  int found = 0, several = 0;
  std::map<VictimReason, int> reasons;
};

void compare_searches(std::uint32_t seed, bool fair, Statistics& statistics) {
  Dice dice(seed);
  RandomTree spec = random_tree(dice, false);
  // Tight quotas and willing queues, so that searches go far.
  for (auto& q : spec.queues) {
    if (dice.one_in(2)) q.reclaim(PreemptionPolicy::any);
    for (auto& g : q.config.groups)
      for (auto& f : g.flavors)
        for (auto& quota : f.quotas) quota.nominal = dice.between(0, 6);
  }
  QuotaTree tree = build_tree(spec.queues, spec.cohorts);
  Settings settings;
  settings.fair_sharing = fair;
  settings.fair_sharing_preempt_within_nominal = !dice.one_in(3);
  using enum Settings::FairStrategy;
  settings.fair_strategies = dice.of(std::vector<std::vector<Settings::FairStrategy>>{
      {less_than_or_equal_to_final_share, less_than_initial_share}, {less_than_or_equal_to_final_share}, {less_than_initial_share}, {}});
  const std::uint32_t running = 4 + dice.below(20);
  for (std::uint32_t i = 0; i < running; ++i) {
    const QueueConfig& queue = dice.of(spec.queues).config;
    tree.reserve(queue.name, random_reservation(dice, 1 + i, queue, 3));
  }
  const Time now = Time::from_seconds(dice.between(30, 50));
  Preemption fast(tree, settings, now);
  SlowPreemption slow(tree, settings, now);
  const std::uint64_t before = tree.hash();

  for (const auto& q : spec.queues) {
    WorkloadInfo w;
    w.priority = dice.between(0, 5);
    w.queue_time = Time::from_seconds(dice.between(0, 20));
    Preemptor p;
    p.workload = &w;
    p.queue = tree.find_queue(q.config.name);
    std::vector<CellAmount> requests;
    std::vector<CellIndex> need;
    for (const CellIndex c : tree.table().cells_of(p.queue)) {
      if (!dice.one_in(2)) continue;
      requests.push_back({c, dice.between(1, 5)});
      if (need.empty() || dice.one_in(2)) need.push_back(c);
    }
    if (requests.empty()) continue;
    p.requests = requests;
    p.need = need;
    const auto got = fast.find_targets(p);
    const auto expected = slow.find_targets(p);
    ASSERT_EQ(tree.hash(), before);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].entry, expected[i].entry);
      ASSERT_EQ(got[i].queue, expected[i].queue);
      ASSERT_EQ(got[i].reason, expected[i].reason);
      ++statistics.reasons[got[i].reason];
    }
    statistics.found += !got.empty();
    statistics.several += got.size() > 1;
  }
}

// BA-101 to BA-113, BA-127
TEST(PreemptionProperty, FindsTheClassicalTargetsOfTheSlowSearch) {
  Statistics s;
  for (std::uint32_t seed = 1; seed <= 30'000; ++seed) {
    compare_searches(seed, false, s);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(s.found, 10'000);
  EXPECT_GT(s.several, 2'000);
  EXPECT_GT(s.reasons[VictimReason::in_cluster_queue], 1'000);
  EXPECT_GT(s.reasons[VictimReason::in_cohort_reclamation], 1'000);
  EXPECT_GT(s.reasons[VictimReason::in_cohort_reclaim_while_borrowing], 500);
}

// BA-117 to BA-127
TEST(PreemptionProperty, FindsTheFairTargetsOfTheSlowSearch) {
  Statistics s;
  for (std::uint32_t seed = 1; seed <= 30'000; ++seed) {
    compare_searches(seed, true, s);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(s.found, 10'000);
  EXPECT_GT(s.several, 2'000);
  EXPECT_GT(s.reasons[VictimReason::in_cluster_queue], 1'000);
  EXPECT_GT(s.reasons[VictimReason::in_cohort_reclamation], 1'000);
  EXPECT_GT(s.reasons[VictimReason::in_cohort_fair_sharing], 1'000);
}

}  // namespace
}  // namespace hindsight::admission::testing
