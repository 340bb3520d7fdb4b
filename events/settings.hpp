#pragma once

#include <string_view>

#include "admission/model/catalog.hpp"
#include "vocabulary/result.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::events {

/// The most that hindsight.messageInterval may be (docs/operations.md); 0 is allowed. No decision reads it: it is judged here for
/// scenarios, whose configuration nobody else reads.
inline constexpr Duration message_interval_max = Duration::seconds(600);

/// Reads the controller's configuration (kind Configuration of base-api §11, as JSON) into what decisions depend on. Sections that
/// decisions do not read (webhook, metrics, leaderElection, ...) are accepted and left to their owners. Feature gates stand under
/// `featureGates`. Errors name the field path, what was found and what is allowed (BA-27, BA-28); unknown fields and gates are errors.
[[nodiscard]] Result<admission::Settings> read_settings(std::string_view json);

}  // namespace hindsight::events
