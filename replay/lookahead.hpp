#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "events/log.hpp"
#include "events/record.hpp"
#include "events/shared_reads.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::replay {

/// A decision that comes further on in the log.
struct ComingDecision {
  events::Position offset = 0;
  std::uint64_t base = 0;
};

/// The records of one domain in order, and a look ahead to what the next decision is based on: whoever wants to decide again must
/// do so before the records behind the base are applied.
class Lookahead {
 public:
  /// Starts behind `from`. `sequence`, `epoch` and `decided_base` are those of the state there; `set_aside`: sequences of records that are
  /// passed over.
  Lookahead(const events::Log& log, std::string domain, events::Position from, std::uint64_t sequence, std::uint64_t epoch,
            std::uint64_t decided_base, std::set<std::uint64_t> set_aside = {})
      : Lookahead(events::reads_of(log), std::move(domain), from, sequence, epoch, decided_base, std::move(set_aside)) {}
  /// Reads what somebody else reads as well.
  Lookahead(events::ReadRecords read, std::string domain, events::Position from, std::uint64_t sequence, std::uint64_t epoch,
            std::uint64_t decided_base, std::set<std::uint64_t> set_aside = {})
      : read_(std::move(read)),
        domain_(std::move(domain)),
        read_to_(from),
        sequence_(sequence),
        epoch_(epoch),
        decided_base_(decided_base),
        set_aside_(std::move(set_aside)) {}

  /// The next record; nothing at the end of what was readable. Its bytes live until the next call.
  [[nodiscard]] std::optional<events::StoredRecord> next();

  /// The next decision that counts (not of an older epoch, no repetition), as far as it comes within 64 MiB of records.
  [[nodiscard]] std::optional<ComingDecision> next_decision();

  /// Does a note (DecisionsNoted) say what would be decided at this sequence, as far as `next_decision` has looked ahead? Sequences rise
  /// from call to call.
  [[nodiscard]] bool has_note_on(std::uint64_t sequence);

  /// Why reading ended before the end of the log. Errors are met while looking ahead; records before them still come.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  /// Offset of the first record that was not read.
  [[nodiscard]] events::Position read_to() const { return read_to_; }

 private:
  struct Ahead {
    events::RecordBatch batch;  ///< Records of the domain, of all that were read.
    std::size_t bytes = 0;      ///< Of all that were read.
    std::size_t given = 0;      ///< Records that `next` gave.
    std::size_t scanned = 0;    ///< Records in which decisions were looked for.
  };

  bool read_more();
  bool scan(Ahead& ahead);

  events::ReadRecords read_;
  std::string domain_;
  events::RecordReader reader_;
  events::RecordBatch batch_;  ///< Of all domains.
  std::deque<std::unique_ptr<Ahead>> ahead_;
  std::size_t bytes_ahead_ = 0;
  std::deque<ComingDecision> decisions_;
  std::set<std::uint64_t> note_bases_;
  events::Position read_to_;
  std::uint64_t sequence_;
  std::uint64_t epoch_;
  std::uint64_t decided_base_;
  std::set<std::uint64_t> set_aside_;
  bool at_end_ = false;
  std::optional<Error> error_;
};

}  // namespace hindsight::replay
