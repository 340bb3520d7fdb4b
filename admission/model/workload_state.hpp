#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/model/catalog_view.hpp"
#include "admission/model/intents.hpp"
#include "admission/model/workload_info.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/boxed.hpp"
#include "vocabulary/decisions.hpp"
#include "vocabulary/state_hash.hpp"

namespace hindsight::admission {

struct Condition {
  ConditionType type = ConditionType::unspecified;
  ConditionStatus status = ConditionStatus::unknown;
  Symbol reason;
  SharedText message;
  Time last_transition;

  [[nodiscard]] bool is_true() const { return status == ConditionStatus::true_; }
  [[nodiscard]] bool is_false() const { return status == ConditionStatus::false_; }
};

/// A pod set as the Workload's spec has it.
struct PodSetSpec {
  Symbol name;
  std::int32_t count = 1;
  std::int32_t min_count = -1;
  std::vector<ResourceRequest> requests;  ///< Per pod as observed, sorted by resource text.
  Interned<PodShape> shape;
  std::uint64_t shape_hash = 0, template_hash = 0, core_hash = 0;
  Symbol group;
  CompactText limits_error;       ///< As observed: what exceeds the template's own limits.
  CompactText limit_range_error;  ///< What breaks a LimitRange of the namespace.
  std::vector<SizedPart> sized;   ///< Its containers, where bounds apply to some.
  std::uint64_t bare_hash = 0;    ///< With `sized`: core_hash without what the bounds are about.
  std::optional<TopologyRequest> topology;
  bool ranked = false;                 ///< Its pods carry their rank, also where they ask for no topology (TAS-46): the completion index.
  std::optional<std::int32_t> groups;  ///< Sub-groups of equal size, whose ranks follow each other.
  friend bool operator==(const PodSetSpec&, const PodSetSpec&) = default;
};
[[nodiscard]] std::uint64_t interning_hash(const std::vector<PodSetSpec>& pod_sets);

[[nodiscard]] std::vector<PodSetSpec> own_pod_sets(List<PodSetFacts> facts);
/// Flavors and usage sorted by resource text.
[[nodiscard]] std::vector<PodSetReservation> own_assignments(List<PodSetAssignmentFacts> facts);
[[nodiscard]] std::vector<Symbol> own_names(List<Text> names);
[[nodiscard]] SizingPlan own_plan(List<PlannedAmount> facts);
void add_plan(StateHash& h, const SizingPlan& plan);

/// See PodSetUpdateFacts.
struct PodSetUpdate {
  Symbol pod_set;
  std::vector<std::pair<Symbol, std::string>> node_selector;
  std::vector<OwnedToleration> tolerations;
  friend bool operator==(const PodSetUpdate&, const PodSetUpdate&) = default;
};

struct CheckStatus {
  Symbol name;
  CheckState state = CheckState::pending;
  Time last_transition;
  std::string message;
  std::int32_t requeue_after_seconds = -1;  ///< −1: not given.
  std::int32_t retry_count = -1;
  std::string pod_set_updates;
  std::vector<PodSetUpdate> updates = {};  ///< Of the same.
  friend bool operator==(const CheckStatus&, const CheckStatus&) = default;
};

struct Admission {
  Symbol cluster_queue;
  std::vector<PodSetReservation> pod_sets;
};

struct EvictionStat {
  Symbol reason, cause;
  std::int32_t count = 0;
};

// ---- families of concurrent admission (8691) --------------------------------------------------------------------------------

/// What the object says of families.
struct FamilyFacts {
  CompactText option_of;     ///< Uid of the Workload that controls it; empty: none does.
  CompactText parent_name;   ///< Name of the same.
  bool option_made = false;  ///< It carries the gate kueue.x-k8s.io/concurrent-admission, as all Options do that we make.
  bool parent_marked = false;
  bool constrained = false;  ///< It may be assigned `allowed` only.
  std::vector<Symbol> allowed;
  bool closed_gate = false;  ///< A preemption gate of somebody else is closed (CA-79).
  friend bool operator==(const FamilyFacts&, const FamilyFacts&) = default;
};

/// How an Option stands in its family.
struct OptionState {
  bool rejected = false;                  ///< By a check, until the family begins anew (CA-84).
  OptionCause cause = OptionCause::none;  ///< Of its last switch.
  SharedText message;                     ///< Of the same.
  bool gate_open = false;                 ///< It has the right to preempt (CA-73).
  Time gate_since;                        ///< When that changed last; never: it has never had it.
  bool passed_over = false;               ///< It had the right for its time and made nothing of it (CA-74).
  bool anew = false;                      ///< Its family began anew, and it has not been switched since: its start delay counts again.
};

/// An Option that was asked for and has not been seen.
struct RequestedOption {
  CompactText name;
  Symbol option;
  std::vector<Symbol> flavors;
  bool active = true;
  SharedText message;       ///< Why it is not.
  bool refused = false;     ///< The API server does not take it for now; it is asked again.
  std::uint64_t since = 0;  ///< Sequence of the request.
};

/// One entry of status.options.
struct OptionStatus {
  CompactText name;
  std::vector<Symbol> flavors;
  OptionPhase phase = OptionPhase::pending;
  SharedText message;
  Time last_transition;
};

/// What a Parent is beside a Workload.
struct FamilyState {
  Time cycle_start;           ///< When it was made, or began anew.
  Time first_admitted;        ///< Since then (T₀ of CA-28); never: not yet.
  bool holds_itself = false;  ///< Its reservation is its own, until an Option takes it over (CA-120).
  CompactText shown;          ///< Uid of the Option whose admission it shows; empty: none.
  CompactText migrating_to;   ///< Uid of the Option that a migration is under way to; empty: none.
  Boxed<Admission> hold;      ///< What is kept for that one (CA-59); absent: it holds quota itself, or there is none.
  std::vector<RequestedOption> requested;
  std::vector<Symbol> foreign;  ///< Options whose name is that of somebody else's object; they have the hashed one (8691 §2.7).
  std::vector<OptionStatus> options;
  // What was gained by a move and lost again soon is not tried again at once (8691 §6).
  Time migrated_at;         ///< When it moved last in this cycle; never: it has not.
  std::int32_t undone = 0;  ///< How many moves in a row came to nothing (move_undone_within).
  Time paused_until;        ///< No move is tried before.
};

/// Parts of a Workload that this program writes, each of which may await the confirmation that the API server shows it.
enum class Section : std::uint8_t {
  conditions = 0,
  admission = 16,
  checks = 17,
  requeue_state = 18,
  reclaimable = 19,
  exec_time = 20,
  evictions = 21,
  active = 22,
  spec = 23,
  plan = 24,
  unhealthy_nodes = 25,
  parent_markers = 26,
  options = 27,
  preemption_gates = 28
};

/// One Workload object: what was observed of it and what was decided about it since.
///
/// A decided part stays "unconfirmed" until an observation shows it as decided; until then older observations do not undo it. A
/// confirmed part follows whatever is observed: then somebody else changed it (rules 1 and 5).
class WorkloadState {
 public:
  // ---- identity and spec -----------------------------------------------------------------------------------------------
  WorkloadId id = 0;
  Symbol namespace_;
  CompactText name, uid, owner_uid;
  Time created;
  std::uint64_t resource_version = 0;
  std::int64_t generation = 0;
  bool deleting = false;
  bool in_use_finalizer = false;
  bool gone = false;      ///< Its object was deleted. It is kept, and `deleting`, as long as its job runs on its quota.
  bool job_made = false;  ///< A job owned it when it was made (label job-uid).
  Symbol queue_name;
  Interned<std::vector<PodSetSpec>> pod_sets;
  std::optional<std::int32_t> priority;
  PriorityClassKind priority_class_kind = PriorityClassKind::none;
  Symbol priority_class;
  bool active = true;
  std::int32_t max_exec_seconds = 0;  ///< 0: no limit.
  CompactText admission_gated_by;
  std::int32_t priority_boost = 0;
  bool elastic = false;         ///< A slice of an elastic job.
  CompactText replacement_for;  ///< "<namespace>/<name>" of the slice that it is to replace; empty: none.
  CompactText slice_name;       ///< Name of the chain's origin; empty: its own.
  ResourcePolicy resource_policy = ResourcePolicy::none;
  CompactText resource_bounds;      ///< The annotation as it is.
  Boxed<FamilyFacts> family_facts;  ///< Absent: it says nothing of families.

