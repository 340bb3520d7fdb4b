#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "events/append_queue.hpp"
#include "events/domain_tails.hpp"
#include "events/kafka/client.hpp"
#include "events/kafka/cursors.hpp"
#include "events/kafka/follower.hpp"
#include "events/kafka/producer.hpp"
#include "events/kafka/snapshot_store.hpp"
#include "events/log.hpp"

namespace hindsight::events {

struct KafkaLogOptions {
  bool read_only = false;
  kafka::Settings settings;
  /// Memory for the newest records, for those who read along.
  std::size_t recent_bytes = std::size_t{16} << 20;
  /// Where copies of snapshots are kept (kafka::SnapshotCopies); empty: nowhere.
  std::string snapshot_folder = {};
};

/// A log in one partition of a Kafka topic (docs/log-format.md). A record's position is its offset plus one.
///
/// Kafka has no compare-and-append. So an append is checked against what this process has read back, then written, and it succeeded only
/// if its offsets are the next ones: then nobody has written in between. Otherwise, or when the brokers do not answer in time, the error is
/// one that leaves open what is in the log. A writer that has lost its domain can leave records behind at any time; they do not count
/// (vocabulary/record_order.hpp), for readers and for the position that an append expects.
///
/// When brokers are away, calls wait for them as long as the settings say and fail as unavailable; later calls work when they are back.
class KafkaLog final : public Log {
 public:
  /// Looks at the topics, which must be there (kafka::make_topics). Errors: not_found, unsupported (a topic's settings do not fit; the
  /// brokers are too old), unavailable (no broker answers), denied, invalid, corrupt.
  [[nodiscard]] static Result<std::unique_ptr<KafkaLog>> open(const kafka::Location& location, KafkaLogOptions options = {});

  /// Finishes the appends that were asked for. Nobody may be inside another function by then.
  ~KafkaLog() override;

  // ---- Log ----

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] Result<Position> append(std::span<const EncodedRecord> records, std::optional<Position> expected) override;
  void append_async(RecordBatch batch, std::optional<Position> expected, AppendDone done) override;
  [[nodiscard]] Result<void> read(Position from, const ReadLimits& limits, RecordBatch& out) const override;
  [[nodiscard]] Result<Position> first() const override;
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
  [[nodiscard]] Result<CheckReport> check(const CheckProgress& progress = {}) override;

  /// Producers made so far: more than one says that one was thrown away.
  [[nodiscard]] std::uint64_t producers() const { return producer_.clients(); }
  /// For tests that make it fail; not while an append is under way.
  [[nodiscard]] kafka::Producer& producer() { return producer_; }

 private:
  KafkaLog(kafka::Access access, KafkaLogOptions options);

  /// Begins to follow the partition, once, and waits until its end is known.
  [[nodiscard]] Result<void> follow() const;
  [[nodiscard]] Result<Position> followed_to_the_end() const;

  /// Notes where the domains stand whenever the log has grown by much, so that who opens it next need not read it from the newest snapshot
  /// on.
  void note_tails(const std::stop_token& stop) const;

  // The thread that writes.
  void write_groups();
  void write(std::vector<WaitingAppend>& group);
  [[nodiscard]] Result<void> catch_up();
  [[nodiscard]] Result<void> admit(const WaitingAppend& waiting, Position position);
  [[nodiscard]] Result<std::vector<std::int64_t>> send(std::span<const EncodedRecord> records);
  [[nodiscard]] tl::unexpected<Error> error(ErrorKind kind, const std::string& what) const;

  const kafka::Access access_;
  const KafkaLogOptions options_;
  const std::string name_;
  std::size_t message_bytes_max_ = 70'000'000;  ///< What the topic takes.

  mutable kafka::LastWords words_;
  mutable kafka::Cursors cursors_;
  mutable kafka::SnapshotStore snapshots_;
  mutable kafka::Follower follower_;
  mutable std::mutex following_;
  mutable std::atomic<Position> known_last_ = 0;  ///< The log is at least so long.

  // What the writing thread knows.
  kafka::Producer producer_;
  bool certain_ = false;   ///< Nothing can be in the partition that is not known here, but for what others write.
  Position position_ = 0;  ///< Of the last record.
  Position counted_ = 0;   ///< Of the last one that counted.
  DomainTails tails_;
  AppendQueue appends_;
  std::jthread writer_;
  std::jthread noter_;
};

}  // namespace hindsight::events
