// Admission checks of Options (8691 §3.7).

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "tests/simulation/options_story.hpp"

namespace hindsight::simulation {
namespace {

constexpr const char* high = "kueue.x-k8s.io/priority-class: high";
constexpr const char* preempts = "preemption: {withinClusterQueue: LowerPriority}";

std::string checks(const std::string& list) { return "admissionChecksStrategy: {admissionChecks: [" + list + "]}"; }

// CA-80: each has the checks of its flavors, and those without flavors are for all
TEST(CheckRules, AnOptionHasTheChecksOfItsFlavors) {
  Story s(remove_lower, {{"a", 4}, {"b", 4}, {"c", 4}},
          checks("{name: all}, {name: only-a, onFlavors: [a]}, {name: a-and-b, onFlavors: [a, b]}"));
  s.check("all").check("only-a").check("a-and-b").job("j");
  const auto p = s.play();
  const auto names = [&](const char* option) {
    std::set<std::string> out;
    for (const auto& c : p.end().option("j", option)["status"]["admissionChecks"]) out.insert(c["name"]);
    return out;
  };
  EXPECT_EQ(p.end().row("j"), "R/R/R");
  EXPECT_EQ(names("a"), (std::set<std::string>{"all", "only-a", "a-and-b"}));
  EXPECT_EQ(names("b"), (std::set<std::string>{"all", "a-and-b"}));
  EXPECT_EQ(names("c"), (std::set<std::string>{"all"}));
  expect_sound(p);
}

// CA-81: all of its checks have to be ready, not the most of them; the first one that has that wins
TEST(CheckRules, TheFirstWithAllChecksReadyWins) {
  Story s(remove_other, {{"a", 4}, {"b", 4}}, checks("{name: one}, {name: two, onFlavors: [a]}"));
  s.check("one").check("two").job("j").at(10).checked("j", "a", "one", "Ready").at(20).checked("j", "b", "one", "Ready").at(21);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).row("j"), "R/R");
  EXPECT_TRUE(p.at(10).suspended("j"));
  EXPECT_EQ(p.at(21).row("j"), "D/A");
  EXPECT_EQ(p.at(21).usage(), "b 4");
  expect_sound(p);
}

// CA-43, CA-81: with checks and without, nobody sees a job run whose family does not show an admitted Option
TEST(CheckRules, AJobStartsWhenTheAdmissionOfItsOptionIsWritten) {
  Story s(remove_lower, {{"a", 4}, {"b", 4}}, checks("{name: cap, onFlavors: [a]}"));
  std::map<std::string, bool> admitted, suspended;  // of the Options, of the job
  int starts = 0, early = 0;
  s.on_start = [&](connectors::simulated::SimulatedCluster& cluster) {
    admitted.clear();  // a story is played anew for each check that somebody answers
    suspended.clear();
    starts = early = 0;
    cluster.observe([&](const connectors::simulated::ObjectChange& change) {
      const auto& object = change.object->object;
      if (change.object->kind->type->kind == "Workload") {
        for (const auto& c : object.value("status", Json::object()).value("conditions", Json::array()))
          if (c["type"] == "Admitted")
            admitted[change.object->name] = c["status"] == "True" && change.object->name.find("-option-") != std::string::npos;
      } else if (change.object->kind->type->kind == "Job") {
        const bool was = std::exchange(suspended[change.object->name], object["spec"].value("suspend", false));
        if (!was || suspended[change.object->name]) return;
        ++starts;
        if (std::ranges::none_of(admitted, [](const auto& one) { return one.second; })) ++early;
      }
    });
  };
  s.check("cap").job("j").at(1).runs("j").at(10).checked("j", "a", "cap", "Ready").at(11).stops("j").at(12).runs("j").at(20);
  const auto p = s.play();
  EXPECT_EQ(p.at(1).row("j"), "R/A");
  EXPECT_EQ(p.at(20).row("j"), "A/D");
  EXPECT_EQ(starts, 2);
  EXPECT_EQ(early, 0);
  expect_sound(p);
}

