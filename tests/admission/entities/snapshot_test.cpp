// Snapshots of a whole domain: written, read, and carried on from.

#include <gtest/gtest.h>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

void fill(FactWorld& w) {
  w.namespace_("default");
  w.flavor("default");
  w.queue({.name = "a", .cohort = "all", .cpu = 4'000, .within = PreemptionPolicy::lower_priority, .reclaim = PreemptionPolicy::any});
  w.queue({.name = "b", .cohort = "all", .cpu = 4'000, .strategy = QueueingStrategy::strict_fifo});
  w.local_queue("la", "a");
  w.local_queue("lb", "b");
  w.observe(MirrorSynced{});
  for (int i = 0; i < 12; ++i) {
    w.observe(w.workload("w" + std::to_string(i), i % 3 == 0 ? "lb" : "la", 1'000 * (1 + i % 4), i % 5));
    if (i % 2 == 0) (void)w.settle();
    w.tick(Duration::millis(700));
  }
}

// BA-154: what was pending, reserved and admitted is so again, with the same conditions
TEST(Snapshot, AReadSnapshotHasTheHashOfWhatWasWritten) {
  FactWorld w;
  fill(w);
  const auto bytes = SnapshotCodec::write(w.driver());
  FactWorld copy;
  ASSERT_TRUE(SnapshotCodec::read(bytes, copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  EXPECT_EQ(copy.driver().domain().next_due(), w.driver().domain().next_due());
}

TEST(Snapshot, BothGoOnAlike) {
  FactWorld w;
  fill(w);
  FactWorld copy;
  copy.now = w.now;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  for (FactWorld* f : {&w, &copy}) {
    f->tick(Duration::seconds(2));
    auto late = f->workload("late", "la", 2'000, 9);
    late.meta.resource_version = 1'000'000;
    f->observe(late);
  }
  EXPECT_EQ(w.settle(), copy.settle());
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
}

/// Numbers of parents and of Workloads are not the same: a job without a Workload takes one of the first kind and leaves it, and one with
/// two slices has two of the second.
TEST(Snapshot, OfAStateWhoseFirstObjectsHaveGone) {
  FactWorld w;
  w.observe(w.job("gone", ""));
  w.observe(ObjectDeleted{ObjectKind::job, "default", "gone", "job-gone", {}});
  fill(w);
  w.observe(ObjectDeleted{ObjectKind::workload, "default", "w1", "uid-w1", {}});
  (void)w.settle();
  FactWorld copy;
  const auto read = SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
}

TEST(Snapshot, OfAJobWithSeveralWorkloads) {
  FactWorld w;
  fill(w);
  const auto job = w.job("train", "la");
  w.observe(job);
  for (const char* name : {"slice-1", "slice-2", "slice-3"}) {
    auto slice = w.workload(name, "la", 1'000);
    slice.owner_uid = job.meta.uid;
    slice.owner_kind = "Job";
    slice.owner_name = job.meta.name;
    w.observe(slice);
  }
  (void)w.settle();
  FactWorld copy;
  const auto read = SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
}

TEST(Snapshot, DamagedBytesAreRefused) {
  FactWorld w;
  fill(w);
  const auto bytes = SnapshotCodec::write(w.driver());
  for (std::size_t cut = 0; cut < bytes.size(); cut += 97) {
    FactWorld copy;
    EXPECT_FALSE(SnapshotCodec::read(std::span(bytes).first(cut), copy.driver())) << cut;
  }
}

TEST(Snapshot, AnotherVersionIsNotRead) {
  FactWorld w;
  auto bytes = SnapshotCodec::write(w.driver());
  bytes[0] = std::byte{0x7F};
  FactWorld copy;
  const auto read = SnapshotCodec::read(bytes, copy.driver());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::unsupported);
}

}  // namespace
}  // namespace hindsight::admission::testing
