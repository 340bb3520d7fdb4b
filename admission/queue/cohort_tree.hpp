#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "admission/messages.hpp"
#include "admission/quota/quota_tree.hpp"
#include "admission/scheduling/pod_placer.hpp"
#include "admission/topology/topology_room.hpp"

namespace hindsight::admission {

/// A tree of cohorts, or one ClusterQueue without a cohort: it arbitrates the quota that its queues share. In a cycle it asks every
/// queue that has something waiting for its head, waits for all answers, and only then decides, so that the order of the answers
/// does not matter.
///
/// Where all heads are parked, each with those that are equal to it, nothing has changed for the next ones: the cycle goes on with them, in
/// a second round, and so on. Otherwise each of a thousand shapes that find no room would take a step of its own, whenever something that
/// ends wakes them all. The first round in which something else comes out is the last one.
class CohortTree final : public Entity {
 public:
  explicit CohortTree(Symbol root) : root_(root) {}

  void receive(Message& message, const Context& context, Outbox& out) override;

  [[nodiscard]] Symbol root() const { return root_; }
  /// Null before its first cycle, and where topologies are switched off.
  [[nodiscard]] const topology::TopologyRoom* room() const { return room_ ? &*room_ : nullptr; }
  /// Null until all members have joined.
  [[nodiscard]] const QuotaTree* quota() const { return tree_ ? &*tree_ : nullptr; }

 private:
  void joined(msg::Joined& m, const Context& c);
  void build(const Context& c);
  void refresh_room(const Context& c);
  [[nodiscard]] bool follow_nodes(std::uint64_t known, const Context& c);
  [[nodiscard]] msg::Joined* joining(const Symbol& queue);
  [[nodiscard]] bool is_member(Symbol queue) const;
  static void forget(std::vector<std::shared_ptr<const Reservation>>& reservations, WorkloadId id);
  void run_cycle(const msg::RunCycle& m, const Context& c, Outbox& out);
  void note_second_pass(const Reservation& reservation);
  void announce_second_pass(const Context& c, Outbox& out);
  [[nodiscard]] bool run_second_passes(const Context& c);
  /// Both say why there are none; empty: there are.
  std::string replace_nodes(const Reservation& reservation, const PodPlacer& placer, const Context& c);
  std::string find_places(const Reservation& reservation, const PodPlacer& placer, const Context& c);
  void take_places(const Reservation& reservation, const std::vector<PodSetReservation>& changed, std::uint32_t rules);
  /// What one outcome says in the proposal of its cycle.
  struct Said {
    std::uint32_t turn = 0;
    std::size_t first = 0, end = 0;  ///< Of the events.
    std::size_t bytes = 0;
    std::optional<msg::EntryRank> admits;
  };
  /// What a queue offers to a cycle.
  struct Offer {
    std::unique_ptr<msg::HeadOffered> head;  ///< Of this round.
    WorkloadId first = 0;                    ///< Head of the first round.
    bool parked = false;                     ///< It was, in this round.
    std::vector<msg::HeadOffered> more;      ///< Heads of the rounds after the first one, as far as the queue was asked.
    std::size_t taken = 0;                   ///< Of `more`, this round's included.
    bool all = false;                        ///< There are no others.
  };
  /// A step takes no longer than this many heads do, and those of one round more.
  static constexpr std::size_t heads_of_a_cycle = 256;

  void decide(const Context& c, Outbox& out);
  [[nodiscard]] bool count_in_parts(const Context& c, Outbox& out);
  void take_counts();
  void decide_counted(const Context& c, Outbox& out);
  [[nodiscard]] std::vector<Head> heads_of_round();
  [[nodiscard]] CycleContext context_of_round(const Context& c);
  [[nodiscard]] bool ask_for_next(Outbox& out);
  [[nodiscard]] bool goes_on(const Context& c, Outbox& out);
  [[nodiscard]] bool end_round(const std::vector<Outcome>& outcomes, const Context& c);
  [[nodiscard]] bool ask_for_more(Outbox& out);
  [[nodiscard]] bool take_next_heads();
  void finish(const Context& c, Outbox& out);
  [[nodiscard]] const msg::HeadOffered& offer_of(const Outcome& o) const;
  void propose(const Outcome& o, const Context& c, Proposal& p, std::optional<msg::EntryRank>& admits) const;
  static void keep_first(Proposal& p, std::vector<Said>& said);

  Symbol root_;
  std::uint64_t version_ = 0;
  std::uint32_t expected_ = 0;
  std::optional<QuotaTree> tree_;
  std::optional<topology::TopologyRoom> room_;  ///< As of the last cycle; nothing: topologies are switched off, or it has to be made anew.
  std::uint64_t room_version_ = 0;              ///< Context::nodes_version that it is of.
  std::map<Symbol, msg::Joined, ByText> members_;  ///< While joining.
  std::set<Symbol, ByText> ready_;                 ///< Queues with a non-empty heap.
  /// Workloads of which nodes failed, or that got no places with their quota: they get places before anybody gets anything.
  std::set<WorkloadId> failed_;
  std::map<WorkloadId, Time> placeless_;  ///< And when these are due.
  Time announced_due_;
  std::set<Symbol, ByText> waiting_;  ///< Queues with something pending, also where all of it is parked.

  // one cycle
  std::uint64_t cycle_ = 0;
  bool blocked_ = false;  ///< Another tree admits first (BA-76).
  std::uint32_t answers_missing_ = 0;
  std::map<Symbol, Offer, ByText> offers_;
  std::vector<Outcome> tried_;  ///< What came of the heads of this round, while it is not known who is next.
  Proposal proposal_;
  std::vector<Said> said_;
  std::uint32_t turns_ = 0;  ///< Heads that had theirs, in the rounds so far.
  /// What is being counted, and in which flavor's state of the room.
  std::shared_ptr<std::vector<std::shared_ptr<topology::FirstCount>>> counting_;
  std::vector<std::uint32_t> counted_flavors_;
};

}  // namespace hindsight::admission
