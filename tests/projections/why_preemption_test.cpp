// Whom a waiting Workload may preempt, how much that frees, why others are spared, and what a change of policy would do: in exact words.
// Each such change is made in the manifests, and the run repeated.

#include "projections/why_preemption.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "projections/format.hpp"
#include "tests/projections/simulated.hpp"

namespace hindsight::projections {
namespace {

using Lines = std::vector<std::string>;

const std::string more_classes =
    "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: mid}\nvalue: 50\n"
    "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: top}\nvalue: 1000\n";
const std::string both_strategies = R"({"fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}})";

std::string policy(const std::string& fields) { return "  preemption: {" + fields + "}\n"; }

/// "default/job-NAME-1a2b3" of a job.
std::string workload_of(Played& run, const std::string& job, events::Position at) {
  const std::string object = run.why("job/" + job, at).object, before = "Workload ";
  EXPECT_TRUE(object.starts_with(before)) << object;
  return object.substr(before.size());
}

std::vector<const Remedy*> policy_remedies(const Why& why) {
  std::vector<const Remedy*> out;
  for (const auto& r : why.remedies)
    if (r.kind == Remedy::Kind::change_policy) out.push_back(&r);
  return out;
}

/// Those of the events of the decision that preempts, in their order.
std::vector<std::string> preempted_in(const Played& run) {
  std::vector<std::string> out;
  run.each([&](events::Position, const RecordView& r) {
    const auto* d = std::get_if<Decisions>(&r.body);
    if (d == nullptr) return;
    for (const Event& e : d->events)
      if (const auto* p = std::get_if<WorkloadPreempted>(&e)) out.push_back(full_name(p->workload));
  });
  return out;
}

// ---- classical ----------------------------------------------------------------------------------------------------------------------

std::string one_holds_all(const std::string& within) {
  return basics + queue_text({.name = "cq", .more = policy("withinClusterQueue: " + within)}) +
         job_text({.name = "low", .cpu = "4", .runs = 100}) +
         job_text({.name = "urgent", .cpu = "2", .arrives = 10, .runs = 100, .priority_class = "high"});
}

TEST(WhyPreemption, APolicyThatForbidsItIsAmongTheRemedies) {
  Played run(one_holds_all("Never"));
  const auto then = run.at(20);
  const std::string low = workload_of(run, "low", then);
  const Why w = run.why("job/urgent", then);
  ASSERT_EQ(w.phase, Phase::pending);
  EXPECT_EQ(w.preemption, (Lines{"withinClusterQueue is Never: it preempts nobody in its own ClusterQueue",
                                 "flavor default: nobody may be preempted; 2 of cpu are needed",
                                 "  1 workload that holds 4 of cpu is spared: withinClusterQueue of ClusterQueue cq is Never"}));
  const auto told = policy_remedies(w);
  ASSERT_EQ(told.size(), 1U) << to_text(w);
  EXPECT_EQ(remedy_text(*told[0]), "if in ClusterQueue cq withinClusterQueue were LowerPriority instead of Never");
  ASSERT_TRUE(told[0]->played.has_value());
  EXPECT_EQ(told[0]->played->evicted, Lines{low});
  EXPECT_NE(to_text(w).find("withinClusterQueue were LowerPriority instead of Never; " + low + " would be evicted\n"), std::string::npos)
      << to_text(w);

  Played changed(one_holds_all("LowerPriority"));
  EXPECT_EQ(changed.why("job/urgent", changed.at(20)).phase, Phase::admitted);
  EXPECT_EQ(preempted_in(changed), Lines{low});
}

