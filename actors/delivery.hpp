#pragma once

#include <string>

#include "actors/batch.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::actors {

/// How people know an entity: "ClusterQueue team-a", "Job default/train", "Workload default/w1", "cohort tree all". `message` is what it is
/// about to get; it names a parent that has not seen anything yet.
[[nodiscard]] std::string name_of(const admission::Entity& entity, const admission::Message& message);

[[nodiscard]] std::string name_of(const admission::WorkloadParent& parent);

/// Gives entities their messages; what they say goes to `batch.out`. What one throws is thrown on as std::runtime_error that names the
/// entity and the record: "ClusterQueue team-a failed at record 12: ...".
void work_on(Batch& batch, const MessageHook& hook);

}  // namespace hindsight::actors
