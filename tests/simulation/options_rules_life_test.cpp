// The life of families: ends, deletions, and changes of their configuration (8691 §3.10).

#include <map>

#include <gtest/gtest.h>

#include "tests/simulation/mortal_plane.hpp"
#include "tests/simulation/options_story.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* high = "kueue.x-k8s.io/priority-class: high";

/// Uids of the Options of a job.
std::map<std::string, std::string> uids(const Moment& m, const std::string& job) {
  std::map<std::string, std::string> out;
  for (const auto& name : m.options(job)) {
    const std::string option = name.substr(job.size() + 8);
    out[option] = m.option(job, option)["metadata"]["uid"];
  }
  return out;
}

std::string explicit_options(const Lines& options) {
  std::string list;
  for (const auto& o : options) list += (list.empty() ? "" : ", ") + o;
  return "concurrentAdmission: {onSuccess: RemoveLower, explicitOptions: [" + list + "]}";
}
std::string option(const std::string& name, const std::string& flavors, const std::string& more = "") {
  return "{name: " + name + ", allowedResourceFlavors: [" + flavors + "]" + (more.empty() ? "" : ", " + more) + "}";
}

// CA-110: reason and message of the end go to all; what was in use is free for others, and no Option starts again
TEST(LifeRules, TheEndOfAJobIsTheEndOfItsOptions) {
  for (const bool failed : {false, true}) {
    Story s(remove_lower, {{"res", 4}, {"od", 4}}, "admissionChecksStrategy: {admissionChecks: [{name: cap, onFlavors: [res]}]}");
    s.check("cap").job("j").at(1).runs("j").at(10).job("k").at(100).finish("j", failed).at(101).at(1000);
    const auto p = s.play();
    EXPECT_EQ(p.at(10).row("j"), "R/A");
    EXPECT_EQ(p.at(10).row("k"), "P/P");
    EXPECT_EQ(p.at(101).row("j"), "F/F");
    const std::string why = p.at(101).condition(p.at(101).parent("j"), "Finished");
    EXPECT_EQ(why.substr(0, 5), "True/");
    for (const char* name : {"res", "od"}) EXPECT_EQ(p.at(101).condition(p.at(101).option("j", name), "Finished"), why);
    EXPECT_EQ(p.at(101).row("k"), "R/A") << "also what was only reserved is free";
    EXPECT_EQ(p.at(1000).row("j"), "F/F");
    EXPECT_EQ(p.count("Job j Started"), 1U);
    expect_sound(p);
  }
}

// CA-111: whoever is deleted, nothing is left of the family
TEST(LifeRules, NothingIsLeftOfADeletedFamily) {
  for (const char* kind : {"Job", "Workload"}) {
    Story s(remove_lower, {{"res", 4}, {"od", 4}}, "admissionChecksStrategy: {admissionChecks: [{name: cap, onFlavors: [res]}]}");
    s.check("cap").bare("w").at(1).job("j").at(10);
    s.remove(kind, std::string(kind) == "Job" ? "j" : "w").at(20).at(30);
    const auto p = s.play();
    EXPECT_EQ(p.at(1).row("w"), "R/A");
    EXPECT_EQ(p.at(30).row(std::string(kind) == "Job" ? "w" : "j"), "R/A") << "the other one has it now";
    EXPECT_EQ(p.at(30).all("Workload").size(), 3U) << kind;
    EXPECT_EQ(p.at(30).usage(), "res 4, od 4");
    expect_sound(p);
  }
}

