#include "events/kafka/cursors.hpp"

#include <algorithm>

#include "events/kafka/follower.hpp"

namespace hindsight::events::kafka {
namespace {

constexpr std::size_t idle_max = 2;
/// librdkafka looks only once a second whether a queue that was full has room again. So it must hold what a fold takes in a second.
constexpr unsigned cursor_kilobytes_ahead = 128 * 1024;

}  // namespace

Position Cursors::Cursor::next() const {
  if (!held.empty()) return held[0].offset;
  return reader->at() < 0 ? 0 : static_cast<Position>(reader->at()) + 1;
}

Result<Cursors::Cursor> Cursors::take(Position from) {
  {
    const std::lock_guard lock(mutex_);
    auto it = std::find_if(idle_.begin(), idle_.end(), [from](const Cursor& c) { return c.next() == from; });
    if (it == idle_.end() && idle_.size() >= idle_max) it = idle_.begin();
    if (it != idle_.end()) {
      Cursor out = std::move(*it);
      idle_.erase(it);
      return out;
    }
  }
  auto reader = Reader::open(access_, words_, access_.location.record_topic(), access_.location.partition,
                             {.kilobytes_ahead = cursor_kilobytes_ahead});
  if (!reader) return tl::unexpected(reader.error());
  return Cursor{std::move(*reader), {}};
}

void Cursors::give_back(Cursor cursor) {
  const std::lock_guard lock(mutex_);
  broker_time_ |= cursor.reader->broker_time();
  idle_.push_back(std::move(cursor));
  if (idle_.size() > idle_max) idle_.erase(idle_.begin());
}

Result<void> Cursors::read(Position from, Position end, const ReadLimits& limits, RecordBatch& out) {
  auto cursor = take(from);
  if (!cursor) return tl::unexpected(cursor.error());
  if (cursor->next() != from) {
    cursor->held.clear();
    const auto extent = cursor->reader->extent(access_.settings.patience);
    if (!extent) return tl::unexpected(extent.error());
    if (from < extent->first)
      return fail(ErrorKind::not_found, "log " + access_.location.text() + ": record " + std::to_string(from) +
                                            " is not kept any more; the first that is kept is " + std::to_string(extent->first));
    if (auto ok = cursor->reader->start(static_cast<std::int64_t>(from) - 1); !ok) return ok;
  }
  if (auto ok = fill(*cursor, from, end, limits, out); !ok) {
    if (out.empty()) return ok;
    return {};  // what is wrong is told to who reads on from there; the client that met it is not used again
  }
  if (cursor->next() > end) cursor->reader->rest();
  give_back(std::move(*cursor));
  return {};
}

Result<void> Cursors::fill(Cursor& cursor, Position from, Position end, const ReadLimits& limits, RecordBatch& out) {
  const auto fits = [&](const StoredRecord& record) {
    return out.empty() || (out.size() < limits.records && out.bytes() + record.bytes.size() <= limits.bytes);
  };
  if (!cursor.held.empty()) {
    out.add(cursor.held[0], cursor.held[0].offset);
    cursor.held.clear();
    ++from;
  }
  Result<void> taken;
  for (Position expected = from; expected <= end && cursor.held.empty() && out.size() < limits.records; ++expected) {
    const auto came = cursor.reader->next(access_.settings.patience, [&](const RawMessage& message) {
      const auto record = record_of(access_, message, expected);
      if (!record) {
        taken = tl::unexpected(record.error());
      } else {
        (fits(*record) ? out : cursor.held).add(*record, record->offset);
      }
    });
    if (!came) return tl::unexpected(came.error());
    if (!taken) return taken;
    if (!*came)
      return fail(ErrorKind::unavailable, "log " + access_.location.text() + ": record " + std::to_string(expected) +
                                              ": no broker gave it within " + std::to_string(access_.settings.patience.count()) + " ms" +
                                              words_.in_brackets());
  }
  return {};
}

Result<Extent> Cursors::extent() {
  auto cursor = take(0);
  if (!cursor) return tl::unexpected(cursor.error());
  auto out = cursor->reader->extent(access_.settings.patience);
  give_back(std::move(*cursor));
  return out;
}

Result<Position> Cursors::last() {
  auto cursor = take(0);
  if (!cursor) return tl::unexpected(cursor.error());
  auto out = cursor->reader->last(access_.settings.patience);
  give_back(std::move(*cursor));
  return out;
}

Result<std::optional<Position>> Cursors::position_at(std::int64_t timestamp) {
  auto cursor = take(0);
  if (!cursor) return tl::unexpected(cursor.error());
  const auto offset = cursor->reader->offset_at(timestamp, access_.settings.patience);
  give_back(std::move(*cursor));
  if (!offset) return tl::unexpected(offset.error());
  if (!*offset) return std::optional<Position>();
  return std::optional(static_cast<Position>(**offset) + 1);
}

bool Cursors::broker_time() const {
  const std::lock_guard lock(mutex_);
  return broker_time_;
}

}  // namespace hindsight::events::kafka
