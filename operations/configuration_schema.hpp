#pragma once

#include <span>
#include <string_view>

#include "connectors/manifests/schema.hpp"

namespace hindsight::operations {

/// What a configuration of config.kueue.x-k8s.io/v1beta2 may hold, with its defaults (base-api §11).
[[nodiscard]] const connectors::manifests::Schema& configuration_schema();

/// What v1beta1 may hold beside that, for the parts that v1beta2 does not know any more: queueVisibility and integrations.podOptions.
[[nodiscard]] const connectors::manifests::Schema& queue_visibility_schema();
[[nodiscard]] const connectors::manifests::Schema& pod_options_schema();

/// A job kind that integrations.frameworks may name (base-api §7.2).
struct Framework {
  std::string_view name;     ///< "batch/job"
  std::string_view kind;     ///< "Job"
  std::string_view version;  ///< "v1"
  std::string_view group;    ///< "batch"
};
[[nodiscard]] std::span<const Framework> frameworks();

/// Names of TLS cipher suites and curves that tls may list.
[[nodiscard]] std::span<const std::string_view> cipher_suites();
[[nodiscard]] std::span<const std::string_view> curves();

}  // namespace hindsight::operations
