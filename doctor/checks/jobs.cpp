#include "doctor/checks/jobs.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "connectors/manifests/json_views.hpp"

namespace hindsight::doctor {
namespace {

namespace m = connectors::manifests;

constexpr const char* queue_label = "kueue.x-k8s.io/queue-name";
constexpr Duration young = Duration::seconds(30);

bool is_over(const Json& job) {
  const Json& status = m::member(job, "status");
  for (const char* type : {"Complete", "Completed", "Failed"})
    if (m::condition_is(status, type)) return true;
  const auto ray = m::text(status, "jobStatus");
  return ray == "SUCCEEDED" || ray == "FAILED" || ray == "STOPPED";
}

/// Part of another job of ours, which is the one that is admitted.
bool is_part(const Json& job) {
  const Json& owners = m::member(m::member(job, "metadata"), "ownerReferences");
  return owners.is_array() && std::any_of(owners.begin(), owners.end(), [](const Json& owner) {
           const auto kind = m::text(owner, "kind");
           return m::flag(owner, "controller") && (kind == "JobSet" || kind == "RayJob" || kind == "RayCluster" || kind == "Workload");
         });
}

}  // namespace

void find_unadmitted(const std::string& kind, const std::vector<Json>& jobs, const std::vector<Json>& workloads, Time now, JobsFacts& out) {
  std::map<std::string, std::pair<bool, std::string>> by_owner;  // uid: one is admitted, the name of one
  for (const auto& workload : workloads) {
    const Json& owners = m::member(m::member(workload, "metadata"), "ownerReferences");
    if (!owners.is_array()) continue;
    const bool admitted = m::condition_is(m::member(workload, "status"), "Admitted");
    for (const auto& owner : owners) {
      auto& known = by_owner[std::string(m::text(owner, "uid"))];
      known.first = known.first || admitted;
      known.second = std::string(m::text(m::member(workload, "metadata"), "name"));
    }
  }
  for (const auto& job : jobs) {
    ++out.looked_at;
    const Json& meta = m::member(job, "metadata");
    const Json& spec = m::member(job, "spec");
    if (m::flag(spec, "suspend") || is_over(job) || is_part(job)) continue;
    if (!m::text(meta, "deletionTimestamp").empty() || m::text(spec, "managedBy") == "kueue.x-k8s.io/multikueue") continue;
    const Time created = parse_rfc3339(m::text(meta, "creationTimestamp")).value_or(Time::from_seconds(0));
    if (now - created < young) continue;
    ++out.running;
    const auto known = by_owner.find(std::string(m::text(meta, "uid")));
    if (known != by_owner.end() && known->second.first) continue;
    out.unadmitted.push_back({kind, std::string(m::text(meta, "namespace")), std::string(m::text(meta, "name")),
                              std::string(m::text(m::member(meta, "labels"), queue_label)),
                              known == by_owner.end() ? "" : known->second.second});
  }
}

Outcome judge_jobs(const JobsFacts& facts, const Commands& commands) {
  Outcome out;
  for (const auto& one : facts.unadmitted)
    out.add({Severity::error, one.kind + " " + one.namespace_ + "/" + one.name,
             "it runs, and " +
                 (one.workload.empty() ? std::string("has no Workload") : "its Workload " + one.workload + " is not admitted") +
                 ": what it uses is counted nowhere",
             "jobs of queue " + one.queue + " run once they are admitted: a running Hindsight stops the others",
             "Stop it until it is admitted; and see why Hindsight did not (rights, the process)",
             commands.kubectl(in_namespace(one.namespace_) + " patch " + as_word(one.kind) + " " + as_word(one.name) +
                              R"( --type=merge -p '{"spec":{"suspend":true}}')")});
  if (!facts.unknown.empty() && facts.looked_at == 0) return blind(facts.unknown);
  if (!facts.unknown.empty())
    out.add({Severity::warning, "jobs", "not all could be looked at: " + facts.unknown, "the right to list jobs and Workloads",
             "Look with an account that may", commands.kubectl("auth can-i list workloads.kueue.x-k8s.io -A")});
  out.summary = std::to_string(facts.unadmitted.size()) + " of " + counted(facts.running, "job that runs", "jobs that run") +
                " without admission, " + counted(facts.looked_at, "job", "jobs") + " with a queue looked at" +
                (facts.complete ? "" : "; there are more");
  return out;
}

Outcome examine_jobs(Context& context) {
  JobsFacts facts;
  const auto workloads = list(*context.cluster, "/apis/kueue.x-k8s.io/v1beta2/workloads", "", context.options.objects_max);
  if (!workloads) {
    if (workloads.error().kind == ErrorKind::not_found) return skipped("the cluster has no Workloads yet");
    return blind(workloads.error().message);
  }
  // Of Workloads that were not read nothing is known: their jobs would be told of wrongly.
  if (!workloads->complete)
    return skipped("there are more than " + std::to_string(context.options.objects_max) +
                   " Workloads; hindsight get workloads tells of them");
  const std::string labelled = std::string("labelSelector=kueue.x-k8s.io%2Fqueue-name");
  for (const auto& [path, kind] :
       {std::pair("/apis/batch/v1/jobs", "job.batch"), std::pair("/apis/jobset.x-k8s.io/v1alpha2/jobsets", "jobset.jobset.x-k8s.io"),
        std::pair("/apis/ray.io/v1/rayjobs", "rayjob.ray.io"), std::pair("/apis/ray.io/v1/rayclusters", "raycluster.ray.io")}) {
    const auto jobs = list(*context.cluster, path, labelled, context.options.objects_max);
    if (!jobs) {
      if (jobs.error().kind != ErrorKind::not_found) facts.unknown = jobs.error().message;
      continue;
    }
    facts.complete = facts.complete && jobs->complete;
    find_unadmitted(kind, jobs->items, workloads->items, context.now(), facts);
  }
  return judge_jobs(facts, context.commands);
}

}  // namespace hindsight::doctor
