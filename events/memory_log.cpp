#include "events/memory_log.hpp"

#include <algorithm>
#include <chrono>

namespace hindsight::events {

MemoryLog::MemoryLog(std::string name) : name_(std::move(name)) {}

void MemoryLog::on_append(std::function<AppendFault(std::span<const EncodedRecord>)> hook) {
  const std::lock_guard lock(mutex_);
  hook_ = std::move(hook);
}

void MemoryLog::damage(Position offset) {
  const std::lock_guard lock(mutex_);
  entries_.at(offset - 1).damaged = true;
}

void MemoryLog::slip_in(const EncodedRecord& record) {
  const std::lock_guard lock(mutex_);
  StoredRecord stored;
  static_cast<EncodedRecord&>(stored) = record;
  stored.offset = entries_.size() + 1;
  tails_.take(stored);
  store(record);
  grown_.notify_all();
}

void MemoryLog::truncate(Position last) {
  const std::lock_guard lock(mutex_);
  entries_.resize(std::min<std::size_t>(entries_.size(), last));
  tails_ = DomainTails();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    StoredRecord stored;
    static_cast<EncodedRecord&>(stored) = view(entries_[i]);
    stored.offset = i + 1;
    tails_.take(stored);
  }
  std::erase_if(snapshots_, [last](const auto& entry) { return entry.first.first > last; });
  std::erase_if(checkpoints_, [last](const auto& entry) { return entry.first > last; });
  if (standing_ && standing_->position > last) standing_.reset();
}

EncodedRecord MemoryLog::view(const Entry& entry) { return {entry.domain, entry.sequence, entry.epoch, entry.time, entry.bytes}; }

void MemoryLog::store(const EncodedRecord& record) {
  const Time before = entries_.empty() ? Time::never() : entries_.back().latest;
  entries_.push_back({std::string(record.domain), record.sequence, record.epoch, record.time, std::max(before, record.time),
                      std::vector<std::byte>(record.bytes.begin(), record.bytes.end())});
}

void MemoryLog::be_away(bool away) {
  const std::lock_guard lock(mutex_);
  away_ = away;
}

tl::unexpected<Error> MemoryLog::out_of_reach() const { return fail(ErrorKind::unavailable, "log " + name_ + " is away"); }

Result<Position> MemoryLog::append(std::span<const EncodedRecord> records, std::optional<Position> expected) {
  const std::lock_guard lock(mutex_);
  if (away_) return out_of_reach();
  if (expected && *expected != entries_.size()) {
    return fail(ErrorKind::conflict, "log " + name_ + ": its last record is " + std::to_string(entries_.size()) + ", the writer expected " +
                                         std::to_string(*expected));
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (auto next = tails_.advance(records[i], entries_.size() + i + 1); !next) {
      tails_.back_to(0);
      return fail(next.error().kind, "log " + name_ + ": " + next.error().message);
    }
  }

  const AppendFault fault = hook_ ? hook_(records) : AppendFault::none;
  const std::size_t kept = fault == AppendFault::refused ? 0 : fault == AppendFault::torn ? records.size() / 2 : records.size();
  tails_.back_to(kept);
  tails_.keep();
  for (const auto& record : records.first(kept)) store(record);
  grown_.notify_all();
  if (fault != AppendFault::none) return fail(ErrorKind::io, "log " + name_ + ": injected fault");
  return entries_.size();
}

void MemoryLog::append_async(RecordBatch batch, std::optional<Position> expected, AppendDone done) {
  done(append(batch.views(), expected));
}

Result<void> MemoryLog::read(Position from, const ReadLimits& limits, RecordBatch& out) const {
  const std::lock_guard lock(mutex_);
  out.clear();
  if (away_) return out_of_reach();
  for (Position offset = std::max<Position>(from, 1); offset <= entries_.size() && out.size() < limits.records; ++offset) {
    const Entry& entry = entries_[offset - 1];
    if (!out.empty() && out.bytes() + entry.bytes.size() > limits.bytes) break;
    if (entry.damaged) {
      if (out.empty()) return fail(ErrorKind::corrupt, "log " + name_ + ": record " + std::to_string(offset) + " is damaged");
      break;
    }
    out.add(view(entry), offset);
  }
  return {};
}

