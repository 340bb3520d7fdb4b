#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "events/log.hpp"
#include "events/sqlite/database.hpp"
#include "events/sqlite/room.hpp"
#include "events/sqlite/snapshot_table.hpp"
#include "events/sqlite/turns.hpp"

namespace hindsight::events::sqlite {

/// Reads a log file through a connection of its own that never writes. Takes what it can from damaged files. Not thread-safe.
class Reader {
 public:
  /// Opens a live log, a copy, or a file on read-only media. Errors: not_found, invalid (not a log), unsupported (newer format),
  /// corrupt, denied, io.
  [[nodiscard]] static Result<Reader> open(const std::string& path);

  // As in Log.
  [[nodiscard]] Result<void> read(Position from, const ReadLimits& limits, RecordBatch& out);
  [[nodiscard]] Result<Position> last();
  [[nodiscard]] Result<Position> seek(Time time);
  [[nodiscard]] Result<std::vector<DomainTail>> domains();
  [[nodiscard]] Result<std::vector<QuarantinedRecord>> quarantined();
  [[nodiscard]] Result<std::optional<DomainsAt>> trimmed();
  [[nodiscard]] Result<std::vector<SnapshotMeta>> snapshots();
  [[nodiscard]] Result<std::vector<evidence::Checkpoint>> checkpoints();
  [[nodiscard]] Result<std::vector<UnreadableCheckpoint>> unreadable_checkpoints();
  /// Uses the connection in short steps, each in a turn of its own, so that others can read between them; the caller has none. A snapshot
  /// that is dropped or replaced meanwhile is not found. `between` may be empty; it is called between two parts, without a turn.
  [[nodiscard]] Result<StoredSnapshot> snapshot(Position position, std::string_view domain, Turns& turns,
                                                const std::function<void()>& between);

  /// As in Log; `limit` is what a writer of it may use.
  [[nodiscard]] LogSpace space(std::uint64_t limit) { return Room(path_, limit).look(database_); }

  /// What SQLite itself finds wrong with the file's pages, at most `limit` lines.
  [[nodiscard]] Result<std::vector<std::string>> check_pages(int limit);
  /// The latest time of the records up to each mark, as the file says.
  [[nodiscard]] Result<std::vector<std::pair<Position, Time>>> time_marks();

 private:
  Reader(std::string path, Database database) : path_(std::move(path)), database_(std::move(database)) {}
  [[nodiscard]] Result<void> prepare();
  [[nodiscard]] tl::unexpected<Error> failure(const Error& error) const;
  [[nodiscard]] tl::unexpected<Error> damaged(Position offset, const std::string& why) const;

  [[nodiscard]] Result<void> read_rows(Position next, const ReadLimits& limits, RecordBatch& out);
  /// Takes the row that records_ stands on as record `expected`; an error says why it is not.
  [[nodiscard]] Result<void> take_row(Position expected, RecordBatch& out);
  [[nodiscard]] Result<const std::string*> domain_name(std::int64_t id);
  [[nodiscard]] Result<Position> last_of_domains();
  /// Errors: not_found when the record has been forgotten meanwhile.
  [[nodiscard]] Result<void> still_kept(Position position);
  [[nodiscard]] tl::unexpected<Error> not_kept(Position position) const;

  /// The table of snapshots as it is now: a writer may have brought the file up to date since it was opened.
  [[nodiscard]] Result<SnapshotTable> snapshot_table();
  [[nodiscard]] Result<std::optional<SnapshotRow>> snapshot_row(Position position, std::string_view domain);
  [[nodiscard]] tl::unexpected<Error> no_snapshot(Position position) const;
  [[nodiscard]] tl::unexpected<Error> damaged_snapshot(Position position, const std::string& why) const;

  std::string path_;
  Database database_;
  Position cut_ = 0;  // records up to it are forgotten, as far as was seen
  Statement records_;
  Statement last_;
  Statement mark_before_;
  Statement at_or_after_;
  Statement domains_;
  std::unordered_map<std::int64_t, std::string> domain_names_;
};

}  // namespace hindsight::events::sqlite
