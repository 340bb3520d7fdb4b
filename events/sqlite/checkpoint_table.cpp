#include "events/sqlite/checkpoint_table.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace hindsight::events::sqlite {
namespace {

constexpr const char* checkpoint_table = R"(
CREATE TABLE IF NOT EXISTS checkpoints (
  position INTEGER PRIMARY KEY,
  chain_begin INTEGER NOT NULL,
  records INTEGER NOT NULL,
  hash BLOB NOT NULL,
  time_us INTEGER NOT NULL,
  release TEXT NOT NULL,
  key TEXT NOT NULL,
  signature BLOB NOT NULL
) STRICT;
)";

constexpr const char* all_rows =
    "SELECT position, chain_begin, records, hash, time_us, release, key, signature FROM checkpoints ORDER BY position";

Result<evidence::Checkpoint> read_row(const Statement& row) {
  evidence::Checkpoint out;
  out.position = row.number(0);
  out.head.begin = row.number(1);
  out.head.records = row.number(2);
  const auto hash = row.bytes(3);
  out.time = Time{row.integer(4)};
  out.release = row.text(5);
  out.key = row.text(6);
  const auto signature = row.bytes(7);
  out.signature.assign(reinterpret_cast<const char*>(signature.data()), signature.size());
  if (hash.size() != out.head.hash.size())
    return fail(ErrorKind::corrupt, "the checkpoint at position " + std::to_string(out.position) + " is damaged: its hash has " +
                                        std::to_string(hash.size()) + " bytes; allowed: " + std::to_string(out.head.hash.size()));
  std::ranges::transform(hash, out.head.hash.begin(), [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  if (auto ok = evidence::check_form(out); !ok)
    return fail(ErrorKind::corrupt, "the checkpoint at position " + std::to_string(out.position) + " is damaged: " + ok.error().message);
  return out;
}

}  // namespace

Result<bool> has_checkpoint_table(Database& database) {
  const auto there = database.query_integer("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'checkpoints'");
  if (!there) return tl::unexpected(there.error());
  return *there != 0;
}

Result<void> make_checkpoint_table(Database& database) { return database.execute(checkpoint_table); }

Result<Statement> put_checkpoint_row(Database& database, const evidence::Checkpoint& c) {
  auto insert = database.prepare("INSERT OR REPLACE INTO checkpoints VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
  if (!insert) return insert;
  insert->bind(1, c.position)
      .bind(2, c.head.begin)
      .bind(3, c.head.records)
      .bind(4, std::as_bytes(std::span(c.head.hash)))
      .bind(5, c.time.micros)
      .bind(6, std::string_view(c.release))
      .bind(7, std::string_view(c.key))
      .bind(8, std::as_bytes(std::span(c.signature)));
  return insert;
}

Result<Statement> drop_checkpoint_row(Database& database, Position position) {
  auto remove = database.prepare("DELETE FROM checkpoints WHERE position = ?1");
  if (remove) remove->bind(1, position);
  return remove;
}

Result<std::vector<evidence::Checkpoint>> read_checkpoints(Database& database) {
  std::vector<evidence::Checkpoint> out;
  const auto there = has_checkpoint_table(database);
  if (!there) return tl::unexpected(there.error());
  if (!*there) return out;
  auto rows = database.prepare(all_rows);
  if (!rows) return tl::unexpected(rows.error());
  for (;;) {
    const auto row = rows->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) break;
    if (out.size() == evidence::checkpoints_max)
      return fail(ErrorKind::corrupt,
                  "it holds more than " + std::to_string(evidence::checkpoints_max) + " checkpoints; allowed: up to that");
    auto checkpoint = read_row(*rows);
    if (!checkpoint) return tl::unexpected(checkpoint.error());
    out.push_back(std::move(*checkpoint));
  }
  return out;
}

Result<std::vector<UnreadableCheckpoint>> unreadable_checkpoints(Database& database) {
  std::vector<UnreadableCheckpoint> out;
  const auto there = has_checkpoint_table(database);
  if (!there) return tl::unexpected(there.error());
  if (!*there) return out;
  auto rows = database.prepare(all_rows);
  if (!rows) return tl::unexpected(rows.error());
  while (out.size() < evidence::checkpoints_max) {
    const auto row = rows->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) break;
    if (const auto checkpoint = read_row(*rows); !checkpoint) out.push_back({rows->number(0), checkpoint.error().message});
  }
  return out;
}

}  // namespace hindsight::events::sqlite