  // ---- status -----------------------------------------------------------------------------------------------------------
  std::vector<Condition> conditions;
  Boxed<Admission> admission;
  std::vector<CheckStatus> checks;
  bool has_requeue_state = false;
  std::int32_t requeue_count = 0;
  Time requeue_at;
  std::vector<std::pair<Symbol, std::int32_t>> reclaimable;
  std::optional<std::int32_t> accumulated_exec_seconds;
  std::vector<EvictionStat> evictions;
  std::vector<Symbol> unhealthy_nodes;  ///< Hosts of its assignment whose nodes failed; by text (2724 §4.9).
  std::int32_t second_passes = 0;       ///< How often places have been looked for in vain that its quota did not come with (2724 §4.8).
  Time second_pass_at;                  ///< When they are looked for next.
  SizingPlan plan;                      ///< Of the reservation: what its job is to be started with; empty: as it is (5440 MR-45).

  // ---- bookkeeping ------------------------------------------------------------------------------------------------------
  std::uint32_t unconfirmed = 0;    ///< Bits by condition type and Section.
  std::uint64_t last_decision = 0;  ///< Sequence of the newest decision in it.
  std::uint64_t resolve_since = 0;  ///< Sequence of the last change that asks for the pending reason to be resolved anew (base-api §6.3).
  bool revision_pending = false;    ///< WorkloadRevised was decided and not seen yet.
  std::int64_t revised_for = 0;     ///< Generation of the job that the newest WorkloadRevised was about.
  bool removal_pending = false;     ///< WorkloadRemoved was decided.
  CompactText gate_noted;           ///< Value of admission-gated-by as the log tells of it; empty: it is not held back.
  Time gated_since;                 ///< Of `gate_noted`.
  // Refused starts with a plan (5440 MR-51, MR-53).
  std::int32_t plan_refusals = 0;  ///< In a row.
  CompactText plan_refusal;        ///< What the API server said last.
  bool sizing_barred = false;      ///< Its resources are left as they are.
  Time sizing_barred_at;
  CompactText quarantined;    ///< Why the object was set aside; then this is its last version that could be read.
  Boxed<FamilyState> family;  ///< It is a Parent.
  Boxed<OptionState> option;  ///< It is an Option.

