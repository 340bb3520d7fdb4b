#include "connectors/simulated/rules/template_update.hpp"

#include <array>
#include <utility>

namespace hindsight::connectors::simulated {
namespace {

constexpr const char* immutable = "field is immutable";

constexpr std::array<std::pair<std::string_view, JobApiLevel>, 4> levels{
    {{"1.34", JobApiLevel::v1_34}, {"1.35", JobApiLevel::v1_35}, {"1.36.0", JobApiLevel::v1_36_0}, {"1.36.2", JobApiLevel::v1_36_2}}};

void take_over(Json& to, const Json& from, const char* name) {
  const Json& value = member(from, name);
  if (value.is_null())
    to.erase(name);
  else
    to[name] = value;
}

/// Node affinity is free; the whole affinity may go or come only with nothing else in it.
void take_over_affinity(Json& old_pod, const Json& pod) {
  const Json& affinity = member(pod, "affinity");
  if (affinity.is_null() && member(old_pod, "affinity").is_null()) return;
  Json out = member(old_pod, "affinity").is_object() ? old_pod["affinity"] : Json::object();
  take_over(out, affinity, "nodeAffinity");
  if (out.empty() && affinity.is_null())
    old_pod.erase("affinity");
  else
    old_pod["affinity"] = std::move(out);
}

void take_over_metadata(Json& old_template, const Json& now) {
  Json metadata = member(old_template, "metadata").is_object() ? old_template["metadata"] : Json::object();
  for (const char* name : {"annotations", "labels"}) take_over(metadata, member(now, "metadata"), name);
  if (metadata.empty())
    old_template.erase("metadata");
  else
    old_template["metadata"] = std::move(metadata);
}

/// The old template with the directives of the new one.
Json with_directives(Json old_template, const Json& now) {
  Json& pod = old_template["spec"];
  const Json& new_pod = member(now, "spec");
  for (const char* name : {"nodeSelector", "tolerations", "schedulingGates"}) take_over(pod, new_pod, name);
  take_over_affinity(pod, new_pod);
  take_over_metadata(old_template, now);
  return old_template;
}

/// The old pod spec with the resources of the new one, container by container while the names are the same.
Json with_resources(Json old_pod, const Json& pod, bool keep_claims) {
  for (const char* list : {"containers", "initContainers"}) {
    const Json& containers = member(pod, list);
    const auto old_containers = old_pod.find(list);
    if (old_containers == old_pod.end() || !containers.is_array() || containers.size() != old_containers->size()) continue;
    for (std::size_t i = 0; i < containers.size(); ++i) {
      Json& old_container = (*old_containers)[i];
      if (!old_container.is_object() || text(containers[i], "name") != text(old_container, "name")) continue;
      const Json claims = member(member(old_container, "resources"), "claims");
      take_over(old_container, containers[i], "resources");
      if (!keep_claims || !member(old_container, "resources").is_object()) continue;
      old_container["resources"].erase("claims");
      if (!claims.is_null()) old_container["resources"]["claims"] = claims;
    }
  }
  return old_pod;
}

}  // namespace

JobRules JobRules::of(JobApiLevel level) {
  const bool on = level >= JobApiLevel::v1_36_0;
  return {level, on, on, false};
}

Result<JobApiLevel> read_job_api_level(std::string_view text) {
  std::string allowed;
  for (const auto& [name, level] : levels) {
    if (name == text) return level;
    allowed.append(allowed.empty() ? "\"" : ", \"").append(name).append("\"");
  }
  return fail(ErrorKind::invalid, "level of the Kubernetes API: found \"" + std::string(text) + "\"; allowed: " + allowed);
}

MutableParts mutable_parts(const ObjectView& stored, const JobRules& rules) {
  const bool suspended = flag(stored.spec, "suspend");
  const bool never_started = member(stored.status, "startTime").is_null();
  const bool told_suspended = condition_is(stored.status, "Suspended");
  const bool inactive = number(stored.status, "active").value_or(0) == 0;
  const bool known = rules.level != JobApiLevel::v1_34;  // the feature gates
  const bool open = rules.level == JobApiLevel::v1_36_2 ? never_started || told_suspended : told_suspended;
  const bool whole = suspended && open && inactive;
  return {known && rules.mutable_resources && whole, known && rules.mutable_directives ? whole : suspended && never_started};
}

void check_template_update(const ObjectView& now, const ObjectView& before, const JobRules& rules, Findings& findings) {
  const Json& new_template = member(now.spec, "template");
  const Json& old_template = member(before.spec, "template");
  if (new_template == old_template || !old_template.is_object() || !member(old_template, "spec").is_object()) {
    if (new_template != old_template) findings.invalid("spec.template", Json(), immutable);
    return;
  }
  const MutableParts parts = mutable_parts(before, rules);
  const Json comparable = parts.directives ? with_directives(old_template, new_template) : old_template;
  if (!parts.resources) {
    if (new_template != comparable) findings.invalid("spec.template", Json(), immutable);
    return;
  }
  // The API server compares the pod spec only, so that labels and annotations pass without their gate (MR-15).
  if (rules.strict && member(new_template, "metadata") != member(comparable, "metadata"))
    return findings.invalid("spec.template", Json(), immutable);
  const Json& pod = member(new_template, "spec");
  if (pod != with_resources(member(comparable, "spec"), pod, rules.strict)) findings.invalid("spec.template.spec", Json(), immutable);
}

}  // namespace hindsight::connectors::simulated
