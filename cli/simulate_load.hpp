#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "connectors/manifests/manifest_reader.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::cli {

/// Options of `hindsight simulate` for jobs that no manifest writes down.
struct LoadOptions {
  std::string generate, trace, trace_format = "auto", trace_queue = "partition", namespace_ = "default";
  bool trace_priorities = false;
};

void add_load_options(CLI::App& command, LoadOptions& options);

/// Adds the jobs that the options ask for to the manifests. Returns what people should know of them. Errors: invalid (options that do not
/// go together, a file that cannot be read as what it should be), io.
[[nodiscard]] Result<std::vector<std::string>> add_load(const LoadOptions& options, connectors::manifests::Input& input);

}  // namespace hindsight::cli
