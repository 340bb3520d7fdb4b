#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "projections/lookup.hpp"
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
  /// Of it the trees of cohorts that concern a Workload: what comes of a change is the same for it, and a play copies no more than these.
  /// Where the trees of a state depend on each other it is the whole state. The Workload is one of this state.
  [[nodiscard]] static Stage of_tree(const admission::LoopDriver& state, const WorkloadAt& at);
};

/// What a Workload might ask for instead, and its job with it; what has no value stays.
struct AskEdit {
  std::string pod_set;  ///< Of this one: `count`, `min_count` and `topology`.
  std::optional<std::int32_t> count, min_count;
  std::optional<admission::TopologyRequest> topology;  ///< Also of the pod sets of its group.
  std::optional<std::int32_t> priority;                ///< That of a WorkloadPriorityClass, which is made where there is none.
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
  void change(const Symbol& cluster_queue, const PolicyEdit& policy);
  /// The Workload asks for something else, with all of its family, as if somebody had changed its job.
  void change(std::string_view workload_uid, const AskEdit& ask);
  /// The ClusterQueue is not stopped any more.
  void resume(const Symbol& cluster_queue);
  /// Nor is the LocalQueue.
  void resume(const Symbol& namespace_, const Symbol& local_queue);
  /// There are so many more nodes like this one, with nothing on them.
  void add_nodes(const admission::NodeConfig& like, std::int32_t count);
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
  [[nodiscard]] bool are_one_family(std::string_view a, std::string_view b) const;
  void clear(const admission::WorkloadState& w, std::vector<Event>& events);
  void answer_families(const Decisions& step);
  [[nodiscard]] Text class_of(std::int32_t priority);

  admission::LoopDriver driver_;
  Arena arena_;
  Time now_;
};

}  // namespace hindsight::projections
