#pragma once

#include <string>

#include "doctor/checks/log.hpp"

namespace hindsight::doctor {

/// Looks at the file system on which a file lies, and writes 4 KiB beside it once, into a file without a name, to see how long that takes.
/// What cannot be known stays unknown.
[[nodiscard]] DiskFacts look_at_disk(const std::string& file);

}  // namespace hindsight::doctor
