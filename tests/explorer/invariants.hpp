#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::explorer {

/// What must hold after every record, whatever happened. Keeps what it saw last, for "no decision makes it worse" can be said only of two
/// states.
class Invariants {
 public:
  /// Empty: all hold. Otherwise one sentence that names the objects.
  [[nodiscard]] std::string check(const admission::StateView& state, const RecordView& record);

 private:
  /// A flavor and resource of a ClusterQueue or Cohort.
  struct Cell {
    std::array<std::uint32_t, 4> of{};  ///< 1: of a Cohort; numbers of the names of the node, flavor and resource.
    Amount usage = 0;
    Amount over = 0;  ///< By how much usage exceeds what the node can have at most.
  };
  std::vector<Cell> cells_;    ///< Sorted by `of`.
  std::uint64_t changed_ = 0;  ///< Last record that was no decision and changed quota, or put usage up.
};

}  // namespace hindsight::explorer
