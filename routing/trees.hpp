#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "vocabulary/observations.hpp"

namespace hindsight::routing {

/// Which ClusterQueues and Cohorts have to be decided in one order: those of one tree, which lend each other quota, and trees whose flavors
/// with a topology can select the same node. A queue without a cohort is a tree of its own.
///
/// A name follows from the objects as they are and from nothing that was before, so that every connector finds the same ones: `cohort/ROOT`
/// or `queue/NAME`; where nodes join several trees, the first of their names.
class Trees {
 public:
  void put(const ClusterQueueObserved& o);
  void put(const CohortObserved& o);
  void put(const ResourceFlavorObserved& o);
  /// Of another kind than these three: nothing.
  void erase(ObjectKind kind, std::string_view name);

  /// Empty: there is no such queue, or cohort.
  [[nodiscard]] std::string_view of_queue(std::string_view name) const;
  [[nodiscard]] std::string_view of_cohort(std::string_view name) const;
  /// The tree that has a flavor with a topology which selects such a node; empty: none. Trees that can select one node are one tree.
  [[nodiscard]] std::string_view that_selects(const NodeObserved& node) const;
  /// Grows when other nodes may be selected, or by other trees.
  [[nodiscard]] std::uint64_t selections() const;
  /// Does any queue use the flavor, or ask for the check?
  [[nodiscard]] bool in_use(ObjectKind kind, std::string_view name) const;

  /// True: names may have changed since the last call.
  [[nodiscard]] bool take_changes();

 private:
  using Names = std::set<std::string, std::less<>>;
  template <class T>
  using ByName = std::map<std::string, T, std::less<>>;
  struct Queue {
    std::string cohort;
    Names flavors, checks;
    friend bool operator==(const Queue&, const Queue&) = default;
  };
  struct Flavor {
    std::string topology;
    ByName<std::string> node_labels;
    friend bool operator==(const Flavor&, const Flavor&) = default;
  };

  template <class T>
  void put(ByName<T>& table, std::string_view name, T value);
  void find_names() const;
  [[nodiscard]] std::string root_of_cohort(std::string_view cohort) const;
  [[nodiscard]] static bool may_share_nodes(const Flavor& a, const Flavor& b);

  ByName<Queue> queues_;
  ByName<std::string> cohorts_;  ///< Name → parent.
  ByName<Flavor> flavors_;       ///< Those with a topology.
  bool changed_ = false;

  // What follows, found when it is asked for.
  mutable bool stale_ = false;
  mutable ByName<std::string> queue_names_, cohort_names_;
  struct Selector {
    ByName<std::string> node_labels;
    std::string tree;
    friend bool operator==(const Selector&, const Selector&) = default;
  };
  mutable ByName<Selector> selectors_;  ///< By flavor: those with a topology that some queue uses.
  mutable std::uint64_t selections_ = 0;
};

}  // namespace hindsight::routing
