// Random histories of families of concurrent admission (8691) against invariants. HINDSIGHT_SEEDS: how many seeds (default below).
// HINDSIGHT_SEED: only this one, with its records (HINDSIGHT_TEXT=1: in words; HINDSIGHT_LONG=1: a long history of it).
// HINDSIGHT_FIRST_SEED: where to begin. HINDSIGHT_FAILURES: how many are shown (5).

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
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

using Figures = FamilyRules::Figures;

void add(Figures& all, const Figures& one) {
  for (const auto figure : {&Figures::formed, &Figures::dissolved, &Figures::resets, &Figures::admissions, &Figures::migrations,
                            &Figures::kept, &Figures::adoptions, &Figures::rights, &Figures::preemptions, &Figures::rejections,
                            &Figures::compared, &Figures::running, &Figures::stopped, &Figures::starts})
    all.*figure += one.*figure;
}

/// The seeds in parts, so that ctest runs them side by side (SHARDS).
constexpr std::uint64_t parts = 2;
using FamilyHistories = ::testing::TestWithParam<std::uint64_t>;
INSTANTIATE_TEST_SUITE_P(Parts, FamilyHistories, ::testing::Range<std::uint64_t>(0, parts));

// CA-2, CA-20 to CA-30, CA-43, CA-61, CA-70 to CA-76, CA-92, CA-100 to CA-103, CA-120, CA-130 to CA-133: after every record, or whenever
// nothing is left to decide
TEST_P(FamilyHistories, BreakNoInvariant) {
  if (const auto only = number("HINDSIGHT_SEED", 0); only != 0) {
    Explorer explorer(only, Explorer::Kind::families);
    if (std::getenv("HINDSIGHT_LONG") != nullptr) explorer.take_long();
    const std::string finding = explorer.run();
    if (std::getenv("HINDSIGHT_QUIET") == nullptr)
      for (const auto& r : explorer.history().records())
        std::printf("%s\n", (std::getenv("HINDSIGHT_TEXT") == nullptr ? events::to_json(r.view) : events::to_text(r.view)).c_str());
    EXPECT_EQ(finding, "");
    return;
  }
  constexpr std::uint64_t seeds_of_the_suite = as_much_as<std::uint64_t>(20'000, 100);
  const std::uint64_t seeds = (number("HINDSIGHT_SEEDS", seeds_of_the_suite) + parts - 1) / parts;
  const std::uint64_t first = number("HINDSIGHT_FIRST_SEED", 1) + GetParam() * seeds;
  const std::uint64_t failures_max = number("HINDSIGHT_FAILURES", 5);
  std::uint64_t failures = 0, steps = 0;
  Figures all;
  for (std::uint64_t seed = first; seed < first + seeds && failures < failures_max; ++seed) {
    Explorer explorer(seed, Explorer::Kind::families);
    const std::string finding = explorer.run();
    steps += explorer.steps();
    add(all, explorer.families_looked_at());
    EXPECT_EQ(finding, "") << "repeat with: HINDSIGHT_SEED=" << seed << " " << ::testing::internal::GetArgvs().front()
                           << " --gtest_filter=*FamilyHistories.BreakNoInvariant/0";
    if (!finding.empty()) ++failures;
  }
  std::printf("%llu steps; families: %zu formed, %zu dissolved, %zu begun anew; Options: %zu admitted, %zu adopted, %zu rejected\n",
              static_cast<unsigned long long>(steps), all.formed, all.dissolved, all.resets, all.admissions, all.adoptions, all.rejections);
  std::printf(
      "%zu migrations to what had quota, %zu to what it was kept for; %zu rights, %zu preemptions; at rest %zu families, %zu jobs run, %zu "
      "do not; %zu starts\n",
      all.migrations, all.kept, all.rights, all.preemptions, all.compared, all.running, all.stopped, all.starts);
  EXPECT_TRUE(number("HINDSIGHT_SEEDS", seeds_of_the_suite) < 50 || all.starts > 0);
}

// CA-100, CA-130: histories that mistakes of these rules were found with
TEST(PinnedFamilyHistories, ThatFoundSomething) {
  for (const std::uint64_t seed : {12, 785, 875, 1'775, 7'466, 10'163, 13'876}) {
    Explorer explorer(seed, Explorer::Kind::families);
    explorer.take_long();
    EXPECT_EQ(explorer.run(), "") << "repeat with: HINDSIGHT_LONG=1 HINDSIGHT_SEED=" << seed << " "
                                  << ::testing::internal::GetArgvs().front() << " --gtest_filter=*FamilyHistories.BreakNoInvariant/0";
  }
}

}  // namespace
}  // namespace hindsight::explorer
