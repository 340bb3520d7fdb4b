// batch/v1 Job (base-api §7.2, 77 EJ-60 and EJ-61, 5440 MR-59 and MR-60).

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "connectors/jobs/index_ranges.hpp"
#include "connectors/jobs/integrations.hpp"
#include "connectors/jobs/template_change.hpp"
#include "connectors/json/keys.hpp"
#include "connectors/json/merge_patch.hpp"
#include "connectors/json/pod_template.hpp"
#include "connectors/json/resource_bounds.hpp"
#include "connectors/json/text.hpp"

namespace hindsight::connectors {
namespace {

constexpr std::string_view pod_set_name = "main";

/// Pods that run at the same time.
std::int32_t pods_count(std::int32_t parallelism, std::optional<std::int32_t> completions) {
  return completions ? std::min(parallelism, *completions) : parallelism;
}

/// Pods that have succeeded (Indexed: indexes that are done, well or badly) and will not run again.
std::int64_t terminal_pods(const Node& spec, const Node& status, std::int32_t completions) {
  if (spec.text("completionMode") != "Indexed") return status.int32_or("succeeded", 0);
  IndexRanges done(completions);
  done.add(status.text("completedIndexes", limits::object_text));  // of the Job controller
  done.add(status.text("failedIndexes", limits::object_text));
  return done.count();
}

/// EJ-60: max(c − max(completions − t, 0), 0) with parallelism > 1 and t > 0.
std::int32_t reclaimable_pods(std::int32_t count, std::int32_t parallelism, std::int32_t completions, std::int64_t terminal) {
  if (parallelism <= 1 || terminal <= 0) return 0;
  const auto remaining = std::max<std::int64_t>(completions - terminal, 0);
  return static_cast<std::int32_t>(std::max<std::int64_t>(count - remaining, 0));
}

std::string_view annotation(const Json& job, std::string_view key) {
  return text_member(object_or_empty(object_or_empty(job, "metadata"), "annotations"), key);
}

std::optional<std::int32_t> min_parallelism(const Json& job) { return parse_int32(annotation(job, keys::job_min_parallelism)); }

/// The least that partial admission may make of `count` pods. The webhook refuses what is out of range; what got past it says nothing, for
/// the definition of Workloads takes no pod set with it, and the job would wait for a Workload that can never be made.
std::optional<std::int32_t> least_count(std::optional<std::int32_t> asked, std::int32_t count) {
  return asked && *asked >= 1 && *asked <= count ? asked : std::nullopt;
}

/// Counts under partial admission: parallelism, and completions where they shall stay equal to it (BA-177).
void set_counts(const Json& job, std::int32_t count, Json& spec_patch) {
  const auto& spec = object_or_empty(job, "spec");
  if (!min_parallelism(job)) return;
  if (int_member(spec, "parallelism").value_or(1) != count) spec_patch["parallelism"] = count;
  if (is_true(annotation(job, keys::job_completions_equal_parallelism)) && int_member(spec, "completions") != count) {
    spec_patch["completions"] = count;
  }
}

/// 5440 §2.1.
bool may_change_template(const Json& job, TemplateMutability mutability) {
  const auto& status = object_or_empty(job, "status");
  const bool never_started = member(status, "startTime") == nullptr;
  bool suspended = false;
  for (const auto& c : list_or_empty(status, "conditions"))
    suspended |= text_member(c, "type") == "Suspended" && text_member(c, "status") == "True";
  const bool inactive = int_member(status, "active").value_or(0) == 0;
  switch (mutability) {
    case TemplateMutability::never_started:
      return never_started;
    case TemplateMutability::suspended_condition:
      return inactive && suspended;
    case TemplateMutability::suspended:
      return inactive && (never_started || suspended);
  }
  return false;
}

/// What makes the template of a suspended job mutable: mostly the Job controller's next status (MR-60).
std::vector<JobPatch> wait_for_template(TemplateMutability mutability) {
  if (mutability == TemplateMutability::never_started) return {{"status", {{"status", {{"startTime", nullptr}}}}}};
  return {};
}

class BatchJob final : public JobIntegration {
 public:
  [[nodiscard]] std::string_view framework() const override { return "batch/job"; }
  [[nodiscard]] std::string_view kind() const override { return "Job"; }
  [[nodiscard]] std::string_view group() const override { return "batch"; }

  void outline(const Node& job, JobObserved& out) const override {
    const auto spec = job.object("spec");
    const auto status = job.object("status");
    // A Job in the middle of a stop is not yet suspended: so the stop goes on after a crash (MR-59).
    out.stopping = job.object("metadata").entry("annotations", keys::stopping, limits::object_text).value_or(Text{}) == "true";
    out.suspended = spec.flag("suspend") && !out.stopping;
    out.active = status.int32_or("active", 0) != 0;
    status.each("conditions", limits::conditions, [&](const Node& condition) {
      const auto type = condition.text("type");
      if (out.finished || (type != "Complete" && type != "Failed") || condition.text("status") != "True") return;
      out.finished = true;
      out.succeeded = type == "Complete";
      out.finish_message = condition.message("message", limits::finding);
    });
  }

