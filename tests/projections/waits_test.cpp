// How long Workloads waited for quota in a span of a log, and what became of them; percentiles; use on average.

#include "projections/waits.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "projections/usage_over_time.hpp"
#include "tests/projections/reading.hpp"

namespace hindsight::projections {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST(Percentile, IsTheNearestRank) {
  EXPECT_EQ(percentile({}, 50), std::nullopt);
  EXPECT_EQ(percentile(Numbers{7}, 1), 7);
  EXPECT_EQ(percentile(Numbers{7}, 100), 7);
  const Numbers five{15, 20, 35, 40, 50};
  EXPECT_EQ(percentile(five, 5), 15);
  EXPECT_EQ(percentile(five, 30), 20);
  EXPECT_EQ(percentile(five, 40), 20);
  EXPECT_EQ(percentile(five, 41), 35);
  EXPECT_EQ(percentile(five, 50), 35);
  EXPECT_EQ(percentile(five, 95), 50);
  EXPECT_EQ(percentile(five, 100), 50);
}

// The smallest of the values that so many of a hundred do not exceed, counted one by one.
TEST(Percentile, IsThatOfAPlainListWhateverTheValues) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    Numbers values(1 + random() % 150);
    const std::int64_t range = 1 + static_cast<std::int64_t>(random() % 1'000);
    for (auto& v : values) v = static_cast<std::int64_t>(random()) % range;
    Numbers sorted = values;
    std::sort(sorted.begin(), sorted.end());
    for (int percent = 1; percent <= 100; ++percent) {
      std::optional<std::int64_t> smallest;
      for (const auto candidate : values) {
        const auto below = std::count_if(values.begin(), values.end(), [&](std::int64_t v) { return v <= candidate; });
        const bool enough = static_cast<std::size_t>(below) * 100 >= values.size() * static_cast<std::size_t>(percent);
        if (enough && (!smallest || candidate < *smallest)) smallest = candidate;
      }
      ASSERT_EQ(percentile(sorted, percent), smallest) << percent << " of " << ::testing::PrintToString(sorted);
    }
    const WaitFigures figures = figures_of(values);
    EXPECT_EQ(figures.waits, values.size());
    EXPECT_EQ(figures.p50, percentile(sorted, 50));
    EXPECT_EQ(figures.p95, percentile(sorted, 95));
    EXPECT_EQ(figures.longest, sorted.back());
  }
}

