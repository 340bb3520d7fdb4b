// Families in a StrictFIFO queue: who of them is tried, and whom they hold up. The Workloads have no jobs.

#include "tests/admission/entities/queue_world.hpp"

namespace hindsight::admission::testing {
namespace {

constexpr Amount cores(std::int64_t n) { return n * 1000; }

class StrictFamilies : public QueueWorld {
 protected:
  StrictFamilies() {
    settings_.concurrent_admission = settings_.strict_families = true;
    settings_.pods_ready_enabled = false;
    w.on_record = [this](const RecordView& record) {
      const auto* decisions = std::get_if<Decisions>(&record.body);
      if (decisions == nullptr) return;
      Lines step;
      for (const Event& e : decisions->events) {
        if (const auto* o = std::get_if<OptionRequested>(&e)) {
          asked_.push_back({std::string(o->workload.name), std::string(o->name), {}, o->active});
          for (const Text f : o->flavors) asked_.back().flavors.emplace_back(f);
        }
        if (const auto* q = std::get_if<QuotaReserved>(&e)) step.push_back("reserved " + std::string(q->workload.name));
        if (const auto* r = std::get_if<EntryRequeued>(&e))
          step.push_back((r->to_heap ? "returned " : "parked ") + std::string(r->workload.name));
      }
      if (!step.empty()) cycles_.push_back(std::move(step));
    };
  }
  void start(const std::vector<FlavorCpu>& quota, OnSuccess on_success = OnSuccess::remove_lower) {
    w.configure(settings_);
    w.namespace_("default");
    for (const auto& [flavor, amount] : quota) w.flavor(flavor);
    show_queue(quota, on_success);
    w.local_queue("l-q", "q");
    begin();
  }
  void show_queue(const std::vector<FlavorCpu>& quota, OnSuccess on_success = OnSuccess::remove_lower) {
    auto q = flavored("q", quota);
    q.queueing_strategy = QueueingStrategy::strict_fifo;
    q.concurrent.enabled = true;
    q.concurrent.on_success = on_success;
    if (!checked_flavor_.empty()) {
      auto flavors = w.arena().make<Text>(1);
      flavors[0] = w.keep(checked_flavor_);
      auto checks = w.arena().make<AdmissionCheckRule>(1);
      checks[0] = {"check", flavors};
      q.admission_checks = checks;
    }
    w.observe(q);
  }
  /// A Workload comes a second later than the one before it, and all Options that are asked for are made.
  void add(std::string_view name, Amount cpu, std::int32_t priority = 0) {
    w.tick(Duration::seconds(1));
    sizes_[std::string(name)] = {cpu, priority};
    w.observe(w.workload(name, "l-q", cpu, priority));
    rest();
  }
  /// Until nothing happens any more, parked Workloads woken included.
  void rest() {
    for (int i = 0; i < 5; ++i) {
      (void)pass(Duration::millis(200));
      for (const Asked& a : std::exchange(asked_, {})) make(a);
    }
  }
  /// "D/A/P" by flavor: deactivated, admitted, pending.
  std::string row(const std::string& name, const Lines& flavors) {
    std::string out;
    for (const auto& f : flavors) {
      const auto& s = w.state(name + "-option-" + f);
      out += (out.empty() ? "" : "/") + std::string(s.admitted() ? "A" : !s.active ? "D" : "P");
    }
    return out;
  }

  Settings settings_;
  std::string checked_flavor_;  ///< It asks for the admission check "check".
  std::vector<Lines> cycles_;

