// Families and the log: what is recorded, what follows from it again, and how much is written (8691 §3.11, §5).

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "admission/state/snapshot.hpp"
#include "admission/state/state_walk.hpp"
#include "tests/simulation/mortal_plane.hpp"
#include "tests/simulation/options_story.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* high = "kueue.x-k8s.io/priority-class: high";

/// A family that is made, waits for a delay, runs a check, preempts, moves, is preempted and is dissolved.
Story eventful() {
  Story s("", {{"res", 0}, {"od", 4}, {"spot", 0}});
  s.queue("cq",
          "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [{name: res, allowedResourceFlavors: [res]}, {name: od, "
          "allowedResourceFlavors: [od]}, {name: spot, createDelaySeconds: 50, allowedResourceFlavors: [spot]}]}",
          {group({{"res", 0}, {"od", 4}, {"spot", 0}})},
          "preemption: {withinClusterQueue: LowerPriority}, admissionChecksStrategy: {admissionChecks: [{name: cap, onFlavors: [od]}]}");
  s.check("cap").pinned("victim", "od", "4", "kueue.x-k8s.io/priority-class: low").at(1);
  s.checked("victim", "od", "cap", "Ready").at(2).runs("victim").at(5).job("j").at(10).stops("victim").at(60);
  s.checked("j", "od", "cap", "Ready").at(61).runs("j").at(100).quota({{"res", 4}, {"od", 4}, {"spot", 0}}).at(105).stops("j");
  s.at(106).runs("j").at(200).pinned("h", "res", "4", high).at(205).stops("j").at(210).at(300).policy("concurrentAdmission: null").at(301);
  return s;
}

// CA-130: each transition is a record that names its family, and the log folds to the same state from its beginning and from every snapshot
TEST(LogRules, EveryTransitionIsRecordedAndFollowsAgain) {
  const auto p = eventful().play();
  ASSERT_EQ(p.at(61).row("j"), "P/A/D");
  ASSERT_EQ(p.at(106).row("j"), "A/D/D");
  ASSERT_EQ(p.at(301).options("j"), Lines{});
  EXPECT_GE(decided<FamilyFormed>(p), 2U);
  EXPECT_GE(decided<OptionRequested>(p), 6U);
  EXPECT_GE(decided<OptionSwitched>(p), 2U);
  EXPECT_GE(decided<PreemptionGateChanged>(p), 2U);
  EXPECT_GE(decided<QuotaReserved>(p), 3U);
  EXPECT_GE(decided<OptionAdmitted>(p), 2U);
  EXPECT_EQ(decided<MigrationStarted>(p), 1U);
  EXPECT_GE(decided<FamilyReset>(p), 1U);
  EXPECT_GE(decided<FamilyDissolved>(p), 1U);
  std::size_t fired = 0;
  std::vector<std::vector<std::byte>> snapshots;

  admission::LoopDriver driver(&events::read_settings);
  each_record(*p.log, [&](const RecordView& record) {
    ASSERT_TRUE(driver.apply(record).has_value());
    const auto* o = std::get_if<Observation>(&record.body);
    fired += o != nullptr && std::holds_alternative<TimerFired>(*o) ? 1 : 0;
    snapshots.push_back(admission::SnapshotCodec::write(driver));
  });
  EXPECT_GE(fired, 1U) << "a delay";
  const std::uint64_t wanted = driver.state_hash();
  const std::uint64_t whole = admission::whole_hash(driver.entities());
  EXPECT_EQ(wanted, p.result.state_hash);
  for (std::size_t from = 0; from < snapshots.size(); from += 7) {
    admission::LoopDriver later(&events::read_settings);
    ASSERT_TRUE(admission::SnapshotCodec::read(snapshots[from], later).has_value()) << from;
    std::size_t index = 0;
    each_record(*p.log, [&](const RecordView& record) {
      if (index++ <= from) return;
      ASSERT_TRUE(later.apply(record).has_value()) << from;
    });
    EXPECT_EQ(later.state_hash(), wanted) << "from the snapshot after record " << from;
    EXPECT_EQ(admission::whole_hash(later.entities()), whole) << "every field, from the snapshot after record " << from;
  }
  expect_sound(p);
}

// CA-130, BA-154: an Option that was tried in vain shows that it is active, is tried once more with the same outcome, and rests; no record
// tells of that. What another tree decides next must not depend on it
TEST(LogRules, WhoRestsDoesNotShowInTheNextCycle) {
  Story s(remove_other, {{"res", 4}, {"od", 4}}, "preemption: {withinClusterQueue: LowerPriority}");
  s.queue("other", "", {group({{"res", 8}})}).local_queue("beside", "other");
  s.pinned("h", "res", "4", high).at(1).runs("h").at(2).job("j").at(3).runs("j").at(10).policy(remove_lower).at(20);
  for (const int second : {20, 21, 30})
    s.at(second).apply(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: k-" + std::to_string(second) +
        ", namespace: default, labels: {kueue.x-k8s.io/queue-name: beside}}, spec: {suspend: true, template: {spec: {restartPolicy: "
        "Never, containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}}}");
  const auto p = s.at(40).play();
  EXPECT_EQ(p.at(3).row("j"), "D/A");
  EXPECT_EQ(p.at(20).row("j"), "P/A");
  EXPECT_GE(decided<EntryRequeued>(p), 1U);
  EXPECT_EQ(p.at(40).reserved("other"), (Quotas{{"res", 3}}));
  expect_sound(p);
}

