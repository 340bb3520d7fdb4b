// jobset.x-k8s.io/v1alpha2 JobSet (base-api §7.2): one pod set for each ReplicatedJob.

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "connectors/jobs/integrations.hpp"
#include "connectors/jobs/template_change.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/json/pod_template.hpp"

namespace hindsight::connectors {
namespace {

/// JobSet's own validation keeps the product within 32 bits; what is beyond is cut.
std::int32_t product(std::int32_t replicas, std::int32_t pods) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(std::int64_t{replicas} * pods, std::numeric_limits<std::int32_t>::max()));
}

std::int32_t pods_per_replica(std::int32_t parallelism, std::optional<std::int32_t> completions) {
  return completions ? std::min(parallelism, *completions) : parallelism;
}

const Json& replicated_jobs(const Json& job) { return list_or_empty(object_or_empty(job, "spec"), "replicatedJobs"); }

const Json& job_spec(const Json& replicated_job) { return object_or_empty(object_or_empty(replicated_job, "template"), "spec"); }

/// The replicated jobs with `change(name, template)` → template applied.
template <class F>
Result<Json> with_templates(const Json& job, F change) {
  Json out = replicated_jobs(job);
  for (auto& replicated_job : out) {
    if (job_spec(replicated_job).empty()) continue;
    auto changed = change(text_member(replicated_job, "name"), object_or_empty(job_spec(replicated_job), "template"));
    if (!changed) return tl::unexpected(changed.error());
    replicated_job["template"]["spec"]["template"] = std::move(*changed);
  }
  return out;
}

class JobSet final : public JobIntegration {
 public:
  [[nodiscard]] std::string_view framework() const override { return "jobset.x-k8s.io/jobset"; }
  [[nodiscard]] std::string_view kind() const override { return "JobSet"; }
  [[nodiscard]] std::string_view group() const override { return "jobset.x-k8s.io"; }

  void outline(const Node& job, JobObserved& out) const override {
    const auto status = job.object("status");
    out.suspended = job.object("spec").flag("suspend");
    status.each("replicatedJobsStatus", limits::list,
                [&](const Node& replicated_job) { out.active |= replicated_job.int32_or("active", 0) > 0; });
    // Completed is looked for first: a JobSet has at most one of the two.
    for (const auto* wanted : {"Completed", "Failed"}) {
      status.each("conditions", limits::conditions, [&](const Node& condition) {
        if (out.finished || condition.text("type") != wanted || condition.text("status") != "True") return;
        out.finished = true;
        out.succeeded = std::string_view(wanted) == "Completed";
        out.finish_message = condition.message("message", limits::finding);
      });
    }
  }

  void observe(const Node& job, const JobContext& context, JobObserved& out) const override {
    outline(job, out);
    const auto spec = job.object("spec");
    const auto status = job.object("status");
    auto& arena = job.reading().arena();

    std::int64_t replicas = 0;
    const auto pods_in_replica = arena.make<PodSetCount>(spec.count("replicatedJobs", limits::pod_sets));
    const auto replicas_of = arena.make<PodSetCount>(pods_in_replica.size());
    std::size_t i = 0;
    out.pod_sets = spec.list<PodSetFacts>("replicatedJobs", limits::pod_sets, [&](const Node& replicated_job) {
      PodSetFacts pod_set;
      pod_set.name = replicated_job.required_text("name", limits::dns_label);
      const auto n = replicated_job.int32_or("replicas", 1);
      const auto inner = replicated_job.object("template").object("spec");
      const auto pods = pods_per_replica(inner.int32_or("parallelism", 1), inner.int32("completions", 0));
      pod_set.count = product(n, pods);
      replicas += n;
      pods_in_replica[i] = {pod_set.name, pods};
      replicas_of[i] = {pod_set.name, n};
      const auto pod_template = inner.object("template");
      if (!pod_template.present()) (inner.present() ? inner : replicated_job).refuse_value("template", "an object");
      read_pod_template(pod_template, {context.defaults, out.meta.namespace_, i}, pod_set);
      if (i++ == 0) out.pod_priority_class = pod_template.object("spec").text("priorityClassName");
      return pod_set;
    });

    std::int64_t ready = 0;
    const auto reclaimable = arena.make<PodSetCount>(out.pod_sets.size());
    std::size_t found = 0;
    status.each("replicatedJobsStatus", limits::list, [&](const Node& replicated_job) {
      const auto succeeded = replicated_job.int32_or("succeeded", 0);
      ready += std::int64_t{replicated_job.int32_or("ready", 0)} + succeeded;
      const auto name = replicated_job.text("name");
      for (std::size_t k = 0; k < out.pod_sets.size(); ++k) {
        if (pods_in_replica[k].pod_set != name || succeeded <= 0 || succeeded > replicas_of[k].count || found == reclaimable.size())
          continue;
        if (const auto n = product(succeeded, pods_in_replica[k].count); n > 0) reclaimable[found++] = {pods_in_replica[k].pod_set, n};
      }
    });
    out.pods_ready = ready == replicas;
    out.reclaimable = reclaimable.first(found);
  }

