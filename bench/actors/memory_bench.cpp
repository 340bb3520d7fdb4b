// What pending Workloads cost in memory: those that are all alike and belong to nobody, and those of Jobs as a cluster has them.

#include <benchmark/benchmark.h>
#include <mimalloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "admission/domain/loop_driver.hpp"
#include "bench/actors/big_domain.hpp"
#include "page/server/state_bytes.hpp"

namespace hindsight::bench {
namespace {

constexpr std::size_t forms = 1'000;  // so many kinds of pod sets, and messages of conditions

/// Bytes of this process in memory.
std::size_t resident() {
  mi_collect(true);
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, pages = 0;
  statm >> total >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

class Told {
 public:
  explicit Told(const BigDomain& facts) : driver_(facts.settings_reader()) {
    for (const auto& o : facts.configuration()) apply(o);
  }
  void apply(const Observation& o) {
    if (const auto ok = driver_.apply(record_after(sequence_++, Time::from_seconds(1'700'001'000), o)); !ok) {
      std::fprintf(stderr, "error: %s\n", ok.error().message.c_str());
      std::abort();
    }
  }
  /// What the page takes it for, in bytes.
  [[nodiscard]] std::size_t estimated() const { return page::estimated_bytes(driver_); }

 private:
  admission::LoopDriver driver_;
  std::uint64_t sequence_ = 0;
};

void pending_alike(benchmark::State& state) {
  while (state.KeepRunning()) {
    const Shape shape;
    BigDomain facts(shape);
    Told told(facts);
    const std::size_t before = resident();
    for (std::size_t i = 0; i < shape.workloads; ++i) told.apply(facts.workload(i));
    state.counters["bytes/workload"] = static_cast<double>(resident() - before) / static_cast<double>(shape.workloads);
    state.counters["estimated"] = static_cast<double>(told.estimated()) / static_cast<double>(shape.workloads);
  }
}

/// Each with a Job, names and uids of the usual lengths, and a condition that says why it waits.
void pending_with_jobs(benchmark::State& state) {
  while (state.KeepRunning()) {
    const Shape shape;
    BigDomain facts(shape);
    Told told(facts);
    const std::size_t before = resident();
    for (std::size_t i = 0; i < shape.workloads; ++i) {
      const std::string number = std::to_string(100'000 + i);
      const std::string job_name = "train-resnet-" + number, workload_name = "job-" + job_name + "-1a2b3";
      const std::string job_uid = "0d9f7b4e-3c21-4f6a-9d55-7a1e52" + number;
      const ResourceAmount requests[] = {{"cpu", 1'000 + static_cast<Amount>(i % forms)}, {"memory", 4'000'000'000}};
      const ConditionFacts waits{ConditionType::quota_reserved, ConditionStatus::false_, "Pending", {}, Time::from_seconds(1'700'000'500)};
      const std::string message = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default-flavor, " +
                                  std::to_string(i % forms) + " more needed";
      auto w = std::get<WorkloadObserved>(facts.workload(i));
      PodSetFacts pod_set = w.pod_sets[0];
      pod_set.requests = requests;
      pod_set.template_hash = pod_set.core_hash = pod_set.shape_hash = i % forms;

      JobObserved job;
      job.meta = w.meta;
      job.meta.name = job_name;
      job.meta.uid = job_uid;
      job.kind = "Job";
      job.group = "batch";
      job.queue_name = w.queue_name;
      job.suspended = true;
      job.pod_sets = {&pod_set, 1};
      job.workload_name = workload_name;
      told.apply(job);

      w.meta.name = workload_name;
      w.owner_uid = job.meta.uid;
      w.owner_kind = "Job";
      w.owner_name = job.meta.name;
      w.job_uid = job.meta.uid;
      w.pod_sets = job.pod_sets;
      ConditionFacts conditions[] = {waits};
      conditions[0].message = message;
      w.conditions = conditions;
      told.apply(w);
    }
    state.counters["bytes/workload"] = static_cast<double>(resident() - before) / static_cast<double>(shape.workloads);
    state.counters["estimated"] = static_cast<double>(told.estimated()) / static_cast<double>(shape.workloads);
  }
}

BENCHMARK(pending_alike)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(pending_with_jobs)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hindsight::bench

BENCHMARK_MAIN();
