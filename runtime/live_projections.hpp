#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "connectors/event_recorder/event_sender.hpp"
#include "events/log.hpp"
#include "projections/metrics.hpp"
#include "replay/past.hpp"

namespace hindsight::runtime {

struct LiveProjectionsOptions {
  std::string domain = "default";
  /// What is in the log up to here has happened before: it is folded, and neither counted nor told. Nothing: up to where the log ends when
  /// it can be asked.
  std::optional<events::Position> begin;
  projections::MetricsOptions metrics;
  connectors::EventSender* events = nullptr;  ///< Gets the Kubernetes Events of each decision (base-api §8.1); null: nobody does.
  std::function<void(const std::string&)> on_notice;
};

/// Who looks on while a domain runs: counts for /metrics, and tells Kubernetes Events. It folds the log a second time, on a thread and with
/// a state of its own, so that a slow reader never holds up a decision, and what it tells stands in the log (design rule 1). A log that is
/// out of reach is waited for.
class LiveProjections {
 public:
  /// `log` must outlive this.
  LiveProjections(const events::Log& log, LiveProjectionsOptions options);
  ~LiveProjections();
  LiveProjections(const LiveProjections&) = delete;
  LiveProjections& operator=(const LiveProjections&) = delete;

  /// Calls back with the state of now; nothing is folded meanwhile. False: the log has not been folded yet, and nobody was called.
  bool look(const std::function<void(const admission::StateView&)>& reader) const;
  /// Prometheus text format; empty until the log has been folded once.
  [[nodiscard]] std::string metrics_text() const;
  /// To be added to those of other domains; nothing until the log has been folded once.
  [[nodiscard]] std::optional<projections::MetricsValues> metrics() const;

 private:
  void follow(const std::stop_token& stop);
  void see(const RecordView& record);
  [[nodiscard]] Result<void> fold_first();
  [[nodiscard]] Result<void> fold_on();
  [[nodiscard]] bool insist(const std::stop_token& stop, const std::function<Result<void>()>& work) const;

  const events::Log& log_;
  const LiveProjectionsOptions options_;
  projections::Metrics metrics_;
  std::optional<events::Position> begin_;  ///< Only on the thread, as the next.
  events::Position at_ = 0;
  std::atomic<bool> folded_ = false;  ///< Before that, who asks does not wait: the first fold can be long.
  mutable std::mutex mutex_;          ///< Guards the state below.
  replay::Past past_;
  std::jthread thread_;
};

}  // namespace hindsight::runtime