// CA-82: who is to try again waits for its own pause, and gives its quota back for that time
TEST(CheckRules, ARetryPutsOneOptionBack) {
  Story s(remove_other, {{"a", 4}, {"b", 4}}, checks("{name: cap}"));
  s.check("cap").job("j").at(10).checked("j", "a", "cap", "Retry", "requeueAfterSeconds: 100").at(50).job("k").at(109).at(112);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).row("j"), "P/R");
  EXPECT_EQ(p.at(10).usage(), "b 4");
  EXPECT_EQ(p.at(10).checks(p.at(10).option("j", "b")), "cap Pending") << "nobody asked the other one";
  EXPECT_EQ(p.at(50).row("k"), "R/P") << "somebody else has a meanwhile";
  EXPECT_EQ(p.at(109).row("j"), "P/R");
  EXPECT_EQ(p.at(10).evictions(p.at(10).parent("j")), Lines{});
  EXPECT_EQ(decided<FamilyReset>(p), 0U);
  EXPECT_FALSE(p.at(50).parent("j")["status"].contains("requeueState"));
  expect_sound(p);
}

// CA-83: without checks an Option is admitted as soon as it has quota, although a better one has quota already and waits for a check; that
// one goes on, or does not, as the policy says
TEST(CheckRules, NobodyWaitsForTheChecksOfABetterOne) {
  for (const bool keeps : {true, false}) {
    Story s(keeps ? remove_lower : remove_other, {{"res", 4}, {"od", 0}}, checks("{name: cap, onFlavors: [res]}"));
    s.check("cap").job("j").at(10).quota({{"res", 4}, {"od", 4}}).at(11).runs("j").at(20).checked("j", "res", "cap", "Ready").at(25);
    if (keeps) s.stops("j");
    s.at(26);
    const auto p = s.play();
    EXPECT_EQ(p.at(0).row("j"), "R/P");
    EXPECT_EQ(p.at(10).row("j"), keeps ? "R/A" : "D/A");
    EXPECT_FALSE(p.at(10).suspended("j"));
    EXPECT_EQ(p.at(26).row("j"), keeps ? "A/D" : "D/A");
    expect_sound(p);
  }
}

// CA-84: a rejected Option stays out while its siblings go on waiting, whatever happens to quota, until the family begins anew
TEST(CheckRules, ARejectedOptionStaysOutUntilANewBeginning) {
  Story s(remove_lower, {{"res", 4}, {"od", 0}}, std::string(preempts) + ", " + checks("{name: cap, onFlavors: [res]}"));
  s.check("cap").job("j").at(10).checked("j", "res", "cap", "Rejected").at(20).quota({{"res", 8}, {"od", 0}}).at(30);
  s.quota({{"res", 8}, {"od", 4}}).at(31).runs("j").at(100).pinned("h", "od", "4", high).at(105).stops("j").at(106);
  const auto p = s.play();
  for (const int at : {10, 20}) {
    EXPECT_EQ(p.at(at).row("j"), "D/P") << at << ": nobody is admitted, and it is out all the same";
    EXPECT_EQ(p.at(at).usage(), "") << at;
    EXPECT_FALSE(p.at(at).active(p.at(at).option("j", "res"))) << at;
    EXPECT_TRUE(p.at(at).active(p.at(at).parent("j"))) << at;
  }
  EXPECT_EQ(p.at(30).row("j"), "D/A");
  EXPECT_EQ(p.at(106).row("j"), "R/P");
  expect_sound(p);
}

