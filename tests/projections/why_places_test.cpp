// What is said of missing places, and that what is said to help does: every remedy is played.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "projections/why.hpp"
#include "tests/admission/entities/fleet.hpp"

namespace hindsight::projections {
namespace {

using admission::testing::Ask;
using admission::testing::Fleet;

/// Two racks of two hosts with 4 cores each. One host is held, two are used to the half by others, and one keeps pods away.
void build(Fleet& f) {
  f.set_up();
  f.node("n1", {.rack = "r1"});
  f.node("n2", {.rack = "r1"});
  f.node("n3", {.rack = "r2"});
  f.node("n4", {.rack = "r2", .taint = "mine"});
  f.used("n3", 2);
  f.observe(f.gang("holder", 1, 4'000, {.required = "rack"}, 5));
  (void)f.settle();
  f.used("n2", 2);
  (void)f.settle();
  ASSERT_EQ(f.places("holder"), "n1:1");
}

const Ask one_rack{.required = "rack"};

Why why(const Fleet& f, const std::string& name) {
  auto& driver = const_cast<Fleet&>(f).driver();
  const auto target = parse_target(name, "default").value();
  return explain(driver, find_workload(driver, target).value(), Trail(target));
}

const Remedy* remedy(const Why& why, Remedy::Kind kind) {
  const auto it = std::find_if(why.remedies.begin(), why.remedies.end(), [&](const Remedy& r) { return r.kind == kind; });
  return it == why.remedies.end() ? nullptr : &*it;
}

class WhyPlaces : public ::testing::Test {
 protected:
  void SetUp() override {
    build(w);
    w.observe(w.gang("wants", 2, 2'000, one_rack));
    (void)w.settle();
    ASSERT_FALSE(w.state("wants").reserved());
    told = why(w, "wants");
  }
  Fleet w;
  Why told;
};

// TAS-124: which domain comes nearest, and what keeps how many nodes out.
TEST_F(WhyPlaces, TheNearestDomainAndWhatIsExcluded) {
  ASSERT_EQ(told.places.size(), 1U);
  const PlaceTrial& p = told.places[0];
  EXPECT_EQ(p.pod_set, "main");
  EXPECT_EQ(p.topology.text(), "racks");
  EXPECT_FALSE(p.fits);
  EXPECT_TRUE(p.fits_empty);
  EXPECT_EQ(p.nearest, "rack b1/r1");
  EXPECT_EQ(p.fit, 1);
  EXPECT_EQ(p.count, 2);
  ASSERT_EQ(p.exclusions.size(), 2U);
  EXPECT_EQ(p.exclusions[0].reason, "resource \"cpu\"");
  EXPECT_EQ(p.exclusions[0].examples, std::vector<std::string>{"n1"});
  EXPECT_EQ(p.exclusions[1].reason, "taint \"mine:NoExecute\"");
  EXPECT_EQ(p.exclusions[1].examples, std::vector<std::string>{"n4"});
  const std::string text = to_text(told);
  EXPECT_NE(
      text.find("main, flavor default, topology racks: nearest is rack b1/r1, with room for 1 of 2; it would fit if nobody else stood "
                "there"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("1 node has no room for one: taint \"mine:NoExecute\" (n4)"), std::string::npos) << text;
  EXPECT_EQ(to_json(told)["places"][0]["nearest"]["domain"], "rack b1/r1");
}

TEST_F(WhyPlaces, WhoHasToGoForIt) {
  const Remedy* r = remedy(told, Remedy::Kind::free_places);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(remedy_text(*r), "if places got free, for instance by the end of default/holder");
  ASSERT_EQ(r->ending.size(), 1U);
  w.finish(r->ending[0].name);
  (void)w.settle();
  (void)w.pass();
  EXPECT_EQ(w.places("wants"), "n1:2");
}

TEST_F(WhyPlaces, HowManyPodsWouldDo) {
  const Remedy* r = remedy(told, Remedy::Kind::fewer_pods);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(remedy_text(*r), "if pod set main had 1 pod instead of 2");
  Fleet again;
  build(again);
  again.observe(again.gang("wants", std::stoi(r->to), 2'000, one_rack));
  (void)again.settle();
  EXPECT_TRUE(again.state("wants").reserved());
}

TEST_F(WhyPlaces, WhichLevelWouldDo) {
  const Remedy* r = remedy(told, Remedy::Kind::looser_level);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(remedy_text(*r), "if pod set main asked for required block instead of required rack");
  Fleet again;
  build(again);
  again.observe(again.gang("wants", 2, 2'000, {.required = "block"}));
  (void)again.settle();
  EXPECT_EQ(again.places("wants"), "n2:1 n3:1");
}

TEST_F(WhyPlaces, HowManyNodesWouldDo) {
  const Remedy* r = remedy(told, Remedy::Kind::more_nodes);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(remedy_text(*r), "if there was one more empty node like n1 in rack b1/r1");
  w.node("n9", {.rack = "r1"});
  (void)w.settle();
  (void)w.pass();
  EXPECT_TRUE(w.state("wants").reserved()) << w.places("wants");
}

/// With everybody who waits: what is told then was played.
Why played_why(Fleet& f, const std::string& name) {
  const auto target = parse_target(name, "default").value();
  const auto at = find_workload(f.driver(), target).value();
  const Stage stage = Stage::of_tree(f.driver(), at);
  return explain(f.driver(), at, Trail(target), &stage);
}

TEST_F(WhyPlaces, AllOfItIsPlayed) {
  const Why played = played_why(w, "wants");
  for (const auto kind : {Remedy::Kind::free_places, Remedy::Kind::fewer_pods, Remedy::Kind::looser_level, Remedy::Kind::more_nodes}) {
    const Remedy* r = remedy(played, kind);
    ASSERT_NE(r, nullptr) << to_text(played);
    EXPECT_TRUE(r->played.has_value());
    EXPECT_EQ(remedy_text(*r), remedy_text(*remedy(told, kind)));
  }
  EXPECT_EQ(to_text(played).find("if nobody else waited"), std::string::npos);
}

// Another one waits for the same, and goes first: one node is not enough for both.
TEST_F(WhyPlaces, NodesForThoseWhoGoFirst) {
  w.observe(w.gang("first", 2, 4'000, one_rack, 9));
  (void)w.settle();
  const Why played = played_why(w, "wants");
  const Remedy* nodes = remedy(played, Remedy::Kind::more_nodes);
  ASSERT_NE(nodes, nullptr) << to_text(played);
  ASSERT_TRUE(nodes->played.has_value());
  for (int i = 0; i < nodes->nodes; ++i) w.node("m" + std::to_string(i), {.rack = "r1"});
  (void)w.settle();
  (void)w.pass();
  EXPECT_TRUE(w.state("wants").reserved()) << nodes->nodes << ": " << w.places("wants");
  EXPECT_EQ(w.state("first").reserved(), !nodes->played->before.empty() || !nodes->played->after.empty());
}

// Where quota is missing nothing is said of places that would help.
TEST(WhyPlacesAndQuota, MissingQuotaIsToldFirst) {
  Fleet w;
  w.set_up(3'000);
  w.node("n1");
  w.observe(w.gang("wants", 2, 2'000, one_rack));
  (void)w.settle();
  const Why told = why(w, "wants");
  ASSERT_EQ(told.places.size(), 1U);
  EXPECT_TRUE(told.places[0].fits);
  for (const auto& r : told.remedies) EXPECT_NE(r.kind, Remedy::Kind::more_nodes) << remedy_text(r);
}

// What would not fit an empty topology either is told so, and no end of others is promised to help.
TEST(WhyPlacesAndQuota, ATopologyThatIsTooSmall) {
  Fleet w;
  build(w);
  w.observe(w.gang("huge", 5, 4'000, one_rack));
  (void)w.settle();
  const Why told = why(w, "huge");
  ASSERT_EQ(told.places.size(), 1U);
  EXPECT_FALSE(told.places[0].fits_empty);
  EXPECT_EQ(remedy(told, Remedy::Kind::free_places), nullptr);
  const Remedy* nodes = remedy(told, Remedy::Kind::more_nodes);
  ASSERT_NE(nodes, nullptr);
  for (int i = 0; i < nodes->nodes; ++i) w.node("m" + std::to_string(i), {.rack = "r1"});
  (void)w.settle();
  (void)w.pass();
  EXPECT_TRUE(w.state("huge").reserved()) << nodes->nodes << ": " << w.places("huge");
}

/// A Workload of two pod sets, "first" and "second", that both want a rack.
WorkloadObserved two_sets(Fleet& w, const std::string& name, std::int32_t first, std::int32_t second) {
  auto out = w.gang(name, second, 2'000, one_rack);
  auto sets = w.arena().make<PodSetFacts>(2);
  sets[0] = sets[1] = out.pod_sets[0];
  sets[0].name = "first";
  sets[0].count = first;
  sets[1].name = "second";
  out.pod_sets = sets;
  w.remember(out);
  return out;
}

// Each pod set finds places by itself, and both together do not: it is told which one lacks what beside which, and what would help.
TEST(WhyPlacesTogether, PodSetsThatStandInEachOthersWay) {
  Fleet w;
  w.set_up();
  for (const char* n : {"n1", "n2"}) w.node(n, {.rack = "r1"});
  w.observe(two_sets(w, "wants", 3, 2));
  (void)w.settle();
  ASSERT_FALSE(w.state("wants").reserved());
  const Why told = why(w, "wants");
  ASSERT_EQ(told.places.size(), 2U);
  EXPECT_TRUE(told.places[0].fits);
  const PlaceTrial& p = told.places[1];
  EXPECT_FALSE(p.fits);
  EXPECT_EQ(p.beside, std::vector<std::string>{"first"});
  EXPECT_EQ(p.nearest, "rack b1/r1");
  EXPECT_EQ(p.fit, 1);
  EXPECT_EQ(p.exclusions.at(0).examples, std::vector<std::string>{"n1"});
  const std::string text = to_text(told);
  EXPECT_NE(text.find("second, flavor default, topology racks: there is room for it by itself, but not beside first; then nearest is rack "
                      "b1/r1, with room for 1 of 2"),
            std::string::npos)
      << text;
  const Remedy* nodes = remedy(told, Remedy::Kind::more_nodes);
  ASSERT_NE(nodes, nullptr) << text;
  EXPECT_EQ(nodes->nodes, 1);
  w.node("n3", {.rack = "r1"});
  (void)w.settle();
  (void)w.pass();
  EXPECT_TRUE(w.state("wants").reserved()) << w.places("wants");
}

// Looking changes nothing: who fits is told to fit, once more.
TEST(WhyPlacesTogether, PodSetsThatFitTogether) {
  Fleet w;
  w.set_up();
  for (const char* n : {"n1", "n2"}) w.node(n, {.rack = "r1"});
  w.observe(two_sets(w, "has", 2, 1));
  w.observe(w.gang("wants", 9, 1'000, one_rack));
  (void)w.settle();
  ASSERT_TRUE(w.state("has").reserved());
  for (int i = 0; i < 2; ++i) {
    const Why told = why(w, "wants");
    ASSERT_EQ(told.places.size(), 1U);
    EXPECT_EQ(told.places[0].fit, 2);
    EXPECT_TRUE(told.places[0].beside.empty());
  }
}

// TAS-58: what keeps a leader out is told beside what keeps its workers out.
TEST(WhyPlacesTogether, ALeaderThatNoNodeTakes) {
  Fleet w;
  w.set_up();
  for (const char* n : {"n1", "n2"}) w.node(n, {.rack = "r1"});
  auto wants = two_sets(w, "wants", 1, 3);
  auto sets = w.arena().make<PodSetFacts>(2);
  std::copy(wants.pod_sets.begin(), wants.pod_sets.end(), sets.begin());
  auto ssd = w.arena().make<Pair>(1);
  ssd[0] = {"disk", "ssd"};
  sets[0].node_selector = ssd;
  sets[0].shape_hash += 1;
  for (auto& s : sets) s.pod_set_group = "together";
  wants.pod_sets = sets;
  w.remember(wants);
  w.observe(wants);
  (void)w.settle();
  const Why told = why(w, "wants");
  ASSERT_EQ(told.places.size(), 1U);
  const PlaceTrial& p = told.places[0];
  EXPECT_EQ(p.pod_set, "second");
  EXPECT_EQ(p.leader, "first");
  ASSERT_EQ(p.leader_exclusions.size(), 1U);
  EXPECT_EQ(p.leader_exclusions[0].reason, "nodeSelector");
  EXPECT_EQ(p.leader_exclusions[0].nodes, 2);
  EXPECT_NE(p.message.find("excluded: leader's nodeSelector: 2"), std::string::npos) << p.message;
  const std::string text = to_text(told);
  EXPECT_NE(text.find("with room for 3 of 3, but not for the pod of first as well"), std::string::npos) << text;
  EXPECT_NE(text.find("2 nodes have no room for the pod of first: nodeSelector (n1, n2)"), std::string::npos) << text;
}

// TAS-17: nodes of the flavor that give places to nobody are told, with the reason.
TEST_F(WhyPlaces, NodesThatGiveNoPlaces) {
  EXPECT_TRUE(told.places.at(0).left_out.empty());
  w.node("n5", {.rack = "r1", .unschedulable = true});
  w.node("n6", {.rack = "r1", .ready = false});
  w.node("n7", {.rack = "r1", .ready = false, .pool = "other"});
  (void)w.settle();
  const std::string text = to_text(why(w, "wants"));
  EXPECT_NE(text.find("1 node gives no places: cordoned (n5)\n    1 node gives no places: not ready (n6)\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("n7"), std::string::npos) << "of another flavor";
}

}  // namespace
}  // namespace hindsight::projections
