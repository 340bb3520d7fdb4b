#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/output.hpp"
#include "connectors/event_recorder/event_correlator.hpp"
#include "projections/table.hpp"
#include "replay/past.hpp"

namespace hindsight::cli {

/// Which Kubernetes Events are wanted.
struct EventFilter {
  std::optional<std::string> namespace_;  ///< In which they lie; none: all.
  /// Of one object: `type` is null if of any.
  const connectors::ResourceType* type = nullptr;
  std::optional<std::string> object_namespace;
  std::string object_name;
};

/// Reads `--for KIND/NAME` or KIND/NAMESPACE/NAME into the filter. Errors: invalid, with the kinds that there are.
[[nodiscard]] Result<void> read_event_object(const std::string& text, EventFilter& filter);

/// The Kubernetes Events that follow from what a log holds (base-api §8.1), put together and counted as a live process does that writes
/// them. Those that a live process adds for what only it sees (a write that was refused, an object that cannot be read) are on no record.
class EventHistory {
 public:
  /// So many are kept, the newest; `left_out` counts the others.
  static constexpr std::size_t kept_max = 50'000;

  EventHistory(const events::Log& log, const std::string& domain, EventFilter filter, replay::Progress progress = {});
  ~EventHistory();

  /// Brings the state to `from`, of whose records none counts, or to where the log begins if that is later. Errors: those of Past.
  [[nodiscard]] Result<void> begin_behind(replay::Position from);
  /// Goes on up to `to`. Errors: those of Past.
  [[nodiscard]] Result<void> go_on(replay::Position to);

  /// What was seen, by the time of the last of equal ones.
  [[nodiscard]] std::vector<connectors::kubernetes::KubernetesEvent> events() const;
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  struct Seen {
    connectors::kubernetes::KubernetesEvent event;
    std::uint64_t order = 0;  ///< Of its first appearance.
  };
  void offer(connectors::kubernetes::KubernetesEvent event, Time now);
  void keep(connectors::kubernetes::KubernetesEvent event);
  [[nodiscard]] bool wants(const connectors::kubernetes::KubernetesEvent& event) const;
  void forget_the_oldest();

  const events::Log& log_;
  EventFilter filter_;
  replay::Past past_;
  connectors::EventCorrelator correlator_;
  std::map<std::string, Seen> seen_;  ///< By namespace and name of the Event.
  std::uint64_t seen_before_ = 0, left_out_ = 0;
  Time looked_;  ///< When the correlator was asked last for counts whose window has ended.
};

/// As `kubectl get events` prints them; `namespaces`: with a column for them.
[[nodiscard]] projections::Table events_table(const std::vector<connectors::kubernetes::KubernetesEvent>& events, bool namespaces);
/// In the shape of core/v1.
[[nodiscard]] Json event_object(const connectors::kubernetes::KubernetesEvent& event);

}  // namespace hindsight::cli
