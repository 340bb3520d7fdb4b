#pragma once

#include <map>
#include <utility>

#include "admission/domain/state_view.hpp"
#include "admission/model/catalog.hpp"
#include "admission/workload/workload_parent.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::explorer {

struct ByNames {
  bool operator()(const std::pair<Symbol, Symbol>& a, const std::pair<Symbol, Symbol>& b) const {
    return a.first != b.first ? ByText{}(a.first, b.first) : ByText{}(a.second, b.second);
  }
};
/// Flavor and resource → amount.
using Amounts = std::map<std::pair<Symbol, Symbol>, Amount, ByNames>;

/// What an admission takes, of the pods of this Workload that count now (EJ-31).
[[nodiscard]] Amounts amounts_of(const admission::Admission& admission, const admission::WorkloadState& pods);

// ---- families (8691), from specs, admissions and events alone ------------------------------------------------------------------

/// What a Workload is to families.
enum class Part { plain, parent, option, stray };
[[nodiscard]] Part part_of(const admission::WorkloadParent& entity, const admission::WorkloadState& w);
/// The Parent of an Option; null: it is none.
[[nodiscard]] const admission::WorkloadState* parent_of(const admission::WorkloadParent& entity, const admission::WorkloadState& option);
/// It is one that Options are to be queued for, by its queue; whether it is known as a Parent already or not.
[[nodiscard]] bool wants_options(const admission::WorkloadState& w, const admission::Catalog& catalog);
/// The Option of a Parent that is admitted, be it on its way out; null: none.
[[nodiscard]] const admission::WorkloadState* admitted_option(const admission::WorkloadParent& entity,
                                                              const admission::WorkloadState& parent);

/// Does it hold the quota that its own admission names?
[[nodiscard]] bool holds_quota(const admission::WorkloadParent& entity, const admission::WorkloadState& w,
                               const admission::Catalog& catalog);
/// What is kept for the Option that a Parent's job moves to (CA-59): what it asks for, less what the one before holds. Nothing: empty.
[[nodiscard]] Amounts kept_for_migration(const admission::WorkloadParent& entity, const admission::WorkloadState& parent);

}  // namespace hindsight::explorer
