// Admission fair sharing (base-admission §10): what LocalQueues have used decides whose workload is next.

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

const Symbol cpu("cpu");

Settings sharing(Duration half_life = Duration::seconds(600), Duration interval = Duration::seconds(300)) {
  Settings s;
  s.admission_fair_sharing = Settings::AdmissionFairSharing{half_life, interval, {}};
  return s;
}

/// One ClusterQueue with the mode, fed by LocalQueues x and y.
class AdmissionFairSharing : public ::testing::Test {
 protected:
  void start(Amount quota, std::int64_t weight_y = 1'000'000'000, Settings settings = sharing()) {
    w.configure(std::move(settings));
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "a", .cpu = quota, .within = within, .mode = AdmissionMode::usage_based, .check = check});
    if (!check.empty()) w.check(check);
    w.local_queue("x", "a");
    w.local_queue("y", "a", weight_y);
    w.observe(MirrorSynced{});
    (void)w.settle();
  }
  /// Seconds pass; timers fire when they are due.
  void pass(std::int64_t seconds) {
    const Time end = w.now + Duration::seconds(seconds);
    for (;;) {
      const Time due = w.driver().domain().next_due();
      if (!due.is_set() || due > end) break;
      w.tick(std::max(due, w.now) - w.now);
      decided = w.settle();
    }
    w.tick(end - w.now);
    decided = w.settle();
  }
  NanoAmount consumed(std::string_view queue) { return ledger(queue).consumed().of(cpu); }
  NanoAmount penalty(std::string_view queue) { return ledger(queue).penalty().of(cpu); }
  const UsageLedger& ledger(std::string_view queue) {
    const auto* l = w.driver().queue(Symbol("a"))->ledger(Symbol("default"), Symbol(queue));
    static const UsageLedger none;
    return l == nullptr ? none : *l;
  }
  std::vector<std::string> order() {
    std::vector<std::string> out;
    for (const auto& x : w.driver().queue(Symbol("a"))->waiting()) out.push_back(x.workload->name.text());
    return out;
  }
  void finish(std::string_view name) {
    auto o = w.seen_as(name);
    auto conditions = w.arena().make<ConditionFacts>(o.conditions.size() + 1);
    std::copy(o.conditions.begin(), o.conditions.end(), conditions.begin());
    conditions.back() = {ConditionType::finished, ConditionStatus::true_, "Succeeded", "done", w.now};
    o.conditions = conditions;
    w.observe(o);
    (void)w.settle();
  }
  /// What the LocalQueue's status said before this log began.
  void status(std::string_view queue, std::string_view used, Time at) {
    LocalQueueObserved o;
    o.meta.namespace_ = "default";
    o.meta.name = w.keep(queue);
    o.cluster_queue = "a";
    auto amounts = w.arena().make<Pair>(1);
    amounts[0] = {"cpu", w.keep(used)};
    o.consumed = amounts;
    o.consumed_at = at;
    w.observe(o);
  }
  void starts_from_status(bool queue_first) {
    w.configure(sharing());
    if (queue_first) w.queue({.name = "a", .cpu = 4'000, .mode = AdmissionMode::usage_based});
    status("x", "1171572875n", w.now);
    if (!queue_first) w.queue({.name = "a", .cpu = 4'000, .mode = AdmissionMode::usage_based});
    w.observe(MirrorSynced{});
    (void)w.settle();
    EXPECT_EQ(consumed("x"), 1'171'572'875);
    pass(600);
    EXPECT_NEAR(static_cast<double>(consumed("x")), 585'786'437, 10);
    status("x", "7", w.now);  // a later status is what we wrote ourselves
    EXPECT_NEAR(static_cast<double>(consumed("x")), 585'786'437, 10);
  }

  FactWorld w;
  PreemptionPolicy within = PreemptionPolicy::never;
  std::string_view check;
  std::vector<std::string> decided;
};

// BA-165 S30: the arithmetic, to the ninth decimal
TEST(UsageArithmetic, ScalesByTheHalfLifeAndCutsOffBehindTheNinthDecimal) {
  const auto a = decay(Duration::seconds(300), Duration::seconds(600));
  EXPECT_EQ(scale(1'000'000'000, a), 292'893'218);
  EXPECT_EQ(scale(to_nano(4'000, cpu), a), 1'171'572'875);
  EXPECT_EQ(scale(to_nano(8'000, cpu), a.complement()), 5'656'854'249);
  EXPECT_EQ(scale(to_nano(8'000, cpu), a.complement()) + scale(to_nano(4'000, cpu), a), 6'828'427'124);
}

// BA-165: decay follows from the time that passed, however it is cut into pieces; the ends are exact
TEST(UsageArithmetic, DecayIsExactAtWholeHalfLives) {
  const Duration half = Duration::seconds(100);
  EXPECT_EQ(scale(1'000, decay(half, half)), 500);
  EXPECT_EQ(scale(1'000, decay(Duration::seconds(300), half)), 875);
  EXPECT_EQ(scale(1'000, decay(Duration::seconds(0), half)), 0);
  EXPECT_EQ(scale(1'000, decay(Duration::seconds(-5), half)), 0) << "elapsed is clamped at 0";
  EXPECT_EQ(scale(1'000, decay(Duration::seconds(1'000'000'000), half)), 1'000);
  EXPECT_EQ(scale(1'000, decay(Duration::seconds(5), Duration::seconds(0))), 0);
  constexpr NanoAmount much = static_cast<NanoAmount>(unlimited) * 1'000'000'000;
  EXPECT_EQ(scale(much, decay(half, half)), much / 2);
  // against the library's floating point, to about its precision
  for (int i = 1; i < 500; i += 7) {
    const double expected = 1e15 * (1.0 - std::exp2(-i / 173.0));
    EXPECT_NEAR(static_cast<double>(scale(1'000'000'000'000'000, decay(Duration::seconds(i), Duration::seconds(173)))), expected, 2.0) << i;
  }
}

TEST(UsageArithmetic, QuantitiesComeBackExactly) {
  for (const char* text : {"6828427124n", "1500m", "2", "17u", "1k", "128G"}) {
    const auto amount = parse_nano_amount(text);
    ASSERT_TRUE(amount) << text;
    EXPECT_EQ(format_nano_amount(*amount), text);
  }
  EXPECT_EQ(*parse_nano_amount("1Gi"), static_cast<NanoAmount>(1'073'741'824) * 1'000'000'000);
  EXPECT_EQ(*parse_nano_amount("0.0000000019"), 1) << "cut off behind the ninth decimal";
  EXPECT_EQ(*parse_nano_amount("-3"), 0);
  EXPECT_EQ(*parse_nano_amount("1e40"), static_cast<NanoAmount>(unlimited) * 1'000'000'000);
  EXPECT_FALSE(parse_nano_amount("much"));
}

// BA-164 S31: lower usage by weight first, then the usual order
TEST_F(AdmissionFairSharing, TheLocalQueueWithLessUsageIsServedFirst) {
  w.configure(sharing());
  w.namespace_("default");
  w.flavor("default");
  w.queue({.name = "a", .cpu = 0, .mode = AdmissionMode::usage_based});
  status("x", "6", w.now);
  status("y", "10", w.now);
  w.local_queue("y", "a", 2'000'000'000);
  w.observe(w.workload("of-x", "x", 1'000, 100));
  w.observe(w.workload("of-y", "y", 1'000, 0));
  EXPECT_EQ(order(), (std::vector<std::string>{"of-y", "of-x"}));
  w.local_queue("y", "a", 1'000'000'000);  // now 10 against 6
  EXPECT_EQ(order(), (std::vector<std::string>{"of-x", "of-y"}));
}

// BA-165: resources weigh as they are given, and as 1 where nothing is
TEST_F(AdmissionFairSharing, ResourcesWeighAsConfigured) {
  const auto has_used = [&](std::string_view name, std::string_view cores, std::string_view bytes) {
    LocalQueueObserved o;
    o.meta.namespace_ = "default";
    o.meta.name = name;
    o.cluster_queue = "a";
    auto amounts = w.arena().make<Pair>(2);
    amounts[0] = {"cpu", cores};
    amounts[1] = {"memory", bytes};
    o.consumed = amounts;
    o.consumed_at = w.now;
    w.observe(o);
  };
  const auto served = [&](std::vector<std::pair<Symbol, double>> weights) {
    Settings settings = sharing();
    settings.admission_fair_sharing->resource_weights = std::move(weights);
    w.configure(std::move(settings));
    return order();
  };
  w.configure(sharing());
  w.namespace_("default");
  w.flavor("default");
  w.queue({.name = "a", .cpu = 0, .mode = AdmissionMode::usage_based});
  has_used("x", "6", "100");
  has_used("y", "2", "103");
  w.observe(w.workload("of-x", "x", 1'000));
  w.observe(w.workload("of-y", "y", 1'000));
  const std::vector<std::string> x_first{"of-x", "of-y"}, y_first{"of-y", "of-x"};
  EXPECT_EQ(served({}), y_first) << "106 against 105";
  EXPECT_EQ(served({{cpu, 0.5}}), x_first) << "103 against 104";
  EXPECT_EQ(served({{Symbol("memory"), 2.0}}), x_first) << "206 against 208";
  EXPECT_EQ(served({{Symbol("memory"), 0.0}}), y_first) << "6 against 2";
  EXPECT_EQ(served({{cpu, 0.0}, {Symbol("memory"), 0.0}}), x_first) << "nothing counts: the order of names";
  const UsageLedger& of_x = ledger("x");
  EXPECT_EQ(of_x.usage({Duration::seconds(600), Duration::seconds(300), {{cpu, 0.5}, {Symbol("memory"), 0.25}}}, 4'000'000'000), 7.0);
}

TEST_F(AdmissionFairSharing, EqualUsageLeavesThePriorityToDecide) {
  start(0);
  w.observe(w.workload("low", "x", 1'000, 0));
  w.observe(w.workload("high", "y", 1'000, 100));
  EXPECT_EQ(order(), (std::vector<std::string>{"high", "low"}));
}

// BA-165, BA-166 S30: an entry penalty becomes usage on admission, and running pods add to it with time
TEST_F(AdmissionFairSharing, UsageGrowsWithTheTimeThatWorkloadsRun) {
  start(4'000);
  w.observe(w.workload("w", "x", 4'000));
  EXPECT_EQ(w.settle(), (std::vector<std::string>{"reserved w admitted"}));
  EXPECT_EQ(penalty("x"), 1'171'572'875) << "until the API server has it";
  w.observe(w.seen_as("w"));
  EXPECT_EQ(consumed("x"), 1'171'572'875);
  EXPECT_EQ(penalty("x"), 0);
  pass(300);
  EXPECT_EQ(consumed("x"), 828'427'124 + 1'171'572'875);  // 1.171572875 · 0.707106781… cut off
  finish("w");
  pass(600);
  EXPECT_NEAR(static_cast<double>(consumed("x")), 1e9, 10) << "half of it is forgotten in one half-life";
  EXPECT_EQ(consumed("y"), 0);
}

TEST_F(AdmissionFairSharing, SamplesAsTheWorkedExample) {  // S30: consumed 8 with 4 running → 6.828427
  w.configure(sharing());
  w.namespace_("default");
  w.flavor("default");
  w.queue({.name = "a", .cpu = 4'000, .mode = AdmissionMode::usage_based});
  w.local_queue("y", "a");
  auto running = w.workload("w", "x", 4'000);
  w.admit(running, "a");
  status("x", "8", w.now);
  w.observe(running);
  w.observe(MirrorSynced{});
  (void)w.settle();
  EXPECT_EQ(consumed("x"), 8'000'000'000) << "who was admitted before pays nothing";
  pass(300);
  EXPECT_EQ(consumed("x"), 6'828'427'124);
}

// BA-166: once per reservation; settled when it is admitted
TEST_F(AdmissionFairSharing, ThePenaltyWaitsForAdmission) {
  check = "k";
  start(4'000);
  w.observe(w.workload("w", "x", 4'000));
  EXPECT_EQ(w.settle(), (std::vector<std::string>{"reserved w"}));
  EXPECT_EQ(penalty("x"), 1'171'572'875);
  EXPECT_EQ(consumed("x"), 0);
  w.observe(w.seen_as("w"));  // what we wrote comes back: no second penalty
  (void)w.settle();
  EXPECT_EQ(penalty("x"), 1'171'572'875);
  w.observe(w.workload("of-x", "x", 1'000, 100));
  w.observe(w.workload("of-y", "y", 1'000));
  EXPECT_EQ(order(), (std::vector<std::string>{"of-y", "of-x"})) << "the penalty counts at once";
  auto ready = w.seen_as("w");
  auto checks = w.arena().make<CheckFacts>(1);
  checks[0].name = "k";
  checks[0].state = CheckState::ready;
  ready.checks = checks;
  w.observe(ready);
  (void)w.settle();
  EXPECT_TRUE(w.state("w").admitted());
  EXPECT_EQ(penalty("x"), 0);
  EXPECT_EQ(consumed("x"), 1'171'572'875);
}

// BA-166: dropped without a trace when the reservation ends before
TEST_F(AdmissionFairSharing, ThePenaltyIsDroppedWithAReservationThatWasNeverAdmitted) {
  check = "k";
  start(4'000);
  for (const std::string how : {"deleted", "refused", "finished", "deactivated"}) {
    const auto o = w.workload(how, "x", 4'000);
    w.observe(o);
    (void)w.settle();
    ASSERT_TRUE(w.state(how).reserved()) << how;
    ASSERT_EQ(penalty("x"), 1'171'572'875) << how;
    if (how == "deleted") w.observe(ObjectDeleted{ObjectKind::workload, "default", o.meta.name, o.meta.uid});
    if (how == "refused") w.observe(WriteRefused{ObjectKind::workload, "default", o.meta.name, o.meta.uid, 1, 409, "conflict"});
    if (how == "finished") finish(how);
    if (how == "deactivated") {
      auto inactive = w.seen_as(how);
      inactive.active = false;
      ++inactive.meta.generation;
      w.observe(inactive);
    }
    EXPECT_EQ(penalty("x"), 0) << how;
    EXPECT_EQ(consumed("x"), 0) << how;
    if (how == "refused") {  // it tries again, and pays again
      (void)w.settle();
      EXPECT_EQ(penalty("x"), 1'171'572'875);
      w.observe(ObjectDeleted{ObjectKind::workload, "default", o.meta.name, o.meta.uid});
    }
    (void)w.settle();
  }
}

// Tenants make LocalQueues, and take them away while their jobs run: what such a one has used is not kept.
TEST_F(AdmissionFairSharing, OfALocalQueueThatHasGoneNothingIsKept) {
  start(4'000);
  w.observe(w.workload("one", "x", 4'000));
  (void)w.settle();
  ASSERT_TRUE(w.state("one").admitted());
  pass(300);
  w.observe(ObjectDeleted{ObjectKind::local_queue, "default", "x", "uid-x", {}});
  pass(300);
  finish("one");
  (void)w.settle();
  EXPECT_EQ(w.driver().queue(Symbol("a"))->ledger(Symbol("default"), Symbol("x")), nullptr);
}

// BA-166: of one that is admitted at once, too; it tries again, and pays once
TEST_F(AdmissionFairSharing, AnAdmissionThatTheServerRefusesIsNoUsage) {
  start(4'000);
  const auto o = w.workload("w", "x", 4'000);
  w.observe(o);
  EXPECT_EQ(w.settle(), (std::vector<std::string>{"reserved w admitted"}));
  w.observe(WriteRefused{ObjectKind::workload, "default", o.meta.name, o.meta.uid, 1, 409, "conflict"});
  EXPECT_EQ(penalty("x"), 0);
  EXPECT_EQ(consumed("x"), 0);
  EXPECT_EQ(w.settle(), (std::vector<std::string>{"reserved w admitted"}));
  EXPECT_EQ(penalty("x"), 1'171'572'875);
  EXPECT_EQ(consumed("x"), 0);
  w.observe(w.seen_as("w"));
  EXPECT_EQ(penalty("x"), 0);
  EXPECT_EQ(consumed("x"), 1'171'572'875);
  w.observe(w.seen_as("w"));  // once
  EXPECT_EQ(consumed("x"), 1'171'572'875);
}

// BA-166: an admission that is not written yet is remembered by a snapshot
TEST_F(AdmissionFairSharing, ASnapshotKnowsWhatIsNotWrittenYet) {
  start(4'000);
  w.observe(w.workload("w", "x", 4'000));
  (void)w.settle();
  FactWorld copy;
  copy.use(sharing());
  copy.now = w.now;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  (void)copy.workload("w", "x", 4'000);  // for seen_as
  for (FactWorld* f : {&w, &copy}) {
    const auto& ledger = *f->driver().queue(Symbol("a"))->ledger(Symbol("default"), Symbol("x"));
    EXPECT_EQ(ledger.penalty().of(cpu), 1'171'572'875);
    auto shown = f->seen_as("w");
    shown.meta.resource_version = 999'999;
    f->observe(shown);
    EXPECT_EQ(ledger.penalty().of(cpu), 0);
    EXPECT_EQ(ledger.consumed().of(cpu), 1'171'572'875);
  }
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
}

// BA-167
TEST_F(AdmissionFairSharing, WeightZeroComesLast) {
  start(0, 0);
  w.observe(w.workload("of-y", "y", 1'000, 100));
  w.observe(w.workload("of-x", "x", 1'000, 0));
  EXPECT_EQ(order(), (std::vector<std::string>{"of-x", "of-y"}));
}

// BA-167
TEST_F(AdmissionFairSharing, WithoutAHalfLifeThereIsNoMemory) {
  start(4'000, 1'000'000'000, sharing(Duration::seconds(0)));
  w.observe(w.workload("w", "x", 4'000));
  (void)w.settle();
  EXPECT_EQ(penalty("x") + consumed("x"), 0);
  pass(3'000);
  EXPECT_EQ(consumed("x"), 0);
}

// BA-168: it is told to the LocalQueue's status, and a new log starts from there
TEST_F(AdmissionFairSharing, UsageIsKeptInTheStatusAndStartsFromIt) {
  start(4'000);
  w.observe(w.workload("w", "x", 4'000));
  (void)w.wanted<QueueStatusIntent>();
  (void)w.settle();
  w.observe(w.seen_as("w"));
  std::optional<QueueStatusIntent> told;
  for (auto& i : w.wanted<QueueStatusIntent>())
    if (i.local && i.name == "x") told = std::move(i);
  ASSERT_TRUE(told && told->consumed);
  EXPECT_EQ(*told->consumed, (std::vector<std::pair<std::string, std::string>>{{"cpu", "1171572875n"}}));
  EXPECT_EQ(told->consumed_at, w.now);
}

// BA-168: whichever of the two queues is seen first
TEST_F(AdmissionFairSharing, ANewLogStartsFromTheStatusWhenTheClusterQueueIsKnown) { starts_from_status(true); }
TEST_F(AdmissionFairSharing, ANewLogStartsFromTheStatusWhenTheLocalQueueIsKnown) { starts_from_status(false); }

// BA-168, BA-154: a snapshot holds ledgers, penalties and the next sampling
TEST_F(AdmissionFairSharing, ASnapshotGoesOnAlike) {
  check = "k";
  start(4'000);
  w.observe(w.workload("a", "x", 3'000));
  w.observe(w.workload("b", "y", 3'000));
  (void)w.settle();
  FactWorld copy;
  copy.use(sharing());
  copy.now = w.now;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  EXPECT_EQ(copy.driver().domain().next_due(), w.driver().domain().next_due());
  (void)copy.workload("a", "x", 3'000);  // for seen_as
  for (FactWorld* f : {&w, &copy}) {
    auto shown = f->seen_as("a");  // what we wrote is there before the check's controller answers
    shown.meta.resource_version = 999'999;
    f->observe(shown);
    auto ready = f->seen_as("a");
    auto checks = f->arena().make<CheckFacts>(1);
    checks[0].name = "k";
    checks[0].state = CheckState::ready;
    ready.checks = checks;
    ready.meta.resource_version = 1'000'000;
    f->observe(ready);
    (void)f->settle();
    f->tick(Duration::seconds(400));
    (void)f->settle();
  }
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  EXPECT_GT(consumed("x"), 0);
}

// BA-164: the preemptor of a BestEffortFIFO queue comes after a lower usage (§3.2)
TEST_F(AdmissionFairSharing, ALowerUsageComesBeforeTheStickyPreemptor) {
  within = PreemptionPolicy::lower_priority;
  start(4'000);
  w.observe(w.workload("victim", "y", 4'000, 0));
  (void)w.settle();
  pass(3'000);
  w.observe(w.workload("preemptor", "y", 4'000, 10));
  EXPECT_EQ(w.settle(), (std::vector<std::string>{"preempted victim InClusterQueue", "requeued preemptor WaitingForPreemptedWorkloads"}));
  w.observe(ObjectDeleted{ObjectKind::workload, "default", "victim", "uid-victim"});
  w.observe(w.workload("of-x", "x", 4'000, 0));  // x has used nothing
  (void)w.settle();
  pass(1);
  EXPECT_TRUE(w.state("of-x").reserved());
  EXPECT_FALSE(w.state("preemptor").reserved());
}

// BA-164: but before priority
TEST_F(AdmissionFairSharing, TheStickyPreemptorComesBeforePriority) {
  within = PreemptionPolicy::lower_priority;
  start(4'000);
  auto job = w.workload("victim", "y", 4'000, 0);
  w.observe(job);
  (void)w.settle();
  w.observe(w.workload("preemptor", "x", 4'000, 10));
  EXPECT_EQ(w.settle(), (std::vector<std::string>{"preempted victim InClusterQueue", "requeued preemptor WaitingForPreemptedWorkloads"}));
  // y has used something, x nothing: a high priority of y's does not pass, one of x's does not either
  w.observe(w.workload("high-y", "y", 4'000, 1'000));
  w.observe(w.workload("high-x", "x", 4'000, 1'000));
  w.observe(ObjectDeleted{ObjectKind::workload, "default", "victim", "uid-victim"});
  (void)w.settle();
  EXPECT_TRUE(w.state("preemptor").reserved());
}

// §7.2 with admission fair sharing: of two LocalQueues of the same ClusterQueue the one that used more loses first
TEST_F(AdmissionFairSharing, VictimsComeFromTheLocalQueueThatUsedMore) {
  within = PreemptionPolicy::lower_priority;
  start(8'000);
  w.observe(w.workload("of-x", "x", 4'000, 0));
  (void)w.settle();
  pass(3'000);
  w.observe(w.workload("of-y", "y", 4'000, 0));  // the later reservation, which would go first otherwise
  (void)w.settle();
  w.observe(w.workload("new", "y", 4'000, 10));
  EXPECT_EQ(w.settle(), (std::vector<std::string>{"preempted of-x InClusterQueue", "requeued new WaitingForPreemptedWorkloads"}));
}

TEST_F(AdmissionFairSharing, TheModeCanBeTurnedOnAndOff) {
  start(0);
  w.observe(w.workload("low", "x", 1'000, 0));
  w.observe(w.workload("high", "y", 1'000, 100));
  w.queue({.name = "a", .cpu = 0, .mode = AdmissionMode::none});
  EXPECT_EQ(w.driver().queue(Symbol("a"))->ledger(Symbol("default"), Symbol("x")), nullptr);
  EXPECT_EQ(order(), (std::vector<std::string>{"high", "low"}));
  w.queue({.name = "a", .cpu = 0, .mode = AdmissionMode::usage_based});
  status("x", "3", w.now);
  EXPECT_EQ(order(), (std::vector<std::string>{"high", "low"}));
  w.configure(Settings{});  // the section is gone
  EXPECT_EQ(w.driver().queue(Symbol("a"))->ledger(Symbol("default"), Symbol("x")), nullptr);
  EXPECT_EQ(order(), (std::vector<std::string>{"high", "low"}));
}

/// Elastic job "train" of LocalQueue x, with pods of one cpu; some tests have a check that holds its slices up.
class ElasticFairSharing : public AdmissionFairSharing {
 protected:
  using Counts = std::initializer_list<std::int32_t>;

  /// The job as it is seen with these counts of its pod sets; the slice that it may get is called so.
  void job(Counts counts, const std::string& next_slice, bool suspended = false) {
    JobObserved j = w.job("train", "x");
    j.meta.generation = ++generation_;
    j.elastic = true;
    j.suspended = suspended;
    j.active = !j.suspended;
    j.workload_name = w.keep(next_slice);
    j.pod_sets = pod_sets(counts);
    w.observe(j);
    (void)w.settle();
  }
  /// The Workload of a slice; told again with other counts it is of the next generation.
  void slice(const std::string& name, Counts counts, const std::string& replaces = "") {
    auto o = w.workload(name, "x", 1'000);
    o.meta.generation = ++versions_[name];
    o.owner_uid = "job-train";
    o.owner_kind = "Job";
    o.owner_name = "train";
    o.elastic = true;
    o.slice_name = "first";
    if (!replaces.empty()) o.replacement_for = w.keep("default/" + replaces);
    o.pod_sets = pod_sets(counts);
    w.remember(o);
    w.observe(o);
    (void)w.settle();
    if (w.state(name).admitted()) written(name);
  }
  void written(std::string_view name) {
    w.observe(w.seen_as(name));
    (void)w.settle();
  }
  void hold(StopPolicy how) {
    w.queue({.name = "a", .cpu = 10'000, .stop = how, .mode = AdmissionMode::usage_based});
    (void)w.settle();
  }
  void ready(std::string_view name) {
    written(name);  // before the check's controller answers
    auto o = w.seen_as(name);
    auto checks = w.arena().make<CheckFacts>(1);
    checks[0].name = "k";
    checks[0].state = CheckState::ready;
    o.checks = checks;
    w.observe(o);
    (void)w.settle();
  }
  /// With one admitted slice of these counts.
  void runs(Counts counts) {
    start(10'000);
    job(counts, "first", true);
    slice("first", counts);
    if (!check.empty()) ready("first");
    job(counts, "second");
    ASSERT_TRUE(w.state("first").admitted());
  }

 private:
  List<PodSetFacts> pod_sets(Counts counts) {
    auto out = w.arena().make<PodSetFacts>(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      auto requests = w.arena().make<ResourceAmount>(1);
      requests[0] = {"cpu", 1'000};
      out[i].name = w.keep("pods-" + std::to_string(i));
      out[i].count = counts.begin()[i];
      out[i].requests = requests;
      out[i].shape_hash = out[i].template_hash = out[i].core_hash = 7;
    }
    return out;
  }
  std::int64_t generation_ = 0;
  std::map<std::string, std::int64_t> versions_;
};

// EJ-42: who grows from 4 to 6 pays for 2, and with time for what runs then
TEST_F(ElasticFairSharing, AReplacementPaysForTheDifferenceOnly) {
  runs({4});
  EXPECT_EQ(consumed("x"), 1'171'572'875);
  job({6}, "second");
  slice("second", {6}, "first");
  EXPECT_TRUE(w.state("second").admitted());
  EXPECT_TRUE(w.state("first").finished());
  EXPECT_EQ(consumed("x"), 1'171'572'875 + 585'786'437);
  EXPECT_EQ(penalty("x"), 0);
  pass(300);
  const Fraction fresh = decay(Duration::seconds(300), Duration::seconds(600));
  EXPECT_EQ(consumed("x"), scale(1'757'359'312, fresh.complement()) + scale(6'000'000'000, fresh)) << "the new slice alone runs";
}

// EJ-42, EJ-45: the same when the new slice has checks to wait for; what it waits with is the difference
TEST_F(ElasticFairSharing, AReplacementThatWaitsForItsChecksOwesTheDifference) {
  check = "k";
  runs({4});
  EXPECT_EQ(consumed("x"), 1'171'572'875);
  job({6}, "second");
  slice("second", {6}, "first");
  EXPECT_TRUE(w.state("second").reserved());
  EXPECT_FALSE(w.state("second").admitted());
  EXPECT_EQ(penalty("x"), 585'786'437);
  EXPECT_EQ(consumed("x"), 1'171'572'875);
  ready("second");
  EXPECT_TRUE(w.state("second").admitted());
  EXPECT_TRUE(w.state("first").finished());
  EXPECT_EQ(penalty("x"), 0);
  EXPECT_EQ(consumed("x"), 1'171'572'875 + 585'786'437);
}

// EJ-33, EJ-42: pods of one set for pods of another are no difference, and who asks for less gets nothing back
TEST_F(ElasticFairSharing, AReplacementThatAsksForNothingPaysNothing) {
  runs({2, 3});
  const auto paid = consumed("x");
  job({4, 1}, "second");
  slice("second", {4, 1}, "first");
  EXPECT_TRUE(w.state("second").admitted());
  EXPECT_EQ(consumed("x"), paid);
  w.observe(w.workload("of-y", "y", 5'000));
  (void)w.settle();
  job({5, 2}, "third");
  slice("third", {5, 2}, "second");
  EXPECT_FALSE(w.state("third").reserved()) << "the queue is full";
  job({2, 2}, "third");
  slice("third", {2, 2}, "second");
  EXPECT_TRUE(w.state("third").admitted());
  EXPECT_EQ(consumed("x"), paid);
}

// EJ-28, EJ-42: where the slice that it names has gone there is nothing to replace, and the whole is paid for
TEST_F(ElasticFairSharing, WhoStartsAnewPaysForAllOfIt) {
  runs({4});
  const auto paid = consumed("x");
  hold(StopPolicy::hold);
  job({6}, "second");
  slice("second", {6}, "first");
  w.observe(ObjectDeleted{ObjectKind::workload, "default", "first", "uid-first"});
  job({6}, "third", true);
  hold(StopPolicy::none);
  EXPECT_TRUE(w.state("second").admitted());
  written("second");
  EXPECT_EQ(consumed("x"), paid + 1'757'359'312);
}

}  // namespace
}  // namespace hindsight::admission::testing
