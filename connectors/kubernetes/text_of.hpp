#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace hindsight::connectors::kubernetes {

/// A member that is a text; empty if it is not there, or something else.
[[nodiscard]] inline std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace hindsight::connectors::kubernetes
