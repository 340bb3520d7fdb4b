// Metrics under Kueue's names, in the Prometheus text format (base-api §8).

#include "projections/metrics.hpp"

#include "admission/workload/workload_parent.hpp"
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

// BA-190
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

// BA-185: every metric that has a source here is there, with its type
TEST_F(MetricsOf, AllNamesAndTypesAreThere) {
  w.set_up({{.name = "cq", .cohort = "all", .quotas = {{.nominal = 4000}}, .within = PreemptionPolicy::lower_priority}});
  w.submit({.name = "low", .cpu = 4000});
  w.settle();
  w.submit({.name = "high", .cpu = 4000, .priority = 10});
  w.settle();
  const auto t = text();
  for (const char* gauge : {"build_info",
                            "pending_workloads",
                            "pending_scheduling_hashes",
                            "local_queue_pending_workloads",
                            "reserving_active_workloads",
                            "local_queue_reserving_active_workloads",
                            "admitted_active_workloads",
                            "local_queue_admitted_active_workloads",
                            "cluster_queue_status",
                            "local_queue_status",
                            "unadmitted_workloads",
                            "local_queue_unadmitted_workloads",
                            "cluster_queue_resource_reservation",
                            "cluster_queue_resource_usage",
                            "cluster_queue_resource_pending",
                            "cluster_queue_nominal_quota",
                            "cluster_queue_borrowing_limit",
                            "cluster_queue_lending_limit",
                            "local_queue_resource_reservation",
                            "local_queue_resource_usage",
                            "cohort_subtree_quota",
                            "cohort_subtree_resource_reservations",
                            "cohort_subtree_admitted_active_workloads",
                            "cohort_info",
                            "cluster_queue_info"})
    expect_line(t, std::string("# TYPE kueue_") + gauge + " gauge");
  for (const char* counter : {"admission_attempts_total", "quota_reserved_workloads_total", "local_queue_quota_reserved_workloads_total",
                              "admitted_workloads_total", "local_queue_admitted_workloads_total", "evicted_workloads_total",
                              "local_queue_evicted_workloads_total", "evicted_workloads_once_total", "preempted_workloads_total",
                              "cohort_subtree_admitted_workloads_total"})
    expect_line(t, std::string("# TYPE kueue_") + counter + " counter");
  for (const char* histogram : {"quota_reserved_wait_time_seconds", "local_queue_quota_reserved_wait_time_seconds",
                                "admission_wait_time_seconds", "local_queue_admission_wait_time_seconds"})
    expect_line(t, std::string("# TYPE kueue_") + histogram + " histogram");
  // 16 bounds for a ClusterQueue, 14 for a LocalQueue
  EXPECT_NE(
      t.find(R"(kueue_admission_wait_time_seconds_bucket{cluster_queue="cq",priority_class="",replica_role="standalone",le="40960"})"),
      std::string::npos);
  EXPECT_EQ(t.find(R"(namespace="default",priority_class="",replica_role="standalone",le="20480"})"), std::string::npos);
}

// BA-186, BA-188: each pending Workload is counted once
TEST_F(MetricsOf, PendingWorkloadsAddUp) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  for (int i = 0; i < 3; ++i) w.submit({.name = "fits" + std::to_string(i), .cpu = 2000});
  for (int i = 0; i < 4; ++i) w.submit({.name = "big" + std::to_string(i), .cpu = 9000});
  w.settle();
  w.submit({.name = "new", .cpu = 1000});
  const auto t = text();
  const auto sum = [&](const std::string& name) {
    double total = 0;
    for (std::size_t at = t.find("\n" + name + "{"); at != std::string::npos; at = t.find("\n" + name + "{", at + 1))
      total += std::stod(t.substr(t.find("} ", at) + 2));
    return total;
  };
  EXPECT_EQ(sum("kueue_pending_workloads"), 6);
  EXPECT_EQ(sum("kueue_local_queue_pending_workloads"), 6);
  EXPECT_EQ(sum("kueue_unadmitted_workloads"), 6);
  EXPECT_EQ(sum("kueue_local_queue_unadmitted_workloads"), 6);
  expect_line(t, R"(kueue_pending_scheduling_hashes{cluster_queue="cq",replica_role="standalone",status="inadmissible"} 2)");
}

// BA-187
TEST_F(MetricsOf, TheSelectorChoosesLocalQueues) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  w.submit({.name = "one", .cpu = 1000});
  w.settle();
  MetricsOptions chosen;
  chosen.local_queue_selector = {{Symbol("team"), SelectorOperator::in, {"a"}}};
  EXPECT_EQ(text(chosen).find("kueue_local_queue_"), std::string::npos) << "lq has no such label";
  LocalQueueObserved o;
  o.meta.namespace_ = "default";
  o.meta.name = "lq";
  o.cluster_queue = "cq";
  const std::vector<Pair> labels{{"team", "a"}};
  o.labels = labels;
  w.observe(o);
  const auto t = text(chosen);
  expect_line(t,
              R"(kueue_local_queue_admitted_workloads_total{name="lq",namespace="default",priority_class="",replica_role="standalone"} 1)");
  expect_line(
      t, R"(kueue_local_queue_resource_usage{flavor="default",name="lq",namespace="default",replica_role="standalone",resource="cpu"} 1)");
  o.labels = {};
  w.observe(o);
  EXPECT_EQ(text(chosen).find("kueue_local_queue_"), std::string::npos) << "it matches no more";
}

