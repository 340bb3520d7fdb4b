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
  /// What the list beside the records says is passed over: such a record need not decode. Before the first check.
  void expect(const std::vector<QuarantinedRecord>& set_aside);
  void check(const StoredRecord& record, std::vector<Finding>& findings);
  /// After records that could not be read: sequences may have gone on meanwhile.
  void skip() { gap_ = true; }

  /// The last record of each domain that was seen.
  [[nodiscard]] const std::map<std::string, DomainTail, std::less<>>& tails() const { return tails_; }
  [[nodiscard]] bool skipped() const { return gap_; }
  /// Records that did not count.
  [[nodiscard]] std::uint64_t passed_over() const { return passed_over_; }
  /// Records that are passed over because a later one says so.
  [[nodiscard]] std::uint64_t set_aside() const { return set_aside_; }
  /// After the last check: whether the list beside the records names one of which no record says so.
  void check_list(std::vector<Finding>& findings) const;

 private:
  void check_order(const StoredRecord& record, std::vector<Finding>& findings);

  RecordReader reader_;
  std::map<std::string, DomainTail, std::less<>> tails_;
  const bool strays_;
  std::uint64_t passed_over_ = 0, set_aside_ = 0;
  bool gap_ = false, trimmed_ = false;
  std::map<std::pair<std::string, std::uint64_t>, bool> expected_;  ///< Domain and sequence; whether a record was seen that says so.
};

/// Whether a snapshot says of itself what the log says of it. The schema version inside is that of the bytes, whatever the one beside them.
[[nodiscard]] bool same_snapshot(SnapshotMeta inside, const SnapshotMeta& beside);

/// Walks over a log by what every log can do: records, sequences, epochs, bodies, snapshots. Reads on behind damage.
[[nodiscard]] Result<CheckReport> walk(const Log& log, RecordChecker checker, const CheckProgress& progress);

}  // namespace hindsight::events
