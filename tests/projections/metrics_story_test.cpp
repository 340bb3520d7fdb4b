// Metrics of whole stories (base-api §8): what each of them measures, to the second, and all of them with their labels and buckets.

#include "projections/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <sstream>

#include "events/memory_log.hpp"
#include "projections/metric_table.hpp"
#include "replay/past.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::projections {
namespace {

/// An exposition, read: samples with their values, and the type of each family.
struct Scrape {
  explicit Scrape(const std::string& text) {
    std::istringstream in(text);
    std::string line;
    while (std::getline(in, line)) {
      const auto at = line.rfind(' ');
      if (line.starts_with("# TYPE ")) {
        types[line.substr(7, at - 7)] = line.substr(at + 1);
      } else if (!line.starts_with("#")) {
        samples[line.substr(0, at)] = std::stod(line.substr(at + 1));
      }
    }
  }
  /// Of `name{labels}`, without the prefix of all names and without the label that all have.
  [[nodiscard]] double operator()(const std::string& name, const std::map<std::string, std::string>& labels) const {
    auto all = labels;
    all["replica_role"] = "standalone";
    std::string sample = "kueue_" + name + "{";
    for (const auto& [key, value] : all) sample += (sample.back() == '{' ? "" : ",") + key + "=\"" + value + "\"";
    sample += "}";
    const auto it = samples.find(sample);
    return it == samples.end() ? -1 : it->second;
  }

  std::map<std::string, std::string> types;
  std::map<std::string, double> samples;
};

/// A domain and its log, and what a scrape at its end shows.
class Story {
 public:
  Scrape scrape() {
    w.flush();
    Metrics metrics({.cluster_queue_resources = true});
    replay::Past past(log, "default");
    past.look_on({}, [&](events::Position, const RecordView& r) { metrics.record(r, past.driver()); });
    EXPECT_TRUE(past.fold_to(w.position()));
    return Scrape(metrics.text(past.driver()));
  }
  void pass(std::int64_t seconds) {
    w.tick(Duration::seconds(seconds));
    w.settle();
  }
  /// What was decided is written; then the controllers of all checks say Ready.
  void checks_are_ready(const std::string& name) {
    w.confirm();
    w.settle();
    w.change(name, [&](WorkloadObserved& o) {
      auto& checks = kept_.emplace_back(o.checks.begin(), o.checks.end());
      for (auto& k : checks) {
        k.state = CheckState::ready;
        k.last_transition = w.now;
      }
      o.checks = checks;
    });
    w.settle();
  }
  void job_runs(const std::string& name, bool runs, bool ready = false) {
    w.confirm();
    w.change_job(name, [&](JobObserved& j) {
      j.suspended = !runs;
      j.active = runs;
      j.pods_ready = ready;
    });
    w.settle();
  }

  events::MemoryLog log;
  hindsight::testing::LogWorld w{log};

