// ray.io/v1 RayJob (base-api §7.2): a RayCluster made for one job, and in K8sJobMode the pod that submits the job to it.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "connectors/jobs/integrations.hpp"
#include "connectors/jobs/ray_cluster_spec.hpp"
#include "connectors/jobs/template_change.hpp"
#include "connectors/jobs/workload_name.hpp"
#include "connectors/json/document.hpp"
#include "connectors/json/keys.hpp"
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

/// The RayCluster that KubeRay made for the job, as the mirror has it; nothing: there is none, or it is on its way out.
std::optional<Json> live_cluster(const Node& status, const JobContext& context, const JobObserved& job) {
  const auto name = status.text("rayClusterName");
  if (name.empty() || !context.find) return std::nullopt;
  const auto text = context.find("RayCluster", job.meta.namespace_, name);
  if (text == nullptr) return std::nullopt;
  const auto document = Document::parse(*text);
  if (!document) return std::nullopt;
  Json cluster = to_json(document->root());
  const auto& metadata = object_or_empty(cluster, "metadata");
  if (member(metadata, "deletionTimestamp") != nullptr) return std::nullopt;
  for (const auto& owner : list_or_empty(metadata, "ownerReferences"))
    if (flag_member(owner, "controller") && text_member(owner, "uid") == job.meta.uid) return cluster;
  return std::nullopt;
}

/// An elastic job that scales itself has the size that its cluster has (EJ-131), and each step of the autoscaler makes a name of its own
/// (EJ-132). While it is suspended the job says how large the next cluster will be.
void follow_live_cluster(const Node& job, const JobContext& context, JobObserved& out) {
  const auto spec = job.object("spec");
  if (!out.elastic || out.suspended || !spec.object("rayClusterSpec").flag("enableInTreeAutoscaling")) return;
  auto generation = std::string(job.object("metadata").entry("annotations", keys::raycluster_generation).value_or(Text{}));
  auto& arena = job.reading().arena();
  if (const auto cluster = live_cluster(job.object("status"), context, out)) {
    const auto facts = arena.make<PodSetFacts>(out.pod_sets.size());
    std::copy(out.pod_sets.begin(), out.pod_sets.end(), facts.begin());
    for (const auto& group : ray::worker_counts(spec_of(*cluster), arena)) {
      const auto found = std::find_if(facts.begin(), facts.end(), [&](const PodSetFacts& p) { return p.name == group.pod_set; });
      if (found == facts.end())
        return spec.object("rayClusterSpec")
            .refuse_value("workerGroupSpecs", "all groups of its RayCluster, which has " + std::string(group.pod_set));
      found->count = group.count;
    }
    out.pod_sets = facts;
    if (const auto number = member(object_or_empty(*cluster, "metadata"), "generation"); number != nullptr) generation = number->dump();
  }
  if (generation.empty()) return;
  const auto extra = std::to_string(out.meta.generation) + "_" + generation;
  out.workload_name = arena.copy(workload_name(out.kind, out.group, out.meta.name, out.meta.uid, extra));
}

class RayJob final : public JobIntegration {
 public:
  [[nodiscard]] std::string_view framework() const override { return "ray.io/rayjob"; }
  [[nodiscard]] std::string_view kind() const override { return "RayJob"; }
  [[nodiscard]] std::string_view group() const override { return "ray.io"; }

  void outline(const Node& job, JobObserved& out) const override {
    const auto spec = job.object("spec");
    const auto status = job.object("status");
    out.suspended = spec.flag("suspend");
    // A job on a cluster that is there already makes none, and cannot be held back by suspending it.
    if (spec.object("clusterSelector").present()) out.managed = false;

    const auto deployment = status.text("jobDeploymentStatus");
    out.active = !deployment.empty() && deployment != "Suspended" && deployment != "New";
    out.finished = deployment == "Complete" || deployment == "Failed";
    out.succeeded = out.finished && status.text("jobStatus") == "SUCCEEDED";
    if (out.finished) out.finish_message = status.message("message", limits::finding);
  }

  void observe(const Node& job, const JobContext& context, JobObserved& out) const override {
    const auto spec = job.object("spec");
    const auto status = job.object("status");
    if (!spec.present()) return job.refuse_value("spec", "an object");
    outline(job, out);
    out.pods_ready = ray::is_ready(status.object("rayClusterStatus"));
    out.on_hold = status.text("jobDeploymentStatus") == "ValidationFailed";
    if (!out.managed) return;
    ray::observe_pod_sets(all_pod_sets(Json{{"spec", to_json(spec.value())}}), job, context, out);
    follow_live_cluster(job, context, out);
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
