#include "bench/live/job_run.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/live/job_bare.hpp"
#include "bench/live/job_creations.hpp"
#include "bench/live/job_ender.hpp"
#include "bench/live/job_objects.hpp"
#include "bench/live/job_report.hpp"
#include "bench/live/job_writes.hpp"
#include "bench/live/plain_write.hpp"

namespace hindsight::bench {

namespace kubernetes = connectors::kubernetes;
using hindsight::testing::LocalCluster;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds pause_between_jobs{100};  ///< What is done about a Job after its end has been done by then.

double seconds_between(Clock::time_point begin, Clock::time_point end) { return std::chrono::duration<double>(end - begin).count(); }

/// What the load of Jobs needs beside Hindsight: a watch, and the Job controller.
class Everybody {
 public:
  /// `runs`: how long a Job runs; nothing: none ends.
  Everybody(kubernetes::KubernetesCluster& client, std::optional<std::chrono::milliseconds> runs)
      : seen_(client, [this](std::string_view name, std::string_view uid) {
          if (ender_) ender_->started(name, uid);
        }) {
    if (runs) ender_.emplace(client, *runs, [this](Error error) { seen_.fail_with(std::move(error)); });
  }

  [[nodiscard]] JobsSeen& seen() { return seen_; }
  [[nodiscard]] std::size_t ends_written() const { return ender_ ? ender_->writes() : 0; }

 private:
  std::optional<JobEnder> ender_;
  JobsSeen seen_;
};

/// Creates all Jobs and waits for what the run is for.
Result<JobLive> play(const JobSettings& settings, LiveCluster& cluster, Everybody& everybody) {
  JobsSeen& seen = everybody.seen();
  if (auto begun = seen.begin(); !begun) return tl::unexpected(begun.error());
  const auto created = create_jobs(cluster.connection(), settings.count);
  if (!created) return tl::unexpected(created.error());
  const bool ends = settings.slots > 0 && !settings.waiting;
  auto totals = seen.wait_for(&JobTotals::started, settings.waiting ? std::min(settings.slots, settings.count) : settings.count);
  if (totals && settings.waiting) totals = seen.wait_for(&JobTotals::told, settings.count);
  const auto told = Clock::now();
  if (totals && ends) totals = seen.wait_for(&JobTotals::ended, settings.count);
  if (totals && ends) totals = seen.wait_for(&JobTotals::released, settings.count);
  if (!totals) return tl::unexpected(totals.error());

  JobLive out;
  std::vector<double> to_start, to_end;
  Clock::time_point first = created->front().sent, last_start = first, last_end = first;
  for (std::size_t i = 0; i < settings.count; ++i) {
    const auto sent = (*created)[i].sent;
    const auto times = seen.times_of(job_name(i));
    first = std::min(first, sent);
    last_start = std::max(last_start, times.started);
    last_end = std::max(last_end, times.ended);
    if (times.started != Clock::time_point{}) to_start.push_back(seconds_between(sent, times.started));
    if (times.ended != Clock::time_point{}) to_end.push_back(seconds_between(sent, times.ended));
  }
  out.seconds_to_start = seconds_between(first, last_start);
  out.seconds = settings.waiting ? seconds_between(first, told) : ends ? seconds_between(first, last_end) : out.seconds_to_start;
  out.to_start = quantiles(std::move(to_start));
  out.to_end = quantiles(std::move(to_end));
  out.seen = *totals;
  return out;
}

Result<JobLive> run_many(const Settings& settings, const std::string& folder) {
  return on_a_cluster<JobLive>(settings, [&](LocalCluster& local) -> Result<JobLive> {
    const JobSettings& jobs = settings.jobs;
    auto cluster = LiveCluster::start(local, settings, job_queue_objects(jobs.slots > 0 ? jobs.slots : jobs.count), folder);
    if (!cluster) return tl::unexpected(cluster.error());
    Everybody everybody((*cluster)->client(), jobs.slots > 0 && !jobs.waiting ? std::optional(jobs.runs) : std::nullopt);
    auto live = play(jobs, **cluster, everybody);
    auto figures = (*cluster)->end();
    if (!live) return live;
    if (!figures) return tl::unexpected(figures.error());
    live->ends_written = everybody.ends_written();
    live->figures = *std::move(figures);
    return live;
  });
}

/// The seconds from the answer to the creation of each Job to its start.
Result<std::vector<double>> play_one_by_one(std::size_t count, LiveCluster& cluster, JobsSeen& seen) {
  if (auto begun = seen.begin(); !begun) return tl::unexpected(begun.error());
  auto user = kubernetes::KubernetesCluster::connect(cluster.connection());
  if (!user) return tl::unexpected(user.error());
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) {
    const auto answer = write_and_wait(**user, job_creation(i));
    const auto created = Clock::now();
    if (!succeeded(answer)) return tl::unexpected(failure("the creation of a Job was refused: " + answer.body));
    if (auto done = seen.wait_for(&JobTotals::started, i + 1); !done) return tl::unexpected(done.error());
    out.push_back(seconds_between(created, seen.times_of(job_name(i)).started));
    if (auto done = seen.wait_for(&JobTotals::released, i + 1); !done) return tl::unexpected(done.error());
    std::this_thread::sleep_for(pause_between_jobs);
  }
  return out;
}

