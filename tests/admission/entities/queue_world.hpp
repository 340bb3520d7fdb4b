#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {

using Lines = std::vector<std::string>;

/// A domain with queues, whose decisions a test looks at one by one, and whose Workloads it changes as others do.
class QueueWorld : public ::testing::Test {
 protected:
  /// Each queue with the LocalQueue "l-NAME" that leads to it.
  void set_up(const std::vector<FactWorld::Queue>& queues) {
    w.namespace_("default");
    w.flavor("default");
    for (const auto& q : queues) {
      w.queue(q);
      w.local_queue("l-" + std::string(q.name), q.name);
    }
    begin();
  }
  void begin() {
    w.observe(MirrorSynced{});
    (void)pass(Duration::seconds(2));
  }
  Lines pass(Duration d) {
    w.tick(d);
    return w.settle();
  }
  Lines pass(std::int64_t seconds) { return pass(Duration::seconds(seconds)); }
  /// Decides and applies until at rest; `see` gets each step before it is applied.
  void settle(const std::function<void(const Domain::Step&)>& see) {
    for (int i = 0; i < 1000; ++i) {
      const auto step = w.driver().decide();
      if (!step) return;
      see(*step);
      w.observe_decision(*step);
    }
    FAIL() << "the domain does not come to rest";
  }
  /// Up to and with the first cycle; what of it did not get quota.
  std::vector<std::string> one_cycle() {
    std::vector<std::string> out;
    while (auto step = w.driver().decide()) {
      for (const Event& e : step->events)
        if (const auto* r = std::get_if<EntryRequeued>(&e)) out.emplace_back(r->workload.name);
      w.observe_decision(*step);
      if (step->kind == StepKind::cycle) break;
    }
    return out;
  }

  // ---- what others change ---------------------------------------------------------------------------------------------------------

  /// Observes a change of the Workload as it stands.
  template <class F>
  void change(std::string_view name, F&& f) {
    auto o = w.seen_as(name);
    f(o);
    w.observe(o);
  }
  /// Sets a condition of a Workload that is about to be shown.
  void put(WorkloadObserved& o, const ConditionFacts& condition) {
    std::vector<ConditionFacts> all(o.conditions.begin(), o.conditions.end());
    std::erase_if(all, [&](const ConditionFacts& c) { return c.type == condition.type; });
    all.push_back(condition);
    o.conditions = w.arena().copy(all);
  }
  void finish(std::string_view name) {
    change(name, [&](WorkloadObserved& o) { put(o, {ConditionType::finished, ConditionStatus::true_, "Succeeded", "done", w.now}); });
  }
  void remove(std::string_view name) {
    w.observe(ObjectDeleted{ObjectKind::workload, "default", w.keep(name), w.keep("uid-" + std::string(name))});
  }
  void set_active(std::string_view name, bool active) {
    change(name, [&](WorkloadObserved& o) {
      o.active = active;
      ++o.meta.generation;
    });
  }
  /// What was decided has been written.
  void written(std::string_view name) { w.observe(w.seen_as(name)); }
  /// Somebody takes the reservation away, which had been written.
  void clear(std::string_view name) {
    written(name);
    change(name, [&](WorkloadObserved& o) {
      put(o, {ConditionType::quota_reserved, ConditionStatus::false_, "PendingEvaluation", "cleared", w.now});
      put(o, {ConditionType::admitted, ConditionStatus::false_, "NoReservation", "The workload has no reservation", w.now});
      o.has_admission = false;
      o.admission_cluster_queue = {};
      o.assignments = {};
    });
  }
  void stop_local_queue(std::string_view name, std::string_view cluster_queue, StopPolicy policy) {
    LocalQueueObserved o;
    o.meta.namespace_ = "default";
    o.meta.name = w.keep(name);
    o.cluster_queue = w.keep(cluster_queue);
    o.stop_policy = policy;
    o.stop_policy_set = true;
    w.observe(o);
  }

