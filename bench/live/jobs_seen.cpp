#include "bench/live/jobs_seen.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "connectors/objects/observe.hpp"
#include "connectors/objects/resource_types.hpp"

namespace hindsight::bench {

namespace types = connectors::types;

namespace {

constexpr std::chrono::seconds stall_time{120};  ///< Without any event.

}  // namespace

Result<void> JobsSeen::begin() {
  for (const auto* type : {&types::job, &types::workload})
    cluster_.watch(*type, [this](const connectors::WatchEvent& event) {
      on_event(event);
      return connectors::kubernetes::Flow::more;
    });
  return wait([this] { return synced_ == 2; }, [] { return std::string("no complete list of Jobs and Workloads"); });
}

Result<JobTotals> JobsSeen::wait_for(std::size_t JobTotals::*which, std::size_t wanted) {
  const auto done = wait([&] { return totals_.*which >= wanted; },
                         [&] {
                           return std::to_string(totals_.*which) + " of " + std::to_string(wanted) + " (" +
                                  std::to_string(totals_.started) + " Jobs started, " + std::to_string(totals_.ended) + " complete; " +
                                  std::to_string(totals_.told) + " Workloads with a status, " + std::to_string(totals_.finished) +
                                  " finished)";
                         });
  if (!done) return tl::unexpected(done.error());
  const std::lock_guard lock(mutex_);
  return totals_;
}

void JobsSeen::fail_with(Error error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  changed_.notify_all();
}

JobsSeen::Times JobsSeen::times_of(const std::string& job) const {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? Times{} : found->second.times;
}

Result<void> JobsSeen::wait(const std::function<bool()>& done, const std::function<std::string()>& found) {
  std::unique_lock lock(mutex_);
  while (!error_ && !done()) {
    const auto before = events_;
    changed_.wait_for(lock, stall_time, [&] { return error_ || done(); });
    if (!error_ && !done() && events_ == before)
      return fail(ErrorKind::unavailable, "nothing came for " + std::to_string(stall_time.count()) + " s; found " + found());
  }
  if (error_) return tl::unexpected(*error_);
  return {};
}

// ---- all below runs on the client's thread -------------------------------------------------------------------------------------------

void JobsSeen::on_event(const connectors::WatchEvent& event) {
  using Type = connectors::WatchEvent::Type;
  if (event.type == Type::deleted) return;
  if (event.type == Type::synced) {
    const std::lock_guard lock(mutex_);
    ++synced_;
    changed_.notify_all();
    return;
  }
  arena_.clear();
  const auto observation = connectors::observe_text(*event.resource, event.object, arena_);
  if (!observation) return fail_with(observation.error());
  if (const auto* job = std::get_if<JobObserved>(&*observation)) {
    bool starts = false;
    {
      const std::lock_guard lock(mutex_);
      starts = see(*job);
    }
    if (starts && on_start_) on_start_(job->meta.name, job->meta.uid);
  } else if (const auto* workload = std::get_if<WorkloadObserved>(&*observation)) {
    const std::lock_guard lock(mutex_);
    see(*workload);
  }
}

/// Whether it starts with this.
bool JobsSeen::see(const JobObserved& observed) {
  const auto now = Clock::now();
  Job& job = jobs_[std::string(observed.meta.name)];
  ++events_;
  const bool runs = !observed.suspended && !observed.finished;
  const bool starts = runs && !job.running;
  if (starts) {
    ++totals_.started;
    job.times.started = now;
    totals_.running_max = std::max(totals_.running_max, ++running_);
  } else if (job.running && !runs) {
    --running_;
    if (!observed.finished) ++totals_.stopped;
  }
  job.running = runs;
  if (observed.finished && !std::exchange(job.ended, true)) {
    ++totals_.ended;
    job.times.ended = now;
  }
  changed_.notify_all();
  return starts;
}

void JobsSeen::see(const WorkloadObserved& observed) {
  const auto [found, is_new] = workloads_.try_emplace(std::string(observed.meta.name));
  Workload& workload = found->second;
  ++events_;
  workload.seen.see(observed, totals_.versions);
  if (is_new && std::exchange(jobs_[std::string(observed.owner_name)].has_workload, true)) ++totals_.second_workloads;
  if (!observed.conditions.empty() && !std::exchange(workload.told, true)) ++totals_.told;
  if (workload.seen.finished() && !std::exchange(workload.finished, true)) ++totals_.finished;
  if (workload.finished && !observed.meta.in_use_finalizer && !std::exchange(workload.released, true)) ++totals_.released;
  changed_.notify_all();
}

}  // namespace hindsight::bench
