// What people reported of concurrent admission and of assignments to flavors (8691 §6), each as a test that it does not happen here.

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "tests/simulation/mortal_plane.hpp"
#include "tests/simulation/options_story.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* low = "kueue.x-k8s.io/priority-class: low";
constexpr const char* mid = "kueue.x-k8s.io/priority-class: mid";
constexpr const char* high = "kueue.x-k8s.io/priority-class: high";
constexpr const char* preempts = "preemption: {withinClusterQueue: LowerPriority}";

std::string checks(const std::string& list) { return "admissionChecksStrategy: {admissionChecks: [" + list + "]}"; }
std::string configuration(const std::string& more) { return R"({"featureGates": {"ConcurrentAdmission": true}, )" + more + "}"; }
std::string explicit_options(const std::string& list, const std::string& on_success = "RemoveLower") {
  return "concurrentAdmission: {onSuccess: " + on_success + ", explicitOptions: [" + list + "]}";
}

/// Names of those that reserved quota, in their order.
Lines reserved(const Played& p, double from = 0) {
  Lines out;
  each_decided(
      p,
      [&](const Event& e, double) {
        if (const auto* q = std::get_if<QuotaReserved>(&e)) out.push_back(p.end().plain(std::string(q->workload.name)));
      },
      from);
  return out;
}

// CA-26 (#10913): both fit when the queue is let go, and there is always room and news for the worse one
TEST(KnownDefects, ALessFavorableOptionIsNeverAdmittedNextToABetterOneThatRuns) {
  Story s(remove_lower, {{"res", 4}, {"spot", 4}}, "stopPolicy: Hold");
  s.job("j").at(1).patch("ClusterQueue", "cq", "{spec: {stopPolicy: None}}").at(2).runs("j");
  for (int at = 3; at < 8; ++at) s.at(at).quota({{"res", 4}, {"spot", 4 + at}}).patch_option("j", "spot", "{spec: {active: true}}");
  const auto p = s.play();
  EXPECT_EQ(reserved(p), Lines{"j-option-res"});
  EXPECT_EQ(p.end().row("j"), "A/D");
  expect_sound(p);
}

// CA-70 (#10920, #11872): three flavors with a victim each
TEST(KnownDefects, NotEveryOptionOfAFamilyPreempts) {
  Story s(remove_lower, {{"a", 1}, {"b", 1}, {"c", 1}}, preempts);
  s.priority_class("mid", 100);
  for (const std::string f : {"a", "b", "c"}) s.pinned("v-" + f, f, "1", low);
  s.at(1).runs("v-a").runs("v-b").runs("v-c").at(10).job("j", "1", mid).at(200).stops("v-a").at(201).runs("j").at(1000);
  const auto p = s.play();
  EXPECT_EQ(decided<WorkloadPreempted>(p), 1U);
  EXPECT_EQ(p.at(1000).row("j"), "A/D/D");
  EXPECT_FALSE(p.at(1000).suspended("v-b") || p.at(1000).suspended("v-c"));
  expect_sound(p);
}

// CA-72 (#14245, #15547): both better Options carry a condition from before the family began anew, which is no verdict of this attempt
TEST(KnownDefects, TheConditionOfAnEarlierAttemptIsNoEvaluation) {
  Story s(remove_other, {{"res", 0}, {"od", 0}, {"spot", 4}}, preempts);
  s.priority_class("mid", 100).job("j", "4", mid).at(1).runs("j").at(10).quota({{"res", 4}, {"od", 4}, {"spot", 4}});
  s.pinned("v-res", "res", "4", low).pinned("v-od", "od", "4", low).at(11).runs("v-res").runs("v-od").at(20).pinned("h", "spot", "4", high);
  s.at(25).stops("j").at(26).at(30).stops("v-res").at(31);
  const auto p = s.play();
  EXPECT_EQ(p.at(1).row("j"), "D/D/A");
  EXPECT_EQ(p.at(11).usage(), "res 4, od 4, spot 4");
  Lines opened;
  each_decided(p, [&](const Event& e, double) {
    if (const auto* g = std::get_if<PreemptionGateChanged>(&e); g != nullptr && g->open) {
      const std::string name = p.end().plain(std::string(g->workload.name));
      if (name.substr(0, 2) == "j-") opened.push_back(name);
    }
  });
  EXPECT_EQ(opened, Lines{"j-option-res"}) << "the better one, which can preempt as well";
  EXPECT_FALSE(p.at(31).suspended("v-od"));
  EXPECT_EQ(p.at(31).row("j"), "A/D/D");
}

