// What a room comes to that follows nodes one by one is what one comes to that is made anew.

#include "admission/topology/topology_room.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/admission/topology/fleet.hpp"

namespace hindsight::admission::topology::testing {
namespace {

const std::vector<std::string> by_host{"block", "rack", host}, by_rack{"block", "rack"};

/// Hosts of two flavors that overlap, and racks of a third one; who holds places; one room that follows, and one that never does.
class Followed {
 public:
  explicit Followed(unsigned seed, bool count_hosts = false) : random_(seed), rules_{true, count_hosts} {
    for (int f = 0; f < 3; ++f) {
      auto& flavor = flavors_[static_cast<std::size_t>(f)];
      flavor.name = Symbol("f" + std::to_string(f));
      flavor.topology = Symbol(f == 2 ? "racks" : "hosts");
      flavor.node_labels = {{Symbol(f == 1 ? "fast" : "pool"), "yes"}};
      if (f == 1) flavor.tolerations = {{"slow", "", true, TaintEffect::unspecified, {}}};
      configs_.push_back(&flavor);
    }
    topologies_[Symbol("hosts")] = by_host;
    topologies_[Symbol("racks")] = by_rack;
    for (int n = 0; n < 10; ++n) change(n);
    room_ = anew();
  }

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  /// Something happens. Returns whether the room had to be made anew for it.
  bool step() {
    if (below(4) == 0) {
      reserve_or_release();
      return false;
    }
    const int n = below(12);
    change(n);
    const auto node = nodes_.find(name(n));
    if (room_->follow(name(n), node == nodes_.end() ? nullptr : node->second)) return false;
    room_ = anew();
    return true;
  }

  /// Where some gangs would stand, and why others would not, in words.
  std::string outcomes(TopologyRoom& room) {
    std::string out;
    PodShape shapes[4];
    shapes[1].node_selector = {{Symbol("disk"), "ssd"}};
    shapes[2].tolerations = {{"slow", "", true, TaintEffect::unspecified, {}}};
    shapes[3].preferred = {{5, {{{Symbol("disk"), SelectorOperator::in, {"ssd"}}}, {}}}};
    for (std::uint32_t f = 0; f < 3; ++f) {
      const auto& flavor = room.flavor(f);
      for (const auto& shape : shapes)
        for (const auto& request : {required("rack"), preferred("rack"), unconstrained()})
          for (const int count : {1, 5, 30})
            for (auto* state : {&room.free(), &room.unused()}) {
              const auto rules = rules_for(request, flavor.tree.levels(), false, {});
              const auto filter = room.filter(f, Interned<PodShape>(shape));
              const auto placed = room.place(*state, f, *rules, Fleet::gang(count), filter, filter);
              const auto plainly = place(flavor.tree, (*state)[f].capacity(), *rules, Fleet::gang(count),
                                         {filter->excluded, filter->excluded, filter->scores, flavor.absent, (*state)[f].hosts(),
                                          filter->excluded_hosts, filter->excluded_hosts});
              EXPECT_EQ(placed ? placed->pods : decltype(placed->pods){}, plainly ? plainly->pods : decltype(plainly->pods){});
              if (!placed) {
                out += text_of(placed.error(), "T", flavor.tree, *rules, filter->reasons) + "\n";
                continue;
              }
              for (const auto& [leaf, pods] : placed->pods) {
                for (const auto& value : flavor.tree.path(flavor.tree.lowest(), leaf)) out += value + "/";
                out += std::to_string(pods) + " ";
              }
              out += "\n";
            }
    }
    return out;
  }
  TopologyRoom& room() { return *room_; }
  std::unique_ptr<TopologyRoom> anew() {
    auto out = std::make_unique<TopologyRoom>(configs_, topologies_, nodes_, rules_);
    for (const auto& [id, r] : held_) out->reserve(r);
    return out;
  }

 private:
  static Symbol name(int n) { return Symbol("n" + std::to_string(n)); }

