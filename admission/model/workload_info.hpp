#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/model/catalog.hpp"
#include "admission/model/sized_resources.hpp"
#include "admission/model/topology_assignment.hpp"
#include "admission/model/topology_request.hpp"
#include "admission/tables/workload_id.hpp"
#include "vocabulary/amount.hpp"
#include "vocabulary/compact_text.hpp"
#include "vocabulary/decisions.hpp"
#include "vocabulary/interned.hpp"
#include "vocabulary/symbol.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::admission {

/// What the scheduling constraints of a pod template are.
struct PodShape {
  std::vector<std::pair<Symbol, std::string>> node_selector;  ///< Sorted by key text.
  bool has_affinity = false;
  std::vector<OwnedTerm> affinity_terms;  ///< OR-ed.
  std::vector<OwnedToleration> tolerations;
  /// Nodes that are better than others; the weights of the terms that match add up.
  struct Preferred {
    std::int32_t weight = 0;
    OwnedTerm term;
    friend bool operator==(const Preferred&, const Preferred&) = default;
  };
  std::vector<Preferred> preferred = {};
  friend bool operator==(const PodShape&, const PodShape&) = default;
};
[[nodiscard]] std::uint64_t interning_hash(const PodShape& shape);

struct PodSetInfo {
  Symbol name;
  std::int32_t count = 0;       ///< Effective: spec count − reclaimable (§1.3).
  std::int32_t min_count = -1;  ///< −1: none.
  std::vector<ResourceRequest>
      requests;  ///< Per pod, after exclusion and transformation (BA-44), sorted by resource text; zero amounts kept.
  Interned<PodShape> shape;
  Symbol group;  ///< podset-group-name; empty: alone.
  std::optional<TopologyRequest> topology;
  /// Per pod, as the template has them, where `requests` are others; empty: these are they. Topologies count what pods really take
  /// (TAS-33).
  std::vector<ResourceRequest> pod_requests;
  friend bool operator==(const PodSetInfo&, const PodSetInfo&) = default;
};
[[nodiscard]] std::uint64_t interning_hash(const std::vector<PodSetInfo>& pod_sets);

/// What an Option is to the scheduler beside a Workload (8691).
struct OptionInfo {
  CompactText family;               ///< Uid of its Parent.
  CompactText parent_name;          ///< Name of the same.
  WorkloadId parent = no_workload;  ///< Number of the same.
  std::uint32_t rank = 0;           ///< Among the Options of the family; 0: the best.
  /// The Option that is admitted and that it would take the place of; what that one holds does not stand in its way (CA-51).
  WorkloadId running = no_workload;
  CompactText running_uid, running_name;  ///< Of the same; it may hold quota in another tree.
  bool held = false;   ///< Quota is kept for the family, under the number of the Parent (CA-59).
  bool next = false;   ///< It is kept for this one, which is the next head of its queue (CA-35).
  bool gated = false;  ///< It must not preempt (CA-73).
  bool waits = false;  ///< The job of its family is stopping: it may reserve, but not be admitted with it (CA-67).
  friend bool operator==(const OptionInfo&, const OptionInfo&) = default;
};

/// Everything that the scheduler needs to know of a pending or reserving Workload. Immutable; a changed Workload gets a new one.
struct WorkloadInfo {
  WorkloadId id = 0;
  Symbol namespace_;
  CompactText name;
  CompactText uid;
  CompactText job_uid;  ///< Label kueue.x-k8s.io/job-uid, for messages; empty: UNKNOWN.
  Symbol local_queue;
  std::int64_t priority = 0;  ///< Effective priority (§3.2).
  std::int64_t base_priority = 0;
  std::int64_t generation = 0;  ///< Of its spec.
  Time created;
  Time queue_time;  ///< Queue timestamp (§3.2).
  Interned<std::vector<PodSetInfo>> pod_sets;
  std::uint64_t equivalence_hash = 0;  ///< §3.6; 0: unknown.
  bool evicted = false;                ///< Evicted=True.
  bool failed_checks = false;          ///< Some check is in Retry or Rejected.
  std::vector<Symbol> ready_checks;    ///< Checks in state Ready.
  bool requeued_false = false;         ///< Condition Requeued is False: the back-off gate is closed (§3.3).
  Time requeue_at;                     ///< Gate closed until then; never: no back-off.
  CompactText limits_error;            ///< Non-empty: Misconfigured, with this message.
  Time reserved_at;                    ///< Transition of QuotaReserved=True.
  /// The slice of the same job that it is to replace and that holds quota in its queue: it is charged the difference only (EJ-32).
  WorkloadId replaces = no_workload;
  CompactText slice_name;                    ///< Of an elastic slice: name of the chain's origin.
  bool asks_nothing = false;                 ///< The difference is zero or negative everywhere: it goes before all others (EJ-20).
  std::shared_ptr<const SizingInfo> sizing;  ///< Null: its resources are as they are.
  std::shared_ptr<const OptionInfo> option;  ///< Null: it belongs to no family.
  std::shared_ptr<const std::vector<Symbol>> allowed;  ///< Flavors that it may be assigned; null: all (CA-13).
  // What the Workload shows now; a cycle that would write the same again changes nothing.
  Symbol pending_reason;  ///< Reason of QuotaReserved=False; empty: no condition.
  SharedText pending_message;
};

