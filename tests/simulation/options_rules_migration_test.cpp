// Reservations, admissions and migrations of families (8691 §3.4).

#include <set>

#include <gtest/gtest.h>

#include "tests/simulation/options_story.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* high = "kueue.x-k8s.io/priority-class: high";

std::string check_on(const std::string& check, const std::string& flavors) {
  return "admissionChecksStrategy: {admissionChecks: [{name: " + check + ", onFlavors: [" + flavors + "]}]}";
}

/// Runs on spot from 1; od has room at 100, when the job is told to stop.
Story moving(const std::string& policy = remove_lower, const std::string& more = "") {
  Story s(policy, {{"res", 0}, {"od", 0}, {"spot", 4}}, more);
  s.job("j").at(1).runs("j").at(100).quota({{"res", 0}, {"od", 4}, {"spot", 4}});
  return s;
}

/// What was decided about a family from a second on, in order.
Lines steps_of(const Played& p, double from) {
  Lines out;
  const auto name = [&](const WorkloadRef& w) { return p.end().plain(std::string(w.name)); };
  each_decided(
      p,
      [&](const Event& e, double) {
        if (const auto* x = std::get_if<WorkloadEvicted>(&e)) out.push_back(name(x->workload) + " evicted " + std::string(x->reason));
        if (const auto* x = std::get_if<ReservationCleared>(&e)) out.push_back(name(x->workload) + " released");
        if (const auto* x = std::get_if<QuotaReserved>(&e)) out.push_back(name(x->workload) + " reserved");
        if (const auto* x = std::get_if<WorkloadAdmitted>(&e)) out.push_back(name(x->workload) + " admitted");
        if (const auto* x = std::get_if<OptionAdmitted>(&e)) out.push_back(name(x->workload) + " shows " + name(x->option));
        if (const auto* x = std::get_if<OptionSwitched>(&e)) out.push_back(name(x->workload) + (x->active ? " on" : " off"));
        if (std::holds_alternative<FamilyReset>(e)) out.push_back("reset");
      },
      from);
  return out;
}

// CA-40, CA-41: both hold quota, which counts of both flavors, and the job does not start
TEST(MigrationRules, ReservationsOfSiblingsStandBesideEachOther) {
  Story s(remove_lower, {{"a", 4}, {"b", 4}}, check_on("cap", "a, b"));
  s.check("cap").job("j").at(10).job("k").at(20);
  const auto p = s.play();
  for (const int at : {10, 20}) {
    EXPECT_EQ(p.at(at).row("j"), "R/R");
    EXPECT_EQ(p.at(at).usage(), "a 4, b 4");
    EXPECT_EQ(p.at(at).verdict(p.at(at).parent("j"), "QuotaReserved").substr(0, 5), "False");
    EXPECT_FALSE(p.at(at).parent("j")["status"].contains("admission"));
    EXPECT_TRUE(p.at(at).suspended("j"));
    EXPECT_EQ(p.at(at).row("k"), "P/P") << "both flavors are full";
  }
  expect_sound(p);
}

// CA-42: all that the Option was given reaches the job through its Parent: assignments, labels and tolerations of the flavor, and what the
// check adds
TEST(MigrationRules, TheJobStartsWithWhatItsOptionWasGiven) {
  Story s("", {});
  s.flavor("res").apply(
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: spot}, spec: {nodeLabels: {flavor: spot}, tolerations: "
      "[{key: spot, operator: Exists, effect: NoSchedule}]}}");
  s.queue("cq", remove_lower, {group({{"res", 0}, {"spot", 4}})}, check_on("cap", "spot"));
  s.check("cap").job("j").at(10).checked(
      "j", "spot", "cap", "Ready",
      "podSetUpdates: [{name: main, labels: {made: here}, annotations: {by: cap}, nodeSelector: {zone: z}, tolerations: [{key: extra, "
      "operator: Exists}]}]");
  const auto p = s.play();
  const Moment& m = p.at(10);
  EXPECT_EQ(m.row("j"), "P/A");
  EXPECT_EQ(m.parent("j")["status"]["admission"], m.option("j", "spot")["status"]["admission"]);
  EXPECT_FALSE(m.parent("j")["status"].contains("admissionChecks"));
  const Json& pod = m.object("Job", "j")["spec"]["template"];
  EXPECT_EQ(pod["spec"]["nodeSelector"], Json::parse(R"({"flavor": "spot", "zone": "z"})"));
  EXPECT_EQ(pod["metadata"]["labels"].value("made", ""), "here");
  EXPECT_EQ(pod["metadata"]["annotations"].value("by", ""), "cap");
  std::set<std::string> tolerations;
  for (const auto& t : pod["spec"].value("tolerations", Json::array())) tolerations.insert(t["key"]);
  EXPECT_EQ(tolerations, (std::set<std::string>{"spot", "extra"}));
  EXPECT_FALSE(m.suspended("j"));
  expect_sound(p);
}

