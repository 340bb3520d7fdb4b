#pragma once

#include <string_view>

#include "connectors/manifests/schema.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors::manifests {

/// Objects and lists may be nested this deep at most; the API server refuses less.
inline constexpr int max_depth = 100;

/// JSON text as a tree. Errors: invalid, for bad syntax, bad UTF-8, a member that stands twice, nesting beyond max_depth.
[[nodiscard]] Result<Json> parse_json(std::string_view text);

}  // namespace hindsight::connectors::manifests
