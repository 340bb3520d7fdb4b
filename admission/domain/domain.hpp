#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "admission/domain/places.hpp"
#include "admission/domain/seen_versions.hpp"
#include "admission/messages.hpp"
#include "admission/model/state_field.hpp"
#include "admission/rules.hpp"
#include "admission/scheduling/claims.hpp"
#include "admission/scheduling/repeated_preemptions.hpp"
#include "admission/scheduling/write_backlog.hpp"
#include "admission/tables/registry.hpp"
#include "vocabulary/record.hpp"

namespace hindsight::admission {

/// The sequencer of one admission domain: it reads the records in order, keeps the catalog, knows which entity each record
/// concerns, and gathers what the entities propose into one record at a time.
///
/// Use: `begin` with a record, deliver what is in the outbox until nothing is under way, `end`. Then, as long as
/// `start_deciding` finds something to ask, deliver again and look at `take_decisions`. A driver does just that (loop_driver.hpp,
/// actors/); the explorer does it in every order.
class Domain {
 public:
  /// Reads the controller's configuration (JSON) into settings; a pure function, injected because rules read no JSON.
  using SettingsReader = std::function<Result<Settings>(Text json)>;

  explicit Domain(SettingsReader reader) : read_settings_(std::move(reader)) {}

  // ---- applying -----------------------------------------------------------------------------------------------------------

  /// Folds one record. Errors: a gap in the sequence (the log is wrong; stop). A record that does not count (vocabulary/record_order.hpp)
  /// changes nothing, and neither does a decision that was written twice or a repeated observation (rule 4).
  [[nodiscard]] Result<void> begin(const RecordView& record, Outbox& out);
  /// All messages of the record have been delivered.
  void end();
  /// Whether this record would count.
  [[nodiscard]] bool counts(const Envelope& envelope) const;
  /// Whether it is one that has no effect (pass_over). Its body need not be read, and may be one that nobody can read.
  [[nodiscard]] bool passes_over(const Envelope& envelope) const {
    return !to_pass_over_.empty() && counts(envelope) && to_pass_over_.contains(sequence_ + 1);
  }
  /// Folds such a record: it has its place and its number, and nothing else.
  void pass(const Envelope& envelope);
  /// For the driver: a message was delivered to this entity while applying.
  void touched(Address entity);

  // ---- deciding -------------------------------------------------------------------------------------------------------------

  /// Asks the entities for the next kind of proposals. False: nothing is left to ask, the domain is at rest.
  [[nodiscard]] bool start_deciding(Outbox& out);
  /// What the entities answered, once all have: empty events mean that this kind had nothing; ask on.
  struct Step {
    StepKind kind = StepKind::unspecified;
    std::uint64_t base = 0;
    Time time;  ///< Time of the base; the record's own time is the writer's.
    std::vector<std::shared_ptr<Arena>> arenas;
    std::vector<Event> events;
    /// Keys of parents of which nothing is decided, because they would only repeat what was recorded before (RepeatedSteps).
    std::vector<std::string> circling;
  };
  [[nodiscard]] bool answers_complete() const { return waiting_for_ == 0; }
  /// More than a record should hold is decided in several steps: of the answers, by key, as many go into one as it takes (limits::step).
  /// Who is left is asked again when the step has been read back.
  [[nodiscard]] Step take_decisions();
  /// For tests: what a step takes, in place of limits::step. All who fold one log need the same.
  void bound_steps(std::size_t bytes) { step_bytes_ = bytes; }
  /// After so many recorded steps of life cycles without a cycle, timers and cycles go first: once, when a cycle is recorded then.
  static constexpr std::uint64_t life_cycle_steps_max = 64;
  /// For tests: in place of `life_cycle_steps_max`. All who fold one log need the same.
  void bound_life_cycle_steps(std::uint64_t steps) { life_cycle_steps_max_ = steps; }
  /// For tests: topologies are counted in parts of so many leaves. Nobody else can tell.
  void cut_topologies(std::size_t leaves) { part_leaves_ = leaves; }
  /// The same bounds as another's.
  void bound_as(const Domain& other) {
    step_bytes_ = other.step_bytes_;
    life_cycle_steps_max_ = other.life_cycle_steps_max_;
    part_leaves_ = other.part_leaves_;
  }

  /// Messages to the domain itself.
  void receive(Message& message, Outbox& out);

  // ---- reading --------------------------------------------------------------------------------------------------------------

