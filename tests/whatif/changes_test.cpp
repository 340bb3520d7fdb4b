// What `hindsight what-if --set` takes, and what it refuses.

#include "whatif/changes.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/projections/simulated.hpp"

namespace hindsight::whatif {
namespace {

using projections::Played;

TEST(QuotaChanges, AreReadAsTheyAreWritten) {
  const auto set = parse_quota_change("clusterqueue/team-a:cpu=40").value();
  EXPECT_FALSE(set.is_cohort);
  EXPECT_EQ(set.node, "team-a");
  EXPECT_EQ(set.flavor, "");
  EXPECT_EQ(set.resource, "cpu");
  EXPECT_EQ(set.applied_to(8000), 40'000);
  EXPECT_EQ(parse_quota_change("cq/team-a:cpu=+500m")->applied_to(8000), 8500);
  EXPECT_EQ(parse_quota_change("cohort/c:memory=-1Gi")->applied_to(Amount{3} << 30), Amount{2} << 30);
  EXPECT_EQ(parse_quota_change("cohort/c:memory=-9Gi")->applied_to(Amount{3} << 30), 0);
  EXPECT_TRUE(parse_quota_change("cohort/c:memory=1")->is_cohort);
  EXPECT_EQ(parse_quota_change("cq/a:spot/cpu=1")->flavor, "spot");
  EXPECT_EQ(parse_quota_change("cq/a:nvidia.com/gpu=1")->flavor, "");
  EXPECT_EQ(parse_quota_change("cq/a:nvidia.com/gpu=1")->resource, "nvidia.com/gpu");
  EXPECT_EQ(parse_quota_change("cq/a:h100/nvidia.com/gpu=1")->flavor, "h100");
  EXPECT_EQ(parse_quota_change("cq/a:h100/nvidia.com/gpu=1")->resource, "nvidia.com/gpu");
}

TEST(QuotaChanges, ThatMeanNothingAreRefusedWithWhatIsAllowed) {
  for (const char* bad : {"", "team-a", "clusterqueue/a", "clusterqueue/a:cpu", "clusterqueue/a:cpu=", "clusterqueue/:cpu=1", "cq/a:=1",
                          "cq/a:cpu=many", "cq/a:cpu=+-1", "job/a:cpu=1", "cq/a:cpu=--1", "=:/"}) {
    const auto read = parse_quota_change(bad);
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().kind, ErrorKind::invalid) << bad;
    EXPECT_NE(read.error().message.find("allowed: "), std::string::npos) << read.error().message;
  }
}

TEST(QuotaChanges, OfAnyTextAreReadOrRefused) {
  std::mt19937_64 random(7);
  static constexpr std::string_view pieces[] = {"cq", "clusterqueue", "cohort", "/",  ":", "=", "+", "-", "cpu", "a",
                                                ".",  "1Gi",          "\xff",   "40", " "};
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    if (random() % 2 == 0) text = "cq/a:cpu=+4";
    for (auto n = random() % 9; n > 0; --n) text.insert(random() % (text.size() + 1), pieces[random() % std::size(pieces)]);
    const auto change = parse_quota_change(text);
    if (!change) continue;
    ++read;
    EXPECT_FALSE(change->node.empty()) << text;
    EXPECT_FALSE(change->resource.empty()) << text;
    EXPECT_GE(change->applied_to(5), 0) << text;
  }
  EXPECT_GT(read, 10);
}

TEST(QuotaChanges, ThatFindNothingInTheStateSayWhatThereIs) {
  Played p(projections::basics + projections::queue_text({.name = "cq"}));
  const auto& state = p.state(p.end());
  EXPECT_TRUE(check(*parse_quota_change("cq/cq:cpu=1"), state));
  EXPECT_TRUE(check(*parse_quota_change("cq/cq:default/cpu=1"), state));
  EXPECT_EQ(check(*parse_quota_change("cq/other:cpu=1"), state).error().message,
            "there is no ClusterQueue \"other\" at that moment; there are: cq");
  EXPECT_EQ(check(*parse_quota_change("cq/cq:gpu=1"), state).error().message, "ClusterQueue cq has no quota of gpu; it has: default/cpu");
  EXPECT_EQ(check(*parse_quota_change("cq/cq:spot/cpu=1"), state).error().message,
            "ClusterQueue cq has no quota of spot/cpu; it has: default/cpu");
}

}  // namespace
}  // namespace hindsight::whatif
