#include "events/sqlite/writer.hpp"

#include <algorithm>
#include <utility>

#include "events/checksum.hpp"
#include "events/sqlite/checkpoint_table.hpp"
#include "events/sqlite/cut.hpp"
#include "events/sqlite/layout.hpp"
#include "events/sqlite/quarantine_table.hpp"

namespace hindsight::events::sqlite {
namespace {

const char* synchronous(Durability durability) {
  switch (durability) {
    case Durability::fsync:
      return "PRAGMA synchronous = FULL";
    case Durability::normal:
      return "PRAGMA synchronous = NORMAL";
    case Durability::off:
      return "PRAGMA synchronous = OFF";
  }
  return "";
}

}  // namespace

Result<Writer> Writer::open(const std::string& path, Durability durability, std::uint64_t limit) {
  auto database = Database::open(path, Database::Mode::read_write);
  if (!database) return fail(database.error().kind, "log " + path + ": " + database.error().message);
  if (auto layout = create_layout(*database, path); !layout) return tl::unexpected(layout.error());
  Writer writer(path, std::move(*database), durability, limit);
  if (auto ready = writer.prepare(); !ready) return tl::unexpected(ready.error());
  if (auto loaded = writer.load(); !loaded) return tl::unexpected(loaded.error());
  return writer;
}

Result<void> Writer::prepare() {
  // Copies that SQLite has made are not in this mode.
  const auto mode = database_.query_text("PRAGMA journal_mode = WAL");
  if (!mode) return failure(mode.error());
  if (*mode != "wal") return fail(ErrorKind::io, "log " + path_ + ": its file system cannot hold a write-ahead log; use a local disk");
  // A longer write-ahead log means fewer checkpoints, each of which costs two more fsyncs; 4,000 pages are 16 MiB. What is removed, parts
  // of snapshots, is no secret: the records say the same, and pages that need not be overwritten make it five times as fast.
  for (const char* pragma : {synchronous(durability_), "PRAGMA wal_autocheckpoint = 4000", "PRAGMA journal_size_limit = 67108864",
                             "PRAGMA secure_delete = OFF", "PRAGMA cell_size_check = ON"}) {
    if (auto done = database_.execute(pragma); !done) return failure(done.error());
  }
  const std::pair<Statement*, const char*> statements[] = {
      {&begin_, "BEGIN IMMEDIATE"},
      {&commit_, "COMMIT"},
      {&insert_, "INSERT INTO records VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"},
      {&insert_domain_, "INSERT INTO domains (name, last_sequence, last_epoch, last_offset) VALUES (?1, 0, 0, 0)"},
      {&update_domain_, "UPDATE domains SET last_sequence = ?2, last_epoch = ?3, last_offset = ?4 WHERE id = ?1"},
      {&insert_mark_, "INSERT INTO time_marks VALUES (?1, ?2)"},
      {&first_, "SELECT min(offset) FROM records"},
      {&remove_, "DELETE FROM records WHERE offset >= ?1 AND offset <= ?2"},
  };
  for (const auto& [statement, sql] : statements) {
    auto prepared = database_.prepare(sql);
    if (!prepared) return failure(prepared.error());
    *statement = std::move(*prepared);
  }
  return {};
}

Result<void> Writer::load() {
  const auto last = database_.query_integer("SELECT max(offset) FROM records");
  if (!last) return failure(last.error());
  const auto cut = read_cut(database_);
  if (!cut) return failure(cut.error());
  cut_ = *cut ? (*cut)->position : 0;
  last_ = std::max(static_cast<Position>(*last), cut_);

  auto domains = database_.prepare("SELECT id, name, last_sequence, last_epoch, last_offset FROM domains");
  if (!domains) return failure(domains.error());
  Position known = 0;
  for (;;) {
    const auto row = domains->step();
    if (!row) return failure(row.error());
    if (!*row) break;
    const std::string name(domains->text(1));
    ids_.emplace(name, domains->integer(0));
    tails_.set({name, domains->number(2), domains->number(3), domains->number(4)});
    known = std::max(known, domains->number(4));
  }
  // Behind a cut there may be nothing yet; whatever is there is some domain's last record.
  if (known > last_ || (known < last_ && last_ > cut_)) {
    return fail(ErrorKind::corrupt, "log " + path_ + ": its last record is " + std::to_string(last_) + ", but its domains end at " +
                                        std::to_string(known) + "; check it before it is written again");
  }

  // The latest time: that of the last mark, and of the records behind it.
  auto latest = database_.prepare(
      "SELECT max(t) FROM (SELECT max(time_us) AS t FROM time_marks UNION ALL "
      "SELECT max(time_us) FROM records WHERE offset > (SELECT coalesce(max(offset), 0) FROM time_marks))");
  if (!latest) return failure(latest.error());
  const auto row = latest->step();
  if (!row) return failure(row.error());
  latest_ = last_ == 0 ? Time::never() : Time{latest->integer(0)};
  return {};
}

tl::unexpected<Error> Writer::failure(const Error& error) const { return fail(error.kind, "log " + path_ + ": " + error.message); }

// ---- records --------------------------------------------------------------------------------------------------------------

void Writer::append(std::span<Request> group) {
  const Position last = last_;
  const Time latest = latest_;
  const auto written = broken_ ? Result<void>(tl::unexpected(*broken_)) : write_group(group);
  if (written) {
    tails_.keep();
    new_domains_.clear();
    return;
  }
  note(written.error());
  database_.roll_back();
  last_ = last;
  latest_ = latest;
  tails_.back_to(0);
  for (const auto& domain : std::exchange(new_domains_, {})) ids_.erase(domain);
  for (Request& request : group) request.outcome = failure(written.error());
}

void Writer::note(const Error& error) {
  if (broken_ || error.kind != ErrorKind::io) return;
  broken_ = Error{ErrorKind::io, "it failed while writing and has to be opened again: " + error.message};
}

Result<void> Writer::write_group(std::span<Request> group) {
  if (auto room = room_.check(database_); !room) return room;
  if (auto begun = begin_.run(); !begun) return begun;
  for (Request& request : group) {
    const Position before = last_;
    const std::size_t mark = tails_.mark();
    if (auto admitted = admit(request); !admitted) {
      tails_.back_to(mark);
      request.outcome = failure(admitted.error());
      continue;
    }
    for (const EncodedRecord& record : request.records) {
      if (auto inserted = insert(record); !inserted) return inserted;
    }
    request.outcome = before + request.records.size();
  }
  if (auto tails = write_tails(); !tails) return tails;
  return commit_.run();
}

Result<void> Writer::admit(const Request& request) {
  if (request.expected && *request.expected != last_) {
    return fail(ErrorKind::conflict,
                "its last record is " + std::to_string(last_) + ", the writer expected " + std::to_string(*request.expected));
  }
  Position offset = last_;
  for (const EncodedRecord& record : request.records) {
    if (auto next = tails_.advance(record, ++offset); !next) return next;
  }
  return {};
}

Result<void> Writer::insert(const EncodedRecord& record) {
  const auto id = domain_id(record.domain);
  if (!id) return tl::unexpected(id.error());
  const Position offset = last_ + 1;
  StoredRecord stored;
  static_cast<EncodedRecord&>(stored) = record;
  stored.offset = offset;
  insert_.bind(1, offset)
      .bind(2, *id)
      .bind(3, record.sequence)
      .bind(4, record.epoch)
      .bind(5, record.time.micros)
      .bind(6, checksum(stored))
      .bind(7, record.bytes);
  if (auto inserted = insert_.run(); !inserted) return inserted;
  if (const auto said = quarantine_in(record)) {
    if (auto added = add_quarantined(database_, *said); !added) return added;
  }
  last_ = offset;
  latest_ = std::max(latest_, record.time);
  if (offset % time_mark_interval != 0) return {};
  return insert_mark_.bind(1, offset).bind(2, latest_.micros).run();
}

Result<std::int64_t> Writer::domain_id(std::string_view domain) {
  std::string name(domain);
  if (const auto it = ids_.find(name); it != ids_.end()) return it->second;
  if (auto inserted = insert_domain_.bind(1, domain).run(); !inserted) return tl::unexpected(inserted.error());
  const std::int64_t id = database_.last_insert_id();
  ids_.emplace(name, id);
  new_domains_.push_back(std::move(name));
  return id;
}

Result<void> Writer::write_tails() {
  for (const DomainTail* tail : tails_.changed()) {
    const auto id = domain_id(tail->domain);
    if (!id) return tl::unexpected(id.error());
    if (auto updated = update_domain_.bind(1, *id).bind(2, tail->sequence).bind(3, tail->epoch).bind(4, tail->offset).run(); !updated) {
      return updated;
    }
  }
  return {};
}

// ---- cuts -----------------------------------------------------------------------------------------------------------------

Result<void> Writer::cut(const DomainsAt& cut) {
  if (cut.position <= cut_ || cut.position > last_ || cut.tails.empty())
    return fail(ErrorKind::invalid, "log " + path_ + ": cannot be cut behind record " + std::to_string(cut.position) + " with " +
                                        std::to_string(cut.tails.size()) + " domains; allowed: from record " + std::to_string(cut_ + 1) +
                                        " to " + std::to_string(last_) + ", and the domains that have begun by then");
  if (auto done = in_transaction([&] { return write_cut(database_, cut); }); !done) return done;
  cut_ = cut.position;
  return {};
}

Result<bool> Writer::remove_before_cut() {
  constexpr Position records_at_once = 500;
  if (cut_ == 0) return false;
  Position first = 0;
  {
    const ResetAtEnd reset(first_);
    const auto row = first_.step();
    if (!row) return failure(row.error());
    first = first_.number(0);
  }
  if (first == 0 || first > cut_) return false;
  const Position last = std::min(cut_, first + records_at_once - 1);
  if (auto removed = run_alone(remove_.bind(1, first).bind(2, last), Sync::with_the_next); !removed) return tl::unexpected(removed.error());
  return true;
}

Result<bool> Writer::give_back() {
  constexpr std::uint64_t pages_at_once = 64, kept_min = std::uint64_t{4} << 20, kept_part = 8, incremental = 2;
  std::uint64_t kind = 0, page = 0, pages = 0, unused = 0;
  const std::pair<const char*, std::uint64_t*> figures[] = {
      {"PRAGMA auto_vacuum", &kind}, {"PRAGMA page_size", &page}, {"PRAGMA page_count", &pages}, {"PRAGMA freelist_count", &unused}};
  for (const auto& [sql, out] : figures) {
    const auto found = database_.query_integer(sql);
    if (!found) return failure(found.error());
    *out = static_cast<std::uint64_t>(std::max<std::int64_t>(*found, 0));
  }
  if (kind != incremental || page == 0) return false;
  const std::uint64_t kept = std::max(kept_min / page, (pages - std::min(pages, unused)) / kept_part);
  if (unused <= kept) return false;
  const std::string sql = "PRAGMA incremental_vacuum(" + std::to_string(std::min(pages_at_once, unused - kept)) + ")";
  auto statement = database_.prepare(sql.c_str());
  if (!statement) return failure(statement.error());
  if (auto done = run_alone(*statement, Sync::with_the_next); !done) return tl::unexpected(done.error());
  return true;
}

Result<void> Writer::begin_behind(const DomainsAt& cut, std::span<const QuarantinedRecord> quarantined) {
  if (last_ != 0 || !tails_.list().empty())
    return fail(ErrorKind::conflict, "log " + path_ + ": holds records up to " + std::to_string(last_) + "; allowed: an empty log");
  if (cut.position == 0 || cut.tails.empty())
    return fail(ErrorKind::invalid, "log " + path_ + ": cannot begin behind record " + std::to_string(cut.position) + " with " +
                                        std::to_string(cut.tails.size()) +
                                        " domains; allowed: a record, and the domains that had begun by it");
  const auto work = [&]() -> Result<void> {
    if (auto done = write_cut(database_, cut); !done) return done;
    for (const auto& record : quarantined)
      if (auto done = add_quarantined(database_, record); !done) return done;
    return write_domains(database_, cut);
  };
  if (auto done = in_transaction(work); !done) return done;
  return load();
}

Result<void> Writer::in_transaction(const std::function<Result<void>()>& work) {
  if (broken_) return failure(*broken_);
  auto done = begin_.run();
  if (done) done = work();
  if (done) done = commit_.run();
  if (done) return {};
  note(done.error());
  database_.roll_back();
  return failure(done.error());
}

Result<void> Writer::put_checkpoint(const evidence::Checkpoint& checkpoint) {
  if (checkpoint.position > last_)
    return fail(ErrorKind::invalid, "log " + path_ + ": checkpoint at position " + std::to_string(checkpoint.position) +
                                        ", but the last record is " + std::to_string(last_));
  if (auto good = evidence::check_form(checkpoint); !good) return failure(good.error());
  const auto there = has_checkpoint_table(database_);
  if (!there) return failure(there.error());
  if (!*there)
    if (auto made = in_transaction([&] { return make_checkpoint_table(database_); }); !made) return made;
  auto insert = put_checkpoint_row(database_, checkpoint);
  if (!insert) return failure(insert.error());
  // No append waits for a sync of it: one that power is lost over is computed again.
  return run_alone(*insert, Sync::with_the_next);
}

Result<void> Writer::drop_checkpoint(Position position) {
  const auto there = has_checkpoint_table(database_);
  if (!there) return failure(there.error());
  if (!*there) return {};
  auto remove = drop_checkpoint_row(database_, position);
  if (!remove) return failure(remove.error());
  return run_alone(*remove, Sync::with_the_next);
}

// ---- what stands beside the records ---------------------------------------------------------------------------------------

Result<void> Writer::usable() const {
  if (broken_) return failure(*broken_);
  return {};
}

Result<void> Writer::run_alone(Statement& statement, Sync sync) {
  if (broken_) return failure(*broken_);
  const bool relaxed = sync == Sync::with_the_next && durability_ == Durability::fsync;
  if (relaxed) {
    if (auto set = database_.execute(synchronous(Durability::normal)); !set) return failure(set.error());
  }
  const auto done = statement.run();
  if (!done) note(done.error());
  if (relaxed) {
    // Without it the appends that follow would be answered too early.
    if (auto set = database_.execute(synchronous(durability_)); !set && !broken_) {
      broken_ = Error{ErrorKind::io, "it cannot be synced any more and has to be opened again: " + set.error().message};
    }
  }
  if (!done) return failure(done.error());
  return {};
}

}  // namespace hindsight::events::sqlite
