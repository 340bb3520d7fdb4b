// Objects that were set aside: what the domain knew of each stays as it was, it is not started and gets no quota, and what can still be
// read of a job is enough to take quota back. Records that were set aside have their place and no effect.

#include <gtest/gtest.h>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

class SetAside : public ::testing::Test {
 protected:
  FactWorld w;

  void SetUp() override {
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "cq", .cpu = 2'000, .within = PreemptionPolicy::lower_priority});
    w.local_queue("lq", "cq");
    w.observe(MirrorSynced{});
    w.tick(Duration::seconds(2));
    (void)w.settle();
  }
  void set_aside(ObjectKind kind, const ObjectMeta& meta, std::uint64_t version, std::string_view reason = "spec: found a, allowed: b") {
    w.observe(quarantine(kind, meta, version, reason));
  }
  ObjectQuarantined quarantine(ObjectKind kind, const ObjectMeta& meta, std::uint64_t version, std::string_view reason) {
    ObjectQuarantined q;
    q.kind = kind;
    q.api_kind = kind == ObjectKind::job ? "Job" : kind == ObjectKind::workload ? "Workload" : "ClusterQueue";
    q.namespace_ = meta.namespace_;
    q.name = meta.name;
    q.uid = meta.uid;
    q.resource_version = version;
    q.reason = w.keep(reason);
    return q;
  }
  /// A job that cannot be read any more, but for whether it runs.
  void set_aside(JobObserved job, bool suspended, bool active) {
    job.suspended = suspended;
    job.active = active;
    job.pod_sets = {};
    job.meta.resource_version = w.next_version();
    auto q = quarantine(ObjectKind::job, job.meta, job.meta.resource_version, "spec.template: found 1, allowed: an object");
    const auto list = w.arena().make<JobObserved>(1);
    list[0] = job;
    q.outline = list;
    w.observe(q);
  }
  /// A job with its Workload, admitted and running.
  JobObserved running(std::string_view name, Amount cpu) {
    auto j = w.job(name, "lq", cpu);
    w.observe(j);
    (void)w.settle();
    w.observe(w.workload_of(j));
    (void)w.settle();
    EXPECT_TRUE(w.state(name).admitted());
    seen(name, j);
    j.suspended = false;
    j.active = true;
    j.meta.resource_version = w.next_version();
    w.observe(j);
    (void)w.settle();
    (void)w.wanted<JobIntent>();
    return j;
  }
  void seen(std::string_view name, const JobObserved& j) {
    auto workload = w.seen_as(name);
    workload.owner_uid = j.meta.uid;
    workload.owner_kind = j.kind;
    workload.owner_name = j.meta.name;
    w.observe(workload);
  }
  /// What statuses of queues say of the condition Active, sorted.
  static Lines active(const std::vector<QueueStatusIntent>& statuses) {
    std::set<std::string> out;
    for (const auto& i : statuses)
      out.insert((i.local ? "lq/" + i.namespace_ + "/" : "cq/") + i.name + (i.active ? " True " : " False ") + i.active_reason + ": " +
                 i.active_message);
    return {out.begin(), out.end()};
  }
  [[nodiscard]] auto reserving() { return w.driver().queue(Symbol("cq"))->counters().reserving; }
  const std::map<std::string, Domain::Quarantined, std::less<>>& set_aside() { return w.driver().domain().quarantined(); }
};

