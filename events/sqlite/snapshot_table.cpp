#include "events/sqlite/snapshot_table.hpp"

#include <utility>

namespace hindsight::events::sqlite {
namespace {

std::string domain_of(const SnapshotTable& table) { return table.format < 2 ? "''" : "domain"; }

std::string select_meta(const SnapshotTable& table) {
  return "SELECT position, epoch, time_us, schema_version, state_hash, release, " + domain_of(table);
}

SnapshotMeta meta_of(const Statement& row) {
  return {row.number(0),           row.number(1),
          Time{row.integer(2)},    static_cast<std::uint32_t>(row.integer(3)),
          row.number(4),           std::string(row.text(5)),
          std::string(row.text(6))};
}

}  // namespace

Result<std::vector<SnapshotMeta>> list_snapshots(Database& database, const SnapshotTable& table) {
  auto statement = database.prepare((select_meta(table) + " FROM " + table.name + " ORDER BY position DESC, 7").c_str());
  if (!statement) return tl::unexpected(statement.error());
  std::vector<SnapshotMeta> out;
  for (;;) {
    const auto row = statement->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return out;
    out.push_back(meta_of(*statement));
  }
}

Result<std::optional<SnapshotRow>> find_snapshot(Database& database, const SnapshotTable& table, Position position,
                                                 std::string_view domain) {
  const bool whole = table.format < 3;
  auto statement = database.prepare((select_meta(table) + (whole ? ", checksum, body" : ", checksum, first_part, parts") + " FROM " +
                                     table.name + " WHERE position = ?1 AND " + domain_of(table) + " = ?2")
                                        .c_str());
  if (!statement) return tl::unexpected(statement.error());
  const auto found = statement->bind(1, position).bind(2, domain).step();
  if (!found) return tl::unexpected(found.error());
  if (!*found) return std::nullopt;
  SnapshotRow out;
  out.meta = meta_of(*statement);
  out.checksum = statement->number(7);
  if (whole) {
    const auto body = statement->bytes(8);
    out.body.assign(body.begin(), body.end());
  } else {
    out.first_part = statement->number(8);
    out.parts = statement->number(9);
  }
  return out;
}

Result<std::optional<std::vector<std::byte>>> snapshot_part(Database& database, std::uint64_t id) {
  auto statement = database.prepare("SELECT body FROM snapshot_parts WHERE id = ?1");
  if (!statement) return tl::unexpected(statement.error());
  const auto found = statement->bind(1, id).step();
  if (!found) return tl::unexpected(found.error());
  if (!*found) return std::nullopt;
  const auto body = statement->bytes(0);
  return std::vector<std::byte>(body.begin(), body.end());
}

}  // namespace hindsight::events::sqlite
