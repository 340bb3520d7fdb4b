// The worked examples of 8691 §4 from E9 on, each with all that its rows say.

#include <set>

#include <gtest/gtest.h>

#include "tests/simulation/mortal_plane.hpp"
#include "tests/simulation/options_story.hpp"

namespace hindsight::simulation {
namespace {

/// E9: both flavors are full of low-priority work, and "j" comes at 10.
Story two_victims(bool with_check) {
  Story s(remove_other, {{"res", 1}, {"spot", 1}},
          std::string("preemption: {withinClusterQueue: LowerPriority}") +
              (with_check ? ", admissionChecksStrategy: {admissionChecks: [{name: slow, onFlavors: [res]}]}" : ""));
  s.priority_class("mid", 100);
  if (with_check) s.check("slow");
  s.pinned("vr", "res", "1", "kueue.x-k8s.io/priority-class: low").pinned("vs", "spot", "1", "kueue.x-k8s.io/priority-class: low").at(1);
  if (with_check) s.checked("vr", "res", "slow", "Ready");
  s.at(2).runs("vr").runs("vs").at(10).job("j", "1", "kueue.x-k8s.io/priority-class: mid");
  return s;
}

// CA-70, CA-71, CA-72, CA-73
TEST(OptionExamples, E9OnlyOneOfAFamilyPreempts) {
  constexpr const char* gated = "Workload requires preemption, but it's gated";
  for (const bool becomes_ready : {true, false}) {
    Story s = two_victims(true);
    s.at(15).stops("vr").remove("Job", "vr").at(3614).at(3615);
    if (becomes_ready)
      s.checked("j", "res", "slow", "Ready");
    else
      s.finish("vs");
    s.at(3620);
    const auto p = s.play();
    EXPECT_EQ(p.at(2).usage(), "res 1, spot 1");
    // 1, 2: both are blocked, and then res alone gets the right
    EXPECT_EQ(
        p.told("PreemptionUngatedVariant"),
        Lines{"Workload j-option-res PreemptionUngatedVariant: Opened preemption gate for variant workload \"default/j-option-res\""});
    Lines blocked;
    each_record(*p.log, [&](const RecordView& record) {
      if (const auto* d = std::get_if<Decisions>(&record.body))
        for (const Event& e : d->events) {
          if (const auto* r = std::get_if<EntryRequeued>(&e); r != nullptr && r->message == gated)
            blocked.push_back(p.end().plain(std::string(r->workload.name)) + " " + std::string(r->reason));
          if (std::holds_alternative<PreemptionGateChanged>(e)) blocked.emplace_back("gate");
        }
    });
    ASSERT_GE(blocked.size(), 3U);
    EXPECT_EQ(Lines(blocked.begin(), blocked.begin() + 3), (Lines{"j-option-res AdmissionGated", "j-option-spot AdmissionGated", "gate"}));
    for (const int second : {10, 15, 3614}) {
      const Moment& m = p.at(second);
      EXPECT_EQ(m.condition(m.option("j", "spot"), "BlockedOnPreemptionGates"), std::string("True/PreemptionGated: ") + gated);
      EXPECT_EQ(m.condition(m.option("j", "spot"), "QuotaReserved"), std::string("False/AdmissionGated: ") + gated);
      EXPECT_EQ(m.gate(m.option("j", "spot")), "Closed");
      EXPECT_FALSE(m.suspended("vs")) << "it keeps running, at " << second;
    }
    EXPECT_EQ(p.at(10).gate(p.at(10).option("j", "res")), "Open");
    EXPECT_TRUE(p.at(10).suspended("vr"));
    // 3, 4
    EXPECT_EQ(p.at(15).row("j"), "R/P");
    EXPECT_EQ(p.at(3614).row("j"), "R/P");
    EXPECT_EQ(p.at(3614).usage(), "res 1, spot 1");
    EXPECT_TRUE(p.at(3614).suspended("j"));
    // 5
    EXPECT_EQ(p.at(3620).row("j"), becomes_ready ? "A/D" : "D/A");
    EXPECT_EQ(p.at(3620).usage(), becomes_ready ? "res 1, spot 1" : "spot 1");
    EXPECT_FALSE(p.at(3620).suspended("j"));
    EXPECT_EQ(p.count("Job j Stopped"), 0U);
    EXPECT_EQ(p.count("EvictedDueToPreempted"), 1U);
    expect_sound(p);
  }
}

// CA-74
TEST(OptionExamples, E9TheRightMovesOnAfterFiveMinutes) {
  Story s = two_victims(false);
  s.at(309).at(310).at(315).stops("vs");
  const auto p = s.play();
  EXPECT_EQ(p.at(309).gate(p.at(309).option("j", "res")), "Open");
  EXPECT_EQ(p.at(309).gate(p.at(309).option("j", "spot")), "Closed");
  EXPECT_FALSE(p.at(309).suspended("vs"));
  EXPECT_EQ(p.at(310).gate(p.at(310).option("j", "res")), "Closed");
  EXPECT_EQ(p.at(310).gate(p.at(310).option("j", "spot")), "Open");
  EXPECT_TRUE(p.at(310).suspended("vs"));
  EXPECT_EQ(p.at(315).row("j"), "D/A");
  EXPECT_EQ(p.count("PreemptionUngatedVariant"), 2U);
  expect_sound(p);
}

// CA-7, CA-72: for five seconds the better Option cannot be made; the other one does not get the right in its place
TEST(OptionExamples, E9NobodyPreemptsBeforeABetterOneWasLookedAt) {
  Story s = two_victims(false);
  s.at(14).at(16).patch("Job", "j", "{metadata: {labels: {seen: again}}}").at(60);  // the connector tries again
  MortalPlane plane(s.scenario(), s.configuration());
  int refusals = 0;
  plane.on_write = [&](const connectors::Write& write, Time now) -> std::optional<connectors::WriteAnswer> {
    const bool res = write.verb == connectors::Write::Verb::create && write.body.find("-option-res\"") != std::string::npos;
    if (!res || now < connectors::simulated::virtual_start + Duration::seconds(10) ||
        now > connectors::simulated::virtual_start + Duration::seconds(15))
      return std::nullopt;
    ++refusals;
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
  EXPECT_GT(refusals, 1);
  EXPECT_EQ(opened, Lines{"j-option-res"});
  const Moment m(plane.cluster());
  EXPECT_EQ(m.options("j"), (Lines{"j-option-res", "j-option-spot"}));
  EXPECT_FALSE(m.suspended("vs"));
}

// CA-33, CA-34, CA-36, CA-38
TEST(OptionExamples, E10FamiliesStandInLineAsBlocks) {
  for (int shift = 0; shift < 6; ++shift) {  // other uids each time
    const auto begin = [&](int quota) {
      Story s(remove_lower, {{"res", quota}, {"spot", quota}}, "stopPolicy: Hold");
      for (int i = 0; i < shift; ++i) s.local_queue("other-" + std::to_string(i), "cq");
      return s;
    };
    const auto let_go = [](Story& s) { s.at(3).patch("ClusterQueue", "cq", "{spec: {stopPolicy: None}}"); };

    Story nothing_fits = begin(0);
    nothing_fits.job("f1").at(1).job("f2", "5");
    let_go(nothing_fits);
    EXPECT_EQ(looked_at(nothing_fits.play(), 3), (Lines{"f1-option-res", "f1-option-spot", "f2-option-res", "f2-option-spot"}));

    Story s = begin(4);
    s.job("f1").at(1).job("f2");
    let_go(s);
    s.at(4).runs("f1").runs("f2").at(100).finish("f1").at(105).stops("f2");
    const auto p = s.play();
    EXPECT_EQ(p.at(3).row("f1"), "A/D");
    EXPECT_EQ(p.at(3).row("f2"), "P/A");
    EXPECT_EQ(p.at(3).usage(), "res 4, spot 4");
    EXPECT_EQ(p.count("f1-option-spot QuotaReserved"), 0U);
    EXPECT_EQ(p.at(100).row("f1"), "F/F");
    EXPECT_EQ(p.at(105).row("f2"), "A/D");
    EXPECT_EQ(p.at(105).usage(), "res 4");
    expect_sound(p);

    Story third = begin(0);
    third.job("f1").at(1).job("f2", "5").at(2).job("f3", "1", "kueue.x-k8s.io/priority-class: high");
    let_go(third);
    EXPECT_EQ(looked_at(third.play(), 3),
              (Lines{"f3-option-res", "f3-option-spot", "f1-option-res", "f1-option-spot", "f2-option-res", "f2-option-spot"}));
  }
}

// CA-114, CA-115, CA-116
TEST(OptionExamples, E11FlavorsComeAndGoAndChangePlaces) {
  for (const char* policy : {remove_lower, try_preferred}) {
    Story s(policy, {{"res", 5}, {"spot", 0}});
    s.flavor("od").job("j", "1").at(1).runs("j").at(100).quota({{"spot", 5}}).at(104).at(105).stops("j").at(106).runs("j");
    s.at(200).quota({{"od", 0}, {"spot", 5}}).at(300).quota({{"spot", 5}, {"od", 0}});
    const auto p = s.play();
    EXPECT_EQ(p.at(0).row("j"), "A/D");
    for (const int second : {100, 104}) {
      EXPECT_EQ(p.at(second).verdict(p.at(second).parent("j"), "Evicted").substr(0, 4), "True");
      EXPECT_TRUE(p.at(second).suspended("j"));
      EXPECT_FALSE(p.at(second).option("j", "res").is_null()) << "only after the job stopped";
      EXPECT_EQ(p.at(second).held("cq"), (std::map<std::string, int>{{"res", 1}}));
    }
    const Moment& gone = p.at(105);
    EXPECT_TRUE(gone.option("j", "res").is_null());
    EXPECT_EQ(
        p.told(" DeletedVariant"),
        Lines{"Workload j DeletedVariant: Variant Workload \"default/j-option-res\" deleted; flavor \"res\" no longer in ClusterQueue"});
    EXPECT_EQ(gone.row("j"), "A");
    EXPECT_EQ(gone.usage(), "spot 1");
    EXPECT_EQ(gone.condition(gone.parent("j"), "Admitted"), "True/Admitted: The variant j-option-spot is admitted");
    EXPECT_EQ(p.at(200).row("j"), "P/A");
    EXPECT_EQ(p.at(300).row("j"), "A/D");
    EXPECT_EQ(p.at(300).usage(), "spot 1");
    EXPECT_EQ(p.count("Job j Stopped"), 1U) << "by the removal alone";
    EXPECT_EQ(p.count("Evicted", 106), 0U);
    expect_sound(p);
  }
}

// CA-45, CA-46, CA-84
TEST(OptionExamples, E12ABetterOneRunsItsChecksWhileTheJobRuns) {
  for (const bool rejected : {false, true}) {
    Story s(remove_lower, {{"res", 4}, {"od", 4}}, "admissionChecksStrategy: {admissionChecks: [{name: cap, onFlavors: [res]}]}");
    s.check("cap").job("j").at(1).runs("j").at(599).at(600).checked("j", "res", "cap", rejected ? "Rejected" : "Ready").at(604);
    if (!rejected) s.at(605).stops("j");
    s.at(610);
    const auto p = s.play();
    for (const int second : {0, 599}) {
      EXPECT_EQ(p.at(second).row("j"), "R/A");
      EXPECT_EQ(p.at(second).usage(), "res 4, od 4");
      EXPECT_FALSE(p.at(second).suspended("j"));
      EXPECT_EQ(p.at(second).counters(), "pending 0, reserving 1, admitted 1");
    }
    if (rejected) {
      EXPECT_EQ(p.at(610).row("j"), "D/A");
      EXPECT_EQ(p.at(610).usage(), "od 4");
      EXPECT_FALSE(p.at(610).suspended("j"));
      EXPECT_EQ(p.count("Job j Stopped"), 0U);
      EXPECT_EQ(p.at(610).condition(p.at(610).parent("j"), "Evicted"), "");
    } else {
      EXPECT_EQ(p.at(600).row("j"), "R/A");
      EXPECT_EQ(p.at(600).verdict(p.at(600).option("j", "od"), "Evicted"), "True/FlavorMigration");
      EXPECT_EQ(p.at(600).verdict(p.at(600).option("j", "res"), "Admitted").substr(0, 5), "False") << "that waits for the stop";
      EXPECT_TRUE(p.at(600).suspended("j"));
      EXPECT_EQ(p.at(604).usage(), "res 4, od 4");
      EXPECT_EQ(p.at(605).row("j"), "A/D");
      EXPECT_EQ(p.at(605).usage(), "res 4");
      EXPECT_EQ(p.at(605).condition(p.at(605).parent("j"), "Admitted"), "True/Admitted: The variant j-option-res is admitted");
    }
    expect_sound(p);
  }
}

// CA-46, CA-92
TEST(OptionExamples, E12AFamilyCountsOnceInTheShare) {
  Story s("", {{"res", 0}, {"od", 4}});
  s.configure(R"({"featureGates": {"ConcurrentAdmission": true}, "fairSharing": {}})").check("cap");
  s.queue("cq", remove_lower, {group({{"res", 0}, {"od", 4}})},
          "cohortName: all, admissionChecksStrategy: {admissionChecks: [{name: cap, onFlavors: [res]}]}");
  s.queue("lender", "", {group({{"res", 4}, {"od", 4}})}, "cohortName: all");
  s.job("j").at(1).runs("j").at(600).checked("j", "res", "cap", "Ready").at(605).stops("j");
  const auto p = s.play();
  const auto share = [](const Moment& m) { return m.object("ClusterQueue", "cq")["status"]["fairSharing"]["weightedShare"]; };
  EXPECT_EQ(p.at(0).row("j"), "R/A");
  EXPECT_EQ(p.at(0).usage(), "res 4, od 4");
  EXPECT_EQ(share(p.at(0)), 0) << "od borrows nothing";
  EXPECT_EQ(p.at(605).row("j"), "A/D");
  EXPECT_EQ(share(p.at(605)), 334) << "4 of 12 in thousandths, rounded up where it is shown (BA-119)";
  expect_sound(p);
}

// CA-26, CA-50: a user activates an Option that the policy leaves out, so that it stands there while another one is admitted
TEST(OptionExamples, E13TheSchedulerItselfLeavesOutWhatMayNotBeAdmitted) {
  Story s(remove_lower, {{"res", 4}, {"spot", 4}});
  s.job("j").at(1).runs("j").at(10).patch_option("j", "spot", "{spec: {active: true}}");
  const auto p = s.play();
  EXPECT_EQ(p.at(0).row("j"), "A/D");
  EXPECT_EQ(p.at(10).row("j"), "A/D");
  EXPECT_EQ(p.count("j-option-spot QuotaReserved"), 0U);
  EXPECT_EQ(p.at(10).usage(), "res 4");
  expect_sound(p);

  Story target(down_to("res"), {{"res", 0}, {"od", 4}, {"spot", 4}}, "cohortName: all");
  target.queue("other", "", {group({{"res", 0}, {"od", 0}, {"spot", 0}})}, "cohortName: all").local_queue("lq-other", "other");
  target.quota({{"res", 0}, {"od", 0}, {"spot", 4}}).job("j").at(1).runs("j").at(10).quota({{"res", 0}, {"od", 4}, {"spot", 4}});
  target.patch_option("j", "od", "{spec: {active: true}}")
      .apply(
          "{apiVersion: batch/v1, kind: Job, metadata: {name: later, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq-other}}, "
          "spec: {suspend: true, parallelism: 1, completions: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, "
          "resources: {requests: {cpu: '4'}}}]}}}}");
  const auto q = target.play();
  EXPECT_EQ(q.at(0).row("j"), "P/D/A");
  EXPECT_EQ(q.at(10).row("j"), "P/D/A");
  EXPECT_EQ(q.count("j-option-od QuotaReserved"), 0U);
  EXPECT_EQ(q.at(10).usage(), "spot 4");
  EXPECT_EQ(q.at(10).usage("other"), "od 4") << "it is not kept from others";
  expect_sound(q);
}

// CA-110, CA-111, CA-113
TEST(OptionExamples, E14OffAndOnAndFinishedAndDeleted) {
  for (const char* last : {"Job", "Workload"}) {
    Story s(remove_lower, {{"res", 0}, {"od", 0}, {"spot", 8}});
    s.job("j").at(1).runs("j").at(10).patch_parent("j", "{spec: {active: false}}").at(15).stops("j");
    s.at(20).patch_parent("j", "{spec: {active: true}}").at(21).runs("j").at(100).finish("j").at(200);
    s.remove(last, std::string(last) == "Job" ? "j" : s.name_of("j"));
    s.at(300);
    const auto p = s.play();
    EXPECT_EQ(p.at(10).verdict(p.at(10).option("j", "spot"), "Evicted"), "True/Deactivated");
    EXPECT_TRUE(p.at(10).suspended("j"));
    EXPECT_EQ(p.at(15).row("j"), "D/D/D");
    EXPECT_EQ(p.at(15).usage(), "");
    EXPECT_EQ(
        p.told("j-option-res DeactivatedVariant", 10, 15),
        Lines{"Workload j-option-res DeactivatedVariant: Variant Workload deactivated due to Parent Workload \"default/j\" not active"});
    EXPECT_EQ(p.at(20).row("j"), "P/P/A");
    EXPECT_EQ(p.at(20).usage(), "spot 4");
    EXPECT_EQ(p.at(100).row("j"), "F/F/F");
    EXPECT_EQ(p.at(100).usage(), "");
    const std::string why = p.at(100).condition(p.at(100).parent("j"), "Finished");
    EXPECT_EQ(why.substr(0, 5), "True/");
    for (const char* option : {"res", "od", "spot"}) EXPECT_EQ(p.at(100).condition(p.at(100).option("j", option), "Finished"), why);
    EXPECT_EQ(p.end().all("Workload").size(), 0U);
    EXPECT_EQ(p.end().usage(), "");
    EXPECT_FALSE(p.result.engine->driver().domain().next_due().is_set()) << "no timers";
    expect_sound(p);
  }
}

// CA-131, CA-132, CA-133
TEST(OptionExamples, E15AMigrationSurvivesEveryCrash) {
  Story s = first_migration(remove_lower);
  MortalPlane whole(s.scenario(), s.configuration());
  std::uint64_t from = 0;
  std::set<std::string> stages;
  whole.on_record = [&](const RecordView& record) {
    if (const auto* d = std::get_if<Decisions>(&record.body))
      for (const Event& e : d->events) {
        if (std::holds_alternative<MigrationStarted>(e)) from = whole.records() - 1;
        if (from == 0) continue;
        if (const auto* x = std::get_if<WorkloadEvicted>(&e)) stages.insert("evicted " + std::string(x->reason));
        if (std::holds_alternative<ReservationCleared>(e)) stages.insert("released");
        if (std::holds_alternative<QuotaReserved>(e)) stages.insert("reserved");
      }
  };
  whole.play();
  ASSERT_GT(from, 0U);
  EXPECT_TRUE(stages.contains("evicted VariantEvicted") && stages.contains("released") && stages.contains("reserved"));
  const Moment wanted(whole.cluster());
  EXPECT_EQ(wanted.row("j"), "P/A/D");
  EXPECT_EQ(wanted.usage(), "od 4");
  for (std::uint64_t record = from; record <= whole.records(); ++record)
    for (const bool after_writes : {false, true}) {
      const std::string when = "killed at record " + std::to_string(record) + (after_writes ? " and its writes" : "");
      MortalPlane plane(s.scenario(), s.configuration(), {record, after_writes});
      Lines conflicts, switched;
      plane.on_record = [&](const RecordView&) {
        if (auto c = family_conflict(plane.driver()); !c.empty()) conflicts.push_back(std::move(c));
      };
      bool suspended = true;
      plane.cluster().observe([&](const connectors::simulated::ObjectChange& change) {
        if (change.object->kind->type->kind != "Job") return;
        if (const bool now = change.object->spec().value("suspend", false); std::exchange(suspended, now) != now)
          switched.emplace_back(now ? "suspend" : "run");
      });
      plane.play();
      const Moment m(plane.cluster());
      EXPECT_EQ(m.row("j"), wanted.row("j")) << when;
      EXPECT_EQ(m.usage(), wanted.usage()) << when;
      EXPECT_EQ(m.held("cq"), wanted.held("cq")) << when;
      EXPECT_EQ(m.condition(m.parent("j"), "Admitted"), "True/Admitted: The variant j-option-od is admitted") << when;
      EXPECT_EQ(switched, (Lines{"run", "suspend", "run"})) << when;
      EXPECT_EQ(conflicts, Lines{}) << when;
      EXPECT_EQ(plane.notices, Lines{}) << when;
      for (const char* event : {"Workload EvictedDueToFlavorMigration", "Job j Started", "Job j Stopped"})
        EXPECT_EQ(plane.count(event), whole.count(event)) << when << ": " << event;
    }
}

// CA-119, CA-120
TEST(OptionExamples, E16TheConfigurationChangesUnderARunningJob) {
  for (const bool lower_at_the_end : {false, true}) {
    Story s(remove_other, {{"res", 0}, {"spot", 4}});
    s.job("j").at(1).runs("j").at(100).policy(remove_lower).at(200).policy("concurrentAdmission: null");
    s.at(300).policy(lower_at_the_end ? remove_lower : remove_other);
    const auto p = s.play();
    EXPECT_EQ(p.at(0).row("j"), "D/A");
    EXPECT_EQ(p.at(100).row("j"), "P/A");
    const Moment& off = p.at(200);
    EXPECT_EQ(off.options("j"), Lines{});
    EXPECT_FALSE(off.parent("j")["metadata"].value("labels", Json::object()).contains("kueue.x-k8s.io/concurrent-admission-parent"));
    EXPECT_FALSE(off.parent("j")["metadata"].value("annotations", Json::object()).contains("kueue.x-k8s.io/parent-option"));
    EXPECT_EQ(off.verdict(off.parent("j"), "Admitted"), "True/Admitted");
    EXPECT_EQ(off.parent("j")["status"]["admission"]["podSetAssignments"][0]["flavors"]["cpu"], "spot");
    EXPECT_EQ(off.usage(), "spot 4");
    EXPECT_EQ(p.at(300).row("j"), lower_at_the_end ? "P/A" : "D/A");
    EXPECT_EQ(p.at(300).usage(), "spot 4");
    EXPECT_EQ(p.charged_between(0, 1000), (Lines{"", "spot 4"})) << "the same at every offset";
    EXPECT_EQ(p.count("Job j Stopped"), 0U);
    EXPECT_EQ(p.count("Job j Started"), 1U);
    EXPECT_EQ(p.count("EvictedDueTo"), 0U);
    EXPECT_FALSE(p.at(300).suspended("j"));
    expect_sound(p);
  }
}

constexpr const char* any_and_best =
    "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: any, allowedResourceFlavors: [res, od]}, {name: best, "
    "allowedResourceFlavors: [res]}]}";

// CA-31, CA-153
TEST(OptionExamples, E17OptionsThatShareAFlavor) {
  Story a(any_and_best, {{"res", 4}, {"od", 4}});
  a.job("j");
  const auto p = a.play();
  EXPECT_EQ(p.at(0).row("j"), "A/D");
  EXPECT_EQ(p.at(0).why("j", "best"), "The workload is admitted");
  EXPECT_EQ(p.at(0).usage(), "res 4");
  expect_sound(p);

  Story b("", {{"res", 4}, {"od", 4}});
  b.queue("cq", any_and_best, {group({{"res", 0}, {"od", 4}})}, "cohortName: all");
  b.queue("busy", "", {group({{"res", 4}, {"od", 0}})}, "cohortName: all").local_queue("lq-busy", "busy");
  b.apply(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: first, namespace: default, labels: {kueue.x-k8s.io/queue-name: lq-busy}}, "
      "spec: {suspend: true, parallelism: 1, completions: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, "
      "resources: {requests: {cpu: '4'}}}]}}}}");
  b.at(1).job("j").at(2).runs("j").at(100).finish("first").at(105).stops("j");
  const auto q = b.play();
  EXPECT_EQ(q.at(1).row("j"), "P/A");
  EXPECT_EQ(q.at(1).usage(), "od 4");
  EXPECT_EQ(q.at(105).row("j"), "A/D");
  EXPECT_EQ(q.at(105).usage(), "res 4");
  expect_sound(q);

  Story c("concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: any, allowedResourceFlavors: [res, od]}]}",
          {{"res", 4}, {"od", 4}});
  c.job("j").at(1).runs("j").at(100).policy(any_and_best).at(200);
  const auto r = c.play();
  EXPECT_EQ(r.at(0).row("j"), "A");
  EXPECT_EQ(r.at(0).usage(), "res 4");
  for (const int second : {100, 200}) {
    EXPECT_EQ(r.at(second).row("j"), "D/A");
    EXPECT_EQ(r.at(second).usage(), "res 4");
    EXPECT_FALSE(r.at(second).suspended("j"));
  }
  EXPECT_EQ(r.count("Job j Stopped"), 0U);
  expect_sound(r);
}

}  // namespace
}  // namespace hindsight::simulation
