#include "connectors/simulated/state_views.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

namespace hindsight::connectors::simulated {
namespace {

constexpr std::array<std::string_view, 4> job_kinds{"Job", "JobSet", "RayCluster", "RayJob"};

/// A copy of the member, or `fallback` where it is absent, null or (for objects) empty.
Json copy_or(const Json& parent, std::string_view name, const Json& fallback) {
  const Json& value = member(parent, name);
  return value.is_null() ? fallback : value;
}

void add_template(Json& view, std::string_view name, const Json& pod_template) {
  const Json& pod = member(pod_template, "spec");
  view["nodeSelectors"][std::string(name)] = copy_or(pod, "nodeSelector", Json::object());
  Json gates = Json::array();
  for (const auto& gate : member(pod, "schedulingGates")) gates.push_back(member(gate, "name"));
  std::sort(gates.begin(), gates.end());
  view["gates"][std::string(name)] = std::move(gates);
}

/// One level of one slice: a value for each of its domains.
std::vector<std::string> level_values(const Json& level, std::size_t domains) {
  if (const Json& one = member(level, "universal"); one.is_string()) return std::vector<std::string>(domains, one.get<std::string>());
  const Json& individual = member(level, "individual");
  std::vector<std::string> out;
  for (const auto& root : member(individual, "roots"))
    out.push_back(std::string(text(individual, "prefix")) + root.get<std::string>() + std::string(text(individual, "suffix")));
  return out;
}

/// Slices → rows of domain values and a count, sorted.
Json expanded(const Json& assignment) {
  Json rows = Json::array();
  for (const auto& slice : member(assignment, "slices")) {
    const auto domains = static_cast<std::size_t>(number(slice, "domainCount").value_or(0));
    std::vector<std::vector<std::string>> columns;
    for (const auto& level : member(slice, "valuesPerLevel")) columns.push_back(level_values(level, domains));
    const Json& counts = member(slice, "podCounts");
    for (std::size_t i = 0; i < domains; ++i) {
      Json row = Json::array();
      for (const auto& column : columns) row.push_back(i < column.size() ? Json(column[i]) : Json());
      const Json& individual = member(counts, "individual");
      if (counts.contains("universal"))
        row.push_back(member(counts, "universal"));
      else
        row.push_back(i < individual.size() ? individual[i] : Json());
      rows.push_back(std::move(row));
    }
  }
  std::sort(rows.begin(), rows.end());
  return {{"levels", member(assignment, "levels")}, {"domains", std::move(rows)}};
}

Json admitted_view(const Json& admission) {
  Json out = Json::object();
  for (const auto& assignment : member(admission, "podSetAssignments")) {
    Json view = {{"count", member(assignment, "count")},
                 {"flavors", copy_or(assignment, "flavors", Json::object())},
                 {"usage", copy_or(assignment, "resourceUsage", Json::object())}};
    if (const Json& topology = member(assignment, "topologyAssignment"); !topology.empty()) view["topology"] = expanded(topology);
    out[std::string(text(assignment, "name"))] = std::move(view);
  }
  return out;
}

Json usage_view(const Json& list) {
  Json out = Json::object();
  for (const auto& flavor : list) {
    Json& resources = out[std::string(text(flavor, "name"))];
    resources = Json::object();
    for (const auto& resource : member(flavor, "resources"))
      resources[std::string(text(resource, "name"))] = {copy_or(resource, "total", "0"), copy_or(resource, "borrowed", "0")};
  }
  return out;
}

std::string owner_name(const StoredObject& workload) {
  for (const auto& reference : member(workload.metadata(), "ownerReferences")) {
    if (!flag(reference, "controller")) continue;
    return std::string(text(reference, "kind")) + "/" + workload.namespace_ + "/" + std::string(text(reference, "name"));
  }
  return "Workload/" + workload.namespace_ + "/" + workload.name;
}

}  // namespace

Json job_view(const StoredObject& job) {
  const Json& spec = job.spec();
  Json view = {{"suspended", flag(spec, "suspend")}};
  if (job.kind->type->kind == "Job") {
    view["parallelism"] = member(spec, "parallelism");
    add_template(view, "main", member(spec, "template"));
  } else if (job.kind->type->kind == "JobSet") {
    for (const auto& part : member(spec, "replicatedJobs"))
      add_template(view, text(part, "name"), member(member(part, "template", "spec"), "template"));
  }
  return view;
}

Json workload_view(const StoredObject& workload) {
  const Json& spec = workload.spec();
  const Json& status = workload.status();
  Json view = {{"queue", member(spec, "queueName")}, {"priority", member(spec, "priority")}, {"active", copy_or(spec, "active", true)}};
  view["counts"] = Json::object();
  for (const auto& pod_set : member(spec, "podSets")) view["counts"][std::string(text(pod_set, "name"))] = copy_or(pod_set, "count", 1);
  view["conditions"] = Json::object();
  for (const auto& item : member(status, "conditions"))
    view["conditions"][std::string(text(item, "type"))] = {member(item, "status"), copy_or(item, "reason", "")};
  if (const Json& admission = member(status, "admission"); !admission.empty()) {
    view["clusterQueue"] = member(admission, "clusterQueue");
    view["admitted"] = admitted_view(admission);
  }
  for (const auto& check : member(status, "admissionChecks")) view["checks"][std::string(text(check, "name"))] = member(check, "state");
  for (const auto& entry : member(status, "reclaimablePods"))
    view["reclaimable"][std::string(text(entry, "name"))] = member(entry, "count");
  return view;
}

Json queue_view(const StoredObject& queue) {
  const Json& status = queue.status();
  return {{"pending", copy_or(status, "pendingWorkloads", 0)},
          {"reserving", copy_or(status, "reservingWorkloads", 0)},
          {"admitted", copy_or(status, "admittedWorkloads", 0)},
          {"flavorsReservation", usage_view(member(status, "flavorsReservation"))},
          {"flavorsUsage", usage_view(member(status, "flavorsUsage"))}};
}

Json state_of(const SimulatedCluster& cluster) {
  Json out = {{"jobs", Json::object()}, {"workloads", Json::object()}, {"clusterQueues", Json::object()}};
  for (const auto kind : job_kinds)
    for (const auto& [key, job] : cluster.store().of_kind(kind)) out["jobs"][std::string(kind) + "/" + key] = job_view(*job);

  std::vector<StoredPointer> workloads;
  for (const auto& [key, workload] : cluster.store().of_kind("Workload")) workloads.push_back(workload);
  std::sort(workloads.begin(), workloads.end(), [](const auto& a, const auto& b) { return a->created_order < b->created_order; });
  std::map<std::string, int> seen;
  for (const auto& workload : workloads) {
    std::string name = owner_name(*workload);
    const int earlier = seen[name]++;
    if (earlier > 0) name += "#" + std::to_string(earlier);
    out["workloads"][name] = workload_view(*workload);
  }
  for (const auto& [name, queue] : cluster.store().of_kind("ClusterQueue")) out["clusterQueues"][name] = queue_view(*queue);
  return out;
}

}  // namespace hindsight::connectors::simulated