// CA-111, D16: a Parent that is deleted takes its Options with it at once; what they hold is free when the job has stopped
TEST(LifeRules, ADeletedFamilyKeepsItsQuotaUntilTheJobHasStopped) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}});
  s.job("j").at(1).runs("j").at(10).job("k").at(20).remove("Workload", s.name_of("j")).at(24).at(25).stops("j").at(30);
  const auto p = s.play();
  EXPECT_EQ(p.at(20).row("k"), "P/P");
  EXPECT_EQ(p.at(24).all("Workload").size(), 3U) << "nothing of the first family is left";
  EXPECT_TRUE(p.at(24).suspended("j"));
  EXPECT_EQ(p.at(24).row("k"), "P/P") << "the pods of the first job are still there";
  EXPECT_EQ(p.at(24).usage(), "od 4");
  EXPECT_EQ(p.at(30).row("k"), "P/A");
  EXPECT_EQ(p.at(30).row("j"), "P/P") << "the job has a family again, and waits";
  EXPECT_EQ(p.count("Job j Stopped"), 1U);
  EXPECT_EQ(p.result.notices, Lines{});
  EXPECT_EQ(folded_hash(*p.log), p.result.state_hash);
}

// CA-112: an Option that somebody deletes is made again; if the job ran by it, the job stops and begins anew, but not before it has stopped
TEST(LifeRules, ADeletedOptionIsMadeAgain) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}});
  s.job("j").at(1).runs("j").at(10).remove("Workload", s.name_of("j") + "-option-res").at(20);
  s.remove("Workload", s.name_of("j") + "-option-od").at(24).at(25).stops("j").at(26);
  const auto p = s.play();
  const auto first = uids(p.at(1), "j"), second = uids(p.at(10), "j"), third = uids(p.at(26), "j");
  EXPECT_NE(first.at("res"), second.at("res"));
  EXPECT_EQ(first.at("od"), second.at("od"));
  EXPECT_EQ(p.at(10).row("j"), "P/A");
  EXPECT_FALSE(p.at(10).suspended("j"));
  EXPECT_EQ(p.at(24).condition(p.at(24).parent("j"), "Evicted"), "True/ConcurrentAdmission: No variant is running");
  EXPECT_TRUE(p.at(24).suspended("j"));
  EXPECT_EQ(p.at(24).verdict(p.at(24).parent("j"), "QuotaReserved"), "True/QuotaReserved");
  EXPECT_NE(first.at("od"), third.at("od"));
  EXPECT_EQ(p.at(26).row("j"), "P/A");
  EXPECT_EQ(p.at(26).usage(), "od 4");
  EXPECT_EQ(p.count("Job j Stopped"), 1U);
  EXPECT_EQ(decided<FamilyReset>(p), 1U);
}

// CA-113: the Parent is off: all Options are, and what ran is evicted; on again, everything begins anew, delays too
TEST(LifeRules, AnInactiveParentHasNoActiveOption) {
  Story s("", {{"res", 0}, {"od", 4}, {"spot", 4}});
  s.queue("cq", explicit_options({option("res", "res"), option("od", "od"), option("spot", "spot", "createDelaySeconds: 100")}),
          {group({{"res", 0}, {"od", 4}, {"spot", 4}})});
  s.job("j")
      .at(1)
      .runs("j")
      .at(200)
      .patch_parent("j", "{spec: {active: false}}")
      .at(204)
      .at(205)
      .stops("j")
      .at(206)
      .quota({{"res", 4}, {"od", 4}, {"spot", 4}});
  s.at(300).quota({{"res", 0}, {"od", 0}, {"spot", 4}}).patch_parent("j", "{spec: {active: true}}").at(397).at(401);
  const auto p = s.play();
  EXPECT_EQ(p.at(1).row("j"), "P/A/D");
  EXPECT_TRUE(p.at(204).suspended("j"));
  EXPECT_EQ(p.at(204).verdict(p.at(204).option("j", "od"), "Evicted"), "True/Deactivated");
  for (const char* name : {"res", "od", "spot"}) EXPECT_FALSE(p.at(206).active(p.at(206).option("j", name))) << name;
  EXPECT_EQ(p.at(206).row("j"), "D/D/D");
  EXPECT_EQ(p.at(206).usage(), "") << "although there is room";
  EXPECT_EQ(p.at(300).row("j"), "P/P/D");
  EXPECT_EQ(p.at(397).row("j"), "P/P/D") << "a hundred seconds from the activation";
  EXPECT_EQ(p.at(401).row("j"), "P/P/A");
  expect_sound(p);
}

