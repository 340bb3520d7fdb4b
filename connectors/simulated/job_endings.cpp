#include "connectors/simulated/job_endings.hpp"

#include <string>

namespace hindsight::connectors::simulated {

std::vector<Json> ending_patches(const StoredObject& job, bool failed, Time now, std::string_view reason) {
  const std::string time = format_rfc3339(now);
  const auto ended = [&](const char* type) -> Json {
    return {{"type", type}, {"status", "True"}, {"reason", reason}, {"message", ""}, {"lastTransitionTime", time}};
  };
  if (job.kind->type->kind == "JobSet") return {{{"status", {{"conditions", Json::array({ended(failed ? "Failed" : "Completed")})}}}}};

  const auto probed = [&](const char* type) {
    Json out = ended(type);
    out["lastProbeTime"] = time;
    return out;
  };
  const auto start = text(job.status(), "startTime");
  Json status = {{"startTime", start.empty() ? Json(time) : Json(start)}, {"active", 0}, {"ready", 0}};
  status["conditions"] = Json::array({probed(failed ? "FailureTarget" : "SuccessCriteriaMet")});
  Json announced = {{"status", status}};
  status["conditions"].push_back(probed(failed ? "Failed" : "Complete"));
  if (!failed) {
    const Json& completions = member(job.spec(), "completions");
    status["completionTime"] = time;
    status["succeeded"] = completions.is_null() ? Json(1) : completions;
  }
  return {std::move(announced), {{"status", std::move(status)}}};
}

}  // namespace hindsight::connectors::simulated
