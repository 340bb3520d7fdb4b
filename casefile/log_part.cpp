#include "casefile/log_part.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "events/domain_tails.hpp"
#include "events/log_copy.hpp"
#include "events/sqlite_log.hpp"
#include "replay/snapshots.hpp"

namespace hindsight::casefile {
namespace {

using events::DomainsAt;
using events::ReadLimits;
using events::RecordBatch;

/// A log of which only a part is there to be read: what stands behind a cut, and not behind `last`.
class PartOfLog final : public events::Log {
 public:
  PartOfLog(const Log& whole, DomainsAt cut, Position last, std::string domain)
      : whole_(whole), cut_(std::move(cut)), last_(last), domain_(std::move(domain)) {}

  [[nodiscard]] std::string_view name() const override { return whole_.name(); }
  [[nodiscard]] Result<Position> append(std::span<const events::EncodedRecord>, std::optional<Position>) override { return refused(); }
  void append_async(RecordBatch, std::optional<Position>, events::AppendDone done) override { done(refused()); }
  [[nodiscard]] Result<void> read(Position from, const ReadLimits& limits, RecordBatch& out) const override {
    out.clear();
    if (from > last_) return {};
    RecordBatch batch;
    if (auto ok = whole_.read(from, limits, batch); !ok) return ok;
    for (const auto& record : batch)
      if (record.offset <= last_) out.add(record, record.offset);
    return {};
  }
  [[nodiscard]] Result<Position> first() const override { return cut_.position + 1; }
  [[nodiscard]] Result<std::optional<DomainsAt>> trimmed() const override {
    return cut_.position == 0 ? std::optional<DomainsAt>() : std::optional(cut_);
  }
  [[nodiscard]] Result<Position> last() const override { return last_; }
  [[nodiscard]] Result<Position> seek(Time time) const override { return whole_.seek(time); }
  [[nodiscard]] Result<Position> wait_beyond(Position, Duration) const override { return last_; }
  [[nodiscard]] Result<std::vector<events::DomainTail>> domains() const override { return whole_.domains(); }
  [[nodiscard]] Result<std::vector<events::QuarantinedRecord>> quarantined() const override {
    auto all = whole_.quarantined();
    if (all) std::erase_if(*all, [&](const auto& q) { return q.position > last_; });
    return all;
  }
  [[nodiscard]] Result<void> put_snapshot(const events::SnapshotMeta&, std::span<const std::byte>) override { return refused(); }
  /// Those that a fold of the domain may begin with.
  [[nodiscard]] Result<std::vector<events::SnapshotMeta>> snapshots() const override {
    auto all = replay::snapshots_of(whole_, domain_);
    if (all) std::erase_if(*all, [&](const auto& meta) { return meta.position > last_ || meta.position < cut_.position; });
    return all;
  }
  [[nodiscard]] Result<events::StoredSnapshot> snapshot(Position position, std::string_view domain) const override {
    return whole_.snapshot(position, domain);
  }
  [[nodiscard]] Result<void> drop_snapshot(Position, std::string_view) override { return refused(); }
  [[nodiscard]] Result<std::vector<evidence::Checkpoint>> checkpoints() const override {
    auto all = whole_.checkpoints();
    if (all) std::erase_if(*all, [&](const auto& c) { return c.position > last_ || c.position < cut_.position; });
    return all;
  }

 private:
  static tl::unexpected<Error> refused() { return fail(ErrorKind::denied, "a part of a log is only read"); }

