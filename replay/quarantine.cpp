#include "replay/quarantine.hpp"

#include <algorithm>

#include "events/domain_tails.hpp"
#include "events/json.hpp"
#include "events/quarantine.hpp"
#include "replay/snapshots.hpp"

namespace hindsight::replay {
namespace {

using events::DomainTail;
using events::DomainTails;
using events::RecordBatch;
using events::StoredRecord;

class Operation {
 public:
  Operation(Log& log, const QuarantineOptions& options) : log_(log), options_(options) {}

  Result<QuarantineReport> run() {
    for (auto step :
         {&Operation::find, &Operation::look_behind, &Operation::judge, &Operation::append, &Operation::drop_snapshots, &Operation::fold})
      if (auto ok = (this->*step)(); !ok) return tl::unexpected(ok.error());
    return report_;
  }

 private:
  [[nodiscard]] tl::unexpected<Error> refuse(ErrorKind kind, const std::string& why) const {
    return fail(kind, "log " + std::string(log_.name()) + ", record " + std::to_string(options_.record) + ": " + why);
  }

  /// Calls `see` for each record from `from` on; it returns an error to end.
  Result<void> walk(Position from, Position to, const std::function<Result<void>(const StoredRecord&)>& see) {
    RecordBatch batch;
    for (Position at = from; at <= to;) {
      if (options_.progress) options_.progress(at - from, to - from + 1);
      if (auto ok = log_.read(at, {}, batch); !ok) return ok;
      if (batch.empty()) return {};
      for (const auto& stored : batch) {
        at = stored.offset + 1;
        if (stored.offset > to) return {};
        if (auto ok = see(stored); !ok) return ok;
      }
    }
    return {};
  }

  /// Which record it is: its sequence is counted, as every reader counts it.
  Result<void> find() {
    const auto last = log_.last();
    if (!last) return tl::unexpected(last.error());
    last_ = *last;
    const auto first = log_.first();
    if (!first) return tl::unexpected(first.error());
    if (options_.record < *first || options_.record > last_)
      return refuse(ErrorKind::not_found,
                    "it is not in the log; allowed: " + (last_ < *first ? std::string("none, for the log is empty")
                                                                        : std::to_string(*first) + " to " + std::to_string(last_)));
    const auto cut = log_.trimmed();
    if (!cut) return tl::unexpected(cut.error());
    if (*cut)
      for (const auto& tail : (*cut)->tails) tails_.set(tail);
    else if (*first > 1)
      return refuse(ErrorKind::unsupported, "how the domains stood where the log begins is not known");
    return walk(*first, options_.record, [&](const StoredRecord& stored) -> Result<void> {
      const auto order = tails_.take(stored);
      if (stored.offset != options_.record) return {};
      if (order == RecordOrder::passed_over) return refuse(ErrorKind::invalid, "a replaced writer left it behind, and nobody takes it");
      shared_ = stored.sequence == numbered_by_reader;
      report_.domain = stored.domain;
      return read_it(stored);
    });
  }

  Result<void> read_it(const StoredRecord& stored) {
    for (const auto& tail : tails_.list())
      if (tail.domain == report_.domain) report_.sequence = tail.sequence;
    const auto record = reader_.read(stored.bytes);
    if (!record) {
      if (record.error().kind == ErrorKind::unsupported)
        return refuse(ErrorKind::unsupported, record.error().message + "; a newer release takes it");
      report_.what = record.error().message;
      return {};
    }
    if (events::quarantine_in(stored)) return refuse(ErrorKind::invalid, "it sets another record aside, and stays");
    reader_.number(report_.sequence);
    report_.what = events::to_text(**record);
    return {};
  }

  /// Who decided on a state that had the record in it could take it.
  Result<void> look_behind() {
    return walk(options_.record + 1, last_, [&](const StoredRecord& stored) -> Result<void> {
      const auto order = tails_.take(stored);
      if (stored.domain != report_.domain || order == RecordOrder::passed_over) return {};
      if (const auto said = events::quarantine_in(stored); said && said->sequence == report_.sequence) {
        report_.already = true;
        report_.said_at = stored.offset;
      }
      const auto record = reader_.read(stored.bytes);
      if (!record) return {};
      const auto* decisions = std::get_if<Decisions>(&(*record)->body);
      if (decisions == nullptr || decisions->base < report_.sequence || report_.already) return {};
      if (report_.decisions_with_it++ == 0) decided_at_ = stored.offset;
      return {};
    });
  }

  Result<void> judge() {
    const auto listed = events::passed_over(log_, report_.domain);
    if (!listed) return tl::unexpected(listed.error());
    report_.already = report_.already && listed->contains(report_.sequence);
    if (report_.already || report_.decisions_with_it == 0 || options_.force) return {};
    return refuse(ErrorKind::conflict,
                  "with it record " + std::to_string(decided_at_) + " was decided" +
                      (report_.decisions_with_it > 1 ? ", and " + std::to_string(report_.decisions_with_it - 1) + " more" : std::string()) +
                      ": some release takes it; allowed: to run that one, or --force, and then what is on record is "
                      "not what follows without it");
  }

  Result<void> append() {
    if (report_.already || options_.only_tell) return {};
    DomainTail tail;
    for (auto& known : tails_.list())
      if (known.domain == report_.domain) tail = std::move(known);
    RecordView record;
    record.envelope.domain = report_.domain;
    record.envelope.sequence = shared_ ? numbered_by_reader : tail.sequence + 1;
    record.envelope.epoch = shared_ ? 0 : tail.epoch;
    record.envelope.time = options_.now;
    record.body = Observation(RecordQuarantined{report_.sequence, options_.record, options_.writer, options_.release, options_.reason});
    const auto bytes = events::encode(record);
    const events::EncodedRecord encoded{report_.domain, record.envelope.sequence, record.envelope.epoch, record.envelope.time, bytes};
    const auto position = log_.append({&encoded, 1}, shared_ ? std::nullopt : std::optional(last_));
    if (!position) return tl::unexpected(position.error());
    report_.said_at = *position;
    return {};
  }

  Result<void> drop_snapshots() {
    const auto list = snapshots_of(log_, report_.domain);
    if (!list) return tl::unexpected(list.error());
    for (const auto& meta : *list) {
      if (meta.position < options_.record || (report_.already && meta.position >= report_.said_at)) continue;
      ++report_.snapshots_dropped;
      if (options_.only_tell) continue;
      if (auto ok = log_.drop_snapshot(meta.position, meta.domain); !ok) return ok;
    }
    return {};
  }

  Result<void> fold() {
    if (options_.only_tell) return {};
    const auto last = log_.last();
    if (!last) return tl::unexpected(last.error());
    Past past(log_, report_.domain, {.progress = options_.progress});
    if (auto ok = past.go_to(*last); !ok)
      return fail(ok.error().kind, ok.error().message + " (record " + std::to_string(options_.record) + " is set aside)");
    report_.state_hash = past.driver().state_hash();
    return {};
  }

  Log& log_;
  const QuarantineOptions& options_;
  QuarantineReport report_;
  events::RecordReader reader_;
  DomainTails tails_;
  Position last_ = 0;
  Position decided_at_ = 0;
  bool shared_ = false;  ///< The reader counts.
};

}  // namespace

Result<QuarantineReport> quarantine(Log& log, const QuarantineOptions& options) { return Operation(log, options).run(); }

}  // namespace hindsight::replay
