// Which jobs are looked after at all: namespaces, queue names, ancestors (base-api §7.1 steps 2 to 4).

#include <gtest/gtest.h>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

class ManagedJobs : public ::testing::Test {
 protected:
  FactWorld w;
  void SetUp() override {
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "cq", .cpu = 10'000});
    w.local_queue("lq", "cq");
    w.observe(MirrorSynced{});
    w.tick(Duration::seconds(2));
    (void)w.settle();
    (void)w.wanted<JobIntent>();
  }
  /// The job was asked for a Workload; here it is, and it is admitted.
  void admit(const JobObserved& j) {
    w.observe(w.workload_of(j));
    (void)w.settle();
  }
  JobObserved running(JobObserved j) {
    j.meta.resource_version = w.next_version();
    j.suspended = false;
    j.active = true;
    return j;
  }
  [[nodiscard]] const WorkloadParent& parent_of(std::string_view job) const {
    FactWorld& world = const_cast<FactWorld&>(w);
    return *world.driver().parent(*world.driver().domain().find_parent("job-" + std::string(job)));
  }
};

// BA-172
TEST_F(ManagedJobs, ANamespaceThatTheSelectorLeavesOutIsNotTouched) {
  Settings settings;
  settings.managed_jobs_namespaces = {{Symbol("team"), SelectorOperator::exists, {}}};
  w.configure(settings);
  auto j = w.job("a", "lq");
  w.observe(j);
  EXPECT_EQ(w.settle(), Lines{});
  j = running(j);
  w.observe(j);  // it runs without admission: none of our business
  EXPECT_EQ(w.settle(), Lines{});
  EXPECT_TRUE(w.wanted<JobIntent>().empty());
  j.meta.resource_version = w.next_version();
  j.suspended = true;
  j.active = false;
  w.observe(j);
  w.namespace_("default", "team");
  EXPECT_EQ(w.settle(), Lines{"requested job-a"});
}

// BA-172: by default all namespaces but those of the system
TEST_F(ManagedJobs, SystemNamespacesAreLeftOutByDefault) {
  auto j = w.job("a", "lq");
  j.meta.namespace_ = "kube-system";
  w.observe(j);
  EXPECT_EQ(w.settle(), Lines{});
  auto k = w.job("b", "lq");
  k.meta.namespace_ = "elsewhere";  // not seen yet; its name is enough
  w.observe(k);
  EXPECT_EQ(w.settle(), Lines{"requested job-b"});
}

// base-api §7.1 step 4
TEST_F(ManagedJobs, AJobWithoutAQueueNameIsLeftAloneUnlessConfigured) {
  const auto j = running(w.job("a", ""));
  w.observe(j);
  EXPECT_EQ(w.settle(), Lines{});
  EXPECT_TRUE(w.wanted<JobIntent>().empty());
  Settings settings;
  settings.manage_jobs_without_queue_name = true;
  w.configure(settings);
  EXPECT_EQ(w.settle(), Lines{});
  const auto all = w.driver().all_intents();
  ASSERT_EQ(std::count_if(all.begin(), all.end(), [](const Intent& i) { return std::holds_alternative<JobIntent>(i); }), 1);
  auto stopped = j;
  stopped.meta.resource_version = w.next_version();
  stopped.suspended = true;
  stopped.active = false;
  w.observe(stopped);
  EXPECT_EQ(w.settle(), Lines{"requested job-a"});
}

