#pragma once

#include <optional>
#include <string_view>

#include <simdjson.h>

#include "connectors/cluster.hpp"
#include "connectors/jobs/job_integration.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/observations.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors {

/// Reads a watched object into the observation of its kind. Strict about the fields that admission needs, blind to all others.
///
/// Everything in the result lives in `arena` or in static memory, nothing in the document. What lies outside of the object comes
/// in `context`: RuntimeClasses and LimitRanges (for Workloads and jobs), and the counts of a job's Workload (EJ-60).
///
/// Errors: invalid, "<kind> <namespace>/<name>: <path>: found <x>, allowed: <y>"; unsupported for a kind without observation.
[[nodiscard]] Result<Observation> observe(const ResourceType& type, simdjson::dom::element object, Arena& arena,
                                          const JobContext& context = {});

/// The same from JSON text. Errors: also invalid for what is not JSON.
[[nodiscard]] Result<Observation> observe_text(const ResourceType& type, std::string_view text, Arena& arena,
                                               const JobContext& context = {});

/// Of an object about which something failed: who it is, why, and of a job what can be read of it all the same. Nothing: it cannot even
/// be told who it is. `reason` may hold any bytes and be of any length.
[[nodiscard]] std::optional<ObjectQuarantined> observe_quarantined(const ResourceType& type, std::string_view text, QuarantineStage stage,
                                                                   std::string_view reason, Arena& arena);

/// Why the text would be set aside, as observe_text() would refuse it; nothing: it can be read. For who may still refuse it.
[[nodiscard]] std::optional<Refusal> find_unreadable(const ResourceType& type, std::string_view text);

/// The object is gone; `object` is its last state, of which no more is read than who it is. Errors: as observe().
[[nodiscard]] Result<Observation> observe_deleted(const ResourceType& type, simdjson::dom::element object, Arena& arena);
[[nodiscard]] Result<Observation> observe_deleted_text(const ResourceType& type, std::string_view text, Arena& arena);

}  // namespace hindsight::connectors