  [[nodiscard]] Context context() const {
    Context c;
    c.now = now_;
    c.sequence = sequence_;
    c.decided_base = decided_base_;
    c.resolved_base = resolved_base_;
    c.cycle = cycles_;
    c.admitted_not_ready = !not_ready_.empty();
    c.catalog = catalog_.get();
    c.nodes = &nodes_;
    c.hosts = &hosts_;
    c.nodes_version = nodes_version_;
    c.node_changes = &node_changes_;
    c.repeated = repeated_.any() ? &repeated_ : nullptr;
    c.claims = rules_ >= rules_with_claims ? &claims_ : nullptr;
    c.rules = rules_;
    c.configured = configured_;
    c.step_bytes = step_bytes_;
    c.part_leaves = part_leaves_;
    return c;
  }
  [[nodiscard]] const std::shared_ptr<const Catalog>& catalog() const { return shared_catalog_; }
  [[nodiscard]] const Nodes& nodes() const { return nodes_; }
  [[nodiscard]] const NodeUsage& node_usage() const { return node_usage_; }
  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] bool synced() const { return synced_; }
  [[nodiscard]] std::uint64_t stale_decisions() const { return stale_decisions_; }
  /// Version of the rules by which this epoch decides (admission/rules.hpp).
  [[nodiscard]] std::uint32_t rules() const { return rules_; }
  /// Whether the record that was folded last was a decision that counts: of this epoch, and not there before.
  [[nodiscard]] bool took_decision() const { return took_decision_; }
  /// When a TimerFired is wanted next; never: no timer.
  [[nodiscard]] Time next_due() const;
  /// The same of what is due later than `t`: for who decides nothing, so that what is overdue stays so.
  [[nodiscard]] Time next_due_after(Time t) const;
  /// When the parked workloads of a tree are tried again (§3.7); never: nobody asked for it.
  [[nodiscard]] Time reactivation_due(Symbol root) const {
    const auto it = reactivations_.find(root);
    return it == reactivations_.end() ? Time::never() : it->second;
  }
  /// Who keeps preempting whom, and who is left alone therefore (D13).
  [[nodiscard]] const RepeatedPreemptions& repeated_preemptions() const { return repeated_; }
  /// For whom room is kept, or was a moment ago (D14).
  [[nodiscard]] const Claims& claims() const { return claims_; }
  /// What the API server does not have yet (D15).
  [[nodiscard]] const WriteBacklog& write_backlog() const { return backlog_; }
  /// Does no cycle run at present, because of that?
  [[nodiscard]] bool waits_for_writes() const {
    return rules_ >= rules_with_write_backlog && backlog_.is_full(static_cast<std::uint32_t>(catalog_->settings.admissions_ahead));
  }
  /// For a play on a copy of a state, in which what is decided need not be written.
  void forget_writes() { backlog_ = {}; }
  [[nodiscard]] Symbol root_of(Symbol queue) const { return catalog_->root_of(queue); }
  /// Index of the parent of a Workload or job, by uid.
  [[nodiscard]] std::optional<std::uint32_t> find_parent(std::string_view uid) const;
  /// Index of the parent that an event is about; nothing: its object has gone, or it is about none.
  [[nodiscard]] std::optional<std::uint32_t> parent_of(const Event& event) const;
  /// Has the job more owners above it than are searched for one that is queued (base-api §7.1)?
  [[nodiscard]] bool nested_too_deep(std::uint32_t parent) const;
  [[nodiscard]] std::uint32_t parent_count() const { return registry_.parents_end(); }
  [[nodiscard]] const Registry& registry() const { return registry_; }
  [[nodiscard]] bool parent_exists(std::uint32_t index) const { return registry_.has_parent(index); }
  [[nodiscard]] std::uint64_t hash() const;
  /// Entries of all tables that grow with what tenants make; as many as there are objects, but for a factor.
  [[nodiscard]] std::size_t entries() const;
  /// How many times a parent was asked what it proposes: what changes cost whom they do not concern. No state.
  [[nodiscard]] std::uint64_t parents_asked() const { return parents_asked_; }

  // ---- what was set aside --------------------------------------------------------------------------------------------------------