// CA-113: Workloads that are kept for a time only: an Option goes with its Parent, not before it
TEST(LifeRules, RetentionIsAboutParents) {
  Story s(remove_other, {{"res", 0}, {"od", 4}});
  s.configure(
      R"({"featureGates": {"ConcurrentAdmission": true}, "objectRetentionPolicies": {"workloads": {"afterFinished": "100s", "afterDeactivatedByKueue": "10s"}}})");
  s.job("j").at(1).runs("j").at(50).at(200).finish("j").at(290).at(305);
  const auto p = s.play();
  EXPECT_EQ(p.at(50).row("j"), "D/A");
  EXPECT_FALSE(p.at(50).option("j", "res").is_null()) << "it was deactivated long ago, by the policy";
  EXPECT_EQ(uids(p.at(50), "j"), uids(p.at(1), "j"));
  EXPECT_EQ(p.at(290).options("j").size(), 2U);
  EXPECT_EQ(p.at(305).all("Workload").size(), 0U);
}

// CA-114, CA-144: a new flavor is for all families: those that wait use it at once, those that run by their policy
TEST(LifeRules, ANewFlavorIsForAllFamilies) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}});
  s.flavor("new").job("runs").at(1).runs("runs").job("waits").at(10).quota({{"res", 0}, {"od", 4}, {"new", 4}}).at(20);
  s.at(30).quota({{"res", 0}, {"od", 4}, {"new", 4}});
  const auto p = s.play();
  EXPECT_EQ(p.at(1).row("runs") + " " + p.at(1).row("waits"), "P/A P/P");
  EXPECT_EQ(p.at(20).row("runs"), "P/A/D");
  EXPECT_EQ(p.at(20).row("waits"), "P/P/A");
  EXPECT_FALSE(p.at(20).suspended("runs"));

  Story t(remove_lower, {{"od", 4}});
  t.flavor("new").job("runs").at(1).runs("runs").at(10).quota({{"new", 4}, {"od", 4}}).at(15).stops("runs").at(16);
  const auto q = t.play();
  EXPECT_EQ(q.at(10).verdict(q.at(10).option("runs", "od"), "Evicted"), "True/FlavorMigration") << "in front it is better";
  EXPECT_EQ(q.at(16).row("runs"), "A/D");
  expect_sound(p);
  expect_sound(q);
}

// CA-115, CA-144: of a flavor that nobody runs on only the Option goes; it is told, and nobody is stopped
TEST(LifeRules, AFlavorThatNobodyUsesGoesQuietly) {
  Story s(remove_lower, {{"res", 4}, {"od", 4}, {"spot", 0}},
          "admissionChecksStrategy: {admissionChecks: [{name: cap, onFlavors: [res]}]}");
  s.check("cap").job("j").at(1).runs("j").at(10).patch(
      "ClusterQueue", "cq", "{spec: {admissionChecksStrategy: null, resourceGroups: [" + group({{"od", 4}, {"spot", 0}}) + "]}}");
  s.at(11);
  const auto p = s.play();
  EXPECT_EQ(p.at(1).row("j"), "R/A/D");
  EXPECT_EQ(p.at(11).options("j"), (Lines{"j-option-od", "j-option-spot"}));
  EXPECT_EQ(p.at(11).row("j"), "A/D");
  EXPECT_EQ(p.at(11).usage(), "od 4");
  EXPECT_EQ(p.count("DeletedVariant"), 1U);
  EXPECT_EQ(p.count("Job j Stopped"), 0U);
  expect_sound(p);
}

