// What pods of others use of nodes, as it is told (2724 §4.3).

#include "connectors/bridge/node_usage.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/connectors/bridge/bridge_fixture.hpp"

namespace hindsight::connectors::test {
namespace {

using Lines = std::vector<std::string>;

class NodeUsageTest : public ::testing::Test, private Cluster {
 protected:
  explicit NodeUsageTest(bool gathers = false) : gathers_(gathers) {}

  void tell(WatchEvent::Type kind, const ResourceType& type, const std::string& object) { bridge_.on_watch({kind, &type, object}); }
  void node(const std::string& name, const std::string& version = "1") {
    tell(WatchEvent::Type::modified, types::node,
         R"({"metadata":{"name":")" + name + R"(","uid":"uid-)" + name + R"(","resourceVersion":")" + version +
             R"("},"status":{"allocatable":{"cpu":"8","memory":"1Gi","pods":"110"},"conditions":[{"type":"Ready","status":"True",)" +
             R"("lastHeartbeatTime":")" + version + R"("}]}})");
  }
  struct Pod {
    std::string on = "n1", cpu = "1", phase = "Running", annotations, uid, more, meta;
  };
  static std::string text(const std::string& name, const Pod& p) {
    return R"({"metadata":{"namespace":"ns","name":")" + name + R"(","uid":")" + (p.uid.empty() ? "uid-" + name : p.uid) +
           R"(","resourceVersion":"1","annotations":{)" + p.annotations + "}" + p.meta + R"(},"spec":{"nodeName":")" + p.on +
           R"(","containers":[{"name":"c","resources":{"requests":{"cpu":")" + p.cpu + R"("}}}])" + p.more + R"(},"status":{"phase":")" +
           p.phase + R"("}})";
  }
  void pod(const std::string& name, const Pod& p) { tell(WatchEvent::Type::modified, types::pod, text(name, p)); }
  void gone(const std::string& name) { tell(WatchEvent::Type::deleted, types::pod, text(name, {})); }
  /// What was told since the last call: "n1 cpu=1000 pods=1".
  Lines told() { return std::exchange(told_, {}); }

  bool gathers_ = false;
  Lines told_, gone_;
  int nodes_seen_ = 0, pods_seen_ = 0, set_aside_ = 0;
  MemoryMirror mirror_;
  Bridge bridge_{*this, mirror_, [this](const Observation& o) { note(o); }, options()};

 private:
  void submit(Write, std::function<void(WriteAnswer)>) override {}
  BridgeOptions options() const {
    BridgeOptions out;
    out.gathers_usage = gathers_;
    out.synced_kinds = {&types::node, &types::pod};
    return out;
  }
  void note(const Observation& o) {
    nodes_seen_ += std::holds_alternative<NodeObserved>(o);
    pods_seen_ += std::holds_alternative<PodObserved>(o);
    set_aside_ += std::holds_alternative<ObjectQuarantined>(o);
    if (std::holds_alternative<MirrorSynced>(o)) told_.emplace_back("synced");
    if (const auto* d = std::get_if<ObjectDeleted>(&o)) gone_.emplace_back(d->uid);
    const auto* u = std::get_if<NodeUsageObserved>(&o);
    if (u == nullptr) return;
    std::string line(u->node);
    for (const auto& r : u->usage) line += " " + std::string(r.resource) + "=" + std::to_string(r.amount);
    told_.push_back(std::move(line));
  }
};

// TAS-25: who is bound and has not ended counts, with one slot; TAS-29: not who has a place in a topology.
TEST_F(NodeUsageTest, BoundPodsCount) {
  node("n1");
  pod("a", {});
  EXPECT_EQ(told(), (Lines{"n1 cpu=1000 pods=1"}));
  pod("waits", {.on = ""});
  pod("done", {.phase = "Succeeded"});
  pod("failed", {.phase = "Failed"});
  const std::string asks = R"("kueue.x-k8s.io/podset-required-topology":"rack")";
  const std::string meta =
      R"(,"labels":{"kueue.x-k8s.io/podset":"main"},"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","uid":"j","controller":true}])";
  pod("ours", {.annotations = asks, .meta = meta});
  EXPECT_EQ(told(), Lines{});
  EXPECT_EQ(pods_seen_, 1) << "its job knows it";
  pod("claims", {.annotations = asks});
  EXPECT_EQ(told(), (Lines{"n1 cpu=2000 pods=2"})) << "nobody knows it";
  gone("claims");
  EXPECT_EQ(told(), (Lines{"n1 cpu=1000 pods=1"}));
  pod("b", {.cpu = "500m", .more = R"(,"overhead":{"cpu":"250m"})"});
  EXPECT_EQ(told(), (Lines{"n1 cpu=1750 pods=2"}));
  EXPECT_EQ(pods_seen_, 1) << "of other pods there is no record of their own";
}

