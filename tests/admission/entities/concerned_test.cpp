// A change of the configuration asks those that it concerns. What tenants may change as often as they like, their LocalQueues, asks their
// own jobs and nobody else's; and what nothing is decided by asks nobody.

#include <gtest/gtest.h>

#include "admission/state/snapshot.hpp"
#include "tests/admission/decided_afresh.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

constexpr int others = 40;

/// Many tenants with a namespace, a LocalQueue and two Workloads each: one runs, one waits.
class Concerned : public ::testing::Test {
 protected:
  FactWorld w;

  static std::string tenant(int i) { return "tenant-" + std::to_string(i); }

  void SetUp() override {
    w.flavor("default");
    for (int i = 0; i < others; ++i) {
      const std::string name = tenant(i);
      w.namespace_(name);
      w.queue({.name = name, .cpu = 1'000});
      queue(i, StopPolicy::none);
      for (const char* which : {"-runs", "-waits"}) w.observe(workload(i, which));
    }
    w.observe(MirrorSynced{});
    settle();
  }
  WorkloadObserved workload(int i, const char* which) {
    auto o = w.workload(tenant(i) + which, "lq", 1'000);
    o.meta.namespace_ = w.keep(tenant(i));
    return o;
  }
  LocalQueueObserved local_queue(int i, StopPolicy policy, std::string_view label = {}) {
    LocalQueueObserved o;
    o.meta.namespace_ = w.keep(tenant(i));
    o.meta.name = "lq";
    o.cluster_queue = o.meta.namespace_;
    o.stop_policy = policy;
    if (!label.empty()) {
      auto labels = w.arena().make<Pair>(1);
      labels[0] = {"team", w.keep(label)};
      o.labels = labels;
    }
    return o;
  }
  void queue(int i, StopPolicy policy, std::string_view label = {}) { w.observe(local_queue(i, policy, label)); }
  void settle() {
    (void)w.settle();
    w.tick(Duration::seconds(2));
    (void)w.settle();
  }
  /// Parents that are asked until nothing is left to decide.
  std::uint64_t asked() {
    const auto before = w.driver().domain().parents_asked();
    (void)w.settle();
    return w.driver().domain().parents_asked() - before;
  }
  void expect_nothing_left() {
    EXPECT_EQ(decided_afresh(w.driver(), [](Text) -> Result<Settings> { return Settings{}; }), "");
  }
};

TEST_F(Concerned, AQueueThatStopsAndGoesOnAsksItsMembers) {
  for (const StopPolicy policy : {StopPolicy::hold, StopPolicy::none, StopPolicy::hold_and_drain, StopPolicy::none}) {
    queue(7, policy);
    EXPECT_LE(asked(), 12U) << "of " << 2 * others;
    const auto text = w.pending("tenant-7-waits");
    EXPECT_EQ(text == "Suspended: LocalQueue lq is inactive", policy != StopPolicy::none) << text;
    expect_nothing_left();
  }
}

TEST_F(Concerned, ALabelOfAQueueAsksNobody) {
  for (int i = 0; i < 5; ++i) {
    queue(7, StopPolicy::none, "team-" + std::to_string(i));
    EXPECT_EQ(asked(), 0U);
    const auto* lq = w.driver().domain().catalog()->local_queue(Symbol(tenant(7)), Symbol("lq"));
    ASSERT_EQ(lq->labels.size(), 1U);
    EXPECT_EQ(lq->labels.front().second, "team-" + std::to_string(i)) << "it is known all the same";
  }
  expect_nothing_left();
}

TEST_F(Concerned, AStatusOfAQueueAsksNobody) {
  auto o = local_queue(7, StopPolicy::none);
  o.consumed_at = w.now;
  w.observe(o);
  EXPECT_EQ(asked(), 0U);
  expect_nothing_left();
}

TEST_F(Concerned, AQueueThatGoesAndComesAsksItsMembers) {
  w.observe(ObjectDeleted{ObjectKind::local_queue, w.keep(tenant(7)), "lq", {}});
  EXPECT_LE(asked(), 8U);
  EXPECT_EQ(w.pending("tenant-7-waits"), "Misconfigured: LocalQueue lq doesn't exist");
  expect_nothing_left();
  queue(7, StopPolicy::none);
  EXPECT_LE(asked(), 8U);
  EXPECT_NE(w.pending("tenant-7-waits"), "Misconfigured: LocalQueue lq doesn't exist");
  expect_nothing_left();
  w.observe(ObjectDeleted{ObjectKind::local_queue, w.keep(tenant(7)), "of-nobody", {}});
  EXPECT_EQ(asked(), 0U);
}

TEST_F(Concerned, LabelsOfANamespaceAskThoseThatAreInIt) {
  w.namespace_(tenant(7), "colour");
  EXPECT_LE(asked(), 6U);
  expect_nothing_left();
  w.observe(ObjectDeleted{ObjectKind::namespace_, {}, w.keep(tenant(7)), {}});
  EXPECT_LE(asked(), 6U);
  expect_nothing_left();
}

// A job of a namespace that is looked after from now on is queued.
TEST_F(Concerned, AJobHearsOfItsNamespace) {
  Settings settings;
  settings.managed_jobs_namespaces = {{Symbol("managed"), SelectorOperator::exists, {}}};
  w.configure(settings);
  auto j = w.job("j", "lq");
  j.meta.namespace_ = w.keep(tenant(3));
  w.observe(j);
  EXPECT_EQ(w.settle(), Lines{});
  w.namespace_(tenant(4), "managed");
  EXPECT_EQ(w.settle(), Lines{});
  w.namespace_(tenant(3), "managed");
  EXPECT_EQ(w.settle(), Lines{"requested job-j"});
}

/// Whoever is a member is so by what was seen last, not by what is told late.
TEST_F(Concerned, AWorkloadThatMovedHearsOfItsNewQueue) {
  LocalQueueObserved other = local_queue(7, StopPolicy::none);
  other.meta.name = "other";
  w.observe(other);
  const auto before = workload(7, "-moves");
  auto after = before;
  after.meta.resource_version = w.next_version();
  after.queue_name = "other";
  w.observe(before);
  w.observe(after);
  w.observe(before);  // told late
  (void)w.settle();
  other.stop_policy = StopPolicy::hold;
  w.observe(other);
  EXPECT_GT(asked(), 0U);
  EXPECT_EQ(w.pending("tenant-7-moves"), "Suspended: LocalQueue other is inactive");
  // and from a snapshot
  FactWorld copy;
  copy.now = w.now;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  copy.observe(before);
  (void)copy.settle();
  other.stop_policy = StopPolicy::none;
  copy.observe(other);
  (void)copy.settle();
  EXPECT_NE(copy.pending("tenant-7-moves"), "Suspended: LocalQueue other is inactive");
}

/// A step that circles is left out until something happens to whom it is about: a change of his own queue is something, one of another
/// tenant's is nothing. Else whoever flips a label keeps the circles of all others going.
TEST_F(Concerned, CirclesOfOthersRestOn) {
  auto gated = workload(3, "-gated");
  gated.admission_gated_by = "a.io/x";
  w.observe(gated);
  (void)w.settle();
  const auto plant = [&](std::string_view uid) {
    Domain::Step step;
    step.base = w.driver().domain().sequence();
    step.kind = StepKind::life_cycle;
    const WorkloadRef workload{uid, gated.meta.namespace_, gated.meta.name};
    step.events = {ConditionChanged{workload, ConditionType::quota_reserved, ConditionStatus::false_, "AdmissionGated", "planted", false}};
    w.observe_decision(step);
  };
  const Lines again{"condition tenant-3-gated AdmissionGated"};
  plant(gated.meta.uid);
  ASSERT_EQ(w.settle(), again);
  plant(gated.meta.uid);
  ASSERT_EQ(w.settle(), Lines{});
  queue(7, StopPolicy::hold);
  (void)w.settle();
  queue(7, StopPolicy::none, "label");
  (void)w.settle();
  EXPECT_EQ(w.pending("tenant-3-gated"), "AdmissionGated: planted");
  gated.meta.resource_version = 0;
  w.observe(gated);  // nothing that happens
  EXPECT_EQ(w.settle(), Lines{});
  auto weight = local_queue(3, StopPolicy::none);
  weight.fair_weight_nano = 5;
  w.observe(weight);
  EXPECT_EQ(w.settle(), again);
}

}  // namespace
}  // namespace hindsight::admission::testing