// CA-72 (#15547): the middle one of three cannot be made for a while; the last one is not given the right in its place
TEST(KnownDefects, AWorseOptionIsNotUngatedBeforeABetterOneWasEvaluated) {
  Story s(remove_other, {{"a", 1}, {"b", 1}, {"c", 1}}, preempts);
  s.priority_class("mid", 100).pinned("v-a", "a", "1", high).pinned("v-b", "b", "1", low).pinned("v-c", "c", "1", low).at(1);
  s.runs("v-a")
      .runs("v-b")
      .runs("v-c")
      .at(10)
      .job("j", "1", mid)
      .at(14)
      .at(20)
      .patch("Job", "j", "{metadata: {labels: {seen: again}}}")
      .at(60);
  MortalPlane plane(s.scenario(), s.configuration());
  plane.on_write = [&](const connectors::Write& write, Time now) -> std::optional<connectors::WriteAnswer> {
    if (write.verb != connectors::Write::Verb::create || write.body.find("-option-b\"") == std::string::npos ||
        now < connectors::simulated::virtual_start + Duration::seconds(10) ||
        now > connectors::simulated::virtual_start + Duration::seconds(15))
      return std::nullopt;
    return connectors::WriteAnswer{500, R"({"kind":"Status","code":500,"reason":"InternalError","message":"not now"})", 0};
  };
  Lines opened;
  plane.on_record = [&](const RecordView& record) {
    if (const auto* d = std::get_if<Decisions>(&record.body))
      for (const Event& e : d->events)
        if (const auto* g = std::get_if<PreemptionGateChanged>(&e); g != nullptr && g->open)
          opened.push_back(Moment(plane.cluster()).plain(std::string(g->workload.name)));
  };
  plane.play();
  EXPECT_EQ(opened, Lines{"j-option-b"});
  EXPECT_FALSE(Moment(plane.cluster()).suspended("v-c"));
}

// CA-33, CA-34 (#13493, #14196): whatever uids they got, the best flavor is taken at once and not by way of a worse one
TEST(KnownDefects, ARandomUidDoesNotDecideWhichSiblingIsTriedFirst) {
  for (int shift = 0; shift < 8; ++shift) {
    Story s(remove_lower, {{"res", 4}, {"od", 4}, {"spot", 4}});
    for (int i = 0; i < shift; ++i) s.local_queue("other-" + std::to_string(i), "cq");
    s.job("j").at(10);
    const auto p = s.play();
    EXPECT_EQ(reserved(p), Lines{"j-option-res"}) << shift;
    EXPECT_EQ(decided<MigrationStarted>(p), 0U) << shift;
  }
}

// CA-114, CA-115 (#10918, #12501)
TEST(KnownDefects, OptionsFollowTheFlavorsOfTheirQueue) {
  Story s(remove_lower, {{"a", 0}, {"b", 0}});
  s.flavor("c").job("j").at(10).quota({{"b", 0}, {"c", 0}}).at(11).at(20).quota({{"c", 0}, {"a", 0}, {"b", 0}}).at(21);
  const auto p = s.play();
  EXPECT_EQ(p.at(11).options("j"), (Lines{"j-option-b", "j-option-c"}));
  EXPECT_EQ(p.at(21).options("j"), (Lines{"j-option-a", "j-option-b", "j-option-c"}));
  EXPECT_EQ(p.at(21).row("j"), "P/P/P");
  EXPECT_EQ(p.count(" DeletedVariant"), 1U);
  EXPECT_EQ(p.count(" CreatedVariant"), 4U);
  expect_sound(p);
}

// CA-115, CA-118 (#15838): it is suspended and started once, on the replacement, and holds no quota twice
TEST(KnownDefects, AFlavorThatIsRemovedWhileAReplacementIsMadeEvictsNobodyTwice) {
  Story s(remove_lower, {{"old", 4}, {"spot", 4}});
  s.flavor("new").job("j").at(1).runs("j").at(10).quota({{"new", 4}, {"spot", 4}}).at(15).stops("j").at(16).runs("j").at(100);
  const auto p = s.play();
  EXPECT_EQ(p.at(1).row("j"), "A/D");
  EXPECT_FALSE(p.at(10).option("j", "new").is_null());
  EXPECT_EQ(p.at(10).held("cq").count("new"), 0U);
  EXPECT_EQ(p.at(16).row("j"), "A/D");
  EXPECT_EQ(p.at(16).usage(), "new 4");
  EXPECT_EQ(p.count("Job j Stopped"), 1U);
  EXPECT_EQ(p.count("Job j Started"), 2U);
  std::size_t evictions = 0;
  each_decided(p, [&](const Event& e, double) {
    if (const auto* x = std::get_if<WorkloadEvicted>(&e)) evictions += p.end().plain(std::string(x->workload.name)) == "j" ? 1 : 0;
  });
  EXPECT_EQ(evictions, 1U);
  EXPECT_EQ(p.at(100).options("j"), (Lines{"j-option-new", "j-option-spot"}));
  expect_sound(p);
}

