#include "bench/live/job_report.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

namespace hindsight::bench {
namespace {

double ms(double seconds) { return seconds * 1000; }

/// Without those of the users and of the Job controller, whom this program plays.
RequestCounts of_hindsight(RequestCounts all, std::size_t created, std::size_t ended) {
  const auto take = [&](const char* kind, std::size_t count) {
    const auto found = all.find(kind);
    if (found == all.end()) return;
    found->second -= std::min(found->second, count);
    if (found->second == 0) all.erase(found);
  };
  take("POST jobs", created);
  take("PATCH jobs/status", ended);
  return all;
}

/// What all runs have to say. `jobs`: how many there were.
void report_costs(const LiveFigures& figures, const RequestCounts& requests, const WriteTally& versions, std::size_t jobs) {
  const auto each = static_cast<double>(jobs);
  std::size_t sum = 0;
  std::string kinds;
  for (const auto& [kind, count] : requests) {
    sum += count;
    char text[32];
    std::snprintf(text, sizeof text, "%.3f ", static_cast<double>(count) / each);
    kinds.append(kinds.empty() ? "" : ", ").append(text).append(kind);
  }
  std::printf("requests of Hindsight  %8.3f for each Job that write: %s\n", static_cast<double>(sum) / each, kinds.c_str());
  std::printf(
      "  in all               %8zu; by its own metrics %llu writes, %llu conflicts, %llu answers with lists and Kubernetes events\n", sum,
      static_cast<unsigned long long>(figures.writes), static_cast<unsigned long long>(figures.conflicts),
      static_cast<unsigned long long>(figures.answers));
  std::printf("versions of Workloads  %8zu created, %zu admissions, %zu reasons of waiting, %zu ends, %zu that say nothing new\n",
              versions.created, versions.admissions, versions.reasons, versions.finished, versions.repeated);
  std::printf("Hindsight              %8.0f MB at most; for each Job %.1f KB more than before and %.2f ms of processor time (%.1f s)\n",
              figures.megabytes, figures.load_megabytes * 1024 / each, ms(figures.load_cpu_seconds) / each, figures.load_cpu_seconds);
  std::printf("API server             %8.0f MB at most; for each Job %.2f ms of processor time (%.1f s)\n", figures.server.megabytes_max,
              ms(figures.server.cpu_seconds) / each, figures.server.cpu_seconds);
  std::printf("a third client's write %8.1f ms p50, %.1f p99 of %zu; before the load %.1f p50, %.1f p99\n", figures.busy.p50_ms,
              figures.busy.p99_ms, figures.busy.writes, figures.idle.p50_ms, figures.idle.p99_ms);
}

/// Complains about what does not hold.
class Checks {
 public:
  void equal(const char* what, std::size_t found, std::size_t allowed) {
    if (found != allowed) complain(what, found, std::to_string(allowed));
  }
  void at_most(const char* what, std::size_t found, std::size_t allowed) {
    if (found > allowed) complain(what, found, "at most " + std::to_string(allowed));
  }
  [[nodiscard]] bool hold() const { return hold_; }

 private:
  void complain(const char* what, std::size_t found, const std::string& allowed) {
    std::fprintf(stderr, "error: %s: found %zu, allowed: %s\n", what, found, allowed.c_str());
    hold_ = false;
  }

