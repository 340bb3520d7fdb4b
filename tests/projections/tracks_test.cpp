// Stretches of waiting and running, without gaps, as the state has them.

#include "projections/tracks.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/projections/simulated.hpp"

namespace hindsight::projections {
namespace {

std::vector<TrackSpan> spans_of(Played& p) {
  std::vector<TrackSpan> out;
  Tracks tracks([&](const TrackSpan& s) { out.push_back(s); });
  replay::Past past(p.log, "default");
  tracks.begin(past.driver());
  past.look_on({}, [&](events::Position, const RecordView& r) { tracks.see(r, past.driver()); });
  EXPECT_TRUE(past.fold_to(p.end()));
  tracks.end(past.driver().domain().now());
  return out;
}

TEST(Tracks, OfAVictimAreItsWaitsRunsAndEvictions) {
  Played p(basics + queue_text({.name = "cq", .cpu = "1", .more = "  preemption: {withinClusterQueue: LowerPriority}\n"}) +
           job_text({.name = "victim", .runs = 100}) + job_text({.name = "urgent", .arrives = 30, .runs = 50, .priority_class = "high"}));
  std::vector<std::string> phases;
  Duration admitted;
  for (const auto& s : spans_of(p)) {
    if (s.job != "Job/victim") continue;
    phases.push_back(std::string(name_of(s.phase)));
    EXPECT_EQ(s.cluster_queue, "cq");
    EXPECT_FALSE(s.open);
    if (s.phase == Phase::admitted) admitted.micros += (s.end - s.begin).micros;
    if (s.phase == Phase::evicted) {
      EXPECT_EQ(s.reason, "InClusterQueue");
    }
  }
  const std::vector<std::string> expected{std::string(name_of(Phase::pending)), std::string(name_of(Phase::admitted)),
                                          std::string(name_of(Phase::evicted)), std::string(name_of(Phase::pending)),
                                          std::string(name_of(Phase::admitted))};
  EXPECT_EQ(phases, expected);
  EXPECT_NEAR(static_cast<double>(admitted.micros) / 1e6, 130, 3);  // 30 s in vain, then 100 s
}

TEST(Tracks, HaveNoGapsAndDoNotOverlapInTheQuickStart) {
  Played p(std::vector<std::string>{"examples/quickstart"});
  std::map<std::string, Time> ends;
  const auto spans = spans_of(p);
  EXPECT_GT(spans.size(), 30U);
  for (const auto& s : spans) {
    EXPECT_LE(s.begin, s.end);
    if (const auto it = ends.find(s.uid); it != ends.end()) {
      EXPECT_EQ(s.begin, it->second) << s.name;
    }
    ends[s.uid] = s.end;
  }
}

}  // namespace
}  // namespace hindsight::projections
