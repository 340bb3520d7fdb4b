// A log that several processes write to, against what must hold whoever dies, stands still or believes to be the owner (design rule 4).
// HINDSIGHT_SEEDS: how many seeds (default below). HINDSIGHT_SEED: only this one, with its records. HINDSIGHT_FIRST_SEED: where to begin.

#include "tests/explorer/fleet.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "events/json.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::explorer {
namespace {

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Fleet, NoInterleavingOfWritersBreaksAnInvariant) {
  constexpr std::uint64_t seeds_of_the_suite = as_much_as<std::uint64_t>(20'000, 300);
  const auto only = number("HINDSIGHT_SEED", 0);
  const std::uint64_t first = only != 0 ? only : number("HINDSIGHT_FIRST_SEED", 1);
  const std::uint64_t seeds = only != 0 ? 1 : number("HINDSIGHT_SEEDS", seeds_of_the_suite);
  Fleet::Figures all;
  std::uint64_t steps = 0;
  int failures = 0;
  for (std::uint64_t seed = first; seed < first + seeds && failures < 5; ++seed) {
    Fleet fleet(seed);
    const std::string finding = fleet.run();
    EXPECT_EQ(finding, "") << "repeat with: HINDSIGHT_SEED=" << seed << " " << ::testing::internal::GetArgvs().front()
                           << " --gtest_filter=Fleet.*";
    if (!finding.empty()) ++failures;
    if (only != 0)
      for (const auto& r : fleet.log()) std::printf("%s\n", events::to_json(r.view).c_str());
    steps += fleet.steps();
    const auto& f = fleet.figures();
    all.records += f.records;
    all.epochs += f.epochs;
    all.races_lost += f.races_lost;
    all.stale_decisions += f.stale_decisions;
    all.restores += f.restores;
  }
  std::printf("%llu steps, %llu records, %llu epochs, %llu races lost, %llu decisions of replaced nodes, %llu snapshots read\n",
              static_cast<unsigned long long>(steps), static_cast<unsigned long long>(all.records),
              static_cast<unsigned long long>(all.epochs), static_cast<unsigned long long>(all.races_lost),
              static_cast<unsigned long long>(all.stale_decisions), static_cast<unsigned long long>(all.restores));
  if (seeds < 300 || failures > 0) return;
  EXPECT_GT(all.epochs, 2 * seeds) << "domains change hands";
  EXPECT_GT(all.races_lost, 0U);
  EXPECT_GT(all.stale_decisions, 0U);
  EXPECT_GT(all.restores, 0U);
}

}  // namespace
}  // namespace hindsight::explorer
