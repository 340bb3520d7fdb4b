#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "admission/model/intents.hpp"
#include "connectors/cluster.hpp"
#include "vocabulary/observations.hpp"

namespace hindsight::connectors {

// What the bridge calls its wants: one for each object and each part of it that intents speak of.

[[nodiscard]] std::string finalizer_key(ObjectKind kind, std::string_view name);
[[nodiscard]] std::string adopt_key(std::string_view namespace_, std::string_view name);
/// With an empty name: what those of all Options of a Parent begin with.
[[nodiscard]] std::string option_key(std::string_view parent_uid, std::string_view name);
/// After its object and the part of it that the intent speaks of.
[[nodiscard]] std::string key_of(const admission::Intent& intent);
/// Uids of the objects whose change can let the want go on.
[[nodiscard]] std::vector<std::string> looks_at(const admission::Intent& intent);

/// Empty: the intent is about something that is in none.
[[nodiscard]] std::string namespace_of(const admission::Intent& intent);
/// What it asks for ends something that holds quota: a job stops, a Workload is evicted, a pod fails.
[[nodiscard]] bool gives_back(const admission::Intent& intent);

/// Of the first of these; nullptr: the intent names no object by uid.
[[nodiscard]] const ResourceType* type_of(const admission::Intent& intent);

/// Of a Workload's intent, but for the message that each cycle may change (see is_told_each_cycle), and with the moments of its
/// conditions.
[[nodiscard]] std::uint64_t hash_beside_messages(const admission::WorkloadIntent& intent);

/// Hash of what the intent asks for; not of when that was decided, nor by which decision.
[[nodiscard]] std::uint64_t content_hash(const admission::Intent& intent);

}  // namespace hindsight::connectors
