#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/log.hpp"

namespace hindsight::events::kafka {

/// What stands before a record's bytes in the value of a Kafka message (docs/log-format.md): magic, sequence, epoch, time, checksum. The
/// key is the name of the domain.
inline constexpr std::size_t record_head_bytes = 40;

/// Writes head and bytes of `record` to `out`, which has room for record_head_bytes + record.bytes.size().
void write_record(const EncodedRecord& record, std::byte* out);

/// The record in a message; it points into key and value. An error says what is wrong with the message, not where it stands.
[[nodiscard]] Result<StoredRecord> read_record(std::string_view key, std::span<const std::byte> value, Position offset);

/// The timestamp of the message of a record, in milliseconds: rises with the record's time, and is never 0, which Kafka's clients take for
/// "now".
[[nodiscard]] std::int64_t message_timestamp(Time time);

/// A snapshot is cut into parts of at most so many bytes, which is below the 1 MB that brokers take
/// without being told otherwise.
inline constexpr std::size_t snapshot_part_bytes_max = 900'000;

/// What is written of a snapshot when all its parts are in the log: with it the snapshot counts.
struct SnapshotEntry {
  SnapshotMeta meta;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;              ///< As events::checksum gives it.
  std::vector<std::int64_t> part_offsets;  ///< Of the parts in the partition of bodies, in order.
  friend bool operator==(const SnapshotEntry&, const SnapshotEntry&) = default;
};

[[nodiscard]] std::vector<std::byte> write_snapshot_entry(const SnapshotEntry& entry);
[[nodiscard]] Result<SnapshotEntry> read_snapshot_entry(std::span<const std::byte> value);

/// Where every domain stood at some position, so that who writes need not read the log from its beginning.
[[nodiscard]] std::vector<std::byte> write_tails(const DomainsAt& entry);
[[nodiscard]] Result<DomainsAt> read_tails(std::span<const std::byte> value);

/// The records that every reader passes over, all of them.
[[nodiscard]] std::vector<std::byte> write_quarantined(std::span<const QuarantinedRecord> records);
[[nodiscard]] Result<std::vector<QuarantinedRecord>> read_quarantined(std::span<const std::byte> value);

/// A checkpoint of the chain, without the key of its message.
[[nodiscard]] std::vector<std::byte> write_checkpoint(const evidence::Checkpoint& checkpoint);
[[nodiscard]] Result<evidence::Checkpoint> read_checkpoint(std::span<const std::byte> value);

inline constexpr std::string_view quarantined_key = "quarantined";
inline constexpr std::string_view tails_key = "tails";
/// Where the log was trimmed, with the domains that had begun by then, in the form of tails.
inline constexpr std::string_view trimmed_key = "trimmed";
/// How the domains stood at the newest checkpoint of the chain, in the form of tails.
inline constexpr std::string_view standing_key = "checkpoint-domains";
/// "checkpoint/00000000000000000042".
[[nodiscard]] std::string checkpoint_key(Position position);
[[nodiscard]] std::optional<Position> read_checkpoint_key(std::string_view key);
/// "snapshot/00000000000000000042/DOMAIN"; of no domain in particular without the last part.
[[nodiscard]] std::string snapshot_key(Position position, std::string_view domain);
[[nodiscard]] std::optional<std::pair<Position, std::string>> read_snapshot_key(std::string_view key);
/// "part/00000000000000000042/0123456789abcdef/3": of one snapshot's bytes, so that another one at the same position takes none of them
/// away.
[[nodiscard]] std::string part_key(Position position, std::uint64_t checksum, std::size_t part);

}  // namespace hindsight::events::kafka
