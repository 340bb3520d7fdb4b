#include "simulation/load.hpp"

#include <cstdio>
#include <map>
#include <set>

#include "connectors/json/keys.hpp"
#include "connectors/manifests/json_views.hpp"
#include "connectors/manifests/kinds.hpp"

namespace hindsight::simulation {
namespace {

using LoadJson = connectors::manifests::Json;

/// "90", "0.25": whole thousandths, so that the text is the same everywhere.
std::string seconds_text(Duration d) {
  const std::int64_t millis = d.micros / 1000;
  std::string out = std::to_string(millis / 1000);
  if (millis % 1000 == 0) return out;
  char fraction[8];
  std::snprintf(fraction, sizeof fraction, ".%03d", static_cast<int>(millis % 1000));
  out += fraction;
  while (out.back() == '0') out.pop_back();
  return out;
}

LoadJson manifest_of(const LoadJob& job) {
  LoadJson requests = LoadJson::object(), limits = LoadJson::object();
  for (const auto& [resource, quantity] : job.requests) {
    requests[resource] = quantity;
    if (resource.find('/') != std::string::npos) limits[resource] = quantity;  // what is not of Kubernetes itself must have both
  }
  LoadJson resources = {{"requests", std::move(requests)}};
  if (!limits.empty()) resources["limits"] = std::move(limits);
  LoadJson labels = {{std::string(connectors::keys::queue_name), job.queue}};
  if (!job.priority_class.empty()) labels[std::string(connectors::keys::priority_class)] = job.priority_class;
  LoadJson container = {{"name", "main"}, {"image", "load"}, {"resources", std::move(resources)}};
  return {{"apiVersion", "batch/v1"},
          {"kind", "Job"},
          {"metadata",
           {{"name", job.name},
            {"namespace", job.namespace_},
            {"labels", std::move(labels)},
            {"annotations",
             {{std::string(connectors::manifests::arrive_seconds_annotation), seconds_text(job.arrives)},
              {std::string(connectors::manifests::run_seconds_annotation), seconds_text(job.runs)}}}}},
          {"spec",
           {{"suspend", true},
            {"parallelism", job.pods},
            {"completions", job.pods},
            {"template", {{"spec", {{"restartPolicy", "Never"}, {"containers", LoadJson::array({std::move(container)})}}}}}}}};
}

}  // namespace

std::vector<connectors::manifests::Manifest> manifests_of(const Load& load, const std::string& source) {
  const auto& job_kind = connectors::manifests::kind_of("Job");
  const auto& class_kind = connectors::manifests::kind_of("WorkloadPriorityClass");
  std::vector<connectors::manifests::Manifest> out;
  out.reserve(load.priority_classes.size() + load.jobs.size());
  for (const auto& [name, value] : load.priority_classes)
    out.push_back(
        {{{"apiVersion", class_kind.api_version()}, {"kind", "WorkloadPriorityClass"}, {"metadata", {{"name", name}}}, {"value", value}},
         &class_kind,
         source});
  for (const auto& job : load.jobs) out.push_back({manifest_of(job), &job_kind, source});
  return out;
}

std::vector<std::string> missing_queues(const Load& load, const std::vector<connectors::manifests::Manifest>& manifests) {
  using connectors::manifests::member;
  using connectors::manifests::text;
  std::set<std::string, std::less<>> known;
  for (const auto& manifest : manifests) {
    if (manifest.kind == nullptr || manifest.kind->type->kind != "LocalQueue") continue;
    const LoadJson& metadata = member(manifest.object, "metadata");
    known.insert(std::string(text(metadata, "namespace")) + "/" + std::string(text(metadata, "name")));
  }
  std::map<std::string, std::size_t> missing;
  for (const auto& job : load.jobs)
    if (const std::string queue = job.namespace_ + "/" + job.queue; !known.contains(queue)) ++missing[queue];
  std::vector<std::string> out;
  for (const auto& [queue, jobs] : missing) {
    if (out.size() == load_told_max) {
      out.push_back("and " + std::to_string(missing.size() - load_told_max) + " more LocalQueues that no manifest has");
      break;
    }
    out.push_back("no manifest has LocalQueue " + queue + ": " + std::to_string(jobs) + (jobs == 1 ? " job waits" : " jobs wait") +
                  " there for ever");
  }
  return out;
}

}  // namespace hindsight::simulation
