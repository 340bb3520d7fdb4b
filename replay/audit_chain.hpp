#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replay/audit.hpp"

namespace hindsight::replay {

/// Compares the chain as it is computed with the checkpoints that are stored, and with heads that were noted elsewhere. Behind a checkpoint
/// that the records do not lead to it also goes on from what that checkpoint says: so the next one tells whether records before it were
/// changed, or it alone.
class ChainAudit {
 public:
  /// `options` must outlive it; `report` is written to.
  ChainAudit(const events::ChainStart& start, std::vector<evidence::Checkpoint> checkpoints, const AuditOptions& options,
             AuditReport& report);

  void meet(const events::ChainedRecord& met);
  /// After the walk, which has come to this position. `whole`: the log ends there.
  void end(Position reached, const evidence::Head& head, bool whole);

 private:
  using Checkpoint = evidence::Checkpoint;
  /// A checkpoint that the records do not lead to, and of which it is not known yet what was changed.
  struct Doubt {
    Position good = 0;  ///< Up to where all is well.
    Position at = 0;    ///< Of the checkpoint.
    std::string detail;
  };
  void compare(const Checkpoint& checkpoint, const evidence::Head& head);
  void agree(const Checkpoint& checkpoint, bool by_key);
  void disagree(const Checkpoint& checkpoint, const evidence::Head& head, bool by_key);
  /// Whether one of the keys has signed it; counts and judges.
  bool judge_signature(const Checkpoint& checkpoint);
  void compare_known(const evidence::Head& head);
  void fail_at(Position position, std::string what);

  const AuditOptions& options_;
  AuditReport& report_;
  const std::vector<Checkpoint> checkpoints_;
  std::size_t next_ = 0;
  std::vector<KnownHead> known_;
  std::size_t next_known_ = 0;
  std::optional<evidence::Chain> adopted_;  ///< From a checkpoint on that the records do not lead to.
  std::optional<Doubt> doubt_;
  Position good_ = 0;  ///< Of the last checkpoint that the records lead to, from the start or from the checkpoint before.
};

/// Adds to the failures of a report, of which it keeps the first.
void add_failure(AuditReport& report, Position position, std::string what);

}  // namespace hindsight::replay
