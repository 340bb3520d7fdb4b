#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/check_report.hpp"
#include "events/quarantine.hpp"
#include "events/record_batch.hpp"
#include "evidence/checkpoint.hpp"
#include "vocabulary/result.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::events {

/// How much one read gives at most; one record is given even if it is longer than `bytes`.
struct ReadLimits {
  std::size_t records = 1024;
  std::size_t bytes = std::size_t{8} << 20;
};

/// The last record of a domain.
struct DomainTail {
  std::string domain;
  std::uint64_t sequence = 0;
  std::uint64_t epoch = 0;
  Position offset = 0;
  friend bool operator==(const DomainTail&, const DomainTail&) = default;
};

/// Who began the newest epoch of a domain.
struct EpochOwner {
  std::string domain;
  std::uint64_t epoch = 0;
  Time since;
  std::string writer, release;
  friend bool operator==(const EpochOwner&, const EpochOwner&) = default;
};

/// A place in a log, and how every domain that had begun by then stood there.
struct DomainsAt {
  Position position = 0;
  std::vector<DomainTail> tails;
  std::vector<EpochOwner> owners = {};  ///< Of domains whose newest epoch by then is known; only at cuts.
  friend bool operator==(const DomainsAt&, const DomainsAt&) = default;
};

/// What is known of a snapshot without reading it.
struct SnapshotMeta {
  Position position = 0;  ///< Its records are those up to this offset; the last of its domain may stand before it.
  std::uint64_t epoch = 0;
  Time time;
  std::uint32_t schema_version = 0;
  std::uint64_t state_hash = 0;
  std::string release;  ///< Version of the software that folded.
  /// Whose state it is. Empty: of whatever domains its bytes name, as it was written while a log had one domain.
  std::string domain;
  friend bool operator==(const SnapshotMeta&, const SnapshotMeta&) = default;
};

struct StoredSnapshot {
  SnapshotMeta meta;
  std::vector<std::byte> bytes;
};

/// How much room a log takes, and how much there is; in bytes.
struct LogSpace {
  std::uint64_t used = 0;          ///< By what is in it; what was forgotten and will be used again does not count.
  std::uint64_t files = 0;         ///< By its files.
  std::uint64_t limit = 0;         ///< Of `used`, beyond which nothing is added; 0: none.
  std::uint64_t disk = 0;          ///< Size of the disk that it lies on; 0: not known.
  std::uint64_t disk_free = 0;     ///< Of that, what this process may use.
  std::uint64_t disk_reserve = 0;  ///< Of that, what records leave for trims and a clean end.
  std::uint64_t write_ahead = 0;   ///< Of `files`, what stands in a write-ahead log and has not been moved yet.

  /// A write-ahead log has a quarter of this, and becomes longer only while somebody keeps a read transaction open.
  static constexpr std::uint64_t write_ahead_expected = std::uint64_t{256} << 20;

  [[nodiscard]] bool full() const { return (limit != 0 && used >= limit) || (disk != 0 && disk_free < disk_reserve); }
  /// Four fifths of the limit are used, or of the disk less than four times the reserve is free.
  [[nodiscard]] bool nearly_full() const { return (limit != 0 && used / 4 >= limit / 5) || (disk != 0 && disk_free < 4 * disk_reserve); }
  /// "1.2 GiB of at most 8.0 GiB used, 3.4 GiB of the disk free".
  [[nodiscard]] std::string text() const;
};

/// A checkpoint of which nothing can be proved.
struct UnreadableCheckpoint {
  Position position = 0;
  std::string why;
};

/// Called once with what `append` would return; from any thread. It must not wait for another append.
using AppendDone = std::function<void(Result<Position>)>;

/// An append-only log of one partition: records of many domains in one order. All functions may be called from any thread.
/// What a log gives back has passed its checksums, but is not decoded.
///
/// Reading back is what counts: an error of `append` of kind io or unavailable leaves open whether the records are in the
/// log. The writer then starts a new epoch, reads up to it, and decides again (design rule 4).
class Log {
 public:
  Log() = default;
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  virtual ~Log() = default;

  /// For messages: "sqlite:/var/lib/hindsight/log.db".
  [[nodiscard]] virtual std::string_view name() const = 0;

  // ---- writing ----

  /// Adds all records or none, in their order, and returns the position of the last one when they are durable. Every domain's
  /// sequences count on by one and its epochs never fall. `expected` is the position of the log's last record as the caller
  /// knows it; without it the log takes the records wherever it stands. Errors: conflict (another position, sequence or epoch:
  /// nothing was added), invalid (a record is empty or too long: nothing was added), unavailable (it is full: nothing was added; or it
  /// cannot be reached, see above), io (see above), denied (read-only).
  [[nodiscard]] virtual Result<Position> append(std::span<const EncodedRecord> records, std::optional<Position> expected) = 0;

  /// The same without waiting; batches are taken in the order of the calls.
  virtual void append_async(RecordBatch batch, std::optional<Position> expected, AppendDone done) = 0;

  // ---- reading ----

  /// Replaces `out` with records from offset `from` on, perhaps fewer than `limits` allows; empty only at the end of the log. Of good
  /// records before a damaged one the good ones are given first. Errors: corrupt (the record at `from` is damaged; the message names its
  /// offset), not_found (it is not kept any more; the message names the first that is), io.
  [[nodiscard]] virtual Result<void> read(Position from, const ReadLimits& limits, RecordBatch& out) const = 0;

