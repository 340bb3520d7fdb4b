#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/manifests/schema.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::doctor {

using connectors::manifests::Json;

/// A file of deploy/ as it was when this program was built.
struct EmbeddedManifest {
  std::string_view name;  ///< "rbac", "crds/workloads.kueue.x-k8s.io", "crds-with-webhooks/workloads.kueue.x-k8s.io"
  std::string_view text;  ///< YAML.
};

/// All of them: definitions first, each group sorted by name.
[[nodiscard]] std::span<const EmbeddedManifest> embedded_manifests();

/// The names that `manifest_text` takes: "crds" for all definitions, and those of all manifests.
[[nodiscard]] std::vector<std::string> manifest_names();

/// What `kubectl apply` takes. Errors: invalid, for a name that there is not.
[[nodiscard]] Result<std::string> manifest_text(std::string_view name);

/// The objects of a manifest; of "crds" all definitions. The name must be one of those that there are.
[[nodiscard]] std::vector<Json> manifest_objects(std::string_view name);

}  // namespace hindsight::doctor
