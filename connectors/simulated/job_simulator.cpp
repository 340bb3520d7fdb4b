#include "connectors/simulated/job_simulator.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "connectors/manifests/manifest_reader.hpp"
#include "connectors/simulated/job_endings.hpp"

namespace hindsight::connectors::simulated {
namespace {

bool is_job_set(const StoredObject& job) { return job.kind->type->kind == "JobSet"; }

std::optional<Duration> seconds_of(const Json& annotated) {
  const auto seconds = manifests::seconds_annotation(annotated, manifests::run_seconds_annotation);
  return seconds ? *seconds : std::nullopt;
}

/// How long the job runs; nothing: it does not say.
std::optional<Duration> run_time(const StoredObject& job) {
  if (const auto own = seconds_of(job.object)) return own;
  if (!is_job_set(job)) return seconds_of(member(job.spec(), "template"));
  for (const auto& part : member(job.spec(), "replicatedJobs"))
    if (const auto seconds = seconds_of(member(member(part, "template", "spec"), "template"))) return seconds;
  return std::nullopt;
}

bool finished(const StoredObject& job) {
  const Json& status = job.status();
  return condition_is(status, "Complete") || condition_is(status, "Failed") || condition_is(status, "Completed");
}

/// Pods that run at once.
std::int64_t width(const StoredObject& job) {
  const auto parallelism = number(job.spec(), "parallelism").value_or(1);
  return std::min(parallelism, number(job.spec(), "completions").value_or(parallelism));
}

/// The condition list with Suspended as it now is; False is only written over True.
Json with_suspended(const StoredObject& job, bool suspended, Time now) {
  Json list = member(job.status(), "conditions").is_array() ? job.status()["conditions"] : Json::array();
  const std::string time = format_rfc3339(now);
  Json wanted = {{"type", "Suspended"},
                 {"status", suspended ? "True" : "False"},
                 {"reason", suspended ? "JobSuspended" : "JobResumed"},
                 {"message", suspended ? "Job suspended" : "Job resumed"},
                 {"lastTransitionTime", time}};
  if (!is_job_set(job)) wanted["lastProbeTime"] = time;
  const auto it = std::find_if(list.begin(), list.end(), [](const Json& item) { return text(item, "type") == "Suspended"; });
  if (it != list.end())
    *it = std::move(wanted);
  else if (suspended)
    list.push_back(std::move(wanted));
  return list;
}

/// Status of the parts of a JobSet, all in one state.
Json parts_status(const StoredObject& job_set, std::string_view state) {
  Json list = Json::array();
  for (const auto& part : member(job_set.spec(), "replicatedJobs")) {
    const auto replicas = number(part, "replicas").value_or(1);
    const auto in = [&](std::string_view name) { return state == name ? replicas : 0; };
    list.push_back({{"name", member(part, "name")},
                    {"active", in("running")},
                    {"ready", in("running")},
                    {"succeeded", in("succeeded")},
                    {"failed", 0},
                    {"suspended", in("suspended")}});
  }
  return list;
}

bool started(const StoredObject& job) {
  if (!is_job_set(job)) return !text(job.status(), "startTime").empty();
  const Json& parts = member(job.status(), "replicatedJobsStatus");
  return std::any_of(parts.begin(), parts.end(), [](const Json& part) { return number(part, "active").value_or(0) > 0; });
}

}  // namespace

JobSimulator::JobSimulator(SimulatedCluster& cluster, SimulatedJobs which) : cluster_(cluster), which_(which) {
  cluster_.observe([this](const ObjectChange& change) { follow(change); });
  for (const char* kind : {"Job", "JobSet"}) {
    std::vector<StoredPointer> jobs;  // Following one writes to the cluster.
    for (const auto& [key, job] : cluster_.store().of_kind(kind)) jobs.push_back(job);
    for (const auto& job : jobs) follow({WatchEvent::Type::added, job});
  }
}

Time JobSimulator::next_due() const { return due_.empty() ? Time::never() : due_.begin()->first.first; }

std::size_t JobSimulator::run_due() {
  const std::uint64_t before = ended_;
  while (!due_.empty() && due_.begin()->first.first <= cluster_.now()) {
    const auto [moment, run] = *due_.begin();
    forget(moment.second);
    const auto job = cluster_.find(run.kind, run.namespace_, run.name);
    if (!job || job->uid != run.uid) continue;
    ending_ = moment.second;
    for (auto& patch : ending_patches(*job, false, cluster_.now(), "CompletionsReached")) {
      if (is_job_set(*job)) patch["status"]["replicatedJobsStatus"] = parts_status(*job, "succeeded");
      cluster_.merge_patch(run.kind, run.namespace_, run.name, Part::status, patch);
    }
    ending_ = 0;
    ++ended_;
  }
  return ended_ - before;
}

void JobSimulator::follow(const ObjectChange& change) {
  const StoredObject& job = *change.object;
  const auto kind = job.kind->type->kind;
  if ((kind != "Job" && kind != "JobSet") || job.created_order == ending_) return;
  if (change.type == WatchEvent::Type::deleted || finished(job)) return forget(job.created_order);
  const auto runs = run_time(job);
  if (!runs && which_ == SimulatedJobs::with_run_time) return;
  const bool running = ends_.contains(job.created_order);
  if (flag(job.spec(), "suspend")) {
    forget(job.created_order);
    if (running || started(job)) stop(job);
  } else if (!running) {
    start(job, runs);
  } else {
    follow_parallelism(job);
  }
}

void JobSimulator::start(const StoredObject& job, std::optional<Duration> runs) {
  const Time end = runs ? cluster_.now() + *runs : Time::never();
  ends_[job.created_order] = end;
  if (runs) due_[{end, job.created_order}] = {std::string(job.kind->type->kind), job.namespace_, job.name, job.uid};
  if (is_job_set(job)) return write_status(job, {{"replicatedJobsStatus", parts_status(job, "running")}});
  Json status = {{"startTime", format_rfc3339(cluster_.now())}, {"active", width(job)}, {"ready", width(job)}};
  if (condition_is(job.status(), "Suspended")) status["conditions"] = with_suspended(job, false, cluster_.now());
  write_status(job, std::move(status));
}

void JobSimulator::stop(const StoredObject& job) {
  if (is_job_set(job)) return write_status(job, {{"replicatedJobsStatus", parts_status(job, "suspended")}});
  write_status(job, {{"startTime", nullptr}, {"active", 0}, {"ready", 0}, {"conditions", with_suspended(job, true, cluster_.now())}});
}

void JobSimulator::follow_parallelism(const StoredObject& job) {
  if (is_job_set(job) || number(job.status(), "active").value_or(0) == width(job)) return;
  write_status(job, {{"active", width(job)}, {"ready", width(job)}});
}

void JobSimulator::forget(std::uint64_t created_order) {
  const auto it = ends_.find(created_order);
  if (it == ends_.end()) return;
  due_.erase({it->second, created_order});
  ends_.erase(it);
}

void JobSimulator::write_status(const StoredObject& job, Json status) {
  cluster_.merge_patch(job.kind->type->kind, job.namespace_, job.name, Part::status, {{"status", std::move(status)}});
}

}  // namespace hindsight::connectors::simulated
