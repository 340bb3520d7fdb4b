#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/log.hpp"

namespace hindsight::page {

/// Snapshots in memory, of several logs together. Thread-safe.
class SnapshotMemory {
 public:
  /// Of more than `bytes_max`, those that were not asked for longest go.
  explicit SnapshotMemory(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  using Owner = const void*;
  /// In place of one of the same owner, position and domain. One that is larger than all of them may be is not kept.
  void put(Owner owner, const events::SnapshotMeta& meta, std::span<const std::byte> bytes);
  /// Null: it is not here (any more).
  [[nodiscard]] std::shared_ptr<const events::StoredSnapshot> find(Owner owner, events::Position position, std::string_view domain);
  [[nodiscard]] std::vector<events::SnapshotMeta> of(Owner owner) const;
  void drop(Owner owner, events::Position position, std::string_view domain);
  void drop_all(Owner owner);
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct One {
    Owner owner = nullptr;
    std::shared_ptr<const events::StoredSnapshot> snapshot;
  };
  using Kept = std::list<One>;

  [[nodiscard]] Kept::iterator locate(Owner owner, events::Position position, std::string_view domain);
  void forget(Kept::iterator it);

  const std::size_t bytes_max_;
  mutable std::mutex mutex_;  ///< Guards all below.
  Kept kept_;                 ///< What was asked for last comes first.
  std::size_t bytes_ = 0;
};

/// A log as its readers here see it: beside the snapshots that it holds itself there are some in memory, which only this process knows of.
/// Whoever steps back to and fro need not fold from a snapshot of the log each time, which may lie a million records behind. Nothing can be
/// added to the log through it. Thread-safe.
class LogWithOwnSnapshots final : public events::Log {
 public:
  LogWithOwnSnapshots(std::shared_ptr<const events::Log> log, std::shared_ptr<SnapshotMemory> memory)
      : log_(std::move(log)), memory_(std::move(memory)) {}
  ~LogWithOwnSnapshots() override { memory_->drop_all(this); }

  /// Keeps it in memory.
  [[nodiscard]] Result<void> put_snapshot(const events::SnapshotMeta& meta, std::span<const std::byte> bytes) override;
  [[nodiscard]] Result<std::vector<events::SnapshotMeta>> snapshots() const override;
  [[nodiscard]] Result<events::StoredSnapshot> snapshot(events::Position position, std::string_view domain) const override;
  /// One of the log that is of no use: nobody is told of it any more, and so nobody reads it again.
  void hide(events::Position position, std::string_view domain);
  /// Forgets the one in memory.
  [[nodiscard]] Result<void> drop_snapshot(events::Position position, std::string_view domain) override;

  // As the log itself.
  [[nodiscard]] std::string_view name() const override { return log_->name(); }
  [[nodiscard]] Result<void> read(events::Position from, const events::ReadLimits& limits, events::RecordBatch& out) const override {
    return log_->read(from, limits, out);
  }
  [[nodiscard]] Result<events::Position> first() const override { return log_->first(); }
  [[nodiscard]] Result<std::optional<events::DomainsAt>> trimmed() const override { return log_->trimmed(); }
  [[nodiscard]] Result<events::Position> last() const override { return log_->last(); }
  [[nodiscard]] Result<events::Position> seek(Time time) const override { return log_->seek(time); }
  [[nodiscard]] Result<events::Position> wait_beyond(events::Position position, Duration timeout) const override {
    return log_->wait_beyond(position, timeout);
  }
  [[nodiscard]] Result<std::vector<events::DomainTail>> domains() const override { return log_->domains(); }
  [[nodiscard]] Result<std::vector<events::QuarantinedRecord>> quarantined() const override { return log_->quarantined(); }
  [[nodiscard]] Result<std::vector<evidence::Checkpoint>> checkpoints() const override { return log_->checkpoints(); }
  [[nodiscard]] Result<std::optional<events::DomainsAt>> checkpoint_standing() const override { return log_->checkpoint_standing(); }
  [[nodiscard]] Result<std::optional<events::LogSpace>> space() const override { return log_->space(); }

  // Errors: denied.
  [[nodiscard]] Result<events::Position> append(std::span<const events::EncodedRecord> records,
                                                std::optional<events::Position> expected) override;
  void append_async(events::RecordBatch batch, std::optional<events::Position> expected, events::AppendDone done) override;

 private:
  const std::shared_ptr<const events::Log> log_;
  const std::shared_ptr<SnapshotMemory> memory_;
  mutable std::atomic<std::size_t> quarantined_ =
      0;                      ///< Records that were set aside when those in memory were made: others make them wrong.
  mutable std::mutex mutex_;  ///< Guards the next.
  std::set<std::pair<events::Position, std::string>> hidden_;
};

}  // namespace hindsight::page
