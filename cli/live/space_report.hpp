#pragma once

#include <string>

#include "events/log.hpp"
#include "operations/health.hpp"

namespace hindsight::cli {

/// What a process says of the room that its log has. For /readyz: holds as long as the log takes records, and tells in time that it will
/// not.
[[nodiscard]] operations::HealthCondition space_condition(const events::LogSpace& space);

/// In the Prometheus text format.
[[nodiscard]] std::string space_metrics(const events::LogSpace& space);

/// The value of --log-limit, a quantity as Kubernetes writes it, in bytes; 0: none was given. Errors: invalid.
[[nodiscard]] Result<std::uint64_t> parse_log_limit(const std::string& text);

}  // namespace hindsight::cli
