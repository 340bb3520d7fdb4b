#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/messages.hpp"
#include "admission/model/pod_state.hpp"
#include "admission/model/slices.hpp"
#include "admission/model/state_field.hpp"
#include "admission/model/workload_state.hpp"
#include "admission/workload/family.hpp"
#include "admission/workload/repeated_steps.hpp"
#include "vocabulary/boxed.hpp"
#include "vocabulary/compact_text.hpp"

namespace hindsight::admission {

/// A job as its integration reported it last.
struct JobState {
  CompactText uid, name;
  Symbol kind, group, namespace_;
  std::uint64_t resource_version = 0;
  std::int64_t generation = 0;
  bool deleting = false;
  Symbol queue_name, priority_class, pod_priority_class;
  CompactText prebuilt_workload;
  std::int32_t max_exec_seconds = 0;
  bool suspended = false, active = false, pods_ready = false, stopping = false, finished = false, succeeded = false, on_hold = false,
       managed = true;
  CompactText finish_message, admission_gated_by;
  CompactText workload_name;
  Interned<std::vector<PodSetSpec>> pod_sets;
  std::vector<std::pair<Symbol, std::int32_t>> reclaimable;
  std::vector<std::pair<Symbol, std::int32_t>> remaining;  ///< Of elastic jobs: pods that have still to run to the end, where told.
  std::int32_t ready_pods = -1;                            ///< Ready or succeeded; -1: not told.
  bool elastic = false;                                    ///< Annotation elastic-job: "true".
  bool pods_gated = false;                                 ///< All of its pod templates carry the scheduling gate elastic-job.
  CompactText start_error;                                 ///< Why the job cannot be started as assigned; permanent (base-api §7.1).
  bool removal_pending = false;                            ///< It was decided that the job shall be deleted.
  std::uint64_t requested_since = 0;                       ///< Sequence of a WorkloadRequested whose object has not been seen; 0: none.
  CompactText requested_name;                              ///< Of that object.
  CompactText requested_for;                               ///< Uid of the slice that it shall replace; empty: none.
  CompactText scheduling_gated_by;                         ///< The annotation (6915, contract S).
  CompactText gate_noted;                                  ///< Its value as the log tells of it, while it holds the job back.
  Time gated_since;                                        ///< Of `gate_noted`.
  bool gate_ignored = false;                               ///< It came when the job had a Workload (SG-5).
  bool by_itself = false;                                  ///< It was queued because its owner had no room for it.
  bool stop_noted = false;                                 ///< JobStopped was decided, and the job is not seen suspended yet.
  bool start_due = false;        ///< It was to be started, and is neither seen to run nor known not to: its pods may come yet.
  std::uint64_t start_left = 0;  ///< Sequence since which it is not to be started any more, while `start_due`; else 0.
  ResourcePolicy resource_policy = ResourcePolicy::none;
  CompactText resource_bounds;
  SizingPlan plan;          ///< The sizes that its containers were seen with, where these are not its own.
  CompactText quarantined;  ///< Why it was set aside; then all but its outline is of the last version that could be read.

  [[nodiscard]] std::uint64_t hash() const;
  /// Only of what others than we change: a job that starts and stops because we say so is no news (D10).
  [[nodiscard]] std::uint64_t outside_hash() const;
  /// Of everything that is observed of it and that steps depend on; not of its version and generation, which our own writes change too.
  [[nodiscard]] std::uint64_t observed_hash() const;
};

/// The actor that stands for a job through resizes, evictions and restarts, or for a Workload that no job owns. It owns the life
/// cycle (base-admission §8, base-api §6.3 and §7.1): the job's state and its Workload objects.
class WorkloadParent final : public Entity {
 public:
  explicit WorkloadParent(Address self) : self_(self) {}

  void receive(Message& message, const Context& context, Outbox& out) override;

  /// What the objects of this parent should look like; only those that differ from what was seen. Of pods, of which a job may have tens of
  /// thousands, only those that were released since the last call, unless `all` are asked for.
  void collect_intents(const Context& context, bool all, std::vector<Intent>& out);
  /// Nobody wants to know what pods were released.
  void forget_releases() { told_next_.clear(); }

