#include "events/sqlite/snapshot_store.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "events/checksum.hpp"

namespace hindsight::events::sqlite {
namespace {

/// A part takes the writer for about half a millisecond, of which an append may have to wait for one; half as much would double
/// what each part costs beside its bytes (its transaction, its row), and an append would not notice.
constexpr std::size_t part_bytes = std::size_t{256} << 10;

/// After so many bytes the store has the disk take what it wrote, before it writes more. Parts are not synced one by one, so the next
/// append that is synced has to wait until the disk has these bytes as well: a millisecond or two, hardly more than it takes anyway.
constexpr std::size_t checkpoint_bytes = 2 * part_bytes;

/// What the removal of a part writes: a few pages of lists, for its own pages are only set free.
constexpr std::size_t removal_bytes = std::size_t{32} << 10;

}  // namespace

// ---- opening --------------------------------------------------------------------------------------------------------------

Result<std::unique_ptr<SnapshotStore>> SnapshotStore::open(const std::string& path, Writer& writer, Turns& turns) {
  std::unique_ptr<SnapshotStore> store(new SnapshotStore(path, writer, turns));
  if (auto ready = store->prepare(); !ready) return tl::unexpected(ready.error());
  for (const std::int64_t format : {1, 2}) {
    if (auto taken = store->take_over({set_aside(format), format}); !taken) return tl::unexpected(taken.error());
  }
  // On a full disk they stay until there is room.
  if (auto removed = store->remove_unclaimed(); !removed && removed.error().kind != ErrorKind::unavailable)
    return tl::unexpected(removed.error());
  return store;
}

Result<void> SnapshotStore::prepare() {
  auto beside = Database::open(path_, Database::Mode::read_write);
  if (!beside) return failure(beside.error());
  beside_ = std::move(*beside);
  const bool syncs = writer_.durability() != Durability::off;
  if (auto done = beside_.execute(syncs ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = OFF"); !done) return failure(done.error());
  // A connection that has read nothing yet does not know of the write-ahead log, and would find nothing to do.
  if (auto read = beside_.query_integer("PRAGMA user_version"); !read) return failure(read.error());

  const std::pair<Statement*, const char*> statements[] = {
      {&put_part_, "INSERT INTO snapshot_parts (body) VALUES (?1)"},
      {&put_row_,
       "INSERT OR REPLACE INTO snapshots "
       "(position, domain, epoch, time_us, schema_version, state_hash, release, checksum, first_part, parts) "
       "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"},
      {&drop_row_, "DELETE FROM snapshots WHERE position = ?1 AND domain = ?2"},
      {&claimed_, "SELECT first_part, parts FROM snapshots WHERE parts > 0 ORDER BY first_part"},
      {&next_part_, "SELECT id FROM snapshot_parts WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT 1"},
      {&remove_part_, "DELETE FROM snapshot_parts WHERE id = ?1"},
  };
  for (const auto& [statement, sql] : statements) {
    auto prepared = writer_.database().prepare(sql);
    if (!prepared) return failure(prepared.error());
    *statement = std::move(*prepared);
  }
  return {};
}

tl::unexpected<Error> SnapshotStore::failure(const Error& error) const { return fail(error.kind, "log " + path_ + ": " + error.message); }

/// Moves the newest good snapshot of each domain into parts; the others only save time, and moving them would take time now.
/// Everything is in its old place until the old table goes, so a process that dies in between leaves the work to the next one.
Result<void> SnapshotStore::take_over(const SnapshotTable& old) {
  Database& database = writer_.database();
  const auto there = database.query_integer(("SELECT count(*) FROM sqlite_schema WHERE name = '" + old.name + "'").c_str());
  if (!there) return failure(there.error());
  if (*there == 0) return {};
  const auto list = list_snapshots(database, old);
  if (!list && list.error().kind != ErrorKind::corrupt) return failure(list.error());
  std::set<std::string> taken;
  for (const auto& meta : list.value_or(std::vector<SnapshotMeta>{})) {
    if (taken.contains(meta.domain)) continue;
    const auto found = find_snapshot(database, old, meta.position, meta.domain);
    if (!found && found.error().kind != ErrorKind::corrupt) return failure(found.error());
    if (!found || !*found || checksum(meta, (*found)->body) != (*found)->checksum) continue;  // damaged: an older one may be good
    if (auto written = write(meta, (*found)->body, {}); !written) return written;
    taken.insert(meta.domain);
  }
  auto remove = database.prepare(("DROP TABLE " + old.name).c_str());
  if (!remove) return failure(remove.error());
  // A table with damaged pages cannot be removed. It is in nobody's way.
  auto removed = writer_.run_alone(*remove, Writer::Sync::as_appends);
  if (!removed && removed.error().kind != ErrorKind::corrupt) return removed;
  return {};
}

// ---- putting and dropping -------------------------------------------------------------------------------------------------

Result<void> SnapshotStore::put(const SnapshotMeta& meta, std::span<const std::byte> bytes, const std::function<void()>& between) {
  const std::lock_guard alone(alone_);
  if (auto admitted = admit(meta.position); !admitted) return admitted;
  checkpoint();  // what appends have gathered in the write-ahead log since the last one
  if (auto removed = remove_unclaimed(); !removed) return removed;
  auto written = write(meta, bytes, between);
  // Of the snapshot that was replaced, or of this one when it failed. What cannot be removed now goes with the next one.
  std::ignore = remove_unclaimed();
  return written;
}

Result<void> SnapshotStore::drop(Position position, std::string_view domain) {
  const std::lock_guard alone(alone_);
  {
    const std::lock_guard turn(turns_);
    if (auto done = writer_.run_alone(drop_row_.bind(1, position).bind(2, domain), Writer::Sync::as_appends); !done) return done;
  }
  std::ignore = remove_unclaimed();
  return {};
}

Result<void> SnapshotStore::in_steps(const std::function<Result<bool>()>& step, std::size_t bytes) {
  const std::lock_guard alone(alone_);
  for (;;) {
    {
      const std::lock_guard turn(turns_);
      const auto more = step();
      if (!more) return tl::unexpected(more.error());
      if (!*more) break;
    }
    checkpoint_after(bytes);
  }
  checkpoint();
  return {};
}

Result<void> SnapshotStore::admit(Position position) {
  const std::lock_guard turn(turns_);
  if (auto usable = writer_.usable(); !usable) return usable;
  if (position > writer_.last()) {
    return fail(ErrorKind::invalid, "log " + path_ + ": snapshot at position " + std::to_string(position) + ", but the last record is " +
                                        std::to_string(writer_.last()));
  }
  return {};
}

/// Until the row is there an older snapshot at the same place keeps its own row and parts; with the row it is replaced at once.
Result<void> SnapshotStore::write(const SnapshotMeta& meta, std::span<const std::byte> bytes, const std::function<void()>& between) {
  const std::uint64_t sum = checksum(meta, bytes);
  std::uint64_t first = 0;
  std::uint64_t parts = 0;
  for (std::size_t at = 0; at < bytes.size(); at += part_bytes) {
    if (at > 0 && between) between();
    const auto part = bytes.subspan(at, std::min(part_bytes, bytes.size() - at));
    const auto id = write_part(part);
    if (!id) return tl::unexpected(id.error());
    if (parts == 0) first = *id;
    if (*id != first + parts) return fail(ErrorKind::conflict, "log " + path_ + ": somebody else writes parts of snapshots into it");
    ++parts;
    checkpoint_after(part.size());
  }
  const std::lock_guard turn(turns_);
  put_row_.bind(1, meta.position)
      .bind(2, std::string_view(meta.domain))
      .bind(3, meta.epoch)
      .bind(4, meta.time.micros)
      .bind(5, static_cast<std::int64_t>(meta.schema_version))
      .bind(6, meta.state_hash)
      .bind(7, std::string_view(meta.release))
      .bind(8, sum)
      .bind(9, first)
      .bind(10, parts);
  return writer_.run_alone(put_row_, Writer::Sync::as_appends);
}

Result<std::uint64_t> SnapshotStore::write_part(std::span<const std::byte> bytes) {
  const std::lock_guard turn(turns_);
  if (auto done = writer_.run_alone(put_part_.bind(1, bytes), Writer::Sync::with_the_next); !done) return tl::unexpected(done.error());
  return static_cast<std::uint64_t>(writer_.database().last_insert_id());
}

// ---- parts that no row claims ---------------------------------------------------------------------------------------------

/// What cannot be removed because it is damaged stays: it is in nobody's way, and `log check` tells of the damage.
Result<void> SnapshotStore::remove_unclaimed() {
  const auto gaps = unclaimed();
  if (!gaps && gaps.error().kind != ErrorKind::corrupt) return tl::unexpected(gaps.error());
  for (const Range& gap : gaps.value_or(std::vector<Range>{})) {
    if (auto removed = remove_within(gap); !removed && removed.error().kind != ErrorKind::corrupt) return removed;
  }
  return {};
}

/// Where no row claims parts; nearly always there are none.
Result<std::vector<SnapshotStore::Range>> SnapshotStore::unclaimed() {
  const std::lock_guard turn(turns_);
  const ResetAtEnd reset(claimed_);
  std::vector<Range> out;
  std::uint64_t from = 0;
  for (;;) {
    const auto row = claimed_.step();
    if (!row) return failure(row.error());
    if (!*row) break;
    const std::uint64_t first = claimed_.number(0);
    if (first > from) out.emplace_back(from, first);
    from = std::max(from, first + claimed_.number(1));
  }
  out.emplace_back(from, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  return out;
}

Result<void> SnapshotStore::remove_within(const Range& gap) {
  for (std::uint64_t from = gap.first;;) {
    {
      const std::lock_guard turn(turns_);
      {
        const ResetAtEnd reset(next_part_);
        const auto found = next_part_.bind(1, from).bind(2, gap.second).step();
        if (!found) return failure(found.error());
        if (!*found) return {};
        from = next_part_.number(0) + 1;
      }
      const auto removed = writer_.run_alone(remove_part_.bind(1, from - 1), Writer::Sync::with_the_next);
      if (!removed && removed.error().kind != ErrorKind::corrupt) return removed;
    }
    checkpoint_after(removal_bytes);
  }
}

// ---- checkpoints ----------------------------------------------------------------------------------------------------------

/// The writer checkpoints by itself when a commit makes the write-ahead log longer than 16 MiB. If that were the store's bytes, an append
/// would wait until all of them have been copied into the file. So the store has them copied as it goes, over a connection of
/// its own and without a turn: a passive checkpoint does not keep the writer from writing. What is left for a checkpoint of the
/// writer's, when readers or appends without a pause keep the write-ahead log from beginning anew, is what came since: half a megabyte.
void SnapshotStore::checkpoint() {
  since_checkpoint_ = 0;
  // It may fail (another one is under way, the disk is full): nothing is lost by that, and the next one does its work too.
  std::ignore = beside_.execute("PRAGMA wal_checkpoint(PASSIVE)");
}

void SnapshotStore::checkpoint_after(std::size_t bytes) {
  since_checkpoint_ += bytes;
  if (since_checkpoint_ >= checkpoint_bytes) checkpoint();
}

}  // namespace hindsight::events::sqlite
