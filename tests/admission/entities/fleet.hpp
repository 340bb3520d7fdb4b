#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {

inline constexpr const char* host = "kubernetes.io/hostname";

struct Ask {
  std::string required, preferred;
  bool unconstrained = false;
  std::string slice_level;
  std::int32_t slice_size = 0;
};

/// One queue "q" over flavor "default", whose nodes have the label pool=t and the levels block, rack and host.
class Fleet : public FactWorld {
 public:
  explicit Fleet(LoopDriver::Order order = {}) : FactWorld(std::move(order)) {}

  void set_up(Amount cpu = 1'000'000, PreemptionPolicy within = PreemptionPolicy::never) {
    namespace_("default");
    tas_flavor();
    queue({.name = "q", .cpu = cpu, .within = within});
    local_queue("lq", "q");
    topology();
    observe(MirrorSynced{});
  }
  void tas_flavor(std::string_view pool = "t", std::string_view tolerates = {}) {
    ResourceFlavorObserved f;
    f.meta.name = "default";
    auto labels = arena().make<Pair>(1);
    labels[0] = {"pool", keep(pool)};
    f.node_labels = labels;
    f.topology_name = "racks";
    if (!tolerates.empty()) {
      auto tolerations = arena().make<Toleration>(1);
      tolerations[0] = {keep(tolerates), "", true, TaintEffect::unspecified, {}};
      f.tolerations = tolerations;
    }
    observe(f);
  }
  void topology(const std::vector<std::string_view>& levels = {"block", "rack", host}) {
    TopologyObserved t;
    t.meta.name = "racks";
    auto list = arena().make<Text>(levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i) list[i] = keep(levels[i]);
    t.levels = list;
    observe(t);
  }
  struct Node {
    std::string block = "b1", rack = "r1";
    std::int64_t cores = 4;
    bool ready = true;
    bool unschedulable = false;
    std::string taint;  ///< With effect NoExecute.
    bool silent = false;
    std::string host;  ///< Its hostname label; empty: its name.
    std::string pool = "t";
    std::string row;  ///< A label "row"; empty: it has none.
    std::uint64_t version = 0;
    std::string uid;
  };
  NodeObserved facts(const std::string& name, const Node& n) {
    NodeObserved o;
    o.meta.name = keep(name);
    o.meta.uid = keep(n.uid);
    o.meta.resource_version = n.version;
    auto labels = arena().make<Pair>(n.row.empty() ? 4 : 5);
    if (!n.row.empty()) labels[4] = {"row", keep(n.row)};
    labels[0] = {"block", keep(n.block)};
    labels[1] = {host, keep(n.host.empty() ? name : n.host)};
    labels[2] = {"pool", keep(n.pool)};
    labels[3] = {"rack", keep(n.rack)};
    o.labels = labels;
    auto allocatable = arena().make<ResourceAmount>(2);
    allocatable[0] = {"cpu", n.cores * 1'000};
    allocatable[1] = {"pods", 110};
    o.allocatable = allocatable;
    o.ready = n.ready;
    o.unschedulable = n.unschedulable;
    o.silent = n.silent;
    if (!n.taint.empty()) {
      auto taints = arena().make<Taint>(1);
      taints[0] = {keep(n.taint), "", TaintEffect::no_execute};
      o.taints = taints;
    }
    return o;
  }
  void node(const std::string& name) { node(name, Node{}); }
  void node(const std::string& name, const Node& n) { observe(facts(name, n)); }
  /// What pods of others use of it.
  void used(const std::string& name, std::int64_t cores, std::int64_t pods = 1) {
    auto usage = arena().make<ResourceAmount>(cores == 0 && pods == 0 ? 0 : 2);
    if (!usage.empty()) {
      usage[0] = {"cpu", cores * 1'000};
      usage[1] = {"pods", pods};
    }
    observe(NodeUsageObserved{keep(name), usage});
  }
  void node_gone(const std::string& name) { node_gone(name, name); }
  void node_gone(const std::string& name, const std::string& uid) {
    observe(ObjectDeleted{ObjectKind::node, {}, keep(name), keep(uid), {}});
  }

  WorkloadObserved gang(const std::string& name, std::int32_t pods, Amount cpu, const Ask& ask, std::int32_t priority = 0) {
    auto w = workload(name, "lq", cpu, priority);
    auto sets = arena().make<PodSetFacts>(1);
    sets[0] = w.pod_sets[0];
    sets[0].count = pods;
    sets[0].required_topology = keep(ask.required);
    sets[0].preferred_topology = keep(ask.preferred);
    sets[0].unconstrained_topology = ask.unconstrained;
    if (ask.slice_size > 0) {
      auto layers = arena().make<TopologyLayerFacts>(1);
      layers[0] = {keep(ask.slice_level), ask.slice_size};
      sets[0].topology_layers = layers;
    }
    sets[0].topology_requested = ask.unconstrained || !ask.required.empty() || !ask.preferred.empty() || ask.slice_size > 0;
    sets[0].template_hash = sets[0].core_hash = sets[0].shape_hash = std::hash<std::string>{}(name);
    w.pod_sets = sets;
    remember(w);
    return w;
  }
  /// "n1:2 n2:1"; the pending reason of who has no places.
  [[nodiscard]] std::string places(const std::string& name) const {
    const WorkloadState& s = state(name);
    if (!s.reserved()) return pending(name);
    std::string out;
    for (const auto& p : s.admission->pod_sets) {
      const TopologyAssignment& where = p.topology;
      for (std::size_t i = 0; i < where.size(); ++i)
        out += (out.empty() ? "" : " ") + std::string(where.domain(i).back().text()) + ":" + std::to_string(where.counts[i]);
    }
    return out;
  }
  void finish(const std::string& name) {
    auto w = seen_as(name);
    auto conditions = arena().make<ConditionFacts>(w.conditions.size() + 1);
    std::copy(w.conditions.begin(), w.conditions.end(), conditions.begin());
    conditions.back() = {ConditionType::finished, ConditionStatus::true_, "Succeeded", "", now};
    w.conditions = conditions;
    observe(w);
  }
  std::vector<std::string> pass() {
    tick(Duration::seconds(1));
    return settle();
  }
};

}  // namespace hindsight::admission::testing
