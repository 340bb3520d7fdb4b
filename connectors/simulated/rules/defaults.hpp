#pragma once

#include <utility>

#include "connectors/json/json_value.hpp"

namespace hindsight::connectors::simulated {

/// Sets a member that is not there, as the API server's defaulting does.
inline void put_default(Json& object, const char* name, Json value) {
  if (!object.contains(name)) object[name] = std::move(value);
}

}  // namespace hindsight::connectors::simulated
