#include <charconv>
#include <optional>

#include "connectors/manifests/syntax.hpp"
#include "connectors/simulated/rules/webhook_rules.hpp"

namespace hindsight::connectors::simulated {
namespace {

constexpr const char* queue_name = "kueue.x-k8s.io/queue-name";
constexpr const char* priority_class = "kueue.x-k8s.io/priority-class";
constexpr const char* max_exec_time = "kueue.x-k8s.io/max-exec-time-seconds";
constexpr const char* prebuilt_name = "kueue.x-k8s.io/prebuilt-workload-name";
constexpr const char* min_parallelism = "kueue.x-k8s.io/job-min-parallelism";
constexpr const char* completions_equal = "kueue.x-k8s.io/job-completions-equal-parallelism";

std::optional<std::int64_t> integer(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::string label_field(const char* name) { return std::string("metadata.labels[") + name + "]"; }
std::string annotation_field(const char* name) { return std::string("metadata.annotations[") + name + "]"; }

void check_labels(const ObjectView& now, const ObjectView& before, const ObjectStore& store, Findings& findings) {
  const Json& labels = member(now.metadata, "labels");
  const Json& queue = member(labels, queue_name);
  if (queue.is_string() && !queue.get_ref<const std::string&>().empty() &&
      !manifests::is_dns_subdomain(queue.get_ref<const std::string&>()))
    findings.invalid(label_field(queue_name), queue, "a lowercase RFC 1123 subdomain is needed");
  const Json& seconds = member(labels, max_exec_time);
  if (seconds.is_string()) {
    const auto value = integer(seconds.get_ref<const std::string&>());
    if (!value || *value <= 0) findings.invalid(label_field(max_exec_time), seconds, "should be greater than 0");
  }
  if (!before.exists()) return;
  const Json& old_labels = member(before.metadata, "labels");
  const bool suspended = flag(now.spec, "suspend");
  const bool was_suspended = flag(before.spec, "suspend");
  if (!suspended) {
    findings.immutable(label_field(queue_name), queue, member(old_labels, queue_name));
    findings.immutable(label_field(prebuilt_name), member(labels, prebuilt_name), member(old_labels, prebuilt_name));
  }
  if (!(suspended && was_suspended)) findings.immutable(label_field(max_exec_time), seconds, member(old_labels, max_exec_time));
  if (queue.is_null() && !member(old_labels, queue_name).is_null() && store.find("LocalQueue", text(now.metadata, "namespace"), "default"))
    findings.invalid(label_field(queue_name), Json(""), "queue-name must not be empty in namespace with default queue");
  const bool has_class = !member(labels, priority_class).is_null();
  const bool had_class = !member(old_labels, priority_class).is_null();
  if (had_class && !has_class)
    findings.invalid(label_field(priority_class), member(old_labels, priority_class),
                     "WorkloadPriorityClass cannot be removed from a workload");
  if (has_class && !had_class && !suspended)
    findings.invalid(label_field(priority_class), member(labels, priority_class),
                     "WorkloadPriorityClass cannot be added to a non-suspended workload");
}

void check_job_annotations(const ObjectView& now, Findings& findings) {
  const Json& spec = now.spec;
  const Json& annotations = member(now.metadata, "annotations");
  if (const Json& least = member(annotations, min_parallelism); least.is_string()) {
    const auto most = number(spec, "parallelism").value_or(1) - 1;
    const auto value = integer(least.get_ref<const std::string&>());
    if (!value || *value <= 0 || *value > most)
      findings.invalid(annotation_field(min_parallelism), least, "should be between 0 and " + std::to_string(most));
  }
  if (const Json& equal = member(annotations, completions_equal); equal.is_string()) {
    if (equal != "true" && equal != "false") findings.invalid(annotation_field(completions_equal), equal, "must be true or false");
    if (equal == "true" && text(spec, "completionMode") != "Indexed")
      findings.invalid(annotation_field(completions_equal), equal, "should not be enabled for NonIndexed jobs");
  }
}

}  // namespace

void check_job_webhook_rules(const Kind& kind, const ObjectView& now, const ObjectView& before, const ObjectStore& store,
                             Findings& findings) {
  if (kind.type->kind != "Job" && kind.type->kind != "JobSet") return;
  check_labels(now, before, store, findings);
  // Later the count that was admitted stands in parallelism.
  if (kind.type->kind == "Job" && !before.exists()) check_job_annotations(now, findings);
}

}  // namespace hindsight::connectors::simulated
