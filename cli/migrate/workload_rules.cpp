// Jobs and their Workloads in states in which a change of the controller shows.

#include <algorithm>
#include <map>
#include <variant>
#include <vector>

#include "cli/migrate/rules.hpp"
#include "connectors/jobs/integrations.hpp"
#include "connectors/json/json_value.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/json/owner_kinds.hpp"
#include "connectors/objects/observe.hpp"
#include "connectors/objects/resource_types.hpp"
#include "operations/label_selector.hpp"
#include "vocabulary/arena.hpp"

namespace hindsight::cli::migrate {
namespace {

using connectors::manifests::condition_is;
using connectors::manifests::member;
using connectors::manifests::text;

enum WorkloadRule {
  runs_without_workload,
  runs_without_admission,
  finalizer_of_others,
  many_slices,
  slice_of_other_job,
  options_without_gate,
  options_with_gate,
  reasons_of_waiting
};

constexpr Rule workload_table[] = {
    {"runs-without-workload", Severity::blocks, "The job runs and has no Workload, so it is stopped and queued, as Kueue would do.",
     "Let it end before the change, or take its queue name away."},
    {"runs-without-admission", Severity::note,
     "The job runs and its Workload is not admitted: it is being stopped, and Hindsight goes on with that.",
     "Wait until it is suspended, for a change at rest."},
    {"finalizer-of-others", Severity::note, "Hindsight takes its own finalizer away alone: the object stays until others take theirs.", ""},
    {"many-slices", Severity::differs, "A job has two live slices at most: those that have no place are finished first.",
     "Wait until the job has one or two."},
    {"slice-of-other-job", Severity::differs, "The annotation counts between Workloads of one job only, so this one replaces nothing.",
     "Take the annotation away, if it was written by hand."},
    {"options-without-gate", Severity::differs,
     "The gate ConcurrentAdmission is off: Options are deleted, and their Parent becomes an ordinary Workload; what runs goes on.",
     "Switch the gate on in the configuration, or let these jobs end before the change."},
    {"options-with-gate", Severity::note, "The family is taken over with its Options.", ""},
    {"reasons-of-waiting", Severity::differs,
     "Why a Workload waits is told as with the gate UnadmittedWorkloadsObservability: QuotaReserved has a reason such as WaitingForQuota, "
     "and there is a condition Admitted, False.",
     "See that nobody counts on the reason Pending."},
};

constexpr std::string_view in_use = "kueue.x-k8s.io/resource-in-use";

struct JobFacts {
  std::vector<const Json*> workloads;  ///< Unfinished ones.
};

std::string_view uid_of(const Json& object) { return text(member(object, "metadata"), "uid"); }
bool is_admitted(const Json& workload) { return condition_is(member(workload, "status"), "Admitted"); }
bool is_finished(const Json& workload) { return condition_is(member(workload, "status"), "Finished"); }

/// A part of a job that runs with what its owner was admitted with.
bool is_part(const Json& job) {
  const Json& owner = controller_of(job);
  if (!owner.is_object()) return false;
  return connectors::ownership({text(owner, "kind"), connectors::group_of_version(text(owner, "apiVersion"))},
                               {text(job, "kind"), group_of(job)}) != connectors::Ownership::none;
}

bool in_managed_namespace(const Json& job, const Configured& configured) {
  const std::string space(text(member(job, "metadata"), "namespace"));
  return !configured.read || operations::selects_namespace(configured.read->managed_jobs_namespaces, space);
}

void look_at_job(const Json& job, const JobFacts& facts, bool prebuilt_there, const Configured& configured, Findings& out) {
  const auto* type = connectors::find_resource_type(text(job, "kind"), group_of(job));
  if (type == nullptr || is_part(job) || !in_managed_namespace(job, configured)) return;
  Arena arena;
  const auto observation = connectors::observe_text(*type, connectors::to_text(job), arena);
  if (!observation) return;  // set aside: object_rules tells
  const auto* read = std::get_if<JobObserved>(&*observation);
  if (read == nullptr || read->suspended || read->finished || (read->queue_name.empty() && !configured.manages_all)) return;
  if (facts.workloads.empty()) {
    if (!prebuilt_there && !controller_of(job).is_object())
      out.add(workload_table[runs_without_workload], name_of(job), "spec.suspend", "false, queue " + std::string(read->queue_name));
    return;
  }
  for (const Json* workload : facts.workloads)
    if (is_admitted(*workload)) return;
  out.add(workload_table[runs_without_admission], name_of(job), "spec.suspend", "false, " + name_of(*facts.workloads.front()));
}

void look_at_finalizers(const Json& workload, Findings& out) {
  if (is_finished(workload)) return;
  const Json& list = member(workload, "metadata", "finalizers");
  if (!list.is_array()) return;
  for (const Json& one : list)
    if (one.is_string() && one != std::string(in_use))
      out.add(workload_table[finalizer_of_others], name_of(workload), "metadata.finalizers", one.get<std::string>());
}

using ByPath = std::map<std::string, const Json*>;

void look_at_slices(const Json& workload, const ByPath& workloads, Findings& out) {
  const auto replaced = annotation_of(workload, connectors::keys::slice_replacement_for);
  if (replaced.empty() || is_finished(workload)) return;
  const auto it = workloads.find(std::string(replaced));
  if (it == workloads.end() || text(controller_of(*it->second), "uid") == text(controller_of(workload), "uid")) return;
  out.add(workload_table[slice_of_other_job], name_of(workload),
          "metadata.annotations[" + std::string(connectors::keys::slice_replacement_for) + "]", std::string(replaced));
}

void look_at_families(const Json& workload, bool gate, Findings& out) {
  if (is_finished(workload)) return;
  namespace keys = connectors::keys;
  const Json& owner = controller_of(workload);
  const bool option = text(owner, "kind") == "Workload";
  const bool parent = !label_of(workload, keys::parent_label).empty() || !annotation_of(workload, keys::parent_annotation).empty();
  if (option || parent)
    out.add(workload_table[gate ? options_with_gate : options_without_gate], name_of(workload),
            option ? "metadata.ownerReferences" : "metadata.labels", option ? "Option of " + std::string(text(owner, "name")) : "Parent");
}

/// Kueue calls every wait Pending while the gate UnadmittedWorkloadsObservability is off.
bool waits_for_no_told_reason(const Json& workload) {
  const Json& conditions = member(workload, "status", "conditions");
  if (is_finished(workload) || !conditions.is_array()) return false;
  return std::any_of(conditions.begin(), conditions.end(), [](const Json& one) {
    return text(one, "type") == "QuotaReserved" && text(one, "status") == "False" && text(one, "reason") == "Pending";
  });
}

}  // namespace

std::span<const Rule> workload_rules() { return workload_table; }

void look_at_workloads(const World& world, const Configured& configured, Findings& out) {
  std::map<std::string, JobFacts> jobs;  // by uid
  ByPath workloads;
  for (const Json* workload : world.of("Workload", "kueue.x-k8s.io")) {
    workloads.emplace(path_of(*workload), workload);
    if (!is_finished(*workload)) jobs[std::string(text(controller_of(*workload), "uid"))].workloads.push_back(workload);
  }
  for (const auto* integration : connectors::all_integrations())
    for (const Json* job : world.of(integration->kind(), integration->group())) {
      const auto& facts = jobs[std::string(uid_of(*job))];
      const auto prebuilt = label_of(*job, connectors::keys::prebuilt_workload_name).empty()
                                ? annotation_of(*job, connectors::keys::prebuilt_workload_name)
                                : label_of(*job, connectors::keys::prebuilt_workload_name);
      look_at_job(*job, facts, !prebuilt.empty(), configured, out);
      if (annotation_of(*job, connectors::keys::elastic_job) == "true" && facts.workloads.size() > 2)
        out.add(workload_table[many_slices], name_of(*job), "", std::to_string(facts.workloads.size()) + " unfinished Workloads");
    }
  std::size_t waiting = 0;
  for (const auto& [path, workload] : workloads) {
    waiting += waits_for_no_told_reason(*workload) ? 1U : 0U;
    look_at_finalizers(*workload, out);
    look_at_slices(*workload, workloads, out);
    look_at_families(*workload, configured.gate("ConcurrentAdmission"), out);
  }
  if (waiting > 0)
    out.add(workload_table[reasons_of_waiting], "Workloads", "status.conditions", "Pending, " + std::to_string(waiting) + " of them");
}

}  // namespace hindsight::cli::migrate
