#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "admission/messages.hpp"
#include "admission/model/state_field.hpp"
#include "admission/model/workload_info.hpp"
#include "admission/queue/pending_lanes.hpp"

namespace hindsight::admission {

/// Numbers of a ClusterQueue or LocalQueue as its status shows them (§8.12).
struct QueueCounters {
  std::int32_t pending = 0, reserving = 0, admitted = 0;
  struct Cell {
    Symbol flavor, resource;
    Amount reserved = 0, used = 0;  ///< By reserving, by admitted workloads.
  };
  std::vector<Cell> cells;  ///< Only cells that something uses, in no order.
};

/// A ClusterQueue: the heap of what waits, the inadmissible set, what holds quota here (base-admission §3), and with admission fair sharing
/// the ledgers of its LocalQueues (§10). It knows the order of its own workloads and nothing of quota elsewhere.
class ClusterQueue final : public Entity {
 public:
  explicit ClusterQueue(Symbol name) : name_(name) {}

  void receive(Message& message, const Context& context, Outbox& out) override;

  [[nodiscard]] Symbol name() const { return name_; }
  [[nodiscard]] const QueueCounters& counters() const { return published_; }
  /// Of one LocalQueue that feeds this queue; always up to date.
  [[nodiscard]] QueueCounters local_counters(const Symbol& namespace_, const Symbol& local_queue) const;
  /// What one LocalQueue has used, with admission fair sharing; null without.
  [[nodiscard]] const UsageLedger* ledger(const Symbol& namespace_, const Symbol& local_queue) const;
  /// Pending workloads in queue order: the heap, the inadmissible set (BA-192).
  struct Waiting {
    std::shared_ptr<const WorkloadInfo> workload;
    bool parked = false;
  };
  [[nodiscard]] std::vector<Waiting> waiting() const;
  /// Whether a Workload that waits here is parked, without a look at the others; nothing: it does not wait here.
  [[nodiscard]] std::optional<bool> parked(WorkloadId id) const;
  /// Of one that is parked because an equal one failed: why that one did, empty if that is not known any more. Nothing: it is not.
  [[nodiscard]] std::optional<Symbol> failed_equal(WorkloadId id) const {
    const auto it = pending_.find(id);
    if (it == pending_.end() || !it->second.by_record()) return std::nullopt;
    const auto record = records_.find(it->second.info->equivalence_hash);
    return record == records_.end() ? Symbol() : record->second;
  }
  /// Likewise of one that is parked because an equal one failed (§3.6): why that one did, and who it was, unless it has gone (null).
  /// Nothing: it is not parked for that.
  struct ParkedWith {
    Symbol reason;
    std::shared_ptr<const WorkloadInfo> tried;
  };
  [[nodiscard]] std::optional<ParkedWith> parked_with(WorkloadId id) const;
  /// The queue's preemptor (§3.5), or the Option that a job moves to; null: there is none.
  [[nodiscard]] std::shared_ptr<const WorkloadInfo> first_served() const;
  [[nodiscard]] std::vector<std::shared_ptr<const Reservation>> reservations() const;
  [[nodiscard]] bool holds_quota() const { return !holding_.empty(); }  ///< Some workload reserves in it.
  /// Computed once for all that happened to it since the last time.
  [[nodiscard]] std::uint64_t hash() const;

  /// For snapshots: what does not follow from the Workloads.
  struct Image {
    struct Entry {
      CompactText uid;
      bool parked = false;
      bool by_record = false;
      ScanState scan;
    };
    std::vector<Entry> entries;
    CompactText sticky_uid;
    std::int64_t sticky_generation = 0;
    std::uint64_t generation = 0;
    struct Record {
      std::uint64_t hash = 0;
      Symbol reason;
    };
    std::vector<Record> records;
    QueueCounters published;
    struct Ledger {
      Symbol namespace_, name;
      Time sampled_at;
      std::vector<std::pair<Symbol, NanoAmount>> consumed;
    };
    std::vector<Ledger> ledgers;
    struct Penalty {
      CompactText uid;
      std::vector<std::pair<Symbol, NanoAmount>> amounts;
    };
    std::vector<Penalty> penalties;
  };
  [[nodiscard]] Image image() const;
  /// Entries of all tables that grow with what tenants make.
  [[nodiscard]] std::size_t entries() const {
    return pending_.size() + families_.size() + alone_.size() + told_.size() + records_.size() + holding_.size() + local_.size();
  }
  /// Called after the Workloads have announced themselves again.
  void restore(const Image& image, const Context& context, Outbox& out);
  friend struct StateFields<ClusterQueue>;