// CA-116: places change: the policy is applied to the new ranks, and nobody is evicted for it; what is better now and has room is a
// migration
TEST(LifeRules, FlavorsThatChangePlacesEvictNobody) {
  Story s(remove_lower, {{"a", 0}, {"b", 4}, {"c", 0}});
  s.job("j").at(1).runs("j").at(10).quota({{"c", 0}, {"b", 4}, {"a", 0}}).at(20).quota({{"b", 4}, {"a", 0}, {"c", 0}}).at(30);
  s.quota({{"c", 4}, {"a", 0}, {"b", 4}}).at(35).stops("j").at(36);
  const auto p = s.play();
  EXPECT_EQ(p.at(1).row("j"), "P/A/D");
  EXPECT_EQ(p.at(10).row("j"), "P/A/D");
  EXPECT_TRUE(p.at(10).active(p.at(10).option("j", "c")));
  EXPECT_FALSE(p.at(10).active(p.at(10).option("j", "a")));
  EXPECT_EQ(p.at(20).row("j"), "A/D/D");
  EXPECT_EQ(uids(p.at(20), "j"), uids(p.at(1), "j")) << "the same Options";
  EXPECT_EQ(p.count("Job j Stopped", 0, 29), 0U);
  EXPECT_EQ(p.at(36).row("j"), "A/D/D");
  EXPECT_EQ(p.at(36).usage(), "c 4");
  expect_sound(p);
}

// CA-117: other quotas make no Option and switch none; they only let somebody in
TEST(LifeRules, OtherQuotasConcernNoOption) {
  Story s(remove_lower, {{"res", 0}, {"od", 0}, {"spot", 4}});
  s.job("j")
      .at(1)
      .runs("j")
      .job("k")
      .at(10)
      .quota({{"res", 1}, {"od", 2}, {"spot", 6}})
      .at(20)
      .quota({{"res", 1}, {"od", 2}, {"spot", 8}})
      .at(21);
  const auto p = s.play();
  std::size_t touched = 0;
  each_decided(
      p,
      [&](const Event& e, double at) {
        if (at >= 20) return;
        touched += std::holds_alternative<OptionRequested>(e) || std::holds_alternative<OptionSwitched>(e) ||
                   std::holds_alternative<WorkloadRemoved>(e) || std::holds_alternative<FamilyReset>(e);
      },
      5);
  EXPECT_EQ(touched, 0U);
  EXPECT_EQ(uids(p.at(21), "j"), uids(p.at(1), "j"));
  EXPECT_EQ(p.at(21).row("k"), "P/P/A") << "it was put back into the queue";
  expect_sound(p);
}

// CA-118: entries come and go
TEST(LifeRules, ExplicitOptionsComeAndGo) {
  Story s("", {{"res", 0}, {"od", 4}, {"spot", 0}});
  const Lines quota{group({{"res", 0}, {"od", 4}, {"spot", 0}})};
  s.queue("cq", explicit_options({option("best", "res"), option("mid", "od")}), quota).job("j").at(1).runs("j");
  s.at(10).policy(explicit_options({option("best", "res"), option("mid", "od"), option("more", "'res', 'spot'")}));
  s.at(20).policy(explicit_options({option("mid", "od"), option("more", "'res', 'spot'")}));
  s.at(30).policy(explicit_options({option("more", "'res', 'spot'")})).at(34).at(35).stops("j").at(36);
  const auto p = s.play();
  EXPECT_EQ(p.at(1).row("j"), "P/A");
  EXPECT_EQ(p.at(10).row("j"), "P/P/A");
  EXPECT_EQ(p.at(20).row("j"), "P/A");
  EXPECT_TRUE(p.at(20).option("j", "best").is_null());
  EXPECT_EQ(p.count("Job j Stopped", 0, 29), 0U);
  EXPECT_TRUE(p.at(34).suspended("j")) << "what it ran by has gone";
  EXPECT_FALSE(p.at(34).option("j", "mid").is_null()) << "and goes itself when the job has stopped";
  EXPECT_EQ(p.at(36).options("j"), Lines{"j-option-more"});
  EXPECT_EQ(p.at(36).usage(), "");
  expect_sound(p);
}

