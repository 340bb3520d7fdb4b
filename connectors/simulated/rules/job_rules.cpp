#include "connectors/simulated/rules/job_rules.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "connectors/manifests/syntax.hpp"
#include "connectors/simulated/rules/defaults.hpp"
#include "connectors/simulated/rules/pod_rules.hpp"

namespace hindsight::connectors::simulated {
namespace {

constexpr std::int64_t max_indexed_parallelism = 100'000;
constexpr std::array<std::string_view, 2> controller_uid_labels{"batch.kubernetes.io/controller-uid", "controller-uid"};
constexpr std::array<std::string_view, 2> job_name_labels{"batch.kubernetes.io/job-name", "job-name"};

bool indexed(const Json& spec) { return text(spec, "completionMode") == "Indexed"; }

void check_not_negative(const Json& spec, const char* name, Findings& findings) {
  if (number(spec, name).value_or(0) < 0)
    findings.invalid(std::string("spec.") + name, member(spec, name), "must be greater than or equal to 0");
}

void check_completion_mode(const ObjectView& job, const Json& spec, Findings& findings) {
  const auto mode = text(spec, "completionMode");
  if (mode != "NonIndexed" && mode != "Indexed")
    findings.add(ProblemKind::not_supported, "spec.completionMode", member(spec, "completionMode"),
                 "supported values: \"NonIndexed\", \"Indexed\"");
  if (!indexed(spec)) {
    for (const char* name : {"backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"})
      if (spec.contains(name)) findings.invalid(std::string("spec.") + name, spec[name], "requires indexed completion mode");
    return;
  }
  const auto completions = number(spec, "completions");
  if (!completions) return findings.required("spec.completions", "when completion mode is Indexed");
  if (number(spec, "parallelism").value_or(0) > max_indexed_parallelism)
    findings.invalid("spec.parallelism", spec["parallelism"], "must be less than or equal to 100000 when completion mode is Indexed");
  if (number(spec, "maxFailedIndexes").value_or(0) > *completions)
    findings.invalid("spec.maxFailedIndexes", spec["maxFailedIndexes"], "must be less than or equal to completions");
  const std::string hostname = std::string(text(job.metadata, "name")) + "-" + std::to_string(std::max<std::int64_t>(*completions - 1, 0));
  if (*completions > 0 && !manifests::is_dns_label(hostname))
    findings.invalid("metadata.name", member(job.metadata, "name"), "will not able to create pod with invalid DNS label: " + hostname);
}

/// Generated labels must be as generated.
void check_generated_selector(const ObjectView& job, const Json& spec, Findings& findings) {
  if (flag(spec, "manualSelector")) return;
  const Json& labels = member(member(spec, "template", "metadata"), "labels");
  const Json& metadata = job.metadata;
  for (const auto label : controller_uid_labels)
    if (member(labels, label) != member(metadata, "uid"))
      findings.invalid("spec.template.metadata.labels", labels, "must be '" + std::string(text(metadata, "uid")) + "'");
  for (const auto label : job_name_labels)
    if (member(labels, label) != member(metadata, "name"))
      findings.invalid("spec.template.metadata.labels", labels, "must be '" + std::string(text(metadata, "name")) + "'");
}

void check_selector_matches(const Json& spec, Findings& findings) {
  const Json& selector = member(spec, "selector");
  if (selector.is_null()) return findings.required("spec.selector", "must be given");
  const Json& labels = member(member(spec, "template", "metadata"), "labels");
  const Json& wanted = member(selector, "matchLabels");
  if (!wanted.is_object()) return;
  for (const auto& [key, value] : wanted.get_ref<const Json::object_t&>()) {
    if (member(labels, key) != value)
      return findings.invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`");
  }
}

void check_pod_replacement(const Json& spec, Findings& findings) {
  const auto policy = text(spec, "podReplacementPolicy");
  const bool failure_policy = spec.contains("podFailurePolicy");
  if (policy == "Failed" || (policy == "TerminatingOrFailed" && !failure_policy) || policy.empty()) return;
  findings.add(ProblemKind::not_supported, "spec.podReplacementPolicy", member(spec, "podReplacementPolicy"),
               failure_policy ? "supported values: \"Failed\"" : "supported values: \"Failed\", \"TerminatingOrFailed\"");
}

void check_restart_policy(const Json& spec, Findings& findings) {
  const Json& policy = member(member(spec, "template", "spec"), "restartPolicy");
  const std::string field = "spec.template.spec.restartPolicy";
  if (policy.is_null() || policy == "Always") return findings.required(field, "valid values: \"OnFailure\", \"Never\"");
  if (policy != "OnFailure" && policy != "Never")
    return findings.add(ProblemKind::not_supported, field, policy, "supported values: \"OnFailure\", \"Never\"");
  if (spec.contains("podFailurePolicy") && policy != "Never")
    findings.invalid(field, policy, "only \"Never\" is supported when podFailurePolicy is specified");
}

void check_completions_change(const Json& now, const Json& before, Findings& findings) {
  const Json& completions = member(now, "completions");
  if (!indexed(now)) return findings.immutable("spec.completions", completions, member(before, "completions"));
  if (completions == member(before, "completions") || completions.is_null()) return;
  if (completions != member(now, "parallelism"))
    findings.invalid("spec.completions", completions, "can only be modified in tandem with spec.parallelism");
}

}  // namespace

void default_job(Json& job) {
  Json& spec = job["spec"];
  if (!spec.is_object()) return;
  if (!spec.contains("completions") && !spec.contains("parallelism")) spec["completions"] = 1;
  put_default(spec, "parallelism", 1);
  put_default(spec, "backoffLimit", spec.contains("backoffLimitPerIndex") ? Json(std::numeric_limits<std::int32_t>::max()) : Json(6));
  put_default(spec, "completionMode", "NonIndexed");
  put_default(spec, "suspend", false);
  put_default(spec, "podReplacementPolicy", spec.contains("podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
  put_default(spec, "manualSelector", false);
  Json& pod = spec["template"]["spec"];
  if (pod.is_null()) pod = Json::object();
  if (pod.is_object()) default_pod_spec(pod);
}

void generate_job_selector(Json& job) {
  Json& spec = job["spec"];
  if (flag(spec, "manualSelector")) return;
  Json& labels = spec["template"]["metadata"]["labels"];
  const Json& metadata = member(job, "metadata");
  for (const auto label : job_name_labels) labels.emplace(label, member(metadata, "name"));
  for (const auto label : controller_uid_labels) labels.emplace(label, member(metadata, "uid"));
  Json& wanted = spec["selector"]["matchLabels"];
  wanted.emplace(controller_uid_labels[0], member(metadata, "uid"));
  if (member(metadata, "labels").empty()) job["metadata"]["labels"] = labels;
}

void check_job(const ObjectView& job, Findings& findings) {
  const Json& spec = job.spec;
  for (const char* name : {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
                           "backoffLimitPerIndex", "maxFailedIndexes"})
    check_not_negative(spec, name, findings);
  if (spec.contains("maxFailedIndexes") && !spec.contains("backoffLimitPerIndex"))
    findings.required("spec.backoffLimitPerIndex", "when maxFailedIndexes is specified");
  check_completion_mode(job, spec, findings);
  check_generated_selector(job, spec, findings);
  check_selector_matches(spec, findings);
  check_pod_replacement(spec, findings);
  check_template_metadata(member(spec, "template", "metadata"), "spec.template.metadata", findings);
  check_pod_spec(member(spec, "template", "spec"), "spec.template.spec", findings);
  check_restart_policy(spec, findings);
}

void check_job_change(const ObjectView& now, const ObjectView& before, const JobRules& rules, Findings& findings) {
  const Json& spec = now.spec;
  const Json& old_spec = before.spec;
  check_completions_change(spec, old_spec, findings);
  for (const char* name : {"selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"})
    findings.immutable(std::string("spec.") + name, member(spec, name), member(old_spec, name));
  check_template_update(now, before, rules, findings);
}

void compact_job_status(Json& status) {
  if (!status.is_object()) return;
  for (const char* name : {"active", "failed", "succeeded"})
    if (number(status, name) == 0) status.erase(name);
}

}  // namespace hindsight::connectors::simulated
