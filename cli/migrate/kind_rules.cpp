// What the cluster has of kinds and features that this build does not run.

#include <map>
#include <set>

#include "cli/migrate/rules.hpp"
#include "connectors/jobs/integrations.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/json/owner_kinds.hpp"
#include "operations/configuration_schema.hpp"

namespace hindsight::cli::migrate {
namespace {

using connectors::manifests::condition_is;
using connectors::manifests::flag;
using connectors::manifests::member;
using connectors::manifests::text;

enum KindRule {
  kind_of_workloads,
  gated_pods,
  check_multikueue,
  check_provisioning,
  check_unused,
  multikueue_objects,
  multikueue_worker,
  part_of_unmanaged
};

constexpr Rule kind_table[] = {
    {"kind-of-workloads", Severity::blocks,
     "Jobs of this kind are not managed. Their Workloads keep the quota that they hold; nothing starts, stops or finishes them.",
     "Let these jobs end, or delete them, before the change."},
    {"gated-pods", Severity::blocks, "Plain pods are not managed: their gate is never taken away.",
     "Delete the pods, or make Jobs of them."},
    {"check-multikueue", Severity::blocks,
     "No job is sent to another cluster: the check stays Pending, and nothing of this queue is admitted.",
     "Take the check out of the ClusterQueue, or keep Kueue on this cluster."},
    {"check-provisioning", Severity::blocks,
     "No ProvisioningRequest is made: the check stays Pending, and nothing of this queue is admitted.",
     "Take the check out of the ClusterQueue, or keep Kueue on this cluster."},
    {"check-unused", Severity::note, "No ClusterQueue uses this check; nothing answers it here.", ""},
    {"multikueue-objects", Severity::note, "The object is kept, and read by nobody.", ""},
    {"multikueue-worker", Severity::differs,
     "It was sent by the MultiKueue of another cluster. Whether that one works with Hindsight as its worker has not been tried.",
     "Drain this worker first, or keep Kueue on it."},
    {"part-of-unmanaged", Severity::blocks,
     "Its owner is of a kind that Kueue knows and Hindsight does not, so it is queued by itself; as it runs without a Workload of its own, "
     "it is stopped.",
     "Take the queue name from it, or let it end before the change."},
};

constexpr std::string_view multikueue_controller = "kueue.x-k8s.io/multikueue";
constexpr std::string_view provisioning_controller = "kueue.x-k8s.io/provisioning-request";
constexpr std::string_view admission_gate = "kueue.x-k8s.io/admission";

/// Kinds that Kueue has an integration for.
bool is_known_to_kueue(std::string_view kind, std::string_view group) {
  for (const auto& framework : operations::frameworks())
    if (framework.kind == kind && framework.group == group) return true;
  return kind == "ReplicaSet" && group == "apps";
}

void look_at_owners(const World& world, Findings& out) {
  struct Count {
    std::size_t unfinished = 0, admitted = 0;
    std::string example;
  };
  std::map<std::string, Count> kinds;
  for (const Json* workload : world.of("Workload", "kueue.x-k8s.io")) {
    const Json& owner = controller_of(*workload);
    if (!owner.is_object()) continue;
    const auto kind = text(owner, "kind"), group = connectors::group_of_version(text(owner, "apiVersion"));
    const Json& status = member(*workload, "status");
    if (is_integrated(kind, group) || (kind == "Workload" && group == "kueue.x-k8s.io") || condition_is(status, "Finished")) continue;
    Count& count = kinds[std::string(kind) + (group.empty() ? "" : ".") + std::string(group)];
    ++count.unfinished;
    if (member(status, "admission").is_object()) ++count.admitted;
    if (count.example.empty()) count.example = path_of(*workload);
  }
  for (const auto& [kind, count] : kinds)
    out.add(kind_table[kind_of_workloads], "Workloads of " + kind, "metadata.ownerReferences",
            std::to_string(count.unfinished) + " unfinished, " + std::to_string(count.admitted) + " with quota, as " + count.example);
}

void look_at_pods(const World& world, Findings& out) {
  for (const Json* pod : world.of("Pod", "")) {
    const Json& gates = member(*pod, "spec", "schedulingGates");
    if (!gates.is_array() || is_being_deleted(*pod)) continue;
    for (const Json& gate : gates)
      if (text(gate, "name") == admission_gate)
        out.add(kind_table[gated_pods], name_of(*pod), "spec.schedulingGates", std::string(admission_gate));
  }
}

void look_at_checks(const World& world, Findings& out) {
  std::map<std::string, std::vector<const Json*>> users;  // of checks, by name
  for (const Json* queue : world.of("ClusterQueue", "kueue.x-k8s.io")) {
    const Json& list = member(member(member(*queue, "spec"), "admissionChecksStrategy"), "admissionChecks");
    if (list.is_array())
      for (const Json& check : list) users[std::string(text(check, "name"))].push_back(queue);
  }
  for (const Json* check : world.of("AdmissionCheck", "kueue.x-k8s.io")) {
    const auto controller = text(member(*check, "spec"), "controllerName");
    if (controller != multikueue_controller && controller != provisioning_controller) continue;
    const auto& queues = users[std::string(text(member(*check, "metadata"), "name"))];
    if (queues.empty()) out.add(kind_table[check_unused], name_of(*check), "spec.controllerName", std::string(controller));
    for (const Json* queue : queues)
      out.add(kind_table[controller == multikueue_controller ? check_multikueue : check_provisioning], name_of(*queue),
              "spec.admissionChecksStrategy", path_of(*check) + ", controller " + std::string(controller));
  }
}

void look_at_multikueue(const World& world, Findings& out) {
  for (const char* kind : {"MultiKueueConfig", "MultiKueueCluster", "ProvisioningRequestConfig"})
    for (const Json* object : world.of(kind, "kueue.x-k8s.io")) out.add(kind_table[multikueue_objects], name_of(*object), "", kind);
  for (const Json* workload : world.of("Workload", "kueue.x-k8s.io"))
    if (const auto origin = label_of(*workload, connectors::keys::multikueue_origin);
        !origin.empty() && !condition_is(member(*workload, "status"), "Finished"))
      out.add(kind_table[multikueue_worker], name_of(*workload), "metadata.labels", std::string(origin));
}

/// Parts of jobs that only Kueue takes for parts (BA-171, JK-7): running ones with a queue name would be held for jobs by themselves.
void look_at_parts(const World& world, const Configured& configured, Findings& out) {
  std::set<std::string> owners_of_workloads;
  for (const Json* workload : world.of("Workload", "kueue.x-k8s.io"))
    owners_of_workloads.insert(std::string(text(controller_of(*workload), "uid")));
  for (const auto* integration : connectors::all_integrations())
    for (const Json* job : world.of(integration->kind(), integration->group())) {
      const Json& owner = controller_of(*job);
      if (!owner.is_object()) continue;
      const connectors::KindName kind{text(owner, "kind"), connectors::group_of_version(text(owner, "apiVersion"))};
      if (!is_known_to_kueue(kind.kind, kind.group) || is_integrated(kind.kind, kind.group)) continue;
      if (connectors::ownership(kind, {integration->kind(), integration->group()}) != connectors::Ownership::none) continue;
      const bool queued = configured.manages_all || !label_of(*job, connectors::keys::queue_name).empty();
      const bool has_own = owners_of_workloads.contains(std::string(text(member(*job, "metadata"), "uid")));
      if (queued && !has_own && !flag(member(*job, "spec"), "suspend"))
        out.add(kind_table[part_of_unmanaged], name_of(*job), "metadata.ownerReferences",
                std::string(kind.kind) + " " + std::string(text(owner, "name")));
    }
}

}  // namespace

bool is_integrated(std::string_view kind, std::string_view group) { return connectors::find_integration(kind, group) != nullptr; }

std::span<const Rule> kind_rules() { return kind_table; }

void look_at_kinds(const World& world, const Configured& configured, Findings& out) {
  look_at_owners(world, out);
  look_at_pods(world, out);
  look_at_parts(world, configured, out);
  look_at_checks(world, out);
  look_at_multikueue(world, out);
}

}  // namespace hindsight::cli::migrate
