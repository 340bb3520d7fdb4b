#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <sstream>
#include <string>

#include "tests/admission/entities/fleet.hpp"

namespace hindsight::admission::testing {

/// A Job "train" with Workload "wl" and its pods, on three nodes n1 to n3 of four cores in one rack; a pod takes one core.
class PlacedPods : public ::testing::Test {
 protected:
  Fleet w;

  void SetUp() override {
    w.set_up();
    for (const char* name : {"n1", "n2", "n3"}) w.node(name);
  }
  /// A Job of so many pods; with `group`, the second of two pod sets of which the first has one pod.
  void job(std::int32_t pods, bool suspended) {
    JobObserved j = w.job("train", "lq");
    j.suspended = suspended;
    j.active = !suspended;
    j.pod_sets = sets(pods);
    j.elastic = elastic_;
    j.meta.generation = ++generation_;
    if (elastic_) j.workload_name = w.keep("wl" + (generation_ == 1 ? "" : "-" + std::to_string(generation_)));
    w.observe(j);
  }
  /// The Workload of the job as it is now, which replaces another slice.
  void workload(const std::string& name, std::int32_t pods, const std::string& replaces = {}) {
    auto o = w.workload(name, "lq", 1'000);
    o.owner_uid = "job-train";
    o.owner_kind = "Job";
    o.owner_name = "train";
    o.pod_sets = sets(pods);
    o.elastic = elastic_;
    if (elastic_) o.slice_name = "wl";
    if (!replaces.empty()) o.replacement_for = w.keep("default/" + replaces);
    w.remember(o);
    w.observe(o);
  }
  List<PodSetFacts> sets(std::int32_t pods) {
    auto out = w.arena().make<PodSetFacts>(leader_ ? 2 : 1);
    auto requests = w.arena().make<ResourceAmount>(1);
    requests[0] = {"cpu", 1'000};
    for (auto& p : out) {
      p.requests = requests;
      p.shape_hash = p.template_hash = p.core_hash = 7;
      if (anywhere_)
        p.unconstrained_topology = true;
      else
        p.required_topology = "rack";
      p.topology_requested = true;
      p.topology_ranked = true;
      if (leader_) p.pod_set_group = "together";
    }
    out[0].name = leader_ ? "leader" : "main";
    out.back().name = leader_ ? "workers" : "main";
    out.back().count = pods;
    out.back().topology_groups = groups_;
    return out;
  }
  void start(std::int32_t pods) {
    job(pods, true);
    (void)w.settle();
    workload("wl", pods);
    (void)w.pass();
    ASSERT_TRUE(w.state("wl").admitted()) << w.pending("wl");
    job(pods, false);
    (void)w.settle();
  }
  /// The job runs, and its pods are ready, or not.
  void ready(std::int32_t pods, bool are) {
    JobObserved j = w.job("train", "lq");
    j.suspended = false;
    j.active = true;
    j.pods_ready = are;
    j.pod_sets = sets(pods);
    j.meta.generation = generation_;
    w.observe(j);
  }
  struct Pod {
    std::int32_t index = -1;
    bool gated = true;
    std::string on;  ///< The host that it selects.
    std::string_view pod_set = "main";
    bool ended = false;
    std::int32_t group = -1;
    std::string_view of = "wl";
    bool bad_offset = false;
    std::int32_t offset = 0;
    std::string node;  ///< That it is bound to.
    bool terminating = false;
  };
  PodObserved facts(const std::string& name, const Pod& p) {
    PodObserved o;
    o.meta.namespace_ = "default";
    o.meta.name = w.keep(name);
    o.meta.uid = w.keep("pod-" + name);
    o.meta.resource_version = w.next_version();
    o.owner_uid = "job-train";
    o.pod_set = p.pod_set;
    o.workload_name = w.keep(p.of);
    o.placed = true;
    o.topology_gated = p.gated;
    o.index = p.index;
    o.group = p.group;
    o.ended = p.ended;
    o.index_offset = p.offset;
    o.index_offset_bad = p.bad_offset;
    o.node = w.keep(p.node);
    if (!p.node.empty()) {
      auto requests = w.arena().make<ResourceAmount>(2);
      requests[0] = {"cpu", 1'000};
      requests[1] = {"pods", 1};
      o.requests = requests;
    }
    o.terminating = p.terminating;
    if (!p.on.empty()) {
      auto selector = w.arena().make<Pair>(1);
      selector[0] = {host, w.keep(p.on)};
      o.node_selector = selector;
    }
    return o;
  }
  void pod(const std::string& name, const Pod& p) { w.observe(facts(name, p)); }
  /// Decides until at rest: "p0 n1 p1 n2", in the order of the decisions.
  std::string placed() {
    std::string out;
    for (int i = 0; i < 100; ++i) {
      const auto step = w.driver().decide();
      if (!step) return out;
      for (const Event& e : step->events)
        if (const auto* r = std::get_if<PodsPlaced>(&e)) {
          ++events_;
          for (const auto& p : r->pods) out += (out.empty() ? "" : " ") + std::string(p.name) + " " + std::string(p.values.back());
        }
      w.observe_decision(*step);
    }
    ADD_FAILURE() << "the domain does not come to rest";
    return out;
  }
  /// All pods of the first `n` ranks run where the assignment has them.
  void run(std::int32_t n) {
    for (std::int32_t i = 0; i < n; ++i) pod("p" + std::to_string(i), {.index = i});
    std::istringstream words(placed());
    for (std::string name, on; words >> name >> on;) {
      const auto index = static_cast<std::int32_t>(std::stoi(name.substr(1)));
      pod(name, {.index = index, .gated = false, .on = on, .node = on});
    }
    (void)w.settle();
  }
  /// Decides until at rest: "nodes n1 / reassigned n2:3 / evicted ... / failed p1".
  std::string decided() {
    std::string out;
    const auto say = [&](const std::string& text) { out += (out.empty() ? "" : " / ") + text; };
    for (int i = 0; i < 100; ++i) {
      const auto step = w.driver().decide();
      if (!step) return out;
      for (const Event& e : step->events) {
        if (const auto* n = std::get_if<NodesUnhealthy>(&e)) {
          std::string names = "nodes";
          for (const auto& node : n->nodes) names += " " + std::string(node);
          say(names);
        } else if (const auto* t = std::get_if<TopologyReassigned>(&e)) {
          std::string where = "reassigned";
          for (const auto& a : t->assignments)
            for (const auto& d : a.topology) where += " " + std::string(d.values.back()) + ":" + std::to_string(d.count);
          say(where);
        } else if (const auto* x = std::get_if<WorkloadEvicted>(&e)) {
          say("evicted " + std::string(x->reason) + ": " + std::string(x->message));
        } else if (const auto* f = std::get_if<PodsFailed>(&e)) {
          std::string names = "failed";
          for (const auto& pod : f->pods) names += " " + std::string(pod.name);
          say(names);
        }
      }
      w.observe_decision(*step);
    }
    ADD_FAILURE() << "the domain does not come to rest";
    return out;
  }
  /// What is wanted of pods now: "p0 n1".
  std::string wanted() {
    std::string out;
    for (const auto& intent : w.wanted<PodReleaseIntent>()) {
      EXPECT_TRUE(intent.topology_gate);
      EXPECT_FALSE(intent.elastic_gate);
      out += (out.empty() ? "" : " ") + intent.name;
      for (const auto& [key, value] : intent.node_labels)
        if (key == host) out += " " + value;
    }
    return out;
  }

  bool leader_ = false, elastic_ = false, anywhere_ = false;
  std::int64_t generation_ = 0;
  std::optional<std::int32_t> groups_;
  int events_ = 0;
};

}  // namespace hindsight::admission::testing