Result<Position> MemoryLog::last() const {
  const std::lock_guard lock(mutex_);
  if (away_) return out_of_reach();
  return entries_.size();
}

Result<Position> MemoryLog::seek(Time time) const {
  const std::lock_guard lock(mutex_);
  const auto it = std::partition_point(entries_.begin(), entries_.end(), [time](const Entry& e) { return e.latest < time; });
  return static_cast<Position>(it - entries_.begin()) + 1;
}

Result<Position> MemoryLog::wait_beyond(Position position, Duration timeout) const {
  std::unique_lock lock(mutex_);
  grown_.wait_for(lock, std::chrono::microseconds(timeout.micros), [&] { return entries_.size() > position; });
  return entries_.size();
}

Result<std::vector<DomainTail>> MemoryLog::domains() const {
  const std::lock_guard lock(mutex_);
  return tails_.list();
}

Result<std::vector<QuarantinedRecord>> MemoryLog::quarantined() const {
  const std::lock_guard lock(mutex_);
  if (away_) return out_of_reach();
  std::vector<QuarantinedRecord> out;
  for (const auto& entry : entries_)
    if (auto said = quarantine_in(view(entry))) out.push_back(std::move(*said));
  std::sort(out.begin(), out.end());
  const auto same = [](const QuarantinedRecord& a, const QuarantinedRecord& b) { return a.domain == b.domain && a.sequence == b.sequence; };
  out.erase(std::unique(out.begin(), out.end(), same), out.end());
  return out;
}

Result<void> MemoryLog::put_snapshot(const SnapshotMeta& meta, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (meta.position > entries_.size()) {
    return fail(ErrorKind::invalid, "log " + name_ + ": snapshot at position " + std::to_string(meta.position) +
                                        ", but the last record is " + std::to_string(entries_.size()));
  }
  snapshots_.insert_or_assign(std::pair(meta.position, meta.domain), StoredSnapshot{meta, {bytes.begin(), bytes.end()}});
  return {};
}

Result<std::vector<SnapshotMeta>> MemoryLog::snapshots() const {
  const std::lock_guard lock(mutex_);
  std::vector<SnapshotMeta> out;
  for (auto it = snapshots_.rbegin(); it != snapshots_.rend(); ++it) out.push_back(it->second.meta);
  return out;
}

Result<StoredSnapshot> MemoryLog::snapshot(Position position, std::string_view domain) const {
  const std::lock_guard lock(mutex_);
  const auto it = snapshots_.find({position, std::string(domain)});
  if (it == snapshots_.end()) return fail(ErrorKind::not_found, "log " + name_ + ": no snapshot at position " + std::to_string(position));
  return it->second;
}

Result<void> MemoryLog::drop_snapshot(Position position, std::string_view domain) {
  const std::lock_guard lock(mutex_);
  snapshots_.erase({position, std::string(domain)});
  return {};
}

Result<void> MemoryLog::put_checkpoint(const evidence::Checkpoint& checkpoint, std::span<const DomainTail> standing) {
  const std::lock_guard lock(mutex_);
  if (checkpoint.position > entries_.size())
    return fail(ErrorKind::invalid, "log " + name_ + ": checkpoint at position " + std::to_string(checkpoint.position) +
                                        ", but the last record is " + std::to_string(entries_.size()));
  if (auto good = evidence::check_form(checkpoint); !good) return fail(good.error().kind, "log " + name_ + ": " + good.error().message);
  checkpoints_.insert_or_assign(checkpoint.position, checkpoint);
  if (!standing.empty() && (!standing_ || standing_->position <= checkpoint.position))
    standing_ = DomainsAt{checkpoint.position, {standing.begin(), standing.end()}, {}};
  return {};
}

Result<std::vector<evidence::Checkpoint>> MemoryLog::checkpoints() const {
  const std::lock_guard lock(mutex_);
  std::vector<evidence::Checkpoint> out;
  for (const auto& [position, checkpoint] : checkpoints_) out.push_back(checkpoint);
  return out;
}

Result<std::optional<DomainsAt>> MemoryLog::checkpoint_standing() const {
  const std::lock_guard lock(mutex_);
  return standing_;
}

Result<void> MemoryLog::drop_checkpoint(Position position) {
  const std::lock_guard lock(mutex_);
  checkpoints_.erase(position);
  return {};
}

}  // namespace hindsight::events
