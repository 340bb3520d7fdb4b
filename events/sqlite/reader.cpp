#include "events/sqlite/reader.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <utility>

#include "events/checksum.hpp"
#include "events/sqlite/checkpoint_table.hpp"
#include "events/sqlite/cut.hpp"
#include "events/sqlite/layout.hpp"
#include "events/sqlite/quarantine_table.hpp"

namespace hindsight::events::sqlite {
namespace {

namespace fs = std::filesystem;

bool can_write_beside(const fs::path& path) {
  const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  return ::access(folder.c_str(), W_OK) == 0;
}

bool has_unfinished_tail(const fs::path& path) {
  std::error_code ignored;
  const auto size = fs::file_size(path.string() + "-wal", ignored);
  return !ignored && size > 0;
}

}  // namespace

Result<Reader> Reader::open(const std::string& path) {
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  if (!fs::exists(status)) return fail(ErrorKind::not_found, "log " + path + ": no such file");
  // To open a pipe would wait for somebody at its other end.
  if (!fs::is_regular_file(status)) return fail(ErrorKind::invalid, "log " + path + ": is no regular file; allowed: one");
  const auto attempt = [&](Database::Mode mode) -> Result<Reader> {
    auto database = Database::open(path, mode);
    if (!database) return fail(database.error().kind, "log " + path + ": " + database.error().message);
    Reader reader(path, std::move(*database));
    if (auto ready = reader.prepare(); !ready) return tl::unexpected(ready.error());
    return reader;
  };
  auto reader = attempt(Database::Mode::read_only);
  if (reader || can_write_beside(path)) return reader;
  // SQLite wants to keep an index beside a log in WAL mode. Where nothing can be written nobody writes, so it may do without.
  if (reader.error().kind != ErrorKind::io && reader.error().kind != ErrorKind::denied) return reader;
  if (has_unfinished_tail(path)) {
    return fail(ErrorKind::io, "log " + path + ": its folder is read-only, and " + path +
                                   "-wal holds records that are not yet in the file; copy both to a folder that can be written");
  }
  return attempt(Database::Mode::immutable);
}

Result<void> Reader::prepare() {
  // writable_schema lets SQLite open a file that was cut short; nothing is ever written here. cell_size_check finds more damage.
  for (const char* pragma : {"PRAGMA writable_schema = ON", "PRAGMA cell_size_check = ON"}) {
    if (auto done = database_.execute(pragma); !done) return failure(done.error());
  }
  if (auto layout = check_layout(database_, path_); !layout) return layout;
  if (auto cut = trimmed(); !cut && cut.error().kind != ErrorKind::corrupt) return tl::unexpected(cut.error());
  const std::pair<Statement*, const char*> statements[] = {
      {&records_,
       "SELECT offset, domain, sequence, epoch, time_us, checksum, body FROM records WHERE offset >= ?1 ORDER BY offset LIMIT ?2"},
      {&last_, "SELECT max(offset) FROM records"},
      {&mark_before_, "SELECT offset FROM time_marks WHERE time_us < ?1 ORDER BY offset DESC LIMIT 1"},
      {&at_or_after_, "SELECT offset FROM records WHERE offset > ?1 AND time_us >= ?2 ORDER BY offset LIMIT 1"},
      {&domains_, "SELECT id, name, last_sequence, last_epoch, last_offset FROM domains"},
  };
  for (const auto& [statement, sql] : statements) {
    auto prepared = database_.prepare(sql);
    if (!prepared && prepared.error().message.starts_with("no such "))
      return fail(ErrorKind::corrupt, "log " + path_ + ": a part of the file is missing or damaged: " + prepared.error().message);
    if (!prepared) return failure(prepared.error());
    *statement = std::move(*prepared);
  }
  return {};
}

tl::unexpected<Error> Reader::failure(const Error& error) const { return fail(error.kind, "log " + path_ + ": " + error.message); }

tl::unexpected<Error> Reader::damaged(Position offset, const std::string& why) const {
  return fail(ErrorKind::corrupt, "log " + path_ + ": record " + std::to_string(offset) + " is damaged: " + why);
}

// ---- records --------------------------------------------------------------------------------------------------------------

Result<void> Reader::read(Position from, const ReadLimits& limits, RecordBatch& out) {
  const Position next = std::max<Position>(from, 1);
  if (next <= cut_) {
    out.clear();
    return not_kept(next);
  }
  auto rows = read_rows(next, limits, out);
  if (rows && !out.empty()) return rows;
  if (auto kept = still_kept(next); !kept) return kept;
  if (!rows) return rows;
  // Nothing there: the end of the log, unless a domain is known to go further. The writer may just have added something, so
  // look once more before calling it damage.
  const auto known = last_of_domains();
  if (!known || *known < next) return {};
  if (rows = read_rows(next, limits, out); !rows || !out.empty()) return rows;
  return damaged(next, "it is missing");
}

tl::unexpected<Error> Reader::not_kept(Position position) const {
  return fail(ErrorKind::not_found, "log " + path_ + ": record " + std::to_string(position) +
                                        " is not kept any more; the first that is kept is " + std::to_string(cut_ + 1));
}

/// What is missing may have been trimmed since the last look; a damaged note of that says nothing.
Result<void> Reader::still_kept(Position position) {
  if (auto cut = trimmed(); !cut && cut.error().kind != ErrorKind::corrupt) return tl::unexpected(cut.error());
  if (position <= cut_) return not_kept(position);
  return {};
}

Result<std::optional<DomainsAt>> Reader::trimmed() {
  auto cut = read_cut(database_);
  if (!cut) return failure(cut.error());
  if (*cut) cut_ = (*cut)->position;
  return cut;
}

Result<void> Reader::read_rows(Position next, const ReadLimits& limits, RecordBatch& out) {
  out.clear();
  const ResetAtEnd reset(records_);
  records_.bind(1, next).bind(2, std::max<std::uint64_t>(limits.records, 1));
  while (out.size() < limits.records) {
    const auto row = records_.step();
    Result<void> taken;
    if (!row) {
      taken = row.error().kind == ErrorKind::corrupt ? damaged(next, row.error().message) : failure(row.error());
    } else if (!*row || (!out.empty() && out.bytes() + records_.bytes(6).size() > limits.bytes)) {
      return {};
    } else {
      taken = take_row(next, out);
    }
    if (!taken && out.empty()) return taken;
    if (!taken) return {};  // the good ones first; the next call meets the damage
    ++next;
  }
  return {};
}

Result<void> Reader::take_row(Position expected, RecordBatch& out) {
  StoredRecord record;
  record.offset = records_.number(0);
  if (record.offset != expected) return damaged(expected, "it is missing; the next one is " + std::to_string(record.offset));
  const auto name = domain_name(records_.integer(1));
  if (!name) return damaged(expected, name.error().message);
  record.domain = **name;
  record.sequence = records_.number(2);
  record.epoch = records_.number(3);
  record.time = Time{records_.integer(4)};
  record.bytes = records_.bytes(6);
  if (checksum(record) != records_.number(5)) return damaged(expected, "its checksum does not match");
  out.add(record, record.offset);
  return {};
}

Result<const std::string*> Reader::domain_name(std::int64_t id) {
  if (const auto it = domain_names_.find(id); it != domain_names_.end()) return &it->second;
  const ResetAtEnd reset(domains_);
  for (;;) {
    const auto row = domains_.step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) break;
    domain_names_.insert_or_assign(domains_.integer(0), std::string(domains_.text(1)));
  }
  if (const auto it = domain_names_.find(id); it != domain_names_.end()) return &it->second;
  return fail(ErrorKind::corrupt, "its domain " + std::to_string(id) + " is not in the table of domains");
}

