#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "connectors/events/event_sender.hpp"
#include "events/log.hpp"
#include "projections/metrics.hpp"
#include "replay/past.hpp"

namespace hindsight::cli {

struct LiveProjectionsOptions {
  std::string domain = "default";
  projections::MetricsOptions metrics;
  connectors::EventSender* events = nullptr;  ///< Gets the Kubernetes Events of each decision (base-api §8.1); null: nobody does.
  std::function<void(const std::string&)> on_notice;
};

/// Who looks on while a domain runs: counts for /metrics, and tells Kubernetes Events. It folds the log a second time, on a thread and with
/// a state of its own, so that a slow reader never holds up a decision, and what it tells stands in the log (design rule 1).
class LiveProjections {
 public:
  /// What is in the log by now has happened before: it is folded, and neither counted nor told. `log` must outlive this.
  [[nodiscard]] static Result<std::unique_ptr<LiveProjections>> start(const events::Log& log, LiveProjectionsOptions options);
  ~LiveProjections();
  LiveProjections(const LiveProjections&) = delete;
  LiveProjections& operator=(const LiveProjections&) = delete;

  /// Calls back with the state of now; nothing is folded meanwhile. False: the log has not been folded yet, and nobody was called.
  bool look(const std::function<void(const admission::StateView&)>& reader) const;
  /// Prometheus text format; empty until the log has been folded once.
  [[nodiscard]] std::string metrics_text() const;

 private:
  LiveProjections(const events::Log& log, events::Position begin, LiveProjectionsOptions options);
  void follow(const std::stop_token& stop);
  [[nodiscard]] Result<void> fold_on(events::Position to);

  const events::Log& log_;
  const events::Position begin_;
  const LiveProjectionsOptions options_;
  projections::Metrics metrics_;
  mutable std::mutex mutex_;  ///< Guards all below.
  replay::Past past_;
  bool folded_ = false;
  std::jthread thread_;
};

}  // namespace hindsight::cli