  const Log& whole_;
  DomainsAt cut_;
  Position last_;
  std::string domain_;
};

/// Where the log itself begins.
Result<DomainsAt> beginning_of(const events::Log& log) {
  const auto cut = log.trimmed();
  if (!cut) return tl::unexpected(cut.error());
  return *cut ? **cut : DomainsAt{};
}

/// How the domains stand at a position, and how long the records are from there to `to`.
struct Standing {
  DomainsAt at;
  std::uint64_t bytes = 0;
};
Result<Standing> standing_at(const events::Log& log, const DomainsAt& begin, Position position, Position to) {
  events::DomainTails tails;
  for (const auto& tail : begin.tails) tails.set(tail);
  Standing out;
  RecordBatch batch;
  for (Position at = begin.position; at < to;) {
    if (auto ok = log.read(at + 1, {}, batch); !ok) return tl::unexpected(ok.error());
    if (batch.empty()) break;
    for (const auto& record : batch) {
      at = record.offset;
      if (at > to) break;
      if (tails.order(record) == RecordOrder::passed_over)
        return fail(ErrorKind::unsupported,
                    "log " + std::string(log.name()) + ", record " + std::to_string(at) +
                        ": it was left behind by a writer that had been replaced, so positions in a copy are others; allowed: "
                        "evidence without --with-log, or 'hindsight log copy' and evidence of the copy");
      (void)tails.take(record);
      if (at > position) out.bytes += record.bytes.size();
      if (at == position) out.at.tails = tails.list();
    }
  }
  if (position == begin.position) out.at = begin;
  out.at.position = position;
  std::erase_if(out.at.tails, [](const auto& tail) { return tail.sequence == 0; });
  return out;
}

/// Removes what a copy that came to nothing has left.
void remove_log(const std::string& file) {
  std::error_code ignored;
  for (const char* end : {"", "-wal", "-shm", "-journal", ".lock", "-lock"}) std::filesystem::remove(file + end, ignored);
}

/// The copy answers as the account does.
Result<bool> answers_alike(const events::Log& part, const Account& account) {
  // The account's own question may have been "to the end of its life", or a time: its answer has both, position and time.
  const Question question{account.target, account.domain, replay::Located{account.position, account.time}};
  const auto again = gather(part, question);
  if (!again && again.error().kind == ErrorKind::not_found) return false;
  if (!again) return tl::unexpected(again.error());
  if (again->answer.why.has_value() != account.answer.why.has_value()) return false;
  return !account.answer.why || (again->answer.position == account.answer.position &&
                                 projections::to_text(*again->answer.why) == projections::to_text(*account.answer.why));
}

}  // namespace

Result<LogPart> write_log_part(const events::Log& log, const Account& account, const std::string& file, const GatherProgress& progress) {
  const auto begin = beginning_of(log);
  if (!begin) return tl::unexpected(begin.error());
  const auto snapshots = replay::snapshots_of(log, account.domain);
  if (!snapshots) return tl::unexpected(snapshots.error());
  const Position needed = account.bearing.needed_from;
  std::vector<Position> starts;
  for (const auto& meta : *snapshots)
    if (meta.position < needed && meta.position > begin->position && starts.empty()) starts.push_back(meta.position);
  starts.push_back(begin->position);
  for (const Position start : starts) {
    const auto standing = standing_at(log, *begin, start, account.position);
    if (!standing) return tl::unexpected(standing.error());
    if (standing->bytes > LogPart::bytes_max)
      return fail(ErrorKind::invalid, "--with-log: found " + std::to_string(standing->bytes) + " bytes of records from " +
                                          std::to_string(start + 1) + " to " + std::to_string(account.position) + "; allowed: at most " +
                                          std::to_string(LogPart::bytes_max) + "; 'hindsight log copy' copies a log of any length");
    const PartOfLog part(log, standing->at, account.position, account.domain);
    remove_log(file);
    {
      auto copy = events::SqliteLog::open(file, {.durability = events::Durability::off});
      if (!copy) return tl::unexpected(copy.error());
      if (auto ok = events::copy_log(part, **copy, progress); !ok) return tl::unexpected(ok.error());
    }
    const auto copy = events::SqliteLog::open(file, {.read_only = true});
    if (!copy) return tl::unexpected(copy.error());
    const auto alike = answers_alike(**copy, account);
    if (!alike) return tl::unexpected(alike.error());
    if (*alike) return LogPart{start + 1, account.position, account.position - start};
  }
  return fail(ErrorKind::corrupt, "--with-log: the copied records do not give the answer that log " + account.log + " gives");
}

}  // namespace hindsight::casefile
