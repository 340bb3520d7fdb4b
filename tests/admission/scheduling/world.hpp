#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "admission/scheduling/cycle.hpp"
#include "admission/scheduling/decision_trace.hpp"
#include "admission/scheduling/next_cycle.hpp"
#include "tests/admission/scheduling/builders.hpp"

namespace hindsight::admission::testing {

/// A workload under construction.
struct Work {
  std::shared_ptr<WorkloadInfo> info = std::make_shared<WorkloadInfo>();
  Symbol queue;

  Work(std::string_view name, std::string_view in_queue) : queue(in_queue) {
    info->name = std::string(name);
    info->uid = "uid-" + std::string(name);
    info->namespace_ = Symbol("default");
    info->created = info->queue_time = Time::from_seconds(0);
  }
  /// One pod set "main" of one pod that asks for n cores.
  Work& cpu(std::int64_t n) { return pods("main", 1, {{"cpu", cores(n)}}); }
  Work& pods(std::string_view pod_set, std::int32_t count, const std::vector<std::pair<std::string_view, Amount>>& each,
             std::int32_t min_count = -1) {
    PodSetInfo p;
    p.name = Symbol(pod_set);
    p.count = count;
    p.min_count = min_count;
    for (const auto& [resource, amount] : each) p.requests.push_back({Symbol(resource), amount});
    info->pod_sets.change([&](auto& pod_sets) { pod_sets.push_back(std::move(p)); });
    return *this;
  }
  Work& in_group(std::string_view group) {
    info->pod_sets.change([&](auto& pod_sets) { pod_sets.back().group = Symbol(group); });
    return *this;
  }
  Work& shape(PodShape s) {
    info->pod_sets.change([&](auto& pod_sets) { pod_sets.back().shape = std::move(s); });
    return *this;
  }
  Work& priority(std::int64_t p) {
    info->priority = info->base_priority = p;
    return *this;
  }
  /// Queue timestamp in seconds.
  Work& at(std::int64_t t) {
    info->queue_time = Time::from_seconds(t);
    return *this;
  }
  /// Second of the reservation.
  Work& reserved(std::int64_t t) {
    info->reserved_at = Time::from_seconds(t);
    return *this;
  }
  Work& evicted() {
    info->evicted = true;
    return *this;
  }
};

/// A cycle as a tree decides it: with a look ahead, where claims count.
inline std::vector<Outcome> decide_cycle(QuotaTree& tree, const std::vector<Head>& heads, const CycleContext& context) {
  CycleContext first = context;
  first.trace = nullptr;
  return look_ahead(tree, heads, run_cycle(tree, heads, first), context);
}

/// One cohort tree with everything that a cycle reads. Flavors and the namespace `default` exist unless a test says otherwise.
class World {
 public:
  Settings settings;
  std::map<Symbol, std::shared_ptr<FlavorConfig>, ByText> flavors;
  std::map<Symbol, NamespaceLabels, ByText> namespaces{{Symbol("default"), {}}};
  bool admitted_not_ready = false;
  RepeatedPreemptions repeated;
  Claims claims;
  bool claims_used = true;  ///< Else as by the rules before there were claims.
  std::uint64_t cycle_number = 10;
  Time now = Time::from_seconds(1'000'000);
  QuotaTree tree;

  World() { settings.pods_ready_enabled = false; }
  explicit World(const std::vector<QueueSpec>& queues, const std::vector<CohortSpec>& cohorts = {}) : World() { members(queues, cohorts); }

  /// Builds the tree; namespace selectors that were not given match everything.
  void members(std::vector<QueueSpec> queues, const std::vector<CohortSpec>& cohorts = {}) {
    for (auto& q : queues) {
      if (q.config.namespace_selector.empty()) q.config.has_namespace_selector = true;
      for (const auto& g : q.config.groups)
        for (const auto& f : g.flavors) flavor(f.flavor.text());
    }
    tree = build_tree(queues, cohorts);
  }
  FlavorConfig& flavor(std::string_view name) {
    auto& f = flavors[Symbol(name)];
    if (!f) {
      f = std::make_shared<FlavorConfig>();
      f->name = Symbol(name);
    }
    return *f;
  }

  /// Lets `w` hold what it asks for, all of it in one flavor.
  void run(const Work& w, std::string_view flavor = "f") {
    Reservation r;
    w.info->id = next_id_++;
    std::map<Symbol, Amount, ByText> sums;
    for (const auto& p : w.info->pod_sets)
      for (const auto& q : p.requests) sums[q.resource] += q.amount * p.count;
    r.workload = w.info;
    for (const auto& [resource, amount] : sums) r.charges.push_back({Symbol(flavor), resource, amount});
    names_[w.info->id] = w.info->name;
    tree.reserve(w.queue, std::move(r));
  }
  /// Offers `w` to the next cycle.
  World& pend(const Work& w, ScanState scan = {}) {
    if (w.info->id == 0) w.info->id = next_id_++;
    names_[w.info->id] = w.info->name;
    heads.push_back({w.info, w.queue, std::move(scan)});
    return *this;
  }

  std::vector<Head> heads;