Result<Position> Reader::last_of_domains() {
  const auto tails = domains();
  if (!tails) return tl::unexpected(tails.error());
  Position out = 0;
  for (const auto& tail : *tails) out = std::max(out, tail.offset);
  return out;
}

Result<Position> Reader::last() {
  const ResetAtEnd reset(last_);
  const auto row = last_.step();
  if (row) {
    const Position last = *row ? last_.number(0) : 0;
    if (last != 0) return last;
    if (auto cut = trimmed(); !cut) return tl::unexpected(cut.error());
    // A file that was cut inside its last page reads as zeros from there on: SQLite then takes 0 for the last offset.
    const auto known = last_of_domains();
    if (!known) return tl::unexpected(known.error());
    return std::max(cut_, *known);
  }
  if (row.error().kind != ErrorKind::corrupt) return failure(row.error());
  return last_of_domains();  // the end of the table is damaged; what stands before it can still be read
}

Result<Position> Reader::seek(Time time) {
  const ResetAtEnd reset_mark(mark_before_);
  const auto mark = mark_before_.bind(1, time.micros).step();
  if (!mark) return failure(mark.error());
  const Position before = *mark ? mark_before_.number(0) : 0;
  const ResetAtEnd reset(at_or_after_);
  const auto row = at_or_after_.bind(1, before).bind(2, time.micros).step();
  if (!row) return failure(row.error());
  if (*row) return at_or_after_.number(0);
  const auto end = last();
  if (!end) return tl::unexpected(end.error());
  return *end + 1;
}

Result<std::vector<DomainTail>> Reader::domains() {
  const ResetAtEnd reset(domains_);
  std::vector<DomainTail> out;
  for (;;) {
    const auto row = domains_.step();
    if (!row) return failure(row.error());
    if (!*row) break;
    out.push_back({std::string(domains_.text(1)), domains_.number(2), domains_.number(3), domains_.number(4)});
  }
  std::sort(out.begin(), out.end(), [](const DomainTail& a, const DomainTail& b) { return a.domain < b.domain; });
  return out;
}