// CA-120 (#10912, #14954): families of every kind lose the feature: one that waits, one that races, one that runs, one that is moving
TEST(KnownDefects, OptionsAndTheirQuotaDoNotLeakWhenTheFeatureIsSwitchedOff) {
  for (const bool moving : {false, true}) {
    Story s(remove_lower, {{"res", 0}, {"od", 4}, {"spot", 4}}, checks("{name: cap, onFlavors: [spot]}"));
    s.check("cap").job("runs").at(1).runs("runs").at(2).job("races").at(3).job("waits").at(10);
    if (moving) s.quota({{"res", 4}, {"od", 4}, {"spot", 4}}).at(11);
    s.policy("concurrentAdmission: null").at(20);
    if (moving) s.stops("runs").at(25);
    s.at(30);
    const auto p = s.play();
    EXPECT_EQ(p.at(3).row("runs") + " " + p.at(3).row("races") + " " + p.at(3).row("waits"), "P/A/D P/P/R P/P/P");
    EXPECT_EQ(p.at(30).all("Workload").size(), 3U) << "no Option is left";
    for (const auto& w : p.at(30).all("Workload")) {
      EXPECT_FALSE(w["metadata"].value("labels", Json::object()).contains("kueue.x-k8s.io/concurrent-admission-parent"));
      EXPECT_FALSE(w["status"].contains("options"));
    }
    if (!moving) {
      EXPECT_FALSE(p.at(30).suspended("runs"));
      EXPECT_EQ(p.count("Job runs Stopped"), 0U);
      EXPECT_EQ(p.at(30).verdict(p.at(30).parent("runs"), "Admitted"), "True/Admitted");
    }
    expect_sound(p);  // what the queue has in use is what the three hold
  }
}

// CA-50 (#13184): in each of many cycles the upgrade that the target forbids would be the first to take od
TEST(KnownDefects, ADeniedMigrationKeepsNoCapacityInAnyCycle) {
  Story s("", {{"res", 0}, {"od", 0}, {"spot", 4}});
  s.queue("cq", down_to("res"), {group({{"res", 0}, {"od", 0}, {"spot", 4}})}, "cohortName: all");
  s.queue("other", "", {group({{"od", 0}})}, "cohortName: all").local_queue("lq-other", "other");
  s.job("j", "4", high).at(1).runs("j");
  for (int i = 0; i < 4; ++i) {
    s.at(10 + 10 * i).quota({{"res", 0}, {"od", 1 + i}, {"spot", 4}}).patch_option("j", "od", "{spec: {active: true}}");
    s.in("lq-other").pinned("k" + std::to_string(i), "od", "1");
  }
  const auto p = s.play();
  EXPECT_EQ(p.end().usage("other"), "od 4");
  EXPECT_EQ(p.end().usage(), "spot 4");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(p.at(10 + 10 * i).usage("other"), "od " + std::to_string(i + 1));
  expect_sound(p);
}

// CA-96 (#12470, #13545): the manager's own use means nothing there, so such a queue is not active and says why
TEST(KnownDefects, AMultiKueueManagerDoesNotTakeItsOwnUseForThatOfItsWorkers) {
  Story s("", {{"res", 4}, {"od", 4}});
  s.apply(
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: mk}, spec: {controllerName: "
      "kueue.x-k8s.io/multikueue}}");
  s.patch(
      "AdmissionCheck", "mk",
      "{status: {conditions: [{type: Active, status: 'True', reason: Active, message: ok, lastTransitionTime: '2026-01-01T00:00:00Z'}]}}",
      true);
  s.queue("cq", remove_lower, {group({{"res", 4}, {"od", 4}})}, checks("{name: mk}")).job("j").at(10);
  const auto p = s.play();
  const std::string active = p.at(10).condition(p.at(10).object("ClusterQueue", "cq"), "Active");
  EXPECT_EQ(active.substr(0, 6), "False/") << active;
  EXPECT_EQ(p.at(10).usage(), "");
}

// 8691 V3 (#15500): seventeen flavors of which three race, and a queue of twenty where that many are configured
TEST(KnownDefects, AQueueWithManyFlavorsCanRaceThreeOfThem) {
  Quotas many;
  for (int i = 0; i < 17; ++i) many.emplace_back("f" + std::to_string(i), i == 16 ? 4 : 0);
  Story s(explicit_options("{name: a, allowedResourceFlavors: [f3]}, {name: b, allowedResourceFlavors: [f9]}, {name: c, "
                           "allowedResourceFlavors: [f16]}"),
          many);
  s.job("j");
  const auto p = s.play();
  EXPECT_EQ(p.result.refused, Lines{});
  EXPECT_EQ(p.end().row("j"), "P/P/A");
  Story refused(remove_lower, many);
  EXPECT_EQ(refused.play().result.refused.size(), 1U);
  Story wide(remove_lower, many);
  wide.configure(configuration(R"("hindsight": {"maxOptions": 32})")).job("j");
  const auto q = wide.play();
  EXPECT_EQ(q.result.refused, Lines{});
  EXPECT_EQ(q.end().options("j").size(), 17U);
  expect_sound(q);
}

