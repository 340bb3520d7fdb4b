#include "connectors/webhooks/rules/gate_rules.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "connectors/manifests/syntax.hpp"
#include "vocabulary/gate_names.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::member;

constexpr const char* scheduling_gate = "kueue.x-k8s.io/scheduling-gated-by";
constexpr const char* admission_gate = "kueue.x-k8s.io/admission-gated-by";
constexpr std::size_t longest_name = 63;

constexpr const char* prefixed_path_wanted = "must be a domain-prefixed path (such as \"acme.io/foo\")";
constexpr const char* host_wanted =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr const char* path_wanted = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";

std::string field_of(const char* annotation) { return std::string("metadata.annotations[") + annotation + "]"; }

/// Nothing: the annotation is not there.
std::optional<std::string_view> value_of(const ObjectView& object, const char* annotation) {
  const Json& value = member(member(object.metadata, "annotations"), annotation);
  if (!value.is_string()) return std::nullopt;
  return value.get_ref<const std::string&>();
}

bool is_path(std::string_view text) {
  constexpr std::string_view others = "/-._~%!$&'()*+,;=:";
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || others.find(c) != std::string_view::npos;
  });
}

/// One name as spec.managedBy of a Job is written: "acme.io/foo" (6915 §2.1; G1 to G4).
void check_name(std::string_view name, const std::string& field, Findings& findings) {
  const auto slash = name.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == name.size()) {
    findings.invalid(field, Json(name), prefixed_path_wanted);
  } else {
    const auto host = name.substr(0, slash);
    const auto path = name.substr(slash + 1);
    if (!manifests::is_dns_subdomain(host)) findings.invalid(field, Json(host), host_wanted);
    if (!is_path(path)) findings.invalid(field, Json(path), path_wanted);
  }
  if (name.size() > longest_name) findings.add(ProblemKind::too_long, field, Json(), "may not be more than 63 bytes");
}

/// Contract S: one name, which may only go (G9 to G12). A value that stays is not judged again: it may be from before the gate (SG-21).
void check_scheduling_gate(const ObjectView& now, const ObjectView& before, Findings& findings) {
  const std::string field = field_of(scheduling_gate);
  const auto value = value_of(now, scheduling_gate);
  if (!value) return;
  if (before.exists()) {
    const auto old_value = value_of(before, scheduling_gate);
    if (!old_value) return findings.forbidden(field, "cannot add scheduling gate after creation");
    if (*old_value != *value) findings.forbidden(field, "scheduling gate can only be removed, not modified");
    return;
  }
  if (value->empty()) return findings.required(field, "");
  if (value->find(',') != std::string_view::npos) return findings.invalid(field, Json(*value), "only one gate is supported");
  check_name(*value, field, findings);
}

/// Contract A: a list of names, judged on every write, that may only become shorter (G5 to G8).
void check_admission_gates(const ObjectView& now, const ObjectView& before, Findings& findings) {
  const std::string field = field_of(admission_gate);
  const auto value = value_of(now, admission_gate).value_or(std::string_view());
  if (value.empty()) return;
  const auto names = gate_names(value);
  if (before.exists()) {
    const auto old_value = value_of(before, admission_gate).value_or(std::string_view());
    const auto old_names = gate_names(old_value);
    const auto is_old = [&](std::string_view name) { return std::find(old_names.begin(), old_names.end(), name) != old_names.end(); };
    if (old_value.empty())
      findings.forbidden(field, "cannot add admission gate after creation");
    else if (!std::all_of(names.begin(), names.end(), is_old))
      findings.forbidden(field, "can only remove gates, not add new ones");
  }
  std::set<std::string_view> seen, told;
  bool empty_told = false;
  for (const auto name : names) {
    if (name.empty()) {
      if (!empty_told) findings.invalid(field, Json(value), "cannot contain empty gate names");
      empty_told = true;
    } else if (!seen.insert(name).second) {
      if (told.insert(name).second) findings.invalid(field, Json(value), "duplicate gate name: " + std::string(name));
    } else {
      check_name(name, field, findings);
    }
  }
}

}  // namespace

void check_job_gates(const ObjectView& now, const ObjectView& before, const Surroundings& around, Findings& findings) {
  if (around.gate("SchedulingGatedBy")) check_scheduling_gate(now, before, findings);
  if (around.gate("AdmissionGatedBy")) check_admission_gates(now, before, findings);
}

void check_workload_gates(const ObjectView& now, const ObjectView& before, const Surroundings& around, Findings& findings) {
  if (around.gate("AdmissionGatedBy")) check_admission_gates(now, before, findings);
}

}  // namespace hindsight::connectors::webhooks
