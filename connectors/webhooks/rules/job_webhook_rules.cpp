#include <algorithm>
#include <charconv>
#include <optional>

#include "connectors/json/keys.hpp"
#include "connectors/json/resource_bounds.hpp"
#include "connectors/manifests/syntax.hpp"
#include "connectors/webhooks/rules/gate_rules.hpp"
#include "connectors/webhooks/rules/owner_rules.hpp"
#include "connectors/webhooks/rules/ray_webhook_rules.hpp"
#include "connectors/webhooks/rules/topology_webhook_rules.hpp"
#include "connectors/webhooks/rules/webhook_rules.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::flag;
using manifests::member;
using manifests::number;
using manifests::text;

constexpr const char* subdomain_wanted =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
    "alphanumeric character";

std::optional<std::int64_t> integer(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::string label_field(std::string_view name) { return "metadata.labels[" + std::string(name) + "]"; }
std::string annotation_field(std::string_view name) { return "metadata.annotations[" + std::string(name) + "]"; }

const Json& label(const ObjectView& job, std::string_view name) { return member(member(job.metadata, "labels"), name); }
const Json& annotation(const ObjectView& job, std::string_view name) { return member(member(job.metadata, "annotations"), name); }

/// The Workload that a job names as its own, and where it does. The annotation goes before the label (base-api §5).
struct Prebuilt {
  std::string field;
  const Json& name;
};

Prebuilt prebuilt_of(const ObjectView& job, const Surroundings& around) {
  const Json& annotated = annotation(job, keys::prebuilt_workload_name);
  if (annotated.is_string() && around.gate("WorkloadIdentifierAnnotations"))
    return {annotation_field(keys::prebuilt_workload_name), annotated};
  return {label_field(keys::prebuilt_workload_name), label(job, keys::prebuilt_workload_name)};
}

void check_subdomain(const std::string& field, const Json& name, Findings& findings) {
  if (name.is_string() && !name.get_ref<const std::string&>().empty() && !manifests::is_dns_subdomain(name.get_ref<const std::string&>()))
    findings.invalid(field, name, subdomain_wanted);
}

void check_alone(const ObjectView& now, const Surroundings& around, Findings& findings) {
  check_subdomain(label_field(keys::queue_name), label(now, keys::queue_name), findings);
  const Prebuilt prebuilt = prebuilt_of(now, around);
  check_subdomain(prebuilt.field, prebuilt.name, findings);
  check_subdomain(label_field(keys::priority_class), label(now, keys::priority_class), findings);
  const Json& seconds = label(now, keys::max_exec_time_seconds);
  if (seconds.is_string()) {
    const auto value = integer(seconds.get_ref<const std::string&>());
    if (!value || *value <= 0) findings.invalid(label_field(keys::max_exec_time_seconds), seconds, "should be greater than 0");
  }
}

void check_change(const ObjectView& now, const ObjectView& before, bool elastic, const Surroundings& around, Findings& findings) {
  const bool suspended = flag(now.spec, "suspend");
  const bool was_suspended = flag(before.spec, "suspend");
  const Json& queue = label(now, keys::queue_name);
  if (!suspended) {
    findings.immutable(label_field(keys::queue_name), queue, label(before, keys::queue_name));
    // MultiKueue moves the slices of an elastic job while it runs (EJ-104).
    const Prebuilt prebuilt = prebuilt_of(now, around);
    if (!elastic) findings.immutable(prebuilt.field, prebuilt.name, prebuilt_of(before, around).name);
  }
  if (!(suspended && was_suspended))
    findings.immutable(label_field(keys::max_exec_time_seconds), label(now, keys::max_exec_time_seconds),
                       label(before, keys::max_exec_time_seconds));
  const auto space = text(now.metadata, "namespace");
  if ((queue.is_null() || queue == Json("")) && !text(member(before.metadata, "labels"), keys::queue_name).empty() &&
      around.manages_namespace(space) && around.find("LocalQueue", space, "default") != nullptr)
    findings.invalid(label_field(keys::queue_name), Json(""), "queue-name must not be empty in namespace with default queue");
  const Json& class_ = label(now, keys::priority_class);
  const Json& old_class = label(before, keys::priority_class);
  if (!old_class.is_null() && class_.is_null())
    findings.invalid(label_field(keys::priority_class), old_class, "WorkloadPriorityClass cannot be removed from a workload");
  if (!class_.is_null() && old_class.is_null() && !suspended)
    findings.invalid(label_field(keys::priority_class), class_, "WorkloadPriorityClass cannot be added to a non-suspended workload");
}

/// Which kinds can be elastic, and that a job is elastic for its whole life (77 §2.5).
void check_elastic(const Kind& kind, const ObjectView& now, const ObjectView& before, Findings& findings) {
  const bool elastic = annotation(now, keys::elastic_job) == "true";
  const auto name = kind.type->kind;
  if (elastic && name != "Job" && name != "RayCluster" && name != "RayJob")
    findings.forbidden(annotation_field(keys::elastic_job), "elastic job is not supported for \"" + std::string(kind.type->group) + "/" +
                                                                std::string(kind.type->version) + ", Kind=" + std::string(kind.type->kind) +
                                                                "\"");
  if (before.exists() && elastic != (annotation(before, keys::elastic_job) == "true"))
    findings.invalid(annotation_field(keys::elastic_job), Json(elastic), "field is immutable");
}

/// An elastic job is placed slice by slice, so it cannot ask for one place (EJ-107).
void check_elastic_topology(const ObjectView& now, Findings& findings) {
  const Json& annotations = member(member(now.spec, "template", "metadata"), "annotations");
  for (const char* kind : {"required", "preferred"}) {
    const std::string name = std::string("kueue.x-k8s.io/podset-") + kind + "-topology";
    if (!member(annotations, name).is_null())
      findings.forbidden("spec.template.metadata.annotations." + name, std::string(kind) + " topology is not supported with elastic jobs");
  }
}

void check_batch_job(const ObjectView& now, const ObjectView& before, bool elastic, Findings& findings) {
  if (elastic) check_elastic_topology(now, findings);
  const Json& least = annotation(now, keys::job_min_parallelism);
  const bool new_least = !before.exists() || least != annotation(before, keys::job_min_parallelism);
  if (least.is_string() && new_least && elastic)
    findings.invalid(annotation_field(keys::job_min_parallelism), least, "partial admission and elastic job cannot be used together");
  if (before.exists()) {
    // Later the count that was admitted stands in parallelism, and nobody else may write there.
    const bool runs = !flag(before.spec, "suspend") && !flag(now.spec, "suspend");
    if (annotation(before, keys::job_min_parallelism).is_string() && runs &&
        number(now.spec, "parallelism").value_or(1) != number(before.spec, "parallelism").value_or(1))
      findings.forbidden("spec.parallelism", "cannot change when partial admission is enabled and the job is not suspended");
    return;
  }
  if (least.is_string()) {
    const auto most = number(now.spec, "parallelism").value_or(1) - 1;
    const auto value = integer(least.get_ref<const std::string&>());
    if (!value || *value <= 0 || *value > most)
      findings.invalid(annotation_field(keys::job_min_parallelism), least, "should be between 0 and " + std::to_string(most));
  }
  if (const Json& equal = annotation(now, keys::job_completions_equal_parallelism); equal.is_string()) {
    if (equal != "true" && equal != "false")
      findings.invalid(annotation_field(keys::job_completions_equal_parallelism), equal, "must be true or false");
    if (equal == "true" && text(now.spec, "completionMode") != "Indexed")
      findings.invalid(annotation_field(keys::job_completions_equal_parallelism), equal, "should not be enabled for NonIndexed jobs");
  }
}

/// Annotations about sizes (5440 §2.4, MR-75), judged where they are new or have changed.
void check_resource_bounds(const ObjectView& now, const ObjectView& before, bool elastic, Findings& findings) {
  const auto text_of = [](const ObjectView& job, std::string_view name) {
    const Json& value = annotation(job, name);
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  const auto policy = text_of(now, keys::resource_policy), bounds = text_of(now, keys::resource_bounds);
  if (before.exists() && policy == text_of(before, keys::resource_policy) && bounds == text_of(before, keys::resource_bounds)) return;
  const auto which = parse_resource_policy(policy);
  if (!which) return findings.invalid(annotation_field(keys::resource_policy), Json(policy), "must be None, Shrink or Fit");
  if (const auto read = parse_resource_bounds(policy, bounds); !read)
    findings.invalid(annotation_field(keys::resource_bounds), Json(bounds), read.error().message);
  if (*which == ResourcePolicy::none) return;
  if (elastic) findings.forbidden(annotation_field(keys::resource_policy), "resources cannot be adjusted together with an elastic job");
  if (annotation(now, keys::job_min_parallelism).is_string())
    findings.forbidden(annotation_field(keys::resource_policy), "resources cannot be adjusted together with partial admission");
}

/// Whether nothing is asked of topologies that was not asked before. Of a job that runs the count may be what it was admitted with.
bool asks_as_before(const Kind& kind, const ObjectView& now, const ObjectView& before) {
  if (!before.exists()) return false;
  const auto templates = templates_of(kind, now), old_templates = templates_of(kind, before);
  return std::equal(templates.begin(), templates.end(), old_templates.begin(), old_templates.end(), [&](const auto& a, const auto& b) {
    return a.annotations == b.annotations && (a.count == b.count || !flag(now.spec, "suspend"));
  });
}

}  // namespace

void check_job_webhook_rules(const Kind& kind, const ObjectView& now, const ObjectView& before, const Surroundings& around,
                             std::string_view user, Findings& findings) {
  if (!around.manages_kind(kind.type->kind, kind.type->group)) return;
  const bool elastic_gate = around.gate("ElasticJobsViaWorkloadSlices");
  const bool elastic = elastic_gate && annotation(now, keys::elastic_job) == "true";
  check_alone(now, around, findings);
  if (!is_unmanaged_ray(kind, now, around)) check_job_gates(now, before, around, findings);
  if (before.exists()) check_change(now, before, elastic, around, findings);
  check_owner_change(kind, now, before, around, user, findings);
  if (elastic_gate) check_elastic(kind, now, before, findings);
  if (kind.type->kind == "Job") check_batch_job(now, before, elastic, findings);
  check_ray_webhook_rules(kind, now, elastic, around, findings);
  if (kind.type->kind == "Job" && around.gate("AdjustResourcesOnAdmission")) check_resource_bounds(now, before, elastic, findings);
  if (around.gate("TopologyAwareScheduling") && !asks_as_before(kind, now, before))
    check_topology_requests(templates_of(kind, now), around, findings);
}

}  // namespace hindsight::connectors::webhooks
