// What changed between two states, in the fields' own names.

#include "replay/diff.hpp"

#include <gtest/gtest.h>

#include "events/memory_log.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::replay {
namespace {

using hindsight::testing::LogWorld;

/// "Workload default/w1 + spec.priority: 0", "ClusterQueue cq ~ a: x -> y"
std::vector<std::string> lines(const std::vector<ObjectChange>& changes) {
  std::vector<std::string> out;
  for (const auto& c : changes) {
    const char* sign = c.kind == ObjectChange::Kind::appeared ? " + " : c.kind == ObjectChange::Kind::gone ? " - " : " ~ ";
    const std::string name = c.object.kind + " " + (c.object.namespace_.empty() ? "" : c.object.namespace_ + "/") + c.object.name;
    for (const auto& f : c.fields) {
      const std::string change = c.kind == ObjectChange::Kind::appeared ? f.after
                                 : c.kind == ObjectChange::Kind::gone   ? f.before
                                                                        : f.before + " -> " + f.after;
      out.push_back(name + sign + f.field + ": " + change);
    }
  }
  return out;
}

class Diff : public ::testing::Test {
 protected:
  Diff() { w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}, .within = PreemptionPolicy::lower_priority}}); }
  Picture now() { return picture_of(w.driver()); }
  events::MemoryLog log;
  LogWorld w{log};
};

TEST_F(Diff, EqualStatesHaveNone) { EXPECT_TRUE(diff(now(), now()).empty()); }

TEST_F(Diff, AnAdmissionShowsInWorkloadAndQueues) {
  w.submit({.name = "one", .cpu = 1500, .priority = 3, .count = 2});
  const auto before = now();
  w.settle();
  EXPECT_EQ(lines(diff(before, now())),
            (std::vector<std::string>{
                "ClusterQueue cq ~ status.admittedWorkloads: 0 -> 1",
                "ClusterQueue cq ~ status.flavorsReservation[default/cpu]:  -> 3",
                "ClusterQueue cq ~ status.flavorsUsage[default/cpu]:  -> 3",
                "ClusterQueue cq ~ status.pendingWorkloads: 1 -> 0",
                "ClusterQueue cq ~ status.reservingWorkloads: 0 -> 1",
                "LocalQueue default/lq ~ status.admittedWorkloads: 0 -> 1",
                "LocalQueue default/lq ~ status.flavorsReservation[default/cpu]:  -> 3",
                "LocalQueue default/lq ~ status.flavorsUsage[default/cpu]:  -> 3",
                "LocalQueue default/lq ~ status.pendingWorkloads: 1 -> 0",
                "LocalQueue default/lq ~ status.reservingWorkloads: 0 -> 1",
                "Workload default/one ~ status.admission.clusterQueue:  -> cq",
                "Workload default/one ~ status.admission.podSets[main]:  -> 2, cpu 3 of default",
                "Workload default/one ~ status.conditions[Admitted]:  -> True Admitted: The workload is admitted",
                "Workload default/one ~ status.conditions[QuotaReserved]:  -> True QuotaReserved: Quota reserved "
                "in ClusterQueue cq",
            }));
}

TEST_F(Diff, WhatAppearsAndGoesIsSaidWhole) {
  const auto before = now();
  w.submit({.name = "one", .cpu = 1000});
  const auto there = now();
  const auto appeared = lines(diff(before, there));
  EXPECT_NE(std::find(appeared.begin(), appeared.end(), "Workload default/one + spec.podSets[main]: 1, cpu 1"), appeared.end());
  w.remove("one");
  const auto gone = lines(diff(there, now()));
  EXPECT_NE(std::find(gone.begin(), gone.end(), "Workload default/one - spec.queueName: lq"), gone.end());
}

TEST_F(Diff, AChangedQuotaIsNamedByItsPlace) {
  const auto before = now();
  w.queue(
      {.name = "cq", .cohort = "all", .quotas = {{.nominal = 6500, .borrowing_limit = 1000}}, .within = PreemptionPolicy::lower_priority});
  EXPECT_EQ(lines(diff(before, now())), (std::vector<std::string>{
                                            "ClusterQueue cq ~ spec.cohortName:  -> all",
                                            "ClusterQueue cq ~ spec.quota[default/cpu].borrowingLimit:  -> 1",
                                            "ClusterQueue cq ~ spec.quota[default/cpu].nominalQuota: 4 -> 6500m",
                                        }));
}

TEST_F(Diff, AnObjectMadeAgainUnderItsNameShowsByItsUid) {
  w.submit({.name = "one"});
  const auto before = now();
  w.remove("one");
  auto again = w.make({.name = "one"});
  again.meta.uid = "another";
  again.meta.created = w.now;
  w.observe(again);
  const auto changed = lines(diff(before, now()));
  EXPECT_NE(std::find(changed.begin(), changed.end(), "Workload default/one ~ metadata.uid: uid-one -> another"), changed.end());
}

}  // namespace
}  // namespace hindsight::replay