// CA-118: another name for the same flavors is no reason to stop anybody: the admission is handed on, at no record twice or not at all
TEST(LifeRules, ARenamedOptionHandsItsAdmissionOn) {
  Story s("", {{"res", 0}, {"od", 4}});
  s.queue("cq", explicit_options({option("best", "res"), option("old", "od")}), {group({{"res", 0}, {"od", 4}})}).job("j").at(1).runs("j");
  s.at(10).policy(explicit_options({option("best", "res"), option("new", "od")})).at(20);
  const auto p = s.play();
  EXPECT_EQ(p.at(20).options("j"), (Lines{"j-option-best", "j-option-new"}));
  EXPECT_EQ(p.at(20).row("j"), "P/A");
  EXPECT_EQ(p.charged_between(0, 100), (Lines{"", "od 4"}));
  EXPECT_FALSE(p.at(20).suspended("j"));
  EXPECT_EQ(p.count("Job j Stopped"), 0U);
  EXPECT_EQ(p.count("EvictedDueTo"), 0U);
  expect_sound(p);
}

// CA-118: delays that have not passed follow the configuration, those that have do not come back
TEST(LifeRules, DelaysFollowTheConfiguration) {
  Story s("", {{"res", 0}, {"od", 0}, {"spot", 0}});
  const auto options = [](int mid, int last) {
    return explicit_options({option("best", "res"), option("mid", "od", "createDelaySeconds: " + std::to_string(mid)),
                             option("last", "spot", "createDelaySeconds: " + std::to_string(last))});
  };
  s.queue("cq", options(100, 1000), {group({{"res", 0}, {"od", 0}, {"spot", 0}})}).job("j").at(101).at(150).policy(options(5000, 200));
  s.at(197).at(201);
  const auto p = s.play();
  EXPECT_EQ(p.at(0).row("j"), "P/D/D");
  EXPECT_EQ(p.at(101).row("j"), "P/P/D");
  EXPECT_EQ(p.at(197).row("j"), "P/P/D") << "mid has begun";
  EXPECT_EQ(p.at(201).row("j"), "P/P/P");
  expect_sound(p);
}

// CA-118: another set of flavors: an Option without quota changes where it is
TEST(LifeRules, TheFlavorsOfAWaitingOptionChange) {
  Story s("", {{"res", 0}, {"od", 0}, {"spot", 0}});
  s.queue("cq", explicit_options({option("best", "res"), option("rest", "od")}), {group({{"res", 0}, {"od", 0}, {"spot", 0}})});
  s.job("j").at(10).policy(explicit_options({option("best", "res"), option("rest", "'od', 'spot'")})).at(20);
  s.quota({{"res", 0}, {"od", 0}, {"spot", 4}}).at(21);
  const auto p = s.play();
  EXPECT_EQ(uids(p.at(21), "j"), uids(p.at(0), "j")) << "in place";
  EXPECT_EQ(p.at(21).row("j"), "P/A");
  EXPECT_EQ(p.at(21).usage(), "spot 4");
  EXPECT_EQ(p.at(21).option("j", "rest")["spec"]["admissionConstraints"]["allowedResourceFlavors"], Json::parse(R"(["od", "spot"])"));
  EXPECT_EQ(p.at(21).option("j", "rest")["metadata"]["annotations"]["kueue.x-k8s.io/workload-allowed-resource-flavors"], "od,spot");
}

// CA-118: a job that runs on a flavor which its Option keeps runs on; of another one it is as if the Option was removed
TEST(LifeRules, TheFlavorsOfARunningOptionChange) {
  for (const bool keeps : {true, false}) {
    Story s("", {{"res", 0}, {"od", 4}, {"spot", 0}});
    s.queue("cq", explicit_options({option("best", "res"), option("rest", "'od', 'spot'")}), {group({{"res", 0}, {"od", 4}, {"spot", 0}})});
    s.job("j").at(1).runs("j").at(10).policy(explicit_options({option("best", "res"), option("rest", keeps ? "od" : "spot")})).at(20);
    if (!keeps) s.stops("j");
    s.at(21);
    const auto p = s.play();
    EXPECT_EQ(p.at(1).row("j"), "P/A");
    EXPECT_EQ(p.at(10).suspended("j"), !keeps);
    EXPECT_EQ(p.at(21).usage(), keeps ? "od 4" : "") << "od is no flavor of any Option";
    EXPECT_EQ(p.at(21).row("j"), keeps ? "P/A" : "P/P");
  }
}

