// Anybody can write any owner reference: which of them count, and for how much (BA-171, base-api §7.1 step 3, JK-7, JK-8).

#include <gtest/gtest.h>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

class ForgedOwners : public ::testing::Test {
 protected:
  FactWorld w;
  void SetUp() override {
    w.namespace_("default");
    w.namespace_("other");
    w.flavor("default");
    w.queue({.name = "cq", .cpu = 10'000});
    w.local_queue("lq", "cq");
    w.observe(MirrorSynced{});
    w.tick(Duration::seconds(2));
    (void)w.settle();
    (void)w.wanted<JobIntent>();
  }
  JobObserved running(JobObserved j) {
    j.meta.resource_version = w.next_version();
    j.suspended = false;
    j.active = true;
    return j;
  }
  JobObserved suspended(JobObserved j) {
    j.meta.resource_version = w.next_version();
    j.suspended = true;
    j.active = false;
    return j;
  }
  /// A job of four pods that is queued, admitted and runs, with so much cpu in all.
  void admitted(std::string_view name, Amount cpu, std::string_view kind = "JobSet") {
    auto j = w.job(name, "lq", cpu / 4);
    j.kind = kind;
    auto pods = w.arena().make<PodSetFacts>(1);
    pods[0] = j.pod_sets[0];
    pods[0].count = 4;
    j.pod_sets = pods;
    w.observe(j);
    (void)w.settle();
    auto workload = w.workload_of(j);
    workload.pod_sets = pods;
    w.observe(workload);
    ASSERT_EQ(settled(w), Lines{"reserved " + std::string(name) + " admitted"});
    w.observe(running(j));
    (void)w.settle();
    (void)w.wanted<JobIntent>();
  }
  /// What was decided, but for what the conditions of Workloads tell.
  static Lines settled(FactWorld& world) {
    Lines out = world.settle();
    std::erase_if(out, [](const std::string& line) { return line.starts_with("condition "); });
    return out;
  }
  /// A job of this many cpu that says that `owner`, a JobSet, made it; so many seconds after the one before.
  JobObserved child(std::string_view name, Amount cpu, std::string_view owner, std::string_view queue = {}) {
    w.now = w.now + Duration::seconds(1);
    auto j = w.job(name, queue, cpu, owner);
    j.owner_kind = "JobSet";
    return j;
  }
  /// "name stopped" or "name started" for each wish about a job.
  Lines wishes() {
    Lines out;
    for (const auto& i : w.wanted<JobIntent>()) out.push_back(i.name + (i.run ? " started" : " stopped"));
    std::sort(out.begin(), out.end());
    return out;
  }
  Lines seen(const JobObserved& j) {
    w.observe(j);
    Lines out = settled(w);
    for (auto& x : wishes()) out.push_back(std::move(x));
    return out;
  }
};

TEST_F(ForgedOwners, AChildWithinTheSizeOfItsOwnerRuns) {
  admitted("set", 4'000);
  EXPECT_EQ(seen(running(child("a", 2'000, "set"))), Lines{});
  EXPECT_EQ(seen(running(child("b", 2'000, "set"))), Lines{}) << "together they are as large as their owner";
}

TEST_F(ForgedOwners, OneBeyondTheSizeIsStoppedAndTheLogSaysWhy) {
  admitted("set", 4'000);
  w.observe(running(child("a", 2'000, "set")));
  w.observe(running(child("b", 2'000, "set")));
  (void)w.settle();
  const auto c = running(child("c", 1, "set"));
  EXPECT_EQ(seen(c), (Lines{"stopped c", "c stopped"}));
  EXPECT_EQ(seen(suspended(c)), Lines{}) << "it names no queue, so it waits for room";
  w.observe(ObjectDeleted{ObjectKind::job, "default", "a", "job-a"});
  EXPECT_EQ(settled(w), Lines{});
  EXPECT_EQ(seen(running(c)), Lines{}) << "there is room now";
}

TEST_F(ForgedOwners, OneBeyondTheSizeThatNamesAQueueWaitsThereByItself) {
  admitted("set", 4'000);
  const auto big = child("big", 5'000, "set", "lq");
  EXPECT_EQ(seen(big), Lines{"requested job-big"});
  w.observe(w.workload_of(big));
  EXPECT_EQ(settled(w), Lines{"reserved big admitted"});
  EXPECT_EQ(wishes(), Lines{"big started"});
  EXPECT_EQ(seen(running(big)), Lines{}) << "it has quota of its own";
  // Unsuspended by somebody else before it has any, it is stopped.
  const auto second = child("second", 4'500, "set", "lq");
  EXPECT_EQ(seen(running(second)), (Lines{"stopped second", "second stopped"}));
}

// The number of an entity is given out again: whoever gets it must find nothing of the one before. Here that one was a part that waited
// beside its owner, so that its Workload went after its job.
TEST_F(ForgedOwners, WhoComesAfterADeletedPartIsQueued) {
  admitted("set", 4'000);
  const auto part = child("part", 50'000, "set", "lq");
  EXPECT_EQ(seen(part), Lines{"requested job-part"});
  const auto workload = w.workload_of(part);
  w.observe(workload);
  (void)w.settle();
  w.observe(ObjectDeleted{ObjectKind::job, "default", "part", part.meta.uid});
  w.observe(ObjectDeleted{ObjectKind::workload, "default", workload.meta.name, workload.meta.uid});
  w.tick(Duration::seconds(2));
  (void)w.settle();
  EXPECT_EQ(seen(w.job("next", "lq", 1'000)), Lines{"requested job-next"});
  auto alone = running(w.job("alone", "", 1'000));
  EXPECT_EQ(seen(alone), Lines{}) << "nor is it anybody's part";
}

// Pods that ask for nothing are counted too.
TEST_F(ForgedOwners, PodsAreCountedWhateverTheyAskFor) {
  admitted("set", 4'000);
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_EQ(seen(running(child(name, 0, "set"))), Lines{});
  EXPECT_EQ(seen(running(child("e", 0, "set"))), (Lines{"stopped e", "e stopped"}));
}

// A resource that the owner does not have, an amount below zero that would make room.
TEST_F(ForgedOwners, StrangeRequestsMakeNoRoom) {
  admitted("set", 4'000);
  auto j = running(child("gpu", 1, "set"));
  auto requests = w.arena().make<ResourceAmount>(2);
  requests[0] = {"cpu", -1'000'000};
  requests[1] = {"nvidia.com/gpu", 1};
  auto pods = w.arena().make<PodSetFacts>(1);
  pods[0] = j.pod_sets[0];
  pods[0].requests = requests;
  j.pod_sets = pods;
  EXPECT_EQ(seen(j), (Lines{"stopped gpu", "gpu stopped"}));
  auto most = running(child("most", 1, "set"));
  auto all = w.arena().make<ResourceAmount>(1);
  all[0] = {"cpu", unlimited};
  auto many = w.arena().make<PodSetFacts>(1);
  many[0] = most.pod_sets[0];
  many[0].requests = all;
  many[0].count = std::numeric_limits<std::int32_t>::max();
  most.pod_sets = many;
  EXPECT_EQ(seen(most), (Lines{"stopped most", "most stopped"}));
}

// The oldest have the room, in whatever order they are seen.
TEST_F(ForgedOwners, TheOldestHaveTheRoom) {
  admitted("set", 4'000);
  const auto old = running(child("old", 3'000, "set"));
  const auto young = running(child("young", 3'000, "set"));
  EXPECT_EQ(seen(young), Lines{});
  EXPECT_EQ(seen(old), (Lines{"stopped young", "young stopped"}));
}

// A finished child has used its part: what it leaves belongs to those that get quota next, not to a forged one.
TEST_F(ForgedOwners, WhatFinishedChildrenLeaveIsNobodys) {
  admitted("set", 4'000);
  auto a = running(child("a", 4'000, "set"));
  w.observe(a);
  (void)w.settle();
  a.finished = a.succeeded = true;
  a.active = false;
  a.meta.resource_version = w.next_version();
  EXPECT_EQ(seen(a), Lines{});
  EXPECT_EQ(seen(running(child("b", 4'000, "set"))), (Lines{"stopped b", "b stopped"}));
}

TEST_F(ForgedOwners, AnOwnerOfAnotherNamespaceIsNone) {
  admitted("set", 4'000);
  auto j = child("thief", 1'000, "set", "lq");
  j.meta.namespace_ = "other";
  EXPECT_EQ(seen(j), Lines{"requested job-thief"});
  auto small = child("crowd", 4'000, "set");
  small.meta.namespace_ = "other";
  (void)seen(running(small));
  EXPECT_EQ(seen(running(child("genuine", 4'000, "set"))), Lines{}) << "others take no room of it";
}

TEST_F(ForgedOwners, AnOwnerOfAnotherKindIsNone) {
  admitted("set", 4'000, "Job");
  EXPECT_EQ(seen(child("thief", 1'000, "set", "lq")), Lines{"requested job-thief"});
}

TEST_F(ForgedOwners, AnOwnerThatDoesNotExistIsNone) { EXPECT_EQ(seen(child("a", 1'000, "nobody", "lq")), Lines{"requested job-a"}); }

TEST_F(ForgedOwners, WhoWaitsHasRoomForNobody) {
  auto set = w.job("set", "lq", 40'000);
  set.kind = "JobSet";
  w.observe(set);
  (void)w.settle();
  EXPECT_EQ(seen(running(child("a", 1'000, "set"))), Lines{"a stopped"});
}

// A Workload of one tenant cannot stand for the job of another one.
TEST_F(ForgedOwners, AWorkloadOfAnotherNamespaceIsNotTheJobs) {
  const auto j = w.job("a", "lq", 1'000);
  auto theirs = w.workload_of(j);
  theirs.meta.namespace_ = "other";
  theirs.meta.name = "theirs";
  theirs.meta.uid = "uid-theirs";
  w.observe(theirs);  // before the job is seen
  (void)w.settle();
  EXPECT_EQ(seen(j), Lines{"requested job-a"});
  w.observe(w.workload_of(j));
  EXPECT_EQ(settled(w), Lines{"reserved a admitted"});
  auto late = theirs;
  late.meta.uid = "uid-late";
  late.meta.name = "late";
  w.observe(late);  // and after it
  EXPECT_EQ(settled(w), Lines{});
  EXPECT_NE(w.driver().domain().find_parent("uid-theirs"), w.driver().domain().find_parent("job-a"));
  EXPECT_NE(w.driver().domain().find_parent("uid-late"), w.driver().domain().find_parent("job-a"));
  w.observe(ObjectDeleted{ObjectKind::workload, "other", "theirs", "uid-theirs"});
  EXPECT_EQ(settled(w), Lines{});
}

// Nor can pods of one tenant take the places of another's.
TEST_F(ForgedOwners, APodOfAnotherNamespaceIsNotTheJobs) {
  PodObserved pod;
  pod.meta.namespace_ = "other";
  pod.meta.name = "p";
  pod.meta.uid = "pod-early";
  pod.meta.resource_version = w.next_version();
  pod.owner_uid = "job-a";
  pod.pod_set = "main";
  pod.gated = true;
  w.observe(pod);
  w.observe(w.job("a", "lq", 1'000));
  pod.meta.uid = "pod-late";
  w.observe(pod);
  auto mine = pod;
  mine.meta.namespace_ = "default";
  mine.meta.uid = "pod-mine";
  w.observe(mine);
  (void)w.settle();
  const auto& pods = w.driver().parent(*w.driver().domain().find_parent("job-a"))->pods();
  ASSERT_EQ(pods.size(), 1U);
  EXPECT_EQ(pods[0].uid, "pod-mine");
}

// Another reference, and the pod belongs to another job, or to none.
TEST_F(ForgedOwners, APodThatChangesItsOwnerLeavesNothingBehind) {
  w.observe(w.job("a", "lq", 1'000));
  w.observe(w.job("b", "lq", 1'000));
  PodObserved pod;
  pod.meta.namespace_ = "default";
  pod.meta.name = "p";
  pod.meta.uid = "pod-p";
  for (const std::string_view owner : {"job-a", "job-b", ""}) {
    pod.meta.resource_version = w.next_version();
    pod.owner_uid = owner;
    w.observe(pod);
    for (const std::string_view job : {"job-a", "job-b"})
      EXPECT_EQ(w.driver().parent(*w.driver().domain().find_parent(job))->pods().size(), job == owner ? 1U : 0U) << owner;
  }
}

TEST_F(ForgedOwners, ASnapshotKeepsWhoHasTheRoom) {
  admitted("set", 4'000);
  w.observe(running(child("a", 3'000, "set")));
  (void)w.settle();
  const auto b = child("b", 3'000, "set", "lq");
  w.observe(b);
  w.observe(child("c", 1'000, "set"));
  (void)w.settle();
  FactWorld copy;
  copy.now = w.now;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  for (FactWorld* f : {&w, &copy}) {
    f->observe(running(child("d", 1'000, "set")));
    EXPECT_EQ(settled(*f), Lines{"stopped d"});
    f->observe(ObjectDeleted{ObjectKind::job, "default", "a", "job-a"});
    f->observe(w.workload_of(b));
    EXPECT_EQ(settled(*f), Lines{"removed b"}) << "there is room for it in its owner";
  }
}

// ---- owners that change their size -----------------------------------------------------------------------------------------------

/// A RayJob that scales itself: its size is read from its cluster, so it is as large as anybody makes that.
class OwnersThatGrow : public ForgedOwners {
 protected:
  List<PodSetFacts> pods(std::int32_t workers, Amount cpu = 1'000) {
    auto requests = w.arena().make<ResourceAmount>(1);
    requests[0] = {"cpu", cpu};
    auto out = w.arena().make<PodSetFacts>(2);
    for (auto& p : out) {
      p.requests = requests;
      p.shape_hash = p.template_hash = p.core_hash = 7;
    }
    out[0].name = "head";
    out[1].name = "workers";
    out[1].count = workers;
    return out;
  }
  /// JobSet "set", which asks for four pods and takes one at least, and is admitted with the two for which there is room.
  JobObserved admit_in_part() {
    auto j = w.job("set", "lq", 4'000);
    j.kind = "JobSet";
    auto list = w.arena().make<PodSetFacts>(1);
    list[0] = j.pod_sets[0];
    list[0].count = 4;
    list[0].min_count = 1;
    j.pod_sets = list;
    w.observe(j);
    (void)w.settle();
    auto workload = w.workload_of(j);
    workload.pod_sets = list;
    w.remember(workload);
    w.observe(workload);
    EXPECT_EQ(settled(w), Lines{"reserved set admitted"});
    return j;
  }
  /// What is decided when the job is seen with this size. A slice that was asked for is made, and what follows from it decided.
  Lines size(std::int32_t workers, bool runs = true) {
    auto j = w.job("train", "lq");
    j.kind = "RayJob";
    j.elastic = true;
    j.suspended = !runs;
    j.active = runs;
    j.meta.generation = ++generation_;
    j.workload_name = w.keep("train-" + std::to_string(generation_));
    j.pod_sets = pods(workers);
    w.observe(j);
    Lines out = settled(w);
    if (std::find(out.begin(), out.end(), "requested " + std::string(j.workload_name)) == out.end()) return out;
    auto slice = w.workload(j.workload_name, "lq", 1'000);
    slice.owner_uid = j.meta.uid;
    slice.owner_kind = j.kind;
    slice.owner_name = j.meta.name;
    slice.elastic = true;
    slice.slice_name = "train-1";
    if (!current_.empty()) slice.replacement_for = w.keep("default/" + current_);
    slice.pod_sets = pods(workers);
    w.remember(slice);
    w.observe(slice);
    out = settled(w);
    if (std::find(out.begin(), out.end(), "reserved " + std::string(j.workload_name) + " admitted") != out.end())
      current_ = j.workload_name;
    return out;
  }
  JobObserved cluster(std::string_view name, std::int32_t workers, bool gated, Amount cpu = 1'000) {
    auto j = child(name, 1, "train");
    j.kind = "RayCluster";
    j.owner_kind = "RayJob";
    j.elastic = true;
    j.pods_gated = gated;
    j.pod_sets = pods(workers, cpu);
    return running(j);
  }
  JobObserved resized(JobObserved j, std::int32_t workers, bool gated) {
    j.pod_sets = pods(workers);
    j.pods_gated = gated;
    return running(j);
  }
  void start(std::int32_t workers) {
    (void)size(workers, false);
    (void)size(workers);
    ASSERT_EQ(current_, "train-1");
    (void)w.wanted<JobIntent>();
  }

 private:
  std::int64_t generation_ = 0;

 protected:
  std::string current_;  ///< The slice that was admitted last.
};

// EJ-69, EJ-73: what it asks for more is not granted yet
TEST_F(OwnersThatGrow, GiveNoRoomBeforeTheyAreGrantedMore) {
  start(1);
  EXPECT_EQ(seen(cluster("genuine", 1, true)), Lines{});
  (void)size(100);
  (void)wishes();
  EXPECT_EQ(seen(cluster("thief", 50, false)), (Lines{"stopped thief", "thief stopped"}));
  w.observe(ObjectDeleted{ObjectKind::job, "default", "thief", "job-thief"});
  EXPECT_EQ(seen(cluster("small", 0, false)), (Lines{"stopped small", "small stopped"})) << "one pod";
  auto queued = child("queued", 1'000, "train", "lq");
  queued.owner_kind = "RayJob";
  EXPECT_EQ(seen(queued), Lines{"requested job-queued"});
}

TEST_F(OwnersThatGrow, HaveMoreRoomWhenTheyAreGrantedMore) {
  start(1);
  (void)seen(cluster("genuine", 1, false));
  const auto second = cluster("second", 1, false);
  EXPECT_EQ(seen(second), (Lines{"stopped second", "second stopped"}));
  (void)size(3);
  ASSERT_EQ(current_, "train-3");
  w.tick(Duration::seconds(2));
  (void)settled(w);
  EXPECT_EQ(seen(running(second)), Lines{}) << "four pods together, as were granted";
  EXPECT_EQ(seen(cluster("third", 0, false)), (Lines{"stopped third", "third stopped"}));
}

// EJ-73, EJ-92: what the autoscaler adds waits at the gate; the cluster runs on
TEST_F(OwnersThatGrow, KeepTheClusterWhosePodsWaitAtTheGate) {
  start(2);
  auto genuine = cluster("genuine", 2, true);
  EXPECT_EQ(seen(genuine), Lines{});
  genuine = resized(genuine, 100, true);
  EXPECT_EQ(seen(genuine), Lines{}) << "seen before its job is";
  (void)size(100);
  EXPECT_EQ(wishes(), Lines{});
  EXPECT_EQ(seen(cluster("twin", 2, true)), (Lines{"stopped twin", "twin stopped"})) << "its pods would take the same places";
  EXPECT_EQ(seen(resized(genuine, 100, false)), (Lines{"stopped genuine", "genuine stopped"})) << "nothing holds its pods";
}

// A gate is taken away by number of pods, whatever they ask for.
TEST_F(OwnersThatGrow, LargerPodsBehindTheGateCount) {
  start(2);
  EXPECT_EQ(seen(cluster("thief", 1, true, 5'000)), (Lines{"stopped thief", "thief stopped"}));
}

// No slice will ever release pods of a group that the job does not have, and whoever made them can take their gates away himself. So they
// are there for that, and count. What changes by right has the names that the job has: of a cluster that scales itself the counts alone
// change, and the job is as large as that.
TEST_F(OwnersThatGrow, GroupsThatTheOwnerDoesNotHaveCountWhole) {
  start(2);
  auto genuine = cluster("genuine", 2, true);
  EXPECT_EQ(seen(genuine), Lines{});
  const auto with_group = [&](JobObserved j, std::int32_t pods_of_it) {
    const auto list = w.arena().make<PodSetFacts>(3);
    list[0] = pods(2)[0];
    list[1] = pods(2)[1];
    list[2] = list[1];
    list[2].name = "x";
    list[2].count = pods_of_it;
    j.pod_sets = list;
    return running(j);
  };
  EXPECT_EQ(seen(resized(genuine, 50, true)), Lines{}) << "the autoscaler's";
  EXPECT_EQ(seen(resized(genuine, 2, true)), Lines{});
  EXPECT_EQ(seen(with_group(genuine, 0)), Lines{}) << "a group without pods";
  EXPECT_EQ(seen(with_group(genuine, 1'000)), (Lines{"stopped genuine", "genuine stopped"}));
  EXPECT_EQ(seen(resized(suspended(genuine), 2, true)), Lines{}) << "as it was";
  auto other = cluster("other", 1, true);
  const auto list = w.arena().make<PodSetFacts>(1);
  list[0] = pods(50)[1];
  list[0].name = "unknown";
  other.pod_sets = list;
  EXPECT_EQ(seen(other), (Lines{"stopped other", "other stopped"}));
}

// A cluster that is being deleted runs on as long as somebody keeps it from going. What it makes then is the pod that cleans up Redis.
TEST_F(ForgedOwners, AClusterThatLeavesHasRoomForItsCleanUpAlone) {
  admitted("ray", 8'000, "RayCluster");
  auto leaving = w.job("ray", "lq", 2'000);
  leaving.kind = "RayCluster";
  auto pods = w.arena().make<PodSetFacts>(1);
  pods[0] = leaving.pod_sets[0];
  pods[0].count = 4;
  leaving.pod_sets = pods;
  leaving.meta.deleting = true;
  w.observe(running(leaving));
  (void)w.settle();
  const auto part = [&](std::string_view name, Amount cpu) {
    auto j = child(name, cpu, "ray");
    j.owner_kind = "RayCluster";
    return running(j);
  };
  EXPECT_EQ(seen(part("redis-cleanup", 200)), Lines{});
  EXPECT_EQ(seen(part("second", 200)), (Lines{"stopped second", "second stopped"}));
  w.observe(ObjectDeleted{ObjectKind::job, "default", "redis-cleanup", "job-redis-cleanup"});
  w.observe(ObjectDeleted{ObjectKind::job, "default", "second", "job-second"});
  (void)w.settle();
  EXPECT_EQ(seen(part("copy", 8'000)), (Lines{"stopped copy", "copy stopped"})) << "the cluster itself is still there";
}

// A job that is no elastic one is stopped and queued anew when it grows; until it is its parts have what it holds.
TEST_F(OwnersThatGrow, GiveNoRoomBeforeTheyAreStoppedEither) {
  admitted("set", 4'000);
  auto set = w.job("set", "lq", 1'000);
  set.kind = "JobSet";
  auto list = w.arena().make<PodSetFacts>(1);
  list[0] = set.pod_sets[0];
  list[0].count = 400;
  set.pod_sets = list;
  w.observe(running(set));
  w.observe(running(child("thief", 50'000, "set")));
  const auto step = w.driver().decide();
  ASSERT_TRUE(step);
  EXPECT_TRUE(std::any_of(step->events.begin(), step->events.end(), [](const Event& e) {
    const auto* stopped = std::get_if<JobStopped>(&e);
    return stopped != nullptr && stopped->job.name == "thief";
  }));
}

// BA-177: one that was admitted with fewer pods than it asked for
TEST_F(OwnersThatGrow, AreAsLargeAsTheyWereAdmittedInPart) {
  const auto j = admit_in_part();
  ASSERT_EQ(w.state("set").admission->pod_sets[0].count, 2);
  w.observe(running(j));
  EXPECT_EQ(seen(running(child("a", 8'000, "set"))), Lines{});
  EXPECT_EQ(seen(running(child("b", 4'000, "set"))), (Lines{"stopped b", "b stopped"}));
}

// An owner that was admitted in part asks for all of it again when it is evicted. Who was queued because there was no room stays in the
// queue: were it part of the owner again, the owner would get its quota back, and both would go on taking turns.
TEST_F(OwnersThatGrow, TheirPartsThatWereQueuedStayQueuedWhenTheyAreEvicted) {
  const auto j = admit_in_part();
  w.observe(running(j));
  const auto big = child("big", 10'000, "set", "lq");
  EXPECT_EQ(seen(big), Lines{"requested job-big"});
  w.observe(w.workload_of(big));
  EXPECT_EQ(settled(w), Lines{"requeued big WaitingForQuota"});

  auto off = w.seen_as("set");
  off.owner_uid = j.meta.uid;
  off.owner_kind = "JobSet";
  off.owner_name = "set";
  off.active = false;
  w.observe(off);
  const auto lines = settled(w);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "removed big"), 0);
  w.observe(suspended(j));
  (void)settled(w);
  w.tick(Duration::seconds(2));
  (void)settled(w);
  EXPECT_TRUE(w.state("big").admitted());
  FactWorld copy;
  copy.now = w.now;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  EXPECT_EQ(copy.settle(), w.settle());
}

TEST_F(OwnersThatGrow, ASnapshotKeepsWhatWasGranted) {
  start(2);
  auto genuine = cluster("genuine", 2, true);
  w.observe(genuine);
  (void)size(100);
  w.observe(resized(genuine, 100, true));
  (void)settled(w);
  (void)wishes();
  FactWorld copy;
  copy.now = w.now;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  const auto thief = cluster("thief", 0, false);
  for (FactWorld* f : {&w, &copy}) {
    EXPECT_EQ(settled(*f), Lines{});
    f->observe(thief);
    EXPECT_EQ(settled(*f), Lines{"stopped thief"});
  }
}

// Whoever makes thousands of them pays for it, and nobody else: each costs what it changes.
TEST_F(ForgedOwners, ManyChildrenCostNoMoreEachThanFew) {
  admitted("set", 4'000);
  for (int i = 0; i < 20'000; ++i) w.observe(child("c" + std::to_string(i), 1, "set"));
  for (int i = 0; i < 20'000; ++i)
    w.observe(ObjectDeleted{ObjectKind::job, "default", w.keep("c" + std::to_string(i)), w.keep("job-c" + std::to_string(i))});
  EXPECT_EQ(settled(w), Lines{});
}

}  // namespace
}  // namespace hindsight::admission::testing
