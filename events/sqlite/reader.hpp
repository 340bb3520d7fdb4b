#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/log.hpp"
#include "events/sqlite/database.hpp"

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
  [[nodiscard]] Result<std::vector<SnapshotMeta>> snapshots();
  [[nodiscard]] Result<StoredSnapshot> snapshot(Position position, std::string_view domain);

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

  std::string path_;
  Database database_;
  Statement records_;
  Statement last_;
  Statement mark_before_;
  Statement at_or_after_;
  Statement domains_;
  Statement snapshots_;
  Statement snapshot_;
  std::unordered_map<std::int64_t, std::string> domain_names_;
};

}  // namespace hindsight::events::sqlite