  [[nodiscard]] const Boxed<JobState>& job() const { return job_; }
  [[nodiscard]] const std::vector<WorkloadState>& workloads() const { return workloads_; }
  [[nodiscard]] const std::vector<PodState>& pods() const { return pods_; }
  [[nodiscard]] bool empty() const { return !job_ && workloads_.empty() && pods_.empty(); }
  /// The job runs although it has a managed ancestor whose Workload is not admitted: it is to be suspended (BA-171).
  [[nodiscard]] bool runs_before_its_ancestor() const {
    return job_ && child_ && !ancestor_runs_ && !job_->by_itself && !job_->suspended && !job_->finished && !job_->deleting;
  }
  /// The job is part of another one that is admitted and has room for it.
  [[nodiscard]] bool is_part_of_what_runs() const { return job_ && child_ && ancestor_runs_ && !beyond_; }
  /// The job claims to be part of another one that has no room for it (BA-171).
  [[nodiscard]] bool beyond_its_owner() const { return job_ && child_ && beyond_; }
  /// The job is held back by its annotation scheduling-gated-by: it gets no Workload (SG-23).
  [[nodiscard]] bool gated(const Catalog& catalog) const;
  /// No pod of the job runs, or comes from a start that was on its way when the job lost its admission.
  [[nodiscard]] bool at_rest() const { return !job_ || (job_->suspended && !job_->active && !job_->start_due); }
  /// The value of admission-gated-by that keeps the Workload from being admissible; empty: none (SG-60).
  [[nodiscard]] std::string_view admission_gate(const WorkloadState& w, const Catalog& catalog) const;
  /// The job names a WorkloadPriorityClass that does not exist: it has no Workload because of that (base-api §7.1), or it is an elastic
  /// one, whose slices keep the class that they have (EJ-94).
  [[nodiscard]] bool lacks_priority_class(const Catalog& catalog) const;
  /// Computed once for all that happened to it since the last time: of a hundred thousand parents a record concerns a few.
  [[nodiscard]] std::uint64_t hash() const;

  /// The slice that `index` is to replace and whose quota counts for it; null: none (EJ-28).
  /// `known`: the chain of now, where somebody has it already.
  [[nodiscard]] const WorkloadState* replaced_by(std::size_t index, const Context& c,
                                                 const std::optional<SliceChain>* known = nullptr) const;
  /// May the slice not be nominated now, although it waits (EJ-91, EJ-152, or it is about to be resized)?
  [[nodiscard]] bool withheld(std::size_t index, const Context& c, const std::optional<SliceChain>* known = nullptr) const;

  /// For snapshots: the state whole, and back. After `restore` the parent announces itself to its queues on the next Refresh.
  struct Image {
    Boxed<JobState> job;
    std::vector<WorkloadState> workloads;
    std::vector<PodState> pods;
    RepeatedSteps repeats;
  };
  [[nodiscard]] Image image() const { return {job_, workloads_, pods_, repeats_}; }
  void restore(Image image);
  /// The last part of it, when the domain has said again what it says after a snapshot was read: that is nothing that happens.
  void restore(RepeatedSteps repeats) {
    hash_ = 0;
    repeats_ = std::move(repeats);
  }
  [[nodiscard]] const RepeatedSteps& repeated_steps() const { return repeats_; }
  friend struct StateFields<WorkloadParent>;

 private:
  /// Where a Workload stands in the queues; follows from its state and the catalog.
  struct Placement {
    enum class Kind : std::uint8_t { none, pending, reserving } kind = Kind::none;
    Symbol queue;
    std::shared_ptr<const WorkloadInfo> info;
    std::shared_ptr<const Reservation> held;  ///< Of an elastic slice: as its queue was told.
    bool admitted = false;
    Symbol record_reason;    ///< Set while parked by a hash record.
    bool not_ready = false;  ///< As the domain was told (BA-76).
    bool beside = false;     ///< Another Option counts for its family in shares.
    friend class WorkloadParent;
  };

