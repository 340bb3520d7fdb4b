#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "events/log.hpp"
#include "operations/health.hpp"
#include "runtime/metrics_text.hpp"

namespace hindsight::runtime {

/// What a process says of the room that its log has. For /readyz: holds as long as the log takes records, and tells in time that it will
/// not.
[[nodiscard]] operations::HealthCondition space_condition(const events::LogSpace& space);

/// Looks again and again at the room that a log has, on a thread of its own: whoever wants to know it does not wait for a disk.
/// Thread-safe.
class SpaceWatch {
 public:
  using Look = std::function<Result<std::optional<events::LogSpace>>()>;
  using Now = std::function<std::chrono::steady_clock::time_point()>;

  /// Looks once before it returns.
  explicit SpaceWatch(Look look, std::chrono::milliseconds pause = std::chrono::milliseconds(100),
                      Now now = &std::chrono::steady_clock::now);
  /// Waits for a look that is under way.
  ~SpaceWatch();
  SpaceWatch(const SpaceWatch&) = delete;
  SpaceWatch& operator=(const SpaceWatch&) = delete;

  /// As it was seen last; nothing: the log cannot say.
  [[nodiscard]] std::optional<events::LogSpace> latest() const;
  /// For /readyz: `space_condition` of that, and that it does not hold when the disk has not answered for a while.
  [[nodiscard]] std::optional<operations::HealthCondition> condition() const;

 private:
  void watch(const std::stop_token& stop);
  void look_once();

  const Look look_;
  const std::chrono::milliseconds pause_;
  const Now now_;
  mutable std::mutex mutex_;  ///< Guards all below but the thread. Not held during a look.
  std::condition_variable_any never_;
  std::optional<events::LogSpace> latest_;
  std::optional<std::chrono::steady_clock::time_point> looks_since_;  ///< Nothing: no look is under way.
  std::jthread thread_;
};

/// In the Prometheus text format.
void add_space_metrics(MetricsText& out, const events::LogSpace& space);

/// The value of --log-limit, a quantity as Kubernetes writes it, in bytes; 0: none was given. Errors: invalid.
[[nodiscard]] Result<std::uint64_t> parse_log_limit(const std::string& text);

}  // namespace hindsight::runtime
