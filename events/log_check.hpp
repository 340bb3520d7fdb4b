#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "events/check_report.hpp"
#include "events/log.hpp"
#include "events/record.hpp"

namespace hindsight::events {

/// Checks records one after another, whatever log they come from: that each decodes, that its envelope says what the log's own
/// columns say, that sequences of a domain count on by one and epochs do not fall.
class RecordChecker {
 public:
  /// With `strays` records that do not count (vocabulary/record_order.hpp) may stand between the others.
  explicit RecordChecker(bool strays = false) : strays_(strays) {}

  /// The records before it are not there. Before the first check.
  void begin(const DomainsAt& cut);
  void check(const StoredRecord& record, std::vector<Finding>& findings);
  /// After records that could not be read: sequences may have gone on meanwhile.
  void skip() { gap_ = true; }

  /// The last record of each domain that was seen.
  [[nodiscard]] const std::map<std::string, DomainTail, std::less<>>& tails() const { return tails_; }
  [[nodiscard]] bool skipped() const { return gap_; }
  /// Records that did not count.
  [[nodiscard]] std::uint64_t passed_over() const { return passed_over_; }

 private:
  void check_order(const StoredRecord& record, std::vector<Finding>& findings);

  RecordReader reader_;
  std::map<std::string, DomainTail, std::less<>> tails_;
  const bool strays_;
  std::uint64_t passed_over_ = 0;
  bool gap_ = false;
};

/// Whether a snapshot says of itself what the log says of it. The schema version inside is that of the bytes, whatever the one beside them.
[[nodiscard]] bool same_snapshot(SnapshotMeta inside, const SnapshotMeta& beside);

/// Walks over a log by what every log can do: records, sequences, epochs, bodies, snapshots. Reads on behind damage.
[[nodiscard]] Result<CheckReport> walk(const Log& log, RecordChecker checker, const CheckProgress& progress);

}  // namespace hindsight::events
