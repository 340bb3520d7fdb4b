#include <algorithm>
#include <limits>
#include <map>

#include "events/snapshot.hpp"
#include "events/sqlite/layout.hpp"
#include "events/sqlite_log.hpp"

namespace hindsight::events {
namespace {

/// One walk over a log file, through a connection of its own.
class Walk {
 public:
  Walk(sqlite::Reader& reader, const CheckProgress& progress) : reader_(reader), progress_(progress) {}

  Result<CheckReport> run() {
    for (auto step : {&Walk::check_pages, &Walk::check_records, &Walk::check_tails, &Walk::check_marks, &Walk::check_snapshots,
                      &Walk::check_checkpoints}) {
      if (auto done = (this->*step)(); !done) return tl::unexpected(done.error());
      if (!report_.complete) break;
    }
    if (report_.findings.size() > findings_max) {
      report_.findings.resize(findings_max);
      report_.complete = false;
    }
    return std::move(report_);
  }

 private:
  void find(Position offset, std::string what) { report_.findings.push_back({offset, std::move(what)}); }

  bool go_on(Position done) {
    if (report_.findings.size() >= findings_max || (progress_ && !progress_(done, report_.last))) report_.complete = false;
    return report_.complete;
  }

  Result<void> check_pages() {
    const auto lines = reader_.check_pages(100);
    if (!lines) return tl::unexpected(lines.error());
    for (const auto& line : *lines) find(0, "page check: " + line);
    pages_sound_ = lines->empty();
    return {};
  }

  Result<void> check_records() {
    // The tails first: what is appended while this runs comes after them.
    if (auto tails = reader_.domains()) {
      for (auto& tail : *tails) tails_.emplace(tail.offset, std::move(tail));
    } else {
      find(0, tails.error().message);
    }
    const auto last = reader_.last();
    if (!last && last.error().kind != ErrorKind::corrupt) return tl::unexpected(last.error());
    if (!last) find(0, last.error().message);
    report_.last = last.value_or(0);
    // The last row of damaged pages may be any; what a domain is known to have then counts too, and may be any as well.
    if (!pages_sound_ && !tails_.empty()) {
      constexpr Position offset_max = std::numeric_limits<std::int64_t>::max();
      report_.last = std::min(std::max(report_.last, tails_.rbegin()->first), offset_max);
    }
    const auto cut = reader_.trimmed();
    if (!cut && cut.error().kind != ErrorKind::corrupt) return tl::unexpected(cut.error());
    if (!cut) find(0, cut.error().message);
    if (cut && *cut) begin(**cut);
    const auto set_aside = reader_.quarantined();
    if (!set_aside && set_aside.error().kind != ErrorKind::corrupt) return tl::unexpected(set_aside.error());
    if (!set_aside) find(0, set_aside.error().message);
    if (set_aside) checker_.expect(*set_aside);
    // Where the end may be damaged, what stands before the damage counts all the same.
    const bool end_known = last.has_value() && pages_sound_;
    for (Position offset = first_; !end_known || offset <= report_.last;) {
      if (!go_on(offset - 1)) return {};
      auto read = reader_.read(offset, {}, batch_);
      if (offset > report_.last && (read ? batch_.empty() : read.error().kind == ErrorKind::corrupt)) break;
      if (read && batch_.empty()) {
        find(offset, "record " + std::to_string(offset) + " is missing");
        return {};
      }
      if (read) {
        for (const auto& record : batch_) take(record);
        offset = batch_[batch_.size() - 1].offset + 1;
        report_.last = std::max(report_.last, offset - 1);
      } else if (read.error().kind == ErrorKind::corrupt) {
        find(offset, read.error().message);
        const Position next = next_readable(offset);
        if (next > offset + 1) find(offset, "records " + std::to_string(offset) + " to " + std::to_string(next - 1) + " cannot be read");
        checker_.skip();
        offset = next;
      } else {
        return read;
      }
    }
    go_on(report_.last);
    report_.set_aside = checker_.set_aside();
    if (report_.complete) checker_.check_list(report_.findings);
    return {};
  }

  /// The records up to there were forgotten.
  void begin(const DomainsAt& cut) {
    first_ = cut.position + 1;
    checker_.begin(cut);
    std::erase_if(tails_, [&](const auto& tail) { return tail.first <= cut.position; });
    if (const auto marks = reader_.time_marks()) {
      const auto mark = std::ranges::find(*marks, cut.position, [](const auto& m) { return m.first; });
      if (mark != marks->end()) latest_ = mark->second;
    }
  }