// CA-119: another policy is applied at once, and to nobody who is admitted
TEST(LifeRules, AnotherPolicyIsAppliedAtOnce) {
  Story s(remove_other, {{"res", 0}, {"od", 4}, {"spot", 4}});
  s.job("j").at(1).runs("j").at(10).policy(remove_lower).at(20).policy(remove_other).at(30);
  const auto p = s.play();
  EXPECT_EQ(p.at(1).row("j"), "D/A/D");
  EXPECT_EQ(p.at(10).row("j"), "P/A/D");
  EXPECT_EQ(p.at(20).row("j"), "D/A/D");
  EXPECT_EQ(p.count("Job j Stopped"), 0U);
  expect_sound(p);
}

// CA-120: the feature is switched on: who waits becomes a Parent, and what is reserved already is handed to the Option of its flavor with
// the states of its checks, without a record in which it is in use twice or not at all
TEST(LifeRules, AReservationIsHandedToTheOptionOfItsFlavor) {
  Story s("", {{"a", 4}, {"b", 4}}, "admissionChecksStrategy: {admissionChecks: [{name: one}, {name: two}]}");
  s.check("one").check("two").job("holds").at(1).job("also").at(2).job("waits").at(5);
  const auto states = [](const char* one, const char* two) {
    const std::string at = ", message: m, lastTransitionTime: '2026-01-01T00:00:05Z'}";
    return std::string("{status: {admissionChecks: [{name: one, state: ") + one + at + ", {name: two, state: " + two + at + "]}}";
  };
  s.patch_parent("holds", states("Ready", "Pending"), true).at(10).policy(remove_lower).at(11);
  s.at(20).patch_option("holds", "a", states("Ready", "Ready"), true).at(21).runs("holds").at(30);
  const auto p = s.play();
  EXPECT_EQ(p.at(5).usage(), "a 4, b 4");
  EXPECT_EQ(p.at(11).row("holds"), "R/P");
  EXPECT_EQ(p.at(11).row("also"), "P/R");
  EXPECT_EQ(p.at(11).row("waits"), "P/P");
  EXPECT_EQ(p.at(11).checks(p.at(11).option("holds", "a")), "one Ready, two Pending");
  EXPECT_EQ(p.charged_between(2, 19), Lines{}) << "the same at every record";
  EXPECT_EQ(p.count("EvictedDueTo"), 0U);
  EXPECT_EQ(p.at(21).row("holds"), "A/D");
  EXPECT_FALSE(p.at(21).suspended("holds"));
  expect_sound(p);
}

// CA-121: on hold nothing is reserved or moved, what was only reserved is given back, the job runs on, and time goes on
TEST(LifeRules, AQueueOnHoldMovesNobody) {
  for (const bool local : {false, true}) {
    Story s("", {{"res", 0}, {"od", 4}, {"spot", 4}});
    s.queue("cq", explicit_options({option("res", "res", "deleteDelaySeconds: 100"), option("od", "od"), option("best", "best")}),
            {group({{"best", 0}, {"res", 0}, {"od", 4}})},
            "admissionChecksStrategy: {admissionChecks: [{name: cap, onFlavors: [res, best]}]}");
    s.flavor("best").check("cap").job("j").at(1).runs("j").at(5).quota({{"best", 0}, {"res", 4}, {"od", 4}}).at(10);
    const std::string kind = local ? "LocalQueue" : "ClusterQueue", name = local ? "lq" : "cq";
    s.patch(kind, name, "{spec: {stopPolicy: Hold}}").at(50).quota({{"best", 4}, {"res", 4}, {"od", 4}}).at(101).at(200);
    s.patch(kind, name, "{spec: {stopPolicy: None}}").at(201);
    const auto p = s.play();
    EXPECT_EQ(p.at(5).row("j"), "P/R/A");
    for (const int at : {10, 50}) {
      EXPECT_EQ(p.at(at).row("j"), "P/P/A") << kind << " " << at;
      EXPECT_EQ(p.at(at).usage(), "od 4") << kind << " " << at;
      EXPECT_FALSE(p.at(at).suspended("j")) << kind << " " << at;
    }
    EXPECT_EQ(p.at(101).row("j"), "P/D/A") << "its window is over, on hold or not";
    EXPECT_EQ(p.at(201).row("j"), "R/D/A") << kind;
    expect_sound(p);
  }
}