  // ---- larger objects ---------------------------------------------------------------------------------------------------------------

  using FlavorCpu = std::pair<std::string_view, Amount>;
  /// A ClusterQueue with cpu of these flavors, in this order.
  ClusterQueueObserved flavored(std::string_view name, const std::vector<FlavorCpu>& quota, std::string_view cohort = {}) {
    Arena& a = w.arena();
    ClusterQueueObserved o;
    o.meta.name = w.keep(name);
    o.meta.in_use_finalizer = true;
    o.cohort = w.keep(cohort);
    auto flavors = a.make<FlavorQuotasFacts>(quota.size());
    for (std::size_t i = 0; i < quota.size(); ++i) {
      auto cell = a.make<QuotaFacts>(1);
      cell[0] = {"cpu", quota[i].second, {}, {}};
      flavors[i] = {w.keep(quota[i].first), cell};
    }
    auto covered = a.make<Text>(1);
    covered[0] = "cpu";
    auto groups = a.make<ResourceGroupFacts>(1);
    groups[0] = {covered, flavors};
    o.resource_groups = groups;
    o.has_namespace_selector = true;
    return o;
  }
  struct Pods {
    std::string_view name;
    std::int32_t count = 1;
    Amount cpu = 0;  ///< Of each.
  };
  /// A Workload of these pod sets; not observed yet.
  WorkloadObserved workload_of(std::string_view name, std::string_view local_queue, const std::vector<Pods>& sets) {
    auto o = w.workload(name, local_queue, 1'000);
    auto pods = w.arena().make<PodSetFacts>(sets.size());
    for (std::size_t i = 0; i < sets.size(); ++i) {
      auto requests = w.arena().make<ResourceAmount>(1);
      requests[0] = {"cpu", sets[i].cpu};
      pods[i] = o.pod_sets[0];
      pods[i].name = w.keep(sets[i].name);
      pods[i].count = sets[i].count;
      pods[i].requests = requests;
    }
    o.pod_sets = pods;
    w.remember(o);
    return o;
  }
  /// A selector: the label is there, whatever its value.
  List<Requirement> has_label(std::string_view key) {
    auto out = w.arena().make<Requirement>(1);
    out[0] = {w.keep(key), SelectorOperator::exists, {}};
    return out;
  }

  // ---- reading ------------------------------------------------------------------------------------------------------------------------

  [[nodiscard]] const ClusterQueue& queue(std::string_view name) { return *w.driver().queue(Symbol(name)); }
  [[nodiscard]] Lines waiting(std::string_view name) {
    Lines out;
    for (const auto& x : queue(name).waiting()) out.push_back(x.workload->name.text());
    return out;
  }
  [[nodiscard]] bool parked(std::string_view in, std::string_view name) {
    for (const auto& x : queue(in).waiting())
      if (x.workload->name == name) return x.parked;
    ADD_FAILURE() << name << " does not wait in " << in;
    return false;
  }
  /// Where its scan for flavors stopped; empty where nothing is kept.
  [[nodiscard]] std::vector<ScanState::Entry> scan_of(std::string_view in, std::string_view name) {
    for (const auto& x : queue(in).image().entries)
      if (x.uid == "uid-" + std::string(name)) return x.scan.entries;
    return {};
  }
  /// "True Started", or "" without the condition.
  [[nodiscard]] std::string condition(std::string_view name, ConditionType type) {
    const auto* c = w.state(name).find(type);
    if (c == nullptr) return "";
    return std::string(c->is_true() ? "True " : "False ") + std::string(c->reason.text());
  }
  /// The flavor of the first resource of the first pod set.
  [[nodiscard]] std::string flavor_of(std::string_view name) {
    const auto& a = w.state(name).admission;
    return a ? std::string(a->pod_sets.at(0).flavors.at(0).second.text()) : "";
  }

  FactWorld w;
};

}  // namespace hindsight::admission::testing
