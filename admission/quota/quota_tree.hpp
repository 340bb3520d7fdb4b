#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "admission/model/catalog.hpp"
#include "admission/model/workload_info.hpp"
#include "admission/quota/quota_table.hpp"
#include "admission/tables/flat_index.hpp"
#include "vocabulary/amount.hpp"

namespace hindsight::admission {

/// The quota of one tree: cohorts and ClusterQueues in flat arrays, a column for each (flavor, resource) pair (base-admission §2).
///
/// Life cycle: built from the configuration of its members (`build`), then fed by `reserve` and `release`. A change of any
/// quota, limit, parent or membership means building anew and reserving again what was reserved.
class QuotaTree {
 public:
  struct Member {
    std::shared_ptr<const QueueConfig> config;
    bool active = true;  ///< Inactive queues keep quota and usage in the sums but take no part in scheduling.
  };
  struct Entry {
    std::shared_ptr<const Reservation> reservation;
    NodeIndex queue = no_node;
    std::vector<CellAmount> cells;  ///< What it is charged, ascending by cell; amounts above 0 only.
    std::uint32_t position = 0;     ///< In `Queue::holders`.
  };
  /// One reserving workload as preemption looks at it: what orders and filters candidates, side by side.
  struct Holder {
    std::int64_t priority = 0;
    Time queue_time;
    Time reserved_at;
    std::uint64_t uid_prefix = 0;  ///< First eight bytes of the uid, so that comparing these compares uids, mostly.
    std::uint64_t cell_mask = 0;   ///< Bit (cell mod 64) of every cell that it uses.
    std::uint32_t entry = 0;       ///< See `entry`.
    double local_usage = 0;        ///< Of its LocalQueue, with admission fair sharing; as of the last ranking.
    bool evicted = false;
    bool removed = false;  ///< Taken out for the time being (§6.2 step 1): no candidate.
  };
  /// A resource group with its cells looked up.
  struct Group {
    std::vector<Symbol> resources;              ///< In coveredResources order.
    std::vector<Symbol> flavors;                ///< In try order.
    std::vector<std::uint32_t> flavor_numbers;  ///< Position among `flavor_names`.
    std::vector<CellIndex> cells;               ///< flavor × resources.size() + resource.
    [[nodiscard]] CellIndex cell(std::size_t flavor, std::size_t resource) const { return cells[flavor * resources.size() + resource]; }
  };
  struct Queue {
    std::shared_ptr<const QueueConfig> config;
    NodeIndex node = no_node;
    std::vector<Group> groups;
    bool covers_pods = false;
    std::uint64_t generation = 0;
    std::vector<Holder> holders;  ///< In no particular order; see `rank_holders`.
    Time ranked_at;               ///< The holders are ranked, with this time for missing ones; never: they are not.
    bool rank_has_missing = false;
    FlatIndex local_usage_of;                            ///< LocalQueue → position in `local_usage`.
    std::vector<double> local_usage;                     ///< With admission fair sharing (§7.2); empty without.
    std::vector<std::pair<Symbol, Symbol>> local_names;  ///< Of `local_usage`: as long as they are here, their numbers are theirs.
  };

  // ---- construction ---------------------------------------------------------------------------------------------------

  /// `cohorts`: the Cohort objects of this tree that exist; missing ones are implicit (BA-38). The parent chains must be free of cycles
  /// and end in one root.
  [[nodiscard]] static QuotaTree build(std::span<const Member> queues, std::span<const std::shared_ptr<const CohortConfig>> cohorts);

  // ---- reservations ---------------------------------------------------------------------------------------------------

  /// Charges a reservation. It replaces one of the same workload, which increases the generation of the queue; a new one increases nothing
  /// but usage (§2.3). A ClusterQueue that is no member is a bug of the caller.
  void reserve(Symbol cluster_queue, std::shared_ptr<const Reservation> reservation);
  void reserve(Symbol cluster_queue, Reservation reservation) {
    reserve(cluster_queue, std::make_shared<const Reservation>(std::move(reservation)));
  }
  /// Takes a reservation away; the queue's generation increases (§2.3). False if there was none.
  bool release(WorkloadId workload);
  [[nodiscard]] const Entry* find_reservation(WorkloadId workload) const;
  /// On trial, until `dismiss`: the workload, which holds nothing yet, counts among those that hold what the reservation says. The caller
  /// charges it (QuotaTable::add). Only pairs of the queue's own configuration.
  void admit_on_trial(NodeIndex queue, std::shared_ptr<const Reservation> reservation);
  /// Takes it back; the generation stays.
  void dismiss(WorkloadId workload);
  [[nodiscard]] std::uint64_t generation(Symbol cluster_queue) const;
  void set_generation(Symbol cluster_queue, std::uint64_t generation);
  /// With admission fair sharing: how the LocalQueues of a queue compare when victims are chosen among their workloads (§7.2).
  /// `whole`: by these and no others; without any they do not compare.
  using LocalUsage = std::pair<std::pair<Symbol, Symbol>, double>;  ///< namespace and name, usage
  void weigh_local_queues(Symbol cluster_queue, std::span<const LocalUsage> usage, bool whole);

  // ---- questions of projections and `why` -------------------------------------------------------------------------------

