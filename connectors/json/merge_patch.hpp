#pragma once

#include "connectors/json/json_value.hpp"

namespace hindsight::connectors {

/// The JSON merge patch (RFC 7396) that turns the object `from` into `to`; an empty object when they are equal. Lists are replaced as
/// a whole. A null inside an object of `to` that `from` does not have there cannot be written by a merge patch.
[[nodiscard]] Json merge_difference(const Json& from, const Json& to);

}  // namespace hindsight::connectors
