// Rank of Options, and families in the queue (8691 §3.3).

#include <set>

#include <gtest/gtest.h>

#include "tests/simulation/mortal_plane.hpp"
#include "tests/simulation/options_story.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* high = "kueue.x-k8s.io/priority-class: high";
constexpr const char* on_hold = "stopPolicy: Hold";

std::string explicit_options(const Lines& options, const std::string& more = "onSuccess: RemoveLower") {
  std::string list;
  for (const auto& o : options) list += (list.empty() ? "" : ", ") + o;
  return "concurrentAdmission: {" + more + ", explicitOptions: [" + list + "]}";
}
std::string option(const std::string& name, const std::string& flavors) {
  return "{name: " + name + ", allowedResourceFlavors: [" + flavors + "]}";
}

/// Options of a Parent by rank.
Lines by_rank(const Moment& m, const std::string& job) {
  Lines out;
  const std::string parent = m.parent(job)["metadata"]["name"];
  for (const auto& o : m.parent(job)["status"]["options"]) out.push_back(o["name"].get<std::string>().substr(parent.size() + 8));
  return out;
}

// CA-31: the ascending lists of positions are compared, a prefix comes first, and among equals the order in which they are written
TEST(OrderRules, RankIsTheOrderOfFlavors) {
  Story s(explicit_options({option("c", "f1"), option("b", "'f2', 'f0'"), option("twin-z", "f0"), option("d", "'f1', 'f0'"),
                            option("twin-a", "f0"), option("e", "'f2', 'f1'"), option("all", "'f2', 'f1', 'f0'")}),
          {{"f0", 0}, {"f1", 0}, {"f2", 0}});
  s.job("j");
  const auto p = s.play();
  EXPECT_EQ(by_rank(p.end(), "j"), (Lines{"twin-z", "twin-a", "d", "all", "b", "c", "e"}));
  EXPECT_EQ(looked_at(p, 0), (Lines{"j-option-twin-z", "j-option-d", "j-option-all", "j-option-b", "j-option-c", "j-option-e"}))
      << "and they are tried in this order; what is said of one twin holds for the other";
}

// CA-31: of several groups the flavors of the first one come first
TEST(OrderRules, GroupsAreConcatenatedForTheRank) {
  Story s("", {{"c0", 10}});
  s.flavor("g0").flavor("g1").flavor("c1").queue(
      "cq", explicit_options({option("late", "'g1', 'c0'"), option("mixed", "'g0', 'c1'"), option("first", "'c0', 'g0'")}),
      {group({{"g0", 0}, {"g1", 0}}, "nvidia.com/gpu"), group({{"c0", 10}, {"c1", 10}})});
  s.job("j", "nvidia.com/gpu: 1, cpu: 1");
  EXPECT_EQ(by_rank(s.play().end(), "j"), (Lines{"first", "mixed", "late"}));
}

// CA-32: the rank of the target is that of the worst explicit Option which has it
TEST(OrderRules, TheTargetIsTheWorstOptionThatHasIt) {
  Story s(explicit_options({option("best", "r"), option("wide", "'r', 's'"), option("second", "s"), option("last", "spot")},
                           "onSuccess: RemoveBelowTarget, removeBelowTargetConfig: {targetResourceFlavor: r}"),
          {{"r", 0}, {"s", 0}, {"spot", 4}});
  s.job("j").at(10).policy("concurrentAdmission: {removeBelowTargetConfig: {targetResourceFlavor: s}}");
  const auto p = s.play();
  EXPECT_EQ(by_rank(p.at(0), "j"), (Lines{"best", "wide", "second", "last"}));
  EXPECT_EQ(p.at(0).row("j"), "P/P/D/A");
  EXPECT_EQ(p.at(10).row("j"), "P/P/P/A") << "second is the worst one that has s";
  expect_sound(p);
}