// TAS-26: who terminates counts until the end, and only once it is over, however that is learned. TAS-27: resized, moved.
TEST_F(NodeUsageTest, UsageFollowsThePods) {
  node("n1");
  node("n2");
  pod("a", {});
  (void)told();
  pod("a", {});
  EXPECT_EQ(told(), Lines{}) << "a repetition";
  pod("a", {.cpu = "3"});
  EXPECT_EQ(told(), (Lines{"n1 cpu=3000 pods=1"}));
  pod("a", {.on = "n2", .cpu = "3"});
  EXPECT_EQ(told(), (Lines{"n1", "n2 cpu=3000 pods=1"}));
  pod("a", {.on = "n2", .cpu = "3", .phase = "Failed"});
  EXPECT_EQ(told(), (Lines{"n2"}));
  gone("a");
  EXPECT_EQ(told(), Lines{});
  pod("b", {});
  gone("b");
  EXPECT_EQ(told(), (Lines{"n1 cpu=1000 pods=1", "n1"})) << "its end was not seen before";
}

// TAS-19: a node that only says that it lives is no record; what pods ask for that it does not have is none of its usage.
TEST_F(NodeUsageTest, HeartbeatsAndForeignResourcesAreNoRecords) {
  pod("early", {});
  EXPECT_EQ(told(), Lines{}) << "nobody knows the node yet";
  node("n1");
  EXPECT_EQ(told(), (Lines{"n1 cpu=1000 pods=1"}));
  for (const char* version : {"2", "3", "4"}) node("n1", version);
  EXPECT_EQ(nodes_seen_, 1);
  std::string many = R"(,"initContainers":[{"name":"i","resources":{"requests":{)";
  for (int i = 0; i < 20; ++i) many += (i == 0 ? "" : ",") + std::string(R"("a.example/)") + std::to_string(i) + R"(":"1")";
  pod("greedy", {.more = many + "}}}]"});
  EXPECT_EQ(told(), (Lines{"n1 cpu=2000 pods=2"}));
}

// Whoever asks for all there can be leaves nothing behind; one that cannot be read is set aside and counts as it did.
TEST_F(NodeUsageTest, HostilePodsAreBounded) {
  node("n1");
  pod("a", {});
  for (int i = 0; i < 3; ++i) pod("huge" + std::to_string(i), {.cpu = "9223372036854775"});
  EXPECT_EQ(told().back(), "n1 cpu=" + std::to_string(unlimited) + " pods=4");
  for (int i = 0; i < 3; ++i) gone("huge" + std::to_string(i));
  EXPECT_EQ(told().back(), "n1 cpu=1000 pods=1");
  pod("bad", {.cpu = "many"});
  EXPECT_EQ(set_aside_, 1);
  pod("a", {.cpu = "2"});
  EXPECT_EQ(told(), (Lines{"n1 cpu=2000 pods=1"}));
  pod("bad", {.cpu = "1"});
  EXPECT_EQ(told(), (Lines{"n1 cpu=3000 pods=2"}));
  EXPECT_EQ(pods_seen_, 1) << "it is set aside no more";
  pod("bad", {.cpu = "1"});
  EXPECT_EQ(pods_seen_, 1);
}

// The mirror knows no name of a pod whose text it does not keep (TAS-26).
TEST_F(NodeUsageTest, ThePodThatVanishedIsNamedByItsUidAlone) {
  const auto vanished = [&](const std::string& name) {
    tell(WatchEvent::Type::deleted, types::pod, R"({"apiVersion":"v1","kind":"Pod","metadata":{"uid":"uid-)" + name + R"("}})");
  };
  node("n1");
  pod("a", {});
  pod("b", {});
  vanished("a");
  vanished("a");
  EXPECT_EQ(told().back(), "n1 cpu=1000 pods=1");
  pod("bad", {.cpu = "many"});
  ASSERT_EQ(set_aside_, 1);
  EXPECT_EQ(gone_, Lines{});
  vanished("bad");
  EXPECT_EQ(gone_, Lines{"uid-bad"}) << "the log knows of it";
  vanished("b");
  EXPECT_EQ(told(), Lines{"n1"});
  EXPECT_EQ(gone_, Lines{"uid-bad"});
}

// Of a cluster whose nodes come and go under ever new names nothing may stay, here or in the log's state.
TEST_F(NodeUsageTest, OfANodeThatHasGoneNothingStays) {
  const auto entries = bridge_.entries();
  for (int i = 0; i < 20; ++i) {
    const std::string n = "n" + std::to_string(i), p = "p" + std::to_string(i);
    node(n);
    pod(p, {.on = n});
    EXPECT_EQ(told(), Lines{n + " cpu=1000 pods=1"});
    if (i % 2 == 0) gone(p);
    tell(WatchEvent::Type::deleted, types::node, R"({"metadata":{"name":")" + n + R"(","uid":"uid-)" + n + R"("}})");
    EXPECT_EQ(told(), Lines{n});
    if (i % 2 != 0) gone(p);
    EXPECT_EQ(told(), Lines{});
  }
  EXPECT_EQ(bridge_.entries(), entries);
  node("back");
  pod("p", {.on = "back"});
  tell(WatchEvent::Type::deleted, types::node, R"({"metadata":{"name":"back","uid":"uid-back"}})");
  (void)told();
  node("back", "2");
  EXPECT_EQ(told(), (Lines{"back cpu=1000 pods=1"})) << "the pod is there";
}

class GatheredUsageTest : public NodeUsageTest {
 protected:
  GatheredUsageTest() : NodeUsageTest(true) {}
};

// TAS-26, TAS-36: first everything is listed, then each node is told once, also of those that nothing uses, before decisions begin; after
// that what changes is gathered.
TEST_F(GatheredUsageTest, ChangesAreGathered) {
  for (int i = 0; i < 100; ++i) pod("p" + std::to_string(i), {.on = i % 2 == 0 ? "n1" : "n2"});
  for (const char* n : {"n1", "n2", "n3"}) node(n);
  EXPECT_FALSE(bridge_.usage_waits());
  tell(WatchEvent::Type::synced, types::node, "");
  tell(WatchEvent::Type::synced, types::pod, "");
  EXPECT_EQ(told(), (Lines{"n1 cpu=50000 pods=50", "n2 cpu=50000 pods=50", "n3", "synced"}));
  for (int i = 0; i < 100; ++i) pod("p" + std::to_string(i), {.on = i % 2 == 0 ? "n1" : "n2", .cpu = "2"});
  EXPECT_EQ(told(), Lines{});
  EXPECT_TRUE(bridge_.usage_waits());
  bridge_.tell_usage();
  EXPECT_EQ(told(), (Lines{"n1 cpu=100000 pods=50", "n2 cpu=100000 pods=50"}));
  EXPECT_FALSE(bridge_.usage_waits());
  node("n4");
  bridge_.tell_usage();
  EXPECT_EQ(told(), (Lines{"n4"}));
  const auto entries = bridge_.entries();
  for (int i = 0; i < 1'000; ++i) {
    pod("x" + std::to_string(i), {.on = "n4"});
    gone("x" + std::to_string(i));
  }
  bridge_.tell_usage();
  EXPECT_EQ(told(), Lines{}) << "it is as it was told";
  EXPECT_EQ(bridge_.entries(), entries);
}

// What could not be told is told the next time, and nothing twice.
TEST(NodeUsage, WhatCannotBeToldWaits) {
  NodeUsage usage;
  const std::vector<ResourceAmount> has{{"pods", 1}};
  for (const char* n : {"n1", "n2", "n3"}) {
    usage.see_node(n, has);
    usage.see({std::string("uid-") + n, n, {{{Symbol("pods"), 1}}}});
  }
  Lines told;
  bool fails = true;
  const auto tell = [&](const NodeUsageObserved& o) {
    if (o.node == "n2" && std::exchange(fails, false)) throw std::runtime_error("no");
    told.emplace_back(o.node);
  };
  EXPECT_THROW(usage.tell(tell), std::runtime_error);
  EXPECT_TRUE(usage.waits());
  usage.tell(tell);
  EXPECT_EQ(told, (Lines{"n1", "n2", "n3"}));
  EXPECT_FALSE(usage.waits());
}

// What was told last of each node is the sum of the pods that are there, after any history.
TEST(NodeUsage, TotalsAreTheSumOfThePods) {
  std::mt19937 rng(7);
  NodeUsage usage;
  static const Symbol cpu("cpu"), pods("pods");
  const std::vector<std::string> nodes{"n0", "n1", "n2"};
  const std::vector<ResourceAmount> has{{"cpu", 1}, {"pods", 1}};
  for (const auto& n : nodes) usage.see_node(n, has);
  std::map<std::string, std::pair<std::string, Amount>> world;  // uid → node, cores
  std::map<std::string, std::map<std::string, Amount>> told;
  for (int i = 0; i < 5'000; ++i) {
    const std::string uid = std::to_string(rng() % 40);
    if (rng() % 4 == 0) {
      usage.forget(uid);
      world.erase(uid);
    } else {
      PodUse p{uid, rng() % 5 == 0 ? "" : nodes[rng() % nodes.size()], {{{cpu, static_cast<Amount>(rng() % 9 + 1)}, {pods, 1}}}};
      usage.see(p);
      world.erase(uid);
      if (!p.node.empty()) world[uid] = {p.node, p.request.amounts[0].second};
    }
    if (rng() % 10 != 0) continue;
    usage.tell([&](const NodeUsageObserved& o) {
      auto& mine = told[std::string(o.node)];
      mine.clear();
      for (const auto& r : o.usage) mine[std::string(r.resource)] = r.amount;
    });
    std::map<std::string, std::map<std::string, Amount>> sums;
    for (const auto& [u, where] : world) {
      sums[where.first]["cpu"] += where.second;
      ++sums[where.first]["pods"];
    }
    for (const auto& n : nodes) ASSERT_EQ(told[n], sums[n]) << n << " after " << i;
  }
}

}  // namespace
}  // namespace hindsight::connectors::test