// CA-43: the checks of both are given up in one moment, so that both are ready in it: the better one is admitted, and the other one never
TEST(MigrationRules, OfTwoThatAreReadyAtOnceTheBetterOneIsAdmitted) {
  for (const char* policy : {remove_lower, remove_other}) {
    Story s(policy, {{"zz", 4}, {"aa", 4}}, "admissionChecksStrategy: {admissionChecks: [{name: cap}]}");
    s.check("cap").job("j").at(10).patch("ClusterQueue", "cq", "{spec: {admissionChecksStrategy: null}}").at(11);
    const auto p = s.play();
    EXPECT_EQ(p.at(0).row("j"), "R/R");
    EXPECT_EQ(p.at(11).row("j"), "A/D");
    EXPECT_EQ(p.at(11).usage(), "zz 4");
    EXPECT_EQ(p.count("j-option-aa Admitted"), 0U);
    EXPECT_EQ(p.count("Job j Started"), 1U);
    expect_sound(p);
  }
}

// CA-44, CA-144: the steps of a migration in their order; the better Option holds nothing as long as the other one does
TEST(MigrationRules, TheStepsOfAMigration) {
  Story s = moving();
  s.at(104).at(105).stops("j").at(106);
  const auto p = s.play();
  EXPECT_EQ(steps_of(p, 100), (Lines{"j-option-spot evicted FlavorMigration", "j evicted VariantEvicted", "j released",
                                     "j-option-spot released", "j-option-od reserved", "j shows j-option-od", "j-option-spot off"}));
  const Moment& stopping = p.at(104);
  EXPECT_EQ(stopping.verdict(stopping.option("j", "od"), "QuotaReserved").substr(0, 5), "False");
  EXPECT_FALSE(stopping.option("j", "od")["status"].contains("admission"));
  EXPECT_EQ(stopping.verdict(stopping.option("j", "spot"), "QuotaReserved"), "True/QuotaReserved");
  EXPECT_EQ(stopping.verdict(stopping.parent("j"), "Admitted"), "True/Admitted");
  EXPECT_EQ(p.told("Job j", 100, 106).size(), 2U) << "stopped, and started";
  EXPECT_EQ(p.at(106).object("Job", "j")["spec"]["template"]["spec"]["nodeSelector"], Json::parse(R"({"flavor": "od"})"));
  expect_sound(p);
}

// CA-45, CA-46: a better Option with checks holds its own quota while the job runs on; only when all of them are ready does the job stop
TEST(MigrationRules, ABetterOptionRunsAllItsChecksFirst) {
  Story s(remove_lower, {{"res", 4}, {"od", 4}},
          "admissionChecksStrategy: {admissionChecks: [{name: one, onFlavors: [res]}, {name: two, onFlavors: [res]}]}");
  s.check("one").check("two").job("j").at(1).runs("j");
  const auto state = [&](const char* one, const char* two) {
    const std::string at = ", message: m, lastTransitionTime: '2026-01-01T00:01:00Z'}";
    return std::string("{status: {admissionChecks: [{name: one, state: ") + one + at + ", {name: two, state: " + two + at + "]}}";
  };
  s.at(60).patch_option("j", "res", state("Ready", "Pending"), true).at(600).patch_option("j", "res", state("Ready", "Ready"), true);
  s.at(604).at(605).stops("j").at(606);
  const auto p = s.play();
  for (const int at : {1, 60}) {
    EXPECT_EQ(p.at(at).row("j"), "R/A") << at;
    EXPECT_EQ(p.at(at).usage(), "res 4, od 4") << at;
    EXPECT_FALSE(p.at(at).suspended("j")) << at;
  }
  for (const int at : {600, 604}) {
    EXPECT_TRUE(p.at(at).suspended("j"));
    EXPECT_EQ(p.at(at).verdict(p.at(at).option("j", "res"), "Admitted").substr(0, 4) == "True", false) << "not before the job has stopped";
  }
  EXPECT_EQ(p.at(606).row("j"), "A/D");
  EXPECT_EQ(p.at(606).usage(), "res 4");
  EXPECT_EQ(p.charged_between(1, 700), (Lines{"res 4"})) << "nothing else is charged for the move, and od is given back once";
  expect_sound(p);
}

