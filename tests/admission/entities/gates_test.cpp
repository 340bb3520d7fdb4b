// Gate annotations on the level of facts: settings that change, epochs, repeats, and what stands in a snapshot.

#include <gtest/gtest.h>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

class GateFacts : public ::testing::Test {
 protected:
  FactWorld w;

  void SetUp() override {
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "cq", .cpu = 10'000});
    w.local_queue("lq", "cq");
    w.observe(MirrorSynced{});
    use(true);
    w.tick(Duration::seconds(2));
    (void)w.settle();
  }
  void use(bool scheduling, bool admission = true) {
    Settings settings;
    settings.scheduling_gated_by = scheduling;
    settings.admission_gated_by = admission;
    w.configure(settings);
  }
  JobObserved show(std::string_view gate, std::string_view admission_gate = {}) {
    JobObserved j = w.job("train", "lq");
    j.scheduling_gated_by = gate;
    j.admission_gated_by = admission_gate;
    w.observe(j);
    return j;
  }
};

// SG-6
TEST_F(GateFacts, SwitchedOffTheyReleaseWhatTheyHeld) {
  show("a.io/x");
  EXPECT_EQ(w.settle(), Lines{"gate observed a.io/x"});
  use(false);
  EXPECT_EQ(w.settle(), (Lines{"gate cleared a.io/x", "requested job-train"}));
  use(true);
  EXPECT_EQ(w.settle(), Lines{"gate ignored a.io/x"}) << "it has its Workload now";
  use(false);
  use(true);
  EXPECT_EQ(w.settle(), Lines{});
}

// SG-35, SG-36
TEST_F(GateFacts, AReleaseThatNobodySawIsSeenAtTheNextStart) {
  const JobObserved held = show("a.io/x");
  EXPECT_EQ(w.settle(), Lines{"gate observed a.io/x"});
  w.observe(held);
  w.observe_epoch();
  EXPECT_EQ(w.settle(), Lines{}) << "neither repeats nor a new writer tell it again";
  const JobObserved free = show("");
  w.observe_epoch();
  EXPECT_EQ(w.settle(), (Lines{"gate cleared a.io/x", "requested job-train"}));
  w.observe(free);
  w.observe_epoch();
  EXPECT_EQ(w.settle(), Lines{});
}

// SG-75
TEST_F(GateFacts, ASnapshotKnowsWhoIsHeldSinceWhen) {
  show("a.io/x", "b.io/y");
  auto wl = w.workload("own", "lq", 1'000);
  wl.admission_gated_by = "c.io/z";
  w.observe(wl);
  (void)w.settle();
  const auto bytes = SnapshotCodec::write(w.driver());
  LoopDriver copy([](Text) -> Result<Settings> {
    Settings settings;
    settings.scheduling_gated_by = true;
    return settings;
  });
  ASSERT_TRUE(SnapshotCodec::read(bytes, copy).has_value());
  EXPECT_EQ(copy.state_hash(), w.driver().state_hash());
  EXPECT_FALSE(copy.decide().has_value()) << "nothing is told again";
  const auto parent = copy.domain().find_parent("job-train");
  ASSERT_TRUE(parent.has_value());
  EXPECT_TRUE(copy.parent(*parent)->gated(*copy.domain().catalog()));
  EXPECT_EQ(copy.parent(*parent)->job()->gated_since, w.now);
}

// SG-63: found with a reservation it gives that back; found admitted it runs on.
TEST_F(GateFacts, AReservationOfAGatedWorkloadIsRemoved) {
  auto reserved = w.workload("reserved", "lq", 1'000);
  w.admit(reserved, "cq");
  auto conditions = w.arena().make<ConditionFacts>(1);
  conditions[0] = {ConditionType::quota_reserved, ConditionStatus::true_, "QuotaReserved", "m", w.now};
  reserved.conditions = conditions;
  auto checks = w.arena().make<CheckFacts>(1);
  checks[0].name = "c";
  reserved.checks = checks;
  reserved.admission_gated_by = "a.io/x";
  w.observe(reserved);
  auto admitted = w.workload("admitted", "lq", 1'000);
  w.admit(admitted, "cq");
  admitted.admission_gated_by = "a.io/x";
  w.observe(admitted);
  (void)w.settle();
  EXPECT_FALSE(w.state("reserved").reserved());
  EXPECT_EQ(w.pending("reserved"), "AdmissionGated: Admission is gated by: a.io/x");
  EXPECT_TRUE(w.state("admitted").admitted());
  EXPECT_TRUE(w.state("admitted").gate_noted.empty());
}

// SG-64, SG-65
TEST_F(GateFacts, OtherReasonsComeFirstAndTheGateIsToldOnce) {
  auto wl = w.workload("own", "nowhere", 1'000);
  wl.admission_gated_by = "a.io/x";
  w.observe(wl);
  EXPECT_EQ(w.settle().front(), "gate observed a.io/x");
  EXPECT_EQ(w.pending("own"), "Misconfigured: LocalQueue nowhere doesn't exist");
  w.local_queue("nowhere", "cq");
  EXPECT_EQ(w.settle(), Lines{"condition own AdmissionGated"});
  LocalQueueObserved stopped;
  stopped.meta.namespace_ = "default";
  stopped.meta.name = "nowhere";
  stopped.cluster_queue = "cq";
  stopped.stop_policy = StopPolicy::hold;
  stopped.stop_policy_set = true;
  w.observe(stopped);
  EXPECT_EQ(w.settle(), Lines{"condition own Suspended"});
  w.local_queue("nowhere", "cq");
  EXPECT_EQ(w.settle(), Lines{"condition own AdmissionGated"});
  wl.admission_gated_by = "";
  wl.meta.resource_version = w.next_version();
  w.observe(wl);
  const auto open = w.settle();
  ASSERT_GE(open.size(), 3U);
  EXPECT_EQ(open[0], "gate cleared a.io/x");
  EXPECT_EQ(open[1], "condition own PendingEvaluation");
  EXPECT_EQ(open[2], "reserved own admitted");
}

// SG-26
TEST_F(GateFacts, EachAttemptToRunIsStoppedAndToldOnce) {
  show("a.io/x");
  (void)w.settle();
  JobObserved runs = w.job("train", "lq");
  runs.scheduling_gated_by = "a.io/x";
  runs.suspended = false;
  w.observe(runs);
  EXPECT_EQ(w.settle(), Lines{"stopped train"});
  const auto wanted = w.wanted<JobIntent>();
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_FALSE(wanted[0].run);
  runs.active = true;
  runs.meta.resource_version = w.next_version();
  w.observe(runs);
  EXPECT_EQ(w.settle(), Lines{}) << "still the same attempt";
}

}  // namespace
}  // namespace hindsight::admission::testing
