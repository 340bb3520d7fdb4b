#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "admission/quota/fair_share.hpp"
#include "admission/quota/quota_tree.hpp"
#include "admission/scheduling/assignment.hpp"
#include "admission/scheduling/cycle.hpp"
#include "admission/scheduling/preemption.hpp"

namespace hindsight::admission {

/// A nominated head.
struct CycleEntry {
  std::shared_ptr<const WorkloadInfo> workload;
  NodeIndex queue = no_node;
  Assignment assignment;
  std::vector<Target> targets;
  bool preemptor = false;  ///< Of its queue; see Head.
  SizingPlan plan;         ///< Sizes that the assignment is for; empty: those of the template.
  bool recomputed = false;
  bool scan_began_anew = false;    ///< What the queue kept of its scan is of no use any more (outdated).
  std::vector<std::uint32_t> own;  ///< Entries of the tree that its family holds and that it takes over (Cycle::list_own).
  bool for_family = false;         ///< It stands for all Options of its family that were offered (Head::siblings).
  bool follows = false;            ///< It has its turn after a sibling that stood for the family.
  std::vector<Head> siblings;      ///< Those that were not looked at yet.
  std::uint32_t traced = 0;        ///< Its number in the DecisionTrace, if there is one.
};

/// By what one entry goes before another (§6.1).
enum class OrderedBy : std::uint8_t { nothing, preemptor, level, borrowing, share, priority, time, queue, uid };

/// Why it is an entry's turn, for who explains it.
struct EntryStanding {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  /// Fair sharing: one round of the tournament, among the children of one cohort.
  struct Round {
    NodeIndex node = no_node;  ///< That won.
    Share share;               ///< Its share, with the entry.
    bool borrows = false;
    std::size_t others = 0;  ///< How many it won against.
    // The best of these.
    NodeIndex next_node = no_node;
    std::uint32_t next_entry = none;
    Share next_share;
    OrderedBy by = OrderedBy::nothing;  ///< Why it goes before that one.
  };
  std::vector<Round> rounds;          ///< Fair sharing: from the queue upwards.
  std::uint32_t next_entry = none;    ///< Without fair sharing: the entry whose turn is next; none: it is the last.
  OrderedBy by = OrderedBy::nothing;  ///< Why it goes before that one.
};

/// The order in which the entries of a cycle are processed (base-admission §6.1). With fair sharing it depends on what processing has
/// charged to the tree so far, so ask for one after the other.
class EntryOrder {
 public:
  /// `entries` must outlive the order and stay in place; their assignments are read when the order is made.
  EntryOrder(QuotaTree& tree, const Settings& settings, std::span<const CycleEntry> entries);

  /// Position of the entry to process now; nullopt: all are done.
  [[nodiscard]] std::optional<std::size_t> next();
  /// Of the entry that was handed out last.
  [[nodiscard]] EntryStanding standing() const;

 private:
  static constexpr std::uint32_t none = EntryStanding::none;
  /// How the winner of a node's subtree competes against the node's siblings.
  struct Bid {
    std::uint32_t entry = none;
    bool borrows = false;  ///< On a pair that the entry requests, with the entry.
    Share share;           ///< Of the node, with the entry.
  };

  /// Does the first of two go before the second, and by what?
  struct Lead {
    bool ahead = false;
    OrderedBy by = OrderedBy::nothing;
  };
  [[nodiscard]] Lead equal_shares(const CycleEntry& a, const CycleEntry& b) const;
  [[nodiscard]] Lead classical(const CycleEntry& a, const CycleEntry& b) const;
  [[nodiscard]] Lead contest(const Bid& a, const Bid& b) const;
  void sort();
  void queue_up(std::uint32_t entry);
  void make_bid(NodeIndex n);
  void replace_winner();

  QuotaTree& tree_;
  QuotaTable& table_;
  const Settings& settings_;
  std::span<const CycleEntry> entries_;
  std::vector<std::uint32_t> sorted_;  ///< Classical order.
  std::size_t done_ = 0;

  // Fair sharing: a tournament over the tree.
  std::vector<std::uint32_t> next_of_queue_;        ///< By entry: the next entry of the same queue.
  std::vector<Bid> bids_;                           ///< By node.
  std::vector<std::vector<NodeIndex>> contenders_;  ///< By cohort: its children that bid, a heap with the winner on top.
  NodeIndex changed_ = no_node;                     ///< Queue of the entry handed out last.
};

}  // namespace hindsight::admission
