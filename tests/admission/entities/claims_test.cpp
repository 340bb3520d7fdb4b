// Room that is kept for one that was passed over (D14), in a whole domain: how long, what ends it, and what the log says of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

/// 45 cores: 25 are `top`'s and 20 `large`'s. Of `small`, which only borrows, `slow` holds 10 and `old` 15. `waits` needs what `slow` has,
/// and `slow` takes its time. Meanwhile the 20 free cores are enough for `claims`, but 5 are left of them behind `waits`: enough for
/// `little`, which borrows, and which `claims` could preempt.
class RoomOfOneThatWaits : public ::testing::Test {
 protected:
  void start(std::uint32_t rules = rules_version, Settings settings = {}) {
    if (rules != rules_version) w.observe_epoch(rules);
    w.configure(settings);
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "top", .cohort = "all", .cpu = 25'000, .reclaim = PreemptionPolicy::any});
    w.queue({.name = "large", .cohort = "all", .cpu = 20'000, .reclaim = PreemptionPolicy::any});
    w.queue({.name = "small", .cohort = "all"});
    w.queue({.name = "other", .cohort = "all"});
    for (const auto* queue : {"top", "large", "small", "other"}) w.local_queue(std::string("l-") + queue, queue);
    w.observe(MirrorSynced{});
    w.observe(w.workload("slow", "l-small", 10'000, -9));
    (void)w.settle();
    w.observe(w.workload("old", "l-small", 15'000, -2));
    (void)w.settle();
    w.tick(Duration::seconds(10));
    (void)w.settle();
    w.on_record = [this](const RecordView& r) { note(r); };
    w.observe(w.workload("waits", "l-top", 25'000, 100));
    w.observe(w.workload("claims", "l-large", 20'000));
    w.observe(w.workload("little", "l-other", 3'000, -5));
  }
  /// For whom entries were withheld, as the records say.
  void note(const RecordView& r) {
    const auto* d = std::get_if<Decisions>(&r.body);
    if (d == nullptr) return;
    for (const Event& e : d->events)
      if (const auto* q = std::get_if<EntryRequeued>(&e); q != nullptr && !q->claimant.uid.empty())
        withheld.push_back(std::string(q->workload.name) + " for " + std::string(q->claimant.name));
  }
  [[nodiscard]] static bool has(const Lines& lines, std::string_view line) { return std::ranges::find(lines, line) != lines.end(); }
  FactWorld w;
  Lines withheld;
};

TEST_F(RoomOfOneThatWaits, IsKeptForASecond) {
  start();
  const Time began = w.now;
  auto decided = w.settle();
  EXPECT_FALSE(w.state("little").reserved());
  EXPECT_EQ(w.pending("little"), "WaitingForQuota: Workload no longer fits after processing another workload");
  EXPECT_EQ(withheld, Lines{"little for claims"}) << "told once";
  ASSERT_EQ(w.driver().domain().claims().all().size(), 1U);
  EXPECT_EQ(w.driver().domain().next_due(), began + Duration::seconds(1));
  w.tick(Duration::millis(999));
  EXPECT_EQ(w.settle(), Lines{});
  w.tick(Duration::millis(1));
  decided = w.settle();
  EXPECT_TRUE(has(decided, "reserved little admitted")) << "its turn has come";
  EXPECT_TRUE(has(decided, "preempted little InCohortReclamation")) << "as it would have been without the rule, too";
  EXPECT_FALSE(w.driver().domain().next_due().is_set()) << "of what has ended nobody is reminded";
}

TEST_F(RoomOfOneThatWaits, IsGivenAwayByEarlierRules) {
  start(rules_with_claims - 1);
  EXPECT_TRUE(has(w.settle(), "reserved little admitted"));
  EXPECT_EQ(withheld, Lines{});
}

TEST_F(RoomOfOneThatWaits, IsGivenAwayWhereTheConfigurationSaysSo) {
  Settings settings;
  settings.claim_duration = {};
  start(rules_version, settings);
  EXPECT_TRUE(has(w.settle(), "reserved little admitted"));
  EXPECT_EQ(withheld, Lines{});
}

TEST_F(RoomOfOneThatWaits, IsNotKeptAgainAtOnce) {
  start();
  (void)w.settle();
  w.tick(Duration::seconds(1));
  (void)w.settle();  // little was admitted and preempted
  const auto& claims = w.driver().domain().claims();
  w.observe(w.workload("another", "l-other", 2'000, -6));
  EXPECT_TRUE(claims.is_known("uid-claims")) << "something is new, but the claim has just ended";
  w.tick(Duration::millis(999));
  w.observe(w.workload("another", "l-other", 3'000, -6));
  EXPECT_TRUE(claims.is_known("uid-claims"));
  w.tick(Duration::millis(1));
  EXPECT_TRUE(claims.is_known("uid-claims")) << "time alone is no news";
  w.observe(w.workload("another", "l-other", 1'000, -7));
  EXPECT_FALSE(claims.is_known("uid-claims"));
}

TEST_F(RoomOfOneThatWaits, IsFreeWhenTheClaimantHasQuotaOrGoes) {
  start();
  (void)w.settle();
  EXPECT_TRUE(w.driver().domain().claims().is_known("uid-claims"));
  ObjectDeleted gone;
  gone.kind = ObjectKind::workload;
  gone.namespace_ = "default";
  gone.name = "claims";
  gone.uid = "uid-claims";
  w.observe(gone);
  EXPECT_TRUE(w.driver().domain().claims().all().empty());
  EXPECT_TRUE(has(w.settle(), "reserved little admitted"));
}

// BA-154: claims are state: in snapshots, and in the hash
TEST_F(RoomOfOneThatWaits, ASnapshotGoesOnAlike) {
  start();
  (void)w.settle();
  FactWorld copy;
  copy.now = w.now;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  EXPECT_TRUE(copy.driver().domain().claims().is_known("uid-claims"));
  EXPECT_EQ(copy.driver().domain().next_due(), w.driver().domain().next_due());
  for (FactWorld* f : {&w, &copy}) {
    f->tick(Duration::seconds(1));
    EXPECT_TRUE(has(f->settle(), "reserved little admitted"));
  }
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
}

TEST_F(RoomOfOneThatWaits, OtherRulesAreAnotherMatter) {
  start();
  (void)w.settle();
  Settings settings;
  settings.claim_duration = Duration::seconds(5);
  w.configure(settings);
  EXPECT_TRUE(w.driver().domain().claims().all().empty());
  (void)w.settle();
  EXPECT_EQ(w.driver().domain().next_due(), w.now + Duration::seconds(5));
}

/// Two queues of 3 cores each in a cohort. One of `first`'s and all of `second`'s, and more, are given away when the room of `big` is free.
TEST(NextInAQueue, IsNotPreemptedFor) {
  for (const bool claims : {false, true}) {
    FactWorld w;
    Settings settings;
    settings.claim_duration = claims ? Duration::seconds(1) : Duration{};
    w.configure(settings);
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "first", .cohort = "all", .cpu = 3'000, .reclaim = PreemptionPolicy::any});
    w.queue({.name = "second", .cohort = "all", .cpu = 3'000, .reclaim = PreemptionPolicy::any});
    w.local_queue("l-first", "first");
    w.local_queue("l-second", "second");
    w.observe(MirrorSynced{});
    w.observe(w.workload("own", "l-second", 3'000, 9));
    (void)w.settle();
    for (const auto* name : {"a", "b", "c"}) w.observe(w.workload(name, "l-first", 1'000, 5));
    w.observe(w.workload("borrows", "l-second", 1'000));
    Lines decided = w.settle();
    const auto has = [&](std::string_view line) { return std::ranges::find(decided, line) != decided.end(); };
    EXPECT_EQ(has("reserved borrows admitted"), !claims);
    EXPECT_EQ(has("preempted borrows InCohortReclamation"), !claims);
    for (const auto* name : {"a", "b", "c"}) EXPECT_EQ(w.state(name).reserved(), claims || std::string_view(name) != "c") << name;
  }
}

}  // namespace
}  // namespace hindsight::admission::testing