  void take(const StoredRecord& record) {
    ++report_.records;
    checker_.check(record, report_.findings);
    latest_ = std::max(latest_, record.time);
    if (record.offset % sqlite::time_mark_interval == 0) marks_.emplace_back(record.offset, latest_);
    if (const auto it = tails_.find(record.offset); it != tails_.end()) {
      const DomainTail& tail = it->second;
      const bool equal = record.sequence == numbered_by_reader || (tail.sequence == record.sequence && tail.epoch == record.epoch);
      if (tail.domain == record.domain && equal) tails_.erase(it);
    }
  }

  bool readable(Position offset) { return reader_.read(offset, {.records = 1}, batch_).has_value() && !batch_.empty(); }

  /// The first record behind damage that can be read; last + 1 when none can. A damaged page takes a run of records with it: jump
  /// ever further to get behind it, then close in.
  Position next_readable(Position damaged) {
    Position bad = damaged;
    Position good = 0;
    for (Position jump = 1; good == 0; jump *= 2) {
      const Position probe = std::min(damaged + jump, report_.last + 1);
      if (probe > report_.last || readable(probe)) {
        good = probe;
      } else {
        bad = probe;
      }
    }
    if (good > report_.last && bad < report_.last && readable(report_.last)) good = report_.last;
    while (good - bad > 1) {
      const Position middle = bad + (good - bad) / 2;
      (readable(middle) ? good : bad) = middle;
    }
    return good;
  }

  Result<void> check_tails() {
    if (checker_.skipped()) return {};
    for (const auto& [offset, tail] : tails_) {
      find(0, "domain \"" + tail.domain + "\": its last record is said to be sequence " + std::to_string(tail.sequence) + " at offset " +
                  std::to_string(offset) + ", which it is not");
    }
    return {};
  }

  Result<void> check_marks() {
    if (checker_.skipped()) return {};
    const auto stored = reader_.time_marks();
    if (!stored) {
      find(0, stored.error().message);
      return {};
    }
    for (const auto& mark : marks_) {
      if (!std::binary_search(stored->begin(), stored->end(), mark)) find(mark.first, "time mark is missing or wrong");
    }
    return {};
  }

  /// Whether they can be read; whether the records lead to them is for an audit to say (replay/audit.hpp).
  Result<void> check_checkpoints() {
    if (const auto list = reader_.checkpoints(); !list) find(0, list.error().message);
    return {};
  }

  /// Every snapshot that counts is read whole. Parts that none of them claims are no finding: they are of one that is being written, or
  /// was left unfinished, and the next writer removes them.
  Result<void> check_snapshots() {
    const auto list = reader_.snapshots();
    if (!list) {
      find(0, list.error().message);
      return {};
    }
    for (const auto& meta : *list) {
      auto stored = reader_.snapshot(meta.position, meta.domain, turns_, {});
      if (!stored && stored.error().kind == ErrorKind::not_found) continue;  // dropped since it was listed
      ++report_.snapshots;
      const std::string which = "snapshot at position " + std::to_string(meta.position);
      if (meta.position > report_.last) find(meta.position, which + ": the log ends at " + std::to_string(report_.last));
      if (!stored) {
        find(meta.position, stored.error().message);
        continue;
      }
      const auto decoded = decode_snapshot(std::move(stored->bytes));
      if (!decoded) {
        find(meta.position, which + ": " + decoded.error().message);
      } else if (!same_snapshot((*decoded)->meta(), meta)) {
        find(meta.position, which + ": its bytes are of another snapshot");
      }
    }
    return {};
  }

  sqlite::Reader& reader_;
  sqlite::Turns turns_;  // nobody else uses the reader
  const CheckProgress& progress_;
  CheckReport report_;
  bool pages_sound_ = true;
  Position first_ = 1;
  RecordChecker checker_;
  RecordBatch batch_;
  std::multimap<Position, DomainTail> tails_;  // by offset; those that were met are taken out
  Time latest_ = Time::never();
  std::vector<std::pair<Position, Time>> marks_;
};

}  // namespace

Result<CheckReport> SqliteLog::check(const CheckProgress& progress) {
  auto reader = sqlite::Reader::open(path_);
  if (!reader) return tl::unexpected(reader.error());
  return Walk(*reader, progress).run();
}

}  // namespace hindsight::events
