#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "admission/domain/entities.hpp"

namespace hindsight::admission {

/// All entities of one domain on one thread: replay, simulation, what-if, tests. The seeded explorer is the same with another order of
/// delivery (`Order`).
class LoopDriver final : public StateView {
 public:
  using Order = DeliveryOrder;

  explicit LoopDriver(Domain::SettingsReader reader, Order order = {}) : entities_(std::move(reader)), order_(std::move(order)) {}

  /// Folds one record and delivers everything that follows.
  [[nodiscard]] Result<void> apply(const RecordView& record);

  /// The next step that the state calls for, or nothing when it is at rest. Changes no state. `trace`: where it is noted how the step came
  /// about; it changes nothing of it.
  [[nodiscard]] std::optional<Domain::Step> decide(DecisionTrace* trace = nullptr);
  /// Keys of those of whom `decide` left out something the last time, because it would only repeat what was recorded (Domain::Step).
  [[nodiscard]] const std::vector<std::string>& circling() const { return circling_; }
  /// What remains of a life-cycle step without what only repeats: an earlier step since anything happened to its parent (RepeatedSteps),
  /// or what is so already. Other steps as they are.
  [[nodiscard]] std::vector<Event> without_repeats(const Decisions& step) const;

  /// See Entities.
  [[nodiscard]] std::vector<Intent> collect_intents() { return entities_.collect_intents(); }
  [[nodiscard]] std::vector<Intent> all_intents() { return entities_.all_intents(); }
  void forget_touched() { entities_.forget_touched(); }

  /// From now on `now` is this moment, unless a record is later. It changes no state; never: it is the time of the last record.
  void look_at(Time moment) { looked_at_ = moment; }

  [[nodiscard]] const Domain& domain() const override { return entities_.domain(); }
  [[nodiscard]] Time now() const override { return std::max(entities_.now(), looked_at_); }
  [[nodiscard]] const WorkloadParent* parent(std::uint32_t index) const override { return entities_.parent(index); }
  [[nodiscard]] const ClusterQueue* queue(Symbol name) const override { return entities_.queue(name); }
  [[nodiscard]] const CohortTree* tree(Symbol root) const override { return entities_.tree(root); }
  [[nodiscard]] std::uint64_t state_hash() const override { return entities_.state_hash(); }

  /// For snapshots.
  [[nodiscard]] Entities& entities() { return entities_; }
  [[nodiscard]] const Entities& entities() const { return entities_; }

 private:
  Entities entities_;
  Order order_;
  std::vector<std::string> circling_;
  Time looked_at_;
};

}  // namespace hindsight::admission
