#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "connectors/cluster.hpp"
#include "connectors/event_recorder/event_correlator.hpp"

namespace hindsight::connectors {

struct EventSenderOptions {
  EventCorrelatorOptions correlator;
  std::size_t waiting_max = 1000;  ///< Events beyond this push out the oldest.
  std::size_t in_flight_max = 1;   ///< Writes at the same time: one is plenty for a calm server, and on a busy one a small share.
  std::uint32_t per_second = 50;   ///< Writes a second on average; a tenth of what one API server takes. 0: no limit.
  std::uint32_t burst = 100;       ///< And so many at once after a rest.
  /// An API server that takes longer than this for a write is busy: three times as long as that write took none follows, so that events
  /// are a small share of what it does however slow it is.
  std::chrono::milliseconds busy_from{50};
  std::chrono::milliseconds longest_rest{5000};  ///< One that was away for minutes may be well now.
  std::function<std::chrono::steady_clock::time_point()> clock = std::chrono::steady_clock::now;
};

struct EventSenderStatistics {
  std::uint64_t offered = 0;
  std::uint64_t merged = 0;   ///< Counted with an equal one.
  std::uint64_t sent = 0;     ///< Accepted by the API server.
  std::uint64_t failed = 0;   ///< Refused, or not answered; they are not tried again.
  std::uint64_t dropped = 0;  ///< Pushed out while they waited.
  std::size_t waiting = 0;
};

/// Writes Kubernetes Events, best effort: it never waits for the API server and never tries twice, and work on admission does not wait for
/// it. Functions may be called from any thread.
class EventSender {
 public:
  /// As Cluster::submit.
  using Submit = std::function<void(Write, std::function<void(WriteAnswer)>)>;

  explicit EventSender(Submit submit, EventSenderOptions options = {});
  /// `cluster` must outlive this; answers may come later.
  explicit EventSender(Cluster& cluster, EventSenderOptions options = {});
  ~EventSender();
  EventSender(const EventSender&) = delete;
  EventSender& operator=(const EventSender&) = delete;

  /// Takes events; `now` is wall time and must not go back.
  void offer(std::vector<kubernetes::KubernetesEvent> events, Time now);
  /// Shows counts whose window has ended, and goes on when the rate allows. Called now and then; a second apart is fine.
  void tick(Time now);
  /// Calls tick() every second from a thread of its own, until this is destroyed.
  void start_ticking();

  [[nodiscard]] EventSenderStatistics statistics() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::jthread ticker_;
};

}  // namespace hindsight::connectors
