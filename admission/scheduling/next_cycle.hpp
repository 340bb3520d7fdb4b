#pragma once

#include <cstddef>
#include <vector>

#include "admission/scheduling/cycle.hpp"

namespace hindsight::admission {

/// So many cycles are looked ahead.
inline constexpr std::size_t cycles_ahead = 3;

/// Could a next cycle undo any of the admissions, as far as one sees without playing it?
[[nodiscard]] bool may_be_undone(const QuotaTree& tree, const std::vector<Outcome>& outcomes);

/// Which admissions of a cycle the next ones would undo (D14).
///
/// These are played, until one undoes any: with what was admitted holding what it gets, and victims on their way out; of each queue with
/// the workload that is its head by then, as far as that is known (Head::next). An admission counts if it is preempted there for one whose
/// turn was before it in this cycle, or that had no turn yet, and that may claim room. `heads`: those of this cycle; `outcomes`: what came
/// of them. The tree and the room are the same again on return.
[[nodiscard]] std::vector<Withheld> undone_by_next_cycles(QuotaTree& tree, std::vector<Head> heads, const std::vector<Outcome>& outcomes,
                                                          const CycleContext& context);

}  // namespace hindsight::admission