Result<OneByOne> run_one_by_one(const Settings& settings, const std::string& folder) {
  return on_a_cluster<OneByOne>(settings, [&](LocalCluster& local) -> Result<OneByOne> {
    const std::size_t count = settings.jobs.one_by_one;
    OneByOne out;
    // Hindsight's Jobs have the numbers below the count, and stay.
    const auto measure_bare = [&](std::size_t first, Quantiles& into) -> Result<void> {
      if (!settings.with_bare) return {};
      const auto took = bare_lives(local, first, count);
      if (!took) return tl::unexpected(took.error());
      into = *took;
      return {};
    };
    if (auto done = measure_bare(count, out.bare_before); !done) return tl::unexpected(done.error());
    auto cluster = LiveCluster::start(local, settings, job_queue_objects(1), folder);
    if (!cluster) return tl::unexpected(cluster.error());
    Everybody everybody((*cluster)->client(), std::chrono::milliseconds(0));
    auto all = play_one_by_one(count, **cluster, everybody.seen());
    auto totals = everybody.seen().wait_for(&JobTotals::started, 0);
    auto figures = (*cluster)->end();
    if (!all) return tl::unexpected(all.error());
    if (!totals) return tl::unexpected(totals.error());
    if (!figures) return tl::unexpected(figures.error());
    out.to_start = quantiles(*std::move(all));
    out.seen = *totals;
    out.ends_written = everybody.ends_written();
    out.figures = *std::move(figures);
    if (auto done = measure_bare(2 * count + 1, out.bare_after); !done) return tl::unexpected(done.error());
    return out;
  });
}

Result<std::string> folder_in(const std::string& folder, const char* name) {
  const auto out = std::filesystem::path(folder) / name;
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error) return fail(ErrorKind::io, out.string() + " cannot be made: " + error.message());
  return out.string();
}

}  // namespace

Result<bool> run_jobs(const Settings& settings, const std::string& folder) {
  const JobSettings& jobs = settings.jobs;
  bool sound = true;
  if (jobs.one_by_one > 0 && settings.with_load) {
    const auto of_this = folder_in(folder, "one-by-one");
    if (!of_this) return tl::unexpected(of_this.error());
    const auto live = run_one_by_one(settings, *of_this);
    if (!live) return tl::unexpected(live.error());
    report_one_by_one(jobs, *live);
    sound = one_by_one_is_sound(jobs, *live);
  }
  if (jobs.count > 0) {
    const auto of_this = folder_in(folder, "jobs");
    if (!of_this) return tl::unexpected(of_this.error());
    const bool with_bare = settings.with_bare && jobs.slots == 0;
    const auto measure_bare = [&]() -> Result<double> {
      if (!with_bare) return 0.0;
      return on_a_cluster<double>(settings, [&](LocalCluster& local) { return bare_loop_of_jobs(local, settings); });
    };
    const auto before = measure_bare();
    if (!before) return tl::unexpected(before.error());
    if (!settings.with_load) return true;
    auto live = run_many(settings, *of_this);
    if (!live) return tl::unexpected(live.error());
    const auto after = measure_bare();
    if (!after) return tl::unexpected(after.error());
    live->bare_before = *before;
    live->bare_after = *after;
    report_jobs(jobs, *live);
    sound = jobs_are_sound(jobs, *live) && sound;
  }
  return sound || !settings.check;
}

}  // namespace hindsight::bench