 private:
  std::list<std::vector<CheckFacts>> kept_;
};

/// Job "one" of queue "cq", which has a check: made at 0 s, reserved at 3, admitted at 7, ready at 12, evicted at 32, stopped and reserved
/// anew at 38, admitted at 40, ready at 45 and finished at 100.
void life_of_a_job(Story& s) {
  const auto queue = [](StopPolicy stop) {
    return hindsight::testing::QueueOf{.name = "cq", .cohort = "all", .quotas = {{.nominal = 4'000}}, .stop = stop, .checks = {"k"}};
  };
  auto& w = s.w;
  w.check("k");
  w.set_up({queue(StopPolicy::none), {.name = "other", .cohort = "all", .quotas = {{.nominal = 2'000}}}});
  w.submit_job({.name = "one", .cpu = 3'000});
  s.pass(3);
  w.confirm();
  s.pass(4);
  s.checks_are_ready("job-one");
  s.job_runs("one", true);
  s.pass(5);
  s.job_runs("one", true, true);
  s.pass(20);
  w.queue(queue(StopPolicy::hold_and_drain));
  w.settle();
  s.pass(6);
  s.job_runs("one", false);
  w.confirm();
  w.queue(queue(StopPolicy::none));
  w.settle();
  s.pass(2);
  s.checks_are_ready("job-one");
  s.job_runs("one", true);
  s.pass(5);
  s.job_runs("one", true, true);
  s.pass(55);
  w.confirm();
  w.change_job("one", [](JobObserved& j) {
    j.finished = j.succeeded = true;
    j.active = false;
  });
  w.settle();
  w.confirm();
  w.settle();
}

/// S20 up to the cycle in which "of-a" and "of-b" are heads, which both want the victim of queue "c".
void two_want_one_victim(Story& s, const char* configuration) {
  auto& w = s.w;
  w.configure(configuration);
  w.set_up({{.name = "a", .cohort = "all", .quotas = {{.nominal = 4'000}}, .reclaim = PreemptionPolicy::any},
            {.name = "b", .cohort = "all", .quotas = {{.nominal = 4'000}}, .reclaim = PreemptionPolicy::any},
            {.name = "c", .cohort = "all", .quotas = {{.nominal = 0}}}});
  w.submit({.name = "victim", .queue = "lq-c", .cpu = 8'000});
  w.settle();
  w.submit({.name = "of-a", .cpu = 4'000});
  w.now = w.now + Duration::seconds(1);
  w.submit({.name = "of-b", .queue = "lq-b", .cpu = 4'000});
  while (const auto step = w.driver().decide()) {
    w.decide(*step, w.driver().domain().epoch());
    if (step->kind == StepKind::cycle) return;
  }
  FAIL() << "no cycle";
}

/// "waits" has room, which the second workload of queue "a" would take back.
void one_is_withheld(Story& s, const char* configuration) {
  auto& w = s.w;
  w.configure(configuration);
  w.set_up({{.name = "a", .cohort = "all", .quotas = {{.nominal = 2'000}}, .reclaim = PreemptionPolicy::any},
            {.name = "b", .cohort = "all", .quotas = {{.nominal = 2'000}}, .reclaim = PreemptionPolicy::any}});
  w.submit({.name = "own", .queue = "lq-b", .cpu = 2'000});
  w.settle();
  w.submit({.name = "first", .cpu = 1'000});
  w.submit({.name = "second", .cpu = 1'000});
  w.submit({.name = "waits", .queue = "lq-b", .cpu = 1'000});
  w.settle();
}

/// Queue "cq" in cohort "part" below "all" borrows one of nine cores.
void one_borrows(Story& s, bool fair) {
  if (fair) s.w.configure(R"({"fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare"]}})");
  s.w.cohort("part", "all");
  s.w.set_up({{.name = "cq", .cohort = "part", .quotas = {{.nominal = 3'000}}},
              {.name = "other", .cohort = "all", .quotas = {{.nominal = 6'000}}}});
  s.w.submit({.name = "one", .cpu = 4'000});
  s.w.settle();
}

/// LocalQueue "x" of weight 4, whose status says what it consumed of two resources.
void one_has_consumed(Story& s) {
  s.w.configure(R"({"admissionFairSharing": {"usageHalfLifeTime": "10m", "resourceWeights": {"cpu": 2, "memory": 0}}})");
  s.w.set_up({{.name = "other", .quotas = {{.nominal = 1'000}}}});
  ClusterQueueObserved q;
  q.meta.name = "cq";
  q.has_namespace_selector = true;
  q.admission_mode = AdmissionMode::usage_based;
  s.w.observe(q);
  LocalQueueObserved l;
  l.meta.namespace_ = "default";
  l.meta.name = "x";
  l.cluster_queue = "cq";
  l.fair_weight_nano = 4'000'000'000;
  const std::vector<Pair> consumed{{"cpu", "6"}, {"memory", "10Gi"}};
  l.consumed = consumed;
  l.consumed_at = s.w.now;
  s.w.observe(l);
}

constexpr const char* without_recomputation = R"({"featureGates": {"RecomputeAssignmentUponPreemptionTargetsOverlap": false}})";

// BA-185: how long each part of a job's way takes, in its ClusterQueue and in its LocalQueue
TEST(MetricsStory, EachPartOfTheWayIsMeasured) {
  Story s;
  life_of_a_job(s);
  const Scrape m = s.scrape();
  const std::map<std::string, std::string> of_queue{{"cluster_queue", "cq"}, {"priority_class", ""}},
      of_local{{"name", "lq"}, {"namespace", "default"}, {"priority_class", ""}};
  struct Expected {
    const char* name;
    double count, sum;
  };
  for (const auto& e : {
           Expected{"quota_reserved_wait_time_seconds", 2, 3 + 0},        // the second time from when it was requeued
           Expected{"admission_checks_wait_time_seconds", 2, 4 + 2},      //
           Expected{"admission_wait_time_seconds", 2, 7 + 2},             //
           Expected{"ready_wait_time_seconds", 2, 12 + 7},                //
           Expected{"admitted_until_ready_wait_time_seconds", 2, 5 + 5},  //
           Expected{"execution_time_seconds", 1, 60},                     // of the last time that it was admitted
       }) {
    for (const bool local : {false, true}) {
      const std::string name = (local ? "local_queue_" : "") + std::string(e.name);
      EXPECT_EQ(m(name + "_count", local ? of_local : of_queue), e.count) << name;
      EXPECT_EQ(m(name + "_sum", local ? of_local : of_queue), e.sum) << name;
    }
  }
  for (const auto& [name, n] : std::map<std::string, double>{
           {"quota_reserved_workloads_total", 2}, {"admitted_workloads_total", 2}, {"finished_workloads_total", 1}}) {
    EXPECT_EQ(m(name, of_queue), n) << name;
    EXPECT_EQ(m("local_queue_" + name, of_local), n) << name;
  }
  const std::map<std::string, std::string> why{{"cluster_queue", "cq"}, {"reason", "ClusterQueueStopped"}};
  EXPECT_EQ(m("workload_eviction_latency_seconds_count", why), 1);
  EXPECT_EQ(m("workload_eviction_latency_seconds_sum", why), 6);
  auto cause = why;
  cause["underlying_cause"] = "";
  EXPECT_EQ(m("pods_ready_to_evicted_time_seconds_count", cause), 1);
  EXPECT_EQ(m("pods_ready_to_evicted_time_seconds_sum", cause), 20);
  EXPECT_EQ(m("finished_workloads", {{"cluster_queue", "cq"}}), 1);
  EXPECT_EQ(m("local_queue_finished_workloads", {{"name", "lq"}, {"namespace", "default"}}), 1);
  EXPECT_EQ(m("cohort_subtree_admitted_workloads_total", {{"cohort", "all"}, {"priority_class", ""}}), 2);
}

// BA-185, BA-74: the skips of the last cycle, of each queue that ever had one
TEST(MetricsStory, PreemptionsThatWereSkippedAreThoseOfTheLastCycle) {
  Story s;
  two_want_one_victim(s, without_recomputation);
  const Scrape then = s.scrape();
  EXPECT_EQ(then("admission_cycle_preemption_skips", {{"cluster_queue", "b"}}), 1);
  EXPECT_EQ(then("admission_cycle_preemption_skips", {{"cluster_queue", "a"}}), -1) << "it never had one";
  EXPECT_EQ(then("preemption_target_recomputations_total", {{"cluster_queue", "b"}, {"result", "skipped"}}), -1);
  s.w.remove("victim");
  s.w.settle();
  EXPECT_EQ(s.scrape()("admission_cycle_preemption_skips", {{"cluster_queue", "b"}}), 0);
}

// BA-185, BA-73
TEST(MetricsStory, RecomputationsAreCountedByWhatCameOfThem) {
  Story s;
  two_want_one_victim(s, "{}");
  const Scrape m = s.scrape();
  EXPECT_EQ(m("preemption_target_recomputations_total", {{"cluster_queue", "b"}, {"result", "deferred_fit"}}), 1);
  EXPECT_EQ(m("preemption_target_recomputations_total", {{"cluster_queue", "a"}, {"result", "deferred_fit"}}), -1);
  EXPECT_EQ(m("admission_cycle_preemption_skips", {{"cluster_queue", "b"}}), -1);
}

// BA-185, BA-119: shares of queues and cohorts, rounded up; none without fair sharing
TEST(MetricsStory, SharesAreShownWithFairSharing) {
  for (const bool fair : {false, true}) {
    Story s;
    one_borrows(s, fair);
    const Scrape m = s.scrape();
    // 1 of 9 cores: 111.1 of 1000
    EXPECT_EQ(m("cluster_queue_weighted_share", {{"cluster_queue", "cq"}, {"cohort", "part"}}), fair ? 112 : -1);
    EXPECT_EQ(m("cluster_queue_weighted_share", {{"cluster_queue", "other"}, {"cohort", "all"}}), fair ? 0 : -1);
    EXPECT_EQ(m("cohort_weighted_share", {{"cohort", "part"}}), fair ? 112 : -1);
    EXPECT_EQ(m("cohort_weighted_share", {{"cohort", "all"}}), fair ? 0 : -1) << "it has nobody to borrow from";
  }
}

// BA-185, BA-165: what LocalQueues are compared by, with the weights of the configuration
TEST(MetricsStory, UsageOfLocalQueuesIsShownAsItIsCompared) {
  Story s;
  one_has_consumed(s);
  const Scrape m = s.scrape();
  EXPECT_EQ(m("local_queue_admission_fair_sharing_usage", {{"name", "x"}, {"namespace", "default"}, {"cluster_queue", "cq"}}),
            (2 * 6 + 0) / 4);
  EXPECT_EQ(m("local_queue_admission_fair_sharing_usage", {{"name", "lq"}, {"namespace", "default"}, {"cluster_queue", "other"}}), -1);
}

// BA-190: every eviction counts, `once` the first one for its reason and cause
TEST(MetricsStory, OnlyTheFirstEvictionOfAReasonCountsOnce) {
  Story s;
  auto& w = s.w;
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}, .within = PreemptionPolicy::lower_priority}});
  w.submit({.name = "low", .cpu = 4'000});
  w.settle();
  const auto expect = [&](const std::string& reason, double times, double once) {
    const Scrape m = s.scrape();
    const std::map<std::string, std::string> of_queue{
        {"cluster_queue", "cq"}, {"reason", reason}, {"underlying_cause", ""}, {"priority_class", ""}};
    auto of_local = of_queue;
    of_local.erase("cluster_queue");
    of_local["name"] = "lq";
    of_local["namespace"] = "default";
    EXPECT_EQ(m("evicted_workloads_total", of_queue), times) << reason;
    EXPECT_EQ(m("evicted_workloads_once_total", of_queue), once) << reason;
    EXPECT_EQ(m("local_queue_evicted_workloads_total", of_local), times) << reason;
  };
  for (int n = 1; n <= 3; ++n) {
    w.confirm();
    w.tick(Duration::seconds(10));
    w.submit({.name = "high-" + std::to_string(n), .cpu = 4'000, .priority = 10});
    w.settle();
    ASSERT_TRUE(w.state("low").evicted()) << n;
    expect("Preempted", n, 1);
    w.confirm();
    w.release("low");
    w.settle();
    ASSERT_TRUE(w.state("high-" + std::to_string(n)).admitted()) << n;
    w.confirm();
    w.finish("high-" + std::to_string(n));
    w.wake();
    ASSERT_TRUE(w.state("low").admitted()) << n;
  }
  w.confirm();
  w.tick(Duration::seconds(10));
  w.queue({.name = "cq", .quotas = {{.nominal = 4'000}}, .stop = StopPolicy::hold_and_drain});
  w.settle();
  expect("ClusterQueueStopped", 1, 1);
  expect("Preempted", 3, 1);
  // another Workload has a first time of its own
  w.confirm();
  w.release("low");
  w.queue({.name = "cq", .quotas = {{.nominal = 8'000}}});
  w.wake();
  w.submit({.name = "second", .cpu = 4'000});
  w.settle();
  ASSERT_TRUE(w.state("second").admitted() && w.state("low").admitted());
  w.confirm();
  w.tick(Duration::seconds(10));
  w.queue({.name = "cq", .quotas = {{.nominal = 8'000}}, .stop = StopPolicy::hold_and_drain});
  w.settle();
  expect("ClusterQueueStopped", 3, 2);
}

// ---- all of them -----------------------------------------------------------------------------------------------------------------------

struct Family {
  const char* name;
  const char* type;
  std::set<std::string> labels;  ///< Beside replica_role.
  int bounds = 0;                ///< Of a histogram: 1, 2.5, 5, 10, 20 …; 0: not given.
};

const std::set<std::string> in_queue{"cluster_queue"}, in_queue_by_class{"cluster_queue", "priority_class"}, in_local{"name", "namespace"},
    in_local_by_class{"name", "namespace", "priority_class"}, of_quota{"cohort", "cluster_queue", "flavor", "resource"};

/// base-api §8, but for MultiKueue, build_info, and what stands in metrics_test (the making of Workloads, gates of pods),
/// resize_story_test (slices) and tests/runtime/node_metrics_test (how long a cycle takes).
const std::vector<Family>& families() {
  static const std::vector<Family> all{
      {"admission_attempts_total", "counter", {"result"}},
      {"admission_cycle_preemption_skips", "gauge", in_queue},
      {"preemption_target_recomputations_total", "counter", {"cluster_queue", "result"}},
      {"pending_workloads", "gauge", {"cluster_queue", "status"}},
      {"pending_scheduling_hashes", "gauge", {"cluster_queue", "status"}},
      {"local_queue_pending_workloads", "gauge", {"name", "namespace", "status"}},
      {"finished_workloads", "gauge", in_queue},
      {"local_queue_finished_workloads", "gauge", in_local},
      {"quota_reserved_workloads_total", "counter", in_queue_by_class},
      {"local_queue_quota_reserved_workloads_total", "counter", in_local_by_class},
      {"finished_workloads_total", "counter", in_queue_by_class},
      {"local_queue_finished_workloads_total", "counter", in_local_by_class},
      {"admitted_workloads_total", "counter", in_queue_by_class},
      {"local_queue_admitted_workloads_total", "counter", in_local_by_class},
      {"execution_time_seconds", "histogram", in_queue_by_class, 16},
      {"local_queue_execution_time_seconds", "histogram", in_local_by_class, 16},
      {"quota_reserved_wait_time_seconds", "histogram", in_queue_by_class, 14},
      {"local_queue_quota_reserved_wait_time_seconds", "histogram", in_local_by_class, 14},
      {"admission_wait_time_seconds", "histogram", in_queue_by_class, 16},
      {"local_queue_admission_wait_time_seconds", "histogram", in_local_by_class, 14},
      {"admission_checks_wait_time_seconds", "histogram", in_queue_by_class, 14},
      {"local_queue_admission_checks_wait_time_seconds", "histogram", in_local_by_class, 14},
      {"ready_wait_time_seconds", "histogram", in_queue_by_class, 14},
      {"local_queue_ready_wait_time_seconds", "histogram", in_local_by_class, 14},
      {"admitted_until_ready_wait_time_seconds", "histogram", in_queue_by_class, 14},
      {"local_queue_admitted_until_ready_wait_time_seconds", "histogram", in_local_by_class, 14},
      {"pods_ready_to_evicted_time_seconds", "histogram", {"cluster_queue", "reason", "underlying_cause"}, 14},
      {"evicted_workloads_total", "counter", {"cluster_queue", "reason", "underlying_cause", "priority_class"}},
      {"local_queue_evicted_workloads_total", "counter", {"name", "namespace", "reason", "underlying_cause", "priority_class"}},
      {"evicted_workloads_once_total", "counter", {"cluster_queue", "reason", "underlying_cause", "priority_class"}},
      {"preempted_workloads_total", "counter", {"preempting_cluster_queue", "reason"}},
      {"workload_eviction_latency_seconds", "histogram", {"cluster_queue", "reason"}, 14},
      {"reserving_active_workloads", "gauge", in_queue},
      {"local_queue_reserving_active_workloads", "gauge", in_local},
      {"admitted_active_workloads", "gauge", in_queue},
      {"local_queue_admitted_active_workloads", "gauge", in_local},
      {"cluster_queue_status", "gauge", {"cluster_queue", "status"}},
      {"local_queue_status", "gauge", {"name", "namespace", "active"}},
      {"unadmitted_workloads", "gauge", {"cluster_queue", "reason", "underlying_cause"}},
      {"local_queue_unadmitted_workloads", "gauge", {"name", "namespace", "cluster_queue", "reason", "underlying_cause"}},
      {"cluster_queue_resource_reservation", "gauge", of_quota},
      {"cluster_queue_resource_usage", "gauge", of_quota},
      {"cluster_queue_resource_pending", "gauge", {"cluster_queue", "resource"}},
      {"cluster_queue_nominal_quota", "gauge", of_quota},
      {"cluster_queue_borrowing_limit", "gauge", of_quota},
      {"cluster_queue_lending_limit", "gauge", of_quota},
      {"local_queue_resource_reservation", "gauge", {"name", "namespace", "flavor", "resource"}},
      {"local_queue_resource_usage", "gauge", {"name", "namespace", "flavor", "resource"}},
      {"cluster_queue_weighted_share", "gauge", {"cluster_queue", "cohort"}},
      {"cohort_weighted_share", "gauge", {"cohort"}},
      {"cohort_subtree_quota", "gauge", {"cohort", "flavor", "resource"}},
      {"cohort_subtree_resource_reservations", "gauge", {"cohort", "flavor", "resource"}},
      {"cohort_subtree_admitted_workloads_total", "counter", {"cohort", "priority_class"}},
      {"cohort_subtree_admitted_active_workloads", "gauge", {"cohort"}},
      {"cohort_info", "gauge", {"cohort", "parent_cohort", "root_cohort"}},
      {"cluster_queue_info", "gauge", {"cluster_queue", "parent_cohort", "root_cohort"}},
  };
  return all;
}

/// Names of the labels of `name{a="1",b="2"}`; none of their values here holds a quote or a comma.
std::set<std::string> labels_of(const std::string& sample) {
  std::set<std::string> out;
  for (std::size_t at = sample.find('{'); at != std::string::npos; at = sample.find("\",", at)) {
    at += sample[at] == '{' ? 1 : 2;
    out.insert(sample.substr(at, sample.find('=', at) - at));
  }
  return out;
}

std::string text_of(const std::set<std::string>& names) {
  std::string out;
  for (const auto& n : names) out += n + " ";
  return out;
}

void expect_family(const Scrape& m, const Family& f) {
  SCOPED_TRACE(f.name);
  const std::string name = "kueue_" + std::string(f.name);
  ASSERT_TRUE(m.types.contains(name)) << "missing";
  EXPECT_EQ(m.types.at(name), f.type);
  const bool histogram = f.type == std::string("histogram");
  int samples = 0;
  std::set<double> bounds;
  for (const auto& [sample, value] : m.samples) {
    const std::string of = sample.substr(0, sample.find('{'));
    if (histogram ? of != name + "_bucket" : of != name) continue;
    ++samples;
    auto labels = labels_of(sample);
    EXPECT_EQ(labels.erase("replica_role"), 1U) << sample;
    if (histogram) {
      EXPECT_EQ(labels.erase("le"), 1U) << sample;
      const auto le = std::max(sample.find(",le=\"") + 1, sample.find("{le=\"") + 1) + 4;  // npos + 1 is 0; not that of "role"
      const std::string bound = sample.substr(le, sample.find('"', le) - le);
      if (bound != "+Inf") bounds.insert(std::stod(bound));
    }
    EXPECT_EQ(text_of(labels), text_of(f.labels)) << sample;
  }
  EXPECT_GT(samples, 0);
  if (f.bounds == 0) return;
  std::set<double> expected{1, 2.5};
  for (double b = 5; static_cast<int>(expected.size()) < f.bounds; b *= 2) expected.insert(b);
  EXPECT_EQ(bounds, expected);
}

/// The other way round: whatever is served has a row in the table of metrics, with this type and these labels. One whose name ends with a
/// question mark there may be missing.
void expect_table(const Scrape& m) {
  const auto table = metric_table();
  for (const auto& [name, type] : m.types) {
    const auto row = std::ranges::find(table, name, &MetricInfo::name);
    ASSERT_NE(row, table.end()) << name << " is served and described nowhere";
    EXPECT_EQ(type, row->type == MetricType::counter ? "counter" : row->type == MetricType::gauge ? "gauge" : "histogram") << name;
    std::set<std::string> always, allowed;
    std::istringstream words{std::string(row->labels)};
    for (std::string word; words >> word;) {
      if (!word.ends_with('?')) always.insert(word);
      allowed.insert(word.substr(0, word.find('?')));
    }
    for (const auto& [sample, value] : m.samples) {
      const std::string of = sample.substr(0, sample.find('{'));
      const bool part = row->type == MetricType::histogram && of.starts_with(name + "_");
      if (of != name && !(part && (of == name + "_bucket" || of == name + "_sum" || of == name + "_count"))) continue;
      auto labels = labels_of(sample);
      if (of == name + "_bucket") labels.erase("le");
      if (name == "kueue_build_info" && labels.empty()) continue;  // nobody said here what it was built from
      EXPECT_TRUE(std::ranges::includes(labels, always)) << sample << ": " << row->labels;
      EXPECT_TRUE(std::ranges::includes(allowed, labels)) << sample << ": " << row->labels;
    }
  }
}

// D14
TEST(WithheldAdmissions, AreCountedByClusterQueue) {
  const auto counted = [](const char* configuration, const std::string& queue) {
    Story s;
    one_is_withheld(s, configuration);
    const auto samples = s.scrape().samples;
    const auto it = samples.find("hindsight_admissions_withheld_total{cluster_queue=\"" + queue + "\",replica_role=\"standalone\"}");
    return it == samples.end() ? -1 : it->second;
  };
  EXPECT_EQ(counted("{}", "b"), 1);
  EXPECT_EQ(counted("{}", "a"), -1);
  EXPECT_EQ(counted(R"({"hindsight": {"claimDuration": "0s"}})", "b"), -1);
}

// BA-185: each with its type, its labels and its buckets
TEST(AllMetrics, HaveTheirTypesLabelsAndBuckets) {
  Scrape all("");
  const auto add = [&](Story& s) {
    const Scrape m = s.scrape();
    all.types.insert(m.types.begin(), m.types.end());
    all.samples.insert(m.samples.begin(), m.samples.end());
  };
  Story life, overlap, recomputed, withheld, shares, usage;
  life_of_a_job(life);
  life.w.submit({.name = "waits", .cpu = 9'000});
  life.w.settle();
  add(life);
  two_want_one_victim(overlap, without_recomputation);
  add(overlap);
  two_want_one_victim(recomputed, "{}");
  add(recomputed);
  one_is_withheld(withheld, "{}");
  add(withheld);
  one_borrows(shares, true);
  add(shares);
  one_has_consumed(usage);
  add(usage);
  for (const auto& f : families()) expect_family(all, f);
  expect_table(all);
}

}  // namespace
}  // namespace hindsight::projections