  // applying
  void apply_job(const JobObserved& o, Text quarantined, const Context& c, Outbox& out);
  void read_whole(const JobObserved& o);
  void apply_quarantine(const msg::Quarantined& m, const Context& c, Outbox& out);
  void apply_workload(const WorkloadObserved& o, WorkloadId id, const Context& c, Outbox& out);
  void make_room();
  void apply_pod(const PodObserved& o, const Context& c, Outbox& out);
  void apply_pod_gone(std::string_view uid, const Context& c, Outbox& out);
  void hand_over_pods(const msg::HandOverPods& m, const Context& c, Outbox& out);
  void take_over_pods(std::vector<PodState> pods, const Context& c, Outbox& out);
  void apply_released(const PodsReleased& e, const Context& c);
  void apply_placed(const PodsPlaced& e, const Context& c);
  void apply_gate(const GateChanged& e);
  void apply_event(const Event& e, WorkloadId id, const Context& c, Outbox& out);
  void remove_workload(std::size_t index, const Context& c, Outbox& out);
  /// The job runs, and the Workload that let it run was deleted.
  [[nodiscard]] bool runs_on_deleted() const;
  void apply_workload_gone(const msg::WorkloadGone& m, const Context& c, Outbox& out);
  /// Its object is gone or about to go, and the job still runs on its quota (D16).
  [[nodiscard]] bool outlives_its_object(const WorkloadState& w, const Catalog& catalog) const;
  /// Of Workloads whose objects have gone, those that nobody runs on any more.
  void forget_gone(const Context& c, Outbox& out);
  /// Tells the queues what changed since `publish` was called last. `touched`: the stored copy is replaced in any case.
  struct Publish {
    bool repush = false, force = false, touched = false;
    bool assumed = false;                    ///< The reservation was just decided.
    const WorkloadState* instead = nullptr;  ///< With `assumed`: the slice that it takes the place of.
  };
  /// What follows from all Workloads, where it is known; else it is looked up.
  struct Known {
    const Family* family = nullptr;  ///< Of an Option.
    const std::optional<SliceChain>* chain = nullptr;
  };
  void publish(std::size_t index, Publish how, const Context& c, Outbox& out, const Known& known);
  void publish(std::size_t index, Publish how, const Context& c, Outbox& out) { publish(index, how, c, out, Known()); }
  void publish_all(Publish how, const Context& c, Outbox& out);
  [[nodiscard]] std::shared_ptr<const Reservation> with_survivors(const WorkloadState& w, const Reservation& reservation,
                                                                  const Context& c) const;
  void follow_survivors(const Context& c, Outbox& out);
  void publish_again(const Context& c, Outbox& out);
  void announce_due(const Context& c, Outbox& out);
  void request_reactivation(const WorkloadState& w, const Context& c, Outbox& out, const Symbol& freed = {}) const;

  // slices of an elastic job (slice_parent.cpp)
  /// Do Workloads of this parent stand for each other as slices?
  [[nodiscard]] bool sliced(const Context& c) const;
  /// Nothing: there are no slices.
  [[nodiscard]] std::optional<SliceChain> chain_of(const Context& c) const;
  void apply_replacement(const SliceReplaced& e, std::size_t index, const Context& c, Outbox& out);
  [[nodiscard]] bool overtaken(const QuotaReserved& e, const WorkloadState& w) const;
  /// The slice whose quota a reservation that was just decided was charged against; null: none, or it has gone since.
  [[nodiscard]] const WorkloadState* charged_against(const QuotaReserved& e) const;
  [[nodiscard]] const WorkloadState* quota_holder(std::size_t slice, const Context& c) const;
  void end_slice(std::size_t index, std::string_view message, const Context& c, Outbox& out);
  void end_elsewhere(const WorkloadState& slice, const Context& c, Outbox& out);
  bool undo_replacement(const WorkloadState& replacement, const Context& c, Outbox& out);
  /// Finished by a replacement that the API server has not taken yet (EJ-50).
  [[nodiscard]] bool end_is_early(const WorkloadState& w) const;

