#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/context.hpp"
#include "doctor/finding.hpp"

namespace hindsight::doctor {

struct ConfigurationFacts {
  std::string source;            ///< "config.yaml", "ConfigMap hindsight-system/hindsight-config"
  std::string edit;              ///< The command that changes it.
  std::optional<Error> refused;  ///< `run` would not start with it.
  std::vector<std::string> warnings;
  std::vector<std::string> gates;  ///< Those that are otherwise than by default: "ConcurrentAdmission=true".
  std::string namespace_;          ///< What it says.
  bool other_namespace = false;    ///< Than where it is installed.
  std::string installed_in;
  std::string other_file;  ///< The file that was named and the ConfigMap differ: the name of the ConfigMap.
};

[[nodiscard]] Outcome judge_configuration(const ConfigurationFacts& facts);
[[nodiscard]] Outcome examine_configuration(Context& context);

}  // namespace hindsight::doctor