// CA-131: at no record are two siblings admitted, and at none is quota lost or counted twice: what the queue is charged at each of them
TEST(LogRules, NoRecordShowsHalfAMove) {
  Story s(remove_lower, {{"res", 0}, {"od", 0}, {"spot", 4}});
  s.job("j").at(1).runs("j").at(100).quota({{"res", 0}, {"od", 4}, {"spot", 4}}).at(105).stops("j").at(106).runs("j");
  s.at(200).policy("concurrentAdmission: null").at(300).policy(remove_lower).at(301);
  std::set<std::string> admitted_at_once;
  s.on_start = [&](connectors::simulated::SimulatedCluster& cluster) {
    cluster.observe([&](const connectors::simulated::ObjectChange& change) {
      if (change.object->kind->type->kind != "Workload") return;
      std::string now;
      const Moment m(cluster);
      for (const auto& name : m.options("j"))
        if (m.verdict(m.option("j", name.substr(9)), "Admitted").substr(0, 4) == "True" &&
            m.verdict(m.option("j", name.substr(9)), "Finished").empty())
          now += (now.empty() ? "" : "+") + name.substr(9);
      admitted_at_once.insert(now);
    });
  };
  const auto p = s.play();
  EXPECT_EQ(admitted_at_once, (std::set<std::string>{"", "spot", "od"})) << "in the cluster, at every change";
  EXPECT_EQ(p.charged_between(0, 1000), (Lines{"", "spot 4", "od 4, spot 4", "od 4"}));
  EXPECT_EQ(p.at(301).row("j"), "P/A/D");
  EXPECT_EQ(p.count("Job j Stopped"), 1U);
  expect_sound(p);
}

// CA-132: a process that folds the log, and is shown again all that it knows, changes no object
TEST(LogRules, AReplayWritesNothing) {
  Story s = eventful();
  for (std::size_t step = 1; step < 15; ++step) {
    MortalPlane plane(s.scenario(), s.configuration(), {.step = step});
    Lines changed;
    bool reborn = false, decides = false;  // what was due meanwhile is something new
    plane.on_record = [&](const RecordView& record) { decides = decides || (reborn && std::holds_alternative<Decisions>(record.body)); };
    plane.on_death = [&] { reborn = true; };
    plane.cluster().observe([&](const connectors::simulated::ObjectChange& change) {
      // It is back a microsecond before the next step, so that nothing of what changes then is the story's.
      const bool between = plane.cluster().now().micros % 1'000'000 == 999'999;
      const auto& kind = change.object->kind->type->kind;
      if (reborn && !decides && between && (kind == "Workload" || kind == "Job"))
        changed.push_back(std::string(kind) + " " + change.object->name);
    });
    plane.play();
    EXPECT_TRUE(plane.died()) << step;
    EXPECT_EQ(changed, Lines{}) << "killed after step " << step;
    EXPECT_EQ(plane.notices, Lines{}) << step;
    EXPECT_EQ(Moment(plane.cluster()).options("j"), Lines{}) << step;
  }
}

// CA-132, CA-133: killed after any step and back before the next one, which shows it every object once more, in the order of names: the
// story ends in the same way
TEST(LogRules, WhatIsToldTwiceChangesNothing) {
  Story s = eventful();
  MortalPlane whole(s.scenario(), s.configuration());
  whole.play();
  for (std::size_t step = 1; step < 16; ++step) {
    MortalPlane plane(s.scenario(), s.configuration(), {.step = step});
    plane.play();
    for (const char* event : {"Job j Started", "Job j Stopped", "Job victim Stopped", "Job h Started"})
      EXPECT_EQ(plane.count(event), whole.count(event)) << "killed after step " << step << ": " << event;
    EXPECT_EQ(Moment(plane.cluster()).usage(), Moment(whole.cluster()).usage()) << step;
    EXPECT_EQ(Moment(plane.cluster()).row("h"), Moment(whole.cluster()).row("h")) << step;
  }
}

// CA-152: from the creation of a job to its admission without checks its Options are written at most twice each beside their creation, and
// its Parent three times, with its markers; there are no other objects than these
TEST(LogRules, FewWritesMakeAFamily) {
  Story s(remove_lower, {{"res", 0}, {"od", 0}, {"spot", 100}});
  s.at(1).job("a").at(2).job("b").at(10);
  MortalPlane plane(s.scenario(), s.configuration());
  std::map<std::string, int> writes;
  std::set<std::string> admitted;
  plane.cluster().observe([&](const connectors::simulated::ObjectChange& change) {
    if (change.object->kind->type->kind != "Workload" || change.type != connectors::WatchEvent::Type::modified) return;
    const std::string& name = change.object->name;
    if (admitted.contains(name)) return;
    ++writes[name];
    const Moment m(plane.cluster());
    if (m.verdict(m.object("Workload", name), "Admitted") == "True/Admitted") admitted.insert(name);
  });
  plane.play();
  const Moment m(plane.cluster());
  EXPECT_EQ(m.row("a") + " " + m.row("b"), "P/P/A P/P/A");
  EXPECT_EQ(m.all("Workload").size(), 8U) << "four for each job";
  EXPECT_EQ(writes.size(), 8U);
  for (const auto& [name, count] : writes) EXPECT_LE(count, name.find("-option-") == std::string::npos ? 3 : 2) << m.plain(name);
}

}  // namespace
}  // namespace hindsight::simulation
