#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "events/log.hpp"

namespace hindsight::events {

/// XXH3 (64 bits) over plain bytes. Part of the format of messages on Kafka.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes);

/// XXH3 (64 bits) over all that a log keeps of a record: offset, domain, sequence, epoch, time, bytes. Part of the file format.
[[nodiscard]] std::uint64_t checksum(const StoredRecord& record);

/// The same over all that a log keeps of a snapshot.
[[nodiscard]] std::uint64_t checksum(const SnapshotMeta& meta, std::span<const std::byte> bytes);

}  // namespace hindsight::events
