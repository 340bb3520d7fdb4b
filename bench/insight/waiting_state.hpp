#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "admission/domain/loop_driver.hpp"

namespace hindsight::bench {

/// How many wait, and in how many trees of cohorts their 100 ClusterQueues stand: 100 is each by itself, 1 is one cohort of all.
struct WaitingShape {
  std::size_t waiting = 20'000;
  std::size_t trees = 100;
};
inline constexpr std::size_t waiting_queues = 100;

/// A state at rest in which all quota is used, by ten Workloads in each ClusterQueue, and so many others wait, of 16 sizes and 3
/// priorities.
[[nodiscard]] std::unique_ptr<admission::LoopDriver> waiting_state(const WaitingShape& shape);
/// Name of one that waits, in namespace "default", of so many.
[[nodiscard]] std::string waiting_name(std::size_t i);

}  // namespace hindsight::bench
