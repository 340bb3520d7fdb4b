// What waits in a queue, as the visibility API lists it.

#include "projections/pending_workloads.hpp"

#include "tests/projections/reading.hpp"

namespace hindsight::projections {
namespace {

class PendingWorkloads : public Reading {
 protected:
  /// "team" has room for one cpu and two LocalQueues; "first" holds the quota.
  void fill() {
    w.set_up({{.name = "team", .quotas = {{.nominal = 1000}}}, {.name = "other", .quotas = {{.nominal = 1000}}}});
    w.local_queue("lq-b", "team");
    w.namespace_("second");
    w.local_queue("lq", "team", StopPolicy::none, "second");
    w.submit({.name = "first"});
    w.settle();
    w.submit({.name = "huge", .cpu = 5000});  // never fits: parked
    w.settle();
    for (const char* name : {"a", "b"}) {
      w.tick(Duration::seconds(1));
      w.submit({.name = name});
    }
    w.tick(Duration::seconds(1));
    w.submit({.name = "urgent", .queue = "lq-b", .priority = 5});
    w.tick(Duration::seconds(1));
    w.submit({.name = "elsewhere", .namespace_ = "second"});
    w.settle();
  }
  /// "name position/local position"
  static std::vector<std::string> lines(const std::optional<std::vector<PendingWorkload>>& found) {
    std::vector<std::string> out;
    if (!found) return {"no such queue"};
    for (const auto& one : *found) out.push_back(one.name + " " + std::to_string(one.position) + "/" + std::to_string(one.local_position));
    return out;
  }
  using Lines = std::vector<std::string>;
};

// BA-192: heap and inadmissible set together, in queue order, with positions from 0.
TEST_F(PendingWorkloads, ClusterQueueInItsOrder) {
  fill();
  EXPECT_EQ(lines(pending_in_cluster_queue(w.driver(), "team", {})), (Lines{"urgent 0/0", "huge 1/0", "a 2/1", "b 3/2", "elsewhere 4/0"}));
  EXPECT_EQ(lines(pending_in_cluster_queue(w.driver(), "other", {})), Lines{});
}

// BA-192: positions are computed before offset and limit are applied.
TEST_F(PendingWorkloads, PagesKeepPositions) {
  fill();
  EXPECT_EQ(lines(pending_in_cluster_queue(w.driver(), "team", {.offset = 1, .limit = 2})), (Lines{"huge 1/0", "a 2/1"}));
  EXPECT_EQ(lines(pending_in_cluster_queue(w.driver(), "team", {.offset = 4})), Lines{"elsewhere 4/0"});
  EXPECT_EQ(lines(pending_in_cluster_queue(w.driver(), "team", {.offset = 5})), Lines{});
  EXPECT_EQ(lines(pending_in_cluster_queue(w.driver(), "team", {.limit = 0})), Lines{});
  // Pages put together are the whole.
  const auto whole = lines(pending_in_cluster_queue(w.driver(), "team", {}));
  for (std::size_t size = 1; size <= whole.size(); ++size) {
    Lines joined;
    for (std::size_t offset = 0; offset < whole.size(); offset += size)
      for (const auto& line : lines(pending_in_cluster_queue(w.driver(), "team", {.offset = offset, .limit = size})))
        joined.push_back(line);
    EXPECT_EQ(joined, whole) << size;
  }
}

// BA-192
TEST_F(PendingWorkloads, LocalQueueOfOneNamespace) {
  fill();
  EXPECT_EQ(lines(pending_in_local_queue(w.driver(), "default", "lq", {})), (Lines{"huge 1/0", "a 2/1", "b 3/2"}));
  EXPECT_EQ(lines(pending_in_local_queue(w.driver(), "default", "lq", {.offset = 1, .limit = 1})), Lines{"a 2/1"});
  EXPECT_EQ(lines(pending_in_local_queue(w.driver(), "second", "lq", {})), Lines{"elsewhere 4/0"});
}

TEST_F(PendingWorkloads, QueuesThatAreNotThere) {
  fill();
  EXPECT_EQ(lines(pending_in_cluster_queue(w.driver(), "nowhere", {})), Lines{"no such queue"});
  EXPECT_EQ(lines(pending_in_local_queue(w.driver(), "default", "nowhere", {})), Lines{"no such queue"});
  EXPECT_EQ(lines(pending_in_local_queue(w.driver(), "nowhere", "lq", {})), Lines{"no such queue"});
  // There is the LocalQueue, and nobody can wait behind it.
  w.local_queue("lost", "nowhere");
  EXPECT_EQ(lines(pending_in_local_queue(w.driver(), "default", "lost", {})), Lines{});
}

TEST_F(PendingWorkloads, FactsOfTheWorkloadAndItsJob) {
  fill();
  w.submit_job({.name = "train", .cpu = 2000, .priority = 3});
  w.settle();
  const auto found = pending_in_cluster_queue(w.driver(), "team", {.offset = 1, .limit = 1});
  ASSERT_TRUE(found && found->size() == 1);
  const PendingWorkload& one = found->front();
  EXPECT_EQ(one.name, "job-train");
  EXPECT_EQ(one.namespace_, "default");
  EXPECT_EQ(one.local_queue, "lq");
  EXPECT_EQ(one.priority, 3);
  EXPECT_EQ(one.created, Time::from_seconds(w.now.floor_seconds()));
  ASSERT_TRUE(one.owner);
  EXPECT_EQ(one.owner->kind + "." + one.owner->group + "/" + one.owner->name + " " + one.owner->uid, "Job.batch/train job-uid-train");
}

}  // namespace
}  // namespace hindsight::projections
