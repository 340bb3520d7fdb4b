#pragma once

#include <map>
#include <string>

namespace hindsight::cli {

/// Libraries by name, as the build found them: "OpenSSL" → "3.0.17".
[[nodiscard]] std::map<std::string, std::string> libraries_built_with();

/// Those of them that are shared and know their version, as they are in this process: an update of the machine changes them and not the
/// program.
[[nodiscard]] std::map<std::string, std::string> libraries_loaded();

/// "Release", or how else the build was configured.
[[nodiscard]] std::string build_type();

}  // namespace hindsight::cli
