#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "connectors/manifests/schema.hpp"

namespace hindsight::connectors::manifests {

// Reading members of trees that may lack them; absent, null and of another type are all "nothing".

[[nodiscard]] const Json& member(const Json& parent, std::string_view name);  ///< Json null where there is none.
[[nodiscard]] const Json& member(const Json& parent, std::string_view name, std::string_view inner);
[[nodiscard]] std::string_view text(const Json& parent, std::string_view name);  ///< Empty where there is none.
[[nodiscard]] std::optional<std::int64_t> number(const Json& parent, std::string_view name);
[[nodiscard]] bool flag(const Json& parent, std::string_view name);

/// The element of a condition list with that type; null where there is none.
[[nodiscard]] const Json& condition(const Json& status, std::string_view type);
[[nodiscard]] bool condition_is(const Json& status, std::string_view type, std::string_view value = "True");

}  // namespace hindsight::connectors::manifests