// CA-33, CA-34: the second Option of the first family is made only when the second family is there; they stand together all the same, and
// no other Workload comes between
TEST(OrderRules, AnOptionThatIsMadeLateStandsBesideItsSibling) {
  for (const std::string late : {"res", "spot"}) {
    Story s(remove_lower, {{"res", 0}, {"spot", 0}}, on_hold);
    s.job("f1").at(2).job("f2", "5").at(4).job("f3", "6").at(20).patch("Job", "f1", "{metadata: {labels: {seen: again}}}");
    s.at(60).patch("ClusterQueue", "cq", "{spec: {stopPolicy: None}}").at(61);
    MortalPlane plane(s.scenario(), s.configuration());
    plane.on_write = [&](const connectors::Write& write, Time now) -> std::optional<connectors::WriteAnswer> {
      if (write.verb != connectors::Write::Verb::create || write.body.find("\"job-f1-") == std::string::npos ||
          write.body.find("-option-" + late + "\"") == std::string::npos ||
          now > connectors::simulated::virtual_start + Duration::seconds(10))
        return std::nullopt;
      return connectors::WriteAnswer{500, R"({"kind":"Status","code":500,"reason":"InternalError","message":"not now"})", 0};
    };
    Lines looked;
    plane.on_record = [&](const RecordView& record) {
      if (const auto* d = std::get_if<Decisions>(&record.body);
          d != nullptr && record.envelope.time >= connectors::simulated::virtual_start + Duration::seconds(60))
        for (const Event& e : d->events)
          if (const auto* r = std::get_if<EntryRequeued>(&e)) {
            const std::string seen = Moment(plane.cluster()).plain(std::string(r->workload.name));
            if (std::find(looked.begin(), looked.end(), seen) == looked.end()) looked.push_back(seen);
          }
    };
    plane.play();
    EXPECT_EQ(looked, (Lines{"f1-option-res", "f1-option-spot", "f2-option-res", "f2-option-spot", "f3-option-res", "f3-option-spot"}))
        << late;
  }
}

// CA-33, CA-34: there is room on both flavors, and the better Option cannot be made for ten seconds: the other one does not go before it
TEST(OrderRules, TheBetterOptionComesFirstAlsoWhenItIsMadeLast) {
  Story s(remove_lower, {{"res", 4}, {"spot", 4}});
  s.job("j").at(5).at(15).patch("Job", "j", "{metadata: {labels: {seen: again}}}").at(60);
  MortalPlane plane(s.scenario(), s.configuration());
  plane.on_write = [&](const connectors::Write& write, Time now) -> std::optional<connectors::WriteAnswer> {
    if (write.verb != connectors::Write::Verb::create || write.body.find("-option-res\"") == std::string::npos ||
        now > connectors::simulated::virtual_start + Duration::seconds(10))
      return std::nullopt;
    return connectors::WriteAnswer{500, R"({"kind":"Status","code":500,"reason":"InternalError","message":"not now"})", 0};
  };
  Lines reserved;
  plane.on_record = [&](const RecordView& record) {
    if (const auto* d = std::get_if<Decisions>(&record.body))
      for (const Event& e : d->events)
        if (const auto* q = std::get_if<QuotaReserved>(&e))
          reserved.push_back(Moment(plane.cluster()).plain(std::string(q->workload.name)));
  };
  plane.play();
  EXPECT_EQ(reserved, Lines{"j-option-res"});
  EXPECT_EQ(Moment(plane.cluster()).row("j"), "A/D");
}

// CA-34: a family whose pods did not get ready in time goes to the end of the queue as a whole
TEST(OrderRules, AFamilyThatWasPutBackIsPutBackAsAWhole) {
  Story s(remove_lower, {{"res", 4}, {"spot", 0}});
  s.configure(
      R"({"featureGates": {"ConcurrentAdmission": true}, "waitForPodsReady": {"timeout": "100s", "requeuingStrategy": {"timestamp": "Eviction", "backoffBaseSeconds": 1}}})");
  s.job("f1").at(50).job("f2", "5").at(90).patch("ClusterQueue", "cq", "{spec: {stopPolicy: Hold}}").at(110);
  s.at(150).quota({{"res", 0}, {"spot", 0}}).patch("ClusterQueue", "cq", "{spec: {stopPolicy: None}}").at(151);
  const auto p = s.play();
  EXPECT_EQ(p.at(50).row("f1"), "A/D");
  EXPECT_EQ(p.at(110).row("f1"), "P/P") << "its pods were not ready in time";
  EXPECT_EQ(looked_at(p, 150), (Lines{"f2-option-res", "f2-option-spot", "f1-option-res", "f1-option-spot"}));
}

