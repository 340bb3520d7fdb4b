// Preemptions, decisions, comparisons and epochs as the page tells them, each against a count of the test's own over the same log.

#include "page/views/decision_views.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "admission/domain/domain.hpp"
#include "events/memory_log.hpp"
#include "page/views/compare.hpp"
#include "replay/diff.hpp"
#include "tests/page/views/decision_asking.hpp"
#include "tests/projections/simulated.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::page::testing {
namespace {

using hindsight::testing::LogWorld;
using projections::Played;
using Words = DecisionAsking::Words;

const SeesAll all_eyes;

class DecisionViews : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { run = new Played(std::vector<std::string>{"examples/quickstart"}); }
  static void TearDownTestSuite() {
    delete run;
    run = nullptr;
  }
  static std::string number(Position p) { return std::to_string(p); }
  static Played* run;
};

Played* DecisionViews::run = nullptr;

// ---- preemptions --------------------------------------------------------------------------------------------------------------------

/// Position, preemptor, victim, reason, and for how long the victim had run: −1 where that is not on record.
using Preempted = std::tuple<Position, std::string, std::string, std::string, std::int64_t>;

std::vector<Preempted> preempted_on_record(const Played& run) {
  std::vector<Preempted> out;
  std::map<std::string, Time> since;
  run.each([&](Position position, const RecordView& r) {
    const auto* d = std::get_if<Decisions>(&r.body);
    if (d == nullptr) return;
    for (const Event& e : d->events) {
      if (const auto* q = std::get_if<QuotaReserved>(&e); q != nullptr && q->admitted)
        since[std::string(q->workload.uid)] = r.envelope.time;
      if (const auto* a = std::get_if<WorkloadAdmitted>(&e)) since[std::string(a->workload.uid)] = r.envelope.time;
      if (const auto* p = std::get_if<WorkloadPreempted>(&e)) {
        const auto ran = since.find(std::string(p->workload.uid));
        out.emplace_back(position, std::string(p->preemptor.namespace_) + "/" + std::string(p->preemptor.name),
                         std::string(p->workload.namespace_) + "/" + std::string(p->workload.name), std::string(p->reason),
                         ran == since.end() ? -1 : (r.envelope.time - ran->second).micros);
      }
    }
  });
  return out;
}

std::vector<Preempted> preempted_as_told(const Json& items) {
  const auto name = [](const Json& ref) { return ref["namespace"].get<std::string>() + "/" + ref["name"].get<std::string>(); };
  std::vector<Preempted> out;
  for (const auto& i : items)
    out.emplace_back(i["position"].get<Position>(), name(i["preemptor"]), name(i["victim"]), i["reason"].get<std::string>(),
                     i.value("lostMicros", std::int64_t{-1}));
  return out;
}

TEST_F(DecisionViews, PreemptionsAreThoseOnRecord) {
  const auto recorded = preempted_on_record(*run);
  ASSERT_FALSE(recorded.empty());
  const DecisionAsking asking(run->log, run->end(), all_eyes);
  const Json told = asking.ask("preemptions");
  EXPECT_EQ(preempted_as_told(told["items"]), recorded);
  EXPECT_EQ(told["leftOut"], 0);
  EXPECT_EQ(told["hidden"], 0);
  EXPECT_FALSE(told.contains("next"));
  EXPECT_EQ(told["to"]["position"], run->end());
  std::map<std::string, std::string> queue_of;  // as the reservations on record say
  run->each([&](Position, const RecordView& r) {
    if (const auto* d = std::get_if<Decisions>(&r.body); d != nullptr)
      for (const Event& e : d->events)
        if (const auto* q = std::get_if<QuotaReserved>(&e)) queue_of[std::string(q->workload.name)] = std::string(q->cluster_queue);
  });
  for (const auto& item : told["items"]) EXPECT_EQ(item["victimQueue"], queue_of.at(item["victim"]["name"].get<std::string>()));

  // A stretch that ends right before the first one has none, and one that begins with the last has that.
  EXPECT_TRUE(asking.ask("preemptions", {{"to", number(std::get<0>(recorded.front()) - 1)}})["items"].empty());
  const Json from_last = asking.ask("preemptions", {{"from", number(std::get<0>(recorded.back()))}});
  const auto last_position = std::get<0>(recorded.back());
  EXPECT_EQ(from_last["items"].size(),
            std::count_if(recorded.begin(), recorded.end(), [&](const auto& p) { return std::get<0>(p) == last_position; }));
  EXPECT_FALSE(from_last["items"][0].contains("lostMicros")) << "since when it ran is not in the stretch";
}

