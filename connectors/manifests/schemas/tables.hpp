#pragma once

#include <string_view>

namespace hindsight::connectors::manifests {

// What the API's kinds look like, in the language of SchemaTable: one text for each group of kinds.

[[nodiscard]] std::string_view kueue_table();     ///< kueue.x-k8s.io/v1beta2
[[nodiscard]] std::string_view job_table();       ///< batch/v1 and jobset.x-k8s.io/v1alpha2
[[nodiscard]] std::string_view core_table();      ///< Namespace, Node, Pod, PriorityClass, RuntimeClass, LimitRange; metadata
[[nodiscard]] std::string_view pod_table();       ///< Pod templates
[[nodiscard]] std::string_view volume_table();    ///< Their volumes
[[nodiscard]] std::string_view scenario_table();  ///< hindsight.dev/v1alpha1

}  // namespace hindsight::connectors::manifests
