#include "events/kafka_log.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "events/kafka/message.hpp"
#include "events/kafka/topics.hpp"
#include "events/log_check.hpp"
#include "vocabulary/thread_name.hpp"

namespace hindsight::events {
namespace {

/// After so many records it is noted where the domains stand: reading them takes about a quarter of a second, and the note is nothing
/// beside them.
constexpr Position note_every = 50'000;
constexpr std::chrono::seconds note_look{1};

}  // namespace

// ---- opening and closing --------------------------------------------------------------------------------------------------

Result<std::unique_ptr<KafkaLog>> KafkaLog::open(const kafka::Location& location, KafkaLogOptions options) {
  kafka::Access access{location, options.settings};
  const bool read_only = options.read_only;
  std::unique_ptr<KafkaLog> log(new KafkaLog(std::move(access), std::move(options)));
  if (const auto& folder = log->options_.snapshot_folder; !folder.empty()) {
    auto copies = kafka::SnapshotCopies::open(folder, location);
    if (!copies) return tl::unexpected(copies.error());
    log->snapshots_.copy_to(std::move(*copies));
  }
  const auto topic = kafka::check_topics(log->access_, log->words_, !read_only);
  if (!topic) return tl::unexpected(topic.error());
  if (topic->settings) {
    if (const auto it = topic->settings->find("max.message.bytes"); it != topic->settings->end())
      std::from_chars(it->second.data(), it->second.data() + it->second.size(), log->message_bytes_max_);
  }
  if (read_only) return log;
  if (auto ok = log->catch_up(); !ok) return tl::unexpected(ok.error());
  log->writer_ = std::jthread([raw = log.get()] { raw->write_groups(); });
  log->noter_ = std::jthread([raw = log.get()](const std::stop_token& stop) { raw->note_tails(stop); });
  return log;
}

KafkaLog::KafkaLog(kafka::Access access, KafkaLogOptions options)
    : access_(std::move(access)),
      options_(std::move(options)),
      name_(access_.location.text()),
      cursors_(access_, words_),
      snapshots_(access_, words_),
      follower_(access_, words_, options_.recent_bytes),
      producer_(access_, words_, access_.location.record_topic(), access_.location.partition) {}

KafkaLog::~KafkaLog() {
  appends_.stop();
  if (writer_.joinable()) writer_.join();
}

tl::unexpected<Error> KafkaLog::error(ErrorKind kind, const std::string& what) const { return fail(kind, "log " + name_ + ": " + what); }

// ---- following ------------------------------------------------------------------------------------------------------------

Result<void> KafkaLog::follow() const {
  const std::lock_guard lock(following_);
  if (follower_.started()) return {};
  const auto extent = cursors_.extent();
  if (!extent) return tl::unexpected(extent.error());
  auto tails = snapshots_.tails();
  if (!tails) return tl::unexpected(tails.error());
  // What was noted of domains helps only if the records behind it are there.
  const Position before_first = extent->first - 1;
  const auto usable = [&](const auto& note) { return note && note->position >= before_first && note->position <= extent->last; };
  if (usable(*tails)) return follower_.start(**tails);
  // A process that lagged behind may have noted them at a place that was trimmed since; the trim noted them, too.
  const auto trimmed = snapshots_.trimmed();
  if (!trimmed) return tl::unexpected(trimmed.error());
  return follower_.start(usable(*trimmed) ? **trimmed : DomainsAt{before_first, {}});
}

Result<Position> KafkaLog::followed_to_the_end() const {
  if (auto ok = follow(); !ok) return tl::unexpected(ok.error());
  auto end = last();
  if (!end) return end;
  if (auto ok = follower_.reach(*end, access_.settings.patience); !ok) return tl::unexpected(ok.error());
  return *end;
}

void KafkaLog::note_tails(const std::stop_token& stop) const {
  name_this_thread("kafka-notes");
  std::mutex mutex;
  std::condition_variable_any never;
  Position noted = 0;
  for (std::unique_lock lock(mutex); !never.wait_for(lock, stop, note_look, [&] { return stop.stop_requested(); });) {
    if (follower_.position() < noted + note_every) continue;
    const auto standing = follower_.standing();
    if (!standing) continue;
    noted = standing->position;
    (void)snapshots_.put_tails({standing->position, standing->tails});  // it saves time and no more: the next one may succeed
  }
}

// ---- writing --------------------------------------------------------------------------------------------------------------

Result<Position> KafkaLog::append(std::span<const EncodedRecord> records, std::optional<Position> expected) {
  if (options_.read_only) return error(ErrorKind::denied, "was opened read-only");
  return appends_.put_and_wait(records, expected);
}

void KafkaLog::append_async(RecordBatch batch, std::optional<Position> expected, AppendDone done) {
  if (options_.read_only) return done(error(ErrorKind::denied, "was opened read-only"));
  appends_.put(std::move(batch), expected, std::move(done));
}

void KafkaLog::write_groups() {
  name_this_thread("kafka-write");
  (void)producer_.connect();  // what goes wrong is told by the first write
  for (auto group = appends_.next_group(); !group.empty(); group = appends_.next_group()) write(group);
}

/// Takes over what was read back, unless this thread knows more: what it has written itself and nobody has read yet.
Result<void> KafkaLog::catch_up() {
  if (!certain_) {
    if (auto end = followed_to_the_end(); !end) return tl::unexpected(end.error());
  } else if (follower_.position() <= position_) {
    return {};
  }
  auto standing = follower_.standing();
  if (!standing) return tl::unexpected(standing.error());
  position_ = standing->position;
  counted_ = standing->counted;
  for (auto& tail : standing->tails) tails_.set(std::move(tail));
  certain_ = true;
  return {};
}

/// Takes the records into the tails, or says why not. `position`: of the log's last record by then.
Result<void> KafkaLog::admit(const WaitingAppend& waiting, Position position) {
  // Records that do not count may have come behind the last that the caller knows.
  const Position counted = position == position_ ? counted_ : position;
  if (waiting.expected && (*waiting.expected < counted || *waiting.expected > position))
    return error(ErrorKind::conflict,
                 "its last record is " + std::to_string(position) + ", the writer expected " + std::to_string(*waiting.expected));
  for (const auto& record : waiting.records) {
    if (auto ok = tails_.advance(record, ++position); !ok) return error(ok.error().kind, ok.error().message);
    if (const std::size_t size = record.bytes.size() + kafka::record_head_bytes + record.domain.size() + 100; size > message_bytes_max_)
      return error(ErrorKind::invalid, "record of domain \"" + std::string(record.domain) + "\": its message takes " +
                                           std::to_string(size) + " bytes; allowed: max.message.bytes of topic " +
                                           access_.location.record_topic() + ", " + std::to_string(message_bytes_max_));
  }
  return {};
}

/// Writes the records behind position_ and returns their offsets. An error leaves open which of them are in the log.
Result<std::vector<std::int64_t>> KafkaLog::send(std::span<const EncodedRecord> records) {
  std::vector<kafka::Outgoing> messages;
  messages.reserve(records.size());
  for (const auto& record : records) {
    messages.push_back({record.domain, kafka::record_head_bytes + record.bytes.size(), kafka::message_timestamp(record.time),
                        [&record](std::byte* out) { kafka::write_record(record, out); }});
  }
  auto sent = producer_.send(messages);
  if (!sent.error) return tl::unexpected(sent.error.error());
  // What readers number may have others' records between.
  const bool shared = std::ranges::all_of(records, [](const EncodedRecord& r) { return r.sequence == numbered_by_reader; });
  if (shared) return std::move(sent.offsets);
  for (std::size_t i = 0; i < sent.offsets.size(); ++i) {
    const Position expected = position_ + i + 1;
    if (const Position found = static_cast<Position>(sent.offsets[i]) + 1; found != expected)
      return error(ErrorKind::io, "another writer wrote at the same time: a record that was to become " + std::to_string(expected) +
                                      " is " + std::to_string(found));
  }
  return std::move(sent.offsets);
}

void KafkaLog::write(std::vector<WaitingAppend>& group) {
  const auto fail_all = [&](const Error& e) {
    for (auto& waiting : group) waiting.done(tl::unexpected(e));
  };
  if (auto ok = catch_up(); !ok) return fail_all(ok.error());

  std::vector<Result<Position>> outcomes;
  std::vector<EncodedRecord> records;
  for (const auto& waiting : group) {
    const std::size_t mark = tails_.mark();
    const Position position = position_ + records.size();
    if (auto ok = admit(waiting, position); !ok) {
      tails_.back_to(mark);
      outcomes.emplace_back(tl::unexpected(ok.error()));
      continue;
    }
    records.insert(records.end(), waiting.records.begin(), waiting.records.end());
    outcomes.emplace_back(records.size());  // how many by then; their positions are known when they are written
  }
  const Position before = position_;
  Result<std::vector<std::int64_t>> offsets;
  if (!records.empty()) {
    // Noted first: a reader that meets the record knows of it then.
    std::vector<QuarantinedRecord> set_aside;
    for (const auto& record : records)
      if (auto said = quarantine_in(record)) set_aside.push_back(std::move(*said));
    Result<void> noted;
    if (!set_aside.empty()) noted = snapshots_.add_quarantined(set_aside);
    if (noted)
      offsets = send(records);
    else
      offsets = tl::unexpected(noted.error());
    if (!offsets && noted && !set_aside.empty())
      offsets =
          fail(offsets.error().kind,
               offsets.error().message + " (the record is listed as set aside already; do it again, so that nodes that run hear of it)");
    if (offsets) {
      tails_.keep();
      position_ = counted_ = static_cast<Position>(offsets->back()) + 1;
      for (Position known = known_last_; known < position_ && !known_last_.compare_exchange_weak(known, position_);) {}
    } else {
      tails_.back_to(0);
      certain_ = false;
    }
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (!outcomes[i]) continue;
    if (!offsets && !group[i].records.empty()) {
      outcomes[i] = tl::unexpected(offsets.error());
    } else {
      outcomes[i] = offsets && *outcomes[i] > 0 ? static_cast<Position>((*offsets)[*outcomes[i] - 1]) + 1 : before;
    }
  }
  for (std::size_t i = 0; i < group.size(); ++i) group[i].done(std::move(outcomes[i]));
}

// ---- reading --------------------------------------------------------------------------------------------------------------

Result<void> KafkaLog::read(Position from, const ReadLimits& limits, RecordBatch& out) const {
  out.clear();
  from = std::max<Position>(from, 1);
  if (follower_.read(from, limits, out)) return {};
  Position end = known_last_;
  if (from > end) {
    const auto now_last = last();
    if (!now_last) return tl::unexpected(now_last.error());
    end = *now_last;
    if (from > end) return {};
  }
  if (follower_.started() && from > follower_.position()) {
    // The end is on its way into our memory.
    if (auto ok = follower_.reach(from, access_.settings.patience); !ok) return ok;
    if (follower_.read(from, limits, out)) return {};
  }
  return cursors_.read(from, end, limits, out);
}

Result<Position> KafkaLog::first() const {
  const auto extent = cursors_.extent();
  if (!extent) return tl::unexpected(extent.error());
  return extent->first;
}

Result<std::optional<DomainsAt>> KafkaLog::trimmed() const { return snapshots_.trimmed(); }

Result<Position> KafkaLog::last() const {
  auto end = cursors_.last();
  if (!end) return end;
  for (Position known = known_last_; known < *end && !known_last_.compare_exchange_weak(known, *end);) {}
  return *end;
}

Result<Position> KafkaLog::seek(Time time) const {
  const auto extent = cursors_.extent();
  if (!extent) return tl::unexpected(extent.error());
  const auto near = cursors_.position_at(kafka::message_timestamp(time));
  if (!near) return tl::unexpected(near.error());
  // Messages carry whole milliseconds, and those of a topic that was made otherwise the time of the broker.
  Position from = cursors_.broker_time() ? extent->first : near->value_or(extent->last + 1);
  RecordBatch batch;
  while (from <= extent->last) {
    if (auto ok = read(from, {}, batch); !ok) return tl::unexpected(ok.error());
    if (cursors_.broker_time() && from > extent->first && near->value_or(0) == from) {
      from = extent->first;
      continue;
    }
    for (const auto& record : batch)
      if (record.time >= time) return record.offset;
    from += batch.size();
  }
  return extent->last + 1;
}

Result<Position> KafkaLog::wait_beyond(Position position, Duration timeout) const {
  if (auto ok = follow(); !ok) return tl::unexpected(ok.error());
  return follower_.wait_beyond(position, std::chrono::microseconds(timeout.micros));
}

Result<std::vector<DomainTail>> KafkaLog::domains() const {
  if (auto end = followed_to_the_end(); !end) return tl::unexpected(end.error());
  auto standing = follower_.standing();
  if (!standing) return tl::unexpected(standing.error());
  return std::move(standing->tails);
}

Result<std::vector<QuarantinedRecord>> KafkaLog::quarantined() const { return snapshots_.quarantined(); }

// ---- snapshots ------------------------------------------------------------------------------------------------------------

Result<void> KafkaLog::put_snapshot(const SnapshotMeta& meta, std::span<const std::byte> bytes) {
  if (options_.read_only) return error(ErrorKind::denied, "was opened read-only");
  if (meta.position > known_last_) {
    auto end = last();
    if (!end) return tl::unexpected(end.error());
    if (meta.position > *end)
      return error(ErrorKind::invalid,
                   "snapshot at position " + std::to_string(meta.position) + ", but the last record is " + std::to_string(*end));
  }
  if (auto ok = snapshots_.put(meta, bytes); !ok) return ok;
  const auto standing = follower_.standing();
  return standing ? snapshots_.put_tails({standing->position, standing->tails}) : Result<void>();
}

Result<std::vector<SnapshotMeta>> KafkaLog::snapshots() const { return snapshots_.list(); }

Result<StoredSnapshot> KafkaLog::snapshot(Position position, std::string_view domain) const { return snapshots_.get(position, domain); }

Result<void> KafkaLog::drop_snapshot(Position position, std::string_view domain) {
  if (options_.read_only) return error(ErrorKind::denied, "was opened read-only");
  return snapshots_.drop(position, domain);
}

Result<void> KafkaLog::put_checkpoint(const evidence::Checkpoint& checkpoint, std::span<const DomainTail> standing) {
  if (options_.read_only) return error(ErrorKind::denied, "was opened read-only");
  if (auto good = evidence::check_form(checkpoint); !good) return error(good.error().kind, good.error().message);
  if (checkpoint.position > known_last_) {
    auto end = last();
    if (!end) return tl::unexpected(end.error());
    if (checkpoint.position > *end)
      return error(ErrorKind::invalid,
                   "checkpoint at position " + std::to_string(checkpoint.position) + ", but the last record is " + std::to_string(*end));
  }
  return snapshots_.put_checkpoint(checkpoint, {checkpoint.position, {standing.begin(), standing.end()}, {}});
}

Result<std::vector<evidence::Checkpoint>> KafkaLog::checkpoints() const { return snapshots_.checkpoints(); }

Result<std::vector<UnreadableCheckpoint>> KafkaLog::unreadable_checkpoints() const { return snapshots_.unreadable_checkpoints(); }

Result<std::optional<DomainsAt>> KafkaLog::checkpoint_standing() const { return snapshots_.checkpoint_standing(); }

Result<void> KafkaLog::drop_checkpoint(Position position) {
  if (options_.read_only) return error(ErrorKind::denied, "was opened read-only");
  return snapshots_.drop_checkpoint(position);
}

/// The note comes first: if this process dies in between, nothing is missing that the note calls missing.
Result<void> KafkaLog::forget(const DomainsAt& cut) {
  if (options_.read_only) return error(ErrorKind::denied, "was opened read-only");
  const auto before = snapshots_.trimmed();
  if (!before) return tl::unexpected(before.error());
  // Of two that trim at once the one that goes further has it: an older note in place of its own would name domains of another place.
  if (*before && (*before)->position > cut.position) return {};
  if (auto ok = snapshots_.put_trimmed(cut); !ok) return ok;
  return kafka::delete_records(access_, words_, cut.position);
}

Result<CheckReport> KafkaLog::check(const CheckProgress& progress) { return walk(*this, RecordChecker(true), progress); }

}  // namespace hindsight::events
