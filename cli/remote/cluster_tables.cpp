#include "cli/remote/cluster_tables.hpp"

#include <set>

#include <nlohmann/json.hpp>

#include "projections/format.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::cli {
namespace {

using projections::Cell;
using projections::Table;
using Row = std::vector<Cell>;

const Json& at(const Json& parent, std::initializer_list<const char*> path) {
  static const Json nothing;
  const Json* here = &parent;
  for (const char* name : path) {
    if (!here->is_object() || !here->contains(name)) return nothing;
    here = &here->at(name);
  }
  return *here;
}

std::string text_at(const Json& parent, std::initializer_list<const char*> path) {
  const Json& value = at(parent, path);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::string number_at(const Json& parent, std::initializer_list<const char*> path) {
  const Json& value = at(parent, path);
  return value.is_number() ? value.dump() : "0";
}

std::string since(const std::string& moment, Time now) {
  const auto then = parse_rfc3339(moment);
  return then ? projections::human_duration(now - *then) : std::string("<unknown>");
}

std::string age(const Json& object, Time now) { return since(text_at(object, {"metadata", "creationTimestamp"}), now); }

/// The condition of that type if it is True, else null.
const Json& true_condition(const Json& object, const char* type) {
  static const Json nothing;
  const Json& conditions = at(object, {"status", "conditions"});
  if (conditions.is_array())
    for (const auto& c : conditions)
      if (text_at(c, {"type"}) == type && text_at(c, {"status"}) == "True") return c;
  return nothing;
}

std::string joined(const std::set<std::string>& words) {
  std::string out;
  for (const auto& w : words) out += (out.empty() ? "" : ", ") + w;
  return out;
}

Table table_with(std::vector<Table::Column> columns, bool namespaces) {
  if (namespaces) columns.insert(columns.begin(), {"NAMESPACE"});
  return {std::move(columns), {}};
}

void add(Table& table, Row row, const Json& object, bool namespaces) {
  if (namespaces) row.insert(row.begin(), Cell(text_at(object, {"metadata", "namespace"})));
  table.rows.push_back(std::move(row));
}

std::string name_of(const Json& object) { return text_at(object, {"metadata", "name"}); }

// ---- workloads ------------------------------------------------------------------------------------------------------------------

/// "job.batch", as kueuectl writes it: at most 20 characters, then "...".
std::string owner_type(const Json& owner) {
  std::string out = text_at(owner, {"kind"});
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const std::string api_version = text_at(owner, {"apiVersion"});
  if (const auto slash = api_version.find('/'); slash != std::string::npos) out += "." + api_version.substr(0, slash);
  return out.size() > 20 ? std::string(cut_text(out, 20)) + "..." : out;
}

/// How long it has been running, or has run.
std::string exec_time(const Json& workload, Time now) {
  const Json& admitted = true_condition(workload, "Admitted");
  if (admitted.is_null()) return {};
  const Json& finished = true_condition(workload, "Finished");
  if (const auto end = parse_rfc3339(text_at(finished, {"lastTransitionTime"})); !finished.is_null() && end) now = *end;
  return since(text_at(admitted, {"lastTransitionTime"}), now);
}

// ---- pods -----------------------------------------------------------------------------------------------------------------------

std::string pod_status(const Json& pod) {
  if (!at(pod, {"metadata", "deletionTimestamp"}).is_null()) return "Terminating";
  std::string out = text_at(pod, {"status", "phase"});
  if (const auto reason = text_at(pod, {"status", "reason"}); !reason.empty()) out = reason;
  const Json& gates = at(pod, {"spec", "schedulingGates"});
  if (gates.is_array() && !gates.empty()) out = "SchedulingGated";
  const Json& containers = at(pod, {"status", "containerStatuses"});
  if (containers.is_array())
    for (const auto& c : containers)
      for (const char* state : {"waiting", "terminated"})
        if (const auto reason = text_at(c, {"state", state, "reason"}); !reason.empty()) out = reason;
  return out;
}

Row pod_row(const Json& pod, Time now) {
  std::size_t ready = 0;
  std::int64_t restarts = 0;
  const Json& statuses = at(pod, {"status", "containerStatuses"});
  if (statuses.is_array())
    for (const auto& c : statuses) {
      ready += at(c, {"ready"}) == Json(true) ? 1 : 0;
      restarts += at(c, {"restartCount"}).is_number_integer() ? at(c, {"restartCount"}).get<std::int64_t>() : 0;
    }
  const Json& containers = at(pod, {"spec", "containers"});
  const std::size_t all = containers.is_array() ? containers.size() : 0;
  return {name_of(pod), std::to_string(ready) + "/" + std::to_string(all), pod_status(pod), std::to_string(restarts), age(pod, now)};
}

}  // namespace

std::string full_name_of(const Json& object) { return text_at(object, {"metadata", "namespace"}) + "/" + name_of(object); }

std::string local_queue_of(const Json& workload) { return text_at(workload, {"spec", "queueName"}); }

bool is_active_queue(const Json& queue) { return !true_condition(queue, "Active").is_null(); }

std::string status_of_workload(const Json& workload) {
  if (!true_condition(workload, "Finished").is_null()) return "finished";
  if (!true_condition(workload, "Admitted").is_null()) return "admitted";
  if (!true_condition(workload, "QuotaReserved").is_null()) return "quotareserved";
  return "pending";
}

std::string cluster_queue_of(const Json& workload, const WorkloadSurroundings& around) {
  if (auto admitted = text_at(workload, {"status", "admission", "clusterQueue"}); !admitted.empty()) return admitted;
  const auto it = around.cluster_queues.find(text_at(workload, {"metadata", "namespace"}) + "/" + local_queue_of(workload));
  return it == around.cluster_queues.end() ? std::string() : it->second;
}

Table cluster_queue_list(const std::vector<Json>& items, Time now) {
  Table out = table_with({{"NAME"}, {"COHORT"}, {"PENDING WORKLOADS"}, {"ADMITTED WORKLOADS"}, {"ACTIVE"}, {"AGE"}}, false);
  for (const auto& q : items)
    add(out,
        {name_of(q), text_at(q, {"spec", "cohortName"}), number_at(q, {"status", "pendingWorkloads"}),
         number_at(q, {"status", "admittedWorkloads"}), is_active_queue(q) ? "true" : "false", age(q, now)},
        q, false);
  return out;
}

Table local_queue_list(const std::vector<Json>& items, Time now, bool namespaces) {
  Table out = table_with({{"NAME"}, {"CLUSTERQUEUE"}, {"PENDING WORKLOADS"}, {"ADMITTED WORKLOADS"}, {"AGE"}}, namespaces);
  for (const auto& q : items)
    add(out,
        {name_of(q), text_at(q, {"spec", "clusterQueue"}), number_at(q, {"status", "pendingWorkloads"}),
         number_at(q, {"status", "admittedWorkloads"}), age(q, now)},
        q, namespaces);
  return out;
}

Table resource_flavor_list(const std::vector<Json>& items, Time now) {
  Table out = table_with({{"NAME"}, {"NODE LABELS"}, {"AGE"}}, false);
  for (const auto& flavor : items) {
    std::set<std::string> labels;
    const Json& given = at(flavor, {"spec", "nodeLabels"});
    if (given.is_object())
      for (const auto& [key, value] : given.items())
        labels.insert(key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
    add(out, {name_of(flavor), joined(labels), age(flavor, now)}, flavor, false);
  }
  return out;
}

Table workload_list(const std::vector<Json>& items, const WorkloadSurroundings& around, Time now, bool namespaces) {
  Table out = table_with(
      {{"NAME"}, {"JOB TYPE"}, {"JOB NAME"}, {"LOCALQUEUE"}, {"CLUSTERQUEUE"}, {"STATUS"}, {"POSITION IN QUEUE"}, {"EXEC TIME"}, {"AGE"}},
      namespaces);
  for (const auto& w : items) {
    std::set<std::string> types, names;
    const Json& owners = at(w, {"metadata", "ownerReferences"});
    if (owners.is_array())
      for (const auto& owner : owners) {
        types.insert(owner_type(owner));
        names.insert(text_at(owner, {"name"}));
      }
    std::string status = status_of_workload(w);
    for (char& c : status) c = static_cast<char>(c - 32);
    const auto position = around.positions.find(full_name_of(w));
    add(out,
        {name_of(w), joined(types), joined(names), local_queue_of(w), cluster_queue_of(w, around), status,
         position == around.positions.end() ? std::string() : position->second, exec_time(w, now), age(w, now)},
        w, namespaces);
  }
  return out;
}

Table pod_list(const std::vector<Json>& items, Time now, bool namespaces) {
  Table out = table_with({{"NAME"}, {"READY"}, {"STATUS"}, {"RESTARTS"}, {"AGE"}}, namespaces);
  for (const auto& pod : items) add(out, pod_row(pod, now), pod, namespaces);
  return out;
}

}  // namespace hindsight::cli