TEST_F(DecisionViews, TooManyPreemptionsAreCounted) {
  events::MemoryLog log;
  LogWorld w{log};
  w.set_up({{.name = "cq", .quotas = {{.nominal = 1000}}, .within = PreemptionPolicy::lower_priority}});
  for (int i = 0; i < 5; ++i) {
    w.submit({.name = "w" + std::to_string(i), .cpu = 1000, .priority = i});
    w.settle();
    if (i > 0) {
      w.confirm();
      w.release("w" + std::to_string(i - 1));
      w.settle();
    }
    w.confirm();
  }
  w.flush();
  const DecisionAsking asking(log, w.position(), all_eyes);
  const Json all = asking.ask("preemptions");
  ASSERT_EQ(all["items"].size(), 4U);
  const Json two = asking.ask("preemptions", {{"limit", "2"}});
  EXPECT_EQ(two["items"], Json::array({all["items"][2], all["items"][3]})) << "the newest ones";
  EXPECT_EQ(two["leftOut"], 2);
}

TEST_F(DecisionViews, WhoMayNotSeeIsToldNoName) {
  const SeesOnly team_b({"team-b"}), nobody({"elsewhere"});
  std::size_t count = 0, seen_by_b = 0;
  for (const auto& [position, preemptor, victim, reason, ran] : preempted_on_record(*run)) {
    ++count;
    seen_by_b += preemptor.starts_with("team-b/") || victim.starts_with("team-b/") ? 1 : 0;
  }
  ASSERT_GT(seen_by_b, 0U);
  ASSERT_LT(seen_by_b, count) << "else nothing is hidden here";
  const Json half = DecisionAsking(run->log, run->end(), team_b).ask("preemptions");
  ASSERT_EQ(half["items"].size(), seen_by_b);
  EXPECT_EQ(half["hidden"], count - seen_by_b);
  EXPECT_EQ(half["items"][0]["preemptor"]["namespace"], "team-b");
  EXPECT_EQ(half["items"][0]["victim"]["hidden"], true);
  for (const char* name : {"team-a/", "sweep", "hotfix"}) EXPECT_EQ(half.dump().find(name), std::string::npos) << name;
  const Json none = DecisionAsking(run->log, run->end(), nobody).ask("preemptions");
  EXPECT_TRUE(none["items"].empty());
  EXPECT_EQ(none["hidden"], count);
  // Records, decisions and so the names in them are for those alone who see all.
  std::set<std::string> for_all;
  for (const auto& route : decision_views())
    if (route.only_for_all) for_all.insert(route.path);
  EXPECT_EQ(for_all, (std::set<std::string>{"decisions/{position}", "records", "records/{position}"}));
}

TEST_F(DecisionViews, WhatAReplacedWriterDecidedPreemptedNobody) {
  events::MemoryLog log;
  LogWorld w{log};
  w.set_up({{.name = "cq", .quotas = {{.nominal = 1000}}}});
  w.submit({.name = "one"});
  w.settle();
  w.start_epoch(2);
  admission::Domain::Step step;
  step.base = w.driver().domain().sequence();
  step.kind = StepKind::cycle;
  step.events = {WorkloadPreempted{.workload = {"uid-one", "default", "one"},
                                   .preemptor = {"uid-two", "default", "two"},
                                   .preemptor_cluster_queue = "cq",
                                   .reason = "InClusterQueue",
                                   .message = ""}};
  w.decide(step, 1);
  w.tick(Duration::seconds(1));
  w.flush();
  const DecisionAsking asking(log, log.last().value(), all_eyes);
  EXPECT_TRUE(asking.ask("preemptions")["items"].empty());
}

// ---- one decision -------------------------------------------------------------------------------------------------------------------

