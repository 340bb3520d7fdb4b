// A plan of moves: what it promises is played, move by move.

#include "projections/defragment.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "projections/gang_room.hpp"
#include "projections/metrics.hpp"
#include "projections/topologies.hpp"
#include "tests/admission/entities/fleet.hpp"

namespace hindsight::projections {
namespace {

using admission::testing::Ask;
using admission::testing::Fleet;

const Ask one_rack{.required = "rack"};
const Symbol racks("racks");

/// Three racks of two hosts with 4 cores. In each of the first two there is a small workload, so that one rack alone holds a gang of 8
/// cores.
class Defragment : public ::testing::Test {
 protected:
  void SetUp() override {
    w.set_up();
    for (int i = 0; i < 6; ++i) w.node("n" + std::to_string(i), {.rack = "r" + std::to_string(i / 2)});
    w.observe(w.gang("small-a", 2, 1'000, one_rack, 5));
    (void)w.settle();
    w.used("n0", 2);
    w.used("n1", 4);  // so that the next one comes to stand in another rack
    w.observe(w.gang("small-b", 3, 1'500, one_rack, 5));
    (void)w.settle();
    w.used("n0", 0, 0);
    w.used("n1", 0, 0);
    (void)w.settle();
    ASSERT_EQ(w.places("small-a"), "n0:2");
    ASSERT_EQ(w.places("small-b"), "n2:2 n3:1");
  }
  [[nodiscard]] const admission::StateView& state() { return w.driver(); }
  /// As whoever follows the plan does it: each workload is set inactive and active again, one after the other.
  void play(const DefragmentationPlan& plan) {
    for (const auto& m : plan.moves) {
      const std::string name = m.workload.substr(m.workload.find('/') + 1);
      for (const bool active : {false, true}) {
        auto o = w.seen_as(name);
        o.active = active;
        if (!active) {  // its maker clears the admission of a Workload that no job owns
          w.observe(o);
          (void)w.settle();
          o = w.seen_as(name);
          o.has_admission = false;
          o.assignments = {};
          auto conditions = w.arena().make<ConditionFacts>(1);
          conditions[0] = {ConditionType::quota_reserved, ConditionStatus::false_, "Pending", "", w.now};
          o.conditions = conditions;
        }
        w.observe(o);
        (void)w.settle();
        (void)w.pass();
      }
    }
  }
  Fleet w;
};

TEST_F(Defragment, ARackIsMadeFree) {
  const auto plan = make_a_domain_free(state(), racks, {});
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->moves.size(), 1U) << to_text(*plan);
  EXPECT_EQ(plan->moves[0].workload, "default/small-a");
  EXPECT_EQ(plan->pods, 2);
  EXPECT_EQ(plan->moves[0].from, "n0:2");
  EXPECT_EQ(plan->moves[0].to, "n3:2");
  ASSERT_EQ(plan->gains.size(), 2U) << to_text(*plan);  // and one more host
  EXPECT_EQ(plan->gains[0], "domains of rack without anybody: 1 -> 2");
  EXPECT_EQ(to_json(*plan)["podsRestarted"], 2);
  play(*plan);
  EXPECT_EQ(w.places("small-a"), "n3:2");
}

TEST_F(Defragment, RoomIsMadeForOneThatWaits) {
  w.observe(w.gang("wide", 2, 4'000, one_rack));
  (void)w.settle();
  ASSERT_EQ(w.places("wide"), "n4:1 n5:1");
  w.observe(w.gang("wider", 2, 4'000, one_rack));
  (void)w.settle();
  ASSERT_FALSE(w.state("wider").reserved());
  const auto at = find_workload(state(), parse_target("wider", "default").value()).value();
  const auto plan = make_room_for(state(), racks, at);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->pods, 2) << to_text(*plan);
  EXPECT_EQ(plan->places, "main on n0:1, n1:1");
  const std::string text = to_text(*plan);
  EXPECT_NE(text.find("Then Workload default/wider gets places: main on n0:1, n1:1.\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    - n0:2\n    + n3:2\n"), std::string::npos) << text;
  play(*plan);
  EXPECT_EQ(w.places("small-a"), "n3:2");
  EXPECT_EQ(w.places("wider"), "n0:1 n1:1");
}

TEST_F(Defragment, WhoNeedsNoneGetsNone) {
  const auto fits = [&](const std::string& name) {
    const auto at = find_workload(state(), parse_target(name, "default").value()).value();
    const auto plan = make_room_for(state(), racks, at);
    return plan ? std::string() : plan.error().message;
  };
  EXPECT_EQ(fits("small-a"), "Workload default/small-a waits in no queue; 'hindsight why' tells where it is");
  w.observe(w.gang("huge", 3, 4'000, one_rack));
  (void)w.settle();
  EXPECT_EQ(fits("huge"), "Workload default/huge would not fit if topology racks were empty either");
  const auto level = make_a_domain_free(state(), racks, "row");
  ASSERT_FALSE(level);
  EXPECT_EQ(level.error().message, "--level: topology racks has no level \"row\"; allowed: block, rack, kubernetes.io/hostname");
  const auto whole = make_a_domain_free(state(), racks, "block");
  ASSERT_FALSE(whole);
  EXPECT_EQ(
      whole.error().message,
      "no moves leave one more domain of level block without anybody: of 1 domain that were tried, each has somebody for whom there is "
      "no room where others stand already");
}

// Of a node and of a topology as objects: what there is is what is used, placed and free.
TEST_F(Defragment, NodesAndTopologiesAreWholeObjects) {
  const auto& node = *state().domain().nodes().at(Symbol("n0"));
  EXPECT_EQ(
      node_object(state(), node, node_shares(state()).at("n0")).dump(),
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n0","labels":{"block":"b1","kubernetes.io/hostname":"n0","pool":"t","rack":"r0"}},"spec":{},"status":{"allocatable":{"cpu":"4","pods":"110"},"conditions":[{"type":"Ready","status":"True"}],"hindsight":{"usedByOthers":{},"placed":{"cpu":"2"},"free":{"cpu":"2","pods":"108"},"podsPlaced":2,"workloads":[{"namespace":"default","name":"small-a","pods":2}],"flavors":["default"]}}})");
  const Json whole = topology_object(state(), racks, {"block", "rack", "kubernetes.io/hostname"});
  EXPECT_EQ(whole["spec"].dump(), R"({"levels":[{"nodeLabel":"block"},{"nodeLabel":"rack"},{"nodeLabel":"kubernetes.io/hostname"}]})");
  const Json& flavor = whole["status"]["hindsight"]["flavors"][0];
  EXPECT_EQ(flavor["nodes"], 6);
  ASSERT_EQ(flavor["domains"].size(), 10U) << "a block, three racks, six hosts";
  EXPECT_EQ(flavor["domains"][0]["values"], Json::array({"b1"}));
  EXPECT_EQ(flavor["domains"][0]["free"]["cpu"], "17500m");
  std::map<std::size_t, int> pods;  // by how deep the domain is
  for (const auto& domain : flavor["domains"]) pods[domain["values"].size()] += domain["podsPlaced"].get<int>();
  EXPECT_EQ(pods, (std::map<std::size_t, int>{{1, 5}, {2, 5}, {3, 5}}));
}

// A gang of any pod: how many of them one domain has room for.
TEST_F(Defragment, TheLargestGangOfEachLevelIsTold) {
  const auto room = [&](const std::string& pod) {
    auto whole = whole_room(state());
    std::string out;
    for (const auto& level : gang_room(*whole, 0, parse_pod(pod).value()))
      out += level.level + " " + std::to_string(level.largest) + "/" + std::to_string(level.pods) + " in " + level.where + ", empty " +
             std::to_string(level.empty) + "/" + std::to_string(level.domains) + "; ";
    return out;
  };
  const Json told = describe_topology(state(), racks, {"block", "rack", "kubernetes.io/hostname"}, parse_pod("cpu=4").value());
  const Json& gangs = told["flavors"][0]["gangs"];
  EXPECT_EQ(told["flavors"][0]["gangsOfPodsWith"], "4 cpu");
  ASSERT_EQ(gangs.size(), 3U);
  EXPECT_EQ(gangs[1]["level"], "rack");
  EXPECT_EQ(gangs[2]["largestGang"], 1);
  EXPECT_EQ(gangs[0]["withoutPlaces"], 0);
  // the largest gang is placed, and one more pod is not
  const auto largest = gangs[1]["largestGang"].get<std::int32_t>();
  w.observe(w.gang("one-more", largest + 1, 4'000, one_rack));
  (void)w.settle();
  EXPECT_FALSE(w.state("one-more").reserved()) << room("cpu=4");
  w.observe(w.gang("largest", largest, 4'000, one_rack));
  (void)w.settle();
  EXPECT_TRUE(w.state("largest").reserved()) << room("cpu=4");
}

// TAS-125: gauges of as many levels as are asked for, and their sums agree with the nodes.
TEST_F(Defragment, GaugesOfDomains) {
  MetricsOptions options;
  EXPECT_EQ(Metrics(options).text(state()).find("hindsight_topology_"), std::string::npos);
  options.topology_levels = 2;
  const std::string text = Metrics(options).text(state());
  const auto has = [&](const std::string& line) { EXPECT_NE(text.find(line + "\n"), std::string::npos) << line; };
  has(R"(hindsight_topology_capacity{domain="b1",flavor="default",level="block",replica_role="standalone",resource="cpu"} 24)");
  has(R"(hindsight_topology_free{domain="b1",flavor="default",level="block",replica_role="standalone",resource="cpu"} 17.5)");
  has(R"(hindsight_topology_capacity{domain="b1/r2",flavor="default",level="rack",replica_role="standalone",resource="cpu"} 8)");
  EXPECT_EQ(text.find("level=\"kubernetes.io/hostname\""), std::string::npos);
}

TEST(ParsePod, SaysWhatIsWrong) {
  EXPECT_EQ(words_of(parse_pod("nvidia.com/gpu=8,cpu=500m").value()), "500m cpu, 8 nvidia.com/gpu");
  for (const char* bad : {"", "cpu", "cpu=", "cpu=0", "cpu=-1", "=1", "cpu=1,", "cpu=1,cpu=2", "pods=3", "cpu=x"}) {
    const auto pod = parse_pod(bad);
    ASSERT_FALSE(pod) << bad;
    EXPECT_NE(pod.error().message.find("allowed: RESOURCE=QUANTITY"), std::string::npos);
  }
}

}  // namespace
}  // namespace hindsight::projections
