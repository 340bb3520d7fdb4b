#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "events/trial.hpp"
#include "vocabulary/arena.hpp"

namespace hindsight::events {

/// What an event says, as a number: the same whenever the same would be decided about the same object. What changes from one look to the
/// next without another decision, messages with amounts and moments, is left out.
[[nodiscard]] std::uint64_t meaning_of(const Event& event);

/// The same of an admission: this queue with these flavors and counts, in whatever order they stand. Never 0.
[[nodiscard]] std::uint64_t meaning_of_admission(Text cluster_queue, List<PodSetAssignmentFacts> assignments);

/// What an observation shows that another controller decided about a Workload.
struct ForeignDecision {
  WorkloadRef workload;         ///< Views into the record.
  std::uint64_t admission = 0;  ///< It got its quota: `meaning_of_admission`. 0: it was evicted, or lost its quota.
};
/// What the record, which is not applied to the state yet, shows of such a decision; none: nothing.
[[nodiscard]] std::optional<ForeignDecision> foreign_decision(const RecordView& record, const admission::StateView& state);

/// What would be decided as things stand, and what of that has been noted: so that nothing is noted twice while it stands.
class Proposals {
 public:
  /// What is to be noted after one trial.
  struct News {
    std::vector<Event> events;           ///< Views into the trial.
    std::vector<WorkloadRef> withdrawn;  ///< Views into `memory`.
    std::shared_ptr<Arena> memory;
    [[nodiscard]] bool empty() const { return events.empty() && withdrawn.empty(); }
  };
  /// From now on what the trial came to stands. `state`: what it began with.
  [[nodiscard]] News take(const Trial& trial, const admission::StateView& state);
  /// A note that stands in the log, met while it is folded.
  void read(const DecisionsNoted& note);
  /// Nothing is known to be noted any more.
  void forget();

  /// Is the same among what stands?
  [[nodiscard]] bool foresees(const ForeignDecision& decision) const;

 private:
  struct Admission {
    std::string namespace_, name;
    std::uint64_t meaning = 0;
  };

  void stand(const Event& event);

  std::unordered_set<std::uint64_t> standing_;
  std::unordered_map<std::string, Admission> admits_;  ///< By uid of the Workload.
  std::unordered_set<std::string> evicts_;
};

/// The Workload of this uid; null: it is not there.
[[nodiscard]] const admission::WorkloadState* find_workload(const admission::StateView& state, Text uid);

}  // namespace hindsight::events
