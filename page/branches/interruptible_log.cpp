#include "page/branches/interruptible_log.hpp"

#include <string>

namespace hindsight::page {

tl::unexpected<Error> InterruptibleLog::only_read() const {
  return fail(ErrorKind::denied, "log " + std::string(log_.name()) + " is only read here");
}

Result<events::Position> InterruptibleLog::append(std::span<const events::EncodedRecord> /*records*/,
                                                  std::optional<events::Position> /*expected*/) {
  return only_read();
}

void InterruptibleLog::append_async(events::RecordBatch /*batch*/, std::optional<events::Position> /*expected*/, events::AppendDone done) {
  done(only_read());
}

Result<void> InterruptibleLog::read(events::Position from, const events::ReadLimits& limits, events::RecordBatch& out) const {
  if (is_over_()) return fail(ErrorKind::unavailable, "reading log " + std::string(log_.name()) + " was ended");
  return log_.read(from, limits, out);
}

Result<void> InterruptibleLog::put_snapshot(const events::SnapshotMeta& /*meta*/, std::span<const std::byte> /*bytes*/) {
  return only_read();
}

Result<void> InterruptibleLog::drop_snapshot(events::Position /*position*/, std::string_view /*domain*/) { return only_read(); }

}  // namespace hindsight::page
