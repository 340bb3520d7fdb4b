#pragma once

#include <cstdint>
#include <string>

#include "connectors/cluster.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::connectors::kubernetes {

/// Something that happened to an object, for `kubectl describe` and `kubectl get events` (core/v1 Event).
struct KubernetesEvent {
  const ResourceType* type = nullptr;  ///< Of the object that it is about.
  std::string namespace_;              ///< Empty for cluster-scoped ones, whose events lie in "default".
  std::string name;
  std::string uid;
  std::string resource_version;  ///< May be empty.
  bool is_warning = false;
  std::string reason;   ///< "QuotaReserved"
  std::string action;   ///< What was done to the object, "Replaced"; empty where the reason says it all. It follows from the reason.
  std::string message;  ///< Longer ones than limits::event_message are cut (BA-21).
  std::string component = "hindsight";  ///< Who reports.
  Time first;                           ///< Of `count` equal events, which the caller has put together.
  Time last;
  std::int32_t count = 1;
};

/// The write that shows the event: a creation for the first, a patch of the same Event (equal object, reason, message and
/// first time) for a later count. Meant for KubernetesCluster::submit_best_effort.
[[nodiscard]] Write event_write(const KubernetesEvent& event);

}  // namespace hindsight::connectors::kubernetes
