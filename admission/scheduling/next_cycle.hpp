#pragma once

#include <cstddef>
#include <vector>

#include "admission/scheduling/cycle.hpp"

namespace hindsight::admission {

/// So many cycles are looked ahead,
inline constexpr std::size_t cycles_ahead = 3;
/// for which so many heads may have their turn, and those of one cycle more: a step is not to take many times as long as its own heads do.
/// What is undone behind that is undone.
inline constexpr std::size_t turns_ahead = 512;

/// Could a next cycle undo any of the admissions, as far as one sees without playing it?
[[nodiscard]] bool may_be_undone(const QuotaTree& tree, const std::vector<Outcome>& outcomes);

/// Withholds what the next cycles would undo (D14), where claims count. `heads`: those of a cycle; `outcomes`: what run_cycle made of them.
/// Returns what it makes of them then; a trace in the context follows that alone.
///
/// The next cycles are played: with what was admitted holding what it gets, and victims on their way out; of each queue with the workload
/// that is its head by then, as far as that is known (Head::next). An admission is withheld if it is preempted there, or if somebody else
/// of its queue is, who would not be without it: for one whose turn was before it in this cycle, or that had no turn yet, and that may
/// claim room. Then the cycle is run again, and so on until nothing is undone. The tree and the room are the same again on return.
[[nodiscard]] std::vector<Outcome> look_ahead(QuotaTree& tree, const std::vector<Head>& heads, std::vector<Outcome> outcomes,
                                              const CycleContext& context);

}  // namespace hindsight::admission
