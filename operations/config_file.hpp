#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "operations/configuration.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::operations {

struct ConfigurationOptions {
  /// Where the process runs, when the file does not say. Empty: the namespace of its service account, else "kueue-system".
  std::string own_namespace;
  /// The value of --feature-gates; excludes featureGates in the file (BA-28).
  std::optional<std::string> feature_gates;
};

/// Reads the controller's configuration file, YAML or JSON, of config.kueue.x-k8s.io/v1beta1 or v1beta2; the first is rewritten as the
/// second (base-api §4). Everything is judged, also what this process makes no use of (BA-27). Errors: not_found or io for the file;
/// invalid for what it says, one line each of at most ten: file, line, field, what was found, what is allowed.
[[nodiscard]] Result<Configuration> read_configuration_file(const std::string& path, const ConfigurationOptions& options = {});

/// The same for a text; `file` stands in errors.
[[nodiscard]] Result<Configuration> read_configuration(std::string_view text, const std::string& file,
                                                       const ConfigurationOptions& options = {});

/// What holds without a file.
[[nodiscard]] Result<Configuration> default_configuration(const ConfigurationOptions& options = {});

}  // namespace hindsight::operations
