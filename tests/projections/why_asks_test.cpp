// What a Workload could ask for instead, a queue that is not stopped any more, a higher priority and upgrades: each is played before it is
// told, and here the run is repeated with it. Also how an answer is told while it is being made, and what became of who is gone.

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/projections/reading.hpp"
#include "tests/projections/simulated.hpp"

namespace hindsight::projections {
namespace {

const Remedy* told_of(const Why& why, Remedy::Kind kind) {
  const auto it = std::find_if(why.remedies.begin(), why.remedies.end(), [&](const Remedy& r) { return r.kind == kind; });
  return it == why.remedies.end() ? nullptr : &*it;
}

struct WideJob {
  int pods = 4;
  std::string min_count, priority_class;
};

/// A job of pods with one core each.
std::string wide_job(const WideJob& j) {
  std::string out = job_text({.name = "wide", .cpu = "1", .arrives = 10, .runs = 100, .priority_class = j.priority_class});
  out.insert(out.find("  suspend: true\n"), "  parallelism: " + std::to_string(j.pods) + "\n  completions: 4\n");
  if (!j.min_count.empty())
    out.insert(out.find("hindsight.dev/arrive-seconds"), "kueue.x-k8s.io/job-min-parallelism: '" + j.min_count + "', ");
  return out;
}

std::string beside_a_holder(const std::string& holds, const WideJob& j, const std::string& more = {}, const std::string& first = basics) {
  return first + queue_text({.name = "cq", .cpu = "4", .more = more}) + job_text({.name = "holder", .cpu = holds, .runs = 900}) +
         wide_job(j);
}

Phase phase_of_wide(const std::string& text) {
  Played run(text);
  return run.why("job/wide", run.at(20)).phase;
}

// As many pods as find room, and one more does not; BA-49: or as many to start with.
TEST(WhyAsks, AsManyPodsAsFit) {
  Played run(beside_a_holder("2", {}));
  const Why w = run.why("job/wide", run.at(20));
  ASSERT_EQ(w.phase, Phase::pending);
  const auto* fewer = told_of(w, Remedy::Kind::fewer_pods);
  ASSERT_NE(fewer, nullptr) << to_text(w);
  EXPECT_EQ(remedy_text(*fewer), "if pod set main had 2 pods instead of 4");
  ASSERT_TRUE(fewer->played.has_value());
  EXPECT_EQ(phase_of_wide(beside_a_holder("2", {.pods = 2})), Phase::admitted);
  EXPECT_EQ(phase_of_wide(beside_a_holder("2", {.pods = 3})), Phase::pending);
  const auto* start = told_of(w, Remedy::Kind::min_count);
  ASSERT_NE(start, nullptr) << to_text(w);
  EXPECT_EQ(remedy_text(*start), "if pod set main could start with 2 pods (minCount 2 instead of 4)");
  EXPECT_EQ(phase_of_wide(beside_a_holder("2", {.min_count = "2"})), Phase::admitted);
  EXPECT_EQ(phase_of_wide(beside_a_holder("2", {.min_count = "3"})), Phase::pending);
}

TEST(WhyAsks, NotEvenOnePodFits) {
  Played run(beside_a_holder("4", {}));
  const Why w = run.why("job/wide", run.at(20));
  EXPECT_EQ(told_of(w, Remedy::Kind::fewer_pods), nullptr);
  EXPECT_EQ(told_of(w, Remedy::Kind::min_count), nullptr);
}

/// A StrictFIFO queue whose head finds no room: nobody else is tried, however small.
TEST(WhyAsks, FewerPodsDoNotHelpBehindAHead) {
  Played run(basics + queue_text({.name = "cq", .cpu = "4", .more = "  queueingStrategy: StrictFIFO\n"}) +
             job_text({.name = "holder", .cpu = "2", .runs = 900}) +
             job_text({.name = "head", .cpu = "3", .arrives = 5, .runs = 900, .priority_class = "high"}) + wide_job({}));
  const Why w = run.why("job/wide", run.at(20));
  EXPECT_EQ(told_of(w, Remedy::Kind::fewer_pods), nullptr) << to_text(w);
}

const std::string may_preempt = "  preemption: {withinClusterQueue: LowerPriority}\n";

TEST(WhyAsks, TheClassOfAHigherPriority) {
  Played run(beside_a_holder("4", {}, may_preempt));
  const Why w = run.why("job/wide", run.at(20));
  const auto* higher = told_of(w, Remedy::Kind::priority);
  ASSERT_NE(higher, nullptr) << to_text(w);
  EXPECT_EQ(remedy_text(*higher), "if its priority were 100 instead of 0, as with WorkloadPriorityClass high");
  ASSERT_EQ(higher->played->evicted.size(), 1U);
  EXPECT_TRUE(higher->played->evicted[0].starts_with("default/job-holder-"));
  EXPECT_EQ(phase_of_wide(beside_a_holder("4", {.priority_class = "high"}, may_preempt)), Phase::admitted);
}

TEST(WhyAsks, ThePriorityThatNoClassHas) {
  const std::string flavor = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: default}\n";
  Played run(beside_a_holder("4", {}, may_preempt, flavor));
  const Why w = run.why("job/wide", run.at(20));
  const auto* higher = told_of(w, Remedy::Kind::priority);
  ASSERT_NE(higher, nullptr) << to_text(w);
  EXPECT_EQ(remedy_text(*higher), "if its priority were 1 instead of 0, which no WorkloadPriorityClass has");
  const std::string just_enough =
      flavor + "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: one}\nvalue: 1\n";
  EXPECT_EQ(phase_of_wide(beside_a_holder("4", {.priority_class = "one"}, may_preempt, just_enough)), Phase::admitted);
}

TEST(WhyAsks, NoPriorityHelpsWhereNobodyMayBePreempted) {
  Played run(beside_a_holder("4", {}));
  EXPECT_EQ(told_of(run.why("job/wide", run.at(20)), Remedy::Kind::priority), nullptr);
}

std::string stopped_local_queue(const std::string& policy, const std::string& cpu = "4", const std::string& more = {}) {
  std::string out = basics + queue_text({.name = "cq", .cpu = cpu, .more = more});
  const std::string spec = "spec: {clusterQueue: cq";
  out.insert(out.find(spec) + spec.size(), ", stopPolicy: " + policy);
  return out + wide_job({});
}

TEST(WhyAsks, AStoppedLocalQueueIsResumed) {
  Played run(stopped_local_queue("Hold"));
  const Why w = run.why("job/wide", run.at(20));
  ASSERT_EQ(w.phase, Phase::pending);
  ASSERT_EQ(w.remedies.size(), 1U) << to_text(w);
  EXPECT_EQ(remedy_text(w.remedies[0]), "if LocalQueue default/lq-cq were not stopped (stopPolicy None)");
  EXPECT_EQ(phase_of_wide(stopped_local_queue("None")), Phase::admitted);
}

TEST(WhyAsks, BothQueuesAreStopped) {
  Played run(stopped_local_queue("Hold", "4", "  stopPolicy: Hold\n"));
  const Why w = run.why("job/wide", run.at(20));
  ASSERT_EQ(w.remedies.size(), 1U) << to_text(w);
  EXPECT_EQ(remedy_text(w.remedies[0]), "if LocalQueue default/lq-cq and ClusterQueue cq were not stopped (stopPolicy None)");
}

TEST(WhyAsks, AStoppedLocalQueueBeforeAFullOneIsNoRemedy) {
  Played run(stopped_local_queue("Hold", "3"));
  EXPECT_TRUE(run.why("job/wide", run.at(20)).remedies.empty());
}

// ---- how it is told -----------------------------------------------------------------------------------------------------------------

TEST(WhyTold, FirstTheFactsThenEachRemedy) {
  Played run(beside_a_holder("2", {}));
  const events::Position position = run.at(20);
  const Why whole = run.why("job/wide", position);
  const auto& state = run.state(position);
  const auto target = parse_target("job/wide", "default").value();
  const auto at = find_workload(state, target).value();
  Trail trail(target);
  run.each([&](events::Position p, const RecordView& r) {
    if (p <= position) trail.add(p, r);
  });
  const Stage stage = Stage::of_tree(run.driver(), at);
  std::vector<std::string> heard;
  WhyListener listener;
  listener.facts = [&](const Why& facts) {
    EXPECT_TRUE(facts.remedies.empty());
    EXPECT_EQ(facts.trials.size(), whole.trials.size());
    heard.emplace_back("facts");
  };
  listener.remedy = [&](const Why&, const Remedy& r) { heard.push_back(remedy_line(r)); };
  const Why told = explain(state, at, trail, &stage, listener);
  std::vector<std::string> wanted{"facts"};
  for (const auto& r : whole.remedies) wanted.push_back(remedy_line(r));
  EXPECT_GT(wanted.size(), 2U);
  EXPECT_EQ(heard, wanted);
  EXPECT_EQ(to_text(told), to_text(whole)) << "the same by the tree alone";
  EXPECT_EQ(to_json(explain_facts(state, at, trail))["remedies"].size(), 0U);
}

TEST(WhyTold, HowManyUsersAreLeftOut) {
  std::string text = basics + queue_text({.name = "cq", .cpu = "4"});
  for (int i = 0; i < 8; ++i) text += job_text({.name = "holder" + std::to_string(i), .cpu = "500m", .runs = 900});
  Played run(text + wide_job({}));
  const Why w = run.why("job/wide", run.at(20));
  ASSERT_EQ(w.users.size(), 1U);
  EXPECT_EQ(w.users[0].own.size(), 5U);
  EXPECT_EQ(w.users[0].own_left_out, 3U);
  EXPECT_NE(to_text(w).find(" and 3 more with no more than that\n"), std::string::npos) << to_text(w);
  EXPECT_EQ(to_json(w)["users"][0]["ownLeftOut"], 3);
  EXPECT_EQ(to_json(w)["users"][0]["othersLeftOut"], 0);
}

// ---- who is gone --------------------------------------------------------------------------------------------------------------------

class WhyGone : public Reading {
 protected:
  /// What became of it, from the records alone; nothing: the records know of none.
  std::optional<Why> gone(const std::string& target) {
    w.flush();
    const auto t = parse_target(target, "default").value();
    EXPECT_FALSE(find_workload(w.driver(), t));
    Trail trail(t);
    events::RecordReader reader;
    events::RecordBatch batch;
    for (events::Position p = 1;; p += batch.size()) {
      EXPECT_TRUE(log.read(p, {}, batch));
      if (batch.empty()) break;
      for (const auto& stored : batch) trail.add(stored.offset, **reader.read(stored.bytes));
    }
    return explain_gone(w.driver(), trail);
  }
};

TEST_F(WhyGone, WhatBecameOfWhoHadRun) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}}});
  w.submit({.name = "done"});
  w.settle();
  w.tick(Duration::seconds(30));
  w.finish("done");
  w.tick(Duration::seconds(5));
  w.remove("done");
  const auto why = gone("done");
  ASSERT_TRUE(why.has_value());
  EXPECT_EQ(why->object, "Workload default/done");
  EXPECT_TRUE(why->headline.starts_with("It had finished, and its object was deleted")) << why->headline;
  ASSERT_TRUE(why->life.has_value());
  EXPECT_TRUE(why->life->was_admitted());
  ASSERT_FALSE(why->events.empty());
  EXPECT_EQ(why->events.back().text, "deleted");
  const std::string text = to_text(*why);
  EXPECT_TRUE(text.starts_with("Workload default/done: Deleted\n")) << text;
  EXPECT_NE(text.find("Life: "), std::string::npos) << text;
  const Json json = to_json(*why);
  EXPECT_EQ(json["phase"], "Deleted");
  EXPECT_TRUE(json.contains("life"));
}

TEST_F(WhyGone, WhatBecameOfWhoOnlyWaited) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 0}}}});
  w.submit({.name = "never"});
  w.settle();
  w.tick(Duration::seconds(30));
  w.remove("never");
  const auto why = gone("never");
  ASSERT_TRUE(why.has_value());
  EXPECT_EQ(why->headline, "It was deleted before it had finished");
  ASSERT_TRUE(why->life.has_value());
  EXPECT_FALSE(why->life->was_admitted());
}

TEST_F(WhyGone, NobodyOfThatNameWasEverThere) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 0}}}});
  EXPECT_FALSE(gone("nobody").has_value());
}

}  // namespace
}  // namespace hindsight::projections
