#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "admission/domain/domain.hpp"
#include "admission/domain/state_view.hpp"
#include "admission/queue/cluster_queue.hpp"
#include "admission/queue/cohort_tree.hpp"
#include "admission/queue/topology_domain.hpp"
#include "admission/workload/workload_parent.hpp"

namespace hindsight::admission {

/// Chooses which of the waiting messages is delivered next (0 … n−1); empty: the oldest. Order between two entities is kept in any case.
using DeliveryOrder = std::function<std::size_t(std::size_t waiting)>;

/// All entities of one domain, and which of them a message is for: what every driver needs and nothing of how it delivers. The loop
/// delivers on one thread (`deliver_all`), actors/ lends each entity to an actor for as long as it works on its messages.
class Entities final : public StateView {
 public:
  explicit Entities(Domain::SettingsReader reader) : domain_(std::move(reader)) {}

  // ---- delivery -------------------------------------------------------------------------------------------------------------

  /// Who gets `m`, which is not for the domain itself. Null: nobody, because the message only opened or closed a queue, or
  /// the entity does not exist (any more). Entities are made when their first message comes. `applying`: what gets a message is
  /// noted as touched. The result stays valid until `sweep`.
  [[nodiscard]] Entity* receiver(const Message& m, bool applying);
  /// Between steps, when no message is under way: frees the queues that were closed.
  void sweep() { closed_.clear(); }
  /// Delivers what is in the outbox and all that follows from it, on this thread.
  void deliver_all(Outbox& out, bool applying, const DeliveryOrder& order = {});
  /// Where entities note from now on how they come to what they propose; null: nowhere.
  void follow(DecisionTrace* trace) { trace_ = trace; }

  [[nodiscard]] Domain& domain() { return domain_; }

  // ---- intents ----------------------------------------------------------------------------------------------------------------

  /// What the entities touched since the last call want of the world. Replays skip this (`forget_touched`).
  [[nodiscard]] std::vector<Intent> collect_intents();
  /// The same for all entities (after a restart).
  [[nodiscard]] std::vector<Intent> all_intents();
  void forget_touched();
  /// Numbers of the parents that were touched since then.
  [[nodiscard]] const std::vector<std::uint32_t>& touched_parents() const { return touched_parents_; }
  /// The same of ClusterQueues, also of those that are there no more.
  [[nodiscard]] const std::vector<Symbol>& touched_queues() const { return touched_queues_; }
  /// What one parent wants of the world now, whether it was touched or not.
  [[nodiscard]] std::vector<Intent> intents_of(std::uint32_t parent);

  // ---- reading ----------------------------------------------------------------------------------------------------------------

  [[nodiscard]] const Domain& domain() const override { return domain_; }
  [[nodiscard]] Time now() const override { return domain_.now(); }
  [[nodiscard]] const WorkloadParent* parent(std::uint32_t index) const override {
    return index < parents_.size() ? parents_[index].get() : nullptr;
  }
  [[nodiscard]] const ClusterQueue* queue(Symbol name) const override;
  [[nodiscard]] const CohortTree* tree(Symbol root) const override;
  /// Parts of topologies that have been asked so far.
  [[nodiscard]] std::size_t topology_domains() const { return topology_domains_.size(); }
  [[nodiscard]] std::uint64_t state_hash() const override;

  friend class SnapshotCodec;

 private:
  void deliver(Message& message, Outbox& out, bool applying);
  void deliver_shuffled(Outbox& out, bool applying, const DeliveryOrder& order);
  void touch(Symbol queue);
  void forget_touched_queues();
  [[nodiscard]] Entity* parent_for(const Message& m, bool applying);
  [[nodiscard]] Entity* queue_for(const Message& m, bool applying);
  [[nodiscard]] Entity* tree_for(const Message& m, bool applying);
  [[nodiscard]] Entity* topology_domain_for(const Message& m);

  Domain domain_;
  std::vector<std::unique_ptr<WorkloadParent>> parents_;
  std::unordered_map<std::uint32_t, std::unique_ptr<ClusterQueue>> queues_;
  std::unordered_map<std::uint32_t, std::unique_ptr<CohortTree>> trees_;
  std::vector<std::unique_ptr<TopologyDomain>> topology_domains_;
  std::vector<std::unique_ptr<ClusterQueue>> closed_;  ///< Somebody may still be about to deliver to them.
  std::vector<std::uint32_t> touched_parents_;
  std::vector<bool> parent_touched_;
  std::vector<Symbol> touched_queues_;
  std::vector<bool> queue_touched_;  ///< By number of the symbol.
  std::vector<Message> wave_;        ///< Empty between steps; keeps its memory.
  DecisionTrace* trace_ = nullptr;
};

}  // namespace hindsight::admission
