// How far the model is off where nothing was changed, on loads with contention, preemption, fair sharing, families and slices. Every
// answer of the world comes from the model; what comes out is held against what was.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "simulation/generate.hpp"
#include "tests/whatif/played_on.hpp"
#include "whatif/agreement.hpp"
#include "whatif/course.hpp"

namespace hindsight::whatif {
namespace {

using projections::basics;
using projections::job_text;
using projections::Played;
using projections::queue_text;

/// Jobs that a description draws, as manifests beside others.
std::string drawn(const std::string& description) {
  const auto load = simulation::generate_load(description, "load.yaml", "default");
  if (!load) throw std::runtime_error(load.error().message);
  std::string out;
  for (const auto& j : load->jobs) {
    std::string requests;
    for (const auto& [resource, quantity] : j.requests) requests += (requests.empty() ? "" : ", ") + resource + ": '" + quantity + "'";
    out += "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " + j.name + "\n  namespace: " + j.namespace_ +
           "\n  annotations: {hindsight.dev/run-seconds: '" + std::to_string(j.runs.micros / 1'000'000 + 1) +
           "', hindsight.dev/arrive-seconds: '" + std::to_string(j.arrives.micros / 1'000'000) +
           "'"
           "}\n  labels: {kueue.x-k8s.io/queue-name: " +
           j.queue + (j.priority_class.empty() ? "" : ", kueue.x-k8s.io/priority-class: " + j.priority_class) +
           "}\nspec:\n  suspend: true\n  parallelism: " + std::to_string(j.pods) + "\n  completions: " + std::to_string(j.pods) +
           "\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [{name: c, image: i, resources: {requests: {" +
           requests + "}}}]\n";
  }
  return out;
}

/// What `hindsight what-if --model-all` prints of two logs: how many of all decisions that were made on record, or here, were made in both.
double shared_decisions(const events::Log& was, const events::Log& would_be) {
  Agreement agreement;
  const auto each = [](const events::Log& log, auto f) {
    EXPECT_TRUE(replay::scan(log, "default", 1, log.last().value(), [&](const events::StoredRecord& stored, const RecordView& r) {
      f(stored.offset, r);
      return true;
    }));
  };
  each(was, [&](events::Position at, const RecordView& r) { agreement.recorded(at, r); });
  each(would_be, [&](events::Position, const RecordView& r) { agreement.made(r, Time::from_seconds(4'000'000'000)); });
  const Agreement::Counts counts = agreement.counts();
  // Counted without times: the same decisions, however late.
  const auto all = [&](const events::Log& log) {
    std::map<std::uint64_t, std::uint64_t> out;
    each(log, [&](events::Position, const RecordView& r) {
      if (const auto* d = std::get_if<Decisions>(&r.body))
        for (const Event& e : d->events)
          if (const auto essence = essence_of(e)) ++out[*essence];
    });
    return out;
  };
  const auto a = all(was), b = all(would_be);
  std::uint64_t recorded = 0, made = 0, both = 0;
  for (const auto& [essence, n] : a) {
    recorded += n;
    if (const auto it = b.find(essence); it != b.end()) both += std::min(n, it->second);
  }
  for (const auto& [essence, n] : b) made += n;
  EXPECT_EQ(counts.recorded, recorded);
  EXPECT_EQ(counts.made, made);
  EXPECT_EQ(counts.same + counts.moved, both);
  return counts.share();
}

/// Of those that started on record or here: in both, within ten seconds.
double close_starts(const PlayedOn& c) {
  std::size_t close = 0, any = 0;
  for (const auto& [key, was] : c.comparison.was.fates()) {
    const auto it = c.comparison.would_be.fates().find(key);
    const bool here = it != c.comparison.would_be.fates().end() && it->second.started.is_set();
    if (was.started.is_set() || here) ++any;
    if (was.started.is_set() && here && std::abs((it->second.started - was.started).micros) <= 10'000'000) ++close;
  }
  return any == 0 ? 0 : static_cast<double>(close) / static_cast<double>(any);
}

/// Work of preempted jobs, as it is told of queues, against that of each of them; all jobs that were evicted ask for 1 cpu.
void expect_lost_cpu(const Ledger& ledger) {
  std::int64_t milliseconds = 0, evictions = 0;
  for (const auto& [key, fate] : ledger.fates()) {
    milliseconds += fate.lost.micros / 1'000;
    evictions += fate.evicted;
  }
  EXPECT_GT(milliseconds, 0);
  std::int64_t lost = 0;
  for (const auto& [what, amount] : ledger.lost()) {
    EXPECT_EQ(what[2], "cpu");
    lost += amount;  // thousandths of a cpu, times seconds
  }
  EXPECT_NEAR(static_cast<double>(lost), static_cast<double>(milliseconds), static_cast<double>(evictions + 1) * 2);
}

/// Every answer is modelled, from the beginning on. The log has an event `Seen`, which says that it is about what it is to be about.
template <class Seen>
void expect_close(const std::string& text, std::size_t started_min, double share_min, double mean_max,
                  const std::string& configuration = {}) {
  const Played p(text, configuration);
  EXPECT_GT(p.first<Seen>(), 0U);
  const PlayedOn c(p.log, 1, {}, true, Duration::seconds(3600));
  const StartError e = start_error_of(c.comparison);
  EXPECT_GE(e.both, started_min);
  EXPECT_GE(close_starts(c), share_min) << to_text(c.comparison, {});
  EXPECT_LE(static_cast<double>(e.mean.micros) / 1e6, mean_max) << to_text(c.comparison, {});
  EXPECT_LE(e.mean, e.max);
  EXPECT_LE(e.p95, e.max);
  EXPECT_LE(e.only_recorded * 10, e.both);
  if (std::is_same_v<Seen, WorkloadPreempted> && configuration.empty()) {
    expect_lost_cpu(c.comparison.was);
    expect_lost_cpu(c.comparison.would_be);
  }
  EXPECT_GE(shared_decisions(p.log, c.result), share_min);
  EXPECT_TRUE(c.verifies());
  // And without a model everything is as it was.
  const PlayedOn same(p.log, 1, {});
  EXPECT_EQ(same.report.same, same.report.recorded);
  EXPECT_EQ(same.report.others, 0U);
  EXPECT_EQ(same.report.state_hash, same.state_then);
  EXPECT_TRUE(same.comparison.differences.empty());
}

TEST(TheModel, IsCloseUnderContention) {
  expect_close<EntryRequeued>(
      basics + queue_text({.name = "cq", .cpu = "8"}) +
          drawn("seed: 3\ncount: 150\narrival: {kind: exponential, mean: 10s}\njobs:\n- name: a\n  weight: 2\n  runTime: {kind: "
                "exponential, mean: 60s}\n  requests: {cpu: 1}\n  queues: [{queue: lq-cq}]\n- name: b\n  weight: 1\n  runTime: "
                "{kind: exponential, mean: 90s}\n  pods: 3\n  requests: {cpu: 1}\n  queues: [{queue: lq-cq}]\n"),
      140, 0.9, 10);
}

TEST(TheModel, IsCloseWherePreemptionGoesOn) {
  expect_close<WorkloadPreempted>(
      basics + queue_text({.name = "cq", .cpu = "6", .more = "  preemption: {withinClusterQueue: LowerPriority}\n"}) +
          drawn("seed: 5\ncount: 120\narrival: {kind: exponential, mean: 15s}\njobs:\n- name: a\n  weight: 3\n  runTime: {kind: "
                "exponential, mean: 80s}\n  requests: {cpu: 1}\n  queues: [{queue: lq-cq}]\n- name: b\n  weight: 1\n  runTime: "
                "{kind: exponential, mean: 60s}\n  requests: {cpu: 2}\n  queues: [{queue: lq-cq}]\n  priorities: [{class: "
                "high}]\n"),
      110, 0.9, 10);
}

TEST(TheModel, IsCloseWithFairSharingAndReclaim) {
  const std::string more = "  preemption: {reclaimWithinCohort: Any, withinClusterQueue: LowerPriority}\n";
  expect_close<WorkloadPreempted>(
      basics + queue_text({.name = "a", .cohort = "team", .cpu = "4", .more = more}) +
          queue_text({.name = "b", .cohort = "team", .cpu = "4", .more = more}) +
          drawn("seed: 7\ncount: 120\narrival: {kind: exponential, mean: 9s}\njobs:\n- name: a\n  weight: 2\n  runTime: {kind: "
                "exponential, mean: 60s}\n  requests: {cpu: 1}\n  queues: [{queue: lq-a, weight: 3}, {queue: lq-b, weight: "
                "1}]\n"),
      110, 0.9, 10, R"({"fairSharing": {}})");
}

TEST(TheModel, IsCloseWithSlicesOfElasticJobs) {
  std::string text =
      "apiVersion: hindsight.dev/v1alpha1\nkind: Scenario\nmetadata: {name: elastic}\nspec:\n  steps:\n  - at: 0s\n"
      "    apply:\n" +
      items_of("---\n" + basics + queue_text({.name = "cq", .cpu = "8"}));
  for (int i = 0; i < 20; ++i) {
    std::string job = job_text({.name = "j" + std::to_string(i), .runs = 60 + i});
    const std::string annotations = "annotations: {";
    job.insert(job.find(annotations) + annotations.size(), "kueue.x-k8s.io/elastic-job: 'true', ");
    const std::string suspend = "  suspend: true\n";
    job.insert(job.find(suspend), "  parallelism: 2\n  completions: 4\n");
    text += "  - at: " + std::to_string(i * 20 + 1) + "s\n    apply:\n" + items_of(job);
    text += "  - at: " + std::to_string(i * 20 + 12) + "s\n    patch:\n    - {kind: Job, namespace: default, name: j" + std::to_string(i) +
            ", merge: {spec: {parallelism: 3}}}\n";
  }
  expect_close<SliceReplaced>(text, 18, 0.85, 10, R"({"featureGates": {"ElasticJobsViaWorkloadSlices": true}})");
}

TEST(TheModel, IsCloseWithFamiliesOfOptions) {
  std::string queue = queue_text({.name = "cq",
                                  .cpu = "4",
                                  .more = "  concurrentAdmissionPolicy: {migration: {mode: "
                                          "TryPreferredFlavors}}\n"});
  // A second flavor, which is tried at the same time.
  const std::string one = "flavors: [{name: default, resources: [{name: cpu, nominalQuota: 4}]}]";
  const auto at = queue.find(one);
  ASSERT_NE(at, std::string::npos);
  queue.replace(at, one.size(),
                "flavors: [{name: default, resources: [{name: cpu, nominalQuota: 4}]}, {name: spot, resources: [{name: cpu, nominalQuota: "
                "4}]}]");
  expect_close<OptionRequested>(
      basics + "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: spot}\n" + queue +
          drawn("seed: 11\ncount: 60\narrival: {kind: exponential, mean: 15s}\njobs:\n- name: a\n  weight: 1\n  runTime: {kind: "
                "exponential, mean: 80s}\n  requests: {cpu: 1}\n  queues: [{queue: lq-cq}]\n"),
      50, 0.85, 15, R"({"featureGates": {"ConcurrentAdmission": true}})");
}

}  // namespace
}  // namespace hindsight::whatif
