#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/chain.hpp"
#include "events/log.hpp"
#include "evidence/keys.hpp"
#include "replay/verify.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::replay {

/// A head that somebody noted elsewhere: the chain must lead to it.
struct KnownHead {
  std::uint64_t records = 0;
  evidence::Digest hash{};
};

struct AuditOptions {
  std::optional<Position> to;             ///< Ends after this record; else at the end that the log had when it began.
  std::vector<evidence::PublicKey> keys;  ///< Whose signatures count.
  std::vector<KnownHead> known;
  std::vector<std::string> domains;  ///< Whose decisions are made again; empty: those of all.
  bool decisions = true;             ///< False: none are made again.
  /// Called now and then: what is being done, how far it is, of how much.
  std::function<void(const std::string& what, std::uint64_t done, std::uint64_t total)> progress;
};

/// Something that is wrong, and the first record of which it is true.
struct AuditFailure {
  Position position = 0;
  std::string what;
};

/// An epoch of a domain: who decided in it.
struct AuditedEpoch {
  std::string domain;
  std::uint64_t epoch = 0;
  Position begun = 0;  ///< Where; 0: before the first record that is kept.
  Time since;
  std::string writer, release;
  std::uint64_t decisions = 0;
  Position last_decision = 0;
  std::uint64_t fenced = 0;  ///< Records of its writer that came too late and have no effect.
};

/// What was found of the stored checkpoints.
struct AuditedCheckpoints {
  std::uint64_t compared = 0;     ///< That the chain was compared with.
  std::uint64_t not_reached = 0;  ///< Behind where the audit ended because it was told to.
  std::uint64_t before = 0;       ///< Of records that are not kept any more.
  std::uint64_t unsigned_ = 0;    ///< Of those compared.
  std::uint64_t good = 0;         ///< Signed by one of the keys; of those compared.
  std::uint64_t other_keys = 0;   ///< Signed by keys that were not named; of those compared.
};

/// Up to where something holds.
struct AuditedUpTo {
  Position position = 0;
  std::uint64_t records = 0;
  Time time;        ///< When the checkpoint was made.
  std::string key;  ///< That signed it; empty: none.
};

struct AuditReport {
  Position first = 1, last = 0;  ///< Of the records that were walked.
  events::ChainStart::From from = events::ChainStart::From::beginning;
  evidence::Head start, head;     ///< Of the chain, before the first and behind the last record.
  Position chain_from = 0;        ///< The chain was computed behind this position.
  std::uint64_t passed_over = 0;  ///< Records that do not count.
  std::uint64_t read = 0;         ///< Records that were read of the log.
  AuditedCheckpoints checkpoints;
  std::optional<AuditedUpTo> signed_up_to;  ///< By the newest checkpoint that one of the keys has signed and that the records lead to.
  std::optional<AuditedUpTo> stored_up_to;  ///< By the newest stored checkpoint that the records lead to, signed or not.
  std::uint64_t known_up_to = 0;            ///< By the last head that was noted elsewhere: the number of its record.
  std::vector<AuditedEpoch> epochs;         ///< In the order in which they began; the first `audited_epochs_max`.
  std::uint64_t epochs_begun = 0;           ///< All of them.
  std::vector<std::pair<std::string, VerifyReport>> decisions;  ///< By domain.
  std::vector<AuditFailure> failures;                           ///< By position; the first `audit_failures_max`.
  std::uint64_t failed = 0;                                     ///< All of them.
  bool chain_sound = true;                                      ///< No failure of chain, checkpoints or noted heads.

  [[nodiscard]] bool sound() const { return failed == 0; }
};

inline constexpr std::size_t audit_failures_max = 20;
inline constexpr std::size_t audited_epochs_max = 10'000;

/// Walks a log once and recomputes the chain of its records, compares it with every checkpoint, checks signatures and epochs, and makes
/// decisions again (replay/verify.hpp). Holds the states of all domains whose decisions it makes again. Errors: those of the log's own
/// tables; damaged records end up in the report.
[[nodiscard]] Result<AuditReport> audit(const Log& log, const AuditOptions& options = {});

/// In plain words what an audit has proved, and what it has not; a sentence each.
[[nodiscard]] std::vector<std::string> proved(const AuditReport& report);
[[nodiscard]] std::vector<std::string> not_proved(const AuditReport& report, bool keys_named);

}  // namespace hindsight::replay
