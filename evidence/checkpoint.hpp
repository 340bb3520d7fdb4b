#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "evidence/chain.hpp"
#include "vocabulary/result.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::evidence {

/// A release is no longer than this; it is printable text without blanks.
inline constexpr std::size_t release_bytes_max = 64;

/// A log with more of them, or evidence, is not read. A log keeps one for each 100,000 records (events/chain.hpp, thin_checkpoints), and so
/// stays below it for 100,000,000,000.
inline constexpr std::size_t checkpoints_max = 1'000'000;

/// A head of the chain that was stored: whoever made it says that it was what the log led to at that time.
struct Checkpoint {
  std::uint64_t position =
      0;  ///< Offset of the last record that it covers, in the log that keeps it; differs in a copy, and is not signed.
  Head head;
  Time time;              ///< When it was made, by the clock of the maker.
  std::string release;    ///< Of the software that made it.
  std::string key;        ///< Id of the key that signed it (PublicKey::id); empty: it is not signed.
  std::string signature;  ///< Ed25519 over signed_text, 64 bytes; empty: it is not signed.

  [[nodiscard]] bool is_signed() const { return !signature.empty(); }
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// What a signature is made over: lines that a person can read and any tool can check.
///
///     hindsight checkpoint 1
///     begin 0
///     records 12345
///     hash 0123...
///     time 1795788000000000
///     release 0.1.0
[[nodiscard]] std::string signed_text(const Checkpoint& checkpoint);

/// Whether there can be such a checkpoint: numbers in order, a release that stays on its line, key and signature of their lengths. Errors:
/// invalid, with the field, what was found and what is allowed.
[[nodiscard]] Result<void> check_form(const Checkpoint& checkpoint);

}  // namespace hindsight::evidence