  void change(int n) {
    const auto known = nodes_.find(name(n));
    if (known != nodes_.end() && below(8) == 0) {
      nodes_.erase(known);
      return;
    }
    auto node = known == nodes_.end() ? std::make_shared<NodeConfig>() : std::make_shared<NodeConfig>(*known->second);
    if (known == nodes_.end() || below(15) == 0) {  // a new one, or one that moves to another rack, or takes another host's name
      node->name = name(n);
      node->labels = {};
      const bool another = below(20) == 0;
      label(*node, host, another ? "h0" : "h" + std::to_string(n));
      label(*node, "block", "b" + std::to_string(n / 6));
      label(*node, "rack", "r" + std::to_string(below(12) == 0 ? below(3) : n % 3));
      label(*node, "pool", "yes");
      if (below(2) == 0) label(*node, "fast", "yes");
      AmountList allocatable{{cpu, 1'000 * below(9)}, {pods, 5 + below(20)}};
      if (below(30) == 0) allocatable.emplace_back(Symbol("x.example.com/gpu"), 8);
      node->allocatable = std::move(allocatable);
      node->ready = below(4) != 0;
    } else {
      switch (below(6)) {
        case 0:
          node->ready = !node->ready;
          break;
        case 1:
          node->unschedulable = !node->unschedulable;
          break;
        case 2:
          node->taints.clear();
          if (below(2) == 0) node->taints.push_back({"slow", "", TaintEffect::no_schedule});
          break;
        case 3:
          for (const char* key : {"disk", "fast"}) node->labels.erase(Symbol(key));
          if (below(2) == 0) label(*node, "disk", "ssd");
          if (below(2) == 0) label(*node, "fast", "yes");
          break;
        case 4:
          node->used = AmountList{{cpu, 500 * below(9)}, {pods, below(6)}};
          break;
        default:
          node->allocatable.change([&](AmountList& list) {
            for (auto& [resource, amount] : list) amount = resource == cpu ? 1'000 * below(9) : amount;
          });
      }
    }
    nodes_[name(n)] = std::move(node);
  }
  static void label(NodeConfig& node, std::string_view key, const std::string& value) { node.labels.set(Symbol(key), value); }

  void reserve_or_release() {
    const WorkloadId id = static_cast<WorkloadId>(1 + below(5));
    if (const auto known = held_.find(id); known != held_.end()) {
      room_->release(id);
      held_.erase(known);
      return;
    }
    auto info = std::make_shared<WorkloadInfo>();
    info->id = id;
    PodSetInfo p;
    p.name = Symbol("main");
    p.count = 3;
    p.requests = {{cpu, 1'000}};
    info->pod_sets = std::vector<PodSetInfo>{p};
    const int f = below(3);
    Reservation r;
    r.workload = info;
    PodSetReservation where{p.name, 3, {{cpu, Symbol("f" + std::to_string(f))}}, {}};
    TopologyAssignment at;
    if (f == 2) {
      at.levels = {Symbol("block"), Symbol("rack")};
      at.values = {Symbol("b0"), Symbol("r" + std::to_string(below(3)))};
      at.counts = {3};
    } else {
      at.levels = {Symbol(host)};
      at.values = {Symbol("h" + std::to_string(below(6))), Symbol("h" + std::to_string(6 + below(6)))};
      at.counts = {2, 1};
    }
    where.topology = std::move(at);
    r.pod_sets.push_back(std::move(where));
    room_->reserve(r);
    held_.emplace(id, std::move(r));
  }

  std::mt19937 random_;
  TopologyRoom::Rules rules_;
  FlavorConfig flavors_[3];
  std::vector<const FlavorConfig*> configs_;
  std::map<Symbol, std::vector<std::string>, ByText> topologies_;
  Nodes nodes_;
  std::map<WorkloadId, Reservation> held_;
  std::unique_ptr<TopologyRoom> room_;
};

// TAS-17, TAS-18, TAS-21, TAS-25, TAS-34, TAS-126: the same with all that is kept as without it
TEST(TopologyRoom, FollowingNodesComesToWhatIsMadeAnew) {
  int followed = 0, made_anew = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Followed f(seed);
    for (int i = 0; i < 40; ++i) {
      (f.step() ? made_anew : followed) += 1;
      ASSERT_EQ(f.outcomes(f.room()), f.outcomes(*f.anew())) << "seed " << seed << ", step " << i;
    }
  }
  EXPECT_GT(followed, 1'000);
  EXPECT_GT(made_anew, 50);
}

// TAS-65: likewise where the hosts of racks count one by one; and they change what comes of it.
TEST(TopologyRoom, FollowingHostsOfRacksComesToWhatIsMadeAnew) {
  int followed = 0, differ = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Followed f(seed, true), sums(seed);
    for (int i = 0; i < 40; ++i) {
      followed += f.step() ? 0 : 1;
      (void)sums.step();
      const std::string now = f.outcomes(f.room());
      ASSERT_EQ(now, f.outcomes(*f.anew())) << "seed " << seed << ", step " << i;
      differ += now != sums.outcomes(sums.room());
    }
  }
  EXPECT_GT(followed, 700);
  EXPECT_GT(differ, 500);
}

}  // namespace
}  // namespace hindsight::admission::topology::testing
