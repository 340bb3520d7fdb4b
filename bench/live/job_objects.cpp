#include "bench/live/job_objects.hpp"

#include <chrono>
#include <utility>

#include "bench/live/objects.hpp"
#include "connectors/json/keys.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::bench {

using connectors::Json;

std::string job_name(std::size_t number) { return "job-" + std::to_string(number); }

Json job_object(std::size_t number) {
  const Json container{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", {{"cpu", "1"}}}}}};
  const Json pod{{"restartPolicy", "Never"}, {"containers", Json::array({container})}};
  return {
      {"apiVersion", "batch/v1"},
      {"kind", "Job"},
      {"metadata", {{"name", job_name(number)}, {"namespace", load_namespace}, {"labels", {{connectors::keys::queue_name, job_queue}}}}},
      {"spec", {{"suspend", true}, {"parallelism", 1}, {"completions", 1}, {"backoffLimit", 0}, {"template", {{"spec", pod}}}}}};
}

Json job_queue_objects(std::size_t slots) {
  const Json resource{{"name", "cpu"}, {"nominalQuota", std::to_string(slots)}};
  const Json flavor{{"name", job_flavor}, {"resources", Json::array({resource})}};
  Json items = Json::array();
  items.push_back({{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                   {"kind", "ResourceFlavor"},
                   {"metadata", {{"name", job_flavor}}},
                   {"spec", Json::object()}});
  items.push_back({{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                   {"kind", "ClusterQueue"},
                   {"metadata", {{"name", job_queue}}},
                   {"spec",
                    {{"namespaceSelector", Json::object()},
                     {"resourceGroups", Json::array({{{"coveredResources", {"cpu"}}, {"flavors", Json::array({flavor})}}})}}}});
  items.push_back({{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                   {"kind", "LocalQueue"},
                   {"metadata", {{"name", job_queue}, {"namespace", load_namespace}}},
                   {"spec", {{"clusterQueue", job_queue}}}});
  return {{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
}

Json complete_status() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const std::string now = format_rfc3339(Time{std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count()});
  const auto condition = [&](const char* type) -> Json {
    return {{"type", type},
            {"status", "True"},
            {"reason", "CompletionsReached"},
            {"message", "Reached expected number of succeeded pods"},
            {"lastProbeTime", now},
            {"lastTransitionTime", now}};
  };
  Json conditions = Json::array({condition("SuccessCriteriaMet"), condition("Complete")});
  return {{"status", {{"startTime", now}, {"completionTime", now}, {"succeeded", 1}, {"conditions", std::move(conditions)}}}};
}

}  // namespace hindsight::bench