// CA-132 (#11561): an empty status at any moment is nobody's end: what was decided is written again
TEST(KnownDefects, AWorkloadWithoutAStatusIsNotTheEndOfTheProcess) {
  for (const int when : {5, 50}) {
    Story s(remove_lower, {{"res", 0}, {"od", when == 5 ? 0 : 4}});
    s.job("j").at(1).at(when);
    const char* nothing = "{status: null}";
    s.patch_parent("j", nothing, true).patch_option("j", "res", nothing, true);
    if (when == 5) s.patch_option("j", "od", nothing, true);
    s.at(60).quota({{"res", 0}, {"od", 4}}).at(61);
    const auto p = s.play();
    EXPECT_EQ(p.at(61).row("j"), "P/A") << when;
    EXPECT_EQ(p.at(61).usage(), "od 4") << when;
  }
}

// 8691 §2.8 (#13020, #13624): when an admission is over nobody says any more that there is one, and the next verdict replaces what is said
TEST(KnownDefects, TheReasonOfAReservationGoesWhenItIsCleared) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}}, preempts);
  s.job("j").at(1).runs("j").at(10).pinned("h", "od", "4", high).at(15).stops("j").at(16);
  const auto p = s.play();
  for (const Json& w : {p.at(16).parent("j"), p.at(16).option("j", "od"), p.at(16).option("j", "res")}) {
    const std::string reason = p.at(16).verdict(w, "QuotaReserved");
    EXPECT_TRUE(reason == "False/WaitingForQuota" || reason == "False/ExceedsMaxQuota") << reason << " " << w["metadata"]["name"];
    EXPECT_FALSE(w["status"].contains("admission"));
    EXPECT_NE(p.at(16).verdict(w, "Admitted").substr(0, 4), "True");
  }
  EXPECT_EQ(p.at(16).condition(p.at(16).parent("j"), "Admitted"), "False/NoReservation: The workload has no reservation");
}

// CA-76 (#10610 review)
TEST(KnownDefects, AMigrationIsNotCalledAPreemption) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}}, preempts);
  s.job("j").at(1).runs("j").at(10).quota({{"res", 4}, {"od", 4}}).at(15).stops("j").at(16);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).verdict(p.at(10).option("j", "od"), "Evicted"), "True/FlavorMigration");
  EXPECT_EQ(p.at(10).verdict(p.at(10).option("j", "od"), "Preempted"), "");
  EXPECT_EQ(p.count("EvictedDueToPreempted") + p.count(" Preempted: ") + decided<WorkloadPreempted>(p), 0U);
  EXPECT_EQ(lines_with(metrics_of(p), {"kueue_preempted_workloads_total"}), Lines{});
}

// CA-43, CA-81 (#8861 review): three checks are ready in one step; one is admitted, and what becomes of the others is said
TEST(KnownDefects, TwoSiblingsAreNeverAdmittedAndTheOthersSayWhyTheyEnd) {
  Story s(remove_lower, {{"a", 4}, {"b", 4}, {"c", 4}}, checks("{name: cap}"));
  s.check("cap").job("j").at(10).checked("j", "c", "cap", "Ready").checked("j", "b", "cap", "Ready").checked("j", "a", "cap", "Ready");
  s.at(11).stops("j").at(12).runs("j").at(60);
  const auto p = s.play();
  EXPECT_EQ(p.at(60).row("j"), "A/D/D");
  EXPECT_EQ(p.at(60).usage(), "a 4");
  for (const char* name : {"b", "c"}) EXPECT_NE(p.at(60).why("j", name).find("lower priority than admitted"), std::string::npos) << name;
  expect_sound(p);  // which looks for two at once after every record
}

// CA-58 (#14588)
TEST(KnownDefects, PartialAdmissionIsNotTriedWithOptions) {
  Story s(remove_lower, {{"res", 3}, {"od", 3}});
  s.apply(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq}, annotations: "
      "{kueue.x-k8s.io/job-min-parallelism: '1'}}, spec: {suspend: true, parallelism: 4, completions: 4, template: {spec: {restartPolicy: "
      "Never, containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}}}");
  const auto p = s.at(10).play();
  EXPECT_EQ(p.at(10).row("j"), "P/P");
  EXPECT_EQ(p.at(10).object("Job", "j")["spec"]["parallelism"], 4);
}

// CA-44 (#3874)
TEST(KnownDefects, AJobDoesNotStayOnAWorseFlavorForEver) {
  Story s(remove_lower, {{"res", 4}, {"spot", 4}});
  s.job("first").at(1).runs("first").at(2).job("j").at(3).runs("j").at(1000).finish("first").at(1005).stops("j").at(1006);
  const auto p = s.play();
  EXPECT_EQ(p.at(3).row("j"), "P/A");
  EXPECT_EQ(p.at(1006).row("j"), "A/D");
  EXPECT_EQ(p.at(1006).object("Job", "j")["spec"]["template"]["spec"]["nodeSelector"], Json::parse(R"({"flavor": "res"})"));
}

