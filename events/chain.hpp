#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "events/domain_tails.hpp"
#include "events/log.hpp"
#include "events/shared_reads.hpp"
#include "evidence/chain.hpp"
#include "evidence/checkpoint.hpp"
#include "evidence/keys.hpp"
#include "vocabulary/record_order.hpp"

namespace hindsight::events {

// The chain of hashes over a log (evidence/chain.hpp) is computed by whoever reads it, in its order: who writes to a partition of Kafka
// does not know the record before its own. It goes over the records that count, so that a copy, which has no others, has the same chain.
// Heads of it are kept beside the records as checkpoints.

/// What the chain covers of it.
[[nodiscard]] inline evidence::Content content_of(const StoredRecord& record) {
  return {record.domain, record.sequence, record.epoch, record.time, record.bytes};
}

/// From where a chain can be walked.
struct ChainStart {
  enum class From : std::uint8_t {
    beginning,   ///< The first record of the log.
    cut,         ///< Where the log was cut, of which the head was kept.
    lost,        ///< The first record that is kept: older ones went before a chain was begun. The chain begins here.
    checkpoint,  ///< A checkpoint, which is believed.
  };
  From from = From::beginning;
  evidence::Head head = evidence::genesis();
  DomainsAt at;  ///< The position, and how the domains stood there as far as it is known.
};

/// A record as the walk met it.
struct ChainedRecord {
  StoredRecord record;
  RecordOrder order = RecordOrder::next;  ///< `passed_over`: it is no part of the chain, and the next two are those before it.
  evidence::Digest content{};             ///< Its hash c.
  evidence::Head head;                    ///< Behind it; `head.records` is its number.
};

/// False ends the walk behind this record.
using ChainVisitor = std::function<bool(const ChainedRecord&)>;

/// Computes the chain of a log from some start on. Not thread-safe.
class ChainWalk {
 public:
  /// `limits`: of each read; small ones let others who read the log have their turns.
  ChainWalk(const Log& log, const ChainStart& start, ReadLimits limits = {.records = 2000, .bytes = std::size_t{8} << 20});
  /// Reads what somebody else reads as well.
  ChainWalk(ReadRecords read, const ChainStart& start);

  /// Goes on to this record, or to the end of the log. Errors: those of Log::read; what was walked before the error counts.
  [[nodiscard]] Result<void> to(Position upto, const ChainVisitor& visit = {});

  [[nodiscard]] Position position() const { return position_; }
  [[nodiscard]] const evidence::Head& head() const { return chain_.head(); }
  [[nodiscard]] std::uint64_t passed_over() const { return passed_over_; }
  /// How the domains stand that it has met, or knew of when it started.
  [[nodiscard]] std::vector<DomainTail> standing() const { return tails_.list(); }

 private:
  ReadRecords read_;
  evidence::Chain chain_;
  DomainTails tails_;
  RecordBatch batch_;
  Position position_;
  ReadLimits limits_;
  std::uint64_t passed_over_ = 0;
};

/// Where the chain of what the log still has begins: with the first record that is kept, or, of a log that has lost its beginning otherwise
/// than by a trim, at its first checkpoint. Errors: those of the log.
[[nodiscard]] Result<ChainStart> chain_start(const Log& log);

/// The newest place at or before `position` from which it can be walked: a checkpoint, or what chain_start says. Where that is behind
/// `position`, as well. Errors: those of the log.
[[nodiscard]] Result<ChainStart> chain_before(const Log& log, Position position);

/// From where somebody goes on who has not walked it before: the newest checkpoint if it is known how the domains stood there and, where
/// there is a key, it has signed it; else what chain_start says. Errors: those of the log.
[[nodiscard]] Result<ChainStart> chain_resume(const Log& log, const evidence::PublicKey* trusted);

/// Stores where the walk stands as a checkpoint, signed if there is a key. Errors: those of the log and of signing.
[[nodiscard]] Result<evidence::Checkpoint> store_checkpoint(Log& log, const ChainWalk& walk, Time now, std::string_view release,
                                                            const evidence::SigningKey* key);

/// Forgets checkpoints that prove nothing that others do not: of those before the `newest`, the first of each key in each `stretch` of
/// records stays, unsigned ones only where none is signed, and the head at a cut always. So a log holds one for each stretch, however
/// often they are stored, and evidence finds one near. Returns how many went. Errors: those of the log.
[[nodiscard]] Result<std::size_t> thin_checkpoints(Log& log, std::size_t newest = 1'000, Position stretch = 100'000);

/// Makes sure that the log keeps the head of its chain at this position, so that records up to it can be forgotten. `go_on` is asked now
/// and then; false ends it, and nothing is stored: what is returned then is false. Errors: those of the log.
[[nodiscard]] Result<bool> keep_head_at(Log& log, Position position, Time now, std::string_view release,
                                        const std::function<bool(Position)>& go_on);

}  // namespace hindsight::events
