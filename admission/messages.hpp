#pragma once

// The exchanges between the entities of one domain. An entity gets a message and a context, changes itself and puts messages into the
// outbox; who carries them (CAF, a loop, the seeded explorer) is no business of the entity. Messages between two entities keep their
// order; everything else may arrive in any order, and the result must not depend on it.
//
// Two phases. Applying: a record is being folded; messages derived from it change state. Deciding: nothing durable
// changes; proposals go to the domain, which makes one record of them (design rules 1 and 2).

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "admission/model/catalog_view.hpp"
#include "admission/model/event_size.hpp"
#include "admission/model/job_size.hpp"
#include "admission/model/pod_state.hpp"
#include "admission/model/workload_info.hpp"
#include "admission/model/workload_state.hpp"
#include "admission/quota/usage_ledger.hpp"
#include "admission/scheduling/cycle.hpp"
#include "admission/topology/free_leaves.hpp"
#include "vocabulary/arena.hpp"
#include "vocabulary/decisions.hpp"
#include "vocabulary/limits.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::admission {

class RepeatedPreemptions;

enum class EntityKind : std::uint8_t { domain = 0, cohort_tree = 1, cluster_queue = 2, workload_parent = 3, topology_domain = 4 };

/// Number of an entity in its domain.
struct Address {
  EntityKind kind = EntityKind::domain;
  std::uint32_t index = 0;
  friend constexpr auto operator<=>(const Address&, const Address&) = default;
};

inline constexpr Address domain_address{EntityKind::domain, 0};

/// Queues and trees are addressed by the number of their interned name.
[[nodiscard]] inline Address queue_address(const Symbol& name) { return {EntityKind::cluster_queue, name.id()}; }
[[nodiscard]] inline Address tree_address(const Symbol& root) { return {EntityKind::cohort_tree, root.id()}; }

/// The parts of topologies have numbers from 0 on; a part of one tree may be that of another, too.
[[nodiscard]] constexpr Address topology_address(std::uint32_t part) { return {EntityKind::topology_domain, part}; }

/// How the condition of what was set aside begins.
inline constexpr std::string_view set_aside_prefix = "Set aside: ";

/// Which nodes made Context::nodes_version another one lately, so that who follows them need not look at all of them.
struct NodeChanges {
  static constexpr std::size_t names_max = 8'192;
  std::uint64_t since = 1;    ///< The version before the first of them; what came before is not known any more, or concerned everything.
  std::vector<Symbol> names;  ///< Each is a version.
};

/// What every handler may read beside its own state. The catalog does not change while messages of one step are under way.
struct Context {
  Time now;                         ///< Time of the record being applied, or of the last applied one when deciding.
  std::uint64_t sequence = 0;       ///< Sequence of that record.
  std::uint64_t decided_base = 0;   ///< Highest base of an applied Decisions record.
  std::uint64_t resolved_base = 0;  ///< The same of those in which every parent had its say (see WorkloadState::resolve_since).
  std::uint64_t cycle = 0;          ///< Number of cycle steps applied, the present one included.
  bool admitted_not_ready = false;  ///< With blockAdmission: some admitted Workload anywhere is not PodsReady (BA-76).
  const Catalog* catalog = nullptr;
  const Nodes* nodes = nullptr;                   ///< As the catalog.
  const Hosts* hosts = nullptr;                   ///< As the catalog.
  std::uint64_t nodes_version = 0;                ///< Another one whenever nodes, topologies or flavors have changed.
  const NodeChanges* node_changes = nullptr;      ///< The last of these, as far as they concern one node each; null: not known.
  const RepeatedPreemptions* repeated = nullptr;  ///< Whom preemptors leave alone (D13); null: nobody.
  const Claims* claims = nullptr;                 ///< For whom room may be kept (D14); null: for nobody.
  std::uint32_t rules = 0;                        ///< By which this epoch decides (rules.hpp).
  std::uint64_t configured = 0;                   ///< Sequence of the record that changed the catalog last, but for its LocalQueues.
  std::size_t step_bytes = limits::step.size();   ///< See Proposal::most.
  std::size_t part_leaves = 4'096;                ///< Of a topology that is counted in parts, at least; it does not show in what comes out.
  DecisionTrace* trace = nullptr;                 ///< Where it is noted how decisions come about; null: nowhere.
};

