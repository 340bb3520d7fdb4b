#pragma once

#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "admission/topology/topology_room.hpp"
#include "tests/admission/scheduling/world.hpp"

namespace hindsight::admission::testing {

/// A World with nodes: a pod takes cores, a node written as "block/rack/host:4" has 4 of them and room for 110 pods.
class TopologyWorld : public World {
 public:
  using World::World;

  Nodes nodes;
  std::map<Symbol, std::vector<std::string>, ByText> topologies;
  std::unique_ptr<topology::TopologyRoom> room;

  /// The flavor selects these nodes by label pool=<flavor> and has a topology "T".
  void fleet(std::string_view flavor_name, const std::string& text,
             std::vector<std::string> levels = {"block", "rack", "kubernetes.io/hostname"}) {
    FlavorConfig& f = flavor(flavor_name);
    f.topology = Symbol(std::string("T") + (topologies.empty() ? "" : std::to_string(topologies.size())));
    f.node_labels = {{Symbol("pool"), std::string(flavor_name)}};
    topologies[f.topology] = levels;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      const auto colon = word.rfind(':');
      auto node = std::make_shared<NodeConfig>();
      std::istringstream path(word.substr(0, colon));
      std::string value;
      for (const auto& level : levels) {
        std::getline(path, value, '/');
        node->labels.set(Symbol(level), value);
      }
      if (std::string host; std::getline(path, host, '/')) value = host;  // below the lowest level
      node->name = Symbol(value);
      node->labels.set(Symbol("pool"), flavor_name);
      node->allocatable = AmountList{{Symbol("cpu"), cores(std::stoll(word.substr(colon + 1)))}, {Symbol("pods"), 110}};
      node->ready = true;
      nodes[node->name] = std::move(node);
    }
    build_room();
  }
  /// Anew from the nodes; who holds places holds them.
  void build_room() {
    std::vector<const FlavorConfig*> configs;
    for (const auto& [name, f] : flavors) configs.push_back(f.get());
    room = std::make_unique<topology::TopologyRoom>(configs, topologies, nodes,
                                                    topology::TopologyRoom::Rules{settings.preferred_affinity, settings.count_hosts});
    for (const auto& r : held_) room->reserve(r);
  }
  /// Pods of `w` that run, so many on each host: "x1:1 x2:2"; what they ask for is their quota, too.
  void stand(const Work& w, const std::string& hosts, std::string_view flavor = "f") {
    run(w, flavor);
    Reservation r;
    r.workload = w.info;
    PodSetReservation p{w.info->pod_sets[0].name, 0, {{Symbol("cpu"), Symbol(flavor)}}, {}};
    TopologyAssignment where;
    where.levels.emplace_back("kubernetes.io/hostname");
    std::istringstream words(hosts);
    for (std::string word; words >> word;) {
      const auto colon = word.rfind(':');
      where.values.emplace_back(word.substr(0, colon));
      where.counts.push_back(std::stoi(word.substr(colon + 1)));
    }
    p.topology = std::move(where);
    r.pod_sets.push_back(std::move(p));
    room->reserve(r);
    held_.push_back(std::move(r));
  }

  TopologyWorld& pend(const Work& w, ScanState scan = {}) {
    World::pend(w, std::move(scan));
    return *this;
  }
  /// Runs a cycle and checks that it left the room as it was.
  void cycle_with_room() {
    const auto before = free_cores();
    outcomes = decide_cycle(tree, heads, topology_context());
    EXPECT_EQ(free_cores(), before) << "what was tried is taken back";
    heads.clear();
    ++cycle_number;
  }
  [[nodiscard]] CycleContext topology_context() const {
    auto c = context();
    c.room = room.get();
    return c;
  }
  [[nodiscard]] std::vector<Amount> free_cores() const {
    std::vector<Amount> out;
    for (const auto* state : {&room->free(), &room->unused()})
      for (const auto& leaves : *state)
        for (std::uint32_t leaf = 0; leaf < leaves.capacity().leaves(); ++leaf)
          for (const char* resource : {"cpu", "pods"}) out.push_back(leaves.capacity().at(Symbol(resource), leaf));
    return out;
  }
  /// "n1:4 n2:2" of each pod set that has places, "; " between them; else the reason and, after ": ", the message.
  [[nodiscard]] std::string placed(std::string_view name) const {
    const Outcome& o = of(name);
    if (o.kind != Outcome::Kind::admit) return std::string(o.reason.text()) + ": " + o.message;
    std::string out;
    for (const auto& p : o.assignment) {
      if (p.topology.empty()) continue;
      std::string one;
      const TopologyAssignment& where = p.topology;
      for (std::size_t i = 0; i < where.size(); ++i) {
        std::string path;
        for (const Symbol& v : where.domain(i)) path += (path.empty() ? "" : "/") + std::string(v.text());
        one += (one.empty() ? "" : " ") + path + ":" + std::to_string(where.counts[i]);
      }
      out += (out.empty() ? "" : "; ") + one;
    }
    return out;
  }
  /// Puts what was admitted into tree and room.
  void keep(std::string_view name) {
    apply(name);
    Reservation r;
    r.workload = of(name).workload;
    r.pod_sets = of(name).assignment;
    room->reserve(r);
    held_.push_back(std::move(r));
  }

 private:
  std::vector<Reservation> held_;
};

/// `count` pods of n cores each.
inline Work gang(std::string_view name, std::string_view queue, std::int32_t count, std::int64_t each = 1) {
  return std::move(Work(name, queue).pods("main", count, {{"cpu", cores(each)}}));
}
inline Work& ask(Work& w, TopologyRequest request) {
  w.info->pod_sets.change([&](auto& pod_sets) { pod_sets.back().topology = std::move(request); });
  return w;
}
inline TopologyRequest required(std::string_view level) { return {std::string(level), {}, false, {}}; }
inline TopologyRequest preferred(std::string_view level) { return {{}, std::string(level), false, {}}; }
inline TopologyRequest anywhere() { return {{}, {}, true, {}}; }

}  // namespace hindsight::admission::testing
