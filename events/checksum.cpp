#include "events/checksum.hpp"

// The library is its header alone: the only file that includes it, so that nothing needs to link it.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <bit>

namespace hindsight::events {
namespace {

static_assert(std::endian::native == std::endian::little, "checksums are defined over little-endian numbers");

/// Chains: the hash of each piece is the seed of the next, so that bytes cannot move from one piece to another unseen.
std::uint64_t over(std::uint64_t seed, const void* data, std::size_t size) { return XXH3_64bits_withSeed(data, size, seed); }

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes) { return over(0, bytes.data(), bytes.size()); }

std::uint64_t checksum(const StoredRecord& record) {
  const std::array<std::uint64_t, 4> numbers{record.offset, record.sequence, record.epoch, static_cast<std::uint64_t>(record.time.micros)};
  const std::uint64_t a = over(0, numbers.data(), sizeof(numbers));
  const std::uint64_t b = over(a, record.domain.data(), record.domain.size());
  return over(b, record.bytes.data(), record.bytes.size());
}

std::uint64_t checksum(const SnapshotMeta& meta, std::span<const std::byte> bytes) {
  const std::array<std::uint64_t, 5> numbers{meta.position, meta.epoch, static_cast<std::uint64_t>(meta.time.micros), meta.schema_version,
                                             meta.state_hash};
  const std::uint64_t a = over(0, numbers.data(), sizeof(numbers));
  const std::uint64_t b = over(a, meta.release.data(), meta.release.size());
  const std::uint64_t c = meta.domain.empty() ? b : over(b, meta.domain.data(), meta.domain.size());
  return over(c, bytes.data(), bytes.size());
}

}  // namespace hindsight::events
