// Whoever keeps changing Workloads, so that there is always something to decide about their life cycles, keeps nobody from being admitted,
// and no timer from its effect (design rule 2).

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

constexpr std::uint64_t patience = Domain::life_cycle_steps_max;

class FairSteps : public ::testing::Test {
 protected:
  FactWorld w;
  int hostile = 0;

  void SetUp() override {
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "cq", .cpu = 1'000});
    w.queue({.name = "other", .cpu = 1'000});
    w.local_queue("lq", "cq");
    w.local_queue("lq-other", "other");
    w.observe(MirrorSynced{});
    w.tick(Duration::seconds(2));
    (void)w.settle();
  }
  /// A new Workload about whose life cycle there is something to decide at once, and never anything else.
  void change() {
    auto o = w.workload("hostile-" + std::to_string(++hostile), "lq-other", 1'000);
    o.admission_gated_by = "example.com/gate";
    w.observe(o);
  }
  [[nodiscard]] bool holds_quota(std::string_view name) const {
    const auto* c = w.state(name).find(ConditionType::quota_reserved);
    return c != nullptr && c->is_true();
  }
  /// One step is decided and recorded, and something was changed before it is read back: the domain never comes to rest.
  std::optional<StepKind> one_step() {
    change();
    const auto step = w.driver().decide();
    if (!step) return std::nullopt;
    w.observe_decision(*step);
    return step->kind;
  }
};

TEST_F(FairSteps, ACycleComesAfterSoManyStepsOfLifeCycles) {
  w.observe(w.workload("victim", "lq", 1'000));
  std::uint64_t life_cycles = 0;
  while (one_step() == StepKind::life_cycle) ASSERT_LE(++life_cycles, patience);
  EXPECT_EQ(life_cycles, patience);
  EXPECT_TRUE(holds_quota("victim"));
  // After it life cycles go first again.
  EXPECT_EQ(one_step(), StepKind::life_cycle);
}

TEST_F(FairSteps, ATimerThatIsDueComesAfterThem) {
  w.observe(w.workload("first", "lq", 1'000));
  (void)w.settle();
  w.observe(w.workload("victim", "lq", 1'000));
  (void)w.settle();
  w.observe(ObjectDeleted{ObjectKind::workload, "default", "first", "uid-first"});
  ASSERT_TRUE(w.driver().domain().next_due().is_set());
  w.now = w.now + Duration::seconds(2);
  std::uint64_t life_cycles = 0;
  StepKind kind = StepKind::life_cycle;
  while (kind == StepKind::life_cycle) {
    kind = one_step().value();
    ASSERT_LE(life_cycles += kind == StepKind::life_cycle ? 1 : 0, patience);
  }
  EXPECT_EQ(kind, StepKind::timers);
  EXPECT_EQ(one_step(), StepKind::cycle);
  EXPECT_TRUE(holds_quota("victim"));
}

TEST_F(FairSteps, WhereNobodyIsToBeAdmittedNothingElseWaits) {
  for (std::uint64_t i = 0; i < 3 * patience; ++i) ASSERT_EQ(one_step(), StepKind::life_cycle) << i;
  // Whoever comes then waits for nothing.
  w.observe(w.workload("victim", "lq", 1'000));
  EXPECT_EQ(one_step(), StepKind::cycle);
  EXPECT_TRUE(holds_quota("victim"));
}

TEST_F(FairSteps, ASnapshotKnowsHowLongCyclesHaveWaited) {
  w.observe(w.workload("victim", "lq", 1'000));
  for (std::uint64_t i = 0; i < patience; ++i) ASSERT_EQ(one_step(), StepKind::life_cycle) << i;
  LoopDriver copy([](Text) -> Result<Settings> { return Settings{}; });
  const auto read = SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(copy.state_hash(), w.driver().state_hash());
  const auto step = copy.decide();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->kind, StepKind::cycle);
}

}  // namespace
}  // namespace hindsight::admission::testing
