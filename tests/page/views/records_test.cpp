// Records as the page lists them: every one once, whichever way one goes; what is filtered, damaged or very long.

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "events/json.hpp"
#include "page/views/record_lines.hpp"
#include "projections/record_filter.hpp"
#include "tests/page/views/decision_asking.hpp"
#include "tests/projections/simulated.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::page::testing {
namespace {

using hindsight::testing::LogWorld;
using projections::Played;
using Positions = std::vector<Position>;
using Words = DecisionAsking::Words;

const SeesAll records_audience;

Positions positions_in(const Json& items) {
  Positions out;
  for (const auto& i : items) out.push_back(i["position"].get<Position>());
  return out;
}

/// All pages, one after the other; none may be without end.
Positions all_pages(const DecisionAsking& asking, Words query, std::optional<Position> from) {
  Positions out;
  for (int pages = 0; from; ++pages) {
    if (pages > 10'000) throw std::runtime_error("the pages have no end");
    query["from"] = std::to_string(*from);
    const Json page = asking.ask("records", query);
    for (const Position p : positions_in(page["items"])) out.push_back(p);
    from = page.contains("next") ? std::optional(page["next"].get<Position>()) : std::nullopt;
  }
  return out;
}

class RecordViews : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { run = new Played(std::vector<std::string>{"examples/quickstart"}); }
  static void TearDownTestSuite() {
    delete run;
    run = nullptr;
  }
  /// Positions of those that the test itself lets through.
  template <class F>
  static Positions recorded(F&& wanted) {
    Positions out;
    run->each([&](Position p, const RecordView& r) {
      if (wanted(r)) out.push_back(p);
    });
    return out;
  }
  static Positions reversed(Positions list) {
    std::reverse(list.begin(), list.end());
    return list;
  }
  static Played* run;
};

Played* RecordViews::run = nullptr;

TEST_F(RecordViews, PagesForwardAndBackGiveEachRecordOnce) {
  const DecisionAsking asking(run->log, run->end(), records_audience);
  const Positions all = recorded([](const auto&) { return true; });
  for (const char* limit : {"1", "7", "100", "1000"}) {
    EXPECT_EQ(all_pages(asking, {{"limit", limit}}, 1), all) << limit;
    EXPECT_EQ(all_pages(asking, {{"limit", limit}, {"direction", "back"}}, run->end()), reversed(all)) << limit;
  }
  // Without a position one begins where one looks from.
  const Json here = DecisionAsking(run->log, 20, records_audience).ask("records", {{"limit", "3"}});
  EXPECT_EQ(positions_in(here["items"]), (Positions{20, 21, 22}));
  EXPECT_EQ(here["next"], 23);
  EXPECT_EQ(here["scanned"], 3);
}

TEST_F(RecordViews, FiltersGiveThoseThatTheySay) {
  const DecisionAsking asking(run->log, run->end(), records_audience);
  const auto has_preemption = [](const RecordView& r) {
    const auto* d = std::get_if<Decisions>(&r.body);
    return d != nullptr &&
           std::any_of(d->events.begin(), d->events.end(), [](const Event& e) { return std::holds_alternative<WorkloadPreempted>(e); });
  };
  const auto is_decision = [](const RecordView& r) { return std::holds_alternative<Decisions>(r.body); };
  const auto is_epoch = [](const RecordView& r) { return std::holds_alternative<EpochStarted>(r.body); };
  const auto is_timer = [](const RecordView& r) {
    const auto* o = std::get_if<Observation>(&r.body);
    return o != nullptr && std::holds_alternative<TimerFired>(*o);
  };
  const auto expect = [&](const std::string& filter, const Positions& wanted) {
    SCOPED_TRACE(filter);
    ASSERT_FALSE(wanted.empty());
    EXPECT_EQ(all_pages(asking, {{"filter", filter}, {"limit", "3"}}, 1), wanted);
    EXPECT_EQ(all_pages(asking, {{"filter", filter}, {"limit", "3"}, {"direction", "back"}}, run->end()), reversed(wanted));
  };
  expect("kind:Decisions", recorded(is_decision));
  expect("source:decided", recorded(is_decision));
  expect("event:WorkloadPreempted", recorded(has_preemption));
  expect("kind:WorkloadPreempted source:decided", recorded(has_preemption));
  expect("source:log", recorded(is_epoch));
  expect("kind:TimerFired kind:EpochStarted", recorded([&](const RecordView& r) { return is_timer(r) || is_epoch(r); }));
  expect("event:WorkloadPreempted  \t kind:Decisions", recorded(has_preemption));
  expect("text:timerfired", recorded(is_timer));
  expect("object:team-b/serve",
         recorded([](const RecordView& r) { return projections::RecordFilter{.objects = {"team-b/serve"}}.matches(r); }));
  EXPECT_TRUE(asking.ask("records", {{"from", "1"}, {"filter", "event:WorkloadPreempted source:observed"}})["items"].empty());
  EXPECT_TRUE(asking.ask("records", {{"from", "1"}, {"filter", "no-such-text-anywhere"}})["items"].empty());
}

TEST_F(RecordViews, WrongWordsSayWhatIsAllowed) {
  const DecisionAsking asking(run->log, run->end(), records_audience);
  const auto message = [&](const std::string& filter) { return asking.refused(ErrorKind::invalid, "records", {{"filter", filter}}); };
  EXPECT_NE(message("kind:Decision").find("did you mean Decisions"), std::string::npos);
  EXPECT_NE(message("kind:Decision").find("EpochStarted"), std::string::npos) << "all that there are";
  EXPECT_NE(message("event:TimerFired").find("allowed: "), std::string::npos) << "that is no event of a decision";
  EXPECT_NE(message("source:heard").find("observed, decided, noted, log"), std::string::npos);
  EXPECT_NE(message("object:").find("object:NAME"), std::string::npos);
  EXPECT_FALSE(message(std::string(600, 'x')).empty());
  EXPECT_FALSE(message(std::string(5'000, ' ')).empty());
  std::string many;
  for (int i = 0; i < 40; ++i) many += "w ";
  EXPECT_FALSE(message(many).empty());
  EXPECT_EQ(message("kind:\x1b[31m\xe2\x80\xae").find('\x1b'), std::string::npos) << "what is repeated can be printed";
  EXPECT_FALSE(asking.refused(ErrorKind::invalid, "records", {{"direction", "sideways"}}).empty());
  EXPECT_FALSE(asking.refused(ErrorKind::invalid, "records", {{"limit", "1001"}}).empty());
  EXPECT_FALSE(asking.refused(ErrorKind::invalid, "records", {{"from", std::to_string(run->end() + 2)}}).empty());
}

TEST_F(RecordViews, ARecordIsDecodedAndNamesWhatFollowed) {
  const DecisionAsking asking(run->log, run->end(), records_audience);
  const Position preemption = run->first<WorkloadPreempted>();
  const Json decision = asking.ask("records/{position}", {}, {{"position", std::to_string(preemption)}});
  EXPECT_EQ(decision["kind"], "Decisions");
  EXPECT_EQ(decision["fields"]["body"]["events"][0]["event"], "WorkloadPreempted");
  const auto base = decision["base"].get<Position>();
  EXPECT_EQ(base, decision["fields"]["body"]["base"].get<Position>()) << "in a log of one domain they are the same";
  const Json before = asking.ask("records/{position}", {}, {{"position", std::to_string(base)}});
  const Positions followers = positions_in(before["followedBy"]);
  EXPECT_NE(std::find(followers.begin(), followers.end(), preemption), followers.end());
  run->each([&](Position p, const RecordView& r) {
    const Json one = asking.ask("records/{position}", {}, {{"position", std::to_string(p)}});
    EXPECT_EQ(one["fields"], Json::parse(events::to_json(r)));
    EXPECT_EQ(one["position"], p);
    EXPECT_LE(one["followedBy"].size(), 20U);
  });
  for (const char* none : {"0", "99999999"})
    EXPECT_NE(asking.refused(ErrorKind::not_found, "records/{position}", {}, {{"position", none}}).find("allowed: 1 to "),
              std::string::npos);
  EXPECT_FALSE(asking.refused(ErrorKind::invalid, "records/{position}", {}, {{"position", "one"}}).empty());
}

TEST_F(RecordViews, DamageEndsAListBeforeIt) {
  events::MemoryLog log;
  LogWorld w{log};
  w.set_up({{.name = "cq", .quotas = {{.nominal = 1000}}}});
  for (int i = 0; i < 60; ++i) w.tick(Duration::seconds(1));
  w.flush();
  const Position last = w.position(), first_bad = last - 30, second_bad = last - 20;
  const DecisionAsking asking(log, first_bad - 1, records_audience);
  log.damage(first_bad);
  log.damage(second_bad);

  Positions wanted;
  for (Position p = 1; p < first_bad; ++p) wanted.push_back(p);
  const Json before = asking.ask("records", {{"from", "1"}, {"limit", "1000"}});
  EXPECT_EQ(positions_in(before["items"]), wanted);
  EXPECT_EQ(before["next"], first_bad);
  EXPECT_NE(asking.refused(ErrorKind::corrupt, "records", {{"from", std::to_string(first_bad)}}).find(std::to_string(first_bad)),
            std::string::npos);

  wanted.clear();
  for (Position p = last; p > second_bad; --p) wanted.push_back(p);
  const Json behind = asking.ask("records", {{"from", std::to_string(last)}, {"limit", "1000"}, {"direction", "back"}});
  EXPECT_EQ(positions_in(behind["items"]), wanted);
  EXPECT_EQ(behind["next"], second_bad);
  EXPECT_FALSE(asking.refused(ErrorKind::corrupt, "records", {{"from", std::to_string(second_bad)}, {"direction", "back"}}).empty());
  const Json between = asking.ask("records", {{"from", std::to_string(second_bad - 1)}, {"limit", "5"}, {"direction", "back"}});
  EXPECT_EQ(positions_in(between["items"]).front(), second_bad - 1);
}

TEST_F(RecordViews, LinesAreShortAndOneRecordIsBounded) {
  std::vector<std::string> names;
  for (int i = 0; i < 3'000; ++i) names.push_back("workload-" + std::to_string(i));
  std::vector<Event> decided;
  for (const auto& name : names) decided.emplace_back(WorkloadAdmitted{.workload = {name, "default", name}});
  events::MemoryLog log;
  LogWorld w{log};
  w.set_up({{.name = "cq", .quotas = {{.nominal = 1000}}}});
  admission::Domain::Step step;
  step.base = w.driver().domain().sequence();
  step.kind = StepKind::life_cycle;
  step.events = decided;
  w.decide(step, w.driver().domain().epoch());
  const Position long_one = w.position();
  w.submit({.name = "\x1b[31m\xe2\x80\xae<script>"});
  w.flush();
  const DecisionAsking asking(log, w.position(), records_audience);
  const Json list = asking.ask("records", {{"from", std::to_string(long_one)}, {"limit", "2"}});
  ASSERT_EQ(list["items"].size(), 2U);
  for (const auto& line : list["items"]) EXPECT_LE(line["text"].get<std::string>().size(), record_text_bytes_max);
  EXPECT_NE(list["items"][0]["text"].get<std::string>().find(" more"), std::string::npos);
  EXPECT_FALSE(list["items"][0].contains("object")) << "it is about several";
  EXPECT_EQ(list["items"][1]["object"]["name"], "\x1b[31m\xe2\x80\xae<script>") << "names are told as they are: the page shows them";
  const Json whole = asking.ask("records/{position}", {}, {{"position", std::to_string(long_one)}});
  EXPECT_EQ(whole["fields"]["body"]["events"].size(), 1'000U);
  EXPECT_EQ(whole["fields"]["eventsLeftOut"], 2'000);
}

TEST(RecordFilterWords, AreReadAsTheyAreTyped) {
  const auto filter = projections::parse_record_filter("kind:Decisions object:team-a/train two words kind:TimerFired text:a:b http://x");
  ASSERT_TRUE(filter) << filter.error().message;
  EXPECT_EQ(filter->kinds, (std::vector<std::string>{"Decisions", "TimerFired"}));
  EXPECT_EQ(filter->objects, (std::vector<std::string>{"team-a/train"}));
  EXPECT_EQ(filter->texts, (std::vector<std::string>{"two", "words", "a:b", "http://x"}));
  EXPECT_TRUE(filter->is_set());
  EXPECT_FALSE(projections::parse_record_filter(" \n")->is_set());
}

}  // namespace
}  // namespace hindsight::page::testing
