#pragma once

#include "connectors/json/node.hpp"
#include "connectors/json/pod_template.hpp"
#include "vocabulary/observations.hpp"

namespace hindsight::connectors {

/// Finds the effective request of one pod of `spec` (base-admission §1.3, BA-43) and what of it breaks a limit: `requests`,
/// `limits_error` (its own limits) and `limit_range_error` (those of the namespace) of `out`.
///
/// The steps: (a) overhead of the RuntimeClass where the spec has none; (b) LimitRange defaults where nothing is given; (c) limits for
/// missing requests. Then the larger of the containers with all sidecars and of each init step with the sidecars started
/// before it; pod-level requests replace what they name; overhead comes on top.
void read_pod_requests(const Node& spec, const TemplateContext& context, PodSetFacts& out);

}  // namespace hindsight::connectors
