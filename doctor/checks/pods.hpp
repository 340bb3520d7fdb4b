#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "doctor/context.hpp"
#include "doctor/finding.hpp"

namespace hindsight::doctor {

/// One pod of the Deployment.
struct PodFacts {
  std::string name, phase;
  std::string unscheduled;               ///< Why it has no node; empty: it has one.
  std::string waiting, waiting_message;  ///< Why its container does not run: "ImagePullBackOff".
  std::string image;
  std::int64_t restarts = 0;
  std::string last_end;  ///< Reason of the last end: "OOMKilled", "Error".
  std::int64_t last_exit = 0;
  bool ready = false;
};

/// A claim that the pod mounts.
struct ClaimFacts {
  std::string name, phase, storage_class;
  bool there = true;
};

struct PodsFacts {
  Installation installation;
  std::vector<PodFacts> pods;
  std::vector<ClaimFacts> claims;
  std::string memory_limit;  ///< Of the container; empty: none.
  std::string failure;       ///< Condition ReplicaFailure of the Deployment.
  std::string selector;      ///< Of its pods, for kubectl.
};

[[nodiscard]] Outcome judge_pods(const PodsFacts& facts, const Commands& commands);
[[nodiscard]] Outcome examine_pods(Context& context);

/// A quantity of memory, twice as large; what cannot be read stays as it is.
[[nodiscard]] std::string twice(const std::string& quantity);

}  // namespace hindsight::doctor