  /// Position of the first record that is kept, or would be: 1, also of an empty log, unless it has forgotten its beginning.
  [[nodiscard]] virtual Result<Position> first() const;

  /// Where it was cut last by `forget`; nothing: never.
  [[nodiscard]] virtual Result<std::optional<DomainsAt>> trimmed() const { return std::optional<DomainsAt>(); }

  /// Behind which position a fold of this domain begins that uses no snapshot: 0, unless the log has forgotten its beginning. Errors:
  /// not_found (the first records of the domain are not kept any more: only a snapshot helps), io.
  [[nodiscard]] Result<Position> beginning(std::string_view domain) const;

  /// Position of the last record; 0: the log is empty.
  [[nodiscard]] virtual Result<Position> last() const = 0;

  /// Offset of the first record whose time is `time` or later; last() + 1 when there is none.
  [[nodiscard]] virtual Result<Position> seek(Time time) const = 0;

  /// Waits until the log is longer than `position`, at most `timeout`; returns its last position either way.
  [[nodiscard]] virtual Result<Position> wait_beyond(Position position, Duration timeout) const = 0;

  /// The last record of each domain, sorted by domain.
  [[nodiscard]] virtual Result<std::vector<DomainTail>> domains() const = 0;

  /// The records that every reader passes over, sorted: whoever folds asks before it begins (events/quarantine.hpp). Complete: a record
  /// that says so of another one is in the log only after it stands here.
  [[nodiscard]] virtual Result<std::vector<QuarantinedRecord>> quarantined() const = 0;

  // ---- snapshots ----

  /// Keeps a snapshot, in place of an older one of the same domain at the same position. Errors: invalid (position beyond the log), io,
  /// denied.
  [[nodiscard]] virtual Result<void> put_snapshot(const SnapshotMeta& meta, std::span<const std::byte> bytes) = 0;

  /// All snapshots of all domains, newest position first.
  [[nodiscard]] virtual Result<std::vector<SnapshotMeta>> snapshots() const = 0;

  /// The snapshot at exactly this position whose meta names exactly this domain. Errors: not_found, corrupt, io.
  [[nodiscard]] virtual Result<StoredSnapshot> snapshot(Position position, std::string_view domain) const = 0;

  /// Forgets a snapshot; one that does not exist is no error.
  [[nodiscard]] virtual Result<void> drop_snapshot(Position position, std::string_view domain) = 0;

  // ---- checkpoints of the chain (events/chain.hpp) ----

  /// Keeps a checkpoint, in place of an older one at the same position. `standing`: how the domains stood there, so that who goes on from
  /// the newest checkpoint need not read what is before it. Errors: invalid (it is beyond the log, or not of a form that there can be),
  /// denied, io.
  [[nodiscard]] virtual Result<void> put_checkpoint(const evidence::Checkpoint& checkpoint, std::span<const DomainTail> standing);

  /// All of them, oldest position first. Errors: corrupt (one is not of a form that there can be; the message names it), io.
  [[nodiscard]] virtual Result<std::vector<evidence::Checkpoint>> checkpoints() const { return std::vector<evidence::Checkpoint>(); }

  /// How the domains stood at the checkpoint that was put last; nothing: it is not known. Without domains in a log where every record
  /// counts, for then nobody need know.
  [[nodiscard]] virtual Result<std::optional<DomainsAt>> checkpoint_standing() const { return std::optional<DomainsAt>(); }

  /// Forgets a checkpoint; one that does not exist is no error.
  [[nodiscard]] virtual Result<void> drop_checkpoint(Position position);

  // ---- forgetting ----

  /// Forgets all records up to this place, for ever. Each domain that is named must have a snapshot there or behind it
  /// (replay/trim.hpp sees to that). Errors: unsupported (this log keeps everything), invalid (it is not in the log), denied, io.
  [[nodiscard]] virtual Result<void> forget(const DomainsAt& cut);

  /// Makes an empty log begin behind this place, as if it had held records up to it and forgotten them. `quarantined`: what was
  /// said of records among those that it is to pass over. Errors: conflict (it is not empty),
  /// unsupported, denied, io.
  [[nodiscard]] virtual Result<void> begin_behind(const DomainsAt& cut, std::span<const QuarantinedRecord> quarantined);

  // ---- room ----

  /// Nothing: a log that cannot say, because it lies elsewhere or in memory.
  [[nodiscard]] virtual Result<std::optional<LogSpace>> space() const { return std::optional<LogSpace>(); }
  /// Gives room that forgotten records leave, beyond what new ones will soon need, back to the disk. Takes its time, and holds up nobody.
  [[nodiscard]] virtual Result<void> give_back() { return {}; }

  // ---- checking ----

  /// Walks over everything that is in it. Reads on behind damage. `progress` is called now and then; when it returns false the walk ends
  /// early, with what was found so far.
  [[nodiscard]] virtual Result<CheckReport> check(const CheckProgress& progress = {});

  /// Checkpoints that cannot be read, for which `checkpoints` fails: where, and why; by position. `drop_checkpoint` takes them, too.
  [[nodiscard]] virtual Result<std::vector<UnreadableCheckpoint>> unreadable_checkpoints() const {
    return std::vector<UnreadableCheckpoint>();
  }
};

}  // namespace hindsight::events
