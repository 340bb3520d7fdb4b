// Families in cohorts, in fair sharing and on topologies, and with gates and new resources (8691 §3.8).

#include <set>

#include <gtest/gtest.h>

#include "tests/simulation/options_story.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* high = "kueue.x-k8s.io/priority-class: high";
constexpr const char* low = "kueue.x-k8s.io/priority-class: low";

std::string flavor_with(const std::string& name, int quota, const std::string& more) {
  return "{name: " + name + ", resources: [{name: cpu, nominalQuota: " + std::to_string(quota) + (more.empty() ? "" : ", " + more) + "}]}";
}
std::string cpu_group(const Lines& flavors) {
  std::string out;
  for (const auto& f : flavors) out += (out.empty() ? "" : ", ") + f;
  return "{coveredResources: [cpu], flavors: [" + out + "]}";
}
Json share(const Moment& m, const std::string& queue = "cq") {
  return m.object("ClusterQueue", queue)["status"]["fairSharing"]["weightedShare"];
}

constexpr const char* one_option =
    "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: any, allowedResourceFlavors: [f0, f1]}]}";

// CA-90: inside an Option with several flavors the queue's fungibility decides between them, as for any Workload
TEST(ShareRules, FungibilityAppliesInsideAnOption) {
  for (const bool next : {true, false}) {
    Story s("", {{"f0", 0}, {"f1", 4}});
    s.queue("cq", one_option, {group({{"f0", 0}, {"f1", 4}})},
            std::string("cohortName: all, flavorFungibility: {whenCanBorrow: ") + (next ? "TryNextFlavor}" : "MayStopSearch}"));
    s.queue("lender", "", {group({{"f0", 4}, {"f1", 0}})}, "cohortName: all").job("j");
    const auto p = s.play();
    EXPECT_EQ(p.end().row("j"), "A");
    EXPECT_EQ(p.end().usage(), next ? "f1 4" : "f0 4");
    expect_sound(p);
  }
}

// CA-90: borrowing and lending limits hold for Options
TEST(ShareRules, LimitsApplyToOptions) {
  struct Case {
    std::string borrower, lender;
    bool fits;
  };
  for (const Case& c : {Case{"borrowingLimit: 4", "lendingLimit: 8", true}, Case{"borrowingLimit: 3", "", false},
                        Case{"", "lendingLimit: 3", false}, Case{"", "lendingLimit: 4", true}}) {
    Story s("", {{"f0", 0}, {"f1", 0}});
    s.queue("cq", remove_lower, {cpu_group({flavor_with("f0", 0, c.borrower), flavor_with("f1", 0, "")})}, "cohortName: all");
    s.queue("lender", "", {cpu_group({flavor_with("f0", 8, c.lender)})}, "cohortName: all").job("j").at(10);
    const auto p = s.play();
    EXPECT_EQ(p.at(10).row("j"), c.fits ? "A/D" : "P/P") << c.borrower << " " << c.lender;
    expect_sound(p);
  }
}

// CA-91: what an upgrade borrowed is taken back, and the family begins anew; it does not stay without a place
TEST(ShareRules, ABorrowedUpgradeIsReclaimedLikeAnyOther) {
  Story s("", {{"res", 0}, {"od", 4}});
  s.queue("cq", remove_lower, {group({{"res", 0}, {"od", 4}})}, "cohortName: all");
  s.queue("owner", "", {group({{"res", 0}})}, "cohortName: all, preemption: {reclaimWithinCohort: Any}").local_queue("lq-owner", "owner");
  s.job("j").at(1).runs("j").at(10).quota({{"res", 4}}, "owner").at(15).stops("j").at(16).runs("j");
  s.at(100).in("lq-owner").job("k").at(105).stops("j").at(106);
  const auto p = s.play();
  EXPECT_EQ(p.at(16).row("j"), "A/D");
  EXPECT_EQ(p.at(100).verdict(p.at(100).option("j", "res"), "Preempted"), "True/InCohortReclamation");
  EXPECT_EQ(p.at(106).row("j"), "P/A");
  EXPECT_EQ(p.at(106).usage() + " " + p.at(106).usage("owner"), "od 4 res 4");
  EXPECT_EQ(decided<FamilyReset>(p, 100), 1U);
  expect_sound(p);
}

// CA-92: while two race, the share is that of the better one alone, and the usage of both flavors is exact
TEST(ShareRules, ARaceCountsOnceInTheShare) {
  Story s("", {{"a", 0}, {"b", 0}});
  s.configure(R"({"featureGates": {"ConcurrentAdmission": true}, "fairSharing": {}})").check("cap");
  s.queue("cq", remove_lower, {group({{"a", 0}, {"b", 0}})}, "cohortName: all, admissionChecksStrategy: {admissionChecks: [{name: cap}]}");
  s.queue("lender", "", {group({{"a", 5}, {"b", 5}})}, "cohortName: all").job("j").at(10);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).row("j"), "R/R");
  EXPECT_EQ(p.at(10).usage(), "a 4, b 4");
  EXPECT_EQ(share(p.at(10)), 400) << "4 of 10 in thousandths, not 8";
  expect_sound(p);
}