  // families of concurrent admission (family_parent.cpp)
  /// Why an Option is not tried although it is active: reason and message of QuotaReserved=False.
  struct HeldBack {
    std::string_view reason, message;
  };
  [[nodiscard]] bool has_families() const;
  /// Workloads of the job, or a Workload without one: Options are no such (CA-12).
  [[nodiscard]] bool has_own_workloads() const {
    return std::any_of(workloads_.begin(), workloads_.end(), [](const WorkloadState& w) { return w.option_of().empty(); });
  }
  void meet_option(WorkloadState& w);
  void share_names(WorkloadState& option) const;
  [[nodiscard]] static bool refuse_option(WorkloadState& w, const WriteRefused& refused);
  [[nodiscard]] static bool wants_family(const WorkloadState& w, const Catalog& catalog);
  [[nodiscard]] FamilyRole role_of(std::size_t index, const Catalog& catalog) const;
  /// The Parent of an Option, if it is one; Family::none: it is not. `w`: one of the Workloads.
  [[nodiscard]] std::size_t family_parent_of(const WorkloadState& w) const {
    return !w.family && w.is_made_as_option() ? family_table().parent_of(workloads_, position_of(w)) : Family::none;
  }
  [[nodiscard]] std::size_t position_of(const WorkloadState& w) const { return static_cast<std::size_t>(&w - workloads_.data()); }
  /// `index`: of a Parent. Holds until the next call.
  [[nodiscard]] const Family& family_of(std::size_t index, const Context& c) const { return family_table().family(workloads_, index, c); }
  [[nodiscard]] FamilyTable& family_table() const {
    if (family_table_ == nullptr) family_table_ = std::make_unique<FamilyTable>();
    return *family_table_;
  }
  void forget_families() {
    if (family_table_ != nullptr) family_table_->forget();
  }
  [[nodiscard]] bool is_stopping(const Family& f) const;
  [[nodiscard]] static bool always_waits_for_checks(const Family& f, std::size_t rank);
  struct First {
    std::size_t member = Family::none;
    const FlavorPositions* flavors = nullptr;
  };
  [[nodiscard]] First first_of(const Family& f) const;
  [[nodiscard]] std::optional<HeldBack> held_back(const Family& f, std::size_t rank) const;
  [[nodiscard]] bool is_on_its_way(const Family& f, std::size_t rank, const Settings& settings) const;
  [[nodiscard]] bool option_may_wait(const Family& f, std::size_t rank, const Context& c) const;
  [[nodiscard]] OptionPlace option_place(const Family& f, std::size_t rank, const Context& c) const;
  [[nodiscard]] OptionPlace place_of_stranger(const Family& f, const WorkloadState& w) const;
  [[nodiscard]] bool counts_beside(const Family& f, std::size_t rank) const;
  [[nodiscard]] std::shared_ptr<const Reservation> hold_of(const Family& f, const Catalog& catalog) const;
  /// Whose family a message is about.
  struct Concerned {
    bool all = false;         ///< It may be about every one.
    CompactText before, now;  ///< Uids of the Parents; empty: it is about none.
  };
  [[nodiscard]] std::optional<WorkloadId> told_of_one(const Message& message) const;
  [[nodiscard]] CompactText family_key_of(WorkloadId id) const;
  void publish_families(const Concerned& concerned, const Context& c, Outbox& out);
  [[nodiscard]] bool is_told_as_slice(std::size_t option, const OptionPlace& place, const std::optional<SliceChain>& chain,
                                      const Context& c) const;
  void publish_family(std::size_t parent, const Context& c, Outbox& out);
  void publish_strays(std::string_view parent_uid, const Context& c, Outbox& out);
  void publish_hold(std::size_t index, const Context& c, Outbox& out);
  void show_options(const Family& f, const Context& c);
  [[nodiscard]] bool apply_family(const Event& e, std::size_t index, const Context& c);
  void follow_event(const Event& e, std::size_t index);
  static void take_over(WorkloadState& to, const WorkloadState& from);
  static void show_admission(WorkloadState& parent, const WorkloadState& option, const Context& c);
  // what it decides (family_reconcile.cpp)
  [[nodiscard]] bool reconcile_families(const Context& c, Proposal& p) const;
  void reconcile_family(const Family& f, const Context& c, Proposal& p) const;
  [[nodiscard]] bool is_awaited(const WorkloadState& option, const Catalog& catalog) const;
  void refuse_family(const WorkloadState& w, Proposal& p) const;
  void end_family(const Family& f, Proposal& p) const;
  [[nodiscard]] bool drained(const Family& f) const;
  [[nodiscard]] bool follow_eviction(const Family& f, Proposal& p) const;
  [[nodiscard]] bool follow_migration(const Family& f, Proposal& p) const;
  [[nodiscard]] bool show_running(const Family& f, const Context& c, Proposal& p) const;
  [[nodiscard]] bool admit_ready(const Family& f, const Context& c, Proposal& p) const;
  [[nodiscard]] bool lists_its_checks(const WorkloadState& w, const Context& c) const;
  void keep_members(const Family& f, const Context& c, Proposal& p) const;
  struct Wanted {
    bool active = true;
    OptionCause cause = OptionCause::policy;
    OptionStanding standing = OptionStanding::upgrade;  ///< To `first`.
    std::size_t first = Family::none;                   ///< Who is admitted, or about to be.
  };
  [[nodiscard]] Wanted wanted_of(const Family& f, std::size_t rank, Time now) const;
  [[nodiscard]] std::string text_of(const Wanted& wanted, const Family& f, std::size_t rank) const;
  void give_right(const Family& f, const Context& c, Proposal& p) const;
  void tell_pause(const Family& f, const Context& c, Proposal& p) const;
  void tell_why_it_waits(const Family& f, const Context& c, Proposal& p) const;
  void mirror_to_running(const Family& f, Proposal& p) const;
  void reconcile_parent(std::size_t index, const Context& c, Proposal& p) const;
  [[nodiscard]] bool reconcile_option(std::size_t index, const Context& c, Proposal& p) const;
  [[nodiscard]] std::vector<Symbol> checks_of(const WorkloadState& w, const QueueConfig& queue, const Context& c) const;
  [[nodiscard]] std::optional<HeldBack> held_back_now(const WorkloadState& w, const Context& c) const;
  /// The Workload that says what an Option asks for; of others they themselves.
  [[nodiscard]] const WorkloadState& asks_for(const WorkloadState& w) const {
    const std::size_t parent = family_parent_of(w);
    return parent == Family::none ? w : workloads_[parent];
  }
  [[nodiscard]] Time family_due(const Family& f, const Context& c) const;