/// Events that an entity proposes, with the memory of their strings.
struct Proposal {
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();
  std::vector<Event> events;
  bool repeats = false;  ///< The same was recorded before and nothing has happened since: it is not recorded again (RepeatedSteps).
  /// A step is one record, and a log takes no record of any size. So who has said as much as this says the rest in the next step. Only what
  /// belongs together is said together whatever its size: it is bounded by what one object may hold.
  std::size_t most = limits::step.size();

  /// What the events take in the record; each is looked at once.
  [[nodiscard]] std::size_t bytes() {
    for (; weighed_ < events.size(); ++weighed_) bytes_ += event_bytes(events[weighed_]);
    return bytes_;
  }
  [[nodiscard]] bool full() { return bytes() >= most; }

  /// The text of a condition, an event or a notice, as it is decided: cut where it is too long. Whoever compares it with what was decided
  /// before compares this.
  [[nodiscard]] Text message(std::string_view text) const {
    return text.size() <= limits::condition_message.size() ? arena->copy(text) : arena->copy(condition_message(text));
  }

 private:
  std::size_t weighed_ = 0, bytes_ = 0;  ///< So many events take so many bytes.
};

namespace msg {

// ---- record → parent (pointers live as long as the step) ------------------------------------------------------------

/// `quarantined`: why the job was set aside; then only its outline is to be taken over.
struct JobSeen {
  const JobObserved* job;
  Text quarantined = {};
};
/// An object of the parent was set aside, of which nothing could be read; or is so no more (empty reason).
struct Quarantined {
  std::optional<WorkloadId> workload;  ///< Nothing: it is the job.
  std::uint64_t resource_version;
  Text reason;
};
struct WorkloadSeen {
  const WorkloadObserved* workload;
  WorkloadId id;
};
struct JobGone {
  std::string uid;
};
/// Something happened to a host on which it has places.
struct HostChanged {};
struct PodSeen {
  const PodObserved* pod;
};
struct PodGone {
  std::string uid;
};
struct WorkloadGone {
  WorkloadId id;
  /// Its object was deleted: answered with Forgotten, at once or when its job has stopped. Else it belongs to somebody else now.
  bool deleted = false;
};
/// These pods are looked after by another parent from now on, that of the job which is queued in place of their owner (EJ-78).
struct HandOverPods {
  std::uint32_t to;
  std::vector<std::string> uids;
};
struct EventApplied {
  const Event* event;
  WorkloadId id;            ///< Of the Workload that the event names, if any.
  bool life_cycle = false;  ///< It stands in a step of life-cycle rules.
  bool more = false;        ///< The next event of the record is for the same entity.
};
struct WriteRefusedSeen {
  const WriteRefused* refused;
  WorkloadId id;
};

/// Something in the catalog that concerns the parent's workloads changed. `resolve`: pending reasons are resolved anew
/// (base-api §6.3); `force`: pending workloads go to the heap whatever the back-off gate says (§3.7).
/// `reannounce`: what holds quota says so again, to a queue that has just come into being.
struct Refresh {
  bool resolve;
  bool force;
  bool reannounce = false;
};

/// The job has a managed ancestor (BA-171): it is never queued itself. `runs`: the ancestor's Workload is admitted. `beyond`: its owner has
/// no room for it, so it is queued by itself, or may not run.
struct Descends {
  bool child;
  bool runs;
  bool beyond = false;
};
/// Others are compared with the job, or it with others: say how large it is, now and whenever that changes.
struct Weigh {
  bool watched;
};
/// A Workload that names the job of another namespace as its owner was taken for that job's. It is a parent of its own.
struct WorkloadAdopted {
  std::unique_ptr<WorkloadState> workload;  ///< With its new number.
};
/// The Workload with this uid is there, elsewhere: Options that name it as their owner leave for it.
struct ParentSeen {
  std::string uid;
};
/// Others descend from the job: say whether its Workload is admitted, now and whenever that changes.
struct WatchRuns {
  bool watched;
};

// ---- parent → parent --------------------------------------------------------------------------------------------------

/// An answer to HandOverPods, to the parent that it names.
struct PodsHandedOver {
  std::vector<PodState> pods;
};

// ---- parent → cluster queue -------------------------------------------------------------------------------------------

/// The workload is pending in this queue. `repush`: it changed in a way that lets it try again; otherwise only the stored copy is
/// replaced. `force`: into the heap whatever gate and hash records say.
struct Enqueue {
  std::shared_ptr<const WorkloadInfo> workload;
  bool repush;
  bool force;
};
/// It is not pending here any more. `quiet`: because its LocalQueue was stopped; the status counters stay stale (§8.12).
struct Dequeue {
  WorkloadId id;
  bool quiet;
};
/// It holds quota here (or holds another amount than before).
struct Reserve {
  std::shared_ptr<const Reservation> reservation;
  bool admitted;
  bool assumed = false;  ///< It was just decided: the LocalQueue pays an entry penalty until it is admitted (BA-166).
  bool written = false;  ///< The API server has the reservation: nothing can refuse it any more.
  /// With `assumed`, of a slice that takes the place of another: what it asks for more, by resource. The penalty is for that only (EJ-42).
  std::optional<std::vector<std::pair<Symbol, Amount>>> delta;
};
struct Release {
  WorkloadId id;
};
/// Its status was written or it changed: counters are due (§8.12).
struct CountersDue {};
/// Something in the catalog concerns the queue's LocalQueues, or how it weighs them.
struct Notice {};
/// Domain → queue: what the status of a LocalQueue says that was consumed (§10). Without a time: the LocalQueue is no more.
struct ConsumedSeen {
  Catalog::LocalQueueKey local_queue;
  UsageVector consumed;
  Time at;
};
/// Domain → queue: the time to sample the usage of LocalQueues has come (§10).
struct SampleUsage {};

// ---- cluster queue ↔ cohort tree ------------------------------------------------------------------------------------

struct Charge {
  Symbol queue;
  std::shared_ptr<const Reservation> reservation;
};
struct Discharge {
  Symbol queue;
  WorkloadId id;
};
struct HeapState {
  Symbol queue;
  bool nonempty;
  bool waiting;  ///< Something is pending, in the heap or parked.
};
/// With admission fair sharing: how LocalQueues compare, for the choice of victims (§7.2). `whole`: these and no others.
struct LocalUsage {
  Symbol queue;
  std::vector<std::pair<Catalog::LocalQueueKey, double>> usage;
  bool whole;
};
/// Domain → tree: expect these many members, then build. Domain → queue: you belong to this tree now.
struct BuildTree {
  Symbol root;
  std::uint32_t members;
  std::uint64_t version;
};
struct JoinTree {
  Address tree;
  std::uint64_t version;
};
/// Queue → tree: here I am with what I hold.
struct Joined {
  std::shared_ptr<const QueueConfig> config;
  Address queue;
  bool active;
  bool nonempty;
  bool waiting;  ///< As HeapState.
  std::vector<std::shared_ptr<const Reservation>> reservations;
  std::vector<std::pair<Catalog::LocalQueueKey, double>> local_usage;  ///< As LocalUsage, whole.
  std::uint64_t version;
};

// ---- domain → cluster queue ---------------------------------------------------------------------------------------------

struct OpenQueue {
  Symbol name;
};
struct CloseQueue {};
struct Requeued {
  const EntryRequeued* event;
  WorkloadId id;
};
struct Reactivate {};

// ---- cluster queue → parent -----------------------------------------------------------------------------------------

/// The workload sits in the inadmissible set because an equal one failed (`reason`: that of the record), or no more (empty).
struct ParkedByRecord {
  WorkloadId id;
  Symbol reason;
};

// ---- cluster queue → domain -----------------------------------------------------------------------------------------

/// When the queue wants to sample; never: no more.
struct SamplingDue {
  Time due;
};

// ---- cohort tree → domain -------------------------------------------------------------------------------------------

/// When the tree has places to find for somebody; never: for nobody.
struct SecondPassDue {
  Time due;
};

// ---- deciding -------------------------------------------------------------------------------------------------------------

struct Reconcile {};  ///< Domain → parent.
/// Domain → tree. `blocked`: another tree is about to admit, so with blockAdmission this one may not.
struct RunCycle {
  std::uint64_t cycle;
  bool blocked = false;
};
struct OfferHead {
  std::uint64_t cycle;
};  ///< Tree → queue.
struct HeadOffered {
  Symbol queue;
  bool present;
  Head head;
  bool gate_open;
  bool sticky;
  std::uint64_t generation;
  std::uint32_t equals;
  bool alone;                         ///< Nothing else is pending in the queue.
  bool one_of_family;                 ///< An Option of a queue in which families are tried as one (CA-142).
  std::vector<HeadOffered> siblings;  ///< Of such an Option: those that follow it, the best first.
};
/// Tree → queue: who would be the head if the one that was offered were parked with its equals, and who after that one, and so on: `count`
/// of them, from the one with number `first` on.
struct OfferMore {
  WorkloadId head;  ///< The one that was offered.
  std::size_t first, count;
};
/// Queue → tree. `all`: there are no more than these. None, and not all: the queue does not know.
struct MoreOffered {
  Symbol queue;
  std::vector<HeadOffered> heads;
  bool all;
};
/// Tree → queue: who are the heads, one after another, when `head` and each of them has got quota? At most `count`.
struct OfferNext {
  WorkloadId head;
  std::size_t count;
};
/// Queue → tree. Null: nobody, or the queue does not know.
struct NextOffered {
  Symbol queue;
  std::shared_ptr<const Head> next;
};
/// Tree → topology domain: count your leaves for these questions, of which each has been divided. They stay as they are until all parts
/// have answered.
struct CountLeaves {
  std::shared_ptr<const std::vector<std::shared_ptr<topology::FirstCount>>> questions;
};
struct LeavesCounted {};  ///< Topology domain → tree.
/// Where an entry stands among those of all trees (§6.1, classical order).
struct EntryRank {
  std::int32_t level = 0;
  std::int64_t priority = 0;
  Time time;
  CompactText uid;
  friend bool operator<(const EntryRank& a, const EntryRank& b) {
    if (a.level != b.level) return a.level < b.level;
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.time != b.time) return a.time < b.time;
    return a.uid < b.uid;
  }
};
/// Parent or tree → domain; may be empty. `admits`: with blockAdmission, the first entry that gets quota.
struct Proposed {
  Proposal proposal;
  std::optional<EntryRank> admits;
};