  // ---- reading ----------------------------------------------------------------------------------------------------------
  [[nodiscard]] const Condition* find(ConditionType type) const {
    for (const auto& c : conditions)
      if (c.type == type) return &c;
    return nullptr;
  }
  [[nodiscard]] bool is_true(ConditionType type) const {
    const auto* c = find(type);
    return c != nullptr && c->is_true();
  }
  [[nodiscard]] bool finished() const { return is_true(ConditionType::finished); }
  [[nodiscard]] bool evicted() const { return is_true(ConditionType::evicted); }
  [[nodiscard]] bool reserved() const { return is_true(ConditionType::quota_reserved) && admission.has_value(); }
  [[nodiscard]] bool admitted() const { return is_true(ConditionType::admitted); }
  [[nodiscard]] bool waits_for(ConditionType t) const { return (unconfirmed >> static_cast<unsigned>(t) & 1U) != 0; }
  [[nodiscard]] bool waits_for(Section s) const { return (unconfirmed >> static_cast<unsigned>(s) & 1U) != 0; }
  [[nodiscard]] std::int32_t reclaimable_of(const Symbol& pod_set) const;
  /// Uid of the Workload that controls it; empty: none does.
  [[nodiscard]] std::string_view option_of() const { return family_facts ? std::string_view(family_facts->option_of) : std::string_view(); }
  /// We made it as an Option of another Workload (8691 §2.6).
  [[nodiscard]] bool is_made_as_option() const { return family_facts && family_facts->option_made && !family_facts->option_of.empty(); }
  [[nodiscard]] std::int64_t effective_priority(const Settings& settings) const;
  [[nodiscard]] Time queue_time(const Settings& settings) const;

  // ---- changing ---------------------------------------------------------------------------------------------------------

  /// Folds an observation. True if it told more than our own writes coming back.
  bool observe(const WorkloadObserved& o, std::uint64_t sequence);

