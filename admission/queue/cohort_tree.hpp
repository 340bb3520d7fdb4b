#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "admission/messages.hpp"
#include "admission/quota/quota_tree.hpp"

namespace hindsight::admission {

/// A tree of cohorts, or one ClusterQueue without a cohort: it arbitrates the quota that its queues share. In a cycle it asks every
/// queue that has something waiting for its head, waits for all answers, and only then decides, so that the order of the answers
/// does not matter.
class CohortTree final : public Entity {
 public:
  explicit CohortTree(Symbol root) : root_(root) {}

  void receive(Message& message, const Context& context, Outbox& out) override;

  [[nodiscard]] Symbol root() const { return root_; }
  /// Null until all members have joined.
  [[nodiscard]] const QuotaTree* quota() const { return tree_ ? &*tree_ : nullptr; }

 private:
  void joined(msg::Joined& m, const Context& c);
  void build(const Context& c);
  [[nodiscard]] msg::Joined* joining(Symbol queue);
  [[nodiscard]] bool is_member(Symbol queue) const;
  static void forget(std::vector<std::shared_ptr<const Reservation>>& reservations, WorkloadId id);
  void run_cycle(const msg::RunCycle& m, Outbox& out);
  void decide(const Context& c, Outbox& out);
  void propose(const Outcome& o, const Context& c, Proposal& p, std::optional<msg::EntryRank>& admits) const;

  Symbol root_;
  std::uint64_t version_ = 0;
  std::uint32_t expected_ = 0;
  std::optional<QuotaTree> tree_;
  std::map<Symbol, msg::Joined, ByText> members_;  ///< While joining.
  std::set<Symbol, ByText> ready_;                 ///< Queues with a non-empty heap.
  std::set<Symbol, ByText> waiting_;               ///< Queues with something pending, also where all of it is parked.

  // one cycle
  std::uint64_t cycle_ = 0;
  bool blocked_ = false;  ///< Another tree admits first (BA-76).
  std::uint32_t answers_missing_ = 0;
  std::map<Symbol, std::unique_ptr<msg::HeadOffered>, ByText> offers_;
};

}  // namespace hindsight::admission