  [[nodiscard]] Json pod_sets(const Json& job) const override {
    Json out = Json::array();
    for (const auto& replicated_job : replicated_jobs(job)) {
      const auto& spec = job_spec(replicated_job);
      const auto replicas = int_member(replicated_job, "replicas").value_or(1);
      const auto pods = pods_per_replica(int_member(spec, "parallelism").value_or(1), int_member(spec, "completions"));
      const auto& pod_template = object_or_empty(spec, "template");
      Json pod_set{{"name", text_member(replicated_job, "name")}, {"count", product(replicas, pods)}, {"template", pod_template}};
      if (auto topology = topology_request(pod_template, keys::completion_index, keys::job_set_job_index, replicas); !topology.is_null())
        pod_set["topologyRequest"] = std::move(topology);
      out.push_back(std::move(pod_set));
    }
    return out;
  }

  [[nodiscard]] Result<std::vector<JobPatch>> start(const Json& job, const std::vector<PodSetInjection>& pod_sets,
                                                    TemplateMutability /*mutability*/) const override {
    if (!is_suspended(job)) return std::vector<JobPatch>{};
    const auto& before = replicated_jobs(job);
    if (pod_sets.size() != before.size()) {
      return fail(ErrorKind::invalid,
                  "invalid podset infos: expecting " + std::to_string(before.size()) + " podset, got " + std::to_string(pod_sets.size()));
    }
    const auto after = with_templates(job, [&](std::string_view name, const Json& pod_template) -> Result<Json> {
      for (const auto& pod_set : pod_sets)
        if (pod_set.name == name) return inject(pod_template, pod_set);
      return fail(ErrorKind::invalid, "invalid podset infos: none for replicated job " + std::string(name));
    });
    if (!after) return tl::unexpected(after.error());
    Json spec{{"suspend", false}};
    if (before != *after) spec["replicatedJobs"] = *after;
    return std::vector<JobPatch>{{"", {{"spec", std::move(spec)}}}};
  }

  /// One write: JobSet lets the templates change in the update that suspends it.
  [[nodiscard]] std::vector<JobPatch> stop(const Json& job, const Json& originals, TemplateMutability /*mutability*/) const override {
    if (is_suspended(job)) return {};
    const auto after = with_templates(job, [&](std::string_view name, const Json& pod_template) -> Result<Json> {
      const auto* original = find_pod_set(originals, name);
      return original == nullptr ? pod_template : restore(pod_template, object_or_empty(*original, "template"));
    });
    Json spec{{"suspend", true}};
    if (after && replicated_jobs(job) != *after) spec["replicatedJobs"] = *after;
    return {{"", {{"spec", std::move(spec)}}}};
  }
};

}  // namespace

const JobIntegration& job_set() {
  static const JobSet integration;
  return integration;
}

}  // namespace hindsight::connectors
