#include "events/sqlite_log.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>

#include "vocabulary/thread_name.hpp"

namespace hindsight::events {
namespace {

/// How often a reader looks whether another process has added something.
constexpr std::chrono::milliseconds poll_interval{5};

/// About what a step writes that removes records or moves pages.
constexpr std::size_t step_bytes = std::size_t{256} << 10;

struct Alone {
  AppendQueue& appends;
  ~Alone() { appends.end_alone(); }
};

/// SQLite does not follow a link of one of these names either, but does not say why.
Result<void> no_links_beside(const std::string& path) {
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    std::error_code ignored;
    if (std::filesystem::is_symlink(path + suffix, ignored))
      return fail(ErrorKind::invalid, "log " + path + ": " + path + suffix + " is a symbolic link; allowed: a regular file, or none");
  }
  return {};
}

}  // namespace

// ---- opening and closing --------------------------------------------------------------------------------------------------

Result<std::unique_ptr<SqliteLog>> SqliteLog::open(const std::string& path, SqliteLogOptions options) {
  if (options.read_only) {
    auto reader = sqlite::Reader::open(path);
    if (!reader) return tl::unexpected(reader.error());
    return std::unique_ptr<SqliteLog>(new SqliteLog(path, std::move(*reader), options.limit));
  }
  auto lock = sqlite::WriterLock::take(path);
  if (!lock) return tl::unexpected(lock.error());
  const std::string file = lock->path();
  if (auto plain = no_links_beside(file); !plain) return tl::unexpected(plain.error());
  auto writer = sqlite::Writer::open(file, options.durability, options.limit);
  if (!writer) return tl::unexpected(writer.error());
  auto reader = sqlite::Reader::open(file);
  if (!reader) return tl::unexpected(reader.error());
  std::unique_ptr<SqliteLog> log(new SqliteLog(file, std::move(*reader), options.limit));
  if (auto started = log->start(std::move(*lock), std::move(*writer)); !started) return tl::unexpected(started.error());
  return log;
}

SqliteLog::SqliteLog(std::string path, sqlite::Reader reader, std::uint64_t limit)
    : path_(std::move(path)), name_("sqlite:" + path_), limit_(limit), reader_(std::move(reader)) {}

Result<void> SqliteLog::start(sqlite::WriterLock lock, sqlite::Writer writer) {
  lock_ = std::move(lock);
  writer_ = std::make_unique<sqlite::Writer>(std::move(writer));
  auto snapshots = sqlite::SnapshotStore::open(path_, *writer_, writing_);
  if (!snapshots) return tl::unexpected(snapshots.error());
  snapshots_ = std::move(*snapshots);
  // What an interrupted trim has left; on a full disk it stays until there is room.
  if (auto removed = remove_before_cut(); !removed && removed.error().kind != ErrorKind::unavailable) return removed;
  committed_ = writer_->last();
  committer_ = std::jthread([this] { commit_groups(); });
  return {};
}

SqliteLog::~SqliteLog() { appends_.stop(); }

tl::unexpected<Error> SqliteLog::read_only() const { return fail(ErrorKind::denied, "log " + path_ + ": was opened read-only"); }

// ---- writing --------------------------------------------------------------------------------------------------------------

Result<Position> SqliteLog::append(std::span<const EncodedRecord> records, std::optional<Position> expected) {
  if (!writer_) return read_only();
  if (!appends_.begin_alone()) return appends_.put_and_wait(records, expected);
  const Alone alone{appends_};
  std::array<sqlite::Writer::Request, 1> request{{{records, expected, Position{0}}}};
  commit(request);
  return std::move(request[0].outcome);
}

void SqliteLog::append_async(RecordBatch batch, std::optional<Position> expected, AppendDone done) {
  if (!writer_) return done(read_only());
  appends_.put(std::move(batch), expected, std::move(done));
}

void SqliteLog::commit_groups() {
  name_this_thread("sqlite-commit");
  for (auto group = appends_.next_group(); !group.empty(); group = appends_.next_group()) {
    std::vector<sqlite::Writer::Request> requests;
    requests.reserve(group.size());
    for (const WaitingAppend& waiting : group) requests.push_back({waiting.records, waiting.expected, Position{0}});
    commit(requests);
    for (std::size_t i = 0; i < group.size(); ++i) group[i].done(std::move(requests[i].outcome));
  }
}

void SqliteLog::commit(std::span<sqlite::Writer::Request> requests) {
  Position last = 0;
  {
    const std::lock_guard lock(writing_);
    writer_->append(requests);
    last = writer_->last();
  }
  {
    const std::lock_guard lock(committed_mutex_);
    committed_ = last;
  }
  grown_.notify_all();
}

