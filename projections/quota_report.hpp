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
[[nodiscard]] std::vector<QuotaLine> quota_of_queue(const StateView& state, const Symbol& cluster_queue);
/// Own pairs first, then those that only its members have.
[[nodiscard]] std::vector<QuotaLine> quota_of_cohort(const StateView& state, const Symbol& cohort);

/// What a ClusterQueue has of one flavor and resource, or a Cohort with everything below it. What the quota tree keeps of a cohort leaves
/// out what its members do not lend; here that is counted, so that the figures of a cohort are the sums over its members: `nominal` of its
/// own quota and of theirs, `used` of theirs.
struct SubtreeQuota {
  Symbol flavor, resource;
  Amount own = 0;  ///< Nominal quota of the object itself.
  std::optional<Amount> borrowing_limit, lending_limit;
  Amount nominal = 0;     ///< Of it and of all cohorts and queues below.
  Amount used = 0;        ///< By all queues below.
  Amount borrowed = 0;    ///< Of that, what comes from above.
  Amount available = 0;   ///< What more could be used now, by whoever may have it; never below 0.
  Amount maximum = 0;     ///< What could be had at most: `nominal`, and what the tree above may lend.
  Amount guaranteed = 0;  ///< Of `nominal`, what is lent to nobody outside.

  /// Of `nominal`, what others outside may have.
  [[nodiscard]] Amount lendable() const { return subtract(nominal, guaranteed); }
  /// What the tree above may lend.
  [[nodiscard]] Amount borrowable() const { return subtract(maximum, nominal); }
};

/// In the order of resource groups and their flavors, then what it uses without having quota of it (any more).
[[nodiscard]] std::vector<SubtreeQuota> subtree_of_queue(const StateView& state, const Symbol& cluster_queue);
/// Own pairs first, then those that only its members have. While there is no tree (below a cycle of cohorts): own quota alone.
[[nodiscard]] std::vector<SubtreeQuota> subtree_of_cohort(const StateView& state, const Symbol& cohort);

/// Who has quota of a flavor, or uses it: what stands there adds up to all that there is of it.
struct FlavorShare {
  bool is_cohort = false;  ///< Else a ClusterQueue.
  Symbol name, resource;
  Amount nominal = 0;  ///< Its own.
  Amount used = 0;     ///< Of a ClusterQueue.
};
/// ClusterQueues by name, then Cohorts with quota of their own.
[[nodiscard]] std::vector<FlavorShare> shares_of_flavor(const StateView& state, const Symbol& flavor);

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
[[nodiscard]] std::vector<Holder> holders_of(const StateView& state, const std::vector<Symbol>& queues, const Symbol& flavor,
                                             const Symbol& resource);

/// The tree that a queue belongs to; null: none is built (below a cycle of cohorts).
[[nodiscard]] const admission::QuotaTree* tree_of(const StateView& state, Symbol cluster_queue);
/// The tree in which a cohort stands.
[[nodiscard]] const admission::QuotaTree* tree_of_cohort(const StateView& state, const Symbol& cohort);
/// All ClusterQueues of the tree of this queue, by name; it alone if it has no cohort.
[[nodiscard]] std::vector<Symbol> queues_of_tree(const StateView& state, const Symbol& cluster_queue);
/// The cohorts above a queue, nearest first; ends where a cycle begins.
[[nodiscard]] std::vector<Symbol> cohorts_above(const StateView& state, const Symbol& cluster_queue);
/// The circle that the chain of parents of this cohort runs into, its first one again at the end; empty: the chain ends.
[[nodiscard]] std::vector<Symbol> cohort_cycle(const StateView& state, const Symbol& cohort);
/// The ClusterQueues that name this cohort, and the Cohorts whose parent it is; by name.
[[nodiscard]] std::vector<Symbol> queues_in(const StateView& state, const Symbol& cohort);
[[nodiscard]] std::vector<Symbol> cohorts_in(const StateView& state, const Symbol& cohort);
/// All cohorts: those that exist and those that are only named, by name.
[[nodiscard]] std::vector<Symbol> all_cohorts(const StateView& state);

}  // namespace hindsight::projections
