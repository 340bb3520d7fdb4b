#include "connectors/simulated/rules/pod_rules.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "connectors/manifests/syntax.hpp"
#include "connectors/simulated/rules/container_resources.hpp"
#include "connectors/simulated/rules/defaults.hpp"

namespace hindsight::connectors::simulated {
namespace {

/// "latest" or no tag at all.
bool pulls_always(std::string_view image) {
  if (image.find('@') != std::string_view::npos) return false;
  const auto slash = image.rfind('/');
  const auto name = slash == std::string_view::npos ? image : image.substr(slash + 1);
  const auto colon = name.find(':');
  return colon == std::string_view::npos || name.substr(colon + 1) == "latest";
}

void default_probe(Json& container, const char* name) {
  const auto probe = container.find(name);
  if (probe == container.end() || !probe->is_object()) return;
  put_default(*probe, "timeoutSeconds", 1);
  put_default(*probe, "periodSeconds", 10);
  put_default(*probe, "successThreshold", 1);
  put_default(*probe, "failureThreshold", 3);
  if (const auto get = probe->find("httpGet"); get != probe->end() && get->is_object()) {
    put_default(*get, "path", "/");
    put_default(*get, "scheme", "HTTP");
  }
}

void default_container(Json& container) {
  if (!container.is_object()) return;
  put_default(container, "imagePullPolicy", pulls_always(text(container, "image")) ? "Always" : "IfNotPresent");
  put_default(container, "terminationMessagePath", "/dev/termination-log");
  put_default(container, "terminationMessagePolicy", "File");
  put_default(container, "resources", Json::object());
  normalise_resources(container);
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) default_probe(container, probe);
  if (const auto ports = container.find("ports"); ports != container.end() && ports->is_array()) {
    for (auto& port : *ports)
      if (port.is_object()) put_default(port, "protocol", "TCP");
  }
  if (const auto env = container.find("env"); env != container.end() && env->is_array()) {
    for (auto& variable : *env) {
      const Json& source = member(variable, "valueFrom", "fieldRef");
      if (source.is_object()) put_default(variable["valueFrom"]["fieldRef"], "apiVersion", "v1");
    }
  }
}

void check_containers(const Json& pod_spec, const char* list, const std::string& path, std::set<std::string>& names, Findings& findings) {
  std::set<std::string> claims;
  for (const auto& claim : member(pod_spec, "resourceClaims")) claims.emplace(text(claim, "name"));
  each_item(pod_spec, list, path, [&](const Json& container, const std::string& field) {
    const auto name = text(container, "name");
    if (name.empty()) {
      findings.required(field + ".name", "");
    } else if (!manifests::is_dns_label(name)) {
      findings.invalid(field + ".name", Json(name), "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'");
    } else if (!names.emplace(name).second) {
      findings.duplicate(field + ".name", Json(name));
    }
    check_container_resources(container, claims, field, findings);
  });
}

void check_selector(const Json& labels, const std::string& field, Findings& findings) {
  if (!labels.is_object()) return;
  for (const auto& [key, value] : labels.get_ref<const Json::object_t&>()) {
    if (!manifests::is_qualified_name(key)) findings.invalid(field, Json(key), "name part must be a label key");
    if (value.is_string() && !manifests::is_label_value(value.get_ref<const std::string&>()))
      findings.invalid(field, value, "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.'");
  }
}

void check_pod_tolerations(const Json& pod_spec, const std::string& path, Findings& findings) {
  each_item(pod_spec, "tolerations", path, [&](const Json& toleration, const std::string& field) {
    const auto key = text(toleration, "key");
    const auto op = text(toleration, "operator");
    const auto effect = text(toleration, "effect");
    if (!key.empty() && !manifests::is_qualified_name(key)) findings.invalid(field + ".key", Json(key), "name part must be a label key");
    if (key.empty() && op != "Exists")
      findings.invalid(field + ".operator", Json(op),
                       "operator must be Exists when `key` is empty, which means \"match all values and all keys\"");
    if (toleration.contains("tolerationSeconds") && effect != "NoExecute")
      findings.invalid(field + ".effect", Json(effect), "effect must be 'NoExecute' when `tolerationSeconds` is set");
    if (op == "Exists") {
      if (!text(toleration, "value").empty())
        findings.invalid(field + ".operator", toleration, "value must be empty when `operator` is 'Exists'");
    } else if (!op.empty() && op != "Equal") {
      findings.add(ProblemKind::not_supported, field + ".operator", Json(op), "supported values: \"Equal\", \"Exists\"");
    } else if (!manifests::is_label_value(text(toleration, "value"))) {
      findings.invalid(field + ".operator", member(toleration, "value"),
                       "a valid label must be an empty string or consist of alphanumeric characters");
    }
    if (!effect.empty() && effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute")
      findings.add(ProblemKind::not_supported, field + ".effect", Json(effect),
                   "supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"");
  });
}

}  // namespace

void default_pod_spec(Json& pod_spec) {
  put_default(pod_spec, "dnsPolicy", "ClusterFirst");
  put_default(pod_spec, "restartPolicy", "Always");
  put_default(pod_spec, "securityContext", Json::object());
  put_default(pod_spec, "terminationGracePeriodSeconds", 30);
  put_default(pod_spec, "schedulerName", "default-scheduler");
  if (const auto account = text(pod_spec, "serviceAccountName"); !account.empty()) put_default(pod_spec, "serviceAccount", account);
  for (const char* list : {"containers", "initContainers"}) {
    const auto it = pod_spec.find(list);
    if (it == pod_spec.end() || !it->is_array()) continue;
    for (auto& container : *it) default_container(container);
  }
}

void check_pod_spec(const Json& pod_spec, const std::string& path, Findings& findings) {
  if (member(pod_spec, "containers").empty()) findings.required(path + ".containers", "must be given");
  std::set<std::string> names;
  check_containers(pod_spec, "containers", path, names, findings);
  check_containers(pod_spec, "initContainers", path, names, findings);
  each_item(pod_spec, "containers", path, [&](const Json& container, const std::string& field) {
    if (text(container, "image").empty()) findings.required(field + ".image", "must be given");
  });
  check_selector(member(pod_spec, "nodeSelector"), path + ".nodeSelector", findings);
  check_pod_tolerations(pod_spec, path, findings);
  each_item(pod_spec, "schedulingGates", path, [&](const Json& gate, const std::string& field) {
    if (!manifests::is_qualified_name(text(gate, "name")))
      findings.invalid(field, member(gate, "name"), "name part must be a qualified name");
  });
}

void check_template_metadata(const Json& metadata, const std::string& path, Findings& findings) {
  check_selector(member(metadata, "labels"), path + ".labels", findings);
}

}  // namespace hindsight::connectors::simulated
