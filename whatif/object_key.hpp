#pragma once

#include <optional>
#include <string>
#include <utility>

#include "vocabulary/observations.hpp"

namespace hindsight::whatif {

/// Kind and "namespace/name" of an object that a change may bring.
using ObjectKey = std::pair<ObjectKind, std::string>;

/// Nothing: it is about no such object. A deletion has the key of what is deleted.
[[nodiscard]] std::optional<ObjectKey> key_of(const Observation& o);
/// What --config brings: that of whoever takes the domain over later does not count then.
[[nodiscard]] const ObjectKey& configuration_key();

/// "namespace/name"; of what has no namespace "/name".
[[nodiscard]] std::string full(const ObjectMeta& meta);

}  // namespace hindsight::whatif