TEST_F(DecisionViews, EveryDecisionIsMadeAgainAsRecorded) {
  const DecisionAsking asking(run->log, run->end(), all_eyes);
  std::vector<Position> decisions;
  Position observation = 0;
  run->each([&](Position p, const RecordView& r) {
    if (std::holds_alternative<Decisions>(r.body))
      decisions.push_back(p);
    else
      observation = p;
  });
  ASSERT_GT(decisions.size(), 10U);
  for (const Position p : decisions) {
    const Json how = asking.ask("decisions/{position}", {}, {{"position", number(p)}});
    EXPECT_EQ(how["position"], p);
    EXPECT_EQ(how["asRecorded"], true) << p;
  }
  EXPECT_NE(asking.refused(ErrorKind::invalid, "decisions/{position}", {}, {{"position", number(observation)}}).find("is no decision"),
            std::string::npos);
  EXPECT_FALSE(asking.refused(ErrorKind::invalid, "decisions/{position}", {}, {{"position", "1e9"}}).empty());
  EXPECT_FALSE(asking.refused(ErrorKind::not_found, "decisions/{position}", {}, {{"position", "99999999"}}).empty());
  EXPECT_FALSE(asking
                   .refused(ErrorKind::not_found, "decisions/{position}", {{"workload", "job/team-a/nobody"}},
                            {{"position", number(decisions.front())}})
                   .empty());
}

TEST_F(DecisionViews, ADecisionIsToldOfOneWorkloadAlone) {
  const Position preemption = run->first<WorkloadPreempted>();
  const DecisionAsking asking(run->log, preemption, all_eyes);
  const Json all = asking.ask("decisions/{position}", {}, {{"position", number(preemption)}});
  const Json none = asking.ask("decisions/{position}", {{"workload", "team-a/was-never-there"}}, {{"position", number(preemption)}});
  EXPECT_FALSE(all["trees"][0]["rounds"][0]["entries"].empty());
  EXPECT_NE(none, all);
  EXPECT_EQ(none["trees"].dump().find("job-serve"), std::string::npos);
  EXPECT_NE(all["trees"].dump().find("job-serve"), std::string::npos);
}

TEST_F(DecisionViews, WhoIsGoneGetsNoLongAnswer) {
  DecisionAsking asking(run->log, run->end(), all_eyes);
  asking.give_up();
  EXPECT_FALSE(asking.refused(ErrorKind::unavailable, "compare", {{"a", "1"}, {"b", "2"}}).empty());
  EXPECT_FALSE(
      asking.refused(ErrorKind::unavailable, "decisions/{position}", {}, {{"position", number(run->first<QuotaReserved>())}}).empty());
}

// ---- two moments --------------------------------------------------------------------------------------------------------------------

/// Items by object, with what is before and after exchanged.
std::map<std::string, Json> mirrored(const Json& items) {
  std::map<std::string, Json> out;
  for (const auto& item : items) {
    Json changes = Json::array();
    for (const auto& c : item["changes"]) {
      Json one{{"field", c["field"]}};
      if (c.contains("after")) one["before"] = c["after"];
      if (c.contains("before")) one["after"] = c["before"];
      changes.push_back(one);
    }
    out[item["object"].dump()] = {{"effect", item["effect"]}, {"changes", changes}};
  }
  return out;
}

std::map<std::string, Json> by_object(const Json& items) {
  std::map<std::string, Json> out;
  for (const auto& item : items) out[item["object"].dump()] = {{"effect", item["effect"]}, {"changes", item["changes"]}};
  return out;
}

TEST_F(DecisionViews, ComparingIsTheSameBothWays) {
  const std::vector<Position> moments{0, 10, run->first<QuotaReserved>(), run->first<WorkloadPreempted>(), run->at(8), run->end()};
  for (const Position at : {run->end(), run->at(3)}) {
    const DecisionAsking asking(run->log, at, all_eyes);
    for (const Position a : moments)
      for (const Position b : moments) {
        SCOPED_TRACE(number(a) + " and " + number(b) + " from " + number(at));
        const Json there = asking.ask("compare", {{"a", number(a)}, {"b", number(b)}, {"limit", "1000"}});
        const Json back = asking.ask("compare", {{"a", number(b)}, {"b", number(a)}, {"limit", "1000"}});
        EXPECT_EQ(by_object(there["items"]), mirrored(back["items"]));
        EXPECT_EQ(there["a"], back["b"]);
        EXPECT_EQ(there["leftOut"], 0);
        for (std::size_t i = 1; i < there["items"].size(); ++i)
          EXPECT_GE(there["items"][i - 1]["effect"].get<int>(), there["items"][i]["effect"].get<int>());
        EXPECT_TRUE(a != b || there["items"].empty());
      }
  }
}