  /// An object of which something failed (ObjectQuarantined), until it is gone or can be read again.
  struct Quarantined {
    ObjectKind kind = ObjectKind::unspecified;
    std::string api_kind, namespace_, name;
    std::uint64_t resource_version = 0;
    QuarantineStage stage = QuarantineStage::read;
    std::string reason;
    Time since;
  };
  /// By uid.
  [[nodiscard]] const std::map<std::string, Quarantined, std::less<>>& quarantined() const { return quarantined_; }
  /// Uids of those that were set aside, or are no more, since the last call.
  [[nodiscard]] std::set<std::string> take_quarantine_changes() { return std::exchange(quarantine_changes_, {}); }
  /// A ClusterQueue, without namespace, or a LocalQueue: kinds whose status says that they were set aside.
  struct QueueName {
    ObjectKind kind = ObjectKind::unspecified;
    std::string namespace_, name;
    friend auto operator<=>(const QueueName&, const QueueName&) = default;
  };
  /// Null: it was not set aside.
  [[nodiscard]] const Quarantined* quarantined_queue(const QueueName& queue) const;
  /// Queues that were set aside, or are no more, since the last call.
  [[nodiscard]] std::set<QueueName> take_quarantined_queue_changes() { return std::exchange(quarantined_queue_changes_, {}); }

  /// Records of these sequences have no effect (RecordQuarantined). To be told before the first record is folded.
  void pass_over(std::set<std::uint64_t> sequences) { to_pass_over_ = std::move(sequences); }
  /// Those that were passed over so far, ascending.
  [[nodiscard]] const std::vector<std::uint64_t>& passed_over() const { return passed_over_; }
  /// Does the state know of no other than these, up to where it is? One that was folded before a record was set aside does not.
  [[nodiscard]] bool has_passed_over(const std::set<std::uint64_t>& sequences) const;

  // ---- finalizers (§8.8) --------------------------------------------------------------------------------------------------------

  /// ClusterQueue, ResourceFlavor or AdmissionCheck: what was seen of it that says whether it may go.
  struct Held {
    bool deleting = false;
    bool finalizer = false;  ///< Carries resource-in-use.
  };
  struct HeldKey {
    ObjectKind kind = ObjectKind::unspecified;
    Symbol name;
    friend bool operator<(const HeldKey& a, const HeldKey& b) { return a.kind != b.kind ? a.kind < b.kind : ByText{}(a.name, b.name); }
  };
  [[nodiscard]] const std::map<HeldKey, Held>& held() const { return held_; }
  /// Have all kinds been listed since this epoch began? Before that somebody unseen may still use what is being deleted.
  [[nodiscard]] bool listed() const { return listed_; }
  /// Those that changed, or whose users did, since the last call.
  [[nodiscard]] std::set<HeldKey> take_held_changes() { return std::exchange(held_changes_, {}); }

  // ---- snapshots (admission/state/snapshot.hpp) -------------------------------------------------------------------------------------
  friend class SnapshotCodec;
  friend struct StateFields<Domain>;

 private:
  void count(const Envelope& envelope);
  void route(const Observation& o, Outbox& out);
  void route(const Decisions& d, Outbox& out);
  struct RoutedEvent {
    std::uint32_t parent;
    msg::EventApplied message;
  };
  void route_events(const Decisions& d, Outbox& out);
  [[nodiscard]] std::optional<RoutedEvent> route_event(const Event& e, bool life_cycle, Outbox& out);

  void apply(const ResourceFlavorObserved& o, Outbox& out);
  void apply(const ClusterQueueObserved& o, Outbox& out);
  void apply(const CohortObserved& o, Outbox& out);
  void apply(const LocalQueueObserved& o, Outbox& out);
  void apply(const WorkloadPriorityClassObserved& o, Outbox& out);
  void apply(const PriorityClassObserved& o, Outbox& out);
  void apply(const NamespaceObserved& o, Outbox& out);
  void apply(const AdmissionCheckObserved& o, Outbox& out);
  void apply(const TopologyObserved& o, Outbox& out);
  void apply(const NodeObserved& o, Outbox& out);
  void apply(const NodeUsageObserved& o, Outbox& out);
  void enlist(const NodeConfig& node);
  void delist(const NodeConfig& node);
  void look_at(const Symbol& host);
  void tell_of(const NodeConfig& node, Outbox& out);
  void stands_on(std::uint32_t parent, std::vector<Symbol> hosts, bool news);
  [[nodiscard]] bool is_well(const Symbol& host) const;
  void lingers(std::uint32_t parent, std::vector<std::pair<Symbol, PodAmounts>> on, bool news);
  [[nodiscard]] std::vector<std::pair<Symbol, Amount>> used_of(const Symbol& node) const;
  /// True: something of the node was freed.
  bool refresh_use(const Symbol& node);
  void use_changed(const Symbol& node);
  /// `news`: what was said is something that happened, and not what a snapshot knew.
  void take_what_was_said(bool news);
  void apply(const JobObserved& o, Outbox& out);
  void apply(const WorkloadObserved& o, Outbox& out);
  [[nodiscard]] std::string family_key(const WorkloadObserved& o) const;
  void apply(const ObjectDeleted& o, Outbox& out);
  void apply(const TimerFired& o, Outbox& out);
  void apply(const MirrorSynced& o, Outbox& out);
  void apply(const WriteRefused& o, Outbox& out);
  void apply(const ConfigurationObserved& o, Outbox& out);
  void apply(const PodObserved& o, Outbox& out);
  static void apply(const ClockStepped& /*for people*/, Outbox& /*out*/) {}
  void apply(const ObjectQuarantined& o, Outbox& out);
  static void apply(const RecordQuarantined& /*begin() knows it*/, Outbox& /*out*/) {}
  void apply(const WriteLimitObserved& o, Outbox& /*out*/) { backlog_.limit(o.writes); }
  /// False: the observation is of an older version than the one that was set aside, and is to change nothing.
  [[nodiscard]] bool lift_quarantine(const Observation& o);
  void lift_quarantine(Text uid);
  void index_queue(const std::string& uid, const Quarantined& q, bool set_aside);