// CA-84: nobody is left: the Parent is deactivated for that reason; who activates it gives all of them another try
TEST(CheckRules, WhenAllAreRejectedTheParentIsDeactivated) {
  Story s(remove_lower, {{"res", 4}, {"od", 4}}, checks("{name: cap}"));
  s.check("cap").job("j").at(10).checked("j", "od", "cap", "Rejected").at(20).checked("j", "res", "cap", "Rejected").at(21);
  s.at(100).patch_parent("j", "{spec: {active: true}}").at(101);
  const auto p = s.play();
  EXPECT_EQ(p.at(10).row("j"), "R/D");
  EXPECT_TRUE(p.at(10).active(p.at(10).parent("j")));
  EXPECT_FALSE(p.at(21).active(p.at(21).parent("j")));
  EXPECT_EQ(p.at(21).row("j"), "D/D");
  EXPECT_EQ(p.at(21).usage(), "");
  EXPECT_EQ(p.at(21).verdict(p.at(21).parent("j"), "Evicted").substr(0, 16), "True/Deactivated");
  EXPECT_NE((p.at(21).condition(p.at(21).parent("j"), "Evicted") + p.at(21).condition(p.at(21).parent("j"), "DeactivationTarget") +
             [&] {
               std::string all;
               for (const auto& e : p.at(21).evictions(p.at(21).parent("j"))) all += e;
               return all;
             }())
                .find("AdmissionCheck"),
            std::string::npos)
      << "it says why: " << p.at(21).condition(p.at(21).parent("j"), "Evicted");
  EXPECT_EQ(p.at(101).row("j"), "R/R");
  expect_sound(p);
}

// CA-85: a check of the admitted one asks it to try again: the job stops, the family begins anew, and that Option waits for its pause
TEST(CheckRules, ARetryOfTheAdmittedOptionEvictsTheJob) {
  Story s(remove_lower, {{"res", 4}, {"od", 0}}, checks("{name: cap, onFlavors: [res]}"));
  s.check("cap").job("j").at(10).checked("j", "res", "cap", "Ready").at(11).runs("j").at(100);
  s.checked("j", "res", "cap", "Retry", "requeueAfterSeconds: 300").at(104).at(105).stops("j").at(110).at(390).at(402);
  const auto p = s.play();
  EXPECT_EQ(p.at(11).row("j"), "A/D");
  EXPECT_EQ(p.at(100).verdict(p.at(100).option("j", "res"), "Evicted"), "True/AdmissionCheck");
  EXPECT_EQ(p.at(100).verdict(p.at(100).parent("j"), "Evicted"), "True/VariantEvicted");
  EXPECT_TRUE(p.at(100).suspended("j"));
  EXPECT_EQ(p.at(104).usage(), "res 4") << "until the job has stopped";
  EXPECT_EQ(p.at(110).row("j"), "P/P");
  EXPECT_EQ(p.at(110).usage(), "");
  EXPECT_TRUE(p.at(110).active(p.at(110).option("j", "od"))) << "its sibling is tried again";
  EXPECT_EQ(p.at(390).row("j"), "P/P") << "not before its pause is over";
  EXPECT_EQ(p.at(402).row("j"), "R/P");
  EXPECT_GE(decided<FamilyReset>(p, 100, 110), 1U);
  expect_sound(p);
}

// CA-85: a check of the admitted one rejects it: the job stops, that Option is out, and the others begin anew
TEST(CheckRules, ARejectionOfTheAdmittedOptionTakesItOut) {
  Story s(remove_lower, {{"res", 4}, {"od", 4}}, checks("{name: cap, onFlavors: [res]}"));
  s.check("cap").job("j").at(1).runs("j").at(10).checked("j", "res", "cap", "Ready").at(15).stops("j").at(16).runs("j").at(100);
  s.checked("j", "res", "cap", "Rejected").at(104).at(105).stops("j").at(106).at(200);
  const auto p = s.play();
  EXPECT_EQ(p.at(16).row("j"), "A/D");
  EXPECT_TRUE(p.at(100).suspended("j"));
  EXPECT_EQ(p.at(104).usage(), "res 4") << "until the job has stopped";
  EXPECT_EQ(p.at(104).verdict(p.at(104).parent("j"), "Evicted"), "True/VariantEvicted");
  EXPECT_EQ(p.at(106).row("j"), "D/A");
  EXPECT_EQ(p.at(106).usage(), "od 4");
  EXPECT_EQ(p.at(200).row("j"), "D/A") << "it is not tried again beside the other one";
  EXPECT_TRUE(p.at(200).active(p.at(200).parent("j")));
  expect_sound(p);
}

}  // namespace
}  // namespace hindsight::simulation
