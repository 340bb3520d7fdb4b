// Tables as `kubectl get` prints them.

#include "projections/tables.hpp"

#include "tests/projections/reading.hpp"

namespace hindsight::projections {
namespace {

class Tables : public Reading {
 protected:
  void fill() {
    w.set_up({{.name = "team-a", .cohort = "all", .quotas = {{.nominal = 4000}}},
              {.name = "team-b", .cohort = "all", .quotas = {{.nominal = 4000}}, .strategy = QueueingStrategy::strict_fifo}});
    w.submit({.name = "big", .cpu = 3000, .priority = 7, .count = 2});  // borrows 2
    w.settle();
    w.tick(Duration::seconds(90));
    w.submit({.name = "done", .cpu = 100});
    w.settle();
    w.confirm();
    w.submit({.name = "late", .queue = "lq-team-b", .cpu = 3000});
    w.settle();
    w.finish("done");
    w.wake();
  }
};

// BA-2
TEST_F(Tables, WorkloadsWithTheirPrinterColumns) {
  fill();
  EXPECT_EQ(render(workloads_table(w.driver(), {.namespace_ = "default"})),
            "NAME   QUEUE       RESERVED IN   ADMITTED   FINISHED   AGE   PRIORITY   STATUS\n"
            "big    lq          team-a        True                  92s          7   Admitted\n"
            "done   lq          team-a        True       True       2s           0   Finished/Succeeded\n"
            "late   lq-team-b                 False                 2s           0   Pending/WaitingForQuota\n");
}

TEST_F(Tables, AgesCountToTheMomentThatIsLookedAt) {
  fill();
  const auto ages = [&] {
    std::vector<std::string> out;
    const auto t = workloads_table(w.driver(), {.namespace_ = "default"});
    for (const auto& row : t.rows) out.push_back(row[5].text);
    return out;
  };
  using Ages = std::vector<std::string>;
  EXPECT_EQ(ages(), (Ages{"92s", "2s", "2s"}));
  w.driver().look_at(w.now + Duration::seconds(60));
  EXPECT_EQ(ages(), (Ages{"2m32s", "62s", "62s"}));
  w.driver().look_at(w.now - Duration::seconds(60));
  EXPECT_EQ(ages(), (Ages{"92s", "2s", "2s"})) << "the last record is later";
}

TEST_F(Tables, AllNamespacesGetAColumnOfTheirOwn) {
  fill();
  const auto t = workloads_table(w.driver(), {});
  EXPECT_EQ(t.columns.front().heading, "NAMESPACE");
  EXPECT_EQ(t.rows.front().front().text, "default");
}

TEST_F(Tables, FiltersNarrowWorkloads) {
  fill();
  const auto names = [&](const Filter& f) {
    std::vector<std::string> out;
    for (const auto& at : select_workloads(w.driver(), f)) out.push_back(at.workload->name.text());
    return out;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({}), (Names{"big", "done", "late"}));
  EXPECT_EQ(names({.namespace_ = "other"}), Names{});
  EXPECT_EQ(names({.names = {"late"}}), Names{"late"});
  EXPECT_EQ(names({.cluster_queue = "team-b"}), Names{"late"});
  EXPECT_EQ(names({.local_queue = "lq"}), (Names{"big", "done"}));
  EXPECT_EQ(names({.phases = {Phase::admitted, Phase::finished}}), (Names{"big", "done"}));
}

// BA-2, BA-46
TEST_F(Tables, ClusterQueuesWideShowWhatIsBorrowed) {
  fill();
  EXPECT_EQ(render(cluster_queues_table(w.driver(), {})),
            "NAME     COHORT   PENDING WORKLOADS\n"
            "team-a   all                      0\n"
            "team-b   all                      1\n");
  EXPECT_EQ(render(cluster_queues_table(w.driver(), {.names = {"team-a"}}), {.wide = true}),
            "NAME     COHORT   STRATEGY         PENDING WORKLOADS   RESERVING WORKLOADS   ADMITTED WORKLOADS   ACTIVE   USAGE\n"
            "team-a   all      BestEffortFIFO                   0                     1                    1   True     default/cpu 6/4 +2 "
            "borrowed\n");
}

TEST_F(Tables, TheOtherKinds) {
  fill();
  w.flavor("spot", {{"pool", "spot"}}, "spot");
  w.check("prov", false);
  EXPECT_EQ(render(local_queues_table(w.driver(), {.namespace_ = "default"})),
            "NAME        CLUSTERQUEUE   PENDING WORKLOADS   ADMITTED WORKLOADS\n"
            "lq          team-a                         0                    1\n"
            "lq-team-b   team-b                         1                    0\n");
  EXPECT_EQ(render(cohorts_table(w.driver(), {}), {.wide = true}),
            "NAME   PARENT   CLUSTERQUEUES   COHORTS   EXISTS   USAGE\n"
            "all                         2         0   False    default/cpu 6/8\n");
  EXPECT_EQ(render(resource_flavors_table(w.driver(), {.names = {"spot"}}), {.wide = true}),
            "NAME   NODE LABELS   TAINTS                 TOPOLOGY\n"
            "spot   pool=spot     spot=true:NoSchedule\n");
  EXPECT_EQ(render(admission_checks_table(w.driver(), {})),
            "NAME   CONTROLLER          ACTIVE\n"
            "prov   example.com/check   False\n");
}

// BA-29: of the 4 of queue a 3 are lent to nobody; they count for its cohorts all the same
TEST_F(Tables, CohortsHaveWhatIsOfAllBelowThem) {
  cohorts_in_a_tree();
  EXPECT_EQ(render(cohorts_table(w.driver(), {}), {.wide = true}),
            "NAME   PARENT   CLUSTERQUEUES   COHORTS   EXISTS   USAGE\n"
            "mid    root                 2         0   True     default/cpu 5/7\n"
            "root                        1         1   True     default/cpu 5/11\n");
}

}  // namespace
}  // namespace hindsight::projections
