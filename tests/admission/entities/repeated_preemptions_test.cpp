// Workloads that keep preempting the same others (base-admission D13): how that is noticed, and how it ends.

#include "admission/scheduling/repeated_preemptions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

constexpr std::uint32_t limit = 3;

std::vector<std::string> left_alone(const RepeatedPreemptions& r, std::string_view preemptor) {
  std::vector<std::string> out;
  for (const auto* c : r.left_alone_by(preemptor)) out.push_back(c->victim);
  return out;
}

using Uids = std::vector<std::string>;

TEST(RepeatedPreemptions, AVictimIsLeftAloneAfterTheLimitUntilThereIsNews) {
  RepeatedPreemptions r;
  r.note("x", "v", 1, limit);
  r.note("x", "v", 2, limit);
  r.note("x", "w", 2, limit);
  EXPECT_FALSE(r.any());
  r.note("x", "v", 3, limit);
  EXPECT_EQ(left_alone(r, "x"), Uids{"v"});
  EXPECT_EQ(left_alone(r, "v"), Uids{}) << "one way only";
  EXPECT_TRUE(r.news(4, limit));
  EXPECT_FALSE(r.any());
  EXPECT_FALSE(r.news(5, limit)) << "nobody was left alone any more";
  r.note("x", "v", 6, limit);
  r.note("x", "v", 7, limit);
  EXPECT_FALSE(r.any()) << "counting begins anew with news";
  r.note("x", "v", 8, limit);
  EXPECT_TRUE(r.any());
}

TEST(RepeatedPreemptions, OfCirclesOfThreeEachPairIsCounted) {
  RepeatedPreemptions r;
  for (std::uint64_t i = 1; i <= 9; i += 3) {
    r.note("a", "b", i, limit);
    r.note("b", "c", i + 1, limit);
    r.note("c", "a", i + 2, limit);
  }
  EXPECT_EQ(r.left_alone_count(), 3U);
}

TEST(RepeatedPreemptions, NewsDoesNotHelpAPairThatGoesOnAllTheSame) {
  RepeatedPreemptions r;
  std::uint64_t sequence = 0;
  for (std::uint32_t i = 0; i < limit * RepeatedPreemptions::in_all_factor; ++i) {
    EXPECT_FALSE(r.any()) << i;
    r.note("x", "v", ++sequence, limit);
    (void)r.news(++sequence, limit);
  }
  EXPECT_EQ(left_alone(r, "x"), Uids{"v"});
  EXPECT_FALSE(r.news(++sequence, limit));
  EXPECT_TRUE(r.any());
  EXPECT_TRUE(r.clear()) << "another configuration is another matter";
  EXPECT_FALSE(r.any());
}

TEST(RepeatedPreemptions, APreemptorThatGoesIsForgotten) {
  RepeatedPreemptions r;
  for (std::uint64_t i = 1; i <= limit; ++i) r.note("x", "v", i, limit);
  EXPECT_FALSE(r.forget("v"));
  EXPECT_TRUE(r.forget("x"));
  EXPECT_FALSE(r.any());
  EXPECT_TRUE(r.counts().empty());
}

TEST(RepeatedPreemptions, WithoutALimitNothingIsCounted) {
  RepeatedPreemptions r;
  for (std::uint64_t i = 1; i <= 100; ++i) r.note("x", "v", i, 0);
  EXPECT_TRUE(r.counts().empty());
}

TEST(RepeatedPreemptions, RemembersTheLatestVictimsOfAPreemptorOnly) {
  RepeatedPreemptions r;
  for (std::uint64_t i = 1; i <= limit; ++i) r.note("x", "first", i, limit);
  EXPECT_EQ(r.left_alone_count(), 1U);
  for (std::uint64_t i = 0; i < 10 * RepeatedPreemptions::victims_max; ++i) r.note("x", "v" + std::to_string(i), 10 + i, limit);
  EXPECT_EQ(r.counts().at("x").size(), RepeatedPreemptions::victims_max);
  EXPECT_EQ(r.left_alone_count(), 0U) << "it was preempted longest ago";
}