TEST(WaitText, IsExactWhereItIsShort) {
  EXPECT_EQ(wait_text(0), "0s");
  EXPECT_EQ(wait_text(5), "0.005s");
  EXPECT_EQ(wait_text(400), "0.4s");
  EXPECT_EQ(wait_text(12'000), "12s");
  EXPECT_EQ(wait_text(119'050), "119.05s");
  EXPECT_EQ(wait_text(200'900), "3m20s");
  EXPECT_EQ(to_json(WaitFigures{}).dump(), R"({"count":0})");
  EXPECT_EQ(to_json(WaitFigures{2, 400, 1'200, 1'200}).dump(), R"({"count":2,"p50":400,"p95":1200,"max":1200})");
}

class WaitsOf : public Reading {
 protected:
  /// What is seen from the state after `from` on.
  Waits seen(events::Position from = 0) {
    w.flush();
    replay::Past past(log, "default");
    EXPECT_TRUE(past.go_to(from));
    Waits out;
    past.look_on([&](events::Position, const RecordView& r) { out.before(r, past.driver()); },
                 [&](events::Position, const RecordView& r) { out.after(r, past.driver()); });
    EXPECT_TRUE(past.fold_to(w.position()));
    return out;
  }
  void wait_seconds(int n) {
    w.tick(Duration::seconds(n));
    w.settle();
  }
};

TEST_F(WaitsOf, CountUntilQuota) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 1'000}}}});
  w.submit({.name = "first"});
  w.settle();
  wait_seconds(5);
  w.submit({.name = "second"});
  w.settle();
  wait_seconds(7);
  const auto middle = w.position();
  w.confirm();
  w.finish("first");
  w.wake();  // two seconds
  ASSERT_TRUE(w.state("second").admitted());

  const Waits all = seen();
  const auto& cq = all.of_queue(Symbol("cq"));
  EXPECT_EQ(cq.waits, (Numbers{0, 9'000}));
  EXPECT_EQ(cq.admitted, 2U);
  EXPECT_EQ(cq.finished, 1U);
  EXPECT_EQ(cq.evicted, 0U);
  EXPECT_EQ(all.of_local_queue(Symbol("default"), Symbol("lq")).waits, cq.waits);
  EXPECT_EQ(all.of_flavor(Symbol("default")).waits, cq.waits);
  EXPECT_EQ(all.of_flavor(Symbol("default")).finished, 1U);
  EXPECT_TRUE(all.of_queue(Symbol("elsewhere")).waits.empty());

  // A wait counts where it ends, from its beginning.
  EXPECT_EQ(seen(middle).of_queue(Symbol("cq")).waits, Numbers{9'000});
  EXPECT_EQ(seen(w.position()).of_queue(Symbol("cq")).admitted, 0U);
}

TEST_F(WaitsOf, BeginAnewWhenQuotaIsLost) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}, .within = PreemptionPolicy::lower_priority}});
  w.submit({.name = "low", .cpu = 4'000});
  w.settle();
  w.confirm();
  wait_seconds(10);
  w.submit({.name = "high", .cpu = 4'000, .priority = 10});
  w.settle();
  ASSERT_TRUE(w.state("low").evicted());
  w.confirm();
  wait_seconds(3);
  w.release("low");
  w.settle();
  ASSERT_TRUE(w.state("high").admitted());
  w.confirm();
  wait_seconds(4);
  w.finish("high");
  w.wake();
  ASSERT_TRUE(w.state("low").admitted());

  const auto cq = seen().of_queue(Symbol("cq"));
  EXPECT_EQ(cq.waits, (Numbers{0, 3'000, 6'000}));  // low, high, and low again, since its quota was given back
  EXPECT_EQ(cq.admitted, 3U);
  EXPECT_EQ(cq.evicted, 1U);
  EXPECT_EQ(cq.preempted, 1U);
  EXPECT_EQ(cq.finished, 1U);
}

TEST_F(WaitsOf, UseIsWeightedByTime) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}}});
  w.flush();
  replay::Past past(log, "default");
  const auto from = w.position();
  w.submit({.name = "first", .cpu = 3'000});
  w.settle();
  wait_seconds(10);
  w.submit({.name = "second", .cpu = 1'000});
  w.settle();
  wait_seconds(10);
  w.flush();
  ASSERT_TRUE(past.go_to(from));
  const Symbol cq("cq"), flavor("default"), cpu("cpu"), namespace_("default"), lq("lq");
  UsageOverTime queues(UsageOverTime::Of::cluster_queues, past.driver()), local(UsageOverTime::Of::local_queues, past.driver());
  past.look_on(
      [&](events::Position, const RecordView& r) {
        queues.before(r, past.driver());
        local.before(r, past.driver());
      },
      [&](events::Position, const RecordView& r) {
        queues.after(r, past.driver());
        local.after(r, past.driver());
      });
  ASSERT_TRUE(past.fold_to(w.position()));
  const Time end = past.driver().domain().now() + Duration::seconds(20);  // nothing happens, and time goes on
  queues.end(end, past.driver());
  local.end(end, past.driver());
  EXPECT_EQ(queues.span().micros, Duration::seconds(40).micros);
  EXPECT_EQ(queues.average(queues.integral(cq, Symbol(), flavor, cpu)), 3'750);  // 3 for 10 s, 4 for 30 s
  EXPECT_EQ(local.average(local.integral(namespace_, lq, flavor, cpu)), 3'750);
  EXPECT_EQ(queues.average(queues.integral(cq, Symbol(), Symbol("other"), cpu)), 0);
  EXPECT_EQ(queues.average(queues.integral(cq, Symbol(), flavor, cpu) + 1), 3'750) << "rounded to the nearest";
}

TEST_F(WaitsOf, ASpanWithoutLengthHasNoAverage) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}}});
  UsageOverTime usage(UsageOverTime::Of::cluster_queues, w.driver());
  usage.end(w.driver().now(), w.driver());
  EXPECT_EQ(usage.span().micros, 0);
  EXPECT_EQ(usage.average(7), 0);
}

}  // namespace
}  // namespace hindsight::projections
