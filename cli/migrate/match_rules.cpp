// Workloads that are not what Hindsight makes of their jobs: it would take them for those of an older form of the job (base-api §7.1).

#include <algorithm>
#include <map>
#include <variant>
#include <vector>

#include "cli/migrate/rules.hpp"
#include "connectors/jobs/integrations.hpp"
#include "connectors/json/json_value.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/objects/observe.hpp"
#include "connectors/objects/resource_types.hpp"
#include "vocabulary/arena.hpp"

namespace hindsight::cli::migrate {
namespace {

using connectors::manifests::member;
using connectors::manifests::text;

enum MatchRule { unlike_running_job, unlike_waiting_job };

constexpr Rule match_table[] = {
    {"unlike-running-job", Severity::blocks,
     "The Workload is not the one that Hindsight makes of this job, so it is deleted, and the job is stopped and queued again.",
     "Let the job end before the change, or make the two alike."},
    {"unlike-waiting-job", Severity::differs,
     "The Workload is not the one that Hindsight makes of this job, so the job waits with a new one, behind those of its priority.",
     "Nothing, if its place in line does not matter; else let it start before the change."},
};

bool holds(const WorkloadObserved& w, ConditionType type) {
  return std::any_of(w.conditions.begin(), w.conditions.end(),
                     [&](const ConditionFacts& c) { return c.type == type && c.status == ConditionStatus::true_; });
}

/// Counts that partial admission has lowered are those of the job.
bool is_lowered(const WorkloadObserved& w, const PodSetFacts& of_workload, const PodSetFacts& of_job, bool injected) {
  if (!of_workload.min_count) return false;
  for (const auto& assignment : w.assignments)
    if (assignment.pod_set == of_workload.name && assignment.count == of_job.count) return true;
  return injected && of_job.count < of_workload.count;
}

/// What sets the two apart; empty: nothing. The rule of admission/workload/job_reconcile.cpp, told.
std::pair<std::string, std::string> apart(const JobObserved& job, const WorkloadObserved& w) {
  const bool injected = !job.suspended || job.stopping || holds(w, ConditionType::admitted) || holds(w, ConditionType::evicted);
  if (w.pod_sets.size() != job.pod_sets.size())
    return {"spec.podSets", std::to_string(w.pod_sets.size()) + " pod sets, the job has " + std::to_string(job.pod_sets.size())};
  for (std::size_t i = 0; i < w.pod_sets.size(); ++i) {
    const PodSetFacts& a = w.pod_sets[i];
    const PodSetFacts& b = job.pod_sets[i];
    const std::string field = "spec.podSets[" + std::to_string(i) + "]";
    if (a.name != b.name) return {field + ".name", std::string(a.name) + ", the job has " + std::string(b.name)};
    if (a.count != b.count && !is_lowered(w, a, b, injected))
      return {field + ".count", std::to_string(a.count) + ", the job has " + std::to_string(b.count)};
    if (a.sized.empty() && b.sized.empty() && (injected ? a.core_hash != b.core_hash : a.template_hash != b.template_hash))
      return {field + ".template", "not that of the job"};
  }
  return {};
}

template <class T>
const T* read_as(const Json& object, Arena& arena, std::optional<Result<Observation>>& keep) {
  const auto* type = connectors::find_resource_type(text(object, "kind"), group_of(object));
  if (type == nullptr) return nullptr;
  keep = connectors::observe_text(*type, connectors::to_text(object), arena);
  return *keep ? std::get_if<T>(&**keep) : nullptr;
}

void look_at_match(const Json& job, const std::vector<const Json*>& workloads, Findings& out) {
  Arena arena;
  std::optional<Result<Observation>> kept_job, kept_workload;
  const auto* j = read_as<JobObserved>(job, arena, kept_job);
  if (j == nullptr || j->finished || j->elastic || !j->prebuilt_workload.empty() || j->queue_name.empty()) return;
  const Json* first = nullptr;
  std::pair<std::string, std::string> difference;
  bool admitted = false;
  for (const Json* workload : workloads) {
    if (is_being_deleted(*workload)) return;
    const auto* w = read_as<WorkloadObserved>(*workload, arena, kept_workload);
    if (w == nullptr || holds(*w, ConditionType::finished)) return;  // set aside, or the end of the job
    const auto what = apart(*j, *w);
    if (what.first.empty()) return;
    if (first == nullptr) first = workload, difference = what;
    admitted = admitted || holds(*w, ConditionType::admitted);
  }
  if (first == nullptr) return;
  out.add(match_table[admitted || !j->suspended ? unlike_running_job : unlike_waiting_job], name_of(*first), difference.first,
          difference.second + ", " + name_of(job));
}

}  // namespace

std::span<const Rule> match_rules() { return match_table; }

void look_at_matches(const World& world, Findings& out) {
  std::map<std::string, std::vector<const Json*>> of_jobs;  // by uid
  for (const Json* workload : world.of("Workload", "kueue.x-k8s.io"))
    if (const auto uid = text(controller_of(*workload), "uid"); !uid.empty()) of_jobs[std::string(uid)].push_back(workload);
  for (const auto* integration : connectors::all_integrations())
    for (const Json* job : world.of(integration->kind(), integration->group()))
      if (const auto it = of_jobs.find(std::string(text(member(*job, "metadata"), "uid"))); it != of_jobs.end())
        look_at_match(*job, it->second, out);
}

}  // namespace hindsight::cli::migrate