// CA-59, CA-92: while a job moves, the share is that of what it holds, not of what is kept for it
TEST(ShareRules, WhatIsKeptCountsInNoShare) {
  Story s("", {{"res", 0}, {"od", 4}});
  s.configure(R"({"featureGates": {"ConcurrentAdmission": true}, "fairSharing": {}})");
  s.queue("cq", remove_lower, {group({{"res", 0}, {"od", 4}})}, "cohortName: all");
  s.queue("lender", "", {group({{"res", 0}, {"od", 4}})}, "cohortName: all");
  s.job("j").at(1).runs("j").at(10).quota({{"res", 8}, {"od", 4}}, "lender").at(15).stops("j").at(16);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).verdict(p.at(10).option("j", "od"), "Evicted"), "True/FlavorMigration");
  EXPECT_EQ(share(p.at(10)), 0);
  EXPECT_EQ(p.charged_between(10, 14), Lines{"res 4, od 4"});
  EXPECT_EQ(p.at(16).row("j"), "A/D");
  EXPECT_EQ(share(p.at(16)), 250) << "4 of 16";
  expect_sound(p);
}

// CA-92: the LocalQueue is charged for one admission, whether or not the job moves
TEST(ShareRules, AMigrationIsNotChargedASecondTime) {
  const auto consumed = [](bool moves) {
    Story s("", {{"res", 0}, {"od", 4}});
    s.configure(
        R"({"featureGates": {"ConcurrentAdmission": true}, "admissionFairSharing": {"usageHalfLifeTime": "0s", "usageSamplingInterval": "1000s"}})");
    s.queue("cq", remove_lower, {group({{"res", 0}, {"od", 4}})}, "admissionScope: {admissionMode: UsageBasedAdmissionFairSharing}");
    s.job("j").at(1).runs("j").at(10);
    if (moves) s.quota({{"res", 4}, {"od", 4}}).at(15).stops("j").at(16);
    const auto p = s.play();
    EXPECT_EQ(p.end().row("j"), moves ? "A/D" : "P/A");
    return p.end().object("LocalQueue", "lq")["status"].value("fairSharing", Json::object());
  };
  const Json still = consumed(false), moved = consumed(true);
  EXPECT_EQ(still.value("admissionFairSharingStatus", Json::object()).value("consumedResources", Json()),
            moved.value("admissionFairSharingStatus", Json::object()).value("consumedResources", Json()))
      << still.dump() << moved.dump();
}

