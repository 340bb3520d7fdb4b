#include "events/kafka/snapshot_store.hpp"

#include <algorithm>
#include <cstring>

#include "events/checksum.hpp"

namespace hindsight::events::kafka {
namespace {

/// A snapshot of 100,000 Workloads has 53 MB. When its queue is full, librdkafka 2.0.2 looks once a second whether there is room again.
constexpr unsigned bodies_kilobytes_ahead = 128 * 1024;
constexpr std::chrono::milliseconds read_step{100};

bool is_whole(const SnapshotEntry& entry, const StoredSnapshot& snapshot) {
  return snapshot.bytes.size() == entry.bytes && checksum(snapshot.meta, snapshot.bytes) == entry.checksum;
}

}  // namespace

SnapshotStore::SnapshotStore(const Access& access, LastWords& words)
    : access_(access),
      words_(words),
      index_producer_(access, words, access.location.snapshot_topic(), access.location.index_partition()),
      body_producer_(access, words, access.location.snapshot_topic(), access.location.body_partition()) {}

tl::unexpected<Error> SnapshotStore::damaged(Position position, const std::string& why) const {
  return fail(ErrorKind::corrupt,
              "log " + access_.location.text() + ": snapshot at position " + std::to_string(position) + " is damaged: " + why);
}

// ---- what there is --------------------------------------------------------------------------------------------------------

/// Reads what was told since the last time.
Result<void> SnapshotStore::refresh() {
  if (!index_reader_) {
    auto reader = Reader::open(access_, words_, access_.location.snapshot_topic(), access_.location.index_partition(), {.sees_end = true});
    if (!reader) return tl::unexpected(reader.error());
    index_reader_ = std::move(*reader);
  }
  Reader& reader = *index_reader_;
  const auto extent = reader.extent(access_.settings.patience);
  if (!extent) return tl::unexpected(extent.error());
  if (reader.at() < 0) {
    entries_.clear();
    tails_.reset();
    trimmed_.reset();
    standing_.reset();
    checkpoints_.clear();
    quarantined_ = {};
    if (auto ok = reader.start(static_cast<std::int64_t>(extent->first) - 1); !ok) return ok;
  }
  auto deadline = std::chrono::steady_clock::now() + access_.settings.patience;
  while (reader.at() < static_cast<std::int64_t>(extent->last)) {
    const std::int64_t before = reader.at();
    const auto came = reader.next(read_step, [&](const RawMessage& message) { take(message); });
    if (!came) return tl::unexpected(came.error());
    if (reader.at() > before) deadline = std::chrono::steady_clock::now() + access_.settings.patience;
    if (std::chrono::steady_clock::now() >= deadline)
      return fail(ErrorKind::unavailable,
                  "log " + access_.location.text() + ": the snapshots cannot be listed: no broker answers" + words_.in_brackets());
  }
  reader.rest();
  return {};
}

/// What cannot be read of the index counts as not there: a snapshot only saves time.
void SnapshotStore::take(const RawMessage& message) {
  for (auto& [key, entry] : {std::pair(tails_key, &tails_), std::pair(trimmed_key, &trimmed_), std::pair(standing_key, &standing_)}) {
    if (message.key != key) continue;
    entry->reset();
    if (auto tails = read_tails(message.value)) *entry = std::move(*tails);
    return;
  }
  if (message.key == quarantined_key) {
    quarantined_ = read_quarantined(message.value);
    return;
  }
  if (const auto position = read_checkpoint_key(message.key)) return take_checkpoint(*position, message);
  const auto key = read_snapshot_key(message.key);
  if (!key) return;
  entries_.erase(*key);
  if (message.tombstone) return;
  auto entry = read_snapshot_entry(message.value);
  if (entry && key->first == entry->meta.position && key->second == entry->meta.domain) entries_[*key] = std::move(*entry);
}

/// One that cannot be read is told: what a checkpoint proves would be gone without a word.
void SnapshotStore::take_checkpoint(Position position, const RawMessage& message) {
  checkpoints_.erase(position);
  if (message.tombstone) return;
  auto read = read_checkpoint(message.value);
  if (read && read->position != position)
    read = fail(ErrorKind::corrupt, "the message about a checkpoint names position " + std::to_string(read->position));
  if (!read) read = fail(read.error().kind, "the checkpoint at position " + std::to_string(position) + ": " + read.error().message);
  checkpoints_.emplace(position, std::move(read));
  if (checkpoints_.size() > evidence::checkpoints_max) checkpoints_.erase(checkpoints_.begin());
}

Result<std::vector<SnapshotMeta>> SnapshotStore::list() {
  const std::lock_guard lock(mutex_);
  if (auto ok = refresh(); !ok) return tl::unexpected(ok.error());
  std::vector<SnapshotMeta> out;
  for (auto it = entries_.rbegin(); it != entries_.rend(); ++it) out.push_back(it->second.meta);
  return out;
}

Result<std::optional<DomainsAt>> SnapshotStore::tails() {
  const std::lock_guard lock(mutex_);
  if (auto ok = refresh(); !ok) return tl::unexpected(ok.error());
  return tails_;
}

Result<std::optional<DomainsAt>> SnapshotStore::trimmed() {
  const std::lock_guard lock(mutex_);
  if (auto ok = refresh(); !ok) return tl::unexpected(ok.error());
  return trimmed_;
}

// ---- reading one ----------------------------------------------------------------------------------------------------------

Result<Reader*> SnapshotStore::bodies() {
  if (!body_reader_) {
    auto reader = Reader::open(access_, words_, access_.location.snapshot_topic(), access_.location.body_partition(),
                               {.kilobytes_ahead = bodies_kilobytes_ahead});
    if (!reader) return tl::unexpected(reader.error());
    body_reader_ = std::move(*reader);
  }
  return body_reader_.get();
}

Result<StoredSnapshot> SnapshotStore::get(Position position, std::string_view domain) {
  const std::lock_guard lock(mutex_);
  if (auto ok = refresh(); !ok) return tl::unexpected(ok.error());
  const auto it = entries_.find({position, std::string(domain)});
  if (it == entries_.end())
    return fail(ErrorKind::not_found, "log " + access_.location.text() + ": no snapshot at position " + std::to_string(position));
  const SnapshotEntry& entry = it->second;
  StoredSnapshot out{entry.meta, {}};
  if (copies_) {
    if (auto copy = copies_->read(entry)) out.bytes = std::move(*copy);
    if (is_whole(entry, out)) return out;
    out.bytes.clear();
  }
  const auto opened = bodies();
  if (!opened) return tl::unexpected(opened.error());
  Reader& reader = **opened;
  out.bytes.reserve(entry.bytes);
  for (std::size_t part = 0; part < entry.part_offsets.size(); ++part) {
    const std::int64_t offset = entry.part_offsets[part];
    if (auto ok = reader.start(offset); !ok) return tl::unexpected(ok.error());
    bool found = false;
    const auto came = reader.next(access_.settings.patience, [&](const RawMessage& message) {
      found = message.offset == offset && message.key == part_key(position, entry.checksum, part);
      if (found) out.bytes.insert(out.bytes.end(), message.value.begin(), message.value.end());
    });
    if (!came) return tl::unexpected(came.error());
    if (!*came)
      return fail(ErrorKind::unavailable, "log " + access_.location.text() + ": snapshot at position " + std::to_string(position) +
                                              ": no broker gives its part " + std::to_string(part) + words_.in_brackets());
    if (!found) return damaged(position, "part " + std::to_string(part) + " at offset " + std::to_string(offset) + " is missing");
  }
  if (!is_whole(entry, out)) return damaged(position, "its checksum does not fit its bytes");
  body_reader_.reset();  // else it would go on reading ahead
  if (copies_) copies_->write(entry, out.bytes);
  return out;
}

// ---- writing --------------------------------------------------------------------------------------------------------------

Result<void> SnapshotStore::tell(std::string_view key, std::span<const std::byte> value) {
  Outgoing message{.key = key, .size = value.size(), .timestamp = 0, .fill = {}};
  if (!value.empty()) message.fill = [value](std::byte* out) { std::memcpy(out, value.data(), value.size()); };
  return index_producer_.send({&message, 1}).error;
}

Result<void> SnapshotStore::put(const SnapshotMeta& meta, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (auto ok = refresh(); !ok) return ok;
  SnapshotEntry entry{meta, bytes.size(), checksum(meta, bytes), {}};
  const std::size_t parts = (bytes.size() + snapshot_part_bytes_max - 1) / snapshot_part_bytes_max;
  std::vector<std::string> keys;
  std::vector<Outgoing> messages;
  for (std::size_t part = 0; part < parts; ++part) keys.push_back(part_key(meta.position, entry.checksum, part));
  for (std::size_t part = 0; part < parts; ++part) {
    const auto piece =
        bytes.subspan(part * snapshot_part_bytes_max, std::min(snapshot_part_bytes_max, bytes.size() - part * snapshot_part_bytes_max));
    messages.push_back({keys[part], piece.size(), 0, [piece](std::byte* out) { std::memcpy(out, piece.data(), piece.size()); }});
  }
  auto sent = body_producer_.send(messages);
  if (!sent.error) return sent.error;
  entry.part_offsets = std::move(sent.offsets);
  if (auto ok = tell(snapshot_key(meta.position, meta.domain), write_snapshot_entry(entry)); !ok) return ok;
  if (copies_) copies_->write(entry, bytes);
  const auto before = entries_.find({meta.position, meta.domain});
  return before == entries_.end() || before->second.checksum == entry.checksum ? Result<void>() : drop_parts(before->second);
}

Result<void> SnapshotStore::drop(Position position, std::string_view domain) {
  const std::lock_guard lock(mutex_);
  if (auto ok = refresh(); !ok) return ok;
  const auto it = entries_.find({position, std::string(domain)});
  if (it == entries_.end()) return {};
  if (auto ok = tell(snapshot_key(position, domain), {}); !ok) return ok;
  return drop_parts(it->second);
}

/// Tombstones: the brokers forget the parts when they compact next.
Result<void> SnapshotStore::drop_parts(const SnapshotEntry& entry) {
  std::vector<std::string> keys;
  std::vector<Outgoing> messages;
  for (std::size_t part = 0; part < entry.part_offsets.size(); ++part) keys.push_back(part_key(entry.meta.position, entry.checksum, part));
  for (const auto& key : keys) messages.push_back({key, 0, 0, {}});
  return body_producer_.send(messages).error;
}

Result<void> SnapshotStore::put_tails(const DomainsAt& tails) {
  const std::lock_guard lock(mutex_);
  return tell(tails_key, write_tails(tails));
}

Result<void> SnapshotStore::put_trimmed(const DomainsAt& trimmed) {
  const std::lock_guard lock(mutex_);
  return tell(trimmed_key, write_tails(trimmed));
}

Result<std::vector<QuarantinedRecord>> SnapshotStore::quarantined() {
  const std::lock_guard lock(mutex_);
  if (auto ok = refresh(); !ok) return tl::unexpected(ok.error());
  if (!quarantined_) return fail(quarantined_.error().kind, "log " + access_.location.text() + ": " + quarantined_.error().message);
  return quarantined_;
}

Result<void> SnapshotStore::add_quarantined(std::span<const QuarantinedRecord> records) {
  const std::lock_guard turn(adding_);
  auto all = quarantined();
  if (!all) return tl::unexpected(all.error());
  all->insert(all->end(), records.begin(), records.end());
  std::sort(all->begin(), all->end());
  all->erase(std::unique(all->begin(), all->end()), all->end());
  const std::lock_guard lock(mutex_);
  return tell(quarantined_key, write_quarantined(*all));
}

// ---- checkpoints ----------------------------------------------------------------------------------------------------------

/// How the domains stood comes last: it counts only beside the checkpoint at its position.
Result<void> SnapshotStore::put_checkpoint(const evidence::Checkpoint& checkpoint, const DomainsAt& standing) {
  const std::lock_guard lock(mutex_);
  if (auto ok = refresh(); !ok) return ok;
  if (auto ok = tell(checkpoint_key(checkpoint.position), write_checkpoint(checkpoint)); !ok) return ok;
  if (standing.tails.empty() || (standing_ && standing_->position > standing.position)) return {};
  return tell(standing_key, write_tails(standing));
}

Result<void> SnapshotStore::drop_checkpoint(Position position) {
  const std::lock_guard lock(mutex_);
  if (auto ok = refresh(); !ok) return ok;
  if (!checkpoints_.contains(position)) return {};
  return tell(checkpoint_key(position), {});
}

Result<std::vector<evidence::Checkpoint>> SnapshotStore::checkpoints() {
  const std::lock_guard lock(mutex_);
  if (auto ok = refresh(); !ok) return tl::unexpected(ok.error());
  std::vector<evidence::Checkpoint> out;
  for (const auto& [position, checkpoint] : checkpoints_) {
    if (!checkpoint) return fail(checkpoint.error().kind, "log " + access_.location.text() + ": " + checkpoint.error().message);
    out.push_back(*checkpoint);
  }
  return out;
}

Result<std::vector<UnreadableCheckpoint>> SnapshotStore::unreadable_checkpoints() {
  const std::lock_guard lock(mutex_);
  if (auto ok = refresh(); !ok) return tl::unexpected(ok.error());
  std::vector<UnreadableCheckpoint> out;
  for (const auto& [position, checkpoint] : checkpoints_)
    if (!checkpoint) out.push_back({position, checkpoint.error().message});
  return out;
}

Result<std::optional<DomainsAt>> SnapshotStore::checkpoint_standing() {
  const std::lock_guard lock(mutex_);
  if (auto ok = refresh(); !ok) return tl::unexpected(ok.error());
  return standing_;
}

}  // namespace hindsight::events::kafka