// Whoever may make LocalQueues and Workloads chooses their names: series do not outlive a queue, and a class has to exist to be a label.
TEST_F(MetricsOf, NamesThatTenantsChooseLeaveNothingBehind) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  const auto series_of = [](const std::string& t, const std::string& word) {
    std::size_t n = 0;
    for (auto at = t.find(word); at != std::string::npos; at = t.find(word, at + 1)) ++n;
    return n;
  };
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    w.local_queue("made-up-" + n, "cq");
    w.submit({.name = "w" + n, .queue = "made-up-" + n, .cpu = 1000});
    w.change("w" + n, [&](WorkloadObserved& o) {
      o.priority_class = w.keep("class-" + n);
      o.priority_class_kind = PriorityClassKind::workload_priority_class;
    });
    w.settle();
  }
  const auto t = text();
  EXPECT_GT(series_of(t, "made-up-"), 0U);
  expect_line(t, R"(kueue_admitted_workloads_total{cluster_queue="cq",priority_class="",replica_role="standalone"} 3)");
  EXPECT_EQ(series_of(t, "class-"), 0U);
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    w.observe(ObjectDeleted{ObjectKind::workload, "default", w.keep("w" + n), w.keep("uid-w" + n), {}});
    w.observe(ObjectDeleted{ObjectKind::local_queue, "default", w.keep("made-up-" + n), {}, {}});
  }
  EXPECT_EQ(series_of(text(), "made-up-"), 0U);
}

// BA-189, BA-187
TEST_F(MetricsOf, OptionsLeaveGroupsOut) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  const auto t = text({.replica_role = "leader", .local_queues = false});
  EXPECT_EQ(t.find("kueue_local_queue_"), std::string::npos);
  EXPECT_EQ(t.find("kueue_cluster_queue_nominal_quota"), std::string::npos);
  expect_line(t, R"(kueue_admitted_active_workloads{cluster_queue="cq",replica_role="leader"} 0)");
}

// BA-185: from the creation of a job to the decision to make its Workload; once for each Workload
TEST_F(MetricsOf, TheMakingOfWorkloadsIsTimedByKindOfJob) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  const std::vector<ResourceAmount> requests{{"cpu", 1000}};
  std::vector<PodSetFacts> pods(1);
  pods[0].name = "main";
  pods[0].count = 1;
  pods[0].requests = requests;
  JobObserved job;
  job.meta = {.namespace_ = "default", .name = "j", .uid = "job-j", .resource_version = 77};
  job.meta.created = w.now - Duration::seconds(3);
  job.kind = "Job";
  job.group = "batch";
  job.queue_name = "lq";
  job.suspended = true;
  job.managed = true;
  job.workload_name = "job-j";
  job.pod_sets = pods;
  w.observe(job);
  w.settle();
  job.meta.resource_version = 78;
  w.observe(job);
  w.settle();
  const auto t = text();
  expect_line(t, R"(kueue_workload_creation_latency_seconds_count{job_kind="Job",replica_role="standalone"} 1)");
  expect_line(t, R"(kueue_workload_creation_latency_seconds_sum{job_kind="Job",replica_role="standalone"} 3)");
  expect_line(t, R"(kueue_workload_creation_latency_seconds_bucket{job_kind="Job",replica_role="standalone",le="2.56"} 0)");
  expect_line(t, R"(kueue_workload_creation_latency_seconds_bucket{job_kind="Job",replica_role="standalone",le="5.12"} 1)");
  expect_line(t, R"(kueue_workload_creation_latency_seconds_bucket{job_kind="Job",replica_role="standalone",le="10.24"} 1)");
}

// BA-185: each pod of an elastic job that is let go, from the admission of its slice
TEST_F(MetricsOf, ReleasedPodsAreTimedFromAdmission) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  w.submit({.name = "slice", .cpu = 1000});
  w.settle();
  w.tick(Duration::seconds(4));
  const WorkloadRef slice{.uid = w.driver().parent(0)->workloads().front().uid, .namespace_ = "default", .name = "slice"};
  const std::vector<PodRef> pods(2);
  const std::vector<Event> events{PodsReleased{.workload = slice, .pods = pods}};
  admission::Domain::Step step;
  step.base = w.driver().domain().sequence();
  step.kind = StepKind::life_cycle;
  step.events = events;
  w.decide(step, w.driver().domain().epoch());
  const auto t = text();
  const std::string labels = R"({cluster_queue="cq",is_group="false",name="kueue.x-k8s.io/elastic-job",replica_role="standalone"} )";
  expect_line(t, "kueue_pod_scheduling_gate_removal_seconds_count" + labels + "2");
  expect_line(t, "kueue_pod_scheduling_gate_removal_seconds_sum" + labels + "8");
}

}  // namespace
}  // namespace hindsight::projections