// ---- parent → domain ------------------------------------------------------------------------------------------------------

struct ReactivateTreeOf {
  Symbol cluster_queue;
};  ///< Request; batched by the domain (§3.7).
struct NextDue {
  Time due;
};  ///< The parent wants to be reconciled at this time; never: no more.
/// What the parent's pods take of nodes although no assignment stands for them (TAS-37), all of it, by node.
struct Lingers {
  std::vector<std::pair<Symbol, PodAmounts>> on;
};
/// Hosts on which the parent's Workloads have places, all of them.
struct StandsOn {
  std::vector<Symbol> hosts;
};
struct NotReady {
  WorkloadId id;
  bool not_ready;
};  ///< With blockAdmission: it is admitted and its pods are not ready, or no more so.
struct Runs {
  bool runs;
};  ///< Whether the job's Workload is admitted, for those that descend from it.
struct Sized {
  PodSetSizes asked;    ///< As the job is now.
  PodSetSizes granted;  ///< What its parts may use together.
  bool gated;           ///< Its pods wait at the gate of elastic jobs, each until a slice has a place for it.
  bool set_aside;       ///< The size is that of the last version that could be read.
};                      ///< Answers Weigh.
struct ReadSince {
  CompactText uid;
};  ///< An object was set aside in an older version than one that could be read: it was told late.
struct Disowned {
  std::unique_ptr<WorkloadState> workload;
};                       ///< See WorkloadAdopted and ParentSeen.
struct WorldChanged {};  ///< An observation told something new (not merely our own write).
struct Forgotten {
  WorkloadId id;
};                  ///< Of a Workload that was deleted nothing is held any more (see WorkloadGone).
struct Retired {};  ///< The parent holds nothing any more.

}  // namespace msg

