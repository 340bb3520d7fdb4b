#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "events/log.hpp"
#include "events/shared_reads.hpp"
#include "replay/compare.hpp"
#include "replay/past.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::replay {

struct VerifyOptions {
  std::optional<Position> from_snapshot;  ///< Starts at the newest usable snapshot at or before this position; else at the beginning.
  std::optional<Position> to;             ///< Ends after this record; else at the end.
  Progress progress;
};

/// A decision on record that is not what its base leads to.
struct DecisionMismatch {
  Position offset = 0;
  std::uint64_t base = 0;
  std::uint64_t epoch = 0;
  std::string release;  ///< That decided in this epoch, as far as the fold has seen its start.
  StepDifference difference;
};

struct SnapshotMismatch {
  Position position = 0;
  std::string what;
};

struct VerifyReport {
  Position from = 0;  ///< Position of the snapshot that it started from; 0: the beginning.
  Position to = 0;    ///< Of the record folded last.
  std::uint64_t records = 0;
  std::uint64_t decisions = 0;        ///< Decided again and compared.
  std::uint64_t stale_decisions = 0;  ///< Of an older epoch, or repeated: without effect, not compared.
  /// Steps that only repeat an earlier one, of builds that did not look for that (admission/workload/repeated_steps.hpp); no fault.
  std::uint64_t repeated_decisions = 0;
  /// Decisions by other rules than those of this build (admission/rules.hpp) that these would not lead to: not judged.
  std::uint64_t other_rules = 0;
  std::set<std::uint32_t> rules;  ///< That those were made by.
  /// Decisions whose base lies before the snapshot that it started from: it holds what came after the base too, so that nothing is left to
  /// decide them again from. Those that were being made while the records before the snapshot came; no fault.
  std::uint64_t begun_before = 0;
  std::uint64_t notes = 0;         ///< Records of what would be decided (DecisionsNoted).
  std::uint64_t judged_notes = 0;  ///< Those of which that was found again, or not: a mismatch. Of many only some are, for it takes long.
  std::uint64_t passed_over = 0;   ///< Records that were set aside: without effect, not compared.
  std::uint64_t snapshots = 0;     ///< Compared.
  std::uint64_t state_hash = 0;    ///< After `to`.
  std::uint64_t mismatched_decisions = 0;
  std::vector<DecisionMismatch> mismatches;  ///< The first `mismatches_max` of them.
  std::vector<SnapshotMismatch> snapshot_mismatches;
  std::vector<SnapshotMismatch> unread_snapshots;  ///< Of another version: no fault.
  /// Other decisions whose base had been left behind before they came (nothing that this software writes).
  std::vector<Position> undecidable;
  std::optional<Error> damage;  ///< Why it ended early; names the offset.

  [[nodiscard]] bool clean() const {
    return mismatched_decisions == 0 && snapshot_mismatches.empty() && undecidable.empty() && !damage.has_value();
  }
};

inline constexpr std::size_t mismatches_max = 20;

/// Folds a domain again and decides again, in steps, for whoever reads the log for other ends at the same time. See `verify`.
class Verification {
 public:
  /// `read`: how its records are read. `log` and what `read` stands on must outlive it.
  Verification(const Log& log, events::ReadRecords read, std::string domain, VerifyOptions options);
  Verification(Verification&&) noexcept;
  ~Verification();

  /// Errors: those of reading the log's own tables.
  [[nodiscard]] Result<void> begin();
  /// Goes on to this record, or to the end, or to where the domain is damaged.
  void to(Position position);
  /// After all. Goes on to the end first, where it is not there.
  [[nodiscard]] VerifyReport finish();

 private:
  class Verifier;
  std::unique_ptr<Verifier> verifier_;
};

/// Folds a domain again and decides again: every recorded decision must be what its base leads to by the rules of this build, unless it
/// was made by other ones, and every snapshot must be the state that the records lead to. What was recorded is applied in any case, so
/// that one difference does not hide the next. Errors: those of reading the log's own tables; damaged records end up in the report.
[[nodiscard]] Result<VerifyReport> verify(const Log& log, const std::string& domain, const VerifyOptions& options = {});

}  // namespace hindsight::replay