// CA-121: when it is drained the job stops for that reason, and later the family begins anew
TEST(LifeRules, AQueueThatIsDrainedStopsItsJobs) {
  for (const bool local : {false, true}) {
    Story s("", {{"res", 0}, {"od", 4}});
    s.queue("cq", explicit_options({option("res", "res", "createDelaySeconds: 100"), option("od", "od")}),
            {group({{"res", 0}, {"od", 4}})});
    const std::string kind = local ? "LocalQueue" : "ClusterQueue", name = local ? "lq" : "cq";
    s.job("j").at(1).runs("j").at(200).patch(kind, name, "{spec: {stopPolicy: HoldAndDrain}}").at(205).stops("j").at(210);
    s.at(300).patch(kind, name, "{spec: {stopPolicy: None}}").at(301);
    const auto p = s.play();
    EXPECT_EQ(p.at(200).verdict(p.at(200).option("j", "od"), "Evicted"), local ? "True/LocalQueueStopped" : "True/ClusterQueueStopped");
    EXPECT_EQ(p.at(200).verdict(p.at(200).parent("j"), "Evicted").substr(0, 4), "True");
    EXPECT_TRUE(p.at(200).suspended("j"));
    EXPECT_EQ(p.at(210).usage(), "");
    EXPECT_EQ(p.at(210).row("j"), "D/P") << "the delay begins anew";
    EXPECT_EQ(p.at(301).row("j").substr(2), "A");
    EXPECT_GE(decided<FamilyReset>(p, 200), 1U);
    expect_sound(p);
  }
}

// CA-122: its job waits in another queue now: all Options do, with the flavors of that queue, and where there are no families there is none
TEST(LifeRules, AFamilyMovesToAnotherQueue) {
  for (const bool families : {true, false}) {
    Story s(remove_lower, {{"res", 0}, {"od", 0}});
    s.flavor("spot").queue("to", families ? remove_lower : "", {group({{"res", 0}, {"spot", 4}})}).local_queue("lq-to", "to");
    s.job("j").at(10).patch("Job", "j", "{metadata: {labels: {kueue.x-k8s.io/queue-name: lq-to}}}").at(11);
    const auto p = s.play();
    EXPECT_EQ(p.at(0).options("j"), (Lines{"j-option-od", "j-option-res"}));
    EXPECT_EQ(p.at(0).counters(), "pending 1, reserving 0, admitted 0");
    EXPECT_EQ(p.at(11).counters(), "pending 0, reserving 0, admitted 0");
    EXPECT_EQ(p.at(11).options("j"), families ? (Lines{"j-option-res", "j-option-spot"}) : Lines{});
    EXPECT_EQ(p.at(11).usage("to"), "spot 4");
    EXPECT_FALSE(p.at(11).suspended("j"));
    if (!families) continue;
    for (const char* name : {"res", "spot"}) EXPECT_EQ(p.at(11).option("j", name)["spec"]["queueName"], "lq-to") << name;
  }
}