/// The flavors of one pod set and what it uses of them in all.
struct PodSetReservation {
  Symbol pod_set;
  std::int32_t count = 0;
  std::vector<std::pair<Symbol, Symbol>> flavors;  ///< resource → flavor, sorted by resource text.
  std::vector<std::pair<Symbol, Amount>> usage;    ///< resource → total for `count` pods, sorted by resource text.
  Interned<TopologyAssignment> topology{};         ///< Empty: it has none.
  DelayedTopology delayed = DelayedTopology::none;
  friend bool operator==(const PodSetReservation&, const PodSetReservation&) = default;
};

/// What a reserving Workload holds.
struct Reservation {
  std::shared_ptr<const WorkloadInfo> workload;
  std::vector<PodSetReservation> pod_sets;
  /// Charged now: usage × min(admitted count, spec count − reclaimable) / admitted count (BA-209), summed by (flavor, resource).
  struct Charge {
    Symbol flavor;
    Symbol resource;
    Amount amount = 0;
    friend bool operator==(const Charge&, const Charge&) = default;
  };
  std::vector<Charge> charges;          ///< Sorted by flavor text, then resource text.
  std::vector<Symbol> unhealthy_nodes;  ///< Hosts of its places whose nodes failed; by text.
  /// When places are looked for that it did not get with its quota; never: none are missing, or they have to wait (2724 §4.8).
  Time second_pass_at;
  std::int32_t second_passes = 0;  ///< In vain so far.
  /// Of elastic slices: `pod_sets` with counts and usage cut to what counts now (EJ-31).
  std::vector<PodSetReservation> effective;
  bool hold = false;       ///< It is kept for an Option that is on its way, and counts in no status (CA-59).
  bool uncounted = false;  ///< Its family has another one that counts in shares (CA-92).
};

/// What a slice with `now` uses more than one with `before`, by resource; sorted by resource text, zeros left out.
[[nodiscard]] std::vector<std::pair<Symbol, Amount>> slice_delta(const std::vector<PodSetReservation>& now,
                                                                 const std::vector<PodSetReservation>& before);

/// What of the requests of a pod counts against quota, under which names (BA-44): after exclusion and transformation, sorted by resource
/// text. `covers_pods`: the queue has quota for resource "pods", of which one pod is one unit (BA-42).
[[nodiscard]] std::vector<ResourceRequest> countable_requests(const std::vector<ResourceRequest>& requests, const Settings& settings,
                                                              bool covers_pods);

/// Where a flavor scan stopped, per pod set and resource (§5.4.7).
struct ScanState {
  struct Entry {
    Symbol pod_set;
    Symbol resource;
    std::int32_t flavor_index = -1;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::vector<Entry> entries;    ///< Empty: none kept.
  std::uint64_t cycle = 0;       ///< Number of the cycle that recorded it.
  std::uint64_t generation = 0;  ///< Generation of the ClusterQueue then (§2.3).
  std::uint64_t equivalence_hash = 0;

  [[nodiscard]] bool unfinished() const {
    for (const auto& e : entries)
      if (e.flavor_index != -1) return true;
    return false;
  }
};

}  // namespace hindsight::admission
