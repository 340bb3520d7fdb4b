#include "events/log_copy.hpp"

#include <algorithm>
#include <optional>

#include "events/checksum.hpp"
#include "events/domain_tails.hpp"

namespace hindsight::events {
namespace {

constexpr ReadLimits limits{.records = 2000, .bytes = std::size_t{8} << 20};

std::uint64_t joined(std::uint64_t hash, StoredRecord record, Position offset) {
  record.offset = offset;
  return (hash ^ checksum(record)) * 0x9E3779B97F4A7C15ULL;
}

std::string named(const Log& log) { return "log " + std::string(log.name()); }

/// The records of a log that count, one after another, as a log without the others would number them.
class Source {
 public:
  /// Those behind `begin`, up to `last`.
  Source(const Log& log, const DomainsAt& begin, Position last) : log_(log), last_(last), read_(begin.position) {
    for (const auto& tail : begin.tails) tails_.set(tail);
  }

  /// The next; none at the end. Lives until the next call.
  Result<std::optional<StoredRecord>> next() {
    for (;;) {
      if (index_ == batch_.size()) {
        if (read_ >= last_) return std::optional<StoredRecord>();
        if (auto ok = log_.read(read_ + 1, limits, batch_); !ok) return tl::unexpected(ok.error());
        if (batch_.empty()) return std::optional<StoredRecord>();
        index_ = 0;
      }
      StoredRecord record = batch_[index_++];
      read_ = record.offset;
      if (read_ > last_) return std::optional<StoredRecord>();
      switch (tails_.take(record)) {
        case RecordOrder::gap:
          return fail(ErrorKind::corrupt, named(log_) + ": record " + std::to_string(read_) + ": records of domain \"" +
                                              std::string(record.domain) + "\" before sequence " + std::to_string(record.sequence) +
                                              " are missing");
        case RecordOrder::passed_over:
          ++passed_over_;
          left_out_.push_back(read_);
          continue;
        case RecordOrder::next:
          break;
      }
      record.offset = read_ - passed_over_;
      return std::optional(record);
    }
  }

  [[nodiscard]] Position read() const { return read_; }
  [[nodiscard]] std::uint64_t passed_over() const { return passed_over_; }
  /// Positions before it are those of the copy too.
  [[nodiscard]] Position first_passed_over() const { return left_out_.empty() ? last_ + 1 : left_out_.front(); }
  /// Where what stands at this position of the log stands in the copy.
  [[nodiscard]] Position in_copy(Position position) const {
    return position - static_cast<Position>(std::ranges::upper_bound(left_out_, position) - left_out_.begin());
  }

 private:
  const Log& log_;
  const Position last_;
  RecordBatch batch_;
  std::size_t index_ = 0;
  Position read_;
  DomainTails tails_;
  std::uint64_t passed_over_ = 0;
  std::vector<Position> left_out_;
};

bool equal(const StoredRecord& a, const StoredRecord& b) {
  return a.domain == b.domain && a.sequence == b.sequence && a.epoch == b.epoch && a.time == b.time && std::ranges::equal(a.bytes, b.bytes);
}

class Copy {
 public:
  Copy(const Log& from, Log& to, const CopyProgress& progress) : from_(from), to_(to), progress_(progress) {}

  Result<CopyReport> run() {
    const auto begin = beginning();
    if (!begin) return tl::unexpected(begin.error());
    const auto last = from_.last();
    if (!last) return tl::unexpected(last.error());
    last_ = *last;
    if (auto ok = agree(*begin); !ok) return tl::unexpected(ok.error());
    Source source(from_, *begin, last_);
    for (auto step : {&Copy::pass_over_forgotten, &Copy::compare_beginning, &Copy::copy_rest, &Copy::compare_hashes, &Copy::copy_snapshots,
                      &Copy::copy_checkpoints})
      if (auto ok = (this->*step)(source); !ok) return tl::unexpected(ok.error());
    report_.passed_over = source.passed_over();
    return report_;
  }

 private:
  /// How the domains of the source stood where its records begin.
  Result<DomainsAt> beginning() const {
    const auto first = from_.first();
    if (!first) return tl::unexpected(first.error());
    const auto cut = from_.trimmed();
    if (!cut) return tl::unexpected(cut.error());
    if (*cut && (*cut)->position + 1 >= *first) return **cut;
    if (*first == 1) return DomainsAt{};
    return fail(ErrorKind::unsupported, named(from_) + " begins with record " + std::to_string(*first) +
                                            ", and how its domains stood there is not known; allowed: a log that has kept all its "
                                            "records, or that 'hindsight log trim' has cut");
  }

  /// From where on both have the records. A copy may go back further than the source, which was trimmed since, or have been trimmed itself.
  Result<void> agree(const DomainsAt& begin) {
    auto held = to_.last();
    if (!held) return tl::unexpected(held.error());
    if (*held == 0 && begin.position > 0) {
      const auto quarantined = from_.quarantined();
      if (!quarantined) return tl::unexpected(quarantined.error());
      if (auto ok = to_.begin_behind(begin, *quarantined); !ok) return ok;
      held = begin.position;
    }
    const auto first = to_.first();
    if (!first) return tl::unexpected(first.error());
    held_ = *held;
    common_ = std::max(begin.position, *first - 1);
    if (held_ < common_)
      return fail(ErrorKind::conflict, named(to_) + " ends with record " + std::to_string(held_) + ", and " + named(from_) +
                                           " begins with record " + std::to_string(begin.position + 1) +
                                           "; allowed: a log that holds the record before, or an empty one");
    report_.last = common_;
    return {};
  }

