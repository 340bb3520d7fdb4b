#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
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

/// Where the answers come from. Called on the server's threads, several at the same time; they must not block. Should one do so all the
/// same, /healthz is answered: it waits for no other path (HttpHaste).
struct HealthSources {
  std::function<std::vector<HealthCondition>()> alive;  ///< /healthz; empty: alive as long as the server answers.
  std::function<std::vector<HealthCondition>()> ready;  ///< /readyz; empty: never ready.
  std::function<std::string()> metrics;                 ///< /metrics, the Prometheus text format; empty: there is no such path.
};

/// A text that is expensive to make, for whoever asks: it is made by one at a time, and who asks meanwhile, or within `fresh` after that,
/// gets the same one. Thread-safe.
class SharedText {
 public:
  explicit SharedText(std::function<std::string()> make, std::chrono::milliseconds fresh = std::chrono::seconds(1))
      : make_(std::move(make)), fresh_(fresh) {}

  [[nodiscard]] std::shared_ptr<const std::string> get();

 private:
  const std::function<std::string()> make_;
  const std::chrono::milliseconds fresh_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool making_ = false;
  std::shared_ptr<const std::string> text_;
  std::chrono::steady_clock::time_point made_;
};

/// The answer of /metrics to GET: text/plain; version=0.0.4.
[[nodiscard]] HttpHandler metrics_handler(std::function<std::string()> metrics);

/// Adds GET /healthz and /readyz, as below, and nothing else.
void add_probe_routes(HttpRoutes& routes, const HealthSources& sources);

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