// CA-81, CA-82 (#2560): the better flavor has quota, and no machines
TEST(KnownDefects, AJobFallsBackWhenAFlavorIsOutOfStock) {
  for (const char* state : {"Pending", "Retry", "Rejected"}) {
    Story s(remove_lower, {{"res", 4}, {"spot", 4}}, checks("{name: cap}"));
    s.check("cap").job("j").at(10).checked("j", "res", "cap", state).at(20).checked("j", "spot", "cap", "Ready").at(21);
    const auto p = s.play();
    EXPECT_EQ(p.at(21).row("j").substr(1), "/A") << state;
    EXPECT_FALSE(p.at(21).suspended("j")) << state;
  }
}

// CA-80 (#5477): from a flavor with a check to one without: nothing that the check said goes along
TEST(KnownDefects, StatesOfChecksDoNotSurviveAMoveToAFlavorWithoutThem) {
  Story s(remove_lower, {{"res", 4}, {"od", 4}}, std::string(preempts) + ", " + checks("{name: cap, onFlavors: [res]}"));
  s.check("cap").job("j").at(1).at(10);
  s.checked("j", "res", "cap", "Ready", "podSetUpdates: [{name: main, nodeSelector: {zone: z}}]").at(15).stops("j").at(16).runs("j");
  s.at(100).pinned("h", "res", "4", high).at(105).stops("j").at(106);
  const auto p = s.play();
  EXPECT_EQ(p.at(16).row("j"), "A/D");
  EXPECT_EQ(p.at(16).object("Job", "j")["spec"]["template"]["spec"]["nodeSelector"], Json::parse(R"({"flavor": "res", "zone": "z"})"));
  EXPECT_EQ(p.at(106).row("j").substr(2), "A");
  EXPECT_EQ(p.at(106).checks(p.at(106).option("j", "od")), "");
  EXPECT_EQ(p.at(106).checks(p.at(106).parent("j")), "");
  EXPECT_EQ(p.at(106).object("Job", "j")["spec"]["template"]["spec"]["nodeSelector"], Json::parse(R"({"flavor": "od"})"));
  EXPECT_EQ(p.at(106).checks(p.at(106).option("j", "res")).find("Ready"), std::string::npos);
}

// CA-55, CA-61 (#14811): pods that were ready are lost and do not come back: admission and quota end with the eviction, when the job
// stopped
TEST(KnownDefects, AnEvictionForRecoveryLeavesNoAdmissionAndNoQuotaInPlace) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}});
  s.configure(configuration(
      R"("waitForPodsReady": {"timeout": "1000s", "recoveryTimeout": "60s", "requeuingStrategy": {"backoffBaseSeconds": 3600}})"));
  s.job("j").at(1).runs("j").at(100).patch("Job", "j", "{status: {startTime: '2026-01-01T00:00:00Z', active: 1, ready: 0}}", true).at(155);
  s.at(165).at(170).stops("j").at(171).job("k").at(172);
  const auto p = s.play();
  EXPECT_FALSE(p.at(155).suspended("j"));
  EXPECT_TRUE(p.at(165).suspended("j"));
  EXPECT_EQ(p.at(165).verdict(p.at(165).parent("j"), "Evicted"), "True/PodsReadyTimeout");
  EXPECT_EQ(p.at(171).row("j"), "P/P");
  EXPECT_EQ(p.at(172).row("k"), "P/A") << "the quota is free";
  expect_sound(p);
}

// CA-94 (#10824, #13658, #13691): quota is there and nodes are too small; many jobs come, and each is tried on the other flavor
TEST(KnownDefects, AFlavorThatFitsByQuotaAndNeverByTopologyDoesNotBlockTheNextOne) {
  Story s("", {});
  s.apply(
      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: t}, spec: {levels: [{nodeLabel: kubernetes.io/hostname}]}}");
  for (const std::string f : {"res", "od"}) {
    s.apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: " + f + "}, spec: {nodeLabels: {pool: " + f +
            "}, topologyName: t}}");
    for (int n = 0; n < 4; ++n) {
      const std::string name = f + std::to_string(n);
      s.apply("{apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {pool: " + f + ", kubernetes.io/hostname: " + name +
              "}}, spec: {}, status: {allocatable: {cpu: '" + (f == "res" ? "1" : "4") +
              "', pods: '110'}, conditions: [{type: Ready, status: 'True'}]}}");
    }
  }
  s.queue("cq", remove_lower, {group({{"res", 100}, {"od", 16}})});
  for (int i = 0; i < 6; ++i)
    s.apply(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: j" + std::to_string(i) +
        ", namespace: default, labels: {kueue.x-k8s.io/queue-name: lq}}, spec: {suspend: true, parallelism: 1, completions: 1, template: "
        "{metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: kubernetes.io/hostname}}, spec: {restartPolicy: Never, "
        "containers: [{name: c, image: i, resources: {requests: {cpu: '4'}}}]}}}}");
  const auto p = s.at(10).play();
  int running = 0;
  for (int i = 0; i < 6; ++i) running += p.at(10).suspended("j" + std::to_string(i)) ? 0 : 1;
  EXPECT_EQ(running, 4) << "as many as there are large nodes";
  EXPECT_EQ(p.at(10).usage(), "od 16");
  expect_sound(p);
}

