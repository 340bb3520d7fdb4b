// One answer for whatever a target is: a Workload that waits or runs, one that is gone, and one that never was.

#include "projections/explain_target.hpp"

#include <sstream>

#include "tests/projections/simulated.hpp"

namespace hindsight::projections {
namespace {

const std::string holder_of_all = basics + queue_text({.name = "cq", .cpu = "2"}) + job_text({.name = "holder", .cpu = "2", .runs = 600}) +
                                  job_text({.name = "waits", .cpu = "2", .arrives = 10});

class ExplainedTarget : public ::testing::Test {
 protected:
  Result<Why> ask(const std::string& text, const StageMaker& stage = {}, const WhyListener& listener = {}) {
    const Target target = parse_target(text, "default").value();
    const auto moment = run_.at(20);
    Trail trail(target);
    run_.each([&](events::Position p, const RecordView& r) {
      if (p <= moment) trail.add(p, r);
    });
    return explain_target(run_.state(moment), target, trail, stage, listener);
  }

  Played run_{holder_of_all};
};

TEST_F(ExplainedTarget, OneThatWaitsHasRemediesThatAreNotPlayedWithoutAStage) {
  int made = 0;
  const auto stage = [&](const WorkloadAt& at) {
    ++made;
    return Stage::of_tree(run_.driver(), at);
  };
  const auto facts = ask("job/waits");
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->phase, Phase::pending);
  for (const auto& remedy : facts->remedies) EXPECT_FALSE(remedy.played.has_value());
  const auto played = ask("job/waits", stage);
  ASSERT_TRUE(played);
  EXPECT_EQ(made, 1);
  ASSERT_FALSE(played->remedies.empty());
  for (const auto& remedy : played->remedies) EXPECT_TRUE(remedy.played.has_value());
  EXPECT_EQ(ask("job/holder", stage)->phase, Phase::admitted);
  EXPECT_EQ(made, 1) << "who runs has no remedies, and needs no copy";
}

TEST_F(ExplainedTarget, AListenerIsToldOfTheFactsOnceWhateverTheyAre) {
  std::vector<std::string> told;
  const WhyListener listener{[&](const Why& facts) { told.push_back(facts.object); }, {}, {}};
  const auto waits = ask("job/waits", {}, listener);
  ASSERT_TRUE(waits);
  EXPECT_EQ(told, std::vector<std::string>{waits->object});
}

TEST_F(ExplainedTarget, OneThatNeverWasIsAnErrorThatNamesIt) {
  int told = 0;
  const auto nobody = ask("job/nobody", {}, {[&](const Why&) { ++told; }, {}, {}});
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().kind, ErrorKind::not_found);
  EXPECT_NE(nobody.error().message.find("job default/nobody"), std::string::npos) << nobody.error().message;
  EXPECT_EQ(told, 0);
}

/// Manifests as the items of a step.
std::string as_items(const std::string& manifests) {
  std::string out, line;
  bool first = true;
  std::istringstream lines(manifests);
  while (std::getline(lines, line)) {
    if (line == "---") {
      first = true;
      continue;
    }
    out += (first ? "    - " : "      ") + line + "\n";
    first = false;
  }
  return out;
}

TEST(ExplainedTargetThatIsGone, IsExplainedByTheRecords) {
  Played run("apiVersion: hindsight.dev/v1alpha1\nkind: Scenario\nmetadata: {name: gone}\nspec:\n  steps:\n  - at: 0s\n    apply:\n" +
             as_items(holder_of_all) + "  - at: 30s\n    delete:\n    - {kind: Job, namespace: default, name: waits}\n");
  const Target target = parse_target("job/waits", "default").value();
  Trail trail(target);
  run.each([&](events::Position p, const RecordView& r) { trail.add(p, r); });
  int told = 0;
  const auto gone = explain_target(run.state(run.end()), target, trail, {}, {[&](const Why&) { ++told; }, {}, {}});
  ASSERT_TRUE(gone) << gone.error().message;
  EXPECT_TRUE(gone->deleted);
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace hindsight::projections
