// The finalizer resource-in-use, and queues that are being deleted (base-admission §8.8).

#include <gtest/gtest.h>

#include "admission/state/snapshot.hpp"
#include "tests/admission/entities/fact_world.hpp"

namespace hindsight::admission::testing {
namespace {

using Lines = std::vector<std::string>;

class Finalizers : public ::testing::Test {
 protected:
  FactWorld w;
  void SetUp() override {
    w.namespace_("default");
    w.flavor("default");
    w.queue({.name = "cq", .cpu = 4'000});
    w.local_queue("lq", "cq");
    w.observe(MirrorSynced{});
    (void)w.settle();
    (void)told();
  }
  /// "+name" where the finalizer shall be set, "-name" where it shall go.
  Lines told() {
    Lines out;
    for (const auto& i : w.wanted<FinalizerIntent>()) out.push_back((i.held ? "+" : "-") + i.name);
    return out;
  }
  void check(bool deleting) {
    AdmissionCheckObserved o;
    o.meta.name = "k";
    o.meta.deleting = deleting;
    o.meta.in_use_finalizer = true;
    o.active = true;
    w.observe(o);
  }
};

// BA-4, BA-147
TEST_F(Finalizers, ThoseThatLackItGetIt) {
  w.flavor("bare", false, false);
  w.queue({.name = "new", .cpu = 1, .finalizer = false});
  EXPECT_EQ(told(), (Lines{"+bare", "+new"}));
  w.flavor("bare");
  w.queue({.name = "new", .cpu = 1});
  EXPECT_EQ(told(), Lines{});
}

// BA-147: the flavor waits for the last queue that names it
TEST_F(Finalizers, AFlavorGoesWithItsLastUser) {
  w.flavor("unused");
  w.flavor("unused", true);
  EXPECT_EQ(told(), Lines{"-unused"});
  w.flavor("default", true);
  EXPECT_EQ(told(), Lines{});
  w.observe(ObjectDeleted{ObjectKind::cluster_queue, "", "cq", ""});
  EXPECT_EQ(told(), Lines{"-default"});
}

// TAS-9: a Topology waits for the last flavor that names it; with topologies switched off nobody holds it.
TEST_F(Finalizers, ATopologyGoesWithItsLastUser) {
  const auto topology = [&](bool deleting, bool held) {
    TopologyObserved t;
    t.meta.name = "racks";
    t.meta.deleting = deleting;
    t.meta.in_use_finalizer = held;
    w.observe(t);
  };
  topology(false, false);
  EXPECT_EQ(told(), Lines{"+racks"});
  topology(false, true);
  ResourceFlavorObserved f;
  f.meta.name = "on-racks";
  f.meta.in_use_finalizer = true;
  f.topology_name = "racks";
  w.observe(f);
  topology(true, true);
  EXPECT_EQ(told(), Lines{});
  w.observe(ObjectDeleted{ObjectKind::resource_flavor, "", "on-racks", ""});
  EXPECT_EQ(told(), Lines{"-racks"});
  w.observe(ObjectDeleted{ObjectKind::topology, "", "racks", ""});
  Settings off;
  off.topologies = false;
  w.configure(off);
  topology(false, false);
  EXPECT_EQ(told(), Lines{});
}

// BA-147
TEST_F(Finalizers, ACheckGoesWithItsLastUser) {
  check(false);
  ClusterQueueObserved q;
  q.meta.name = "checked";
  q.meta.in_use_finalizer = true;
  const AdmissionCheckRule rule{"k", {}};
  q.admission_checks = {&rule, 1};
  w.observe(q);
  check(true);
  EXPECT_EQ(told(), Lines{});
  q.admission_checks = {};
  w.observe(q);
  EXPECT_EQ(told(), Lines{"-k"});
}

// BA-146: it admits nothing more, and goes when nothing reserves in it
TEST_F(Finalizers, AQueueThatIsBeingDeletedEndsWithItsLastReservation) {
  w.observe(w.workload("runs", "lq", 3'000));
  EXPECT_EQ(w.settle(), Lines{"reserved runs admitted"});
  (void)told();
  w.queue({.name = "cq", .cpu = 4'000, .deleting = true});
  (void)w.settle();
  const auto statuses = w.wanted<QueueStatusIntent>();
  const auto cq = std::find_if(statuses.begin(), statuses.end(), [](const auto& s) { return !s.local && s.name == "cq"; });
  ASSERT_NE(cq, statuses.end());
  EXPECT_FALSE(cq->active);
  EXPECT_EQ(cq->active_reason, "Terminating");
  EXPECT_EQ(cq->active_message, "Can't admit new workloads; clusterQueue is terminating");
  w.observe(w.workload("late", "lq", 1'000));
  (void)w.settle();
  EXPECT_EQ(w.pending("late"), "Suspended: ClusterQueue cq is inactive");
  EXPECT_TRUE(w.state("runs").admitted());  // BA-145
  EXPECT_EQ(told(), Lines{});
  w.observe(ObjectDeleted{ObjectKind::workload, "default", "runs", "uid-runs"});
  (void)w.settle();
  EXPECT_EQ(told(), Lines{"-cq"});
}

// Until all kinds have been listed in this epoch somebody unseen may use it.
TEST_F(Finalizers, NothingIsLetGoBeforeAllHasBeenListed) {
  w.observe_epoch();
  w.flavor("unused");
  w.flavor("unused", true);
  EXPECT_EQ(told(), Lines{});
  FactWorld copy;
  ASSERT_TRUE(SnapshotCodec::read(SnapshotCodec::write(w.driver()), copy.driver()));
  EXPECT_EQ(copy.driver().state_hash(), w.driver().state_hash());
  for (FactWorld* f : {&w, &copy}) {
    f->observe(MirrorSynced{});
    const auto intents = f->wanted<FinalizerIntent>();
    ASSERT_EQ(intents.size(), 1U);
    EXPECT_EQ(intents[0].name, "unused");
    EXPECT_FALSE(intents[0].held);
  }
}

// What is missing after a restart is asked for again.
TEST_F(Finalizers, AllIntentsNameThem) {
  w.flavor("bare", false, false);
  (void)told();
  const auto all = w.driver().all_intents();
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const Intent& i) { return std::holds_alternative<FinalizerIntent>(i); }), 1);
}

}  // namespace
}  // namespace hindsight::admission::testing