TEST_F(DecisionViews, ComparingFindsWhatTheWholePicturesDifferIn) {
  for (const auto& [a, b] : std::vector<std::pair<Position, Position>>{{5, run->end()}, {run->at(2), run->at(6)}}) {
    replay::Past past(run->log, "default");
    ASSERT_TRUE(past.go_to(a));
    const auto before = replay::picture_of(past.driver());
    ASSERT_TRUE(past.go_to(b));
    std::map<std::string, std::size_t> expected;
    for (const auto& change : replay::diff(before, replay::picture_of(past.driver())))
      expected[change.object.kind + " " + change.object.namespace_ + "/" + change.object.name] = change.fields.size();
    const Json told = DecisionAsking(run->log, a, all_eyes).ask("compare", {{"b", number(b)}, {"limit", "1000"}});
    std::map<std::string, std::size_t> found;
    for (const auto& item : told["items"]) {
      const Json& o = item["object"];
      found[o["kind"].get<std::string>() + " " + o.value("namespace", "") + "/" + o["name"].get<std::string>()] =
          item["changes"].size() + item.value("changesLeftOut", std::size_t{0});
      EXPECT_FALSE(item["sentence"].get<std::string>().empty());
    }
    EXPECT_EQ(found, expected);
    // The few that are asked for are the first of all.
    const Json few = DecisionAsking(run->log, a, all_eyes).ask("compare", {{"b", number(b)}, {"limit", "2"}});
    EXPECT_EQ(few["items"], Json::array({told["items"][0], told["items"][1]}));
    EXPECT_EQ(few["leftOut"], told["items"].size() - 2);
  }
}

TEST_F(DecisionViews, TheBiggestEffectOfAPreemptionIsThatOnAdmissions) {
  const Position preemption = run->first<WorkloadPreempted>();
  const DecisionAsking asking(run->log, preemption - 1, all_eyes);
  const Json told = asking.ask("compare", {{"b", number(run->at(7))}});
  const Json& first = told["items"][0];
  EXPECT_EQ(first["effect"], 900);
  EXPECT_EQ(first["object"]["kind"], "Workload");
  EXPECT_NE(first["sentence"].get<std::string>().find(" at A, and "), std::string::npos) << first;
  EXPECT_NE(told.dump().find("is admitted to team-b at B"), std::string::npos);
}

TEST_F(DecisionViews, ComparingTellsNoNamesOfOthers) {
  const SeesOnly team_a({"team-a"});
  const Json all = DecisionAsking(run->log, 1, all_eyes).ask("compare", {{"b", number(run->end())}, {"limit", "1000"}});
  const Json some = DecisionAsking(run->log, 1, team_a).ask("compare", {{"b", number(run->end())}, {"limit", "1000"}});
  std::size_t of_others = 0;
  for (const auto& item : all["items"]) {
    const Json& o = item["object"];
    const std::string namespace_ = o["kind"] == "Namespace" ? o["name"].get<std::string>() : o.value("namespace", "");
    of_others += !namespace_.empty() && namespace_ != "team-a" ? 1 : 0;
  }
  ASSERT_GT(of_others, 0U);
  EXPECT_EQ(some["hidden"], of_others);
  EXPECT_EQ(some["items"].size(), all["items"].size() - of_others);
  EXPECT_EQ(some.dump().find("job-serve"), std::string::npos);
  EXPECT_NE(all.dump().find("job-serve"), std::string::npos);
}

