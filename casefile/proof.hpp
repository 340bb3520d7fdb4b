#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>

#include "casefile/account.hpp"
#include "casefile/bearing.hpp"
#include "events/log.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::casefile {

/// What was written of the records, and how much of it is proved to whoever trusts the key of the checkpoints.
struct Proof {
  /// Records of more bytes together are not included, but by their hashes.
  static constexpr std::uint64_t bytes_max = std::uint64_t{64} << 20;
  /// A record is proved by the next checkpoint behind it, and by the hashes of all records between. Where these are more, or all hashes
  /// together, it goes without.
  static constexpr std::uint64_t hashes_to_checkpoint_max = 250'000, hashes_max = 1'000'000;

  std::size_t included = 0;
  std::size_t too_large = 0;  ///< Of those that bear on it, by their hashes only.
  std::size_t replaced = 0;   ///< Left behind by a writer that had been replaced: they have no effect, and are no part of the chain.
  std::size_t hashes = 0;     ///< Records that stand there by their hashes.
  std::size_t under_signed = 0, under_unsigned = 0;  ///< Of `included`: a signed checkpoint, or only others, lie behind it.
  std::size_t checkpoints = 0;
};

/// Writes the lines of records.jsonl and checkpoints.jsonl (docs/log-format.md), and of records.txt's kin `decoded`: each included record
/// as `hindsight log cat -o json` prints it, with its role. Errors: those of the log, and corrupt (a record cannot be decoded).
[[nodiscard]] Result<Proof> write_proof(const events::Log& log, const Bearing& bearing, std::ostream& records, std::ostream& checkpoints,
                                        std::ostream& decoded, const GatherProgress& progress = {});

}  // namespace hindsight::casefile
