#pragma once

#include <cstdint>
#include <string>

#include "connectors/cluster.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors::kubernetes {

/// Longer messages are cut and end in " ..." (base-api §1).
inline constexpr std::size_t event_message_bytes_max = 1024;

/// Something that happened to an object, for `kubectl describe` and `kubectl get events` (core/v1 Event).
struct KubernetesEvent {
  const ResourceType* type = nullptr;  ///< Of the object that it is about.
  std::string namespace_;              ///< Empty for cluster-scoped ones, whose events lie in "default".
  std::string name;
  std::string uid;
  std::string resource_version;  ///< May be empty.
  bool is_warning = false;
  std::string reason;  ///< "QuotaReserved"
  std::string action;  ///< What was done to the object, "Replaced"; empty where the reason says it all. It follows from the reason.
  std::string message;
  std::string component = "hindsight";  ///< Who reports.
  Time first;                           ///< Of `count` equal events, which the caller has put together.
  Time last;
  std::int32_t count = 1;
};

/// The write that shows the event: a creation for the first, a patch of the same Event (equal object, reason, message and
/// first time) for a later count. Meant for KubernetesCluster::submit_best_effort.
[[nodiscard]] Write event_write(const KubernetesEvent& event);

/// The text, cut to `bytes_max` bytes at the border of a character, with " ..." at its end if it was cut.
[[nodiscard]] std::string cut_message(const std::string& text, std::size_t bytes_max);

}  // namespace hindsight::connectors::kubernetes
