// ray.io/v1 RayJob (base-api §7.2): a RayCluster made for one job, and in K8sJobMode the pod that submits the job to it.

#include <string_view>
#include <utility>

#include "connectors/jobs/integrations.hpp"
#include "connectors/jobs/ray_cluster_spec.hpp"
#include "connectors/jobs/template_change.hpp"
#include "connectors/json/document.hpp"
#include "connectors/json/merge_patch.hpp"

namespace hindsight::connectors {
namespace {

constexpr std::string_view submitter = "submitter";

const Json& cluster_of(const Json& job) { return object_or_empty(spec_of(job), "rayClusterSpec"); }

/// Who submits the job: a pod of its own unless something else is said.
std::string_view submission_mode(const Json& job) {
  const auto mode = text_member(spec_of(job), "submissionMode");
  return mode.empty() ? "K8sJobMode" : mode;
}

Json submitter_container() {
  return {{"name", "ray-job-submitter"},
          {"resources", {{"requests", {{"cpu", "500m"}, {"memory", "200Mi"}}}, {"limits", {{"cpu", "1"}, {"memory", "1Gi"}}}}}};
}

/// What KubeRay makes where the job says nothing.
Json submitter_template(const Json& job) {
  if (const auto* own = member(spec_of(job), "submitterPodTemplate"); own != nullptr && !own->empty()) return *own;
  return {{"spec", {{"restartPolicy", "Never"}, {"containers", Json::array({submitter_container()})}}}};
}

Json all_pod_sets(const Json& job) {
  Json out = ray::pod_sets(cluster_of(job));
  const auto mode = submission_mode(job);
  if (mode == "SidecarMode" && out[0]["template"].contains("spec"))
    out[0]["template"]["spec"]["containers"].push_back(submitter_container());
  if (mode == "K8sJobMode") out.push_back({{"name", submitter}, {"count", 1}, {"template", submitter_template(job)}});
  return out;
}

class RayJob final : public JobIntegration {
 public:
  [[nodiscard]] std::string_view framework() const override { return "ray.io/rayjob"; }
  [[nodiscard]] std::string_view kind() const override { return "RayJob"; }
  [[nodiscard]] std::string_view group() const override { return "ray.io"; }

  void observe(const Node& job, const JobContext& context, JobObserved& out) const override {
    const auto spec = job.object("spec");
    const auto status = job.object("status");
    if (!spec.present()) return job.refuse_value("spec", "an object");
    out.suspended = spec.flag("suspend");
    // A job on a cluster that is there already makes none, and cannot be held back by suspending it.
    if (spec.object("clusterSelector").present()) out.managed = false;

    const auto deployment = status.text("jobDeploymentStatus");
    out.active = !deployment.empty() && deployment != "Suspended" && deployment != "New";
    out.pods_ready = ray::is_ready(status.object("rayClusterStatus"));
    out.finished = deployment == "Complete" || deployment == "Failed";
    out.succeeded = out.finished && status.text("jobStatus") == "SUCCEEDED";
    if (out.finished) out.finish_message = status.text("message");
    out.on_hold = deployment == "ValidationFailed";
    if (!out.managed) return;
    ray::observe_pod_sets(all_pod_sets(Json{{"spec", to_json(spec.value())}}), job, context, out);
  }

  [[nodiscard]] Json pod_sets(const Json& job) const override { return all_pod_sets(job); }

  [[nodiscard]] Result<std::vector<JobPatch>> start(const Json& job, const std::vector<PodSetInjection>& pod_sets,
                                                    TemplateMutability /*mutability*/) const override {
    if (!flag_member(spec_of(job), "suspend")) return std::vector<JobPatch>{};
    Json wanted = spec_of(job);
    auto cluster = ray::started(cluster_of(job), pod_sets);
    if (!cluster) return tl::unexpected(cluster.error());
    wanted["rayClusterSpec"] = std::move(*cluster);
    // A submitter without a template of its own is made by KubeRay and takes nothing from us.
    if (const auto* own = member(wanted, "submitterPodTemplate"); own != nullptr && !own->empty())
      for (const auto& injection : pod_sets) {
        if (injection.name != submitter) continue;
        auto injected = inject(*own, injection);
        if (!injected) return tl::unexpected(injected.error());
        wanted["submitterPodTemplate"] = std::move(*injected);
        break;
      }
    wanted["suspend"] = false;
    return std::vector<JobPatch>{{"", {{"spec", merge_difference(spec_of(job), wanted)}}}};
  }

  [[nodiscard]] std::vector<JobPatch> stop(const Json& job, const Json& originals, TemplateMutability /*mutability*/) const override {
    if (flag_member(spec_of(job), "suspend")) return {};
    Json wanted = spec_of(job);
    wanted["rayClusterSpec"] = ray::restored(cluster_of(job), originals);
    const auto* own = member(wanted, "submitterPodTemplate");
    if (const auto* original = find_pod_set(originals, submitter); own != nullptr && original != nullptr)
      wanted["submitterPodTemplate"] = restore(*own, object_or_empty(*original, "template"));
    wanted["suspend"] = true;
    return {{"", {{"spec", merge_difference(spec_of(job), wanted)}}}};
  }
};

}  // namespace

const JobIntegration& ray_job() {
  static const RayJob integration;
  return integration;
}

}  // namespace hindsight::connectors