TEST(WhyPreemption, HowMuchAllWhoMayBePreemptedHoldIsSetAgainstWhatIsNeeded) {
  std::string world = basics + more_classes + queue_text({.name = "cq", .cpu = "8", .more = policy("withinClusterQueue: LowerPriority")});
  for (int i = 0; i < 3; ++i) world += job_text({.name = "low" + std::to_string(i), .cpu = "2", .arrives = i, .runs = 100});
  world += job_text({.name = "boss", .cpu = "2", .arrives = 3, .runs = 100, .priority_class = "top"}) +
           job_text({.name = "urgent", .cpu = "8", .arrives = 10, .runs = 100, .priority_class = "high"});
  Played run(world);
  const Why w = run.why("job/urgent", run.at(20));
  ASSERT_EQ(w.phase, Phase::pending);
  EXPECT_EQ(w.preemption, (Lines{"withinClusterQueue is LowerPriority: it allows 3 of 4 workloads in its own ClusterQueue",
                                 "flavor default: all 3 that may be preempted hold 6 of cpu; 8 of cpu are needed",
                                 "  1 workload that holds 2 of cpu is spared: withinClusterQueue is LowerPriority, and its priority is "
                                 "1000, that of the preemptor 100"}));
  EXPECT_TRUE(w.preempting.victims.empty());
  EXPECT_TRUE(policy_remedies(w).empty()) << to_text(w);
}

// base-admission §7.2: lower priority first, then later admission
TEST(WhyPreemption, VictimsStandInTheOrderInWhichTheyAreLookedAt) {
  Played run(basics + more_classes + queue_text({.name = "cq", .cpu = "6", .more = policy("withinClusterQueue: LowerPriority")}) +
             job_text({.name = "old", .cpu = "2", .runs = 100}) + job_text({.name = "new", .cpu = "2", .arrives = 1, .runs = 100}) +
             job_text({.name = "mid", .cpu = "2", .arrives = 2, .runs = 100, .priority_class = "mid"}) +
             job_text({.name = "urgent", .cpu = "4", .arrives = 10, .runs = 100, .priority_class = "high"}));
  const auto decided = run.first<WorkloadPreempted>();
  const auto before = decided - 1;
  const std::string older = workload_of(run, "old", before), newer = workload_of(run, "new", before), mid = workload_of(run, "mid", before);
  const Why w = run.why("job/urgent", before);
  EXPECT_EQ(w.preemption, (Lines{"it can preempt " + newer + ", " + older,
                                 "withinClusterQueue is LowerPriority: it allows 3 of 3 workloads in its own ClusterQueue",
                                 "flavor default: 3 that may be preempted hold 6 of cpu; 4 of cpu are needed",
                                 "  1 workload that holds 2 of cpu is spared: there is room without it",
                                 "victims, in the order in which they are looked at:",
                                 "  1. " + newer + " (ClusterQueue cq, priority 0, default/cpu 2): InClusterQueue; before " + older +
                                     ", because it got its quota later",
                                 "  2. " + older + " (ClusterQueue cq, priority 0, default/cpu 2): InClusterQueue; before " + mid +
                                     ", because its priority is lower"}));
  EXPECT_EQ(preempted_in(run), (Lines{newer, older}));
  // the victim says where that is to be seen
  const Why victim = run.why("job/old", decided);
  const std::string pointer = "why it and not another: ask why of workload/" + workload_of(run, "urgent", decided) + " at " +
                              std::to_string(before) + ", right before that decision";
  EXPECT_NE(std::find(victim.facts.begin(), victim.facts.end(), pointer), victim.facts.end()) << to_text(victim);
}

std::string borrowed_by_b(const std::string& reclaim) {
  return basics + queue_text({.name = "a", .cohort = "all", .more = policy("reclaimWithinCohort: " + reclaim)}) +
         queue_text({.name = "b", .cohort = "all"}) + job_text({.name = "b1", .queue = "b", .cpu = "4", .runs = 100}) +
         job_text({.name = "b2", .queue = "b", .cpu = "4", .arrives = 1, .runs = 100}) +
         job_text({.name = "mine", .queue = "a", .cpu = "4", .arrives = 10, .runs = 100});
}