 private:
  struct Pending;
  using Lanes = PendingLanes<Pending>;
  /// So many Options of a family wait, hold quota and are admitted.
  struct Change {
    std::int32_t pending = 0, reserving = 0, admitted = 0;
  };
  using Families = std::unordered_map<WorkloadId, Change>;  ///< By Parent.
  /// What is known of one LocalQueue that feeds this queue.
  struct Local {
    Catalog::LocalQueueKey key;
    QueueCounters counters;
    std::uint32_t users = 0;  ///< Workloads that point here.
    Families families;        ///< Of those that point here.
    // with admission fair sharing
    UsageLedger ledger;
    Lanes::Lane lane;
  };
  struct Pending {
    std::shared_ptr<const WorkloadInfo> info;
    ScanState scan;
    Address parent;
    std::uint64_t told_at = 0;  ///< Sequence of the last Enqueue.
    Local* local = nullptr;     ///< Its LocalQueue.
    // Where it is: in a group, waiting in the heap or parked because an equal one failed; or parked alone.
    std::size_t place = PendingHeap<Pending>::nowhere;
    Lanes::Group* group = nullptr;
    std::uint8_t side = 0;
    bool alone_by_record = false;  ///< Parked alone now, and before because an equal one failed: its parent was told so.
    [[nodiscard]] bool in_heap() const { return Lanes::waits(*this); }
    /// Parked because an equal workload failed, not for its own failure.
    [[nodiscard]] bool by_record() const { return group == nullptr ? alone_by_record : Lanes::is_parked(*this); }
  };
  struct Holding {
    std::shared_ptr<const Reservation> reservation;
    bool admitted = false;
    Local* local = nullptr;  ///< Its LocalQueue.
    UsageVector penalty;     ///< That the LocalQueue pays until it is admitted and the API server knows it (BA-166).
  };

  void enqueue(const msg::Enqueue& m, Address parent, const Context& c, Outbox& out);
  void dequeue(WorkloadId id, bool quiet, const Context& c, Outbox& out);
  void reserve(const msg::Reserve& m, const Context& c, Outbox& out);
  void release(WorkloadId id, const Context& c, Outbox& out);
  void requeued(const EntryRequeued& e, WorkloadId id, const Context& c, Outbox& out);
  void reactivate(const Context& c, Outbox& out);
  void offer(Address to, const Context& c, Outbox& out) const;
  void offer_next(const msg::OfferNext& m, Address to, const Context& c, Outbox& out) const;
  void offer_more(const msg::OfferMore& m, Address to, const Context& c, Outbox& out) const;
  [[nodiscard]] const Pending* head(const Context& c) const;
  [[nodiscard]] msg::HeadOffered offered(const Pending& p, const Context& c) const;
  [[nodiscard]] bool better_sibling_is_next(const OptionInfo& option) const;
  void give_next_its_turn(const Pending& tried);
  [[nodiscard]] bool holds_up_queue(const OptionInfo& option, const Settings& settings) const;
  void join(const msg::JoinTree& m, const Context& c, Outbox& out);

  void push(Pending& p);
  void push_parked(Pending& p);
  void park_alone(Pending& p, bool by_record);
  void take_out(Pending& p);
  void park_equals(std::uint64_t hash, Symbol reason, const Context& c, Outbox& out);
  void wake_all(const Context& c);
  void note_told(Pending& p, const Context& c);
  void forget_told(const Context& c);
  void tell_parents(const Context& c, Outbox& out, const std::function<bool(const Pending&)>& about, Symbol reason);
  [[nodiscard]] std::size_t waiting_equals(std::uint64_t hash) const;
  void tell_heap_state(Outbox& out);
  [[nodiscard]] Local* local(const WorkloadInfo& w, const Context& c);
  void leave(Local*& local, const Context& c, Outbox& out);
  void forget_idle(const Catalog::LocalQueueKey& key, const Context& c, Outbox& out);
  void prune_records();
  void count_usage(const Holding& h, std::int64_t sign);
  void count_option(const WorkloadInfo& w, Local& local, const Change& change);
  void refresh_counters(const Context& c);

