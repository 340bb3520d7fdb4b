#include "bench/live/objects.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "connectors/json/text.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::bench {

using connectors::Json;

namespace {

std::string now_text() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return format_rfc3339(Time{std::chrono::duration_cast<std::chrono::microseconds>(now).count()});
}

Json condition(const char* type, const char* status, const char* reason, const std::string& message) {
  return {{"type", type}, {"status", status}, {"reason", reason}, {"message", message}, {"lastTransitionTime", now_text()}};
}

/// Replaces the condition of the same type, or adds one.
void set_condition(Json& conditions, Json wanted) {
  const auto found = std::find_if(conditions.begin(), conditions.end(), [&](const Json& c) { return c["type"] == wanted["type"]; });
  if (found == conditions.end())
    conditions.push_back(std::move(wanted));
  else
    *found = std::move(wanted);
}

Json cluster_queue(const Generator& generator, std::size_t queue) {
  const Json quota{{"name", "cpu"},
                   {"nominalQuota", format_amount(generator.nominal, "cpu")},
                   {"borrowingLimit", format_amount(generator.borrowing_limit, "cpu")}};
  return {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
          {"kind", "ClusterQueue"},
          {"metadata", {{"name", queue_name(queue)}}},
          {"spec",
           {{"cohortName", cohort_name(generator, queue)},
            {"namespaceSelector", Json::object()},
            {"preemption", {{"withinClusterQueue", "LowerPriority"}, {"reclaimWithinCohort", "Any"}}},
            {"resourceGroups",
             {{{"coveredResources", {"cpu"}}, {"flavors", {{{"name", "default-flavor"}, {"resources", Json::array({quota})}}}}}}}}}};
}

Json local_queue(std::size_t queue) {
  return {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
          {"kind", "LocalQueue"},
          {"metadata", {{"name", queue_name(queue)}, {"namespace", load_namespace}}},
          {"spec", {{"clusterQueue", queue_name(queue)}}}};
}

}  // namespace

Generator scaled(Generator generator, double scale) {
  for (auto& c : generator.classes)
    c.count = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(static_cast<double>(c.count) * scale)));
  return generator;
}

Json queue_objects(const Generator& generator) {
  Json items = Json::array({{{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                             {"kind", "ResourceFlavor"},
                             {"metadata", {{"name", "default-flavor"}}},
                             {"spec", Json::object()}}});
  for (std::size_t i = 0; i < generator.queue_count(); ++i) {
    items.push_back(cluster_queue(generator, i));
    items.push_back(local_queue(i));
  }
  return {{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
}

Json workload_object(const Generator& generator, const Arrival& arrival) {
  const WorkloadClass& kind = generator.classes[arrival.kind];
  const Json container{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", {{"cpu", format_amount(kind.cpu, "cpu")}}}}}};
  const Json pod{{"restartPolicy", "Never"}, {"containers", Json::array({container})}};
  return {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
          {"kind", "Workload"},
          {"metadata", {{"name", workload_name(generator, arrival)}, {"namespace", load_namespace}}},
          {"spec",
           {{"queueName", queue_name(arrival.queue)},
            {"priority", kind.priority},
            {"podSets", Json::array({{{"name", "main"}, {"count", 1}, {"template", {{"spec", pod}}}}})}}}};
}

Json admission_status(const Generator& generator, const Arrival& arrival) {
  const std::string queue = queue_name(arrival.queue);
  const Json assignment{{"name", "main"},
                        {"count", 1},
                        {"flavors", {{"cpu", "default-flavor"}}},
                        {"resourceUsage", {{"cpu", format_amount(generator.classes[arrival.kind].cpu, "cpu")}}}};
  const Json conditions = Json::array({condition("QuotaReserved", "True", "QuotaReserved", "Quota reserved in ClusterQueue " + queue),
                                       condition("Admitted", "True", "Admitted", "The workload is admitted")});
  return {
      {"status", {{"conditions", conditions}, {"admission", {{"clusterQueue", queue}, {"podSetAssignments", Json::array({assignment})}}}}}};
}

Json finished_status(const Json& conditions) {
  Json all = conditions;
  set_condition(all, condition("Finished", "True", "Succeeded", "The run time is over"));
  return {{"status", {{"conditions", std::move(all)}}}};
}

Json applied_end(const Json& workload) {
  const Json& seen = workload.at("metadata");
  return {{"apiVersion", workload.at("apiVersion")},
          {"kind", workload.at("kind")},
          {"metadata", {{"name", seen.at("name")}, {"namespace", seen.at("namespace")}, {"resourceVersion", seen.at("resourceVersion")}}},
          {"status", {{"conditions", Json::array({condition("Finished", "True", "Succeeded", "The run time is over")})}}}};
}

Json cleared_status(const Json& conditions) {
  Json all = conditions;
  set_condition(all, condition("QuotaReserved", "False", "Pending", "The work has stopped"));
  set_condition(all, condition("Admitted", "False", "NoReservation", "The workload has no reservation"));
  return {{"status", {{"conditions", std::move(all)}, {"admission", nullptr}}}};
}

}  // namespace hindsight::bench
