// ray.io/v1 RayCluster (base-api §7.2): the head and one pod set for each group of workers. It never finishes by itself.

#include <utility>

#include "connectors/jobs/integrations.hpp"
#include "connectors/jobs/ray_cluster_spec.hpp"
#include "connectors/json/document.hpp"
#include "connectors/json/merge_patch.hpp"

namespace hindsight::connectors {
namespace {

class RayCluster final : public JobIntegration {
 public:
  [[nodiscard]] std::string_view framework() const override { return "ray.io/raycluster"; }
  [[nodiscard]] std::string_view kind() const override { return "RayCluster"; }
  [[nodiscard]] std::string_view group() const override { return "ray.io"; }

  void outline(const Node& job, JobObserved& out) const override {
    out.suspended = job.object("spec").flag("suspend");
    out.active = out.pods_ready = ray::is_ready(job.object("status"));
  }

  void observe(const Node& job, const JobContext& context, JobObserved& out) const override {
    const auto spec = job.object("spec");
    if (!spec.present()) return job.refuse_value("spec", "an object");
    outline(job, out);
    const Json cluster = to_json(spec.value());
    ray::observe_pod_sets(ray::pod_sets(cluster), job, context, out);
    out.pods_gated = ray::are_gated(cluster);
  }

  [[nodiscard]] Json pod_sets(const Json& job) const override { return ray::pod_sets(spec_of(job)); }

  [[nodiscard]] Result<std::vector<JobPatch>> start(const Json& job, const std::vector<PodSetInjection>& pod_sets,
                                                    TemplateMutability /*mutability*/) const override {
    if (!flag_member(spec_of(job), "suspend")) return std::vector<JobPatch>{};
    auto wanted = ray::started(spec_of(job), pod_sets);
    if (!wanted) return tl::unexpected(wanted.error());
    (*wanted)["suspend"] = false;
    return std::vector<JobPatch>{{"", {{"spec", merge_difference(spec_of(job), *wanted)}}}};
  }

  /// One write: KubeRay makes no rule about templates of a cluster that is suspended in the same update.
  [[nodiscard]] std::vector<JobPatch> stop(const Json& job, const Json& originals, TemplateMutability /*mutability*/) const override {
    if (flag_member(spec_of(job), "suspend")) return {};
    auto wanted = ray::restored(spec_of(job), originals);
    wanted["suspend"] = true;
    return {{"", {{"spec", merge_difference(spec_of(job), wanted)}}}};
  }
};

}  // namespace

const JobIntegration& ray_cluster() {
  static const RayCluster integration;
  return integration;
}

}  // namespace hindsight::connectors
