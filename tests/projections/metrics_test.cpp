// Metrics under Kueue's names, in the Prometheus text format (base-api §8).

#include "projections/metrics.hpp"

#include "tests/projections/reading.hpp"

namespace hindsight::projections {
namespace {

class MetricsOf : public Reading {
 protected:
  /// Folds the log with the metrics looking on.
  std::string text(MetricsOptions options = {.cluster_queue_resources = true}) {
    w.flush();
    Metrics metrics(std::move(options));
    replay::Past past(log, "default");
    past.look_on({}, [&](events::Position, const RecordView& r) { metrics.record(r, past.driver()); });
    EXPECT_TRUE(past.fold_to(w.position()));
    return metrics.text(past.driver());
  }
  static void expect_line(const std::string& text, const std::string& line) {
    EXPECT_NE(("\n" + text).find("\n" + line + "\n"), std::string::npos) << "missing: " << line << "\nin:\n" << text;
  }
};

TEST_F(MetricsOf, AdmissionsAreCountedAndTimed) {
  w.set_up({{.name = "cq", .cohort = "all", .quotas = {{.nominal = 4000, .borrowing_limit = 500}}},
            {.name = "other", .cohort = "all", .quotas = {{.nominal = 1000}}}});
  w.submit({.name = "one", .cpu = 3000});
  w.now = w.now + Duration::seconds(3);
  w.tick({});
  w.settle();
  w.submit({.name = "two", .cpu = 2000});
  w.submit({.name = "three", .cpu = 9000});
  w.settle();
  const auto t = text();
  expect_line(t, R"(kueue_quota_reserved_workloads_total{cluster_queue="cq",priority_class="",replica_role="standalone"} 1)");
  expect_line(t, R"(kueue_admitted_workloads_total{cluster_queue="cq",priority_class="",replica_role="standalone"} 1)");
  expect_line(t,
              R"(kueue_local_queue_admitted_workloads_total{name="lq",namespace="default",priority_class="",replica_role="standalone"} 1)");
  expect_line(t, R"(kueue_admission_wait_time_seconds_sum{cluster_queue="cq",priority_class="",replica_role="standalone"} 3)");
  expect_line(t, R"(kueue_admission_wait_time_seconds_bucket{cluster_queue="cq",priority_class="",replica_role="standalone",le="2.5"} 0)");
  expect_line(t, R"(kueue_admission_wait_time_seconds_bucket{cluster_queue="cq",priority_class="",replica_role="standalone",le="5"} 1)");
  expect_line(t, R"(kueue_cohort_subtree_admitted_workloads_total{cohort="all",priority_class="",replica_role="standalone"} 1)");
  expect_line(t, R"(kueue_admission_attempts_total{replica_role="standalone",result="success"} 1)");
  expect_line(t, R"(kueue_pending_workloads{cluster_queue="cq",replica_role="standalone",status="inadmissible"} 2)");
  expect_line(t, R"(kueue_pending_workloads{cluster_queue="cq",replica_role="standalone",status="active"} 0)");
  expect_line(
      t,
      R"(kueue_unadmitted_workloads{cluster_queue="cq",reason="NoReservation",replica_role="standalone",underlying_cause="WaitingForQuota"} 1)");
  expect_line(
      t,
      R"(kueue_unadmitted_workloads{cluster_queue="cq",reason="NoReservation",replica_role="standalone",underlying_cause="ExceedsMaxQuota"} 1)");
  expect_line(t, R"(kueue_cluster_queue_status{cluster_queue="cq",replica_role="standalone",status="active"} 1)");
  expect_line(
      t,
      R"(kueue_cluster_queue_resource_usage{cluster_queue="cq",cohort="all",flavor="default",replica_role="standalone",resource="cpu"} 3)");
  expect_line(
      t,
      R"(kueue_cluster_queue_nominal_quota{cluster_queue="cq",cohort="all",flavor="default",replica_role="standalone",resource="cpu"} 4)");
  expect_line(
      t,
      R"(kueue_cluster_queue_borrowing_limit{cluster_queue="cq",cohort="all",flavor="default",replica_role="standalone",resource="cpu"} 0.5)");
  expect_line(
      t,
      R"(kueue_cluster_queue_lending_limit{cluster_queue="cq",cohort="all",flavor="default",replica_role="standalone",resource="cpu"} +Inf)");
  expect_line(t, R"(kueue_cohort_subtree_quota{cohort="all",flavor="default",replica_role="standalone",resource="cpu"} 5)");
  expect_line(t, R"(kueue_cluster_queue_info{cluster_queue="cq",parent_cohort="all",replica_role="standalone",root_cohort="all"} 1)");
  expect_line(t, "# TYPE kueue_admission_wait_time_seconds histogram");
}

TEST_F(MetricsOf, PreemptionsAreCountedOnBothSides) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}, .within = PreemptionPolicy::lower_priority}});
  w.submit({.name = "low", .cpu = 4000});
  w.settle();
  w.submit({.name = "high", .cpu = 4000, .priority = 10});
  w.settle();
  const auto t = text();
  expect_line(t, R"(kueue_preempted_workloads_total{preempting_cluster_queue="cq",reason="InClusterQueue",replica_role="standalone"} 1)");
  expect_line(
      t,
      R"(kueue_evicted_workloads_total{cluster_queue="cq",priority_class="",reason="Preempted",replica_role="standalone",underlying_cause=""} 1)");
  expect_line(
      t,
      R"(kueue_evicted_workloads_once_total{cluster_queue="cq",priority_class="",reason="Preempted",replica_role="standalone",underlying_cause=""} 1)");
}

// A decision that is repeated, or comes from a writer that was replaced, must not count twice.
TEST_F(MetricsOf, WhatHasNoEffectIsNotCounted) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  w.submit({.name = "one"});
  const auto step = w.driver().decide();
  w.decide(step.value(), 1);
  w.decide(step.value(), 1);  // at the very same time
  w.tick(Duration::seconds(1));
  w.decide(step.value(), 1);
  w.start_epoch(2);
  w.decide(step.value(), 1);
  expect_line(text(), R"(kueue_admitted_workloads_total{cluster_queue="cq",priority_class="",replica_role="standalone"} 1)");
}

TEST_F(MetricsOf, OptionsLeaveGroupsOut) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  const auto t = text({.replica_role = "leader", .local_queues = false});
  EXPECT_EQ(t.find("kueue_local_queue_"), std::string::npos);
  EXPECT_EQ(t.find("kueue_cluster_queue_nominal_quota"), std::string::npos);
  expect_line(t, R"(kueue_admitted_active_workloads{cluster_queue="cq",replica_role="leader"} 0)");
}

}  // namespace
}  // namespace hindsight::projections