// BA-171
TEST_F(ManagedJobs, AChildIsNeverQueuedAndStopsWhileItsAncestorIsNotAdmitted) {
  const auto top = w.job("top", "lq");
  w.observe(top);
  EXPECT_EQ(w.settle(), Lines{"requested job-top"});
  const auto child = w.job("child", "lq", 1'000, "top");
  w.observe(child);
  EXPECT_EQ(w.settle(), Lines{});
  (void)w.wanted<JobIntent>();

  w.observe(running(child));
  EXPECT_EQ(w.settle(), Lines{});
  auto intents = w.wanted<JobIntent>();
  ASSERT_EQ(intents.size(), 1U);
  EXPECT_EQ(intents[0].name, "child");
  EXPECT_FALSE(intents[0].run);

  admit(top);
  intents = w.wanted<JobIntent>();
  ASSERT_EQ(intents.size(), 1U) << "the child is its owner's to start";
  EXPECT_EQ(intents[0].name, "top");
  EXPECT_TRUE(intents[0].run);
  w.observe(running(child));
  EXPECT_EQ(w.settle(), Lines{});
  EXPECT_TRUE(w.wanted<JobIntent>().empty());
}

// BA-171: the ancestor may be seen late, or get its queue name late
TEST_F(ManagedJobs, AQueuedJobThatTurnsOutToBeAChildLosesItsWorkload) {
  const auto child = w.job("child", "lq", 1'000, "top");
  w.observe(child);
  EXPECT_EQ(w.settle(), Lines{"requested job-child"}) << "an owner of a kind that is not ours, as far as is known";
  w.observe(w.workload_of(child));
  (void)w.settle();
  auto top = w.job("top", "");
  w.observe(top);
  EXPECT_EQ(w.settle(), Lines{});
  top.meta.resource_version = w.next_version();
  top.queue_name = "lq";
  w.observe(top);
  EXPECT_EQ(w.settle(), (Lines{"removed child", "requested job-top"}));
}

// BA-171: the topmost counts, over owners that are not queued
TEST_F(ManagedJobs, TheTopmostManagedAncestorDecides) {
  w.observe(w.job("top", "lq"));
  w.observe(w.job("middle", "", 1'000, "top"));
  w.observe(w.job("low", "lq", 1'000, "middle"));
  EXPECT_EQ(w.settle(), Lines{"requested job-top"});
  admit(w.job("top", "lq"));
  w.observe(running(w.job("low", "lq", 1'000, "middle")));
  (void)w.settle();
  for (const auto& i : w.wanted<JobIntent>()) EXPECT_EQ(i.name, "top");
}

// A circle of owners ends: who stands in it is not queued, and nobody is their own ancestor.
TEST_F(ManagedJobs, OwnersInACircleComeToAnEnd) {
  w.observe(w.job("a", "lq", 1'000, "b"));
  w.observe(w.job("b", "lq", 1'000, "a"));
  w.observe(w.job("self", "lq", 1'000, "self"));
  EXPECT_EQ(w.settle(), Lines{"requested job-self"});
}

// The garbage collector takes a child away some time after its owner: it is not queued in between.
TEST_F(ManagedJobs, AChildWhoseOwnerHasGoneIsNotQueued) {
  const auto top = w.job("top", "lq");
  w.observe(top);
  w.observe(w.job("child", "lq", 1'000, "top"));
  (void)w.settle();
  w.observe(ObjectDeleted{ObjectKind::job, "default", "top", top.meta.uid});
  EXPECT_EQ(w.settle(), Lines{});
}

// What the domain knows of ancestors survives a snapshot.
TEST_F(ManagedJobs, ASnapshotKeepsWhoDescendsFromWhom) {
  const auto top = w.job("top", "lq");
  w.observe(top);
  (void)w.settle();
  admit(top);
  const auto child = w.job("child", "lq", 1'000, "top");
  w.observe(child);
  (void)w.settle();
  FactWorld copy;
  copy.now = w.now;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  for (FactWorld* f : {&w, &copy}) {
    f->observe(running(child));
    EXPECT_EQ(f->settle(), Lines{});
    for (const auto& i : f->wanted<JobIntent>()) EXPECT_EQ(i.name, "top");
    f->observe(ObjectDeleted{ObjectKind::workload, "default", "top", "uid-top"});
    (void)f->settle();
    const auto intents = f->wanted<JobIntent>();
    EXPECT_EQ(std::count_if(intents.begin(), intents.end(), [](const JobIntent& i) { return i.name == "child" && !i.run; }), 1);
  }
}

}  // namespace
}  // namespace hindsight::admission::testing
