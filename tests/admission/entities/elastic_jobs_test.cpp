// Slices of elastic jobs on the level of facts: several pod sets, races, lost writes, and slices that others made.

#include <gtest/gtest.h>

#include <set>

#include "admission/model/slices.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

struct Size {
  std::string_view name;
  std::int32_t count = 0;
  Amount cpu = 1'000;
};

class ElasticJobs : public ::testing::Test {
 protected:
  FactWorld w;
  Arena arena;

  void SetUp() override {
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "cq", .cpu = 10'000});
    w.local_queue("lq", "cq");
    w.observe(MirrorSynced{});
    w.tick(Duration::seconds(2));
    (void)w.settle();
    (void)w.driver().collect_intents();
  }

  List<PodSetFacts> pod_sets(std::initializer_list<Size> sizes, std::uint64_t core = 7) {
    auto out = arena.make<PodSetFacts>(sizes.size());
    std::size_t i = 0;
    for (const Size& s : sizes) {
      auto requests = arena.make<ResourceAmount>(1);
      requests[0] = {"cpu", s.cpu};
      out[i].name = s.name;
      out[i].count = s.count;
      out[i].requests = requests;
      out[i].shape_hash = out[i].template_hash = out[i].core_hash = static_cast<std::uint64_t>(s.cpu) + core;
      ++i;
    }
    return out;
  }
  /// The job with these sizes, of the next generation.
  void job(std::initializer_list<Size> sizes, bool suspended = false, std::uint64_t core = 7, List<PodSetCount> remaining = {}) {
    JobObserved j = w.job("train", "lq");
    j.meta.generation = ++generation_;
    j.elastic = true;
    j.suspended = suspended;
    j.active = !suspended;
    j.workload_name = arena.copy("slice-" + std::to_string(generation_));
    j.pod_sets = pod_sets(sizes, core);
    j.remaining = remaining;
    w.observe(j);
  }
  /// A slice of the job as its Workload object; told again with another size it is of the next generation.
  void slice(const std::string& name, std::initializer_list<Size> sizes, const std::string& replaces = "", bool elastic = true) {
    auto o = w.workload(name, "lq", 1'000);
    o.meta.generation = ++versions_[name];
    if (!created_.contains(name)) created_[name] = o.meta.created;
    o.meta.created = created_[name];
    o.owner_uid = "job-train";
    o.owner_kind = "Job";
    o.owner_name = "train";
    o.elastic = elastic;
    o.slice_name = "slice-1";
    if (!replaces.empty()) o.replacement_for = arena.copy("default/" + replaces);
    o.pod_sets = pod_sets(sizes);
    w.observe(o);
  }
  /// The job as it runs with one admitted slice of this size.
  void start(std::initializer_list<Size> sizes) {
    job(sizes, true);
    EXPECT_EQ(w.settle(), Lines{"requested slice-1"});
    slice("slice-1", sizes);
    (void)w.settle();
    EXPECT_TRUE(find("slice-1")->admitted());
    job(sizes);
    (void)w.settle();
  }
  const WorkloadState* find(std::string_view name) {
    const auto parent = w.driver().domain().find_parent("job-train");
    if (parent)
      for (const auto& x : w.driver().parent(*parent)->workloads())
        if (x.name == name) return &x;
    return nullptr;
  }
  std::string ended(std::string_view name) {
    const auto* x = find(name);
    const auto* c = x == nullptr ? nullptr : x->find(ConditionType::finished);
    return c == nullptr ? "" : std::string(c->reason.text()) + ": " + c->message;
  }
  Amount used() { return w.driver().tree(Symbol("cq"))->quota()->usage(Symbol("cq"), Symbol("default"), Symbol("cpu")); }

 private:
  std::int64_t generation_ = 0;
  std::map<std::string, std::int64_t> versions_;
  std::map<std::string, Time> created_;
};

// EJ-62, EJ-64 (#13117): five pods, one of them still to run; when the spec says three, that one holds its quota as before at every moment
TEST_F(ElasticJobs, AScaleDownKeepsTheQuotaOfPodsThatStillRun) {
  start({{"worker", 5}});
  auto one_left = arena.make<PodSetCount>(1);
  one_left[0] = {"worker", 1};
  job({{"worker", 5}}, false, 7, one_left);
  (void)w.settle();
  EXPECT_EQ(used(), 1'000);
  job({{"worker", 3}}, false, 7, one_left);
  (void)w.settle();
  EXPECT_EQ(used(), 1'000);
  slice("slice-1", {{"worker", 3}});
  EXPECT_EQ(used(), 1'000) << "before anything is decided";
  (void)w.settle();
  EXPECT_EQ(used(), 1'000);
  ASSERT_EQ(find("slice-1")->reclaimable.size(), 1U);
  EXPECT_EQ(find("slice-1")->reclaimable[0].second, 2);
}

// EJ-62, EJ-63: a slice becomes smaller twice, with all its pods still to run: its quota follows the size that the API server shows. By
// earlier rules the difference was given back before that size was seen, and a log of that time is judged so
TEST_F(ElasticJobs, WhatIsGivenBackWaitsForTheSizeThatWasSeen) {
  const auto to_run = [&](std::int32_t pods) {
    auto out = arena.make<PodSetCount>(1);
    out[0] = {"worker", pods};
    return out;
  };
  start({{"worker", 5}});
  for (const bool earlier : {true, false}) {
    w.observe_epoch(earlier ? rules_with_sizes_first - 1 : rules_version);
    const std::int32_t from = earlier ? 4 : 2;
    job({{"worker", from}}, false, 7, to_run(from));
    (void)w.settle();
    slice("slice-1", {{"worker", from}});
    (void)w.settle();
    ASSERT_EQ(used(), from * 1'000);
    job({{"worker", from - 1}}, false, 7, to_run(from - 1));
    (void)w.settle();
    std::vector<Amount> held{used()};
    slice("slice-1", {{"worker", from - 1}});
    held.push_back(used());
    (void)w.settle();
    held.push_back(used());
    EXPECT_EQ(held, (earlier ? std::vector<Amount>{3'000, 3'000, 3'000} : std::vector<Amount>{2'000, 1'000, 1'000})) << earlier;
  }
}

// EJ-17, EJ-18, EJ-31, EJ-32, EJ-33: S7; unchanged pod sets are not counted twice (#9322), and a mixed change is charged exactly (#9329)
TEST_F(ElasticJobs, OfSeveralPodSetsOnlyTheDifferenceCounts) {
  start({{"worker", 2}, {"coordinator", 1, 2'000}});
  EXPECT_EQ(used(), 4'000);
  job({{"worker", 2}, {"coordinator", 3, 2'000}});
  EXPECT_EQ(w.settle(), Lines{"requested slice-3"});
  slice("slice-3", {{"worker", 2}, {"coordinator", 3, 2'000}}, "slice-1");
  (void)w.settle();
  EXPECT_TRUE(find("slice-3")->admitted());
  EXPECT_EQ(used(), 8'000);
  auto c = w.workload("c", "lq", 2'000);
  auto d = w.workload("d", "lq", 2'000);
  w.observe(c);
  (void)w.settle();
  w.observe(d);
  (void)w.settle();
  EXPECT_EQ(used(), 10'000);
  EXPECT_FALSE(w.state("d").admitted());

  job({{"worker", 2}, {"coordinator", 2, 2'000}});
  (void)w.settle();
  slice("slice-3", {{"worker", 2}, {"coordinator", 2, 2'000}}, "slice-1");
  w.tick(Duration::seconds(2));
  (void)w.settle();
  EXPECT_TRUE(w.state("d").admitted());
  EXPECT_EQ(used(), 10'000);

  job({{"worker", 4}, {"coordinator", 1, 2'000}});
  EXPECT_EQ(w.settle().front(), "requested slice-5");
  slice("slice-5", {{"worker", 4}, {"coordinator", 1, 2'000}}, "slice-3");
  (void)w.settle();
  EXPECT_TRUE(find("slice-5")->admitted()) << "admitted with the queue full";
  EXPECT_EQ(used(), 10'000);
  ASSERT_EQ(find("slice-5")->admission->pod_sets.size(), 2U);
  EXPECT_EQ(find("slice-5")->admission->pod_sets[0].count, 4) << "EJ-34: the whole, not the difference";
}

// EJ-50: if the reservation of the new slice cannot be written, the old one has its quota back, and the new one is tried again
TEST_F(ElasticJobs, ARefusedReservationGivesTheOldSliceItsQuotaBack) {
  start({{"main", 3}});
  job({{"main", 5}});
  (void)w.settle();
  slice("slice-3", {{"main", 5}}, "slice-1");
  (void)w.settle();
  EXPECT_EQ(ended("slice-1").substr(0, 22), "WorkloadSliceReplaced:");
  for (const auto& intent : w.wanted<WorkloadIntent>())
    EXPECT_NE(intent.uid, "uid-slice-1") << "the end of the old slice is not written before the new one has its place (EJ-139)";
  WriteRefused refused;
  refused.kind = ObjectKind::workload;
  refused.uid = "uid-slice-3";
  refused.http_status = 422;
  w.observe(refused);
  EXPECT_EQ(ended("slice-1"), "");
  EXPECT_TRUE(find("slice-1")->admitted());
  EXPECT_EQ(used(), 3'000);
  EXPECT_EQ(w.settle().front(), "reserved slice-3 admitted");
  EXPECT_EQ(used(), 5'000);
}

// EJ-30, EJ-50, EJ-55: the same when the new slice goes before its admission is written; the deletion of a finished slice changes nothing
TEST_F(ElasticJobs, ADeletedReplacementLeavesTheOldSlice) {
  start({{"main", 3}});
  job({{"main", 5}});
  (void)w.settle();
  slice("slice-3", {{"main", 5}}, "slice-1");
  (void)w.settle();
  EXPECT_EQ(used(), 5'000);
  w.observe(ObjectDeleted{ObjectKind::workload, "default", "slice-3", "uid-slice-3"});
  EXPECT_EQ(ended("slice-1"), "");
  EXPECT_EQ(used(), 3'000);
  (void)w.settle();
}

// EJ-53: both were admitted, by whoever: the one that is named ends, and no more
TEST_F(ElasticJobs, TwoAdmittedSlicesBecomeOne) {
  start({{"main", 3}});
  auto o = w.workload("slice-9", "lq", 1'000);
  o.meta.created = w.now;
  o.owner_uid = "job-train";
  o.elastic = true;
  o.replacement_for = "default/slice-1";
  o.pod_sets = pod_sets({{"main", 3}});
  auto conditions = arena.make<ConditionFacts>(2);
  conditions[0] = {ConditionType::quota_reserved, ConditionStatus::true_, "QuotaReserved", "m", w.now};
  conditions[1] = {ConditionType::admitted, ConditionStatus::true_, "Admitted", "m", w.now};
  o.conditions = conditions;
  o.has_admission = true;
  o.admission_cluster_queue = "cq";
  auto assignments = arena.make<PodSetAssignmentFacts>(1);
  auto flavors = arena.make<FlavorChoice>(1);
  auto usage = arena.make<ResourceAmount>(1);
  flavors[0] = {"cpu", "default"};
  usage[0] = {"cpu", 3'000};
  assignments[0] = {"main", 3, flavors, usage};
  o.assignments = assignments;
  w.observe(o);
  EXPECT_EQ(w.settle().front(), "finished slice-1");
  EXPECT_EQ(ended("slice-1"), "WorkloadSliceReplaced: Replaced to accommodate a new workload slice");
  EXPECT_EQ(ended("slice-9"), "");
  EXPECT_EQ(used(), 3'000);
}

// EJ-24, EJ-25, EJ-26, EJ-56: of two that claim the same place the older one waits on, the other is out of sync
TEST_F(ElasticJobs, OfTwoClaimantsTheOlderOneStays) {
  start({{"main", 3}});
  slice("first", {{"main", 30}}, "slice-1");
  w.tick(Duration::seconds(2));
  slice("second", {{"main", 30}}, "slice-1");
  job({{"main", 30}});
  (void)w.settle();
  EXPECT_EQ(ended("second"), "OutOfSync: The workload slice is out of sync with its parent job");
  EXPECT_EQ(ended("first"), "") << "failing admission never ends it";
  EXPECT_EQ(ended("slice-1"), "");
}

// EJ-28, EJ-29: a Workload that is not the job's cannot take the place of its slice
TEST_F(ElasticJobs, AStrangerReplacesNothing) {
  start({{"main", 3}});
  auto o = w.workload("stranger", "lq", 8'000);
  o.elastic = true;
  o.replacement_for = "default/slice-1";
  w.observe(o);
  (void)w.settle();
  EXPECT_EQ(ended("slice-1"), "");
  EXPECT_FALSE(w.state("stranger").admitted()) << "it is charged in full";
  EXPECT_EQ(used(), 3'000);
}

// EJ-14, EJ-15: other pod sets or other templates are another job
TEST_F(ElasticJobs, AnotherTemplateIsNoResize) {
  start({{"main", 3}});
  job({{"main", 4}}, false, 99);
  EXPECT_EQ(w.settle(), Lines{"removed slice-1"});
}

// EJ-10, EJ-11, EJ-19, EJ-137: told twice, and told late, nothing is asked for twice
TEST_F(ElasticJobs, QuickResizesAskForOneSlice) {
  start({{"main", 3}});
  job({{"main", 5}});
  EXPECT_EQ(w.settle(), Lines{"requested slice-3"});
  job({{"main", 6}});
  EXPECT_EQ(w.settle(), Lines{}) << "one is on its way already";
  auto creates = w.wanted<WorkloadCreateIntent>();
  ASSERT_EQ(creates.size(), 1U);
  EXPECT_EQ(creates[0].name, "slice-3") << "the name does not change under way";
  EXPECT_EQ(creates[0].replaces, "default/slice-1");
  EXPECT_EQ(creates[0].slice_name, "slice-1");
  EXPECT_EQ(creates[0].counts, (std::vector<std::pair<std::string, std::int32_t>>{{"main", 6}})) << "the size that is wanted by now";
  slice("slice-3", {{"main", 5}}, "slice-1");
  (void)w.settle();
  EXPECT_FALSE(find("slice-3")->reserved()) << "it is about to be resized: an admission would be for another size";
  slice("slice-3", {{"main", 6}}, "slice-1");
  (void)w.settle();
  EXPECT_TRUE(find("slice-3")->admitted());
  EXPECT_EQ(used(), 6'000);
}

// EJ-94: both slices follow the job's class
TEST_F(ElasticJobs, BothSlicesFollowThePriorityClass) {
  WorkloadPriorityClassObserved high;
  high.meta.name = "high";
  high.value = 100;
  w.observe(high);
  auto j = w.job("train", "lq");
  j.elastic = true;
  j.priority_class = "high";
  j.workload_name = "slice-1";
  j.pod_sets = pod_sets({{"main", 20}});
  j.suspended = false;
  slice("slice-1", {{"main", 3}});
  slice("slice-2", {{"main", 20}}, "slice-1");
  (void)w.settle();
  w.observe(j);
  (void)w.settle();
  EXPECT_TRUE(find("slice-2")->revision_pending);
}

// EJ-94: a class that does not exist is told, and changes nothing until it does
TEST_F(ElasticJobs, AClassThatDoesNotExistIsMissed) {
  start({{"main", 3}});
  const auto lacks_class = [&] {
    const auto& domain = w.driver().domain();
    return w.driver().parent(*domain.find_parent("job-train"))->lacks_priority_class(*domain.catalog());
  };
  EXPECT_FALSE(lacks_class());
  auto j = w.job("train", "lq");
  j.meta.generation = 2;
  j.elastic = true;
  j.priority_class = "nowhere";
  j.workload_name = "slice-2";
  j.pod_sets = pod_sets({{"main", 3}});
  j.suspended = false;
  j.active = true;
  w.observe(j);
  (void)w.settle();
  EXPECT_TRUE(lacks_class());
  EXPECT_FALSE(find("slice-1")->revision_pending);
  WorkloadPriorityClassObserved made;
  made.meta.name = "nowhere";
  made.value = 100;
  w.observe(made);
  (void)w.settle();
  EXPECT_FALSE(lacks_class());
  EXPECT_FALSE(find("slice-1")->revision_pending) << "it got its quota without a class";
}

// Another's write makes the next generation of the object before the revision is written: it is decided once more, which is no circle
TEST_F(ElasticJobs, ARevisionThatAnotherWriteOvertakesIsDecidedAnew) {
  job({{"main", 20}}, true);  // more than there is, so it waits
  (void)w.settle();
  slice("slice-1", {{"main", 20}});
  (void)w.settle();
  job({{"main", 30}}, true);
  (void)w.settle();
  ASSERT_TRUE(find("slice-1")->revision_pending);
  slice("slice-1", {{"main", 20}});
  (void)w.settle();
  EXPECT_TRUE(find("slice-1")->revision_pending);
  slice("slice-1", {{"main", 30}});
  (void)w.settle();
  EXPECT_FALSE(find("slice-1")->revision_pending);
}

// EJ-98: the clock of the maximum execution time goes on in the new slice
TEST_F(ElasticJobs, TheExecutionClockRunsOn) {
  auto make = [&](const std::string& name, std::int32_t n, const std::string& replaces) {
    auto o = w.workload(name, "lq", 1'000);
    o.owner_uid = "job-train";
    o.elastic = true;
    o.max_exec_seconds = 100;
    if (!replaces.empty()) o.replacement_for = arena.copy("default/" + replaces);
    o.pod_sets = pod_sets({{"main", n}});
    w.observe(o);
  };
  make("a", 1, "");
  (void)w.settle();
  w.tick(Duration::seconds(40));
  make("b", 2, "a");
  (void)w.settle();
  EXPECT_TRUE(find("b")->admitted());
  EXPECT_EQ(find("b")->accumulated_exec_seconds, 40);
}

// EJ-97: the garbage collector takes the slices of a job that was deleted; Hindsight lets go of them, finished or not
TEST_F(ElasticJobs, ADeletedJobLetsItsSlicesGo) {
  start({{"main", 3}});
  job({{"main", 5}});
  (void)w.settle();
  slice("slice-2", {{"main", 5}}, "slice-1");
  (void)w.settle();
  job({{"main", 30}});
  (void)w.settle();
  slice("slice-3", {{"main", 30}}, "slice-2");
  (void)w.settle();
  ASSERT_NE(ended("slice-1"), "");
  ASSERT_TRUE(find("slice-2")->admitted());
  ASSERT_FALSE(find("slice-3")->reserved());
  w.observe(ObjectDeleted{ObjectKind::job, "default", "train", "job-train"});
  EXPECT_EQ(w.settle(), Lines{});
  const std::vector<std::pair<const char*, std::int32_t>> slices{{"slice-1", 3}, {"slice-2", 5}, {"slice-3", 30}};
  for (const auto& [name, size] : slices) {
    auto o = w.seen_as(name);
    o.meta.deleting = true;
    o.meta.in_use_finalizer = true;
    o.pod_sets = pod_sets({{"main", size}});
    w.observe(o);
  }
  (void)w.settle();
  std::set<std::string> released;
  for (const auto& i : w.all<WorkloadIntent>())
    if (i.release_finalizer) released.insert(i.name);
  EXPECT_EQ(released, (std::set<std::string>{"slice-1", "slice-2", "slice-3"}));
  for (const auto& [name, size] : slices)
    w.observe(ObjectDeleted{ObjectKind::workload, "default", name, arena.copy("uid-" + std::string(name))});
  EXPECT_EQ(used(), 0);
  EXPECT_EQ(find("slice-1"), nullptr);
  EXPECT_EQ(w.settle(), Lines{});
}

// EJ-54: one replacement is decided once, whatever is told again
TEST_F(ElasticJobs, AReplacementThatHappenedIsNotDecidedAgain) {
  start({{"main", 3}});
  job({{"main", 5}});
  (void)w.settle();
  slice("slice-2", {{"main", 5}}, "slice-1");
  int replacements = 0, ends = 0;
  const auto decide = [&] {
    while (const auto step = w.driver().decide()) {
      for (const Event& e : step->events) {
        replacements += std::holds_alternative<SliceReplaced>(e) ? 1 : 0;
        ends += std::holds_alternative<WorkloadFinished>(e) ? 1 : 0;
      }
      w.observe_decision(*step);
    }
  };
  decide();
  const std::pair<int, int> once(replacements, ends);
  ASSERT_EQ(replacements, 1);
  ASSERT_NE(ended("slice-1"), "");
  for (int turn = 0; turn < 2; ++turn) {
    for (const char* name : {"slice-1", "slice-2"}) {
      auto o = w.seen_as(name);
      o.pod_sets = pod_sets({{"main", name == std::string_view("slice-1") ? 3 : 5}});
      w.observe(o);
    }
    w.tick(Duration::seconds(2));
    decide();
    w.observe_epoch();  // another writer takes over and is told everything
    w.observe(MirrorSynced{});
    decide();
  }
  EXPECT_EQ(std::pair(replacements, ends), once);
}

// EJ-7: an old list can show a deleted slice once more, and the right one is finished because of it. The next one has its name.
TEST_F(ElasticJobs, AFinishedSliceLeavesItsNameToTheNext) {
  job({{"main", 1}}, true);
  EXPECT_EQ(w.settle(), Lines{"requested slice-1"});
  auto o = w.workload("slice-1", "lq", 1'000);
  o.owner_uid = "job-train";
  o.owner_kind = "Job";
  o.owner_name = "train";
  o.elastic = true;
  o.slice_name = "slice-1";
  o.pod_sets = pod_sets({{"main", 1}});
  auto conditions = arena.make<ConditionFacts>(1);
  conditions[0] = {ConditionType::finished, ConditionStatus::true_, "OutOfSync", "m", w.now};
  o.conditions = conditions;
  w.observe(o);
  EXPECT_EQ(w.settle(), Lines{"removed slice-1"});
  w.observe(ObjectDeleted{ObjectKind::workload, "default", "slice-1", "uid-slice-1"});
  EXPECT_EQ(w.settle(), Lines{"requested slice-1"});
}

}  // namespace
}  // namespace hindsight::admission::testing