/// Two flavors on one topology of racks; `small`: the nodes of the better flavor have one cpu each.
Story on_topologies(const std::string& policy, bool small, const std::string& more = "") {
  Story s("", {});
  s.apply(
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: t}, spec: {levels: [{nodeLabel: rack}, {nodeLabel: "
      "kubernetes.io/hostname}]}}");
  for (const std::string f : {"res", "od"}) {
    s.apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: " + f + "}, spec: {nodeLabels: {pool: " + f +
            "}, topologyName: t}}");
    for (const std::string n : {"1", "2"}) {
      const std::string name = f + n;
      s.apply("{apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {pool: " + f + ", rack: " + f + "-r" + n +
              ", kubernetes.io/hostname: " + name + "}}, spec: {}, status: {allocatable: {cpu: '" + (small && f == "res" ? "1" : "4") +
              "', pods: '110'}, conditions: [{type: Ready, status: 'True'}]}}");
    }
  }
  s.queue("cq", policy, {group({{"res", 8}, {"od", 8}})}, more);
  return s;
}
std::string topology_job(const std::string& name, const std::string& cpu = "4", const std::string& labels = "",
                         const std::string& pool = "") {
  return "{apiVersion: batch/v1, kind: Job, metadata: {name: " + name + ", namespace: default, labels: {kueue.x-k8s.io/queue-name: lq" +
         labels +
         "}}, spec: {suspend: true, parallelism: 1, completions: 1, template: "
         "{metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: kubernetes.io/hostname}}, spec: {restartPolicy: Never, " +
         (pool.empty() ? "" : "nodeSelector: {pool: " + pool + "}, ") + "containers: [{name: c, image: i, resources: {requests: {cpu: '" +
         cpu + "'}}}]}}}}";
}

// CA-93: the Option is placed among the nodes of its own flavor, and its Parent shows the same places
TEST(ShareRules, APlacementIsTheOptionsAndShownByTheParent) {
  Story s = on_topologies(remove_lower, false);
  s.apply(topology_job("j")).at(1).apply(topology_job("k")).at(2).apply(topology_job("l"));
  const auto p = s.play();
  const auto nodes = [&](const Json& w) {
    const Json admission = w["status"].value("admission", Json::object());
    const std::string all =
        admission.contains("podSetAssignments") ? admission["podSetAssignments"][0].value("topologyAssignment", Json()).dump() : "";
    std::set<std::string> out;
    for (const char* node : {"res1", "res2", "od1", "od2"})
      if (all.find(std::string("\"") + node + "\"") != std::string::npos) out.insert(node);
    return out;
  };
  std::set<std::string> used;
  for (const char* job : {"j", "k"}) {
    EXPECT_EQ(p.end().row(job), "A/D") << p.end().condition(p.end().option(job, "res"), "QuotaReserved");
    const auto places = nodes(p.end().option(job, "res"));
    EXPECT_EQ(places.size(), 1U) << job;
    used.insert(places.begin(), places.end());
    EXPECT_EQ(p.end().parent(job)["status"]["admission"], p.end().option(job, "res")["status"]["admission"]) << job;
  }
  EXPECT_EQ(used, (std::set<std::string>{"res1", "res2"})) << "each has a node of its own";
  EXPECT_EQ(p.end().row("l"), "P/A");
  ASSERT_EQ(nodes(p.end().parent("l")).size(), 1U);
  EXPECT_TRUE(nodes(p.end().parent("l")).begin()->starts_with("od"));
  expect_sound(p);
}

// CA-94: the better flavor has the quota, and no node that is large enough; that concerns this Option alone
TEST(ShareRules, AnOptionThatCannotBePlacedIsSetAside) {
  Story s = on_topologies(remove_lower, true);
  s.apply(topology_job("j")).at(10);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).row("j"), "P/A");
  EXPECT_EQ(p.at(10).usage(), "od 4");
  EXPECT_EQ(p.at(10).verdict(p.at(10).option("j", "res"), "QuotaReserved"), "False/TopologyPlacementFailed");
  expect_sound(p);
}

// CA-146, CA-94: the better flavor has quota enough, but on its nodes there is room only in the place of others
TEST(ShareRules, AnUpgradeThatMayNotPreemptTakesNobodysPlace) {
  for (const bool may : {true, false}) {
    Story s = on_topologies(
        std::string("concurrentAdmission: {onSuccess: RemoveLower, upgradeFungibility: ") + (may ? "Always" : "NoPreemption") + "}", false,
        "preemption: {withinClusterQueue: LowerPriority}");
    s.priority_class("low", -10).quota({{"res", 16}, {"od", 4}});
    for (const char* other : {"low-1", "low-2"}) s.apply(topology_job(other, "3", ", kueue.x-k8s.io/priority-class: low", "res"));
    s.at(1).runs("low-1").runs("low-2").at(2).apply(topology_job("j")).at(3).runs("j").at(20);
    if (!may) s.at(21).finish("low-1").at(22).stops("j").at(23);
    const auto p = s.play();
    EXPECT_EQ(p.at(3).row("j"), "P/A");
    int evicted = 0;
    for (const char* other : {"low-1", "low-2"})
      evicted += p.at(20).verdict(p.at(20).option(other, "res"), "Evicted") == "True/Preempted" ? 1 : 0;
    EXPECT_EQ(evicted, may ? 1 : 0);
    if (may) continue;
    EXPECT_NE(p.at(20).why("j", "res").find("flavor res has room only by preemption, which upgradeFungibility NoPreemption rules out"),
              std::string::npos)
        << p.at(20).why("j", "res");
    EXPECT_EQ(p.at(23).row("j"), "A/D") << "it moves to the node that is free";
    expect_sound(p);
  }
}

// CA-93: its node fails, and the Parent follows where its Option goes
TEST(ShareRules, AReplacedNodeIsShownByTheParent) {
  Story s = on_topologies(remove_other, false);
  s.apply(topology_job("j")).at(1).runs("j").at(10);
  const auto before = s.play();
  const std::string was =
      before.end().parent("j")["status"]["admission"]["podSetAssignments"][0].value("topologyAssignment", Json()).dump();
  const std::string lost = was.find("\"res1\"") != std::string::npos ? "res1" : "res2", other = lost == "res1" ? "res2" : "res1";
  s.remove("Node", lost).at(100).at(400);
  const auto p = s.play();
  const Json& option = p.end().option("j", "res");
  EXPECT_EQ(p.end().parent("j")["status"]["admission"], option["status"]["admission"]);
  EXPECT_NE(option["status"]["admission"]["podSetAssignments"][0].value("topologyAssignment", Json()).dump().find('"' + other + '"'),
            std::string::npos)
      << option["status"].dump();
  EXPECT_EQ(p.end().parent("j")["status"].value("unhealthyNodes", Json::array()), option["status"].value("unhealthyNodes", Json::array()));
  expect_sound(p);
}

