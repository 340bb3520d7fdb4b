#pragma once

#include <cstddef>

#include <caf/actor_system_config.hpp>

namespace hindsight::actors {

enum class SchedulerPolicy {
  batching,  ///< BatchSharing: a thread for each core.
  testing,   ///< No threads: a test picks who runs next.
};

/// CAF's settings; none come from files or the command line.
class SystemConfig : public caf::actor_system_config {
 public:
  /// `threads` 0: one a core.
  SystemConfig(SchedulerPolicy policy, std::size_t threads);
};

}  // namespace hindsight::actors
