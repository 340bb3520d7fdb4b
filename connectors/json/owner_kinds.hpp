#pragma once

#include <string_view>

namespace hindsight::connectors {

/// A kind with its API group, "" for the core one.
struct KindName {
  std::string_view kind, group;
  friend bool operator==(const KindName&, const KindName&) = default;
};

/// "batch/v1" → "batch", "v1" → "".
[[nodiscard]] std::string_view group_of_version(std::string_view api_version);

/// Whether an object of one kind can be part of one of another, and when.
enum class Ownership {
  none,          ///< No controller of the owner's kind makes such objects: the reference says nothing.
  part,          ///< Its controller makes them; they run with what the owner was admitted with.
  when_leaving,  ///< It makes them only when the owner is being deleted.
};

/// Anybody can write any object into ownerReferences; the API server looks at none of them. So it counts only where a controller makes
/// objects of `part` for objects of `owner` (base-api §7.1, 3; job-kinds §3): Jobs for a JobSet, the cluster and the submitter for a
/// RayJob, the clean-up of Redis for a RayCluster, pods for Jobs and RayClusters. Of other kinds Kueue knows more (AppWrapper, TrainJob,
/// MPIJob); with their integrations come their lines.
[[nodiscard]] Ownership ownership(const KindName& owner, const KindName& part);

}  // namespace hindsight::connectors
