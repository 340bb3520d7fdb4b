// The short form of a history: what says the same again is one line with a count, and nothing is lost from the count.

#include "projections/history_short.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "tests/projections/simulated.hpp"

namespace hindsight::projections {
namespace {

using Lines = std::vector<std::string>;

constexpr const char* lacks_4 =
    "tried in cq: WaitingForQuota, couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor spot, 4 more "
    "needed; parked";
constexpr const char* lacks_2 =
    "tried in cq: WaitingForQuota, couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor spot, 500m more "
    "needed; parked, with 3 equal workloads";

/// A history; offsets and seconds are 1, 2, 3, ...
class Told {
 public:
  Told& say(const std::string& kind, const std::string& text, const std::string& object = "Workload default/w") {
    HistoryEntry e;
    e.offset = e.sequence = entries.size() + 1;
    e.time = Time::from_seconds(static_cast<std::int64_t>(entries.size()) + 1);
    e.object = object;
    e.kind = kind;
    e.text = text;
    entries.push_back(e);
    return *this;
  }
  /// "offset: text"
  [[nodiscard]] Lines lines() const {
    Lines out;
    for (const auto& e : condensed(entries)) out.push_back(std::to_string(e.entry.offset) + ": " + short_text(e));
    return out;
  }

  std::vector<HistoryEntry> entries;
};

TEST(HistoryShort, TriesThatCameOutAlikeAreOneLine) {
  Told t;
  t.say("created", "created").say("tried", lacks_4).say("woken", "back in line").say("tried", lacks_4).say("woken", "back in line");
  t.say("tried", lacks_2).say("woken", "back in line").say("admitted", "quota reserved in cq; admitted");
  EXPECT_EQ(t.lines(), (Lines{
                           "1: created",
                           std::string("2: 3 times, last at 6 (1970-01-01T00:00:06.000000Z): ") + lacks_2,
                           "7: back in line",
                           "8: quota reserved in cq; admitted",
                       }));
}

TEST(HistoryShort, WhatWasSaidOnceStaysAsItIs) {
  Told t;
  t.say("woken", "back in line").say("tried", lacks_4).say("preempts", "preempts default/x: InClusterQueue");
  EXPECT_EQ(t.lines(), (Lines{"1: back in line", std::string("2: ") + lacks_4, "3: preempts default/x: InClusterQueue"}));
  t.entries.clear();
  t.say("woken", "back in line").say("tried", lacks_4).say("woken", "back in line").say("tried", lacks_4);
  EXPECT_EQ(t.lines(), (Lines{std::string("2: 2 times, last at 4 (1970-01-01T00:00:04.000000Z): ") + lacks_4}));
  EXPECT_TRUE(condensed({}).empty());
}

TEST(HistoryShort, OutcomesThatAlternateAreALineEach) {
  Told t;
  for (int i = 0; i < 3; ++i) t.say("tried", lacks_4).say("tried", "tried in cq: WaitingForQuota, too late; stays in line");
  EXPECT_EQ(t.lines(), (Lines{
                           std::string("1: 3 times, last at 5 (1970-01-01T00:00:05.000000Z): ") + lacks_4,
                           "2: 3 times, last at 6 (1970-01-01T00:00:06.000000Z): tried in cq: WaitingForQuota, too late; stays in line",
                       }));
}

TEST(HistoryShort, NewsSeparateWhatWasSaidBeforeFromWhatIsSaidAfter) {
  Told t;
  t.say("tried", lacks_4).say("tried", lacks_4).say("priority", "priority 1 -> 2").say("priority", "priority 2 -> 3");
  t.say("tried", lacks_4).say("tried", lacks_4);
  EXPECT_EQ(t.lines(), (Lines{
                           std::string("1: 2 times, last at 2 (1970-01-01T00:00:02.000000Z): ") + lacks_4,
                           "3: priority 1 -> 2",
                           "4: priority 2 -> 3",
                           std::string("5: 2 times, last at 6 (1970-01-01T00:00:06.000000Z): ") + lacks_4,
                       }));
}

TEST(HistoryShort, AnotherNameIsAnotherOutcome) {
  Told t;
  t.say("tried", "tried in cq: WaitingForQuota, no room in flavor spot-1; parked");
  t.say("tried", "tried in cq: WaitingForQuota, no room in flavor spot-2; parked");
  t.say("tried", "tried in cq: ExceedsMaxQuota, no room in flavor spot-2; parked");
  EXPECT_EQ(t.lines().size(), 3U);
  // the equal one that was tried for it is none
  t.entries.clear();
  t.say("parked", "parked together with default/a, which is equal: WaitingForQuota");
  t.say("parked", "parked together with default/b, which is equal: WaitingForQuota");
  t.say("parked", "parked together with default/b, which is equal: ExceedsMaxQuota");
  EXPECT_EQ(t.lines(),
            (Lines{
                "1: 2 times, last at 2 (1970-01-01T00:00:02.000000Z): parked together with default/b, which is equal: WaitingForQuota",
                "3: parked together with default/b, which is equal: ExceedsMaxQuota",
            }));
}

TEST(HistoryShort, EqualEntriesWithoutNewsBetweenAreOne) {
  Told t;
  for (int i = 0; i < 3; ++i) t.say("writeRefused", "a write was refused (HTTP 422): no").say("tried", lacks_4);
  t.say("writeRefused", "a write was refused (HTTP 409): no");
  EXPECT_EQ(t.lines(), (Lines{
                           "1: 3 times, last at 5 (1970-01-01T00:00:05.000000Z): a write was refused (HTTP 422): no",
                           std::string("2: 3 times, last at 6 (1970-01-01T00:00:06.000000Z): ") + lacks_4,
                           "7: a write was refused (HTTP 409): no",
                       }));
}

// 8691: the Options of a family are tried in turn
TEST(HistoryShort, EachObjectHasLinesOfItsOwn) {
  Told t;
  for (int i = 0; i < 2; ++i)
    for (const char* object : {"Workload default/w-spot", "Workload default/w-on-demand"})
      t.say("woken", "back in line", object).say("tried", lacks_4, object);
  EXPECT_EQ(t.lines(), (Lines{
                           std::string("2: 2 times, last at 6 (1970-01-01T00:00:06.000000Z): ") + lacks_4,
                           std::string("4: 2 times, last at 8 (1970-01-01T00:00:08.000000Z): ") + lacks_4,
                       }));
}

TEST(HistoryShort, JsonSaysHowOftenAndUntilWhen) {
  Told t;
  t.say("created", "created").say("tried", lacks_4).say("tried", lacks_2);
  const auto all = condensed(t.entries);
  ASSERT_EQ(all.size(), 2U);
  const Json once = to_json(all[0]), more = to_json(all[1]);
  EXPECT_EQ(once["times"], 1);
  EXPECT_FALSE(once.contains("lastOffset"));
  EXPECT_EQ(more["offset"], 2);
  EXPECT_EQ(more["times"], 2);
  EXPECT_EQ(more["lastOffset"], 3);
  EXPECT_EQ(more["lastTime"], "1970-01-01T00:00:03.000000Z");
  EXPECT_EQ(more["text"], lacks_2);
}

std::vector<HistoryEntry> whole_history(const Played& run, const std::string& target) {
  History story(parse_target(target, "default").value());
  replay::Past past(run.log, "default");
  past.look_on([&](events::Position, const RecordView& r) { story.before(r, past.driver()); },
               [&](events::Position offset, const RecordView& r) { story.after(offset, r, past.driver()); });
  EXPECT_TRUE(past.fold_to(run.end()));
  return story.entries();
}

/// Every entry of the whole history stands in one of the short one, or told that it was back in line for a try that does.
TEST(HistoryShort, CountsAddUpOnTheQuickStart) {
  const Played run(std::vector<std::string>{"examples/quickstart"});
  std::size_t whole = 0, lines = 0;
  for (const char* job : {"moonshot", "sweep-1", "sweep-2", "train-1", "train-2", "hotfix"}) {
    const auto entries = whole_history(run, std::string("job/team-a/") + job);
    const auto all = condensed(entries);
    ASSERT_FALSE(entries.empty()) << job;
    whole += entries.size();
    lines += all.size();
    const auto times_told = [](const auto& list, bool woken, const auto& entry_of, const auto& times_of) {
      std::size_t sum = 0;
      for (const auto& e : list)
        if ((entry_of(e).kind == "woken") == woken) sum += times_of(e);
      return sum;
    };
    const auto in_whole = [&](bool woken) {
      return times_told(
          entries, woken, [](const HistoryEntry& e) -> const HistoryEntry& { return e; },
          [](const HistoryEntry&) { return std::size_t{1}; });
    };
    const auto in_short = [&](bool woken) {
      return times_told(
          all, woken, [](const ShortEntry& e) -> const HistoryEntry& { return e.entry; }, [](const ShortEntry& e) { return e.times; });
    };
    EXPECT_EQ(in_short(false), in_whole(false)) << job;
    EXPECT_LE(in_short(true), in_whole(true)) << job;
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.entry.offset < b.entry.offset; }))
        << job;
  }
  EXPECT_LT(lines, whole);
  // one that can never be admitted is tried all the time, and has little to tell
  const auto moonshot = condensed(whole_history(run, "job/team-a/moonshot"));
  ASSERT_EQ(moonshot.size(), 5U);
  EXPECT_EQ(moonshot.back().entry.kind, "tried");
  EXPECT_EQ(moonshot.back().times, 12U);
}

}  // namespace
}  // namespace hindsight::projections