  /// What only the source still has.
  Result<void> pass_over_forgotten(Source& source) {
    for (Position at = source.read(); at < common_;) {
      const auto record = source.next();
      if (!record) return tl::unexpected(record.error());
      if (!*record)
        return fail(ErrorKind::conflict,
                    named(from_) + " ends before record " + std::to_string(common_ + 1) + ", with which " + named(to_) + " begins");
      at = (**record).offset;
    }
    return {};
  }

  /// What `to` holds must be how the source begins.
  Result<void> compare_beginning(Source& source) {
    RecordBatch batch;
    for (Position at = common_ + 1; at <= held_;) {
      if (auto ok = to_.read(at, limits, batch); !ok) return ok;
      if (batch.empty()) return fail(ErrorKind::corrupt, named(to_) + " has no record " + std::to_string(at));
      for (const auto& theirs : batch) {
        const auto ours = source.next();
        if (!ours) return tl::unexpected(ours.error());
        if (!*ours || !equal(**ours, theirs))
          return fail(ErrorKind::conflict, named(to_) + ": record " + std::to_string(theirs.offset) + " is not that of " + named(from_) +
                                               "; allowed: an empty log, or one with the same beginning");
        ++report_.found;
        report_.hash = joined(report_.hash, **ours, ++report_.last);
      }
      at = batch[batch.size() - 1].offset + 1;
      tell(source.read());
    }
    return {};
  }

  Result<void> copy_rest(Source& source) {
    for (;;) {
      RecordBatch batch;
      Result<std::optional<StoredRecord>> record;
      while (batch.size() < limits.records && batch.bytes() < limits.bytes) {
        record = source.next();
        if (!record) return tl::unexpected(record.error());
        if (!*record) break;
        batch.add(**record);
        report_.hash = joined(report_.hash, **record, report_.last + batch.size());
      }
      if (batch.empty()) return {};
      const auto position = to_.append(batch.views(), report_.last);
      if (!position) return tl::unexpected(position.error());
      report_.copied += batch.size();
      report_.last = *position;
      tell(source.read());
    }
  }

  /// What was written is what comes back.
  Result<void> compare_hashes(Source&) {
    std::uint64_t hash = 0;
    RecordBatch batch;
    for (Position at = common_ + 1; at <= report_.last; at += batch.size()) {
      if (auto ok = to_.read(at, limits, batch); !ok) return ok;
      if (batch.empty()) return fail(ErrorKind::corrupt, named(to_) + " has no record " + std::to_string(at));
      for (const auto& record : batch) hash = joined(hash, record, record.offset);
      tell(at);
    }
    if (hash == report_.hash) return {};
    return fail(ErrorKind::corrupt,
                named(to_) + " differs from " + named(from_) + " although every record was written: nobody else may write to it");
  }

  Result<void> copy_snapshots(Source& source) {
    const auto theirs = to_.snapshots();
    if (!theirs) return tl::unexpected(theirs.error());
    const auto all = from_.snapshots();
    if (!all) return tl::unexpected(all.error());
    for (const auto& meta : *all) {
      if (meta.position < common_ || meta.position >= source.first_passed_over() || meta.position > report_.last) {
        ++report_.snapshots_left;
        continue;
      }
      if (std::find(theirs->begin(), theirs->end(), meta) != theirs->end()) continue;
      const auto stored = from_.snapshot(meta.position, meta.domain);
      if (!stored && stored.error().kind == ErrorKind::not_found) continue;  // dropped since it was listed
      if (!stored) return tl::unexpected(stored.error());
      if (auto ok = to_.put_snapshot(meta, stored->bytes); !ok) return ok;
      ++report_.snapshots;
    }
    return {};
  }

  /// The chain goes over the records that count, so its heads are those of the copy too, at other positions where records were left out.
  Result<void> copy_checkpoints(Source& source) {
    const auto ours = from_.checkpoints();
    if (!ours) return tl::unexpected(ours.error());
    if (ours->empty()) return {};
    const auto theirs = to_.checkpoints();
    if (!theirs) return tl::unexpected(theirs.error());
    const auto standing = from_.checkpoint_standing();
    if (!standing) return tl::unexpected(standing.error());
    for (auto checkpoint : *ours) {
      const bool newest = *standing && (*standing)->position == checkpoint.position;
      if (checkpoint.position < common_ || checkpoint.position > last_) continue;
      checkpoint.position = source.in_copy(checkpoint.position);
      const auto at = std::ranges::lower_bound(*theirs, checkpoint.position, {}, &evidence::Checkpoint::position);
      const bool there = at != theirs->end() && at->position == checkpoint.position;
      if (there && (*at == checkpoint || at->is_signed())) continue;
      if (auto ok = to_.put_checkpoint(checkpoint, newest ? std::span((*standing)->tails) : std::span<const DomainTail>()); !ok) return ok;
      ++report_.checkpoints;
    }
    return {};
  }

  void tell(Position done) const {
    if (progress_) progress_(done, last_);
  }

  const Log& from_;
  Log& to_;
  const CopyProgress& progress_;
  Position last_ = 0;    // of the source
  Position held_ = 0;    // of `to`, before the copy
  Position common_ = 0;  // records up to it are missing in one of the two
  CopyReport report_;
};

}  // namespace

Result<CopyReport> copy_log(const Log& from, Log& to, const CopyProgress& progress) { return Copy(from, to, progress).run(); }

}  // namespace hindsight::events
