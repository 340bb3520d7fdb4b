#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "events/append_queue.hpp"
#include "events/log.hpp"
#include "events/log_check.hpp"
#include "events/sqlite/reader.hpp"
#include "events/sqlite/snapshot_store.hpp"
#include "events/sqlite/turns.hpp"
#include "events/sqlite/writer.hpp"
#include "events/sqlite/writer_lock.hpp"

namespace hindsight::events {

using sqlite::Durability;

struct SqliteLogOptions {
  bool read_only = false;
  Durability durability = Durability::fsync;
  std::uint64_t limit = 0;  ///< Bytes in use beyond which nothing is appended; 0: as much as the disk has (sqlite/room.hpp).
};

/// A log in one SQLite file (docs/log-format.md). One process writes it, any number read it, also while it is written. Appends of
/// several callers are committed together by a thread of the log; each is told after the commit. A single caller commits himself. Snapshots
/// are written and read in short steps, between which appends and other reads have their turns.
class SqliteLog final : public Log {
 public:
  /// Opens the log; unless read-only, creates the file, 0600, when there is none. Errors: conflict (another process writes it: the
  /// message names its number), not_found, invalid (not a log), unsupported (a newer format), corrupt, denied (also a symbolic link that
  /// somebody else has made), unavailable (the disk is full), io.
  [[nodiscard]] static Result<std::unique_ptr<SqliteLog>> open(const std::string& path, SqliteLogOptions options = {});

  /// Finishes the appends that were asked for. Nobody may be inside another function by then.
  ~SqliteLog() override;

  // ---- Log ----

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] Result<Position> append(std::span<const EncodedRecord> records, std::optional<Position> expected) override;
  void append_async(RecordBatch batch, std::optional<Position> expected, AppendDone done) override;
  [[nodiscard]] Result<void> read(Position from, const ReadLimits& limits, RecordBatch& out) const override;
  [[nodiscard]] Result<std::optional<DomainsAt>> trimmed() const override;
  [[nodiscard]] Result<Position> last() const override;
  [[nodiscard]] Result<Position> seek(Time time) const override;
  [[nodiscard]] Result<Position> wait_beyond(Position position, Duration timeout) const override;
  [[nodiscard]] Result<std::vector<DomainTail>> domains() const override;
  [[nodiscard]] Result<std::vector<QuarantinedRecord>> quarantined() const override;
  [[nodiscard]] Result<void> put_snapshot(const SnapshotMeta& meta, std::span<const std::byte> bytes) override;
  [[nodiscard]] Result<std::vector<SnapshotMeta>> snapshots() const override;
  [[nodiscard]] Result<StoredSnapshot> snapshot(Position position, std::string_view domain) const override;
  [[nodiscard]] Result<void> drop_snapshot(Position position, std::string_view domain) override;
  [[nodiscard]] Result<void> put_checkpoint(const evidence::Checkpoint& checkpoint, std::span<const DomainTail> standing) override;
  [[nodiscard]] Result<std::vector<evidence::Checkpoint>> checkpoints() const override;
  [[nodiscard]] Result<std::vector<UnreadableCheckpoint>> unreadable_checkpoints() const override;
  [[nodiscard]] Result<std::optional<DomainsAt>> checkpoint_standing() const override;
  [[nodiscard]] Result<void> drop_checkpoint(Position position) override;
  [[nodiscard]] Result<void> forget(const DomainsAt& cut) override;
  [[nodiscard]] Result<void> begin_behind(const DomainsAt& cut, std::span<const QuarantinedRecord> quarantined) override;
  [[nodiscard]] Result<std::optional<LogSpace>> space() const override;
  [[nodiscard]] Result<void> give_back() override;
  /// Beside what every log checks: pages, the table of domains, time marks.
  [[nodiscard]] Result<CheckReport> check(const CheckProgress& progress = {}) override;

  /// For tests: called between two parts of a snapshot that is put or read, when others may append and read. It must not put or
  /// drop a snapshot of a log that is just doing so. To be set before others use the log.
  void on_part(std::function<void()> hook) { on_part_ = std::move(hook); }

 private:
  SqliteLog(std::string path, sqlite::Reader reader, std::uint64_t limit);
  [[nodiscard]] Result<void> start(sqlite::WriterLock lock, sqlite::Writer writer);
  [[nodiscard]] Result<void> remove_before_cut();
  void commit_groups();
  void commit(std::span<sqlite::Writer::Request> requests);
  [[nodiscard]] tl::unexpected<Error> read_only() const;

  const std::string path_;
  const std::string name_;
  const std::uint64_t limit_;

  // In this order: reader and snapshots close first, so that the writer, closing last, can finish the file; then others may write.
  sqlite::WriterLock lock_;
  sqlite::Turns writing_;
  std::unique_ptr<sqlite::Writer> writer_;  // none: read-only
  std::unique_ptr<sqlite::SnapshotStore> snapshots_;
  std::function<void()> on_part_;
  mutable sqlite::Turns reading_;
  mutable sqlite::Reader reader_;

  AppendQueue appends_;
  mutable std::mutex committed_mutex_;
  mutable std::condition_variable grown_;
  Position committed_ = 0;
  std::jthread committer_;
};

}  // namespace hindsight::events
