// How far the model is off where nothing was changed, on loads with contention, preemption, fair sharing, families and slices. Every
// answer of the world comes from the model; what comes out is held against what was.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

#include "simulation/generate.hpp"
#include "tests/whatif/played_on.hpp"
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

/// All events of a log that the world answers.
std::map<std::uint64_t, int> answered(const events::Log& log) {
  std::map<std::uint64_t, int> out;
  EXPECT_TRUE(replay::scan(log, "default", 1, log.last().value(), [&](const auto&, const RecordView& r) {
    if (const auto* d = std::get_if<Decisions>(&r.body))
      for (const Event& e : d->events)
        if (const auto essence = essence_of(e)) ++out[*essence];
    return true;
  }));
  return out;
}

/// How many of all decisions that were made on record, or here, were made in both.
double shared_decisions(const events::Log& was, const events::Log& would_be) {
  const auto a = answered(was), b = answered(would_be);
  int both = 0, all = 0;
  for (const auto& [essence, n] : a) {
    const auto it = b.find(essence);
    both += std::min(n, it == b.end() ? 0 : it->second);
    all += std::max(n, it == b.end() ? 0 : it->second);
  }
  for (const auto& [essence, n] : b) all += a.contains(essence) ? 0 : n;
  return all == 0 ? 1 : static_cast<double>(both) / all;
}

struct ModelError {
  double share_of_starts = 0;  ///< Of those that started on record or here: in both, within ten seconds.
  double mean_seconds = 0;     ///< Between the two starts, of those that started in both.
  std::size_t started = 0;
};

ModelError error_of(const PlayedOn& c) {
  ModelError out;
  std::size_t both = 0, close = 0, any = 0;
  for (const auto& [key, was] : c.comparison.was.fates()) {
    const auto it = c.comparison.would_be.fates().find(key);
    const bool here = it != c.comparison.would_be.fates().end() && it->second.started.is_set();
    if (was.started.is_set() || here) ++any;
    if (!was.started.is_set() || !here) continue;
    ++both;
    const double off = std::abs(static_cast<double>((it->second.started - was.started).micros)) / 1e6;
    out.mean_seconds += off;
    if (off <= 10) ++close;
  }
  out.started = both;
  if (both > 0) out.mean_seconds /= static_cast<double>(both);
  if (any > 0) out.share_of_starts = static_cast<double>(close) / static_cast<double>(any);
  return out;
}

/// Every answer is modelled, from the beginning on. The log has an event `Seen`, which says that it is about what it is to be about.
template <class Seen>
void expect_close(const std::string& text, std::size_t started_min, double share_min, double mean_max,
                  const std::string& configuration = {}) {
  const Played p(text, configuration);
  EXPECT_GT(p.first<Seen>(), 0U);
  const PlayedOn c(p.log, 1, {}, true, Duration::seconds(3600));
  const ModelError e = error_of(c);
  EXPECT_GE(e.started, started_min);
  EXPECT_GE(e.share_of_starts, share_min) << to_text(c.comparison, {});
  EXPECT_LE(e.mean_seconds, mean_max) << to_text(c.comparison, {});
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
