#pragma once

#include <string>

#include "cli/past_options.hpp"
#include "projections/why_queue.hpp"

namespace hindsight::cli {

/// What `hindsight why clusterqueue/NAME` prints, as text, json or yaml.
[[nodiscard]] Result<int> print_queue_reasons(const Session& session, const PastOptions& past, const projections::QueueTarget& target,
                                              const std::string& format);

}  // namespace hindsight::cli