// CA-47: nobody takes what is kept: neither a member of the cohort that could borrow it, nor a Workload of the same queue with a higher
// priority, nor a smaller one
TEST(MigrationRules, WhatIsKeptForAMigrationIsKeptFromAll) {
  Story s("", {{"res", 0}, {"od", 0}, {"spot", 4}});
  s.queue("cq", remove_lower, {group({{"res", 0}, {"od", 0}, {"spot", 4}})}, "cohortName: all");
  s.queue("other", "", {group({{"od", 0}})}, "cohortName: all").local_queue("lq-other", "other");
  s.job("j").at(1).runs("j").at(100).quota({{"res", 0}, {"od", 4}, {"spot", 4}}).at(101).in("lq-other").job("borrower", "4", high);
  s.job("small", "1", high).at(102).in("lq").pinned("rival", "od", "4", high).at(110).stops("j").at(111);
  s.at(200).finish("j").at(201);
  const auto p = s.play();
  for (const int at : {101, 102, 110, 111}) {
    EXPECT_EQ(p.at(at).usage("other"), "") << at;
    EXPECT_EQ(p.at(at).row("rival"), at == 101 ? "no such Parent" : "P/P/P") << at;
  }
  EXPECT_EQ(p.at(111).row("j"), "P/A/D");
  EXPECT_EQ(p.at(111).usage(), "od 4");
  EXPECT_NE(p.at(201).usage() + p.at(201).usage("other"), "") << "afterwards it is for others";
  expect_sound(p);
}

// CA-48: the quota of the target is lowered before the job has stopped: the family begins anew and runs again on what it had
TEST(MigrationRules, AMigrationWhoseTargetIsLostLeadsBack) {
  Story s = moving();
  s.at(102).quota({{"res", 0}, {"od", 0}, {"spot", 4}}).at(105).stops("j").at(106);
  const auto p = s.play();
  EXPECT_TRUE(p.at(100).suspended("j"));
  EXPECT_EQ(p.at(102).verdict(p.at(102).option("j", "spot"), "Evicted"), "True/FlavorMigration") << "it is on its way out all the same";
  EXPECT_EQ(p.at(106).row("j"), "P/P/A");
  EXPECT_EQ(p.at(106).usage(), "spot 4");
  EXPECT_FALSE(p.at(106).suspended("j"));
  EXPECT_EQ(decided<FamilyReset>(p, 100), 1U);
  EXPECT_EQ(p.charged_between(106, 1000), Lines{}) << "nothing changes later";
  expect_sound(p);
}

// CA-48: the old Option is switched off by the migration and on again by the preemption of the new one; it can be tried at once
TEST(MigrationRules, TheVictimOfAMigrationCanBeTriedAgainAtOnce) {
  Story s = moving(remove_lower, "preemption: {withinClusterQueue: LowerPriority}");
  s.at(105).stops("j").at(106).runs("j").at(200).pinned("h", "od", "4", high).at(205).stops("j").at(206);
  const auto p = s.play();
  EXPECT_EQ(p.at(106).row("j"), "P/A/D");
  const Json& victim = p.at(206).option("j", "spot");
  EXPECT_EQ(p.at(206).verdict(victim, "Requeued"), "True/Reactivated");
  EXPECT_EQ(p.at(206).row("j"), "P/P/A");
  EXPECT_EQ(p.at(206).usage(), "od 4, spot 4");
  expect_sound(p);
}

