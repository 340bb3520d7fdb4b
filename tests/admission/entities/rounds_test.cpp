// A cycle that parks all its heads goes on with the next ones: what comes of it is what came of a cycle for each round.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "admission/rules.hpp"
#include "tests/admission/entities/queue_world.hpp"

namespace hindsight::admission::testing {
namespace {

class Rounds : public QueueWorld {
 protected:
  /// What each cycle says until the domain is at rest.
  std::vector<Lines> cycles() {
    std::vector<Lines> out;
    settle([&](const Domain::Step& step) {
      if (step.kind != StepKind::cycle) return;
      Lines& lines = out.emplace_back();
      for (const Event& e : step.events) {
        if (const auto* q = std::get_if<QuotaReserved>(&e)) lines.push_back("reserved " + std::string(q->workload.name));
        if (const auto* r = std::get_if<EntryRequeued>(&e)) lines.push_back("requeued " + std::string(r->workload.name));
      }
    });
    return out;
  }
  void add(std::string_view name, std::string_view queue, Amount cpu) {
    w.now = w.now + Duration::seconds(1);
    w.observe(w.workload(name, "l-" + std::string(queue), cpu));
  }
};

// BA-51, BA-55
TEST_F(Rounds, ACycleThatOnlyParksGoesOnUntilSomethingElseHappens) {
  set_up({{.name = "cq", .cpu = 10'000}});
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) add(name, "cq", 11'000 + 1'000 * name[0]);
  add("g", "cq", 3'000);
  add("h", "cq", 4'000);
  add("i", "cq", 50'000);
  EXPECT_EQ(cycles(),
            (std::vector<Lines>{{"requeued a", "requeued b", "requeued c", "requeued d", "requeued e", "requeued f", "reserved g"},
                                {"reserved h"},
                                {"requeued i"}}));
}

// BA-51: each round has one head of each queue that has any left
TEST_F(Rounds, QueuesOfACohortGoOnTogether) {
  set_up({{.name = "q1", .cohort = "all", .cpu = 5'000}, {.name = "q2", .cohort = "all", .cpu = 5'000}});
  add("a1", "q1", 11'000);
  add("a2", "q1", 12'000);
  add("a3", "q1", 13'000);
  add("b1", "q2", 14'000);
  add("b2", "q2", 10'000);
  EXPECT_EQ(cycles(), (std::vector<Lines>{{"requeued a1", "requeued b1", "requeued a2", "reserved b2"}, {"requeued a3"}}));
}

// BA-50: a head that stays is a head of every round
TEST_F(Rounds, AHeadThatStaysCompetesInEveryRound) {
  set_up({{.name = "q1", .cohort = "all", .cpu = 5'000, .strategy = QueueingStrategy::strict_fifo},
          {.name = "q2", .cohort = "all", .cpu = 5'000}});
  add("strict", "q1", 11'000);
  EXPECT_EQ(cycles(), (std::vector<Lines>{{"requeued strict"}}));
  add("b1", "q2", 14'000);
  add("b2", "q2", 15'000);
  EXPECT_EQ(cycles(), (std::vector<Lines>{{"requeued b1", "requeued b2"}}));
}

TEST_F(Rounds, AStepIsNotMadeLongerThanItsHeadsAllow) {
  set_up({{.name = "cq", .cpu = 10'000}});
  for (int i = 0; i < 600; ++i) add("w" + std::to_string(i), "cq", 11'000 + i);
  std::vector<std::size_t> sizes;
  for (const Lines& lines : cycles()) sizes.push_back(lines.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{256, 256, 88}));
}

TEST_F(Rounds, AnEpochOfEarlierRulesDecidesOneRoundAtATime) {
  w.observe_epoch(rules_with_rounds - 1);
  set_up({{.name = "cq", .cpu = 10'000}});
  add("a", "cq", 11'000);
  add("b", "cq", 12'000);
  EXPECT_EQ(cycles(), (std::vector<Lines>{{"requeued a"}, {"requeued b"}}));
}

/// The same random life of a cohort, by these rules: what every Workload is told at each rest, and how many cycles it took.
struct Told {
  Lines lines;
  std::size_t cycles = 0;
};
Told random_life(std::uint32_t seed, std::uint32_t rules, bool fair) {
  FactWorld w;
  w.observe_epoch(rules);
  std::mt19937 random(seed);
  const auto pick = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  w.namespace_("default");
  w.flavor("default");
  Settings settings;
  settings.claim_duration = {};
  if (fair) settings.admission_fair_sharing = Settings::AdmissionFairSharing{Duration::seconds(60), Duration::seconds(5), {}};
  w.configure(settings);
  for (const char* q : {"q0", "q1", "q2"}) {
    w.queue({.name = q,
             .cohort = "all",
             .cpu = 4'000,
             .within = pick(2) == 0 ? PreemptionPolicy::never : PreemptionPolicy::lower_priority,
             .reclaim = pick(2) == 0 ? PreemptionPolicy::never : PreemptionPolicy::any,
             .strategy = pick(4) == 0 ? QueueingStrategy::strict_fifo : QueueingStrategy::best_effort_fifo,
             .mode = fair && pick(2) == 0 ? AdmissionMode::usage_based : AdmissionMode::unset});
    for (const char* l : {"a", "b"}) w.local_queue(std::string(q) + l, q);
  }
  w.observe(MirrorSynced{});
  Told out;
  std::vector<std::string> names;
  const auto rest = [&] {
    for (int i = 0; i < 1'000; ++i) {
      const auto step = w.driver().decide();
      if (!step) break;
      out.cycles += step->kind == StepKind::cycle ? 1U : 0U;
      w.observe_decision(*step);
    }
    for (const auto& name : names) out.lines.push_back(name + " " + w.pending(name) + (w.state(name).admitted() ? " admitted" : ""));
    for (const char* q : {"q0", "q1", "q2"})
      for (const auto& x : w.driver().queue(Symbol(q))->waiting()) out.lines.push_back(x.workload->uid + (x.parked ? " parked" : " waits"));
  };
  for (int moment = 0; moment < 12; ++moment) {
    for (std::uint32_t i = pick(8); i > 0; --i) {
      const std::string name = "w" + std::to_string(names.size());
      const std::string queue = "q" + std::to_string(pick(3)) + (pick(2) == 0 ? "a" : "b");
      w.observe(w.workload(name, queue, 500 * (1 + pick(30)), static_cast<std::int32_t>(pick(3))));
      names.push_back(name);
    }
    rest();
    std::vector<std::string> running;
    for (const auto& name : names)
      if (w.state(name).admitted()) running.push_back(name);
    if (!running.empty()) {
      const std::string name = running[pick(static_cast<std::uint32_t>(running.size()))];
      auto gone = ObjectDeleted{ObjectKind::workload, "default", w.keep(name), w.keep("uid-" + name)};
      w.observe(gone);
      std::erase(names, name);
    }
    w.tick(Duration::seconds(1 + pick(3)));
    rest();
  }
  return out;
}

// BA-47 ff., without claims (D14), which those rules did not have: rounds change how many cycles there are, and nothing that anybody is
// told
TEST(RoundsOfRandomLives, LeadWhereCyclesOfOneRoundLead) {
  std::size_t fewer = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    const bool fair = seed % 2 == 0;
    const Told with = random_life(seed, rules_version, fair);
    const Told without = random_life(seed, rules_with_rounds - 1, fair);
    ASSERT_EQ(with.lines, without.lines) << "seed " << seed;
    EXPECT_LE(with.cycles, without.cycles) << "seed " << seed;
    fewer += with.cycles < without.cycles ? 1U : 0U;
  }
  EXPECT_GT(fewer, 300U);
}

}  // namespace
}  // namespace hindsight::admission::testing
