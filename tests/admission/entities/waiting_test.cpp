// Who is tried, and when (base-admission §3.2 to §3.4, §3.7, §5.2): the order of a queue, back-offs, scans that go on, stopped LocalQueues,
// through all entities.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "tests/admission/entities/queue_world.hpp"

namespace hindsight::admission::testing {
namespace {

// ---- the order of a queue -----------------------------------------------------------------------------------------------------------

/// What the order is made of, and nothing else.
struct Ranked {
  std::optional<std::int32_t> priority;
  std::int32_t boost = 0;
  std::int64_t created = 0;
  std::string uid;
};

/// §3.2, 3 to 5.
bool goes_before(const Ranked& a, const Ranked& b, bool boosted) {
  const std::int64_t pa = std::int64_t{a.priority.value_or(0)} + (boosted ? a.boost : 0);
  const std::int64_t pb = std::int64_t{b.priority.value_or(0)} + (boosted ? b.boost : 0);
  if (pa != pb) return pa > pb;
  if (a.created != b.created) return a.created < b.created;
  return a.uid < b.uid;
}

/// A queue in which all fit, one in each cycle, while others come, go and change.
class RandomQueue {
 public:
  RandomQueue(std::uint32_t seed, bool boosted) : random_(seed), boosted_(boosted) {
    Settings settings;
    settings.priority_boost = boosted;
    w_.configure(settings);
    w_.namespace_("default");
    w_.flavor("default");
    w_.queue(
        {.name = "q", .cpu = 1'000'000'000, .strategy = pick(2) == 0 ? QueueingStrategy::strict_fifo : QueueingStrategy::best_effort_fifo});
    w_.local_queue("l", "q");
    w_.observe(MirrorSynced{});
    for (int i = 0; i < 12; ++i) add();
  }
  void run() {
    while (auto step = w_.driver().decide()) {
      if (step->kind == StepKind::cycle) expect_the_first(*step);
      w_.observe_decision(*step);
      if (::testing::Test::HasFailure()) return;
      if (step->kind != StepKind::cycle) continue;
      if (pick(4) == 0) add();
      if (!model_.empty() && pick(3) == 0) change();
      if (model_.size() > 6 && pick(6) == 0) remove();
    }
    EXPECT_TRUE(model_.empty()) << "somebody was never tried";
  }

 private:
  std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(random_()) % n; }
  std::optional<std::int32_t> any_priority() {
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
    constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
    const std::optional<std::int32_t> all[] = {std::nullopt, 0, -1, 1, most, least};
    return all[pick(6)];
  }
  void add() {
    if (made_ == 30) return;
    w_.now = w_.now + Duration::seconds(pick(2));
    // names do not follow the order of creation
    const std::string name = std::string(1, static_cast<char>('a' + pick(26))) + "-" + std::to_string(made_++);
    auto o = w_.workload(name, "l", 1'000 * (1 + pick(3)));
    o.priority = any_priority();
    o.priority_boost = static_cast<std::int32_t>(pick(3)) - 1;
    w_.remember(o);
    w_.observe(o);
    model_[name] = {o.priority, o.priority_boost, o.meta.created.floor_seconds(), std::string(o.meta.uid)};
  }
  const std::string& anybody() {
    auto it = model_.begin();
    std::advance(it, pick(static_cast<std::uint32_t>(model_.size())));
    return it->first;
  }
  void change() {
    const std::string name = anybody();
    auto o = w_.seen_as(name);
    o.priority = any_priority();
    ++o.meta.generation;
    w_.remember(o);
    w_.observe(o);
    model_[name].priority = o.priority;
  }
  void remove() {
    const std::string name = anybody();
    w_.observe(ObjectDeleted{ObjectKind::workload, "default", w_.keep(name), w_.keep("uid-" + name)});
    model_.erase(name);
  }
  void expect_the_first(const Domain::Step& step) {
    Lines sorted;
    for (const auto& [name, r] : model_) sorted.push_back(name);
    std::sort(sorted.begin(), sorted.end(),
              [&](const auto& a, const auto& b) { return goes_before(model_.at(a), model_.at(b), boosted_); });
    Lines shown, reserved;
    for (const auto& x : w_.driver().queue(Symbol("q"))->waiting()) shown.push_back(x.workload->name.text());
    for (const Event& e : step.events)
      if (const auto* q = std::get_if<QuotaReserved>(&e)) reserved.emplace_back(q->workload.name);
    ASSERT_EQ(shown, sorted);
    ASSERT_EQ(reserved, Lines{sorted.at(0)});
    model_.erase(sorted[0]);
  }

  FactWorld w_;
  std::mt19937 random_;
  bool boosted_;
  std::map<std::string, Ranked> model_;  ///< By name.
  int made_ = 0;
};

// BA-47: heads are taken in the order of a plain sort; a priority and its boost together may be beyond 32 bits
TEST(QueueOrder, IsThatOfAPlainSort) {
  for (const bool boosted : {false, true})
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
      RandomQueue(seed, boosted).run();
      ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << (boosted ? ", boosted" : "");
    }
}

// BA-96: without the gate a victim that was preempted while it borrowed counts from then on, and only it
TEST(QueueTimestampWithoutSorting, IsTheTimeOfAPreemptionWhileBorrowing) {
  WorkloadState s;
  s.created = Time::from_seconds(100);
  Settings settings;
  const auto preempted = [&](std::string_view reason, ConditionStatus status = ConditionStatus::true_) {
    s.conditions = {{ConditionType::evicted, ConditionStatus::true_, Symbol("Preempted"), "m", Time::from_seconds(500)},
                    {ConditionType::preempted, status, Symbol(reason), "m", Time::from_seconds(400)}};
    return s.queue_time(settings);
  };
  EXPECT_EQ(preempted("InCohortReclaimWhileBorrowing"), s.created) << "with the gate";
  settings.priority_sorting_within_cohort = false;
  EXPECT_EQ(preempted("InCohortReclaimWhileBorrowing"), Time::from_seconds(400) + Duration::millis(1));
  EXPECT_EQ(preempted("InCohortReclaimWhileBorrowing", ConditionStatus::false_), s.created) << "it holds quota again";
  for (const char* other : {"InClusterQueue", "InCohortReclamation", "InCohortFairSharing"})
    EXPECT_EQ(preempted(other), s.created) << other;
  s.conditions = {
      {ConditionType::evicted, ConditionStatus::true_, Symbol("AdmissionCheck"), "m", Time::from_seconds(500)},
      {ConditionType::preempted, ConditionStatus::true_, Symbol("InCohortReclaimWhileBorrowing"), "m", Time::from_seconds(400)}};
  EXPECT_EQ(s.queue_time(settings), Time::from_seconds(500)) << "an eviction that counts comes first";
}

class Waiting : public QueueWorld {};

// BA-96: so it goes behind one that was made in between, and does not with the gate or for another reason
TEST_F(Waiting, WhoWasPreemptedWhileBorrowingGoesBehindThoseThatCameBeforeThat) {
  struct Case {
    bool gate;
    const char* reason;
    const char* first;
  };
  for (const Case& c : {Case{false, "InCohortReclaimWhileBorrowing", "new"}, Case{true, "InCohortReclaimWhileBorrowing", "old"},
                        Case{false, "InCohortReclamation", "old"}}) {
    FactWorld x;
    Settings settings;
    settings.priority_sorting_within_cohort = c.gate;
    x.configure(settings);
    x.namespace_("default");
    x.flavor("default");
    x.queue({.name = "lender", .cohort = "c", .cpu = 1'000});
    for (const char* q : {"a", "b"}) {
      x.queue({.name = q, .cohort = "c"});
      x.local_queue("l-" + std::string(q), q);
    }
    x.observe(MirrorSynced{});
    auto old = x.workload("old", "l-a", 1'000);
    x.now = x.now + Duration::seconds(50);
    const auto young = x.workload("new", "l-b", 1'000);
    x.now = x.now + Duration::seconds(50);
    const std::vector<ConditionFacts> conditions{{ConditionType::evicted, ConditionStatus::true_, "Preempted", "m", x.now},
                                                 {ConditionType::preempted, ConditionStatus::true_, c.reason, "m", x.now},
                                                 {ConditionType::requeued, ConditionStatus::true_, "Preempted", "m", x.now}};
    old.conditions = conditions;
    x.observe(old);
    x.observe(young);
    (void)x.settle();
    EXPECT_EQ(x.state("old").reserved(), c.first == std::string("old")) << c.gate << c.reason;
    EXPECT_EQ(x.state("new").reserved(), c.first == std::string("new")) << c.gate << c.reason;
  }
}

// ---- back-offs ------------------------------------------------------------------------------------------------------------------------

/// Two that may not be tried, though the queue has room for both: one backs off for a minute, the other is not to be requeued (D3).
class BackOff : public QueueWorld {
 protected:
  void SetUp() override {
    set_up({{.name = "a", .cohort = "c", .cpu = 8'000}, {.name = "b", .cohort = "c"}});
    auto late = w.workload("late", "l-a", 1'000, 50);
    late.has_requeue_state = true;
    late.requeue_count = 1;
    late.requeue_at = until = w.now + Duration::seconds(60);
    w.observe(late);
    auto never = w.workload("never", "l-a", 1'000, 100);
    put(never,
        {ConditionType::evicted, ConditionStatus::true_, "DeactivatedDueToRequeuingLimitExceeded", "The workload is deactivated", w.now});
    put(never,
        {ConditionType::requeued, ConditionStatus::false_, "DeactivatedDueToRequeuingLimitExceeded", "The workload is deactivated", w.now});
    w.observe(never);
  }
  /// Comes to rest; who was head of a cycle meanwhile.
  std::set<std::string> tried() {
    std::set<std::string> out;
    settle([&](const Domain::Step& step) {
      for (const Event& e : step.events) {
        if (const auto* q = std::get_if<QuotaReserved>(&e)) out.emplace(q->workload.name);
        if (const auto* r = std::get_if<EntryRequeued>(&e)) out.emplace(r->workload.name);
      }
    });
    return out;
  }
  std::set<std::string> tried_after(Duration d) {
    w.tick(d);
    return tried();
  }
  using Names = std::set<std::string>;
  Time until;
};

// BA-52: nothing that wakes others makes it a head before its time, and its time does
TEST_F(BackOff, NobodyIsTriedBeforeItsTime) {
  EXPECT_EQ(tried(), Names{});
  w.observe(w.workload("other", "l-a", 7'000));
  EXPECT_EQ(tried(), Names{"other"}) << "those that may are";
  change("late", [](WorkloadObserved& o) { o.priority = 60, ++o.meta.generation; });
  change("never", [](WorkloadObserved& o) { o.priority = 110, ++o.meta.generation; });
  EXPECT_EQ(tried(), Names{}) << "a push";
  finish("other");
  EXPECT_EQ(tried_after(Duration::seconds(1)), Names{}) << "a reactivation";
  w.queue({.name = "a", .cohort = "c", .cpu = 9'000});
  EXPECT_EQ(tried_after(Duration::seconds(1)), Names{}) << "a larger queue";
  w.queue({.name = "a", .cpu = 9'000});
  EXPECT_EQ(tried_after(Duration::seconds(1)), Names{}) << "another tree";
  w.observe_epoch();
  EXPECT_EQ(tried(), Names{}) << "another writer";
  EXPECT_TRUE(parked("a", "late") && parked("a", "never"));
  EXPECT_EQ(tried_after((until - Duration::seconds(1)) - w.now), Names{}) << "a second too early";
  EXPECT_EQ(tried_after(Duration::seconds(1)), Names{"late"});
  EXPECT_TRUE(w.state("late").reserved());
  EXPECT_EQ(tried_after(Duration::seconds(3'600)), Names{});
  EXPECT_FALSE(w.state("never").reserved());
}

// BA-52: but for the exception of §3.7
TEST_F(BackOff, AQueueThatIsResumedOrMadeTriesAll) {
  EXPECT_EQ(tried(), Names{});
  const std::string how[] = {"resumed", "made", "its ClusterQueue made"};
  for (const auto& what : how) {
    SCOPED_TRACE(what);
    if (what == "resumed") {
      stop_local_queue("l-a", "a", StopPolicy::hold);
      EXPECT_EQ(tried(), Names{});
      stop_local_queue("l-a", "a", StopPolicy::none);
    } else if (what == "made") {
      w.observe(ObjectDeleted{ObjectKind::local_queue, "default", "l-a", "uid"});
      EXPECT_EQ(tried(), Names{});
      w.local_queue("l-a", "a");
    } else {
      w.observe(ObjectDeleted{ObjectKind::cluster_queue, {}, "a", "uid"});
      EXPECT_EQ(tried(), Names{});
      w.queue({.name = "a", .cohort = "c", .cpu = 8'000});
    }
    EXPECT_EQ(tried(), (Names{"late", "never"}));
    EXPECT_LT(w.now, until);
    for (const char* name : {"late", "never"}) {
      clear(name);  // who lost its reservation is held back again
      EXPECT_TRUE(parked("a", name)) << name;
    }
    EXPECT_EQ(tried_after(Duration::seconds(1)), Names{});
  }
}

// BA-52: not where the LocalQueue stays stopped
TEST_F(BackOff, AClusterQueueThatIsMadeTriesNobodyOfAStoppedLocalQueue) {
  stop_local_queue("l-a", "a", StopPolicy::hold);
  w.observe(ObjectDeleted{ObjectKind::cluster_queue, {}, "a", "uid"});
  EXPECT_EQ(tried(), Names{});
  w.queue({.name = "a", .cohort = "c", .cpu = 8'000});
  EXPECT_EQ(tried(), Names{});
  EXPECT_EQ(waiting("a"), Lines{});
}

// ---- scans that go on -----------------------------------------------------------------------------------------------------------------

// BA-54: of a best-effort queue it goes on where it stopped, without anything that wakes it, and is parked at the end of the list
TEST_F(Waiting, WhoStoppedInTheMidstOfTheFlavorsReturnsToTheHeap) {
  w.namespace_("default");
  for (const char* f : {"f1", "f2", "f3"}) w.flavor(f);
  w.observe(flavored("a", {{"f1", 4'000}, {"f2", 9'000}, {"f3", 9'000}}));
  w.local_queue("l-a", "a");
  begin();
  w.observe(workload_of("busy", "l-a", {{"main", 1, 9'000}}));
  (void)w.settle();
  ASSERT_EQ(flavor_of("busy"), "f2");
  w.observe(workload_of("w", "l-a", {{"one", 1, 4'000}, {"two", 1, 10'000}}));  // the second pod set fits nowhere
  Lines story;
  settle([&](const Domain::Step& step) {
    for (const Event& e : step.events) {
      if (std::holds_alternative<TreeReactivated>(e)) story.emplace_back("reactivated");
      const auto* r = std::get_if<EntryRequeued>(&e);
      if (r == nullptr) continue;
      story.push_back(std::string(r->reason) + (r->to_heap ? " heap" : " parked"));
      for (const auto& p : r->progress) story.push_back(std::string(p.pod_set) + " stopped at " + std::to_string(p.flavor_index));
    }
  });
  EXPECT_EQ(story, (Lines{"ExceedsMaxQuota heap", "one stopped at 0", "ExceedsMaxQuota parked"}));
  EXPECT_TRUE(parked("a", "w"));
}

/// What becomes of a scan that stopped in the midst of the flavors and is of no use any more, by these rules.
class ScanBegunAnew : public QueueWorld {
 protected:
  Lines story(std::uint32_t rules) {
    w.observe_epoch(rules);
    w.namespace_("default");
    for (const char* f : {"f1", "f2"}) w.flavor(f);
    w.observe(flavored("a", {{"f1", 4'000}, {"f2", 9'000}}));
    w.local_queue("l-a", "a");
    begin();
    w.observe(workload_of("busy", "l-a", {{"main", 1, 5'000}}));
    (void)w.settle();
    w.observe(workload_of("w", "l-a", {{"one", 1, 2'000}, {"two", 1, 10'000}}));  // the second pod set fits nowhere
    EXPECT_EQ(one_cycle(), Lines{"w"});
    EXPECT_EQ(scan_of("a", "w").size(), 1U);
    for (const char* name : {"first", "second"}) {  // they have their turn before it
      auto ahead = workload_of(name, "l-a", {{"main", 1, 1'000}});
      ahead.priority = 10;
      w.observe(ahead);
      EXPECT_EQ(one_cycle(), Lines{});
    }
    remove("busy");  // the scan is not the last cycle's, and there is more room now
    Lines out;
    settle([&](const Domain::Step& step) {
      for (const Event& e : step.events)
        if (const auto* r = std::get_if<EntryRequeued>(&e)) out.emplace_back(r->to_heap ? "heap" : "parked");
    });
    EXPECT_EQ(parked("a", "w"), !out.empty());
    return out;
  }
};

// BA-54, BA-90: it comes to what it came to before, and goes on from there
TEST_F(ScanBegunAnew, GoesOnAlsoIfItComesToTheSame) { EXPECT_EQ(story(rules_version), (Lines{"heap", "parked"})); }

TEST_F(ScanBegunAnew, IsLeftThereByEarlierRules) { EXPECT_EQ(story(rules_with_scans_begun_anew - 1), Lines{}); }

/// S6 with a third flavor: "w" was nominated for f1, and "b" took it in the same cycle.
class StoppedScan : public QueueWorld {
 protected:
  void SetUp() override {
    w.namespace_("default");
    for (const char* f : {"f1", "f2", "f3"}) w.flavor(f);
    w.observe(flavored("a", {{"f1", 4'000}, {"f2", 8'000}, {"f3", 8'000}}, "c"));
    w.observe(flavored("b", {{"f1", 4'000}}, "c"));
    w.local_queue("l-a", "a");
    w.local_queue("l-b", "b");
    begin();
    w.observe(workload_of("b", "l-b", {{"main", 1, 4'000}}));
    w.observe(workload_of("w", "l-a", {{"main", 1, 6'000}}));
    ASSERT_EQ(one_cycle(), Lines{"w"});
    ASSERT_TRUE(w.state("b").reserved());
    ASSERT_EQ(scan_of("a", "w"), stopped_at_f1);
    remove("b");  // f1 is free again
  }
  const std::vector<ScanState::Entry> stopped_at_f1{{Symbol("main"), Symbol("cpu"), 0}};
};

// BA-54, S6: the next flavor is tried although the first one is free
TEST_F(StoppedScan, GoesOnAtTheNextFlavor) {
  EXPECT_FALSE(parked("a", "w"));
  (void)w.settle();
  EXPECT_EQ(flavor_of("w"), "f2");
}

// BA-200: a push does not forget it
TEST_F(StoppedScan, SurvivesAPush) {
  change("w", [](WorkloadObserved& o) { ++o.meta.generation; });
  EXPECT_EQ(scan_of("a", "w"), stopped_at_f1);
  (void)w.settle();
  EXPECT_EQ(flavor_of("w"), "f2");
}

// BA-200: whoever was given quota begins anew when it has lost it
TEST_F(StoppedScan, EndsWithTheReservation) {
  (void)w.settle();
  ASSERT_EQ(flavor_of("w"), "f2");
  clear("w");
  EXPECT_EQ(waiting("a"), Lines{"w"});
  EXPECT_EQ(scan_of("a", "w"), std::vector<ScanState::Entry>{});
  (void)w.settle();
  EXPECT_EQ(flavor_of("w"), "f1");
}

// BA-200: so does whoever left the queue
TEST_F(StoppedScan, EndsWhenItLeavesTheQueue) {
  stop_local_queue("l-a", "a", StopPolicy::hold);
  EXPECT_EQ(waiting("a"), Lines{});
  stop_local_queue("l-a", "a", StopPolicy::none);
  EXPECT_EQ(scan_of("a", "w"), std::vector<ScanState::Entry>{});
  (void)w.settle();
  EXPECT_EQ(flavor_of("w"), "f1");
}

// BA-200: and whoever was deactivated
TEST_F(StoppedScan, EndsWithADeactivation) {
  set_active("w", false);
  EXPECT_EQ(waiting("a"), Lines{});
  set_active("w", true);
  EXPECT_EQ(scan_of("a", "w"), std::vector<ScanState::Entry>{});
  (void)w.settle();
  EXPECT_EQ(flavor_of("w"), "f1");
}

// ---- equivalence ------------------------------------------------------------------------------------------------------------------------

// BA-56: whoever may be made to fit shares no record, whatever its bounds: each is tried itself
TEST_F(Waiting, WorkloadsThatMayBeSizedShareNoRecord) {
  Settings settings;
  settings.adjust_resources = true;
  w.configure(settings);
  set_up({{.name = "a", .cpu = 4'000}});
  for (const char* name : {"plain-1", "plain-2", "sized-1", "sized-2"}) {
    auto o = workload_of(name, "l-a", {{"main", 1, 9'000}});
    if (std::string_view(name).starts_with("sized")) {
      auto amounts = w.arena().make<SizedAmount>(1);
      amounts[0] = {.resource = "cpu", .request = 9'000, .limit = 9'000, .low = 8'000, .high = 9'000, .step = 1'000};
      auto containers = w.arena().make<SizedContainer>(1);
      containers[0] = {"c", ContainerRole::main, amounts};
      auto pods = w.arena().make<PodSetFacts>(1);
      pods[0] = o.pod_sets[0];
      pods[0].sized = containers;
      o.pod_sets = pods;
      o.resource_policy = ResourcePolicy::fit;
      o.resource_bounds = "cpu: 8..9";
    }
    w.observe(o);
  }
  EXPECT_EQ(w.settle(),
            (Lines{"requeued plain-1 ExceedsMaxQuota", "requeued sized-1 ExceedsMaxQuota", "requeued sized-2 ExceedsMaxQuota"}));
  EXPECT_TRUE(parked("a", "plain-2")) << "the first stands for it";
}

// ---- reactivations in a batch -----------------------------------------------------------------------------------------------------------

// BA-59: requests of one tree within the span are one; those of another tree, or after it, are others
TEST_F(Waiting, RequestsOfATreeWithinTheSpanAreCarriedOutTogether) {
  for (const Duration span : {Settings{}.reactivation_batch, Duration::seconds(1)}) {
    FactWorld x;
    Settings settings;
    settings.reactivation_batch = span;
    x.configure(settings);
    x.namespace_("default");
    x.flavor("default");
    for (const char* q : {"a", "b"}) x.queue({.name = q, .cohort = "c", .cpu = 4'000});
    x.queue({.name = "alone", .cpu = 4'000});
    for (const char* q : {"a", "b", "alone"}) x.local_queue("l-" + std::string(q), q);
    x.observe(MirrorSynced{});
    x.tick(Duration::seconds(2));
    for (const char* name : {"a1", "a2", "a3"}) x.observe(x.workload(name, "l-a", 1'000));
    x.observe(x.workload("b1", "l-b", 1'000));
    x.observe(x.workload("d1", "l-alone", 1'000));
    (void)x.settle();
    x.tick(Duration::seconds(2));
    (void)x.settle();
    ASSERT_FALSE(x.driver().domain().next_due().is_set());
    const auto gone = [&](const std::string& name, Duration after) {
      x.now = x.now + after;
      x.observe(ObjectDeleted{ObjectKind::workload, "default", x.keep(name), x.keep("uid-" + name)});
      return x.settle();
    };
    const Duration part{span.micros / 10};
    const Time first = x.now + part;
    EXPECT_EQ(gone("a1", part), Lines{});
    EXPECT_EQ(gone("b1", Duration{4 * part.micros}), Lines{});
    EXPECT_EQ(gone("d1", part), Lines{});
    EXPECT_EQ(gone("a2", Duration{4 * part.micros}), Lines{});
    EXPECT_EQ(x.driver().domain().next_due(), first + span) << "later requests do not put it off";
    x.tick(first + span - x.now);
    EXPECT_EQ(x.settle(), Lines{"reactivated c"});
    EXPECT_EQ(x.driver().domain().next_due(), first + Duration{5 * part.micros} + span);
    x.tick(Duration{5 * part.micros});
    EXPECT_EQ(x.settle(), Lines{"reactivated alone"});
    EXPECT_FALSE(x.driver().domain().next_due().is_set()) << "all were carried out";
    EXPECT_EQ(gone("a3", part), Lines{});
    x.tick(span);
    EXPECT_EQ(x.settle(), Lines{"reactivated c"}) << "a new batch";
  }
}

// ---- LocalQueues ------------------------------------------------------------------------------------------------------------------------

// BA-63: what waits leaves the ClusterQueue with its LocalQueue and comes back with it, whatever parked it; others stay where they are
TEST_F(Waiting, AStoppedLocalQueueTakesItsWorkloadsOut) {
  set_up({{.name = "a", .cpu = 4'000}});
  w.local_queue("other", "a");
  w.observe(w.workload("runs", "l-a", 4'000, 9));
  (void)w.settle();
  for (const char* name : {"one", "two"}) w.observe(w.workload(name, "l-a", 3'000));  // equal: the second is parked by the first
  w.observe(w.workload("stays", "other", 2'000));
  (void)w.settle();
  ASSERT_EQ(waiting("a"), (Lines{"one", "stays", "two"}));
  for (const auto policy : {StopPolicy::hold, StopPolicy::hold_and_drain}) {
    stop_local_queue("l-a", "a", policy);
    EXPECT_EQ(waiting("a"), Lines{"stays"});
    EXPECT_EQ(queue("a").local_counters(Symbol("default"), Symbol("l-a")).pending, 0);
    EXPECT_TRUE(parked("a", "stays"));
    if (policy == StopPolicy::hold_and_drain) {  // nobody of it is given what becomes free
      remove("runs");
      EXPECT_EQ(pass(1), (Lines{"condition one Suspended", "condition two Suspended"})) << "D12: its own events wake nobody";
    }
    stop_local_queue("l-a", "a", StopPolicy::none);
    EXPECT_EQ(waiting("a"), (Lines{"one", "stays", "two"}));
    EXPECT_FALSE(parked("a", "one") || parked("a", "two"));
    EXPECT_EQ(queue("a").local_counters(Symbol("default"), Symbol("l-a")).pending, 2);
    (void)w.settle();
    if (policy == StopPolicy::hold) {
      EXPECT_TRUE(parked("a", "one") && parked("a", "two")) << "tried again in vain";
    }
  }
  EXPECT_TRUE(w.state("one").reserved());
}

// ---- trees beside each other ------------------------------------------------------------------------------------------------------------

/// With fair sharing: queue "alone" is in no cohort, and "a", "b" and "z" are in one, in which z has no weight.
class BesideAFairTree {
 public:
  explicit BesideAFairTree(bool crowded) {
    Settings settings;
    settings.fair_sharing = true;
    w_.configure(settings);
    w_.namespace_("default");
    w_.flavor("default");
    w_.queue({.name = "alone", .cpu = 4'000, .within = PreemptionPolicy::lower_priority, .weight_nano = 0});
    w_.queue({.name = "a", .cohort = "c", .cpu = 4'000, .reclaim = PreemptionPolicy::any});
    w_.queue({.name = "b", .cohort = "c", .cpu = 4'000});
    w_.queue({.name = "z", .cohort = "c", .reclaim = PreemptionPolicy::any, .weight_nano = 0});
    for (const char* q : {"alone", "a", "b", "z"}) w_.local_queue("l-" + std::string(q), q);
    w_.observe(MirrorSynced{});
    w_.tick(Duration::seconds(2));
    (void)w_.settle();
    if (crowded) w_.observe(w_.workload("b-borrows", "l-b", 7'000));
    arrive("alone-low", 3'000, 0);
    if (crowded) {
      w_.observe(w_.workload("a-waits", "l-a", 4'000, 1'000));
      w_.observe(w_.workload("b-waits", "l-b", 1'000, 1'000));
      w_.observe(w_.workload("z-waits", "l-z", 1'000, 1'000));
    }
    arrive("alone-too-much", 5'000, 5);
    arrive("alone-high", 4'000, 10);
    w_.observe(ObjectDeleted{ObjectKind::workload, "default", "alone-low", "uid-alone-low"});
    note();
    w_.tick(Duration::seconds(1));
    note();
  }
  Lines alone, others;

 private:
  void arrive(const char* name, Amount cpu, std::int32_t priority) {
    w_.now = w_.now + Duration::seconds(1);
    w_.observe(w_.workload(name, "l-alone", cpu, priority));
    note();
  }
  void note() {
    for (const auto& line : w_.settle()) (line.find("alone") == std::string::npos ? others : alone).push_back(line);
  }
  FactWorld w_;
};

// BA-99: whatever is borrowed, preempted and awaited in a tree with shares, a queue of its own decides as if there were no tree
TEST(FairSharing, AQueueWithoutACohortDecidesAsIfItWereAlone) {
  const BesideAFairTree empty(false), crowded(true);
  EXPECT_EQ(empty.others, Lines{});
  EXPECT_GE(crowded.others.size(), 4U) << "there is something that could be in the way";
  EXPECT_EQ(crowded.alone, empty.alone);
  EXPECT_EQ(empty.alone, (Lines{"reserved alone-low admitted", "requeued alone-too-much ExceedsMaxQuota",
                                "preempted alone-low InClusterQueue", "requeued alone-high WaitingForPreemptedWorkloads",
                                "reserved alone-high admitted", "reactivated alone", "requeued alone-too-much ExceedsMaxQuota"}));
}

}  // namespace
}  // namespace hindsight::admission::testing
