#pragma once

#include <string_view>

#include "connectors/jobs/job_integration.hpp"
#include "connectors/json/json_value.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors {

/// The template with what a start injects. Errors: invalid, naming pod set, key and both values, when a key is there with another
/// value already.
[[nodiscard]] Result<Json> inject(const Json& pod_template, const PodSetInjection& injection);

/// Adds one podSetUpdates entry of an admission check. Errors: as inject(), when it contradicts what is there.
[[nodiscard]] Result<void> add_update(PodSetInjection& injection, const Json& update);

/// The template without the labels, annotations and scheduling gates that inject() has put in. A label or an annotation that was there
/// before, with the same value, goes as well.
[[nodiscard]] Json without_marks(const Json& pod_template, const PodSetInjection& injection);

/// The template with labels, annotations, node selector, tolerations and scheduling gates as `original` has them (BA-176). Labels of
/// the Job controller stay. Resources of the containers that `original` has are restored, too.
[[nodiscard]] Json restore(const Json& pod_template, const Json& original);

/// The template as a Workload holds it: metadata cut to labels and annotations, without labels of the Job controller, and of environment
/// variables with the same name only the last (base-api §3).
[[nodiscard]] Json workload_template(const Json& pod_template);

/// topologyRequest from the annotations of a template (2724 §2.6), with the labels that say where a pod stands among the others, also where
/// nothing is asked (TAS-46); null when there are neither. Empty labels are left out.
[[nodiscard]] Json topology_request(const Json& pod_template, std::string_view pod_index_label, std::string_view sub_group_index_label = {},
                                    std::int32_t sub_group_count = 0);

/// Are two tolerations the same, given that no operator means Equal and an empty field is an absent one?
[[nodiscard]] bool same_toleration(const Json& a, const Json& b);

/// The pod set `name` in a list of pod sets; nullptr: not there.
[[nodiscard]] const Json* find_pod_set(const Json& pod_sets, std::string_view name);

}  // namespace hindsight::connectors
