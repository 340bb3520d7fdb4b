#include "events/sqlite/cut.hpp"

#include <string>

#include "events/sqlite/layout.hpp"

namespace hindsight::events::sqlite {
namespace {

constexpr const char* trimmed_table = R"(
CREATE TABLE IF NOT EXISTS trimmed (
  domain TEXT PRIMARY KEY,
  position INTEGER NOT NULL,
  last_sequence INTEGER NOT NULL,
  last_epoch INTEGER NOT NULL,
  last_offset INTEGER NOT NULL,
  writer TEXT NOT NULL,
  release TEXT NOT NULL,
  since_us INTEGER NOT NULL
) STRICT;
)";

/// What the marks and records up to the cut say of the time goes on as one mark.
constexpr const char* mark_cut = R"(
INSERT OR REPLACE INTO time_marks (offset, time_us)
SELECT ?1, max(t) FROM (
  SELECT max(time_us) AS t FROM time_marks WHERE offset <= ?1
  UNION ALL
  SELECT max(time_us) FROM records
  WHERE offset <= ?1 AND offset > (SELECT coalesce(max(offset), 0) FROM time_marks WHERE offset <= ?1)
) HAVING max(t) IS NOT NULL
)";

Result<void> run(Database& database, const char* sql, Position position) {
  auto statement = database.prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  return statement->bind(1, position).run();
}

Result<void> insert_tails(Database& database, const char* sql, const DomainsAt& cut) {
  auto insert = database.prepare(sql);
  if (!insert) return tl::unexpected(insert.error());
  for (const auto& tail : cut.tails) {
    insert->bind(1, std::string_view(tail.domain)).bind(2, tail.sequence).bind(3, tail.epoch).bind(4, tail.offset).bind(5, cut.position);
    if (auto inserted = insert->run(); !inserted) return inserted;
  }
  return {};
}

Result<void> name_owners(Database& database, const DomainsAt& cut) {
  auto update = database.prepare("UPDATE trimmed SET writer = ?2, release = ?3, since_us = ?4 WHERE domain = ?1 AND last_epoch = ?5");
  if (!update) return tl::unexpected(update.error());
  for (const auto& owner : cut.owners) {
    update->bind(1, std::string_view(owner.domain))
        .bind(2, std::string_view(owner.writer))
        .bind(3, std::string_view(owner.release))
        .bind(4, owner.since.micros)
        .bind(5, owner.epoch);
    if (auto updated = update->run(); !updated) return updated;
  }
  return {};
}

}  // namespace

Result<std::optional<DomainsAt>> read_cut(Database& database) {
  const auto version = database.query_integer("PRAGMA user_version");
  if (!version) return tl::unexpected(version.error());
  if (*version < trimmed_version) return std::optional<DomainsAt>();
  auto rows = database.prepare(
      "SELECT position, domain, last_sequence, last_epoch, last_offset, writer, release, since_us FROM trimmed ORDER BY domain");
  if (!rows) return tl::unexpected(rows.error());
  DomainsAt out;
  for (;;) {
    const auto row = rows->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) break;
    out.position = rows->number(0);
    out.tails.push_back({std::string(rows->text(1)), rows->number(2), rows->number(3), rows->number(4)});
    if (rows->text(5).empty()) continue;
    out.owners.push_back(
        {std::string(rows->text(1)), rows->number(3), Time{rows->integer(7)}, std::string(rows->text(5)), std::string(rows->text(6))});
  }
  if (out.tails.empty()) return std::optional<DomainsAt>();
  return std::optional(std::move(out));
}

Result<void> make_cut_table(Database& database) { return database.execute(trimmed_table); }

Result<void> write_cut(Database& database, const DomainsAt& cut) {
  for (const char* sql : {trimmed_table, "DELETE FROM trimmed"})
    if (auto done = database.execute(sql); !done) return done;
  if (auto done = raise_version(database, trimmed_version); !done) return done;
  constexpr const char* insert =
      "INSERT INTO trimmed (domain, last_sequence, last_epoch, last_offset, position, writer, release, since_us) "
      "VALUES (?1, ?2, ?3, ?4, ?5, '', '', -1)";
  if (auto done = insert_tails(database, insert, cut); !done) return done;
  if (auto done = name_owners(database, cut); !done) return done;
  for (const char* sql : {mark_cut, "DELETE FROM time_marks WHERE offset < ?1"})
    if (auto done = run(database, sql, cut.position); !done) return done;
  return {};
}

Result<void> write_domains(Database& database, const DomainsAt& cut) {
  return insert_tails(database, "INSERT INTO domains (name, last_sequence, last_epoch, last_offset) VALUES (?1, ?2, ?3, min(?4, ?5))", cut);
}

}  // namespace hindsight::events::sqlite
