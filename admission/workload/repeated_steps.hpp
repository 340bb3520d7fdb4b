#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "admission/model/state_field.hpp"
#include "vocabulary/decisions.hpp"
#include "vocabulary/state_hash.hpp"

namespace hindsight::admission {

/// A hash over all that the events say. Equal events have equal hashes.
[[nodiscard]] std::uint64_t events_hash(const std::vector<Event>& events);

/// What one Workload parent decided about the life cycle since something happened to it that did not follow from that. A step that it
/// decided before leads nowhere: to record it once more would only lead back here, as often as one lets it. So it is not recorded, and the
/// parent rests until something happens (design rule 1: the log grows by what happens, not by itself).
///
/// What happens to a parent: an observation that shows something else than before, a refused write, an event of a scheduling cycle, a
/// change of the configuration. Time alone is nothing that happens: what a step says at another time differs where time matters.
///
/// Part of the state, and in snapshots. It is in no hash: of the records that led to a state it only remembers the last ones, and logs of
/// builds that did not have it keep their hashes.
class RepeatedSteps {
 public:
  /// However different they are, no parent needs so many steps without anything happening.
  static constexpr std::size_t steps_max = 128;

  /// An event of a recorded life-cycle step, in order. `sequence`: of its record. `base`: of the state that it was decided on. `configured`:
  /// sequence of the record that changed the configuration last. A step that was decided before what happened last says nothing about what
  /// followed from that, and is not kept.
  void applied(const Event& event, std::uint64_t sequence, std::uint64_t base, std::uint64_t configured);
  /// Something happened. `sequence`: of that record; 0: by rules that do not ask on what a step was decided (rules.hpp).
  void forget(std::uint64_t sequence);
  /// Would this step be one that was recorded before?
  [[nodiscard]] bool repeats(const std::vector<Event>& events, std::uint64_t configured) const;

  friend struct StateFields<RepeatedSteps>;

 private:
  std::uint64_t last_ = 0;            ///< Sequence of the record that the last of them stands in; without any, of what happened last.
  std::vector<std::uint64_t> steps_;  ///< Each once, but for the last one.
};

}  // namespace hindsight::admission
