#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

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
  using Cell = std::string;      ///< tree/node/flavor/resource
  std::map<Cell, Amount> over_;  ///< By how much usage exceeds what the node can have at most.
  std::map<Cell, Amount> usage_;
  std::uint64_t changed_ = 0;  ///< Last record that was no decision and changed quota, or put usage up.
};

}  // namespace hindsight::explorer