 private:
  struct Asked {
    std::string parent, name;
    Lines flavors;
    bool active;
  };
  void make(const Asked& a) {
    const auto& [cpu, priority] = sizes_.at(a.parent);
    auto o = w.workload(a.name, "l-q", cpu, priority);
    o.meta.created = w.state(a.parent).created;
    o.owner_kind = "Workload";
    o.owner_uid = w.keep("uid-" + a.parent);
    o.owner_name = w.keep(a.parent);
    o.constrained = true;
    auto flavors = w.arena().make<Text>(a.flavors.size());
    for (std::size_t i = 0; i < a.flavors.size(); ++i) flavors[i] = w.keep(a.flavors[i]);
    o.allowed_flavors = flavors;
    auto gates = w.arena().make<PreemptionGateFacts>(1);
    gates[0] = {"kueue.x-k8s.io/concurrent-admission", false};
    o.preemption_gates = gates;
    o.active = a.active;
    w.remember(o);
    w.observe(o);
  }
  std::vector<Asked> asked_;
  std::map<std::string, std::pair<Amount, std::int32_t>> sizes_;
};

// CA-142
TEST_F(StrictFamilies, TheNextSiblingIsTriedInTheSameCycle) {
  start({{"a", 0}, {"b", 0}, {"c", 0}});
  add("f", cores(4));
  EXPECT_EQ(row("f", {"a", "b", "c"}), "P/P/P");
  for (const char* option : {"f-option-a", "f-option-b", "f-option-c"}) EXPECT_FALSE(parked("q", option)) << option;
  cycles_.clear();
  show_queue({{"a", cores(1)}, {"b", cores(4)}, {"c", cores(4)}});
  rest();
  EXPECT_EQ(row("f", {"a", "b", "c"}), "P/A/D");
  ASSERT_FALSE(cycles_.empty());
  EXPECT_EQ(cycles_.front(), (Lines{"reserved f-option-b", "returned f-option-a"}));
  EXPECT_TRUE(parked("q", "f-option-a")) << "it holds up nobody now";
}

// CA-142
TEST_F(StrictFamilies, AFamilyThatFitsNowhereHoldsUpAllOthers) {
  start({{"a", cores(2)}, {"b", cores(2)}}, OnSuccess::remove_other);
  add("big", cores(4));
  add("small", cores(1));
  EXPECT_EQ(row("big", {"a", "b"}), "P/P");
  EXPECT_EQ(row("small", {"a", "b"}), "P/P");
  EXPECT_EQ(w.pending("small-option-a"), "") << "it was not tried";
  show_queue({{"a", cores(2)}, {"b", cores(4)}}, OnSuccess::remove_other);
  rest();
  EXPECT_EQ(row("big", {"a", "b"}), "D/A");
  EXPECT_EQ(row("small", {"a", "b"}), "A/D");
}

// CA-142: without the gate a queue does as it did before.
TEST_F(StrictFamilies, WithoutTheGateTheFirstOptionHoldsUpItsSiblings) {
  settings_.strict_families = false;
  start({{"a", cores(2)}, {"b", cores(4)}});
  add("f", cores(4));
  EXPECT_EQ(row("f", {"a", "b"}), "P/P");
  settings_.strict_families = true;
  w.configure(settings_);
  rest();
  EXPECT_EQ(row("f", {"a", "b"}), "P/A") << "it can be switched on at any time";
}

// CA-143
TEST_F(StrictFamilies, AnUpgradeHoldsUpNobody) {
  start({{"a", 0}, {"b", cores(8)}});
  add("f", cores(4));
  add("g", cores(4));
  EXPECT_EQ(row("f", {"a", "b"}), "P/A");
  EXPECT_EQ(row("g", {"a", "b"}), "P/A");
  EXPECT_TRUE(parked("q", "f-option-a"));
}

// CA-143: the switch, also while it is turned.
TEST_F(StrictFamilies, AnUpgradeHoldsUpItsQueueWhereTheSettingSaysSo) {
  settings_.upgrades_block = true;
  start({{"a", 0}, {"b", cores(8)}});
  add("f", cores(4));
  add("g", cores(4));
  EXPECT_EQ(row("f", {"a", "b"}), "P/A");
  EXPECT_EQ(row("g", {"a", "b"}), "P/P");
  EXPECT_FALSE(parked("q", "f-option-a"));
  settings_.upgrades_block = false;
  w.configure(settings_);
  rest();
  EXPECT_EQ(row("g", {"a", "b"}), "P/A");
  settings_.upgrades_block = true;
  w.configure(settings_);
  add("h", cores(0));
  EXPECT_EQ(row("h", {"a", "b"}), "P/P") << "those that were parked hold up the queue again";
}

// CA-142, CA-40: a family of which one Option has reserved holds up nobody; what another one gets then lets the rest be tried once more.
TEST_F(StrictFamilies, AFamilyThatHasReservedHoldsUpNobody) {
  checked_flavor_ = "a";
  w.check("check");
  start({{"a", cores(4)}, {"b", cores(1)}, {"c", cores(1)}});
  add("f", cores(4));
  EXPECT_TRUE(w.state("f-option-a").reserved());
  EXPECT_TRUE(parked("q", "f-option-b"));
  EXPECT_TRUE(parked("q", "f-option-c"));
  add("g", cores(1));
  EXPECT_EQ(row("g", {"a", "b", "c"}), "P/A/D");
  cycles_.clear();
  show_queue({{"a", cores(4)}, {"b", cores(2)}, {"c", cores(4)}});
  rest();
  EXPECT_EQ(row("f", {"a", "b", "c"}), "P/P/A");
  EXPECT_NE(std::find(cycles_.begin(), cycles_.end(), Lines{"reserved f-option-c", "returned f-option-b"}), cycles_.end());
  EXPECT_TRUE(parked("q", "f-option-b")) << "as an upgrade it does not fit either";
}

// CA-35, CA-47: who holds up the queue does not keep an Option from the quota that is kept for it.
TEST_F(StrictFamilies, AMigrationIsCompletedBehindAFamilyThatWaits) {
  start({{"a", 0}, {"b", cores(8)}});
  add("f", cores(4));
  for (const char* name : {"f", "f-option-a", "f-option-b"}) written(name);
  show_queue({{"a", cores(4)}, {"b", cores(8)}});
  rest();
  add("big", cores(9), 100);
  EXPECT_EQ(row("f", {"a", "b"}), "P/A") << "the one that runs is on its way out";
  EXPECT_TRUE(w.state("f").evicted());
  clear("f");
  rest();
  for (int i = 0; i < 3; ++i) {
    for (const char* name : {"f", "f-option-a", "f-option-b"}) written(name);
    rest();
  }
  EXPECT_EQ(row("big", {"a", "b"}), "P/P");
  EXPECT_EQ(waiting("q").front(), "big-option-a") << "it is the first of the queue";
  EXPECT_EQ(row("f", {"a", "b"}), "A/D");
}

}  // namespace
}  // namespace hindsight::admission::testing