// CA-90 (#13607, #13896): inside an Option a flavor on which nobody can be preempted does not come before one that fits by borrowing
TEST(KnownDefects, AFlavorWithoutCandidatesDoesNotOutrankOneThatFits) {
  Story s("", {{"f0", 4}, {"f1", 0}});
  s.queue("cq", explicit_options("{name: any, allowedResourceFlavors: [f0, f1]}"), {group({{"f0", 4}, {"f1", 0}})},
          std::string("cohortName: all, flavorFungibility: {whenCanBorrow: TryNextFlavor, whenCanPreempt: TryNextFlavor, preference: "
                      "PreemptionOverBorrowing}, ") +
              preempts);
  s.queue("lender", "", {group({{"f1", 4}})}, "cohortName: all");
  s.pinned("busy", "f0", "4", high).at(1).runs("busy").at(2).job("j").at(10);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).row("j"), "A");
  EXPECT_EQ(p.at(10).usage(), "f0 4, f1 4");
  expect_sound(p);
}

// CA-24, CA-90 (#5424, #1344, #1276, #4597): inside an Option a later flavor with room is found, and with its own quota before borrowed one
TEST(KnownDefects, TheSecondFlavorIsTriedAndNothingIsBorrowedBeforeIt) {
  Story s("", {{"f0", 0}, {"f1", 4}, {"f2", 4}});
  s.queue("cq", explicit_options("{name: any, allowedResourceFlavors: [f0, f1, f2]}"), {group({{"f0", 0}, {"f1", 4}, {"f2", 4}})},
          "cohortName: all, flavorFungibility: {whenCanBorrow: TryNextFlavor, whenCanPreempt: TryNextFlavor}");
  s.queue("lender", "", {group({{"f0", 4}})}, "cohortName: all").job("a").at(1).job("b").at(2).job("c").at(3).job("d").at(10);
  const auto p = s.play();
  EXPECT_EQ(p.at(0).usage(), "f1 4");
  EXPECT_EQ(p.at(1).usage(), "f1 4, f2 4");
  EXPECT_EQ(p.at(2).usage(), "f0 4, f1 4, f2 4") << "what is borrowed comes last";
  EXPECT_EQ(p.at(10).row("d"), "P");
  expect_sound(p);
}

// CA-71 (#1677): checks take a day on every flavor, and in this time one victim has gone, not one for each
TEST(KnownDefects, SlowChecksDoNotCostAVictimOnEveryFlavor) {
  Story s(remove_other, {{"a", 1}, {"b", 1}}, std::string(preempts) + ", " + checks("{name: cap}"));
  s.priority_class("mid", 100).check("cap").pinned("v-a", "a", "1", low).pinned("v-b", "b", "1", low).at(1);
  s.checked("v-a", "a", "cap", "Ready").checked("v-b", "b", "cap", "Ready").at(2).runs("v-a").runs("v-b").at(10).job("j", "1", mid).at(15);
  s.stops("v-a").at(86400);
  const auto p = s.play();
  EXPECT_EQ(p.at(86400).row("j"), "R/P");
  EXPECT_EQ(decided<WorkloadPreempted>(p), 1U);
  EXPECT_FALSE(p.at(86400).suspended("v-b"));
}

// CA-42: what the check of the Option adds reaches the pods, though the job is started from its Parent; also after a migration
TEST(KnownDefects, PodSetUpdatesAreNotLostOnTheWayToTheJob) {
  Story s(remove_lower, {{"res", 4}, {"od", 4}}, checks("{name: cap}"));
  s.check("cap").job("j").at(10).checked("j", "od", "cap", "Ready", "podSetUpdates: [{name: main, nodeSelector: {zone: of-od}}]").at(11);
  s.runs("j")
      .at(20)
      .checked("j", "res", "cap", "Ready", "podSetUpdates: [{name: main, nodeSelector: {zone: of-res}}]")
      .at(25)
      .stops("j")
      .at(26);
  const auto p = s.play();
  const auto selector = [&](int at) { return p.at(at).object("Job", "j")["spec"]["template"]["spec"]["nodeSelector"]; };
  EXPECT_EQ(selector(11), Json::parse(R"({"flavor": "od", "zone": "of-od"})"));
  EXPECT_EQ(p.at(26).row("j"), "A/D");
  EXPECT_EQ(selector(26), Json::parse(R"({"flavor": "res", "zone": "of-res"})"));
}

// CA-57, CA-123: both reach the Option that runs, by its Parent
TEST(KnownDefects, ReclaimablePodsAndPrioritiesReachTheOption) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}}, preempts);
  s.bare("w", 4, "1").at(10).patch("Workload", "w", "{status: {reclaimablePods: [{name: main, count: 2}]}}", true).at(20);
  s.patch("Workload", "w", "{spec: {priority: 5000}}").at(30).job("h", "3", high).at(31);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).usage(), "od 2");
  EXPECT_EQ(p.at(20).option("w", "od")["spec"]["priority"], 5000);
  EXPECT_EQ(p.at(31).row("w"), "P/A") << "h may not preempt what has a higher priority now";
  EXPECT_EQ(p.at(31).row("h"), "P/P");
}

