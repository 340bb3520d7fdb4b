// Elastic jobs as families (8691 CA-95), and families that gain nothing by moving (§6).

#include <gtest/gtest.h>

#include <set>

#include "tests/simulation/options_story.hpp"

namespace hindsight::simulation {
namespace {

/// An elastic job with so many pods of one cpu.
std::string elastic(const std::string& name, int pods) {
  return "{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
         ", namespace: default, labels: {kueue.x-k8s.io/queue-name: lq}, annotations: {kueue.x-k8s.io/elastic-job: 'true'}}, spec: "
         "{suspend: true, parallelism: " +
         std::to_string(pods) +
         ", template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}}}";
}
std::string size(int pods) { return "{spec: {parallelism: " + std::to_string(pods) + "}}"; }

/// "3, ended 2": the sizes of the slices of a job, those that run or wait first.
std::string slices(const Moment& m, const std::string& job) {
  std::multiset<std::string> going, ended;
  for (const auto& w : m.all("Workload"))
    for (const auto& owner : w["metadata"].value("ownerReferences", Json::array())) {
      if (owner["kind"] != "Job" || owner["name"] != job) continue;
      const std::string count = std::to_string(w["spec"]["podSets"][0]["count"].get<int>());
      (m.verdict(w, "Finished").starts_with("True") ? ended : going).insert(count);
    }
  std::string out;
  for (const auto& count : going) out += (out.empty() ? "" : ", ") + count;
  for (const auto& count : ended) out += ", ended " + count;
  return out;
}

/// The flavors for which the newest slice of the job has Options.
Lines flavors_of_newest(const Moment& m, const std::string& job) {
  const Json* newest = nullptr;
  for (const auto& w : m.all("Workload"))
    for (const auto& owner : w["metadata"].value("ownerReferences", Json::array()))
      if (owner["kind"] == "Job" && owner["name"] == job &&
          (newest == nullptr || w["metadata"]["creationTimestamp"] > (*newest)["metadata"]["creationTimestamp"]))
        newest = &w;
  Lines out;
  for (const auto& option : m.all("Workload"))
    for (const auto& parent : option["metadata"].value("ownerReferences", Json::array()))
      if (newest != nullptr && parent["uid"] == (*newest)["metadata"]["uid"])
        out.push_back(option["spec"]["admissionConstraints"]["allowedResourceFlavors"][0]);
  std::sort(out.begin(), out.end());
  return out;
}

/// As `expect_sound`, which does not know slices of which fewer pods count than were admitted.
void expect_sound_slices(const Played& p) {
  EXPECT_EQ(p.conflicts, Lines{});
  EXPECT_EQ(p.result.refused, Lines{});
  EXPECT_EQ(p.result.repeated_steps, 0U);
  EXPECT_EQ(folded_hash(*p.log), p.result.state_hash) << "the fold of the log";
}

// CA-95, EJ-35, EJ-45, EJ-55: a job that runs on od grows there, and is charged the difference in the record in which the old slice ends
TEST(SlicesOfFamilies, GrowWhereTheyRun) {
  Story s(remove_lower, {{"res", 0}, {"od", 4}, {"spot", 8}});
  s.apply(elastic("j", 2)).at(10).runs("j").at(100).patch("Job", "j", size(3)).at(110).at(200).patch("Job", "j", size(1)).at(210);
  s.quota({{"res", 4}, {"od", 4}, {"spot", 8}}).at(215).stops("j");
  const auto p = s.play();
  EXPECT_EQ(p.at(0).usage(), "od 2");
  EXPECT_EQ(slices(p.at(110), "j"), "3, ended 2");
  EXPECT_EQ(p.at(110).usage(), "od 3");
  EXPECT_EQ(flavors_of_newest(p.at(110), "j"), (Lines{"od", "res", "spot"})) << "moves are looked for with the new size";
  EXPECT_EQ(p.charged_between(90, 150), Lines{"od 3"}) << "never the sum of both, never less than the old one has";
  EXPECT_EQ(p.count("Job j Stopped", 0, 205), 0U);
  EXPECT_EQ(slices(p.at(200), "j"), "1, ended 2") << "made smaller in place";
  EXPECT_EQ(p.at(200).usage(), "od 1");
  EXPECT_EQ(p.at(215).usage(), "res 1") << "moved with the size that it has";
  expect_sound_slices(p);
}

// CA-95: spot has room, but the job runs on od
TEST(SlicesOfFamilies, WaitForTheFlavorOfTheSliceThatRuns) {
  Story s(remove_lower, {{"od", 2}, {"spot", 8}});
  s.apply(elastic("j", 2)).at(10).runs("j").at(100).patch("Job", "j", size(3)).at(110).quota({{"od", 4}, {"spot", 8}}).at(120);
  const auto p = s.play();
  EXPECT_EQ(slices(p.at(100), "j"), "2, 3");
  EXPECT_EQ(flavors_of_newest(p.at(100), "j"), Lines{"od"});
  EXPECT_EQ(p.at(100).usage(), "od 2");
  EXPECT_FALSE(p.at(100).suspended("j")) << "it runs on with the size that it had";
  EXPECT_EQ(slices(p.at(120), "j"), "3, ended 2");
  EXPECT_EQ(p.at(120).usage(), "od 3");
  expect_sound_slices(p);
}

// CA-95, EJ-83: what the slice that waits for its check holds goes with the one that runs
TEST(SlicesOfFamilies, GiveBackTogether) {
  Story s(remove_lower, {{"od", 4}}, "admissionChecksStrategy: {admissionChecks: [{name: slow}]}");
  s.check("slow").apply(elastic("j", 2)).at(5).checked("j", "od", "slow", "Ready").at(10).runs("j").at(100).patch("Job", "j", size(3));
  s.at(150).patch("ClusterQueue", "cq", "{spec: {stopPolicy: HoldAndDrain}}").at(160).stops("j");
  const auto p = s.play();
  EXPECT_EQ(p.at(10).usage(), "od 2");
  EXPECT_EQ(slices(p.at(100), "j"), "2, 3");
  EXPECT_EQ(p.charged_between(90, 149), Lines{"od 3"}) << "both together hold the larger of the two";
  EXPECT_EQ(p.at(160).usage(), "");
  EXPECT_TRUE(p.at(160).suspended("j"));
  expect_sound_slices(p);
}

/// A queue that borrows od from its owner.
Story borrower() {
  Story s(remove_lower, {{"od", 0}, {"spot", 8}}, "cohortName: all");
  s.queue("owner", "", {group({{"od", 4}})}, "cohortName: all, preemption: {reclaimWithinCohort: Any}").local_queue("owner-lq", "owner");
  return s;
}
std::string owners(const std::string& name) {
  return "{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
         ", namespace: default, labels: {kueue.x-k8s.io/queue-name: owner-lq}}, spec: {suspend: true, parallelism: 1, completions: 1, "
         "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: '4'}}}]}}}}";
}

// 8691 §6 (thrash): a move whose quota is taken back within 10 minutes is followed by a pause of 60 s, then of 120 s
TEST(KnownDefects, AFamilyThatBorrowsForAMoveAndLosesItAgainDoesNotMoveAgainAtOnce) {
  Story s = borrower();
  s.apply(owners("a")).at(10).job("j").at(20).runs("j").at(100).finish("a").at(105).stops("j").at(110).runs("j");
  s.at(200)
      .apply(owners("b"))
      .at(205)
      .stops("j")
      .at(206)
      .runs("j")
      .at(210)
      .finish("b")
      .at(258)
      .at(262)
      .at(265)
      .stops("j")
      .at(266)
      .runs("j");
  s.at(300).apply(owners("c")).at(305).stops("j").at(306).runs("j").at(310).finish("c").at(418).at(422);
  const auto p = s.play();
  EXPECT_EQ(p.at(20).usage(), "spot 4");
  EXPECT_EQ(p.at(110).usage(), "od 4") << "the first move is made at once";
  EXPECT_EQ(p.at(206).usage(), "spot 4");
  EXPECT_EQ(p.at(258).usage(), "spot 4");
  EXPECT_FALSE(p.at(258).suspended("j"));
  EXPECT_TRUE(p.at(258)
                  .condition(p.at(258).option("j", "od"), "QuotaReserved")
                  .starts_with("False/PendingEvaluation: Moving to this variant is not tried before"))
      << p.at(258).condition(p.at(258).option("j", "od"), "QuotaReserved");
  EXPECT_TRUE(p.at(262).suspended("j")) << "60 s after it lost od it is on its way there again";
  EXPECT_EQ(p.at(266).usage(), "od 4");
  EXPECT_FALSE(p.at(418).suspended("j")) << "the second pause is twice as long";
  EXPECT_TRUE(p.at(422).suspended("j"));
  expect_sound(p);
}

}  // namespace
}  // namespace hindsight::simulation