  [[nodiscard]] CycleContext context() const {
    CycleContext c;
    c.now = now;
    c.cycle = cycle_number;
    c.settings = &settings;
    c.admitted_not_ready = admitted_not_ready;
    c.repeated = &repeated;
    c.claims = claims_used ? &claims : nullptr;
    c.flavor = [this](Symbol name) -> const FlavorConfig* {
      const auto f = flavors.find(name);
      return f == flavors.end() ? nullptr : f->second.get();
    };
    c.namespace_labels = [this](Symbol name) -> const NamespaceLabels* {
      const auto n = namespaces.find(name);
      return n == namespaces.end() ? nullptr : &n->second;
    };
    return c;
  }

  /// Runs a cycle over the heads offered since the last one and checks that it left the tree as it was (BA-127), and that it comes to the
  /// same when it is followed.
  std::vector<Outcome>& cycle() {
    const std::uint64_t before = tree.hash();
    const auto offered = heads;
    outcomes = decide_cycle(tree, heads, context());
    EXPECT_EQ(tree.hash(), before);
    expect_same_when_followed(offered);
    EXPECT_EQ(tree.hash(), before);
    heads.clear();
    ++cycle_number;
    return outcomes;
  }
  std::vector<Outcome> outcomes;

  [[nodiscard]] const Outcome& of(std::string_view name) const {
    for (const auto& o : outcomes)
      if (o.workload->name == name) return o;
    throw std::out_of_range("no outcome for " + std::string(name));
  }
  /// Names in the order of processing.
  [[nodiscard]] std::string order() const {
    std::string out;
    for (const auto& o : outcomes) out += (out.empty() ? "" : " ") + o.workload->name;
    return out;
  }
  /// "admit f", or the reason of a requeue.
  [[nodiscard]] std::string verdict(std::string_view name) const {
    const Outcome& o = of(name);
    if (o.kind == Outcome::Kind::drop) return "drop";
    if (o.kind == Outcome::Kind::requeue) return std::string(o.reason.text());
    std::string out = "admit";
    for (const auto& p : o.assignment)
      for (const auto& [resource, flavor] : p.flavors) out += " " + std::string(flavor.text());
    return out;
  }
  /// "name(Reason) …" in the order of the search.
  [[nodiscard]] std::string victims(std::string_view name) const {
    std::string out;
    for (const auto& v : of(name).victims)
      out += (out.empty() ? "" : " ") + names_.at(v.workload) + "(" + std::string(v.reason.text()) + ")";
    return out;
  }
  /// Puts what was admitted for `name` into the tree.
  void apply(std::string_view name) {
    const Outcome& o = of(name);
    Reservation r;
    auto info = std::make_shared<WorkloadInfo>(*o.workload);
    info->evicted = false;
    info->reserved_at = now;
    info->queue_time = info->created;
    r.workload = std::move(info);
    r.pod_sets = o.assignment;
    std::map<std::pair<Symbol, Symbol>, Amount, bool (*)(const std::pair<Symbol, Symbol>&, const std::pair<Symbol, Symbol>&)> sums(
        [](const auto& a, const auto& b) {
          return std::pair(a.first.text(), a.second.text()) < std::pair(b.first.text(), b.second.text());
        });
    for (const auto& p : o.assignment)
      for (std::size_t i = 0; i < p.usage.size(); ++i) sums[{p.flavors[i].second, p.usage[i].first}] += p.usage[i].second;
    for (const auto& [key, amount] : sums) r.charges.push_back({key.first, key.second, amount});
    tree.reserve(o.cluster_queue, std::move(r));
  }

 private:
  /// Every outcome has its entry in the trace, and both say the same.
  void expect_same_when_followed(const std::vector<Head>& offered) {
    DecisionTrace trace;
    const Symbol root("followed");
    trace.tree_begins(root, false);
    trace.round_begins(root);
    CycleContext followed = context();
    followed.trace = &trace;
    const auto again = decide_cycle(tree, offered, followed);
    trace.round_ends();
    ASSERT_EQ(again.size(), outcomes.size());
    const auto& round = trace.trees().front().rounds.front();
    ASSERT_EQ(round.entries.size(), outcomes.size());
    ASSERT_EQ(round.heads, outcomes.size());
    for (std::size_t i = 0; i < again.size(); ++i) {
      const Outcome& o = outcomes[i];
      EXPECT_EQ(again[i].workload, o.workload);
      EXPECT_EQ(again[i].kind, o.kind);
      EXPECT_EQ(again[i].requeue_reason, o.requeue_reason);
      EXPECT_EQ(again[i].message, o.message);
      EXPECT_EQ(again[i].turn, o.turn);
      EXPECT_EQ(again[i].victims.size(), o.victims.size());
      const TracedEntry& e = round.entries.at(o.turn);
      EXPECT_EQ(e.uid, std::string_view(o.workload->uid));
      EXPECT_EQ(e.kind, o.kind);
      EXPECT_EQ(e.message, o.message);
      EXPECT_EQ(e.victims.list.size(), o.victims.size());
    }
  }

  WorkloadId next_id_ = 1;
  std::map<WorkloadId, std::string> names_;
};

}  // namespace hindsight::admission::testing