// CA-84: it is not on again as soon as no sibling is admitted
TEST(KnownDefects, ARejectedOptionIsNotTriedAgainAndAgain) {
  Story s(remove_lower, {{"res", 4}, {"od", 0}}, checks("{name: cap}"));
  s.check("cap").job("j").at(10).checked("j", "res", "cap", "Rejected").at(100).quota({{"res", 5}, {"od", 0}}).at(10000);
  const auto p = s.play();
  EXPECT_EQ(p.at(10000).row("j"), "D/P");
  EXPECT_EQ(reserved(p).size(), 1U);
  EXPECT_EQ(p.result.repeated_steps, 0U);
}

// CA-55: the timeout ends the admission of the Option as well, so that the Parent is not shown the same admission again
TEST(KnownDefects, AfterATimeoutTheParentIsNotAdmittedAgainByTheSameOption) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}});
  s.configure(configuration(R"("waitForPodsReady": {"timeout": "60s", "requeuingStrategy": {"backoffBaseSeconds": 3600}})"));
  s.job("j").at(1).patch("Job", "j", "{status: {startTime: '2026-01-01T00:00:00Z', active: 1, ready: 0, conditions: null}}", true).at(70);
  s.stops("j").at(71).at(1000);
  const auto p = s.play();
  for (const int at : {71, 1000}) {
    EXPECT_EQ(p.at(at).row("j"), "P/P");
    EXPECT_TRUE(p.at(at).suspended("j"));
    EXPECT_EQ(p.at(at).usage(), "");
  }
  EXPECT_EQ(p.count("Job j Started"), 1U);
}

// CA-66: the losers hold quota when they are switched off, in the moment in which the job starts
TEST(KnownDefects, LosersOfARaceDoNotSuspendTheJobOfTheWinner) {
  Story s(remove_other, {{"a", 4}, {"b", 4}, {"c", 4}}, checks("{name: cap}"));
  s.check("cap").job("j").at(10).checked("j", "c", "cap", "Ready").at(11).runs("j").at(60);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).row("j"), "D/D/A");
  EXPECT_EQ(p.count("Job j Started"), 1U);
  EXPECT_EQ(p.count("Job j Stopped"), 0U);
  EXPECT_EQ(p.at(60).condition(p.at(60).parent("j"), "Evicted"), "");
}

// CA-98: a Workload that may be assigned one flavor, has to borrow it, and lost it to somebody else in the same cycle
TEST(KnownDefects, TheScanDoesNotGoOnBehindTheOnlyAllowedFlavor) {
  Story s("", {{"f0", 0}, {"f1", 0}, {"f2", 0}});
  const std::string more = "cohortName: all, stopPolicy: Hold, flavorFungibility: {whenCanBorrow: TryNextFlavor}";
  for (const char* q : {"cq", "rival"}) s.queue(q, "", {group({{"f0", 0}, {"f1", 0}, {"f2", 0}})}, more);
  s.queue("lender", "", {group({{"f1", 4}})}, "cohortName: all").local_queue("lq-rival", "rival");
  const char* only = "admissionConstraints: {allowedResourceFlavors: [f1]}";
  s.in("lq-rival").bare("first", 1, "4", only).at(1).in("lq").bare("second", 1, "4", only).at(10);
  s.patch("ClusterQueue", "cq", "{spec: {stopPolicy: None}}").patch("ClusterQueue", "rival", "{spec: {stopPolicy: None}}").at(11);
  s.at(20).remove("Workload", "first").at(21);
  const auto p = s.play();
  EXPECT_EQ(p.at(11).usage("rival"), "f1 4");
  EXPECT_EQ(p.at(11).verdict(p.at(11).object("Workload", "second"), "QuotaReserved"), "False/WaitingForQuota") << "not NoMatchingFlavor";
  EXPECT_EQ(p.at(21).usage(), "f1 4");
}

// CA-72: the better Options of the later families have no verdict of their own, because a record of the first one speaks for them
TEST(KnownDefects, AnOptionThatIsParkedByAnotherOnesVerdictDoesNotBlockTheRightToPreempt) {
  Story s(remove_other, {{"big", 0}, {"a", 3}}, preempts);
  s.priority_class("mid", 100);
  for (int i = 0; i < 3; ++i) {
    s.priority_class("p" + std::to_string(i), -20 + i);
    s.pinned("v" + std::to_string(i), "a", "1", "kueue.x-k8s.io/priority-class: p" + std::to_string(i));
  }
  s.at(1).runs("v0").runs("v1").runs("v2").at(10);
  for (int i = 0; i < 3; ++i) s.job("j" + std::to_string(i), "1", mid);
  for (int i = 0; i < 3; ++i) s.at(20 + 10 * i).stops("v" + std::to_string(i));
  s.at(50);
  const auto p = s.play();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(p.at(50).row("j" + std::to_string(i)), "D/A") << i;
  expect_sound(p);
}

