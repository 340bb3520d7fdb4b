#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "projections/scratch_tree.hpp"
#include "vocabulary/arena.hpp"

namespace hindsight::projections {

/// What plays begin with: a state, and how its configuration is read.
struct Stage {
  std::vector<std::byte> snapshot;
  admission::Domain::SettingsReader read_settings;
  /// Of all who ask on this stage, an explanation of a family and all of its Options for instance.
  mutable int played = 0;

  /// The state of a log.
  [[nodiscard]] static Stage of(const admission::LoopDriver& state);
};

/// What would come of a change: a copy of the state in which the change is made and everything is decided that follows, with everybody who
/// waits, until nothing is left to decide. The state that it was copied from knows nothing of it.
///
/// The world answers at once: whoever is evicted gives its quota back and waits again, and pods of who is admitted are ready. Nobody who
/// runs comes to an end, and nobody new comes.
class Play {
 public:
  explicit Play(const Stage& stage);

  /// Limits become others; those that are not named stay.
  void change(const std::vector<QuotaEdit>& edits);
  /// Its Workloads may preempt others.
  void change(Symbol cluster_queue, const PolicyEdit& policy);
  /// The ClusterQueue is not stopped any more.
  void resume(Symbol cluster_queue);
  /// The job of this Workload ends, with all that belongs to it.
  void end(std::string_view workload_uid);

  /// Somebody who is given quota, once for each time.
  struct Start {
    std::string namespace_, name, uid;
    std::string family;                                                 ///< Of an Option: uid of its Parent.
    std::vector<std::pair<std::pair<Symbol, Symbol>, Amount>> amounts;  ///< (flavor, resource) → amount.
  };
  struct Outcome {
    bool starts = false;               ///< The Workload is given quota, and keeps it to the end.
    std::vector<Start> before;         ///< Others who are given quota before it; if it does not start, all who are.
    std::vector<Start> after;          ///< Others, in the same step or later.
    std::vector<std::string> evicted;  ///< "namespace/name" of who loses it.
    bool at_rest = true;               ///< False: there was more to decide than was looked at.
  };
  /// What comes of it for this Workload. Timers fire that are due within two seconds of the moment, or of the end of its back-off.
  [[nodiscard]] Outcome run(std::string_view workload_uid);

 private:
  void append(Body body);
  void answer(const Decisions& step);
  void note(const Decisions& step, std::string_view uid, Outcome& out) const;
  [[nodiscard]] const admission::WorkloadState* find(std::string_view uid) const;
  void clear(const admission::WorkloadState& w, std::vector<Event>& events);

  admission::LoopDriver driver_;
  Arena arena_;
  Time now_;
};

}  // namespace hindsight::projections
