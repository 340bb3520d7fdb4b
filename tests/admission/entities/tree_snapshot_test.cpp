// Snapshots of the trees of cohorts that concern one Workload: what is decided of them is decided alike.

#include <gtest/gtest.h>

#include <algorithm>

#include "admission/queue/cluster_queue.hpp"
#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

/// Two queues of one cohort, and one that stands by itself; each has Workloads that run and some that wait.
void fill_two_trees(FactWorld& w) {
  w.namespace_("default");
  w.flavor("default");
  w.queue({.name = "a", .cohort = "all", .cpu = 4'000, .within = PreemptionPolicy::lower_priority, .reclaim = PreemptionPolicy::any});
  w.queue({.name = "b", .cohort = "all", .cpu = 4'000, .strategy = QueueingStrategy::strict_fifo});
  w.queue({.name = "c", .cpu = 4'000});
  w.local_queue("la", "a");
  w.local_queue("lb", "b");
  w.local_queue("lc", "c");
  w.observe(MirrorSynced{});
  const std::string_view queues[] = {"lc", "la", "lb"};
  for (int i = 0; i < 24; ++i) {
    w.observe(w.workload("w" + std::to_string(i), queues[i % 3], 1'000 * (1 + i % 4), i % 5));
    if (i % 2 == 0) (void)w.settle();
    w.tick(Duration::millis(700));
  }
  (void)w.settle();
}

std::uint32_t parent_number(FactWorld& w, const std::string& name) { return w.driver().domain().find_parent("uid-" + name).value(); }

std::vector<std::string> line_of(const FactWorld& w, std::string_view queue) {
  std::vector<std::string> out;
  for (const auto& x : const_cast<FactWorld&>(w).driver().queue(Symbol(queue))->waiting())
    out.push_back(std::string(x.workload->uid.text()) + (x.parked ? " parked" : ""));
  return out;
}

TEST(TreeSnapshot, HasTheTreeAndNothingElse) {
  FactWorld w, part;
  fill_two_trees(w);
  const auto whole = SnapshotCodec::write(w.driver());
  const auto bytes = SnapshotCodec::write_tree(w.driver().entities(), parent_number(w, "w1"));
  EXPECT_LT(bytes.size(), whole.size());
  ASSERT_TRUE(SnapshotCodec::read(bytes, part.driver()));
  const auto& domain = part.driver().domain();
  EXPECT_EQ(domain.parent_count(), 16U);
  EXPECT_EQ(domain.sequence(), w.driver().domain().sequence());
  EXPECT_NE(part.driver().queue(Symbol("b")), nullptr);
  EXPECT_EQ(part.driver().queue(Symbol("c")), nullptr);
  EXPECT_FALSE(domain.find_parent("uid-w0").has_value());
  for (const std::string_view queue : {"a", "b"}) {
    EXPECT_FALSE(line_of(w, queue).empty());
    EXPECT_EQ(line_of(part, queue), line_of(w, queue));
    EXPECT_EQ(part.driver().queue(Symbol(queue))->reservations().size(), w.driver().queue(Symbol(queue))->reservations().size());
  }
}

TEST(TreeSnapshot, GoesOnAsTheWholeDoes) {
  FactWorld w, part;
  fill_two_trees(w);
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write_tree(w.driver().entities(), parent_number(w, "w1")), part.driver()));
  part.now = w.now;
  for (FactWorld* f : {&w, &part}) f->queue({.name = "b", .cohort = "all", .cpu = 9'000, .strategy = QueueingStrategy::strict_fifo});
  for (FactWorld* f : {&w, &part}) f->tick(Duration::seconds(2));
  const auto decided = w.settle();
  EXPECT_FALSE(decided.empty());
  EXPECT_EQ(part.settle(), decided);
  for (const std::string_view queue : {"a", "b"}) EXPECT_EQ(line_of(part, queue), line_of(w, queue));
}

// A Workload whose quota is in another tree than that of its queue brings both.
TEST(TreeSnapshot, WhoHoldsQuotaElsewhereBringsThatTree) {
  FactWorld w, part;
  fill_two_trees(w);
  w.local_queue("lc", "b");  // those that it has let in keep what they hold in "c"
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write_tree(w.driver().entities(), parent_number(w, "w1")), part.driver()));
  EXPECT_EQ(part.driver().domain().parent_count(), 24U);
  EXPECT_NE(part.driver().queue(Symbol("c")), nullptr);
  EXPECT_EQ(part.driver().queue(Symbol("c"))->reservations().size(), w.driver().queue(Symbol("c"))->reservations().size());
}

// BA-76: with blockAdmission trees wait for each other
TEST(TreeSnapshot, WhereTreesDependOnEachOtherItIsTheWhole) {
  FactWorld w;
  fill_two_trees(w);
  Settings settings;
  settings.block_admission = true;
  w.configure(settings);
  EXPECT_FALSE(SnapshotCodec::trees_are_apart(w.driver().domain()));
  EXPECT_EQ(SnapshotCodec::write_tree(w.driver().entities(), parent_number(w, "w1")), SnapshotCodec::write(w.driver()));
}

}  // namespace
}  // namespace hindsight::admission::testing
