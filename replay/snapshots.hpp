#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "admission/domain/entities.hpp"
#include "events/log.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::replay {

using events::Log;
using events::Position;
using events::SnapshotMeta;

/// When snapshots are due, and which of them stay.
struct SnapshotPolicy {
  std::uint64_t records = 50'000;              ///< Due after this many records; 0: records alone make none due.
  Duration interval = Duration::seconds(600);  ///< Due after this much time if there was any record; 0: time alone makes none due.
  std::size_t newest = 3;                      ///< As many of the newest stay in any case.
  /// Of the older ones, the first in each stretch of so many records stays; 0: none. Where the log says how much room it takes, the
  /// stretches are shorter, as long as the snapshots take no more of it than the records: most moments are then a short fold away.
  std::uint64_t spacing = 1'000'000;
  /// Whoever folds to a snapshot that is due passes others on the way (`SnapshotWriter::on_the_way`). They stand at multiples of so many
  /// records, or of more, where the log has less room; 0: none.
  std::uint64_t closest = 8'192;
};

/// A snapshot on its way into a log.
struct EncodedSnapshot {
  SnapshotMeta meta;
  std::vector<std::byte> bytes;
};

/// The state of a domain between two records as a snapshot. `position`: its records up to there were applied; `release`: who folded.
/// Slow (it walks over the whole state) and pure: what it gives may be stored from another thread.
[[nodiscard]] EncodedSnapshot encode_state(const admission::Entities& entities, std::string_view domain, Position position,
                                           std::string_view release);

/// The snapshots that may hold the state of `domain`, newest position first.
[[nodiscard]] Result<std::vector<SnapshotMeta>> snapshots_of(const Log& log, std::string_view domain);

/// Reads the state of `domain` out of a snapshot of the log into fresh entities, and checks its hash. Whatever the outcome but
/// success, the entities are of no use afterwards. Errors: not_found (no such snapshot, or without this domain), unsupported
/// (another version: the fold starts earlier), corrupt, io.
[[nodiscard]] Result<void> load_state(const Log& log, const SnapshotMeta& meta, std::string_view domain, admission::Entities& entities);

/// Decides when a snapshot of a domain is due, stores it, and forgets those of the domain that the policy does not keep. Not thread-safe.
///
///     if (writer.due(position, now)) {
///       auto snapshot = encode_state(entities, domain, position, release);
///       if (auto ok = writer.store(snapshot); !ok) ...   // a log without snapshots is only slower
///     }
class SnapshotWriter {
 public:
  SnapshotWriter(Log& log, std::string domain, SnapshotPolicy policy) : log_(log), domain_(std::move(domain)), policy_(policy) {}

  /// Reads which snapshots there are, newest position first, and counts from the newest: a restart does not write one at once. Optional.
  [[nodiscard]] Result<std::vector<SnapshotMeta>> open();
  /// `position`: of the last record that was read; `now`: the time of the last that was applied.
  [[nodiscard]] bool due(Position position, Time now);
  [[nodiscard]] Result<void> store(const EncodedSnapshot& snapshot);
  /// Where snapshots are worth storing, by who folds from the one at `from` to one that is due at `to`, in order: so many that the log has
  /// room for all like them, as far as it says so, and at most `on_the_way_max`. None before this writer has stored one, for then their
  /// size is not known.
  [[nodiscard]] Result<std::vector<Position>> on_the_way(Position from, Position to) const;
  /// For who has the state of every position at hand, as one who writes the log alone: one is due, or a place that is worth it (as
  /// `on_the_way`) was reached since the last.
  [[nodiscard]] bool is_worth_it(Position position, Time now);
  static constexpr std::uint64_t on_the_way_max = 64;

 private:
  [[nodiscard]] Result<void> forget_old(std::size_t size);
  [[nodiscard]] std::uint64_t stretch(std::size_t size, const std::vector<SnapshotMeta>& of_all_domains) const;

  Log& log_;
  const std::string domain_;
  SnapshotPolicy policy_;
  Position last_position_ = 0;
  Time last_time_;
  std::size_t last_size_ = 0;  ///< In bytes; 0: none was stored yet.
  std::uint64_t each_ = 0;     ///< Places that are worth it are multiples of this; 0: none are, as far as is known.
};

}  // namespace hindsight::replay