  /// Whom a change of the catalog concerns: any parent, so that all are asked again; or those that are marked one by one.
  enum class Concerns : std::uint8_t { anybody, marked };
  Catalog& edit(Concerns whom = Concerns::anybody);
  void queues_changed(const std::set<Symbol, ByText>& queues, Outbox& out);
  void nodes_changed(const NodeConfig& node);
  /// One node has another version now; or everything that topologies are made of.
  void node_has_changed(const Symbol& node);
  void places_have_changed();
  void roots_changed(std::vector<Catalog::Root> changes, const std::set<Symbol, ByText>& ends, Outbox& out);
  void rebuild_trees(const std::set<Symbol, ByText>& roots, Outbox& out);
  void refresh_activity_of(const std::function<bool(const QueueConfig&)>& concerned, bool reactivate_all, Outbox& out);
  void place_workload(WorkloadId id, Catalog::LocalQueueKey member, Symbol holder);
  void forget_workload(WorkloadId id);
  [[nodiscard]] std::vector<std::uint32_t> parents_of(const std::unordered_set<WorkloadId>& workloads) const;
  void refresh_members(const Symbol& namespace_, const Symbol& local_queue, msg::Refresh how, Outbox& out);
  void refresh_queue_members(const Symbol& cluster_queue, msg::Refresh how, Outbox& out);
  void refresh_all(msg::Refresh how, Outbox& out);
  void request_reactivation(Symbol cluster_queue);
  void request_root(const Symbol& root);
  std::uint32_t parent_of(std::string_view key);
  void know(std::uint32_t parent);
  void mark_dirty(std::uint32_t parent);
  void mark_tree(const Symbol& root);
  void mark_trees();
  void mark_all();
  void mark_namespace(const Symbol& namespace_);
  void news();
  void forget_dirty_trees();
  void something_new();
  [[nodiscard]] std::vector<std::uint64_t> fingerprints(std::span<const Event> events) const;
  [[nodiscard]] Symbol tree_of(const Event& event) const;
  [[nodiscard]] bool was_seen(std::uint64_t fingerprint);
  void rest_where_nothing_is_new();
  void answered(std::string key, std::uint32_t parent, Proposal proposal);
  void fill_step();
  void take_cycle();

  void note_held(ObjectKind kind, const ObjectMeta& meta);
  void forget_held(ObjectKind kind, Text name);
  void lost_a_user(ObjectKind kind, Symbol name);
  void users_changed(const QueueConfig& queue);

