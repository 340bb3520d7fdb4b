#pragma once

#include <functional>
#include <string>
#include <vector>

#include "operations/http.hpp"

namespace hindsight::operations {

/// One of the things that must hold for the process to be well or ready.
struct HealthCondition {
  std::string name;  ///< "log", "mirror", "lease".
  bool ok = false;
  std::string detail;  ///< For people: "caught up at 4711", "standby", "waits for Node".
};

/// Where the answers come from. Called on the server's threads, several at the same time; they must not block.
struct HealthSources {
  std::function<std::vector<HealthCondition>()> alive;  ///< /healthz; empty: alive as long as the server answers.
  std::function<std::vector<HealthCondition>()> ready;  ///< /readyz; empty: never ready.
  std::function<std::string()> metrics;                 ///< /metrics, the Prometheus text format; empty: there is no such path.
};

/// Adds
///
///     GET /healthz, /readyz   200 when all conditions hold, else 503; {"status":"ready","conditions":[{"name":…,"ok":…,"detail":…}]}
///     GET /metrics            text/plain; version=0.0.4
///     GET /log-level          {"level":"info"}
///     PUT /log-level          the level as plain text, as {"level":"debug"}, or as ?level=debug; from
///                             this machine only
///     GET /                   the paths that there are
///
/// Call it last: / lists what was added before.
void add_operational_routes(HttpRoutes& routes, HealthSources sources);

}  // namespace hindsight::operations
