#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "events/log.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::events {

/// Version of schemas/snapshot.fbs that this build writes, and the newest that it reads.
inline constexpr std::uint32_t snapshot_schema_version = 2;

/// The largest state of one domain that is read from a compressed snapshot, in bytes; also at most 64 MiB and 256 times the compressed
/// ones. One that claims to be larger is not used.
inline constexpr std::uint64_t snapshot_state_max = std::uint64_t{16} << 30;

/// The state of one domain at the position of a snapshot.
struct DomainState {
  std::string_view domain;
  std::uint64_t sequence = 0;  ///< Of the domain's last record that the state contains.
  std::uint64_t epoch = 0;
  std::uint64_t state_hash = 0;
  std::span<const std::byte> state;  ///< In a form of the fold's own; starts at a multiple of 16 when read.
};

/// The bytes of a snapshot, for Log::put_snapshot; states are compressed (zstd) where that makes them smaller. `state_version` is that of
/// the form of the states. `meta.schema_version` is not looked at: what is written is snapshot_schema_version.
[[nodiscard]] std::vector<std::byte> encode_snapshot(const SnapshotMeta& meta, std::uint32_t state_version,
                                                     std::span<const DomainState> domains);

/// A decoded snapshot that owns its bytes, and the states that were compressed; the domains point into them.
class Snapshot {
 public:
  [[nodiscard]] const SnapshotMeta& meta() const { return meta_; }
  [[nodiscard]] std::uint32_t state_version() const { return state_version_; }
  [[nodiscard]] std::span<const DomainState> domains() const { return domains_; }

 private:
  friend Result<std::unique_ptr<const Snapshot>> decode_snapshot(std::vector<std::byte> bytes);
  std::vector<std::byte> bytes_;
  std::vector<std::vector<std::byte>> unpacked_;
  SnapshotMeta meta_;
  std::uint32_t state_version_ = 0;
  std::vector<DomainState> domains_;
};

/// Errors: corrupt (does not verify, or a state cannot be unpacked), unsupported (written by a newer release, or larger than
/// snapshot_state_max or the memory).
[[nodiscard]] Result<std::unique_ptr<const Snapshot>> decode_snapshot(std::vector<std::byte> bytes);

}  // namespace hindsight::events
