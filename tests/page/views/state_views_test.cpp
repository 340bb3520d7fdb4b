// The views of one state on the log of the quick start and on worlds of a test's own: what they say is counted again from the same state.

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "projections/families.hpp"
#include "projections/history_short.hpp"
#include "projections/phase.hpp"
#include "projections/quota_report.hpp"
#include "projections/wait_reasons.hpp"
#include "tests/page/views/asking.hpp"
#include "tests/projections/reading.hpp"
#include "tests/projections/simulated.hpp"

namespace hindsight::page::testing {
namespace {

using projections::Phase;
using projections::Played;

const SeesAll everybody;

/// What a test counts for itself.
struct Counted {
  std::map<std::string, std::size_t> phases, waiting;  ///< By phase; by ClusterQueue.
  std::size_t all = 0;
  std::map<std::string, Amount> used;  ///< "queue/flavor/resource"
};

Counted counted_again(const admission::LoopDriver& state) {
  Counted out;
  for (std::uint32_t i = 0; i < state.domain().parent_count(); ++i) {
    const auto* parent = state.parent(i);
    if (parent == nullptr) continue;
    for (const auto& w : parent->workloads()) {
      ++out.all;
      ++out.phases[std::string(projections::name_of(projections::phase_of(w)))];
    }
  }
  for (const auto& [name, config] : state.domain().catalog()->queues) {
    const auto* queue = state.queue(name);
    if (queue == nullptr) continue;
    out.waiting[std::string(name.text())] = queue->waiting().size();
    for (const auto& r : queue->reservations())
      for (const auto& c : r->charges)
        out.used[std::string(name.text()) + "/" + std::string(c.flavor.text()) + "/" + std::string(c.resource.text())] += c.amount;
  }
  return out;
}

/// All nodes of the trees.
std::vector<Json> nodes_in(const Json& nodes) {
  std::vector<Json> out;
  for (const auto& node : nodes) {
    out.push_back(node);
    for (auto& below : nodes_in(node["children"])) out.push_back(std::move(below));
  }
  return out;
}

std::vector<Json> all_rows(const Asking& asking, const std::string& queue, const std::string& limit) {
  std::vector<Json> out;
  for (std::size_t next = 0;;) {
    const Json page = asking.ask("queues/{name}", {{"name", queue}}, {{"limit", limit}, {"offset", std::to_string(next)}});
    if (page["rows"].empty()) return out;
    for (const auto& row : page["rows"]) out.push_back(row);
    next = out.back()["place"].get<std::size_t>() + 1 + out.back().value("alike", std::size_t{0});
  }
}

/// Where the quota of a queue with one flavor and resource ends, by adding up what its line asks for.
void expect_quota_ends_where_it_does(const admission::LoopDriver& state, const std::string& name, const Json& queue) {
  const auto quota = projections::subtree_of_queue(state, Symbol(name));
  if (quota.size() != 1) return;
  const auto line = state.queue(Symbol(name))->waiting();
  Amount sum = 0;
  std::size_t fitting = 0;
  for (const auto& x : line) {
    for (const auto& pod_set : *x.workload->pod_sets)
      for (const auto& request : pod_set.requests) sum += request.amount * pod_set.count;
    if (sum > quota.front().available) break;
    ++fitting;
  }
  EXPECT_EQ(queue.value("quotaEndsAfter", line.size()), fitting) << name;
  EXPECT_EQ(queue.contains("quotaEndsAfter"), fitting < line.size()) << name;
}

/// Overview, trees, queues and the table agree with what the test counts.
void expect_agreement(const Asking& asking) {
  const auto& state = asking.state();
  std::map<std::string, std::string> reasons;  // by name
  const auto waiters = projections::waiters_of(state);
  for (const auto& x : waiters.all) reasons[x.at.workload->name.text()] = waiters.reasons[x.reason].reason;
  const Counted counted = counted_again(state);
  const auto of_phase = [&](const std::string& phase) { return counted.phases.contains(phase) ? counted.phases.at(phase) : 0; };

  const Json overview = asking.ask("overview");
  EXPECT_EQ(overview["workloads"]["total"], counted.all);
  EXPECT_EQ(overview["workloads"]["pending"], of_phase("Pending"));
  EXPECT_EQ(overview["workloads"]["admitted"], of_phase("Admitted") + of_phase("Evicted"));
  EXPECT_EQ(overview["waiting"]["count"], of_phase("Pending"));
  EXPECT_EQ(overview["queues"], state.domain().catalog()->queues.size());
  EXPECT_LE(overview["attention"].size(), 50U);
  for (const auto& item : overview["attention"]) EXPECT_FALSE(item["sentence"].get<std::string>().empty());

  std::size_t queues = 0;
  for (const auto& node : nodes_in(asking.ask("cohorts")["roots"])) {
    if (node["kind"] != "ClusterQueue") continue;
    ++queues;
    const auto name = node["name"].get<std::string>();
    for (const auto& bar : node["quota"]) {
      const std::string key = name + "/" + bar["flavor"].get<std::string>() + "/" + bar["resource"].get<std::string>();
      const Amount used = counted.used.contains(key) ? counted.used.at(key) : 0;
      EXPECT_EQ(bar["used"]["value"], bar["resource"] == "cpu" ? used : used * 1'000) << key;
      EXPECT_EQ(bar["own"]["value"].get<std::int64_t>() + bar["borrowed"]["value"].get<std::int64_t>(),
                bar["used"]["value"].get<std::int64_t>())
          << key;
    }
    const Json queue = asking.ask("queues/{name}", {{"name", name}});
    EXPECT_EQ(queue["waiting"], counted.waiting.at(name)) << name;
    EXPECT_EQ(queue["users"].size(), state.queue(Symbol(name))->reservations().size()) << name;
    expect_quota_ends_where_it_does(state, name, queue);
    std::size_t rows = 0;
    const auto waiting = state.queue(Symbol(name))->waiting();
    for (const auto& row : all_rows(asking, name, "3")) {
      ASSERT_EQ(row["place"], rows) << name;
      ASSERT_LT(rows, waiting.size());
      EXPECT_EQ(row["workload"]["name"], waiting[rows].workload->name.text()) << "in queue order";
      EXPECT_EQ(row["reason"], reasons.at(row["workload"]["name"].get<std::string>())) << "as all waiters together say";
      EXPECT_FALSE(row["sentence"].get<std::string>().empty());
      rows += 1 + row.value("alike", std::size_t{0});
    }
    EXPECT_EQ(rows, counted.waiting.at(name)) << name;
  }
  EXPECT_EQ(queues, state.domain().catalog()->queues.size());

  const Json table = asking.ask("workloads", {}, {{"limit", "1000"}});
  EXPECT_EQ(table["total"], counted.all);
  EXPECT_EQ(table["all"], counted.all);
  EXPECT_EQ(table["hidden"], 0);
  for (const auto& [phase, n] : counted.phases) EXPECT_EQ(asking.ask("workloads", {}, {{"phase", phase}})["total"], n) << phase;
}

// ---- the quick start --------------------------------------------------------------------------------------------------------------

class QuickStartViews : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { run = new Played(std::vector<std::string>{"examples/quickstart"}); }
  static void TearDownTestSuite() {
    delete run;
    run = nullptr;
  }
  static Played* run;
};

Played* QuickStartViews::run = nullptr;

TEST_F(QuickStartViews, AgreeWithTheStateAtEveryMoment) {
  for (Position p = 1; p <= run->end(); p += 13) {
    SCOPED_TRACE(p);
    expect_agreement(Asking(run->log, p, everybody));
  }
}

TEST_F(QuickStartViews, WhyIsThatOfAWholeScanThoughItReadsFromTheCreationOn) {
  std::size_t asked = 0;
  for (Position p = 20; p <= run->end(); p += 29) {
    const Asking asking(run->log, p, everybody);
    for (const auto& at : projections::all_workloads(asking.state())) {
      const std::string namespace_(at.workload->namespace_.text()), name = at.workload->name.text();
      Json whole = projections::to_json(run->why("workload/" + namespace_ + "/" + name, p));
      Json told = asking.ask("workloads/{namespace}/{name}/why", {{"namespace", namespace_}, {"name", name}}, {{"plays", "true"}});
      EXPECT_EQ(told["hidden"], 0);
      told.erase("position");
      told.erase("time");
      told.erase("hidden");
      EXPECT_EQ(told.dump(), whole.dump()) << name << " at " << p;
      const Json facts = asking.ask("workloads/{namespace}/{name}/why", {{"namespace", namespace_}, {"name", name}});
      EXPECT_EQ(facts["headline"], whole["headline"]);
      EXPECT_FALSE(facts.contains("remedies"));
      ++asked;
    }
  }
  EXPECT_GT(asked, 20U);
}

TEST_F(QuickStartViews, AWorkloadHasALifeWithoutGaps) {
  const Asking asking(run->log, run->end(), everybody);
  std::size_t with_runs = 0;
  for (const auto& at : projections::all_workloads(asking.state())) {
    const std::string namespace_(at.workload->namespace_.text()), name = at.workload->name.text();
    SCOPED_TRACE(name);
    const Json view = asking.ask("workloads/{namespace}/{name}", {{"namespace", namespace_}, {"name", name}});
    EXPECT_EQ(view["exists"], "yes");
    EXPECT_EQ(view["object"]["metadata"]["name"], name);
    EXPECT_TRUE(view["storyIsWhole"].get<bool>());
    EXPECT_FALSE(view["story"].empty());
    EXPECT_EQ(view["place"]["time"].size(), view["place"]["value"].size());
    std::vector<std::pair<std::int64_t, std::int64_t>> spans;
    std::int64_t quota = 0, held = 0;
    for (const auto& lane : view["lanes"]) {
      if (lane.contains("of")) continue;
      for (const auto& span : lane["spans"]) {
        const auto from = span["from"].get<std::int64_t>(), to = span["to"].get<std::int64_t>();
        EXPECT_LE(from, to);
        if (lane["name"] == "quota")
          quota += to - from;
        else
          spans.emplace_back(from, to);
        if (lane["name"] != "quota" && lane["name"] != "wait") held += to - from;
        if (lane["name"] == "running") ++with_runs;
      }
    }
    EXPECT_EQ(quota, held) << "it holds quota while it is checked, runs and stops";
    std::sort(spans.begin(), spans.end());
    for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_EQ(spans[i - 1].second, spans[i].first);
  }
  EXPECT_GT(with_runs, 0U);
}

TEST_F(QuickStartViews, AWorkloadThatIsNotThereYetSaysWhereItAppears) {
  const Asking at_end(run->log, run->end(), everybody);
  const auto all = projections::all_workloads(at_end.state());
  ASSERT_FALSE(all.empty());
  const Asking::Words path{{"namespace", std::string(all.front().workload->namespace_.text())},
                           {"name", all.front().workload->name.text()}};
  Asking early(run->log, 3, everybody);
  const Json view = early.ask("workloads/{namespace}/{name}", path);
  EXPECT_EQ(view["exists"], "notYet");
  EXPECT_TRUE(view["object"].is_null());
  const auto appears = view["appears"]["position"].get<Position>();
  EXPECT_GT(appears, 3U);
  const auto unknown = early.try_to("workloads/{namespace}/{name}", {{"namespace", "team-a"}, {"name", "nobody"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::not_found);
}

TEST_F(QuickStartViews, TheTableIsSortedAndPagedWithoutLosingARow) {
  const Asking asking(run->log, run->end(), everybody);
  for (const char* sort : {"name", "namespace", "created", "priority", "phase", "queue", "reason", "since"})
    for (const char* descending : {"false", "true"}) {
      SCOPED_TRACE(std::string(sort) + " " + descending);
      const Json whole = asking.ask("workloads", {}, {{"sort", sort}, {"descending", descending}, {"limit", "1000"}});
      Json pages = Json::array();
      for (std::size_t offset = 0; offset < whole["total"].get<std::size_t>(); offset += 2) {
        const Json page =
            asking.ask("workloads", {}, {{"sort", sort}, {"descending", descending}, {"limit", "2"}, {"offset", std::to_string(offset)}});
        for (const auto& row : page["items"]) pages.push_back(row);
      }
      EXPECT_EQ(pages, whole["items"]);
      for (std::size_t i = 1; i < pages.size(); ++i) {
        if (std::string(sort) == "priority") {
          const bool falls = pages[i - 1]["priority"].get<int>() >= pages[i]["priority"].get<int>();
          const bool rises = pages[i - 1]["priority"].get<int>() <= pages[i]["priority"].get<int>();
          EXPECT_TRUE(std::string(descending) == "true" ? falls : rises);
        }
      }
    }
  EXPECT_EQ(asking.ask("workloads", {}, {{"namespace", "team-a"}})["total"].get<int>() +
                asking.ask("workloads", {}, {{"namespace", "team-b"}})["total"].get<int>(),
            asking.ask("workloads")["total"].get<int>());
  EXPECT_EQ(asking.ask("workloads", {}, {{"queue", "team-a"}})["total"], asking.ask("workloads", {}, {{"queue", "team-a/jobs"}})["total"]);
  const Json found = asking.ask("workloads", {}, {{"text", "TRAIN"}});
  EXPECT_FALSE(found["items"].empty());
  for (const auto& row : found["items"]) EXPECT_NE(row.dump().find("train"), std::string::npos);
}

TEST_F(QuickStartViews, BoundsAreToldInWords) {
  const Asking asking(run->log, run->end(), everybody);
  const std::vector<std::pair<std::string, Asking::Words>> wrong{{"workloads", {{"limit", "0"}}},
                                                                 {"workloads", {{"limit", "1001"}}},
                                                                 {"workloads", {{"offset", "-1"}}},
                                                                 {"workloads", {{"sort", "age"}}},
                                                                 {"workloads", {{"phase", "Pending,Lost"}}},
                                                                 {"workloads", {{"descending", "yes"}}},
                                                                 {"workloads", {{"text", std::string(2'000, 'x')}}},
                                                                 {"search", {{"q", std::string(513, 'x')}}},
                                                                 {"search", {{"limit", "101"}}}};
  for (const auto& [route, query] : wrong) {
    const auto answer = asking.try_to(route, {}, query);
    ASSERT_FALSE(answer) << route << " " << query.begin()->first;
    EXPECT_EQ(answer.error().kind, ErrorKind::invalid);
    EXPECT_NE(answer.error().message.find("allowed: "), std::string::npos) << answer.error().message;
  }
  EXPECT_FALSE(asking.try_to("queues/{name}", {{"name", "team-a"}}, {{"limit", "0"}}));
  EXPECT_TRUE(asking.ask("workloads", {}, {{"offset", "10000000"}})["items"].empty());
  EXPECT_TRUE(asking.ask("queues/{name}", {{"name", "team-a"}}, {{"offset", "10000000"}})["rows"].empty());
  EXPECT_EQ(asking.try_to("queues/{name}", {{"name", "nowhere"}}).error().kind, ErrorKind::not_found);
  EXPECT_EQ(asking.try_to("clusterqueues/{name}/why", {{"name", "nowhere"}}).error().kind, ErrorKind::not_found);
}

TEST_F(QuickStartViews, AnAudienceOfOneNamespaceLearnsNoNameOfAnother) {
  const SeesOnly team_b({"team-b"});
  std::size_t answers = 0;
  for (Position p = 5; p <= run->end(); p += 31) {
    const Asking asking(run->log, p, team_b);
    std::vector<std::string> secrets{"train-1", "train-2", "sweep-1", "sweep-2", "hotfix", "moonshot", "team-a/"};
    for (const auto& at : projections::all_workloads(asking.state()))
      if (at.workload->namespace_.text() == "team-a") secrets.push_back(at.workload->name.text());
    std::vector<Json> told{asking.ask("overview"),
                           asking.ask("cohorts"),
                           asking.ask("cohorts/users"),
                           asking.ask("workloads"),
                           asking.ask("search", {}, {{"q", "t"}}),
                           asking.ask("search", {}, {{"q", "train"}})};
    for (const auto& [name, config] : asking.state().domain().catalog()->queues) {
      told.push_back(asking.ask("queues/{name}", {{"name", std::string(name.text())}}));
      told.push_back(asking.ask("clusterqueues/{name}/why", {{"name", std::string(name.text())}}));
    }
    for (const auto& at : projections::all_workloads(asking.state())) {
      const Asking::Words path{{"namespace", std::string(at.workload->namespace_.text())}, {"name", at.workload->name.text()}};
      for (const char* route : {"workloads/{namespace}/{name}", "workloads/{namespace}/{name}/why"}) {
        const auto answer = asking.try_to(route, path);
        ASSERT_EQ(answer.has_value(), path.at("namespace") == "team-b");
        if (answer)
          told.push_back(*answer);
        else
          EXPECT_EQ(answer.error().kind, ErrorKind::denied);
      }
    }
    for (const auto& answer : told) {
      ++answers;
      const std::string text = answer.dump();
      for (const auto& secret : secrets) EXPECT_EQ(text.find(secret), std::string::npos) << secret << " in " << text;
    }
    const Counted counted = counted_again(asking.state());
    const Json table = asking.ask("workloads");
    EXPECT_EQ(table["all"].get<std::size_t>() + table["hidden"].get<std::size_t>(), counted.all);
  }
  EXPECT_GT(answers, 50U);
}

TEST_F(QuickStartViews, SearchFindsTheVeryNameFirst) {
  const Asking asking(run->log, run->end(), everybody);
  const Json queue = asking.ask("search", {}, {{"q", "TEAM-A"}});
  ASSERT_FALSE(queue["items"].empty());
  EXPECT_EQ(queue["items"][0]["object"]["kind"], "ClusterQueue");
  EXPECT_EQ(queue["items"][0]["view"], "/queue/team-a");
  const Json job = asking.ask("search", {}, {{"q", "train-1"}, {"limit", "1"}});
  ASSERT_EQ(job["items"].size(), 1U);
  EXPECT_EQ(job["items"][0]["object"]["kind"], "Workload");
  EXPECT_NE(job["items"][0]["hint"].get<std::string>().find("Job train-1"), std::string::npos);
  EXPECT_TRUE(asking.ask("search", {}, {{"q", ""}})["items"].empty());
}

TEST_F(QuickStartViews, CurvesOfTheHourEndWithWhatIsNow) {
  for (Position p = 40; p <= run->end(); p += 60) {
    const Asking asking(run->log, p, everybody);
    const Json overview = asking.ask("overview");
    ASSERT_EQ(overview["waiting"]["curve"]["value"].size(), 60U);
    EXPECT_EQ(overview["waiting"]["curve"]["value"].back(), overview["waiting"]["count"]);
    EXPECT_EQ(overview["used"]["curve"]["value"].back(), overview["used"]["perMille"]);
    EXPECT_EQ(overview["oldestWait"]["curve"]["value"].back(), overview["oldestWait"]["milliseconds"]);
    std::int64_t evicted = 0;
    for (const auto& value : overview["evicted"]["curve"]["value"])
      if (!value.is_null()) evicted += value.get<std::int64_t>();
    EXPECT_EQ(overview["evicted"]["lastHour"], evicted);
  }
}

TEST_F(QuickStartViews, ALongAnswerEndsWhenNobodyWaitsForIt) {
  Asking asking(run->log, run->end(), everybody);
  asking.give_up();
  const auto answer = asking.try_to("overview");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
}

// ---- worlds of a test's own -----------------------------------------------------------------------------------------------------------

class StateViews : public projections::Reading {
 protected:
  Asking asking(const Audience& audience = everybody) {
    w.flush();
    return {log, w.position(), audience};
  }
  /// Of the overview, by kind.
  std::map<std::string, Json> attention() {
    std::map<std::string, Json> out;
    const Json overview = asking().ask("overview");
    for (const auto& item : overview["attention"]) out.emplace(item["kind"].get<std::string>(), item);
    return out;
  }
};

TEST_F(StateViews, EqualNeighboursAreOneRowAndQuotaEndsWhereItDoes) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}}});
  w.submit({.name = "runs", .cpu = 3'000});
  w.settle();
  w.tick(Duration::seconds(1));
  for (int i = 0; i < 3; ++i) w.submit({.name = "big-" + std::to_string(i), .cpu = 2'000});
  w.submit({.name = "urgent", .cpu = 2'000, .priority = 10});
  w.settle();
  w.tick(Duration::seconds(1));
  const auto views = asking();
  const Json queue = views.ask("queues/{name}", {{"name", "cq"}});
  EXPECT_EQ(queue["waiting"], 4);
  ASSERT_EQ(queue["rows"].size(), 2U) << queue.dump(2);
  EXPECT_EQ(queue["rows"][0]["workload"]["name"], "urgent");
  EXPECT_EQ(queue["rows"][1]["place"], 1);
  EXPECT_EQ(queue["rows"][1]["alike"], 2);
  EXPECT_EQ(queue["rows"][0]["asks"].dump(), R"([{"resource":"cpu","amount":{"text":"2","value":2000}}])");
  EXPECT_EQ(queue["quotaEndsAfter"], 0) << "1 cpu is free, and the first asks for 2";
  ASSERT_EQ(queue["users"].size(), 1U);
  EXPECT_EQ(queue["users"][0]["sentence"], "holds default/cpu 3");
  const Json from_two = views.ask("queues/{name}", {{"name", "cq"}}, {{"offset", "2"}, {"limit", "1"}});
  ASSERT_EQ(from_two["rows"].size(), 1U);
  EXPECT_EQ(from_two["rows"][0]["place"], 2);
  EXPECT_EQ(from_two["rows"][0]["alike"], 1);
}

TEST_F(StateViews, QuotaIsGivenOneAfterTheOther) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 5'000}}}});
  for (const auto& [name, cpu] : {std::pair("a", 2'000), std::pair("b", 2'000), std::pair("c", 2'000)})
    w.submit({.name = name, .cpu = cpu});
  // Nothing was decided yet: two of three find room.
  EXPECT_EQ(asking().ask("queues/{name}", {{"name", "cq"}})["quotaEndsAfter"], 2);
  w.settle();
  EXPECT_EQ(asking().ask("queues/{name}", {{"name", "cq"}})["quotaEndsAfter"], 0);
  w.finish("a");
  EXPECT_FALSE(asking().ask("queues/{name}", {{"name", "cq"}}).contains("quotaEndsAfter")) << "all that wait would fit";
}

TEST_F(StateViews, TreesTellWhatIsBorrowedAndLent) {
  two_queues();  // "b" has 2 and uses 3; "a" has 4 and uses 3
  const Json roots = asking().ask("cohorts")["roots"];
  ASSERT_EQ(roots.size(), 1U);
  EXPECT_EQ(roots[0]["kind"], "Cohort");
  EXPECT_EQ(roots[0]["quota"][0]["used"]["value"], 6'000);
  EXPECT_EQ(roots[0]["waiting"], 2);
  const Json& a = roots[0]["children"][0];
  const Json& b = roots[0]["children"][1];
  EXPECT_EQ(a["name"], "a");
  EXPECT_EQ(a["quota"][0]["lent"]["value"], 1'000);
  EXPECT_EQ(a["quota"][0]["borrowed"]["value"], 0);
  EXPECT_EQ(b["quota"][0]["own"]["value"], 2'000);
  EXPECT_EQ(b["quota"][0]["borrowed"]["value"], 1'000);
  const Json users = asking().ask("cohorts/users", {}, {{"flavor", "default"}, {"resource", "cpu"}});
  ASSERT_EQ(users["queues"].size(), 2U);
  EXPECT_EQ(users["queues"][0]["users"][0]["workload"]["name"], "runs");
  EXPECT_EQ(users["queues"][0]["users"][0]["used"]["value"], 3'000);
  EXPECT_FALSE(asking().try_to("cohorts/users", {}, {{"flavor", "none"}}));
}

TEST_F(StateViews, ACircleOfCohortsIsATreeThatEnds) {
  w.namespace_("default");
  w.flavor("default");
  w.cohort("x", "y");
  w.cohort("y", "z");
  w.cohort("z", "x");
  for (int i = 0; i < 200; ++i) w.cohort("deep-" + std::to_string(i + 1), i == 0 ? "" : "deep-" + std::to_string(i));
  w.queue({.name = "in-circle", .cohort = "y", .quotas = {{.nominal = 1'000}}});
  w.queue({.name = "deepest", .cohort = "deep-200", .quotas = {{.nominal = 1'000}}});
  std::multiset<std::string> names;
  for (const auto& node : nodes_in(asking().ask("cohorts")["roots"])) names.insert(node["name"].get<std::string>());
  EXPECT_EQ(names.size(), 3U + 200U + 2U);
  for (const auto& name : names) EXPECT_EQ(names.count(name), 1U) << name;
}

TEST_F(StateViews, WhatNeedsAttentionIsToldInASentence) {
  w.set_up({{.name = "a", .cohort = "all", .quotas = {{.nominal = 4'000, .borrowing_limit = 0}}},
            {.name = "b", .cohort = "all", .quotas = {{.nominal = 6'000}}},
            {.name = "stopped", .quotas = {{.nominal = 1'000}}, .stop = StopPolicy::hold},
            {.name = "checked", .quotas = {{.nominal = 4'000}}, .checks = {"prov"}}});
  w.check("prov");
  w.submit({.name = "runs", .cpu = 3'000});
  w.submit({.name = "checked", .queue = "lq-checked"});
  w.settle();
  w.tick(Duration::seconds(5));
  w.submit({.name = "waits", .cpu = 2'000});
  w.submit({.name = "behind", .queue = "lq-stopped"});
  w.submit({.name = "lost", .queue = "nowhere"});
  w.submit({.name = "huge", .cpu = 5'000});
  w.settle();
  auto told = attention();
  ASSERT_TRUE(told.contains("neverFits"));
  EXPECT_EQ(told["neverFits"]["sentence"].get<std::string>().find("1 workload of ClusterQueue a cannot start with the quota that it has: "),
            0U)
      << told["neverFits"]["sentence"];
  EXPECT_NE(told["neverFits"]["sentence"].get<std::string>().find("huge asks for more quota than there ever is"), std::string::npos)
      << told["neverFits"]["sentence"];
  ASSERT_TRUE(told.contains("unusedQuota"));
  EXPECT_EQ(
      told["unusedQuota"]["sentence"],
      "7 of default/cpu is unused in Cohort all, but ClusterQueue a may use only 1 more of it, where 1 workload waits for it and the first "
      "asks for 2");
  ASSERT_TRUE(told.contains("queueCannotAdmit"));
  EXPECT_FALSE(told.contains("checkHangs")) << "not yet";
  w.tick(Duration::seconds(700));
  w.settle();
  told = attention();
  ASSERT_TRUE(told.contains("checkHangs"));
  EXPECT_NE(told["checkHangs"]["sentence"].get<std::string>().find("Admission check prov takes long: 1 workload holds quota"),
            std::string::npos)
      << told["checkHangs"]["sentence"];
  std::size_t cannot = 0;
  const Json overview = asking().ask("overview");
  for (const auto& item : overview["attention"]) cannot += item["kind"] == "queueCannotAdmit" ? 1 : 0;
  EXPECT_EQ(cannot, 2U) << "the queue that is stopped, and the LocalQueue that is not there";
}

TEST_F(StateViews, AWaitIsLongWhenOthersWaitedShorter) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 30'000}}}});
  for (int i = 0; i < 25; ++i) w.submit({.name = "fast-" + std::to_string(i)});
  w.settle();
  w.submit({.name = "slow", .cpu = 20'000});
  w.settle();
  w.tick(Duration::seconds(59));
  EXPECT_FALSE(attention().contains("longWait"));
  w.tick(Duration::seconds(61));
  const auto told = attention();
  ASSERT_TRUE(told.contains("longWait"));
  const auto sentence = told.at("longWait")["sentence"].get<std::string>();
  EXPECT_TRUE(sentence.starts_with("1 workload of ClusterQueue cq has waited longer than 0s, which was enough for 95 % of the 25 "))
      << sentence;
  EXPECT_NE(sentence.find("default/slow waits for quota of default/cpu"), std::string::npos) << sentence;
  const SeesOnly others({"elsewhere"});
  const auto hidden = asking(others).ask("overview");
  EXPECT_EQ(hidden.dump().find("slow"), std::string::npos);
  EXPECT_EQ(hidden["waiting"]["count"], 1) << "counted, not named";
}

TEST_F(StateViews, AWorkloadThatIsGoneHasItsStory) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}}});
  w.submit({.name = "short", .cpu = 1'000});
  w.settle();
  w.confirm();
  w.tick(Duration::seconds(30));
  w.remove("short");
  w.tick(Duration::seconds(30));
  const Asking::Words path{{"namespace", "default"}, {"name", "short"}};
  const Json view = asking().ask("workloads/{namespace}/{name}", path);
  EXPECT_EQ(view["exists"], "gone");
  EXPECT_FALSE(view["story"].empty());
  EXPECT_FALSE(view["lanes"].empty());
  EXPECT_LT(view["ended"]["position"].get<Position>(), w.position());
  EXPECT_EQ(asking().ask("workloads/{namespace}/{name}/why", path)["phase"], "Deleted");
}

TEST_F(StateViews, AStoryThatIsLongIsToldByItsDecisions) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}}});
  w.submit({.name = "first", .cpu = 3'000});
  w.settle();
  w.submit({.name = "old", .cpu = 2'000});
  w.settle();
  for (int i = 0; i < 20'100; ++i) w.tick(Duration::millis(10));
  w.remove("first");
  w.wake();
  ASSERT_TRUE(w.state("old").admitted());
  std::vector<std::string> decided;
  for (const auto& line : projections::condensed(history("workload/old")))
    if (line.entry.decided) decided.push_back(line.entry.text);
  const Json view = asking().ask("workloads/{namespace}/{name}", {{"namespace", "default"}, {"name", "old"}});
  EXPECT_FALSE(view["storyIsWhole"].get<bool>());
  std::vector<std::string> told;
  for (const auto& line : view["story"]) {
    EXPECT_EQ(line["source"], "decided");
    told.push_back(line["text"].get<std::string>());
  }
  EXPECT_EQ(told, decided);
  for (const auto& value : view["place"]["value"]) EXPECT_TRUE(value.is_null());
  std::vector<std::string> lanes;
  for (const auto& lane : view["lanes"]) lanes.push_back(lane["name"].get<std::string>());
  EXPECT_EQ(lanes, (std::vector<std::string>{"wait", "quota", "running"}));
}

TEST_F(StateViews, NamesMayBeAnything) {
  const std::vector<std::string> names{"<script>alert(1)</script>",
                                       "a\"b\\c",
                                       "line\nfeed\x1b[31m",
                                       "\xE2\x80\xAE"
                                       "evil",
                                       std::string(253, 'x'),
                                       "per%2Fcent"};
  w.set_up({{.name = "<b>q</b>", .quotas = {{.nominal = 4'000}}}});
  for (const auto& name : names) w.submit({.name = name, .cpu = 3'000});
  w.settle();
  const auto views = asking();
  expect_agreement(views);
  for (const auto& name : names) {
    const Asking::Words path{{"namespace", "default"}, {"name", name}};
    EXPECT_EQ(views.ask("workloads/{namespace}/{name}", path)["object"]["metadata"]["name"], name);
    (void)views.ask("workloads/{namespace}/{name}/why", path, {{"plays", "true"}}).dump();
    const Json found = views.ask("search", {}, {{"q", name}});
    ASSERT_FALSE(found["items"].empty());
    const auto address = found["items"][0]["view"].get<std::string>();
    EXPECT_EQ(address.find_first_of("<>\"\\\n\x1b "), std::string::npos) << address;
  }
  const SeesOnly others({"elsewhere"});
  const auto hidden = asking(others);
  for (const auto& answer : {hidden.ask("overview"), hidden.ask("workloads"), hidden.ask("queues/{name}", {{"name", "<b>q</b>"}}),
                             hidden.ask("clusterqueues/{name}/why", {{"name", "<b>q</b>"}})})
    for (const auto& name : {"script", "evil", "xxxxxxxx", "cent"}) EXPECT_EQ(answer.dump().find(name), std::string::npos) << answer.dump();
}

/// Random worlds: jobs come, run, end and go, in two namespaces and three queues.
TEST(StateViewsOfRandomWorlds, AgreeWithTheState) {
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    events::MemoryLog log;
    hindsight::testing::LogWorld w(log);
    w.namespace_("other");
    w.set_up({{.name = "a", .cohort = "all", .quotas = {{.nominal = 6'000}}, .within = PreemptionPolicy::lower_priority},
              {.name = "b", .cohort = "all", .quotas = {{.nominal = 4'000}}, .reclaim = PreemptionPolicy::any},
              {.name = "c", .quotas = {{.nominal = 3'000}}, .strategy = QueueingStrategy::strict_fifo}});
    w.local_queue("lq-other", "b", StopPolicy::none, "other");
    std::vector<std::string> there;
    for (int i = 0; i < 150; ++i) {
      const std::vector<std::string> queues{"lq", "lq-b", "lq-c", "lq-other"};
      switch (below(5)) {
        case 0:
        case 1: {
          const std::string queue = queues[below(4)], name = "w" + std::to_string(i);
          w.submit({.name = name,
                    .queue = queue,
                    .cpu = 500 * (1 + static_cast<Amount>(below(6))),
                    .priority = static_cast<std::int32_t>(below(3)),
                    .count = 1 + static_cast<std::int32_t>(below(2)),
                    .namespace_ = queue == "lq-other" ? "other" : "default"});
          there.push_back(name);
          break;
        }
        case 2:
          if (!there.empty()) {
            const std::size_t which = below(static_cast<std::uint32_t>(there.size()));
            if (below(2) == 0) {
              w.finish(there[which]);
            } else {
              w.remove(there[which]);
              there.erase(there.begin() + static_cast<std::ptrdiff_t>(which));
            }
          }
          break;
        case 3:
          w.settle();
          w.confirm();
          break;
        default:
          w.tick(Duration::seconds(1 + below(40)));
      }
    }
    w.settle();
    w.flush();
    for (int i = 0; i < 50; ++i) {
      const Position at = 1 + random() % w.position();
      SCOPED_TRACE(at);
      expect_agreement(Asking(log, at, everybody));
    }
  }
}

}  // namespace
}  // namespace hindsight::page::testing
