#include "events/log_check.hpp"

#include <algorithm>

#include "events/snapshot.hpp"
#include "vocabulary/record_order.hpp"

namespace hindsight::events {

void RecordChecker::begin(const DomainsAt& cut) {
  for (const auto& tail : cut.tails) tails_[tail.domain] = tail;
  trimmed_ = true;
}

void RecordChecker::expect(const std::vector<QuarantinedRecord>& set_aside) {
  for (const auto& record : set_aside) expected_.try_emplace({record.domain, record.sequence}, false);
}

void RecordChecker::check_list(std::vector<Finding>& findings) const {
  if (trimmed_ || gap_) return;
  for (const auto& [record, said] : expected_)
    if (!said)
      findings.push_back({0, "domain \"" + record.first + "\": sequence " + std::to_string(record.second) +
                                 " is said to be set aside, and no record says so; allowed: to set it aside once more"});
}

void RecordChecker::check(const StoredRecord& record, std::vector<Finding>& findings) {
  check_order(record, findings);
  const auto decoded = reader_.read(record.bytes);
  const auto tail = tails_.find(record.domain);
  const bool set_aside = tail->second.offset == record.offset && expected_.contains({tail->first, tail->second.sequence});
  set_aside_ += set_aside ? 1 : 0;
  if (!decoded) {
    if (!set_aside) findings.push_back({record.offset, decoded.error().message});
    return;
  }
  const Envelope& envelope = (*decoded)->envelope;
  const auto differs = [&](const char* field, const std::string& inside, const std::string& beside) {
    findings.push_back({record.offset, "record: " + std::string(field) + " is " + inside + " in its envelope, " + beside + " in the log"});
  };
  if (envelope.domain != record.domain)
    differs("domain", "\"" + std::string(envelope.domain) + "\"", "\"" + std::string(record.domain) + "\"");
  if (envelope.sequence != record.sequence) differs("sequence", std::to_string(envelope.sequence), std::to_string(record.sequence));
  if (envelope.epoch != record.epoch) differs("epoch", std::to_string(envelope.epoch), std::to_string(record.epoch));
  if (const auto said = quarantine_in(record)) {
    const auto it = expected_.find({said->domain, said->sequence});
    if (it != expected_.end())
      it->second = true;
    else
      findings.push_back({record.offset, "record: it sets sequence " + std::to_string(said->sequence) +
                                             " aside, and the list beside the records does not name it"});
  }
  if (envelope.time != record.time) differs("time", std::to_string(envelope.time.micros), std::to_string(record.time.micros));
}

void RecordChecker::check_order(const StoredRecord& record, std::vector<Finding>& findings) {
  auto it = tails_.find(record.domain);
  if (it == tails_.end()) it = tails_.emplace(record.domain, DomainTail{.domain = std::string(record.domain)}).first;
  DomainTail& tail = it->second;
  if (strays_ && record_order(tail.sequence, tail.epoch, record.sequence, record.epoch) == RecordOrder::passed_over) {
    ++passed_over_;
    return;
  }
  const std::string domain = "domain \"" + std::string(record.domain) + "\": ";
  const bool by_reader = record.sequence == numbered_by_reader;
  const bool counts_on = by_reader || (gap_ ? record.sequence > tail.sequence : record.sequence == tail.sequence + 1);
  if (!counts_on) {
    findings.push_back(
        {record.offset, domain + "sequence " + std::to_string(record.sequence) + " follows " + std::to_string(tail.sequence)});
  }
  if (record.epoch < tail.epoch && !(by_reader && record.epoch == 0)) {
    findings.push_back({record.offset, domain + "epoch " + std::to_string(record.epoch) + " follows " + std::to_string(tail.epoch)});
  }
  tail.sequence = by_reader ? tail.sequence + 1 : record.sequence;
  tail.epoch = std::max(tail.epoch, record.epoch);
  tail.offset = record.offset;
}

// ---- a whole log ----------------------------------------------------------------------------------------------------------

bool same_snapshot(SnapshotMeta inside, const SnapshotMeta& beside) {
  inside.schema_version = beside.schema_version;
  if (beside.domain.empty()) inside.domain.clear();
  return inside == beside;
}

namespace {

void check_snapshot(const Log& log, const SnapshotMeta& meta, Position last, std::vector<Finding>& findings) {
  const auto find = [&](const std::string& what) {
    findings.push_back({meta.position, "snapshot at position " + std::to_string(meta.position) + ": " + what});
  };
  if (meta.position > last) find("the log ends at " + std::to_string(last));
  auto stored = log.snapshot(meta.position, meta.domain);
  if (!stored) {
    findings.push_back({meta.position, stored.error().message});
    return;
  }
  const auto decoded = decode_snapshot(std::move(stored->bytes));
  if (!decoded) {
    // one of a newer release is none of our business
    if (decoded.error().kind != ErrorKind::unsupported) find(decoded.error().message);
  } else if (!same_snapshot((*decoded)->meta(), meta)) {
    find("what it says of itself differs from what the log says of it");
  }
}

}  // namespace

Result<CheckReport> walk(const Log& log, RecordChecker checker, const CheckProgress& progress) {
  CheckReport report;
  const auto first = log.first();
  if (!first) return tl::unexpected(first.error());
  const auto last = log.last();
  if (!last) return tl::unexpected(last.error());
  report.last = *last;
  if (*first > 1) {
    const auto cut = log.trimmed();
    if (!cut) return tl::unexpected(cut.error());
    if (*cut && (*cut)->position + 1 == *first)
      checker.begin(**cut);
    else
      checker.skip();  // nobody noted what was before
  }
  const auto set_aside = log.quarantined();
  if (!set_aside) return tl::unexpected(set_aside.error());
  checker.expect(*set_aside);
  RecordBatch batch;
  for (Position offset = *first; offset <= *last && report.complete;) {
    report.complete = report.findings.size() < findings_max && (!progress || progress(offset - *first, *last - *first + 1));
    const auto read = log.read(offset, {}, batch);
    if (!read && read.error().kind != ErrorKind::corrupt && read.error().kind != ErrorKind::unsupported)
      return tl::unexpected(read.error());
    if (!read) {
      report.findings.push_back({offset++, read.error().message});
      checker.skip();
      continue;
    }
    if (batch.empty()) break;
    for (const auto& record : batch) checker.check(record, report.findings);
    report.records += batch.size();
    offset = batch[batch.size() - 1].offset + 1;
  }
  report.passed_over = checker.passed_over();
  report.set_aside = checker.set_aside();
  if (report.complete) checker.check_list(report.findings);
  const auto snapshots = log.snapshots();
  if (!snapshots) return tl::unexpected(snapshots.error());
  for (const auto& meta : *snapshots) {
    if (!report.complete) break;
    ++report.snapshots;
    check_snapshot(log, meta, *last, report.findings);
  }
  if (const auto checkpoints = log.checkpoints(); !checkpoints) {
    if (checkpoints.error().kind != ErrorKind::corrupt) return tl::unexpected(checkpoints.error());
    report.findings.push_back({0, checkpoints.error().message});
  }
  if (report.findings.size() > findings_max) {
    report.findings.resize(findings_max);
    report.complete = false;
  }
  return report;
}

Result<CheckReport> Log::check(const CheckProgress& progress) { return walk(*this, RecordChecker(), progress); }

}  // namespace hindsight::events
