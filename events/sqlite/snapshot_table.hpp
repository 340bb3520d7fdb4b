#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/log.hpp"
#include "events/sqlite/database.hpp"
#include "events/sqlite/layout.hpp"

namespace hindsight::events::sqlite {

/// A table of snapshots, and the format that it is of.
struct SnapshotTable {
  std::string name = "snapshots";
  std::int64_t format = format_version;
};

/// What a table says of one snapshot. Formats 1 and 2 keep the bytes in it, later ones in the table of parts.
struct SnapshotRow {
  SnapshotMeta meta;
  std::uint64_t checksum = 0;
  std::uint64_t first_part = 0;
  std::uint64_t parts = 0;
  std::vector<std::byte> body;
};

// Statements are prepared for each call: snapshots are rare, and a writer may bring the file up to date between two calls.

/// Newest position first.
[[nodiscard]] Result<std::vector<SnapshotMeta>> list_snapshots(Database& database, const SnapshotTable& table);

/// None: there is none at exactly this position of exactly this domain.
[[nodiscard]] Result<std::optional<SnapshotRow>> find_snapshot(Database& database, const SnapshotTable& table, Position position,
                                                               std::string_view domain);

/// None: there is no such part, or no more.
[[nodiscard]] Result<std::optional<std::vector<std::byte>>> snapshot_part(Database& database, std::uint64_t id);

}  // namespace hindsight::events::sqlite