// CA-35: an Option that has preempted stays first although others are older; its siblings keep their place (docs/deviations.md)
TEST(OrderRules, AnOptionThatPreemptedStaysAtTheHead) {
  Story s(remove_lower, {{"res", 4}, {"spot", 0}}, "preemption: {withinClusterQueue: LowerPriority}");
  s.pinned("victim", "res", "4", "kueue.x-k8s.io/priority-class: low").at(1).runs("victim");
  s.at(2)
      .job("old", "5")
      .at(3)
      .job("j")
      .at(5)
      .patch("ClusterQueue", "cq", "{spec: {resourceGroups: [" + group({{"res", 4}, {"spot", 1}}) + "]}}");
  s.at(10).stops("victim").at(11);
  const auto p = s.play();
  EXPECT_TRUE(p.at(3).suspended("victim"));
  const Lines seen = looked_at(p, 5);
  ASSERT_GE(seen.size(), 2U);
  EXPECT_EQ(seen.front(), "j-option-res") << "before those of the older job";
  EXPECT_EQ(p.at(11).row("j"), "A/D");
  expect_sound(p);
}

// CA-36, CA-37, CA-144: an Option that does not fit stands in nobody's way, neither of its sibling, which asks for the same, nor of others,
// and is tried again when there is more
TEST(OrderRules, WhatDoesNotFitIsSetAside) {
  Story s(remove_lower, {{"res", 0}, {"od", 0}, {"spot", 4}});
  s.job("wide", "5").at(1).job("same").at(2).job("also").at(3).at(100).finish("same").at(200).quota({{"res", 5}, {"od", 0}, {"spot", 4}});
  const auto p = s.play();
  EXPECT_EQ(p.at(0).row("wide"), "P/P/P");
  for (const char* name : {"res", "od", "spot"})
    EXPECT_EQ(p.at(0).verdict(p.at(0).option("wide", name), "QuotaReserved"), "False/ExceedsMaxQuota") << "each was tried: " << name;
  EXPECT_EQ(p.at(1).row("same"), "P/P/A") << "res and od said no, which says nothing of spot";
  EXPECT_EQ(p.at(3).row("also"), "P/P/P");
  EXPECT_EQ(p.at(100).row("also"), "P/P/A");
  EXPECT_EQ(p.at(200).row("wide"), "A/D/D");
  EXPECT_EQ(decided<EntryRequeued>(p, 3, 90), 0U) << "nobody is tried without news";
  expect_sound(p);
}

// CA-38: a family of four, one of one Option and another one of four: all are tried once, one after the other, and how many Options there
// are changes nothing about whose turn it is
TEST(OrderRules, EachOptionHasItsTurn) {
  Story s(remove_lower, {{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}}, on_hold);
  s.job("f1").at(1).bare("f2", 1, "5", "admissionConstraints: {allowedResourceFlavors: [b]}").at(2).job("f3", "6");
  s.at(10).patch("ClusterQueue", "cq", "{spec: {stopPolicy: None}}").at(11);
  const auto p = s.play();
  const Lines wanted{"f1-option-a", "f1-option-b", "f1-option-c", "f1-option-d", "f2-option-b",
                     "f3-option-a", "f3-option-b", "f3-option-c", "f3-option-d"};
  Lines round;
  each_decided(
      p,
      [&](const Event& e, double) {
        if (const auto* r = std::get_if<EntryRequeued>(&e); r != nullptr && round.size() < wanted.size())
          round.push_back(p.end().plain(std::string(r->workload.name)));
      },
      10);
  EXPECT_EQ(round, wanted) << "nobody twice before everybody had his turn";
}

