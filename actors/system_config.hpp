#pragma once

#include <cstddef>

#include <caf/actor_system_config.hpp>

namespace hindsight::actors {

enum class SchedulerPolicy {
  sharing,   ///< One queue for all workers: a message wakes a sleeping worker at once.
  stealing,  ///< A queue a worker, cheaper under load, but an idle worker may sleep up to ten milliseconds.
  testing,   ///< No threads: a test picks who runs next.
};

/// CAF's settings; none come from files or the command line.
class SystemConfig : public caf::actor_system_config {
 public:
  /// `threads` 0: one a core.
  SystemConfig(SchedulerPolicy policy, std::size_t threads);
};

}  // namespace hindsight::actors
