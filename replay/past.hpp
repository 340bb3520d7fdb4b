#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "admission/domain/loop_driver.hpp"
#include "events/log.hpp"
#include "events/record.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::replay {

using admission::LoopDriver;
using events::Log;
using events::Position;

/// Called now and then with how far a fold has come.
using Progress = std::function<void(Position done, Position total)>;

struct PastOptions {
  bool use_snapshots = true;
  /// The state goes before another one is loaded: memory for one is enough. After an error it may be that of the beginning, then.
  bool one_at_a_time = false;
  Progress progress;
};

/// The state of one domain at any position of a log: time travel. Folding forward is cheap; going back starts again from a snapshot
/// or from the beginning, and a long way forward from a snapshot that saves time. Reads only; the log may grow meanwhile. Not thread-safe.
class Past {
 public:
  /// Sees each record of the domain that is folded, before or after it is applied. The view dies with the call.
  using Hook = std::function<void(Position offset, const RecordView& record)>;

  explicit Past(const Log& log, std::string domain, PastOptions options = {});

  /// Brings the state to what it was after the record at `target`. Errors: corrupt, unsupported, io, each naming the offset; the state then
  /// is that of `position()`.
  [[nodiscard]] Result<void> go_to(Position target);
  /// The same in steps; `go_on` is asked before each. False: it said no, and the state is that of `position()`.
  [[nodiscard]] Result<bool> go_to(Position target, const std::function<bool()>& go_on);
  /// The same record by record, without a jump to a snapshot; forward only.
  [[nodiscard]] Result<void> fold_to(Position target);
  /// From now on; empty: nobody looks on.
  void look_on(Hook before, Hook after) {
    before_ = std::move(before);
    after_ = std::move(after);
  }
  /// Sees those that were set aside (RecordQuarantined), which the others do not see: they have no effect.
  void look_on_passed_over(std::function<void(const events::StoredRecord& record)> see) { passed_over_ = std::move(see); }

  /// Who is told how far a fold has come from now on; empty: nobody.
  void tell_progress(Progress progress) { options_.progress = std::move(progress); }

  [[nodiscard]] Position position() const { return position_; }
  [[nodiscard]] const std::string& domain_name() const { return domain_; }
  [[nodiscard]] LoopDriver& driver() { return *driver_; }
  [[nodiscard]] const LoopDriver& driver() const { return *driver_; }

  /// Records of the domain that were folded so far, over all calls.
  [[nodiscard]] std::uint64_t folded() const { return folded_; }
  /// Position of the snapshot that the present state started from; 0: from the beginning.
  [[nodiscard]] Position started_from() const { return started_from_; }
  /// Snapshots that could not be used, and why; and that a later release has decided by rules that this build does not know.
  [[nodiscard]] const std::vector<std::string>& notices() const { return notices_; }

 private:
  enum class Jump : std::uint8_t { where_it_saves, wherever_one_is };
  [[nodiscard]] Result<void> jump(Position target, Jump which);
  [[nodiscard]] bool passes_damage(const Error& error, Position target);
  [[nodiscard]] Result<void> begin_anew();
  [[nodiscard]] Result<void> fold_one(const events::StoredRecord& stored);
  [[nodiscard]] Result<bool> fold_batch(const events::RecordBatch& batch, Position target);
  [[nodiscard]] Result<bool> ask_for_quarantined();
  void note_newer_rules();
  [[nodiscard]] std::unique_ptr<LoopDriver> driver_that_passes() const;

  const Log& log_;
  std::string domain_;
  PastOptions options_;
  Hook before_, after_;
  std::function<void(const events::StoredRecord&)> passed_over_;
  std::set<std::uint64_t> to_pass_over_;  ///< Sequences, as far as they were known when this fold began.
  bool asked_ = false;                    ///< For these.
  std::unique_ptr<LoopDriver> driver_;
  events::RecordReader reader_;
  Position position_ = 0;
  Position started_from_ = 0;
  std::uint64_t folded_ = 0;
  std::vector<std::string> notices_;
  bool told_of_rules_ = false;
};

/// Applies it; what an entity throws is an error (corrupt), and the driver is of no use any more.
[[nodiscard]] Result<void> apply_record(LoopDriver& driver, const RecordView& record);

/// A driver without state, as every fold starts.
[[nodiscard]] std::unique_ptr<LoopDriver> new_driver();

/// "log sqlite:f.db, record 12: what"
[[nodiscard]] tl::unexpected<Error> at_record(const Log& log, Position offset, const Error& error);

}  // namespace hindsight::replay
