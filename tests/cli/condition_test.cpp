// Conditions and values that `bisect` and `blame` take.

#include "cli/condition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "cli/remembered_values.hpp"

#include "tests/projections/simulated.hpp"

namespace hindsight::cli {
namespace {

using projections::Played;

class Conditions : public ::testing::Test {
 protected:
  Conditions()
      : played_(projections::basics + projections::queue_text({.name = "cq", .cpu = "1"}) + projections::job_text({.name = "first"}) +
                projections::job_text({.name = "second", .arrives = 5})) {}

  /// The first record behind which it holds; 0: none.
  events::Position first(const std::string& text) {
    const auto condition = Condition::parse(text);
    EXPECT_TRUE(condition) << condition.error().message;
    events::Position found = 0;
    replay::Past past(played_.log, "default");
    past.look_on({}, [&](events::Position at, const RecordView& r) {
      if (found == 0 && condition->holds(past.driver(), r)) found = at;
    });
    EXPECT_TRUE(past.fold_to(played_.end()));
    return found;
  }

  Played played_;
};

TEST_F(Conditions, AskTheRecord) {
  EXPECT_EQ(first("event QuotaReserved"), played_.first<QuotaReserved>());
  EXPECT_EQ(first("event WorkloadPreempted"), 0U);
  EXPECT_EQ(first("event QuotaReserved of default/none"), 0U);
  EXPECT_EQ(first("event QuotaReserved and clusterqueue/cq"), played_.first<QuotaReserved>());
}

TEST_F(Conditions, AskTheState) {
  const auto waits = first("clusterqueue/cq:.status.pendingWorkloads > 0");
  ASSERT_GT(waits, 0U);
  EXPECT_EQ(first("not (clusterqueue/cq:.status.pendingWorkloads <= 0) and clusterqueue/cq"), waits);
  EXPECT_EQ(first("clusterqueue/cq:.status.pendingWorkloads == 99"), 0U);
  EXPECT_GT(first("job/default/second:.metadata.name"), 0U);
  EXPECT_EQ(first("clusterqueue/none"), 0U);
  EXPECT_GT(first("clusterqueue/none or clusterqueue/cq"), 0U);
  EXPECT_LT(first("clusterqueue/cq:.spec.resourceGroups[0].flavors[0].resources[0].nominalQuota == 1000m"), waits);
}

// Issue 19, section 2: `workload team-a/x`, `queue q pending>10`, `clusterqueue/q.usage.cpu`
TEST_F(Conditions, HaveShortForms) {
  const auto waits = first("clusterqueue/cq:.status.pendingWorkloads > 0");
  ASSERT_GT(waits, 0U);
  for (const char* same : {"queue cq pending>0", "queue cq pending >= 1", "clusterqueue/cq.pending > 0", "cq/cq.pending==1",
                           "localqueue/default/lq-cq.pending > 0 and queue cq pending>0"})
    EXPECT_EQ(first(same), waits) << same;
  const auto runs = first("clusterqueue/cq:.status.flavorsUsage[0].resources[0].total == 1");
  ASSERT_GT(runs, waits);
  EXPECT_EQ(first("clusterqueue/cq.usage.cpu > 0"), runs);
  EXPECT_EQ(first("queue cq usage.cpu >= 1000m"), runs);
  EXPECT_EQ(first("queue cq usage.cpu > 1"), 0U);
  EXPECT_EQ(first("queue cq used.cpu == 1"), first("queue cq available.cpu == 0"));
  EXPECT_EQ(first("queue cq usage.nvidia.com/gpu"), 0U) << "it has no quota of it";
  EXPECT_EQ(first("job/default/second.phase == Pending"), first("job/default/second:.status.hindsight.phase == Pending"));
}

TEST_F(Conditions, AskWhomARecordIsAbout) {
  const auto& workload = *projections::find_workload(played_.state(played_.end()), {"job", "default", "second"})->workload;
  const std::string name(workload.name.text());
  std::set<events::Position> of_workload, of_job;
  const auto by_name = Condition::parse("workload " + name), by_job = Condition::parse("job default/second");
  ASSERT_TRUE(by_name && by_job);
  RememberedValues remembered;
  replay::Past past(played_.log, "default");
  past.look_on({}, [&](events::Position at, const RecordView& r) {
    remembered.behind(past, r);
    if (by_name->holds(past.driver(), r)) of_workload.insert(at);
    const bool about_job = by_job->holds(past.driver(), r, &remembered);
    EXPECT_EQ(about_job, by_job->holds(past.driver(), r)) << "at " << at;
    if (about_job) of_job.insert(at);
  });
  ASSERT_TRUE(past.fold_to(played_.end()));
  EXPECT_GT(of_workload.size(), 3U);
  EXPECT_TRUE(std::ranges::includes(of_job, of_workload)) << "what is about its Workload is about the job";
  EXPECT_GT(of_job.size(), of_workload.size());
  EXPECT_LT(*of_job.begin(), *of_workload.begin()) << "the job comes first";
  EXPECT_TRUE(of_workload.contains(first("event QuotaReserved of default/" + name)));
  EXPECT_FALSE(of_workload.contains(played_.first<QuotaReserved>())) << "that one is of the other job";
}

TEST_F(Conditions, ThatAreWrongAreRefusedWithThePlace) {
  const auto error = [](const std::string& text) {
    const auto read = Condition::parse(text);
    EXPECT_FALSE(read) << text;
    return read ? std::string() : read.error().message;
  };
  EXPECT_NE(error("").find("the condition ends too early; allowed here: event KIND"), std::string::npos);
  EXPECT_NE(error("event Nothing").find("at character 7: found \"Nothing\"; allowed behind event: "), std::string::npos);
  EXPECT_NE(error("clusterqueue/a:.x >").find("allowed behind >: a value"), std::string::npos);
  EXPECT_NE(error("(clusterqueue/a").find("allowed here: )"), std::string::npos);
  EXPECT_NE(error("clusterqueue/a clusterqueue/b").find("at character 16"), std::string::npos);
  EXPECT_NE(error("pending > 10").find("at character 1: found \"pending\""), std::string::npos);
  EXPECT_NE(error("kind/a").find("kind"), std::string::npos);
  EXPECT_NE(error("queue a waiting > 1").find("at character 9: found \"waiting\"; allowed behind queue NAME: pending, reserving"),
            std::string::npos);
  EXPECT_NE(error("queue a usage > 1").find("usage.RESOURCE"), std::string::npos);
  EXPECT_NE(error("queue a > 1").find("at character 9: found \">\""), std::string::npos);
  EXPECT_NE(error("queue").find("allowed behind queue: NAME FIELD"), std::string::npos);
  EXPECT_NE(error("workload").find("allowed behind workload: NAME or NAMESPACE/NAME"), std::string::npos);
  EXPECT_NE(error("workload a/b/c/d").find("at character 10: found \"a/b/c/d\""), std::string::npos);
  EXPECT_NE(error("clusterqueue/a:.x == 'open").find("a quote that is not closed"), std::string::npos);
  EXPECT_NE(error(std::string(5000, 'x')).find("allowed: at most 4096"), std::string::npos);
  EXPECT_NE(error(std::string(100, '(')).find("nested more than 32 deep"), std::string::npos);
  EXPECT_NE(error("clusterqueue/a ! b").find("found \"!\""), std::string::npos);
}

TEST_F(Conditions, OfAnyTextAreReadOrRefused) {
  static constexpr std::string_view pieces[] = {"event",
                                                "QuotaReserved",
                                                "of",
                                                "(",
                                                ")",
                                                "and",
                                                "or",
                                                "not",
                                                "clusterqueue/cq",
                                                "queue",
                                                "workload",
                                                "job",
                                                "cq.usage.cpu",
                                                "pending",
                                                "workload/a/b",
                                                ":.status",
                                                "[?(@.a==\"b\")]",
                                                "==",
                                                "<",
                                                ">=",
                                                "10",
                                                "\"t\"",
                                                "'",
                                                "\xff",
                                                ":"};
  std::mt19937_64 random(3);
  const auto& state = played_.state(played_.end());
  RecordView record;
  record.body = Observation{TimerFired{}};
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (auto n = random() % 8; n > 0; --n) text += std::string(pieces[random() % std::size(pieces)]) + (random() % 4 == 0 ? "" : " ");
    const auto condition = Condition::parse(text);
    if (!condition) continue;
    ++read;
    (void)condition->holds(state, record);
    (void)condition->values(state);
  }
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace hindsight::cli