TEST_F(DecisionViews, TwoLooksCompareLikeTwoPositions) {
  const DecisionAsking a(run->log, run->at(2), all_eyes), b(run->log, run->at(6), all_eyes);
  const auto looks = compare_looks(a.look(), b.look(), Parameters({}, {}));
  ASSERT_TRUE(looks) << looks.error().message;
  EXPECT_EQ((*looks)["items"], b.ask("compare", {{"a", number(run->at(2))}, {"b", number(run->at(6))}})["items"]);
}

// `a` is what was, `b` is what would have been: here a branch in which nothing has happened.
TEST_F(DecisionViews, ALookAtABranchComparesItWithTheLogItIsOf) {
  const events::MemoryLog branch;
  DecisionAsking asking(branch, 0, all_eyes);
  asking.is_branch_of(run->log);
  const Json told = asking.ask("compare", {{"a", number(run->at(6))}});
  EXPECT_EQ(told["items"], DecisionAsking(run->log, 1, all_eyes).ask("compare", {{"a", number(run->at(6))}, {"b", "0"}})["items"]);
  EXPECT_FALSE(told["items"].empty());
  EXPECT_EQ(told["b"]["position"], 0);
  EXPECT_EQ(asking.ask("compare")["a"]["position"], run->end());
  EXPECT_FALSE(asking.refused(ErrorKind::invalid, "compare", {{"b", "1"}}).empty()) << "the branch ends before that";
}

TEST_F(DecisionViews, WrongParametersSayWhatIsAllowed) {
  const DecisionAsking asking(run->log, run->end(), all_eyes);
  EXPECT_NE(asking.refused(ErrorKind::invalid, "compare", {{"a", "-1"}}).find("a: found \"-1\""), std::string::npos);
  EXPECT_NE(asking.refused(ErrorKind::invalid, "compare", {{"b", number(run->end() + 1)}}).find("to " + number(run->end())),
            std::string::npos);
  EXPECT_FALSE(asking.refused(ErrorKind::invalid, "preemptions", {{"limit", "0"}}).empty());
  EXPECT_FALSE(asking.refused(ErrorKind::invalid, "preemptions", {{"from", "20"}, {"to", "10"}}).empty());
}

// ---- who decided when ---------------------------------------------------------------------------------------------------------------

TEST_F(DecisionViews, EpochsAreFoundWithTheirFirstRecords) {
  events::MemoryLog log;
  LogWorld w{log};
  w.set_up({{.name = "cq", .quotas = {{.nominal = 1000}}}});
  std::vector<std::pair<std::uint64_t, Position>> begun{{1, 1}};
  for (const std::uint64_t epoch : {2, 3, 7, 8}) {
    for (int i = 0; i < 700; ++i) w.tick(Duration::seconds(1));
    w.start_epoch(epoch);
    begun.emplace_back(epoch, w.position());
  }
  w.tick(Duration::seconds(1));
  w.flush();
  std::reverse(begun.begin(), begun.end());
  const auto epochs_in = [](const Json& told) {
    std::vector<std::pair<std::uint64_t, Position>> out;
    for (const auto& e : told["epochs"]) {
      EXPECT_EQ(e["owner"], "test");
      EXPECT_EQ(e["release"], "1.0");
      out.emplace_back(e["epoch"].get<std::uint64_t>(), e["from"]["position"].get<Position>());
    }
    return out;
  };
  const DecisionAsking asking(log, w.position(), all_eyes);
  const Json told = asking.ask("fleet");
  EXPECT_EQ(epochs_in(told), begun);
  EXPECT_EQ(told["leftOut"], 0);
  EXPECT_FALSE(told["epochs"][0].contains("to"));
  EXPECT_EQ(told["epochs"][1]["to"], told["epochs"][0]["from"]);
  const Json one = asking.ask("fleet", {{"limit", "1"}});
  EXPECT_EQ(one["epochs"].size(), 1U);
  EXPECT_EQ(one["leftOut"], 7) << "1 to 7, by their numbers";
  // From an earlier moment the later ones have not begun.
  const Json earlier = DecisionAsking(log, begun[1].second - 1, all_eyes).ask("fleet");
  EXPECT_EQ(epochs_in(earlier), (std::vector<std::pair<std::uint64_t, Position>>(begun.begin() + 2, begun.end())));
}

}  // namespace
}  // namespace hindsight::page::testing