// CA-39: who used less comes first, with both of its Options
TEST(OrderRules, TheUsageOfLocalQueuesComesBeforeAll) {
  Story s("", {{"res", 0}, {"spot", 0}});
  s.configure(
      R"({"featureGates": {"ConcurrentAdmission": true}, "admissionFairSharing": {"usageHalfLifeTime": "3600s", "usageSamplingInterval": "10s"}})");
  const std::string more = "admissionScope: {admissionMode: UsageBasedAdmissionFairSharing}";
  s.queue("cq", remove_lower, {group({{"res", 8}, {"spot", 0}})}, more).local_queue("lq-b", "cq");
  s.job("used").at(1).runs("used").at(300).patch("ClusterQueue", "cq", "{spec: {stopPolicy: Hold}}");
  s.at(310).job("greedy", "5", high).at(320).in("lq-b").job("modest", "6").at(330).job("modest-2", "7");
  s.at(400).patch("ClusterQueue", "cq", "{spec: {stopPolicy: None}}").at(401);
  const auto p = s.play();
  EXPECT_EQ(p.at(1).row("used"), "A/D");
  EXPECT_EQ(looked_at(p, 400), (Lines{"modest-option-res", "modest-option-spot", "modest-2-option-res", "modest-2-option-spot",
                                      "greedy-option-res", "greedy-option-spot"}));
}

// CA-153: an Option is better than what the job was assigned, not than the Option that it runs by
TEST(OrderRules, WhatWasAssignedCountsNotWhatWasAllowed) {
  for (const bool on_res : {true, false}) {
    Story s(explicit_options({option("best", "res"), option("any", "'res', 'od'")}), {{"res", 0}, {"od", 4}});
    s.queue("cq", explicit_options({"{name: best, createDelaySeconds: 50, allowedResourceFlavors: [res]}", option("any", "'res', 'od'")}),
            {group({{"res", on_res ? 4 : 0}, {"od", 4}})});
    s.job("j").at(1).runs("j").at(60).quota({{"res", 8}, {"od", 4}}).at(65);
    if (!on_res) s.stops("j");
    const auto p = s.play();
    EXPECT_EQ(p.at(0).row("j"), "D/A");
    EXPECT_EQ(p.at(0).usage(), on_res ? "res 4" : "od 4");
    EXPECT_EQ(p.at(65).row("j"), on_res ? "D/A" : "A/D") << "nobody is moved from res to res";
    EXPECT_EQ(p.at(65).usage(), "res 4");
    EXPECT_EQ(p.count("Job j Stopped"), on_res ? 0U : 1U);
    expect_sound(p);
  }
}

// CA-153: an Option that may be assigned something better was assigned the same flavor; when its check is ready nobody is moved for it
TEST(OrderRules, NobodyIsMovedToTheFlavorThatItHas) {
  Story s(explicit_options({option("any", "'res', 'od'"), option("only", "od")}), {{"res", 0}, {"od", 8}},
          "admissionChecksStrategy: {admissionChecks: [{name: cap}]}");
  s.check("cap").job("j").at(10).checked("j", "only", "cap", "Ready").at(11).runs("j").at(20).checked("j", "any", "cap", "Ready").at(30);
  const auto p = s.play();
  EXPECT_EQ(p.at(0).usage(), "od 8");
  EXPECT_EQ(p.at(11).row("j").substr(2), "A");
  EXPECT_EQ(p.at(30).row("j").substr(2), "A");
  EXPECT_FALSE(p.at(30).suspended("j"));
  EXPECT_EQ(decided<MigrationStarted>(p), 0U);
  EXPECT_EQ(p.count("Job j Stopped"), 0U);
  expect_sound(p);
}

}  // namespace
}  // namespace hindsight::simulation
