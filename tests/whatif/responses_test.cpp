// What is remembered of a log, and for how long.

#include "whatif/responses.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/whatif/played_on.hpp"
#include "whatif/sample.hpp"

namespace hindsight::whatif {
namespace {

using projections::basics;
using projections::job_text;
using projections::Played;
using projections::queue_text;

TEST(Sample, KeepsTheNewestInOrder) {
  Sample s(3);
  EXPECT_TRUE(s.empty());
  EXPECT_EQ(s.median(Duration{7}), Duration{7});
  for (const int d : {50, 10, 40, 20, 30}) s.add(Duration{d});
  EXPECT_EQ(s.size(), 3U);  // 40, 20, 30
  EXPECT_EQ(s.median({}), Duration{30});
  EXPECT_EQ(s.draw(Duration{30}, 123), Duration{40});
  EXPECT_FALSE(s.draw(Duration{40}, 123));
  for (std::uint64_t n = 0; n < 3; ++n) EXPECT_EQ(s.draw({}, n), Duration{20 + 10 * static_cast<std::int64_t>(n)});
}

/// Tells of a job from its start to its end and its deletion, at `from` seconds.
void tell_of_life(Responses& responses, const std::string& uid, std::int64_t from, std::int64_t runs, bool deleted = true) {
  RecordView r;
  JobObserved job;
  job.meta.uid = uid;
  job.meta.name = uid;
  job.queue_name = "lq";
  const auto tell = [&](std::int64_t second) {
    r.envelope.time = Time::from_seconds(second);
    r.body = Observation{job};
    responses.see(r);
  };
  job.suspended = true;
  tell(from);
  job.suspended = false;
  job.active = true;
  tell(from + 1);
  job.finished = true;
  tell(from + 1 + runs);
  if (!deleted) return;
  ObjectDeleted gone;
  gone.kind = ObjectKind::job;
  gone.uid = uid;
  r.body = Observation{gone};
  responses.see(r);
}

TEST(Responses, OfThoseThatAreGoneKeepOnlyHowLongTheyRanWhereNobodyAsksForThem) {
  Responses responses;
  responses.remember_gone(false);
  for (int i = 0; i < 1'000; ++i) tell_of_life(responses, "uid" + std::to_string(i), i * 10, 60);
  EXPECT_EQ(responses.remembered(), 0U);
  tell_of_life(responses, "there", 20'000, 60, false);
  EXPECT_EQ(responses.remembered(), 1U);
  const auto drawn = responses.draw_run_time("somebody else", {}, 5);
  ASSERT_TRUE(drawn);
  EXPECT_EQ(drawn->time, Duration::seconds(60));
  responses.remember_gone(true);
  tell_of_life(responses, "later", 30'000, 70);
  EXPECT_EQ(responses.remembered(), 2U);
  EXPECT_EQ(responses.run_time("later")->time, Duration::seconds(70));
  EXPECT_TRUE(responses.run_time("later")->own);
}

TEST(Responses, KnowHowLongAJobRanInAllWhereProgressIsKept) {
  // It is preempted after 30 of its 100 s, and runs for 100 s afterwards.
  const Played p(basics + queue_text({.name = "cq", .cpu = "1", .more = "  preemption: {withinClusterQueue: LowerPriority}\n"}) +
                 job_text({.name = "urgent", .arrives = 30, .runs = 50, .priority_class = "high"}) +
                 job_text({.name = "victim", .runs = 100}));
  for (const Progress progress : {Progress::lost, Progress::kept}) {
    Changes changes;
    changes.dropped.emplace_back("job/default/urgent");
    const PlayedOn c(p.log, p.at(60), changes, false, Duration::seconds(600), progress);
    // Of all its work, 130 s where progress is kept, 30 s are done at the moment.
    const Duration ran = c.would_be("victim").ended - c.comparison.would_be.begun();
    EXPECT_NEAR(static_cast<double>(ran.micros) / 1e6, 100, 3);
    EXPECT_TRUE(c.verifies());
  }
  {
    Changes changes;
    changes.quotas.push_back(*parse_quota_change("cq/cq:cpu=2"));
    const PlayedOn lost(p.log, p.at(5), changes, false, Duration::seconds(600), Progress::lost);
    const PlayedOn kept(p.log, p.at(5), changes, false, Duration::seconds(600), Progress::kept);
    const auto seconds = [](const PlayedOn& c) {
      return static_cast<double>((c.would_be("victim").ended - c.would_be("victim").started).micros) / 1e6;
    };
    EXPECT_NEAR(seconds(lost), 100, 2);
    EXPECT_NEAR(seconds(kept), 130, 3);  // all that it ran on record was work
  }
}

TEST(Responses, RememberTheChildrenOfAJobByTheirDistanceToItsStart) {
  Responses responses;
  RecordView r;
  JobObserved owner, child;
  owner.meta.uid = "owner";
  child.meta.uid = "child";
  child.owner_uid = "owner";
  const auto tell = [&](const JobObserved& job, std::int64_t second) {
    r.envelope.time = Time::from_seconds(second);
    r.body = Observation{job};
    responses.see(r);
  };
  owner.suspended = true;
  tell(owner, 100);
  child.meta.uid = "too early";
  tell(child, 101);
  owner.suspended = false;
  tell(owner, 110);
  child.meta.uid = "child";
  tell(child, 117);
  tell(child, 119);
  ASSERT_EQ(responses.children_of("owner").size(), 1U);
  EXPECT_EQ(responses.children_of("owner").front().after, Duration::seconds(7));
  EXPECT_EQ(responses.children_of("owner").front().uid, "child");
  EXPECT_TRUE(responses.children_of("nobody").empty());
  for (std::size_t i = 0; i < 2 * Responses::children_of_a_job_max; ++i) {
    const std::string uid = "child " + std::to_string(i);
    child.meta.uid = uid;
    tell(child, 120);
  }
  EXPECT_EQ(responses.children_of("owner").size(), Responses::children_of_a_job_max);
}

TEST(Responses, AnswerAChecksAttemptAsItWasAnsweredElseAsMost) {
  Responses responses;
  RecordView r;
  const auto reserve = [&](const std::string& uid, std::int64_t second) {
    QuotaReserved reserved;
    reserved.workload.uid = uid;
    Event event = reserved;
    r.envelope.time = Time::from_seconds(second);
    Arena arena;
    auto events = arena.make<Event>(1);
    events[0] = event;
    Decisions d;
    d.events = {events.begin(), events.end()};
    r.body = d;
    responses.see(r);
  };
  const auto told = [&](const std::string& uid, CheckState state, std::int64_t second) {
    WorkloadObserved w;
    w.meta.uid = w.meta.name = uid;
    CheckFacts check;
    check.name = "c";
    check.state = state;
    const std::vector<CheckFacts> checks{check};
    w.checks = checks;
    r.envelope.time = Time::from_seconds(second);
    r.body = Observation{w};
    responses.see(r);
  };
  told("w", CheckState::pending, 0);
  reserve("w", 10);
  told("w", CheckState::retry, 13);
  reserve("w", 20);
  told("w", CheckState::ready, 29);
  EXPECT_EQ(responses.answer("w", "c", 0)->after, Duration::seconds(3));
  EXPECT_EQ(responses.answer("w", "c", 0)->status.state, CheckState::retry);
  EXPECT_EQ(responses.answer("w", "c", 1)->after, Duration::seconds(9));
  EXPECT_EQ(responses.answer("w", "c", 1)->status.state, CheckState::ready);
  EXPECT_EQ(responses.answer("somebody else", "c", 0)->status.state, CheckState::ready);
  EXPECT_FALSE(responses.answer("w", "never", 0));
}

}  // namespace
}  // namespace hindsight::whatif