// CA-49: a migration begins nothing anew: delays run on, nobody waits for a while, and the family is not counted as put back
TEST(MigrationRules, AMigrationIsNoNewBeginning) {
  Story s(
      "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: res, createDelaySeconds: 100, allowedResourceFlavors: "
      "[res]}, {name: od, allowedResourceFlavors: [od]}, {name: spot, allowedResourceFlavors: [spot]}]}",
      {{"res", 0}, {"od", 0}, {"spot", 4}});
  s.job("j").at(1).runs("j").at(50).quota({{"res", 0}, {"od", 4}, {"spot", 4}}).at(60).stops("j").at(61).runs("j").at(97).at(101);
  const auto p = s.play();
  EXPECT_EQ(p.at(61).row("j"), "D/A/D");
  EXPECT_EQ(p.at(97).row("j"), "D/A/D");
  EXPECT_EQ(p.at(101).row("j"), "P/A/D") << "a hundred seconds after the job came";
  EXPECT_EQ(decided<FamilyReset>(p), 0U);
  for (const char* name : {"res", "od", "spot"}) EXPECT_FALSE(p.at(101).option("j", name)["status"].contains("requeueState")) << name;
  EXPECT_FALSE(p.at(101).parent("j")["status"].contains("requeueState"));
  expect_sound(p);
}

// CA-51: cpu is shared by both Options, and part of it is borrowed up to the limit. What the running Option has does not count against the
// better one, nor against the limit.
TEST(MigrationRules, AFlavorThatBothShareMayBeBorrowedToTheLimit) {
  Story s("", {{"cpus", 0}});
  const auto queue = [&](int res) {
    return Lines{group({{"res", res}, {"od", 8}}, "nvidia.com/gpu"),
                 "{coveredResources: [cpu], flavors: [{name: cpus, resources: [{name: cpu, nominalQuota: 6, borrowingLimit: 4}]}]}"};
  };
  const std::string policy =
      "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: best, allowedResourceFlavors: [res, cpus]}, {name: other, "
      "allowedResourceFlavors: [od, cpus]}]}";
  s.flavor("res")
      .flavor("od")
      .queue("cq", policy, queue(0), "cohortName: all")
      .queue("lender", "", {group({{"cpus", 100}})}, "cohortName: all");
  s.job("j", "nvidia.com/gpu: 8, cpu: 10").at(1).runs("j").at(60).queue("cq", policy, queue(8), "cohortName: all").at(65).stops("j").at(66);
  const auto p = s.play();
  EXPECT_EQ(p.at(1).row("j"), "P/A");
  EXPECT_EQ(p.at(1).usage(), "od 8, cpus 10");
  EXPECT_TRUE(p.at(60).suspended("j"));
  EXPECT_EQ(p.at(66).row("j"), "A/D");
  EXPECT_EQ(p.at(66).usage(), "res 8, cpus 10");
  for (const auto& c : p.charged_between(1, 100)) EXPECT_NE(c.find("cpus 10"), std::string::npos) << c;
  expect_sound(p);
}

// CA-52: the best that fits is tried first, so a job may leave out what lies between
TEST(MigrationRules, AJobMovesToTheBestAtOnce) {
  Story s(remove_lower, {{"res", 0}, {"od", 0}, {"spot", 4}});
  s.job("j").at(1).runs("j").at(100).quota({{"res", 4}, {"od", 4}, {"spot", 4}}).at(105).stops("j").at(106);
  const auto p = s.play();
  EXPECT_EQ(p.at(106).row("j"), "A/D/D");
  EXPECT_EQ(p.count("Job j Stopped"), 1U);
  EXPECT_EQ(p.count("EvictedDueToFlavorMigration"), 1U);
  EXPECT_EQ(p.charged_between(100, 200), (Lines{"res 4, spot 4", "res 4"}));
  expect_sound(p);
}

// CA-53: a better one is ready while the job stops: it takes the migration over
TEST(MigrationRules, ABetterOneTakesOverAPendingMigration) {
  Story s = moving();
  s.at(102).quota({{"res", 4}, {"od", 4}, {"spot", 4}}).at(105).stops("j").at(106).runs("j").at(200);
  const auto p = s.play();
  EXPECT_EQ(p.at(106).row("j"), "A/D/D");
  EXPECT_EQ(p.at(106).usage(), "res 4");
  EXPECT_EQ(p.count("Job j Started"), 2U) << "it does not start on od first";
  EXPECT_EQ(p.count("Job j Stopped"), 1U);
  EXPECT_EQ(p.count("j-option-od Admitted"), 0U);
  EXPECT_EQ(p.charged_between(107, 1000), Lines{}) << "nothing is kept of od";
  EXPECT_EQ(p.at(200).row("j"), "A/D/D");
  expect_sound(p);
}

