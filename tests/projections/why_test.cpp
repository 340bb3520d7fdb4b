// Why a workload waits, was admitted, preempted or evicted: asked of logs that whole runs of manifests made. What would let it in is tried:
// the run is repeated with it.

#include "projections/why.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "tests/admission/entities/fact_world.hpp"
#include "tests/projections/simulated.hpp"

namespace hindsight::projections {
namespace {

using Verdict = FlavorTrial::Verdict;

std::vector<std::string> texts(const std::vector<Why::Event>& events) {
  std::vector<std::string> out;
  for (const auto& e : events) out.push_back(e.text);
  return out;
}

bool mentions(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(), [&](const auto& l) { return l.find(part) != std::string::npos; });
}

const Remedy* remedy(const Why& why, Remedy::Kind kind) {
  const auto it = std::find_if(why.remedies.begin(), why.remedies.end(), [&](const Remedy& r) { return r.kind == kind; });
  return it == why.remedies.end() ? nullptr : &*it;
}

// ---- deleted ------------------------------------------------------------------------------------------------------------------------

// D16: nobody else says why its quota is not free.
TEST(Why, AWorkloadThatWasDeletedSaysWhatKeepsItsQuota) {
  admission::testing::FactWorld w;
  Trail trail(parse_target("job/a", "default").value());
  std::uint64_t offset = 0;
  w.on_record = [&](const RecordView& r) { trail.add(++offset, r); };
  w.namespace_("default");
  w.flavor("default");
  w.queue({.name = "cq", .cpu = 1'000});
  w.local_queue("lq", "cq");
  w.observe(MirrorSynced{});
  auto job = w.job("a", "lq");
  w.observe(job);
  (void)w.settle();
  w.observe(w.workload_of(job));
  (void)w.settle();
  job.meta.resource_version = w.next_version();
  job.suspended = false;
  job.active = true;
  w.observe(job);
  const auto why = [&] { return explain(w.driver(), find_workload(w.driver(), parse_target("job/a", "default").value()).value(), trail); };
  const std::string kept = "it was deleted, and its quota is free when its job has stopped";
  EXPECT_FALSE(mentions(why().facts, kept));
  ObjectDeleted deleted;
  deleted.kind = ObjectKind::workload;
  deleted.namespace_ = "default";
  deleted.name = "a";
  deleted.uid = "uid-a";
  w.observe(deleted);
  (void)w.settle();
  EXPECT_EQ(why().phase, Phase::admitted);
  EXPECT_TRUE(mentions(why().facts, kept));
}

// ---- pending for lack of quota ------------------------------------------------------------------------------------------------------

std::string holder_and_waiter(const std::string& quota, int holder_runs = 60) {
  return basics + queue_text({.name = "cq", .cpu = quota}) + job_text({.name = "holder", .cpu = "3", .runs = holder_runs}) +
         job_text({.name = "waiter", .cpu = "2", .arrives = 10});
}

// BA-84
TEST(Why, PendingNamesTheQuotaWhoUsesItAndWhatWouldHaveToBeFreed) {
  Played run(holder_and_waiter("4"));
  const Why w = run.why("job/waiter", run.at(20));
  EXPECT_EQ(w.phase, Phase::pending);
  EXPECT_EQ(w.job, "Job/waiter");
  EXPECT_EQ(w.reason, "WaitingForQuota");
  EXPECT_EQ(w.message, "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default, 1 more needed");
  EXPECT_EQ(format_rfc3339(w.since), "2026-01-01T00:00:10Z");

  ASSERT_EQ(w.trials.size(), 1U);
  const FlavorTrial& t = w.trials[0];
  EXPECT_EQ(t.flavor.text(), "default");
  EXPECT_EQ(t.resource.text(), "cpu");
  EXPECT_EQ(t.requested, 2000);
  EXPECT_EQ(t.quota.nominal, 4000);
  EXPECT_EQ(t.quota.figures.usage, 3000);
  EXPECT_EQ(t.verdict, Verdict::short_now);
  EXPECT_EQ(t.missing, 1000);
  EXPECT_EQ(t.blocked_by, "nominalQuota of ClusterQueue cq");

  ASSERT_EQ(w.users.size(), 1U);
  ASSERT_EQ(w.users[0].own.size(), 1U);
  EXPECT_TRUE(w.users[0].own[0].name.starts_with("job-holder-"));
  EXPECT_EQ(w.users[0].own[0].amount, 3000);
  EXPECT_TRUE(w.users[0].others.empty());

  const auto* free = remedy(w, Remedy::Kind::free);
  ASSERT_NE(free, nullptr);
  ASSERT_EQ(free->steps.size(), 1U);
  EXPECT_EQ(free->steps[0].amount, 1000);
  ASSERT_EQ(free->ending.size(), 1U);
  EXPECT_TRUE(free->ending[0].name.starts_with("job-holder-"));
  const auto* raise = remedy(w, Remedy::Kind::raise_nominal);
  ASSERT_NE(raise, nullptr);
  EXPECT_EQ(raise->object, "ClusterQueue cq");
  EXPECT_EQ(raise->steps[0].from, 4000);
  EXPECT_EQ(raise->steps[0].to, 5000);
  EXPECT_TRUE(mentions(w.preemption, "withinClusterQueue is Never"));
}

TEST(Why, EachRemedyOfAPendingOneLetsItInAndLessDoesNot) {
  const auto phase_with = [](const std::string& quota, int holder_runs) {
    Played run(holder_and_waiter(quota, holder_runs));
    return run.why("job/waiter", run.at(20)).phase;
  };
  EXPECT_EQ(phase_with("4", 60), Phase::pending);
  EXPECT_EQ(phase_with("5", 60), Phase::admitted);     // raise_nominal
  EXPECT_EQ(phase_with("4999m", 60), Phase::pending);  // and no smaller one
  EXPECT_EQ(phase_with("4", 15), Phase::admitted);     // the holder ends
}

TEST(Why, WhatIsShortCanBeTheBorrowingLimitOrTheCohort) {
  const auto world = [](const std::string& limit) {
    return basics + queue_text({.name = "a", .cohort = "all", .borrowing_limit = limit}) + queue_text({.name = "b", .cohort = "all"}) +
           job_text({.name = "own", .queue = "a", .cpu = "4", .runs = 100}) +
           job_text({.name = "more", .queue = "a", .cpu = "2", .arrives = 1, .runs = 100}) +
           job_text({.name = "beyond", .queue = "a", .cpu = "1", .arrives = 2, .runs = 100}) +
           job_text({.name = "lender", .queue = "b", .cpu = "3", .arrives = 3, .runs = 100});
  };
  Played run(world("2"));
  const Why beyond = run.why("job/beyond", run.at(20));
  ASSERT_EQ(beyond.trials.size(), 1U);
  EXPECT_EQ(beyond.trials[0].blocked_by, "borrowingLimit of ClusterQueue a");
  EXPECT_EQ(beyond.trials[0].quota.figures.borrowed, 2000);
  const auto* limit = remedy(beyond, Remedy::Kind::raise_borrowing_limit);
  ASSERT_NE(limit, nullptr);
  EXPECT_EQ(limit->steps[0].to, 3000);
  Played raised(world("3"));
  EXPECT_EQ(raised.why("job/beyond", raised.at(20)).phase, Phase::admitted);

  const Why lender = run.why("job/lender", run.at(20));
  EXPECT_EQ(lender.trials[0].blocked_by, "capacity of Cohort all");
  EXPECT_EQ(lender.trials[0].missing, 1000);
  ASSERT_EQ(lender.users.size(), 1U);
  EXPECT_TRUE(lender.users[0].own.empty());
  EXPECT_EQ(lender.users[0].others.size(), 2U);
  EXPECT_EQ(lender.users[0].tree_total, 6000);
  EXPECT_TRUE(mentions(lender.preemption, "reclaimWithinCohort is Never"));
}

// BA-211: one of several equal ones is tried, and stands for all
TEST(Why, AnEqualOneIsNamedInPlaceOfATrial) {
  Played run(basics + queue_text({.name = "cq"}) + job_text({.name = "holder", .cpu = "4"}) +
             job_text({.name = "one", .cpu = "2", .arrives = 5}) + job_text({.name = "two", .cpu = "2", .arrives = 6}));
  const Why two = run.why("job/two", run.at(20));
  EXPECT_EQ(two.phase, Phase::pending);
  EXPECT_TRUE(mentions(two.facts, "it was not tried itself: default/job-one-")) << ::testing::PrintToString(two.facts);
  ASSERT_TRUE(two.place);
  EXPECT_EQ(two.place->position, 1U);
  ASSERT_EQ(two.place->ahead.size(), 1U);
}

// ---- never fits ---------------------------------------------------------------------------------------------------------------------

// BA-84
TEST(Why, WhatNeverFitsSaysHowMuchQuotaItWouldTake) {
  const auto world = [](const std::string& quota) {
    return basics + queue_text({.name = "cq", .cpu = quota}) + job_text({.name = "huge", .cpu = "40"});
  };
  Played run(world("4"));
  const Why w = run.why("job/huge", run.end());
  EXPECT_EQ(w.phase, Phase::pending);
  EXPECT_EQ(w.reason, "ExceedsMaxQuota");
  ASSERT_EQ(w.trials.size(), 1U);
  EXPECT_EQ(w.trials[0].verdict, Verdict::exceeds_maximum);
  EXPECT_EQ(w.trials[0].quota.figures.potential, 4000);
  EXPECT_EQ(w.trials[0].blocked_by, "nominalQuota of ClusterQueue cq");
  EXPECT_EQ(remedy(w, Remedy::Kind::free), nullptr);  // nothing that anybody gives back helps
  const auto* raise = remedy(w, Remedy::Kind::raise_nominal);
  ASSERT_NE(raise, nullptr);
  EXPECT_EQ(raise->steps[0].to, 40'000);
  Played raised(world("40"));
  EXPECT_EQ(raised.why("job/huge", raised.end()).phase, Phase::finished);
}

TEST(Why, AResourceThatTheQueueDoesNotCoverIsNamed) {
  Played run(basics + queue_text({.name = "cq"}) +
             "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: big\n  namespace: default\n  labels: {kueue.x-k8s.io/queue-name: "
             "lq-cq}\nspec:\n  suspend: true\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [{name: c, image: i, "
             "resources: {requests: {cpu: 1, memory: 1Gi}}}]\n");
  const Why w = run.why("job/big", run.end());
  EXPECT_EQ(w.phase, Phase::pending);
  EXPECT_TRUE(mentions(w.facts, "it asks for memory, which no resource group of ClusterQueue cq covers"))
      << ::testing::PrintToString(w.facts);
  EXPECT_TRUE(w.remedies.empty());
}

// ---- admitted, preempted, evicted -----------------------------------------------------------------------------------------------------

TEST(Why, AdmittedTellsWhichQuotaAndWhetherItIsBorrowed) {
  Played run(basics + queue_text({.name = "a", .cohort = "all"}) + queue_text({.name = "b", .cohort = "all"}) +
             job_text({.name = "own", .queue = "a", .cpu = "4"}) + job_text({.name = "borrows", .queue = "a", .cpu = "2", .arrives = 1}));
  const Why own = run.why("job/own", run.at(0));
  EXPECT_EQ(own.phase, Phase::admitted);
  EXPECT_EQ(own.headline, "It is admitted in ClusterQueue a");
  EXPECT_EQ(texts(own.events),
            (std::vector<std::string>{"quota reserved in ClusterQueue a: main x1 default/cpu 4, within nominal quota", "admitted"}));
  EXPECT_TRUE(own.remedies.empty());
  const Why borrows = run.why("job/borrows", run.at(10));
  EXPECT_EQ(texts(borrows.events),
            (std::vector<std::string>{"quota reserved in ClusterQueue a: main x1 default/cpu 2, borrowing from the cohort (level 1)",
                                      "admitted"}));
  EXPECT_TRUE(mentions(borrows.facts, "ClusterQueue a now borrows 2 of cpu in flavor default"));
  // the event's record is where the decision stands in the log
  bool found = false;
  run.each([&](events::Position p, const RecordView& r) {
    const auto* d = std::get_if<Decisions>(&r.body);
    if (p == borrows.events[0].offset && d != nullptr) found = std::holds_alternative<QuotaReserved>(d->events[0]);
  });
  EXPECT_TRUE(found);
}

std::string low_and_urgent() {
  return basics + queue_text({.name = "cq", .more = "  preemption: {withinClusterQueue: LowerPriority}\n"}) +
         job_text({.name = "low", .cpu = "4"}) +
         job_text({.name = "urgent", .cpu = "4", .arrives = 10, .runs = 30, .priority_class = "high"});
}

// BA-101
TEST(Why, PreemptedNamesThePreemptorAtEveryMomentAfterwards) {
  Played run(low_and_urgent());
  const auto moment = run.first<WorkloadPreempted>();
  const Why before = run.why("job/low", moment - 1);
  EXPECT_EQ(before.phase, Phase::admitted);

  const Why just = run.why("job/low", moment);
  EXPECT_EQ(just.phase, Phase::evicted);
  EXPECT_TRUE(just.headline.starts_with("It was preempted by default/job-urgent-")) << just.headline;
  EXPECT_TRUE(just.headline.ends_with("of ClusterQueue cq: InClusterQueue")) << just.headline;
  EXPECT_TRUE(mentions(just.facts, "it holds its quota until")) << ::testing::PrintToString(just.facts);
  const Why preemptor = run.why("job/urgent", moment);
  EXPECT_EQ(preemptor.reason, "WaitingForPreemptedWorkloads");
  EXPECT_TRUE(mentions(preemptor.facts, "still holds its quota")) << ::testing::PrintToString(preemptor.facts);

  const Why later = run.why("job/low", run.at(20));
  EXPECT_EQ(later.phase, Phase::pending);
  const auto events = texts(later.events);
  EXPECT_TRUE(mentions(events, "preempted by default/job-urgent-")) << ::testing::PrintToString(events);
  EXPECT_TRUE(mentions(events, "its quota was given back"));
  EXPECT_TRUE(mentions(later.preemption, "has priority 100, and its own is 0")) << ::testing::PrintToString(later.preemption);
  const Why winner = run.why("job/urgent", run.at(20));
  EXPECT_EQ(winner.phase, Phase::admitted);
  EXPECT_TRUE(mentions(texts(winner.events), "preempted default/job-low-"));
}

/// A Scenario of these steps: second and what is applied then.
std::string scenario(const std::vector<std::pair<int, std::string>>& steps) {
  std::string out = "apiVersion: hindsight.dev/v1alpha1\nkind: Scenario\nmetadata: {name: test}\nspec:\n  steps:\n";
  for (const auto& [second, step] : steps) out += "  - at: " + std::to_string(second) + "s\n" + step;
  return out;
}

/// Manifests that `---` parts, as the list of an `apply`.
std::string apply(const std::string& manifests) {
  std::string out = "    apply:\n", line;
  bool first = true;
  for (const char c : "---\n" + manifests) {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (line == "---") {
      first = true;
    } else if (!line.empty()) {
      out += (first ? "    - " : "      ") + line + "\n";
      first = false;
    }
    line.clear();
  }
  return out;
}

const std::string stop_queue = "    patch: [{kind: ClusterQueue, name: cq, merge: {spec: {stopPolicy: ";

// BA-143: a queue that drains evicts
TEST(Why, EvictedNamesTheCauseAndWhatKeepsItOut) {
  Played run(scenario({{0, apply(basics + queue_text({.name = "cq"}) + job_text({.name = "runs", .cpu = "2", .runs = 1000}))},
                       {10, stop_queue + "HoldAndDrain}}}]\n"}}));
  const auto moment = run.first<WorkloadEvicted>();
  const Why just = run.why("job/runs", moment);
  EXPECT_EQ(just.phase, Phase::evicted);
  EXPECT_EQ(just.headline, "It was evicted: ClusterQueueStopped");
  EXPECT_EQ(just.message, "The ClusterQueue is stopped");
  EXPECT_TRUE(mentions(texts(just.events), "evicted: ClusterQueueStopped"));
  EXPECT_TRUE(mentions(just.facts, "it holds its quota until")) << ::testing::PrintToString(just.facts);

  const Why later = run.why("job/runs", run.at(60));
  EXPECT_EQ(later.phase, Phase::pending);
  EXPECT_TRUE(mentions(later.facts, "ClusterQueue cq is not active, Stopped")) << ::testing::PrintToString(later.facts);
  EXPECT_TRUE(mentions(texts(later.events), "evicted: ClusterQueueStopped")) << ::testing::PrintToString(texts(later.events));
}

TEST(Why, InactiveSaysWhoSetItAndWhatHelps) {
  Played run(scenario({{0, apply(basics + queue_text({.name = "cq"}) + job_text({.name = "runs", .cpu = "2", .runs = 1000}))},
                       {10, "    patch: [{kind: Workload, owner: {kind: Job, name: runs}, merge: {spec: {active: false}}}]\n"}}));
  const Why w = run.why("job/runs", run.at(60));
  EXPECT_EQ(w.phase, Phase::inactive);
  EXPECT_EQ(w.headline, "It is not active: spec.active is false");
  EXPECT_EQ(w.reason, "Deactivated");
  EXPECT_TRUE(mentions(w.facts, "somebody else set it inactive"));
}

// ---- inactive queues ------------------------------------------------------------------------------------------------------------------

// base-api §6.4
TEST(Why, AQueueThatIsNotActiveIsTheReason) {
  Played missing(basics + queue_text({.name = "cq", .flavor = "absent"}) + job_text({.name = "one"}));
  const Why w = missing.why("job/one", missing.end());
  EXPECT_EQ(w.phase, Phase::pending);
  EXPECT_TRUE(mentions(
      w.facts, "ClusterQueue cq is not active, FlavorNotFound: Can't admit new workloads: references missing ResourceFlavor(s): absent"))
      << ::testing::PrintToString(w.facts);

  Played nowhere(basics + queue_text({.name = "cq"}) + job_text({.name = "one", .queue = "other"}));
  EXPECT_TRUE(mentions(nowhere.why("job/one", nowhere.end()).facts, "there is no LocalQueue default/lq-other; this namespace has lq-cq"));

  Played stopped(basics + queue_text({.name = "cq", .more = "  stopPolicy: Hold\n"}) + job_text({.name = "one"}));
  EXPECT_TRUE(mentions(stopped.why("job/one", stopped.end()).facts, "ClusterQueue cq is not active, Stopped"));

  Played selective(basics + queue_text({.name = "cq", .namespaces = "{matchLabels: {team: blue}}"}) + job_text({.name = "one"}));
  EXPECT_TRUE(mentions(selective.why("job/one", selective.end()).facts,
                       "the namespaceSelector of ClusterQueue cq does not match namespace default: it asks for team In blue"));
}

// ---- at a past moment -------------------------------------------------------------------------------------------------------------------

TEST(Why, CohortsInACycleAreNamed) {
  const auto cohort = [](const std::string& name, const std::string& parent) {
    return "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: " + name + "}\nspec: {parentName: " + parent + "}\n";
  };
  Played run(basics + cohort("a", "b") + cohort("b", "a") + queue_text({.name = "cq", .cohort = "a"}) + job_text({.name = "one"}));
  const Why w = run.why("job/one", run.end());
  EXPECT_EQ(w.phase, Phase::pending);
  EXPECT_TRUE(mentions(w.facts, "its cohorts form a cycle: a -> b -> a")) << ::testing::PrintToString(w.facts);
}

TEST(Why, EveryMomentOfOneLogHasItsOwnAnswer) {
  Played run(holder_and_waiter("4"));
  std::vector<Phase> phases;
  std::uint64_t last_event = 0;
  for (events::Position p = 1; p <= run.end(); ++p) {
    const auto& then = run.state(p);
    if (!find_workload(then, parse_target("job/waiter", "default").value())) continue;
    const Why w = run.why("job/waiter", p);
    if (phases.empty() || phases.back() != w.phase) phases.push_back(w.phase);
    for (const auto& e : w.events) {
      EXPECT_LE(e.offset, p);  // nothing of what came later
      last_event = std::max(last_event, e.offset);
    }
  }
  EXPECT_EQ(phases, (std::vector<Phase>{Phase::pending, Phase::admitted, Phase::finished}));
  EXPECT_GT(last_event, 0U);
  EXPECT_EQ(run.why("job/holder", run.at(20)).phase, Phase::admitted);
  EXPECT_EQ(run.why("job/holder", run.end()).phase, Phase::finished);
}

TEST(Why, TextAndJsonSayTheSame) {
  Played run(holder_and_waiter("4"));
  const Why w = run.why("job/waiter", run.at(20));
  const std::string text = to_text(w);
  EXPECT_NE(text.find("It waits: WaitingForQuota\n"), std::string::npos);
  EXPECT_NE(text.find("1 short: nominalQuota of ClusterQueue cq"), std::string::npos);
  EXPECT_NE(text.find("if in ClusterQueue cq the nominalQuota of cpu in flavor default were 5 instead of 4\n"), std::string::npos);
  const Json json = to_json(w);
  EXPECT_EQ(json["phase"], "Pending");
  EXPECT_EQ(json["quota"][0]["missing"], "1");
  EXPECT_EQ(json["users"][0]["own"][0]["amount"], "3");
  EXPECT_EQ(json["remedies"][1]["steps"][0].dump(), R"({"flavor":"default","resource":"cpu","amount":"1","from":"4","to":"5"})");
  for (const auto& r : json["remedies"]) EXPECT_NE(text.find(r["text"].get<std::string>()), std::string::npos);
}

}  // namespace
}  // namespace hindsight::projections
