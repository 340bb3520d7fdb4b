#pragma once

#include <cstdint>
#include <string>

#include "events/sqlite/database.hpp"

namespace hindsight::events::sqlite {

/// "HSLG" as a number: tells a log from other SQLite files.
inline constexpr std::int64_t application_id = 0x48534C47;

/// Version of the tables of a new file. A build reads its own version and older ones.
inline constexpr std::int64_t format_version = 3;

/// Version of a file from its first trim on (events/sqlite/cut.hpp): a build that does not know of trims must not take the records that
/// are gone for damage, and reads all other files as before.
inline constexpr std::int64_t trimmed_version = 4;

/// Version of a file from the first record on that sets another one aside (events/sqlite/quarantine_table.hpp): a build that does not know
/// of these must not fold what it should pass over. It may have been trimmed or not.
inline constexpr std::int64_t quarantined_version = 5;

/// The file is of this version from now on, unless it is of a later one. Inside of a transaction.
[[nodiscard]] Result<void> raise_version(Database& database, std::int64_t version);

/// One time mark for so many records; see the table time_marks in docs/log-format.md.
inline constexpr std::uint64_t time_mark_interval = 1024;

/// Makes an empty database a log, and brings one of an older format up to date: its snapshots are set aside, in a table from which
/// SnapshotStore takes them over. `path` is for messages. Errors: as `check_layout`, io, denied.
[[nodiscard]] Result<void> create_layout(Database& database, const std::string& path);

/// The table in which the snapshots of a file of that format are set aside.
[[nodiscard]] std::string set_aside(std::int64_t format);

/// Errors: invalid (a database of something else), unsupported (a newer format), corrupt.
[[nodiscard]] Result<void> check_layout(Database& database, const std::string& path);

}  // namespace hindsight::events::sqlite
