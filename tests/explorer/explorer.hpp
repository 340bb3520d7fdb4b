#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "admission/state/state_walk.hpp"
#include "tests/explorer/api_server.hpp"
#include "tests/explorer/applier.hpp"
#include "tests/explorer/family_rules.hpp"
#include "tests/explorer/family_users.hpp"
#include "tests/explorer/history.hpp"
#include "tests/explorer/invariants.hpp"
#include "tests/explorer/random.hpp"
#include "tests/explorer/rest_rules.hpp"
#include "tests/explorer/slice_rules.hpp"
#include "tests/explorer/users.hpp"

namespace hindsight::explorer {

/// Settings by seed; the JSON of the observation is only a number here.
[[nodiscard]] Result<admission::Settings> read_settings(Text text);

/// A decision that was made and recorded, for other drivers to make again: at this sequence `step` was decided.
struct RecordedDecision {
  std::uint64_t base = 0;
  admission::Domain::Step step;
};

/// One random history. A leader folds the records, decides, and loses its memory now and then; a follower folds the same records with
/// another order of delivery; users, watcher and applier are models. The constructor's seed determines everything.
class Explorer {
 public:
  /// What a history is about.
  enum class Kind {
    jobs,      ///< Queues of all shapes, jobs of which many are elastic.
    families,  ///< Queues with concurrent admission (8691).
  };

  /// The states of histories up to this one are on record (states.txt). Of those behind it a sixteenth knows a limit on writes (D15).
  static constexpr std::uint64_t seeds_with_kept_states = 1'000;
  explicit Explorer(std::uint64_t seed, Kind kind = Kind::jobs) : Explorer(seed, seed % 4 == 3, kind) {}
  /// `cycles_hurry`: see `bound`.
  Explorer(std::uint64_t seed, bool cycles_hurry, Kind kind = Kind::jobs);

  /// Twice as much happens in it. Of families two of five histories are so long anyway.
  void take_long() { long_ = true; }

  /// Empty: every check held. Otherwise what was wrong, and after which record.
  [[nodiscard]] std::string run();

  /// Called whenever there is nothing left to decide; what it returns is a finding.
  using Look = std::function<std::string(const admission::LoopDriver&)>;
  void look_when_at_rest(Look look) { look_ = std::move(look); }

  /// Gives other entities the bounds that those of this history have: in a fourth of all, cycles go before the life cycle after every step
  /// of the latter.
  void bound(admission::Entities& entities) const {
    if (cycles_hurry_) entities.domain().bound_life_cycle_steps(1);
  }

  [[nodiscard]] std::uint64_t steps() const { return steps_; }  ///< Actions of users, watcher, applier, clock and domain.
  [[nodiscard]] std::size_t parked_looked_at() const { return queue_rules_.looked_at(); }
  /// How often nothing was decided because too much was unwritten (D15).
  [[nodiscard]] std::size_t waits_for_writes() const { return waits_for_writes_; }
  [[nodiscard]] const SliceRules::Figures& slices_looked_at() const { return slice_rules_.figures(); }
  [[nodiscard]] const FamilyRules::Figures& families_looked_at() const { return family_rules_.figures(); }
  [[nodiscard]] const History& history() const { return history_; }
  [[nodiscard]] const std::vector<RecordedDecision>& decisions() const { return decided_; }
  /// From now on, whenever there are a multiple of so many records, the state as text goes into `texts_hash`.
  void hash_texts_every(std::size_t records) { texts_every_ = records; }
  [[nodiscard]] std::uint64_t texts_hash() const { return texts_.value(); }
  [[nodiscard]] std::uint64_t final_hash() const { return leader_->state_hash(); }

 private:
  struct Failure {
    std::string what;
  };

  void one_action(bool faults);
  void observe();
  [[nodiscard]] std::vector<std::string> reserved_starts() const;
  /// What the leader wants of the world, for the applier.
  void want(std::vector<admission::Intent> intents);
  void record(const HistoryRecord& r);
  void decide();
  void append_decision();
  void tick();
  void crash();
  void take_over(std::uint64_t epoch);
  void refuse_a_write();
  void compare_with_fresh_fold();
  bool go_on_without_users();
  void calm();
  void bring_to_rest();
  [[nodiscard]] std::unique_ptr<admission::LoopDriver> new_driver(bool shuffled);
  [[nodiscard]] std::string differs_in_copy();
  [[nodiscard]] std::unique_ptr<admission::LoopDriver> folded(bool shuffled);
  [[nodiscard]] admission::DeliveryOrder shuffled_order();
  [[noreturn]] void fail(const std::string& what) const { throw Failure{what}; }

  void step_applier(bool faults);
  [[nodiscard]] std::unique_ptr<admission::LoopDriver> restored();
  [[nodiscard]] bool families() const { return kind_ == Kind::families; }

  bool cycles_hurry_;
  Kind kind_;
  bool long_ = false;
  std::uint32_t write_limit_ = 0;
  std::size_t waits_for_writes_ = 0;
  Random random_, order_;  ///< The second one only for orders of delivery.
  ApiServer server_;
  std::unique_ptr<Users> users_;
  Applier applier_;
  History history_;
  Invariants invariants_;
  QueueRules queue_rules_;
  SliceRules slice_rules_;
  FamilyRules family_rules_;
  EvictionPairs pairs_;
  Look look_;
  struct Snapshot {
    std::size_t records = 0;  ///< Of the history that it holds.
    std::vector<std::byte> bytes;
  };
  std::vector<Snapshot> snapshots_;
  std::uint64_t steps_ = 0;
  std::unique_ptr<admission::LoopDriver> leader_, follower_;
  std::optional<admission::Domain::Step> in_flight_;  ///< Decided, not read back yet.
  std::uint64_t epoch_ = 0;
  bool at_rest_ = false;     ///< Nothing left to decide since the last record.
  std::uint64_t rests_ = 0;  ///< How often that was so.
  int decisions_in_a_row_ = 0;
  std::vector<RecordedDecision> decided_;
  std::size_t texts_every_ = 0;  ///< 0: never.
  StateHash texts_;
};

/// Equal kinds, bases and events, whatever memory they live in.
[[nodiscard]] bool same_step(const admission::Domain::Step& a, const admission::Domain::Step& b);
/// For messages: which parts of the state differ.
[[nodiscard]] std::string difference(const admission::StateView& a, const admission::StateView& b);
/// The same to the field.
[[nodiscard]] std::string first_field(const admission::LoopDriver& a, const admission::LoopDriver& b);
/// For messages: the events in words.
[[nodiscard]] std::string describe(const admission::Domain::Step& step);

}  // namespace hindsight::explorer
