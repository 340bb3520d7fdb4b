#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <simdjson.h>

#include <nlohmann/json.hpp>

namespace hindsight::connectors {

/// JSON values that are built and compared; what is only read stays in simdjson.
using Json = nlohmann::json;

/// A copy of a parsed value. Numbers that are integers stay integers. What is nested deeper than 1024 levels becomes null.
[[nodiscard]] Json to_json(simdjson::dom::element value);

/// A JSON text that somebody wrote into an annotation, or that came in another object. Discarded when it is none, or is nested deeper
/// than limits::json_depth, as nlohmann's own reader would let it be: what it gives is walked by recursion.
[[nodiscard]] Json from_text(std::string_view text);

/// As one line. Texts may hold any bytes: what is no UTF-8 is replaced, so that writing never throws because of somebody's object.
[[nodiscard]] std::string to_text(const Json& value);

// Members of what may be an object. An absent member, one that is null and one of another type are the same here: strictness is
// the business of observe(), which has read the same object before.

[[nodiscard]] const Json* member(const Json& object, std::string_view key);  ///< nullptr: absent.
[[nodiscard]] const Json& object_or_empty(const Json& object, std::string_view key);
[[nodiscard]] const Json& list_or_empty(const Json& object, std::string_view key);
[[nodiscard]] std::string_view text_member(const Json& object, std::string_view key);
[[nodiscard]] std::optional<std::int32_t> int_member(const Json& object, std::string_view key);
[[nodiscard]] bool flag_member(const Json& object, std::string_view key);

}  // namespace hindsight::connectors
