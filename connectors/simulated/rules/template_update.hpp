#pragma once

#include <string_view>

#include "connectors/simulated/rules/finding.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors::simulated {

/// Releases of Kubernetes that judge updates of a Job's pod template differently (5440 §2.1).
enum class JobApiLevel : std::uint8_t {
  v1_34,    ///< And before.
  v1_35,    ///< The two feature gates exist, off.
  v1_36_0,  ///< And 1.36.1: on; a suspended Job that never started is frozen until its condition Suspended is there.
  v1_36_2,  ///< And later.
};

/// By which rules an API server judges Jobs.
struct JobRules {
  JobApiLevel level = JobApiLevel::v1_36_2;
  bool mutable_resources = true;   ///< Gate MutablePodResourcesForSuspendedJobs.
  bool mutable_directives = true;  ///< Gate MutableSchedulingDirectivesForSuspendedJobs.
  /// Judges more strictly than the API server: claims of containers stay, and labels and annotations need their own gate (MR-15, MR-16).
  bool strict = false;

  /// With the feature gates as they are in that release. Up to 1.34 there are none.
  [[nodiscard]] static JobRules of(JobApiLevel level);
};

/// "1.34", "1.35", "1.36.0", "1.36.2" (MR-1). Errors: invalid, with those that there are.
[[nodiscard]] Result<JobApiLevel> read_job_api_level(std::string_view text);

/// What of a Job's template may change.
struct MutableParts {
  bool resources = false;   ///< Requests, limits and claims of containers.
  bool directives = false;  ///< Node selector, tolerations, scheduling gates, node affinity, labels, annotations.
};

/// A function of the stored Job alone: what the update says of `suspend` does not matter (MR-2).
[[nodiscard]] MutableParts mutable_parts(const ObjectView& stored, const JobRules& rules);

/// E1 and E2 of 5440 §2.2: spec.template differs in more than `mutable_parts` allows. Both templates must be normalised, so that equal
/// quantities are equal texts (MR-18).
void check_template_update(const ObjectView& now, const ObjectView& before, const JobRules& rules, Findings& findings);

}  // namespace hindsight::connectors::simulated
