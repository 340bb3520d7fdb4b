// When a Workload will start is told from futures; what is told is compared with what came.

#include "whatif/future.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "replay/scan.hpp"
#include "tests/projections/simulated.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::whatif {
namespace {

using projections::basics;
using projections::job_text;
using projections::Played;
using projections::queue_text;

/// What is known of a log up to a position.
struct Known_ {
  Responses responses;
  Arrivals arrivals;

  Known_(const events::Log& log, events::Position to) {
    EXPECT_TRUE(replay::scan(log, "default", 1, to, [&](const auto&, const RecordView& r) {
      responses.see(r);
      arrivals.see(r);
      return true;
    }));
  }
};

Estimate estimate_at(Played& p, const std::string& job, events::Position at, std::size_t futures,
                     Duration horizon = Duration::seconds(86'400)) {
  const Known_ known(p.log, at);
  replay::Past past(p.log, "default");
  EXPECT_TRUE(past.go_to(at));
  const auto w = projections::find_workload(past.driver(), projections::parse_target("job/" + job, "default").value());
  EXPECT_TRUE(w) << w.error().message;
  if (!w) return {};
  const auto stage = projections::Stage::of(past.driver());
  return estimate(stage, known.responses, known.arrivals, w->workload->uid.text(), futures, horizon);
}

TEST(Eta, IsTheEndOfTheOneThatRunsWhereAllRunEquallyLong) {
  std::string text = basics + queue_text({.name = "cq", .cpu = "1"});
  for (int i = 0; i < 6; ++i) text += job_text({.name = "j" + std::to_string(i), .arrives = i * 110, .runs = 100});
  text += job_text({.name = "waits", .arrives = 600, .runs = 100});
  Played p(text);
  // j5 came at 550 and runs to 650
  const auto e = estimate_at(p, "waits", p.at(601), 20);
  ASSERT_TRUE(e.median);
  const Time now = [&] {
    replay::Past past(p.log, "default");
    EXPECT_TRUE(past.go_to(p.at(601)));
    return past.driver().domain().now();
  }();
  EXPECT_NEAR(static_cast<double>((*e.median - now).micros) / 1e6, 50, 3);
  EXPECT_EQ(e.started, 20U);
}

TEST(Eta, IsUnknownWhereNothingEverEnded) {
  Played p(basics + queue_text({.name = "cq", .cpu = "1"}) + job_text({.name = "first", .runs = 100}) +
           job_text({.name = "waits", .arrives = 10, .runs = 100}));
  const auto e = estimate_at(p, "waits", p.at(20), 10, Duration::seconds(3600));
  EXPECT_EQ(e.started, 0U);
  EXPECT_FALSE(e.median);
}

TEST(Eta, ARecordOfAMomentSaysNothingOfArrivals) {
  Arrivals arrivals;
  for (std::int64_t i = 0; i < 3; ++i) {
    RecordView r;
    r.envelope.time = Time{1'000'000 + i};
    const std::string uid = "uid" + std::to_string(i);
    JobObserved job;
    job.meta.uid = uid;
    r.body = Observation{job};
    arrivals.see(r);
  }
  EXPECT_EQ(arrivals.draw(Time{1'000'002}, 7).length, Duration{});
  EXPECT_TRUE(arrivals.draw(Time{1'000'002}, 7).arrivals.empty());
}

/// Deterministic, the same on every machine.
class Numbers {
 public:
  double uniform() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11) / 9007199254740992.0;
  }
  int exponential(double mean) { return 1 + static_cast<int>(-mean * std::log(1 - uniform())); }

 private:
  std::uint64_t state_ = 42;
};

TEST(Eta, HoldsInEightOfTenCasesWhatItSaysOfEightOfTenFutures) {
  Numbers random;
  std::string text = basics + queue_text({.name = "cq", .cpu = "4"});
  int at = 0;
  // With AddressSanitizer so many that all that is done is done; how often it holds is told from all of them.
  constexpr int jobs = as_much_as(1100, 300), cases_asked = as_much_as(500, 40);
  for (int i = 0; i < jobs; ++i) {
    at += random.exponential(28);
    text += job_text({.name = "j" + std::to_string(i), .arrives = at, .runs = random.exponential(100)});
  }
  Played p(text);
  // who waited, from the arrival to the start
  struct Case {
    std::string job;
    events::Position at = 0;
    Time start;
  };
  std::map<std::string, Case> cases;
  p.each([&](events::Position position, const RecordView& r) {
    if (const auto* o = std::get_if<Observation>(&r.body)) {
      if (const auto* w = std::get_if<WorkloadObserved>(o))
        cases.try_emplace(std::string(w->meta.uid), Case{std::string(w->owner_name), position, {}});
    } else if (const auto* d = std::get_if<Decisions>(&r.body)) {
      for (const Event& e : d->events)
        if (const auto* q = std::get_if<QuotaReserved>(&e))
          if (const auto it = cases.find(std::string(q->workload.uid)); it != cases.end() && !it->second.start.is_set())
            it->second.start = r.envelope.time;
    }
  });
  std::vector<Case> in_order;
  for (const auto& [uid, c] : cases) in_order.push_back(c);
  std::ranges::sort(in_order, {}, &Case::at);
  // One pass: what is known grows with the log.
  Responses responses;
  Arrivals arrivals;
  replay::Past past(p.log, "default");
  past.look_on({}, [&](events::Position, const RecordView& r) {
    responses.see(r);
    arrivals.see(r);
  });
  int asked = 0, held = 0;
  for (const Case& c : in_order) {
    if (std::stoi(c.job.substr(1)) < 150 || asked == cases_asked) continue;
    ASSERT_TRUE(past.fold_to(c.at + 1));
    const auto at_arrival = projections::find_workload(past.driver(), projections::parse_target("job/" + c.job, "default").value());
    if (!at_arrival || at_arrival->workload->reserved()) continue;
    if (c.start - past.driver().domain().now() < Duration::seconds(2)) continue;  // it did not wait
    const auto stage = projections::Stage::of(past.driver());
    const auto e = estimate(stage, responses, arrivals, at_arrival->workload->uid.text(), 20, Duration::seconds(86'400));
    ++asked;
    if (e.early && c.start >= *e.early - Duration::seconds(1) && (!e.late || c.start <= *e.late + Duration::seconds(1))) ++held;
  }
  EXPECT_EQ(asked, cases_asked);
  EXPECT_GE(held * 100, asked * as_much_as(75, 60)) << held << " of " << asked << " held";
  EXPECT_LE(held * 100, asked * as_much_as(85, 99)) << held << " of " << asked << " held";
}

}  // namespace
}  // namespace hindsight::whatif
