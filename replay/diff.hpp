#pragma once

#include <string>
#include <vector>

#include "replay/picture.hpp"

namespace hindsight::replay {

struct FieldChange {
  std::string field;
  std::string before, after;  ///< Empty: it was not there, or is not there any more.
};

struct ObjectChange {
  enum class Kind { appeared, gone, changed };
  ObjectName object;
  Kind kind = Kind::changed;
  std::vector<FieldChange> fields;  ///< Of an object that appeared or went: all that it has or had.
};

/// What it takes to get from one state to the other, sorted by kind, namespace and name. An object that was deleted and made again
/// under the same name shows as changed, its uid among the fields.
[[nodiscard]] std::vector<ObjectChange> diff(const Picture& before, const Picture& after);

}  // namespace hindsight::replay
