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

std::int64_t count(const StoredObject& job, const char* name) { return number(job.status(), name).value_or(0); }

/// Whether pods are replaced only when they have ended for good.
bool waits_for_the_end(const StoredObject& job) {
  return text(job.spec(), "podReplacementPolicy") == "Failed" || job.spec().contains("podFailurePolicy");
}

bool is_managed_elsewhere(const StoredObject& job) {
  const auto manager = text(job.spec(), "managedBy");
  return !manager.empty() && manager != "kubernetes.io/job-controller";
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

/// How many pods of a Job have succeeded when all have.
std::int64_t succeeding_pods(const StoredObject& job) {
  return number(job.spec(), "completions").value_or(number(job.spec(), "parallelism").value_or(1));
}

bool started(const StoredObject& job) {
  if (!is_job_set(job)) return !text(job.status(), "startTime").empty();
  const Json& parts = member(job.status(), "replicatedJobsStatus");
  return std::any_of(parts.begin(), parts.end(), [](const Json& part) { return number(part, "active").value_or(0) > 0; });
}

}  // namespace

JobSimulator::JobSimulator(SimulatedCluster& cluster, JobSimulatorOptions options) : cluster_(cluster), options_(options) {
  cluster_.observe([this](const ObjectChange& change) { follow(change); });
  for (const char* kind : {"Job", "JobSet"}) {
    std::vector<StoredPointer> jobs;  // Following one writes to the cluster.
    for (const auto& [key, job] : cluster_.store().of_kind(kind)) jobs.push_back(job);
    for (const auto& job : jobs) follow({WatchEvent::Type::added, job});
  }
}

Time JobSimulator::next_due() const {
  Time next = due_.empty() ? Time::never() : due_.begin()->first.first;
  if (!syncs_.empty() && (!next.is_set() || syncs_.begin()->first.first < next)) next = syncs_.begin()->first.first;
  return next;
}

std::size_t JobSimulator::run_due() {
  const std::uint64_t before = ended_;
  while (!syncs_.empty() && syncs_.begin()->first.first <= cluster_.now()) {
    const auto [moment, sync] = *syncs_.begin();
    syncs_.erase(syncs_.begin());
    run_sync(sync, moment.second);
  }
  while (!due_.empty() && due_.begin()->first.first <= cluster_.now()) {
    const auto [moment, run] = *due_.begin();
    forget(moment.second);
    const auto job = cluster_.find(run.kind, run.namespace_, run.name);
    if (!job || job->uid != run.uid) continue;
    ending_ = moment.second;
    for (auto& patch : ending_patches(*job, false, cluster_.now(), "CompletionsReached")) {
      // Also in the write that announces the end, or for a moment it would look as if pods were missing.
      if (is_job_set(*job))
        patch["status"]["replicatedJobsStatus"] = parts_status(*job, "succeeded");
      else
        patch["status"]["succeeded"] = succeeding_pods(*job);
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
  if ((!runs && !options_.every_job) || is_managed_elsewhere(job)) return;
  const bool running = ends_.contains(job.created_order);
  if (flag(job.spec(), "suspend")) {
    forget(job.created_order);
    const bool told = condition_is(job.status(), "Suspended");
    if (running || (started(job) && !told) || (count(job, "active") > 0 && !is_planned(job, Sync::Kind::retry)))
      stop(job);
    else if (options_.suspended_after && !told && !is_job_set(job) && !is_planned(job, Sync::Kind::told_suspended))
      plan(job, *options_.suspended_after, Sync::Kind::told_suspended);
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
  const auto pods = wanted_pods(job);
  Json status = {{"startTime", format_rfc3339(cluster_.now())}, {"active", pods}, {"ready", pods}};
  if (condition_is(job.status(), "Suspended")) status["conditions"] = with_suspended(job, false, cluster_.now());
  write_status(job, std::move(status));
}

void JobSimulator::stop(const StoredObject& job) {
  if (is_job_set(job)) return write_status(job, {{"replicatedJobsStatus", parts_status(job, "suspended")}});
  const auto active = count(job, "active");
  const auto failed = std::min(options_.failing_deletions, active);
  options_.failing_deletions -= failed;
  Json status = {{"active", failed}, {"ready", std::min(failed, count(job, "ready"))}};
  status["conditions"] = with_suspended(job, true, cluster_.now());
  if (options_.clears_start_time) status["startTime"] = nullptr;
  if (failed > 0) plan(job, options_.retry, Sync::Kind::retry);
  if (options_.termination.micros > 0 && active > failed) {
    status["terminating"] = count(job, "terminating") + active - failed;
    plan(job, options_.termination, Sync::Kind::terminated, active - failed);
  }
  write_status(job, std::move(status));
}

void JobSimulator::run_sync(const Sync& sync, std::uint64_t created_order) {
  const auto found = cluster_.find(sync.run.kind, sync.run.namespace_, sync.run.name);
  if (!found || found->uid != sync.run.uid || found->created_order != created_order || finished(*found)) return;
  const StoredObject& job = *found;
  const bool suspended = flag(job.spec(), "suspend");
  switch (sync.kind) {
    case Sync::Kind::terminated:
      write_status(job, {{"terminating", std::max<std::int64_t>(0, count(job, "terminating") - sync.pods)}});
      break;
    case Sync::Kind::told_suspended:
      if (suspended && !condition_is(job.status(), "Suspended"))
        write_status(job, {{"conditions", with_suspended(job, true, cluster_.now())}});
      break;
    case Sync::Kind::retry:
      if (suspended && count(job, "active") > 0) stop(job);
      break;
  }
}

void JobSimulator::plan(const StoredObject& job, Duration after, Sync::Kind kind, std::int64_t pods) {
  const Run run{std::string(job.kind->type->kind), job.namespace_, job.name, job.uid};
  syncs_.emplace(Moment{cluster_.now() + after, job.created_order}, Sync{kind, run, pods});
}

bool JobSimulator::is_planned(const StoredObject& job, Sync::Kind kind) const {
  return std::any_of(syncs_.begin(), syncs_.end(),
                     [&](const auto& planned) { return planned.first.second == job.created_order && planned.second.kind == kind; });
}

std::int64_t JobSimulator::wanted_pods(const StoredObject& job) const {
  auto pods = number(job.spec(), "parallelism").value_or(1);
  if (const auto completions = number(job.spec(), "completions")) pods = std::min(pods, *completions - count(job, "succeeded"));
  if (waits_for_the_end(job)) pods -= count(job, "terminating");
  return std::max<std::int64_t>(pods, 0);
}

void JobSimulator::follow_parallelism(const StoredObject& job) {
  if (is_job_set(job)) return;
  const auto pods = wanted_pods(job);
  if (count(job, "active") == pods) return;
  write_status(job, {{"active", pods}, {"ready", pods}});
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