  // admission fair sharing (fair_ledgers.cpp)
  void follow_catalog(const Context& c, Outbox& out);
  void consumed_seen(const msg::ConsumedSeen& m, const Context& c, Outbox& out);
  void put_ledgers(Image& image) const;
  void take_ledgers(const Image& image, const Context& c, Outbox& out);
  void sample_usage(const Context& c, Outbox& out);
  void begin_ledger(Local& local, const Context& c);
  void pay(Holding& h, const msg::Reserve& m, bool fresh, const Context& c);
  void usage_changed(Local& local, const Context& c, Outbox& out);
  void weigh(Local& local, const Context& c);
  void announce_sampling(Time due, Outbox& out);
  [[nodiscard]] std::vector<std::pair<Catalog::LocalQueueKey, double>> local_usage() const;
  [[nodiscard]] Lanes::Lane& lane_of(Pending& p) { return fair_ ? p.local->lane : shared_lane_; }
  /// Is `a` served before `b`?
  [[nodiscard]] bool served_before(const Pending& a, const Pending& b) const;

  /// Who asks for nothing goes before all others: no quota and no older head may hold it back (EJ-20).
  [[nodiscard]] static QueueRank rank(const Pending& p) {
    const std::int64_t priority = p.info->asks_nothing ? std::numeric_limits<std::int64_t>::max() : p.info->priority;
    if (const OptionInfo* option = p.info->option.get()) return {priority, p.info->queue_time, option->family, option->rank};
    return {priority, p.info->queue_time, p.info->uid};
  }
  [[nodiscard]] static bool gate_open(const WorkloadInfo& w, Time now) {
    return !w.requeued_false && (!w.requeue_at.is_set() || w.requeue_at <= now);
  }

  Symbol name_;
  Address tree_{EntityKind::cohort_tree, 0};
  std::uint64_t tree_version_ = 0;
  std::unordered_map<WorkloadId, Pending> pending_;  ///< Elements stay in their place.
  Lanes heap_;
  Lanes::Lane shared_lane_;                                ///< Of all, without admission fair sharing.
  std::vector<Pending*> alone_;                            ///< Parked, each for its own reason; in no order.
  std::deque<std::pair<std::uint64_t, WorkloadId>> told_;  ///< Each Enqueue, oldest first, as long as its parent may want to know.
  std::map<std::uint64_t, Symbol> records_;                ///< Hash records with the reason that set them (§3.6).
  Pending* sticky_ = nullptr;                              ///< The queue's preemptor (§3.5).
  std::int64_t sticky_generation_ = 0;                     ///< Of the preemptor's spec when it became that (BA-196).
  std::unordered_map<WorkloadId, Holding> holding_;
  std::uint64_t generation_ = 0;
  bool told_nonempty_ = false;
  bool told_waiting_ = false;
  QueueCounters live_;
  QueueCounters published_;
  std::uint64_t refreshed_at_ = 0;  ///< Record whose messages refresh the counters: all of them or none, in whatever order they come.
  mutable std::uint64_t hash_ = 0;  ///< See hash(); 0: not known.
  std::unordered_map<Catalog::LocalQueueKey, Local, Catalog::LocalQueueKeyHash> local_;  ///< Elements stay in their place.
  Families families_;
  std::int32_t family_pending_ = 0;   ///< By so many `pending` differs from how many wait, because a family counts once.
  std::size_t forgotten_locals_ = 0;  ///< Since the tree was told of all of them.
  bool fair_ = false;                 ///< Admission fair sharing is on for this queue.
  Time sampling_due_;                 ///< As the domain was told.
};

}  // namespace hindsight::admission
