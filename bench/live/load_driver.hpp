#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/generator/generator.hpp"
#include "bench/live/write_tally.hpp"
#include "connectors/kubernetes/kubernetes_cluster.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::bench {

/// What a live run came to.
struct LiveOutcome {
  Duration makespan;         ///< From the first creation to the last end.
  std::vector<Waits> waits;  ///< By class: from creation to the admission that lasted.
  WriteTally writes;
  std::size_t conflicts = 0;  ///< Writes of the owner that came too late.
};

/// Plays everybody but the controller against a real API server: creates the Workloads of an input when they are due, watches them,
/// finishes each its run time after it was seen admitted, and clears the reservation of one that was seen evicted.
class LoadDriver {
 public:
  struct Options {
    std::size_t creations_in_flight = 32;
    std::chrono::seconds stall_time{120};  ///< Nothing finished for so long: give up.
    /// The owner has one write under way at a time, one of an evicted Workload first, and ends Workloads by server-side apply: as the one
    /// process does that plays it in Kueue's own test of performance. Else it writes what is due when it is due.
    bool serial_owner = false;
  };

  LoadDriver(connectors::kubernetes::KubernetesCluster& cluster, const Generator& generator, Options options);

  /// Plays to the end. Errors: unavailable when nothing moves any more; what the API server refused.
  [[nodiscard]] Result<LiveOutcome> run();

 private:
  using Clock = std::chrono::steady_clock;

  /// One Workload and what its owner is about to write.
  struct Item {
    Clock::time_point created;
    Clock::time_point admitted;
    SeenWorkload seen;
    std::uint32_t runs = 0;  ///< How often it was started; a timer of an older run means nothing.
    bool running = false;
    bool time_is_over = false;
    bool writing = false;
    bool queued = false;  ///< With serial_owner: in one of the queues.
  };

  void on_event(const connectors::WatchEvent& event);
  void create_what_is_due();
  void react(std::uint32_t number);
  void start(std::uint32_t number);
  void write_as_owner(std::uint32_t number);
  void write_next();
  void send_as_owner(std::uint32_t number);
  /// `over`: the text of the Workload that the write was made from.
  void answered(std::uint32_t number, const connectors::kubernetes::MirrorStore::Text& over, const connectors::WriteAnswer& answer);
  void take_answer(std::uint32_t number, const connectors::kubernetes::MirrorStore::Text& over, const connectors::WriteAnswer& answer);
  void watch_for_stalls();
  void finish(Result<LiveOutcome> outcome);
  [[nodiscard]] std::string name(std::uint32_t number) const;

  connectors::kubernetes::KubernetesCluster& cluster_;
  const Generator& generator_;
  Options options_;
  std::vector<Arrival> arrivals_;
  std::vector<Item> items_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  ///< By name.
  Arena arena_;
  LiveOutcome outcome_;
  Clock::time_point began_;
  std::size_t next_ = 0;  ///< Arrival.
  std::size_t creations_in_flight_ = 0;
  std::size_t ended_ = 0, ended_at_last_look_ = 0;
  std::deque<std::uint32_t> evicted_, others_;  ///< With serial_owner: numbers of those that wait for their write.
  bool owner_writes_ = false;                   ///< With serial_owner: one is under way.
  bool timer_set_ = false, over_ = false;
  std::promise<Result<LiveOutcome>> promise_;
};

}  // namespace hindsight::bench
