// The same random histories through the actors: with a test scheduler that picks who runs next by seed, and with real threads. The
// state after every record and every decision must be those of the loop. HINDSIGHT_ACTOR_SEEDS: how many seeds.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "actors/actor_driver.hpp"
#include "admission/domain/loop_driver.hpp"
#include "tests/explorer/explorer.hpp"

namespace hindsight::explorer {
namespace {

std::uint64_t number_of_seeds(std::uint64_t otherwise) {
  const char* text = std::getenv("HINDSIGHT_ACTOR_SEEDS");
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Empty: the actors did as the loop does.
std::string compare_with_loop(const Explorer& explorer, actors::ActorDriver& driver) {
  admission::LoopDriver loop(read_settings);
  explorer.bound(loop.entities());
  if (auto ok = driver.with_entities([&](admission::Entities& entities) { explorer.bound(entities); }); !ok) return ok.error().message;
  auto decision = explorer.decisions().begin();
  for (const auto& r : explorer.history().records()) {
    const std::string after = " after record " + std::to_string(r.view.envelope.sequence);
    if (auto ok = driver.apply(r.view); !ok) return ok.error().message + after;
    if (auto ok = loop.apply(r.view); !ok) return ok.error().message + after;
    std::uint64_t hash = 0;
    if (auto ok = driver.inspect([&](const admission::StateView& view) { hash = view.state_hash(); }); !ok)
      return ok.error().message + after;
    if (hash != loop.state_hash()) return "the actors' state differs from the loop's" + after;
    if (decision == explorer.decisions().end() || decision->base != r.view.envelope.sequence) continue;
    auto step = driver.decide();
    if (!step) return step.error().message + after;
    if (!*step || !same_step(**step, decision->step))
      return "the actors decide otherwise: " + (*step ? describe(**step) : "nothing") + " against " + describe(decision->step) + after;
    ++decision;
  }
  return decision == explorer.decisions().end() ? "" : "not all decisions were compared";
}

// Few shells, so that parents lose theirs all the time.
TEST(ExplorerUnderActors, ASeededScheduleGivesTheStateAndDecisionsOfTheLoop) {
  const std::uint64_t seeds = number_of_seeds(60);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Explorer explorer(seed);
    ASSERT_EQ(explorer.run(), "") << "seed " << seed;
    actors::ActorDriver::Options options;
    options.schedule_seed = seed;
    options.shells_max = seed % 5;
    options.inline_receivers = seed % 3 == 0 ? 2 : 0;
    actors::ActorDriver driver(read_settings, std::move(options));
    ASSERT_EQ(compare_with_loop(explorer, driver), "") << "seed " << seed;
    EXPECT_LE(driver.shells(), seed % 5);
  }
}

TEST(ExplorerUnderActors, RealThreadsGiveTheStateAndDecisionsOfTheLoop) {
  const std::uint64_t seeds = number_of_seeds(60) / 4;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Explorer explorer(seed);
    ASSERT_EQ(explorer.run(), "") << "seed " << seed;
    actors::ActorDriver::Options options;
    options.threads = 1 + seed % 4;
    options.inline_receivers = seed % 2 == 0 ? 0 : 3;
    options.shells_max = 2 + seed % 7;
    actors::ActorDriver driver(read_settings, std::move(options));
    ASSERT_EQ(compare_with_loop(explorer, driver), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace hindsight::explorer
