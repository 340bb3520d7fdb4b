// Places and failing nodes under actors: what they decide, and the state that comes of it, is what one thread makes of the same records,
// in whatever order their messages arrive.

#include <gtest/gtest.h>

#include <random>

#include "actors/actor_driver.hpp"
#include "tests/admission/entities/fleet.hpp"

namespace hindsight::actors {
namespace {

using admission::testing::Fleet;
using admission::testing::host;

TEST(TopologyTwins, ActorsDecideAsOneThreadDoes) {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    admission::Settings settings;
    settings.replace_when_idle = seed < 4;  // else parents wait for the half minute of a node
    settings.replace_or_evict = seed % 3 != 0;
    settings.balanced_placement = seed % 2 == 0;
    settings.compact_topologies = seed % 3 == 1;
    ActorDriver::Options options;
    if (seed % 2 == 0)
      options.schedule_seed = seed;
    else
      options.threads = 4;
    options.shells_max = 5;
    ActorDriver driver([&](Text) -> Result<admission::Settings> { return settings; }, std::move(options));
    // Actors count the topology in parts, the one thread does not.
    ASSERT_TRUE(driver.with_entities([](admission::Entities& e) { e.domain().cut_topologies(1); }));
    Fleet world;
    ASSERT_TRUE(
        driver.apply({.envelope = {"default", 1, 1, world.now, 0}, .body = EpochStarted{"test", "test", admission::rules_version}}));
    world.on_record = [&](const RecordView& record) { ASSERT_TRUE(driver.apply(record)); };
    world.configure(settings);
    world.set_up(60'000);
    world.check("prov", true, "kueue.x-k8s.io/provisioning-request");
    world.queue({.name = "late", .cpu = 20'000, .check = "prov"});
    world.local_queue("lq-late", "late");
    std::vector<std::string> late;
    std::mt19937 rng(seed);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(rng() % n); };
    std::size_t failures = 0, moved = 0, later = 0;
    const auto settle = [&] {
      for (int steps = 0; steps < 500; ++steps) {
        const auto step = world.driver().decide();
        const auto other = driver.decide();
        ASSERT_TRUE(other);
        ASSERT_EQ(other->has_value(), step.has_value()) << "seed " << seed;
        if (!step) return;
        ASSERT_EQ((*other)->events.size(), step->events.size()) << "seed " << seed;
        for (std::size_t i = 0; i < step->events.size(); ++i) ASSERT_EQ((*other)->events[i].index(), step->events[i].index());
        for (const Event& e : step->events) {
          failures += std::holds_alternative<NodesUnhealthy>(e);
          moved += std::holds_alternative<TopologyReassigned>(e);
          later += std::holds_alternative<TopologyAssigned>(e) || std::holds_alternative<SecondPassFailed>(e);
        }
        world.observe_decision(*step);
      }
      FAIL() << "no rest";
    };
    int gangs = 0;
    for (int round = 0; round < 160; ++round) {
      const std::string node = "n" + std::to_string(below(6));
      switch (below(5)) {
        case 0:
          world.node(node, {.rack = below(2) == 0 ? "r1" : "r2", .ready = below(3) != 0, .taint = below(4) == 0 ? "broken" : ""});
          break;
        case 1:
          if (below(2) == 0) world.node_gone(node);
          break;
        case 2:
          world.used(node, below(3), below(3));
          break;
        case 3:
          world.tick(Duration::seconds(below(20)));
          if (late.empty() || !world.state(late.back()).reserved()) break;
          world.observe(world.seen_as(late.back()));  // what we wrote is there before somebody changes it
          {
            auto o = world.seen_as(late.back());
            auto checks = world.arena().make<CheckFacts>(1);
            checks[0] = {"prov", CheckState::ready, world.now, "", {}, {}, ""};
            o.checks = checks;
            world.observe(o);
          }
          break;
        default: {
          const std::string name = "g" + std::to_string(gangs++);
          auto o = world.gang(name, static_cast<std::int32_t>(1 + below(5)), 1'000, {.preferred = "rack"});
          if (below(3) == 0) {
            o.queue_name = "lq-late";
            world.remember(o);
            late.push_back(name);
          }
          world.observe(o);
        }
      }
      world.tick(Duration::millis(600));
      settle();
      if (::testing::Test::HasFatalFailure()) return;
    }
    EXPECT_GT(failures, 0U) << seed;
    EXPECT_GT(later, 0U) << seed;
    std::size_t parts = 0;
    ASSERT_TRUE(driver.with_entities([&](admission::Entities& e) { parts = e.topology_domains(); }));
    EXPECT_GT(parts, 2U);
    EXPECT_EQ(world.driver().entities().topology_domains(), 0U);
    std::uint64_t hash = 0;
    ASSERT_TRUE(driver.inspect([&](const admission::StateView& view) { hash = view.state_hash(); }));
    EXPECT_EQ(hash, world.driver().state_hash()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace hindsight::actors