using Payload =
    std::variant<msg::JobSeen, msg::WorkloadSeen, msg::Quarantined, msg::JobGone, msg::WorkloadGone, msg::HostChanged, msg::PodSeen,
                 msg::PodGone, msg::HandOverPods, msg::PodsHandedOver, msg::EventApplied, msg::WriteRefusedSeen, msg::Refresh,
                 msg::Descends, msg::WatchRuns, msg::Weigh, msg::WorkloadAdopted, msg::ParentSeen, msg::Enqueue, msg::Dequeue, msg::Reserve,
                 msg::Release, msg::CountersDue, msg::Notice, msg::ConsumedSeen, msg::SampleUsage, msg::LocalUsage, msg::SamplingDue,
                 msg::SecondPassDue, msg::Charge, msg::Discharge, msg::HeapState, msg::BuildTree, msg::JoinTree, msg::Joined,
                 msg::OpenQueue, msg::CloseQueue, msg::Requeued, msg::Reactivate, msg::ParkedByRecord, msg::Reconcile, msg::RunCycle,
                 msg::OfferHead, std::unique_ptr<msg::HeadOffered>, msg::OfferMore, msg::MoreOffered, msg::OfferNext, msg::NextOffered,
                 msg::CountLeaves, msg::LeavesCounted, msg::Proposed, msg::ReactivateTreeOf, msg::NextDue, msg::NotReady, msg::StandsOn,
                 msg::Lingers, msg::Runs, msg::Sized, msg::ReadSince, msg::Disowned, msg::WorldChanged, msg::Forgotten, msg::Retired>;

struct Message {
  Address to;
  Address from;
  Payload payload;
};

/// For an entity that has no use for it: whoever sent it has mistaken the address, which is a bug and must not pass unseen.
[[noreturn]] inline void refuse(const Message& message, const char* entity) {
  throw std::logic_error(std::string(entity) + ": message " + std::to_string(message.payload.index()) + " of msg::Payload is not for it");
}

/// Where an entity puts what it sends.
class Outbox {
 public:
  template <class P>
  void send(Address from, Address to, P&& payload) {
    messages_.push_back(Message{to, from, Payload(std::forward<P>(payload))});
  }
  [[nodiscard]] bool empty() const { return messages_.empty(); }
  [[nodiscard]] std::vector<Message>& messages() { return messages_; }

 private:
  std::vector<Message> messages_;
};

/// A state machine that lives in the store of its domain: cohort tree, ClusterQueue, Workload parent or topology domain.
class Entity {
 public:
  Entity() = default;
  Entity(const Entity&) = delete;
  Entity& operator=(const Entity&) = delete;
  virtual ~Entity() = default;

  /// Changes the entity and puts what it says into `out`. The message may be taken apart.
  virtual void receive(Message& message, const Context& context, Outbox& out) = 0;
};

}  // namespace hindsight::admission
