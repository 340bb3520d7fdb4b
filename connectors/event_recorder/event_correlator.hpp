#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "connectors/kubernetes/kubernetes_event.hpp"

namespace hindsight::connectors {

struct EventCorrelatorOptions {
  Duration window = Duration::seconds(60);         ///< Equal events within it become one change of a count, at its end.
  Duration forget_after = Duration::seconds(600);  ///< An event that comes after such a silence is a new one.
  std::size_t remembered_max = 4096;               ///< Different events; the one that was silent longest is forgotten first.
};

/// Puts equal events together: the first is shown at once, what follows within the window is counted and shown at its end as the
/// new count of the same Event. Equal: object, type, reason, message and reporter. No clock: the caller says what time it is.
class EventCorrelator {
 public:
  using KubernetesEvent = kubernetes::KubernetesEvent;

  explicit EventCorrelator(EventCorrelatorOptions options = {}) : options_(options) {}

  /// The event to be shown now, if any.
  [[nodiscard]] std::optional<KubernetesEvent> offer(KubernetesEvent event, Time now);
  /// Counts whose window has ended. Forgets what was silent for long.
  [[nodiscard]] std::vector<KubernetesEvent> due(Time now);

  [[nodiscard]] std::size_t remembered() const { return entries_.size(); }
  /// Events that were counted instead of shown.
  [[nodiscard]] std::uint64_t merged() const { return merged_; }

 private:
  struct Entry {
    KubernetesEvent event;  ///< With all that was counted.
    std::int32_t shown = 0;
    Time window_end;
    std::list<std::string>::iterator place;
  };
  using Entries = std::map<std::string, Entry>;

  KubernetesEvent show(Entry& entry, Time now) const;
  void forget(Entries::iterator it);

  EventCorrelatorOptions options_;
  Entries entries_;                        ///< By key.
  std::list<std::string> by_silence_;      ///< Keys, the longest silent first.
  std::vector<KubernetesEvent> leftover_;  ///< Counts of entries that were pushed out.
  std::uint64_t merged_ = 0;
};

}  // namespace hindsight::connectors
