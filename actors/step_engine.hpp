#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <caf/fwd.hpp>

#include "actors/interfaces.hpp"
#include "admission/domain/entities.hpp"

namespace hindsight::actors {

struct EngineOptions {
  /// Most Workload parents that have a shell at the same time; the ones used least recently lose theirs first.
  std::size_t shells_max = 10'000;
  /// Rounds with at most so many receivers are worked on by the sequencer itself, for which no shell can be at work then.
  std::size_t inline_receivers = 0;
  MessageHook hook;
};

/// Carries out the steps of one domain over shells, in rounds: all waiting messages are put together by receiver, and when each receiver
/// has worked on its own, what all have said makes the next round. A step is over when a round has nothing to say. A round with many
/// receivers gives each shell several of them, so that it costs the hand-overs that keep all threads busy and no more. Since the answers
/// are taken in the order in which the receivers came up, threads and their speed do not show in the result at all.
///
/// Lives inside the actor `self`, is called only from its handlers; that actor hands `round_over` to `end_round` and `down_msg` to
/// `is_failure`.
class StepEngine {
 public:
  StepEngine(caf::scheduled_actor* self, admission::Domain::SettingsReader reader, EngineOptions options);
  StepEngine(const StepEngine&) = delete;
  StepEngine& operator=(const StepEngine&) = delete;
  ~StepEngine();

  // ---- steps; only while not busy -----------------------------------------------------------------------------------------

  /// Begins to apply a record. `memory` is what its views point into; it is held until the next record, and by shells that outlive the
  /// engine until they are done. Errors: those of Domain::begin.
  [[nodiscard]] Result<void> apply(const RecordView& record, std::shared_ptr<const void> memory);
  /// The same without shells, over when it returns: for folding what was decided long ago.
  [[nodiscard]] Result<void> fold(const RecordView& record);
  /// Begins to ask for the next kind of decisions; false: nothing is left to ask. When the step is over, `answer` has what was answered.
  [[nodiscard]] bool ask();
  [[nodiscard]] admission::Domain::Step answer() { return entities_->domain().take_decisions(); }

  /// A step is under way.
  [[nodiscard]] bool busy() const { return in_round_; }
  /// All shells of the round are done: begins the next round, or the step is over.
  void end_round();

  // ---- the rest -------------------------------------------------------------------------------------------------------------

  /// Did a shell end for another reason than that it was not needed any more?
  [[nodiscard]] static bool is_failure(const caf::down_msg& m);

  [[nodiscard]] admission::Entities& entities() { return *entities_; }
  [[nodiscard]] std::size_t shells() const { return shells_; }
  [[nodiscard]] std::uint64_t rounds() const { return rounds_; }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// What the engine keeps of one entity.
  struct Slot {
    EntityShell shell;
    std::uint64_t round = 0;                   ///< In which it was a receiver last.
    std::uint32_t receiver = 0;                ///< Which of that round.
    std::uint32_t newer = none, older = none;  ///< Neighbours in the order of use; Workload parents with a shell only.
  };

  void take(admission::Outbox& out);
  void begin_round();
  [[nodiscard]] std::uint32_t receiver(admission::Address address, admission::Entity* entity);
  void order_by_receiver();
  void fill(std::size_t batches);
  void dispatch();
  void take_answers();
  [[nodiscard]] Slot& slot(admission::Address address);
  void drop(admission::Address address);
  [[nodiscard]] EntityShell shell_for_parent();
  void used(std::uint32_t parent);
  void unlink(std::uint32_t parent);
  void passivate();

  struct Receiver {
    admission::Address address;
    admission::Entity* entity = nullptr;
    std::uint32_t messages = 0;
  };

  caf::scheduled_actor* self_;
  std::shared_ptr<admission::Entities> entities_;
  EngineOptions options_;
  std::shared_ptr<RoundCounter> counter_;

  bool applying_ = false, in_round_ = false;
  std::uint64_t rounds_ = 0;
  std::vector<admission::Message> waiting_;  ///< For the next round, in order.
  std::vector<admission::Message> now_;      ///< Of the round, without those to the domain; in the end by receiver.
  std::vector<std::uint32_t> receiver_of_;   ///< Parallel to now_, while these stand in the order in which they were sent.
  std::vector<Receiver> receivers_;          ///< Of the round, in the order in which they came up.
  std::size_t batches_used_ = 0;             ///< In the round.
  std::vector<BatchPtr> batches_;            ///< Those of the round first; the others wait to be used again.
  std::vector<Slot> parents_, queues_, trees_, topology_domains_;  ///< By number.
  std::uint32_t newest_ = none, oldest_ = none;
  std::size_t shells_ = 0;  ///< Of Workload parents.
};

}  // namespace hindsight::actors
