#pragma once

#include <string>
#include <string_view>

#include <simdjson.h>

#include "connectors/json/node.hpp"
#include "vocabulary/observations.hpp"

namespace hindsight::connectors {

/// "Workload default/wl-a", as far as the object says; never fails.
[[nodiscard]] std::string object_title(std::string_view kind, simdjson::dom::element object);

/// Reads metadata; refuses an object without a name.
[[nodiscard]] ObjectMeta read_meta(const Node& object);
/// The same of an object that cannot be read: no lists.
[[nodiscard]] ObjectMeta read_identity(const Node& object);

/// Refuses a list of gates, the value of the annotation `key`, that has more names than limits::gates. `meta`: the object's metadata.
void check_gates(const Node& meta, std::string_view key, Text value);

/// The finalizer of flavors, queues, checks and Workloads (base-api §5).
inline constexpr std::string_view in_use_finalizer = "kueue.x-k8s.io/resource-in-use";

}  // namespace hindsight::connectors
