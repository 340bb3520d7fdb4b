// Which records a filter lets through, and how a record looks as one bounded line.

#include "projections/record_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "events/json.hpp"
#include "vocabulary/utf8.hpp"

namespace hindsight::projections {
namespace {

RecordView record_of(Body body) {
  RecordView out;
  out.envelope = {"default", 7, 1, Time::from_seconds(1'767'225'600), 0};
  out.body = std::move(body);
  return out;
}

TEST(RecordFilter, NamesOfKindsAreThoseOfRecordsAndEventsEachOnce) {
  const auto kinds = all_kinds();
  EXPECT_EQ(std::set<std::string_view>(kinds.begin(), kinds.end()).size(), kinds.size());
  for (const char* known : {"JobObserved", "Decisions", "QuotaReserved", "EpochStarted", "TimerFired"})
    EXPECT_NE(std::find(kinds.begin(), kinds.end(), known), kinds.end()) << known;
}

TEST(RecordFilter, EveryListMustLetTheRecordThroughAndAnyOfItsWords) {
  const std::vector<Event> events{WorkloadAdmitted{.workload = {"u1", "team-a", "one"}},
                                  WorkloadPreempted{.workload = {"u2", "team-a", "two"},
                                                    .preemptor = {"u3", "team-b", "three"},
                                                    .preemptor_cluster_queue = "b",
                                                    .reason = "InCohortReclamation",
                                                    .message = "to make room"}};
  const RecordView decision = record_of(Decisions{6, StepKind::cycle, events});
  const RecordView timer = record_of(Observation{TimerFired{}});
  EXPECT_EQ(kind_of(decision), "Decisions");
  EXPECT_EQ(source_of(decision), "decided");
  EXPECT_EQ(source_of(timer), "observed");
  EXPECT_EQ(source_of(record_of(EpochStarted{"w", "1", 1})), "log");
  const auto passes = [&](const RecordFilter& filter) { return filter.matches(decision); };
  EXPECT_TRUE(passes({}));
  EXPECT_TRUE(passes({.kinds = {"TimerFired", "WorkloadPreempted"}}));
  EXPECT_TRUE(passes({.kinds = {"Decisions"}, .objects = {"three"}, .events = {"WorkloadAdmitted"}, .sources = {"decided"}}));
  EXPECT_FALSE(passes({.kinds = {"Decisions"}, .objects = {"four"}}));
  EXPECT_FALSE(passes({.events = {"Decisions"}})) << "that is no event";
  EXPECT_FALSE(passes({.sources = {"observed"}}));
  EXPECT_TRUE(passes({.objects = {"team-b/three"}}));
  EXPECT_TRUE(passes({.objects = {"u2"}}));
  EXPECT_FALSE(passes({.objects = {"team-b/two"}}));
  EXPECT_TRUE(passes({.texts = {"TO MAKE", "incohort"}})) << "whatever their case";
  EXPECT_FALSE(passes({.texts = {"to make", "absent"}})) << "all of them";
  EXPECT_FALSE(RecordFilter{.texts = {"2026"}}.matches(timer)) << "the envelope is no part of what it says";
}

TEST(RecordLine, IsOneLineOfNoMoreThanItsBytes) {
  std::vector<std::string> names;
  for (int i = 0; i < 500; ++i) names.push_back("w-" + std::to_string(i) + "\n\xc3\xa4\xe2\x80\xae");
  std::vector<Event> events;
  for (const auto& name : names) events.emplace_back(WorkloadAdmitted{.workload = {"u", "default", name}});
  const RecordView decision = record_of(Decisions{6, StepKind::life_cycle, events});
  const std::string all = hindsight::events::to_line(decision, 1'000'000);
  EXPECT_NE(all.find("w-499"), std::string::npos);
  EXPECT_EQ(all.find('\n'), std::string::npos);
  for (const std::size_t bytes : {std::size_t{4}, std::size_t{33}, std::size_t{64}, std::size_t{100}, std::size_t{1'000}}) {
    const std::string line = hindsight::events::to_line(decision, bytes);
    EXPECT_LE(line.size(), bytes);
    for (std::string_view rest = line; !rest.empty();) {
      const auto c = first_character(rest);
      ASSERT_GT(c.size, 0U) << "half a character in a line of " << bytes << " bytes";
      rest.remove_prefix(c.size);
    }
  }
  const std::string line = hindsight::events::to_line(decision, 1'000);
  EXPECT_TRUE(line.ends_with(" more")) << line;
}

}  // namespace
}  // namespace hindsight::projections