// CA-123: another priority reaches all Options before anything else is tried
TEST(LifeRules, AnotherPriorityMovesTheFamilyAsABlock) {
  Story s(remove_lower, {{"res", 0}, {"spot", 0}}, "stopPolicy: Hold");
  s.priority_class("mid", 100).job("first", "5", "kueue.x-k8s.io/priority-class: mid").at(1).job("j").at(10);
  s.patch("Job", "j", "{metadata: {labels: {kueue.x-k8s.io/priority-class: high}}}")
      .at(11)
      .patch("ClusterQueue", "cq", "{spec: {stopPolicy: None}}");
  s.at(12);
  const auto p = s.play();
  for (const char* name : {"res", "spot"}) {
    EXPECT_EQ(p.at(12).option("j", name)["spec"]["priority"], 1000) << name;
    EXPECT_EQ(p.at(12).option("j", name)["spec"]["priorityClassRef"], p.at(12).parent("j")["spec"]["priorityClassRef"]) << name;
  }
  EXPECT_EQ(looked_at(p, 11), (Lines{"j-option-res", "j-option-spot", "first-option-res", "first-option-spot"}));
  expect_sound(p);
}

// CA-124: there is no queue any more, or it is not active: the family is kept and says so
TEST(LifeRules, AFamilyWithoutAQueueIsKept) {
  Story t(remove_lower, {{"res", 0}, {"od", 0}});
  t.job("j").at(10).remove("ClusterQueue", "cq").at(11).at(20).queue("cq", remove_lower, {group({{"res", 4}, {"od", 0}})}).at(21);
  const auto q = t.play();
  EXPECT_EQ(uids(q.at(11), "j"), uids(q.at(0), "j"));
  for (const char* name : {"res", "od"})
    EXPECT_EQ(q.at(11).verdict(q.at(11).option("j", name), "QuotaReserved"), "False/Misconfigured") << name;
  EXPECT_EQ(q.at(21).row("j"), "A/D");
  EXPECT_EQ(uids(q.at(21), "j"), uids(q.at(0), "j"));

  Story inactive(remove_lower, {{"res", 4}, {"od", 0}});
  inactive.job("j", "5")
      .at(10)
      .patch("ClusterQueue", "cq", "{spec: {admissionChecksStrategy: {admissionChecks: [{name: none-such}]}}}")
      .at(11);
  const auto r = inactive.play();
  EXPECT_EQ(r.at(11).options("j").size(), 2U);
  for (const char* name : {"res", "od"})
    EXPECT_EQ(r.at(11).verdict(r.at(11).option("j", name), "QuotaReserved"), "False/Suspended") << name;
}

// CA-125: the process comes back with the gate off: families become what they were before, nothing is stopped, and nothing is counted twice
TEST(LifeRules, TheGateIsSwitchedOff) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}});
  s.job("runs").at(1).runs("runs").job("waits").at(10).at(20).patch("ClusterQueue", "cq", "{spec: {cohortName: other}}").at(30);
  MortalPlane plane(s.scenario(), s.configuration(), {.step = 3});
  plane.configuration_of_successor = "{}";
  Lines charges;
  plane.on_record = [&](const RecordView&) {
    if (auto now = charged(plane.driver(), "cq"); charges.empty() || charges.back() != now) charges.push_back(std::move(now));
  };
  plane.play();
  ASSERT_TRUE(plane.died());
  const Moment m(plane.cluster());
  EXPECT_EQ(m.options("runs"), Lines{});
  EXPECT_EQ(m.options("waits"), Lines{});
  EXPECT_EQ(m.all("Workload").size(), 2U);
  EXPECT_EQ(m.verdict(m.parent("runs"), "Admitted"), "True/Admitted");
  EXPECT_EQ(m.verdict(m.parent("waits"), "QuotaReserved").substr(0, 5), "False");
  EXPECT_FALSE(m.parent("runs")["status"].contains("options"));
  EXPECT_FALSE(m.suspended("runs"));
  EXPECT_EQ(m.usage(), "od 4");
  EXPECT_EQ(plane.count("Job runs Stopped"), 0U);
  EXPECT_EQ(charges, (Lines{"", "od 4"}));
}

}  // namespace
}  // namespace hindsight::simulation