  /// Sets a condition as a decision: transition time changes only with the status (metav1 rule).
  void decide_condition(ConditionType type, ConditionStatus status, Symbol reason, std::string_view message, Time now);
  void remove_condition(ConditionType type);
  void await(Section s) { unconfirmed |= 1U << static_cast<unsigned>(s); }

  /// It has run so long: what it had `before`, and the time since it was admitted last.
  void add_exec_time(std::optional<std::int32_t> before, Time since, Time now);
  /// The seconds that it may still run, of those that `max_exec_seconds` grants; below 0: it has had more.
  [[nodiscard]] std::int64_t exec_seconds_left() const {
    return std::int64_t{max_exec_seconds} - std::int64_t{accumulated_exec_seconds.value_or(0)};
  }
  /// QuotaReserved=False with everything that goes with it (§8.1).
  void clear_reservation(Symbol reason, std::string_view message, Time now);
  /// The sizes of the reservation; they are shown in an annotation.
  void set_plan(SizingPlan wanted);
  void set_unhealthy(std::vector<Symbol> nodes);
  /// Does a pod set wait for places that its quota did not come with?
  [[nodiscard]] bool lacks_places() const;
  [[nodiscard]] bool checks_ready() const;
  /// Of those to come.
  void set_second_pass(std::int32_t in_vain, Time next);
  /// As if it had never been reserved, because that could not be written (BA-75). Other decisions still await their confirmation.
  void take_back_reservation();
  /// Everything that an eviction resets (§8.2).
  /// `counted_as`: the reason in the statistics; `counts`: it stands there at all.
  void evict(Symbol reason, Symbol cause, std::string_view message, Time now, Symbol counted_as, bool counts);
  /// A reservation clears what an earlier eviction left behind (§8.1, BA-128).
  void reset_previous(Time now);

  [[nodiscard]] std::uint64_t hash() const;

 private:
  bool observe_family(const WorkloadObserved& o);
};

/// Reads the snapshot form and back (admission/state/snapshot.cpp).
[[nodiscard]] CheckStatus own_check(const CheckFacts& c);
[[nodiscard]] CheckFacts view_check(const CheckStatus& c, Arena& arena);

/// Where an Option stands in its family, for `make_info`.
struct OptionPlace {
  const WorkloadState* parent = nullptr;
  std::shared_ptr<const std::vector<Symbol>> allowed;
  OptionInfo info;
  Time not_before;  ///< It is not tried before; never: it may be at any time.
};
/// The scheduler's form of a pending or reserving Workload. `replaced`: the slice that holds quota and that it is to replace. `place`: null
/// where it is no Option.
[[nodiscard]] std::shared_ptr<const WorkloadInfo> make_info(const WorkloadState& w, const Catalog& catalog, const CompactText& job_uid,
                                                            const WorkloadState* replaced = nullptr, const OptionPlace* place = nullptr);
/// Is that which is known of its family from others than itself in `told`?
[[nodiscard]] bool is_told(const WorkloadInfo& told, const WorkloadState& w, const Catalog& catalog, const OptionPlace& place);
/// How its pods can be scheduled: as the template says, and what checks that are Ready add (TAS-91).
[[nodiscard]] Interned<PodShape> shape_with_updates(const WorkloadState& w, const PodSetSpec& pod_set);
/// What it holds; `info` must be its current form. `replaced`: as above; what that one holds is not charged a second time, so that both
/// together hold the larger of the two (EJ-45).
[[nodiscard]] std::shared_ptr<const Reservation> make_reservation(const WorkloadState& w, std::shared_ptr<const WorkloadInfo> info,
                                                                  const WorkloadState* replaced = nullptr);
[[nodiscard]] inline WorkloadRef ref(const WorkloadState& w, Arena& a) { return {a.copy(w.uid), w.namespace_.text(), a.copy(w.name)}; }

/// What of the admission counts now, by pod set (EJ-31); empty without admission.
[[nodiscard]] std::vector<PodSetReservation> effective_usage(const WorkloadState& w);

/// The checks that a queue asks of a Workload: with assigned flavors those that concern one of them, without those for all flavors
/// of the queue (§8.3). Sorted by name.
[[nodiscard]] std::vector<Symbol> required_checks(const QueueConfig& queue, const std::vector<PodSetReservation>* assignment);

}  // namespace hindsight::admission
