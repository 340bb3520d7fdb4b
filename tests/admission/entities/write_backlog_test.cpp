// Cycles that wait until the API server has what was decided before (D15), in a whole domain.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

/// A queue with room for all, in which `a`, `b`, `c`, `d` wait in this order. A cycle admits one.
class AdmissionsAhead : public ::testing::Test {
 protected:
  void start(std::uint32_t writes, Settings settings = {}, std::uint32_t rules = rules_version) {
    if (rules != rules_version) w.observe_epoch(rules);
    w.configure(settings);
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "q", .cpu = 100'000});
    w.local_queue("lq", "q");
    w.observe(MirrorSynced{});
    if (writes != 0) w.observe(WriteLimitObserved{writes});
    for (const char* name : {"a", "b", "c", "d"}) w.observe(w.workload(name, "lq", 1'000));
  }
  [[nodiscard]] const Domain& domain() { return w.driver().domain(); }
  /// Those that get quota until the domain rests.
  Lines admitted() {
    Lines out;
    for (const auto& line : w.settle())
      if (line.starts_with("reserved ")) out.push_back(line.substr(9, 1));
    return out;
  }
  void written(std::string_view name) { w.observe(w.seen_as(name)); }
  void gone(std::string_view name) {
    ObjectDeleted o;
    o.kind = ObjectKind::workload;
    o.namespace_ = "default";
    o.name = name;
    const std::string uid = "uid-" + std::string(name);
    o.uid = uid;
    w.observe(o);
  }
  void refused(std::string_view name) {
    WriteRefused o;
    o.kind = ObjectKind::workload;
    o.namespace_ = "default";
    o.name = name;
    const std::string uid = "uid-" + std::string(name);
    o.uid = uid;
    o.http_status = 422;
    o.message = "no";
    w.observe(o);
  }
  FactWorld w;
};

// BA-40, D15
TEST_F(AdmissionsAhead, AreBoundedByWhatTheServerTakes) {
  start(1);
  EXPECT_EQ(admitted(), (Lines{"a", "b"})) << "two for each write, by default";
  EXPECT_TRUE(domain().waits_for_writes());
  written("a");
  EXPECT_EQ(admitted(), Lines{"c"});
  w.observe(w.workload("0", "lq", 1'000, 100));
  EXPECT_EQ(admitted(), Lines{}) << "its turn has not come";
  written("c");
  EXPECT_EQ(admitted(), Lines{"0"}) << "what came meanwhile goes before what was there";
  written("b");
  written("0");
  EXPECT_EQ(admitted(), Lines{"d"});
  EXPECT_FALSE(domain().waits_for_writes());
}

TEST_F(AdmissionsAhead, CountForASecond) {
  start(1);
  const Time began = w.now;
  EXPECT_EQ(admitted(), (Lines{"a", "b"}));
  w.tick(Duration::millis(500));  // who was parked when the queue came is awake by then
  EXPECT_EQ(admitted(), Lines{});
  EXPECT_EQ(domain().next_due(), began + Duration::seconds(1)) << "somebody has to wake the domain then";
  EXPECT_EQ(domain().next_due_after(began), began + Duration::seconds(1));
  w.tick(Duration::millis(499));
  EXPECT_EQ(admitted(), Lines{});
  w.tick(Duration::millis(1));
  EXPECT_EQ(admitted(), (Lines{"c", "d"})) << "whose writes never come keeps nobody waiting for longer";
  w.tick(Duration::seconds(1));
  EXPECT_EQ(domain().write_backlog().size(), 0U);
  EXPECT_FALSE(domain().next_due().is_set());
}

TEST_F(AdmissionsAhead, AreOverWhenRefusedOrGone) {
  start(1);
  EXPECT_EQ(admitted(), (Lines{"a", "b"}));
  refused("a");
  EXPECT_EQ(domain().write_backlog().size(), 1U);
  gone("b");
  EXPECT_EQ(domain().write_backlog().size(), 0U);
  EXPECT_EQ(admitted(), (Lines{"a", "c"})) << "what was refused is tried again, as ever";
}

TEST_F(AdmissionsAhead, AreWithoutEndWhereNothingIsKnown) {
  start(0);
  EXPECT_EQ(admitted(), (Lines{"a", "b", "c", "d"}));
  EXPECT_EQ(domain().write_backlog().size(), 0U);
}

TEST_F(AdmissionsAhead, AreWithoutEndWhenTheLimitGoes) {
  start(1);
  EXPECT_EQ(admitted(), (Lines{"a", "b"}));
  w.observe(WriteLimitObserved{0});
  EXPECT_EQ(admitted(), (Lines{"c", "d"}));
}

TEST_F(AdmissionsAhead, FollowTheConfiguration) {
  Settings settings;
  settings.admissions_ahead = 3;
  start(1, settings);
  EXPECT_EQ(admitted(), (Lines{"a", "b", "c"}));
  settings.admissions_ahead = 0;
  w.configure(settings);
  EXPECT_EQ(admitted(), Lines{"d"}) << "0: as in Kueue";
}

TEST_F(AdmissionsAhead, AreWithoutEndByEarlierRules) {
  start(1, {}, rules_with_write_backlog - 1);
  EXPECT_EQ(admitted(), (Lines{"a", "b", "c", "d"}));
}

// However many are decided in a second, what is noted of them is bounded.
TEST_F(AdmissionsAhead, AreNotedUpToABound) {
  Settings settings;
  settings.admissions_ahead = 0;
  start(1, settings);
  std::size_t all = 0;
  for (int i = 0; i < 1'100; ++i) {
    w.observe(w.workload("w" + std::to_string(i), "lq", 10));
    all += admitted().size();
  }
  EXPECT_EQ(all, 1'104U);
  EXPECT_EQ(domain().write_backlog().size(), 1'024U);
  w.tick(Duration::seconds(1));
  EXPECT_EQ(domain().write_backlog().size(), 0U);
}

TEST_F(AdmissionsAhead, OneCycleGoesBeyondByOneForEachQueue) {
  w.observe(MirrorSynced{});
  w.observe(WriteLimitObserved{1});
  w.namespace_("default");
  w.flavor("default");
  for (const char* queue : {"q1", "q2", "q3", "q4"}) {
    w.queue({.name = queue, .cpu = 100'000});
    w.local_queue(std::string("l") + queue, queue);
  }
  for (const char* name : {"a", "b", "c", "d"}) w.observe(w.workload(name, "lq" + std::to_string(name[0] - 'a' + 1), 1'000));
  EXPECT_EQ(admitted().size(), 4U);
}

// What lets work go on waits for nobody: a Workload that ends while cycles wait is heard of at once.
TEST_F(AdmissionsAhead, KeepNoLifeCycleWaiting) {
  start(1);
  EXPECT_EQ(admitted(), (Lines{"a", "b"}));
  auto inactive = w.seen_as("a");
  inactive.active = false;
  w.observe(inactive);
  EXPECT_EQ(admitted(), Lines{"c"}) << "a is written, so there is room for one";
  EXPECT_TRUE(domain().waits_for_writes());
  EXPECT_TRUE(w.state("a").evicted());
}

// BA-154: it is state: in snapshots, and in the hash
TEST_F(AdmissionsAhead, ASnapshotGoesOnAlike) {
  start(1);
  EXPECT_EQ(admitted(), (Lines{"a", "b"}));
  FactWorld copy;
  copy.now = w.now;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  EXPECT_TRUE(copy.driver().domain().waits_for_writes());
  EXPECT_EQ(copy.driver().domain().next_due(), domain().next_due());
  EXPECT_EQ(copy.settle(), Lines{});
  const auto before = w.driver().state_hash();
  w.observe(WriteLimitObserved{2});
  EXPECT_NE(w.driver().state_hash(), before);
}

}  // namespace
}  // namespace hindsight::admission::testing
