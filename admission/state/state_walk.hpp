#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "admission/domain/entities.hpp"

namespace hindsight::admission {

/// A hash over every field that is state (state_fields.hpp), of a domain between two records: the same in each process, on every machine
/// and before and after a snapshot, whatever numbers rows have and however tables are laid out. A field that holds what it holds when it is
/// made adds nothing, so that a new field leaves the hashes of older states alone.
///
/// Entities::state_hash, which every snapshot names, covers less and is kept as it is for the logs that were hashed with it.
[[nodiscard]] std::uint64_t whole_hash(const Entities& entities);

enum class StateDepth {
  state,    ///< What whole_hash covers.
  outcomes  ///< And what decisions read of what follows from it: the order of queues, what is charged, what is available.
};

/// The same as text: a line for each field that does not hold what it holds when it is made, "queue q / generation: 7", always in the same
/// order. For comparing two states, of this build or of another one.
[[nodiscard]] std::string state_text(const Entities& entities, StateDepth depth = StateDepth::state);

/// Where two states differ.
struct StateDifference {
  std::string field;       ///< "parent 5f0c… / workloads[0] / generation"
  std::string one, other;  ///< What it holds; empty: there is nothing.
};
/// The first line of their texts in which they differ; nothing: whole_hash is the same, too.
[[nodiscard]] std::optional<StateDifference> first_difference(const Entities& one, const Entities& other);

}  // namespace hindsight::admission
