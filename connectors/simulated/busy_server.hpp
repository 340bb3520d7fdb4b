#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "connectors/simulated/simulated_cluster.hpp"

namespace hindsight::connectors::simulated {

/// How fast an API server takes the writes of a controller.
struct ServerPace {
  Duration write;               ///< What each takes; 0: nothing, and any number goes at a time.
  std::uint32_t at_a_time = 4;  ///< So many are carried out beside each other, at least 1; the others wait for their turn.
};

/// The way of a controller to a simulated cluster that takes its time. A write is carried out, and answered, at the end of the time that it
/// takes. Whoever else uses the cluster goes past it. The answers come from `run_due`.
class BusyServer final : public Cluster {
 public:
  BusyServer(SimulatedCluster& cluster, ServerPace pace) : cluster_(cluster), pace_(pace) {}

  void submit(Write write, std::function<void(WriteAnswer)> done) override;
  /// As many wait as are carried out, as on a cluster (KubernetesCluster::writes_at_once).
  [[nodiscard]] std::size_t writes_at_once() const override { return std::size_t{2} * pace_.at_a_time; }
  [[nodiscard]] std::uint32_t write_limit() const override { return pace_.at_a_time; }

  /// When the next write is answered; never: none is under way.
  [[nodiscard]] Time next_due() const { return under_way_.empty() ? Time::never() : under_way_.front().ends; }
  /// Carries out what is to be answered by now, by the cluster's time.
  void run_due();

 private:
  struct Request {
    Write write;
    std::function<void(WriteAnswer)> done;
    Time ends;
  };
  void begin_next();

  SimulatedCluster& cluster_;
  const ServerPace pace_;
  std::deque<Request> under_way_;  ///< In the order in which they end, since each takes the same time.
  std::deque<Request> waiting_;
};

}  // namespace hindsight::connectors::simulated