  // deciding (workload_reconcile.cpp, job_reconcile.cpp, slice_reconcile.cpp)
  void reconcile(const Context& c, Proposal& p) const;
  [[nodiscard]] bool reconcile_job(const Context& c, Proposal& p) const;
  [[nodiscard]] bool hold_back(const Context& c, Proposal& p) const;
  void note_gate(const WorkloadState& w, const Context& c, Proposal& p) const;
  /// The Workload shall take over the shorter list of gates that its job has now (SG-62).
  [[nodiscard]] bool wants_gate(const WorkloadState& w, const Settings& settings) const;
  [[nodiscard]] bool reconcile_slices(const Context& c, Proposal& p) const;
  void request_first_slice(const Context& c, Proposal& p) const;
  void end_slices(const SliceChain& chain, Proposal& p) const;
  void evict_waiting(const WorkloadState& waiting, const WorkloadState& holder, Proposal& p) const;
  void evict_chain(const SliceChain& chain, Proposal& p) const;
  void resize(const SliceChain& chain, const Context& c, Proposal& p) const;
  void replace_templates(const SliceChain& chain, const Context& c, Proposal& p) const;
  void follow_job(const WorkloadState& w, const SliceChain& chain, const Context& c, Proposal& p) const;
  void forget_slices(const Context& c, Proposal& p) const;
  void request_workload(const WorkloadState* replaces, const Context& c, Proposal& p) const;
  void follow_readiness(const WorkloadState& w, std::optional<bool> ready, const Context& c, Proposal& p) const;
  /// The slice whose size caps how many pods run (EJ-69); null: none.
  [[nodiscard]] const WorkloadState* active_slice() const;
  void reconcile_pods(const Context& c, Proposal& p) const;
  void release_pods(Proposal& p) const;
  /// True: whoever waits has a place.
  bool place_pods(const Context& c, Proposal& p) const;
  void apply_failed(const PodsFailed& e, const Context& c);
  void fail_stuck_pods(const Context& c, Proposal& p) const;
  [[nodiscard]] bool depends_on_a_node(const WorkloadState& w) const;
  // nodes that fail (failed_nodes.cpp)
  void tell_places(Outbox& out);
  void tell_places_of(const WorkloadState& w, const Context& c, Outbox& out);
  void tell_lingering(const Context& c, Outbox& out);
  [[nodiscard]] bool crowds(const PodState& pod, const Context& c) const;
  [[nodiscard]] bool lingers(const PodState& pod) const;
  /// The pod is one of the Workload. Pods of an elastic job are told the slice that it was started with, and are of all that follow. Those
  /// of a family are told their Parent, and stand where its Option has places (CA-93).
  [[nodiscard]] static bool is_pod_of(const PodState& pod, const WorkloadState& w) {
    if (!pod.placed) return false;
    const std::string_view of = pod.workload.text();
    return w.elastic || of == std::string_view(w.name) || (w.is_made_as_option() && of == std::string_view(w.family_facts->parent_name));
  }
  [[nodiscard]] bool follow_nodes(const WorkloadState& w, const Context& c, Proposal& p) const;
  [[nodiscard]] bool take_hosts_back(const WorkloadState& w, const Context& c, Proposal& p) const;
  [[nodiscard]] bool give_places_up(const WorkloadState& w, const Context& c, Proposal& p) const;
  [[nodiscard]] std::optional<TopologyAssignment> with_hosts_taken_back(const WorkloadState& w, const PodSetReservation& assigned,
                                                                        const Context& c) const;
  [[nodiscard]] bool progresses_on(const WorkloadState& w, const Symbol& host, const NodeConfig* node) const;
  /// Calls `f` with each host of the assignment of which something may be amiss, and what there is to say of it.
  template <class F>
  void each_doubtful_host(const WorkloadState& w, const std::vector<PodSetReservation>& places, const Context& c, F&& f) const;
  /// Are places found for its pods whose nodes fail?
  [[nodiscard]] static bool may_move(const WorkloadState& w, const Context& c);
  [[nodiscard]] const std::vector<PodSetReservation>& held_places(const WorkloadState& w) const;
  [[nodiscard]] Time node_fails_at(const WorkloadState& w, const Context& c) const;
  bool place_pods_of(const WorkloadState& w, const PodSetSpec& pod_set, const PodSetReservation& assigned, Proposal& p) const;
  [[nodiscard]] PodState* find_pod(std::string_view uid);
  [[nodiscard]] const std::vector<CheckStatus>& checks_behind(const WorkloadState& w) const;
  [[nodiscard]] bool is_admission_written(const WorkloadState& w) const;
  void collect_family_intents(const Context& c, std::vector<Intent>& out) const;
  void collect_pod_intents(const Context& c, bool all, std::vector<Intent>& out);
  void replace_slice(const WorkloadState& w, const WorkloadState& holder, const Context& c, Proposal& p) const;
  void reconcile_workload(std::size_t index, const Context& c, Proposal& p) const;
  [[nodiscard]] bool resolve_pending(const WorkloadState& w, const Placement& at, const Context& c, Proposal& p) const;
  [[nodiscard]] bool reconcile_reserved(const WorkloadState& w, const Context& c, Proposal& p) const;
  [[nodiscard]] bool follow_checks(const WorkloadState& w, const Context& c, Proposal& p) const;
  [[nodiscard]] bool follow_stop_policies(const WorkloadState& w, const Context& c, Proposal& p) const;
  [[nodiscard]] bool watch_time(const WorkloadState& w, const Context& c, Proposal& p) const;
  [[nodiscard]] bool sync_checks(const WorkloadState& w, const Context& c, Proposal& p) const;
  [[nodiscard]] Time next_due(const Context& c) const;
  [[nodiscard]] const WorkloadState* running_workload() const;
  /// The priority class that the job's Workload gets (base-api §7.1); `known` is false for a missing WorkloadPriorityClass.
  struct Priority {
    bool known = true;
    std::int32_t value = 0;
    PriorityClassKind kind = PriorityClassKind::none;
    Symbol name;
  };
  [[nodiscard]] Priority job_priority(const Catalog& catalog) const;
  /// Is the job looked after, or does its namespace keep it out (BA-172)?
  [[nodiscard]] bool managed(const Catalog& catalog) const { return job_->managed && catalog.manages_jobs_in(job_->namespace_); }
  /// Does the job run as part of another one, so that it is never queued? One for which there is no room is queued by itself if it names a
  /// queue, and stays there while its owner does not run: else an owner and a child that take quota from each other would go on for ever.
  [[nodiscard]] bool is_child(const Catalog& catalog) const {
    return child_ && !((beyond_ || (job_->by_itself && !ancestor_runs_)) &&
                       (!job_->queue_name.empty() || catalog.settings.manage_jobs_without_queue_name));
  }
  [[nodiscard]] bool stop_beyond(const Context& c, Proposal& p) const;
  [[nodiscard]] PodSetSizes granted_sizes() const;
  [[nodiscard]] PodSetSizes granted_to_all() const;
  void tell_size(Outbox& out);
  void disown_foreign(const Context& c, Outbox& out);
  void adopt_workload(WorkloadState workload, const Context& c, Outbox& out);
  /// When the job is to be deleted because its Workload was deactivated by us (BA-148); never: not at all.
  [[nodiscard]] static Time job_retained_until(const WorkloadState& w, const Settings& settings);
  [[nodiscard]] JobRef job_ref(Arena& arena) const;
  /// The Workload shall stand in this queue and carry the priority and the limit of time of its job.
  [[nodiscard]] WorkloadRevised revision(const WorkloadState& w, const Symbol& queue, const Priority& priority, Arena& arena) const;
  [[nodiscard]] List<PodSetCount> job_counts(Arena& arena) const;
  [[nodiscard]] JobIntent job_intent() const;
  [[nodiscard]] std::vector<PodSetStart> start_on(const WorkloadState& w, const Catalog& catalog) const;
  void tell_templates_of(const WorkloadState& w, const Catalog& catalog, JobIntent& i) const;
  [[nodiscard]] static PodSetStart start_of(const PodSetReservation& assigned, const Catalog& catalog);
  void note_start(const Context& c);
  void tell_runs(Outbox& out);
  void tell_not_ready(std::size_t index, bool not_ready, Outbox& out);
  [[nodiscard]] static bool wants_class(const WorkloadState& w, const Priority& priority);
  [[nodiscard]] bool matches_job(const WorkloadState& w) const;
  // sizes of containers (sizing_parent.cpp)
  /// Does the job ask for what the Workload does, or, once it may have been started, for what its plan makes of it (MR-55)?
  [[nodiscard]] bool has_sizes_of(const WorkloadState& w) const;
  [[nodiscard]] bool same_bounds(const WorkloadState& w) const {
    return w.resource_policy == job_->resource_policy && w.resource_bounds == job_->resource_bounds;
  }
  void note_sizes();
  /// Once nothing is left of it. Its number is given out again, so whoever comes next must find nothing of it.
  void retire_if_empty(Outbox& out);
  /// That did not follow from what was decided: it may be decided again (RepeatedSteps).
  void something_happened(const Context& c);
  void note_refused_start(const WriteRefused& refused);
  [[nodiscard]] bool reconcile_sizing(const WorkloadState& w, const Context& c, Proposal& p) const;
  /// The same pod sets with the same templates, whatever their counts.
  [[nodiscard]] bool same_templates(const WorkloadState& w) const;

