#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "events/domain_tails.hpp"
#include "events/log.hpp"

namespace hindsight::events {

/// What an append to a MemoryLog may suffer.
enum class AppendFault {
  none,
  refused,             ///< Error io, nothing is in the log.
  possibly_persisted,  ///< Error io, though everything is in the log.
  torn,                ///< Error io, and the first half of the records (rounded down) is in the log.
};

/// A log in memory, for tests and simulations: the same promises as the real ones, and faults on demand.
class MemoryLog final : public Log {
 public:
  explicit MemoryLog(std::string name = "memory");

  // ---- faults ----

  /// Asked before each append; its answer is what happens. Called with the log locked: it must not call the log.
  void on_append(std::function<AppendFault(std::span<const EncodedRecord>)> hook);
  /// While it is away, appends, reads and the question for its end fail as unavailable; what is in it stays.
  void be_away(bool away);
  /// Flips a bit of the record's bytes: reading it fails as corrupt from now on.
  void damage(Position offset);
  /// Puts a record behind all others whatever its numbers, as a replaced writer can where nothing keeps it from writing.
  void slip_in(const EncodedRecord& record);
  /// Forgets the records behind `last`, as if a machine had lost them.
  void truncate(Position last);

  // ---- Log ----

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] Result<Position> append(std::span<const EncodedRecord> records, std::optional<Position> expected) override;
  /// Calls `done` before it returns.
  void append_async(RecordBatch batch, std::optional<Position> expected, AppendDone done) override;
  [[nodiscard]] Result<void> read(Position from, const ReadLimits& limits, RecordBatch& out) const override;
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
  [[nodiscard]] Result<std::optional<DomainsAt>> checkpoint_standing() const override;
  [[nodiscard]] Result<void> drop_checkpoint(Position position) override;

 private:
  struct Entry {
    std::string domain;
    std::uint64_t sequence = 0;
    std::uint64_t epoch = 0;
    Time time;
    Time latest;  ///< Of this and all records before.
    std::vector<std::byte> bytes;
    bool damaged = false;
  };
  [[nodiscard]] static EncodedRecord view(const Entry& entry);
  [[nodiscard]] tl::unexpected<Error> out_of_reach() const;
  void store(const EncodedRecord& record);

  const std::string name_;
  mutable std::mutex mutex_;
  mutable std::condition_variable grown_;
  std::vector<Entry> entries_;
  DomainTails tails_;
  std::map<std::pair<Position, std::string>, StoredSnapshot> snapshots_;  ///< By position and domain.
  std::map<Position, evidence::Checkpoint> checkpoints_;
  std::optional<DomainsAt> standing_;  ///< Where the newest checkpoint was put.
  std::function<AppendFault(std::span<const EncodedRecord>)> hook_;
  bool away_ = false;
};

}  // namespace hindsight::events
