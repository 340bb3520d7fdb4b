#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "admission/model/node_labels.hpp"
#include "vocabulary/compact_text.hpp"
#include "vocabulary/observations.hpp"
#include "vocabulary/symbol.hpp"

namespace hindsight::admission {

// The configuration objects in the form that decisions read: names interned, values owned. Built from observations by
// the domain, shared by pointer as an immutable whole (`Catalog`), never changed in place once shared.

struct OwnedRequirement {
  Symbol key;
  SelectorOperator op = SelectorOperator::unspecified;
  std::vector<std::string> values;
  friend bool operator==(const OwnedRequirement&, const OwnedRequirement&) = default;
};

struct OwnedTerm {
  std::vector<OwnedRequirement> requirements;
  std::vector<OwnedRequirement> fields = {};  ///< Of the object itself, likewise AND-ed.
  friend bool operator==(const OwnedTerm&, const OwnedTerm&) = default;
};

struct OwnedTaint {
  std::string key, value;
  TaintEffect effect = TaintEffect::unspecified;
  friend bool operator==(const OwnedTaint&, const OwnedTaint&) = default;
};

struct OwnedToleration {
  std::string key, value;
  bool exists = false;
  TaintEffect effect = TaintEffect::unspecified;
  std::optional<std::int64_t> seconds;  ///< tolerationSeconds, for the pods.
  friend bool operator==(const OwnedToleration&, const OwnedToleration&) = default;
};

struct FlavorConfig {
  Symbol name;
  std::vector<std::pair<Symbol, std::string>> node_labels;  ///< Sorted by key text.
  std::vector<OwnedTaint> taints;
  std::vector<OwnedToleration> tolerations;
  Symbol topology;
};

/// What topologies have to know of a node.
struct NodeConfig {
  Symbol name;
  CompactText uid;
  std::uint64_t version = 0;  ///< Of the object, as it was seen last; 0: not known.
  NodeLabels labels;
  std::vector<OwnedTaint> taints;
  Interned<AmountList> allocatable;
  bool ready = false;
  bool unschedulable = false;
  bool silent = false;        ///< It has no condition Ready at all.
  Time not_ready_since;       ///< As it was observed; while it is ready, never.
  Interned<AmountList> used;  ///< By pods that no assignment stands for.
  [[nodiscard]] std::string_view label(Symbol key) const { return labels.at(key); }
  [[nodiscard]] bool has_label(Symbol key) const { return labels.has(key); }
  /// Does nothing that anybody could care about differ?
  [[nodiscard]] bool says_the_same_as(const NodeConfig& other) const {
    NodeConfig as_new = *this;
    as_new.version = other.version;
    return as_new == other;
  }
  friend bool operator==(const NodeConfig&, const NodeConfig&) = default;
};
using Nodes = std::map<Symbol, std::shared_ptr<const NodeConfig>, ByText>;
/// Nodes by what they are called in places: their label `kubernetes.io/hostname` (TAS-24).
struct Hosts {
  /// Host → nodes that have another name than their host; of all its nodes the first by name counts.
  std::unordered_map<Symbol, std::set<Symbol, ByText>> nodes;
  /// Hosts on which somebody has places and of which something may be amiss: a node that is not ready or keeps pods away, or none.
  std::unordered_set<Symbol> doubtful;
};

/// What NodeConfig::used is made of, also of nodes that are not there now.
using NodeUsage = std::map<Symbol, std::vector<std::pair<Symbol, Amount>>, ByText>;

/// Quota of one (flavor, resource) pair on a ClusterQueue or Cohort.
struct Quota {
  Amount nominal = 0;
  std::optional<Amount> borrowing_limit;
  std::optional<Amount> lending_limit;
};

struct FlavorQuotas {
  Symbol flavor;
  std::vector<Quota> quotas;  ///< One for each covered resource of the group, same order.
};

struct ResourceGroup {
  std::vector<Symbol> resources;
  std::vector<FlavorQuotas> flavors;  ///< In try order.
};

struct CheckRule {
  Symbol name;
  std::vector<Symbol> on_flavors;  ///< Empty: every flavor.
};

/// An attempt that a ClusterQueue asks for (8691 §2.2).
struct OptionConfig {
  Symbol name;
  std::int32_t create_delay_seconds = 0;
  std::optional<std::int32_t> delete_delay_seconds;  ///< Absent: never.
  std::vector<Symbol> flavors;
  friend bool operator==(const OptionConfig&, const OptionConfig&) = default;
};

struct OptionSpec;

/// spec.concurrentAdmission and spec.concurrentAdmissionPolicy as one (8691 §2.4).
struct ConcurrentAdmission {
  bool enabled = false;
  bool kueue_form = false;  ///< Texts speak of variants.
  OnSuccess on_success = OnSuccess::unset;
  Symbol target;                      ///< With remove_below_target.
  std::vector<OptionConfig> options;  ///< Explicit ones; none: one for each flavor.
  UpgradeFungibility upgrades = UpgradeFungibility::always;
  /// What follows from these and the flavors of the queue (options/option_plan.hpp); null: it is found when asked for.
  std::shared_ptr<const std::vector<OptionSpec>> specs;
};

struct QueueConfig {
  Symbol name;
  Symbol cohort;  ///< Empty: none.
  std::vector<ResourceGroup> groups;
  QueueingStrategy strategy = QueueingStrategy::best_effort_fifo;
  bool has_namespace_selector = false;
  std::vector<OwnedRequirement> namespace_selector;
  std::uint64_t selector_since = 0;  ///< Sequence of its last change; 0: it is the first one. Who waits is not told of a change (BA-208).
  FungibilityPolicy when_can_borrow = FungibilityPolicy::may_stop_search;
  FungibilityPolicy when_can_preempt = FungibilityPolicy::try_next_flavor;
  FungibilityPreference preference = FungibilityPreference::unset;
  PreemptionPolicy within_cluster_queue = PreemptionPolicy::never;
  PreemptionPolicy reclaim_within_cohort = PreemptionPolicy::never;
  PreemptionPolicy borrow_within_cohort = PreemptionPolicy::never;
  std::optional<std::int32_t> max_priority_threshold;
  std::vector<CheckRule> checks;
  StopPolicy stop_policy = StopPolicy::none;
  bool stop_policy_set = false;
  std::int64_t fair_weight_nano = 1'000'000'000;
  AdmissionMode admission_mode = AdmissionMode::unset;
  bool deleting = false;
  ConcurrentAdmission concurrent;
};

struct CohortConfig {
  Symbol name;
  Symbol parent;
  std::vector<ResourceGroup> groups;
  std::int64_t fair_weight_nano = 1'000'000'000;
};

/// Settings that decisions depend on; defaults are those of base-api §11 and §12 (BA-27).
struct Settings {
  bool fair_sharing = false;
  /// In configured order; never empty with fair sharing (an empty list means both, base-admission §7.5).
  enum class FairStrategy : std::uint8_t { less_than_or_equal_to_final_share, less_than_initial_share };
  std::vector<FairStrategy> fair_strategies{FairStrategy::less_than_or_equal_to_final_share, FairStrategy::less_than_initial_share};
  /// admissionFairSharing (base-admission §10); absent: off.
  struct AdmissionFairSharing {
    Duration half_life;  ///< 0: usage has no memory.
    Duration sampling_interval = Duration::seconds(5 * 60);
    std::vector<std::pair<Symbol, double>> resource_weights;  ///< Those given; all others weigh 1.
  };
  std::optional<AdmissionFairSharing> admission_fair_sharing;
  bool ignore_undeclared_resources = false;  ///< quotaCheckStrategy IgnoreUndeclared.
  std::vector<std::string> exclude_resource_prefixes;
  struct Transformation {
    std::string input;
    bool replace = false;
    std::string multiply_by;
    std::vector<std::pair<std::string, std::int64_t>> outputs_nano;  ///< Factor in 10⁻⁹.
  };
  std::vector<Transformation> transformations;
  bool manage_jobs_without_queue_name = false;
  /// managedJobsNamespaceSelector; as given here it leaves out what the system's own namespaces are called (BA-172).
  std::vector<OwnedRequirement> managed_jobs_namespaces{
      {Symbol("kubernetes.io/metadata.name"), SelectorOperator::not_in, {"kube-system", "kueue-system"}}};
  bool pods_ready_enabled = true;  ///< waitForPodsReady: on by default in v1beta2 (BA-138).
  Duration pods_ready_timeout = Duration::seconds(30 * 60);
  bool block_admission = false;
  Duration recovery_timeout = Duration::seconds(30 * 60);  ///< 0: none.
  bool requeue_by_eviction_time = true;                    ///< requeuingStrategy.timestamp = Eviction.
  std::optional<std::int32_t> backoff_limit_count;
  std::int32_t backoff_base_seconds = 60;
  std::int32_t backoff_max_seconds = 3600;
  std::optional<Duration> retain_finished;
  std::optional<Duration> retain_deactivated;
  std::optional<std::int32_t> slice_history;            ///< Replaced slices that are kept of one elastic job (EJ-100); absent: all of them.
  Duration reactivation_batch = Duration::millis(100);  ///< §3.7: requests within this span are carried out together (BA-59; Kueue: 1 s).
  /// How often one Workload may preempt the same other one without news from outside (D13; repeated_preemptions.hpp); 0: without limit.
  std::int32_t repeated_preemptions = 3;
  Duration claim_duration = Duration::seconds(1);  ///< How long room is kept for one that was passed over (D14; claims.hpp); 0: not at all.
  /// So many admissions for each write that the API server does well with at a time may be without their write before cycles wait (D15;
  /// write_backlog.hpp); 0: cycles never wait.
  std::int32_t admissions_ahead = 2;
  bool count_hosts = false;         ///< hindsight.topologyCapacity: Nodes (TAS-65, topology/host_room.hpp), in place of sums.
  bool compact_topologies = false;  ///< hindsight.topologyProfile: Compact, in place of Kueue's algorithm (topology/compact.hpp).
  // feature gates with their defaults (base-api §12)
  bool partial_admission = true;
  bool flavor_fungibility = true;
  bool priority_sorting_within_cohort = true;
  bool fair_sharing_preempt_within_nominal = true;
  bool fair_sharing_prioritize_non_borrowing = true;
  bool scheduling_equivalence_hashing = true;
  bool reclaimable_pods = true;
  bool priority_boost = false;
  bool prioritize_preemptors = false;  ///< PrioritizePreemptorWorkloads (BA-196).
  bool unadmitted_explicit_status = false;
  bool preserve_scan_progress = true;
  bool recompute_overlapping = true;
  bool finish_orphaned = true;
  bool elastic_jobs = true;
  bool scheduling_gated_by = false;
  bool admission_gated_by = true;
  bool adjust_resources = false;      ///< AdjustResourcesOnAdmission (5440 §2.4).
  bool topologies = true;             ///< TopologyAwareScheduling (2724 §2.10).
  bool mixed_profile = true;          ///< TASProfileMixed: pods that may stand anywhere fill the fullest places first.
  bool balanced_placement = false;    ///< TASBalancedPlacement (2724 §3.10).
  bool elastic_topologies = false;    ///< ElasticJobsViaWorkloadSlicesWithTAS: the pods of a replaced slice stay where they are (3.12).
  bool preferred_affinity = false;    ///< TASRespectNodeAffinityPreferred: the nodes that pods prefer go before the fullest ones.
  bool replace_nodes = true;          ///< TASFailedNodeReplacement (2724 §4.9).
  bool replace_or_evict = true;       ///< TASFailedNodeReplacementFailFast.
  bool replace_when_idle = true;      ///< TASReplaceNodeOnPodTermination: a node fails its workload once no pod of it makes progress there.
  bool replace_tainted = true;        ///< TASReplaceNodeOnNodeTaints.
  bool place_again = true;            ///< TASRecomputeAssignmentWithinSchedulingCycle.
  bool concurrent_admission = false;  ///< ConcurrentAdmission (8691 §2.1).
  bool strict_families = false;       ///< ConcurrentAdmissionStrictFIFO: a family holds up a StrictFIFO queue as one (CA-142).
  bool upgrades_block = false;        ///< hindsight.upgradesBlockStrictFIFO: so do upgrade Options (CA-143).
  bool short_workload_names = false;  ///< ShortWorkloadNames: Options have names of 63 characters at most.
  Duration preemption_right_timeout = Duration::seconds(5 * 60);  ///< hindsight.preemptionRightTimeout (CA-74); 0: none.
};

/// Why a ClusterQueue cannot admit now (base-api §6.4); `ready` otherwise.
struct QueueActivity {
  bool active = false;
  std::string reason = "Unknown";
  std::string message;
};

}  // namespace hindsight::admission