// 8691 §2.7: a Parent whose name has no dash to cut it at
TEST(KnownDefects, AWorkloadNameWithoutADashIsNotTheEndOfTheProcess) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}});
  s.bare("w").bare("x.y");
  const auto p = s.play();
  EXPECT_EQ(p.end().options("w"), (Lines{"w-option-od", "w-option-res"}));
  EXPECT_EQ(p.end().options("x.y"), (Lines{"x.y-option-od", "x.y-option-res"}));
  EXPECT_EQ(p.end().row("w"), "P/A");
}

// CA-48: the Option that a migration evicted says Requeued=False until somebody makes it True
TEST(KnownDefects, TheVictimOfAMigrationIsRequeued) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}});
  s.job("j").at(1).runs("j").at(10).quota({{"res", 4}, {"od", 4}}).at(15).stops("j").at(16).runs("j");
  s.at(20).patch_parent("j", "{spec: {active: false}}").at(25).stops("j").at(26).quota({{"res", 0}, {"od", 4}});
  s.patch_parent("j", "{spec: {active: true}}").at(27);
  const auto p = s.play();
  EXPECT_EQ(p.at(16).row("j"), "A/D");
  EXPECT_EQ(p.at(27).row("j"), "P/A");
  EXPECT_NE(p.at(27).verdict(p.at(27).option("j", "od"), "Requeued").substr(0, 5), "False");
}

// CA-71: the holder of the right has quota and runs its check: it holds the right still
TEST(KnownDefects, TheHolderOfTheRightIsNotForgottenOnceItHasQuota) {
  Story s(remove_lower, {{"a", 1}, {"b", 1}}, std::string(preempts) + ", " + checks("{name: cap, onFlavors: [a]}"));
  s.priority_class("mid", 100).check("cap").pinned("v-a", "a", "1", low).pinned("v-b", "b", "1", low).at(1);
  s.checked("v-a", "a", "cap", "Ready").at(2).runs("v-a").runs("v-b").at(10).job("j", "1", mid).at(15).stops("v-a").at(16).at(4000);
  const auto p = s.play();
  for (const int at : {16, 4000}) {
    EXPECT_EQ(p.at(at).row("j"), "R/P");
    EXPECT_EQ(p.at(at).gate(p.at(at).option("j", "a")), "Open");
    EXPECT_EQ(p.at(at).gate(p.at(at).option("j", "b")), "Closed");
  }
  EXPECT_FALSE(p.at(4000).suspended("v-b"));
}

// CA-45: the job goes on while the checks of the better flavor run
TEST(KnownDefects, TheJobDoesNotIdleThroughTheChecksOfABetterFlavor) {
  Story s(remove_lower, {{"res", 4}, {"od", 4}}, checks("{name: cap, onFlavors: [res]}"));
  s.check("cap").job("j").at(1).runs("j").at(7200);
  const auto p = s.play();
  EXPECT_EQ(p.at(7200).row("j"), "R/A");
  EXPECT_FALSE(p.at(7200).suspended("j"));
  EXPECT_EQ(p.count("Job j Stopped"), 0U);
}

// CA-103: three jobs wait on four flavors
TEST(KnownDefects, PendingJobsAreNotCountedOncePerFlavor) {
  Story s(remove_lower, {{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}});
  s.job("j").job("k").job("l").at(10);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).counters(), "pending 3, reserving 0, admitted 0");
  EXPECT_EQ(p.at(10).counters("lq", "LocalQueue"), "pending 3, reserving 0, admitted 0");
  int pending = 0;
  for (const auto& line : lines_with(metrics_of(p), {"kueue_pending_workloads{", "cluster_queue=\"cq\""}))
    pending += std::stoi(line.substr(line.rfind(' ') + 1));
  EXPECT_EQ(pending, 3);
}

// 8691 §6, the last line: what is borrowed is taken back again and again. SHOULD: the family moves there less and less often.
TEST(KnownDefects, AJobDoesNotMoveToAndFroBetweenWhatItBorrowsAndWhatIsReclaimed) {
  Story s("", {{"res", 0}, {"od", 4}});
  s.queue("cq", remove_lower, {group({{"res", 0}, {"od", 4}})}, "cohortName: all");
  s.queue("owner", "", {group({{"res", 4}})}, "cohortName: all, preemption: {reclaimWithinCohort: Any}").local_queue("lq-owner", "owner");
  s.job("j").at(1);
  for (int i = 0; i < 20; ++i) {
    const std::string name = "k" + std::to_string(i);
    s.at(10 + 20 * i).in("lq-owner").job(name).at(20 + 20 * i).finish(name);
  }
  const auto p = s.play();
  EXPECT_LE(decided<MigrationStarted>(p), 6U) << "in 400 seconds, with pauses of 60, 120 and 240 seconds";
}

}  // namespace
}  // namespace hindsight::simulation
