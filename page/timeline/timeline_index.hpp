#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "events/log.hpp"
#include "page/server/quiet_turns.hpp"
#include "page/timeline/drawing.hpp"
#include "projections/json.hpp"
#include "vocabulary/result.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::page {

struct TimelineOptions {
  /// So many rows are kept at most. 32,768 take 15 MB with ten flavors and resources, and not more than 40 MB; a log of 10,000,000 records
  /// then has a row for each 1,024 of them. At least 2.
  std::size_t rows_max = std::size_t{1} << 15;
  /// Of a longer history a picture is made of samples first (coarse_rows.hpp).
  std::uint64_t coarse_above = 50'000;
  /// Who asks for no more records than this gets narrower rows, as soon as they are made; as many rows, at most, as `detail_rows`.
  std::uint64_t detail_records = 65'536;
  std::size_t detail_rows = 4096;
  /// Of the index by object; of a longer history it gets coarser. 10,000,000 records take about 30 MB.
  std::size_t objects_bytes_max = std::size_t{48} << 20;
  /// Where what was read is kept for the next process (index_file.hpp); empty: nowhere. Nothing is kept of fewer records than `keep_above`,
  /// which are read in a moment.
  std::string keep_in;
  std::uint64_t keep_above = 50'000;
  std::string release;                ///< Of this software: what another one kept is not used.
  std::shared_ptr<QuietTurns> turns;  ///< In which the history is read; null: without a pause.
  /// Told what became of a file that is of no use, and that none can be written. From the thread of the index.
  std::function<void(const std::string&)> notice;
  /// How often the end of the log is looked at, and how often `grew` is called at most.
  Duration pause = Duration::millis(100);
  /// Of a log that has rested for so long, and ten times as long as it took to read, no state is kept: it is made again when the log goes
  /// on.
  Duration let_go_after = Duration::seconds(5);
  /// Called from the thread of the index when it knows more: up to which record it has read, of how many. It must not take long, and not
  /// destroy the index.
  std::function<void(events::Position scanned_to, events::Position of)> grew;
};

/// Which part of a history is to be drawn.
struct TimelineRange {
  std::optional<events::Position> from;  ///< Nothing: the first record that is kept.
  std::optional<events::Position> to;    ///< Nothing: the last.
  std::size_t columns = 1000;            ///< 1 to timeline::columns_max.
};

/// The whole history of one domain at a glance: how much waits, runs and is used, and what happened, at each moment. A thread that
/// gives way to others folds the log once from its beginning (300,000 records a second), or from where a file ends that an earlier process
/// left, and goes on with what is added. Whoever asks never
/// waits for it: they get what is known so far, of a long log at first a picture from samples. It keeps a state of its own while the log
/// grows.
///
/// A record that nobody can read is where the index ends, and its answers say so; it goes on when the record is set aside. When a record
/// is set aside that was counted, the index is made anew. Of a log that forgets its beginning, what was read stays known until then.
///
/// Give it a reader of its own where the log has one lock for all reads. All functions may be called from any thread.
class TimelineIndex {
 public:
  /// `log` has to live longer. An unknown domain is an empty one.
  [[nodiscard]] static std::unique_ptr<TimelineIndex> start(const events::Log& log, std::string domain, TimelineOptions options = {});
  /// Waits for the thread: a tenth of a second, or as long as it takes to read a snapshot or to write the file.
  ~TimelineIndex();
  TimelineIndex(const TimelineIndex&) = delete;
  TimelineIndex& operator=(const TimelineIndex&) = delete;

  /// `Timeline` of web/src/api/types.ts. Where narrower rows than there are would help, they are made, `exact` is false until then, and
  /// `grew` is called when they are there. Errors: invalid (`from` is behind `to`, a position behind the end or before the first record
  /// that is kept, `columns` out of bounds; each names what was found and what is allowed), those of the log.
  [[nodiscard]] Result<projections::Json> at(const TimelineRange& range) const;

  /// `Curve` of web/src/api/types.ts: `points` values up to `to`, 1 to timeline::columns_max. What is not known (yet) is null.
  [[nodiscard]] projections::Json curve(timeline::CurveKind kind, Time from, Time to, std::size_t points) const;

  /// The last record at or before a time; before the first: the position behind which the log begins. Errors: those of the log.
  [[nodiscard]] Result<events::Position> position_at(Time time) const;

  /// Where records about an object may be; null: not known yet.
  [[nodiscard]] std::shared_ptr<const timeline::ObjectIndex> objects() const;
  /// Up to which record everything is known exactly.
  [[nodiscard]] events::Position scanned_to() const;
  /// Whether that is all that the log held when somebody looked.
  [[nodiscard]] bool complete() const;
  /// Whether there is a state beside what is known.
  [[nodiscard]] bool has_state() const;
  /// Bytes of what is kept, about; without the state.
  [[nodiscard]] std::size_t memory() const;

 private:
  class Reader;
  explicit TimelineIndex(std::unique_ptr<Reader> reader);
  std::unique_ptr<Reader> reader_;
};

}  // namespace hindsight::page