  Address self_;
  Boxed<JobState> job_;
  std::vector<WorkloadState> workloads_;
  std::vector<Placement> placements_;  ///< Parallel to workloads_.
  std::vector<PodState> pods_;         ///< By uid. Only those of elastic jobs, and of pod sets with places.
  // Of what collect_intents tells; no part of the state.
  std::vector<CompactText> told_next_;  ///< Pods that were released since it was asked last.
  std::string told_of_slice_;           ///< For which it told of pods last: another one may have other nodes.
  mutable std::uint64_t hash_ = 0;      ///< See hash(); 0: not known.
  /// Nothing is to be said of the pods until something happens to them but what they were told: ten thousand that leave their gates one
  /// after another are not looked at ten thousand times.
  mutable bool pods_settled_ = false;
  Time announced_due_;
  std::vector<std::pair<Symbol, PodAmounts>> told_lingering_;  ///< As the domain was told.
  std::vector<Interned<TopologyAssignment>> told_places_;      ///< Of all its Workloads, as the domain was told.
  RepeatedSteps repeats_;
  // What the domain says of ancestors and descendants (BA-171); it says so again after a snapshot was read.
  bool child_ = false;          ///< The job has a managed ancestor.
  bool ancestor_runs_ = false;  ///< Whose Workload is admitted.
  bool beyond_ = false;         ///< Its owner has no room for it.
  bool watched_ = false;        ///< Other jobs descend from this one.
  bool weighed_ = false;        ///< The domain wants to know how large the job is.
  bool told_runs_ = false;
  bool families_untold_ = false;                       ///< Of a record that goes on; see EventApplied::more.
  mutable std::unique_ptr<FamilyTable> family_table_;  ///< Null: nobody has asked for one.
};

}  // namespace hindsight::admission
