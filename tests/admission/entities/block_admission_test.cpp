// waitForPodsReady.blockAdmission over all trees (BA-76, base-admission §6.2 step 10).

#include <gtest/gtest.h>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

class BlockAdmission : public ::testing::Test {
 protected:
  FactWorld w;
  void SetUp() override {
    Settings settings;
    settings.block_admission = true;
    w.configure(settings);
    w.namespace_("default");
    w.flavor("default");
    for (const char* name : {"a", "b", "c"}) {
      w.queue({.name = name, .cpu = 10'000});  // each a tree of its own
      w.local_queue(std::string("l") + name, name);
    }
    w.observe(MirrorSynced{});
    w.tick(Duration::seconds(2));
    (void)w.settle();
  }
  void ready(WorkloadObserved o, bool ready) {
    o.meta.resource_version = w.next_version();
    const ConditionFacts c{ConditionType::pods_ready, ready ? ConditionStatus::true_ : ConditionStatus::false_,
                           ready ? "Started" : "WaitForStart", "m", w.now};
    o.conditions = {&c, 1};
    w.observe(o);
  }
  static constexpr const char* waiting = "WaitingForPodsReady: waiting for all admitted workloads to be in PodsReady condition";
};

// BA-76
TEST_F(BlockAdmission, WhatIsAdmittedAnywhereMustBeReadyFirst) {
  const auto first = w.workload("first", "la", 1'000);
  w.observe(first);
  EXPECT_EQ(w.settle(), Lines{"reserved first admitted"});
  w.observe(w.workload("second", "lb", 1'000));
  w.observe(w.workload("third", "la", 1'000));
  EXPECT_EQ(w.settle(), (Lines{"requeued third WaitingForPodsReady", "requeued second WaitingForPodsReady"}));
  EXPECT_EQ(w.pending("second"), waiting);
  EXPECT_EQ(w.pending("third"), waiting);
  ready(first, false);
  EXPECT_EQ(w.settle(), Lines{});
  ready(first, true);
  EXPECT_EQ(w.settle(), (Lines{"reserved second admitted"})) << "the earlier one, and the other one waits for it";
  EXPECT_EQ(w.pending("third"), waiting);
}

// BA-76: of several trees in one cycle one entry is admitted, the first in the order of entries
TEST_F(BlockAdmission, OneEntryIsAdmittedInACycleOverAllTrees) {
  w.observe(w.workload("low", "la", 1'000, 0));
  w.observe(w.workload("high", "lb", 1'000, 7));
  w.observe(w.workload("mid", "lc", 1'000, 3));
  EXPECT_EQ(w.settle(), (Lines{"requeued low WaitingForPodsReady", "reserved high admitted", "requeued mid WaitingForPodsReady"}));
}

// BA-76: what has gone or finished is not waited for
TEST_F(BlockAdmission, NobodyWaitsForWhatHasGone) {
  w.observe(w.workload("first", "la", 1'000));
  (void)w.settle();
  w.observe(w.workload("second", "lb", 1'000));
  (void)w.settle();
  w.observe(ObjectDeleted{ObjectKind::workload, "default", "first", "uid-first"});
  EXPECT_EQ(w.settle(), Lines{"reserved second admitted"});
}

// Pods that become unready later hold up the next admission.
TEST_F(BlockAdmission, ReadinessThatIsLostBlocksAgain) {
  const auto first = w.workload("first", "la", 1'000);
  w.observe(first);
  (void)w.settle();
  ready(first, true);
  (void)w.settle();
  ready(first, false);
  w.observe(w.workload("second", "lb", 1'000));
  EXPECT_EQ(w.settle(), Lines{"requeued second WaitingForPodsReady"});
}

// Without the setting nothing waits, and switching it off lets all through.
TEST_F(BlockAdmission, SwitchedOffItLetsAllThrough) {
  w.observe(w.workload("first", "la", 1'000));
  (void)w.settle();
  w.observe(w.workload("second", "lb", 1'000));
  (void)w.settle();
  w.configure(Settings{});
  w.observe(w.workload("third", "lb", 1'000));
  EXPECT_EQ(w.settle(), (Lines{"reserved second admitted", "reserved third admitted"}));
}

TEST_F(BlockAdmission, ASnapshotKnowsWhoIsNotReady) {
  w.observe(w.workload("first", "la", 1'000));
  (void)w.settle();
  FactWorld copy;
  copy.now = w.now;
  Settings settings;
  settings.block_admission = true;
  copy.use(settings);
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  copy.observe(w.workload("second", "lb", 1'000));
  EXPECT_EQ(copy.settle(), Lines{"requeued second WaitingForPodsReady"});
}

}  // namespace
}  // namespace hindsight::admission::testing
