#pragma once

#include <nlohmann/json_fwd.hpp>

namespace hindsight::projections {

/// Keys keep the order in which they were put in, so that output is stable and reads like the API's.
using Json = nlohmann::ordered_json;

}  // namespace hindsight::projections
