#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "admission/model/catalog.hpp"
#include "admission/model/state_field.hpp"
#include "vocabulary/state_hash.hpp"

namespace hindsight::admission {

struct LocalQueueConfig {
  Symbol namespace_, name;
  Symbol cluster_queue;
  StopPolicy stop_policy = StopPolicy::none;
  bool stop_policy_set = false;
  std::int64_t fair_weight_nano = 1'000'000'000;
  std::vector<std::pair<Symbol, std::string>> labels;  ///< Sorted by key text.
};

struct NamespaceConfig {
  Symbol name;
  std::vector<std::pair<Symbol, std::string>> labels;
  std::uint64_t labels_since = 0;  ///< Sequence of their last change; 0: they are the first ones. As QueueConfig::selector_since.
};

struct CheckConfig {
  Symbol name;
  std::string controller;
  bool active = false;
};

struct PriorityClassConfig {
  std::int32_t value = 0;
  bool global_default = false;
};

/// Controllers of checks that this program knows something of.
inline constexpr std::string_view provisioning_controller = "kueue.x-k8s.io/provisioning-request",
                                  multikueue_controller = "kueue.x-k8s.io/multikueue";

/// All configuration objects of a domain, and what follows from them alone. The domain changes it only between steps; while
/// entities are at work it is an immutable snapshot shared by pointer.
class Catalog {
 public:
  template <class T>
  using Table = std::map<Symbol, std::shared_ptr<const T>, ByText>;
  using LocalQueueKey = std::pair<Symbol, Symbol>;                    ///< namespace, name
  using LocalQueueKeyView = std::pair<const Symbol&, const Symbol&>;  ///< For look-ups: nobody counts the names.
  struct LocalQueueKeyHash {
    using is_transparent = void;
    template <class Key>
    std::size_t operator()(const Key& k) const noexcept {
      return (static_cast<std::size_t>(k.first.id()) << 32 | k.second.id()) * 0x9E3779B97F4A7C15ULL >> 7;
    }
  };
  struct LocalQueueKeyEqual {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const noexcept {
      return a.first == b.first && a.second == b.second;
    }
  };

  Settings settings;
  std::string settings_json;  ///< As observed, for snapshots.
  Table<FlavorConfig> flavors;
  Table<QueueConfig> queues;    ///< Changed by put_queue and erase_queue only.
  Table<CohortConfig> cohorts;  ///< Changed by put_cohort and erase_cohort only.
  Table<NamespaceConfig> namespaces;
  Table<CheckConfig> checks;
  std::map<Symbol, std::vector<std::string>, ByText> topologies;
  std::map<Symbol, PriorityClassConfig, ByText> workload_priority_classes;
  std::map<Symbol, PriorityClassConfig, ByText> pod_priority_classes;
  std::unordered_map<LocalQueueKey, LocalQueueConfig, LocalQueueKeyHash, LocalQueueKeyEqual>
      local_queues;  ///< Changed by put_local_queue and erase_local_queue only.

  // ---- derived; `refresh_activity` and the `refresh_roots` functions keep them ------------------------------------

  /// Why a queue is active or not (base-api §6.4).
  std::unordered_map<Symbol, QueueActivity> activity;
  /// Root of each queue's tree: the topmost cohort, or the queue itself. Queues below a cycle map to the empty symbol. Trees whose flavors
  /// may select one host are one tree, named by the first of their roots (2724 §7).
  std::unordered_map<Symbol, Symbol> roots;

  using Names = std::set<Symbol, ByText>;
  using LocalQueueKeys = std::unordered_set<LocalQueueKey, LocalQueueKeyHash>;

