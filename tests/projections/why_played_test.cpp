// What `why` promises with everybody who waits: each remedy is played, and here the run is repeated with it.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "projections/observed_again.hpp"
#include "projections/play.hpp"
#include "tests/projections/simulated.hpp"

namespace hindsight::projections {
namespace {

const Remedy* promised(const Why& why, Remedy::Kind kind) {
  const auto it = std::find_if(why.remedies.begin(), why.remedies.end(), [&](const Remedy& r) { return r.kind == kind; });
  return it == why.remedies.end() ? nullptr : &*it;
}

bool says(const Why& why, const std::string& part) {
  return std::any_of(why.facts.begin(), why.facts.end(), [&](const auto& f) { return f.find(part) != std::string::npos; });
}

/// One holds all 4 cpus; "first", which has a higher priority, and then "second" wait.
std::string two_wait(const std::string& quota, int holder_runs, const std::string& first, const std::string& more = {}) {
  return basics + queue_text({.name = "cq", .cpu = quota, .more = more}) + job_text({.name = "holder", .cpu = "4", .runs = holder_runs}) +
         job_text({.name = "first", .cpu = first, .arrives = 10, .runs = 100, .priority_class = "high"}) +
         job_text({.name = "second", .cpu = "1", .arrives = 11, .runs = 100});
}

Phase phase_of_second(const std::string& text) {
  Played run(text);
  return run.why("job/second", run.at(20)).phase;
}

TEST(WhyPlayed, NobodyIsPromisedWhatAnotherOneTakes) {
  Played run(two_wait("4", 60, "4"));
  const Why w = run.why("job/second", run.at(20));
  ASSERT_EQ(w.phase, Phase::pending);
  EXPECT_EQ(promised(w, Remedy::Kind::free), nullptr) << "the one before it takes all of it";
  EXPECT_EQ(phase_of_second(two_wait("4", 15, "4")), Phase::pending);
  const auto* raise = promised(w, Remedy::Kind::raise_nominal);
  ASSERT_NE(raise, nullptr);
  ASSERT_EQ(raise->steps.size(), 1U);
  EXPECT_EQ(raise->steps[0].to, 5000) << "too little for the other one, which may be passed";
  ASSERT_TRUE(raise->played.has_value());
  EXPECT_TRUE(raise->played->before.empty());
  EXPECT_EQ(phase_of_second(two_wait("5", 60, "4")), Phase::admitted);
}

TEST(WhyPlayed, ARaiseIsLargeEnoughForThoseAhead) {
  Played run(two_wait("4", 60, "1"));
  const Why w = run.why("job/second", run.at(20));
  const auto* raise = promised(w, Remedy::Kind::raise_nominal);
  ASSERT_NE(raise, nullptr);
  EXPECT_EQ(raise->steps[0].to, 6000);
  ASSERT_EQ(raise->played->before.size(), 1U);
  EXPECT_TRUE(raise->played->before[0].starts_with("default/job-first-")) << raise->played->before[0];
  EXPECT_EQ(phase_of_second(two_wait("5", 60, "1")), Phase::pending);
  EXPECT_EQ(phase_of_second(two_wait("6", 60, "1")), Phase::admitted);
  EXPECT_NE(to_text(w).find("instead of 4, after default/job-first-"), std::string::npos) << to_text(w);
  EXPECT_EQ(to_json(w)["remedies"][0]["played"]["before"].size(), 1U);
}

TEST(WhyPlayed, InAStrictQueueTheHeadGoesFirst) {
  const std::string strict = "  queueingStrategy: StrictFIFO\n";
  Played run(two_wait("4", 60, "5", strict));
  const Why w = run.why("job/second", run.at(20));
  const auto* raise = promised(w, Remedy::Kind::raise_nominal);
  ASSERT_NE(raise, nullptr);
  EXPECT_EQ(raise->steps[0].to, 10'000);
  EXPECT_EQ(phase_of_second(two_wait("9", 60, "5", strict)), Phase::pending);
  EXPECT_EQ(phase_of_second(two_wait("10", 60, "5", strict)), Phase::admitted);
}

// Issue 19, section 1: behind a head of a StrictFIFO queue that does not fit. There is room, and what keeps it out is the order.
TEST(WhyPlayed, BehindAHeadThatFindsNoRoomThereAreFourWaysIn) {
  const auto world = [](const std::string& quota, const std::string& strategy, bool head) {
    return basics + queue_text({.name = "cq", .cpu = quota, .more = "  queueingStrategy: " + strategy + "\n"}) +
           job_text({.name = "holder", .cpu = "1", .runs = 900}) +
           (head ? job_text({.name = "first", .cpu = "5", .arrives = 10, .runs = 900}) : std::string()) +
           job_text({.name = "between", .cpu = "1", .arrives = 11, .runs = 900}) +
           job_text({.name = "second", .cpu = "1", .arrives = 12, .runs = 900});
  };
  Played run(world("4", "StrictFIFO", true));
  const Why w = run.why("job/second", run.at(20));
  ASSERT_EQ(w.phase, Phase::pending);
  EXPECT_TRUE(says(w, "ClusterQueue cq is StrictFIFO: nothing is tried before default/job-first-")) << to_text(w);

  const auto* raise = promised(w, Remedy::Kind::raise_nominal);
  ASSERT_NE(raise, nullptr) << to_text(w);
  EXPECT_EQ(raise->steps[0].to, 8'000) << "for all four";
  ASSERT_TRUE(raise->played);
  EXPECT_EQ(raise->played->before.size(), 2U);
  EXPECT_EQ(phase_of_second(world("7", "StrictFIFO", true)), Phase::pending);
  EXPECT_EQ(phase_of_second(world("8", "StrictFIFO", true)), Phase::admitted);

  const auto* leave = promised(w, Remedy::Kind::leave);
  ASSERT_NE(leave, nullptr) << to_text(w);
  ASSERT_EQ(leave->ending.size(), 1U);
  EXPECT_TRUE(leave->ending[0].name.starts_with("job-first-"));
  ASSERT_EQ(leave->played->before.size(), 1U);
  EXPECT_TRUE(leave->played->before[0].starts_with("default/job-between-"));
  EXPECT_EQ(phase_of_second(world("4", "StrictFIFO", false)), Phase::admitted);

  const auto* strategy = promised(w, Remedy::Kind::change_strategy);
  ASSERT_NE(strategy, nullptr) << to_text(w);
  EXPECT_EQ(remedy_text(*strategy), "if in ClusterQueue cq queueingStrategy were BestEffortFIFO instead of StrictFIFO");
  EXPECT_EQ(phase_of_second(world("4", "BestEffortFIFO", true)), Phase::admitted);
  EXPECT_NE(promised(w, Remedy::Kind::priority), nullptr) << to_text(w);
  EXPECT_EQ(promised(w, Remedy::Kind::free), nullptr) << "the end of the holder is not enough for the first";
  const auto json = to_json(w)["remedies"];
  EXPECT_TRUE(std::any_of(json.begin(), json.end(), [](const auto& r) { return r["kind"] == "changeQueueingStrategy"; }));
}

TEST(WhyPlayed, ManyAreAhead) {
  const auto world = [](int quota) {
    std::string out =
        basics + queue_text({.name = "cq", .cpu = std::to_string(quota)}) + job_text({.name = "holder", .cpu = "2", .runs = 900});
    for (int i = 0; i < 93; ++i)
      out += job_text({.name = "a" + std::to_string(i), .cpu = "2", .arrives = 1, .runs = 900, .priority_class = "high"});
    return out + job_text({.name = "last", .cpu = "2", .arrives = 2, .runs = 900});
  };
  Played run(world(2));
  const Why w = run.why("job/last", run.at(20));
  const auto* raise = promised(w, Remedy::Kind::raise_nominal);
  ASSERT_NE(raise, nullptr);
  EXPECT_EQ(raise->steps[0].to, 190'000);
  EXPECT_EQ(raise->played->before.size(), 93U);
  EXPECT_NE(to_text(w).find(" and 90 more"), std::string::npos);
  EXPECT_EQ(promised(w, Remedy::Kind::free), nullptr);
}

TEST(WhyPlayed, AStoppedQueuePromisesNothingButItsOwnReturn) {
  const auto world = [](const std::string& policy) {
    return basics + queue_text({.name = "cq", .cpu = "4", .more = "  stopPolicy: " + policy + "\n"}) +
           job_text({.name = "second", .cpu = "1"});
  };
  Played run(world("Hold"));
  const Why w = run.why("job/second", run.at(20));
  ASSERT_EQ(w.remedies.size(), 1U) << to_text(w);
  EXPECT_EQ(w.remedies[0].kind, Remedy::Kind::resume);
  EXPECT_EQ(remedy_text(w.remedies[0]), "if ClusterQueue cq were not stopped (stopPolicy None)");
  EXPECT_EQ(phase_of_second(world("None")), Phase::admitted);
}

TEST(WhyPlayed, WhatFitsButIsTriedLaterSaysWhoIsFirst) {
  Played run(two_wait("4", 15, "4"));
  // Between the end of the holder and the next cycle there is room for both.
  for (events::Position p = run.at(15); p <= run.end(); ++p) {
    const auto& state = run.state(p);
    const auto* queue = state.queue(Symbol("cq"));
    if (queue == nullptr || queue->waiting().size() != 2) continue;
    const Why w = run.why("job/second", p);
    for (const auto& r : w.remedies) EXPECT_NE(r.kind, Remedy::Kind::fits_now) << "at " << p << "\n" << to_text(w);
    if (says(w, "others are given it first: default/job-first-")) {
      const auto* leave = promised(w, Remedy::Kind::leave);
      ASSERT_NE(leave, nullptr);
      EXPECT_TRUE(leave->ending[0].name.starts_with("job-first-"));
      return;
    }
  }
  FAIL() << "there was no such moment";
}

// Configuration that is shown again is the same, in every field
TEST(ObservedAgain, IsTheConfigurationThatItWasMadeOf) {
  Played run(basics +
             queue_text({.name = "cq",
                         .cohort = "all",
                         .cpu = "4",
                         .borrowing_limit = "2",
                         .more = "  queueingStrategy: StrictFIFO\n  stopPolicy: None\n  fairSharing: {weight: '2'}\n  preemption: "
                                 "{withinClusterQueue: LowerPriority, reclaimWithinCohort: Any, borrowWithinCohort: {policy: "
                                 "LowerPriority, maxPriorityThreshold: 7}}\n  flavorFungibility: {whenCanBorrow: TryNextFlavor, "
                                 "whenCanPreempt: TryNextFlavor}\n  admissionChecksStrategy: {admissionChecks: [{name: cap, "
                                 "onFlavors: [default]}]}\n",
                         .namespaces = "{matchLabels: {team: a}, matchExpressions: [{key: b, operator: In, values: [x, y]}]}"}) +
             "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: all}\nspec: {parentName: root, resourceGroups: "
             "[{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 3}]}]}]}\n");
  const auto& catalog = *run.state(run.end()).domain().catalog();
  Arena arena;
  const auto& queue = *catalog.queue(Symbol("cq"));
  EXPECT_FALSE(queue.namespace_selector.empty());
  EXPECT_FALSE(queue.checks.empty());
  EXPECT_EQ(content_hash(admission::to_config(observed_again(queue, arena))), content_hash(queue));
  const auto& cohort = *catalog.cohorts.at(Symbol("all"));
  EXPECT_FALSE(cohort.groups.empty());
  EXPECT_EQ(content_hash(admission::to_config(observed_again(cohort, arena))), content_hash(cohort));
}

}  // namespace
}  // namespace hindsight::projections
