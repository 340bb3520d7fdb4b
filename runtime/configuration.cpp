#include "runtime/configuration.hpp"

#include "operations/logging.hpp"

namespace hindsight::runtime {

Result<operations::Configuration> run_configuration(const std::string& file, const std::string& feature_gates) {
  operations::ConfigurationOptions options;
  if (!feature_gates.empty()) options.feature_gates = feature_gates;
  auto configuration = file.empty() ? operations::default_configuration(options) : operations::read_configuration_file(file, options);
  if (!configuration) return configuration;
  for (const auto& warning : configuration->warnings) operations::log(operations::LogLevel::warning, warning);
  return configuration;
}

}  // namespace hindsight::runtime
