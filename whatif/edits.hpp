#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/workload/workload_parent.hpp"
#include "vocabulary/observations.hpp"

namespace hindsight::whatif {

/// What of a job, or of a Workload, its user decides: changes of it on record are carried out also where the rest of its life is another
/// one.
struct UserPart {
  std::string queue_name, priority_class, admission_gated_by, scheduling_gated_by, resource_bounds;
  ResourcePolicy resource_policy = ResourcePolicy::none;
  PriorityClassKind priority_class_kind = PriorityClassKind::none;
  std::optional<std::int32_t> priority;
  std::int32_t max_exec_seconds = 0, priority_boost = 0;
  bool on_hold = false, active = true;
  /// Of an elastic job, and of another one while it is not suspended; empty: where admission may change them, of one that is admitted in
  /// part for instance. From one to the next of these it was its user who changed them.
  std::vector<std::pair<std::string, std::int32_t>> counts;
  std::uint64_t form = 0;  ///< Of its pod sets; 0: not known, for a start may have changed them.
};

enum class EditedPart : std::uint8_t { queue, priority, boost, admission_gate, scheduling_gate, bounds, time, active, hold, size, form };
[[nodiscard]] std::string_view text_of(EditedPart part);

/// All but the form, which is only known of a job that has not been started.
[[nodiscard]] UserPart user_part_of(const JobObserved& o);
[[nodiscard]] UserPart user_part_of(const WorkloadObserved& o);
[[nodiscard]] std::uint64_t form_of(List<PodSetFacts> pod_sets);

/// Whether a user gave the job another size from one observation to the next.
[[nodiscard]] bool edits_size(const UserPart& before, const UserPart& after);
[[nodiscard]] std::vector<EditedPart> edited_parts(const UserPart& before, const UserPart& after);

/// Why the API server would not take this change of an object as it stands here; nothing: it takes it.
[[nodiscard]] std::optional<std::string> refusal(EditedPart part, const UserPart& wanted, const admission::JobState& job);
[[nodiscard]] std::optional<std::string> refusal(EditedPart part, const UserPart& wanted, const admission::WorkloadState& workload);

/// Where somebody is in life, as far as it matters for what may be changed.
enum class Standing : std::uint8_t { absent, waiting, running, ended };
[[nodiscard]] Standing standing_of(const JobObserved& o);
[[nodiscard]] Standing standing_of(const WorkloadObserved& o);
[[nodiscard]] Standing standing_of(const admission::JobState& job);
[[nodiscard]] Standing standing_of(const admission::WorkloadState& workload);
/// "waits"; of what is on record: "waited".
[[nodiscard]] std::string_view now_text(Standing standing);
[[nodiscard]] std::string_view then_text(Standing standing);

/// What came of an edit.
struct Edited {
  Standing here = Standing::absent;
  std::vector<EditedPart> done;
  std::vector<std::pair<EditedPart, std::string>> refused;  ///< And why.
};

}  // namespace hindsight::whatif