TEST(WhyPreemption, ReclaimingTakesTheWeakestPolicyThatIsEnough) {
  Played run(borrowed_by_b("Never"));
  const auto then = run.at(20);
  const Why w = run.why("job/mine", then);
  EXPECT_EQ(w.preemption, (Lines{"withinClusterQueue is Never: it preempts nobody in its own ClusterQueue",
                                 "reclaimWithinCohort is Never: it preempts nobody among the queues of the cohort that borrow",
                                 "flavor default: nobody may be preempted; 4 of cpu are needed",
                                 "  2 workloads that hold 8 of cpu are spared: reclaimWithinCohort of ClusterQueue a is Never"}));
  const auto told = policy_remedies(w);
  ASSERT_EQ(told.size(), 1U) << to_text(w);
  EXPECT_EQ(remedy_text(*told[0]), "if in ClusterQueue a reclaimWithinCohort were Any instead of Never") << "both have priority 0";
  EXPECT_EQ(told[0]->played->evicted, Lines{workload_of(run, "b2", then)});

  Played lower(borrowed_by_b("LowerPriority"));
  const Why still = lower.why("job/mine", lower.at(20));
  EXPECT_EQ(still.phase, Phase::pending);
  EXPECT_EQ(still.preemption.back(),
            "  2 workloads that hold 8 of cpu are spared: reclaimWithinCohort is LowerPriority, and their priority is 0, that of the "
            "preemptor 0");
  Played any(borrowed_by_b("Any"));
  EXPECT_EQ(any.why("job/mine", any.at(20)).phase, Phase::admitted);
  EXPECT_EQ(preempted_in(any), told[0]->played->evicted);
}

TEST(WhyPreemption, AQueueWithinItsNominalQuotaGivesNothing) {
  Played run(basics + queue_text({.name = "a", .cohort = "all", .more = policy("reclaimWithinCohort: Any")}) +
             queue_text({.name = "b", .cohort = "all"}) + job_text({.name = "own", .queue = "a", .cpu = "4", .runs = 100}) +
             job_text({.name = "theirs", .queue = "b", .cpu = "4", .arrives = 1, .runs = 100}) +
             job_text({.name = "mine", .queue = "a", .cpu = "2", .arrives = 10, .runs = 100}));
  const Why w = run.why("job/mine", run.at(20));
  ASSERT_EQ(w.preempting.flavors.size(), 1U) << to_text(w);
  const auto& spared = w.preempting.flavors[0].spared;
  ASSERT_EQ(spared.size(), 2U) << to_text(w);
  EXPECT_EQ(spared[1].by, SparedBy::within_nominal);
  EXPECT_EQ(w.preemption.back(), "  1 workload that holds 4 of cpu is spared: ClusterQueue b holds no more than its nominal quota");
}

/// b borrows 6 of the 8 that a and c do not use; a asks for more than its own 4.
std::string has_to_borrow(const std::string& fields) {
  std::string out = basics + queue_text({.name = "a", .cohort = "all", .more = policy(fields)}) +
                    queue_text({.name = "b", .cohort = "all"}) + queue_text({.name = "c", .cohort = "all"});
  for (int i = 0; i < 5; ++i) out += job_text({.name = "b" + std::to_string(i), .queue = "b", .cpu = "2", .arrives = i, .runs = 100});
  return out + job_text({.name = "mine", .queue = "a", .cpu = "6", .arrives = 10, .runs = 100, .priority_class = "high"});
}

void expect_let_in_by(const std::string& fields, const std::string& reason, const std::string& changed, const std::string& remedy) {
  Played run(has_to_borrow(fields));
  const auto then = run.at(20);
  const Why w = run.why("job/mine", then);
  ASSERT_EQ(w.phase, Phase::pending) << fields;
  EXPECT_EQ(w.preemption.back(), "  5 workloads that hold 10 of cpu are spared: " + reason);
  const std::string needed = "flavor default: nobody may be preempted; 4 of cpu are needed";
  EXPECT_NE(std::find(w.preemption.begin(), w.preemption.end(), needed), w.preemption.end()) << to_text(w);
  const auto told = policy_remedies(w);
  ASSERT_EQ(told.size(), 1U) << to_text(w);
  EXPECT_EQ(remedy_text(*told[0]), remedy);
  auto evicted = told[0]->played->evicted;
  std::sort(evicted.begin(), evicted.end());
  EXPECT_EQ(evicted, (Lines{workload_of(run, "b3", then), workload_of(run, "b4", then)}));

  Played again(has_to_borrow(changed));
  EXPECT_EQ(again.why("job/mine", again.at(20)).phase, Phase::admitted) << changed;
  auto preempted = preempted_in(again);
  std::sort(preempted.begin(), preempted.end());
  EXPECT_EQ(preempted, evicted);
}

