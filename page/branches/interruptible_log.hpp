#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "events/log.hpp"

namespace hindsight::page {

/// A log as somebody reads it who may be told to stop: then all further reading fails (unavailable), and whatever folds or scans it ends.
/// Nothing is written through it.
class InterruptibleLog final : public events::Log {
 public:
  InterruptibleLog(const events::Log& log, std::function<bool()> is_over) : log_(log), is_over_(std::move(is_over)) {}

  [[nodiscard]] std::string_view name() const override { return log_.name(); }
  [[nodiscard]] Result<events::Position> append(std::span<const events::EncodedRecord> records,
                                                std::optional<events::Position> expected) override;
  void append_async(events::RecordBatch batch, std::optional<events::Position> expected, events::AppendDone done) override;
  [[nodiscard]] Result<void> read(events::Position from, const events::ReadLimits& limits, events::RecordBatch& out) const override;
  [[nodiscard]] Result<events::Position> first() const override { return log_.first(); }
  [[nodiscard]] Result<std::optional<events::DomainsAt>> trimmed() const override { return log_.trimmed(); }
  [[nodiscard]] Result<events::Position> last() const override { return log_.last(); }
  [[nodiscard]] Result<events::Position> seek(Time time) const override { return log_.seek(time); }
  [[nodiscard]] Result<events::Position> wait_beyond(events::Position position, Duration timeout) const override {
    return log_.wait_beyond(position, timeout);
  }
  [[nodiscard]] Result<std::vector<events::DomainTail>> domains() const override { return log_.domains(); }
  [[nodiscard]] Result<std::vector<events::QuarantinedRecord>> quarantined() const override { return log_.quarantined(); }
  [[nodiscard]] Result<void> put_snapshot(const events::SnapshotMeta& meta, std::span<const std::byte> bytes) override;
  [[nodiscard]] Result<std::vector<events::SnapshotMeta>> snapshots() const override { return log_.snapshots(); }
  [[nodiscard]] Result<events::StoredSnapshot> snapshot(events::Position position, std::string_view domain) const override {
    return log_.snapshot(position, domain);
  }
  [[nodiscard]] Result<void> drop_snapshot(events::Position position, std::string_view domain) override;

 private:
  [[nodiscard]] tl::unexpected<Error> only_read() const;

  const events::Log& log_;
  const std::function<bool()> is_over_;
};

}  // namespace hindsight::page