Result<std::vector<QuarantinedRecord>> Reader::quarantined() {
  auto list = read_quarantined(database_);
  if (!list) return failure(list.error());
  return list;
}

// ---- snapshots ------------------------------------------------------------------------------------------------------------

tl::unexpected<Error> Reader::no_snapshot(Position position) const {
  return fail(ErrorKind::not_found, "log " + path_ + ": no snapshot at position " + std::to_string(position));
}

tl::unexpected<Error> Reader::damaged_snapshot(Position position, const std::string& why) const {
  return fail(ErrorKind::corrupt, "log " + path_ + ": snapshot at position " + std::to_string(position) + " is damaged: " + why);
}

Result<SnapshotTable> Reader::snapshot_table() {
  const auto version = database_.query_integer("PRAGMA user_version");
  if (!version) return failure(version.error());
  return SnapshotTable{.format = *version};
}

Result<std::vector<SnapshotMeta>> Reader::snapshots() {
  const ReadTransaction view(database_);
  if (!view.begun()) return failure(view.begun().error());
  const auto table = snapshot_table();
  if (!table) return tl::unexpected(table.error());
  auto list = list_snapshots(database_, *table);
  if (!list) return failure(list.error());
  return list;
}

Result<std::vector<evidence::Checkpoint>> Reader::checkpoints() {
  auto list = read_checkpoints(database_);
  if (!list) return failure(list.error());
  return list;
}

Result<std::vector<UnreadableCheckpoint>> Reader::unreadable_checkpoints() {
  auto list = sqlite::unreadable_checkpoints(database_);
  if (!list) return failure(list.error());
  return list;
}

Result<std::optional<SnapshotRow>> Reader::snapshot_row(Position position, std::string_view domain) {
  const ReadTransaction view(database_);
  if (!view.begun()) return failure(view.begun().error());
  const auto table = snapshot_table();
  if (!table) return tl::unexpected(table.error());
  auto row = find_snapshot(database_, *table, position, domain);
  if (!row) return failure(row.error());
  return row;
}

Result<StoredSnapshot> Reader::snapshot(Position position, std::string_view domain, Turns& turns, const std::function<void()>& between) {
  const auto look_up = [&] {
    const std::lock_guard turn(turns);
    return snapshot_row(position, domain);
  };
  auto row = look_up();
  if (!row) return tl::unexpected(row.error());
  if (!*row) return no_snapshot(position);
  SnapshotRow& found = **row;

  std::vector<std::vector<std::byte>> parts;
  std::size_t size = found.body.size();
  for (std::uint64_t i = 0; i < found.parts; ++i) {
    if (i > 0 && between) between();
    auto part = [&] {
      const std::lock_guard turn(turns);
      return snapshot_part(database_, found.first_part + i);
    }();
    const std::string which = "part " + std::to_string(i + 1) + " of " + std::to_string(found.parts);
    if (!part) {
      if (part.error().kind == ErrorKind::corrupt) return damaged_snapshot(position, which + ": " + part.error().message);
      return failure(part.error());
    }
    if (!*part) {
      // A row goes before its parts, and numbers of parts are not given again: with the row still there the part is lost.
      const auto now = look_up();
      if (!now) return tl::unexpected(now.error());
      if (!*now || (*now)->first_part != found.first_part) return no_snapshot(position);
      return damaged_snapshot(position, which + " is missing");
    }
    size += (*part)->size();
    parts.push_back(std::move(**part));
  }

  StoredSnapshot out{std::move(found.meta), std::move(found.body)};
  out.bytes.reserve(size);
  for (auto& part : parts) {
    out.bytes.insert(out.bytes.end(), part.begin(), part.end());
    part = {};
  }
  if (checksum(out.meta, out.bytes) != found.checksum) return damaged_snapshot(position, "its checksum does not match");
  return out;
}

// ---- checks ---------------------------------------------------------------------------------------------------------------

Result<std::vector<std::string>> Reader::check_pages(int limit) {
  auto check = database_.prepare(("PRAGMA integrity_check(" + std::to_string(limit) + ")").c_str());
  if (!check) return failure(check.error());
  std::vector<std::string> out;
  for (;;) {
    const auto row = check->step();
    if (!row) {
      out.push_back(row.error().message);
      return out;
    }
    if (!*row) return out;
    if (check->text(0) != "ok") out.emplace_back(check->text(0));
  }
}

Result<std::vector<std::pair<Position, Time>>> Reader::time_marks() {
  auto marks = database_.prepare("SELECT offset, time_us FROM time_marks ORDER BY offset");
  if (!marks) return failure(marks.error());
  std::vector<std::pair<Position, Time>> out;
  for (;;) {
    const auto row = marks->step();
    if (!row) return failure(row.error());
    if (!*row) return out;
    out.emplace_back(marks->number(0), Time{marks->integer(1)});
  }
}

}  // namespace hindsight::events::sqlite
