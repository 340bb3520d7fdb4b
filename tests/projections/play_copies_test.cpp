// A play copies the trees that concern a Workload without those who stand behind others like them. Over random worlds in which many wait
// alike, what comes of a change is what comes of it on a copy of all of them. HINDSIGHT_SEED: only this world.

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/state/snapshot.hpp"
#include "projections/play.hpp"
#include "tests/projections/crowded_world.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::projections {
namespace {

using admission::SnapshotCodec;

std::string outcome_words(const Play::Outcome& o) {
  std::string out = std::string(o.starts ? "starts" : "waits") + (o.at_rest ? "" : ", without rest");
  const auto add = [&](std::string_view what, const std::vector<Play::Start>& all) {
    out += "\n " + std::string(what) + ":";
    for (const auto& s : all) {
      out += " " + s.name;
      for (const auto& [pair, amount] : s.amounts) out += "," + std::string(pair.first.text()) + "=" + std::to_string(amount);
    }
  };
  add("before", o.before);
  add("after", o.after);
  out += "\n evicted:";
  for (const auto& name : o.evicted) out += " " + name;
  return out;
}

/// A change that somebody might make; the same on every copy.
std::function<void(Play&)> some_change(CrowdedWorld& world, const std::string& asked) {
  const auto raise = [&world](Symbol queue, Amount by) -> std::function<void(Play&)> {
    const auto& flavor = world.driver().domain().catalog()->queue(queue)->groups.front().flavors.front();
    const std::vector<QuotaEdit> edits{{queue, false, flavor.flavor, Symbol("cpu"), flavor.quotas.front().nominal + by, {}}};
    return [edits](Play& play) { play.change(edits); };
  };
  switch (world.below(7)) {
    case 0:
      return raise(world.some_queue_name(), static_cast<Amount>(1 + world.below(5)) * 1'000);
    case 1:
      return raise(world.some_queue_name(), static_cast<Amount>(10 + world.below(40)) * 1'000);
    case 2: {
      const std::vector<std::string> ends{world.somebody(false), world.somebody(false), world.somebody(false)};
      return [ends](Play& play) {
        for (const auto& uid : ends) play.end(uid);
      };
    }
    case 3:
      return [asked](Play& play) { play.change(asked, AskEdit{.priority = 9}); };
    case 4:
      return [queue = world.some_queue_name()](Play& play) {
        play.change(queue,
                    PolicyEdit{.within_cluster_queue = PreemptionPolicy::lower_priority, .reclaim_within_cohort = PreemptionPolicy::any});
      };
    case 5: {  // who stood before others goes, and there is room
      const std::vector<std::string> leave{world.somebody(true), world.somebody(true), world.somebody(true), world.somebody(false)};
      return [leave, asked](Play& play) {
        for (const auto& uid : leave)
          if (uid != asked) play.end(uid);
      };
    }
    default:
      return [](Play&) {};
  }
}

TEST(PlayCopies, WhoStandsBehindOthersLikeHimMakesNoDifference) {
  const char* wish = std::getenv("HINDSIGHT_SEED");
  const std::uint64_t only = wish == nullptr ? 0 : std::strtoull(wish, nullptr, 10);
  const std::uint64_t first = only != 0 ? only : 1, seeds = only != 0 ? 1 : as_much_as<std::uint64_t>(160, 12);
  std::size_t thinned = 0, larger = 0, left_out = 0, differ_from_rest = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    CrowdedWorld world(seed);
    const std::string asked = world.somebody(true);
    if (asked.empty()) continue;
    const WorkloadAt at = find_by_uid(world.driver(), asked);
    const auto parent = world.driver().domain().find_parent(asked).value();
    const Stage all{SnapshotCodec::write_tree(world.driver().entities(), parent), [](Text json) { return events::read_settings(json); }};
    const std::string rest = outcome_words(play_out(all, asked, [](Play&) {}));
    const Stage few = Stage::of_tree(world.driver(), at, 1), two = Stage::of_tree(world.driver(), at, 2);
    ASSERT_TRUE(few.copies && two.copies);
    left_out += few.copies->thinned().left_out;
    for (int change = 0; change < 8; ++change) {
      const auto make = some_change(world, asked);
      const std::string wanted = outcome_words(play_out(all, asked, make));
      differ_from_rest += wanted != rest ? 1 : 0;
      for (const Stage* stage : {&few, &two}) {
        thinned += stage->copies->thinned().left_out != 0 ? 1 : 0;
        ASSERT_EQ(outcome_words(play_out(*stage, asked, make)), wanted) << "change " << change << "; repeat with HINDSIGHT_SEED=" << seed;
      }
    }
    larger += few.copies->grown() ? 1 : 0;
  }
  if (only != 0) return;
  EXPECT_GT(thinned, seeds * 4) << "of all plays on copies; else nothing is tested";
  EXPECT_GT(left_out, seeds * 4);
  EXPECT_GT(larger, seeds / 4) << "somebody behind whom others stand was reached";
  EXPECT_GT(differ_from_rest, seeds * 2);
}

}  // namespace
}  // namespace hindsight::projections
