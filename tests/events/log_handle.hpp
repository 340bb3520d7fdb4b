#pragma once

#include <memory>
#include <utility>

#include "events/log.hpp"

namespace hindsight::test {

/// A log that several writers of one process open, as processes open one on Kafka: all handles are the same log.
class LogHandle final : public events::Log {
 public:
  explicit LogHandle(std::shared_ptr<events::Log> log) : log_(std::move(log)) {}

  [[nodiscard]] std::string_view name() const override { return log_->name(); }
  [[nodiscard]] Result<events::Position> append(std::span<const events::EncodedRecord> records,
                                                std::optional<events::Position> expected) override {
    return log_->append(records, expected);
  }
  void append_async(events::RecordBatch batch, std::optional<events::Position> expected, events::AppendDone done) override {
    log_->append_async(std::move(batch), expected, std::move(done));
  }
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
  [[nodiscard]] Result<void> put_snapshot(const events::SnapshotMeta& meta, std::span<const std::byte> bytes) override {
    return log_->put_snapshot(meta, bytes);
  }
  [[nodiscard]] Result<std::vector<events::SnapshotMeta>> snapshots() const override { return log_->snapshots(); }
  [[nodiscard]] Result<events::StoredSnapshot> snapshot(events::Position position, std::string_view domain) const override {
    return log_->snapshot(position, domain);
  }
  [[nodiscard]] Result<void> drop_snapshot(events::Position position, std::string_view domain) override {
    return log_->drop_snapshot(position, domain);
  }
  [[nodiscard]] Result<void> put_checkpoint(const evidence::Checkpoint& checkpoint, std::span<const events::DomainTail> standing) override {
    return log_->put_checkpoint(checkpoint, standing);
  }
  [[nodiscard]] Result<std::vector<evidence::Checkpoint>> checkpoints() const override { return log_->checkpoints(); }
  [[nodiscard]] Result<std::optional<events::DomainsAt>> checkpoint_standing() const override { return log_->checkpoint_standing(); }
  [[nodiscard]] Result<void> drop_checkpoint(events::Position position) override { return log_->drop_checkpoint(position); }

 private:
  const std::shared_ptr<events::Log> log_;
};

}  // namespace hindsight::test