// BA-109
TEST(WhyPreemption, WhoWouldHaveToBorrowNeedsBorrowWithinCohort) {
  expect_let_in_by("reclaimWithinCohort: LowerPriority", "it would have to borrow, and borrowWithinCohort of ClusterQueue a is Never",
                   "reclaimWithinCohort: LowerPriority, borrowWithinCohort: {policy: LowerPriority}",
                   "if in ClusterQueue a borrowWithinCohort.policy were LowerPriority instead of Never");
}

TEST(WhyPreemption, AThresholdIsRaised) {
  expect_let_in_by("reclaimWithinCohort: LowerPriority, borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: -1}",
                   "it would have to borrow, and maxPriorityThreshold of ClusterQueue a is -1, and their priority is 0, that of the "
                   "preemptor 100",
                   "reclaimWithinCohort: LowerPriority, borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 99}",
                   "if in ClusterQueue a borrowWithinCohort.maxPriorityThreshold were 99 instead of -1");
}

TEST(WhyPreemption, TwoPoliciesTogether) {
  expect_let_in_by("reclaimWithinCohort: Never", "reclaimWithinCohort of ClusterQueue a is Never",
                   "reclaimWithinCohort: LowerPriority, borrowWithinCohort: {policy: LowerPriority}",
                   "if in ClusterQueue a reclaimWithinCohort were LowerPriority instead of Never and borrowWithinCohort.policy were "
                   "LowerPriority instead of Never");
}

// ---- fair sharing -------------------------------------------------------------------------------------------------------------------

/// Three queues of 2; b has so many jobs of 2.
std::string shared_by_three(int of_b) {
  std::string out = basics + queue_text({.name = "a", .cohort = "all", .cpu = "2", .more = policy("reclaimWithinCohort: Any")}) +
                    queue_text({.name = "b", .cohort = "all", .cpu = "2"}) + queue_text({.name = "c", .cohort = "all", .cpu = "2"});
  for (int i = 0; i < of_b; ++i) out += job_text({.name = "b" + std::to_string(i), .queue = "b", .cpu = "2", .arrives = i, .runs = 100});
  return out;
}

// BA-120, BA-121: a would borrow as much as b does
TEST(WhyPreemption, SharesSayWhySomebodyIsSpared) {
  Played run(shared_by_three(2) + job_text({.name = "own", .queue = "a", .cpu = "2", .arrives = 5, .runs = 100}) +
                 job_text({.name = "mine", .queue = "a", .cpu = "2", .arrives = 10, .runs = 100}),
             both_strategies);
  const auto then = run.at(20);
  const std::string b1 = workload_of(run, "b1", then);
  const Why w = run.why("job/mine", then);
  ASSERT_EQ(w.phase, Phase::pending);
  EXPECT_EQ(
      w.preemption,
      (Lines{"withinClusterQueue is Never: it preempts nobody in its own ClusterQueue",
             "reclaimWithinCohort is Any: it allows 2 of 2 workloads among the queues of the cohort that borrow",
             "flavor default: nobody may be preempted; 2 of cpu are needed",
             "  1 workload that holds 2 of cpu is spared: withinClusterQueue of ClusterQueue a is Never",
             "  2 workloads that hold 4 of cpu are spared: the shares speak against it", "  shares that were compared, before -> after:",
             "    LessThanOrEqualToFinalShare, " + b1 +
                 " and 1 more of ClusterQueue b: ClusterQueue a 0 -> 334, ClusterQueue b 334 -> 0: spared, 334 is more than 0",
             "    LessThanInitialShare, " + b1 + ": ClusterQueue a 0 -> 334, ClusterQueue b 334 -> 0: spared, 334 is not less than 334"}));
  EXPECT_TRUE(policy_remedies(w).empty()) << to_text(w);

  const Json json = to_json(w)["preemption"];
  ASSERT_EQ(json["flavors"].size(), 1U) << json.dump();
  const Json& flavor = json["flavors"][0];
  EXPECT_EQ(flavor["candidates"], 0);
  EXPECT_EQ(flavor["needs"][0].dump(), R"({"resource":"cpu","needed":"2","held":"0","freed":"0"})");
  EXPECT_EQ(flavor["spared"][1]["by"], "fairSharing");
  EXPECT_EQ(flavor["spared"][1]["held"].dump(), R"({"cpu":"4"})");
  ASSERT_EQ(flavor["shares"].size(), 2U);
  EXPECT_EQ(flavor["shares"][0]["strategy"], "LessThanOrEqualToFinalShare");
  EXPECT_EQ(flavor["shares"][0]["workloads"], 2);
  EXPECT_EQ(flavor["shares"][0]["preemptorShare"].dump(), R"({"before":0,"after":334})");
  EXPECT_EQ(flavor["shares"][0]["otherShare"].dump(), R"({"before":334,"after":0})");
  EXPECT_EQ(flavor["shares"][1]["allowed"], false);
  EXPECT_TRUE(json["victims"].empty());
  EXPECT_EQ(json["text"].size(), w.preemption.size());
}

