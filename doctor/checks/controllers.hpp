#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "doctor/context.hpp"
#include "doctor/finding.hpp"

namespace hindsight::doctor {

/// A Lease by which copies of a controller of this API agree who acts.
struct LeaseFacts {
  std::string namespace_, name, holder;  ///< An empty holder: it was given away.
  std::int64_t duration_seconds = 15;
  Time renewed = Time::never();

  /// Somebody renews it.
  [[nodiscard]] bool is_held(Time now) const;
};

/// A Deployment of Kueue's controller.
struct KueueFacts {
  std::string namespace_, name;
  std::int64_t replicas = 0, ready = 0;
};

/// Somebody who wrote the status of Workloads lately.
struct WriterFacts {
  std::string manager;
  std::size_t objects = 0;
  std::string example;  ///< "default/wl"
  Time last = Time::never();
};

struct ControllersFacts {
  std::vector<LeaseFacts> leases;
  std::vector<KueueFacts> kueue;
  std::vector<WriterFacts> writers;
  Installation installation;
  Time now;
  std::string unknown;  ///< What could not be looked at; empty: nothing.
};

[[nodiscard]] Outcome judge_controllers(const ControllersFacts& facts, const Commands& commands);
[[nodiscard]] Outcome examine_controllers(Context& context);

/// The Leases of that name, in all namespaces. Errors: those of `list`.
[[nodiscard]] Result<std::vector<LeaseFacts>> read_leases(ClusterReader& cluster);

}  // namespace hindsight::doctor