  /// What one node has of one pair (§2.1, §2.2).
  struct Figures {
    Amount usage = 0;
    Amount subtree = 0;  ///< Of a queue: nominal.
    Amount local = 0;
    Amount available = 0;  ///< May be negative; what is offered is never below 0.
    Amount potential = 0;  ///< "Maximum capacity".
    Amount borrowed = 0;   ///< max(0, usage − subtree); 0 at the root (§8.12).
  };
  /// `node` is the name of a queue; all zero for an unknown node or pair.
  [[nodiscard]] Figures queue_figures(Symbol queue, Symbol flavor, Symbol resource) const;
  [[nodiscard]] Figures cohort_figures(Symbol cohort, Symbol flavor, Symbol resource) const;
  [[nodiscard]] Figures figures(NodeIndex node, CellIndex cell) const;
  /// `node` is the name of a queue or, if there is none of that name, of a cohort.
  [[nodiscard]] Amount usage(const Symbol& node, Symbol flavor, Symbol resource) const;
  /// ClusterQueues and cohorts in the order of the tree: a cohort, then its child cohorts by name, then its queues by name.
  [[nodiscard]] std::vector<Symbol> queue_names() const;
  [[nodiscard]] std::vector<Symbol> cohort_names() const;
  /// Ids of the workloads that hold quota in a queue, ascending by uid.
  [[nodiscard]] std::vector<WorkloadId> reservations_of(Symbol cluster_queue) const;
  /// Dominant resource share of a queue, rounded up; 9223372036854775807 when infinite (BA-119).
  [[nodiscard]] std::int64_t weighted_share(Symbol cluster_queue) const;
  [[nodiscard]] std::int64_t cohort_weighted_share(Symbol cohort) const;

  // ---- structure, for the rules -------------------------------------------------------------------------------------------

  [[nodiscard]] QuotaTable& table() { return table_; }
  [[nodiscard]] const QuotaTable& table() const { return table_; }
  [[nodiscard]] Symbol name(NodeIndex n) const { return names_[n]; }
  /// "/root/…/queue" (§7.6).
  [[nodiscard]] std::string path(NodeIndex n) const;
  [[nodiscard]] double fair_weight(NodeIndex n) const { return weights_[n]; }
  [[nodiscard]] NodeIndex find_queue(const Symbol& cluster_queue) const;
  [[nodiscard]] NodeIndex find_cohort(const Symbol& cohort) const;
  [[nodiscard]] CellIndex find_cell(Symbol flavor, Symbol resource) const;
  /// Only for nodes that are queues.
  [[nodiscard]] const Queue& queue(NodeIndex n) const { return queues_[queue_of_[n]]; }
  [[nodiscard]] Queue& queue(NodeIndex n) { return queues_[queue_of_[n]]; }
  [[nodiscard]] std::span<const Symbol> flavor_names() const { return flavor_names_; }
  [[nodiscard]] const Entry& entry(std::uint32_t index) const { return entries_[index]; }
  /// Entries that count in no share, in no order.
  [[nodiscard]] std::span<const std::uint32_t> uncounted() const { return uncounted_; }
  /// Index of the entry of a workload; the largest number: it holds nothing here.
  [[nodiscard]] std::uint32_t entry_of(WorkloadId workload) const {
    return workload == no_workload ? FlatIndex::none : entry_of_.find(workload);
  }

  /// Is `a` a better victim than `b`, of the same queue or of two others (§7.2)? `now` stands for a missing time of reservation.
  [[nodiscard]] bool better_victim(const Holder& a, const Holder& b, Time now) const;
  /// Puts the holders of a queue in order, best victim first.
  void rank_holders(NodeIndex queue, Time now);

  /// Of usage, reservations and generations; equal exactly when the state is.
  [[nodiscard]] std::uint64_t hash() const;

 private:
  using Pair = std::pair<Symbol, Symbol>;  ///< flavor, resource

  void lay_out();
  void lay_out_columns();
  [[nodiscard]] std::vector<QuotaTable::Node> lay_out_nodes();
  void fill_table(std::vector<QuotaTable::Node> nodes);
  void resolve(Queue& queue) const;
  [[nodiscard]] std::uint32_t list(NodeIndex queue, std::shared_ptr<const Reservation> reservation);
  void strike(std::uint32_t index);
  void place(std::uint32_t index);
  void recompute_usage();
  bool learn_strays(Symbol cluster_queue, const Reservation& reservation);
  static std::uint64_t key(Symbol flavor, Symbol resource) { return static_cast<std::uint64_t>(flavor.id()) << 32 | resource.id(); }

  std::vector<Member> members_;                               ///< Sorted by name.
  std::vector<std::shared_ptr<const CohortConfig>> cohorts_;  ///< Sorted by name.
  /// Pairs that reservations hold outside their queue's present configuration, by member.
  std::vector<std::vector<Pair>> strays_;

  QuotaTable table_;
  std::vector<QuotaTable::Column> columns_;
  std::vector<Symbol> names_;             ///< By node.
  std::vector<double> weights_;           ///< By node.
  std::vector<std::uint32_t> queue_of_;   ///< Node → position in `queues_`.
  std::vector<Queue> queues_;             ///< In the order of `members_`.
  std::vector<Symbol> flavor_names_;      ///< Of all columns, by text.
  FlatIndex queue_nodes_, cohort_nodes_;  ///< Symbol id → node.
  FlatIndex cell_of_;                     ///< (flavor, resource) → cell.

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_entries_;
  std::vector<std::uint32_t> uncounted_;
  FlatIndex entry_of_;  ///< WorkloadId → position in `entries_`.
};

}  // namespace hindsight::admission
