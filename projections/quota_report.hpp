#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "admission/domain/state_view.hpp"
#include "admission/quota/quota_tree.hpp"

namespace hindsight::projections {

using admission::StateView;

/// What a ClusterQueue or Cohort has of one flavor and resource, as configured and as it stands.
struct QuotaLine {
  Symbol flavor, resource;
  Amount nominal = 0;  ///< Own quota.
  std::optional<Amount> borrowing_limit, lending_limit;
  admission::QuotaTree::Figures figures;  ///< All zero while there is no tree (below a cycle of cohorts).
};

/// In the order of resource groups and their flavors.
[[nodiscard]] std::vector<QuotaLine> quota_of_queue(const StateView& state, Symbol cluster_queue);
/// Own pairs first, then those that only its members have.
[[nodiscard]] std::vector<QuotaLine> quota_of_cohort(const StateView& state, Symbol cohort);

/// A workload that is charged for a pair.
struct Holder {
  std::string namespace_, name, uid;
  Symbol queue;
  std::int64_t priority = 0;
  Amount amount = 0;
  bool evicted = false;
  std::string family;  ///< Of an Option, and of what is kept for a migration: uid of the Parent.
  bool kept = false;   ///< It is kept for a migration of that family, whose Parent is named (8691 CA-59).
};

/// Who holds a pair in these queues; largest amount first, then by name.
[[nodiscard]] std::vector<Holder> holders_of(const StateView& state, const std::vector<Symbol>& queues, Symbol flavor, Symbol resource);

/// The tree that a queue belongs to; null: none is built (below a cycle of cohorts).
[[nodiscard]] const admission::QuotaTree* tree_of(const StateView& state, Symbol cluster_queue);
/// The tree in which a cohort stands.
[[nodiscard]] const admission::QuotaTree* tree_of_cohort(const StateView& state, Symbol cohort);
/// All ClusterQueues of the tree of this queue, by name; it alone if it has no cohort.
[[nodiscard]] std::vector<Symbol> queues_of_tree(const StateView& state, Symbol cluster_queue);
/// The cohorts above a queue, nearest first; ends where a cycle begins.
[[nodiscard]] std::vector<Symbol> cohorts_above(const StateView& state, Symbol cluster_queue);
/// All cohorts: those that exist and those that are only named, by name.
[[nodiscard]] std::vector<Symbol> all_cohorts(const StateView& state);

}  // namespace hindsight::projections