  void observe(const Node& job, const JobContext& context, JobObserved& out) const override {
    outline(job, out);
    const auto spec = job.object("spec");
    const auto status = job.object("status");
    const auto meta = job.object("metadata");
    const auto parallelism = spec.int32_or("parallelism", 1);
    const auto completions = spec.int32("completions", 0);
    const auto count = pods_count(parallelism, completions);

    const auto succeeded = status.int32_or("succeeded", 0);
    const auto uncounted = status.object("uncountedTerminatedPods").count("succeeded");
    const auto ready = std::int64_t{succeeded} + status.int32_or("ready", 0) + static_cast<std::int64_t>(uncounted);
    out.pods_ready = ready >= count;
    if (out.elastic) out.ready_pods = static_cast<std::int32_t>(std::min<std::int64_t>(ready, std::numeric_limits<std::int32_t>::max()));

    auto& arena = job.reading().arena();
    const auto pod_sets = arena.make<PodSetFacts>(1);
    auto& main = pod_sets[0];
    main.name = pod_set_name;
    main.count = count;
    main.min_count = least_count(parse_int32(meta.entry("annotations", keys::job_min_parallelism).value_or(Text{})), count);
    const auto pod_template = spec.object("template");
    if (!spec.present()) job.refuse_value("spec", "an object");
    if (!pod_template.present()) spec.refuse_value("template", "an object");
    const auto policy = meta.entry("annotations", keys::resource_policy).value_or(Text{});
    out.resource_policy = parse_resource_policy(policy).value_or(ResourcePolicy::none);
    out.resource_bounds = meta.entry("annotations", keys::resource_bounds, limits::json_annotation).value_or(Text{});
    const auto bounds = bounds_of(policy, out.resource_bounds);
    read_pod_template(pod_template, {context.defaults, out.meta.namespace_, 0, bounds ? &*bounds : nullptr}, main);
    out.pod_sets = pod_sets;
    out.pod_priority_class = pod_template.object("spec").text("priorityClassName");

    auto workload_count = count;
    for (const auto& c : context.workload_counts)
      if (c.pod_set == pod_set_name) workload_count = c.count;
    const auto all = completions.value_or(parallelism);
    if (const auto terminal = terminal_pods(spec, status, all); out.elastic && parallelism > 1 && terminal > 0) {
      const auto remaining = arena.make<PodSetCount>(1);
      remaining[0] = {pod_set_name, static_cast<std::int32_t>(std::max<std::int64_t>(all - terminal, 0))};
      out.remaining = remaining;
    }
    if (const auto n = reclaimable_pods(workload_count, parallelism, all, terminal_pods(spec, status, all)); n > 0) {
      const auto reclaimable = arena.make<PodSetCount>(1);
      reclaimable[0] = {pod_set_name, n};
      out.reclaimable = reclaimable;
    }
  }

  [[nodiscard]] bool sizes_containers() const override { return true; }

  [[nodiscard]] Json pod_sets(const Json& job) const override {
    const auto& spec = object_or_empty(job, "spec");
    const auto& pod_template = object_or_empty(spec, "template");
    const auto count = pods_count(int_member(spec, "parallelism").value_or(1), int_member(spec, "completions"));
    Json out{{"name", pod_set_name}, {"count", count}, {"template", pod_template}};
    if (const auto min = least_count(min_parallelism(job), count)) out["minCount"] = *min;
    if (auto topology = topology_request(pod_template, keys::completion_index); !topology.is_null())
      out["topologyRequest"] = std::move(topology);
    return Json::array({std::move(out)});
  }

  [[nodiscard]] Result<std::vector<JobPatch>> start(const Json& job, const std::vector<PodSetInjection>& pod_sets,
                                                    TemplateMutability mutability) const override {
    if (!is_suspended(job)) return std::vector<JobPatch>{};
    if (pod_sets.size() != 1) {
      return fail(ErrorKind::invalid, "invalid podset infos: expecting 1 podset, got " + std::to_string(pod_sets.size()));
    }
    const auto& pod_template = object_or_empty(object_or_empty(job, "spec"), "template");
    const auto changed = inject(pod_template, pod_sets[0]);
    if (!changed) return tl::unexpected(changed.error());
    Json spec{{"suspend", false}};
    set_counts(job, pod_sets[0].count, spec);
    if (auto difference = merge_difference(pod_template, *changed); !difference.empty()) {
      if (!may_change_template(job, mutability)) return wait_for_template(mutability);
      spec["template"] = std::move(difference);
    }
    return std::vector<JobPatch>{{"", {{"spec", std::move(spec)}}}};
  }

  [[nodiscard]] std::vector<JobPatch> stop(const Json& job, const Json& originals, TemplateMutability mutability) const override {
    const bool suspended = is_suspended(job);
    if (suspended && !stop_in_progress(job)) return {};

    Json spec = Json::object();
    if (const auto* original = find_pod_set(originals, pod_set_name); original != nullptr) {
      set_counts(job, int_member(*original, "count").value_or(1), spec);
      const auto& pod_template = object_or_empty(object_or_empty(job, "spec"), "template");
      if (auto difference = merge_difference(pod_template, restore(pod_template, object_or_empty(*original, "template")));
          !difference.empty())
        spec["template"] = std::move(difference);
    }
    const Json mark{{"annotations", {{keys::stopping, "true"}}}};
    const Json unmark{{"annotations", {{keys::stopping, nullptr}}}};

    if (!suspended) {
      // Step 1; the annotation only where something is left to do after it.
      if (spec.empty()) return {{"", {{"spec", {{"suspend", true}}}}}};
      return {{"", {{"metadata", mark}, {"spec", {{"suspend", true}}}}}};
    }
    if (spec.empty()) return {{"", {{"metadata", unmark}}}};
    if (may_change_template(job, mutability)) return {{"", {{"metadata", unmark}, {"spec", std::move(spec)}}}};
    return wait_for_template(mutability);
  }

  [[nodiscard]] bool stop_in_progress(const Json& job) const override { return annotation(job, keys::stopping) == "true"; }
};

}  // namespace

const JobIntegration& batch_job() {
  static const BatchJob integration;
  return integration;
}

}  // namespace hindsight::connectors
