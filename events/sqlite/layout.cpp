#include "events/sqlite/layout.hpp"

#include <initializer_list>
#include <string>

namespace hindsight::events::sqlite {
namespace {

/// Explained in docs/log-format.md.
constexpr const char* tables = R"(
CREATE TABLE domains (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  last_sequence INTEGER NOT NULL,
  last_epoch INTEGER NOT NULL,
  last_offset INTEGER NOT NULL
) STRICT;
CREATE TABLE records (
  offset INTEGER PRIMARY KEY,
  domain INTEGER NOT NULL REFERENCES domains(id),
  sequence INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  time_us INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  body BLOB NOT NULL
) STRICT;
CREATE TABLE time_marks (
  offset INTEGER PRIMARY KEY,
  time_us INTEGER NOT NULL
) STRICT;
CREATE VIEW log AS
  SELECT r.offset, d.name AS domain, r.sequence, r.epoch, strftime('%Y-%m-%dT%H:%M:%fZ', r.time_us / 1000000.0, 'unixepoch') AS time,
         length(r.body) AS bytes
  FROM records r JOIN domains d ON d.id = r.domain;
)";

/// AUTOINCREMENT: the number of a part is never given again, so that a reader who follows the numbers of a snapshot that is dropped
/// meanwhile finds nothing, and never a part of another one.
constexpr const char* snapshot_tables = R"(
CREATE TABLE snapshots (
  position INTEGER NOT NULL,
  domain TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  time_us INTEGER NOT NULL,
  schema_version INTEGER NOT NULL,
  state_hash INTEGER NOT NULL,
  release TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  first_part INTEGER NOT NULL,
  parts INTEGER NOT NULL,
  PRIMARY KEY (position, domain)
) STRICT;
CREATE TABLE snapshot_parts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  body BLOB NOT NULL
) STRICT;
)";

tl::unexpected<Error> not_readable(const std::string& path, const Error& error) {
  if (error.kind != ErrorKind::corrupt) return fail(error.kind, "log " + path + ": " + error.message);
  return fail(error.kind, "log " + path + ": not a Hindsight log, or its first page is damaged: " + error.message);
}

tl::unexpected<Error> within(const std::string& path, const Error& error) { return fail(error.kind, "log " + path + ": " + error.message); }

std::string version_number() { return "PRAGMA user_version = " + std::to_string(format_version); }

Result<void> in_one_transaction(Database& database, const std::string& path, std::initializer_list<const char*> statements) {
  const auto run = [&](const char* sql) -> Result<void> {
    if (auto done = database.execute(sql); !done) {
      database.roll_back();
      return within(path, done.error());
    }
    return {};
  };
  if (auto begun = run("BEGIN IMMEDIATE"); !begun) return begun;
  for (const char* sql : statements)
    if (auto done = run(sql); !done) return done;
  return run("COMMIT");
}

/// Format 1 kept one snapshot at a position, whatever its domain; formats 1 and 2 kept the bytes of each in one piece. No byte of them is
/// moved here, so this is as short for a large file as for a small one.
Result<void> bring_up_to_date(Database& database, const std::string& path) {
  const auto version = database.query_integer("PRAGMA user_version");
  if (!version) return within(path, version.error());
  if (*version >= format_version) return {};
  const std::string rename = "ALTER TABLE snapshots RENAME TO " + set_aside(*version);
  return in_one_transaction(database, path, {rename.c_str(), snapshot_tables, version_number().c_str()});
}

}  // namespace

Result<void> raise_version(Database& database, std::int64_t version) {
  const auto now = database.query_integer("PRAGMA user_version");
  if (!now) return tl::unexpected(now.error());
  if (*now >= version) return {};
  return database.execute(("PRAGMA user_version = " + std::to_string(version)).c_str());
}

std::string set_aside(std::int64_t format) { return "snapshots_" + std::to_string(format); }

Result<void> check_layout(Database& database, const std::string& path) {
  const auto id = database.query_integer("PRAGMA application_id");
  if (!id) return not_readable(path, id.error());
  if (*id != application_id) {
    return fail(ErrorKind::invalid, "log " + path + ": not a Hindsight log: application id is " + std::to_string(*id) + ", expected " +
                                        std::to_string(application_id));
  }
  const auto version = database.query_integer("PRAGMA user_version");
  if (!version) return within(path, version.error());
  if (*version > quarantined_version) {
    return fail(ErrorKind::unsupported, "log " + path + ": its format version is " + std::to_string(*version) +
                                            ", written by a newer release; this build reads up to " + std::to_string(quarantined_version));
  }
  if (*version < 1) return fail(ErrorKind::corrupt, "log " + path + ": its format version is " + std::to_string(*version));
  return {};
}

Result<void> create_layout(Database& database, const std::string& path) {
  const auto id = database.query_integer("PRAGMA application_id");
  if (!id) return not_readable(path, id.error());
  const auto objects = database.query_integer("SELECT count(*) FROM sqlite_schema");
  if (!objects) return within(path, objects.error());
  if (*id != 0 || *objects != 0) {
    if (auto good = check_layout(database, path); !good) return good;
    return bring_up_to_date(database, path);
  }
  // So that the file gets smaller after a trim; can only be said of a file without tables.
  if (auto set = database.execute("PRAGMA auto_vacuum = INCREMENTAL"); !set) return within(path, set.error());
  const std::string id_number = "PRAGMA application_id = " + std::to_string(application_id);
  return in_one_transaction(database, path, {tables, snapshot_tables, id_number.c_str(), version_number().c_str()});
}

}  // namespace hindsight::events::sqlite
