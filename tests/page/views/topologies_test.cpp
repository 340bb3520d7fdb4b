// Topologies on the page, on the log of examples/topology: use and room agree with what else is known of them, and "would it fit" with what
// the scheduler then did.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/workload/workload_parent.hpp"
#include "projections/gang_room.hpp"
#include "projections/lookup.hpp"
#include "projections/topologies.hpp"
#include "projections/topology_map.hpp"
#include "tests/page/views/decision_asking.hpp"
#include "tests/projections/simulated.hpp"

namespace hindsight::page::testing {
namespace {

using projections::Played;
using Hosts = std::map<std::string, std::int64_t>;

const SeesAll topology_audience;

class TopologyViews : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { run = new Played(std::vector<std::string>{"examples/topology"}); }
  static void TearDownTestSuite() {
    delete run;
    run = nullptr;
  }
  /// All domains of the lowest level, by their names.
  static void leaves(const Json& domains, std::map<std::string, Json>& out) {
    for (const auto& d : domains) {
      if (d.contains("children"))
        leaves(d["children"], out);
      else
        out[d["name"].get<std::string>()] = d;
    }
  }
  static Played* run;
};

Played* TopologyViews::run = nullptr;

TEST_F(TopologyViews, UseOfHostsIsThatOfTheirPods) {
  for (int second = 0; second <= 8; ++second) {
    SCOPED_TRACE(second);
    const DecisionAsking asking(run->log, run->at(second), topology_audience);
    const auto shares = projections::node_shares(asking.state());
    const Json list = asking.ask("topologies");
    ASSERT_EQ(list["items"].size(), 1U);
    EXPECT_EQ(list["items"][0]["nodes"], 24);
    EXPECT_EQ(list["items"][0]["ready"], 24);
    const Json map = asking.ask("topologies/{name}", {}, {{"name", "fleet"}});
    EXPECT_EQ(map["leftOut"], 0);
    std::map<std::string, Json> hosts;
    leaves(map["domains"], hosts);
    ASSERT_EQ(hosts.size(), shares.size());
    std::map<std::string, Amount> used, capacity;
    for (const auto& [name, share] : shares) {
      for (std::size_t r = 0; r < map["resources"].size(); ++r) {
        const auto resource = map["resources"][r].get<std::string>();
        const Amount all = share.allocatable.at(resource);
        const Amount free = resource == "pods" ? share.free(resource) - share.pods : share.free(resource);
        EXPECT_NEAR(hosts.at(name)["used"][r].get<double>(), 1000.0 * static_cast<double>(all - free) / static_cast<double>(all), 1.0)
            << name << " " << resource;
        used[resource] += all - free;
        capacity[resource] += all;
      }
    }
    for (const auto& one : list["items"][0]["used"]) {
      const auto resource = one["resource"].get<std::string>();
      EXPECT_EQ(one["used"]["text"], format_amount(used.at(resource), resource));
      EXPECT_EQ(one["capacity"]["text"], format_amount(capacity.at(resource), resource));
    }
  }
}

TEST_F(TopologyViews, RoomIsWhatTheRulesCount) {
  for (const char* requests : {"example.com/gpu=1", "example.com/gpu=3", "example.com/gpu=8"}) {
    const DecisionAsking asking(run->log, run->at(5), topology_audience);
    auto room = projections::whole_room(asking.state());
    ASSERT_TRUE(room);
    ASSERT_EQ(room->size(), 1U);
    const auto levels = projections::gang_room(*room, 0, projections::parse_pod(requests).value());
    const Json map = asking.ask("topologies/{name}", {{"requests", requests}}, {{"name", "fleet"}});
    ASSERT_EQ(map["freeBySize"].size(), levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const Json& sizes = map["freeBySize"][i]["sizes"];
      EXPECT_EQ(map["freeBySize"][i]["level"], levels[i].level);
      EXPECT_EQ(sizes.empty() ? 0 : sizes.back()["pods"].get<std::int64_t>(), levels[i].largest) << levels[i].level << " " << requests;
      for (std::size_t s = 1; s < sizes.size(); ++s)
        EXPECT_LE(sizes[s]["domains"].get<int>(), sizes[s - 1]["domains"].get<int>()) << "fewer have room for more";
    }
  }
}

TEST_F(TopologyViews, AGangIsWhereItsAssignmentSays) {
  const DecisionAsking asking(run->log, run->at(2), topology_audience);
  const Json map = asking.ask("topologies/{name}", {{"workload", "job/research/train-block"}}, {{"name", "fleet"}});
  std::map<std::string, Json> hosts;
  leaves(map["domains"], hosts);
  const auto at = projections::find_workload(asking.state(), {"job", "research", "train-block"}).value();
  const auto& assigned = *at.workload->admission->pod_sets.front().topology;
  Hosts wanted, found;
  for (std::size_t i = 0; i < assigned.size(); ++i) wanted[std::string(assigned.domain(i).back().text())] += assigned.counts[i];
  std::int64_t in_blocks = 0;
  for (const auto& [name, host] : hosts)
    if (host.contains("gang")) found[name] = host["gang"].get<std::int64_t>();
  for (const auto& block : map["domains"]) in_blocks += block.value("gang", std::int64_t{0});
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(in_blocks, 16);

  const SeesOnly others({"elsewhere"});
  const DecisionAsking stranger(run->log, run->at(2), others);
  EXPECT_FALSE(
      stranger.refused(ErrorKind::denied, "topologies/{name}", {{"workload", "job/research/train-block"}}, {{"name", "fleet"}}).empty());
  EXPECT_EQ(stranger.ask("topologies/{name}", {}, {{"name", "fleet"}}).dump().find("gang\""), std::string::npos);
}

TEST_F(TopologyViews, APartIsShownAlone) {
  const DecisionAsking asking(run->log, run->at(2), topology_audience);
  const Json map = asking.ask("topologies/{name}", {}, {{"name", "fleet"}});
  for (const auto& block : map["domains"]) {
    const auto name = block["name"].get<std::string>();
    EXPECT_EQ(asking.ask("topologies/{name}", {{"under", name}}, {{"name", "fleet"}})["domains"], block["children"]);
    const Json& rack = block["children"][0];
    EXPECT_EQ(asking.ask("topologies/{name}", {{"under", name + "/" + rack["name"].get<std::string>()}}, {{"name", "fleet"}})["domains"],
              rack["children"]);
  }
  for (const char* nowhere : {"no-block", "/", "b0/", "b0/b0-r0/b0-r0-n0"})
    EXPECT_FALSE(asking.refused(ErrorKind::not_found, "topologies/{name}", {{"under", nowhere}}, {{"name", "fleet"}}).empty()) << nowhere;
}

/// Where the first pod set of a Workload stands: host → pods.
Hosts assigned_hosts(const admission::WorkloadState& w) {
  Hosts out;
  const admission::TopologyAssignment& where = w.admission->pod_sets.front().topology;
  for (std::size_t i = 0; i < where.size(); ++i) out[std::string(where.domain(i).back().text())] += where.counts[i];
  return out;
}

/// What the view is to be asked for such a gang; nothing: the view asks less than this Workload does.
std::optional<DecisionAsking::Words> question_like(const admission::WorkloadState& w) {
  const auto& pod_sets = w.pod_sets.value();
  if (pod_sets.size() != 1) return {};
  const auto& p = pod_sets.front();
  if (!p.topology || !p.topology->slices.empty() || !(p.shape.value() == admission::PodShape{})) return {};
  std::string requests;
  for (const auto& r : p.requests)
    if (r.resource.text() != "pods" && r.amount > 0)
      requests += (requests.empty() ? "" : ",") + std::string(r.resource.text()) + "=" + format_amount(r.amount, r.resource.text());
  DecisionAsking::Words out{{"pods", std::to_string(p.count)}, {"requests", requests}};
  if (p.topology->required)
    out.insert({{"mode", "required"}, {"level", *p.topology->required}});
  else if (p.topology->preferred)
    out.insert({{"mode", "preferred"}, {"level", *p.topology->preferred}});
  else
    out.insert({"mode", "unconstrained"});
  return out;
}

// What the view says right before a gang is decided about is where the scheduler then puts it.
TEST_F(TopologyViews, FitIsWhereTheSchedulerPutsTheGang) {
  struct Reserved {
    Position decision, base;
    std::string uid;
  };
  std::vector<Reserved> reserved;
  run->each([&](Position position, const RecordView& r) {
    const auto* d = std::get_if<Decisions>(&r.body);
    if (d == nullptr) return;
    std::vector<std::string> uids;
    for (const Event& e : d->events)
      if (const auto* q = std::get_if<QuotaReserved>(&e)) uids.emplace_back(q->workload.uid);
    if (uids.size() == 1)
      reserved.push_back({position, d->base, uids.front()});  // of several each finds the places of those before it taken
  });
  int compared = 0;
  std::set<std::string> modes;
  for (const auto& one : reserved) {
    const auto& after = run->state(one.decision);
    const auto at = projections::find_by_uid(after, one.uid);
    if (at.workload == nullptr || !at.workload->admission || at.workload->admission->pod_sets.front().topology->empty()) continue;
    const auto question = question_like(*at.workload);
    if (!question) continue;
    const Hosts wanted = assigned_hosts(*at.workload);
    const DecisionAsking asking(run->log, one.base, topology_audience);
    const Json fit = asking.ask("topologies/{name}/fit", *question, {{"name", "fleet"}});
    EXPECT_EQ(fit["fits"], true) << fit["sentence"];
    Hosts found;
    for (const auto& d : fit["domains"]) {
      EXPECT_EQ(d["path"].size(), 3U);
      found[d["path"].back().get<std::string>()] += d["pods"].get<std::int64_t>();
    }
    EXPECT_EQ(found, wanted) << at.workload->name.text() << " at " << one.decision;
    modes.insert(question->at("mode"));
    ++compared;
  }
  EXPECT_GE(compared, 3);
  EXPECT_GE(modes.size(), 2U);
}

TEST_F(TopologyViews, WhatDoesNotFitIsSaidInTheWordsOfTheScheduler) {
  const DecisionAsking asking(run->log, run->at(4), topology_audience);
  // As the Workload of big-rack waits: TopologyStory.IsWhatTheTableSays.
  const Json fit = asking.ask("topologies/{name}/fit",
                              {{"pods", "4"}, {"requests", "example.com/gpu=8"}, {"mode", "required"}, {"level", "example.com/rack"}},
                              {{"name", "fleet"}});
  EXPECT_EQ(fit["fits"], false);
  EXPECT_TRUE(fit["domains"].empty());
  EXPECT_NE(fit["sentence"].get<std::string>().find("allows to fit only 2 out of 4 pod(s)"), std::string::npos) << fit["sentence"];
}

TEST_F(TopologyViews, WrongParametersSayWhatIsAllowed) {
  const DecisionAsking asking(run->log, run->at(1), topology_audience);
  const DecisionAsking::Words fleet{{"name", "fleet"}};
  const auto fit = [&](const DecisionAsking::Words& query) {
    return asking.refused(ErrorKind::invalid, "topologies/{name}/fit", query, fleet);
  };
  EXPECT_NE(fit({{"level", "rack"}}).find("example.com/rack"), std::string::npos);
  EXPECT_NE(fit({{"mode", "maybe"}}).find("required, preferred, unconstrained"), std::string::npos);
  EXPECT_EQ(fit({{"requests", "cpu"}}).find("--pod"), std::string::npos) << "that is of a command";
  EXPECT_NE(fit({{"requests", "cpu=-1"}}).find("requests: found"), std::string::npos);
  EXPECT_FALSE(fit({{"requests", std::string(2'000, 'a')}}).empty());
  EXPECT_FALSE(fit({{"pods", "0"}}).empty());
  EXPECT_FALSE(fit({{"pods", "100001"}}).empty());
  EXPECT_NE(asking.refused(ErrorKind::not_found, "topologies/{name}", {}, {{"name", "flet"}}).find("did you mean fleet"),
            std::string::npos);
  EXPECT_FALSE(asking.refused(ErrorKind::not_found, "topologies/{name}/fit", {{"flavor", "none"}}, fleet).empty());
}

}  // namespace
}  // namespace hindsight::page::testing
