#pragma once

#include "connectors/simulated/json_views.hpp"
#include "connectors/simulated/reply.hpp"

namespace hindsight::connectors::simulated {

// The form in which the API server keeps objects, whatever form they came in.

/// Takes from a new object what its creator does not decide (status where it is written apart), and gives it what comes with its
/// creation. The object has a uid.
void prepare_for_create(const Kind& kind, Json& object);

/// Drops what is unknown or says nothing, puts in defaults.
void normalise_object(const Kind& kind, Json& object);
void normalise_status(const Kind& kind, Json& status);

/// The part of a patch that is for the main resource: without status, and without metadata that the server owns.
[[nodiscard]] Json main_part_of(const Kind& kind, const Json& patch);

/// Whether two objects are equal but for metadata and status.
[[nodiscard]] bool same_body(const Json& a, const Json& b);

}  // namespace hindsight::connectors::simulated