// The first victim is allowed by the first strategy, the second one by the other
TEST(WhyPreemption, SharesSayByWhichStrategySomebodyGoes) {
  Played run(shared_by_three(3) + job_text({.name = "mine", .queue = "a", .cpu = "3", .arrives = 10, .runs = 100}), both_strategies);
  const auto before = run.first<WorkloadPreempted>() - 1;
  const std::string b1 = workload_of(run, "b1", before), b2 = workload_of(run, "b2", before);
  const Why w = run.why("job/mine", before);
  EXPECT_EQ(
      w.preemption,
      (Lines{
          "it can preempt " + b2 + ", " + b1, "withinClusterQueue is Never: it preempts nobody in its own ClusterQueue",
          "reclaimWithinCohort is Any: it allows 3 of 3 workloads among the queues of the cohort that borrow",
          "flavor default: 2 that may be preempted hold 4 of cpu; 3 of cpu are needed",
          "  1 workload that holds 2 of cpu is spared: the shares speak against it", "  shares that were compared, before -> after:",
          "    LessThanOrEqualToFinalShare, " + b2 +
              ": ClusterQueue a 0 -> 167, ClusterQueue b 667 -> 334: may be preempted, 167 is at most 334",
          "    LessThanOrEqualToFinalShare, " + b1 +
              " and 1 more of ClusterQueue b: ClusterQueue a 0 -> 167, ClusterQueue b 334 -> 0: spared, 167 is more than 0",
          "    LessThanInitialShare, " + b1 + ": ClusterQueue a 0 -> 167, ClusterQueue b 334 -> 0: may be preempted, 167 is less than 334",
          "victims, in the order in which they are looked at:",
          "  1. " + b2 + " (ClusterQueue b, priority 0, default/cpu 2): InCohortFairSharing; before " + b1 +
              ", because it got its quota later",
          "  2. " + b1 + " (ClusterQueue b, priority 0, default/cpu 2): InCohortFairSharing"}));
  EXPECT_EQ(preempted_in(run), (Lines{b2, b1}));
}

// BA-117: within its nominal quota it takes back what others borrow, whatever the shares
TEST(WhyPreemption, WithinNominalQuotaNoSharesAreCompared) {
  Played run(shared_by_three(3) + job_text({.name = "mine", .queue = "a", .cpu = "2", .arrives = 10, .runs = 100}), both_strategies);
  const auto before = run.first<WorkloadPreempted>() - 1;
  const std::string b2 = workload_of(run, "b2", before);
  const Why w = run.why("job/mine", before);
  ASSERT_EQ(w.preempting.flavors.size(), 1U) << to_text(w);
  EXPECT_TRUE(w.preempting.flavors[0].shares.empty());
  const std::string entitled = "  shares need not be compared: with what it asks for ClusterQueue a stays within its nominal quota";
  EXPECT_NE(std::find(w.preemption.begin(), w.preemption.end(), entitled), w.preemption.end()) << to_text(w);
  ASSERT_EQ(w.preempting.victims.size(), 1U);
  EXPECT_EQ(w.preempting.victims[0].name, b2);
  EXPECT_EQ(w.preempting.victims[0].reason, "InCohortReclamation");
  EXPECT_EQ(preempted_in(run), Lines{b2});
}

}  // namespace
}  // namespace hindsight::projections