  void put_queue(std::shared_ptr<const QueueConfig> config);
  void erase_queue(Symbol name);  ///< Its root is forgotten too.
  void put_cohort(std::shared_ptr<const CohortConfig> config);
  void erase_cohort(Symbol name);
  void put_local_queue(const LocalQueueConfig& config);
  void erase_local_queue(Symbol namespace_, Symbol name);
  [[nodiscard]] const QueueConfig* queue(const Symbol& name) const {
    const auto it = queue_index_.find(name);
    return it == queue_index_.end() ? nullptr : it->second;
  }
  [[nodiscard]] const LocalQueueConfig* local_queue(const Symbol& namespace_, const Symbol& name) const;
  [[nodiscard]] const FlavorConfig* flavor(const Symbol& name) const;
  [[nodiscard]] bool queue_active(const Symbol& name) const;
  [[nodiscard]] Symbol root_of(const Symbol& queue) const;
  /// The queues of a tree, by name.
  [[nodiscard]] const Names& members(const Symbol& root) const;
  /// Where the chain of parents of a queue ends: the topmost cohort, or the queue itself; empty: on or below a cycle.
  [[nodiscard]] Symbol cohort_root(const QueueConfig& queue) const { return queue.cohort.empty() ? queue.name : topmost(queue.cohort); }
  /// The tree that decides for what is below such an end.
  [[nodiscard]] Symbol tree_of(const Symbol& cohort_root) const;
  /// The topmost cohort above this one, itself included; empty: on or below a cycle.
  [[nodiscard]] Symbol topmost(Symbol cohort) const;
  /// This cohort and all whose chain of parents goes through it, whether there are objects of that name or not; no order.
  [[nodiscard]] std::vector<Symbol> below(const Symbol& cohort) const;
  /// The LocalQueues that feed a ClusterQueue, which need not exist.
  [[nodiscard]] const LocalQueueKeys& local_queues_of(const Symbol& cluster_queue) const;
  /// Does the namespace exist, and do its labels match the queue's selector (BA-152)?
  [[nodiscard]] bool namespace_matches(const QueueConfig& queue, const Symbol& namespace_) const;
  /// Sequence of the change since which it matches or does not: whoever was looked at before keeps its reason (BA-208).
  [[nodiscard]] std::uint64_t match_since(const QueueConfig& queue, const Symbol& namespace_) const;
  /// Are jobs of this namespace looked after (managedJobsNamespaceSelector, BA-172)? One that was not seen has the label with its name.
  [[nodiscard]] bool manages_jobs_in(const Symbol& namespace_) const;

  void refresh_activity(const QueueConfig& queue);
  /// A queue whose place in the forest was looked at; `before` is empty for one that had none.
  struct Root {
    Symbol queue, before, after;
    bool changed = false;  ///< Also true for a queue that had no place.
  };
  /// Recomputes `roots` of all queues; of one; of those below a cohort (all whose chain of parents goes through it).
  std::vector<Root> refresh_roots();
  Root refresh_root(Symbol queue);
  std::vector<Root> refresh_roots_below(Symbol cohort);
  /// Flavors with a topology that queues use → the tree that decides for them; kept by refresh_shared_hosts.
  [[nodiscard]] const std::map<Symbol, Symbol, ByText>& trees_of_topologies() const { return trees_of_topologies_; }
  /// Looks anew which trees may select one host; the queues that belong to another tree since.
  std::vector<Root> refresh_shared_hosts();

  /// Position-independent hash of everything observed.
  [[nodiscard]] std::uint64_t hash() const;
  void derive();  ///< The tables that follow from those that have been read from a snapshot; not settings, activity and roots.
  friend struct StateFields<Catalog>;

 private:
  std::unordered_map<Symbol, const QueueConfig*> queue_index_;  ///< Of `queues`, for the hot path: no comparison of texts.
  std::unordered_map<Symbol, Names> queues_in_;                 ///< Cohort → queues that name it.
  std::unordered_map<Symbol, Names> cohorts_in_;                ///< Cohort → cohorts that name it as their parent.
  std::unordered_map<Symbol, Names> members_;                   ///< `roots`, the other way round.
  std::map<Symbol, Symbol, ByText> trees_of_topologies_;
  std::unordered_map<Symbol, Symbol> shared_;  ///< Ends of chains → tree, where that has another name.
  std::unordered_map<Symbol, LocalQueueKeys> local_queues_of_;
};

// ---- observation → owned configuration ----------------------------------------------------------------------------------

[[nodiscard]] FlavorConfig to_config(const ResourceFlavorObserved& o);
[[nodiscard]] QueueConfig to_config(const ClusterQueueObserved& o);
[[nodiscard]] CohortConfig to_config(const CohortObserved& o);
[[nodiscard]] NamespaceConfig to_config(const NamespaceObserved& o);
[[nodiscard]] LocalQueueConfig to_config(const LocalQueueObserved& o);
[[nodiscard]] NodeConfig to_config(const NodeObserved& o);

[[nodiscard]] std::uint64_t content_hash(const FlavorConfig& c);
[[nodiscard]] std::uint64_t content_hash(const QueueConfig& c);
[[nodiscard]] std::uint64_t content_hash(const NodeConfig& c);
[[nodiscard]] std::uint64_t content_hash(const CohortConfig& c);

/// Are places in this flavor found only after a check has made nodes for it, or by another cluster (TAS-90, TAS-118)?
[[nodiscard]] bool delays_topology(const QueueConfig& queue, Symbol flavor, const Catalog::Table<CheckConfig>& checks);

/// Label selector match (In, NotIn, Exists, DoesNotExist), labels sorted by key text.
[[nodiscard]] bool matches(const std::vector<OwnedRequirement>& selector, const std::vector<std::pair<Symbol, std::string>>& labels);

}  // namespace hindsight::admission