// CA-54: the job ends instead of stopping: it has ended, and nothing is kept for it
TEST(MigrationRules, AJobThatEndsDuringAMigrationHasEnded) {
  for (const bool failed : {false, true}) {
    Story s = moving();
    s.at(102).finish("j", failed).at(103).at(200).pinned("k", "od", "4").at(201);
    const auto p = s.play();
    EXPECT_EQ(p.at(100).row("j"), "P/P/A");
    EXPECT_EQ(p.at(103).row("j"), "F/F/F");
    EXPECT_EQ(p.at(103).usage(), "");
    EXPECT_EQ(p.charged_between(102, 199), Lines{""}) << "neither held nor kept";
    EXPECT_EQ(p.at(201).row("k"), "P/A/D") << "od is free";
    EXPECT_EQ(p.count("Job j Started"), 1U);

    expect_sound(p);
  }
}

// CA-59, CA-77: somebody with a higher priority takes what is kept. The family begins anew and runs again on what it had.
TEST(MigrationRules, WhatIsKeptMayBePreempted) {
  Story s = moving(remove_lower, "preemption: {withinClusterQueue: LowerPriority}");
  s.at(102).pinned("h", "od", "4", high).at(103).at(105).stops("j").at(106).runs("h").at(200);
  const auto p = s.play();
  EXPECT_EQ(p.at(106).usage(), "od 4, spot 4");
  EXPECT_EQ(p.at(106).row("h"), "P/A/D");
  EXPECT_EQ(p.at(106).row("j"), "P/P/A");
  EXPECT_GE(decided<FamilyReset>(p, 100), 1U);
  for (const auto& c : p.charged_between(100, 1000)) EXPECT_EQ(c.find("od 8"), std::string::npos) << c;
  EXPECT_EQ(p.at(200).usage(), "od 4, spot 4");
  expect_sound(p);
}

// CA-59: what is kept grows to the whole request in the record that releases what was held, so that at no record the family is charged less
// than it needs or more than both
TEST(MigrationRules, WhatIsKeptIsWholeWhenTheOldReservationGoes) {
  Story s = moving();
  s.at(105).stops("j").at(106);
  const auto p = s.play();
  EXPECT_EQ(p.charged_between(0, 1000), (Lines{"", "spot 4", "od 4, spot 4", "od 4"}));
  for (const auto& [at, m] : p.moments) EXPECT_EQ(m.counters(), "pending 0, reserving 1, admitted 1") << "a family counts once, at " << at;
}

// CA-154: a check of the better Option is taken back while the job stops. Retry: that one waits, and the job comes back; Rejected: it is
// out.
TEST(MigrationRules, ACheckThatIsTakenBackEndsTheMigration) {
  for (const char* state : {"Retry", "Rejected", "Pending"}) {
    Story s(remove_lower, {{"res", 4}, {"od", 4}}, check_on("cap", "res"));
    s.check("cap").job("j").at(1).runs("j").at(600).checked("j", "res", "cap", "Ready").at(602).checked("j", "res", "cap", state);
    s.at(604).at(605).stops("j").at(606).runs("j").at(607);
    const auto p = s.play();
    EXPECT_EQ(p.at(600).verdict(p.at(600).option("j", "od"), "Evicted"), "True/FlavorMigration") << state;
    EXPECT_EQ(p.at(604).verdict(p.at(604).option("j", "od"), "Evicted").substr(0, 4), "True") << state << ": it stays evicted";
    EXPECT_TRUE(p.at(604).suspended("j")) << state;
    EXPECT_EQ(p.at(607).row("j").substr(2), "A") << state;
    EXPECT_EQ(p.at(607).row("j").substr(0, 1) == "D", std::string(state) == "Rejected") << state << " " << p.at(607).row("j");
    EXPECT_FALSE(p.at(607).suspended("j")) << state;
    EXPECT_GE(decided<FamilyReset>(p, 600), 1U) << state;
    EXPECT_EQ(p.count("j-option-res Admitted"), 0U) << state;
    expect_sound(p);
  }
}

}  // namespace
}  // namespace hindsight::simulation
