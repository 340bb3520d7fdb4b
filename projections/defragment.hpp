#pragma once

#include <optional>
#include <string>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "projections/json.hpp"
#include "projections/lookup.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::projections {

/// Which workloads to move so that there is room in one domain of a topology; nothing moves by itself.
struct DefragmentationPlan {
  /// Pods of one pod set that stand elsewhere afterwards.
  struct Move {
    std::string workload, pod_set;
    std::int64_t pods = 0;  ///< That have to start anew: all of the workload, for a gang goes on together.
    std::string from, to;   ///< "n1:4, n2:2": places that it gives up, and those that it gets.
  };
  std::string goal;         ///< What it is for.
  std::vector<Move> moves;  ///< In the order in which they can be made, one after the other, without anybody waiting.
  std::int64_t pods = 0;    ///< That start anew, of all moves.
  std::vector<std::string> gains;
  std::string places;  ///< Those that the waiting workload gets then; empty: it is for nobody.
};

/// Room for one that waits: the places that it would get, with as few pods as possible starting anew. Errors: it waits for something else,
/// or no moves of others would help.
[[nodiscard]] Result<DefragmentationPlan> make_room_for(const StateView& state, Symbol topology, const WorkloadAt& waiting);
/// One more domain of a level (empty: the one above the lowest) that nobody stands in. Errors: there is no such level, or no such domain
/// can be had by moving.
[[nodiscard]] Result<DefragmentationPlan> make_a_domain_free(const StateView& state, const Symbol& topology, const std::string& level);

[[nodiscard]] std::string to_text(const DefragmentationPlan& plan);
[[nodiscard]] Json to_json(const DefragmentationPlan& plan);

}  // namespace hindsight::projections
