// A cluster whose objects are decided in many domains, against what must hold while trees join, split and lose their queues to each other.
// HINDSIGHT_SEEDS: how many seeds (default below). HINDSIGHT_SEED: only this one, with its records. HINDSIGHT_FIRST_SEED: where to begin.

#include "tests/routing/realm.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "events/json.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::routing::testing {
namespace {

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Realm, MovingTreesKeepsEveryWorkloadInOneDomainAndEverySumRight) {
  constexpr std::uint64_t seeds_of_the_suite = as_much_as<std::uint64_t>(2'000, 300);
  const auto only = number("HINDSIGHT_SEED", 0);
  const std::uint64_t first = only != 0 ? only : number("HINDSIGHT_FIRST_SEED", 1);
  const std::uint64_t seeds = only != 0 ? 1 : number("HINDSIGHT_SEEDS", seeds_of_the_suite);
  Realm::Figures all;
  int failures = 0;
  for (std::uint64_t seed = first; seed < first + seeds && failures < 5; ++seed) {
    Realm realm(seed);
    const std::string finding = realm.run();
    EXPECT_EQ(finding, "") << "repeat with: HINDSIGHT_SEED=" << seed << " " << ::testing::internal::GetArgvs().front()
                           << " --gtest_filter=Realm.*";
    if (!finding.empty()) ++failures;
    if (only != 0)
      for (const auto& r : realm.log()) std::printf("%s\n", events::to_json(r.view).c_str());
    const auto& f = realm.figures();
    all.records += f.records;
    all.departures += f.departures;
    all.held_departures += f.held_departures;
    all.restarts += f.restarts;
    all.domains += f.domains;
    all.rests += f.rests;
  }
  std::printf("%llu records, %llu domains, %llu departures, %llu of them with quota, %llu restarts, %llu rests\n",
              static_cast<unsigned long long>(all.records), static_cast<unsigned long long>(all.domains),
              static_cast<unsigned long long>(all.departures), static_cast<unsigned long long>(all.held_departures),
              static_cast<unsigned long long>(all.restarts), static_cast<unsigned long long>(all.rests));
  if (seeds < 300 || failures > 0) return;
  EXPECT_GT(all.held_departures, seeds) << "what holds quota moves";
  EXPECT_GT(all.restarts, 2 * seeds);
  EXPECT_GT(all.rests, 2 * seeds);
}

}  // namespace
}  // namespace hindsight::routing::testing
