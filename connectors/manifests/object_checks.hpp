#pragma once

#include <string_view>
#include <vector>

#include "connectors/manifests/kinds.hpp"

namespace hindsight::connectors::manifests {

/// Reads apiVersion and kind; an object of an older version that is known is rewritten. nullptr with problems: not one of ours.
const Kind* check_identity(Json& object, std::vector<Problem>& problems);

/// Name and namespace: there, and of the right form. Puts "default" where a namespace is missing, and takes away that of a kind
/// that has none when it is empty.
void check_metadata(const Kind& kind, Json& object, std::vector<Problem>& problems);

/// Every quantity is at least 0 and can be counted in 64 bits.
void check_amounts(const Schema& schema, const Json& value, std::string_view path, std::vector<Problem>& problems);

}  // namespace hindsight::connectors::manifests
