#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "connectors/kubernetes/auth/connection.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::bench {

/// So many users create Jobs, each with a connection of its own and one request at a time.
inline constexpr std::size_t job_creators = 8;

struct JobCreation {
  std::chrono::steady_clock::time_point sent;
  std::string answer;  ///< The Job as the API server has it.
};

/// Creates all Jobs of the load, as fast as the server takes them; by number. Errors: of the connection, and what the API server refused.
[[nodiscard]] Result<std::vector<JobCreation>> create_jobs(const connectors::kubernetes::Connection& connection, std::size_t count);

}  // namespace hindsight::bench
