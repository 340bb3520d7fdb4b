#pragma once

#include <span>
#include <string>

#include "events/log.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::whatif {

/// The log of what would have happened: all that the record has of some domains up to a moment, then what was played.
class ResultLog {
 public:
  explicit ResultLog(events::Log& out) : out_(out) {}

  /// The beginning. Errors: unsupported (the log has forgotten its own), conflict (the result is not empty), corrupt, denied, io.
  [[nodiscard]] Result<void> copy(const events::Log& from, std::span<const std::string> domains, events::Position to);
  /// Takes a record, and writes now and then. Errors: those of `Log::append`.
  [[nodiscard]] Result<void> add(const events::EncodedRecord& record);
  /// Writes what was not written yet.
  [[nodiscard]] Result<void> flush();

 private:
  events::Log& out_;
  events::RecordBatch unwritten_;
};

}  // namespace hindsight::whatif
