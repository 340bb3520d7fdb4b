#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "admission/catalog.hpp"
#include "vocabulary/state_hash.hpp"

namespace hindsight::admission {

struct LocalQueueConfig {
  Symbol namespace_, name;
  Symbol cluster_queue;
  StopPolicy stop_policy = StopPolicy::none;
  bool stop_policy_set = false;
  std::int64_t fair_weight_nano = 1'000'000'000;
};

struct NamespaceConfig {
  Symbol name;
  std::vector<std::pair<Symbol, std::string>> labels;
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

/// All configuration objects of a domain, and what follows from them alone. The domain changes it only between steps; while
/// entities are at work it is an immutable snapshot shared by pointer.
class Catalog {
 public:
  template <class T>
  using Table = std::map<Symbol, std::shared_ptr<const T>, ByText>;
  using LocalQueueKey = std::pair<Symbol, Symbol>;  ///< namespace, name
  struct LocalQueueKeyHash {
    std::size_t operator()(const LocalQueueKey& k) const noexcept {
      return (static_cast<std::size_t>(k.first.id()) << 32 | k.second.id()) * 0x9E3779B97F4A7C15ULL >> 7;
    }
  };

  Settings settings;
  std::string settings_json;  ///< As observed, for snapshots.
  Table<FlavorConfig> flavors;
  Table<QueueConfig> queues;  ///< Changed by put_queue and erase_queue only.
  Table<CohortConfig> cohorts;
  Table<NamespaceConfig> namespaces;
  Table<CheckConfig> checks;
  std::map<Symbol, std::vector<std::string>, ByText> topologies;
  std::map<Symbol, PriorityClassConfig, ByText> workload_priority_classes;
  std::map<Symbol, PriorityClassConfig, ByText> pod_priority_classes;
  std::unordered_map<LocalQueueKey, LocalQueueConfig, LocalQueueKeyHash> local_queues;

  // ---- derived; `refresh_queue` and `refresh_roots` keep them ----------------------------------------------------

  /// Why a queue is active or not (base-api §6.4).
  std::unordered_map<Symbol, QueueActivity> activity;
  /// Root of each queue's tree: the topmost cohort, or the queue itself. Queues below a cycle map to the empty symbol.
  std::unordered_map<Symbol, Symbol> roots;

  void put_queue(std::shared_ptr<const QueueConfig> config);
  void erase_queue(Symbol name);
  [[nodiscard]] const QueueConfig* queue(Symbol name) const {
    const auto it = queue_index_.find(name);
    return it == queue_index_.end() ? nullptr : it->second;
  }
  [[nodiscard]] const LocalQueueConfig* local_queue(Symbol namespace_, Symbol name) const;
  [[nodiscard]] const FlavorConfig* flavor(Symbol name) const;
  [[nodiscard]] bool queue_active(Symbol name) const;
  [[nodiscard]] Symbol root_of(Symbol queue) const;
  /// Does the namespace exist, and do its labels match the queue's selector (BA-152)?
  [[nodiscard]] bool namespace_matches(const QueueConfig& queue, Symbol namespace_) const;

  void refresh_activity(const QueueConfig& queue);
  /// Recomputes `roots`; returns the queues whose root changed.
  std::vector<Symbol> refresh_roots();

  /// Position-independent hash of everything observed.
  [[nodiscard]] std::uint64_t hash() const;

 private:
  std::unordered_map<Symbol, const QueueConfig*> queue_index_;  ///< Of `queues`, for the hot path: no comparison of texts.
};

// ---- observation → owned configuration ----------------------------------------------------------------------------------

[[nodiscard]] FlavorConfig to_config(const ResourceFlavorObserved& o);
[[nodiscard]] QueueConfig to_config(const ClusterQueueObserved& o);
[[nodiscard]] CohortConfig to_config(const CohortObserved& o);
[[nodiscard]] NamespaceConfig to_config(const NamespaceObserved& o);
[[nodiscard]] LocalQueueConfig to_config(const LocalQueueObserved& o);

[[nodiscard]] std::uint64_t content_hash(const FlavorConfig& c);
[[nodiscard]] std::uint64_t content_hash(const QueueConfig& c);
[[nodiscard]] std::uint64_t content_hash(const CohortConfig& c);

/// Label selector match (In, NotIn, Exists, DoesNotExist), labels sorted by key text.
[[nodiscard]] bool matches(const std::vector<OwnedRequirement>& selector, const std::vector<std::pair<Symbol, std::string>>& labels);

}  // namespace hindsight::admission
