#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/kafka/message.hpp"
#include "events/kafka/producer.hpp"
#include "events/kafka/reader.hpp"
#include "events/kafka/snapshot_copies.hpp"
#include "events/log.hpp"

namespace hindsight::events::kafka {

/// The snapshots of a log in two partitions of a compacted topic: one tells what there is, the other holds the bytes in parts that
/// every broker takes. What is told of a snapshot is written last, so that one counts only when it is whole. Thread-safe.
class SnapshotStore {
 public:
  SnapshotStore(const Access& access, LastWords& words);
  /// From now on snapshots are copied there, and read from there. Before anything else.
  void copy_to(SnapshotCopies copies) { copies_ = std::move(copies); }

  [[nodiscard]] Result<void> put(const SnapshotMeta& meta, std::span<const std::byte> bytes);
  [[nodiscard]] Result<void> drop(Position position, std::string_view domain);
  /// Newest position first.
  [[nodiscard]] Result<std::vector<SnapshotMeta>> list();
  /// Errors: not_found, corrupt (parts are missing or damaged), unavailable, io.
  [[nodiscard]] Result<StoredSnapshot> get(Position position, std::string_view domain);

  /// Where the domains stood, written beside the snapshots.
  [[nodiscard]] Result<void> put_tails(const DomainsAt& tails);
  [[nodiscard]] Result<std::optional<DomainsAt>> tails();
  /// Up to where the log has been, or is about to be, trimmed, and the domains that had begun by then.
  [[nodiscard]] Result<void> put_trimmed(const DomainsAt& trimmed);
  [[nodiscard]] Result<std::optional<DomainsAt>> trimmed();
  /// Adds to the records that every reader passes over.
  [[nodiscard]] Result<void> add_quarantined(std::span<const QuarantinedRecord> records);
  /// Sorted. Errors: also corrupt (what is noted of them cannot be read: to fold without it would lead elsewhere).
  [[nodiscard]] Result<std::vector<QuarantinedRecord>> quarantined();

  /// Checkpoints of the chain, which stand beside the snapshots. `standing`: none where it is empty, or of an older checkpoint.
  [[nodiscard]] Result<void> put_checkpoint(const evidence::Checkpoint& checkpoint, const DomainsAt& standing);
  [[nodiscard]] Result<void> drop_checkpoint(Position position);
  /// Oldest position first. Errors: also corrupt (what was told of one cannot be read).
  [[nodiscard]] Result<std::vector<evidence::Checkpoint>> checkpoints();
  [[nodiscard]] Result<std::vector<UnreadableCheckpoint>> unreadable_checkpoints();
  [[nodiscard]] Result<std::optional<DomainsAt>> checkpoint_standing();

 private:
  [[nodiscard]] Result<void> refresh();
  void take(const RawMessage& message);
  void take_checkpoint(Position position, const RawMessage& message);
  [[nodiscard]] Result<void> drop_parts(const SnapshotEntry& entry);
  [[nodiscard]] Result<void> tell(std::string_view key, std::span<const std::byte> value);
  [[nodiscard]] Result<Reader*> bodies();
  [[nodiscard]] tl::unexpected<Error> damaged(Position position, const std::string& why) const;

  const Access& access_;
  LastWords& words_;
  std::mutex mutex_;
  std::mutex adding_;  ///< Held while the list of quarantined records is read, made longer and told; before `mutex_`.
  std::unique_ptr<Reader> index_reader_, body_reader_;
  Producer index_producer_, body_producer_;
  std::map<std::pair<Position, std::string>, SnapshotEntry> entries_;  ///< By position and domain.
  std::optional<DomainsAt> tails_, trimmed_, standing_;
  std::map<Position, Result<evidence::Checkpoint>> checkpoints_;
  Result<std::vector<QuarantinedRecord>> quarantined_;
  std::optional<SnapshotCopies> copies_;
};

}  // namespace hindsight::events::kafka