  // managed ancestors (managed_jobs.cpp)
  void link_job(std::uint32_t index, const JobObserved& o, Outbox& out);
  void unlink_job(std::uint32_t index, Outbox& out);
  void leave_ancestor(std::uint32_t index, const std::string& ancestor, Outbox& out);
  void relink(std::uint32_t index, Outbox& out);
  [[nodiscard]] bool is_owner(std::uint32_t above, std::uint32_t child) const;
  void count_child(std::uint32_t index, Outbox& out);
  void uncount_child(std::uint32_t index, Outbox& out);
  void sized(std::uint32_t index, const msg::Sized& told, Outbox& out);
  void tell_room(const JobChildren::Changes& changes, Outbox& out);
  void weigh(std::uint32_t index, Outbox& out);
  void descends(std::uint32_t index, Outbox& out);
  void disown_pods(std::uint32_t owner, Outbox& out);
  void forget_pod(Pods::iterator pod, Outbox& out);
  void adopt(std::unique_ptr<WorkloadState> workload, Outbox& out);
  void relink_below(const std::string& uid, Outbox& out);
  void relink_all(Outbox& out);
  void see_consumed(const LocalQueueObserved& o, Outbox& out);
  void sampling_due(const Symbol& queue, Time due);
  void tell_descendants(std::uint32_t ancestor, bool runs, Outbox& out);
  [[nodiscard]] bool cycle_is_overdue() const { return life_cycle_steps_ >= life_cycle_steps_max_; }
  [[nodiscard]] std::span<const StepKind> kinds_in_order() const;
  [[nodiscard]] bool ask_parents(Outbox& out);
  [[nodiscard]] bool ask_timers();
  [[nodiscard]] bool ask_trees(Outbox& out);
  [[nodiscard]] std::uint32_t pod_keeper(std::uint32_t owner) const;
  void hand_over_pods(std::uint32_t owner, Outbox& out);

  SettingsReader read_settings_;
  std::shared_ptr<Catalog> catalog_ = std::make_shared<Catalog>();
  std::shared_ptr<const Catalog> shared_catalog_ = catalog_;
  Nodes nodes_;
  NodeUsage node_usage_;
  Hosts hosts_;                                                              ///< Follows from nodes_ and stands_on_.
  std::map<Symbol, std::map<std::uint32_t, PodAmounts>, ByText> lingering_;  ///< Node → parent → what its pods take; as the parents say.
  std::unordered_map<std::uint32_t, std::vector<Symbol>> lingers_on_;        ///< Parent → nodes; follows from it.
  /// What parents said of places and pods. It is taken at the end of a record, when no message is under way: parents read the tables of
  /// nodes and hosts.
  std::vector<std::pair<std::uint32_t, std::variant<msg::StandsOn, msg::Lingers>>> said_;
  std::unordered_map<std::uint32_t, std::vector<Symbol>> stands_on_;  ///< Parent → hosts; as the parents say.
  std::unordered_map<Symbol, std::set<std::uint32_t>> standing_;      ///< Host → parents; follows from it.
  mutable std::uint64_t catalog_hash_ = 0;                            ///< As long as nobody edits it; 0: not known.
  mutable std::uint64_t nodes_hash_ = 0, nodes_hashed_ = 0;           ///< Of `nodes_`, and the version that it is of.
  NodeChanges node_changes_;
  std::uint64_t nodes_version_ = 1;  ///< Another one whenever what topologies are made of has changed; a cache, no state.

  // position
  std::uint64_t sequence_ = 0, epoch_ = 0, decided_base_ = 0, cycles_ = 0, stale_decisions_ = 0;
  std::uint64_t resolved_base_ = 0;     ///< As `decided_base_`, but for steps that may have left somebody to the next one.
  std::uint64_t life_cycle_steps_ = 0;  ///< Recorded since the last cycle that was.
  std::uint32_t rules_ = 0;             ///< Of this epoch; 0: from before there was a number, and in the hash of no log from then.
  Time now_ = Time{0};
  bool synced_ = false;

  // who is who
  Registry registry_;
  std::vector<WorkloadPlace> workload_places_;  ///< By number of the Workload.
  // The same the other way round: who hears of a queue that changes or appears.
  std::unordered_map<Catalog::LocalQueueKey, std::unordered_set<WorkloadId>, Catalog::LocalQueueKeyHash> members_;
  std::unordered_map<Symbol, std::unordered_set<WorkloadId>> holders_;

  std::vector<JobKind> job_kinds_;    ///< By number of the parent.
  std::vector<JobPlace> job_places_;  ///< Likewise.
  std::map<std::uint32_t, Lineage> lineages_;
  /// The jobs that count as part of one job; `members` tells also those whose size is not known yet.
  struct Siblings {
    JobChildren sizes;
    std::uint32_t members = 0;
  };
  std::map<std::string, Siblings> children_;                       ///< By uid of the owner. Told again after a snapshot.
  std::map<std::string, std::set<std::uint32_t>> owned_;           ///< Uid of an owner → parents of the jobs that it owns.
  std::map<std::string, std::set<std::uint32_t>> descendants_;     ///< Uid of a topmost managed ancestor → parents below it.
  Pods pods_;                                                      ///< By uid.
  std::map<std::uint32_t, std::set<std::string>> pods_of_owners_;  ///< Follows from pods_.
  std::set<std::string> running_ancestors_;                        ///< Those whose Workload is admitted.
  std::map<HeldKey, Held> held_;
  std::set<HeldKey> held_changes_;  ///< A cache, no state.
  bool listed_ = false;             ///< Follows from the records since the epoch began.
  std::set<WorkloadId> not_ready_;  ///< With blockAdmission: admitted, but not PodsReady (BA-76).

