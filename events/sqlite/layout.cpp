#include "events/sqlite/layout.hpp"

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
CREATE TABLE snapshots (
  position INTEGER PRIMARY KEY,
  epoch INTEGER NOT NULL,
  time_us INTEGER NOT NULL,
  schema_version INTEGER NOT NULL,
  state_hash INTEGER NOT NULL,
  release TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  body BLOB NOT NULL
) STRICT;
CREATE VIEW log AS
  SELECT r.offset, d.name AS domain, r.sequence, r.epoch, strftime('%Y-%m-%dT%H:%M:%fZ', r.time_us / 1000000.0, 'unixepoch') AS time,
         length(r.body) AS bytes
  FROM records r JOIN domains d ON d.id = r.domain;
)";

tl::unexpected<Error> not_readable(const std::string& path, const Error& error) {
  if (error.kind != ErrorKind::corrupt) return fail(error.kind, "log " + path + ": " + error.message);
  return fail(error.kind, "log " + path + ": not a Hindsight log, or its first page is damaged: " + error.message);
}

tl::unexpected<Error> within(const std::string& path, const Error& error) { return fail(error.kind, "log " + path + ": " + error.message); }

}  // namespace

Result<void> check_layout(Database& database, const std::string& path) {
  const auto id = database.query_integer("PRAGMA application_id");
  if (!id) return not_readable(path, id.error());
  if (*id != application_id) {
    return fail(ErrorKind::invalid, "log " + path + ": not a Hindsight log: application id is " + std::to_string(*id) + ", expected " +
                                        std::to_string(application_id));
  }
  const auto version = database.query_integer("PRAGMA user_version");
  if (!version) return within(path, version.error());
  if (*version > format_version) {
    return fail(ErrorKind::unsupported, "log " + path + ": its format version is " + std::to_string(*version) +
                                            ", written by a newer release; this build reads up to " + std::to_string(format_version));
  }
  if (*version < 1) return fail(ErrorKind::corrupt, "log " + path + ": its format version is " + std::to_string(*version));
  return {};
}

Result<void> create_layout(Database& database, const std::string& path) {
  const auto id = database.query_integer("PRAGMA application_id");
  if (!id) return not_readable(path, id.error());
  const auto objects = database.query_integer("SELECT count(*) FROM sqlite_schema");
  if (!objects) return within(path, objects.error());
  if (*id != 0 || *objects != 0) return check_layout(database, path);

  const std::string numbers =
      "PRAGMA application_id = " + std::to_string(application_id) + ";PRAGMA user_version = " + std::to_string(format_version);
  for (const char* sql : {"BEGIN IMMEDIATE", tables, numbers.c_str(), "COMMIT"}) {
    if (auto done = database.execute(sql); !done) {
      database.roll_back();
      return within(path, done.error());
    }
  }
  return {};
}

}  // namespace hindsight::events::sqlite
