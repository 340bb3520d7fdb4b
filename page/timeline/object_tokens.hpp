#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "vocabulary/record.hpp"

namespace hindsight::page::timeline {

/// A number for a name or uid that a record carries. Two may have the same one: whoever finds a record by it looks at the record.
using Token = std::uint64_t;

/// Of an object by namespace (empty: it is in none) and name, whatever its kind.
[[nodiscard]] Token name_token(std::string_view namespace_, std::string_view name);
[[nodiscard]] Token uid_token(std::string_view uid);
/// Of records that change which ClusterQueue a LocalQueue of this namespace leads to.
[[nodiscard]] Token local_queues_token(std::string_view namespace_);
/// Of records that give somebody quota in this ClusterQueue.
[[nodiscard]] Token grant_token(std::string_view cluster_queue);

/// Calls `see` with every object that a record is about or names in any of its parts, by name and by uid; the same one perhaps often.
void each_object_token(const RecordView& record, const std::function<void(Token)>& see);

}  // namespace hindsight::page::timeline