/// What the explorer found: `x` needs the places of three. Two of them leave at once and one, `slow`, keeps what it has. While it does, the
/// queue of `x` counts as borrowing with `x`, so that `back`, which has just been preempted, goes before it: base-admission §6.1.
class ComesBackFirst : public ::testing::Test {
 protected:
  void start(Settings settings = {}) {
    settings.fair_sharing = true;
    w.configure(settings);
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "high",
             .cohort = "all",
             .cpu = 4'000,
             .within = PreemptionPolicy::lower_priority,
             .reclaim = PreemptionPolicy::lower_or_newer_equal_priority,
             .weight_nano = 0});
    w.queue({.name = "low", .cohort = "all", .cpu = 1'000});
    w.local_queue("l-high", "high");
    w.local_queue("l-low", "low");
    w.observe(MirrorSynced{});
    pass();
    w.observe(w.workload("slow", "l-high", 1'000));
    w.observe(w.workload("stays", "l-low", 1'000));
    pass();
    for (const auto& [name, queue] : {std::pair{"own", "l-high"}, std::pair{"back", "l-low"}}) {
      const auto job = w.job(name, queue, 1'500);
      jobs[std::string(job.meta.uid)] = job;
      w.observe(job);
      pass();
      w.observe(w.workload_of(job));
      pass();
    }
    w.observe(w.workload("x", "l-high", 4'000, 100));
  }
  /// A second; whatever is due and decided in it. No start of a job gets through before the job is evicted.
  std::vector<std::string> pass() {
    w.tick(Duration::seconds(1));
    std::vector<std::string> decided;
    for (bool more = true; std::exchange(more, false);) {
      for (auto& d : w.settle()) decided.push_back(std::move(d));
      for (const auto& intent : w.wanted<JobIntent>()) {
        if (intent.settles == 0) continue;
        JobObserved job = jobs.at(intent.uid);
        job.meta.resource_version = 0;
        job.start_settled = intent.settles;
        w.observe(job);
        more = true;
      }
    }
    preempted += std::count(decided.begin(), decided.end(), "preempted back InCohortReclamation");
    return decided;
  }
  mutable FactWorld w;
  std::map<std::string, JobObserved> jobs;  ///< By uid.
  std::ptrdiff_t preempted = 0;
};

// D13: without a limit, as in Kueue, this has no end
TEST_F(ComesBackFirst, WithoutALimitItGoesOnForEver) {
  Settings endless;
  endless.repeated_preemptions = 0;
  start(endless);
  for (int i = 0; i < 40; ++i) (void)pass();
  EXPECT_GE(preempted, 20);
}

// D13: it is preempted three times, and then left alone; the domain is at rest, and says why
TEST_F(ComesBackFirst, TheDomainComesToRest) {
  start();
  for (int i = 0; i < 20; ++i) (void)pass();
  EXPECT_EQ(preempted, 3);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(pass(), std::vector<std::string>{});
  EXPECT_TRUE(w.state("back").reserved());
  EXPECT_FALSE(w.state("x").reserved());
  EXPECT_NE(w.pending("x").find("Not preempting 1 workload(s) again, which came back each time"), std::string::npos) << w.pending("x");
  EXPECT_EQ(left_alone(w.driver().domain().repeated_preemptions(), "uid-x"), Uids{"uid-back"});
}

// D13: a job that is new is news; so is a change of configuration
TEST_F(ComesBackFirst, NewsGivesItAnotherTry) {
  start();
  for (int i = 0; i < 20; ++i) (void)pass();
  ASSERT_EQ(preempted, 3);
  w.observe(w.job("other", "nowhere"));
  EXPECT_FALSE(w.driver().domain().repeated_preemptions().any());
  for (int i = 0; i < 20; ++i) {
    w.queue({.name = "alone", .cpu = 1'000 + i % 2});  // wakes nobody here
    (void)pass();
  }
  EXPECT_EQ(preempted, 3) << "it waits parked until its tree is woken";
  w.queue({.name = "alone", .cohort = "all"});
  for (int i = 0; i < 20; ++i) (void)pass();
  EXPECT_EQ(preempted, 6);
}

// D13: with all of its room free it gets in
TEST_F(ComesBackFirst, ItGetsInWhenTheSlowOneHasLeft) {
  start();
  for (int i = 0; i < 20; ++i) (void)pass();
  w.observe(ObjectDeleted{ObjectKind::workload, "default", "slow", "uid-slow"});
  for (int i = 0; i < 5; ++i) (void)pass();
  EXPECT_TRUE(w.state("x").reserved()) << w.pending("x");
  EXPECT_FALSE(w.state("back").reserved());
}

// D13, BA-154: what is counted is state: in snapshots, and in the hash
TEST_F(ComesBackFirst, ASnapshotGoesOnAlike) {
  start();
  for (int i = 0; i < 2; ++i) (void)pass();
  Settings settings;
  settings.fair_sharing = true;
  FactWorld copy;
  copy.use(settings);
  copy.now = w.now;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  EXPECT_FALSE(copy.driver().domain().repeated_preemptions().counts().empty());
  for (FactWorld* f : {&w, &copy})
    for (int i = 0; i < 20; ++i) {
      f->tick(Duration::seconds(1));
      (void)f->settle();
      if (i == 5) {
        EXPECT_TRUE(f->driver().domain().repeated_preemptions().any());
      }
    }
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
}

/// D13 as the specification tells it: `x` preempts for its smallest count, for which its own queue has quota, and then asks for all.
class AsksForLessThenMore : public ComesBackFirst {
 protected:
  void start(Settings settings) {
    settings.fair_sharing = true;
    w.configure(settings);
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "a", .cohort = "all", .cpu = 4'000, .reclaim = PreemptionPolicy::any});
    w.queue({.name = "b", .cohort = "all", .cpu = 2'000, .reclaim = PreemptionPolicy::any});
    w.local_queue("l-a", "a");
    w.local_queue("l-b", "b");
    w.observe(MirrorSynced{});
    const auto job = w.job("v", "l-b", 3'000);
    jobs[std::string(job.meta.uid)] = job;
    w.observe(job);
    (void)pass();
    w.observe(w.workload_of(job));
    (void)pass();
    auto x = w.workload("x", "l-a", 1'000);
    auto pods = w.arena().make<PodSetFacts>(1);
    pods[0] = x.pod_sets[0];
    pods[0].count = 6;
    pods[0].min_count = 4;
    x.pod_sets = pods;
    w.observe(x);
  }
  std::ptrdiff_t preemptions_in(int seconds) {
    std::ptrdiff_t n = 0;
    for (int i = 0; i < seconds; ++i)
      for (const auto& line : pass()) n += line.starts_with("preempted ") ? 1 : 0;
    return n;
  }
};

// D13
TEST_F(AsksForLessThenMore, EndsWithALimit) {
  start({});
  EXPECT_GT(preemptions_in(20), 0);
  EXPECT_EQ(preemptions_in(20), 0);
  EXPECT_NE(w.state("v").reserved(), w.state("x").reserved());
}

TEST_F(AsksForLessThenMore, HasNoEndWithout) {
  Settings endless;
  endless.repeated_preemptions = 0;
  start(endless);
  (void)preemptions_in(20);
  EXPECT_GT(preemptions_in(20), 10);
}

}  // namespace
}  // namespace hindsight::admission::testing
