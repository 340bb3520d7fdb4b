// Conditions and values that `bisect` and `blame` take.

#include "cli/condition.hpp"

#include <gtest/gtest.h>

#include <random>

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
