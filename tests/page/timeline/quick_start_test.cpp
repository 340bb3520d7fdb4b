// The timeline of the quick start: the log that everybody sees first.

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "page/timeline/timeline_index.hpp"
#include "tests/page/timeline/busy_history.hpp"
#include "tests/projections/simulated.hpp"
#include "tests/support/sanitized.hpp"

namespace hindsight::page {
namespace {

TEST(QuickStartTimeline, ShowsEveryRecord) {
  const projections::Played run(std::vector<std::string>{"examples/quickstart"});
  const events::Position last = run.log.last().value();
  const auto moments = timeline::all_moments(run.log);
  const auto index = TimelineIndex::start(run.log, "default");
  const auto deadline = std::chrono::steady_clock::now() + patience(60);
  while (!index->complete() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_EQ(index->scanned_to(), last);

  const auto t = index->at({.columns = 2000});
  ASSERT_TRUE(t) << t.error().message;
  std::uint64_t admitted = 0, evicted = 0, told = 0;
  for (const auto& m : moments) {
    admitted += m.admitted;
    evicted += m.evicted;
  }
  ASSERT_GT(admitted, 0U);
  ASSERT_GT(evicted, 0U) << "somebody is preempted in it";
  for (std::size_t i = 0; i < 2000; ++i) {
    const auto& m = moments.at((*t)["position"][i].get<std::size_t>());
    EXPECT_EQ((*t)["waiting"][i], m.waiting) << i;
    EXPECT_EQ((*t)["running"][i], m.running) << i;
    EXPECT_EQ((*t)["used"][i].is_null() ? timeline::not_known : (*t)["used"][i].get<std::int64_t>(), m.used) << i;
    admitted -= (*t)["admitted"][i].get<std::uint64_t>();
    evicted -= (*t)["evicted"][i].get<std::uint64_t>();
  }
  EXPECT_EQ(admitted, 0U);
  EXPECT_EQ(evicted, 0U);
  for (const auto& mark : (*t)["marks"]) told += mark["kind"] == "eviction" ? mark["count"].get<std::uint64_t>() : 0;
  EXPECT_GT(told, 0U);
  EXPECT_GT((*t)["resources"].size(), 0U);
}

}  // namespace
}  // namespace hindsight::page
