#include "events/kafka/follower.hpp"

#include <algorithm>

#include "vocabulary/record_order.hpp"
#include "vocabulary/thread_name.hpp"

namespace hindsight::events::kafka {
namespace {

/// How long the end of this thread may take.
constexpr std::chrono::milliseconds poll_step{100};
constexpr unsigned follower_kilobytes_ahead = 32 * 1024;
constexpr std::size_t piece_bytes = std::size_t{256} << 10;

}  // namespace

Result<StoredRecord> record_of(const Access& access, const RawMessage& message, Position expected) {
  const Position position = static_cast<Position>(message.offset) + 1;
  const auto damaged = [&](ErrorKind kind, const std::string& why) {
    return fail(kind, "log " + access.location.text() + ": record " + std::to_string(expected) + " (partition " +
                          std::to_string(access.location.partition) + ", offset " + std::to_string(expected - 1) + "): " + why);
  };
  if (position != expected)
    return damaged(ErrorKind::corrupt, "is missing, the next is " + std::to_string(position) + "; topic " + access.location.record_topic() +
                                           " was compacted, or something else than Hindsight writes to it");
  if (message.tombstone) return damaged(ErrorKind::corrupt, "the message has no value");
  auto record = read_record(message.key, message.value, position);
  if (!record) return damaged(record.error().kind, record.error().message);
  return record;
}

Follower::Follower(const Access& access, LastWords& words, std::size_t recent_bytes)
    : access_(access), words_(words), recent_bytes_(recent_bytes) {}

Follower::~Follower() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

Result<void> Follower::start(const DomainsAt& from) {
  auto reader = Reader::open(access_, words_, access_.location.record_topic(), access_.location.partition,
                             {.kilobytes_ahead = follower_kilobytes_ahead, .keep = std::chrono::milliseconds(500)});
  if (!reader) return tl::unexpected(reader.error());
  reader_ = std::move(*reader);
  if (auto ok = reader_->start(static_cast<std::int64_t>(from.position)); !ok) return ok;
  {
    const std::lock_guard lock(mutex_);
    standing_.position = standing_.counted = from.position;
    for (const auto& tail : from.tails) tails_.set(tail);
    started_ = true;
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  return {};
}

bool Follower::started() const {
  const std::lock_guard lock(mutex_);
  return started_;
}

// ---- the thread -----------------------------------------------------------------------------------------------------------

void Follower::run(const std::stop_token& stop) {
  name_this_thread("kafka-follow");
  while (!stop.stop_requested()) {
    Result<void> taken;
    const auto came = reader_->next(poll_step, [&](const RawMessage& message) { taken = take(message); });
    if (!came) return end(came.error());
    if (!taken) return end(taken.error());
  }
}

Result<void> Follower::take(const RawMessage& message) {
  const std::lock_guard lock(mutex_);
  const auto record = record_of(access_, message, standing_.position + 1);
  if (!record) return tl::unexpected(record.error());
  standing_.position = record->offset;
  if (tails_.take(*record) != RecordOrder::passed_over) standing_.counted = record->offset;
  remember(*record);
  grown_.notify_all();
  return {};
}

void Follower::remember(const StoredRecord& record) {
  if (recent_.empty() || recent_.back().records.bytes() >= piece_bytes) recent_.push_back({record.offset, {}});
  RecordBatch& records = recent_.back().records;
  const std::size_t before = records.bytes();
  records.add(record, record.offset);
  recent_size_ += records.bytes() - before;
  while (recent_.size() > 1 && recent_size_ > recent_bytes_) {
    recent_size_ -= recent_.front().records.bytes();
    recent_.pop_front();
  }
}

void Follower::end(Error error) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(error);
  grown_.notify_all();
}

// ---- what others ask ------------------------------------------------------------------------------------------------------

Result<Follower::Standing> Follower::standing() const {
  const std::lock_guard lock(mutex_);
  if (error_) return tl::unexpected(*error_);
  Standing out = standing_;
  out.tails = tails_.list();
  return out;
}

Position Follower::position() const {
  const std::lock_guard lock(mutex_);
  return standing_.position;
}

Result<void> Follower::reach(Position target, std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  Position before = standing_.position;
  auto deadline = std::chrono::steady_clock::now() + patience;
  while (standing_.position < target) {
    if (error_) return tl::unexpected(*error_);
    grown_.wait_until(lock, deadline);
    if (standing_.position > before) {
      before = standing_.position;
      deadline = std::chrono::steady_clock::now() + patience;
    } else if (!error_ && std::chrono::steady_clock::now() >= deadline) {
      return fail(ErrorKind::unavailable, "log " + access_.location.text() + ": nothing came behind record " + std::to_string(before) +
                                              " for " + std::to_string(patience.count()) + " ms, the log ends at " +
                                              std::to_string(target) + words_.in_brackets());
    }
  }
  return {};
}

Result<Position> Follower::wait_beyond(Position position, std::chrono::microseconds timeout) const {
  std::unique_lock lock(mutex_);
  grown_.wait_for(lock, timeout, [&] { return standing_.position > position || error_; });
  if (standing_.position <= position && error_) return tl::unexpected(*error_);
  return standing_.position;
}

bool Follower::read(Position from, const ReadLimits& limits, RecordBatch& out) const {
  const std::lock_guard lock(mutex_);
  auto piece = std::upper_bound(recent_.begin(), recent_.end(), from, [](Position p, const Piece& x) { return p < x.first; });
  if (piece == recent_.begin() || from > standing_.position) return false;
  --piece;
  for (std::size_t i = from - piece->first; piece != recent_.end(); ++piece, i = 0) {
    for (; i < piece->records.size(); ++i) {
      const StoredRecord record = piece->records[i];
      if (!out.empty() && (out.size() >= limits.records || out.bytes() + record.bytes.size() > limits.bytes)) return true;
      out.add(record, record.offset);
    }
  }
  return true;
}

}  // namespace hindsight::events::kafka
