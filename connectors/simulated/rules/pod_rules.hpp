#pragma once

#include "connectors/simulated/rules/finding.hpp"

namespace hindsight::connectors::simulated {

/// Puts in what the API server puts into the pod spec of every built-in kind (core/v1 defaults, Kubernetes 1.36).
void default_pod_spec(Json& pod_spec);

/// What it demands of the pod spec of a template; `path` is its field.
void check_pod_spec(const Json& pod_spec, const std::string& path, Findings& findings);

/// Labels and annotations of a template.
void check_template_metadata(const Json& metadata, const std::string& path, Findings& findings);

}  // namespace hindsight::connectors::simulated