TEST_F(SetAside, AWorkloadGetsNoQuotaAndSaysWhy) {
  auto o = w.workload("w", "lq", 1'000);
  w.observe(o);
  set_aside(ObjectKind::workload, o.meta, w.next_version());
  EXPECT_EQ(w.settle(), Lines{"condition w Misconfigured"});
  EXPECT_EQ(w.pending("w"), "Misconfigured: Set aside: spec: found a, allowed: b");
  EXPECT_EQ(reserving(), 0);
  ASSERT_EQ(set_aside().size(), 1U);
  EXPECT_EQ(set_aside().begin()->second.since, w.driver().domain().now());

  o.meta.resource_version = w.next_version();
  w.observe(o);
  EXPECT_TRUE(set_aside().empty());
  const auto done = w.settle();
  EXPECT_EQ(done.back(), "reserved w admitted");
}

TEST_F(SetAside, AWorkloadKeepsTheQuotaThatItHolds) {
  const auto o = w.workload("w", "lq", 2'000);
  w.observe(o);
  ASSERT_EQ(w.settle(), Lines{"reserved w admitted"});
  set_aside(ObjectKind::workload, o.meta, w.next_version());
  w.observe(w.workload("next", "lq", 1'000));
  EXPECT_EQ(w.settle(), Lines{"requeued next WaitingForQuota"});
  EXPECT_EQ(reserving(), 1);
  w.observe(ObjectDeleted{ObjectKind::workload, o.meta.namespace_, o.meta.name, o.meta.uid});
  EXPECT_TRUE(set_aside().empty());
  w.tick(Duration::seconds(2));
  EXPECT_EQ(w.settle().back(), "reserved next admitted");
}

TEST_F(SetAside, AVersionThatIsToldLateChangesNothing) {
  auto o = w.workload("w", "lq", 1'000);
  const auto old = w.next_version();
  set_aside(ObjectKind::workload, o.meta, w.next_version());
  o.meta.resource_version = old;
  w.observe(o);
  EXPECT_EQ(set_aside().size(), 1U);
}

/// What is told late about an object that was read before it was set aside: domain and Workload agree that it stays so.
TEST_F(SetAside, ARepeatOfAnOlderVersionLiftsNothing) {
  auto workload = w.workload("w", "lq", 1'000);
  w.observe(workload);
  auto job = w.job("a", "lq");
  w.observe(job);
  const auto between = w.next_version();
  set_aside(ObjectKind::workload, workload.meta, w.next_version());
  set_aside(ObjectKind::job, job.meta, w.next_version());
  EXPECT_EQ(w.settle(), Lines{"condition w Misconfigured"});
  for (const auto version : {workload.meta.resource_version, between}) {
    workload.meta.resource_version = job.meta.resource_version = version;
    w.observe(workload);
    w.observe(job);
    EXPECT_EQ(w.settle(), Lines{});
    EXPECT_EQ(set_aside().size(), 2U);
    EXPECT_EQ(w.pending("w"), "Misconfigured: Set aside: spec: found a, allowed: b");
  }
}

/// An object was set aside, and then read in a later version; the first of these is told last, or again.
TEST_F(SetAside, AnObjectThatWasReadSinceIsNotSetAside) {
  const auto older = w.next_version();
  auto workload = w.workload("w", "lq", 1'000);
  auto job = w.job("a", "lq");
  workload.meta.resource_version = job.meta.resource_version = w.next_version();
  w.observe(workload);
  w.observe(job);
  set_aside(ObjectKind::workload, workload.meta, older);
  set_aside(ObjectKind::job, job.meta, older);
  EXPECT_TRUE(set_aside().empty());
  auto q = quarantine(ObjectKind::job, job.meta, older, "spec.template: found 1, allowed: an object");
  const auto outline = w.arena().make<JobObserved>(1);
  outline[0] = job;
  outline[0].meta.resource_version = older;
  q.outline = outline;
  w.observe(q);
  EXPECT_TRUE(set_aside().empty());
  EXPECT_EQ(w.settle(), (Lines{"requested job-a", "reserved w admitted"}));

  // Of two that are told in the wrong order the later version stands.
  const auto first = w.next_version();
  const auto second = w.next_version();
  set_aside(ObjectKind::workload, workload.meta, second, "second");
  set_aside(ObjectKind::workload, workload.meta, first, "first");
  ASSERT_EQ(set_aside().size(), 1U);
  EXPECT_EQ(set_aside().begin()->second.reason, "second");
}

TEST_F(SetAside, SinceWhenIsOfTheFirstTime) {
  const auto o = w.workload("w", "lq", 1'000);
  set_aside(ObjectKind::workload, o.meta, 5, "first");
  const auto since = w.driver().domain().now();
  w.tick(Duration::seconds(60));
  set_aside(ObjectKind::workload, o.meta, 6, "second");
  ASSERT_EQ(set_aside().size(), 1U);
  EXPECT_EQ(set_aside().begin()->second.since, since);
  EXPECT_EQ(set_aside().begin()->second.reason, "second");
}

/// The same version is told again when it could be read after all: planning failed, and does no more.
TEST_F(SetAside, WhatIsSaidToBeLiftedIs) {
  const auto o = w.workload("w", "lq", 1'000);
  w.observe(o);
  set_aside(ObjectKind::workload, o.meta, o.meta.resource_version);
  EXPECT_EQ(w.settle(), Lines{"condition w Misconfigured"});
  auto q = quarantine(ObjectKind::workload, o.meta, o.meta.resource_version, "");
  q.lifted = true;
  w.observe(q);
  EXPECT_TRUE(set_aside().empty());
  EXPECT_EQ(w.settle().back(), "reserved w admitted");
}

TEST_F(SetAside, AJobThatWasNeverReadableGetsNoWorkload) {
  const auto j = w.job("a", "lq");
  set_aside(j, true, false);
  EXPECT_EQ(w.settle(), Lines{});
  EXPECT_TRUE(w.wanted<WorkloadCreateIntent>().empty());
  auto readable = j;
  readable.meta.resource_version = w.next_version();
  w.observe(readable);
  EXPECT_EQ(w.settle(), Lines{"requested job-a"});
}

/// Nobody runs beside the queue by being unreadable.
TEST_F(SetAside, AJobThatRunsWithoutQuotaIsStopped) {
  set_aside(w.job("a", "lq"), false, true);
  (void)w.settle();
  const auto wanted = w.wanted<JobIntent>();
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_FALSE(wanted[0].run);
}

TEST_F(SetAside, AJobThatRunsWithQuotaRunsOn) {
  const auto j = running("a", 2'000);
  set_aside(j, false, true);
  EXPECT_EQ(w.settle(), Lines{});
  EXPECT_EQ(reserving(), 1);
  for (const auto& intent : w.wanted<JobIntent>()) EXPECT_TRUE(intent.run);
}

TEST_F(SetAside, AJobThatIsPreemptedGivesItsQuotaBack) {
  const auto j = running("a", 2'000);
  set_aside(j, false, true);
  (void)w.settle();
  (void)w.wanted<JobIntent>();
  w.observe(w.workload("urgent", "lq", 2'000, 100));
  const auto done = w.settle();
  EXPECT_EQ(done.front(), "preempted a InClusterQueue");
  seen("a", j);
  (void)w.settle();
  const auto wanted = w.wanted<JobIntent>();
  ASSERT_FALSE(wanted.empty());
  EXPECT_FALSE(wanted.back().run) << "it is stopped, read or not";
  EXPECT_FALSE(w.state("urgent").reserved());

  set_aside(j, true, false);  // stopped, and still nobody can read it
  (void)w.settle();
  w.tick(Duration::seconds(2));
  (void)w.settle();
  EXPECT_TRUE(w.state("urgent").admitted());
  EXPECT_FALSE(w.state("a").reserved());
  EXPECT_EQ(reserving(), 1);
}

TEST_F(SetAside, AJobThatEndsIsFinished) {
  auto j = running("a", 2'000);
  j.finished = j.succeeded = true;
  j.finish_message = "done";
  set_aside(j, false, false);
  EXPECT_EQ(w.settle(), Lines{"finished a"});
  EXPECT_EQ(reserving(), 0);
}

/// What is said of the job before it became unreadable stays known, so that its Workload is not taken for another's.
TEST_F(SetAside, WhatItWasStaysKnown) {
  const auto j = running("a", 2'000);
  set_aside(j, false, true);
  for (int i = 0; i < 3; ++i) {
    w.tick(Duration::seconds(60));
    EXPECT_EQ(w.settle(), Lines{});
  }
  auto readable = j;
  readable.meta.resource_version = w.next_version();
  w.observe(readable);
  EXPECT_EQ(w.settle(), Lines{});
  EXPECT_TRUE(w.state("a").admitted());
  EXPECT_TRUE(set_aside().empty());
}

TEST_F(SetAside, AClusterQueueStaysAsItWas) {
  ObjectMeta meta;
  meta.name = "cq";
  meta.uid = "uid-of-the-queue";
  set_aside(ObjectKind::cluster_queue, meta, 9);
  w.observe(w.workload("w", "lq", 2'000));
  EXPECT_EQ(w.settle(), Lines{"reserved w admitted"});
  EXPECT_EQ(set_aside().size(), 1U);
}

// A queue that is known goes on as it was read last, and says so; one that never could be read says that alone.
TEST_F(SetAside, AClusterQueueSaysSoInItsCondition) {
  const auto meta = [](std::string_view name, std::string_view uid) {
    ObjectMeta m;
    m.name = name;
    m.uid = uid;
    return m;
  };
  (void)w.wanted<QueueStatusIntent>();
  set_aside(ObjectKind::cluster_queue, meta("cq", "uid-cq"), 9);
  set_aside(ObjectKind::cluster_queue, meta("unknown", "uid-unknown"), 10);
  (void)w.settle();
  const Lines told{"cq/cq True Ready: Can admit new workloads. Set aside: spec: found a, allowed: b",
                   "cq/unknown False Misconfigured: Set aside: spec: found a, allowed: b"};
  EXPECT_EQ(active(w.wanted<QueueStatusIntent>()), told);
  FactWorld copy;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  for (FactWorld* f : {&w, &copy}) {
    const auto all = active(f->all<QueueStatusIntent>());
    EXPECT_EQ(Lines(all.begin(), all.begin() + 2), told);
  }
  // What another observation says of it as well is told once more with the text.
  w.observe(w.workload("w", "lq", 1'000));
  (void)w.settle();
  EXPECT_EQ(active(w.wanted<QueueStatusIntent>()), (Lines{told[0], "lq/default/lq True Ready: Can submit new workloads to localQueue"}));

  // Read again: as it was, or another one.
  ObjectQuarantined back = quarantine(ObjectKind::cluster_queue, meta("cq", "uid-cq"), 9, "");
  back.lifted = true;
  w.observe(back);
  w.observe(ObjectDeleted{ObjectKind::cluster_queue, "", "unknown", "uid-unknown"});
  (void)w.settle();
  EXPECT_EQ(active(w.wanted<QueueStatusIntent>()), Lines{"cq/cq True Ready: Can admit new workloads"});
}

TEST_F(SetAside, ALocalQueueSaysSoInItsCondition) {
  ObjectMeta known, unknown;
  known.namespace_ = unknown.namespace_ = "default";
  known.name = "lq";
  known.uid = "uid-lq";
  unknown.name = "unknown";
  unknown.uid = "uid-unknown";
  (void)w.wanted<QueueStatusIntent>();
  set_aside(ObjectKind::local_queue, known, 9);
  set_aside(ObjectKind::local_queue, unknown, 10, std::string(40'000, 'x'));
  (void)w.settle();
  auto told = w.wanted<QueueStatusIntent>();
  for (const auto& i : told) EXPECT_LE(i.active_message.size(), 32'768U);
  for (auto& i : told) i.active_message.resize(std::min<std::size_t>(i.active_message.size(), 80));
  EXPECT_EQ(active(told), (Lines{"lq/default/lq True Ready: Can submit new workloads to localQueue. Set aside: spec: found a, allowed: b",
                                 "lq/default/unknown False Misconfigured: Set aside: " + std::string(69, 'x')}));
  w.local_queue("unknown", "cq");
  (void)w.settle();
  w.observe(ObjectDeleted{ObjectKind::local_queue, "default", "unknown", "uid-unknown"});
  w.observe(ObjectDeleted{ObjectKind::local_queue, "default", "lq", "uid-lq"});
  (void)w.settle();
  for (const auto& line : active(w.all<QueueStatusIntent>())) EXPECT_EQ(line.find("Set aside"), std::string::npos) << line;
}

TEST_F(SetAside, ItIsPartOfTheStateAndOfSnapshots) {
  const auto before = w.driver().state_hash();
  const auto j = running("a", 1'000);
  set_aside(j, false, true);
  auto o = w.workload("w", "lq", 1'000);
  w.observe(o);
  set_aside(ObjectKind::workload, o.meta, w.next_version());
  (void)w.settle();
  EXPECT_NE(before, w.driver().state_hash());
  FactWorld copy;
  copy.now = w.now;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  EXPECT_EQ(copy.driver().domain().quarantined().size(), 2U);
  EXPECT_EQ(copy.pending("w"), w.pending("w"));
  o.meta.resource_version = 1'000'000;
  for (FactWorld* f : {&w, &copy}) f->observe(o);
  EXPECT_EQ(w.settle(), copy.settle());
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
}

TEST_F(SetAside, ItTellsWhatChanged) {
  const auto o = w.workload("w", "lq", 1'000);
  set_aside(ObjectKind::workload, o.meta, 5);
  EXPECT_EQ(w.driver().entities().domain().take_quarantine_changes(), std::set<std::string>{"uid-w"});
  EXPECT_TRUE(w.driver().entities().domain().take_quarantine_changes().empty());
  w.observe(ObjectDeleted{ObjectKind::workload, o.meta.namespace_, o.meta.name, o.meta.uid});
  EXPECT_EQ(w.driver().entities().domain().take_quarantine_changes(), std::set<std::string>{"uid-w"});
}

// ---- records ---------------------------------------------------------------------------------------------------------------------------

RecordView record(std::uint64_t sequence, Body body, Time time = Time::from_seconds(5)) {
  RecordView r;
  r.envelope.domain = "default";
  r.envelope.sequence = sequence;
  r.envelope.time = time;
  r.body = std::move(body);
  return r;
}

Observation flavor(std::string_view name) {
  ResourceFlavorObserved f;
  f.meta.name = name;
  return f;
}

std::unique_ptr<LoopDriver> passing(std::set<std::uint64_t> sequences) {
  auto driver = std::make_unique<LoopDriver>([](Text) -> Result<Settings> { return Settings{}; });
  driver->entities().domain().pass_over(std::move(sequences));
  return driver;
}

TEST(RecordSetAside, HasItsPlaceAndNoEffect) {
  const auto with = passing({}), without = passing({2});
  for (auto* driver : {with.get(), without.get()}) {
    ASSERT_TRUE(driver->apply(record(1, Body(flavor("a")))));
    ASSERT_TRUE(driver->apply(record(2, Body(flavor("b")))));
    ASSERT_TRUE(driver->apply(record(3, Body(flavor("c")))));
    EXPECT_EQ(driver->domain().sequence(), 3U);
  }
  EXPECT_EQ(with->domain().catalog()->flavors.size(), 3U);
  EXPECT_EQ(without->domain().catalog()->flavors.size(), 2U);
  EXPECT_EQ(without->domain().passed_over(), std::vector<std::uint64_t>{2});
  EXPECT_NE(with->state_hash(), without->state_hash());
}

/// Who did not know when it folded the record must not go on as if it had.
TEST(RecordSetAside, IsRefusedByAFoldThatTookTheRecord) {
  const auto with = passing({}), without = passing({1});
  for (auto* driver : {with.get(), without.get()}) ASSERT_TRUE(driver->apply(record(1, Body(flavor("a")))));
  const Observation said = RecordQuarantined{1, 1, "somebody", "1.0", "why"};
  const auto refused = with->apply(record(2, Body(said)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::conflict);
  EXPECT_TRUE(without->apply(record(2, Body(said))));
}

TEST(RecordSetAside, IsKnownToSnapshots) {
  const auto driver = passing({1, 9});
  ASSERT_TRUE(driver->apply(record(1, Body(flavor("a")))));
  auto copy = passing({1, 9});
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(*driver), *copy));
  EXPECT_EQ(copy->domain().passed_over(), std::vector<std::uint64_t>{1});
  EXPECT_EQ(copy->state_hash(), driver->state_hash());
  EXPECT_TRUE(copy->domain().has_passed_over({1, 9})) << "9 is still to come";
  EXPECT_FALSE(copy->domain().has_passed_over({9}));
  EXPECT_FALSE(copy->domain().has_passed_over({}));
  auto took_it = passing({});
  ASSERT_TRUE(took_it->apply(record(1, Body(flavor("a")))));
  EXPECT_FALSE(took_it->domain().has_passed_over({1}));
}

}  // namespace
}  // namespace hindsight::admission::testing
