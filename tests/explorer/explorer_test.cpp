// Random histories against invariants (design rules 1 to 5). HINDSIGHT_SEEDS: how many seeds (default below). HINDSIGHT_SEED: only
// this one, with its records. HINDSIGHT_FIRST_SEED: where to begin.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "events/json.hpp"
#include "tests/explorer/explorer.hpp"
#include "tests/support/sanitized.hpp"

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

// EJ-31, EJ-35, EJ-37, EJ-154, EJ-159: of slices counts, flavors, usage and reasons, whether jobs run, and capacity, after every record or
// whenever nothing is left to decide
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
  constexpr std::uint64_t seeds_of_the_suite = as_much_as<std::uint64_t>(18'000, 400);
  const std::uint64_t seeds = (number("HINDSIGHT_SEEDS", seeds_of_the_suite) + parts - 1) / parts;
  const std::uint64_t first = number("HINDSIGHT_FIRST_SEED", 1) + GetParam() * seeds;
  int failures = 0;
  std::uint64_t steps = 0;
  std::size_t parked = 0, waits_for_writes = 0;
  SliceRules::Figures slices;
  for (std::uint64_t seed = first; seed < first + seeds && failures < 5; ++seed) {
    Explorer explorer(seed);
    const std::string finding = explorer.run();
    steps += explorer.steps();
    parked += explorer.parked_looked_at();
    waits_for_writes += explorer.waits_for_writes();
    const auto& seen = explorer.slices_looked_at();
    for (const auto figure :
         {&SliceRules::Figures::usages, &SliceRules::Figures::flavors, &SliceRules::Figures::sizes, &SliceRules::Figures::waiting,
          &SliceRules::Figures::exceeding, &SliceRules::Figures::running, &SliceRules::Figures::stopped})
      slices.*figure += seen.*figure;
    EXPECT_EQ(finding, "") << "repeat with: " << again(seed);
    if (!finding.empty()) ++failures;
  }
  std::printf("%llu steps; at rest %zu parked workloads were tried in vain; %zu times cycles waited for writes\n",
              static_cast<unsigned long long>(steps), parked, waits_for_writes);
  std::printf("slices: %zu amounts in use, %zu flavors kept, %zu sizes, %zu waiting (%zu beyond the maximum), %zu jobs run, %zu do not\n",
              slices.usages, slices.flavors, slices.sizes, slices.waiting, slices.exceeding, slices.running, slices.stopped);
#ifndef __SANITIZE_ADDRESS__
  if (failures == 0 && seeds >= seeds_of_the_suite / parts) {
    EXPECT_GE(steps, 1'000'000U / parts);
    EXPECT_GT(parked, 50'000U / parts);
    EXPECT_GT(waits_for_writes, 1'000U / parts);  // D15
    // Of each there was enough to look at (EJ-159).
    EXPECT_GT(slices.usages, 100'000U / parts);
    EXPECT_GT(slices.flavors, 300U / parts);
    EXPECT_GT(slices.sizes, 10'000U / parts);
    EXPECT_GT(slices.waiting, 150U / parts);
    EXPECT_GT(slices.exceeding, 20U / parts);
    EXPECT_GT(slices.running, 500U / parts);
    EXPECT_GT(slices.stopped, 500U / parts);
  }
#endif
}

/// The state of histories, field by field and with all that decisions read of it, is the one that it was when this was recorded: what is
/// rebuilt inside may change how state is kept, not what it is. HINDSIGHT_WRITE_STATES=1 records anew, after a change of a rule.
TEST(StatesOfHistories, AreThoseThatWereRecorded) {
  constexpr std::uint64_t lines = 20, seeds_in_line = 50;
  const bool write = std::getenv("HINDSIGHT_WRITE_STATES") != nullptr;
  std::ostringstream found;
  for (std::uint64_t line = 0; line < (write ? lines : as_much_as(lines, std::uint64_t{2})); ++line) {
    StateHash all;
    for (std::uint64_t seed = line * seeds_in_line + 1; seed <= (line + 1) * seeds_in_line; ++seed) {
      Explorer explorer(seed);
      explorer.hash_texts_every(25);
      ASSERT_EQ(explorer.run(), "") << seed;
      all.add(explorer.texts_hash());
    }
    found << "seeds from " << line * seeds_in_line + 1 << ": " << std::hex << all.value() << std::dec << '\n';
  }
  constexpr const char* file = "tests/explorer/states.txt";
  if (write) std::ofstream(file) << found.str();
  std::ostringstream recorded;
  recorded << std::ifstream(file).rdbuf();
  EXPECT_EQ(recorded.str().substr(0, found.str().size()), found.str());
  EXPECT_EQ(std::ranges::count(recorded.str(), '\n'), static_cast<std::ptrdiff_t>(lines));
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