  // time
  std::set<std::pair<Time, std::uint32_t>> due_;
  std::vector<Time> due_of_;
  std::map<Symbol, Time, ByText> reactivations_;  ///< Root → when (§3.7).

  // admission fair sharing (§10)
  std::unordered_map<Catalog::LocalQueueKey, Consumed, Catalog::LocalQueueKeyHash> consumed_;
  std::set<std::pair<Time, std::uint32_t>> sampling_;  ///< When, and number of the queue's symbol.
  std::unordered_map<std::uint32_t, Time> sampling_of_;
  std::map<Symbol, Time, ByText> second_passes_;  ///< Root of a tree → when it has places to find; as the trees say.

  // trees
  std::uint64_t tree_version_ = 0;

  // cycles that were seen since the world last changed (D10)
  std::vector<std::uint64_t> seen_cycles_;
  SeenVersions seen_;
  RepeatedPreemptions repeated_;
  Claims claims_;
  WriteBacklog backlog_;

  // what was set aside
  std::map<std::string, Quarantined, std::less<>> quarantined_;
  std::map<QueueName, std::set<std::string>> quarantined_queues_;  ///< Uids of queues; follows from `quarantined_`.
  std::set<std::string> quarantine_changes_;                       ///< A cache, no state.
  std::set<QueueName> quarantined_queue_changes_;                  ///< A cache, no state.
  std::set<std::uint64_t> to_pass_over_;                           ///< Given from outside, no state.
  std::vector<std::uint64_t> passed_over_;

  // deciding; caches, no state: what is clean proposes nothing
  Time claims_asked_;                      ///< Trees were asked again for all claims that ended until then.
  std::size_t asked_kinds_ = 0;            ///< Of kinds_in_order, since the last record.
  bool took_decision_ = false;             ///< See took_decision.
  bool edited_ = false;                    ///< The record that is being applied changes the catalog.
  bool catalog_changed_ = false;           ///< Since the parents were asked last: any of them may have something to say.
  std::uint64_t configured_ = 0;           ///< Sequence of the record that changed the catalog last, but for its LocalQueues.
  std::uint64_t restored_configured_ = 0;  ///< While a snapshot is being read.
  std::vector<std::uint32_t> dirty_;
  std::vector<std::uint32_t> restored_dirty_;  ///< While a snapshot is being read.
  std::vector<bool> is_dirty_;
  std::vector<Symbol> dirty_trees_;
  std::vector<bool> is_dirty_tree_;               ///< By number of the root's symbol.
  std::set<Symbol, ByText> resting_trees_;        ///< Clean, although they would propose something: it was seen, and there is no news.
  std::unordered_set<std::uint64_t> seen_index_;  ///< The first `seen_indexed_` of `seen_cycles_`, which grow with every tree's cycle.
  std::size_t seen_indexed_ = 0;
  std::uint32_t waiting_for_ = 0;
  std::uint64_t parents_asked_ = 0;
  std::size_t step_bytes_ = limits::step.size();
  std::size_t part_leaves_ = Context{}.part_leaves;
  std::uint64_t life_cycle_steps_max_ = life_cycle_steps_max;
  struct Answer {
    Proposal proposal;
    std::uint32_t parent = Registry::none;  ///< Whose it is, unless it is that of a tree.
  };
  std::set<std::string> circling_;                   ///< Of whom nothing is decided, because it was before.
  std::map<std::string, Answer> answers_;            ///< By key of parent or root, so that the record does not depend on arrival order.
  std::size_t answers_bytes_ = 0;                    ///< Of those of parents.
  std::map<std::string, msg::EntryRank> admitting_;  ///< With blockAdmission: trees that would admit, by key.
  std::vector<Symbol> contenders_;                   ///< Trees that are to be asked once more, because another one admits first.
  Step step_;
};

}  // namespace hindsight::admission
