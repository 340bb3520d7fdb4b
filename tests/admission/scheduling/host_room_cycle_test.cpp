// Racks whose hosts count one by one in a cycle (TAS-65, setting hindsight.topologyCapacity), beside what Kueue does with sums.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "tests/admission/scheduling/topology_world.hpp"

namespace hindsight::admission::testing {
namespace {

const std::vector<std::string> by_rack{"block", "rack"};

class HostRoomCycleTest : public ::testing::Test {
 protected:
  /// Racks with these hosts, "block/rack/host:cores".
  void racks(const std::string& text, bool count_hosts) {
    w().settings.count_hosts = count_hosts;
    w().fleet("f", text, by_rack);
  }
  void change(std::string_view name, const std::function<void(NodeConfig&)>& f) {
    auto node = std::make_shared<NodeConfig>(*w().nodes[Symbol(name)]);
    f(*node);
    w().nodes[node->name] = std::move(node);
    w().build_room();
  }
  /// What becomes of it, by itself.
  std::string tried(Work j) {
    const std::string name(j.info->name.text());
    w().pend(j).cycle_with_room();
    return w().placed(name);
  }

  void begin(QueueSpec queue = std::move(QueueSpec("q").cpu("f", 40))) {
    world_ = std::make_unique<TopologyWorld>(std::vector{std::move(queue)});
  }
  TopologyWorld& w() { return *world_; }

 private:
  std::unique_ptr<TopologyWorld> world_;
};

// TAS-65
TEST_F(HostRoomCycleTest, APodThatNoHostHoldsWaits) {
  for (const bool on : {false, true}) {
    begin();
    racks("b/r1/n1:1 b/r1/n2:1", on);
    Work j = gang("j", "q", 1, 2);
    ask(j, required("rack"));
    EXPECT_EQ(tried(j),
              on ? "TopologyPlacementFailed: couldn't assign flavors to pod set main: topology \"T\" doesn't allow to fit any of 1 pod(s). "
                   "Total nodes: 1; excluded: resource \"cpu\": 1"
                 : "b/r1:1");
  }
}

// TAS-65, TAS-56: what keeps pods off hosts counts, though no level names these.
TEST_F(HostRoomCycleTest, PodsStayOffHostsThatExcludeThem) {
  for (const bool on : {false, true}) {
    begin();
    racks("b/r1/n1:4 b/r1/n2:4 b/r2/n3:4", on);
    for (const char* n : {"n1", "n3"}) change(n, [](NodeConfig& c) { c.taints.push_back({"slow", "", TaintEffect::no_schedule}); });
    Work j = gang("j", "q", 5, 1);
    ask(j, required("rack"));
    EXPECT_EQ(tried(j),
              on ? "TopologyPlacementFailed: couldn't assign flavors to pod set main: topology \"T\" allows to fit only 4 out of 5 pod(s). "
                   "Total nodes: 2; excluded: taint \"slow:NoSchedule\": 1"
                 : "b/r1:5");
    Work k = gang("k", "q", 4, 1);
    ask(k, required("rack"));
    EXPECT_EQ(tried(k), on ? "b/r1:4" : "b/r2:4");
  }
}

// TAS-65: what stands in a rack is spread over its hosts, as kube-scheduler does it, and what is left is in pieces.
TEST_F(HostRoomCycleTest, RoomInPiecesIsNoRoomForALargePod) {
  for (const bool on : {false, true}) {
    begin();
    racks("b/r1/n1:4 b/r1/n2:4 b/r2/n3:2 b/r2/n4:2", on);
    Work small = gang("small", "q", 2, 1);
    ask(small, required("rack"));
    ASSERT_EQ(tried(small), "b/r2:2");
    w().keep("small");
    Work more = gang("more", "q", 4, 1);
    ask(more, required("rack"));
    ASSERT_EQ(tried(more), "b/r1:4");
    w().keep("more");
    Work large = gang("large", "q", 1, 3);
    ask(large, required("rack"));
    EXPECT_EQ(tried(large),
              on ? "WaitingForQuota: couldn't assign flavors to pod set main: topology \"T\" doesn't allow to fit any of 1 pod(s). "
                   "Total nodes: 2; excluded: resource \"cpu\": 2"
                 : "b/r1:1");
    Work two = gang("two", "q", 2, 2);
    ask(two, required("rack"));
    EXPECT_EQ(tried(two), "b/r1:2");
  }
}

// TAS-112: the victims are those whose hosts are needed.
TEST_F(HostRoomCycleTest, PreemptionMakesRoomOnAHost) {
  begin(std::move(QueueSpec("q").cpu("f", 40).within(PreemptionPolicy::lower_priority)));
  racks("b/r1/n1:4 b/r1/n2:4", true);
  for (const char* name : {"a", "b"}) {
    Work j = gang(name, "q", 2, 1);
    ask(j, required("rack"));
    ASSERT_EQ(tried(j), "b/r1:2");
    w().keep(name);
  }
  Work high = std::move(gang("high", "q", 1, 3).priority(10));
  ask(high, required("rack"));
  w().pend(high).cycle_with_room();
  EXPECT_EQ(w().victims("high"), "a(InClusterQueue)") << "then one pod stands on each host, and three cores are free on both";
}

// TAS-67: the second pod set sees the first one's pods on their hosts.
TEST_F(HostRoomCycleTest, PodSetsOfOneWorkloadSeeEachOther) {
  begin();
  racks("b/r1/n1:4 b/r1/n2:4", true);
  Work j("j", "q");
  j.pods("first", 2, {{"cpu", cores(2)}});
  ask(j, required("rack"));
  j.pods("second", 1, {{"cpu", cores(3)}});
  ask(j, required("rack"));
  EXPECT_EQ(tried(j),
            "TopologyPlacementFailed: couldn't assign flavors to pod set second: topology \"T\" doesn't allow to fit any of 1 pod(s). "
            "Total nodes: 1; excluded: resource \"cpu\": 1");
  Work turned("turned", "q");  // as docs/topologies.md advises
  turned.pods("first", 1, {{"cpu", cores(3)}});
  ask(turned, required("rack"));
  turned.pods("second", 2, {{"cpu", cores(2)}});
  ask(turned, required("rack"));
  EXPECT_EQ(tried(turned), "b/r1:1; b/r1:2");
  Work k("k", "q");
  k.pods("first", 2, {{"cpu", cores(2)}});
  ask(k, required("rack"));
  k.pods("second", 2, {{"cpu", cores(2)}});
  ask(k, required("rack"));
  EXPECT_EQ(tried(k), "b/r1:2; b/r1:2");
}

// TAS-58, TAS-71
TEST_F(HostRoomCycleTest, WhoLeadsNeedsAHostToo) {
  begin();
  racks("b/r1/n1:2 b/r1/n2:2 b/r2/n3:3 b/r2/n4:1", true);
  Work j("j", "q");
  j.pods("leader", 1, {{"cpu", cores(3)}}).in_group("g");
  ask(j, required("rack"));
  j.pods("workers", 1, {{"cpu", cores(1)}}).in_group("g");
  ask(j, required("rack"));
  EXPECT_EQ(tried(j), "b/r2:1; b/r2:1");
}

}  // namespace
}  // namespace hindsight::admission::testing