Result<void> SqliteLog::put_snapshot(const SnapshotMeta& meta, std::span<const std::byte> bytes) {
  if (!writer_) return read_only();
  return snapshots_->put(meta, bytes, on_part_);
}

Result<void> SqliteLog::drop_snapshot(Position position, std::string_view domain) {
  if (!writer_) return read_only();
  return snapshots_->drop(position, domain);
}

/// A file holds no record that does not count, so how the domains stood says nothing that anybody needs.
Result<void> SqliteLog::put_checkpoint(const evidence::Checkpoint& checkpoint, std::span<const DomainTail> /*standing*/) {
  if (!writer_) return read_only();
  const std::lock_guard turn(writing_);
  return writer_->put_checkpoint(checkpoint);
}

Result<void> SqliteLog::drop_checkpoint(Position position) {
  if (!writer_) return read_only();
  const std::lock_guard turn(writing_);
  return writer_->drop_checkpoint(position);
}

Result<void> SqliteLog::forget(const DomainsAt& cut) {
  if (!writer_) return read_only();
  {
    const std::lock_guard turn(writing_);
    if (auto noted = writer_->cut(cut); !noted) return noted;
  }
  return remove_before_cut();
}

Result<void> SqliteLog::remove_before_cut() {
  return snapshots_->in_steps([this] { return writer_->remove_before_cut(); }, step_bytes);
}

Result<void> SqliteLog::give_back() {
  if (!writer_) return read_only();
  // What an earlier `forget` could not remove any more, because the disk failed under it, has the most to give.
  if (auto removed = remove_before_cut(); !removed) return removed;
  return snapshots_->in_steps([this] { return writer_->give_back(); }, step_bytes);
}

Result<std::optional<LogSpace>> SqliteLog::space() const {
  const std::lock_guard lock(reading_);  // a writer may be waiting for its disk
  return std::optional(reader_.space(limit_));
}

Result<void> SqliteLog::begin_behind(const DomainsAt& cut, std::span<const QuarantinedRecord> quarantined) {
  if (!writer_) return read_only();
  const std::lock_guard turn(writing_);
  if (auto begun = writer_->begin_behind(cut, quarantined); !begun) return begun;
  const std::lock_guard lock(committed_mutex_);
  committed_ = writer_->last();
  return {};
}

// ---- reading --------------------------------------------------------------------------------------------------------------

Result<void> SqliteLog::read(Position from, const ReadLimits& limits, RecordBatch& out) const {
  const std::lock_guard lock(reading_);
  return reader_.read(from, limits, out);
}

Result<Position> SqliteLog::last() const {
  if (writer_) {
    const std::lock_guard lock(committed_mutex_);
    return committed_;
  }
  const std::lock_guard lock(reading_);
  return reader_.last();
}

Result<std::optional<DomainsAt>> SqliteLog::trimmed() const {
  const std::lock_guard lock(reading_);
  return reader_.trimmed();
}

Result<Position> SqliteLog::seek(Time time) const {
  const std::lock_guard lock(reading_);
  return reader_.seek(time);
}

Result<Position> SqliteLog::wait_beyond(Position position, Duration timeout) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(timeout.micros);
  if (writer_) {
    std::unique_lock lock(committed_mutex_);
    grown_.wait_until(lock, deadline, [&] { return committed_ > position; });
    return committed_;
  }
  for (;;) {
    auto now_last = last();
    if (!now_last || *now_last > position) return now_last;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return now_last;
    std::this_thread::sleep_for(std::min(poll_interval, left));
  }
}

Result<std::vector<DomainTail>> SqliteLog::domains() const {
  const std::lock_guard lock(reading_);
  return reader_.domains();
}

Result<std::vector<QuarantinedRecord>> SqliteLog::quarantined() const {
  const std::lock_guard lock(reading_);
  return reader_.quarantined();
}

Result<std::vector<SnapshotMeta>> SqliteLog::snapshots() const {
  const std::lock_guard lock(reading_);
  return reader_.snapshots();
}

Result<std::vector<evidence::Checkpoint>> SqliteLog::checkpoints() const {
  const std::lock_guard lock(reading_);
  return reader_.checkpoints();
}

Result<std::vector<UnreadableCheckpoint>> SqliteLog::unreadable_checkpoints() const {
  const std::lock_guard lock(reading_);
  return reader_.unreadable_checkpoints();
}

Result<std::optional<DomainsAt>> SqliteLog::checkpoint_standing() const {
  const auto list = checkpoints();
  if (!list) return tl::unexpected(list.error());
  if (list->empty()) return std::optional<DomainsAt>();
  return std::optional(DomainsAt{list->back().position, {}, {}});
}

Result<StoredSnapshot> SqliteLog::snapshot(Position position, std::string_view domain) const {
  return reader_.snapshot(position, domain, reading_, on_part_);
}

}  // namespace hindsight::events