  bool hold_ = true;
};

std::size_t count_of(const RequestCounts& requests, const char* kind) {
  const auto found = requests.find(kind);
  return found == requests.end() ? 0 : found->second;
}

/// One life: the Workload is created, told what is so, and admitted; the Job is started; at its end the Workload is finished, and then its
/// finalizer goes.
void check_lives(Checks& checks, const RequestCounts& requests, const JobTotals& seen, std::size_t jobs, std::size_t started,
                 std::size_t ended, std::size_t may_wait) {
  checks.equal("Jobs that were started", seen.started, started);
  checks.equal("Jobs that were stopped", seen.stopped, 0);
  checks.equal("Jobs that are complete", seen.ended, ended);
  checks.equal("Workloads", seen.versions.created, jobs);
  checks.equal("second Workloads of a Job", seen.second_workloads, 0);
  checks.equal("Workloads that have finished", seen.finished, ended);
  checks.equal("requests that create Workloads", count_of(requests, "POST workloads"), jobs);
  checks.at_most("requests that start Jobs", count_of(requests, "PATCH jobs"), started);
  checks.at_most("requests for the status of Workloads", count_of(requests, "PATCH workloads/status"), started + ended + may_wait);
  checks.at_most("other requests that change Workloads", count_of(requests, "PATCH workloads"), ended);
  checks.equal("requests for the status of Jobs", count_of(requests, "PATCH jobs/status"), 0);
}

}  // namespace

void report_jobs(const JobSettings& settings, const JobLive& live) {
  const auto jobs = static_cast<double>(settings.count);
  if (settings.waiting) {
    std::printf("%zu Jobs, of which %zu may run; nothing ends\n", settings.count, settings.slots);
    std::printf("all have a status      %8.2f s after the first creation, %.0f Jobs/s\n", live.seconds, jobs / live.seconds);
  } else if (settings.slots > 0) {
    const double runs = std::chrono::duration<double>(settings.runs).count();
    const double bound = jobs / static_cast<double>(settings.slots) * runs;
    std::printf("%zu Jobs through %zu slots, each runs %.3f s; no schedule ends before %.1f s\n", settings.count, settings.slots, runs,
                bound);
    std::printf("all complete           %8.2f s after the first creation, %.2f of the bound; at most %zu ran at a time\n", live.seconds,
                live.seconds / bound, live.seen.running_max);
    std::printf("creation to completion %8.2f s p50, %.2f p99\n", live.to_end.p50, live.to_end.p99);
  } else {
    std::printf("%zu Jobs with room for all\n", settings.count);
    std::printf("all started            %8.2f s after the first creation, %.0f Jobs/s\n", live.seconds, jobs / live.seconds);
    if (live.bare_before > 0) {
      std::printf("bare loop              %8.2f s before, %.2f s after\n", live.bare_before, live.bare_after);
      std::printf("ratio to the bare loop %8.2f\n", live.seconds * 2 / (live.bare_before + live.bare_after));
    }
  }
  std::printf("creation to start      %8.1f ms p50, %.1f p99\n", ms(live.to_start.p50), ms(live.to_start.p99));
  report_costs(live.figures, of_hindsight(live.figures.requests, settings.count, live.ends_written), live.seen.versions, settings.count);
}

void report_one_by_one(const JobSettings& settings, const OneByOne& live) {
  std::printf("%zu Jobs on an idle cluster, one after another\n", settings.one_by_one);
  std::printf("created to started     %8.1f ms p50, %.1f p99\n", ms(live.to_start.p50), ms(live.to_start.p99));
  if (live.bare_before.p50 > 0) {
    std::printf("the three bare writes  %8.1f ms p50, %.1f p99 before; %.1f p50, %.1f p99 after\n", ms(live.bare_before.p50),
                ms(live.bare_before.p99), ms(live.bare_after.p50), ms(live.bare_after.p99));
    std::printf("ratio of the medians   %8.2f\n", live.to_start.p50 * 2 / (live.bare_before.p50 + live.bare_after.p50));
  }
  report_costs(live.figures, of_hindsight(live.figures.requests, settings.one_by_one, live.ends_written), live.seen.versions,
               settings.one_by_one);
}

bool jobs_are_sound(const JobSettings& settings, const JobLive& live) {
  const std::size_t slots = settings.slots > 0 ? std::min(settings.slots, settings.count) : settings.count;
  const bool ends = settings.slots > 0 && !settings.waiting;
  Checks checks;
  check_lives(checks, of_hindsight(live.figures.requests, settings.count, live.ends_written), live.seen, settings.count,
              settings.waiting ? slots : settings.count, ends ? settings.count : 0, settings.count - slots);
  checks.at_most("Jobs that ran at a time", live.seen.running_max, slots);
  if (settings.waiting) checks.equal("Workloads with a status", live.seen.told, settings.count);
  return checks.hold();
}

bool one_by_one_is_sound(const JobSettings& settings, const OneByOne& live) {
  const std::size_t jobs = settings.one_by_one;
  Checks checks;
  check_lives(checks, of_hindsight(live.figures.requests, jobs, live.ends_written), live.seen, jobs, jobs, jobs, 0);
  checks.at_most("Jobs that ran at a time", live.seen.running_max, 1);
  return checks.hold();
}

}  // namespace hindsight::bench
