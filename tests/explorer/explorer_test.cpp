// Random histories against invariants (design rules 1 to 5). HINDSIGHT_SEEDS: how many seeds (default below). HINDSIGHT_SEED: only
// this one, with its records. HINDSIGHT_FIRST_SEED: where to begin.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "events/json.hpp"
#include "tests/explorer/explorer.hpp"

namespace hindsight::explorer {
namespace {

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// The one command that repeats a seed.
std::string again(std::uint64_t seed) {
  return "HINDSIGHT_SEED=" + std::to_string(seed) + " " + ::testing::internal::GetArgvs().front() +
         " --gtest_filter=*RandomHistories.BreakNoInvariant/0";
}

/// The seeds in parts, so that ctest runs them side by side (SHARDS).
constexpr std::uint64_t parts = 2;
using RandomHistories = ::testing::TestWithParam<std::uint64_t>;
INSTANTIATE_TEST_SUITE_P(Parts, RandomHistories, ::testing::Range<std::uint64_t>(0, parts));

TEST_P(RandomHistories, BreakNoInvariant) {
  if (const auto only = number("HINDSIGHT_SEED", 0); only != 0) {
    Explorer explorer(only);
    const std::string finding = explorer.run();
    if (std::getenv("HINDSIGHT_QUIET") == nullptr)
      for (const auto& r : explorer.history().records()) std::printf("%s\n", events::to_json(r.view).c_str());
    EXPECT_EQ(finding, "");
    return;
  }
  // Sanitizers make a seed ten to twenty times as slow and look for other things than broken invariants.
#ifdef __SANITIZE_ADDRESS__
  constexpr std::uint64_t seeds_of_the_suite = 400;
#else
  constexpr std::uint64_t seeds_of_the_suite = 10'000;
#endif
  const std::uint64_t seeds = (number("HINDSIGHT_SEEDS", seeds_of_the_suite) + parts - 1) / parts;
  const std::uint64_t first = number("HINDSIGHT_FIRST_SEED", 1) + GetParam() * seeds;
  int failures = 0;
  std::uint64_t steps = 0;
  std::size_t parked = 0;
  for (std::uint64_t seed = first; seed < first + seeds && failures < 5; ++seed) {
    Explorer explorer(seed);
    const std::string finding = explorer.run();
    steps += explorer.steps();
    parked += explorer.parked_looked_at();
    EXPECT_EQ(finding, "") << "repeat with: " << again(seed);
    if (!finding.empty()) ++failures;
  }
  std::printf("%llu steps; at rest %zu parked workloads were tried in vain\n", static_cast<unsigned long long>(steps), parked);
#ifndef __SANITIZE_ADDRESS__
  if (failures == 0 && seeds >= seeds_of_the_suite / parts) {
    EXPECT_GE(steps, 1'000'000U / parts);
    EXPECT_GT(parked, 50'000U / parts);
  }
#endif
}

// What the detector finds and what it does not: a pair, each of which preempted the other again and again.
TEST(EvictionPairs, AreReportedWhenBothKeepEvictingEachOther) {
  EvictionPairs pairs;
  std::vector<Event> events(1);
  const auto preempt = [&](Text victim, Text preemptor) {
    WorkloadPreempted e;
    e.workload.uid = victim;
    e.preemptor.uid = preemptor;
    events[0] = e;
    RecordView r;
    r.body = Body{Decisions{1, StepKind::cycle, events}};
    return pairs.see(r);
  };
  for (int i = 0; i < 10; ++i) EXPECT_EQ(preempt("a", "b"), "") << "one way only";
  EXPECT_EQ(preempt("b", "a"), "");
  EXPECT_EQ(preempt("b", "a"), "");
  pairs.outside_event();
  for (int i = 0; i < EvictionPairs::often - 1; ++i) {
    EXPECT_EQ(preempt("a", "b"), "");
    EXPECT_EQ(preempt("b", "a"), "");
  }
  EXPECT_EQ(preempt("a", "b"), "");
  EXPECT_EQ(preempt("b", "a"), "Workloads a and b keep evicting each other");
}

}  // namespace
}  // namespace hindsight::explorer
