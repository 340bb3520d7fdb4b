#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "admission/workload/workload_parent.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/observations.hpp"

namespace hindsight::whatif {

/// By what the world knows a parent: the uid of its job, or of its Workload where it has none; empty: of neither anything is there.
[[nodiscard]] std::string_view subject_of(const admission::WorkloadParent& parent);
/// How people call it: "Job team-a/train", "Workload team-a/train"; empty: there is neither.
[[nodiscard]] std::string name_of_subject(const admission::WorkloadParent& parent);

/// Calls `f` with the subject of everybody whom records concerned since the last call.
template <class F>
void each_touched(admission::LoopDriver& driver, F&& f) {
  const auto touched = driver.entities().touched_parents();  // a copy: more may be touched meanwhile
  driver.forget_touched();
  for (const std::uint32_t index : touched) {
    const auto* parent = driver.parent(index);
    if (parent == nullptr || parent->empty()) continue;
    const std::string subject(subject_of(*parent));
    if (!subject.empty()) f(subject);
  }
}

/// The Workload by which it runs, or is to run: the one that is admitted and no Option; null: there is none.
[[nodiscard]] const admission::WorkloadState* admitted_of(const admission::WorkloadParent& parent);

/// That it, and all that belongs to it, was deleted: the job, its pods, its Workloads. Texts live in `arena`.
[[nodiscard]] std::vector<ObjectDeleted> objects_of(const admission::WorkloadParent& parent, Arena& arena);

}  // namespace hindsight::whatif
