#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "admission/workload/workload_parent.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::projections {

using admission::StateView;
using admission::WorkloadParent;
using admission::WorkloadState;

/// Whom a command is about.
struct Target {
  std::string kind;  ///< "Workload", or the kind of a job in lower case ("job", "jobset").
  std::string namespace_, name;

  [[nodiscard]] bool is_workload() const { return kind == "Workload"; }
  /// "Workload default/w1", "job default/train".
  [[nodiscard]] std::string text() const;
};

/// The kind that a word means, as `Target` has it, by any name that kubectl takes for it, short or with its group; empty: it is none that
/// has Workloads.
[[nodiscard]] std::string target_kind(std::string_view word);

/// Reads "NAME", "NAMESPACE/NAME", "workload/NAME", "job/NAME", "jobset/NAME", and "KIND/NAMESPACE/NAME". Errors: invalid.
[[nodiscard]] Result<Target> parse_target(std::string_view text, std::string_view default_namespace);

/// A Workload and the parent that it belongs to; valid until the next record is applied.
struct WorkloadAt {
  const WorkloadParent* parent = nullptr;
  const WorkloadState* workload = nullptr;
};

/// All Workloads, by namespace and name.
[[nodiscard]] std::vector<WorkloadAt> all_workloads(const StateView& state);

/// The Workload that is meant: of a job its newest one that has not finished, else its newest; not one of its Options. Errors: not_found
/// (there is none of this name; the message names similar ones).
[[nodiscard]] Result<WorkloadAt> find_workload(const StateView& state, const Target& target);
/// By uid; an empty result: it does not live here.
[[nodiscard]] WorkloadAt find_by_uid(const StateView& state, std::string_view uid);

/// ", did you mean a, b?" for names that are close to `wanted`; empty if none is.
[[nodiscard]] std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace hindsight::projections