// CA-97, SG-54: a gate of the job holds all Options, and under the scheduling gate there is not even a Parent
TEST(ShareRules, GatesHoldAllOptions) {
  const auto gated = [](const std::string& name, const std::string& annotation) {
    return "{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
           ", namespace: default, labels: {kueue.x-k8s.io/queue-name: lq}, "
           "annotations: {" +
           annotation +
           ": example.com/budget}}, spec: {suspend: true, parallelism: 1, completions: 1, template: {spec: "
           "{restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '4'}}}]}}}}";
  };
  Story s(remove_lower, {{"res", 4}, {"od", 4}}, "admissionChecksStrategy: {admissionChecks: [{name: cap, onFlavors: [res]}]}");
  s.configure(R"({"featureGates": {"ConcurrentAdmission": true, "SchedulingGatedBy": true}})");
  s.check("cap").apply(gated("a", "kueue.x-k8s.io/admission-gated-by")).apply(gated("b", "kueue.x-k8s.io/scheduling-gated-by"));
  s.at(10).quota({{"res", 8}, {"od", 4}}).at(20).patch("Job", "a", "{metadata: {annotations: {kueue.x-k8s.io/admission-gated-by: null}}}");
  s.at(30).patch("Job", "b", "{metadata: {annotations: {kueue.x-k8s.io/scheduling-gated-by: null}}}").at(31);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).row("a"), "P/P");
  EXPECT_EQ(p.at(10).usage(), "");
  EXPECT_TRUE(p.at(10).parent("b").is_null());
  EXPECT_EQ(p.at(20).row("a"), "R/A");
  EXPECT_TRUE(p.at(20).parent("b").is_null());
  EXPECT_EQ(p.at(31).row("b"), "R/P");
  expect_sound(p);
}

// CA-97: a suspended job asks for something else: its Options do as well, also one that held quota for what it asked before
TEST(ShareRules, NewResourcesOfASuspendedJobReachItsOptions) {
  Story s(remove_lower, {{"res", 4}, {"od", 2}}, "admissionChecksStrategy: {admissionChecks: [{name: cap, onFlavors: [res]}]}");
  s.check("cap").job("j").at(10).patch(
      "Job", "j", "{spec: {template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: '2'}, limits: {cpu: '2'}}}]}}}}");
  s.at(20);
  const auto p = s.play();
  EXPECT_EQ(p.at(0).row("j"), "R/P");
  EXPECT_EQ(p.at(0).usage(), "res 4");
  EXPECT_EQ(p.at(20).row("j"), "R/A");
  EXPECT_EQ(p.at(20).usage(), "res 2, od 2");
  for (const char* name : {"res", "od"})
    EXPECT_EQ(p.at(20).option("j", name)["spec"]["podSets"], p.at(20).parent("j")["spec"]["podSets"]) << name;
  expect_sound(p);
}

// CA-98: the only flavor of an Option needs borrowing, somebody else takes it in the same cycle, and the scan does not go on behind it: the
// Option is tried again on its own flavor when that is free
TEST(ShareRules, TheScanOfAConstrainedOptionBeginsAnew) {
  Story s("", {{"f0", 0}, {"f1", 0}, {"f2", 0}});
  const std::string more = "cohortName: all, flavorFungibility: {whenCanBorrow: TryNextFlavor, whenCanPreempt: TryNextFlavor}";
  for (const char* q : {"cq", "rival"}) s.queue(q, remove_lower, {group({{"f0", 0}, {"f1", 0}, {"f2", 0}})}, more + ", stopPolicy: Hold");
  s.queue("lender", "", {group({{"f1", 4}})}, "cohortName: all").local_queue("lq-rival", "rival");
  s.in("lq-rival").job("first").at(1).in("lq").job("j");
  s.at(10).patch("ClusterQueue", "cq", "{spec: {stopPolicy: None}}").patch("ClusterQueue", "rival", "{spec: {stopPolicy: None}}");
  s.at(11).at(100).finish("first").at(101);
  const auto p = s.play();
  EXPECT_EQ(p.at(11).row("first"), "P/A/D");
  EXPECT_EQ(p.at(11).row("j"), "P/P/P");
  EXPECT_EQ(p.at(11).verdict(p.at(11).option("j", "f1"), "QuotaReserved"), "False/WaitingForQuota");
  EXPECT_EQ(p.at(101).row("j"), "P/A/D");
  EXPECT_EQ(p.at(101).usage(), "f1 4");
  expect_sound(p);
}

}  // namespace
}  // namespace hindsight::simulation
